"""The fields of a BibTeX entry as a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from broadsheet.identifiers import find_identifiers, parse_identifier
from broadsheet.model import Area, Identifier, Link, Record, Scheme, Version
from broadsheet.sources.base import Limits, too_many_authors
from broadsheet.sources.bibtex_names import names_of, shown, sorted_name
from broadsheet.sources.bibtex_syntax import BlockError
from broadsheet.sources.bibtex_text import decoded, month_number, plain_address, unprotect, with_subtitle
from broadsheet.sources.jsonl import derived_title
from broadsheet.sources.values import category_area, code_links, date_of, link_of, month_of, year_of
from broadsheet.text import to_plain
from broadsheet.venues import LONGEST_ACRONYM

_CONTAINERS = ("journal", "journaltitle", "booktitle")
_WHOLE_WORKS = frozenset(("book", "mvbook", "collection", "mvcollection", "proceedings", "periodical", "reference"))
_OTHER_TITLES = ("booktitle", "maintitle", "issuetitle", "journaltitle", "journal")
_CONFERENCE = frozenset(("inproceedings", "conference", "proceedings"))
_ACRONYM = re.compile(r"([A-Za-z][A-Za-z0-9-]*?)[\s-]*(?:['’](\d\d)|(?:19|20)\d\d)")
_PREPRINT = re.compile(r"\s*(?:arxiv\b|corr\b|e-?prints?\b)", re.IGNORECASE)
_ARXIV_PLACES = ("journal", "journaltitle", "howpublished", "number", "eid")
_LINKS = ("url", "link", "pdf", "code", "github", "project", "howpublished", "note")
_DAY = re.compile(r"(?<!\d)(3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d)")
_ADDED = ("date-added", "dateadded", "added-at", "creationdate", "timestamp")
_STAMP = re.compile(r"(\d{4})[.-](\d\d)[.-](\d\d)")
_SCHEMES = {"acl": "acl", "aclid": "acl", "acl_id": "acl", "pmid": "pmid", "pubmed": "pmid", "openreview": "openreview"}
_PLAIN_NAME = re.compile(r"[^{}\\~=]+")


def record_of(kind: str, citekey: str, fields: dict[str, str], limits: Limits) -> Record:
    """The record of an entry; source, key and raw are still to be filled in. Raises BlockError for what is no paper."""
    title = _title(kind, fields)
    abstract = unprotect(fields.get("abstract", ""))
    if not title and not abstract:
        raise BlockError("neither title nor abstract; a paper needs one of the two")
    authors, cut = names_of(fields.get("author", ""))
    if len(authors) > limits.max_authors:
        raise BlockError(too_many_authors(len(authors), limits))
    identifiers, versions = _identifiers(fields)
    published, month_only = _published(fields)
    return Record(
        source="",
        key="",
        raw="",
        title=title or derived_title(abstract),
        title_derived=not title,
        abstract=abstract,
        authors=authors,
        authors_truncated=cut,
        identifiers=identifiers,
        versions=versions,
        areas=_areas(fields, identifiers),
        venue=_venue(kind, fields, identifiers),
        year=_year(fields),
        published=published,
        month_only=month_only,
        links=tuple(dict.fromkeys(_links(fields, abstract))),
        keywords=tuple(dict.fromkeys(_keywords(fields))),
        kind=kind,
        details=tuple(_details(citekey, fields, authors)),
        added=_added(fields),
    )


def _title(kind: str, fields: dict[str, str]) -> str:
    title = unprotect(fields.get("title", ""))
    if not title and kind in _WHOLE_WORKS:
        title = unprotect(next((fields[name] for name in _OTHER_TITLES if name in fields), ""))
    subtitle = unprotect(fields.get("subtitle", ""))
    return with_subtitle(title, subtitle)


# --- identifiers and links


def _identifiers(fields: dict[str, str]) -> tuple[tuple[Identifier, ...], tuple[Version, ...]]:
    found: dict[Identifier, int | None] = {}
    for text in _identifying(fields):
        if parsed := parse_identifier(text):
            found.setdefault(*parsed)
    for name in _ARXIV_PLACES:
        value = fields.get(name, "")
        if "arxiv" in value.lower():
            for identifier in find_identifiers(plain_address(value)):
                if identifier.scheme is Scheme.ARXIV:
                    found.setdefault(identifier, None)
    versions = [Version(number) for i, number in found.items() if number and i.scheme is Scheme.ARXIV]
    return tuple(found), tuple(versions[:1])


def _identifying(fields: dict[str, str]) -> Iterator[str]:
    """Texts each of which may be an identifier as a whole."""
    eprint = plain_address(fields.get("eprint", ""))
    if eprint:
        archive = (fields.get("archiveprefix") or fields.get("eprinttype") or "arxiv").strip().lower()
        if archive in ("arxiv", "") or "arxiv" in eprint.lower():
            yield eprint
        elif archive in ("pubmed", "pmid"):
            yield f"pmid:{eprint}"
    for name in ("doi", "arxiv", "arxivid", "arxiv_id"):
        if name in fields:
            yield plain_address(fields[name])
    for name, scheme in _SCHEMES.items():
        if name in fields:
            yield f"{scheme}:{plain_address(fields[name])}"
    if fields.get("volume", "").startswith("abs/"):  # DBLP: journal = {CoRR}, volume = {abs/1604.03410}
        yield fields["volume"][4:]
    for name in ("url", "link", "note", "howpublished"):
        if name in fields and len(fields[name]) < 300:
            yield plain_address(fields[name])


def _links(fields: dict[str, str], abstract: str) -> Iterator[Link]:
    for name in _LINKS:
        if name in fields and ("http" in fields[name] or "www." in fields[name] or name in ("url", "github")):
            link = link_of(name, plain_address(fields[name]))
            if link:
                yield link
    yield from code_links(abstract)
    yield from code_links(fields.get("note", ""))


def _areas(fields: dict[str, str], identifiers: tuple[Identifier, ...]) -> tuple[Area, ...]:
    given = fields.get("primaryclass") or fields.get("eprintclass")
    if not given or not any(i.scheme is Scheme.ARXIV for i in identifiers):
        return ()
    found = (category_area(word) for word in decoded(given).replace(",", " ").split())
    return tuple(area for area in found if area)


def _keywords(fields: dict[str, str]) -> Iterator[str]:
    for name in ("keywords", "keyword"):
        value = fields.get(name, "")
        for word in re.split(r"\s*;\s*" if ";" in value else r"\s*,\s*", " ".join(value.split())):
            if text := decoded(word):
                yield text


# --- where and when


def _venue(kind: str, fields: dict[str, str], identifiers: tuple[Identifier, ...]) -> str:
    """The venue's short name in lower case where it is given as one, else the name as it is written."""
    if kind in _CONFERENCE and (found := _ACRONYM.fullmatch(decoded(fields.get("series", "")))):
        return found[1].lower()
    given = next((fields[name] for name in _CONTAINERS if name in fields), "")
    name = to_plain(decoded(given))
    if not name or (kind in _WHOLE_WORKS and "title" not in fields):
        return ""
    if _PREPRINT.match(name) and any(i.scheme is Scheme.ARXIV for i in identifiers):
        return ""
    if found := _ACRONYM.fullmatch(name):
        name = found[1]
    short = len(name) <= LONGEST_ACRONYM and " " not in name and sum(map(str.isupper, name)) > 1
    return name.lower() if short else name


