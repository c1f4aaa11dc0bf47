"""What a reader did, remembered by paper in traces that fade at different speeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

import numpy as np

from broadsheet.errors import InputError
from broadsheet.model import PaperId
from broadsheet.model.reading import Action, Event, EventId

# How much one action says about interest in a paper, between −1 and 1: what a person did, not what was shown. A paper
# named as an example says as much as one that was saved.
GATES: Mapping[str, float] = MappingProxyType(
    {Action.OPEN: 0.3, Action.SAVE: 1.0, Action.LIKE: 1.0, Action.EXAMPLE: 1.0, Action.DISMISS: -1.0}
)
_FAVOURS = frozenset({Action.SAVE, Action.LIKE, Action.EXAMPLE})
HALF_LIVES = (7.0, 30.0, 365.0)  # days
FORMAT = 1
CAPACITY = 2000
_ENDLESS = 1e300  # JSON also has whole numbers that no float holds

K = TypeVar("K", int, str)
"""What names a paper: the library's number, or any text where there is no library."""


@dataclass
class _Evidence:
    """The traces of one paper as they stood on the day of its last event."""

    day: float
    traces: list[float]


class ReaderMemory(Generic[K]):
    """Evidence for and against papers, derived from events (action × paper × day).

    An event adds the gate of its action to every trace of its paper; a trace halves within its half-life. What is read
    out is held within −1 and 1, so that no number of clicks on one paper outweighs the rest. The traces are sums, so
    that events of one day may come in any order, and late ones too. At most ``capacity`` papers are kept: those with
    the latest events. ``replayed`` makes it from the events of the store, with all that takes others back.

    Parameters: ``gates`` by action, ``half_lives`` in days, ``capacity``.
    Learned: ``papers_`` (evidence by paper), ``events_`` (how many were taken in).
    """

    def __init__(
        self,
        gates: Mapping[str, float] = GATES,
        half_lives: tuple[float, ...] = HALF_LIVES,
        capacity: int = CAPACITY,
    ) -> None:
        self.gates = gates
        self.half_lives = half_lives
        self.capacity = capacity
        self.papers_: dict[K, _Evidence] = {}
        self.events_ = 0

    def update(self, action: str, paper: K, day: float) -> Self:
        """Take in one event; ``day`` counts days from any fixed origin, with fractions or without.

        Raises InputError for an action without a gate and for a day that is not a number.
        """
        gate = self._gate(action)
        if not math.isfinite(day):
            raise InputError(f"the day of an event must be a number, not {day}")
        found = self.papers_.setdefault(paper, _Evidence(day, [0.0] * len(self.half_lives)))
        latest = max(found.day, day)
        for n, half_life in enumerate(self.half_lives):
            kept = found.traces[n] * 0.5 ** ((latest - found.day) / half_life)
            found.traces[n] = kept + gate * 0.5 ** ((latest - day) / half_life)
        found.day = latest
        self.events_ += 1
        self._trim()
        return self

    def _gate(self, action: str) -> float:
        gate = self.gates.get(action)
        if gate is None:
            raise InputError(f"no gate for the action {str(action)!r}; known are {', '.join(sorted(self.gates))}")
        return gate

    def _trim(self) -> None:
        surplus = len(self.papers_) - self.capacity
        if surplus == 1:
            del self.papers_[min(self.papers_, key=lambda key: (self.papers_[key].day, key))]
        elif surplus > 1:
            for key in sorted(self.papers_, key=lambda key: (self.papers_[key].day, key))[:surplus]:
                del self.papers_[key]

    def forget(self, paper: K) -> Self:
        """Leave one paper out, as if nothing had been done with it."""
        self.papers_.pop(paper, None)
        return self

    def read(self, day: float) -> tuple[list[K], np.ndarray]:
        """Papers in the order of their ids, and their traces on a day: float64 [papers, half-lives], in [−1, 1].

        A task mixes the traces as it needs them. What happened after that day counts as if it had happened on it.
        """
        papers = sorted(self.papers_)
        if not papers:
            return [], np.zeros((0, len(self.half_lives)))
        traces = np.array([self.papers_[paper].traces for paper in papers])
        age = np.maximum(day - np.array([self.papers_[paper].day for paper in papers]), 0)
        return papers, np.clip(traces * 0.5 ** (age[:, None] / np.array(self.half_lives)), -1, 1)

    def to_record(self) -> dict[str, Any]:
        """The state as plain values, for JSON: ``format``, ``half_lives``, ``events``, ``papers`` [id, day, trace…]."""
        return {
            "format": FORMAT,
            "half_lives": list(self.half_lives),
            "events": self.events_,
            "papers": [_row(paper, self.papers_[paper]) for paper in sorted(self.papers_)],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], **parameters: Any) -> Self:
        """The memory that a record describes, with other parameters than the half-lives as given.

        Raises InputError where the record is of another format or a value is not what it should be, naming the field.
        """
        if record.get("format") != FORMAT:
            raise InputError(f"format of the memory: {record.get('format')!r}, expected {FORMAT}")
        half_lives = tuple(_numbers(record.get("half_lives"), "half_lives"))
        if not half_lives or min(half_lives) <= 0:
            raise InputError("half_lives of the memory: expected days above 0")
        memory = cls(half_lives=half_lives, **parameters)
        events = record.get("events")
        if not isinstance(events, int) or isinstance(events, bool) or events < 0:
            raise InputError(f"events of the memory: {events!r}, expected a count")
        memory.events_ = events
        rows = record.get("papers")
        if not isinstance(rows, list):
            raise InputError("papers of the memory: expected a list")
        for n, row in enumerate(rows):
            where = f"papers[{n}] of the memory"
            if not isinstance(row, list) or len(row) != 2 + len(half_lives) or type(row[0]) not in (int, str):
                raise InputError(f"{where}: expected [id, day, {len(half_lives)} traces]")
            if type(row[0]) is not type(rows[0][0]):
                raise InputError(f"{where}: its id {row[0]!r} is not of the kind of the first one, {rows[0][0]!r}")
            day, *traces = _numbers(row[1:], where)
            memory.papers_[row[0]] = _Evidence(day, traces)
        return memory


