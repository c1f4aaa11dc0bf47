"""The copied text of a listing page: areas, titles, author lines and abstracts, told apart by their shape.

A page is a header, then for each paper an optional ``Area · Subarea`` line, an optional title, an optional author line
(cut with 等 or "et al." where it is long), links, and the abstract, with the buttons and counters of the page between.
Where a page has no titles, a paper's title is the first sentence of its abstract, marked as derived.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, auto
from heapq import merge
from itertools import pairwise

from broadsheet.identifiers import parse_identifier
from broadsheet.model import Area, Identifier, Link, Record, Refusal
from broadsheet.sources.base import Entry, Limits, too_long, too_many_authors
from broadsheet.sources.jsonl import derived_title, digest_of
from broadsheet.sources.values import area_of, authors_of, code_links, date_of, link_of

SOURCE = "listing"
"""One source for all pages: the same abstract pasted again, from any page, is the same record."""

_HEADERS = {
    *("论文检索", "论文", "每日论文", "今日论文", "论文日报", "搜索结果"),
    *("papers", "daily papers", "trending papers", "weekly papers", "monthly papers", "new papers", "latest papers"),
    *("today's papers", "search results", "results", "broadsheet"),
}
_BUTTON = re.compile(
    r"(?:load|show|read|view|see)\s+(?:more|all|less|abstract|paper|pdf)"
    r"|next|previous|prev|back|home|menu|search|filters?|sort by.*|log ?in|sign (?:in|up)|share|save|cite|bibtex"
    r"|pdf|html|code|github|arxiv|abstract|paper page|project page|openreview|poster"
    r"|authors?|upvotes?|comments?|new|hot|top|page"
    r"|加载更多|下一页|上一页|查看更多|更多|收藏|分享|摘要|作者|全文|引用"
    r"|(?:submitted|posted|shared) by\b.*|published (?:on|at)\b.*|page \d+(?: of \d+)?",
    re.IGNORECASE,
)
_COUNTER = re.compile(
    r"[\s\d.,:%#+×·|/▲△♥❤★☆👍💬-]*k?"
    r"|[\s·•|-]*[\d.,]+\s*k?\s*"
    r"(?:authors?|upvotes?|votes?|comments?|citations?|likes?|papers?|results?|stars?|views?"
    r"|(?:minutes?|hours?|days?|weeks?|months?)(?: ago)?|篇.*|条.*|人|次.*|赞|评论)?(?:\s*[·•|]\s*.{0,30})?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:title|abstract|authors?|summary|摘要|作者|标题|题目)\s*[:：]\s*", re.IGNORECASE)
_DAY = re.compile(
    r"(?:[a-z]+day,?\s+)?"
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|[a-z]{3,9}\.?\s+\d{1,2},?\s+\d{4}|\d{1,2}\s+[a-z]{3,9}\s+\d{4})",
    re.IGNORECASE,
)
_DOT = re.compile(r"\s[·•]\s")
_AREA = re.compile(r"[^.!?。·•]{2,70}\s[·•]\s[^.!?。·•]{2,90}")
_PARTICLES = {
    *("van", "von", "der", "den", "de", "del", "della", "di", "da", "do", "dos", "das", "du", "la", "le", "el", "al"),
    *("bin", "ibn", "ben", "ten", "ter", "y", "e", "i", "zu", "zur", "af", "av", "st"),
}
_LOWER_WORD = re.compile(r"\b(?:of|for|with|the|in|is|are|that|this|we|which|from|on)\b")
_STOPWORDS = {
    *("of", "for", "with", "the", "in", "via", "from", "on", "to", "using", "by", "is", "are", "a", "an", "as", "at"),
    *("towards", "toward", "under", "beyond"),
}
_CJK = re.compile(r"[\u3400-\u9fff\uac00-\ud7af\u3040-\u30ff]")
_TOKEN = re.compile(r"[^\W\d_][\w.'’`´-]*[*†‡§¶]*")
_SENTENCE_END = re.compile(r"[.!?。！？…]['\"”’)\]$*]*$")
_PROSE = 120
_PROSE_CJK = 60
_LONGEST_AUTHORS = 200_000


class Kind(Enum):
    """What a line of a page is."""

    AREA = auto()
    AUTHORS = auto()
    ABSTRACT = auto()
    LONE = auto()  # a title, a single author, or the page's own words: its neighbours say which
    LINK = auto()
    DAY = auto()
    NOISE = auto()


@dataclass(frozen=True, slots=True)
class Unit:
    """A line, or lines that were one before wrapping; ``line`` counts from 1."""

    kind: Kind
    text: str
    line: int


def _is_name(part: str) -> bool:
    if _CJK.search(part):
        return len(part) <= 12 and not re.search(r"[，。；：]", part)
    tokens = re.sub(r"[\d*†‡§¶,()\s]+$", "", part).split()
    if not 1 <= len(tokens) <= 7 or any(token.lower() in _STOPWORDS for token in tokens):
        return False
    good = [token for token in tokens if _TOKEN.fullmatch(token)]
    # One capital is enough: "jiahao.liang" is no name on a page, "Le bars" is.
    return len(good) == len(tokens) and any(t[0].isupper() for t in tokens if t.lower() not in _PARTICLES)


def _is_authors(text: str) -> bool:
    if len(text) > _LONGEST_AUTHORS or _LOWER_WORD.search(text):
        return False
    names, cut = authors_of(text)
    if len(names) < 2 or not re.search(r"[,;、，；]|\band\b|&|等", text):
        return bool(cut and names and _is_name(names[0]))
    good = [name for name in names if _is_name(name)]
    full = [name for name in good if " " in name or _CJK.search(name)]
    return len(good) >= 0.8 * len(names) and 2 * len(full) >= len(names)


def _looks_single(text: str) -> bool:
    return 2 <= len(text.split()) <= 4 and _is_name(text) and "-" not in text.split(maxsplit=1)[0]


def kind_of(text: str) -> Kind:
    """What a line is, by its own shape alone."""
    if _DAY.fullmatch(text):
        return Kind.DAY
    if len(text) < 80 and all(_COUNTER.fullmatch(part) or _BUTTON.fullmatch(part) for part in _DOT.split(text)):
        return Kind.NOISE
    if parse_identifier(text) or re.fullmatch(r"https?://\S+", text):
        return Kind.LINK
    if len(text) < 160 and _AREA.fullmatch(text):
        return Kind.AREA
    if _is_authors(text):
        return Kind.AUTHORS
    enough = _PROSE_CJK if len(_CJK.findall(text)) > len(text) / 3 else _PROSE
    return Kind.ABSTRACT if len(text) >= enough and re.search(r"[.!?。！？,，]", text) else Kind.LONE


def _joins(before: str, line: str, *, first: bool) -> bool:
    """Whether ``line`` goes on where ``before`` was wrapped: both of a wrapped line's length, and neither a unit."""
    if not (45 <= len(before) <= 160 and line and len(line) <= 160):
        return False
    if first and len(line) > 1.5 * len(before):  # a title over the first line of the abstract
        return False
    return {kind_of(before), kind_of(line)} <= {Kind.LONE, Kind.ABSTRACT}


