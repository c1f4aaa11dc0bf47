"""Faults that users of other paper systems reported, from what a source sends to what the library says and gives out.

Each room has tests of its own for its part of these; here the doors are those of a reader: an update of sources on a
loopback web, a file that is imported, an export. The ids in names and comments are those of the reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from broadsheet.library import Library
from broadsheet.model import SourceState
from tests.fakeweb import Answer, FakeWeb, Request
from tests.field_cases import CLOCK, FEED, NOON, bring, of_each_kind, serving, update
from tests.libraries import library_in


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Sets the clock of updates."""

    def set_clock(moment: datetime) -> None:
        monkeypatch.setattr(CLOCK, lambda: moment)

    set_clock(NOON)
    return set_clock


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as made:
        yield made


def exported(library: Library, form: str) -> str:
    return "".join(library.export(form))


# --- B: the services


def _note(key: str, **content: Any) -> dict[str, Any]:
    told = {"title": f"How swarm {key} decides", "abstract": "They dance.", "authors": ["Ann Lee"], **content}
    nested = {name: {"value": value} for name, value in told.items() if value is not None}
    return {"id": key, "forum": key, "content": nested, "pdate": 1690000000000}


def test_b01_b04_a_venue_is_asked_in_both_apis_and_either_shape_is_read(fakeweb: FakeWeb, tmp_path: Path) -> None:
    venue = {"venueid": "ICML.cc/2023/Conference", "venue": "ICML 2023 poster"}
    nested = [_note("one", **venue), _note("two", abstract=None, **venue), {"id": "bad", "content": {}}]
    flat = {"id": "three", "forum": "three", "content": {"title": "How swarm three decides", **venue}}
    fakeweb.on("api2.openreview.net", "/notes", Answer(json.dumps({"notes": nested, "count": 3})))
    with serving(fakeweb, tmp_path / "new", "openreview:ICML.cc/2023/Conference") as library:
        report = update(library)
        assert (report.new, report.refused) == (2, 1)
        assert "API 2" in report.message
    fakeweb.on("api2.openreview.net", "/notes", Answer(json.dumps({"notes": [], "count": 0})))
    fakeweb.on("api.openreview.net", "/notes", Answer(json.dumps({"notes": [flat], "count": 1})))
    with serving(fakeweb, tmp_path / "old", "openreview:ICML.cc/2023/Conference") as library:
        report = update(library)
        assert (report.new, report.refused) == (1, 0)
        assert "API 1" in report.message
        assert library.newest()[0].venue == "icml"


def test_b06_b07_the_day_of_listing_is_not_that_of_publication(
    fakeweb: FakeWeb, tmp_path: Path, at: Callable[[datetime], None]
) -> None:
    at(datetime(2025, 3, 31, 23, 50, tzinfo=UTC))  # the first of April in Shanghai
    daily = {
        "paper": {
            "id": "2503.16419",
            "title": "How swarms decide",
            "summary": "They dance.",
            "authors": [{"name": "Ann Lee"}],
            "publishedAt": "2025-03-20T23:50:00.000Z",
        }
    }

    def answer(request: Request) -> Answer:
        return Answer(json.dumps([daily] if request.query["date"] == ["2025-03-31"] else []))

    fakeweb.on("huggingface.co", "/api/daily_papers", answer)
    with serving(fakeweb, tmp_path, "huggingface") as library:
        update(library)
        paper = library.paper("2503.16419")
        assert (paper.published, paper.listed) == (date(2025, 3, 20), date(2025, 3, 31))
        assert max(request.query["date"][0] for request in fakeweb.requests) == "2025-03-31"


SICI = "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"


