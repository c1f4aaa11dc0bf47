"""Entries of a large XML file one after the other, in bounded memory, without the network and without entities."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from broadsheet.sources.encodings import decode
from broadsheet.sources.tagged import is_utf8

if TYPE_CHECKING:
    from lxml.etree import _Element

_DECLARED = re.compile(rb"\s*<\?xml[^>]*encoding=[\"'](?!utf-8)", re.IGNORECASE)
_FORBIDDEN = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]));"
)
_MARKS = {
    "i": "i", "italic": "i", "b": "b", "bold": "b", "sup": "sup", "superscript": "sup", "sub": "sub",
    "subscript": "sub", "u": "u", "underline": "u",
}  # fmt: skip


class NotXmlError(Exception):
    """The file is not well-formed; ``line`` is where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def entries(data: bytes, *tags: str) -> Iterator[tuple[_Element, int]]:
    """(element, its line) of each element with one of the tags; those before it are gone when it is given.

    Raises NotXmlError where the file stops being XML; the elements before have been given by then.
    """
    from lxml import etree

    steps = etree.iterparse(
        BytesIO(_readable(data)), events=("end",), tag=tags, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        for _, element in steps:
            yield element, int(element.sourceline or 0)
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]
    except etree.XMLSyntaxError as error:
        raise NotXmlError(f"not well-formed XML ({error.msg}); what came before is kept", error.lineno or 0) from error


def _readable(data: bytes) -> bytes:
    """The data without what stops a parser of XML: bytes that are no UTF-8, and characters that XML cannot hold."""
    if _DECLARED.match(data) or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data
    if not is_utf8(data):
        data = decode(data)[0].encode()
    return _FORBIDDEN.sub(b"", data) if _FORBIDDEN.search(data) else data


def raw_of(element: _Element) -> str:
    """The element as text."""
    from lxml import etree

    return etree.tostring(element, encoding="unicode", with_tail=False)


def text_at(element: _Element, path: str) -> str:
    """The text of the first element at a path, on one line; empty where there is none."""
    found = element.find(path)
    return "" if found is None else plain(found)


def plain(element: _Element) -> str:
    """The text in an element on one line, without marks."""
    return " ".join("".join(map(str, element.itertext())).split())


def marked(element: _Element | None) -> str:
    """The text in an element on one line: italics, scripts and mathematics as HTML tags, which ``text.clean`` reads.

    Where there are tags, or what may look like one, ``<`` and ``&`` of the text itself stay escaped.
    """
    if element is None:
        return ""
    text = plain(element)
    if len(element) == 0 and "<" not in text:
        return text
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: _Element) -> Iterator[str]:
    yield _escaped(element.text)
    for child in element:
        if isinstance(child.tag, str):
            mark = _mark(child)
            opened, closed = (f"<{mark}>", f"</{mark}>") if mark else ("", "")
            yield opened
            yield from _pieces(child)
            yield closed
        yield _escaped(child.tail)


def _mark(element: _Element) -> str:
    """The tag as which an element is written, such as EndNote's ``<style face="italic">``."""
    tag = str(element.tag)
    if "MathML" in tag:
        return tag.rpartition("}")[2]
    return _MARKS.get(str(element.get("face")).split()[0] if tag == "style" else tag, "")


def _escaped(text: str | None) -> str:
    return (text or "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
