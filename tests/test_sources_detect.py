"""Which format a file has, resuming, hopeless files, and that no bytes crash a reader."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model import Record, Refusal
from broadsheet.sources import Item, detect, read_file, read_text
from broadsheet.sources.detect import HOPELESS
from broadsheet.sources.naming import source_of
from tests.shared import ROOT
from tests.test_sources_listing import ONE, TWO
from tests.test_sources_stream import items, refusals, titles, written

GOOD = [{"title": "One", "abstract": 'a, [b] } \\ " c'}, {"title": "Two", "extra": [{"x": 1}, {}]}, {"title": "Drei ü"}]
LISTING = f"Daily Papers\n\n{ONE}\n\n{TWO}\n"


def pasted(text: str) -> list[Item]:
    return list(read_text("pasted text", text, max_entry_bytes=100_000, max_authors=100))


@pytest.mark.parametrize(
    "data",
    [
        b"\n".join(map(orjson.dumps, GOOD)),
        b"\n\n  " + b"\n".join(map(orjson.dumps, GOOD)) + b"\n",
        orjson.dumps(GOOD),
        orjson.dumps(GOOD, option=orjson.OPT_INDENT_2),
        b"[" + b",\n".join(map(orjson.dumps, GOOD)) + b"]",
        b"\n".join(orjson.dumps(paper, option=orjson.OPT_INDENT_2) for paper in GOOD),
    ],
    ids=["lines", "lines after blanks", "array", "indented array", "array by lines", "indented objects"],
)
@pytest.mark.parametrize("name", ["x", "x.json", "x.jsonl", "x.txt"])
def test_json_in_every_layout(tmp_path: Path, data: bytes, name: str) -> None:
    found = items(written(tmp_path, data, name))
    assert titles(found) == ["One", "Two", "Drei ü"]
    assert isinstance(found[0].entry, Record)
    assert found[0].entry.abstract == GOOD[0]["abstract"]
    assert titles(pasted(data.decode())) == titles(found)


def test_elements_of_an_array_are_refused_by_the_line_on_which_they_begin(tmp_path: Path) -> None:
    data = b'[\n{"title": "One"},\n7,\n{"a":\n 1},\n{"title": "Two"}\n] tail'
    found = items(written(tmp_path, data, "x.json"))
    assert titles(found) == ["One", "Two"]
    assert [refusal.line for refusal in refusals(found)] == [3, 4, 7]


def test_a_cut_off_array_keeps_its_whole_elements(tmp_path: Path) -> None:
    found = items(written(tmp_path, orjson.dumps(GOOD)[:-8]))
    assert titles(found) == ["One", "Two"]
    assert len(refusals(found)) == 1


def test_a_list_on_the_first_line_is_a_bad_line_not_an_array(tmp_path: Path) -> None:
    found = items(written(tmp_path, b'["header"]\n{"title":"One"}\n'))
    assert titles(found) == ["One"]
    assert "a list" in refusals(found)[0].reason


def test_bad_first_lines_do_not_hide_json_lines(tmp_path: Path) -> None:
    found = items(written(tmp_path, b'# my papers\n\xff\n{"title":"One"}\n', "x"))
    assert titles(found) == ["One"]
    assert [refusal.line for refusal in refusals(found)] == [1, 2]


def test_a_listing_page(tmp_path: Path) -> None:
    for data in (LISTING.encode(), b"\xef\xbb\xbf" + LISTING.encode(), gzip.compress(LISTING.encode())):
        found = items(written(tmp_path, data, "page.txt"))
        assert [item.entry.abstract for item in found if isinstance(item.entry, Record)] == [ONE, TWO]
    assert [item.entry for item in pasted(LISTING)] == [item.entry for item in found]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n\r\n\t", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b" " * 600_000, "begins with 64 kB of blanks"),
        (b"<!doctype html><title>x</title>", "a web page or XML of another kind; copy the text"),
        (b"  <html>", "a web page or XML"),
        (b"%PDF-1.7", "a PDF"),
        (b"title,abstract,authors\n", "a table without a single entry"),
        (b'id;"Title";year\n', "a table without a single entry"),
        (b"Authors\tTitle\tYear\n\t\t\n", "a table without a single entry"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old or a locked Excel file; save it as .xlsx"),
        (b"PK\x05\x06" + bytes(18), "a zip archive without reference files; read are .bib"),
        (b"PK\x03\x04" + bytes(90), "a damaged zip archive"),
        (gzip.compress(b"SQLite format 3\0" + bytes(600), mtime=0), "a database; a Zotero library is read"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
        (b"just a few words", "no papers found"),
        (b"\xb5\xe7\xd7\xd3 " * 80, "no papers found"),
    ],
)
def test_other_files_are_refused_with_what_is_taken(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        items(written(tmp_path, data, "some.file"))
    assert str(caught.value).startswith("some.file: ")


TABLE = 'title,abstract\nOne,"a, b"\nTwo,\n'
ENTRIES = {
    "ris": "TY  - JOUR\nTI  - One\nER  - \n\nTY  - JOUR\nTI  - Two\nER  - \n",
    "bibtex": "@article{a, title={One}}\n\n@article{b, title={Two}}\n",
    "nbib": "PMID- 1\nTI  - One\n\nPMID- 2\nTI  - Two\n",
    "endnote": "%0 Journal Article\n%T One\n\n%0 Journal Article\n%T Two\n",
    "table": TABLE,
    "csl": '[{"type": "book", "title": "One", "author": [{"family": "Ba"}]}, {"type": "book", "title": "Two"}]',
    "jsonl": '{"title": "One", "type": "book"}\n{"title": "Two"}\n',
}


@pytest.mark.parametrize("kind", ENTRIES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_each_format_by_its_content_in_each_encoding(
    tmp_path: Path, kind: str, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    data = pack(ENTRIES[kind].encode(encoding))
    found = items(written(tmp_path, data, "x"))
    assert titles(found) == ["One", "Two"]
    assert {item.entry.source for item in found if isinstance(item.entry, Record)} == {f"{kind}:x"}
    assert [(item.position, item.total) for item in found] == [(len(data), len(data))] * 2
    for skip in (1, 2, 3):
        assert items(written(tmp_path, data, "x"), skip=skip) == found[skip:]


@pytest.mark.parametrize("kind", [kind for kind in ENTRIES if kind != "jsonl"])
def test_a_cut_off_file_of_each_format(tmp_path: Path, kind: str) -> None:
    text = ENTRIES[kind] + "\n" + ENTRIES[kind].replace("One", "Three").replace("Two", "Four")
    found = items(written(tmp_path, gzip.compress(text.encode())[:-4], "x"))
    assert titles(found)[:1] == ["One"]
    assert "file ends early" in refusals(found)[-1].reason
    assert found[-1].entry is refusals(found)[-1]


def test_a_file_over_the_limit_is_refused_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "WHOLE_BYTES", 2**20)
    data = TABLE.encode() + b"Three,x\n" * 200_000
    with pytest.raises(InputError, match=r"x\.csv: over 1 MB of a table; split the file"):
        items(written(tmp_path, gzip.compress(data), "x.csv"))


@pytest.mark.parametrize("rows", [b'{"title":"One"}', b'[{"title":"One"}]', b'{"title":"One","type":"x"}'])
def test_json_loads_no_other_format(tmp_path: Path, rows: bytes) -> None:
    path = written(tmp_path, rows)
    probe = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "src")!r})
from broadsheet.sources import read_file
assert len(list(read_file(Path({str(path)!r}), max_entry_bytes=999, max_authors=9))) == 1
heavy = "lxml openpyxl bibtexparser rispy feedparser sqlite3 charset_normalizer".split()
heavy += ["broadsheet.sources." + name for name in (*detect_formats, "tables", "xlsx", "zotero_sqlite")]
print(*[name for name in heavy if name in sys.modules])
"""
    probe = probe.replace("detect_formats", repr(detect.FORMATS))
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_page_without_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"word, " * 8_000_000), "page.txt")
    with pytest.raises(InputError, match="over 32 MB of text"):
        items(path)


