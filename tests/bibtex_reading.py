"""What the tests of BibTeX files read with."""

from __future__ import annotations

from broadsheet.model import Record
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.bibtex_in import read

LIMITS = Limits(max_entry_bytes=100_000, max_authors=50)


def entries(text: str | bytes, name: str = "library.bib", limits: Limits = LIMITS) -> list[Entry]:
    return list(read(name, text.encode() if isinstance(text, str) else text, limits))


def records(text: str | bytes) -> list[Record]:
    found = entries(text)
    assert all(isinstance(entry, Record) for entry in found), found
    return [entry for entry in found if isinstance(entry, Record)]


def record(fields: str, kind: str = "article", title: str = "title = {A Map of Rivers},") -> Record:
    (found,) = records(f"@{kind}{{key,\n  {title}\n  {fields}\n}}\n")
    return found


def details(fields: str, kind: str = "article") -> dict[str, str]:
    return dict(record(fields, kind).details)
