"""Finding records of a review: those that somebody means by a number, an identifier or a title; possible repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broadsheet.ingest.likeness import Likeness, likenesses
from broadsheet.library.screening_views import identifiers_in
from broadsheet.model import Identifier, Scheme
from broadsheet.model.screening import PoolRecord, PossibleRepeat, RecordNumber, ReviewId
from broadsheet.text import fold, title_fingerprint

if TYPE_CHECKING:
    from broadsheet.screen.state import State


@dataclass(frozen=True)
class Compared:
    """The likenesses of a review's first ``records``, which change with nothing but further records."""

    review: ReviewId
    records: int
    pairs: Sequence[Likeness]

    @classmethod
    def of(cls, state: State) -> Compared:
        """Of all records there are now: some seconds at 40,000."""
        records = list(state.records.values())
        return cls(state.review.id, len(records), likenesses(records))


def possible_repeats(state: State, pairs: Sequence[Likeness]) -> Iterator[PossibleRepeat]:
    """The pairs that are not known to be one, and of which nobody said that they are not: one for two groups."""
    apart = {_pair(state, one, other) for one, other in state.told_apart()}
    for pair in pairs:
        groups = _pair(state, pair.one + 1, pair.other + 1)
        if len(groups) == 2 and groups not in apart:
            apart.add(groups)
            one, other = sorted((pair.one + 1, pair.other + 1))
            yield PossibleRepeat(state.records[one], state.records[other], pair.titles, pair.why)


def _pair(state: State, one: RecordNumber, other: RecordNumber) -> frozenset[RecordNumber]:
    return frozenset((state.group(one), state.group(other)))


def named(state: State, key: str) -> list[PoolRecord]:
    """The records that somebody may mean: the first of each group, ascending.

    A key is a number of this review, an identifier or an address that holds one, or a title or words of one. What is
    said exactly comes before what is said in part: where a title is the key itself, others that hold its words are not
    meant. A number that is also the PubMed number of a record may mean either.
    """
    text = " ".join(key.split())
    numbers = _by_number(state, text)
    if numbers or (text.isdecimal() and len(text) > 4):
        return _firsts(state, numbers)
    return _firsts(state, _by_identifier(state, text) or _by_title(state, text))


def _firsts(state: State, numbers: Sequence[RecordNumber]) -> list[PoolRecord]:
    return [state.records[number] for number in sorted({state.group(number) for number in numbers})]


def _by_number(state: State, text: str) -> list[RecordNumber]:
    if not text.isdecimal() or len(text) > 18:
        return []
    number = int(text)
    own = [number] if number in state.records else []
    return own + _with_identifier(state, {Identifier(Scheme.PMID, str(number))})


def _by_identifier(state: State, text: str) -> list[RecordNumber]:
    wanted = identifiers_in(text)
    return _with_identifier(state, wanted) if wanted else []


def _with_identifier(state: State, wanted: set[Identifier]) -> list[RecordNumber]:
    return [record.number for record in state.records.values() if wanted.intersection(record.identifiers)]


def _by_title(state: State, text: str) -> list[RecordNumber]:
    fingerprint, words = title_fingerprint(text), fold(text).split()
    if not words:
        return []
    titles = {number: fold(record.title) for number, record in state.records.items()}
    holding = [number for number, title in titles.items() if all(word in title for word in words)]
    same = [number for number in holding if fingerprint and title_fingerprint(titles[number]) == fingerprint]
    return same or holding
