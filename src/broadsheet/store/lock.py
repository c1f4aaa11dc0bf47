"""One writer at a time, and a name to the one who has the lock.

An advisory lock of the operating system beside the database file: it ends with its process, however that ends. The holder's
name stands in a second file, because Windows lets nobody read a locked one.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from broadsheet.errors import BusyError, StoreError


def _who() -> str:
    command = " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])
    return f"process {os.getpid()} ({command[:200]})"


class WriterLock:
    """A lock that is re-entrant within a thread and excludes other threads and other processes.

    ``path`` None locks threads only, for a database server that has its own ways.
    """

    def __init__(self, path: Path | None, timeout: float) -> None:
        self.timeout = timeout
        self._threads = threading.RLock()
        self._depth = 0
        self._file = FileLock(f"{path}.lock", thread_local=False, poll_interval=0.02) if path else None
        self._name = Path(f"{path}.writer") if path else None

    def holder(self) -> str:
        """Who holds the lock, as far as is known."""
        try:
            return (self._name.read_text("utf-8") if self._name else "") or "another process"
        except OSError:  # not written yet, or just removed
            return "another process"

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock. Raises BusyError after ``timeout`` seconds, StoreError where no lock file can be made."""
        deadline = time.monotonic() + self.timeout
        if not self._threads.acquire(timeout=max(self.timeout, 0)):
            raise BusyError(f"another part of {_who()} is writing to the library; try again when it is done")
        try:
            if self._depth == 0:
                self._take(deadline - time.monotonic())
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._give_back()
        finally:
            self._threads.release()

    def _take(self, timeout: float) -> None:
        if self._file is None or self._name is None:
            return
        try:
            self._file.acquire(timeout=max(timeout, 0))
            self._name.write_text(_who(), "utf-8")
        except Timeout as error:
            raise BusyError(f"{self.holder()} is writing to the library; wait for it to end and try again") from error
        except OSError as error:
            self._file.release()
            raise StoreError(
                f"{self._name}: cannot be written ({error}); check the folder's permissions and space"
            ) from error

    def _give_back(self) -> None:
        if self._file is not None and self._name is not None:
            self._name.unlink(missing_ok=True)
            self._file.release()
