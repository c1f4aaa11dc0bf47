"""A category of arXiv as a source: what it asks, and what it says of quiet days and of failures."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from broadsheet.errors import FetchError, SettingsError
from broadsheet.model import SourceState
from broadsheet.sources.arxiv import ArxivCategory, Cursor, category_of
from broadsheet.sources.base import Source
from broadsheet.sources.catalogue import Options
from tests.arxiv_bodies import item, listing, oai, oai_record, rss, rss_item, section
from tests.arxiv_reader import (
    DAYS,
    FRIDAY,
    LIST,
    MONDAY,
    OAI,
    RSS,
    SATURDAY,
    THURSDAY,
    WEDNESDAY,
    Reader,
    eastern,
    feed,
)
from tests.fakeweb import Answer, FakeWeb


@pytest.fixture
def reader(fakeweb: FakeWeb) -> Reader:
    return Reader(fakeweb)


# --- settings ---


def test_it_is_a_source() -> None:
    source: Source = ArxivCategory.of("cs.LG")
    assert source.kind == "arxiv"
    assert source.name == "arxiv:cs.LG"
    assert timedelta(hours=1) <= source.every <= timedelta(days=1)
    assert "arxiv:cs.LG" in source.usage


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cs.lg", "cs.LG"),
        ("CS.LG", "cs.LG"),
        ("hep-th", "hep-th"),
        ("cond-mat.STR-EL", "cond-mat.str-el"),
        ("physics.optics", "physics.optics"),
        ("cs", "cs"),
        (" stat.ML ", "stat.ML"),
        ("q-bio.nc", "q-bio.NC"),
    ],
)
def test_categories(text: str, wanted: str) -> None:
    assert category_of(text) == wanted


@pytest.mark.parametrize(
    "text", ["", "LG", "cs.", "foo.LG", "cs.LG.x", "cs LG", "../x", "cs.LG+cs.CL", "cmp-lg", "cs.LGG"]
)
def test_what_is_no_category(text: str) -> None:
    with pytest.raises(SettingsError, match=r"arxiv:cs\.LG"):
        ArxivCategory.of(text)


def test_options() -> None:
    source = ArxivCategory.of("cs.LG?since=2026-11-01&types=new, cross", Options(arxiv_holidays=("2027-12-28",)))
    assert source.since == date(2026, 11, 1)
    assert source.types == ("new", "cross")
    assert source.holidays == {date(2027, 12, 28)}
    assert source.name == "arxiv:cs.LG?since=2026-11-01&types=new, cross"


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("cs.LG?since=soon", "'soon' is no day"),
        ("cs.LG?since=", "no day"),
        ("cs.LG?types=old", "'old' is no announce type"),
        ("cs.LG?types=", "none named"),
        ("cs.LG?from=2026-11-01", "no such option 'from'"),
    ],
)
def test_options_that_cannot_be_used(rest: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        ArxivCategory.of(rest)


def test_a_holiday_that_is_no_day() -> None:
    with pytest.raises(SettingsError, match="arxiv_holidays: 'Christmas'"):
        ArxivCategory.of("cs.LG", Options(arxiv_holidays=("Christmas",)))


# --- the newest announcement ---


def test_the_first_time(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930", "2608.09929"))
    (page,) = reader.ask(eastern(WEDNESDAY))
    assert (page.state, page.newest, page.day, page.kind) == (SourceState.OK, "2608.09930", WEDNESDAY, "rss")
    assert page.remark == ""
    assert reader.keys == ["2608.09930", "2608.09929"]
    assert len(reader.web.requests) == 1  # nothing is harvested


def test_it_asks_whether_the_feed_changed(reader: Reader) -> None:
    modified = {"ETag": '"a"', "Last-Modified": "Wed, 12 Aug 2026 04:00:20 GMT"}
    body = rss(rss_item("2608.09930"))
    reader.web.on(*RSS, Answer(body, headers=modified), Answer(status=304))
    reader.ask(eastern(WEDNESDAY))
    (page,) = reader.ask(eastern(WEDNESDAY, 12))
    assert reader.web.requests[1].headers["if-none-match"] == '"a"'
    assert reader.web.requests[1].headers["if-modified-since"] == modified["Last-Modified"]
    assert (page.state, page.body) == (SourceState.QUIET, b"")
    assert page.remark == (
        "cs.LG: nothing new since the announcement of 2026-08-12. Next expected Wednesday 20:00 ET (2026-08-12)."
    )
    assert list(reader.source.parse(page)) == []


def test_a_day_that_follows_is_not_missed(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Thu", "2608.01001"), feed("Fri", "2608.02001"))
    reader.web.on(*RSS, feed("Fri", "2608.02001"), feed("Mon", "2608.03001"))
    reader.ask(eastern(FRIDAY))
    pages = reader.ask(eastern(MONDAY))  # a weekend lies between, which is no gap
    assert [page.kind for page in pages] == ["rss"]
    assert reader.keys == ["2608.02001", "2608.03001"]


def test_the_paper_is_dated_by_its_announcement(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930"))
    reader.ask(eastern(WEDNESDAY, 23, 30))  # Thursday in UTC
    assert reader.records[0].listed == WEDNESDAY


def test_a_paper_replaced_later_is_the_same_record(reader: Reader) -> None:
    replaced = rss(rss_item("2608.09930", "replace", version=2, day=DAYS["Thu"]), day=DAYS["Thu"])
    reader.web.on(*RSS, feed("Wed", "2608.09930"), Answer(replaced))
    reader.ask(eastern(WEDNESDAY))
    reader.ask(eastern(THURSDAY))
    first, second = reader.records
    assert (first.source, first.key) == (second.source, second.key)
    assert (first.listed, second.listed) == (WEDNESDAY, None)
    assert (first.version, second.version) == (1, 2)


def test_only_the_types_that_are_wanted(fakeweb: FakeWeb) -> None:
    fakeweb.on(*RSS, Answer(rss(rss_item("2608.00001", "new"), rss_item("2608.00002", "cross"))))
    reader = Reader(fakeweb, ArxivCategory.of("cs.LG?types=cross"))
    reader.ask(eastern(WEDNESDAY))
    assert reader.keys == ["2608.00002"]


def test_the_same_feed_twice_is_read_once(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930"))
    reader.ask(eastern(WEDNESDAY))
    (page,) = reader.ask(eastern(WEDNESDAY, 12))
    assert (page.state, page.body) == (SourceState.QUIET, b"")
    assert reader.keys == ["2608.09930"]


def test_a_feed_that_grew_on_its_day_is_read_again(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Wed", "2608.00001", "2608.00002"))
    reader.ask(eastern(WEDNESDAY))
    (page,) = reader.ask(eastern(WEDNESDAY, 12))
    assert page.state is SourceState.OK
    assert reader.keys == ["2608.00001", "2608.00001", "2608.00002"]


# --- quiet days ---


def test_a_weekend(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Fri", "2608.09930"), feed("Sat"))
    reader.ask(eastern(FRIDAY))
    (page,) = reader.ask(eastern(SATURDAY))
    assert (page.state, page.body) == (SourceState.QUIET, b"")
    assert page.remark == "No announcement today: weekend; next expected Sunday 20:00 ET (2026-08-16)."


def test_a_weekend_with_an_unchanged_feed(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Fri", "2608.09930", etag='"a"'), Answer(status=304))
    reader.ask(eastern(FRIDAY))
    (page,) = reader.ask(eastern(SATURDAY))
    assert page.state is SourceState.QUIET
    assert page.remark == "No announcement today: weekend; next expected Sunday 20:00 ET (2026-08-16)."


def test_a_weekend_to_begin_with(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Sat"), feed("Mon", "2608.03001"))
    (page,) = reader.ask(eastern(SATURDAY))
    assert page.state is SourceState.QUIET
    pages = reader.ask(eastern(MONDAY))
    assert [page.kind for page in pages] == ["rss"]  # Friday is not made up for: nobody asked for it


def test_a_holiday(reader: Reader) -> None:
    day = date(2025, 6, 20)
    reader.web.on(*RSS, Answer(rss(day="Fri, 20 Jun 2025 00:00:00 -0400")))
    (page,) = reader.ask(eastern(day))
    assert page.state is SourceState.QUIET
    assert page.remark == "No announcement today: holiday (Juneteenth); next expected Sunday 20:00 ET (2025-06-22)."


def test_a_holiday_of_the_settings(fakeweb: FakeWeb) -> None:
    fakeweb.on(*RSS, feed("Thu"))
    reader = Reader(fakeweb, ArxivCategory("cs.LG", holidays=frozenset([WEDNESDAY])))
    (page,) = reader.ask(eastern(THURSDAY))
    assert page.remark == "No announcement today: holiday; next expected Thursday 20:00 ET (2026-08-13)."


def test_no_papers_on_a_day_that_ought_to_have_some(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Thu"))
    (page,) = reader.ask(eastern(THURSDAY))
    assert page.state is SourceState.QUIET
    assert "no announcement though one was expected" in page.remark
    assert "perhaps a holiday that is not in the calendar" in page.remark


def test_an_empty_day_is_asked_about_again(reader: Reader) -> None:
    """Empty on Thursday; on Friday Thursday's papers, should there have been any, are harvested."""
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Thu"), feed("Fri", "2608.02001"))
    reader.web.on(*OAI, Answer(oai(oai_record("2608.01001"))))
    reader.ask(eastern(WEDNESDAY))
    assert len(reader.ask(eastern(THURSDAY))) == 1
    reader.ask(eastern(FRIDAY))
    assert reader.keys == ["2608.00001", "2608.02001", "2608.01001"]


