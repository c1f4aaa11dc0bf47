"""Which format an input has, and its entries.

JSON (lines or an array) and the copied text of a listing page are read here; every other format is a module with
``NAME``, ``sniff`` and ``read``, which is loaded only when an input may be of its kind. The content decides; a module
looks at the name only where the content cannot tell.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import orjson

from broadsheet.errors import InputError
from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Entry, Item, Limits, Line, too_long
from broadsheet.sources.encodings import decode
from broadsheet.sources.folders import Archive, is_workbook, reference_files
from broadsheet.sources.jsonarray import elements
from broadsheet.sources.jsonl import parse_entry
from broadsheet.sources.listing import parse_listing
from broadsheet.sources.naming import source_of
from broadsheet.sources.stream import BOM, DamagedError, Stream, TooLong, lines, peek

PAGE_BYTES = 32 * 1024 * 1024
"""A pasted page is read as a whole; larger ones are refused."""
WHOLE_BYTES = 300 * 1024 * 1024
"""So are files of all formats but JSON."""
HOPELESS = 10_000
"""After this many refusals and not one paper, the input is given up."""
FORMATS = ("nbib", "ris", "isi", "endnote", "ovid", "pubmed_xml", "acl", "zotero_rdf", "bibtex_in")
"""Modules of formats that are known by their content, in the order in which they are asked."""
_LOOK = 64 * 1024
_TAKEN = (
    "Taken are JSON Lines of papers, a JSON array of them, BibTeX, RIS, PubMed, EndNote, ISI, CSL-JSON, CSV and Excel "
    "tables, a Zotero library, and the copied text of a listing page"
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_SQLITE = b"SQLite format 3\0"
DATABASE = "zotero.sqlite"
"""The database in Zotero's data directory."""
_JSON_NAME = re.compile(r"\.(jsonl|ndjson|json)(\.(txt|text|gz|zst|bz2|xz))*$", re.IGNORECASE)


