"""The layout of an edition: what stands where, once each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.feed import compose
from broadsheet.feed.areas import AREA_NAMES, area_key, area_title
from broadsheet.feed.compose import Drawn, Placed, Shape, diverse, lay_out
from broadsheet.model import Area, Paper
from broadsheet.model.reading import SavedSearch, SectionKind
from tests.daily_library import morning

SEARCHES = (SavedSearch(4, "bees", "honey bees", morning(0)), SavedSearch(2, "", "clocks", morning(0)))


def papers(count: int, areas: Sequence[str] = ("cs.LG", "cs.CV"), **fields: Any) -> list[Paper]:
    made = []
    for n in range(count):
        key = areas[n % len(areas)]
        made.append(
            Paper(n + 1, f"Title {n}", authors=(f"Ann Lee{n}",), areas=(Area(key.split(".")[0], key),), **fields)
        )
    return made


def units(count: int, dimensions: int = 8, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def laid(
    found: list[Paper], scores: Sequence[float] | None = None, shape: Shape | None = None, **more: Any
) -> list[Placed]:
    given_scores = np.array(scores if scores is not None else np.arange(len(found), 0, -1), np.float64)
    options: dict[str, Any] = {"found_by": {}, "searches": (), "areas": {}} | more
    return lay_out(found, given_scores, units(len(found)), shape or Shape(5, 3, 2, 1), **options)


def section(placed: list[Placed], key: str) -> tuple[int, ...]:
    return next((one.rows for one in placed if one.key == key), ())


def test_sections_stand_in_their_order_and_empty_ones_are_left_out() -> None:
    found = papers(30)
    placed = laid(found, found_by={4: [20, 21]}, searches=SEARCHES, draw=lambda free, wanted: [Drawn(free[-1], 0.5)])
    assert [one.kind for one in placed] == [
        SectionKind.FRONT, SectionKind.AREA, SectionKind.AREA, SectionKind.SEARCH, SectionKind.DISCOVERY,
    ]  # fmt: skip
    assert [one.key for one in placed] == ["front", "area-cs.CV", "area-cs.LG", "search-4", "discovery"]
    assert [one.title for one in placed][:4] == ["Front page", "Computer Vision", "Machine Learning", "bees"]
    assert section(placed, "search-4") == (20, 21)
    assert placed[-1].drawn[29].propensity == 0.5
    assert list(SectionKind) == sorted(
        {one.kind for one in placed} | {SectionKind.ELSEWHERE}, key=list(SectionKind).index
    )


@given(
    st.integers(0, 60),
    st.integers(0, 5),
    st.lists(st.integers(0, 59), max_size=10),
    st.integers(0, 4),
    st.integers(1, 6),
    st.booleans(),
)
def test_no_paper_stands_twice_and_no_section_is_too_long(  # noqa: PLR0917 - hypothesis gives them by place
    count: int, seed: int, hits: list[int], drawn: int, areas: int, noticed: bool
) -> None:
    found = papers(count, ["cs.LG", "cs.CV", "stat.ML"], counts=(("upvotes", 3),) if noticed else ())
    scores = np.random.default_rng(seed).normal(size=count)
    shape = Shape(5, 3, areas, drawn)
    rows = list(dict.fromkeys(row for row in hits if row < count))
    placed = laid(
        found,
        list(scores),
        shape,
        found_by={4: rows, 2: rows[::-1]},
        searches=SEARCHES,
        draw=lambda free, wanted: [Drawn(row, 0.1) for row in free[:wanted]],
    )
    printed = [row for one in placed for row in one.rows]
    assert len(printed) == len(set(printed))
    assert set(printed) <= set(range(count))
    assert len({one.key for one in placed}) == len(placed)
    for one in placed:
        most = {SectionKind.FRONT: shape.front, SectionKind.DISCOVERY: shape.discoveries}.get(one.kind, shape.section)
        assert 1 <= len(one.rows) <= most
    assert len(section(placed, "front")) == min(5, count)


def test_the_front_page_begins_with_the_best_and_is_not_all_of_one_kind() -> None:
    found = papers(40)
    vectors = np.zeros((40, 2), np.float32)
    vectors[:30, 0] = 1  # thirty about one thing, the best of them all
    vectors[30:, 1] = 1
    scores = np.r_[np.linspace(3, 2.7, 30), np.linspace(2.69, 2.4, 10)]
    placed = lay_out(found, scores, vectors, Shape(10, 3, 2, 0), found_by={}, searches=(), areas={})
    front = section(placed, "front")
    assert front[0] == 0
    assert 1 <= sum(row >= 30 for row in front[:2]) <= 5
    groups = [0] * 30 + [1] * 10
    shared = lay_out(found, scores, vectors, Shape(10, 3, 2, 0), found_by={}, searches=(), areas={}, groups=groups)
    assert sum(row < 30 for row in section(shared, "front")) == 6
    alone = lay_out(found, scores, vectors, Shape(10, 3, 2, 0), found_by={}, searches=(), areas={}, groups=[0] * 40)
    assert len(section(alone, "front")) == 10
    alike = lay_out(found, scores, vectors, Shape(10, 3, 2, 0), found_by={}, searches=(), areas={}, relevance=1.0)
    assert section(alike, "front") == tuple(range(10))


def test_far_worse_papers_do_not_come_in_for_diversity() -> None:
    scores = np.r_[np.full(10, 5.0), np.full(50, -5.0)]
    placed = laid(papers(60), list(scores), Shape(5, 3, 2, 0))
    assert set(section(placed, "front")) <= set(range(10))


@given(st.integers(1, 20), st.integers(1, 8), st.integers(0, 100))
def test_marginal_relevance_against_its_definition(count: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors, relevance = units(count, 4, seed), rng.random(count)
    chosen: list[int] = []
    while len(chosen) < min(size, count):
        left = [n for n in range(count) if n not in chosen]
        near = [max([0.0, *(float(vectors[n] @ vectors[m]) for m in chosen)]) for n in left]
        worth = [0.6 * relevance[n] - 0.4 * close for n, close in zip(left, near, strict=True)]
        chosen.append(left[int(np.argmax(worth))])
    assert diverse(list(range(count)), relevance, vectors, size, share=0.6) == chosen


def test_areas_that_are_read_come_first_then_the_largest() -> None:
    found = papers(60, ["cs.CV", "cs.CV", "cs.CV", "stat.ML", "cs.LG", "cs.LG"])
    keys = [one.key for one in laid(found, shape=Shape(5, 3, 3, 0), areas={"stat.ML": 0.2})]
    assert keys == ["front", "area-stat.ML", "area-cs.CV", "area-cs.LG"]
    assert len(laid(found, shape=Shape(5, 3, 0, 0))) == 1


def test_a_paper_of_several_areas_stands_under_its_first_or_a_followed_one() -> None:
    both = (Area("cs", "cs.CV"), Area("cs", "cs.LG"))
    found = [*papers(6, ["cs.AI"]), *(Paper(50 + n, f"Both {n}", areas=both) for n in range(5))]
    shape = Shape(5, 3, 3, 0)
    plain = laid(found, shape=shape, areas={"cs.LG": 0.5, "cs.CV": 0.4})
    assert len(section(plain, "area-cs.CV")) == 3
    assert not section(plain, "area-cs.LG")
    followed = laid(found, shape=shape, areas={"cs.LG": 1.5, "cs.CV": 0.4}, followed={"cs.LG"})
    assert len(section(followed, "area-cs.LG")) == 3
    assert len(section(followed, "area-cs.CV")) == 2  # what had no room there stands at home


def test_papers_without_an_area_have_a_section_too() -> None:
    found = [*papers(10), *(Paper(50 + n, f"Bare {n}") for n in range(4))]
    placed = laid(found, shape=Shape(5, 3, 3, 0))
    assert [(one.key, one.title) for one in placed][-1] == ("area-other", "Other papers")
    assert section(placed, "area-other") == (10, 11, 12)


def test_of_poor_papers_an_area_has_three_at_most() -> None:
    found = papers(40, ["cs.LG"])
    scores = [9.0] * 5 + [5.0] * 4 + [-1.0] * 31
    shape = Shape(5, 8, 2, 0)
    assert len(section(laid(found, scores, shape), "area-cs.LG")) == 4
    scores = [9.0] * 6 + [-1.0] * 34
    assert len(section(laid(found, scores, shape), "area-cs.LG")) == 3


def test_elsewhere_is_what_was_noticed_most() -> None:
    found = papers(20)
    found[10] = Paper(11, "Ten", counts=(("upvotes", 7),), areas=found[10].areas)
    found[12] = Paper(13, "Twelve", counts=(("upvotes", 3), ("comments", 9)), areas=found[12].areas)
    found[15] = Paper(16, "Fifteen", counts=(("citations", 90), ("upvotes", 0)), areas=found[15].areas)
    assert section(laid(found), "elsewhere") == (12, 10)
    assert section(laid(papers(20)), "elsewhere") == ()


def test_two_entries_of_one_paper_are_printed_once() -> None:
    """H08: a paper that two sources brought and that was not merged."""
    found = papers(3)
    found.append(Paper(9, "TITLE 1!", authors=("Lee1, A.",)))
    found.append(Paper(10, "Title 1", authors=("Bo Chen",)))  # another paper of that name
    placed = laid(found, [1, 1, 1, 5, 0])
    assert sorted(row for one in placed for row in one.rows) == [0, 2, 3, 4]


def test_equal_scores_go_by_the_newest() -> None:
    placed = lay_out(
        papers(4), np.zeros(4), np.zeros((4, 2), np.float32), Shape(5, 3, 2, 0), found_by={}, searches=(), areas={}
    )
    assert section(placed, "front") == (3, 2, 1, 0)


@pytest.mark.parametrize(
    ("area", "key", "title"),
    [
        (Area("cs", "cs.LG"), "cs.LG", "Machine Learning"),
        (Area("quant-ph"), "quant-ph", "Quantum Physics"),
        (Area("Theory", "Learning Theory"), "Theory", "Theory"),
        (Area("cs"), "cs", "cs"),
    ],
)
def test_names_of_areas(area: Area, key: str, title: str) -> None:
    assert area_key(area) == key
    assert area_title(key) == title


def test_the_table_of_categories() -> None:
    assert len(AREA_NAMES) == 155
    assert {"cs.CL", "astro-ph.SR", "cond-mat.mes-hall", "hep-th", "stat.TH"} <= AREA_NAMES.keys()
    assert all(name and name == name.strip() for name in AREA_NAMES.values())


def test_the_work_for_a_saved_search_does_not_grow_with_the_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is free is made a set once for each search, not for each of its hits."""
    made: list[int] = []

    def counted(values: Iterable[int] = ()) -> set[int]:
        found = set(values)
        made.append(len(found))
        return found

    monkeypatch.setattr(compose, "set", counted, raising=False)
    searches = [SavedSearch(n + 1, f"s{n}", "q", morning(0)) for n in range(5)]
    laid(papers(300), found_by={search.id: range(299, 99, -1) for search in searches}, searches=searches)
    assert sum(len_ > 100 for len_ in made) <= len(searches)


