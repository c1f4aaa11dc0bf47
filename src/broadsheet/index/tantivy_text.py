"""The embedded text index: Tantivy in a folder.

A commit is atomic and durable: after a crash the index is as of the last commit, and ``applied_seq`` says which that
was. One process writes (Tantivy's lock), any number read; readers see a new commit at their next call.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from ..errors import BroadsheetError, BusyError, IndexDamagedError, StoreError
from ..model import IndexDocument, PaperId
from .base import COUNTED_FACETS, Either, IdIs, Ids, Sort, TextHits, TextQuery
from .tantivy_query import Compiler, is_scored
from .tantivy_schema import FORMAT, MARKER, analyzers, build_schema, marker, to_tantivy

REMEDY = "run `broadsheet doctor --rebuild-index` to make it again from the database"
FORMAT_FILE = "broadsheet-text-index"
_DECIMALS = 4  # scores are float32 sums, whose last digits depend on the order of addition
_SLACK = 16
_MOST_TIES = 100_000  # of more equal scores, the page has those that come first in the index
_MOST_VALUES = 65_000  # of one facet; Tantivy's limit on buckets
_REMEMBERED = 16
_OS_ERROR = re.compile(r"(?:os error|code:) (\d+)")
_OS_REMEDIES = {
    errno.ENOSPC: "make room on this disk and try again (nothing is lost)",
    errno.EDQUOT: "make room on this disk and try again (nothing is lost)",
    errno.EACCES: "correct the permissions and try again",
    errno.EROFS: "even reading needs a lock file in that folder, so copy the library to a disk that can be written",
}
_SEGMENT_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")


class TantivyIndex:
    """A ``TextIndex`` in a folder. Safe to share between threads."""

    def __init__(self, folder: Path, *, heap_bytes: int = 64_000_000, threads: int = 1) -> None:
        """Open or make it; ``heap_bytes`` is the writer's buffer for each of its ``threads`` (at least 15 MB).

        Raises:
            IndexDamagedError: the folder holds something else, another format, or damaged files.
        """
        self.folder = folder
        self._heap, self._threads = heap_bytes, threads
        self._lock = threading.RLock()
        self._writer: Any = None
        self._index = _open(folder)
        self._compiler = Compiler(self._index.schema)
        self._snapshot: tuple[object, Any] = (None, None)
        self._ids: OrderedDict[tuple[object, str], Ids] = OrderedDict()
        self._fresh()

    # Reading

    def applied_seq(self) -> int:
        """The ``seq`` of the last commit; 0 for a new index."""
        searcher = self._fresh()
        with self._damage():
            hits = searcher.search(self._compiler.marker(), limit=1, count=False).hits
            return int(searcher.fast_field_values("seq", [hits[0][1]])[0]) if hits else 0

    def count(self) -> int:
        """Number of papers."""
        searcher = self._fresh()
        with self._damage():
            return int(searcher.num_docs) - len(searcher.search(self._compiler.marker(), limit=1, count=False).hits)

    def search(self, query: TextQuery, *, limit: int, offset: int = 0, sort: Sort = "relevance") -> TextHits:
        """A page of matches. Equal scores: ascending id. ``newest``/``oldest``: by day then id, undated papers last."""
        searcher, compiled = self._fresh(), self._compiler.compile(query)
        offset = min(max(offset, 0), searcher.num_docs)  # Tantivy reserves memory for as many as it is asked for
        limit = min(max(limit, 0), searcher.num_docs)
        with self._damage():
            if sort == "relevance" and is_scored(query):
                return _by_score(searcher, compiled, limit, offset)
            key = "id" if sort == "relevance" else sort
            order = tantivy.Order.Desc if sort == "newest" else tantivy.Order.Asc
            found = searcher.search(compiled, limit=max(limit, 1), offset=offset, order_by_field=key, order=order)
            ids = searcher.fast_field_values("id", [address for _, address in found.hits[:limit]])
        return TextHits(tuple(ids), (0.0,) * len(ids), found.count)

    def facets(self, query: TextQuery, *, extra_ids: Sequence[PaperId] = ()) -> dict[str, dict[str, int]]:
        """How many papers of the query, together with ``extra_ids``, have each value of ``COUNTED_FACETS``, most
        first."""
        both = Either((query, IdIs(tuple(extra_ids)))) if len(extra_ids) else query
        searcher, compiled = self._fresh(), self._compiler.compile(both)
        wanted = {name: {"terms": {"field": name, "size": _MOST_VALUES}} for name in COUNTED_FACETS}
        with self._damage():
            counted = searcher.aggregate(compiled, wanted)
        return {name: {_label(b["key"]): b["doc_count"] for b in counted[name]["buckets"]} for name in COUNTED_FACETS}

    def ids(self, query: TextQuery, limit: int | None = None) -> Ids:
        """Ids of all matches, ascending; the lowest ``limit`` of them where given. The last few answers are
        remembered."""
        searcher = self._fresh()
        key = (self._snapshot[0], repr((query, limit)))
        with self._lock:
            if key in self._ids:
                self._ids.move_to_end(key)
                return self._ids[key]
        compiled, most = self._compiler.compile(query), searcher.num_docs
        most = max(1, most if limit is None else min(limit, most))
        with self._damage():
            found = searcher.search(compiled, limit=most, count=False, order_by_field="id", order=tantivy.Order.Asc)
            hits = found.hits
        ids = np.fromiter((value for value, _ in hits), np.int64, len(hits))[:limit]
        ids.flags.writeable = False
        with self._lock:
            self._ids[key] = ids
            while len(self._ids) > _REMEMBERED:
                self._ids.popitem(last=False)
        return ids

    def verify(self) -> None:
        """Compare every file with the checksum in its footer.

        Raises:
            IndexDamagedError: bytes have changed, or a segment's file is cut short or missing.
        """
        with self._damage():
            for path in _segment_files(self.folder):
                _verify_footer(path)

    # Writing

    def apply(self, upserts: Sequence[IndexDocument], deletes: Sequence[PaperId], *, seq: int) -> None:
        """Write both and the applied ``seq`` as one durable commit.

        Raises:
            BusyError: another process is writing.
        """
        with self._lock:
            self.add(upserts, deletes)
            self.commit(seq)

    def add(self, upserts: Sequence[IndexDocument], deletes: Sequence[PaperId] = ()) -> None:
        """Write without a commit (for bulk); nothing is seen or kept before ``commit``. A later paper of an id
        replaces it."""
        documents = [(str(paper.id), to_tantivy(paper)) for paper in upserts]
        with self._writing() as writer:
            for paper_id in deletes:
                writer.delete_documents_by_term("key", str(paper_id))
            for key, document in documents:
                writer.delete_documents_by_term("key", key)
                writer.add_document(document)

    def clear(self) -> None:
        """Delete everything at the next ``commit``; until then readers see it all, so an index is remade in service."""
        with self._writing() as writer:
            writer.delete_documents_by_query(tantivy.Query.all_query())

    def commit(self, seq: int) -> None:
        """Make all that was added durable and visible, with the applied ``seq``."""
        with self._writing() as writer:
            writer.delete_documents_by_term("key", MARKER)
            writer.add_document(marker(seq))
            writer.commit()
        self._fresh()

    def optimise(self) -> None:
        """Wait for merges and drop files that are no longer used. What was added but not committed is dropped."""
        self.close()
        with self._writing() as writer:
            writer.garbage_collect_files()
        self.close()
        self._fresh()

    def close(self) -> None:
        """Give up the writer's lock after its merges; what was added but not committed is dropped."""
        with self._lock:
            writer, self._writer = self._writer, None
            if writer is not None:
                with self._damage():
                    writer.rollback()
                    writer.wait_merging_threads()

    # Inside

    def _fresh(self) -> Any:
        """A searcher on the last commit of any process."""
        with self._damage():
            stat = (self.folder / "meta.json").stat()
            seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            known, searcher = self._snapshot
            if seen == known:
                return searcher
            with self._lock:
                self._index.reload()
                self._snapshot = (seen, self._index.searcher())
                return self._snapshot[1]

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """The writer, opened at need. One that failed is of no more use and is given up, with what it had not
        committed."""
        with self._lock, self._damage():
            if self._writer is None:
                self._writer = self._open_writer()
            try:
                yield self._writer
            except BaseException as error:
                if _is_failure(error):
                    self._abandon_writer()
                raise

    def _abandon_writer(self) -> None:
        """Give up a writer that failed, and its lock now: the error may keep the object alive for long."""
        writer, self._writer = self._writer, None
        try:
            writer.wait_merging_threads()
        except BaseException as error:
            if not _is_failure(error):  # else: why it failed is being raised already
                raise

    def _failure(self, error: BaseException) -> BroadsheetError:
        free = shutil.disk_usage(self.folder).free if "writer was killed" in str(error) else None
        if free is not None and free < self._heap:  # its thread could not write, and does not say why
            error = OSError(errno.ENOSPC, str(error))
        return _meaning(f"the text index {self.folder} failed", error)

    def _open_writer(self) -> Any:
        try:
            return self._index.writer(heap_size=self._heap * self._threads, num_threads=self._threads)
        except ValueError as error:
            if "LockBusy" not in str(error):
                raise
            raise BusyError(f"another process is writing the index {self.folder}; wait for it or stop it") from error

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not _is_failure(error):
                raise
            raise self._failure(error) from error


