"""What the tests of tables read with."""

from __future__ import annotations

from broadsheet.model import Record
from broadsheet.sources import tables
from broadsheet.sources.base import Entry, Limits

LIMITS = Limits(100_000, 50)


def rows(text: str | bytes, name: str = "x.csv") -> list[Entry]:
    return list(tables.read(name, text.encode() if isinstance(text, str) else text, LIMITS))


def one(text: str | bytes, name: str = "x.csv") -> Record:
    [entry] = rows(text, name)
    assert isinstance(entry, Record), entry
    return entry
