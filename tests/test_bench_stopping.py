"""The stopping simulations: they count what they say they count, on made courses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from bench.stopping import Job, known, missed, of_all, summary, two_phased
from bench.stopping_orders import COLD, Course
from bench.stopping_play import Played, Reading, play, play_free
from bench.stopping_rules import (
    allowed,
    hypergeometric_ranked,
    in_a_row,
    oracle,
    stopped_after,
    stopping_error,
    two_phase,
)
from broadsheet.learn.stoppers import DistributionFree, HypergeometricRanked, RankAdvantage, Step, Trail
from broadsheet.model.screening import Chosen
from broadsheet.stats import AuditTest


def made(records: int, places: list[int], seed: int = 0) -> Course:
    labels = np.zeros(records, bool)
    labels[[0, *places]] = True
    return Course("made", "ranked", seed, labels)


GOOD = made(400, [*range(2, 30, 1), 40, 60, 75])


def test_allowed_counts_exactly_where_floats_do_not() -> None:
    assert [int(allowed(found, 0.95)) for found in (0, 18, 19, 37, 38)] == [0, 0, 1, 1, 2]


def test_the_oracle_stops_at_the_record_that_reaches_the_target() -> None:
    labels = made(100, list(range(10, 48, 2))).labels  # 20 relevant ones: the target is 19 of them
    assert labels[: oracle(labels, 0.95)].sum() == 19
    assert labels[oracle(labels, 0.95) - 1]
    assert oracle(labels, 0.951) == 47  # all 20


def test_irrelevant_ones_in_a_row_are_counted_from_the_priors_on() -> None:
    labels = made(100, [5, 30]).labels
    assert in_a_row(labels, 3, 2) == 5
    assert in_a_row(labels, 20, 2) == 26
    assert in_a_row(labels, 90, 2) == 100  # never: all is read


def brute(labels: np.ndarray, priors: int) -> int:
    """The ranked rule with every start tried after every record."""
    records = len(labels)
    for read in range(priors + 1, records + 1):
        found = int(labels[:read].sum())
        for start in range(priors, read):
            before = int(labels[:start].sum())
            wrong = found - before + int(allowed(found, 0.95)) + 1
            rest = records - start
            if wrong > rest or hypergeom.cdf(found - before, rest, wrong, read - start) <= 0.05:
                return read
    return records


@pytest.mark.parametrize("seed", range(3))
def test_the_ranked_rule_is_that_of_trying_every_start(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.unique((rng.beta(1, 4, 15) * 55).astype(int) + 2)
    labels = made(60, places.tolist()).labels
    assert hypergeometric_ranked(labels, 0.95, 0.95, 2) == brute(labels, 2)


def test_the_ranked_rule_agrees_with_the_stopper() -> None:
    labels = GOOD.labels
    steps = [
        Step(Chosen.PRIOR if n < 2 else Chosen.RANKED, bool(label), len(labels) - n) for n, label in enumerate(labels)
    ]
    stop = HypergeometricRanked(0.95, 0.95).first_stop(Trail(len(labels), steps))
    assert hypergeometric_ranked(labels, 0.95, 0.95, 2) == stop


def test_limits_stop_at_the_first_prefix_that_is_long_enough() -> None:
    limits = np.array([10, 20, 25])
    assert stopped_after(limits, np.array([], int), 50) == 10
    assert stopped_after(limits, np.array([10]), 50) == 10
    assert stopped_after(limits, np.array([9]), 50) == 20
    assert stopped_after(limits, np.array([3, 4]), 50) == 25
    assert stopped_after(limits, np.array([3, 4, 5]), 50) == 50


def test_the_two_phase_rule_errs_more_often_than_it_says_and_the_exact_thresholds_do_not() -> None:
    limits, unread, found = two_phase(300, 100, 12, 0.95, 0.95), 300, 100
    exact = AuditTest(unread, found, 0.95, 0.95)
    valid = np.array([exact.threshold(x) for x in range(13)])
    assert max(stopping_error(limits, unread, found, m, 0.95) for m in (6, 9, 12)) > 0.06
    assert max(stopping_error(valid, unread, found, m, 0.95) for m in (6, 9, 12, 20)) <= 0.05 + 1e-9


def test_the_exact_error_is_what_drawing_shows() -> None:
    limits, rng = two_phase(120, 45, 30, 0.95, 0.95), np.random.default_rng(1)
    wrong = 0
    for _ in range(4000):
        places = rng.choice(120, 4, replace=False)
        finds = int((places < stopped_after(limits, places, 120)).sum())
        wrong += 4 - finds > allowed(45 + finds, 0.95)
    assert wrong / 4000 == pytest.approx(stopping_error(limits, 120, 45, 4, 0.95), abs=0.012)


def test_a_run_reads_each_record_once_and_ends_where_the_rule_says_stop() -> None:
    runs = list(play(DistributionFree(0.95, 0.95), GOOD, 5))
    assert len({run.read for run in runs} | {run.finds for run in runs}) >= 1
    for run in runs:
        assert run.audit_from is not None
        assert run.read == run.audit_from + run.audited <= 400
        assert run.found == int(GOOD.labels[: run.audit_from].sum()) + run.finds
        assert not missed(run)
    assert [run.read for run in play(DistributionFree(0.95, 0.95), GOOD, 5)] == [run.read for run in runs]


def test_the_thresholds_alone_give_the_same_runs() -> None:
    assert list(play_free(DistributionFree(0.95, 0.95), GOOD, 5)) == list(play(DistributionFree(0.95, 0.95), GOOD, 5))


def test_the_rule_is_asked_as_often_as_it_could_want_something_else() -> None:
    rule = RankAdvantage(0.95, 0.95, advantage=3.0)
    often, seldom = Reading(rule, GOOD), Reading(rule, GOOD)
    often.plans = False
    for reading in (often, seldom):
        assert reading.until_audit()
        reading.begin_audit(np.random.default_rng(3))
    assert often.audit_from == seldom.audit_from
    assert often.to_the_end() == seldom.to_the_end()


def test_ranked_reading_goes_from_the_top_and_audits_skip_what_is_read() -> None:
    reading = Reading(RankAdvantage(0.95, 0.95, advantage=3.0), GOOD)
    assert reading.until_audit()
    read = np.flatnonzero(~reading.unread)
    assert (read == np.arange(len(read))).all()
    reading.begin_audit(np.random.default_rng(0))
    end = reading.to_the_end()
    assert end.read == int((~reading.unread).sum())
    assert end.found == int(GOOD.labels[~reading.unread].sum())
    assert end.saved == pytest.approx(reading.left / 400)


def test_an_assumption_that_holds_saves_more_than_none() -> None:
    free = np.mean([run.saved for run in play(DistributionFree(0.95, 0.95), GOOD, 5)])
    assumed = np.mean([run.saved for run in play(RankAdvantage(0.95, 0.95, advantage=3.0), GOOD, 5)])
    assert assumed > free > 0


def test_a_ranking_upside_down_is_refuted_before_the_target_is_missed() -> None:
    labels = np.zeros(400, bool)
    labels[[0, *range(330, 400, 2)]] = True
    for run in play(RankAdvantage(0.95, 0.95, advantage=2.0), Course("made", "reversed", 0, labels), 10):
        assert run.refuted
        assert run.recall >= 0.95


def test_both_rules_with_two_phases_begin_at_the_same_record() -> None:
    free = list(play(DistributionFree(0.95, 0.95), GOOD, 3))
    pair = two_phased(GOOD, 3)
    assert [run.audit_from for run in pair] == [run.audit_from for run in free]
    assert all(one.read <= other.read for one, other in zip(pair, free, strict=True))  # it looks as if only once


def test_labels_dealt_at_random_keep_the_priors() -> None:
    one = GOOD.shuffled()
    assert one.relevant == GOOD.relevant
    assert one.labels[0]
    assert not one.labels[1]
    assert (one.labels != GOOD.labels).any()


def test_a_cold_start_finds_nothing_at_first_and_loses_no_record() -> None:
    one = GOOD.cold()
    assert one.relevant == GOOD.relevant
    assert len(one.labels) == 400
    assert not one.labels[:COLD].any()
    assert one.labels[COLD]
    run = next(play(RankAdvantage(0.95, 0.95, advantage=3.0), one, 1))
    assert run.audit_from is None or run.audit_from > COLD


def test_figures_count_reviews_once_and_misses_exactly() -> None:
    good, bad = Played(100, 20, 50, 19), Played(100, 20, 10, 18)
    assert not missed(good)
    assert missed(bad)
    figures = of_all({"a": [good] * 3, "b": [bad]})
    assert figures["saved"] == pytest.approx((0.5 + 0.9) / 2)
    assert figures["missed"] == 0.25
    assert summary({"a": [good], "b": [Played(100, 40, 50, 40)]})["small"]["reviews"] == 1
    assert known(Job("oracle", "oracle"), GOOD)[0].found == 31  # of 32
