"""A JSON object about a paper → ``Record``.

Fields (aliases after the slash; the first that is not empty counts). ``docs/import.md`` says the same at length.

- title; abstract / text / paperAbstract; else a summary that is not the authors' own: summary / gist / tldr; summarised
- authors / author / creators: list of names, of ``{name}`` or ``{first, last}``; or one text; authors_truncated
- venue / venues / conference / journal, else booktitle / container-title; year; status
- published / publication_date / publicationDate / published_month / date; or year with month
- listed / list_date / date_listed / seen_on; ``date`` too in a row with ``hf_names``
- areas / area / primary_area; categories, primary_category (arXiv)
- keywords, tags, manual_tags, automatic_tags
- arxiv_id, arxiv, arxivId, eprint; doi, DOI; pmid, pubmed_id; openreview, openreview_id, forum; acl, acl_id,
  anthology_id; externalIds, identifiers; and what ``id`` and the page and PDF links hold
- links, url, abs, pdf, pdf_url, github, code, project, project_page; repositories that comment or abstract name
- key: id / _id / key / paper_id / paperId / source_id / item
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from hashlib import blake2b
from typing import Any

import orjson

from broadsheet.identifiers import parse_identifier
from broadsheet.model import Area, Identifier, Record, Refusal, Scheme
from broadsheet.sources.base import Limits, Line, too_many_authors
from broadsheet.sources.exported import JUDGED, MARK, exported_judgement, exported_record, told_of_paper
from broadsheet.sources.values import (
    FieldError,
    areas_of,
    authors_of,
    category_area,
    code_links,
    date_of,
    link_of,
    month_of,
    named_links,
    text_of,
    texts_of,
    year_of,
)
from broadsheet.venues import venue_of_acl_id

SCHEME_FIELDS: tuple[tuple[str, Scheme], ...] = (
    ("arxiv_id", Scheme.ARXIV),
    ("arxiv", Scheme.ARXIV),
    ("arxivId", Scheme.ARXIV),
    ("eprint", Scheme.ARXIV),
    ("doi", Scheme.DOI),
    ("DOI", Scheme.DOI),
    ("pmid", Scheme.PMID),
    ("pubmed_id", Scheme.PMID),
    ("openreview", Scheme.OPENREVIEW),
    ("openreview_id", Scheme.OPENREVIEW),
    ("forum", Scheme.OPENREVIEW),
    ("acl", Scheme.ACL),
    ("acl_id", Scheme.ACL),
    ("anthology_id", Scheme.ACL),
)
_EXTERNAL = {"arxiv": Scheme.ARXIV, "doi": Scheme.DOI, "pubmed": Scheme.PMID, "acl": Scheme.ACL}
LINK_FIELDS = ("url", "abs", "pdf", "pdf_url", "github", "code", "project", "project_page")
# Names of links that lead to the paper itself; a project's or a repository's address may name another paper.
_OWN = frozenset(
    ("site", "url", "abs", "page", "html", "oa", "pdf", "pdf_url", "paper", "openreview", "arxiv", "doi", "acl")
)
_OWN_HOST = re.compile(r"arxiv\.org|doi\.org|openreview\.net|aclanthology|aclweb\.org|pubmed|huggingface\.co/papers")
KEY_FIELDS = ("id", "_id", "key", "paper_id", "paperId", "source_id", "item")
KEYWORD_FIELDS = ("keywords", "tags", "manual_tags", "automatic_tags")
# What an id must begin with to be worth the full parser: most files number their papers in their own way.
_ID_LIKE = re.compile(r"arxiv|doi|pmid|acl:|openreview|https?:|10\.|\d{4}\.|[A-Z]\d\d-\d{4}|[a-z.-]+/\d", re.IGNORECASE)
_OWN_ID = re.compile(r"broadsheet-\d+")  # as ``broadsheet export --format jsonl`` numbers papers
_VENUE_YEAR = re.compile(r"([A-Za-z][A-Za-z0-9*-]*?)[\s-]*(?:((?:19|20)\d{2})|['’](\d{2}))")


def digest_of(text: str) -> str:
    """96 bits of BLAKE2b, in hexadecimal."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def derived_title(abstract: str) -> str:
    """The first sentence of an abstract, as a title until a source gives a better one."""
    from broadsheet.text import first_sentence

    return first_sentence(abstract[:2000])


def _first(entry: dict[str, Any], *names: str) -> Any:
    for name in names:
        value = entry.get(name)
        if value or value == 0:
            return value
    return None


_PREFIXES = {Scheme.PMID: "pmid:", Scheme.OPENREVIEW: "openreview:", Scheme.ACL: "acl:"}


