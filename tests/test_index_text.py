"""The text index: what matches, and in which order."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.index import (
    All,
    DayIs,
    Either,
    Everything,
    Exclude,
    Facet,
    Filtered,
    Match,
    YearIs,
    match_phrase,
    match_words,
    open_text_index,
)
from broadsheet.index.tantivy_schema import initials
from broadsheet.index.tantivy_text import TantivyIndex
from tests.index_makers import BODY, found, index_of, paper

WORDS = {"title": 2.0, "abstract": 1.0, "topics": 0.5}
AUTHORS = {"authors": 1.0}

# --- Words and exact forms

TITLES = {
    1: "A C++ compiler for tensor programs",
    2: "The C language, forty years on",
    3: "What GPT-4 knows about chemistry",
    4: "YOLOv8 on the edge",
    5: "You only look once: YOLO revisited",
    6: "Pretraining without labels",
    7: "On the pre-training of speech models",
    8: "Non-invasive imaging of the brain",
    9: "A noninvasive probe",
    10: "Schrödinger bridges",
    11: "Scaling α-divergence bounds",
    12: "AT&T's speech corpus",
    13: "步2 重跑gen-itgc后50条悬空引用清零",
    14: "The foo-bar protocol",
    15: "something_2020-07-13_words in a log",
    16: "Multi-agent debate",
    17: "Retrieval-augmented generation for LLMs",
    18: "Programming in C# and F#",
    19: "图神经网络综述",
}


@pytest.fixture(scope="module")
def titles(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    return index_of(tmp_path_factory.mktemp("titles"), [paper(i, title) for i, title in TITLES.items()])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("C++", {1}),
        ("c#", {18}),
        ("GPT-4", {3}),
        ("gpt4", {3}),
        ("YOLO", {4, 5}),
        ("YOLOv8", {4}),
        ("pretraining", {6, 7}),
        ("pre-training", {6, 7}),
        ("pre training", {6, 7}),
        ("non-invasive", {8, 9}),
        ("non invasive", {8, 9}),
        ("noninvasive", {8, 9}),
        ("Schrodinger", {10}),
        ("Schro\u0308dinger", {10}),
        ("ＳＣＨＲÖＤＩＮＧＥＲ", {10}),
        ("alpha", {11}),
        ("α", {11}),
        ("AT&T", {12}),
        ("悬空", {13}),
        ("itgc", {13}),
        ("引用清零", {13}),
        ("悬零", set()),
        ("神经网络", {19}),
        ("foo-bar", {14}),
        ("bar", {14}),
        ("something_2020-07-13_words", {15}),
        ("multi-agent", {16}),
        ("agents", {16}),
        ("a'b", set()),
        ("ti:foo", {14}),
        ("NEAR(", set()),
        ('"', set()),
        ("*", set()),
        ("", set()),
        ("   ", set()),
        ("a OR", {1, 9, 15}),
        ("C++ (a:b", {1}),
        ("zzzznothing", set()),
    ],
)
def test_words_of_any_kind_find_what_they_mean(titles: TantivyIndex, text: str, ids: set[int]) -> None:
    assert found(titles, match_words(text, BODY)) == ids


@pytest.mark.parametrize(
    ("text", "first"), [("GPT-4", 3), ("AT&T", 12), ("multi-agent", 16), ("something_2020-07-13_words", 15), ("C++", 1)]
)
def test_the_exact_form_comes_first(titles: TantivyIndex, text: str, first: int) -> None:
    assert titles.search(match_words(text, BODY), limit=1).ids == (first,)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("C++", {1}),
        ("c++ compiler", {1}),
        ("compiler C++", set()),
        ("pre-training", {6, 7}),
        ("speech models", {7}),
        ("models speech", set()),
        ("look once", {5}),
        ("GPT-4", {3}),
        ("gpt4", {3}),
        ("YOLOv8", {4}),
        ("YOLO", {5}),
        ("AT&T", {12}),
        ("noninvasive", {9}),
        ("悬空引用", {13}),
        ("悬引", set()),
        ("the edge", {4}),
        ("", set()),
    ],
)
def test_phrases(titles: TantivyIndex, text: str, ids: set[int]) -> None:
    assert found(titles, match_phrase(text, BODY)) == ids


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=40), mode=st.sampled_from(["any", "all", "phrase"]))
def test_no_text_is_an_error(titles: TantivyIndex, text: str, mode: Any) -> None:
    fields = {"title": 2.0, "body": 1.0, "authors": 1.0, "forms": 1.0}
    for query in (Match(text, fields, mode), match_words(text, WORDS), match_phrase(text, WORDS)):
        assert titles.search(query, limit=3).total <= len(TITLES)


@settings(max_examples=60, deadline=None)
@given(text=st.sampled_from(sorted(TITLES.values())), data=st.data())
def test_a_paper_is_found_by_any_of_its_words(titles: TantivyIndex, text: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from([w for w in text.split() if len(w) > 2]))
    owner = next(i for i, title in TITLES.items() if title == text)
    assert owner in found(titles, match_words(word, BODY))


def test_english_is_stemmed_and_names_are_not(tmp_path: Path) -> None:
    papers = [paper(1, "Running networks", authors=("Ann Banks",)), paper(2, "A bank", authors=("Bo Bank",))]
    index = index_of(tmp_path, papers)
    assert found(index, Match("network run", BODY, "all")) == {1}
    assert found(index, Match("banks", AUTHORS)) == {1}


def test_stop_words_count_only_alone_or_in_phrases(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "The theory"), paper(2, "The practice"), paper(3, "theory the other way")])
    assert found(index, Match("the theory", BODY)) == {1, 3}
    assert found(index, Match("of the theory", BODY, "all")) == {1, 3}
    assert found(index, Match("the", BODY)) == {1, 2, 3}
    assert found(index, Match("the theory", BODY, "phrase")) == {1}


def test_all_takes_each_word_from_any_field(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "Graphs", "about learning"), paper(2, "Graphs", "about cooking")])
    assert found(index, Match("graphs learning", WORDS, "all")) == {1}


def test_phrases_do_not_run_over_from_one_value_to_the_next(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, keywords=("deep learning", "theory of games"))])
    assert found(index, Match("deep learning", {"topics": 1.0}, "phrase")) == {1}
    assert found(index, Match("learning theory", {"topics": 1.0}, "phrase")) == set()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Antonio Araujo", {1}),
        ("António Araújo", {1}),
        ("de Bruyn Kops, S M", {2, 3}),
        ("bruyn kops", {2, 3}),
        ("William III, J", {4}),
        ("X SJ", {5}),
        ("Lukasz", {6}),
        ("苏子昊", {7}),
    ],
)
def test_authors(tmp_path: Path, name: str, wanted: set[int]) -> None:
    names = {
        1: "António Araújo", 2: "Stephen M. de Bruyn Kops", 3: "S. M. de Bruyn Kops", 4: "James William III",
        5: "S. J. X", 6: "Łukasz Nowak", 7: "苏子昊",
    }  # fmt: skip
    index = index_of(tmp_path, [paper(i, authors=("Other Person", name)) for i, name in names.items()])
    assert found(index, Match(name, AUTHORS, "all")) == wanted


def test_an_accented_name_together_with_a_word(tmp_path: Path) -> None:
    papers = [paper(1, "Xenon detectors", authors=("Ana Díaz",)), paper(2, "Xenon", authors=("Bo Li",))]
    index = index_of(tmp_path, papers)
    assert found(index, All((Match("Diaz", AUTHORS), Match("xenon", BODY)))) == {1}


@pytest.mark.parametrize(
    ("author", "expected"),
    [("Stephen M. Kops", "S M SM"), ("Kops, S. J.", "S J SJ"), ("Bo Li", "B"), ("苏子昊", ""), ("", ""), (", ", "")],
)
def test_initials(author: str, expected: str) -> None:
    assert initials(author) == expected


# --- Order


def test_scores_add_up_over_fields(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "graph", "graph"), paper(2, "graph", "nothing")])
    fields = {"title": 1.0, "abstract": 1.0}
    total = index.search(Match("graph", fields), limit=2)
    parts = [index.search(Match("graph", {name: boost}), limit=2) for name, boost in fields.items()]
    assert (total.ids, total.scores[0]) == ((1, 2), pytest.approx(sum(part.scores[0] for part in parts), abs=3e-4))


def test_boosts_multiply_and_filters_add_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(i, "graph " * i, venue="v", year=2020) for i in (1, 2, 3)])
    plain = index.search(Match("graph", BODY), limit=3)
    thrice = index.search(Match("graph", {name: 3 * boost for name, boost in BODY.items()}), limit=3)
    assert thrice.scores == pytest.approx([3 * score for score in plain.scores], abs=3e-4)
    for query in (
        Filtered(Match("graph", BODY), All((Facet("venue", "v"), YearIs(2020, 2020), Match("graph", BODY)))),
        All((Match("graph", BODY), Facet("venue", "V"), YearIs(None, 2021), Exclude(Match("tree", BODY)))),
        Either((Match("graph", BODY), Everything())),
    ):
        assert index.search(query, limit=3) == plain


def test_equal_scores_come_by_id_and_pages_never_repeat(tmp_path: Path) -> None:
    index = open_text_index(tmp_path)
    for start in (400, 200, 300, 0, 100):  # several segments, ids out of order
        index.apply([paper(i, "the same words") for i in range(start + 100, start, -1)], [], seq=start)
    pages = [index.search(Match("words", BODY), limit=30, offset=offset) for offset in range(0, 510, 30)]
    assert [i for page in pages for i in page.ids] == list(range(1, 501))
    assert {page.total for page in pages} == {500}


@pytest.mark.parametrize("sort", ["relevance", "newest", "oldest"])
def test_pages_past_the_end_are_empty(titles: TantivyIndex, sort: Any) -> None:
    for query in (Match("the", BODY), Everything()):
        total = titles.search(query, limit=10, sort=sort).total
        for offset in (total, total + 1, 10**9, 10**18):
            assert titles.search(query, limit=10, offset=offset, sort=sort) == type(titles.search(query, limit=1))(
                (), (), total
            )
        assert titles.search(query, limit=0, sort=sort).ids == ()
        assert len(titles.search(query, limit=10**18, offset=-5, sort=sort).ids) == total


def test_sort_by_day_then_id_undated_last(tmp_path: Path) -> None:
    days = {
        1: date(2024, 5, 1), 2: None, 3: date(2025, 1, 1), 4: date(2024, 5, 1), 5: date(1931, 1, 1), 6: None,
        7: date.max, 8: date.min,
    }  # fmt: skip
    index = index_of(tmp_path, [paper(i, "x word", day=day) for i, day in days.items()])
    assert index.search(Match("word", BODY), limit=9, sort="newest").ids == (7, 3, 4, 1, 5, 8, 6, 2)
    assert index.search(Match("word", BODY), limit=9, sort="oldest").ids == (8, 5, 1, 4, 3, 7, 2, 6)
    assert index.search(Everything(), limit=9, sort="newest").ids == (7, 3, 4, 1, 5, 8, 6, 2)
    assert found(index, DayIs(date(2024, 5, 1), date(2024, 5, 1))) == {1, 4}
    assert found(index, DayIs(None, date(2000, 1, 1))) == {5, 8}
    assert found(index, DayIs()) == {1, 3, 4, 5, 7, 8}
