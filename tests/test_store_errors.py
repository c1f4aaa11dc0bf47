"""What the store says when the database is locked, full, damaged, closed, another's, of another version, or missing."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from broadsheet.errors import BroadsheetError, BusyError, NotFoundError, StoreError
from broadsheet.model import JudgementKind, Paper, SourceStatus
from broadsheet.model.reading import Action, Profile
from broadsheet.model.screening import Plan, ReviewEventKind
from broadsheet.store import PaperWrite, ReaderStore, ScreeningStore, Store, WriteBatch, open_store, schema
from broadsheet.store.database import any_of
from tests.makers import NOW, identifier, put, record, write
from tests.reading_makers import TODAY, edition, reader
from tests.reading_makers import event as done
from tests.review_makers import decision, pool, review_event
from tests.shared import ROOT

URL = "sqlite:///{}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "papers.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(URL.format(path), timeout=0.2) as opened:
        write(opened, record("A", "2401.00001", key="a"), record("B", key="b"))
        opened.reading.add_reader(reader())
        opened.screening.add_review("Statins", Plan(), NOW)
        opened.screening.add_records(1, pool(2), review_event(ReviewEventKind.ADD))
        yield opened


READS: dict[str, Callable[[Store], object]] = {
    "known_records": lambda s: s.known_records("test", ["a"]),
    "records_of": lambda s: s.records_of([1]),
    "records_with_keys": lambda s: s.records_with_keys([("test", "a")]),
    "record": lambda s: s.record(1),
    "iterate_records": lambda s: list(s.iterate_records()),
    "papers": lambda s: s.papers([1]),
    "resolve": lambda s: s.resolve(1),
    "papers_with_identifiers": lambda s: s.papers_with_identifiers([identifier("2401.00001")]),
    "claimants": lambda s: s.claimants([identifier("2401.00001")]),
    "papers_with_keys": lambda s: s.papers_with_keys(["title:A"]),
    "newest": lambda s: s.newest(5),
    "newest_ids": lambda s: s.newest_ids(),
    "days": lambda s: s.days(5),
    "iterate_papers": lambda s: list(s.iterate_papers()),
    "text_digests": lambda s: s.text_digests(),
    "changes_since": lambda s: s.changes_since(0, 5),
    "last_seq": lambda s: s.last_seq(),
    "sources": lambda s: s.sources(),
    "counts": lambda s: s.counts(),
    "judgements": lambda s: s.judgements(),
    "import_progress": lambda s: s.import_progress("x"),
    "source_states": lambda s: s.source_states(),
    "lookups": lambda s: s.lookups("crossref", [identifier("10.1000/x")]),
    "problems": lambda s: s.problems(),
    "reading.readers": lambda s: s.reading.readers(),
    "reading.reader": lambda s: s.reading.reader("me"),
    "reading.reader_by_secret": lambda s: s.reading.reader_by_secret("secret of me"),
    "reading.events": lambda s: s.reading.events("me"),
    "reading.events_of": lambda s: s.reading.events_of("me", [1]),
    "reading.last_event": lambda s: s.reading.last_event("me"),
    "reading.events_with_reason": lambda s: s.reading.events_with_reason("me"),
    "reading.newest_events": lambda s: s.reading.newest_events("me", [Action.SAVE], 5),
    "reading.edition": lambda s: s.reading.edition("me", TODAY),
    "reading.last_edition": lambda s: s.reading.last_edition("me"),
    "reading.edition_days": lambda s: s.reading.edition_days("me"),
    "reading.editions_between": lambda s: s.reading.editions_between("me", TODAY, TODAY),
    "reading.shown": lambda s: s.reading.shown("me", [1]),
    "reading.shown_log": lambda s: s.reading.shown_log("me"),
    "reading.deliveries": lambda s: s.reading.deliveries("me", TODAY),
    "reading.newest_paper": lambda s: s.reading.newest_paper(),
    "reading.candidates": lambda s: s.reading.candidates(None, TODAY, 0, TODAY, 5),
    "reading.recent_papers": lambda s: s.reading.recent_papers(5),
    "screening.reviews": lambda s: s.screening.reviews(),
    "screening.review": lambda s: s.screening.review("Statins"),
    "screening.count": lambda s: s.screening.count(1),
    "screening.records": lambda s: list(s.screening.records(1)),
    "screening.records by number": lambda s: list(s.screening.records(1, [2])),
    "screening.events": lambda s: s.screening.events(1),
}
WRITES: dict[str, Callable[[Store], object]] = {
    "write": lambda s: write(s, record("C")),
    "add_judgement": lambda s: s.add_judgement(JudgementKind.SPLIT, ("test", "a"), ("test", "b"), now=NOW),
    "set_source_state": lambda s: s.set_source_state("arxiv:cs.LG", "cursor", SourceStatus("arxiv:cs.LG")),
    "add_lookups": lambda s: s.add_lookups("crossref", [identifier("10.1000/x")], NOW),
    "reading.add_reader": lambda s: s.reading.add_reader(reader("you")),
    "reading.set_profile": lambda s: s.reading.set_profile("me", Profile(risk=0.2)),
    "reading.set_secret": lambda s: s.reading.set_secret("me", "new"),
    "reading.remove_reader": lambda s: s.reading.remove_reader("me"),
    "reading.add_event": lambda s: s.reading.add_event(done()),
    "reading.add_events": lambda s: s.reading.add_events([done()]),
    "reading.add_edition": lambda s: s.reading.add_edition(edition(1)),
    "reading.claim_delivery": lambda s: s.reading.claim_delivery("me", TODAY, "email", now=NOW),
    "reading.add_delivery": lambda s: s.reading.add_delivery("me", TODAY, "email", "sent", "", now=NOW),
    "screening.add_review": lambda s: s.screening.add_review("Aspirin", Plan(), NOW),
    "screening.import_review": lambda s: s.screening.import_review("Aspirin", Plan(), NOW, pool(3), []),
    "screening.remove_review": lambda s: s.screening.remove_review(1),
    "screening.add_records": lambda s: s.screening.add_records(
        1, pool(2, first=s.screening.count(1) + 1), review_event(ReviewEventKind.ADD)
    ),
    "screening.add_event": lambda s: s.screening.add_event(decision(1)),
    "screening.add_events": lambda s: s.screening.add_events(1, [decision(1), decision(2)]),
}
OTHERS = {"check_writable", "close", "writing"}


def test_every_method_is_in_these_tables() -> None:
    def methods(of: type, prefix: str = "") -> set[str]:
        return {f"{prefix}{name}" for name, value in vars(of).items() if callable(value) and not name.startswith("_")}

    every = methods(Store) | methods(ReaderStore, "reading.") | methods(ScreeningStore, "screening.")
    assert every == {name.split(" ")[0] for name in (*READS, *WRITES, *OTHERS)}


@pytest.mark.parametrize("name", [*READS, *WRITES])
def test_closed(store: Store, name: str) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        {**READS, **WRITES}[name](store)


@pytest.mark.parametrize("name", [*READS, *WRITES])
def test_locked_by_another_program(store: Store, path: Path, name: str) -> None:
    store.engine.dispose()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE counters SET value = value")
    other.execute("COMMIT")
    try:
        with pytest.raises(BusyError, match="another program"):
            {**READS, **WRITES}[name](store)
    finally:
        other.close()
    {**READS, **WRITES}[name](store)


@pytest.mark.parametrize("name", READS)
def test_reading_goes_on_while_another_program_writes(store: Store, path: Path, name: str) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE counters SET value = 99")
    READS[name](store)
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.parametrize("name", WRITES)
def test_writing_waits_for_another_program_and_then_says_so(store: Store, path: Path, name: str) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="another program"):
        WRITES[name](store)
    other.close()
    assert store.counts().papers == 2


@pytest.mark.parametrize("name", WRITES)
def test_opened_for_reading_only(store: Store, path: Path, name: str) -> None:
    with open_store(URL.format(path), read_only=True) as reader:
        assert reader.counts().papers == 2
        with pytest.raises(StoreError, match="reading only"):
            WRITES[name](reader)
        with pytest.raises(StoreError, match="reading only"), reader.writing():
            pass


def test_a_reader_sees_what_another_store_writes(store: Store, path: Path) -> None:
    with open_store(URL.format(path), read_only=True) as reader:
        write(store, record("C"))
        assert reader.counts().papers == 3


def test_reading_only_makes_nothing(path: Path) -> None:
    with pytest.raises(NotFoundError, match="no library at"):
        open_store(URL.format(path), read_only=True)
    assert list(path.parent.iterdir()) == []
    path.touch()
    with pytest.raises(NotFoundError, match="empty database"):
        open_store(URL.format(path), read_only=True)


@pytest.mark.parametrize("content", [b"hello world " * 1000, b"\x00" * 5000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_not_a_database(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=rf"{path.name}.*(not a database|damaged|cannot be opened)"):
        open_store(URL.format(path))
    assert path.read_bytes() == content


def test_database_of_another_program_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"another program.*bookmarks"):
        open_store(URL.format(path))
    assert before[100:] == path.read_bytes()[100:]  # all but the header, which says that it was opened with a journal


def test_newer_version_is_refused(store: Store, path: Path) -> None:
    store.close()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.close()
    with pytest.raises(StoreError, match="newer version of Broadsheet"):
        open_store(URL.format(path))
    with pytest.raises(StoreError, match="another version"):
        open_store(URL.format(path), read_only=True)


@pytest.mark.parametrize("url", ["", "papers.db", "sqlite://", "sqlite:///:memory:", "nosuchdb://x/y"])
def test_addresses_that_cannot_be_opened(url: str) -> None:
    with pytest.raises(StoreError):
        open_store(url)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(URL.format(tmp_path / "file" / "papers.db"))


def test_password_is_not_in_messages() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql+psycopg2://me:secret@localhost:1/db")
    assert "secret" not in str(caught.value)


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for start in range(len(data) // 2 // 4096 * 4096, len(data), 4096):  # the first pages are the roots of the tables
        data[start : start + 2000] = b"\xaa" * 2000
    path.write_bytes(data)


def test_damaged_file(path: Path) -> None:
    with open_store(URL.format(path)) as store:
        write(store, *(record(f"P{i}", abstract="x" * 500) for i in range(200)))
    damage(path)
    with open_store(URL.format(path)) as store:
        with pytest.raises(StoreError, match=r"papers\.db.*damaged.*backup"):
            list(store.iterate_papers())
        assert store.problems()


def test_damaged_record(store: Store, path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("UPDATE records SET content = x'00112233' WHERE id = 1")
    other.close()
    with pytest.raises(StoreError, match="damaged"):
        store.record(1)
    assert store.record(2) is not None


def test_disk_full_loses_nothing(store: Store) -> None:
    put(store, record("Kept before the disk was full", key="kept"))
    pages: list[int] = []

    def limit(connection: sqlite3.Connection, _: object) -> None:
        [[now]] = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count={now + 5}")
        pages.append(now)

    event.listen(store.engine, "connect", limit)
    store.engine.dispose()
    before = store.counts()
    big = [
        record(f"Number {i} of many papers that are too much", abstract="x" * 3000, key=f"big{i}") for i in range(300)
    ]
    with pytest.raises(StoreError, match=r"disk is full.*free some space"):
        put(store, *big)
    assert pages
    assert store.counts() == before
    event.remove(store.engine, "connect", limit)
    store.engine.dispose()
    assert store.problems() == []
    assert put(store, *big).new == 300


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a file system here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def test_library_on_a_disk_that_cannot_be_written(small_disk: Path) -> None:
    url = URL.format(small_disk / "papers.db")
    with open_store(url) as store:
        write(store, record("A"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with open_store(url, read_only=True) as store:
        assert [p.title for p in store.iterate_papers()] == ["A"]
    with pytest.raises(StoreError, match=r"cannot be (opened|written)"):
        open_store(url)


def test_file_system_full_loses_nothing(small_disk: Path) -> None:
    url = URL.format(small_disk / "papers.db")
    with open_store(url) as store:
        stored = 0
        with pytest.raises(StoreError, match=r"disk is full|disk failed|cannot be written"):
            for i in range(100):
                noise = os.urandom(20_000).hex()
                put(store, record(f"Paper number {i} with a long name", raw=noise, key=str(i)))
                stored += 1
        assert stored > 3
        assert store.counts().records == stored
    with open_store(url) as store:
        assert [r.record.key for r in store.iterate_records()] == [str(i) for i in range(stored)]
        assert store.problems() == []


HOLDER = """
import sys
from broadsheet.store import open_store
with open_store(sys.argv[1]) as store, store.writing():
    print("ready", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is writing to the library."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", HOLDER, URL.format(path), "import", "big.jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


@pytest.mark.parametrize("name", WRITES)
def test_second_writer_is_told_who_the_first_is(store: Store, holder: subprocess.Popen[str], name: str) -> None:
    begun = time.monotonic()
    with pytest.raises(BusyError, match=rf"process {holder.pid} \(-c .*import big\.jsonl\) is writing"):
        WRITES[name](store)
    assert 0.15 < time.monotonic() - begun < 60
    assert store.counts().papers == 2  # reading goes on
    with pytest.raises(BusyError):
        put(store, record("C"))


def test_lock_ends_with_its_process_however_it_ends(store: Store, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    write(store, record("C"))
    assert store.counts().papers == 3


def test_second_process_may_open_a_new_library_only_when_the_first_is_done(
    path: Path, holder: subprocess.Popen[str]
) -> None:
    with open_store(URL.format(path), timeout=0.1) as opened:  # the tables are there, so nothing needs writing
        assert opened.counts().papers == 0


def test_lock_is_held_by_one_thread_and_can_be_taken_again_in_it(store: Store) -> None:
    import threading

    caught: list[BaseException] = []

    def other() -> None:
        try:
            WRITES["write"](store)
        except BusyError as error:
            caught.append(error)

    with store.writing(), store.writing():
        WRITES["write"](store)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    [error] = caught
    assert "another part of process" in str(error)
    WRITES["write"](store)


def test_lock_file_that_cannot_be_written(store: Store, path: Path) -> None:
    Path(f"{path}.lock").unlink()
    Path(f"{path}.lock").mkdir()
    with pytest.raises(StoreError, match=r"\.lock: cannot be locked"):
        WRITES["write"](store)
    Path(f"{path}.lock").rmdir()
    WRITES["write"](store)


def test_a_lock_whose_holder_cannot_leave_its_name_holds_all_the_same(store: Store, path: Path) -> None:
    """As on a full disk."""
    Path(f"{path}.writer").mkdir()
    with open_store(f"sqlite:///{path}", timeout=0) as other:
        with store.writing(), pytest.raises(BusyError, match="another process is writing"):
            WRITES["write"](other)
        WRITES["write"](other)  # given back, though the name could not be taken away
    Path(f"{path}.writer").rmdir()
    WRITES["write"](store)


def test_opening_does_not_load_alembic(path: Path) -> None:
    code = (
        "import sys; from broadsheet.store import open_store\n"
        "for _ in range(2): open_store(sys.argv[1]).close()\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('alembic', 'tantivy', 'numpy', 'faiss')])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code, URL.format(path)], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "[]\n"


def test_tables_are_valid_for_postgresql() -> None:
    made = "".join(str(CreateTable(t).compile(dialect=postgresql.dialect())) for t in schema.metadata.sorted_tables)
    made += "".join(
        str(CreateIndex(i).compile(dialect=postgresql.dialect()))
        for t in schema.metadata.sorted_tables
        for i in t.indexes
    )
    assert "ROWID" not in made
    assert made.count("CREATE TABLE") == len(schema.metadata.tables)
    assert "id BIGINT NOT NULL" in made


def test_lists_are_one_parameter_in_postgresql() -> None:
    class Connection:
        dialect = postgresql.dialect()

    clause = any_of(Connection(), schema.papers.c.id, [1, 2, 3])  # type: ignore[arg-type]
    compiled = clause.compile(dialect=postgresql.dialect())
    assert str(compiled).startswith("papers.id = ANY (")
    assert list(compiled.params.values()) == [[1, 2, 3]]


def test_all_errors_are_of_one_family(store: Store) -> None:
    store.close()
    with pytest.raises(BroadsheetError):
        store.write(WriteBatch(NOW, papers=[PaperWrite(Paper(-1, "x"))]))
