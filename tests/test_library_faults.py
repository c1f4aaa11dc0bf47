"""Faults that a library survives: kill -9, lost and damaged files, full and read-only disks, bad input, two writers."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from broadsheet.encode import encoder_id
from broadsheet.errors import BroadsheetError, BusyError, IndexDamagedError, InputError, StoreError
from broadsheet.index import Everything, Match, open_vectors, vectors_folder
from broadsheet.ingest import passage_text
from broadsheet.library import Library, background
from tests.embeddings import DIMENSIONS, EmbeddingsServer, vector_of
from tests.libraries import entry, library_in, papers_file, python, searching, word, write_entries

REMEDY = "broadsheet doctor --rebuild-index"
BEHIND = "are not in the index yet and cannot be found; if this stays so, run: broadsheet doctor --rebuild-index"
kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")


def failed(library: Library) -> dict[str, str]:
    """What the doctor finds, but for the space of the machine that runs the tests."""
    return {check.name: check.message for check in library.doctor() if not check.ok and check.name != "space"}


def is_whole(library: Library, numbers: range) -> None:
    """Papers, records and index are exactly those of ``entry(n)``, and each is found by its own word."""
    assert library.store.problems() == []
    records = [stored.record.key for stored in library.store.iterate_records()]
    assert sorted(records) == sorted(f"k{n}" for n in numbers)
    papers = {paper.title: paper.id for paper in library.store.iterate_papers()}
    assert sorted(papers) == sorted(str(entry(n)["title"]) for n in numbers)
    assert library.index.ids(Everything()).tolist() == sorted(papers.values())
    for n in numbers:
        found = library.index.search(Match(word(n), {"body": 1.0}), limit=3)
        assert found.ids == (papers[str(entry(n)["title"])],)
    assert failed(library).keys() <= {"vectors"}


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
with library_in(Path(sys.argv[1])) as library:
    library.import_files([Path(sys.argv[2])], on_progress=lambda *told: print("batch", flush=True))
"""


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
        with python(ENCODE, home, spec) as child:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            enough = len(embeddings.asked) + 2 + chance.randrange(3)  # the first asks for the dimensions
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
    embeddings.delay = 0
    with library_in(home, spec) as library:
        assert library.status().encoded == done
        assert library.encode() == count - done
        assert library.status().encoded == count and failed(library) == {}
        assert library.search("slow river").coverage == 1.0
    are_right(open_vectors(home / "index" / "vectors", DIMENSIONS, encoder_id(spec)), texts)


def are_right(vectors: Any, texts: dict[int, str]) -> None:
    """The vectors are those of exactly these texts, as far as 8 bits can tell."""
    ids = vectors.known()[0]
    assert ids.tolist() == sorted(texts)
    expected = np.array([vector_of("m", texts[i]) for i in ids.tolist()]).reshape(-1, DIMENSIONS)
    np.testing.assert_allclose(vectors.get(ids)[0], expected, atol=0.01)


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
        with python(IMPORT, home, file) as child:
            assert child.stdout is not None
            for _ in range(1 + chance.randrange(2)):
                assert child.stdout.readline() == "batch\n"
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
        assert library.import_files([papers_file(tmp_path / "p.jsonl", 3)]).new == 3
        assert time.monotonic() - begun < 5
        is_whole(library, range(3))


# --- two processes

