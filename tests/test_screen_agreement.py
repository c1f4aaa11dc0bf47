"""Cohen's kappa against independent reckonings, and who is compared on what."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from broadsheet.model.screening import Label, Stage
from broadsheet.screen.agreement import agreements, kappa
from broadsheet.screen.state import State
from tests.screen_makers import BLINDED, records, review, told

IN, OUT = Label.INCLUDE, Label.EXCLUDE


def pairs_of(both: int, first: int, second: int, neither: int) -> list[tuple[Label, Label]]:
    return [(IN, IN)] * both + [(IN, OUT)] * first + [(OUT, IN)] * second + [(OUT, OUT)] * neither


def by_matrix(pairs: list[tuple[Label, Label]]) -> tuple[float, float]:
    """Kappa and its large-sample standard error as in Fleiss, Cohen and Everitt (1969), written with matrices."""
    table = np.zeros((2, 2))
    for one, other in pairs:
        table[int(one is OUT), int(other is OUT)] += 1
    n = table.sum()
    p = table / n
    row, column = p.sum(1), p.sum(0)
    agreed, chance = np.trace(p), row @ column
    value = (agreed - chance) / (1 - chance)
    a = sum(p[i, i] * (1 - (row[i] + column[i]) * (1 - value)) ** 2 for i in range(2))
    b = (1 - value) ** 2 * sum(p[i, j] * (column[i] + row[j]) ** 2 for i in range(2) for j in range(2) if i != j)
    c = (value - chance * (1 - value)) ** 2
    return value, math.sqrt(max(a + b - c, 0) / n) / (1 - chance)


def test_a_worked_example() -> None:
    # Two readers of 50 grant proposals: 20 both yes, 15 both no, 5 and 10 apart; kappa .40.
    value, interval = kappa(pairs_of(20, 5, 10, 15))
    assert value == pytest.approx(0.4)
    assert interval is not None
    assert interval[0] + interval[1] == pytest.approx(0.8)


@given(*[st.integers(0, 60)] * 4)
def test_kappa_is_that_of_others(both: int, first: int, second: int, neither: int) -> None:
    pairs = pairs_of(both, first, second, neither)
    value, interval = kappa(pairs)
    firsts, seconds = {one for one, _ in pairs}, {other for _, other in pairs}
    if not pairs or (len(firsts) == len(seconds) == 1 and firsts == seconds):
        assert (value, interval) == (None, None)
        return
    assert value is not None
    assert interval is not None
    assert value == pytest.approx(cohen_kappa_score([a.value for a, _ in pairs], [b.value for _, b in pairs]))
    expected, error = by_matrix(pairs)
    assert value == pytest.approx(expected)
    assert interval[0] == pytest.approx(max(-1, expected - 1.959964 * error), abs=1e-6)
    assert interval[1] == pytest.approx(min(1, expected + 1.959964 * error), abs=1e-6)


def test_the_interval_holds_kappa_as_often_as_it_says() -> None:
    draws = np.random.default_rng(3)
    shares = np.array([0.25, 0.08, 0.07, 0.6])
    truth = by_matrix(
        [pair for pair, n in zip(pairs_of(1, 1, 1, 1), (shares * 100).astype(int), strict=True) for _ in range(n)]
    )[0]
    held = 0
    for _ in range(1000):
        value, interval = kappa(pairs_of(*map(int, draws.multinomial(200, shares))))
        assert value is not None
        assert interval is not None
        held += interval[0] <= truth <= interval[1]
    assert 925 <= held <= 975


def test_each_two_screeners_are_compared_on_their_last_decisions() -> None:
    lines = told(
        *("ann in 1", "bo in 1", "ann in 2", "bo out 2", "bo in 2", "ann out 3", "bo later 3", "cy out 1"),
        *("ann in 4", "bo out 4", "bo undo #10", "ann prior-in 5", "bo in 5", "ann in 6", "bo in 7", "ann twin 6 7"),
        *("ann in 1 full-text",),
    )
    found = agreements(State.of(review(BLINDED), records(8), lines))
    assert [(one.first, one.second, one.both, one.agreed) for one in found] == [
        ("ann", "bo", 3, 1.0),  # 1, 2 and 6 with 7; what was put off, undone or known beforehand is left out
        ("ann", "cy", 1, 0.0),
        ("bo", "cy", 1, 0.0),
    ]


def test_screeners_of_the_plan_who_decided_nothing() -> None:
    (found,) = agreements(State.of(review(BLINDED), records(3)), Stage.FULL_TEXT)
    assert (found.both, found.agreed, found.kappa, found.interval) == (0, None, None, None)


def test_a_shared_review_of_one() -> None:
    assert agreements(State.of(review(), records(3), told("ann in 1"))) == []


def test_what_is_decided_after_a_conflict_was_resolved_is_no_judgement_of_ones_own() -> None:
    lines = ["ann in 1", "bo out 1", "ann out 2", "bo out 2", "cy resolve-in 1"]
    [before] = agreements(State.of(review(BLINDED), records(3), told(*lines)))
    [after] = agreements(State.of(review(BLINDED), records(3), told(*lines, "bo in 1")))
    assert (before.both, before.agreed) == (2, 0.5)
    assert after == before
    # With the resolution taken back, the last decision counts again.
    [undone] = agreements(State.of(review(BLINDED), records(3), told(*lines, "bo in 1", "cy undo #5")))
    assert undone.agreed == 1
