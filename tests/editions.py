"""Editions, readers and papers made by hand for what is sent and printed. All papers and people here are invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from broadsheet.identifiers import parse_identifier
from broadsheet.model import Area, Identifier, Paper
from broadsheet.model.reading import Edition, Entry, Profile, Reader, Reason, Section, SectionKind

DAY = date(2026, 12, 1)
NOW = datetime(2026, 12, 1, 6, 31, tzinfo=UTC)
READER = Reader("me", "a-secret-of-the-reader", NOW.replace(month=11), Profile(email="reader@example.org"))
SENTENCE = "We sort pebbles on a beach of known length and count how often the tide disagrees. "
KINDS = (
    (SectionKind.FRONT, "front", "Front page"),
    (SectionKind.AREA, "area-cs.LG", "Machine Learning"),
    (SectionKind.ELSEWHERE, "elsewhere", "Elsewhere"),
    (SectionKind.DISCOVERY, "discovery", "Discovery"),
)


def arxiv(text: str) -> Identifier:
    parsed = parse_identifier(text)
    assert parsed
    return parsed[0]


def paper(number: int, **fields: Any) -> Paper:
    given: dict[str, Any] = {
        "title": f"Sorting pebbles, part {number}",
        "abstract": SENTENCE * 3,
        "authors": ("Ada Byron", "Emmy Noether"),
        "identifiers": (arxiv(f"2611.{number % 100_000:05d}"),) if number % 100_000 else (),
        "areas": (Area("cs", "cs.LG"),),
    }
    return Paper(id=number, **{**given, **fields})


def entry(printed: Paper, *reasons: str, explored: bool = False) -> Entry:
    given = reasons or ("like 3 papers you saved on tides",)
    return Entry(
        printed, 0.5, {"memory": 0.5}, tuple(Reason("similar", text, 0.5) for text in given), explored=explored
    )


def edition(*papers: Sequence[Paper], **fields: Any) -> Edition:
    """An edition with a section for each group of papers."""
    sections = tuple(
        Section(kind, key, title, tuple(entry(p, explored=kind is SectionKind.DISCOVERY) for p in group))
        for (kind, key, title), group in zip(KINDS, papers, strict=False)
    )
    given: dict[str, Any] = {
        "reader": "me",
        "day": DAY,
        "made": NOW,
        "since": date(2026, 11, 27),
        "through": DAY,
        "sections": sections,
        "considered": 512,
        "newest_paper": 10_000,
        "basis": "memory",
    }
    return Edition(**{**given, **fields})


def usual() -> Edition:
    """Four sections with eleven papers."""
    numbers = iter(range(1, 100))
    return edition(*([paper(next(numbers)) for _ in range(size)] for size in (4, 4, 2, 1)))


def changed(printed: Edition, **fields: Any) -> Edition:
    """The edition with its first paper changed."""
    front, *others = printed.sections
    first, *rest = front.entries
    told = replace(first, paper=replace(first.paper, **fields))
    return replace(printed, sections=(replace(front, entries=(told, *rest)), *others))
