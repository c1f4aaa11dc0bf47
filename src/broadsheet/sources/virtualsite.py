"""Papers of a conference by the file behind its virtual site: icml.cc, neurips.cc, iclr.cc, CVPR, ICCV, ECCV, MLSys.

``/static/virtual/data/icml-2025-orals-posters.json`` is ``{"count", "next", "results": [event, …]}``. An event is the
showing of a paper, so a paper with a talk has two: they become one record, whose status is the highest of theirs. They
are known for one by the forum on OpenReview, where it is told, else by title and first author. Since 2026 some files
have no abstracts; these stand in ``…-abstracts.json`` beside it, by the event's number, and are put into the same page.
Some files hold only the first 200 events and lead on by ``next``, which the site may refuse: then it is incomplete.

``topic`` ("Theory->Learning Theory") is the area. Sessions, workshops, tutorials and talks by invitation are no papers.
The days of the events are those of the conference, not of publication, and are not taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from broadsheet.errors import FetchError, SettingsError, ThrottledError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import Identifier, Link, LinkKind, Record, Scheme, SourceState
from broadsheet.sources.answers import (
    LEFT_OUT,
    answer_of,
    cursor_of,
    entries_of,
    fields_of,
    joined,
    load_json,
    page_link,
    raw_of,
    status_of,
    validators_in,
    venue_and_year,
    venue_of_group,
)
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.stream import BOM
from broadsheet.sources.values import FieldError, areas_of, authors_of, code_links, link_of, text_of, texts_of

if TYPE_CHECKING:
    from broadsheet.net import Client, Response
    from broadsheet.sources.catalogue import Options

_HOSTS = {
    "icml": "icml.cc",
    "neurips": "neurips.cc",
    "nips": "neurips.cc",
    "iclr": "iclr.cc",
    "cvpr": "cvpr.thecvf.com",
    "iccv": "iccv.thecvf.com",
    "eccv": "eccv.ecva.net",
    "mlsys": "mlsys.org",
}
_MOST_PAGES = 200
_SHOWING = re.compile(r"poster|oral|spotlight|highlight|paper|award", re.IGNORECASE)
_RANKS = ("Award", "Oral", "Spotlight", "Highlight", "Poster")
_ABSTRACT = re.compile(rb'"abstract"\s*:\s*"[^"]')
_FORUM = re.compile(r"//(?:www\.)?openreview\.net/(?:forum|pdf)\?", re.IGNORECASE)


class VirtualSite:
    """One conference of one year. The cursor holds what tells whether the file changed."""

    kind: ClassVar[str] = "virtual"
    usage: ClassVar[str] = "virtual:CONFERENCE/YEAR, such as virtual:icml/2025"

    def __init__(self, venue: str, year: int) -> None:
        self.venue = "neurips" if venue == "nips" else venue
        self.year = year
        self.host = _HOSTS[venue]
        self.name = f"{self.kind}:{self.venue}/{year}"
        self.every = timedelta(days=7)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A conference that has such a site."""
        venue, year = venue_and_year(cls.kind, cls.usage, rest)
        if venue not in _HOSTS:
            known = ", ".join(name for name in _HOSTS if name != "nips")
            raise SettingsError(f"source virtual:{rest}: no virtual site is known for it. Known are {known}")
        return cls(venue, year)

    def _address(self, what: str) -> str:
        return f"https://{self.host}/static/virtual/data/{self.venue}-{self.year}-{what}.json"

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The whole file as one page, if it changed."""
        address = self._address("orals-posters")
        response = client.get(address, validators=validators_in(cursor))
        if response.not_modified:
            yield Page(address, b"", cursor, "unchanged", SourceState.QUIET)
            return
        found = self._follow(client, response)
        abstracts = b"{}" if found.has_abstracts else self._abstracts(client)
        # Abstracts may be put in later, and into the other file: only what has them need not be asked for again.
        settled = found.complete and (found.has_abstracts or abstracts != b"{}")
        body = b'{"pages":[' + b",".join(found.bodies) + b'],"abstracts":' + abstracts + b"}"
        after = cursor_of(response) if settled else ""
        if not found.total:
            yield Page(address, body, after, "no papers yet", SourceState.QUIET)
        elif found.complete:
            yield Page(address, body, after)
        else:
            remark = f"incomplete: {found.came} of {found.total} events, the site keeps the rest"
            yield Page(address, body, after, remark, SourceState.INCOMPLETE)

    def _follow(self, client: Client, response: Response) -> _Parts:
        """All parts of the file, as far as the site gives them."""
        parts = _Parts()
        asked = {response.url}
        while True:
            part = answer_of(response)
            events = _events(part)
            parts.add(response.body, len(events), _number(part, "count"))
            following = part.get("next") if isinstance(part, dict) else None
            if not isinstance(following, str) or not following:
                parts.complete = parts.came >= parts.total
                return parts
            following = joined(response.url, following).replace("http://", "https://", 1)
            strange = not following.startswith(f"https://{self.host}/")
            if strange or following in asked or not events or len(parts.bodies) == _MOST_PAGES:
                return parts
            asked.add(following)
            try:
                response = client.get(following)
            except FetchError:
                return parts

    def _abstracts(self, client: Client) -> bytes:
        try:
            response = client.get(self._address("abstracts"))
        except FetchError as error:
            if error.status not in (403, 404, 410) or isinstance(error, ThrottledError):
                raise  # without them the papers would lose the abstracts that they had
            return b"{}"
        found = answer_of(response)
        return response.body if found and isinstance(found, dict) else b"{}"

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper, in the order of the file."""
        if not page.body:
            return
        whole = load_json(page.body, page.url)
        pages, abstracts = (whole.get("pages"), whole.get("abstracts")) if isinstance(whole, dict) else (None, None)
        parts = pages if isinstance(pages, list) else [whole]
        papers: dict[tuple[str, ...], list[Any]] = {}
        for event in (event for part in parts for event in _events(part)):
            papers.setdefault(_same_paper(event) or ("", str(len(papers))), []).append(event)
        known = abstracts if isinstance(abstracts, dict) else {}
        yield from entries_of(page.url, papers.values(), lambda events: self._record([*map(fields_of, events)], known))

    def _record(self, events: list[dict[str, Any]], abstracts: dict[str, Any]) -> Record | None:
        """The record of one paper's events; None where none of them shows an accepted paper."""
        shown = [event for event in events if _is_shown(event)]
        if not shown:
            return None
        main = next((event for event in shown if "poster" in _type_of(event).lower()), shown[0])
        title = text_of(main.get("name"), "name")
        if not title:
            raise FieldError(f"{main.get('id', 'id')}: name: missing")
        forum = next((found for event in shown if (found := _forum(event))), "")
        abstract = next((text for event in (main, *shown) if (text := _abstract(event, abstracts))), "")
        areas = [area for event in shown for area in areas_of(event.get("topic"))]
        keywords = [word for event in shown for word in texts_of(event.get("keywords"), "keywords")]
        track = _track(main)
        return Record(
            source=self.kind,
            key=forum or f"{self.venue}/{self.year}/{text_of(main.get('id') or main.get('uid'), 'id')}",
            raw=raw_of(shown[0] if len(shown) == 1 else shown),
            title=title,
            abstract=abstract,
            authors=authors_of(main.get("authors"))[0],
            identifiers=(Identifier(Scheme.OPENREVIEW, forum),) if forum else (),
            areas=tuple(dict.fromkeys(areas)),
            venue=self.venue,
            year=self.year,
            links=tuple(dict.fromkeys((*self._links(main), *code_links(abstract)))),
            keywords=tuple(dict.fromkeys(keywords)),
            status=_best_status(shown),
            kind="inproceedings",
            details=(("track", track),) if track else (),
        )

    def _links(self, event: dict[str, Any]) -> Iterator[Link]:
        base = f"https://{self.host}"
        if page := text_of(event.get("virtualsite_url"), "virtualsite_url"):
            yield from page_link(joined(base, page))
        for name, kind in (("paper_url", "url"), ("paper_pdf_url", "pdf"), ("url", "project")):
            value = text_of(event.get(name), name)
            if value and (link := link_of(kind, joined(base, value))):
                yield Link(LinkKind.PAGE, link.url) if _is_paper(link) else link


