"""Leafing through printed editions: days, weeks and months. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Edition, Entry, Period

BEST = {"week": 30, "month": 50}
"""How many entries a period shows."""


def neighbours(days: Sequence[date], day: date) -> tuple[date | None, date | None]:
    """The nearest days with an edition before and after a day, which need not have one itself; in any order given."""
    ordered = sorted(days)
    before, after = bisect_left(ordered, day), bisect_right(ordered, day)
    return (ordered[before - 1] if before else None), (ordered[after] if after < len(ordered) else None)


def not_printed(day: date, days: Sequence[date]) -> NotFoundError:
    """The error for a day without an edition, which names the nearest that have one."""
    near = [f"{found}" for found in neighbours(days, day) if found]
    if not near:
        return NotFoundError(f"there is no edition of {day}; none has been printed yet: broadsheet today")
    return NotFoundError(f"there is no edition of {day}; the nearest are of {' and '.join(near)}")


def bounds(kind: str, day: date) -> tuple[date, date]:
    """First and last day of the ``week`` (from Monday, ISO 8601) or ``month`` that holds a day. Raises InputError."""
    if kind == "week":
        first = day - timedelta(days=day.weekday())
        return first, first + min(timedelta(days=6), date.max - first)  # the last week ends with the calendar
    if kind == "month":
        return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])
    raise InputError(f"a period of {kind!r} is not known; choose week or month")


def noted(edition: Edition, papers: Mapping[PaperId, Paper]) -> Edition:
    """An edition with the notices of today: what was withdrawn or retracted since it was printed says so.

    ``papers`` are those of the edition as they are now, by the numbers under which they were printed. Everything else
    stays as it was printed.
    """

    def entry(old: Entry) -> Entry:
        now = papers.get(old.paper.id)
        if now is None or now.notices == old.paper.notices:
            return old
        return replace(old, paper=replace(old.paper, notices=now.notices))

    sections = tuple(replace(one, entries=tuple(map(entry, one.entries))) for one in edition.sections)
    return edition if sections == edition.sections else replace(edition, sections=sections)


def period(kind: str, day: date, editions: Sequence[Edition], days: Sequence[date]) -> Period:
    """The best entries of a period's ``editions``; ``days`` are all that have an edition.

    Scores of different days are compared by their place among their own edition's, since each is relative to its day.
    Raises InputError for a kind that is not known, NotFoundError where the period has no edition.
    """
    first, last = bounds(kind, day)
    before, after = neighbours([one for one in days if not first <= one <= last], day)
    within = [edition for edition in editions if first <= edition.day <= last]
    if not within:
        near = " and ".join(str(one) for one in (before, after) if one)
        raise NotFoundError(
            f"there is no edition in the {kind} of {day}" + (f"; the nearest are of {near}" if near else "")
        )
    found: list[tuple[float, date, Entry]] = []
    seen: set[PaperId] = set()
    for edition in within:
        entries = edition.entries
        scores = sorted((entry.score for entry in entries), reverse=True)
        for entry in entries:
            if entry.paper.id not in seen:
                seen.add(entry.paper.id)
                # 1 for the best of its day, near 0 for the last; on a day with more entries more of them are good.
                found.append((1 - scores.index(entry.score) / BEST[kind], edition.day, entry))
    found.sort(key=lambda one: (-one[0], one[1], one[2].paper.id))
    best = tuple((when, entry) for _, when, entry in found[: BEST[kind]])
    return Period(kind, first, last, best, tuple(edition.day for edition in within), before, after)
