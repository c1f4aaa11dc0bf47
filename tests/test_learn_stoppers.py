from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.learn.evidence import Count, FreeEvidence
from broadsheet.learn.stoppers import (
    AllOf,
    AnyOf,
    Budget,
    Chao,
    DistributionFree,
    HypergeometricRanked,
    IrrelevantInARow,
    RankAdvantage,
    Step,
    Stopper,
    Trail,
    TwoPhase,
    stopper_from_record,
    stopper_of,
)
from broadsheet.learn.trail import FURTHER, NO_BOUND, Said, percent, strongest
from broadsheet.model.screening import STOPPING_RULES, Chosen, GuaranteeClass, StoppingPlan
from broadsheet.stats import needed
from tests.stopping_trails import (
    ALL,
    JOINT,
    Reading,
    good_order,
    played,
    pool,
    random_order,
    ranked,
    reversed_order,
)


@pytest.mark.parametrize("ranking", [good_order, random_order, reversed_order])
@pytest.mark.parametrize("total", [6, 30])
def test_class_one_keeps_its_word_whatever_the_ranking_does(
    ranking: Callable[[np.ndarray, np.random.Generator], list[int]], total: int
) -> None:
    relevant, runs, missed = pool(120, total), 60, 0
    for run in range(runs):
        order = ranking(relevant, np.random.default_rng(run))
        recall, _ = played(DistributionFree(0.8, 0.8, patience=0.2), relevant, order, run)
        missed += recall < 0.8
    assert missed <= 0.2 * runs + 3 * math.sqrt(0.2 * 0.8 * runs)


def test_the_bound_of_class_one_is_rarely_ever_wrong_while_a_ranking_reads_on() -> None:
    """Ranked reading goes on during the audit, by a reader who knows where all relevant records are."""
    relevant, runs, wrong = pool(60, 8), 150, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        watch = DistributionFree(0.7, 0.8).watch(60)
        order = reversed_order(relevant, rng) if run % 2 else good_order(relevant, rng, 9.0)
        reading = Reading(relevant, order, rng)
        reading.prior(watch)
        ever = False
        while reading.unread:
            reading.read(watch, "audit" if rng.random() < 0.7 else "ranked")
            recall = watch.recall
            ever = ever or (recall is not None and recall > watch.count.found / 8 + 1e-12)
        wrong += ever
    assert wrong <= 0.2 * runs + 3 * math.sqrt(0.2 * 0.8 * runs)


def test_class_two_finds_its_target_and_saves_more_where_the_ranking_is_good() -> None:
    relevant, saved, free = pool(500, 40), [], []
    for run in range(6):
        order = good_order(relevant, np.random.default_rng(run), 3.0)
        recall, watch = played(RankAdvantage(), relevant, order, run)
        assert recall >= 0.95
        assert not watch.verdict().refuted
        saved.append(watch.count.unread / 500)
        free.append(played(DistributionFree(), relevant, order, run)[1].count.unread / 500)
    assert np.mean(saved) > 1.3 * np.mean(free) > 0


@pytest.mark.parametrize("total", [10, 40])
@pytest.mark.parametrize(("advantage", "ranking"), [(2.0, reversed_order), (3.0, reversed_order), (5.0, random_order)])
def test_a_false_assumption_is_refuted_before_the_target_is_missed(
    advantage: float, ranking: Callable[[np.ndarray, np.random.Generator], list[int]], total: int
) -> None:
    relevant, bad, runs = pool(300, total), 0, 20
    for run in range(runs):
        order = ranking(relevant, np.random.default_rng(run))
        recall, watch = played(RankAdvantage(advantage=advantage), relevant, order, run)
        if watch.verdict().refuted:
            assert watch.verdict().guarantee is GuaranteeClass.DISTRIBUTION_FREE
            assert "refuted that the ranking" in watch.verdict().sentence
        else:
            bad += recall < 0.95
    assert bad <= 1 + 0.05 * runs