def _unwrapped(rows: list[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; lines that a mail program or an editor wrapped are joined again."""
    held: list[str] = []
    number = 0
    for n, row in enumerate(rows, 1):
        line = " ".join(row.split())
        if held and _joins(held[-1], line, first=len(held) == 1):
            held.append(line)
            continue
        if held:
            yield number, " ".join(held)
        held, number = [line] if line else [], n
    if held:
        yield number, " ".join(held)


def units_of(rows: list[str]) -> list[Unit]:
    """The units of a page's lines, without blank ones."""
    units: list[Unit] = []
    for number, line in _unwrapped(rows):
        label = _LABEL.match(line)
        body = line[label.end() :] if label else line
        if not body:
            continue
        kind = kind_of(body)
        if label and kind is Kind.LONE and label[0].lower().startswith(("abstract", "摘要", "summary")):
            kind = Kind.ABSTRACT
        elif label and label[0].lower().startswith(("author", "作者")):
            kind = Kind.AUTHORS
        units.append(Unit(kind, body, number))
    return units


def _letters(text: str) -> str:
    """Letters and digits alone, case and width folded. Keys are made of it, so it must stay as it is."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


@dataclass(slots=True)
class _Draft:
    """A paper being put together."""

    line: int = 0
    area: Area | None = None
    title: str = ""
    authors: tuple[str, ...] = ()
    cut: bool = False
    abstract: str = ""
    identifiers: list[Identifier] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)

    def begins_anew(self, kind: Kind) -> bool:
        """Whether a unit of this kind belongs to the next paper."""
        held = {Kind.AREA: self.area, Kind.LONE: self.title, Kind.AUTHORS: self.authors, Kind.ABSTRACT: self.abstract}
        after = {
            Kind.AREA: self.title or self.authors or self.identifiers,
            Kind.LONE: self.authors,
            Kind.AUTHORS: "",
            Kind.ABSTRACT: "",
        }
        return kind in held and bool(held[kind] or after[kind] or self.abstract)


class _Page:
    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.entries: list[Entry] = []
        self.seen: dict[str, int] = {}
        self.listed: date | None = None
        self.draft = _Draft()

    def refuse(self, line: int, reason: str) -> None:
        self.entries.append(Refusal(self.name, line, reason))

    def close(self) -> None:
        """Finish the draft: a record, or a refusal if it is not enough for one."""
        draft, self.draft = self.draft, _Draft()
        if not draft.raw:
            return
        if not draft.abstract and not (draft.title and (draft.authors or draft.identifiers)):
            if draft.authors or draft.title or draft.identifiers:
                self.refuse(draft.line, f"no abstract follows {draft.raw[-1][:60]!r}")
            return  # an area alone is a heading of the page
        if len(draft.authors) > self.limits.max_authors:
            self.refuse(draft.line, too_many_authors(len(draft.authors), self.limits))
        elif (size := len("\n".join(draft.raw).encode("utf-8"))) > self.limits.max_entry_bytes:
            self.refuse(draft.line, too_long(size, self.limits))
        else:
            self.entries.append(self.record(draft))

    def record(self, draft: _Draft) -> Record:
        key = digest_of(_letters(draft.abstract)[:400] or _letters(draft.title))
        count = self.seen[key] = self.seen.get(key, 0) + 1
        return Record(
            source=SOURCE,
            key=key if count == 1 else f"{key}#{count}",
            raw="\n".join(draft.raw),
            title=draft.title or derived_title(draft.abstract),
            abstract=draft.abstract,
            authors=draft.authors,
            identifiers=tuple(dict.fromkeys(draft.identifiers)),
            areas=(draft.area,) if draft.area else (),
            listed=self.listed,
            links=tuple(dict.fromkeys((*draft.links, *code_links(draft.abstract)))),
            title_derived=not draft.title,
            authors_truncated=draft.cut,
        )

    def take(self, unit: Unit) -> None:
        """Add a unit to the draft, or begin the next one."""
        if self.draft.begins_anew(unit.kind):
            self.close()
        draft = self.draft
        draft.line = draft.line or unit.line
        draft.raw.append(unit.text)
        match unit.kind:
            case Kind.AREA:
                draft.area = area_of(unit.text)
            case Kind.LONE:
                draft.title = unit.text
            case Kind.AUTHORS:
                draft.authors, draft.cut = authors_of(unit.text)
            case Kind.ABSTRACT:
                draft.abstract = unit.text
            case _:
                if parsed := parse_identifier(unit.text):
                    draft.identifiers.append(parsed[0])
                if link := link_of("url", unit.text):
                    draft.links.append(link)


def _resolved(units: list[Unit]) -> Iterator[Unit]:
    """The units with every LONE one made a title (LONE), AUTHORS, ABSTRACT or NOISE by what stands next to it."""
    known = [unit for unit in units if unit.kind not in (Kind.NOISE, Kind.DAY)]
    if known and (known[0].text.lower() in _HEADERS or _is_header(known)):
        yield Unit(Kind.NOISE, known[0].text, known[0].line)
        known = known[1:]
    kinds = [unit.kind for unit in known]
    titled = any(a is Kind.LONE and b is Kind.AUTHORS for a, b in pairwise(kinds))
    with_authors = Kind.AUTHORS in kinds
    before: Kind | None = None
    for i, unit in enumerate(known):
        kind = unit.kind
        if kind is Kind.LONE:
            after = [k for k in kinds[i + 1 : i + 6] if k is not Kind.LINK]
            kind = _lone(unit.text, before, after, titled=titled, with_authors=with_authors)
        yield Unit(kind, unit.text, unit.line)
        before = kind if kind is not Kind.LINK else before


def _lone(text: str, before: Kind | None, after: Sequence[Kind], *, titled: bool, with_authors: bool) -> Kind:
    following = after[0] if after else None
    if before is Kind.AUTHORS and _SENTENCE_END.search(text) and len(text) >= 40:
        return Kind.ABSTRACT
    if following is Kind.ABSTRACT and _looks_single(text) and (before is Kind.LONE or (with_authors and not titled)):
        return Kind.AUTHORS
    if following in (Kind.ABSTRACT, Kind.AUTHORS) or list(after[:2]) == [Kind.LONE, Kind.ABSTRACT]:
        return Kind.LONE
    return Kind.NOISE


def _is_header(units: list[Unit]) -> bool:
    """Whether the first line is the page's own: no other paper of the page has a line in that place."""
    if units[0].kind is not Kind.LONE or len(units[0].text) > 60:
        return False
    following = [b for a, b in pairwise(units) if a.kind is Kind.LONE]
    papers = sum(unit.kind is Kind.ABSTRACT for unit in units)
    return (len(following) > 0 and following[0].kind is Kind.AREA) or (len(following) == 1 and papers > 2)


def parse_listing(name: str, text: str, limits: Limits) -> list[Entry]:
    """The papers of a page in order, and refusals for what looked like a part of a paper and was not enough for one."""
    page = _Page(name, limits)
    sound: list[str] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text.replace("\0", "")), 1):
        broken = re.search("[\ud800-\udfff]", line)
        if broken:
            at = len(line[: broken.start()].encode("utf-8", "surrogateescape")) + 1
            page.refuse(number, f"not UTF-8 at byte {at} of the line; save the file as UTF-8")
        sound.append("" if broken else line)
    units = units_of(sound)
    days = [unit for unit in units if unit.kind is Kind.DAY]
    for unit in merge(days, _resolved(units), key=lambda unit: unit.line):
        if unit.kind is Kind.DAY:
            page.close()
            page.listed = date_of(unit.text, "date", whole=True)
        elif unit.kind is not Kind.NOISE:
            page.take(unit)
    page.close()
    return page.entries
