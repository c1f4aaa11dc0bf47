"""The reader's search syntax: its bounds, the round trip through text, and what else is read from a tree."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet import query as q
from broadsheet.query import (
    And,
    Everything,
    Field,
    Id,
    Node,
    Not,
    Or,
    Phrase,
    Query,
    Since,
    SinceAgo,
    Term,
    Words,
    YearRange,
    parse,
    to_text,
)
from tests.query_makers import TI, A, B

# --- bounds


def test_long_text_is_cut_with_a_note() -> None:
    query = parse(" ".join(f"w{i}" for i in range(2000)))
    assert len(q.soft_words(query)) == q.MAX_WORDS
    assert q.positive_terms(query) == [Term(f"w{i}") for i in range(q.MAX_TERMS)]
    assert query.notes == ("Only the first 512 of 2000 words were read.",)


def test_words_beyond_those_matched_are_noted() -> None:
    assert parse("w " * 64).notes == ()
    assert parse("w " * 65).notes == ("Of 65 words, the first 64 different ones are matched word by word.",)


def test_filter_after_a_pasted_abstract_holds() -> None:
    query = parse("word " * 2000 + "year:2020")
    assert q.required(query) == (YearRange(2020, 2020),)


def test_required_words_are_fewer() -> None:
    query = parse(" OR ".join(f"w{i}" for i in range(2000)))
    assert query.root == Or(tuple(Term(f"w{i}") for i in range(q.MAX_TERMS)))
    assert query.notes == ("Only the first 64 of 2000 words were read.",)


def test_filters_are_bounded() -> None:
    query = parse(" OR ".join(["year:2020"] * 100))
    assert query.root == Or((YearRange(2020, 2020),) * q.MAX_TERMS)
    assert "Only the first 64 of 100 filters were read." in query.notes


@pytest.mark.parametrize(
    "text", ["(" * 10_000 + "a" + ")" * 10_000, "(" * 10_000 + "a", "-(" * 10_000 + "a", "(a OR (b AND " * 5000 + "a"]
)
def test_deep_brackets_become_plain_words(text: str) -> None:
    query = parse(text)
    assert isinstance(query.root, Words)
    assert set(query.root.children) <= {A, B}
    assert query.notes[0].startswith("There are too many brackets within brackets")
    assert parse(to_text(query)) == query


def test_brackets_up_to_the_bound_are_followed() -> None:
    nested = "a"
    for level in range(q.MAX_DEPTH - 1):
        nested = f"b {'AND' if level % 2 else 'OR'} ({nested})"
    assert not isinstance(parse(nested).root, Words)
    assert parse(to_text(parse(nested))) == parse(nested)
    assert isinstance(parse(f"b OR (c AND ({nested}))").root, Words)


UNITS = [
    "word ",
    "(",
    ")",
    "a(",
    "a()",
    '"',
    '"a ',
    "-(",
    "NOT ",
    "a OR ",
    "ti:",
    "all:",
    'ti:"a ',
    '模"',
    "year:2020 ",
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    """32 times the text: 32 times the work if linear, 1,024 times if quadratic; the bound is halfway by ratio."""

    def best(text: str) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            parse(text)
            times.append(time.process_time() - start)
        return min(times)

    assert best(unit * 9600) < 181 * best(unit * 300)


# --- properties


PIECES = st.sampled_from(
    [
        *"()\"-+:,;*\\'=<>_ \tab模型é（）“”：，İﬁ²",
        *(" AND ", " OR ", " NOT ", "AND", "OR", "NOT", "ANDNOT"),
        *("ti:", "au:", "year:", "id:", "cat:", "all:", "has:", "since:", "until:"),
        *("2020", "..", "7d", "2026-05", "code", "foo", "e\u0301", "\u0301", "\u0338", "\u200b", "\ud800", "\x00"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join), st.lists(PIECES, max_size=30).map(" ".join))


def nodes(node: Node | None) -> list[Node]:
    below = node.children if isinstance(node, Words | And | Or) else (node.child,) if isinstance(node, Not) else ()
    return [node, *(n for child in below for n in nodes(child))] if node else []


@given(TEXTS)
def test_any_text_round_trips(text: str) -> None:
    query = parse(text)
    assert parse(to_text(query)) == query


@given(TEXTS)
def test_any_text_gives_a_tree_of_the_stated_shape(text: str) -> None:
    """Nothing searchable is lost in full, and no node can silently find nothing."""
    root = parse(text).root
    assert (root is None) == (not any(character.isalnum() for character in text))
    soft = q.soft_words(Query(root))
    for node in nodes(root):
        if isinstance(node, Term | Phrase | Id):
            assert any(character.isalnum() for character in node.text)
        if isinstance(node, Words):
            assert node.children == soft
        if isinstance(node, And | Or):
            assert len(node.children) > 1
            assert not any(isinstance(child, type(node)) for child in node.children)
            assert isinstance(node, And) or not any(isinstance(child, Not) for child in node.children)
        if isinstance(node, And):
            assert any(not isinstance(child, Not) for child in node.children)
    assert not isinstance(root, Not | Everything)


@given(TEXTS, st.dates())
def test_resolved_has_no_relative_day(text: str, today: date) -> None:
    query = parse(text, today)
    assert not any(isinstance(node, SinceAgo) for node in nodes(query.root))
    assert q.resolve(parse(text), today) == query


# --- helpers


def test_relative_days_are_resolved_by_the_clock() -> None:
    today = date(2026, 5, 10)
    assert parse("since:7d", today).root == Since(date(2026, 5, 3))
    assert parse("a OR -since:1d", today).root == Or((A, And((Everything(), Not(Since(date(2026, 5, 9)))))))
    assert parse("since:99999y", today).root == Since(date(1752, 7, 26))
    assert parse("since:99999y", date(3, 1, 1)).root == Since(date.min)


def test_parts_of_a_query() -> None:
    query = parse('graph "neural network" ti:attention +must year:2020.. cat:cs.LG -survey -venue:ICML id:2401.12345')
    graph, phrase, must = Term("graph"), Phrase("neural network"), Term("must")
    attention, category = Term("attention", TI), Term("cs.LG", Field.CATEGORY)
    excluded = (Not(Term("survey")), Not(Term("ICML", Field.VENUE)))
    assert q.soft_words(query) == (graph, phrase)
    assert q.required(query) == (
        attention, must, Id("2401.12345"), YearRange(2020, None), category, *excluded
    )  # fmt: skip
    assert q.positive_terms(query) == [graph, phrase, attention, must, category]


def test_parts_of_other_roots() -> None:
    assert q.required(parse("a OR b")) == (Or((A, B)),)
    assert q.required(parse("")) == ()
    assert q.required(parse("-a")) == (Not(A),)
    assert q.soft_words(parse("-a")) == ()
    assert q.required(parse("year:2020")) == (YearRange(2020, 2020),)
    assert q.positive_terms(parse("a b a c"), limit=2) == [A, B]
