"""Papers of a venue on OpenReview, by the notes that its two APIs give (https://docs.openreview.net/reference/api-v2).

Venues since 2023 are on API 2, older ones on API 1, and either answers a question about the other's venue with an empty
list. So the ways are tried in order until one gives notes, and the page's remark says which it was:

1. API 2 by ``content.venueid``: the papers that the venue accepted;
2. API 1 by ``content.venueid``;
3. API 1 by the invitation ``-/Blind_Submission``, with the decisions among the replies;
4. API 1 by ``-/Submission`` (single blind), likewise;
5. API 2 by ``-/Submission``.

API 2 nests every value (``{"title": {"value": …}}``), API 1 does not; both are read. Rejected, withdrawn and undecided
papers are left out, unless the venue asked for is theirs (``openreview:ICLR.cc/2024/Conference/Rejected_Submission``).
Where a venue tells no decisions, its papers are kept without a status. ``published`` is ``pdate``, else ``odate`` (when
it became public), else ``cdate`` (when it was made).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from broadsheet.errors import FetchError, SettingsError, ThrottledError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import Area, Identifier, Link, LinkKind, Record, Scheme, SourceState
from broadsheet.sources.answers import (
    LEFT_OUT,
    answer_of,
    entries_of,
    fields_of,
    load_json,
    raw_of,
    read_cursor,
    status_of,
    venue_of_group,
    write_cursor,
)
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.jsonl import derived_title
from broadsheet.sources.values import FieldError, areas_of, authors_of, code_links, date_of, link_of, text_of, texts_of

if TYPE_CHECKING:
    from broadsheet.net import Client, Response
    from broadsheet.sources.catalogue import Options

SITE = "https://openreview.net"
_GROUP = re.compile(r"[\w.-]+(?:/[\w.&+-]+)*")
_PAGE_SIZE = 1000  # the most that either API gives
_MOST_PAGES = 100
_NOT_ACCEPTED = re.compile(r"/\w*(?:Rejected|Withdrawn|Submission)\w*$")
_UNDECIDED = re.compile(r"\bsubmi(?:tted|ssion)\b|under review", re.IGNORECASE)
_DECISION = re.compile(r"/(?:Acceptance_)?Decision$|/Meta_Review$")
_TLDR = ("TLDR", "TL;DR", "tldr", "one-sentence_summary")
_CODE = ("code", "code_link", "code_url", "code_repository", "github", "software")
_AREAS = ("primary_area", "Please_choose_the_closest_area_that_your_submission_falls_into", "subject_areas")
_PROJECT = ("project_page", "project_url", "project_website", "website", "demo")


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to ask for the notes of a venue. ``{}`` stands for the venue."""

    api: int
    field: str
    value: str
    details: str = ""

    def params(self, venue: str) -> dict[str, str]:
        asked = {self.field: self.value.format(venue), "limit": str(_PAGE_SIZE), "sort": "cdate:asc"}
        return asked | ({"details": self.details} if self.details else {})

    @property
    def address(self) -> str:
        return f"https://{'api2' if self.api == 2 else 'api'}.openreview.net/notes"

    def __str__(self) -> str:
        return f"API {self.api}, by {self.field.removeprefix('content.')} {self.value.format('…')}"


_WAYS = (
    _Way(2, "content.venueid", "{}"),
    _Way(1, "content.venueid", "{}"),
    _Way(1, "invitation", "{}/-/Blind_Submission", "directReplies"),
    _Way(1, "invitation", "{}/-/Submission", "directReplies"),
    _Way(2, "invitation", "{}/-/Submission"),
)


