"""The vectors of a review's records: found by text, whole or made again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from broadsheet.errors import BroadsheetError, BusyError, StoreError
from broadsheet.library import Library
from broadsheet.library.screening_vectors import Floats, RecordVectors, record_text, text_digest
from broadsheet.model.screening import Label, Plan, PoolRecord
from tests.embeddings import EmbeddingsServer
from tests.libraries import library_in
from tests.screening_pools import pool_file

TEXTS = [f"Text number {number}" for number in range(300)]
ROW = 16 + 4 * 2 + 4  # bytes of a row of four dimensions


class FakeEncoder:
    """Four numbers that follow from a text; remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        return vectors_of(texts)


def vectors_of(texts: Sequence[str]) -> Floats:
    """What the fake encoder gives: numbers that float16 holds exactly."""
    return np.array([[len(text), sum(map(ord, text)) % 512, ord(text[-1]), 1] for text in texts], np.float32)


def digests(texts: Sequence[str]) -> list[bytes]:
    """What texts are found by."""
    return list(map(text_digest, texts))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "screening" / "7" / "fake-4.rows"


@pytest.fixture
def full(file: Path) -> RecordVectors:
    made = RecordVectors(file, 4)
    made.add(TEXTS, FakeEncoder())
    return made


def test_vectors_are_given_in_the_order_of_the_texts_that_ask(full: RecordVectors, file: Path) -> None:
    asked = [TEXTS[7], TEXTS[299], TEXTS[7], TEXTS[0]]
    found = RecordVectors(file, 4).of(digests(asked))
    assert found is not None
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, vectors_of(asked))


def test_as_long_as_one_is_lacking_there_are_none(full: RecordVectors) -> None:
    assert full.of(digests([TEXTS[0], "Another text"])) is None
    assert full.missing(["Another text", TEXTS[0], "Another text"]) == ["Another text"]


def test_no_text_needs_no_vector(file: Path) -> None:
    found = RecordVectors(file, 4).of(digests([]))
    assert found is not None
    assert found.shape == (0, 4)


def test_each_text_is_encoded_once(full: RecordVectors, file: Path) -> None:
    encoder = FakeEncoder()
    assert RecordVectors(file, 4).add([*TEXTS, "New", "New", "Newer"], encoder) == 2
    assert encoder.asked == ["New", "Newer"]


def test_a_stopped_round_keeps_what_is_done_and_goes_on_there(file: Path) -> None:
    encoder, told = FakeEncoder(), list[tuple[int, int]]()
    stop = iter([False, True])
    made = RecordVectors(file, 4).add(
        TEXTS, encoder, should_stop=lambda: next(stop), on_progress=lambda done, total: told.append((done, total))
    )
    assert made == len(encoder.asked) == 32
    assert told == [(32, 300)]
    assert RecordVectors(file, 4).add(TEXTS, encoder) == 268
    assert encoder.asked == TEXTS


@pytest.mark.parametrize("cut", [1, 5, ROW - 1, ROW, ROW + 1, 10 * ROW + 3])
def test_a_file_that_was_cut_off_anywhere_is_made_whole_again(full: RecordVectors, file: Path, cut: int) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:-cut])
    again, encoder = RecordVectors(file, 4), FakeEncoder()
    assert again.of(digests(TEXTS)) is None
    again.add(TEXTS, encoder)
    assert encoder.asked == TEXTS[-ceil(cut / ROW) :]
    assert file.read_bytes() == content
    np.testing.assert_array_equal(again.of(digests(TEXTS)), vectors_of(TEXTS))


