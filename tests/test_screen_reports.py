"""What stopping rules are told of a review, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.learn.trail import Step
from broadsheet.model.screening import (
    STOPPING_RULES,
    Chosen,
    Criterion,
    CurvePoint,
    GuaranteeClass,
    Label,
    Plan,
    PoolRecord,
    ReviewEvent,
    Sharing,
    Stage,
    StoppingPlan,
)
from broadsheet.screen import check_event, check_plan
from broadsheet.screen.follower import Follower
from broadsheet.screen.reports import Counts, compared, methods, report_of
from broadsheet.screen.state import State
from broadsheet.screen.trail import stopper_of, trail
from broadsheet.store import plan_to_json
from tests.screen_makers import BLINDED, event, records, review, told
from tests.test_screen_state import ACTS, PLANS, POOL, happened

IN, OUT = Label.INCLUDE, Label.EXCLUDE


def state(*lines: str, plan: Plan | None = None, pool: Sequence[PoolRecord] | None = None) -> State:
    return State.of(review(plan), pool or records(10), told(*lines))


def seen(found: State, screener: str = "") -> list[str]:
    """Steps as words: chosen, label, unread before, place in the audit's order."""
    words = {True: "in", False: "out", None: "?"}
    return [f"{s.chosen} {words[s.relevant]} {s.unread} {s.place}" for s in trail(found, screener=screener).steps]


# --- trails


def test_steps_count_groups_once_and_those_without_a_label_stay_unread() -> None:
    found = state(
        "ann in 1", "ann later 2", "ann out 3", "bo in 6", pool=records(10, twins={6: 1, 10: 9}, labels={4: OUT})
    )
    assert seen(found) == ["prior out 8 -1", "ranked in 7 -1", "ranked ? 6 -1", "ranked out 6 -1"]
    made = trail(found)
    assert (made.records, made.audit_from, made.audit_size) == (8, None, 0)


def test_the_place_in_the_ranking_is_told_where_it_is_known() -> None:
    events = [replace(told("ann in 1 by:audit")[0], place=4, unread=10), *told("ann in 2", first=2)]
    made = trail(State.of(review(), records(10), events))
    assert [step.rank for step in made.steps] == [4, -1]


def test_an_audit_and_what_is_read_of_it_by_whatever_way() -> None:
    found = state("ann in 1", "ann later 2", "ann audit 7")
    order = found.audit_order()
    places = [place for place, group in enumerate(order) if group != 2]
    one, other, last = places[0], places[1], places[5]
    lines = [f"ann out {order[one]} by:audit", f"ann in {order[last]}", f"ann out {order[other]} by:audit"]
    found.apply(told(*lines, first=4))
    made = trail(found)
    assert (made.audit_from, made.audit_size) == (2, 9)
    assert seen(found)[2:] == [f"audit out 9 {one}", f"ranked in 8 {last}", f"audit out 7 {other}"]
    found.apply(told("ann out 2 by:audit", first=7))  # what was put off stands where it was first put before ann
    assert seen(found)[1] == f"ranked out 9 {order.index(2)}"
    assert trail(found).audit_from == 2


def test_what_is_read_outside_of_the_audits_order_counts_as_known_before() -> None:
    pool = records(12)
    found = State.of(review(), pool[:10], told("ann in 1", "ann audit 7"))
    first = found.audit_order()[0]
    found.apply(told(f"ann out {first} by:audit", "- add 2", first=3), pool[10:])
    assert trail(found).audit_from is None  # the added ones are unread and not in the order
    found.apply(told("ann in 11", "ann out 12", f"ann out {found.audit_order()[1]} by:audit", first=5))
    made = trail(found)
    assert (made.records, made.audit_from, made.audit_size) == (12, 3, 9)
    assert seen(found) == [
        "prior in 12 -1",  # 11 and 12
        "prior out 11 -1",
        "ranked in 10 -1",
        "audit out 9 0",
        "audit out 8 1",
    ]
    assert made.since == 4  # what was read before the pool grew is no evidence about this pool, but by its place


