"""The ACL Anthology by its own XML files (https://github.com/acl-org/acl-anthology/tree/master/data/xml).

A collection (``2025.acl.xml``) holds volumes, a volume its ``<meta>``, a ``<frontmatter>`` and its papers. Every
``<paper>`` is one record or one refusal; front matter (``<paper id="0">`` or 1000 in older files) is not a paper. A
file gives the same records whether it is fetched or lies on the disk: the key is the Anthology id.

Markup of titles and abstracts: ``<fixed-case>`` is undone, ``<tex-math>`` becomes ``$…$``, ``<b>`` and ``<i>`` stay as
tags, of all else the text is kept. Authors are given name first; where a family name cannot be told from that,
``details`` has ``author`` as BibTeX writes it. ``<retracted>`` and ``<removed>`` become notices, ``<revision>``
versions. The month of the volume is the month of publication. ``ingest-date`` is left: it is when the Anthology took
the volume in, for most of them decades later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, ClassVar, Self

from lxml import etree

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import (
    Identifier,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Record,
    Refusal,
    Scheme,
    SourceState,
    Version,
)
from broadsheet.sources.answers import cursor_of, validators_in
from broadsheet.sources.base import Entry, Limits, Page, too_long, too_many_authors
from broadsheet.sources.bibtex_names import sorted_name
from broadsheet.sources.values import FieldError, authors_of, code_links, date_of, link_of, month_of, year_of
from broadsheet.venues import venue_of_acl_id

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

NAME = "ACL Anthology XML"
SITE = "https://aclanthology.org"
_RAW = "https://raw.githubusercontent.com/acl-org/acl-anthology/master/data/xml"
_COLLECTION = re.compile(r"\d{4}\.[a-z0-9_]+|[A-Z]\d\d")
_SIGN = re.compile(rb"<collection\s[^>]*\bid\s*=|<volume\s[^>]*\bid\s*=\s*[\"'][A-Z]\d\d[\"']")
_PARTS = re.compile(rb"<(volume|meta|paper)\b")
_ID = re.compile(r"[A-Z]\d\d-\d{4}|\d{4}\.[a-z0-9_]+-[a-z0-9_]+\.\d+")
_STATUSES = {
    "long": "Long",
    "short": "Short",
    "main": "Main",
    "demo": "System Demonstrations",
    "demos": "System Demonstrations",
    "industry": "Industry",
    "srw": "Student Research Workshop",
    "tutorials": "Tutorial",
}
_DETAILS = ("publisher", "address", "month", "isbn", "language", "note", "award")
_NOTICES = {"retracted": NoticeKind.RETRACTED, "removed": NoticeKind.WITHDRAWN, "withdrawn": NoticeKind.WITHDRAWN}
_NO_LIMITS = Limits(max_entry_bytes=10_000_000, max_authors=100_000)

Element = etree._Element


class AclAnthology:
    """One collection. The cursor holds what tells whether the file changed."""

    kind: ClassVar[str] = "acl"
    usage: ClassVar[str] = "acl:COLLECTION, such as acl:2025.acl or acl:P18"

    def __init__(self, collection: str) -> None:
        self.collection = collection
        self.name = f"{self.kind}:{collection}"
        self.every = timedelta(days=7)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A collection by its id: what stands before the first hyphen of its papers' ids."""
        collection = rest.strip().removesuffix(".xml")
        if not _COLLECTION.fullmatch(collection):
            raise SettingsError(f"source acl:{rest}: not a collection of the Anthology. Usage: {cls.usage}")
        return cls(collection)

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The whole file as one page, if it changed."""
        address = f"{_RAW}/{self.collection}.xml"
        try:
            response = client.get(address, validators=validators_in(cursor))
        except FetchError as error:
            if error.status != 404:
                raise
            where = "github.com/acl-org/acl-anthology/tree/master/data/xml"
            raise FetchError(
                f"{self.name}: there is no such collection; all are at {where}", url=address, status=404
            ) from error
        if response.not_modified:
            yield Page(address, b"", cursor, "unchanged", SourceState.QUIET)
        else:
            yield Page(address, response.body, cursor_of(response))

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper."""
        if page.body:
            yield from read(page.url, page.body, _NO_LIMITS)


