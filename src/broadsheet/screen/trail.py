"""From a review's events to what stopping rules look at: what was read, in which order, how chosen, and its label.

The trail is made of labels as they are now: a correction changes what had been said before. What is counted as drawn at
random or as the top of the ranking must have been so of exactly what is unread by the trail, so that

- what lies outside of an audit's order and was read after it began counts as known beforehand;
- what left those that are unread without being read (repeats of what was read, full texts that are no more to be read)
  was there when others were drawn before, and keeps its place in the audit's order;
- where more is unread than there was (records were added, repeats taken apart, a decision was taken back after others
  were made), what was read before is no evidence of it: the trail's ``since``. What was refuted stays refuted;
- a record of an audit is a random draw where it was the next of the order, and by its place in the order else;
- a blinded review as a whole reads in nobody's order: only the places in the audit's order, the same for all, count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from broadsheet.model.screening import Chosen, Label, ReviewEventId, Stage, StoppingPlan
from broadsheet.screen import tracks
from broadsheet.screen.fold import WHOLE
from broadsheet.screen.groups import Group
from broadsheet.screen.state import State

if TYPE_CHECKING:
    from broadsheet.learn.stoppers import Stopper
    from broadsheet.learn.trail import Step, Trail

Key = tuple[int, int, int, int, bool, int]


class Seen:
    """What the steps so far amount to: how many have a label, and which places of the audit's order they hold."""

    def __init__(self, gone: Iterable[int] = ()) -> None:
        self.read = 0
        self.places: set[int] = set(gone)
        self._next = 0

    def next_place(self) -> int:
        """The first place of the audit's order that no step holds."""
        while self._next in self.places:
            self._next += 1
        return self._next


@dataclass(frozen=True)
class Frame:
    """What the steps of a trail are seen in; as long as the key is the same, steps are only added at the end."""

    key: Key
    records: int
    grew: ReviewEventId
    audit: ReviewEventId
    places: dict[Group, int]
    in_nobodys_order: bool
    audit_size: int = 0
    audit_found: int | None = None
    gone: frozenset[int] = frozenset()
    shrunk: tuple[tuple[ReviewEventId, ...], tuple[int, ...]] = ((), ())

    @classmethod
    def of(cls, state: State, stage: Stage, screener: str, last: Frame | None = None) -> Frame:
        """The frame of a state, for a stage and a screener's view: ``last`` itself where it still holds."""
        track, audit, view = state.track(stage, screener), state.audit(stage, screener), state.view(screener)
        covers = state.audit_covers(stage, screener)
        grew, begun = state.grew.get((stage, view), 0), audit.event if audit and covers else 0
        shrunk = state.shrunk.get((stage, view), [])
        key = (track.epoch, state.shape, grew, begun, covers, len(shrunk))
        if last is not None and last.key == key:
            return last
        whole = state.is_blinded and view == WHOLE
        events, counts = tuple(event for event, _ in shrunk), tuple(accumulate((n for _, n in shrunk), initial=0))
        frame = cls(key, state.pool_size(stage), grew, begun, {}, whole, shrunk=(events, counts))
        if audit is None or not covers:
            return frame
        places, size = state.audit_places(stage, screener), len(audit.order)
        gone = frozenset(range(size)).difference(places.values())
        return replace(frame, places=places, audit_size=size, audit_found=audit.found, gone=gone)

    def ordered(self, steps: Iterable[tracks.Step]) -> list[tracks.Step]:
        """The steps as the rules shall see them: what counts as known beforehand comes first."""
        if not self.audit:
            return list(steps)
        known = [s for s in steps if self._is_outside(s)]
        return known + [s for s in steps if not self._is_outside(s)]

    def steps(self, ordered: Iterable[tracks.Step], seen: Seen) -> Iterator[Step]:
        """The rules' own form of steps, after those that ``seen`` has counted; it counts these, too."""
        from broadsheet.learn.trail import Step

        for step in ordered:
            place, unread = self.places.get(step.group, -1), self.records - seen.read
            yield Step(
                self._chosen(step, place, seen),
                None if step.label is None else step.label is Label.INCLUDE,
                unread,
                step.place if 0 <= step.place < step.unread else -1,
                place,
                step.captures,
                step.unread,
                self._among(step, unread),
            )
            seen.read += step.label is not None
            seen.places.add(place)

    def _among(self, step: tracks.Step, unread: int) -> int:
        """How many were unread when a record was chosen, with those that left unread since."""
        events, counts = self.shrunk
        there = unread + (counts[-1] - counts[bisect_right(events, step.event)] if events else 0)
        return there if step.chosen is Chosen.AUDIT else max(there, step.unread)

    def _chosen(self, step: tracks.Step, place: int, seen: Seen) -> Chosen:
        if step.chosen is Chosen.PRIOR or self._is_outside(step):
            return Chosen.PRIOR
        # Before ``since`` it is no evidence, but what it refutes stays refuted.
        is_next = step.chosen is not Chosen.AUDIT or step.event <= self.grew
        is_next = is_next or (place >= 0 and place == seen.next_place())
        return step.chosen if is_next and not self.in_nobodys_order else Chosen.MANUAL

    def audit_from(self, ordered: list[tracks.Step]) -> int | None:
        """How many steps there were when the audit began; None without one."""
        if not self.audit:
            return None
        return sum(step.event < self.audit or self._is_outside(step) for step in ordered)

    def since(self, ordered: list[tracks.Step]) -> int:
        """After how many steps more was unread than before, for the last time."""
        if not self.grew:
            return 0
        return sum(step.event <= self.grew or self._is_outside(step) for step in ordered)

    def _is_outside(self, step: tracks.Step) -> bool:
        return bool(self.audit) and step.event > self.audit and step.group not in self.places


def trail(state: State, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> Trail:
    """What the stopping rules look at, for the review or as a blinded screener has read it."""
    from broadsheet.learn.trail import Trail

    frame = Frame.of(state, stage, screener)
    ordered = frame.ordered(state.track(stage, screener).steps)
    return Trail(
        frame.records,
        tuple(frame.steps(ordered, Seen(frame.gone))),
        frame.audit_from(ordered),
        frame.audit_size,
        frame.since(ordered),
        frame.audit_found,
        frame.gone,
    )


@lru_cache(maxsize=64)
def stopper_of(plan: StoppingPlan) -> Stopper:
    """The stopping rule of a plan."""
    from broadsheet.learn import stoppers

    return stoppers.stopper_of(plan)
