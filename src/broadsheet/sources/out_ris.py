"""A paper as an entry of RIS: UTF-8, one line a tag, one author a tag, no tag without a value.

Types and tags are those of the 2011 specification, in the places where EndNote, Zotero, Mendeley and ASReview look for
them (``T2`` for the journal and for the proceedings, ``DO``, ``AB``). What ``ris.read`` kept under ``ris-`` and a tag
goes out under that tag again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from broadsheet.identifiers import url_of
from broadsheet.model import LinkKind, NoticeKind, Paper, Scheme
from broadsheet.sources.bibtex import citation_key
from broadsheet.sources.bibtex_names import is_person, sorted_name
from broadsheet.sources.decoded import decoded
from broadsheet.sources.risfields import CODES, KINDS
from broadsheet.sources.tagged import notice_of_note, writable
from broadsheet.text import to_plain
from broadsheet.venues import venue_name

_DETAILS = (
    ("series", "T3"), ("shortjournal", "J2"), ("volume", "VL"), ("number", "IS"), ("volumes", "NV"), ("eid", "C7"),
    ("edition", "ET"), ("address", "CY"), ("language", "LA"), ("type", "M3"), ("shorttitle", "ST"), ("library", "CN"),
    ("titletranslation", "TT"), ("origtitle", "OP"), ("affiliation", "AD"), ("urldate", "Y2"), ("file", "L1"),
)  # fmt: skip
_ISSUERS = ("publisher", "institution", "school", "organization")
_ROLES = (("editor", "A2"), ("editora", "A3"), ("translator", "A4"))
_NOTICES = {
    NoticeKind.RETRACTED: "Retracted", NoticeKind.WITHDRAWN: "Withdrawn", NoticeKind.CONCERN: "Expression of concern",
}  # fmt: skip
_OWN_TAG = re.compile(r"ris-([a-z][a-z0-9])")
_PAGES = re.compile(r"\s*(?:-+|–|—)\s*")


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """One entry a paper, each with a blank line behind it."""
    for paper in papers:
        yield to_ris(paper)


def to_ris(paper: Paper) -> str:
    """The entry of a paper."""
    return lines_of(tags_of(paper))


def lines_of(tags: Iterable[tuple[str, str]]) -> str:
    """An entry of tags and their values, with its end; empty values are left out."""
    lines: dict[tuple[str, int], None] = {}
    for number, (tag, value) in enumerate(tags):
        if text := writable(value):
            # Two authors may have one name; everything else is said once.
            lines[f"{tag}  - {text}", number if tag == "AU" else 0] = None
    return "\n".join([*(line for line, _ in lines), "ER  - ", "", ""])


def tags_of(paper: Paper) -> Iterator[tuple[str, str]]:
    """The tags of a paper's entry with their values, some of which may be empty; without the end."""
    details = {name: decoded(name, value) for name, value in paper.details}
    yield "TY", type_of(paper)
    yield "ID", details.get("citekey") or citation_key(paper)
    yield "TI", "" if paper.title_derived else to_plain(paper.title)
    for author in paper.authors:
        yield "AU", inverted(author)
    if paper.year or paper.published:
        yield "PY", str(paper.year or (paper.published and paper.published.year))
    if paper.published:
        yield "DA", paper.published.strftime("%Y/%m//" if paper.month_only else "%Y/%m/%d/").rjust(8, "0")
    yield from _container(paper, details)
    yield from _pages(details.get("pages", ""))
    for role, tag in _ROLES:
        for name in details.get(role, "").split(" and "):
            yield tag, name if "," in name else inverted(name)
    for name, tag in _DETAILS:
        yield tag, details.get(name, "")
    yield from _identifiers(paper)
    yield "AB", to_plain(paper.abstract)
    for word in paper.keywords:
        yield "KW", word
    yield from _notes(paper, details)
    for name, value in paper.details:
        if (found := _OWN_TAG.fullmatch(name)) and name not in ("ris-ty", "ris-er"):
            yield found[1].upper(), value


def type_of(paper: Paper) -> str:
    """The type of reference: of the entry type; where that is unknown, of what is known of the venue."""
    details = dict(paper.details)
    own = details.get("ris-ty", "")
    if own and KINDS.get(own, "misc") == paper.kind and own.isalnum():
        return own
    if paper.kind:
        return CODES.get(paper.kind, "GEN")
    if "journal" in details:
        return "JOUR"
    if paper.venue:
        return "CONF"
    return "UNPB" if paper.identifier(Scheme.ARXIV) else "GEN"


def inverted(name: str) -> str:
    """``Family, Given, Suffix``; the name of an institution as it is."""
    if not is_person(name):
        return name
    parts = sorted_name(name).split(", ")
    return ", ".join((parts[0], parts[2], parts[1])) if len(parts) == 3 else ", ".join(parts)


def _container(paper: Paper, details: dict[str, str]) -> Iterator[tuple[str, str]]:
    name = details.get("journal") or details.get("booktitle") or venue_name(paper.venue)
    event = details.get("eventtitle", "")
    if CODES.get(paper.kind) in ("BOOK", "EDBOOK", "RPRT", "COMP", "PAMP", "FIGURE"):
        name = name or details.pop("series", "")
    yield "C3" if event else "T2", name
    yield "T2", event or details.get("department", "")
    yield "PB", next((details[issuer] for issuer in _ISSUERS if details.get(issuer)), "")
    for number in ("issn", "isbn"):
        yield "SN", details.get(number, "")


def _pages(pages: str) -> Iterator[tuple[str, str]]:
    parts = _PAGES.split(pages.strip(), maxsplit=1)
    yield "SP", parts[0]
    if len(parts) == 2:
        yield "EP", parts[1]


def _identifiers(paper: Paper) -> Iterator[tuple[str, str]]:
    doi = paper.identifier(Scheme.DOI)
    yield "DO", doi or ""
    for link in paper.links:
        if link.kind is LinkKind.PAGE:
            yield "UR", link.url
    for identifier in paper.identifiers:
        if identifier.value != doi:
            yield "UR", url_of(identifier)
    for link in paper.links:
        if link.kind is LinkKind.PDF:
            yield "L1", link.url
        elif link.kind is not LinkKind.PAGE:
            yield "L2", link.url


def _notes(paper: Paper, details: dict[str, str]) -> Iterator[tuple[str, str]]:
    lines = details.get("note", "").split("\n")
    told = {found.kind for text in (*lines, details.get("type", "")) if (found := notice_of_note(text))}
    for notice in paper.notices:
        if notice.kind not in told:
            known = notice_of_note(notice.reason)
            word = _NOTICES[notice.kind]
            plain = f"{word}: {notice.reason}" if notice.reason else f"{word}."
            yield "N1", notice.reason if known and known.kind is notice.kind else plain
    for line in lines:
        yield "N1", line
    if "pmcid" in details and not any(details["pmcid"] in link.url for link in paper.links):
        yield "C2", details["pmcid"]
