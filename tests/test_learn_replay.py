"""From a reader's events to the memory: what holds after undo, forget, reset and a change of mind."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.learn.memory import GATES, HALF_LIVES, ReaderMemory, day_of, in_force, replayed
from broadsheet.model.reading import Action, Event

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ABOUT = (Action.OPEN, Action.SAVE, Action.LIKE, Action.DISMISS, Action.EXAMPLE)


def told(*lines: str) -> list[Event]:
    """Events from lines such as ``save 7``, ``undo #2`` (of the second line) and ``reset``, one an hour."""
    events = []
    for number, line in enumerate(lines, 1):
        action, _, what = line.partition(" ")
        undoes = int(what[1:]) if what.startswith("#") else 0
        paper = int(what) if what and not undoes else 0
        events.append(Event(number, "me", Action(action), paper, START + timedelta(hours=number), undoes=undoes))
    return events


def holding(events: list[Event]) -> list[str]:
    return [f"{event.action} {event.paper}" for event in in_force(events)]


@pytest.mark.parametrize(
    ("lines", "holds"),
    [
        ([], []),
        (["save 7"], ["save 7"]),
        (["save 7", "undo #1"], []),
        (["save 7", "save 8", "undo #1"], ["save 8"]),
        (["save 7", "undo #1", "save 7"], ["save 7"]),
        (["save 7", "undo #1", "undo #2"], ["save 7"]),
        (["save 7", "undo #1", "undo #2", "undo #3"], []),
        (["save 7", "undo #1", "undo #2", "undo #1"], []),
        (["save 7", "undo #1", "undo #1"], []),
        (["save 7", "undo #1", "undo #1", "undo #2"], []),  # one of the two undos still stands
        (["save 7", "undo #9"], ["save 7"]),
        (["save 7", "undo #2"], ["save 7"]),  # of itself
        (["undo #2", "save 7"], ["save 7"]),  # of what had not been yet
        (["save 7", "save 8", "forget 7"], ["save 8"]),
        (["save 7", "forget 7", "save 7"], ["save 7"]),
        (["save 7", "forget 7", "undo #2"], ["save 7"]),
        (["save 7", "undo #1", "forget 7", "undo #2"], []),  # the save is back, but forgotten
        (["forget 7"], []),
        (["save 7", "like 8", "reset"], []),
        (["save 7", "reset", "like 8"], ["like 8"]),
        (["save 7", "reset", "like 8", "undo #2"], ["save 7", "like 8"]),
        (["save 7", "reset", "undo #2", "undo #3"], []),
        (["save 7", "undo #1", "reset", "undo #3"], []),  # what was undone before the reset stays undone
        (["save 7", "reset", "undo #1"], []),
        (["save 7", "reset", "reset", "undo #3"], []),
        (["save 7", "forget 7", "reset", "undo #3"], []),
        (["save 7", "save 7"], ["save 7"]),
        (["open 7", "save 7", "like 7", "example 7"], ["open 7", "save 7", "like 7", "example 7"]),
        (["open 7", "save 7", "dismiss 7"], ["dismiss 7"]),
        (["dismiss 7", "open 7"], ["dismiss 7", "open 7"]),
        (["dismiss 7", "save 7"], ["save 7"]),
        (["save 7", "dismiss 7", "like 7"], ["like 7"]),
        (["save 7", "dismiss 7", "undo #2"], ["save 7"]),
        (["save 7", "dismiss 7", "like 7", "undo #3"], ["dismiss 7"]),
        (["dismiss 7", "dismiss 7", "undo #2"], ["dismiss 7"]),
        (["dismiss 7", "example 7"], ["example 7"]),
        (["dismiss 7", "save 8"], ["dismiss 7", "save 8"]),
    ],
)
def test_what_holds_after_all(lines: list[str], holds: list[str]) -> None:
    events = told(*lines)
    assert holding(events) == holds
    assert holding(events[::-1]) == holds, "the ids order the events, not their places"


def test_the_last_of_equal_events_is_the_one_that_holds() -> None:
    assert [event.id for event in in_force(told("open 7", "save 7", "open 7", "save 7"))] == [3, 4]


@pytest.mark.parametrize("action", ABOUT)
def test_every_action_about_a_paper_has_a_gate(action: Action) -> None:
    papers, traces = replayed(told(f"{action} 7")).read(day_of(START) + 1 / 24)
    assert papers == [7]
    assert traces[0] == pytest.approx([GATES[action]] * len(HALF_LIVES))


def test_traces_fade_from_the_moment_of_the_event_whatever_its_zone() -> None:
    moment = datetime(2026, 3, 2, 23, tzinfo=timezone(timedelta(hours=8)))
    memory = replayed([Event(1, "me", Action.SAVE, 7, moment)])
    assert memory.papers_[7].day == day_of(datetime(2026, 3, 2, 15, tzinfo=UTC))
    assert memory.read(memory.papers_[7].day + 30)[1][0, 1] == pytest.approx(0.5)