def test_blinded_screeners_have_trails_of_their_own() -> None:
    found = state("ann in 1", "bo out 1", "bo in 2", "ann in 2", "ann out 3", plan=BLINDED)
    # The whole is read in nobody's order: what one ranking put first became final where another one led.
    assert seen(found) == ["manual ? 10 -1", "manual in 10 -1"]
    assert seen(found, "ann") == ["ranked in 10 -1", "ranked in 9 -1", "ranked out 8 -1"]
    assert seen(found, "bo") == ["ranked out 10 -1", "ranked in 9 -1"]
    assert [step.captures for step in trail(found).steps] == [1, 2]


def test_a_blinded_review_as_a_whole_counts_the_places_of_the_one_audit() -> None:
    found = state("ann prior-in 1", "ann audit 3", plan=BLINDED)
    first, second = found.audit_order()[:2]
    lines = [f"{name} out {number} by:audit" for number in (first, second) for name in ("ann", "bo")]
    found.apply(told(*lines, first=3))
    assert seen(found) == ["prior in 10 -1", "manual out 9 0", "manual out 8 1"]
    assert seen(found, "bo") == ["prior in 10 -1", "audit out 9 0", "audit out 8 1"]


def test_an_audit_read_that_is_not_the_next_is_no_random_draw() -> None:
    found = state("ann in 1", "ann audit 7")
    first, second, third = found.audit_order()[:3]
    found.apply(told(f"bo out {second} by:audit", f"ann out {first} by:audit", f"bo out {third} by:audit", first=3))
    assert seen(found)[1:] == ["manual out 9 1", "audit out 8 0", "audit out 7 2"]


def test_an_audit_that_does_not_cover_is_no_evidence() -> None:
    found = state("ann in 1", "ann in 2", "ann audit 7")
    found.apply(told(f"ann out {found.audit_order()[0]} by:audit", "ann undo #1", first=4))
    assert seen(found) == ["ranked in 10 -1", "audit out 9 -1"]
    assert (trail(found).audit_from, trail(found).since) == (None, 2)


def test_a_place_in_a_ranking_of_more_than_are_unread_now() -> None:
    events = [replace(told("ann in 3 by:random")[0], place=9, unread=10), *told("ann twin 4 5", first=2)]
    found = State.of(review(), records(10), events)
    assert [(step.rank, step.ranked, step.unread) for step in trail(found).steps] == [(9, 10, 9)]
    assert stopper_of(StoppingPlan()).verdict(trail(found)).found == 1


def test_decisions_of_two_screeners_that_cross() -> None:
    """Two see an offer of 199 unread records each; one decides first."""
    lines = [told("bo out 2")[0], told("ann in 3 by:random", first=2)[0]]
    events = [replace(lines[0], place=0, unread=199), replace(lines[1], place=198, unread=199)]
    found = State.of(review(), records(199), events)
    assert stopper_of(StoppingPlan()).verdict(trail(found)).found == 1


def test_includes_that_are_taken_back_after_an_audit_leave_no_evidence() -> None:
    plan = StoppingPlan(rule="distribution-free")
    found = state(*[f"ann in {n}" for n in range(1, 101)], "ann audit 1", pool=records(1000))
    lines = [f"ann out {number} by:audit" for number in found.audit_order()[:300]]
    found.apply(told(*lines, first=102))
    before = stopper_of(plan).verdict(trail(found))
    assert before.missing is not None
    assert before.missing < 60
    found.apply(told(*[f"ann undo #{number}" for number in range(1, 61)], first=402))
    after = stopper_of(plan).verdict(trail(found))
    assert after.missing == len(found.unread())  # the 60 may be relevant, and so may all others


