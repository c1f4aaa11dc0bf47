"""Volumes of the Proceedings of Machine Learning Research (https://proceedings.mlr.press): ICML, AISTATS, COLT, CoRL…

Taken is the BibTeX file of the whole volume, ``/v267/assets/bib/bibliography.bib``, which has titles, authors, pages,
editors, addresses and abstracts. Where a volume has no such file, the page that lists its papers (``/v267/``) is taken,
which has no abstracts; the pages of single papers are never fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Self

from lxml import etree

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.answers import cursor_of, joined, validators_in
from broadsheet.sources.base import Entry, Limits, Page
from broadsheet.sources.bibtex_in import read as read_bibtex
from broadsheet.sources.jsonl import digest_of
from broadsheet.sources.values import authors_of, link_of, year_of
from broadsheet.sources.webpages import Element, of_class, tree_of, words_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

_SITE = "https://proceedings.mlr.press"
_LIMITS = Limits(max_entry_bytes=1_000_000, max_authors=10_000)
_VOLUME = re.compile(r"v?([1-9]\d{0,3})", re.IGNORECASE)
_SLUG = re.compile(r"/v\d+/([^/]+?)\.html?$")
_VENUES = (
    ("international conference on machine learning", "icml"),
    ("artificial intelligence and statistics", "aistats"),
    ("conference on learning theory", "colt"),
    ("conference on robot learning", "corl"),
    ("uncertainty in artificial intelligence", "uai"),
    ("asian conference on machine learning", "acml"),
    ("algorithmic learning theory", "alt"),
    ("medical imaging with deep learning", "midl"),
    ("learning for dynamics and control", "l4dc"),
    ("machine learning for healthcare", "mlhc"),
    ("lifelong learning agents", "collas"),
    ("automated machine learning", "automl"),
    ("causal learning and reasoning", "clear"),
    ("learning on graphs", "log"),
)


class Pmlr:
    """One volume. The cursor holds what tells whether its file changed."""

    kind: ClassVar[str] = "pmlr"
    usage: ClassVar[str] = "pmlr:VOLUME, such as pmlr:v267"

    def __init__(self, volume: int) -> None:
        self.volume = volume
        self.name = f"{self.kind}:v{volume}"
        self.every = timedelta(days=30)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A volume by its number."""
        match = _VOLUME.fullmatch(rest.strip())
        if not match:
            raise SettingsError(f"source pmlr:{rest}: not a volume. Usage: {cls.usage}")
        return cls(int(match[1]))

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The volume's BibTeX file, if it changed; else the page that lists its papers."""
        address = f"{_SITE}/v{self.volume}/assets/bib/bibliography.bib"
        try:
            response = client.get(address, validators=validators_in(cursor))
        except FetchError as error:
            if error.status != 404 or cursor:  # what was there before is not gone for good
                raise
            yield self._listing(client)
            return
        if response.not_modified:
            yield Page(address, b"", cursor, "unchanged", SourceState.QUIET)
            return
        yield Page(response.url, response.body, cursor_of(response), kind="bibtex")

    def _listing(self, client: Client) -> Page:
        response = client.get(f"{_SITE}/v{self.volume}/")
        return Page(response.url, response.body, "", "the volume has no BibTeX file: without abstracts", kind="html")

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper of the volume."""
        if not page.body:
            return
        if page.kind == "html":
            yield from self._from_html(page)
        elif page.body.lstrip()[:1] == b"<" or b"@" not in page.body:
            raise InputError(f"{page.url}: not BibTeX; nothing was taken of it")
        else:
            for entry in read_bibtex(page.url, page.body, _LIMITS):
                yield entry if isinstance(entry, Refusal) else self._placed(entry)

    def _placed(self, record: Record) -> Record:
        details = dict(record.details)
        page = next((link.url for link in record.links if link.kind is LinkKind.PAGE), "")
        slug = _SLUG.search(page)
        own = slug[1] if slug else re.sub(rf"^pmlr-v{self.volume}-", "", details.get("citekey", record.key))
        venue = _venue(details.get("booktitle", "")) or record.venue
        return replace(record, source=self.kind, key=f"v{self.volume}/{own}", venue=venue)

    def _from_html(self, page: Page) -> Iterator[Entry]:
        root = tree_of(page.body, page.url)
        papers = list(of_class(root, "paper", "div"))
        if not papers:
            raise InputError(f"{page.url}: no list of papers; nothing was taken of it")
        heading = " ".join(words_of(element) for element in root.iter("h1", "h2"))
        for number, block in enumerate(papers, 1):
            record = self._listed(block, heading)
            yield record or Refusal(page.url, block.sourceline or 0, f"entry {number}: title: missing")

    def _listed(self, block: Element, heading: str) -> Record | None:
        title = _words(block, "title")
        if not title:
            return None
        links: list[Link] = []
        for anchor in block.iter("a"):
            kind = {"abs": "url", "download pdf": "pdf", "pdf": "pdf", "code": "code"}.get(words_of(anchor).lower())
            if kind and (link := link_of(kind, joined(_SITE, anchor.get("href", "")))):
                links.append(link)
        page = next((link.url for link in links if link.kind is LinkKind.PAGE), "")
        slug = _SLUG.search(page)
        info = _words(block, "info")
        pages = re.search(r"PMLR \d+:\s*(\d+\s*[-–]+\s*\d+)", info)
        years = re.findall(r"\b(?:19|20)\d\d\b", info) or re.findall(r"\b(?:19|20)\d\d\b", heading)
        book = info.split(", PMLR")[0].strip(" ;,")
        details = {
            "booktitle": book,
            "volume": str(self.volume),
            "pages": pages[1] if pages else "",
            "publisher": "PMLR",
        }
        return Record(
            source=self.kind,
            key=f"v{self.volume}/{slug[1] if slug else digest_of(title)}",
            raw=etree.tostring(block, encoding="unicode", method="html", with_tail=False),
            title=title,
            authors=authors_of(_words(block, "authors").rstrip(";, "))[0],
            venue=_venue(f"{book} {heading}") or book,
            year=year_of(years[-1]) if years else None,
            links=tuple(dict.fromkeys(links)),
            kind="inproceedings",
            details=tuple((name, value) for name, value in details.items() if value),
        )


def _words(block: Element, name: str) -> str:
    """The text of the first element of a class."""
    return words_of(next(of_class(block, name, "p", "span"), None))


def _venue(book: str) -> str:
    """The short name of a conference by the title of its proceedings; "" for workshops and what is not known."""
    lower = book.lower()
    if "workshop" in lower:
        return ""
    # "Asian Conference on Machine Learning" does not hold the longer name that begins with "international".
    return next((short for name, short in _VENUES if name in lower), "")
