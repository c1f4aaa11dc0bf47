"""A category of arXiv after days off: what was missed is harvested, and a harvest goes on where it stopped."""

from __future__ import annotations

import json
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError, InputError
from broadsheet.model import SourceState
from broadsheet.sources.arxiv import ArxivCategory, Cursor
from broadsheet.sources.arxiv_oai import Window
from broadsheet.sources.values import date_of
from tests.arxiv_bodies import oai, oai_record, rss, rss_item
from tests.arxiv_reader import FRIDAY, MONDAY, OAI, RSS, SATURDAY, THURSDAY, WEDNESDAY, Reader, eastern, feed
from tests.fakeweb import Answer, FakeWeb


@pytest.fixture
def reader(fakeweb: FakeWeb) -> Reader:
    return Reader(fakeweb)


def test_days_off_are_made_up_for(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Mon", "2608.04001"))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"), token="t1")), Answer(oai(oai_record("2608.02001"))))
    reader.ask(eastern(WEDNESDAY))
    pages = reader.ask(eastern(MONDAY))
    assert [page.kind for page in pages] == ["rss", "oai", "oai"]
    assert reader.keys == ["2608.00001", "2608.04001", "2608.01001", "2608.02001"]
    query = reader.web.requests[2].query
    assert (query["set"], query["from"], query["until"]) == (["cs:cs:LG"], ["2026-08-12"], ["2026-08-17"])
    assert Cursor.read(reader.cursor).window is None


def test_days_are_compared_as_days(fakeweb: FakeWeb) -> None:
    """As texts, 2026-6-30 stands after 2026-07-15."""
    june, july = date_of("2026-6-30", "day"), date_of("2026-07-15", "day")
    assert june and july
    reader = Reader(fakeweb)
    written = [f"{day:%a, %d %b %Y} 00:00:00 -0400" for day in (june, july)]
    fakeweb.on(*RSS, *(Answer(rss(rss_item(f"2606.0000{n}"), day=text)) for n, text in enumerate(written, 1)))
    fakeweb.on(*OAI, Answer(oai(oai_record("2607.00001"))))
    reader.ask(eastern(june))
    reader.ask(eastern(july))
    assert Cursor.read(reader.cursor).announced == july
    assert fakeweb.requests[-1].query["from"] == ["2026-06-30"]


def test_a_reader_in_shanghai(reader: Reader) -> None:
    """Half past midnight there is noon for arXiv: each run reads arXiv's own day, and none is lost."""
    half_past = [datetime(2026, 8, day, 0, 30, tzinfo=ZoneInfo("Asia/Shanghai")) for day in (13, 14, 15, 18)]
    keys = ["2608.00001", "2608.01001", "2608.02001", "2608.03001"]
    reader.web.on(*RSS, *(feed(day, key) for day, key in zip(("Wed", "Thu", "Fri", "Mon"), keys, strict=True)))
    for now in half_past:
        (page,) = reader.ask(now)
        assert page.state is SourceState.OK
    assert reader.keys == keys
    assert [record.listed for record in reader.records] == [WEDNESDAY, THURSDAY, FRIDAY, MONDAY]


def test_days_off_that_end_on_a_weekend(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Sat"))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"))))
    reader.ask(eastern(WEDNESDAY))
    pages = reader.ask(eastern(SATURDAY))
    assert [page.kind for page in pages] == ["rss", "oai"]
    assert Cursor.read(reader.cursor).announced == FRIDAY
    assert [page.kind for page in reader.ask(eastern(SATURDAY, 15))] == ["rss"]  # and not once more


def test_a_harvest_goes_on_where_it_stopped(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Mon", "2608.04001", etag='"m"'), Answer(status=304))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"), token="t1")), Answer(oai(oai_record("2608.02001"))))
    reader.ask(eastern(WEDNESDAY))
    reader.ask(eastern(MONDAY), stop_after=2)
    pages = reader.ask(eastern(MONDAY, 12))
    assert [page.kind for page in pages] == ["rss", "oai"]
    assert reader.web.requests[-1].query["resumptionToken"] == ["t1"]
    assert reader.keys == ["2608.00001", "2608.04001", "2608.01001", "2608.02001"]


def test_stopped_before_the_harvest_began(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Mon", "2608.04001", etag='"m"'), Answer(status=304))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"))))
    reader.ask(eastern(WEDNESDAY))
    reader.ask(eastern(MONDAY), stop_after=1)
    reader.ask(eastern(MONDAY, 12))
    assert reader.keys == ["2608.00001", "2608.04001", "2608.01001"]


