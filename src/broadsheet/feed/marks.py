"""What a reader has said: what holds of each paper, and what an undo would take back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from broadsheet.learn.memory import in_force
from broadsheet.model import PaperId
from broadsheet.model.reading import Action, Event, EventId, Interest

ABOUT_A_PAPER = frozenset({Action.OPEN, Action.SAVE, Action.LIKE, Action.DISMISS, Action.EXAMPLE})


def marks(events: Iterable[Event]) -> dict[PaperId, dict[Action, EventId]]:
    """What holds by paper and action, with the event that an undo takes back."""
    found: dict[PaperId, dict[Action, EventId]] = {}
    for event in in_force(events):
        found.setdefault(event.paper, {})[event.action] = event.id
    return found


def already(
    events: Sequence[Event], action: Action, paper: PaperId, now: datetime, because: Interest | None
) -> Event | None:
    """The event that says just this and holds: doing a thing twice is as doing it once. Openings count once a day."""
    for event in reversed(in_force(events)):
        if event.paper == paper and event.action is action and (because is None or because == event.because):
            same_day = event.moment.astimezone(now.tzinfo).date() == now.date()
            return event if action is not Action.OPEN or same_day else None
    return None


def undone(events: Sequence[Event]) -> set[EventId]:
    """The events that an undo which holds itself took back."""
    gone: set[EventId] = set()
    for event in sorted(events, key=lambda event: event.id, reverse=True):
        if event.action is Action.UNDO and event.id not in gone and event.undoes < event.id:
            gone.add(event.undoes)
    return gone


def last_deed(events: Sequence[Event]) -> Event | None:
    """The last thing done that was not taken back; openings are nothing that a person wants to take back."""
    gone = undone(events)
    skipped = {Action.UNDO, Action.OPEN}
    return next((event for event in reversed(events) if event.action not in skipped and event.id not in gone), None)


def last_actions(events: Sequence[Event]) -> dict[PaperId, Action]:
    """What was done with each paper, an opening only where nothing else was."""
    done: dict[PaperId, Action] = {}
    for event in in_force(events):
        if event.action is not Action.OPEN or event.paper not in done:
            done[event.paper] = event.action
    return done
