"""CSL-JSON in and out: names, dates, types, all variables both ways, citation-js as oracle, round trips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.ingest import derive
from broadsheet.model import Identifier, Link, LinkKind, Paper, Record, Refusal, Scheme
from broadsheet.sources import csl, out_csl, read_file
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.cslnames import DATES, KIND_OF, NAMES, TEXTS, TYPE_OF
from tests.shared import shared

LIMITS = Limits(100_000, 50)


def read(*items: Any, limits: Limits = LIMITS) -> list[Entry]:
    return list(csl.read("x.json", orjson.dumps(items), limits))


def one(**variables: Any) -> Record:
    [entry] = read({"type": "article-journal", "title": "Bees"} | variables)
    assert isinstance(entry, Record), entry
    return entry


def details(**variables: Any) -> dict[str, str]:
    return dict(one(**variables).details)


# --- in --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ({"family": "Ba", "given": "Ann"}, "Ann Ba"),
        ({"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"}, "Jan van der Berg"),
        (
            {"family": "Fontaine", "given": "Jean", "dropping-particle": "de", "non-dropping-particle": "La"},
            "Jean de La Fontaine",
        ),
        ({"family": "King", "given": "Martin L.", "suffix": "Jr."}, "Martin L. King Jr."),
        ({"literal": "The Hive Group"}, "The Hive Group"),
        ({"family": "The Hive Group"}, "The Hive Group"),
        ({"given": "Ann"}, "Ann"),
        ({"family": "王", "given": "小明"}, "王小明"),
        ("Ann Ba", "Ann Ba"),
    ],
)
def test_names(name: Any, shown: str) -> None:
    assert derive(1, [one(author=[name])]).authors == (shown,)


def test_a_list_that_was_cut() -> None:
    found = one(author=[{"family": "Ba", "given": "Ann"}, {"literal": "others"}])
    assert (found.authors, found.authors_truncated) == (("Ba, Ann",), True)


@pytest.mark.parametrize(
    ("issued", "day", "month_only", "year"),
    [
        ({"date-parts": [[2020, 3, 15]]}, date(2020, 3, 15), False, 2020),
        ({"date-parts": [["2020", "3", "15"]]}, date(2020, 3, 15), False, 2020),
        ({"date-parts": [[2020, 3]]}, date(2020, 3, 1), True, 2020),
        ({"date-parts": [[2020]]}, None, False, 2020),
        ({"date-parts": [[2020, 3, 15], [2020, 4, 2]]}, date(2020, 3, 15), False, 2020),
        ({"date-parts": [[2020, 13, 1]]}, None, False, 2020),
        ({"date-parts": [[None]]}, None, False, None),
        ({"date-parts": []}, None, False, None),
        ({"raw": "15 March 2020"}, date(2020, 3, 15), False, 2020),
        ({"literal": "in press"}, None, False, None),
        ("2020-03-15", date(2020, 3, 15), False, 2020),
        (None, None, False, None),
    ],
)
def test_dates(issued: Any, day: date | None, month_only: bool, year: int | None) -> None:
    found = one(issued=issued)
    assert (found.published, found.month_only, found.year) == (day, month_only, year)


@pytest.mark.parametrize("variable", TEXTS)
def test_every_text_variable_goes_in_and_out(variable: str) -> None:
    found = one(**{variable: "1-2"})
    assert dict(found.details)[TEXTS[variable]] == "1-2"
    item = out_csl.item_of(derive(7, [found]))
    assert item[variable] == "1-2"


@pytest.mark.parametrize("variable", NAMES)
def test_every_variable_of_names_goes_in_and_out(variable: str) -> None:
    names = [{"family": "Ba", "given": "Ann"}, {"literal": "Hive Group"}]
    found = one(**{variable: names})
    assert dict(found.details)[NAMES[variable]] == "Ba, Ann and Hive Group"
    assert out_csl.item_of(derive(7, [found]))[variable] == names


@pytest.mark.parametrize("variable", DATES)
@pytest.mark.parametrize("parts", [[[2020, 3, 15]], [[2020, 3]], [[2020]], [[2018, 12, 3], [2018, 12, 6]]])
def test_every_variable_of_dates_goes_in_and_out(variable: str, parts: list[list[int]]) -> None:
    found = one(**{variable: {"date-parts": parts}})
    assert out_csl.item_of(derive(7, [found]))[variable] == {"date-parts": parts}


def test_what_else_there_is() -> None:
    found = one(
        **{"container-title": "Apis", "publisher": "Hive", "issue": 2, "collection-number": "9", "DOI": "10.1000/B"},
        **{"PMID": "123", "keyword": "bees, wax", "URL": "https://example.org/b", "abstract": "Hum.", "section": "A"},
        **{"custom": {"x": 1}, "container-title-short": "Ap.", "note": "arXiv:1907.00001"},
    )
    assert (found.venue, found.keywords, found.abstract) == ("Apis", ("bees", "wax"), "Hum.")
    assert {str(i) for i in found.identifiers} == {"doi:10.1000/b", "pmid:123", "arxiv:1907.00001"}
    assert found.links == (Link(LinkKind.PAGE, "https://example.org/b"),)
    assert dict(found.details) == {
        **{"journal": "Apis", "publisher": "Hive", "number": "2", "collection-number": "9", "section": "A"},
        **{"shortjournal": "Ap.", "note": "arXiv:1907.00001"},
    }


def test_places_of_a_thesis_and_of_a_chapter() -> None:
    assert details(type="thesis", publisher="University of Hum") == {"institution": "University of Hum"}
    assert details(type="chapter", **{"container-title": "All Bees"}) == {"booktitle": "All Bees"}


@pytest.mark.parametrize("given", [*KIND_OF, "article", "nonsense"])
def test_types(given: str) -> None:
    found = one(type=given)
    assert found.kind == ({"article": "online", "nonsense": ""} | KIND_OF)[given]
    assert not found.kind or found.kind in TYPE_OF


def test_an_article_in_a_journal_is_no_preprint() -> None:
    assert one(type="article", **{"container-title": "Apis"}).kind == "article"


def test_keys_and_citation_keys() -> None:
    found = read(
        *({"type": "book", "title": title, "id": own} for title, own in (("A", "ba2020"), ("B", "ba2020"), ("C", 7))),
        {"type": "book", "title": "D", "id": "http://zotero.org/users/1/items/ABCD", "citation-key": "d1"},
        {"type": "book", "title": "E"},
    )
    records = [entry for entry in found if isinstance(entry, Record)]
    assert len({r.key for r in records}) == 5
    assert (records[0].key, records[2].key[:2]) == ("ba2020", "7#")
    assert [dict(r.details).get("citekey") for r in records] == ["ba2020", "ba2020", None, "d1", None]
    assert records[0].source == "csl:x"


def test_what_cannot_be_taken_is_refused_by_its_line() -> None:
    data = b'[\n{"type":"book","title":"One","author":[{"family":"Ba"}]},\n7,\n{"type":"book"},\n'
    data += b'{"title":"X","author":3},\n{"title":"Y","author":[3]},\n{"a" 1},\n'
    data += b'{"title":"' + b"z" * 2_000 + b'"},\n{"type":"book","title":"Two"}\n]'
    found = list(csl.read("x.json", data, Limits(1_000, 9)))
    assert [entry.title for entry in found if isinstance(entry, Record)] == ["One", "Two"]
    assert [(r.line, r.reason.split(":")[0][:20]) for r in found if isinstance(r, Refusal)] == [
        *((3, "not an object, which"), (4, "neither title nor ab"), (5, "author"), (6, "author")),
        *((7, "not JSON (unexpected"), (8, "2012 bytes, more tha")),
    ]


@pytest.mark.parametrize(
    ("text", "is_csl"),
    [
        ('[{"type": "book", "title": "X", "author": [{"family": "Ba"}]}]', True),
        ('[{"type": "article-journal", "title": "X", "issued": {"date-parts": [[2020]]}}]', True),
        ('{"type": "journal-article", "title": ["X"], "author": [{"family": "Ba", "given": "A"}]}', True),
        ('[{"type": "event"}, {"type": "book", "author": [{"literal": "B"}]}]', True),
        ('[{"type": "book", "title": "X", "author": "Ann Ba"}]', False),
        ('[{"type": "poster", "title": "X", "author": [{"family": "Ba"}]}]', False),
        ('[{"title": "X", "author": [{"family": "Ba"}]}]', False),
        ('[{"type": ["book"], "author": [{"family": "Ba"}]}]', False),
        ('[{"type": "book", "author": [{"fam', False),
        ("[1, 2]", False),
        ("", False),
    ],
)
def test_what_is_csl(text: str, is_csl: bool) -> None:
    assert csl.sniff(text.encode(), "x.json") is is_csl


def test_the_example_of_citation_js() -> None:
    """Its BibLaTeX file holds the same entries; both readers must agree on what both formats say."""
    path = shared("data", "bib_fixtures", "citation-js__biblatex-csl.json")
    found = [item.entry for item in read_file(path, max_entry_bytes=10**6, max_authors=99)]
    records = {entry.key: entry for entry in found if isinstance(entry, Record)}
    assert len(records) == len(found) == 28
    items = {item["id"]: item for item in orjson.loads(path.read_bytes())}
    for key, record in records.items():
        assert record.title == items[key]["title"]
        assert record.year == items[key]["issued"]["date-parts"][0][0]
        assert dict(record.details)["citekey"] == key
        assert out_csl.item_of(derive(1, [record]))["id"] == key
    bib = shared("data", "bib_fixtures", "citation-js__biblatex-input.bib")
    entries = [item.entry for item in read_file(bib, max_entry_bytes=10**6, max_authors=99)]
    others = {dict(e.details)["citekey"]: e for e in entries if isinstance(e, Record)}
    same = records.keys() & others.keys()
    assert len(same) >= 24
    for key in same - {"cdli:Born2019"}:
        ours, theirs = derive(1, [records[key]]), derive(2, [others[key]])
        assert ours.authors == theirs.authors, key
        assert ours.year == theirs.year, key
        assert (ours.published, ours.month_only) == (theirs.published, theirs.month_only), key


def test_what_citation_js_wrote_is_written_again() -> None:
    path = shared("data", "bib_fixtures", "citation-js__biblatex-csl.json")
    kept = 0
    for item in orjson.loads(path.read_bytes()):
        [record] = csl.read("x.json", orjson.dumps([item]), LIMITS)
        assert isinstance(record, Record)
        written = out_csl.item_of(derive(1, [record]))
        for variable, value in item.items():
            if variable in ("citation-key", "custom", "keyword", "URL", "author", "title"):
                continue
            got = written.get(variable)
            if variable == "issue" and got is None:  # of a series that has no number of its own
                got = written["collection-number"]
            if variable == "type" and value.startswith("entry"):
                got = value if str(got).startswith("entry") else got
            assert got == (value.lower() if variable == "DOI" else value), variable
            kept += 1
        if item["id"] not in ("cdli:Born2019", "doerr:report", "radboud:manual"):
            assert written.get("author") == item.get("author")
    assert kept > 250


# --- out -------------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["bees", "Wax", "of", "x < y", "$x_1$", "*Apis*", "**now**", "&", "\\", '"', "蜜蜂", "naïve", "5%"]
)
TEXTS_ = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
PEOPLE = [
    "Ann Ba",
    "Cy Lee",
    "Jan van der Berg",
    "Martin L. King Jr.",
    "王小明",
    "The Hive Group",
    "Ludwig de la Vallée",
]
PAPERS = st.builds(
    Paper,
    id=st.integers(1, 10**6),
    title=TEXTS_,
    abstract=st.just("") | TEXTS_,
    authors=st.lists(st.sampled_from(PEOPLE), max_size=4, unique=True).map(tuple),
    authors_truncated=st.booleans(),
    year=st.none() | st.integers(1900, 2100),
    kind=st.sampled_from(
        ["article", "book", "incollection", "inproceedings", "thesis", "report", "dataset", "software"]
    ),
    keywords=st.lists(st.sampled_from(["bees", "hive mind", "C++"]), unique=True).map(tuple),
    identifiers=st.sampled_from(
        [
            (),
            (Identifier(Scheme.DOI, "10.1000/x"), Identifier(Scheme.ARXIV, "2401.00001")),
            (Identifier(Scheme.PMID, "77"),),
        ]
    ),
    links=st.sampled_from([(), (Link(LinkKind.PAGE, "https://example.org/a"),)]),
    details=st.sampled_from([(), (("volume", "3"), ("number", "4"), ("pages", "1-2"), ("citekey", "ba1"))]),
)


def written(*papers: Paper) -> str:
    return "".join(out_csl.write(papers))


@given(st.lists(PAPERS, max_size=3, unique_by=lambda paper: paper.id))
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read_again(papers: list[Paper]) -> None:
    text = written(*papers).encode()
    items = orjson.loads(text)
    assert len({item["id"] for item in items}) == len(items) == len(papers)
    found = list(csl.read("x.json", text, LIMITS))
    for record, paper in zip(found, papers, strict=True):
        assert isinstance(record, Record), record
        read_again = derive(paper.id, [record])
        wanted = derive(paper.id, [replace(record, title=paper.title, abstract=paper.abstract, authors=paper.authors)])
        assert (read_again.title, read_again.abstract) == (wanted.title, wanted.abstract)
        assert read_again.authors == paper.authors
        assert record.authors_truncated == paper.authors_truncated
        assert (record.year, record.kind, record.keywords) == (paper.year, paper.kind, paper.keywords)
        assert set(record.identifiers) == set(paper.identifiers)
        assert record.links[:1] == paper.links or not paper.links
        got = dict(record.details)
        assert {name: got.get(name) for name, _ in paper.details} == dict(paper.details)


def test_two_papers_with_one_key_of_their_readers_stay_apart() -> None:
    items = orjson.loads(written(*(Paper(i, f"Bees {i}", details=(("citekey", "ba"),)) for i in (1, 2))))
    assert items[0]["id"] == "ba"
    assert items[1]["id"] != "ba"


@pytest.mark.parametrize(
    ("paper", "given"),
    [
        (Paper(1, "X", identifiers=(Identifier(Scheme.ARXIV, "2401.00001"),)), "article"),
        (Paper(1, "X", kind="online", identifiers=(Identifier(Scheme.ARXIV, "2401.00001"),)), "article"),
        (Paper(1, "X", kind="online"), "webpage"),
        (Paper(1, "X", venue="icml"), "paper-conference"),
        (Paper(1, "X", kind="article", venue="Apis"), "article-journal"),
        (Paper(1, "X", kind="phdthesis"), "thesis"),
        (Paper(1, "X"), "document"),
    ],
)
def test_the_type_of_a_paper(paper: Paper, given: str) -> None:
    assert out_csl.item_of(paper)["type"] == given


def test_tex_in_details_is_read_and_the_number_at_arxiv_is_noted_once() -> None:
    paper = Paper(
        1,
        "X",
        kind="article",
        identifiers=(Identifier(Scheme.ARXIV, "2401.00001"),),
        details=(
            ("publisher", r"G{\"u}nter {\&} Co"),
            ("citekey", "a_{b}_c"),
            ("editor", r"Erd{\H o}s, P. and Ba, A."),
            ("note", "Hm"),
        ),
    )
    item = out_csl.item_of(paper)
    assert (item["publisher"], item["id"], item["note"]) == ("Günter & Co", "a_{b}_c", "Hm\narXiv:2401.00001")
    assert item["editor"] == [{"family": "Erdős", "given": "P."}, {"family": "Ba", "given": "A."}]
    again = replace(paper, details=(("note", item["note"]),))
    assert out_csl.item_of(again)["note"] == item["note"]
    assert paper.details[3] == ("note", "Hm")


def test_a_preprint_as_zotero_knows_it() -> None:
    item = out_csl.item_of(Paper(1, "X", identifiers=(Identifier(Scheme.ARXIV, "2401.00001"),)))
    assert (item["number"], item["publisher"], item["URL"]) == (
        "arXiv:2401.00001",
        "arXiv",
        "https://arxiv.org/abs/2401.00001",
    )


def test_the_year_of_the_venue_counts() -> None:
    paper = Paper(1, "X", venue="icml", year=2021, published=date(2020, 12, 1))
    assert out_csl.item_of(paper)["issued"] == {"date-parts": [[2021]]}
    assert out_csl.item_of(replace(paper, year=2020))["issued"] == {"date-parts": [[2020, 12, 1]]}
    assert out_csl.item_of(replace(paper, year=2020, month_only=True))["issued"] == {"date-parts": [[2020, 12]]}
    assert out_csl.item_of(paper)["container-title"] == "ICML"


def test_marks_become_tags_and_mathematics_stays() -> None:
    item = out_csl.item_of(Paper(1, "The *Apis* and $a*b*c$ of **all *bees* here**"))
    assert item["title"] == "The <i>Apis</i> and $a*b*c$ of <b>all <i>bees</i> here</b>"


def test_an_array_grows_as_it_is_written() -> None:
    def endless() -> Iterator[Paper]:
        number = 0
        while True:
            number += 1
            yield Paper(number, f"Paper {number}")

    pieces = out_csl.write(endless())
    assert next(pieces).startswith('[\n{"id":')
    assert next(pieces).startswith(',\n{"id":')
    assert written() == "[]\n"


def test_a_file_of_csl_is_told_from_other_json(tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_text(written(Paper(1, "Bees", authors=("Ann Ba",), year=2020, kind="article")))
    [item] = read_file(path, max_entry_bytes=10**5, max_authors=9)
    assert isinstance(item.entry, Record)
    assert item.entry.source == "csl:refs"
