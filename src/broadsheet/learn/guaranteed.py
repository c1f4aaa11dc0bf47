"""Stopping rules with a guarantee: one that holds whatever the ranking does, one under a stated assumption."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from broadsheet.learn.evidence import DRAWS, FreeEvidence, RankEvidence, reached
from broadsheet.learn.stopping import NOTHING_FOUND, Stopper, Watch, check_target
from broadsheet.learn.trail import FURTHER, NO_BOUND, Said, Step, Verdict, counted, exact_percent, in_words, percent
from broadsheet.model.screening import DEFAULT_CONFIDENCE, DEFAULT_TARGET, GuaranteeClass

PATIENCE = 0.5  # of FreeEvidence.audit_due
WHATEVER = "whatever the ranking does"
JUMPS = (
    f"Until the audit ends this is a weak bound, made with {100 * DRAWS:g} % of the error; the rest is kept for the "
    "audit's end, where the bound rises in one step."
)


@dataclass(frozen=True, slots=True)
class DistributionFree(Stopper):
    """Stop when the recall is at least ``target`` with ``confidence``, whatever the ranking does.

    Ranked reading comes first, then the audit; ``patience`` says when it begins (a greater one begins later), and the
    guarantee holds for any.
    """

    rule: ClassVar[str] = "distribution-free"
    target: float = DEFAULT_TARGET
    confidence: float = DEFAULT_CONFIDENCE
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        check_target(self.target, self.confidence)
        if not self.patience >= 0:
            raise ValueError(f"patience must not be negative, nor {self.patience}")

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _FreeWatch(self, records)


class _FreeWatch(Watch):
    def __init__(self, stopper: DistributionFree, records: int) -> None:
        super().__init__(records)
        self.stopper = stopper
        self.evidence = FreeEvidence(stopper.target, stopper.confidence)

    def begin_audit(self, size: int, found: int | None = None, gone: Collection[int] = ()) -> None:
        super().begin_audit(size, found, gone)
        self.evidence.begin_audit(size, self.count, found, gone)

    def fresh(self) -> None:
        super().fresh()
        self.evidence.fresh()

    def see(self, step: Step) -> None:
        self.evidence.see(step, self.count)
        super().see(step)

    @property
    def total(self) -> int:
        """The most relevant records that there can be."""
        possible = self.count.found + self.count.unread
        return possible if self.evidence.bound is None else min(self.evidence.bound, possible)

    @property
    def recall(self) -> float | None:
        return self.count.found / self.total if self.count.found else None

    def _says_stop(self) -> bool:
        return reached(self.count.found, self.total, self.stopper.target)

    @property
    def further(self) -> int:
        """How many more reads it takes if nothing is found: those of the audit."""
        return 0 if self.stopped else min(self.evidence.audits_needed(self.count), self.count.unread)

    @property
    def wants(self) -> str:
        """What should be read next."""
        if self.stopped:
            return ""
        if self.evidence.audit is not None:
            return "audit"
        # What an audit allows to be missing counts from what was found when it began.
        due = self.count.found and self.evidence.audit_due(self.count, self.stopper.patience)
        return "audit" if due else "ranked"

    def verdict(self) -> Verdict:
        found, further = self.count.found, self.further
        said = _sentences(self.stopper, self, self.total, further=further, ground=WHATEVER)
        return Verdict(
            self.stopper.rule, self.stopped, GuaranteeClass.DISTRIBUTION_FREE, self.stopper.target,
            self.stopper.confidence, found, self.recall, self.total - found if found else None,
            further if found else None, wants=self.wants,
            sentence=in_words(said), said=said,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankAdvantage(Stopper):
    """Stop when the recall is at least ``target`` with ``confidence``, if the ranking is good, and tolerable if not.

    The assumption is that every ranked read finds a relevant record with at least ``advantage`` times the probability
    of a random one. The audit watches it, and until it has shown a recall of ``floor`` without the assumption, the rule
    does not stop. If the assumption is refuted, the rule is ``DistributionFree`` from then on. ``guard`` relies on less
    than ``advantage`` where the ranking has shown less. Raises ValueError for an advantage below 1.
    """

    rule: ClassVar[str] = "rank-advantage"
    target: float = DEFAULT_TARGET
    confidence: float = DEFAULT_CONFIDENCE
    advantage: float = 2.0
    floor: float = 0.5
    patience: float = PATIENCE
    guard: bool = True

    def __post_init__(self) -> None:
        check_target(self.target, self.confidence)
        if not 0 < self.floor <= self.target:
            raise ValueError(f"the floor must be above 0 and at most the target, not {self.floor}")
        if not 1 <= self.advantage < float("inf"):
            raise ValueError(f"the advantage must be 1 or more, and finite, not {self.advantage}")

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _RankWatch(self, records)

    @property
    def assumption(self) -> str:
        """The assumption in words."""
        return f"the ranking finds relevant records at least {self.advantage:g} times as fast as random reading"


class _RankWatch(Watch):
    def __init__(self, stopper: RankAdvantage, records: int) -> None:
        super().__init__(records)
        self.stopper = stopper
        self.ranked = RankEvidence(stopper.target, stopper.confidence, stopper.advantage, guard=stopper.guard)
        self.floor = FreeEvidence(stopper.floor, stopper.confidence)
        self.fallback = _FreeWatch(DistributionFree(stopper.target, stopper.confidence, stopper.patience), records)

    def begin_audit(self, size: int, found: int | None = None, gone: Collection[int] = ()) -> None:
        super().begin_audit(size, found, gone)
        self.floor.begin_audit(size, self.count, found, gone)
        self.fallback.begin_audit(size, found, gone)

    def fresh(self) -> None:
        super().fresh()
        self.ranked.fresh()
        self.floor.fresh()
        self.fallback.fresh()

    def see(self, step: Step) -> None:
        self.ranked.see(step, self.count)
        self.floor.see(step, self.count)
        self.fallback.see(step)
        super().see(step)

    @property
    def refuted(self) -> bool:
        """Whether the assumption has been refuted."""
        return self.ranked.refuted

    @property
    def total(self) -> int:
        """The most relevant records that there can be."""
        if self.refuted:
            return self.fallback.total
        possible = self.count.found + self.count.unread
        return possible if self.ranked.bound is None else min(self.ranked.bound, possible)

    @property
    def recall(self) -> float | None:
        return self.count.found / self.total if self.count.found else None

    def _says_stop(self) -> bool:
        if self.refuted:
            return self.fallback.stopped
        return reached(self.count.found, self.total, self.stopper.target) and self.floor_held

    @property
    def floor_held(self) -> bool:
        """Whether the floor is certain without the assumption."""
        possible = self.count.found + self.count.unread
        return reached(self.count.found, min(self.floor.bound or possible, possible), self.stopper.floor)

    @property
    def audits(self) -> int:
        """How many audit reads it takes to be certain of the floor, if nothing is found."""
        return 0 if self.floor_held else min(self.floor.audits_needed(self.count), self.count.unread)

    @property
    def wants(self) -> str:
        """What should be read next: the audit waits until its misses complete the evidence, so that none is wasted."""
        if self.stopped:
            return ""
        if self.refuted:
            return self.fallback.wants
        audits = self.audits if self.count.found else 0
        return "audit" if audits and self.ranked.enough_after(self.count, audits) else "ranked"

    @property
    def further(self) -> int:
        """How many more reads it takes if nothing is found, audit reads first."""
        if self.stopped:
            return 0
        if self.refuted:
            return self.fallback.further
        audits = self.audits
        return min(audits + self.ranked.reads_needed(self.count, audits), self.count.unread)

    def verdict(self) -> Verdict:
        stopper, found, further = self.stopper, self.count.found, self.further
        said = self._said(further)
        return Verdict(
            stopper.rule, self.stopped, GuaranteeClass.DISTRIBUTION_FREE if self.refuted else GuaranteeClass.ASSUMPTION,
            stopper.target, stopper.confidence, found, self.recall, self.total - found if found else None,
            further if found else None, assumption=stopper.assumption, refuted=self.refuted,
            wants=self.wants, sentence=in_words(said), said=said,
            advantage=self.ranked.watch.estimate, advantage_interval=self.ranked.watch.interval(),
        )  # fmt: skip

    def _said(self, further: int) -> tuple[Said, ...]:
        stopper = self.stopper
        ground = WHATEVER if self.refuted else f"assuming that {stopper.assumption}"
        said = _sentences(stopper, self, self.total, further=further, ground=ground)
        if self.refuted:
            what = "The audit has" if self.ranked.watch.refuted else "Finds have"
            return (Said(f"{what} refuted that {stopper.assumption}."), *said)
        if self.floor_held and self.count.found and self.count.unread:
            share, confidence = exact_percent(stopper.floor), exact_percent(stopper.confidence)
            floor = f"Recall ≥ {share} with {confidence} confidence, {WHATEVER}."
            return (*said, Said(floor, _ground(stopper, WHATEVER), stopper.floor))
        return said


def _sentences(
    stopper: DistributionFree | RankAdvantage, watch: Watch, total: int, *, further: int, ground: str
) -> tuple[Said, ...]:
    found, sure = watch.count.found, exact_percent(stopper.confidence)
    if watch.count.unread == 0:
        return (
            Said("Everything has been read." if found else "Everything has been read; nothing relevant was found."),
        )
    if not found:
        return (Said(NOTHING_FOUND),)
    missing = "at most " + counted(total - found, "relevant record is", "relevant records are")
    missing = missing if total > found else "no relevant record is"
    bound = f"Recall ≥ {percent(found / total)} with {sure} confidence, {ground}: {missing} unread."
    said = Said(bound, _ground(stopper, ground), found / total)
    if total - found >= (unread := watch.count.unread) > 1:  # a bound that anybody knows who can subtract
        nothing = f"Nothing can be ruled out yet: any of the {unread:,} unread records may be relevant."
        said = Said(nothing, NO_BOUND)
    if watch.stopped:
        return (said,)
    target = exact_percent(stopper.target)
    more = f"About {counted(further, 'more record')} for {target}, if nothing more is found."
    rest = Said(more, f"{FURTHER}{target}", further)
    return (said, rest, Said(JUMPS)) if watch.audit_size and ground == WHATEVER else (said, rest)


def _ground(stopper: DistributionFree | RankAdvantage, ground: str) -> str:
    return f"{exact_percent(stopper.confidence)}, {ground}"
