"""Which records of a review's pool repeat each other, by the rules that make papers of records. Pure.

One rule is added, since the records of a screening often have neither authors nor a year, which those rules want to
see: records with one title, of which one has no authors, are one if their abstracts have nearly the same words, unless
years or identifiers speak against it. A title that is long may stand alone where neither has an abstract.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from broadsheet.ingest.merge import Candidate, Judgements, decide
from broadsheet.ingest.pipeline import MAX_CANDIDATES
from broadsheet.ingest.reading import LONG_TITLE, Reading, read, title_words
from broadsheet.model import Judgement, JudgementKind, Record, Scheme
from broadsheet.model.screening import PoolRecord

SAME_WORDS = 0.9
"""Share of the words of two abstracts that are in both, from which they are one text.

Of 349 pairs with one title in 16 screenings, 62 lie above. Of the 50 that all rules together make one, each was looked
at: one is no copy, by the rules for papers. Not far below, at 0.85, stand the case reports of two patients by one team.
"""
_SOURCE = "pool"
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


def record_of_pool(record: PoolRecord) -> Record:
    """A record of a pool as merging looks at it."""
    return Record(
        source=_SOURCE,
        key=str(record.number),
        raw="",
        title=record.title,
        title_derived=not record.title,
        abstract=record.abstract,
        authors=record.authors,
        identifiers=record.identifiers,
        venue=record.venue,
        year=record.year,
    )


class Grouper:
    """Puts records into groups, one after the other; each is named by its place, from 0, in the order of adding.

    ``apart`` are pairs of places of which a person said that they are not one. A record may join two groups that were
    apart before: ``first`` says what holds after all that was added.
    """

    def __init__(self, apart: Iterable[tuple[int, int]] = ()) -> None:
        """Without a record so far."""
        self._apart = [_judgement(JudgementKind.SPLIT, str(a), str(b)) for a, b in apart]
        self._judgements = Judgements(self._apart)
        self._kept: list[int] = []  # of each place, one nearer to the first of its group
        self._groups: dict[int, list[Reading]] = {}
        self._sharing: dict[object, set[int]] = {}

    def add(self, record: Record | PoolRecord) -> int:
        """Add a record; the place of the first of its group now, its own where it repeats none."""
        place = len(self._kept)
        came = record_of_pool(record) if isinstance(record, PoolRecord) else record
        reading = read(replace(came, source=_SOURCE, key=str(place), raw=""))
        keys = [*reading.identifiers, *reading.match_keys]
        near = self._near(keys)
        # Merging numbers papers from 1, and those below 0 are new.
        candidates = [Candidate(i + 1, tuple(self._groups[i])) for i in near]
        intent = decide(reading, candidates, self._judged(reading, near))
        first = place if intent.paper is None else intent.paper - 1
        self._kept.append(first)
        self._groups.setdefault(first, []).append(reading)
        for gone in intent.merged:
            self._kept[gone - 1] = first
            self._groups[first] += self._groups.pop(gone - 1)
        for key in keys:
            self._sharing.setdefault(key, set()).add(first)
        return first

    def _judged(self, reading: Reading, near: Sequence[int]) -> Judgements:
        """What was decided, and with what other records the added rule puts this one together."""
        copies = [other for i in near for other in self._groups[i] if _same_text(reading, other)]
        if not copies:
            return self._judgements
        merges = [_judgement(JudgementKind.MERGE, reading.record.key, other.record.key) for other in copies]
        # What a person held apart comes last, and so counts.
        return Judgements([*merges, *self._apart])

    def _near(self, keys: Iterable[object]) -> list[int]:
        """The groups that share a key, unless so many do that the key is no sign of identity."""
        found: set[int] = set()
        for key in keys:
            sharing = {self.first(place) for place in self._sharing.get(key, ())}
            if len(sharing) <= MAX_CANDIDATES:
                found |= sharing
        return sorted(found)

    def first(self, place: int) -> int:
        """The place of the first of the group to which the record at ``place`` belongs."""
        while self._kept[place] != place:
            place = self._kept[place]
        return place

    def firsts(self) -> list[int]:
        """``first`` of every place."""
        return [self.first(place) for place in range(len(self._kept))]


def _judgement(kind: JudgementKind, a: str, b: str) -> Judgement:
    return Judgement(kind, (_SOURCE, a), (_SOURCE, b), _EVER)


def _same_text(a: Reading, b: Reading) -> bool:
    """The added rule; see the module."""
    if not a.names_itself or a.fingerprint != b.fingerprint or (a.people and b.people):
        return False
    if (a.year and b.year and a.year != b.year) or any(_differ(a, b, scheme) for scheme in Scheme):
        return False
    left, right = title_words(a.abstract), title_words(b.abstract)
    if not left and not right:
        return len(a.fingerprint) >= LONG_TITLE
    return len(left & right) >= SAME_WORDS * len(left | right)


def _differ(a: Reading, b: Reading, scheme: Scheme) -> bool:
    left, right = ({i.value for i in r.identifiers if i.scheme is scheme} for r in (a, b))
    return bool(left) and bool(right) and not left & right


def group(records: Sequence[Record | PoolRecord], apart: Iterable[tuple[int, int]] = ()) -> list[int]:
    """Of each record, by its place from 0, the place of the first of its group: its own where it repeats none."""
    grouper = Grouper(apart)
    for record in records:
        grouper.add(record)
    return grouper.firsts()
