"""BibTeX entries: faults of other programs (F08 to F17), names, keys, and a second parser that reads them back."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import Entry, parse_string

from broadsheet.model import Identifier, Link, LinkKind, Paper, Scheme
from broadsheet.sources.bibtex import citation_key, escape, is_balanced, sorted_name, to_bibtex

ARXIV = Identifier(Scheme.ARXIV, "2403.00001")


def paper(title: str = "A Map of Rivers", *authors: str, number: int = 1, **fields: Any) -> Paper:
    return Paper(number, title, authors=authors, **fields)


def read(made: Paper) -> Entry:
    """The one entry, as another program reads it."""
    entries = parse_string(to_bibtex(made), "bibtex").entries
    assert list(entries) == [citation_key(made)]
    return entries[citation_key(made)]


def title(markup: str) -> str:
    return str(read(paper(markup)).fields["title"])


def people(*authors: str, **fields: Any) -> list[tuple[str, str, str, str]]:
    """(given, particles, family, suffix) of each author by BibTeX's own rules for names."""
    parts = ("first_names", "middle_names"), ("prelast_names",), ("last_names",), ("lineage_names",)
    return [
        tuple(" ".join(n for name in names for n in getattr(person, name)) for names in parts)  # type: ignore[misc]
        for person in read(paper("T", *authors, **fields)).persons["author"]
    ]


# --- titles


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("Computing in Science & Engineering", r"Computing in Science \& Engineering"),  # F08
        ("100 % sustainable", r"100 \% sustainable"),  # F09
        ("On α and β", "On α and β"),  # F09: Greek letters are kept
        ("Prices in $ and in €", r"Prices in \$ and in €"),  # F12: a lone dollar
        (r"Prices in \$ and in €", r"Prices in \$ and in €"),
        ("It costs $5 and then $6 more", r"It costs \$5 and then \$6 more"),
        ("snake_case and a#b", r"snake\_case and a\#b"),
        ("a ~ b ^ c", r"a \textasciitilde{} b \textasciicircum{} c"),
        ("back\\slash", r"back\textbackslash{}slash"),
        ("sets {a, b}", r"sets \textbraceleft{}a, b\textbraceright{}"),
        ("a lone } brace", r"a lone \textbraceright{} brace"),
        ("Schrödinger et la Quími­ca".replace("\u00ad", ""), "Schrödinger et la Química"),  # F14: Unicode needs no TeX
        ("two\nlines  here", "two lines here"),
    ],
)
def test_special_characters_of_a_title(markup: str, written: str) -> None:
    assert title(markup) == written


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        (r"$a \to b$ transitions", r"$a \to b$ transitions"),  # F12
        (r"The cost of $x_i^2 & y$ grows", r"The cost of $x_i^2 & y$ grows"),
        (r"Time $O(n \log N)$ is enough", r"Time {$O(n \log N)$} is enough"),  # styles touch formulas too
        (r"$$\Delta x$$ and more", r"{$\Delta x$} and more"),
        (r"about $50\%$ of it", r"about $50\%$ of it"),
        (r"about $\beta = 50%$ of it", r"about $\beta = 50\%$ of it"),
        (r"sets $\{a, b\}$ of two", r"sets $\{a, b\}$ of two"),
        (r"half $\left\{ x \right.$ open", r"half $\left\lbrace x \right.$ open"),  # BibTeX counts \{ as a brace
        (r"broken $\frac{a$ here", r"broken \$\textbackslash{}frac\textbraceleft{}a\$ here"),
    ],
)
def test_formulas_are_left_as_they_are(markup: str, written: str) -> None:
    assert title(markup) == written


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("Reading *slowly* and **well**", "Reading slowly and well"),
        ("A `grep` for *fast $n^2$ rivers*", "A grep for fast $n^2$ rivers"),
        ("RRT* and p < 0.05*", "{RRT}* and p < 0.05*"),
        ("5*3*2 boats", "5*3*2 boats"),
    ],
)
def test_emphasis_is_left_out(markup: str, written: str) -> None:
    assert title(markup) == written


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("BERT Learns from Rivers", "{BERT} Learns from Rivers"),
        ("Tuning GPT-4 and LLaMA by Hand", "Tuning {GPT}-4 and {LLaMA} by Hand"),
        ("Pre-Training in Three Steps", "Pre-Training in Three Steps"),
        ("R&D in C++ and C# for AT&T", r"{R\&D} in {C++} and {C\#} for {AT\&T}"),
        ("Plan B: A Second Look", "Plan {B}: A Second Look"),
        ("Maps in 3D for iOS", "Maps in {3D} for {iOS}"),
        ("Efficient Monte Carlo sampling of Ising models", "Efficient {Monte} {Carlo} sampling of {Ising} models"),
        ("Slow rivers: Boats of the Rhine", "Slow rivers: Boats of the {Rhine}"),
        ("Monte Carlo Methods for Rivers", "Monte Carlo Methods for Rivers"),
        ("河流地图", "河流地图"),
        ("Über ÖBB und Zug", "Über {ÖBB} und {Zug}"),
    ],
)
def test_braces_stand_round_capitals_that_must_stay(markup: str, written: str) -> None:  # F11
    assert title(markup) == written


