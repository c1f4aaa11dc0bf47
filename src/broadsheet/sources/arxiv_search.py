"""Searches and single papers of arXiv as sources: ``arxiv-search:WORDS`` and ``arxiv-ids:ID,ID``.

A search goes on by the day of change, newest first, down to ``OVERLAP`` before the last search that was whole: the API
lags behind the site by a day or more. So it brings new papers and new versions alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import parse_qsl, unquote

from broadsheet.errors import InputError, SettingsError
from broadsheet.model import SourceState
from broadsheet.sources.answers import read_cursor, write_cursor
from broadsheet.sources.arxiv_api import ADDRESS, MOST, by_ids, by_query, parse_api
from broadsheet.sources.arxiv_query import search_query
from broadsheet.sources.arxiv_record import arxiv_id, moment_of
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.values import date_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

FIRST = 1000
"""Papers of the first search, where it has no ``since``."""
OVERLAP = timedelta(days=4)
_UPDATED = re.compile(rb"<entry\b.*?<updated>([^<]+)</updated>", re.DOTALL)


@dataclass
class ArxivSearch:
    """The papers that a search finds. The cursor is the day of the last whole search, and how far one under way is."""

    kind: ClassVar[str] = "arxiv-search"
    usage: ClassVar[str] = (
        'arxiv-search:WORDS, such as arxiv-search:"mixture of experts" OR MoE?cat=cs.LG,cs.CL&since=2026-01-01'
    )

    words: str
    categories: tuple[str, ...] = ()
    since: date | None = None
    name: str = ""
    every: timedelta = timedelta(days=1)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A search; ``%20`` may stand for a blank. Raises SettingsError for what cannot be asked."""
        words, _, query = rest.strip().partition("?")
        told = dict(parse_qsl(query, keep_blank_values=True))
        try:
            if unknown := sorted(told.keys() - {"cat", "since"}):
                raise InputError(f"no such option {unknown[0]!r}; there are cat and since")
            categories = tuple(filter(None, told.get("cat", "").split(",")))
            search_query(unquote(words), categories=categories)
            since = date.fromisoformat(told["since"]) if "since" in told else None
        except (InputError, ValueError) as error:
            raise SettingsError(f"{cls.kind}:{rest}: {error}. Usage: {cls.usage}") from error
        return cls(unquote(words), categories, since, f"{cls.kind}:{rest.strip()}")

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """What changed since the last search that was whole, newest first. Raises FetchError."""
        told = read_cursor(cursor)
        done, begun = (date_of(told.get(name), name, whole=True) for name in ("day", "begun"))
        begun = begun or now.astimezone(UTC).date()
        start = told["start"] if isinstance(told.get("start"), int) else 0
        most = MOST if done or self.since else FIRST
        state = SourceState.OK
        for page in self._pages(client, start, most):
            state = page.state
            under_way = {"day": done and done.isoformat(), "begun": begun.isoformat(), "start": int(page.cursor)}
            yield Page(page.url, page.body, write_cursor(under_way), page.remark, state, page.newest, kind=page.kind)
            oldest = _oldest(page.body)
            if done and oldest and oldest < done - OVERLAP:
                break
        if state is not SourceState.INCOMPLETE:
            yield Page(ADDRESS, b"", write_cursor({"day": begun.isoformat()}), state=state)

    def _pages(self, client: Client, start: int, most: int) -> Iterator[Page]:
        if start >= most:
            return iter(())
        return by_query(
            client,
            self.words,
            categories=self.categories,
            since=self.since,
            sort="lastUpdatedDate",
            start=start,
            limit=most - start,
        )

    def parse(self, page: Page) -> Iterator[Entry]:
        """The papers of a page. Raises InputError if it is no answer of the API."""
        return parse_api(page.url, page.body) if page.body else iter(())


@dataclass
class ArxivPapers:
    """Papers by their ids, as they are now."""

    kind: ClassVar[str] = "arxiv-ids"
    usage: ClassVar[str] = "arxiv-ids:ID,ID, such as arxiv-ids:2401.12345,quant-ph/0112019"

    ids: Sequence[str]
    name: str = ""
    every: timedelta = timedelta(days=7)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """Ids in any form, between commas. Raises SettingsError."""
        ids = [text for text in (piece.strip() for piece in rest.split(",")) if text]
        wrong = [text for text in ids if arxiv_id(text) is None]
        if wrong or not ids:
            said = f"{wrong[0]!r} is no arXiv id" if wrong else "no id named"
            raise SettingsError(f"{cls.kind}:{rest}: {said}. Usage: {cls.usage}")
        return cls(ids, f"{cls.kind}:{','.join(ids)}")

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """All of them. Raises FetchError."""
        return by_ids(client, self.ids)

    def parse(self, page: Page) -> Iterator[Entry]:
        """The papers of a page. Raises InputError if it is no answer of the API."""
        return parse_api(page.url, page.body)


def _oldest(body: bytes) -> date | None:
    """The earliest day on which a paper of an answer was changed."""
    moments = (moment_of(text.decode("ascii", "replace")) for text in _UPDATED.findall(body))
    return min((moment.date() for moment in moments if moment), default=None)
