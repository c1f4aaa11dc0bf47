"""The state of a review: what its records and events amount to, kept up event by event.

The state is a fold: applying all events at once or one by one gives the same. Labels belong to groups of records that
repeat each other, so that a group counts once; a group's final label at a stage is

- shared: the last decision that holds, whoever took it;
- blinded: the resolution of a conflict, or what all screeners of the plan say alike; a group that they decided
  differently is a conflict and unread.

``later`` leaves a group unread. A label from a file or given as prior knowledge holds until somebody decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from broadsheet.errors import NotFoundError
from broadsheet.model.screening import (
    Chosen,
    Label,
    PoolRecord,
    RecordNumber,
    Review,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
    Stage,
)
from broadsheet.screen.fold import WHOLE, Fold
from broadsheet.screen.groups import Group


class State(Fold):
    """What a review's records and events amount to. Groups are named by their least record number."""

    last_draw: tuple[object, Any] = (None, None)
    """What ``screen.offers`` drew last and for what, until the next event: a decision on a draw asks for it again."""

    @classmethod
    def of(cls, review: Review, records: Iterable[PoolRecord], events: Iterable[ReviewEvent] = ()) -> Self:
        """The state of a review with all of its records and events."""
        return cls(review).apply(events, records)

    def group(self, number: RecordNumber) -> Group:
        """The group that a record is in."""
        return self.groups.group(self._known_number(number))

    def members(self, number: RecordNumber) -> tuple[RecordNumber, ...]:
        """All records that are the same as this one, with itself, ascending."""
        return self.groups.members(self.group(number))

    def final(self, number: RecordNumber, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> Label | None:
        """The label that holds for a record, as the screener sees it; None where it is unread."""
        step = self.track(stage, screener).of.get(self.group(number))
        return step.label if step else None

    def own(self, number: RecordNumber, stage: Stage, screener: str) -> ReviewEvent | None:
        """The screener's last decision on a record or its repeats that holds."""
        decisions = self._decisions.get(stage, self.members(number))
        mine = [e for e in decisions if e.screener == screener and e.kind is ReviewEventKind.DECIDE]
        return mine[-1] if mine else None

    def decisions(self, number: RecordNumber, stage: Stage = Stage.ABSTRACT) -> list[ReviewEvent]:
        """All decisions on a record and its repeats that hold, oldest first."""
        return self._decisions.get(stage, self.members(number))

    def deciding(self, number: RecordNumber, stage: Stage = Stage.ABSTRACT) -> ReviewEvent | None:
        """The decision whose label, reasons and note hold for a record: the last one with its final label."""
        label = self.final(number, stage)
        return next((e for e in reversed(self.decisions(number, stage)) if label and e.label is label), None)

    def is_conflict(self, number: RecordNumber, stage: Stage = Stage.ABSTRACT) -> bool:
        """Whether screeners decided differently on a record, and nobody has resolved it."""
        return self.group(number) in self.track(stage).conflicts

    def is_prior(self, number: RecordNumber) -> bool:
        """Whether the label that a record has was known before screening."""
        step = self.track().of.get(self.group(number))
        return step is not None and step.chosen is Chosen.PRIOR

    def conflicts(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> list[Group]:
        """Groups in conflict, ascending; a blinded screener sees those that he or she has decided."""
        found = sorted(self.track(stage).conflicts)
        if not self.is_blinded or not screener:
            return found
        return [group for group in found if group in self.track(stage, screener).of]

    def labels(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> dict[Group, Label]:
        """The labels of all groups that are read, in the order of reading, as the screener sees it."""
        return self.track(stage, screener).labels()

    def history(self, number: RecordNumber) -> list[ReviewEvent]:
        """Everything that happened to a record and its repeats, what was undone included, oldest first."""
        members = set(self.members(number))
        return [event for event in self.events if self._about(event) & members]

    def is_undone(self, event: ReviewEventId) -> bool:
        """Whether an event has been taken back."""
        return not self._undoing.holds(event)

    def visible(self, event: ReviewEvent, screener: str) -> bool:
        """Whether a screener may see an event: where blinded, others' decisions only on what he or she has decided."""
        if not self.is_blinded or not screener or event.screener == screener:
            return True
        if event.kind is ReviewEventKind.UNDO:
            target = self.event(event.undoes)
            return target is None or self.visible(target, screener)
        if event.kind is ReviewEventKind.DECIDE and event.chosen is not Chosen.PRIOR:
            return event.record in self.records and self.final(event.record, event.stage, screener) is not None
        return event.kind is not ReviewEventKind.STOP

    def _about(self, event: ReviewEvent) -> set[RecordNumber]:
        if event.kind is ReviewEventKind.UNDO:
            target = self.event(event.undoes)
            return self._about(target) if target is not None and target.id < event.id else set()
        return {number for number in (event.record, event.other) if number}

    def _known_number(self, number: RecordNumber) -> RecordNumber:
        if number not in self.records:
            there = f"numbers go from 1 to {len(self.records):,}" if self.records else "it has none yet"
            raise NotFoundError(f"the review “{self.review.name}” has no record {number}: {there}")
        return number
