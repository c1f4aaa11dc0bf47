"""What a page tells of a paper beside its text: notices, places, versions, figures. Pure functions, used as filters.

Reasons, venues and bibliographic fields are raw text of a source: they are cleaned here, and escaped by the template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from markupsafe import Markup

from ..model import Notice, NoticeKind, Paper, Scheme
from ..text import clean
from ..venues import venue_key, venue_name
from .views import asking, excerpt, host_of, inline, number, plain

NOTICE_NAMES = {
    NoticeKind.RETRACTED: "Retracted",
    NoticeKind.WITHDRAWN: "Withdrawn",
    NoticeKind.CONCERN: "Expression of concern",
}
"""Notices by their kind, the gravest first."""
PLACE_NAMES = {"arxiv": "arXiv", "openreview": "OpenReview", "acl anthology": "ACL Anthology"}
FIGURES = {
    "citations": ("citation", "citations"),
    "upvotes": ("upvote on Hugging Face", "upvotes on Hugging Face"),
    "comments": ("comment", "comments"),
}
LONGEST_TITLE = 300  # characters of a reason in the title of a badge
LONGEST_REASON = 2_000
LONGEST_DETAIL = 200
MOST_PLACES = 30
MOST_VERSIONS = 12  # of more, the first and the last ones are shown

_RANGE = re.compile(r"(?<=\d)\s*-{1,3}\s*(?=\d)")


@lru_cache(maxsize=1024)
def said(raw: str) -> str:
    """Raw text of a source as plain text in one line."""
    return plain(clean(raw))


@lru_cache(maxsize=1024)
def said_html(raw: str) -> Markup:
    """Raw text of a source as HTML in the line."""
    return inline(excerpt(clean(raw), LONGEST_REASON))


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice: ``title`` is the reason as plain text, ``reason`` the same as HTML."""

    kind: str
    name: str
    title: str
    reason: Markup
    day: date | None


def notices(paper: Paper) -> list[ShownNotice]:
    """What became of a paper, the gravest first."""
    order = list(NOTICE_NAMES)
    return [_shown(notice) for notice in sorted(paper.notices, key=lambda notice: order.index(notice.kind))]


def _shown(notice: Notice) -> ShownNotice:
    title = said(notice.reason)
    short = title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE].rstrip()}…"
    return ShownNotice(notice.kind.value, NOTICE_NAMES[notice.kind], short, said_html(notice.reason), notice.day)


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A place: ``url`` leads to the paper there and ``search`` to all papers of the venue; empty where none can."""

    name: str
    year: int | None
    status: str
    listed: date | None
    url: str
    host: str
    search: str


def places(paper: Paper) -> list[ShownPlace]:
    """Where a paper appeared. Only the venue that it is filed under can be searched for."""
    return [
        ShownPlace(
            PLACE_NAMES.get(place.venue.lower()) or said(venue_name(place.venue)),
            place.year,
            said(place.status),
            place.listed,
            place.url if (host := host_of(place.url)) else "",
            host,
            asking("venue", paper.venue) if paper.venue and venue_key(place.venue) == paper.venue else "",
        )
        for place in paper.places[:MOST_PLACES]
    ]


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version and where it can be read; ``url`` is empty where nobody knows."""

    number: int
    day: date | None
    url: str
    newest: bool


def versions(paper: Paper) -> list[ShownVersion | None]:
    """Versions from the first on; None stands for those left out between them."""
    numbers = sorted(paper.versions)
    archived = [i.value for i in paper.identifiers if i.scheme is Scheme.ARXIV]
    base = f"https://arxiv.org/abs/{archived[0]}" if len(archived) == 1 else ""  # else: of which of the two?
    shown: list[ShownVersion | None] = [
        ShownVersion(
            version.number,
            version.day,
            f"{base}v{version.number}" if base else "",
            version is numbers[-1] and version.number > 1,
        )
        for version in numbers
    ]
    return shown if len(shown) <= MOST_VERSIONS else [shown[0], None, *shown[2 - MOST_VERSIONS :]]


def figures(paper: Paper) -> list[str]:
    """“33 citations”, “19 upvotes on Hugging Face”; what nobody counted, or counted as none, is left out."""
    counts = dict(paper.counts)
    ordered = [*(name for name in FIGURES if name in counts), *(name for name in counts if name not in FIGURES)]
    return [f"{number(counts[name])} {_unit(name, counts[name])}" for name in ordered if counts[name] > 0]


def _unit(name: str, count: int) -> str:
    one, many = FIGURES.get(name, (name, name))
    return one if count == 1 else many


def bibliography(paper: Paper) -> str:
    """“Journal of Lost Proofs, volume 12, number 3, pages 45–67, North Press”; empty without any such part."""
    details = {name: text[:LONGEST_DETAIL] for name, raw in paper.details if (text := said(raw))}
    pages = _RANGE.sub("–", details.get("pages", ""))
    several = "–" in pages or "," in pages
    named = [
        ("volume ", details.get("volume", "")),
        ("number ", details.get("number", "")),
        ("pages " if several else "page ", pages),
        ("", details.get("publisher", "")),
    ]
    parts = [f"{name}{value}" for name, value in named if value]
    whole = next((details[name] for name in ("journal", "journaltitle", "booktitle") if name in details), "")
    return ", ".join([whole, *parts] if whole and parts else parts)


def first_day(paper: Paper) -> date | None:
    """The day it was first published: that of its first version, where no record says so itself."""
    if paper.published or not paper.versions:
        return paper.published
    first = min(paper.versions)
    return first.day if first.number == 1 else None


FILTERS = {
    "notices": notices,
    "places": places,
    "versions": versions,
    "figures": figures,
    "bibliography": bibliography,
    "first_day": first_day,
}
