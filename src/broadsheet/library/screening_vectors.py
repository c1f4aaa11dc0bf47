"""Vectors of a review's records: a file of rows that check themselves, filled by worker processes in the background.

A row is the digest of a text, its vector in float16 and a checksum, so that a process may be killed between any two
bytes: what does not check is dropped and made again. Texts are found by digest, whatever record they stand in, and the
rows of records that are gone do no harm.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from broadsheet.errors import BusyError, StoreError
from broadsheet.model.screening import PoolRecord

Floats = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Floats]
Progress = Callable[[int, int], None]

_DIGEST = 16  # bytes
_ROUND = 32  # texts after which rows are on the disk, and after which the end may come


def record_text(record: PoolRecord) -> str:
    """What is encoded of a record: title and abstract in one line, as for papers of the library."""
    return " ".join(f"{record.title} {record.abstract}".split())


def text_digest(text: str) -> bytes:
    """What a text is found by: 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


class RecordVectors:
    """The vectors of one review by one encoder, in ``file``; float32 of ``dimensions`` for who asks.

    Safe to use from threads; one process at a time adds. Raises StoreError where the folder cannot be written.
    """

    def __init__(self, file: Path, dimensions: int) -> None:
        self._file, self._dimensions = file, dimensions
        self._row = np.dtype([("digest", f"V{_DIGEST}"), ("vector", "<f2", (dimensions,)), ("check", "<u4")])
        self._lock = threading.Lock()
        self._rows = np.empty(0, self._row)
        self._place: dict[bytes, int] = {}
        self._seen: tuple[int, int] | None = None

    def stamp(self) -> tuple[int, int]:
        """The time and the number of rows of the file, (0, 0) without one; cheap."""
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            return 0, 0
        return stat.st_mtime_ns, stat.st_size // self._row.itemsize

    def of(self, digests: Sequence[bytes]) -> Floats | None:
        """float32 [n, dimensions] in the order of the texts' digests; None as long as one is lacking."""
        with self._lock:
            self._read()
            places = [self._place.get(digest) for digest in digests]
            found = [place for place in places if place is not None]
            return self._rows["vector"][found].astype(np.float32) if len(found) == len(places) else None

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Those texts that have no vector yet, each once."""
        with self._lock:
            self._read()
            return [text for text in dict.fromkeys(texts) if text_digest(text) not in self._place]

    def add(
        self,
        texts: Iterable[str],
        encode: Encode,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        on_progress: Progress = lambda done, total: None,
    ) -> int:
        """Make the vectors that are lacking, in rounds that are each on the disk; returns how many were made.

        Raises BusyError while another process adds to the same file.
        """
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self._file}.lock", timeout=0, thread_local=False):
                self._mend()
                return self._add(self.missing(texts), encode, should_stop, on_progress)
        except Timeout as error:
            raise BusyError(f"{self._file}: another process makes these vectors; wait for it") from error
        except OSError as error:
            raise StoreError(
                f"{self._file}: vectors cannot be written ({error.strerror or error}); make room or correct the "
                "permissions"
            ) from error

    def _add(self, texts: list[str], encode: Encode, should_stop: Callable[[], bool], on_progress: Progress) -> int:
        made = 0
        with self._file.open("ab") as file:
            while made < len(texts) and not should_stop():
                part = texts[made : made + _ROUND]
                file.write(self._packed(part, encode(part)))
                file.flush()
                os.fsync(file.fileno())
                made += len(part)
                on_progress(made, len(texts))
        return made

    def _packed(self, texts: Sequence[str], vectors: Floats) -> bytes:
        rows = np.zeros(len(texts), self._row)
        rows["digest"] = [np.void(text_digest(text)) for text in texts]
        rows["vector"] = vectors
        rows["check"] = _checks(rows)
        return rows.tobytes()

    def _read(self) -> None:
        """Take up what the file has now, unless it is as it was."""
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            self._rows, self._place, self._seen = np.empty(0, self._row), {}, None
            return
        if self._seen == (stat.st_mtime_ns, stat.st_size):
            return
        rows = self._whole(self._file.read_bytes())
        self._rows = rows[_checks(rows) == rows["check"]]
        self._place = {bytes(digest): place for place, digest in enumerate(self._rows["digest"])}
        self._seen = (stat.st_mtime_ns, stat.st_size)

    def _whole(self, content: bytes) -> npt.NDArray[np.void]:
        return np.frombuffer(content, self._row, count=len(content) // self._row.itemsize)

    def _mend(self) -> None:
        """Write the file again without what does not check: rows that come after a torn one must stay in step."""
        if not self._file.exists():
            return
        content = self._file.read_bytes()
        rows = self._whole(content)
        good = rows[_checks(rows) == rows["check"]]
        if good.nbytes == len(content):
            return
        aside = self._file.with_name(f".{self._file.name}-{os.getpid()}")
        try:
            with aside.open("wb") as file:
                file.write(good.tobytes())
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self._file)
        finally:
            with suppress(FileNotFoundError):
                aside.unlink()


def _checks(rows: npt.NDArray[np.void]) -> npt.NDArray[np.uint32]:
    """The checksum of each row's digest and vector."""
    if not len(rows):
        return np.empty(0, np.uint32)
    octets = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)[:, :-4]
    return np.array([zlib.crc32(row.tobytes()) for row in octets], np.uint32)
