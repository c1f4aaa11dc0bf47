"""From the store into the indexes: exactly the papers there are, after any interruption; which vectors are lacking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from broadsheet.index import Everything, Match, open_text_index, open_vectors
from broadsheet.ingest import (
    Follower,
    derive,
    drain,
    encode_pending,
    forget_gone,
    index_document,
    merge_papers,
    passage_text,
    pending,
    pending_count,
    rebuild,
)
from broadsheet.model import Area, Link, LinkKind, Paper, Record
from broadsheet.store import Store, open_store, text_digest
from tests.makers import NOW, day, put, record

TITLES = ["Sparse Maps for Slow Rivers", "Boats without Pilots at Night", "A Theory of Muddy Water"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


@pytest.fixture
def index(tmp_path: Path) -> Iterator[object]:
    opened = open_text_index(tmp_path / "text")
    yield opened
    opened.close()


def some(count: int = 3, start: int = 0) -> list[Record]:
    return [
        record(f"{TITLES[i % 3]} {i}", key=str(i), authors=(f"Ana{i} Lima{i}",)) for i in range(start, start + count)
    ]


def found(index: object, words: str = "") -> set[int]:
    query = Match(words, {"title": 1.0}) if words else Everything()
    return set(index.ids(query).tolist())  # type: ignore[attr-defined]


def test_document_is_plain_text() -> None:
    paper = derive(
        7,
        [
            record(
                "Maps of $x^2$ and *sand*",
                "2401.00001",
                abstract="We show <i>this</i>.",
                authors=("Lima, Ana",),
                venue="icml",
                year=2024,
                listed=day("2024-01-05"),
                areas=(Area("A", "B"),),
                keywords=("*maps*",),
                links=(Link(LinkKind.CODE, "https://github.com/x/y"),),
            ),
            record("Other Name of the Maps", source="zz"),
        ],
    )
    document = index_document(paper)
    assert document.id == 7
    assert "$" not in document.title
    assert "sand" in document.title
    assert "*" not in document.title
    assert document.abstract == "We show this."
    assert document.other_titles == ("Other Name of the Maps",)
    assert (document.authors, document.areas, document.keywords) == (("Ana Lima",), (Area("A", "B"),), ("maps",))
    assert (document.venue, document.year, document.day, document.has_code) == ("icml", 2024, day("2024-01-05"), True)
    assert document.identifiers == ("arxiv:2401.00001",)


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_drain_brings_the_index_up_to_date(store: Store, index: object, batch: int) -> None:
    put(store, *some())
    assert drain(store, index, batch=batch) == 3  # type: ignore[arg-type]
    assert found(index) == {1, 2, 3}
    assert found(index, "boats") == {2}
    assert index.applied_seq() == store.last_seq()  # type: ignore[attr-defined]
    assert drain(store, index) == 0  # type: ignore[arg-type]
    put(store, record("Ships", key="1", authors=("Ana1 Lima1",)))
    drain(store, index, batch=batch)  # type: ignore[arg-type]
    assert found(index, "boats") == set()
    assert found(index, "ships") == {2}
    merge_papers(store, 1, 3, now=NOW)
    drain(store, index, batch=batch)  # type: ignore[arg-type]
    assert found(index) == {1, 2}
    assert index.applied_seq() == store.last_seq()  # type: ignore[attr-defined]


def test_a_paper_that_changed_often_is_indexed_once_a_batch(store: Store) -> None:
    for version in range(5):
        put(store, record("Ships", key="k", raw=str(version)))
    applied: list[tuple[list[int], list[int], int]] = []

    class Counting:
        def applied_seq(self) -> int:
            return 0 if not applied else applied[-1][2]

        def apply(self, upserts: Sequence[Paper], deletes: Sequence[int], *, seq: int) -> None:
            applied.append(([p.id for p in upserts], list(deletes), seq))

    assert drain(store, Counting()) == 5  # type: ignore[arg-type]
    assert applied == [([1], [], 5)]


def test_drain_that_is_stopped_goes_on(store: Store, index: object) -> None:
    put(store, *some(10))
    answers = iter([False, False, True])
    assert drain(store, index, batch=3, should_stop=lambda: next(answers)) == 6  # type: ignore[arg-type]
    assert found(index) == set(range(1, 7))
    assert drain(store, index, batch=3) == 4  # type: ignore[arg-type]
    assert found(index) == set(range(1, 11))


def test_index_of_another_database_is_built_again(store: Store, index: object, tmp_path: Path) -> None:
    """The database was restored from a backup, or the folder is another library's."""
    put(store, *some(10))
    drain(store, index)  # type: ignore[arg-type]
    with open_store(f"sqlite:///{tmp_path / 'older.db'}") as older:
        put(older, *some(2, start=50))
        assert drain(older, index) == 0  # type: ignore[arg-type]
        assert found(index) == {1, 2}
        assert index.applied_seq() == 2  # type: ignore[attr-defined]


def test_rebuild(store: Store, index: object) -> None:
    put(store, *some(7))
    index.apply([index_document(Paper(99, "A stray"))], (), seq=3)  # type: ignore[attr-defined]
    steps: list[int] = []
    assert rebuild(store, index, batch=3, on_batch=steps.append) == 7  # type: ignore[arg-type]
    assert steps == [3, 6, 7]
    assert found(index) == set(range(1, 8))
    assert index.applied_seq() == store.last_seq()  # type: ignore[attr-defined]
    assert drain(store, index) == 0  # type: ignore[arg-type]


