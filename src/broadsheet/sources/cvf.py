"""Papers of CVPR, ICCV and WACV by the lists of the Computer Vision Foundation (https://openaccess.thecvf.com).

Taken is the list alone, ``/CVPR2025?day=all``: title, authors, pages and month (from the BibTeX entry that stands with
each paper), the links to page and PDF, and to arXiv where it is given. The list has no abstracts; they stand on a page
for each paper, of which there are thousands, and are not fetched: ``virtual:cvpr/2025`` has them, arXiv most of them.
Conferences until 2020 have a list for each day, which are found by the links of ``/CVPR2018``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from typing import TYPE_CHECKING, ClassVar, Self

from lxml import etree

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import Identifier, Record, Refusal, Scheme, SourceState
from broadsheet.sources.answers import joined, page_link, venue_and_year
from broadsheet.sources.base import Entry, Limits, Page
from broadsheet.sources.bibtex_in import read as read_bibtex
from broadsheet.sources.jsonl import digest_of
from broadsheet.sources.values import code_links, link_of
from broadsheet.sources.webpages import Element, of_class, tree_of, words_of

if TYPE_CHECKING:
    from broadsheet.net import Client, Response
    from broadsheet.sources.catalogue import Options

_SITE = "https://openaccess.thecvf.com"
_NAMES = {"cvpr": "CVPR", "iccv": "ICCV", "wacv": "WACV"}
_DAY = re.compile(r"href=[\"']([^\"']*[?&]day=\d{4}-\d\d-\d\d)[\"']")
_PAPER = b'class="ptitle"'
_LIMITS = Limits(max_entry_bytes=1_000_000, max_authors=10_000)


class Cvf:
    """One conference of one year. It has no cursor: a list is one answer, and does not change often."""

    kind: ClassVar[str] = "cvf"
    usage: ClassVar[str] = "cvf:CONFERENCE, such as cvf:CVPR2025"

    def __init__(self, venue: str, year: int) -> None:
        self.venue = venue
        self.year = year
        self.conference = f"{_NAMES[venue]}{year}"
        self.name = f"{self.kind}:{self.conference}"
        self.every = timedelta(days=30)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A conference as the site's addresses write it."""
        venue, year = venue_and_year(cls.kind, cls.usage, rest)
        if venue not in _NAMES:
            raise SettingsError(f"source cvf:{rest}: the site has {', '.join(_NAMES.values())}. Usage: {cls.usage}")
        return cls(venue, year)

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The list, or the lists of its days."""
        address = f"{_SITE}/{self.conference}"
        if response := self._of_all_days(client, address):
            yield Page(response.url, response.body, "")
            return
        response = client.get(address)
        if _PAPER in response.body:
            yield Page(response.url, response.body, "")
            return
        days = dict.fromkeys(joined(f"{_SITE}/", unescape(day)) for day in _DAY.findall(response.text))
        for day in sorted(day for day in days if day.startswith(f"{_SITE}/")):
            response = client.get(day)
            yield Page(response.url, response.body, "")
        if not days:
            yield Page(address, b"", "", f"no papers at {address}: not published yet", SourceState.QUIET)

    def _of_all_days(self, client: Client, address: str) -> Response | None:
        try:
            response = client.get(address, params={"day": "all"})
        except FetchError as error:
            if error.status != 404:
                raise
            return None
        return response if _PAPER in response.body else None

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper of the list."""
        if not page.body:
            return
        titles = list(of_class(tree_of(page.body, page.url), "ptitle", "dt"))
        if not titles:
            raise InputError(f"{page.url}: no list of papers; nothing was taken of it")
        for number, head in enumerate(titles, 1):
            if title := words_of(head):
                yield self._record(head, title)
            else:
                yield Refusal(page.url, head.sourceline or 0, f"entry {number}: title: missing")

    def _record(self, head: Element, title: str) -> Record:
        parts = _following(head)
        found = _links([head, *parts])
        page = joined(_SITE, found.get(title, ""))
        base = _from_bibtex(parts) or Record(source=self.kind, key="", raw="", year=self.year)
        authors = tuple(name for part in parts for name in _authors(part))
        arxiv = parse_identifier(found.get("arxiv", ""))
        links = [*page_link(page)] if title in found else []
        if link := link_of("pdf", joined(_SITE, found["pdf"]) if "pdf" in found else ""):
            links.append(link)
        links.extend(code_links(" ".join(found.values())))
        slug = re.sub(r"(?:_paper)?\.html?$", "", page.rsplit("/", 1)[-1])
        return replace(
            base,
            source=self.kind,
            key=slug or f"{self.conference}/{digest_of(title)}",
            raw="".join(
                etree.tostring(part, encoding="unicode", method="html", with_tail=False) for part in (head, *parts)
            ),
            title=title,
            authors=authors or base.authors,
            identifiers=_known(arxiv[0] if arxiv else None),
            venue=self.venue,
            year=base.year or self.year,
            links=tuple(dict.fromkeys(links)),
            kind="inproceedings",
        )


def _known(identifier: Identifier | None) -> tuple[Identifier, ...]:
    return (identifier,) if identifier and identifier.scheme is Scheme.ARXIV else ()


def _following(head: Element) -> list[Element]:
    """The parts of a paper: what follows its title until the next one."""
    parts: list[Element] = []
    for part in head.itersiblings():
        if part.tag == "dt":
            break
        if isinstance(part.tag, str):
            parts.append(part)
    return parts


def _authors(part: Element) -> Iterator[str]:
    for field in part.iter("input"):
        if field.get("name") == "query_author" and (name := " ".join(field.get("value", "").split())):
            yield name


def _links(parts: list[Element]) -> dict[str, str]:
    """Addresses by the words under which they stand: the title itself, pdf, supp, arxiv."""
    found: dict[str, str] = {}
    for number, part in enumerate(parts):
        for anchor in part.iter("a"):
            words = words_of(anchor)
            if (address := anchor.get("href", "").strip()) and not address.startswith("#"):
                found.setdefault(words if number == 0 else words.lower(), address)
    return found


def _from_bibtex(parts: list[Element]) -> Record | None:
    """What the BibTeX entry beside a paper says."""
    for block in (block for part in parts for block in of_class(part, "bibref", "div")):
        entries = read_bibtex("entry.bib", "".join(block.itertext()).encode(), _LIMITS)
        return next((entry for entry in entries if isinstance(entry, Record)), None)
    return None
