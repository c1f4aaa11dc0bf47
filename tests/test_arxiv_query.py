"""Words and days as arXiv's API understands them."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.sources.arxiv_query import search_query


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("transformer", "(ti:transformer OR abs:transformer)"),
        ("graph networks", "(ti:graph OR abs:graph) AND (ti:networks OR abs:networks)"),
        ("graph AND networks", "(ti:graph OR abs:graph) AND (ti:networks OR abs:networks)"),
        ('"graph networks"', '(ti:"graph networks" OR abs:"graph networks")'),
        ("non-invasive", '(ti:"non-invasive" OR abs:"non-invasive")'),
        ("C++", '(ti:"C++" OR abs:"C++")'),
        ("类脑", "(ti:类脑 OR abs:类脑)"),
        ('au:"de Bruyn"', 'au:"de Bruyn"'),
        ("cat:cs.LG", "cat:cs.LG"),
        ("foo:bar", '(ti:"foo:bar" OR abs:"foo:bar")'),
        ("MoE OR mixture", "((ti:MoE OR abs:MoE) OR (ti:mixture OR abs:mixture))"),
        ("all:a OR all:b all:c", "(all:a OR all:b) AND all:c"),
        ("all:a (all:b OR all:c)", "all:a AND ((all:b OR all:c))"),
        ("all:a NOT all:b", "all:a ANDNOT all:b"),
        ("all:a all:b NOT all:c", "(all:a AND all:b) ANDNOT all:c"),
        ("all:a ANDNOT (all:b all:c)", "all:a ANDNOT (all:b AND all:c)"),
        ('all:a ""', "all:a"),
    ],
)
def test_words(words: str, wanted: str) -> None:
    assert search_query(words) == wanted


def test_more_words_give_fewer_papers_unless_any_will_do() -> None:
    words = "all:retrieval all:RAG all:grounding"
    assert search_query(words) == "all:retrieval AND all:RAG AND all:grounding"
    assert search_query(words, any_word=True) == "(all:retrieval OR all:RAG OR all:grounding)"


def test_a_day_is_whole() -> None:
    day = date(2025, 3, 25)
    assert search_query("", since=day, until=day) == "submittedDate:[202503250000 TO 202503252359]"


def test_open_ends() -> None:
    assert search_query("", since=date(2025, 3, 25)) == "submittedDate:[202503250000 TO 209912312359]"
    assert search_query("", until=date(2025, 3, 25)) == "submittedDate:[199101010000 TO 202503252359]"


def test_updated_since_is_a_filter_of_its_own() -> None:
    found = search_query("all:x", since=date(2025, 1, 1), updated_since=date(2025, 3, 25))
    assert found == (
        "(all:x) AND submittedDate:[202501010000 TO 209912312359] AND lastUpdatedDate:[202503250000 TO 209912312359]"
    )


def test_categories_and_days_leave_the_words_in_force() -> None:
    found = search_query('"mixture of experts" OR MoE NOT cat:q-bio.NC', categories=["cs.LG", "cs.CL"])
    assert found == (
        '(((ti:"mixture of experts" OR abs:"mixture of experts") OR (ti:MoE OR abs:MoE)) ANDNOT cat:q-bio.NC)'
        " AND (cat:cs.LG OR cat:cs.CL)"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "nothing to search for"),
        ("  ", "nothing to search for"),
        ("NOT a", "wanted"),
        ("a OR", "nothing beside it"),
        ("OR a", "nothing beside it"),
        ("a AND", "nothing beside it"),
        ("a NOT", "nothing beside it"),
        ("(a", "not closed"),
        ("a)", "not opened"),
        ("()", "wanted"),
        ('"a b', "closing quotation mark"),
        ("au:", "no word"),
        ('""', "wanted"),
    ],
)
def test_what_cannot_be_asked(words: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        search_query(words)


def test_days_the_wrong_way_round() -> None:
    with pytest.raises(InputError, match="swap"):
        search_query("a", since=date(2025, 3, 25), until=date(2025, 3, 24))


@given(st.text(max_size=40))
def test_any_text_is_a_query_or_an_error(words: str) -> None:
    try:
        found = search_query(words)
    except InputError:
        return
    bare = re.sub(r'"[^"]*"', "", found)
    assert found.count('"') % 2 == 0
    assert bare.count("(") == bare.count(")")


@given(st.dates(date(1991, 1, 1), date(2098, 1, 1)), st.integers(0, 400))
def test_ranges_hold_both_days(since: date, length: int) -> None:
    until = since + timedelta(days=length)
    match = re.fullmatch(r"submittedDate:\[(\d{12}) TO (\d{12})\]", search_query("", since=since, until=until))
    assert match
    assert match[1] == f"{since:%Y%m%d}0000"
    assert match[2] == f"{until:%Y%m%d}2359"
