"""The desk at work: what is offered next and how it says it was chosen, learning in the background, and progress."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from broadsheet.errors import InputError
from broadsheet.model.screening import (
    Chosen,
    Label,
    Offer,
    Plan,
    PoolRecord,
    Review,
    ReviewEvent,
    ReviewEventKind,
    Stage,
    StoppingPlan,
)
from broadsheet.screen import Desk
from broadsheet.screen.offers import PUT_OFF
from broadsheet.store import plan_to_json
from tests.screen_makers import BLINDED, START, event, records, review, told

IN, OUT, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
FREE = Plan(stopping=StoppingPlan(rule="distribution-free", target=0.8))


def pool(count: int, relevant: frozenset[int] | None = None) -> list[PoolRecord]:
    """Records about statins where they are relevant and about soil where they are not."""
    relevant = frozenset(range(5, count + 1, 8)) if relevant is None else relevant
    words = ("moss", "clay", "sand", "peat", "loam", "silt", "rock")
    made = []
    for record in records(count):
        word = words[record.number % 7]
        about = (
            f"Statins lower cholesterol, {word} trial" if record.number in relevant else f"The soil of {word} fields"
        )
        made.append(replace(record, title=about, abstract=f"We studied {about.lower()} in {record.number} plots."))
    return made


def is_relevant(record: PoolRecord) -> bool:
    return "Statins" in record.title


def desk(*lines: str, plan: Plan | None = None, of: list[PoolRecord] | None = None) -> Desk:
    return Desk(review(plan), of or pool(40), told(*lines), background=False)


def decide(at: Desk, offer: Offer, label: Label, screener: str = "ann", stage: Stage = Stage.ABSTRACT) -> ReviewEvent:
    made = event(
        at.state.last_event + 1,
        "decide",
        screener,
        record=offer.record.number,
        label=label,
        chosen=offer.chosen,
        model=offer.model,
        place=offer.place,
        unread=offer.unread,
        stage=stage,
    )
    at.check(made)
    at.refresh([made])
    return made


def read(at: Desk, count: int, screener: str = "ann") -> list[ReviewEvent]:
    """Reads as the desk wants it and decides by what is true; gives the events."""
    events = []
    for _ in range(count):
        begun = at.due(screener, Stage.ABSTRACT, START)
        if begun is not None:
            events.append(replace(begun, id=at.state.last_event + 1))
            at.refresh(events[-1:])
        offer = at.offer(screener)
        if offer is None:
            break
        events.append(decide(at, offer, IN if is_relevant(offer.record) else OUT, screener))
    return events


def some(offer: Offer | None) -> Offer:
    assert offer is not None
    return offer


# --- what is offered


def test_with_nothing_known_records_are_drawn_at_random() -> None:
    first = some(desk().offer("ann"))
    assert (first.chosen, first.model, first.place, first.unread) == (Chosen.RANDOM, "", 0, 0)
    assert first == desk().offer("ann")  # the same until something happens
    drawn = {some(desk(plan=Plan(seed=seed)).offer("ann")).record.number for seed in range(40)}
    assert len(drawn) > 15


def test_a_description_ranks_before_anything_is_known() -> None:
    offer = some(desk(plan=Plan(question="Do statins lower cholesterol?")).offer("ann"))
    assert offer.chosen is Chosen.RANKED
    assert is_relevant(offer.record)
    assert (offer.model, offer.place, offer.unread) == ("default/tfidf@0", 0, 40)


def test_labels_rank_what_is_unread() -> None:
    at = desk("ann in 5", "ann out 1")
    found = read(at, 4)
    assert [one.label for one in found] == [IN] * 4
    assert {one.chosen for one in found} == {Chosen.RANKED}
    assert [one.unread for one in found] == [38, 37, 36, 35]
    assert [one.model for one in found] == [f"default/tfidf@{n}" for n in (2, 3, 4, 5)]


def test_everything_is_read_at_last() -> None:
    at = desk("ann in 5", of=pool(12))
    read(at, 20)
    assert at.offer("ann") is None
    assert at.progress().phase == "done"


def test_repeats_are_not_offered() -> None:
    twins = [replace(record, twin=5) if record.number in (13, 21) else record for record in pool(24)]
    at = desk("ann in 13", of=twins)
    numbers = [one.record for one in read(at, 30) if one.kind is ReviewEventKind.DECIDE]
    assert sorted(numbers) == [n for n in range(1, 25) if n not in (5, 13, 21)]


def test_what_was_put_off_comes_last() -> None:
    at = desk("ann in 5", "ann out 1", of=pool(16))
    put_off = some(at.offer("ann"))
    decide(at, put_off, LATER)
    rest = [some(at.offer("ann")) for _ in range(13) if decide(at, some(at.offer("ann")), OUT)]
    assert put_off.record.number not in {offer.record.number for offer in rest[:-1]}
    assert some(at.offer("ann")).record == put_off.record


def test_records_that_others_have_before_them_come_last() -> None:
    at = desk("ann in 5", "ann out 1")
    first, second = some(at.offer("ann")), some(at.offer("bo"))
    assert first.record != second.record
    assert at.offer("ann") == first
    assert second.place == 1
    decide(at, second, OUT, "bo")
    assert some(at.offer("bo")).record not in (first.record, second.record)
    small = desk(of=pool(1))
    assert some(small.offer("ann")).record == some(small.offer("bo")).record  # there is no other


def test_a_draw_that_leaves_out_what_others_have_is_no_random_draw() -> None:
    at = desk()
    assert some(at.offer("ann", mode="random")).chosen is Chosen.RANDOM
    assert some(at.offer("bo", mode="random")).chosen is Chosen.MANUAL


def test_blinded_screeners_read_the_same_records_in_orders_of_their_own() -> None:
    at = desk("ann in 5", "ann out 1", "bo in 1", "bo out 5", plan=BLINDED)
    ann, bo = some(at.offer("ann")), some(at.offer("bo"))
    assert is_relevant(ann.record)
    assert not is_relevant(bo.record)
    before = at.offer("bo")
    decide(at, ann, IN, "ann")
    after = some(at.offer("bo"))
    assert before is not None
    assert (after.record, after.place, after.unread) == (before.record, before.place, before.unread)
    with pytest.raises(InputError, match="“cy” is not a screener"):
        at.offer("cy")
    with pytest.raises(InputError, match="“cy” is not a screener"):
        at.due("cy", Stage.ABSTRACT, START)


@pytest.mark.parametrize(
    ("mode", "chosen"), [("auto", Chosen.RANKED), ("ranked", Chosen.RANKED), ("random", Chosen.RANDOM)]
)
def test_modes(mode: str, chosen: Chosen) -> None:
    assert some(desk("ann in 5", "ann out 1").offer("ann", mode=mode)).chosen is chosen


def test_modes_that_cannot_be() -> None:
    at = desk("ann out 1")
    with pytest.raises(InputError, match="the mode must be one of auto, ranked, audit, random, not “best”"):
        at.offer("ann", mode="best")
    with pytest.raises(InputError, match="no audit has begun"):
        at.offer("ann", mode="audit")
    with pytest.raises(InputError, match="nothing has been found: include a record first"):
        at.due("ann", Stage.ABSTRACT, START, "audit")
    assert at.due("ann", Stage.ABSTRACT, START) is None


def test_random_draws_are_from_all_that_is_unread() -> None:
    drawn = set()
    for seed in range(60):
        at = desk("ann in 5", of=pool(6), plan=Plan(seed=seed))
        drawn.add(some(at.offer("ann", mode="random")).record.number)
    assert drawn == {1, 2, 3, 4, 6}


def test_what_was_put_off_is_drawn_when_nothing_else_is_left() -> None:
    at = desk("ann in 5", "ann later 1", "ann out 2", "ann out 3", "ann out 4", of=pool(6))
    assert some(at.offer("ann", mode="random")).record.number == 6
    at.refresh(told("ann out 6", first=6))
    offer = some(at.offer("ann", mode="random"))
    assert (offer.record.number, offer.chosen) == (1, Chosen.MANUAL)


def test_uncertain_records_are_not_called_ranked() -> None:
    lines = ["ann in 5", "ann in 13", "ann out 1", "ann out 2", "ann out 3"]
    offer = some(desk(*lines, plan=Plan(model="labels-only", querier="uncertainty")).offer("ann"))
    assert offer.place > 0
    assert offer.chosen is Chosen.MANUAL


def test_a_record_picked_by_hand() -> None:
    at = desk("ann in 5", "ann out 1", plan=Plan(terms=("soil",)))
    assert at.look(9).title_highlights[0].origin == "reader"
    at.offer("ann")
    offer = at.look(13)
    assert (offer.record.number, offer.chosen, offer.place) == (13, Chosen.MANUAL, 0)
    assert {span.origin for span in offer.title_highlights} == {"model"}
    with pytest.raises(InputError, match="has no record 99"):
        at.look(99)


def test_the_models_terms_and_the_deciding_sentence_are_shown() -> None:
    offer = some(desk("ann in 5", "ann out 1").offer("ann"))
    marked = {offer.record.title[span.start : span.end].lower() for span in offer.title_highlights}
    assert marked & {"statins", "cholesterol", "lower cholesterol", "statins lower"}
    assert any(span.weight > 0 for span in offer.title_highlights)


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
    assert some(at.offer("ann")).model == "default/tfidf@2"
    at.set_vectors(vectors, "e5-small")
    assert some(at.offer("ann")).model == "default/tfidf+e5-small@2"
    at.refresh(told("- add 1", first=3), [pool(41)[40]])
    assert some(at.offer("ann")).model == "default/tfidf@3"  # vectors of fewer records are of no use


def test_the_same_events_give_the_same_offers() -> None:
    one, other = desk("ann in 5", plan=FREE, of=pool(80)), desk("ann in 5", plan=FREE, of=pool(80))
    first = read(one, 60)
    again = Desk(review(FREE), pool(80), [*told("ann in 5"), *first[:30]], background=False)
    assert read(other, 60) == first
    assert read(again, 60)[: len(first) - 30] == first[30:]


# --- progress


def test_progress_of_a_shared_review() -> None:
    at = desk("ann in 5", "bo out 1", "ann later 2", of=[*pool(39), replace(pool(40)[39], twin=39)])
    found = at.progress(curve=True)
    assert all(type(span.weight) is float for span in some(at.offer("cy")).title_highlights)
    assert (found.records, found.repeats, found.read, found.found, found.later) == (39, 1, 2, 1, 1)
    assert (found.phase, found.training, found.model) == ("ranked", False, "")
    assert [other.rule for other in found.others] == [
        "distribution-free",
        "irrelevant-in-a-row",
        "chao",
        "hypergeometric",
    ]
    assert [(point.read, point.found) for point in found.curve] == [(1, 1), (2, 1), (3, 1)]
    assert "We screened the titles and abstracts of 2 of 39 records after 1 duplicate was removed." in found.methods


def test_progress_of_a_blinded_screener_shows_nothing_of_others() -> None:
    lines = ["ann in 5", "bo in 5", "bo in 13", "bo out 1"]
    at = desk(*lines, plan=BLINDED)
    mine, whole = at.progress("ann"), at.progress()
    assert (mine.read, mine.found, mine.conflicts) == (1, 1, 0)
    assert (whole.read, whole.found) == (1, 1)
    alone = desk("ann in 5", plan=BLINDED).progress("ann")
    assert replace(mine, methods="", model="") == replace(alone, methods="", model="")
    assert mine.methods == alone.methods


def test_conflicts_with_the_decisions_of_each() -> None:
    at = desk("ann in 5", "ann out 5", "bo in 5", "bo out 1", plan=BLINDED)
    (conflict,) = at.conflicts()
    assert conflict.record.number == 5
    assert [(one.screener, one.label) for one in conflict.decisions] == [("ann", OUT), ("bo", IN)]
    assert at.progress().conflicts == 1
    assert [one.both for one in at.agreement()] == [1]
    assert at.prisma().screened == 0


def test_a_stop_statement_keeps_what_was_said() -> None:
    at = desk("ann in 5", "ann out 1")
    at.offer("ann")
    stop = at.stop_event("ann", Stage.ABSTRACT, START)
    assert (stop.kind, stop.id, stop.model) == (ReviewEventKind.STOP, 0, "default/tfidf@2")
    assert '"recall"' in stop.detail
    assert at.progress("ann").methods in stop.detail
    at.refresh([replace(stop, id=3)])
    assert at.progress().phase == "done"
    at.refresh([event(4, "reopen")])
    assert at.progress().phase == "ranked"


# --- in the background


def in_background(*lines: str, of: list[PoolRecord] | None = None, patience: float = 20.0) -> Desk:
    return Desk(review(), of or pool(40), told(*lines), patience=patience)


def test_the_latest_finished_order_serves_while_a_new_one_is_learned() -> None:
    at = in_background("ann in 5", "ann out 1")
    try:
        assert some(at.offer("ann")).chosen is Chosen.RANKED
        seen = set()
        for _ in range(30):
            offer = some(at.offer("ann"))
            assert offer.record.number not in seen
            seen.add(offer.record.number)
            decide(at, offer, IN if is_relevant(offer.record) else OUT)
        assert at.settle(30)
        assert some(at.offer("ann")).model == "default/tfidf@32"
        assert not at.is_learning
    finally:
        at.close()


def test_before_the_first_order_is_there_records_are_drawn_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    from broadsheet.screen import trainer

    go = threading.Event()
    learn: Callable[..., object] = trainer.Pool.model

    def slow(pool: trainer.Pool) -> object:
        assert go.wait(30)
        return learn(pool)

    monkeypatch.setattr(trainer.Pool, "model", slow)
    at = in_background("ann in 5", "ann out 1", patience=0.01)
    try:
        first = some(at.offer("ann"))
        assert first.chosen is Chosen.RANDOM
        assert at.is_learning
        assert at.progress().training
        decide(at, first, OUT)
        go.set()
        assert at.settle(30)
        assert some(at.offer("ann")).model == "default/tfidf@3"
    finally:
        at.close()


def test_what_goes_wrong_in_learning_is_raised_where_it_is_asked_for() -> None:
    wrong = Desk(review(Plan(model="oracle")), pool(10), patience=20)
    try:
        with pytest.raises(InputError, match="no screening model 'oracle'"):
            wrong.offer("ann")
        with pytest.raises(InputError, match="no screening model 'oracle'"):
            wrong.progress("ann")
        wrong.refresh([event(1, "plan", detail=plan_to_json(Plan(question="statins")))])
        assert wrong.settle(30)
        assert some(wrong.offer("ann")).chosen is Chosen.RANKED
        wrong.progress("ann")
    finally:
        wrong.close()


def test_rules_that_are_far_behind_catch_up_while_reading_goes_on() -> None:
    lines = [f"ann {'in' if number % 9 == 0 else 'out'} {number}" for number in range(1, 1001)]
    at = in_background(*lines, of=pool(1200))
    try:
        first = at.progress("ann", curve=True)
        assert (first.training, first.report.stop, first.report.recall) == (True, False, None)
        assert "being reckoned" in first.report.sentence
        assert "safe" not in first.methods
        assert some(at.offer("ann")).chosen is not Chosen.AUDIT
        assert at.settle(60)
        found = at.progress("ann", curve=True)
        assert not found.training
        assert found.report == desk(*lines, of=pool(1200)).progress("ann").report
        assert found.curve[-1].recall == found.report.recall
        assert "being reckoned" not in found.methods
    finally:
        at.close()
    fresh = in_background(*lines, of=pool(1200))
    stop = fresh.stop_event("ann", Stage.ABSTRACT, START)  # waits for the whole statement
    fresh.close()
    assert "being reckoned" not in stop.detail


def test_closing_ends_the_thread() -> None:
    at = in_background("ann in 5")
    at.offer("ann")
    at.close()
    at.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("broadsheet-s")]


def test_many_threads_at_one_desk() -> None:
    at = in_background("ann in 5", "ann out 1", of=pool(200))
    lock = threading.Lock()
    wrong: list[Exception] = []

    def work(name: str) -> None:
        try:
            for _ in range(15):
                with lock:  # as the store would: one event after the other
                    offer = some(at.offer(name))
                    decide(at, offer, OUT, name)
                at.progress(name)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(f"reader {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    at.close()
    assert wrong == []
    assert at.progress().read == 62


def test_a_review_of_nothing() -> None:
    at = Desk(Review(1, "Empty", START), [], background=False)
    assert at.offer("ann") is None
    found = at.progress(curve=True)
    assert (found.records, found.read, found.phase, found.report.recall) == (0, 0, "done", None)
    assert at.prisma().identified == ()
