"""The ACL Anthology's XML, fetched or from a file. Papers and people are invented, but for the shared real files."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Link, LinkKind, Notice, NoticeKind, Record, Refusal, SourceState, Version
from broadsheet.sources.acl import AclAnthology, read, sniff
from broadsheet.sources.base import Limits, Page
from broadsheet.text import clean
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier
from tests.shared import shared

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LIMITS = Limits(max_entry_bytes=100_000, max_authors=100)
HOST, PATH = "raw.githubusercontent.com", "/acl-org/acl-anthology/master/data/xml/2025.acl.xml"
META = """<booktitle>Proceedings of the Meeting on <fixed-case>L</fixed-case>amps</booktitle>
<editor><first>Ed</first><last>Itor</last></editor><editor><first>Di</first><last>Rector</last></editor>
<publisher>Lamp Press</publisher><address>Fogtown</address><month>July</month><year>2025</year>
<isbn>979-8-00000-000-0</isbn><url hash="0">2025.acl-long</url><venue>acl</venue>"""
AUTHOR = "<author><first>Ada</first><last>Quill</last></author>"
ABSTRACT = "<abstract>We see <tex-math>\\alpha</tex-math> less.</abstract>"


def collection(*papers: str, meta: str = META, volume: str = "long", name: str = "2025.acl", kind: str = "") -> bytes:
    front = '<frontmatter><url hash="1">2025.acl-long.0</url><bibkey>acl-2025-lamps</bibkey></frontmatter>'
    inner = f'<volume id="{volume}"{kind} ingest-date="2025-07-20"><meta>{meta}</meta>{front}{"".join(papers)}</volume>'
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<collection id=\"{name}\">{inner}</collection>".encode()


def paper(rest: str = AUTHOR, title: str = "Lamps", number: str = "7") -> str:
    return f'\n<paper id="{number}"><title>{title}</title>{rest}</paper>'


def entries(data: bytes, limits: Limits = LIMITS) -> list[Record | Refusal]:
    return list(read("2025.acl.xml", data, limits))


def only(data: bytes) -> Record:
    (entry,) = entries(data)
    assert isinstance(entry, Record), entry
    return entry


def test_every_field_has_its_place() -> None:
    rest = f"""{AUTHOR}<author id="bo-reed"><first/><last>Bo</last><affiliation>Fog House</affiliation></author>
    {ABSTRACT}<pages>11–19</pages><url hash="2">2025.acl-long.7</url><doi>10.18653/v1/2025.acl-long.7</doi>
    <bibkey>quill-bo-2025-lamps</bibkey><language>fra</language><award>Best Lamp</award>
    <pwccode url="https://github.com/quill/lamps">lamps</pwccode>"""
    record = only(collection(paper(rest, title="<fixed-case>L</fixed-case>amps in\n   <i>Fog</i> &amp; Rain")))
    assert (record.source, record.key) == ("acl", "2025.acl-long.7")
    assert record.identifiers == (identifier("acl:2025.acl-long.7"), identifier("doi:10.18653/v1/2025.acl-long.7"))
    assert record.title == "Lamps in <i>Fog</i> &amp; Rain"
    assert clean(record.title) == "Lamps in *Fog* & Rain"
    assert record.abstract == "We see $\\alpha$ less."
    assert (record.authors, record.authors_truncated) == (("Ada Quill", "Bo"), False)
    assert (record.venue, record.year, record.status, record.kind) == ("acl", 2025, "Long", "inproceedings")
    assert (record.published, record.month_only, record.listed) == (date(2025, 7, 1), True, None)
    assert record.links == (
        Link(LinkKind.PAGE, "https://aclanthology.org/2025.acl-long.7/"),
        Link(LinkKind.PDF, "https://aclanthology.org/2025.acl-long.7.pdf"),
        Link(LinkKind.CODE, "https://github.com/quill/lamps"),
    )
    assert record.details == (
        ("booktitle", "Proceedings of the Meeting on Lamps"),
        ("pages", "11–19"),
        ("editor", "Itor, Ed and Rector, Di"),
        ("publisher", "Lamp Press"),
        ("address", "Fogtown"),
        ("month", "July"),
        ("isbn", "979-8-00000-000-0"),
        ("language", "fra"),
        ("award", "Best Lamp"),
        ("citekey", "quill-bo-2025-lamps"),
    )
    assert record.raw.startswith('<paper id="7"><title><fixed-case>L</fixed-case>amps')
    assert record.raw.endswith("</paper>")


@pytest.mark.parametrize(
    ("markup", "text", "shown"),
    [
        ("a &lt; b", "a &lt; b", "a < b"),
        ("R&amp;D", "R&D", "R&D"),
        ("<b>bold &lt;tag&gt;</b>", "<b>bold &lt;tag&gt;</b>", None),
        ("<tex-math>a &lt; b</tex-math>", "$a &lt; b$", "$a < b$"),
        ("see <url>https://lamps.example.org</url> now", "see https://lamps.example.org now", None),
        ("<fixed-case>GPT</fixed-case>s", "GPTs", "GPTs"),
        ("a<!-- hidden -->b", "ab", "ab"),
    ],
)
def test_markup(markup: str, text: str, shown: str | None) -> None:
    record = only(collection(paper(title=markup)))
    assert record.title == text
    assert shown is None or clean(record.title) == shown


def test_family_names_that_cannot_be_told_stay_in_the_details() -> None:
    rest = "<author><first>Gabriel</first><last>García Lamp</last></author>" + AUTHOR
    record = only(collection(paper(rest)))
    assert record.authors == ("Gabriel García Lamp", "Ada Quill")
    assert dict(record.details)["author"] == "García Lamp, Gabriel and Quill, Ada"
    assert "author" not in dict(only(collection(paper())).details)


def test_a_name_in_another_script_is_no_second_author() -> None:
    variant = '<variant script="hani"><first>大</first><last>奎</last></variant>'
    assert only(collection(paper(AUTHOR.replace("</author>", f"{variant}</author>")))).authors == ("Ada Quill",)


def test_a_long_list_of_authors_is_kept_whole() -> None:  # E11
    rest = "".join(f"<author><first>A{i}</first><last>Lamp{i}</last></author>" for i in range(60))
    record = only(collection(paper(rest)))
    assert (len(record.authors), record.authors_truncated) == (60, False)
    assert record.authors[-1] == "A59 Lamp59"


def test_a_list_that_the_source_cut_says_so() -> None:
    record = only(collection(paper(AUTHOR + "<author><first/><last>et al.</last></author>")))
    assert (record.authors, record.authors_truncated) == (("Ada Quill",), True)


@pytest.mark.parametrize(
    ("element", "notice"),
    [
        (
            '<retracted date="2022-05-06">Lamps were <i>off</i>.</retracted>',
            (NoticeKind.RETRACTED, "Lamps were <i>off</i>."),
        ),
        ('<removed date="2022-05-06">Copied.</removed>', (NoticeKind.WITHDRAWN, "Copied.")),
    ],
)
def test_a_retraction_is_a_notice(element: str, notice: tuple[NoticeKind, str]) -> None:
    record = only(collection(paper(AUTHOR + element)))
    assert record.notices == (Notice(*notice, date(2022, 5, 6)),)
    assert record.title == "Lamps"


def test_a_retraction_without_day_or_reason() -> None:
    assert only(collection(paper(AUTHOR + "<retracted/>"))).notices == (Notice(NoticeKind.RETRACTED),)


def test_revisions_are_versions_and_errata_are_named() -> None:
    rest = """<revision id="1" href="2025.acl-long.7v1" hash="a"/><revision id="x"/>
    <revision id="2" href="2025.acl-long.7v2" date="2025-10-03">Some reason</revision>
    <erratum id="1" hash="b" date="2025-09-20">2025.acl-long.7e1</erratum>"""
    record = only(collection(paper(AUTHOR + rest)))
    assert record.versions == (Version(1), Version(2, date(2025, 10, 3)))
    assert dict(record.details)["erratum"] == "https://aclanthology.org/2025.acl-long.7e1.pdf"


def test_a_journal() -> None:
    meta = """<booktitle>Computational Lamps, Volume 15, Number 2</booktitle><month>June</month><year>1989</year>
    <journal-title>Computational Lamps</journal-title><journal-volume>15</journal-volume>
    <journal-issue>2</journal-issue>"""
    record = only(collection(paper(), meta=meta, volume="2", name="J89", kind=' type="journal"'))
    assert (record.key, record.kind, record.venue, record.year) == ("J89-2007", "article", "cl", 1989)
    assert record.details[:3] == (("journal", "Computational Lamps"), ("volume", "15"), ("number", "2"))


@pytest.mark.parametrize(
    ("name", "volume", "number", "acl_id", "venue"),
    [
        ("2020.alvr", "1", "4", "2020.alvr-1.4", "alvr"),
        ("2023.findings", "emnlp", "12", "2023.findings-emnlp.12", "findings"),
        ("P18", "1", "7", "P18-1007", "acl"),
        ("W18", "63", "19", "W18-6319", ""),
        ("W18", "6", "9", "W18-0609", ""),
        ("D19", "1", "7", "D19-1007", "emnlp"),
        ("D19", "50", "7", "D19-5007", "emnlp"),
    ],
)
def test_ids_are_put_together_where_no_address_tells_them(
    name: str, volume: str, number: str, acl_id: str, venue: str
) -> None:
    meta = "<booktitle>B</booktitle><year>2018</year>"
    record = only(collection(paper(number=number), meta=meta, volume=volume, name=name))
    assert (record.key, record.venue) == (acl_id, venue)
    assert record.identifiers == (identifier(f"acl:{acl_id}"),)
    assert record.status == ("Findings" if venue == "findings" else "")


def test_files_of_before_2019() -> None:
    papers = "".join(f'<paper id="{i}"><title>Lamps</title></paper>' for i in (1000, 1001, 2000, 2001))
    data = f'<volume id="P17">{papers}</volume>'.encode()
    assert [entry.key for entry in entries(data) if isinstance(entry, Record)] == ["P17-1001", "P17-2001"]
    assert sniff(data, "P17.xml")


def test_the_pdf_may_lie_elsewhere_or_nowhere() -> None:
    elsewhere = only(collection(paper(AUTHOR + "<url>http://www.lamps.example.org/old.pdf</url>")))
    assert elsewhere.links[1] == Link(LinkKind.PDF, "http://www.lamps.example.org/old.pdf")
    assert elsewhere.key == "2025.acl-long.7"
    assert [link.kind for link in only(collection(paper())).links] == [LinkKind.PAGE]
    assert (
        only(collection(paper(AUTHOR + '<pdf hash="3"/>'))).links[1].url
        == "https://aclanthology.org/2025.acl-long.7.pdf"
    )


def test_front_matter_is_no_paper() -> None:
    assert entries(collection(paper(number="0"))) == []


def test_a_bad_entry_is_refused_with_its_line_and_the_others_are_kept() -> None:
    many = "".join(f"<author><last>L{i}</last></author>" for i in range(101))
    long = f"<abstract>{'x' * 100_000}</abstract>"
    data = collection(paper(title=""), paper(many, number="8"), paper(long, number="9"), paper(number="10"))
    found = entries(data)
    assert [entry.key for entry in found if isinstance(entry, Record)] == ["2025.acl-long.10"]
    first = data[: data.index(b'<paper id="7"')].count(b"\n") + 1
    assert [(entry.line, entry.reason[:25]) for entry in found if isinstance(entry, Refusal)] == [
        (first, "paper 7: title: missing"),
        (first + 1, "paper 8: authors: 101 nam"),
        (first + 2, "paper 9: 100063 bytes, mo"),
    ]


def test_a_paper_that_is_not_well_formed_costs_no_other() -> None:
    data = collection(paper(number="1"), paper(title="Lamps & <fixed-case>Fog", number="2"), paper(number="3"))
    found = entries(data)
    assert [entry.key for entry in found if isinstance(entry, Record)] == ["2025.acl-long.1", "2025.acl-long.3"]
    (refusal,) = (entry for entry in found if isinstance(entry, Refusal))
    assert refusal.reason.startswith("paper 2: not well-formed XML")


def test_a_broken_file_keeps_what_its_volumes_say() -> None:
    broken = collection(paper(), paper(title="D&D", number="8"), meta=META)
    (good, bad) = entries(broken)
    assert [good] == entries(collection(paper()))
    assert isinstance(bad, Refusal)
    assert bad.line == broken[: broken.index(b'<paper id="8"')].count(b"\n") + 1
    old = (
        b'<volume id="P17"><paper id="1001"><title>Lamps</title></paper>\n<paper id="1002"><title>A & B</title></paper>'
    )
    assert [getattr(entry, "key", "") for entry in entries(old)] == ["P17-1001", ""]


def test_a_file_cut_off_is_read_as_far_as_it_goes() -> None:
    whole = collection(*(paper(AUTHOR + ABSTRACT, number=str(i)) for i in range(1, 6)))
    found = entries(whole[: whole.index(b'<paper id="4"') + 60])
    assert [entry.key for entry in found if isinstance(entry, Record)] == [f"2025.acl-long.{i}" for i in (1, 2, 3)]
    assert isinstance(found[-1], Refusal)


@pytest.mark.parametrize("data", [b"", b"not XML", b"<html><body>x</body></html>", b"\0\0", b"<collection/>"])
def test_what_is_no_collection_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InputError, match=r"2025\.acl\.xml"):
        entries(data)


def test_entities_of_a_document_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE c [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    data = bomb + collection(paper(title="x &b; &f; y")).split(b"\n", 1)[1]
    (entry,) = entries(data)
    assert isinstance(entry, Record)
    assert "aaaa" not in entry.title + entry.raw
    assert entry.title.startswith("x ")


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (collection(paper()), True),
        (b'<collection xmlns="http://www.loc.gov/MARC21/slim"><record>', False),
        (b"<html><volume id='P18'>", True),
        (b'<xml><records><record><volume id="3">', False),
        (b"TY  - JOUR", False),
    ],
)
def test_sniff(head: bytes, known: bool) -> None:
    assert sniff(head, "x.xml") is known


def test_of() -> None:
    assert AclAnthology.of("2025.acl").name == "acl:2025.acl"
    assert AclAnthology.of("P18.xml").name == "acl:P18"
    for rest in ("", "acl", "../secret", "2025.acl-long"):
        with pytest.raises(SettingsError, match=r"acl:2025\.acl"):
            AclAnthology.of(rest)


def test_the_file_is_fetched_and_asked_for_again_only_if_it_changed(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(collection(paper()), headers={"ETag": '"one"'}), Answer(status=304))
    source = AclAnthology.of("2025.acl")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert [entry.key for entry in source.parse(page) if isinstance(entry, Record)] == ["2025.acl-long.7"]
    (again,) = source.fetch(fakeweb.client(), page.cursor, NOW)
    assert (again.state, list(source.parse(again)), again.cursor) == (SourceState.QUIET, [], page.cursor)
    assert fakeweb.requests[-1].headers["if-none-match"] == '"one"'


def test_a_fetched_page_gives_the_same_records_as_a_file() -> None:
    data = collection(paper(AUTHOR + ABSTRACT))
    assert list(AclAnthology.of("2025.acl").parse(Page("u", data, ""))) == entries(data)


def test_a_collection_that_is_not_there_names_the_remedy(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer("404", 404))
    with pytest.raises(FetchError, match=r"acl:2025\.acl: there is no such collection; all are at") as caught:
        list(AclAnthology.of("2025.acl").fetch(fakeweb.client(), "", NOW))
    assert caught.value.status == 404


@pytest.mark.parametrize(
    ("name", "papers", "abstracts"), [("2020.alvr", 5, 5), ("2020.nuse", 15, 15), ("2020.sltu", 52, 52)]
)
def test_real_files(name: str, papers: int, abstracts: int) -> None:
    data = gzip.decompress(shared("data", "acl_anthology", "raw_xml", f"{name}.xml.gz").read_bytes())
    found = [entry for entry in entries(data) if isinstance(entry, Record)]
    assert len(found) == len(entries(data)) == papers
    assert sum(bool(record.abstract) for record in found) == abstracts
    assert sum(len(record.authors) for record in found) == data.count(b"<author>")
    assert all(record.authors and record.identifiers and dict(record.details)["pages"] for record in found)
    assert sum("$" in record.abstract for record in found) >= (b"<tex-math>" in data)
    assert sniff(data[:65536], name)


def test_real_papers_are_as_another_reader_of_the_files_has_them() -> None:
    others = {}
    with gzip.open(
        shared("data", "acl_anthology", "acl_anthology_abstracts.jsonl.gz"), "rt", encoding="utf-8"
    ) as lines:
        for line in lines:
            if '"2020.' in line[:20] and any(name in line[:40] for name in ("alvr", "nuse", "sltu")):
                entry = json.loads(line)
                others[entry["id"]] = entry
    checked = 0
    for name in ("2020.alvr", "2020.nuse", "2020.sltu"):
        data = gzip.decompress(shared("data", "acl_anthology", "raw_xml", f"{name}.xml.gz").read_bytes())
        for record in entries(data):
            assert isinstance(record, Record)
            if other := others.get(record.key):
                checked += 1
                assert list(record.authors) == other["authors"]
                assert record.year == other["year"]
                assert clean(record.title).replace("*", "") == " ".join(clean(other["title"]).split())
    assert checked >= 60
