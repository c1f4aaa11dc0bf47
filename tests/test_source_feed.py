"""Feeds of journals, laboratories and preprint servers: what becomes of each entry."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import pytest

from broadsheet.model import LinkKind, NoticeKind, Record, Refusal
from broadsheet.sources.base import Page
from broadsheet.sources.feed import Feed
from broadsheet.store import open_store
from broadsheet.text import clean
from tests.feed_makers import URL, entries_of, item, rss
from tests.makers import identifier, put
from tests.shared import shared


def one(item: str, title: str = "Slow rivers and their boats") -> Record:
    (entry,) = entries_of(rss(f"<title>{title}</title>{item}"))
    assert isinstance(entry, Record), entry
    return entry


# --- real feeds


def test_a_real_rss_feed_of_a_society() -> None:
    body = gzip.decompress(shared("data", "api_fixtures", "pyingest__AASNova_rss.xml.gz").read_bytes())
    entries = entries_of(body)
    assert [entry.published for entry in entries] == [date(2023, 6, day) for day in (26, 26, 20, 16)]
    assert all(isinstance(entry, Record) and entry.title and entry.authors for entry in entries)
    assert entries[1].key == "doi:10.3847/1538-4365/aca4c6"
    assert len({entry.key for entry in entries}) == 4
    for entry in entries:
        assert "appeared first on" not in entry.abstract and "<img" not in entry.abstract
        assert all("utm_" not in link.url for link in entry.links)


def test_a_real_rdf_feed_of_telegrams() -> None:
    body = gzip.decompress(shared("data", "api_fixtures", "pyingest__ATel_rss.xml.gz").read_bytes())
    entries = entries_of(body)
    assert len(entries) == 50
    assert len({entry.key for entry in entries}) == 50
    assert entries[0].authors == ("M. Pavana", "Nirupam Roy", "G. C. Anupama", "K. P. Singh", "V. Girish")
    assert entries[0].published == date(2019, 9, 9)
    assert entries[0].key == "www.astronomerstelegram.org?read=13092"


# --- titles


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Ocado to axe &amp;#39;Low Price Promise&amp;#39;", "Ocado to axe 'Low Price Promise'"),  # C01
        ("std::unique_ptr&amp;lt;S&amp;gt; x", "std::unique_ptr<S> x"),  # C03
        ("D&D agents", "D&D agents"),  # C04
        ("R&amp;D of AT&T, M&Ms & more", "R&D of AT&T, M&Ms & more"),
        ("<![CDATA[D&D agents <i>in vitro</i>]]>", "D&D agents *in vitro*"),
        ("&lt;i&gt;In vitro&lt;/i&gt; assays", "*In vitro* assays"),
        ("Caf&eacute; rivers &#8211; boats", "Café rivers – boats"),
        ("When $x &lt; y$ holds", "When $x < y$ holds"),
        ("  Slow\n  rivers ", "Slow rivers"),
    ],
)
def test_titles_are_decoded_as_often_as_they_were_encoded(title: str, shown: str) -> None:
    assert clean(one("", title=title).title) == shown


def test_a_bare_ampersand_harms_no_other_part_of_the_feed() -> None:
    item = "<link>https://e.org/a?x=1&y=2</link><description><![CDATA[<p>A &amp; B & C</p>]]></description>"
    entries = entries_of(rss(f"<title>D&D agents</title>{item}", "<title>Other</title><link>https://e.org/b</link>"))
    assert [entry.title for entry in entries] == ["D&D agents", "Other"]
    assert entries[0].links[0].url == "https://e.org/a?x=1&y=2"
    assert clean(entries[0].abstract) == "A & B & C"


def test_a_retraction_in_the_title_is_a_notice() -> None:
    entry = one("", title="RETRACTED: Slow rivers and their boats")
    assert entry.title == "Slow rivers and their boats"
    assert [notice.kind for notice in entry.notices] == [NoticeKind.RETRACTED]


def test_an_entry_without_a_title_is_refused_and_the_rest_kept() -> None:
    entries = entries_of(rss("<link>https://e.org/a</link>", "<title>Slow rivers</title>", "<title> </title>"))
    assert [type(entry) for entry in entries] == [Refusal, Record, Refusal]
    assert "https://e.org/a" in entries[0].reason and "no title" in entries[0].reason


def test_a_boards_page_is_kept_and_merges_with_nothing(tmp_path: Path) -> None:
    page = Page(URL, rss("<title>Editorial Board</title><link>https://e.org/b</link>"), "")
    first, second = (Feed.of(f"https://{host}/rss").parse(page) for host in ("a.example.org", "b.example.org"))
    with open_store(f"sqlite:///{tmp_path}/papers.db") as store:
        assert put(store, *first, *second).merged == 0


# --- people


@pytest.mark.parametrize(
    ("item", "authors"),
    [
        ("<dc:creator>Ann Li</dc:creator><dc:creator>Bo Chen</dc:creator>", ("Ann Li", "Bo Chen")),
        ("<dc:creator>Li, Ann</dc:creator><dc:creator>Chen, Bo</dc:creator>", ("Li, Ann", "Chen, Bo")),
        ("<dc:creator>Ann Li, Bo Chen and Carl Dent</dc:creator>", ("Ann Li", "Bo Chen", "Carl Dent")),
        ("<dc:creator>Li, A., Chen, B. C.</dc:creator>", ("A. Li", "B. C. Chen")),
        ("<dc:creator>\nAnn Li, \nBo Chen\n</dc:creator>", ("Ann Li", "Bo Chen")),
        ("<dc:creator>J&amp;ouml;rg M&#252;ller</dc:creator>", ("Jörg Müller",)),
        ("<author>ann@example.org (Ann Li)</author>", ("Ann Li",)),
        ("<author>rss-help@arxiv.org</author>", ()),  # A31
        ("<dc:creator>ann@example.org</dc:creator>", ()),
        ("<dc:creator>Ann Li et al.</dc:creator>", ("Ann Li",)),
        (
            "<description>&lt;p&gt;Publication date: May 2024&lt;/p&gt;&lt;p&gt;&lt;b&gt;Source:&lt;/b&gt; J&lt;/p&gt;"
            "&lt;p&gt;Author(s): Ann Li, Bo Chen&lt;/p&gt;</description>",
            ("Ann Li", "Bo Chen"),
        ),
    ],
)
def test_authors(item: str, authors: tuple[str, ...]) -> None:
    entry = one(item)
    assert entry.authors == authors
    assert entry.authors_truncated == ("et al" in item)


def test_the_channels_editor_is_no_author() -> None:
    head = "<managingEditor>boss@example.org (The Boss)</managingEditor><webMaster>rss-help@arxiv.org</webMaster>"
    (entry,) = entries_of(rss("<title>Slow rivers</title>", head=head))
    assert entry.authors == ()


# --- texts


@pytest.mark.parametrize(
    ("item", "abstract"),
    [
        (
            "<description>&lt;p&gt;Rivers &lt;i&gt;flow&lt;/i&gt;, x &amp;lt; y.&lt;/p&gt;</description>",
            "Rivers *flow*, x < y.",
        ),
        (
            "<content:encoded><![CDATA[<h2>ABSTRACT</h2>\n<p>Rivers flow slowly.</p>]]></content:encoded>",
            "Rivers flow slowly.",
        ),
        ("<description>Abstract: Rivers flow.</description>", "Rivers flow."),
        ("<description>Abstract rivers flow.</description>", "Abstract rivers flow."),
        (
            "<description>Journal of Rivers, Volume 3, Issue 2, Page 4-5, June 2024.</description>"
            "<content:encoded><![CDATA[<p>Rivers flow.</p><script>alert(1)</script>]]></content:encoded>",
            "Rivers flow.",
        ),
        (
            "<description>Journal of Rivers, Volume 3, Issue 2, June 2024.</description>"
            "<content:encoded><![CDATA[<p>Rivers flow, and boats flow with them.</p><script>alert(1)</script>"
            "<style>p {color: red}</style>]]></content:encoded>",
            "Rivers flow, and boats flow with them.",
        ),
        (
            "<content:encoded><![CDATA[<p>Rivers, Published online: 12 June 2024; <a>doi:10.1000/r</a></p>They flow."
            "]]></content:encoded>",
            "They flow.",
        ),
        (
            "<description><![CDATA[<p>They flow.</p><p>The post <a>Y</a> appeared first on Z.</p>]]></description>",
            "They flow.",
        ),
        ("<description><![CDATA[<img src='x.png' alt='y'/>]]></description>", ""),
        ("<description>arXiv:2401.12345v1 Announce Type: new \nAbstract: They flow.</description>", "They flow."),
        ("<description>河流缓慢地流动。</description>", "河流缓慢地流动。"),
    ],
)
def test_abstracts(item: str, abstract: str) -> None:
    assert clean(one(item).abstract) == abstract


def test_the_whole_article_is_no_abstract() -> None:
    item = f"<description>In short.</description><content:encoded>{'word ' * 3000}</content:encoded>"
    assert one(item).abstract == "In short."


def test_code_named_in_the_abstract_is_linked() -> None:
    entry = one("<link>https://e.org/a</link><description>Code: https://github.com/ann/boats.</description>")
    assert [(link.kind, link.url) for link in entry.links] == [
        (LinkKind.PAGE, "https://e.org/a"),
        (LinkKind.CODE, "https://github.com/ann/boats"),
    ]


# --- identifiers and keys


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("<prism:doi>10.1000/Rivers</prism:doi>", "10.1000/rivers"),
        ("<dc:identifier>doi:10.1000/rivers</dc:identifier>", "10.1000/rivers"),
        ("<dc:identifier>10.1000/rivers</dc:identifier>", "10.1000/rivers"),
        ("<link>https://doi.org/10.1000/rivers?utm_source=rss</link>", "10.1000/rivers"),
        ("<link>https://dl.acm.org/doi/abs/10.1145/1234.5678?af=R</link>", "10.1145/1234.5678"),
        ("<link>https://www.tandfonline.com/doi/full/10.1080/1234.5678?af=R</link>", "10.1080/1234.5678"),
        ("<link>https://iopscience.iop.org/article/10.1088/1361-6560/ad1234/meta</link>", "10.1088/1361-6560/ad1234"),
        ("<link>https://www.nature.com/articles/s41586-021-03534-y</link>", "10.1038/s41586-021-03534-y"),
        ("<link>https://www.nature.com/articles/srep16696</link>", "10.1038/srep16696"),
        (
            "<link>https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0033693</link>",
            "10.1371/journal.pone.0033693",
        ),
        (
            "<link>https://www.frontiersin.org/articles/10.3389/fnins.2024.1362567/full</link>",
            "10.3389/fnins.2024.1362567",
        ),
        (
            "<link>https://www.biorxiv.org/content/10.1101/2024.06.10.598226v2.full?rss=1</link>",
            "10.1101/2024.06.10.598226",
        ),
        (
            "<link>https://e.org/x/10.1002/(sici)1097-4598(199605)19:5%3C621::aid-mus10%3E3.3.co;2-c</link>",
            "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c",
        ),
        ("<link>https://rss.arxiv.org/abs/2401.12345v2</link>", "arXiv:2401.12345"),
        ("<guid isPermaLink='false'>oai:arXiv.org:2401.12345v1</guid>", "arXiv:2401.12345"),
        ("<guid>https://arxiv.org/abs/quant-ph/0201082</guid>", "arXiv:quant-ph/0201082"),
        ("<guid isPermaLink='false'>2401.12345</guid>", None),
        ("<guid isPermaLink='false'>J90-1003</guid>", None),
        ("<link>https://e.org/2401.12345</link>", None),
        ("<link>http://[broken</link>", None),
    ],
)
def test_identifiers(item: str, found: str | None) -> None:
    entry = one(item)
    assert entry.identifiers == ((identifier(found),) if found else ())
    if found:
        assert entry.key == str(identifier(found))


def keys(*items: str) -> list[str]:
    return [entry.key for entry in entries_of(rss(*items))]


def test_a_new_guid_or_a_new_title_at_the_same_address_is_the_same_entry() -> None:
    before = keys(item("Slow rivers", "https://e.org/a?utm_source=rss", "g1"))
    assert before == keys(item("Slow rivers, corrected", "http://e.org/a#new", "g2"))  # E09


def test_a_guid_used_again_for_another_paper_is_another_entry() -> None:
    assert keys(item("Slow rivers", "https://e.org/a", "g")) != keys(item("Fast rivers", "https://e.org/b", "g"))


def test_a_doi_outweighs_address_and_guid() -> None:
    first = keys(item("Slow rivers", "https://e.org/a", "g1", "10.1000/r"))
    assert first == keys(item("Slow rivers", "https://e.org/b", "g2", "10.1000/R")) == ["doi:10.1000/r"]


def test_entries_that_share_an_address_are_told_apart_by_guid_and_then_by_title() -> None:
    shared_link = "https://e.org/toc"
    by_guid = keys(item("A first paper", shared_link, "g1"), item("A second paper", shared_link, "g2"))
    assert by_guid == ["https://journal.example.org/g1", "https://journal.example.org/g2"]
    by_title = keys(item("A first paper", shared_link, "g"), item("A second paper", shared_link, "g"))
    assert len(set(by_title)) == 2
    assert by_title[0] == keys(item("A first paper", shared_link, "g"), item("A third paper", shared_link, "g"))[0]


def test_the_doi_of_an_issue_on_all_its_entries_is_no_key() -> None:
    doi = "10.26421/qic16.15-16"  # B19
    found = keys(item("A first paper", "https://e.org/a", doi=doi), item("A second paper", "https://e.org/b", doi=doi))
    assert found == ["e.org/a", "e.org/b"]


def test_the_address_of_the_site_names_no_entry() -> None:
    assert keys(item("A first paper", "https://journal.example.org/", "urn:g1")) == ["urn:g1"]
    assert keys(item("A first paper", "https://journal.example.org", "urn:g1")) == ["urn:g1"]


def test_a_feed_read_again_changes_nothing(tmp_path: Path) -> None:
    body = rss(item("Slow rivers and boats", "https://e.org/a", "g1"), item("Fast rivers and boats", "https://e.org/b"))
    with open_store(f"sqlite:///{tmp_path}/papers.db") as store:
        assert put(store, *entries_of(body)).new == 2
        assert put(store, *entries_of(body)).unchanged == 2


# --- dates


@pytest.mark.parametrize(
    ("item", "published", "month_only", "year"),
    [
        ("<pubDate>Fri, 03 May 2024 23:30:00 -0500</pubDate>", date(2024, 5, 4), False, 2024),
        ("<pubDate>Fri, 3 May 2024</pubDate>", date(2024, 5, 3), False, 2024),
        ("<pubDate>2024-05-03T00:30:00+08:00</pubDate>", date(2024, 5, 2), False, 2024),
        ("<pubDate>2024/5/3</pubDate>", date(2024, 5, 3), False, 2024),
        ("<pubDate>May 2024</pubDate>", date(2024, 5, 1), True, 2024),
        ("<dc:date>2024-05</dc:date>", date(2024, 5, 1), True, 2024),
        ("<dc:date>2024</dc:date>", None, False, 2024),
        ("<dc:date>2024-05-03</dc:date>", date(2024, 5, 3), False, 2024),
        ("<pubDate>n.d.</pubDate>", None, False, None),
        (
            "<pubDate>Fri, 03 May 2024 00:00:00 GMT</pubDate><prism:publicationDate>2024-04-30</prism:publicationDate>",
            date(2024, 4, 30),
            False,
            2024,
        ),
        ("<dc:date>2024-05-03</dc:date><prism:coverDate>2024-01-01</prism:coverDate>", date(2024, 5, 3), False, 2024),
        ("<prism:coverDate>2024-06</prism:coverDate>", date(2024, 6, 1), True, 2024),
        ("", None, False, None),
    ],
)
def test_dates(item: str, published: date | None, month_only: bool, year: int | None) -> None:
    entry = one(item)
    assert (entry.published, entry.month_only, entry.year) == (published, month_only, year)


# --- venue and details


def test_the_journal_and_its_numbers() -> None:
    entry = one(
        "<prism:publicationName>Journal of Rivers</prism:publicationName><prism:volume>3</prism:volume>"
        "<prism:number>2</prism:number><prism:startingPage>4</prism:startingPage><prism:endingPage>9</prism:endingPage>"
        "<prism:issn>1234-5678</prism:issn><category>boats</category><category>boats</category>"
    )
    assert (entry.kind, entry.venue, entry.keywords) == ("article", "Journal of Rivers", ("boats",))
    assert dict(entry.details) == {
        "journal": "Journal of Rivers",
        "volume": "3",
        "number": "2",
        "issn": "1234-5678",
        "pages": "4-9",
    }


def test_a_preprint_server_is_no_journal() -> None:
    entry = one(
        "<link>https://www.biorxiv.org/content/10.1101/2024.06.10.598226v2</link><prism:publicationName>bioRxiv</prism:publicationName>"
    )
    assert (entry.kind, entry.venue) == ("online", "bioRxiv")


def test_atom() -> None:
    (entry,) = entries_of(
        b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>Lab</title><id>l</id><entry><id>tag:e.org,2024:1</id>
        <title type="html">Slow &lt;em&gt;rivers&lt;/em&gt;</title><link href="https://e.org/a"/>
        <link rel="related" title="pdf" type="application/pdf" href="https://e.org/a.pdf"/>
        <author><name>Ann Li</name><email>a@e.org</email></author><author><name>Bo Chen</name></author>
        <published>2024-05-03T10:00:00Z</published><updated>2026-01-01T00:00:00Z</updated>
        <summary>They flow.</summary><category term="boats"/></entry></feed>"""
    )
    assert (clean(entry.title), entry.authors, entry.published) == (
        "Slow *rivers*",
        ("Ann Li", "Bo Chen"),
        date(2024, 5, 3),
    )
    assert [(link.kind, link.url) for link in entry.links] == [
        (LinkKind.PAGE, "https://e.org/a"),
        (LinkKind.PDF, "https://e.org/a.pdf"),
    ]
    assert (entry.abstract, entry.keywords, entry.key) == ("They flow.", ("boats",), "e.org/a")
