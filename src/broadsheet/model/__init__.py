"""The values that every room speaks of. Frozen, without behaviour beyond what follows from their own fields.

Three stages of text, in order:

- *raw*: as a source gave it; lives in ``Record`` and is never edited.
- *markup*: cleaned once (``text.clean``): NFC, entities and TeX accents decoded, control characters out; mathematics
  stays as ``$…$`` and emphasis as markdown. Lives in ``Paper.title`` and ``Paper.abstract``.
- *plain* (``text.to_plain``) for indexing and encoding, *HTML* (``text.to_html``) for pages; made on demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from enum import StrEnum
from typing import Any

PaperId = int
RecordId = int
RecordKey = tuple[str, str]
"""(source, key): names a record for good, whatever ids it gets."""


class Scheme(StrEnum):
    """Identifier schemes. All are strong: equal values mean the same paper."""

    ARXIV = "arxiv"
    DOI = "doi"
    OPENREVIEW = "openreview"
    ACL = "acl"
    PMID = "pmid"


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """A normalised identifier: ``arxiv`` without version, ``doi`` lower case, ``acl`` upper case."""

    scheme: Scheme
    value: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.value}"


@dataclass(frozen=True, slots=True, order=True)
class Area:
    """A subject area of a venue or archive, such as Theory · Learning Theory, or cs.LG."""

    name: str
    subarea: str = ""

    def __str__(self) -> str:
        if self.subarea.startswith(f"{self.name}."):  # a category of arXiv, which says its archive itself
            return self.subarea
        return f"{self.name} · {self.subarea}" if self.subarea else self.name


class LinkKind(StrEnum):
    """Where a link leads."""

    PAGE = "page"
    PDF = "pdf"
    CODE = "code"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """An http(s) link of a paper."""

    kind: LinkKind
    url: str


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version of a preprint, counted from 1, and the day it was submitted (UTC)."""

    number: int
    day: date | None = None


class NoticeKind(StrEnum):
    """What became of a paper after it appeared; the later, the graver."""

    CONCERN = "concern"
    WITHDRAWN = "withdrawn"
    RETRACTED = "retracted"


