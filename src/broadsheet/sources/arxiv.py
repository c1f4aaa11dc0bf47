"""A category of arXiv as a source: ``arxiv:cs.LG``.

The watermark is the mailing day of the last announcement that was read, never a span of hours: days are arXiv's own.
The RSS feed is asked (conditionally) for the newest announcement. Where announcements lie between it and the last one
read, they are harvested by OAI-PMH, with one day of overlap. Why a day is quiet is said, and when the next is expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import parse_qsl

import orjson

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.identifiers import arxiv_month
from broadsheet.model import Refusal, SourceState
from broadsheet.sources.arxiv_calendar import EASTERN, feed_day, missed_days, next_announcement, spoken, why_none
from broadsheet.sources.arxiv_listing import parse_listing, read_listing
from broadsheet.sources.arxiv_oai import Window, harvest, parse_oai, set_of
from broadsheet.sources.arxiv_rss import TYPES, Feed, parse_rss, read_feed
from broadsheet.sources.base import Entry, Page

if TYPE_CHECKING:
    from broadsheet.net import Client, Response, Validators
    from broadsheet.sources.catalogue import Options

RSS, OAI, LISTING = "rss", "oai", "listing"
"""Kinds of pages."""
FEEDS = "https://rss.arxiv.org/rss/"
LISTS = "https://arxiv.org/list/"
GRACE = timedelta(hours=3)
"""How long after midnight Eastern a feed may still be the old one."""
FULL = 2000
"""Items of a feed; arXiv cuts it there."""
_OVERLAP = timedelta(days=1)
_AGE = timedelta(days=21)
"""How long a paper may wait for its announcement; what changes later was announced before."""
_CATEGORY = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)?)(?:\.([A-Za-z]{2,}(?:-[A-Za-z]+)?))?")
_MODERN = frozenset(
    (
        *("astro-ph", "cond-mat", "cs", "econ", "eess", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math"),
        *("math-ph", "nlin", "nucl-ex", "nucl-th", "physics", "q-bio", "q-fin", "quant-ph", "stat"),
    )
)
_LONG_NAMED = frozenset(("cond-mat", "physics"))
"""Archives whose subjects have names of more than two letters, such as cond-mat.mes-hall."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a category stands. ``batch``: digest of the last feed's items. ``window``: a harvest still under way."""

    announced: date | None = None
    etag: str = ""
    modified: str = ""
    batch: str = ""
    window: Window | None = None

    @classmethod
    def read(cls, text: str) -> Cursor:
        """Raises InputError for what is no cursor of this source."""
        if not text:
            return cls()
        try:
            told = orjson.loads(text)
            window = told.get("window")
            return cls(
                date.fromisoformat(told["announced"]) if told.get("announced") else None,
                told.get("etag", ""),
                told.get("modified", ""),
                told.get("batch", ""),
                _window(window) if window else None,
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"cursor {text[:80]!r}: not one of arXiv's ({error}); forget it to begin again") from error

    def __str__(self) -> str:
        window = self.window and {name: getattr(self.window, name) for name in Window.__slots__}
        told = {"announced": self.announced, "etag": self.etag, "modified": self.modified, "batch": self.batch}
        return orjson.dumps({name: value for name, value in {**told, "window": window}.items() if value}).decode()


def _window(told: dict[str, str | bool]) -> Window:
    days = {name: date.fromisoformat(str(told[name])) for name in ("since", "until")}
    reached = date.fromisoformat(str(told["reached"])) if told.get("reached") else None
    return Window(**days, token=str(told.get("token", "")), reached=reached, rising=bool(told.get("rising", True)))


@contextmanager
def _as_fetch_error(url: str) -> Iterator[None]:
    """What was to be fetched and is something else could not be had."""
    try:
        yield
    except InputError as error:
        raise FetchError(str(error), url=url, status=200) from error


def _due(day: date) -> datetime:
    """When a feed ought to show a mailing day."""
    return datetime.combine(day, time(), EASTERN) + GRACE


