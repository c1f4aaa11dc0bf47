"""The shapes of the API's answers, documented for OpenAPI and filled from the model's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from pydantic import BaseModel, Field

from ..identifiers import url_of
from ..model import FacetValue, Hit, Paper, Results, Status


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
    published: date | None = Field(description="Day of publication.")
    month_only: bool = Field(description="Whether only the month of publication is known.")
    listed: date | None = Field(description="Day on which it was first listed or announced.")
    links: list[LinkOut]
    has_code: bool
    keywords: list[str]
    status: str = Field(description="Such as Oral or Poster; empty where unknown.")
    other_titles: list[str]
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
