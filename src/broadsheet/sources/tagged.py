"""What the tagged reference formats share: lines, entries with their line numbers, dates, and the record of an entry.

rispy is no part of this: it knows no line numbers, drops what stands between ``ER`` and ``TY`` as well as an entry
without ``ER``, needs the whole file at once, and its tables give names to tags, not their meaning by type. The tests
read with it what ``out_ris`` writes.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from io import BytesIO, StringIO, TextIOWrapper
from typing import NamedTuple, TextIO

from broadsheet.identifiers import parse_identifier
from broadsheet.model import Identifier, Link, Notice, NoticeKind, Record, Refusal, Scheme
from broadsheet.sources.base import Entry, Limits, too_long, too_many_authors
from broadsheet.sources.encodings import decode
from broadsheet.sources.jsonl import derived_title, digest_of
from broadsheet.sources.naming import source_of
from broadsheet.sources.notices import united
from broadsheet.sources.values import link_of, month_of

_LONGEST_ID = 200
_PIECE_BYTES = 1 << 20


def lines_of(data: bytes) -> Iterator[tuple[int, str]]:
    """(number from 1, line without its end) of a file; only CR LF, CR and LF end a line.

    A byte order mark inside the text (of files put one behind the other), NUL and the end-of-file sign of DOS go.
    Memory does not grow with a file in UTF-8.
    """
    for number, line in enumerate(_opened(data), 1):
        text = line.rstrip("\n")
        if not text.isascii() or not text.isprintable():
            text = text.replace("\ufeff", "").replace("\0", "").replace("\x1a", "")
        yield number, text


def _opened(data: bytes) -> TextIO:
    if is_utf8(data):
        return TextIOWrapper(BytesIO(data), "utf-8-sig")
    return StringIO(decode(data)[0], newline=None)


def beginning(head: bytes) -> str:
    """The beginning of a file, to look for signs in it, which are all ASCII: other letters may come out wrong."""
    return re.sub("\r\n?", "\n", head.removeprefix(BOM_UTF8).decode("latin-1"))


def is_utf8(data: bytes) -> bool:
    """Whether the data are UTF-8, and no UTF-16 of ASCII, whose bytes could be both."""
    decoder = getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE_BYTES):
            decoder.decode(data[start : start + _PIECE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return b"\0" not in data[:_PIECE_BYTES]


# --- an entry as it stands in the file --------------------------------------------------------------------------------


class Field:
    """A tag and its value; the lines of a wrapped value are joined by line feeds."""

    __slots__ = ("_parts", "line", "tag")

    def __init__(self, tag: str, value: str, line: int) -> None:
        """A tag that stands at ``line``, with the first line of its value."""
        self.tag = tag
        self.line = line
        self._parts = [value.strip()]

    @property
    def value(self) -> str:
        """The whole value."""
        if len(self._parts) > 1:
            self._parts = ["\n".join(self._parts).strip("\n")]
        return self._parts[0]

    def wrap(self, line: str) -> None:
        """Add a further line."""
        self._parts.append(line.strip())

    def end_before(self, pattern: re.Pattern[str]) -> None:
        """Cut off what a pattern finds, which belongs to the file and not to the value."""
        self._parts = [pattern.sub("", self.value)]


class Block:
    """The lines of one entry. Beyond ``most`` bytes they are counted and not kept."""

    __slots__ = ("_lines", "_most", "fields", "line", "size")

    def __init__(self, line: int, most: int) -> None:
        """An entry that begins at ``line``."""
        self.line = line
        self.fields: list[Field] = []
        self.size = 0
        self._lines: list[str] = []
        self._most = most

    @property
    def raw(self) -> str:
        """The entry as it came, line ends apart."""
        return "\n".join(self._lines).strip("\n")

    def has(self, *tags: str) -> bool:
        """Whether one of the tags has a value."""
        return any(item.value and item.tag in tags for item in self.fields)

    def ends_with(self, *tags: str) -> bool:
        """Whether the last tag so far is one of these."""
        return bool(self.fields) and self.fields[-1].tag in tags

    def keep(self, line: str) -> bool:
        """Add a line to what the entry is as a whole; whether there was room for it."""
        self.size += 1 + (len(line) if line.isascii() else len(line.encode("utf-8", "replace")))
        fits = self.size <= self._most
        if fits:
            self._lines.append(line)
        return fits

    def add(self, tag: str, value: str, number: int, line: str) -> None:
        """Add a tag line."""
        if self.keep(line):
            self.fields.append(Field(tag, value, number))

    def wrap(self, line: str) -> None:
        """Add a line without a tag: more of the last value."""
        if self.keep(line) and self.fields:
            self.fields[-1].wrap(line)

    def extend(self, other: Block) -> None:
        """Add the lines of a block that turned out to belong to this one."""
        self.fields.extend(other.fields)
        self._lines.extend(other._lines)
        self.size += other.size


# --- dates ------------------------------------------------------------------------------------------------------------

_PIECE = re.compile(r"\d+|[^\W\d_]+")


class When(NamedTuple):
    """A date as far as it is known: year, month and day, or less."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def date(self) -> date | None:
        """The day, or the first of the month; None where only the year is known or there is no such day."""
        if self.year is None or self.month is None:
            return None
        try:
            return date(self.year, self.month, self.day or 1)
        except ValueError:
            return None


