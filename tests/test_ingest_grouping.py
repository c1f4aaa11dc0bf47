"""Repeats in a review's pool: what is grouped, what is not, on invented records and on the real screenings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import permutations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.ingest import Grouper, contradictions, group, pool_record, record_of_pool
from broadsheet.model import Link, LinkKind, Record
from broadsheet.model.screening import Label, PoolRecord
from broadsheet.sources import read_file
from broadsheet.sources.labels import Labelled, label_of
from tests.makers import record
from tests.shared import shared

TITLE = "How honey bees count the flowers that they have visited"
ABSTRACT = (
    "Honey bees were trained to fly along a tunnel with landmarks. We changed the number of landmarks and the "
    "distance between them, and found that bees looked for food behind the same number of landmarks in most trials."
)


def pooled(title: str = TITLE, abstract: str = "", *ids: str, number: int = 1, **fields: object) -> PoolRecord:
    found = Labelled(record(title, *ids, abstract=abstract))
    return replace(pool_record(found, number, "hits.ris"), **fields)  # type: ignore[arg-type]


def together(*records: Record | PoolRecord) -> bool:
    return group(records) == [0] * len(records)


# --- merging's own rules ---------------------------------------------------------------------------------------------


def test_nothing_and_strangers() -> None:
    assert group([]) == []
    assert group([pooled("On bees and their ways"), pooled("On wasps and their ways")]) == [0, 1]


def test_an_identifier_in_common() -> None:
    assert together(pooled(TITLE, "", "10.1000/x"), pooled(f"{TITLE}.", "", "10.1000/X"))
    assert together(pooled("Bees", "", "pmid:7"), pooled("Bees", "", "pmid:7"))


def test_one_title_and_the_same_people() -> None:
    a, b = pooled(authors=("Ann Ba", "Cy Lee"), year=2019), pooled(authors=("A. Ba", "C. Lee"), year=2020)
    assert together(a, b)
    assert not together(a, replace(b, authors=("Bo Du", "Di Fo")))
    assert not together(a, replace(b, year=2005))


def test_two_identifiers_of_one_scheme_are_two_records() -> None:
    assert not together(pooled(TITLE, ABSTRACT, "pmid:7"), pooled(TITLE, ABSTRACT, "pmid:8"))


def test_a_record_may_join_two_groups() -> None:
    a, b = pooled("Bees", "", "pmid:7"), pooled("Bees", "", "10.1000/x")
    both = pooled("Bees", "", "pmid:7", "10.1000/x")
    grouper = Grouper()
    assert [grouper.add(one) for one in (a, b)] == [0, 1]
    assert grouper.add(both) == 0
    assert (grouper.first(1), grouper.firsts()) == (0, [0, 0, 0])
    assert grouper.add(b) == 0


def test_what_a_person_held_apart_stays_apart() -> None:
    copies = [pooled(TITLE, ABSTRACT), pooled(TITLE, ABSTRACT)]
    assert group(copies) == [0, 0]
    assert group(copies, apart=[(1, 0)]) == [0, 1]
    assert group([*copies, pooled(TITLE, ABSTRACT)], apart=[(0, 1)]) in ([0, 1, 0], [0, 1, 1])


def test_a_title_of_very_many_is_no_sign() -> None:
    many = [pooled("Wilson disease in children", authors=(f"Ann {name}ski",), year=2000 + i % 9) for i, name in NAMES]
    assert group(many) == list(range(len(many)))


NAMES = list(enumerate(a + b for a, b in permutations("aeioubdfgk", 2)))


# --- the added rule --------------------------------------------------------------------------------------------------


def test_one_title_and_one_abstract_without_authors() -> None:
    assert together(pooled(TITLE, ABSTRACT), pooled(TITLE.upper(), ABSTRACT))
    assert together(pooled(TITLE, f"OBJECTIVE: {ABSTRACT}"), pooled(TITLE, ABSTRACT, authors=("Ann Ba",), year=2019))


def test_other_abstracts_are_other_records() -> None:
    other = "Bees count. Nobody knows how many flowers a bee has seen in her life, and this review asks who looked."
    assert not together(pooled(TITLE, ABSTRACT), pooled(TITLE, other))
    assert not together(pooled(TITLE, ABSTRACT), pooled(TITLE, ""))


def test_two_patients_of_one_team_are_two_records() -> None:
    """As in a real screening: the texts share 85 % of their words."""
    text = (
        "A {}-year-old {} came with a {}-month history of pain. {} was given, and {} follow-up showed no further pain."
    )
    assert not together(
        pooled("Bee stings and pancreatitis", text.format(12, "boy", 2, "Zinc", "an 18-month")),
        pooled("Bee stings and pancreatitis", text.format(14, "girl", 1, "Penicillamine", "regular")),
    )


def test_years_and_identifiers_speak_against_it() -> None:
    a = pooled(TITLE, ABSTRACT, year=2019)
    assert together(a, replace(a, year=None))
    assert not together(a, replace(a, year=2020))
    assert not together(pooled(TITLE, ABSTRACT, "10.1000/x"), pooled(TITLE, ABSTRACT, "10.1000/y"))


def test_a_long_title_may_stand_alone_and_a_short_or_general_one_may_not() -> None:
    assert together(pooled(TITLE), pooled(TITLE))
    assert not together(pooled("Heart failure in bees"), pooled("Heart failure in bees"))
    assert not together(pooled("Editorial", ABSTRACT), pooled("Editorial", ABSTRACT))


def test_an_abstract_alone() -> None:
    assert together(pooled("", ABSTRACT), pooled("", ABSTRACT))
    assert together(pooled("", ABSTRACT), pooled(TITLE, ABSTRACT))
    assert not together(pooled("", "First Page of the Article"), pooled("", "First Page of the Article"))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)), max_size=12))
def test_each_names_a_first_that_names_itself(shapes: list[tuple[int, int, int]]) -> None:
    records = [
        pooled(f"{TITLE} {'again ' * title}", ABSTRACT if text else "", *([f"10.1000/{doi}"] if doi else []))
        for title, text, doi in shapes
    ]
    firsts = group(records)
    assert len(firsts) == len(records)
    assert all(first <= place and firsts[first] == first for place, first in enumerate(firsts))
    assert firsts == group([record_of_pool(one) for one in records])


# --- real screenings -------------------------------------------------------------------------------------------------

REPEATS = {
    "appenzeller_herzog_2020_wilson": 25,
    "bannach_brown_2019": 1,
    "cohen2006_ACEInhibitors": 0,
    "fastread_medical": 1,
    "nagtegaal_2019": 7,
    "se_kitchenham_2010": 5,
    "se_radjenovic_2013": 11,
}


def screening(name: str) -> list[Record]:
    path = shared("data", "screening", f"{name}.jsonl.gz")
    items = read_file(path, max_entry_bytes=10**7, max_authors=1000)
    return [item.entry for item in items if isinstance(item.entry, Record)]


def groups_of(firsts: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for place, first in enumerate(firsts):
        groups[first].append(place)
    return [places for places in groups.values() if len(places) > 1]


@pytest.mark.parametrize("name", REPEATS)
def test_real_screenings(name: str) -> None:
    """No two records that were decided differently are put together. Every pair was looked at: all are copies, or
    versions of one review, but one in Kitchenham's set with one title, year and author, and another abstract."""
    found = [label_of(one, name) for one in screening(name)]
    pool = [pool_record(one, number, name) for number, one in enumerate(found, 1)]
    firsts = group(pool)
    assert sum(first != place for place, first in enumerate(firsts)) == REPEATS[name]
    twins = [
        replace(one, twin=first + 1 if first != i else 0)
        for i, (one, first) in enumerate(zip(pool, firsts, strict=True))
    ]
    assert contradictions(twins) == []


