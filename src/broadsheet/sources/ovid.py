"""Ovid's export for people ("Citation"): ``<1>``, then headings at the margin with their values indented below them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.risfields import draft_of
from broadsheet.sources.tagged import Block, Draft, Field, Records, beginning, lines_of, one_line
from broadsheet.sources.values import FieldError

NAME = "Ovid"
_NUMBER = re.compile(r"<(\d{1,9})>\s*$")
_SIGN = re.compile(
    r"^<\d{1,9}>\s*\n(?:[^\n]*\n){0,3}?(?:Authors?|Title|Unique Identifier|Accession Number|Source)\b", re.M
)
_HEADINGS = {
    "author": "AU", "authors": "AU", "title": "TI", "chapter title": "TI", "book title": "T2", "abstract": "AB",
    "year of publication": "PY", "publication date": "DA", "issn": "SN", "isbn": "SN", "doi": "DO", "language": "LA",
    "digital object identifier": "DO", "publisher": "PB", "institution": "AD", "unique identifier": "AN",
    "accession number": "AN", "database": "DB", "url": "UR", "link to the ovid full text or citation": "L2",
    "keyword heading": "KW", "key concepts": "KW", "keywords": "KW", "subject headings": "KW",
    "mesh subject headings": "KW", "publication type": "M3", "editor": "ED", "editors": "ED", "notes": "N1",
}  # fmt: skip
_KINDS = {"book": "BOOK", "edited book": "EDBOOK", "conference paper": "CPAPER", "dissertation": "THES"}
_PAGES = r"(?P<pages>[A-Za-z]?\d[\w]*(?:\s?[-–]\s?[\w]+)?)"
_SOURCES = (
    # A Journal. 28(2):103-106, April 2015.
    re.compile(
        rf"(?P<name>.+?)\.\s+(?P<volume>\w+)(?:\((?P<number>[^)]*)\))?\s*:\s*{_PAGES},\s*(?P<date>.*\d{{4}}.*?)\.?"
    ),
    # A Journal. Vol 28(2) April 2015, 103-106.
    re.compile(
        rf"(?P<name>.+?)\.\s+Vol\.?\s*(?P<volume>\w+)(?:\((?P<number>[^)]*)\))?,?\s+(?P<date>.*?\d{{4}}),\s*{_PAGES}\.?"
    ),
    # An Editor (2015). A Book. (pp. 103-106) X pp. A City: A Publisher
    re.compile(
        rf"(?P<editor>[^()]*?)\s*\((?P<date>\d{{4}})\)\.\s*(?P<book>.+?)\.?\s*(?:\(pp\.?\s*{_PAGES}\)\.?\s*)?"
        r"(?:\b(?P<total>[XVI]+|\d+)\s+pp\.\s*)(?:(?P<city>[^:]+):\s*)?(?P<publisher>.*?)\.?"
    ),
)
_SOURCE_TAGS = {
    "name": "T2", "volume": "VL", "number": "IS", "pages": "SP", "date": "DA", "editor": "ED", "city": "CY",
    "publisher": "PB",
}  # fmt: skip


def sniff(head: bytes, name: str) -> bool:
    """Whether a number in angle brackets stands alone on a line, with one of Ovid's headings near below it."""
    return bool(_SIGN.search(beginning(head)))


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file."""
    records = Records(name, "ovid", limits)
    found = False
    for number, block in _blocks(data, limits.max_entry_bytes):
        found = True
        try:
            draft = _draft(block.fields)
        except FieldError as error:
            yield records.refuse(block.line, str(error))
            continue
        draft.own = draft.own or number
        yield records.of(draft, block.raw, block.line, block.size)
    if not found:
        yield records.refuse(1, "no entry found: no line is a number in angle brackets, such as '<1>'")


def _blocks(data: bytes, most: int) -> Iterator[tuple[str, Block]]:
    block: Block | None = None
    own = ""
    for number, line in lines_of(data):
        if found := _NUMBER.match(line):
            if block:
                yield own, block
            own, block = found[1], Block(number, most)
            block.keep(line)
        elif block and line[:1].strip():
            block.add(line.strip().rstrip(":").lower(), "", number, line)
        elif block:
            block.wrap(line)
    if block:
        yield own, block


def _draft(fields: list[Field]) -> Draft:
    draft = draft_of(_as_ris(fields))
    for item in fields:
        if item.tag not in _HEADINGS and item.tag != "source":
            draft.detail(f"ovid-{'-'.join(re.findall('[a-z0-9]+', item.tag))}", one_line(item.value))
    return draft


def _as_ris(fields: list[Field]) -> Iterator[Field]:
    form = next((one_line(item.value).lower() for item in fields if item.tag == "publication type"), "")
    titled = any(item.tag == "title" and item.value for item in fields)
    chapter = any(item.tag == "chapter title" and item.value for item in fields)
    code = _KINDS.get(form, "JOUR")
    yield Field("TY", "CHAP" if code == "BOOK" and chapter and not titled else code, 0)
    for item in fields:
        tag = _HEADINGS.get(item.tag, "")
        if tag in ("AU", "ED"):
            yield from _names(item, tag)
        elif tag == "TI" and item.tag == "chapter title" and titled:
            yield Field("ST", item.value, item.line)
        elif tag and item.value.strip("- \n"):
            yield Field(tag, item.value, item.line)
        elif item.tag == "source":
            yield from _source(item, titled or chapter)


def _names(item: Field, tag: str) -> Iterator[Field]:
    """Names stand on lines of their own, or two blanks or a semicolon apart; ``[Ed]`` marks an editor."""
    for name in re.split(r"\s{2,}|\n|;", item.value):
        person = re.sub(r"\s*\[Eds?\.?\]", "", name).strip(" .,") + ("." if name.rstrip().endswith(".") else "")
        if person.strip("."):
            yield Field("ED" if "[Ed" in name else tag, person, item.line)


def _source(item: Field, titled: bool) -> Iterator[Field]:
    text = one_line(item.value)
    for pattern in _SOURCES:
        if len(text) < 1000 and (found := pattern.fullmatch(text)):
            for group, value in found.groupdict().items():
                if not value:
                    continue
                if group == "book":
                    yield Field("T2" if titled else "TI", value, item.line)
                elif group in _SOURCE_TAGS:
                    yield Field(_SOURCE_TAGS[group], value, item.line)
            return
    if text:
        yield Field("N1", text, item.line)
