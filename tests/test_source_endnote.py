"""EndNote's tagged format and XML, Web of Science's and Ovid's exports."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.ingest import derive
from broadsheet.model import LinkKind, NoticeKind, Record, Refusal
from broadsheet.sources import endnote, isi, ovid, pubmed_xml, ris
from broadsheet.sources.base import Entry, Limits
from tests.makers import identifier
from tests.shared import shared

LIMITS = Limits(1_000_000, 10_000)


def detail(record: Record, name: str) -> str:
    return dict(record.details).get(name, "")


def titles(entries: list[Entry]) -> list[str]:
    return [entry.title for entry in entries if isinstance(entry, Record)]


def enw(*lines: str) -> Record:
    found = list(endnote.read("file.enw", "\n".join(lines).encode(), LIMITS))
    assert len(found) == 1
    assert isinstance(found[0], Record), found[0]
    return found[0]


# --- EndNote's tags


def test_an_article_in_endnotes_tags() -> None:
    found = enw(
        "%0 Journal Article", "%A Hand, Ana M.", "%A Foot, Bo", "%T On rivers", "%J Rivers Today", "%V 6", "%N 3",
        "%P 97-105", "%D 2001", "%8 September 14", "%X Water flows.", "It is slow.", "%K rivers", "slow lakes",
        "%U https://example.org/x", "%R 10.1000/x", "%@ 1234-5679", "%M WOS:1", "%Z a note", "%! Rivers", "%> file.pdf",
    )  # fmt: skip
    assert (found.source, found.key, found.kind) == ("endnote:file", "WOS:1", "article")
    assert (found.title, found.authors) == ("On rivers", ("Hand, Ana M.", "Foot, Bo"))
    assert (found.venue, found.year, found.published) == ("Rivers Today", 2001, date(2001, 9, 14))
    assert found.abstract == "Water flows. It is slow."
    assert found.keywords == ("rivers", "slow lakes")
    assert found.identifiers == (identifier("10.1000/x"),)
    assert dict(found.details).items() >= {
        "volume": "6", "number": "3", "pages": "97-105", "issn": "1234-5679", "note": "a note", "shorttitle": "Rivers",
        "file": "file.pdf",
    }.items()  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Journal Article", "article"), ("Conference Proceedings", "inproceedings"),
        ("Conference Paper", "inproceedings"), ("Book", "book"),
        ("Book Section", "incollection"), ("Thesis", "thesis"), ("Report", "report"),
        ("Web Page", "online"), ("Computer Program", "software"), ("Generic", "misc"), ("Edited Book", "collection"),
    ],
)  # fmt: skip
def test_kinds_by_endnotes_names(name: str, kind: str) -> None:
    assert enw(f"%0 {name}", "%T On rivers").kind == kind


def test_a_paper_in_proceedings() -> None:
    found = enw(
        "%0 Conference Proceedings",
        "%A Hand, A.",
        "%T On rivers",
        "%B Proc. of Water",
        "%E Foot, B.",
        "%I Press",
        "%C Bern",
    )
    assert (found.venue, detail(found, "editor"), detail(found, "publisher")) == ("Proc. of Water", "Foot, B.", "Press")


def test_entries_of_endnote_and_their_lines() -> None:
    text = "\ufeff\r\n%0 Book\r\n%T On rivers\r\n%0 Book\r\n\r\n%0 Book\r\n%T On lakes\r\n"
    found = list(endnote.read("x.enw", text.encode(), LIMITS))
    assert titles(found) == ["On rivers", "On lakes"]
    assert [entry.line for entry in found if isinstance(entry, Refusal)] == [4]


def test_refer_without_types_is_parted_by_blank_lines() -> None:
    text = "%T On rivers\n%A Hand, A.\n%X Water.\n\nIt flows.\n\n%A Foot, B.\n%T On lakes\n"
    found = list(endnote.read("x.enw", text.encode(), LIMITS))
    assert titles(found) == ["On rivers", "On lakes"]
    assert isinstance(found[0], Record)
    assert found[0].abstract == "Water. It flows."


def test_f20_greek_in_a_ris_file_with_endnotes_tags() -> None:
    data = "\ufeff%0 Journal Article\r\n%A Θαλῆς\r\n%T Περὶ ὑδάτων\r\n".encode()
    assert not ris.sniff(data, "export.ris")
    assert endnote.sniff(data, "export.ris")
    (found,) = endnote.read("export.ris", data, LIMITS)
    assert isinstance(found, Record)
    assert (found.title, found.authors) == ("Περὶ ὑδάτων", ("Θαλῆς",))


def test_per_cent_signs_in_text_are_no_tags() -> None:
    found = enw("%0 Book", "%T On rivers", "%X Nearly", "%50 of all", "%A Hand, A.")
    assert (found.abstract, found.authors) == ("Nearly %50 of all", ("Hand, A.",))
    assert not endnote.sniff(b"% a comment\n%A comment\n\\title{x}\n", "x.tex")


# --- EndNote's XML


def xml_record(*parts: str) -> str:
    return f"<record>{''.join(parts)}</record>"


def xml(*records: str) -> bytes:
    return f"<xml><records>{''.join(records)}</records></xml>".encode()


def styled(text: str, face: str = "normal") -> str:
    return f'<style face="{face}" font="default" size="100%">{text}</style>'


def test_real_xml_of_endnote() -> None:
    name = "jabref__EndnoteXmlImporterTestArticle2.xml"
    first, second = endnote.read(name, shared("data", "bib_fixtures", name).read_bytes(), LIMITS)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert first.title == "An ecological basis for reforestation of submariginal lands in the Central Hardwood Region"
    assert (first.authors, first.venue, first.year, first.kind) == (("Chapman, A. G.",), "Ecology", 1937, "article")
    assert (first.published, first.month_only, detail(first, "pages")) == (date(1937, 1, 1), True, "93-105")
    assert (second.kind, second.key.startswith("13265#")) == ("book", True)


def test_fields_of_endnotes_xml() -> None:
    (found,) = endnote.read("x.xml", xml(xml_record(
        '<ref-type name="Conference Paper">47</ref-type>',
        f"<contributors><authors><author>{styled('Hand, Ana')}</author><author>{styled('Foot, Bo')}</author></authors>",
        f"</contributors><titles><title>{styled('On ')}{styled('slow', 'italic')}{styled(' rivers')}</title>",
        "<secondary-title>Proc.</secondary-title></titles>",
        f"<keywords><keyword>{styled('a')}</keyword><keyword>b</keyword></keywords><dates><year>2001</year></dates>",
        "<urls><related-urls><url>https://example.org/x</url></related-urls><pdf-urls><url>internal-pdf://1/x.pdf</url></pdf-urls></urls>",
        "<electronic-resource-num>10.1000/x</electronic-resource-num><abstract>Where a &lt; b.</abstract>",
    )), LIMITS)  # fmt: skip
    assert isinstance(found, Record)
    assert derive(1, [found]).title == "On *slow* rivers"
    assert derive(1, [found]).abstract == "Where a < b."
    assert (found.kind, found.venue, found.keywords, found.authors) == (
        "inproceedings",
        "Proc.",
        ("a", "b"),
        ("Hand, Ana", "Foot, Bo"),
    )
    assert found.identifiers == (identifier("10.1000/x"),)
    assert [link.kind for link in found.links] == [LinkKind.PAGE]
    assert detail(found, "file") == "internal-pdf://1/x.pdf"


def test_xml_of_endnote_that_breaks_off() -> None:
    data = xml(xml_record("<titles><title>On rivers</title></titles>"), "<record>")
    first, second = endnote.read("x.xml", data, LIMITS)
    assert titles([first]) == ["On rivers"]
    assert isinstance(second, Refusal)
    assert "not well-formed" in second.reason


def test_xml_of_others_is_not_endnotes() -> None:
    assert endnote.sniff(xml(xml_record()), "x.xml")
    for data in (b"<html><body/></html>", b"<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>", b"<rss/>"):
        assert not endnote.sniff(data, "x.xml")
    assert not pubmed_xml.sniff(xml(xml_record()), "x.xml")


# --- Web of Science


def wos(*lines: str, kind: str = "J") -> Record:
    text = "\n".join(
        ["FN Clarivate Analytics Web of Science", "VR 1.0", f"PT {kind}", "TI On rivers", *lines, "ER", "", "EF"]
    )
    found = list(isi.read("savedrecs.txt", text.encode(), LIMITS))
    assert len(found) == 1
    assert isinstance(found[0], Record), found[0]
    return found[0]


def test_real_exports_of_web_of_science() -> None:
    name = "rispy__example_wos.ris"
    first, _ = isi.read(name, shared("data", "bib_fixtures", name).read_bytes(), LIMITS)
    assert isinstance(first, Record)
    assert (first.source, first.key) == ("isi:rispy__example_wos", "WOS:000221807500019")
    assert first.title.startswith("Interactions stabilizing the structure of the core light-harvesting complex")
    assert first.authors == ("Parkes-Loach, PS", "Majeed, AP", "Law, CJ", "Loach, PA")
    assert first.identifiers == (identifier("10.1021/bi049798f"), identifier("pmid:15170338"))
    assert (first.venue, first.published, first.counts) == ("BIOCHEMISTRY", date(2004, 6, 8), (("citations", 23),))
    assert identifier("10.1073/pnas.83.22.8589") in first.references
    assert "CRYSTAL-STRUCTURE" in first.keywords


def test_full_names_come_first() -> None:
    found = wos("AU Hand, AM", "   Foot, B", "AF Hand, Ana Maria", "   Foot, Bo", "CA River Group")
    assert found.authors == ("Hand, Ana Maria", "Foot, Bo", "River Group")
    assert wos("AU Hand, AM", "   Foot, B", "AF Hand, Ana Maria").authors == ("Hand, AM", "Foot, B")


@pytest.mark.parametrize(
    ("kind", "lines", "expected"),
    [
        ("J", ["SO RIVERS", "DT Article"], "article"),
        ("J", ["SO RIVERS", "DT Article; Proceedings Paper"], "article"),
        ("J", ["SO RIVERS", "DT Proceedings Paper", "BN 978-3-030-58167-1"], "inproceedings"),
        ("C", ["SO PROC", "DT Proceedings Paper"], "inproceedings"),
        ("B", ["SO ALL RIVERS"], "incollection"),
        ("B", [], "book"),
        ("P", [], "patent"),
    ],
)
def test_kinds_of_web_of_science(kind: str, lines: list[str], expected: str) -> None:
    assert wos(*lines, kind=kind).kind == expected


def test_fields_of_web_of_science() -> None:
    found = wos(
        "SO RIVERS", "JI Riv.", "PY 2020", "PD JAN-FEB", "EA DEC 2019", "VL 6", "IS 3", "BP 97", "EP 105",
        "DI 10.1000/x", "PM 123", "DE slow flow; water", "ID LAKES", "DT Retracted Publication", "SN 1234-5679",
        "C1 Uni A.", "   Uni B.", "WC Ecology", "CT Conf. on Water", "NR 2",
    )  # fmt: skip
    assert (found.year, found.published, found.month_only) == (2020, date(2019, 12, 1), True)
    assert found.keywords == ("slow flow", "water", "LAKES")
    assert [notice.kind for notice in found.notices] == [NoticeKind.RETRACTED]
    assert dict(found.details).items() >= {
        "journal": "RIVERS", "shortjournal": "Riv.", "pages": "97-105", "volume": "6", "number": "3",
        "affiliation": "Uni A. Uni B.", "isi-wc": "Ecology", "eventtitle": "Conf. on Water", "isi-nr": "2",
    }.items()  # fmt: skip


def test_entries_of_web_of_science_and_their_lines() -> None:
    text = "PT J\nTI On rivers\nPT J\nSO X\nER\n\nPT J\nTI On\n   lakes\nER\nEF"
    found = list(isi.read("x.isi", text.encode(), LIMITS))
    assert titles(found) == ["On rivers", "On lakes"]
    assert [entry.line for entry in found if isinstance(entry, Refusal)] == [3]


# --- Ovid


def test_a_real_export_of_ovid() -> None:
    name = "jabref__OvidImporterTest1.txt"
    found = list(ovid.read(name, shared("data", "bib_fixtures", name).read_bytes(), LIMITS))
    assert titles(found) == ["Musterbuch", "Max the Editor", "Test", "Very Long Title", "Titel"]
    records = [entry for entry in found if isinstance(entry, Record)]
    assert records[0].authors == ("Mustermann", "Musterfrau")
    assert (records[0].year, records[0].published, detail(records[0], "pages")) == (2015, date(2015, 4, 1), "103-106")
    assert (records[1].authors, detail(records[1], "editor"), records[1].kind) == ((), "Max", "inproceedings")
    assert (records[2].kind, records[2].venue, detail(records[2], "number")) == ("incollection", "Very Long Title", "2")
    assert (records[3].kind, records[3].year, detail(records[3], "publisher")) == ("book", 2015, "Publisher")
    assert (records[4].year, detail(records[4], "address")) == (2014, "Test")


def test_a_citation_of_ovid() -> None:
    text = (
        "<1>\nUnique Identifier\n  21553931\nAuthors\n  Hand A.B.  Foot C.\nTitle\n  On\n  rivers.\nSource\n"
        "  A strange source\nDOI\n  10.1000/x\n<2>\nAuthors\n  Hand A.\n"
    )
    first, second = ovid.read("x.txt", text.encode(), LIMITS)
    assert isinstance(first, Record)
    assert (first.title, first.authors) == ("On rivers.", ("Hand, A.B.", "Foot, C."))
    assert (detail(first, "note"), first.identifiers) == ("A strange source", (identifier("10.1000/x"),))
    assert second == Refusal("x.txt", 13, "neither title nor abstract; a paper needs one of the two")


# --- all


@pytest.mark.parametrize("form", [endnote, isi, ovid])
@given(data=st.binary(max_size=300))
def test_no_bytes_are_a_crash(form: object, data: bytes) -> None:
    for start in (b"%0 Book\n%T ", b"<xml><records><record>", b"PT J\nTI ", b"<1>\nTitle\n  ", b""):
        assert list(form.read("x", start + data, LIMITS))  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", [endnote, isi, ovid])
def test_a_file_without_entries_is_refused(form: object) -> None:
    (found,) = form.read("x", b"words", LIMITS)  # type: ignore[attr-defined]
    assert isinstance(found, Refusal)
    assert found.reason.startswith("no entry found")
