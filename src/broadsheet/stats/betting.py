"""Confidence sequences for means of bounded values, by betting.

Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 86(1), 2024: the hedged
capital process with predictable plug-in bets, and its form for sampling without replacement.
A sequence may be looked at after every value: with the stated confidence, the mean lies within the bounds
at all times at once. It asks that each value's expectation, given those before it, is the mean; for a finite
population, that every remaining member is equally likely to be drawn next. It asks nothing of the values' distribution
but that they lie in [0, 1].

Against a mean m, one gambler bets that the values are higher and one that they are lower. The first one's wealth falls
as m rises, whatever the values are, so that the means which are not refuted form an interval, and its ends are found
exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np

Values = Sequence[float] | np.ndarray
Side = Literal["both", "lower", "upper"]

TRUNCATION = 0.5  # no bet may lose more than this share of the wealth
_LEAST = 1e-300  # in the place of 0 below a fraction
TOLERANCE = 1e-10  # of an end of an interval; ends are rounded outwards by it


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bounds after each value: float64 [values]; never wider than before. Plain numbers by ``last``.

    Where the lower one is above the upper one, every mean is refuted: an error of probability 1 − confidence, or the
    values did not come as they should.
    """

    lower: np.ndarray
    upper: np.ndarray

    @property
    def last(self) -> tuple[float, float]:
        """The bounds after all values."""
        return float(self.lower[-1]), float(self.upper[-1])


@dataclass(frozen=True)
class _Game:
    """A gambler who bets that values are higher than a mean; ``enough`` is the log wealth that refutes the mean."""

    values: np.ndarray
    bets: np.ndarray
    population: int | None
    truncation: float
    enough: float

    def wealth(self, mean: float, count: int | None = None) -> np.ndarray:
        """Log wealth against a mean after each of the first ``count`` values; the mean must be possible still."""
        x = self.values[:count]
        if self.population is None:
            expected: np.ndarray | float = mean
        else:
            before, left = self._drawn
            expected = np.clip((self.population * mean - before[:count]) / left[:count], 0.0, 1.0)
        # Where 0 is expected nothing can be lost, so that a bet needs no limit.
        bets = np.minimum(self.bets[:count], self.truncation / np.maximum(expected, _LEAST))
        return np.asarray(np.cumsum(np.log1p(bets * (x - expected))))

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """The sum of the values before each, and how many of the population were left then."""
        assert self.population is not None
        return np.r_[0.0, np.cumsum(self.values)[:-1]], self.population - np.arange(len(self.values))

    def floors(self) -> np.ndarray:
        """The least mean that is possible after each value."""
        if self.population is None:
            return np.zeros(len(self.values))
        return np.minimum(np.cumsum(self.values) / self.population, 1.0)


def mean_sequence(
    values: Values,
    confidence: float = 0.95,
    *,
    population: int | None = None,
    side: Side = "both",
    horizon: int | None = None,
    truncation: float = TRUNCATION,
) -> Bounds:
    """Bounds on the mean of values in [0, 1] after each of them, valid at all looks at once.

    ``population`` is the size of the finite population that the values were drawn from without replacement; the bounds
    are then on its mean. ``side`` asks for one bound only, with all of the error on that side. ``horizon`` is a number
    of values around which the bounds should be tightest; without it they are tight over all times. ``truncation`` in
    (0, 1) is the greatest share of the wealth at stake in one bet. Raises ValueError for values outside [0, 1] or not
    finite, none at all, more than the population has, and parameters out of their range.
    """
    game = _game(values, confidence, population=population, side=side, horizon=horizon, truncation=truncation)
    lower = _path(game) if side != "upper" else game.floors()
    upper = 1 - (_path(_mirrored(game)) if side != "lower" else _mirrored(game).floors())
    return Bounds(lower, upper)


def mean_interval(
    values: Values,
    confidence: float = 0.95,
    *,
    population: int | None = None,
    side: Side = "both",
    horizon: int | None = None,
    truncation: float = TRUNCATION,
) -> tuple[float, float]:
    """The last bounds of ``mean_sequence``, found without those before them: for long sequences."""
    game = _game(values, confidence, population=population, side=side, horizon=horizon, truncation=truncation)
    lower = _last(game) if side != "upper" else float(game.floors()[-1])
    upper = 1 - (_last(_mirrored(game)) if side != "lower" else float(_mirrored(game).floors()[-1]))
    return lower, upper


def difference_sequence(
    first: Values,
    second: Values,
    confidence: float = 0.95,
    *,
    population: int | None = None,
    horizon: int | None = None,
) -> Bounds:
    """Bounds on the mean of ``first − second``, paired values in [0, 1] each, after each pair: in [−1, 1].

    Also ValueError where the two are of different lengths.
    """
    bounds = mean_sequence(_halved(first, second), confidence, population=population, horizon=horizon)
    return Bounds(2 * bounds.lower - 1, 2 * bounds.upper - 1)


def difference_interval(
    first: Values,
    second: Values,
    confidence: float = 0.95,
    *,
    population: int | None = None,
    horizon: int | None = None,
) -> tuple[float, float]:
    """The last bounds of ``difference_sequence``."""
    lower, upper = mean_interval(_halved(first, second), confidence, population=population, horizon=horizon)
    return 2 * lower - 1, 2 * upper - 1


