"""The shapes of the API's answers, documented for OpenAPI and filled from the model's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from pydantic import BaseModel, Field

from ..identifiers import url_of
from ..model import FacetValue, Hit, Notice, Paper, Place, Results, SourceStatus, Status, Version
from .standing import without_secrets


class ErrorBody(BaseModel):
    """What went wrong."""

    code: str = Field(description="A word for programs, such as `bad_request`, `not_found`, `busy`.")
    message: str = Field(description="A sentence for people: what is wrong and what to do.")
    request_id: str = Field(description="The number under which the server's log knows the request.")


class ErrorOut(BaseModel):
    """The answer to every request that fails."""

    error: ErrorBody


class IdentifierOut(BaseModel):
    """An identifier and where it leads."""

    scheme: str = Field(description="arxiv, doi, openreview, acl or pmid.")
    value: str
    url: str


class AreaOut(BaseModel):
    """A subject area."""

    name: str
    subarea: str = Field(description="Empty where there is none.")


class LinkOut(BaseModel):
    """A link of a paper."""

    kind: str = Field(description="page, pdf, code or project.")
    url: str


class PlaceOut(BaseModel):
    """Where a paper appeared: a venue, a preprint server or a list."""

    source: str = Field(description="The source that says so.")
    venue: str
    year: int | None
    status: str = Field(description="Such as Oral or Poster; empty where unknown.")
    listed: date | None = Field(description="Day on which it was listed there.")
    url: str = Field(description="Empty where none is known.")

    @classmethod
    def of(cls, place: Place) -> PlaceOut:
        """The answer for a place."""
        return cls(
            source=place.source,
            venue=place.venue,
            year=place.year,
            status=place.status,
            listed=place.listed,
            url=place.url,
        )


class VersionOut(BaseModel):
    """A version of a preprint."""

    number: int = Field(description="From 1.")
    day: date | None = Field(description="Day on which it was submitted, in UTC.")

    @classmethod
    def of(cls, version: Version) -> VersionOut:
        """The answer for a version."""
        return cls(number=version.number, day=version.day)


class NoticeOut(BaseModel):
    """What became of a paper after it appeared."""

    kind: str = Field(description="concern (an expression of concern), withdrawn or retracted.")
    reason: str = Field(description="As its source gives it; empty where none is given.")
    day: date | None

    @classmethod
    def of(cls, notice: Notice) -> NoticeOut:
        """The answer for a notice."""
        return cls(kind=notice.kind, reason=notice.reason, day=notice.day)


class PaperOut(BaseModel):
    """A paper. Texts are data from outside and may hold anything, also text that reads like an instruction."""

    id: int
    title: str = Field(description="With mathematics as `$…$` and emphasis as markdown.")
    abstract: str = Field(description="The same; empty where none is known.")
    authors: list[str]
    authors_truncated: bool = Field(description="The list of authors was cut by its source.")
    identifiers: list[IdentifierOut]
    areas: list[AreaOut]
    venue: str
    year: int | None
    published: date | None = Field(description="Day of publication; of a preprint, that of its first version.")
    month_only: bool = Field(description="Whether only the month of publication is known.")
    listed: date | None = Field(description="Day on which it was first listed or announced.")
    links: list[LinkOut]
    has_code: bool
    keywords: list[str]
    status: str = Field(description="Such as Oral or Poster; empty where unknown.")
    kind: str = Field(description="Type of publication as a BibLaTeX entry type; empty where unknown.")
    places: list[PlaceOut] = Field(description="Where it appeared, the venue it is filed under first.")
    versions: list[VersionOut] = Field(description="Known versions of the preprint, the first one first.")
    notices: list[NoticeOut] = Field(description="Withdrawals, retractions and expressions of concern.")
    withdrawn: bool = Field(description="Whether it was withdrawn or retracted.")
    counts: dict[str, int] = Field(description="Figures by name, such as citations, upvotes, comments.")
    details: dict[str, str] = Field(description="Further fields under their BibLaTeX names, as their source has them.")
    added: datetime | None = Field(description="When a reader filed it in a library of their own.")
    other_titles: list[str] = Field(description="Titles that other sources or earlier versions give.")
    related: list[int] = Field(description="Papers that may be another version of this one.")
    summarised: bool = Field(description="The abstract is a summary by this project, not the authors' text.")
    damaged: bool = Field(description="Characters were lost before the text came here.")
    origins: dict[str, str] = Field(description="Which record each field came from.")

    @classmethod
    def of(cls, paper: Paper) -> PaperOut:
        """The answer for a paper."""
        return cls(
            id=paper.id,
            title=paper.title,
            abstract=paper.abstract,
            authors=list(paper.authors),
            authors_truncated=paper.authors_truncated,
            identifiers=[IdentifierOut(scheme=i.scheme, value=i.value, url=url_of(i)) for i in paper.identifiers],
            areas=[AreaOut(name=a.name, subarea=a.subarea) for a in paper.areas],
            venue=paper.venue,
            year=paper.year,
            published=paper.published,
            month_only=paper.month_only,
            listed=paper.listed,
            links=[LinkOut(kind=link.kind, url=link.url) for link in paper.links],
            has_code=paper.has_code,
            keywords=list(paper.keywords),
            status=paper.status,
            kind=paper.kind,
            places=[PlaceOut.of(place) for place in paper.places],
            versions=[VersionOut.of(version) for version in paper.versions],
            notices=[NoticeOut.of(notice) for notice in paper.notices],
            withdrawn=paper.is_withdrawn,
            counts=dict(paper.counts),
            details=dict(paper.details),
            added=paper.added,
            other_titles=list(paper.other_titles),
            related=list(paper.related),
            summarised=paper.summarised,
            damaged=paper.damaged,
            origins=dict(paper.origins),
        )


class HitOut(BaseModel):
    """A search result."""

    paper: PaperOut
    score: float = Field(description="In [0, 1]; comparable within one answer only.")
    parts: dict[str, float] = Field(description="The parts of the score, each in [0, 1].")
    snippet: str = Field(description="HTML; the words found are in `<mark>`.")
    title_html: str = Field(description="HTML with mathematics as MathML.")

    @classmethod
    def of(cls, hit: Hit) -> HitOut:
        """The answer for a hit."""
        return cls(
            paper=PaperOut.of(hit.paper),
            score=hit.score,
            parts=dict(hit.parts),
            snippet=hit.snippet,
            title_html=hit.title_html,
        )


class FacetOut(BaseModel):
    """A facet's value and how many papers have it."""

    value: str
    count: int
    children: list[FacetOut] = Field(description="The subareas of an area.")

    @classmethod
    def of(cls, facet: FacetValue) -> FacetOut:
        """The answer for a facet's value."""
        return cls(value=facet.value, count=facet.count, children=[cls.of(child) for child in facet.children])


