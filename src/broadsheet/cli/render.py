"""Search results and papers as text for a terminal. Everything from a source passes through ``safe``."""

from __future__ import annotations

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Container, Iterable, Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import safe
from broadsheet.identifiers import shown_value
from broadsheet.venues import venue_name

if TYPE_CHECKING:
    from broadsheet.model import Hit, Notice, Paper, Results, StoredRecord

PIPED_WIDTH = 100
SHOWN_AUTHORS = 6

# Stand for the start and end of a highlighted word while text is wrapped; ``safe`` takes them out of a source's text.
_OPEN, _CLOSE = "\x02", "\x03"


class _TextOfHTML(HTMLParser):
    """The words of a snippet, marks kept, mathematics as its TeX where the page has that."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._math: list[str] | None = None
        self._tex: str | None = None
        self._in_tex = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a mark, or begin to collect a formula."""
        if tag == "mark":
            self.parts.append(_OPEN)
        elif tag == "math":
            self._math, self._tex = [], None
        elif tag == "annotation" and dict(attrs).get("encoding") == "application/x-tex":
            self._in_tex = True

    def handle_endtag(self, tag: str) -> None:
        """Close a mark, or put a formula in its place."""
        if tag == "mark":
            self.parts.append(_CLOSE)
        elif tag == "annotation":
            self._in_tex = False
        elif tag == "math" and self._math is not None:
            self.parts.append(f"${self._tex}$" if self._tex else "".join(self._math))
            self._math = None

    def handle_data(self, data: str) -> None:
        """Collect text."""
        text = safe(data)
        if self._in_tex:
            self._tex = text.strip()
        elif self._math is not None:
            self._math.append(text.strip())
        else:
            self.parts.append(text)


def html_to_text(html: str) -> str:
    """One line of text; highlighted words lie between two control characters that ``paint`` turns into colour."""
    parser = _TextOfHTML()
    parser.feed(html)
    parser.close()
    return " ".join("".join(parser.parts).split())


def paint(text: str, *, bold: bool = False) -> str:
    """Highlighted words in colour; on output that is not a terminal click takes the colour out again."""
    after = "\x1b[0;1m" if bold else "\x1b[0m"
    start = "\x1b[1m" if bold else ""
    end = "\x1b[0m" if bold else ""
    return start + text.replace(_OPEN, "\x1b[1;33m").replace(_CLOSE, after) + end


def highlighted(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """``text``, made safe, with marks that ``paint`` turns into colour around spans of characters."""
    marks = sorted(spans)
    parts, at = [], 0
    for first, end in marks:
        start = max(first, at)
        if start < end:
            parts += [safe(text[at:start]), _OPEN, safe(text[start:end]), _CLOSE]
            at = end
    return "".join([*parts, safe(text[at:])])


def width() -> int:
    """Columns to fill: the terminal's, at most 110; a fixed number where there is none."""
    if not sys.stdout.isatty():
        return PIPED_WIDTH
    return max(40, min(shutil.get_terminal_size().columns, 110))


def wrapped(text: str, indent: int) -> str:
    """``text`` in lines with ``indent`` spaces before each; a mark takes no room, a letter of double width twice."""
    columns = width() - indent
    seen = text.replace(_OPEN, "").replace(_CLOSE, "")
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in seen)
    columns = max(20, round(columns * len(seen) / (len(seen) + wide))) if wide else columns
    lines = textwrap.indent(textwrap.fill(seen, columns, break_on_hyphens=False), " " * indent)
    return lines if seen == text else _marked_again(lines, text)


def _marked_again(lines: str, marked: str) -> str:
    """``lines`` with the marks of ``marked``, the same text before it was wrapped: only white space differs."""
    pieces: list[str] = []
    at = 0
    for shown in lines:
        # Up to the next letter, but behind a word only the end of its mark: white space is not marked.
        while at < len(marked) and (marked[at] == _CLOSE if shown.isspace() else marked[at] != shown):
            pieces.append(marked[at].strip())
            at += 1
        pieces.append(shown)
        at += not shown.isspace()
    return "".join([*pieces, *marked[at:].split()])


def authors_line(authors: Sequence[str], truncated: bool = False) -> str:
    """The first authors, and how many more there are."""
    shown = ", ".join(safe(name) for name in authors[:SHOWN_AUTHORS])
    more = len(authors) - SHOWN_AUTHORS
    if more > 0:
        return f"{shown} and {more} more"
    return f"{shown} and others" if truncated and shown else shown


def facts_line(paper: Paper, *, bare_year: bool = True) -> str:
    """Venue and year, areas, identifiers, code: what tells one paper from another.

    Without ``bare_year`` the year stands only beside a venue: among the papers of one day it says nothing.
    """
    year = str(paper.year or "") if paper.venue or bare_year else ""
    venue = " ".join(x for x in (venue_name(paper.venue), year) if x)
    named = (f"{i.scheme}:{shown_value(i)}" for i in paper.identifiers[:2])
    facts = [*dict.fromkeys(map(notice_name, paper.notices)), venue, *map(str, paper.areas[:2]), *named]
    if paper.has_code:
        facts.append("code")
    return safe(" | ".join(fact for fact in facts if fact))


