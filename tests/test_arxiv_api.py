"""arXiv's Atom answers, and asking for them page by page."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError, InputError, ThrottledError
from broadsheet.model import Identifier, NoticeKind, Record, Refusal, Scheme, SourceState, Version
from broadsheet.sources.arxiv_api import by_ids, by_query, parse_api
from broadsheet.sources.arxiv_record import moment_of
from broadsheet.sources.base import Page
from tests.fakeweb import Answer, FakeWeb, Request
from tests.shared import shared

URL = "https://export.arxiv.org/api/query?search_query=all:x"
HOST, PATH = "export.arxiv.org", "/api/query"


def entry(key: str = "2401.00001v1", *, title: str = "Small Models Learn", more: str = "", **days: str) -> str:
    published = days.get("published", "2024-01-01T10:00:00Z")
    return (
        f"<entry><id>http://arxiv.org/abs/{key}</id><title>{title}</title>"
        f"<updated>{days.get('updated', published)}</updated><published>{published}</published>"
        "<summary>We show that\n  small models learn.</summary><category term='stat.ML'/><category term='cs.LG'/>"
        "<arxiv:primary_category term='cs.LG'/><author><name>Ann Lee</name>"
        f"<arxiv:affiliation>MIT</arxiv:affiliation></author><author><name>Bo Li</name></author>{more}</entry>"
    )


def feed(*entries: str, total: int | None = None) -> str:
    count = len(entries) if total is None else total
    return (
        "<?xml version='1.0' encoding='UTF-8'?>"
        '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" '
        'xmlns="http://www.w3.org/2005/Atom"><id>https://arxiv.org/api/x</id><title>arXiv Query: search_query=all:x'
        f"</title><opensearch:totalResults>{count}</opensearch:totalResults>{''.join(entries)}</feed>"
    )


ERROR = (
    "<entry><id>https://arxiv.org/api/errors#incorrect_id_format_for_abc</id><title>Error</title>"
    "<summary>incorrect id format for abc</summary><author><name>arXiv api core</name></author></entry>"
)


def record(text: str) -> Record:
    (found,) = parse_api(URL, feed(text).encode())
    assert isinstance(found, Record), found
    return found


def recorded(path: Path) -> tuple[str, bytes]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    told = json.loads(text)
    return told["url"], told["body"].encode()


# --- reading ---


def test_everything_an_entry_says() -> None:
    more = (
        "<arxiv:comment>9 pages, code at github.com/ann/small</arxiv:comment>"
        "<arxiv:journal_ref>J. Test 1, 2</arxiv:journal_ref><arxiv:doi>10.1000/X.1 10.1000/y</arxiv:doi>"
    )
    days = {"published": "2023-12-31T23:50:00-04:00", "updated": "2024-03-01T00:30:00Z"}
    found = record(entry("2401.00001v3", more=more, **days))
    assert (found.source, found.key) == ("arxiv", "2401.00001")
    assert found.authors == ("Ann Lee", "Bo Li")
    assert found.abstract == "We show that\n  small models learn."
    assert [str(area) for area in found.areas] == ["cs.LG", "stat.ML"]  # the primary category first
    assert found.published == date(2024, 1, 1)  # in UTC
    assert found.listed is None
    assert found.versions == (Version(1, date(2024, 1, 1)), Version(3, date(2024, 3, 1)))
    assert [str(i) for i in found.identifiers] == ["arxiv:2401.00001", "doi:10.1000/x.1", "doi:10.1000/y"]
    assert dict(found.details) == {
        "comment": "9 pages, code at github.com/ann/small",
        "journal_ref": "J. Test 1, 2",
        "affiliation": "Ann Lee (MIT)",
    }
    assert "https://github.com/ann/small" in [link.url for link in found.links]
    assert found.raw.startswith("<entry")


@pytest.mark.parametrize(
    ("address", "key", "version"),
    [
        ("quant-ph/0112019v1", "quant-ph/0112019", 1),
        ("cmp-lg/9808001v1", "cmp-lg/9808001", 1),
        ("cs/9808001v1", "cs/9808001", 1),
        ("cond-mat/0612198", "cond-mat/0612198", 0),
        ("cs/0701188v2", "cs/0701188", 2),
    ],
)
def test_old_ids(address: str, key: str, version: int) -> None:
    found = record(entry(address))
    assert found.key == key
    assert found.identifiers == (Identifier(Scheme.ARXIV, key),)
    assert found.version == version


def test_published_is_of_the_first_version() -> None:
    days = {"published": "2012-05-30T10:55:49Z", "updated": "2012-10-29T08:52:49Z"}
    found = record(entry("1205.6628v2", **days))
    assert found.published == date(2012, 5, 30)
    assert found.versions == (Version(1, date(2012, 5, 30)), Version(2, date(2012, 10, 29)))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2020-03-13T13:15:14.804113+00:00", datetime(2020, 3, 13, 13, 15, 14, 804113, tzinfo=UTC)),
        ("2020-03-13T13:15:14Z", datetime(2020, 3, 13, 13, 15, 14, tzinfo=UTC)),
        ("2025-06-30T00:00:00-04:00", datetime(2025, 6, 30, 4, tzinfo=UTC)),
        ("Mon, 22 Oct 2018 22:41:50 GMT", datetime(2018, 10, 22, 22, 41, 50, tzinfo=UTC)),
        ("2026-08-12", datetime(2026, 8, 12, tzinfo=UTC)),
        ("soon", None),
        ("0001-01-01T00:00:00+05:00", None),  # before all time, in UTC
        ("", None),
    ],
)
def test_all_spellings_of_a_time(text: str, wanted: datetime | None) -> None:
    assert moment_of(text) == wanted


@given(st.one_of(st.text(max_size=40), st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T00:00:00[+-][0-9]{2}:00")))
def test_no_text_brings_it_down(text: str) -> None:
    found = moment_of(text)
    assert found is None or found.tzinfo is UTC


def test_the_newest_text_of_a_paper_with_all_its_versions() -> None:
    first, third = record(entry("2401.00001v1")), record(entry("2401.00001v3", title="Smaller Models Learn"))
    assert (first.source, first.key) == (third.source, third.key)  # so the later one takes its place
    assert third.title == "Smaller Models Learn"
    assert third.version == 3


def test_an_error_is_no_paper() -> None:
    (found,) = parse_api(URL, feed(ERROR).encode())
    assert isinstance(found, Refusal)
    assert "incorrect id format for abc" in found.reason


def test_the_feeds_title_is_no_paper() -> None:
    assert list(parse_api(URL, feed().encode())) == []


@pytest.mark.parametrize("body", [b"", b"Rate exceeded.", b"<html><title>503</title></html>"])
def test_no_feed_at_all(body: bytes) -> None:
    with pytest.raises(InputError, match="no feed document"):
        list(parse_api(URL, body))


@pytest.mark.parametrize(
    ("text", "reason"),
    [(entry("no-id"), "no arXiv id"), (entry(title=""), "no title")],
)
def test_an_entry_that_cannot_be_taken(text: str, reason: str) -> None:
    found = list(parse_api(URL, feed(text, entry()).encode()))
    assert isinstance(found[0], Refusal)
    assert reason in found[0].reason
    assert isinstance(found[1], Record)


def test_a_withdrawn_paper() -> None:
    comment = "This paper has been withdrawn by the author due to an error in Lemma 1"
    (notice,) = record(entry(more=f"<arxiv:comment>{comment}</arxiv:comment>")).notices
    assert notice.kind is NoticeKind.WITHDRAWN
    assert notice.reason == comment


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("arxivpy__id_0000.0000_s0_m100_8b51d9633a68.json", []),
        ("arxivpy__id_0808.05394_1707.08567_s0_m100_42e5aa0ec3af.json", ["1707.08567"]),
        ("arxivpy__id_astro-ph_0601001_s0_m100_3150dca9dc76.json", ["astro-ph/0601001"]),
        ("arxivpy__id_quant-ph_0201082v1_s0_m100_86989fe779ef.json", ["quant-ph/0201082"]),
    ],
)
def test_real_answers(name: str, keys: list[str]) -> None:
    url, body = recorded(shared("data", "api_fixtures", name))
    assert [entry.key for entry in parse_api(url, body) if isinstance(entry, Record)] == keys


def test_a_real_error() -> None:
    url, body = recorded(shared("data", "api_fixtures", "arxivpy__id_abc_s0_m100_b79c8dcf6bc3.json"))
    (found,) = parse_api(url, body)
    assert isinstance(found, Refusal)
    assert "incorrect id format for abc" in found.reason


def test_a_real_page_of_a_hundred() -> None:
    url, body = recorded(shared("data", "api_fixtures", "arxivpy__q_testing_s0_m100_cfe7536492ca.json.gz"))
    records = [entry for entry in parse_api(url, body) if isinstance(entry, Record)]
    assert len(records) == 100
    for found in records:
        assert found.title and found.abstract and found.authors and found.areas
        assert found.published == found.versions[0].day
        assert found.versions[0].number == 1


def test_a_real_authors_affiliation() -> None:
    url, body = recorded(shared("data", "api_fixtures", "arxivpy__id_astro-ph_0601001_s0_m100_3150dca9dc76.json"))
    (found,) = parse_api(url, body)
    assert isinstance(found, Record)
    assert dict(found.details)["affiliation"].startswith("Andrew Gould (Ohio State); Susan Dorsher (Ohio State)")
    assert dict(found.details)["journal_ref"] == "ActaAstron.56:1-50,2006"


# --- asking by ids ---


def test_ids_are_asked_in_one_request(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(feed(entry("2401.00001v1"), entry("quant-ph/0112019v1"))))
    ids = ["arXiv:2401.00001", "https://arxiv.org/abs/quant-ph/0112019", "2401.00001"]
    (page,) = by_ids(fakeweb.client(), ids)
    (request,) = fakeweb.requests
    assert request.query["id_list"] == ["2401.00001,quant-ph/0112019"]
    assert request.query["max_results"] == ["2"]
    assert page.newest == "2401.00001"
    assert page.remark == ""
    assert len(list(parse_api(page.url, page.body))) == 2


def test_ids_that_arxiv_does_not_know(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(feed(entry("2401.00001v2"))))
    (page,) = by_ids(fakeweb.client(), ["2401.00001v2", "2401.99999", "solv-int/9901001v1"])
    assert page.remark == "arXiv does not know 2401.99999, solv-int/9901001v1."


def test_many_ids_take_several_requests(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(feed(entry())))
    assert len(list(by_ids(fakeweb.client(), [f"2401.{n:05}" for n in range(1, 251)]))) == 3
    assert [len(request.query["id_list"][0].split(",")) for request in fakeweb.requests] == [100, 100, 50]


def test_what_is_no_id_is_told_before_anything_is_asked(fakeweb: FakeWeb) -> None:
    with pytest.raises(InputError, match="'abc' is no arXiv id"):
        list(by_ids(fakeweb.client(), ["2401.00001", "abc"]))
    assert fakeweb.requests == []


# --- asking by words ---


def pages_of(total: int, *, hole: int | None = None) -> object:
    """A server with ``total`` papers, empty from ``hole`` on."""

    def answer(request: Request) -> Answer:
        start, most = int(request.query["start"][0]), int(request.query["max_results"][0])
        end = min(start + most, total)
        numbers = range(start, end) if hole is None or start < hole else ()
        return Answer(feed(*(entry(f"2401.{n + 1:05}v1") for n in numbers), total=total))

    return answer


def keys_of(pages: list[Page]) -> list[str]:
    return [e.key for page in pages if page.body for e in parse_api(page.url, page.body) if isinstance(e, Record)]


def test_all_pages_of_a_query(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, pages_of(230))  # type: ignore[arg-type]
    pages = list(by_query(fakeweb.client(), "x", limit=1000))
    assert len(set(keys_of(pages))) == 230
    assert [page.cursor for page in pages] == ["100", "200", "230"]
    assert [page.state for page in pages] == [SourceState.OK] * 3


def test_no_more_than_asked_for(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, pages_of(900))  # type: ignore[arg-type]
    assert len(keys_of(list(by_query(fakeweb.client(), "x", limit=130)))) == 130
    assert [request.query["max_results"] for request in fakeweb.requests] == [["100"], ["30"]]


def test_going_on_where_one_stopped(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, pages_of(230))  # type: ignore[arg-type]
    pages = list(by_query(fakeweb.client(), "x", limit=500, start=200))
    assert keys_of(pages) == [f"2401.{n:05}" for n in range(201, 231)]


def test_beyond_the_last(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, pages_of(230))  # type: ignore[arg-type]
    (page,) = by_query(fakeweb.client(), "x", limit=500, start=300)
    assert page.state is SourceState.QUIET
    assert len(fakeweb.requests) == 1


def test_nothing_found(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(feed(total=0)))
    (page,) = by_query(fakeweb.client(), "x")
    assert page.state is SourceState.QUIET
    assert "no paper" in page.remark
    assert list(parse_api(page.url, page.body)) == []


@pytest.mark.parametrize("hole", [0, 200])
def test_an_empty_page_in_the_middle(fakeweb: FakeWeb, hole: int) -> None:
    fakeweb.on(HOST, PATH, pages_of(900, hole=hole))  # type: ignore[arg-type]
    pages = list(by_query(fakeweb.client(), "x", limit=1000))
    assert len(keys_of(pages)) == hole
    last = pages[-1]
    assert last.state is SourceState.INCOMPLETE
    assert last.remark.startswith(f"incomplete: {hole} of 900")
    assert last.cursor == str(hole)  # it does not move on
    assert sum(request.query["start"] == [str(hole)] for request in fakeweb.requests) > 1
    assert fakeweb.slept


def test_an_empty_page_that_fills_when_asked_again(fakeweb: FakeWeb) -> None:
    first = feed(*(entry(f"2401.{n:05}v1") for n in range(1, 101)), total=150)
    last = feed(*(entry(f"2401.{n:05}v1") for n in range(101, 151)), total=150)
    fakeweb.on(HOST, PATH, Answer(first), Answer(feed(total=150)), Answer(last))
    pages = list(by_query(fakeweb.client(), "x", limit=1000))
    assert len(keys_of(pages)) == 150
    assert pages[-1].state is SourceState.OK


def test_throttling_is_not_taken_for_an_empty_page(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(feed(*[entry()] * 100, total=900)), Answer("Rate exceeded."))
    with pytest.raises(ThrottledError):
        list(by_query(fakeweb.client(), "x", limit=1000))


def test_an_answer_that_is_no_feed(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer("<html>down</html>"))
    with pytest.raises(FetchError, match="no feed document"):
        list(by_query(fakeweb.client(), "x"))


def test_a_query_that_arxiv_refuses(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(feed(ERROR), status=400))
    with pytest.raises(FetchError, match=r"refuses .*abs:x") as caught:
        list(by_query(fakeweb.client(), "x"))
    assert caught.value.status == 400


@pytest.mark.parametrize("limit", [0, -1, 30_001])
def test_limits_that_cannot_be_asked(fakeweb: FakeWeb, limit: int) -> None:
    with pytest.raises(InputError, match=f"limit {limit}"):
        by_query(fakeweb.client(), "x", limit=limit)


def test_an_unknown_order(fakeweb: FakeWeb) -> None:
    with pytest.raises(InputError, match="submittedDate"):
        by_query(fakeweb.client(), "x", sort="date")


def test_what_is_sent(fakeweb: FakeWeb) -> None:
    """Sorting and days leave the words in force, and blanks are encoded once."""
    fakeweb.on(HOST, PATH, Answer(feed(total=0)))
    days = {"since": date(2025, 12, 7), "until": date(2025, 12, 14)}
    list(by_query(fakeweb.client(), '"mixture of experts" OR MoE', categories=["cs.LG"], sort="submittedDate", **days))
    (request,) = fakeweb.requests
    assert request.query["sortBy"] == ["submittedDate"]
    assert request.query["sortOrder"] == ["descending"]
    assert request.query["search_query"] == [
        '(((ti:"mixture of experts" OR abs:"mixture of experts") OR (ti:MoE OR abs:MoE))) AND cat:cs.LG'
        " AND submittedDate:[202512070000 TO 202512142359]"
    ]
    assert "%20TO%20" in request.target or "+TO+" in request.target
    assert "%2BTO" not in request.target
    assert "%25" not in request.target
