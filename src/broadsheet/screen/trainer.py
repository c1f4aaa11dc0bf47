"""Learns in the background: the newest request is learned from, and the latest finished order is at hand at once.

One thread for all orders of a review (its stages, and its screeners where it is blinded). Features are made once for a
pool. What goes wrong is kept and raised where an order is asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from broadsheet.model.screening import Label, Plan, PoolRecord, ReviewEventId, Stage
from broadsheet.screen.background import Background
from broadsheet.screen.state import State

if TYPE_CHECKING:
    import numpy as np

    from broadsheet.learn.screening import Explanation, Ranking, ScreeningModel

LEARNED_FROM = ("model", "querier", "seed", "question", "criteria", "description")
"""The fields of a plan that an order depends on."""

Scope = tuple[Stage, str]
"""A stage, and the view in which its labels are seen."""


@dataclass(frozen=True, eq=False)
class Pool:
    """What a model is made for: the records, their vectors (float32 [records, dimensions] or None), and the plan's
    part in it. ``encoder`` names what made the vectors; ``described`` float32 [dimensions] is the vector of what the
    plan looks for, where there is one. ``revision`` is that of the composition, 0 for the present one."""

    records: Sequence[PoolRecord]
    plan: Plan
    vectors: np.ndarray | None = None
    encoder: str = ""
    described: np.ndarray | None = None
    revision: int = 0

    def model(self) -> ScreeningModel:
        """A new model with the features of the pool: some seconds at 40,000 records."""
        from broadsheet.learn.screening import REVISION, model_of

        revision = self.revision or REVISION
        model = model_of(self.plan.model, self.plan.querier, self.plan.seed, revision=revision)
        return model.fit_features(
            [text_of(record) for record in self.records],
            self.vectors,
            description=description_of(self.plan),
            description_vector=self.described,
            keywords=["; ".join(record.keywords) for record in self.records],
        )

    def version(self, model: ScreeningModel, event: ReviewEventId) -> str:
        """The name of an order: composition with its revision (the first has none), features, and the last event that
        it had learned from."""
        from broadsheet.learn.screening import REVISION

        features = str(model.features_).replace("vectors", self.encoder or "vectors")
        revision = self.revision or REVISION
        return f"{model.name}{f'.{revision}' if revision > 1 else ''}/{features}@{event}"


@dataclass(frozen=True, eq=False)
class Task:
    """What an order is to be learned from: labels by index (from 0), those left out, and the last event among them."""

    pool: Pool
    labelled: dict[int, bool]
    left_out: frozenset[int]
    event: ReviewEventId


@dataclass(frozen=True, eq=False)
class Order:
    """A finished order: indices of records from 0, best first, and what it was learned from."""

    ranking: Ranking
    model: ScreeningModel
    version: str
    event: ReviewEventId

    @cached_property
    def place_of(self) -> np.ndarray:
        """The place of each record by relevance, −1 for those that were not ranked: int64 [records]."""
        import numpy as np

        places = np.full(len(self.ranking.scores), -1, np.int64)
        places[self.ranking.relevance_order] = np.arange(len(self.ranking.relevance_order))
        return places

    @property
    def is_random(self) -> bool:
        """Whether nothing was known that records could be ranked by."""
        return self.ranking.basis == "nothing"

    def ranks(self, index: int) -> bool:
        """Whether a record has a place in it."""
        return index < len(self.place_of) and bool(self.place_of[index] >= 0)

    def explain(self, index: int) -> Explanation:
        """What the model sees in a record."""
        return self.model.explain(self.ranking, index)


class Trainer(Background):
    """Keeps the newest order for each scope. ``background`` False learns when an order is asked for, and only then."""

    def __init__(self, *, background: bool = True) -> None:
        super().__init__("broadsheet-screening")
        self._background = background
        self._made: tuple[Pool, ScreeningModel] | None = None
        self._orders: dict[Scope, Order] = {}
        self._wanted: dict[Scope, Task] = {}
        self._busy = False
        self._learning = threading.Lock()

    def request(self, scope: Scope, task: Task) -> None:
        """Learns from these labels soon; a request that was not begun yet is forgotten."""
        with self._change:
            if self._closed:
                return
            self._wanted[scope] = task
            self._error = None
            if self._background:
                self._begin()

    def order(self, scope: Scope, patience: float = 0.0) -> Order | None:
        """The latest order; None where none is finished, after waiting for so many seconds.

        Where there is none, raises what went wrong with the last one.
        """
        if not self._background:
            self._learn_all()
        with self._change:
            self._change.wait_for(lambda: scope in self._orders or self._error or self._closed, patience)
            if self._error is not None and scope not in self._orders:
                raise self._error
            return self._orders.get(scope)

    def learn(self, task: Task) -> Order:
        """The order of these labels, learned now; the same for the same pool, plan and labels, whatever came before."""
        from threadpoolctl import threadpool_limits

        pool = task.pool
        # One thread: sums of several come out in another order on another machine, and the site needs the other cores.
        with self._learning, threadpool_limits(1):
            if self._made is None or self._made[0] is not pool:
                self._made = None  # the old features go before the new ones come
                self._made = (pool, pool.model())
            model = self._made[1]
            ranking = model.rank(task.labelled, leave_out=task.left_out)
        return Order(ranking, model, pool.version(model, task.event), task.event)

    @property
    def is_learning(self) -> bool:
        """Whether an order is being learned or waits to be."""
        with self._change:
            return self._busy or bool(self._wanted)

    @property
    def error(self) -> Exception | None:
        """What went wrong when the last order was learned."""
        with self._change:
            return self._error

    def settle(self, timeout: float = 60.0) -> bool:
        """Waits until everything asked for is learned; False where it took longer."""
        if not self._background:
            self._learn_all()
            return True
        with self._change:
            return self._change.wait_for(lambda: not self._busy and not self._wanted, timeout)

    def close(self) -> None:
        """Ends the thread, after the order that it is learning; what else was asked for is forgotten."""
        with self._change:
            self._closed = True
            self._wanted.clear()
        super().close()

    def _learn_all(self) -> None:
        while True:
            with self._change:
                piece = self._take()
            if piece is None:
                return
            piece()

    def _take(self) -> Callable[[], None] | None:
        scope = next(iter(self._wanted), None)
        if scope is None:
            return None
        self._busy = True
        return partial(self._learn_kept, scope, self._wanted.pop(scope))

    def _learn_kept(self, scope: Scope, task: Task) -> None:
        order, error = None, None
        try:
            order = self.learn(task)
        except Exception as raised:
            error = raised
        with self._change:
            self._busy = False
            self._error = error
            if order is not None:
                self._orders[scope] = order
            self._change.notify_all()


def text_of(record: PoolRecord) -> str:
    """The text that models are made for: the title, a line's end, the abstract; characters stay where they were."""
    return record.title.replace("\n", " ") + "\n" + record.abstract.replace("\n", " ")