# --- names


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Stuart M. Shieber", ("Stuart M.", "", "Shieber", "")),
        ("Ludwig van Beethoven", ("Ludwig", "van", "Beethoven", "")),
        ("Guy Van den Broeck", ("Guy", "Van den", "Broeck", "")),
        ("Maria de la Cruz", ("Maria", "de la", "Cruz", "")),
        ("S M de Bruyn Kops", ("S M", "de", "Bruyn Kops", "")),
        ("Batiste Le Bars", ("Batiste", "", "Le Bars", "")),
        ("Johannes von und zu Stein", ("Johannes", "von und zu", "Stein", "")),
        ("Xiao Bin Liu", ("Xiao Bin", "", "Liu", "")),
        ("Ahmed bin Salman", ("Ahmed", "bin", "Salman", "")),
        ("William Strunk Jr.", ("William", "", "Strunk", "Jr.")),
        ("Martin Luther King III", ("Martin Luther", "", "King", "III")),
        ("Jan de Vries Jr", ("Jan", "de", "Vries", "Jr")),
        ("OpenAI", ("", "", "OpenAI", "")),
        ("苏子昊", ("", "", "苏子昊", "")),
        ("山田 太郎", ("太郎", "", "山田", "")),
        ("김 철수", ("철수", "", "김", "")),
        ("Lara San Martín Suárez", ("Lara San Martín", "", "Suárez", "")),
        ("Toby Saunders-A'Court", ("Toby", "", "Saunders-A'Court", "")),
        ("van Beethoven", ("", "", "{van Beethoven}", "")),
        ("Smith Jr.", ("", "", "{Smith Jr.}", "")),
        ("Institute for Robotics and Automation", ("", "", "{Institute for Robotics and Automation}", "")),
        ("R&D Group", ("", "", r"{R\&D Group}", "")),
        ("Gemini Team", ("", "", "{Gemini Team}", "")),
        ("Acme, Inc.", ("", "", "{Acme, Inc.}", "")),
        ("Nowak, U. and Misra, A.", ("", "", "{Nowak, U. and Misra, A.}", "")),
        ("Others", ("", "", "{Others}", "")),
    ],
)
def test_a_name_is_one_person_with_the_right_family(name: str, parts: tuple[str, ...]) -> None:
    assert people("Ana Lima", name, "Bo Chen") == [
        ("Ana", "", "Lima", ""),
        parts,
        ("Bo", "", "Chen", ""),
    ]


def test_people_have_no_braces_round_their_names() -> None:  # F11
    assert "author        = {Nowak, U. and Misra, A.}," in to_bibtex(paper("T", "U. Nowak", "A. Misra"))


def test_authors_stay_in_their_order_and_a_cut_list_says_so() -> None:
    assert [family for _, _, family, _ in people("C A", "A C", "B B")] == ["A", "C", "B"]
    made = people("C A", "A C", authors_truncated=True)
    assert [family for _, _, family, _ in made] == ["A", "C", "others"]


def test_a_paper_without_authors_or_anything_else() -> None:
    assert to_bibtex(paper("Rivers", number=12)) == "@misc{paperrivers-12,\n  title         = {Rivers},\n}\n"
    assert "author" not in to_bibtex(paper("Rivers", " ", ""))


# --- keys


@pytest.mark.parametrize(
    ("made", "key"),
    [
        (paper("The Rivers of Spain", "Ana Lima", year=2023, number=7), "lima2023rivers-7"),
        (paper("Rivers", "Ludwig van Beethoven", year=2023), "vanbeethoven2023rivers-1"),
        (paper("Rivers", "Zoë Müller-Łoś", year=2023), "mullerlos2023rivers-1"),
        (paper("Rivers", "苏子昊", year=2014, number=5), "paper2014rivers-5"),  # F15
        (paper("河流", "谢昕", "王小增", number=5), "paper-5"),  # F17
        (paper("河流", "谢昕", year=2008, number=5), "paper2008-5"),
        (paper("100 % sure", "R&D Group", year=2020), "rdgroup2020100-1"),  # F17
        (paper("{A, B}, 50%", "Bo {Chen}"), "chenb-1"),
        (paper("", "Bo Chen"), "chen-1"),
    ],
)
def test_keys_are_plain_letters_and_digits(made: Paper, key: str) -> None:
    assert citation_key(made) == key


def test_papers_of_one_author_year_and_word_have_different_keys() -> None:
    made = [paper(f"Rivers {i}", "Ana Lima", year=2023, number=i) for i in range(1, 30)]
    made += [paper(f"Rivers{i}", "Ana Lima", year=2023, number=30 + i) for i in range(30)]
    assert len({citation_key(p) for p in made}) == len(made)