def test_a_harvest_that_fails_is_not_forgotten(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Mon", "2608.04001", etag='"m"'), Answer(status=304))
    reader.web.on(*OAI, Answer("", status=503))
    reader.ask(eastern(WEDNESDAY))
    with pytest.raises(FetchError):
        reader.ask(eastern(MONDAY))
    assert Cursor.read(reader.cursor).window == Window(WEDNESDAY, MONDAY)
    assert Cursor.read(reader.cursor).announced == MONDAY
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"))))
    reader.ask(eastern(MONDAY, 12))
    assert reader.keys[-1] == "2608.01001"


def test_a_feed_that_fails_does_not_keep_the_harvest(reader: Reader) -> None:
    reader.cursor = str(Cursor(MONDAY, window=Window(WEDNESDAY, MONDAY)))
    reader.web.on(*RSS, Answer("", status=503))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"))))
    with pytest.raises(FetchError):
        reader.ask(eastern(MONDAY))
    assert reader.keys == ["2608.01001"]
    assert Cursor.read(reader.cursor) == Cursor(MONDAY)


def test_more_days_missed_while_a_harvest_is_under_way(reader: Reader) -> None:
    reader.cursor = str(Cursor(WEDNESDAY, window=Window(date(2026, 8, 3), WEDNESDAY, "t1", date(2026, 8, 6))))
    reader.web.on(*RSS, feed("Mon", "2608.04001"))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"))))
    reader.ask(eastern(MONDAY))
    query = reader.web.requests[-1].query
    assert (query["from"], query["until"]) == (["2026-08-06"], ["2026-08-17"])


def test_an_incomplete_harvest_is_told(reader: Reader) -> None:
    reader.cursor = str(Cursor(MONDAY, window=Window(WEDNESDAY, MONDAY)))
    reader.web.on(*RSS, feed("Mon", "2608.04001"))
    again = [Answer(oai(oai_record(f"2608.0100{n}"), token="t1")) for n in (1, 2)]
    reader.web.on(*OAI, *again)
    page = reader.ask(eastern(MONDAY))[-1]
    assert page.state is SourceState.INCOMPLETE
    assert "same resumption token" in page.remark
    assert Cursor.read(reader.cursor).window == Window(WEDNESDAY, MONDAY)


def test_a_full_feed_is_made_up_for(reader: Reader) -> None:
    body = rss(*(rss_item(f"2608.{n:05}", abstract="") for n in range(1, 2001)))
    reader.web.on(*RSS, Answer(body))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.02001"))))
    first = reader.ask(eastern(WEDNESDAY))[0]
    assert (first.state, first.remark) == (
        SourceState.OK,
        "cs.LG: the feed of 2026-08-12 is full; what it leaves out is harvested.",
    )
    assert reader.web.requests[-1].query["from"] == ["2026-08-11"]
    assert reader.keys[-1] == "2608.02001"


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        ("new", ["2608.00001"]),
        ("cross", ["2608.00002"]),
        ("replace", ["2608.00003"]),
        ("new,replace-cross", ["2608.00001", "2608.00004"]),
        ("new,cross,replace,replace-cross", ["2608.00001", "2608.00002", "2608.00003", "2608.00004"]),
    ],
)
def test_types_of_what_is_harvested(fakeweb: FakeWeb, types: str, wanted: list[str]) -> None:
    """OAI-PMH does not name the type; a first version of long ago and the primary category tell it."""
    old = [("Mon, 1 Jun 2026 17:59:59 GMT", "1kb"), ("Tue, 11 Aug 2026 17:59:59 GMT", "1kb")]

    def elsewhere(text: str) -> str:
        return text.replace("cs.LG stat.ML", "stat.ML cs.LG")

    records = [
        oai_record("2608.00001"),
        elsewhere(oai_record("2608.00002")),
        oai_record("2608.00003", versions=old),
        elsewhere(oai_record("2608.00004", versions=old)),
    ]
    reader = Reader(fakeweb, ArxivCategory.of(f"cs.LG?types={types}"))
    reader.cursor = str(Cursor(MONDAY, window=Window(WEDNESDAY, MONDAY)))
    fakeweb.on(*RSS, feed("Mon"))
    fakeweb.on(*OAI, Answer(oai(*records)))
    reader.ask(eastern(MONDAY))
    assert reader.keys == wanted


def test_since_a_day(fakeweb: FakeWeb) -> None:
    reader = Reader(fakeweb, ArxivCategory.of("cs.LG?since=2026-07-01"))
    fakeweb.on(*RSS, feed("Wed", "2608.00001"), feed("Thu", "2608.01001"))
    fakeweb.on(*OAI, Answer(oai(oai_record("2607.00001"))))
    reader.ask(eastern(WEDNESDAY))
    assert reader.keys == ["2608.00001", "2607.00001"]
    assert fakeweb.requests[-1].query["from"] == ["2026-07-01"]
    reader.ask(eastern(THURSDAY))
    assert reader.keys[2:] == ["2608.01001"]  # once only


# --- the cursor ---


def test_a_cursor_of_something_else(reader: Reader) -> None:
    for text in ("3", "[]", "{", '{"announced": "soon"}', '{"window": {"since": "2026-08-12"}}', '"x"'):
        reader.cursor = text
        with pytest.raises(InputError, match="forget it"):
            reader.ask(eastern(WEDNESDAY))


SOME_DAYS = st.dates(date(2020, 1, 1), date(2035, 1, 1))
WINDOWS = st.builds(Window, SOME_DAYS, SOME_DAYS, st.text(), st.none() | SOME_DAYS, st.booleans())


@given(st.builds(Cursor, st.none() | SOME_DAYS, st.text(), st.text(), st.text(), st.none() | WINDOWS))
def test_cursors_come_back(cursor: Cursor) -> None:
    assert Cursor.read(str(cursor)) == cursor
    assert isinstance(json.loads(str(cursor)), dict)
