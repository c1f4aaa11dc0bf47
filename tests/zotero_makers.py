"""What the tests of Zotero's files share."""

from __future__ import annotations

from pathlib import Path

from broadsheet.model import Record, Refusal
from broadsheet.sources import Item, read_file


def items(path: Path, skip: int = 0) -> list[Item]:
    return list(read_file(path, max_entry_bytes=100_000, max_authors=500, skip=skip))


def records(path: Path) -> list[Record]:
    return [item.entry for item in items(path) if isinstance(item.entry, Record)]


def refusals(path: Path) -> list[Refusal]:
    return [item.entry for item in items(path) if isinstance(item.entry, Refusal)]
