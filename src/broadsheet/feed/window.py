"""Which papers an edition is chosen from, and what there is to say on a day without one. Pure.

The watermark is the last announcement that an edition covered, not the clock: a source that lags, a day off or another
time zone loses nothing. What comes late, with a day that was covered already, is told by its number in the library.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from broadsheet.model import Paper, PaperId, SourceState, SourceStatus
from broadsheet.model.reading import Edition
from broadsheet.sources.arxiv_calendar import (
    EASTERN,
    announcement_day,
    missed_days,
    next_announcement,
    spoken,
    why_none,
)

FIRST_PAPERS = 50  # a first edition goes back until it has as many to choose from
FIRST_DAYS = 7  # but no further than this
FIRST_FEW = 20  # unless there were fewer than these, as in a library of papers of which only the month is known
LATE_DAYS = 14  # how long a paper may come after its day and still be new
_DAY = timedelta(days=1)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_TURN_OF_DAY = 20  # arXiv announces the next day's papers at this hour, Eastern time
_ALREADY_SAID = re.compile(r"\S+ is stale: ")
_TROUBLED = {SourceState.FAILED: "could not be asked", SourceState.INCOMPLETE: "ended early"}


@dataclass(frozen=True, slots=True)
class Window:
    """The papers of days after ``since`` (None: from the first one) up to ``through``; and those that came late: of
    days from ``late_since`` on, with a number above ``newer_than``.

    Days ahead of ``ahead`` are not announcements but dates of issues to come: they count as today's.
    """

    since: date | None
    through: date
    newer_than: PaperId
    late_since: date
    ahead: date

    def holds(self, paper: Paper) -> bool:
        """Whether a paper belongs to the edition."""
        day, late = paper.day, paper.id > self.newer_than
        if day is None:
            return False
        if day > self.ahead:
            return late
        return (self.since is None or day > self.since or (late and day >= self.late_since)) and day <= self.through


def next_window(days: Sequence[tuple[date, int]], last: Edition | None, today: date) -> Window | None:
    """What the next edition is chosen from; None for a library without dated papers.

    ``days`` are the newest days that have papers, and how many, newest first. A first edition covers the newest day
    and goes back until it has fifty papers or, with twenty at least, seven days; later ones begin where the last ended.
    """
    # arXiv's papers of the next day are announced on the evening before, Eastern time.
    ahead = today + _DAY
    announced = [(day, count) for day, count in days if day <= ahead]
    if last is not None:
        through = max([last.through, *(day for day, _ in announced[:1])])
        return Window(last.through, through, last.newest_paper, last.through - LATE_DAYS * _DAY, ahead)
    if not days:
        return None
    if not announced:
        return Window(today, today, 0, today, ahead)
    newest, found, first = announced[0][0], 0, announced[0][0]
    for day, count in announced:
        if found >= (FIRST_FEW if newest - day >= FIRST_DAYS * _DAY else FIRST_PAPERS):
            break
        found, first = found + count, day
    return Window(first - _DAY, newest, 0, newest + _DAY, ahead)


def is_due(papers: Sequence[Paper], last: Edition | None, now: datetime, update_at: time | None) -> bool:
    """Whether these papers make an edition now: one of a newer day does.

    Those that came late do not before the day's update, at the local time ``update_at``: there is one edition a day,
    and shortly after midnight it would be of a few late papers only, and the morning's would have to wait for a day.
    """
    if not papers or last is None or any(paper.day and paper.day > last.through for paper in papers):
        return bool(papers)
    return update_at is None or now.time() >= update_at


def mailing_day(now: datetime) -> date:
    """The day that papers announced last would bear if arXiv announced every evening at 20:00 Eastern time."""
    local = now.astimezone(EASTERN)
    return local.date() + (_DAY if local.hour >= _TURN_OF_DAY else timedelta(0))


def expected(now: datetime, sources: Iterable[SourceStatus], extra: Collection[date] = ()) -> datetime | None:
    """When something new is to be expected: arXiv's next announcement, else when the next source is due."""
    listed = list(sources)
    if _of_arxiv(listed):
        return next_announcement(now, extra)
    return min((source.due for source in listed if source.due and source.due > now), default=None)