def test_what_an_audit_refuted_stays_refuted_when_the_pool_grows() -> None:
    pool = records(301)
    found = State.of(review(), pool[:300], told("ann in 1", "ann audit 2"))
    lines = [told(f"ann in {number} by:audit", first=3 + n)[0] for n, number in enumerate(found.audit_order()[:12])]
    reads = [replace(line, place=250, unread=299 - n) for n, line in enumerate(lines)]
    found.apply(reads)
    assert stopper_of(StoppingPlan()).verdict(trail(found)).refuted
    before = [*told("ann in 1", "ann audit 2"), *reads]
    more = State.of(review(), pool[:300], before)
    more.apply(told("- add 1", first=15), pool[300:])
    undone = State.of(review(), pool[:300], [*before, *told("ann undo #5", first=15)])
    for grown in (more, undone):
        assert grown.grew
        assert stopper_of(StoppingPlan()).verdict(trail(grown)).refuted


def test_an_audits_prefix_holds_when_a_decision_within_it_is_taken_back() -> None:
    plan = StoppingPlan(rule="distribution-free")
    found = state(*[f"ann in {n}" for n in range(1, 101)], "ann audit 1", pool=records(1000))
    found.apply(told(*[f"ann out {number} by:audit" for number in found.audit_order()[:400]], first=102))
    before = stopper_of(plan).verdict(trail(found))
    assert before.stop
    found.apply(told("ann undo #130", first=502))  # the 29th of the order
    assert trail(found).since == 499
    blocked = stopper_of(plan).verdict(trail(found))
    assert not blocked.stop
    found.apply(told(f"ann out {found.audit_order()[28]} by:audit", first=503))
    again = stopper_of(plan).verdict(trail(found))
    assert (again.stop, again.missing) == (True, before.missing)


RULES = (
    "rank-advantage",
    "distribution-free",
    "irrelevant-in-a-row",
    "chao",
    "hypergeometric",
    "rank-advantage or chao",
)


@given(PLANS, st.lists(ACTS, max_size=14), st.sampled_from(RULES))
@settings(max_examples=150, deadline=None)
def test_a_rule_that_follows_says_what_it_says_of_the_whole(
    plan: Plan, acts: list[tuple[object, ...]], rule: str
) -> None:
    stopper = stopper_of(StoppingPlan(rule=rule))
    found = State.of(review(plan), POOL)
    followers = {view: Follower(stopper, Stage.ABSTRACT, view) for view in found.views()}
    for one in happened(acts):
        found.apply([one])
        for view, follower in followers.items():
            assert follower.verdict(found) == stopper.verdict(trail(found, screener=view))


def test_a_long_review_followed_through_an_audit() -> None:
    stopper = stopper_of(StoppingPlan(rule="distribution-free", target=0.8))
    found = State.of(review(), records(120))
    follower = Follower(stopper, Stage.ABSTRACT)
    lines = [f"ann {'in' if n <= 8 else 'out'} {n}" for n in range(1, 41)]
    for one in told(*lines, "ann audit 3"):
        found.apply([one])
        assert follower.verdict(found) == stopper.verdict(trail(found))
    for number in found.audit_order():
        found.apply(told(f"ann out {number} by:audit", first=found.last_event + 1))
        assert follower.verdict(found) == stopper.verdict(trail(found))
        if follower.verdict(found).stop:
            break
    assert follower.verdict(found).stop
    assert found.unread()  # before everything was read


# --- reports


def report(found: State, stage: Stage = Stage.ABSTRACT, screener: str = ""):  # type: ignore[no-untyped-def]
    return report_of(stopper_of(found.review.plan.stopping).verdict(trail(found, stage, screener)))


def said(found: State, **more: str) -> str:
    return methods(found, report(found), Stage.ABSTRACT, **more)


