"""A library whose index or vectors are lost or damaged: what is said, what still works, and the remedy."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from broadsheet.encode import encoder_id
from broadsheet.errors import IndexDamagedError
from broadsheet.index import open_vectors, vectors_folder
from broadsheet.ingest import passage_text
from broadsheet.library import Library, background
from tests.embeddings import DIMENSIONS, EmbeddingsServer
from tests.libraries import entry, library_in, papers_file, until, word
from tests.library_checks import BEHIND, are_right, failed, is_whole

REMEDY = "broadsheet doctor --rebuild-index"

# --- the index is lost or damaged


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of 30 papers and the library that they were imported into, closed."""
    folder = tmp_path_factory.mktemp("template")
    with library_in(folder / "home") as library:
        library.import_files([papers_file(folder / "p.jsonl", 30)])
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    """The home of a library of 30 papers, closed."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path / "home"


def heals(library: Library) -> None:
    assert library.rebuild_index() == 30
    assert library.search(word(7)).hits[0].paper.title == entry(7)["title"]
    assert library.search("slow river").notes == ("Searched by words alone: there is no encoder.",)
    is_whole(library, range(30))


def test_the_index_was_deleted(home: Path) -> None:
    shutil.rmtree(home / "index")
    with library_in(home) as library:
        results = library.search("slow river")
        assert results.total == 0 and f"30 changes {BEHIND}" in results.notes
        assert (library.status().indexed, library.status().pending_changes) == (0, 30)
        assert REMEDY in failed(library)["index"]
        heals(library)


def test_the_index_was_deleted_and_the_next_import_makes_it_again(home: Path, tmp_path: Path) -> None:
    shutil.rmtree(home / "index")
    with library_in(home) as library:
        assert library.import_files([tmp_path / "p.jsonl"]).unchanged == 30
        is_whole(library, range(30))


def test_the_index_is_deleted_while_the_library_is_open(home: Path) -> None:
    with library_in(home) as library:
        assert library.search(word(7)).total == 1
        shutil.rmtree(home / "index")
        with pytest.raises(IndexDamagedError, match=REMEDY):
            library.search(word(8))
        heals(library)


@pytest.mark.parametrize("by", ["update", "background"])
def test_the_database_was_restored_from_an_older_copy(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    shutil.copy(home / "broadsheet.db", tmp_path / "old.db")
    with library_in(home) as library:
        library.import_files([papers_file(tmp_path / "more.jsonl", 10, start=30)])
    for path in home.glob("broadsheet.db*"):
        path.unlink()
    shutil.copy(tmp_path / "old.db", home / "broadsheet.db")
    monkeypatch.setattr(background, "INDEX_EVERY", 0.05)
    with library_in(home) as library:
        assert any(BEHIND in note for note in library.search("slow river").notes)
        assert REMEDY in failed(library)["index"]
        if by == "update":
            library.update_index()
        else:
            library.start_background()
            until(lambda: not library.pending_changes())
        is_whole(library, range(30))


def _cut(data: bytes, _: random.Random) -> bytes:
    return data[: len(data) // 2]


def _overwritten(data: bytes, chance: random.Random) -> bytes:
    """A tenth of the bytes but for the footer, which lets Tantivy find out late."""
    changed = bytearray(data)
    reach = len(data) - 120 if len(data) > 600 else len(data)
    for place in chance.sample(range(reach), reach // 10):
        changed[place] ^= chance.randrange(1, 256)
    return bytes(changed)


DAMAGE: dict[str, Callable[[bytes, random.Random], bytes]] = {"cut": _cut, "over": _overwritten}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("part", ["fast", "fieldnorm", "idx", "pos", "store", "term", "meta.json"])
def test_a_file_of_the_index_is_damaged(home: Path, part: str, how: str) -> None:
    chance = random.Random(f"{part} {how}")
    for path in (home / "index" / "text").glob(f"*{part}"):
        path.write_bytes(DAMAGE[how](path.read_bytes(), chance))
    with library_in(home) as library:
        for look in (lambda: library.search("slow river"), lambda: library.search('"slow river"'), library.status):
            try:
                look()  # a damaged part that was not needed
            except IndexDamagedError as error:
                assert REMEDY in str(error)
        assert REMEDY in failed(library)["index"]
        heals(library)


@pytest.mark.parametrize("part", ["fast", "fieldnorm", "idx", "pos", "store", "term", "meta.json"])
def test_a_file_of_the_index_is_missing(home: Path, part: str) -> None:
    for path in (home / "index" / "text").glob(f"*{part}"):
        path.unlink()
    with library_in(home) as library:
        assert REMEDY in failed(library)["index"]
        heals(library)


def test_a_byte_that_no_search_reads_is_found_by_the_doctor(home: Path) -> None:
    path = next((home / "index" / "text").glob("*.store"))
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)
    with library_in(home) as library:
        assert library.search("slow river").total == library.status().indexed == 30
        assert "has changed bytes" in failed(library)["index"] and REMEDY in failed(library)["index"]
        heals(library)


def test_a_rebuild_beside_an_import_loses_nothing(home: Path, tmp_path: Path) -> None:
    file = papers_file(tmp_path / "more.jsonl", 1200, start=30)
    with library_in(home) as library:
        thread = threading.Thread(target=library.import_files, args=([file],))
        thread.start()
        while thread.is_alive():
            library.rebuild_index()
        thread.join()
        is_whole(library, range(1230))


def test_an_import_into_a_damaged_index_says_so_first(home: Path, tmp_path: Path) -> None:
    (home / "index" / "text" / "meta.json").write_text("{")
    with library_in(home) as library:
        with pytest.raises(IndexDamagedError, match=REMEDY):
            library.import_files([papers_file(tmp_path / "more.jsonl", 3, start=30)])
        assert library.store.counts().papers == 30
        heals(library)


# --- the vectors are lost or damaged


@pytest.fixture
def encoded(home: Path, embeddings: EmbeddingsServer) -> Path:
    """The same home with vectors; gives the folder of these."""
    with library_in(home, embeddings.spec()) as library:
        assert library.encode() == 30
    return home / "index" / "vectors" / vectors_folder(encoder_id(embeddings.spec()))


@pytest.mark.parametrize(
    ("how", "remedy"), [("cut", "encode"), ("over", "rebuild"), ("over", "encode"), ("gone", "encode")]
)
@pytest.mark.parametrize("part", ["ids", "digests", "scales", "codes", "rows", "manifest"])
def test_a_file_of_the_vectors_is_damaged(
    encoded: Path, embeddings: EmbeddingsServer, part: str, how: str, remedy: str
) -> None:
    (path,) = encoded.glob(f"{part}*")
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(DAMAGE[how](path.read_bytes(), random.Random(part)))
    with library_in(encoded.parents[2], embeddings.spec()) as library:
        results = library.search("slow river")
        assert results.hits  # by words at least
        unseen = part == "rows" and how == "over"  # these are read by the doctor alone
        if part == "manifest" and how == "gone":
            assert results.coverage == 0.0 and any("covers 0 % of papers" in note for note in results.notes)
        elif not unseen:
            assert "Searched by words alone: there is no encoder." in results.notes
            assert REMEDY in library.status().encoder_note
        assert "vectors" in failed(library)
        if remedy == "rebuild" or unseen:
            assert library.rebuild_index() == 30
        assert library.encode() == 30
        assert failed(library) == {}
        results = library.search("slow river")
        assert (results.coverage, results.notes, library.status().encoder_note) == (1.0, (), "")
        ids = {paper.id: passage_text(paper) for paper in library.store.iterate_papers()}
    are_right(open_vectors(encoded.parent, DIMENSIONS, encoder_id(embeddings.spec())), ids)


def test_rebuilding_keeps_sound_vectors(encoded: Path, embeddings: EmbeddingsServer) -> None:
    with library_in(encoded.parents[2], embeddings.spec()) as library:
        library.rebuild_index()
        assert library.encode() == 0


def test_the_vectors_were_deleted(encoded: Path, embeddings: EmbeddingsServer) -> None:
    shutil.rmtree(encoded.parent)
    with library_in(encoded.parents[2], embeddings.spec()) as library:
        assert library.search("slow river").coverage == 0.0
        assert failed(library) == {}, "vectors that are only pending are no fault"
        assert {c.name: c.message for c in library.doctor()}["vectors"].startswith("30 papers wait for one")
        assert library.encode() == 30
        assert {c.name: c.message for c in library.doctor()}["vectors"] == "complete"
