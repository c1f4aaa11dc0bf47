"""The engine, and everything in which SQLite and PostgreSQL differ: connecting, locking, lists in a query, what errors mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

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

_IMMEDIATE = "broadsheet_immediate"
_PG_DISK_FULL = "53100"
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
    """An engine for ``url``; nothing is opened yet except, for SQLite, the folder made. ``timeout``: seconds to wait for locks."""
    path = file_of(url)
    try:
        if make_url(url).get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True)
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
    address = f"file:{quote(str(path.absolute()))}?mode={'ro' if read_only else 'rwc'}"

    def connect() -> sqlite3.Connection:
        # The pool gives a connection to one thread at a time, which need not be the one that made it.
        return sqlite3.connect(address, uri=True, timeout=timeout, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1)
    _set_up_sqlite(engine, read_only)
    return engine


def _set_up_sqlite(engine: Engine, read_only: bool) -> None:
    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so, with the lock we ask for
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            # NORMAL would survive kill -9 but may take back the last commits after a power cut. The index could then hold
            # changes that the database has forgotten, and a person's judgement could be lost. FULL costs one fsync a commit,
            # and an import commits once for a thousand papers.
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA wal_autocheckpoint=8000")
        connection.execute("PRAGMA cache_size=-65536")
        connection.execute("PRAGMA temp_store=MEMORY")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_IMMEDIATE)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


@contextmanager
def transaction(engine: Engine, where: str, *, write: bool) -> Iterator[Connection]:
    """A connection in one transaction, committed at the end if ``write``. Raises StoreError and its kinds, see ``meaning``."""
    try:
        with engine.connect().execution_options(**{_IMMEDIATE: write}) as connection:
            yield connection
            if write:
                connection.commit()
    except (DBAPIError, sqlite3.Error, PoolTimeoutError) as error:
        raise meaning(error, where) from error


def any_of(connection: Connection, column: Column[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """``column IN values`` with one parameter whatever the number of values, so that a batch of any size is one query."""
    if connection.dialect.name == "sqlite":
        import orjson

        listed = func.json_each(orjson.dumps(list(values)).decode()).table_valued("value")
        return column.in_(select(listed.c.value))
    return column == any_(bindparam(None, list(values), type_=ARRAY(column.type)))


def integrity_problems(connection: Connection) -> list[str]:
    """What the database itself finds wrong with its file; PostgreSQL looks after its own files."""
    if connection.dialect.name != "sqlite":
        return []
    found = [str(row[0]) for row in connection.execute(text("PRAGMA quick_check(20)"))]
    return [] if found == ["ok"] else found


def meaning(error: Exception, where: str) -> StoreError:
    """A database error in words that say what to do."""
    original = error.orig if isinstance(error, DBAPIError) else error
    name = str(getattr(original, "sqlite_errorname", ""))
    state = str(getattr(original, "sqlstate", "") or "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or state in _PG_BUSY:
        return BusyError(f"{where}: another program is writing to the database; wait for it to end and try again")
    if name.startswith("SQLITE_FULL") or state == _PG_DISK_FULL:
        return StoreError(
            f"{where}: the disk is full; free some space and run the command again (nothing is half-written)"
        )
    if name.startswith("SQLITE_NOTADB"):
        return StoreError(f"{where}: this file is not a database; move it away or choose another one")
    if name.startswith("SQLITE_CORRUPT"):
        return StoreError(
            f"{where}: the database is damaged ({original}); restore it from a backup, or try `sqlite3 … .recover`"
        )
    if name.startswith("SQLITE_READONLY"):
        return StoreError(f"{where}: the database cannot be written; check the permissions of the file and its folder")
    if name.startswith("SQLITE_CANTOPEN"):
        return StoreError(
            f"{where}: the database cannot be opened; check that the folder exists and may be read and written"
        )
    if name.startswith("SQLITE_IOERR"):
        return StoreError(
            f"{where}: the disk failed to read or write ({original}); check free space and the disk, then try again"
        )
    return StoreError(f"{where}: {original}; run `broadsheet doctor` to check the library")
