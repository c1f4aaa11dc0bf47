"""Confidence sequences and risk bounds against independent computations, in simulation, and at their edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, hypergeom

from broadsheet import stats

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def brute_capital(
    values: list[float], means: np.ndarray, alpha: float, population: int | None, c: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Wealth of both gamblers after each value against each mean [values, means], value by value."""
    up, down = np.ones(len(means)), np.ones(len(means))
    total, squares, variance = 0.0, 0.0, 0.25
    ups, downs = [], []
    for t, x in enumerate(values, 1):
        left = population - t + 1 if population else 1
        expected = (population * means - total) / left if population else means.copy()
        bet = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(t + 1)))
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where(expected > 0, np.minimum(bet, c / expected), bet)
            other = np.where(expected < 1, np.minimum(bet, c / (1 - expected)), bet)
        up = up * (1 + one * (x - expected))
        down = down * (1 - other * (x - expected))
        after = left * expected - x  # what the members that are left must sum to
        impossible = ((after < -1e-9) | (after > left - 1 + 1e-9)) & (population is not None)
        up[impossible], down[impossible] = np.inf, np.inf
        ups.append(up.copy())
        downs.append(down.copy())
        total += x
        squares += (x - (0.5 + total) / (t + 1)) ** 2
        variance = (0.25 + squares) / (t + 1)
    return np.array(ups), np.array(downs)


def brute_bounds(values: list[float], alpha: float, population: int | None, cells: int = 2000) -> np.ndarray:
    """Running bounds [values, 2] by a grid of means, made finer around each end three times."""
    found = []
    for count in range(1, len(values) + 1):
        ends = []
        for side in (0, 1):
            low, high = 0.0, 1.0
            for _ in range(3):
                grid = np.linspace(low, high, cells + 1)
                wealth = np.fmax(*brute_capital(values[:count], grid, alpha, population)) / 2
                kept = np.flatnonzero(wealth.max(axis=0) < 1 / alpha)
                if not len(kept):
                    return np.array(found)
                edge = kept[0] if side == 0 else kept[-1]
                low, high = (
                    (grid[max(edge - 1, 0)], grid[edge]) if side == 0 else (grid[edge], grid[min(edge + 1, cells)])
                )
            ends.append(high if side == 0 else low)
        found.append(ends)
    return np.array(found)


SHAPES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "uniform": lambda rng: rng.random(40),
    "rare": lambda rng: (rng.random(40) < 0.1).astype(float),
    "often": lambda rng: (rng.random(40) < 0.95).astype(float),
    "ones": lambda rng: np.ones(25),
    "zeros": lambda rng: np.zeros(25),
    "narrow": lambda rng: 0.3 + 0.01 * rng.random(40),
    "moving": lambda rng: np.r_[np.zeros(15), np.ones(15), rng.random(10)],
}


@pytest.mark.parametrize("population", [None, 40, 90])
@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_are_those_of_a_brute_force_evaluation(shape: str, population: int | None) -> None:
    values = SHAPES[shape](np.random.default_rng(3))
    expected = brute_bounds(values.tolist(), 0.1, population)
    found = stats.mean_sequence(values, 0.9, population=population)
    assert len(expected) > 10  # up to where every mean is refuted, which "moving" reaches
    np.testing.assert_allclose(found.lower[: len(expected)], expected[:, 0], atol=1e-6)
    np.testing.assert_allclose(found.upper[: len(expected)], expected[:, 1], atol=1e-6)


@pytest.mark.parametrize("population", [None, 60])
def test_log_capital_is_that_of_a_brute_force_evaluation(population: int | None) -> None:
    values = np.random.default_rng(1).random(40)
    for mean in (0.45, 0.5, 0.55, 0.0, 1.0):
        expected = np.log(np.fmax(*brute_capital(values.tolist(), np.array([mean]), 0.05, population))[:, 0] / 2)
        np.testing.assert_allclose(stats.log_capital(values, mean, population=population), expected, atol=1e-8)