def description_of(plan: Plan) -> str:
    """What the plan says of what is looked for: the question, the criteria for inclusion and the description."""
    criteria = (criterion.text for criterion in plan.criteria if not criterion.excludes)
    return "\n".join(text for text in (plan.question, *criteria, plan.description) if text)


def left_out(state: State, stage: Stage) -> frozenset[int]:
    """The indices of records that are neither learned from nor ranked: repeats, and what is not of the stage."""
    if stage is Stage.ABSTRACT:
        return frozenset(number - 1 for number in state.records if number not in state.groups)
    taught = set(state.pool(stage)) | set(state.labels(Stage.ABSTRACT))
    return frozenset(number - 1 for number in state.records if number not in taught)


def task_of(state: State, pool: Pool, stage: Stage, view: str, out: frozenset[int] | None = None) -> Task:
    """What an order is learned from: the labels that the view has of a stage.

    At the second stage, what the first one excluded counts as irrelevant, too.
    """
    labelled: dict[int, bool] = {}
    if stage is Stage.FULL_TEXT:
        of_first = state.labels(Stage.ABSTRACT)
        labelled = {group - 1: False for group, label in of_first.items() if label is Label.EXCLUDE}
    labelled |= {group - 1: label is Label.INCLUDE for group, label in state.labels(stage, view).items()}
    return Task(pool, labelled, left_out(state, stage) if out is None else out, state.last_event)
