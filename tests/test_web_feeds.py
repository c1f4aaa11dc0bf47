"""Atom feeds of the newest papers and of searches: valid whatever a paper holds, and one stable id a paper."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from starlette.testclient import TestClient

from broadsheet.model import Area, Notice, NoticeKind, Paper, Version
from broadsheet.web import atom, create_app
from tests.fake_library import FakeLibrary
from tests.makers import identifier
from tests.pages import BASE, NOW, page

PAPER = Paper(
    7,
    "How *bees* decide in $\\sqrt{2}$ steps",
    "They dance & sing.",
    authors=("Ada Lovelace", "Jörg Müller"),
    identifiers=(identifier("2611.00001"),),
    areas=(Area("cs", "cs.MA"),),
    venue="icml",
    published=date(2026, 11, 2),
    listed=date(2026, 11, 3),
)


def parsed(body: bytes) -> feedparser.FeedParserDict:
    etree.fromstring(body)  # well-formed by a strict parser
    found = feedparser.parse(io.BytesIO(body))
    assert not found.bozo
    return found


def made(*papers: Paper) -> feedparser.FeedParserDict:
    base, authority = "https://papers.example.org:8000", "papers.example.org"
    return parsed(atom.feed(papers, title="T", base=base, path="/feed.atom", page="/", authority=authority))


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE) as found:
        yield found


def test_an_entry_says_what_a_reader_needs() -> None:
    (entry,) = made(PAPER).entries
    assert entry.title == "How bees decide in √2 steps"
    assert entry.link == "https://papers.example.org:8000/paper/7"
    assert [author.name for author in entry.authors] == ["Ada Lovelace", "Jörg Müller"]
    assert (entry.published, entry.updated) == ("2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z")
    assert [tag.term for tag in entry.tags] == ["cs.MA", "ICML"]
    assert entry.summary == "They dance &amp; sing."
    assert "https://arxiv.org/abs/2611.00001" in [link.href for link in entry.links]


def test_e09_a_paper_stays_one_entry_whatever_becomes_of_it() -> None:
    first = made(PAPER).entries[0]
    versions = (Version(1, date(2026, 11, 2)), Version(2, date(2026, 12, 1)))
    later = replace(PAPER, title="How ants decide", identifiers=(), venue="", versions=versions)
    second = made(later).entries[0]
    assert first.id == second.id == "tag:papers.example.org,2026:paper/7"
    assert second.updated == "2026-12-01T00:00:00Z"
    assert made(replace(PAPER, id=8)).entries[0].id != first.id


@pytest.mark.parametrize(
    ("site_url", "authority"),
    [
        ("https://Papers.Example.org:8000/", "papers.example.org"),
        ("http://papers.example.org/lab", "papers.example.org"),
        ("https://me:x@papers.example.org", "papers.example.org"),
        ("", atom.OURS),
        ("papers.example.org", atom.OURS),
        ("http://[::1]:8765", atom.OURS),
    ],
)
def test_e09_ids_are_the_same_by_whatever_name_the_site_is_asked(
    library: FakeLibrary, site_url: str, authority: str
) -> None:
    app = create_app(library, site_url=site_url, now=lambda: NOW)
    feeds = [
        parsed(TestClient(app, base_url=base).get("/feed.atom").content)
        for base in ("http://127.0.0.1:8765", "http://localhost:9000")
    ]
    ids = [[found.feed.id, *(entry.id for entry in found.entries)] for found in feeds]
    assert ids[0] == ids[1]
    assert ids[0][1].startswith(f"tag:{authority},2026:paper/")
    assert feeds[0].entries[0].link != feeds[1].entries[0].link, "links go to where the site was asked"


def test_a_withdrawn_paper_says_so_in_its_title() -> None:
    gone = replace(PAPER, notices=(Notice(NoticeKind.WITHDRAWN, "an error"),))
    assert made(gone).entries[0].title.startswith("[withdrawn] How bees")


def test_a_feed_without_papers_is_one() -> None:
    found = made()
    assert (found.entries, found.feed.updated) == ([], "1970-01-01T00:00:00Z")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_it_is_valid_whatever_a_paper_contains(title: str, abstract: str, name: str) -> None:
    paper = Paper(1, title, abstract, authors=(name,), venue=name, areas=(Area(name or "x"),))
    (entry,) = made(paper).entries
    assert "<script" not in entry.get("summary", "").lower()


def test_hostile_text_is_inert() -> None:
    paper = replace(PAPER, title="<script>alert(1)</script>", abstract='<img src=x onerror="alert(1)"> & ]]> text')
    entry = made(paper).entries[0]
    assert "onerror" not in entry.summary or "&lt;img" in entry.summary


def test_the_newest_papers(client: TestClient, library: FakeLibrary) -> None:
    response = client.get("/feed.atom")
    assert response.headers["content-type"].startswith("application/atom+xml")
    found = parsed(response.content)
    assert len(found.entries) == min(atom.PAPERS, len(library.papers))
    assert found.feed.links[0].href == f"{BASE}/feed.atom"


def test_what_a_search_finds_newest_first(client: TestClient) -> None:
    response = client.get("/search.atom?q=noise&area=Theory")
    found = parsed(response.content)
    days = [entry.updated for entry in found.entries]
    assert days == sorted(days, reverse=True)
    assert found.feed.title == "Broadsheet: noise"
    assert [link.href for link in found.feed.links if link.rel == "alternate"] == [f"{BASE}/search?q=noise&area=Theory"]


def test_a_feed_of_nothing_asked_is_refused(client: TestClient) -> None:
    assert client.get("/search.atom?q=").status_code == 400


@pytest.mark.parametrize("path", ["/", "/search?q=noise"])
def test_pages_lead_to_their_feed(client: TestClient, path: str) -> None:
    (link,) = page(client, path).all("link", type="application/atom+xml")
    assert client.get(link[0]["href"]).status_code == 200


def test_a_feed_that_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/feed.atom")
    again = client.get("/feed.atom", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == "no-cache"


def test_a_search_that_cannot_be_read_is_told_to_a_feed_reader_in_a_line(client: TestClient) -> None:
    response = client.get("/search.atom?page=0&q=")
    assert (response.status_code, response.headers["content-type"]) == (400, "text/plain; charset=utf-8")
