"""Which papers an edition is chosen from, and what is said on a day without one (field-cases A22 to A28, E10)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.feed.window import (
    FIRST_DAYS,
    FIRST_FEW,
    LATE_DAYS,
    expected,
    is_due,
    mailing_day,
    next_window,
    notes_on,
    trouble,
    why_nothing,
)
from broadsheet.model import Paper, SourceState, SourceStatus
from broadsheet.model.reading import Edition

NEW_YORK, SHANGHAI = ZoneInfo("America/New_York"), ZoneInfo("Asia/Shanghai")
DAY = timedelta(days=1)


def day(text: str) -> date:
    return date.fromisoformat(text)


def at(text: str, zone: str = "America/New_York") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def printed(on: str, through: str, newest: int = 100) -> Edition:
    """An edition as far as the window looks at it."""
    made = datetime.combine(day(on), time(7), UTC)
    return Edition("me", day(on), made, None, day(through), (), 1, newest, "nothing")


def paper(number: int, listed: str | None) -> Paper:
    return Paper(number, f"Paper {number}", listed=day(listed) if listed else None)


def arxiv(state: SourceState = SourceState.OK, announced: str = "2026-12-01", **more: object) -> SourceStatus:
    return SourceStatus("arxiv:cs.AI", state, day=day(announced), **more)  # type: ignore[arg-type]


# --- the window


def test_a_library_without_dated_papers_has_no_window() -> None:
    assert next_window([], None, day("2026-12-01")) is None


@pytest.mark.parametrize(
    ("days", "first_left_out", "through"),
    [
        ([("2026-11-30", 60), ("2026-11-27", 60)], "2026-11-29", "2026-11-30"),
        ([("2026-11-30", 20), ("2026-11-27", 29), ("2026-11-26", 30)], "2026-11-25", "2026-11-30"),
        ([("2026-11-30", 20), ("2026-11-27", 30), ("2026-11-26", 30)], "2026-11-26", "2026-11-30"),
        # Seven days, however few papers they have: the 23rd is the eighth.
        ([("2026-11-30", 15), ("2026-11-24", 5), ("2026-11-23", 5)], "2026-11-23", "2026-11-30"),
        ([("2019-05-06", 25), ("2019-01-01", 900)], "2019-05-05", "2019-05-06"),
        # Of so few a reader has nothing: further back then, as with papers of which only the month is known.
        ([("2026-10-01", 4), ("2026-06-01", 900), ("2026-05-01", 9)], "2026-05-31", "2026-10-01"),
    ],
)
def test_a_first_edition_goes_back_until_it_has_fifty_papers_or_seven_days(
    days: list[tuple[str, int]], first_left_out: str, through: str
) -> None:
    window = next_window([(day(one), count) for one, count in days], None, day("2026-12-01"))
    assert window is not None
    assert (window.since, window.through) == (day(first_left_out), day(through))
    assert window.holds(paper(1, through))
    assert not window.holds(paper(1, first_left_out))
    assert (day(through) - day(first_left_out)).days <= FIRST_DAYS or dict(days)[through] < FIRST_FEW


def test_later_editions_begin_where_the_last_one_ended() -> None:
    window = next_window([(day("2026-12-01"), 9)], printed("2026-11-30", "2026-11-27"), day("2026-12-01"))
    assert window is not None
    assert [window.holds(paper(7, one)) for one in ("2026-11-27", "2026-11-30", "2026-12-01")] == [False, True, True]


def test_what_comes_late_is_told_by_its_number() -> None:
    """A27: the feed of the 27th is fetched on the 1st, and bears the 27th; it is printed all the same, once."""
    window = next_window([(day("2026-12-01"), 9)], printed("2026-12-01", "2026-12-01", newest=100), day("2026-12-02"))
    assert window is not None
    late = day("2026-12-01") - LATE_DAYS * DAY
    assert window.holds(paper(101, "2026-11-27"))
    assert window.holds(paper(101, f"{late}"))
    assert not window.holds(paper(101, f"{late - DAY}"))
    assert not window.holds(paper(100, "2026-11-27"))
    assert not window.holds(paper(101, None))


def test_a_lagging_source_loses_nothing() -> None:
    """A23: it is half past midnight on Tuesday in Shanghai, and the library has Monday's papers only.

    The next edition takes up at the announcement after that, not at the clock's yesterday.
    """
    now = at("2026-12-01T00:30", "Asia/Shanghai")
    assert now.astimezone(UTC).date() == day("2026-11-30")
    first = next_window([(day("2026-11-30"), 80)], None, now.date())
    assert first is not None
    assert first.through == day("2026-11-30")
    following = next_window([(day("2026-12-01"), 80)], printed("2026-12-01", "2026-11-30"), day("2026-12-02"))
    assert following is not None
    assert following.holds(paper(500, "2026-12-01"))


def test_papers_of_the_evening_are_tomorrows_and_taken_today() -> None:
    """arXiv announces Tuesday's papers on Monday evening, Eastern time."""
    window = next_window([(day("2026-12-01"), 80)], None, day("2026-11-30"))
    assert window is not None
    assert window.through == day("2026-12-01")


