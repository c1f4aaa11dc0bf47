"""Measures of a screening run: by hand, by brute force, and with the priors left out (field cases G01, G05)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.metrics import screening

MEASURES = (screening.average_time_to_discovery, screening.loss, screening.ndcg)


def test_by_hand() -> None:
    labels = [True, False, True, False, False]  # of 10 records, 2 relevant
    assert screening.read_for(labels, 10, 2, 0.5) == 1
    assert screening.read_for(labels, 10, 2) == 3
    assert screening.wss(labels, 10, 2) == pytest.approx(0.7 - 0.05)
    assert screening.rrf(labels, 10, 2) == 0.5
    assert screening.rrf(labels, 10, 2, 0.3) == 1
    assert screening.average_time_to_discovery(labels, 10, 2) == pytest.approx(0.2)
    assert screening.recall_curve(labels, 10, 2) == [0.5, 0.5, *[1.0] * 8]
    assert screening.loss(labels, 10, 2) == pytest.approx(1 / 16)
    assert screening.ndcg(labels, 10, 2) == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3)))


def test_95_percent_of_twenty_is_nineteen() -> None:
    labels = [True] * 19 + [False] * 80 + [True]
    assert screening.read_for(labels, 100, 20) == 19


def test_priors_are_not_in_the_gain() -> None:
    """G01: 2 priors and 10 labels. The priors' hit must not be counted, neither among labels nor among records."""
    priors, labels = [True, False], [False, True, *[False] * 8]
    assert screening.ndcg(labels, 10, 1) == pytest.approx(1 / np.log2(3))
    assert screening.loss(labels, 10, 1) == pytest.approx(1 / 9)
    with pytest.raises(ValueError, match="leave the priors out of both"):
        screening.ndcg(priors + labels, 10, 1)
    with pytest.raises(ValueError, match="only 1 relevant"):
        screening.loss([True, *labels[:9]], 10, 1)


def test_curve_is_as_long_as_what_there_was_to_read() -> None:
    """G05: of 50 records 2 are priors."""
    labels = [True, False, False, True]
    assert len(screening.recall_curve(labels, 48, 2)) == 48


def test_a_run_that_ends_early_is_not_measured_as_if_complete() -> None:
    for measure in MEASURES:
        with pytest.raises(ValueError, match="only 1 of 2"):
            measure([True, False], 10, 2)
    with pytest.raises(ValueError, match="not reached"):
        screening.wss([True, False], 10, 2)
    with pytest.raises(ValueError, match="only 1 of 2"):
        screening.recall_curve([True, False], 10, 2)
    with pytest.raises(ValueError, match="first 5 records"):
        screening.rrf([True, False], 10, 2, 0.5)
    assert screening.rrf([True, False], 10, 2, 0.2) == 0.5


@pytest.mark.parametrize("recall", [0.0, -0.1, 1.2, float("nan")])
def test_shares_outside_are_refused(recall: float) -> None:
    with pytest.raises(ValueError, match="must lie in"):
        screening.wss([True], 10, 1, recall)
    with pytest.raises(ValueError, match="must lie in"):
        screening.rrf([True], 10, 1, recall)


@pytest.mark.parametrize(("records", "relevant"), [(0, 0), (5, 0), (5, 6)])
def test_counts_that_cannot_be(records: int, relevant: int) -> None:
    with pytest.raises(ValueError, match="relevant must lie in"):
        screening.average_time_to_discovery([], records, relevant)


@given(st.lists(st.booleans(), min_size=1, max_size=40).filter(any), st.integers(0, 10))
def test_agrees_with_the_curve(labels: list[bool], unread: int) -> None:
    records, relevant = len(labels) + unread, sum(labels)
    curve = np.array(screening.recall_curve(labels, records, relevant))
    reached = int(np.argmax(curve >= 0.8 - 1e-9)) + 1
    assert screening.read_for(labels, records, relevant, 0.8) == reached
    ideal = np.minimum(np.arange(1, records + 1) / relevant, 1)
    worst = np.maximum(np.arange(1, records + 1) - (records - relevant), 0) / relevant
    if records > relevant:
        area = (ideal - curve).sum() / (ideal - worst).sum()
        assert screening.loss(labels, records, relevant) == pytest.approx(area)
    assert 0 < screening.ndcg(labels, records, relevant) <= 1 + 1e-12
    assert screening.rrf(labels, records, relevant, 1.0) == 1