@pytest.mark.usefixtures("at")
def test_b11_b12_b14_b15_what_crossref_says_of_a_paper(fakeweb: FakeWeb, tmp_path: Path) -> None:
    work = {
        "DOI": SICI.upper(),
        "title": ["<i>\n In vitro\n </i> assay of muscles and nerves"],
        "author": [{"given": "He\u0301le\u0300ne", "family": "Dupont"}, {"given": "Jo", "family": "M\ufffdller"}],
        "container-title": ["Muscle"],
        "type": "journal-article",
        "issued": {"date-parts": [[1996]]},
    }
    fakeweb.on("api.crossref.org", "/works", Answer(json.dumps({"status": "ok", "message": {"items": [work]}})))
    fakeweb.on(*FEED, Answer(of_each_kind()))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG", enrich=("crossref",)) as library:
        known = {"id": "a", "title": "In vitro assay of muscles and nerves", "doi": SICI, "authors": ["Hélène Dupont"]}
        bring(library, "mine.jsonl", json.dumps(known))
        assert [report.state for report in update(library)] == [SourceState.OK, SourceState.OK]
        paper = library.paper(SICI)
        assert paper.venue == "Muscle"
        assert "In vitro assay" in paper.title.replace("*", "")
        assert paper.authors == ("Hélène Dupont",), "a damaged list of names takes no sound one's place"
        assert f"doi = {{{SICI}}}" in re.sub(" +", " ", library.bibtex(paper.id))
        assert library.search(SICI).total == 1


# --- E: one paper


def test_e01_e02_e03_one_paper_with_two_places_or_two_that_are_linked(library: Library) -> None:
    text = """
@inproceedings{a, title={Challenges in Data-to-Document Generation}, author={Wiseman, Sam and Shieber, Stuart
  and Rush, Alexander}, booktitle={EMNLP}, year=2017, doi={10.18653/V1/D17-1239}}
@misc{b, title={Challenges in Data-to-Document Generation}, author={Wiseman, Sam and Shieber, Stuart M. and
  Rush, Alexander M.}, doi={10.48550/ARXIV.1707.08052}, year=2017}
@article{c, title={Slow rivers and their boats in spring}, author={Lima, Ana and Chen, Bo}, year=2020,
  doi={10.1093/MOLBEV/MSL010}}
@article{d, title={Slow rivers and their boats in spring}, author={Lima, Ana and Chen, Bo}, year=2020,
  doi={10.1000/other}}
"""
    summary = bring(library, "refs.bib", text)
    assert (summary.new, summary.merged, summary.refused) == (4, 1, 0)
    paper = library.paper("10.18653/v1/d17-1239")
    assert library.paper("1707.08052") == paper
    assert paper.authors[1] == "Stuart M. Shieber"
    assert {place.venue for place in paper.places} == {"emnlp", "arxiv"}
    one, two = library.paper("10.1093/molbev/msl010"), library.paper("10.1000/other")
    assert one.related == (two.id,)


def test_e06_e11_names_and_lists_of_names(library: Library) -> None:
    names = [
        f"Ann {name}"
        for name in ["Lee", "Li", "Wu", "Ng", "Fox", "Hay", "Elm", "Oak", "Ash", "Fir", "Yew", "Box", "May"]
    ] + ["Jo\u0308rg Mu\u0308ller"]
    text = "".join(
        f"@article{{{key}, title={{Many hands on a slow river}}, year=2020, doi={{10.1000/many}},"
        f" author={{{' and '.join(people)}}}}}\n"
        for key, people in (("whole", names), ("cut", [*names[:10], "others"]))
    )
    bring(library, "refs.bib", text)
    bring(library, "more.bib", "@article{x, title={Something else of his}, author={Jörg Müller}, year=2021}")
    paper = library.paper("10.1000/many")
    assert paper.authors == (*names[:13], "Jörg Müller")
    assert not paper.authors_truncated
    assert library.search('au:"Jörg Müller"').total == 2


# --- F: files in and out