def test_days_far_ahead_count_as_todays_and_hold_up_nothing() -> None:
    days = [(day("2027-06-01"), 3), (day("2026-12-01"), 80)]
    first = next_window(days, None, day("2026-12-01"))
    assert first is not None
    assert first.through == day("2026-12-01")
    assert first.holds(paper(5, "2027-06-01"))
    later = next_window(days, printed("2026-12-01", "2026-12-01", newest=100), day("2026-12-02"))
    assert later is not None
    assert not later.holds(paper(5, "2027-06-01"))
    assert later.holds(paper(101, "2027-06-01"))
    assert later.holds(paper(101, "2026-12-02")) is (later.through >= day("2026-12-02"))


def test_only_papers_of_issues_to_come() -> None:
    window = next_window([(day("2027-06-01"), 3)], None, day("2026-12-01"))
    assert window is not None
    assert window.holds(paper(5, "2027-06-01"))


def test_a_paper_replaced_on_thursday_is_not_new_again() -> None:
    """E10: announced on Monday, replaced on Thursday; its day and its number stay."""
    window = next_window([(day("2026-12-03"), 9)], printed("2026-12-02", "2026-12-02"), day("2026-12-03"))
    assert window is not None
    assert not window.holds(paper(42, "2026-11-30"))


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(0, 40)), max_size=40),
    st.lists(st.integers(1, 3), min_size=1, max_size=12),
)
def test_every_paper_falls_into_one_window_at_most_and_none_is_lost(
    papers: list[tuple[int, int]], steps: list[int]
) -> None:
    """Papers with ascending numbers come in over some weeks, each with its day; editions are printed now and then."""
    start = day("2026-11-01")
    known = {number: Paper(number, "T", listed=start + extra * DAY) for number, extra in dict(papers).items()}
    last, seen, today = None, [], start
    for step in steps:
        today += step * DAY
        arrived = [one for one in known.values() if one.day and one.day <= today]
        days = sorted({one.day for one in arrived if one.day}, reverse=True)
        window = next_window([(one, sum(p.day == one for p in arrived)) for one in days], last, today)
        if window is None:
            continue
        chosen = [one.id for one in arrived if window.holds(one)]
        seen += chosen
        newest = max((one.id for one in arrived), default=0)
        if chosen:
            last = Edition("me", today, datetime.now(UTC), None, window.through, (), 1, newest, "nothing")
            later = [one for one in arrived if last.through < one.day <= today]  # type: ignore[operator]
            assert not later
    assert len(seen) == len(set(seen))


def test_dates_are_dates_and_not_texts() -> None:
    """A22: as texts "2026-6-30" comes after "2026-07-15"."""
    window = next_window([(date(2026, 7, 15), 60), (date(2026, 6, 30), 60)], None, date(2026, 7, 16))
    assert window is not None
    assert window.through == date(2026, 7, 15)


# --- whether an edition is due


@pytest.mark.parametrize(
    ("papers", "now", "due"),
    [
        ([], "2026-12-02T12:00", False),
        ([paper(101, "2026-12-02")], "2026-12-02T00:05", True),
        ([paper(101, "2026-11-30")], "2026-12-02T00:05", False),
        ([paper(101, "2026-11-30")], "2026-12-02T06:30", True),
        ([paper(101, "2026-11-30"), paper(102, "2026-12-02")], "2026-12-02T00:05", True),
    ],
)
def test_late_papers_alone_wait_for_the_days_update(papers: list[Paper], now: str, due: bool) -> None:
    assert is_due(papers, printed("2026-12-01", "2026-12-01"), at(now), time(6, 30)) is due


def test_without_an_update_of_its_own_nothing_waits() -> None:
    late = [paper(101, "2026-11-30")]
    assert is_due(late, printed("2026-12-01", "2026-12-01"), at("2026-12-02T00:05"), None)
    assert is_due(late, None, at("2026-12-02T00:05"), time(6, 30))


# --- what is said on a day without an edition


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("2026-12-05T09:00", "No announcement: weekend. Next expected Sunday 20:00 ET (2026-12-06)."),
        ("2026-12-06T12:00", "No announcement: weekend. Next expected Sunday 20:00 ET (2026-12-06)."),
        ("2026-12-04T21:00", "No announcement: weekend. Next expected Sunday 20:00 ET (2026-12-06)."),
        ("2025-06-20T09:00", "No announcement: holiday (Juneteenth). Next expected Sunday 20:00 ET (2025-06-22)."),
    ],
)
def test_weekends_and_holidays_are_said(now: str, said: str) -> None:
    """A24, A25: they read otherwise than failures."""
    last = printed("2026-12-04", "2026-12-04") if now > "2026" else printed("2025-06-19", "2025-06-19")
    assert why_nothing(at(now), [arxiv(SourceState.QUIET, f"{last.through}")], last, dated=True) == said


