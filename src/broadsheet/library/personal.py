"""What a reader's memory says of papers that a search found. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from broadsheet.learn.memory import day_of, in_force, replayed
from broadsheet.model import PaperId
from broadsheet.model.reading import Action, Event, EventId

if TYPE_CHECKING:
    from datetime import date, datetime

    from broadsheet.learn.space import TextSpace
    from broadsheet.search.searcher import Likeness
    from broadsheet.store import Store
    from broadsheet.store.reading import ReaderStore

_PAGE, _MOST = 100, 2000  # events that are looked at together: at first, and where many are wanted


class _Taste(NamedTuple):
    """What was read out of a memory: up to which event, on which day, in which space."""

    last: EventId
    day: int
    space: TextSpace
    direction: np.ndarray


class Tastes:
    """The tastes of a library's readers, each read out once a day and after each event. Safe to use from threads.

    ``space`` gives the text space that papers are compared in, on a day.
    """

    def __init__(self, store: Store, space: Callable[[date], TextSpace]) -> None:
        self._store, self._space = store, space
        self._known: dict[str, _Taste] = {}

    def likeness(self, name: str, now: datetime) -> Likeness:
        """How near papers are to what a reader likes at a moment, for the order of search results."""

        def liked(papers: Sequence[PaperId]) -> np.ndarray | None:
            from broadsheet.learn.personal import likeness

            taste = self._taste(name, now)
            return likeness(self._topics(papers, taste.space), taste.direction) if taste.direction.any() else None

        return liked

    def _taste(self, name: str, now: datetime) -> _Taste:
        from broadsheet.learn.personal import taste

        space, day, last = self._space(now.date()), day_of(now), self._store.reading.last_event(name)
        known = self._known.get(name)
        if known is not None and known.last == last and known.day == int(day) and known.space is space:
            return known
        papers, traces = replayed(self._store.reading.events(name)).read(day)
        lasting = traces[:, -1]
        liked = np.flatnonzero(lasting > 0)
        direction = taste(self._topics([papers[n] for n in liked], space), lasting[liked])
        self._known[name] = made = _Taste(last, int(day), space, direction)
        return made

    def _topics(self, papers: Sequence[PaperId], space: TextSpace) -> np.ndarray:
        """float32 [papers, topics]; rows of zeros for papers that are gone."""
        from broadsheet.learn.space import text_of

        found = self._store.papers(papers)
        return space.transform([text_of(found[paper]) if paper in found else "" for paper in papers])[1]


def holding(
    reading: ReaderStore, name: str, actions: Collection[Action], before: EventId | None = None
) -> Iterator[Event]:
    """A reader's events of these actions that hold after all (see ``in_force``), newest first, below ``before``.

    Read in pages: whether an event holds is told by those about its paper and by those about none (resets).
    """
    size = _PAGE
    while page := reading.newest_events(name, actions, size, before=before):
        about = reading.events_of(name, [*(event.paper for event in page), 0])
        held = {event.id for event in in_force(event for some in about.values() for event in some)}
        yield from (event for event in page if event.id in held)
        before, size = page[-1].id, min(2 * size, _MOST)
