"""Widths of the figures of Waudby-Smith and Ramdas (2024): our bounds beside those of the authors' package.

The reference values are what confseq 0.0.11 gave for these sequences, on a grid of 4,000 cells with the figures'
settings (bench/peers/confseq_intervals.py); its grid makes it wider by up to a cell at each end.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from broadsheet.stats import mean_sequence

CELL = 1 / 4000
SPREAD = (np.arange(1, 1001) * 0.6180339887498949) % 1  # evenly spread over the unit interval in any order of magnitude
SEQUENCES = {
    "half": (SPREAD < 0.5).astype(float),
    "tenth": (SPREAD < 0.1).astype(float),
    "uniform": SPREAD,
    "beta": beta(10, 30).ppf(SPREAD),
}
AUTHORS = {
    ("half", None): [(0.11575, 0.87125), (0.34125, 0.65375), (0.434, 0.56325)],
    ("tenth", None): [(0.0, 0.5565), (0.03, 0.20075), (0.06775, 0.13375)],
    ("uniform", None): [(0.239, 0.769), (0.4175, 0.583), (0.46825, 0.532)],
    ("beta", None): [(0.12375, 0.6045), (0.226, 0.30375), (0.24325, 0.2575)],
    ("tenth", 2000): [(0.0005, 0.5555), (0.031, 0.1985), (0.07325, 0.12675)],
}


@pytest.mark.parametrize(("name", "population"), AUTHORS)
def test_our_bounds_are_the_authors_to_within_their_grid(name: str, population: int | None) -> None:
    bounds = mean_sequence(SEQUENCES[name], 0.95, population=population)
    for count, (low, high) in zip((10, 100, 1000), AUTHORS[name, population], strict=True):
        # A grid keeps the last mean that is refuted on either side: wider than ours, by less than a cell.
        assert low - 1e-9 <= bounds.lower[count - 1] <= low + CELL + 1e-9
        assert high - CELL - 1e-9 <= bounds.upper[count - 1] <= high + 1e-9


def hoeffding(values: np.ndarray) -> float:
    """The width of the predictable plug-in Hoeffding sequence after all values (their Proposition 1)."""
    count = np.arange(1, len(values) + 1)
    bets = np.minimum(np.sqrt(8 * math.log(2 / 0.05) / (count * np.log(count + 1))), 1)
    widths = 2 * (math.log(2 / 0.05) + np.cumsum(bets**2 / 8)) / np.cumsum(bets)
    return float(widths.min())


def empirical_bernstein(values: np.ndarray) -> float:
    """The width of the predictable plug-in empirical Bernstein sequence after all values (their Theorem 2)."""
    count = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (count + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (count + 1)
    before = np.r_[0.25, variances[:-1]]
    bets = np.minimum(np.sqrt(2 * math.log(2 / 0.05) / (before * count * np.log(count + 1))), 0.5)
    errors = (values - np.r_[0.5, means[:-1]]) ** 2
    paid = 4 * errors * (-np.log1p(-bets) - bets) / 4
    widths = 2 * (math.log(2 / 0.05) + np.cumsum(paid)) / np.cumsum(bets)
    return float(widths.min())


def test_the_order_of_the_methods_is_that_of_the_figures() -> None:
    widths = {}
    for name, values in SEQUENCES.items():
        bounds = mean_sequence(values, 0.95)
        widths[name] = (float(bounds.upper[-1] - bounds.lower[-1]), empirical_bernstein(values), hoeffding(values))
    for name in ("tenth", "uniform", "beta"):  # where the variance is less than the greatest there can be
        hedged, bernstein, plain = widths[name]
        assert hedged < bernstein < plain
    hedged, bernstein, plain = widths["half"]
    assert plain < hedged  # nothing is to be gained there: all three are about the same
    assert hedged == pytest.approx(bernstein, rel=0.1)
    assert widths["beta"][2] > 8 * widths["beta"][0]
