"""The engine, and all in which SQLite and PostgreSQL differ: connecting, locks, lists in a query, what errors mean."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    URL,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    any_,
    bindparam,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from broadsheet.errors import BusyError, NotFoundError, StoreError
from broadsheet.store.lock import WriterLock, who

_IMMEDIATE = "broadsheet_immediate"
_PG_BUSY = ("55P03", "40001", "40P01", "57014")
_PG_GONE = ("57P01", "57P02", "57P03", "57P05", "08000", "08003", "08006", "25P03")
_PG_UNREACHED = "08001"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# A server that hears nothing from a machine that lost its power or its network takes back its lock in two minutes.
_KEEPALIVES = "-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6"
_RANGES = {Integer: 2**31, BigInteger: 2**63}


def file_of(url: str) -> Path | None:
    """The file of an SQLite URL; None for a server or a database in memory. Raises StoreError if it is no URL."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreError(f"{url!r} is not a database URL such as sqlite:///papers.db ({error})") from error
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database))


def place_of(url: str) -> str:
    """What messages call a database: a file, or server and name. Never a password."""
    path, parsed = file_of(url), make_url(url)
    if path or parsed.get_backend_name() == "sqlite":
        return str(path or url)
    host = parsed.host or parsed.query.get("host") or "the server of this machine"
    return f"{host}{f':{parsed.port}' if parsed.port else ''}/{parsed.database or ''}"


def make_engine(url: str, *, read_only: bool, timeout: float) -> Engine:
    """An engine for ``url``, not opened yet; SQLite's folder is made. ``timeout``: seconds to wait for locks."""
    path = file_of(url)
    kind = make_url(url).drivername
    if kind in ("postgres", "postgresql", "postgresql+psycopg"):
        return _postgresql_engine(make_url(url).set(drivername="postgresql+psycopg"))
    if kind.split("+")[0] != "sqlite":
        raise StoreError(f"{kind}: no database that Broadsheet knows; use sqlite:///FILE or postgresql+psycopg://…")
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


def _postgresql_engine(url: URL) -> Engine:
    options = url.query.get("options", "")
    arguments = {
        "application_name": who().encode("ascii", "replace").decode()[:63],
        "connect_timeout": url.query.get("connect_timeout", "10"),
        "options": " ".join([*([options] if isinstance(options, str) else options), _KEEPALIVES]).strip(),
    }
    try:
        # Several questions of one transaction see the same state, as with SQLite. Who writes has the lock before the
        # transaction begins, so two that write never clash.
        return create_engine(
            url,
            **{"pool_size": 8, "max_overflow": 12, "pool_pre_ping": True},
            isolation_level="REPEATABLE READ",
            connect_args=arguments,
        )
    except (ImportError, NoSuchModuleError) as error:
        raise StoreError(
            f"the driver for PostgreSQL is not installed ({error}): pip install 'broadsheet[postgresql]'"
        ) from error


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
def transaction(engine: Engine, where: str, *, write: bool, lock: WriterLock | None = None) -> Iterator[Connection]:
    """A connection in one transaction, committed at the end if ``write``; that of the writer's ``lock`` if it has one.

    Raises StoreError and its kinds, see ``meaning``.
    """
    with _translated(where), ExitStack() as stack:
        connection = lock.connection if lock else None
        if connection is None:
            connection = stack.enter_context(engine.connect().execution_options(**{_IMMEDIATE: write}))
        try:
            yield connection
            if write:
                connection.commit()
        finally:
            connection.rollback()


def check_fit(connection: Connection, where: str) -> None:
    """Raise StoreError for a database that cannot hold every text."""
    if connection.dialect.name == "sqlite":
        return
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise StoreError(
            f"{where}: this database keeps texts as {encoding}, which cannot hold all of them; make another one: "
            "createdb --template=template0 --encoding=UTF8 NAME"
        )


def any_of(connection: Connection, column: Column[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """``column IN values`` with one parameter, so that a batch of any size is one query.

    Values that no database can hold in the column are left out: nothing is equal to them.
    """
    end = next((end for kind, end in _RANGES.items() if type(column.type) is kind), 0)
    if end:
        listed: list[Any] = [number for number in map(int, values) if -end <= number < end]
    else:
        listed = [value for value in values if not _UNSTORABLE.search(value)]
    if connection.dialect.name == "sqlite":
        table = func.json_each(orjson.dumps(listed).decode()).table_valued("value")
        return column.in_(select(table.c.value))
    return column == any_(bindparam(None, listed, type_=ARRAY(column.type)))


def integrity_problems(connection: Connection) -> list[str]:
    """What the database itself finds wrong with its file; PostgreSQL looks after its own files."""
    if connection.dialect.name != "sqlite":
        return []
    found = [str(row[0]) for row in connection.execute(text("PRAGMA quick_check(20)"))]
    return [] if found == ["ok"] else found


_WRITING = "another program is writing to the database; wait for it to end and try again"
_MEANINGS: tuple[tuple[str, tuple[str, ...], type[StoreError], str], ...] = (
    # SQLite's error names begin with, PostgreSQL's states are, class, message
    ("SQLITE_BUSY", _PG_BUSY, BusyError, _WRITING),
    ("SQLITE_LOCKED", (), BusyError, _WRITING),
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
        (),
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
    (
        "-",
        ("25006",),
        StoreError,
        "the server takes no writes; it may be a standby, or the database or its user set to reading only",
    ),
    (
        "-",
        ("42501",),
        StoreError,
        "the database's user may not do this ({}); make it the owner: ALTER DATABASE … OWNER TO …",
    ),
    (
        "-",
        _PG_GONE,
        StoreError,
        "the connection to the database server broke ({}); check that it runs. What was under way is kept whole or not "
        "at all: do it again",
    ),
    (
        "-",
        (_PG_UNREACHED,),
        StoreError,
        "no connection to the database server ({}); check that it runs and that the setting `database` is right",
    ),
)


def meaning(error: Exception, where: str) -> StoreError:
    """A database error in words that say what to do."""
    original = error.orig if isinstance(error, DBAPIError) else error
    name = str(getattr(original, "sqlite_errorname", ""))
    state = str(getattr(original, "sqlstate", None) or getattr(original, "pgcode", None) or "")
    if not name and not state and isinstance(error, OperationalError):  # no server spoke, or it hung up
        state = _PG_GONE[0] if error.connection_invalidated else _PG_UNREACHED
    fitting = ((kind, text) for prefix, states, kind, text in _MEANINGS if name.startswith(prefix) or state in states)
    kind, message = next(fitting, (StoreError, "{}; run `broadsheet doctor` to check the library"))
    return kind(f"{where}: {message.format(' '.join(str(original).split()))}")