def test_the_audit_begins_only_after_something_is_found() -> None:
    for stopper in (DistributionFree(), RankAdvantage(guard=False)):
        watch = stopper.watch(200)
        for n in range(190):
            assert watch.wants == "ranked"
            watch.see(Step(Chosen.RANKED, False, 200 - n, 0))


def test_nothing_found_is_no_estimate_and_never_a_stop() -> None:
    trail = ranked([0] * 99, 100, priors=0)
    for stopper in [*ALL, *JOINT]:
        if isinstance(stopper, IrrelevantInARow | Budget) or stopper.rule in ("and", "or"):
            continue
        verdict = stopper.verdict(trail)
        assert not verdict.stop
        assert verdict.recall is None
        assert verdict.missing is None
        assert "no estimate is possible" in verdict.sentence


def test_everything_read_is_a_stop_for_all() -> None:
    for stopper in [*ALL, *JOINT]:
        for priors in (0, 1):
            verdict = stopper.verdict(ranked([0] * (30 - priors), 30, priors))
            assert verdict.stop
            assert "Everything has been read" in verdict.sentence
            assert "safe" not in verdict.sentence


@pytest.mark.parametrize("kind", [DistributionFree, RankAdvantage, HypergeometricRanked, TwoPhase])
@pytest.mark.parametrize(
    ("target", "confidence"), [(0, 0.95), (1, 0.95), (1.2, 0.95), (0.95, 1), (0.95, 0), (0.95, -1)]
)
def test_targets_and_confidences_outside_the_open_interval_are_refused(
    kind: type[DistributionFree], target: float, confidence: float
) -> None:
    with pytest.raises(ValueError, match="must lie between 0 and 1, both excluded"):
        kind(target, confidence)
    rule = kind.rule
    with pytest.raises(ValueError, match="must lie between 0 and 1, both excluded"):
        stopper_of(StoppingPlan(rule=rule, target=target, confidence=confidence))


def test_irrelevant_in_a_row_is_defined_for_all_numbers() -> None:
    labels = [0, 0, 1] + [0] * 46
    assert IrrelevantInARow(1).first_stop(ranked(labels, 51)) == 2  # the prior, then one irrelevant record
    assert IrrelevantInARow(2).first_stop(ranked(labels, 51)) == 3
    assert IrrelevantInARow(3).first_stop(ranked(labels, 51)) == 7
    assert IrrelevantInARow(-1).first_stop(ranked(labels, 51)) is None
    assert IrrelevantInARow(-1).first_stop(ranked([*labels, 0], 51)) == 51  # the end
    assert IrrelevantInARow(1_000_000).first_stop(ranked([*labels, 0], 51)) == 51
    assert IrrelevantInARow(-1).verdict(ranked(labels, 51)).further == 1
    assert IrrelevantInARow(50).verdict(ranked(labels, 500)).further == 4
    for n in (0, -2):
        with pytest.raises(ValueError, match="1 or more, or -1 to read to the end"):
            IrrelevantInARow(n)


def test_rules_of_thumb_say_that_they_promise_nothing() -> None:
    for stopper in (IrrelevantInARow(5), Budget(5), Chao(), HypergeometricRanked(), TwoPhase()):
        verdict = stopper.verdict(ranked([0, 1, 0, 0, 0, 0, 0], 400))
        assert verdict.guarantee is GuaranteeClass.NONE
        assert verdict.recall is None
        assert "o guarantee" in verdict.sentence


def test_a_budget_counts_what_was_read_without_priors() -> None:
    assert Budget(7).first_stop(ranked([0] * 20, 50, priors=3)) == 10
    with pytest.raises(ValueError, match="budget must be 1 record or more"):
        Budget(0)


def captured(*counts: int, labels: str = "") -> Trail:
    """Relevant records by how many found each; ``labels`` are x for irrelevant and ? for not agreed upon."""
    known = {"": True, "x": False, "?": None}
    given = [known[label.strip()] for label in labels.ljust(len(counts))]
    steps, unread = [], 100
    for count, label in zip(counts, given, strict=True):
        steps.append(Step(Chosen.RANKED, label, unread, captures=count))
        unread -= label is not None
    return Trail(100, steps)