def test_rebuild_of_an_empty_store(store: Store, index: object) -> None:
    assert rebuild(store, index) == 0  # type: ignore[arg-type]
    assert found(index) == set()


def test_follower_indexes_while_an_import_goes_on(store: Store, index: object) -> None:
    with Follower(store, index) as follower:  # type: ignore[arg-type]
        put(store, *some(60), batch_size=10, on_batch=lambda *_: follower.notify())
    assert found(index) == set(range(1, 61))
    assert index.applied_seq() == store.last_seq()  # type: ignore[attr-defined]


def test_follower_passes_on_what_went_wrong(store: Store, index: object) -> None:
    class Broken:
        def applied_seq(self) -> int:
            raise OSError("no index")

    with pytest.raises(OSError, match="no index"), Follower(store, Broken()):  # type: ignore[arg-type]
        put(store, *some(3))
    with pytest.raises(ZeroDivisionError), Follower(store, index):  # type: ignore[arg-type]
        raise ZeroDivisionError
    assert store.counts().papers == 3


def test_passage_is_plain_with_single_spaces() -> None:
    assert passage_text(Paper(1, "Maps  of\n*sand*", "  We show   it. ")) == "Maps of sand We show it."
    assert passage_text(Paper(1, "Maps", "")) == "Maps"


def fake_encode(texts: list[str]) -> npt.NDArray[np.float32]:
    """A vector that only depends on the text."""
    rows = [np.random.default_rng(len(t) + ord(t[0])).normal(size=8) for t in texts]
    return np.array(rows, dtype=np.float32)


def dated(count: int) -> list[Record]:
    days = ["2024-01-01", "2026-01-01", "2025-01-01"]
    return [record(f"{TITLES[i]} {i}", key=str(i), listed=day(days[i]) if i < 3 else None) for i in range(count)]


def test_vectors_are_made_newest_first_and_only_once(store: Store, tmp_path: Path) -> None:
    vectors = open_vectors(tmp_path / "vectors", 8, "fake")
    put(store, *dated(3))
    assert pending(store, vectors) == [2, 3, 1]
    asked: list[list[str]] = []

    def encode(texts: list[str]) -> npt.NDArray[np.float32]:
        asked.append(texts)
        return fake_encode(texts)

    progress: list[int] = []
    assert encode_pending(store, vectors, encode, batch=2, on_progress=progress.append) == 3
    assert progress == [2, 3]
    assert [t[:5] for texts in asked for t in texts] == ["Boats", "A The", "Spars"]
    assert pending_count(store, vectors) == 0
    assert pending(store, vectors) == []
    ids, digests = vectors.known()
    assert dict(zip(ids.tolist(), digests.tolist(), strict=True)) == {
        p.id: text_digest(p) for p in store.iterate_papers()
    }
    assert encode_pending(store, vectors, encode) == 0
    assert len(asked) == 2


def test_a_changed_text_is_pending_again_and_a_changed_venue_is_not(store: Store, tmp_path: Path) -> None:
    vectors = open_vectors(tmp_path / "vectors", 8, "fake")
    put(store, *dated(3))
    encode_pending(store, vectors, fake_encode)
    put(store, record(f"{TITLES[0]} 0", key="0", venue="icml"), record(f"{TITLES[1]} 1", key="1", abstract="New."))
    assert pending(store, vectors) == [2]
    assert encode_pending(store, vectors, fake_encode) == 1


def test_stopping_and_going_on(store: Store, tmp_path: Path) -> None:
    vectors = open_vectors(tmp_path / "vectors", 8, "fake")
    put(store, *some(10))
    answers = iter([False, False, True])
    assert encode_pending(store, vectors, fake_encode, batch=2, should_stop=lambda: next(answers)) == 4
    assert pending_count(store, vectors) == 6
    again = open_vectors(tmp_path / "vectors", 8, "fake")
    assert encode_pending(store, again, fake_encode, batch=4) == 6


def test_a_failing_encoder_keeps_what_is_done(store: Store, tmp_path: Path) -> None:
    vectors = open_vectors(tmp_path / "vectors", 8, "fake")
    put(store, *some(6))
    calls = 0

    def encode(texts: list[str]) -> npt.NDArray[np.float32]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError("model gone")
        return fake_encode(texts)

    with pytest.raises(OSError, match="model gone"):
        encode_pending(store, vectors, encode, batch=2)
    assert pending_count(store, vectors) == 4


def test_vectors_of_merged_papers_are_forgotten(store: Store, tmp_path: Path) -> None:
    vectors = open_vectors(tmp_path / "vectors", 8, "fake")
    put(store, *some(3))
    encode_pending(store, vectors, fake_encode)
    merge_papers(store, 1, 3, now=NOW)
    assert forget_gone(store, vectors) == 1
    assert forget_gone(store, vectors) == 0
    assert vectors.known()[0].tolist() == [1, 2]


def test_a_paper_merged_away_while_others_are_encoded_gets_no_vector(store: Store, tmp_path: Path) -> None:
    vectors = open_vectors(tmp_path / "vectors", 8, "fake")
    put(store, *some(4))

    def encode(texts: list[str]) -> npt.NDArray[np.float32]:
        if store.counts().papers == 4:
            merge_papers(store, 1, 2, now=NOW)
        return fake_encode(texts)

    assert encode_pending(store, vectors, encode, batch=2) == 3
    assert vectors.known()[0].tolist() == [1, 3, 4]
