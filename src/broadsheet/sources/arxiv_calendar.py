"""When arXiv announces papers, in its own days. Pure.

Submissions close ("freeze") at 14:00 US Eastern time from Monday to Friday, and what froze is announced at 20:00 from
Sunday to Thursday, Friday's on Sunday (https://info.arxiv.org/help/availability.html). A *mailing day* is the day that
the RSS feed, the e-mail and the listing page bear: the day after the announcement's evening, so Monday to Friday.

A holiday is a day without a freeze, as in the lists that arXiv publishes: it takes away the mailing of the following
weekday. The days of 2020 to 2026 are known. For other years the rules of recent years hold; days of the winter break
and of retreats are decided each year and can be given as ``extra``.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")
_ANNOUNCED = time(20)
_DAY = timedelta(days=1)
_MONDAY, _THURSDAY, _FRIDAY, _SATURDAY, _SUNDAY = 0, 3, 4, 5, 6

_SHIFTED, _KEPT = True, False
# Name, month, day, first year, and whether a weekend moves it to the Friday before or the Monday after.
_FIXED = (
    ("New Year's Day", 1, 1, 0, _KEPT),
    ("Juneteenth", 6, 19, 2022, _SHIFTED),
    ("Independence Day", 7, 4, 2023, _SHIFTED),
    ("Christmas", 12, 25, 0, _SHIFTED),
)
# Name, month, weekday, which of them in the month, first year.
_MOVING = (
    ("Martin Luther King Jr. Day", 1, _MONDAY, 3, 0),
    ("Labor Day", 9, _MONDAY, 1, 2022),
    ("Thanksgiving", 11, _THURSDAY, 4, 0),
)
_ANNOUNCED_ALL_THE_SAME = frozenset((date(2021, 1, 18), date(2022, 12, 26), date(2024, 1, 1)))
_WINTER = "winter break"
_ONCE = {
    date(2020, 6, 9): "strike",
    date(2020, 12, 29): _WINTER,
    date(2020, 12, 30): _WINTER,
    date(2021, 10, 20): "staff meeting",
    date(2021, 12, 28): _WINTER,
    date(2021, 12, 30): _WINTER,
    date(2022, 12, 27): _WINTER,
    date(2022, 12, 29): _WINTER,
    date(2023, 6, 14): "staff retreat",
    date(2023, 8, 17): "staff meeting",
    date(2023, 12, 27): _WINTER,
    date(2024, 5, 22): "staff retreat",
    date(2024, 10, 8): "staff retreat",
    date(2024, 12, 26): _WINTER,
    date(2024, 12, 31): _WINTER,
    date(2025, 12, 30): _WINTER,
    date(2026, 12, 29): _WINTER,
    date(2026, 12, 31): _WINTER,
}


def _observed(day: date, shifted: bool) -> date | None:
    if day.weekday() < _SATURDAY:
        return day
    if not shifted:
        return None
    return day - _DAY if day.weekday() == _SATURDAY else day + _DAY


def _nth(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))


@lru_cache(maxsize=64)
def _holidays(year: int) -> dict[date, str]:
    found = {day: name for day, name in _ONCE.items() if day.year == year}
    for name, month, number, since, shifted in _FIXED:
        day = _observed(date(year, month, number), shifted)
        if day and year >= since:
            found[day] = name
    for name, month, weekday, nth, since in _MOVING:
        if year >= since:
            found[_nth(year, month, weekday, nth)] = name
    return {day: found[day] for day in sorted(found) if day not in _ANNOUNCED_ALL_THE_SAME}


def holidays(year: int) -> dict[date, str]:
    """Weekdays of a year on which no submissions freeze, and why; the following mailing is left out."""
    return dict(_holidays(year))


def _freeze(day: date) -> date:
    """The day on which the submissions of a mailing day froze: the weekday before."""
    return day - (3 * _DAY if day.weekday() == _MONDAY else _DAY)


def why_none(day: date, extra: Collection[date] = ()) -> str:
    """Why no papers bear this mailing day: ``weekend``, ``holiday (Juneteenth)``; empty if some are expected.

    ``extra`` are further holidays: days without a freeze, as arXiv gives them, or without an announcement at 20:00.
    """
    if day.weekday() >= _SATURDAY:
        return "weekend"
    freeze = _freeze(day)
    name = _holidays(freeze.year).get(freeze)
    if name:
        return f"holiday ({name})"
    return "holiday" if freeze in extra or day - _DAY in extra else ""


def is_announcement_day(day: date, extra: Collection[date] = ()) -> bool:
    """Whether papers are expected to bear this mailing day."""
    return not why_none(day, extra)


def _eastern(now: datetime) -> datetime:
    if now.tzinfo is None:
        raise ValueError("now: a time without a zone; give one such as datetime.now(UTC)")
    return now.astimezone(EASTERN)


def _newest(day: date, extra: Collection[date]) -> date:
    while why_none(day, extra):
        day -= _DAY
    return day


def announcement_day(now: datetime, extra: Collection[date] = ()) -> date:
    """The mailing day of the newest announcement made by ``now``: from 20:00 Eastern on it is the next day's."""
    local = _eastern(now)
    return _newest(local.date() + (_DAY if local.time() >= _ANNOUNCED else timedelta(0)), extra)


def feed_day(now: datetime, extra: Collection[date] = ()) -> date:
    """The newest mailing day that the RSS feed can show at ``now``: it turns at midnight Eastern, not at 20:00."""
    return _newest(_eastern(now).date(), extra)


def evening_of(day: date) -> datetime:
    """When the papers of a mailing day are announced: 20:00 Eastern on the evening before."""
    return datetime.combine(day - _DAY, _ANNOUNCED, EASTERN)


def next_announcement(now: datetime, extra: Collection[date] = ()) -> datetime:
    """When papers are announced next, strictly after ``now``; in Eastern time."""
    day = announcement_day(now, extra) + _DAY
    while why_none(day, extra):
        day += _DAY
    return evening_of(day)


def missed_days(after: date, before: date, extra: Collection[date] = ()) -> list[date]:
    """The mailing days strictly between two days."""
    days = (after + n * _DAY for n in range(1, (before - after).days))
    return [day for day in days if is_announcement_day(day, extra)]


def spoken(moment: datetime) -> str:
    """``Sunday 20:00 ET``, as it stands in a sentence for the reader."""
    local = _eastern(moment)
    return f"{local:%A %H:%M} ET ({local:%Y-%m-%d})"
