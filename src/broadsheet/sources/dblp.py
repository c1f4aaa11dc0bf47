"""DBLP: carefully kept names, venues and pages of computer science, by DOI (https://dblp.org/faq/).

One request a paper: ``dblp.org/doi/….xml`` leads to the record. Its format is that of the dump (dblp.dtd).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import quote

from broadsheet.errors import FetchError, InputError
from broadsheet.model import Identifier, Record, Refusal, Scheme
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.enrichment import asked_on, cursor_of, identifiers_in, key_of, names_of
from broadsheet.sources.notices import without_mark
from broadsheet.sources.values import year_of

if TYPE_CHECKING:
    from lxml.etree import _Element

    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

_KINDS = {
    "article": "article",
    "inproceedings": "inproceedings",
    "incollection": "incollection",
    "proceedings": "proceedings",
    "book": "book",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "data": "dataset",
}
_HOMONYM = re.compile(r"\s+\d{4}$")
_NAMED_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)([A-Za-z][A-Za-z0-9]*;)")
_ABS = re.compile(r"abs/(\S+)")
_ANTHOLOGY = re.compile(r"https?://(?:www\.)?aclanthology\.org/|https?://(?:www\.)?aclweb\.org/anthology/")
_DETAILS = ("volume", "number", "pages", "publisher", "series", "isbn", "school", "month", "note")


@dataclass(frozen=True, slots=True)
class Dblp:
    """Records of DBLP by DOI. What it does not have, such as papers without one, it cannot tell."""

    name: ClassVar[str] = "dblp"
    schemes: ClassVar[tuple[Scheme, ...]] = (Scheme.DOI,)
    batch: ClassVar[int] = 20

    @classmethod
    def of(cls, options: Options) -> Self:
        """It needs to know nothing."""
        return cls()

    def fetch(self, client: Client, identifiers: Sequence[Identifier]) -> Iterator[Page]:
        """A page for each paper; one that is not known is no failure."""
        for identifier in identifiers:
            if identifier.scheme is not Scheme.DOI:
                continue
            url = f"https://dblp.org/doi/{quote(identifier.value)}.xml"
            try:
                body, remark = client.get(url).body, ""
            except FetchError as error:
                if error.status not in (404, 410):
                    raise
                body, remark = b"", f"DBLP does not know {identifier}"
            yield Page(url, body, cursor_of([identifier]), remark=remark)

    def parse(self, page: Page) -> Iterator[Entry]:
        """The records of an answer, in practice one."""
        if not page.body.strip():
            return
        asked = asked_on(page)
        for element in _root(page):
            if isinstance(element.tag, str):
                yield _entry(element, page.url, asked)


def _root(page: Page) -> _Element:
    from lxml import etree

    # References by name are declared in a DTD that is not fetched: they are decoded here, once.
    body = _NAMED_REFERENCE.sub(_numbered, page.body)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"{page.url}: the answer is not XML ({error.msg}); try again later") from error
    if str(root.tag) != "dblp":
        raise InputError(f"{page.url}: the answer is no record of DBLP but <{root.tag!s}>; try again later")
    return root


def _numbered(found: re.Match[bytes]) -> bytes:
    text = html.unescape(f"&{found[1].decode('ascii')}")
    known = not text.startswith("&")
    return "".join(f"&#{ord(c)};" for c in text).encode() if known else b"&amp;" + found[1]


def _entry(element: _Element, where: str, asked: Sequence[Identifier]) -> Entry:
    title, notices = without_mark(_title(element))
    if not title:
        return Refusal(where, 0, f"{element.get('key', element.tag)}: no title")
    identifiers = tuple(dict.fromkeys(_identifiers(element)))
    return Record(
        source=Dblp.name,
        key=str(asked[0]) if len(asked) == 1 else key_of(identifiers, asked, element.get("key", "")),
        raw=_source_text(element),
        title=title,
        authors=tuple(_people(element, "author")),
        identifiers=identifiers,
        venue=_venue(element),
        year=year_of(_text(element, "year")),
        kind="online" if _preprint(element) else _KINDS.get(str(element.tag), "misc"),
        notices=notices,
        details=tuple(_details(element)),
    )


def _source_text(element: _Element) -> str:
    from lxml import etree

    return etree.tostring(element, encoding="unicode", with_tail=False)


def _text(element: _Element, name: str) -> str:
    found = element.find(name)
    return " ".join("".join(map(str, found.itertext())).split()) if found is not None else ""


def _title(element: _Element) -> str:
    """With its markup (``<i>``, ``<sub>``), and without the full stop that DBLP puts behind every title."""
    found = element.find("title")
    if found is None:
        return ""
    inner = re.sub(r"^<title[^>]*>|</title>$|^<title[^>]*/>$", "", _source_text(found))
    # What is no markup of DBLP's is text: a "<" in it stays escaped until the text is cleaned.
    return re.sub(r"(?<!\.)\.$", "", " ".join(inner.split()))


def _people(element: _Element, name: str) -> Iterator[str]:
    """Names, without the number that tells namesakes apart (``Wei Wang 0001``)."""
    for found in element.findall(name):
        if person := _HOMONYM.sub("", " ".join("".join(map(str, found.itertext())).split())):
            yield person


def _preprint(element: _Element) -> bool:
    return _text(element, "journal") == "CoRR"


def _venue(element: _Element) -> str:
    return "arXiv" if _preprint(element) else _text(element, "booktitle") or _text(element, "journal")


def _identifiers(element: _Element) -> Iterator[Identifier]:
    """By its addresses, and by the volume of CoRR, which is ``abs/`` and the arXiv id."""
    addresses = [str(found.text or "") for found in element.findall("ee")]
    yield from identifiers_in(addresses)
    if _preprint(element) and (found := _ABS.fullmatch(_text(element, "volume"))):
        yield from identifiers_in([found[1]], "arXiv:")


def _details(element: _Element) -> Iterator[tuple[str, str]]:
    for name in ("journal", "booktitle"):
        if (text := _text(element, name)) and not _preprint(element):
            yield name, text
    for name in _DETAILS:
        if (text := _text(element, name)) and not (name == "volume" and _ABS.fullmatch(text)):
            yield name, text
    if editors := names_of(list(_people(element, "editor"))):
        yield "editor", editors
