"""Systematic reviews: their plans, the records of their pools, and the events from which all else is derived."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from operator import index
from typing import Any, TypeVar

import orjson
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model.screening import (
    Chosen,
    Label,
    Plan,
    PoolRecord,
    RecordNumber,
    Review,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
    ReviewId,
    Stage,
)
from broadsheet.store import schema as s
from broadsheet.store.codec import from_micros, to_micros
from broadsheet.store.codec_screening import (
    plan_from_json,
    plan_to_json,
    pool_record_from_bytes,
    pool_record_to_bytes,
)
from broadsheet.store.database import any_of
from broadsheet.store.writes import take_numbers

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_IN_NO_NAME = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LONGEST_NAME = 200
_BATCH = 1000

T = TypeVar("T")
Transaction = Callable[[], AbstractContextManager[Connection]]


class ScreeningStore:
    """Reviews, their records and their events; reached as ``store.screening``.

    As in Store: from any thread, StoreError and its kinds. What is written about a review that there is not raises
    NotFoundError; reading about one gives nothing. Records and events are only ever added, and go with their review.

    Events count from 1 within their review, without gaps, in the order in which they are kept: an exported review keeps
    its ids wherever it is imported, so that what refers to them (``undoes``, ``model``, ``detail``) stays true.

    NUL and lone surrogates in the texts of events become U+FFFD. NumPy's integers become Python's; ``TypeError`` for
    other numbers where an integer is wanted, ``ValueError`` for a label or kind that there is not.

    Who writes by what it has read holds ``store.writing()`` from reading to writing.
    """

    def __init__(self, reading: Transaction, writing: Transaction) -> None:
        self._reading = reading
        self._writing = writing

    # Reviews

    def reviews(self) -> list[Review]:
        """All reviews, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(s.reviews).order_by(s.reviews.c.created, s.reviews.c.id)).all()
        return [_review(row) for row in rows]

    def review(self, of: ReviewId | str) -> Review | None:
        """A review by its id or its name."""
        with self._reading() as connection:
            if isinstance(of, str):
                name = _composed(of)
                if _UNSTORABLE.search(name):  # no database takes these as a question either
                    return None
                asked = s.reviews.c.name == name
            else:
                asked = s.reviews.c.id == index(of)
            row = connection.execute(select(s.reviews).where(asked)).one_or_none()
        return _review(row) if row else None

    def add_review(self, name: str, plan: Plan, moment: datetime, screener: str = "") -> Review:
        """Make a review and its first event, ``create``, in one transaction.

        The name is kept without spaces around it and with its accents as one character each. Raises InputError where it
        is taken or cannot be one, ValueError for a plan with a number that is not finite.
        """
        document = plan_to_json(plan)
        created = ReviewEvent(0, 0, ReviewEventKind.CREATE, screener, moment, detail=document)
        with self._writing() as connection:
            review = _insert_review(connection, name, document, moment)
            _insert_events(connection, review.id, [created], first=1)
        return review

    def import_review(
        self, name: str, plan: Plan, created: datetime, records: Iterable[PoolRecord], events: Iterable[ReviewEvent]
    ) -> Review:
        """Make a review of another one's records and events, in one transaction; ``plan`` is the one it had last.

        Raises InputError as ``add_review``, ValueError unless records and events are numbered from 1 without gaps.
        """
        with self._writing() as connection:
            review = _insert_review(connection, name, plan_to_json(plan), created)
            _insert_records(connection, review.id, records)
            expected = 1
            for batch in _batches(events):
                for place, event in enumerate(batch, expected):
                    if event.id != place:
                        raise ValueError(f"event {event.id} stands where event {place} of the review should")
                _insert_events(connection, review.id, batch, first=expected)
                expected += len(batch)
        return review

    def remove_review(self, review_id: ReviewId) -> None:
        """Delete a review with all records and events, in one transaction. Its id is never given again."""
        with self._writing() as connection:
            _hold_review(connection, review_id)
            for table in (s.review_events, s.review_records):
                connection.execute(delete(table).where(table.c.review == index(review_id)))
            connection.execute(delete(s.reviews).where(s.reviews.c.id == index(review_id)))

    # The pool

    def add_records(
        self,
        review_id: ReviewId,
        records: Iterable[PoolRecord],
        event: ReviewEvent,
        *,
        also: Sequence[ReviewEvent] = (),
    ) -> ReviewEvent:
        """Add records, the event that says so, and what follows from them (``also``), all or nothing.

        Gives the event with its id. Records are taken in order as they come, a thousand at a time. Raises ValueError
        unless their numbers go on from the last one of the pool, without gaps.
        """
        with self._writing() as connection:
            _hold_review(connection, review_id)
            _insert_records(connection, review_id, records)
            return _append_events(connection, review_id, [event, *also])[0]

    def count(self, review_id: ReviewId) -> int:
        """How many records the pool has; also the number of the last one."""
        with self._reading() as connection:
            return _last_record(connection, review_id)

    def records(
        self, review_id: ReviewId, numbers: Iterable[RecordNumber] | None = None, *, after: RecordNumber = 0
    ) -> Iterator[PoolRecord]:
        """The records of a pool, or those of these numbers, by number; only those after ``after``.

        Numbers that no record has give nothing. ``paper`` is the id that the library's paper had then.
        """
        if numbers is not None:
            wanted = sorted({index(number) for number in numbers if number > after})
            for batch in _batches(wanted):
                yield from self._some_records(review_id, batch)
            return
        last = index(after)
        while True:
            found = self._records_after(review_id, last)
            yield from found
            if len(found) < _BATCH:
                return
            last = found[-1].number

    def _some_records(self, review_id: ReviewId, numbers: Sequence[RecordNumber]) -> list[PoolRecord]:
        r = s.review_records.c
        with self._reading() as connection:
            asked = select(r.content).where(r.review == index(review_id), any_of(connection, r.number, numbers))
            contents = connection.scalars(asked.order_by(r.number)).all()
        return [pool_record_from_bytes(content) for content in contents]

    def _records_after(self, review_id: ReviewId, last: RecordNumber) -> list[PoolRecord]:
        r = s.review_records.c
        asked = select(r.content).where(r.review == index(review_id), r.number > last).order_by(r.number).limit(_BATCH)
        with self._reading() as connection:
            contents = connection.scalars(asked).all()
        return [pool_record_from_bytes(content) for content in contents]

    # Events

    def add_event(self, event: ReviewEvent, plan: Plan | None = None) -> ReviewEvent:
        """Keep an event of the review that it names; the event as it is kept, with its id.

        With ``plan``, the review has it from now on, in the same transaction; the event carries it in ``detail`` where
        that is empty. Raises ValueError for a time without zone.
        """
        document = None if plan is None else plan_to_json(plan)
        if document and not event.detail:
            event = replace(event, detail=document)
        with self._writing() as connection:
            _hold_review(connection, event.review)
            if document:
                change = update(s.reviews).where(s.reviews.c.id == index(event.review))
                connection.execute(change.values(plan=document))
            return _append_events(connection, event.review, [event])[0]

    def add_events(self, review_id: ReviewId, events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
        """Keep events of a review in this order, all or none; the events as they are kept, with their ids.

        ``undoes`` below 0 names another of these events, which gets its id only now: −1 is the first.
        """
        with self._writing() as connection:
            _hold_review(connection, review_id)
            return _append_events(connection, review_id, events)

    def events(self, review_id: ReviewId, after: ReviewEventId = 0) -> list[ReviewEvent]:
        """A review's events after ``after``, in order."""
        e = s.review_events.c
        asked = select(s.review_events).where(e.review == index(review_id), e.id > index(after)).order_by(e.id)
        with self._reading() as connection:
            rows = connection.execute(asked).all()
        return [_event(row) for row in rows]


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def _review(row: Row[Any]) -> Review:
    return Review(row.id, row.name, from_micros(row.created), plan_from_json(row.plan))


def _insert_review(connection: Connection, name: str, plan: str, created: datetime) -> Review:
    kept = _composed(name)
    if not kept or len(kept) > _LONGEST_NAME or _IN_NO_NAME.search(kept):
        raise InputError(
            f"{name!r} cannot be a review's name; use 1 to {_LONGEST_NAME} characters, no control characters among them"
        )
    if connection.scalar(select(s.reviews.c.id).where(s.reviews.c.name == kept)) is not None:
        raise InputError(f"there is a review {kept!r} already; choose another name, or remove that one first")
    number = take_numbers(connection, review=1)["review"]
    made = to_micros(created)
    connection.execute(insert(s.reviews), {"id": number, "name": kept, "created": made, "plan": plan})
    return Review(number, kept, from_micros(made), plan_from_json(plan))


def _hold_review(connection: Connection, review_id: ReviewId) -> None:
    """Raise NotFoundError unless there is the review; it is locked until the transaction ends."""
    asked = select(s.reviews.c.id).where(s.reviews.c.id == index(review_id)).with_for_update()
    if connection.scalar(asked) is None:
        raise NotFoundError(f"no review with the id {review_id}; it may have been removed")


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, _BATCH)):
        yield batch


