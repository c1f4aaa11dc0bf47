"""How many relevant records a pool has at most, by e-processes against every total, with reading in any order.

Against "there are r relevant records", let each read find one with a probability of at least q = min(1, b (r − f)/U),
given all that happened before: f were found, U are unread, and b says how the record was chosen. Of a record drawn at
random this is true with b = 1, whatever else is done. Of the top of a ranking it is an assumption, "the ranking finds
at least b times as fast as random reading". b = 0 assumes nothing.

A stake ρ in [0, 1) turns each read into a factor, (1 − ρ q)/(1 − q) for a miss and ρ for a find. Its expectation is 1
if the probability is q, and less if it is more: the factors' product from any *start* on is a test supermartingale. The
stake 0 wins most by misses and loses all at a find, so that it must start anew; the others outlive finds. The e-process
against r is their mixture: starts at the beginning and after each find, with weights that are fixed beforehand and sum
to at most 1. It reaches 1/δ with probability at most δ if r is the true total (Ville's inequality), at all looks at
once; a total against which it has reached that is refuted for good. The greatest total that is not refuted is a bound
with the declared confidence, because only the true total can be refuted wrongly.

The weights of starts look at where they matter: to stop with f found is wrong for r if f < τ r. The greatest such f
misleads most easily, and each find fewer less so by a constant factor, whence weights that fall geometrically from it;
a small part falls slowly, so that totals which are far too great are refuted early.

With the *guard*, a b above 1 is lowered where the ranking has not shown it. If r were the total, random reading would
have been expected to find Σ (r − f)/U records in the ranked reads of the last half of the ranked finds, n of them and
five where there are as many; n over that is how much better than random the ranking was, and b is at most this; it is 0
before the first ranked find. A lower b assumes less, and is known before the next read: all said above holds.

Betting against sampling without replacement: Waudby-Smith and Ramdas (JRSS B 86(1), 2024); mixtures over starts for
processes that change: Shin, Ramdas and Rinaldo, E-detectors (New England Journal of Statistics in Data Science, 2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from broadsheet.stats.recall import check_share

STAKES = ((0.0, 0.85), (0.3, 0.15))  # stakes with their weights
SLOW, ABOVE = 0.05, 0.02  # parts of the starts' weight: those that fall slowly, and those where a stop is right
LOOKED_BACK = 5  # finds, at least, that the guard looks at
_HUGE = 1e250
Advantage = float | np.ndarray


class TotalTest:
    """E-processes against all totals, of ``unread`` records with ``found`` relevant ones found before.

    ``target`` only shapes the weights: the bound is valid for any use. ``bound`` is the greatest total that is not
    refuted. ``guard`` lowers any b above 1 to what the ranking has shown. Raises ValueError for counts below 0 and
    shares outside (0, 1).
    """

    def __init__(
        self,
        unread: int,
        found: int,
        target: float = 0.95,
        confidence: float = 0.95,
        *,
        guard: bool = False,
        stakes: tuple[tuple[float, float], ...] = STAKES,
        slow: float = SLOW,
        above: float = ABOVE,
    ) -> None:
        if unread < 0 or found < 0:
            raise ValueError(f"counts must not be negative: {unread} unread, {found} found")
        self.target, self.confidence = check_share(target, "target"), check_share(confidence, "confidence")
        self.found = self._first = int(found)
        self.guard, self.stakes, self.slow, self.above = guard, stakes, slow, above
        self._expected = (0.0, 0.0)  # of ranked reads, the sums of 1/U and of f/U
        self._marks = [self._expected]  # the same at the beginning and at each ranked find
        self.enough = 1 / (1 - self.confidence)
        self._base = self.found + 1  # the total that the first place of the arrays stands for
        totals = np.arange(self._base, self.found + int(unread) + 1)
        share = Fraction(str(self.target))
        self._wrong = (totals * share.numerator + share.denominator - 1) // share.denominator - 1
        missing = totals - self._wrong
        self._fall = _falls(1 << int(missing.max(initial=1)).bit_length(), 1 - self.confidence)[missing - 1]
        weights = self._weights()
        self._wealth = [part * weights for _, part in stakes]
        self._alive = np.ones(len(totals), bool)

    @property
    def bound(self) -> int:
        """The greatest total that is not refuted: relevant records found and unread together."""
        return self._base + len(self._alive) - 1

    def update(self, found: bool, advantage: float, unread: int) -> None:
        """One read: whether it found a relevant record, b of how it was chosen, and the unread records just before it.

        Raises ValueError for a negative or infinite b, and with no record unread.
        """
        if not 0 <= advantage < math.inf:
            raise ValueError(f"the advantage must be finite and not negative, nor {advantage}")
        if unread < 1:
            raise ValueError("a record was read though none was unread")
        if advantage and not found:
            self._miss(self._shown(advantage), unread)
        if advantage > 1:
            self._expected = (self._expected[0] + 1 / unread, self._expected[1] + self.found / unread)
        if found:
            self._find(advantage > 0)
            if advantage > 1:
                self._marks.append(self._expected)
        self._trim(self.found + unread - 1)

    def e_value(self, total: int) -> float:
        """The e-process against this total, greater than what was found; infinite where it is impossible or refuted."""
        place = total - self._base
        if place < 0:
            raise ValueError(f"{self.found} were found: a total of {total} is no question")
        if place >= len(self._alive) or not self._alive[place]:
            return math.inf
        return float(sum(wealth[place] for wealth in self._wealth))

    def enough_after(self, aim: int, unread: int, *, audited: int) -> bool:
        """Whether so many random reads, all misses, refute every total above ``aim``; ``unread`` records are left."""
        first = slice(max(aim + 1 - self._base, 0), max(aim + 2 - self._base, 0))  # most often it is not enough for it
        return self._needs(first, 1.0, unread, audited)(0) and self._needs(self._above(aim), 1.0, unread, audited)(0)

    def misses_needed(self, aim: int, advantage: float, unread: int, *, audited: int = 0) -> int:
        """How many reads with this b, all misses, refute every total above ``aim``; ``audited`` random ones come first.

        At most as many as leave no more than ``aim`` possible. ``unread`` are the records unread now.
        """
        most = max(unread - audited - max(aim - self.found, 0), 0)
        enough = self._needs(self._above(aim), advantage, unread, audited)
        low, high = -1, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _above(self, aim: int) -> slice:
        """The places of the totals above this one."""
        return slice(max(aim + 1 - self._base, 0), None)

    def _needs(self, places: slice, advantage: float, unread: int, audited: int) -> Callable[[int], bool]:
        """For a number of misses with this b, after the random ones, whether all totals at these places are refuted."""
        alive = self._alive[places]
        missing = np.arange(1, len(self._alive) + 1)[places][alive]
        shown = np.broadcast_to(self._shown(advantage), len(self._alive))[places][alive]
        with np.errstate(over="ignore"):  # an infinite wealth is enough
            start = self._growth(missing, 1.0, unread, audited)
            wealth = [values[places][alive] * grown for values, grown in zip(self._wealth, start, strict=True)]

        def enough(count: int) -> bool:
            with np.errstate(over="ignore"):
                grown = self._growth(missing, shown, unread - audited, count)
                refuted = sum(w * g for w, g in zip(wealth, grown, strict=True)) >= self.enough
            return bool((refuted | (missing > unread - audited - count)).all())

        return enough

    def _shown(self, advantage: float) -> Advantage:
        """The b to bet on, for each total where the guard lowers it."""
        if not self.guard or advantage <= 1:
            return advantage
        finds = min(len(self._marks) - 1, max(LOOKED_BACK, -(-self.found // 2)))
        if not finds:
            return 0.0
        (first, first_found), (last, last_found) = self._marks[-1 - finds], self._marks[-1]
        totals = self._base + np.arange(len(self._alive))
        expected = totals * (last - first) - (last_found - first_found)
        return np.asarray(np.minimum(advantage, finds / expected))

    def _growth(self, missing: np.ndarray, advantage: Advantage, unread: int, count: int) -> list[np.ndarray]:
        """By how much so many misses multiply each stake's wealth; infinite where they are impossible."""
        from scipy.special import gammaln

        chance = advantage * missing
        possible = unread - count + 1 - chance > 0
        safe = np.where(possible, chance, 0.0)

        def log_product(parts: np.ndarray) -> np.ndarray:
            return np.asarray(gammaln(unread - parts + 1) - gammaln(unread - count - parts + 1))

        return [
            np.where(possible, np.exp(np.minimum(log_product(stake * safe) - log_product(safe), 500)), np.inf)
            for stake, _ in self.stakes
        ]

    def _find(self, counted: bool) -> None:
        self.found += 1
        keep = slice(self.found + 1 - self._base, None)
        self._base = self.found + 1
        self._wrong, self._fall, self._alive = self._wrong[keep], self._fall[keep], self._alive[keep]
        weights = self._weights()
        for n, (stake, part) in enumerate(self.stakes):
            self._wealth[n] = self._wealth[n][keep] * (stake if counted else 1.0) + part * weights

    def _miss(self, advantage: Advantage, unread: int) -> None:
        missing = np.arange(1, len(self._alive) + 1)
        chance = np.minimum(missing * (advantage / unread), 1.0)
        with np.errstate(divide="ignore"):
            for n, (stake, _) in enumerate(self.stakes):
                self._wealth[n] = np.minimum(self._wealth[n] * ((1 - stake * chance) / (1 - chance)), _HUGE)
        self._alive &= sum(self._wealth) < self.enough

    def _trim(self, possible: int) -> None:
        """Leave off totals above the greatest that is neither refuted nor impossible."""
        alive = self._alive[: max(possible - self._base + 1, 0)]
        last = len(alive) - int(alive[::-1].argmax()) if alive.any() else 0
        if last < len(self._alive):
            self._wrong, self._fall, self._alive = self._wrong[:last], self._fall[:last], self._alive[:last]
            self._wealth = [wealth[:last] for wealth in self._wealth]

    def _weights(self) -> np.ndarray:
        """The weight of a start now, with as many found as are, against each total."""
        before = self._wrong - self.found  # how many finds before the last one with which a stop is wrong
        near = np.maximum(before, 0)
        steep = (1 - self._fall) * self._fall**near
        level = 1 / ((near + 1.0) * (near + 2.0))
        wrong = (1 - self.slow - self.above) * steep + self.slow * level
        past = self.found - np.maximum(self._wrong, self._first - 1)  # 1 for the first start where a stop is right
        right = 1 / (np.maximum(past, 1) * (np.maximum(past, 1) + 1.0))
        # A total for which no stop was ever wrong has all of its weight where a stop is right.
        return np.asarray(np.where(before >= 0, wrong, np.where(self._wrong < self._first, 1.0, self.above) * right))


@lru_cache(maxsize=32)
def _falls(most: int, error: float) -> np.ndarray:
    """By what factor starts become less dangerous, one find fewer each, with 1, 2 … ``most`` missing.

    g = (δ (1 − g))^(1/missing), by iteration.
    """
    missing = np.arange(1, most + 1)
    falls = np.full(most, 0.5)
    for _ in range(60):
        falls = 0.5 * falls + 0.5 * (error * (1 - falls)) ** (1 / missing)
    return falls
