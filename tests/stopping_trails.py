"""Stopping rules, and made-up reviews that are read by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from broadsheet.learn.stoppers import (
    AllOf,
    AnyOf,
    Budget,
    Chao,
    DistributionFree,
    HypergeometricRanked,
    IrrelevantInARow,
    RankAdvantage,
    Step,
    Stopper,
    Trail,
    TwoPhase,
    Watch,
)
from broadsheet.model.screening import Chosen

ALL: list[Stopper] = [
    DistributionFree(),
    RankAdvantage(advantage=3.0, guard=False),
    IrrelevantInARow(20),
    Budget(30),
    Chao(),
    HypergeometricRanked(),
    TwoPhase(),
]
JOINT: list[Stopper] = [AllOf((IrrelevantInARow(5), RankAdvantage())), AnyOf((Budget(9), DistributionFree(0.9, 0.9)))]


def ranked(labels: Sequence[int], records: int, priors: int = 1) -> Trail:
    """So many relevant priors, then ranked reading."""
    known = [Step(Chosen.PRIOR, True, records - n) for n in range(priors)]
    read = [Step(Chosen.RANKED, bool(label), records - priors - n, rank=0) for n, label in enumerate(labels)]
    return Trail(records, known + read)


class Reading:
    """A review read as the rule wishes: ``order`` is the ranking, the audit's order is drawn by ``rng``."""

    def __init__(self, relevant: np.ndarray, order: Sequence[int], rng: np.random.Generator) -> None:
        self.relevant, self.unread, self.rng = relevant, list(order), rng
        self.places: dict[int, int] = {}
        self.queue: list[int] = []
        self.steps: list[Step] = []

    def prior(self, watch: Watch) -> None:
        index = next(i for i in self.unread if self.relevant[i])
        self._read(watch, index, Chosen.PRIOR)

    def read(self, watch: Watch, wants: str) -> None:
        if wants == "audit" and not self.queue:
            self.queue = [int(i) for i in self.rng.permutation(self.unread)]
            self.places = {index: place for place, index in enumerate(self.queue)}
            watch.begin_audit(len(self.queue))
        if wants == "audit":
            left = set(self.unread)
            self._read(watch, next(i for i in self.queue if i in left), Chosen.AUDIT)
        else:
            self._read(watch, self.unread[0], Chosen.RANKED)

    def _read(self, watch: Watch, index: int, chosen: Chosen) -> None:
        rank, unread = self.unread.index(index), len(self.unread)
        step = Step(chosen, bool(self.relevant[index]), unread, rank, self.places.get(index, -1))
        self.steps.append(step)
        watch.see(step)
        self.unread.remove(index)


def played(stopper: Stopper, relevant: np.ndarray, order: Sequence[int], seed: int) -> tuple[float, Watch]:
    """The recall where the rule first says stop, and its watch then."""
    watch = stopper.watch(len(relevant))
    reading = Reading(relevant, order, np.random.default_rng(seed))
    reading.prior(watch)
    while not watch.stopped:
        reading.read(watch, watch.wants)
    return watch.count.found / float(relevant.sum()), watch


def pool(records: int, total: int) -> np.ndarray:
    return np.arange(records) < total


def good_order(relevant: np.ndarray, rng: np.random.Generator, gain: float = 2.0) -> list[int]:
    return [int(i) for i in np.argsort(-(gain * relevant + rng.normal(size=len(relevant))))]


def random_order(relevant: np.ndarray, rng: np.random.Generator) -> list[int]:
    return [int(i) for i in rng.permutation(len(relevant))]


def reversed_order(relevant: np.ndarray, rng: np.random.Generator) -> list[int]:
    return good_order(relevant, rng)[::-1]
