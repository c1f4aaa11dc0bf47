"""A table's columns by their headings, and its rows as records.

A row becomes the fields of a JSON object, which ``jsonl`` reads, so that both follow the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from broadsheet.identifiers import find_identifiers
from broadsheet.model import Record
from broadsheet.sources.base import Limits, too_many_authors
from broadsheet.sources.csvform import COLUMNS, MARK, SCREENING_COLUMNS, bare
from broadsheet.sources.headings import DETAILS, KNOWN, WOS_TAGS, heading, kind_of
from broadsheet.sources.jsonl import record_of
from broadsheet.sources.naming import Keys, source_of
from broadsheet.sources.people import kept_apart
from broadsheet.sources.values import FieldError, authors_of, month_of, year_of

_KEPT = tuple(name for name in DETAILS if name not in ("first", "last", "journal", "booktitle"))
_NAMES_BETWEEN = re.compile("[;；|,，、\n]")
_NAMES = frozenset(("editor", "translator"))
_EMPTY = frozenset(("", "nan", "none", "null", "n/a", "na", "<na>", "nat", "#n/a"))
_IN_BOOKS = ("inproceedings", "incollection", "inreference")
_PLAIN = (
    *("title", "abstract", "summary", "month", "doi", "pmid", "arxiv", "openreview", "acl", "url", "pdf", "code"),
    "status",
)
_ZOTERO = frozenset(("key", "item type", "publication year", "abstract note", "date added"))

_ITEM = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_EMBASE = re.compile(
    r"(?P<venue>[^()]{3,200}?) \((?P<year>\d{4})\) "
    r"(?:(?P<volume>[^\s:()]+)?(?::(?P<number>\S+))? ?)?(?:\((?P<pages>[^()]+)\))?"
)
_NAMED = re.compile(r"\b(?:arXiv|DOI|PMID)\s*:\s*\S+", re.IGNORECASE)
_SEMICOLON = re.compile(r"[;；|\n]")
_COMMA_PART = re.compile(r"(?:\([^()]*\)|[^,，、])+")
_BRACKETED = re.compile(r" ?\([^()]*\)")  # Scopus puts its numbers behind the names
_TIME = re.compile(r"(?<=\d)[ T]\d\d:\d\d.*$")
_CATEGORY = re.compile(r"[a-z-]+\.[A-Za-z-]{2,}")
_CITEKEY = re.compile(r"\bCitation Key:\s*(\S+)", re.IGNORECASE)


def list_of(cell: str) -> list[str] | None:
    """The texts of a list in Python's or JSON's notation, as pandas writes it into a cell; None for anything else."""
    if cell[:1] != "[" or cell[-1:] != "]":
        return None
    items = [re.sub(r"\\(.)", r"\1", a or b) for a, b in _ITEM.findall(cell)]
    return items if items or not cell[1:-1].strip() else None


def shown_cell(cell: str) -> str:
    """A cell without blanks around it; what programs write for a missing value is empty."""
    cell = cell.replace("\0", "").strip()
    return "" if cell.casefold() in _EMPTY else cell


Found = Mapping[str, list[str]]
"""The cells of a row that are not empty, by field, the best first."""


class Columns:
    """The meaning of a table's columns, and its rows as records."""

    def __init__(self, header: Sequence[str], name: str, keys: Keys) -> None:
        """Find the columns of each field. ``name`` names the source; a table of Zotero's has one of its own kind."""
        self.header = header
        self.keys = keys
        names = [heading(cell) for cell in header]
        self.is_zotero = set(names) >= _ZOTERO
        self.source = source_of(name, "zotero" if self.is_zotero else "table")
        self.is_own = tuple(header) in (COLUMNS, SCREENING_COLUMNS)
        self.author_mark = MARK if self.is_zotero or self.is_own else ""
        tagged = {"pt", "ti", "au"} <= set(names)
        ranked = sorted(
            (meaning, rank, column)
            for column, name in enumerate(names)
            if tagged or name not in WOS_TAGS
            for meaning, rank in KNOWN.get(name, ())
        )
        self._columns = [(meaning, column) for meaning, _, column in ranked]

    def look(self, rows: Iterable[Sequence[str]]) -> None:
        """Learn from some rows how authors are divided, which one row alone may not tell."""
        cells = [cell for row in rows for cell in self._found(row).get("authors", ()) if list_of(cell) is None]
        marks = (mark for mark in (MARK, "；", "|", "\n") if any(mark in cell for cell in cells))
        self.author_mark = self.author_mark or next(marks, "")

    def record(self, row: Sequence[str], limits: Limits) -> Record:
        """The record of a row. Raises FieldError for what cannot be taken."""
        cells = [bare(cell).replace("\0", "").strip() if self.is_own else shown_cell(cell) for cell in row]
        raw = orjson.dumps({name: cell for name, cell in zip(self.header, cells, strict=False) if cell}).decode()
        found = self._found(cells)
        embase = _embase(_first(found, "venue"))
        record = record_of(self._entry(found, embase), raw, self.source, limits)
        names, cut = self._names(_first(found, "authors"))
        if len(names) > limits.max_authors:
            raise FieldError(too_many_authors(len(names), limits))
        given = _first(found, "kind")
        kind = given.lower() if self.is_own else kind_of(given)
        citations = _first(found, "citations")
        return replace(
            record,
            authors=names,
            authors_truncated=cut or _first(found, "cut").casefold() in ("true", "1", "yes"),
            key=self.keys.key(_first(found, "key").removesuffix(".0"), record),
            kind=kind,
            details=tuple(self._details(found, embase, kind).items()),
            counts=(("citations", int(citations)),) if citations.isdecimal() and len(citations) < 10 else (),
            added=_moment(_first(found, "added")),
        )

    def _found(self, cells: Sequence[str]) -> Found:
        found: dict[str, list[str]] = {}
        for meaning, column in self._columns:
            if column < len(cells) and cells[column]:
                found.setdefault(meaning, []).append(cells[column])
        return found

    def _entry(self, found: Found, embase: Mapping[str, str]) -> dict[str, Any]:
        """The fields as ``jsonl`` reads them."""
        entry: dict[str, Any] = {name: _first(found, name) for name in _PLAIN if name in found}
        entry["date"] = date = _date(found)
        entry["year"] = _first(found, "year") or embase.get("year") or date
        entry["venue"] = embase.get("venue") or _first(found, "venue")
        entry["keywords"] = [word for cell in found.get("keywords", ()) for word in _words(cell)]
        areas = [word for cell in found.get("areas", ()) for word in _words(cell)]
        entry["categories"] = [area for area in areas if _CATEGORY.fullmatch(area)]
        entry["areas"] = [area for area in areas if not _CATEGORY.fullmatch(area)]
        named = [text for cell in found.get("named", ()) for text in _NAMED.findall(cell)]
        entry["identifiers"] = [str(identifier) for text in named for identifier in find_identifiers(text)]
        return entry

    def _names(self, cell: str) -> tuple[tuple[str, ...], bool]:
        """The authors, and whether the list was cut."""
        if (names := list_of(cell)) is not None:
            return kept_apart(names)
        if self.author_mark:
            # A name without a Latin letter has no comma in it, whatever divides the names of other rows.
            parts = cell.split(self.author_mark) if re.search("[a-zA-Z]", cell) else _NAMES_BETWEEN.split(cell)
            return kept_apart(_BRACKETED.sub("", " ".join(part.split())) for part in parts)
        # PubMed ends the list with a full stop, and has none after initials.
        return authors_of(cell[:-1] if cell.endswith(".") and cell.count(".") == 1 else cell)

    def _details(self, found: Found, embase: Mapping[str, str], kind: str) -> dict[str, str]:
        """The fields of BibLaTeX that a record has no own place for."""
        details: dict[str, str] = {}
        if self.is_own:
            details |= {name: _first(found, name) for name in ("journal", "booktitle") if name in found}
        elif venue := embase.get("venue") or _first(found, "venue"):
            details["booktitle" if kind in _IN_BOOKS else "journal"] = venue
        details |= {name: embase[name] for name in ("volume", "number", "pages") if name in embase}
        for name in _KEPT:
            if name in found:
                value = _first(found, name)
                details[name] = " and ".join(_people(value)) if name in _NAMES else value
        first, last = _first(found, "first"), _first(found, "last")
        if first and "pages" not in details:
            details["pages"] = f"{first}--{last}" if last and last != first else first
        if "urldate" in details:
            details["urldate"] = _TIME.sub("", details["urldate"])
        if "kind" in found and not kind:
            details["type"] = _first(found, "kind")
        if citekey := _CITEKEY.search(details.get("note", "")):
            details.setdefault("citekey", citekey[1])
        if labels := [*found.get("label", ()), *(self._marks(found) if self.is_zotero else ())]:
            details["label"] = "; ".join(dict.fromkeys(labels))
        return details

    def _marks(self, found: Found) -> Iterator[str]:
        """Tags such as a star, by which a reader marks an entry; they are no keywords of the paper."""
        for cell in found.get("keywords", ()):
            yield from (word for word in _words(cell) if not re.search(r"\w", word))


