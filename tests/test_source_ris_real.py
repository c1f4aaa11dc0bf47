"""Every real file of reference managers, as a whole, and many entries at once."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
import rispy  # type: ignore[import-untyped]

from broadsheet.ingest import derive, import_items
from broadsheet.model import LinkKind, Record, Refusal
from broadsheet.sources import endnote, isi, nbib, ovid, pubmed_xml, ris
from broadsheet.sources.base import Item
from broadsheet.store import open_store
from broadsheet.text import title_fingerprint
from tests.makers import NOW
from tests.refs import LIMITS, detail, entries
from tests.shared import shared

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


@pytest.mark.usefixtures("at_once")
def test_no_beginning_takes_long() -> None:
    for head in (b"\n" * 65536, b" " * 65536, b"TY" * 32768, b"<1>\n" * 16384, b"<xml>" + b" " * 65536, b"%0 " * 20000):
        for form in FORMATS:
            form.sniff(head, "x")
