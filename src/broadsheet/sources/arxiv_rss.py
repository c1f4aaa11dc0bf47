"""The daily announcements of a category: https://rss.arxiv.org/rss/cs.LG (https://info.arxiv.org/help/rss.html). Pure.

One item a paper, of an announce type: ``new``; ``cross``, which is new to this category; ``replace`` and
``replace-cross``, a new version. What is replaced was announced before, so only the first two have a day of listing.
The feed bears the mailing day; it holds nothing at weekends and on holidays, and at most 2,000 items.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from email.utils import parsedate_to_datetime
from hashlib import blake2b

from broadsheet.errors import InputError
from broadsheet.model import Refusal, Version
from broadsheet.sources.arxiv_calendar import EASTERN
from broadsheet.sources.arxiv_record import ANNOUNCED, arxiv_id, newest_id, record_of, split_people
from broadsheet.sources.arxiv_xml import Document, Element, children, first, read_document, source_of, text_in
from broadsheet.sources.base import Entry

TYPES = ("new", "cross", "replace", "replace-cross")
NEW_TYPES = frozenset(("new", "cross"))
_DESCRIPTION = re.compile(
    r"\s*arXiv:(?P<id>\S+)\s+Announce Type:\s*(?P<type>[a-z-]+)\s*(?:Abstract:\s*(?P<abstract>.*))?", re.DOTALL
)
_BATCH_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed says of itself. ``newest`` is the greatest id that is new to the category; ``batch`` is a digest of
    its items, the same under whatever date.
    """

    day: date | None
    items: int
    newest: str
    batch: str


def read_feed(url: str, body: bytes) -> Feed:
    """What must be known of a feed to go on. Raises InputError if it is none."""
    document = _document(url, body)
    items = [item for item in document.entries if not isinstance(item, Refusal)]
    ids = sorted(map(_guid, items))
    fresh = (_guid(item) for item in items if text_in(item.find("{*}announce_type")) in ("", *NEW_TYPES))
    newest = newest_id(found[0] for value in fresh if (found := arxiv_id(value)))
    batch = blake2b("\n".join(ids).encode(), digest_size=_BATCH_LENGTH).hexdigest() if ids else ""
    day = _day(document.field("pubDate")) or _day(document.field("lastBuildDate"))
    return Feed(day, len(document.entries), newest, batch)


def _guid(item: Element) -> str:
    return text_in(item.find("{*}guid")) or text_in(item.find("{*}link"))


def parse_rss(url: str, body: bytes, types: Collection[str] = TYPES) -> Iterator[Entry]:
    """The papers of a feed that were announced as one of ``types``. Raises InputError if it is no feed."""
    document = _document(url, body)
    day = _day(document.field("pubDate")) or _day(document.field("lastBuildDate"))
    for item in document.entries:
        entry = item if isinstance(item, Refusal) else _entry(item, url, day, types)
        if entry is not None:
            yield entry


def _document(url: str, body: bytes) -> Document:
    document = read_document(body, url, "rss", "item")
    title = document.field("title")
    if title.startswith("Feed error"):
        raise InputError(f"{url}: {document.field('description') or title}; is the category right?")
    return document


def _day(text: str) -> date | None:
    """The day as arXiv means it: the one written where the zone is Eastern, else the Eastern day of the moment."""
    try:
        moment = parsedate_to_datetime(text)
        eastern = moment.utcoffset() in (timedelta(hours=-4), timedelta(hours=-5))
        return moment.date() if eastern or moment.tzinfo is None else moment.astimezone(EASTERN).date()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _entry(item: Element, url: str, day: date | None, types: Collection[str]) -> Entry | None:
    found = children(item)
    line = item.sourceline or 0
    described = _DESCRIPTION.match(first(found, "description"))
    parsed = next(filter(None, (arxiv_id(text) for text in _ids(found, described))), None)
    if parsed is None:
        return Refusal(url, line, "no arXiv id in guid, link or description")
    announced = first(found, "announce_type") or (described["type"] if described else "new")
    if announced not in TYPES:
        return Refusal(url, line, f"announce type {announced!r} is none of {', '.join(TYPES)}")
    if announced not in types:
        return None
    title = first(found, "title")
    if not title:
        return Refusal(url, line, f"{parsed[0]}: no title")
    people = [split_people(text_in(creator)) for creator in found.get("creator", ())]
    own_day = _day(first(found, "pubDate")) or day
    return record_of(
        source=ANNOUNCED,
        key=parsed[0],
        raw=source_of(item),
        title=title,
        abstract=(described["abstract"] or "").strip() if described else first(found, "description"),
        authors=[name for names, _ in people for name in names],
        affiliations=[place for _, places in people for place in places],
        categories=[text_in(category) for category in found.get("category", ())],
        doi=first(found, "DOI"),
        comment=first(found, "comment"),
        journal_ref=first(found, "journal_reference"),
        versions=(Version(parsed[1]),) if parsed[1] else (),
        listed=own_day if announced in NEW_TYPES else None,
        details=(("announced", announced), ("license", first(found, "rights"))),
    )


def _ids(found: dict[str, list[Element]], described: re.Match[str] | None) -> Iterator[str]:
    yield first(found, "guid")
    if described:
        yield described["id"]
    yield first(found, "link")
