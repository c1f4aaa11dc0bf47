"""Whether a statement that was kept when screening was stopped is still of the labels that there are.

Deciding after a stop is allowed: a label may be wrong. The statement stays in the history as it was made, but it speaks
of other labels, or of other records, than the review has now.
"""

from __future__ import annotations

from itertools import takewhile

from broadsheet.model.screening import Chosen, ReviewEvent, ReviewEventKind, Stage
from broadsheet.screen.fold import DECISIONS, GROUPING, WHOLE, added
from broadsheet.screen.state import State

REMEDY = "Stop again to keep what can be said now, or reopen screening to go on."


def superseded(state: State, stage: Stage, view: str = WHOLE) -> str:
    """A sentence on what came after the statement that was kept for a stage and a view; empty where nothing did, or
    none was kept."""
    stops = [state.stopped[key] for key in ((stage, view), (stage, WHOLE)) if key in state.stopped]
    if not stops and view == WHOLE and state.is_stopped(stage):
        stops = [state.stopped[stage, name] for name in state.views()[1:]]
    for stop in stops:
        since = _since(state, stop, view or state.own_view(stop.screener))
        if since:
            return _sentence(stop, since)
    return ""


def _since(state: State, stop: ReviewEvent, view: str) -> list[ReviewEvent]:
    """What changed labels or records after a statement, and was not taken back."""
    after = takewhile(lambda event: event.id > stop.id, reversed(state.events))
    return [one for one in after if not state.is_undone(one.id) and _concerns(state, one, stop, view)]


def _concerns(state: State, event: ReviewEvent, stop: ReviewEvent, view: str) -> bool:
    if event.kind is ReviewEventKind.UNDO:
        target = state.event(event.undoes)
        # What came after the stop and was taken back leaves everything as it was.
        return target is not None and target.id < stop.id and _concerns(state, target, stop, view)
    if event.kind in DECISIONS:
        # At the second stage there is what the first one includes.
        is_of = event.stage is stop.stage or stop.stage is Stage.FULL_TEXT
        alone = event.kind is ReviewEventKind.DECIDE and event.chosen is not Chosen.PRIOR
        return is_of and (not alone or view in (WHOLE, event.screener))
    return event.kind in GROUPING or (event.kind is ReviewEventKind.ADD and added([event]) > 0)


def _sentence(stop: ReviewEvent, since: list[ReviewEvent]) -> str:
    new = added([event for event in since if event.kind is ReviewEventKind.ADD])
    changes = sum(event.kind is not ReviewEventKind.ADD for event in since)
    told = [f"{changes:,} {'decision was made or changed' if changes == 1 else 'decisions were made or changed'}"]
    told = told if changes else []
    told += [f"{new:,} {'record was' if new == 1 else 'records were'} added"] if new else []
    kept = stop.moment.date().isoformat()
    return f"The statement that was kept on {kept} is superseded: since then {' and '.join(told)}."
