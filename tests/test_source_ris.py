"""RIS in: the shape of a file, with every fault that was reported of such files, and keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.model import Record, Refusal
from broadsheet.sources import endnote, isi, nbib, ovid, pubmed_xml, ris
from broadsheet.sources.base import Limits
from tests.refs import LIMITS, detail, entries, one, typed


def test_f20_a_byte_order_mark_is_no_part_of_the_first_tag() -> None:
    assert one("\ufeffTY  - JOUR\nTI  - Ωκεανός\nER  - \n".encode()).title == "Ωκεανός"


def test_f20_tags_of_endnote_in_a_ris_file_are_sniffed() -> None:
    data = "\ufeff%0 Journal Article\n%T Ωκεανός\n%A Thales\n".encode()
    assert [form for form in (nbib, ris, isi, endnote, pubmed_xml, ovid) if form.sniff(data, "export.ris")] == [endnote]


def test_f22_tags_before_ty_belong_to_the_entry() -> None:
    found = one("DB  - McK\nTY  - JOUR\nTI  - On rivers\nER  - \n")
    assert (detail(found, "ris-db"), found.kind) == ("McK", "article")
    first, second = entries("TY  - JOUR\nTI  - A b c\nER  - \n\nDB  - McK\nTY  - BOOK\nTI  - D e f\nER  - \n")
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.kind, second.kind) == ("article", "book")


def test_f24_two_ty_lines_are_one_entry() -> None:
    found = one("TY  - BOOK\nTY  - BOOK\nTI  - On rivers\nER  - \n")
    assert found.kind == "book"


@pytest.mark.parametrize("between", ["", "\n", "\n\n2.\n"])
def test_an_entry_without_er_ends_where_the_next_begins(between: str) -> None:
    first, second = entries(f"TY  - JOUR\nTI  - On rivers\n{between}TY  - BOOK\nTI  - On lakes\nER  - \n")
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.title, second.title) == ("On rivers", "On lakes")


def test_the_last_entry_needs_no_er() -> None:
    assert one("TY  - JOUR\nTI  - On rivers").title == "On rivers"


def test_an_entry_without_ty_is_read() -> None:
    assert one("\nJF  - Rivers\nT1  - On rivers\nER  -\n").kind == "article"
    assert ris.sniff(b"\nJF  - Rivers\nT1  - On rivers\nER  -\n", "x.ris")


def test_a_tag_behind_er_belongs_to_the_entry_before() -> None:
    text = "TY  - JOUR\nTI  - On rivers\nER  - \nNL  - Riv\n\n2.\nTY  - JOUR\nTI  - On lakes\nER  - \nNL  - Lak"
    found = [entry for entry in entries(text) if isinstance(entry, Record)]
    assert [(entry.title, detail(entry, "ris-nl")) for entry in found] == [("On rivers", "Riv"), ("On lakes", "Lak")]


def test_the_order_of_the_file_is_kept_around_tags_behind_er() -> None:
    text = "TY  - JOUR\nTI  - A b c\nER  - \nTY  - JOUR\nTI  - D e f\nER  - \nTI  - G h i\nER  - \n"
    assert [entry.title for entry in entries(text) if isinstance(entry, Record)] == ["A b c", "D e f", "G h i"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_systems(end: str) -> None:
    text = end.join(
        ["TY  - JOUR", "TI  - On", "rivers", "AB  - One\u2028line\x0bonly", "ER  - ", "", "TY  - JOUR", "ER  - "]
    )
    first, second = entries(text)
    assert isinstance(first, Record)
    assert first.title == "On rivers"
    assert first.abstract == "One line only"
    assert second == Refusal("file.ris", 7, "neither title nor abstract; a paper needs one of the two")


@pytest.mark.parametrize("line", ["TI  -On rivers", "TI  - On rivers  ", "TI  -\tOn rivers", "TI  - On\n      rivers"])
def test_blanks_around_a_value_do_not_matter(line: str) -> None:
    assert one(f"TY  - JOUR\n{line}\nER  -").title == "On rivers"


@pytest.mark.parametrize("mark", [" - ", "- ", "   - ", "\t- "])
def test_tags_without_the_two_blanks_are_read_where_ty_lacks_them_too(mark: str) -> None:
    text = (
        f"TY{mark}JOUR\nTI{mark}On rivers\nAB{mark}We use\nMRI - which is slow\nCT{mark.strip()}scans help\nER{mark}\n"
    )
    found = one(text)
    assert (found.title, found.kind) == ("On rivers", "article")
    assert found.abstract == f"We use MRI - which is slow CT{mark.strip()}scans help"


def test_a_wrapped_line_that_looks_like_a_loose_tag_is_text() -> None:
    found = one("TY  - JOUR\nTI  - On rivers\nAB  - cells that are\nER - positive, and\nPY - negative\nER  - \n")
    assert found.abstract == "cells that are ER - positive, and PY - negative"
    assert found.year is None


def test_text_between_entries_is_passed_over() -> None:
    text = (
        "Record #1 of 2\nProvider: X\n\n1.\nTY  - JOUR\nTI  - On rivers\nER  - \n\nRecord #2 of 2\n2.\nTY  - JOUR\n"
        "TI  - On lakes\nER  - \n"
    )
    assert [entry.title for entry in entries(text) if isinstance(entry, Record)] == ["On rivers", "On lakes"]


def test_empty_tags_say_nothing() -> None:
    found = typed("JOUR", "SP  -", "AU  - ", "PY  -", "AB  -", "KW  - ", "UR  - ", "XX  - ")
    assert (found.authors, found.year, found.abstract, found.keywords, found.links) == ((), None, "", (), ())
    assert found.details == ()


def test_files_one_behind_the_other_with_their_marks() -> None:
    part = "\ufeffTY  - JOUR\nTI  - On {}\nER  - \n\x1a"
    found = entries(part.format("rivers") + part.format("lakes"))
    read = [(entry.title, entry.kind) for entry in found if isinstance(entry, Record)]
    assert read == [("On rivers", "article"), ("On lakes", "article")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "gb18030"])
def test_encodings(encoding: str) -> None:
    title = "河流与湖泊的缓慢研究综述" if encoding == "gb18030" else "Über Flüsse und Bäche"
    data = (
        f"TY  - JOUR\r\nTI  - {title}\r\nAU  - Müller, Jörg\r\nER  - \r\n"
        if encoding != "gb18030"
        else (f"TY  - JOUR\r\nTI  - {title}\r\nAB  - {title * 5}\r\nER  - \r\n")
    )
    assert one(data.encode(encoding)).title == title


def test_a_file_without_entries_is_refused() -> None:
    assert [str(entry) for entry in entries("just words\n")] == [
        "file.ris:1: no entry found: no line begins with a tag such as 'TY  - JOUR'"
    ]


def test_what_is_too_long_is_refused_and_the_rest_read() -> None:
    text = f"TY  - JOUR\nTI  - Long\nAB  - {'word ' * 300}\nER  - \nTY  - JOUR\nTI  - Short\nER  - \n"
    first, second = entries(text, limits=Limits(1000, 10))
    assert isinstance(first, Refusal)
    assert (first.line, "max_entry_bytes" in first.reason) == (1, True)
    assert isinstance(second, Record)


def test_too_many_authors_are_refused() -> None:
    text = "TY  - JOUR\nTI  - Many\n" + "AU  - Hand, A.\n" * 11 + "ER  - \n"
    (found,) = entries(text, limits=Limits(10_000, 10))
    assert isinstance(found, Refusal)
    assert "11 names" in found.reason


def test_entries_are_made_as_they_are_asked_for() -> None:
    data = b"TY  - JOUR\nTI  - On rivers\nER  - \n" * 100_000
    found = ris.read("big.ris", data, LIMITS)
    assert [type(next(found)) for _ in range(2)] == [Record, Record]


def test_memory_does_not_grow_with_the_file() -> None:
    import tracemalloc

    entry = b"TY  - JOUR\nID  - %d\nTI  - On rivers \xce\xa9\nAB  - " + b"water " * 500 + b"\nER  - \n\n"
    data = b"".join(entry % i for i in range(3000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in ris.read("big.ris", data, LIMITS)) == 3000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(data) > 9_000_000
    assert peak < 5_000_000  # the keys, and a piece of the file


LINES = [
    "TY  - JOUR", "TY  - ", "TY - BOOK", "TI  - On rivers", "T1  - Lakes", "AB  - Water", "AU  - Hand, A.", "ER  - ",
    "ER  -", "", "1.", "words", "NL  - x", "PY  - 2001//", "N1  - note", "DB  - y", "KW  - a", "      wrapped",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_no_order_of_lines_loses_a_title(lines: list[str]) -> None:
    """Whatever stands where: no crash, and every title is in some entry as a title or as text of it."""
    found = entries("\n".join(lines))
    assert found
    kept = sum(entry.raw.count("On rivers") + entry.raw.count("Lakes") for entry in found if isinstance(entry, Record))
    assert kept == sum("On rivers" in line or "Lakes" in line for line in lines)
    assert all(entry.line > 0 for entry in found if isinstance(entry, Refusal))


@given(st.binary(max_size=300))
def test_no_bytes_are_a_crash(data: bytes) -> None:
    assert entries(b"TY  - JOUR\nTI  - " + data)


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        (["ID  - huffman"], "huffman"),
        (["AN  - WOS:1"], "WOS:1"),
        (["DO  - 10.1000/x"], "doi:10.1000/x"),
    ],
)
def test_keys(lines: list[str], key: str) -> None:
    found = typed("JOUR", *lines)
    assert (found.source, found.key) == ("ris:file", key)


def test_a_running_number_is_no_key_by_itself() -> None:
    first, second = typed("JOUR", "ID  - 1"), one("TY  - JOUR\nTI  - On lakes\nID  - 1\nER  - ")
    assert first.key.startswith("1#")
    assert first.key != second.key


def test_keys_are_unique_within_a_file() -> None:
    named = [("a", "On rivers"), ("a", "On lakes"), ("a", "On lakes"), ("7", "On seas"), ("7", "On seas")]
    text = "".join(f"TY  - JOUR\nID  - {own}\nTI  - {title}\nER  - \n" for own, title in named)
    keys = [entry.key for entry in entries(text) if isinstance(entry, Record)]
    assert len(set(keys)) == 5
    assert keys[0] == "a"
    more = text.replace("TI  - On lakes", "TI  - On seas\nER  - \nTY  - JOUR\nID  - a\nTI  - On lakes", 1)
    assert [entry.key for entry in entries(more) if isinstance(entry, Record)][2] == keys[1]  # whatever came between


def test_without_ids_the_key_is_of_title_authors_and_year() -> None:
    base = typed("JOUR", "AU  - Hand, A.", "PY  - 2001", "AB  - x").key
    assert base == typed("JOUR", "PY  - 2001", "AU  - Hand, A.", "AB  - y").key
    assert (
        len(
            {base, typed("JOUR", "AU  - Hand, A.", "PY  - 2002").key, typed("JOUR", "AU  - Foot, A.", "PY  - 2001").key}
        )
        == 3
    )


def test_raw_is_the_entry_as_it_came() -> None:
    found = entries("1.\nTY  - JOUR\nTI  - On\n   rivers\nER  - \n\n")
    assert isinstance(found[0], Record)
    assert found[0].raw == "TY  - JOUR\nTI  - On\n   rivers\nER  - "


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "line",
    [
        "AB  - a\n" + "x\n" * 400_000, "UR  - a" + " " * 900_000 + "b\n", "DO  - a" + ";" * 900_000 + "b\n",
        "AU  - " + "ab " * 300_000 + "\n", "SP  - " + "-" * 900_000 + "\n", "SN  - " + "1-" * 400_000 + "\n",
        "N1  - " + " " * 900_000 + "x\n", "\n" * 900_000, "KW  - a;\n" * 90_000, "M3  - " + "(" * 900_000 + "\n",
    ],
)  # fmt: skip
def test_no_entry_takes_long(line: str) -> None:
    assert one(f"TY  - JOUR\nTI  - On rivers\n{line}ER  - \n").title == "On rivers"
