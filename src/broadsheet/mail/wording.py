"""What mail, print and web hooks say of an edition: plain, short, in one line. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import quote, urlsplit

from broadsheet.errors import SettingsError
from broadsheet.identifiers import url_of
from broadsheet.mail.formulas import as_text, marked_line
from broadsheet.model import LinkKind, NoticeKind, Paper, PaperId, Scheme
from broadsheet.model.reading import Edition, Entry, Section, SectionKind
from broadsheet.text import shortened
from broadsheet.venues import venue_name

NAME = "Broadsheet"
LONGEST_SITE = 300  # characters of an address, so that links made with it fit into a mail's header
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_TITLE, _LINE, _NOTE, _WHY = 300, 160, 300, 200  # characters
_MARKUP = 20  # characters of markup for one that is shown, at the most
_AUTHORS, _AREAS, _REASONS, _NOTES = 6, 3, 3, 8
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_NOTICES = {
    NoticeKind.RETRACTED: "Retracted",
    NoticeKind.WITHDRAWN: "Withdrawn",
    NoticeKind.CONCERN: "Expression of concern",
}
# Control characters, those that turn the direction of writing, and what is no character at all.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Story:
    """An entry in words. ``place`` is where it appeared, ``why`` its reasons, ``marked`` what it is beside a paper.

    ``url`` leads to the paper outside of this library, ``pdf`` to its text; empty where none is known.
    """

    paper: PaperId
    title: str
    byline: str
    place: str
    abstract: str
    why: tuple[str, ...]
    notice: str
    url: str
    pdf: str
    marked: str


@dataclass(frozen=True, slots=True)
class Column:
    """A section in words; ``left_out`` of its entries are not among ``stories``."""

    key: str
    title: str
    stories: tuple[Story, ...]
    left_out: int = 0


def one_line(text: str, limit: int) -> str:
    """Text in one line without control characters, cut at ``limit`` characters."""
    return shortened(" ".join(_UNFIT.sub(" ", text).split()), limit)


def written(day: date) -> str:
    """1 December 2026."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def written_long(day: date) -> str:
    """Tuesday, 1 December 2026."""
    return f"{_WEEKDAYS[day.weekday()]}, {written(day)}"


def counted(number: int, one: str, many: str = "") -> str:
    """1 paper, 2 papers, 1,200 papers."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def summary(edition: Edition) -> str:
    """How much there is: "34 papers chosen from 512"."""
    return f"{counted(len(edition.entries), 'paper')} chosen from {max(edition.considered, len(edition.entries)):,}"


def notes(edition: Edition) -> tuple[str, ...]:
    """What the edition says to its reader."""
    return tuple(one_line(note, _NOTE) for note in edition.notes[:_NOTES])


def column(
    section: Section,
    abstracts: Mapping[PaperId, int],
    most: int | None = None,
    form: Callable[[str], str] = as_text,
) -> Column:
    """A section with its first ``most`` entries; ``abstracts`` says how many characters of each paper's are wanted.

    A discovery is marked where the section's title does not say it.
    """
    marked = section.kind is not SectionKind.DISCOVERY
    entries = section.entries if most is None else section.entries[:most]
    told = (story(entry, abstracts.get(entry.paper.id, 0), form) for entry in entries)
    stories = tuple(replace(one, marked=one.marked if marked else "") for one in told)
    return Column(section.key, one_line(section.title, _LINE), stories, len(section.entries) - len(entries))


def story(entry: Entry, abstract: int, form: Callable[[str], str] = as_text) -> Story:
    """An entry in words, with about ``abstract`` characters of the paper's abstract at most; Chinese counts double.

    ``form`` makes what is shown of a line with marked scripts (see ``formulas``).
    """
    paper = entry.paper
    reasons = dict.fromkeys(one_line(reason.text, _WHY) for reason in entry.reasons)
    return Story(
        paper=paper.id,
        title=form(one_line(marked_line(paper.title), _TITLE)) or "Without a title",
        byline=byline(paper),
        place=place(paper),
        abstract=form(_beginning(paper.abstract, abstract)) if abstract else "",
        why=tuple(filter(None, reasons))[:_REASONS],
        notice=next((name for kind, name in _NOTICES.items() if any(n.kind is kind for n in paper.notices)), ""),
        url=paper_url(paper),
        pdf=pdf_url(paper),
        marked="Discovery" if entry.explored else "",
    )


def _beginning(markup: str, limit: int) -> str:
    text = marked_line(markup[: _MARKUP * limit])  # of an abstract of a megabyte the beginning is enough
    start = text[:limit]
    wide = len(_CJK.findall(start)) * 3 > len(start)
    return one_line(text, limit * 5 // 9 if wide else limit)


def byline(paper: Paper) -> str:
    """The first authors, and how many more there are; a single one more is named."""
    names = [one_line(name, 80) for name in paper.authors[: _AUTHORS + 1]]
    if len(paper.authors) > _AUTHORS + 1:
        return f"{', '.join(names[:_AUTHORS])} and {len(paper.authors) - _AUTHORS:,} more"
    return ", ".join(names) + (" and others" if paper.authors_truncated and names else "")


def place(paper: Paper) -> str:
    """Venue and year, areas, identifier: "ICML 2026 · Theory · arXiv 2506.18020"."""
    venue = " ".join(part for part in (venue_name(paper.venue), str(paper.year or "") if paper.venue else "") if part)
    arxiv = paper.identifier(Scheme.ARXIV)
    parts = [venue, *dict.fromkeys(map(str, paper.areas[:_AREAS])), f"arXiv {arxiv}" if arxiv else ""]
    return one_line(" · ".join(filter(None, parts)), _LINE)


def paper_url(paper: Paper) -> str:
    """The address of a paper's page: that of its first identifier, else of its first page on the web."""
    if paper.identifiers:
        return url_of(paper.identifiers[0])
    return _first_link(paper, (LinkKind.PAGE, LinkKind.PDF, LinkKind.PROJECT))


def pdf_url(paper: Paper) -> str:
    """The address of a paper's text."""
    arxiv = paper.identifier(Scheme.ARXIV)
    return f"https://arxiv.org/pdf/{arxiv}" if arxiv else _first_link(paper, (LinkKind.PDF,))


def _first_link(paper: Paper, kinds: Iterable[LinkKind]) -> str:
    found = (web_address(link.url) for kind in kinds for link in paper.links if link.kind is kind)
    return next(filter(None, found), "")


def web_address(url: str) -> str:
    """An http(s) address with all quoted that could end it; empty for any other, and for one of over 500 letters."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # such as http://[
        return ""
    if not usable or _UNFIT.search(url):
        return ""
    quoted = quote(url, safe="%:/?#[]@!$&'()*+,;=~-._")
    return quoted if len(quoted) <= 500 else ""


def checked_site(url: str) -> str:
    """The setting ``site_url`` without a final slash; empty where there is none. Raises SettingsError."""
    if not url:
        return ""
    if web_address(url) != url or "?" in url or "#" in url or len(url) > LONGEST_SITE:
        raise SettingsError(f"site_url: {url[:LONGEST_SITE]!r} cannot be used; give it as https://papers.example.org")
    return url.rstrip("/")
