"""Flat vectors: sign codes scanned for candidates, the best of them rescored from memory-mapped int8 rows.

Encoders such as E5 keep all their vectors within a narrow cone, where plain signs say little: codes are signs around a
stored mean (on 11,000 real papers, 400 candidates hold .98 of the true ten best instead of .50). The mean is fixed
when the first thousand vectors are there, and taken anew by ``compact`` and whenever there are eight times as many as
it was made of. Memory: d/8 bytes a vector for the codes and 24 for ids and digests; the int8 rows stay on disk.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from ..errors import BroadsheetError, IndexDamagedError
from .base import Digests, Ids, Vectors
from .vector_files import TOMBSTONE, Columns, Manifest, VectorFiles, encode_mean, spans

RESCORE = 1000
_EXACT_BELOW = 2000  # so few rows are scored directly: as fast as the codes, and exact
_MEAN_FROM = 1000
_MEAN_GROWTH = 8
_DEAD_SHARE = 0.3
_OPEN_TRIES = 5


@dataclass(frozen=True, slots=True)
class _State:
    """A snapshot of the live rows, ascending by id. ``at`` is each one's place in the mapped column ``rows``."""

    manifest: Manifest
    stamp: tuple[int, int, int] | None
    ids: Ids
    digests: Digests
    scales: npt.NDArray[np.float32]
    codes: npt.NDArray[np.uint8]
    at: npt.NDArray[np.intp]
    rows: npt.NDArray[np.int8]
    mean: Vectors