HOLD = """
import sys
from pathlib import Path
from tests.libraries import library_in
with library_in(Path(sys.argv[1])) as library, library.store.writing():
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
        library.store._lock.timeout = 20
        child.communicate("\n")
        assert library.import_files([file]).new == 3


def test_one_process_reads_while_another_imports(tmp_path: Path) -> None:
    home, file = tmp_path / "home", papers_file(tmp_path / "p.jsonl", 600)
    with library_in(home) as library:
        with searching(library, threads=1) as totals, python(IMPORT, home, file) as child:
            assert child.wait() == 0
        assert totals == sorted(totals) and len(set(totals)) > 3  # it saw the library grow
        is_whole(library, range(600))


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
            deadline = time.monotonic() + 20
            while library.pending_changes():
                assert time.monotonic() < deadline
                time.sleep(0.02)
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


# --- the database


@pytest.mark.parametrize(
    "content", [b"no database at all\n" * 500, b"\0" * 9000, b"{" * 100], ids=["text", "zeros", "short"]
)
def test_a_database_that_is_none_is_said_so(home: Path, content: bytes) -> None:
    for path in home.glob("broadsheet.db*"):
        path.unlink()
    (home / "broadsheet.db").write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"broadsheet\.db: (this file is not a database; move it away|.*damaged)"):
            library_in(home, read_only=read_only)
    assert (home / "broadsheet.db").read_bytes() == content


def test_a_database_with_damaged_pages_is_found_by_the_doctor(home: Path) -> None:
    path = home / "broadsheet.db"
    data = bytearray(path.read_bytes())
    data[2 * 4096 :] = random.Random(3).randbytes(len(data) - 2 * 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"damaged|doctor"), library_in(home) as library:
        assert "database" in failed(library)
        list(library.store.iterate_papers())


# --- the disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Makes file systems of a given size, and remounts them with other options."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    folder = tmp_path / "disk"

    def mount(options: str) -> Path:
        if folder.is_mount():
            options = f"remount,{options}"
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("cannot mount a file system here")
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("size", ["1m", "3m"])  # full for the database, and for the index
def test_the_disk_is_full_and_after_making_room_the_import_goes_on(
    disk: Callable[..., Path], tmp_path: Path, size: str
) -> None:
    noise = random.Random(1)
    rows = [entry(i, abstract=noise.randbytes(700).hex(" ")) for i in range(1000)]
    file = write_entries(tmp_path / "p.jsonl", rows)
    with library_in(disk(f"size={size}")) as library:
        with pytest.raises(StoreError, match=r"(?i)disk is full|no space left.*make room|disk failed"):
            library.import_files([file])
        stored = library.store.counts()
        assert stored.papers == stored.records
        disk("size=80m")
        library.import_files([file])
        is_whole(library, range(1000))
        assert library.import_files([file]).unchanged == 1000
    with library_in(tmp_path / "disk") as library:
        is_whole(library, range(1000))


def test_the_disk_of_the_index_is_full(disk: Callable[..., Path], tmp_path: Path) -> None:
    home = disk("size=1m")
    database = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    noise = random.Random(1)
    file = write_entries(tmp_path / "p.jsonl", [entry(i, abstract=noise.randbytes(700).hex(" ")) for i in range(900)])
    with library_in(home, database=database) as library:
        with pytest.raises(StoreError, match=r"index.*No space left on device; make room on this disk and try again"):
            library.import_files([file])
        assert library.store.counts().papers == 900  # nothing is lost, and no word of damage
        with pytest.raises(StoreError, match="make room"):
            library.rebuild_index()
        disk("size=80m")
        assert library.update_index() > 0
        is_whole(library, range(900))


def test_the_disk_of_the_vectors_is_full(
    disk: Callable[..., Path], embeddings: EmbeddingsServer, tmp_path: Path
) -> None:
    home = disk("size=30m")
    with library_in(home, embeddings.spec(), database=f"sqlite:///{tmp_path / 'elsewhere.db'}") as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", 300)])
        filler = home / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(bytes(60_000_000))
        with pytest.raises(StoreError, match=r"vectors cannot be written \(No space left on device\); make room"):
            library.encode()
        assert library.search("slow river").hits
        filler.unlink()
        library.encode()
        assert library.status().encoded == 300 and failed(library) == {}


def test_a_disk_that_can_only_be_read(disk: Callable[..., Path], tmp_path: Path) -> None:
    home = disk("size=30m")
    with library_in(home) as library:
        library.import_files([papers_file(tmp_path / "p.jsonl", 3)])
    disk("ro")
    with pytest.raises(StoreError, match=r"cannot be (opened|written)"):
        library_in(home)
    with library_in(home, read_only=True) as library:
        assert library.paper(1).title == entry(0)["title"]
        with pytest.raises(StoreError, match=r"Read-only file system.*copy the library"):
            library.search("slow river")
        assert "cannot be written" in failed(library)["folder"]
    with pytest.raises(StoreError, match="cannot be made"):
        library_in(home / "new")


# --- input


def test_bad_entries_are_refused_by_line_and_the_rest_is_kept(tmp_path: Path) -> None:
    rows: list[Any] = [
        entry(0),
        entry(1, authors=[f"Ana Lima{i}" for i in range(20_000)]),
        b'{"title": "not UTF-8: \xff\xfe"}',
        entry(2),
        b'["a", "list"]',
        b'{"title": "cut',
        b"",
        entry(3, abstract="x" * 5_000_000),
        {"id": "empty"},
        entry(4),
    ]
    with library_in(tmp_path / "home") as library:
        for file in (write_entries(tmp_path / "p.jsonl", rows), tmp_path / "p.jsonl"):
            summary = library.import_files([file])
            assert (summary.read, summary.refused, summary.merged, summary.updated) == (9, 6, 0, 0)
            assert summary.new + summary.unchanged == 3
            assert [(r.where, r.line) for r in summary.refusals] == [("p.jsonl", n) for n in (2, 3, 5, 6, 8, 9)]
            reasons = [r.reason for r in summary.refusals]
            assert reasons[0] == "authors: 20000 names, more than the 10000 allowed (setting max_authors)"
            assert reasons[1] == "not UTF-8 at byte 23 of the line; save the file as UTF-8"
            assert reasons[2] == "a list, not an object with the fields of a paper"
            assert reasons[3].startswith("not JSON (")
            assert reasons[4].endswith("more than the 4000000 allowed (setting max_entry_bytes)")
            assert reasons[5].startswith("neither title nor abstract")
        assert library.store.counts().papers == library.status().indexed == 3
        for number in (0, 2, 4):
            assert library.search(word(number)).total == 1


def test_a_file_packed_ten_times_is_refused_as_a_whole(tmp_path: Path) -> None:
    data = papers_file(tmp_path / "p.jsonl", 5).read_bytes()
    for _ in range(10):
        data = gzip.compress(data)
    (tmp_path / "ten.jsonl.gz").write_bytes(data)
    with library_in(tmp_path / "home") as library:
        with pytest.raises(InputError, match=r"ten\.jsonl\.gz: compressed twice; unpack it first"):
            library.import_files([tmp_path / "ten.jsonl.gz"])
        assert library.status().papers == 0
        (tmp_path / "once.jsonl.gz").write_bytes(gzip.compress((tmp_path / "p.jsonl").read_bytes()))
        assert library.import_files([tmp_path / "once.jsonl.gz"]).new == 5


def test_a_packed_file_that_is_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    data = gzip.compress(papers_file(tmp_path / "p.jsonl", 2000).read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(data[: len(data) // 2])
    with library_in(tmp_path / "home") as library:
        summary = library.import_files([tmp_path / "cut.jsonl.gz"])
        assert 0 < summary.new < 2000 and summary.refused == 1
        assert "cut off" in summary.refusals[0].reason
        is_whole(library, range(summary.new))


def test_files_that_hold_no_papers_change_nothing(tmp_path: Path) -> None:
    contents = {"empty.jsonl": b"", "page.html": b"<html>", "zip.jsonl": b"PK\x03\x04....", "noise": bytes(range(256))}
    with library_in(tmp_path / "home") as library:
        for name, content in contents.items():
            (tmp_path / name).write_bytes(content)
            with pytest.raises(BroadsheetError, match=f"^{name}: "):
                library.import_files([tmp_path / name])
        assert library.status().papers == 0
        library.import_files([papers_file(tmp_path / "p.jsonl", 3)])  # no lock was left behind
        is_whole(library, range(3))
