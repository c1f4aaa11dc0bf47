"""The simulation of exploration: it counts what it says it counts, on a made reader."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from bench.exploring import (
    PLACES,
    Case,
    Day,
    Run,
    capped,
    certified,
    fixed,
    interval,
    replayed,
    resamples,
    until_found,
    violations,
)

PAPERS = 60  # of one day: pools of 20, of which known interests draw the first half and the explorer the second


def made(days: int) -> Case:
    """The explorer's papers are rejected, and the last of each pool is of the new topic."""
    known, wild = np.r_[np.full(10, 0.1), np.zeros(10)], np.r_[np.zeros(10), np.full(10, 0.1)]
    all_days = []
    for day in range(days):
        papers = day * PAPERS + np.arange(PAPERS).reshape(PLACES, 20)
        all_days.append(Day({"notice": [(row, known, wild) for row in papers]}))
    place = np.arange(days * PAPERS) % 20
    return Case("made", all_days, place >= 10, place == 19, (place >= 10, place < 10))


def test_fixed_shares_are_replayed_as_they_say() -> None:
    case = made(400)
    none, everything = replayed(case, case.days, fixed(0), 1), replayed(case, case.days, fixed(1), 1)
    assert not none.explored.any()
    assert not none.rejected.any()
    assert everything.explored.all()
    assert everything.rejected.all()
    assert everything.new.mean() == pytest.approx(0.1, abs=0.03)
    tenth = replayed(case, case.days, fixed(0.1), 1)
    assert tenth.rejected.mean() == pytest.approx(0.1, abs=0.03)
    assert (tenth.rejected == tenth.explored).all()


def test_a_turning_reader_rejects_the_other_half_after_half_of_the_editions() -> None:
    case = made(100)
    run = replayed(case, case.days, fixed(0.5), 2, turning=True)
    assert (run.rejected[:50] == run.explored[:50]).all()
    assert (run.rejected[50:] == 1 - run.explored[50:]).all()


def test_the_same_seed_gives_the_same_run() -> None:
    case = made(20)
    one, other = (replayed(case, case.days, capped(0.2), 5) for _ in range(2))
    assert (one.rejected == other.rejected).all()
    assert not (one.explored == replayed(case, case.days, capped(0.2), 6).explored).all()


def test_places_without_a_certificate_stay_empty_in_the_exact_form_only() -> None:
    case = made(30)
    run = replayed(case, case.days, certified(0.1), 3)
    assert (run.rejected[:9, 1:] == -1).all()  # nine known control places are needed
    assert (run.rejected[:, 0] >= 0).all()
    assert (replayed(case, case.days, capped(0.1), 3).rejected >= 0).all()


def test_the_declared_risk_is_kept_on_a_reader_who_rejects_everything_explored() -> None:
    case = made(120)
    runs = [replayed(*job[:2], capped(0.1), job[2]) for job in resamples([case], 60, in_time=False)]
    shares = np.array([(run.rejected == 1).mean() for run in runs])
    assert shares.mean() <= 0.1 + 3 * shares.std() / len(shares) ** 0.5
    assert shares.mean() >= 0.05


def test_until_found_counts_editions_from_the_one_where_the_search_begins() -> None:
    new = np.zeros((6, PLACES), np.int8)
    new[1, 2] = new[4, 0] = 1
    run = Run(np.zeros_like(new), new, np.zeros_like(new))
    empty = Run(np.zeros_like(new), np.zeros_like(new), np.zeros_like(new))
    assert until_found([run, empty], 0).tolist() == [2, 7]
    assert until_found([run, empty], 2).tolist() == [3, 5]


def test_violations_count_filled_sections_only() -> None:
    rejected = np.ones((100, PLACES), np.int8)
    empty = np.where(np.arange(PLACES) > 0, -1, rejected).astype(np.int8)
    found = violations([Run(rejected, rejected, rejected)] * 3 + [Run(empty, empty, empty)])
    assert found["0"]["rejected"] == 0.75
    assert found["0"]["filled"] == 0.75
    assert found["all editions"]["rejected"] == 0.75


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (3, 500), (10, 10)])
def test_the_interval_is_the_exact_one(hits: int, count: int) -> None:
    exact = binomtest(hits, count).proportion_ci(0.95, "exact")
    assert interval(hits, count) == pytest.approx([exact.low, exact.high], abs=1e-4)


def test_days_in_time_follow_each_other_and_others_do_not() -> None:
    case = made(150)
    place = {id(day): n for n, day in enumerate(case.days)}
    (_, timed, _), (_, mixed, _) = (resamples([case], 1, in_time=way)[0] for way in (True, False))
    assert set(np.diff([place[id(day)] for day in timed]).tolist()) == {1}
    assert len({id(day) for day in mixed}) == len(mixed) == len(timed)
    assert set(np.diff([place[id(day)] for day in mixed]).tolist()) != {1}
