"""Tables of papers: CSV with any usual delimiter, TSV, and what Excel saves; one row a paper.

RFC 4180, read leniently: any line ends, quotes only where they are needed, a byte order mark, Excel's ``sep=;`` line,
lines of remarks before the headings. A quote that is never closed costs its own row, not the rest of the table.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from broadsheet.errors import InputError
from broadsheet.model import Refusal
from broadsheet.sources.base import Entry, Limits, too_long
from broadsheet.sources.columns import Columns
from broadsheet.sources.encodings import decode
from broadsheet.sources.headings import score
from broadsheet.sources.naming import Keys
from broadsheet.sources.values import FieldError

NAME = "a table"
DELIMITERS = (",", "\t", ";", "|")
_NAMED = re.compile(r"\.(csv|tsv|tab)(\.(txt|gz|zst|bz2|xz))*$", re.IGNORECASE)
HEADER_ROWS = 10
"""Among the first so many must be the headings."""
_SAMPLE = 200  # rows that tell how authors are divided
_SURE = 3
NEEDED = (
    "a table needs a column `title` or `abstract`; rename one, or add a first line of headings such as "
    "title,abstract,authors,year,doi"
)
Row = tuple[int, list[str]]
"""The line on which a row begins, from 1, and its cells."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is written: its delimiter, its headings and the line after them."""

    delimiter: str
    header: list[str]
    begins: int


def sniff(head: bytes, name: str) -> bool:
    """Whether the first lines hold headings of papers, or the name says that it is a table."""
    if _NAMED.search(name):
        return True
    found = _layout(decode(head)[0])
    return found is not None and len(found.header) > 1


def is_sure(head: bytes) -> bool:
    """Whether the first line holds so many headings that no other format can begin so."""
    first = decode(head)[0].lstrip().partition("\n")[0]
    found = _layout(first)
    return found is not None and score(found.header) >= _SURE


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The rows as records and refusals. Raises InputError for a table without a title and without an abstract."""
    text = decode(data)[0]
    layout = _layout(text)
    if layout is None:
        raise InputError(f"{name}: the columns {shown(_first_row(text))} name neither; {NEEDED}")
    yield from entries(name, layout.header, _rows(text, layout), limits)


def entries(
    where: str,
    header: Sequence[str],
    rows: Iterable[Row | Refusal],
    limits: Limits,
    *,
    named: str = "",
    keys: Keys | None = None,
) -> Iterator[Entry]:
    """Rows under a heading as records and refusals; blank rows are none.

    ``where`` stands in refusals, ``named`` (else the same) names the source; tables of one source share ``keys``.
    """
    columns = Columns(header, named or where, keys or Keys())
    iterator = iter(rows)
    first = list(islice(iterator, _SAMPLE))
    columns.look(row[1] for row in first if not isinstance(row, Refusal))
    for row in chain(first, iterator):
        if isinstance(row, Refusal):
            yield Refusal(where, row.line, row.reason)
        elif any(cell and not cell.isspace() for cell in row[1]):
            yield entry_of(where, columns, row, limits)


def entry_of(name: str, columns: Columns, row: Row, limits: Limits) -> Entry:
    """A row as a record or a refusal."""
    line, cells = row
    wanted = len(columns.header)
    if len(cells) < wanted or any(map(str.strip, cells[wanted:])):
        return Refusal(name, line, f"{len(cells)} cells in a table of {wanted} columns; check quotes and delimiters")
    size = sum(len(cell.encode("utf-8", "replace")) for cell in cells)
    if size > limits.max_entry_bytes:
        return Refusal(name, line, too_long(size, limits))
    try:
        return replace(columns.record(cells, limits), line=line)
    except FieldError as error:
        return Refusal(name, line, str(error))


# --- layout ----------------------------------------------------------------------------------------------------------


def _layout(text: str) -> Layout | None:
    """The delimiter and row that make the best headings; None if none do."""
    best: tuple[int, int, int] = (0, 0, 0)
    found: Layout | None = None
    head = text[:65536]
    for delimiter in DELIMITERS:
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        try:
            for number, cells in enumerate(islice(reader, HEADER_ROWS)):
                sure = score(cells)
                rank = (sure, len(cells), -number)
                if sure and rank > best and _are_headings(cells):
                    best, found = rank, Layout(delimiter, _trimmed(cells), reader.line_num)
        except csv.Error:  # a cell without end: no headings with this delimiter
            continue
    return found


def _are_headings(cells: Sequence[str]) -> bool:
    return all(len(cell) <= 200 and "\n" not in cell.strip() for cell in cells)


def _trimmed(cells: list[str]) -> list[str]:
    """Without the empty cells at the end that spreadsheets leave."""
    while cells and not cells[-1].strip():
        cells = cells[:-1]
    return [cell.strip() for cell in cells]


def _first_row(text: str) -> list[str]:
    line = next((line for line in text[:65536].splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=line.count)
    return next(csv.reader([line], delimiter=delimiter))


def shown(cells: Sequence[str]) -> str:
    """Headings as a message names them."""
    first = ", ".join(repr(cell.strip()[:40]) for cell in cells[:30])
    return f"{first} and {len(cells) - 30} more" if len(cells) > 30 else first


# --- rows ------------------------------------------------------------------------------------------------------------

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")


class _Lines:
    """Lines with their ends; ``at`` is the place in the text and ``number`` the lines before it, to go back to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        found = _LINE.match(self.text, self.at)
        if not found or not found[0]:
            raise StopIteration
        self.at = found.end()
        self.number += 1
        return found[0]

    def go(self, mark: tuple[int, int]) -> None:
        self.at, self.number = mark

    @property
    def mark(self) -> tuple[int, int]:
        return self.at, self.number


def _rows(text: str, layout: Layout) -> Iterator[Row | Refusal]:
    lines = _Lines(text)
    for _ in range(layout.begins):
        next(lines)
    while lines.at < len(text):
        start = lines.mark
        cells, reason = _cells(lines, layout)
        if len(cells) == len(layout.header) or (cells and lines.number == start[1] + 1):
            yield start[1] + 1, cells
            continue
        end = lines.mark
        lines.go(start)
        loose, _ = _cells(_Lines(next(lines)), layout, strict=False)
        if len(loose) == len(layout.header):  # quotes inside of a cell that are not doubled
            yield start[1] + 1, loose
            continue
        yield Refusal("", start[1] + 1, reason) if reason else (start[1] + 1, cells)
        _resume(lines, end[0], layout)


def _cells(lines: _Lines, layout: Layout, *, strict: bool = True) -> tuple[list[str], str]:
    """The next row, or why it is none. A reader of its own for each: the last may have broken off inside a quote."""
    try:
        reader = csv.reader(lines, delimiter=layout.delimiter, strict=strict, skipinitialspace=True)
        return next(reader, []), ""
    except csv.Error as error:
        return [], f"not a row of a table ({error}); check its quotes"


def _resume(lines: _Lines, end: int, layout: Layout) -> None:
    """After a row that went wrong over several lines, go on at the first of these that is a row by itself."""
    while lines.at < end:
        mark = lines.mark
        cells, _ = _cells(_Lines(next(lines)), layout)
        if len(cells) == len(layout.header):
            lines.go(mark)
            return
