"""A reader's own feeds: of editions, of a section, of a saved search; valid whatever a paper holds."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime

import feedparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from starlette.testclient import TestClient

from broadsheet.model import Area, Paper
from broadsheet.model.reading import SavedSearch
from broadsheet.web import atom, create_app, own_feeds
from tests.fake_daily import DAYS, MADE, OTHER_SECRET, SECRET, TODAY
from tests.fake_library import FakeLibrary
from tests.pages import BASE, NOW, page

# Whatever a string of Python can hold: control characters, lone surrogates and what is no character at all.
ANYTHING = st.text(st.characters(), max_size=40) | st.sampled_from(
    [
        "]]>",
        "<![CDATA[",
        "&#0;",
        "&amp;#0;",
        "\x00\x08\x0b\x1f",
        "\ud800",
        "\udfff<b>",
        "\ufffe\uffff",
        "</entry>",
        "$\\frac{\x01}{$",
    ]
)


def parsed(body: bytes) -> feedparser.FeedParserDict:
    etree.fromstring(body)  # well-formed by a strict parser
    found = feedparser.parse(io.BytesIO(body))
    assert not found.bozo
    return found


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    app = create_app(library, host="0.0.0.0", now=lambda: NOW)
    with TestClient(app, base_url=BASE, follow_redirects=False) as found:
        yield found


def feed(client: TestClient, path: str, secret: str = SECRET) -> feedparser.FeedParserDict:
    response = client.get(f"/r/{secret}/{path}")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("application/atom+xml")
    assert response.headers["cache-control"] == "private, no-cache"
    assert response.headers["x-robots-tag"] == "noindex"
    assert response.headers["referrer-policy"] == "no-referrer"
    return parsed(response.content)


def numbers(found: feedparser.FeedParserDict) -> list[int]:
    return [int(entry.id.rpartition("/")[2]) for entry in found.entries]


def test_the_feed_has_todays_edition_first_and_then_those_before(client: TestClient, library: FakeLibrary) -> None:
    editions = [library.daily.edition(day, "me") for day in DAYS]
    expected = [entry.paper.id for edition in editions for entry in edition.entries]
    found = feed(client, "edition.atom")
    assert numbers(found) == expected[: own_feeds.MOST_PAPERS]
    assert found.entries[0].updated == "2026-06-12T06:30:00Z"
    assert found.feed.updated == "2026-06-12T06:30:00Z"
    assert "today" in library.daily.calls, "asking for it prints what is due"


def test_an_entry_says_why_it_is_there_and_by_whom(client: TestClient) -> None:
    summary = feed(client, "edition.atom").entries[0].summary
    assert summary.startswith(
        "<p><em>Front page, 12 June 2026. By Emmy Noether, whom you follow; like 3 papers you saved on sparse recovery"
        "</em></p><p>Sofia Kovalevskaya, Évariste Galois, Ada Lovelace</p><p>We ask"
    )
    assert feed(client, "section/discovery.atom").entries[0].summary.startswith("<p><em>Discovery, 12 June 2026. ")


@pytest.mark.parametrize("path", ["edition.atom", "section/front.atom", "search/1.atom"])
def test_a_feed_that_has_not_changed_is_not_sent_again(client: TestClient, path: str) -> None:
    first = client.get(f"/r/{SECRET}/{path}")
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    for named in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = client.get(f"/r/{SECRET}/{path}", headers={"if-none-match": named})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["cache-control"] == "private, no-cache"
        assert "content-type" not in again.headers
    assert client.get(f"/r/{SECRET}/{path}", headers={"if-none-match": '"other"'}).content == first.content
    plain = client.get(f"/r/{SECRET}/{path}", headers={"accept-encoding": "identity"})
    assert plain.headers["etag"] == tag, "compressed or not"


def test_a_feed_that_has_changed_is_sent(client: TestClient, library: FakeLibrary) -> None:
    tag = client.get(f"/r/{SECRET}/edition.atom").headers["etag"]
    edition = library.daily.edition(TODAY, "me")
    library.daily._editions["me", TODAY] = replace(edition, sections=edition.sections[:1])
    changed = client.get(f"/r/{SECRET}/edition.atom", headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_a_wrong_address_of_a_feed_is_told_in_a_line(client: TestClient) -> None:
    """A feed reader shows no page of HTML."""
    wrong = ("wrong/edition.atom", f"{SECRET}/section/nope.atom", f"{SECRET}/search/99.atom", f"{SECRET}/nope.atom")
    for path in wrong:
        response = client.get(f"/r/{path}")
        assert response.status_code == 404, path
        assert response.headers["content-type"] == "text/plain; charset=utf-8"
        assert response.headers["cache-control"] == "private, no-store"
        assert len(response.text) < 200
        assert SECRET not in response.text
    assert client.get(f"/r/{SECRET}/search/99.atom").text == "There is no such saved search.\n"
    assert client.get("/r/wrong").headers["content-type"].startswith("text/html"), "that is a person's"


def test_feeds_of_a_renewed_address_are_gone(client: TestClient) -> None:
    """410 tells a feed reader to ask no more (RFC 9110, 15.5.11); what was never a secret is not found."""
    renewed = "Ab3_" * 8
    for path in ("edition.atom", "section/front.atom", "search/1.atom", "edition.json"):
        assert client.get(f"/r/{renewed}/{path}").status_code == 410, path
    response = client.get(f"/r/{renewed}/edition.atom")
    assert "renewed" in response.text
    assert renewed not in response.text
    assert client.get(f"/r/{renewed}").status_code == 404


def test_feeds_are_those_of_the_reader(client: TestClient, library: FakeLibrary) -> None:
    assert numbers(feed(client, "edition.atom", OTHER_SECRET)) == [
        entry.paper.id for entry in library.daily.edition(TODAY, "ada").entries
    ]
    assert OTHER_SECRET not in client.get(f"/r/{SECRET}/edition.atom").text


def test_a_section_over_the_days(client: TestClient, library: FakeLibrary) -> None:
    found = feed(client, "section/front.atom")
    fronts = [library.daily.edition(day, "me").section("front") for day in DAYS]
    assert numbers(found) == [entry.paper.id for front in fronts if front for entry in front.entries]
    assert found.feed.title == "Broadsheet: Front page"
    learning = feed(client, "section/area-Theory%20%C2%B7%20Learning%20Theory.atom")
    assert learning.feed.title == "Broadsheet: Learning Theory"
    assert learning.entries


def test_a_section_that_was_not_printed_lately_is_an_empty_feed(client: TestClient) -> None:
    found = feed(client, "section/area-math.PR.atom")
    assert (found.entries, found.feed.title) == ([], "Broadsheet: area-math.PR")
    for key in ("nope", "area-", "Front", "..%2F.."):
        assert client.get(f"/r/{SECRET}/section/{key}.atom").status_code == 404


def test_the_interests_page_leads_to_every_feed(client: TestClient) -> None:
    client.get(f"/r/{SECRET}")
    links = [link for link in page(client, "/interests").links() if link.startswith(f"/r/{SECRET}/")]
    assert len(links) == 9, "the edition, its seven sections, and a saved search"
    for link in links:
        assert parsed(client.get(link).content).entries, link


def test_a_saved_search(client: TestClient, library: FakeLibrary) -> None:
    found = feed(client, "search/1.atom")
    assert numbers(found) == [paper.id for paper in library.daily.search_feed(1)]
    assert found.feed.title == "Broadsheet: bandits"
    assert "Found by your saved search “bandits”" in found.entries[0].summary
    assert client.get(f"/r/{SECRET}/search/2.atom").status_code == 404
    assert client.get(f"/r/{OTHER_SECRET}/search/1.atom").status_code == 404
    assert client.get(f"/r/{SECRET}/search/{'9' * 30}.atom").status_code == 404


def test_e09_a_paper_is_one_entry_in_every_feed_and_on_every_day(client: TestClient, library: FakeLibrary) -> None:
    def ids(path: str) -> dict[int, str]:
        return {int(e.id.rpartition("/")[2]): e.id for e in feed(client, path).entries}

    before = ids("edition.atom")
    assert {number: guid for number, guid in ids("section/front.atom").items() if before[number] != guid} == {}
    key = ("me", TODAY)
    edition = library.daily._editions[key]
    front = edition.sections[0]
    changed = tuple(replace(e, paper=replace(e.paper, title="Renamed", identifiers=())) for e in front.entries)
    library.daily._editions[key] = replace(edition, sections=(replace(front, entries=changed), *edition.sections[1:]))
    assert feed(client, "edition.atom").entries[0].title == "Renamed"
    assert ids("edition.atom") == before
    assert before[1] == next(e.id for e in parsed(client.get("/feed.atom").content).entries if e.id.endswith("/1"))


def test_the_edition_as_json(client: TestClient) -> None:
    response = client.get(f"/r/{SECRET}/edition.json")
    assert response.headers["cache-control"] == "private, no-store"
    body = response.json()
    assert (body["is_new"], body["edition"]["day"]) == (True, "2026-06-12")
    assert SECRET not in response.text
    refused = client.get("/r/wrong/edition.json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")


def test_without_an_edition_the_feed_is_empty(client: TestClient, library: FakeLibrary) -> None:
    library.daily._editions.clear()
    assert feed(client, "edition.atom").entries == []
    assert client.get(f"/r/{SECRET}/edition.json").json()["edition"] is None


def test_old_editions_are_left_out(client: TestClient, library: FakeLibrary) -> None:
    edition = library.daily.edition(TODAY, "ada")
    library.daily._editions["ada", date(2025, 1, 1)] = replace(edition, day=date(2025, 1, 1))
    assert len(feed(client, "edition.atom", OTHER_SECRET).entries) == len(edition.entries)


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_a_feed_is_valid_whatever_a_paper_and_its_reasons_contain(
    title: str, abstract: str, name: str, reason: str
) -> None:
    paper = Paper(1, title, abstract, authors=(name,), venue=name, areas=(Area(name or "x", title),))
    item = atom.Item(paper, reason, datetime(2026, 6, 12, tzinfo=UTC))
    (entry,) = parsed(atom.feed([item], title=title, base="https://x.org", path="/r/x", page="/")).entries
    assert entry.id == f"tag:{atom.OURS},2026:paper/1"
    assert "<script" not in entry.get("summary", "").lower()
    assert entry.updated == "2026-06-12T00:00:00Z"


@settings(max_examples=40, deadline=None)
@given(ANYTHING)
def test_a_saved_search_of_any_text_has_a_valid_feed(text: str) -> None:
    library = FakeLibrary()
    reader = library.daily.readers_["me"]
    search = SavedSearch(1, text, text, MADE)
    library.daily.readers_["me"] = replace(reader, profile=replace(reader.profile, searches=(search,)))
    client = TestClient(create_app(library, host="0.0.0.0"), base_url=BASE)
    assert parsed(client.get(f"/r/{SECRET}/search/1.atom").content).feed.title.startswith("Broadsheet:")


def test_addresses_in_a_feed_are_addresses_whatever_an_area_is_called(client: TestClient) -> None:
    """RFC 3986 knows neither blanks nor letters with accents."""
    source = client.get(f"/r/{SECRET}/section/area-Théorie des jeux%3F.atom").text
    path = f"/r/{SECRET}/section/area-Th%C3%A9orie%20des%20jeux%3F.atom"
    assert f'rel="self" href="{BASE}{path}"' in source