def test_the_methods_sentences() -> None:
    pool = records(30, twins={30: 1}, labels={29: IN})
    found = state("ann in 1", "bo out 2", "ann audit 4", pool=pool)
    found.apply(told(f"ann out {found.audit_order()[0]} by:audit", first=4))
    text = said(found, software="Broadsheet 1.2", model="default/tfidf@4")
    for sentence in (
        "We screened the titles and abstracts of 4 of 29 records after 1 duplicate was removed.",
        "1 label was known beforehand.",
        "The order of reading was that of a model (default/tfidf) which learned from each decision (Broadsheet 1.2).",
        "1 record was read in random order instead.",
        "with a target recall of 95 % at 95 % confidence, declared before screening began.",
        f"taken to be at least {StoppingPlan().advantage:g} times better than random",
        "Nothing can be ruled out yet: any of the 25 unread records may be relevant.",
        "2 records were included, and 25 records were left unread.",
    ):
        assert sentence in text


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("lines", [[], ["ann out 1"], [f"ann out {n}" for n in range(1, 11)]])
def test_with_nothing_found_no_estimate_is_possible_and_never_is_it_safe(rule: str, lines: list[str]) -> None:
    found = state(*lines, plan=Plan(stopping=StoppingPlan(rule=rule)))
    text = said(found)
    assert "no estimate of recall is possible" in text
    for words in (text, report(found).sentence):
        assert "safe" not in words.lower()
    assert report(found).recall is None


def test_a_plan_that_was_changed_after_looking_is_said() -> None:
    other = replace(Plan(), stopping=StoppingPlan(target=0.9))
    same = replace(other, question="Another question?")
    found = state("ann in 1", "ann out 2")
    found.apply([event(3, "plan", detail=plan_to_json(other)), event(4, "plan", detail=plan_to_json(same))])
    assert (
        "target recall of 90 % at 95 % confidence; the plan of stopping was changed after 2 records had been read."
        in said(found)
    )
    found.apply([event(5, "plan", detail=plan_to_json(Plan()))])
    assert "changed after 2 records had been read (2 changes in all)." in said(found)


def test_a_plan_that_was_changed_before_anything_was_read_was_declared_before() -> None:
    other = replace(Plan(), stopping=StoppingPlan(target=0.9))
    found = State.of(review(), records(3), [event(1, "plan", detail=plan_to_json(other)), *told("ann in 1", first=2)])
    assert "declared before screening began" in said(found)


@pytest.mark.parametrize("rule", STOPPING_RULES)
def test_every_rule_is_explained(rule: str) -> None:
    found = state("ann in 1", plan=Plan(stopping=StoppingPlan(rule=rule, budget=9)))
    assert f"“{rule}” (" in said(found)


def test_rules_of_thumb_are_called_so() -> None:
    found = state("ann in 1", "ann out 2", plan=Plan(stopping=StoppingPlan(rule="irrelevant-in-a-row", in_a_row=7)))
    assert report(found).guarantee is GuaranteeClass.NONE
    assert "7 irrelevant records in a row, a rule of thumb" in said(found)
    assert "confidence" not in said(found)


def test_the_estimate_of_the_ranking_is_said_with_its_uncertainty() -> None:
    found = state("ann in 1", "ann audit 2", pool=records(300))
    lines = [told(f"ann in {number} by:audit", first=3 + n)[0] for n, number in enumerate(found.audit_order()[:3])]
    found.apply([replace(line, place=20 + n, unread=299 - n) for n, line in enumerate(lines)])
    made = report(found)
    assert made.advantage is not None
    assert made.advantage_interval is not None
    low, high = made.advantage_interval
    assert low < made.advantage < high
    assert f"about {made.advantage:.1f} times better than random (95 %: {low:.1f} to {high:.1f})." in said(found)
    assert "better than random (95 %" not in said(state("ann in 1"))


def test_several_screeners_are_said() -> None:
    assert "2 screeners decided, independently of each other." in said(state("ann in 1", plan=BLINDED))
    shared = replace(BLINDED, sharing=Sharing.SHARED)
    assert "2 screeners decided, sharing the records." in said(state("ann in 1", plan=shared))


def test_the_rules_beside_the_declared_one_have_its_target() -> None:
    others = compared(StoppingPlan(rule="distribution-free", target=0.8))
    assert [plan.rule for plan in others] == ["irrelevant-in-a-row", "chao", "hypergeometric"]
    assert {plan.target for plan in others} == {0.8}


def points_of(found: State) -> tuple[CurvePoint, ...]:
    follower = Follower(stopper_of(found.review.plan.stopping), Stage.ABSTRACT)
    follower.verdict(found)
    return follower.curve()