def _year(fields: dict[str, str]) -> int | None:
    return year_of(decoded(fields.get("year", ""))) or year_of(fields.get("date", "").lstrip("~ "))


def _published(fields: dict[str, str]) -> tuple[date | None, bool]:
    """The day of publication, or the first of its month and True."""
    begin = fields.get("date", "").split("/")[0].strip().rstrip("~?%")
    if day := date_of(begin, "date"):
        return day, date_of(begin, "date", whole=True) is None
    year, month = _year(fields), decoded(fields.get("month", ""))
    number = month_number(month) or month_of(month)
    if not year or not number:
        return None, False
    given = _DAY.search(fields.get("day", "")) or (_DAY.search(month) if not month_number(month) else None)
    try:
        return (date(year, number, int(given[1])), False) if given else (date(year, number, 1), True)
    except ValueError:  # 31 June
        return date(year, number, 1), True


def _added(fields: dict[str, str]) -> datetime | None:
    """When a reader's program filed the entry; DBLP's ``timestamp`` is when its editors last changed it."""
    of_dblp = "dblp" in fields.get("bibsource", "").lower() or "dblp" in fields.get("biburl", "").lower()
    for name in _ADDED:
        if name in fields and not (of_dblp and name == "timestamp") and (moment := _moment(fields[name])):
            return moment
    return None


def _moment(text: str) -> datetime | None:
    text = re.sub(r"(\d) ([+-]\d{4})$", r"\1\2", text.strip())
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if found := _STAMP.match(text):
            text = "-".join(found.groups())
        try:
            moment = datetime.fromisoformat(text) if found else parsedate_to_datetime(text)
        except ValueError:  # of no known form: it stays in the details
            return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# --- details


def _details(citekey: str, fields: dict[str, str], authors: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if citekey:
        yield "citekey", citekey
    for name, value in fields.items():
        is_more = _OWN_PLACE.get(name)
        if is_more is None or is_more(value, fields, authors):
            yield ("citekey-2" if name == "citekey" else name), value


def _is_more_than_title(value: str, fields: dict[str, str], _: tuple[str, ...]) -> bool:
    return "{" in value or "\\" in value or "subtitle" in fields


def _is_more_than_year(value: str, fields: dict[str, str], _: tuple[str, ...]) -> bool:
    return not re.fullmatch(r"[12]\d{3}", value) or "date" in fields


def _is_more_than_names(value: str, _: dict[str, str], authors: tuple[str, ...]) -> bool:
    """Whether the parts of someone's name cannot be told from the name as it is shown."""
    return "=" in value or not all(map(_is_told_by_what_is_shown, authors))


def _is_told_by_what_is_shown(name: str) -> bool:
    if not _PLAIN_NAME.fullmatch(name):
        return False
    if "," in name:
        return sorted_name(shown(name)) == name
    *given, family = name.split()
    return all(word[0].isupper() for word in given) and sorted_name(name) == ", ".join(
        filter(None, (family, " ".join(given)))
    )


def _never(*_: object) -> bool:
    return False


_OWN_PLACE: dict[str, Callable[[str, dict[str, str], tuple[str, ...]], bool]] = {
    "title": _is_more_than_title,
    "author": _is_more_than_names,
    "year": _is_more_than_year,
    "abstract": _never,
}
"""Fields that have a place of their own in a record, and when they say more than it can hold."""
