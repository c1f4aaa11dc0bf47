"""Lets stopping rules catch up with a long review in the background, while reading goes on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from broadsheet.screen.background import Background
from broadsheet.screen.follower import Follower
from broadsheet.screen.state import State

QUICK = 300  # steps that are looked at without a thread: some tenths of a second at most
_AT_ONCE = 20  # steps between two looks at whether to end


class Reckoner(Background):
    """One thread for all rules of a review. ``background`` False: nothing is left for it."""

    def __init__(self, *, background: bool = True) -> None:
        super().__init__("broadsheet-stopping")
        self._background = background
        self._behind: dict[int, Follower] = {}

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
            self._begin()
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
        """Ends the thread soon; no rule is behind any more."""
        with self._change:
            self._closed = True
            self._behind.clear()
        super().close()

    def _take(self) -> Callable[[], None] | None:
        follower = next(iter(self._behind.values()), None)
        return None if follower is None else partial(self._catch_up, follower)

    def _catch_up(self, follower: Follower) -> None:
        goes_on, error = False, None
        try:
            goes_on = follower.advance(_AT_ONCE)
        except Exception as raised:
            error = raised
        with self._change:
            self._error = error or self._error
            if not goes_on:
                self._behind.pop(id(follower), None)
            self._change.notify_all()
