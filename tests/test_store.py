"""The store: what goes in comes out, ids, the change log, and a fixed number of queries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from broadsheet.model import (
    Area,
    Change,
    Identifier,
    JudgementKind,
    Link,
    LinkKind,
    Paper,
    Record,
    Scheme,
    SourceState,
    SourceStatus,
)
from broadsheet.store import PaperWrite, RecordWrite, Store, WriteBatch, encode_record, open_store, text_digest
from broadsheet.store.codec import (
    from_micros,
    hash64,
    pack,
    paper_from_json,
    paper_to_json,
    record_from_json,
    record_to_json,
    signed,
    to_micros,
    unpack,
    unsigned,
)
from tests.makers import NOW, day, identifier, record, write


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
names = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
dates = st.none() | st.dates()
shared = {
    "title": words,
    "abstract": words,
    "authors": st.lists(words, max_size=3).map(tuple),
    "identifiers": st.lists(st.builds(Identifier, st.sampled_from(Scheme), names), max_size=3).map(tuple),
    "areas": st.lists(st.builds(Area, words, words), max_size=2).map(tuple),
    "venue": words,
    "year": st.none() | st.integers(1000, 2999),
    "published": dates,
    "listed": dates,
    "links": st.lists(st.builds(Link, st.sampled_from(LinkKind), words), max_size=2).map(tuple),
    "keywords": st.lists(words, max_size=2).map(tuple),
    "status": words,
    "authors_truncated": st.booleans(),
    "summarised": st.booleans(),
}
records = st.builds(Record, source=names, key=names, raw=words, title_derived=st.booleans(), **shared)
papers = st.builds(
    Paper,
    id=st.just(-1),
    other_titles=st.lists(words, max_size=2).map(tuple),
    damaged=st.booleans(),
    origins=st.dictionaries(words, words, max_size=3),
    **shared,
)


@given(records)
def test_record_to_bytes_and_back(one: Record) -> None:
    data = record_to_json(one)
    assert record_from_json(unpack(pack(data))) == one
    assert record_to_json(one) == data


@given(papers)
def test_paper_to_json_and_back(one: Paper) -> None:
    assert paper_from_json(-1, paper_to_json(one)) == one


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(records, papers)
def test_record_and_paper_through_the_database(store: Store, one: Record, paper: Paper) -> None:
    known = store.known_records(one.source, [one.key]).get(one.key)
    written = store.write(
        WriteBatch(NOW, [RecordWrite(encode_record(one), -1, known and known.record_id)], [PaperWrite(paper)])
    )
    number = written.new_papers[-1]
    assert store.papers([number]) == {number: replace(paper, id=number)}
    stored = store.records_of([number])[number]
    assert [(s.record, s.paper_id, s.seen) for s in stored] == [(one, number, NOW)]


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_and_unsigned_hashes(value: int) -> None:
    assert signed(unsigned(value)) == value
    assert 0 <= unsigned(value) < 2**64


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_are_kept_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def test_times_of_other_zones_are_the_same_instant_and_naive_ones_are_refused() -> None:
    shanghai = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    assert from_micros(to_micros(shanghai)) == datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="time zone"):
        to_micros(datetime(2026, 1, 1))


def test_lone_surrogates_become_replacement_characters() -> None:
    one = record("bad \ud800 title", raw="\udfff", authors=("A \ud800",))
    back = record_from_json(record_to_json(one))
    assert (back.title, back.raw, back.authors) == ("bad \ufffd title", "\ufffd", ("A \ufffd",))


def test_digest_changes_with_any_field() -> None:
    one = record("Title", raw="x", key="k")
    assert encode_record(one).digest == encode_record(replace(one)).digest
    changed = [replace(one, raw="y"), replace(one, title="T"), replace(one, summarised=True), replace(one, year=1)]
    assert len({encode_record(r).digest for r in [one, *changed]}) == 5


def test_text_digest_is_of_title_and_abstract_alone(store: Store) -> None:
    paper = Paper(1, "Title", "Abstract")
    assert text_digest(paper) == text_digest(replace(paper, authors=("A",), id=2, venue="icml"))
    assert text_digest(paper) != text_digest(replace(paper, title="Title Abstract", abstract=""))
    written = write(store, record("Title", abstract="Abstract"), record("Other"))
    assert store.text_digests()[0] == (written.new_papers[-1], text_digest(paper))
    assert [i for i, _ in store.text_digests(after_id=1)] == [2]
    assert len(store.text_digests(limit=1)) == 1
    assert all(0 <= digest < 2**64 for _, digest in store.text_digests())


def test_new_papers_get_ids_in_order_and_are_in_the_change_log(store: Store) -> None:
    written = write(store, record("A"), record("B"))
    assert written.new_papers == {-1: 1, -2: 2}
    assert written.seq == store.last_seq() == 2
    assert store.changes_since(0, 10) == [Change(1, 1), Change(2, 2)]
    assert store.changes_since(1, 10) == [Change(2, 2)]
    assert store.changes_since(0, 1) == [Change(1, 1)]
    counts = store.counts()
    assert (counts.papers, counts.records, counts.changes) == (2, 2, 2)


def test_empty_store(store: Store) -> None:
    assert store.last_seq() == 0
    assert store.changes_since(0, 10) == []
    assert store.papers([1, 2]) == {}
    assert store.papers([]) == {}
    assert store.resolve(1) is None
    assert store.record(1) is None
    assert store.newest(10) == []
    assert list(store.iterate_papers()) == []
    assert list(store.iterate_records()) == []
    assert store.import_progress("abc") == 0
    assert store.problems() == []
    assert store.write(WriteBatch(NOW)).seq == 0


def test_rewriting_a_paper_replaces_what_it_is_found_by(store: Store) -> None:
    write(store, record("Old name", "arXiv:2401.00001"))
    store.write(
        WriteBatch(
            NOW, papers=[PaperWrite(Paper(1, "New name", identifiers=(identifier("10.1000/x"),)), ["title:new"])]
        )
    )
    assert store.papers([1])[1].title == "New name"
    assert store.papers_with_identifiers([identifier("10.1000/x"), identifier("2401.00001")]) == {
        identifier("10.1000/x"): 1
    }
    assert store.papers_with_keys(["title:new", "title:Old name"]) == {"title:new": [1]}
    assert store.changes_since(1, 10) == [Change(2, 1)]


def test_known_records_are_told_apart_by_source(store: Store) -> None:
    write(store, record("A", source="one", key="k"), record("B", source="two", key="k"))
    known = store.known_records("two", ["k", "other"])
    assert known.keys() == {"k"}
    assert (known["k"].paper_id, known["k"].record_id) == (2, 2)
    found = store.records_with_keys([("one", "k"), ("two", "other")])
    assert {key: s.record.title for key, s in found.items()} == {("one", "k"): "A"}
    stored = store.record(2)
    assert stored is not None
    assert stored.record.title == "B"


def test_updating_a_record_keeps_its_id(store: Store) -> None:
    write(store, record("A", key="k"))
    changed = encode_record(record("B", key="k"))
    later = NOW + timedelta(days=1)
    store.write(WriteBatch(later, [RecordWrite(changed, 1, 1)], [PaperWrite(Paper(1, "B"))]))
    [stored] = store.records_of([1])[1]
    assert (stored.id, stored.record.title, stored.seen) == (1, "B", later)
    assert store.known_records("test", ["k"])["k"].digest == changed.digest
    assert store.counts().records == 1


def test_merged_ids_lead_to_the_survivor_and_are_never_given_again(store: Store) -> None:
    write(store, record("A", "2401.00001"), record("B", "2401.00002"), record("C", "2401.00003"))
    store.write(WriteBatch(NOW, papers=[PaperWrite(Paper(2, "BC"))], merged=[(3, 2)]))
    assert store.papers([3])[3].id == 2
    assert store.resolve(3) == 2
    assert [s.record.title for s in store.records_of([2])[2]] == ["B", "C"]
    assert store.papers_with_identifiers([identifier("2401.00003")]) == {}
    store.write(WriteBatch(NOW, papers=[PaperWrite(Paper(1, "ABC"))], merged=[(2, 1)]))
    assert store.papers([1, 2, 3]) == {i: store.papers([1])[1] for i in (1, 2, 3)}
    assert (store.resolve(3), store.resolve(2), store.resolve(1)) == (1, 1, 1)
    assert [c.paper_id for c in store.changes_since(3, 99)] == [2, 3, 1, 2]
    assert write(store, record("D")).new_papers == {-1: 4}


@pytest.mark.parametrize("merged", [[(2, 1), (2, 3)], [(3, 2), (2, 1)], [(2, -1)], [(-1, 2)]])
def test_merges_that_make_no_sense_are_refused(store: Store, merged: list[tuple[int, int]]) -> None:
    write(store, record("A"), record("B"), record("C"))
    with pytest.raises(ValueError, match="merges once"):
        store.write(WriteBatch(NOW, papers=[PaperWrite(Paper(-1, "X"))], merged=merged))
    assert store.counts().papers == 3


def test_a_failing_batch_leaves_nothing(store: Store) -> None:
    write(store, record("A"))
    with pytest.raises(KeyError):
        store.write(WriteBatch(NOW, [RecordWrite(encode_record(record("B")), -7)], [PaperWrite(Paper(-1, "B"))]))
    assert (store.counts().papers, store.counts().records, store.last_seq()) == (1, 1, 1)
    assert write(store, record("C")).new_papers == {-1: 2}


def test_relations_go_both_ways_and_follow_merges(store: Store) -> None:
    write(store, *(record(t) for t in "ABCD"))
    store.write(WriteBatch(NOW, links=[(1, 2), (3, 2), (4, 4)]))
    assert {i: p.related for i, p in store.papers([1, 2, 3, 4]).items()} == {1: (2,), 2: (1, 3), 3: (2,), 4: ()}
    assert [c.paper_id for c in store.changes_since(4, 99)] == [1, 2, 3]
    assert store.write(WriteBatch(NOW, links=[(2, 1)])).seq == 7  # known already: no change
    store.write(WriteBatch(NOW, papers=[PaperWrite(Paper(1, "AC"))], merged=[(3, 1)]))
    assert {i: p.related for i, p in store.papers([1, 2]).items()} == {1: (2,), 2: (1,)}
    store.write(WriteBatch(NOW, papers=[PaperWrite(Paper(1, "ABC"))], merged=[(2, 1)]))
    assert store.papers([1])[1].related == ()
    assert [p.related for p in store.iterate_papers()] == [(), ()]


def test_several_papers_may_claim_an_identifier_and_the_oldest_answers(store: Store) -> None:
    write(store, record("A", "10.1000/issue"), record("B", "10.1000/issue"))
    doi = identifier("10.1000/issue")
    assert store.claimants([doi]) == {doi: [1, 2]}
    assert store.papers_with_identifiers([doi]) == {doi: 1}


def test_identifiers_are_told_apart_by_scheme(store: Store) -> None:
    write(store, record("A", "pmid:12345"), record("B", "openreview:12345"))
    assert store.papers_with_identifiers([Identifier(Scheme.OPENREVIEW, "12345")]) == {
        Identifier(Scheme.OPENREVIEW, "12345"): 2
    }


def test_newest_first_undated_last_in_pages(store: Store) -> None:
    days = ["2024-05-01", None, "2025-01-01", "2024-05-01", None, "2023-01-01"]
    write(store, *(record(f"P{i}", listed=day(d) if d else None) for i, d in enumerate(days)))
    order = [3, 4, 1, 6, 5, 2]
    assert [p.id for p in store.newest(99)] == order
    assert store.newest_ids() == order
    seen: list[int] = []
    before: tuple[date | None, int] | None = None
    while page := store.newest(2, before):
        seen += [p.id for p in page]
        before = page[-1].day, page[-1].id
    assert seen == order
    assert store.days(2) == [(day("2025-01-01"), 1), (day("2024-05-01"), 2)]


def test_iterating_in_small_batches_sees_everything_once(store: Store) -> None:
    write(store, *(record(f"P{i}") for i in range(7)))
    assert [p.id for p in store.iterate_papers(batch=3)] == list(range(1, 8))
    assert [r.id for r in store.iterate_records(batch=3)] == list(range(1, 8))


def test_a_judgement_replaces_the_earlier_one_about_the_same_two(store: Store) -> None:
    a, b, c = ("s", "a"), ("s", "b"), ("t", "a")
    store.add_judgement(JudgementKind.SPLIT, a, b, now=NOW, why="two papers")
    store.add_judgement(JudgementKind.SPLIT, a, c, now=NOW)
    store.add_judgement(JudgementKind.MERGE, b, a, now=NOW, why="one after all")
    assert [(j.kind, j.a, j.b, j.why) for j in store.judgements()] == [
        (JudgementKind.SPLIT, a, c, ""),
        (JudgementKind.MERGE, b, a, "one after all"),
    ]
    assert store.judgements()[0].made == NOW


def test_import_progress(store: Store) -> None:
    store.write(WriteBatch(NOW, progress=("digest", 500)))
    store.write(WriteBatch(NOW, progress=("digest", 700)))
    assert store.import_progress("digest") == 700
    assert store.import_progress("other") == 0


def test_numpy_integers_are_integers(store: Store) -> None:
    """F28: NumPy's int64 bound as bytes corrupted ids."""
    write(store, record("A"), record("B"), record("C"))
    one, two, three = np.array([1, 2, 3], dtype=np.int64)
    store.write(
        WriteBatch(
            NOW,
            records=[RecordWrite(encode_record(record("A2", key="new")), one, two)],
            papers=[PaperWrite(Paper(one, "A2"))],
            moved=[(three, one)],
            links=[(one, two)],
        )
    )
    assert store.papers(np.array([1, 2]))[1].title == "A2"
    assert store.resolve(one) == 1
    assert sorted(s.id for s in store.records_of([one])[1]) == [1, 2, 3]
    stored = store.record(two)
    assert stored is not None
    assert stored.record.title == "A2"
    assert [p.id for p in store.newest(9, (None, three))] == [2, 1]


