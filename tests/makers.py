"""Small records and stores for tests. All papers and people here are invented."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import count
from typing import Any

from broadsheet.identifiers import parse_identifier
from broadsheet.ingest import import_items
from broadsheet.model import Identifier, ImportSummary, Record, Refusal
from broadsheet.sources import Item
from broadsheet.store import PaperWrite, RecordWrite, Store, WriteBatch, Written, encode_record

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_numbers = count(1)


def identifier(text: str) -> Identifier:
    parsed = parse_identifier(text)
    assert parsed, text
    return parsed[0]


def record(title: str = "", *ids: str, **fields: Any) -> Record:
    """A record; ``ids`` are identifiers as text. Source and key are made up where they are not given."""
    number = next(_numbers)
    fields.setdefault("source", "test")
    fields.setdefault("key", f"r{number}")
    fields.setdefault("raw", f"raw {number}")
    if isinstance(fields.get("authors"), str):
        fields["authors"] = tuple(fields["authors"].split(", "))
    return Record(title=title, identifiers=tuple(map(identifier, ids)), **fields)


def item(entry: Record | Refusal, ordinal: int = 0) -> Item:
    return Item(ordinal, ordinal, None, entry)


def put(store: Store, *entries: Record | Refusal, batch_size: int = 1000, **options: Any) -> ImportSummary:
    """Import entries."""
    items = [item(entry, i) for i, entry in enumerate(entries)]
    return import_items(store, items, now=lambda: NOW, batch_size=batch_size, **options)


def write(store: Store, *records: Record) -> Written:
    """Write each record as a paper of its own, past all merging."""
    from broadsheet.ingest import derive

    return store.write(
        WriteBatch(
            NOW,
            records=[RecordWrite(encode_record(r), -1 - i) for i, r in enumerate(records)],
            papers=[PaperWrite(derive(-1 - i, [r]), (f"title:{r.title}",)) for i, r in enumerate(records)],
        )
    )


def day(text: str) -> date:
    return date.fromisoformat(text)
