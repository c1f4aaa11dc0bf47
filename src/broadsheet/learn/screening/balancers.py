"""How much each labelled record counts, where few are relevant."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .parts import Part


class Even(Part):
    """Every record counts 1."""

    name: ClassVar[str] = "even"

    def __init__(self) -> None: ...

    def weights(self, relevant: np.ndarray) -> np.ndarray:
        """Ones, float64 [records]; ``relevant`` bool [records]."""
        return np.ones(len(relevant))


class Ratio(Part):
    """The relevant records together count ``ratio`` times as much as all irrelevant ones; the mean weight is 1.

    The rule of ASReview's ``Balanced`` (version 2 and later). Its default model has 9.8, chosen there on the SYNERGY
    reviews; so has this one.
    """

    name: ClassVar[str] = "ratio"

    def __init__(self, ratio: float = 9.8) -> None:
        self.ratio = ratio

    def weights(self, relevant: np.ndarray) -> np.ndarray:
        """Weights float64 [records] for ``relevant`` bool [records]; ones where only one class is there.

        Raises ValueError for a ratio that is not above 0.
        """
        if not self.ratio > 0:
            raise ValueError(f"ratio must be above 0, not {self.ratio}")
        found = int(relevant.sum())
        if found in (0, len(relevant)):
            return np.ones(len(relevant))
        weights = np.where(relevant, 1.0, found / (self.ratio * (len(relevant) - found)))
        return np.asarray(weights * (len(relevant) / weights.sum()))


class Prevalence(Part):
    """As ``Ratio``, with a ratio that follows what was read: ``times`` · irrelevant / relevant, ``most`` at most.

    Where few of what is read is relevant, irrelevant records say little each: many of them are near misses that were
    read because they look relevant, and their weight would push away what the review is about. Where much of it is,
    they tell. On the tuning reviews a fixed ratio of 100 gained on those with under 1 % of relevant records and lost on
    those with over 10 %; this one, with 2 chosen among 1, 2 and 4, gained on both (docs/experiments.md).
    """

    name: ClassVar[str] = "prevalence"

    def __init__(self, times: float = 2.0, most: float = 300.0) -> None:
        self.times = times
        self.most = most

    def weights(self, relevant: np.ndarray) -> np.ndarray:
        """Weights float64 [records] with a mean of 1, for ``relevant`` bool [records]; ones where one class is there.

        Raises ValueError for ``times`` or ``most`` not above 0.
        """
        if not min(self.times, self.most) > 0:
            raise ValueError(f"times and most must be above 0, not {self.times} and {self.most}")
        found = max(1, int(relevant.sum()))
        return Ratio(min(self.times * max(1, len(relevant) - found) / found, self.most)).weights(relevant)


BALANCERS: dict[str, type[Part]] = {part.name: part for part in (Even, Ratio, Prevalence)}