class OpenReview:
    """The accepted papers of one venue. The cursor is the way that gave notes and how many were asked for."""

    kind: ClassVar[str] = "openreview"
    usage: ClassVar[str] = "openreview:VENUE, such as openreview:ICML.cc/2025/Conference"

    def __init__(self, venue: str) -> None:
        self.venue = venue
        self.name = f"{self.kind}:{venue}"
        self.every = timedelta(days=7)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A venue by its id, as the address of its page has it (``openreview.net/group?id=…``)."""
        venue = rest.strip().removeprefix(f"{SITE}/group?id=").split("#")[0].strip("/")
        if not _GROUP.fullmatch(venue):
            raise SettingsError(f"source openreview:{rest}: not the id of a venue. Usage: {cls.usage}")
        return cls(venue)

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """All notes of the venue, a thousand a page, from where the cursor stands; all anew after the last page."""
        begun = read_cursor(cursor)
        number, offset, total = begun.get("way"), begun.get("offset"), begun.get("total")
        if isinstance(number, int) and isinstance(offset, int) and 0 <= number < len(_WAYS):
            yield from self._pages(client, number, offset, total if isinstance(total, int) else None)
            return
        for number, way in enumerate(_WAYS):
            answer = self._try(client, way)
            if answer and answer.ids:
                yield from self._pages(client, number, 0, answer.total, answer)
                return
        remark = f"no notes of {self.venue} in API 2 or API 1: nothing is public yet, or the id is another"
        yield Page(_WAYS[0].address, b"", "", remark, SourceState.QUIET)

    def _try(self, client: Client, way: _Way) -> _Answer | None:
        """The first page; None where the API does not know the venue or its invitation."""
        try:
            return self._ask(client, way, 0)
        except FetchError as error:
            if error.status in (400, 404):
                return None
            raise

    def _ask(self, client: Client, way: _Way, offset: int, *, more: bool = False) -> _Answer:
        """One page. With ``more`` it must hold notes: an empty one is asked for again, with growing pauses."""
        params = way.params(self.venue) | {"offset": str(offset)}
        empty = (lambda response: not _answer(response).ids) if more else None
        try:
            return _answer(client.get(way.address, params=params, throttled=empty))
        except FetchError as error:
            if error.status != 403 or isinstance(error, ThrottledError):
                raise
            raise FetchError(
                f"{self.name}: OpenReview answers 403, it wants a browser before it lists papers. The same papers of"
                " many venues can be had by the sources virtual: and papercopilot:",
                url=error.url,
                status=403,
                retry_after=error.retry_after,
            ) from error

    def _pages(
        self, client: Client, number: int, offset: int, total: int | None, first: _Answer | None = None
    ) -> Iterator[Page]:
        way = _WAYS[number]
        seen: set[str] = set()
        for _ in range(_MOST_PAGES):
            here = write_cursor({"way": number, "offset": offset, "total": total})
            try:
                answer = first or self._ask(client, way, offset, more=total is not None)
            except ThrottledError as error:
                if error.status != 200:  # throttled in earnest
                    raise
                yield _incomplete(way, here, f"{offset} of {total}: the next page came back empty")
                return
            first = None
            if answer.ids and answer.ids <= seen:
                break
            seen |= answer.ids
            remark = f"{way}: {len(answer.ids)} notes from {offset}" + (f" of {total}" if total is not None else "")
            offset += _PAGE_SIZE
            ended = offset >= total if total is not None else len(answer.ids) < _PAGE_SIZE
            after = "" if ended else write_cursor({"way": number, "offset": offset, "total": total})
            yield Page(answer.response.url, answer.response.body, after, remark)
            if ended:
                return
        yield _incomplete(way, "", f"{len(seen)} notes: the same page came again")

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each accepted paper of the page."""
        if not page.body:
            return
        yield from entries_of(page.url, _notes(load_json(page.body, page.url)), self._record)

    def _record(self, item: Any) -> Record | None:
        note = fields_of(item)
        content = note.get("content")
        if not isinstance(content, dict):
            raise FieldError("content: missing")
        status = self._status(note, content)
        if status is None or note.get("replyto") or note.get("ddate"):
            return None
        title = text_of(content.get("title"), "title")
        abstract = text_of(content.get("abstract"), "abstract")
        forum = text_of(note.get("forum") or note.get("id"), "id")
        if not forum or not (title or abstract):
            raise FieldError(f"{forum or 'id'}: {'neither title nor abstract' if forum else 'missing'}")
        venue, year, track = venue_of_group(text_of(content.get("venueid"), "venueid") or self.venue)
        published = _day(note)
        return Record(
            source=self.kind,
            key=forum,
            raw=raw_of(note),
            title=title or derived_title(abstract),
            abstract=abstract,
            authors=tuple(name for name in authors_of(content.get("authors"))[0] if name != "Anonymous"),
            identifiers=tuple(_identifiers(forum, content)),
            areas=tuple(_areas(content)),
            venue=venue,
            year=year or (published.year if published else None),
            published=published,
            links=tuple(dict.fromkeys(_links(content, abstract))),
            keywords=tuple(dict.fromkeys(texts_of(content.get("keywords"), "keywords"))),
            status=status,
            title_derived=not title,
            kind="article" if year is None else "inproceedings",
            details=tuple(_details(content, track)),
        )

    def _status(self, note: dict[str, Any], content: dict[str, Any]) -> str | None:
        """How the paper is presented, "" where that is not told; None for a paper that is left out."""
        venue = text_of(content.get("venue"), "venue")
        group = text_of(content.get("venueid"), "venueid")
        if group == self.venue and _NOT_ACCEPTED.search(group):  # they are what was asked for
            return status_of(group) or "Submitted"
        if _NOT_ACCEPTED.search(group) or _UNDECIDED.search(venue):
            return None
        said = venue or _decision(note)
        status = status_of(said)
        return None if status in LEFT_OUT else status


