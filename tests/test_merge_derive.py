"""A paper's fields: which record gives each, whatever the order of the records."""

from __future__ import annotations

import time
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.ingest import derive
from broadsheet.model import Area, Identifier, Link, LinkKind, Paper, Place, Record, Scheme
from tests.makers import day, identifier, record


def derived(*records: Record) -> Paper:
    """The paper of these records, the same in every order."""
    papers = [derive(1, order) for order in permutations(records)]
    assert all(paper == papers[0] for paper in papers)
    return papers[0]


def test_one_record() -> None:
    one = record(
        "Erd\\H{o}s \\& maps",
        "2401.00001",
        "10.18653/v1/P18-1001",
        abstract="We map.",
        authors=("Lima, Ana", "Bo Chen"),
        venue="icml",
        year=2024,
        published=day("2024-01-02"),
        listed=day("2024-01-05"),
        areas=(Area("cs", "cs.LG"),),
        keywords=("maps",),
        links=(Link(LinkKind.CODE, "https://github.com/x/y"), Link(LinkKind.PAGE, "https://example.org/p")),
        status="Oral",
        source="jsonl:x",
        key="k",
    )
    assert derived(one) == Paper(
        id=1,
        title="Erdős & maps",
        abstract="We map.",
        authors=("Ana Lima", "Bo Chen"),
        identifiers=(identifier("2401.00001"), identifier("10.18653/v1/P18-1001"), identifier("P18-1001")),
        areas=(Area("cs", "cs.LG"),),
        venue="icml",
        year=2024,
        published=day("2024-01-02"),
        listed=day("2024-01-05"),
        links=(Link(LinkKind.PAGE, "https://example.org/p"), Link(LinkKind.CODE, "https://github.com/x/y")),
        keywords=("maps",),
        status="Oral",
        places=(Place("jsonl", "icml", 2024, "Oral", day("2024-01-05"), "https://example.org/p"),),
        origins=dict.fromkeys(
            ("title", "abstract", "authors", "venue", "year", "status", "published", "listed"), "jsonl:x:k"
        ),
    )


def test_no_field_is_invented() -> None:
    assert derived(record("Only a title", source="s", key="k")) == Paper(1, "Only a title", origins={"title": "s:k"})


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (record("A true title", source="listing"), record("We show that maps", title_derived=True, source="arxiv")),
        (record("A sound title", source="listing"), record("A so\ufffdnd title", source="arxiv")),
        (record("Caf\u00e9 maps", source="listing"), record("CafÃ© maps", source="arxiv")),
        (record("A Quiet Title", source="listing"), record("A LOUD TITLE", source="arxiv")),
        (record("From arXiv", source="arxiv"), record("From a page", source="listing")),
        (record("From a file", source="jsonl:a"), record("From our sample", source="jsonl:sample")),
        (record("From nobody knows", source="zzz"), record("From a page", source="listing")),
        (record("A title", source="listing"), record("", source="arxiv")),
    ],
)
def test_title(better: Record, worse: Record) -> None:
    paper = derived(better, worse)
    assert paper.title == better.title
    assert paper.origins["title"] == f"{better.source}:{better.key}"
    kept = worse.title and not worse.title_derived
    assert paper.other_titles == ((derive(1, [worse]).title,) if kept else ())


def test_other_titles_are_true_and_different() -> None:
    paper = derived(
        record("Sparse maps", source="arxiv"),
        record("SPARSE MAPS.", source="listing", key="1"),
        record("Maps that are sparse", source="listing", key="2"),
        record("We draw sparse", title_derived=True),
    )
    assert (paper.title, paper.other_titles) == ("Sparse maps", ("Maps that are sparse",))


OWN, LONGER = "We draw maps.", "We draw maps, and a boat follows them."


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (record(abstract=LONGER, source="listing"), record(abstract=OWN, source="arxiv")),
        (record(abstract=OWN, source="listing"), record(abstract=LONGER, summarised=True, source="arxiv")),
        (record(abstract=OWN, source="listing"), record(abstract=LONGER + " \ufffd", source="arxiv")),
        (record(abstract=OWN, source="arxiv"), record(abstract=OWN.replace("draw", "make"), source="listing")),
        (record(abstract=OWN, summarised=True), record(source="arxiv")),
    ],
)
def test_abstract(better: Record, worse: Record) -> None:
    paper = derived(better, worse)
    assert paper.abstract == better.abstract
    assert paper.summarised is better.summarised
    assert paper.origins["abstract"] == f"{better.source}:{better.key}"


