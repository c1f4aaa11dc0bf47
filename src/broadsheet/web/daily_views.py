"""How an edition and a memory read on a page: reasons, columns, bars, what can be given as a cause. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from ..model import Paper
from ..model.reading import Action, Edition, Entry, EventId, Interest, InterestKind, Reason, Section, SectionKind
from ..text import to_plain, words
from .views import MONTHS, WEEKDAYS, month, written

MARKED = (Action.SAVE, Action.LIKE, Action.DISMISS)
"""Actions with a button, in their order."""
MOST_REASONS = 3
MOST_WORDS = 6
MOST_AUTHORS = 5
MOST_AREAS = 3
LANES = 3
WEIGHT_OF_HEAD = 2.0  # the height of a section's heading, in entries
INTEREST_NAMES = {
    InterestKind.KEYWORD: "Word",
    InterestKind.AUTHOR: "Author",
    InterestKind.AREA: "Area",
    InterestKind.VENUE: "Venue",
}
PART_NAMES = {
    "classifier": "what tells your papers from others",
    "lately": "like what you liked lately",
    "lasting": "like what you have liked all along",
    "newer": "like what you liked lately more than all along",
    "nearest": "like one paper you liked",
    "meaning": "near in meaning to what you liked",
    "words": "words of papers you liked",
    "author": "authors you follow",
    "area": "areas you follow",
    "venue": "venues you follow",
    "keyword": "words you follow",
    "search": "your saved searches",
    "popular": "votes and discussion",
    "notice": "votes and discussion to be expected",
    "dismissed": "unlike what you turned away",
}
_EVERYBODYS = (
    "about across after against also among and are based been before being between beyond both can does every for from "
    "have how into its learning like long make making method methods model models more most much need network networks "
    "new not novel only other over paper some such than that the their them then there these they this those through "
    "toward towards under until upon use used using very via what when where which while who why will with within "
    "without you your approach analysis data problem problems results study task tasks"
)  # words of titles that would mute half of everything
_COMMON = frozenset(_EVERYBODYS.split())
_WORDLIKE = re.compile(r"[^\W\d_]")


def reason_line(reasons: Sequence[Reason]) -> str:
    """The reasons of an entry as one line, in their order: "By an author you follow; matches “bandits”"."""
    texts = dict.fromkeys(text for reason in reasons if (text := " ".join(reason.text.split()).rstrip(".;")))
    line = "; ".join(list(texts)[:MOST_REASONS])
    return line[:1].upper() + line[1:]


@dataclass(frozen=True, slots=True)
class Causes:
    """Things that a paper can be dismissed for, under a title; ``choices`` as (value of the form, shown)."""

    title: str
    choices: tuple[tuple[str, str], ...]


def causes(paper: Paper) -> list[Causes]:
    """What can be given as the cause of "not for me": a word, an author, an area or the venue of a paper."""
    found = [
        (InterestKind.KEYWORD, _telling_words(paper)),
        (InterestKind.AUTHOR, list(_ends(paper.authors, MOST_AUTHORS))),
        (InterestKind.AREA, [str(area) for area in paper.areas[:MOST_AREAS]]),
        (InterestKind.VENUE, [paper.venue] if paper.venue else []),
    ]
    return [
        Causes(INTEREST_NAMES[kind], tuple((str(Interest(kind, value)), value) for value in dict.fromkeys(values)))
        for kind, values in found
        if values
    ]


def _ends(names: Sequence[str], limit: int) -> Iterable[str]:
    """The first names and the last one, who is often the one that readers know."""
    return names if len(names) <= limit else (*names[: limit - 1], names[-1])


def _telling_words(paper: Paper) -> list[str]:
    """The authors' keywords, else the words of the title that are not everybody's."""
    given = [word.strip() for keyword in paper.keywords if 0 < len(word := to_plain(keyword)) <= 60]
    if given:
        return given[:MOST_WORDS]
    found = dict.fromkeys(token.text for token in words(to_plain(paper.title)))
    return [w for w in found if len(w) > 3 and w.isascii() and _WORDLIKE.search(w) and w not in _COMMON][:MOST_WORDS]


def marks_of(marks: Mapping[int, Mapping[Action, EventId]], paper: int) -> dict[str, EventId]:
    """What holds of a paper, by the names of the actions that have a button."""
    held = marks.get(paper, {})
    return {action.value: held[action] for action in MARKED if action in held}


def lanes(sections: Sequence[Section], count: int = LANES) -> list[list[Section]]:
    """Sections in at most ``count`` columns, in their order, so that the longest column is as short as can be.

    The linear partition problem, which for a handful of sections is tried from the shortest height that may do.
    """
    heights = [WEIGHT_OF_HEAD + len(section.entries) for section in sections]
    for limit in sorted({sum(heights[a:b]) for a in range(len(heights)) for b in range(a + 1, len(heights) + 1)}):
        if columns := _filled(sections, heights, limit, count):
            return columns
    return []


def _filled(
    sections: Sequence[Section], heights: Sequence[float], limit: float, count: int
) -> list[list[Section]] | None:
    """Columns no higher than ``limit``, each filled before the next is begun; None where ``count`` are too few."""
    columns: list[list[Section]] = []
    room = 0.0
    for section, height in zip(sections, heights, strict=True):
        if height > limit:
            return None
        if not columns or height > room:
            columns.append([])
            room = limit
        columns[-1].append(section)
        room -= height
    return columns if len(columns) <= count else None


@dataclass(frozen=True, slots=True)
class Sheet:
    """An edition as it is laid out. ``lead`` and ``beside`` open the front page, ``others`` are the rest of it."""

    edition: Edition
    front: Section | None
    lead: tuple[Entry, ...]
    others: tuple[Entry, ...]
    lanes: tuple[tuple[Section, ...], ...]
    rest: tuple[Section, ...]


def sheet(edition: Edition) -> Sheet:
    """An edition's sections in the places where they are printed."""
    front = next((section for section in edition.sections if section.kind is SectionKind.FRONT), None)
    entries = front.entries if front else ()
    lead = entries[:3] if len(entries) >= 3 else ()
    middle = [s for s in edition.sections if s.kind in (SectionKind.AREA, SectionKind.SEARCH) and s.entries]
    rest = [s for s in edition.sections if s.kind in (SectionKind.ELSEWHERE, SectionKind.DISCOVERY) and s.entries]
    if len(middle) == 1:  # alone in one of several columns it would leave half of the page white
        middle, rest = [], middle + rest
    return Sheet(
        edition=edition,
        front=front,
        lead=lead,
        others=entries[len(lead) :],
        lanes=tuple(tuple(lane) for lane in lanes(middle)),
        rest=tuple(rest),
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """A weight as a bar: ``share`` in [0, 1] of the greatest, ``against`` where it is below zero."""

    name: str
    share: float
    against: bool
    weight: float


def bars(weights: Iterable[tuple[str, float]], limit: int = 20) -> list[Bar]:
    """Weights as bars, the greatest first."""
    ordered = sorted(weights, key=lambda found: -abs(found[1]))[:limit]
    greatest = max((abs(weight) for _, weight in ordered), default=0.0) or 1.0
    return [Bar(name, abs(weight) / greatest, weight < 0, weight) for name, weight in ordered]


def signed(weight: float) -> str:
    """A weight with its sign: +.42, −.07."""
    text = f"{abs(weight):.2f}".lstrip("0") if abs(weight) < 0.995 else f"{abs(weight):.1f}"
    return f"{'−' if weight < 0 else '+'}{text}"


def kilobytes(size: int) -> str:
    """A size in thousands of bytes: 12 kB."""
    return f"{max(1, round(size / 1000)):,} kB" if size else "nothing"


def months_of(days: Iterable[date]) -> list[tuple[str, date, list[date]]]:
    """Days by month, in the order given: (month written out, its first day, its days)."""
    grouped = groupby(days, key=lambda day: (day.year, day.month))
    return [(month(first := date(*key, 1)), first, list(group)) for key, group in grouped]


def day_short(day: date) -> str:
    """Mon 30."""
    return f"{WEEKDAYS[day.weekday()][:3]} {day.day}"


def span(first: date, last: date) -> str:
    """A span of days: "23 to 29 November 2026"."""
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} to {last.day} {MONTHS[last.month - 1]} {last.year}"
    if first.year == last.year:
        return f"{first.day} {MONTHS[first.month - 1]} to {written(last)}"
    return f"{written(first)} to {written(last)}"


def anchor(key: str) -> str:
    """A key as a part of an element's id: letters, digits, dots and hyphens; others as their numbers."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-.") else f"_{ord(c):x}" for c in key)


def part_name(name: str) -> str:
    """A part of the score for the eye."""
    return PART_NAMES.get(name, name.replace("_", " "))


FILTERS = {
    "reason_line": reason_line,
    "causes": causes,
    "signed": signed,
    "kilobytes": kilobytes,
    "day_short": day_short,
    "part_name": part_name,
    "anchor": anchor,
    "month_name": month,
}
ACTION_NAMES = {
    Action.OPEN.value: "opened",
    Action.SAVE.value: "saved",
    Action.LIKE.value: "liked",
    Action.DISMISS.value: "turned away",
    Action.EXAMPLE.value: "named as an example",
}
GLOBALS = {
    "interest_names": {kind.value: name for kind, name in INTEREST_NAMES.items()},
    "action_names": ACTION_NAMES,
}
