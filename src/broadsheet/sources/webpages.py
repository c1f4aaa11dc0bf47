"""Web pages that list papers: their tree, elements by class, and words."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from broadsheet.errors import InputError

Element = etree._Element


def tree_of(body: bytes, where: str) -> Element:
    """The outermost element of a page in UTF-8; HTML of any quality. Raises InputError for what holds no element."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"{where}: no web page ({error.msg}); nothing was taken of it") from error
    if root is None:
        raise InputError(f"{where}: no web page; nothing was taken of it")
    return root


def of_class(root: Element, name: str, *tags: str) -> Iterator[Element]:
    """Elements of these kinds that have a class, in order."""
    for element in root.iter(*tags):
        if name in (element.get("class") or "").split():
            yield element


def words_of(element: Element | None) -> str:
    """The text in an element on one line."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""
