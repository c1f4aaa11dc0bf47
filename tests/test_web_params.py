"""What addresses of the site ask for, and how numbers, texts and lists are made ready to be shown."""

from __future__ import annotations

from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from broadsheet.errors import NotFoundError
from broadsheet.model import Paper, Record, StoredRecord
from broadsheet.web import params, views
from broadsheet.web.params import ParameterError, SearchRequest
from tests.pages import NOW

# --- parameters


facet_values = st.text("abc ·\"'&?#%+中é", min_size=1, max_size=8).map(params.clean).filter(bool)
requests = st.builds(
    SearchRequest,
    text=st.text(max_size=30).map(params.clean).filter(lambda t: t.isprintable()),
    page=st.integers(1, params.MAX_PAGE),
    sort=st.sampled_from(params.SORTS),
    facets=st.dictionaries(
        st.sampled_from(("venue", "area", "subarea")),
        st.lists(facet_values, min_size=1, max_size=3, unique=True).map(tuple),
    ),
    page_size=st.none() | st.integers(1, 200),
)


@given(requests)
def test_the_address_of_a_request_reads_back_as_the_request(request: SearchRequest) -> None:
    assert params.parse_search(QueryParams(urlsplit(request.url()).query)) == request


@given(requests, st.sampled_from(("venue", "area")), facet_values)
def test_choosing_and_taking_back_a_facet_changes_only_the_page(request: SearchRequest, name: str, value: str) -> None:
    once = request.toggled(name, value)
    assert once.chosen(name, value) != request.chosen(name, value)
    assert once.page == 1
    twice = once.toggled(name, value)
    assert {k: set(v) for k, v in twice.facets.items()} == {k: set(v) for k, v in request.facets.items()}


def test_one_address_for_one_request() -> None:
    a = params.parse_search(QueryParams("page=1&sort=relevance&year=2024&q=x&utm_source=y"))
    b = params.parse_search(QueryParams("year=2024&q=%20x%20"))
    assert a.url() == b.url() == "/search?q=x&year=2024"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=abc", "page"),
        ("page=1.5", "page"),
        ("page=٣", "page"),
        ("sort=best", "sort"),
        ("year=20x4", "year"),
        ("code=maybe", "code"),
        ("page_size=0", "page_size"),
        ("page_size=201", "page_size"),
        ("venue=" + "x" * 501, "venue"),
        ("&".join(f"area={n}" for n in range(51)), "area"),
        ("q=" + "x" * 32_001, "q"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(query: str, name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name}: ") as caught:
        params.parse_search(QueryParams(query))
    assert caught.value.name == name


@pytest.mark.parametrize("text", ["1000000000", "9" * 5000, "10001"])
def test_a_page_far_beyond_is_cut(text: str) -> None:
    assert params.parse_search(QueryParams([("q", "x"), ("page", text)])).page == params.MAX_PAGE


def test_pasted_text_is_freed_of_what_cannot_be_seen() -> None:
    assert params.clean("\u200b2402.13284\n") == "2402.13284"
    assert params.clean("a\x00b\r\nc") == "a b c"


@given(st.none() | st.dates(), st.integers(0, 2**63 - 1))
def test_a_place_in_the_list_of_newest_reads_back(day: date | None, paper_id: int) -> None:
    text = params.before_of(day, paper_id)
    assert params.parse_before(QueryParams({"before": text})) == (day, paper_id)


@pytest.mark.parametrize("text", ["2025-06-30", "2025-02-30.1", "x.1", "2025-06-30.x", "20250630.1", "2025-W01-1.4"])
def test_a_wrong_place_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^before: "):
        params.parse_before(QueryParams({"before": text}))


def test_a_number_that_no_database_holds_is_not_found() -> None:
    assert params.paper_reference("42") == 42
    assert params.paper_reference("9" * 18) == int("9" * 18)
    with pytest.raises(NotFoundError):
        params.paper_reference("9" * 19)


# --- views


MARKUP = st.lists(st.sampled_from(["word ", "$x^2$ ", "中文", "longer-word ", "$a + b = c$", ". ", "x"]), max_size=60)


@given(MARKUP, st.integers(20, 120))
def test_an_excerpt_is_short_and_never_ends_inside_a_formula(parts: list[str], limit: int) -> None:
    markup = "".join(parts)
    cut = views.excerpt(markup, limit)
    assert len(cut) <= limit + 2
    assert cut.count("$") % 2 == 0
    assert cut == markup or cut.endswith("…")


def test_an_excerpt_of_one_endless_formula_shows_no_half_of_it() -> None:
    assert "$" not in views.excerpt("$" + "x+" * 300 + "$", 50)


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_pager_shows_first_last_and_neighbours_without_a_lonely_gap(a: int, b: int) -> None:
    current, last = min(a, b), max(a, b)
    line = views.page_numbers(current, last)
    shown = [n for n in line if n is not None]
    assert shown == sorted(set(shown))
    assert {1, last, current} <= set(shown)
    assert len(line) <= 9
    for at, n in enumerate(line):
        if n is None:
            before, after = line[at - 1], line[at + 1]
            assert before is not None
            assert after is not None
            assert after - before > 2


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0"), (0.61, "61"), (0.29, "29"), (0.9999, "99"), (1, "100"), (1.2, "100"), (-1, "0"), (0.57, "57")],
)
def test_a_share_is_rounded_down(share: float, shown: str) -> None:
    assert views.percent(share) == f"{shown}\u202f%"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`a <b>` & c", "<code>a &lt;b&gt;</code> &amp; c"),
        ("<i>", "&lt;i&gt;"),
        ("one ` alone", "one ` alone"),
        ("`a``b`", "<code>a</code><code>b</code>"),
    ],
)
def test_what_stands_between_backticks_is_code(message: str, shown: str) -> None:
    assert views.with_code(message) == shown


