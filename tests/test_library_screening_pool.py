"""The pools of reviews through the library: how they are filled, and how their records are found."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.library import Library
from broadsheet.library.screening import Screening
from broadsheet.model.screening import (
    ReviewEventKind,
    SourceKind,
)
from tests import library_reviews
from tests.libraries import papers_file
from tests.library_reviews import INCLUDE, LATER, SEEDED
from tests.screening_pools import pool_file, title

library, screening, boats = library_reviews.FIXTURES

# --- the pool


def test_a_file_fills_the_pool(boats: Screening) -> None:
    event = boats.history("boats")[-1]
    assert event.kind is ReviewEventKind.ADD
    assert json.loads(event.detail)["added"] == 20
    assert [found.record.number for found in boats.records("boats")] == list(range(1, 21))
    first = boats.record("boats", 1).record
    assert (first.title, first.year, first.source) == (title(1), 2001, "hits.csv")
    assert first.authors == ("B Chen", "Ada Byron")


def test_what_repeats_is_kept_beside_and_counts_once(boats: Screening, tmp_path: Path) -> None:
    [summary] = boats.add_files("boats", [pool_file(tmp_path / "more.csv", 5, start=18)])
    assert (summary.added, summary.repeats, summary.refused) == (5, 3, 0)
    assert [found.record.twin for found in boats.records("boats", after=20)] == [18, 19, 20, 0, 0]
    progress = boats.progress("boats")
    assert (progress.records, progress.repeats) == (22, 3)
    assert [found.record.number for found in boats.records("boats", label="repeat")] == [21, 22, 23]


def table(path: Path, *rows: str) -> Path:
    """A CSV with these rows below its head."""
    path.write_text("\n".join(["title,abstract,doi,pmid", *rows]) + "\n", "utf-8")
    return path


def test_a_record_that_is_like_two_joins_them(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", SEEDED)
    apart = table(tmp_path / "two.csv", "Slow boats of the north,Rowed,10.1000/boats,", "Slow boats,Rowed,,31415926")
    assert screening.add_files("boats", [apart])[0].repeats == 0
    screening.decide("boats", 2, INCLUDE)
    both = table(tmp_path / "one.csv", "Slow boats of the north,Rowed,10.1000/boats,31415926")
    assert screening.add_files("boats", [both])[0].repeats == 1
    assert screening.record("boats", 1).twins == (2, 3)
    assert screening.record("boats", 1).label is INCLUDE
    assert (screening.progress("boats").records, screening.progress("boats").found) == (1, 1)
    assert screening.history("boats")[-1].kind is ReviewEventKind.TWIN


def test_what_a_person_set_apart_stays_apart(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", SEEDED)
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 3)])
    screening.add_files("boats", [pool_file(tmp_path / "again.csv", 3)])
    screening.apart("boats", 5)
    assert screening.record("boats", 2).twins == ()
    screening.add_files("boats", [pool_file(tmp_path / "third.csv", 3)])
    assert screening.record("boats", 2).twins in ((), (8,))
    assert 2 not in screening.record("boats", 5).twins
    assert screening.record("boats", 1).twins == (4, 7)


def test_labels_of_a_file_are_prior_knowledge(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", SEEDED)
    path = pool_file(tmp_path / "old.csv", 10, labels={1: "1", 2: "0", 3: "perhaps not"})
    [summary] = screening.add_files("boats", [path])
    assert summary.labelled == 2
    assert len(summary.problems) == 1
    assert "old.csv" in summary.problems[0]
    assert [found.record.number for found in screening.records("boats", label="prior")] == [1, 2]
    assert screening.record("boats", 1).label is INCLUDE
    assert screening.progress("boats").read == 2


def test_an_upload_is_a_source_of_its_own(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats")
    with pool_file(tmp_path / "hits.csv", 3).open("rb") as file:
        summary = screening.add_stream("boats", file, "upload.csv", screener="ada")
    assert (summary.source, summary.added) == ("upload.csv", 3)
    assert screening.history("boats")[-1].screener == "ada"


def test_entries_without_title_and_abstract_are_refused_by_line(screening: Screening, tmp_path: Path) -> None:
    path = tmp_path / "hits.ris"
    path.write_text("TY  - JOUR\nTI  - Slow boats\nER  - \nTY  - JOUR\nPY  - 2001\nER  - \n")
    screening.create("boats")
    [summary] = screening.add_files("boats", [path])
    assert (summary.entries, summary.added, summary.refused) == (2, 1, 1)
    assert summary.problems[0].startswith("hits.ris:")


def test_a_file_that_is_no_file_is_named(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats")
    with pytest.raises(InputError, match=r"nothing\.ris"):
        screening.add_files("boats", [tmp_path / "nothing.ris"])
    assert len(screening.history("boats")) == 1


def test_papers_of_the_library_come_by_number_and_by_search(library: Library, tmp_path: Path) -> None:
    library.import_files([papers_file(tmp_path / "papers.jsonl", 30)])
    screening = library.screening
    screening.create("boats")
    assert screening.add_papers("boats", [3, 3, 4]).added == 2
    summary = screening.add_search("boats", "slow river boats", limit=10)
    assert (summary.source, summary.added) == ("search: slow river boats", 10)
    search = library.daily.save_search("slow river", "rivers")
    assert screening.add_saved_search("boats", search.id, limit=5).added == 5
    found = screening.record("boats", 1).record
    assert found.paper == 3
    assert found.title == library.paper(3).title
    assert screening.progress("boats").records < 17  # what came twice counts once


def test_a_search_that_is_cut_says_how_much_it_finds(library: Library, tmp_path: Path) -> None:
    library.import_files([papers_file(tmp_path / "papers.jsonl", 30)])
    library.screening.create("boats")
    cut = library.screening.add_search("boats", "slow river boats", limit=10)
    assert (cut.entries, cut.added, cut.refused) == (10, 10, 0)
    assert cut.problems == (
        "search: slow river boats: the best 10 of 30 papers found were taken; raise the limit for more",
    )
    whole = library.screening.add_search("boats", "slow river boats", limit=30)
    said = "search: slow river boats: 10 of 30 entries are in the review already, from this source"
    assert (whole.added, whole.problems) == (20, (said,))


def test_what_there_is_not_adds_nothing(library: Library, tmp_path: Path) -> None:
    library.import_files([papers_file(tmp_path / "papers.jsonl", 3)])
    library.screening.create("boats")
    for add in (
        lambda: library.screening.add_papers("boats", [1, 99]),
        lambda: library.screening.add_papers("boats", []),
        lambda: library.screening.add_saved_search("boats", 9),
    ):
        with pytest.raises(NotFoundError):
            add()
    assert library.screening.records("boats") == []


# --- looking


def test_records_are_narrowed_by_words_and_label(boats: Screening) -> None:
    boats.decide("boats", 6, INCLUDE)
    boats.decide("boats", 2, LATER)
    numbers = lambda **options: [found.record.number for found in boats.records("boats", **options)]  # noqa: E731
    assert numbers(query="BOATS row") == [1, 6, 11, 16]
    assert numbers(query="boats", after=6, limit=1) == [11]
    assert numbers(label="include") == [6]
    assert numbers(label="unread", query="boats") == [1, 11, 16]
    assert numbers(label="conflict") == []
    with pytest.raises(InputError, match="label"):
        numbers(label="good")


def test_a_record_that_there_is_not(boats: Screening) -> None:
    for ask in (
        lambda: boats.record("boats", 21),
        lambda: boats.look("boats", 0),
        lambda: boats.history("boats", 99),
        lambda: boats.decide("boats", 21, INCLUDE),
        lambda: boats.twin("boats", 1, 21),
    ):
        with pytest.raises((NotFoundError, InputError), match="no record"):
            ask()


def test_sources_are_named_when_they_are_added_and_later(boats: Screening, tmp_path: Path) -> None:
    (tmp_path / "savedrecs.csv").write_text("title\nRowing in the fog\nOars of ash\n", "utf-8")
    boats.add_files("boats", [tmp_path / "savedrecs.csv"], called="Web of Science")
    with (tmp_path / "savedrecs.csv").open("rb") as file:  # it was there already: now it is called so
        boats.add_stream("boats", file, "savedrecs.csv", called="WoS", kind=SourceKind.REGISTER)
    assert [(one.number, one.name, one.entries) for one in boats.sources("boats")] == [
        (1, "hits.csv", 20),
        (2, "WoS", 2),
    ]
    boats.name_source("boats", "WoS", "Web of Science", SourceKind.DATABASE)
    event = boats.name_source("boats", 1, "Scopus")
    assert (event.kind, json.loads(event.detail)) == (ReviewEventKind.SOURCE, {"additions": [1], "called": "Scopus"})
    counts = boats.prisma("boats")
    assert counts.identified == (("Scopus", 20), ("Web of Science", 2))
    assert {record.record.source for record in boats.records("boats")} == {"hits.csv", "savedrecs.csv"}
    with pytest.raises(NotFoundError, match=r"no source 'Embase'; it has: 1 \(Scopus\), 2 \(Web of Science\)"):
        boats.name_source("boats", "Embase", "x")
    with pytest.raises(InputError, match="printable"):
        boats.add_files("boats", [tmp_path / "savedrecs.csv"], called="a\x00b")
    whole = b"".join(boats.export("boats", "record"))
    assert boats.import_(io.BytesIO(whole), "again").name == "again"
    assert boats.prisma("again") == counts
    assert boats.replay(io.BytesIO(whole)).differences == ()
    with pytest.raises(InputError, match="from 1 to 2"):
        boats.import_(io.BytesIO(whole.replace(rb"\"additions\": [1]", rb"\"additions\": [9]")), "wrong")