def notice_name(notice: Notice) -> str:
    """What happened to a paper, in capitals: where colours are lacking it must still be seen."""
    return "EXPRESSION OF CONCERN" if notice.kind == "concern" else notice.kind.upper()


def _notice_line(notice: Notice) -> str:
    on = f" on {notice.day.isoformat()}" if notice.day else ""
    return f"{notice_name(notice)}{on}" + (f": {plain_text(notice.reason)}" if notice.reason else "")


def _history(paper: Paper) -> Iterable[str]:
    """Where a paper appeared, if in several places, and its versions, if there are several."""
    places = [place for place in paper.places if place.venue or place.listed]
    if len(places) > 1:
        for place in places:
            at = " ".join(x for x in (venue_name(place.venue or place.source), str(place.year or "")) if x)
            yield f"Appeared: {at}" + (f", listed {place.listed.isoformat()}" if place.listed else "")
    if len(paper.versions) > 1:
        told = (f"v{v.number}" + (f" of {v.day.isoformat()}" if v.day else "") for v in paper.versions)
        yield "Versions: " + ", ".join(told)


def results_lines(results: Results) -> Iterable[str]:
    """A page of results, and how to get the next one."""
    first = (results.page - 1) * results.page_size + 1
    for number, hit in enumerate(results.hits, first):
        yield from hit_lines(hit, number)
    if results.hits:
        yield f"{first:,} to {first + len(results.hits) - 1:,} of {results.total:,}."
    elif results.total:
        yield f"There is no page {results.page}; the last is {results.pages}."
    else:
        yield "Nothing found."
    if results.page < results.pages:
        yield f"For more: --page {results.page + 1}"
    yield from (safe(note) for note in results.notes)


def hit_lines(hit: Hit, number: int) -> Iterable[str]:
    """One result: title, authors, facts, the sentence that matched, and its number for ``show``."""
    title = html_to_text(hit.title_html) or plain_text(hit.paper.title)
    yield paint(wrapped(f"{number}. {title}", 4).removeprefix("    "), bold=True)
    for line in (authors_line(hit.paper.authors, hit.paper.authors_truncated), facts_line(hit.paper)):
        if line:
            yield wrapped(line, 4)
    snippet = html_to_text(hit.snippet)
    if snippet:
        yield paint(wrapped(snippet, 4))
    yield click.style(f"    broadsheet show {hit.paper.id}", dim=True)
    yield ""


def paper_lines(paper: Paper, records: Sequence[StoredRecord], urls: Sequence[str]) -> Iterable[str]:
    """Everything about one paper."""
    yield click.style(wrapped(plain_text(paper.title), 0), bold=True)
    authors = ", ".join(safe(name) for name in paper.authors) + (" and others" if paper.authors_truncated else "")
    if authors:
        yield wrapped(authors, 0)
    facts = facts_line(paper)
    if facts:
        yield wrapped(facts, 0)
    if paper.day:
        day = paper.day.isoformat()
        yield f"{'Listed' if paper.listed else 'Published'} {day[:7] if paper.day_is_month else day}"
    if paper.status:
        yield safe(f"Status: {paper.status}")
    for notice in paper.notices:
        yield wrapped(_notice_line(notice), 0)
    if paper.abstract:
        yield ""
        if paper.summarised:
            yield "Summary (not the authors' abstract):"
        yield wrapped(plain_text(paper.abstract), 0)
    yield ""
    for line in _history(paper):
        yield wrapped(safe(line), 0)
    for title in paper.other_titles:
        yield wrapped(f"Also titled: {plain_text(title)}", 0)
    for url in dict.fromkeys([*urls, *(link.url for link in paper.links)]):
        yield safe(url)
    if paper.related:
        yield "Related: " + ", ".join(f"broadsheet show {other}" for other in paper.related)
    for stored in records:
        yield safe(f"Record {stored.id} from {stored.record.source}: {stored.record.key}")


def cells(text: str) -> int:
    """Columns of a terminal that a text takes: two for a letter of double width."""
    return len(text) + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def cut(text: str, room: int) -> str:
    """``text`` in at most ``room`` columns of a terminal; dots stand for what is left out."""
    if cells(text) <= room:
        return text
    kept = text[: room - 3]
    while cells(kept) > room - 3:
        kept = kept[:-1]
    return f"{kept.rstrip()}..."


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Container[int] = ()) -> list[str]:
    """Lines of a table with a head; the columns ``right`` are set flush right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]

    def cell(at: int, text: str) -> str:
        room = " " * (widths[at] - cells(text))
        return room + text if at in right else text + room

    return ["  ".join(cell(at, text) for at, text in enumerate(line)).rstrip() for line in lines]


def table(rows: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Two columns, the first as wide as its widest cell."""
    kept = list(rows)
    first = max((len(name) for name, _ in kept), default=0)
    return (f"{name:<{first}}  {safe(value)}".rstrip() for name, value in kept)


def plain_text(markup: str) -> str:
    """Markup of a title or abstract as one text that is safe to print."""
    from broadsheet.text import to_plain

    return safe(to_plain(markup))
