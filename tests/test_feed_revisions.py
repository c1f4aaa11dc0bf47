"""Which new versions of printed papers an edition tells of, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

from broadsheet.feed.revisions import MOST, revisions
from broadsheet.model import Notice, NoticeKind, Paper, PaperId, Version
from broadsheet.model.reading import Action, Edition, Interest, InterestKind
from tests.reading_makers import edition

MONDAY, THURSDAY = date(2026, 11, 30), date(2026, 12, 3)


def paper(number: int = 1, *versions: int, on: date | None = None, **fields: object) -> Paper:
    made = Paper(number, f"On bees {number}", versions=tuple(Version(n, on) for n in versions))
    return replace(made, **fields)  # type: ignore[arg-type]


def told(
    editions: list[Edition],
    *papers: Paper,
    done: Mapping[PaperId, Action] | None = None,
    mutes: tuple[Interest, ...] = (),
) -> list[str]:
    return revisions(editions, {one.id: one for one in papers}, done or {}, mutes, THURSDAY)


def test_a_new_version_of_a_printed_paper_is_told_of_once() -> None:
    monday = edition(paper(1, 1), day=MONDAY)
    now = paper(1, 1, 2, on=THURSDAY, title="On bees, again")
    notes = told([monday], now)
    assert notes == ["v2 of a paper in your edition of 2026-11-30: “On bees 1” (paper 1)."]
    tuesday = edition(paper(7), day=MONDAY + timedelta(days=1), notes=tuple(notes))
    assert told([monday, tuesday], now) == []
    third = told([monday, tuesday], paper(1, 1, 2, 3, on=THURSDAY))
    assert third == ["v3 of a paper in your edition of 2026-11-30: “On bees 1” (paper 1)."]


def test_what_was_printed_as_it_stands_is_no_news() -> None:
    second = edition(paper(1, 1, 2), day=MONDAY)
    assert told([second], paper(1, 1, 2, on=THURSDAY)) == []
    assert told([edition(paper(1), day=MONDAY)], paper(1, 1, on=THURSDAY)) == []  # its first version became known
    assert told([edition(paper(1), day=MONDAY)]) == []  # gone
    assert told([edition(paper(1, 1), day=MONDAY)], paper(1, 1, 2)) != []  # of a day that nobody told


def test_an_old_version_that_became_known_now_is_no_news() -> None:
    monday = edition(paper(1, 1), day=MONDAY)
    assert told([monday], paper(1, 1, 2, on=THURSDAY - timedelta(days=14))) != []
    assert told([monday], paper(1, 1, 2, on=THURSDAY - timedelta(days=15))) == []


def test_what_is_not_for_the_reader_is_not_told_of() -> None:
    monday = edition(paper(1, 1), day=MONDAY)
    now = paper(1, 1, 2, on=THURSDAY)
    assert told([monday], now, done={1: Action.DISMISS}) == []
    assert told([monday], now, mutes=(Interest(InterestKind.KEYWORD, "bees"),)) == []
    assert told([monday], replace(now, notices=(Notice(NoticeKind.WITHDRAWN),))) == []


def test_of_many_those_that_the_reader_cares_for_come_first() -> None:
    monday = edition(*(paper(n, 1) for n in range(1, 9)), day=MONDAY)
    tuesday = edition(paper(9, 1), day=MONDAY + timedelta(days=1))
    now = [paper(n, 1, 2, on=THURSDAY) for n in range(1, 10)]
    notes = told([monday, tuesday], *now, done={4: Action.SAVE, 5: Action.OPEN})
    assert len(notes) == MOST + 1
    assert "“On bees 4”" in notes[0]
    assert "“On bees 9”" in notes[1]
    assert notes[-1] == "4 more papers of your earlier editions have new versions."
