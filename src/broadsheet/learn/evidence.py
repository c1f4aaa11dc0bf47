"""What a trail of labels proves, step by step: whatever the ranking does, and if it is better than random.

Both kinds of evidence bound the relevant records of the pool from above, found and unread together, and both bounds
hold at all looks at once.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from broadsheet.learn.trail import Step
from broadsheet.model.screening import Chosen
from broadsheet.stats import AdvantageWatch, AuditTest, TotalTest, allowed_missing, needed

# The part of the error for a bound at any time from single random draws; the rest is for the audit's thresholds.
DRAWS = 0.01
_RANDOM = (Chosen.AUDIT, Chosen.RANDOM)


class Count:
    """What was read and found so far. ``doubts`` are read but have no label: they may be relevant."""

    def __init__(self, records: int) -> None:
        if records < 0:
            raise ValueError(f"a pool cannot have {records} records")
        self.unread = records
        self.found = self.doubts = self.misses = 0

    def see(self, step: Step) -> None:
        """Take one more step."""
        self.unread = step.unread - (step.relevant is not None)
        self.doubts += step.relevant is None
        self.found += step.relevant is True
        self.misses = self.misses + 1 if step.relevant is False and step.chosen is not Chosen.PRIOR else 0


class FreeEvidence:
    """True whatever the ranking does: only records drawn at random count, and the prefix of the audit's order.

    ``DRAWS`` of the error is spent on an e-process of all random draws, the rest on the thresholds of the permutation
    audit. ``bound`` is on the relevant records of the pool; None before the first step that is not prior knowledge.
    """

    def __init__(self, target: float, confidence: float) -> None:
        self.target, self.confidence = target, confidence
        error = 1 - confidence
        self._draws_confidence, self._audit_confidence = 1 - DRAWS * error, 1 - (1 - DRAWS) * error
        self.audit: AuditTest | None = None
        self.prefix = self.finds = self._outside = 0
        self._ahead: dict[int, bool] = {}  # labels at places of the order that the prefix has not reached
        self._limit: int | None = None
        self.fresh()

    def fresh(self) -> None:
        """Forget the evidence of single draws: more is unread than they were drawn from. An audit's order stays."""
        self._draws = _Test(self.target, self._draws_confidence)

    @property
    def bound(self) -> int | None:
        """The most relevant records that there are, found ones and those put off included."""
        return min((bound for bound in (self._limit, self._draws.bound) if bound is not None), default=None)

    def begin_audit(self, size: int, count: Count, found: int | None = None, gone: Collection[int] = ()) -> None:
        """The order has been drawn of ``size`` records, after what ``count`` says.

        ``found`` were found then. The thresholds go by it, whatever else is found outside of the order or corrected
        afterwards: chosen by what the prefix has shown, they would be several rules with one error. Records at the
        places ``gone`` have left the pool unread; they stay in the order as irrelevant ones, else its prefix would
        become a larger part of it.

        Raises ValueError for a second order: whoever may draw again until it pleases has no guarantee.
        """
        if self.audit is not None:
            raise ValueError("an audit has begun: another order must not be drawn")
        # What was put off then is in the order, and may have been given a label since.
        self._outside = count.found - sum(self._ahead.values())
        self.audit = AuditTest(size, self._outside if found is None else found, self.target, self._audit_confidence)
        self._ahead |= dict.fromkeys(gone, False)
        self._advance()

    def see(self, step: Step, before: Count) -> None:
        """Take one more step; ``before`` is what was read before it."""
        self._draws.see(step, before, float(step.chosen in _RANDOM))
        if self._limit is not None and before.found + (step.relevant is True) > self._limit:
            self._limit = None
        if step.place >= 0 and step.relevant is not None:
            self._ahead[step.place] = step.relevant
            self._advance()

    def audits_needed(self, count: Count) -> int:
        """How many more audit reads, all misses, allow to stop; before the audit, if it began now."""
        audit = self.audit or self._planned(count)
        end = audit.threshold(self.finds)
        return max(end - self.prefix - sum(place < end for place in self._ahead), 0)

    def audit_due(self, count: Count, patience: float) -> bool:
        """Whether the audit should begin now: reading on by rank costs more than it is likely to save.

        A miss more by rank costs a read, of which the audit gets back the part that it reads of everything. A find
        saves the reads between the audit's first threshold and its second. After n misses, a find is as likely as
        ``patience``/n.
        """
        first, second = _thresholds(count.found, self.target, self.confidence)
        return count.misses * (1 - first) >= patience * (second - first) * count.unread

    def _planned(self, count: Count) -> AuditTest:
        return AuditTest(count.unread, count.found, self.target, self._audit_confidence)

    def _advance(self) -> None:
        while self.audit is not None and self.prefix in self._ahead:
            self.finds += self._ahead.pop(self.prefix)
            self.prefix += 1
            if self.audit.enough(self.prefix, self.finds):
                limit = self._outside + self.audit.least_wrong(self.finds) - 1
                self._limit = limit if self._limit is None else min(limit, self._limit)


