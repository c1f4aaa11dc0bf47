"""The state of a review: groups, decisions, undo, conflicts, blindness, and the order of reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model.screening import Label, Plan, PoolRecord, ReviewEvent, Sharing, Stage
from broadsheet.screen.state import State
from broadsheet.store import plan_to_json
from tests.screen_makers import BLINDED, event, labels, records, review, told

IN, OUT, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
FULL = Stage.FULL_TEXT


def state(*lines: str, plan: Plan | None = None, pool: Sequence[PoolRecord] | None = None) -> State:
    return State.of(review(plan), pool or records(6), told(*lines))


# --- shared screening


@pytest.mark.parametrize(
    ("lines", "holds"),
    [
        ([], {}),
        (["ann in 2"], {2: "in"}),
        (["ann in 2", "ann out 3"], {2: "in", 3: "out"}),
        (["ann in 2", "bo out 2"], {2: "out"}),  # the last decision, by anyone
        (["ann in 2", "ann later 2"], {}),
        (["ann later 2", "bo in 2"], {2: "in"}),
        (["ann in 2", "ann undo #1"], {}),
        (["ann in 2", "bo undo #1"], {}),
        (["ann in 2", "ann out 2", "ann undo #2"], {2: "in"}),
        (["ann in 2", "ann out 2", "ann undo #1"], {2: "out"}),
        (["ann in 2", "ann undo #1", "ann undo #2"], {2: "in"}),
        (["ann in 2", "ann undo #1", "ann undo #2", "ann undo #3"], {}),
        (["ann in 2", "ann undo #1", "ann undo #1"], {}),
        (["ann in 2", "ann undo #1", "ann undo #1", "ann undo #2"], {}),  # one of the two undos still stands
        (["ann in 2", "ann undo #9"], {2: "in"}),
        (["ann in 2", "ann undo #2"], {2: "in"}),  # of itself
        (["ann resolve-out 2"], {2: "out"}),
        (["ann in 99"], {}),  # no such record: nothing
        (["ann prior-in 2"], {2: "in"}),
        (["ann prior-in 2", "ann out 2"], {2: "out"}),
        (["ann in 2 full-text"], {}),  # not included by its abstract: nothing at the first stage
    ],
)
def test_the_labels_that_hold(lines: list[str], holds: dict[int, str]) -> None:
    assert labels(state(*lines).labels()) == holds


@pytest.mark.parametrize(
    ("lines", "first", "second"),
    [
        (["ann in 2", "ann out 2 full-text"], {2: "in"}, {2: "out"}),
        (["ann in 2", "ann in 2 full-text", "ann out 2"], {2: "out"}, {}),  # it is not to be read in full any more
        (["ann in 2", "ann in 2 full-text", "ann out 2", "ann undo #3"], {2: "in"}, {2: "in"}),
        (["ann in 2 full-text", "ann in 2"], {2: "in"}, {2: "in"}),
        (["ann in 2", "ann twin 2 3", "ann out 3 full-text"], {2: "in"}, {2: "out"}),
    ],
)
def test_the_second_stage_reads_what_the_first_included(
    lines: list[str], first: dict[int, str], second: dict[int, str]
) -> None:
    found = state(*lines)
    assert (labels(found.labels()), labels(found.labels(FULL))) == (first, second)
    assert set(found.pool(FULL)) == {n for n, word in first.items() if word == "in"}


# --- repeats (field case G08)


@pytest.mark.parametrize(
    ("twins", "lines", "holds"),
    [
        ({4: 2}, ["ann in 2"], {2: "in"}),
        ({4: 2}, ["ann in 4"], {2: "in"}),  # the label carries either way
        ({4: 2}, ["ann in 4", "ann out 2"], {2: "out"}),
        ({4: 2, 5: 4}, ["ann in 5"], {2: "in"}),
        ({}, ["ann in 2", "ann twin 4 2"], {2: "in"}),
        ({}, ["ann in 4", "ann twin 4 2"], {2: "in"}),
        ({}, ["ann in 2", "ann out 4", "ann twin 2 4"], {2: "out"}),  # the latest decision of the group
        ({}, ["ann out 4", "ann in 2", "ann twin 2 4"], {2: "in"}),
        ({}, ["ann in 2", "ann twin 4 2", "ann undo #2"], {2: "in"}),
        ({}, ["ann in 4", "ann twin 4 2", "ann undo #2"], {4: "in"}),
        ({4: 2}, ["ann in 2", "ann apart 4"], {2: "in"}),
        ({4: 2}, ["ann in 4", "ann apart 4"], {4: "in"}),
        ({4: 2}, ["ann in 4", "ann apart 4", "ann undo #2"], {2: "in"}),
        ({4: 2, 5: 2}, ["ann in 5", "ann apart 2"], {4: "in"}),  # the first leaves: the others stay together
        ({}, ["ann twin 2 3", "ann twin 3 4", "ann in 4", "ann undo #1"], {3: "in"}),
        ({}, ["ann twin 2 2", "ann in 2"], {2: "in"}),
        ({}, ["ann twin 2 99", "ann apart 98", "ann in 2"], {2: "in"}),
    ],
)
def test_a_label_carries_to_the_twin(twins: dict[int, int], lines: list[str], holds: dict[int, str]) -> None:
    assert labels(state(*lines, pool=records(6, twins=twins)).labels()) == holds


def test_a_group_counts_once() -> None:
    found = state("ann in 2", "ann in 4", "ann twin 4 2", pool=records(6, twins={6: 5}))
    assert (len(found.groups), found.pool_size(), len(found.track().of), found.track().included) == (4, 4, 1, 1)
    assert [found.group(number) for number in range(1, 7)] == [1, 2, 3, 2, 5, 5]
    assert found.members(4) == (2, 4)


def test_labels_of_a_file_are_prior_and_carry_to_twins() -> None:
    found = state(pool=records(4, twins={4: 2}, labels={4: OUT, 1: IN, 3: LATER}))
    assert labels(found.labels()) == {1: "in", 2: "out"}
    assert found.is_prior(2)
    assert not found.is_prior(3)


def test_copies_that_came_with_different_labels_are_included() -> None:
    assert labels(state(pool=records(3, twins={2: 1, 3: 1}, labels={1: IN, 2: OUT})).labels()) == {1: "in"}
    assert labels(state(pool=records(3, twins={2: 1, 3: 1}, labels={1: OUT, 2: IN})).labels()) == {1: "in"}
    decided = state("ann out 3", pool=records(3, twins={2: 1, 3: 1}, labels={1: OUT, 2: IN}))
    assert labels(decided.labels()) == {1: "out"}


# --- blinded screening


@pytest.mark.parametrize(
    ("lines", "whole", "ann", "conflicts"),
    [
        (["ann in 2"], {}, {2: "in"}, []),
        (["ann in 2", "bo in 2"], {2: "in"}, {2: "in"}, []),
        (["ann in 2", "bo out 2"], {}, {2: "in"}, [2]),
        (["ann in 2", "bo later 2"], {}, {2: "in"}, []),
        (["ann in 2", "bo out 2", "bo in 2"], {2: "in"}, {2: "in"}, []),
        (["ann in 2", "bo out 2", "bo undo #2"], {}, {2: "in"}, []),
        (["ann in 2", "bo out 2", "bo resolve-out 2"], {2: "out"}, {2: "out"}, []),
        (["ann in 2", "bo out 2", "bo resolve-out 2", "ann undo #3"], {}, {2: "in"}, [2]),
        (["ann in 2", "bo out 2", "bo resolve-out 2", "bo in 2"], {2: "out"}, {2: "out"}, []),
        (["bo in 2"], {}, {}, []),
        (["bo in 2", "cy in 2"], {}, {}, []),  # who is not a screener of the plan does not count
        (["bo prior-in 2"], {2: "in"}, {2: "in"}, []),  # known to all
        (["bo prior-in 2", "bo out 2"], {}, {2: "in"}, []),
        (["bo prior-in 2", "bo out 2", "ann out 2"], {2: "out"}, {2: "out"}, []),
        (["ann in 2", "bo in 3", "ann twin 2 3"], {2: "in"}, {2: "in"}, []),
        (["ann in 2", "bo out 3", "ann twin 2 3"], {}, {2: "in"}, [2]),
    ],
)
def test_blinded_labels(lines: list[str], whole: dict[int, str], ann: dict[int, str], conflicts: list[int]) -> None:
    found = state(*lines, plan=BLINDED)
    assert labels(found.labels()) == whole
    assert labels(found.labels(Stage.ABSTRACT, "ann")) == ann
    assert found.conflicts() == conflicts
    assert sorted({found.group(number) for number in range(1, 7) if found.is_conflict(number)}) == conflicts


def test_a_conflict_is_shown_to_those_who_decided() -> None:
    found = state("ann in 2", "bo out 2", plan=replace(BLINDED, screeners=("ann", "bo", "cy")))
    assert (found.conflicts(), found.conflicts(screener="ann"), found.conflicts(screener="cy")) == ([2], [2], [])


def test_who_may_see_an_event() -> None:
    found = state("ann in 2", "bo out 2", "bo in 3", "ann undo #1", "bo prior-in 5", "ann undo #4", plan=BLINDED)
    seen = [one.id for one in found.events if found.visible(one, "ann")]
    assert seen == [1, 2, 4, 5, 6]  # bo's decision on 3 is hidden
    assert [one.id for one in found.events if found.visible(one, "cy")] == [5]
    assert [one.id for one in found.events if found.visible(one, "")] == [1, 2, 3, 4, 5, 6]
    shared = state("ann in 2")
    assert all(shared.visible(one, "cy") for one in shared.events)


def test_a_hidden_decision_that_is_taken_back_stays_hidden() -> None:
    found = state("bo in 3", "bo undo #1", plan=BLINDED)
    assert [one.id for one in found.events if found.visible(one, "ann")] == []


def test_a_change_from_blinded_to_shared_and_back() -> None:
    shared = replace(BLINDED, sharing=Sharing.SHARED)
    lines = told("ann in 2", "bo out 2", "ann in 3")
    change = event(4, "plan", detail=plan_to_json(shared))
    back = event(5, "plan", detail=plan_to_json(BLINDED))
    found = State.of(review(BLINDED), records(4), lines)
    assert labels(found.labels()) == {}
    found.apply([change])
    assert labels(found.labels()) == {2: "out", 3: "in"}
    found.apply([back])
    assert (labels(found.labels()), found.conflicts()) == ({}, [2])


# --- history and plans


def test_the_history_of_a_record_has_that_of_its_twin_and_what_was_undone() -> None:
    found = state("ann in 2", "ann in 3", "ann twin 4 2", "ann undo #1", "bo out 4", "bo undo #2")
    assert [one.id for one in found.history(2)] == [1, 3, 4, 5]
    assert [one.id for one in found.history(3)] == [2, 6]
    assert [found.is_undone(number) for number in (1, 2, 3)] == [True, True, False]
    assert [one.id for one in found.decisions(2)] == [5]


def test_own_and_deciding_decisions() -> None:
    found = state("ann in 2", "bo in 2", "ann out 2", "ann in 2", "bo later 3")
    own = found.own(2, Stage.ABSTRACT, "bo")
    assert own is not None
    assert own.id == 2
    assert found.own(2, Stage.ABSTRACT, "cy") is None
    deciding = found.deciding(2)
    assert deciding is not None
    assert deciding.id == 4
    assert found.deciding(3) is None


def test_a_plan_changed_after_looking_is_kept() -> None:
    changed = replace(Plan(), question="Statins?")
    lines = [event(1, "create", detail=plan_to_json(Plan())), *told("ann in 1", "ann out 2", first=2)]
    found = State.of(review(changed), records(4), lines)
    assert found.review.plan == Plan()
    found.apply([event(4, "plan", detail=plan_to_json(changed))])
    assert found.review.plan == changed
    assert [(change.read, change.after) for change in found.plan_changes] == [(2, changed)]


def test_stopped_and_taken_up_again() -> None:
    stop = event(1, "stop", detail="{}")
    found = State.of(review(), records(2), [stop])
    assert (found.stopped, found.is_stopped(Stage.ABSTRACT)) == ({(Stage.ABSTRACT, ""): stop}, True)
    assert not found.is_stopped(FULL)
    assert found.apply([event(2, "reopen")]).stopped == {}


def test_blinded_screeners_stop_for_themselves_and_all_of_them_for_the_review() -> None:
    def done(found: State) -> list[bool]:
        return [found.is_stopped(Stage.ABSTRACT, view) for view in ("", "ann", "bo")]

    found = State.of(review(BLINDED), records(2), [event(1, "stop", "ann", detail="{}")])
    assert done(found) == [False, True, False]
    assert done(found.apply([event(2, "stop", "bo", detail="{}")])) == [True, True, True]
    assert done(found.apply([event(3, "reopen", "bo")])) == [False, True, False]
    assert done(found.apply([event(4, "stop", "the editor", detail="{}")])) == [True, True, True]
    assert done(found.apply([event(5, "reopen", "the editor")])) == [False, False, False]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (told("ann in 1", "ann in 2")[::-1], "event 1 comes after event 2"),
        ([event(1, "audit")], "event 1: an audit needs a seed"),
        ([event(1, "audit", detail='{"seed":-1}')], "event 1: an audit needs a seed"),
        ([event(1, "audit", detail="{")], "event 1: its detail is not JSON"),
        ([event(1, "audit", detail="[1]")], "event 1: its detail must be a JSON object"),
        ([event(1, "add", detail='{"added":9}')], "speak of 9 new records, but only 3 came"),
        ([event(1, "add", detail='{"added":"9"}')], "must be a count of records"),
        ([event(1, "plan", detail='{"stopping":3}')], "event 1: the plan in its detail cannot be read"),
    ],
)
def test_events_that_cannot_be_are_refused(events: list[ReviewEvent], words: str) -> None:
    with pytest.raises(InputError, match=words):
        State.of(review(), records(3), events)


def test_records_must_be_numbered_on() -> None:
    with pytest.raises(InputError, match="record 3 comes after 1"):
        State.of(review(), [records(3)[0], records(3)[2]])


@pytest.mark.parametrize("ask", ["group", "members", "final", "history", "decisions"])
def test_a_record_that_is_not_there(ask: str) -> None:
    with pytest.raises(NotFoundError, match="the review “Statins” has no record 9: numbers go from 1 to 6"):
        getattr(state(), ask)(9)


# --- the order of reading


def steps(found: State, screener: str = "", stage: Stage = Stage.ABSTRACT) -> list[tuple[int, int, str]]:
    words = {IN: "in", OUT: "out", None: "?"}
    return [(one.event, one.group, words[one.label]) for one in found.track(stage, screener).steps]  # type: ignore[index]


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (["ann in 2", "ann out 3"], [(1, 2, "in"), (2, 3, "out")]),
        (["ann in 2", "ann out 3", "ann out 2"], [(1, 2, "out"), (2, 3, "out")]),  # a correction keeps its place
        (["ann in 2", "ann out 3", "ann undo #1"], [(2, 3, "out")]),
        (["ann in 2", "ann out 3", "ann undo #1", "ann in 2"], [(2, 3, "out"), (4, 2, "in")]),
        (["ann later 2", "ann out 3", "ann in 2"], [(1, 2, "in"), (2, 3, "out")]),  # first put before ann
        (["ann later 2", "ann out 3"], [(1, 2, "?"), (2, 3, "out")]),
        (["ann in 3", "ann in 2", "ann twin 2 3"], [(1, 2, "in")]),
        (["ann in 3", "ann in 2", "ann twin 2 3", "ann undo #3"], [(1, 3, "in"), (2, 2, "in")]),
    ],
)
def test_steps_stand_in_the_order_of_first_reading(lines: list[str], read: list[tuple[int, int, str]]) -> None:
    assert steps(state(*lines)) == read


def test_a_conflict_is_a_step_without_a_label_until_it_is_resolved() -> None:
    lines = ["ann in 2", "ann in 3", "bo out 2", "bo in 3"]
    assert steps(state(*lines, plan=BLINDED)) == [(3, 2, "?"), (4, 3, "in")]
    assert steps(state(*lines, plan=BLINDED), "ann") == [(1, 2, "in"), (2, 3, "in")]
    assert steps(state(*lines, "ann resolve-in 2", plan=BLINDED)) == [(3, 2, "in"), (4, 3, "in")]
    captures = [one.captures for one in state(*lines, plan=BLINDED).track().steps]
    assert captures == [1, 2]


def test_epochs_count_what_is_more_than_one_more_step() -> None:
    found = state("ann in 2", "ann out 3", "ann later 4")
    assert found.track().epoch == 0
    assert found.apply(told("ann out 2", first=4)).track().epoch == 1
    before = found.track().epoch
    assert found.apply(told("bo out 2", first=5)).track().epoch == before  # nothing has changed
