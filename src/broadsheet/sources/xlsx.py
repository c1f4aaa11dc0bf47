"""Tables of papers in Excel workbooks (Office Open XML, ECMA-376), read row by row with openpyxl.

All sheets whose first rows hold headings count; the others are left out. Formulas count with the value that Excel
stored beside them.
"""

from __future__ import annotations

import datetime
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from typing import Any, Protocol, cast

from broadsheet.errors import InputError
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.headings import score
from broadsheet.sources.naming import Keys
from broadsheet.sources.tables import HEADER_ROWS, NEEDED, Row, entries, shown

NAME = "an Excel workbook"
UNPACKED_BYTES = 300 * 1024 * 1024
"""What the parts of a workbook may unpack to."""
# What openpyxl and the libraries under it raise for parts that are missing, cut off or not as the standard has them.
_DAMAGE = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, OSError, SyntaxError, TypeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
)
_SAVE = "open it in a spreadsheet program and save it as CSV (UTF-8)"


class Sheet(Protocol):
    """A sheet as openpyxl reads it row by row."""

    title: str

    def reset_dimensions(self) -> None:
        """Forget how large the file says that it is."""
        ...

    def iter_rows(self, *, values_only: bool) -> Iterator[tuple[Any, ...]]:
        """The rows from the first on."""
        ...


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The rows of all sheets with headings. Raises InputError for one that is damaged, too large, or has none."""
    from openpyxl import load_workbook

    _check_size(name, data)
    with _damage(name):
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    with closing(book):
        yield from _sheets(name, cast(list[Sheet], book.worksheets), limits)


@contextmanager
def _damage(name: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{name}: a damaged workbook ({error or type(error).__name__}); {_SAVE}") from error


def _check_size(name: str, data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except zipfile.BadZipFile as error:
        raise InputError(f"{name}: a damaged workbook ({error}); {_SAVE}") from error
    if size > UNPACKED_BYTES:
        raise InputError(f"{name}: a workbook that unpacks to {size // 2**20} MB; {_SAVE}")


def _sheets(name: str, sheets: Sequence[Sheet], limits: Limits) -> Iterator[Entry]:
    keys = Keys()
    found = False
    first: list[str] = []
    for sheet in sheets:
        sheet.reset_dimensions()  # programs write wrong ones
        rows = _rows(name, sheet)
        header, head = _header(rows)
        first = first or next((cells for _, cells in head if any(cells)), [])
        if header:
            found = True
            where = name if len(sheets) == 1 else f"{name}, sheet {sheet.title}"
            yield from entries(where, header, _padded(chain(head, rows), len(header)), limits, named=name, keys=keys)
    if not found:
        raise InputError(f"{name}: the columns {shown(first)} of its sheets name neither; {NEEDED}")


def _rows(name: str, sheet: Sheet) -> Iterator[Row]:
    rows = enumerate(sheet.iter_rows(values_only=True), 1)
    while True:
        with _damage(name):
            row = next(rows, None)
        if row is None:
            return
        yield row[0], [_text(cell) for cell in row[1]]


def _header(rows: Iterator[Row]) -> tuple[list[str], list[Row]]:
    """The best headings among the first rows, and the rows after them of those; all of them if none are headings."""
    head = list(islice(rows, HEADER_ROWS))
    at = max(range(len(head)), key=lambda i: score(head[i][1]), default=-1)
    if at < 0 or not score(head[at][1]):
        return [], head
    header = [cell.strip() for cell in head[at][1]]
    while not header[-1]:
        header.pop()
    return header, head[at + 1 :]


def _padded(rows: Iterator[Row], width: int) -> Iterator[Row]:
    """Rows with the empty cells that the sheet leaves out at their ends."""
    for number, cells in rows:
        yield number, cells + [""] * (width - len(cells))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)