class RankEvidence:
    """True if the ranking finds at least ``advantage`` times as fast as random reading: ranked records count as well.

    The assumption is ``refuted`` by the places where the relevant records of the audit stood in the ranking
    (``watch``), or by a find of more than there could be; if it holds, each happens with probability at most 1 −
    confidence. With ``guard``, the bound relies on less than ``advantage`` where the ranking has shown less.
    """

    def __init__(self, target: float, confidence: float, advantage: float, *, guard: bool = True) -> None:
        self.target, self.confidence, self.advantage, self.guard = target, confidence, advantage, guard
        self.watch = AdvantageWatch(advantage, confidence)
        self._contradicted = False
        self.fresh()

    def fresh(self) -> None:
        """Forget the evidence about a pool that has changed; what was seen of the ranking stays."""
        self._test = _Test(self.target, self.confidence, self.guard)
        # Without the guard totals are refuted sooner, so that a find contradicts the assumption sooner.
        self._plain = _Test(self.target, self.confidence)

    @property
    def refuted(self) -> bool:
        """Whether the assumption has been refuted."""
        return self.watch.refuted or self._contradicted

    @property
    def bound(self) -> int | None:
        """The most relevant records that there are, found ones and those put off included."""
        return self._test.bound

    def see(self, step: Step, before: Count) -> None:
        """Take one more step; ``before`` is what was read before it."""
        advantage = self.advantage if step.chosen is Chosen.RANKED else float(step.chosen in _RANDOM)
        for test in (self._test, self._plain):
            test.see(step, before, advantage)
            self._contradicted = self._contradicted or test.contradicted
        if step.relevant and step.chosen in _RANDOM and step.rank >= 0:
            self.watch.update(step.rank, step.ranked or step.unread)

    def reads_needed(self, count: Count, audits: int) -> int:
        """How many more ranked reads, all misses, allow to stop, if so many audit reads without a find come first."""
        test = self._test.at(count)
        return test.misses_needed(self._aim(count), self.advantage, count.unread, audited=audits)

    def enough_after(self, count: Count, audits: int) -> bool:
        """Whether so many audit reads, all misses, allow to stop."""
        return self._test.at(count).enough_after(self._aim(count), count.unread, audited=audits)

    def _aim(self, count: Count) -> int:
        return count.found + allowed_missing(count.found, self.target)


class _Test:
    """The e-processes from the first step on that is no prior knowledge; what is put off may be relevant.

    They are ``contradicted`` by a find of more than they said there are: then they say nothing any more.
    """

    def __init__(self, target: float, confidence: float, guard: bool = False) -> None:
        self.target, self.confidence, self.guard = target, confidence, guard
        self.contradicted = False
        self._test: TotalTest | None = None

    @property
    def bound(self) -> int | None:
        return None if self._test is None or self.contradicted else self._test.bound

    def see(self, step: Step, before: Count, advantage: float) -> None:
        if self._test is None and step.chosen is not Chosen.PRIOR:
            self._test = TotalTest(
                step.unread, before.found + before.doubts, self.target, self.confidence, guard=self.guard
            )
        if self._test is not None:
            least = self._test.bound
            advantage *= step.unread / max(step.unread, step.among)
            self._test.update(step.relevant is not False, advantage, step.unread)
            self.contradicted = self.contradicted or before.found + (step.relevant is True) > least

    def at(self, count: Count) -> TotalTest:
        """The test, or what it is before the first step."""
        before = count.found + count.doubts
        return self._test or TotalTest(count.unread, before, self.target, self.confidence)


def reached(found: int, bound: int | None, target: float) -> bool:
    """Whether so many found ones are at least ``target`` of all that there can be; never with none found."""
    return bool(found) and bound is not None and found >= needed(bound, target)


@lru_cache(maxsize=1024)
def _thresholds(found: int, target: float, confidence: float) -> tuple[float, float]:
    """About which parts of the unread records an audit reads if it finds none, and one, without the steps of k."""
    missing = found * (1 - target) / target + 1
    error = 1 - confidence
    low = first = 1 - error ** (1 / missing)
    high = 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        blank = (1 - middle) ** missing
        if blank * (1 - middle) + (missing + 1) * middle * blank > error:
            low = middle
        else:
            high = middle
    return first, high