def test_a_file_of_something_else_is_given_up(tmp_path: Path) -> None:
    rows = b'{"user": 1}\n' * (HOPELESS + 5)
    seen = 0
    with pytest.raises(InputError, match=r"first 10000 entries were all refused \(line 10001: neither title"):
        for _ in read_file(written(tmp_path, rows), max_entry_bytes=1_000, max_authors=5):
            seen += 1
    assert seen == HOPELESS
    found = items(written(tmp_path, b'{"title": "One"}\n' + rows))
    assert len(refusals(found)) == HOPELESS + 5


LINES = st.lists(
    st.sampled_from([b'{"title":"A"}', b"[]", b"", b"\xff", b'{"abstract":"B c."}', b'{"title":"' + b"x" * 90 + b'"}']),
    max_size=9,
)


@given(LINES, st.integers(0, 10))
@settings(max_examples=60, deadline=None)
def test_skip_gives_exactly_the_tail(tmp_path_factory: pytest.TempPathFactory, rows: list[bytes], skip: int) -> None:
    path = written(tmp_path_factory.mktemp("skip"), b'{"title":"First"}\n' + b"\n".join(rows) + b"\n")
    whole = items(path, limit=60)
    assert [item.ordinal for item in whole] == list(range(len(whole)))
    assert items(path, limit=60, skip=skip) == whole[skip:]


