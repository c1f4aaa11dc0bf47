"""RIS in: every real file, every fault that was reported of such files, and what each tag means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
import rispy  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.ingest import derive, import_items
from broadsheet.model import LinkKind, NoticeKind, Record, Refusal
from broadsheet.sources import endnote, isi, nbib, ovid, pubmed_xml, ris
from broadsheet.sources.base import Entry, Item, Limits
from broadsheet.sources.risfields import KINDS
from broadsheet.store import open_store
from broadsheet.text import title_fingerprint
from tests.makers import NOW, identifier
from tests.shared import shared

LIMITS = Limits(1_000_000, 10_000)
FORMATS = (nbib, ris, isi, endnote, pubmed_xml, ovid)
# Real file: format, entries, entries that have neither title nor abstract.
FILES = {
    "asreview___baseline.ris": (ris, 100, 0),
    "asreview__baseline_empty_values.ris": (ris, 4, 0),
    "asreview__baseline_reference_types.ris": (ris, 61, 61),
    "asreview__baseline_zotero.ris": (ris, 100, 0),
    "asreview__embase.ris": (ris, 6, 0),
    "asreview__ovid_psycinfo.ris": (ris, 6, 0),
    "asreview__proquest.ris": (ris, 6, 0),
    "asreview__pubmed_endnote.txt": (ris, 6, 0),
    "asreview__pubmed_zotero.ris": (ris, 6, 0),
    "asreview__ris_issue_1099.txt": (ris, 7, 0),
    "asreview__ris_issue_992.txt": (ris, 19, 0),
    "asreview__scopus.ris": (ris, 6, 0),
    "asreview__web_of_science.txt": (ris, 10, 0),
    "jabref__EndnoteXmlImporterTestArticle2.xml": (endnote, 2, 0),
    "jabref__IsiImporterTestWOS.isi": (isi, 2, 0),
    "jabref__MedlineImporterTestArticleItalics.xml": (pubmed_xml, 1, 0),
    "jabref__MedlinePlainImporterStringOutOfBounds.txt": (nbib, 2, 0),
    "jabref__MedlinePlainImporterTestMultipleEntries.txt": (nbib, 7, 4),
    "jabref__NbibImporterTest.nbib": (nbib, 1, 0),
    "jabref__OvidImporterTest1.txt": (ovid, 5, 0),
    "jabref__RisImporterCorrupted.ris": (ris, 1, 0),
    "jabref__RisImporterTest4c.ris": (ris, 1, 0),
    "jabref__RisImporterTest5b.ris": (ris, 1, 0),
    "jabref__RisImporterTest8_date.ris": (ris, 1, 0),
    "jabref__RisImporterTest9.ris": (ris, 1, 0),
    "jabref__RisImporterTestDoiAndJournalTitle.ris": (ris, 1, 1),
    "jabref__RisImporterTestScience.ris": (ris, 1, 0),
    "jabref__RisImporterTestWithEmptyER.ris": (ris, 1, 0),
    "rispy__example_empty_tag.ris": (ris, 1, 0),
    "rispy__example_extraneous_data.ris": (ris, 2, 0),
    "rispy__example_full.ris": (ris, 2, 0),
    "rispy__example_full_without_whitespace.ris": (ris, 2, 0),
    "rispy__example_multi_unknown_tags.ris": (ris, 1, 0),
    "rispy__example_multiline.ris": (ris, 3, 0),
    "rispy__example_single_unknown_tag.ris": (ris, 1, 0),
    "rispy__example_utf_chars.ris": (ris, 1, 0),
    "rispy__example_wos.ris": (isi, 2, 0),
}
RIS_FILES = [name for name, (form, _, _) in FILES.items() if form is ris]


def entries(text: str | bytes, name: str = "file.ris", limits: Limits = LIMITS) -> list[Entry]:
    return list(ris.read(name, text.encode() if isinstance(text, str) else text, limits))


def one(text: str | bytes) -> Record:
    found = entries(text)
    assert len(found) == 1
    assert isinstance(found[0], Record), found[0]
    return found[0]


def typed(code: str, *lines: str) -> Record:
    return one("\n".join([f"TY  - {code}", "TI  - On rivers", *lines, "ER  - "]))


def detail(record: Record, name: str) -> str:
    return dict(record.details).get(name, "")


# --- real files -------------------------------------------------------------------------------------------------------


def test_the_table_names_every_real_file_of_these_formats() -> None:
    folder = shared("data", "bib_fixtures")
    found = {path.name for path in folder.iterdir() if path.suffix in (".ris", ".txt", ".nbib", ".isi", ".xml")}
    assert found == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_entry_of_a_real_file_is_read_or_refused_with_its_line(name: str) -> None:
    form, count, bare = FILES[name]
    path = shared("data", "bib_fixtures", name)
    data = path.read_bytes()
    assert [one for one in FORMATS if one.sniff(data[:65536], name)] == [form]
    found = list(form.read(name, data, LIMITS))
    refused = [entry for entry in found if isinstance(entry, Refusal)]
    assert (len(found), len(refused)) == (count, bare)
    assert all(refusal.line > 0 and "neither title nor abstract" in refusal.reason for refusal in refused)
    keys = [entry.key for entry in found if isinstance(entry, Record)]
    assert len(set(keys)) == len(keys)
    assert list(form.read(name, data, LIMITS)) == found  # an import is idempotent


@pytest.mark.parametrize("name", RIS_FILES)
def test_as_many_entries_are_read_as_the_file_has_ends(name: str) -> None:
    text = shared("data", "bib_fixtures", name).read_bytes()
    assert len(entries(text, name)) == len(re.findall(rb"^ER  -", text, re.MULTILINE))


# The corrupted file has an entry without TY, which rispy passes over.
@pytest.mark.parametrize("name", [name for name in RIS_FILES if "Corrupted" not in name])
def test_titles_authors_and_keywords_are_those_that_rispy_reads(name: str) -> None:
    data = shared("data", "bib_fixtures", name).read_bytes()
    theirs = rispy.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    for entry, other in zip(entries(data, name), theirs, strict=True):
        if isinstance(entry, Refusal):
            continue
        title = other.get("title") or other.get("primary_title") or ""
        assert entry.title_derived or not title or title_fingerprint(entry.title) == title_fingerprint(title)
        names = other.get("authors") or other.get("first_authors") or []
        assert [re.sub(r"[\s,]", "", n) for n in entry.authors] == [re.sub(r"[\s,]", "", n) for n in names]
        words = {word.strip("* ") for word in other.get("keywords", [])}
        assert {word.strip("* ") for word in entry.keywords} == words


def test_lines_of_entries_are_those_of_their_first_tag() -> None:
    path = shared("data", "bib_fixtures", "asreview__baseline_reference_types.ris")
    lines = path.read_text("utf-8-sig").split("\n")
    refused = [entry for entry in entries(path.read_bytes()) if isinstance(entry, Refusal)]
    assert [entry.line for entry in refused] == [i for i, line in enumerate(lines, 1) if line.startswith("TY")]


def test_real_fields_of_many_programs() -> None:
    def first(name: str) -> Record:
        entry = entries(shared("data", "bib_fixtures", name).read_bytes(), name)[0]
        assert isinstance(entry, Record)
        return entry

    lens = first("asreview___baseline.ris")
    assert lens.key == "000-463-679-101-319"
    assert set(map(str, lens.identifiers)) == {"doi:10.1007/s11307-012-0572-0", "pmid:22752652"}
    assert detail(lens, "pmcid") == "PMC3553406"
    assert any(link.kind is LinkKind.PDF for link in lens.links)

    zotero = first("asreview__baseline_zotero.ris")
    assert detail(zotero, "note") == "<p>ASReview_relevant</p>"
    assert (zotero.venue, zotero.year, zotero.published) == ("Nature Machine Intelligence", 2021, date(2021, 2, 1))

    embase = first("asreview__embase.ris")
    assert embase.authors == ("Liu, R.", "Adler, D.G.")

    scopus = first("asreview__scopus.ris")
    assert "pmid:31627144" not in map(str, scopus.identifiers)
    assert "References" not in detail(scopus, "note")

    wos = first("asreview__web_of_science.txt")
    assert wos.key == "WOS:000444108200009"
    assert wos.counts == (("citations", 5),)
    assert (wos.published, wos.month_only) == (date(2018, 9, 1), True)

    endnoted = first("asreview__pubmed_endnote.txt")
    assert "pmid:21553931" in map(str, endnoted.identifiers)
    assert "Boswellia/*chemistry".replace("*", "") in [word.replace("*", "") for word in endnoted.keywords]

    ovid_ris = first("asreview__ovid_psycinfo.ris")
    assert detail(ovid_ris, "pages") == ""  # "No" to "Specified"
    assert detail(ovid_ris, "ris-nl") == "Clin Psychol Psychother"  # behind its ER


def test_the_pubmed_ids_of_scopus_and_embase() -> None:
    for name in ("asreview__scopus.ris", "asreview__embase.ris"):
        data = shared("data", "bib_fixtures", name).read_bytes()
        given_ids = set(re.findall(rb"^(?:C2|C5)  - (\d+)\s*$", data, re.MULTILINE))
        found = {
            i.value.encode()
            for e in entries(data)
            if isinstance(e, Record)
            for i in e.identifiers
            if i.scheme == "pmid"
        }
        assert found == given_ids


# --- the shape of a file ----------------------------------------------------------------------------------------------


def test_f20_a_byte_order_mark_is_no_part_of_the_first_tag() -> None:
    assert one("\ufeffTY  - JOUR\nTI  - Ωκεανός\nER  - \n".encode()).title == "Ωκεανός"


def test_f20_tags_of_endnote_in_a_ris_file_are_sniffed() -> None:
    data = "\ufeff%0 Journal Article\n%T Ωκεανός\n%A Thales\n".encode()
    assert [form for form in FORMATS if form.sniff(data, "export.ris")] == [endnote]


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


# --- what the tags mean -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "kind"), KINDS.items())
def test_kinds(code: str, kind: str) -> None:
    assert typed(code).kind == kind


@pytest.mark.parametrize(
    ("name", "kind"), [("Journal Article", "article"), ("XYZ", "misc"), ("GEN", "misc"), ("", "misc")]
)
def test_kinds_by_name_and_unknown_ones(name: str, kind: str) -> None:
    assert typed(name).kind == kind


@pytest.mark.parametrize("tag", ["TI", "T1", "CT"])
def test_tags_of_the_title(tag: str) -> None:
    assert one(f"TY  - JOUR\n{tag}  - On rivers\nER  - ").title == "On rivers"


def test_a_short_title_is_the_title_where_there_is_no_other() -> None:
    assert one("TY  - JOUR\nST  - Rivers\nER  - ").title == "Rivers"
    assert detail(typed("JOUR", "ST  - Rivers"), "shorttitle") == "Rivers"
    assert one("TY  - BOOK\nBT  - Rivers\nER  - ").title == "Rivers"


def test_a_second_title_is_kept() -> None:
    assert detail(typed("JOUR", "T1  - Sur les fleuves"), "titleaddon") == "Sur les fleuves"


@pytest.mark.parametrize("tag", ["AU", "A1"])
def test_authors_in_order_as_they_are_written(tag: str) -> None:
    found = typed("JOUR", f"{tag}  - van der Berg, Anna M.", f"{tag}  - King, M. L., Jr.", f"{tag}  - 王, 小明")
    assert found.authors == ("van der Berg, Anna M.", "King, M. L., Jr.", "王, 小明")


def test_authors_and_primary_authors_together() -> None:
    assert typed("JOUR", "A1  - Hand, A.", "AU  - Foot, B.").authors == ("Hand, A.", "Foot, B.")


def test_a_cut_list_of_authors() -> None:
    found = typed("JOUR", "AU  - Hand, A.", "AU  - et al.")
    assert (found.authors, found.authors_truncated) == (("Hand, A.",), True)


def test_family_names_first_without_a_comma() -> None:
    assert typed("JOUR", "AU  - de la Hand A.-B.", "AU  - Foot C").authors == ("de la Hand, A.-B.", "Foot, C")
    assert typed("JOUR", "AU  - Foot C", "AU  - Anna Hand").authors == ("Foot C", "Anna Hand")
    assert typed("JOUR", "AU  - LI WEI").authors == ("LI WEI",)
    assert typed("JOUR", "AU  - Bo LI", "AU  - Wei WU").authors == ("Bo LI", "Wei WU")
    assert typed("JOUR", "AU  - K. Hand", "AU  - X. Li").authors == ("K. Hand", "X. Li")


def test_all_authors_on_one_line() -> None:
    assert typed("JOUR", "AU  - 张三;李四；王五;").authors == ("张三", "李四", "王五")
    assert typed("JOUR", "A1  - Hand, A.; Foot, B.").authors == ("Hand, A.", "Foot, B.")


def one_character_a_line(text: str, tag: str = "A1") -> list[str]:
    return [f"{tag}  - {character}" for character in text]


def test_f19_authors_one_character_a_line_are_put_together() -> None:
    found = typed("JOUR", *one_character_a_line("['Mai, A.', 'O\\'Neil, Bo', 'Li, W.']"))
    assert found.authors == ("Mai, A.", "O'Neil, Bo", "Li, W.")


def test_f19_or_refused_with_the_reason() -> None:
    for text in ("['Mai, A.', 'O", "Mai, A. and Li, W.", "['Mai', 3", "['Mai', 3]", "[" * 500 + "]" * 500):
        (found,) = entries("\n".join(["TY  - JOUR", "TI  - On rivers", *one_character_a_line(text), "ER  - "]))
        assert isinstance(found, Refusal)
        assert "one character a line" in found.reason


def test_f19_short_names_are_names() -> None:
    assert typed("JOUR", "AU  - A", "AU  - B", "AU  - C", "AU  - D").authors == ("A", "B", "C", "D")


def test_other_people() -> None:
    found = typed("CHAP", "A2  - Foot, B.", "ED  - Knee, C.", "A3  - Toe, D.", "A4  - Ear, E.")
    assert detail(found, "editor") == "Knee, C. and Foot, B."
    assert (detail(found, "editora"), detail(found, "translator")) == ("Toe, D.", "Ear, E.")


@pytest.mark.parametrize(
    ("lines", "year", "published", "month_only"),
    [
        (["PY  - 2001/09/01/"], 2001, date(2001, 9, 1), False),
        (["PY  - 1996"], 1996, None, False),
        (["PY  - 2009///"], 2009, None, False),
        (["Y1  - 2014//"], 2014, None, False),
        (["PY  - 2016/12//"], 2016, date(2016, 12, 1), True),
        (["DA  - 2019/10//undefined", "PY  - 2019"], 2019, date(2019, 10, 1), True),
        (["Y1  - 2013/07/22", "PY  - 2013", "DA  - 2013/07/28"], 2013, date(2013, 7, 22), False),
        (["PY  - 2018", "DA  - SEP"], 2018, date(2018, 9, 1), True),
        (["PY  - 2018", "DA  - Jun 14"], 2018, date(2018, 6, 14), False),
        (["DA  - 15 June 2018"], 2018, date(2018, 6, 15), False),
        (["PY  - 2016", "Y1  - 27-30 June 2016"], 2016, date(2016, 6, 1), True),
        (["PY  - 2005/Jul/15"], 2005, date(2005, 7, 15), False),
        (["DA  - 2018-05-15T00:00:00Z"], 2018, date(2018, 5, 15), False),
        (["PY  - 07/08/2005"], 2005, None, False),
        (["PY  - 2018/02/30"], 2018, None, False),
        (["PY  - in press"], None, None, False),
        (["PY  - 2020", "DA  - 2019/12/30"], 2020, date(2019, 12, 30), False),
    ],
)
def test_dates(lines: list[str], year: int | None, published: date | None, month_only: bool) -> None:
    found = typed("JOUR", *lines)
    assert (found.year, found.published, found.month_only) == (year, published, month_only)


def test_a_date_that_the_record_cannot_hold_is_kept_as_it_is() -> None:
    assert detail(typed("JOUR", "PY  - 2018", "DA  - Spring"), "date") == "Spring"
    assert detail(typed("JOUR", "PY  - in press"), "date") == "in press"
    assert detail(typed("JOUR", "PY  - 2016", "Y1  - 27-30 June 2016"), "date") == "27-30 June 2016"
    assert detail(typed("JOUR", "DA  - 2018 Dec - 2019 Jan"), "date") == "2018 Dec - 2019 Jan"
    for told in (
        "2018/05/06",
        "2018/05//undefined",
        "20180506",
        "2018-05-15T00:00:00Z",
        "15 June 2018",
        "2018",
        "2018///",
    ):
        assert detail(typed("JOUR", f"DA  - {told}"), "date") == ""


@pytest.mark.parametrize("tag", ["T2", "JF", "JO", "JA", "J2", "BT"])
def test_names_of_a_journal(tag: str) -> None:
    found = typed("JOUR", f"{tag}  - Rivers Today")
    assert (found.venue, detail(found, "journal")) == ("Rivers Today", "Rivers Today")


def test_full_and_short_names_of_a_journal() -> None:
    found = typed("JOUR", "JO  - Riv. Tod.", "JF  - Rivers Today", "T2  - Rivers Today")
    assert (found.venue, detail(found, "shortjournal")) == ("Rivers Today", "Riv. Tod.")


@pytest.mark.parametrize(
    ("code", "lines", "venue", "details"),
    [
        ("CONF", ["T2  - Conf. on Water", "C3  - Proc. of Water"], "Proc. of Water",
         {"booktitle": "Proc. of Water", "eventtitle": "Conf. on Water"}),
        ("CPAPER", ["T2  - Conf. on Water"], "Conf. on Water", {"booktitle": "Conf. on Water"}),
        ("CHAP", ["T2  - A Book", "T3  - A Series"], "A Book", {"booktitle": "A Book", "series": "A Series"}),
        ("BOOK", ["T2  - A Series", "PB  - Press"], "", {"series": "A Series", "publisher": "Press"}),
        ("THES", ["T2  - Dept.", "PB  - Uni"], "", {"department": "Dept.", "institution": "Uni"}),
        ("RPRT", ["PB  - Agency", "M1  - 42"], "", {"institution": "Agency", "number": "42"}),
    ],
)  # fmt: skip
def test_where_it_appeared_by_type(code: str, lines: list[str], venue: str, details: dict[str, str]) -> None:
    found = typed(code, *lines)
    assert found.venue == venue
    assert dict(found.details).items() >= details.items()


def test_affiliations_of_web_of_science_are_no_proceedings() -> None:
    found = typed("CPAPER", "T2  - Proc. of Water", "C3  - University of A", "AN  - WOS:1")
    assert (found.venue, detail(found, "ris-c3")) == ("Proc. of Water", "University of A")


def test_a_further_name_of_the_journal_is_kept() -> None:
    found = typed("JOUR", "JF  - Rivers Today", "T2  - Special issue on flow", "JA  - Riv.")
    assert (found.venue, detail(found, "ris-t2"), detail(found, "ris-ja")) == (
        "Rivers Today",
        "Special issue on flow",
        "",
    )


@pytest.mark.parametrize(
    ("lines", "pages"),
    [
        (["SP  - 97", "EP  - 105"], "97-105"),
        (["EP  - 105", "SP  - 97"], "97-105"),
        (["SP  - 349-69"], "349-69"),
        (["SP  - 034708"], "034708"),
        (["SP  - 1375339", "EP  - 1375339"], "1375339"),
        (["SP  - No", "EP  - Specified"], ""),
        (["SP  - xii", "EP  - xx"], "xii-xx"),
        (["EP  - 423"], ""),
    ],
)
def test_pages(lines: list[str], pages: str) -> None:
    assert detail(typed("JOUR", *lines), "pages") == pages


def test_details_of_an_article() -> None:
    found = typed(
        "JOUR", "VL  - 6", "IS  - 3", "SN  - 1234-567X (Print)", "SN  - 1234567X", "PB  - Press", "CY  - Bern",
        "LA  - en", "ET  - 2", "C7  - e12", "AD  - Uni A", "AD  - Uni B", "JP  - CRISPR", "JP  - Direct", "DB  - Base",
    )  # fmt: skip
    assert dict(found.details) == {
        "volume": "6", "number": "3", "issn": "1234-567X", "publisher": "Press", "address": "Bern", "language": "en",
        "edition": "2", "eid": "e12", "affiliation": "Uni A; Uni B", "ris-jp": "CRISPR; Direct", "ris-db": "Base",
    }  # fmt: skip


def test_standard_numbers() -> None:
    assert detail(typed("BOOK", "SN  - 978-3-030-58167-1"), "isbn") == "978-3-030-58167-1"
    assert detail(typed("BOOK", "SN  - 0-306-40615-2 1895-5770"), "isbn") == "0-306-40615-2"
    assert detail(typed("JOUR", "SN  - 1895-5770 1895-5770"), "issn") == "1895-5770"
    assert detail(typed("JOUR", "SN  - 18602002", "SN  - 15361632"), "issn") == "18602002, 15361632"
    assert detail(typed("RPRT", "SN  - TR-12"), "number") == "TR-12"


@pytest.mark.parametrize(
    "line",
    [
        "DO  - 10.1063/1.4814070", "DO  - doi:10.1063/1.4814070", "DO  - http://dx.doi.org/10.1063/1.4814070",
        "DI  - 10.1063/1.4814070", "M3  - doi: 10.1063/1.4814070", "N1  - doi: 10.1063/1.4814070",
        "UR  - https://doi.org/10.1063/1.4814070", "L2  - http://dx.doi.org/10.1063%2F1.4814070",
        "L1  - https://onlinelibrary.wiley.com/doi/10.1063/1.4814070/pdf", "M1  - 10.1063/1.4814070",
    ],
)  # fmt: skip
def test_a_doi_wherever_it_stands(line: str) -> None:
    found = typed("JOUR", line)
    assert found.identifiers == (identifier("10.1063/1.4814070"),)
    assert "note" not in dict(found.details)
    assert "type" not in dict(found.details)


def test_other_identifiers() -> None:
    def ids(*lines: str) -> list[str]:
        return list(map(str, typed("JOUR", *lines).identifiers))

    assert ids("AN  - 21553931", "DP  - NLM") == ["pmid:21553931"]
    assert ids("AN  - 21553931", "DB  - PsycINFO") == []
    assert ids("L2  - http://www.ncbi.nlm.nih.gov/pubmed/22752652") == ["pmid:22752652"]
    assert ids("UR  - https://arxiv.org/abs/1706.03762v5") == ["arxiv:1706.03762"]
    assert ids("M1  - arXiv:1706.03762") == ["arxiv:1706.03762"]
    assert ids("M1  - 1706.03762") == []
    assert ids("C2  - 31627144", "DB  - Scopus") == ["pmid:31627144"]
    assert ids("C2  - 31627144") == []
    assert ids("N1  - As 10.1000/other showed") == []


def test_the_doi_of_a_publishers_page_is_not_believed_where_another_is_known() -> None:
    found = typed("JOUR", "DO  - 10.1000/own", "L1  - https://link.springer.com/content/pdf/10.1000/own/supplement-3")
    assert found.identifiers == (identifier("10.1000/own"),)


def test_links() -> None:
    found = typed(
        "JOUR",
        "UR  - //a.org/x; http://b.org/y",
        "L1  - https://c.org/z",
        "L2  - https://github.com/a/b",
        "L1  - internal-pdf://1.pdf",
    )
    assert [(link.kind, link.url) for link in found.links] == [
        (LinkKind.PAGE, "https://a.org/x"), (LinkKind.PAGE, "http://b.org/y"), (LinkKind.PDF, "https://c.org/z"),
        (LinkKind.CODE, "https://github.com/a/b"),
    ]  # fmt: skip
    assert detail(found, "file") == "internal-pdf://1.pdf"


def test_f27_the_abstract_of_either_tag() -> None:
    assert typed("JOUR", "AB  - Water flows.").abstract == "Water flows."
    assert typed("JOUR", "N2  - Water flows.").abstract == "Water flows."
    assert typed("JOUR", "N2  - ", "AB  - Water flows.").abstract == "Water flows."
    assert typed("JOUR", "N2  - Water flows.", "AB  - Water flows. Slowly.").abstract == "Water flows. Slowly."
    both = typed("JOUR", "N2  - L'eau coule.", "AB  - Water flows slowly.")
    assert (both.abstract, detail(both, "note")) == ("Water flows slowly.", "L'eau coule.")


def test_f27_merging_files_with_either_tag_loses_no_abstract(tmp_path: Path) -> None:
    def file(name: str, tag: str, numbers: range) -> Iterator[Entry]:
        made = (
            f"TY  - JOUR\nTI  - The very slow river number {i}\nAU  - Hand, Ana\nPY  - 2001\n"
            f"{tag}  - Water of river {i} flows.\nER  - \n"
            for i in numbers
        )
        return ris.read(name, "".join(made).encode(), LIMITS)

    read = [*file("a.ris", "AB", range(6)), *file("b.ris", "N2", range(3, 10))]
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        summary = import_items(store, [Item(i, i, None, entry) for i, entry in enumerate(read)], now=lambda: NOW)
        papers = list(store.iterate_papers())
    assert (summary.read, summary.new, summary.refused) == (13, 13, 0)
    assert (summary.merged, len(papers)) == (3, 10)
    assert all(paper.abstract for paper in papers)


def test_keywords() -> None:
    assert typed("JOUR", "KW  - *rivers", "KW  - lakes", "KW  - rivers").keywords == ("rivers", "lakes")
    assert typed("JOUR", "KW  - rivers; lakes;").keywords == ("rivers", "lakes")
    assert typed("JOUR", "KW  - rivers", "slow lakes", "Water/analysis").keywords == (
        "rivers",
        "slow lakes",
        "Water/analysis",
    )


def test_f19_keywords_one_character_a_line() -> None:
    assert typed("JOUR", *one_character_a_line("['rivers','lakes']", "KW")).keywords == ("rivers", "lakes")
    assert typed("JOUR", "KW  - 1", "KW  - 2", "KW  - C", "KW  - 4").keywords == ("1", "2", "C", "4")


def test_notes() -> None:
    found = typed("JOUR", "N1  - first", "* second", "N1  - ASReview_relevant", "N1  - Cited By :9")
    assert detail(found, "note") == "first\n* second\nASReview_relevant\nCited By :9"
    assert found.counts == (("citations", 9),)


def test_lists_of_references() -> None:
    found = typed(
        "JOUR", "N1  - References: Hand (1999), 10.1000/one;", "Foot (2000) doi: 10.1000/two", "DO  - 10.1000/own"
    )
    assert found.references == (identifier("10.1000/one"), identifier("10.1000/two"))
    assert "note" not in dict(found.details)
    found = typed("JOUR", *(f"M1  - Hand, A. ({year}). http://dx.doi.org/10.1000/{year}" for year in range(1990, 1995)))
    assert len(found.references) == 5
    assert "ris-m1" not in dict(found.details)
    found = typed("JOUR", "M1  - with 10.1000/other")
    assert (found.references, detail(found, "ris-m1")) == ((), "with 10.1000/other")
    found = typed("JOUR", "M1  - (Hand) Uni A", "M1  - (Foot) Uni B", "M1  - (Knee) Uni C")
    assert detail(found, "ris-m1") == "(Hand) Uni A; (Foot) Uni B; (Knee) Uni C"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("M3  - Retracted Publication", NoticeKind.RETRACTED),
        ("N1  - Retracted: the data are wrong", NoticeKind.RETRACTED),
        ("N1  - <p>Retracted article</p>", NoticeKind.RETRACTED),
        ("N1  - Retraction in: Rivers. 2003;5:1", NoticeKind.RETRACTED),
        ("N1  - Withdrawn by the authors", NoticeKind.WITHDRAWN),
        ("N1  - Expression of concern in: Rivers 2003", NoticeKind.CONCERN),
        ("N1  - Retracted papers are counted here", None),
        ("M3  - Retraction of Publication", None),
        ("N1  - Retraction of: Hand 1999", None),
    ],
)
def test_notices(line: str, kind: NoticeKind | None) -> None:
    assert [notice.kind for notice in typed("JOUR", line).notices] == ([kind] if kind else [])


def test_a_retraction_in_the_title() -> None:
    found = one("TY  - JOUR\nTI  - RETRACTED ARTICLE: On rivers\nER  - ")
    assert (found.title, [notice.kind for notice in found.notices]) == ("On rivers", [NoticeKind.RETRACTED])


def test_an_abstract_alone_is_a_paper() -> None:
    found = one("TY  - GEN\nN2  - Water flows. It is slow.\nER  -")
    assert (found.title, found.title_derived) == ("Water flows", True)


# --- keys -------------------------------------------------------------------------------------------------------------


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


# --- many -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_f28_thirty_thousand_entries_with_numbers_as_ids(tmp_path: Path) -> None:
    from tests.libraries import word

    made = (
        f"TY  - JOUR\nID  - {i}\nTI  - The slow river {word(i)} and its boats\nAU  - {word(i).title()}, Ana\n"
        "PY  - 2001\nER  - \n\n"
        for i in range(30_000)
    )
    read = ris.read("many.ris", "".join(made).encode(), LIMITS)
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        summary = import_items(store, (Item(i, i, None, entry) for i, entry in enumerate(read)), now=lambda: NOW)
    assert (summary.read, summary.new, summary.merged, summary.refused) == (30_000, 30_000, 0, 0)


def test_papers_of_real_files_can_be_derived() -> None:
    for name in RIS_FILES:
        for entry in entries(shared("data", "bib_fixtures", name).read_bytes(), name):
            if isinstance(entry, Record):
                paper = derive(1, [entry])
                assert paper.title
                assert len(paper.authors) == len(dict.fromkeys(paper.authors)) or len(entry.authors) >= len(
                    paper.authors
                )


@pytest.mark.timeout(20)
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


@pytest.mark.timeout(20)
def test_no_beginning_takes_long() -> None:
    for head in (b"\n" * 65536, b" " * 65536, b"TY" * 32768, b"<1>\n" * 16384, b"<xml>" + b" " * 65536, b"%0 " * 20000):
        for form in FORMATS:
            form.sniff(head, "x")
