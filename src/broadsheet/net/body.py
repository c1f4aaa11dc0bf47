"""Reading an answer's body within bounds, also of what it unpacks to."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping

from broadsheet.net.faults import FinalError, PassingError

ACCEPTED = "gzip, deflate"

_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_GZIP_START = 0x1F
_SLICE = 1 << 18


def read_body(pieces: Iterable[bytes], headers: Mapping[str, str], limit: int) -> bytes:
    """The unpacked body. ``limit`` bounds what is announced, what is sent and what it unpacks to, in bytes.

    Raises FinalError for an answer that is too large or packed in a way that was not asked for, and PassingError for
    one that is damaged or broke off.
    """
    announced = headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    body = bytearray()
    for piece in _unpacked(_bounded(pieces, limit), headers.get("content-encoding", "")):
        body += piece
        if len(body) > limit:
            raise _too_large(limit)
    return bytes(body)


def _bounded(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """The same pieces; what is packed may unpack to nothing at all and go on for ever."""
    sent = 0
    for piece in pieces:
        sent += len(piece)
        if sent > limit:
            raise _too_large(limit)
        yield piece


def _too_large(limit: int) -> FinalError:
    return FinalError(f"sends more than the {limit:,} bytes that are allowed")


def _unpacked(pieces: Iterable[bytes], encoding: str) -> Iterable[bytes]:
    match encoding.strip().lower():
        case "" | "identity":
            return pieces
        case "gzip" | "x-gzip":
            return _inflated(pieces, _GZIP)
        case "deflate":
            return _inflated(pieces, _ZLIB)
        case other:
            raise FinalError(f"packs its answer as {other!r}, though only {ACCEPTED} was asked for")


def _inflated(pieces: Iterable[bytes], kind: int) -> Iterator[bytes]:
    """Slices of what the pieces unpack to; small ones, since a few kilobytes can unpack to gigabytes."""
    inflater = None
    complete = False
    for piece in pieces:
        rest = piece
        while rest:
            if inflater is None:
                if complete and (kind != _GZIP or rest[0] != _GZIP_START):
                    break  # padding behind the end, which is no other member of a gzip stream
                inflater = zlib.decompressobj(_RAW if _is_bare(rest, kind) else kind)
            yield from _slices(inflater, rest)
            rest = inflater.unused_data
            if inflater.eof:
                inflater, complete = None, True
    if inflater is not None:
        raise PassingError("broke off in the middle of its answer")


def _is_bare(start: bytes, kind: int) -> bool:
    # RFC 9110 says zlib for deflate, but some servers leave its frame out.
    return kind == _ZLIB and start[0] & 0x0F != zlib.DEFLATED


def _slices(inflater: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    full = True
    while full:
        try:
            part = inflater.decompress(data, _SLICE)
        except zlib.error as error:
            raise PassingError(f"sent a damaged answer ({error})") from error
        yield part
        data = inflater.unconsumed_tail
        full = len(part) == _SLICE
