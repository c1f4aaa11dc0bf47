"""Which records are one paper: every rule of ``compare`` and ``decide``, with the cases that users reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broadsheet.ingest import Candidate, Intent, Judgements, Reading, decide, read
from broadsheet.ingest.compare import Verdict, common_authors, compare, enough_authors
from broadsheet.ingest.merge import standing
from broadsheet.ingest.reading import GENERIC_TITLES
from broadsheet.model import Area, Judgement, JudgementKind, Record
from tests.makers import NOW, day, record

DIFFERENT, LINKED, SAME, IDENTIFIED = Verdict.DIFFERENT, Verdict.LINKED, Verdict.SAME, Verdict.IDENTIFIED

TITLE = "Sparse Maps for Slow Rivers"
PEOPLE = "Ana Lima, Bo Chen, Carl Dent"
ABSTRACT = (
    "We draw sparse maps of slow rivers from the air, and show that a boat with no pilot can follow them for a day. "
    * 3
)
OTHER_ABSTRACT = (
    "A river is fast where its bed is steep; we measure how steep it must be for sand to move, in forty valleys. " * 3
)


def verdict(a: Record, b: Record) -> Verdict:
    left, right = read(a), read(b)
    found = compare(left, right)
    assert compare(right, left) == found, "not symmetric"
    return found


def paper(*ids: str, title: str = TITLE, authors: str = PEOPLE, year: int | None = 2020, **fields: object) -> Record:
    return (
        record(title, *ids, authors=authors, year=year, **fields)
        if authors
        else record(title, *ids, year=year, **fields)
    )


def derived(abstract: str = ABSTRACT, authors: str = PEOPLE, **fields: object) -> Record:
    return paper(title=abstract[:50], authors=authors, year=None, abstract=abstract, title_derived=True, **fields)


PAIRS: dict[str, tuple[Record, Record, Verdict]] = {
    # identifiers
    "same arXiv id, title changed": (
        paper("2401.00001"),
        paper("2401.00001", title="Maps of Rivers that are Slow"),
        IDENTIFIED,
    ),
    "same arXiv id, new title, same people": (
        paper("2401.00001"),
        paper("2401.00001", title="Quick Boats"),
        IDENTIFIED,
    ),
    "same arXiv id by a slip": (
        paper("2401.00001"),
        paper("2401.00001", title="Quick Boats", authors="Dora Eng, Ed Fox"),
        LINKED,
    ),
    "E01: arXiv's own DOI": (
        paper("10.48550/ARXIV.1707.08052"),
        paper("arXiv:1707.08052v2", title="Challenges"),
        IDENTIFIED,
    ),
    "E01: arXiv DOI and publisher's DOI": (
        record(
            "Challenges in Data-to-Document Generation",
            "10.48550/ARXIV.1707.08052",
            year=2017,
            authors=("Wiseman, Sam", "Shieber, Stuart M.", "Rush, Alexander M."),
        ),
        record(
            "Challenges in Data-to-Document Generation",
            "10.18653/v1/d17-1239",
            year=2017,
            venue="emnlp",
            authors=("Wiseman, Sam", "Shieber, Stuart", "Rush, Alexander"),
        ),
        SAME,
    ),
    "E03: case of a DOI": (
        paper("10.1093/MOLBEV/MSL010"),
        paper("10.1093/molbev/msl010", authors="", title=""),
        IDENTIFIED,
    ),
    "ACL DOI and Anthology id": (paper("10.18653/v1/P18-1001"), paper("P18-1001", authors=""), IDENTIFIED),
    "same DOI, titles alike": (
        paper("10.1000/a"),
        paper("10.1000/a", title="Sparse maps of slow rivers in spring"),
        IDENTIFIED,
    ),
    "same DOI, no true title": (
        paper("10.1000/a"),
        record("A derived title", "10.1000/a", abstract=ABSTRACT, title_derived=True),
        IDENTIFIED,
    ),
    "same DOI, titles in two scripts": (
        paper("10.1000/a"),
        paper("10.1000/a", title="慢河的稀疏地图与无人船导航"),
        IDENTIFIED,
    ),
    "B19: DOI of the issue": (
        paper("1604.04062", "10.26421/QIC16.15-16"),
        paper("10.26421/QIC16.15-16", title="Quantum Information and Computation, Volume 16", authors=""),
        LINKED,
    ),
    "B19: two papers with the DOI of their issue": (
        paper("10.26421/QIC16.15-16"),
        paper("10.26421/QIC16.15-16", title="Boats without Pilots at Night"),
        LINKED,
    ),
    "same DOI, two parts": (
        paper("10.1000/a", title=f"{TITLE}: Part I"),
        paper("10.1000/a", title=f"{TITLE}: Part II"),
        LINKED,
    ),
    # titles
    "same title, authors, year": (paper(), paper(), SAME),
    "same title otherwise written": (paper(), paper(title="sparse maps for {S}low rivers."), SAME),
    "same title with accents and dashes": (
        paper(title="Über-sparse Maps for Slow Rivers"),
        paper(title="Uber‑Sparse maps for slow rivers"),
        SAME,
    ),
    "next year": (paper(), paper(year=2021), SAME),
    "two years later": (paper(venue="a"), paper(year=2022, venue="b"), LINKED),
    "preprint two years before": (paper("2001.00001"), paper(year=2022, venue="icml"), SAME),
    "preprint four years before": (paper("1901.00001", year=2019), paper(year=2023, venue="icml"), LINKED),
    "year unknown": (paper(), paper(year=None), SAME),
    "same title, other authors": (paper(), paper(authors="Dora Eng, Ed Fox, Flo Gray"), DIFFERENT),
    "half of the shorter list": (paper(), paper(authors="Ana Lima, Dora Eng"), SAME),
    "less than half": (
        paper(authors="Ana Lima, Bo Chen, Carl Dent, Di Eng"),
        paper(authors="Xi Yu, Ana Lima, Yo Zed"),
        DIFFERENT,
    ),
    "first author and one more of many": (
        paper(authors="Ana Lima, Bo Chen, C C, D D, E E, F F"),
        paper(authors="Ana Lima, Bo Chen, U U, V V, W W, X X"),
        SAME,
    ),
    "E06: NFC and NFD": (paper(authors="Jörg Müller"), paper(authors="Jo\u0308rg Mu\u0308ller"), SAME),
    "B18: a changed spelling": (paper(authors="María Gil"), paper(authors="Maria Gil"), SAME),
    "initials": (paper(authors="Ana Lima, Bo Chen"), paper(authors="A. Lima, B. Chen"), SAME),
    "family name first": (paper(), record(TITLE, authors=("Lima, Ana", "Chen, Bo", "Dent, Carl"), year=2020), SAME),
    "B12: damaged names do not match": (
        paper(authors="J\ufffdrg M\ufffdller"),
        paper(authors="Jerg M\ufffdller"),
        DIFFERENT,
    ),
    "a long title and year without authors": (
        paper(title="A rather long title that no other paper of the year will have"),
        paper(title="A Rather Long Title that no other Paper of the Year Will Have", authors=""),
        SAME,
    ),
    "a short title without authors": (paper(), paper(authors=""), DIFFERENT),
    "a long title without authors, other year": (
        paper(title="A rather long title that no other paper of the year will have"),
        paper(title="A rather long title that no other paper of the year will have", authors="", year=2021),
        DIFFERENT,
    ),
    "a long title without authors or year": (
        paper(title="A rather long title that no other paper of the year will have", year=None),
        paper(title="A rather long title that no other paper of the year will have", authors="", year=None),
        DIFFERENT,
    ),
    # titles that are no identity
    "short title": (paper(title="Maps"), paper(title="Maps"), DIFFERENT),
    "parts I and II": (paper(title=f"{TITLE} I"), paper(title=f"{TITLE} II"), DIFFERENT),
    "parts 1 and 2": (paper(title=f"{TITLE}, Part 1"), paper(title=f"{TITLE}, Part 2"), DIFFERENT),
    "v2": (paper(title="YOLOv2: Seeing Rivers"), paper(title="YOLOv3: Seeing Rivers"), DIFFERENT),
    "one with a number": (paper(title=f"{TITLE}"), paper(title=f"{TITLE} 2"), DIFFERENT),
    "other years in the title": (
        paper(title="Report on Slow Rivers 2019"),
        paper(title="Report on Slow Rivers 2020"),
        DIFFERENT,
    ),
    # titles derived from abstracts
    "listed twice": (derived(), derived(areas=(Area("Maps"),)), SAME),
    "listed twice without authors": (derived(authors=""), derived(authors=""), SAME),
    "listed, and the true record": (derived(), paper("2401.00001", abstract=ABSTRACT), SAME),
    "listed without authors, and the true record": (derived(authors=""), paper(abstract=ABSTRACT), SAME),
    "listed with its end cut": (derived(ABSTRACT[:300]), paper(abstract=ABSTRACT), SAME),
    "same abstract, other authors": (derived(), derived(authors="Dora Eng, Ed Fox"), DIFFERENT),
    "other abstract, same authors": (derived(), derived(OTHER_ABSTRACT), DIFFERENT),
    "a short abstract": (derived("See the book."), derived("See the book."), DIFFERENT),
    "a derived title is no title": (derived(), paper(title=ABSTRACT[:50], abstract=OTHER_ABSTRACT), DIFFERENT),
    "same abstract under two titles": (
        paper(abstract=ABSTRACT),
        paper(title="Boats without Pilots", abstract=ABSTRACT),
        LINKED,
    ),
    # extended versions
    "extended version": (paper(), paper(title=f"{TITLE} (Extended Version)", year=2023, venue="j"), LINKED),
    "extended abstract": (paper(), paper(title=f"{TITLE} - Extended Abstract"), LINKED),
    "subtitle": (paper(), paper(title=f"{TITLE}: Theory and a Boat", year=2022, venue="j"), LINKED),
    "words added": (paper(), paper(title="Sparse Maps for Slow and Muddy Rivers in Spring", year=2022), LINKED),
    "extended, other authors": (
        paper(),
        paper(title=f"{TITLE} (Extended Version)", authors="Dora Eng, Ed Fox"),
        DIFFERENT,
    ),
    "same people, other work": (paper(), paper(title="Boats without Pilots at Night"), DIFFERENT),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    a, b, expected = PAIRS[name]
    assert verdict(a, b) is expected


@pytest.mark.parametrize(
    "title", ["Preface", "Introduction", "EDITORIAL", "Front Matter", "Discussion", "Introduction to the Special Issue"]
)
def test_generic_titles_are_no_identity(title: str) -> None:
    assert verdict(paper(title=title), paper(title=title)) is DIFFERENT
    assert not read(paper(title=title)).match_keys
    assert verdict(paper("10.1000/a", title=title), paper("10.1000/a", title=title)) is IDENTIFIED


def test_generic_titles_are_fingerprints() -> None:
    assert "preface" in GENERIC_TITLES
    assert "messagefromtheprogramchairs" in GENERIC_TITLES
    assert "" not in GENERIC_TITLES


def test_every_related_pair_shares_a_key() -> None:
    """What ``compare`` would join must be found in the database at all."""
    for name, (a, b, expected) in PAIRS.items():
        left, right = read(a), read(b)
        shared = {*left.identifiers, *left.match_keys} & {*right.identifiers, *right.match_keys}
        if expected >= SAME or (expected is LINKED and name != "words added"):
            assert shared, name


SUMMARY = record(
    "Pilotless Boats on Sparse River Maps",
    "2401.00001",
    authors=PEOPLE,
    areas=(Area("Robotics", "Boats"),),
    summarised=True,
    abstract="Sparse maps of slow rivers, drawn from the air; a boat with no pilot can follow them.",
)


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (derived(), SAME),
        (derived(areas=(Area("Robotics", "Ships"),)), SAME),
        (derived(areas=(Area("Theory"),)), DIFFERENT),
        (derived(OTHER_ABSTRACT.replace("river", "street")), DIFFERENT),
        (derived(authors="Bo Chen, Ana Lima, Carl Dent"), DIFFERENT),
        (derived(authors="Ana Lima, Bo Chen"), DIFFERENT),
        (derived(authors=f"{PEOPLE}, Di Eng"), DIFFERENT),
        (derived(authors=""), DIFFERENT),
        (paper(abstract=ABSTRACT), DIFFERENT),
    ],
)
def test_summary_of_ours_and_a_listed_abstract(listed: Record, expected: Verdict) -> None:
    assert verdict(SUMMARY, listed) is expected


def test_summary_and_a_listed_abstract_with_a_cut_list() -> None:
    long = replace(SUMMARY, authors=(*SUMMARY.authors, "Di Eng", "Ed Fox"))
    assert verdict(long, derived(authors_truncated=True)) is SAME
    assert verdict(long, derived(authors="Ana Lima, Bo Chen", authors_truncated=True)) is DIFFERENT
    assert set(read(long).match_keys) & set(read(derived()).match_keys)


def test_two_authors_need_more_words_in_common() -> None:
    pair = replace(SUMMARY, authors=SUMMARY.authors[:2])
    assert verdict(pair, derived(authors="Ana Lima, Bo Chen")) is SAME
    weaker = replace(pair, abstract=pair.abstract + " Instruments, wetlands, turbidity.")
    assert verdict(weaker, derived(authors="Ana Lima, Bo Chen")) is DIFFERENT
    assert verdict(replace(weaker, authors=SUMMARY.authors), derived()) is SAME


def test_author_lists() -> None:
    assert common_authors(["Ana Lima", "Ana Lima"], ["A. Lima"]) == 1
    assert common_authors(["Ana Lima", "Bo Chen"], ["B. Chen", "A. Lima"]) == 2
    assert not enough_authors([], [])
    assert not enough_authors(["Ana Lima"], [])
    many = [f"Given{i} Family{i}" for i in range(3000)]
    assert enough_authors(many, many[:10])


def candidate(number: int, *records: Record) -> Candidate:
    return Candidate(number, tuple(map(read, records)))


def decided(incoming: Record, *candidates: Candidate, **options: object) -> Intent:
    forwards = decide(read(incoming), candidates, **options)  # type: ignore[arg-type]
    assert decide(read(incoming), candidates[::-1], **options) == forwards, "depends on the order"  # type: ignore[arg-type]
    return forwards


def test_nothing_like_it_is_a_new_paper() -> None:
    assert decided(paper()) == Intent(None)
    assert decided(paper(), candidate(5, paper(title="Boats without Pilots at Night"))) == Intent(None)


def test_same_paper_is_joined() -> None:
    assert decided(paper(), candidate(5, paper())) == Intent(5)


def test_two_papers_that_turn_out_to_be_one_become_the_older() -> None:
    incoming = paper("2401.00001", "10.1000/a")
    assert decided(incoming, candidate(9, paper("10.1000/a")), candidate(4, paper("2401.00001"))) == Intent(
        4, merged=(9,)
    )


def test_stored_papers_are_older_than_new_ones() -> None:
    assert decided(paper(), candidate(-1, paper()), candidate(9, paper()), candidate(-2, paper())) == Intent(
        9, merged=(-1, -2)
    )


def test_two_arxiv_ids_are_never_one_paper() -> None:
    assert decided(paper("2401.00001"), candidate(4, paper("2401.00002"))) == Intent(None, linked=(4,))
    both = paper("2401.00001", "10.1000/a"), paper("2401.00002", "10.1000/a")
    assert decided(both[0], candidate(4, both[1])) == Intent(None, linked=(4,))


def test_e02_two_dois_are_linked() -> None:
    assert decided(paper("10.1000/a"), candidate(4, paper("10.1000/b"))) == Intent(None, linked=(4,))
    assert decided(paper("pmid:1"), candidate(4, paper("pmid:2"))) == Intent(None, linked=(4,))


def test_a_doi_that_stands_on_two_anthology_papers_is_a_slip() -> None:
    one = paper(
        "W18-6481", "10.18653/v1/W18-6481", title="Cleaning Parallel Corpora: the First Team's Submission to the Task"
    )
    other = paper(
        "W18-6482", "10.18653/v1/W18-6481", title="The Second Team's Submission to the Task of Parallel Corpora"
    )
    assert {str(i) for i in read(other).identifiers} == {"acl:W18-6482", "doi:10.18653/v1/w18-6481"}
    assert decided(other, candidate(4, one)) == Intent(None, linked=(4,))


def test_an_arxiv_id_in_common_outweighs_two_dois() -> None:
    assert decided(paper("10.1000/a", "2401.00001"), candidate(4, paper("10.1000/b", "2401.00001"))) == Intent(4)


def test_two_forums_of_one_paper_are_one() -> None:
    assert decided(paper("openreview:aaaaaaaa"), candidate(4, paper("openreview:bbbbbbbb", year=2021))) == Intent(4)


def test_what_contradicts_the_whole_paper_is_not_joined_by_one_record() -> None:
    """The record without id would match, but its paper has another arXiv id."""
    assert decided(paper("2401.00001"), candidate(4, paper(), paper("2401.00002"))) == Intent(None, linked=(4,))


def test_of_two_papers_that_contradict_each_other_the_older_is_joined() -> None:
    two = candidate(7, paper("2401.00002")), candidate(3, paper("2401.00001"))
    assert decided(paper(), *two) == Intent(3, linked=(7,))


def test_of_two_papers_that_contradict_each_other_the_one_with_the_identifier_is_joined() -> None:
    two = candidate(7, paper("2401.00002", "P18-1001")), candidate(3, paper("2401.00001"))
    assert decided(paper("P18-1001"), *two) == Intent(7, linked=(3,))


def test_extended_version_is_linked() -> None:
    assert decided(paper(title=f"{TITLE} (Extended Version)"), candidate(4, paper())) == Intent(None, linked=(4,))


A, B, C = paper("2401.00001", key="a"), paper("2401.00002", key="b"), paper("2401.00001", key="c")


def judged(kind: JudgementKind, *pairs: tuple[str, str]) -> Judgements:
    return Judgements(Judgement(kind, ("test", x), ("test", y), NOW) for x, y in pairs)


def test_a_persons_merge_overrules_identifiers() -> None:
    assert decided(A, candidate(4, B)).paper is None
    assert decided(A, candidate(4, B), judgements=judged(JudgementKind.MERGE, ("b", "a"))) == Intent(4)


def test_a_persons_split_overrules_identifiers() -> None:
    assert decided(A, candidate(4, C)) == Intent(4)
    assert decided(A, candidate(4, C), judgements=judged(JudgementKind.SPLIT, ("c", "a"))) == Intent(None)


def test_a_split_from_one_record_keeps_out_of_its_paper() -> None:
    third = paper("2401.00001", key="d")
    assert decided(third, candidate(4, A, C), judgements=judged(JudgementKind.SPLIT, ("a", "d"))) == Intent(None)


def test_a_third_record_does_not_join_what_a_person_split() -> None:
    third = paper("2401.00001", key="d")
    split = judged(JudgementKind.SPLIT, ("a", "c"))
    assert decided(third, candidate(4, A), candidate(6, C), judgements=split) == Intent(4, linked=(6,))


def test_a_merge_of_two_others_does_not_concern_a_third() -> None:
    assert standing([read(A)], [read(B)], judged(JudgementKind.MERGE, ("a", "z"))) == (LINKED, False)


def test_a_changed_record_stays_in_its_paper() -> None:
    """E09: the same key with a new title is the same entry."""
    changed = paper(title="Boats without Pilots at Night", key="a")
    assert decided(changed, candidate(4), home=4) == Intent(4)
    assert decided(changed, candidate(4, paper()), home=4) == Intent(4)
    assert decided(paper("2401.00001", key="a"), candidate(4), candidate(2, C), home=4) == Intent(2, merged=(4,))


def test_a_changed_record_leaves_its_paper_for_another_arxiv_id_or_a_persons_word() -> None:
    assert decided(A, candidate(4, B), home=4) == Intent(None, linked=(4,))
    split = judged(JudgementKind.SPLIT, ("a", "x"))
    assert decided(A, candidate(4, paper(key="x")), home=4, judgements=split) == Intent(None)


def test_reading_is_of_cleaned_text() -> None:
    reading: Reading = read(
        record("Erd\\H{o}s &amp; <i>Co</i>", abstract="We  use $x^2$", authors=("Erd\\H{o}s, Paul", " "))
    )
    assert reading.title == "Erdős & *Co*"
    assert reading.authors == ("Paul Erdős",)
    assert reading.year is None
    assert read(record("T", published=day("2019-05-05"))).year == 2019


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("2026-01-05", "2026-01-05", Verdict.SAME),
        ("2025-12-30", "2026-02-13", Verdict.SAME),  # 45 days
        ("2025-12-30", "2026-02-14", Verdict.DIFFERENT),
        ("2026-01-05", None, Verdict.DIFFERENT),
    ],
)
def test_lists_without_authors_mean_one_paper_by_one_title_for_a_while(
    first: str, second: str | None, verdict: Verdict
) -> None:
    a = record("Maps for Slow Rivers", source="one", listed=day(first))
    b = record("Maps for Slow Rivers", source="two", listed=day(second) if second else None)
    assert compare(read(a), read(b)) is verdict
    assert compare(read(b), read(a)) is verdict


def test_the_year_of_a_listing_counts_for_a_long_title() -> None:
    title = "Maps for slow rivers and for the boats that go on them by night"
    listed = record(title, source="one", listed=day("2026-01-05"))
    assert compare(read(listed), read(record(title, source="two", year=2026))) is Verdict.SAME
    assert compare(read(listed), read(record(title, source="two", year=2025))) is Verdict.DIFFERENT
