"""Semantic Scholar: papers by nearly any identifier, with citation counts (https://api.semanticscholar.org/api-docs)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from broadsheet.errors import FetchError
from broadsheet.identifiers import shown_value
from broadsheet.model import Identifier, Link, LinkKind, Record, Scheme
from broadsheet.sources.answers import entries_of, fields_of, load_json, raw_of
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.enrichment import asked_on, batches, cursor_of, identifiers_in, key_of
from broadsheet.sources.notices import without_mark
from broadsheet.sources.openalex import published_on
from broadsheet.sources.values import FieldError, authors_of, link_of, text_of, year_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

_API = "https://api.semanticscholar.org/graph/v1/paper/batch"
_FIELDS = (
    "title,abstract,venue,publicationVenue,year,publicationDate,authors.name,externalIds,citationCount,openAccessPdf,"
    "publicationTypes,journal,references.externalIds"
)
_PREFIXES = {Scheme.ARXIV: "ARXIV", Scheme.DOI: "DOI", Scheme.ACL: "ACL", Scheme.PMID: "PMID"}
_EXTERNAL = (("ArXiv", ""), ("DOI", "doi:"), ("ACL", "acl:"), ("PubMed", "pmid:"))
_KINDS = (
    ("Conference", "inproceedings"),
    ("JournalArticle", "article"),
    ("BookSection", "incollection"),
    ("Book", "book"),
    ("Dataset", "dataset"),
)
_DBLP_YEAR = re.compile(r"conf/.*?(\d\d)[a-z]?(?:-\d+)?$")


@dataclass(frozen=True, slots=True)
class SemanticScholar:
    """Papers by arXiv id, DOI, Anthology id or PubMed id. ``key`` is a secret that goes into a header."""

    key: str = field(default="", repr=False)
    name: ClassVar[str] = "semanticscholar"
    schemes: ClassVar[tuple[Scheme, ...]] = tuple(_PREFIXES)
    batch: ClassVar[int] = 100  # 500 are allowed, but an answer may have no more than 10 MB and 9,999 references

    @classmethod
    def of(cls, options: Options) -> Self:
        """With the key of the settings."""
        return cls(options.semanticscholar_key)

    def fetch(self, client: Client, identifiers: Sequence[Identifier]) -> Iterator[Page]:
        """Ask for all at once."""
        known = [identifier for identifier in identifiers if identifier.scheme in _PREFIXES]
        for part in batches(known, self.batch):
            ids = [f"{_PREFIXES[i.scheme]}:{shown_value(i)}" for i in part]
            yield self._page(client, ids, part)

    def _page(self, client: Client, ids: Sequence[str], asked: Sequence[Identifier]) -> Page:
        headers = {"x-api-key": self.key} if self.key else {}
        try:
            answer = client.post(f"{_API}?fields={_FIELDS}", json={"ids": ids}, headers=headers)
        except FetchError as error:
            # "No valid paper ids given": how it says that it knows none of them.
            if error.status not in (400, 404):
                raise
            remark = f"Semantic Scholar knows none of {len(ids)} papers ({error.status})"
            return Page(_API, b"", cursor_of(asked), remark=remark)
        return Page(_API, answer.body, cursor_of(asked))

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper that is known; the answers stand in the order of the questions."""
        if not page.body:
            return
        answer = load_json(page.body, page.url)
        papers = answer if isinstance(answer, list) else answer.get("data", []) if isinstance(answer, dict) else []
        asked = asked_on(page)
        # As many answers as questions, null for what is unknown: then each paper is the answer to one question.
        in_order = len(papers) == len(asked)
        for number, paper in enumerate(papers):
            if paper is not None:
                question = asked[number : number + 1] if in_order else asked
                yield from entries_of(page.url, [paper], partial(record_of, asked=question, certain=in_order))


def record_of(item: Any, asked: Sequence[Identifier] = (), *, certain: bool = False) -> Record:
    """The record of one paper; ``certain``: it answers the one identifier in ``asked``. Raises FieldError."""
    paper = fields_of(item)
    title, notices = without_mark(text_of(paper.get("title"), "title"))
    if not title:
        raise FieldError("title: missing")
    identifiers = tuple(dict.fromkeys(_identifiers(paper.get("externalIds"))))
    published, month_only = published_on(paper.get("publicationDate"), "publicationDate")
    authors, cut = authors_of(paper.get("authors"))
    citations = paper.get("citationCount")
    return Record(
        source=SemanticScholar.name,
        key=str(asked[0]) if certain else key_of(identifiers, asked, text_of(paper.get("paperId"), "paperId")),
        raw=raw_of(paper),
        title=title,
        abstract=text_of(paper.get("abstract"), "abstract"),
        authors=authors,
        authors_truncated=cut,
        identifiers=identifiers,
        venue=_venue(paper),
        year=_year(paper),
        published=published,
        month_only=month_only,
        links=tuple(_pdf(paper.get("openAccessPdf"))),
        kind=_kind(paper),
        notices=notices,
        counts=(("citations", citations),) if isinstance(citations, int) and citations >= 0 else (),
        details=tuple(_details(paper)),
        references=tuple(dict.fromkeys(_references(paper))),
    )


def _identifiers(external: Any) -> Iterator[Identifier]:
    if isinstance(external, dict):
        for name, prefix in _EXTERNAL:
            yield from identifiers_in([external.get(name)], prefix)


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _venue(paper: Mapping[str, Any]) -> str:
    name = text_of(_dict(paper.get("publicationVenue")).get("name"), "publicationVenue")
    name = name or text_of(paper.get("venue"), "venue") or text_of(_dict(paper.get("journal")).get("name"), "journal")
    return "arXiv" if name.lower() in ("arxiv.org", "arxiv") else name


def _year(paper: Mapping[str, Any]) -> int | None:
    """The year of the conference, which DBLP's key ends with; the other may be that of the preprint."""
    year = year_of(paper.get("year"))
    key = text_of(_dict(paper.get("externalIds")).get("DBLP"), "externalIds")
    if match := _DBLP_YEAR.match(key):
        of_key = int(match[1]) + (1900 if int(match[1]) > 35 else 2000)
        return of_key if year is None or abs(of_key - year) <= 2 else year
    return year


def _kind(paper: Mapping[str, Any]) -> str:
    if _venue(paper) == "arXiv":
        return "online"
    types = paper.get("publicationTypes")
    given = types if isinstance(types, list) else []
    return next((kind for name, kind in _KINDS if name in given), "")


def _pdf(found: Any) -> Iterator[Link]:
    if link := link_of("pdf", text_of(_dict(found).get("url"), "openAccessPdf")):
        yield Link(LinkKind.PDF, link.url)


def _details(paper: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    journal = _dict(paper.get("journal"))
    name = text_of(journal.get("name"), "journal")
    if name and _kind(paper) in ("article", "inproceedings"):
        yield "journal" if _kind(paper) == "article" else "booktitle", name
    for ours, theirs in (("volume", "volume"), ("pages", "pages")):
        # Of a paper on arXiv, the volume is "abs/1706.03762".
        if (text := " ".join(text_of(journal.get(theirs), theirs).split())) and not text.startswith("abs/"):
            yield ours, text


def _references(paper: Mapping[str, Any]) -> Iterator[Identifier]:
    references = paper.get("references")
    for reference in references if isinstance(references, list) else ():
        # One of them is enough to name the work; the arXiv id comes first.
        yield from list(_identifiers(_dict(reference).get("externalIds")))[:1]
