"""Which format an input has, and its entries: JSON Lines, a JSON array, or the pasted text of a listing page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson

from broadsheet.errors import InputError
from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Entry, Item, Limits, too_long
from broadsheet.sources.jsonarray import elements
from broadsheet.sources.jsonl import parse_entry
from broadsheet.sources.listing import parse_listing
from broadsheet.sources.stream import BOM, DamagedError, Stream, TooLong, lines, peek

PAGE_BYTES = 32 * 1024 * 1024
"""A pasted page is read as a whole; larger ones are refused."""
HOPELESS = 10_000
"""After this many refusals and not one paper, the input is given up."""
_LOOK = 64 * 1024
_TAKEN = "Taken are JSON Lines of papers, a JSON array of them, and the copied text of a listing page"
_ENDINGS = re.compile(r"(\.(jsonl|ndjson|json|txt|text|gz|zst|bz2|xz))+$", re.IGNORECASE)
_CSV_HEAD = re.compile(
    r"(?:^|[,;\t])\s*\"?(?:title|abstract|primary title|article title)\"?\s*(?:[,;\t]|$)", re.IGNORECASE
)


def source_of(name: str) -> str:
    """The name of the records' source: ``jsonl:`` and the file's name without endings and without a copy's " (1)"."""
    stem = re.sub(r" ?\(\d+\)$", "", _ENDINGS.sub("", name)).strip()
    return f"jsonl:{stem or 'file'}"


def read_file(path: Path, *, max_entry_bytes: int, max_authors: int, skip: int = 0) -> Iterator[Item]:
    """The entries of a file in order, without the first ``skip``. Memory does not grow with the file.

    Raises InputError where the whole file cannot be read, at the first step, or after ``HOPELESS`` entries without a
    paper; the message says what to do. Damage in the middle is the last entry, a refusal.
    """
    with Stream(path) as stream:
        entries = _entries(stream.name, iter(stream), Limits(max_entry_bytes, max_authors), skip)
        for ordinal, entry in entries:
            yield Item(ordinal, stream.position, stream.total, entry)


def read_text(name: str, text: str, *, max_entry_bytes: int, max_authors: int) -> Iterator[Item]:
    """The entries of a pasted text. ``name`` stands in refusals, and names the source if the text is JSON."""
    data = text.encode("utf-8", "replace").removeprefix(BOM)
    for ordinal, entry in _entries(name, iter((data,) if data else ()), Limits(max_entry_bytes, max_authors), 0):
        yield Item(ordinal, len(data), len(data), entry)


def _entries(name: str, pieces: Iterator[bytes], limits: Limits, skip: int) -> Iterator[tuple[int, Entry]]:
    head, pieces = peek(pieces, _LOOK)
    kind = _kind(name, head, pieces)
    if kind == "page":
        text, damage = _whole(name, pieces)
        entries: list[Entry] = [*parse_listing(name, text, limits), *damage]
        if not any(isinstance(entry, Record) for entry in entries):
            raise InputError(f"{name}: no papers found in this text. {_TAKEN}")
        yield from islice(enumerate(entries), skip, None)
        return
    if kind == "lines":
        cut = lines(pieces, limits.max_entry_bytes)
    else:
        cut = elements(pieces, limits.max_entry_bytes, array=kind == "array")
    taken = skip > 0
    for ordinal, number, entry in _json_entries(name, cut, limits, skip):
        taken = taken or isinstance(entry, Record)
        if not taken and isinstance(entry, Refusal) and ordinal >= HOPELESS:
            raise InputError(
                f"{name}: the first {HOPELESS} entries were all refused (line {number}: {entry.reason}). {_TAKEN}"
            )
        yield ordinal, entry


def _json_entries(
    name: str, cut: Iterator[tuple[int, bytes | TooLong]], limits: Limits, skip: int
) -> Iterator[tuple[int, int, Entry]]:
    source = source_of(name)
    ordinal = number = 0
    try:
        for number, line in cut:
            if ordinal >= skip:
                if isinstance(line, TooLong):
                    yield ordinal, number, Refusal(name, number, too_long(line.size, limits))
                else:
                    yield ordinal, number, parse_entry(line, source=source, where=name, number=number, limits=limits)
            ordinal += 1
    except DamagedError as error:
        if ordinal >= skip:
            yield ordinal, number + 1, _cut_off(name, number + 1, error)


def _whole(name: str, pieces: Iterator[bytes]) -> tuple[str, list[Refusal]]:
    data: list[bytes] = []
    damage: list[Refusal] = []
    size = 0
    try:
        for piece in pieces:
            data.append(piece)
            size += len(piece)
            if size > PAGE_BYTES:
                raise InputError(f"{name}: over {PAGE_BYTES // 2**20} MB of text that is not JSON Lines. {_TAKEN}")
    except DamagedError as error:
        damage = [_cut_off(name, b"".join(data).count(b"\n") + 1, error)]
    return b"".join(data).decode("utf-8", "surrogateescape"), damage


def _cut_off(name: str, number: int, error: DamagedError) -> Refusal:
    return Refusal(name, number, f"{error}; what came before is kept")


def _kind(name: str, head: bytes, pieces: Iterator[bytes]) -> str:
    """``lines``, ``array``, ``objects`` or ``page``; InputError for everything else."""
    begun = head.lstrip()
    if not begun:
        raise _blank(name, head, pieces)
    if begun.startswith(b"{"):
        return "objects" if begun.split(b"\n", 1)[0].strip() == b"{" else "lines"
    if begun.startswith(b"["):
        return "lines" if _is_list_line(begun) else "array"
    _refuse_known(name, begun)
    rows = [row.strip() for row in begun.split(b"\n")[:50]]
    if _has_json_ending(name) or any(row.startswith(b"{") and row.endswith(b"}") for row in rows):
        return "lines"
    if _CSV_HEAD.search(rows[0].decode("utf-8", "replace")) and re.search(rb"[,;\t]", rows[0]):
        raise InputError(f"{name}: a table (CSV); convert it to JSON Lines, one object a row. {_TAKEN}")
    return "page"


def _blank(name: str, head: bytes, pieces: Iterator[bytes]) -> InputError:
    try:
        if head:
            next(pieces)
        more = next(pieces, None) is not None
    except DamagedError as error:
        return InputError(f"{name}: {error}; nothing of it could be read, get the file again")
    return InputError(f"{name}: {'begins with 64 kB of blanks' if more else 'is empty'}; nothing to import")


def _is_list_line(begun: bytes) -> bool:
    """Whether the first line is a whole list and others follow: JSON Lines with a bad first line, not an array."""
    first, _, rest = begun.partition(b"\n")
    if not rest.strip():
        return False
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        return False
    return True


def _has_json_ending(name: str) -> bool:
    found = _ENDINGS.search(name)
    return bool(found and re.search(r"\.(jsonl|ndjson|json)\b", found[0], re.IGNORECASE))


def _refuse_known(name: str, begun: bytes) -> None:
    if begun.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name}: UTF-16 text; save it as UTF-8")
    if b"\0" in begun[:1024]:
        raise InputError(f"{name}: not text. {_TAKEN}")
    known = (
        (b"%PDF", "a PDF"),
        (b"<", "a web page or XML; copy the text of the page instead of its source"),
        (b"@", "BibTeX; convert it to JSON Lines"),
        (b"TY  - ", "RIS; convert it to JSON Lines"),
    )
    for sign, what in known:
        if begun.startswith(sign):
            raise InputError(f"{name}: {what}. {_TAKEN}")
