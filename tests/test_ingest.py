"""The import: counts, merging within and between batches, updates, a person's word, resuming, kill -9."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broadsheet.errors import NotFoundError
from broadsheet.ingest import derive, file_digest, import_items, merge_papers, split_record
from broadsheet.model import Area, ImportSummary, JudgementKind, Paper, Record, Refusal
from broadsheet.sources import Item, read_file
from broadsheet.store import Store, open_store
from tests.makers import NOW, day, identifier, item, put, record
from tests.shared import ROOT, shared
from tests.test_store import counted

TITLE = "Sparse Maps for Slow Rivers"
PEOPLE = ("Ana Lima", "Bo Chen", "Carl Dent")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


def paper(key: str, *ids: str, title: str = TITLE, **fields: object) -> Record:
    fields.setdefault("authors", PEOPLE)
    fields.setdefault("year", 2020)
    return record(title, *ids, key=key, **fields)


def counts(summary: ImportSummary) -> tuple[int, ...]:
    assert summary.read == summary.new + summary.updated + summary.unchanged + summary.refused
    assert summary.merged <= summary.new
    return summary.new, summary.updated, summary.unchanged, summary.merged, summary.refused


def groups(store: Store) -> set[frozenset[str]]:
    """Which records are together."""
    found: dict[int, set[str]] = {}
    for stored in store.iterate_records():
        found.setdefault(stored.paper_id, set()).add(stored.record.key)
    return {frozenset(keys) for keys in found.values()}


def consistent(store: Store) -> None:
    """Every paper is what its records make, and is found by what it has."""
    records = store.records_of([p.id for p in store.iterate_papers()])
    papers = {p.id: p for p in store.iterate_papers()}
    assert papers.keys() == records.keys()
    for number, stored in records.items():
        assert papers[number] == replace(derive(number, stored), related=papers[number].related)
        for name in papers[number].identifiers:
            assert number in store.claimants([name])[name]
        for other in papers[number].related:
            assert number in papers[other].related


def test_counts_of_a_first_and_a_second_import(store: Store) -> None:
    entries = [
        paper("a", "2401.00001"),
        Refusal("file", 2, "no title"),
        paper("b", title="Boats without Pilots at Night"),
    ]
    assert counts(put(store, *entries)) == (2, 0, 0, 0, 1)
    seq = store.last_seq()
    again = put(store, *entries)
    assert counts(again) == (0, 0, 2, 0, 1)
    assert again.refusals == (entries[1],)
    assert store.last_seq() == seq
    assert counts(put(store, replace(entries[0], venue="icml"))) == (0, 1, 0, 0, 0)
    assert store.papers([1])[1].venue == "icml"
    consistent(store)


def test_refusals_are_listed_up_to_a_hundred_and_all_counted(store: Store) -> None:
    summary = put(store, *(Refusal("file", i, "bad") for i in range(250)), batch_size=60)
    assert (summary.read, summary.refused, len(summary.refusals)) == (250, 250, 100)
    assert summary.refusals[99].line == 99


@pytest.mark.parametrize("batch_size", [1, 2, 1000])
def test_merging_within_and_between_batches_is_the_same(store: Store, batch_size: int) -> None:
    entries = [
        paper("a", "2401.00001", "10.1000/x"),
        paper("b", "2401.00001", title="Maps of Rivers", source="other"),
        paper("c"),
        paper("d", title="Boats without Pilots at Night"),
        paper("e", "10.1000/x", authors=()),
    ]
    assert counts(put(store, *entries, batch_size=batch_size)) == (5, 0, 0, 3, 0)
    assert groups(store) == {frozenset("abce"), frozenset("d")}
    assert store.papers_with_identifiers([identifier("2401.00001")]) == {identifier("2401.00001"): 1}
    consistent(store)


@pytest.mark.parametrize("batch_size", [1, 1000])
def test_a_record_that_joins_two_papers(store: Store, batch_size: int) -> None:
    entries = [
        paper("a", "2401.00001"),
        paper("x", title="Boats without Pilots at Night"),
        paper("b", "10.1000/x", authors=("Di Eng",), title="Completely Other Words Here"),
        paper("c", "2401.00001", "10.1000/x", title=""),
    ]
    summary = put(store, *entries, batch_size=batch_size)
    assert counts(summary) == (4, 0, 0, 1, 0)
    assert groups(store) == {frozenset("abc"), frozenset("x")}
    if batch_size == 1:
        assert store.resolve(3) == 1
        assert store.papers([3])[3].id == 1
    consistent(store)


@pytest.mark.parametrize("batch_size", [1, 1000])
def test_linked_papers_know_each_other(store: Store, batch_size: int) -> None:
    put(store, paper("a"), paper("b", title=f"{TITLE} (Extended Version)", year=2023), batch_size=batch_size)
    assert {p.id: p.related for p in store.iterate_papers()} == {1: (2,), 2: (1,)}
    assert {c.paper_id for c in store.changes_since(0, 99)} == {1, 2}
    consistent(store)


def test_same_key_twice_in_a_batch(store: Store) -> None:
    one = paper("a")
    assert counts(put(store, one, one, replace(one, venue="icml"))) == (1, 1, 1, 0, 0)
    assert store.papers([1])[1].venue == "icml"
    assert counts(put(store, replace(one, venue="icml"))) == (0, 0, 1, 0, 0)
    listed = paper("b", title="Boats without Pilots at Night", areas=(Area("Theory"),))
    put(store, listed, replace(listed, areas=(), raw="other"))
    assert store.papers([2])[2].areas == (Area("Theory"),)


def test_keys_that_no_database_takes(store: Store) -> None:
    """NUL ends a text in PostgreSQL, and a lone surrogate has no UTF-8."""
    entries = [
        paper("a\0b"),
        paper("c\ud800d", title="Boats without Pilots at Night"),
        paper("é b", title="A Theory of Mud"),
    ]
    assert counts(put(store, *entries)) == (3, 0, 0, 0, 0)
    assert {r.record.key for r in store.iterate_records()} == {"a\ufffdb", "c\ufffdd", "é b"}
    assert counts(put(store, *entries)) == (0, 0, 3, 0, 0)


def test_a_page_without_areas_takes_none_away(store: Store) -> None:
    with_area = paper("a", areas=(Area("Theory"),), listed=day("2024-01-02"))
    without = replace(with_area, areas=(), listed=day("2024-03-01"), raw="other page")
    put(store, with_area)
    assert counts(put(store, without)) == (0, 1, 0, 0, 0)
    found = store.papers([1])[1]
    assert (found.areas, found.listed) == ((Area("Theory"),), day("2024-01-02"))
    assert counts(put(store, without)) == (0, 0, 1, 0, 0)
    assert counts(put(store, replace(with_area, areas=(Area("Vision"),)))) == (0, 1, 0, 0, 0)
    assert store.papers([1])[1].areas == (Area("Vision"),)
    consistent(store)


def test_a_changed_record_that_now_names_another_paper_merges(store: Store) -> None:
    put(store, paper("a", "2401.00001"), paper("b", title="Boats without Pilots at Night"))
    changed = paper("b", "2401.00001", title="Boats without Pilots at Night", raw="new")
    assert counts(put(store, changed)) == (0, 1, 0, 0, 0)
    assert groups(store) == {frozenset("ab")}
    assert store.resolve(2) == 1
    assert store.papers([1])[1].other_titles
    consistent(store)


def test_a_changed_record_with_another_arxiv_id_leaves(store: Store) -> None:
    put(store, paper("a", "2401.00001"), paper("b"))
    assert groups(store) == {frozenset("ab")}
    put(store, paper("c", "2401.00002", title="Boats"), paper("b", "2401.00002", raw="new"))
    assert groups(store) == {frozenset("a"), frozenset("bc")}
    consistent(store)


def test_a_key_that_too_many_papers_share_is_no_sign(store: Store) -> None:
    same = "A Title that very many Reports of one Institute bear, all alike"
    people = [(f"Xa{i} Qu{i}th",) for i in range(80)]
    entries = [paper(str(i), title=same, authors=people[i]) for i in range(80)]
    assert counts(put(store, *entries)) == (80, 0, 0, 0, 0)
    with counted(store) as statements:
        put(store, paper("new", title=same, authors=("Some Body",)))
    assert len(statements) < 25
    assert store.counts().papers == 81


def test_number_of_queries_does_not_depend_on_the_batch(store: Store) -> None:
    numbers = []
    for size in (5, 300):
        entries = [
            paper(f"{size}-{i}", f"10.1000/{size}.{i}", title=f"Map number {size} {i} of the river")
            for i in range(size)
        ]
        with counted(store) as first:
            put(store, *entries)
        with counted(store) as second:
            put(store, *(replace(entry, source="again") for entry in entries))
        with counted(store) as third:
            put(store, *entries)
        numbers.append((len(first), len(second), len(third)))
        consistent(store)
    assert numbers[0] == numbers[1]
    assert numbers[0][2] == 1  # nothing new: one question


def test_wedlm_listed_twice_is_one_paper_with_area(store: Store) -> None:
    page = shared("seeds", "000_0f91b468ae07c93e.txt")
    items = list(read_file(page, max_entry_bytes=10**6, max_authors=1000))
    assert counts(import_items(store, items, now=lambda: NOW)) == (20, 0, 0, 1, 0)
    [twice] = [p for p in store.iterate_papers() if len(store.records_of([p.id])[p.id]) == 2]
    assert "WeDLM" in twice.abstract
    assert twice.areas == (Area("Deep Learning", "Large Language Models"),)
    assert len(twice.authors) == 10
    consistent(store)


def test_sample_and_listing_are_the_same_papers_where_authors_say_so(store: Store) -> None:
    page = shared("seeds", "000_0f91b468ae07c93e.txt")
    sample = ROOT / "src" / "broadsheet" / "data" / "sample.jsonl"
    for first, second in ((sample, page), (page, sample)):
        with open_store(f"sqlite:///{store.where}-{first.name}.db") as library:
            for path in (first, second):
                import_items(library, read_file(path, max_entry_bytes=10**6, max_authors=1000), now=lambda: NOW)
            assert library.counts().records == 159
            assert library.counts().papers == 139  # all 19 listed papers are in the sample
            merged = [p for p in library.iterate_papers() if "listing" in p.origins.get("abstract", "")]
            assert len(merged) == 19
            assert all(not p.summarised and "listing" not in p.origins["title"] for p in merged)


# A person's word


def test_merge_by_hand_outlives_imports(store: Store) -> None:
    a, b = paper("a", "2401.00001"), paper("b", "2401.00002", title="Boats without Pilots at Night")
    put(store, a, b)
    assert merge_papers(store, 2, 1, now=NOW, why="one work") == 1
    assert groups(store) == {frozenset("ab")}
    assert store.resolve(2) == 1
    assert [(j.kind, j.why) for j in store.judgements()] == [(JudgementKind.MERGE, "one work")]
    consistent(store)
    assert counts(put(store, a, b)) == (0, 0, 2, 0, 0)
    assert counts(put(store, replace(a, raw="new"), replace(b, raw="new"))) == (0, 2, 0, 0, 0)
    assert groups(store) == {frozenset("ab")}
    assert merge_papers(store, 1, 2, now=NOW) == 1
    consistent(store)


def test_split_by_hand_outlives_imports_and_can_be_taken_back(store: Store) -> None:
    a, b = paper("a", "2401.00001"), paper("b", "2401.00001")
    put(store, a, b)
    before = store.papers([1])[1]
    new = split_record(store, 2, now=NOW, why="two works")
    assert groups(store) == {frozenset("a"), frozenset("b")}
    assert store.papers([new])[new].id == new == 2
    consistent(store)
    assert counts(put(store, replace(a, raw="new"), replace(b, raw="new"))) == (0, 2, 0, 0, 0)
    assert groups(store) == {frozenset("a"), frozenset("b")}
    third = paper("c", "2401.00001")
    put(store, third)
    assert groups(store) == {frozenset("ac"), frozenset("b")}
    assert merge_papers(store, 1, new, now=NOW) == 1
    assert groups(store) == {frozenset("abc")}
    put(store, replace(b, raw="newer"))
    assert groups(store) == {frozenset("abc")}
    assert replace(store.papers([1])[1], origins={}, related=()) == replace(before, origins={})
    consistent(store)


def test_split_of_a_merge_gives_the_papers_back(store: Store) -> None:
    put(store, paper("a", "2401.00001"), paper("b", title="Boats without Pilots at Night"))
    first, second = (replace(store.papers([i])[i], id=0) for i in (1, 2))
    merge_papers(store, 1, 2, now=NOW)
    new = split_record(store, 2, now=NOW)
    assert new == 3  # ids are never given twice; the old one stays an alias of the paper that kept it
    assert [replace(store.papers([i])[i], id=0) for i in (1, new)] == [first, second]
    assert store.resolve(2) == 1


def test_splitting_what_is_alone_changes_nothing(store: Store) -> None:
    put(store, paper("a"))
    assert split_record(store, 1, now=NOW) == 1
    assert store.judgements() == []
    assert store.last_seq() == 1


def test_judging_what_is_not_there(store: Store) -> None:
    put(store, paper("a"))
    with pytest.raises(NotFoundError, match="no paper 7"):
        merge_papers(store, 1, 7, now=NOW)
    with pytest.raises(NotFoundError, match="no record 7"):
        split_record(store, 7, now=NOW)


# Whatever comes in, in whatever batches


simple = st.builds(
    lambda key, source, title, ids, authors, year, version: record(
        title, *ids, key=key, source=source, authors=authors, year=year, raw=str(version)
    ),
    st.sampled_from("abcd"),
    st.sampled_from(["one", "two"]),
    st.sampled_from([TITLE, f"{TITLE} (Extended Version)", "Boats without Pilots at Night", "Preface"]),
    st.lists(st.sampled_from(["2401.00001", "2401.00002", "10.1000/x", "10.1000/y"]), max_size=2),
    st.sampled_from([PEOPLE, PEOPLE[:2], ("Di Eng", "Ed Fox"), ()]),
    st.sampled_from([2019, 2020, 2024, None]),
    st.integers(0, 1),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.lists(simple, max_size=5), min_size=1, max_size=4), st.integers(1, 5))
def test_any_sequence_of_imports_leaves_a_consistent_store(
    tmp_path_factory: pytest.TempPathFactory, imports: list[list[Record]], batch_size: int
) -> None:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('any') / 'x.db'}") as library:
        for entries in imports:
            counts(put(library, *entries, batch_size=batch_size))
            consistent(library)
        assert {(r.record.source, r.record.key) for r in library.iterate_records()} == {
            (entry.source, entry.key) for entries in imports for entry in entries
        }
        arxiv = [{i.value for i in p.identifiers if i.scheme == "arxiv"} for p in library.iterate_papers()]
        both = {entry.key for entries in imports for entry in entries if len({*entry.identifiers}) == 2}
        assert both or all(len(ids) <= 1 for ids in arxiv)
        last = [entry for entries in imports for entry in entries][-1:]
        assert counts(put(library, *last))[2] == len(last)


# Stopping and going on


def test_interrupt_between_batches_keeps_what_is_done(store: Store) -> None:
    entries = [paper(str(i), title=f"Map number {i} of the long river") for i in range(10)]
    seen: list[ImportSummary] = []

    def interrupt(summary: ImportSummary, last: Item) -> None:
        seen.append(summary)
        if last.ordinal >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(store, *entries, batch_size=3, on_batch=interrupt, progress_of="file")
    assert [s.read for s in seen] == [3, 6]
    assert store.counts().records == 6
    assert store.import_progress("file") == 6
    assert counts(put(store, *entries)) == (4, 0, 6, 0, 0)
    consistent(store)


def test_an_import_that_has_begun_waits_for_whom_it_let_in(store: Store) -> None:
    entries = [paper(str(i), title=f"Map number {i} of the long river") for i in range(4)]
    store._lock.timeout = 0.01
    let_in, has_it = threading.Event(), threading.Event()

    def reader() -> None:
        let_in.wait(60)
        with store.writing(60):
            has_it.set()
            time.sleep(0.1)  # longer than the store waits for anybody

    def after(summary: ImportSummary, last: Item) -> None:
        let_in.set()
        assert has_it.wait(60)

    thread = threading.Thread(target=reader)
    thread.start()
    assert counts(put(store, *entries, batch_size=2, on_batch=after, progress_of="file")) == (4, 0, 0, 0, 0)
    thread.join()
    assert store.import_progress("file") == 0


def test_the_end_of_an_import_waits_for_whom_it_let_in(store: Store) -> None:
    store._lock.timeout = 0.01
    has_it = threading.Event()

    def reader() -> None:
        with store.writing(60):
            has_it.set()
            time.sleep(0.1)

    thread = threading.Thread(target=reader)

    def after(summary: ImportSummary, last: Item) -> None:
        thread.start()
        assert has_it.wait(60)

    put(store, paper("0"), on_batch=after, progress_of="file")
    thread.join()
    assert store.import_progress("file") == 0


def test_a_source_that_fails_keeps_what_is_done(store: Store) -> None:
    def source() -> Iterator[Item]:
        for i in range(5):
            yield item(paper(str(i), title=f"Map number {i} of the long river"), i)
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        import_items(store, source(), now=lambda: NOW, batch_size=2)
    assert store.counts().records == 4
    put(store, paper("after", title="The lock was given back"))


def test_progress_counts_refusals_too_and_ends_with_the_import(store: Store) -> None:
    done: list[int] = []
    entries = [paper("a"), Refusal("f", 2, "bad"), Refusal("f", 3, "bad")]
    put(store, *entries, batch_size=1, progress_of="x", on_batch=lambda *_: done.append(store.import_progress("x")))
    assert done == [1, 2, 3]
    assert store.import_progress("x") == 0


def test_file_digest_changes_with_content_size_and_time(tmp_path: Path) -> None:
    one, two = tmp_path / "a", tmp_path / "b"
    one.write_bytes(b"x" * 3_000_000)
    two.write_bytes(b"x" * 3_000_000)
    for path in (one, two):
        os.utime(path, (1, 1))
    assert file_digest(one) == file_digest(two)
    os.utime(two, (2, 2))
    assert file_digest(one) != file_digest(two)
    two.write_bytes(b"x" * 3_000_001)
    os.utime(two, (1, 1))
    assert file_digest(one) != file_digest(two)


IMPORTER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from broadsheet.ingest import file_digest, import_items
from broadsheet.sources import read_file
from broadsheet.store import open_store
path = Path(sys.argv[2])
digest = file_digest(path)

def slowly(items):
    for number, item in enumerate(items):
        if number and number % 400 == 0:
            sys.stdin.readline()
        yield item

with open_store(sys.argv[1]) as store:
    items = read_file(path, max_entry_bytes=10**6, max_authors=100, skip=store.import_progress(digest))
    print("ready", flush=True)
    import_items(store, slowly(items), now=lambda: datetime.now(UTC), batch_size=100, progress_of=digest)
"""
"""Reads 400 entries at most until its input is closed: it is killed before it has all, however late that comes."""
LINES = 5000


