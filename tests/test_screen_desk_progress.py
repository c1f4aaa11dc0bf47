"""The desk at work: progress, and learning in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from broadsheet.errors import InputError
from broadsheet.model.screening import (
    Chosen,
    Plan,
    PoolRecord,
    Review,
    ReviewEventKind,
    Stage,
)
from broadsheet.screen import Desk
from broadsheet.store import plan_to_json
from tests.screen_desks import IN, OUT, decide, desk, is_relevant, pool, some
from tests.screen_makers import BLINDED, START, event, review, told

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
    assert (stop.kind, stop.id, stop.model) == (ReviewEventKind.STOP, 0, "default.2/tfidf@2")
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
        assert at.settle(60)
        assert some(at.offer("ann")).model == "default.2/tfidf@32"
        assert not at.is_learning
    finally:
        at.close()


def test_before_the_first_order_is_there_records_are_drawn_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    from broadsheet.screen import trainer

    go = threading.Event()
    learn: Callable[..., object] = trainer.Pool.model

    def slow(pool: trainer.Pool) -> object:
        assert go.wait(60)
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
        assert at.settle(60)
        assert some(at.offer("ann")).model == "default.2/tfidf@3"
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
        assert wrong.settle(60)
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
    assert (found.records, found.read, found.phase, found.report.recall) == (0, 0, "ranked", None)
    assert (found.report.stop, found.report.sentence) == (False, "The review has no records yet: add some.")
    assert at.prisma().identified == ()