def log_capital(
    values: Values,
    mean: float,
    confidence: float = 0.95,
    *,
    population: int | None = None,
    horizon: int | None = None,
    truncation: float = TRUNCATION,
) -> np.ndarray:
    """Logarithm of the hedged wealth against a mean after each value: float64 [values], infinite once it is impossible.

    Its exponential is an e-process: if the mean is the true one, it ever reaches 1/α with probability at most α.
    ``confidence`` only sizes the bets. Raises ValueError as ``mean_sequence``, and for a mean outside [0, 1].
    """
    if not 0 <= mean <= 1:
        raise ValueError(f"the mean must lie in [0, 1], not {mean}")
    game = _game(values, confidence, population=population, side="both", horizon=horizon, truncation=truncation)
    other = _mirrored(game)
    wealth = np.maximum(game.wealth(mean), other.wealth(1 - mean)) - math.log(2)
    slack = 1e-12
    wealth[(game.floors() > mean + slack) | (other.floors() > 1 - mean + slack)] = np.inf
    return np.asarray(wealth)


def plug_in_bets(values: np.ndarray, log_odds: float, horizon: int | None = None) -> np.ndarray:
    """The size of each bet, known before its value is; with a horizon, those for a fixed number of values."""
    count = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (count + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (count + 1)
    before = np.r_[0.25, variances[:-1]]
    length = count * np.log1p(count) if horizon is None else float(horizon)
    return np.asarray(np.sqrt(2 * log_odds / (before * length)))


def _game(
    values: Values, confidence: float, *, population: int | None, side: Side, horizon: int | None, truncation: float
) -> _Game:
    x = _checked(values, confidence, population, truncation)
    if side not in ("both", "lower", "upper"):
        raise ValueError(f"side must be both, lower or upper, not {side!r}")
    if horizon is not None and horizon < 1:
        raise ValueError(f"horizon must be at least 1, not {horizon}")
    enough = math.log((2 if side == "both" else 1) / (1 - confidence))
    return _Game(x, plug_in_bets(x, enough, horizon), population, truncation, enough)


def _mirrored(game: _Game) -> _Game:
    """The gambler on the other side: the same game with 1 − values, for which the plug-in bets are the same."""
    return _Game(1 - game.values, game.bets, game.population, game.truncation, game.enough)


def _checked(values: Values, confidence: float, population: int | None, truncation: float) -> np.ndarray:
    x = np.asarray(values, np.float64)
    if x.ndim != 1 or not len(x):
        raise ValueError("values must be a sequence of one number or more")
    if not ((x >= 0) & (x <= 1)).all():  # not a number is refused here, too
        raise ValueError(f"values must lie in [0, 1]; {x[~((x >= 0) & (x <= 1))][0]} does not: scale them first")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, both excluded, not {confidence}")
    if not 0 < truncation < 1:
        raise ValueError(f"truncation must lie between 0 and 1, both excluded, not {truncation}")
    if population is not None and len(x) > population:
        raise ValueError(f"{len(x)} values cannot be drawn without replacement from a population of {population}")
    return x


def _halved(first: Values, second: Values) -> np.ndarray:
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape:
        raise ValueError(f"paired values must be as many on both sides, not {one.shape} and {other.shape}")
    for values in (one, other):
        _checked(values, 0.5, None, 0.5)
    return (one - other + 1) / 2


def _path(game: _Game) -> np.ndarray:
    """The lower bound after each value: the greatest mean refuted so far."""
    count, floors = len(game.values), game.floors()
    found = np.empty(count)
    bound, place, step = 0.0, 0, 1 / 64
    while place < count:
        # The next time at which the present bound can be raised, by logic or by wealth.
        raised = (floors[place:] > bound) | (game.wealth(bound)[place:] >= game.enough)
        ahead = int(np.argmax(raised)) if raised.any() else count - place
        found[place : place + ahead] = bound
        place += ahead
        if place == count:
            break
        bound = max(bound, float(floors[place]))
        root = _root(partial(_gain, game, place + 1), bound, step)
        step = max(2 * (root - bound), 1e-6)
        bound = max(bound, root)
        found[place] = bound
        place += 1
    return found


def _gain(game: _Game, count: int, mean: float) -> float:
    """By how much the wealth after so many values is enough to refute a mean."""
    return float(game.wealth(mean, count)[-1]) - game.enough


def _last(game: _Game) -> float:
    """The last of ``_path``: the wealth at its highest refutes as much as the wealth at any time."""
    floor = float(game.floors()[-1])
    return max(floor, _root(lambda mean: float(game.wealth(mean).max()) - game.enough, floor, 1 / 64))


def _root(gain: Callable[[float], float], low: float, step: float) -> float:
    """Where a falling function crosses 0 in [low, 1], from below by at most the tolerance; ``low`` if it is below 0.

    Doubling steps, then the Illinois form of false position (Dowell and Jarratt, BIT 11, 1971) with halving as its
    guard.
    """
    below = gain(low)
    if below < 0 or low >= 1:
        return low
    high = min(low + step, 1.0)
    above = gain(high)
    while above >= 0 and high < 1:
        low, below = high, above
        step *= 2
        high = min(low + step, 1.0)
        above = gain(high)
    if above >= 0:
        return high
    turn = 0
    while high - low > TOLERANCE:
        turn += 1
        guess = low + (high - low) * (below / (below - above) if turn % 4 else 0.5)
        # Half a tolerance inwards, so that an end which is met at once still closes the bracket.
        guess = min(max(guess, low + TOLERANCE / 2), high - TOLERANCE / 2)
        value = gain(guess)
        if value >= 0:
            low, below, above = guess, value, above / 2
        else:
            high, above, below = guess, value, below / 2
    return low
