"""The records of a review as files: read back by us, rispy, csv and openpyxl with equal labels, notes and reasons."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, date, datetime

import openpyxl
import pytest
import rispy  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.identifiers import url_of
from broadsheet.ingest import pool_record
from broadsheet.model import Link, LinkKind, Refusal, Scheme
from broadsheet.model.screening import Chosen, Label, PoolRecord, Stage
from broadsheet.sources import read_stream
from broadsheet.sources.csvform import SCREENING_COLUMNS
from broadsheet.sources.labels import Labelled, labelled
from broadsheet.sources.out_screening import CUT, FORMS, LONGEST_CELL, Decided, write
from tests.makers import identifier

BEES = PoolRecord(
    7,
    "How bees count; and why",
    "We watch bees, and they hum.",
    ("Anna M. van der Berg", "王小明"),
    2019,
    "Journal of Bees",
    (identifier("10.1000/x"), identifier("pmid:5"), identifier("1706.03762")),
    ("bees", "numbers"),
    "https://a.org/x",
    "hits.ris",
    "k1",
    twin=0,
    label=Label.EXCLUDE,
    note="from the file\nin two lines",
    kind="article",
    published="2019-05",
    links=(Link(LinkKind.PDF, "https://a.org/x.pdf"),),
    details=(
        *(("journal", "Journal of Bees"), ("volume", "7"), ("number", "2"), ("pages", "11-19"), ("issn", "1234-5679")),
        *(("publisher", "Hive"), ("ris-db", "BeeBase"), ("citekey", "Berg2019")),
    ),
)
DECIDED = Decided(
    BEES,
    Label.INCLUDE,
    ((Stage.ABSTRACT, Label.INCLUDE),),
    (),
    "see table 2",
    "anna",
    datetime(2026, 12, 1, 9, 30, tzinfo=UTC),
    Chosen.RANKED,
    "nb-lr/tfidf+e5-small@812",
)
EXCLUDED = Decided(
    PoolRecord(8, "How wasps count", twin=7),
    Label.EXCLUDE,
    ((Stage.ABSTRACT, Label.INCLUDE), (Stage.FULL_TEXT, Label.EXCLUDE)),
    ("no bees", "too old"),
)
PUT_OFF = Decided(PoolRecord(9, "How ants count"), None, ((Stage.ABSTRACT, Label.LATER),))
UNREAD = Decided(PoolRecord(10, "", "Flies do not count. Nobody asks them.", note="from the file"))
ALL = (DECIDED, EXCLUDED, PUT_OFF, UNREAD)


def written(form: str, *records: Decided) -> bytes:
    return b"".join(write(records, form))


def again(form: str, *records: Decided) -> list[Labelled]:
    name = f"again.{form}"
    items = read_stream(name, io.BytesIO(written(form, *records)), max_entry_bytes=10**6, max_authors=100)
    read = [entry for _, entry in labelled(items, name)]
    assert not [entry for entry in read if isinstance(entry, Refusal) or entry.problem], read
    return [entry for entry in read if isinstance(entry, Labelled)]


@pytest.mark.parametrize("form", FORMS)
def test_labels_notes_and_reasons_are_read_again(form: str) -> None:
    bees, wasps, ants, flies = again(form, *ALL)
    assert (bees.label, bees.note, bees.reasons) == (Label.INCLUDE, "see table 2\nfrom the file\nin two lines", ())
    assert (wasps.label, wasps.note, wasps.reasons) == (Label.EXCLUDE, "", ("no bees", "too old"))
    assert (ants.label, ants.note) == (Label.LATER, "")
    assert (flies.label, flies.note, flies.record.abstract) == (None, "from the file", UNREAD.record.abstract)


@pytest.mark.parametrize("form", FORMS)
def test_bibliographic_fields_are_read_again(form: str) -> None:
    record = again(form, DECIDED)[0].record
    assert (record.title, record.abstract, record.year) == (BEES.title, BEES.abstract, 2019)
    assert [name.split(", ")[0].split(" ")[0] for name in record.authors] == (
        ["van", "王小明"] if form in ("ris", "bib") else ["Anna", "王小明"]
    )
    assert (record.venue, record.keywords) == ("Journal of Bees", BEES.keywords)
    assert set(record.identifiers) == set(BEES.identifiers)
    assert "https://a.org/x" in [link.url for link in record.links]
    details, kept = dict(record.details), dict(BEES.details)
    names = ("volume", "number", "pages", "issn", "publisher")
    assert {name: details[name] for name in names} == {name: kept[name] for name in names}
    assert record.kind == "article"
    # BibTeX's month is not that of a preprint, which this one is as well.
    assert (record.published, record.month_only) == ((None, False) if form == "bib" else (date(2019, 5, 1), True))


def test_ris_and_bibtex_have_all_that_was_read() -> None:
    ris = again("ris", DECIDED)[0].record
    assert {link.url for link in ris.links} == {
        *("https://a.org/x", "https://a.org/x.pdf"),
        *(url_of(one) for one in ris.identifiers if one.scheme is not Scheme.DOI),
    }
    assert dict(ris.details).items() >= dict(BEES.details).items()
    bib = again("bib", DECIDED)[0].record
    assert dict(bib.details).items() >= dict(BEES.details).items()
    assert dict(bib.details)["pmid"] == "5"
    assert written("bib", DECIDED).startswith(b"@article{Berg2019,")


def test_the_same_note_is_written_once() -> None:
    twice = PoolRecord(1, "Bees", note="old", details=(("note", "old\nmore"), ("nbib-gn", "more")))
    notes = rispy.loads(written("ris", Decided(twice, Label.INCLUDE, note="mine")).decode())[0]["notes"]
    assert notes == ["ASReview_relevant", "Screening note: mine", "old", "more"]


def test_what_a_file_said_goes_out_again() -> None:
    """A journal article of an ASReview file, with a note of a database, labels and all."""
    text = """TY  - JOUR
