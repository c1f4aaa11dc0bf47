"""Papers as CSL-JSON: an array that grows as it is written. ``csl`` reads it back.

Texts hold the little markup that citation processors know (``<i>``, ``<b>``); mathematics stays as ``$…$``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import takewhile
from typing import Any

import orjson

from broadsheet.identifiers import url_of
from broadsheet.model import LinkKind, Paper, Scheme
from broadsheet.sources.bibtex import citation_key
from broadsheet.sources.bibtex_names import is_person, sorted_name
from broadsheet.sources.cslnames import DATES, IN_JOURNAL, KEPT, NAMES, NUMBERED, TEXTS, TYPE_OF
from broadsheet.sources.decoded import decoded
from broadsheet.text.emphasis import split_emphasis
from broadsheet.text.mathtext import dollars, hold_math, release_math
from broadsheet.venues import venue_name

_TEXT_OF = {field: variable for variable, field in TEXTS.items()} | {name.lower(): name for name in KEPT}
_DATE_OF = {field: variable for variable, field in DATES.items()}
_NAMES_OF = {field: variable for variable, field in NAMES.items()}
_PUBLISHERS = ("publisher", "institution", "school", "organization")
_TAGS = {"em": "i", "strong": "b"}


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """The array in pieces, one paper a piece."""
    before = "[\n"
    used: set[str] = set()
    for paper in papers:
        item = item_of(paper)
        if item["id"] in used:  # two papers of a reader's own files may have one key
            item["id"] = citation_key(paper)
        used.add(item["id"])
        yield before + orjson.dumps(item).decode()
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def item_of(paper: Paper) -> dict[str, Any]:
    """A paper as an item; empty variables are left out."""
    details = {name: decoded(name, value) for name, value in paper.details}
    item: dict[str, Any] = {
        "id": details.get("citekey") or citation_key(paper),
        "type": type_of(paper),
        "title": _tagged(paper.title),
        "author": [*map(name_of, paper.authors), *([{"literal": "others"}] if paper.authors_truncated else [])],
        "issued": _issued(paper),
        "container-title": _container(paper, details),
        "abstract": _tagged(paper.abstract),
        "DOI": paper.identifier(Scheme.DOI),
        "PMID": paper.identifier(Scheme.PMID),
        "URL": _url(paper),
        "keyword": "; ".join(paper.keywords),
        "publisher": next((details[name] for name in _PUBLISHERS if details.get(name)), ""),
    }
    item |= _numbers(paper, details)
    details["note"] = _note(paper, details.get("note", ""))
    for field, text in details.items():
        if field in _TEXT_OF:
            item[_TEXT_OF[field]] = text.replace("--", "-") if field == "pages" else text
        elif field in _DATE_OF:
            item[_DATE_OF[field]] = _date(text)
        elif field in _NAMES_OF:
            item[_NAMES_OF[field]] = [name_of(name) for name in text.split(" and ")]
    return {name: value for name, value in item.items() if value}


def type_of(paper: Paper) -> str:
    """The CSL type: of the paper's own type, else of where it appeared; a preprint is an ``article``."""
    kind = paper.kind.lower()
    if kind in ("", "misc", "online", "unpublished") and paper.identifier(Scheme.ARXIV) and not paper.venue:
        return "article"
    if kind in TYPE_OF:
        return TYPE_OF[kind]
    return "paper-conference" if paper.venue else "document"


def _container(paper: Paper, details: dict[str, str]) -> str:
    first, second = ("journal", "booktitle") if paper.kind in IN_JOURNAL else ("booktitle", "journal")
    return details.get(first) or details.get(second) or venue_name(paper.venue)


def _numbers(paper: Paper, details: dict[str, str]) -> dict[str, Any]:
    number = details.get("number", "")
    arxiv = paper.identifier(Scheme.ARXIV)
    if type_of(paper) == "article":
        return {"number": f"arXiv:{arxiv}" if arxiv else number, "publisher": details.get("publisher") or "arXiv"}
    variable = "number" if paper.kind in NUMBERED else "collection-number" if details.get("series") else "issue"
    return {variable: number}


def _note(paper: Paper, note: str) -> str:
    """The note, which Zotero searches for the arXiv number of what has appeared elsewhere."""
    arxiv = paper.identifier(Scheme.ARXIV)
    if not arxiv or type_of(paper) == "article" or arxiv in note:
        return note
    return "\n".join(filter(None, (note, f"arXiv:{arxiv}")))


def _url(paper: Paper) -> str:
    page = next((link.url for link in paper.links if link.kind is LinkKind.PAGE), "")
    return (
        page or (url_of(paper.identifiers[0]) if paper.identifiers else "") or next((li.url for li in paper.links), "")
    )


def _issued(paper: Paper) -> dict[str, Any] | None:
    """The day of publication where it lies in the year of the venue, else that year."""
    day = paper.published
    if day and (paper.year in (None, day.year)):
        return {"date-parts": [_parts(day, paper.month_only)]}
    return {"date-parts": [[paper.year]]} if paper.year else None


def _parts(day: date, month_only: bool) -> list[int]:
    return [day.year, day.month] if month_only else [day.year, day.month, day.day]


def _date(text: str) -> dict[str, Any]:
    """A date or a range in ISO 8601; anything else as it is."""
    parts = [part.split("-") for part in text.split("/")]
    if len(parts) <= 2 and all(piece.isascii() and piece.isdecimal() for part in parts for piece in part):
        return {"date-parts": [list(map(int, part[:3])) for part in parts]}
    return {"raw": text}


def name_of(name: str) -> dict[str, str]:
    """A name in parts: ``Family, Suffix, Given`` as BibTeX has it, or in display order; an institution as a literal."""
    inverted = name if "," in name else sorted_name(name) if is_person(name) else ""
    parts = [part.strip() for part in inverted.split(",")]
    if len(parts) == 1:
        return {"literal": name}
    words = parts[0].split()
    small = list(takewhile(str.islower, words[:-1]))
    named = {
        "non-dropping-particle": " ".join(small),
        "family": " ".join(words[len(small) :]),
        "suffix": parts[1] if len(parts) > 2 else "",
        "given": parts[-1],
    }
    return {part: text for part, text in named.items() if text}


def _tagged(markup: str) -> str:
    """Markup with tags in place of its marks."""
    if not any(sign in markup for sign in "*`$"):
        return markup
    text, held = hold_math(markup)
    return release_math(_spans(text), [dollars(kind, tex) for kind, tex in held])


def _spans(text: str) -> str:
    out = []
    for span in split_emphasis(text):
        tag = _TAGS.get(span.style)
        out.append(f"<{tag}>{_spans(span.text)}</{tag}>" if tag else span.text)
    return "".join(out)
