"""Flat vectors: exact where they can be, close where they are not, and true to what was written."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import BroadsheetError, BusyError, IndexDamagedError
from broadsheet.index import open_vectors
from broadsheet.index import vectors as module
from broadsheet.index.vectors import FlatVectors, folder_name

D = 16


def unit(values: np.ndarray) -> np.ndarray:
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def random_units(n: int, seed: int = 0, d: int = D) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(n, d))).astype(np.float32)


def cone(n: int, seed: int, d: int = 384, width: float = 0.45) -> np.ndarray:
    """Clusters within a narrow cone, as encoders trained by contrast at a low temperature give them."""
    rng = np.random.default_rng(seed)
    axis = unit(np.random.default_rng(99).normal(size=(1, d)))
    centres = np.random.default_rng(98).normal(size=(300, d))
    spread = centres[rng.integers(0, 300, n)] + rng.normal(size=(n, d)) * rng.uniform(0.2, 1.5, (n, 1))
    return unit(axis + unit(spread) * width).astype(np.float32)


def digests(n: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + n, dtype=np.uint64)


def filled(folder: Path, vectors: np.ndarray, **options: Any) -> FlatVectors:
    index = FlatVectors(folder, vectors.shape[1], "e", **options)
    index.add(np.arange(len(vectors)), digests(len(vectors)), vectors)
    return index


def exact(vectors: np.ndarray, query: np.ndarray, k: int, allowed: np.ndarray | None = None) -> list[int]:
    ids = np.arange(len(vectors)) if allowed is None else allowed
    return [int(i) for i in ids[np.argsort(-(vectors[ids] @ query), kind="stable")[:k]]]


def recall(index: FlatVectors, vectors: np.ndarray, queries: np.ndarray, allowed: np.ndarray | None = None) -> float:
    hits = [
        len(set(index.search(q, 10, allowed=allowed)[0].tolist()) & set(exact(vectors, q, 10, allowed)))
        for q in queries
    ]
    return sum(hits) / (10 * len(queries))


# What is kept


def test_what_was_added_is_given_back_in_one_byte_a_value(tmp_path: Path) -> None:
    vectors = random_units(50)
    index = filled(tmp_path, vectors * 7)  # any length goes in, unit length comes out
    got, found = index.get(np.array([3, 999, 0, 3]))
    assert found.tolist() == [True, False, True, True]
    assert not got[1].any() and np.array_equal(got[0], got[3])
    np.testing.assert_allclose(np.linalg.norm(got[found], axis=1), 1, atol=1e-6)
    half_step = np.abs(vectors[[3, 0]]).max(axis=1, keepdims=True) / 127 / 2
    assert (np.abs(got[[0, 2]] - vectors[[3, 0]]) <= half_step * 1.2).all()


def test_known_gives_ids_in_order_with_their_digests(tmp_path: Path) -> None:
    index = open_vectors(tmp_path, D, "e")
    assert [len(part) for part in index.known()] == [0, 0] and len(index) == 0
    index.add(np.array([5, 2, 2**40]), np.array([0, 2**64 - 1, 7], np.uint64), random_units(3))
    ids, found = index.known()
    assert ids.tolist() == [2, 5, 2**40] and found.tolist() == [2**64 - 1, 0, 7]


def test_a_newer_vector_replaces_and_the_last_of_a_batch_wins(tmp_path: Path) -> None:
    vectors = random_units(4)
    index = open_vectors(tmp_path, D, "e")
    index.add(np.array([1, 1]), digests(2), vectors[:2])
    index.add(np.array([2]), digests(1, 5), vectors[2:3])
    index.add(np.array([1]), digests(1, 9), vectors[3:])
    assert index.known()[1].tolist() == [9, 5] and len(index) == 2
    assert index.search(vectors[3], 1)[0].tolist() == [1]
    assert index.search(vectors[1], 5)[1].max() < 0.99


def test_removed_ids_are_gone_and_may_come_back(tmp_path: Path) -> None:
    vectors = random_units(3)
    index = filled(tmp_path, vectors)
    index.remove(np.array([1, 77]))
    assert index.known()[0].tolist() == [0, 2] and 1 not in index.search(vectors[1], 3)[0]
    assert index.get(np.array([1]))[1].tolist() == [False]
    index.remove(np.array([1]))
    index.add(np.array([1]), digests(1, 4), vectors[:1])
    assert open_vectors(tmp_path, D, "e").known()[1].tolist() == [0, 4, 2]


@pytest.mark.parametrize(
    ("ids", "vectors", "message"),
    [
        ([1], np.zeros((1, D + 1)), r"shape \(1, 17\) do not fit 16 dimensions"),
        ([1], np.zeros(D), r"shape \(16,\)"),
        ([1, 2], np.ones((1, D)), "2 ids, 2 digests and 1 vectors"),
        ([1], np.full((1, D), np.nan), "not finite"),
        ([1], np.full((1, D), np.inf), "not finite"),
        ([1, 2], np.eye(2, D)[[0, 1]] * [[1], [0]], "zero"),
    ],
)
def test_bad_vectors_are_refused_and_nothing_is_written(
    tmp_path: Path, ids: list[int], vectors: np.ndarray, message: str
) -> None:
    index = open_vectors(tmp_path, D, "e")
    with pytest.raises(BroadsheetError, match=message):
        index.add(np.array(ids), digests(len(ids)), vectors)
    assert len(index) == 0 and list(tmp_path.rglob("*.bin")) == []


def test_a_bad_query_or_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BroadsheetError, match="not finite"):
        filled(tmp_path, random_units(2)).search(np.full(D, np.nan, np.float32), 1)
    with pytest.raises(BroadsheetError, match="zero"):
        open_vectors(tmp_path, D, "e").search(np.zeros(D, np.float32), 1)
    with pytest.raises(BroadsheetError, match="multiple of 8"):
        open_vectors(tmp_path, 12, "e")


def test_adding_or_removing_nothing_writes_nothing(tmp_path: Path) -> None:
    index = open_vectors(tmp_path, D, "e")
    index.add(np.zeros(0, np.int64), digests(0), np.zeros((0, D), np.float32))
    index.remove(np.array([1]))
    index.remove(np.zeros(0, np.int64))
    assert list(tmp_path.rglob("manifest.json")) == []


# Search


def test_small_sets_are_searched_exactly(tmp_path: Path) -> None:
    vectors = np.eye(D, dtype=np.float32)
    ids, scores = filled(tmp_path, vectors).search(vectors[5] + 0.5 * vectors[9], 2)
    assert ids.tolist() == [5, 9] and scores == pytest.approx([1 / 1.25**0.5, 0.5 / 1.25**0.5], abs=1e-6)


def test_equal_scores_come_by_id(tmp_path: Path) -> None:
    index = open_vectors(tmp_path, D, "e")
    index.add(np.array([9, 3, 7, 1]), digests(4), np.repeat(random_units(1), 4, axis=0))
    assert index.search(random_units(1)[0], 3)[0].tolist() == [1, 3, 7]


@pytest.mark.parametrize("k", [0, 1, 5, 10**6])
def test_k_may_be_anything(tmp_path: Path, k: int) -> None:
    index = filled(tmp_path, random_units(3))
    ids, scores = index.search(random_units(1)[0], k)
    assert len(ids) == len(scores) == min(k, 3)
    assert len(open_vectors(tmp_path / "none", D, "e").search(random_units(1)[0], k)[0]) == 0


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[FlatVectors, np.ndarray]:
    vectors = cone(20_000, 1)
    return filled(tmp_path_factory.mktemp("big"), vectors), vectors


def test_recall_at_ten(big: tuple[FlatVectors, np.ndarray]) -> None:
    index, vectors = big
    assert recall(index, vectors, cone(100, 2)) >= 0.95


def test_narrow_cones_need_the_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, queries = cone(20_000, 1, width=0.15), cone(40, 2, width=0.15)
    assert recall(filled(tmp_path / "a", vectors, rescore=200), vectors, queries) >= 0.95
    monkeypatch.setattr(module, "_MEAN_FROM", 10**9)
    assert recall(filled(tmp_path / "b", vectors, rescore=200), vectors, queries) < 0.8


@pytest.mark.parametrize(
    "allowed", [[], [17], range(0, 20_000, 40), range(0, 20_000, 3), range(20_000), [-5, 10**9, 4, 4]]
)
def test_only_what_is_allowed_is_found(big: tuple[FlatVectors, np.ndarray], allowed: Any) -> None:
    index, vectors = big
    wanted = np.array(list(allowed), np.int64)
    inside = np.unique(wanted[(wanted >= 0) & (wanted < 20_000)])
    for query in cone(10, 3):
        ids, scores = index.search(query, 10, allowed=wanted)
        assert set(ids) <= set(inside) and len(ids) == min(10, len(inside))
        np.testing.assert_allclose(scores, vectors[ids] @ query, atol=4e-3)
        assert (np.diff(scores) <= 0).all()
    if len(inside) >= 10:
        assert recall(index, vectors, cone(40, 3), inside) >= 0.95


def test_few_allowed_are_compared_one_by_one(big: tuple[FlatVectors, np.ndarray]) -> None:
    index, _ = big
    allowed = np.arange(7, 20_000, 20)
    kept, _ = index.get(allowed)
    for query in cone(20, 4):
        scores = kept @ query
        ids, got = index.search(query, 10, allowed=allowed)
        np.testing.assert_allclose(got, np.sort(scores)[::-1][:10], atol=4e-3)
        assert scores[np.searchsorted(allowed, ids)].min() >= np.sort(scores)[-10] - 4e-3


@pytest.mark.parametrize("d", [8, 24, 40, 64, 768])
def test_other_dimensions(tmp_path: Path, d: int) -> None:
    vectors = random_units(3000, d=d)
    index = filled(tmp_path, vectors)
    for i in (0, 1234, 2999):
        ids, scores = index.search(vectors[i], 3)
        assert scores[0] > 0.99 and (i in ids or d == 8)


# Files


def test_the_mean_is_taken_at_a_thousand_and_again_at_four_times_as_many(tmp_path: Path) -> None:
    index = filled(tmp_path, cone(999, 1, 64))
    assert not index._state.mean.any()
    index.add(np.array([999]), digests(1), cone(1, 5, 64))
    np.testing.assert_allclose(index._state.mean, index.get(np.arange(1000))[0].mean(axis=0), atol=2e-3)
    first = index._state.mean
    index.add(np.arange(1000, 3999), digests(2999), random_units(2999, d=64))
    assert np.array_equal(index._state.mean, first)
    index.add(np.array([3999]), digests(1), random_units(1, d=64))
    assert not np.allclose(index._state.mean, first, atol=0.05)
    assert index._state.manifest.mean_of == 4000


def test_codes_agree_with_the_mean_after_any_rewrite(tmp_path: Path) -> None:
    index = filled(tmp_path, cone(1500, 1, 64))
    for ids in (np.arange(300), np.arange(300, 1400)):  # the second leaves fewer than a mean is made of
        index.remove(ids)
        index.compact()
        state = index._state
        again = np.packbits(index.get(state.ids)[0] - state.mean > 0, axis=1)
        assert np.unpackbits(again ^ state.codes).mean() < 0.02  # values that round to 0 may have any sign
    assert len(index) == 100 and index._state.mean.any()


def test_dead_rows_are_cleared_away_by_themselves(tmp_path: Path) -> None:
    vectors = random_units(1200)
    index = filled(tmp_path, vectors)
    for _ in range(3):
        index.add(np.arange(1200), digests(1200, 7), vectors)
    assert index._state.manifest.rows == 1200
    size = sum(path.stat().st_size for path in index.folder.glob("*.bin"))
    assert size == 1200 * (8 + 8 + 4 + D // 8 + D) and len(list(index.folder.glob("*.bin"))) == 5


def test_compact_changes_nothing_that_is_seen(tmp_path: Path) -> None:
    vectors = cone(3000, 1, 64)
    index = filled(tmp_path, vectors)
    index.remove(np.arange(0, 600, 2))
    before, kept = index.known(), index.get(np.arange(3000))
    index.compact()
    assert all(np.array_equal(a, b) for a, b in zip(before, index.known(), strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(kept, index.get(np.arange(3000)), strict=True))
    assert index._state.manifest.rows == 2700


def test_another_process_sees_what_is_written_and_compacted(tmp_path: Path) -> None:
    vectors = random_units(2000)
    writer, reader = filled(tmp_path, vectors[:10]), open_vectors(tmp_path, D, "e")
    writer.add(np.array([50]), digests(1), vectors[50:51])
    assert reader.search(vectors[50], 1)[0].tolist() == [50]
    old = reader._state
    writer.add(np.arange(2000), digests(2000), vectors)
    writer.compact()
    assert old.rows[old.at].any() and len(reader) == 2000  # the old snapshot can still be read


def test_two_writers_take_turns(tmp_path: Path) -> None:
    first, second = open_vectors(tmp_path, D, "e"), open_vectors(tmp_path, D, "e")
    vectors = random_units(40)
    for i in range(0, 40, 2):
        first.add(np.array([i]), digests(1), vectors[i : i + 1])
        second.add(np.array([i + 1]), digests(1), vectors[i + 1 : i + 2])
    assert first.known()[0].tolist() == list(range(40))
    first.verify()


def test_a_writer_that_holds_on_is_named(tmp_path: Path) -> None:
    first, second = filled(tmp_path, random_units(1)), open_vectors(tmp_path, D, "e")
    with (
        first._files.lock(),
        pytest.raises(BusyError, match="another process is writing the vectors"),
        second._files.lock(timeout=0.05),
    ):
        raise AssertionError("two writers at once")


def test_threads_search_while_one_writes(tmp_path: Path) -> None:
    vectors = random_units(3000, d=64)
    index, failures, done = filled(tmp_path, vectors[:100]), [], threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                assert index.search(vectors[7], 1)[0].tolist() == [7]
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(100, 3000, 290):
        index.add(np.arange(start, start + 290), digests(290), vectors[start : start + 290])
    done.set()
    for thread in threads:
        thread.join()
    assert not failures and len(index) == 3000


def test_each_encoder_has_its_own_folder(tmp_path: Path) -> None:
    filled(tmp_path, random_units(3))
    other = open_vectors(tmp_path, 8, "another")
    assert len(other) == 0 and len(open_vectors(tmp_path, D, "e")) == 3


@pytest.mark.parametrize("name", ["e5-small", "E5-small", "e5/small", "e5 small", "../e5", "模型", "", ".", "x" * 300])
def test_folder_names_are_safe_and_distinct(name: str) -> None:
    folder = folder_name(name)
    assert folder and "/" not in folder and folder not in (".", "..") and len(folder) < 80 and folder.isascii()
    assert (folder == name) == (name == "e5-small")


# A model: any operations leave what a dictionary would hold

OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 12), max_size=6)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 12), max_size=4)),
        st.tuples(st.just("compact"), st.just([])),
        st.tuples(st.just("reopen"), st.just([])),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(operations=OPERATIONS)
def test_any_operations_leave_what_a_dictionary_would_hold(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, list[int]]]
) -> None:
    folder, vectors = tmp_path_factory.mktemp("model"), random_units(200)
    index, model, written = open_vectors(folder, D, "e"), dict[int, int](), 0
    for name, ids in operations:
        if name == "add":
            numbers = list(range(written, written + len(ids)))
            index.add(np.array(ids, np.int64), np.array(numbers, np.uint64), vectors[numbers])
            model |= dict(zip(ids, numbers, strict=True))
            written += len(ids)
        elif name == "remove":
            index.remove(np.array(ids, np.int64))
            model = {i: n for i, n in model.items() if i not in ids}
        elif name == "compact":
            index.compact()
        else:
            index = open_vectors(folder, D, "e")
        _same(index, model, vectors)
    index.verify()


def _same(index: FlatVectors, model: Mapping[int, int], vectors: np.ndarray) -> None:
    ids, found = index.known()
    assert dict(zip(ids.tolist(), found.tolist(), strict=True)) == model and len(index) == len(model)
    got, mask = index.get(np.array(sorted(model), np.int64))
    assert mask.all()
    np.testing.assert_allclose(got, vectors[[model[i] for i in sorted(model)]].reshape(-1, D), atol=0.01)


# Damage


def _cut(folder: Path, column: str) -> None:
    path = next(folder.glob(f"{column}-*.bin"))
    os.truncate(path, path.stat().st_size - 1)


def _flip(folder: Path, column: str) -> None:
    path = next(folder.glob(f"{column}-*.bin"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def _unlink(folder: Path, column: str) -> None:
    next(folder.glob(f"{column}-*.bin")).unlink()


@pytest.mark.parametrize("damage", [_cut, _unlink, _flip])
@pytest.mark.parametrize("column", ["ids", "digests", "scales", "codes", "rows"])
def test_damaged_columns_are_said_with_the_remedy(tmp_path: Path, damage: Any, column: str) -> None:
    damage(filled(tmp_path, random_units(100)).folder, column)
    with pytest.raises(IndexDamagedError, match="doctor --rebuild-index"):
        open_vectors(tmp_path, D, "e").verify()  # opening alone does not read the rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-9], "cannot be used"),
        (lambda text: "[]", "cannot be used"),
        (lambda text: text.replace('"rows": 100', '"rows": 101'), "checksum"),
        (lambda text: json.dumps({"manifest": {}, "crc": 2745614147}), "cannot be used"),
    ],
)
def test_a_damaged_manifest_is_said_with_the_remedy(tmp_path: Path, change: Any, message: str) -> None:
    path = filled(tmp_path, random_units(100)).folder / "manifest.json"
    path.write_text(change(path.read_text()))
    with pytest.raises(IndexDamagedError, match=f"{message}.*doctor --rebuild-index"):
        open_vectors(tmp_path, D, "e")


def test_other_dimensions_than_the_files_are_said(tmp_path: Path) -> None:
    filled(tmp_path, random_units(3))
    with pytest.raises(IndexDamagedError, match="holds vectors of e in 16 dimensions, not of e in 24"):
        open_vectors(tmp_path, 24, "e")


def test_what_a_crash_left_behind_the_count_is_overwritten(tmp_path: Path) -> None:
    vectors = random_units(20)
    index = filled(tmp_path, vectors[:10])
    for path in index.folder.glob("*.bin"):
        path.write_bytes(path.read_bytes() + b"half a row")
    (index.folder / "rows-000009.bin").write_bytes(b"of a rewrite that was cut off")
    index = open_vectors(tmp_path, D, "e")
    assert len(index) == 10
    index.add(np.arange(10, 20), digests(10), vectors[10:])
    index.verify()
    index.compact()
    assert not (index.folder / "rows-000009.bin").exists()
    np.testing.assert_allclose(open_vectors(tmp_path, D, "e").get(np.arange(20))[0], vectors, atol=0.01)
