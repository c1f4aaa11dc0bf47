"""What happened to a review, taken event by event: the labels that hold, the groups, the audits.

Taking all events at once or one by one gives the same. ``State`` answers what is asked of it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import orjson

from broadsheet.errors import InputError
from broadsheet.model.screening import (
    Chosen,
    Label,
    Plan,
    PoolRecord,
    RecordNumber,
    Review,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
    Sharing,
    Stage,
)
from broadsheet.screen.groups import Group, Groups
from broadsheet.screen.tracks import Outcome, Reading, Track, in_order
from broadsheet.screen.undoing import Undoing
from broadsheet.store import plan_from_json

DECISIONS = (ReviewEventKind.DECIDE, ReviewEventKind.RESOLVE)
FINAL = (Label.INCLUDE, Label.EXCLUDE)
GROUPING = (ReviewEventKind.TWIN, ReviewEventKind.APART)
UNDOABLE = (*DECISIONS, *GROUPING, ReviewEventKind.DIFFERENT, ReviewEventKind.UNDO)
BRIDGED = "a record that came later repeats both"
"""The note of a TWIN event that no person caused; who takes it back says that the two are not one."""
WHOLE = ""
"""The view of the whole review, beside those of blinded screeners."""


@dataclass(frozen=True)
class Audit:
    """An audit's random order of the groups that were unread in a view when it began; ``put_off`` of them had been put
    before a screener. ``found`` were included then, and ``records`` in the pool."""

    event: ReviewEventId
    seed: int
    order: tuple[Group, ...]
    put_off: frozenset[Group]
    found: int
    records: int


@dataclass(frozen=True)
class _Covered:
    """An audit's order as it stands, as places too, and what was unread outside of it when this was made."""

    key: tuple[int, int, ReviewEventId]
    order: tuple[Group, ...]
    places: dict[Group, int]
    outside: tuple[Group, ...]


@dataclass(frozen=True)
class PlanChange:
    """A plan that was changed when ``read`` groups of the first stage had been read already."""

    event: ReviewEvent
    read: int
    before: Plan
    after: Plan


@dataclass
class _Decisions:
    """The decisions that hold, by stage and record; each list in the order of ids."""

    of: dict[tuple[Stage, RecordNumber], list[ReviewEvent]] = field(default_factory=dict)

    def get(self, stage: Stage, members: tuple[RecordNumber, ...]) -> list[ReviewEvent]:
        lists = [self.of[stage, number] for number in members if (stage, number) in self.of]
        return list(lists[0]) if len(lists) == 1 else in_order(lists)

    def add(self, event: ReviewEvent) -> None:
        self.of.setdefault((event.stage, event.record), []).append(event)

    def again(self, event: ReviewEvent) -> None:
        events = self.of.setdefault((event.stage, event.record), [])
        events.append(event)
        events.sort(key=lambda one: one.id)

    def remove(self, event: ReviewEvent) -> None:
        self.of[event.stage, event.record].remove(event)


