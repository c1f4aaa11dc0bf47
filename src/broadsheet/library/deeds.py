"""What a reader did, as far as it must be read: what an undo takes back, and what stays muted after it.

Who calls these holds the store's lock, so nothing here reads all that a reader ever did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from broadsheet.errors import NotFoundError
from broadsheet.feed.marks import last_deed, together, undone
from broadsheet.feed.profile import same_interest, with_interest, without_interest
from broadsheet.model.reading import Action, Event, EventId, Interest, Profile

if TYPE_CHECKING:
    from broadsheet.store.reading import ReaderStore

_PAGE, _MOST = 100, 5000  # events that are read together: at first, and where many are wanted


class Undoing(NamedTuple):
    """The events that an undo takes back together, in order; empty where there is nothing to take back.

    ``profile`` is the reader's after it, None where it stays as it is.
    """

    targets: list[Event]
    profile: Profile | None = None


def undoing(reading: ReaderStore, name: str, profile: Profile, event: EventId | None) -> Undoing:
    """What an undo of an event takes back, or one of the last thing done (None).

    Raises NotFoundError for an event that is not the reader's.
    """
    if event is None:
        recent = _Newest(reading, name)
        target = last_deed(recent.events)
        while target is None and recent.more():
            target = last_deed(recent.events)
        if target is None:
            return Undoing([])
        found = _together(recent, target)
        gone = undone(recent.events)
        targets = [one for one in found if one.id not in gone]
    else:
        target = _event(reading, name, event)
        if target.id in _undone_of(reading, name, [target]):
            return Undoing([])
        targets = [target] if target.action is Action.EXAMPLE else _redone(reading, name, target)
    alone = targets[0] if len(targets) == 1 and targets[0].action is not Action.EXAMPLE else None
    return Undoing(targets, _profile_without(reading, name, profile, alone) if alone else None)


class _Newest:
    """A reader's newest events, as many as were asked for, in order."""

    def __init__(self, reading: ReaderStore, name: str) -> None:
        self._reading, self._name, self._size = reading, name, _PAGE
        self.events: list[Event] = []
        self._whole = False
        self.more()

    def more(self) -> bool:
        """Read what was before; False where there is no more."""
        if self._whole:
            return False
        before = self.events[0].id if self.events else None
        page = self._reading.newest_events(self._name, list(Action), self._size, before=before)
        self.events = [*reversed(page), *self.events]
        self._whole, self._size = len(page) < self._size, min(2 * self._size, _MOST)
        return bool(page)


def _together(recent: _Newest, target: Event) -> list[Event]:
    """What was done at one stroke with an event, reading back as far as that goes."""
    found = together(recent.events, target)
    while found[0].id == recent.events[0].id and recent.more():
        found = together(recent.events, target)
    return found


def _redone(reading: ReaderStore, name: str, target: Event) -> list[Event]:
    """What is taken back with an event that may be an undo: all undos of examples that were made at one stroke."""
    root = target
    while root.action is Action.UNDO:
        root = _event(reading, name, root.undoes)
    if root is target or root.action is not Action.EXAMPLE:
        return [target]
    events = reading.events(name, after=root.id - 1)
    # The examples before this one, which the first of the undos are about.
    events = [*reversed(reading.newest_events(name, [Action.EXAMPLE], _MOST, before=root.id)), *events]
    gone = undone(events)
    return [one for one in together(events, target) if one.id not in gone]


def _event(reading: ReaderStore, name: str, event: EventId) -> Event:
    found = reading.newest_events(name, list(Action), 1, before=event + 1)
    if not found or found[0].id != event:
        raise NotFoundError(f"{name} has no event {event}")
    return found[0]


def _undone_of(reading: ReaderStore, name: str, events: Sequence[Event]) -> set[EventId]:
    """What was taken back of events, and of what else was said of their papers: an undo names the paper, too."""
    about = reading.events_of(name, [*{event.paper for event in events}, 0]).values()
    return undone([event for some in about for event in some])


def came_with_another(reading: ReaderStore, name: str, mute: Interest) -> bool:
    """Whether a mute came with a dismissal that was not taken back."""
    given = reading.events_with_reason(name)
    gone = _undone_of(reading, name, given)
    return any(one.because and one.id not in gone and same_interest(one.because, mute) for one in given)


def _profile_without(reading: ReaderStore, name: str, profile: Profile, target: Event) -> Profile | None:
    """The profile after an undo, where that changes it: a dismissal's mute goes, and comes back with its redo."""
    if target.action is Action.UNDO:
        again = _event(reading, name, target.undoes)
        return replace(profile, mutes=with_interest(profile.mutes, again.because)) if again.because else None
    if target.because is None:
        return None
    given = reading.events_with_reason(name)
    gone = _undone_of(reading, name, given) | {target.id}
    if any(one.because and one.id not in gone and same_interest(target.because, one.because) for one in given):
        return None
    return replace(profile, mutes=without_interest(profile.mutes, target.because))