@pytest.mark.parametrize("skip", range(6))
def test_skip_in_arrays_pages_and_cut_off_files(tmp_path: Path, skip: int) -> None:
    cut = gzip.compress(b'{"title":"One"}\n{"title":"Two"}\n')[:-5]
    page = f"{LISTING}\n\n{ONE}".encode()
    for data in (orjson.dumps([*GOOD, 7]), LISTING.encode(), page, gzip.compress(page)[:-5], cut):
        path = written(tmp_path, data, "x")
        whole = items(path)
        assert items(path, skip=skip) == whole[skip:]


def read_safely(path: Path) -> None:
    try:
        found = items(path, limit=500, authors=20)
    except InputError as error:
        assert str(error).startswith(path.name)
    else:
        assert all(isinstance(item.entry, (Record, Refusal)) for item in found)


@given(
    st.binary(max_size=300),
    st.sampled_from(
        [
            *(
                b"",
                b"{",
                b"[",
                b'{"title":"',
                b"Daily Papers\n\n",
                b"\x1f\x8b\x08\0",
                b"BZh9",
                b"PK\x03\x04",
                b"\xff\xfe",
            ),
            *(b"title,abstract\n", b"TY  - JOUR\nTI  - ", b"PMID- 1\nTI  - ", b"%0 Book\n%T ", b"@article{a, title={"),
            *(
                b'[{"type":"book","author":[{"family":"B"}]},',
                b"<rdf:RDF>",
                b"<PubmedArticleSet>",
                b"SQLite format 3\0",
            ),
        ]
    ),
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_items_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, start: bytes
) -> None:
    read_safely(written(tmp_path_factory.getbasetemp(), start + data, "any"))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["value", "name", "url", "last", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = [
    *("id", "title", "abstract", "text", "summary", "authors", "year", "date", "published", "month", "listed", "venue"),
    *("venues", "journal", "booktitle", "areas", "area", "primary_area", "categories", "primary_category", "keywords"),
    *("tags", "doi", "arxiv", "pmid", "openreview", "acl", "externalIds", "identifiers", "links", "url", "pdf"),
    *("github", "comment", "status", "hf_names", "authors_truncated"),
]


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
@settings(max_examples=400, deadline=None)
def test_any_json_object_gives_a_record_or_a_refusal(fields: dict[str, object]) -> None:
    text = orjson.dumps({"title": "T"} | fields).decode()
    [item] = pasted(text)
    if isinstance(item.entry, Record):
        assert item.entry.title
        assert item.entry.key
        assert item.entry.raw == text


@given(
    st.lists(
        st.sampled_from([ONE, TWO, "Ada Lovelace, Alan Turing", "A title", "Theory · Bees", "12", "2026-10-12", ""]),
        max_size=14,
    )
)
@settings(max_examples=150, deadline=None)
def test_no_abstract_of_a_page_is_lost(blocks: list[str]) -> None:
    text = "\n\n".join(["Daily Papers", *blocks, ONE])
    found = [item.entry for item in pasted(text) if isinstance(item.entry, Record)]
    assert [r.abstract for r in found if r.abstract] == [b for b in [*blocks, ONE] if b in (ONE, TWO)]
    assert len({r.key for r in found}) == len(found)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("papers.jsonl.gz", "jsonl:papers"),
        ("papers (2).json", "jsonl:papers"),
        ("my.set.ndjson.zst", "jsonl:my.set"),
        ("x.GZ", "jsonl:x"),
        ("refs.bib.gz", "jsonl:refs"),
        ("My Library.csv", "jsonl:My Library"),
        ("v1.2.xlsx", "jsonl:v1.2"),
        (".jsonl", "jsonl:file"),
    ],
)
def test_sources(name: str, source: str) -> None:
    assert source_of(name) == source
    assert source_of(name, "ris") == source.replace("jsonl", "ris")
