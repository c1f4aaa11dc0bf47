"""What stopping rules are told of a review."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.model.screening import (
    Label,
    Plan,
    Stage,
    StoppingPlan,
)
from broadsheet.screen.follower import Follower
from broadsheet.screen.state import State
from broadsheet.screen.trail import stopper_of, trail
from tests.screen_makers import BLINDED, records, review, seen, state, told
from tests.test_screen_fold import ACTS, PLANS, POOL, happened

IN, OUT = Label.INCLUDE, Label.EXCLUDE


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
