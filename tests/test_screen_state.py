"""The state of a review: groups, decisions, undo, conflicts, blindness and audits, in any order of events."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model.screening import Chosen, Label, Plan, PoolRecord, ReviewEvent, ReviewEventKind, Sharing, Stage
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
    with pytest.raises(InputError, match="the review “Statins” has no record 9: it has 6"):
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


# --- audits


def test_an_audit_orders_all_that_is_unread() -> None:
    found = state("ann in 2", "ann later 3", "ann audit 5", pool=records(40, twins={40: 39}))
    order = found.audit_order()
    assert sorted(order) == [n for n in range(1, 40) if n != 2]
    assert list(order) != sorted(order)
    assert order == state("ann in 2", "ann later 3", "ann audit 5", pool=records(40, twins={40: 39})).audit_order()
    assert order != state("ann in 2", "ann later 3", "ann audit 6", pool=records(40, twins={40: 39})).audit_order()
    assert found.audit_covers()


def test_every_order_of_an_audit_is_as_likely() -> None:
    orders = {state(f"ann audit {seed}", pool=records(3)).audit_order() for seed in range(200)}
    assert orders == set(itertools.permutations([1, 2, 3]))


def test_an_audit_that_covers_everything_cannot_be_begun_again() -> None:
    found = state("ann audit 5", "ann audit 6", pool=records(30))
    audit = found.audit()
    assert audit is not None
    assert (audit.event, audit.seed) == (1, 5)


def test_what_is_added_lies_outside_of_the_audit_until_it_is_read() -> None:
    pool = records(32)
    found = State.of(review(), pool[:30], told("ann in 1", "ann audit 5"))
    found.apply(told("- add 2", first=3), pool[30:])
    assert (found.audit_covers(), found.outsiders()) == (False, [31, 32])
    found.apply(told("ann out 31", "ann out 32", first=4))
    assert found.audit_covers()
    assert len(found.audit_order()) == 29
    found.apply(told("ann undo #1", first=6))  # read before the audit, and unread now
    assert found.outsiders() == [1]
    audit = found.apply(told("ann audit 9", first=7)).audit()
    assert audit is not None
    assert (audit.event, sorted(audit.order)) == (7, list(range(1, 31)))


def test_twins_in_an_audit_keep_the_place_of_the_first() -> None:
    found = state("ann in 1", "ann audit 5", pool=records(30))
    order = found.audit_order()
    found.apply(told("ann twin 9 20", first=3))
    assert found.audit_order() == tuple(number for number in order if number != 20)
    found.apply(told("ann twin 1 7", first=4))  # 1 had been read before the audit: so has 7, then
    assert found.audit_order() == tuple(number for number in order if number not in (20, 7))
    found.apply(told("ann apart 9", first=5))
    assert found.outsiders() == []  # 20 has its place again
    assert found.audit_order() == tuple(number for number in order if number != 7)


def test_one_order_for_all_blinded_screeners() -> None:
    found = state("ann in 1", "bo in 2", "ann in 3", "bo in 3", "ann audit 5", plan=BLINDED, pool=records(30))
    whole, ann, bo = (found.audit_order(screener=name) for name in ("", "ann", "bo"))
    assert sorted(whole) == [n for n in range(1, 31) if n != 3]
    assert ann == tuple(n for n in whole if n != 1)
    assert bo == tuple(n for n in whole if n != 2)
    found.apply(told("ann undo #1", first=6))  # an outsider of ann's only
    assert [found.audit_covers(screener=name) for name in ("", "ann", "bo")] == [True, False, True]
    found.apply(told("ann audit 8", first=7))
    assert (found.audit_order(screener="bo"), found.audit_order()) == (bo, whole)
    assert len(found.audit_order(screener="ann")) == 29


def test_a_pool_that_grew_after_reading_began_is_noted() -> None:
    pool = records(5, labels={1: IN})
    found = State.of(review(), pool[:3], told("- add 3"))
    found.apply(told("- add 1", first=2), pool[3:4])
    assert found.grew == {}  # nothing but prior knowledge was there
    found.apply([*told("ann in 2", first=3), *told("- add 1", first=4)], pool[4:])
    assert found.grew == {(Stage.ABSTRACT, ""): 4}
    found.apply(told("ann in 2 full-text", "ann in 3", first=5))
    assert found.grew[FULL, ""] == 6


def test_growth_is_of_those_who_had_read() -> None:
    pool = records(5)
    found = State.of(review(BLINDED), pool[:4], told("ann in 2"))
    found.apply(told("- add 1", first=2), pool[4:])
    assert found.grew == {(Stage.ABSTRACT, "ann"): 2}


@pytest.mark.parametrize(
    ("lines", "grew"),
    [
        (["ann in 2", "ann undo #1"], 0),  # nothing was read in between
        (["ann in 2", "ann in 3", "ann undo #2"], 0),
        (["ann in 2", "ann in 3", "ann undo #1"], 3),  # 3 was chosen when 2 was not to be had
        (["ann in 2", "ann in 3", "ann out 2", "ann undo #3"], 0),  # it stays read
        (["ann in 2", "ann in 3", "ann later 2"], 0),  # put off: it may be relevant, and is counted so
        (["ann in 2", "ann in 3", "ann apart 6"], 3),
        (["ann apart 6"], 0),
        (["ann twin 2 3", "ann in 3", "ann in 4", "ann undo #1"], 4),
        (["ann in 2", "ann twin 3 4"], 0),
    ],
)
def test_more_is_unread_than_there_was(lines: list[str], grew: int) -> None:
    found = state(*lines, pool=records(6, twins={6: 5}))
    assert found.grew.get((Stage.ABSTRACT, ""), 0) == grew


def test_a_change_of_who_decides_is_a_change_of_what_is_unread() -> None:
    found = State.of(review(), records(4), [*told("ann in 2"), event(2, "plan", detail=plan_to_json(BLINDED))])
    assert found.grew == {(Stage.ABSTRACT, "ann"): 2}


def test_the_plan_was_changed_after_what_anyone_had_read() -> None:
    other = replace(BLINDED, question="?")
    lines = [*told("ann in 1", "ann in 2", "bo in 2"), event(4, "plan", detail=plan_to_json(other))]
    assert [change.read for change in State.of(review(BLINDED), records(4), lines).plan_changes] == [2]


# --- all orders of events, against an independent reckoning


def expected(plan: Plan, pool: Sequence[PoolRecord], events: Sequence[ReviewEvent]) -> dict[str, object]:
    """What holds, reckoned from the end: no group, list or count is kept up."""
    undone: set[int] = set()
    kinds = {one.id: one.kind.value for one in events}
    for one in reversed(events):
        undoes = one.kind is ReviewEventKind.UNDO and one.id not in undone and one.undoes < one.id
        if undoes and kinds.get(one.undoes) in ("decide", "resolve", "twin", "apart", "undo"):
            undone.add(one.undoes)
    hold = [one for one in events if one.id not in undone]
    groups = [{record.number} for record in pool]

    def of(number: int) -> set[int]:
        return next(group for group in groups if number in group)

    for record in pool:
        if record.twin and of(record.twin) is not of(record.number):
            one, other = of(record.twin), of(record.number)
            groups[:] = [group for group in groups if group not in (one, other)] + [one | other]
    for act in hold:
        if act.kind is ReviewEventKind.TWIN and of(act.record) is not of(act.other):
            one, other = of(act.record), of(act.other)
            groups[:] = [group for group in groups if group not in (one, other)] + [one | other]
        if act.kind is ReviewEventKind.APART and len(of(act.record)) > 1:
            rest = of(act.record) - {act.record}
            groups[:] = [group for group in groups if act.record not in group] + [rest, {act.record}]

    def label(group: set[int], stage: Stage, view: str) -> Label | str | None:
        mine = [e for e in hold if e.kind.value in ("decide", "resolve") and e.record in group and e.stage is stage]
        given = [record.label for record in pool if record.number in group and record.label and stage is Stage.ABSTRACT]
        known = (IN if IN in given else given[-1]) if given else None
        if plan.sharing is Sharing.SHARED:
            last = mine[-1].label if mine else known
            return None if last is LATER else last
        prior = [e.label for e in mine if e.chosen is Chosen.PRIOR and e.kind is ReviewEventKind.DECIDE]
        known = prior[-1] if prior else known
        known = None if known is LATER else known
        resolved = [e.label for e in mine if e.kind is ReviewEventKind.RESOLVE]
        if resolved:
            return resolved[-1]
        last_of = {}
        for e in mine:
            if e.chosen is not Chosen.PRIOR:
                last_of[e.screener] = e.label
        if view:
            own = last_of.get(view, known)
            return None if own is LATER else own
        named = {name: last_of[name] for name in plan.screeners if name in last_of}
        final = {one for one in named.values() if one is not LATER}
        if not named:
            return known
        if len(final) > 1:
            return "conflict"
        return final.pop() if final and LATER not in named.values() and len(named) == len(plan.screeners) else None

    found: dict[str, object] = {}
    views = ["", *plan.screeners] if plan.sharing is Sharing.BLINDED else [""]
    included = [group for group in groups if label(group, Stage.ABSTRACT, "") is IN]
    for stage, there in ((Stage.ABSTRACT, groups), (FULL, included)):
        for view in views:
            of_view = {min(group): label(group, stage, view) for group in there}
            found[f"{stage} {view}"] = {n: one for n, one in of_view.items() if isinstance(one, Label)}
            if not view:
                found[f"{stage} conflicts"] = sorted(n for n, one in of_view.items() if one == "conflict")
    found["groups"] = sorted(min(group) for group in groups)
    return found


def reckoned(found: State) -> dict[str, object]:
    result: dict[str, object] = {"groups": sorted(found.groups)}
    for stage in Stage:
        for view in found.views():
            track = found.track(stage, view)
            assert track.included == sum(one.label is IN for one in track.of.values())
            assert [one.key for one in track.steps] == sorted(one.key for one in track.steps)
            assert {one.group for one in track.steps} == set(track.of) | set(track.put_off)
            assert not set(track.of) & set(track.put_off)
            result[f"{stage} {view}"] = dict(sorted(found.labels(stage, view).items()))
            unread = set(found.pool(stage)) - set(track.of)
            assert set(found.unread(stage, view)) == unread
        result[f"{stage} conflicts"] = found.conflicts(stage)
    return result


def snapshot(found: State) -> object:
    tracks = {
        (stage, view): (tuple(found.track(stage, view).steps), sorted(found.track(stage, view).later.items()))
        for stage in Stage
        for view in found.views()
    }
    orders = {(stage, view): found.audit_order(stage, view) for stage in Stage for view in found.views()}
    return tracks, orders, sorted(found.groups), found.grew, found.plan_changes, found.review


POOL = records(5, twins={5: 2}, labels={4: IN, 3: OUT})
NUMBERS = st.integers(1, 5)
ACTS = st.one_of(
    st.tuples(
        st.just("decide"),
        st.sampled_from(["ann", "bo", "cy"]),
        NUMBERS,
        st.sampled_from([IN, IN, OUT, LATER]),
        st.sampled_from([Stage.ABSTRACT, Stage.ABSTRACT, FULL]),
        st.sampled_from([Chosen.RANKED, Chosen.AUDIT, Chosen.PRIOR]),
    ),
    st.tuples(st.just("resolve"), st.just("ann"), NUMBERS, st.sampled_from([IN, OUT]), st.sampled_from(list(Stage))),
    st.tuples(st.just("twin"), st.just("ann"), NUMBERS, NUMBERS),
    st.tuples(st.just("apart"), st.just("bo"), NUMBERS),
    st.tuples(st.just("undo"), st.just("bo"), st.integers(1, 14)),
    st.tuples(st.just("audit"), st.just("ann"), st.integers(0, 9), st.sampled_from(list(Stage))),
)
PLANS = st.sampled_from(
    [Plan(), Plan(screeners=("ann", "bo")), BLINDED, replace(BLINDED, screeners=("bo", "cy", "ann"))]
)


def happened(acts: Sequence[tuple[object, ...]]) -> list[ReviewEvent]:
    events = []
    for number, (kind, screener, *rest) in enumerate(acts, 1):
        names = {
            "decide": ("record", "label", "stage", "chosen"),
            "resolve": ("record", "label", "stage"),
            "twin": ("record", "other"),
            "apart": ("record",),
            "undo": ("undoes",),
            "audit": ("detail", "stage"),
        }[str(kind)]
        fields = dict(zip(names, rest, strict=True))
        if kind == "audit":
            fields["detail"] = f'{{"seed":{rest[0]}}}'
        events.append(event(number, str(kind), str(screener), **fields))
    return events


@given(PLANS, st.lists(ACTS, max_size=14))
@settings(max_examples=600, deadline=None)
def test_any_events_give_what_they_say(plan: Plan, acts: list[tuple[object, ...]]) -> None:
    events = happened(acts)
    assert reckoned(State.of(review(plan), POOL, events)) == expected(plan, POOL, events)


@given(PLANS, st.lists(ACTS, max_size=14), st.lists(st.integers(0, 14), max_size=4))
@settings(max_examples=300, deadline=None)
def test_one_by_one_is_all_at_once(plan: Plan, acts: list[tuple[object, ...]], cuts: list[int]) -> None:
    events = happened(acts)
    once = State.of(review(plan), POOL, events)
    bit_by_bit = State.of(review(plan), POOL)
    for start, end in itertools.pairwise([0, *sorted(cuts), len(events)]):
        bit_by_bit.apply(events[start:end])
        reckoned(bit_by_bit)  # looking changes nothing
        bit_by_bit.audit_order()
    assert snapshot(bit_by_bit) == snapshot(once)


@given(PLANS, st.lists(ACTS, max_size=10), ACTS)
@settings(max_examples=300, deadline=None)
def test_an_undo_takes_back_all_that_the_event_did(
    plan: Plan, acts: list[tuple[object, ...]], last: tuple[object, ...]
) -> None:
    if last[0] == "audit":
        return
    before = happened(acts)
    done = happened([*acts, last])
    undone = [*done, event(len(done) + 1, "undo", undoes=len(done))]
    again = [*undone, event(len(undone) + 1, "undo", undoes=len(undone))]
    whole = State.of(review(plan), POOL, before)
    assert reckoned(State.of(review(plan), POOL, undone)) == reckoned(whole)
    assert [s.key for s in State.of(review(plan), POOL, undone).track().steps] == [s.key for s in whole.track().steps]
    assert reckoned(State.of(review(plan), POOL, again)) == reckoned(State.of(review(plan), POOL, done))


@given(st.lists(ACTS, max_size=12), st.lists(ACTS, max_size=4))
@settings(max_examples=200, deadline=None)
def test_others_decisions_do_not_show_in_a_blinded_view(
    acts: list[tuple[object, ...]], more: list[tuple[object, ...]]
) -> None:
    hidden = [act for act in more if act[0] == "decide" and act[1] != "ann" and act[-1] is not Chosen.PRIOR]
    hidden = [act for act in hidden if act[4] is Stage.ABSTRACT]
    found = State.of(review(BLINDED), POOL, happened(acts))
    first = snapshot_of(found, "ann")
    found.apply(happened([*acts, *hidden])[len(acts) :])
    assert snapshot_of(found, "ann") == first


def snapshot_of(found: State, name: str) -> object:
    track = found.track(Stage.ABSTRACT, name)
    return tuple(track.steps), sorted(track.later), found.audit_order(Stage.ABSTRACT, name), found.unread(screener=name)