@dataclass(frozen=True, slots=True)
class _Answer:
    response: Response
    ids: frozenset[str]
    total: int | None


def _answer(response: Response) -> _Answer:
    found = answer_of(response)
    count = found.get("count") if isinstance(found, dict) else None
    ids = frozenset(str(note.get("id")) for note in _notes(found) if isinstance(note, dict))
    return _Answer(response, ids, count if isinstance(count, int) else None)


def _notes(answer: Any) -> list[Any]:
    notes = answer.get("notes") if isinstance(answer, dict) else None
    return notes if isinstance(notes, list) else []


def _incomplete(way: _Way, cursor: str, why: str) -> Page:
    return Page(way.address, b"", cursor, f"incomplete after {why}", SourceState.INCOMPLETE)


def _decision(note: dict[str, Any]) -> str:
    """The decision among the replies of a note of API 1: "Accept (Poster)"."""
    details = note.get("details")
    replies = details.get("directReplies") if isinstance(details, dict) else None
    for reply in replies if isinstance(replies, list) else []:
        if isinstance(reply, dict) and _DECISION.search(str(reply.get("invitation", ""))):
            content = reply.get("content")
            said = content.get("decision") or content.get("recommendation") if isinstance(content, dict) else ""
            if said:
                return text_of(said, "decision")
    return ""


def _day(note: dict[str, Any]) -> date | None:
    days = (date_of(note.get(name), name) for name in ("pdate", "odate", "cdate", "tcdate"))
    return next((day for day in days if day), None)


def _identifiers(forum: str, content: dict[str, Any]) -> Iterator[Identifier]:
    yield Identifier(Scheme.OPENREVIEW, forum)
    for name in ("doi", "arxiv", "arxiv_id", "pdf", "html"):
        found = parse_identifier(_first_text(content.get(name)))
        if found and found[0].scheme is not Scheme.OPENREVIEW:
            yield found[0]


def _areas(content: dict[str, Any]) -> Iterator[Area]:
    value = next((content[name] for name in _AREAS if content.get(name)), None)
    if value is not None:
        yield from dict.fromkeys(areas_of(value["value"] if isinstance(value, dict) and "value" in value else value))


def _links(content: dict[str, Any], abstract: str) -> Iterator[Link]:
    pdf = _first_text(content.get("pdf"))
    if link := link_of("pdf", SITE + pdf if pdf.startswith("/") else pdf):
        yield Link(LinkKind.PDF, link.url)
    for names, kind in ((_CODE, "code"), (_PROJECT, "project"), (("html",), "url")):
        for name in names:
            if link := link_of(kind, _first_text(content.get(name))):
                yield link
    yield from code_links(abstract)


def _first_text(value: Any) -> str:
    """A text; "" for what a venue's own form may hold in its place (a list, an upload's mapping, yes or no)."""
    value = value.get("value") if isinstance(value, dict) else value
    return value if isinstance(value, str) else ""


def _details(content: dict[str, Any], track: str) -> Iterator[tuple[str, str]]:
    bibtex = _first_text(content.get("_bibtex"))
    if match := re.search(r"^\s*(?:booktitle|journal)\s*=\s*\{(.+)\}", bibtex, re.MULTILINE):
        yield "journal" if "journal" in match[0].split("=")[0] else "booktitle", match[1]
    tldr = next((text for name in _TLDR if (text := text_of(content.get(name), name))), "")
    if tldr:
        yield "tldr", tldr
    if track:
        yield "track", track
