"""A file of any size, compressed or not, as pieces and lines in bounded memory.

Compression is told by the first bytes, never by the name: gzip (RFC 1952, any number of members), Zstandard (RFC 8878),
bzip2 and xz. Each decoder is asked for a bounded amount of output at a time, so a small file that unpacks to terabytes
costs time but not memory. A damaged or cut-off file gives what was good, then says so.
"""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

from broadsheet.errors import InputError

PIECE = 256 * 1024
"""Bytes read or unpacked at a time."""
_ZSTD_READ = 256  # a block of 4 bytes may unpack to 128 KiB: 8 MiB at most for one read
_ZSTD_WINDOW = 1 << 27  # the most that `zstd -d` itself takes without being asked
BOM = b"\xef\xbb\xbf"

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
)


class Decoder(Protocol):
    """The common shape of the standard library's decompressors."""

    @property
    def eof(self) -> bool: ...  # noqa: D102
    @property
    def needs_input(self) -> bool: ...  # noqa: D102
    @property
    def unused_data(self) -> bytes: ...  # noqa: D102
    def decompress(self, data: bytes, max_length: int) -> bytes: ...  # noqa: D102


class _Gzip:
    """zlib's decompressor in the shape of bz2's and lzma's."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Zstd:
    """Zstandard cannot bound its output; its input is kept small instead (``_ZSTD_READ``)."""

    needs_input = True

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(data)


_DECODERS: dict[str, tuple[Callable[[], Decoder], int]] = {
    "gzip": (_Gzip, PIECE),
    "zstd": (_Zstd, _ZSTD_READ),
    "bzip2": (bz2.BZ2Decompressor, PIECE),
    "xz": (lzma.LZMADecompressor, PIECE),
}
_DAMAGE = (zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError, ValueError, EOFError)


class DamagedError(Exception):
    """The compressed data end early or cannot be unpacked from here on; the message says which."""


def compression_of(head: bytes) -> str:
    """The name of the compression or archive format that ``head`` begins with, else the empty string."""
    found = next((name for magic, name in _MAGIC if head.startswith(magic)), "")
    if found == "bzip2" and head[4:10] not in (b"1AY&SY", b"\x17rE8P\x90"):  # "BZh" alone may be a word
        return ""
    return "tar" if not found and head[257:262] == b"ustar" else found


def _unpack(new: Callable[[], Decoder], blocks: Iterable[bytes]) -> Iterator[bytes]:
    decoder = new()
    for block in blocks:
        data = block
        while data:
            if decoder.eof:
                data = data.lstrip(b"\0")  # members may be padded with zeros
                if not data:
                    break
                decoder = new()
            try:
                yield decoder.decompress(data, PIECE)
                while not decoder.eof and not decoder.needs_input:
                    yield decoder.decompress(b"", PIECE)
            except _DAMAGE as error:
                raise DamagedError(f"the compressed data are damaged here ({error})") from error
            data = decoder.unused_data if decoder.eof else b""
    if not decoder.eof:
        raise DamagedError("the file ends early: the compressed data are cut off")


class Stream:
    """An open file: iterate over its unpacked pieces (never empty, about ``PIECE`` bytes, the byte order mark removed).

    A zip is given as it is: what lies in it is for others to say. Raises InputError for what cannot be opened or is
    packed in a way that is not read, and DamagedError (after the good pieces) where the compressed data break off.
    """

    def __init__(self, file: BinaryIO, name: str, total: int | None = None) -> None:
        """Take an open file, which need not be seekable, of ``total`` bytes where that is known; it stays open."""
        self._file = file
        self.total = total
        self.name = name
        self.position = 0
        """Bytes of the file read so far."""
        self._pieces = self._begin()

    @classmethod
    @contextmanager
    def of(cls, path: Path) -> Iterator[Stream]:
        """Open ``path``, and close it in the end."""
        try:
            file = path.open("rb")
        except OSError as error:
            raise InputError(
                f"{path}: cannot be opened ({error.strerror}); check the name and the permissions"
            ) from error
        with file:
            yield cls(file, path.name, os.fstat(file.fileno()).st_size)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def _blocks(self, first: bytes, size: int) -> Iterator[bytes]:
        for start in range(0, len(first), size):
            yield first[start : start + size]
        while block := self._read(size):
            yield block

    def _read(self, size: int) -> bytes:
        try:
            block = self._file.read(size)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read ({error.strerror or error})") from error
        self.position += len(block)
        return block

    def _begin(self) -> Iterator[bytes]:
        head = self._read(4096)
        packed = compression_of(head)
        if packed in ("", "zip"):
            yield from _without_bom(self._blocks(head, PIECE))
            return
        if packed not in _DECODERS:
            raise InputError(f"{self.name}: a {packed} archive; unpack it and import the files in it")
        new, size = _DECODERS[packed]
        pieces = (piece for piece in _unpack(new, self._blocks(head, size)) if piece)
        yield from _without_bom(self._once_packed(pieces))

    def _once_packed(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        head, pieces = peek(pieces, 512)
        inner = compression_of(head)
        if inner:
            what = f"a {inner} archive inside" if inner in ("zip", "tar", "7z", "rar") else "compressed twice"
            raise InputError(f"{self.name}: {what}; unpack it first, then import the files")
        yield from pieces


def peek(pieces: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first ``size`` bytes (or more, or all there are), and the pieces with these again in front.

    Damage met while looking is raised only when the good part before it was given again.
    """
    head = b""
    damage: DamagedError | None = None
    try:
        for piece in pieces:
            head += piece
            if len(head) >= size:
                break
    except DamagedError as error:
        damage = error

    def again() -> Iterator[bytes]:
        if head:
            yield head
        if damage:
            raise damage
        yield from pieces

    return head, again()


def _without_bom(pieces: Iterator[bytes]) -> Iterator[bytes]:
    head, pieces = peek(pieces, len(BOM))
    if head.startswith(BOM):
        yield next(pieces)[len(BOM) :]
    yield from pieces


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for an entry that was passed over unread; ``size`` in bytes."""

    size: int


def lines(pieces: Iterable[bytes], max_bytes: int) -> Iterator[tuple[int, bytes | TooLong]]:
    """Split pieces at LF, CR or CR LF into (line number from 1, line without its end), leaving out blank lines.

    A line of more than ``max_bytes`` is counted, not kept.
    """
    number = 0
    parts: list[bytes] = []
    size = 0
    after_cr = False

    def finish(last: bytes) -> bytes | TooLong:
        whole = size + len(last)
        return TooLong(whole) if whole > max_bytes else b"".join((*parts, last)) if parts else last

    for piece in pieces:
        data = piece[1:] if after_cr and piece.startswith(b"\n") else piece
        after_cr = piece.endswith(b"\r")
        split = data.splitlines()
        rest = split.pop() if split and not data.endswith((b"\n", b"\r")) else b""
        for line in split:
            number += 1
            entry = finish(line) if size else line if len(line) <= max_bytes else TooLong(len(line))
            if size:
                parts, size = [], 0
            if isinstance(entry, TooLong) or (entry and not entry.isspace()):
                yield number, entry
        size += len(rest)
        if size > max_bytes:
            parts = []
        elif rest:
            parts.append(rest)
    if size:
        last = finish(b"")
        if isinstance(last, TooLong) or not last.isspace():
            yield number + 1, last
