from __future__ import annotations

import copy
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from broadsheet.stats import AuditTest, TotalTest, audit_floor, mean_sequence, needed
from broadsheet.stats.totals import STAKES

Chance = Callable[[int, int, int], float]  # of a find, with so many missing, unread and found


def random_order(missing: int, unread: int, found: int) -> float:
    return missing / unread


def just(advantage: float) -> Chance:
    return lambda missing, unread, found: min(1.0, advantage * missing / unread)


def luring(advantage: float, until: int) -> Chance:
    """At first as good as can be, so that the reader believes in it; then no better than promised."""
    return lambda missing, unread, found: 1.0 if found < until else min(1.0, advantage * missing / unread)


def error(test: TotalTest, relevant: int, unread: int, chance: Chance, advantage: float) -> float:
    """The exact probability that the true total is ever refuted, over all sequences of finds and misses."""
    if test.bound < relevant:
        return 1.0
    missing = relevant - test.found
    if not unread or not missing:
        return 0.0
    p = min(1.0, chance(missing, unread, test.found))
    if missing == unread:
        p = 1.0
    total = 0.0
    for found, weight in ((True, p), (False, 1 - p)):
        if weight:
            after = copy.deepcopy(test)
            after.update(found, advantage, unread)
            total += weight * error(after, relevant, unread - 1, chance, advantage)
    return total


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("relevant", [1, 2, 4, 7])
def test_random_draws_refute_the_true_total_no_oftener_than_declared(relevant: int, confidence: float) -> None:
    test = TotalTest(11, 0, 0.7, confidence)
    assert error(test, relevant, 11, random_order, 1.0) <= 1 - confidence + 1e-12