def test_chao_does_not_stop_while_there_are_conflicts() -> None:
    agreed = captured(1, 1, *[2] * 12)
    assert Chao().verdict(agreed).stop
    # Two that one of both has found, and that are not agreed upon, are found by one alone as well.
    disputed = Chao().verdict(captured(1, 1, *[2] * 12, labels="??"))
    assert not disputed.stop
    assert "Chao's estimate is 14.0 relevant records; 12 are found." in disputed.sentence
    assert "2 conflicts are open: the rule does not stop before." in disputed.sentence
    # One of them was no relevant record: what one found alone is one less.
    assert not Chao().verdict(captured(1, 1, *[2] * 12, labels="x?")).stop
    assert Chao().verdict(captured(1, 1, *[2] * 12, labels="x")).stop


def test_chao_says_nothing_where_nobody_found_any_record_alone() -> None:
    verdict = Chao().verdict(captured(*[2] * 11, 0))
    assert not verdict.stop
    assert "Chao's estimate, which comes from such records, cannot be computed" in verdict.sentence
    assert "estimate is" not in verdict.sentence


def test_chao_needs_two_who_found_the_same() -> None:
    alone = [Step(Chosen.RANKED, True, 100 - n) for n in range(10)]
    assert "no estimate is possible" in Chao().verdict(Trail(100, alone)).sentence
    both = [Step(Chosen.RANKED, True, 100 - n, captures=2 if n < 8 else 1) for n in range(12)]
    # f1 = 4, f2 = 8: 12 + 1/2 · 4 · 3/(2 · 9)
    assert "Chao's estimate is 12.3 relevant" in Chao().verdict(Trail(100, both)).sentence
    assert Chao().verdict(Trail(100, both)).stop
    assert not Chao(occasions=3).verdict(Trail(100, both[6:])).stop
    with pytest.raises(ValueError, match="two occasions"):
        Chao(occasions=1)