def day_of(moment: datetime) -> float:
    """A moment in days since 1970 (UTC), with fractions; raises InputError for one without a time zone."""
    if moment.tzinfo is None:
        raise InputError(f"the moment {moment.isoformat()} of an event has no time zone; give one, such as UTC")
    return moment.timestamp() / 86400


def in_force(events: Iterable[Event]) -> list[Event]:
    """Those of one reader's events about papers that hold after all, in the order of their ids.

    Every event is taken as its id says, whatever the order in which they are given and whatever their moments:

    - ``undo`` makes the event that it names as if it had never been, be that a ``reset``, a ``forget`` or another
      ``undo`` (which brings back what that one undid). It cannot name a later event, and one that is not there or is
      undone already is no fault.
    - ``reset`` takes back everything before it, ``forget`` everything before it about its paper.
    - The last opinion of a paper counts: ``dismiss`` takes back everything before it about the paper, and ``save``,
      ``like`` or ``example`` take back the dismissal before them and what that one had taken back.
    - The same action on the same paper counts once, at its last time.

    So there is at most one event for a paper and an action. Raises ValueError for events of several readers.
    """
    ordered = sorted(events, key=_id, reverse=True)
    if ordered and any(event.reader != ordered[0].reader for event in ordered):
        raise ValueError("events of one reader are needed, not of several")
    undone: set[EventId] = set()
    settled: set[PaperId] = set()
    found: dict[tuple[PaperId, Action], Event] = {}
    for event in ordered:  # from the last to the first: whatever takes an event back comes after it
        if event.id in undone:
            continue
        paper, action = event.paper, event.action
        if action is Action.RESET:
            break
        if action is Action.UNDO:
            undone.add(event.undoes)  # one that came later has been taken already, so it stands
        elif action is Action.FORGET:
            settled.add(paper)
        elif paper not in settled:
            if action is Action.DISMISS:
                settled.add(paper)
                if any((paper, favour) in found for favour in _FAVOURS):
                    continue
            found.setdefault((paper, action), event)
    return sorted(found.values(), key=_id)


def replayed(
    events: Iterable[Event],
    gates: Mapping[str, float] = GATES,
    half_lives: tuple[float, ...] = HALF_LIVES,
    capacity: int = CAPACITY,
) -> ReaderMemory[PaperId]:
    """The memory that one reader's events make, by what ``in_force`` says.

    It is a function of the events alone: the same after an ``undo`` as without the event that was undone. ``capacity``
    is applied at the end, so what was taken back leaves no gap; the papers kept are those with the strongest lasting
    trace, so that a few months of openings do not push out what was saved before them.

    Raises ValueError for events of several readers, InputError for a moment without a time zone.
    """
    memory: ReaderMemory[PaperId] = ReaderMemory(gates, half_lives, capacity)
    holding = in_force(events)
    if not holding:
        return memory
    papers, place = np.unique([event.paper for event in holding], return_inverse=True)
    gate = np.array([memory._gate(event.action) for event in holding])
    day = np.array([day_of(event.moment) for event in holding])
    latest = np.full(len(papers), -np.inf)
    np.maximum.at(latest, place, day)
    traces = np.zeros((len(papers), len(half_lives)))
    np.add.at(traces, place, gate[:, None] * 0.5 ** ((latest[place] - day)[:, None] / np.array(half_lives)))
    slowest = int(np.argmax(half_lives))
    lasting = np.abs(traces[:, slowest]) * 0.5 ** ((latest.max() - latest) / half_lives[slowest])
    kept = np.sort(np.lexsort((papers, latest, lasting))[max(0, len(papers) - capacity) :])
    rows = zip(papers[kept].tolist(), map(_Evidence, latest[kept].tolist(), traces[kept].tolist()), strict=True)
    memory.papers_ = dict(rows)
    memory.events_ = len(holding)
    return memory


def _id(event: Event) -> EventId:
    return event.id


def _row(paper: int | str, seen: _Evidence) -> list[Any]:
    return [paper, seen.day, *seen.traces]


def _numbers(values: Any, where: str) -> list[float]:
    if not isinstance(values, Iterable) or isinstance(values, (str, Mapping)):
        raise InputError(f"{where}: expected numbers")
    listed = list(values)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _ENDLESS:
            raise InputError(f"{where}: {value!r:.40} is not a number")
    return [float(value) for value in listed]
