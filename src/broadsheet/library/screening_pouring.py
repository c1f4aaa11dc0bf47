"""Adding records to a pool: which of them repeat others, and the events that say so.

Comparing begins with the keys by which records find each other. They are made once for a pool and kept for the next
file, so that it costs no more than its own records; of one pool only, the one that was filled last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import takewhile
from threading import Lock
from typing import TYPE_CHECKING

from broadsheet.ingest import Grouper, contradictions
from broadsheet.library.screening_filling import Fill
from broadsheet.model.screening import (
    PoolRecord,
    PoolSummary,
    RecordNumber,
    Review,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
)
from broadsheet.screen.fold import BRIDGED

if TYPE_CHECKING:
    from broadsheet.library.screening_desks import Desks
    from broadsheet.screen.state import State
    from broadsheet.store import Store

PROBLEMS = 300  # that a summary names
_OF_GROUPS = frozenset(
    {
        *(ReviewEventKind.ADD, ReviewEventKind.TWIN, ReviewEventKind.APART, ReviewEventKind.DIFFERENT),
        ReviewEventKind.UNDO,
    }
)
"""Events on which it depends what repeats what."""

Bridge = tuple[RecordNumber, RecordNumber]
"""The first record of a group, and the first of the older one that it joins because of a record that is like both."""


@dataclass
class _Known:
    """The groups of a review's records as they were after an event."""

    review: Review
    grouper: Grouper
    last_event: ReviewEventId


class Pourer:
    """Adds what sources gave to the pools of reviews."""

    def __init__(self, store: Store, desks: Desks) -> None:
        self._store, self._desks = store, desks
        self._last: _Known | None = None
        self._lock = Lock()

    def tried(self, review: Review, fill: Fill) -> PoolSummary:
        """What ``pour`` would say now; nothing is added."""
        fill, known = self._new_of(review, fill), self._known(review)
        return self._summary(review, fill, *_with_new(known.grouper, fill.records))

    def pour(self, review: Review, fill: Fill, screener: str, moment: datetime) -> PoolSummary:
        """Add records to a pool, with the events that say so.

        Which records repeat others is found before anybody is kept from writing, and once more where the review changed
        meanwhile. A record that is like two that were not alike joins them: that is an event of its own.
        """
        fill, known = self._new_of(review, fill), self._known(review)
        numbered, joined = _with_new(known.grouper, fill.records)
        with self._store.writing():
            # Decisions change nothing about what repeats what.
            since = self._store.screening.events(review.id, known.last_event)
            if any(event.kind in _OF_GROUPS for event in since):
                fill, known = self._new_of(review, fill), self._known(review)
                numbered, joined = _with_new(known.grouper, fill.records)
            if fill.is_known:
                self._give_back(known)
                return self._summary(review, fill, (), ())
            summary = self._summary(review, fill, numbered, joined)
            detail = json.dumps(asdict(summary), ensure_ascii=False)
            event = ReviewEvent(0, review.id, ReviewEventKind.ADD, screener, moment, detail=detail)
            twins = [
                ReviewEvent(0, review.id, ReviewEventKind.TWIN, screener, moment, record, other=first, note=BRIDGED)
                for record, first in joined
            ]
            added = self._store.screening.add_records(review.id, numbered, event, also=twins)
        known.last_event = added.id + len(twins)
        self._give_back(known)
        return summary

    def _give_back(self, known: _Known) -> None:
        known.grouper.forget_readings()
        with self._lock:
            self._last = known

    def _new_of(self, review: Review, fill: Fill) -> Fill:
        """What a source gives that it has not given already: a file that is added twice changes nothing."""
        with self._desks.at(review) as desk:
            there = {_entry(record) for record in desk.state.records.values() if record.source == fill.source}
        new = [record for record in fill.records if _entry(record) not in there]
        known = len(fill.records) - len(new)
        if not known:
            return fill
        said = f"{fill.source}: {known:,} of {fill.entries:,} entries are in the review already, from this source"
        refused = fill.refused if new else 0  # what was refused of a whole file that is known was counted then
        return replace(fill, records=new, entries=len(new) + refused, problems=[said, *fill.problems], is_known=not new)

    def _known(self, review: Review) -> _Known:
        """What is known of a review now, for the one who asks alone; what is wrong with it must not be given back."""
        with self._lock:
            held, self._last = self._last, None
        with self._desks.at(review) as desk:
            state = desk.state
            records, last = state.records, state.last_event
            apart = [(one - 1, other - 1) for one, other in state.told_apart()]
            firsts = [state.group(number) - 1 for number in records]
            if held is not None and held.review.id == review.id and _is_of(held, state):
                held.grouper.keep_apart(apart)
                held.last_event = last
                return held
        grouper = Grouper(apart, look=lambda place: records[place + 1])
        for number, first in enumerate(firsts, 1):
            grouper.know(records[number], first)
        return _Known(review, grouper, last)

    def _summary(
        self, review: Review, fill: Fill, numbered: Sequence[PoolRecord], joined: Sequence[Bridge]
    ) -> PoolSummary:
        first_of = dict(joined)
        with self._desks.at(review) as desk:
            state = desk.state
            touched = {state.group(record.twin) for record in numbered if 0 < record.twin <= len(state.records)}
            known = [
                replace(state.records[number], twin=first_of.get(group, group))
                for group in sorted(touched.union(first_of))
                for number in state.groups.members(group)
            ]
        problems = [*fill.problems, *contradictions([*known, *numbered])]
        return PoolSummary(
            source=fill.source,
            entries=fill.entries,
            added=len(numbered),
            repeats=sum(1 for record in numbered if record.twin),
            refused=fill.refused,
            labelled=sum(1 for record in numbered if record.label),
            problems=tuple(problems[:PROBLEMS]),
        )


def _entry(record: PoolRecord) -> tuple[object, ...]:
    """By what an entry of a source is known again."""
    return record.key, record.title, record.abstract, record.label, record.note


def _is_of(held: _Known, state: State) -> bool:
    """Whether nothing came to a review since that groups depend on."""
    count = len(state.records)
    since = takewhile(lambda event: event.id > held.last_event, reversed(state.events))
    return len(held.grouper) == count and not any(event.kind in _OF_GROUPS for event in since)


def _with_new(grouper: Grouper, new: Sequence[PoolRecord]) -> tuple[list[PoolRecord], list[Bridge]]:
    """The new records with numbers and with the first record that each repeats; and the groups that are one because of
    them."""
    before = grouper.firsts()
    for record in new:
        grouper.add(record)
    firsts = grouper.firsts()
    numbered = [
        replace(record, number=place + 1, twin=0 if firsts[place] == place else firsts[place] + 1)
        for place, record in enumerate(new, len(before))
    ]
    joined = [(place + 1, firsts[place] + 1) for place in sorted(set(before)) if firsts[place] != place]
    return numbered, joined
