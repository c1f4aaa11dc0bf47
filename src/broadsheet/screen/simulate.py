"""Tries a plan on records whose labels are known: what is read when, when each rule says stop, and what is missed then.

One run a seed: a few labels are given as prior knowledge, then one record at a time is read as the declared stopping
rule wants it, from the model's order or from an audit's. Measures are of what was read after the priors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from broadsheet.errors import InputError
from broadsheet.metrics import screening as metrics
from broadsheet.model.screening import Chosen, Plan, StoppingPlan
from broadsheet.screen.trail import stopper_of
from broadsheet.screen.trainer import description_of

if TYPE_CHECKING:
    import numpy as np

    from broadsheet.learn.screening import Ranking, ScreeningModel
    from broadsheet.learn.stoppers import Watch

TO_LAST_RELEVANT, BY_RULE = "min", "rule"
TO_THE_END = -1

OnProgress = Callable[[int, int, int], None]
"""Called with the seed, how many records of its run are read, and how many there are."""


@dataclass(frozen=True)
class Labelled:
    """Records with known labels: ``texts`` [n] of title, line's end and abstract, ``relevant`` [n], and where known
    ``vectors`` float32 [n, dimensions] and ``keywords`` [n]."""

    texts: Sequence[str]
    relevant: Sequence[bool]
    vectors: np.ndarray | None = None
    keywords: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.relevant):
            raise InputError(f"{len(self.texts)} records with {len(self.relevant)} labels: each needs one to simulate")


@dataclass(frozen=True)
class Stop:
    """Where a rule first said stop: ``read`` records, priors included, and the recall then; None where it never did."""

    rule: str
    read: int | None
    recall: float | None
    reached: bool | None
    saved: float | None


@dataclass(frozen=True)
class Run:
    """One run: the order in which records were read (indices, the priors first), how each was chosen, its ``recall``
    (priors included), and measures of what came after the priors; None where the run ended before they are known."""

    seed: int
    priors: int
    order: tuple[int, ...]
    chosen: tuple[Chosen, ...]
    labels: tuple[bool, ...]
    stops: tuple[Stop, ...]
    recall: float
    wss95: float | None
    rrf10: float | None
    atd: float | None
    loss: float | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulation:
    """Runs over several seeds, and the means of their measures by name (of the runs that have them)."""

    records: int
    relevant: int
    runs: tuple[Run, ...]
    means: dict[str, float] = field(default_factory=dict)


def simulate(
    pool: Labelled,
    plan: Plan,
    seeds: Iterable[int],
    *,
    prior_included: int = 1,
    prior_excluded: int = 1,
    until: str | int = TO_LAST_RELEVANT,
    compare: Sequence[StoppingPlan] = (),
    every: int = 1,
    on_progress: OnProgress | None = None,
    on_run: Callable[[Simulation], None] | None = None,
) -> Simulation:
    """Runs a plan once for each seed, which draws the priors, the audit's order and what is random in the model.

    ``until`` says where a run ends: ``min`` when the last relevant record is found, ``rule`` when the declared rule
    says stop, −1 with the last record, a number after so many records beside the priors (0: the priors only; more than
    there are: the last one). ``compare`` are further rules that are followed, but not asked what to read. The model
    learns again after ``every`` records; 0 makes that one in a hundred of those read. ``on_run`` is given what is done
    after each run.

    Raises InputError for no relevant record, for more priors than there are, and for an unknown end.
    """
    relevant = sum(map(bool, pool.relevant))
    if not relevant:
        raise InputError("no record is labelled as relevant: there is nothing to find")
    end = _end(until)
    if every < 0:
        raise InputError(f"the model learns again after 1 record or more (0: by itself), not after {every}")
    model = _model(pool, plan)
    runs: list[Run] = []
    for seed in seeds:
        one = _Run(pool, plan, seed, model, (plan.stopping, *compare))
        one.give_priors(prior_included, prior_excluded)
        for read in one.read(end, every):
            if on_progress is not None:
                on_progress(seed, read, len(pool.texts))
        runs.append(one.result())
        if on_run is not None:
            on_run(Simulation(len(pool.texts), relevant, tuple(runs), _means(runs)))
    return Simulation(len(pool.texts), relevant, tuple(runs), _means(runs))


def _end(until: str | int) -> str | int:
    if until in (TO_LAST_RELEVANT, BY_RULE):
        return until
    if isinstance(until, int) and not isinstance(until, bool) and until >= TO_THE_END:
        return until
    raise InputError(f"a run ends at “min”, “rule”, −1 (the last record) or a number of records, not at {until!r}")


def _model(pool: Labelled, plan: Plan) -> ScreeningModel:
    from broadsheet.learn.screening import model_of

    model = model_of(plan.model, plan.querier, plan.seed)
    return model.fit_features(pool.texts, pool.vectors, description=description_of(plan), keywords=pool.keywords)


class _Run:
    """One run at work."""

    def __init__(
        self, pool: Labelled, plan: Plan, seed: int, model: ScreeningModel, rules: Sequence[StoppingPlan]
    ) -> None:
        import numpy as np

        self.pool, self.plan, self.seed, self.model, self.rules = pool, plan, seed, model, rules
        self.draws = np.random.Generator(np.random.PCG64([abs(seed), 1 if seed >= 0 else 2]))
        self.records, self.relevant = len(pool.texts), sum(map(bool, pool.relevant))
        self.labelled: dict[int, bool] = {}
        self.chosen: list[Chosen] = []
        self.watches: list[Watch] = [stopper_of(rule).watch(self.records) for rule in rules]
        self.stopped: list[int | None] = [None] * len(rules)
        self.found = self.priors = 0
        self.notes: list[str] = []
        self.audit: list[int] = []
        self.places: dict[int, int] = {}

    def give_priors(self, included: int, excluded: int) -> None:
        for what, count, wanted in (("relevant", included, True), ("irrelevant", excluded, False)):
            there = [index for index, label in enumerate(self.pool.relevant) if bool(label) is wanted]
            if not 0 <= count <= len(there):
                raise InputError(f"{count} {what} records cannot be known beforehand: there are {len(there)}")
            for index in sorted(int(there[at]) for at in self.draws.permutation(len(there))[:count]):
                self._see(index, Chosen.PRIOR)
        self.priors = len(self.labelled)
        if not included:
            known = "a description" if description_of(self.plan) else "random draws"
            self.notes.append(f"no relevant record was known beforehand: the run began with {known}")

    def read(self, end: str | int, every: int) -> Iterator[int]:
        """Reads record by record, and gives how many are read after each."""
        ranking: Ranking | None = None
        learned = 0
        while len(self.labelled) < self.records and not self._ends(end):
            read = len(self.labelled)
            if ranking is None or read - learned >= (every or 1 + read // 100):
                ranking, learned = self.model.rank(self.labelled), read
            self._see(*self._next(ranking))
            yield len(self.labelled)

    def result(self) -> Run:
        order, labels = tuple(self.labelled), tuple(self.labelled.values())
        stops = tuple(self._stop(rule, at, labels) for rule, at in zip(self.rules, self.stopped, strict=True))
        return Run(
            self.seed,
            self.priors,
            order,
            tuple(self.chosen),
            labels,
            stops,
            self.found / self.relevant,
            **self._measures(labels),
            notes=tuple(self.notes),
        )

    def _ends(self, end: str | int) -> bool:
        if end == TO_LAST_RELEVANT:
            return self.found == self.relevant
        if end == BY_RULE:
            return self.stopped[0] is not None
        return end != TO_THE_END and len(self.labelled) - self.priors >= int(end)

    def _next(self, ranking: Ranking) -> tuple[int, Chosen, int]:
        """What is read next, how it was chosen, and its place by relevance among what is unread (−1: none)."""
        # An audit reckons with what was found when it began: before anything was, it begins in vain.
        if self.watches[0].wants == "audit" and (self.places or self.found):
            if not self.places:
                self._begin_audit()
            index = next(index for index in self.audit if index not in self.labelled)
            return index, Chosen.AUDIT, self._rank(ranking, index)
        if ranking.basis == "nothing":
            unread = [index for index in range(self.records) if index not in self.labelled]
            return unread[int(self.draws.integers(len(unread)))], Chosen.RANDOM, -1
        index = next(int(index) for index in ranking.order if int(index) not in self.labelled)
        rank = self._rank(ranking, index)
        by_relevance = self.plan.querier == "max-relevance" or rank == 0
        return index, Chosen.RANKED if by_relevance else Chosen.MANUAL, rank

    def _rank(self, ranking: Ranking, index: int) -> int:
        rank = 0
        for other in ranking.relevance_order:
            if int(other) == index:
                return rank
            rank += int(other) not in self.labelled
        return -1

    def _begin_audit(self) -> None:
        unread = [index for index in range(self.records) if index not in self.labelled]
        self.audit = [unread[at] for at in self.draws.permutation(len(unread))]
        self.places = {index: place for place, index in enumerate(self.audit)}
        for watch in self.watches:
            watch.begin_audit(len(unread))

    def _see(self, index: int, chosen: Chosen, rank: int = -1) -> None:
        from broadsheet.learn.trail import Step

        label = bool(self.pool.relevant[index])
        step = Step(chosen, label, self.records - len(self.labelled), rank, self.places.get(index, -1))
        self.labelled[index] = label
        self.chosen.append(chosen)
        self.found += label
        for at, watch in enumerate(self.watches):
            watch.see(step)
            if self.stopped[at] is None and chosen is not Chosen.PRIOR and watch.stopped:
                self.stopped[at] = len(self.labelled)

    def _stop(self, rule: StoppingPlan, at: int | None, labels: Sequence[bool]) -> Stop:
        if at is None:
            return Stop(rule.rule, None, None, None, None)
        recall = sum(labels[:at]) / self.relevant
        reached = recall >= rule.target - 1e-12
        return Stop(rule.rule, at, recall, reached, 1 - at / self.records)

    def _measures(self, labels: Sequence[bool]) -> dict[str, Any]:
        after = labels[self.priors :]
        records, relevant = self.records - self.priors, self.relevant - sum(labels[: self.priors])
        measures: dict[str, Callable[[Sequence[bool], int, int], float]] = {
            "wss95": metrics.wss,
            "rrf10": metrics.rrf,
            "atd": metrics.average_time_to_discovery,
            "loss": metrics.loss,
        }
        found: dict[str, float | None] = {}
        for name, measure in measures.items():
            try:
                found[name] = measure(after, records, relevant)
            except ValueError:  # the run ended before this one is known, or nothing was left to find
                found[name] = None
        return found


def _means(runs: Sequence[Run]) -> dict[str, float]:
    found: dict[str, float] = {}
    columns: Mapping[str, list[float | None]] = {
        **{name: [getattr(run, name) for run in runs] for name in ("wss95", "rrf10", "atd", "loss")},
        **{
            f"{stop.rule}: {what}": [_value(run.stops[at], what) for run in runs]
            for at, stop in enumerate(runs[0].stops if runs else ())
            for what in ("recall", "reached", "saved")
        },
    }
    for name, values in columns.items():
        known = [value for value in values if value is not None]
        if known:
            found[name] = fmean(known)
    return found


def _value(stop: Stop, what: str) -> float | None:
    value = getattr(stop, what)
    return None if value is None else float(value)
