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

_FEW = 20  # openings that change a taste too little to read it out again for a page
_KEPT = 20_000  # papers whose topics are held in memory
_PAGE, _MOST = 100, 2000  # events that are looked at together: at first, and where many are wanted


class _Taste(NamedTuple):
    """What was read out of a memory: up to which event, on which day, in which space; the traces of the liked papers,
    and the sum of these papers times their traces.
    """

    last: EventId
    day: int
    space: TextSpace
    traces: dict[PaperId, float]
    total: np.ndarray


class Tastes:
    """The tastes of a library's readers, each read out once a day and after each event. Safe to use from threads.

    ``space`` gives the text space that papers are compared in, on a day.
    """

    def __init__(self, store: Store, space: Callable[[date], TextSpace]) -> None:
        self._store, self._space = store, space
        self._known: dict[str, _Taste] = {}
        self._rows: tuple[TextSpace, dict[PaperId, np.ndarray]] | None = None

    def likeness(self, name: str, now: datetime, *, neighbours: bool = False) -> Likeness:
        """How near papers are to what a reader likes at a moment, for the order of search results.

        For the ``neighbours`` of a paper no remembered paper speaks for itself, for the reader knows it. They are asked
        for with every page that is opened, so the last read-out will do where papers were opened since and no more.
        """

        def liked(papers: Sequence[PaperId]) -> np.ndarray | None:
            from broadsheet.learn.personal import direction, likeness

            taste = self._taste(name, now, openings=not neighbours)
            if not direction(taste.total).any():
                return None
            vectors = self._topics(papers, taste.space)
            found = likeness(vectors, direction(taste.total))
            for n, paper in enumerate(papers if neighbours else ()):
                if paper in taste.traces:
                    others = direction(taste.total - taste.traces[paper] * vectors[n].astype(np.float64))
                    found[n] = likeness(vectors[n : n + 1], others)[0]
            return found

        return liked

    def _taste(self, name: str, now: datetime, *, openings: bool) -> _Taste:
        space, day, last = self._space(now.date()), day_of(now), self._store.reading.last_event(name)
        known = self._known.get(name)
        same = known is not None and known.day == int(day) and known.space is space
        if known is not None and same and (known.last == last or (not openings and self._only_opened(name, known))):
            return known
        papers, traces = replayed(self._store.reading.events(name)).read(day)
        liked = {paper: float(trace) for paper, trace in zip(papers, traces[:, -1], strict=True) if trace > 0}
        vectors = self._topics(list(liked), space).astype(np.float64)
        total = np.array(list(liked.values())) @ vectors
        self._known[name] = made = _Taste(last, int(day), space, liked, total)
        return made

    def _only_opened(self, name: str, known: _Taste) -> bool:
        """Whether since a read-out that says something a few papers were opened, and nothing else was done."""
        if not known.total.any():
            return False
        since = self._store.reading.newest_events(name, list(Action), _FEW + 1)
        new = [event for event in since if event.id > known.last]
        return len(new) <= _FEW and all(event.action is Action.OPEN for event in new)

    def _topics(self, papers: Sequence[PaperId], space: TextSpace) -> np.ndarray:
        """float32 [papers, topics]; rows of zeros for papers that are gone. Kept in memory: neighbours are asked for
        with every page.
        """
        kept = self._rows
        if kept is None or kept[0] is not space or len(kept[1]) + len(papers) > _KEPT:
            self._rows = kept = (space, {})
        rows = kept[1]
        if new := [paper for paper in dict.fromkeys(papers) if paper not in rows]:
            rows.update(zip(new, self._made(new, space), strict=True))
        if not papers:
            return np.zeros((0, space.topics), np.float32)
        return np.stack([rows[paper] for paper in papers])

    def _made(self, papers: Sequence[PaperId], space: TextSpace) -> np.ndarray:
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