def when(text: str, year: int | None = None) -> When:
    """A date as reference managers write it; ``year`` is used where the text names none.

    ``2001/09/01/``, ``2016/12//``, ``2019/10//undefined``, ``20160419``, ``2018 May 15``, ``2015 Jul-Aug``, ``JUN 14``,
    ``15 June 2018``, ``2018-05-15T00:00``. Of two numbers before a year (``07/08/2005``), neither is surely the month.
    """
    pieces = _PIECE.findall(text[:60])
    if pieces and len(pieces[0]) == 8 and pieces[0].isdecimal():
        pieces[:1] = [pieces[0][:4], pieces[0][4:6], pieces[0][6:]]
    at = next((i for i, piece in enumerate(pieces) if piece.isdecimal() and len(piece) == 4), None)
    found = year
    if at is not None:
        if 1000 <= int(pieces[at]) < 3000:
            found = int(pieces[at])
        after = pieces[at + 1 : at + 3]
        if (at == 0 and after) or not pieces[:at]:
            return When(found, *_month_and_day(after))
        pieces = pieces[:at]
    names = [piece for piece in pieces if month_of(piece) and not piece.isdecimal()]
    if not names:
        return When(found)
    days = [int(piece) for piece in pieces if piece.isdecimal() and 1 <= int(piece) <= 31]
    return When(found, month_of(names[0]), days[0] if len(names) == 1 and len(days) == 1 else None)


def _month_and_day(pieces: list[str]) -> tuple[int | None, int | None]:
    month = month_of(pieces[0]) if pieces else None
    if month is None or len(pieces) < 2 or not pieces[1].isdecimal() or not 1 <= int(pieces[1]) <= 31:
        return month, None
    return month, int(pieces[1])


def earliest(dates: Iterable[When]) -> tuple[date | None, bool]:
    """The earliest day among dates, else the earliest month as its first; and whether it is only a month."""
    known = [one for one in dates if one.date]
    days = [one.date for one in known if one.day]
    chosen = min((day for day in days if day), default=None)
    if chosen:
        return chosen, False
    months = [one.date for one in known]
    return min((day for day in months if day), default=None), bool(months)


# --- pieces of a value ------------------------------------------------------------------------------------------------

_ISSN = re.compile(r"(?<![\dXx])\d{4}-?\d{3}[\dXx](?![\dXx-])")
_ISBN = re.compile(r"(?<![\dXx])(?:97[89][- ]?)?(?:\d[- ]?){9}[\dXx](?![\dXx])")
_PMC = re.compile(r"(?<![A-Za-z0-9])PMC\d{3,9}(?!\d)", re.IGNORECASE)


_BEHIND_DOI = re.compile(r"(?:\.pdf|/(?:full|fulltext|html|abstract|e?pdf|full/html))(?:\?.*)?$", re.IGNORECASE)
_INITIALS_LAST = re.compile(r"(?P<family>[^,]*[^\W\d_]{2}[^,.]*?) (?P<given>(?:[^\W\d_]\.[ -]?){1,4}|[A-Z]{1,3})")


def with_commas(names: list[str]) -> list[str]:
    """``Adler D.G.`` as ``Adler, D.G.`` where all names of a list are of that form (Embase, Ovid, Web of Science)."""
    found = [_INITIALS_LAST.fullmatch(name) if len(name) < 60 else None for name in names]
    if not all(match and not match["family"].isupper() for match in found):
        return names
    # "Bo LI, Wei WU" are given names and short family names in capitals.
    if not any("." in match["given"] or len(match["given"]) == 1 for match in found if match):
        return names
    return [f"{match['family']}, {match['given']}" for match in found if match]


