"""The records of a review with what was decided, as RIS, BibTeX, CSV, TSV and Excel workbook; ``labels`` reads them.

RIS and BibTeX are those of ``out_ris`` and ``bibtex``, with all that is known of a record; labels stand in their notes.
Labels follow ASReview: notes ``ASReview_relevant``, ``ASReview_irrelevant`` and ``ASReview_not_seen`` in RIS, in tables
the column ``included`` with 1, 0 or nothing. What ASReview has no sign for stands in further notes and columns. No cell
begins like a formula (see ``csvform``), in workbooks neither, since they may be saved as CSV.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain
from tempfile import TemporaryFile

from broadsheet.errors import InputError
from broadsheet.identifiers import shown_value
from broadsheet.model import Link, LinkKind, Paper, Scheme
from broadsheet.model.screening import Chosen, Label, PoolRecord, Stage
from broadsheet.sources import bibtex
from broadsheet.sources.csvform import MARK, SCREENING_COLUMNS, guarded
from broadsheet.sources.decoded import decoded
from broadsheet.sources.labels import HOW, NOTE, NOTES, REASONS, STAGE
from broadsheet.sources.out_ris import lines_of, tags_of

FORMS = ("ris", "bib", "csv", "tsv", "xlsx")
LONGEST_CELL = 32_767
"""Characters that a cell of a workbook can hold; longer texts are cut there, and end in a sign that says so."""
CUT = " […]"
_SIGNS: dict[Label | None, str] = {Label.INCLUDE: "ASReview_relevant", Label.EXCLUDE: "ASReview_irrelevant"}
_INCLUDED: dict[Label | None, str] = {Label.INCLUDE: "1", Label.EXCLUDE: "0"}
_DETAILS = ("volume", "number", "pages", "issn", "publisher")
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


# --- RIS and BibTeX -------------------------------------------------------------------------------------------------


def paper_of(record: PoolRecord) -> Paper:
    """A record as a paper, for the writers of papers; without notes, and with a journal where only a name is known."""
    details = tuple((name, value) for name, value in record.details if not NOTES.fullmatch(name))
    pages = [Link(LinkKind.PAGE, record.url)] if record.url else []
    return Paper(
        id=record.number,
        title=record.title,
        abstract=record.abstract,
        authors=record.authors,
        identifiers=record.identifiers,
        venue=record.venue,
        year=record.year,
        published=_day(record.published),
        month_only=len(record.published) == len("2026-12"),
        links=(*pages, *record.links),
        keywords=record.keywords,
        kind=record.kind or ("article" if record.venue else ""),
        details=details,
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text if len(text) != len("2026-12") else f"{text}-01")
    except ValueError:
        return None


def _ris(records: Iterable[Decided]) -> Iterator[bytes]:
    for decided in records:
        paper = paper_of(decided.record)
        own = dict(paper.details).get("citekey") or str(decided.record.number)
        notes = (("N1", note) for note in _notes(decided))
        tags = chain((("ID", own) if tag == "ID" else (tag, value) for tag, value in tags_of(paper)), notes)
        yield lines_of(tags).encode()


def _bib(records: Iterable[Decided]) -> Iterator[bytes]:
    papers = (replace(paper_of(each.record), details=_bib_details(each)) for each in records)
    return (entry.encode("utf-8", "replace") for entry in bibtex.write(papers))


def _bib_details(decided: Decided) -> tuple[tuple[str, str], ...]:
    """The details of a BibTeX entry: its one field for notes has a line for each, and PubMed's number a field."""
    details = dict(paper_of(decided.record).details)
    if pmid := _value(decided.record, Scheme.PMID):
        details.setdefault("pmid", pmid)
    return (*details.items(), ("note", "\n".join(map(bibtex.escape, _notes(decided)))))


def _notes(decided: Decided) -> Iterator[str]:
    """What was decided, as lines of notes, then the notes of the record's file; no line twice."""
    record = decided.record
    own = [
        _SIGNS.get(decided.label, "ASReview_not_seen"),
        *(f"{STAGE}{stage}: {label}" for stage, label in decided.labels),
        *([REASONS + _list(decided.reasons)] if decided.reasons else []),
        *(NOTE + line for line in filter(str.strip, decided.note.split("\n"))),
        *([HOW + told] if (told := ", ".join(filter(None, _how(decided).values()))) else []),
    ]
    return iter(dict.fromkeys((*own, *_of_the_file(record))))


def _of_the_file(record: PoolRecord) -> list[str]:
    """The lines of the notes that a record came with."""
    remarks = (value for name, value in record.details if NOTES.fullmatch(name))
    lines = (line for text in (record.note, *remarks) for line in text.split("\n"))
    return list(dict.fromkeys(filter(str.strip, lines)))


# --- tables ----------------------------------------------------------------------------------------------------------


def cells_of(decided: Decided) -> list[str]:
    """The cells of a record under ``SCREENING_COLUMNS``; none begins like a formula."""
    record = decided.record
    stages, details = dict(decided.labels), dict(record.details)
    cells = {
        "record_id": str(record.number),
        "title": record.title,
        "abstract": record.abstract,
        "authors": _list(record.authors),
        "year": str(record.year or ""),
        "venue": record.venue,
        **{scheme.value: _value(record, scheme) for scheme in Scheme},
        "url": record.url,
        "pdf": next((link.url for link in record.links if link.kind is LinkKind.PDF and record.url != link.url), ""),
        "kind": record.kind,
        "published": record.published,
        **{name: decoded(name, details.get(name, "")) for name in _DETAILS},
        "keywords": _list(record.keywords),
        "file_note": "\n".join(_of_the_file(record)),
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
    "bib": _bib,
    "csv": _csv,
    "tsv": _tsv,
    "xlsx": _xlsx,
}
