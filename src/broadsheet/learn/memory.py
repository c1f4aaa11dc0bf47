"""What a reader did, remembered by paper in traces that fade at different speeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from broadsheet.errors import InputError

# How much one action says about interest in a paper, between −1 and 1.
GATES: Mapping[str, float] = MappingProxyType(
    {"open": 0.3, "save": 1.0, "like": 1.0, "cite": 1.0, "dismiss": -1.0}  # what a person did, not what was shown
)
HALF_LIVES = (7.0, 30.0, 365.0)  # days
FORMAT = 1


@dataclass
class _Evidence:
    """The traces of one paper as they stood on the day of its last event."""

    day: float
    traces: list[float]


class ReaderMemory:
    """Evidence for and against papers, derived from events (action × paper × day).

    An event adds the gate of its action to every trace of its paper; a trace halves within its half-life. What is read
    out is held within −1 and 1, so that no number of clicks on one paper outweighs the rest. The traces are sums, so
    that events of one day may come in any order, and late ones too. At most ``capacity`` papers are kept: those with
    the latest events.

    Parameters: ``gates`` by action, ``half_lives`` in days, ``capacity``.
    Learned: ``papers_`` (evidence by paper), ``events_`` (how many were taken in).
    """

    def __init__(
        self,
        gates: Mapping[str, float] = GATES,
        half_lives: tuple[float, ...] = HALF_LIVES,
        capacity: int = 2000,
    ) -> None:
        self.gates = gates
        self.half_lives = half_lives
        self.capacity = capacity
        self.papers_: dict[str, _Evidence] = {}
        self.events_ = 0

    def update(self, action: str, paper: str, day: float) -> Self:
        """Take in one event; ``day`` counts days from any fixed origin, with fractions or without.

        Raises InputError for an action without a gate and for a day that is not a number.
        """
        gate = self.gates.get(action)
        if gate is None:
            raise InputError(f"no gate for the action {action!r}; known are {', '.join(sorted(self.gates))}")
        if not math.isfinite(day):
            raise InputError(f"the day of an event must be a number, not {day}")
        found = self.papers_.setdefault(paper, _Evidence(day, [0.0] * len(self.half_lives)))
        latest = max(found.day, day)
        for n, half_life in enumerate(self.half_lives):
            kept = found.traces[n] * 0.5 ** ((latest - found.day) / half_life)
            found.traces[n] = kept + gate * 0.5 ** ((latest - day) / half_life)
        found.day = latest
        self.events_ += 1
        if len(self.papers_) > self.capacity:
            del self.papers_[min(self.papers_, key=lambda key: (self.papers_[key].day, key))]
        return self

    def forget(self, paper: str) -> Self:
        """Leave one paper out, as if nothing had been done with it."""
        self.papers_.pop(paper, None)
        return self

    def read(self, day: float) -> tuple[list[str], np.ndarray]:
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
            "papers": [[paper, seen.day, *seen.traces] for paper, seen in sorted(self.papers_.items())],
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
            if not isinstance(row, list) or len(row) != 2 + len(half_lives) or not isinstance(row[0], str):
                raise InputError(f"{where}: expected [id, day, {len(half_lives)} traces]")
            day, *traces = _numbers(row[1:], where)
            memory.papers_[row[0]] = _Evidence(day, traces)
        return memory


def _numbers(values: Any, where: str) -> list[float]:
    if not isinstance(values, Iterable) or isinstance(values, (str, Mapping)):
        raise InputError(f"{where}: expected numbers")
    listed = list(values)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError(f"{where}: {value!r} is not a number")
    return [float(value) for value in listed]
