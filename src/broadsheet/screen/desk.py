"""The desk of one review, as a process holds it: events go in, the next record and the state of things come out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from broadsheet.model.screening import (
    Agreement,
    Chosen,
    Conflict,
    Offer,
    PoolRecord,
    PrismaCounts,
    RecordNumber,
    Review,
    ReviewEvent,
    ReviewEventKind,
    ReviewProgress,
    Stage,
    StoppingPlan,
    StopReport,
)
from broadsheet.screen import offers, reports
from broadsheet.screen.agreement import agreements
from broadsheet.screen.fold import WHOLE
from broadsheet.screen.follower import Follower
from broadsheet.screen.groups import Group
from broadsheet.screen.highlights import highlights
from broadsheet.screen.offers import AUTO, Choice
from broadsheet.screen.prisma import prisma_counts
from broadsheet.screen.reckoner import Reckoner
from broadsheet.screen.rules import check_event, check_screener
from broadsheet.screen.state import State
from broadsheet.screen.superseded import REMEDY, superseded
from broadsheet.screen.trail import stopper_of
from broadsheet.screen.trainer import LEARNED_FROM, Order, Pool, Scope, Task, Trainer, left_out, task_of

if TYPE_CHECKING:
    import numpy as np

_TEACHES = frozenset({"decide", "resolve", "undo", "twin", "apart", "add", "plan"})


def software() -> str:
    """What made a statement, with its version."""
    try:
        return f"Broadsheet {version('broadsheet')}"
    except PackageNotFoundError:  # run from its sources
        return "Broadsheet"


class Desk:
    """One review at work. All methods may be called by several threads.

    ``vectors`` are float32 [records, dimensions] in the order of numbers, made by ``encoder``. ``background`` learns in
    a thread; without it an order is learned when it is needed: slow, but the same for the same events. ``patience`` is
    for how many seconds the first record waits for the first order, before it is drawn at random.
    """

    def __init__(
        self,
        review: Review,
        records: Iterable[PoolRecord],
        events: Iterable[ReviewEvent] = (),
        *,
        vectors: np.ndarray | None = None,
        encoder: str = "e5-small",
        background: bool = True,
        patience: float = 2.0,
    ) -> None:
        import scipy.special  # noqa: F401 - what the rules reckon with takes long to load: no decision shall wait for it

        self.state = State.of(review, records, events)
        self._vectors, self._encoder, self._software = vectors, encoder, software()
        self._patience = patience
        self._described: np.ndarray | None = None
        self._trainer = Trainer(background=background)
        self._reckoner = Reckoner(background=background)
        self._pool = self._new_pool()
        self._scopes: dict[Scope, None] = {}
        self._lent: dict[tuple[Stage, str], Group] = {}
        self._followers: dict[tuple[StoppingPlan, Stage, str], Follower] = {}
        self._left_out: tuple[tuple[int, Stage], frozenset[int]] | None = None
        self._lock = threading.RLock()

    # --- what comes in

    def refresh(self, events: Iterable[ReviewEvent], records: Iterable[PoolRecord] = ()) -> None:
        """Takes what has been written since, with the records that ADD events brought; learns from it soon."""
        with self._lock:
            coming, plan, size = list(events), self.state.review.plan, len(self.state.records)
            self.state.apply(coming, records)
            now = self.state.review.plan
            if any(getattr(plan, name) != getattr(now, name) for name in LEARNED_FROM):
                self._described = None
                self._pool = self._new_pool()
            elif size != len(self.state.records):
                self._pool = self._new_pool()
            for event in coming:
                if event.kind is ReviewEventKind.DECIDE:
                    self._lent.pop((event.stage, event.screener), None)
            if any(event.kind in _TEACHES for event in coming):
                self._followers = {key: one for key, one in self._followers.items() if self._is_followed(key[0])}
                for scope in self._scopes:
                    self._trainer.request(scope, self._task(scope))

    def set_vectors(
        self, vectors: np.ndarray | None, encoder: str = "e5-small", *, described: np.ndarray | None = None
    ) -> None:
        """Vectors of the records, float32 [records, dimensions], and of the plan's description, float32 [dimensions]:
        orders are learned with them from now on. They hold until records are added or the description is changed."""
        with self._lock:
            self._vectors, self._encoder, self._described = vectors, encoder, described
            self._pool = self._new_pool()
            for scope in self._scopes:
                self._trainer.request(scope, self._task(scope))

    def check(self, event: ReviewEvent) -> None:
        """Raises InputError for an event that a person may not cause as the review stands."""
        with self._lock:
            check_event(self.state, event)

    def close(self) -> None:
        """Ends the learning in the background."""
        self._trainer.close()
        self._reckoner.close()

    # --- what to read next

    def due(self, screener: str, stage: Stage, moment: datetime, mode: str = AUTO) -> ReviewEvent | None:
        """The event that begins an audit, to be written and taken in before ``offer``; its id is 0. None: nothing."""
        with self._lock:
            check_screener(self.state, screener)
            wants = self._wants(stage, screener, mode)
            return offers.due(self.state, stage, screener, moment, mode=mode, wants=wants)

    def offer(self, screener: str, stage: Stage = Stage.ABSTRACT, mode: str = AUTO) -> Offer | None:
        """The record that the screener should read next; None where nothing is unread.

        ``mode`` is ``auto`` (as the stopping rule wants it), ``ranked``, ``audit`` or ``random``. Raises InputError for
        who is not a screener of the plan, and for an audit that has not begun.
        """
        with self._lock:
            check_screener(self.state, screener)
            offers.check_mode(mode)
            order = self._order(stage, screener)
            choice = offers.choose(
                self.state,
                stage,
                screener,
                mode=mode,
                wants=self._wants(stage, screener, mode),
                order=order,
                lent=self._lent_to_others(stage, screener),
            )
            if choice is None:
                return None
            self._lent[stage, screener] = choice.group
            return self._shown(choice, choice.group, order)

    def look(self, number: RecordNumber, screener: str = WHOLE, stage: Stage = Stage.ABSTRACT) -> Offer:
        """A record that a person picked, with the same highlights; InputError for one that there is not."""
        with self._lock:
            group = self.state.group(number)
            view = self.state.view(screener)
            order = self._trainer.order((stage, view)) if (stage, view) in self._scopes else None
            return self._shown(Choice(group, Chosen.MANUAL), number, order)

    @property
    def is_learning(self) -> bool:
        """Whether an order is being learned, or a stopping rule catches up with what was read."""
        return self._trainer.is_learning or self._reckoner.is_working

    def settle(self, timeout: float = 60.0) -> bool:
        """Waits until everything is learned and the stopping rules have caught up; False where it took longer."""
        end = time.monotonic() + timeout
        return self._trainer.settle(timeout) and self._reckoner.settle(max(end - time.monotonic(), 0.0))

    # --- where things stand

    def progress(self, screener: str = WHOLE, stage: Stage = Stage.ABSTRACT, *, curve: bool = False) -> ReviewProgress:
        """Where screening stands: of the whole review, or as a blinded screener may see it.

        Where a stopping rule is far behind, as after a process has begun, its report says so, and ``training`` is true
        until it has caught up; ``settle`` waits for that. Raises what went wrong in the background.
        """
        with self._lock:
            state, view = self.state, self.state.view(screener)
            if self._trainer.error is not None:
                raise self._trainer.error
            report = self._report(state.review.plan.stopping, stage, view)
            model = self._model(stage, view)
            counts = reports.Counts.of(state, stage, view)
            track, overtaken = state.track(stage, view), superseded(state, stage, view)
            methods = reports.methods(state, report, stage, view, software=self._software, model=model)
            return ReviewProgress(
                review=state.review,
                stage=stage,
                records=counts.groups,
                repeats=counts.repeats,
                read=counts.read,
                found=counts.found,
                later=len(track.later),
                conflicts=len(state.conflicts(stage, screener)),
                phase=self._phase(stage, view, report),
                report=report,
                others=tuple(self._report(plan, stage, view) for plan in reports.compared(state.review.plan.stopping)),
                curve=self._follower(state.review.plan.stopping, stage, view).curve() if curve else (),
                methods=" ".join(filter(None, (methods, overtaken))),
                model=model,
                training=self._trainer.is_learning or self._reckoner.is_working,
                superseded=f"{overtaken} {REMEDY}" if overtaken else "",
            )

    def superseded(self, screener: str, stage: Stage) -> str:
        """A sentence where the statement that was kept is not of these labels any more, with what to do; else empty."""
        with self._lock:
            overtaken = superseded(self.state, stage, self.state.view(screener))
            return f"{overtaken} {REMEDY}" if overtaken else ""

    def stop_event(self, screener: str, stage: Stage, moment: datetime) -> ReviewEvent:
        """The event that keeps what can be said now; its id is 0 and its detail the statement as JSON."""
        with self._lock:
            state, view = self.state, self.state.own_view(screener)
            report, model = self._report(state.review.plan.stopping, stage, view, wait=True), self._model(stage, view)
            text = reports.methods(state, report, stage, view, software=self._software, model=model)
            counts = reports.Counts.of(state, stage, view)
            detail = reports.statement(report, counts, text, model=model, software=self._software)
            review = state.review.id
            return ReviewEvent(
                0, review, ReviewEventKind.STOP, screener, moment, stage=stage, model=model, detail=detail
            )

    def conflicts(self, stage: Stage = Stage.ABSTRACT, screener: str = WHOLE) -> list[Conflict]:
        """The records that screeners decided differently, each with the screeners' last decisions."""
        with self._lock:
            state = self.state
            found = []
            for group in state.conflicts(stage, screener):
                own = (state.own(group, stage, name) for name in state.review.plan.screeners)
                found.append(Conflict(state.records[group], stage, tuple(event for event in own if event)))
            return found

    def agreement(self, stage: Stage = Stage.ABSTRACT) -> list[Agreement]:
        """The agreement of each two screeners."""
        with self._lock:
            return agreements(self.state, stage)

    def prisma(self) -> PrismaCounts:
        """The numbers of the PRISMA 2020 flow diagram."""
        with self._lock:
            return prisma_counts(self.state)

    # --- how

    def _new_pool(self) -> Pool:
        """Vectors of another pool or description are of no use: who made them gives new ones."""
        records = tuple(self.state.records.values())
        vectors = self._vectors if self._vectors is not None and len(self._vectors) == len(records) else None
        return Pool(
            records, self.state.review.plan, vectors, self._encoder, self._described if vectors is not None else None
        )

    def _task(self, scope: Scope) -> Task:
        return task_of(self.state, self._pool, *scope, self._out(scope[0]))

    def _out(self, stage: Stage) -> frozenset[int]:
        key = (self.state.shape, stage)
        if self._left_out is None or self._left_out[0] != key:
            self._left_out = (key, left_out(self.state, stage))
        return self._left_out[1]

    def _order(self, stage: Stage, screener: str) -> Order | None:
        scope = (stage, self.state.view(screener))
        patience = 0.0
        if scope not in self._scopes:
            self._scopes[scope], patience = None, self._patience
            self._trainer.request(scope, self._task(scope))
        return self._trainer.order(scope, patience)

    def _lent_to_others(self, stage: Stage, screener: str) -> set[Group]:
        """What other screeners have before them, where a record is to be read once only."""
        if self.state.is_blinded:
            return set()
        return {group for (at, name), group in self._lent.items() if at is stage and name != screener}

    def _wants(self, stage: Stage, screener: str, mode: str) -> str:
        if mode != AUTO:
            return ""
        follower = self._follower(self.state.review.plan.stopping, stage, self.state.view(screener))
        # Ranked reading is right whatever the rule will say.
        return follower.wants(self.state) if self._reckoner.is_ready(follower, self.state) else "ranked"

    def _follower(self, plan: StoppingPlan, stage: Stage, view: str) -> Follower:
        key = (plan, stage, view)
        if key not in self._followers:
            self._followers[key] = Follower(stopper_of(plan), stage, view)
        return self._followers[key]

    def _report(self, plan: StoppingPlan, stage: Stage, view: str, *, wait: bool = False) -> StopReport:
        follower = self._follower(plan, stage, view)
        if wait or self._reckoner.is_ready(follower, self.state):
            return reports.of_pool(self.state, stage, reports.report_of(follower.verdict(self.state)))
        return reports.pending(plan)

    def _is_followed(self, plan: StoppingPlan) -> bool:
        declared = self.state.review.plan.stopping
        return plan == declared or plan in reports.compared(declared)

    def _model(self, stage: Stage, view: str) -> str:
        """The version of the latest order, without waiting for one."""
        order = self._trainer.order((stage, view)) if (stage, view) in self._scopes else None
        return order.version if order else ""

    def _phase(self, stage: Stage, view: str, report: StopReport) -> str:
        if self.state.is_stopped(stage, view) or not (self.state.unread(stage, view) or self.state.pool_size() == 0):
            return "done"
        return "audit" if report.wants == "audit" else "ranked"

    def _shown(self, choice: Choice, number: RecordNumber, order: Order | None) -> Offer:
        record = self.state.records[number]
        index = number - 1
        explanation = None
        if order is not None and not order.is_random and order.ranks(index):
            explanation = order.explain(index)
        title, abstract = highlights(record, self.state.review.plan.terms, explanation)
        version = order.version if order is not None and choice.unread else ""
        return Offer(record, choice.chosen, version, choice.place, choice.unread, title, abstract)
