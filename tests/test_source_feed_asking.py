"""Feeds: encodings, what is no feed, what is asked, and the names of sources."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError, SettingsError
from broadsheet.model import Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.feed import Feed
from broadsheet.text import clean, title_fingerprint
from tests.fakeweb import Answer, FakeWeb
from tests.feed_makers import URL, entries_of, rss

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

# --- encodings and what is no feed


@pytest.mark.parametrize(
    ("encoding", "declared", "content_type"),
    [
        ("utf-8", True, ""),
        ("gbk", True, ""),
        ("utf-16", True, ""),
        ("gbk", False, "application/xml; charset=gbk"),
        ("utf-8", False, "text/xml; charset=utf-8"),
        ("utf-8-sig", False, ""),
    ],
)
def test_encodings(encoding: str, declared: bool, content_type: str) -> None:
    prolog = f'<?xml version="1.0" encoding="{encoding}"?>' if declared else ""
    body = rss("<title>检索增强生成的河流</title>", prolog=prolog).decode().encode(encoding)
    (entry,) = entries_of(body, content_type)
    assert entry.title == "检索增强生成的河流"


def test_latin_1_by_the_header_alone() -> None:
    (entry,) = entries_of(
        rss("<title>Müller am Fluß</title>").decode().encode("latin-1"), "text/xml; charset=iso-8859-1"
    )
    assert entry.title == "Müller am Fluß"


def test_a_web_page_is_said_to_be_one_with_its_feeds() -> None:
    page = b"""<!DOCTYPE html><html><head><LINK type='application/atom+xml' title=x rel=alternate href='/feed.xml'>
    <link rel="alternate" type="application/rss+xml" href="https://e.org/rss?a=1&amp;b=2">
    <link rel="stylesheet" href="/x.css">
    </head><body><p>Hello</body></html>"""
    with pytest.raises(InputError, match="is a web page, not a feed; its feeds are: ") as caught:
        entries_of(page)
    assert str(caught.value).endswith("https://journal.example.org/feed.xml, https://e.org/rss?a=1&b=2")
    with pytest.raises(InputError, match="names no feeds"):
        entries_of(b"<html><body>nothing</body></html>")


@pytest.mark.parametrize("body", [b"hello", b"{}", b"\x00\x01\x02", b"%PDF-1.7", b"<opml></opml>"])
def test_what_is_no_feed_at_all(body: bytes) -> None:
    with pytest.raises(InputError, match="no feed"):
        entries_of(body)


def test_an_empty_feed_and_an_empty_answer_hold_nothing() -> None:
    assert entries_of(rss()) == entries_of(b"") == entries_of(b" \n") == []  # A25


def test_a_body_that_is_the_name_of_a_file_is_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_bytes(rss("<title>A secret of this machine</title>"))
    for name in (str(secret), secret.as_uri()):
        with pytest.raises(InputError, match="no feed"):
            entries_of(name.encode())


def test_entities_are_neither_fetched_nor_multiplied(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("A secret of this machine")
    outer = f'<!DOCTYPE rss [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    assert "secret" not in repr(entries_of(rss("<title>Rivers &s;</title>", prolog=outer))[0].title)
    lines = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    bomb = rss("<title>Rivers &a9;</title>", prolog=f'<!DOCTYPE rss [<!ENTITY a0 "ha">{lines}]>')
    assert len(entries_of(bomb)[0].title) < 1000


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "piece",
    [
        "<form ",
        "<script>",
        "<p>Author(s):",
        "<p> The post <a",
        "<p<p>",
        "http://",
        "utm_a=",
        "?utm_a=1&amp;",
        "x" * 50,
        "<link ",
        "&",
        "abstract: ",
        "10.1000/",
    ],
)
def test_no_text_of_a_stranger_takes_long(piece: str) -> None:
    text = piece.replace("<", "&lt;") * (60_000 // len(piece))
    parts = (
        f"<{tag}>{text}</{tag}>" for tag in ("title", "link", "guid", "description", "dc:creator", "dc:identifier")
    )
    (entry,) = entries_of(rss("".join(parts)))
    assert isinstance(entry, Record)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("piece", [b"<![CDATA[", b"<html><link ", b"&", b"<item>"])
def test_no_body_of_a_stranger_takes_long(piece: bytes) -> None:
    try:
        entries_of(piece * 20_000)
    except InputError as error:
        assert URL in str(error)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_feed_or_an_input_error(body: bytes) -> None:
    try:
        assert all(isinstance(entry, (Record, Refusal)) for entry in entries_of(body))
    except InputError as error:
        assert URL in str(error)


@given(
    st.lists(
        st.text(st.characters(min_codepoint=32, blacklist_categories=("Cs", "Cc", "Cn", "Co")), min_size=1), max_size=5
    )
)
def test_every_titled_entry_becomes_a_record(titles: list[str]) -> None:
    escaped = [t.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for t in titles]
    entries = entries_of(rss(*(f"<title>{title}</title>" for title in escaped)))
    assert len(entries) == len(titles)
    for entry, title in zip(entries, titles, strict=True):
        if title.strip() and title_fingerprint(clean(title)):
            assert isinstance(entry, Record)


# --- asking


def fetch(fakeweb: FakeWeb, cursor: str = "") -> Page:
    (page,) = Feed.of(URL).fetch(fakeweb.client(), cursor, NOW)
    return page


def test_an_unchanged_feed_is_asked_for_with_its_validators_and_is_quiet(fakeweb: FakeWeb) -> None:
    stamp = "Mon, 01 Jan 2026 00:00:00 GMT"
    full = Answer(rss("<title>Slow rivers</title>"), headers={"ETag": '"1"', "Last-Modified": stamp})
    fakeweb.on("journal.example.org", "/rss", full, Answer(status=304))
    first = fetch(fakeweb)
    assert (first.state, len(list(Feed.of(URL).parse(first)))) == (SourceState.OK, 1)
    second = fetch(fakeweb, first.cursor)
    headers = fakeweb.requests[1].headers
    assert (headers["if-none-match"], headers["if-modified-since"]) == ('"1"', stamp)
    assert (second.state, second.body, second.cursor) == (SourceState.QUIET, b"", first.cursor)
    assert second.remark and list(Feed.of(URL).parse(second)) == []


def test_the_charset_of_the_answer_reaches_the_parser(fakeweb: FakeWeb) -> None:
    body = rss("<title>Müller am Fluß</title>").decode().encode("latin-1")
    fakeweb.on("journal.example.org", "/rss", Answer(body, headers={"Content-Type": "text/xml; charset=iso-8859-1"}))
    (entry,) = Feed.of(URL).parse(fetch(fakeweb))
    assert isinstance(entry, Record)
    assert entry.title == "Müller am Fluß"


def test_an_empty_answer_is_remarked_upon(fakeweb: FakeWeb) -> None:
    fakeweb.on("journal.example.org", "/rss", Answer(b""))
    assert fetch(fakeweb).remark == "the feed is empty"


# --- settings


@pytest.mark.parametrize(
    "rest", ["", "journal.example.org/rss", "ftp://e.org/x", "https://", "http://[", "https://e.org:x/"]
)
def test_what_is_no_address_is_refused_with_the_remedy(rest: str) -> None:
    with pytest.raises(SettingsError, match=r"feed:https://www\.nature\.com/nature\.rss"):
        Feed.of(rest)


def test_sources_are_told_apart_by_their_address_without_passwords() -> None:
    assert Feed.of("https://ann:secret@e.org:8080/rss?topic=1").source == "feed:e.org:8080/rss?topic=1"
    assert "s3cret" not in Feed.of("https://e.org/rss?topic=1&token=s3cret").source
    assert Feed.of("https://e.org/a/").source == Feed.of("http://e.org/a").source == "feed:e.org/a"
    assert Feed.of(URL).name == f"feed:{URL}"