def _open(folder: Path) -> Any:
    format_file = folder / FORMAT_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A hidden file alone is no index: while a folder is emptied, a thread of Tantivy's makes its lock file again.
        if all(path.name.startswith(".") for path in folder.iterdir()):
            _write_in_one_step(format_file, f"{FORMAT}\n")
        found = format_file.read_text().strip() if format_file.exists() else ""
        if found != str(FORMAT):
            what = f"a text index of format {found}, not {FORMAT}" if found else "files that are no text index"
            raise IndexDamagedError(f"{folder} holds {what}; {REMEDY}")
        index = tantivy.Index(build_schema(), path=str(folder), reuse=True)
    except BaseException as error:
        if not _is_failure(error):
            raise
        raise _meaning(f"cannot open the text index {folder}", error) from error
    for name, analyzer in analyzers().items():
        index.register_tokenizer(name, analyzer)
    index.config_reader("manual")
    return index


def _write_in_one_step(path: Path, text: str) -> None:
    """Write it so that whoever opens the folder meanwhile, or after a crash, finds all of the text or no file."""
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(aside).replace(path)
    finally:
        Path(aside).unlink(missing_ok=True)


def _is_failure(error: BaseException) -> bool:
    """Whether Tantivy failed. A panic of it, as on damaged files, is no ``Exception``, and its class has no address."""
    return isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException"


