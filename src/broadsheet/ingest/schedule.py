"""When a source is to be asked next. Pure: clock and time zone are arguments."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from broadsheet.errors import SettingsError
from broadsheet.model import SourceState, SourceStatus

FIRST_RETRY = timedelta(minutes=15)
LAST_RETRY = timedelta(hours=6)
TROUBLED = frozenset((SourceState.FAILED, SourceState.STALE, SourceState.INCOMPLETE))
"""States in which a source is asked again before the next day."""


def time_of(text: str) -> time | None:
    """The local time of the setting ``update_at``; None where it is empty. Raises SettingsError."""
    if not text.strip():
        return None
    try:
        return time.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        raise SettingsError(f"update_at must be a time of day such as 06:30, not {text!r}") from None


def due_on(day: date, at: time, zone: tzinfo | None) -> datetime:
    """The instant of a local time on a day (UTC); ``zone`` None is this machine's.

    On the day on which clocks go forward, a time that they skip is the instant they jump to or soon after; where they
    go back and a time comes twice, the first counts: once per local day in either case.
    """
    return datetime.combine(day, at, tzinfo=zone).astimezone(UTC)


def local_day(now: datetime, zone: tzinfo | None) -> date:
    """The day on the wall."""
    return now.astimezone(zone).date()


def next_run(
    status: SourceStatus,
    at: time | None,
    now: datetime,
    zone: tzinfo | None = None,
    *,
    every: timedelta = timedelta(days=1),
) -> datetime | None:
    """When to ask a source next; what was missed is due at once. None where nothing runs by itself.

    A source that it makes no sense to ask every day is due on the first morning after ``every``.
    """
    if at is None:
        return None
    if status.asked is None:
        return now  # never asked: there is no reason to wait for the morning
    # Counted from the last time and not from today: who looks just before and just after midnight misses nothing.
    day = local_day(status.asked, zone)
    daily = due_on(day, at, zone)
    if daily <= status.asked:
        daily = due_on(day + timedelta(days=1), at, zone)
    if status.state in TROUBLED:
        pause = min(FIRST_RETRY * (1 << min(max(status.failures - 1, 0), 10)), LAST_RETRY)
        return min(daily, status.asked + max(pause, timedelta(seconds=status.wait)))
    return daily + max(timedelta(days=every.days - 1), timedelta(0))
