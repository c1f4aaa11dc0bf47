"""OpenAlex: an open index of works, with citation counts and retractions (https://docs.openalex.org/api-entities/works).

Its ``referenced_works`` are numbers of its own, which nothing else here understands: references come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import urlencode

from broadsheet.model import Identifier, Link, LinkKind, Notice, NoticeKind, Record, Scheme
from broadsheet.sources.answers import entries_of, fields_of, load_json, raw_of
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.crossref import KINDS as CROSSREF_KINDS
from broadsheet.sources.enrichment import asked_on, batches, cursor_of, identifiers_in, key_of
from broadsheet.sources.notices import united, without_mark
from broadsheet.sources.values import FieldError, date_of, link_of, text_of, year_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

_API = "https://api.openalex.org/works"
_FIELDS = (
    "id,doi,ids,title,display_name,publication_year,publication_date,type,language,authorships,primary_location,"
    "best_oa_location,locations,biblio,cited_by_count,is_retracted,abstract_inverted_index,keywords"
)
_MOST_AUTHORS = 100
"""Lists of works show so many authors of each."""
KINDS = {
    "article": "article",
    "review": "article",
    "letter": "article",
    "editorial": "article",
    "erratum": "article",
    "retraction": "article",
    "preprint": "online",
    "libguides": "online",
    "book": "book",
    "book-chapter": "incollection",
    "reference-entry": "inreference",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
    "software": "software",
}
"""Types of OpenAlex as BibLaTeX entry types; every other one is ``misc``."""


@dataclass(frozen=True, slots=True)
class OpenAlex:
    """Works by DOI, arXiv id (as the DOI that it has) or PubMed id. ``key`` is a secret; ``contact`` is who asks."""

    key: str = field(default="", repr=False)
    contact: str = ""
    name: ClassVar[str] = "openalex"
    schemes: ClassVar[tuple[Scheme, ...]] = (Scheme.DOI, Scheme.ARXIV, Scheme.PMID)
    batch: ClassVar[int] = 50

    @classmethod
    def of(cls, options: Options) -> Self:
        """With the key and the contact address of the settings."""
        return cls(options.openalex_key, options.contact)

    def fetch(self, client: Client, identifiers: Sequence[Identifier]) -> Iterator[Page]:
        """Ask for all DOIs at once, then for all PubMed ids: one filter cannot hold both."""
        dois = [i for i in identifiers if i.scheme in (Scheme.DOI, Scheme.ARXIV) and not set(",|") & set(i.value)]
        pmids = [i for i in identifiers if i.scheme is Scheme.PMID]
        for name, group in (("doi", dois), ("pmid", pmids)):
            for part in batches(group, self.batch):
                yield self._page(client, f"{name}:{'|'.join(map(_value, part))}", part)

    def _page(self, client: Client, wanted: str, asked: Sequence[Identifier]) -> Page:
        query = {"filter": wanted, "per_page": str(2 * len(asked)), "select": _FIELDS}
        own = {"api_key": self.key, "mailto": self.contact}
        answer = client.get(_API, params=query | {name: value for name, value in own.items() if value})
        return Page(f"{_API}?{urlencode({'filter': wanted})}", answer.body, cursor_of(asked))

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper that was asked for: of works which have one identifier, the best cited."""
        if not page.body:
            return
        asked = asked_on(page)
        found: dict[str, Record] = {}
        for entry in entries_of(page.url, _works(load_json(page.body, page.url)), lambda work: record_of(work, asked)):
            if not isinstance(entry, Record):
                yield entry
            elif entry.key not in found or _weight(entry) > _weight(found[entry.key]):
                found[entry.key] = entry
        yield from found.values()


def _value(identifier: Identifier) -> str:
    return f"10.48550/arxiv.{identifier.value}" if identifier.scheme is Scheme.ARXIV else identifier.value


def _works(answer: Any) -> list[Any]:
    works = answer.get("results") if isinstance(answer, dict) else None
    return works if isinstance(works, list) else []


def _weight(record: Record) -> tuple[int, bool, int]:
    return dict(record.counts).get("citations", 0), bool(record.abstract), len(record.authors)


