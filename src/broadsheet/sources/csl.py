"""CSL-JSON, the bibliographic JSON of citation processors, Zotero and Crossref: an array, or objects one by one.

Specification: https://github.com/citation-style-language/schema (csl-data.json), CSL 1.0.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import orjson

from broadsheet.identifiers import find_identifiers
from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Entry, Limits, too_long, too_many_authors
from broadsheet.sources.cslnames import (
    DATES,
    IN_JOURNAL,
    INSTITUTIONAL,
    KIND_OF,
    NAMES,
    OTHER_TEXTS,
    TEXTS,
)
from broadsheet.sources.encodings import decode
from broadsheet.sources.jsonarray import elements
from broadsheet.sources.jsonl import record_of
from broadsheet.sources.naming import Keys, source_of
from broadsheet.sources.people import kept_apart
from broadsheet.sources.stream import TooLong
from broadsheet.sources.values import FieldError, text_of

NAME = "CSL-JSON"
_LOOKED_AT = 5
_NAME_PARTS = ("family", "given", "literal")
_NUMBERS = ("issue", "number", "collection-number")  # BibLaTeX calls all of them number
_OWN_PLACE = frozenset(
    ("id", "type", "title", "abstract", "author", "issued", "keyword", "DOI", "PMID", "URL", "categories")
)
_NAMED = re.compile(r"\b(?:arXiv|DOI|PMID)\s*:\s*\S+", re.IGNORECASE)


def sniff(head: bytes, name: str) -> bool:
    """Whether the first objects have a CSL type, and names or a date in CSL's form, which no other JSON has."""
    begun = head.lstrip()
    if not begun.startswith((b"[", b"{")):
        return False
    cut = elements([head], len(head), array=begun.startswith(b"["))
    return any(_is_csl(entry) for _, entry in islice(cut, _LOOKED_AT))


def _is_csl(element: bytes | TooLong) -> bool:
    try:
        entry = orjson.loads(element) if isinstance(element, bytes) else None
    except orjson.JSONDecodeError:
        return False
    if not isinstance(entry, dict) or entry.get("type") not in (*KIND_OF, "article"):
        return False
    authors = entry.get("author")
    named = isinstance(authors, list) and any(isinstance(a, dict) and any(p in a for p in _NAME_PARTS) for a in authors)
    issued = entry.get("issued")
    return named or (isinstance(issued, dict) and bool(issued.keys() & {"date-parts", "raw", "literal"}))


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The items as records and refusals."""
    source, keys = source_of(name, "csl"), Keys()
    text = decode(data)[0].encode("utf-8", "replace")
    array = text.lstrip().startswith(b"[")
    for number, element in elements([text], limits.max_entry_bytes, array=array):
        if isinstance(element, TooLong):
            yield Refusal(name, number, too_long(element.size, limits))
            continue
        try:
            entry = orjson.loads(element)
            if not isinstance(entry, dict):
                raise FieldError("not an object, which every item of CSL-JSON is")
            record = _record(entry, element.decode().strip(), source, limits)
            yield replace(record, key=keys.key(_id(entry), record), line=number)
        except orjson.JSONDecodeError as error:
            yield Refusal(name, number, f"not JSON ({error.msg} at column {error.colno})")
        except FieldError as error:
            yield Refusal(name, number, str(error))


def _id(entry: Mapping[str, Any]) -> str:
    value = entry.get("id")
    return text_of(value, "id") if isinstance(value, (str, int)) else ""


def _record(entry: dict[str, Any], raw: str, source: str, limits: Limits) -> Record:
    kind = kind_of(entry)
    fields = {
        "title": _text(entry, "title"),
        "abstract": _text(entry, "abstract"),
        "year": _date_text(entry, "issued"),
        "date": _date_text(entry, "issued"),
        "venue": _text(entry, "container-title"),
        "keywords": _text(entry, "keyword"),
        "doi": _text(entry, "DOI"),
        "pmid": _text(entry, "PMID"),
        "url": _text(entry, "URL"),
        "id": _id(entry),
        "identifiers": [
            str(identifier)
            for variable in ("number", "archive_location", "note")
            for found in _NAMED.findall(_text(entry, variable))
            for identifier in find_identifiers(found)
        ],
    }
    record = record_of(fields, raw, source, limits)
    authors, cut = kept_apart(map(name_text, _list(entry, "author")))
    if len(authors) > limits.max_authors:
        raise FieldError(too_many_authors(len(authors), limits))
    return replace(record, authors=authors, authors_truncated=cut, kind=kind, details=tuple(_details(entry, kind)))


def kind_of(entry: Mapping[str, Any]) -> str:
    """The BibLaTeX type of an item; empty for a type that CSL does not have."""
    given = _text(entry, "type")
    if given == "article":
        return "article" if _text(entry, "container-title") else "online"
    return KIND_OF.get(given, "")


def _text(entry: Mapping[str, Any], variable: str) -> str:
    """A text, of which Crossref makes a list."""
    value = entry.get(variable)
    if isinstance(value, list):
        value = next((item for item in value if item), "")
    return text_of(value, variable)


def _list(entry: Mapping[str, Any], variable: str) -> list[Any]:
    value = entry.get(variable)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FieldError(f"{variable}: must be a list of names")
    return value


def _details(entry: dict[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    """All other variables under BibLaTeX's names, or else their own, in the order of the entry."""
    numbers = [variable for variable in _NUMBERS if _text(entry, variable)]
    for variable, value in entry.items():
        if variable in NAMES:
            text = " and ".join(filter(None, map(name_text, _list(entry, variable))))
        elif variable in DATES:
            text = _date_text(entry, variable)
        elif variable in _OWN_PLACE or not isinstance(value, (str, int, float, list)):
            continue
        else:
            text = _text(entry, variable)
        if text:
            yield ("number" if variable in numbers[:1] else _detail(variable, kind)), text
    own = _id(entry)
    if own and not entry.get("citation-key") and not own.isdecimal() and "://" not in own:
        yield "citekey", own