def test_an_empty_feed_that_fills_later_on_the_day(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), feed("Thu"), feed("Thu", "2608.01001"))
    reader.ask(eastern(WEDNESDAY))
    reader.ask(eastern(THURSDAY, 0, 10))
    (page,) = reader.ask(eastern(THURSDAY, 4))
    assert page.state is SourceState.OK
    assert reader.keys == ["2608.00001", "2608.01001"]


# --- failures are told apart from quiet ---


def test_a_feed_that_is_down(reader: Reader) -> None:
    reader.web.on(*RSS, Answer("", status=503))
    with pytest.raises(FetchError) as caught:
        reader.ask(eastern(WEDNESDAY))
    assert caught.value.status == 503
    assert reader.cursor == ""


@pytest.mark.parametrize("status", [400, 404])
def test_a_category_that_arxiv_does_not_have(fakeweb: FakeWeb, status: int) -> None:
    fakeweb.on("rss.arxiv.org", "/rss/cs.ZZ", Answer("Bad subject class", status=status))
    with pytest.raises(FetchError, match=r"no feed for cs\.ZZ .*category_taxonomy") as caught:
        Reader(fakeweb, ArxivCategory("cs.ZZ")).ask(eastern(WEDNESDAY))
    assert caught.value.status == status


def test_an_answer_that_is_no_feed(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.00001"), Answer("<html>maintenance</html>"))
    reader.ask(eastern(WEDNESDAY))
    before = reader.cursor
    with pytest.raises(FetchError, match="no rss document"):
        reader.ask(eastern(THURSDAY))
    assert reader.cursor == before


def test_a_feed_that_did_not_turn(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930", etag='"a"'), Answer(status=304))
    reader.ask(eastern(WEDNESDAY))
    (early,) = reader.ask(eastern(THURSDAY, 1))
    assert early.state is SourceState.QUIET  # it may still turn
    assert early.remark.startswith("cs.LG: the papers of 2026-08-13 are not in the feed yet")
    (page,) = reader.ask(eastern(THURSDAY, 4))
    assert page.state is SourceState.STALE
    assert page.remark == "cs.LG is stale: the feed shows 2026-08-12 though 2026-08-13 was expected."


def test_the_papers_of_yesterday_under_todays_date(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930"), feed("Thu", "2608.09930"), feed("Thu", "2608.11200"))
    reader.ask(eastern(WEDNESDAY))
    (page,) = reader.ask(eastern(THURSDAY))
    assert (page.state, page.body) == (SourceState.STALE, b"")
    assert page.remark == "cs.LG is stale: the feed bears 2026-08-13 but holds the papers of 2026-08-12."
    (page,) = reader.ask(eastern(THURSDAY, 12))  # asked again later
    assert (page.state, page.day) == (SourceState.OK, THURSDAY)
    assert reader.keys == ["2608.09930", "2608.11200"]


def test_a_feed_that_lags_but_is_news_to_us(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930"))
    (page,) = reader.ask(eastern(THURSDAY))
    assert page.state is SourceState.STALE
    assert reader.keys == ["2608.09930"]


def test_an_older_feed_from_some_cache(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Thu", "2608.11200"), feed("Wed", "2608.09930"))
    reader.ask(eastern(THURSDAY))
    (page,) = reader.ask(eastern(THURSDAY, 12))
    assert page.body == b""
    assert reader.keys == ["2608.11200"]
    assert Cursor.read(reader.cursor).announced == THURSDAY


# --- the listing page as a second source ---


def listed(day: str, *keys: str) -> Answer:
    return Answer(
        listing(section("New submissions", *map(item, keys)), day=f"Showing new listings for {day} August 2026")
    )


def test_the_listing_page_has_what_the_feed_lacks(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930"), feed("Thu", "2608.09930"), feed("Fri", "2608.12001"))
    reader.web.on(*LIST, listed("Thursday, 13", "2608.11200"))
    reader.ask(eastern(WEDNESDAY))
    reader.ask(eastern(THURSDAY))
    (page,) = reader.ask(eastern(THURSDAY), again=True)
    assert (page.state, page.newest, page.day, page.kind) == (SourceState.OK, "2608.11200", THURSDAY, "listing")
    assert reader.records[-1].listed == THURSDAY
    assert Cursor.read(reader.cursor).announced == THURSDAY
    pages = reader.ask(eastern(FRIDAY))  # nothing was missed
    assert [page.kind for page in pages] == ["rss"]
    assert reader.keys == ["2608.09930", "2608.11200", "2608.12001"]


def test_the_listing_page_lags_too(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Wed", "2608.09930"))
    reader.web.on(*LIST, listed("Wednesday, 12", "2608.09930"))
    reader.ask(eastern(WEDNESDAY))
    (page,) = reader.ask(eastern(THURSDAY), again=True)
    assert page.state is SourceState.STALE
    assert "listing page too shows 2026-08-12 though 2026-08-13" in page.remark


def test_an_empty_feed_of_sunday_on_monday(reader: Reader) -> None:
    empty = rss(day="Sun, 16 Aug 2026 00:00:00 -0400")
    reader.web.on(*RSS, feed("Fri", "2608.09930"), Answer(empty))
    reader.ask(eastern(FRIDAY))
    (early,) = reader.ask(eastern(MONDAY, 1))
    assert early.state is SourceState.QUIET
    assert early.remark == "cs.LG: the papers of 2026-08-17 are not in the feed yet; ask again in an hour or two."
    (page,) = reader.ask(eastern(MONDAY, 4))
    assert page.state is SourceState.STALE
    assert page.remark == "cs.LG is stale: the feed shows 2026-08-16 though 2026-08-17 was expected."


def test_an_empty_feed_of_friday_on_monday(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Fri"))
    (page,) = reader.ask(eastern(MONDAY, 4))
    assert page.state is SourceState.STALE
    assert page.remark == "cs.LG is stale: the feed shows 2026-08-14 though 2026-08-17 was expected."


def test_an_empty_feed_just_after_midnight(reader: Reader) -> None:
    reader.web.on(*RSS, feed("Thu"))
    (page,) = reader.ask(eastern(THURSDAY, 0, 10))
    assert (page.state, "not in the feed yet" in page.remark) == (SourceState.QUIET, True)


def test_a_listing_page_without_papers(reader: Reader) -> None:
    reader.web.on(*LIST, Answer(listing("<p>No updates today.</p>")))
    (page,) = reader.ask(eastern(THURSDAY), again=True)
    assert (page.state, page.body) == (SourceState.QUIET, b"")


def test_a_listing_page_that_is_none(reader: Reader) -> None:
    reader.web.on(*LIST, Answer("<html>maintenance</html>"))
    with pytest.raises(FetchError, match="no listing page"):
        reader.ask(eastern(THURSDAY), again=True)