def test_a_paper_without_abstract_is_not_summarised() -> None:
    assert derived(record("T", summarised=True)).summarised is False


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (("A B", "C D", "E F"), ("A B", "C D")),  # E11
        (("Jörg Müller",), ("Jorg Muller",)),
        (("Stuart M. Shieber",), ("S. M. Shieber",)),
        (("Ann Bee",), ("J\ufffdrg M\ufffdller", "Ann Bee")),
        (("Ann Bee",), ()),
    ],
)
def test_authors(better: tuple[str, ...], worse: tuple[str, ...]) -> None:
    paper = derived(record("T", authors=better, source="listing"), record("T", authors=worse, source="arxiv"))
    assert paper.authors == better


def test_a_cut_list_never_replaces_a_whole_one() -> None:
    cut = record("T", authors=("A B", "C D", "E F"), authors_truncated=True)
    paper = derived(cut, record("T", authors=("A B", "C D")))
    assert (paper.authors, paper.authors_truncated) == (("A B", "C D"), False)
    assert derived(cut).authors_truncated
    assert derived(cut, record("T")).authors == cut.authors


def test_names_are_spelled_as_the_fullest_list_has_them() -> None:
    long = record("T", authors=("J. Müller", "A. Lima", "B. Chen", "Di Eng"))
    paper = derived(long, record("T", authors=("Jörg Müller", "Ana Lima")), record("T", authors=("Jorg Muller",)))
    assert paper.authors == ("Jörg Müller", "Ana Lima", "B. Chen", "Di Eng")


def test_a_spelling_that_fits_two_names_is_left_alone() -> None:
    assert (
        derived(record("T", authors=("J. Wu", "J. Wu", "X Y")), record("T", authors=("Jing Wu",))).authors[0] == "J. Wu"
    )
    assert (
        derived(record("T", authors=("J. Wu", "A B", "C D")), record("T", authors=("Jing Wu", "Jia Wu"))).authors[0]
        == "J. Wu"
    )


def test_a_paper_of_many_records_and_many_names_is_made_at_once() -> None:
    families = [f"{a}{b}ov" for a in "Bcdfghkl" for b in ("ana", "ene", "ini", "ono", "unu", "asa", "ese", "isi")]
    written = [
        tuple(f"{('A.', 'Ada', 'A.')[(i + j) % 3]} {name}" for j, name in enumerate(families)) for i in range(200)
    ]
    records = [record("T", key=f"k{i}", authors=names) for i, names in enumerate(written)]
    begun = time.process_time()
    paper = derive(1, records)
    assert time.process_time() - begun < 10, "of minutes, if each name is compared with each of each record"
    assert paper.authors == tuple(f"Ada {name}" for name in families)


def test_venue_and_year_come_from_the_publication() -> None:
    preprint = record("T", venue="arXiv", year=2019, status="v2", source="arxiv")
    published = record("T", venue="icml", year=2020, source="listing")
    paper = derived(preprint, published)
    assert (paper.venue, paper.year, paper.status) == ("icml", 2020, "")
    assert paper.origins["year"] == paper.origins["venue"] == f"listing:{published.key}"
    assert (derived(preprint, record("T")).venue, derived(preprint, record("T")).status) == ("arxiv", "v2")
    assert derived(record("T", status="Oral"), record("T")).status == "Oral"
    assert derived(record("T", venue="icml"), preprint).year == 2019
    assert derived(record("T", published=day("2018-03-01"))).year == 2018
    assert derived(record("T", published=day("2018-03-01")), record("T", year=2019)).year == 2019


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ('"We map. Twice."', "We map. Twice."),
        ('"Maps" and "charts"', '"Maps" and "charts"'),
        ('"Maps" first.', '"Maps" first.'),
        ('""', '""'),
    ],
)
def test_an_abstract_loses_the_quotation_marks_around_all_of_it(told: str, kept: str) -> None:
    assert derived(record("T", abstract=told)).abstract == kept


def test_a_name_without_a_letter_is_no_author() -> None:
    assert derived(record("T", authors=("Team Alpha", ":", "Ana Lima", "…"))).authors == ("Team Alpha", "Ana Lima")


def test_an_arxiv_category_is_not_said_twice() -> None:
    assert str(Area("cs", "cs.LG")) == "cs.LG"
    assert str(Area("Theory", "Learning Theory")) == "Theory · Learning Theory"
    assert str(Area("quant-ph")) == "quant-ph"


def test_a_preprint_without_a_year_is_of_the_year_of_its_number_or_listing() -> None:
    listed = record("T", listed=day("2026-01-02"), source="listing")
    numbered = record("T", "2512.00001", listed=day("2026-01-02"))
    assert derived(listed).year == 2026
    assert derived(listed, numbered).year == 2025
    assert derived(listed, numbered).origins["year"] == f"{numbered.source}:{numbered.key}"
    assert derived(numbered, record("T", year=2024)).year == 2024
    assert derived(record("T", "2512.00001", venue="arXiv")).year == 2025
    assert derived(record("T", "2512.00001", venue="icml")).year is None, "the year of the venue is not known"
    assert derived(record("T")).year is None