def _identifier(text: str, scheme: Scheme) -> Identifier | None:
    """An identifier whose scheme is known from the field's name; one of another scheme counts if it says so itself."""
    if scheme is Scheme.PMID:
        text = text.removesuffix(".0")
    prefix = _PREFIXES.get(scheme)
    parsed = (parse_identifier(prefix + text) if prefix else None) or parse_identifier(text)
    return parsed[0] if parsed else None


def _named_identifiers(entry: dict[str, Any]) -> Iterator[tuple[str, Scheme]]:
    for name, scheme in SCHEME_FIELDS:
        value = entry.get(name)
        if value:
            yield text_of(value, name), scheme
    external = entry.get("externalIds")
    if isinstance(external, dict):
        for name, value in external.items():
            if value and (known := _EXTERNAL.get(name.lower())):
                yield text_of(value, "externalIds"), known


def _identifiers(entry: dict[str, Any], links: list[tuple[str, str]]) -> tuple[Identifier, ...]:
    found: dict[Identifier, None] = {}
    for text, scheme in _named_identifiers(entry):
        if identifier := _identifier(text, scheme):
            found[identifier] = None
    given = entry.get("identifiers")
    plain = [value for value in given if isinstance(value, str)] if isinstance(given, list) else []
    own = entry.get("id")
    if isinstance(own, str) and _ID_LIKE.match(own) and (parsed := parse_identifier(own)):
        found[parsed[0]] = None
    for name, text in links:
        lower = name.lower()
        if lower in ("arxiv", "doi") or (lower in _OWN and _OWN_HOST.search(text)):
            # Most files repeat the arXiv id in two addresses, which need not be parsed again.
            repeated = "arxiv.org/" in text and any(i.value in text for i in found if i.scheme is Scheme.ARXIV)
            if not repeated:
                plain.append(text)
    for text in plain:
        if parsed := parse_identifier(text):
            found[parsed[0]] = None
    return tuple(found)


def _links(entry: dict[str, Any]) -> list[tuple[str, str]]:
    named = list(named_links(entry.get("links")))
    for name in LINK_FIELDS:
        value = entry.get(name)
        if value:
            named.extend(named_links(value, name))
    return named


def _areas(entry: dict[str, Any]) -> Iterator[Area]:
    value = _first(entry, "areas", "area", "primary_area")
    if value is not None:
        yield from areas_of(value)
    primary = entry.get("primary_category")
    categories = [text_of(primary, "primary_category")] if primary else []
    categories.extend(_categories(entry.get("categories")))
    for category in categories:
        if found := category_area(category):
            yield found


def _categories(value: Any) -> Iterator[str]:
    if isinstance(value, str) and not re.search("[,;]", value):
        yield from text_of(value, "categories").split()  # arXiv's own dumps: "cs.LG stat.ML"
    else:
        yield from texts_of(value, "categories")


def _keywords(entry: dict[str, Any]) -> Iterator[str]:
    for name in KEYWORD_FIELDS:
        value = entry.get(name)
        if value:
            # Marks such as a star are a reader's, not the paper's.
            yield from (word for word in texts_of(value, name) if word[0].isalnum())


def _published(entry: dict[str, Any], year: int | None) -> tuple[date | None, bool, int | None]:
    """The day of publication, whether only its month is known, and the year; a date such as "2019" gives that alone."""
    value = _first(entry, "published", "publication_date", "publicationDate", "published_month")
    if value is None and "hf_names" not in entry:  # the date of a Daily Papers row is the day of listing
        value = entry.get("date")
    day = date_of(value, "published")
    if day is None and year and (month := month_of(entry.get("month"))):
        day = date(year, month, 1)
    month_only = day is not None and date_of(value, "published", whole=True) is None
    return day, month_only, year or (day.year if day else year_of(value) if isinstance(value, (str, int)) else None)


def _listed(entry: dict[str, Any]) -> date | None:
    value = _first(entry, "listed", "list_date", "date_listed", "seen_on")
    if value is None and "hf_names" in entry:
        value = entry.get("date")
    return date_of(value, "listed", whole=True)


def _acl_venue(identifiers: tuple[Identifier, ...]) -> str:
    return venue_of_acl_id(next((i.value for i in identifiers if i.scheme is Scheme.ACL), ""))