def _get_feed(client: Client, url: str, category: str, known: Validators | None) -> Response:
    try:
        return client.get(url, validators=known)
    except FetchError as error:
        if error.status not in (400, 404):
            raise
        what = f"arXiv has no feed for {category} ({error.status}); see https://arxiv.org/category_taxonomy"
        raise FetchError(what, url=url, status=error.status) from error


# --- settings --------------------------------------------------------------------------------------------------------


def category_of(text: str) -> str:
    """A category or archive in arXiv's spelling: ``cs.lg`` → ``cs.LG``. Raises SettingsError."""
    match = _CATEGORY.fullmatch(text.strip())
    archive = match[1].lower() if match else ""
    subclass = (match[2] or "") if match else ""
    if archive not in _MODERN or (len(subclass) > 2 and archive not in _LONG_NAMED):
        raise SettingsError(
            f"arxiv:{text}: not a category of arXiv; write it as in arxiv:cs.LG, arxiv:stat.ML or arxiv:hep-th "
            "(https://arxiv.org/category_taxonomy)"
        )
    return f"{archive}.{subclass.upper() if len(subclass) == 2 else subclass.lower()}" if subclass else archive


def _day_of(text: str, where: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise SettingsError(f"{where}: {text!r} is no day; write it as 2026-11-01") from error


def _types_of(text: str, rest: str) -> tuple[str, ...]:
    chosen = tuple(filter(None, (piece.strip() for piece in text.split(","))))
    wrong = [piece for piece in chosen if piece not in TYPES]
    if wrong or not chosen:
        said = f"{wrong[0]!r} is no announce type" if wrong else "types: none named"
        raise SettingsError(f"arxiv:{rest}: {said}; there are {', '.join(TYPES)}")
    return chosen


# --- the source ------------------------------------------------------------------------------------------------------


@dataclass
class ArxivCategory:
    """The papers of one category of arXiv.

    ``since``: with the first update everything changed since that day is harvested too. ``types``: the announce types
    that are taken. ``holidays``: further days on which arXiv announces nothing.
    """

    kind: ClassVar[str] = "arxiv"
    usage: ClassVar[str] = "arxiv:CATEGORY, such as arxiv:cs.LG or arxiv:cs.LG?since=2026-11-01&types=new,cross"

    category: str
    name: str = ""
    since: date | None = None
    types: tuple[str, ...] = TYPES
    holidays: frozenset[date] = frozenset()
    every: timedelta = field(default=timedelta(hours=3))

    def __post_init__(self) -> None:
        self.name = self.name or f"{self.kind}:{self.category}"

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """The source of ``cs.LG`` or ``cs.LG?since=2026-11-01&types=new,cross``. Raises SettingsError."""
        category, _, query = rest.partition("?")
        told = dict(parse_qsl(query, keep_blank_values=True))
        unknown = sorted(told.keys() - {"since", "types"})
        if unknown:
            raise SettingsError(f"arxiv:{rest}: no such option {unknown[0]!r}; there are since and types")
        return cls(
            category_of(category),
            name=f"{cls.kind}:{category_of(category)}" + (f"?{query}" if query else ""),
            since=_day_of(told["since"], f"arxiv:{rest}") if "since" in told else None,
            types=_types_of(told["types"], rest) if "types" in told else TYPES,
            holidays=frozenset(_day_of(text, "arxiv_holidays") for text in (options.arxiv_holidays if options else ())),
        )

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The newest announcement, then what was missed or is still to be harvested.

        Raises FetchError if either could not be had; a feed that fails does not keep the harvest from going on.
        """
        at = Cursor.read(cursor)
        if not cursor and self.since:
            at = replace(at, window=Window(self.since, now.astimezone(UTC).date()))
        failed: FetchError | None = None
        try:
            page, at = self._announcement(client, at, now)
        except FetchError as error:
            failed = error
        else:
            yield page
        yield from self._harvest(client, at)
        if failed:
            raise failed

    def fetch_again(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The listing page, for a feed that is stale. Raises FetchError."""
        at = Cursor.read(cursor)
        response = client.get(f"{LISTS}{self.category}/new", params={"skip": "0", "show": "2000"})
        with _as_fetch_error(response.url):
            listing = read_listing(response.url, response.body)
        if not listing.items:
            # Of a page without a day nobody knows whether it is today's.
            state = SourceState.STALE if listing.day is None or self._late(listing.day, now) else SourceState.QUIET
            remark = f"{self.category}: the listing page shows no papers. {self._next(now)}"
            yield Page(response.url, b"", cursor, remark, state, kind=LISTING)
            return
        day = listing.day or feed_day(now, self.holidays)
        late = self._late(day, now)
        what = f"the listing page too shows {day} though {late} was expected."
        remark = f"{self.category} is stale: {what}" if late else ""
        after = str(self._caught_up(at, day, now))
        state = SourceState.STALE if late else SourceState.OK
        yield Page(response.url, response.body, after, remark, state, listing.newest, day, LISTING)

    def parse(self, page: Page) -> Iterator[Entry]:
        """The papers of a page. Raises InputError if it is no document of arXiv's at all."""
        if not page.body:
            return iter(())
        if page.kind == OAI:
            return self._of_types(parse_oai(page.url, page.body))
        if page.kind == LISTING:
            return parse_listing(page.url, page.body, self.types)
        return parse_rss(page.url, page.body, self.types)

    def _of_types(self, entries: Iterator[tuple[Entry, date | None]]) -> Iterator[Entry]:
        """What was announced as one of the types wanted, as far as its days tell: OAI-PMH does not say it."""
        for entry, changed in entries:
            if isinstance(entry, Refusal) or set(self.types) == set(TYPES):
                yield entry
                continue
            primary = str(entry.areas[0]) if entry.areas else ""
            own = primary == self.category or primary.startswith(f"{self.category}.")
            old = changed and entry.published and changed - entry.published > _AGE
            announced = ("replace" if own else "replace-cross") if old else ("new" if own else "cross")
            if announced in self.types:
                yield entry

    # --- the feed ---

    def _announcement(self, client: Client, at: Cursor, now: datetime) -> tuple[Page, Cursor]:
        from broadsheet.net import Validators

        url = f"{FEEDS}{self.category}"
        known = Validators(at.etag, at.modified) if at.etag or at.modified else None
        response = _get_feed(client, url, self.category, known)
        if response.not_modified:
            state, remark = self._unchanged(at, now)
            return Page(url, b"", str(at), remark, state, kind=RSS), at
        with _as_fetch_error(url):
            feed = read_feed(url, response.body)
        at = replace(at, etag=response.validators.etag, modified=response.validators.modified)
        if not feed.items:
            return self._empty(url, feed, at, now)
        day = feed.day or feed_day(now, self.holidays)
        if at.announced and (day < at.announced or feed.batch == at.batch):
            state, remark = self._unchanged(at, now)
            if day > at.announced:
                state = SourceState.STALE
                remark = f"{self.category} is stale: the feed bears {day} but holds the papers of {at.announced}."
            return Page(url, b"", str(at), remark, state, feed.newest, at.announced, RSS), at
        at = replace(self._caught_up(at, day, now), batch=feed.batch)
        state, remark = SourceState.OK, ""
        if self._late(day, now):
            state, remark = self._standing(day, now)
        elif feed.items >= FULL:
            at = self._with_window(at, day, now)
            remark = f"{self.category}: the feed of {day} is full; what it leaves out is harvested."
        return Page(url, response.body, str(at), remark, state, feed.newest, day, RSS), at

    def _empty(self, url: str, feed: Feed, at: Cursor, now: datetime) -> tuple[Page, Cursor]:
        """A feed without papers: of a day without an announcement, or of one that was expected to have some."""
        day = feed.day or now.astimezone(EASTERN).date()
        if why_none(day, self.holidays) or day < feed_day(now, self.holidays):
            state, remark = self._standing(day, now)
        elif now < _due(day):
            state, remark = SourceState.QUIET, self._not_yet(day)
        else:
            state = SourceState.QUIET
            remark = (
                f"{self.category}: no announcement though one was expected for {day} (perhaps a holiday that is not in "
                f"the calendar, or a day without papers). {self._next(now)}"
            )
        seen = missed_days(at.announced, day, self.holidays)[-1:] if at.announced else [day - _OVERLAP]
        if seen:
            at = self._caught_up(at, seen[0], now, missed_too=True)
        return Page(url, b"", str(at), remark, state, kind=RSS), at

    def _unchanged(self, at: Cursor, now: datetime) -> tuple[SourceState, str]:
        """What it means that the feed is as it was."""
        if at.announced is None:
            return SourceState.QUIET, f"{self.category}: nothing new. {self._next(now)}"
        return self._standing(at.announced, now)

    def _standing(self, shown: date, now: datetime) -> tuple[SourceState, str]:
        """How a feed stands that has nothing after ``shown``."""
        if late := self._late(shown, now):
            return SourceState.STALE, f"{self.category} is stale: the feed shows {shown} though {late} was expected."
        expected = feed_day(now, self.holidays)
        if shown < expected:
            return SourceState.QUIET, self._not_yet(expected)
        if reason := why_none(now.astimezone(EASTERN).date(), self.holidays):
            return SourceState.QUIET, f"No announcement today: {reason}; {self._next(now, 'next')}"
        said = f"{self.category}: nothing new since the announcement of {shown}. {self._next(now)}"
        return SourceState.QUIET, said

    def _late(self, shown: date, now: datetime) -> date | None:
        """The mailing day that a page ought to show by now, if it does not."""
        expected = feed_day(now, self.holidays)
        return expected if shown < expected and now >= _due(expected) else None

    def _not_yet(self, day: date) -> str:
        return f"{self.category}: the papers of {day} are not in the feed yet; ask again in an hour or two."

    def _next(self, now: datetime, start: str = "Next") -> str:
        return f"{start} expected {spoken(next_announcement(now, self.holidays))}."

    # --- what was missed ---

    def _caught_up(self, at: Cursor, day: date, now: datetime, *, missed_too: bool = False) -> Cursor:
        """The cursor once ``day`` is read (or itself counted as missed), with a window for the days between."""
        if at.announced is None or day <= at.announced:
            return replace(at, announced=at.announced or day)
        missed = missed_days(at.announced, day + (_OVERLAP if missed_too else timedelta(0)), self.holidays)
        at = replace(at, announced=day)
        return self._with_window(at, missed[0], now) if missed else at

    def _with_window(self, at: Cursor, first: date, now: datetime) -> Cursor:
        """The cursor with a harvest of all mailing days from ``first`` on."""
        until = now.astimezone(UTC).date()
        # The day of change may be that of the evening before.
        return replace(at, window=at.window.until_later(until) if at.window else Window(first - _OVERLAP, until))

    def _harvest(self, client: Client, at: Cursor) -> Iterator[Page]:
        if at.window is None:
            return
        for got in harvest(client, set_of(self.category), at.window):
            at = replace(at, window=got.left)
            yield Page(got.url, got.body, str(at), got.remark, got.state, got.answer.newest, kind=OAI)


# --- categories side by side -----------------------------------------------------------------------------------------

FAR = 800
"""Ids between two categories' newest that tell one from the other's batch where the last batch is not known."""


def stale(newest: Mapping[str, str], before: Mapping[str, str] | None = None) -> dict[str, str]:
    """The categories that lag behind the others, each with a sentence that says so.

    ``newest`` is the greatest id on each category's newest page, ``before`` that of the page before it. arXiv gives ids
    in the order of announcement, so what is not above every id of the batch before is itself of that batch. Without
    ``before`` a category is taken to lag if it is ``FAR`` ids or a month behind. That never was wrong for cs.AI, cs.CL,
    cs.CV and cs.LG on 310 real days, but on a tenth to a fifth of them for stat.ML and cs.GT: the newest paper of a
    small category may well be among the first of its batch.
    """
    known = {category: value for category, value in newest.items() if value}
    head = max(known.values(), default="")
    limit = max((before or {}).values(), default="")
    if limit and limit >= head:  # no batch came since
        return {}
    return {
        category: f"{category} is stale: newest id {value}, others have {head}"
        for category, value in sorted(known.items())
        if (value <= limit if limit else _far_behind(value, head))
    }


def _far_behind(value: str, head: str) -> bool:
    if arxiv_month(value) != arxiv_month(head):
        return True
    return int(head.split(".")[1]) - int(value.split(".")[1]) >= FAR