def record_of(item: Any, asked: Sequence[Identifier] = ()) -> Record:
    """The record of one work. Raises FieldError for what cannot be taken."""
    work = fields_of(item)
    title, marks = without_mark(text_of(work.get("title") or work.get("display_name"), "title"))
    if not title:
        raise FieldError("title: missing")
    retracted = (Notice(NoticeKind.RETRACTED),) if work.get("is_retracted") is True else ()
    identifiers = tuple(dict.fromkeys(_identifiers(work)))
    published, month_only = published_on(work.get("publication_date"), "publication_date")
    authors, cut = _authors(work)
    citations = work.get("cited_by_count")
    return Record(
        source=OpenAlex.name,
        key=key_of(identifiers, asked, text_of(work.get("id"), "id")),
        raw=raw_of(work),
        title=title,
        abstract=abstract_of(work.get("abstract_inverted_index")),
        authors=authors,
        authors_truncated=cut,
        identifiers=identifiers,
        venue=_source_name(work),
        year=year_of(work.get("publication_year")) or year_of(work.get("publication_date")),
        published=published,
        month_only=month_only,
        links=tuple(dict.fromkeys(_pdfs(work))),
        keywords=tuple(
            name for one in _dicts(work.get("keywords")) if (name := text_of(one.get("display_name"), "kw"))
        ),
        kind=_kind(work),
        notices=united(retracted, marks),
        counts=(("citations", citations),) if isinstance(citations, int) and citations >= 0 else (),
        details=tuple(_details(work)),
    )


def published_on(value: Any, name: str) -> tuple[date | None, bool]:
    """The day of a date whose unknown parts a service fills with 1, and whether only its month can be trusted."""
    day = date_of(value, name, whole=True)
    if day is None or (day.month, day.day) == (1, 1):
        return None, False
    return day, day.day == 1


def abstract_of(index: Any) -> str:
    """The text of an inverted index: each word with the places where it stands, counted from 0."""
    if not isinstance(index, dict):
        return ""
    placed = [
        (place, word)
        for word, places in index.items()
        for place in (places if isinstance(places, list) else ())
        if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(placed))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _dict(value: Any, *path: str) -> Mapping[str, Any]:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _authors(work: Mapping[str, Any]) -> tuple[tuple[str, ...], bool]:
    """Names as the work has them: the other name is that of the person, in whom OpenAlex may be mistaken."""
    listed = _dicts(work.get("authorships"))
    names = [
        name
        for one in listed
        if (name := text_of(one.get("raw_author_name") or _dict(one, "author").get("display_name"), "authorships"))
    ]
    ends = not listed or listed[-1].get("author_position") != "middle"
    cut = work.get("is_authors_truncated") is True or (len(listed) >= _MOST_AUTHORS and not ends)
    return tuple(names), cut


def _identifiers(work: Mapping[str, Any]) -> Iterator[Identifier]:
    ids = _dict(work, "ids")
    yield from identifiers_in([work.get("doi") or ids.get("doi"), ids.get("pmid")])
    for location in _locations(work):
        for identifier in identifiers_in([location.get("landing_page_url"), location.get("pdf_url")]):
            if identifier.scheme is not Scheme.DOI:  # a DOI at another place may be that of a dataset or a translation
                yield identifier


def _locations(work: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*_dicts([work.get("primary_location"), work.get("best_oa_location")]), *_dicts(work.get("locations"))]


def _source_name(work: Mapping[str, Any]) -> str:
    """Where it was published; of a preprint, the server that has it."""
    name = text_of(_dict(work, "primary_location", "source").get("display_name"), "primary_location")
    return "arXiv" if name.lower().startswith("arxiv") else name


def _kind(work: Mapping[str, Any]) -> str:
    """By the type that Crossref has for it, where it does, else by OpenAlex's own."""
    place = _dict(work, "primary_location")
    registered = CROSSREF_KINDS.get(text_of(place.get("raw_type"), "raw_type"))
    given = text_of(work.get("type"), "type")
    kind = registered or (KINDS.get(given, "misc") if given else "")
    return "inproceedings" if kind == "article" and _dict(place, "source").get("type") == "conference" else kind


def _pdfs(work: Mapping[str, Any]) -> Iterator[Link]:
    for location in _locations(work):
        link = link_of("pdf", text_of(location.get("pdf_url"), "pdf_url"))
        if link and location.get("is_oa") is True:
            yield Link(LinkKind.PDF, link.url)


def _details(work: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    source = _dict(work, "primary_location", "source")
    name = _source_name(work)
    if name and source.get("type") in ("journal", "conference", "book series", "ebook platform"):
        yield "journal" if _kind(work) == "article" else "booktitle", name
    biblio = _dict(work, "biblio")
    first, last = (text_of(biblio.get(f"{end}_page"), "biblio") for end in ("first", "last"))
    fields = (
        ("volume", biblio.get("volume")),
        ("number", biblio.get("issue")),
        ("pages", first if last in ("", first) else f"{first}-{last}"),
        ("publisher", source.get("host_organization_name")),
        ("issn", source.get("issn_l")),
        ("language", work.get("language")),
    )
    for name, value in fields:
        if text := text_of(value, name):
            yield name, text