BIB_IN = {
    "F01": ("@misc{k, title={T one}, year=2019, month=Apr}", "published", date(2019, 4, 1)),
    "F01 unquoted": ("@misc{k, title={T one}, year=2019, month = jan}", "published", date(2019, 1, 1)),
    "F03": (
        "@article{Besard16, title={High-level {GPU} programming in {Julia}}, journal={arXiv:1604.03410 [cs]}}",
        "identifiers",
        ["arxiv:1604.03410"],
    ),
    "F04": (
        "@misc{orland2025, title={Knots}, author={Paul Orland and Toby Saunders-A'Court and Lara San Martín Suárez and"
        " Josef Svoboda}, eprint={2512.23700}, archivePrefix={arXiv}, primaryClass={math.GT}}",
        "authors",
        ("Paul Orland", "Toby Saunders-A'Court", "Lara San Martín Suárez", "Josef Svoboda"),
    ),
    "F06": (
        r"@misc{k, title={T one}, author={Gr{\=u}z{\=i}tis, N. and Ljube{\v s}i{\'c}, N. and"
        r" Ne{\v s}pore-B{\=e}rzkalne, G.}}",
        "authors",
        ("N. Grūzītis", "N. Ljubešić", "G. Nešpore-Bērzkalne"),
    ),
    "F06 title": (r"@misc{k, title={\^{i}le et Gedenk\"uberlieferung}}", "title", "île et Gedenküberlieferung"),
    "F08": (r"@article{k, title={T one}, journal={Computing in Science {\&} Engineering}}", "venue", None),
    "F11": ("@misc{k, title={T one}, author = {{Nowak, U. and Misra, A.}}}", "authors", ("U. Nowak", "A. Misra")),
    "F18": (
        "@misc{k, title={T one}, author={Zed, A. and Moe, B. and Abe, C.}}",
        "authors",
        ("A. Zed", "B. Moe", "C. Abe"),
    ),
}


@pytest.mark.parametrize("case", BIB_IN)
def test_bibtex_that_others_refused_or_mangled(library: Library, case: str) -> None:
    text, name, wanted = BIB_IN[case]
    assert bring(library, "refs.bib", text).new == 1
    (paper,) = library.newest()
    found = getattr(paper, name)
    if wanted is None:
        assert found == "Computing in Science & Engineering"
    elif name == "identifiers":
        assert [str(identifier) for identifier in found] == wanted
    else:
        assert found == wanted


def test_f08_f09_f10_f12_what_is_written_compiles_and_comes_back(library: Library, tmp_path: Path) -> None:
    address = "https://example.org/Ogden%20Richards%201923.pdf?a=1&b=2"
    entry = {
        "id": "a",
        "title": r"$a \to b$ transitions, 100 % sustainable & cheap at 5 $ with α",
        "authors": ["Ann Lee"],
        "doi": "10.1007/978-3-031-72567-8_12",
        "year": 2024,
    }
    bring(library, "a.jsonl", json.dumps(entry) + "\n" + json.dumps({"id": "b", "title": "Lakes", "url": address}))
    bring(library, "b.bib", f"@misc{{k, title={{Rivers in spring}}, doi={{10.1000/x_y}}, url={{{address}}}}}")
    written = exported(library, "bibtex")
    assert r"$a \to b$" in written and r"100 \% sustainable \& cheap at 5 \$ with α" in written
    assert re.search(r"doi += \{10\.1007/978-3-031-72567-8_12\}", written)
    assert len(re.findall(r"url += \{" + re.escape(address) + r"\}", written)) == 2
    with library_in(tmp_path / "again") as again:
        assert bring(again, "out.bib", written).new == 3
        assert exported(again, "bibtex") == written
        for old, new in zip(library.store.iterate_papers(), again.store.iterate_papers(), strict=True):
            assert (new.title, new.authors, new.identifiers) == (old.title, old.authors, old.identifiers)


