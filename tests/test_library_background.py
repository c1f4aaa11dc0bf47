"""What a library does in the background and for several threads at once."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broadsheet.library import Library, background
from broadsheet.library import vectors as vectors_module
from broadsheet.model import ImportSummary
from broadsheet.store import Store
from tests.embeddings import EmbeddingsServer
from tests.libraries import entry, library_in, papers_file, python, searching, until, word
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


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as library:
        yield library


def doings(library: Library) -> dict[str, object]:
    """What the background is at, and what it has trouble with."""
    return {name: value for name, value in library.status().details.items() if name != "sources"}


# --- in the background


IMPORT = """
import sys
from pathlib import Path
from tests.libraries import library_in
with library_in(Path(sys.argv[1])) as library:
    print(library.import_files([Path(sys.argv[2])]).new)
"""
STORE_ONLY = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from broadsheet.ingest import import_items
from broadsheet.sources import read_file
from tests.libraries import library_in
with library_in(Path(sys.argv[1])) as library:
    items = read_file(Path(sys.argv[2]), max_entry_bytes=10**6, max_authors=100)
    print(import_items(library.store, items, now=lambda: datetime.now(UTC)).new)
"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The background looks often and tries again soon."""
    monkeypatch.setattr(background, "INDEX_EVERY", 0.05)
    monkeypatch.setattr(background, "ENCODE_EVERY", 0.05)
    monkeypatch.setattr(background, "AFTER_FAILURE", 0.3)


def run(code: str, *arguments: object) -> str:
    with python(code, *arguments) as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    return out.strip()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("code", [IMPORT, STORE_ONLY])
def test_the_background_picks_up_what_another_process_imports(
    embeddings: EmbeddingsServer, tmp_path: Path, code: str
) -> None:
    with library_in(tmp_path / "home", embeddings.spec()) as library:
        library.start_background()
        library.start_background()  # once is enough
        assert library.search(word(5)).total == 0
        with searching(library):
            assert run(code, tmp_path / "home", papers_file(tmp_path / "p.jsonl", 50)) == "50"
            until(lambda: library.status().encoded == 50 and library.status().pending_changes == 0)
        results = library.search(word(5))
        assert results.hits[0].paper.title == entry(5)["title"]
        assert results.coverage == 1.0 and results.notes == ()
        assert doings(library) == {}
    assert not [thread.name for thread in threading.enumerate() if thread.name in ("indexing", "encoding")]


@pytest.mark.usefixtures("quick")
def test_closing_ends_the_background_soon(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    with library_in(tmp_path / "home", embeddings.spec()) as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", 900)])
        embeddings.delay = 0.3
        library.start_background()
        until(lambda: "encoding_minutes_left" in library.status().details)  # from the first vectors on
        assert 0 < library.status().encoded < 900
        details = library.status().details
        assert details["encoding"].endswith(" of 900") and details["encoding_minutes_left"] >= 0
        last = len(embeddings.asked)
    # At most what was under way, and one more that a worker had taken, of fifteen.
    assert len(embeddings.asked) <= last + 2
    embeddings.delay = 0
    with library_in(tmp_path / "home", embeddings.spec()) as library:
        before = library.status().encoded
        assert library.encode() == 900 - before


@pytest.mark.usefixtures("quick")
def test_closing_does_not_wait_for_a_writer_elsewhere(tmp_path: Path) -> None:
    with library_in(tmp_path) as library, library_in(tmp_path) as other:
        library.start_background()
        with other.store.writing():
            other.import_sample()
            time.sleep(0.2)
            library.store._lock.timeout = 300
            begun = time.monotonic()
            library.close()
            assert time.monotonic() - begun < 60


@pytest.mark.usefixtures("quick")
def test_a_failure_in_the_background_is_shown_and_tried_again(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    embeddings.down = True
    with library_in(tmp_path, embeddings.spec()) as library:
        library.import_sample()
        assert library.search("Byzantine").notes[0].startswith("Searched by words alone")
        library.start_background()
        until(lambda: "vectors_trouble" in library.status().details)
        assert "did not answer as expected" in library.status().details["vectors_trouble"]
        embeddings.down = False
        until(lambda: library.status().encoded == SAMPLE)
        until(lambda: doings(library) == {})
        assert library.search("Byzantine").notes == ()


@pytest.mark.usefixtures("quick")
def test_a_fault_of_ours_does_not_end_the_background(sample: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = iter([True])
    applied = type(sample.index).applied_seq

    def once(self: object) -> int:
        if threading.current_thread().name == "indexing" and next(fails, False):
            raise RuntimeError("unforeseen")
        return applied(self)  # type: ignore[arg-type]

    monkeypatch.setattr(type(sample.index), "applied_seq", once)
    sample.start_background()
    until(lambda: doings(sample) == {"index_trouble": "an unforeseen fault; see the log"})
    until(lambda: doings(sample) == {})


# --- at once


@pytest.mark.timeout(120)
def test_searches_in_eight_threads_while_an_import_runs(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    with library_in(tmp_path / "home", embeddings.spec()) as library:
        library.import_files([papers_file(tmp_path / "a.jsonl", 200)])
        library.encode()
        with searching(library, threads=8) as totals:
            library.import_files([papers_file(tmp_path / "b.jsonl", 2000, start=200)])
            library.merge(1, 2)
            library.rebuild_index()
            library.encode()
        assert len(totals) >= 8 and min(totals) >= 200 - 1
        assert library.status().indexed == library.status().papers == 2199
        assert library.search("slow river").coverage == 1.0


def test_two_threads_may_import_at_once(empty: Library, tmp_path: Path) -> None:
    files = [papers_file(tmp_path / f"{i}.jsonl", 300, start=1000 * i) for i in range(3)]
    summaries: list[ImportSummary] = []
    threads = [threading.Thread(target=lambda f=file: summaries.append(empty.import_files([f]))) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [counts(summary) for summary in summaries] == [(300, 300, 0, 0, 0)] * 3
    assert empty.status().indexed == empty.status().papers == 900


def test_words_answer_while_a_server_prepares_its_encoder(
    embeddings: EmbeddingsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, go_on = threading.Event(), threading.Event()
    real = vectors_module.open_encoder

    def slow(*arguments: Any, **options: Any) -> Any:
        opening.set()
        assert go_on.wait(60)
        return real(*arguments, **options)

    monkeypatch.setattr(vectors_module, "open_encoder", slow)
    with library_in(tmp_path, embeddings.spec()) as library:
        library.import_sample()
        library.start_background()
        assert opening.wait(60)
        results = library.search("Byzantine failures")
        assert results.hits
        assert results.notes == ("Searched by words alone: the encoder is being prepared.",)
        assert library.status().papers == 139
        go_on.set()
        until(lambda: library.search("Byzantine failures").coverage == 1.0)


def test_a_background_with_nothing_to_do_reads_no_digests(
    embeddings: EmbeddingsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with library_in(tmp_path, embeddings.spec()) as library:
        library.import_sample()
        job = background.Background(library)
        job._encode()
        monkeypatch.setattr(Store, "text_digests", lambda *_, **__: pytest.fail("nothing has changed"))
        job._encode()
        monkeypatch.undo()
        library.import_files([papers_file(tmp_path / "p.jsonl", 5)])
        job._encode()
        assert library.status().encoded == library.status().papers