AU  - Berg, Anna
TI  - How bees count
T2  - Journal of Bees
VL  - 7
IS  - 2
SP  - 11
EP  - 19
PY  - 2019
DA  - 2019/05/04
SN  - 1234-5679
DO  - 10.1000/x
KW  - bees
UR  - https://a.org/x
L1  - https://a.org/x.pdf
AB  - We watch bees, and they hum.
LA  - English
N1  - Export Date: 3 May 2020
N1  - ASReview_relevant
ER  -
"""
    items = read_stream("a.ris", io.BytesIO(text.encode()), max_entry_bytes=10**6, max_authors=100)
    [(_, came)] = labelled(items, "a.ris")
    assert isinstance(came, Labelled)
    record = pool_record(came, 1, "a.ris")
    lines = written("ris", Decided(record, record.label, note=record.note)).decode().splitlines()
    assert {line for line in text.splitlines() if line != "ER  -"} - {"DA  - 2019/05/04"} <= set(lines)
    assert "DA  - 2019/05/04/" in lines
    assert len([line for line in lines if line.startswith("N1")]) == 2


def test_ris_has_the_signs_of_asreview_as_first_notes() -> None:
    entries = rispy.loads(written("ris", *ALL).decode())
    assert [entry["notes"][0] for entry in entries] == [
        *("ASReview_relevant", "ASReview_irrelevant", "ASReview_not_seen", "ASReview_not_seen"),
    ]
    assert entries[0]["notes"][1:] == [
        "Screening label, abstract: include",
        "Screening note: see table 2",
        "Screened: anna, 2026-12-01T09:30:00+00:00, ranked, nb-lr/tfidf+e5-small@812",
        "from the file",
        "in two lines",
    ]
    assert (entries[0]["title"], entries[0]["doi"], entries[0]["type_of_reference"]) == (
        BEES.title,
        "10.1000/x",
        "JOUR",
    )
    assert entries[1]["notes"][3] == "Screening reasons: no bees; too old"


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_say_everything(form: str, delimiter: str) -> None:
    text = written(form, *ALL).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert tuple(rows[0]) == SCREENING_COLUMNS
    assert [row["included"] for row in rows] == ["1", "0", "", ""]
    assert {name: rows[0][name] for name in SCREENING_COLUMNS} == {
        "record_id": "7",
        "title": BEES.title,
        "abstract": BEES.abstract,
        "authors": "Anna M. van der Berg; 王小明",
        "year": "2019",
        "venue": "Journal of Bees",
        "doi": "10.1000/x",
        "arxiv": "1706.03762",
        "openreview": "",
        "acl": "",
        "pmid": "5",
        "url": "https://a.org/x",
        "pdf": "https://a.org/x.pdf",
        "keywords": "bees; numbers",
        "kind": "article",
        "published": "2019-05",
        "volume": "7",
        "number": "2",
        "pages": "11-19",
        "issn": "1234-5679",
        "publisher": "Hive",
        "file_note": BEES.note,
        "origin": "hits.ris",
        "origin_key": "k1",
        "repeats": "",
        "included": "1",
        "label_abstract": "include",
        "label_full_text": "",
        "reasons": "",
        "screening_note": "see table 2",
        "screener": "anna",
        "decided": "2026-12-01T09:30:00+00:00",
        "chosen": "ranked",
        "model": "nb-lr/tfidf+e5-small@812",
    }
    assert (rows[1]["repeats"], rows[1]["label_abstract"], rows[1]["label_full_text"]) == ("7", "include", "exclude")
    assert rows[2]["label_abstract"] == "later"


def test_workbook_is_one_sheet_of_the_same_cells() -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(written("xlsx", *ALL))).active
    rows = [[cell or "" for cell in row] for row in sheet.iter_rows(values_only=True)]
    table = csv.reader(io.StringIO(written("csv", *ALL).decode("utf-8-sig"), newline=""))
    assert rows == list(table)


@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "'="])
def test_no_cell_is_a_formula(form: str, sign: str) -> None:
    text = f"{sign}HYPERLINK(1)"
    decided = Decided(PoolRecord(1, text, text, (text,), note=text), Label.EXCLUDE, (), (text,), text, text)
    if form == "xlsx":
        row = next(openpyxl.load_workbook(io.BytesIO(written(form, decided))).active.iter_rows(min_row=2))
        assert {cell.data_type for cell in row if cell.value} == {"s"}
        cells = [cell.value for cell in row if cell.value]
    else:
        lines = written(form, decided).decode("utf-8-sig").splitlines()
        [cells] = csv.reader(lines[1:], delimiter="\t" if form == "tsv" else ",")
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "＝"))]
    [entry] = again(form, decided)
    assert (entry.record.title, entry.record.abstract, entry.note) == (text, text, text)
    assert entry.reasons == (text,)


def test_text_that_a_workbook_cannot_hold() -> None:
    long = "word " * 8000
    decided = Decided(PoolRecord(1, "Bees\x00\x1f\ud800 count", long), Label.INCLUDE)
    row = next(
        openpyxl.load_workbook(io.BytesIO(written("xlsx", decided))).active.iter_rows(min_row=2, values_only=True)
    )
    assert row[1] == "Bees\ufffd\ufffd\ufffd count"
    assert len(str(row[2])) == LONGEST_CELL
    assert str(row[2]).endswith(CUT)
    for form in ("csv", "tsv", "ris"):
        assert again(form, decided)[0].record.abstract == long.strip()


def test_semicolons_in_texts_of_a_list() -> None:
    decided = Decided(PoolRecord(1, "Bees"), Label.EXCLUDE, reasons=("old; very", "no bees"))
    for form in FORMS:
        assert again(form, decided)[0].reasons == ("old, very", "no bees")


def test_an_empty_review() -> None:
    assert written("ris") == b""
    assert written("csv").decode("utf-8-sig") == ",".join(SCREENING_COLUMNS) + "\r\n"
    assert openpyxl.load_workbook(io.BytesIO(written("xlsx"))).active.max_row == 1


def test_unknown_form() -> None:
    expected = "no format 'docx' for the records of a review; there are ris, bib, csv, tsv, xlsx"
    with pytest.raises(InputError, match=expected):
        write((), "docx")


def test_pieces_come_as_they_are_asked_for() -> None:
    taken = []

    def records() -> Iterator[Decided]:
        for decided in ALL:
            taken.append(decided)
            yield decided

    pieces = write(records(), "csv")
    assert next(pieces).startswith(b"\xef\xbb\xbfrecord_id,")
    next(pieces)
    assert len(taken) == 1


LINES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp", "Zs", "Cf")), min_size=1, max_size=12
)
WORDS = LINES.map(lambda text: f"w{text.replace(';', '').replace('|', '').replace('ASReview', '')}")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*Label, None]),
            st.lists(WORDS, max_size=3, unique=True),
            st.lists(WORDS, max_size=2, unique=True),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(FORMS),
)
def test_any_label_note_and_reason(rows: list[tuple[Label | None, list[str], list[str]]], form: str) -> None:
    records = [
        Decided(
            PoolRecord(number, f"How animal {number} counts"),
            None if label is Label.LATER else label,
            ((Stage.ABSTRACT, label),) if label else (),
            tuple(reasons),
            "\n".join(notes),
        )
        for number, (label, notes, reasons) in enumerate(rows, 1)
    ]
    found = [
        (entry.label, entry.note.split("\n") if entry.note else [], list(entry.reasons))
        for entry in again(form, *records)
    ]
    assert found == rows