def why_nothing(
    now: datetime,
    sources: Sequence[SourceStatus],
    last: Edition | None,
    *,
    dated: bool,
    extra: Collection[date] = (),
) -> str:
    """Sentences for a day on which nothing can be printed: weekend, holiday, not fetched yet, a source in trouble.

    ``dated`` says whether the library has any paper with a day. A quiet day and a failure never read alike.
    """
    if not dated:
        return _without_papers(sources)
    said = trouble(sources)
    if not sources:
        said.append("Nothing new came in, and no source is configured. Add one: broadsheet sources add arxiv:cs.LG")
    elif _of_arxiv(sources):
        said.append(_of_the_calendar(now, sources, last, extra))
    elif not said:
        said.append(f"Nothing new came in.{_next_look(now, sources)}")
    return " ".join(said)


def _without_papers(sources: Sequence[SourceStatus]) -> str:
    if said := trouble(sources):
        return " ".join(["The library has no dated papers yet.", *said])
    if sources:
        return "The library has no dated papers yet. Ask its sources: broadsheet update"
    return "The library has no dated papers yet. Import some, or add a source: broadsheet sources add arxiv:cs.LG"


def _of_the_calendar(
    now: datetime, sources: Sequence[SourceStatus], last: Edition | None, extra: Collection[date]
) -> str:
    following = f"Next expected {spoken(next_announcement(now, extra))}."
    if reason := why_none(mailing_day(now), extra):
        return f"No announcement: {reason}. {following}"
    day = announcement_day(now, extra)
    covered = max([source.day for source in _of_arxiv(sources) if source.day], default=None)
    if (covered is None or covered < day) and (last is None or last.through < day):
        return f"The announcement of {day} has not been fetched yet.{_next_look(now, sources)}"
    return f"Nothing new since the announcement of {day}. {following}"


def _next_look(now: datetime, sources: Sequence[SourceStatus]) -> str:
    due = [source.due for source in sources if source.due]
    if not due:
        return " Ask for it: broadsheet update"
    if min(due) <= now:
        return " It is due now: a server asks by itself, else run broadsheet update"
    return f" The sources are asked next at {min(due).astimezone(now.tzinfo):%Y-%m-%d %H:%M}."


def trouble(sources: Iterable[SourceStatus]) -> list[str]:
    """A sentence for each source that failed, ended early or is stale."""
    said = []
    for source in sources:
        message = " ".join(source.message.split()).rstrip(".")
        if source.state is SourceState.STALE:
            what = message or "it shows what is old"
            said.append(f"{source.name} is stale: {_ALREADY_SAID.sub('', what)}.")
        elif source.state in _TROUBLED:
            said.append(f"{source.name} {_TROUBLED[source.state]}{f': {message}' if message else ''}.")
    return said


def notes_on(
    window: Window, last: Edition | None, sources: Sequence[SourceStatus], extra: Collection[date]
) -> list[str]:
    """What an edition says of its own making: which days it catches up on, and which sources are in trouble."""
    said = trouble(sources)
    if last is not None:
        days = missed_days(last.through, window.through + _DAY, extra)
        if len(days) > 1:
            # Every day counts, as in the dates that stand beside it: papers may bear a day without an announcement.
            since = last.through + _DAY
            many = (window.through - last.through).days
            said.insert(0, f"Catches up on {many} days, from {_written(since)} to {_written(window.through)}.")
    return said


def _written(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _of_arxiv(sources: Iterable[SourceStatus]) -> list[SourceStatus]:
    return [source for source in sources if source.name.split(":")[0].startswith("arxiv")]