@dataclass(slots=True)
class _Parts:
    """The parts of a file that came, and how many events there are."""

    bodies: list[bytes] = field(default_factory=list)
    came: int = 0
    total: int = 0
    complete: bool = False
    has_abstracts: bool = False

    def add(self, body: bytes, events: int, count: int) -> None:
        """Take in a part with so many events of so many."""
        self.bodies.append(body.removeprefix(BOM))
        self.came += events
        self.total = max(self.total, self.came, count)
        self.has_abstracts = self.has_abstracts or _ABSTRACT.search(body) is not None


def _events(part: Any) -> list[Any]:
    events = part.get("results") if isinstance(part, dict) else part
    return events if isinstance(events, list) else []


def _number(part: Any, name: str) -> int:
    value = part.get(name) if isinstance(part, dict) else 0
    return value if isinstance(value, int) else 0


def _type_of(event: dict[str, Any]) -> str:
    return text_of(event.get("eventtype") or event.get("event_type"), "eventtype")


def _is_shown(event: dict[str, Any]) -> bool:
    """Whether the event shows an accepted paper."""
    kind = _type_of(event)
    if kind and (not _SHOWING.search(kind) or kind.lower().endswith("session")):
        return False
    return event.get("visible") is not False and status_of(_decision(event)) not in LEFT_OUT