@given(VALUES, st.floats(0.5, 0.99), st.sampled_from([None, 40, 100]), st.sampled_from(["both", "lower", "upper"]))
@settings(max_examples=150, deadline=None)
def test_the_last_bounds_found_alone_are_those_of_the_sequence(
    values: list[float], confidence: float, population: int | None, side: Any
) -> None:
    sequence = stats.mean_sequence(values, confidence, population=population, side=side)
    alone = stats.mean_interval(values, confidence, population=population, side=side)
    assert alone == pytest.approx(sequence.last, abs=1e-8)


@given(VALUES, st.sampled_from([None, 40, 100]))
@settings(max_examples=150, deadline=None)
def test_bounds_nest(values: list[float], population: int | None) -> None:
    found = stats.mean_sequence(values, population=population)
    assert (np.diff(found.lower) >= 0).all()
    assert (np.diff(found.upper) <= 0).all()
    assert (found.lower >= 0).all()
    assert (found.upper <= 1).all()
    assert found.lower[0] <= found.upper[0]
    # One-sided bounds spend the whole error on one side; the other side knows nothing but logic.
    lower = stats.mean_sequence(values, population=population, side="lower")
    if population is None:
        assert (lower.upper == 1).all()


def test_more_confidence_is_wider_bounds() -> None:
    values = np.random.default_rng(0).random(300)
    for one, other in zip((0.5, 0.8, 0.95), (0.8, 0.95, 0.999), strict=True):
        narrow, wide = stats.mean_interval(values, one, horizon=300), stats.mean_interval(values, other, horizon=300)
        assert wide[0] < narrow[0] < narrow[1] < wide[1]


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_bounds_of_mirrored_values_are_mirrored(values: list[float]) -> None:
    found, other = stats.mean_sequence(values), stats.mean_sequence([1 - value for value in values])
    np.testing.assert_allclose(found.lower, 1 - other.upper, atol=1e-8)
    np.testing.assert_allclose(found.upper, 1 - other.lower, atol=1e-8)


def test_a_whole_population_is_known_exactly() -> None:
    rng = np.random.default_rng(2)
    values = rng.permutation(np.r_[np.ones(7), np.zeros(93)])
    found = stats.mean_sequence(values, population=100)
    assert found.last == pytest.approx((0.07, 0.07), abs=1e-12)
    assert (found.lower <= 0.07 + 1e-12).all()


def ever_missed(bounds: stats.Bounds, mean: float) -> bool:
    return bool(((bounds.lower > mean + 1e-9) | (bounds.upper < mean - 1e-9)).any())


def allowed(runs: int, error: float) -> int:
    """A number of misses that a method of exactly this error exceeds once in ten thousand tries."""
    return int(binom.ppf(1 - 1e-4, runs, error))


def refuted(values: np.ndarray, mean: float, confidence: float, population: int | None = None) -> bool:
    """Whether the true mean was ever refuted: what is asked of the bounds, without looking for them."""
    wealth = stats.log_capital(values, mean, confidence, population=population)
    return bool(wealth.max() >= -math.log(1 - confidence))


@pytest.mark.parametrize("mean", [0.02, 0.3, 0.5])
def test_coverage_at_every_look_with_replacement(mean: float) -> None:
    rng = np.random.default_rng(int(1000 * mean))
    runs, error = 2000, 0.2
    drawn = [(rng.random(100) < mean).astype(float) for _ in range(runs)]
    missed = [refuted(values, mean, 1 - error) for values in drawn]
    assert sum(missed) <= allowed(runs, error)
    for values, was in zip(drawn[:40], missed[:40], strict=True):
        assert ever_missed(stats.mean_sequence(values, 1 - error), mean) == was


def test_coverage_at_every_look_without_replacement() -> None:
    rng = np.random.default_rng(9)
    runs, error, population = 2000, 0.2, np.r_[rng.random(20), np.zeros(50), np.ones(10)]
    mean, size = float(population.mean()), len(population)
    drawn = [rng.permutation(population) for _ in range(runs)]
    missed = [refuted(values, mean, 1 - error, size) for values in drawn]
    assert sum(missed) <= allowed(runs, error)
    for values, was in zip(drawn[:40], missed[:40], strict=True):
        assert ever_missed(stats.mean_sequence(values, 1 - error, population=size), mean) == was


