"""What a reader has said: what holds of each paper, and what an undo would take back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


def together(events: Sequence[Event], event: Event) -> list[Event]:
    """What was done at one stroke with an event, in order: all examples that one call named or took from a library, or
    all undos that took these back. Any other event stands alone.

    Such events are kept ``apart``: their numbers follow one another, and none is next to theirs.
    """
    by_id = {one.id: one for one in (*events, event)}

    def is_one(number: EventId) -> bool:
        one = by_id.get(number)
        return one is not None and _about_examples(one, by_id) and one.action is event.action

    if not _about_examples(event, by_id):
        return [event]
    first = last = event.id
    while is_one(first - 1):
        first -= 1
    while is_one(last + 1):
        last += 1
    return [by_id[number] for number in range(first, last + 1)]


def _about_examples(event: Event, by_id: Mapping[EventId, Event]) -> bool:
    found: Event | None = event
    while found is not None and found.action is Action.UNDO:
        found = by_id.get(found.undoes) if found.undoes < found.id else None
    return found is not None and found.action is Action.EXAMPLE


def last_actions(events: Sequence[Event]) -> dict[PaperId, Action]:
    """What was done with each paper, an opening only where nothing else was."""
    done: dict[PaperId, Action] = {}
    for event in in_force(events):
        if event.action is not Action.OPEN or event.paper not in done:
            done[event.paper] = event.action
    return done
