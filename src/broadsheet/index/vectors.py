"""Flat vectors: sign codes scanned for candidates, the best of them rescored from memory-mapped int8 rows.

Encoders such as E5 keep all their vectors within a narrow cone, where plain signs say little: both codings are of what
is left beside a stored mean (on 11,000 real papers, 400 candidates by sign hold .98 of the true ten best instead of
.50). The mean is fixed when the first thousand vectors are there, and anew whenever they are four times as many.
Memory: d/8 bytes a vector for the codes and 28 for ids, digests, scales and places; the int8 rows stay on disk.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from ..errors import BroadsheetError, IndexDamagedError
from .base import Digests, Ids, Vectors
from .vector_files import REMEDY, TOMBSTONE, Columns, Manifest, VectorFiles, encode_mean, spans

RESCORE = 2000
_EXACT_BELOW = 4000  # so few rows are scored directly: as fast as the codes, and exact
_MEAN_FROM = 1000
_MEAN_GROWTH = 4
_COMPACT_FROM = 1000
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
    """A ``VectorIndex`` in files. Threads and processes may share it: readers have snapshots, writers a lock."""

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
        vectors[found] = _unit(_decode(state, place[found]))
        return vectors, found

    def search(self, vector: Vectors, k: int, *, allowed: Ids | None = None) -> tuple[Ids, Vectors]:
        """The ``k`` best ids, of ``allowed`` where given, and their cosines, best first (equal: ascending id)."""
        state = self._current()
        query = self._units(np.asarray(vector)[np.newaxis])[0]
        chosen = np.arange(len(state.ids)) if allowed is None else np.flatnonzero(np.isin(state.ids, allowed))
        candidates = max(self.rescore, 4 * k)
        if len(chosen) > max(_EXACT_BELOW, candidates):
            codes = state.codes if allowed is None else np.take(state.codes, chosen, axis=0)
            chosen = np.sort(chosen[_nearest_codes(codes, _signs(query[np.newaxis] - state.mean), candidates)])
        scores = _cosines(state, chosen, query)
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
            BroadsheetError: shapes do not fit, or a vector is not finite or zero.
            BusyError: another process is writing.
        """
        units, ids, digests = self._units(vectors), np.asarray(ids, np.int64), np.asarray(digests, np.uint64)
        if not len(ids) == len(digests) == len(units):
            raise BroadsheetError(
                f"{len(ids)} ids, {len(digests)} digests and {len(units)} vectors do not fit together"
            )
        if not len(ids):
            return
        with self._lock, self._files.lock():
            self.reload()
            live = len(np.union1d(self._state.ids, ids))
            if live >= max(_MEAN_FROM, _MEAN_GROWTH * self._state.manifest.mean_of):
                self._retake_mean(units, live)
            columns = {"ids": ids, "digests": digests, **_encode(units, self._state.mean)}
            self._files.append(self._state.manifest, columns, live=live)
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
        """Write the files again without dead rows."""
        with self._lock, self._files.lock():
            self.reload()
            self._rewrite(self._state.mean, self._state.manifest)

    # Inside

    def _current(self) -> _State:
        self.reload()
        return self._state

    def _settle(self) -> None:
        """After a write: see it, and rewrite where too much is dead."""
        self._state = self._load()
        manifest = self._state.manifest
        if manifest.rows > _COMPACT_FROM and manifest.rows - manifest.live > _DEAD_SHARE * manifest.rows:
            self._rewrite(self._state.mean, manifest)

    def _retake_mean(self, new: Vectors, live: int) -> None:
        """Code what there is around the mean of it and the ``new`` vectors, which then need to be coded once only."""
        state, total = self._state, new.sum(axis=0, dtype=np.float64)
        for start, stop in spans(len(state.ids)):
            total += _decode(state, np.arange(start, stop)).sum(axis=0, dtype=np.float64)
        mean = (total / (len(state.ids) + len(new))).astype(np.float32)
        self._rewrite(mean, replace(state.manifest, mean=encode_mean(mean), mean_of=live))

    def _rewrite(self, mean: Vectors, manifest: Manifest) -> None:
        self._files.rewrite(manifest, _parts(self._state, mean))
        self._state = self._load()

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
        raise IndexDamagedError(f"a file of the vectors is missing: {missing}; {REMEDY}") from missing

    def _units(self, vectors: npt.NDArray[Any]) -> Vectors:
        checked = np.asarray(vectors, np.float32)
        if checked.ndim != 2 or checked.shape[1] != self.dimensions:
            raise BroadsheetError(f"vectors of shape {checked.shape} do not fit {self.dimensions} dimensions")
        if not np.isfinite(checked).all():
            raise BroadsheetError("a vector has values that are not finite")
        if not checked.any(axis=1).all():
            raise BroadsheetError("a vector is zero and so has no direction")
        return _unit(checked)


