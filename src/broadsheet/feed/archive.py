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
from broadsheet.sources.arxiv_calendar import why_none

BEST = {"week": 30, "month": 50}
"""How many entries a period shows."""
UNSURE = {"memory": 1.0, "profile": 3.0, "nothing": 30.0}
"""How many times further back a place counts by what the edition's ranking went by. Our choice, not measured: the first
of 600 papers, where nothing was known of the reader, stands after the first thirty by the memory."""

_ARXIV_BEGAN = 1991
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def neighbours(days: Sequence[date], day: date) -> tuple[date | None, date | None]:
    """The nearest days with an edition before and after a day, which need not have one itself; in any order given."""
    ordered = sorted(days)
    before, after = bisect_left(ordered, day), bisect_right(ordered, day)
    return (ordered[before - 1] if before else None), (ordered[after] if after < len(ordered) else None)


def quiet_day(day: date) -> str:
    """That arXiv announces nothing on a day, and why: "Saturday: arXiv announces nothing"; empty for other days."""
    reason = why_none(day) if day.year >= _ARXIV_BEGAN else ""
    if not reason:
        return ""
    name = _WEEKDAYS[day.weekday()] if reason == "weekend" else reason[:1].upper() + reason[1:]
    return f"{name}: arXiv announces nothing"


def not_printed(day: date, days: Sequence[date]) -> NotFoundError:
    """The error for a day without an edition: why, where that is known, and the nearest days that have one."""
    near = [f"{found}" for found in neighbours(days, day) if found]
    if not near:
        return NotFoundError(f"there is no edition of {day}; none has been printed yet: broadsheet today")
    why = f" ({quiet})" if (quiet := quiet_day(day)) else ""
    return NotFoundError(f"there is no edition of {day}{why}; the nearest are of {' and '.join(near)}")


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

    Scores of different days cannot be compared, since each is relative to its day; places can: the tenth of 600 papers
    stands above the first of three. So a paper's place among its edition's is divided by how many papers that was
    chosen from, and multiplied by how unsure its ranking was (``UNSURE``). All of it was kept with the edition, so
    nothing that the reader says later changes a period.

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
        chosen_from = max(edition.considered, len(entries))
        for entry in entries:
            if entry.paper.id not in seen:
                seen.add(entry.paper.id)
                share = (scores.index(entry.score) + 1) / (chosen_from + 1)
                found.append((share * UNSURE.get(edition.basis, 1.0), edition.day, entry))
    found.sort(key=lambda one: (one[0], one[1], one[2].paper.id))
    best = tuple((when, entry) for _, when, entry in found[: BEST[kind]])
    return Period(kind, first, last, best, tuple(edition.day for edition in within), before, after)