@pytest.mark.parametrize("status", ["Reject", "Rejected", "Withdraw", "Desk Rejected"])
def test_where_it_was_rejected_is_not_its_venue(status: str) -> None:
    rejected = record("T", venue="iclr", year=2019, status=status, source="arxiv")
    paper = derived(rejected, record("T", venue="icml", year=2020, status="Oral", source="listing"))
    assert (paper.venue, paper.year, paper.status) == ("icml", 2020, "Oral")
    assert derived(rejected, record("T")).status == status


def test_days_are_the_earliest() -> None:
    """E10: announced on Monday, replaced on Thursday, listed once."""
    paper = derived(
        record("T", published=day("2024-01-02"), listed=day("2024-01-08")),
        record("T", published=day("2024-01-05"), listed=day("2024-01-04")),
        record("T"),
    )
    assert (paper.published, paper.listed, paper.day) == (day("2024-01-02"), day("2024-01-04"), day("2024-01-04"))


def test_a_copy_without_area_erases_none() -> None:
    paper = derived(
        record("T", areas=(Area("Theory", "Learning"),), source="a"),
        record("T", source="b"),
        record("T", areas=(Area("theory", "LEARNING"), Area("Theory"), Area("cs")), source="c"),
    )
    assert paper.areas == (Area("Theory", "Learning"), Area("cs"))


def test_links_keywords_and_identifiers_are_united() -> None:
    page = Link(LinkKind.PAGE, "https://example.org/p")
    paper = derived(
        record(
            "T",
            "10.1000/b",
            links=(page, Link(LinkKind.CODE, "https://github.com/x/y")),
            keywords=("Maps", "boats"),
            source="a",
        ),
        record(
            "T",
            "2401.00001",
            "10.1000/a",
            links=(Link(LinkKind.PAGE, "http://example.org/p/"),),
            keywords=("maps",),
            source="b",
        ),
    )
    assert paper.links == (page, Link(LinkKind.CODE, "https://github.com/x/y"))
    assert paper.has_code
    assert paper.keywords == ("Maps", "boats")
    assert [str(i) for i in paper.identifiers] == ["arxiv:2401.00001", "doi:10.1000/a", "doi:10.1000/b"]


@pytest.mark.parametrize(
    ("one", "damaged"),
    [
        (record("Fine", abstract="Fine."), False),
        (record("B\ufffdd"), True),
        (record("T", abstract="of order mathcal{O}(n)"), True),
        (record("T", authors=("J\ufffdrg M",)), True),
    ],
)
def test_damage_is_shown(one: Record, damaged: bool) -> None:
    assert derived(one).damaged is damaged


names = st.sampled_from(["Ana Lima", "A. Lima", "Bo Chen", "Jörg Müller", "J. Muller", "M\ufffdller", "Di Eng"])
some_records = st.builds(
    Record,
    source=st.sampled_from(["arxiv", "listing", "jsonl:sample", "jsonl:a", "x"]),
    key=st.sampled_from("abc"),
    raw=st.sampled_from("12"),
    title=st.sampled_from(["Sparse Maps", "SPARSE MAPS", "Maps", "M\ufffdps", ""]),
    abstract=st.sampled_from(["", "We map.", "We map rivers.", "mathcal{O}"]),
    authors=st.lists(names, max_size=4).map(tuple),
    identifiers=st.lists(
        st.sampled_from([Identifier(Scheme.DOI, "10.1/a"), Identifier(Scheme.ARXIV, "2401.00001")])
    ).map(tuple),
    areas=st.lists(st.sampled_from([Area("A"), Area("A", "B"), Area("a", "b")]), max_size=2).map(tuple),
    venue=st.sampled_from(["", "arXiv", "icml", "nips"]),
    year=st.sampled_from([None, 2019, 2020]),
    published=st.sampled_from([None, day("2019-01-01"), day("2020-01-01")]),
    links=st.lists(st.sampled_from([Link(LinkKind.PAGE, "https://a.org/"), Link(LinkKind.PDF, "http://a.org")])).map(
        tuple
    ),
    keywords=st.lists(st.sampled_from(["x", "X", "y"])).map(tuple),
    status=st.sampled_from(["", "Oral"]),
    title_derived=st.booleans(),
    authors_truncated=st.booleans(),
    summarised=st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(some_records, min_size=2, max_size=4, unique_by=lambda r: (r.source, r.key)), st.randoms())
def test_the_order_of_records_does_not_matter(records: list[Record], shuffle: object) -> None:
    paper = derive(1, records)
    shuffled = list(records)
    shuffle.shuffle(shuffled)  # type: ignore[attr-defined]
    assert derive(1, shuffled) == paper
    assert derive(1, [*records, records[0]]) == paper
