"""A review for other programs: the whole of it to replay, or its records with what was decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from broadsheet.errors import InputError
from broadsheet.library.screening_views import EXPORT_FORMS
from broadsheet.model.screening import Label, PoolRecord, Review, ReviewEvent, Stage
from broadsheet.screen.journal import export_lines
from broadsheet.sources.out_screening import FORMS, Decided, write
from broadsheet.store import pool_record_fields

if TYPE_CHECKING:
    from broadsheet.screen.state import State

RECORD, JSON = "record", "json"
_MOST = 2**63 - 1  # that a database holds
_OF_RECORDS = (
    ("title", "abstract", "venue", "url", "source", "key", "note", "kind", "published"),
    ("authors", "keywords"),
    ("number", "year", "paper", "twin"),
)
_OF_EVENTS = (
    ("screener", "note", "model", "detail"),
    ("reasons",),
    ("id", "record", "other", "undoes", "place", "unread"),
)
"""Names of the fields that are texts, lists of texts, and whole numbers."""


def whole(review: Review, records: Iterable[PoolRecord], events: Iterable[ReviewEvent]) -> Iterator[bytes]:
    """Everything of a review, a line of JSON at a time."""
    return (line.encode() for line in export_lines(review, records, events))


def checked(
    review: Review, records: Sequence[PoolRecord], events: Sequence[ReviewEvent]
) -> tuple[Review, Sequence[PoolRecord], Sequence[ReviewEvent]]:
    """A review as a file has it, which anybody may have written. Raises InputError for a value of another kind."""
    for record in records:
        _check(f"record {record.number}", record, _OF_RECORDS)
        texts = {
            "identifiers": [each.value for each in record.identifiers],
            "links": [link.url for link in record.links],
            "details": [text for pair in record.details for text in pair],
        }
        for what, found in texts.items():
            if not all(isinstance(text, str) for text in found):
                raise InputError(f"record {record.number}: {what} cannot be read; export the review again")
    for event in events:
        _check(f"event {event.id}", event, _OF_EVENTS)
    return review, records, events


def _check(what: str, found: PoolRecord | ReviewEvent, names: tuple[tuple[str, ...], ...]) -> None:
    texts, lists, numbers = ([(name, getattr(found, name)) for name in some] for some in names)
    wrong = [name for name, value in texts if not isinstance(value, str)]
    wrong += [name for name, value in lists if not all(isinstance(each, str) for each in value)]
    wrong += [name for name, value in numbers if not (value is None and name == "year") and not _is_number(value)]
    if wrong:
        raise InputError(f"{what}: {wrong[0]} cannot be read; export the review again")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value <= _MOST


def writer(form: str) -> Callable[[Iterable[Decided]], Iterator[bytes]]:
    """The writer of a format. Raises InputError for one that there is not."""
    if form == JSON:
        return _json
    if form not in FORMS:
        raise InputError(f"{form!r} is no format of a review; choose one of {', '.join(EXPORT_FORMS)}")
    return partial(write, form=form)


def decided(state: State, only: Label | None = None) -> list[Decided]:
    """Every record with its final labels and the decision that gave the last of them; repeats have their group's.

    With ``only`` those whose last label is this one, and of records that repeat each other the first.
    """
    if only is None:
        return [_decided(state, record) for record in state.records.values()]
    firsts = (record for record in state.records.values() if state.group(record.number) == record.number)
    return [found for record in firsts if (found := _decided(state, record)).label is only]


def _decided(state: State, record: PoolRecord) -> Decided:
    labels = [(stage, state.final(record.number, stage)) for stage in Stage]
    known = tuple((stage, label) for stage, label in labels if label is not None)
    if not known:
        return Decided(record)
    event = state.deciding(record.number, known[-1][0])
    if event is None:  # the label came with the file
        return Decided(record, known[-1][1], known, note=record.note)
    return Decided(
        record=record,
        label=known[-1][1],
        labels=known,
        reasons=event.reasons,
        note=event.note or record.note,
        screener=event.screener,
        moment=event.moment,
        chosen=event.chosen,
        model=event.model,
    )


def _json(records: Iterable[Decided]) -> Iterator[bytes]:
    before = b"[\n"
    for each in records:
        yield before + json.dumps(_fields(each), ensure_ascii=False).encode("utf-8", "replace")
        before = b",\n"
    yield b"\n]\n" if before != b"[\n" else b"[]\n"


def _fields(found: Decided) -> dict[str, Any]:
    return {
        **pool_record_fields(found.record),
        "label": found.label,
        "labels": {stage.value: label.value for stage, label in found.labels},
        "reasons": list(found.reasons),
        "note": found.note,
        "screener": found.screener,
        "moment": found.moment.isoformat() if found.moment else None,
        "chosen": found.chosen,
        "model": found.model,
    }