def test_the_coverage_test_can_fail() -> None:
    """Bounds for a mean by the normal approximation, looked at after every value, miss far more often."""
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(250):
        values, count = (rng.random(100) < 0.3).astype(float), np.arange(1, 101)
        means = np.cumsum(values) / count
        margin = 1.2816 * np.sqrt(means * (1 - means) / count)
        missed += ever_missed(stats.Bounds(means - margin, means + margin), 0.3)
    assert missed > allowed(250, 0.2)


def test_differences_are_covered_and_found() -> None:
    rng = np.random.default_rng(4)
    runs, missed = 60, 0
    for _ in range(runs):
        base = rng.random(100)
        found = stats.difference_sequence(np.clip(base + 0.1, 0, 1), base * 0.9, 0.8)
        missed += ever_missed(found, np.mean(np.clip(np.linspace(0, 1, 100001) + 0.1, 0, 1)) - 0.45)
    assert missed <= allowed(runs, 0.2)
    base = rng.random(400)
    lower, upper = stats.difference_interval(base * 0.8 + 0.2, base * 0.8)
    assert lower == pytest.approx(0.2, abs=0.1)
    assert upper == pytest.approx(0.2, abs=0.1)
    assert lower <= 0.2 <= upper


def test_against_clopper_pearson() -> None:
    """At a single look the exact interval is narrower, but for values that are all equal not by much."""
    for found_of, count in ((0, 100), (5, 100), (50, 100), (100, 100)):
        values = np.random.default_rng(found_of).permutation(np.r_[np.ones(found_of), np.zeros(count - found_of)])
        lower, upper = stats.mean_interval(values, 0.95, horizon=count)
        exact_low = beta.ppf(0.025, found_of, count - found_of + 1) if found_of else 0.0
        exact_high = beta.ppf(0.975, found_of + 1, count - found_of) if found_of < count else 1.0
        exact = exact_high - exact_low
        assert lower <= found_of / count <= upper
        assert 0.8 * exact <= upper - lower <= 2.6 * exact


def test_against_the_hypergeometric_bound() -> None:
    """None found among n of N: the exact bound on how many there are is reached within a factor, and never undercut."""
    size = 1000
    for drawn in (50, 200, 500, 900):
        _, upper = stats.mean_interval(np.zeros(drawn), 0.95, population=size, side="upper", truncation=0.99)
        many = math.floor(upper * size + 1e-6)  # the greatest number that is not refuted
        # The greatest number with which to find none is not too unlikely.
        exact = max(k for k in range(size - drawn + 1) if hypergeom.pmf(0, size, k, drawn) >= 0.05)
        assert exact <= many <= 3 * exact + 3


def test_a_likely_value_is_not_refuted_by_a_single_draw() -> None:
    assert stats.mean_interval([1.0]) == (0.0, 1.0)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"values": []}, "one number"),
    ({"values": [[0.1]]}, "one number"),
    ({"values": [0.1, 1.2]}, r"1\.2 does not"),
    ({"values": [-0.1]}, r"\[0, 1\]"),
    ({"values": [float("nan")]}, r"\[0, 1\]"),
    ({"values": [0.1], "confidence": 0.0}, "confidence"),
    ({"values": [0.1], "confidence": 1.0}, "confidence"),
    ({"values": [0.1], "confidence": 1.2}, "confidence"),
    ({"values": [0.1], "confidence": float("nan")}, "confidence"),
    ({"values": [0.1, 0.2], "population": 1}, "population of 1"),
    ({"values": [0.1], "side": "left"}, "side"),
    ({"values": [0.1], "horizon": 0}, "horizon"),
    ({"values": [0.1], "truncation": 1.0}, "truncation"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    for function in (stats.mean_sequence, stats.mean_interval):
        with pytest.raises(ValueError, match=message):
            function(**arguments)


def test_bad_pairs_and_means_are_refused() -> None:
    with pytest.raises(ValueError, match="as many on both sides"):
        stats.difference_sequence([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        stats.difference_interval([0.1], [1.1])
    with pytest.raises(ValueError, match="mean"):
        stats.log_capital([0.1], 1.5)


def test_risk_bound_by_hand() -> None:
    losses = np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.2]])
    np.testing.assert_allclose(stats.risk_bound(losses), [3 / 4, 2.5 / 4, 1.2 / 4])
    weighted = stats.risk_bound(losses, np.array([2.0, 1.0, 0.0]), next_weight=2.0)
    np.testing.assert_allclose(weighted, [4 / 5, 3 / 5, 2 / 5])
    np.testing.assert_allclose(stats.risk_bound(np.zeros((0, 2)), bound=3.0), [3.0, 3.0])


