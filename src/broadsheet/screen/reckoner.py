"""Lets stopping rules catch up with a long review in the background, while reading goes on."""

from __future__ import annotations

import threading

from broadsheet.screen.follower import Follower
from broadsheet.screen.state import State

QUICK = 300  # steps that are looked at without a thread: some tenths of a second at most
_AT_ONCE = 20  # steps between two looks at whether to end


class Reckoner:
    """One thread for all rules of a review. ``background`` False: nothing is left for it."""

    def __init__(self, *, background: bool = True) -> None:
        self._background = background
        self._behind: dict[int, Follower] = {}
        self._error: Exception | None = None
        self._closed = False
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None

    def is_ready(self, follower: Follower, state: State) -> bool:
        """Whether a rule can be asked at once; where it is far behind, it catches up in the background.

        Raises what went wrong there.
        """
        behind = follower.update(state)
        if not self._background:
            return True
        with self._change:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if behind <= QUICK:
                return True
            self._behind[id(follower)] = follower
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="broadsheet-stopping", daemon=True)
                self._thread.start()
            self._change.notify_all()
            return False

    @property
    def is_working(self) -> bool:
        """Whether a rule is behind."""
        with self._change:
            return bool(self._behind)

    def settle(self, timeout: float) -> bool:
        """Waits until no rule is behind; False where it took longer."""
        with self._change:
            return self._change.wait_for(lambda: not self._behind, timeout)

    def close(self) -> None:
        """Ends the thread soon."""
        with self._change:
            self._closed = True
            self._behind.clear()
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._behind or self._closed)
                if self._closed:
                    return
                key, follower = next(iter(self._behind.items()))
            goes_on, error = False, None
            try:
                goes_on = follower.advance(_AT_ONCE)
            except Exception as raised:  # kept for who asks next: a thread has nobody to raise it to
                error = raised
            with self._change:
                self._error = error or self._error
                if not goes_on:
                    self._behind.pop(key, None)
                self._change.notify_all()
