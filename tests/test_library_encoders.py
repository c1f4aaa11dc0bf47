"""A library and its encoders: which one answers, which one is being prepared, and what is said where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from broadsheet.encode import encoder_id
from broadsheet.errors import EncoderUnavailableError
from broadsheet.index import open_vectors, vectors_folder
from broadsheet.library import Library
from tests.embeddings import EmbeddingsServer
from tests.libraries import library_in, papers_file, searching, until
from tests.library_makers import SAMPLE, counts


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a library with the sample in it, closed."""
    home = tmp_path_factory.mktemp("template") / "home"
    with library_in(home) as library:
        assert counts(library.import_sample()) == (SAMPLE, SAMPLE, 0, 0, 0)
    return home


@pytest.fixture
def sample(template: Path, tmp_path: Path) -> Iterator[Library]:
    """A library with the sample in it, and no encoder."""
    shutil.copytree(template, tmp_path / "home")
    with library_in(tmp_path / "home") as library:
        yield library


def test_vectors_are_made_once_and_counted(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    with library_in(tmp_path, embeddings.spec()) as library:
        library.import_sample()
        told: list[tuple[int, int]] = []
        assert library.encode(lambda done, total: told.append((done, total))) == SAMPLE
        assert told[0] == (0, SAMPLE) and told[-1] == (SAMPLE, SAMPLE)
        assert library.encode() == 0
        assert library.status().encoded == SAMPLE
        results = library.search("Byzantine failures")
        assert results.coverage == 1.0 and results.notes == ()
        assert any(hit.parts["meaning"] > 0 for hit in results.hits)
        assert all(check.ok for check in library.doctor() if check.name != "space")
        library.import_files([papers_file(tmp_path / "p.jsonl", 5)])
        (note,) = library.search("slow river").notes
        assert "covers 96 % of papers" in note
        assert {c.name: c.message for c in library.doctor() if c.ok}["vectors"].startswith("5 papers wait for one")
        assert library.encode() == 5


def test_a_stopped_encoding_goes_on(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    with library_in(tmp_path / "home", embeddings.spec()) as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", 400)])
        stops = iter([False, False, True])
        made = library.encode(should_stop=lambda: next(stops, True))
        assert 0 < made < 400 and library.status().encoded == made
        assert library.encode() == 400 - made


def test_without_an_encoder_words_alone_answer(sample: Library) -> None:
    assert sample.encode() == 0
    status = sample.status()
    assert (status.encoder, status.encoded) == ("none", 0)
    assert status.encoder_note == "no encoder is set: search goes by words alone"
    assert not list(sample.settings.index_dir.glob("vectors/*"))
    assert sample.search("Byzantine").hits


def test_an_encoder_out_of_reach_leaves_the_words(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    embeddings.down = True
    with library_in(tmp_path, embeddings.spec()) as library:
        library.import_sample()
        results = library.search("Byzantine failures")
        assert results.hits and "Searched by words alone: there is no encoder." in results.notes
        assert "did not answer as expected" in library.status().encoder_note
        with pytest.raises(EncoderUnavailableError, match="did not answer"):
            library.encode()
        # As soon as it is back, questions are encoded again.
        embeddings.down = False
        library.encode()
        assert library.search("Byzantine failures").notes == ()
        assert library.status().encoder_note == ""
        # It goes away while the library is open.
        embeddings.down = True
        assert library.search("a new question").notes == ("Searched by words alone: the encoder does not answer.",)
        embeddings.down = False
        assert library.search("a new question").notes == ()


def test_the_old_encoder_answers_until_the_new_one_is_complete(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    home = tmp_path / "home"
    old, new = embeddings.spec("old"), embeddings.spec("new")
    with library_in(home, old) as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", 600)])
        library.encode()
    vectors = home / "index" / "vectors"
    (before,) = (path.name for path in vectors.iterdir() if path.is_dir())
    with library_in(home, new) as library, library_in(home, new) as other:
        assert library.search("slow river").coverage == 1.0
        assert library.status().encoder == old
        assert other.search("slow river").coverage == 1.0
        embeddings.delay = 0.05
        states: list[tuple[int, str, float]] = []

        def look(done: int, total: int) -> None:
            states.append((done, library.status().encoder, library.search(f"river {done}").coverage))

        with searching(library), searching(other):
            assert library.encode(look) == 600
            embeddings.delay = 0
            assert library.status().encoder == new
            after = len(embeddings.asked)
            until(lambda: ("new", 1) in embeddings.asked[after:])
        assert len(states) > 3 and {state[1:] for state in states} == {(old, 1.0)}
        assert [path.name for path in vectors.iterdir() if path.is_dir()] != [before]
        assert len([path for path in vectors.iterdir() if path.is_dir()]) == 1
        # The other one, too, which has not encoded anything itself.
        for opened in (library, other):
            after = len(embeddings.asked)
            assert opened.search("a question of its own").coverage == 1.0
            assert {model for model, _ in embeddings.asked[after:]} <= {"new"}
            assert opened.status().encoder == new


def test_a_half_made_new_encoder_is_not_used_after_a_restart(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    old, new = embeddings.spec("old"), embeddings.spec("new")
    with library_in(tmp_path / "home", old) as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", 300)])
        library.encode()
    with library_in(tmp_path / "home", new) as library:
        stops = iter([False, True])
        assert 0 < library.encode(should_stop=lambda: next(stops, True)) < 300
    with library_in(tmp_path / "home", new) as library:
        assert library.status().encoder == old
        assert library.search("slow river").coverage == 1.0
        check = next(check for check in library.doctor() if check.name == "encoder")
        assert check.ok and f"{old} answers until the vectors of {new} are complete" in check.message
        assert library.encode() > 0
        assert library.status().encoder == new


def test_a_damaged_note_of_the_encoder_in_service_does_no_harm(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    with library_in(tmp_path, embeddings.spec()) as library:
        library.import_sample()
        library.encode()
        for content in (b"\xff\xfe\x00", b"", b"nonsense"):
            (tmp_path / "index" / "vectors" / "encoder-in-service").write_bytes(content)
            assert library.status().encoder == embeddings.spec()
            assert library.search("Byzantine").coverage == 1.0
            library.encode()


def test_vectors_of_another_size_are_made_again(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    spec = embeddings.spec()
    with library_in(tmp_path, spec) as library:
        library.import_sample()
        # As if the server's model had been another one of the same name.
        other = open_vectors(tmp_path / "index" / "vectors", 24, encoder_id(spec))
        other.add(np.array([1]), np.array([1], np.uint64), np.ones((1, 24), np.float32))
        results = library.search("Byzantine")
        assert results.hits and "24 dimensions" in library.status().encoder_note
        assert library.encode() == SAMPLE
        assert library.search("Byzantine").coverage == 1.0
        assert [p.name for p in (tmp_path / "index" / "vectors").iterdir() if p.is_dir()] == [
            vectors_folder(encoder_id(spec))
        ]
