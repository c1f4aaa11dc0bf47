"""When a source is due: once per local day, whatever clocks do, and sooner after trouble."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import SettingsError
from broadsheet.ingest.schedule import due_on, local_day, next_run, time_of
from broadsheet.model import SourceState, SourceStatus

BERLIN, NEW_YORK, SHANGHAI = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Shanghai")
MORNING = time(6, 30)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def asked(text: str, state: SourceState = SourceState.OK, failures: int = 0, wait: float = 0.0) -> SourceStatus:
    return SourceStatus("arxiv:cs.LG", state, asked=at(text), failures=failures, wait=wait)


@pytest.mark.parametrize(
    ("text", "found"), [("06:30", time(6, 30)), (" 23:05 ", time(23, 5)), ("", None), ("  ", None)]
)
def test_time_of_the_setting(text: str, found: time | None) -> None:
    assert time_of(text) == found


@pytest.mark.parametrize("text", ["half past six", "25:00", "6h30"])
def test_a_time_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SettingsError, match=r"update_at must be a time of day such as 06:30"):
        time_of(text)


def test_nothing_is_due_where_nothing_runs_by_itself() -> None:
    assert next_run(SourceStatus("feed:x"), None, at("2026-11-30T12:00:00+00:00")) is None


def test_a_source_that_was_never_asked_is_due_at_once() -> None:
    now = at("2026-11-30T12:00:00+00:00")
    assert next_run(SourceStatus("feed:x"), MORNING, now, BERLIN) == now


def test_after_the_morning_the_next_day_is_due() -> None:
    status = asked("2026-11-30T05:31:00+00:00")  # 06:31 in Berlin
    now = at("2026-11-30T12:00:00+00:00")
    assert next_run(status, MORNING, now, BERLIN) == at("2026-12-01T05:30:00+00:00")


def test_what_was_missed_while_the_machine_slept_is_due_at_once() -> None:
    status, now = asked("2026-11-28T05:31:00+00:00"), at("2026-11-30T12:00:00+00:00")
    due = next_run(status, MORNING, now, BERLIN)
    assert due == at("2026-11-29T05:30:00+00:00")
    assert due < now
    assert next_run(asked("2026-11-30T12:00:00+00:00"), MORNING, now, BERLIN) == at("2026-12-01T05:30:00+00:00")


def test_an_update_by_hand_before_the_morning_does_not_cancel_it() -> None:
    status, now = asked("2026-11-30T04:00:00+00:00"), at("2026-11-30T04:30:00+00:00")
    assert next_run(status, MORNING, now, BERLIN) == at("2026-11-30T05:30:00+00:00")


@pytest.mark.parametrize(
    ("day", "hour", "zone", "instant"),
    [
        ("2026-03-28", time(2, 30), BERLIN, "2026-03-28T01:30:00+00:00"),
        ("2026-03-29", time(2, 30), BERLIN, "2026-03-29T01:30:00+00:00"),  # 02:30 is skipped: 03:30 summer time
        ("2026-03-30", time(2, 30), BERLIN, "2026-03-30T00:30:00+00:00"),
        ("2026-10-25", time(2, 30), BERLIN, "2026-10-25T00:30:00+00:00"),  # comes twice: the first
        ("2026-10-26", time(2, 30), BERLIN, "2026-10-26T01:30:00+00:00"),
        ("2026-03-08", time(2, 30), NEW_YORK, "2026-03-08T07:30:00+00:00"),
        ("2026-11-30", time(0, 30), SHANGHAI, "2026-11-29T16:30:00+00:00"),
    ],
)
def test_the_instant_of_a_local_time(day: str, hour: time, zone: ZoneInfo, instant: str) -> None:
    assert due_on(date.fromisoformat(day), hour, zone) == at(instant)


@given(
    start=st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 1), timezones=st.just(UTC)),
    hour=st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    zone=st.sampled_from([BERLIN, NEW_YORK, SHANGHAI, ZoneInfo("Australia/Lord_Howe"), ZoneInfo("America/St_Johns")]),
)
def test_once_per_local_day_over_a_week_of_looking_every_half_hour(start: datetime, hour: time, zone: ZoneInfo) -> None:
    status = SourceStatus("x", SourceState.OK, asked=start)
    runs: list[datetime] = []
    now = start
    for _ in range(2 * 24 * 9):
        now += timedelta(minutes=30)
        due = next_run(status, hour, now, zone)
        assert due is not None
        if due <= now:
            runs.append(due)
            status = SourceStatus("x", SourceState.OK, asked=now)
    days = [local_day(run, zone) for run in runs]
    assert len(set(days)) == len(days), "no day twice"
    assert [(b - a).days for a, b in itertools.pairwise(days)] == [1] * (len(days) - 1), "no day left out"
    assert len(days) >= 7


@pytest.mark.parametrize("state", [SourceState.FAILED, SourceState.STALE, SourceState.INCOMPLETE])
@pytest.mark.parametrize(("failures", "minutes"), [(1, 15), (2, 30), (3, 60), (5, 240), (6, 360), (40, 360)])
def test_after_trouble_it_is_asked_again_sooner_and_ever_more_rarely(
    state: SourceState, failures: int, minutes: int
) -> None:
    status = asked("2026-11-30T06:00:00+00:00", state, failures)
    due = next_run(status, MORNING, at("2026-11-30T06:01:00+00:00"), BERLIN)
    assert due == at("2026-11-30T06:00:00+00:00") + timedelta(minutes=minutes)


def test_the_next_morning_comes_before_a_longer_wait() -> None:
    status = asked("2026-11-30T03:00:00+00:00", SourceState.FAILED, 9)
    assert next_run(status, MORNING, at("2026-11-30T03:01:00+00:00"), BERLIN) == at("2026-11-30T05:30:00+00:00")


def test_a_source_that_asks_to_be_left_alone_is() -> None:
    status = asked("2026-11-30T06:00:00+00:00", SourceState.FAILED, 1, wait=3600)
    assert next_run(status, MORNING, at("2026-11-30T06:01:00+00:00"), BERLIN) == at("2026-11-30T07:00:00+00:00")


def test_a_quiet_source_waits_for_the_next_day() -> None:
    status = asked("2026-11-28T06:00:00+00:00", SourceState.QUIET)
    assert next_run(status, MORNING, at("2026-11-28T06:01:00+00:00"), BERLIN) == at("2026-11-29T05:30:00+00:00")


@pytest.mark.parametrize(
    ("every", "due"),
    [
        (timedelta(hours=3), "2026-12-01T05:30:00+00:00"),
        (timedelta(days=1), "2026-12-01T05:30:00+00:00"),
        (timedelta(days=7), "2026-12-07T05:30:00+00:00"),
        (timedelta(days=30), "2026-12-30T05:30:00+00:00"),
    ],
)
def test_proceedings_are_not_asked_every_day(every: timedelta, due: str) -> None:
    status = asked("2026-11-30T05:31:00+00:00")
    assert next_run(status, MORNING, at("2026-11-30T12:00:00+00:00"), BERLIN, every=every) == at(due)
    failed = asked("2026-11-30T05:31:00+00:00", SourceState.FAILED, 1)
    soon = at("2026-11-30T05:46:00+00:00")
    assert next_run(failed, MORNING, at("2026-11-30T05:40:00+00:00"), BERLIN, every=every) == soon
