"""The desk at work: audits, the second stage, and what comes later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from broadsheet.model.screening import (
    Chosen,
    Plan,
    ReviewEventKind,
    Stage,
)
from broadsheet.screen import Desk
from broadsheet.screen.offers import PUT_OFF, drawn
from broadsheet.store import plan_to_json
from tests.screen_desks import FREE, IN, LATER, OUT, decide, desk, pool, read, some
from tests.screen_makers import START, event, review, told

# --- random draws


def test_a_decision_on_a_draw_does_not_draw_again_and_the_next_one_does() -> None:
    """At 40,000 records a draw takes milliseconds."""
    at = desk(of=pool(60))
    offer = some(at.offer("ann", mode="random"))
    kept = at.state.last_draw
    assert drawn(at.state, Stage.ABSTRACT, "ann") == offer.record.number
    assert at.state.last_draw is kept
    decide(at, offer, OUT)
    following = some(at.offer("ann", mode="random"))
    assert following.record.number != offer.record.number and at.state.last_draw is not kept
    assert drawn(at.state, Stage.ABSTRACT, "bo") == following.record.number


# --- audits


def test_an_audit_begins_when_the_rule_wants_it_and_ends_with_a_stop() -> None:
    at = desk("ann in 5", plan=FREE, of=pool(160))
    events = read(at, 160)
    begun = next(one for one in events if one.kind is ReviewEventKind.AUDIT)
    after = [one for one in events if one.id > begun.id]
    assert (begun.screener, begun.detail.startswith('{"seed":')) == ("ann", True)
    assert Chosen.AUDIT in {one.chosen for one in after}
    order = at.state.audit_order()
    audited = [order.index(one.record) for one in after if one.chosen is Chosen.AUDIT]
    assert audited == sorted(audited)
    assert all(0 <= one.place < one.unread for one in after if one.chosen is Chosen.AUDIT)


def test_an_audit_is_not_begun_again_and_reading_goes_on_after_a_stop() -> None:
    at = desk("ann in 5", plan=FREE, of=pool(160))
    stopped = False
    audits = 0
    while not stopped:
        audits += sum(one.kind is ReviewEventKind.AUDIT for one in read(at, 1))
        stopped = at.progress().report.stop
    assert audits == 1
    assert at.state.unread()
    assert at.progress().report.wants == ""
    assert some(at.offer("ann")).chosen is Chosen.RANKED


def audited(*lines: str) -> Desk:
    at = desk("ann in 5", *lines, plan=FREE, of=pool(60))
    begun = at.due("ann", Stage.ABSTRACT, START, "audit")
    assert begun is not None
    at.refresh([replace(begun, id=at.state.last_event + 1)])
    assert at.due("ann", Stage.ABSTRACT, START, "audit") is None
    return at


def test_audit_reads_go_by_the_order_and_skip_what_was_read() -> None:
    at = audited()
    order = at.state.audit_order()
    at.refresh(told(f"ann out {order[0]}", f"bo out {order[2]}", first=3))
    assert some(at.offer("ann", mode="audit")).record.number == order[1]
    decide(at, some(at.offer("ann", mode="audit")), OUT)
    assert some(at.offer("ann", mode="audit")).record.number == order[3]


def test_what_was_put_off_in_an_audit_comes_again_after_a_while() -> None:
    at = audited()
    order = at.state.audit_order()
    decide(at, some(at.offer("ann", mode="audit")), LATER)
    for _ in range(PUT_OFF):
        offer = some(at.offer("ann", mode="audit"))
        assert offer.record.number != order[0]
        decide(at, offer, OUT)
    assert some(at.offer("ann", mode="audit")).record.number == order[0]


def test_few_records_outside_of_an_audits_order_are_read_and_many_begin_another() -> None:
    at = audited("ann out 1")
    at.refresh(told("ann undo #2", first=4))
    assert at.due("ann", Stage.ABSTRACT, START, "audit") is None
    offer = some(at.offer("ann", mode="audit"))
    assert (offer.record.number, offer.chosen) == (1, Chosen.MANUAL)
    at.refresh(told("- add 51", first=5), pool(111)[60:])
    assert at.due("ann", Stage.ABSTRACT, START, "audit") is not None


def test_the_seed_of_an_audit_follows_from_what_has_happened() -> None:
    begun = [
        desk("ann in 5", plan=replace(FREE, seed=seed)).due("ann", Stage.ABSTRACT, START, "audit") for seed in (0, 0, 1)
    ]
    later = desk("ann in 5", "ann out 1", plan=FREE).due("ann", Stage.ABSTRACT, START, "audit")
    details = [one.detail if one else "" for one in (*begun, later)]
    assert details[0] == details[1]
    assert len(set(details)) == 3


# --- the second stage


def test_the_second_stage_has_what_the_first_included_and_learns_from_both() -> None:
    at = desk("ann in 5", "ann out 1", "ann in 13", "ann in 21", "ann in 29", "ann in 37")
    first = some(at.offer("ann", Stage.FULL_TEXT))
    assert first.record.number in (5, 13, 21, 29, 37)
    assert first.unread in (0, 5)
    decide(at, first, IN, stage=Stage.FULL_TEXT)
    second = some(at.offer("ann", Stage.FULL_TEXT))
    assert (second.chosen, second.unread) == (Chosen.RANKED, 4)
    progress = at.progress(stage=Stage.FULL_TEXT)
    assert (progress.records, progress.read, progress.found, progress.repeats) == (5, 1, 1, 0)


# --- plans, vectors and records that come later


def test_records_that_come_later_are_learned_and_offered() -> None:
    at = desk("ann in 5", "ann out 1", of=pool(40)[:24])
    at.offer("ann")
    at.refresh(told("- add 16", first=3), pool(40)[24:])
    found = read(at, 4)
    assert [one.label for one in found] == [IN] * 4
    assert any(one.record > 24 for one in found)
    assert found[0].unread == 38


def test_a_change_of_the_question_is_learned_from() -> None:
    at = desk(plan=Plan(question="peat"))
    assert "peat" in some(at.offer("ann")).record.title
    at.refresh([event(1, "plan", detail=plan_to_json(Plan(question="silt")))])
    assert "silt" in some(at.offer("ann")).record.title


def test_vectors_may_come_later() -> None:
    draws = np.random.default_rng(1)
    relevant = frozenset(range(5, 41, 8))
    vectors = draws.normal(size=(40, 8)).astype(np.float32)
    vectors[[number - 1 for number in relevant]] += 3
    at = desk("ann in 5", "ann out 1")
    assert some(at.offer("ann")).model == "default.2/tfidf@2"
    at.set_vectors(vectors, "e5-small")
    assert some(at.offer("ann")).model == "default.2/tfidf+e5-small@2"
    at.refresh(told("- add 1", first=3), [pool(41)[40]])
    assert some(at.offer("ann")).model == "default.2/tfidf@3"  # vectors of fewer records are of no use


def test_the_same_events_give_the_same_offers() -> None:
    one, other = desk("ann in 5", plan=FREE, of=pool(80)), desk("ann in 5", plan=FREE, of=pool(80))
    first = read(one, 60)
    again = Desk(review(FREE), pool(80), [*told("ann in 5"), *first[:30]], background=False)
    assert read(other, 60) == first
    assert read(again, 60)[: len(first) - 30] == first[30:]
