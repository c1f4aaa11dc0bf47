"""What may be planned and decided, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broadsheet.errors import InputError
from broadsheet.learn.trail import Step
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Plan,
    ReviewEvent,
    Sharing,
    StoppingPlan,
)
from broadsheet.screen import check_event, check_plan
from broadsheet.screen.trail import trail
from tests.screen_makers import BLINDED, event, state, told

IN, OUT = Label.INCLUDE, Label.EXCLUDE


# --- what is refused (field case G11 and others)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        *(
            (StoppingPlan(target=value), "target recall must lie between 0 and 1")
            for value in (0, 1, 1.2, -1, float("nan"))
        ),
        *((StoppingPlan(confidence=value), "confidence must lie between 0 and 1") for value in (0, 1, 1.2, True)),
        (StoppingPlan(floor=1), "floor must lie between"),
        (StoppingPlan(floor=0.96), "floor"),
        (StoppingPlan(advantage=0.5), "advantage of the ranking must be 1 or more"),
        (StoppingPlan(advantage=float("inf")), "advantage"),
        (StoppingPlan(in_a_row=0), "in a row must be 1 or more"),
        (StoppingPlan(in_a_row=-2), "in a row must be 1 or more"),
        (StoppingPlan(budget=-1), "budget must be 0 records or more"),
        (StoppingPlan(rule="budget"), "this stopping rule cannot be: a budget must be 1 record or more"),
        (StoppingPlan(rule="gut feeling"), "this stopping rule cannot be: there is no stopping rule 'gut feeling'"),
    ],
)
def test_stopping_plans_that_cannot_be(plan: StoppingPlan, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_plan(Plan(stopping=plan))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(criteria=(Criterion("a", "x"), Criterion("a", "y"))), "the criterion “a” is there twice"),
        (Plan(criteria=(Criterion(" ", "x"),)), "1 to 40 printable characters"),
        (Plan(criteria=(Criterion("a" * 41, "x"),)), "1 to 40 printable characters"),
        (Plan(criteria=(Criterion("two words", "x"),)), "is not one word"),
        (Plan(criteria=(Criterion("a;b", "x"),)), "is not one word"),
        (Plan(seed=2**63), "seed: 9223372036854775808 is too large"),
        (Plan(stopping=StoppingPlan(budget=2**63)), "budget: .* is too large"),
        (Plan(stopping=StoppingPlan(in_a_row=2**63)), "in_a_row: .* is too large"),
        (Plan(criteria=(Criterion("a\n", "x"),)), "1 to 40 printable characters"),
        (Plan(criteria=(Criterion("not-retrieved", "x"),)), "is kept for reports that could not be had"),
        (Plan(criteria=(Criterion("a", " "),)), "“a” has no text; write CODE: text"),
        (Plan(screeners=("ann", "ann")), "each may be there once"),
        (Plan(screeners=("ann", "")), "must not be empty"),
        (Plan(sharing=Sharing.BLINDED), "blinded screening takes two screeners or more"),
        (Plan(sharing=Sharing.BLINDED, screeners=("ann",)), "blinded screening takes two screeners or more"),
        (Plan(seed=-1), "seed must be 0 or more"),
        (Plan(model="oracle"), "no screening model 'oracle'"),
        (Plan(querier="whim"), "no querier 'whim'"),
    ],
)
def test_plans_that_cannot_be(plan: Plan, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_plan(plan)


RULES = (
    "rank-advantage",
    "distribution-free",
    "irrelevant-in-a-row",
    "chao",
    "hypergeometric",
    "rank-advantage or chao",
)


@pytest.mark.parametrize("rule", RULES)
def test_plans_that_can_be(rule: str) -> None:
    check_plan(Plan(stopping=StoppingPlan(rule=rule)))
    check_plan(BLINDED)


NAMED = replace(BLINDED, criteria=(Criterion("pop", "Wrong population"),))


def one(line: str, number: int = 9, **fields: object) -> ReviewEvent:
    return replace(told(line, first=number)[0], **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (one("cy in 1"), "“cy” is not a screener of the review “Statins”: it names ann, bo"),
        (one("ann in 1", label=None), "needs a label"),
        (one("ann out 1", reasons=("age",)), "there is no criterion “age”; there are not-retrieved, pop"),
        (one("ann in 1 full-text"), "was not included by title and abstract"),
        (one("ann resolve-in 5"), "record 5 is not in conflict"),
        (one("ann resolve-later 2"), "resolved by include or exclude"),
        (one("ann twin 1 1"), "cannot repeat itself"),
        (one("ann twin 4 6"), "known to be the same already"),
        (one("cy twin 1 2"), "is not a screener"),
        (one("ann apart 1"), "nothing to take apart"),
        (one("ann undo #99"), "there is no event 99"),
        (one("ann undo #4"), "this event \\(decide\\) is taken back already"),
        (one("ann undo #6"), "this event \\(audit\\) cannot be taken back"),
        (one("ann undo #2"), "another screener's"),
        (one("ann prior-in 2"), "record 2 has been screened"),
        (one("cy prior-in 2"), "is not a screener"),
    ],
)
def test_events_that_may_not_be(act: ReviewEvent, words: str) -> None:
    lines = [
        "ann in 2",
        "bo out 2",
        "ann twin 4 6",
        "ann in 5",
        "ann undo #4",
        "ann audit 5",
        "bo undo #3",
        "bo undo #7",
    ]
    found = state(*lines, plan=NAMED)
    with pytest.raises(InputError, match=words):
        check_event(found, act)


@pytest.mark.parametrize(
    "act",
    [
        one("ann in 1"),
        one("ann out 1", reasons=("pop", "not-retrieved")),
        one("ann later 2"),
        one("cy resolve-in 2"),
        one("ann undo #1"),
        one("bo undo #3"),
        one("ann undo #4"),
        one("ann apart 6"),
        one("ann twin 1 2"),
        one("bo prior-in 5"),  # who does not see that ann has decided of it
        event(9, "stop", "cy", detail="{}"),
    ],
)
def test_events_that_may_be(act: ReviewEvent) -> None:
    found = state("ann in 2", "bo out 2", "ann twin 4 6", "ann in 5", plan=NAMED)
    check_event(found, act)


def test_what_was_chosen_by_hand_or_in_a_conflict_says_so() -> None:
    found = state("ann in 1", "bo resolve-out 2", plan=Plan())
    assert [step.chosen for step in trail(found).steps] == [Chosen.RANKED, Chosen.MANUAL]
    assert isinstance(trail(found).steps[0], Step)
