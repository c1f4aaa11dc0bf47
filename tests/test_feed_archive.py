"""Leafing through editions, and what a reader's events say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError, NotFoundError
from broadsheet.feed.archive import BEST, bounds, neighbours, not_printed, noted, period, quiet_day
from broadsheet.feed.marks import already, last_actions, last_deed, marks, together, undone
from broadsheet.model import Notice, NoticeKind, Paper
from broadsheet.model.reading import Action, Edition, Entry, Event, Interest, InterestKind, Section, SectionKind

START = date(2026, 3, 2)
DAYS = st.lists(st.integers(0, 400).map(lambda n: START + timedelta(days=n)), max_size=30, unique=True)


def edition(day: date, scores: dict[int, float]) -> Edition:
    entries = tuple(Entry(Paper(number, f"P{number}"), score, {}, ()) for number, score in scores.items())
    made = datetime(2026, 3, 2, tzinfo=UTC)
    return Edition("me", day, made, None, day, (Section(SectionKind.FRONT, "front", "", entries),), 1, 1, "nothing")


@given(DAYS, st.integers(-5, 410))
def test_previous_and_next_skip_empty_days(days: list[date], n: int) -> None:
    """A28."""
    day = START + timedelta(days=n)
    before, after = neighbours(days, day)
    assert before == max((one for one in days if one < day), default=None)
    assert after == min((one for one in days if one > day), default=None)


def test_the_error_names_the_nearest_days() -> None:
    days = [START, START + timedelta(days=3)]
    assert str(not_printed(START + timedelta(days=1), days)).endswith("the nearest are of 2026-03-02 and 2026-03-05")
    assert str(not_printed(START - timedelta(days=1), days)).endswith("the nearest are of 2026-03-02")
    assert "broadsheet today" in str(not_printed(START, []))
    saturday = START + timedelta(days=5)
    assert str(not_printed(saturday, [START])).startswith(
        "there is no edition of 2026-03-07 (Saturday: arXiv announces nothing); the nearest"
    )


def test_why_a_day_has_no_announcement() -> None:
    assert quiet_day(date(2026, 5, 2)) == "Saturday: arXiv announces nothing"
    assert quiet_day(date(2026, 11, 27)) == "Holiday (Thanksgiving): arXiv announces nothing"
    assert quiet_day(START) == quiet_day(date.min) == quiet_day(date(1990, 1, 6)) == ""


@pytest.mark.parametrize(
    ("kind", "day", "first", "last"),
    [
        ("week", "2026-03-02", "2026-03-02", "2026-03-08"),
        ("week", "2026-03-08", "2026-03-02", "2026-03-08"),
        ("week", "2027-01-01", "2026-12-28", "2027-01-03"),
        ("month", "2026-02-14", "2026-02-01", "2026-02-28"),
        ("month", "2028-02-29", "2028-02-01", "2028-02-29"),
        ("month", "2026-12-31", "2026-12-01", "2026-12-31"),
    ],
)
def test_bounds_of_periods(kind: str, day: str, first: str, last: str) -> None:
    assert bounds(kind, date.fromisoformat(day)) == (date.fromisoformat(first), date.fromisoformat(last))


def test_periods_are_weeks_and_months() -> None:
    with pytest.raises(InputError, match="week or month"):
        bounds("year", START)


def test_a_period_has_the_best_of_each_day() -> None:
    """Scores are relative to their day: the best of a poor day stands beside the best of a rich one."""
    second = START + timedelta(days=1)
    both = [edition(START, {1: 9.0, 2: 8.0, 3: 7.5}), edition(second, {4: 0.3, 5: 0.1, 1: 0.2})]
    found = period("week", second, both, [START, second, START + timedelta(days=20)])
    assert [(day, entry.paper.id) for day, entry in found.entries] == [
        (START, 1), (second, 4), (START, 2), (START, 3), (second, 5),
    ]  # fmt: skip
    assert (found.previous, found.following) == (None, START + timedelta(days=20))
    assert found.editions == (START, second)


def test_the_first_of_a_few_papers_stands_behind_many_of_a_full_day() -> None:
    """A Saturday with three papers, none of them near, has a first one, too."""
    saturday = replace(edition(START, {1: 3.0, 2: 1.0, 3: 0.5}), considered=3, basis="memory")
    full = edition(START + timedelta(days=2), {n: 100.0 - n for n in range(10, 50)})
    found = period("week", START, [saturday, replace(full, considered=600, basis="memory")], [])
    assert [entry.paper.id for _, entry in found.entries] == list(range(10, 40))


def test_editions_that_knew_nothing_of_the_reader_stand_behind_those_that_did() -> None:
    known = replace(edition(START, {n: 9.0 - n / 10 for n in range(1, 21)}), considered=600, basis="memory")
    cold = replace(edition(START + timedelta(days=1), {30: 99.0, 31: 98.0}), considered=600)
    few = replace(edition(START + timedelta(days=2), {40: 99.0}), considered=3, basis="memory")
    found = period("week", START, [cold, few, known], [])
    assert [entry.paper.id for _, entry in found.entries] == [*range(1, 21), 30, 31, 40]
    follows = replace(cold, basis="profile")
    found = period("week", START, [follows, known], [])
    assert [entry.paper.id for _, entry in found.entries][:5] == [1, 2, 3, 30, 4], "the third, and by its day"


def test_a_period_is_not_endless() -> None:
    found = period("week", START, [edition(START, {n: float(n) for n in range(1, 200)})], [START])
    assert len(found.entries) == BEST["week"]
    assert found.entries[0][1].paper.id == 199


def test_an_empty_period_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="month of 2026-05-01; the nearest are of 2026-03-02"):
        period("month", date(2026, 5, 1), [], [START])
    with pytest.raises(NotFoundError):
        period("month", date(2026, 5, 1), [], [])


# --- what a reader's events say


def event(number: int, action: Action, paper: int = 1, *, undoes: int = 0, because: str = "") -> Event:
    why = Interest(InterestKind.KEYWORD, because) if because else None
    return Event(number, "me", action, paper, datetime(2026, 3, 2, 9, tzinfo=UTC), why, None, undoes)


def test_what_holds() -> None:
    events = [
        event(1, Action.OPEN),
        event(2, Action.SAVE),
        event(3, Action.LIKE, 2),
        event(4, Action.UNDO, 2, undoes=3),
    ]
    assert marks(events) == {1: {Action.OPEN: 1, Action.SAVE: 2}}
    assert last_actions(events) == {1: Action.SAVE}
    assert last_actions([event(1, Action.SAVE), event(2, Action.OPEN)]) == {1: Action.SAVE}


@pytest.mark.parametrize(
    ("events", "gone", "last"),
    [
        ([], set(), None),
        ([event(1, Action.OPEN)], set(), None),
        ([event(1, Action.SAVE), event(2, Action.OPEN)], set(), 1),
        ([event(1, Action.SAVE), event(2, Action.LIKE), event(3, Action.UNDO, undoes=2)], {2}, 1),
        ([event(1, Action.SAVE), event(2, Action.UNDO, undoes=1)], {1}, None),
        # An undo that was undone itself took nothing back.
        ([event(1, Action.SAVE), event(2, Action.UNDO, undoes=1), event(3, Action.UNDO, undoes=2)], {2}, 1),
        ([event(1, Action.SAVE), event(2, Action.RESET, 0)], set(), 2),
        ([event(1, Action.SAVE), event(2, Action.FORGET)], set(), 2),
    ],
)
def test_the_last_deed(events: list[Event], gone: set[int], last: int | None) -> None:
    assert undone(events) == gone
    found = last_deed(events)
    assert (found.id if found else None) == last


def test_what_was_done_at_one_stroke() -> None:
    events = [
        event(1, Action.EXAMPLE),
        *(event(number, Action.EXAMPLE, number) for number in (3, 4, 5)),
        *(event(number, Action.UNDO, number - 4, undoes=number - 4) for number in (7, 8)),
        event(9, Action.SAVE),
        event(10, Action.UNDO, undoes=9),
        *(event(number, Action.UNDO, number - 8, undoes=number - 5) for number in (12, 13)),
    ]

    def strokes(number: int) -> list[int]:
        return [one.id for one in together(events, next(each for each in events if each.id == number))]

    strokes_of = [[1], [3, 4, 5], [7, 8], [9], [10], [12, 13]]
    assert {one.id: strokes(one.id) for one in events} == {number: some for some in strokes_of for number in some}


def test_an_edition_is_shown_with_the_notices_of_today() -> None:
    printed = edition(START, {1: 2.0, 2: 1.0})
    gone = Paper(9, "Another title", notices=(Notice(NoticeKind.RETRACTED, "an error"),))
    shown = noted(printed, {1: gone})
    assert [one.paper.notices for one in shown.entries] == [gone.notices, ()]
    assert [one.paper.title for one in shown.entries] == ["P1", "P2"], "all else is as it was printed"
    assert noted(printed, {}) is printed
    assert noted(printed, {1: replace(gone, notices=())}) is printed
    assert noted(shown, {1: replace(gone, notices=())}).entries[0].paper.notices == (), "notices are taken back, too"


@pytest.mark.parametrize(
    ("events", "action", "because", "known"),
    [
        ([event(1, Action.SAVE)], Action.SAVE, "", 1),
        ([event(1, Action.SAVE)], Action.LIKE, "", None),
        ([event(1, Action.SAVE, 2)], Action.SAVE, "", None),
        ([event(1, Action.SAVE), event(2, Action.UNDO, undoes=1)], Action.SAVE, "", None),
        ([event(1, Action.SAVE), event(2, Action.DISMISS)], Action.SAVE, "", None),
        ([event(1, Action.DISMISS)], Action.DISMISS, "bees", None),
        ([event(1, Action.DISMISS, because="bees")], Action.DISMISS, "bees", 1),
        ([event(1, Action.DISMISS, because="bees")], Action.DISMISS, "", 1),
        ([event(1, Action.OPEN)], Action.OPEN, "", 1),
    ],
)
def test_what_was_said_already(events: list[Event], action: Action, because: str, known: int | None) -> None:
    why = Interest(InterestKind.KEYWORD, because) if because else None
    found = already(events, action, 1, datetime(2026, 3, 2, 20, tzinfo=UTC), why)
    assert (found.id if found else None) == known


def test_openings_count_once_a_day() -> None:
    assert already([event(1, Action.OPEN)], Action.OPEN, 1, datetime(2026, 3, 3, 1, tzinfo=UTC), None) is None
    assert already([event(1, Action.SAVE)], Action.SAVE, 1, datetime(2026, 4, 3, 1, tzinfo=UTC), None) is not None
