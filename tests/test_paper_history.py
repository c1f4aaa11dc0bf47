"""Versions, withdrawals, places and old titles of one paper, from the records that tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from broadsheet.ingest import derive
from broadsheet.model import Link, LinkKind, Notice, NoticeKind, Paper, Place, Record, Version
from broadsheet.store import Store, open_store
from tests.makers import day, identifier, put, record

AUTHORS = ("Ada Lovelace", "Alan Turing")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


def only(store: Store) -> Paper:
    papers = list(store.iterate_papers())
    assert len(papers) == 1
    return papers[0]


def arxiv(title: str, version: int, **fields: object) -> Record:
    versions = tuple(Version(n, day(f"2026-0{n}-01")) for n in range(1, version + 1))
    fields = {"abstract": f"Abstract of version {version}.", "raw": f"v{version}", "authors": AUTHORS, **fields}
    return record(title, "2601.00001", source="arxiv", key="2601.00001", versions=versions, **fields)


# --- versions


def test_the_newest_text_is_shown_and_all_versions_are_listed(store: Store) -> None:
    put(store, arxiv("How bees decide", 1, published=day("2026-01-01")))
    put(store, arxiv("How bees decide", 3, published=day("2026-01-01")))
    paper = only(store)
    assert paper.abstract == "Abstract of version 3."
    assert [version.number for version in paper.versions] == [1, 2, 3]
    assert paper.published == day("2026-01-01")


def test_an_old_version_that_is_read_late_changes_no_text(store: Store) -> None:
    put(store, arxiv("How bees decide at last", 3))
    put(store, arxiv("How bees decide", 1, abstract="A much longer abstract of the first version."))
    paper = only(store)
    assert (paper.title, paper.abstract) == ("How bees decide at last", "Abstract of version 3.")
    assert paper.other_titles == ("How bees decide",)
    assert [version.number for version in paper.versions] == [1, 2, 3]


def test_the_same_version_read_again_takes_the_new_text(store: Store) -> None:
    put(store, arxiv("How bees decide", 2, abstract="With a slip."))
    put(store, arxiv("How bees decide", 2, abstract="Corrected."))
    assert only(store).abstract == "Corrected."


def test_texts_of_an_older_version_from_another_source_stand_behind() -> None:
    new = arxiv("How bees decide at last", 3)
    old = record(
        "How bees decide", "2601.00001", source="jsonl:dump", abstract="A long abstract " * 20, authors=AUTHORS
    )
    venue = record("How bees decide, finally", source="acl", key="x", abstract="Of the venue. " * 30, authors=AUTHORS)
    for records in permutations((new, old)):
        paper = derive(1, records)
        assert (paper.title, paper.abstract) == ("How bees decide at last", "Abstract of version 3.")
        assert paper.other_titles == ("How bees decide",)
    assert derive(1, [new, old, venue]).abstract.startswith("Of the venue."), "a venue's text is of no arXiv version"


def test_days_of_versions_are_united_to_the_earliest_known() -> None:
    rough = record("Bees", "2601.00001", source="arxiv-announced", versions=(Version(1), Version(2, day("2026-02-09"))))
    exact = record("Bees", "2601.00001", source="arxiv", versions=(Version(2, day("2026-02-08")),))
    for records in permutations((rough, exact)):
        assert derive(1, records).versions == (Version(1), Version(2, day("2026-02-08")))


# --- titles that changed


def test_old_titles_of_the_same_entry_stay_with_the_paper(store: Store) -> None:
    for version, title in enumerate(("How bees decide", "How insects decide", "How swarms decide"), 1):
        put(store, arxiv(title, version))
    paper = only(store)
    assert paper.title == "How swarms decide"
    assert set(paper.other_titles) == {"How bees decide", "How insects decide"}


def test_a_title_that_comes_back_is_no_other_title(store: Store) -> None:
    for version, title in enumerate(("How bees decide", "How insects decide", "How Bees Decide"), 1):
        put(store, arxiv(title, version))
    assert only(store).other_titles == ("How insects decide",)


# --- withdrawn, retracted


def test_a_withdrawal_is_kept_with_its_reason_and_taken_back_by_a_new_version(store: Store) -> None:
    gone = Notice(NoticeKind.WITHDRAWN, "an error in the proof of theorem 2", day("2026-02-01"))
    put(store, arxiv("How bees decide", 1))
    summary = put(store, arxiv("How bees decide", 2, notices=(gone,)))
    assert summary.withdrawn == 1
    paper = only(store)
    assert paper.notices == (gone,)
    assert paper.is_withdrawn
    put(store, arxiv("How bees decide", 3))
    assert only(store).notices == ()


def test_an_old_version_does_not_take_a_withdrawal_back(store: Store) -> None:
    gone = Notice(NoticeKind.WITHDRAWN, "an error")
    put(store, arxiv("How bees decide", 2, notices=(gone,)))
    put(store, arxiv("How bees decide", 1))
    assert only(store).is_withdrawn


def test_a_concern_is_no_withdrawal_and_each_kind_stands_once() -> None:
    doi = "10.1000/bees"
    worried = record(
        "Bees", doi, source="crossref", notices=(Notice(NoticeKind.CONCERN, "figure 2", day("2026-03-01")),)
    )
    assert not derive(1, [worried]).is_withdrawn
    short = record("Bees", doi, source="openalex", notices=(Notice(NoticeKind.RETRACTED),))
    long = record("Bees", doi, source="pubmed", notices=(Notice(NoticeKind.RETRACTED, "fraud", day("2026-04-01")),))
    for records in permutations((worried, short, long)):
        assert derive(1, records).notices == (worried.notices[0], long.notices[0])


# --- places


def test_every_place_is_named_once_with_what_all_say_of_it() -> None:
    preprint = record(
        "Bees", "2601.00001", source="arxiv", published=day("2026-01-01"), links=(Link(LinkKind.PAGE, "https://arxiv.org/abs/2601.00001"),)
    )  # fmt: skip
    listed = record("Bees", "2601.00001", source="arxiv-announced", listed=day("2026-01-02"))
    daily = record("Bees", "2601.00001", source="huggingface", listed=day("2026-01-05"), counts=(("upvotes", 19),))
    forum = record("Bees", "openreview:AbCdEfGhIj", source="openreview", venue="ICML", year=2026, status="Poster")
    doi = record("Bees", "10.1000/bees", source="crossref", venue="icml", year=2026)
    for records in permutations((preprint, listed, daily, forum, doi)):
        paper = derive(1, records)
        places = {place.venue: place for place in paper.places}
        assert len(paper.places) == 3
        assert places["icml"] == Place(
            "openreview", "icml", 2026, "Poster", None, "https://openreview.net/forum?id=AbCdEfGhIj"
        )
        assert places["arxiv"].url == "https://arxiv.org/abs/2601.00001"
        assert places["arxiv"].listed == day("2026-01-02")
        assert places["Hugging Face Daily Papers"].listed == day("2026-01-05")
        assert (paper.listed, paper.published, paper.count("upvotes")) == (day("2026-01-02"), day("2026-01-01"), 19)


def test_two_years_of_a_venue_are_two_places() -> None:
    first = record("Bees", "10.1000/a", source="crossref", venue="ICML", year=2025)
    second = record("Bees", "10.1000/b", source="crossref", key="b", venue="ICML", year=2026)
    assert sorted((p.venue, p.year or 0) for p in derive(1, [first, second]).places) == [("icml", 2025), ("icml", 2026)]


# --- figures and further fields


def test_figures_follow_the_source_and_the_largest_of_several_counts(store: Store) -> None:
    put(store, record("Bees", "2601.00001", source="huggingface", key="1", counts=(("comments", 1), ("upvotes", 5))))
    put(store, record("Bees", "2601.00001", source="huggingface", key="1", counts=(("upvotes", 9),)))
    assert only(store).counts == (("comments", 1), ("upvotes", 9))
    many = record("Bees", "2601.00001", source="openalex", counts=(("citations", 40),))
    few = record("Bees", "2601.00001", source="semanticscholar", counts=(("citations", 33),))
    assert derive(1, [few, many]).count("citations") == 40
    assert derive(1, [few, many]).count("upvotes") is None


def test_details_and_kind_are_those_of_the_venue_and_others_fill_what_is_missing() -> None:
    preprint = record(
        "Bees", "2601.00001", source="arxiv", kind="online", details=(("comment", "9 pages"), ("pages", "1-9"))
    )
    journal = record(
        "Bees",
        "2601.00001",
        source="bibtex:x",
        kind="article",
        venue="Apidologie",
        details=(("volume", "7"), ("pages", "33--41")),
    )
    for records in permutations((preprint, journal)):
        paper = derive(1, records)
        assert paper.kind == "article"
        assert dict(paper.details) == {"volume": "7", "pages": "33--41", "comment": "9 pages"}


def test_the_day_a_reader_filed_a_paper_is_the_first(store: Store) -> None:
    early, late = datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
    put(store, record("Bees", "2601.00001", source="zotero:a", key="1", added=late, raw="x"))
    put(store, record("Bees", "2601.00001", source="zotero:a", key="1", added=early, raw="y"))
    assert only(store).added == early


def test_references_are_united() -> None:
    one, two = identifier("10.1000/one"), identifier("2401.00002")
    a = record("Bees", "2601.00001", source="openalex", references=(one,))
    b = record("Bees", "2601.00001", source="semanticscholar", references=(two, one))
    assert derive(1, [a, b]).references == (one, two)


# --- the database and back


def test_all_of_it_survives_the_database_and_an_export(store: Store) -> None:
    from broadsheet.sources.base import Limits
    from broadsheet.sources.exported import export_record, exported_record

    full = arxiv(
        "How bees decide",
        2,
        notices=(Notice(NoticeKind.WITHDRAWN, "an error", day("2026-02-01")), Notice(NoticeKind.CONCERN)),
        counts=(("citations", 3),),
        details=(("volume", "7"), ("note", "a b")),
        references=(identifier("10.1000/one"),),
        added=datetime(2024, 1, 1, 12, 30, tzinfo=UTC),
        former_titles=("How ants decide",),
        kind="article",
        published=day("2026-01-01"),
    )
    put(store, full)
    stored = store.records_of([1])[1][0].record
    assert stored == full
    assert only(store) == replace(derive(1, [full]), id=1)
    assert exported_record(export_record(full), Limits(10**6, 100)) == full


def test_a_new_record_of_a_known_paper_is_listed_among_the_merged(store: Store) -> None:
    put(store, record("How bees decide", "2601.00001", source="arxiv", key="a", authors=AUTHORS))
    summary = put(
        store,
        record("How bees decide", "2601.00001", source="bibtex:mine", key="bees", authors=AUTHORS),
        record("How ants decide", source="bibtex:mine", key="ants", authors=AUTHORS),
        record("How ants decide", source="bibtex:mine", key="ants2", authors=AUTHORS),
    )
    assert summary.merged == 2
    assert [(j.record, j.title, j.paper) for j in summary.joined] == [
        ("bibtex:mine:bees", "How bees decide", 1),
        ("bibtex:mine:ants2", "How ants decide", 2),
    ]


# --- damaged text


def test_a_damaged_title_or_name_is_no_key_and_yields_to_a_sound_one(store: Store) -> None:
    put(
        store,
        record("How b\ufffdes decide where to go", source="crossref", key="1", authors=("J\ufffdrg M\ufffdller",)),
    )
    put(
        store, record("How b\ufffdes decide where to go", source="jsonl:x", key="1", authors=("J\ufffdrg M\ufffdller",))
    )
    assert len(list(store.iterate_papers())) == 2


def test_a_damaged_name_does_not_keep_two_records_apart(store: Store) -> None:
    title = "How bees decide where to go in the morning and why they do"
    put(store, record(title, source="crossref", key="1", year=2024, authors=("J\ufffdrg M\ufffdller",)))
    put(store, record(title, source="jsonl:x", key="1", year=2024, authors=("Jörg Müller",)))
    paper = only(store)
    assert (paper.authors, paper.damaged) == (("Jörg Müller",), False)