def test_killed_at_any_moment_it_goes_on_without_loss_or_doubling(tmp_path: Path) -> None:
    source, url = tmp_path / "papers.jsonl", f"sqlite:///{tmp_path / 'papers.db'}"
    lines = [
        {
            "id": f"k{i}",
            "title": f"Map number {i // 2} of the very long river",
            "authors": [f"Ana Lima{i // 2}"],
            "year": 2020,
            "abstract": f"River {i // 2}. " * 8,
        }
        for i in range(LINES)
    ]
    source.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    chance = random.Random(7)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    kills = 0
    for _ in range(11):
        command = [sys.executable, "-c", IMPORTER, url, str(source)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            if kills < 10:
                time.sleep(chance.uniform(0, 0.15))
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.communicate()
            if process.returncode == 0:
                break
    assert process.returncode == 0
    assert kills == 10
    with open_store(url) as store:
        assert store.problems() == []
        assert sorted(r.record.key for r in store.iterate_records()) == sorted(f"k{i}" for i in range(LINES))
        assert groups(store) == {frozenset((f"k{2 * i}", f"k{2 * i + 1}")) for i in range(LINES // 2)}
        assert store.import_progress(file_digest(source)) == 0  # nothing is left to resume
        papers: list[Paper] = list(store.iterate_papers())
        assert {p.id for p in papers} == {c.paper_id for c in store.changes_since(0, 10**6)}
        # One undisturbed import of the same file gives the same papers.
        with open_store(f"{url}.other.db") as undisturbed:
            import_items(undisturbed, read_file(source, max_entry_bytes=10**6, max_authors=100), now=lambda: NOW)
            assert list(undisturbed.iterate_papers()) == papers
