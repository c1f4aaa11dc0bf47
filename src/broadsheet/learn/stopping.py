"""What all stopping rules have in common: a declared rule, and how it follows one review."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Any, ClassVar

from broadsheet.learn.evidence import Count
from broadsheet.learn.trail import Said, Step, Trail, Verdict, counted
from broadsheet.model.screening import GuaranteeClass
from broadsheet.stats import check_share

NOTHING_FOUND = "Nothing relevant has been found: no estimate is possible."


class Watch(ABC):
    """One rule following one review of ``records`` to read. ``stopped``, ``recall`` and ``wants`` are cheap."""

    def __init__(self, records: int) -> None:
        self.count = Count(records)
        self.audit_size = 0

    def see(self, step: Step) -> None:
        """Take one more step."""
        self.count.see(step)

    def begin_audit(self, size: int, found: int | None = None, gone: Collection[int] = ()) -> None:
        """The audit's order has been drawn, of the ``size`` records that are unread; ``found`` were found then, where
        that is not what is found outside of the order now. Of the places ``gone`` there is nothing to read."""
        self.audit_size = size

    def fresh(self) -> None:  # noqa: B027 - rules that draw no conclusion from draws have nothing to drop
        """More is unread than there was: evidence about what was unread before is dropped, but for an audit's order."""

    @property
    def stopped(self) -> bool:
        """Whether the rule says stop; also where everything has been read."""
        return self._done or self._says_stop()

    @property
    def recall(self) -> float | None:
        """The lower bound on recall now; None where the rule has none or no estimate is possible."""
        return None

    @property
    def wants(self) -> str:
        """What should be read next: ``ranked``, ``audit``, or empty where the rule says stop."""
        return "" if self.stopped else "ranked"

    @abstractmethod
    def verdict(self) -> Verdict:
        """All that the rule says now."""

    @abstractmethod
    def _says_stop(self) -> bool: ...

    @property
    def _done(self) -> bool:
        return self.count.unread == 0


class Stopper(ABC):
    """A declared rule: a frozen dataclass of its parameters. Raises ValueError for parameters out of their range."""

    rule: ClassVar[str]

    @abstractmethod
    def watch(self, records: int) -> Watch:
        """Follow a review of so many records, repeats not counted, from its beginning."""

    def replay(self, trail: Trail) -> Iterator[Watch]:
        """The same watch at the beginning and after each step."""
        watch = self.watch(trail.records)
        for n in range(len(trail.steps) + 1):
            if n == trail.since and n:
                watch.fresh()
            if n == trail.audit_from:
                watch.begin_audit(trail.audit_size, trail.audit_found, trail.audit_gone)
            yield watch
            if n < len(trail.steps):
                watch.see(trail.steps[n])

    def verdict(self, trail: Trail) -> Verdict:
        """All that the rule says at the end of the trail."""
        for watch in self.replay(trail):
            last = watch
        return last.verdict()

    def curve(self, trail: Trail, every: int = 1) -> list[float | None]:
        """The lower bound on recall after each ``every``-th step; None where no estimate is possible."""
        return [watch.recall for n, watch in enumerate(self.replay(trail)) if n and n % every == 0]

    def first_stop(self, trail: Trail) -> int | None:
        """After how many steps the rule first says stop; None where it does not."""
        return next((n for n, watch in enumerate(self.replay(trail)) if watch.stopped), None)

    def to_record(self) -> dict[str, Any]:
        """The rule as plain values, for ``stopper_from_record``."""
        return {"rule": self.rule} | {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def check_target(target: float, confidence: float) -> None:
    """ValueError unless both lie in (0, 1)."""
    check_share(target, "target")
    check_share(confidence, "confidence")


def thumb_verdict(stopper: Stopper, watch: Watch, said: str, further: int | None, target: float = 0.0) -> Verdict:
    """The verdict of a rule without a guarantee; ``said`` is what it looks at."""
    if watch.count.unread == 0:
        said = "Everything has been read."
    elif watch.stopped:
        said += f" The rule of thumb says stop: no guarantee. {counted(watch.count.found, 'relevant record')} found."
    else:
        said += " No guarantee."
    return Verdict(
        stopper.rule, watch.stopped, GuaranteeClass.NONE, target, 0.0, watch.count.found,
        further=0 if watch.stopped else further, wants=watch.wants, sentence=said, said=(Said(said),),
    )  # fmt: skip
