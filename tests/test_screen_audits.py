"""Audits: their random order, what they cover, and when more is unread than before."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from broadsheet.model.screening import Label, Plan, PoolRecord, Stage
from broadsheet.screen.state import State
from broadsheet.store import plan_to_json
from tests.screen_makers import BLINDED, event, records, review, told

IN, OUT, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
FULL = Stage.FULL_TEXT


def state(*lines: str, plan: Plan | None = None, pool: Sequence[PoolRecord] | None = None) -> State:
    return State.of(review(plan), pool or records(6), told(*lines))


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
