from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from broadsheet.stats import (
    AuditTest,
    allowed_missing,
    audit_floor,
    blank_length,
    hypergeometric_value,
    hypergeometric_values,
)


def wrong_by_counting(test: AuditTest, relevant: int) -> float:
    """In how many of all orders the rule stops below the target at some look, one record at a time."""
    wrong = 0
    orders = list(combinations(range(test.unread), relevant))
    for places in orders:
        for prefix in range(test.unread + 1):
            finds = sum(place < prefix for place in places)
            if test.enough(prefix, finds):
                wrong += relevant - finds > allowed_missing(test.found + finds, test.target)
                break
    return wrong / len(orders)


def wrong_by_steps(unread: int, found: int, thresholds: list[int], relevant: int, target: float) -> float:
    """The same by a walk of the count of finds, for larger pools."""
    x = np.arange(relevant + 1)
    weights = (x == 0).astype(float)
    wrong = np.array([relevant - n > allowed_missing(found + n, target) for n in x])
    total = 0.0
    for prefix in range(1, unread + 1):
        chance = np.clip((relevant - x) / (unread - prefix + 1), 0, 1)
        weights = weights * (1 - chance) + np.r_[0.0, (weights * chance)[:-1]]
        stops = prefix >= np.array(thresholds[: relevant + 1])
        total += float(weights[stops & wrong].sum())
        weights[stops] = 0.0
    return total


@pytest.mark.parametrize("target", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("confidence", [0.7, 0.9, 0.95])
@pytest.mark.parametrize("found", [0, 1, 4, 20])
def test_no_number_of_relevant_records_makes_a_wrong_stop_likelier_than_declared(
    target: float, confidence: float, found: int
) -> None:
    test = AuditTest(9, found, target, confidence)
    for relevant in range(10):
        assert wrong_by_counting(test, relevant) <= 1 - confidence + 1e-12


@pytest.mark.parametrize(
    ("unread", "found", "target"), [(200, 12, 0.95), (200, 60, 0.95), (300, 150, 0.95), (150, 20, 0.5)]
)
@pytest.mark.parametrize("spend", [1.0, 0.8])
def test_the_error_is_kept_and_used_up(unread: int, found: int, target: float, spend: float) -> None:
    test = AuditTest(unread, found, target, spend=spend)
    thresholds = [test.threshold(x) for x in range(60)]
    errors = [wrong_by_steps(unread, found, thresholds, relevant, target) for relevant in range(60)]
    assert max(errors) <= 0.05 + 1e-9
    assert max(errors) >= 0.049 if spend == 1 else max(errors) > 0.04


def test_the_usual_rule_looked_at_after_every_draw_errs_twice_as_often_as_it_says() -> None:
    unread, found = 600, 300
    thresholds = []
    for finds in range(31):
        values = [hypergeometric_value(unread, found, prefix, finds) for prefix in range(finds, unread + 1)]
        thresholds.append(finds + int(np.argmax(np.array(values) < 0.05)))
    errors = [wrong_by_steps(unread, found, thresholds, relevant, 0.95) for relevant in range(31)]
    assert max(errors) == pytest.approx(0.0823, abs=5e-4)


@given(st.integers(1, 400), st.integers(0, 300), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
@settings(max_examples=60, deadline=None)
def test_thresholds_rise_and_the_first_is_the_floor(unread: int, found: int, target: float) -> None:
    test = AuditTest(unread, found, target)
    found_thresholds = [test.threshold(x) for x in range(12)]
    assert found_thresholds == sorted(found_thresholds)
    assert found_thresholds[0] == audit_floor(unread, allowed_missing(found, target))
    assert all(0 <= threshold <= unread for threshold in found_thresholds)
    bolder, surer = AuditTest(unread, found, target, 0.8), AuditTest(unread, found, target, 0.99)
    assert bolder.threshold(0) <= found_thresholds[0] <= surer.threshold(0)


@pytest.mark.parametrize("found", [1, 10, 30, 100, 400])
@pytest.mark.parametrize("unread", [100, 2000, 20000])
def test_with_nothing_found_little_more_than_the_floor_is_read(unread: int, found: int) -> None:
    # The confidence that learn/evidence.py leaves to the audit.
    first = AuditTest(unread, found, 0.95, 1 - 0.95 * 0.05).threshold(0)
    assert first <= 1.02 * audit_floor(unread, allowed_missing(found, 0.95)) + 1


def test_the_floor_is_what_the_formula_says() -> None:
    for missing in (0, 1, 3, 10, 50):
        about = 1 - 0.05 ** (1 / (missing + 1))
        assert audit_floor(100_000, missing) / 100_000 == pytest.approx(about, rel=2e-3)
    assert audit_floor(5, 5) == 0
    assert audit_floor(5, 4) == 1  # only if all five are relevant would five be missing


def test_a_length_whose_probability_is_the_level_itself_is_enough() -> None:
    assert [blank_length(2 * n, 1, 0.5) for n in range(1, 200)] == list(range(1, 200))


@given(st.integers(1, 60), st.data())
def test_the_blank_length_is_the_least_that_is_unlikely_to_find_nothing(unread: int, data: st.DataObject) -> None:
    relevant = data.draw(st.integers(1, unread))
    level = data.draw(st.floats(0.001, 0.999))
    length = blank_length(unread, relevant, level)
    blank = [math.comb(unread - relevant, n) / math.comb(unread, n) for n in range(unread + 1)]
    assert length == next(n for n, value in enumerate(blank) if value <= level * (1 + 1e-9))


def test_the_p_value_is_the_hypergeometric_one() -> None:
    for unread, found, prefix, finds in [(500, 30, 200, 0), (500, 30, 200, 4), (90, 3, 60, 1), (1000, 0, 10, 10)]:
        relevant = finds + allowed_missing(found + finds, 0.95) + 1
        assert hypergeometric_value(unread, found, prefix, finds) == pytest.approx(
            hypergeom.cdf(finds, unread, relevant, prefix), rel=1e-9
        )
    several = hypergeometric_values(*(np.array(values) for values in ([500, 90], [30, 3], [200, 60], [4, 1])))
    assert several == pytest.approx([hypergeometric_value(500, 30, 200, 4), hypergeometric_value(90, 3, 60, 1)])
    assert hypergeometric_value(3, 100, 0, 0) == 0.0  # six may be missing: three cannot be too many


def test_with_nothing_unread_nothing_is_read() -> None:
    assert AuditTest(0, 0).threshold(0) == 0
    assert AuditTest(3, 100).threshold(0) == 0


@pytest.mark.parametrize("bad", [{"target": 1.0}, {"confidence": 0.0}, {"spend": 0.0}, {"unread": -1}, {"found": -1}])
def test_what_cannot_be_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        AuditTest(**({"unread": 10, "found": 2} | bad))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be among"):
        blank_length(3, 4, 0.5)


def test_a_hundred_finds_in_a_large_pool_have_a_threshold() -> None:
    assert AuditTest(40_000, 5).threshold(100) < 40_000
