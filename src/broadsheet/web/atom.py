"""Papers as an Atom feed (RFC 4287): the newest of the library, what a search finds, or what editions printed."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from ..identifiers import url_of
from ..model import Paper
from ..text import to_html, to_plain
from ..venues import venue_name

NAMESPACE = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
PAPERS = 50
"""Entries of a feed."""
MOST_AUTHORS = 100
FEW_AUTHORS = 10
_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
OURS = "broadsheet.localhost"
"""The authority of ids where the site has no address of its own (RFC 6761 keeps such names for one's own machine)."""
_EARLY = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Item:
    """A paper as a feed has it: with the reason why it is there, and when it was printed; both may be missing."""

    paper: Paper
    reason: str = ""
    printed: datetime | None = None


def authority_of(site_url: str) -> str:
    """The name (RFC 4151) under which a site gives ids: the host of the setting ``site_url``, ``OURS`` without one.

    Not the name by which the site was asked: by another one, every paper would be new to a feed reader.
    """
    host = urlsplit(site_url).netloc.rpartition("@")[2].partition(":")[0].lower()
    return host if _HOST.fullmatch(host) else OURS


def feed(items: Sequence[Paper | Item], *, title: str, base: str, path: str, page: str, authority: str = OURS) -> bytes:
    """The feed of papers in their order.

    ``base`` is the site's address as it was asked, ``path`` the feed's own and ``page`` that of the page it belongs to.
    Ids (RFC 4151) are made of ``authority`` and the paper's number or the feed's path, so a paper stays one entry
    whatever becomes of its title and by whatever name the site is asked; ``updated`` is when it was printed, else the
    day of its newest version, else that on which it was filed.
    """
    listed = [item if isinstance(item, Item) else Item(item) for item in items]
    ET.register_namespace("", NAMESPACE)
    root = _element(None, "feed")
    _text(root, "title", title)
    _text(root, "id", f"tag:{authority},2026:{path}")
    _link(root, "self", base + path, MEDIA_TYPE)
    _link(root, "alternate", base + page, "text/html")
    _text(root, "updated", max(map(_updated, listed), default=_moment(_EARLY)))
    _text(_element(root, "author"), "name", "Broadsheet")
    for item in listed:
        _entry(root, item, base, authority)
    found: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return found


def _entry(root: ET.Element, item: Item, base: str, authority: str) -> None:
    paper = item.paper
    entry = _element(root, "entry")
    mark = f"[{paper.notices[-1].kind.value}] " if paper.notices else ""
    _text(entry, "title", mark + to_plain(_printable(paper.title)))
    _text(entry, "id", f"tag:{authority},2026:paper/{paper.id}")
    _link(entry, "alternate", f"{base}/paper/{paper.id}", "text/html")
    for identifier in paper.identifiers:
        _link(entry, "related", url_of(identifier), "text/html")
    _text(entry, "updated", _updated(item))
    if paper.published:
        _text(entry, "published", _moment(paper.published))
    for name in paper.authors[:MOST_AUTHORS]:
        _text(_element(entry, "author"), "name", name)
    for term in dict.fromkeys(
        [*(str(area) for area in paper.areas), *([venue_name(paper.venue)] if paper.venue else [])]
    ):
        _element(entry, "category").set("term", _printable(term))
    if summary := _summary(item):
        _text(entry, "summary", summary).set("type", "html")


def _summary(item: Item) -> str:
    """HTML: the abstract; of a printed paper also the reason and the authors, which many programs do not show."""
    abstract = to_html(_printable(item.paper.abstract)) if item.paper.abstract else ""
    if not item.reason:
        return abstract
    names = ", ".join(item.paper.authors[:FEW_AUTHORS])
    if len(item.paper.authors) > FEW_AUTHORS or item.paper.authors_truncated:
        names += " and others"
    lines = [f"<p><em>{html.escape(item.reason)}</em></p>"]
    lines += [f"<p>{html.escape(names)}</p>"] if names else []
    return "".join([*lines, f"<p>{abstract}</p>" if abstract else ""])


def _updated(item: Item) -> str:
    if item.printed:
        return item.printed.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    days = [version.day for version in item.paper.versions if version.day]
    return _moment(max([*days, *([item.paper.day] if item.paper.day else [])], default=_EARLY))


def _moment(day: date) -> str:
    return datetime.combine(day, time(), UTC).isoformat().replace("+00:00", "Z")


def _element(parent: ET.Element | None, name: str) -> ET.Element:
    tag = f"{{{NAMESPACE}}}{name}"
    return ET.Element(tag) if parent is None else ET.SubElement(parent, tag)


def _text(parent: ET.Element, name: str, text: str) -> ET.Element:
    found = _element(parent, name)
    found.text = _printable(text)
    return found


def _link(parent: ET.Element, rel: str, href: str, kind: str) -> None:
    found = _element(parent, "link")
    for name, value in (("rel", rel), ("href", href), ("type", kind)):
        found.set(name, _printable(value))


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)