def one_line(text: str) -> str:
    """A wrapped value on one line."""
    return " ".join(text.split())


_SAME_PAGE = re.compile(r"(\S{1,20})\s*[-–—]+\s*\1")
_NO_PAGES = frozenset(("", "no", "specified", "no specified", "no pagination", "none", "n/a", "-"))


_NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def writable(text: str) -> str:
    """A text for a file of lines: on one line, without control characters, and such that UTF-8 can hold it."""
    return one_line(_SURROGATE.sub("\ufffd", _NOT_TEXT.sub(" ", text)))


def page_range(first: str, last: str) -> str:
    """``97`` and ``105`` as ``97-105``; what is no page (Ovid's "No" and "Specified") is left out."""
    if (same := _SAME_PAGE.fullmatch(first.strip())) and not last:
        first = same[1]
    pages = [page for page in (one_line(first), one_line(last)) if page.lower() not in _NO_PAGES]
    if len(pages) == 2 and pages[0] != pages[1] and not re.search(r"\d\s*[-–—]\s*\w", pages[0]):
        return "-".join(pages)
    return pages[0] if pages else ""


def standard_numbers(text: str) -> tuple[list[str], list[str]]:
    """ISSNs and ISBNs in a text, each once, as they are written."""
    issns: dict[str, str] = {}
    isbns: dict[str, str] = {}
    rest = text
    for found in _ISBN.finditer(text):
        digits = re.sub("[- ]", "", found[0])
        if _ISSN.fullmatch(found[0].split(" ")[0]):  # "1895-5770 1895-5770" are two ISSNs
            continue
        isbns.setdefault(digits.upper(), found[0].strip())
        rest = rest.replace(found[0], " ")
    for found in _ISSN.finditer(rest):
        issns.setdefault(found[0].replace("-", "").upper(), found[0])
    return list(issns.values()), list(isbns.values())


def pmc_id(text: str) -> str:
    """The PubMed Central id in a text, in capitals."""
    found = _PMC.search(text)
    return found[0].upper() if found else ""


_MAY_IDENTIFY = re.compile(
    r"10\.\d{4}|arxiv.*[:/]|pmid|pubmed|openreview|acl(?:anthology|web|:)|huggingface|hf\.co|[a-z-]/\d{7}",
    re.IGNORECASE,
)


def stated_identifier(text: str) -> Identifier | None:
    """The identifier that a whole value is, if it says so itself: a bare number may be anything."""
    text = text.strip()
    if len(text) > 500 or not _MAY_IDENTIFY.search(text):
        return None
    parsed = parse_identifier(text)
    return parsed[0] if parsed else None


_NOTE_MARK = re.compile(
    r"\W*(?:(?P<r>retracted(?: (?:article|publication|paper))?(?=\s*(?:[.,:;(\[<]|$|in\b|by\b|on\b))|retraction in\b)"
    r"|(?P<w>withdrawn(?: (?:article|publication|paper))?(?=\s*(?:[.,:;(\[<]|$|by\b|on\b)))"
    r"|(?P<c>expression of concern(?: in\b|(?=\s*(?:[.:;]|$)))))",
    re.IGNORECASE,
)


def notice_of_note(note: str) -> Notice | None:
    """A note or a publication type that says what became of the paper; a notice *about* another paper says nothing."""
    found = _NOTE_MARK.match(note)
    if not found:
        return None
    kind = NoticeKind.RETRACTED if found["r"] else NoticeKind.WITHDRAWN if found["w"] else NoticeKind.CONCERN
    return Notice(kind, one_line(note))