@pytest.mark.parametrize(("value", "shown"), [(0, ".00"), (0.8, ".80"), (0.994, ".99"), (0.997, "1"), (1, "1")])
def test_a_score_is_short(value: float, shown: str) -> None:
    assert views.score(value) == shown


def test_dates_are_written_out_in_any_locale() -> None:
    assert views.written_long(date(2026, 11, 30)) == "Monday, 30 November 2026"
    assert views.written(date(2024, 2, 1)) == "1 February 2024"


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("任务数量很少时的元学习", "zh"),
        ("用 BERT 做元学习的方法", "zh"),
        ("少なくとも一つの方法", "ja"),
        ("신경망", "ko"),
        ("The 道 of Deep Networks and Their Training", ""),
        ("Über Gödel", ""),
        ("", ""),
        ("$x^2$", ""),
    ],
)
def test_language_of_a_text(text: str, lang: str) -> None:
    assert views.language(text) == lang


def test_names_are_cut_but_never_for_one_alone() -> None:
    def line(count: int) -> tuple[int, int]:
        found = views.names(Paper(1, "x", authors=tuple(map(str, range(count)))), 6)
        return len(found.shown), found.more

    assert [line(n) for n in (0, 1, 6, 7, 8, 18)] == [(0, 0), (1, 0), (6, 0), (7, 0), (6, 2), (6, 12)]


def _stored(title: str, derived: bool) -> StoredRecord:
    return StoredRecord(1, 1, Record("s", "k", "{}", title=title, title_derived=derived), NOW)


@pytest.mark.parametrize(
    ("records", "derived"),
    [
        ([("A", True)], True),
        ([("A", True), ("", False)], True),
        ([("A", True), ("B", False)], False),
        ([("B", False)], False),
        ([], False),
    ],
)
def test_a_title_is_derived_if_no_record_has_a_real_one(records: list[tuple[str, bool]], derived: bool) -> None:
    assert views.title_derived([_stored(*record) for record in records]) is derived


def test_addresses_that_ask_for_a_field() -> None:
    def asked(*args: str) -> str:
        return parse_qs(urlsplit(views.asking(*args)).query)["q"][0]

    assert asked("au", "Kurt Gödel") == 'au:"Kurt Gödel"'
    assert asked("au", 'A "quoted" name') == 'au:"A  quoted  name"'
    assert asked("area", "Theory", "Learning Theory") == 'area:"Theory" cat:"Learning Theory"'
    assert asked("area", "cs.LG", "") == 'area:"cs.LG"'
