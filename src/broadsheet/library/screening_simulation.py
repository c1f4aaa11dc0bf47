"""Labelled pools to try a plan on: of a review that was screened, or of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from broadsheet.errors import InputError
from broadsheet.index import vectors_folder
from broadsheet.ingest import group
from broadsheet.library.screening_vectors import Floats, RecordVectors, record_text, text_digest
from broadsheet.library.vectors import NONE
from broadsheet.model.screening import Label, PoolRecord
from broadsheet.screen.simulate import Labelled
from broadsheet.screen.trainer import text_of

if TYPE_CHECKING:
    from broadsheet.library.facade import Library
    from broadsheet.screen.state import State

Progress = Callable[[int, int], None]
Decided = list[tuple[PoolRecord, bool]]
"""Records, and whether each is relevant."""


def of_review(state: State) -> Decided:
    """What is read of a review, each group of repeats once."""
    final = state.labels()
    return [(state.records[number], label is Label.INCLUDE) for number, label in sorted(final.items())]


def of_records(records: Sequence[PoolRecord], *, repeats: bool) -> Decided:
    """The records of a file that it labels; unless ``repeats``, those that repeat each other are one, which is relevant
    where any of them is. Raises InputError where the file has no label.
    """
    known = [record for record in records if record.label in (Label.INCLUDE, Label.EXCLUDE)]
    if not known:
        raise InputError("no record of this file has a label; give it a column such as `included` with 1 and 0")
    if repeats:
        return [(record, record.label is Label.INCLUDE) for record in known]
    found: dict[int, tuple[PoolRecord, bool]] = {}
    for record, first in zip(known, group(known), strict=True):
        kept, relevant = found.get(first, (record, False))
        found[first] = kept, relevant or record.label is Label.INCLUDE
    return list(found.values())


def pool_of(decided: Decided, vectors: Floats | None) -> Labelled:
    """A pool for the simulation; ``vectors`` float32 [records, dimensions] or None."""
    records = [record for record, _ in decided]
    return Labelled(
        [text_of(record) for record in records],
        [relevant for _, relevant in decided],
        vectors,
        ["; ".join(record.keywords) for record in records],
    )


def vectors_for(library: Library, records: Iterable[PoolRecord], on_progress: Progress) -> Floats | None:
    """float32 [records, dimensions] by the encoder of the settings, kept for the next time.

    Raises InputError where no encoder is set, EncoderUnavailableError, MissingExtraError, BusyError, StoreError.
    """
    from broadsheet.encode import encoder_id

    wanted = library.vectors.wanted
    if wanted == NONE:
        raise InputError("no encoder is set, so there are no vectors; set one (broadsheet config) or leave them out")
    texts = list(map(record_text, records))
    with library.vectors.encoding() as (encode, dimensions):
        name = f"{vectors_folder(encoder_id(wanted))}-{dimensions}.rows"
        kept = RecordVectors(library.settings.index_dir / "screening" / "simulated" / name, dimensions)
        kept.add(texts, encode, on_progress=on_progress)
    return kept.of(list(map(text_digest, texts)))