def count_in(folder: Path, encoder_id: str) -> int:
    """Number of live vectors by the manifest; 0 where there is none that can be read."""
    try:
        return int(_manifest_in(folder / folder_name(encoder_id))["live"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def verify_in(folder: Path) -> None:
    """Compare every file of one encoder's folder with its checksum.

    Raises:
        IndexDamagedError: something cannot be read or has changed.
    """
    try:
        body = _manifest_in(folder)
        files = VectorFiles(folder, int(body["dimensions"]), str(body["encoder"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexDamagedError(f"{folder} holds no vectors that can be read: {error}; {REMEDY}") from error
    try:
        files.check(files.manifest(), files.columns)
    except OSError as error:
        raise IndexDamagedError(f"a file of the vectors is missing: {error}; {REMEDY}") from error


def _manifest_in(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())["manifest"]
    return content


def folder_name(encoder_id: str) -> str:
    """A folder for one encoder: its id where that is a safe name, else made safe and told apart by a hash."""
    safe = re.sub(r"[^a-z0-9._-]+", "-", encoder_id.lower()).strip(".-")[:60]
    if safe and safe == encoder_id:
        return safe
    return f"{safe}-{hashlib.sha256(encoder_id.encode()).hexdigest()[:8]}".lstrip("-")


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
    """All live rows, in pieces; coded anew only where the mean is another, since each coding rounds."""
    for start, stop in spans(len(state.ids)):
        piece = slice(start, stop)
        if mean is state.mean:
            coded: Columns = {
                "scales": state.scales[piece],
                "codes": state.codes[piece],
                "rows": state.rows[state.at[piece]],
            }
        else:
            coded = _encode(_decode(state, np.arange(start, stop)), mean)
        yield {"ids": state.ids[piece], "digests": state.digests[piece], **coded}


def _encode(units: Vectors, mean: Vectors) -> dict[str, npt.NDArray[Any]]:
    """What is left of unit vectors beside the mean: its signs, and in 8 bits with a scale for each vector."""
    residuals = units - mean
    scales = np.abs(residuals).max(axis=1) / np.float32(127)
    rows = np.rint(residuals / np.where(scales == 0, np.float32(1), scales)[:, np.newaxis]).astype(np.int8)
    return {"scales": scales, "codes": _signs(residuals), "rows": rows}


def _decode(state: _State, places: npt.NDArray[np.intp]) -> Vectors:
    return state.rows[state.at[places]].astype(np.float32) * state.scales[places, np.newaxis] + state.mean


def _cosines(state: _State, places: npt.NDArray[np.intp], query: Vectors) -> Vectors:
    """Cosines; in blocks so small that BLAS does not start threads, which would cost more than all the rest."""
    blocks = [
        np.take(state.rows, state.at[places[start:stop]], axis=0).astype(np.float32) @ query
        for start, stop in spans(len(places), 512)
    ]
    residuals = np.concatenate([np.zeros(0, np.float32), *blocks])
    cosines: Vectors = residuals * state.scales[places] + state.mean @ query
    return cosines


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
