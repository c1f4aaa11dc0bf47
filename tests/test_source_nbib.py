"""PubMed's tagged format and its XML: the same paper in both, and what is only in one of them."""

from __future__ import annotations

import gzip
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.ingest import derive
from broadsheet.model import Notice, NoticeKind, Record, Refusal
from broadsheet.sources import nbib, pubmed_xml
from broadsheet.sources.base import Entry, Limits
from broadsheet.text import to_plain
from tests.makers import identifier
from tests.shared import shared

LIMITS = Limits(1_000_000, 10_000)


def entries(text: str, limits: Limits = LIMITS) -> list[Entry]:
    return list(nbib.read("file.nbib", text.encode(), limits))


def one(*lines: str) -> Record:
    found = entries("\n".join(["PMID- 123", "TI  - On rivers.", *lines]))
    assert len(found) == 1
    assert isinstance(found[0], Record), found[0]
    return found[0]


def detail(record: Record, name: str) -> str:
    return dict(record.details).get(name, "")


def real(name: str) -> list[Entry]:
    return list(nbib.read(name, shared("data", "bib_fixtures", name).read_bytes(), LIMITS))


# --- the tagged format


def test_a_real_entry() -> None:
    (found,) = real("jabref__NbibImporterTest.nbib")
    assert isinstance(found, Record)
    assert (found.source, found.key) == ("nbib:jabref__NbibImporterTest", "pmid:27169098")
    assert found.identifiers == (identifier("10.4103/2277-9175.180636"), identifier("pmid:27169098"))
    assert found.authors == ("Shruthi, Basavaradhya Sahukar", "Vinodhkumar, Palani", "Selvamani", "corporater")
    assert (found.year, found.published, found.listed) == (2016, date(2016, 4, 19), date(2016, 5, 12))
    assert (found.venue, detail(found, "shortjournal")) == ("Advanced biomedical research", "Adv Biomed Res")
    assert found.keywords == ("Biomarkers", "electrophoresis", "neoplasia", "spectrometry", "translation")
    assert (detail(found, "pages"), detail(found, "volume"), detail(found, "issn")) == ("67", "5", "2277-9175")


def test_real_entries_that_are_damaged() -> None:
    first, second = real("jabref__MedlinePlainImporterStringOutOfBounds.txt")
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.key, first.title) == ("pmid:27433151", "This is a test title")
    assert second.title == "This is also a test title"
    many = real("jabref__MedlinePlainImporterTestMultipleEntries.txt")
    refused = [entry.line for entry in many if isinstance(entry, Refusal)]
    assert refused == [87, 91, 95, 99]
    assert [entry.title_derived for entry in many if isinstance(entry, Record)] == [False, True, False]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("TI  - On rivers.", "On rivers"),
        ("TI  - [Sur les fleuves].", "Sur les fleuves"),
        ("TI  - What is a river?", "What is a river?"),
        ("TI  - On rivers...", "On rivers..."),
        ("TI  - [Slow] and [fast].", "[Slow] and [fast]"),
        ("TI  - On\n      rivers.", "On rivers"),
        ("TI  - On\nrivers.", "On rivers"),
        ("TI- On rivers", "On rivers"),
        ("TI  - RETRACTED: On rivers.", "On rivers"),
    ],
)
def test_titles(line: str, title: str) -> None:
    (found,) = entries(f"PMID- 1\n{line}\n")
    assert isinstance(found, Record)
    assert found.title == title


@pytest.mark.parametrize(
    ("lines", "authors", "cut"),
    [
        (
            ["FAU - Hand, Ana Maria", "AU  - Hand AM", "FAU - Foot, Bo", "AU  - Foot B"],
            ("Hand, Ana Maria", "Foot, Bo"),
            False,
        ),
        (["AU  - Hand AM", "AU  - de Foot B Jr"], ("Hand, AM", "de Foot, B, Jr"), False),
        (["FAU - Hand, Ana", "AU  - Hand A", "AU  - Foot B"], ("Hand, Ana", "Foot, B"), False),
        (["FAU - Hand, Ana", "AU  - Hand A", "CN  - River Group"], ("Hand, Ana", "River Group"), False),
        (["AU  - Hand A", "AU  - et al."], ("Hand, A",), True),
        (["AU  - Plato"], ("Plato",), False),
    ],
)
def test_authors(lines: list[str], authors: tuple[str, ...], cut: bool) -> None:
    found = one(*lines)
    assert (found.authors, found.authors_truncated) == (authors, cut)