def _detail(variable: str, kind: str) -> str:
    if variable == "container-title":
        return "journal" if kind in IN_JOURNAL else "booktitle"
    if variable == "publisher":
        return "institution" if kind in INSTITUTIONAL else "publisher"
    known = {**TEXTS, **OTHER_TEXTS, **NAMES, **DATES}
    return known.get(variable) or variable.lower()


def name_text(value: Any) -> str:
    """A name as BibTeX writes it, ``Family, Given`` with particles and suffix; an institution's as it is."""
    if isinstance(value, str):
        return text_of(value, "author")
    if not isinstance(value, dict):
        raise FieldError("author: must be a list of names with `family` and `given`, or `literal`")
    part = {name: text_of(value.get(name), "author") for name in ("family", "given", "suffix", "literal", "name")}
    family = f"{text_of(value.get('non-dropping-particle'), 'author')} {part['family']}".strip()
    given = f"{part['given']} {text_of(value.get('dropping-particle'), 'author')}".strip()
    if not family:
        return part["literal"] or part["name"] or given
    return ", ".join(filter(None, (family, part["suffix"], given)))


def _date_text(entry: Mapping[str, Any], variable: str) -> str:
    """A date or a range as ISO 8601 writes it, as far as it is known; else the text of it."""
    value = entry.get(variable)
    if isinstance(value, str):
        return text_of(value, variable)
    if not isinstance(value, dict):
        return ""
    parts = value.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0] and parts[0][0] is not None:
        return "/".join(_iso(part) for part in parts[:2] if isinstance(part, list) and part)
    return text_of(value.get("raw") or value.get("literal"), variable)


def _iso(parts: list[Any]) -> str:
    numbers = [int(part) for part in parts[:3] if str(part).lstrip("-").isdecimal() and str(part).isascii()]
    return "-".join(f"{number:0{2 if i else 4}d}" for i, number in enumerate(numbers))
