"""The store on a PostgreSQL server: all tests of the store that do not concern a file, and the server's own locks.

A server is started for the tests where its programs and the driver are installed.
"""

from __future__ import annotations

import inspect as signatures
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from broadsheet.errors import BusyError, StoreError
from broadsheet.ingest import merge_papers, split_record
from broadsheet.store import Store, open_store
from broadsheet.store.database import transaction
from broadsheet.store.migrate import run_migrations
from tests import (
    test_store,
    test_store_reading,
    test_store_reading_crash,
    test_store_screening,
    test_store_screening_crash,
)
from tests.makers import NOW, put, record, write
from tests.shared import ROOT

pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
PROGRAMS = shutil.which("initdb"), shutil.which("pg_ctl")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(None in PROGRAMS or sys.platform != "linux", reason="no PostgreSQL server to start"),
]

full = test_store_reading.full
PORTABLE = (
    *(test_store, test_store_reading, test_store_reading_crash),
    *(test_store_screening, test_store_screening_crash),
)
for _portable in PORTABLE:
    for _name, _test in vars(_portable).items():
        if _name.startswith("test_") and {"store", "full"} & signatures.signature(_test).parameters.keys():
            assert _name not in globals(), f"two tests have the name {_name}"
            globals()[_name] = _test


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a server that runs for these tests, without the name of a database."""
    with socket.socket() as free, tempfile.TemporaryDirectory() as folder:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        as_user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            as_user = ["runuser", "-u", "nobody", "--"]
            shutil.chown(folder, "nobody")
        data, log = f"{folder}/data", f"{folder}/log"
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"

        def run(*command: str) -> None:
            subprocess.run([*as_user, *command], check=True, stdout=subprocess.DEVNULL, cwd=folder)

        run("initdb", "-D", data, "-A", "trust", "-U", "me")
        run("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start")
        yield f"postgresql+psycopg://me@127.0.0.1:{port}/"
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of a new database."""
    name = f"t{abs(hash(request.node.nodeid))}"
    admin = create_engine(f"{server}postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        yield f"{server}{name}"
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    admin.dispose()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url, timeout=0.3) as opened:
        yield opened


def test_importing_judging_and_opening_again(url: str) -> None:
    with open_store(url) as library:
        put(library, record("Sparse Maps", "2401.00001", key="a"), record("", "2401.00001", abstract="Same.", key="b"))
        assert library.counts().papers == 1
        new = split_record(library, 2, now=NOW)
        merge_papers(library, new, 1, now=NOW)
    with open_store(url, read_only=True) as library:
        assert library.papers([new])[new].id == 1
        assert library.problems() == []
        with pytest.raises(StoreError, match="reading only"):
            write(library, record("C"))


def test_migrations_make_the_same_tables(server: str, url: str) -> None:
    def tables(address: str) -> dict[str, object]:
        engine = create_engine(address)
        seen = inspect(engine)
        found = {
            table: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(table)],
                sorted((i["name"], tuple(i["column_names"]), i["unique"]) for i in seen.get_indexes(table)),
            )
            for table in seen.get_table_names()
        }
        engine.dispose()
        return found

    engine = create_engine(url)
    with transaction(engine, "scratch", write=True) as connection:
        run_migrations(connection, "scratch")
    migrated = tables(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    engine.dispose()
    open_store(url).close()
    assert tables(url) == migrated
    assert len(migrated) == 21


HOLDER = """
import sys
import tempfile
from broadsheet.store import open_store
with open_store(sys.argv[1]) as store, store.writing():
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_second_writer_is_told_who_the_first_is(store: Store, url: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER, url], env=environment, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(BusyError, match=rf"process {process.pid} \(-c .* is writing"):
            write(store, record("B"))
        assert store.counts().papers == 0
        process.kill()
    write(store, record("B"))
    assert store.counts().papers == 1


def test_lock_is_given_back_after_each_write(store: Store, url: str) -> None:
    with open_store(url, timeout=0.3) as other:
        for _ in range(3):
            write(store, record("A"))
            write(other, record("B"))
        assert [p.id for p in other.iterate_papers()] == [1, 2, 3, 4, 5, 6]


def test_server_that_is_gone(server: str) -> None:
    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1/"):
        open_store("postgresql+psycopg://me:secret@127.0.0.1:1/x")


def test_connections_closed_by_the_server_are_made_again(store: Store, server: str, tmp_path: Path) -> None:
    write(store, record("A"))
    admin = create_engine(f"{server}postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 't%%'")
    admin.dispose()
    assert store.counts().papers == 1
