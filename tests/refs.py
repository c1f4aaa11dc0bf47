"""Small files of RIS for tests, and what is read of them."""

from __future__ import annotations

from broadsheet.model import Record
from broadsheet.sources import ris
from broadsheet.sources.base import Entry, Limits

LIMITS = Limits(1_000_000, 10_000)


def entries(text: str | bytes, name: str = "file.ris", limits: Limits = LIMITS) -> list[Entry]:
    return list(ris.read(name, text.encode() if isinstance(text, str) else text, limits))


def one(text: str | bytes) -> Record:
    found = entries(text)
    assert len(found) == 1
    assert isinstance(found[0], Record), found[0]
    return found[0]


def typed(code: str, *lines: str) -> Record:
    return one("\n".join([f"TY  - {code}", "TI  - On rivers", *lines, "ER  - "]))


def detail(record: Record, name: str) -> str:
    return dict(record.details).get(name, "")
