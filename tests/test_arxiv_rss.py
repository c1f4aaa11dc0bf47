"""arXiv's daily feed: announce types, days, authors, broken XML."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model import Identifier, Link, LinkKind, Record, Refusal, Scheme, Version
from broadsheet.sources.arxiv_record import newest_id, split_people
from broadsheet.sources.arxiv_rss import parse_rss, read_feed
from broadsheet.sources.base import Entry
from tests.arxiv_bodies import RSS_OPEN, rss, rss_item

URL = "https://rss.arxiv.org/rss/cs.LG"
DAY = date(2026, 8, 12)


def parsed(*items: str, **options: str) -> list[Entry]:
    return list(parse_rss(URL, rss(*items, **options).encode()))


def record(*items: str, **options: str) -> Record:
    (found,) = parsed(*items, **options)
    assert isinstance(found, Record), found
    return found


def refusal(*items: str) -> Refusal:
    (found,) = parsed(*items)
    assert isinstance(found, Refusal), found
    return found


def test_everything_an_item_says() -> None:
    more = "<arxiv:DOI>10.1000/X.1</arxiv:DOI><arxiv:journal_reference>J. Test 1 (2026) 2</arxiv:journal_reference>"
    found = record(
        rss_item("2608.09930", version=2, announced="cross", authors="Ann Lee (MIT, CSAIL), Bo Li", more=more)
    )
    assert found.source == "arxiv-announced"
    assert found.key == "2608.09930"
    assert found.title == "Small Models Learn"
    assert found.abstract == "We show that small models learn."
    assert found.authors == ("Ann Lee", "Bo Li")
    assert found.identifiers == (Identifier(Scheme.ARXIV, "2608.09930"), Identifier(Scheme.DOI, "10.1000/x.1"))
    assert [str(area) for area in found.areas] == ["cs.LG", "stat.ML"]
    assert found.listed == DAY
    assert found.published is None
    assert found.year == 2026
    assert found.versions == (Version(2),)
    assert found.kind == "misc"
    assert found.links == (
        Link(LinkKind.PAGE, "https://arxiv.org/abs/2608.09930"),
        Link(LinkKind.PDF, "https://arxiv.org/pdf/2608.09930"),
    )
    assert dict(found.details) == {
        "journal_ref": "J. Test 1 (2026) 2",
        "affiliation": "Ann Lee (MIT, CSAIL)",
        "announced": "cross",
        "license": "http://creativecommons.org/licenses/by/4.0/",
    }
    assert found.raw.startswith("<item")
    assert "oai:arXiv.org:2608.09930v2" in found.raw


@pytest.mark.parametrize(
    ("announced", "listed"), [("new", DAY), ("cross", DAY), ("replace", None), ("replace-cross", None)]
)
def test_what_is_replaced_is_not_listed_again(announced: str, listed: date | None) -> None:
    assert record(rss_item("2608.09930", announced, version=3)).listed == listed


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        (("new",), ["1"]),
        (("new", "cross"), ["1", "2"]),
        (("replace", "replace-cross"), ["3", "4"]),
        (("new", "cross", "replace", "replace-cross"), ["1", "2", "3", "4"]),
    ],
)
def test_a_switch_for_each_type(types: tuple[str, ...], wanted: list[str]) -> None:
    kinds = ("new", "cross", "replace", "replace-cross")
    body = rss(*(rss_item(f"2608.0000{n}", kind) for n, kind in enumerate(kinds, 1))).encode()
    found = [entry.key[-1] for entry in parse_rss(URL, body, types) if isinstance(entry, Record)]
    assert found == wanted


def test_an_unknown_type_is_refused() -> None:
    assert "'absonly'" in refusal(rss_item("2608.09930", "absonly")).reason


def test_the_type_of_the_description_counts_where_the_element_is_missing() -> None:
    item = rss_item("2608.09930", "replace").replace("<arxiv:announce_type>replace</arxiv:announce_type>", "")
    assert record(item).listed is None


def test_links_are_canonical_and_the_feeds_address_is_no_author() -> None:
    item = rss_item("2608.09930", host="https://rss.arxiv.org", authors="rss-help@arxiv.org")
    found = record(item)
    assert found.links[0].url == "https://arxiv.org/abs/2608.09930"
    assert found.authors == ()


def test_old_ids_keep_their_archive() -> None:
    keys = [e.key for e in parsed(rss_item("cmp-lg/9808001"), rss_item("cs/9808001")) if isinstance(e, Record)]
    assert keys == ["cmp-lg/9808001", "cs/9808001"]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("Wed, 12 Aug 2026 00:00:00 -0400", DAY),
        ("Wed, 12 Aug 2026 00:00:00 -0500", DAY),  # a zone that forgot about summer
        ("Wed, 12 Aug 2026 00:00:00 EST", DAY),
        ("Wed, 12 Aug 2026 04:00:00 GMT", DAY),
        ("Thu, 13 Aug 2026 03:59:00 +0000", DAY),
        ("Wed, 23 Dec 2026 00:00:00 -0500", date(2026, 12, 23)),
    ],
)
def test_the_day_is_arxivs(written: str, wanted: date) -> None:
    body = rss(rss_item("2608.09930", day=""), day=written)
    assert read_feed(URL, body.encode()).day == wanted
    assert record(rss_item("2608.09930", day=""), day=written).listed == wanted


def test_an_items_own_day_goes_before_the_feeds() -> None:
    assert record(rss_item("2608.09930"), day="Thu, 13 Aug 2026 00:00:00 -0400").listed == DAY


def test_no_items() -> None:
    body = rss(day="Sat, 15 Aug 2026 00:00:00 -0400").encode()
    assert list(parse_rss(URL, body)) == []
    feed = read_feed(URL, body)
    assert (feed.day, feed.items, feed.newest, feed.batch) == (date(2026, 8, 15), 0, "", "")


def test_what_a_feed_says_of_itself() -> None:
    items = [rss_item("2608.09930"), rss_item("2608.11200", "replace"), rss_item("hep-th/0601001", "cross")]
    feed = read_feed(URL, rss(*items).encode())
    assert (feed.day, feed.items) == (DAY, 3)
    assert feed.newest == "2608.09930"  # what is replaced says nothing about how new the batch is
    assert feed.batch == read_feed(URL, rss(*reversed(items), day="Thu, 13 Aug 2026 00:00:00 -0400").encode()).batch
    assert feed.batch != read_feed(URL, rss(*items[:2]).encode()).batch


@pytest.mark.parametrize(
    "body", [b"", b"Rate exceeded.", b"<html><body>503</body></html>", b"\xff\xfe\x00", b"<feed/>"]
)
def test_no_feed_at_all(body: bytes) -> None:
    with pytest.raises(InputError, match="no rss document"):
        read_feed(URL, body)
    with pytest.raises(InputError, match=r"rss/cs\.LG"):
        list(parse_rss(URL, body))


def test_a_feed_that_is_an_error() -> None:
    body = rss(title="Feed error for query: cs.XX").replace(
        "<link>", "<description>Bad subject class</description><link>"
    )
    with pytest.raises(InputError, match="Bad subject class"):
        read_feed(URL, body.encode())


# --- broken XML ---


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("D&D agents", "D&D agents"),
        ("AT&T; &amp; more", "AT&T; & more"),
        ("J&ouml;rg's method", "Jörg's method"),
        ("a &lt; b &#39;c&#39; &#x41;", "a < b 'c' A"),
        ("bell \x07 rings", "bell rings"),
    ],
)
def test_a_fault_in_a_title_costs_nothing(title: str, wanted: str) -> None:
    first, second = parsed(rss_item("2608.00001", title=title), rss_item("2608.00002"))
    assert isinstance(first, Record)
    assert first.title == wanted
    assert isinstance(second, Record)


def test_a_broken_item_costs_itself_only() -> None:
    broken = rss_item("2608.00002", title="an <b>open tag")
    found = parsed(rss_item("2608.00001"), broken, rss_item("2608.00003"))
    assert [type(entry) for entry in found] == [Record, Refusal, Record]
    assert isinstance(found[1], Refusal)
    assert found[1].where == URL
    assert found[1].line == 6
    assert "broken XML" in found[1].reason


def test_a_page_that_breaks_off() -> None:
    body = rss(rss_item("2608.00001"), rss_item("2608.00002"))
    found = list(parse_rss(URL, body[: body.rindex("Announce Type")].encode()))
    assert [type(entry) for entry in found] == [Record, Refusal]
    assert isinstance(found[1], Refusal)
    assert "middle of an entry" in found[1].reason


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (rss_item("9999.99999"), "no arXiv id"),
        (rss_item("2608.00001", title=""), "2608.00001: no title"),
    ],
)
def test_an_item_that_cannot_be_taken(item: str, reason: str) -> None:
    assert reason in refusal(item).reason
    assert refusal(item).line > 0


@pytest.mark.parametrize("told", ["SYSTEM 'file:///etc/hostname'", "'&#60;i>many times'"])
def test_entities_are_not_resolved(told: str) -> None:
    declaration, _, rest = RSS_OPEN.partition("\n")
    body = rss(rss_item("2608.00001", title="&outside;"))
    body = body.replace(RSS_OPEN, f"{declaration}\n<!DOCTYPE rss [<!ENTITY outside {told}>]>\n{rest}")
    (found,) = parse_rss(URL, body.encode())
    assert isinstance(found, Record)
    assert found.title == "&outside;"


@given(st.binary(max_size=300))
def test_no_bytes_bring_it_down(noise: bytes) -> None:
    body = rss(rss_item("2608.00001"), rss_item("2608.00002")).encode()
    middle = body.index(b"<item>", body.index(b"<item>") + 1)
    entries = list(parse_rss(URL, body[:middle] + noise + body[middle:]))
    assert any(isinstance(entry, Record) for entry in entries)


def test_two_thousand_items_are_fast() -> None:
    body = rss(*(rss_item(f"2608.{n:05}", abstract="We show that small models learn. " * 40) for n in range(1, 2001)))
    start = time.process_time()
    assert sum(isinstance(entry, Record) for entry in parse_rss(URL, body.encode())) == 2000
    assert time.process_time() - start < 4


# --- names and ids ---


@pytest.mark.parametrize(
    ("line", "names", "places"),
    [
        ("", (), ()),
        ("Ann Lee", ("Ann Lee",), ("",)),
        ("Ann Lee, Bo Li and Jo Ng", ("Ann Lee", "Bo Li", "Jo Ng"), ("", "", "")),
        ("Ann Lee, Bo Li, and Jo Ng", ("Ann Lee", "Bo Li", "Jo Ng"), ("", "", "")),
        ("Ann Lee (MIT, and (old) CSAIL), Bo Li", ("Ann Lee", "Bo Li"), ("MIT, and (old) CSAIL", "")),
        ("Sammy Davis, Jr., Jo Ng III", ("Sammy Davis Jr.", "Jo Ng III"), ("", "")),
        (r"Rapha\"el Chetrite and \'Edgar Rold\'an", (r"Rapha\"el Chetrite", r"\'Edgar Rold\'an"), ("", "")),
        ("ATLAS Collaboration: G. Aad, B. Abbott", ("ATLAS Collaboration", "G. Aad", "B. Abbott"), ("", "", "")),
        ("Sander Andersen, Andy Land (MIT", ("Sander Andersen", "Andy Land"), ("", "MIT")),
        ("Bo Li (1), Jo Ng (2) ((1) MIT, (2) ETH)", ("Bo Li", "Jo Ng"), ("1", "2; (1) MIT, (2) ETH")),
        ("Andrew) Gould, Bo Li", ("Andrew Gould", "Bo Li"), ("", "")),
        ("Ann Lee\n  and\n  Bo Li", ("Ann Lee", "Bo Li"), ("", "")),
    ],
)
def test_author_lines(line: str, names: tuple[str, ...], places: tuple[str, ...]) -> None:
    assert split_people(line) == (names, places)


NAMES = st.lists(st.from_regex(r"[A-Z][a-z]{1,8} [A-Z][a-z]{2,8}", fullmatch=True), min_size=1, max_size=6)


@given(NAMES, st.sampled_from([", ", " and ", ", and ", " & ", ",\n"]))
def test_names_come_back(names: list[str], separator: str) -> None:
    assert split_people(separator.join(names))[0] == tuple(names)


def test_the_newest_id() -> None:
    assert newest_id(["2608.09930", "2607.31000", "hep-th/9901001"]) == "2608.09930"
    assert newest_id(["1412.9999", "1501.00001"]) == "1501.00001"
    assert newest_id(["hep-th/9901001"]) == ""
