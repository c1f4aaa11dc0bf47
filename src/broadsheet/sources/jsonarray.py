"""The elements of a JSON array, or JSON objects one after the other over several lines, cut apart without parsing.

Only quotes, brackets and commas are looked at, so an element that is broken inside is one refusal and no more memory is
used than the longest element that is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from broadsheet.sources.stream import TooLong

_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')


class _Cutter:
    """The state between two pieces: how deep, whether in a text, and the element begun."""

    def __init__(self, max_bytes: int, *, array: bool) -> None:
        self._max = max_bytes
        self._array = array
        self._depth = 0
        self._quoted = False
        self._skip = 0
        self._parts: list[bytes] = []
        self._size = 0
        self._line = 1
        self._begun = 1  # the line on which the element begins

    def cut(self, piece: bytes) -> Iterator[tuple[int, bytes | TooLong]]:
        """The elements that end in this piece."""
        start, at = 0, self._skip
        self._skip = 0
        while match := (_INSIDE if self._quoted else _OUTSIDE).search(piece, at):
            at = match.end()
            sign = match[0]
            if sign == b"\\":
                at += 1  # the escaped character, which may lie in the next piece
            elif sign == b'"':
                self._quoted = not self._quoted
            elif sign in b"{[":
                self._depth += 1
                if self._array and self._depth == 1:
                    self._keep(piece[start : match.start()])
                    yield from self.finish()
                    start = at
            else:
                end = self._end(sign, match.start(), at)
                if end is not None:
                    self._keep(piece[start:end])
                    yield from self.finish()
                    start = at
        self._skip = max(0, at - len(piece))
        self._keep(piece[start:])

    def _end(self, sign: bytes, before: int, after: int) -> int | None:
        """Where the element ends, if this sign ends it."""
        if sign == b",":
            return before if self._array and self._depth == 1 else None
        self._depth = max(0, self._depth - 1)
        if self._depth:
            return None
        return before if self._array else after

    def _keep(self, data: bytes) -> None:
        if not self._size:
            stripped = data.lstrip()
            self._line += data.count(b"\n", 0, len(data) - len(stripped))
            self._begun = self._line
            data = stripped
        self._line += data.count(b"\n")
        self._size += len(data)
        if self._size > self._max:
            self._parts = []
        elif data:
            self._parts.append(data)

    def finish(self) -> Iterator[tuple[int, bytes | TooLong]]:
        """The element kept so far, if there is one."""
        if self._size > self._max:
            yield self._begun, TooLong(self._size)
        elif self._size:
            yield self._begun, b"".join(self._parts).rstrip()
        self._parts, self._size = [], 0


def elements(pieces: Iterable[bytes], max_bytes: int, *, array: bool) -> Iterator[tuple[int, bytes | TooLong]]:
    """(line on which it begins, element) of an array, or with ``array=False`` of values that follow one another.

    An element of more than ``max_bytes`` is counted, not kept. What is no element (a text after the end) comes as one.
    """
    cutter = _Cutter(max_bytes, array=array)
    for piece in pieces:
        yield from cutter.cut(piece)
    yield from cutter.finish()
