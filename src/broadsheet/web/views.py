"""How values read on a page: dates written out, names in a line, markup as HTML. Pure functions, used as filters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from ..identifiers import parse_identifier, shown_value
from ..model import Area, FacetValue, LinkKind, Paper, Scheme, StoredRecord
from ..text import to_html, to_plain
from ..venues import venue_name
from .params import SearchRequest

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)  # not by strftime, which follows the server's locale

FACET_TITLES = {"area": "Area", "subarea": "Subarea", "venue": "Venue", "year": "Year", "code": "Code"}
LINK_NAMES = {LinkKind.PAGE: "Page", LinkKind.PDF: "PDF", LinkKind.CODE: "Code", LinkKind.PROJECT: "Project"}
SCHEME_NAMES = {
    Scheme.ARXIV: "arXiv",
    Scheme.DOI: "DOI",
    Scheme.OPENREVIEW: "OpenReview",
    Scheme.ACL: "ACL Anthology",
    Scheme.PMID: "PubMed",
}
USUAL_STATUSES = ("poster", "main", "technical", "long")  # of most papers, so that a list is calmer without them
FIELD_NAMES = {"listed": "day of listing", "published": "day of publication"}

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")),
)
_INLINE_FORMULA = '<math [^>]*display="inline"[^>]*>(?:(?!</math>).)*</math>'
_BESIDE_FORMULA = re.compile(rf"[(\[“]+{_INLINE_FORMULA}[\])”.,;:!?’-]*|{_INLINE_FORMULA}[\])”.,;:!?’-]+", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")


@lru_cache(maxsize=4096)
def html(markup: str) -> Markup:
    """Markup as HTML, sanitised by ``text.to_html``."""
    return Markup(_held_together(to_html(markup)))


@lru_cache(maxsize=4096)
def inline(markup: str) -> Markup:
    """Markup as HTML for a title or a link: without links of its own, formulas in the line."""
    return Markup(_held_together(to_html(markup, inline=True)))


def _held_together(source: str) -> str:
    """Formulas in the line with the brackets and stops beside them, from which a browser would part them."""
    return _BESIDE_FORMULA.sub(r'<span class="together">\g<0></span>', source) if "<math" in source else source


@lru_cache(maxsize=4096)
def plain(markup: str) -> str:
    """Markup as plain text, for the title of a page."""
    return to_plain(markup)


def language(text: str) -> str:
    """``zh``, ``ja`` or ``ko`` where a text is mostly in it, else empty."""
    letters = len(_LETTER.findall(text))
    cjk = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    # One Chinese character says about as much as two Latin letters.
    if not letters or 3 * sum(cjk.values()) < letters:
        return ""
    return "ja" if cjk["ja"] else max(cjk, key=lambda name: cjk[name])


def excerpt(markup: str, limit: int) -> str:
    """The beginning of a markup text, at most about ``limit`` characters, cut at a word and never inside ``$…$``."""
    if len(markup) <= limit:
        return markup
    end = limit
    while end > limit // 2:
        cjk = not markup[end - 1].isascii() and markup[end - 1].isalnum()
        if (markup[end].isspace() or cjk) and markup.count("$", 0, end) % 2 == 0:
            return markup[:end].rstrip(" ,;:.，。；：、") + "\u00a0…"
        end -= 1
    return re.sub(r"[$\\*_`]", "", markup[:limit]) + "\u00a0…"


def with_code(message: str) -> Markup:
    """A sentence of ours as HTML, escaped, with what stands between backticks as code."""
    parts = str(escape(message)).split("`")
    if len(parts) % 2 == 0:
        return escape(message)
    return Markup("".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts)))


def number(value: int) -> str:
    """1,234,567."""
    return f"{value:,}"


def percent(share: float) -> str:
    """A share in [0, 1] as whole percent, rounded down so that only all is 100 %."""
    return f"{math.floor(max(0.0, min(1.0, share)) * 100 + 1e-9)}\u202f%"


def score(value: float) -> str:
    """A score in [0, 1] as .85, or 1."""
    return f"{value:.2f}".lstrip("0") if value < 0.995 else "1"


def written(day: date) -> str:
    """30 November 2026."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def published(paper: Paper) -> str:
    """When a paper was published, as far as is known: "8 June 2026", or "June 2026"."""
    if not paper.published:
        return ""
    return month(paper.published) if paper.month_only else written(paper.published)