def test_f15_f17_keys_are_plain_unique_and_stay(library: Library) -> None:
    entries = [
        {"id": "1", "title": "Rivers in spring time", "authors": ["苏, 子昊"], "year": 2014},
        {"id": "2", "title": "Rivers in spring and summer", "authors": ["Ann Lee"], "year": 2023},
        {"id": "3", "title": "Rivers in spring and winter", "authors": ["Ann Lee"], "year": 2023},
        {"id": "4", "title": "Prices, {and} 100 % more", "authors": ["R&D Group"], "year": 2020},
        {"id": "5", "title": "河流与船只的研究", "authors": ["谢昕", "王小增"], "year": 2008},
    ]
    bring(library, "a.jsonl", "\n".join(map(json.dumps, entries)))
    keys = re.findall(r"^@\w+\{(.*),$", exported(library, "bibtex"), re.MULTILINE)
    assert len(set(keys)) == len(entries)
    assert all(re.fullmatch(r"[A-Za-z0-9:_-]+", key) and not key.startswith("_") for key in keys)
    bring(library, "b.jsonl", json.dumps({"id": "6", "title": "Rivers in spring again", "authors": ["Ann Lee"]}))
    later = re.findall(r"^@\w+\{(.*),$", exported(library, "bibtex"), re.MULTILINE)
    assert set(keys) < set(later)


def test_f19_f23_f24_a_ris_entry_has_one_type_a_line_for_each_author_and_no_empty_tag(library: Library) -> None:
    bring(
        library,
        "a.jsonl",
        json.dumps({"id": "1", "title": "Rivers in spring time", "authors": ["Ann Lee", "Bo Li"]})
        + "\n"
        + json.dumps({"id": "2", "title": "A paper of nobody at all", "authors": None}),
    )
    written = exported(library, "ris")
    entries = [part for part in re.split(r"^ER  - ?\r?\n", written, flags=re.MULTILINE) if part.strip()]
    assert len(entries) == 2
    assert all(len(re.findall(r"^TY  - ", part, re.MULTILINE)) == 1 for part in entries)
    assert [re.findall(r"^(?:AU|A1)  - (.*?)\r?$", part, re.MULTILINE) for part in entries] == [
        ["Lee, Ann", "Li, Bo"],
        [],
    ]
    assert not re.findall(r"^(?!ER)\w\w  - *\r?$", written, re.MULTILINE)


RIS_IN = {
    "F20": ("\ufeff%0 Journal Article\n%T Ποτάμια και βάρκες\n%A Lee, Ann\n%D 2019\n", "Ποτάμια και βάρκες"),
    "F22": ("DB  - McK\nTY  - JOUR\nTI  - Rivers in spring\nAU  - Lee, Ann\nER  - \n", "Rivers in spring"),
    "F24": ("TY  - JOUR\nTY  - JOUR\nTI  - Rivers in spring\nAU  - Lee, Ann\nER  - \n", "Rivers in spring"),
}


@pytest.mark.parametrize("case", RIS_IN)
def test_ris_that_others_refused(library: Library, case: str) -> None:
    text, title = RIS_IN[case]
    summary = bring(library, "refs.ris", text)
    assert (summary.new, summary.refused) == (1, 0)
    (paper,) = library.newest()
    assert (paper.title, paper.authors) == (title, ("Ann Lee",))


@pytest.mark.parametrize(
    ("text", "new", "refused", "reason"),
    [
        ("id,abstract,label\n1,We measure slow rivers. It takes years.,1\n2,,0\n", 1, 1, "title"),
        ("foo,bar\n1,2\n3,4\n", 0, 1, "title"),
    ],
)
def test_f26_a_table_needs_a_title_or_an_abstract(
    library: Library, text: str, new: int, refused: int, reason: str
) -> None:
    from broadsheet.errors import InputError

    try:
        summary = bring(library, "table.csv", text)
    except InputError as error:
        assert new == 0 and reason in str(error)
    else:
        assert (summary.new, summary.refused) == (new, refused) or (not new and summary.refused == summary.read)
        assert reason in str(summary.refusals[0])


def test_f27_abstracts_add_up_whatever_tag_holds_them(library: Library) -> None:
    first = "".join(f"TY  - JOUR\nTI  - Rivers number {i} in spring\nAB  - We row.\nER  - \n" for i in range(3))
    second = "".join(f"TY  - JOUR\nTI  - Lakes number {i} in spring\nN2  - We sail.\nER  - \n" for i in range(4))
    bring(library, "a.ris", first)
    bring(library, "b.ris", second)
    assert [paper.abstract for paper in library.newest()].count("We row.") == 3
    assert [paper.abstract for paper in library.newest()].count("We sail.") == 4