@pytest.mark.parametrize(
    ("lines", "year", "published", "month_only"),
    [
        (["DP  - 2016"], 2016, None, False),
        (["DP  - 2018 May 15"], 2018, date(2018, 5, 15), False),
        (["DP  - 2018 May"], 2018, date(2018, 5, 1), True),
        (["DP  - 2015 Jul-Aug"], 2015, date(2015, 7, 1), True),
        (["DP  - 2018 Dec - 2019 Jan"], 2018, date(2018, 12, 1), True),
        (["DP  - 2016 Jun", "DEP - 20160419"], 2016, date(2016, 4, 19), False),
        (["DEP - 20160419"], 2016, date(2016, 4, 19), False),
        (["DP  - 2010   06"], 2010, date(2010, 6, 1), True),
    ],
)
def test_dates(lines: list[str], year: int, published: date | None, month_only: bool) -> None:
    found = one(*lines)
    assert (found.year, found.published, found.month_only) == (year, published, month_only)


def test_the_day_of_listing_is_no_day_of_publication() -> None:
    found = one("DP  - 2001", "EDAT- 2001/05/06 10:00", "CRDT- 2001/05/04 10:00")
    assert (found.published, found.listed) == (None, date(2001, 5, 6))
    assert one("CRDT- 2001/05/04 10:00").listed == date(2001, 5, 4)


def test_a_season_is_kept() -> None:
    assert detail(one("DP  - 2003 Spring"), "date") == "2003 Spring"


def test_identifiers() -> None:
    found = one("LID - 10.1000/x [doi]", "AID - S0140-6736(05)1 [pii]", "AID - 10.1000/x [doi]", "PMC - PMC4513071")
    assert found.identifiers == (identifier("10.1000/x"), identifier("pmid:123"))
    assert (detail(found, "pii"), detail(found, "pmcid")) == ("S0140-6736(05)1", "PMC4513071")
    assert one("AID - doi:10.1000/x").identifiers[0] == identifier("10.1000/x")


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["PT  - Journal Article", "JT  - Rivers"], "article"),
        (["PT  - Preprint", "JT  - bioRxiv"], "online"),
        (["PT  - Dataset"], "dataset"),
        (["PT  - Technical Report"], "report"),
        (["PT  - Book", "BTI - A Book"], "incollection"),
        (["JT  - Rivers"], "article"),
        ([], "misc"),
    ],
)
def test_kinds(lines: list[str], kind: str) -> None:
    assert one(*lines).kind == kind


def test_a_book_by_its_own_title() -> None:
    (found,) = entries(
        "PMID- 5\nBTI - All Rivers\nPT  - Book\nISBN- 978-3-030-58167-1\nFED - Hand, Ana\nED  - Hand A\n"
    )
    assert isinstance(found, Record)
    assert (found.title, found.kind, detail(found, "isbn")) == ("All Rivers", "book", "978-3-030-58167-1")
    assert detail(found, "editor") == "Hand, Ana"


def test_keywords_of_both_kinds() -> None:
    found = one("MH  - *Rivers", "MH  - Water/*analysis", "OT  - slow flow", "OTO - NOTNLM")
    assert found.keywords == ("Rivers", "Water/analysis", "slow flow")


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["RIN - Rivers. 2004;1:2. PMID: 99"], NoticeKind.RETRACTED),
        (["PT  - Retracted Publication"], NoticeKind.RETRACTED),
        (["PT  - Retracted Publication", "RIN - Rivers. 2004;1:2. PMID: 99"], NoticeKind.RETRACTED),
        (["ECI - Rivers. 2004;1:2"], NoticeKind.CONCERN),
        (["PT  - Retraction of Publication", "ROF - Rivers. 2001;1:2"], None),
    ],
)
def test_notices(lines: list[str], kind: NoticeKind | None) -> None:
    notices = one(*lines).notices
    assert [notice.kind for notice in notices] == ([kind] if kind else [])
    if "RIN" in "".join(lines):
        assert notices[0].reason.startswith("Rivers. 2004")


def test_tags_that_have_no_other_place_are_kept() -> None:
    found = one(
        "ROF - Rivers. 2001", "GR  - 1/Trust", "GR  - 2/Trust", "XYZ - new", "PL  - Bern", "LA  - ger", "AD  - Uni"
    )
    assert dict(found.details) == {
        "nbib-rof": "Rivers. 2001", "nbib-gr": "1/Trust; 2/Trust", "nbib-xyz": "new", "address": "Bern",
        "language": "ger", "affiliation": "Uni",
    }  # fmt: skip