def month(day: date) -> str:
    """A day's month: "June 2026"."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def written_long(day: date) -> str:
    """Monday, 30 November 2026."""
    return f"{WEEKDAYS[day.weekday()]}, {written(day)}"


@dataclass(frozen=True, slots=True)
class Names:
    """The first authors of a paper, and how many more it has."""

    shown: tuple[str, ...]
    more: int
    truncated: bool


def names(paper: Paper, limit: int = 6) -> Names:
    """Authors for a line of results. A single name is never left out: “and 1 more” is no shorter than it."""
    authors = paper.authors
    shown = authors if len(authors) <= limit + 1 else authors[:limit]
    return Names(shown, len(authors) - len(shown), paper.authors_truncated)


def asking(field: str, *values: str) -> str:
    """The address of a search for a field's value, such as all papers of an author."""
    prefixes = (field, "cat")  # an area, and the subarea within it
    given = [(prefix, value.replace('"', " ")) for prefix, value in zip(prefixes, values, strict=False) if value]
    words = [f'{prefix}:"{value}"' for prefix, value in given]
    return SearchRequest(" ".join(words)).url()


@dataclass(frozen=True, slots=True)
class Section:
    """Papers of one day, or of a month where no more is known; ``day`` is None for those without a date."""

    day: date | None
    papers: tuple[Paper, ...]

    @property
    def leading(self) -> tuple[Paper, ...]:
        """The first three papers, for the top of the page; never a withdrawn one. None where there are fewer."""
        sound = [paper for paper in self.papers if not paper.is_withdrawn]
        return tuple(sound[:3]) if len(sound) >= 3 else ()

    @property
    def others(self) -> tuple[Paper, ...]:
        """The papers that do not lead."""
        leading = {paper.id for paper in self.leading}
        return tuple(paper for paper in self.papers if paper.id not in leading)

    @property
    def heading(self) -> str:
        """The day or month written out."""
        return day_heading(self.day, self.papers) if self.day else "Without a date"


def sections(papers: Iterable[Paper]) -> Iterator[Section]:
    """Papers in the order given, divided at each new day."""
    for (day, _), group in groupby(papers, key=lambda paper: (paper.day, paper.day_is_month)):
        yield Section(day, tuple(group))


def day_heading(day: date, papers: Iterable[Paper]) -> str:
    """ "Thursday, 1 October 2026"; only the month where that is all that is known of these papers."""
    known = list(papers)
    return month(day) if known and all(paper.day_is_month for paper in known) else written_long(day)


@dataclass(frozen=True, slots=True)
class FacetLine:
    """A value of a facet as a line to click."""

    name: str
    value: str
    label: str
    count: int | None
    chosen: bool
    url: str
    children: tuple[FacetLine, ...] = ()


def facet_label(name: str, value: str) -> str:
    """A facet's value for the eye."""
    if name == "code":
        return {"yes": "With code", "no": "Without code"}.get(value, value)
    if name == "subarea":
        return str(Area(*value.split(" · ", 1)))
    return venue_name(value) if name == "venue" else value


def _child_value(area: str, value: str) -> str:
    return value if " · " in value else f"{area} · {value}"


def _facet_line(name: str, value: FacetValue, request: SearchRequest) -> FacetLine:
    children = tuple(
        FacetLine(
            "subarea",
            full := _child_value(value.value, child.value),
            full.partition(" · ")[2],
            child.count,
            request.chosen("subarea", full),
            request.toggled("subarea", full).url(),
        )
        for child in value.children
        if child.value
    )
    chosen = request.chosen(name, value.value)
    opened = chosen or any(child.chosen for child in children)
    return FacetLine(
        name,
        value.value,
        facet_label(name, value.value),
        value.count,
        chosen,
        request.toggled(name, value.value).url(),
        children if opened else (),
    )


def facet_lines(name: str, values: Sequence[FacetValue], request: SearchRequest) -> list[FacetLine]:
    """A facet's values as lines: chosen ones first, years from the newest, others as they came (most papers first)."""
    ordered = sorted(values, key=lambda v: v.value, reverse=True) if name == "year" else list(values)
    lines = [_facet_line(name, value, request) for value in ordered]
    return sorted(lines, key=lambda line: not (line.chosen or line.children))


