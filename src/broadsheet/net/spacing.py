"""One request at a time and a pause after it, for each host or group of hosts, across all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from broadsheet.net.faults import HeldError

# arXiv asks for one connection at a time and three seconds between calls (info.arxiv.org/help/api/tou.html).
DEFAULTS: Mapping[str, float] = {"*": 1.0, "arxiv.org": 3.0}

LONGEST = 120.0  # seconds; whoever has to wait longer is told so instead


@dataclass(slots=True)
class _Line:
    """The queue before one group of hosts. ``free`` and ``held`` are times of the clock."""

    pause: float
    turn: threading.Lock = field(default_factory=threading.Lock)
    free: float = 0.0
    held: float = 0.0


class Spacing:
    """Who may ask which host when.

    A key of ``pauses`` is a domain: it and all hosts below it share one clock. ``*`` is for every other host, each of
    which has a clock of its own.
    """

    def __init__(self, pauses: Mapping[str, float], sleep: Callable[[float], None], clock: Callable[[], float]) -> None:
        self._pauses = {**DEFAULTS, **pauses}
        self._sleep = sleep
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait for the host to be free, and keep it for as long as the context lasts.

        Raises HeldError where the host asked to be left alone for longer than ``LONGEST``.
        """
        line = self._line(host)
        with line.turn:
            held = line.held - self._clock()
            if held > LONGEST:
                raise HeldError(held)
            wait = max(line.free, line.held) - self._clock()
            if wait > 0:
                self._sleep(wait)
            try:
                yield
            finally:
                line.free = self._clock() + line.pause

    def hold(self, host: str, seconds: float) -> None:
        """Nobody asks the host for so long."""
        line = self._line(host)
        line.held = max(line.held, self._clock() + seconds)

    def when_free(self, host: str) -> float:
        """Seconds until the host may be asked."""
        line = self._line(host)
        return max(0.0, max(line.free, line.held) - self._clock())

    def _line(self, host: str) -> _Line:
        host = host.lower().rstrip(".")
        labels = host.split(".")
        suffixes = (".".join(labels[i:]) for i in range(len(labels)))
        group = next((suffix for suffix in suffixes if suffix in self._pauses), host)
        with self._lock:
            if group not in self._lines:
                self._lines[group] = _Line(self._pauses.get(group, self._pauses["*"]), free=self._clock())
            return self._lines[group]
