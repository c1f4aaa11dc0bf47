"""How much of a random order must be read before a recall is certain enough, however the unread records are ranked.

The unread records get a random order that nobody sees. If ``m`` of them are relevant, the relevant ones in a prefix of
that order are hypergeometric, whatever else is read meanwhile and in whatever order: ranked reading may go on, and what
it reads counts where the prefix reaches it.

``AuditTest`` allows a stop with ``x`` relevant ones in the prefix once the prefix has s(x) records. The thresholds
s(0) ≤ s(1) ≤ … are exact: for every m, the probability that they ever allow a stop which is wrong, is at most 1 −
confidence, at all looks at once. With x found, a stop is wrong from m(x) = x + k + 1 relevant ones upwards, where k may
be missing. That the prefix is crossed at x means that none is found between s(x − 1) and s(x), so that each threshold
is had in closed form from the ones before, by a walk through the counts (as in the recursions for order statistics of
Noé, The calculation of distributions of two-sided Kolmogorov-Smirnov type statistics, Ann. Math. Stat. 43(1), 1972).

The rule with which it is compared is that of Callaghan and Müller-Hansen, Statistical stopping criteria for automated
screening in systematic reviews, Systematic Reviews 9:273, 2020, which tests at each look as if it were the only one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from broadsheet.stats.recall import allowed_missing, check_share

SPEND = 1.0  # of what is left of the error, by each threshold: the best in all of bench/audit_design.py
Counts = int | np.ndarray
_NEGLIGIBLE = 1e-4  # of the error: crossings this unlikely are added up, not walked through


class AuditTest:
    """Thresholds of a permutation audit of ``unread`` records, ``found`` relevant ones having been found before it.

    ``spend`` in (0, 1] is the part of the error still left that each threshold may use: 1 makes the first one the least
    that there is, and those after it late. Raises ValueError for counts below 0 and shares outside (0, 1).
    """

    def __init__(
        self, unread: int, found: int, target: float = 0.95, confidence: float = 0.95, *, spend: float = SPEND
    ) -> None:
        if unread < 0 or found < 0:
            raise ValueError(f"counts must not be negative: {unread} unread, {found} found")
        if not 0 < spend <= 1:
            raise ValueError(f"spend must lie in (0, 1], not {spend}")
        self.unread, self.found = int(unread), int(found)
        self.target, self.confidence = check_share(target, "target"), check_share(confidence, "confidence")
        self.spend = spend
        self._error = 1 - self.confidence
        self._thresholds: list[int] = []

    def threshold(self, finds: int) -> int:
        """How long the prefix must be for a stop with so many relevant ones in it: at most all records."""
        while len(self._thresholds) <= finds:
            self._thresholds.append(self._next())
        return self._thresholds[finds]

    def least_wrong(self, finds: int) -> int:
        """The fewest relevant ones in the order that make a stop with so many of them in the prefix wrong."""
        return finds + allowed_missing(self.found + finds, self.target) + 1

    def enough(self, prefix: int, finds: int) -> bool:
        """Whether a prefix of this length with so many relevant ones allows to stop."""
        return prefix >= self.threshold(finds)

    def _next(self) -> int:
        finds, missing = len(self._thresholds), self.least_wrong(len(self._thresholds))
        if missing > self.unread:
            return self._thresholds[-1] if self._thresholds else 0
        before = self._thresholds[-1] if self._thresholds else 0
        spent, mass = self._walk(missing)
        level = self.spend * (self._error - spent)
        if level >= mass:
            return before
        if level <= 0:
            return self.unread
        return before + blank_length(self.unread - before, missing - finds, level / mass)

    def _walk(self, relevant: int) -> tuple[float, float]:
        """With so many relevant ones: how likely a threshold is crossed, and no crossing and just x = their number."""
        finds = len(self._thresholds)
        if not finds:
            return 0.0, 1.0
        spent, first = self._skipped(relevant)
        states = np.arange(finds + 1)
        start = self._thresholds[first - 1] if first else 0
        weights = _pmf(states, self.unread, relevant, start) if first else (states == 0).astype(float)
        weights[:first] = 0.0  # what would have crossed is counted in ``spent``
        for x in range(first, finds):
            weights = self._moved(weights, relevant, start, self._thresholds[x])
            start = self._thresholds[x]
            spent += float(weights[x])
            weights[x] = 0.0
        return spent, float(weights[finds])

    def _skipped(self, relevant: int) -> tuple[float, int]:
        """The sum of the first crossings' probabilities as long as it is negligible, and from where on it is not."""
        total = 0.0
        for x, threshold in enumerate(self._thresholds):
            crossing = float(_pmf(np.arange(x + 1), self.unread, relevant, threshold).sum())
            if total + crossing > _NEGLIGIBLE * self._error:
                return total, x
            total += crossing
        return total, len(self._thresholds)

    def _moved(self, weights: np.ndarray, relevant: int, start: int, end: int) -> np.ndarray:
        """The counts' weights after a prefix of ``end``, from those after ``start``."""
        moved = np.zeros_like(weights)
        for count in np.flatnonzero(weights):
            finds = np.arange(len(weights) - count)
            moved[count:] += weights[count] * _pmf(finds, self.unread - start, relevant - int(count), end - start)
        return moved


