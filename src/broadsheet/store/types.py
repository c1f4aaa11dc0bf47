"""What goes into and comes out of the store, beyond the model's own values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from broadsheet.model import Judgement, Paper, PaperId, RecordId


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """What must be known of a stored record to tell whether an incoming one is new, changed or the same."""

    record_id: RecordId
    digest: bytes
    paper_id: PaperId


@dataclass(frozen=True, slots=True)
class EncodedRecord:
    """A record as JSON bytes, and 16 bytes that say whether it changed; made by ``codec.encode_record``."""

    source: str
    key: str
    data: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class RecordWrite:
    """A record to write. ``paper_id`` below 0 is a new paper of the same batch; ``record_id`` None is a new record."""

    record: EncodedRecord
    paper_id: PaperId
    record_id: RecordId | None = None


@dataclass(frozen=True, slots=True)
class PaperWrite:
    """A paper to write; id below 0 for a new one.

    ``match_keys`` are what it can be found by besides its identifiers.
    """

    paper: Paper
    match_keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class WriteBatch:
    """One transaction. References below 0 are papers made in it.

    ``merged`` pairs (gone, kept): the records of ``gone`` move to ``kept`` and its id becomes an alias. ``moved``
    pairs (record, paper): stored records that change paper. ``progress`` is (digest of the file, entries done);
    0 is the end of an import, after which nothing is left to resume.
    """

    now: datetime
    records: Sequence[RecordWrite] = ()
    papers: Sequence[PaperWrite] = ()
    merged: Sequence[tuple[PaperId, PaperId]] = ()
    moved: Sequence[tuple[RecordId, PaperId]] = ()
    links: Sequence[tuple[PaperId, PaperId]] = ()
    judgements: Sequence[Judgement] = ()
    progress: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch did: the last number of the change log, and the ids that new papers got by their references."""

    seq: int
    new_papers: Mapping[PaperId, PaperId] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is in the store; ``changes`` is the length of the change log."""

    papers: int
    records: int
    changes: int


class ShownPaper(NamedTuple):
    """An entry of an edition as it was printed: ``position`` counts from 0 over the whole edition, ``paper`` is the id
    under which it lives today, ``propensity`` in (0, 1] the probability with which the policy put it there."""

    day: date
    paper: PaperId
    section: str
    position: int
    propensity: float
    explored: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """The last attempt to send an edition by a channel, and what became of it."""

    reader: str
    day: date
    channel: str
    state: str
    message: str
    moment: datetime
