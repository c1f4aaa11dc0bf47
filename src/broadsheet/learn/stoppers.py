"""When to stop screening: rules with a guarantee, under a stated assumption, rules of thumb, and all of them together.

A stopper is a declared rule, ``watch(records)`` follows one review with it, step by step. Each goes to and from a small
plain record. What the rules with a guarantee prove is in learn/evidence.py and broadsheet.stats.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from broadsheet.learn.guaranteed import DistributionFree, RankAdvantage
from broadsheet.learn.stopping import Stopper, Watch, check_target
from broadsheet.learn.thumbs import Budget, Chao, HypergeometricRanked, IrrelevantInARow, TwoPhase
from broadsheet.learn.trail import Said, Step, Trail, Verdict, exact_percent, in_words, strongest
from broadsheet.model.screening import STOPPING_RULES, GuaranteeClass, StoppingPlan

__all__ = [
    "AllOf",
    "AnyOf",
    "Budget",
    "Chao",
    "DistributionFree",
    "HypergeometricRanked",
    "IrrelevantInARow",
    "RankAdvantage",
    "Step",
    "Stopper",
    "Trail",
    "TwoPhase",
    "Verdict",
    "Watch",
    "stopper_from_record",
    "stopper_of",
]


@dataclass(frozen=True, slots=True)
class _Joint(Stopper):
    """Several rules together. Raises ValueError for none."""

    rules: tuple[Stopper, ...] = ()

    def __post_init__(self) -> None:
        if not self.rules:
            raise ValueError("a joint rule needs one rule or more")

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _JointWatch(self, [rule.watch(records) for rule in self.rules], records)

    def to_record(self) -> dict[str, Any]:
        """The rules as plain values."""
        return {"rule": self.rule, "rules": [rule.to_record() for rule in self.rules]}


class AllOf(_Joint):
    """Stop when all of the rules say stop: the strongest guarantee among them holds for it."""

    rule: ClassVar[str] = "and"


class AnyOf(_Joint):
    """Stop when one of the rules says stop: the weakest guarantee among them holds, with their errors summed."""

    rule: ClassVar[str] = "or"


_STRENGTH = (GuaranteeClass.NONE, GuaranteeClass.ASSUMPTION, GuaranteeClass.DISTRIBUTION_FREE)


class _JointWatch(Watch):
    def __init__(self, stopper: _Joint, watches: list[Watch], records: int) -> None:
        super().__init__(records)
        self.stopper, self.watches = stopper, watches

    def begin_audit(self, size: int, found: int | None = None, gone: Collection[int] = ()) -> None:
        super().begin_audit(size, found, gone)
        for watch in self.watches:
            watch.begin_audit(size, found, gone)

    def fresh(self) -> None:
        super().fresh()
        for watch in self.watches:
            watch.fresh()

    def see(self, step: Step) -> None:
        super().see(step)
        for watch in self.watches:
            watch.see(step)

    @property
    def recall(self) -> float | None:
        verdict = self._leading([watch.verdict() for watch in self.watches])
        return verdict.recall

    def _says_stop(self) -> bool:
        said = [watch.stopped for watch in self.watches]
        return all(said) if isinstance(self.stopper, AllOf) else any(said)

    @property
    def wants(self) -> str:
        return "" if self.stopped else next((watch.wants for watch in self.watches if watch.wants == "audit"), "ranked")

    def _leading(self, verdicts: list[Verdict]) -> Verdict:
        """The verdict whose guarantee is that of the whole rule."""
        pick = max if isinstance(self.stopper, AllOf) else min
        return pick(verdicts, key=lambda verdict: _STRENGTH.index(verdict.guarantee))

    def verdict(self) -> Verdict:
        verdicts = [watch.verdict() for watch in self.watches]
        both = isinstance(self.stopper, AllOf)
        leading = self._leading(verdicts)
        further = [verdict.further for verdict in verdicts if not verdict.stop]
        known = [count for count in further if count is not None]
        target, confidence = (leading.target, leading.confidence) if both else _declared(verdicts, leading)
        said = strongest([one for verdict in verdicts for one in verdict.said], least_further=not both)
        if not both and leading.confidence and self.count.found and self.count.unread:
            said = (*said, Said(_of_the_whole(target, confidence, leading.guarantee)))
        return replace(
            leading,
            rule=f" {self.stopper.rule} ".join(verdict.rule for verdict in verdicts),
            stop=self.stopped,
            target=target,
            confidence=confidence,
            further=0 if self.stopped else (max if both else min)(known) if known else None,
            refuted=any(verdict.refuted for verdict in verdicts),
            wants=self.wants,
            sentence=in_words(said),
            said=said,
        )


def _declared(verdicts: list[Verdict], leading: Verdict) -> tuple[float, float]:
    """Target and confidence of rules of which one is enough: their errors are summed; where one of them has no
    guarantee, those that the others have, without one."""
    sure = [verdict for verdict in verdicts if verdict.confidence]
    if leading.confidence:
        return leading.target, round(max(0.0, 1 - sum(1 - verdict.confidence for verdict in verdicts)), 12)
    declared = max(sure, key=lambda verdict: verdict.confidence, default=leading)
    return declared.target, declared.confidence


def _of_the_whole(target: float, confidence: float, guarantee: GuaranteeClass) -> str:
    error = exact_percent(round(1 - confidence, 12))
    condition = ", under the assumption," if guarantee is GuaranteeClass.ASSUMPTION else ""
    return (
        f"Each of the joined rules has an error of its own: the whole, which stops when one of them does{condition} "
        f"stops below {exact_percent(target)} with probability at most {error}: its confidence is "
        f"{exact_percent(confidence)}."
    )


_MAKERS: dict[type[Stopper], Callable[[StoppingPlan], Stopper]] = {
    DistributionFree: lambda plan: DistributionFree(plan.target, plan.confidence),
    RankAdvantage: lambda plan: RankAdvantage(plan.target, plan.confidence, plan.advantage, plan.floor),
    IrrelevantInARow: lambda plan: IrrelevantInARow(plan.in_a_row),
    Chao: lambda plan: Chao(plan.target),
    Budget: lambda plan: Budget(plan.budget),
    HypergeometricRanked: lambda plan: HypergeometricRanked(plan.target, plan.confidence),
    TwoPhase: lambda plan: TwoPhase(plan.target, plan.confidence),
}
_KINDS = {kind.rule: kind for kind in _MAKERS}
_JOINTS = {kind.rule: kind for kind in (AnyOf, AllOf)}  # "or" is parted first: "and" binds closer


def stopper_of(plan: StoppingPlan) -> Stopper:
    """The rule that a plan declares. Raises ValueError for an unknown rule and parameters out of their range."""
    for word, joint in _JOINTS.items():
        parts = plan.rule.split(f" {word} ")
        if len(parts) > 1:
            return joint(tuple(stopper_of(replace(plan, rule=part.strip())) for part in parts))
    kind = _kind(plan.rule)
    check_target(plan.target, plan.confidence)
    return _MAKERS[kind](plan)


def stopper_from_record(record: Mapping[str, Any]) -> Stopper:
    """The rule that ``to_record`` wrote. Raises ValueError for an unknown rule or unknown parameters."""
    values = dict(record)
    rule = values.pop("rule", None)
    if rule in _JOINTS:
        return _JOINTS[rule](tuple(stopper_from_record(part) for part in values["rules"]))
    try:
        return _kind(rule)(**values)
    except TypeError as error:
        raise ValueError(f"{rule} does not take {sorted(values)}") from error


def _kind(rule: Any) -> type[Stopper]:
    if rule not in _KINDS:
        raise ValueError(f"there is no stopping rule {rule!r}; there are {', '.join(STOPPING_RULES)}")
    return _KINDS[rule]
