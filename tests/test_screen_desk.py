"""The desk at work: what is offered next, and how it says it was chosen."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model.screening import (
    Chosen,
    Plan,
    ReviewEventKind,
    Stage,
)
from tests.screen_desks import IN, LATER, OUT, decide, desk, is_relevant, pool, read, some
from tests.screen_makers import BLINDED, START, told

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
    assert (offer.model, offer.place, offer.unread) == ("default.2/tfidf@0", 0, 40)


def test_labels_rank_what_is_unread() -> None:
    at = desk("ann in 5", "ann out 1")
    found = read(at, 4)
    assert [one.label for one in found] == [IN] * 4
    assert {one.chosen for one in found} == {Chosen.RANKED}
    assert [one.unread for one in found] == [38, 37, 36, 35]
    assert [one.model for one in found] == [f"default.2/tfidf@{n}" for n in (2, 3, 4, 5)]


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
    with pytest.raises(NotFoundError, match="has no record 99"):
        at.look(99)


def test_the_models_terms_and_the_deciding_sentence_are_shown() -> None:
    offer = some(desk("ann in 5", "ann out 1").offer("ann"))
    marked = {offer.record.title[span.start : span.end].lower() for span in offer.title_highlights}
    assert marked & {"statins", "cholesterol", "lower cholesterol", "statins lower"}
    assert any(span.weight > 0 for span in offer.title_highlights)


def test_what_the_rules_reckon_with_is_loaded_when_a_desk_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes up to seconds: the first decision shall not wait for it."""
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ImportError, match=r"scipy\.special"):
        desk()
