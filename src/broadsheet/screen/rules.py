"""What may be planned and what may be decided: refused before it is written, with the remedy."""

from __future__ import annotations

import math
from typing import Any

from broadsheet.errors import InputError
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Plan,
    ReviewEvent,
    ReviewEventKind,
    Sharing,
    Stage,
    StoppingPlan,
)
from broadsheet.screen.fold import FINAL, GROUPING, UNDOABLE
from broadsheet.screen.sources import check_naming
from broadsheet.screen.state import State

NOT_RETRIEVED = "not-retrieved"
"""The reason of an exclusion at full text that says that the report could not be had."""

_LONGEST_CODE = 40
_MOST = 2**63 - 1  # that can be kept


def check_plan(plan: Plan) -> None:
    """Raises InputError for a plan that cannot be followed; the message names the field and what to do."""
    _check_stopping(plan.stopping)
    if plan.seed < 0:
        raise InputError(f"the seed must be 0 or more, not {plan.seed}")
    for name, value in (("seed", plan.seed), ("in_a_row", plan.stopping.in_a_row), ("budget", plan.stopping.budget)):
        if value > _MOST:
            raise InputError(f"{name}: {value} is too large; give a smaller number")
    codes = [criterion.code for criterion in plan.criteria]
    for criterion in plan.criteria:
        _check_criterion(criterion)
        if codes.count(criterion.code) > 1:
            raise InputError(f"the criterion “{criterion.code}” is there twice: each code must be unique")
    names = plan.screeners
    if any(not name.strip() for name in names) or len(set(names)) < len(names):
        raise InputError("the names of screeners must not be empty, and each may be there once")
    if plan.sharing is Sharing.BLINDED and len(names) < 2:
        raise InputError("blinded screening takes two screeners or more: name all who will decide")
    from broadsheet.learn.screening import model_of

    model_of(plan.model, plan.querier)


def check_event(state: State, event: ReviewEvent) -> None:
    """Raises InputError for an event that a person may not cause as the review stands."""
    checks = {
        ReviewEventKind.DECIDE: _check_decision,
        ReviewEventKind.RESOLVE: _check_decision,
        ReviewEventKind.TWIN: _check_grouping,
        ReviewEventKind.APART: _check_grouping,
        ReviewEventKind.DIFFERENT: _check_grouping,
        ReviewEventKind.UNDO: _check_undo,
        ReviewEventKind.SOURCE: check_naming,
    }
    if event.kind in checks:
        checks[event.kind](state, event)


def _check_criterion(criterion: Criterion) -> None:
    code = criterion.code
    if not code.strip() or len(code) > _LONGEST_CODE or not code.isprintable():
        raise InputError(f"a criterion's code must have 1 to {_LONGEST_CODE} printable characters, not “{code}”")
    if not criterion.text.strip():
        raise InputError(f"criteria: “{code}” has no text; write CODE: text, such as “POP: not about adults”")
    if any(letter.isspace() or letter in ",;" for letter in code):
        raise InputError(f"criteria: the code “{code}” is not one word; give a short one, such as POP")
    if code == NOT_RETRIEVED:
        raise InputError(f"“{NOT_RETRIEVED}” is kept for reports that could not be had: choose another code")


def _check_stopping(plan: StoppingPlan) -> None:
    for name, value in (("target recall", plan.target), ("confidence", plan.confidence), ("floor", plan.floor)):
        if not _is_number(value) or not 0 < value < 1:
            raise InputError(f"the {name} must lie between 0 and 1, both excluded, not {value}: 0.95 is usual")
    if not _is_number(plan.advantage) or plan.advantage < 1:
        raise InputError(f"the advantage of the ranking must be 1 or more, not {plan.advantage}")
    if plan.in_a_row < -1 or plan.in_a_row == 0:
        raise InputError(f"the number of irrelevant records in a row must be 1 or more, or −1, not {plan.in_a_row}")
    if plan.budget < 0:
        raise InputError(f"the budget must be 0 records or more, not {plan.budget}")
    from broadsheet.learn.stoppers import stopper_of

    try:
        stopper_of(plan)
    except ValueError as error:
        raise InputError(f"this stopping rule cannot be: {error}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check_screener(state: State, screener: str) -> None:
    """Raises InputError for one who is not among the screeners that the plan names."""
    names = state.review.plan.screeners
    if names and screener not in names:
        raise InputError(
            f"“{screener}” is not a screener of the review “{state.review.name}”: it names {', '.join(names)}; "
            "change its plan to add one"
        )


def _check_decision(state: State, event: ReviewEvent) -> None:
    number, stage = event.record, event.stage
    resolves = event.kind is ReviewEventKind.RESOLVE
    state.group(number)
    if event.label is None:
        raise InputError(f"record {number}: a decision needs a label: include, exclude or later")
    if not resolves:
        check_screener(state, event.screener)
    elif event.label not in FINAL:
        raise InputError(f"record {number}: a conflict is resolved by include or exclude")
    elif not state.is_conflict(number, stage) and state.final(number, stage) is None:
        raise InputError(f"record {number} is not in conflict: there is nothing to resolve")
    if event.chosen is Chosen.PRIOR and _is_screened(state, event):
        raise InputError(
            f"record {number} has been screened, so that it was not known beforehand: decide it again, or take back "
            "what was decided"
        )
    if stage is Stage.FULL_TEXT and state.final(number) is not Label.INCLUDE:
        raise InputError(f"record {number} was not included by title and abstract: its full text is not to be read")
    known = {criterion.code for criterion in state.review.plan.criteria} | {NOT_RETRIEVED}
    for reason in event.reasons:
        if reason not in known:
            raise InputError(f"record {number}: there is no criterion “{reason}”; there are {', '.join(sorted(known))}")


def _is_screened(state: State, event: ReviewEvent) -> bool:
    """Whether a record was decided of, as far as the one who gives a label of it may know."""
    known = state.decisions(event.record, event.stage)
    seen = known if not state.view(event.screener) else [one for one in known if one.screener == event.screener]
    return any(one.chosen is not Chosen.PRIOR for one in seen)


def _check_grouping(state: State, event: ReviewEvent) -> None:
    check_screener(state, event.screener)
    members = state.members(event.record)
    if event.kind is ReviewEventKind.APART:
        if len(members) == 1:
            raise InputError(f"record {event.record} repeats no other: there is nothing to take apart")
        return
    state.group(event.other)
    if event.other == event.record:
        raise InputError(f"record {event.record} cannot repeat itself: name the other record")
    if event.other in members and event.kind is ReviewEventKind.DIFFERENT:
        raise InputError(
            f"records {event.record} and {event.other} are taken for the same: say that {event.record} stands apart"
        )
    if event.other in members:
        raise InputError(f"records {event.record} and {event.other} are known to be the same already")


def _check_undo(state: State, event: ReviewEvent) -> None:
    """Without numbers: a blinded screener knows events by others (``library.screening_numbers``)."""
    target = state.event(event.undoes)
    if target is None:
        raise InputError(f"there is no event {event.undoes} to take back")
    if target.kind not in UNDOABLE:
        raise InputError(f"this event ({target.kind}) cannot be taken back: only decisions and groupings can")
    if state.is_undone(target.id):
        raise InputError(f"this event ({target.kind}) is taken back already")
    own = target.screener == event.screener or target.kind in (*GROUPING, ReviewEventKind.DIFFERENT)
    if state.is_blinded and not own and target.kind is not ReviewEventKind.RESOLVE:
        raise InputError("this event is another screener's: in a blinded review each takes back only their own")
