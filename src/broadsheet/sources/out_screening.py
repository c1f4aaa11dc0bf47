"""The records of a review with what was decided, as RIS, CSV, TSV and Excel workbook; ``labels`` reads them back.

Labels follow ASReview: notes ``ASReview_relevant``, ``ASReview_irrelevant`` and ``ASReview_not_seen`` in RIS, in tables
the column ``included`` with 1, 0 or nothing. What ASReview has no sign for stands in further notes and columns. No cell
begins like a formula (see ``csvform``), in workbooks neither, since they may be saved as CSV.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryFile

from broadsheet.errors import InputError
from broadsheet.identifiers import shown_value, url_of
from broadsheet.model import Scheme
from broadsheet.model.screening import Chosen, Label, PoolRecord, Stage
from broadsheet.sources.csvform import MARK, SCREENING_COLUMNS, guarded
from broadsheet.sources.labels import HOW, NOTE, REASONS, STAGE
from broadsheet.sources.out_ris import inverted
from broadsheet.sources.tagged import writable

FORMS = ("ris", "csv", "tsv", "xlsx")
LONGEST_CELL = 32_767
"""Characters that a cell of a workbook can hold; longer texts are cut there, and end in a sign that says so."""
CUT = " […]"
_SIGNS: dict[Label | None, str] = {Label.INCLUDE: "ASReview_relevant", Label.EXCLUDE: "ASReview_irrelevant"}
_INCLUDED: dict[Label | None, str] = {Label.INCLUDE: "1", Label.EXCLUDE: "0"}
_PIECE = 1 << 16
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Decided:
    """A record and what was decided of it.

    ``label`` is the last final one: of the full text where that was decided, else of title and abstract; None is
    unread. ``labels`` are those of the stages. ``reasons``, ``note``, ``screener`` (several joined by "; "),
    ``moment``, ``chosen`` and ``model`` are of the decision that counts.
    """

    record: PoolRecord
    label: Label | None = None
    labels: tuple[tuple[Stage, Label], ...] = ()
    reasons: tuple[str, ...] = ()
    note: str = ""
    screener: str = ""
    moment: datetime | None = None
    chosen: Chosen | None = None
    model: str = ""


def write(records: Iterable[Decided], form: str) -> Iterator[bytes]:
    """A file in UTF-8, piece by piece. Raises InputError for a form that is none of ``FORMS``."""
    if form not in FORMS:
        raise InputError(f"no format {form!r} for the records of a review; there are {', '.join(FORMS)}")
    return _WRITERS[form](records)


# --- RIS -------------------------------------------------------------------------------------------------------------


def _ris(records: Iterable[Decided]) -> Iterator[bytes]:
    for decided in records:
        lines = [f"{tag}  - {text}" for tag, value in _tags(decided) if (text := writable(value))]
        yield "\n".join([*lines, "ER  - ", "", ""]).encode()


def _tags(decided: Decided) -> Iterator[tuple[str, str]]:
    record = decided.record
    doi = _value(record, Scheme.DOI)
    yield "TY", "JOUR" if record.venue else "GEN"
    yield "ID", str(record.number)
    yield "TI", record.title
    for author in record.authors:
        yield "AU", inverted(author)
    yield "PY", str(record.year or "")
    yield "T2", record.venue
    yield "DO", doi
    yield "UR", record.url
    for identifier in record.identifiers:
        if identifier.value != doi and url_of(identifier) != record.url:
            yield "UR", url_of(identifier)
    yield "AB", record.abstract
    for word in record.keywords:
        yield "KW", word
    yield "N1", _SIGNS.get(decided.label, "ASReview_not_seen")
    for stage, label in decided.labels:
        yield "N1", f"{STAGE}{stage}: {label}"
    if decided.reasons:
        yield "N1", REASONS + _list(decided.reasons)
    for line in filter(str.strip, decided.note.split("\n")):
        yield "N1", NOTE + line
    if told := ", ".join(filter(None, _how(decided).values())):
        yield "N1", HOW + told
    yield from (("N1", line) for line in record.note.split("\n"))


# --- tables ----------------------------------------------------------------------------------------------------------


def cells_of(decided: Decided) -> list[str]:
    """The cells of a record under ``SCREENING_COLUMNS``; none begins like a formula."""
    record = decided.record
    stages = dict(decided.labels)
    cells = {
        "record_id": str(record.number),
        "title": record.title,
        "abstract": record.abstract,
        "authors": _list(record.authors),
        "year": str(record.year or ""),
        "venue": record.venue,
        **{scheme.value: _value(record, scheme) for scheme in Scheme},
        "url": record.url,
        "keywords": _list(record.keywords),
        "file_note": record.note,
        "origin": record.source,
        "origin_key": record.key,
        "repeats": str(record.twin or ""),
        "included": _INCLUDED.get(decided.label, ""),
        "label_abstract": stages.get(Stage.ABSTRACT, ""),
        "label_full_text": stages.get(Stage.FULL_TEXT, ""),
        "reasons": _list(decided.reasons),
        "screening_note": decided.note,
        **_how(decided),
    }
    return [guarded(_UNWRITABLE.sub("\ufffd", cells[name])) for name in SCREENING_COLUMNS]


def _how(decided: Decided) -> dict[str, str]:
    return {
        "screener": decided.screener,
        "decided": decided.moment.isoformat(timespec="seconds") if decided.moment else "",
        "chosen": decided.chosen or "",
        "model": decided.model,
    }


def _value(record: PoolRecord, scheme: Scheme) -> str:
    return next((shown_value(one) for one in record.identifiers if one.scheme is scheme), "")


def _list(texts: Iterable[str]) -> str:
    return f"{MARK} ".join(text.replace(MARK, ",") for text in texts)


def _csv(records: Iterable[Decided]) -> Iterator[bytes]:
    return _table(records, ",")


def _tsv(records: Iterable[Decided]) -> Iterator[bytes]:
    return _table(records, "\t")


def _table(records: Iterable[Decided], delimiter: str) -> Iterator[bytes]:
    """With a byte order mark, without which Excel does not read UTF-8."""
    yield ("\ufeff" + _row(SCREENING_COLUMNS, delimiter)).encode()
    for decided in records:
        yield _row(cells_of(decided), delimiter).encode()


def _row(cells: Sequence[str], delimiter: str) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return line.getvalue()


def _xlsx(records: Iterable[Decided]) -> Iterator[bytes]:
    """The rows go to a temporary file as they come, so that memory does not grow with them."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("screening")
    sheet.append(list(SCREENING_COLUMNS))
    for decided in records:
        row = [WriteOnlyCell(sheet, value=_fitting(text)) if text else None for text in cells_of(decided)]
        for cell in filter(None, row):
            cell.data_type = "s"  # never a formula, nor a number
        sheet.append(row)
    with TemporaryFile() as file:
        book.save(file)
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def _fitting(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - len(CUT)] + CUT


_WRITERS: dict[str, Callable[[Iterable[Decided]], Iterator[bytes]]] = {
    "ris": _ris,
    "csv": _csv,
    "tsv": _tsv,
    "xlsx": _xlsx,
}