def chips(request: SearchRequest) -> list[FacetLine]:
    """The chosen values of all facets, each with the address without it."""
    return [
        FacetLine(name, value, facet_label(name, value), None, True, request.toggled(name, value).url())
        for name, values in request.facets.items()
        for value in values
    ]


def page_numbers(page: int, pages: int) -> list[int | None]:
    """Numbers for a pager: first, last and two on each side of the present one; None is a gap."""
    wanted = sorted({1, pages, *range(max(1, page - 2), min(pages, page + 2) + 1)})
    line: list[int | None] = []
    for at, value in enumerate(wanted):
        if at and value - wanted[at - 1] == 2:
            line.append(value - 1)
        elif at and value - wanted[at - 1] > 2:
            line.append(None)
        line.append(value)
    return line


def host_of(url: str) -> str:
    """The host of an address that a browser may follow (http, https), without ``www.``; empty for any other."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:  # such as http://[
        return ""
    return host if parts.scheme in ("http", "https") else ""


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link with its name and the host it leads to."""

    name: str
    url: str
    host: str


def shown_links(paper: Paper) -> list[ShownLink]:
    """Links of a paper that a browser may follow: http and https. The PDF of arXiv comes first, given or not.

    Pages that an identifier leads to are left out, since the identifiers are links themselves.
    """
    arxiv = paper.identifier(Scheme.ARXIV)
    shown = [ShownLink("PDF", f"https://arxiv.org/pdf/{arxiv}", "arxiv.org")] if arxiv else []
    for link in paper.links:
        if not (host := host_of(link.url)):
            continue
        named = link.kind is LinkKind.PAGE and (parsed := parse_identifier(link.url)) and parsed[0] in paper.identifiers
        if not named and not (arxiv and link.kind is LinkKind.PDF and host == "arxiv.org"):
            shown.append(ShownLink(LINK_NAMES[link.kind], link.url, host))
    return shown


def schema_kind(spec: Mapping[str, Any]) -> str:
    """A JSON schema's type in words, for the reference of the API."""
    if "$ref" in spec:
        return str(spec["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in spec:
        return " or ".join(schema_kind(part) for part in spec["anyOf"])
    if spec.get("type") == "array":
        return f"list of {schema_kind(spec['items'])}"
    if spec.get("type") == "object":
        return f"map of {schema_kind(spec['additionalProperties'])}"
    return str(spec.get("format") or spec.get("type"))


def title_derived(records: Sequence[StoredRecord]) -> bool:
    """Whether a paper's title is only the first sentence of its abstract: no record gave a real one."""
    titled = [stored.record for stored in records if stored.record.title]
    return bool(titled) and all(record.title_derived for record in titled)


def lost_characters(paper: Paper) -> bool:
    """Whether a replacement character shows that something was lost in a paper's texts or names."""
    return any("\ufffd" in text for text in (paper.title, paper.abstract, *paper.authors))


def origin_rows(paper: Paper) -> list[tuple[str, str]]:
    """(field, record it came from), for the table under a paper."""
    return [(FIELD_NAMES.get(name, name.replace("_", " ")), origin) for name, origin in sorted(paper.origins.items())]


FILTERS = {
    "html": html,
    "inline": inline,
    "plain": plain,
    "language": language,
    "excerpt": excerpt,
    "with_code": with_code,
    "number": number,
    "percent": percent,
    "score": score,
    "written": written,
    "published": published,
    "day_heading": day_heading,
    "written_long": written_long,
    "venue": venue_name,
    "names": names,
    "lost_characters": lost_characters,
    "origin_rows": origin_rows,
    "shown_value": shown_value,
    "shown_links": shown_links,
    "schema_kind": schema_kind,
}
EXAMPLES = ("how to end a learning rate schedule", "少样本学习中如何构造新任务", "graph matching since:1y has:code")
GLOBALS = {
    "examples": [(text, SearchRequest(text).url()) for text in EXAMPLES],
    "asking": asking,
    "facet_titles": FACET_TITLES,
    "scheme_names": SCHEME_NAMES,
    "usual_statuses": USUAL_STATUSES,
}
