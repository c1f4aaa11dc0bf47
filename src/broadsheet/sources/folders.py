"""Folders and zip archives of reference files, such as Zotero's exports: which files in them are read.

Attachments lie in folders of their own, which are left out; so is all that begins with a dot.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from broadsheet.errors import InputError

MOST_FILES = 1_000
"""A folder of more reference files than this is hardly meant."""
_TAKEN = re.compile(
    r"\.(bib|bibtex|biblatex|ris|nbib|enw|ciw|isi|rdf|json|jsonl|ndjson|csv|tsv|tab|xls[xm])(\.(gz|zst|bz2|xz))?",
    re.IGNORECASE,
)
_ATTACHMENTS = frozenset(("files", "storage", "__macosx"))
_ENDINGS = ".bib, .ris, .nbib, .enw, .ciw, .rdf, .json, .jsonl, .csv, .tsv and .xlsx"


def _is_taken(path: PurePosixPath) -> bool:
    inside = any(part.lower() in _ATTACHMENTS or part.startswith(".") for part in path.parts[:-1])
    ending = "".join(path.suffixes[-2:])
    return not inside and bool(_TAKEN.fullmatch(path.suffix) or _TAKEN.fullmatch(ending)) and path.name[0] != "."


def reference_files(folder: Path) -> list[tuple[str, Path]]:
    """(name within the folder, path) of the reference files, by name. Raises InputError if there are none."""

    def failed(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions") from error

    found: list[tuple[str, Path]] = []
    for place, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted(folders)
        for name in sorted(names):
            path = Path(place) / name
            inside = PurePosixPath(path.relative_to(folder).as_posix())
            if _is_taken(inside) and path.is_file():  # and no link that leads nowhere
                found.append((str(inside), path))
        if len(found) > MOST_FILES:
            raise InputError(f"{folder}: over {MOST_FILES} reference files; import the folders in it one by one")
    if not found:
        raise InputError(f"{folder}: no reference files in this folder; read are {_ENDINGS}")
    return found


class Archive:
    """A zip archive in memory; ``names`` are those of the reference files in it.

    They unpack to ``limit`` bytes at most. Raises InputError for one that is damaged, encrypted or too large, or
    holds none.
    """

    def __init__(self, name: str, data: bytes, limit: int) -> None:
        """Look at what is in it."""
        self.name = name
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise InputError(f"{name}: a damaged zip archive ({error}); get the file again") from error
        taken = [p for p in self._zip.infolist() if not p.is_dir() and _is_taken(PurePosixPath(p.filename))]
        if not taken:
            raise InputError(f"{name}: a zip archive without reference files; read are {_ENDINGS}")
        if any(part.flag_bits & 1 for part in taken):
            raise InputError(f"{name}: an encrypted zip archive; unpack it and import the files in it")
        size = sum(part.file_size for part in taken)
        if size > limit or len(taken) > MOST_FILES:
            raise InputError(
                f"{name}: a zip archive of {len(taken)} files of {size // 2**20} MB in all; unpack it and import them"
            )
        self.names = sorted({part.filename for part in taken})

    def read(self, member: str) -> bytes:
        """The contents of a file."""
        try:
            return self._zip.read(member)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise InputError(f"{member}: damaged inside of {self.name} ({error})") from error


def is_workbook(data: bytes) -> bool:
    """Whether a zip archive is a workbook of Excel."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