def _meaning(what: str, error: BaseException) -> BroadsheetError:
    """The error with its remedy. Tantivy's errors of the operating system are told by their numbers in the text."""
    numbers = _OS_ERROR.findall(str(error)) or [str(getattr(error, "errno", ""))]
    for number, remedy in _OS_REMEDIES.items():
        if str(number) in numbers:
            return StoreError(f"{what}: {os.strerror(number)}; {remedy}")
    return IndexDamagedError(f"{what}: {error}; {REMEDY}")


def _by_score(searcher: Any, compiled: Any, limit: int, offset: int) -> TextHits:
    """A page ordered by score, then id, whatever the segments: reads on until scores fall below the last of the
    page."""
    wanted = offset + limit
    size = max(1, wanted + _SLACK)
    while True:
        found = searcher.search(compiled, limit=min(size, searcher.num_docs + 1))
        hits = [(round(score, _DECIMALS), address) for score, address in found.hits]
        if len(hits) < size or not limit or hits[-1][0] < hits[wanted - 1][0] or size > wanted + _MOST_TIES:
            break
        size *= 4
    ids = searcher.fast_field_values("id", [address for _, address in hits])
    ranked = sorted((-score, paper_id) for (score, _), paper_id in zip(hits, ids, strict=True))[offset:wanted]
    return TextHits(tuple(paper_id for _, paper_id in ranked), tuple(-score for score, _ in ranked), found.count)


def _label(key: object) -> str:
    return str(int(key)) if isinstance(key, float) else str(key)


def _segment_files(folder: Path) -> Iterator[Path]:
    """The files of the committed segments. A killed writer may leave deletions of a commit that never was."""
    segments = json.loads((folder / "meta.json").read_bytes())["segments"]
    for segment in segments:
        name = segment["segment_id"].replace("-", "")
        yield from (folder / f"{name}.{part}" for part in _SEGMENT_PARTS)
        if deleted := segment["deletes"]:
            yield folder / f"{name}.{deleted['opstamp']}.del"


def _verify_footer(path: Path) -> None:
    """Tantivy ends each file with JSON that has the body's CRC-32, the JSON's length and a magic number, both u32."""
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = json.loads(data[-8 - length : -8])
    if zlib.crc32(data[: -8 - length]) != footer["crc"]:
        raise ValueError(f"{path.name} has changed bytes")