@given(st.lists(st.sampled_from([0, 0, 0, 0, 0, 1]), max_size=120), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_ranked_hypergeometric_rule_is_found_by_halving_as_one_by_one(labels: list[int], priors: int) -> None:
    stopper, trail = HypergeometricRanked(0.8, 0.8), ranked(labels, 130, priors)
    assert stopper.first_stop(trail) == Stopper.first_stop(stopper, trail)


def brute_smallest(trail: Trail, target: float) -> float:
    """Its p-value over all starts, not only those after a find."""
    from scipy.stats import hypergeom

    from broadsheet.stats import allowed_missing

    steps = trail.steps
    found, values = sum(bool(step.relevant) for step in steps), [1.0]
    first = sum(step.chosen is Chosen.PRIOR for step in steps)
    for start in range(first, len(steps)):
        finds = sum(bool(step.relevant) for step in steps[start:])
        wrong = finds + allowed_missing(found, target) + 1
        unread = steps[start].unread
        values.append(hypergeom.cdf(finds, unread, wrong, len(steps) - start) if wrong <= unread else 0.0)
    return min(values)


def test_starts_after_finds_are_enough_for_it() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        trail = ranked((rng.random(40) < 0.15).astype(int).tolist(), 90)
        stopped = HypergeometricRanked(0.8, 0.8).verdict(trail).stop
        assert stopped == (brute_smallest(trail, 0.8) < 0.2)


def test_two_phase_looks_at_the_prefix_however_it_was_read() -> None:
    before = [Step(Chosen.RANKED, n < 20, 100 - n) for n in range(40)]
    audit = [
        Step(Chosen.RANKED if place % 2 else Chosen.AUDIT, False, 60 - n, 0, place) for n, place in enumerate(range(60))
    ]
    trail = Trail(100, before + audit, 40, 60)
    # One may be missing; 47 is the least s with (60 − s)(59 − s)/(60 · 59) < 0.05.
    assert TwoPhase().first_stop(trail) == 40 + 47


def test_an_audit_that_finds_nothing_stops_a_little_above_the_floor() -> None:
    before = [Step(Chosen.RANKED, n < 60, 1000 - n) for n in range(200)]
    audit = [Step(Chosen.AUDIT, False, 800 - n, 0, n) for n in range(800)]
    trail = Trail(1000, before + audit, 200, 800)
    read = DistributionFree().first_stop(trail)
    floor = TwoPhase().first_stop(trail)
    assert read is not None and floor is not None
    assert floor <= read <= 200 + 1.02 * (floor - 200) + 1
    verdict = DistributionFree().verdict(replace(trail, steps=trail.steps[:250]))
    assert verdict.further == read - 250
    assert f"About {read - 250} more records for 95 %" in verdict.sentence
    assert "whatever the ranking does" in verdict.sentence
    curve = DistributionFree().curve(trail, every=50)
    known = [value for value in curve if value is not None]
    assert known == sorted(known) and known[-1] == 1.0


def test_what_was_put_off_may_be_relevant() -> None:
    before = [Step(Chosen.RANKED, n < 60, 1000 - n) for n in range(200)]
    audit = [Step(Chosen.AUDIT, False, 800 - n, 0, n) for n in range(800)]
    read = DistributionFree().first_stop(Trail(1000, before + audit, 200, 800)) or 0
    doubt = [*audit[:10], replace(audit[10], relevant=None), *(replace(s, unread=s.unread + 1) for s in audit[11:])]
    assert not DistributionFree().verdict(Trail(1000, (before + doubt)[:read], 200, 800)).stop
    with_doubt = RankAdvantage(guard=False).verdict(Trail(1000, (before + doubt)[:300], 200, 800))
    without = RankAdvantage(guard=False).verdict(Trail(1000, (before + audit)[:300], 200, 800))
    assert with_doubt.missing is not None and without.missing is not None
    assert with_doubt.missing >= without.missing


def test_a_label_given_later_counts_in_the_prefix_though_it_was_read_before() -> None:
    """Put off before the audit, so that it is in the order, and decided since: its step stands before the audit."""
    evidence, count = FreeEvidence(0.95, 0.95), Count(50)
    steps = [Step(Chosen.RANKED, True, 50), Step(Chosen.RANKED, True, 49, place=0), Step(Chosen.RANKED, False, 48)]
    for step in steps:
        evidence.see(step, count)
        count.see(step)
    evidence.begin_audit(48, count)
    assert (evidence.prefix, evidence.finds) == (1, 1)
    assert evidence.audit is not None and evidence.audit.found == 1


def test_an_order_is_drawn_once() -> None:
    for stopper in (DistributionFree(), RankAdvantage()):
        watch = stopper.watch(50)
        watch.begin_audit(50)
        with pytest.raises(ValueError, match="another order must not be drawn"):
            watch.begin_audit(50)


def test_what_was_refuted_stays_refuted_when_the_pool_grows() -> None:
    watch = RankAdvantage().watch(1000)
    watch.see(Step(Chosen.PRIOR, True, 1000))
    for n in range(4):
        watch.see(Step(Chosen.AUDIT, True, 999 - n, rank=990))
    assert watch.verdict().refuted
    watch.fresh()
    watch.see(Step(Chosen.RANKED, False, 1500, rank=0))
    assert watch.verdict().refuted


def test_a_pool_that_grew_begins_anew() -> None:
    steps = list(ranked([1] * 5 + [0] * 60, 100).steps)
    more = [Step(Chosen.RANKED, False, 134 - n) for n in range(20)]
    old = RankAdvantage(guard=False).verdict(Trail(100, steps))
    grown = RankAdvantage(guard=False).verdict(Trail(200, steps + more, since=len(steps)))
    assert old.missing is not None and grown.missing is not None
    assert grown.missing > old.missing
    fresh = ranked([0] * 20, 140, priors=6)  # as if all that was read before were known
    again = RankAdvantage(guard=False).verdict(fresh)
    assert again.missing == grown.missing


def test_reading_by_hand_is_no_evidence() -> None:
    steps = [replace(s, chosen=Chosen.MANUAL if n else s.chosen) for n, s in enumerate(ranked([0] * 60, 100).steps)]
    verdict = RankAdvantage(guard=False).verdict(Trail(100, steps))
    assert verdict.missing == 39


def test_the_guard_relies_on_no_more_than_the_ranking_has_shown() -> None:
    labels = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1] * 4 + [0] * 100  # as good as random, if a tenth is relevant
    trail = ranked(labels, 400)
    plain, guarded = (RankAdvantage(advantage=4.0, guard=guard).verdict(trail) for guard in (False, True))
    assert plain.recall is not None and guarded.recall is not None
    assert guarded.recall < plain.recall
    sharp = ranked([1] * 20 + [0] * 100, 400)  # much better than claimed: nothing to lower
    plain, guarded = (RankAdvantage(advantage=4.0, guard=guard).verdict(sharp) for guard in (False, True))
    assert plain.recall == guarded.recall