def test_pages() -> None:
    assert detail(one("PG  - 454-81"), "pages") == "454-81"
    assert detail(one("PG  - e1, 5-6"), "pages") == "e1, 5-6"
    assert detail(one("PG  - 67"), "pages") == "67"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_entries_and_their_lines(end: str) -> None:
    text = end.join(["", "PMID- 1", "TI  - On rivers", "PMID- 2", "OWN - NLM", "", "OWN - NLM", "TI  - On lakes"])
    found = entries(text)
    assert [entry.title for entry in found if isinstance(entry, Record)] == ["On rivers", "On lakes"]
    assert [entry.line for entry in found if isinstance(entry, Refusal)] == [4]


def test_a_second_entry_with_the_same_id_gets_a_key_of_its_own() -> None:
    keys = [entry.key for entry in entries("PMID- 1\nTI  - A b\n\nPMID- 1\nTI  - C d\n") if isinstance(entry, Record)]
    assert keys[0] == "pmid:1"
    assert len(set(keys)) == 2


def test_what_is_too_long_is_refused() -> None:
    first, second = entries("PMID- 1\nTI  - " + "long " * 300 + "\n\nPMID- 2\nTI  - Short\n", Limits(500, 10))
    assert isinstance(first, Refusal)
    assert isinstance(second, Record)


def test_a_file_without_entries_is_refused() -> None:
    assert [entry.reason for entry in entries("words") if isinstance(entry, Refusal)] == [
        "no entry found: no line begins with a tag such as 'PMID- 1'"
    ]


def test_sniffing() -> None:
    assert nbib.sniff(b"\n\nPMID- 1\nOWN - NLM\n", "x.txt")
    assert not nbib.sniff(b"TY  - JOUR\nAN  - 1\nER  - \n", "x.nbib")
    assert not nbib.sniff(b"words about PMID- 1\n", "x.nbib")


@given(st.binary(max_size=300))
def test_no_bytes_are_a_crash(data: bytes) -> None:
    assert list(nbib.read("x", b"PMID- 1\nTI  - " + data, LIMITS))
    assert list(pubmed_xml.read("x", b"<PubmedArticleSet><PubmedArticle>" + data, LIMITS))


# --- XML


def xml(inside: str, *, pmid: str = "123", data: str = "", citation: str = "") -> Record:
    text = (
        f"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article>{inside}</Article>{citation}"
        f"</MedlineCitation><PubmedData>{data}</PubmedData></PubmedArticle></PubmedArticleSet>"
    )
    (found,) = pubmed_xml.read("file.xml", text.encode(), LIMITS)
    assert isinstance(found, Record), found
    return found


TITLE = "<ArticleTitle>On rivers.</ArticleTitle>"


def test_a_real_article() -> None:
    name = "jabref__MedlineImporterTestArticleItalics.xml"
    (found,) = pubmed_xml.read(name, shared("data", "bib_fixtures", name).read_bytes(), LIMITS)
    assert isinstance(found, Record)
    assert (found.source, found.key) == ("pubmed:jabref__MedlineImporterTestArticleItalics", "pmid:29872490")
    paper = derive(1, [found])
    assert to_plain(paper.title) == "Genome-wide significant risk factors on chromosome 19 and the APOE locus"
    assert "rs4147929:G>A" in paper.abstract
    assert (found.year, found.published, detail(found, "pages")) == (2018, date(2018, 5, 15), "24590-24600")
    assert len(found.references) > 10
    assert found.authors[:2] == ("Moreno-Grau, Sonia", "Hernández, Isabel")


def test_real_sets_are_read_whole() -> None:
    for name, count in (("sotawhat__pubmed_efetch.xml.gz", 5), ("fatcat__pubmedsample_2019.xml.gz", 176)):
        data = gzip.decompress(shared("data", "api_fixtures", name).read_bytes())
        assert data.count(b"<PubmedArticle>") == count
        found = [entry for entry in pubmed_xml.read(name, data, LIMITS) if isinstance(entry, Record)]
        assert len({entry.key for entry in found}) == count
        retracted = [entry.key for entry in found if entry.notices]
        assert len(retracted) == data.count(b'UI="D016441"')  # Retracted Publication
    single = shared("data", "api_fixtures", "fatcat__pubmed_19129924.xml").read_bytes()
    (found_one,) = pubmed_xml.read("x.xml", single, LIMITS)
    assert isinstance(found_one, Record)
    assert found_one.title == "PyMOOSE: Interoperable Scripting in Python for MOOSE"


