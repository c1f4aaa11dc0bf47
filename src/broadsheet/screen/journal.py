"""A whole review as JSON Lines, from which anyone can replay it: a header, the records, the events, an end.

Every line is an object with one key that says what it is. The events are all that happened, in order, with time,
screener, reasons, the version of the model that offered a record, and the statements that were kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from broadsheet.errors import InputError
from broadsheet.model.screening import PoolRecord, Review, ReviewEvent
from broadsheet.store import (
    plan_fields,
    plan_from_fields,
    pool_record_fields,
    pool_record_from_fields,
    review_event_fields,
    review_event_from_fields,
)

FORMAT, VERSION = "broadsheet-review", 1
_LOOK = "it must be a file that “broadsheet screen export --format record” has written, whole"


def export_lines(review: Review, records: Iterable[PoolRecord], events: Iterable[ReviewEvent]) -> Iterator[str]:
    """The lines of a review's file, each with its end; records and events may be iterators and are not held."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "name": review.name,
        "id": review.id,
        "created": review.created.isoformat(),
        "plan": plan_fields(review.plan),
    }
    yield _line("review", header)
    counts = {"records": 0, "events": 0}
    for record in records:
        counts["records"] += 1
        yield _line("record", pool_record_fields(record))
    for event in events:
        counts["events"] += 1
        yield _line("event", review_event_fields(event))
    yield _line("end", counts)


def read_lines(lines: Iterable[str | bytes]) -> tuple[Review, list[PoolRecord], list[ReviewEvent]]:
    """What ``export_lines`` wrote. Raises InputError with the number of the line that cannot be read, and for a file
    that ends too early, whose records are not numbered from 1, or whose events are not in order."""
    review: Review | None = None
    records: list[PoolRecord] = []
    events: list[ReviewEvent] = []
    end: dict[str, Any] | None = None
    number = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        kind, fields = _parsed(number, line)
        if end is not None:
            raise InputError(f"line {number} comes after the end that the file names: {_LOOK}")
        if (kind == "review") is (review is not None):
            raise InputError(f"line {number}: “{kind}” is not expected there: {_LOOK}")
        try:
            if kind == "review":
                review = _review(fields)
            elif kind == "record":
                records.append(_in_turn(pool_record_from_fields(fields), len(records)))
            elif kind == "event":
                assert review is not None
                events.append(_after(replace(review_event_from_fields(fields), review=review.id), events))
            elif kind == "end":
                end = fields
            # What a newer version adds is passed over.
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"line {number}: this {kind} cannot be read ({error!r}): {_LOOK}") from None
    if review is None or end is None:
        raise InputError(f"the file ends after line {number}, before its end: {_LOOK}")
    counted = {"records": len(records), "events": len(events)}
    if {name: end.get(name) for name in counted} != counted:
        raise InputError(f"the file says at its end that it has {end}, but it has {counted}: {_LOOK}")
    return review, records, events


def _line(kind: str, fields: dict[str, Any]) -> str:
    return orjson.dumps({kind: fields}).decode() + "\n"


def _parsed(number: int, line: str | bytes) -> tuple[str, dict[str, Any]]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f"line {number} is not JSON ({error}): {_LOOK}") from None
    if not isinstance(found, dict) or len(found) != 1 or not isinstance(next(iter(found.values())), dict):
        raise InputError(f"line {number} is not an object with one part: {_LOOK}")
    kind, fields = next(iter(found.items()))
    return kind, fields


def _review(fields: dict[str, Any]) -> Review:
    if fields["format"] != FORMAT or int(fields["version"]) > VERSION:
        raise ValueError(f"the format {fields['format']} {fields['version']} is not known; install a newer version")
    created = datetime.fromisoformat(fields["created"])
    return Review(int(fields["id"]), str(fields["name"]), created, plan_from_fields(fields["plan"]))


def _in_turn(record: PoolRecord, before: int) -> PoolRecord:
    if record.number != before + 1:
        raise ValueError(f"it has the number {record.number} and comes after {before} records")
    if not 0 <= record.twin < record.number:
        raise ValueError(f"it repeats record {record.twin}, which is not before it")
    return record


def _after(event: ReviewEvent, events: list[ReviewEvent]) -> ReviewEvent:
    if events and event.id <= events[-1].id:
        raise ValueError(f"it has the id {event.id} and comes after {events[-1].id}")
    return event