class Format(Protocol):
    """What a module of a format offers."""

    NAME: str

    def sniff(self, head: bytes, name: str) -> bool:
        """Whether a file that begins so is of this format. ``head`` is UTF-8 where the file is UTF-16."""
        ...

    def read(self, name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
        """Every entry of the file: a record, or a refusal with its line."""
        ...


def read_file(path: Path, *, max_entry_bytes: int, max_authors: int, skip: int = 0) -> Iterator[Item]:
    """The entries of a file in order, without the first ``skip``; of a folder, those of the reference files in it.

    Memory does not grow with a file of JSON; others are read as a whole. Raises InputError where the whole file cannot
    be read, at the first step, or after ``HOPELESS`` entries without a paper; the message says what to do. Damage in
    the middle is the last entry, a refusal.
    """
    limits = Limits(max_entry_bytes, max_authors)
    if path.is_dir():
        yield from _folder_items(path, limits, skip)
    elif _begins_like_database(path):
        yield from _database_items(path, limits, skip)
    else:
        with Stream.of(path) as stream:
            yield from _items(stream, limits, skip)


def read_stream(name: str, file: BinaryIO, *, max_entry_bytes: int, max_authors: int, skip: int = 0) -> Iterator[Item]:
    """The entries of an open binary file that need not be seekable, such as standard input; ``read_file`` otherwise.

    ``name`` stands in refusals and names the source.
    """
    yield from _items(Stream(file, name), Limits(max_entry_bytes, max_authors), skip)


def read_text(name: str, text: str, *, max_entry_bytes: int, max_authors: int) -> Iterator[Item]:
    """The entries of a pasted text. ``name`` stands in refusals, and names the source."""
    data = text.encode("utf-8", "replace").removeprefix(BOM)
    for ordinal, entry in _entries(name, iter((data,) if data else ()), Limits(max_entry_bytes, max_authors), 0):
        yield Item(ordinal, len(data), len(data), entry)


def _items(stream: Stream, limits: Limits, skip: int) -> Iterator[Item]:
    for ordinal, entry in _entries(stream.name, iter(stream), limits, skip):
        yield Item(ordinal, stream.position, stream.total, entry)


def _entries(name: str, pieces: Iterator[bytes], limits: Limits, skip: int) -> Iterator[tuple[int, Line]]:
    head, pieces = peek(pieces, _LOOK)
    if head.startswith(_ZIP):
        yield from _hopeful(name, _zip_entries(name, pieces, limits), skip)
        return
    wide = _wide(head)
    look = decode(head[: len(head) & ~3])[0].encode("utf-8", "replace") if wide else head
    form = _known(name, look) if look.strip() else None
    if form:
        yield from _hopeful(name, _whole_entries(name, form, pieces, limits), skip)
        return
    if wide:
        pieces = _recoded(pieces, wide)
    kind = _kind(name, look, pieces)
    if kind == "page":
        yield from islice(enumerate(_page_entries(name, pieces, limits)), skip, None)
        return
    if kind == "lines":
        cut = lines(pieces, limits.max_entry_bytes)
    else:
        cut = elements(pieces, limits.max_entry_bytes, array=kind == "array")
    yield from _hopeful(name, _json_entries(name, cut, limits, skip), skip)


def _hopeful(name: str, entries: Iterator[Line | None], skip: int) -> Iterator[tuple[int, Line]]:
    """The entries with their ordinals, those before ``skip`` left out; gives up where there is nothing to hope for."""
    taken = skip > 0
    for ordinal, entry in enumerate(entries):
        taken = taken or isinstance(entry, Record)
        if not taken and isinstance(entry, Refusal) and ordinal >= HOPELESS:
            raise InputError(
                f"{name}: the first {HOPELESS} entries were all refused (line {entry.line}: {entry.reason}). {_TAKEN}"
            )
        if entry is not None and ordinal >= skip:
            yield ordinal, entry


# --- JSON ------------------------------------------------------------------------------------------------------------


def _json_entries(
    name: str, cut: Iterator[tuple[int, bytes | TooLong]], limits: Limits, skip: int
) -> Iterator[Line | None]:
    """The entries; None for each of the first ``skip``, which are not looked at."""
    source = source_of(name)
    ordinal = number = 0
    try:
        for number, line in cut:
            if ordinal < skip:
                yield None
            elif isinstance(line, TooLong):
                yield Refusal(name, number, too_long(line.size, limits))
            else:
                yield parse_entry(line, source=source, where=name, number=number, limits=limits)
            ordinal += 1
    except DamagedError as error:
        yield _cut_off(name, number + 1, error)


# --- folders, archives, databases ------------------------------------------------------------------------------------


def _folder_items(folder: Path, limits: Limits, skip: int) -> Iterator[Item]:
    if _begins_like_database(folder / DATABASE):
        yield from _database_items(folder / DATABASE, limits, skip)
        return
    files = reference_files(folder)
    total = sum(path.stat().st_size for _, path in files)
    ordinal = before = 0
    for name, path in files:
        for position, entry in _kept(name, _file_entries(name, path, limits)):
            if ordinal >= skip:
                yield Item(ordinal, before + position, total, entry)
            ordinal += 1
        before += path.stat().st_size


def _file_entries(name: str, path: Path, limits: Limits) -> Iterator[tuple[int, Line]]:
    with Stream.of(path) as stream:
        for _, entry in _entries(name, iter(stream), limits, 0):
            yield stream.position, entry


def _kept(name: str, entries: Iterator[tuple[int, Line]]) -> Iterator[tuple[int, Line]]:
    """The entries of one file of several; that it cannot be read is a refusal, and the others are read."""
    position = 0
    try:
        for position, entry in entries:
            yield position, entry
    except InputError as error:
        yield position, Refusal(name, 0, str(error).removeprefix(f"{name}: "))


def _zip_entries(name: str, pieces: Iterator[bytes], limits: Limits) -> Iterator[Line]:
    data, damage = _whole(name, pieces, WHOLE_BYTES, "in a zip archive; unpack it and import the files in it")
    if damage:
        raise InputError(f"{name}: {damage}; get the file again")
    if is_workbook(data):
        yield from _format("xlsx").read(name, data, limits)
        return
    archive = Archive(name, data, WHOLE_BYTES)
    for member in archive.names:
        yield from (entry for _, entry in _kept(member, _member_entries(archive, member, limits)))


def _member_entries(archive: Archive, member: str, limits: Limits) -> Iterator[tuple[int, Line]]:
    data = archive.read(member)
    if data.startswith(_ZIP) and not is_workbook(data):  # which may hold itself
        raise InputError(f"{member}: a zip archive inside of another; unpack it and import the files in it")
    yield from _entries(member, iter(Stream(io.BytesIO(data), member)), limits, 0)


def _begins_like_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:  # whoever reads it says why it cannot be read
        return False


def _database_items(path: Path, limits: Limits, skip: int) -> Iterator[Item]:
    from broadsheet.sources import zotero_sqlite

    size = path.stat().st_size
    for ordinal, entry in _hopeful(path.name, zotero_sqlite.read(path, limits), skip):
        yield Item(ordinal, size, size, entry)


# --- formats that are read as a whole --------------------------------------------------------------------------------


def _format(module: str) -> Format:
    return cast(Format, import_module(f"broadsheet.sources.{module}"))


def _known(name: str, head: bytes) -> Format | None:
    """The format that a file begins like; None for JSON, for text that may be a page, and for what nobody knows."""
    begun = head.lstrip()
    if begun.startswith((b"{", b"[")):
        csl = _format("csl") if b'"type"' in begun else None
        return csl if csl and csl.sniff(begun, name) else None
    if b"\0" in begun[:1024]:
        return None
    from broadsheet.sources import tables

    text = decode(head)[0].encode("utf-8", "replace")  # once, and not by each that is asked
    asked = () if tables.is_sure(text) else map(_format, FORMATS)
    for form in asked:
        if form.sniff(text, name):
            return form
    return tables if not _is_json_lines(name, begun) and tables.sniff(text, name) else None


def _whole_entries(name: str, form: Format, pieces: Iterator[bytes], limits: Limits) -> Iterator[Entry]:
    data, damage = _whole(name, pieces, WHOLE_BYTES, f"of {form.NAME}; split the file")
    empty = True
    for entry in form.read(name, data, limits):
        empty = False
        yield entry
    if damage:
        yield _cut_off(name, _last_line(data), damage)
    elif empty:
        raise InputError(f"{name}: {form.NAME} without a single entry; nothing to import")


def _page_entries(name: str, pieces: Iterator[bytes], limits: Limits) -> list[Entry]:
    data, damage = _whole(name, pieces, PAGE_BYTES, f"of text in no known format. {_TAKEN}")
    # Bytes that are no UTF-8 show where they stood; a page in another encoding is known as such by its words.
    text = data.decode("utf-8", "surrogateescape")
    entries: list[Entry] = [*parse_listing(name, text, limits)]
    if damage:
        entries.append(_cut_off(name, _last_line(data), damage))
    if not any(isinstance(entry, Record) for entry in entries):
        raise InputError(f"{name}: no papers found in this text. {_TAKEN}")
    return entries


def _whole(name: str, pieces: Iterator[bytes], limit: int, what: str) -> tuple[bytes, DamagedError | None]:
    """All the data, and why they break off if they do."""
    data: list[bytes] = []
    damage: DamagedError | None = None
    size = 0
    try:
        for piece in pieces:
            data.append(piece)
            size += len(piece)
            if size > limit:
                raise InputError(f"{name}: over {limit // 2**20} MB {what}")
    except DamagedError as error:
        damage = error
    return b"".join(data), damage


def _last_line(data: bytes) -> int:
    return data.count(b"\n") + 1


def _cut_off(name: str, number: int, error: DamagedError) -> Refusal:
    return Refusal(name, number, f"{error}; what came before is kept")


# --- telling them apart ----------------------------------------------------------------------------------------------


def _wide(head: bytes) -> str:
    """The codec of a text in UTF-16 or UTF-32, else the empty string."""
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" not in head[:4096]:
        return ""
    found = decode(head[: len(head) & ~3])[1]
    return found if found.startswith(("utf-16", "utf-32")) else ""


def _recoded(pieces: Iterator[bytes], codec: str) -> Iterator[bytes]:
    """Pieces of text in another encoding as UTF-8, without the byte order mark."""
    decoder = codecs.getincrementaldecoder(codec)("replace")
    first = True
    for piece in pieces:
        text = decoder.decode(piece)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        if text:
            yield text.encode("utf-8", "replace")
    if rest := decoder.decode(b"", final=True):
        yield rest.encode("utf-8", "replace")


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
    return "lines" if _is_json_lines(name, begun) else "page"


def _is_json_lines(name: str, begun: bytes) -> bool:
    """Whether this is meant to be JSON Lines, though it does not begin so."""
    rows = (row.strip() for row in begun.split(b"\n")[:50])
    return bool(_JSON_NAME.search(name)) or any(row.startswith(b"{") and row.endswith(b"}") for row in rows)


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


def _refuse_known(name: str, begun: bytes) -> None:
    if begun.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):  # OLE 2
        raise InputError(f"{name}: an old or a locked Excel file; save it as .xlsx without a password, or as CSV")
    if begun.startswith(_SQLITE):
        raise InputError(f"{name}: a database; a Zotero library is read from the path of its {DATABASE}, unpacked")
    if b"\0" in begun[:1024]:
        raise InputError(f"{name}: not text. {_TAKEN}")
    known = (
        (b"%PDF", "a PDF"),
        (b"<", "a web page or XML of another kind; copy the text of the page instead of its source"),
        (b"@", "begins like BibTeX, but holds no entry"),
    )
    for sign, what in known:
        if begun.startswith(sign):
            raise InputError(f"{name}: {what}. {_TAKEN}")
