"""How much better than random a ranking is, from where relevant records that were drawn at random stand in it.

A relevant record drawn at random from the unread ones stands at a fraction u of the ranking, 0 being its top. A ranking
that finds at least b times as fast as random reading, all the way down, leaves at most (1 − u)^b of the relevant ones
below u: u is then at most as great, in distribution, as a Beta(1, b) variable (Lehmann's alternative: Lehmann, The
power of rank tests, Ann. Math. Stat. 24(1), 1953). Under equality −log(1 − u) is exponential with rate b.
"""

from __future__ import annotations

import math

from broadsheet.stats.recall import check_share

WEAKER = (0.75, 0.5, 0.3, 0.15, 0.05)  # parts of b that are bet on, with equal stakes


class AdvantageWatch:
    """Whether places of random finds refute an ``advantage`` of b, and what b they speak for.

    The wealth is a mixture over b' < b of the likelihood ratios (b'/b)(1 − u)^(b' − b). Each rises with u, so that its
    expectation is at most 1 for any better ranking, too: it ever reaches 1/(1 − confidence) with probability at most 1
    − confidence if the assumption holds. Raises ValueError for b below 0 or not finite.
    """

    def __init__(self, advantage: float, confidence: float = 0.95) -> None:
        if not 0 < advantage < math.inf:
            raise ValueError(f"the advantage must be above 0 and finite, not {advantage}")
        self.advantage = float(advantage)
        self.confidence = check_share(confidence, "confidence")
        self.finds = 0
        self.refuted = False
        self._logs = [0.0] * len(WEAKER)
        self._depth = 0.0

    def update(self, rank: int, unread: int) -> None:
        """A relevant record drawn at random stood at this place (0 is the top) among the unread ones, it included.

        Raises ValueError where there is no such place.
        """
        if not 0 <= rank < unread:
            raise ValueError(f"there is no place {rank} in a ranking of {unread}")
        self.finds += 1
        # The upper end of the place's cell where it must not speak too much against b, its middle for the estimate.
        rest = math.log1p(-rank / unread)
        self._depth -= math.log1p(-(rank + 0.5) / unread)
        for n, part in enumerate(WEAKER):
            self._logs[n] += math.log(part) + self.advantage * (part - 1) * rest
        self.refuted = self.refuted or self.log_wealth >= -math.log1p(-self.confidence)

    @property
    def log_wealth(self) -> float:
        """Log of the evidence against the assumption; 0 before the first find."""
        top = max(self._logs)
        return top + math.log(sum(math.exp(value - top) for value in self._logs) / len(self._logs))

    @property
    def estimate(self) -> float | None:
        """The likeliest b, n/Σ −log(1 − u); None before the first find."""
        return self.finds / self._depth if self.finds else None

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """Bounds of b if −log(1 − u) is exponential: 2 b Σ −log(1 − u) is chi-squared with 2n degrees of freedom.

        For one look at a fixed number of finds; None before the first.
        """
        if not self.finds:
            return None
        from scipy.stats import chi2

        tail = (1 - check_share(confidence, "confidence")) / 2
        ends = chi2.ppf([tail, 1 - tail], 2 * self.finds) / (2 * self._depth)
        return float(ends[0]), float(ends[1])
