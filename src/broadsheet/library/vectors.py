"""Which encoder answers questions, which one is being caught up with, and the vectors of both.

When the setting ``encoder`` changes, the encoder in service keeps answering until the new one's vectors are complete.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from broadsheet.encode import Encoder, EncoderPool, Floats, encoder_id, open_encoder
from broadsheet.errors import BroadsheetError, EncoderUnavailableError, IndexDamagedError, SettingsError, StoreError
from broadsheet.index import VectorIndex, count_vectors, open_vectors, vectors_folder, verify_vectors
from broadsheet.ingest import encode_pending, pending_count
from broadsheet.settings import Settings
from broadsheet.store import Store

NONE = "none"
_CHUNK = 8  # texts that a worker takes at a time
_ROUND = 128  # texts after which vectors are on disk
_IN_SERVICE = "encoder-in-service"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Pair:
    """An encoder and the vectors it made."""

    spec: str
    encoder: Encoder
    vectors: VectorIndex


class VectorService:
    """Opens encoders when they are first needed. ``say`` is told what takes time."""

    def __init__(self, settings: Settings, store: Store, say: Callable[[str], None]) -> None:
        self._settings, self._store, self._say = settings, store, say
        self._folder = settings.index_dir / "vectors"
        self._pairs: dict[str, Pair] = {}
        self._opening: dict[str, threading.Lock] = {}
        self.note = "" if settings.encoder != NONE else "no encoder is set: search goes by words alone"

    @property
    def wanted(self) -> str:
        """The encoder of the settings, or ``none``."""
        return self._settings.encoder

    @property
    def in_service(self) -> str:
        """The encoder that answers questions now."""
        if self.wanted == NONE:
            return NONE
        try:
            spec = (self._folder / _IN_SERVICE).read_text("utf-8", errors="replace").strip()
            encoder_id(spec)
        except (FileNotFoundError, SettingsError):
            return self.wanted
        return spec

    def answering(self) -> Pair | None:
        """The encoder in service with its vectors; None where there is none or it is out of reach (see ``note``)."""
        for spec in dict.fromkeys((self.in_service, self.wanted)):
            if spec == NONE:
                continue
            try:
                pair = self._open(spec)
                self.note = ""
                return pair
            except BroadsheetError as error:
                self.note = str(error)
        return None

    def opened(self) -> Pair | None:
        """What ``answering`` would give, as far as it is open already."""
        found = (self._pairs.get(spec) for spec in (self.in_service, self.wanted))
        return next((pair for pair in found if pair), None)

    def count(self) -> int:
        """How many vectors are in service; opens no encoder."""
        spec = self.in_service
        return count_vectors(self._folder, encoder_id(spec)) if spec != NONE else 0

    def drop_damaged(self) -> None:
        """Remove vectors whose files cannot be read or fail their checksums, so that they are made again."""
        self._pairs = {}
        for folder in self._folders():
            # Twice, because another process may replace the files between the reading of one and of the next.
            if _is_damaged(folder) and _is_damaged(folder):
                shutil.rmtree(folder)

    def verify(self) -> None:
        """Compare all files with their checksums. Raises IndexDamagedError."""
        for folder in self._folders():
            verify_vectors(folder)

    def encode(
        self,
        *,
        workers: int | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        on_progress: Progress = lambda done, total: None,
        niceness: int = 0,
    ) -> int:
        """Make all vectors that the wanted encoder lacks; returns how many were made.

        Raises EncoderUnavailableError, MissingExtraError, SettingsError, StoreError where vectors cannot be written,
        BusyError where another process is writing them.
        """
        if self.wanted == NONE:
            return 0
        pair = self._open_whole(self.wanted)
        pair.vectors.reload()
        total = pending_count(self._store, pair.vectors)
        made = 0
        if total:
            count = workers or self._settings.encode_workers
            on_progress(0, total)
            mapper = _mapper(self._settings, self.wanted, pair.encoder, count, niceness)
            with mapper as encode, self._written():
                made = encode_pending(
                    self._store,
                    pair.vectors,
                    encode,
                    batch=_ROUND,
                    should_stop=should_stop,
                    on_progress=lambda done: on_progress(done, max(total, done)),
                )
        if not should_stop():
            with self._written():
                self._put_in_service(self.wanted)
        return made

    @contextmanager
    def encoding(
        self, *, workers: int | None = None, niceness: int = 0
    ) -> Iterator[tuple[Callable[[Sequence[str]], Floats], int]]:
        """For texts that are no papers: the function of the wanted encoder from n passages to float32 [n, dimensions],
        which has worker processes as long as the context lasts, and the dimensions.

        Raises EncoderUnavailableError, MissingExtraError, SettingsError.
        """
        pair = self._open_whole(self.wanted)
        count = workers or self._settings.encode_workers
        with _mapper(self._settings, self.wanted, pair.encoder, count, niceness) as encode:
            yield encode, pair.encoder.dimensions

    def pending(self) -> int:
        """How many papers lack a current vector of the wanted encoder."""
        if self.wanted == NONE:
            return 0
        pair = self._open(self.wanted)
        pair.vectors.reload()
        return pending_count(self._store, pair.vectors)

    def _open(self, spec: str) -> Pair:
        with self._opening.setdefault(spec, threading.Lock()):  # a search and the background want the same one
            pairs = self._pairs
            if spec not in pairs:
                try:
                    encoder = open_encoder(
                        spec, self._settings.models_dir, key=self._settings.encoder_key, say=self._say
                    )
                    vectors = open_vectors(self._folder, encoder.dimensions, encoder_id(spec))
                except OSError as error:
                    raise EncoderUnavailableError(
                        f"the encoder {spec} cannot be prepared ({error}); search works by words alone"
                    ) from error
                pairs[spec] = Pair(spec, encoder, vectors)
            return pairs[spec]

    def _open_whole(self, spec: str) -> Pair:
        """``_open``, without vectors where those there are cannot be used."""
        try:
            return self._open(spec)
        except IndexDamagedError:
            shutil.rmtree(self._folder / vectors_folder(encoder_id(spec)), ignore_errors=True)
            return self._open(spec)

    def _put_in_service(self, spec: str) -> None:
        """Let a complete encoder answer, and drop the vectors of all others."""
        file = self._folder / _IN_SERVICE
        if not file.exists() or self.in_service != spec:
            self._folder.mkdir(parents=True, exist_ok=True)
            aside = self._folder / f".{_IN_SERVICE}-{os.getpid()}"
            aside.write_text(spec, "utf-8")
            aside.replace(file)
            self._pairs = {k: v for k, v in self._pairs.items() if k == spec}
        for folder in self._folders():
            if folder.name != vectors_folder(encoder_id(spec)):
                shutil.rmtree(folder, ignore_errors=True)

    def _folders(self) -> list[Path]:
        """The folders of the encoders' vectors."""
        return [path for path in self._folder.iterdir() if path.is_dir()] if self._folder.exists() else []

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{self._folder}: vectors cannot be written ({error.strerror or error}); make room or correct the "
                "permissions, and encode again"
            ) from error


def _is_damaged(folder: Path) -> bool:
    try:
        verify_vectors(folder)
    except IndexDamagedError:
        return True
    return False


class _mapper:  # noqa: N801 - used like a function
    """A context that gives the function from texts to vectors: worker processes, or a remote encoder itself."""

    def __init__(self, settings: Settings, spec: str, encoder: Encoder, workers: int, niceness: int) -> None:
        self._encoder = encoder
        # A remote server has its own workers; a large model is not loaded twice.
        local = ":" not in spec
        self._pool = EncoderPool(spec, settings.models_dir, workers=workers, niceness=niceness) if local else None

    def __enter__(self) -> Callable[[Sequence[str]], Floats]:
        return self._encode

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.close()

    def _encode(self, texts: Sequence[str]) -> Floats:
        if self._pool is None:
            return self._encoder.encode_passages(texts)
        return np.concatenate(list(self._pool.encode_batches(_chunks(texts))))


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    return (texts[i : i + _CHUNK] for i in range(0, len(texts), _CHUNK))