def test_a_key_does_not_change_between_exports() -> None:
    before = paper("Rivers", "Ana Lima", year=2023)
    after = paper("Rivers", "Ana Lima", "Bo Chen", year=2023, venue="icml", abstract="New.", keywords=("x",))
    assert citation_key(before) == citation_key(after)


# --- addresses and the rest


@pytest.mark.parametrize(
    ("fields", "month"),
    [
        ({"year": 2024, "published": date(2024, 3, 1)}, "March"),
        ({"year": 2024, "published": date(2024, 3, 1), "venue": "Bee World", "kind": "article"}, "March"),
        ({"year": 2025, "published": date(2024, 3, 1)}, None),  # the year in print is another
        ({"year": 2024, "published": date(2024, 3, 1), "details": (("month", "may"),)}, "May"),
        # the month of the preprint is not that of the conference
        ({"year": 2024, "published": date(2024, 3, 1), "venue": "icml", "identifiers": (ARXIV,)}, None),
        ({"year": 2024}, None),
    ],
)
def test_the_month_of_publication(fields: dict[str, Any], month: str | None) -> None:
    assert read(paper(**fields)).fields.get("month") == month


def test_addresses_survive() -> None:  # F10
    doi, url = "10.1007/978-3-031-72567-8_12", "https://example.org/Ogden%20Richards%201923.pdf?a=1&b=2#p_3"
    made = paper(identifiers=(Identifier(Scheme.DOI, doi),), links=(Link(LinkKind.PAGE, url),))
    fields = read(made).fields
    assert (fields["doi"], fields["url"]) == (doi, url)


def test_a_doi_with_brackets_survives() -> None:  # B15
    doi = "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"
    fields = read(paper(identifiers=(Identifier(Scheme.DOI, doi),))).fields
    assert fields["doi"] == doi
    assert fields["url"] == "https://doi.org/10.1002/(sici)1097-4598(199605)19:5%3C621::aid-mus10%3E3.3.co;2-c"


def test_what_would_end_an_address_is_encoded() -> None:
    made = paper(links=(Link(LinkKind.PAGE, "https://example.org/{a}\\b c\n|"),))
    assert read(made).fields["url"] == "https://example.org/%7Ba%7D%5Cb%20c%7C"


def test_arxiv_and_venue() -> None:
    entry = read(paper(identifiers=(Identifier(Scheme.ARXIV, "quant-ph/0112019"),), venue="icml", year=2024))
    assert entry.type == "inproceedings"
    assert entry.fields["eprint"] == "quant-ph/0112019"
    assert entry.fields["archiveprefix"] == "arXiv"
    assert (entry.fields["booktitle"], entry.fields["year"]) == ("ICML", "2024")
    assert read(paper(venue="Journal of R&D")).fields["booktitle"] == r"Journal of R\&D"


# --- whatever comes

ODD = st.text(st.sampled_from("aAbZé苏 \\{}$%&#_^~*`[]()\"'@,.:-\n<>0δ") | st.characters(codec="utf-8"), max_size=60)
NAMES = ODD.filter(lambda name: name.split())


@given(ODD, st.lists(NAMES, max_size=4), ODD, ODD, st.booleans())
@settings(deadline=None)
def test_any_paper_is_one_entry_of_sound_fields(
    markup: str, authors: list[str], venue: str, path: str, cut: bool
) -> None:
    links = (Link(LinkKind.PAGE, f"https://example.org/{path}"),)
    made = paper(markup, *authors, venue=venue, links=links, authors_truncated=cut, year=2024)
    text = to_bibtex(made)
    assert is_balanced(text)
    entry = read(made)
    expected = {"title", "year", "url"} | ({"booktitle"} if venue else set())
    assert set(entry.fields) == expected
    assert all(is_balanced(value) for value in entry.fields.values())
    assert len(entry.persons.get("author", [])) == len(authors) + bool(authors and cut)
    assert not re.search(r"(?<!\\)%", re.sub(r"\\\\", "", entry.fields["title"]))


@given(ODD)
def test_escaped_text_can_be_read_back(text: str) -> None:
    names = {"textasciitilde": "~", "textasciicircum": "^", "textbackslash": "\\", "textbraceleft": "{"}
    names["textbraceright"] = "}"
    written = escape(text)
    back = re.sub(r"\\(?:([a-z]+)\{\}|(.))", lambda found: names[found[1]] if found[1] else found[2], written)
    assert back == text


@given(st.lists(st.text("abcdeABC-'", min_size=1, max_size=8), min_size=1, max_size=5))
def test_sorting_a_name_keeps_its_words(words: list[str]) -> None:
    assert sorted(sorted_name(" ".join(words)).replace(",", "").split()) == sorted(words)


@given(ODD, NAMES, st.integers(1, 10**9), st.none() | st.integers(1000, 3000))
def test_any_key_is_plain_and_ends_in_the_number(markup: str, author: str, number: int, year: int | None) -> None:
    key = citation_key(paper(markup, author, number=number, year=year))
    assert re.fullmatch(rf"[a-z][a-z0-9]*-{number}", key)
