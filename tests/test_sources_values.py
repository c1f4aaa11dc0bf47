"""JSON values to text, names, dates, links and areas: every form, one by one."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.model import Area, Link, LinkKind
from broadsheet.sources.values import (
    FieldError,
    area_of,
    areas_of,
    authors_of,
    category_area,
    code_links,
    date_of,
    link_of,
    month_of,
    named_links,
    text_of,
    texts_of,
    url_in,
    year_of,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" A title \n", "A title"),
        (None, ""),
        (1984, "1984"),
        (2.5, "2.5"),
        (["Only one"], "Only one"),
        ([], ""),
        ({"value": "From OpenReview"}, "From OpenReview"),
        ({"value": None}, ""),
        ("nul\x00 inside", "nul inside"),
    ],
)
def test_text(value: Any, text: str) -> None:
    assert text_of(value, "title") == text


@pytest.mark.parametrize("value", [True, {"a": 1}, ["a", "b"]])
def test_text_of_a_wrong_kind_names_the_field(value: Any) -> None:
    with pytest.raises(FieldError, match=r"^title: must be text, not "):
        text_of(value, "title")


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (["a", " b ", "", None], ["a", "b"]),
        ("Aged; Pain, Intractable; Male", ["Aged", "Pain, Intractable", "Male"]),
        ("graphs, trees", ["graphs", "trees"]),
        ({"value": ["x"]}, ["x"]),
        (None, []),
    ],
)
def test_lists_of_texts(value: Any, texts: list[str]) -> None:
    assert list(texts_of(value, "keywords")) == texts


@pytest.mark.parametrize(
    ("value", "names", "cut"),
    [
        (["Ada Lovelace", " Alan Turing "], ("Ada Lovelace", "Alan Turing"), False),
        (["Camargo, Hugo A.", "Heller, Michal P."], ("Camargo, Hugo A.", "Heller, Michal P."), False),
        ([{"name": "Ada Lovelace"}, {"first": "Alan", "last": "Turing"}], ("Ada Lovelace", "Alan Turing"), False),
        ([{"given": "Ada", "family": "Lovelace"}, {"family": "Turing"}], ("Ada Lovelace", "Turing"), False),
        ([{"author": {"display_name": "Ada Lovelace"}}], ("Ada Lovelace",), False),
        ({"value": ["Ada Lovelace"]}, ("Ada Lovelace",), False),
        ({"name": "Ada Lovelace"}, ("Ada Lovelace",), False),
        (["Ada Lovelace", None, ""], ("Ada Lovelace",), False),
        ("A Lovelace; B Turing; C Hopper", ("A Lovelace", "B Turing", "C Hopper"), False),
        ("Ada Lovelace and Alan Turing", ("Ada Lovelace", "Alan Turing"), False),
        ("Ada Lovelace, Alan Turing and Grace Hopper", ("Ada Lovelace", "Alan Turing", "Grace Hopper"), False),
        ("By Ada Lovelace , Alan Turing", ("Ada Lovelace", "Alan Turing"), False),
        (["Ada Lovelace, Alan Turing, Grace Hopper"], ("Ada Lovelace", "Alan Turing", "Grace Hopper"), False),
        (["Ada Lovelace", "et al."], ("Ada Lovelace",), True),
        (["Ada Lovelace", "Alan Turing et al."], ("Ada Lovelace", "Alan Turing"), True),
        (["Ada Lovelace", "others"], ("Ada Lovelace",), True),
        (["Ada Lovelace", "Wei Al"], ("Ada Lovelace", "Wei Al"), False),
        ("Ada Lovelace, Alan Turing 等", ("Ada Lovelace", "Alan Turing"), True),
        (None, (), False),
        ("", (), False),
        ([], (), False),
    ],
)
def test_authors(value: Any, names: tuple[str, ...], cut: bool) -> None:
    assert authors_of(value) == (names, cut)


@pytest.mark.parametrize("value", [7, True, [7.5j], [["a", "b"]], [{"x": 1}]])
def test_authors_of_a_wrong_kind(value: Any) -> None:
    with pytest.raises(FieldError, match=r"^authors: must be "):
        authors_of(value)


@pytest.mark.parametrize("separator", [",", " ,", ";;", ", & "])
def test_a_line_of_separators_is_no_burden(separator: str) -> None:
    assert len(authors_of("A Bee" + separator * 20_000 + "C Dee")[0]) <= 3


@pytest.mark.parametrize(
    ("value", "year"),
    [
        *((2019, 2019), ("2019", 2019), ("1999.0", 1999), (2019.0, 2019), ("2019-07-02", 2019)),
        ({"value": 2020}, 2020),
        *((v, None) for v in (None, "n.d.", "", 0, 19, 20190, "20190", 1e30)),
    ],
)
def test_years(value: Any, year: int | None) -> None:
    assert year_of(value) == year


@pytest.mark.parametrize("value", [[2019], {"a": 1}, True])
def test_year_of_a_wrong_kind(value: Any) -> None:
    with pytest.raises(FieldError, match=r"^year: must be a number"):
        year_of(value)


@pytest.mark.parametrize(
    ("value", "month"),
    [
        *(("September", 9), ("feb", 2), ("Sept", 9), ("march", 3), ("7", 7), (12, 12), ("October–November", 10)),
        *(("27--30 January", 1), ("April 26–28", 4), ("05 August", 8)),
        *((v, None) for v in ("13", "spring", None, 0)),
    ],
)
def test_months(value: Any, month: int | None) -> None:
    assert month_of(value) == month


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-6-30", date(2026, 6, 30)),  # A22
        ("2026-07-15", date(2026, 7, 15)),
        ("2020-03-13T13:15:14.804113+00:00", date(2020, 3, 13)),  # A20
        ("2020-03-13T13:15:14Z", date(2020, 3, 13)),
        ("2025-06-30T22:00:00-04:00", date(2025, 7, 1)),
        ("2025-06-30T00:30:00+08:00", date(2025, 6, 29)),
        ("2020-02-07 10:52:54", date(2020, 2, 7)),
        ("2024-05", date(2024, 5, 1)),
        ("2024/5/6", date(2024, 5, 6)),
        ("30 June 2026", date(2026, 6, 30)),
        ("June 30, 2026", date(2026, 6, 30)),
        ("Oct. 2nd 2026", date(2026, 10, 2)),
        ("June 2026", date(2026, 6, 1)),
        (1_700_000_000, date(2023, 11, 14)),
        (1_700_000_000_000, date(2023, 11, 14)),
        ({"value": "2024-05-06"}, date(2024, 5, 6)),
        ("2024", None),
        (2024, None),
        ("2024-13-01", None),
        ("2024-02-30", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_dates(value: Any, day: date | None) -> None:
    assert date_of(value, "published") == day


@pytest.mark.parametrize("value", ["2024-05", "June 2026", "2024"])
def test_a_listing_has_a_whole_date(value: str) -> None:
    assert date_of(value, "listed", whole=True) is None


def test_date_of_a_wrong_kind() -> None:
    with pytest.raises(FieldError, match=r"^listed: must be a date, not a list"):
        date_of(["2024-01-01"], "listed")


@given(st.one_of(st.text(max_size=30), st.floats(allow_nan=False, allow_infinity=False), st.integers()))
def test_dates_and_years_never_crash(value: Any) -> None:
    date_of(value, "published")
    year_of(value)
    month_of(value)


@pytest.mark.parametrize(
    ("name", "value", "link"),
    [
        ("site", "https://openreview.net/forum?id=x", Link(LinkKind.PAGE, "https://openreview.net/forum?id=x")),
        ("pdf", "https://a.org/x", Link(LinkKind.PDF, "https://a.org/x")),
        ("url", "https://a.org/x.pdf", Link(LinkKind.PDF, "https://a.org/x.pdf")),
        ("github", "github.com/a/b", Link(LinkKind.CODE, "https://github.com/a/b")),
        ("url", "https://github.com/a/b", Link(LinkKind.CODE, "https://github.com/a/b")),
        ("code", "https://gitlab.com/a/b", Link(LinkKind.CODE, "https://gitlab.com/a/b")),
        ("url", "https://huggingface.co/a/b", Link(LinkKind.CODE, "https://huggingface.co/a/b")),
        ("url", "https://huggingface.co/papers/2401.1", Link(LinkKind.PAGE, "https://huggingface.co/papers/2401.1")),
        ("github", "https://a.github.io/b/", Link(LinkKind.PROJECT, "https://a.github.io/b/")),
        ("project", "www.a.org/b", Link(LinkKind.PROJECT, "https://www.a.org/b")),
        (
            "github",
            "[![x](/i.svg) a/b](https://github.com/a/b) + [y](/z)",
            Link(LinkKind.CODE, "https://github.com/a/b"),
        ),
        ("url", "https://a.org/x(1)y.", Link(LinkKind.PAGE, "https://a.org/x(1)y")),
        ("url", "https://a.org/O%20R.pdf?a=1&b=2", Link(LinkKind.PDF, "https://a.org/O%20R.pdf?a=1&b=2")),
        ("github", "Not provided", None),
        ("url", "24514094", None),
        ("url", "javascript:alert(1)", None),
        ("url", "ftp://a.org/x", None),
        ("url", "http://", None),
        ("url", "http://localhost", None),
        ("url", "https://a.org/" + "x" * 3_000, None),
    ],
)
def test_links(name: str, value: str, link: Link | None) -> None:
    assert link_of(name, value) == link


def test_links_of_every_shape() -> None:
    assert list(named_links({"site": "s", "n": 3})) == [("site", "s")]
    assert list(named_links([{"kind": "pdf", "url": "u"}, "v", 5])) == [("pdf", "u"), ("url", "v")]
    assert list(named_links({"url": "u"})) == [("url", "u")]
    assert list(named_links("u", "abs")) == [("abs", "u")]
    assert list(named_links(7)) == list(named_links(None)) == []


@given(st.text(alphabet="htps:/.ab()[]\x00 \\\"<>'", max_size=40))
def test_what_counts_as_an_address_is_inert(text: str) -> None:
    url = url_in(text)
    assert url is None or (url.startswith(("http://", "https://")) and not set(url) & set(" \"'<>\x00\\"))


def test_code_named_in_a_text() -> None:
    text = r"Our code: github.com/a/b_c. And \url{https://github.com/x\_y/z.git}; gitlab.com/g/h), github.com/only"
    assert [link.url for link in code_links(text)] == [
        "https://github.com/a/b_c",
        "https://github.com/x_y/z",
        "https://gitlab.com/g/h",
    ]


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("Theory · Learning Theory", Area("Theory", "Learning Theory")),
        ("Applications · Health / Medicine", Area("Applications", "Health / Medicine")),
        ("deep_learning->theory", Area("Deep Learning", "Theory")),
        ("applications->health_/_medicine", Area("Applications", "Health / Medicine")),
        (
            "deep_learning->generative_models_and_autoencoders",
            Area("Deep Learning", "Generative Models and Autoencoders"),
        ),
        ("applications/health", Area("Applications", "Health")),
        ("probabilistic methods (NLP, vision)", Area("probabilistic methods (NLP, vision)")),
        ("reinforcement learning", Area("Reinforcement Learning")),
        ("Health / Medicine", Area("Health / Medicine")),
        ("AI/ML", Area("AI/ML")),
        ("[Content] Media Interpretation", Area("Content", "Media Interpretation")),
        ("Planning, Routing, and Scheduling", Area("Planning, Routing, and Scheduling")),
        ("Human-Computation and Crowd Sourcing", Area("Human-Computation and Crowd Sourcing")),
        ("->theory", Area("Theory")),
        ("", None),
        (" · ", None),
    ],
)
def test_areas(text: str, area: Area | None) -> None:
    assert area_of(text) == area


def test_areas_of_every_shape() -> None:
    value = [{"name": "Theory", "subarea": "Learning Theory"}, {"name": "Vision"}, "A · B", {"name": ""}, None]
    assert list(areas_of(value)) == [Area("Theory", "Learning Theory"), Area("Vision"), Area("A", "B")]
    with pytest.raises(FieldError, match=r"^areas: "):
        list(areas_of([{"label": "x"}]))


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("cs.LG", Area("cs", "cs.LG")),
        ("cond-mat.str-el", Area("cond-mat", "cond-mat.str-el")),
        ("quant-ph", Area("quant-ph")),
        ("Machine Learning", Area("Machine Learning")),
    ],
)
def test_arxiv_categories(text: str, area: Area) -> None:
    assert category_area(text) == area
