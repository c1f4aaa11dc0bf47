"""Crossref: what publishers registered with a DOI (https://api.crossref.org, format 1.0).

Updates: on a *notice* stands ``update-to`` with the DOI of the work that it retracts; on the *work* stands
``updated-by`` with the DOI of the notice. A notice is no retracted paper. Some publishers change the work in place:
then its ``update-to`` names itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import quote, urlencode

from broadsheet.errors import FetchError
from broadsheet.identifiers import find_identifiers
from broadsheet.model import Identifier, Link, LinkKind, Notice, NoticeKind, Record, Scheme
from broadsheet.sources.answers import entries_of, fields_of, load_json, raw_of
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.enrichment import asked_on, batches, cursor_of, identifiers_in, key_of, names_of
from broadsheet.sources.notices import united, without_mark
from broadsheet.sources.values import FieldError, link_of, text_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

_API = "https://api.crossref.org/works"
KINDS = {
    "journal-article": "article",
    "proceedings-article": "inproceedings",
    "proceedings": "proceedings",
    "book": "book",
    "monograph": "book",
    "edited-book": "collection",
    "reference-book": "reference",
    "book-chapter": "incollection",
    "book-section": "incollection",
    "book-part": "incollection",
    "book-track": "incollection",
    "reference-entry": "inreference",
    "posted-content": "online",
    "dissertation": "thesis",
    "report": "report",
    "report-component": "report",
    "dataset": "dataset",
    "database": "dataset",
    "journal": "periodical",
    "journal-issue": "periodical",
}
"""Types of Crossref (https://api.crossref.org/types) as BibLaTeX entry types; every other one is ``misc``."""
_UPDATES = {
    "retraction": NoticeKind.RETRACTED,
    "removal": NoticeKind.RETRACTED,
    "withdrawal": NoticeKind.WITHDRAWN,
    "expression_of_concern": NoticeKind.CONCERN,
    "partial_retraction": NoticeKind.CONCERN,  # a part fell, the paper stands
}
_DETAILS = (
    ("volume", "volume"),
    ("number", "issue"),
    ("pages", "page"),
    ("publisher", "publisher"),
    ("address", "publisher-location"),
    ("edition", "edition-number"),
    ("language", "language"),
)
_DATES = ("published-online", "published-print", "published", "issued", "posted")
_HEADING = re.compile(r"\s*<jats:title[^>]*>\s*(?:Abstract|Summary)\s*:?\s*</jats:title>", re.IGNORECASE)
Parts = tuple[int, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Crossref:
    """Publishers' own records by DOI. ``contact`` is the address of whoever asks, for the polite pool."""

    contact: str = ""
    name: ClassVar[str] = "crossref"
    schemes: ClassVar[tuple[Scheme, ...]] = (Scheme.DOI,)
    batch: ClassVar[int] = 50

    @classmethod
    def of(cls, options: Options) -> Self:
        """With the contact address of the settings."""
        return cls(options.contact)

    def fetch(self, client: Client, identifiers: Sequence[Identifier]) -> Iterator[Page]:
        """Ask for all at once; a DOI with a comma, which would end the filter, is asked for by itself."""
        known = [identifier for identifier in identifiers if identifier.scheme is Scheme.DOI]
        plain = [identifier for identifier in known if "," not in identifier.value]
        for part in batches(plain, self.batch):
            wanted = ",".join(f"doi:{identifier.value}" for identifier in part)
            yield self._page(client, _API, {"filter": wanted, "rows": str(len(part))}, part)
        for identifier in known:
            if "," in identifier.value:
                yield self._single(client, identifier)

    def _single(self, client: Client, identifier: Identifier) -> Page:
        url = f"{_API}/{quote(identifier.value, safe='')}"
        try:
            return self._page(client, url, {}, [identifier])
        except FetchError as error:
            if error.status != 404:
                raise
            return Page(url, b"", cursor_of([identifier]), remark=f"Crossref does not know {identifier}")

    def _page(self, client: Client, url: str, query: dict[str, str], asked: Sequence[Identifier]) -> Page:
        answer = client.get(url, params={**query, "mailto": self.contact} if self.contact else query)
        return Page(f"{url}?{urlencode(query)}" if query else url, answer.body, cursor_of(asked))

    def parse(self, page: Page) -> Iterator[Entry]:
        """The works of a list, or the single work."""
        if not page.body:
            return
        asked = asked_on(page)
        works = _works(load_json(page.body, page.url))
        yield from entries_of(page.url, works, lambda work: record_of(work, asked))


def _works(answer: Any) -> list[Any]:
    message = answer.get("message") if isinstance(answer, dict) else None
    if isinstance(message, dict) and isinstance(message.get("items"), list):
        return list(message["items"])
    return [message] if isinstance(message, dict) else []


def record_of(item: Any, asked: Sequence[Identifier] = ()) -> Record:
    """The record of one work. Raises FieldError for what cannot be taken."""
    work = fields_of(item)
    title, marks = without_mark(_title(work))
    if not title:
        raise FieldError("title: missing")
    identifiers = tuple(dict.fromkeys(_identifiers(work)))
    kind = _kind(work)
    first = _first_published(work)
    containers = _containers(work, kind)
    return Record(
        source=Crossref.name,
        key=key_of(identifiers, asked, text_of(work.get("DOI"), "DOI")),
        raw=raw_of(work),
        title=title,
        abstract=_HEADING.sub("", text_of(work.get("abstract"), "abstract")),
        authors=tuple(_people(work, "author")),
        identifiers=identifiers,
        venue=containers[-1] if containers else _server(work),
        year=first[0] if first else None,
        published=date(first[0], first[1], first[2] or 1) if first and first[1] else None,
        month_only=bool(first and first[1] and not first[2]),
        links=tuple(dict.fromkeys(_open_pdfs(work))),
        kind=kind,
        notices=united(tuple(_notices(work)), marks),
        counts=tuple(_counts(work)),
        details=tuple(_details(work, kind, containers)),
        references=tuple(dict.fromkeys(_references(work))),
    )


def _texts(work: Mapping[str, Any], field: str) -> list[str]:
    """Texts of a field that holds a list of them, as nearly all do here."""
    value = work.get(field)
    values = value if isinstance(value, list) else [value]
    return [text for item in values if (text := text_of(item, field))]


def _dicts(work: Mapping[str, Any], field: str) -> list[dict[str, Any]]:
    value = work.get(field)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _title(work: Mapping[str, Any]) -> str:
    """The first title (others are translations) with its subtitle, which publishers register apart."""
    title = next(iter(_texts(work, "title")), "")
    subtitle = next(iter(_texts(work, "subtitle")), "")
    if not title or not subtitle or subtitle.casefold() in title.casefold():
        return title
    return f"{title} {subtitle}" if title.endswith((":", "?", "!", "–", "—")) else f"{title}: {subtitle}"


def _people(work: Mapping[str, Any], field: str) -> Iterator[str]:
    for person in _dicts(work, field):
        parts = (text_of(person.get(part), field) for part in ("given", "family", "suffix"))
        name = " ".join(filter(None, parts)) or text_of(person.get("name"), field)
        if name:
            yield name


def _identifiers(work: Mapping[str, Any]) -> Iterator[Identifier]:
    """Its own DOI, and those of preprint and publication: records of one paper."""
    yield from identifiers_in([work.get("DOI")], "doi:")
    relation = work.get("relation")
    for name in ("is-preprint-of", "has-preprint"):
        for other in _dicts(relation, name) if isinstance(relation, dict) else []:
            prefix = f"{other.get('id-type')}:" if other.get("id-type") in ("doi", "arxiv") else ""
            yield from identifiers_in([other.get("id")], prefix)


def _assertions(work: Mapping[str, Any]) -> dict[str, str]:
    """What Crossmark says of a work; Springer names the conference of a chapter there."""
    return {
        text_of(a.get("name"), "assertion"): text_of(a.get("value"), "assertion") for a in _dicts(work, "assertion")
    }


def _kind(work: Mapping[str, Any]) -> str:
    kind = KINDS.get(text_of(work.get("type"), "type"), "misc")
    # Springer registers the papers of its proceedings as chapters.
    return "inproceedings" if kind == "incollection" and "conference_name" in _assertions(work) else kind


def _containers(work: Mapping[str, Any], kind: str) -> list[str]:
    """Series, if there is one, and journal or book: Springer names both, as in LNCS, "Computer Vision – ECCV 2016"."""
    titles = _texts(work, "container-title")
    return titles[:1] if kind == "article" else titles[:2]


def _server(work: Mapping[str, Any]) -> str:
    """The server of a preprint."""
    if work.get("type") != "posted-content":
        return ""
    return next((name for one in _dicts(work, "institution") if (name := text_of(one.get("name"), "institution"))), "")


def _parts(work: Mapping[str, Any], field: str) -> Parts | None:
    """Year, month and day of a date, as far as they are given and can be."""
    value = work.get(field)
    lists = value.get("date-parts") if isinstance(value, dict) else None
    numbers = lists[0] if isinstance(lists, list) and lists and isinstance(lists[0], list) else []
    year, month, day = (n if isinstance(n, int) else None for n in [*numbers, None, None, None][:3])
    if year is None or not 1000 <= year < 3000:
        return None
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return year, None, None
    return year, month, day if month else None


def _first_published(work: Mapping[str, Any]) -> Parts | None:
    """The earliest of its dates; of two that may be the same day, the more precise one."""
    found = [parts for field in _DATES if (parts := _parts(work, field))]
    if not found and (held := _parts(_event(work), "start")):
        return held[0], None, None
    return min(found, key=lambda parts: (parts[0], parts[1] or 13, parts[2] or 32), default=None)


def _event(work: Mapping[str, Any]) -> Mapping[str, Any]:
    event = work.get("event")
    return event if isinstance(event, dict) else {}


def _day(work: Mapping[str, Any], field: str) -> date | None:
    parts = _parts(work, field)
    return date(parts[0], parts[1], parts[2]) if parts and parts[1] and parts[2] else None


def _notices(work: Mapping[str, Any]) -> Iterator[Notice]:
    own = text_of(work.get("DOI"), "DOI").casefold()
    updates = _dicts(work, "updated-by")
    updates += [u for u in _dicts(work, "update-to") if own and text_of(u.get("DOI"), "update-to").casefold() == own]
    for update in updates:
        kind = _UPDATES.get(text_of(update.get("type"), "updated-by").lower().replace("-", "_").replace(" ", "_"))
        if kind:
            label = text_of(update.get("label"), "updated-by") or kind.value.capitalize()
            doi = text_of(update.get("DOI"), "updated-by")
            notice = f" (https://doi.org/{doi})" if doi and doi.casefold() != own else ""
            yield Notice(kind, f"{label}{notice}", _day(update, "updated"))


def _open_pdfs(work: Mapping[str, Any]) -> Iterator[Link]:
    """PDFs of works under a Creative Commons licence; those of others are for subscribers' machines."""
    if not any("creativecommons.org" in text_of(one.get("URL"), "license") for one in _dicts(work, "license")):
        return
    for link in _dicts(work, "link"):
        url = text_of(link.get("URL"), "link")
        if link.get("content-type") == "application/pdf" and (found := link_of("pdf", url)):
            yield Link(LinkKind.PDF, found.url)


def _counts(work: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    citations = work.get("is-referenced-by-count")
    if isinstance(citations, int) and citations >= 0:
        yield "citations", citations


def _details(work: Mapping[str, Any], kind: str, containers: Sequence[str]) -> Iterator[tuple[str, str]]:
    if containers:
        yield "journal" if kind in ("article", "misc", "online") else "booktitle", containers[-1]
        if len(containers) > 1:
            yield "series", containers[0]
    for name, field in _DETAILS:
        if text := text_of(work.get(field), field):
            yield name, text
    if not work.get("page") and (eid := text_of(work.get("article-number"), "article-number")):
        yield "eid", eid
    for name in ("ISSN", "ISBN"):
        if numbers := _texts(work, name):
            yield name.lower(), ", ".join(dict.fromkeys(number.rsplit("/", 1)[-1] for number in numbers))
    if editors := names_of(list(_people(work, "editor"))):
        yield "editor", editors
    if name := text_of(_event(work).get("name"), "event") or _assertions(work).get("conference_name", ""):
        yield "eventtitle", name


def _references(work: Mapping[str, Any]) -> Iterator[Identifier]:
    for reference in _dicts(work, "reference"):
        if doi := text_of(reference.get("DOI"), "reference"):
            yield from identifiers_in([doi], "doi:")
        elif text := text_of(reference.get("unstructured"), "reference"):
            yield from find_identifiers(text)[:1]
