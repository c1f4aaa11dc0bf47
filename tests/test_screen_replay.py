"""A whole review as a file, and replaying it: statements and offers made again."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model import Identifier, Scheme
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Plan,
    PoolRecord,
    Review,
    ReviewEvent,
    ReviewEventKind,
    Stage,
    StoppingPlan,
)
from broadsheet.screen import Desk, State, export_lines, read_lines, replay
from broadsheet.screen.reports import report_of
from broadsheet.screen.trail import stopper_of, trail
from broadsheet.screen.trainer import Pool, Trainer, task_of
from broadsheet.store import plan_to_json
from tests.screen_desks import FREE, decide, pool, read, some
from tests.screen_makers import BLINDED, START, event, records, review, told
from tests.test_screen_fold import ACTS, PLANS, POOL, happened


def file_of(plan: Plan | None = None, of: list[PoolRecord] | None = None, *lines: str) -> list[str]:
    return list(export_lines(review(plan), of or records(3), told(*lines)))


# --- the file


FULL = PoolRecord(
    1,
    "Título: 他汀 <b>\u2028",
    "Line one.\nLine two.",
    ("Ana María", "李 雷"),
    2024,
    "Ärzteblatt",
    (Identifier(Scheme.DOI, "10.1000/x"),),
    ("statin", "risk"),
    "https://example.org/a",
    "pubmed.ris",
    "rec-7",
    12,
    0,
    Label.INCLUDE,
    "from the file",
)


def test_everything_comes_back() -> None:
    plan = replace(
        BLINDED, question="他汀?", criteria=(Criterion("a", "b"), Criterion("c", "d", False)), terms=("-mice",)
    )
    events = [
        event(1, "create", detail=plan_to_json(plan)),
        replace(told("ann out 1 by:audit", first=2)[0], reasons=("a",), note="Nöte\n", model="m@1", place=3, unread=9),
        *told("bo undo #2", "ann twin 2 1", first=3),
    ]
    events = [replace(one, review=7) for one in events]
    there = Review(7, "Statins: “x”", START, plan)
    found = read_lines(export_lines(there, [FULL, records(2)[1]], events))
    assert found == (there, [FULL, records(2)[1]], events)


@given(PLANS, st.lists(ACTS, max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_state_of_what_comes_back_is_the_same(plan: Plan, acts: list[tuple[object, ...]]) -> None:
    there, again = happened(acts), read_lines(export_lines(review(plan), POOL, happened(acts)))
    one, other = State.of(review(plan), POOL, there), State.of(*again)
    assert [one.labels(stage) for stage in Stage] == [other.labels(stage) for stage in Stage]
    assert one.track().steps == other.track().steps


def test_lines_may_be_bytes_and_empty_lines_do_not_count() -> None:
    lines = [line.encode() for line in file_of()]
    assert read_lines([lines[0], b"\n", *lines[1:], b"  \n"])[1] == records(3)


def test_each_line_is_json_of_one_kind() -> None:
    kinds = [list(json.loads(line)) for line in file_of(None, None, "ann in 1")]
    assert kinds == [["review"], ["record"], ["record"], ["record"], ["event"], ["end"]]


def test_what_a_newer_version_adds_is_passed_over() -> None:
    lines = file_of()
    assert read_lines([lines[0], '{"weather":{"sun":1}}', *lines[1:]])[1] == records(3)


def broken(change: str) -> list[str]:
    whole = file_of(None, None, "ann in 1", "ann out 2")
    return {
        "cut": whole[:-1],
        "half": [*whole[:-2], whole[-2][:20]],
        "twice": [whole[0], *whole],
        "missing record": [*whole[:2], *whole[3:]],
        "missing event": [*whole[:4], *whole[5:]],
        "order": [*whole[:4], whole[5], whole[4], whole[6]],
        "after": [*whole, whole[1]],
        "no header": whole[1:],
        "newer": [whole[0].replace('"version":1', '"version":9'), *whole[1:]],
        "twin": [whole[0], whole[1].replace('"number":1', '"number":1,"twin":2'), *whole[2:]],
    }[change]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (broken("cut"), "the file ends after line 6, before its end"),
        (broken("half"), "line 6 is not JSON"),
        (broken("twice"), "line 2: “review” is not expected there"),
        (broken("missing record"), "line 3: this record cannot be read .*number 3 and comes after 1"),
        (broken("missing event"), "has {'records': 3, 'events': 2}, but it has {'records': 3, 'events': 1}"),
        (broken("order"), "line 6: this event cannot be read .*id 1 and comes after 2"),
        (broken("after"), "line 8 comes after the end"),
        (broken("no header"), "line 1: “record” is not expected there"),
        (broken("newer"), "install a newer version"),
        (broken("twin"), "repeats record 2, which is not before it"),
        ([], "the file ends after line 0"),
        (["[1]"], "line 1 is not an object with one part"),
        (["{}"], "line 1 is not an object with one part"),
        (['{"a":1}'], "line 1 is not an object with one part"),
        (["TY  - JOUR"], "line 1 is not JSON"),
        (['{"review":{}}'], "line 1: this review cannot be read"),
        (['{"review":{"format":"x","version":1}}'], "the format x 1 is not known"),
    ],
)
def test_files_that_cannot_be_read(lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_lines(lines)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_file_is_read_or_refused(data: st.DataObject) -> None:
    text = "".join(file_of(None, None, "ann in 1", "ann out 2"))
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.text(max_size=4))
    with contextlib.suppress(InputError):
        read_lines((text[:at] + put + text[at + 1 :]).splitlines())


# --- replaying


KNOWN = ("ann in 5 by:manual", "ann out 1 by:manual")


def screened(plan: Plan = FREE, *, vectors: np.ndarray | None = None, count: int = 60, of: int = 80) -> Desk:
    at = Desk(review(plan), pool(of), told(*KNOWN), background=False, vectors=vectors)
    read(at, count)
    at.refresh([replace(at.stop_event("ann", Stage.ABSTRACT, START), id=at.state.last_event + 1)])
    return at


def events_of(at: Desk) -> list[ReviewEvent]:
    return at.state.events


def test_a_review_is_replayed_exactly() -> None:
    at = screened()
    kinds = {one.kind for one in events_of(at)}
    assert {ReviewEventKind.AUDIT, ReviewEventKind.STOP} <= kinds
    there, of, events = read_lines(export_lines(at.state.review, pool(80), events_of(at)))
    found = replay(there, of, events, offers=True)
    assert (found.events, found.statements, found.differences) == (len(events), 1, ())


def test_a_review_with_changes_of_everything_is_replayed() -> None:
    first = event(1, "create", detail=plan_to_json(FREE))
    at = Desk(
        review(FREE),
        pool(60)[:50],
        [first, *told(*KNOWN, first=2)],
        background=False,
    )
    read(at, 8)
    at.refresh(told("- add 10", first=at.state.last_event + 1), pool(60)[50:])
    read(at, 4)
    changed = replace(FREE, question="statins", stopping=StoppingPlan(target=0.9))
    number = at.state.last_event
    at.refresh(
        [
            event(number + 1, "plan", detail=plan_to_json(changed)),
            *told("ann twin 9 10", "ann undo #6", first=number + 2),
        ]
    )
    read(at, 8, "bo")
    number = at.state.last_event
    at.refresh([replace(at.stop_event("bo", Stage.ABSTRACT, START), id=number + 1), event(number + 2, "reopen")])
    read(at, 3)
    at.refresh([replace(at.stop_event("bo", Stage.ABSTRACT, START), id=at.state.last_event + 1)])
    found = replay(at.state.review, pool(60), events_of(at), offers=True)
    assert (found.statements, found.differences) == (2, ())


def test_a_blinded_review_is_replayed() -> None:
    at = Desk(review(BLINDED), pool(30), told("ann prior-in 5", "bo prior-out 1"), background=False)
    for _ in range(6):
        read(at, 2, "ann")
        read(at, 1, "bo")
    for name in ("ann", "bo"):
        at.refresh([replace(at.stop_event(name, Stage.ABSTRACT, START), id=at.state.last_event + 1)])
    found = replay(at.state.review, pool(30), events_of(at), offers=True)
    assert (found.statements, found.differences) == (2, ())


def test_decisions_by_others_between_an_offer_and_its_decision_are_no_difference() -> None:
    at = Desk(review(), pool(40), told(*KNOWN), background=False)
    for _ in range(5):
        first, second = some(at.offer("ann")), some(at.offer("bo"))
        decide(at, second, Label.EXCLUDE, "bo")
        decide(at, first, Label.EXCLUDE, "ann")
    assert replay(at.state.review, pool(40), events_of(at), offers=True).differences == ()


def test_a_statement_that_was_changed_is_named() -> None:
    at = screened(count=20)
    events = events_of(at)
    stop = events[-1]
    detail = json.loads(stop.detail)
    detail["report"]["recall"] = 0.99
    detail["counts"]["found"] += 1
    changed = [*events[:-1], replace(stop, detail=json.dumps(detail))]
    found = replay(at.state.review, pool(80), changed)
    assert len(found.differences) == 2
    assert f"event {stop.id}: report, recall: kept was 0.99, made again it is" in found.differences[0]
    assert "counts, found" in found.differences[1]
    empty = replay(at.state.review, pool(80), [*events[:-1], replace(stop, detail="")])
    assert [one.split(": ")[1] for one in empty.differences] == [
        "the statement keeps no report",
        "the statement keeps no counts",
    ]


def test_a_decision_that_was_changed_shows_in_the_statement() -> None:
    at = screened(count=20)
    events = list(events_of(at))
    at_first = next(n for n, one in enumerate(events) if one.model and one.label is Label.INCLUDE)
    events[at_first] = replace(events[at_first], label=Label.EXCLUDE)
    assert replay(at.state.review, pool(80), events).differences


def test_an_offer_that_cannot_be_made_again_is_named() -> None:
    at = screened(count=6)
    events = list(events_of(at))
    events[3] = replace(events[3], place=30)
    events[4] = replace(events[4], model="other/tfidf@4")
    events[5] = replace(events[5], model="default.2/tfidf@77")
    found = replay(at.state.review, pool(80), events, offers=True)
    assert found.differences == (
        f"event 4: record {events[3].record} was at place 30, made again it is at 0",
        "event 5: offered by other/tfidf@4, which is default/tfidf@4 here",
        "event 6: record 13 was not offered as it says, “ranked”",
    )
    assert replay(at.state.review, pool(80), events).differences == ()


def test_a_random_draw_with_a_place_that_no_order_gave_is_named() -> None:
    at = Desk(review(FREE), pool(40), told(*KNOWN), background=False)
    offer = some(at.offer("ann", mode="random"))
    drawn = decide(at, replace(offer, model="x", place=0, unread=3), Label.INCLUDE)
    assert drawn.chosen is Chosen.RANDOM
    [difference] = replay(at.state.review, pool(40), events_of(at), offers=True).differences
    assert difference == f"event {drawn.id}: record {drawn.record} was not offered as it says, “random”"


def test_offers_of_a_former_revision_are_made_again_by_it() -> None:
    at = Desk(review(replace(FREE, description="The soil of clay fields")), pool(40), told(*KNOWN), background=False)
    past = Pool(tuple(at.state.records.values()), at.state.review.plan, revision=1)
    order = Trainer(background=False).learn(task_of(at.state, past, Stage.ABSTRACT, ""))
    assert order.version == f"default/tfidf@{len(KNOWN)}"
    second = int(order.ranking.relevance_order[1]) + 1
    # By now the description has its turn; in its first revision the composition forgot it.
    for model, difference in (
        ("default/tfidf", ()),
        ("default.2/tfidf", (f"record {second} was at place 1, made again it is at 2",)),
        ("default.99/tfidf", (f"default.99/tfidf@{len(KNOWN)} is of a newer version of Broadsheet, or of none",)),
    ):
        made = event(len(KNOWN) + 1, "decide", record=second, label=Label.EXCLUDE, chosen=Chosen.RANKED)
        made = replace(made, model=f"{model}@{len(KNOWN)}", place=1, unread=40 - len(KNOWN))
        found = replay(at.state.review, pool(40), [*events_of(at), made], offers=True)
        assert found.differences == tuple(f"event {made.id}: {words}" for words in difference)


@pytest.mark.parametrize("stage", list(Stage))
def test_what_was_said_of_nothing_by_an_earlier_version_is_no_difference(stage: Stage) -> None:
    """The rules spoke of it then as of any other pool: that everything had been read."""
    at = Desk(review(FREE), [], background=False)
    now = replace(at.stop_event("ann", stage, START), id=1)
    verdict = stopper_of(FREE.stopping).verdict(trail(at.state, stage))
    detail = json.loads(now.detail)
    detail["report"] = json.loads(json.dumps(asdict(report_of(verdict))))
    then = replace(now, detail=json.dumps(detail))
    assert json.loads(now.detail)["report"]["stop"] is False
    assert detail["report"]["stop"] is True
    for stop in (now, then):
        assert replay(at.state.review, [], [stop]).differences == ()
    detail["report"]["found"] = 3
    assert len(replay(at.state.review, [], [replace(now, detail=json.dumps(detail))]).differences) == 1


def test_offers_by_vectors_need_the_same_vectors() -> None:
    vectors = np.random.default_rng(1).normal(size=(80, 8)).astype(np.float32)
    vectors[[record.number - 1 for record in pool(80) if "Statins" in record.title]] += 2
    at = screened(vectors=vectors, count=10)
    assert replay(at.state.review, pool(80), events_of(at), vectors=vectors, offers=True).differences == ()
    without = replay(at.state.review, pool(80), events_of(at), offers=True).differences
    assert without == ("event 3: default.2/tfidf+e5-small@2 had vectors, which are not at hand here",)
    other = replay(at.state.review, pool(80), events_of(at), vectors=-vectors[::-1], offers=True).differences
    assert other


def test_records_that_are_missing_are_refused() -> None:
    with pytest.raises(InputError, match="speak of 9 new records"):
        replay(review(), records(3), told("- add 9"))


def test_a_statement_of_an_older_version_may_say_it_in_other_words() -> None:
    """Joined rules said another confidence then; what counts is compared all the same."""
    at = Desk(
        review(Plan(stopping=StoppingPlan(rule="rank-advantage or distribution-free"))),
        records(9),
        (),
        background=False,
    )
    lines = told("ann in 1", "ann out 2")
    at.refresh(lines)
    stop = replace(at.stop_event("ann", Stage.ABSTRACT, START), id=3)
    old = json.loads(stop.detail)
    assert old.pop("rules") == 2
    old["report"] |= {"sentence": "As it was said then.", "confidence": 0.8999999999999999}

    def differences(kept: dict[str, object]) -> tuple[str, ...]:
        return replay(
            review(at.state.review.plan), records(9), [*lines, replace(stop, detail=json.dumps(kept))]
        ).differences

    assert differences(old) == ()
    assert "report, sentence" in differences({**old, "rules": 2})[-1]
    old["report"] |= {"missing": 0}
    assert ["report, missing" in one for one in differences(old)] == [True]
