"""What was read of a stage, in the order in which it was read: by all together, or by one blinded screener."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from broadsheet.model.screening import Chosen, Label, ReviewEvent, ReviewEventId, ReviewEventKind
from broadsheet.screen.groups import Group


@dataclass(frozen=True, slots=True)
class Step:
    """A group that was put before somebody: since which event (0: it came with a label), how it had been chosen, and
    its label now; None where it was put off or screeners disagree, so that it is unread still. ``captures`` is how many
    of several blinded screeners included it: none of what was known before.
    """

    event: ReviewEventId
    group: Group
    label: Label | None
    chosen: Chosen = Chosen.PRIOR
    place: int = 0
    unread: int = 0
    captures: int = 1

    @property
    def key(self) -> tuple[ReviewEventId, Group]:
        """Where it stands among others."""
        return self.event, self.group


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a group stands: the label that holds (None: unread), and why it is unread where it was put before somebody.

    ``since`` is the event by which that first happened; None where it came with its label or was never looked at.
    """

    label: Label | None = None
    since: ReviewEvent | None = None
    later: bool = False
    conflict: bool = False
    captures: int = 1

    @property
    def is_put(self) -> bool:
        """Whether it counts as put before the screeners."""
        return self.label is not None or self.later or self.conflict

    def step(self, group: Group) -> Step | None:
        """Its place among what was put before the screeners; None where it was not."""
        if not self.is_put:
            return None
        event = self.since
        if event is None:
            return Step(0, group, self.label, captures=0)
        chosen = event.chosen or Chosen.MANUAL
        return Step(event.id, group, self.label, chosen, event.place, event.unread, self.captures)


@dataclass(frozen=True)
class Reading:
    """By which rules decisions become one label: shared where ``screeners`` is empty, else blinded.

    ``view`` is a screener's name for that screener's own labels, empty for the review's.
    """

    screeners: tuple[str, ...] = ()
    view: str = ""

    def outcome(self, decisions: Iterable[ReviewEvent], known: Label | None = None) -> Outcome:
        """What comes of a group's decisions that hold, in their order; ``known`` is the label it came with.

        A group stands where it was first put before the screeners, whatever was decided of it afterwards.
        """
        found = Outcome(known)
        desk = _Desk(known)
        for event in decisions:
            desk.take(event)
            label, conflict = self._label(desk)
            later = label is None and not conflict and self._is_later(desk)
            stays = found.is_put and (found.since is not None or label is not None)
            found = Outcome(label, found.since if stays else event, later, conflict, self._captures(desk))
        return found

    def _label(self, desk: _Desk) -> tuple[Label | None, bool]:
        if not self.screeners:
            return _decided(desk.last), False
        if desk.resolved is not None:
            return desk.resolved, False
        if self.view:
            return _decided(desk.own.get(self.view, desk.known)), False
        own = [desk.own[name] for name in self.screeners if name in desk.own]
        if not own:
            return _decided(desk.known), False
        decided = [label for label in own if label is not Label.LATER]
        if len(set(decided)) > 1:
            return None, True
        return (decided[0] if len(decided) == len(self.screeners) else None), False

    def _captures(self, desk: _Desk) -> int:
        if self.view:
            return 1
        return sum(desk.own.get(name) is Label.INCLUDE for name in self.screeners) if self.screeners else 1

    def _is_later(self, desk: _Desk) -> bool:
        if not self.screeners:
            return desk.last is Label.LATER
        if self.view:
            return desk.own.get(self.view) is Label.LATER
        return Label.LATER in desk.own.values()


class _Desk:
    """What has been decided of one group so far."""

    def __init__(self, known: Label | None) -> None:
        self.last = self.known = known
        self.own: dict[str, Label] = {}
        self.resolved: Label | None = None

    def take(self, event: ReviewEvent) -> None:
        self.last = event.label
        if event.kind is ReviewEventKind.RESOLVE:
            self.resolved = event.label
        elif event.chosen is Chosen.PRIOR:
            self.known = event.label
        elif event.label is not None:
            self.own[event.screener] = event.label


def _decided(label: Label | None) -> Label | None:
    return None if label is Label.LATER else label


class Track:
    """The groups that were put before the screeners at a stage, in order; ``of`` has those that are read.

    ``epoch`` counts the changes other than one more step at the end.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.of: dict[Group, Step] = {}
        self.put_off: dict[Group, Step] = {}
        self.later: dict[Group, ReviewEventId] = {}
        self.conflicts: set[Group] = set()
        self.included = 0
        self.epoch = 0

    def put(self, group: Group, outcome: Outcome, event: ReviewEventId) -> bool:
        """Where a group stands now, by an event; True where it goes back to those that nobody has read, or had read by
        then, and others were read since it was."""
        before, step = self.of.get(group) or self.put_off.get(group), outcome.step(group)
        self._mark(group, outcome, event)
        if before == step:
            return False
        later = before is not None and (step is None or step.event > before.event)
        goes_back = later and before != self.steps[-1]
        if before is not None:
            self.epoch += 1
            del self.steps[bisect_left(self.steps, before.key, key=_key)]
            self.included -= before.label is Label.INCLUDE
            self.of.pop(group, None)
            self.put_off.pop(group, None)
        if step is not None:
            self.epoch += before is None and bool(self.steps) and step.key < self.steps[-1].key
            (self.of if step.label is not None else self.put_off)[group] = step
            self.included += step.label is Label.INCLUDE
            insort(self.steps, step, key=_key)
        return goes_back

    @property
    def is_begun(self) -> bool:
        """Whether anything but prior knowledge was read or put off."""
        return any(step.chosen is not Chosen.PRIOR for step in self.steps)

    def labels(self) -> dict[Group, Label]:
        """The labels of all groups that are read, in the order of reading."""
        return {step.group: step.label for step in self.steps if step.label is not None}

    def _mark(self, group: Group, outcome: Outcome, event: ReviewEventId) -> None:
        self.later.pop(group, None)
        self.conflicts.discard(group)
        if outcome.later:
            self.later[group] = event
        if outcome.conflict:
            self.conflicts.add(group)


def _key(step: Step) -> tuple[ReviewEventId, Group]:
    return step.key


def in_order(decisions: Iterable[Sequence[ReviewEvent]]) -> list[ReviewEvent]:
    """The decisions on a group's records as one list, in the order of their ids."""
    return sorted((event for some in decisions for event in some), key=lambda event: event.id)
