"""Which records of a review's pool repeat each other, by the rules that make papers of records. Pure.

One rule is added, since the records of a screening often have neither authors nor a year, which those rules want to
see: records with one title, of which one has no authors, are one if their abstracts have nearly the same words, unless
years or identifiers speak against it. A title that is long may stand alone where neither has an abstract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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

    Records whose groups are known already can be told by ``know``: they are not compared with each other, and no more
    is held of them than the keys by which others find them. ``look`` gives the record at such a place.
    """

    def __init__(
        self, apart: Iterable[tuple[int, int]] = (), *, look: Callable[[int], PoolRecord] | None = None
    ) -> None:
        """Without a record so far."""
        self.keep_apart(apart)
        self._look = look
        self._kept: list[int] = []  # of each place, one nearer to the first of its group
        self._groups: dict[int, list[int]] = {}
        self._readings: dict[int, Reading] = {}
        self._sharing: dict[int, set[int]] = {}  # places by the hash of a key: another key with it finds too much only

    def keep_apart(self, apart: Iterable[tuple[int, int]]) -> None:
        """Other pairs of places from now on that are not one."""
        self._apart = [_judgement(JudgementKind.SPLIT, str(a), str(b)) for a, b in apart]
        self._judgements = Judgements(self._apart)

    def __len__(self) -> int:
        return len(self._kept)

    def know(self, record: PoolRecord, first: int) -> None:
        """Add a record that is known to be in the group of ``first``, its own place where it repeats none."""
        place = len(self._kept)
        self._kept.append(first)
        self._groups.setdefault(first, []).append(place)
        self._note(_keys(_reading(record, place)), place)

    def forget_readings(self) -> None:
        """Hold no more of what was added than of what was known: ``look`` has it from now on."""
        self._readings.clear()

    def add(self, record: Record | PoolRecord) -> int:
        """Add a record; the place of the first of its group now, its own where it repeats none."""
        place = len(self._kept)
        reading = _reading(record, place)
        keys = _keys(reading)
        near = {i: [self._read(member) for member in self._groups[i]] for i in self._near(keys)}
        # Merging numbers papers from 1, and those below 0 are new.
        candidates = [Candidate(i + 1, tuple(readings)) for i, readings in near.items()]
        intent = decide(reading, candidates, self._judged(reading, near))
        first = place if intent.paper is None else intent.paper - 1
        self._kept.append(first)
        self._readings[place] = reading
        self._groups.setdefault(first, []).append(place)
        for gone in intent.merged:
            self._kept[gone - 1] = first
            self._groups[first] += self._groups.pop(gone - 1)
        self._note(keys, place)
        return first

    def _read(self, place: int) -> Reading:
        found = self._readings.get(place)
        if found is None:
            assert self._look is not None
            found = self._readings[place] = _reading(self._look(place), place)
        return found

    def _note(self, keys: Iterable[object], place: int) -> None:
        for key in keys:
            self._sharing.setdefault(hash(key), set()).add(place)

    def _judged(self, reading: Reading, near: Mapping[int, Sequence[Reading]]) -> Judgements:
        """What was decided, and with what other records the added rule puts this one together."""
        copies = [other for readings in near.values() for other in readings if _same_text(reading, other)]
        if not copies:
            return self._judgements
        merges = [_judgement(JudgementKind.MERGE, reading.record.key, other.record.key) for other in copies]
        # What a person held apart comes last, and so counts.
        return Judgements([*merges, *self._apart])

    def _near(self, keys: Iterable[object]) -> list[int]:
        """The groups that share a key, unless so many do that the key is no sign of identity."""
        found: set[int] = set()
        for key in keys:
            sharing = {self.first(place) for place in self._sharing.get(hash(key), ())}
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


def _reading(record: Record | PoolRecord, place: int) -> Reading:
    came = record_of_pool(record) if isinstance(record, PoolRecord) else record
    return read(replace(came, source=_SOURCE, key=str(place), raw=""))


def _keys(reading: Reading) -> list[object]:
    return [*reading.identifiers, *reading.match_keys]


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