def test_marks_in_a_title_and_signs_that_are_none() -> None:
    found = xml("<ArticleTitle>On <i>slow</i> CO<sub>2</sub> where p &lt; 5 &amp; a&lt;b or c&gt;d.</ArticleTitle>")
    assert derive(1, [found]).title == "On *slow* CO₂ where p < 5 & a<b or c>d"
    found = xml("<ArticleTitle>Rivers &amp; lakes</ArticleTitle>")
    assert found.title == "Rivers & lakes"
    assert (
        xml("<ArticleTitle>vector&lt;i&gt; and list&lt;/i&gt;</ArticleTitle>").title
        == "vector&lt;i&gt; and list&lt;/i&gt;"
    )


def test_sections_of_an_abstract() -> None:
    found = xml(
        f'{TITLE}<Abstract><AbstractText Label="AIM">To see.</AbstractText><AbstractText Label="END"/>'
        "<AbstractText>We\n saw.</AbstractText></Abstract>"
    )
    assert found.abstract == "AIM: To see. We saw."


def test_authors_of_xml() -> None:
    found = xml(
        f'{TITLE}<AuthorList CompleteYN="N"><Author><LastName>King</LastName><ForeName>Ana</ForeName>'
        '<Suffix>Jr</Suffix></Author><Author ValidYN="N"><LastName>Slip</LastName></Author>'
        "<Author><CollectiveName>Group</CollectiveName>"
        "</Author></AuthorList>"
    )
    assert (found.authors, found.authors_truncated) == (("King, Ana, Jr", "Group"), True)


@pytest.mark.parametrize(
    ("inside", "year", "published", "month_only", "kept"),
    [
        ("<Year>2018</Year><Month>May</Month><Day>5</Day>", 2018, date(2018, 5, 5), False, ""),
        ("<Year>2018</Year><Month>05</Month>", 2018, date(2018, 5, 1), True, ""),
        ("<Year>2018</Year><Season>Spring</Season>", 2018, None, False, "Spring"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", 1998, date(1998, 12, 1), True, ""),
        ("<MedlineDate>1998 Winter</MedlineDate>", 1998, None, False, "1998 Winter"),
    ],
)
def test_dates_of_xml(inside: str, year: int, published: date | None, month_only: bool, kept: str) -> None:
    found = xml(f"{TITLE}<Journal><JournalIssue><PubDate>{inside}</PubDate></JournalIssue></Journal>")
    assert (found.year, found.published, found.month_only) == (year, published, month_only)
    assert detail(found, "date") == kept


def test_first_online_and_listed() -> None:
    found = xml(
        f"{TITLE}<Journal><JournalIssue><PubDate><Year>2019</Year></PubDate></JournalIssue></Journal>"
        "<ArticleDate><Year>2018</Year><Month>12</Month><Day>30</Day></ArticleDate>",
        data='<History><PubMedPubDate PubStatus="pubmed"><Year>2019</Year><Month>1</Month><Day>2</Day>'
        "</PubMedPubDate></History>",
    )
    assert (found.year, found.published, found.listed) == (2019, date(2018, 12, 30), date(2019, 1, 2))


def test_identifiers_of_xml_are_the_articles_own() -> None:
    found = xml(
        TITLE,
        data='<ArticleIdList><ArticleId IdType="doi">10.1000/x</ArticleId><ArticleId IdType="pmc">PMC12345</ArticleId>'
        "</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.1000/other</ArticleId>"
        "<ArticleId IdType='pubmed'>77</ArticleId></ArticleIdList></Reference></ReferenceList>",
    )
    assert found.identifiers == (identifier("pmid:123"), identifier("10.1000/x"))
    assert found.references == (identifier("10.1000/other"), identifier("pmid:77"))
    assert detail(found, "pmcid") == "PMC12345"


def test_notices_of_xml() -> None:
    def notices(kind: str) -> tuple[Notice, ...]:
        inside = f'<CommentsCorrections RefType="{kind}"><RefSource>Rivers 2004</RefSource></CommentsCorrections>'
        return xml(TITLE, citation=f"<CommentsCorrectionsList>{inside}</CommentsCorrectionsList>").notices

    assert notices("RetractionIn") == (Notice(NoticeKind.RETRACTED, "Rivers 2004"),)
    assert notices("ExpressionOfConcernIn") == (Notice(NoticeKind.CONCERN, "Rivers 2004"),)
    assert notices("RetractionOf") == ()
    types = "<PublicationTypeList><PublicationType>Retracted Publication</PublicationType></PublicationTypeList>"
    assert [notice.kind for notice in xml(TITLE + types).notices] == [NoticeKind.RETRACTED]


def test_headings_and_keywords() -> None:
    citation = (
        "<MeshHeadingList><MeshHeading><DescriptorName>Rivers</DescriptorName><QualifierName>analysis</QualifierName>"
        "</MeshHeading></MeshHeadingList><KeywordList><Keyword>slow</Keyword></KeywordList>"
    )
    assert xml(TITLE, citation=citation).keywords == ("Rivers/analysis", "slow")


def test_a_chapter_of_a_book() -> None:
    text = (
        "<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID>9</PMID><Book><BookTitle>All Rivers</BookTitle>"
        "<Publisher><PublisherName>Press</PublisherName></Publisher><PubDate><Year>1993</Year></PubDate>"
        '<AuthorList Type="editors"><Author><LastName>Foot</LastName></Author></AuthorList></Book>'
        '<ArticleTitle>On one</ArticleTitle><AuthorList Type="authors"><Author><LastName>Hand</LastName></Author>'
        "</AuthorList></BookDocument></PubmedBookArticle></PubmedArticleSet>"
    )
    (found,) = pubmed_xml.read("x.xml", text.encode(), LIMITS)
    assert isinstance(found, Record)
    assert (found.title, found.kind, found.venue, found.year) == ("On one", "incollection", "All Rivers", 1993)
    assert (found.authors, detail(found, "publisher")) == (("Hand",), "Press")


ARTICLE = (
    "<PubmedArticle><MedlineCitation><PMID>{0}</PMID><Article><ArticleTitle>On {0}</ArticleTitle></Article>"
    "</MedlineCitation></PubmedArticle>"
)


def test_xml_that_breaks_off_gives_what_came_before() -> None:
    text = "<PubmedArticleSet>\n" + ARTICLE.format(1) + "\n" + ARTICLE.format(2)[:80]
    first, second = pubmed_xml.read("x.xml", text.encode(), LIMITS)
    assert isinstance(first, Record)
    assert isinstance(second, Refusal)
    assert second.line == 3
    assert "not well-formed XML" in second.reason


def test_entries_of_xml_have_their_lines() -> None:
    text = "<PubmedArticleSet>\n\n<PubmedArticle/>\n</PubmedArticleSet>"
    assert [str(entry) for entry in pubmed_xml.read("x.xml", text.encode(), LIMITS)] == [
        "x.xml:3: neither title nor abstract; a paper needs one of the two"
    ]


def test_no_entity_is_expanded_and_no_file_read() -> None:
    bomb = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "boom"}">' for i in range(9))
    text = (
        f'<!DOCTYPE x [{bomb}<!ENTITY f SYSTEM "file:///etc/hostname">]><PubmedArticleSet>'
        + ARTICLE.format("&a8;&f; x")
        + "</PubmedArticleSet>"
    )
    found = list(pubmed_xml.read("x.xml", text.encode(), LIMITS))
    assert all("boom" not in entry.title for entry in found if isinstance(entry, Record))
    assert sum(len(entry.raw) for entry in found if isinstance(entry, Record)) < 1000