def _venue(entry: dict[str, Any], identifiers: tuple[Identifier, ...]) -> tuple[str, int | None]:
    """A venue's short name in lower case and the year that stood beside it; longer names as they came.

    A name like ``Oncotarget``, a word and no acronym, is long. Before it knew of preprints, Zotero filed those of arXiv
    as articles of ``arXiv:2401.12345 [cs]``.
    """
    value = _first(entry, "venue", "venues", "conference", "journal")
    if isinstance(value, list):
        value = value[0]
    if isinstance(value, dict) and "name" in value:
        value = value["name"]
    name = text_of(value, "venue")
    if not name:
        book = _first(entry, "booktitle", "container-title")
        name = (_acl_venue(identifiers) or text_of(book, "booktitle")) if book else ""
    year = None
    if match := _VENUE_YEAR.fullmatch(name):
        name, year = match[1], int(match[2]) if match[2] else 2000 + int(match[3])
    if _ID_LIKE.match(name) and (parsed := parse_identifier(name)) and parsed[0].scheme is Scheme.ARXIV:
        return "arxiv", None
    return name if " " in name or name.istitle() else name.lower(), year


def _abstract(entry: dict[str, Any]) -> tuple[str, bool]:
    own = _first(entry, "abstract", "text", "paperAbstract")
    if text := text_of(own, "abstract"):
        return text, False
    text = text_of(_first(entry, "summary", "gist", "tldr"), "summary")
    return text, bool(text)


def _key(entry: dict[str, Any], identifiers: tuple[Identifier, ...], title: str, raw: str) -> str:
    for name in KEY_FIELDS:
        value = entry.get(name)
        text = text_of(value, name) if isinstance(value, (str, int)) else ""
        if text:
            text = text if len(text) <= 200 else digest_of(text)
            # A running number says nothing outside its file: two files of the same name may both have a paper 1.
            return f"{text}#{digest_of(title or raw)[:10]}" if text.isdecimal() else text
    return str(identifiers[0]) if identifiers else digest_of(raw)


def record_of(entry: dict[str, Any], raw: str, source: str, limits: Limits) -> Record:
    """The record of one JSON object. Raises FieldError for what cannot be taken."""
    title = text_of(entry.get("title"), "title")
    abstract, summarised = _abstract(entry)
    if not title and not abstract:
        raise FieldError("neither title nor abstract; a paper needs one of the two")
    authors, cut = authors_of(_first(entry, "authors", "author", "creators"))
    if len(authors) > limits.max_authors:
        raise FieldError(too_many_authors(len(authors), limits))
    named = _links(entry)
    identifiers = _identifiers(entry, named)
    links = [link for name, text in named if (link := link_of(name, text))]
    links.extend(code_links(abstract))
    comment = entry.get("comment")
    if isinstance(comment, str):
        links.extend(code_links(comment))
    venue, venue_year = _venue(entry, identifiers)
    published, month_only, year = _published(entry, year_of(entry.get("year")) or venue_year)
    return Record(
        source=source,
        key=_key(entry, identifiers, title, raw),
        raw=raw,
        title=title or derived_title(abstract),
        abstract=abstract,
        authors=authors,
        identifiers=identifiers,
        areas=tuple(dict.fromkeys(_areas(entry))),
        venue=venue,
        year=year,
        published=published,
        month_only=month_only,
        listed=_listed(entry),
        links=tuple(dict.fromkeys(links)),
        keywords=tuple(dict.fromkeys(_keywords(entry))),
        status=text_of(entry.get("status"), "status"),
        title_derived=not title,
        authors_truncated=cut or entry.get("authors_truncated") is True,
        summarised=summarised or entry.get("summarised") is True,
    )


def _not_json(line: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        return f"not UTF-8 at byte {bad.start + 1} of the line; save the file as UTF-8"
    return f"not JSON ({error.msg} at column {error.colno})"


def parse_entry(line: bytes, *, source: str, where: str, number: int, limits: Limits) -> Line:
    """One line of JSON Lines (or one element of a JSON array) → a record, or why not."""
    try:
        entry = orjson.loads(line)
        if not isinstance(entry, dict):
            kind = "a list" if isinstance(entry, list) else "a text" if isinstance(entry, str) else "a single value"
            return Refusal(where, number, f"{kind}, not an object with the fields of a paper")
        if JUDGED in entry:
            return exported_judgement(entry)
        if MARK in entry:
            return replace(exported_record(entry, limits), line=number)
        record = replace(record_of(entry, line.decode("utf-8").strip(), source, limits), line=number)
        is_own = isinstance(own := entry.get("id"), str) and bool(_OWN_ID.fullmatch(own))
        return replace(record, **told_of_paper(entry)) if is_own else record
    except orjson.JSONDecodeError as error:
        return Refusal(where, number, _not_json(line, error))
    except FieldError as error:
        return Refusal(where, number, str(error))