class Fold:
    """A review's records and events, folded. Groups are named by their least record number."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.events: list[ReviewEvent] = []
        self.records: dict[RecordNumber, PoolRecord] = {}
        self.groups = Groups()
        self.audits: dict[tuple[Stage, str], Audit] = {}
        self._audited: dict[tuple[Stage, str], _Covered] = {}
        self.plan_changes: list[PlanChange] = []
        self.stopped: dict[tuple[Stage, str], ReviewEvent] = {}
        self.grew: dict[tuple[Stage, str], ReviewEventId] = {}
        self.renewals: Counter[tuple[Stage, str]] = Counter()  # how often more was unread than before
        self.shrunk: dict[tuple[Stage, str], list[tuple[ReviewEventId, int]]] = {}  # how many left without being read
        self.shape = 0  # counts changes of which groups there are to read
        self._place: dict[ReviewEventId, int] = {}
        self._waiting: deque[PoolRecord] = deque()
        self._undoing = Undoing()
        self._told_apart: dict[ReviewEventId, tuple[tuple[RecordNumber, RecordNumber], ...]] = {}
        self._decisions = _Decisions()
        self._known: dict[RecordNumber, Label] = {}
        self._second: set[Group] = set()
        self._new_tracks()

    # --- what happened

    def apply(self, events: Iterable[ReviewEvent], records: Iterable[PoolRecord] = ()) -> Self:
        """Takes further events, in the order of their ids, and the records that ADD events among them brought.

        Records beyond those that the ADD events speak of were there before these events. Raises InputError for events
        out of order, for records that ADD events speak of and that are missing, and for details that cannot be read.
        """
        coming = list(events)
        self._waiting.extend(records)
        before = len(self._waiting) - added(coming)
        if before < 0:
            raise InputError(
                f"the events of the review “{self.review.name}” speak of {added(coming)} new records, but only "
                f"{len(self._waiting)} came with them: the export is not whole, or records and events were read apart"
            )
        self._enter(before, self.last_event)
        for event in coming:
            if event.id <= self.last_event:
                raise InputError(f"event {event.id} comes after event {self.last_event}: events must be in order")
            self._place[event.id] = len(self.events)
            self.events.append(event)
            fresh = {key: self._fresh(*key) for key in self._tracks}
            self._take(event)
            self._note_shrinking(fresh)
        return self

    def _fresh(self, stage: Stage, view: str) -> int:
        """How many groups were never put before anyone."""
        track = self._tracks[stage, view]
        return self.pool_size(stage) - len(track.of) - len(track.put_off)

    def _note_shrinking(self, before: dict[tuple[Stage, str], int]) -> None:
        """What left those that are unread, but was not read: what was drawn before was drawn from more."""
        for key in before.keys() & self._tracks.keys():
            steps = self._tracks[key].steps
            gone = before[key] - self._fresh(*key) - bool(steps and steps[-1].event == self.last_event)
            if gone > 0:
                self.shrunk.setdefault(key, []).append((self.last_event, gone))

    def _take(self, event: ReviewEvent) -> None:
        kind = event.kind
        if kind in DECISIONS:
            if event.record in self.records and event.label is not None:
                self._decisions.add(event)
                self._settle(self.groups.group(event.record), event.stage, event)
        elif kind is ReviewEventKind.UNDO:
            self._undo(event)
        elif kind in GROUPING:
            self._regroup(event)
        elif kind is ReviewEventKind.DIFFERENT:
            self._told_apart[event.id] = ((event.record, event.other),)
        elif kind is ReviewEventKind.ADD:
            self._enter(added([event]), event.id)
        elif kind in (ReviewEventKind.CREATE, ReviewEventKind.PLAN):
            self._change_plan(event)
        elif kind is ReviewEventKind.AUDIT:
            self._begin_audit(event)
        elif kind is ReviewEventKind.STOP:
            self.stopped[event.stage, self.own_view(event.screener)] = event
        elif kind is ReviewEventKind.REOPEN:
            self._take_up_again(event.stage, self.own_view(event.screener))

    def _take_up_again(self, stage: Stage, view: str) -> None:
        """A blinded screener goes on alone; anyone else takes the whole stage up again."""
        for key in [key for key in self.stopped if key[0] is stage and view in (WHOLE, key[1])]:
            del self.stopped[key]

    def _enter(self, count: int, event: ReviewEventId) -> None:
        """Records come into the pool."""
        groups = len(self.groups)
        for _ in range(count):
            record = self._waiting.popleft()
            if record.number != len(self.records) + 1:
                raise InputError(f"record {record.number} comes after {len(self.records)}: numbers go on from 1")
            self.records[record.number] = record
            self.groups.add(record.number, record.twin, event)
            if record.label in FINAL:
                self._known[record.number] = record.label
            group = self.groups.group(record.number)
            if record.number in self._known or len(self.groups.members(group)) > 1:
                self._settle_all({group})
        if len(self.groups) > groups:
            self.shape += 1
            for view in self.views():
                self._note_growth(Stage.ABSTRACT, view)

    def _undo(self, event: ReviewEvent) -> None:
        target = self.event(event.undoes)
        if target is None or target.id >= event.id or target.kind not in UNDOABLE:
            return
        changed = self._undoing.undo(event.id, target.id)
        regroup = False
        for number, holds in changed.items():
            one = self.event(number)
            assert one is not None
            if one.kind in GROUPING:
                regroup = True
            elif one.kind in DECISIONS and one.record in self.records and one.label is not None:
                (self._decisions.again if holds else self._decisions.remove)(one)
                self._settle(self.groups.group(one.record), one.stage, None)
        if regroup:
            before = set(self.groups)
            self._grouped(self.groups.redo(self._undoing.holds), before)

    def _regroup(self, event: ReviewEvent) -> None:
        if event.record not in self.records:
            return
        before = set(self.groups)
        if event.kind is ReviewEventKind.APART:
            members = self.groups.members(self.groups.group(event.record))
            self._told_apart[event.id] = tuple((event.record, one) for one in members if one != event.record)
            changed = self.groups.part(event.record, event.id)
        elif event.other in self.records:
            changed = self.groups.join(event.record, event.other, event.id)
        else:
            return
        if changed:
            self._grouped(changed, before)

    def _grouped(self, changed: set[Group], before: set[Group]) -> None:
        """Groups have changed; one that is new and unread was not among what was read from before."""
        self.shape += 1
        self._settle_all(changed)
        for group in sorted(changed - before):
            for stage, view in self._tracks:
                track = self._tracks[stage, view]
                if group in self._pool(stage) and group not in track.of and group not in track.put_off:
                    self._note_growth(stage, view)

    def _change_plan(self, event: ReviewEvent) -> None:
        if not event.detail:
            return
        before, after = self.review.plan, _plan(event)
        # What was taken back was looked at all the same.
        looked_at = (one for one in self.events if one.kind in DECISIONS and one.chosen is not Chosen.PRIOR)
        read = len({self.groups.group(one.record) for one in looked_at if one.record in self.records})
        if event.kind is ReviewEventKind.PLAN and before != after:
            self.plan_changes.append(PlanChange(event, read, before, after))
        self.review = replace(self.review, plan=after)
        if (before.sharing, before.screeners) != (after.sharing, after.screeners):
            self._new_tracks()
            decided = {number for _, number in self._decisions.of} | set(self._known)
            self._settle_all({self.groups.group(number) for number in decided})
            self.shape += 1
            for stage, view in self._tracks:
                self._note_growth(stage, view)

    def _begin_audit(self, event: ReviewEvent) -> None:
        """Orders what is unread at random: one order, for each view that no audit covers; else nothing changes.

        So an audit that runs cannot be begun again until its outcome pleases.
        """
        views = [view for view in self.views() if not self.audit_covers(event.stage, view)]
        if not views:
            return
        import numpy as np

        seed = detail_of(event).get("seed")
        if not isinstance(seed, int) or seed < 0:
            raise InputError(f"event {event.id}: an audit needs a seed, an integer of at least 0, in its detail")
        unread = sorted(self.unread(event.stage))
        drawn = np.random.Generator(np.random.PCG64(seed)).permutation(len(unread))
        order = [unread[place] for place in drawn]
        for view in views:
            track = self.track(event.stage, view)
            kept = tuple(group for group in order if group not in track.of)
            self.audits[event.stage, view] = Audit(
                event.id, seed, kept, frozenset(track.put_off), track.included, len(self.records)
            )

    # --- labels

    def _new_tracks(self) -> None:
        self._tracks: dict[tuple[Stage, str], Track] = {
            (stage, view): Track() for stage in Stage for view in self.views()
        }

    def _settle_all(self, groups: set[Group]) -> None:
        for group in sorted(groups):
            for stage in Stage:
                self._settle(group, stage, None)

    def _settle(self, group: Group, stage: Stage, event: ReviewEvent | None) -> None:
        """What the decisions on a group come to at a stage; with ``event`` only for those whom that one concerns."""
        there = group in self.groups
        in_pool = there and (stage is Stage.ABSTRACT or group in self._second)
        decisions = self._decisions.get(stage, self.groups.members(group)) if in_pool else []
        known = self._label_known(group) if there and stage is Stage.ABSTRACT else None
        for view in self.views():
            alone = event is not None and event.kind is ReviewEventKind.DECIDE and event.chosen is not Chosen.PRIOR
            if alone and event is not None and view not in (WHOLE, event.screener):
                continue
            track = self._tracks[stage, view]
            outcome = self._reading(view).outcome(decisions, known) if in_pool else Outcome()
            if track.put(group, outcome, self.last_event) and in_pool:
                self._note_growth(stage, view)
        if stage is Stage.ABSTRACT:
            self._pass_on(group)

    def _pass_on(self, group: Group) -> None:
        """What is included at the first stage is to be read at the second, and nothing else."""
        step = self._tracks[Stage.ABSTRACT, WHOLE].of.get(group)
        passes = step is not None and step.label is Label.INCLUDE
        if passes == (group in self._second):
            return
        if passes:
            self._second.add(group)
            for view in self.views():
                self._note_growth(Stage.FULL_TEXT, view)
        else:
            self._second.discard(group)
        self.shape += 1
        self._settle(group, Stage.FULL_TEXT, None)

    def _label_known(self, group: Group) -> Label | None:
        """The label that the group came with; where copies came with different ones, it is included."""
        labels = [self._known[number] for number in self.groups.members(group) if number in self._known]
        if not labels:
            return None
        return Label.INCLUDE if Label.INCLUDE in labels else labels[-1]

    def _reading(self, view: str) -> Reading:
        return Reading(self.review.plan.screeners if self.is_blinded else (), view)

    def _note_growth(self, stage: Stage, view: str) -> None:
        """What is unread grew after reading had begun: what was concluded of less does not hold of it."""
        if self._tracks[stage, view].is_begun:
            self.renewals[stage, view] += self.grew.get((stage, view)) != self.last_event
            self.grew[stage, view] = self.last_event

    # --- what is asked

    @property
    def last_event(self) -> ReviewEventId:
        """The id of the last event taken, or 0."""
        return self.events[-1].id if self.events else 0

    @property
    def is_blinded(self) -> bool:
        """Whether screeners must not see each other's decisions: it takes the names of those who decide."""
        return self.review.plan.sharing is Sharing.BLINDED and bool(self.review.plan.screeners)

    def views(self) -> list[str]:
        """The review's own view (empty), and each screener's where it is blinded."""
        return [WHOLE, *self.review.plan.screeners] if self.is_blinded else [WHOLE]

    def view(self, screener: str) -> str:
        """The view in which a screener works."""
        return screener if self.is_blinded else WHOLE

    def own_view(self, screener: str) -> str:
        """The view of which somebody says that it is done: a blinded screener's own, else the whole."""
        return screener if self.is_blinded and screener in self.review.plan.screeners else WHOLE

    def is_stopped(self, stage: Stage, view: str = WHOLE) -> bool:
        """Whether screening was ended: by the screener, for the whole review, or by all of its blinded screeners."""
        if (stage, WHOLE) in self.stopped or (stage, view) in self.stopped:
            return True
        return view == WHOLE and self.is_blinded and all((stage, name) in self.stopped for name in self.views()[1:])

    def track(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> Track:
        """What was read at a stage, as the screener sees it."""
        return self._tracks.get((stage, self.view(screener))) or Track()

    def pool(self, stage: Stage = Stage.ABSTRACT) -> Iterable[Group]:
        """The groups to read at a stage; at the second those that the first one included, ascending."""
        return self.groups if stage is Stage.ABSTRACT else sorted(self._second)

    def _pool(self, stage: Stage) -> Groups | set[Group]:
        return self.groups if stage is Stage.ABSTRACT else self._second

    def pool_size(self, stage: Stage = Stage.ABSTRACT) -> int:
        """How many groups there are to read at a stage."""
        return len(self.groups) if stage is Stage.ABSTRACT else len(self._second)

    def unread(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> list[Group]:
        """The groups without a final label, as the screener sees it."""
        read = self.track(stage, screener).of
        return [group for group in self.pool(stage) if group not in read]

    def audit(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> Audit | None:
        """The audit that was begun last, as the screener sees it."""
        return self.audits.get((stage, self.view(screener)))

    def audit_order(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> tuple[Group, ...]:
        """The audit's order as it stands: without groups that are no more or were read before; empty without one.

        A group that was joined of several keeps the place of its least member, so that its place is as random as any.
        """
        return self._cover(stage, screener).order

    def audit_places(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> dict[Group, int]:
        """The place of each group of ``audit_order`` in the order as it was drawn."""
        return self._cover(stage, screener).places

    def audit_covers(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> bool:
        """Whether there is an audit whose order holds all that is unread."""
        return self.audit(stage, screener) is not None and not self.outsiders(stage, screener)

    def outsiders(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> list[Group]:
        """Unread groups that the audit's order does not hold: added, taken apart or undone since it began."""
        read = self.track(stage, screener).of
        return [group for group in self._cover(stage, screener).outside if group not in read]

    def _cover(self, stage: Stage, screener: str) -> _Covered:
        """Made again only after changes other than reading one more."""
        view, track, audit = self.view(screener), self.track(stage, screener), self.audit(stage, screener)
        key = (track.epoch, self.shape, audit.event if audit else 0)
        found = self._audited.get((stage, view))
        if found is None or found.key != key:
            drawn = enumerate(audit.order) if audit else ()
            kept = {group: place for place, group in drawn if audit and self._is_audited(group, stage, audit, track)}
            found = _Covered(key, tuple(kept), kept, tuple(g for g in self.unread(stage, screener) if g not in kept))
            self._audited[stage, view] = found
        return found

    def _is_audited(self, group: Group, stage: Stage, audit: Audit, track: Track) -> bool:
        """Whether a group of an audit's order is one still, and was not read before through another record of it.

        A label that came with a record added since is no such reading.
        """
        if group not in self._pool(stage):
            return False
        step = track.of.get(group)
        if step is None or step.event > audit.event or group in audit.put_off:
            return True
        members = self.groups.members(group)
        first = min((event.id for event in self._decisions.get(stage, members)), default=audit.event)
        return first >= audit.event and all(one > audit.records for one in members if one in self._known)

    def told_apart(self) -> list[tuple[RecordNumber, RecordNumber]]:
        """Pairs of records of which a person said that they are not one."""
        held = (pairs for event, pairs in self._told_apart.items() if self._undoing.holds(event))
        bridges = (one for one in self.events if one.kind is ReviewEventKind.TWIN and one.note == BRIDGED)
        parted = ((one.record, one.other) for one in bridges if not self._undoing.holds(one.id))
        return [*(pair for pairs in held for pair in pairs), *parted]

    def event(self, number: ReviewEventId) -> ReviewEvent | None:
        """An event by its id; None where there is none."""
        place = self._place.get(number)
        return None if place is None else self.events[place]


def added(events: Iterable[ReviewEvent]) -> int:
    """How many records the ADD events among these brought into the pool."""
    total = 0
    for event in events:
        if event.kind is ReviewEventKind.ADD:
            count = detail_of(event).get("added")
            if not isinstance(count, int) or count < 0:
                raise InputError(f"event {event.id}: “added” in the detail of an addition must be a count of records")
            total += count
    return total


def detail_of(event: ReviewEvent) -> dict[str, Any]:
    """The parts of an event's detail by name; InputError where it is no JSON object."""
    try:
        found = orjson.loads(event.detail or "{}")
    except orjson.JSONDecodeError as error:
        raise InputError(f"event {event.id}: its detail is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise InputError(f"event {event.id}: its detail must be a JSON object")
    return found


def _plan(event: ReviewEvent) -> Plan:
    try:
        return plan_from_json(event.detail)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"event {event.id}: the plan in its detail cannot be read ({error})") from None