def test_an_example_counts_from_the_day_on_which_it_was_filed_though_it_is_told_later() -> None:
    events = [*told("save 7"), Event(2, "me", Action.EXAMPLE, 8, START - timedelta(days=365))]
    _, traces = replayed(events).read(day_of(START))
    assert traces[1, 2] == pytest.approx(0.5)
    assert traces[0, 2] == 1


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(InputError, match=r"2026-03-02.*time zone"):
        replayed([Event(1, "me", Action.SAVE, 7, datetime(2026, 3, 2, 9))])


def test_events_of_two_readers_are_refused() -> None:
    one, other = told("save 7", "save 8")
    with pytest.raises(ValueError, match="one reader"):
        replayed([one, replace(other, reader="you")])


def test_the_capacity_is_applied_to_what_holds() -> None:
    events = told("save 1", "save 2", "save 3", "undo #3")
    assert sorted(replayed(events, capacity=2).papers_) == [1, 2]
    assert sorted(replayed(events[:3], capacity=2).papers_) == [2, 3]


def test_months_of_openings_do_not_push_out_what_was_saved() -> None:
    saved = told(*(f"save {n}" for n in range(1, 11)))
    opened = [Event(n, "me", Action.OPEN, n, START + timedelta(days=n)) for n in range(100, 300)]
    kept = replayed([*saved, *opened], capacity=30).papers_
    assert set(range(1, 11)) <= set(kept)
    assert sorted(set(kept) - set(range(1, 11))) == list(range(280, 300))  # and the latest of the rest


# Any history, in the order of the store: undos name anything, also what is not there.


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    count = draw(st.integers(0, 14))
    events = []
    for number in range(1, count + 1):
        action = draw(st.sampled_from(list(Action)))
        paper = draw(st.integers(1, 4)) if action not in (Action.RESET, Action.UNDO) else 0
        undoes = draw(st.integers(0, count + 1)) if action is Action.UNDO else 0
        moment = START + timedelta(hours=draw(st.integers(-50, 50)))
        events.append(Event(number, "me", action, paper, moment, undoes=undoes))
    return events


def state(events: list[Event]) -> str:
    return json.dumps(replayed(events, capacity=3).to_record())


@settings(deadline=None, max_examples=300)
@given(histories(), st.data())
def test_after_an_undo_the_state_is_that_without_the_event(events: list[Event], data: st.DataObject) -> None:
    if not events:
        return
    gone = data.draw(st.sampled_from(events))
    undo = Event(len(events) + 1, "me", Action.UNDO, gone.paper, START, undoes=gone.id)
    assert state([*events, undo]) == state([event for event in events if event.id != gone.id])


@settings(deadline=None, max_examples=300)
@given(histories(), st.data())
def test_an_undo_that_is_undone_changes_nothing(events: list[Event], data: st.DataObject) -> None:
    last = len(events) + 1
    undo = Event(last, "me", Action.UNDO, 0, START, undoes=data.draw(st.integers(0, last)))
    back = Event(last + 1, "me", Action.UNDO, 0, START, undoes=last)
    assert state([*events, undo, back]) == state(events)


@settings(deadline=None, max_examples=200)
@given(histories(), histories())
def test_after_a_reset_only_what_came_later_counts(before: list[Event], after: list[Event]) -> None:
    reset = Event(100, "me", Action.RESET, 0, START)
    later = [
        replace(event, id=event.id + 100, undoes=event.undoes + 100 if event.undoes else 0)
        for event in after
        if event.undoes == 0 or event.undoes < event.id
    ]
    assert state([*before, reset, *later]) == state(later)


@settings(deadline=None, max_examples=200)
@given(histories(), st.integers(1, 4))
def test_a_forgotten_paper_leaves_no_trace_and_the_others_alone(events: list[Event], paper: int) -> None:
    forget = Event(len(events) + 1, "me", Action.FORGET, paper, START)
    assert state([*events, forget]) == state([event for event in events if event.paper != paper])


@settings(deadline=None, max_examples=200)
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_events_are_given_does_not_matter(events: list[Event], random: object) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert state(shuffled) == state(events)


@settings(deadline=None, max_examples=200)
@given(histories())
def test_a_replay_is_what_updates_make_of_the_events_that_hold(events: list[Event]) -> None:
    memory: ReaderMemory[int] = ReaderMemory()
    for event in in_force(events):
        memory.update(event.action, event.paper, day_of(event.moment))
    papers, traces = replayed(events).read(day_of(START))
    assert papers == memory.read(day_of(START))[0]
    np.testing.assert_allclose(traces, memory.read(day_of(START))[1], atol=1e-12)


def test_a_long_history_is_replayed_quickly_and_its_state_is_small() -> None:
    events = [
        Event(n, "me", ABOUT[n % 3], 100_000 + n % 2000, START + timedelta(minutes=7 * n)) for n in range(1, 4001)
    ]
    spent = []
    for _ in range(5):
        begin = time.process_time()
        memory = replayed(events)
        spent.append(time.process_time() - begin)
    assert len(memory.papers_) == 2000
    assert min(spent) < 0.05  # about 5 ms on a quiet machine
    assert len(json.dumps(memory.to_record())) < 300_000
