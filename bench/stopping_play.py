"""One review read to its stop by a stopping rule that is looked at after every label."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.stopping_orders import PRIORS, Course
from broadsheet.learn.stoppers import RankAdvantage, Step, Stopper
from broadsheet.learn.stopping import Watch
from broadsheet.model.screening import Chosen


@dataclass(frozen=True)
class Played:
    """How one run ended: records read and relevant ones found when the rule said stop.

    ``audit_from`` is how many had been read when the audit began, ``audited`` how many it read itself, ``finds`` how
    many relevant ones among these. ``refuted`` says that the assumption had been refuted by then.
    """

    records: int
    relevant: int
    read: int
    found: int
    refuted: bool = False
    audit_from: int | None = None
    audited: int = 0
    finds: int = 0

    @property
    def saved(self) -> float:
        """The share of the records that was not read."""
        return 1 - self.read / self.records

    @property
    def recall(self) -> float:
        """The share of the relevant records that was found."""
        return self.found / self.relevant


class Reading:
    """A course being read as a rule wants it."""

    def __init__(self, stopper: Stopper, course: Course) -> None:
        self.course = course
        self.watch: Watch = stopper.watch(len(course.labels))
        self.plans = isinstance(stopper, RankAdvantage)
        self.unread = np.ones(len(course.labels), bool)
        self.left = len(course.labels)  # unread
        self.top = 0  # everything above in the ranking has been read
        self.found = self.audited = self.finds = 0
        self.order: np.ndarray | None = None  # of the audit
        self.places: np.ndarray | None = None  # in it
        self.next = 0  # place in the audit's order
        self.audit_from: int | None = None
        self._sure = 0  # so many misses more by rank before the rule can want anything else
        for record in range(PRIORS):
            self._read(record, Chosen.PRIOR)

    def until_audit(self) -> bool:
        """Read by rank until the rule wants an audit: whether it does, rather than to stop."""
        while not self.watch.stopped:
            if self._wants() == "audit":
                return True
            self._read_top()
        return False

    def _wants(self) -> str:
        if self._sure > 0:
            return "ranked"
        watch: Any = self.watch
        wants = str(watch.wants)
        if wants == "ranked" and self.plans and not watch.refuted and self.found:
            # As the unread become fewer, so do the audit's reads, and less is left to them: it is not due earlier.
            self._sure = watch.ranked.reads_needed(watch.count, watch.audits) - 1
        return wants

    def begin_audit(self, rng: np.random.Generator) -> None:
        """Draw the audit's order from the unread records."""
        self.order = rng.permutation(np.flatnonzero(self.unread))
        self.places = np.full(len(self.unread), -1)
        self.places[self.order] = np.arange(len(self.order))
        self.audit_from = len(self.unread) - self.left
        self.watch.begin_audit(len(self.order))

    def to_the_end(self) -> Played:
        """Read on as the rule wants until it says stop."""
        while not self.watch.stopped:
            if self._wants() == "audit":
                self._read_audit()
            else:
                self._read_top()
        refuted = bool(getattr(self.watch, "refuted", False))
        records = len(self.unread)
        return Played(
            records, self.course.relevant, records - self.left, self.found, refuted,
            self.audit_from, self.audited, self.finds,
        )  # fmt: skip

    def _read_top(self) -> None:
        self._skip()
        self._sure = 0 if self._read(self.top, Chosen.RANKED) else self._sure - 1

    def _read_audit(self) -> None:
        assert self.order is not None
        while not self.unread[self.order[self.next]]:
            self.next += 1
        self.finds += self._read(int(self.order[self.next]), Chosen.AUDIT)
        self.audited += 1

    def _skip(self) -> None:
        self.top += int(self.unread[self.top :].argmax())

    def _read(self, record: int, chosen: Chosen) -> bool:
        relevant = bool(self.course.labels[record])
        place = -1 if self.places is None else int(self.places[record])
        rank = int(self.unread[:record].sum()) if chosen is Chosen.AUDIT and relevant else -1
        self.watch.see(Step(chosen, relevant, self.left, rank, place))
        self.unread[record] = False
        self.left -= 1
        self.found += relevant
        return relevant


def play(stopper: Stopper, course: Course, audits: int, seed: int = 0) -> Iterator[Played]:
    """Runs of a rule on one course that differ in the audit's order; what is read before the audit is shared."""
    shared = Reading(stopper, course)
    if not shared.until_audit():
        yield from [shared.to_the_end()] * audits
        return
    for number in range(audits):
        reading = copy.deepcopy(shared)
        reading.begin_audit(audit_seed(seed, course, number))
        yield reading.to_the_end()


def play_free(stopper: Stopper, course: Course, audits: int, seed: int = 0) -> Iterator[Played]:
    """The same runs of the distribution-free rule, by the thresholds of its audit alone: it reads nothing else then.

    Its other evidence, single draws, may stop it earlier where nearly everything is read; that is left out.
    """
    shared = Reading(stopper, course)
    if not shared.until_audit():
        yield from [shared.to_the_end()] * audits
        return
    unread, found, start = shared.left, shared.found, len(course.labels) - shared.left
    watch: Any = shared.watch
    watch.begin_audit(unread)
    threshold = watch.evidence.audit.threshold
    for number in range(audits):
        order = audit_seed(seed, course, number).permutation(np.flatnonzero(shared.unread))
        places = np.flatnonzero(course.labels[order])
        read, finds = unread, len(places)
        for x, end in enumerate([*places.tolist(), unread]):
            first = max(int(places[x - 1]) + 1 if x else 0, threshold(x))
            if first <= end:
                read, finds = first, x
                break
        yield Played(
            len(course.labels), course.relevant, start + read, found + finds,
            audit_from=start, audited=read, finds=finds,
        )  # fmt: skip


def audit_seed(seed: int, course: Course, number: int) -> np.random.Generator:
    """What decides the order of one run's audit."""
    return np.random.default_rng([seed, course.seed, number])