@dataclass(frozen=True, slots=True)
class Notice:
    """A withdrawal, a retraction or an expression of concern, with the reason as the source gives it."""

    kind: NoticeKind
    reason: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a paper can be met: a venue, a preprint server or a list, by the record that says so."""

    source: str
    venue: str = ""
    year: int | None = None
    status: str = ""
    listed: date | None = None
    url: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What one source said about one paper. Texts are raw; ``raw`` is the whole entry as it came.

    ``key`` is stable within ``source``: the same entry read again has the same key, so an import is idempotent.
    ``title_derived`` marks a title made from the first sentence of the abstract; any other title replaces it.
    ``authors_truncated`` marks a list that the source cut (等, "et al."); it never replaces a full one.

    ``kind`` is the type of publication as a BibLaTeX entry type (``article``, ``inproceedings``…). ``details`` are
    further bibliographic fields under their BibLaTeX names (``volume``, ``pages``, ``citekey``…), values raw, in the
    source's order. ``counts`` are figures that change by themselves, by name: ``citations``, ``upvotes``, ``comments``.
    ``published`` is the day of the first version, ``added`` when a reader filed the entry in a library of their own.
    ``former_titles`` are those that the same entry had when it was read before. ``line`` is where the entry begins in
    its file, from 1, or 0 where lines mean nothing; it says nothing about the paper, is not compared and not kept.
    """

    source: str
    key: str
    raw: str
    title: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    areas: tuple[Area, ...] = ()
    venue: str = ""
    year: int | None = None
    published: date | None = None
    listed: date | None = None
    links: tuple[Link, ...] = ()
    keywords: tuple[str, ...] = ()
    status: str = ""
    title_derived: bool = False
    authors_truncated: bool = False
    summarised: bool = False  # the abstract is this project's own summary, not the authors' text
    month_only: bool = False  # of ``published`` only the month is known; its day is the first
    kind: str = ""
    versions: tuple[Version, ...] = ()
    notices: tuple[Notice, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    references: tuple[Identifier, ...] = ()
    added: datetime | None = None
    former_titles: tuple[str, ...] = ()
    line: int = field(default=0, compare=False, repr=False)

    @property
    def version(self) -> int:
        """The number of the newest version it speaks of; 0 where none is known."""
        return max((version.number for version in self.versions), default=0)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record in the database and the paper it belongs to."""

    id: RecordId
    paper_id: PaperId
    record: Record
    seen: datetime


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, derived from its records. Texts are markup. ``origins`` says which record gave each field."""

    id: PaperId
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    areas: tuple[Area, ...] = ()
    venue: str = ""
    year: int | None = None
    published: date | None = None
    listed: date | None = None
    links: tuple[Link, ...] = ()
    keywords: tuple[str, ...] = ()
    status: str = ""
    other_titles: tuple[str, ...] = ()
    related: tuple[PaperId, ...] = ()
    authors_truncated: bool = False
    title_derived: bool = False
    summarised: bool = False
    month_only: bool = False
    damaged: bool = False
    kind: str = ""
    versions: tuple[Version, ...] = ()
    notices: tuple[Notice, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    references: tuple[Identifier, ...] = ()
    added: datetime | None = None
    places: tuple[Place, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_withdrawn(self) -> bool:
        """Whether it was withdrawn or retracted: it can be found, but is never recommended."""
        return any(notice.kind is not NoticeKind.CONCERN for notice in self.notices)

    def count(self, name: str) -> int | None:
        """A figure such as ``citations``; None where it is not known."""
        return dict(self.counts).get(name)

    @property
    def has_code(self) -> bool:
        """Whether a link to code is known."""
        return any(link.kind is LinkKind.CODE for link in self.links)

    @property
    def has_pdf(self) -> bool:
        """Whether a link to the text is known; arXiv always has one."""
        return any(link.kind is LinkKind.PDF for link in self.links) or self.identifier(Scheme.ARXIV) is not None

    @property
    def day(self) -> date | None:
        """The day it is filed under: first listing, else publication."""
        return self.listed or self.published

    @property
    def day_is_month(self) -> bool:
        """Whether ``day`` stands for its month."""
        return self.month_only and not self.listed

    def identifier(self, scheme: Scheme) -> str | None:
        """The first identifier of a scheme."""
        return next((i.value for i in self.identifiers if i.scheme is scheme), None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that could not be taken, and why. ``line`` counts from 1; 0 where lines mean nothing."""

    where: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}: {self.reason}" if self.line else f"{self.where}: {self.reason}"


class JudgementKind(StrEnum):
    """What a person said of two records."""

    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A person's word that two records are of one paper, or are not. Outlives every import."""

    kind: JudgementKind
    a: RecordKey
    b: RecordKey
    made: datetime
    why: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the change log: paper ``paper_id`` was written (or is gone) at ``seq``."""

    seq: int
    paper_id: PaperId


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """What the index holds of a paper: plain text and facet values."""

    id: PaperId
    title: str
    abstract: str
    authors: tuple[str, ...]
    areas: tuple[Area, ...]
    keywords: tuple[str, ...]
    venue: str
    year: int | None
    day: date | None
    has_code: bool
    identifiers: tuple[str, ...]
    has_pdf: bool = False
    other_titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: scores in [0, 1] by part, and the snippet as HTML with ``<mark>``."""

    paper: Paper
    score: float
    parts: Mapping[str, float]
    snippet: str
    title_html: str


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A facet's value and how many matching papers have it; ``children`` are the subareas of an area."""

    value: str
    count: int
    children: tuple[FacetValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """A page of search results.

    ``total`` counts all that can be paged through. ``matching`` counts all papers with any of the words, which may be
    more. ``coverage`` is the share of papers in [0, 1] that have vectors. ``notes`` are sentences for the reader.
    """

    query: str
    hits: tuple[Hit, ...]
    total: int
    matching: int
    page: int
    page_size: int
    facets: Mapping[str, tuple[FacetValue, ...]]
    coverage: float
    sort: str
    notes: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)  # milliseconds by stage

    @property
    def pages(self) -> int:
        """Number of pages; at least one."""
        return max(1, -(-self.total // self.page_size))


@dataclass(frozen=True, slots=True)
class Joined:
    """A new record (``source:key``) that joined a paper which another record had made: a duplicate that was merged."""

    record: str
    title: str
    paper: PaperId


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did: ``read`` = new + updated + unchanged + refused; ``merged`` of the new joined known papers.

    ``withdrawn`` papers were told for the first time to be withdrawn or retracted.
    """

    read: int = 0
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    merged: int = 0
    withdrawn: int = 0
    refused: int = 0
    refusals: tuple[Refusal, ...] = ()  # the first 100; ``refused`` counts all
    joined: tuple[Joined, ...] = ()  # the first 1,000; ``merged`` counts all
    seconds: float = 0.0

    def __add__(self, other: ImportSummary) -> ImportSummary:
        """What two imports did together."""
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return ImportSummary(**{**sums, "refusals": sums["refusals"][:100], "joined": sums["joined"][:1000]})


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a library, for ``broadsheet status`` and the site's foot."""

    home: str
    papers: int
    records: int
    indexed: int
    pending_changes: int
    encoded: int
    encoder: str
    encoder_note: str
    details: Mapping[str, Any] = field(default_factory=dict)


class SourceState(StrEnum):
    """How a source stands after it was asked last."""

    NEVER = "never"  # not asked yet
    OK = "ok"
    QUIET = "quiet"  # nothing was to be expected: a weekend, a holiday, nothing changed since
    STALE = "stale"  # it answers, but with what is old
    INCOMPLETE = "incomplete"  # the server ended early; what came is kept, and the rest is asked for again
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A configured source, for ``broadsheet sources`` and the site's foot. Times are UTC.

    ``asked`` is the last attempt, ``fetched`` the last that gave something or found that there was nothing to give,
    ``due`` the next on the schedule. ``newest`` is the greatest id it has shown, ``day`` the last day it announced,
    ``records`` how many it has given in all, ``failures`` how many attempts failed since the last that did not.
    """

    name: str
    state: SourceState = SourceState.NEVER
    message: str = ""
    asked: datetime | None = None
    fetched: datetime | None = None
    due: datetime | None = None
    newest: str = ""
    day: date | None = None
    records: int = 0
    failures: int = 0
    wait: float = 0.0  # seconds that the source asked to be left alone, counted from ``asked``


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What one run of ``broadsheet update`` did with one source; counts of records, except ``withdrawn``: papers."""

    name: str
    state: SourceState
    message: str = ""
    new: int = 0
    updated: int = 0
    merged: int = 0
    withdrawn: int = 0
    refused: int = 0
    refusals: tuple[Refusal, ...] = ()
    due: datetime | None = None
    seconds: float = 0.0
