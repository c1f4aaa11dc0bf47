"""Faults that a library survives: a damaged database, full and read-only disks, bad input."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import BroadsheetError, InputError, StoreError
from tests.embeddings import EmbeddingsServer
from tests.libraries import entry, library_in, papers_file, word, write_entries
from tests.library_checks import failed, is_whole


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