def sniff(head: bytes, name: str) -> bool:
    """Whether it begins like a collection of the Anthology."""
    return bool(_SIGN.search(head)) and b"<volume" in head


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The papers of a collection in order; see the module. Of a broken file, those that are whole."""
    for line, volume, paper in _papers(name, data):
        if isinstance(paper, str):
            yield Refusal(name, line, paper)
        elif not _is_front_matter(volume, paper):
            try:
                yield _record(volume, paper, limits)
            except FieldError as error:
                yield Refusal(name, line, f"paper {paper.get('id', '?')}: {error}")


def _papers(name: str, data: bytes) -> Iterator[tuple[int, Element, Element | str]]:
    """Line, volume and element of each paper; in place of one that cannot be read, why not."""
    try:
        root = etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        if not sniff(data, name):
            raise InputError(f"{name}: not XML of the ACL Anthology ({error.msg})") from error
        yield from _repaired(data)
        return
    if root.tag not in ("collection", "volume") or not root.get("id"):
        raise InputError(f"{name}: not a file of the ACL Anthology, whose first element is <collection id=…>")
    for volume in [root] if root.tag == "volume" else root.iterfind("volume"):
        for paper in volume.iterfind("paper"):
            yield int(paper.sourceline or 0), volume, paper


def _repaired(data: bytes) -> Iterator[tuple[int, Element, Element | str]]:
    """The papers of a file that is not well-formed, each parsed by itself."""
    opening = re.search(rb"<collection\b[^>]*\bid\s*=\s*[\"']([\w.]+)", data)
    root = etree.Element("collection", id=opening[1].decode()) if opening else None
    volume = etree.Element("volume", id="") if root is None else etree.SubElement(root, "volume", id="")
    starts = [*_PARTS.finditer(data)]
    line, counted = 1, 0
    for i, start in enumerate(starts):
        piece = data[start.start() : starts[i + 1].start() if i + 1 < len(starts) else len(data)]
        line, counted = line + data.count(b"\n", counted, start.start()), start.start()
        tag = start[1].decode()
        whole, closed, _ = piece.partition(f"</{tag}>".encode())
        if tag == "volume":
            empty = _element(re.sub(rb"\s*/?>$", b"/>", piece[: piece.find(b">") + 1]))
            volume = volume if isinstance(empty, str) else empty
            if root is not None:
                root.append(volume)
            continue
        element = _element(whole + closed) if closed else "it is cut off"
        if tag == "paper":
            number = re.search(rb"^<paper\b[^>]*\bid\s*=\s*[\"']([\w.-]+)", piece)
            called = f"paper {number[1].decode() if number else '?'}"
            yield line, volume, f"{called}: not well-formed XML ({element})" if isinstance(element, str) else element
        elif not isinstance(element, str):
            volume.append(element)


def _element(piece: bytes) -> Element | str:
    """The element that a piece of a file is, or why it is none."""
    try:
        return etree.fromstring(piece, _parser())
    except etree.XMLSyntaxError as error:
        return error.msg or "no reason given"


def _parser() -> etree.XMLParser[Element]:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )


def _is_front_matter(volume: Element, paper: Element) -> bool:
    own = paper.get("id", "")
    if volume.getparent() is not None:
        return own == "0"
    return own.endswith("00" if volume.get("id", "").startswith("W") else "000")


def _record(volume: Element, paper: Element, limits: Limits) -> Record:
    raw = etree.tostring(paper, encoding="unicode", with_tail=False)
    if len(raw) > limits.max_entry_bytes // 4 and (size := len(raw.encode())) > limits.max_entry_bytes:
        raise FieldError(too_long(size, limits))
    title, abstract = _markup(paper.find("title")), _markup(paper.find("abstract"))
    if not title:
        raise FieldError("title: missing")
    people = [_person(author) for author in paper.iterfind("author")]
    authors, cut = authors_of([shown for shown, _ in people]) if people else ((), False)
    if len(authors) > limits.max_authors:
        raise FieldError(too_many_authors(len(authors), limits))
    meta = volume.find("meta")
    parent = volume.getparent()
    collection = (volume if parent is None else parent).get("id", "")
    acl_id = _acl_id(collection, volume, paper)
    published, year = _published(meta, paper, collection)
    venue = _venue(meta, acl_id)
    return Record(
        source=AclAnthology.kind,
        key=acl_id,
        raw=raw,
        title=title,
        abstract=abstract,
        authors=authors,
        authors_truncated=cut,
        identifiers=tuple(_identifiers(acl_id, paper)),
        venue=venue,
        year=year,
        published=published,
        month_only=published is not None,
        links=tuple(dict.fromkeys(_links(acl_id, paper, abstract))),
        status="Findings" if venue == "findings" else _STATUSES.get(volume.get("id", ""), ""),
        kind="article" if _is_journal(volume, acl_id) else "inproceedings",
        versions=tuple(_versions(paper)),
        notices=tuple(_notices(paper)),
        details=tuple(_details(volume, paper, people, acl_id)),
    )


# --- text and names


def _markup(element: Element | None) -> str:
    """Text on one line. Where it has tags, or what may look like one, ``<`` and ``&`` of the text stay escaped."""
    if element is None:
        return ""
    text = element.text or ""
    if len(element) == 0 and "<" not in text:
        return " ".join(text.split())
    tagged = element.find(".//b") is not None or element.find(".//i") is not None
    write = _escaped if tagged or "<" in "".join(element.itertext()) else str
    return " ".join("".join(_pieces(element, write)).split())


def _pieces(element: Element, write: Callable[[str], str]) -> Iterator[str]:
    yield write(element.text or "")
    for child in element:
        if child.tag == "tex-math":
            yield f"${write(''.join(child.itertext()))}$"
        elif child.tag in ("b", "i"):
            yield from (f"<{child.tag}>", *_pieces(child, write), f"</{child.tag}>")
        else:
            yield from _pieces(child, write)
        yield write(child.tail or "")


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _text(holder: Element | None, name: str) -> str:
    return _markup(holder.find(name)) if holder is not None else ""


def _person(element: Element) -> tuple[str, str]:
    """A name given name first, and as BibTeX sorts it; both the same for a name without parts."""
    first, last = _text(element, "first"), _text(element, "last")
    if not last:
        whole = first or _markup(element)
        return whole, whole
    return (f"{first} {last}", f"{last}, {first}") if first else (last, last)


def _sorted(people: list[tuple[str, str]]) -> str:
    return " and ".join(f"{{{name}}}" if " and " in name else name for _, name in people)


# --- identity


def _acl_id(collection: str, volume: Element, paper: Element) -> str:
    """The Anthology id: the paper's address if it is one, else put together by the Anthology's rules."""
    address = _text(paper, "url").rsplit("/", 1)[-1].removesuffix(".pdf")
    if _ID.fullmatch(address):
        return address
    number, own = volume.get("id", ""), paper.get("id", "")
    if not re.fullmatch(r"[\w-]+", own, re.ASCII):
        raise FieldError(f"id: {own!r} is none of the Anthology" if own else "id: missing")
    if volume.getparent() is None:  # files before 2019: <volume id="P18"><paper id="1001">
        return f"{collection}-{own:0>4}"
    if collection[:1].isdigit():
        return f"{collection}-{number}.{own}"
    wide = (
        collection[0] == "W" or collection == "C69" or (collection == "D19" and number.isdigit() and int(number) >= 5)
    )
    return f"{collection}-{number:0>2}{own:0>2}" if wide else f"{collection}-{number}{own:0>3}"


def _identifiers(acl_id: str, paper: Element) -> Iterator[Identifier]:
    if found := parse_identifier(f"acl:{acl_id}"):
        yield found[0]
    doi = parse_identifier(_text(paper, "doi"))
    if doi and doi[0].scheme is Scheme.DOI:
        yield doi[0]


def _venue(meta: Element | None, acl_id: str) -> str:
    named = [_markup(venue) for venue in meta.iterfind("venue")] if meta is not None else []
    if venue := next((name for name in named if name and name != "ws"), ""):
        return venue
    return venue_of_acl_id(acl_id)


def _is_journal(volume: Element, acl_id: str) -> bool:
    meta = volume.find("meta")
    told = meta is not None and (meta.find("journal-title") is not None or meta.find("journal-volume") is not None)
    return volume.get("type") == "journal" or told or acl_id[:1] in ("J", "Q")


def _published(meta: Element | None, paper: Element, collection: str) -> tuple[date | None, int | None]:
    """The first of the month of publication, and the year."""
    year = year_of(_text(paper, "year")) or year_of(_text(meta, "year")) or _year_in(collection)
    month = month_of(_text(paper, "month")) or month_of(_text(meta, "month"))
    return (date(year, month, 1) if year and month else None), year


def _year_in(collection: str) -> int | None:
    if collection[:4].isdecimal():
        return year_of(collection[:4])
    digits = collection[1:3]
    return (1900 if int(digits) > 50 else 2000) + int(digits) if len(digits) == 2 and digits.isdecimal() else None


# --- what else is said


def _links(acl_id: str, paper: Element, abstract: str) -> Iterator[Link]:
    yield Link(LinkKind.PAGE, f"{SITE}/{acl_id}/")
    address = _text(paper, "url") or (acl_id if paper.find("pdf") is not None else "")
    if address and (link := link_of("pdf", address if "://" in address else f"{SITE}/{address}.pdf")):
        yield Link(LinkKind.PDF, link.url)
    for code in paper.iterfind("pwccode"):
        if link := link_of("code", code.get("url", "")):
            yield link
    yield from code_links(abstract)


def _versions(paper: Element) -> Iterator[Version]:
    for revision in paper.iterfind("revision"):
        number = revision.get("id", "")
        if number.isdecimal() and 0 < int(number) < 1000:
            yield Version(int(number), date_of(revision.get("date"), "revision", whole=True))


def _notices(paper: Element) -> Iterator[Notice]:
    for tag, kind in _NOTICES.items():
        for element in paper.iterfind(tag):
            yield Notice(kind, _markup(element), date_of(element.get("date"), tag, whole=True))


def _details(volume: Element, paper: Element, people: list[tuple[str, str]], acl_id: str) -> Iterator[tuple[str, str]]:
    meta = volume.find("meta")
    yield from ((name, value) for name, value in _place(volume, paper, acl_id) if value)
    editors = list(paper.iterfind("editor")) or (list(meta.iterfind("editor")) if meta is not None else [])
    if editors:
        yield "editor", _sorted([_person(editor) for editor in editors])
    if any(sorted_name(shown) != name for shown, name in people):
        yield "author", _sorted(people)
    for name in _DETAILS:
        if value := _text(paper, name) or _text(meta, name):
            yield name, value
    for erratum in paper.iterfind("erratum"):
        yield "erratum", f"{SITE}/{_markup(erratum)}.pdf"
    if citekey := _text(paper, "bibkey"):
        yield "citekey", citekey


def _place(volume: Element, paper: Element, acl_id: str) -> Iterator[tuple[str, str]]:
    """Where it appeared: of a journal its title, volume and number, of proceedings their title; and the pages."""
    meta = volume.find("meta")
    book = _text(paper, "booktitle") or _text(meta, "booktitle")
    if _is_journal(volume, acl_id):
        titles = {
            "J": "Computational Linguistics",
            "Q": "Transactions of the Association for Computational Linguistics",
        }
        letter = {"cl": "J", "tacl": "Q"}.get(_venue(meta, acl_id), acl_id[:1])
        title = _text(paper, "journal") or _text(meta, "journal-title") or titles.get(letter, "") or book
        yield "journal", title
        yield "volume", _text(paper, "volume") or _text(meta, "journal-volume")
        yield "number", _text(paper, "issue") or _text(meta, "journal-issue")
    else:
        yield "booktitle", book
    yield "pages", _text(paper, "pages")
