"""The values of fields that are not words: years, days, what a paper has."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date

from broadsheet.query.tree import Has, Node, Since, SinceAgo, Until, YearRange

_YEAR = re.compile(r"(?:(\d{4})|(>=|<=|>|<)(\d{4})|(\d{4})?(?:\.\.|[-–])(\d{4})?)")
_DAY = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?")
_AGO = re.compile(r"(\d{1,5})([dwmy])", re.IGNORECASE)
_UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_HAS = ("code", "abstract", "pdf")


def _year_range(text: str) -> YearRange | None:
    match = _YEAR.fullmatch(text)
    if not match:
        return None
    one, sign, bound, lo, hi = match.groups()
    first, last = (int(one or lo or 0) or None), (int(one or hi or 0) or None)
    if sign:
        year = int(bound) + {">": 1, "<": -1}.get(sign, 0)
        first, last = (year, None) if sign[0] == ">" else (None, year)
    if first and last and first > last:
        first, last = last, first
    years = [year for year in (first, last) if year is not None]
    return YearRange(first, last) if years and all(1000 <= year <= 9999 for year in years) else None


def _day(text: str, *, last: bool) -> date | None:
    """The first or last day of a year, a month or a day."""
    match = _DAY.fullmatch(text)
    if not match:
        return None
    year = int(match[1])
    month = int(match[2] or (12 if last else 1))
    if year < 1 or not 1 <= month <= 12:
        return None
    length = calendar.monthrange(year, month)[1]
    day = int(match[3] or (length if last else 1))
    return date(year, month, day) if 1 <= day <= length else None


def _since(text: str) -> Node | None:
    if ago := _AGO.fullmatch(text):
        return SinceAgo(min(int(ago[1]) * _UNIT_DAYS[ago[2].lower()], 99_999))
    day = _day(text, last=False)
    return Since(day) if day else None


def _until(text: str) -> Node | None:
    day = _day(text, last=True)
    return Until(day) if day else None


def _has(text: str) -> Node | None:
    return Has(text.lower()) if text.lower() in _HAS else None


FILTERS: dict[str, tuple[Callable[[str], Node | None], str]] = {
    "year": (_year_range, "a year or a range of years such as 2020..2024"),
    "since": (_since, "a day such as 2026-05-01, 2026-05, 2026 or 7d"),
    "until": (_until, "a day such as 2026-05-01, 2026-05 or 2026"),
    "has": (_has, "one of code, abstract, pdf"),
}
"""How the value of a filter is read, and what is wanted, by the field's short name."""
