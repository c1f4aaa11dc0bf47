"""The numbers by which a blinded screener knows events.

The ids of a review count what everybody did, so that their gaps would tell how much others have decided. A blinded
screener sees numbers that count his or her own deeds and what all know of (records that were added, changes of the
plan, what was known beforehand, resolutions…). What another decided has the number 0, also where it may be seen by now:
numbers do not change when more is seen.

A version of a model names the last event that it had learned from. In a screener's view it is shown by these numbers,
too; taken back to an id, it is that of the last event before it that the screener knows of, from which the same is
learned.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from broadsheet.errors import NotFoundError
from broadsheet.model.screening import Chosen, Offer, ReviewEvent, ReviewEventId, ReviewEventKind
from broadsheet.screen.reports import statement_fields

if TYPE_CHECKING:
    from broadsheet.screen.state import State


class Numbers:
    """One screener's numbers of a review's events."""

    def __init__(self, screener: str) -> None:
        self._screener = screener
        self._ids: list[ReviewEventId] = []
        self._seen = 0

    def upto(self, state: State) -> Numbers:
        """Itself, with all events there are now."""
        for event in state.events[self._seen :]:
            if self._is_known(state, event):
                self._ids.append(event.id)
        self._seen = len(state.events)
        return self

    def of(self, event: ReviewEventId) -> int:
        """The number of an event; 0 for what another screener did alone."""
        place = bisect_left(self._ids, event)
        return place + 1 if place < len(self._ids) and self._ids[place] == event else 0

    def id(self, number: int) -> ReviewEventId:
        """The id of an event by its number. Raises NotFoundError for one that there is not."""
        if not 1 <= number <= len(self._ids):
            raise NotFoundError(f"the review has no event {number} of yours; its history has their numbers")
        return self._ids[number - 1]

    def shown(self, event: ReviewEvent) -> ReviewEvent:
        """An event as the screener sees it."""
        detail = event.detail
        if event.kind is ReviewEventKind.STOP and (kept := statement_fields(detail)).get("model"):
            kept["model"] = self.version(str(kept["model"]))
            detail = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS).decode()
        return replace(
            event, id=self.of(event.id), undoes=self.of(event.undoes), model=self.version(event.model), detail=detail
        )

    def offered(self, offer: Offer) -> Offer:
        """An offer as the screener sees it."""
        return replace(offer, model=self.version(offer.model))

    def version(self, model: str) -> str:
        """A version of a model with the number of the last event that the screener knows of."""
        name, at, event = model.rpartition("@")
        return f"{name}@{bisect_right(self._ids, int(event))}" if at and event.isdecimal() else model

    def true_version(self, model: str) -> str:
        """A version that was shown, with the id of that event; what never was shown stays as it is."""
        name, at, number = model.rpartition("@")
        there = at and number.isdecimal() and 1 <= int(number) <= len(self._ids)
        return f"{name}@{self._ids[int(number) - 1]}" if there else model

    def _is_known(self, state: State, event: ReviewEvent) -> bool:
        """Whether an event is the screener's own, or of all. It must not depend on what happens later."""
        if event.screener == self._screener:
            return True
        if event.kind is ReviewEventKind.UNDO:
            target = state.event(event.undoes)
            return target is None or target.id >= event.id or self._is_known(state, target)
        if event.kind is ReviewEventKind.DECIDE:
            return event.chosen is Chosen.PRIOR
        return event.kind is not ReviewEventKind.STOP
