"""Discoveries: what is drawn and how likely it was, what the log certifies, and that the declared risk is kept."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from broadsheet.learn.explore import (
    Trial,
    calibrated_cap,
    certified_share,
    draw,
    explorer_scores,
    fill,
    places_shares,
    policies,
    pools,
    trials,
    trusted_share,
)
from tests.shared import ROOT

RISKS = st.floats(0.001, 0.5)
LOGS = st.lists(st.builds(Trial, st.booleans(), st.booleans()), max_size=60)


def log_of(known: int, rejected_known: int, explored: int, rejected_explored: int) -> list[Trial]:
    """So many control places filled by known interests and by the explorer, and how many of each were rejected."""
    return [
        *(Trial(False, n < rejected_known) for n in range(known)),
        *(Trial(True, n < rejected_explored) for n in range(explored)),
    ]


@pytest.mark.parametrize(
    ("log", "risk", "share"),
    [
        ((0, 0, 0, 0), 0.1, None),
        ((8, 0, 5, 0), 0.1, None),
        ((9, 0, 0, 0), 0.1, 0.1),
        ((9, 0, 1, 0), 0.1, 0.2),
        ((9, 0, 1, 1), 0.1, 0.1),
        ((18, 1, 4, 1), 0.1, None),
        ((19, 1, 4, 1), 0.1, (0.1 - 1 / 20) * 5 / 2),
        ((99, 3, 20, 4), 0.1, (0.1 - 3 / 100) * 21 / 5),
        ((99, 0, 20, 0), 0.1, 1.0),
        ((99, 0, 20, 20), 0.2, 0.2),
        ((1, 0, 0, 0), 0.5, 0.5),
    ],
)
def test_certified_share_by_hand(log: tuple[int, int, int, int], risk: float, share: float | None) -> None:
    found = certified_share(log_of(*log), risk)
    assert found is None if share is None else found == pytest.approx(share)


@pytest.mark.parametrize("risk", [0.05, 0.1, 0.2, 0.5])
def test_the_risk_is_kept_exactly_whatever_the_rates_of_rejection(risk: float) -> None:
    """The expected loss of the next place, summed over all outcomes of the control places (no sampling)."""
    most = 0.0
    for known, explored in ((0, 0), (9, 0), (9, 3), (10, 2), (20, 20), (30, 8), (48, 12)):
        shares = [
            [certified_share(log_of(known, k, explored, e), risk) for e in range(explored + 1)]
            for k in range(known + 1)
        ]
        for of_known in (0.0, 0.01, 0.05, 0.1, 0.3, 1.0):
            for of_explored in (0.0, 0.1, 0.4, 1.0):
                chances = np.outer(
                    binom.pmf(range(known + 1), known, of_known), binom.pmf(range(explored + 1), explored, of_explored)
                )
                loss = [
                    [0.0 if s is None else s * of_explored + (1 - s) * of_known for s in given_known]
                    for given_known in shares
                ]
                expected = float((chances * np.array(loss)).sum())
                assert expected <= risk + 1e-12
                most = max(most, expected)
    assert most >= 0.99 * risk  # and all of it can be used


def test_a_plain_estimate_would_break_the_risk() -> None:
    """Without the one more that is counted as rejected, the same sum is above the risk: the test above can fail."""
    risk, known, explored, of_known, of_explored = 0.1, 48, 12, 0.05, 0.4
    total = 0.0
    for k in range(known + 1):
        for e in range(explored + 1):
            chance = binom.pmf(k, known, of_known) * binom.pmf(e, explored, of_explored)
            share = min(1.0, max(0.0, risk - k / known) / max(e / explored, 1e-9))
            total += chance * (share * of_explored + (1 - share) * of_known)
    assert total > risk


@given(LOGS, RISKS)
def test_more_rejections_never_raise_the_cap(log: list[Trial], risk: float) -> None:
    worse = [Trial(trial.explored, True) if n == 0 else trial for n, trial in enumerate(log)]
    assert calibrated_cap(worse, risk) <= calibrated_cap(log, risk) + 1e-12


@given(LOGS, RISKS)
def test_the_cap_never_asks_for_more_than_all_places(log: list[Trial], risk: float) -> None:
    cap = calibrated_cap(log, risk)
    assert cap >= 0
    assert cap * trusted_share(risk) <= 1 + 1e-9


def test_the_cap_before_any_data_and_where_the_data_speak_against_it() -> None:
    for risk in (0.05, 0.1, 0.2):
        # If all that is explored were rejected and nothing else, just the risk.
        control, other = places_shares(3, calibrated_cap([], risk), risk)
        assert (control + 2 * other) / 3 == pytest.approx(risk)
    assert calibrated_cap(log_of(40, 10, 5, 0), 0.1) == 0.0
    assert places_shares(3, 0.0, 0.1) == (0.2, 0.0)
    assert calibrated_cap([], 0.0) == 0.0
    assert calibrated_cap(log_of(99, 0, 20, 0), 0.0) == 0.0


def test_the_example_of_the_page_says_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "exploration.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    exec(compile(code, "exploration.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert f"# {first}:" in code
    assert f"# {second}\n" in code


def test_only_the_latest_control_places_count() -> None:
    log = [*log_of(20, 20, 0, 0), *log_of(30, 0, 5, 0)]
    assert certified_share(log, 0.1) is None
    assert certified_share(log, 0.1, window=35) == certified_share(log_of(30, 0, 5, 0), 0.1)


@given(st.integers(2, 8), st.floats(0, 1), st.floats(0.01, 0.5))
def test_the_places_shares_have_the_mean_that_the_cap_says(count: int, mean: float, risk: float) -> None:
    trusted = trusted_share(risk)
    control, other = places_shares(count, mean / trusted, risk)
    assert control == trusted
    assert 0 <= other <= 1
    if 0 < other < 1:
        assert (control + (count - 1) * other) / count == pytest.approx(mean)
    elif other == 1:
        assert (control + count - 1) / count <= mean + 1e-9
    else:
        assert control / count >= mean - 1e-9


def test_one_place_gets_no_more_than_the_risk() -> None:
    assert places_shares(1, 5.0, 0.1) == (0.1, 0.0)


def scores(seed: int, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=count), rng.normal(size=count)


def test_draws_are_deterministic_in_the_seed() -> None:
    known, wild = scores(0)
    assert draw(known, wild, 3, 1.0, 7, risk=0.1) == draw(known, wild, 3, 1.0, 7, risk=0.1)
    assert len({tuple(pick.index for pick in draw(known, wild, 3, 1.0, seed, risk=0.1)) for seed in range(20)}) > 5


@given(st.integers(0, 10), st.integers(0, 5), st.floats(0, 2.5), st.integers(0, 1000))
def test_picks_are_distinct_and_the_first_is_the_control(count: int, places: int, cap: float, seed: int) -> None:
    known, wild = scores(seed, count)
    picks = draw(known, wild, places, cap, seed, risk=0.2)
    assert len(picks) == min(count, places)
    assert len({pick.index for pick in picks}) == len(picks)
    assert [pick.control for pick in picks] == [n == 0 for n in range(len(picks))]
    assert all(0 < pick.propensity <= 1 + 1e-12 and 0 <= pick.index < count for pick in picks)


def test_no_risk_no_discoveries() -> None:
    known, wild = scores(1)
    assert draw(known, wild, 3, calibrated_cap([], 0.0), 0, risk=0.0) == []
    assert draw(known, wild, 3, 4.0, 0, risk=0.0) == []


@given(st.integers(1, 30), st.floats(0, 1), st.integers(0, 100))
def test_probabilities_of_a_pool_sum_to_one_and_keep_the_cap(count: int, share: float, seed: int) -> None:
    known, wild = policies(*scores(seed, count))
    assert known.sum() == pytest.approx(1)
    assert wild.sum() == pytest.approx(1)
    trusted = trusted_share(0.1)
    ratio = ((1 - share) * known + share * wild) / ((1 - trusted) * known + trusted * wild)
    assert ratio.max() <= max(share / trusted, (1 - share) / (1 - trusted)) + 1e-9


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_papers_are_drawn_as_often_as_their_propensity_says(share: float) -> None:
    known, wild = policies(*scores(2, 12))
    rng, count = np.random.default_rng(5), 20_000
    drawn, said, explored = np.zeros(12), np.zeros(12), 0
    for _ in range(count):
        index, propensity, by_explorer = fill(known, wild, share, rng)
        drawn[index] += 1
        said[index] = propensity
        explored += by_explorer
    expected = (1 - share) * known + share * wild
    seen = drawn > 0
    np.testing.assert_allclose(said[seen], expected[seen])
    assert (np.abs(drawn / count - expected) <= 4 * np.sqrt(expected * (1 - expected) / count) + 1e-4).all()
    assert explored / count == pytest.approx(share, abs=0.02)


def test_the_section_has_the_share_that_the_cap_says() -> None:
    known, wild = scores(3)
    risk, cap, count = 0.1, 2.0, 4000
    explored = np.array(
        [[pick.explored for pick in draw(known, wild, 3, cap, seed, risk=risk)] for seed in range(count)]
    )
    assert explored[:, 0].mean() == pytest.approx(trusted_share(risk), abs=0.025)
    assert explored.mean() == pytest.approx(cap * trusted_share(risk), abs=0.02)


def test_estimates_weighted_by_propensity_are_unbiased() -> None:
    """The mean of a value under another share, from draws under this one: the ratio of the two as weight."""
    known, wild = policies(*scores(4, 15))
    values = np.random.default_rng(8).random(15)
    logged, other = 0.3, 0.8
    truth = float(((1 - other) * known + other * wild) @ values)
    rng, weighted = np.random.default_rng(9), []
    for _ in range(20_000):
        index, propensity, _ = fill(known, wild, logged, rng)
        target = (1 - other) * known[index] + other * wild[index]
        weighted.append(values[index] * target / propensity)
    error = float(np.std(weighted)) / math.sqrt(len(weighted))
    assert abs(float(np.mean(weighted)) - truth) <= 4 * error
    assert error < 0.02


def test_pools_hold_every_candidate_once_and_are_alike() -> None:
    known = np.arange(11.0)
    dealt = pools(known, 3, np.random.default_rng(0))
    assert sorted(np.concatenate(dealt).tolist()) == list(range(11))
    assert {int(pool[0]) for pool in dealt} == {10, 9, 8}  # each begins with one of the best three
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1
    firsts = {int(pools(known, 3, np.random.default_rng(seed))[0][0]) for seed in range(30)}
    assert firsts == {10, 9, 8}  # and the control's pool is any of them


def test_trials_are_the_first_places_of_editions_that_were_looked_at() -> None:
    monday = date(2026, 11, 30)
    tuesday, wednesday = monday + timedelta(1), monday + timedelta(2)
    shown = [
        (wednesday, 9, "discovery", 31, 0.2, True),
        (monday, 1, "front", 0, 1.0, False),
        (monday, 3, "discovery", 21, 0.1, True),
        (monday, 2, "discovery", 20, 0.4, False),
        (tuesday, 4, "discovery", 20, 0.1, True),
        (wednesday, 7, "discovery", 30, 0.2, True),
    ]
    found = trials(shown, rejected={1, 3, 7}, looked_at={monday, wednesday})
    assert found == [Trial(False, False), Trial(True, True)]
    assert trials(shown, rejected=set(), looked_at=set()) == []
    assert trials([], rejected={1}, looked_at={monday}) == []


def test_the_explorer_goes_by_notice_and_else_by_lot() -> None:
    assert explorer_scores(3).tolist() == [0, 0, 0]
    assert explorer_scores(2, np.array([0.5, -1.0])).tolist() == [0.5, -1.0]
    with pytest.raises(ValueError, match="3 candidates"):
        explorer_scores(3, np.zeros(2))


def test_a_risk_is_kept_in_replayed_editions() -> None:
    """Readers who reject at rates that the policy does not know: the last of 30 editions, over 1,500 of them."""
    rng, risk, losses = np.random.default_rng(6), 0.2, []
    for _ in range(1500):
        of_known, of_explored, log = 0.05, 0.7, list[Trial]()
        for _ in range(30):
            control, other = places_shares(3, calibrated_cap(log, risk), risk)
            explored = rng.random(3) < np.array([control, other, other])
            rejected = rng.random(3) < np.where(explored, of_explored, of_known)
            log.append(Trial(bool(explored[0]), bool(rejected[0])))
        losses.append(rejected.mean())
    error = float(np.std(losses)) / math.sqrt(len(losses))
    assert np.mean(losses) <= risk + 3 * error
    assert np.mean(losses) >= risk / 2


BAD: list[tuple[dict[str, Any], str]] = [
    ({"scores": np.zeros((2, 2))}, "one of each kind"),
    ({"scores": np.zeros(4)}, "one of each kind"),
    ({"scores": np.array([0, 1, np.nan])}, "finite"),
    ({"explorer_scores": np.array([0, 1, np.inf])}, "finite"),
    ({"places": -1}, "places"),
    ({"temperature": 0.0}, "temperature"),
    ({"temperature": math.nan}, "temperature"),
    ({"risk": 0.6}, "risk"),
    ({"risk": math.nan}, "risk"),
    ({"cap": -1.0}, "cap"),
    ({"cap": 6.0}, "cap"),
    ({"cap": math.nan}, "cap"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_refused(change: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {"scores": np.zeros(3), "explorer_scores": np.zeros(3), "places": 2, "cap": 1.0, "seed": 0}
    with pytest.raises(ValueError, match=message):
        draw(**{"risk": 0.1, **given_, **change})


@pytest.mark.parametrize("risk", [-0.1, 0.51, 1.0, math.nan])
def test_a_risk_out_of_range_is_refused(risk: float) -> None:
    for function in (certified_share, calibrated_cap):
        with pytest.raises(ValueError, match="risk"):
            function([], risk)
    with pytest.raises(ValueError, match="window"):
        certified_share([], 0.1, window=0)
