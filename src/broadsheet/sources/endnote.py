"""EndNote's own formats: its import format after Refer (``%0 Journal Article``, files ``.enw``), and its XML.

Tags: EndNote's manual, "Creating a Tagged EndNote Import File". Both say in other signs what RIS says, so their fields
are read as those of RIS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.risfields import draft_of
from broadsheet.sources.tagged import Block, Field, Records, beginning, lines_of
from broadsheet.sources.values import FieldError
from broadsheet.sources.xmlentries import NotXmlError, entries, marked, plain, raw_of

if TYPE_CHECKING:
    from lxml.etree import _Element

NAME = "EndNote"
_TAG = re.compile(r"%(\S)(?:[ \t]+(.*)|)$")
_TAGS = {
    "0": "TY", "A": "AU", "B": "T2", "C": "CY", "D": "PY", "E": "A2", "F": "LB", "G": "LA", "H": "TA", "I": "PB",
    "J": "JF", "K": "KW", "L": "CN", "M": "AN", "N": "IS", "O": "J2", "P": "SP", "Q": "TT", "R": "DO", "S": "T3",
    "T": "TI", "U": "UR", "V": "VL", "W": "DP", "X": "AB", "Y": "A3", "Z": "N1", "1": "C1", "2": "C2", "3": "C3",
    "4": "C4", "5": "C5", "6": "NV", "7": "ET", "8": "DA", "9": "M3", "#": "C6", "$": "C7", "?": "A4", "@": "SN",
    "!": "ST", "&": "SE", "(": "OP", ")": "RP", "*": "RI", "+": "AD", "^": "CA", ">": "L1", "<": "RN", "[": "Y2",
    "~": "DB", "]": "C8",
}  # fmt: skip
_SIGN = re.compile(r"^%0[ \t]+\S", re.MULTILINE)
_REFER = re.compile(r"^%([ATJDVXBI])[ \t]+\S", re.MULTILINE)
_XML = re.compile(rb"<xml>\s*<records>|<records>\s*<record>|<source-app\s[^>]*name=\"EndNote\"")
_ELEMENTS = {
    "contributors/authors/author": "AU", "contributors/secondary-authors/author": "A2",
    "contributors/tertiary-authors/author": "A3", "contributors/subsidiary-authors/author": "A4",
    "contributors/translated-authors/author": "TA", "auth-address": "AD", "titles/title": "TI",
    "titles/secondary-title": "T2", "titles/tertiary-title": "T3", "titles/alt-title": "J2", "titles/short-title": "ST",
    "titles/translated-title": "TT", "periodical/full-title": "JF", "periodical/abbr-1": "JA", "pages": "SP",
    "volume": "VL", "number": "IS", "num-vols": "NV", "edition": "ET", "section": "SE", "reprint-edition": "RP",
    "reprint-status": "RP", "keywords/keyword": "KW", "dates/year": "PY", "dates/pub-dates/date": "DA",
    "pub-location": "CY", "publisher": "PB", "isbn": "SN", "accession-num": "AN", "abstract": "AB", "notes": "N1",
    "research-notes": "RN", "urls/related-urls/url": "UR", "urls/web-urls/url": "UR", "urls/pdf-urls/url": "L1",
    "urls/text-urls/url": "L2", "electronic-resource-num": "DO", "language": "LA", "work-type": "M3", "label": "LB",
    "caption": "CA", "call-num": "CN", "orig-pub": "OP", "reviewed-item": "RI", "remote-database-name": "DB",
    "remote-database-provider": "DP", "access-date": "Y2", "rec-number": "ID",
    **{f"custom{number}": f"C{number}" for number in range(1, 9)},
}  # fmt: skip
_MARKED = frozenset(("TI", "AB", "ST", "TT"))


def sniff(head: bytes, name: str) -> bool:
    """Whether there is a type of reference (``%0``), or three different tags of Refer, or EndNote's XML."""
    if _is_xml(head):
        return _XML.search(head) is not None
    text = beginning(head)
    return bool(_SIGN.search(text)) or len(set(_REFER.findall(text))) >= 3


def _is_xml(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file."""
    records = Records(name, "endnote", limits)
    found = False
    for entry in _xml_entries(data, records) if _is_xml(data[:1024]) else _tagged_entries(data, records, limits):
        found = True
        yield entry
    if not found:
        yield records.refuse(1, "no entry found: neither a line such as '%0 Journal Article' nor an element record")


def _tagged_entries(data: bytes, records: Records, limits: Limits) -> Iterator[Entry]:
    for block in _blocks(data, limits.max_entry_bytes):
        try:
            yield records.of(draft_of(block.fields), block.raw, block.line, block.size)
        except FieldError as error:
            yield records.refuse(block.line, str(error))


def _blocks(data: bytes, most: int) -> Iterator[Block]:
    """Entries begin with ``%0``; in a file of Refer, which has none, or where it is missing, behind a blank line."""
    block: Block | None = None
    gap = True
    for number, line in lines_of(data):
        found = _TAG.match(line)
        tag = _TAGS.get(found[1], "") if found else ""
        if not found or not tag:
            gap = gap or not line.strip()
            if block:
                block.wrap(line)
            continue
        if block and (tag == "TY" or (gap and block.has(tag) and tag in ("AU", "TI"))):
            yield block
            block = None
        block = block or Block(number, most)
        block.add(tag, found[2] or "", number, line)
        gap = False
    if block:
        yield block


def _xml_entries(data: bytes, records: Records) -> Iterator[Entry]:
    try:
        for element, line in entries(data, "record"):
            raw = raw_of(element)
            try:
                yield records.of(draft_of(_fields(element, line)), raw, line, len(raw.encode()))
            except FieldError as error:
                yield records.refuse(line, str(error))
    except NotXmlError as error:
        yield records.refuse(error.line, str(error))


def _fields(record: _Element, line: int) -> Iterator[Field]:
    kind = record.find("ref-type")
    if kind is not None:
        yield Field("TY", kind.get("name") or plain(kind), line)
    for path, tag in _ELEMENTS.items():
        for element in record.iterfind(path):
            yield Field(tag, marked(element) if tag in _MARKED else plain(element), line)
