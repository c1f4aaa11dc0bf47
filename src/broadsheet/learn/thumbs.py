"""Rules of thumb for comparison: what is in use, and what it cannot promise. None of them has a guarantee."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from broadsheet.learn.stopping import NOTHING_FOUND, Stopper, Watch, check_target, thumb_verdict
from broadsheet.learn.trail import Step, Trail, Verdict, counted, exact_percent
from broadsheet.model.screening import DEFAULT_CONFIDENCE, DEFAULT_TARGET, Chosen
from broadsheet.stats import check_share, hypergeometric_value, hypergeometric_values, needed


@dataclass(frozen=True, slots=True)
class IrrelevantInARow(Stopper):
    """Stop after ``n`` irrelevant records in a row; −1 reads to the end, and so does an ``n`` beyond the pool.

    Prior knowledge does not count. Raises ValueError for 0, which would stop before anything is read, and below −1.
    """

    rule: ClassVar[str] = "irrelevant-in-a-row"
    n: int = 50

    def __post_init__(self) -> None:
        if self.n == 0 or self.n < -1:
            raise ValueError(f"irrelevant in a row must be 1 or more, or -1 to read to the end, not {self.n}")

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _RowWatch(self, records)


class _RowWatch(Watch):
    def __init__(self, stopper: IrrelevantInARow, records: int) -> None:
        super().__init__(records)
        self.stopper = stopper

    def _says_stop(self) -> bool:
        return 0 < self.stopper.n <= self.count.misses

    def verdict(self) -> Verdict:
        n = self.stopper.n
        said = f"{counted(self.count.misses, 'irrelevant record')} in a row"
        said += f", of {n:,}." if n > 0 else "; reading to the end."
        further = self.count.unread if n < 0 else min(n - self.count.misses, self.count.unread)
        return thumb_verdict(self.stopper, self, said, further)


@dataclass(frozen=True, slots=True)
class Budget(Stopper):
    """Stop after so many records, prior knowledge not counted. Raises ValueError below 1."""

    rule: ClassVar[str] = "budget"
    records: int = 1000

    def __post_init__(self) -> None:
        if self.records < 1:
            raise ValueError(f"a budget must be 1 record or more, not {self.records}")

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _BudgetWatch(self, records)


class _BudgetWatch(Watch):
    def __init__(self, stopper: Budget, records: int) -> None:
        super().__init__(records)
        self.stopper, self.read = stopper, 0

    def see(self, step: Step) -> None:
        super().see(step)
        self.read += step.chosen is not Chosen.PRIOR

    def _says_stop(self) -> bool:
        return self.read >= self.stopper.records

    def verdict(self) -> Verdict:
        said = f"{self.read:,} of {counted(self.stopper.records, 'record')} read."
        return thumb_verdict(self.stopper, self, said, min(self.stopper.records - self.read, self.count.unread))


@dataclass(frozen=True, slots=True)
class Chao(Stopper):
    """Stop when Chao's lower bound for the number of relevant records puts the recall at ``target`` or above.

    Chao, Estimating the population size for capture-recapture data with unequal catchability (Biometrics 43(4), 1987):
    with ``occasions`` independent screeners or searches, f1 relevant records found by just one of them and f2 by two,
    D + (t − 1)/t · f1 (f1 − 1)/(2 (f2 + 1)), in the form that corrects for bias. It estimates what all of them miss in
    what they read; Bron, van der Heijden, Feelders and Siebes (arXiv 2404.01176) stop by it with a committee of
    rankers. A record on which they disagree counts by those who found it, until it is known to be irrelevant, and as
    long as there is one, the rule does not stop. Without a record found by one of them alone, and one found by two, it
    says nothing. Raises ValueError for fewer than two occasions.
    """

    rule: ClassVar[str] = "chao"
    target: float = DEFAULT_TARGET
    occasions: int = 2

    def __post_init__(self) -> None:
        check_share(self.target, "target")
        if self.occasions < 2:
            raise ValueError(f"Chao's estimate needs two occasions or more, not {self.occasions}")

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _ChaoWatch(self, records)


class _ChaoWatch(Watch):
    def __init__(self, stopper: Chao, records: int) -> None:
        super().__init__(records)
        self.stopper, self.once, self.twice, self.more, self.open = stopper, 0, 0, 0, 0

    def see(self, step: Step) -> None:
        super().see(step)
        if step.relevant is not False:
            self.once += step.captures == 1
            self.twice += step.captures == 2
            self.more += step.captures > 2
            self.open += step.relevant is None and step.captures > 0

    @property
    def total(self) -> float | None:
        """The estimated number of relevant records; None where none was found twice, or none by one alone."""
        if not self.once or not self.twice + self.more:
            return None
        t = self.stopper.occasions
        unseen = (t - 1) / t * self.once * (self.once - 1) / (2 * (self.twice + 1))
        return self.count.found + self.open + unseen

    def _says_stop(self) -> bool:
        if self.open or self.total is None:
            return False
        return self.count.found >= needed(math.floor(self.total + 0.5), self.stopper.target)

    def verdict(self) -> Verdict:
        if self.total is not None:
            said = f"Chao's estimate is {self.total:.1f} relevant records; {self.count.found:,} are found."
        elif not self.twice + self.more:
            said = "No record was found by two independent screeners or searches: no estimate is possible."
        else:
            said = (
                "No relevant record was found by one of several screeners or searches alone: Chao's estimate, which "
                "comes from such records, cannot be computed."
            )
        if self.open:
            said += f" {counted(self.open, 'conflict is', 'conflicts are')} open: the rule does not stop before."
        return thumb_verdict(self.stopper, self, said, None, self.stopper.target)


@dataclass(frozen=True, slots=True)
class TwoPhase(Stopper):
    """Callaghan and Müller-Hansen's rule on the audit's prefix, looked at after every draw as they do.

    Each look is a test by itself, so that all looks together stop below the target more often than 1 − confidence.
    """

    rule: ClassVar[str] = "two-phase"
    target: float = DEFAULT_TARGET
    confidence: float = DEFAULT_CONFIDENCE

    def __post_init__(self) -> None:
        check_target(self.target, self.confidence)

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _TwoPhaseWatch(self, records)


class _TwoPhaseWatch(Watch):
    def __init__(self, stopper: TwoPhase, records: int) -> None:
        super().__init__(records)
        self.stopper = stopper
        self.before = self.prefix = self.finds = 0
        self.begun = self.passed = False
        self.ahead: dict[int, bool] = {}

    def begin_audit(self, size: int, found: int | None = None, gone: Collection[int] = ()) -> None:
        super().begin_audit(size, found, gone)
        self.before, self.begun = self.count.found - sum(self.ahead.values()), True
        self.ahead |= dict.fromkeys(gone, False)
        self.prefix = self.finds = 0
        self._advance()

    def see(self, step: Step) -> None:
        super().see(step)
        if step.place >= 0 and step.relevant is not None:
            self.ahead[step.place] = step.relevant
            self._advance()

    def _advance(self) -> None:
        while self.begun and self.prefix in self.ahead:
            self.finds += self.ahead.pop(self.prefix)
            self.prefix += 1
            self.passed = self.passed or (self.before + self.finds > 0 and self.value < 1 - self.stopper.confidence)

    @property
    def value(self) -> float:
        """The p-value at this look; 1 before the audit."""
        if not self.begun:
            return 1.0
        return hypergeometric_value(self.audit_size, self.before, self.prefix, self.finds, self.stopper.target)

    def _says_stop(self) -> bool:
        return self.passed

    def verdict(self) -> Verdict:
        said = f"Two-phase hypergeometric rule: p = {self.value:.3g} against a recall below {_shown(self)}."
        return thumb_verdict(self.stopper, self, said if self.count.found else NOTHING_FOUND, None, self.stopper.target)


@dataclass(frozen=True, slots=True)
class HypergeometricRanked(Stopper):
    """Callaghan and Müller-Hansen's rule for ranked reading: as if what was read since some start were a random draw.

    It is tried at every start, and stops if one of them gives a p-value below 1 − confidence. A ranking that is better
    than random at every moment makes it cautious, but nothing says that it is.
    """

    rule: ClassVar[str] = "hypergeometric"
    target: float = DEFAULT_TARGET
    confidence: float = DEFAULT_CONFIDENCE

    def __post_init__(self) -> None:
        check_target(self.target, self.confidence)

    def watch(self, records: int) -> Watch:
        """Follow a review."""
        return _RankedWatch(self, records)

    def first_stop(self, trail: Trail) -> int | None:
        """After how many steps the rule first says stop; each run of misses is searched by halving."""
        if trail.since:
            return Stopper.first_stop(self, trail)
        watch, steps, start = _RankedWatch(self, trail.records), trail.steps, 0
        while start < len(steps):
            run = start
            while run < len(steps) and steps[run].relevant is False and steps[run].chosen is not Chosen.PRIOR:
                run += 1
            if run > start:
                watch.see(steps[start])
                if watch.smallest(run - start - 1) < 1 - self.confidence:
                    return start + 1 + bisect_left(
                        range(run - start), True, key=lambda more: watch.smallest(more) < 1 - self.confidence
                    )  # fmt: skip
            for step in steps[start + (run > start) : run + 1]:
                watch.see(step)
            if watch.stopped:
                return run + 1 if run < len(steps) else run
            start = run + 1
        return None


class _RankedWatch(Watch):
    def __init__(self, stopper: HypergeometricRanked, records: int) -> None:
        super().__init__(records)
        self.stopper = stopper
        self.starts: list[tuple[int, int]] = []  # how many were unread and found

    def fresh(self) -> None:
        super().fresh()
        self.starts = []

    def see(self, step: Step) -> None:
        if not self.starts and step.chosen is not Chosen.PRIOR:
            self.starts.append((step.unread, self.count.found))
        super().see(step)
        if self.starts and step.relevant:
            self.starts.append((self.count.unread, self.count.found))

    def smallest(self, more: int = 0) -> float:
        """The least p-value over all starts, after so many misses more; 1 with nothing found."""
        if not self.starts or not self.count.found:
            return 1.0
        unread, found = np.array(self.starts).T
        prefix, finds = unread - self.count.unread + more, self.count.found - found
        return float(hypergeometric_values(unread, found, prefix, finds, self.stopper.target).min())

    def _says_stop(self) -> bool:
        return self.smallest() < 1 - self.stopper.confidence

    def verdict(self) -> Verdict:
        said = f"Hypergeometric rule at every start: p = {self.smallest():.3g} against a recall below {_shown(self)}."
        return thumb_verdict(self.stopper, self, said if self.count.found else NOTHING_FOUND, None, self.stopper.target)


def _shown(watch: _TwoPhaseWatch | _RankedWatch) -> str:
    return exact_percent(watch.stopper.target)
