"""Papers of a conference by the lists of Paper Copilot (https://github.com/papercopilot/paperlists), one file a year.

A file is a JSON array; it is read element by element, so that one that is broken costs one refusal with its line. Large
files lie in Git LFS, and the first address then gives a pointer, after which the second is asked. Rejected, withdrawn
and undecided papers are left out, unless they are asked for (``papercopilot:iclr/2024/all``). Names that a list repeats
are taken once. ``gs_citation`` is the number of citations that Google Scholar counts, -1 where it is not known.

Not taken: what a list tells of the authors beside their names (affiliations, gender, profiles) and the reviews.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from broadsheet.errors import FetchError, InputError
from broadsheet.model import Record, Refusal, SourceState
from broadsheet.sources.answers import (
    LEFT_OUT,
    cursor_of,
    fields_of,
    load_json,
    read_cursor,
    status_of,
    validators_in,
    venue_and_year,
)
from broadsheet.sources.base import Entry, Limits, Page, too_long
from broadsheet.sources.jsonarray import elements
from broadsheet.sources.jsonl import digest_of, record_of
from broadsheet.sources.stream import BOM, TooLong
from broadsheet.sources.values import FieldError, text_of
from broadsheet.venues import venue_key

if TYPE_CHECKING:
    from broadsheet.net import Client, Response
    from broadsheet.sources.catalogue import Options

_ADDRESSES = (
    "https://raw.githubusercontent.com/papercopilot/paperlists/main",
    "https://media.githubusercontent.com/media/papercopilot/paperlists/main",
)
_POINTER = b"version https://git-lfs.github.com/spec/"
_FOLDERS = {"neurips": "nips"}
_LIMITS = Limits(max_entry_bytes=1_000_000, max_authors=10_000)
_LINKS = ("site", "oa", "pdf", "openreview", "doi", "arxiv", "github", "project")
_KEPT = ("title", "abstract", "primary_area", "keywords", "tldr", "author")
_BOOK = re.compile(r"^\s*booktitle\s*=\s*\{(.+)\}", re.MULTILINE)
_UNDECIDED = frozenset(("Active", "Pending", "Submitted", "Under Review"))


class PaperCopilot:
    """One conference of one year. The cursor holds what tells whether the file changed."""

    kind: ClassVar[str] = "papercopilot"
    usage: ClassVar[str] = "papercopilot:CONFERENCE/YEAR, such as papercopilot:icml/2025 (with /all the rejected too)"

    def __init__(self, venue: str, year: int, *, everything: bool = False) -> None:
        self.venue = venue_key(venue)
        self.year = year
        self.everything = everything
        self.name = f"{self.kind}:{self.venue}/{year}" + ("/all" if everything else "")
        self.every = timedelta(days=7)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A conference and a year, and ``/all`` if rejected papers are wanted."""
        asked = rest.strip().strip("/")
        venue, year = venue_and_year(cls.kind, cls.usage, asked.removesuffix("/all"))
        return cls(venue, year, everything=asked.endswith("/all"))

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The whole file as one page, if it changed."""
        folder = _FOLDERS.get(self.venue, self.venue)
        path = f"{folder}/{folder}{self.year}.json"
        at = int(read_cursor(cursor).get("address") == 1)
        response = self._get(client, f"{_ADDRESSES[at]}/{path}", cursor)
        if response.body.startswith(_POINTER):
            at = 1
            response = self._get(client, f"{_ADDRESSES[at]}/{path}", "")
        if response.not_modified:
            yield Page(response.url, b"", cursor, "unchanged", SourceState.QUIET)
        else:
            yield Page(response.url, response.body, cursor_of(response, address=at))

    def _get(self, client: Client, url: str, cursor: str) -> Response:
        try:
            return client.get(url, validators=validators_in(cursor))
        except FetchError as error:
            if error.status != 404:
                raise
            raise FetchError(
                f"{self.name}: Paper Copilot has no such list; all are at github.com/papercopilot/paperlists",
                url=url,
                status=404,
            ) from error

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper of the file that the conference took."""
        body = page.body.removeprefix(BOM)
        if not body:
            return
        if not body.lstrip().startswith(b"["):
            raise InputError(f"{page.url}: not a list of papers; nothing was taken of it")
        for line, element in elements((body,), _LIMITS.max_entry_bytes, array=True):
            if isinstance(element, TooLong):
                yield Refusal(page.url, line, too_long(element.size, _LIMITS))
                continue
            try:
                record = self._record(load_json(element, "entry"), element.decode("utf-8", "replace"))
            except (FieldError, InputError) as error:
                yield Refusal(page.url, line, str(error))
            else:
                if record:
                    yield record

    def _record(self, item: Any, raw: str) -> Record | None:
        entry = fields_of(item)
        status = text_of(entry.get("status"), "status")
        if not self.everything and (status_of(status) in LEFT_OUT or status in _UNDECIDED):
            return None
        links = {name: value for name in _LINKS if isinstance(value := entry.get(name), str) and value}
        if links.get("pdf", "").startswith("/"):
            links["pdf"] = f"https://openreview.net{links['pdf']}"
        kept = {name: entry.get(name) for name in _KEPT}
        named = {"venue": self.venue, "year": self.year, "links": links, "arxiv": links.get("arxiv")}
        record = record_of({**kept, **named, "doi": links.get("doi")}, raw, self.kind, _LIMITS)
        own = text_of(entry.get("id"), "id") or digest_of(record.title or raw)
        return replace(
            record,
            key=f"{self.venue}/{self.year}/{own}",
            authors=tuple(dict.fromkeys(record.authors)),
            status=status,
            summarised=False,
            kind="inproceedings",
            counts=tuple(_counts(entry)),
            details=tuple(_details(entry)),
        )


def _counts(entry: dict[str, Any]) -> Iterator[tuple[str, int]]:
    citations = entry.get("gs_citation")
    if isinstance(citations, int) and not isinstance(citations, bool) and citations >= 0:
        yield "citations", citations


def _details(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    bibtex = entry.get("bibtex")
    if isinstance(bibtex, str) and (match := _BOOK.search(bibtex)):
        yield "booktitle", match[1]
    for name in ("tldr", "track"):
        if (value := text_of(entry.get(name), name)) and value != "main":
            yield name, value
