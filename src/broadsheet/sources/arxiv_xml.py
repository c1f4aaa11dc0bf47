"""XML documents that are lists of entries (RSS, Atom, OAI-PMH), read so that a fault costs one entry and not the page.

A well-formed document is parsed as a whole. A broken one is cut at its entries, and each is repaired (bare ampersands,
HTML's entities, control characters) and parsed by itself; one that still cannot be read is a refusal with its line.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from html.entities import html5

from lxml import etree

from broadsheet.errors import InputError
from broadsheet.model import Refusal

_XML_OWN = frozenset(("amp", "lt", "gt", "quot", "apos"))
_AMPERSAND = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]*);|(#\d+;|#x[0-9A-Fa-f]+;))?")
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ADDRESSES = re.compile(r'\sxmlns(?::\w+)?\s*=\s*(?:"[^"]*"|\'[^\']*\')')

Element = etree._Element


@dataclass(frozen=True, slots=True)
class Document:
    """The entries of a document, and what stands around them. ``whole``: its end was there to be read."""

    entries: list[Element | Refusal]
    around: str = field(repr=False)
    whole: bool = True

    def field(self, name: str) -> str:
        """The text of the first element of this name outside the entries; empty if there is none."""
        match = re.search(rf"<(?:\w+:)?{name}\b[^>]*(?<!/)>(.*?)</(?:\w+:)?{name}\s*>", self.around, re.DOTALL)
        return html.unescape(_uncovered(match[1])).strip() if match else ""

    def attribute(self, name: str, attribute: str) -> str | None:
        """An attribute of the first element of this name outside the entries; None if there is no such element."""
        match = re.search(rf"<(?:\w+:)?{name}(\s[^>]*)?/?>", self.around)
        if not match:
            return None
        value = re.search(rf"\b{attribute}\s*=\s*[\"']([^\"']*)", match[1] or "")
        return html.unescape(value[1]) if value else ""


def _uncovered(text: str) -> str:
    text = text.strip()
    return text.removeprefix("<![CDATA[").removesuffix("]]>") if text.startswith("<![CDATA[") else text


def read_document(body: bytes, url: str, root: str, entry: str) -> Document:
    """The entries ``entry`` of a document whose outermost element is ``root`` (local names).

    Raises InputError if it is no such document at all.
    """
    text = _decoded(body)
    opening = re.search(rf"<(?:\w+:)?{root}\b[^>]*>", text)
    if not opening:
        shown = " ".join(text[:80].split())
        raise InputError(f"{url}: no {root} document but {shown!r}; ask again later, or look at the address")
    fragment = re.compile(rf"<((?:\w+:)?{entry})(?:\s[^>]*)?>.*?</\1\s*>", re.DOTALL)
    around = fragment.sub("", text)
    try:
        tree = etree.fromstring(body, _parser())
        return Document(list(tree.iter(f"{{*}}{entry}")), around)
    except etree.XMLSyntaxError:
        spaces = "".join(_ADDRESSES.findall(opening[0]))
        found = [_salvaged(match, text, spaces, url) for match in fragment.finditer(text)]
    left = re.search(rf"<(?:\w+:)?{entry}[\s>]", around)
    if left:
        found.append(Refusal(url, text.count("\n") + 1, f"the page ends in the middle of an entry ({len(body)} bytes)"))
    return Document(found, around, bool(re.search(rf"</(?:\w+:)?{root}\s*>\s*$", text)) and not left)


def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)


def _decoded(body: bytes) -> str:
    declared = re.match(rb"""\s*<\?xml[^>]*encoding=["']([\w.-]+)""", body[:200])
    try:
        return body.decode(declared[1].decode("ascii") if declared else "utf-8-sig", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _salvaged(match: re.Match[str], text: str, spaces: str, url: str) -> Element | Refusal:
    line = text.count("\n", 0, match.start()) + 1
    repaired = f"<broken{spaces}>{_repaired(match[0])}</broken>".encode()
    try:
        element = etree.fromstring(repaired, _parser())[0]
    except etree.XMLSyntaxError as error:
        return Refusal(url, line, f"broken XML: {error.msg}")
    element.sourceline = line  # type: ignore[misc]  # the stubs do not know that it can be set
    return element


def _repaired(text: str) -> str:
    return _AMPERSAND.sub(_reference, _CONTROL.sub("", text))


def _reference(match: re.Match[str]) -> str:
    name = match[1]
    if name is None:
        return match[0] if match[2] else "&amp;"
    if name in _XML_OWN:
        return match[0]
    return html5.get(f"{name};") or f"&amp;{name};"


def children(element: Element) -> dict[str, list[Element]]:
    """The elements directly inside, by local name, in order."""
    found: dict[str, list[Element]] = {}
    for child in element:
        if isinstance(child.tag, str):
            found.setdefault(etree.QName(child).localname, []).append(child)
    return found


def text_in(element: Element | None) -> str:
    """All text inside an element, stripped; NUL cannot occur in XML."""
    return "".join(element.itertext()).strip() if element is not None else ""


def first(found: dict[str, list[Element]], name: str) -> str:
    """The text of the first child of this name; empty if there is none."""
    return text_in(found[name][0]) if name in found else ""


def source_of(element: Element) -> str:
    """The XML of an element, as it came but for the spelling of its references."""
    return etree.tostring(element, encoding="unicode", with_tail=False)
