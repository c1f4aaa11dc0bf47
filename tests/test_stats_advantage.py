from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from broadsheet.stats import AdvantageWatch
from broadsheet.stats.advantage import WEAKER


def places(advantage: float, count: int, unread: int, rng: np.random.Generator) -> list[int]:
    """Places of random relevant records in a ranking that is just so much better than random, all the way down."""
    depth = 1 - (1 - rng.random(count)) ** (1 / advantage)
    return [int(place) for place in depth * unread]


def watched(advantage: float, ranks: list[int], unread: int, confidence: float = 0.95) -> AdvantageWatch:
    watch = AdvantageWatch(advantage, confidence)
    for rank in ranks:
        watch.update(rank, unread)
    return watch


@pytest.mark.parametrize("advantage", [1.0, 3.0, 10.0])
def test_each_bet_is_fair_where_the_assumption_just_holds(advantage: float) -> None:
    for part in WEAKER:
        weaker = part * advantage

        def paid(u: float, weaker: float = weaker) -> float:
            return weaker / advantage * (1 - u) ** (weaker - advantage) * advantage * (1 - u) ** (advantage - 1)

        assert quad(paid, 0, 1)[0] == pytest.approx(1, abs=1e-6)


def test_the_wealth_is_the_mean_of_the_likelihood_ratios() -> None:
    watch = watched(3.0, [10, 400, 77], 500)
    ratios = [math.prod(part * (1 - rank / 500) ** (3.0 * (part - 1)) for rank in (10, 400, 77)) for part in WEAKER]
    assert watch.log_wealth == pytest.approx(math.log(np.mean(ratios)))


def test_a_true_assumption_is_refuted_no_oftener_than_declared() -> None:
    rng = np.random.default_rng(1)
    for truth in (3.0, 4.0):
        refuted = [watched(3.0, places(truth, 30, 2000, rng), 2000, 0.9).refuted for _ in range(400)]
        assert np.mean(refuted) <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 400)


def test_a_reversed_ranking_is_refuted_by_three_finds() -> None:
    rng = np.random.default_rng(2)
    runs = [[1999 - rank for rank in places(5.0, 3, 2000, rng)] for _ in range(300)]
    assert np.mean([watched(3.0, run, 2000).refuted for run in runs]) > 0.95


def test_a_random_ranking_that_claims_five_is_refuted_by_a_few_finds() -> None:
    rng = np.random.default_rng(3)
    counts = []
    for _ in range(300):
        watch = AdvantageWatch(5.0)
        while not watch.refuted:
            watch.update(int(rng.integers(2000)), 2000)
        counts.append(watch.finds)
    assert np.median(counts) <= 4
    assert np.quantile(counts, 0.9) <= 9


def test_refuted_stays_refuted() -> None:
    watch = watched(3.0, [99, 99], 100)
    assert watch.refuted
    for _ in range(50):
        watch.update(0, 100)
    assert watch.log_wealth < 0
    assert watch.refuted


@given(st.integers(0, 98), st.sampled_from([0.5, 1.0, 3.0, 8.0]))
def test_a_find_further_down_speaks_more_against_the_assumption(rank: int, advantage: float) -> None:
    assert watched(advantage, [rank], 100).log_wealth <= watched(advantage, [rank + 1], 100).log_wealth


def test_the_estimate_and_its_interval() -> None:
    rng = np.random.default_rng(4)
    assert AdvantageWatch(3.0).estimate is None
    assert AdvantageWatch(3.0).interval() is None
    covered = []
    for _ in range(400):
        watch = watched(3.0, places(4.0, 6, 20_000, rng), 20_000)
        interval = watch.interval(0.9)
        assert interval is not None and watch.estimate is not None
        low, high = interval
        assert low < watch.estimate < high
        covered.append(low <= 4.0 <= high)
    assert np.mean(covered) == pytest.approx(0.9, abs=3 * math.sqrt(0.9 * 0.1 / 400))
    estimate = watched(3.0, places(4.0, 3000, 200_000, rng), 200_000).estimate
    assert estimate == pytest.approx(4.0, rel=0.06)


@pytest.mark.parametrize("advantage", [0.0, -1.0, math.inf, math.nan])
def test_advantages_that_cannot_be_are_refused(advantage: float) -> None:
    with pytest.raises(ValueError, match="advantage must be above 0"):
        AdvantageWatch(advantage)


def test_places_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        AdvantageWatch(3.0, 1.0)
    for rank, unread in ((-1, 10), (10, 10), (0, 0)):
        with pytest.raises(ValueError, match="there is no place"):
            AdvantageWatch(3.0).update(rank, unread)
