"""Screening through the library: offers, decisions, undoing, several screeners at once."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as sql

from broadsheet.errors import InputError, NotFoundError
from broadsheet.library import Library, offer_token
from broadsheet.library.screening import Screening
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Offer,
    PoolRecord,
    ReviewEventKind,
    Sharing,
    Stage,
)
from tests import library_reviews
from tests.library_reviews import EXCLUDE, INCLUDE, SEEDED, screen
from tests.screening_pools import is_relevant, pool_file

library, screening, boats = library_reviews.FIXTURES

# --- screening


def test_every_record_comes_once_and_then_nothing(boats: Screening) -> None:
    assert screen(boats, "boats") == 20
    progress = boats.progress("boats")
    assert (progress.read, progress.found, progress.phase) == (20, 4, "done")
    assert boats.next("boats") is None


def test_a_decision_carries_how_its_record_was_chosen(boats: Screening) -> None:
    boats.prior("boats", [1], INCLUDE)
    boats.prior("boats", [2], EXCLUDE)
    offer = boats.next("boats", "ada", mode="ranked")
    assert offer is not None
    event = boats.decide("boats", offer.record.number, EXCLUDE, "ada", reasons=(), note=" no ", offer=offer)
    assert (event.chosen, event.model, event.place, event.unread) == (
        offer.chosen,
        offer.model,
        offer.place,
        offer.unread,
    )
    assert (event.screener, event.note, event.stage) == ("ada", "no", Stage.ABSTRACT)


def test_the_offer_is_remembered_or_carried_by_its_token(boats: Screening) -> None:
    offer = boats.next("boats")
    assert offer is not None
    assert boats.decide("boats", offer.record.number, EXCLUDE).chosen is offer.chosen
    token = offer_token(Offer(PoolRecord(0, ""), Chosen.RANKED, "nb/tfidf@3", 3, 12))
    event = boats.decide("boats", 20, EXCLUDE, offer=token)
    assert (event.chosen, event.place, event.unread, event.model) == (Chosen.RANKED, 3, 12, "nb/tfidf@3")
    assert boats.decide("boats", 19, EXCLUDE).chosen is Chosen.MANUAL


@pytest.mark.parametrize("token", ["ranked:0:3:x", "ranked:0:12:nb/tfidf@99", "ranked:0:21:nb/tfidf@2", "audit:0:0:"])
def test_what_was_never_offered_so_counts_as_picked_by_hand(boats: Screening, token: str) -> None:
    event = boats.decide("boats", 20, EXCLUDE, offer=token)
    assert (event.chosen, event.place, event.unread, event.model) == (Chosen.MANUAL, 0, 0, "")


def test_of_random_draws_only_the_one_that_stands_is_one(boats: Screening) -> None:
    offer = boats.next("boats", mode="random")
    assert offer is not None
    drawn = offer.record.number
    for number in (1 + drawn % 20, drawn):
        event = boats.decide("boats", number, EXCLUDE, offer="random:0:0:")
        assert event.chosen is (Chosen.RANDOM if number == drawn else Chosen.MANUAL)


@pytest.mark.parametrize(
    ("place", "kept"),
    [("4:20:nb/tfidf@2", (4, 20, "nb/tfidf@2")), ("0:20:x", (0, 0, "")), ("0:30:nb/tfidf@2", (0, 0, ""))],
)
def test_a_place_that_no_order_gave_says_nothing_of_a_random_draw(
    boats: Screening, place: str, kept: tuple[int, int, str]
) -> None:
    offer = boats.next("boats", mode="random")
    assert offer is not None
    event = boats.decide("boats", offer.record.number, INCLUDE, offer=f"random:{place}")
    assert event.chosen is Chosen.RANDOM
    assert (event.place, event.unread, event.model) == kept


def test_an_offer_counts_though_a_repeat_was_found_since(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.decide("boats", 2, EXCLUDE)
    with boats.desk("boats") as desk:
        desk.settle()
    boats.next("boats")
    with boats.desk("boats") as desk:
        desk.settle()
    offer = boats.next("boats", mode="ranked")
    assert offer is not None
    assert offer.chosen is Chosen.RANKED
    three = [number for number in range(3, 21) if number != offer.record.number][:4]
    for other in three[1:]:
        boats.twin("boats", three[0], other)
    event = boats.decide("boats", offer.record.number, INCLUDE, offer=offer)
    assert (event.chosen, event.unread, event.model) == (Chosen.RANKED, 18, offer.model)


def test_a_record_of_a_shared_review_costs_a_dozen_questions_to_the_database(
    boats: Screening, library: Library
) -> None:
    screen(boats, "boats", count=2)
    asked: list[str] = []

    def note(*given: Any) -> None:
        asked.append(given[2])

    sql.listen(library.store.engine, "before_cursor_execute", note)
    try:
        screen(boats, "boats", count=3)
    finally:
        sql.remove(library.store.engine, "before_cursor_execute", note)
    assert len(asked) <= 3 * 12


@pytest.mark.parametrize(
    "token", ["", "best", "ranked:1", "prior:0:0:", "ranked:5:3:m", "ranked:-1:3:m", "ranked:a:b:"]
)
def test_a_token_that_next_never_gave_is_refused(boats: Screening, token: str) -> None:
    with pytest.raises(InputError, match="offer"):
        boats.decide("boats", 1, INCLUDE, offer=token)


def test_an_offer_of_another_record_is_refused(boats: Screening) -> None:
    offer = boats.look("boats", 3)
    with pytest.raises(InputError, match="record 3"):
        boats.decide("boats", 4, INCLUDE, offer=offer)


def test_the_same_decision_twice_is_one(boats: Screening) -> None:
    first = boats.decide("boats", 1, INCLUDE)
    assert boats.decide("boats", 1, INCLUDE) == first
    assert boats.decide("boats", 1, INCLUDE, note="sure").id == first.id + 1
    assert boats.decide("boats", 1, EXCLUDE).id == first.id + 2
    assert boats.decide("boats", 1, INCLUDE).id == first.id + 3
    assert boats.record("boats", 1).label is INCLUDE


def test_reasons_are_codes_of_the_plan(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", replace(SEEDED, criteria=(Criterion("DRY", "not on water"),)))
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 3)])
    screening.decide("boats", 2, EXCLUDE, reasons=["DRY"], note="bread")
    found = screening.record("boats", 2)
    assert (found.label, found.reasons, found.note) == (EXCLUDE, ("DRY",), "bread")
    with pytest.raises(InputError, match="WET"):
        screening.decide("boats", 3, EXCLUDE, reasons=["WET"])


def test_undo_goes_back_step_by_step_and_an_undo_can_be_undone(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.decide("boats", 1, EXCLUDE)
    undone = boats.undo("boats")
    assert undone is not None
    assert boats.record("boats", 1).label is INCLUDE
    boats.undo("boats", event=undone.id)
    assert boats.record("boats", 1).label is EXCLUDE
    boats.undo("boats")
    boats.undo("boats")
    assert boats.record("boats", 1).label is None
    assert boats.undo("boats") is None
    assert len(boats.history("boats", 1)) == 6


def test_only_ones_own_deeds_are_taken_back(boats: Screening) -> None:
    event = boats.decide("boats", 1, INCLUDE, "ada")
    assert boats.undo("boats", "bob") is None
    with pytest.raises(NotFoundError, match="no event 99"):
        boats.undo("boats", "ada", event=99)
    assert boats.undo("boats", "ada", event=event.id) is not None
    assert boats.undo("boats", "ada", event=event.id) is None


def test_a_label_carries_to_the_twin(boats: Screening) -> None:
    boats.decide("boats", 11, INCLUDE)
    boats.twin("boats", 16, 11)
    assert boats.record("boats", 16).label is INCLUDE
    assert boats.record("boats", 16).twins == (11,)
    assert (boats.progress("boats").found, boats.progress("boats").records) == (1, 19)
    boats.apart("boats", 16)
    assert boats.record("boats", 16).label is None


def test_the_second_stage_has_what_the_first_included(boats: Screening) -> None:
    screen(boats, "boats")
    full = Stage.FULL_TEXT
    assert boats.progress("boats", stage=full).records == 4
    offer = boats.next("boats", stage=full)
    assert offer is not None
    assert is_relevant(offer.record.number)
    boats.decide("boats", offer.record.number, INCLUDE, stage=full, offer=offer)
    assert boats.progress("boats", stage=full).found == 1
    assert boats.prisma("boats").included == 1


def test_a_stop_keeps_its_statement_and_reopening_goes_on(boats: Screening) -> None:
    screen(boats, "boats", count=12)
    event = boats.stop("boats", "ada")
    assert event.kind is ReviewEventKind.STOP
    assert json.loads(event.detail)
    assert boats.progress("boats").phase == "done"
    boats.reopen("boats")
    assert boats.progress("boats").phase != "done"
    assert event in boats.history("boats")


# --- several screeners


@pytest.fixture
def blinded(screening: Screening, tmp_path: Path) -> Screening:
    screening.create("boats", replace(SEEDED, sharing=Sharing.BLINDED, screeners=("ada", "bob")))
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 6)])
    return screening


def test_a_blinded_screener_does_not_see_what_others_decided(blinded: Screening) -> None:
    blinded.decide("boats", 1, INCLUDE, "ada", note="yes")
    seen = blinded.record("boats", 1, screener="bob")
    assert (seen.label, seen.own, seen.note, seen.conflict) == (None, None, "", False)
    assert blinded.record("boats", 1, screener="ada").own is INCLUDE
    kinds = [event.kind for event in blinded.history("boats", screener="bob")]
    assert kinds == [ReviewEventKind.CREATE, ReviewEventKind.ADD]
    assert blinded.progress("boats", "bob").read == 0
    assert blinded.progress("boats", "ada").read == 1
    blinded.decide("boats", 1, EXCLUDE, "bob")
    assert blinded.record("boats", 1, screener="bob").conflict
    assert len(blinded.history("boats", screener="bob")) == 4


def test_conflicts_are_listed_and_resolved_for_all(blinded: Screening) -> None:
    blinded.decide("boats", 1, INCLUDE, "ada")
    blinded.decide("boats", 1, EXCLUDE, "bob")
    [conflict] = blinded.conflicts("boats")
    assert (conflict.record.number, [event.label for event in conflict.decisions]) == (1, [INCLUDE, EXCLUDE])
    blinded.resolve("boats", 1, INCLUDE, "ada", note="agreed")
    assert blinded.conflicts("boats") == []
    assert blinded.record("boats", 1).label is INCLUDE


def test_each_screener_reads_all_and_kappa_is_known(blinded: Screening) -> None:
    assert screen(blinded, "boats", "ada") == screen(blinded, "boats", "bob") == 6
    [found] = blinded.agreement("boats")
    assert (found.both, found.agreed, found.kappa) == (6, 1.0, 1.0)


def test_who_is_not_of_the_review_does_not_decide(blinded: Screening) -> None:
    with pytest.raises(InputError, match="ada"):
        blinded.decide("boats", 1, INCLUDE, "eve")


# --- several threads


def test_screeners_at_once_do_not_read_the_same(boats: Screening) -> None:
    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(screen, boats, "boats", who) for who in ("ada", "bob", "eve")]
        counts = [job.result(timeout=120) for job in jobs]
    decided = [event.record for event in boats.history("boats") if event.kind is ReviewEventKind.DECIDE]
    assert sum(counts) == len(decided)
    assert set(decided) == set(range(1, 21))
    # What others have before them comes only when nothing else is left: each of two others holds one at most.
    assert len(decided) <= 20 + 3 * 2


def test_reading_goes_on_while_records_are_added_and_the_plan_changes(boats: Screening, tmp_path: Path) -> None:
    path = pool_file(tmp_path / "more.csv", 20, start=40)
    with ThreadPoolExecutor(3) as threads:
        reading = threads.submit(screen, boats, "boats", "ada", 15)
        adding = threads.submit(boats.add_files, "boats", [path])
        changing = threads.submit(boats.change, "boats", question="Why?")
        assert reading.result(timeout=120) == 15
        assert adding.result(timeout=120)[0].added == 20
        changing.result(timeout=120)
    progress = boats.progress("boats")
    assert (progress.records, progress.read) == (40, 15)
    assert [event.id for event in boats.history("boats")] == list(range(1, len(boats.history("boats")) + 1))


# --- after a stop


def test_deciding_after_a_stop_supersedes_its_statement(boats: Screening) -> None:
    screen(boats, "boats", count=8)
    stop = boats.stop("boats")
    assert boats.progress("boats").superseded == boats.superseded("boats") == ""
    before = boats.prisma("boats")
    boats.decide("boats", 20, EXCLUDE)
    progress = boats.progress("boats")
    said = (
        f"The statement that was kept on {stop.moment.date()} is superseded: since then 1 decision was made or changed."
    )
    assert progress.superseded == f"{said} Stop again to keep what can be said now, or reopen screening to go on."
    assert boats.superseded("boats") == progress.superseded
    assert progress.methods.endswith(said)
    assert progress.phase == "done"
    # The diagram has the labels as they are.
    assert boats.prisma("boats").screened == before.screened + 1 == progress.read
    boats.undo("boats")
    assert boats.progress("boats").superseded == ""
    assert boats.prisma("boats") == before


def test_a_new_stop_keeps_what_can_be_said_then(boats: Screening) -> None:
    screen(boats, "boats", count=8)
    boats.stop("boats")
    boats.decide("boats", 20, EXCLUDE)
    again = boats.stop("boats")
    assert boats.superseded("boats") == ""
    kept = json.loads(again.detail)
    assert "superseded" not in kept["methods"]
    assert kept["counts"]["read"] == boats.progress("boats").read
    lines = io.BytesIO(b"".join(boats.export("boats", "record")))
    assert (boats.replay(lines).statements, boats.replay(io.BytesIO(lines.getvalue())).differences) == (2, ())


def test_reopening_leaves_nothing_superseded(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.stop("boats")
    boats.decide("boats", 20, EXCLUDE)
    boats.reopen("boats")
    assert (boats.superseded("boats"), boats.progress("boats").phase) == ("", "ranked")


def test_what_was_taken_back_or_added_after_a_stop_supersedes_it(boats: Screening, tmp_path: Path) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.stop("boats")
    boats.add_files("boats", [pool_file(tmp_path / "more.csv", 2, start=30)])
    assert "since then 2 records were added." in boats.superseded("boats")
    boats.stop("boats")
    boats.undo("boats")
    assert "1 decision was made or changed" in boats.superseded("boats")


def test_a_change_of_the_first_stage_supersedes_what_was_said_of_the_second(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.decide("boats", 1, INCLUDE, stage=Stage.FULL_TEXT)
    boats.stop("boats", stage=Stage.FULL_TEXT)
    boats.decide("boats", 6, INCLUDE)
    assert "superseded" in boats.superseded("boats", stage=Stage.FULL_TEXT)
    assert boats.superseded("boats") == ""


# --- a blinded screener's own numbers


def test_numbers_do_not_tell_how_much_others_have_decided(blinded: Screening) -> None:
    own = [blinded.decide("boats", number, EXCLUDE, "ada").id for number in (1, 2)]
    for number in range(3, 7):
        blinded.decide("boats", number, EXCLUDE, "bob")
    own.append(blinded.decide("boats", 3, EXCLUDE, "ada").id)
    assert own == [own[0], own[0] + 1, own[0] + 2]
    seen = blinded.history("boats", screener="ada")
    # What bob said of record 3 may be seen now, but has no number of ada's.
    assert [event.id for event in seen if event.screener == "bob"] == [0]
    assert [event.id for event in seen if event.screener == "ada"] == own
    ids = [event.id for event in blinded.history("boats")]
    assert ids == list(range(1, len(ids) + 1))


def test_versions_of_models_do_not_tell_it_either(blinded: Screening) -> None:
    for label, number in ((INCLUDE, 1), (EXCLUDE, 2)):
        blinded.decide("boats", number, label, "ada")
    for number in range(3, 7):
        blinded.decide("boats", number, EXCLUDE, "bob")
    with blinded.desk("boats") as desk:
        desk.settle()
    last = blinded.history("boats", screener="ada")[-1].id
    blinded.next("boats", "ada")
    with blinded.desk("boats") as desk:
        desk.settle()
    offer = blinded.next("boats", "ada", mode="ranked")
    assert offer is not None
    assert offer.model.endswith(f"@{last}")
    assert blinded.progress("boats", "ada").model == offer.model
    # The token has the number as it was shown; the event has an id from which the order can be learned again.
    token = offer_token(offer)
    event = blinded.decide("boats", offer.record.number, EXCLUDE, "ada", offer=token)
    assert (event.chosen, event.model) == (Chosen.RANKED, offer.model)
    kept = blinded.history("boats")[-1]
    assert kept.model.rpartition("@")[2] == str(
        max(e.id for e in blinded.history("boats") if e.screener == "ada" and e.id < kept.id)
    )
    lines = b"".join(blinded.export("boats", "record"))
    assert blinded.replay(io.BytesIO(lines), offers=True).differences == ()


def test_ones_own_event_is_taken_back_by_its_own_number(blinded: Screening) -> None:
    blinded.decide("boats", 5, EXCLUDE, "bob")
    first = blinded.decide("boats", 1, EXCLUDE, "ada")
    blinded.decide("boats", 6, EXCLUDE, "bob")
    blinded.decide("boats", 2, EXCLUDE, "ada")
    undone = blinded.undo("boats", "ada", event=first.id)
    assert undone is not None
    assert (undone.record, undone.undoes) == (1, first.id)
    with pytest.raises(NotFoundError, match="no event 40 of yours"):
        blinded.undo("boats", "ada", event=40)


def test_a_refusal_does_not_tell_how_much_others_have_decided_either(blinded: Screening) -> None:
    for number in (3, 4, 5):
        blinded.decide("boats", number, EXCLUDE, "bob")
    known = blinded.prior("boats", [1], INCLUDE, "bob")[0]
    blinded.change("boats", screener="ada", question="Are boats slow?")
    seen = {event.kind: event for event in blinded.history("boats", screener="ada")}
    for kind in (ReviewEventKind.DECIDE, ReviewEventKind.PLAN):
        with pytest.raises(InputError) as raised:
            blinded.undo("boats", "ada", event=seen[kind].id)
        assert not set("0123456789") & set(str(raised.value))
    assert known.id > seen[ReviewEventKind.DECIDE].id
    assert blinded.prior("boats", [3], INCLUDE, "ada")  # whether bob has decided of it is not ada's to know
