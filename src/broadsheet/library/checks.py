"""``broadsheet doctor``: one check for each thing that can be out of order, with its remedy."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broadsheet.errors import BroadsheetError
from broadsheet.ingest import TROUBLED

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

LOW_SPACE = 500_000_000  # bytes


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it is in order, and what was found or is to be done."""

    name: str
    ok: bool
    message: str


def run_checks(library: Library) -> list[Check]:
    """All checks; none changes anything."""
    parts: dict[str, Callable[[Library], tuple[bool, str]]] = {
        "folder": _folder,
        "space": _space,
        "database": _database,
        "index": _index,
        "encoder": _encoder,
        "vectors": _vectors,
        "sources": _sources,
        "readers": _readers,
    }
    return [_checked(name, part, library) for name, part in parts.items()]


def _checked(name: str, part: Callable[[Library], tuple[bool, str]], library: Library) -> Check:
    try:
        ok, message = part(library)
    except BroadsheetError as error:
        ok, message = False, str(error)
    return Check(name, ok, message)


def _folder(library: Library) -> tuple[bool, str]:
    home = library.settings.home
    try:
        with tempfile.TemporaryFile(dir=home):
            return True, f"{home} can be written"
    except OSError as error:
        return False, f"{home} cannot be written ({os.strerror(error.errno or 0)}); correct its permissions"


def _space(library: Library) -> tuple[bool, str]:
    free = shutil.disk_usage(library.settings.home).free
    enough = free >= LOW_SPACE
    return enough, f"{free / 1e9:.1f} GB free" + ("" if enough else "; make room before the next import")


def _database(library: Library) -> tuple[bool, str]:
    problems = library.store.problems()
    if problems:
        return False, f"{problems[0]}; restore a backup, or export what can be read and import it into a new library"
    counts = library.store.counts()
    return True, f"{counts.papers:,} papers from {counts.records:,} records"


def _index(library: Library) -> tuple[bool, str]:
    library.index.verify()
    behind = library.pending_changes()
    papers, indexed = library.store.counts().papers, library.index.count()
    if behind:
        return False, f"{behind:,} changes are not indexed yet; start the server, or: broadsheet doctor --rebuild-index"
    if papers != indexed:
        return False, f"{indexed:,} of {papers:,} papers are indexed; broadsheet doctor --rebuild-index makes it again"
    return True, f"{indexed:,} papers"


def _encoder(library: Library) -> tuple[bool, str]:
    pair = library.vectors.answering()
    if pair is None:
        unwanted = library.vectors.wanted == "none"
        return unwanted, library.vectors.note
    late = library.vectors.in_service != library.vectors.wanted
    return True, pair.spec + (f" answers until the vectors of {library.vectors.wanted} are complete" if late else "")


def _vectors(library: Library) -> tuple[bool, str]:
    if library.vectors.wanted == "none":
        return True, "none are wanted"
    library.vectors.verify()
    pending = library.vectors.pending()
    if not pending:
        return True, "complete"
    return True, f"{pending:,} papers wait for one; the server makes them, or: broadsheet encode"


def _sources(library: Library) -> tuple[bool, str]:
    statuses = library.sources()
    troubled = [status for status in statuses if status.state in TROUBLED]
    if not statuses:
        return True, "none is configured"
    if not troubled:
        return True, f"{len(statuses)} configured, none in trouble"
    first = troubled[0]
    others = f" (and {len(troubled) - 1} more)" if len(troubled) > 1 else ""
    return False, f"{first.name}: {first.message or first.state.value}{others}; see: broadsheet sources"


def _readers(library: Library) -> tuple[bool, str]:
    """How many there are, and whether the newest edition of each can be read."""
    readers = library.daily.readers()
    days = {reader.name: library.daily.edition_days(reader.name) for reader in readers}
    for name, printed in days.items():
        if printed:
            library.daily.edition(printed[0], name)
    counted = "1 reader" if len(readers) == 1 else f"{len(readers)} readers"
    return True, f"{counted}, editions printed: {sum(map(len, days.values())):,}"