def test_the_rank_is_a_place_among_those_it_was_ranked_with() -> None:
    watch = RankAdvantage().watch(300)
    watch.see(Step(Chosen.PRIOR, True, 300))
    watch.see(Step(Chosen.AUDIT, True, 198, rank=198, ranked=199))
    assert watch.verdict().advantage == pytest.approx(-1 / math.log(1 - 198.5 / 199))
    low, high = watch.verdict().advantage_interval or (0, 0)
    assert low < (watch.verdict().advantage or 0) < high


def test_the_words_of_class_two() -> None:
    relevant = pool(400, 30)
    order = good_order(relevant, np.random.default_rng(1), 4.0)
    _, watch = played(RankAdvantage(advantage=3.0), relevant, order, 1)
    verdict = watch.verdict()
    assert verdict.assumption == "the ranking finds relevant records at least 3 times as fast as random reading"
    assert f"with 95 % confidence, assuming that {verdict.assumption}:" in verdict.sentence
    assert "Recall ≥ 50 % with 95 % confidence, whatever the ranking does." in verdict.sentence
    assert verdict.guarantee is GuaranteeClass.ASSUMPTION
    assert (verdict.further, verdict.wants) == (0, "")
    assert verdict.recall is not None and verdict.missing is not None
    assert verdict.recall == pytest.approx(verdict.found / (verdict.found + verdict.missing))
    assert verdict.found >= needed(verdict.found + verdict.missing, 0.95)


@pytest.mark.parametrize("stopper", [DistributionFree(), RankAdvantage()])
def test_a_bound_that_rules_nothing_out_says_so(stopper: Stopper) -> None:
    said = stopper.verdict(ranked([1, 0, 1], 50)).sentence
    assert said.startswith("Nothing can be ruled out yet: any of the 46 unread records may be relevant. About ")
    assert "Recall" not in said
    more = stopper.verdict(ranked([1, 0, 1] + [0] * 46, 50)).sentence
    assert "Nothing can be ruled out" not in more


def test_lower_bounds_are_rounded_down() -> None:
    assert [percent(share) for share in (0.9349, 0.95, 0.94999, 1.0, 19 / 20)] == [
        "93.4 %",
        "95 %",
        "94.9 %",
        "100 %",
        "95 %",
    ]


def test_what_is_forecast_is_what_happens_if_nothing_is_found() -> None:
    watch = RankAdvantage(advantage=3.0).watch(600)
    reading = Reading(pool(600, 40), list(range(600)), np.random.default_rng(2))
    reading.prior(watch)
    for _ in range(60):
        reading.read(watch, "ranked")
    told, read = watch.verdict().further, 0
    while not watch.stopped:
        reading.read(watch, watch.wants)
        read += 1
    assert told is not None
    assert read == pytest.approx(told, rel=0.05)


def test_a_watch_can_be_copied_and_asked_again() -> None:
    trail = ranked([1, 0, 0, 1] + [0] * 60, 200)
    for stopper in [*ALL, *JOINT]:
        watch = stopper.watch(200)
        for step in trail.steps[:30]:
            watch.see(step)
        twin = copy.deepcopy(watch)
        for step in trail.steps[30:]:
            twin.see(step)
        assert twin.verdict() == stopper.verdict(trail)
        assert watch.verdict() == stopper.verdict(replace(trail, steps=trail.steps[:30]))


