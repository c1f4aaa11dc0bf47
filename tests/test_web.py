"""The front page, the pages of a day, and what all pages have in common, over a library in memory."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from broadsheet.errors import BusyError, IndexDamagedError, StoreError
from broadsheet.model import Area, Paper
from broadsheet.web import create_app
from broadsheet.web.assets import Assets
from tests.fake_library import NEWEST, FakeLibrary
from tests.pages import BASE, NOW, Page, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


# --- front page


def test_the_newest_papers_have_masthead_date_days_and_figures(client: TestClient) -> None:
    parsed = page(client, "/newest")
    assert "Monday, 30 November 2026" in parsed.text("p", class_="dateline")
    heads = [text for _, text in parsed.all("h2", class_="dayhead")]
    assert heads[:2] == ["Friday, 12 June 2026", "Thursday, 11 June 2026"]
    assert heads[-1] == "Without a date"
    assert len(heads) == len(set(heads))
    assert "60 papers from 72 records; vectors for 60 % of papers so far." in parsed.text("footer")
    assert "/day/2026-06-12" in parsed.links()


def test_without_an_encoder_nothing_is_said_of_vectors(monkeypatch: pytest.MonkeyPatch, library: FakeLibrary) -> None:
    made = replace(library.status(), encoder="none", encoded=0)
    monkeypatch.setattr(library, "status", lambda: made)
    with TestClient(create_app(library), base_url=BASE) as client:
        assert "vectors" not in page(client, "/newest").text("footer")
    waiting = replace(made, encoder="e5-small")
    monkeypatch.setattr(library, "status", lambda: waiting)
    with TestClient(create_app(library), base_url=BASE) as client:
        assert "vectors for 0 % of papers so far" in page(client, "/newest").text("footer").replace(
            "\u202f", " "
        ).replace("\xa0", " ")


def test_an_empty_library_says_what_to_do() -> None:
    with TestClient(create_app(FakeLibrary(papers={})), base_url=BASE) as client:
        assert "broadsheet import" in page(client, "/").text("main")
        assert page(client, "/status")
        assert client.get("/day").status_code == 404


def test_going_on_to_earlier_papers_shows_each_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broadsheet.web.listing.FRONT_PAPERS", 19)
    seen: list[str] = []
    url: str | None = "/newest"
    while url:
        parsed = page(client, url)
        seen += [link for link in parsed.links() if re.fullmatch(r"/paper/\d+", link)]
        url = next((attrs["href"] for attrs, _ in parsed.all("a", rel="next")), None)
    assert len(seen) == 60
    assert set(seen) == {f"/paper/{n}" for n in range(1, 61)}


def test_the_figures_are_asked_for_once_in_a_while(client: TestClient, library: FakeLibrary) -> None:
    for _ in range(3):
        client.get("/")
    assert library.calls.count("status") == 1


# --- day


def test_a_day_and_its_neighbours_that_have_papers(client: TestClient) -> None:
    parsed = page(client, "/day/2026-06-11")
    assert parsed.text("h1") == "Thursday, 11 June 2026"
    assert "14 papers" in parsed.text("header", class_="dayline")
    assert len(parsed.all("article")) == 14
    assert parsed.all("a", rel="prev", href="/day/2026-06-06")
    assert parsed.all("a", rel="next", href="/day/2026-06-12")


def test_from_a_day_without_papers_the_arrows_lead_to_days_with_some(client: TestClient) -> None:
    parsed = page(client, "/day/2026-06-08")
    assert parsed.all("a", rel="prev", href="/day/2026-06-06")
    assert parsed.all("a", rel="next", href="/day/2026-06-11")
    assert not page(client, "/day/1999-01-01").all("a", rel="prev")
    assert not page(client, "/day/2031-01-01").all("a", rel="next")


def test_the_latest_day(client: TestClient) -> None:
    assert client.get("/day").headers["location"] == f"/day/{NEWEST}"


def test_a_long_day_goes_on(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broadsheet.web.listing.DAY_PAPERS", 5)
    url, seen = "/day/2026-06-11", []
    for _ in range(3):
        parsed = page(client, url)
        seen += [link for link in parsed.links() if re.fullmatch(r"/paper/\d+", link)]
        url = next((a["href"] for a, text in parsed.all("a", rel="next") if text == "More of this day"), "")
    assert url == ""
    assert len(seen) == len(set(seen)) == 14


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "2026-6-1", "20260601", "2026-W10-1"])
def test_a_day_that_is_none_is_refused(client: TestClient, day: str) -> None:
    assert "2025-06-30" in page(client, f"/day/{day}", 400).text("main")


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
def test_the_ends_of_the_calendar(client: TestClient, day: str) -> None:
    page(client, f"/day/{day}")


# --- rest


def test_the_status_page_keeps_folders_to_itself(client: TestClient) -> None:
    response = client.get("/status")
    assert "/secret/home" not in response.text
    rows = [text for _, text in Page(response.text).all("tr")]
    assert "Papers 60" in rows
    assert "arxiv 60" in rows


def test_the_status_page_names_a_job_in_trouble_and_what_goes_on(client: TestClient, monkeypatch: Any) -> None:
    plain = FakeLibrary().status()
    details = {"encoding_trouble": "cannot write /secret/home", "encoding": "10 of 60", "nested": {"a": 1}}
    monkeypatch.setattr(FakeLibrary, "status", lambda self: replace(plain, details=details))
    response = client.get("/status")
    text = Page(response.text).text("main")
    assert "In trouble: encoding." in text
    assert "Encoding 10 of 60" in text
    assert "secret" not in response.text


def test_a_browser_can_add_the_search(client: TestClient) -> None:
    assert page(client, "/").all("link", rel="search", href="/opensearch.xml")
    response = client.get("/opensearch.xml")
    assert response.headers["content-type"].startswith("application/opensearchdescription+xml")
    root = ElementTree.fromstring(response.text)
    url = root.find("{http://a9.com/-/spec/opensearch/1.1/}Url")
    assert url is not None
    assert url.attrib["template"] == f"{BASE}/search?q={{searchTerms}}"


def test_static_files_are_kept_for_ever_under_names_that_change_with_them(client: TestClient, tmp_path: Any) -> None:
    for name, kind in (
        ("site.css", "text/css"),
        ("site.js", "text/javascript"),
        ("broadsheet-math.woff2", "font/woff2"),
    ):
        response = client.get(Assets().url(name))
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert "immutable" in response.headers["cache-control"]
    assert client.get("/static/site.css").status_code == 404
    (tmp_path / "a.woff2").write_bytes(b"one")
    (tmp_path / "s.css").write_text('src: url("a.woff2")')
    before = Assets(tmp_path)
    assert f'url("{before.url("a.woff2")}")'.encode() in before.named("s.css").body
    (tmp_path / "a.woff2").write_bytes(b"two")
    after = Assets(tmp_path)
    assert before.url("a.woff2") != after.url("a.woff2")
    assert before.url("s.css") != after.url("s.css")


def test_pages_with_formulas_ask_for_their_font_at_once(client: TestClient) -> None:
    assert "broadsheet-math" in client.get("/paper/1").headers["link"]
    assert "link" not in client.get("/status").headers


def test_pages_are_compressed_and_answer_head(client: TestClient) -> None:
    assert client.get("/", headers={"accept-encoding": "gzip"}).headers["content-encoding"] == "gzip"
    assert client.head("/paper/1").status_code == 200
    assert client.get("/robots.txt").text.startswith("User-agent: *\nDisallow: /search")
    assert client.get("/favicon.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize(("path", "method"), [("/", "POST"), ("/search", "DELETE"), ("/paper/1", "PUT")])
def test_pages_can_only_be_read(client: TestClient, path: str, method: str) -> None:
    assert client.request(method, path).status_code == 405


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (BusyError("locked by process 77 in /secret/home"), 503),
        (IndexDamagedError("/secret/home/index is damaged"), 503),
        (StoreError("disk I/O error in /secret/home"), 500),
        (RuntimeError("secret detail"), 500),
    ],
)
def test_a_fault_is_told_without_its_inside_and_logged_with_it(
    fault: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    library = FakeLibrary(fault=fault)
    with caplog.at_level(logging.ERROR), TestClient(create_app(library), base_url=BASE) as client:
        for path in ("/", "/search?q=x", "/paper/1", "/day", "/status"):
            caplog.clear()
            response = client.get(path)
            assert response.status_code == status
            assert "secret" not in response.text
            assert "Traceback" not in response.text
            request_id = response.headers["x-request-id"]
            assert f"Request {request_id}" in Page(response.text).text("main")
            assert request_id in caplog.text
            assert str(fault) in caplog.text
            assert "content-security-policy" in response.headers
            assert ("retry-after" in response.headers) is (status == 503)


def test_a_fault_on_the_way_out_of_a_search_for_an_area_with_markup(client: TestClient, library: FakeLibrary) -> None:
    library.papers[1] = Paper(1, "x", areas=(Area('<b>"A" & B</b>'),), venue="<i>V</i>")
    for path in ("/", "/paper/1", "/search?q=x"):
        source = client.get(path).text
        assert "<b>" not in source
        assert "<i>V" not in source


def test_every_link_within_the_site_leads_somewhere(client: TestClient) -> None:
    waiting, seen = ["/", "/search?q=noise&area=Theory", "/paper/4", "/paper/5"], set[str]()
    while waiting and len(seen) < 150:
        url = waiting.pop(0)
        if url in seen:
            continue
        seen.add(url)
        response = client.get(url)
        assert response.status_code in (200, 302), url
        if response.status_code == 302:
            waiting.append(response.headers["location"])
        elif response.headers["content-type"].startswith("text/html"):
            links = [link.partition("#")[0] for link in Page(response.text).links() if link.startswith("/")]
            waiting += [link for link in links if link and link not in seen]
    assert len(seen) == 150
