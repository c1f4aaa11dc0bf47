"""When arXiv announces: evenings, mailing days, holidays, daylight saving; and what really was announced."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.sources.arxiv_calendar import (
    EASTERN,
    announcement_day,
    evening_of,
    feed_day,
    holidays,
    is_announcement_day,
    missed_days,
    next_announcement,
    spoken,
    why_none,
)
from tests.shared import shared


def at(text: str, zone: str = "America/New_York") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def day(text: str) -> date:
    return date.fromisoformat(text)


# As arXiv published its holidays, year by year.
PUBLISHED = {
    2020: "01-01 01-20 06-09 11-26 12-25 12-29 12-30",
    2021: "01-01 10-20 11-25 12-24 12-28 12-30",
    2022: "01-17 06-20 09-05 11-24 12-27 12-29",
    2023: "01-16 06-14 06-19 07-04 08-17 09-04 11-23 12-25 12-27",
    2024: "01-15 05-22 06-19 07-04 09-02 10-08 11-28 12-25 12-26 12-31",
    2025: "01-01 01-20 06-19 07-04 09-01 11-27 12-25 12-30",
    2026: "01-01 01-19 06-19 07-03 09-07 11-26 12-25 12-29 12-31",
    2027: "01-01 01-18 06-18 07-05 09-06 11-25 12-24",  # by rule
}


@pytest.mark.parametrize("year", PUBLISHED)
def test_holidays_are_those_that_arxiv_published(year: int) -> None:
    assert [f"{found:%m-%d}" for found in holidays(year)] == PUBLISHED[year].split()


@pytest.mark.parametrize(
    ("mailing", "reason"),
    [
        ("2026-08-12", ""),
        ("2026-08-14", ""),  # Friday: Thursday evening's papers
        ("2026-08-15", "weekend"),
        ("2026-08-16", "weekend"),
        ("2025-06-20", "holiday (Juneteenth)"),  # the day after a Thursday without a freeze
        ("2025-06-19", ""),
        ("2026-06-22", "holiday (Juneteenth)"),  # a Friday holiday takes Sunday's announcement, Monday's mailing
        ("2026-06-19", ""),
        ("2025-07-07", "holiday (Independence Day)"),
        ("2026-07-06", "holiday (Independence Day)"),  # kept on Friday the third
        ("2025-09-02", "holiday (Labor Day)"),
        ("2025-11-28", "holiday (Thanksgiving)"),
        ("2025-12-01", ""),  # the day after Thanksgiving has a freeze
        ("2025-05-27", ""),  # Memorial Day is none of arXiv's holidays
        ("2025-12-26", "holiday (Christmas)"),
        ("2025-12-31", "holiday (winter break)"),
        ("2026-01-02", "holiday (New Year's Day)"),
        ("2026-01-20", "holiday (Martin Luther King Jr. Day)"),
        ("2024-01-02", ""),  # arXiv announced on New Year's Day 2024
        ("2020-06-10", "holiday (strike)"),
    ],
)
def test_why_there_are_no_papers(mailing: str, reason: str) -> None:
    assert why_none(day(mailing)) == reason
    assert is_announcement_day(day(mailing)) is (reason == "")


@pytest.mark.parametrize(
    ("extra", "mailing"),
    [
        ("2027-12-28", "2027-12-29"),  # no freeze on Tuesday: nothing on Wednesday
        ("2026-08-14", "2026-08-17"),  # no freeze on Friday: nothing on Monday
        ("2026-08-16", "2026-08-17"),  # no announcement on Sunday evening: the same
    ],
)
def test_further_holidays(extra: str, mailing: str) -> None:
    assert why_none(day(mailing)) == ""
    assert why_none(day(mailing), {day(extra)}) == "holiday"
    assert is_announcement_day(day(mailing) + timedelta(days=1), {day(extra)})


@pytest.mark.parametrize(
    ("now", "announced", "fed"),
    [
        ("2026-08-16 19:59", "2026-08-14", "2026-08-14"),  # Sunday, before eight
        ("2026-08-16 20:00", "2026-08-17", "2026-08-14"),  # announced, and the feed turns at midnight
        ("2026-08-17 00:00", "2026-08-17", "2026-08-17"),
        ("2026-08-17 12:00", "2026-08-17", "2026-08-17"),
        ("2026-08-17 20:00", "2026-08-18", "2026-08-17"),
        ("2026-08-14 20:00", "2026-08-14", "2026-08-14"),  # Friday evening: nothing
        ("2026-08-15 23:00", "2026-08-14", "2026-08-14"),
        ("2025-06-19 20:30", "2025-06-19", "2025-06-19"),  # holiday evening
        ("2025-07-06 21:00", "2025-07-04", "2025-07-04"),
    ],
)
def test_the_day_of_now(now: str, announced: str, fed: str) -> None:
    assert announcement_day(at(now)) == day(announced)
    assert feed_day(at(now)) == day(fed)


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        ("2026-08-14 12:00", "2026-08-16T20:00-04:00"),
        ("2026-08-16 19:59", "2026-08-16T20:00-04:00"),
        ("2026-08-16 20:00", "2026-08-17T20:00-04:00"),
        ("2025-06-19 12:00", "2025-06-22T20:00-04:00"),
        ("2025-07-04 12:00", "2025-07-07T20:00-04:00"),  # Sunday's is left out
        ("2026-03-06 12:00", "2026-03-08T20:00-04:00"),  # clocks went forward that morning
        ("2026-10-30 12:00", "2026-11-01T20:00-05:00"),  # and back
        ("2026-12-24 12:00", "2026-12-24T20:00-05:00"),
        ("2026-12-24 21:00", "2026-12-28T20:00-05:00"),
    ],
)
def test_the_next_announcement(now: str, wanted: str) -> None:
    found = next_announcement(at(now))
    assert found == datetime.fromisoformat(wanted)
    assert found.isoformat(timespec="minutes") == wanted


def test_spoken() -> None:
    assert spoken(next_announcement(at("2026-08-14 12:00"))) == "Sunday 20:00 ET (2026-08-16)"


def test_seen_from_shanghai() -> None:
    """Half past midnight on Tuesday in Shanghai is Monday noon for arXiv: its Monday, not "yesterday"."""
    now = at("2026-08-18 00:30", "Asia/Shanghai")
    assert announcement_day(now) == day("2026-08-17")
    assert feed_day(now) == day("2026-08-17")


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        announcement_day(datetime(2026, 8, 12))


def test_missed_days() -> None:
    assert missed_days(day("2026-08-12"), day("2026-08-18")) == [
        day("2026-08-13"),
        day("2026-08-14"),
        day("2026-08-17"),
    ]
    assert missed_days(day("2025-06-19"), day("2025-06-23")) == []  # a holiday and a weekend
    assert missed_days(day("2026-08-12"), day("2026-08-13")) == []
    assert missed_days(day("2026-08-13"), day("2026-08-12")) == []


MOMENTS = st.datetimes(datetime(2020, 1, 5), datetime(2035, 12, 20), timezones=st.just(UTC))


@given(MOMENTS)
def test_next_follows_the_newest(now: datetime) -> None:
    newest, upcoming = announcement_day(now), next_announcement(now)
    assert evening_of(newest) <= now < upcoming
    assert is_announcement_day(newest)
    assert upcoming.astimezone(EASTERN).hour == 20
    assert upcoming.weekday() in (6, 0, 1, 2, 3)  # Sunday to Thursday
    following = (upcoming + timedelta(days=1)).date()
    assert is_announcement_day(following)
    assert missed_days(newest, following) == []
    assert announcement_day(upcoming) == following
    assert upcoming - now < timedelta(days=7)


@given(MOMENTS)
def test_the_feed_never_runs_ahead(now: datetime) -> None:
    assert feed_day(now) <= announcement_day(now)


def number(key: str) -> int:
    return int(key.split(".")[1])


def real_batches() -> dict[date, tuple[str, str]]:
    """Days of a daily crawl of listing pages with a batch of their own, and its first and last id.

    A batch lies above every id met before and spans hundreds of ids; less is the tail of a page that was read late.
    """
    met: dict[date, list[str]] = defaultdict(list)
    with gzip.open(shared("data", "arxiv_daily", "arxiv_daily_2025-03_2026-07.jsonl.gz")) as lines:
        for line in lines:
            entry = json.loads(line)
            met[day(entry["list_date"])].append(entry["id"])
    found: dict[date, tuple[str, str]] = {}
    seen = ""
    for when in sorted(met):
        ids = sorted(met[when])
        # A twentieth at either end may be cross-lists of older papers.
        low, high = ids[len(ids) // 20], ids[-1 - len(ids) // 20]
        if seen and ids[len(ids) // 2] > seen and (low[:4] != high[:4] or number(high) - number(low) > 300):
            found[when] = low, ids[-1]
        seen = max(seen, ids[-1])
    return found


def test_what_was_really_announced() -> None:
    """Fifteen months: every batch came on a mailing day, and ids are missing just where the crawl missed one."""
    batches = real_batches()
    assert len(batches) > 300
    assert [when for when in batches if not is_announcement_day(when)] == []
    holes, closed = {}, {}
    for before, after in pairwise(sorted(batches)):
        gap = number(batches[after][0]) - number(batches[before][1])
        if batches[before][1][:4] == batches[after][0][:4]:  # numbers begin anew with the month
            weekdays = [before + timedelta(days=n) for n in range(1, (after - before).days)]
            missed = missed_days(before, after)
            if missed:
                holes[missed[0]] = gap
            elif any(when.weekday() < 5 for when in weekdays):
                closed[before] = gap
    # The crawl met the batch of 1 December only on the 2nd.
    assert [f"{when}" for when, gap in holes.items() if gap < 1500] == ["2025-12-01"]
    assert len(holes) > 10
    assert closed.keys() == {day(f) for f in ("2025-06-19", "2025-07-04", "2025-12-25", "2025-12-30", "2026-06-19")}
    assert all(gap < 150 for gap in closed.values())