def _last_record(connection: Connection, review_id: ReviewId) -> RecordNumber:
    r = s.review_records.c
    return connection.scalar(select(func.max(r.number)).where(r.review == index(review_id))) or 0


def _insert_records(connection: Connection, review_id: ReviewId, records: Iterable[PoolRecord]) -> None:
    last = _last_record(connection, review_id)
    for batch in _batches(records):
        rows = []
        for record in batch:
            last += 1
            if record.number != last:
                raise ValueError(f"record {record.number} stands where record {last} of the pool should")
            rows.append({"review": index(review_id), "number": last, "content": pool_record_to_bytes(record)})
        connection.execute(insert(s.review_records), rows)


def _append_events(connection: Connection, review_id: ReviewId, events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
    e = s.review_events.c
    last = connection.scalar(select(func.max(e.id)).where(e.review == index(review_id))) or 0
    return _insert_events(connection, review_id, events, first=last + 1)


def _insert_events(
    connection: Connection, review_id: ReviewId, events: Sequence[ReviewEvent], *, first: ReviewEventId
) -> list[ReviewEvent]:
    rows = [_row(event, review_id, first + i, first) for i, event in enumerate(events)]
    if rows:
        connection.execute(insert(s.review_events), rows)
    return [_event(tuple(row.values())) for row in rows]


def _row(event: ReviewEvent, review_id: ReviewId, number: ReviewEventId, first: ReviewEventId) -> dict[str, Any]:
    """An event as values of the table's columns, in their order."""
    undoes = index(event.undoes)
    return {
        "review": index(review_id),
        "id": number,
        "kind": ReviewEventKind(event.kind).value,
        "screener": _cleaned(event.screener),
        "made": to_micros(event.moment),
        "record": index(event.record),
        "stage": Stage(event.stage).value,
        "label": None if event.label is None else Label(event.label).value,
        "chosen": None if event.chosen is None else Chosen(event.chosen).value,
        "reasons": orjson.dumps([_cleaned(reason) for reason in event.reasons]).decode() if event.reasons else None,
        "note": _cleaned(event.note),
        "other": index(event.other),
        "undoes": undoes if undoes >= 0 else first - 1 - undoes,
        "model": _cleaned(event.model),
        "place": index(event.place),
        "unread": index(event.unread),
        "detail": _cleaned(event.detail),
    }


def _cleaned(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def _event(values: Sequence[Any]) -> ReviewEvent:
    """The event of a row of the table."""
    # By place, not by name: a review may have a hundred thousand of them.
    review, number, kind, screener, made, record, stage, label, chosen, reasons, *rest = values
    note, other, undoes, model, place, unread, detail = rest
    return ReviewEvent(
        id=number,
        review=review,
        kind=ReviewEventKind(kind),
        screener=screener,
        moment=from_micros(made),
        record=record,
        stage=Stage(stage),
        label=Label(label) if label else None,
        chosen=Chosen(chosen) if chosen else None,
        reasons=tuple(orjson.loads(reasons)) if reasons else (),
        note=note,
        other=other,
        undoes=undoes,
        model=model,
        place=place,
        unread=unread,
        detail=detail,
    )
