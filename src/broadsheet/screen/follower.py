"""Stopping rules that follow a review: after each decision they look at that one only.

A step costs up to a millisecond in a pool of 40,000, so that a whole review takes many seconds. Therefore a rule's
states are kept at growing distances, and after a correction or an undo it goes on from the last one before that.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from broadsheet.model.screening import CurvePoint, Stage
from broadsheet.screen.fold import WHOLE
from broadsheet.screen.state import State
from broadsheet.screen.trail import Frame, Seen

if TYPE_CHECKING:
    from broadsheet.learn.stoppers import Stopper, Watch
    from broadsheet.learn.trail import Step, Verdict

CURVE_POINTS = 200
_APART = 16  # steps between the last two states that are kept; those before them are twice as far apart, and so on


@dataclass(frozen=True)
class _Script:
    """What a rule is to see: the steps, after how many an audit of how many records begins, and ``since`` when."""

    records: int
    steps: list[Step]
    begins: int | None = None
    size: int = 0
    since: int = 0
    found: int | None = None
    gone: frozenset[int] = frozenset()

    def common(self, other: _Script) -> int:
        """After how many steps a rule that followed this one is where one is that follows the other."""
        if self.records != other.records:
            return -1
        pairs = zip(self.steps, other.steps, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], pairs))
        if (self.begins, self.size, self.found, self.gone) != (other.begins, other.size, other.found, other.gone):
            # Just before an audit that one of them has not, or has of other records.
            same = min(same, *(begins - 1 for begins in (self.begins, other.begins) if begins is not None))
        if self.since != other.since:
            same = min(same, *(since - 1 for since in (self.since, other.since) if since))
        return same


@dataclass
class _At:
    """A rule's watch after some steps."""

    watch: Watch
    count: int = 0


class Follower:
    """One rule that follows one stage of a review, in one view. Its methods may be called by several threads."""

    def __init__(self, stopper: Stopper, stage: Stage, screener: str = WHOLE) -> None:
        self._stopper, self._stage, self._screener = stopper, stage, screener
        self._frame: Frame | None = None
        self._script = _Script(-1, [])
        self._seen = Seen()
        self._taken = 0  # steps of the state that the script has
        self._now: _At | None = None
        self._kept: list[_At] = []
        self._recalls: list[float | None] = []  # the bound after each step
        self._verdict: Verdict | None = None
        self._wants: str | None = None
        self._lock = threading.RLock()

    def verdict(self, state: State) -> Verdict:
        """What the rule says of the state now."""
        with self._lock:
            watch = self._caught_up(state)
            if self._verdict is None:
                self._verdict = watch.verdict()
            return self._verdict

    def wants(self, state: State) -> str:
        """What the rule wants to be read next: found without the rest of its verdict."""
        with self._lock:
            watch = self._caught_up(state)
            if self._wants is None:
                self._wants = watch.wants
            return self._wants

    def curve(self) -> tuple[CurvePoint, ...]:
        """The lower bound on recall as it was after each step that was looked at, a few hundred of them at most."""
        with self._lock:
            every = max(1, len(self._recalls) // CURVE_POINTS)
            found, points = 0, []
            for place, (step, recall) in enumerate(zip(self._script.steps, self._recalls, strict=False), 1):
                found += step.relevant is True
                if place % every == 0 or place == len(self._recalls):
                    points.append(CurvePoint(place, found, recall))
            return tuple(points)

    def update(self, state: State) -> int:
        """Takes in what has changed, without looking at it; gives how many steps are to be looked at."""
        with self._lock:
            frame = Frame.of(state, self._stage, self._screener, self._frame)
            steps = state.track(self._stage, self._screener).steps
            if frame is not self._frame or len(steps) < self._taken:
                self._rewrite(frame, state)
            elif len(steps) > self._taken:
                self._script.steps.extend(frame.steps(steps[self._taken :], self._seen))
                self._verdict = self._wants = None
            self._taken = len(steps)
            return len(self._script.steps) - (self._now.count if self._now else 0)

    def advance(self, count: int) -> bool:
        """Looks at so many steps more; False when there are none left."""
        with self._lock:
            at, script = self._now, self._script
            if at is None:
                at = self._now = _At(self._stopper.watch(script.records))
                self._arrive(at)
            marks = set(_marks(len(script.steps)))
            for step in script.steps[at.count : at.count + count]:
                at.watch.see(step)
                at.count += 1
                self._arrive(at)
                self._recalls.append(at.watch.recall)
                if at.count in marks or (at.count % _APART == 0 and len(script.steps) - at.count < _APART):
                    self._keep(at)
            return at.count < len(script.steps)

    def _caught_up(self, state: State) -> Watch:
        self.update(state)
        self.advance(len(self._script.steps))
        assert self._now is not None
        return self._now.watch

    def _rewrite(self, frame: Frame, state: State) -> None:
        ordered = frame.ordered(state.track(self._stage, self._screener).steps)
        self._seen = Seen(frame.gone)
        steps = list(frame.steps(ordered, self._seen))
        begins, since = frame.audit_from(ordered), frame.since(ordered)
        script = _Script(frame.records, steps, begins, frame.audit_size, since, frame.audit_found, frame.gone)
        common = self._script.common(script)
        self._frame, self._script = frame, script
        self._verdict = self._wants = None
        self._kept = [at for at in self._kept if at.count <= common]
        if self._now is None or self._now.count > common:
            self._now = _copied(self._kept[-1]) if self._kept else None
        del self._recalls[self._now.count if self._now else 0 :]

    def _arrive(self, at: _At) -> None:
        """What happens between two steps."""
        if at.count == self._script.since and at.count:
            at.watch.fresh()
        if at.count == self._script.begins:
            at.watch.begin_audit(self._script.size, self._script.found, self._script.gone)

    def _keep(self, at: _At) -> None:
        """Keeps this state, and of the others two at most for each doubling of the distance."""
        buckets: dict[int, list[_At]] = {}
        for one in self._kept:
            buckets.setdefault((at.count - one.count).bit_length(), []).append(one)
        few = {one.count: one for bucket in buckets.values() for one in (bucket[0], bucket[-1])}
        self._kept = [*(few[count] for count in sorted(few)), _copied(at)]


def _copied(at: _At) -> _At:
    return _At(copy.deepcopy(at.watch), at.count)


def _marks(count: int) -> Iterator[int]:
    """Places before the last one, each twice as far from it as the one after."""
    distance = _APART
    while distance < count:
        yield count - distance
        distance *= 2
