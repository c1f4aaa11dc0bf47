"""Zotero's RDF export, which is what its export of a folder with files holds, and what Zotero itself reads best.

Only the layout that Zotero writes is read: one element an item, journals and series in it or beside it
(https://github.com/zotero/translators, "Zotero RDF.js"). Other RDF is refused with the remedy. The export has no dates
of adding; Zotero's CSV and its database have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from broadsheet.errors import InputError
from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Entry, Limits, too_long
from broadsheet.sources.columns import Columns
from broadsheet.sources.encodings import decode
from broadsheet.sources.naming import Keys
from broadsheet.sources.tables import entry_of
from broadsheet.sources.xmlentries import plain, raw_of, text_at
from broadsheet.sources.zoterofields import AUTHORS, COLUMNS, LEFT_OUT, Item, listed, name_of

if TYPE_CHECKING:
    from lxml.etree import _Element

NAME = "Zotero RDF"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_Z = "{http://www.zotero.org/namespaces/export#}"
_BIB = "{http://purl.org/net/biblio#}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_PRISM = "{http://prismstandard.org/namespaces/1.2/basic/}"
_FOAF = "{http://xmlns.com/foaf/0.1/}"
_VCARD = "{http://nwalsh.com/rdf/vCard#}"
_FIELDS = {
    f"{_Z}itemType": "itemType",
    f"{_DC}title": "title",
    f"{_TERMS}abstract": "abstractNote",
    f"{_DC}date": "date",
    f"{_TERMS}dateSubmitted": "accessDate",
    f"{_BIB}pages": "pages",
    f"{_PRISM}volume": "volume",
    f"{_PRISM}edition": "edition",
    f"{_DC}description": "extra",
    f"{_DC}type": "type",
    f"{_DC}coverage": "archiveLocation",
    f"{_Z}language": "language",
    f"{_Z}shortTitle": "shortTitle",
    f"{_Z}numPages": "numPages",
    f"{_Z}numberOfVolumes": "numberOfVolumes",
    f"{_Z}archiveLocation": "archiveLocation",
    f"{_Z}citationKey": "citationKey",
}
_IDENTIFIER = re.compile(r"(DOI|ISBN|ISSN)\s+(.+)", re.DOTALL)
_ROOT = re.compile(rb"<(?:\w+:)?RDF[\s>]")


def sniff(head: bytes, name: str) -> bool:
    """Whether it is RDF in XML."""
    return head.lstrip().startswith(b"<") and _ROOT.search(head[:8192]) is not None


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The items as records and refusals. Raises InputError for RDF that is not Zotero's."""
    from lxml import etree

    parser = etree.XMLParser(encoding="utf-8", recover=True, resolve_entities=False, no_network=True, huge_tree=False)
    root = etree.fromstring(decode(data)[0].encode("utf-8", "replace"), parser)
    nodes = [] if root is None else [node for node in root if isinstance(node.tag, str)]
    items = [node for node in nodes if node.find(f"{_Z}itemType") is not None]
    if not items:
        raise InputError(f"{name}: RDF without items of Zotero; export it from there as Zotero RDF, BibTeX or CSV")
    about = {node.get(f"{_RDF}about", ""): node for node in nodes}
    filed = _collections(nodes)
    columns = Columns(list(COLUMNS.values()), name, Keys())
    for node in items:
        if text_at(node, f"{_Z}itemType") not in LEFT_OUT:
            yield _entry(name, columns, node, _item(node, about, filed), limits)
    for error in parser.error_log:
        yield Refusal(name, error.line, f"not well-formed XML ({error.message}); what could be read is kept")
        return


def _entry(name: str, columns: Columns, node: _Element, item: Item, limits: Limits) -> Entry:
    raw = raw_of(node)
    line = int(node.sourceline or 0)
    size = len(raw.encode("utf-8", "replace"))
    if size > limits.max_entry_bytes:
        return Refusal(name, line, too_long(size, limits))
    entry = entry_of(name, columns, (line, item.cells), limits)
    return replace(entry, raw=raw) if isinstance(entry, Record) else entry


def _item(node: _Element, about: dict[str, _Element], filed: dict[str, list[str]]) -> Item:
    own = node.get(f"{_RDF}about", "")
    item = Item("" if own.startswith("#") else own)  # Zotero numbers items anew in each export
    for part in node:
        if not isinstance(part.tag, str):
            continue
        field = _FIELDS.get(part.tag)
        if field:
            item.add(field, plain(part))
        elif part.tag == f"{_DC}identifier":
            _identify(item, part)
        elif part.tag == f"{_DC}subject":
            automatic = part.find(f"{_Z}AutomaticTag/{_RDF}value")
            item.add(
                "manual" if automatic is None else "automatic", listed(plain(part if automatic is None else automatic))
            )
        elif part.tag == f"{_DC}publisher":
            item.add("publisher", text_at(part, f".//{_FOAF}name"))
            item.add("place", text_at(part, f".//{_VCARD}locality"))
        elif part.tag == f"{_TERMS}isPartOf":
            whole = about.get(part.get(f"{_RDF}resource", ""), next(iter(part), None))
            if whole is not None:
                _place(item, whole)
        else:
            _people(item, part)
    kind = next(iter(item.texts("itemType")), "")
    numbers = [plain(number) for number in node.findall(f"{_PRISM}number")]
    for number in numbers:
        item.add("issue" if kind in ("journalArticle", "magazineArticle") else "number", number)
    for path in filed.get(own, ()):
        item.add("collections", path)
    return item


def _identify(item: Item, part: _Element) -> None:
    if part.find(f"{_TERMS}URI") is not None:
        item.add("url", text_at(part, f".//{_RDF}value"))
    elif found := _IDENTIFIER.match(plain(part)):
        item.add(found[1], found[2])


def _place(item: Item, whole: _Element) -> None:
    """A journal or book with its own numbers, or a series."""
    title = text_at(whole, f"{_DC}title")
    if whole.tag == f"{_BIB}Series":
        item.add("series", title)
        item.add("number", text_at(whole, f"{_DC}identifier"))
        return
    item.add("publicationTitle", title)
    item.add("volume", text_at(whole, f"{_PRISM}volume"))
    item.add("issue", text_at(whole, f"{_PRISM}number"))
    item.add("journalAbbreviation", text_at(whole, f"{_TERMS}alternative"))
    for part in whole.findall(f"{_DC}identifier"):
        _identify(item, part)


def _people(item: Item, part: _Element) -> None:
    """``<bib:authors>``, ``<z:programmers>`` and the like."""
    role = str(part.tag).rpartition("}")[2].removesuffix("s")
    for person in part.iterfind(f"{_RDF}Seq/{_RDF}li/{_FOAF}Person"):
        given = text_at(person, f"{_FOAF}givenName") or text_at(person, f"{_FOAF}givenname")
        item.add("author" if role in AUTHORS else role, name_of(text_at(person, f"{_FOAF}surname"), given))


def _collections(nodes: list[_Element]) -> dict[str, list[str]]:
    """The collections of each item."""
    filed: dict[str, list[str]] = {}
    for node in nodes:
        if node.tag == f"{_Z}Collection":
            for part in node.findall(f"{_TERMS}hasPart"):
                filed.setdefault(part.get(f"{_RDF}resource", ""), []).append(listed(text_at(node, f"{_DC}title")))
    return filed