def test_the_curve_is_the_bound_after_each_step() -> None:
    lines = [f"ann {'in' if n in (1, 2, 5) else 'out'} {n}" for n in range(1, 10)]
    points = points_of(state(*lines))
    assert [(point.read, point.found) for point in points][:5] == [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3)]
    assert [point.recall for point in points] == [report(state(*lines[:n])).recall for n in range(1, 10)]
    assert points_of(state()) == ()
    many = [f"ann {'in' if n == 1 else 'out'} {n}" for n in range(1, 1001)]
    assert 100 <= len(points_of(state(*many, pool=records(1200)))) <= 400


def test_a_rule_goes_on_from_before_a_correction() -> None:
    """A long review with corrections, taken back decisions and an audit: as if it were read from the beginning."""
    stopper = stopper_of(StoppingPlan(target=0.9))
    found = State.of(review(), records(400))
    follower = Follower(stopper, Stage.ABSTRACT)
    behind = []
    for number in range(1, 231):
        lines = [f"ann {'in' if number % 9 == 0 else 'out'} {number}"]
        if number in (100, 160, 161):
            lines = [f"ann out {number - 60}"]  # of a relevant one, here and there
        if number in (120, 200):
            lines = [f"ann undo #{number - 1}"]
        if number == 170:
            lines = ["ann audit 3"]
        found.apply(told(*lines, first=number))
        behind.append(follower.update(found))
        assert follower.verdict(found) == stopper.verdict(trail(found))
    assert follower.curve()[-1].recall == follower.verdict(found).recall
    assert max(behind[:99]) == 1
    assert behind[119] <= 17  # an undo of the last decision
    assert behind[159] <= 130
    assert behind[169] <= 33  # an audit begins


def test_counts_are_of_groups_with_a_final_label() -> None:
    found = state("ann in 1", "ann later 2", "ann out 3 by:random", pool=records(10, twins={10: 9}, labels={4: IN}))
    assert Counts.of(found, Stage.ABSTRACT) == Counts(9, 1, 3, 2, 1, 1)
    assert Counts.of(found, Stage.FULL_TEXT) == Counts(2, 0, 0, 0, 0, 0)