def test_a_day_off_of_the_settings_is_said() -> None:
    said = why_nothing(at("2026-12-04T09:00"), [arxiv()], None, dated=True, extra={day("2026-12-03")})
    assert said.startswith("No announcement: holiday. Next expected")


def test_an_announcement_that_was_not_fetched_yet() -> None:
    due = at("2026-12-02T12:30")
    sources = [arxiv(SourceState.OK, "2026-12-01", due=due)]
    said = why_nothing(at("2026-12-02T09:00"), sources, printed("2026-12-01", "2026-12-01"), dated=True)
    assert said == (
        "The announcement of 2026-12-02 has not been fetched yet. The sources are asked next at 2026-12-02 12:30."
    )
    overdue = why_nothing(at("2026-12-02T13:00"), sources, printed("2026-12-01", "2026-12-01"), dated=True)
    assert overdue.endswith("It is due now: a server asks by itself, else run broadsheet update")


def test_everything_was_printed_already() -> None:
    said = why_nothing(at("2026-12-02T09:00"), [arxiv(announced="2026-12-02")], None, dated=True)
    assert said == "Nothing new since the announcement of 2026-12-02. Next expected Wednesday 20:00 ET (2026-12-02)."


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            SourceStatus(
                "arxiv:cs.AI", SourceState.STALE, "cs.AI is stale: newest id 2608.09930, others have 2608.11200"
            ),
            "arxiv:cs.AI is stale: newest id 2608.09930, others have 2608.11200.",
        ),
        (SourceStatus("arxiv:cs.AI", SourceState.STALE), "arxiv:cs.AI is stale: it shows what is old."),
        (
            SourceStatus("huggingface", SourceState.FAILED, "503\nfrom it."),
            "huggingface could not be asked: 503 from it.",
        ),
        (SourceStatus("huggingface", SourceState.INCOMPLETE), "huggingface ended early."),
    ],
)
def test_trouble_is_named(status: SourceStatus, said: str) -> None:
    """A26: a stale category is shown, and is no quiet day."""
    assert trouble([arxiv(), status]) == [said]
    assert why_nothing(at("2026-12-05T09:00"), [arxiv(), status], None, dated=True).startswith(said)


def test_an_edition_says_what_it_catches_up_on() -> None:
    last = printed("2026-11-25", "2026-11-25")
    window = next_window([(day("2026-12-02"), 9)], last, day("2026-12-02"))
    assert window is not None
    stale = SourceStatus("arxiv:cs.AI", SourceState.STALE, "old")
    assert notes_on(window, last, [stale], ()) == [
        "Catches up on 7 days, from 26 November 2026 to 2 December 2026.",
        "arxiv:cs.AI is stale: old.",
    ]
    usual = next_window([(day("2026-12-02"), 9)], printed("2026-12-01", "2026-12-01"), day("2026-12-02"))
    assert usual is not None
    assert notes_on(usual, printed("2026-12-01", "2026-12-01"), [arxiv()], ()) == []
    assert notes_on(usual, None, [], ()) == []


@pytest.mark.parametrize(
    ("sources", "remedy"),
    [
        ([], "broadsheet sources add"),
        ([arxiv(SourceState.NEVER)], "broadsheet update"),
        ([SourceStatus("huggingface", SourceState.FAILED, "503")], "huggingface could not be asked: 503."),
    ],
)
def test_a_library_without_dated_papers_says_what_to_do(sources: list[SourceStatus], remedy: str) -> None:
    said = why_nothing(at("2026-12-02T09:00"), sources, None, dated=False)
    assert said.startswith("The library has no dated papers yet.")
    assert remedy in said


def test_without_arxiv_the_calendar_is_not_spoken_of() -> None:
    due = at("2026-12-06T06:30")
    feed = SourceStatus("feed:https://journal.example.org", SourceState.OK, due=due)
    now = at("2026-12-05T09:00")
    said = "Nothing new came in. The sources are asked next at 2026-12-06 06:30."
    assert why_nothing(now, [feed], None, dated=True) == said
    assert expected(now, [feed]) == due
    assert expected(now, [SourceStatus("huggingface")]) is None
    assert "no source is configured" in why_nothing(now, [], None, dated=True)


def test_what_is_expected_of_arxiv() -> None:
    found = expected(at("2026-12-05T09:00"), [arxiv()])
    assert found == at("2026-12-06T20:00")


@pytest.mark.parametrize(
    ("now", "mailing"),
    [
        (at("2026-12-01T19:59"), "2026-12-01"),
        (at("2026-12-01T20:00"), "2026-12-02"),
        (at("2026-12-02T08:30", "Asia/Shanghai"), "2026-12-01"),
        (at("2026-12-02T09:00", "Asia/Shanghai"), "2026-12-02"),
    ],
)
def test_the_mailing_day_turns_at_eight_in_the_evening_in_new_york(now: datetime, mailing: str) -> None:
    assert mailing_day(now) == day(mailing)
