"""Replays a review: every kept statement made again from the events before it, and on request every offer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from broadsheet.model.screening import (
    PoolRecord,
    Replay,
    Review,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
    StopReport,
)
from broadsheet.screen import reports
from broadsheet.screen.fold import added
from broadsheet.screen.offers import admitted, placed
from broadsheet.screen.state import State
from broadsheet.screen.trail import stopper_of, trail
from broadsheet.screen.trainer import LEARNED_FROM, Order, Pool, Scope, Trainer, task_of

if TYPE_CHECKING:
    import numpy as np

_MOST = 200  # differences that are named

How = tuple[bool, int]
"""Whether an order was made with vectors, and by which revision of its composition."""


def replay(
    review: Review,
    records: Iterable[PoolRecord],
    events: Sequence[ReviewEvent],
    *,
    vectors: np.ndarray | None = None,
    encoder: str = "e5-small",
    offers: bool = False,
) -> Replay:
    """Makes every statement again, and with ``offers`` finds the place of every record that a model had offered.

    Offers of a model that had vectors ask for the same ones (float32 [records, dimensions]); without them, that they
    cannot be made again is named as a difference. Raises InputError for records and events that do not go together.
    """
    pool = list(records)
    state = State(review)
    state.apply((), pool[: max(len(pool) - added(events), 0)])
    again = _Offers(events, vectors, encoder) if offers else None
    differences: list[str] = []
    statements = 0
    for event in events:
        if event.kind is ReviewEventKind.STOP:
            statements += 1
            differences += _statement(state, event)
        if again is not None:
            differences += again.compared(state, event)
        known = len(state.records)
        state.apply([event], pool[known : known + added([event])])
        if again is not None:
            again.learn(state)
    if len(differences) > _MOST:
        differences = [*differences[:_MOST], f"and {len(differences) - _MOST} more"]
    return Replay(len(events), statements, tuple(differences))


def _statement(state: State, event: ReviewEvent) -> list[str]:
    """What differs between a kept statement and the same one made again."""
    kept = reports.statement_fields(event.detail)
    view = state.own_view(event.screener)
    verdict = stopper_of(state.review.plan.stopping).verdict(trail(state, event.stage, view))
    raw = reports.report_of(verdict)
    report = raw if _is_of_empty(state, event, kept, raw) else reports.of_pool(state, event.stage, raw)
    counts = reports.Counts.of(state, event.stage, view)
    again = reports.statement_fields(reports.statement(report, counts, "", model="", software=""))
    differences, passed = [], reports.not_compared(kept, state.review.plan.stopping)
    for part in ("report", "counts"):
        fields, was = again[part], kept.get(part)
        if not isinstance(was, dict):
            differences.append(f"event {event.id}: the statement keeps no {part}")
            continue
        for name in sorted(fields.keys() | was.keys()):
            now, then = fields.get(name), was.get(name)
            if now != then and not (part == "report" and name in passed):
                differences.append(f"event {event.id}: {part}, {name}: kept was {then!r}, made again it is {now!r}")
    return differences


def _is_of_empty(state: State, event: ReviewEvent, kept: dict[str, Any], raw: StopReport) -> bool:
    """Whether a statement is of a stage with nothing to read, by a version that let the rules speak of that, too."""
    said = kept.get("report")
    return not state.pool_size(event.stage) and isinstance(said, dict) and said.get("sentence") == raw.sentence


class _Offers:
    """The orders by which records were offered, learned again when the events they had learned from have come."""

    def __init__(self, events: Sequence[ReviewEvent], vectors: np.ndarray | None, encoder: str) -> None:
        self._vectors, self._encoder = vectors, encoder
        self._due = Counter((learned, _how(e), e.stage, e.screener) for e in events if (learned := _learned(e)))
        self._trainers: dict[How, Trainer] = {}
        self._pools: dict[How, tuple[object, Pool]] = {}
        self._orders: dict[tuple[ReviewEventId, How, Scope], Order] = {}
        self._wanted: dict[ReviewEventId, dict[tuple[How, Scope], None]] = {}
        self._told = False
        for learned, how, stage, screener in self._due:
            self._wanted.setdefault(learned, {})[how, (stage, screener)] = None

    def learn(self, state: State) -> None:
        """Learns the orders that were made from the state as it is now."""
        for how, (stage, screener) in self._wanted.pop(state.last_event, ()):
            if (how[0] and self._vectors is None) or not _is_known(how):
                continue
            task = task_of(state, self._pool(state, how), stage, state.view(screener))
            trainer = self._trainers.setdefault(how, Trainer(background=False))
            self._orders[state.last_event, how, (stage, screener)] = trainer.learn(task)

    def compared(self, state: State, event: ReviewEvent) -> list[str]:
        """What differs between an offer as it was and as it is made again; ``state`` is that before the decision."""
        learned, how = _learned(event), _how(event)
        is_offer = event.kind is ReviewEventKind.DECIDE and event.record in state.records
        if is_offer and admitted(state, event) != event:
            return [f"event {event.id}: record {event.record} was not offered as it says, “{event.chosen}”"]
        return self._ranked_again(state, event, learned, how) if is_offer and learned else []

    def _ranked_again(self, state: State, event: ReviewEvent, learned: ReviewEventId, how: How) -> list[str]:
        if not _is_known(how):
            return [f"event {event.id}: {event.model} is of a newer version of Broadsheet, or of none"]
        if how[0] and self._vectors is None:
            told, self._told = self._told, True
            return [] if told else [f"event {event.id}: {event.model} had vectors, which are not at hand here"]
        order = self._orders.get((learned, how, (event.stage, event.screener)))
        if order is None:
            return [f"event {event.id}: {event.model} had learned from an event that is not there before it"]
        self._done(learned, how, event)
        if order.version != event.model:
            return [f"event {event.id}: offered by {event.model}, which is {order.version} here"]
        place, unread = placed(state, event.stage, event.screener, order, state.group(event.record))
        read = event.unread - unread  # by others, between the offer and the decision
        if min(read, 0) <= event.place - place <= max(read, 0):
            return []
        return [f"event {event.id}: record {event.record} was at place {event.place}, made again it is at {place}"]

    def _done(self, learned: ReviewEventId, how: How, event: ReviewEvent) -> None:
        """An order that no decision asks for any more is forgotten."""
        key = (learned, how, event.stage, event.screener)
        self._due[key] -= 1
        if not self._due[key]:
            del self._orders[learned, how, (event.stage, event.screener)]

    def _pool(self, state: State, how: How) -> Pool:
        plan, (dense, revision) = state.review.plan, how
        key = (len(state.records), tuple(getattr(plan, name) for name in LEARNED_FROM))
        if how not in self._pools or self._pools[how][0] != key:
            records = tuple(state.records.values())
            vectors = self._vectors[: len(records)] if dense and self._vectors is not None else None
            self._pools[how] = (key, Pool(records, plan, vectors, self._encoder, revision=revision))
        return self._pools[how][1]


def _learned(event: ReviewEvent) -> ReviewEventId:
    """The last event that the order had learned from by which a record was offered; 0 where it was not ranked."""
    number = event.model.rpartition("@")[2]
    is_offer = event.kind is ReviewEventKind.DECIDE and event.unread > 0
    return int(number) if is_offer and number.isdecimal() else 0


def _how(event: ReviewEvent) -> How:
    composition, _, features = event.model.rpartition("@")[0].rpartition("/")
    number = composition.rpartition(".")[2]
    return "+" in features, int(number) if "." in composition and number.isdecimal() and len(number) < 9 else 1


def _is_known(how: How) -> bool:
    from broadsheet.learn.screening import REVISION

    return 1 <= how[1] <= REVISION