def test_controlled_takes_the_boldest_parameter_that_keeps_the_risk() -> None:
    losses = np.tile([1.0, 0.5, 0.1, 0.0], (19, 1))
    assert stats.controlled(losses, 1.0) == 0
    assert stats.controlled(losses, 0.2) == 2  # (1.9 + 1)/20 = .145
    assert stats.controlled(losses, 0.05) == 3  # 1/20
    assert stats.controlled(losses, 0.049) is None
    assert stats.controlled(losses[:0], 0.5) is None


@given(st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=10))
def test_monotone_is_the_least_envelope(rows: list[list[float]]) -> None:
    losses = np.array(rows)
    found = stats.monotone(losses)
    assert (found >= losses).all()
    assert (np.diff(found, axis=1) <= 0).all()
    for case, row in zip(found, rows, strict=True):
        assert case.tolist() == [max(row[n:]) for n in range(4)]


@pytest.mark.parametrize("weighted", [False, True])
def test_conformal_control_in_simulation(weighted: bool) -> None:
    """The next case's expected loss is within the risk, and not far below: a case is lost below its own threshold."""
    rng = np.random.default_rng(11)
    grid, risk, losses = np.linspace(0, 1, 101), 0.2, []
    for _ in range(4000):
        cases = rng.random(25) if not weighted else np.sqrt(rng.random(25))
        weights = None if not weighted else 1 / (2 * np.maximum(cases, 0.05))  # density ratio, capped at 10
        table = (cases[:, None] > grid[None, :]).astype(float)
        chosen = stats.controlled(table, risk, weights, next_weight=1.0 if not weighted else 0.6)
        losses.append(1.0 if chosen is None else float(rng.random() > grid[chosen]))
    error = 3.7 * math.sqrt(risk * (1 - risk) / len(losses))
    assert np.mean(losses) <= risk + error
    assert np.mean(losses) >= risk / 2


def test_bad_losses_are_refused() -> None:
    good = np.zeros((3, 2))
    for losses, match in (
        (np.zeros(3), "parameters"),
        (np.zeros((3, 0)), "parameters"),
        (good - 1, "lie in"),
        (good + 2, "lie in"),
    ):
        with pytest.raises(ValueError, match=match):
            stats.risk_bound(losses)
    with pytest.raises(ValueError, match="lie in"):
        stats.risk_bound(np.full((1, 1), np.nan))
    with pytest.raises(ValueError, match="weights"):
        stats.risk_bound(good, np.ones(2))
    with pytest.raises(ValueError, match="weights"):
        stats.risk_bound(good, -np.ones(3))
    with pytest.raises(ValueError, match="weights"):
        stats.risk_bound(good, np.zeros(3), next_weight=0.0)
    with pytest.raises(ValueError, match="bound"):
        stats.risk_bound(good, bound=0.0)
    with pytest.raises(ValueError, match="risk"):
        stats.controlled(good, -0.1)
    with pytest.raises(ValueError, match="risk"):
        stats.controlled(good, math.nan)
    with pytest.raises(ValueError, match="monotone"):
        stats.controlled(np.array([[0.0, 1.0]]), 0.5)