def _first(found: Found, name: str) -> str:
    return found[name][0] if name in found else ""


def _date(found: Found) -> str:
    text, year = _first(found, "date"), year_of(_first(found, "year"))
    if text and year and not re.search(r"\d{4}", text):
        return f"{text} {year}"  # Web of Science: "MAR 15", with the year in a column of its own
    month, day = month_of(_first(found, "month")), _first(found, "day")
    return f"{year}-{month}-{day}" if not text and year and month and day.isdecimal() else text


def _embase(cell: str) -> dict[str, str]:
    """Embase writes journal, year, volume, issue and pages into one cell."""
    found = _EMBASE.match(cell)
    return {name: value for name, value in found.groupdict().items() if value} if found else {}


def _moment(text: str) -> datetime | None:
    """A moment; one without its offset is in UTC, as Zotero writes it."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment and (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))


def _words(cell: str) -> list[str]:
    """The texts of a cell: a list in brackets, else divided at semicolons, else at commas that no brackets hold."""
    found = list_of(cell)
    if found is not None:
        return found
    parts = _SEMICOLON.split(cell) if _SEMICOLON.search(cell) else _COMMA_PART.findall(cell)
    return [word for part in parts if (word := part.strip())]


def _people(cell: str) -> list[str]:
    found = list_of(cell)
    return found if found is not None else [name for part in re.split("[;；]", cell) if (name := part.strip())]