_ROUNDING = 1e-9  # of a logarithm: 14 of 28 draws miss one record with probability ½, not a little more


def blank_length(unread: int, relevant: int, level: float) -> int:
    """The fewest random draws, without replacement, that all miss ``relevant`` of ``unread`` records with at most this
    probability. Raises ValueError for more relevant ones than records.
    """
    if not 0 <= relevant <= unread:
        raise ValueError(f"{relevant} relevant ones cannot be among {unread} records")
    if level >= 1 or not relevant:
        return 0 if level >= 1 else unread
    low, high = 0, unread - relevant + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _log_blank(unread, relevant, middle) <= math.log(level) + _ROUNDING:
            high = middle
        else:
            low = middle
    return high


def audit_floor(unread: int, missing: int, confidence: float = 0.95) -> int:
    """The least that any distribution-free rule reads, finding nothing, to say that at most ``missing`` are missing.

    About 1 − δ^(1/(k + 1)) of the unread records. All of them if more may be missing than there are: 0.
    """
    error = 1 - check_share(confidence, "confidence")
    return 0 if missing >= unread else blank_length(unread, missing + 1, error)


def hypergeometric_value(unread: int, found: int, prefix: int, finds: int, target: float = 0.95) -> float:
    """The p-value of Callaghan and Müller-Hansen against "recall is below the target", as if it were looked at once.

    ``finds`` of the ``prefix`` records drawn from ``unread`` were relevant; ``found`` were found before. Looked at
    after every draw, it is below a level more often than the level says.
    """
    one, two, three, four = (np.array([count]) for count in (unread, found, prefix, finds))
    return float(hypergeometric_values(one, two, three, four, target)[0])


def hypergeometric_values(
    unread: np.ndarray, found: np.ndarray, prefix: np.ndarray, finds: np.ndarray, target: float = 0.95
) -> np.ndarray:
    """The same for several draws at once, each an int array [draws]: float64 [draws]."""
    allowed = np.array([allowed_missing(int(count), target) for count in found + finds])
    relevant = finds + allowed + 1
    clipped = np.minimum(relevant, unread)  # more than there are: no recall below the target is possible
    x = np.arange(int(finds.max()) + 1)
    table = _pmf(x, unread[:, None], clipped[:, None], prefix[:, None])
    values = np.where(x <= finds[:, None], table, 0.0).sum(axis=1)
    return np.asarray(np.where(relevant > unread, 0.0, np.minimum(values, 1.0)))


def _log_blank(unread: int, relevant: int, draws: int) -> float:
    """Log probability that so many draws miss all of the relevant ones; ``draws`` ≤ ``unread`` − ``relevant``."""
    table = _log_factorials(unread)
    return float(table[unread - relevant] - table[unread - relevant - draws] - table[unread] + table[unread - draws])


def _pmf(finds: np.ndarray, unread: Counts, relevant: Counts, draws: Counts) -> np.ndarray:
    """Probability of so many finds among ``draws`` of ``unread`` records without replacement; all are broadcast."""
    table = _log_factorials(int(np.max(unread)))
    rest = unread - relevant
    possible = (finds <= relevant) & (finds <= draws) & (draws - finds <= rest)
    x = np.where(possible, finds, np.maximum(0, draws - rest))
    logs = (
        table[relevant] - table[x] - table[relevant - x]
        + table[rest] - table[draws - x] - table[rest - draws + x]
        - table[unread] + table[draws] + table[unread - draws]
    )  # fmt: skip
    return np.asarray(np.where(possible, np.exp(logs), 0.0))


@lru_cache(maxsize=4)
def _table(size: int) -> np.ndarray:
    return np.asarray(np.r_[0.0, np.cumsum(np.log(np.arange(1, size + 1)))])


def _log_factorials(size: int) -> np.ndarray:
    """Logarithms of 0!, 1! … at least up to size!; sizes are rounded up so that few tables are made."""
    return _table(1 << max(size, 1).bit_length())