def test_what_is_stored_is_there_after_opening_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'some folder' / 'a?b#c%20.db'}"
    with open_store(url) as first:
        write(first, record("A", abstract="x" * 5000))
    with open_store(url) as second:
        assert second.papers([1])[1].title == "A"
    with open_store(url, read_only=True) as third:
        assert third.records_of([1])[1][0].record.abstract == "x" * 5000


def test_reading_in_threads_while_another_writes(store: Store) -> None:
    write(store, record("A"))
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(30):
                papers = list(store.iterate_papers())
                assert len(papers) == len(store.text_digests(limit=len(papers)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(20):
        write(store, record(f"B{i}"))
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.counts().papers == 21


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        if not statement.startswith("BEGIN"):
            statements.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(store.engine, "before_cursor_execute", note)


READS = {
    "known_records": (lambda s, n: s.known_records("test", [f"k{i}" for i in range(n)]), 1),
    "records_of": (lambda s, n: s.records_of(range(1, n + 1)), 1),
    "records_with_keys": (lambda s, n: s.records_with_keys([("test", f"k{i}") for i in range(n)]), 1),
    "papers": (lambda s, n: s.papers(range(1, n + 1)), 2),
    "claimants": (lambda s, n: s.claimants([identifier(f"10.1000/{i}") for i in range(n)]), 1),
    "papers_with_keys": (lambda s, n: s.papers_with_keys([f"title:P{i}" for i in range(n)]), 1),
    "newest": (lambda s, n: s.newest(n), 2),
    "changes_since": (lambda s, n: s.changes_since(0, n), 1),
}


@pytest.mark.parametrize("name", READS)
def test_number_of_queries_does_not_depend_on_the_batch(store: Store, name: str) -> None:
    write(store, *(record(f"P{i}", f"10.1000/{i}", key=f"k{i}") for i in range(1500)))
    ask, expected = READS[name]
    for n in (3, 1500):
        with counted(store) as statements:
            found = ask(store, n)
        assert len(statements) == expected
        assert len(found) == n


def test_number_of_statements_of_a_write_does_not_depend_on_the_batch(store: Store) -> None:
    sizes = []
    for n in (3, 800):
        with counted(store) as statements:
            write(store, *(record(f"P{n} {i}", f"10.1000/{n}.{i}") for i in range(n)))
        sizes.append(len(statements))
    assert sizes[0] == sizes[1] <= 10


def test_hash64_takes_any_text() -> None:
    assert -(2**63) <= hash64("\ud800 等") < 2**63
    assert hash64("a") != hash64("b")


# --- sources and services


def test_how_a_source_stands_is_kept_and_replaced(store: Store) -> None:
    assert store.source_states() == {}
    first = SourceStatus("arxiv:cs.LG", SourceState.QUIET, "No announcement: weekend.", asked=NOW, newest="2611.00001")
    store.set_source_state("arxiv:cs.LG", '{"announced": "2026-11-27"}', first)
    store.set_source_state("huggingface", "", SourceStatus("huggingface"))
    assert store.source_states() == {
        "arxiv:cs.LG": ('{"announced": "2026-11-27"}', first),
        "huggingface": ("", SourceStatus("huggingface")),
    }
    later = replace(first, state=SourceState.FAILED, fetched=NOW, due=NOW, day=date(2026, 11, 27), records=7, wait=2.5)
    store.set_source_state("arxiv:cs.LG", "x", later)
    assert store.source_states()["arxiv:cs.LG"] == ("x", later)


def test_when_a_service_was_asked_is_kept_by_identifier(store: Store) -> None:
    bees, ants = identifier("10.1000/bees"), identifier("2611.00001")
    store.add_lookups("crossref", [bees, ants, bees], NOW)
    assert store.lookups("crossref", [bees, ants]) == {bees: NOW, ants: NOW}
    assert store.lookups("crossref", [identifier("10.1000/wasps")]) == {}
    assert store.lookups("openalex", [bees]) == {}
    later = NOW + timedelta(days=1)
    store.add_lookups("crossref", [bees], later)
    assert store.lookups("crossref", [bees, ants]) == {bees: later, ants: NOW}
    store.add_lookups("crossref", [], later)
