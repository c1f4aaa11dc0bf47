"""One writer at a time, and a name to the one who has the lock.

For SQLite a lock of the operating system beside the database file; for PostgreSQL an advisory lock of the server. Both
end with their process, however that ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from broadsheet.errors import BusyError, StoreError

_POLL = 0.02  # seconds
_SERVER_KEY = {"key": 0x62726F6164736865}  # "broadshe"
_LOCK_NOT_AVAILABLE = "55P03"


def who() -> str:
    """This process, for people who wait for it."""
    command = " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])
    said = command.encode("utf-8", "replace").decode()  # names of files may hold bytes that are no text
    return f"process {os.getpid()} ({said[:200]})"


def _busy(holder: str) -> BusyError:
    return BusyError(f"{holder} is writing to the library; wait for it to end and try again")


class ProcessLock(Protocol):
    """A lock between processes."""

    def acquire(self, timeout: float) -> None:
        """Take the lock. Raises BusyError, naming the holder, after ``timeout`` seconds."""

    def release(self) -> None:
        """Give it back."""

    @property
    def connection(self) -> Connection | None:
        """What the holder writes through; None where any connection will do."""


class FolderLock:
    """A lock beside a file. The holder's name stands in a second file: Windows lets nobody read a locked one."""

    def __init__(self, path: Path) -> None:
        self._file = FileLock(f"{path}.lock", thread_local=False, poll_interval=_POLL)
        self._name = Path(f"{path}.writer")

    def acquire(self, timeout: float) -> None:
        """See ProcessLock. Raises StoreError where no lock file can be made."""
        try:
            self._file.acquire(timeout=timeout)
        except Timeout as error:
            raise _busy(self._holder()) from error
        except OSError as error:
            raise StoreError(
                f"{self._file.lock_file}: cannot be locked ({error}); check the folder and its space"
            ) from error
        with suppress(OSError):  # on a full disk the lock holds all the same, without a name
            self._name.write_text(who(), "utf-8")

    def release(self) -> None:
        """See ProcessLock."""
        with suppress(OSError):  # as above: without the file's end the lock would never be free again
            self._name.unlink(missing_ok=True)
        self._file.release()

    @property
    def connection(self) -> None:
        """See ProcessLock."""

    def _holder(self) -> str:
        try:
            return self._name.read_text("utf-8") or "another process"
        except OSError:  # not written yet, or just removed
            return "another process"


class ServerLock:
    """An advisory lock in a PostgreSQL server, held by a connection of its own, through which the holder writes.

    So where that connection breaks, the server takes back both the lock and what was being written: it never lets
    another write while the first goes on.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection | None:
        """See ProcessLock. Raises StoreError where the connection that held the lock broke."""
        if self._connection is not None and self._connection.invalidated:
            raise StoreError(
                "the connection to the database server broke while writing; what was written before is kept, so check "
                "that the server runs and do the rest again"
            )
        return self._connection

    def acquire(self, timeout: float) -> None:
        """See ProcessLock."""
        connection = self._engine.connect()
        try:
            if not _taken(connection, timeout):
                with connection.begin():
                    raise _busy(self._holder(connection))
        except BusyError:
            connection.close()
            raise
        except BaseException:
            connection.invalidate()  # whether it has the lock is not known; without it, it cannot
            connection.close()
            raise
        self._connection = connection

    def release(self) -> None:
        """See ProcessLock."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not connection.invalidated:
                with connection.begin():
                    connection.execute(text("SELECT pg_advisory_unlock(:key)"), _SERVER_KEY)
        except DBAPIError:
            connection.invalidate()  # the lock ends with its connection
        except BaseException:
            connection.invalidate()
            raise
        finally:
            connection.close()

    def _holder(self, connection: Connection) -> str:
        asked = text(
            "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32 | l.objid::bigint) = :key"
            " AND a.datname = current_database() AND l.database = a.datid"
        )
        return connection.scalar(asked, _SERVER_KEY) or "another process"


def _taken(connection: Connection, timeout: float) -> bool:
    """Whether the server gave the lock within ``timeout`` seconds. Those who wait have it in the order they came."""
    try:
        with connection.begin():
            if connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), _SERVER_KEY):
                return True
            patience = {"patience": f"{max(int(timeout * 1000), 1)}ms"}
            connection.execute(text("SELECT set_config('lock_timeout', :patience, true)"), patience)
            connection.execute(text("SELECT pg_advisory_lock(:key)"), _SERVER_KEY)
            return True
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            return False
        raise


class WriterLock:
    """A lock that is re-entrant within a thread and excludes other threads and, by ``outer``, other processes."""

    def __init__(self, outer: ProcessLock, timeout: float) -> None:
        self.timeout = timeout
        self._threads = threading.RLock()
        self._depth = 0
        self._outer = outer

    @property
    def connection(self) -> Connection | None:
        """What its holder writes through, see ProcessLock."""
        return self._outer.connection

    @contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the lock. Raises BusyError after ``timeout`` seconds, StoreError where no lock can be made."""
        patience = max(self.timeout if timeout is None else timeout, 0)
        deadline = time.monotonic() + patience
        if not self._threads.acquire(timeout=patience):
            raise _busy(f"another part of {who()}")
        try:
            if self._depth == 0:
                self._outer.acquire(max(deadline - time.monotonic(), 0))
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._outer.release()
        finally:
            self._threads.release()