@pytest.mark.parametrize("bad", ["\x0b", "&#x1F;", "&#11;", "\x00"])
def test_characters_that_xml_cannot_hold_are_left_out(bad: str) -> None:
    text = f"<PubmedArticleSet>{ARTICLE.format(f'A{bad}B')}{ARTICLE.format(2)}</PubmedArticleSet>"
    first, second = pubmed_xml.read("x.xml", text.encode(), LIMITS)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert first.title == "On AB"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_xml(encoding: str) -> None:
    text = f"<PubmedArticleSet>{ARTICLE.format('Flüsse')}</PubmedArticleSet>"
    (found,) = pubmed_xml.read("x.xml", text.encode(encoding), LIMITS)
    assert isinstance(found, Record)
    assert found.title == "On Flüsse"


def test_an_encoding_that_xml_declares() -> None:
    text = f'<?xml version="1.0" encoding="iso-8859-1"?><PubmedArticleSet>{ARTICLE.format("Flüsse")}</PubmedArticleSet>'
    (found,) = pubmed_xml.read("x.xml", text.encode("latin-1"), LIMITS)
    assert isinstance(found, Record)
    assert found.title == "On Flüsse"


def test_memory_does_not_grow_with_xml() -> None:
    import tracemalloc

    abstract = f"<Abstract><AbstractText>{'water ' * 400}</AbstractText></Abstract></Article>"
    articles = (ARTICLE.format(i).replace("</Article>", abstract) for i in range(2000))
    data = f"<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>".encode()
    tracemalloc.start()
    try:
        assert sum(1 for _ in pubmed_xml.read("x.xml", data, LIMITS)) == 2000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(data) > 4_500_000
    assert peak < 3_000_000
