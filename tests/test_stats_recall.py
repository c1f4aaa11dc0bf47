from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.stats import allowed_missing, check_share, needed

TARGETS = st.sampled_from([0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1 / 3])


def test_19_of_20_are_95_percent_though_no_binary_number_is() -> None:
    assert [allowed_missing(found, 0.95) for found in (0, 18, 19, 37, 38, 57)] == [0, 0, 1, 1, 2, 3]
    assert [needed(total, 0.95) for total in (0, 1, 19, 20, 40, 41, 100)] == [0, 1, 19, 19, 38, 39, 95]
    assert allowed_missing(7, 0.7) == 3  # 0.3/0.7 · 7 in binary numbers is below 3
    assert allowed_missing(5, 0.5) == 5


@given(st.integers(0, 5000), TARGETS)
def test_what_may_be_missing_is_the_most_that_keeps_the_target(found: int, target: float) -> None:
    k, share = allowed_missing(found, target), Fraction(str(target))
    assert found >= share * (found + k)
    assert not found >= share * (found + k + 1)
    assert needed(found + k, target) <= found < needed(found + k + 1, target)


@pytest.mark.parametrize("target", [0, 1, 1.2, -0.1, math.nan, math.inf])
def test_targets_outside_the_open_interval_are_refused(target: float) -> None:
    for call in (allowed_missing, needed):
        with pytest.raises(ValueError, match="target must lie between 0 and 1, both excluded"):
            call(5, target)
    with pytest.raises(ValueError, match="confidence must lie"):
        check_share(target, "confidence")


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="found must not be negative"):
        allowed_missing(-1, 0.9)
    with pytest.raises(ValueError, match="total must not be negative"):
        needed(-1, 0.9)