def test_repeats_that_the_authors_of_a_screening_marked() -> None:
    """Nagtegaal: 7 of the 11 marked; the others have an abstract that differs in more than a tenth of its words."""
    records = screening("nagtegaal_2019")
    rows = [orjson.loads(one.raw) for one in records]
    places = {row["id"]: place for place, row in enumerate(rows)}
    marked = {
        frozenset((place, places[row["duplicate_of"]])) for place, row in enumerate(rows) if row.get("duplicate_of")
    }
    grouped = {frozenset(places) for places in groups_of(group(records))}
    assert len(marked) == 11
    assert grouped < marked
    assert len(grouped) == 7


# --- records of the pool ---------------------------------------------------------------------------------------------


def test_pool_record_is_plain() -> None:
    came = record(
        "On <i>slow</i> bees &amp; $\\alpha$",
        "10.1000/x",
        abstract="They  hum.\nLoudly.",
        authors=("Lee, Cy", "王小明", "--"),
        venue="icml",
        year=2019,
        keywords=("bees", "bees", " "),
        links=(Link(LinkKind.PDF, "https://a.org/x.pdf"), Link(LinkKind.PAGE, "https://a.org/x")),
        key="k1",
        kind="article",
        published=date(2019, 5, 1),
        month_only=True,
        details=(("volume", "7"), ("label", "0"), ("file", "/home/ann/x.pdf"), ("note", "mine\nExport Date: today")),
    )
    read = Labelled(came, Label.EXCLUDE, "mine", ("no bees", "too old"), remarks=("Export Date: today",))
    made = pool_record(read, 7, "hits.ris", twin=3, paper=9)
    assert made == PoolRecord(
        number=7,
        title="On slow bees & α",
        abstract="They hum. Loudly.",
        authors=("Cy Lee", "王小明"),
        year=2019,
        venue="ICML",
        identifiers=came.identifiers,
        keywords=("bees",),
        url="https://a.org/x",
        source="hits.ris",
        key="k1",
        paper=9,
        twin=3,
        label=Label.EXCLUDE,
        note="mine\nReasons: no bees; too old",
        kind="article",
        published="2019-05",
        links=(Link(LinkKind.PDF, "https://a.org/x.pdf"),),
        details=(("volume", "7"), ("note", "Export Date: today")),
    )


def test_derived_titles_are_left_empty() -> None:
    came = record("We watch bees", abstract="We watch bees. They hum.", title_derived=True)
    assert pool_record(Labelled(came), 1, "x").title == ""


@pytest.mark.parametrize(
    "text", ["[No abstract available]", "No abstract available.", "N/A", "[Abstract not available]"]
)
def test_what_says_that_there_is_no_abstract_is_none(text: str) -> None:
    assert pool_record(Labelled(record("Bees", abstract=text)), 1, "x").abstract == ""
    assert pool_record(Labelled(record("Bees", abstract=f"{text} in bees")), 1, "x").abstract == f"{text} in bees"


def test_contradictions_are_said() -> None:
    a = pooled(label=Label.INCLUDE, number=1)
    b = pooled(label=Label.EXCLUDE, number=5, twin=1, source="other.csv")
    later = pooled(label=Label.LATER, number=6, twin=1)
    assert contradictions([a, replace(b, label=Label.INCLUDE), later, replace(b, label=None)]) == []
    assert contradictions([a, b]) == [
        f"copies of “{TITLE}” came with different labels: include in hits.ris (record 1), exclude in other.csv "
        "(record 5); look at it and decide it again"
    ]
    assert "…”" in contradictions([replace(a, title=TITLE * 2), b])[0]
