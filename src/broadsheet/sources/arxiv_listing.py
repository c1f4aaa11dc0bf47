"""arXiv's listing pages, the second source when a feed is stale: https://arxiv.org/list/cs.AI/new and …/recent. Pure.

``new`` shows one mailing day in sections (new, cross-lists, replacements), with abstracts; ``recent`` shows the last
days, newest first, without. Only the first day's block of a page is read, whatever stands below it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date

from lxml import etree

from broadsheet.errors import InputError
from broadsheet.model import Refusal, Version
from broadsheet.sources.arxiv_record import ANNOUNCED, arxiv_id, newest_id, record_of, split_people
from broadsheet.sources.arxiv_rss import NEW_TYPES, TYPES
from broadsheet.sources.arxiv_xml import Element, source_of
from broadsheet.sources.base import Entry
from broadsheet.sources.values import date_of

_DATE = re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+(\d{1,2})\s+([A-Z][a-z]+)\s+(\d{4}|\d{2})\b")
_SECTIONS = (("replacement", "replace"), ("cross", "cross"), ("new sub", "new"))
_CATEGORY = re.compile(r"\(([a-z]+(?:-[a-z]+)?(?:\.[A-Za-z-]+)?)\)")


@dataclass(frozen=True, slots=True)
class Listing:
    """What a listing page says of itself: the mailing day, how many papers it shows of it, the greatest new id."""

    day: date | None
    items: int
    newest: str


@dataclass(frozen=True, slots=True)
class _Item:
    """A ``dt`` and its ``dd``, and the announce type of their section."""

    announced: str
    head: Element
    about: Element | None


def read_listing(url: str, body: bytes) -> Listing:
    """What must be known of a page to go on. Raises InputError if it is no listing."""
    day, items = _page(url, body)
    ids = (_id(item.head) for item in items if item.announced in NEW_TYPES)
    return Listing(day, len(items), newest_id(ids))


def parse_listing(url: str, body: bytes, types: Collection[str] = TYPES) -> Iterator[Entry]:
    """The papers of the page's first day, announced as one of ``types``. Raises InputError if it is no listing."""
    day, items = _page(url, body)
    for item in items:
        if item.announced in types:
            yield _entry(item, url, day)


def _page(url: str, body: bytes) -> tuple[date | None, list[_Item]]:
    tree = etree.fromstring(body, etree.HTMLParser(encoding="utf-8", remove_comments=True)) if body.strip() else None
    place = tree.find(".//*[@id='dlpage']") if tree is not None else None
    if place is None:
        raise InputError(f"{url}: no listing page of arXiv; ask again later, or look at the address")
    day: date | None = None
    section = "new"
    items: list[_Item] = []
    for element in place.iter("h3", "dt", "div"):
        if element.tag == "dt":
            about = element.getnext()
            announced = _type_of(section, element)
            items.append(_Item(announced, element, about if about is not None and about.tag == "dd" else None))
        elif element.tag == "h3" or "list-dateline" in element.get("class", ""):
            text = _text(element)
            found = _day(text)
            if found and day and found != day:
                break  # an older day begins
            day = day or found
            section = next((kind for word, kind in _SECTIONS if word in text.lower()), section)
    return day, items


def _type_of(section: str, head: Element) -> str:
    said = _text(head)
    if section == "replace":
        return "replace-cross" if "cross-list" in said else "replace"
    return "cross" if "(cross-list" in said else section


def _day(text: str) -> date | None:
    match = _DATE.search(text)
    if not match:
        return None
    year = match[3] if len(match[3]) == 4 else f"20{match[3]}"
    return date_of(f"{match[1]} {match[2]} {year}", "date")


def _text(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _id(head: Element) -> str:
    for link in head.iter("a"):
        found = arxiv_id(f"https://arxiv.org{link.get('href')}") if "/abs/" in link.get("href", "") else None
        if found:
            return found[0]
    return ""


def _entry(item: _Item, url: str, day: date | None) -> Entry:
    line = item.head.sourceline or 0
    key = _id(item.head)
    if not key or item.about is None:
        return Refusal(url, line, f"{key or 'an entry'}: " + ("nothing about the paper" if key else "no arXiv id"))
    parts = {name: _part(item.about, name) for name in ("title", "authors", "comments", "journal-ref", "subjects")}
    if not parts["title"]:
        return Refusal(url, line, f"{key}: no title")
    paragraph = item.about.find(".//p")
    names, places = split_people(parts["authors"])
    is_new = item.announced in NEW_TYPES
    return record_of(
        source=ANNOUNCED,
        key=key,
        raw=source_of(item.head) + source_of(item.about),
        title=parts["title"],
        abstract=_text(paragraph),
        authors=names,
        affiliations=places,
        categories=_CATEGORY.findall(parts["subjects"]),
        comment=parts["comments"],
        journal_ref=parts["journal-ref"],
        versions=(Version(1),) if item.announced == "new" else (),
        listed=day if is_new else None,
        details=(("announced", item.announced),),
    )


def _part(about: Element, name: str) -> str:
    for element in about.iter("div"):
        if f"list-{name}" in element.get("class", "").split():
            text = _text(element)
            label = _text(element.find(".//span[@class='descriptor']"))
            return text.removeprefix(label).removeprefix("Authors:").strip()
    return ""
