"""Zotero's API: a library online."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from broadsheet.errors import FetchError, SettingsError
from broadsheet.model import Record, Refusal, SourceState
from broadsheet.net import Client
from broadsheet.sources.base import Page
from broadsheet.sources.catalogue import Options
from broadsheet.sources.zotero_api import ZoteroLibrary
from tests.fakeweb import Answer, FakeWeb, Request
from tests.makers import identifier

HOST = "api.zotero.org"
PATH = "/users/12345/items/top"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LIBRARY = ZoteroLibrary.of("users/12345", Options(zotero_key="s3cret"))


def item(number: int = 1, meta: dict[str, Any] | None = None, **data: Any) -> dict[str, Any]:
    key = f"KEY{number:05}"
    plain = {
        "key": key,
        "itemType": "journalArticle",
        "title": f"Slow rivers {number}",
        "dateAdded": "2020-02-07T10:52:54Z",
    }
    return {"key": key, "version": 7, "meta": meta or {}, "data": plain | data}


def read(**data: Any) -> Record:
    (entry,) = LIBRARY.parse(Page("u", json.dumps([item(**data)]).encode(), ""))
    assert isinstance(entry, Record), entry
    return entry


class Library:
    """A Zotero server with items of its own."""

    def __init__(self, count: int) -> None:
        self.items = [item(n) for n in range(count)]
        self.version = 40

    def __call__(self, request: Request) -> Answer:
        if request.headers.get("if-modified-since-version") == str(self.version):
            return Answer(status=304)
        since = int(request.query.get("since", ["0"])[0])
        changed = [one for one in self.items if one.get("changed", 1) > since]
        start, limit = int(request.query["start"][0]), int(request.query["limit"][0])
        headers = {"Total-Results": str(len(changed)), "Last-Modified-Version": str(self.version)}
        return Answer(json.dumps(changed[start : start + limit]), headers=headers)


def keys(pages: list[Page]) -> list[str]:
    return [entry.key for page in pages for entry in LIBRARY.parse(page) if isinstance(entry, Record)]


def fetch(client: Client, cursor: str = "") -> list[Page]:
    return list(LIBRARY.fetch(client, cursor, NOW))


# --- asking ----------------------------------------------------------------------------------------------------------


def test_a_library_is_read_page_by_page_and_then_only_its_changes(fakeweb: FakeWeb) -> None:
    server = Library(250)
    fakeweb.on(HOST, PATH, server)
    pages = fetch(fakeweb.client())
    assert keys(pages) == [one["key"] for one in server.items]
    assert [request.query["start"] for request in fakeweb.requests] == [["0"], ["100"], ["200"]]
    first = fakeweb.requests[0]
    assert (first.headers["zotero-api-version"], first.headers["zotero-api-key"]) == ("3", "s3cret")
    assert "since" not in first.query and "if-modified-since-version" not in first.headers
    (quiet,) = fetch(fakeweb.client(), pages[-1].cursor)
    assert (quiet.state, quiet.body, quiet.cursor) == (SourceState.QUIET, b"", pages[-1].cursor)
    assert quiet.remark and keys([quiet]) == []
    server.version = 41
    server.items.append(item(999) | {"changed": 41})
    (news,) = fetch(fakeweb.client(), quiet.cursor)
    assert keys([news]) == ["KEY00999"]
    assert fakeweb.requests[-1].query["since"] == ["40"]
    assert json.loads(news.cursor) == {"version": 41}


def test_it_goes_on_after_any_page(fakeweb: FakeWeb) -> None:
    server = Library(250)
    fakeweb.on(HOST, PATH, server)
    first = next(iter(LIBRARY.fetch(fakeweb.client(), "", NOW)))
    rest = fetch(fakeweb.client(), first.cursor)
    assert keys([first, *rest]) == [one["key"] for one in server.items]


def test_what_changes_meanwhile_is_asked_for_the_next_time(fakeweb: FakeWeb) -> None:
    server = Library(150)
    fakeweb.on(HOST, PATH, server)
    pages = LIBRARY.fetch(fakeweb.client(), "", NOW)
    next(pages)
    server.version = 55
    assert json.loads(next(pages).cursor) == {"version": 40}


def test_deletions_meanwhile_lose_nothing(fakeweb: FakeWeb) -> None:
    server = Library(320)
    fakeweb.on(HOST, PATH, server)
    pages = LIBRARY.fetch(fakeweb.client(), "", NOW)
    found = [next(pages)]
    del server.items[:30]
    found += list(pages)
    assert set(keys(found)) >= {one["key"] for one in server.items}


def test_a_page_that_comes_back_empty_is_incomplete_and_asked_for_again(fakeweb: FakeWeb) -> None:
    whole = Library(250)
    empty = Answer("[]", headers={"Total-Results": "250", "Last-Modified-Version": "40"})
    fakeweb.on(HOST, PATH, whole, empty, whole)
    pages = fetch(fakeweb.client())
    assert (pages[-1].state, pages[-1].body) == (SourceState.INCOMPLETE, b"")
    assert "100 of 250" in pages[-1].remark
    assert len(set(keys(pages + fetch(fakeweb.client(), pages[-1].cursor)))) == 250


def test_paging_by_the_link_alone(fakeweb: FakeWeb) -> None:
    link = {
        "Link": '<https://api.zotero.org/users/12345/items/top?start=100>; rel="next"',
        "Last-Modified-Version": "9",
    }
    fakeweb.on(HOST, PATH, Answer(json.dumps([item(1)]), headers=link), Answer(json.dumps([item(2)])))
    assert keys(fetch(fakeweb.client())) == ["KEY00001", "KEY00002"]


def test_an_empty_library(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Library(0))
    (page,) = fetch(fakeweb.client())
    assert (keys([page]), json.loads(page.cursor)) == ([], {"version": 40})


def test_a_collection_of_a_group_without_a_key(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/groups/99/collections/ABCD2345/items/top", Library(1))
    source = ZoteroLibrary.of("groups/99/collections/ABCD2345")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert "zotero-api-key" not in fakeweb.requests[0].headers
    (entry,) = source.parse(page)
    assert isinstance(entry, Record)
    assert entry.source == "zotero:groups/99"
    assert source.name == "zotero:groups/99/collections/ABCD2345"


@pytest.mark.parametrize(
    ("status", "options", "remedy"),
    [
        (403, Options(), "set zotero_key"),
        (403, Options(zotero_key="s3cret"), "the key may not read"),
        (404, Options(), "no such library"),
    ],
)
def test_refusals_say_what_to_do(fakeweb: FakeWeb, status: int, options: Options, remedy: str) -> None:
    fakeweb.on(HOST, PATH, Answer("Forbidden", status=status))
    with pytest.raises(FetchError, match=remedy) as caught:
        list(ZoteroLibrary.of("users/12345", options).fetch(fakeweb.client(), "", NOW))
    assert caught.value.status == status
    assert "zotero:users/12345" in str(caught.value) and "s3cret" not in str(caught.value)


def test_the_key_is_shown_nowhere() -> None:
    assert "s3cret" not in repr(LIBRARY) + LIBRARY.name


@pytest.mark.parametrize("rest", ["", "12345", "users/", "users/x", "users/1/collections/x", "https://zotero.org/ann"])
def test_what_is_no_library_is_refused_with_the_remedy(rest: str) -> None:
    with pytest.raises(SettingsError, match="zotero:users/NUMBER"):
        ZoteroLibrary.of(rest)


# --- items -----------------------------------------------------------------------------------------------------------


def test_an_article() -> None:
    entry = read(
        creators=[
            {"creatorType": "author", "firstName": "Ann", "lastName": "Li"},
            {"creatorType": "author", "name": "The River Team"},
            {"creatorType": "editor", "firstName": "Bo", "lastName": "Chen"},
            {"creatorType": "editor", "firstName": "", "lastName": ""},
        ],
        abstractNote="They flow. Code: https://github.com/ann/boats",
        publicationTitle="Journal of Rivers",
        **{"volume": "3", "issue": "2", "pages": "4-9", "ISSN": "1234-5678", "DOI": "10.1000/Rivers"},
        date="July 2, 2019",
        url="http://arxiv.org/abs/1904.02713",
        tags=[{"tag": "boats", "type": 1}, {"tag": "⭐"}, {"tag": "boats"}],
    )
    assert (entry.source, entry.key, entry.kind) == ("zotero:users/12345", "KEY00001", "article")
    assert entry.authors == ("Ann Li", "The River Team")
    assert entry.added == datetime(2020, 2, 7, 10, 52, 54, tzinfo=UTC)
    assert (entry.year, entry.venue, entry.keywords) == (2019, "Journal of Rivers", ("boats", "⭐"))
    assert entry.identifiers == (identifier("10.1000/rivers"), identifier("arXiv:1904.02713"))
    assert [link.url for link in entry.links] == ["http://arxiv.org/abs/1904.02713", "https://github.com/ann/boats"]
    details = dict(entry.details)
    expected = {"journal": "Journal of Rivers", "volume": "3", "number": "2", "pages": "4-9", "issn": "1234-5678"}
    assert expected.items() <= details.items()
    assert (details["editor"], details["date"]) == ("Bo Chen", "July 2, 2019")


@pytest.mark.parametrize(
    ("data", "kind", "venue", "expected"),
    [
        (
            {"itemType": "conferencePaper", "proceedingsTitle": "Proc. ROW", "conferenceName": "ROW 2020"},
            "inproceedings",
            "Proc. ROW",
            {"booktitle": "Proc. ROW", "eventtitle": "ROW 2020"},
        ),
        ({"itemType": "conferencePaper", "conferenceName": "ROW"}, "inproceedings", "ROW", {"eventtitle": "ROW"}),
        ({"itemType": "bookSection", "bookTitle": "Rivers"}, "incollection", "Rivers", {"booktitle": "Rivers"}),
        ({"itemType": "preprint", "repository": "arXiv"}, "online", "arXiv", {}),
        ({"itemType": "thesis", "university": "U", "thesisType": "PhD"}, "thesis", "", {"school": "U", "type": "PhD"}),
        (
            {"itemType": "report", "reportNumber": "7", "institution": "I"},
            "report",
            "",
            {"number": "7", "institution": "I"},
        ),
        ({"itemType": "somethingNew"}, "misc", "", {}),
        ({"publicationTitle": "arXiv:2401.12345 [cs]"}, "article", "arXiv", {}),
        (
            {"extra": "Citation Key: li2020\nfoo"},
            "article",
            "",
            {"citekey": "li2020", "note": "Citation Key: li2020\nfoo"},
        ),
    ],
)
def test_kinds_venues_and_details(data: dict[str, Any], kind: str, venue: str, expected: dict[str, str]) -> None:
    entry = read(**data)
    assert (entry.kind, entry.venue) == (kind, venue)
    assert expected.items() <= dict(entry.details).items()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"DOI": "https://doi.org/10.1000/Rivers"}, "10.1000/rivers"),
        ({"extra": "tex.x: y\nDOI: 10.1000/rivers"}, "10.1000/rivers"),
        ({"archiveID": "arXiv:2401.12345"}, "arXiv:2401.12345"),
        ({"extra": "arXiv: 2401.12345 [cs]"}, "arXiv:2401.12345"),
        ({"publicationTitle": "arXiv:2401.12345 [cs]"}, "arXiv:2401.12345"),
        ({"extra": "PMID: 1234"}, "pmid:1234"),
        ({"url": "https://openreview.net/forum?id=abcdefghij"}, "openreview:abcdefghij"),
        ({"url": "https://example.org/x", "extra": "see 2401.12345"}, None),
    ],
)
def test_identifiers(data: dict[str, Any], found: str | None) -> None:
    assert read(**data).identifiers == ((identifier(found),) if found else ())


@pytest.mark.parametrize(
    ("told", "meta", "published", "month_only", "year"),
    [
        ("2019-07-02", {}, date(2019, 7, 2), False, 2019),
        ("2019-07", {}, date(2019, 7, 1), True, 2019),
        ("2019", {"parsedDate": "2019"}, None, False, 2019),
        ("2. Juli 2019", {"parsedDate": "2019-07-02"}, date(2019, 7, 2), False, 2019),
        ("Frühjahr 2019", {}, None, False, 2019),
        ("n.d.", {}, None, False, None),
        ("", {}, None, False, None),
    ],
)
def test_dates(told: str, meta: dict[str, str], published: date | None, month_only: bool, year: int | None) -> None:
    entry = read(date=told, meta=meta)
    assert (entry.published, entry.month_only, entry.year) == (published, month_only, year)


def test_attachments_notes_and_the_bin_are_left_out() -> None:
    items = [
        item(1, itemType="attachment"),
        item(2, itemType="note", title=""),
        item(3, itemType="annotation"),
        item(4, deleted=1),
        item(5, deleted=False),
    ]
    assert keys([Page("u", json.dumps(items).encode(), "")]) == ["KEY00005"]


def test_an_item_without_a_title_is_refused_and_the_others_kept() -> None:
    items = [
        item(1, title=""),
        item(2),
        item(3, title={"a": 1}),
        item(4, title="", itemType="case", caseName="A v. B"),
        7,
    ]
    found = list(LIBRARY.parse(Page("u", json.dumps(items).encode(), "")))
    assert [type(entry) for entry in found] == [Refusal, Record, Refusal, Record, Refusal]
    assert isinstance(found[0], Refusal) and "KEY00001" in found[0].reason