def test_of_papers_noticed_alike_the_better_stand_first() -> None:
    found = [replace(one, counts=(("upvotes", one.id % 2),)) for one in papers(30)]
    placed = laid(found, scores=list(range(30)))
    front = section(placed, "front")
    assert section(placed, "elsewhere") == tuple(row for row in range(28, -1, -2) if row not in front)[:3]


def test_papers_without_authors_are_not_one_for_their_title() -> None:
    found = [replace(one, title="Editorial", authors=()) for one in papers(4)]
    assert sorted(row for one in laid(found) for row in one.rows) == [0, 1, 2, 3]


def test_the_front_page_ends_where_nothing_speaks_for_a_paper() -> None:
    found = papers(40)
    shape = Shape(10, 8, 6, 0)
    spoken = {0, 1, 2, 4, 7, 8, 9}
    full = section(laid(found, shape=shape), "front")
    assert len(full) == 10
    front = section(laid(found, shape=shape, speaks=spoken.__contains__), "front")
    assert front == tuple(row for row in full if row in spoken)
    few = section(laid(found, shape=shape, speaks={full[0], full[3]}.__contains__), "front")
    assert few == (full[0], full[1], full[2], full[3], full[4])[: compose.LEAST_FRONT]
    placed = laid(found, shape=shape, speaks=lambda row: False, areas={"cs.LG": 0.6, "cs.CV": 0.4})
    assert len(section(placed, "front")) == compose.LEAST_FRONT
    assert {0, 1, 2, 3, 4, 5} <= {row for one in placed for row in one.rows}  # what made room stands in its area


def test_areas_that_are_not_read_get_no_section_where_others_are() -> None:
    areas = ("cs.LG", "cs.CV", "cs.IT", "cs.CL", "cs.AI")
    found, shape = papers(60, areas), Shape(5, 8, 6, 0)
    read = {"cs.CV": 0.7, "cs.LG": 0.28, "cs.IT": 0.02}
    keys = [one.key for one in laid(found, shape=shape, areas=read, speaks=lambda row: True)]
    assert keys == ["front", "area-cs.CV", "area-cs.LG"]
    unread = [one.key for one in laid(found, shape=shape, areas={"math.PR": 1.0}, speaks=lambda row: True)]
    assert len(unread) == 1 + compose.LEAST_SECTIONS
    assert len([one for one in laid(found, shape=shape, areas=read) if one.kind is SectionKind.AREA]) == len(areas)
