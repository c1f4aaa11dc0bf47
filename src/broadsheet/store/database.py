"""The engine, and all in which SQLite and PostgreSQL differ: connecting, locks, lists in a query, what errors mean."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Engine,
    any_,
    bindparam,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from broadsheet.errors import BusyError, NotFoundError, StoreError
from broadsheet.store.lock import WriterLock, who

_IMMEDIATE = "broadsheet_immediate"
_PG_BUSY = ("55P03", "40001", "40P01", "57014")


def file_of(url: str) -> Path | None:
    """The file of an SQLite URL; None for a server or a database in memory. Raises StoreError if it is no URL."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreError(f"{url!r} is not a database URL such as sqlite:///papers.db ({error})") from error
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database))


def make_engine(url: str, *, read_only: bool, timeout: float) -> Engine:
    """An engine for ``url``, not opened yet; SQLite's folder is made. ``timeout``: seconds to wait for locks."""
    path = file_of(url)
    try:
        if make_url(url).get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True, connect_args={"application_name": who()[:63]})
    except (ImportError, NoSuchModuleError) as error:
        raise StoreError(
            f"no driver for this database is installed ({error}); for PostgreSQL: pip install psycopg"
        ) from error
    if path is None:
        raise StoreError(f"{url!r} names no file; a library needs one, such as sqlite:///papers.db")
    if read_only:
        if not path.is_file():
            raise NotFoundError(f"no library at {path}; import something first")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    address = _address(path.absolute(), read_only)

    def connect() -> sqlite3.Connection:
        # The pool gives a connection to one thread at a time, which need not be the one that made it.
        return sqlite3.connect(address, uri=True, timeout=timeout, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1)
    _set_up_sqlite(engine, read_only)
    return engine


def _address(path: Path, read_only: bool) -> str:
    if not read_only:
        return f"{path.as_uri()}?mode=rwc"
    # Readers of a WAL database share a file beside it. Where none can be made, nobody writes either.
    fixed = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.as_uri()}?mode=ro{'&immutable=1' if fixed else ''}"


def _set_up_sqlite(engine: Engine, read_only: bool) -> None:
    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so, with the lock we ask for
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            # NORMAL would survive kill -9 but may take back the last commits after a power cut. The index could then
            # hold changes that the database has forgotten, and a person's judgement could be lost. FULL costs one fsync
            # a commit, and an import commits once for a thousand papers.
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA wal_autocheckpoint=8000")
        connection.execute("PRAGMA cache_size=-65536")
        connection.execute("PRAGMA temp_store=MEMORY")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_IMMEDIATE)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


@contextmanager
def hold(lock: WriterLock, where: str, timeout: float | None = None) -> Iterator[None]:
    """Hold a writer lock; what a server says meanwhile becomes one of our errors."""
    with _translated(where), lock.hold(timeout):
        yield


@contextmanager
def _translated(where: str) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error, PoolTimeoutError) as error:
        raise meaning(error, where) from error


@contextmanager
def transaction(engine: Engine, where: str, *, write: bool) -> Iterator[Connection]:
    """A connection in one transaction, committed at the end if ``write``.

    Raises StoreError and its kinds, see ``meaning``.
    """
    with _translated(where), engine.connect().execution_options(**{_IMMEDIATE: write}) as connection:
        yield connection
        if write:
            connection.commit()


def any_of(connection: Connection, column: Column[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """``column IN values`` with one parameter, so that a batch of any size is one query."""
    if connection.dialect.name == "sqlite":
        listed = func.json_each(orjson.dumps(list(values), option=orjson.OPT_SERIALIZE_NUMPY).decode()).table_valued(
            "value"
        )
        return column.in_(select(listed.c.value))
    return column == any_(bindparam(None, list(values), type_=ARRAY(column.type)))


def integrity_problems(connection: Connection) -> list[str]:
    """What the database itself finds wrong with its file; PostgreSQL looks after its own files."""
    if connection.dialect.name != "sqlite":
        return []
    found = [str(row[0]) for row in connection.execute(text("PRAGMA quick_check(20)"))]
    return [] if found == ["ok"] else found


_MEANINGS: tuple[tuple[str, tuple[str, ...], type[StoreError], str], ...] = (
    # SQLite's error names begin with, PostgreSQL's states are, class, message
    (
        "SQLITE_BUSY",
        _PG_BUSY,
        BusyError,
        "another program is writing to the database; wait for it to end and try again",
    ),
    ("SQLITE_LOCKED", (), BusyError, "another program is writing to the database; wait for it to end and try again"),
    (
        "SQLITE_FULL",
        ("53100",),
        StoreError,
        "the disk is full; free some space and try again (nothing is half-written)",
    ),
    ("SQLITE_NOTADB", (), StoreError, "this file is not a database; move it away or choose another one"),
    ("SQLITE_CORRUPT", ("XX001", "XX002"), StoreError, "the database is damaged ({}); restore it from a backup"),
    (
        "SQLITE_READONLY",
        ("25006",),
        StoreError,
        "the database cannot be written; check the permissions of file and folder",
    ),
    (
        "SQLITE_CANTOPEN",
        (),
        StoreError,
        "the database cannot be opened; check that its folder exists and may be written",
    ),
    ("SQLITE_IOERR", (), StoreError, "the disk failed to read or write ({}); check the disk and its free space"),
)


def meaning(error: Exception, where: str) -> StoreError:
    """A database error in words that say what to do."""
    original = error.orig if isinstance(error, DBAPIError) else error
    name = str(getattr(original, "sqlite_errorname", ""))
    state = str(getattr(original, "sqlstate", None) or getattr(original, "pgcode", None) or "")
    fitting = ((kind, text) for prefix, states, kind, text in _MEANINGS if name.startswith(prefix) or state in states)
    kind, message = next(fitting, (StoreError, "{}; run `broadsheet doctor` to check the library"))
    return kind(f"{where}: {message.format(original)}")