# --- the record of an entry -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Draft:
    """A record in the making. ``own`` is the entry's own id in its file."""

    title: str = ""
    abstract: str = ""
    authors: list[str] = field(default_factory=list)
    authors_truncated: bool = False
    identifiers: dict[Identifier, None] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    venue: str = ""
    year: int | None = None
    published: date | None = None
    month_only: bool = False
    listed: date | None = None
    kind: str = ""
    notices: list[Notice] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    references: dict[Identifier, None] = field(default_factory=dict)
    own: str = ""

    def detail(self, name: str, *values: str, between: str = "; ") -> None:
        """Set a detail; further values of the same name are put behind the first, each once."""
        told = dict.fromkeys(filter(None, map(str.strip, values)))
        if name in self.details:
            told = dict.fromkeys([*self.details[name].split(between), *told])
        if told:
            self.details[name] = between.join(told)

    def has(self, scheme: Scheme) -> bool:
        """Whether an identifier of the scheme is known."""
        return any(one.scheme is scheme for one in self.identifiers)

    def identify(self, found: Identifier | None) -> None:
        """Add an identifier."""
        if found:
            self.identifiers[found] = None

    def pmid(self, text: str) -> None:
        """Add a PubMed id that stands without its name."""
        parsed = parse_identifier(f"pmid:{text.strip()}")
        if parsed and parsed[0].scheme is Scheme.PMID:
            self.identify(parsed[0])

    def link(self, name: str, url: str) -> None:
        """Add a link; an identifier in it is the paper's own.

        The address of a page at a publisher's may go on behind the DOI, so it is not believed where a DOI is known.
        """
        if url.startswith("//"):
            url = f"https:{url}"
        found_in = stated_identifier(_BEHIND_DOI.sub("", url))
        if found_in and (found_in.scheme is not Scheme.DOI or "doi.org/" in url or not self.has(Scheme.DOI)):
            self.identify(found_in)
        found = link_of(name, url)
        if found:
            self.links.append(found)
        elif url:
            self.detail("file", url)

    def notice(self, found: Notice | None) -> None:
        """Add a notice."""
        if found:
            self.notices.append(found)


class Records:
    """Makes the records of one file, or says why not; keys are unique in it."""

    def __init__(self, name: str, kind: str, limits: Limits) -> None:
        """For the file ``name``, whose records' source is of ``kind``."""
        self._name = name
        self._source = source_of(name, kind)
        self._limits = limits
        self._seen: dict[str, int] = {}

    def refuse(self, line: int, reason: str) -> Refusal:
        """A refusal at a line of the file."""
        return Refusal(self._name, line, reason)

    def of_blocks(self, blocks: Iterable[Block], draft: Callable[[list[Field]], Draft], sign: str) -> Iterator[Entry]:
        """One entry a block; a file without any is one refusal that names a ``sign`` by which an entry begins."""
        found = False
        for block in blocks:
            found = True
            yield self.of(draft(block.fields), block.raw, block.line, block.size)
        if not found:
            yield self.refuse(1, f"no entry found: no line begins with a tag such as '{sign}'")

    def of(self, draft: Draft, raw: str, line: int, size: int = 0) -> Entry:
        """The record of a draft; ``size`` is that of the entry in bytes, where ``raw`` is not all of it."""
        if size > self._limits.max_entry_bytes:
            return self.refuse(line, too_long(size, self._limits))
        if not draft.title and not draft.abstract:
            return self.refuse(line, "neither title nor abstract; a paper needs one of the two")
        if len(draft.authors) > self._limits.max_authors:
            return self.refuse(line, too_many_authors(len(draft.authors), self._limits))
        return Record(
            source=self._source,
            key=self._key(draft),
            raw=raw,
            title=draft.title or derived_title(draft.abstract),
            title_derived=not draft.title,
            abstract=draft.abstract,
            authors=tuple(draft.authors),
            authors_truncated=draft.authors_truncated,
            identifiers=tuple(draft.identifiers),
            links=tuple(dict.fromkeys(draft.links)),
            keywords=tuple(dict.fromkeys(draft.keywords)),
            venue=draft.venue,
            year=draft.year,
            published=draft.published,
            month_only=draft.month_only,
            listed=draft.listed,
            kind=draft.kind,
            notices=united(tuple(draft.notices)),
            counts=tuple(sorted(draft.counts.items())),
            details=tuple(draft.details.items()),
            references=tuple(one for one in draft.references if one not in draft.identifiers),
            line=line,
        )

    def _key(self, draft: Draft) -> str:
        digest = digest_of("\n".join((draft.title or draft.abstract, *draft.authors, str(draft.year))))
        own = one_line(draft.own)
        if len(own) > _LONGEST_ID:
            own = digest_of(own)
        key = own or next(map(str, draft.identifiers), "") or digest
        if own.isdecimal():  # a running number says nothing outside its file
            key = f"{own}#{digest[:10]}"
        if key in self._seen and digest[:10] not in key:
            key = f"{key}#{digest[:10]}"
        count = self._seen[key] = self._seen.get(key, 0) + 1
        if count > 1:  # the very same entry once more
            key = f"{key}#{count}"
            self._seen[key] = 1
        return key