class ResultsOut(BaseModel):
    """A page of search results."""

    query: str
    total: int = Field(description="How many results can be paged through.")
    matching: int = Field(description="How many papers have any of the words; may be more.")
    page: int
    pages: int
    page_size: int
    sort: str
    coverage: float = Field(description="Share of papers, in [0, 1], that can be found by meaning already.")
    notes: list[str] = Field(description="Sentences for the reader about this search.")
    hits: list[HitOut]
    facets: dict[str, list[FacetOut]]
    timings: dict[str, float] = Field(description="Milliseconds by stage.")

    @classmethod
    def of(cls, results: Results) -> ResultsOut:
        """The answer for a page of results."""
        return cls(
            query=results.query,
            total=results.total,
            matching=results.matching,
            page=results.page,
            pages=results.pages,
            page_size=results.page_size,
            sort=results.sort,
            coverage=results.coverage,
            notes=list(results.notes),
            hits=[HitOut.of(hit) for hit in results.hits],
            facets={name: [FacetOut.of(v) for v in values] for name, values in results.facets.items()},
            timings=dict(results.timings),
        )


class SimilarOut(BaseModel):
    """Papers nearest in meaning to one."""

    id: int = Field(description="The paper that they are near to.")
    hits: list[HitOut]

    @classmethod
    def of(cls, paper_id: int, hits: Sequence[Hit]) -> SimilarOut:
        """The answer for similar papers."""
        return cls(id=paper_id, hits=[HitOut.of(hit) for hit in hits])


class BibtexOut(BaseModel):
    """A paper's BibTeX entry."""

    id: int
    bibtex: str


class NewestOut(BaseModel):
    """Papers by day, newest first."""

    papers: list[PaperOut]
    next: str | None = Field(description="The value of `before` that goes on from here; null at the end.")


class StatusOut(BaseModel):
    """The state of the library."""

    papers: int
    records: int
    indexed: int = Field(description="Papers that can be found by words.")
    encoded: int = Field(description="Papers that can be found by meaning.")
    pending_changes: int
    encoder: str
    encoder_note: str
    sources: dict[str, int] = Field(description="Records by source.")

    @classmethod
    def of(cls, status: Status, sources: Mapping[str, int]) -> StatusOut:
        """The answer for a status; folders of the server stay with it."""
        return cls(
            papers=status.papers,
            records=status.records,
            indexed=status.indexed,
            encoded=status.encoded,
            pending_changes=status.pending_changes,
            encoder=status.encoder,
            encoder_note=status.encoder_note,
            sources=dict(sources),
        )


class SourceOut(BaseModel):
    """How a configured source stands. Times are UTC."""

    name: str = Field(description="As configured, but addresses without user names and query strings.")
    state: str = Field(description="never (not asked yet), ok, quiet (nothing was new), stale, incomplete or failed.")
    message: str = Field(description="What there is to say about it; empty where nothing is.")
    asked: datetime | None = Field(description="When it was asked last.")
    fetched: datetime | None = Field(description="When it last gave something, or had nothing to give.")
    due: datetime | None = Field(description="When it is to be asked next.")
    newest: str = Field(description="The greatest id it has shown.")
    day: date | None = Field(description="The last day it announced.")
    records: int = Field(description="How many records came from it.")
    failures: int = Field(description="How many attempts failed since the last that did not.")

    @classmethod
    def of(cls, status: SourceStatus) -> SourceOut:
        """The answer for a source."""
        return cls(
            name=without_secrets(status.name),
            state=status.state,
            message=without_secrets(status.message),
            asked=status.asked,
            fetched=status.fetched,
            due=status.due,
            newest=status.newest,
            day=status.day,
            records=status.records,
            failures=status.failures,
        )


class SourcesOut(BaseModel):
    """The configured sources."""

    sources: list[SourceOut]

    @classmethod
    def of(cls, sources: Sequence[SourceStatus]) -> SourcesOut:
        """The answer for sources."""
        return cls(sources=[SourceOut.of(status) for status in sources])
