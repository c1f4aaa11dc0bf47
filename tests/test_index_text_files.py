"""The text index: filters and counts, any sequence of writes, and what it says when it cannot."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import BroadsheetError, BusyError, IndexDamagedError
from broadsheet.index import (
    SUBAREA_SEPARATOR,
    All,
    Either,
    Everything,
    Exclude,
    Facet,
    HasCode,
    IdIs,
    Match,
    TextQuery,
    YearIs,
    open_text_index,
)
from broadsheet.index.tantivy_text import FORMAT_FILE, TantivyIndex
from broadsheet.model import Area
from tests.index_makers import BODY, found, index_of, paper

# --- Filters and counts


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    theory, vision = Area("Theory", "Learning Theory"), Area("Vision")
    names = ("arxiv:2401.12345",)
    return index_of(tmp_path_factory.mktemp("shelf"), [
        paper(1, "a graph", areas=(theory, vision), venue="ICML", year=2023, has_code=True, identifiers=names),
        paper(2, "a graph", areas=(theory, Area("Theory", "Games")), venue="NeurIPS", year=2024),
        paper(3, "a tree", areas=(vision, Area("cs.LG")), venue="ICML", year=2024, identifiers=("doi:10.1/AB<c>",)),
        paper(4, "a tree"),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (Everything(), {1, 2, 3, 4}),
        (All(()), {1, 2, 3, 4}),
        (Either(()), set()),
        (Facet("area", "theory"), {1, 2}),
        (Facet("subarea", f"Theory{SUBAREA_SEPARATOR}Games"), {2}),
        (Facet("category", "CS.lg"), {3}),
        (Facet("category", "learning theory"), {1, 2}),
        (Facet("venue", "icml"), {1, 3}),
        (Facet("venue", ""), set()),
        (Facet("identifier", "arxiv:2401.12345"), {1}),
        (Facet("identifier", "doi:10.1/ab<c>"), {3}),
        (Facet("code", "no"), {2, 3, 4}),
        (HasCode(), {1}),
        (YearIs(2024, 2024), {2, 3}),
        (YearIs(None, 2023), {1}),
        (YearIs(), {1, 2, 3}),
        (YearIs(2025, 2020), set()),
        (IdIs((3, 1, 77)), {1, 3}),
        (IdIs(()), set()),
        (Exclude(Facet("venue", "icml")), {2, 4}),
        (Exclude(Exclude(HasCode())), {1}),
        (Either((Exclude(YearIs()), HasCode())), {1, 4}),
        (All((Exclude(HasCode()), Exclude(YearIs(2024)))), {4}),
        (All((Match("graph", BODY), Exclude(HasCode()))), {2}),
        (Exclude(Everything()), set()),
    ],
)
def test_filters(shelf: TantivyIndex, query: TextQuery, ids: set[int]) -> None:
    assert found(shelf, query) == ids
    assert list(shelf.ids(query)) == sorted(ids)
    assert list(shelf.ids(query, 1)) == sorted(ids)[:1]
    assert list(shelf.ids(query, 0)) == []


def test_facets_count_each_paper_once_a_value_and_never_the_marker(shelf: TantivyIndex) -> None:
    assert shelf.facets(Everything()) == {
        "area": {"Theory": 2, "Vision": 2, "cs.LG": 1},
        "subarea": {f"Theory{SUBAREA_SEPARATOR}Learning Theory": 2, f"Theory{SUBAREA_SEPARATOR}Games": 1},
        "venue": {"ICML": 2, "NeurIPS": 1},
        "year": {"2024": 2, "2023": 1},
        "code": {"no": 3, "yes": 1},
    }
    assert shelf.facets(Match("graph", BODY), extra_ids=[2, 3])["venue"] == {"ICML": 2, "NeurIPS": 1}
    assert shelf.facets(Match("nothing", BODY))["year"] == {}
    assert shelf.count() == 4


def test_unknown_fields_are_named(shelf: TantivyIndex) -> None:
    with pytest.raises(BroadsheetError, match="unknown text field 'titel'; use one of title"):
        shelf.search(Match("x", {"titel": 1.0}), limit=1)
    with pytest.raises(BroadsheetError, match="unknown facet 'year'; use one of area"):
        shelf.ids(Facet("year", "2024"))


# --- A model: any sequence of writes leaves what a dictionary would hold


WRITES = st.lists(
    st.tuples(
        st.dictionaries(st.integers(1, 8), st.sampled_from(["red", "blue", "green"]), max_size=4),
        st.sets(st.integers(1, 8), max_size=3),
        st.booleans(),
    ),
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@given(writes=WRITES)
def test_any_writes_leave_what_a_dictionary_would_hold(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[Mapping[int, str], set[int], bool]]
) -> None:
    folder, model = tmp_path_factory.mktemp("model"), {}
    index = open_text_index(folder, heap_bytes=15_000_000)
    for seq, (upserts, deletes, again) in enumerate(writes, 1):
        index.apply([paper(i, colour) for i, colour in upserts.items()], sorted(deletes), seq=seq)
        model = {i: colour for i, colour in model.items() if i not in deletes} | dict(upserts)
        if again:
            index.close()
            index = open_text_index(folder, heap_bytes=15_000_000)
        assert index.applied_seq() == seq
    assert index.count() == len(model)
    for colour in ("red", "blue", "green"):
        assert list(index.ids(Match(colour, BODY))) == sorted(i for i, c in model.items() if c == colour)
    index.close()


def test_the_last_of_equal_ids_in_a_batch_wins(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red"), paper(1, "blue")])
    assert index.count() == 1 and found(index, Match("blue", BODY)) == {1}


# --- Commits, processes, damage


def test_nothing_is_seen_before_the_commit(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red")])
    index.add([paper(2, "red")], [1])
    assert found(index, Match("red", BODY)) == {1}
    index.commit(5)
    assert found(index, Match("red", BODY)) == {2} and index.applied_seq() == 5


def test_clear_is_seen_with_the_commit_only(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red"), paper(2, "red")])
    index.clear()
    index.add([paper(3, "red")])
    assert found(index, Match("red", BODY)) == {1, 2}
    index.commit(9)
    assert found(index, Everything()) == {3} and index.applied_seq() == 9


def test_closing_drops_what_was_not_committed(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red")])
    index.add([paper(2, "red")])
    index.close()
    index.close()
    index.apply([paper(3, "red")], [], seq=2)
    assert found(index, Match("red", BODY)) == {1, 3}


def test_a_reader_sees_another_ones_commits(tmp_path: Path) -> None:
    writer = index_of(tmp_path, [paper(1, "red")])
    reader = open_text_index(tmp_path)
    assert list(reader.ids(Match("red", BODY))) == [1]
    writer.apply([paper(2, "red")], [], seq=2)
    assert list(reader.ids(Match("red", BODY))) == [1, 2] and reader.applied_seq() == 2
    writer.optimise()
    assert found(reader, Everything()) == {1, 2}


def test_a_second_writer_is_told_and_the_lock_is_given_up(tmp_path: Path) -> None:
    first, second = open_text_index(tmp_path), open_text_index(tmp_path)
    first.apply([paper(1, "red")], [], seq=1)
    with pytest.raises(BusyError, match="another process is writing"):
        second.apply([paper(2, "red")], [], seq=2)
    first.close()
    second.apply([paper(2, "red")], [], seq=2)
    assert first.count() == 2


def test_a_new_or_missing_folder_is_empty(tmp_path: Path) -> None:
    index = open_text_index(tmp_path / "a" / "b")
    assert (index.applied_seq(), index.count()) == (0, 0)
    assert index.search(Everything(), limit=5).ids == () and index.facets(Everything())["area"] == {}
    assert len(index.ids(Everything())) == 0


def test_many_threads_search_while_one_writes(tmp_path: Path) -> None:
    index, failures = index_of(tmp_path, [paper(1, "red")]), []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                hits = index.search(Match("red", BODY), limit=100)
                assert list(hits.ids) == list(range(1, len(hits.ids) + 1)) and len(index.ids(Everything())) >= len(
                    hits.ids
                )
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(2, 12):
        index.apply([paper(i, "red")], [], seq=i)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures and index.count() == 11


def _foreign(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def _other_tantivy(folder: Path) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("x")
    tantivy.Index(builder.build(), path=str(folder))


def _older_format(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    (folder / FORMAT_FILE).write_text("0\n")


def _other_schema(folder: Path) -> None:
    (folder / FORMAT_FILE).write_text("1\n")
    _other_tantivy(folder)


def _bad_meta(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    (folder / "meta.json").write_text('{"segments": [')


def _segment_gone(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    for path in folder.glob("*.fast"):
        path.unlink()


def _segment_cut(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    for path in folder.glob("*.idx"):
        path.write_bytes(path.read_bytes()[:-30])


def _file(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("a file")


@pytest.mark.parametrize(
    "damage",
    [_foreign, _other_tantivy, _older_format, _other_schema, _bad_meta, _segment_gone, _segment_cut, _file],
)
def test_what_cannot_be_opened_is_said_with_the_remedy(tmp_path: Path, damage: Any) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    damage(folder)
    with pytest.raises(IndexDamagedError, match=r"index.*doctor --rebuild-index"):
        open_text_index(folder)


def test_a_creation_that_was_cut_off_is_taken_up(tmp_path: Path) -> None:
    (tmp_path / FORMAT_FILE).write_text("1\n")
    assert index_of(tmp_path, [paper(1, "red")]).count() == 1


@pytest.mark.parametrize("name", [".tantivy-meta.lock", ".tantivy-writer.lock"])
def test_a_lock_file_alone_is_an_empty_folder(tmp_path: Path, name: str) -> None:
    """A thread of an index that was open makes one in the folder that is being removed."""
    (tmp_path / name).touch()
    assert index_of(tmp_path, [paper(1, "red")]).count() == 1


def test_an_index_that_is_removed_while_a_thread_of_it_wakes_is_made_again(tmp_path: Path) -> None:
    folder, over = tmp_path / "index", threading.Event()
    index_of(folder, [paper(1, "red")]).close()

    def wake() -> None:
        while not over.is_set():
            with suppress(OSError):
                (folder / ".tantivy-meta.lock").touch()

    thread = threading.Thread(target=wake)
    thread.start()
    try:
        for _ in range(200):
            shutil.rmtree(folder, ignore_errors=True)
            assert open_text_index(folder).count() == 0
    finally:
        over.set()
        thread.join()


def test_many_may_make_the_same_index_at_once(tmp_path: Path) -> None:
    for turn in range(20):
        with ThreadPoolExecutor(4) as pool:
            made = [pool.submit(open_text_index, tmp_path / str(turn) / "index") for _ in range(4)]
            assert [index.result().count() for index in made] == [0] * 4
        assert not list((tmp_path / str(turn) / "index").glob(f".{FORMAT_FILE}*"))


@pytest.mark.parametrize("suffix", ["idx", "term", "pos", "fast", "fieldnorm", "store"])
def test_verify_finds_a_changed_byte(tmp_path: Path, suffix: str) -> None:
    index = index_of(tmp_path, [paper(i, f"word{i} red", "some text", year=2000 + i) for i in range(9)])
    index.close()
    index.verify()
    path = next(tmp_path.glob(f"*.{suffix}"))
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)
    with pytest.raises(IndexDamagedError, match=r"changed bytes.*doctor --rebuild-index"):
        index.verify()


def _with_a_deletion(folder: Path) -> TantivyIndex:
    index = index_of(folder, [paper(i, "red") for i in range(9)])
    index.apply([], [3], seq=99)
    index.close()
    assert list(folder.glob("*.del"))
    return index


def test_verify_finds_a_changed_byte_in_the_deletions(tmp_path: Path) -> None:
    index = _with_a_deletion(tmp_path)
    index.verify()
    for path in tmp_path.glob("*.del"):
        path.write_bytes(b"\1" + path.read_bytes()[1:])
    with pytest.raises(IndexDamagedError, match=r"changed bytes.*doctor --rebuild-index"):
        index.verify()


def test_deletions_that_a_killed_writer_left_without_a_commit_are_no_damage(tmp_path: Path) -> None:
    index = _with_a_deletion(tmp_path)
    for path in list(tmp_path.glob("*.del")):
        segment = path.name.partition(".")[0]
        (tmp_path / f"{segment}.123456.del").write_bytes(bytes(300))  # allotted, and never written
    index.verify()
    assert index.count() == 8


def test_a_folder_that_vanished_is_damage_not_a_crash(tmp_path: Path) -> None:
    index = index_of(tmp_path / "x", [paper(1, "red")])
    index.close()
    for path in (tmp_path / "x").iterdir():
        path.unlink()
    with pytest.raises(IndexDamagedError, match="doctor --rebuild-index"):
        index.count()
