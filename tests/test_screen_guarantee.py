"""Whether what the desk says is false more often than it says, when a review is read in unusual ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from broadsheet.learn.evidence import Count, FreeEvidence
from broadsheet.learn.stoppers import AllOf, DistributionFree, RankAdvantage, Trail, TwoPhase
from broadsheet.learn.stoppers import Step as Read
from broadsheet.model.screening import Chosen, Label, Plan, PoolRecord, Stage, StoppingPlan
from broadsheet.screen import offers, reports
from broadsheet.screen.follower import Follower
from broadsheet.screen.state import State
from broadsheet.screen.trail import trail
from broadsheet.store import plan_to_json
from tests.screen_makers import event, records, review, told

ADDED = '{"added":%d}'


class Reading:
    """A review that one screener reads, who decides as it is true."""

    def __init__(self, relevant: np.ndarray, seed: int, stage: Stage = Stage.ABSTRACT) -> None:
        self.relevant, self.stage = relevant, stage
        self.follower = Follower(RankAdvantage(0.7, 0.8, 1.0), stage)
        self.false = False  # at any look
        self.state = State.of(review(Plan(seed=seed)), records(len(relevant)))

    def put(self, kind: str, **fields: object) -> int:
        made = event(self.state.last_event + 1, kind)
        self.state.apply([replace(made, **({"stage": self.stage} | fields))])  # type: ignore[arg-type]
        return self.state.last_event

    def decide(self, number: int, chosen: Chosen, stage: Stage | None = None) -> Label:
        label = Label.INCLUDE if self.relevant[number - 1] else Label.EXCLUDE
        self.put("decide", record=number, label=label, chosen=chosen, stage=stage or self.stage)
        return label

    def draw(self) -> int:
        choice = offers.choose(self.state, self.stage, "ann", mode="random")
        assert choice is not None
        assert choice.chosen is Chosen.RANDOM
        return choice.group

    @property
    def missing(self) -> int:
        return sum(bool(self.relevant[group - 1]) for group in self.state.unread(self.stage))

    def look(self) -> None:
        """With b = 1 every random draw counts with all of the error, of 20 %."""
        said = self.follower.verdict(self.state).missing
        self.false = self.false or (said is not None and said < self.missing)


def pool(rng: np.random.Generator, size: int, relevant: int) -> np.ndarray:
    found = np.zeros(size, bool)
    found[rng.choice(size, relevant, replace=False)] = True
    return found


# --- shares of false statements


def finds_taken_back(seed: int) -> Reading:
    """Relevant random draws are mostly taken back at once, and left for later."""
    rng = np.random.default_rng(seed)
    reading = Reading(pool(rng, 160, 30), seed)
    for number in np.flatnonzero(reading.relevant)[:3] + 1:
        reading.decide(int(number), Chosen.MANUAL)
    for _ in range(100):
        reading.look()
        if reading.decide(reading.draw(), Chosen.RANDOM) is Label.INCLUDE and rng.random() < 0.85:
            reading.put("undo", undoes=reading.state.last_event)
    return reading


def draws_passed_by(seed: int) -> Reading:
    """A relevant random draw is mostly passed by, and another record decided."""
    rng = np.random.default_rng(seed)
    reading = Reading(pool(rng, 200, 30), seed)
    for number in np.flatnonzero(reading.relevant)[:3] + 1:
        reading.decide(int(number), Chosen.MANUAL)
    for _ in range(110):
        drawn = reading.draw()
        if reading.relevant[drawn - 1] and rng.random() < 0.7:
            unread = reading.state.unread()
            reading.decide(next(group for group in unread if not reading.relevant[group - 1]), Chosen.MANUAL)
        else:
            reading.decide(drawn, Chosen.RANDOM)
    return reading


def repeats_of_the_unread(seed: int) -> Reading:
    """After random draws, most unread records turn out to repeat one that was excluded."""
    reading = Reading(pool(np.random.default_rng(seed), 160, 40), seed)
    for _ in range(70):
        reading.decide(reading.draw(), Chosen.RANDOM)
    unread = [group for group in reading.state.unread() if not reading.relevant[group - 1]]
    read = next(group for group, label in reading.state.labels().items() if label is Label.EXCLUDE)
    for group in unread[: len(unread) * 4 // 5]:
        reading.put("twin", record=group, other=read)
    return reading


def full_texts_left_out(seed: int) -> Reading:
    """After random draws, most unread full texts are excluded by their abstracts after all."""
    reading = Reading(pool(np.random.default_rng(seed), 160, 40), seed, Stage.FULL_TEXT)
    for number in range(1, 161):
        reading.put("decide", record=number, label=Label.INCLUDE, chosen=Chosen.MANUAL, stage=Stage.ABSTRACT)
    for _ in range(70):
        reading.decide(reading.draw(), Chosen.RANDOM)
    unread = [group for group in reading.state.unread(Stage.FULL_TEXT) if not reading.relevant[group - 1]]
    for group in unread[: len(unread) * 4 // 5]:
        reading.put("decide", record=group, label=Label.EXCLUDE, chosen=Chosen.MANUAL, stage=Stage.ABSTRACT)
    return reading


@pytest.mark.parametrize("read", [finds_taken_back, draws_passed_by, repeats_of_the_unread, full_texts_left_out])
def test_bounds_from_random_draws_are_false_no_more_often_than_said(read: Callable[[int], Reading]) -> None:
    # More than 14 of 40 are less likely than 1 in 100.
    runs = [read(seed) for seed in range(40)]
    for run in runs:
        run.look()
    assert sum(run.false for run in runs) <= 14


# --- what left without being read


def test_a_repeat_that_is_found_among_the_unread_keeps_its_place_in_the_audit() -> None:
    found = State.of(review(), records(10), told("ann in 1", "ann out 2", "ann audit 5"))
    order = found.audit_order()
    found.apply(told(f"ann twin {order[5]} 2", f"ann out {order[0]} by:audit", first=4))
    made = trail(found)
    assert (made.audit_size, made.audit_gone, made.audit_found) == (8, frozenset({5}), 1)
    assert [step.place for step in made.steps] == [-1, -1, 0]
    assert found.audit_covers()
    found.apply(told("ann undo #4", first=6))  # it is unread again, at its place
    assert trail(found).audit_gone == frozenset()
    assert found.audit_order() == order


def test_draws_were_from_what_was_unread_then() -> None:
    found = State.of(review(), records(10), told("ann in 1 by:random", "ann out 2 by:random", "ann twin 9 2"))
    found.apply(told("ann out 3 by:random", first=4))
    made = trail(found)
    assert made.records == 9
    assert [(step.unread, step.among) for step in made.steps] == [(9, 10), (8, 9), (7, 7)]
    found.apply(told("ann undo #3", first=5))
    assert trail(found).since == 3


def test_a_record_read_long_after_its_offer_counts_with_what_was_unread_at_the_offer() -> None:
    late = event(4, "decide", record=4, label=Label.EXCLUDE, chosen=Chosen.RANKED, place=0, unread=10)
    found = State.of(review(), records(10), [*told("ann in 1", "ann out 2", "ann out 3"), late])
    assert trail(found).steps[3].among == 10


def test_one_miss_counts_less_the_more_it_was_chosen_from() -> None:
    first = [Read(Chosen.PRIOR, True, 101, place=-1)] * 1
    misses = [Read(Chosen.RANDOM, False, 100 - n) for n in range(60)]
    more = [replace(step, among=2 * step.unread) for step in misses]
    bound = RankAdvantage(0.7, 0.8, 1.0).verdict(Trail(101, first + misses)).missing
    weaker = RankAdvantage(0.7, 0.8, 1.0).verdict(Trail(101, first + more)).missing
    assert bound is not None and weaker is not None
    assert bound < weaker


def test_places_without_anything_to_read_are_misses_of_the_audit() -> None:
    def needed(gone: frozenset[int]) -> int:
        evidence, count = FreeEvidence(0.95, 0.95), Count(200)
        for n in range(40):
            step = Read(Chosen.RANKED, True, 200 - n)
            evidence.see(step, count)
            count.see(step)
        evidence.begin_audit(160, count, 40, gone)
        return evidence.audits_needed(count)

    assert needed(frozenset({0, 1, 2})) == needed(frozenset()) - 3


# --- the order that was drawn


def test_what_is_found_elsewhere_after_the_order_was_drawn_does_not_lower_its_thresholds() -> None:
    found = State.of(review(), records(30), told("ann in 1", "ann audit 5"))
    new = [PoolRecord(number, f"Title {number}", "An abstract.") for number in range(31, 41)]
    found.apply(told("- add 10", first=3), new)
    found.apply(told(*(f"ann in {number}" for number in range(31, 41)), first=4))
    made = trail(found)
    assert (made.audit_from, made.audit_size, made.audit_found) == (11, 29, 1)
    evidence, count = FreeEvidence(0.8, 0.8), Count(40)
    for step in made.steps:
        evidence.see(step, count)
        count.see(step)
    evidence.begin_audit(made.audit_size, count, made.audit_found)
    free = FreeEvidence(0.8, 0.8)
    free.begin_audit(made.audit_size, count)
    assert evidence.audits_needed(count) > free.audits_needed(count)


def test_the_bound_counts_what_was_found_elsewhere() -> None:
    steps = [Read(Chosen.PRIOR, True, 40 - n) for n in range(10)]
    steps += [Read(Chosen.AUDIT, False, 30 - n, place=n) for n in range(29)]
    verdict = DistributionFree(0.8, 0.8).verdict(Trail(40, steps, 10, 30, audit_found=1))
    assert verdict.stop
    assert verdict.missing == 0


def test_a_label_that_a_file_brings_for_an_audited_record_counts_at_its_place() -> None:
    found = State.of(review(), records(10), told("ann in 1", "ann audit 5"))
    order = found.audit_order()
    found.apply(told("- add 1", first=3), [PoolRecord(11, "T", "A", twin=order[3], label=Label.INCLUDE)])
    made = trail(found)
    assert found.audit_order() == order
    assert {step.place: step.relevant for step in made.steps if step.place >= 0} == {3: True}


# --- what is taken back


def test_taking_back_the_first_of_two_decisions_begins_the_evidence_anew() -> None:
    lines = ("ann out 1 by:random", "ann out 2 by:random", "ann in 1 by:manual", "ann out 3 by:random", "ann undo #1")
    found = State.of(review(), records(10), told(*lines))
    assert [step.group for step in found.track().steps] == [2, 1, 3]
    assert found.grew[Stage.ABSTRACT, ""] == 5


def test_a_random_draw_that_is_passed_by_or_taken_back_comes_again() -> None:
    reading = Reading(np.zeros(50, bool), 3)
    drawn = reading.draw()
    other = next(group for group in reading.state.unread() if group != drawn)
    reading.decide(other, Chosen.MANUAL)
    assert reading.draw() == drawn
    reading.put("undo", undoes=reading.decide(drawn, Chosen.RANDOM) and reading.state.last_event)
    assert reading.draw() == drawn
    reading.put("decide", record=drawn, label=Label.LATER, chosen=Chosen.RANDOM)
    assert reading.draw() != drawn  # it counts as drawn, and as if it were relevant


def test_random_draws_are_drawn_anew_from_a_pool_that_grew() -> None:
    """Else what came later would come first: what is left of the old has its place behind what was read."""
    reading = Reading(np.zeros(100, bool), 3)
    for _ in range(50):
        reading.decide(reading.draw(), Chosen.RANDOM)
    new = [PoolRecord(number, f"Title {number}", "An abstract.") for number in range(101, 201)]
    reading.state.apply([event(reading.state.last_event + 1, "add", detail=ADDED % 100)], new)
    reading.relevant = np.zeros(200, bool)
    drawn = []
    for _ in range(30):
        drawn.append(reading.draw())
        reading.decide(drawn[-1], Chosen.RANDOM)
    assert sum(number <= 100 for number in drawn) >= 4


# --- places in the ranking


def test_a_place_that_there_is_not_does_not_stop_the_rules() -> None:
    odd = event(2, "decide", record=4, label=Label.INCLUDE, chosen=Chosen.RANDOM, place=39, unread=29)
    found = State.of(review(), records(10), [*told("ann in 1"), odd])
    assert trail(found).steps[1].rank == -1
    assert Follower(RankAdvantage(), Stage.ABSTRACT).verdict(found).found == 2


def test_repeats_have_no_place_of_their_own() -> None:
    places = np.arange(10)
    order = SimpleNamespace(
        ranking=SimpleNamespace(order=places, relevance_order=places),
        place_of=places, is_random=False, ranks=lambda index: index < 10,
    )  # fmt: skip
    found = State.of(review(), records(10), told("ann twin 3 2", "ann twin 4 2", "ann out 1"))
    choice = offers.choose(found, Stage.ABSTRACT, "ann", mode="ranked", order=order)  # type: ignore[arg-type]
    assert choice is not None
    assert (choice.group, choice.chosen, choice.place, choice.unread) == (2, Chosen.RANKED, 0, 7)
    assert offers.placed(found, Stage.ABSTRACT, "ann", order, 10) == (6, 7)  # type: ignore[arg-type]


def test_what_the_order_does_not_rank_is_no_evidence_of_the_ranking() -> None:
    order = SimpleNamespace(
        ranking=SimpleNamespace(order=np.arange(1), relevance_order=np.arange(1)),
        place_of=np.arange(1), is_random=False, ranks=lambda index: index < 1,
    )  # fmt: skip
    found = State.of(review(), records(3), told("ann in 1"))
    choice = offers.choose(found, Stage.ABSTRACT, "ann", mode="ranked", order=order)  # type: ignore[arg-type]
    assert choice is not None
    assert (choice.group, choice.chosen) == (2, Chosen.MANUAL)


# --- what the methods sentence says


def methods(found: State) -> str:
    report = reports.report_of(DistributionFree().verdict(trail(found)))
    return reports.methods(found, report, Stage.ABSTRACT)


def test_methods_say_that_evidence_began_anew() -> None:
    found = State.of(review(), records(10), told("ann out 1 by:random", "ann in 2 by:random"))
    assert "anew" not in methods(found)
    found.apply(told("ann undo #1", first=3))
    assert "More became unread once while reading went on" in methods(found)
    found.apply(told("- add 1", first=4), [PoolRecord(11, "T", "A")])
    assert "More became unread 2 times while reading went on" in methods(found)
    assert "an error of up to 5 % of its own" in methods(found)
    found.apply(told(*(f"ann out {number}" for number in (1, *range(3, 12))), first=5))
    assert "anew" not in methods(found)  # everything has been read: nothing is left to chance


def test_a_plan_that_was_changed_after_looking_is_told_though_all_was_taken_back() -> None:
    changed = plan_to_json(Plan(stopping=StoppingPlan(advantage=6.0)))
    found = State.of(review(), records(10), told("ann in 1", "ann out 2", "ann undo #2", "ann undo #1"))
    found.apply([event(5, "plan", detail=changed)])
    assert "changed after 2 records had been read" in methods(found)


def test_labels_given_as_known_after_reading_had_begun_are_told() -> None:
    found = State.of(review(), records(10), told("ann prior-in 1", "ann out 2", "ann out 3"))
    assert "1 label was known beforehand." in methods(found)
    found.apply(told("ann prior-in 4", first=4))
    assert "2 labels were known beforehand (1 given after reading had begun)." in methods(found)


def test_a_joint_rule_hears_of_the_audit_what_its_parts_hear() -> None:
    steps = [Read(Chosen.PRIOR, True, 40 - n) for n in range(10)]
    steps += [Read(Chosen.AUDIT, False, 30 - n, place=n) for n in range(25)]
    made = Trail(40, steps, 10, 30, audit_found=1, audit_gone=frozenset({25, 26, 27}))
    alone, joint = DistributionFree(0.8, 0.8), AllOf((DistributionFree(0.8, 0.8), TwoPhase(0.8, 0.8)))
    assert joint.verdict(made).missing == alone.verdict(made).missing


def test_another_seed_after_looking_is_told() -> None:
    found = State.of(review(), records(10), told("ann in 1", "ann out 2"))
    found.apply([event(3, "plan", detail=plan_to_json(Plan(seed=7)))])
    assert "the plan of stopping or its seed was changed after 2 records had been read" in methods(found)
