"""A library whose processes are killed, and two processes in one library."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from broadsheet.encode import encoder_id
from broadsheet.errors import BusyError
from broadsheet.index import open_vectors
from broadsheet.ingest import passage_text
from broadsheet.model.reading import Action
from tests.embeddings import DIMENSIONS, EmbeddingsServer
from tests.libraries import library_in, papers_file, python, searching, until
from tests.library_checks import BEHIND, are_right, failed, is_whole

kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")

# --- kill -9

ENCODE = """
import sys
from pathlib import Path
from broadsheet.library import vectors
from tests.libraries import library_in
vectors._ROUND = 64
with library_in(Path(sys.argv[1]), sys.argv[2]) as library:
    print("ready", flush=True)
    library.encode()
"""
IMPORT = """
import functools, sys
from pathlib import Path
from broadsheet.library import facade
from tests.libraries import library_in
facade.import_items = functools.partial(facade.import_items, batch_size=25)

def told(*_):
    print("batch", flush=True)
    sys.stdin.readline()

with library_in(Path(sys.argv[1])) as library:
    library.import_files([Path(sys.argv[2])], on_progress=told)
"""
"""Says so after each batch, and begins the next when it is given a line, or when there are no more lines to come."""


@kills
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_while_encoding_it_has_each_vector_once_and_right(embeddings: EmbeddingsServer, tmp_path: Path) -> None:
    chance, spec, home, count = random.Random(5), embeddings.spec(), tmp_path / "home", 1600
    with library_in(home) as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", count)])
        texts = {paper.id: passage_text(paper) for paper in library.store.iterate_papers()}
    embeddings.delay = 0.02
    done = 0
    for _ in range(11):
        # The first asks for the dimensions. One more than is waited for, however late this process wakes up.
        embeddings.allowed = len(embeddings.asked) + 3 + chance.randrange(3)
        with python(ENCODE, home, spec) as child:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            enough = embeddings.allowed - 1
            while len(embeddings.asked) < enough:
                assert child.poll() is None
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.05))
            child.kill()
        assert child.returncode == -signal.SIGKILL
        vectors = open_vectors(home / "index" / "vectors", DIMENSIONS, encoder_id(spec))
        vectors.verify()
        assert done <= len(vectors) < count
        done = len(vectors)
        are_right(vectors, {i: texts[i] for i in vectors.known()[0].tolist()})
    assert done >= 64
    embeddings.allowed, embeddings.delay = sys.maxsize, 0
    with library_in(home, spec) as library:
        assert library.status().encoded == done
        assert library.encode() == count - done
        assert library.status().encoded == count and failed(library) == {}
        assert library.search("slow river").coverage == 1.0
    are_right(open_vectors(home / "index" / "vectors", DIMENSIONS, encoder_id(spec)), texts)


@kills
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_while_importing_it_has_each_paper_once_in_store_and_index(tmp_path: Path) -> None:
    chance, home, count = random.Random(6), tmp_path / "home", 1500
    file = papers_file(tmp_path / "p.jsonl", count)
    with library_in(home):
        pass
    done = 0
    for _ in range(11):
        with python(IMPORT, home, file, stdin=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stdin is not None
            for _ in range(1 + chance.randrange(2)):
                assert child.stdout.readline() == "batch\n"
                child.stdin.write("\n")
                child.stdin.flush()
            # It is at one of the next batches, of at most three, however late this process wakes up.
            child.stdin.write("\n" * 2)
            child.stdin.flush()
            time.sleep(chance.uniform(0, 0.05))
            child.kill()
        assert child.returncode == -signal.SIGKILL
        with library_in(home) as library:  # nothing that was stored is lost, and what is found is there
            status = library.status()
            assert done < status.papers == status.records < count and status.papers % 25 == 0
            done = status.papers
            results = library.search("slow river boats", page_size=200)
            assert bool(results.notes and BEHIND in results.notes[-1]) == (status.pending_changes > 0)
            assert status.indexed + status.pending_changes >= done
    with library_in(home) as library:
        summary = library.import_files([file])
        assert (summary.read, summary.new) == (count - done, count - done)
        is_whole(library, range(count))
        again = library.import_files([file])
        assert (again.read, again.unchanged) == (count, count)


@kills
def test_a_lock_that_a_killed_process_held_does_not_block(tmp_path: Path) -> None:
    with python(HOLD, tmp_path / "home") as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        child.kill()
    with library_in(tmp_path / "home") as library:
        begun = time.monotonic()
        library.store._lock.timeout = 300
        assert library.import_files([papers_file(tmp_path / "p.jsonl", 3)]).new == 3
        assert time.monotonic() - begun < 60
        is_whole(library, range(3))


# --- two processes


HOLD = """
import sys
from pathlib import Path
from tests.libraries import library_in
with library_in(Path(sys.argv[1])) as library, library.index_writer(), library.store.writing():
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_a_second_writer_waits_then_says_who_writes(tmp_path: Path) -> None:
    home, file = tmp_path / "home", papers_file(tmp_path / "p.jsonl", 3)
    with library_in(home) as library, python(HOLD, home, "import", "big.jsonl", stdin=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        library.store._lock.timeout = 0.4
        acts: list[Callable[[], object]] = [
            lambda: library.import_files([file]),
            library.import_sample,
            library.update_index,
            library.rebuild_index,
            lambda: library.update_index(wait=0),
        ]
        for act in acts:
            with pytest.raises(
                BusyError, match=rf"process {child.pid} \(.*big\.jsonl\) is writing.*wait for it to end"
            ):
                act()
        assert library.status().papers == 0  # reading goes on
        library.store._lock.timeout = 60
        child.communicate("\n")
        assert library.import_files([file]).new == 3


def test_readers_get_in_between_two_batches_of_an_import_and_other_imports_do_not(tmp_path: Path) -> None:
    home, file = tmp_path / "home", papers_file(tmp_path / "p.jsonl", 100)
    with library_in(home) as library, python(IMPORT, home, file, stdin=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == "batch\n"
        library.store._lock.timeout = 0.4
        acts: list[Callable[[], object]] = [
            lambda: library.import_files([file]),
            library.rebuild_index,
            lambda: library.merge(1, 2),
        ]
        for act in acts:
            with pytest.raises(BusyError, match=rf"process {child.pid} "):
                act()
        library.store._lock.timeout = 60
        library.daily.act(Action.LIKE, 1)
        assert [event.paper for event in library.store.reading.events(library.daily.reader().name)] == [1]
        child.communicate("\n" * 3)
        is_whole(library, range(100))


def test_one_process_reads_while_another_imports(tmp_path: Path) -> None:
    home, file = tmp_path / "home", papers_file(tmp_path / "p.jsonl", 600)
    with library_in(home) as library:
        with searching(library, threads=1) as totals, python(IMPORT, home, file, stdin=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stdin is not None
            for batches in range(1, 6):
                assert child.stdout.readline() == "batch\n"
                until(lambda so_far=25 * batches: so_far in totals[-1:])  # type: ignore[misc]
                child.stdin.write("\n")
                child.stdin.flush()
            child.communicate()
            assert child.returncode == 0
        assert totals == sorted(totals) and len(set(totals)) > 4  # it saw the library grow
        is_whole(library, range(600))
