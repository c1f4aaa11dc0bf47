"""How sources stand, in words: for the foot of the front page and the page of sources. Pure: ``now`` is given.

Times are told in the time zone of ``now``. What a source says of itself may hold the address that was asked, and that a
key: names and messages are shown without user names, passwords and query strings of addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from ..model import SourceState, SourceStatus
from ..venues import venue_name
from .views import MONTHS, WEEKDAYS, written

KIND_NAMES = {
    "arxiv": "arXiv",
    "arxiv-search": "arXiv search",
    "arxiv-ids": "arXiv",
    "huggingface": "Hugging Face",
    "openreview": "OpenReview",
    "acl": "ACL Anthology",
    "pmlr": "PMLR",
    "cvf": "",
    "virtual": "",
    "papercopilot": "Paper Copilot",
    "feed": "",
    "zotero": "Zotero",
}
"""Kinds of sources as readers know them; empty where the rest of the name says enough."""
TROUBLED = frozenset({SourceState.FAILED, SourceState.STALE, SourceState.INCOMPLETE})
LONGEST_REMARK = 160
SILENT_FOR = timedelta(hours=26)  # a source asked every day is not worth a word before that
STATE_NAMES = {
    SourceState.NEVER: "not asked yet",
    SourceState.OK: "up to date",
    SourceState.QUIET: "nothing new",
    SourceState.STALE: "out of date",
    SourceState.INCOMPLETE: "in part only",
    SourceState.FAILED: "failed",
}

_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]*@")
_QUERY = re.compile(r"(://[^\s?#]*)[?#][^\s)\]>,;\"'”’]*")
_SCHEME = re.compile(r"^https?://(?:www\.)?")
_VENUE_AND_YEAR = re.compile(r"([A-Za-z]+)(?:\.cc)?[-_/ .]*((?:19|20)\d\d)(?:/Conference)?")


def without_secrets(text: str) -> str:
    """A text in which addresses have neither a user's name and password nor a query string."""
    return _QUERY.sub(r"\1", _CREDENTIALS.sub("", text))


def source_name(name: str) -> str:
    """A source for the eye: ``arxiv:cs.LG?types=new`` → “arXiv cs.LG”, ``virtual:icml/2025`` → “ICML 2025”."""
    kind, _, rest = without_secrets(name).partition(":")
    known = KIND_NAMES.get(kind)
    if known is None:
        return without_secrets(name)
    rest = _SCHEME.sub("", rest).partition("?")[0].rstrip("/")
    if found := _VENUE_AND_YEAR.fullmatch(rest):
        rest = f"{venue_name(found[1].lower())} {found[2]}"
    return " ".join(part for part in (known, rest) if part) or name


def remark(status: SourceStatus) -> str:
    """What the source says of itself, in one line and not too long."""
    text = " ".join(without_secrets(status.message).split()).rstrip(".")
    return text if len(text) <= LONGEST_REMARK else f"{text[:LONGEST_REMARK].rstrip()}…"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago something was: “3 h ago”."""
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 2:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 48 * 60:
        return f"{minutes // 60} h ago"
    return f"{minutes // (24 * 60)} days ago"


def day_words(day: date, today: date) -> str:
    """“Friday 28 November”, with the year where it is another one."""
    year = "" if day.year == today.year else f" {day.year}"
    return f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}{year}"


def moment_words(moment: datetime, now: datetime) -> str:
    """“today 07:30”, “tomorrow 07:30”, “Friday 28 November 07:30”."""
    local = moment.astimezone(now.tzinfo)
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    day = near.get((local.date() - now.date()).days) or day_words(local.date(), now.date())
    return f"{day} {local:%H:%M}"


def _at(due: datetime | None, now: datetime) -> str:
    """When, at the end of a sentence: “at 07:30”, “tomorrow at 07:30”."""
    if due is None or due <= now:
        return "with the next update"
    day, _, clock = moment_words(due, now).rpartition(" ")
    place = "" if day == "today" else f"{day} " if day == "tomorrow" else f"on {day} "
    return f"{place}at {clock}"


def state_words(status: SourceStatus, now: datetime) -> str:
    """How a source stands: “Friday 28 November (no announcement today: weekend)”, “failed, trying again at 07:30”."""
    day = day_words(status.day, now.date()) if status.day else ""
    said = f" ({found})" if (found := remark(status)) else ""
    match status.state:
        case SourceState.NEVER:
            return f"not asked yet, first run {_at(status.due, now)}"
        case SourceState.FAILED:
            return f"failed, trying again {_at(status.due, now)}"
        case SourceState.INCOMPLETE:
            return f"in part only, the rest follows {_at(status.due, now)}"
        case SourceState.STALE:
            return (f"nothing newer than {day}" if day else "out of date") + said
        case SourceState.OK | SourceState.QUIET:
            return (day or "up to date") + _freshness(status, now) + (said if status.state is SourceState.QUIET else "")


def _freshness(status: SourceStatus, now: datetime) -> str:
    """When it was asked, where the day that it announced does not say enough."""
    moment = status.fetched or status.asked
    if moment is None or (status.day and now - moment < SILENT_FOR):
        return ""
    return f", {'asked ' if status.day else ''}{ago(moment, now)}"


@dataclass(frozen=True, slots=True)
class Told:
    """A moment for people and for programs."""

    words: str
    iso: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A source and how it stands, in words; times are None where there are none."""

    name: str
    configured: str
    state: str
    words: str
    remark: str
    troubled: bool
    newest: str
    day: str
    asked: Told | None
    fetched: Told | None
    due: Told | None
    records: int


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _told(moment: datetime | None, now: datetime) -> Told | None:
    return (
        Told(_capital(moment_words(moment, now)), moment.astimezone(UTC).isoformat(timespec="seconds"))
        if moment
        else None
    )


def standings(sources: Iterable[SourceStatus], now: datetime) -> list[Standing]:
    """How each source stands."""
    return [
        Standing(
            name=source_name(status.name),
            configured=without_secrets(status.name),
            state=_capital(STATE_NAMES[status.state]),
            words=state_words(status, now),
            remark=remark(status),
            troubled=status.state in TROUBLED,
            newest=status.newest,
            day=written(status.day) if status.day else "",
            asked=_told(status.asked, now),
            fetched=_told(status.fetched, now),
            due=_told(status.due, now),
            records=status.records,
        )
        for status in sources
    ]


def zone(now: datetime) -> str:
    """The name of the time zone that times are told in."""
    return now.tzname() or "UTC"
