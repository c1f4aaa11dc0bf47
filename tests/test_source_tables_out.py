"""Tables out, formulas in their cells, and workbooks in and out."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model import Area, Identifier, Link, LinkKind, Paper, Record, Refusal, Scheme
from broadsheet.sources import out_csv, read_file, xlsx
from broadsheet.sources.base import Entry
from broadsheet.sources.csvform import COLUMNS, bare, guarded
from tests.table_reading import LIMITS, one, rows

# --- out


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)
LINES = st.lists(
    WORDS | st.sampled_from(["=1+1", "@x", "-", "'=", "''+", "$x$", "*y*", "nan", "NA", ",", '"', ";"]), max_size=5
)
TEXTS = LINES.map(" ".join)
NAMES = st.lists(
    st.sampled_from(["Ann Ba", "Cy Lee", "Jan van der Berg", "王小明", "-Ed Day"]), max_size=4, unique=True
)
PAPERS = st.builds(
    Paper,
    id=st.integers(1, 10**6),
    title=TEXTS.filter(bool),
    abstract=TEXTS,
    authors=NAMES.map(tuple),
    authors_truncated=st.booleans(),
    year=st.none() | st.integers(1900, 2100),
    kind=st.sampled_from(["", "article", "inproceedings", "thesis", "misc", "review", "artwork"]),
    keywords=st.lists(st.sampled_from(["bees", "hive mind", "C++", "a-b"]), unique=True).map(tuple),
    areas=st.sampled_from([(), (Area("cs", "cs.LG"),), (Area("Theory", "Bees"), Area("Health"))]),
    counts=st.sampled_from([(), (("citations", 3),)]),
    identifiers=st.sampled_from(
        [
            (),
            (Identifier(Scheme.DOI, "10.1000/x"), Identifier(Scheme.ARXIV, "2401.00001")),
            (Identifier(Scheme.ACL, "P19-1001"),),
        ]
    ),
    links=st.sampled_from(
        [(), (Link(LinkKind.PAGE, "https://example.org/a"), Link(LinkKind.CODE, "https://github.com/a/b"))]
    ),
    added=st.none() | st.just(datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
    details=st.sampled_from(
        [(), (("journal", "Apis"), ("volume", "3"), ("pages", "1--2")), (("booktitle", "=Hives"),)]
    ),
)


def table(*papers: Paper) -> str:
    return "".join(out_csv.write(papers))


def cells(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@given(st.lists(PAPERS, min_size=1, max_size=3, unique_by=lambda paper: paper.id))
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read_again(papers: list[Paper]) -> None:
    found = rows(table(*papers))
    assert len(found) == len(papers)
    for record, paper in zip(found, papers, strict=True):
        assert isinstance(record, Record), record
        assert (record.title, record.abstract) == (paper.title, paper.abstract)
        assert record.authors == paper.authors
        assert record.authors_truncated == paper.authors_truncated
        assert (record.year, record.kind, record.added) == (paper.year, paper.kind, paper.added)
        assert (record.keywords, record.areas, record.counts) == (paper.keywords, paper.areas, paper.counts)
        assert set(record.identifiers) == set(paper.identifiers)
        assert (record.links, record.details) == (paper.links, paper.details)
        assert record.key == f"broadsheet-{paper.id}"


@pytest.mark.parametrize("day", [date(2020, 3, 15), date(2020, 3, 1)])
@pytest.mark.parametrize("month_only", [True, False])
def test_a_day_and_a_month_stay_apart(day: date, month_only: bool) -> None:
    if not month_only or day.day == 1:
        found = one(table(Paper(1, "Bees", published=day, month_only=month_only, year=2020)))
        assert (found.published, found.month_only) == (day, month_only)


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://x","y")', "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''@x", "＝1+1", "－x"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert bare(guarded(text)) == text
    [row] = cells(table(Paper(1, text, abstract=text, authors=(text,), venue=text, keywords=(text,))))
    assert row["title"] == f"'{text}"
    for cell in row.values():
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝", "－"))


@pytest.mark.parametrize("text", ["Bees = wasps", "'quoted'", "a-b", "x@y", "", "'", "1+1"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert guarded(text) == bare(text) == text


def test_only_our_own_tables_lose_the_apostrophe() -> None:
    assert one("title,abstract\n'-omics and bees,x\n").title == "'-omics and bees"


def test_columns_and_what_a_spreadsheet_needs() -> None:
    text = table(Paper(1, "Bees"))
    assert text.startswith("\ufeffid,title,authors,year,")
    assert text.count("\r\n") == 2
    assert len(COLUMNS) == len(set(COLUMNS)) == len(cells(text)[0])


def test_a_table_grows_as_it_is_written() -> None:
    def endless() -> Iterator[Paper]:
        number = 0
        while True:
            number += 1
            yield Paper(number, f"Paper {number}")

    pieces = out_csv.write(endless())
    assert [next(pieces).split(",")[0] for _ in range(3)] == ["\ufeffid", "broadsheet-1", "broadsheet-2"]


# --- workbooks


def workbook(**sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def book_rows(data: bytes) -> list[Entry]:
    return list(xlsx.read("x.xlsx", data, LIMITS))


HEAD: list[object] = ["ID", "Title", "Abstract", "Year", "Date", "Authors", "Included"]


def test_cells_of_every_kind(tmp_path: Path) -> None:
    lines: list[list[object]] = [
        HEAD,
        [1, "Bees", "Hum", 2020.0, datetime(2020, 3, 15), "Ba, Ann; Lee, Cy", True],
        [None] * 7,
        [2, "Wasps", None, 2021, date(2021, 4, 2), None, False],
    ]
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook(Papers=lines))
    items = list(read_file(path, max_entry_bytes=10**6, max_authors=9))
    first, second = (item.entry for item in items)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.title, first.year, first.published) == ("Bees", 2020, date(2020, 3, 15))
    assert (first.source, first.authors, first.details) == ("table:x", ("Ba, Ann", "Lee, Cy"), (("label", "true"),))
    assert (second.published, second.details) == (date(2021, 4, 2), (("label", "false"),))
    assert items[0].total == items[0].position == path.stat().st_size
    assert list(read_file(path, max_entry_bytes=10**6, max_authors=9, skip=1)) == items[1:]


def test_every_sheet_with_headings_counts() -> None:
    data = workbook(
        Notes=[["to do"], ["sleep"]],
        One=[["My list"], [], ["title", "doi"], ["Bees", "10.1000/b"], ["Bees", ""], ["", "10.1000/c"]],
        Two=[["Abstract", "Label"], ["We watch wasps.", 1]],
    )
    found = book_rows(data)
    assert [e.title for e in found if isinstance(e, Record)] == ["Bees", "Bees", "We watch wasps"]
    assert {e.source for e in found if isinstance(e, Record)} == {"table:x"}
    [refusal] = [e for e in found if isinstance(e, Refusal)]
    assert (refusal.where, refusal.line) == ("x.xlsx, sheet One", 6)


def test_a_workbook_without_headings_names_what_it_found() -> None:
    with pytest.raises(InputError, match=r"x\.xlsx: the columns 'name', 'age' of its sheets name neither"):
        book_rows(workbook(One=[["name", "age"], ["x", 1]]))


def test_a_workbook_that_unpacks_to_much_is_refused() -> None:
    out = io.BytesIO(workbook(One=[["title"], ["Bees"]]))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/media/a.xml", "w") as part:
        for _ in range(320):
            part.write(bytes(2**20))
    assert len(out.getvalue()) < 2**20
    with pytest.raises(InputError, match="a workbook that unpacks to 320 MB"):
        book_rows(out.getvalue())


def replaced(data: bytes, name: str, new: bytes | None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as archive:
        for part in old.namelist():
            if part != name:
                archive.writestr(part, old.read(part))
            elif new is not None:
                archive.writestr(part, new)
    return out.getvalue()


@pytest.mark.parametrize(
    "name", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml", "[Content_Types].xml"]
)
@pytest.mark.parametrize("new", [None, b"", b"<worksheet><sheetData><row><c", b"\xff\xfe", b"<x/>"])
def test_damaged_workbooks_are_errors_or_entries(name: str, new: bytes | None) -> None:
    data = replaced(workbook(One=[["title"], ["Bees"]]), name, new)
    try:
        found = book_rows(data)
    except InputError as error:
        assert str(error).startswith("x.xlsx: ")
    else:
        assert all(isinstance(entry, Record) for entry in found)


def test_entities_of_a_workbook_do_not_grow() -> None:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
    bomb = (
        f'<!DOCTYPE worksheet [<!ENTITY e0 "bees">{levels}]><worksheet><sheetData><row r="1"><c t="inlineStr"><is><t>'
    )
    data = replaced(
        workbook(One=[["title"], ["Bees"]]),
        "xl/worksheets/sheet1.xml",
        f"{bomb}&e8;</t></is></c></row></sheetData></worksheet>".encode(),
    )
    with pytest.raises(InputError):
        book_rows(data)
