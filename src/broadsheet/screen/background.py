"""Work that a thread of its own does, while the desk answers."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable


class Background(ABC):
    """One thread that begins with the first piece of work and lasts until ``close``.

    ``_change`` guards all that the thread shares with those who ask; it is notified of whatever changes. What goes
    wrong is kept in ``_error`` for who asks next: a thread has nobody to raise it to.
    """

    def __init__(self, name: str) -> None:
        self._change = threading.Condition()
        self._error: Exception | None = None
        self._closed = False
        self._name = name
        self._thread: threading.Thread | None = None

    def close(self) -> None:
        """Ends the thread, after the piece that it is at."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _begin(self) -> None:
        """There is work; ``_change`` is held."""
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._change.notify_all()

    def _run(self) -> None:
        while piece := self._next():
            piece()

    def _next(self) -> Callable[[], None] | None:
        """Waits for the next piece of work; None after ``close``."""
        with self._change:
            while not self._closed:
                if piece := self._take():
                    return piece
                self._change.wait()
        return None

    @abstractmethod
    def _take(self) -> Callable[[], None] | None:
        """The next piece of work, None where there is none; ``_change`` is held. It must not raise."""
