"""What a reader's memory says of papers that a search found. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from broadsheet.learn.memory import day_of, in_force, replayed
from broadsheet.model import PaperId
from broadsheet.model.reading import Action, Event

if TYPE_CHECKING:
    from datetime import datetime

    from broadsheet.learn.space import TextSpace
    from broadsheet.search.searcher import Likeness
    from broadsheet.store import Store


class _Taste(NamedTuple):
    """What was read out of a memory: by how many events, on which day, in which space."""

    events: int
    day: int
    space: TextSpace
    direction: np.ndarray


class Tastes:
    """The tastes of a library's readers, each read out once a day and after each event. Safe to use from threads.

    ``space`` gives the text space that papers are compared in.
    """

    def __init__(self, store: Store, space: Callable[[], TextSpace]) -> None:
        self._store, self._space = store, space
        self._known: dict[str, _Taste] = {}

    def likeness(self, name: str, now: datetime) -> Likeness:
        """How near papers are to what a reader likes at a moment, for the order of search results."""

        def liked(papers: Sequence[PaperId]) -> np.ndarray | None:
            from broadsheet.learn.personal import likeness

            events = self._store.reading.events(name)
            if not remembers(events):
                return None
            taste = self._taste(name, events, now)
            return likeness(self._topics(papers, taste.space), taste.direction) if taste.direction.any() else None

        return liked

    def _taste(self, name: str, events: Sequence[Event], now: datetime) -> _Taste:
        from broadsheet.learn.personal import taste

        space, day = self._space(), day_of(now)
        known = self._known.get(name)
        if known is not None and known.events == len(events) and known.day == int(day) and known.space is space:
            return known
        papers, traces = replayed(events).read(day)
        lasting = traces[:, -1]
        liked = np.flatnonzero(lasting > 0)
        direction = taste(self._topics([papers[n] for n in liked], space), lasting[liked])
        self._known[name] = made = _Taste(len(events), int(day), space, direction)
        return made

    def _topics(self, papers: Sequence[PaperId], space: TextSpace) -> np.ndarray:
        """float32 [papers, topics]; rows of zeros for papers that are gone."""
        from broadsheet.learn.space import text_of

        found = self._store.papers(papers)
        return space.transform([text_of(found[paper]) if paper in found else "" for paper in papers])[1]


def remembers(events: Sequence[Event]) -> bool:
    """Whether anything that a reader did speaks in a paper's favour."""
    return any(event.action is not Action.DISMISS for event in in_force(events))