def _decision(event: dict[str, Any]) -> str:
    return text_of(event.get("decision"), "decision")


def _best_status(events: list[dict[str, Any]]) -> str:
    said = [status_of(text) for event in events for text in (_decision(event), _type_of(event))]
    return min(filter(None, said), key=lambda status: _RANKS.index(status) if status in _RANKS else -1, default="")


def _forum(event: dict[str, Any]) -> str:
    """The forum on OpenReview; "" for the made-up ids that stand in some files."""
    for name in ("paper_url", "sourceurl", "url", "paper_pdf_url"):
        value = event.get(name)
        if isinstance(value, str) and _FORUM.search(value) and "placeholder" not in value.lower():
            parsed = parse_identifier(value)
            if parsed and parsed[0].scheme is Scheme.OPENREVIEW:
                return parsed[0].value
    return ""


def _is_paper(link: Link) -> bool:
    """Whether what stands under "url" is the paper itself rather than a project's page."""
    return link.kind is LinkKind.PROJECT and parse_identifier(link.url) is not None


def _same_paper(event: Any) -> tuple[str, ...]:
    """What all events of one paper have in common; empty where nothing tells it."""
    if not isinstance(event, dict):
        return ()
    if forum := _forum(event):
        return ("forum", forum)
    name = event.get("name")
    authors = event.get("authors")
    first = authors[0] if isinstance(authors, list) and authors else None
    person = first.get("fullname") if isinstance(first, dict) else first
    letters = _letters(name) if isinstance(name, str) else ""
    return ("title", letters, _letters(str(person))) if letters else ()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _abstract(event: dict[str, Any], abstracts: dict[str, Any]) -> str:
    return text_of(event.get("abstract") or abstracts.get(str(event.get("id"))), "abstract")


def _track(event: dict[str, Any]) -> str:
    """The track, if the group on OpenReview that the event came from is not the main conference."""
    match = re.search(r"openreview\.net/group\?id=([^&#]+)", str(event.get("sourceurl") or ""))
    return venue_of_group(match[1])[2] if match else ""