def test_all_wait_for_the_last_and_any_for_the_first() -> None:
    trail = ranked([1, 1] + [0] * 60, 400)
    row, budget = IrrelevantInARow(10), Budget(40)
    assert AllOf((row, budget)).first_stop(trail) == budget.first_stop(trail) == 41
    assert AnyOf((row, budget)).first_stop(trail) == row.first_stop(trail) == 13
    with pytest.raises(ValueError, match="one rule or more"):
        AllOf(())


def test_a_joint_rule_promises_what_its_parts_do() -> None:
    free, assumed, row = DistributionFree(), RankAdvantage(), IrrelevantInARow(10)
    trail = ranked([1, 1] + [0] * 60, 400)
    assert AllOf((row, free)).verdict(trail).guarantee is GuaranteeClass.DISTRIBUTION_FREE
    assert AnyOf((row, free)).verdict(trail).guarantee is GuaranteeClass.NONE
    assert AnyOf((free, assumed)).verdict(trail).guarantee is GuaranteeClass.ASSUMPTION
    assert AnyOf((free, assumed)).verdict(trail).confidence == pytest.approx(0.9)
    assert AllOf((free, assumed)).verdict(trail).confidence == 0.95
    assert AllOf((row, free)).verdict(trail).recall == free.verdict(trail).recall


def test_the_confidence_of_joined_rules_is_said_and_exact() -> None:
    free, assumed = DistributionFree(), RankAdvantage()
    trail = ranked([1, 1, 0, 0], 100)
    verdict = AnyOf((assumed, free)).verdict(trail)
    assert verdict.confidence == 0.9  # and not 0.8999999999999999
    assert verdict.sentence.endswith(
        "Each of the joined rules has an error of its own: the whole, which stops when one of them does, under the "
        "assumption, stops below 95 % with probability at most 10 %: its confidence is 90 %."
    )
    three = AnyOf((free, free, free)).verdict(trail)
    assert three.confidence == 0.85
    assert "does stops below 95 % with probability at most 15 %: its confidence is 85 %." in three.sentence
    for other in (AllOf((assumed, free)), AnyOf((IrrelevantInARow(9), free))):
        assert "joined rules" not in other.verdict(trail).sentence
    assert "joined rules" not in AnyOf((free, free)).verdict(ranked([1, 1], 3)).sentence  # all was read


def test_a_rule_of_thumb_joined_by_or_takes_the_guarantee_but_not_what_was_declared() -> None:
    verdict = AnyOf((DistributionFree(0.9, 0.8), IrrelevantInARow(9))).verdict(ranked([1, 1, 0, 0], 100))
    assert (verdict.guarantee, verdict.target, verdict.confidence) == (GuaranteeClass.NONE, 0.9, 0.8)
    assert verdict.recall is None
    assert "No guarantee." in verdict.sentence
    thumbs = AnyOf((Budget(9), IrrelevantInARow(9))).verdict(ranked([1, 1, 0, 0], 100))
    assert (thumbs.target, thumbs.confidence) == (0.0, 0.0)


def said(text: str, ground: str = "", weight: float = 0.0) -> Said:
    return Said(text, ground, weight)


def test_of_two_statements_on_the_same_ground_the_stronger_stays() -> None:
    weak, strong, other = said("≥ 50", "free", 0.5), said("≥ 55.5", "free", 0.555), said("≥ 90", "assumed", 0.9)
    assert strongest([other, weak, strong], least_further=True) == (other, strong)
    assert strongest([strong, other, weak, strong], least_further=True) == (strong, other)
    nothing, twice = said("nothing can be ruled out", NO_BOUND), said("no guarantee")
    assert strongest([nothing, twice, twice], least_further=True) == (nothing, twice)
    assert strongest([nothing, weak], least_further=True) == (weak,)
    few, many = said("30 more", f"{FURTHER}95 %", 30), said("90 more", f"{FURTHER}95 %", 90)
    assert strongest([few, many, nothing], least_further=True) == (few, nothing)
    assert strongest([few, many], least_further=False) == (many,)