@pytest.mark.parametrize("advantage", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("relevant", [1, 3, 5])
def test_nor_do_ranked_reads_where_the_ranking_keeps_its_promise(advantage: float, relevant: int) -> None:
    rankings = [just(advantage), just(3 * advantage), *(luring(advantage, until) for until in (1, 2, 4))]
    errors = [error(TotalTest(11, 0, 0.7, 0.8), relevant, 11, ranking, advantage) for ranking in rankings]
    assert max(errors) <= 0.2 + 1e-12


@pytest.mark.parametrize("relevant", [2, 5])
def test_the_guard_keeps_the_promise_too(relevant: int) -> None:
    rankings = [just(2.0), just(6.0), *(luring(2.0, until) for until in (1, 2, 4))]
    errors = [error(TotalTest(11, 0, 0.7, 0.8, guard=True), relevant, 11, ranking, 2.0) for ranking in rankings]
    assert max(errors) <= 0.2 + 1e-12


def test_the_guard_is_what_the_ranking_has_shown() -> None:
    plain, guarded = (TotalTest(100, 2, 0.8, guard=guard) for guard in (False, True))
    guarded.update(False, 3.0, 100)
    assert guarded.e_value(50) == pytest.approx(TotalTest(100, 2, 0.8).e_value(50))  # no find yet: no evidence
    plain.update(False, 0.0, 100)
    labels = [False] * 4 + [True] + [False] * 3 + [True]
    for test in (plain, guarded):
        for n, hit in enumerate(labels):
            test.update(hit, 3.0 if test is guarded or hit else 0.0, 99 - n)
    # Ten reads for two finds; against r, random ones would have found so many of those unread then:
    counts = [2] * 6 + [3] * 4
    ranked = [False, *labels]
    for total in (6, 9, 20):
        expected = sum((total - found) / (100 - n) for n, found in enumerate(counts))
        assert len(ranked) == len(counts)
        pace = min(3.0, 2 / expected)
        before = guarded.e_value(total)
        after = copy.deepcopy(guarded)
        after.update(False, 3.0, 90)
        q = min(1.0, pace * (total - 4) / 90)
        start = 0.85 * weight(total, 4, 2, 0.8, 0.05)  # of the stake 0 only the last start is left
        rest = before - start
        assert after.e_value(total) == pytest.approx(start / (1 - q) + rest * (1 - 0.3 * q) / (1 - q), rel=1e-9)


def test_they_do_where_it_does_not() -> None:
    assert error(TotalTest(11, 0, 0.7, 0.8), 3, 11, random_order, 6.0) > 0.3


def test_large_pools_by_simulation() -> None:
    """A ranking that is just b times as good as random: the stop below the target is as rare as declared."""
    rng = np.random.default_rng(3)
    runs, wrong = 240, 0
    for run in range(runs):
        total, unread, advantage = (12, 25, 60)[run % 3], 400, 3.0
        test = TotalTest(unread, 0, 0.95, 0.9)
        while test.found < total and unread:
            found = bool(rng.random() < min(1.0, advantage * (total - test.found) / unread))
            test.update(found, advantage, unread)
            unread -= 1
            if test.found and test.found >= needed(test.bound, 0.95):
                wrong += test.found < needed(total, 0.95)
                break
    assert wrong <= 24 + 3 * math.sqrt(240 * 0.1 * 0.9)  # three standard deviations


def falls(missing: int, level: float) -> float:
    """The factor of the weights by halving, where the test iterates."""
    low, high = 0.0, 1.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        if middle**missing < level * (1 - middle):
            low = middle
        else:
            high = middle
    return low


def weight(total: int, found: int, first: int, target: float, level: float) -> float:
    """The weight of a start with so many found, term by term."""
    largest = math.ceil(Fraction(str(target)) * total) - 1  # the most found ones with which a stop is wrong
    if found <= largest:
        before = largest - found
        g = falls(total - largest, level)
        return 0.93 * (1 - g) * g**before + 0.05 / ((before + 1) * (before + 2))
    past = found - max(largest, first - 1)
    return (1.0 if largest < first else 0.02) / (past * (past + 1))


def brute_wealth(reads: list[tuple[bool, float, int]], total: int, first: int, target: float, level: float) -> float:
    """The mixture over starts and stakes as its definition says, each product by itself."""
    starts, found = [(0, first)], first
    for n, (hit, _, _) in enumerate(reads):
        found += hit
        if hit:
            starts.append((n + 1, found))
    wealth = 0.0
    for place, begun in starts:
        for stake, part in STAKES:
            value, now = part * weight(total, begun, first, target, level), begun
            for hit, advantage, unread in reads[place:]:
                q = min(1.0, advantage * (total - now) / unread)
                if hit:
                    value *= stake if advantage else 1.0
                elif q == 1:
                    return math.inf
                else:
                    value *= (1 - stake * q) / (1 - q)
                now += hit
            wealth += value
    return wealth


def history(labels: list[bool], advantages: list[float], unread: int) -> list[tuple[bool, float, int]]:
    pairs = zip(labels, advantages, strict=True)
    return [(hit, advantage, unread - n) for n, (hit, advantage) in enumerate(pairs)]


READS = st.lists(
    st.tuples(st.sampled_from([False, False, False, True]), st.sampled_from([0.0, 1.0, 3.0])), min_size=1, max_size=20
)


@given(READS, st.integers(0, 6), st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=50, deadline=None)
def test_the_wealth_is_that_of_its_definition(reads: list[tuple[bool, float]], first: int, target: float) -> None:
    unread = 25
    done = history([hit for hit, _ in reads], [advantage for _, advantage in reads], unread)
    test = TotalTest(unread, first, target, 0.95)
    lost: set[int] = set()
    for n, (hit, advantage, left) in enumerate(done):
        test.update(hit, advantage, left)
        for total in range(test.found + 1, first + unread + 1):
            expected = brute_wealth(done[: n + 1], total, first, target, 0.05)
            possible = total <= test.found + left - 1
            if not possible or expected >= 20 or total in lost:
                lost.add(total)
                assert test.e_value(total) == math.inf
            elif total <= test.bound:
                assert test.e_value(total) == pytest.approx(expected, rel=1e-6)
        kept = [total for total in range(test.found + 1, first + unread + 1) if total not in lost]
        assert test.bound == max(kept, default=test.found)


@pytest.mark.parametrize("target", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("first", [0, 1, 7, 40])
def test_the_weights_of_all_starts_together_are_at_most_1(first: int, target: float) -> None:
    for total in (first + 1, first + 2, first + 20, first + 150):
        whole = sum(weight(total, found, first, target, 0.05) for found in range(first, total + 1))
        assert 0.05 < whole <= 1 + 1e-12


@given(READS, st.integers(0, 6))
@settings(max_examples=50, deadline=None)
def test_the_bound_never_rises_and_never_falls_below_what_was_found(
    reads: list[tuple[bool, float]], first: int
) -> None:
    test, unread, last = TotalTest(50, first), 50, 50 + first
    for hit, advantage in reads:
        test.update(hit, advantage, unread)
        unread -= 1
        assert test.found <= test.bound <= min(last, test.found + unread)
        last = test.bound


@given(st.integers(5, 200), st.floats(1, 5), st.floats(1, 3))
@settings(max_examples=30, deadline=None)
def test_a_stronger_assumption_needs_no_more_misses(misses: int, advantage: float, more: float) -> None:
    weak, strong = TotalTest(300, 10), TotalTest(300, 10)
    for n in range(misses):
        weak.update(False, advantage, 300 - n)
        strong.update(False, advantage * more, 300 - n)
    assert strong.bound <= weak.bound


@given(READS, st.integers(1, 6), st.integers(0, 4), st.integers(0, 8), st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=60, deadline=None)
def test_the_forecast_is_what_happens(
    reads: list[tuple[bool, float]], first: int, more: int, audited: int, advantage: float
) -> None:
    test, unread = TotalTest(60, first), 60
    for hit, known in reads:
        test.update(hit, known, unread)
        unread -= 1
    aim = test.found + more
    told = test.misses_needed(aim, advantage, unread, audited=audited)
    assert test.enough_after(aim, unread, audited=audited) == (told == 0)
    for n in range(audited):
        test.update(False, 1.0, unread - n)
    unread -= audited
    happened = 0
    while test.bound > aim:
        test.update(False, advantage, unread)
        unread -= 1
        happened += 1
    assert told == happened


@pytest.mark.parametrize("total", [3, 10, 40])
def test_of_random_misses_it_is_the_inverse_of_the_hypergeometric_probability(total: int) -> None:
    test = TotalTest(300, 0, 0.95, 0.999999, stakes=((0.0, 1.0),))
    begun = test.e_value(total)
    for n in range(60):
        test.update(False, 1.0, 300 - n)
        assert test.e_value(total) / begun * hypergeom.pmf(0, 300, total, n + 1) == pytest.approx(1, abs=1e-6)


def test_with_nothing_found_it_reads_less_than_the_sequence_with_cautious_bets() -> None:
    """Of the ways to bound what is unread by random draws, the thresholds are the sharpest, and near the floor."""
    unread, found, allowed = 400, 40, 2
    test, draws = TotalTest(unread, found), 0
    while test.bound > found + allowed:
        test.update(False, 1.0, unread - draws)
        draws += 1
    upper = mean_sequence(np.zeros(unread), 0.95, population=unread, side="upper").upper
    hedged = int(np.argmax(upper * unread < allowed + 1 - 1e-9)) + 1
    assert audit_floor(unread, allowed) == AuditTest(unread, found).threshold(0) < draws < hedged


def test_what_was_not_found_by_the_model_says_nothing_for_it() -> None:
    test = TotalTest(100, 5)
    for n in range(60):
        test.update(False, 0.0, 100 - n)
    assert test.bound == 45  # only what is left is possible
    test.update(True, 0.0, 40)
    assert (test.found, test.bound) == (6, 45)


def test_an_advantage_beyond_all_measure_refutes_at_once() -> None:
    test = TotalTest(100, 5)
    test.update(False, 50.0, 100)
    assert test.bound == 6  # with two missing, a find would have been certain
    assert test.e_value(6) < 20 <= test.e_value(7) == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1, 0), "counts"), ((5, -1), "counts"), ((5, 1, 1.0), "target"), ((5, 1, 0.9, 0.0), "confidence")],
)
def test_what_cannot_be_is_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TotalTest(*arguments)  # type: ignore[arg-type]


def test_reads_that_cannot_be_are_refused() -> None:
    test = TotalTest(5, 1)
    for advantage in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="advantage must be finite"):
            test.update(False, advantage, 5)
    with pytest.raises(ValueError, match="none was unread"):
        test.update(False, 1.0, 0)
    with pytest.raises(ValueError, match="1 were found"):
        test.e_value(1)