class FlatVectors:
    """A ``VectorIndex`` in files. Safe to share between threads and processes: readers work on snapshots, writers on a
    lock."""

    def __init__(self, folder: Path, dimensions: int, encoder_id: str, *, rescore: int = RESCORE) -> None:
        if dimensions < 8 or dimensions % 8:
            raise BroadsheetError(f"vectors of {dimensions} dimensions cannot be kept; it must be a multiple of 8")
        self.dimensions, self.encoder_id, self.rescore = dimensions, encoder_id, rescore
        self._files = VectorFiles(folder / folder_name(encoder_id), dimensions, encoder_id)
        self._lock = threading.RLock()
        self._state = self._load(check=True)

    @property
    def folder(self) -> Path:
        """Where this encoder's files are."""
        return self._files.folder

    # Reading

    def __len__(self) -> int:
        return len(self._current().ids)

    def known(self) -> tuple[Ids, Digests]:
        """Ids (ascending) and the digests of the texts their vectors were made from."""
        state = self._current()
        return state.ids, state.digests

    def get(self, ids: Ids) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Vectors float32[n, d] of unit length (zeros where not found) and the mask of those found."""
        state = self._current()
        place, found = _find(state.ids, np.asarray(ids, np.int64))
        vectors = np.zeros((len(found), self.dimensions), np.float32)
        vectors[found] = _unit(_rows(state, place[found]))
        return vectors, found

    def search(self, vector: Vectors, k: int, *, allowed: Ids | None = None) -> tuple[Ids, Vectors]:
        """The ``k`` best ids, of ``allowed`` where given, and their cosines, best first (equal: ascending id)."""
        state = self._current()
        query = _unit(self._checked(np.asarray(vector)[np.newaxis]))[0]
        chosen = np.arange(len(state.ids)) if allowed is None else np.flatnonzero(np.isin(state.ids, allowed))
        candidates = max(self.rescore, 4 * k)
        if len(chosen) > max(_EXACT_BELOW, candidates):
            codes = state.codes if allowed is None else np.take(state.codes, chosen, axis=0)
            chosen = np.sort(chosen[_nearest_codes(codes, _signs(query[np.newaxis] - state.mean), candidates)])
        scores = (np.take(state.rows, state.at[chosen], axis=0).astype(np.float32) @ query) * state.scales[chosen]
        best = np.argsort(-scores, kind="stable")[: max(k, 0)]
        return state.ids[chosen[best]], scores[best]

    def reload(self) -> None:
        """See what another process has written. Readers do so by themselves at each call; it costs one ``stat``."""
        if self._files.stamp() != self._state.stamp:
            with self._lock:
                self._state = self._load()

    def verify(self) -> None:
        """Compare every file with its checksum.

        Raises:
            IndexDamagedError: bytes have changed.
        """
        self._files.check(self._current().manifest, self._files.columns)

    # Writing

    def add(self, ids: Ids, digests: Digests, vectors: Vectors) -> None:
        """Store n vectors; a known id's vector is replaced, the last of equal ids wins. Durable on return.

        Raises:
            BroadsheetError: shapes do not fit, or a vector is not finite.
            BusyError: another process is writing.
        """
        unit = _unit(self._checked(vectors))
        if not len(ids) == len(digests) == len(unit):
            raise BroadsheetError(f"{len(ids)} ids, {len(digests)} digests and {len(unit)} vectors do not fit together")
        if not len(ids):
            return
        scales = np.abs(unit).max(axis=1) / np.float32(127)
        rows = np.rint(unit / np.where(scales == 0, np.float32(1), scales)[:, np.newaxis]).astype(np.int8)
        with self._lock, self._files.lock():
            self.reload()
            manifest, mean = self._state.manifest, self._state.mean
            live = len(np.union1d(self._state.ids, ids))
            columns = {"ids": ids, "digests": digests, "scales": scales, "codes": _signs(unit - mean), "rows": rows}
            self._files.append(manifest, columns, live=live)
            self._settle()

    def remove(self, ids: Ids) -> None:
        """Forget these ids; unknown ones are ignored. Durable on return.

        Raises:
            BusyError: another process is writing.
        """
        with self._lock, self._files.lock():
            self.reload()
            gone = np.intersect1d(self._state.ids, np.asarray(ids, np.int64))
            if not len(gone):
                return
            columns: Columns = {
                "ids": gone,
                "digests": np.zeros(len(gone), np.uint64),
                "scales": np.full(len(gone), TOMBSTONE),
                "codes": np.zeros((len(gone), self.dimensions // 8), np.uint8),
                "rows": np.zeros((len(gone), self.dimensions), np.int8),
            }
            self._files.append(self._state.manifest, columns, live=len(self._state.ids) - len(gone))
            self._settle()

    def compact(self) -> None:
        """Write the files again without dead rows, with codes around the mean of all vectors."""
        with self._lock, self._files.lock():
            self.reload()
            self._compact()

    # Inside

    def _current(self) -> _State:
        self.reload()
        return self._state

    def _settle(self) -> None:
        """After a write: see it; rewrite where too much is dead or the mean is of too few."""
        self._state = self._load()
        manifest = self._state.manifest
        dead = manifest.rows - manifest.live
        outgrown = manifest.live >= max(_MEAN_FROM, _MEAN_GROWTH * manifest.mean_of)
        if outgrown or (manifest.rows > _MEAN_FROM and dead > _DEAD_SHARE * manifest.rows):
            self._compact()

    def _compact(self) -> None:
        state = self._state
        mean, of = (self._mean(state), len(state.ids)) if len(state.ids) >= _MEAN_FROM else (state.mean, 0)
        self._files.rewrite(state.manifest, _parts(state, mean), encode_mean(mean) if of else "", of)
        self._state = self._load()

    def _mean(self, state: _State) -> Vectors:
        total = np.zeros(self.dimensions, np.float64)
        for start, stop in spans(len(state.ids)):
            total += _rows(state, np.arange(start, stop)).sum(axis=0, dtype=np.float64)
        return (total / len(state.ids)).astype(np.float32)

    def _load(self, *, check: bool = False) -> _State:
        for _ in range(_OPEN_TRIES):
            stamp = self._files.stamp()
            manifest = self._files.manifest()
            try:
                if check:
                    self._files.check(manifest, ("ids", "digests", "scales", "codes"))
                return _state(self._files, manifest, stamp)
            except FileNotFoundError as error:  # compacted by another process between the two reads
                missing = error
        raise IndexDamagedError(f"a file of the vectors is missing: {missing}") from missing

    def _checked(self, vectors: npt.NDArray[Any]) -> Vectors:
        checked = np.asarray(vectors, np.float32)
        if checked.ndim != 2 or checked.shape[1] != self.dimensions:
            raise BroadsheetError(f"vectors of shape {checked.shape} do not fit {self.dimensions} dimensions")
        if not np.isfinite(checked).all():
            raise BroadsheetError("a vector has values that are not finite; nothing was written")
        return checked


def folder_name(encoder_id: str) -> str:
    """A folder for one encoder: its id where that is a safe name, else made safe and told apart by a hash."""
    safe = re.sub(r"[^a-z0-9._-]+", "-", encoder_id.lower()).strip(".-")[:60]
    return safe if safe == encoder_id else f"{safe}-{hashlib.sha256(encoder_id.encode()).hexdigest()[:8]}".lstrip("-")


def _state(files: VectorFiles, manifest: Manifest, stamp: tuple[int, int, int] | None) -> _State:
    """The live rows: of each id the last, unless that is a tombstone."""
    columns = {column: files.map(manifest, column) for column in files.columns}
    ids, last = np.unique(columns["ids"][::-1], return_index=True)
    at = manifest.rows - 1 - last
    alive = columns["scales"][at] != TOMBSTONE
    ids, at = ids[alive], at[alive]
    return _State(
        manifest,
        stamp,
        np.asarray(ids),
        np.asarray(columns["digests"][at]),
        np.asarray(columns["scales"][at]),
        np.asarray(columns["codes"][at]),
        at,
        columns["rows"],
        manifest.mean_vector(),
    )


def _parts(state: _State, mean: Vectors) -> Iterator[Columns]:
    for start, stop in spans(len(state.ids)):
        piece = slice(start, stop)
        yield {
            "ids": state.ids[piece],
            "digests": state.digests[piece],
            "scales": state.scales[piece],
            "codes": _signs(_rows(state, np.arange(start, stop)) - mean),
            "rows": state.rows[state.at[piece]],
        }


def _rows(state: _State, places: npt.NDArray[np.intp]) -> Vectors:
    return state.rows[state.at[places]].astype(np.float32) * state.scales[places, np.newaxis]


def _find(ids: Ids, wanted: Ids) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    place = np.searchsorted(ids, wanted)
    found = place < len(ids)
    found[found] = ids[place[found]] == wanted[found]
    return place, found


def _nearest_codes(codes: npt.NDArray[np.uint8], query: npt.NDArray[np.uint8], k: int) -> npt.NDArray[np.int64]:
    faiss.omp_set_num_threads(1)  # holds for the calling thread only; starting others costs more than one scan
    _, places = faiss.knn_hamming(query, codes, k, variant="mc")
    found: npt.NDArray[np.int64] = places[0]
    return found[found >= 0]


def _signs(vectors: Vectors) -> npt.NDArray[np.uint8]:
    return np.packbits(vectors > 0, axis=1)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