def test_joined_rules_say_nothing_twice() -> None:
    either = AnyOf((RankAdvantage(), DistributionFree()))
    for labels, records in (([], 50), ([0, 0], 50), ([1, 0], 50), ([1, 0], 3), ([0, 0], 2)):
        sentences = [one.text for one in either.verdict(ranked(labels, records, priors=0)).said]
        assert len(set(sentences)) == len(sentences)
        assert sum("more records for" in sentence for sentence in sentences) <= 1


@pytest.mark.parametrize("stopper", [*ALL, *JOINT], ids=lambda stopper: stopper.rule)
def test_a_rule_goes_to_a_record_and_back(stopper: Stopper) -> None:
    assert stopper_from_record(stopper.to_record()) == stopper


def test_there_is_a_rule_for_each_name() -> None:
    made = [stopper_of(StoppingPlan(rule=name, budget=9)) for name in STOPPING_RULES]
    assert [stopper.rule for stopper in made] == list(STOPPING_RULES)
    assert {stopper.rule for stopper in ALL} == set(STOPPING_RULES)


def test_records_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="no stopping rule 'luck'"):
        stopper_from_record({"rule": "luck"})
    with pytest.raises(ValueError, match="does not take"):
        stopper_from_record({"rule": "budget", "money": 3})
    with pytest.raises(ValueError, match="no stopping rule 'luck'"):
        stopper_of(StoppingPlan(rule="luck"))


def test_a_plan_names_its_rules() -> None:
    plan = StoppingPlan(target=0.9, confidence=0.8, advantage=2.5, floor=0.6, in_a_row=30, budget=70)
    assert stopper_of(replace(plan, rule="rank-advantage")) == RankAdvantage(0.9, 0.8, 2.5, 0.6)
    assert stopper_of(replace(plan, rule="distribution-free")) == DistributionFree(0.9, 0.8)
    assert stopper_of(replace(plan, rule="chao")) == Chao(0.9)
    assert stopper_of(replace(plan, rule="two-phase")) == TwoPhase(0.9, 0.8)
    either = stopper_of(replace(plan, rule="budget or irrelevant-in-a-row and hypergeometric"))
    assert either == AnyOf((Budget(70), AllOf((IrrelevantInARow(30), HypergeometricRanked(0.9, 0.8)))))
    assert StoppingPlan().advantage == RankAdvantage().advantage


def test_parameters_that_cannot_be_are_refused() -> None:
    for advantage in (0.5, math.inf, math.nan):
        with pytest.raises(ValueError, match="advantage must be 1 or more"):
            RankAdvantage(advantage=advantage)
    for floor in (0, 0.96):
        with pytest.raises(ValueError, match="floor must be above 0"):
            RankAdvantage(floor=floor)
    with pytest.raises(ValueError, match="patience"):
        DistributionFree(patience=-1)
    with pytest.raises(ValueError, match="cannot have -1 records"):
        DistributionFree().watch(-1)


def test_why_the_bound_jumps_at_the_end_of_the_audit_is_said() -> None:
    """Before its end the bound has a hundredth of the error."""
    watch = DistributionFree(0.5, 0.9).watch(100)
    for n in range(4):
        watch.see(Step(Chosen.RANKED, n < 2, 100 - n))
    assert "Until the audit ends" not in watch.verdict().sentence
    watch.begin_audit(96)
    watch.see(Step(Chosen.AUDIT, False, 96, place=0))
    assert "Until the audit ends this is a weak bound, made with 1 % of the error" in watch.verdict().sentence
    before = watch.recall
    for n in range(1, 96):
        watch.see(Step(Chosen.AUDIT, False, 96 - n, place=n))
        if watch.stopped:
            break
        before = watch.recall
    assert "Until the audit ends" not in watch.verdict().sentence
    assert watch.recall is not None and before is not None and watch.recall >= 0.5 > before