@pytest.mark.parametrize("place", [0, 17, 20, ROW - 2])
def test_a_damaged_row_is_dropped_and_made_again(full: RecordVectors, file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[5 * ROW + place] ^= 0x40
    file.write_bytes(content)
    again, encoder = RecordVectors(file, 4), FakeEncoder()
    assert again.of(digests([TEXTS[5]])) is None
    np.testing.assert_array_equal(again.of(digests([TEXTS[4], TEXTS[6]])), vectors_of([TEXTS[4], TEXTS[6]]))
    assert again.add(TEXTS, encoder) == 1
    assert encoder.asked == [TEXTS[5]]
    assert len(file.read_bytes()) == len(content)


def test_a_file_of_anything_else_is_made_again(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no vectors at all\n" * 40)
    made = RecordVectors(file, 4)
    assert made.of(digests(TEXTS[:1])) is None
    made.add(TEXTS[:3], FakeEncoder())
    assert len(file.read_bytes()) == 3 * ROW


def test_the_stamp_tells_whether_it_is_worth_to_look(file: Path) -> None:
    kept = RecordVectors(file, 4)
    assert kept.stamp() == (0, 0)
    kept.add(TEXTS[:5], FakeEncoder())
    first = kept.stamp()
    assert first[1] == 5
    kept.add(TEXTS[:7], FakeEncoder())
    assert kept.stamp() != first
    assert kept.stamp()[1] == 7


def test_what_another_process_adds_is_seen(full: RecordVectors, file: Path) -> None:
    RecordVectors(file, 4).add(["Late"], FakeEncoder())
    np.testing.assert_array_equal(full.of(digests(["Late"])), vectors_of(["Late"]))
    file.unlink()
    assert full.of(digests(["Late"])) is None


def test_two_do_not_add_at_once(full: RecordVectors, file: Path) -> None:
    with FileLock(f"{file}.lock"), pytest.raises(BusyError, match="another process"):
        full.add(["New"], FakeEncoder())
    assert full.add(["New"], FakeEncoder()) == 1


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    with pytest.raises(StoreError, match="taken"):
        RecordVectors(tmp_path / "taken" / "fake-4.rows", 4).add(["A text"], FakeEncoder())


def test_a_record_is_encoded_as_one_line_of_title_and_abstract() -> None:
    assert record_text(PoolRecord(1, " A\ttitle", "Two\n\nlines ")) == "A title Two lines"
    assert record_text(PoolRecord(1, "", "Only this")) == "Only this"


# --- in a library


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with library_in(tmp_path / "home") as library:
        library.screening.create("boats", Plan(seed=7))
        library.screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 12)])
    return tmp_path / "home"


def model_after(library: Library) -> str:
    """The version of the model that ranks, once everything is learned."""
    screening = library.screening
    screening.prior("boats", [1], Label.INCLUDE)
    screening.prior("boats", [2], Label.EXCLUDE)
    screening.next("boats", mode="ranked")
    with screening.desk("boats") as desk:
        assert desk.settle(60)
    return screening.progress("boats").model


def test_the_model_ranks_by_vectors_once_all_are_made(home: Path, embeddings: EmbeddingsServer) -> None:
    with library_in(home, embeddings.spec("tiny")) as library:
        assert "tiny" not in model_after(library)
        assert library.screening.encode("boats") == 12
        assert library.screening.encode("boats") == 0
        library.screening.next("boats", mode="ranked")
        with library.screening.desk("boats") as desk:
            assert desk.settle(60)
        model = library.screening.progress("boats").model
    assert "tiny" in model
    assert "127.0.0.1" not in model


def test_vectors_are_kept_between_runs_and_only_new_records_are_encoded(
    home: Path, tmp_path: Path, embeddings: EmbeddingsServer
) -> None:
    with library_in(home, embeddings.spec("tiny")) as library:
        library.screening.encode("boats")
    asked = sum(count for _, count in embeddings.asked)
    with library_in(home, embeddings.spec("tiny")) as library:
        assert "tiny" in model_after(library)
        assert sum(count for _, count in embeddings.asked) == asked
        library.screening.add_files("boats", [pool_file(tmp_path / "more.csv", 3, start=11)])
        assert library.screening.encode("boats") == 1
    with library_in(home) as library:
        assert "tiny" not in model_after(library)


def test_a_server_makes_them_in_the_background(home: Path, embeddings: EmbeddingsServer) -> None:
    with library_in(home, embeddings.spec("tiny")) as library:
        library.screening.start_background()
        library.screening.next("boats", mode="ranked")
        until = time.monotonic() + 60
        while "tiny" not in model_after(library) and time.monotonic() < until:
            time.sleep(0.1)
        assert "tiny" in model_after(library)


def test_an_encoder_out_of_reach_is_told_and_screening_goes_on(home: Path, embeddings: EmbeddingsServer) -> None:
    embeddings.down = True
    with library_in(home, embeddings.spec("tiny")) as library:
        assert library.screening.next("boats", mode="ranked") is not None
        with pytest.raises(BroadsheetError):
            library.screening.encode("boats")
        assert library.screening.next("boats", mode="ranked") is not None


def test_trouble_in_the_background_is_part_of_the_status(home: Path, embeddings: EmbeddingsServer) -> None:
    embeddings.down = True
    with library_in(home, embeddings.spec("tiny")) as library:
        library.start_background()
        library.screening.progress("boats")
        until = time.monotonic() + 60
        while not library.screening.trouble and time.monotonic() < until:
            time.sleep(0.1)
        assert "503" in library.status().details["screening_trouble"]
