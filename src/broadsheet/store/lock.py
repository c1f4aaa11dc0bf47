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
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, text

from broadsheet.errors import BusyError, StoreError

_POLL = 0.02  # seconds
_SERVER_KEY = {"key": 0x62726F6164736865}  # "broadshe"


def who() -> str:
    """This process, for people who wait for it."""
    command = " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])
    return f"process {os.getpid()} ({command[:200]})"


def _busy(holder: str) -> BusyError:
    return BusyError(f"{holder} is writing to the library; wait for it to end and try again")


class ProcessLock(Protocol):
    """A lock between processes."""

    def acquire(self, timeout: float) -> None:
        """Take the lock. Raises BusyError, naming the holder, after ``timeout`` seconds."""

    def release(self) -> None:
        """Give it back."""


class FolderLock:
    """A lock beside a file. The holder's name stands in a second file: Windows lets nobody read a locked one."""

    def __init__(self, path: Path) -> None:
        self._file = FileLock(f"{path}.lock", thread_local=False, poll_interval=_POLL)
        self._name = Path(f"{path}.writer")

    def acquire(self, timeout: float) -> None:
        """See ProcessLock. Raises StoreError where no lock file can be made."""
        try:
            self._file.acquire(timeout=timeout)
            self._name.write_text(who(), "utf-8")
        except Timeout as error:
            raise _busy(self._holder()) from error
        except OSError as error:
            self._file.release()
            raise StoreError(f"{self._name}: cannot be written ({error}); check the folder and its space") from error

    def release(self) -> None:
        """See ProcessLock."""
        self._name.unlink(missing_ok=True)
        self._file.release()

    def _holder(self) -> str:
        try:
            return self._name.read_text("utf-8") or "another process"
        except OSError:  # not written yet, or just removed
            return "another process"


class ServerLock:
    """An advisory lock in a PostgreSQL server, held by a connection of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def acquire(self, timeout: float) -> None:
        """See ProcessLock."""
        deadline = time.monotonic() + timeout
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), _SERVER_KEY):
                if time.monotonic() > deadline:
                    raise _busy(self._holder(connection))
                time.sleep(_POLL)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def release(self) -> None:
        """See ProcessLock."""
        if self._connection is not None:
            # The lock ends with the connection, even one that broke meanwhile.
            self._connection.invalidate()
            self._connection.close()
            self._connection = None

    def _holder(self, connection: Connection) -> str:
        asked = text(
            "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32 | l.objid::bigint) = :key"
        )
        return connection.scalar(asked, _SERVER_KEY) or "another process"


class WriterLock:
    """A lock that is re-entrant within a thread and excludes other threads and, by ``outer``, other processes."""

    def __init__(self, outer: ProcessLock, timeout: float) -> None:
        self.timeout = timeout
        self._threads = threading.RLock()
        self._depth = 0
        self._outer = outer

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
