"""What a server does beside answering: bring the index up to date, make vectors, ask the sources, print editions."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from broadsheet.errors import BroadsheetError, BusyError, NotFoundError, StoppedError
from broadsheet.library.vectors import NONE
from broadsheet.model.reading import Edition, Reader

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

_LOG = logging.getLogger(__name__)
INDEX_EVERY = 2.0  # seconds between looks for what another process stored
ENCODE_EVERY = 5.0
UPDATE_EVERY = 30.0  # seconds between looks at the clock
PRINT_EVERY = 30.0
AFTER_FAILURE = 60.0
LAST_WAIT = 5.0  # seconds for what is being sent while the server ends
NICENESS = 10  # so that a search is not slowed by the encoding behind it


OnEdition = Callable[[Reader, Edition], None]


class Background:
    """Threads for the index, the vectors, the sources, the editions and their delivery; each tries again after a
    failure.

    ``on_edition`` is told of every reader's newest edition at every look, whoever printed it and when: it decides
    whether there is anything to do, so that what could not be sent is tried again. It has a thread of its own, so that
    a mail server that does not answer holds up neither the printing nor, for longer than five seconds, the end.
    """

    def __init__(self, library: Library, on_edition: OnEdition | None = None) -> None:
        self._library = library
        self._on_edition = on_edition
        self._stop = threading.Event()
        self._done = self._total = 0
        self._since = 0.0
        self._complete: tuple[int, int, str] | None = None
        self._trouble: dict[str, str] = {}
        self._printed = threading.Event()  # a look at what is due has ended, so there may be something to send
        self._threads = [
            threading.Thread(target=self._repeat, args=("index", self._index, INDEX_EVERY), name="indexing"),
            threading.Thread(target=self._repeat, args=("vectors", self._encode, ENCODE_EVERY), name="encoding"),
            threading.Thread(target=self._repeat, args=("update", self._update, UPDATE_EVERY), name="updating"),
            threading.Thread(target=self._repeat, args=("daily", self._print, PRINT_EVERY), name="printing"),
        ]
        # Of a daemon the process does not wait for the end: it may hang on a server that says nothing.
        arguments = ("delivery", self._tell, PRINT_EVERY, self._printed)
        self._sender = threading.Thread(target=self._repeat, args=arguments, name="sending", daemon=True)

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()
        if self._on_edition is not None:
            self._sender.start()

    def stop(self) -> None:
        """End after the batch at hand; what is being sent is waited for five seconds."""
        self._stop.set()
        self._printed.set()
        for thread in self._threads:
            thread.join()
        if self._sender.is_alive():
            self._sender.join(LAST_WAIT)

    def is_preparing(self) -> bool:
        """Whether an encoder is wanted and still to be opened."""
        vectors = self._library.vectors
        return vectors.wanted != NONE and vectors.opened() is None and "vectors" not in self._trouble

    def details(self) -> dict[str, Any]:
        """What is going on, for ``Status.details``."""
        found: dict[str, Any] = {f"{name}_trouble": text for name, text in self._trouble.copy().items()}
        done, total = self._done, self._total  # the threads go on meanwhile
        if total > done:
            rate = done / max(time.monotonic() - self._since, 1e-9)
            found["encoding"] = f"{done:,} of {total:,}"
            if done:
                found["encoding_minutes_left"] = round((total - done) / rate / 60, 1)
        return found

    def _repeat(self, name: str, job: Callable[[], object], every: float, wake: threading.Event | None = None) -> None:
        """Do a job again and again until the end, after each pause or, where there is one, when ``wake`` is set."""
        while not self._stop.is_set():
            pause = every
            try:
                job()
                self._trouble.pop(name, None)
            except StoppedError:
                return
            except BusyError:
                pass  # whoever writes now does the work, or leaves it for the next round
            except BroadsheetError as error:
                self._trouble[name] = str(error)
                pause = AFTER_FAILURE
            except Exception:  # a fault of ours must not end the thread silently
                _LOG.exception("the background job for %s failed; it is tried again in %d s", name, AFTER_FAILURE)
                self._trouble[name] = "an unforeseen fault; see the log"
                pause = AFTER_FAILURE
            (wake or self._stop).wait(pause)
            if wake is not None:
                wake.clear()

    def _index(self) -> None:
        if self._library.pending_changes():
            self._library.update_index(wait=0, should_stop=self._stop.is_set)

    def _update(self) -> None:
        due = self._library.updater.due(datetime.now(UTC))
        if due:
            self._library.updater.run(due, should_stop=self._stop.is_set, pause=self._pause)

    def _print(self) -> None:
        """Print what is due once the sources were asked."""
        try:
            if not (self._library.store.read_only or self._library.updater.due(datetime.now(UTC))):
                readers = self._library.daily.readers() or self._first_reader()
                self._for_each(readers, lambda name: self._library.daily.newest(name, wait=0))
        finally:
            self._printed.set()

    def _tell(self) -> None:
        """Tell of each reader's newest edition."""
        self._for_each(self._library.daily.readers(), self._tell_of)

    def _tell_of(self, name: str) -> None:
        edition = self._library.daily.newest(name, printing=False)
        if edition is not None and self._on_edition is not None:
            # As the reader is now: telling of those before took its time, and an address may be gone.
            self._on_edition(self._library.daily.reader(name), edition)

    def _for_each(self, readers: Sequence[Reader], job: Callable[[str], object]) -> None:
        """Do a job for readers by name; what fails for one keeps none of the others from theirs."""
        failed: BroadsheetError | None = None
        for reader in readers:
            if self._stop.is_set():
                return
            try:
                job(reader.name)
            except (NotFoundError, BusyError):
                continue  # removed meanwhile; or done at one of the next looks
            except BroadsheetError as error:
                failed = error
            except Exception:  # a fault of ours, which must not keep the others from theirs either
                _LOG.exception("the edition for %s failed", reader.name)
                failed = BroadsheetError(f"an unforeseen fault with the edition for {reader.name}; see the log")
        if failed is not None:
            raise failed

    def _first_reader(self) -> list[Reader]:
        if self._library.store.read_only:
            return []
        with self._library.store.writing(0):  # who writes now is not waited for, so that a server can end
            return [self._library.daily.reader()]

    def _pause(self, seconds: float) -> None:
        """Wait between two requests; the end of the server does not wait for it."""
        if self._stop.wait(seconds):
            raise StoppedError("the server is stopping")

    def _encode(self) -> None:
        self._done = self._total = 0
        before = self._state()
        if before == self._complete:
            return
        if self._library.vectors.opened() is None:
            self._library.vectors.answering()  # the encoder in service first: it answers while another catches up
        self._library.encode(self._progress, should_stop=self._stop.is_set, niceness=NICENESS)
        self._complete = (before[0], *self._state()[1:])

    def _state(self) -> tuple[int, int, str]:
        """What would have to change before there is something to encode again; cheap to look at."""
        vectors = self._library.vectors
        return self._library.store.last_seq(), vectors.count(), vectors.in_service

    def _progress(self, done: int, total: int) -> None:
        if done == 0:
            self._since = time.monotonic()
        self._done, self._total = done, total