# --- what is refused (field case G11 and others)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        *(
            (StoppingPlan(target=value), "target recall must lie between 0 and 1")
            for value in (0, 1, 1.2, -1, float("nan"))
        ),
        *((StoppingPlan(confidence=value), "confidence must lie between 0 and 1") for value in (0, 1, 1.2, True)),
        (StoppingPlan(floor=1), "floor must lie between"),
        (StoppingPlan(floor=0.96), "floor"),
        (StoppingPlan(advantage=0.5), "advantage of the ranking must be 1 or more"),
        (StoppingPlan(advantage=float("inf")), "advantage"),
        (StoppingPlan(in_a_row=0), "in a row must be 1 or more"),
        (StoppingPlan(in_a_row=-2), "in a row must be 1 or more"),
        (StoppingPlan(budget=-1), "budget must be 0 records or more"),
        (StoppingPlan(rule="budget"), "this stopping rule cannot be: a budget must be 1 record or more"),
        (StoppingPlan(rule="gut feeling"), "this stopping rule cannot be: there is no stopping rule 'gut feeling'"),
    ],
)
def test_stopping_plans_that_cannot_be(plan: StoppingPlan, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_plan(Plan(stopping=plan))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(criteria=(Criterion("a", "x"), Criterion("a", "y"))), "the criterion “a” is there twice"),
        (Plan(criteria=(Criterion(" ", "x"),)), "1 to 40 printable characters"),
        (Plan(criteria=(Criterion("a" * 41, "x"),)), "1 to 40 printable characters"),
        (Plan(criteria=(Criterion("two words", "x"),)), "is not one word"),
        (Plan(criteria=(Criterion("a;b", "x"),)), "is not one word"),
        (Plan(seed=2**63), "seed: 9223372036854775808 is too large"),
        (Plan(stopping=StoppingPlan(budget=2**63)), "budget: .* is too large"),
        (Plan(stopping=StoppingPlan(in_a_row=2**63)), "in_a_row: .* is too large"),
        (Plan(criteria=(Criterion("a\n", "x"),)), "1 to 40 printable characters"),
        (Plan(criteria=(Criterion("not-retrieved", "x"),)), "is kept for reports that could not be had"),
        (Plan(criteria=(Criterion("a", " "),)), "“a” has no text; write CODE: text"),
        (Plan(screeners=("ann", "ann")), "each may be there once"),
        (Plan(screeners=("ann", "")), "must not be empty"),
        (Plan(sharing=Sharing.BLINDED), "blinded screening takes two screeners or more"),
        (Plan(sharing=Sharing.BLINDED, screeners=("ann",)), "blinded screening takes two screeners or more"),
        (Plan(seed=-1), "seed must be 0 or more"),
        (Plan(model="oracle"), "no screening model 'oracle'"),
        (Plan(querier="whim"), "no querier 'whim'"),
    ],
)
def test_plans_that_cannot_be(plan: Plan, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_plan(plan)


@pytest.mark.parametrize("rule", RULES)
def test_plans_that_can_be(rule: str) -> None:
    check_plan(Plan(stopping=StoppingPlan(rule=rule)))
    check_plan(BLINDED)


NAMED = replace(BLINDED, criteria=(Criterion("pop", "Wrong population"),))


def one(line: str, number: int = 9, **fields: object) -> ReviewEvent:
    return replace(told(line, first=number)[0], **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (one("ann in 99"), "has no record 99"),
        (one("cy in 1"), "“cy” is not a screener of the review “Statins”: it names ann, bo"),
        (one("ann in 1", label=None), "needs a label"),
        (one("ann out 1", reasons=("age",)), "there is no criterion “age”; there are not-retrieved, pop"),
        (one("ann in 1 full-text"), "was not included by title and abstract"),
        (one("ann resolve-in 5"), "record 5 is not in conflict"),
        (one("ann resolve-later 2"), "resolved by include or exclude"),
        (one("ann twin 1 1"), "cannot repeat itself"),
        (one("ann twin 1 99"), "has no record 99"),
        (one("ann twin 4 6"), "known to be the same already"),
        (one("cy twin 1 2"), "is not a screener"),
        (one("ann apart 1"), "nothing to take apart"),
        (one("ann undo #99"), "there is no event 99"),
        (one("ann undo #4"), "event 4 is taken back already"),
        (one("ann undo #6"), "event 6 \\(audit\\) cannot be taken back"),
        (one("ann undo #2"), "another screener's"),
    ],
)
def test_events_that_may_not_be(act: ReviewEvent, words: str) -> None:
    lines = [
        "ann in 2",
        "bo out 2",
        "ann twin 4 6",
        "ann in 5",
        "ann undo #4",
        "ann audit 5",
        "bo undo #3",
        "bo undo #7",
    ]
    found = state(*lines, plan=NAMED)
    with pytest.raises(InputError, match=words):
        check_event(found, act)


@pytest.mark.parametrize(
    "act",
    [
        one("ann in 1"),
        one("ann out 1", reasons=("pop", "not-retrieved")),
        one("ann later 2"),
        one("cy resolve-in 2"),
        one("ann undo #1"),
        one("bo undo #3"),
        one("ann undo #4"),
        one("ann apart 6"),
        one("ann twin 1 2"),
        event(9, "stop", "cy", detail="{}"),
    ],
)
def test_events_that_may_be(act: ReviewEvent) -> None:
    found = state("ann in 2", "bo out 2", "ann twin 4 6", "ann in 5", plan=NAMED)
    check_event(found, act)


def test_what_was_chosen_by_hand_or_in_a_conflict_says_so() -> None:
    found = state("ann in 1", "bo resolve-out 2", plan=Plan())
    assert [step.chosen for step in trail(found).steps] == [Chosen.RANKED, Chosen.MANUAL]
    assert isinstance(trail(found).steps[0], Step)
