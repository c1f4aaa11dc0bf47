"""Progress on stderr: a bar on a terminal, a line every few seconds elsewhere, nothing on stdout."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TextIO

SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """How far a long job is, with its rate and the time left. Use as a context manager.

    ``unit`` is what is counted ("papers", or "B" for bytes, which are shown with prefixes). ``clock`` gives seconds.
    """

    def __init__(
        self,
        label: str,
        unit: str,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._bar: Any = None
        self._started = self._last_line = clock()

    def update(self, done: int, total: int | None, note: str = "") -> None:
        """Say that ``done`` of ``total`` units are done; ``note`` is shown after them."""
        if self._stream.isatty():
            self._draw(done, total, note)
        elif self._clock() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = self._clock()
            self._stream.write(self._line(done, total, note) + "\n")
            self._stream.flush()

    def say(self, line: str) -> None:
        """Write a line that stays, above the bar where there is one."""
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()

    def _draw(self, done: int, total: int | None, note: str) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                desc=self._label,
                total=total,
                initial=0,
                unit=self._unit if self._unit == "B" else f" {self._unit}",
                unit_scale=self._unit == "B",
                file=self._stream,
                dynamic_ncols=True,
                leave=False,
            )
        self._bar.total = total
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def _line(self, done: int, total: int | None, note: str) -> str:
        seconds = max(self._clock() - self._started, 1e-9)
        parts = [f"{self._label}: {self._amount(done)}" + (f" of {self._amount(total)}" if total else "")]
        parts.append(f"{self._amount(done / seconds)}/s")
        if total and 0 < done <= total:
            parts.append(f"{duration((total - done) * seconds / done)} left")
        return ", ".join([*parts, note] if note else parts)

    def _amount(self, number: float) -> str:
        if self._unit != "B":
            digits = 0 if number >= 10 or number == int(number) else 1
            return f"{number:,.{digits}f} {self._unit}"
        for prefix in ("", "k", "M", "G"):
            if number < 1000 or prefix == "G":
                break
            number /= 1000
        return f"{number:.1f} {prefix}B"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def duration(seconds: float) -> str:
    """Seconds as a person reads them: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
