"""The files behind the flat vectors: append-only columns and a manifest that says how many of their rows count.

A folder holds ``manifest.json`` and one file per column, all of one *generation* (a number in their names). Rows are
appended and synced first; then the manifest with the new count replaces the old one in one step. So after a crash at
any moment the manifest's rows are whole, and what lies behind them is overwritten by the next writer. Writing the
columns anew (``rewrite``) makes the next generation beside the old one.
"""

from __future__ import annotations

import base64
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BusyError, IndexDamagedError

FORMAT = 1
REMEDY = "run `broadsheet doctor --rebuild-index` to make the vectors again"
TOMBSTONE = np.float32(-1)  # in ``scales``: the row removes its id

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What of the files counts. ``sums`` are CRC-32 of each column's first ``rows`` rows; ``mean`` is base64
    float32."""

    encoder: str
    dimensions: int
    generation: int = 0
    rows: int = 0
    live: int = 0
    mean: str = ""
    mean_of: int = 0
    sums: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT

    def mean_vector(self) -> npt.NDArray[np.float32]:
        """The mean that sign codes are taken around; zeros before it is fixed."""
        if not self.mean:
            return np.zeros(self.dimensions, np.float32)
        return np.frombuffer(base64.b64decode(self.mean), np.float32)


def encode_mean(mean: npt.NDArray[np.float32]) -> str:
    """A mean as it stands in the manifest."""
    return base64.b64encode(mean.astype(np.float32).tobytes()).decode()


class VectorFiles:
    """The columns ``ids`` i64, ``digests`` u64, ``scales`` f32, ``codes`` u8[d/8] and ``rows`` i8[d] in one folder."""

    def __init__(self, folder: Path, dimensions: int, encoder: str) -> None:
        self.folder = folder
        self._empty = Manifest(encoder, dimensions)
        self.columns: dict[str, tuple[np.dtype[Any], int]] = {
            "ids": (np.dtype("<i8"), 1),
            "digests": (np.dtype("<u8"), 1),
            "scales": (np.dtype("<f4"), 1),
            "codes": (np.dtype("u1"), dimensions // 8),
            "rows": (np.dtype("i1"), dimensions),
        }

    @property
    def manifest_path(self) -> Path:
        """The manifest; it changes with every write."""
        return self.folder / "manifest.json"

    def path(self, column: str, generation: int) -> Path:
        """A column's file."""
        return self.folder / f"{column}-{generation:06d}.bin"

    def stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever another manifest is in place; None where there is none."""
        try:
            stat = self.manifest_path.stat()
        except FileNotFoundError:
            return None
        return stat.st_mtime_ns, stat.st_ino, stat.st_size

    def manifest(self) -> Manifest:
        """The manifest in place, or that of no rows.

        Raises:
            IndexDamagedError: it cannot be read, or is of another encoder, size or format.
        """
        try:
            content = json.loads(self.manifest_path.read_bytes())
            body, crc = content["manifest"], content["crc"]
            if crc != zlib.crc32(_canonical(body)):
                raise ValueError("its checksum is wrong")
            if body["format"] != FORMAT:
                raise ValueError(f"its format is {body['format']}, not {FORMAT}")
            found = Manifest(**body)
        except FileNotFoundError:
            return self._empty
        except (ValueError, KeyError, TypeError) as error:
            raise IndexDamagedError(f"{self.manifest_path} cannot be used: {error}; {REMEDY}") from error
        if (found.encoder, found.dimensions) != (self._empty.encoder, self._empty.dimensions):
            raise IndexDamagedError(
                f"{self.folder} holds vectors of {found.encoder} in {found.dimensions} dimensions, "
                f"not of {self._empty.encoder} in {self._empty.dimensions}; {REMEDY}"
            )
        return found

    def map(self, manifest: Manifest, column: str) -> npt.NDArray[Any]:
        """A column's rows that count, memory-mapped: shape [rows] or [rows, width].

        Raises:
            IndexDamagedError: the file is shorter than the manifest says.
            FileNotFoundError: there is no such generation (any more).
        """
        dtype, width = self.columns[column]
        shape = (manifest.rows,) if width == 1 and column != "codes" else (manifest.rows, width)
        if not manifest.rows:
            return np.zeros(shape, dtype)
        path = self.path(column, manifest.generation)
        size, needed = path.stat().st_size, manifest.rows * width * dtype.itemsize
        if size < needed:
            raise IndexDamagedError(f"{path} has {size} bytes where {needed} are needed; {REMEDY}")
        return np.memmap(path, dtype, "r", shape=shape)

    def check(self, manifest: Manifest, columns: Iterable[str]) -> None:
        """Compare checksums.

        Raises:
            IndexDamagedError: a column's bytes are not those that were written.
        """
        for column in columns:
            crc = 0
            for start, stop in spans(manifest.rows):
                crc = zlib.crc32(self.map(manifest, column)[start:stop].tobytes(), crc)
            if crc != manifest.sums.get(column, 0):
                raise IndexDamagedError(f"{self.path(column, manifest.generation)} has changed bytes; {REMEDY}")

    def append(self, manifest: Manifest, columns: Columns, *, live: int) -> None:
        """Write rows behind those of ``manifest``; durable on return. Call under ``lock``."""
        sums = dict(manifest.sums)
        for column, values in columns.items():
            dtype, width = self.columns[column]
            data = values.astype(dtype).tobytes()
            sums[column] = zlib.crc32(data, sums.get(column, 0))
            with _open_for_update(self.path(column, manifest.generation)) as file:
                file.truncate(manifest.rows * width * dtype.itemsize)
                file.seek(0, os.SEEK_END)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        self._publish(replace(manifest, rows=manifest.rows + len(columns["ids"]), live=live, sums=sums))

    def rewrite(self, manifest: Manifest, parts: Iterable[Columns]) -> None:
        """Write the generation after ``manifest``'s, with its mean, from live rows. Call under ``lock``."""
        fresh = replace(manifest, generation=manifest.generation + 1)
        sums = dict.fromkeys(self.columns, 0)
        rows = 0
        files = {column: self.path(column, fresh.generation).open("wb") for column in self.columns}
        try:
            for part in parts:
                rows += len(part["ids"])
                for column, file in files.items():
                    data = part[column].astype(self.columns[column][0]).tobytes()
                    sums[column] = zlib.crc32(data, sums[column])
                    file.write(data)
            for file in files.values():
                file.flush()
                os.fsync(file.fileno())
        finally:
            for file in files.values():
                file.close()
        fresh = replace(fresh, rows=rows, live=rows, sums=sums)
        self._publish(fresh)
        self._sweep(fresh)

    @contextmanager
    def lock(self, timeout: float = 10.0) -> Iterator[None]:
        """Be the only writer, across processes; the lock falls with the process.

        Raises:
            BusyError: another writer held it for ``timeout`` seconds.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("a+b") as file:
            deadline = time.monotonic() + timeout
            while not _try_lock(file.fileno()):
                if time.monotonic() > deadline:
                    raise BusyError(f"another process is writing the vectors {self.folder}; wait for it or stop it")
                time.sleep(0.02)
            yield

    def _sweep(self, manifest: Manifest) -> None:
        """Remove the files of other generations, also those that a crash left."""
        kept = {self.path(column, manifest.generation) for column in self.columns}
        for path in self.folder.glob("*-*.bin"):
            if path not in kept:
                try:
                    path.unlink()
                except PermissionError:  # Windows, while a reader has it mapped: the next sweep takes it
                    continue

    def _publish(self, manifest: Manifest) -> None:
        body = asdict(manifest)
        aside = self.manifest_path.with_suffix(".new")
        with aside.open("wb") as file:
            file.write(json.dumps({"manifest": body, "crc": zlib.crc32(_canonical(body))}).encode())
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.manifest_path)
        _sync_folder(self.folder)


def spans(rows: int, step: int = 16384) -> Iterator[tuple[int, int]]:
    """``0..rows`` in pieces, so that no column is in memory as a whole."""
    return ((start, min(start + step, rows)) for start in range(0, rows, step))


def _canonical(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True).encode()


def _open_for_update(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644), "r+b")


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there; NTFS journals the rename
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


if os.name == "nt":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
