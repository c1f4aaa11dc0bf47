"""Which records of a review are one: what files add, what a person says, and how records are named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError, NotFoundError
from broadsheet.ingest import grouping
from broadsheet.ingest.reading import Reading, read
from broadsheet.library import Library
from broadsheet.library.screening import Screening
from broadsheet.model import Record
from broadsheet.model.screening import Label, Plan, ReviewEventKind
from broadsheet.sources.naming import source_of
from tests.libraries import library_in
from tests.screening_pools import pool_file

INCLUDE, EXCLUDE = Label.INCLUDE, Label.EXCLUDE
NEAR = ("Slow boats and their behaviour on rivers", "Slow boats and their behavior on rivers")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def screening(library: Library) -> Screening:
    library.screening.create("boats", Plan(seed=7))
    return library.screening


def table(path: Path, *rows: str) -> Path:
    """A CSV with these rows below its head."""
    path.write_text("\n".join(["title,abstract,doi,pmid,year,authors", *rows]) + "\n", "utf-8")
    return path


@pytest.fixture
def alike(screening: Screening, tmp_path: Path) -> Screening:
    """Two spellings of one title, and two works with another one."""
    rows = [f"{NEAR[0]},Rowed,10.1000/a,,2001,Ann Ba", f"{NEAR[1]},,,,2005,Cy Lee"]
    rows += [
        "Bread from the oven is fresh and warm,,10.1000/c,,1999,",
        "Bread from the oven is fresh and warm,,10.1000/d,,2009,",
    ]
    screening.add_files("boats", [table(tmp_path / "alike.csv", *rows)])
    return screening


# --- possible repeats


def pairs(screening: Screening) -> list[tuple[int, int]]:
    return [(each.record.number, each.other.number) for each in screening.possible_repeats("boats")]


def test_what_looks_like_one_is_listed_the_likest_first(alike: Screening) -> None:
    assert pairs(alike) == [(3, 4), (1, 2)]
    assert pairs(alike)[1:] == [
        (each.record.number, each.other.number) for each in alike.possible_repeats("boats", limit=1, offset=1)
    ]
    found = alike.possible_repeats("boats")[1]
    assert found.why == "Nearly the same title; the years are 2001 and 2005, the first authors differ."
    assert 0.9 < found.likeness < 1


def test_who_says_that_two_are_one_joins_them_with_their_label(alike: Screening) -> None:
    alike.decide("boats", 2, INCLUDE)
    alike.twin("boats", 2, 1)
    assert pairs(alike) == [(3, 4)]
    assert alike.record("boats", 1).label is INCLUDE
    assert (alike.progress("boats").records, alike.progress("boats").found) == (3, 1)


def test_who_says_that_two_are_different_is_not_asked_again(alike: Screening, tmp_path: Path) -> None:
    event = alike.different("boats", 3, 4)
    assert (event.kind, event.record, event.other) == (ReviewEventKind.DIFFERENT, 3, 4)
    assert pairs(alike) == [(1, 2)]
    # A record that is like both of them joins one, but does not join them.
    both = "Bread from the oven is fresh and warm,,,,,"
    alike.add_files("boats", [table(tmp_path / "more.csv", both)])
    assert 4 not in alike.record("boats", 3).twins
    assert (3, 4) not in pairs(alike)
    alike.undo("boats", event=event.id)
    assert (3, 4) in pairs(alike) or 4 in alike.record("boats", 3).twins


def test_new_records_are_compared_as_well(alike: Screening, tmp_path: Path) -> None:
    assert len(pairs(alike)) == 2
    alike.add_files("boats", [table(tmp_path / "more.csv", "Slow boats and their behaviours on rivers,,,,,")])
    assert (1, 5) in pairs(alike)


@pytest.mark.parametrize(
    ("one", "other", "words"), [(1, 1, "cannot repeat itself"), (1, 9, "no record 9: numbers go from 1 to 4")]
)
def test_what_cannot_be_different_is_refused(alike: Screening, one: int, other: int, words: str) -> None:
    with pytest.raises((InputError, NotFoundError), match=words):
        alike.different("boats", one, other)


def test_what_is_taken_for_one_must_be_taken_apart(alike: Screening) -> None:
    alike.twin("boats", 1, 2)
    with pytest.raises(InputError, match="records 2 and 1 are taken for the same: say that 2 stands apart"):
        alike.different("boats", 2, 1)
    alike.apart("boats", 2)
    assert (1, 2) not in pairs(alike)


def test_the_bridge_of_a_later_record_that_is_taken_back_is_not_built_again(
    screening: Screening, tmp_path: Path
) -> None:
    two = table(tmp_path / "two.csv", "Slow boats of the north,Rowed,10.1000/b,,,", "Slow boats,Rowed,,31415926,,")
    screening.add_files("boats", [two])
    both = "Slow boats of the north,Rowed,10.1000/b,31415926,,"
    screening.add_files("boats", [table(tmp_path / "one.csv", both)])
    [bridge] = [event for event in screening.history("boats") if event.kind is ReviewEventKind.TWIN]
    screening.undo("boats", event=bridge.id)
    screening.add_files("boats", [table(tmp_path / "again.csv", both)])
    assert 2 not in screening.record("boats", 1).twins


def test_what_one_did_last_is_no_bridge_that_a_file_built(screening: Screening, tmp_path: Path) -> None:
    two = table(tmp_path / "two.csv", "Slow boats of the north,Rowed,10.1000/b,,,", "Slow boats,Rowed,,31415926,,")
    screening.add_files("boats", [two])
    decided = screening.decide("boats", 1, INCLUDE)
    screening.add_files("boats", [table(tmp_path / "one.csv", "Slow boats of the north,Rowed,10.1000/b,31415926,,")])
    undone = screening.undo("boats")
    assert undone is not None
    assert undone.undoes == decided.id
    assert screening.record("boats", 1).twins == (2, 3)


# --- what files add


def test_a_file_costs_no_more_than_its_own_records(
    screening: Screening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 40)])
    looked: list[str] = []

    def counting(record: Record) -> Reading:
        looked.append(record.title)
        return read(record)

    monkeypatch.setattr(grouping, "read", counting)
    screening.decide("boats", 1, INCLUDE)  # a decision changes nothing about what repeats what
    [summary] = screening.add_files("boats", [pool_file(tmp_path / "more.csv", 5, start=39)])
    assert summary.repeats == 2
    assert len(looked) <= 5 + 2


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=4))
def test_files_one_by_one_give_the_groups_of_all_at_once(
    library: Library, tmp_path: Path, files: list[list[int]]
) -> None:
    screening = library.screening
    name = f"review {len(screening.reviews())}"
    screening.create(name)
    numbers = [number for file in files for number in file]
    for place, file in enumerate(files):
        rows = [f"Slow boats of river number {'abcdefghi'[n - 1] * 9},,10.1000/{n},,," for n in file]
        screening.add_files(name, [table(tmp_path / f"{name}-{place}.csv", *rows)])
    firsts = [min((found.record.number, *found.twins)) for found in screening.records(name, limit=100)]
    assert firsts == [1 + numbers.index(number) for number in numbers]


def test_a_file_that_is_added_twice_changes_nothing(screening: Screening, tmp_path: Path) -> None:
    path = pool_file(tmp_path / "hits.csv", 10)
    screening.add_files("boats", [path])
    before, events = screening.prisma("boats"), len(screening.history("boats"))
    [again] = screening.add_files("boats", [path])
    assert (again.entries, again.added, again.refused) == (0, 0, 0)
    assert again.problems == ("hits.csv: 10 of 10 entries are in the review already, from this source",)
    assert screening.prisma("boats") == before
    assert len(screening.history("boats")) == events


def test_a_file_can_be_tried_before(screening: Screening, tmp_path: Path) -> None:
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 10)])
    events = screening.history("boats")
    more = pool_file(tmp_path / "more.csv", 5, start=9)
    tried = screening.add_files("boats", [more], dry_run=True)
    assert screening.history("boats") == events
    assert tried == screening.add_files("boats", [more])
    assert (tried[0].added, tried[0].repeats) == (5, 2)


def test_a_text_that_is_no_file_of_references_is_refused(screening: Screening, tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("Slow boats of the north\nAnn Ba, Cy Lee\nFresh bread of the south\nBo Du, Di Fo\n", "utf-8")
    with pytest.raises(InputError, match=r"page\.txt: it is no file of references, but text like a copied page"):
        screening.add_files("boats", [path])
    assert screening.records("boats") == []


def test_the_name_of_a_file_may_be_no_text(screening: Screening, tmp_path: Path) -> None:
    path = pool_file(tmp_path / "plain.csv", 3)
    other = path.rename(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")))
    assert screening.add_files("boats", [other])[0].source == "caf\ufffd.csv"
    assert source_of("caf\udce9.bib", "bib") == "bib:caf\ufffd"


def test_of_a_file_that_has_grown_only_what_is_new_is_added(screening: Screening, tmp_path: Path) -> None:
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 10)])
    [grown] = screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 12)])
    assert (grown.entries, grown.added, grown.repeats) == (2, 2, 0)
    assert screening.prisma("boats").identified == (("hits.csv", 12),)
    [renamed] = screening.add_files("boats", [pool_file(tmp_path / "other.csv", 12)])
    assert (renamed.added, renamed.repeats) == (12, 12)


def test_copies_with_other_labels_that_a_later_record_makes_one_are_named(screening: Screening, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    head = "title,abstract,doi,pmid,included"
    path.write_text(f"{head}\nSlow boats of the north,,10.1000/b,,1\nSlow boats,,,31415926,0\n", "utf-8")
    assert screening.add_files("boats", [path])[0].problems == ()
    both = tmp_path / "one.csv"
    both.write_text(f"{head}\nSlow boats of the north,,10.1000/b,31415926,\n", "utf-8")
    [problem] = screening.add_files("boats", [both])[0].problems
    assert "include in two.csv (record 1), exclude in two.csv (record 2)" in problem


# --- records by a name


@pytest.mark.parametrize(
    ("key", "numbers"),
    [
        ("2", [2]), ("10.1000/c", [3]), ("https://doi.org/10.1000/D", [4]), ("doi:10.1000/a", [1]),
        ("slow boats", [1, 2]), (NEAR[1], [2]), (NEAR[0].upper(), [1]), ("boats behavior", [2]),
        ("nothing of the kind", []), ("", []), ("10.1000/zz", []), ("99", []), ("31415926", []), ("١", [1]),
    ],
)  # fmt: skip
def test_a_record_is_named_by_number_identifier_or_title(alike: Screening, key: str, numbers: list[int]) -> None:
    assert [record.number for record in alike.named("boats", key)] == numbers


def test_a_number_may_be_that_of_pubmed(screening: Screening, tmp_path: Path) -> None:
    rows = ["Slow boats,,,31415926,,", "Fresh bread,,,1,,"]
    screening.add_files("boats", [table(tmp_path / "hits.csv", *rows)])
    assert [record.number for record in screening.named("boats", "31415926")] == [1]
    assert [record.number for record in screening.named("boats", "pmid:1")] == [2]
    assert [record.number for record in screening.named("boats", 1)] == [1, 2]


def test_of_repeats_the_first_is_meant(alike: Screening) -> None:
    alike.twin("boats", 4, 3)
    assert [record.number for record in alike.named("boats", "10.1000/d")] == [3]
    assert [record.number for record in alike.named("boats", "Bread from the oven")] == [3]


def test_records_are_found_by_identifier(alike: Screening) -> None:
    for query in ("10.1000/C", "https://doi.org/10.1000/c"):
        assert [found.record.number for found in alike.records("boats", query=query)] == [3]


# --- what was known before


def test_what_was_screened_was_not_known_before(alike: Screening) -> None:
    alike.prior("boats", [1], INCLUDE)
    alike.prior("boats", [1], EXCLUDE)
    alike.decide("boats", 1, INCLUDE)
    with pytest.raises(InputError, match="record 1 has been screened, so that it was not known beforehand"):
        alike.prior("boats", [1], EXCLUDE)
    alike.undo("boats")
    assert alike.prior("boats", [1], EXCLUDE)
    assert alike.record("boats", 1).label is EXCLUDE
