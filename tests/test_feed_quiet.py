"""What an edition of a few papers says where none is near to its reader."""

from __future__ import annotations

import pytest

from broadsheet.feed.quiet import FEW, NOTHING_NEAR, nothing_near
from broadsheet.model import Paper
from broadsheet.model.reading import Entry, Reason, Section, SectionKind


def sections(*kinds: str) -> list[Section]:
    entries = [
        Entry(Paper(n, f"P{n}"), 1.0, {}, (Reason("notice", "many votes"), Reason(kind, "why")))
        for n, kind in enumerate(kinds, 1)
    ]
    return [Section(SectionKind.FRONT, "front", "", tuple(entries))]


@pytest.mark.parametrize("kinds", [("newest",), ("newest", "usual", "discovery"), ("notice", "variety")])
def test_a_few_papers_none_of_them_near_are_told(kinds: tuple[str, ...]) -> None:
    found = sections(*kinds)
    assert nothing_near(found, 3, "memory") == nothing_near(found, FEW, "profile") == [NOTHING_NEAR]
    assert nothing_near(found, FEW + 1, "memory") == [], "on a full day the front page speaks for itself"
    assert nothing_near(found, 3, "nothing") == [], "there is nothing to be near to"


@pytest.mark.parametrize("kind", ["author", "area", "venue", "keyword", "search", "similar", "words"])
def test_one_paper_that_is_near_is_enough(kind: str) -> None:
    assert nothing_near(sections("newest", kind), 3, "memory") == []
    assert nothing_near([], 3, "memory") == []
