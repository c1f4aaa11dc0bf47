"""The desks of this process: one for each review that was asked for, kept up to date by the events of all processes."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from broadsheet.encode import encoder_id
from broadsheet.errors import BroadsheetError, BusyError, NotFoundError, StoppedError
from broadsheet.index import vectors_folder
from broadsheet.library.screening_vectors import RecordVectors, record_text, text_digest
from broadsheet.library.vectors import NONE, VectorService
from broadsheet.model.screening import PoolRecord, Review, ReviewEvent, ReviewId
from broadsheet.screen.desk import Desk
from broadsheet.screen.fold import added
from broadsheet.settings import Settings
from broadsheet.store import Store

_LOG = logging.getLogger(__name__)
LOOK_EVERY = 2.0  # seconds between looks for records without a vector
AFTER_FAILURE = 60.0
NICENESS = 10


@dataclass
class _Held:
    """A desk with what it was told last. ``lock`` is held by whoever uses it."""

    review: Review
    lock: threading.RLock = field(default_factory=threading.RLock)
    desk: Desk | None = None
    last_event: int = 0
    digests: list[bytes] = field(default_factory=list)  # of the texts that are encoded, by number
    has_vectors: bool = False
    tried: tuple[int, int] = (0, 0)  # the stamp of the vectors that were too few


class Desks:
    """Makes a desk when it is first asked for, and brings it up to date before it is used.

    Whoever writes takes the store's lock first and the desk's then, so that nobody waits for each other in a circle.
    """

    def __init__(self, settings: Settings, store: Store, vectors: VectorService) -> None:
        self._settings, self._store, self._vectors = settings, store, vectors
        self._held: dict[ReviewId, _Held] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble = ""
        self.patience = 2.0  # seconds that the first record of a desk waits for the first order

    @contextmanager
    def at(self, review: Review) -> Iterator[Desk]:
        """The desk of a review for as long as the context lasts. Raises NotFoundError where the review is gone."""
        with self._lock:
            held = self._held.setdefault(review.id, _Held(review))
        with held.lock:
            yield self._current(held, review)

    def tell(self, review: Review, events: Sequence[ReviewEvent]) -> None:
        """Give a desk that is at hand the events that were just written: nobody else could write since it was asked."""
        held = self._held[review.id]
        if held.desk is not None:
            held.desk.refresh(events)
            held.last_event = events[-1].id

    def forget(self, review: ReviewId) -> None:
        """Close the desk of a review that was removed, and delete its cache."""
        with self._lock:
            held = self._held.pop(review, None)
        if held:
            with held.lock:
                if held.desk:
                    held.desk.close()
        shutil.rmtree(self._folder(review), ignore_errors=True)

    def close(self) -> None:
        """End all training and encoding."""
        self._stop.set()
        if self._thread:
            self._thread.join()
        with self._lock:
            held, self._held = list(self._held.values()), {}
        for each in held:
            if each.desk:
                each.desk.close()

    def _current(self, held: _Held, review: Review) -> Desk:
        """The desk with all events there are; records are read once the events that added them are known."""
        events = self._store.screening.events(review.id, held.last_event)
        if not events and not held.last_event:
            raise NotFoundError(f"there is no review {review.name!r} in this library any more")
        if held.desk is None:
            records = self._records(held, events, review)
            held.desk = Desk(review, records, events, patience=self.patience)
        elif events:
            held.desk.refresh(events, self._records(held, events, review))
        if events:
            held.last_event = events[-1].id
        if not held.has_vectors:
            self._give_vectors(held)
        return held.desk

    def _records(self, held: _Held, events: Sequence[ReviewEvent], review: Review) -> list[PoolRecord]:
        count = added(events)
        if not count:
            return []
        first = len(held.digests)
        # No more than the events speak of: another process may have added some since.
        records = [r for r in self._store.screening.records(review.id, after=first) if r.number <= first + count]
        held.digests += (text_digest(record_text(record)) for record in records)
        held.has_vectors, held.tried = False, (0, 0)
        return records

    # Vectors

    def encode(
        self,
        review: Review,
        *,
        workers: int | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        niceness: int = 0,
    ) -> int:
        """Make the vectors that a review's records lack; returns how many were made."""
        with self.at(review) as desk:
            held = self._held[review.id]
            if self._vectors.wanted == NONE or held.has_vectors:
                return 0
            texts = [record_text(record) for record in desk.state.records.values()]
        made = 0
        kept = self._kept(review.id)
        missing = kept.missing(texts) if kept else texts
        if missing:
            with self._vectors.encoding(workers=workers, niceness=niceness) as (encode, dimensions):
                kept = RecordVectors(self._file(review.id, dimensions), dimensions)
                made = kept.add(missing, encode, should_stop=should_stop, on_progress=on_progress)
        with held.lock:
            self._give_vectors(held)
        return made

    def start_encoding(self) -> None:
        """Make vectors for the reviews that are in use, from a thread, until ``close``."""
        if self._thread is None and self._vectors.wanted != NONE and not self._store.read_only:
            self._thread = threading.Thread(target=self._encode_all, name="screening-vectors")
            self._thread.start()

    def _encode_all(self) -> None:
        while not self._stop.is_set():
            pause = LOOK_EVERY
            try:
                for held in list(self._held.values()):
                    if held.digests and not held.has_vectors:
                        self.encode(held.review, should_stop=self._stop.is_set, niceness=NICENESS)
                self.trouble = ""
            except (StoppedError, NotFoundError, BusyError):
                pass  # closed or removed meanwhile, or another process is at it
            except BroadsheetError as error:
                self.trouble, pause = str(error), AFTER_FAILURE
            except Exception:  # a fault of ours must not end the thread silently
                _LOG.exception("the vectors of records could not be made; it is tried again in %d s", AFTER_FAILURE)
                self.trouble, pause = "an unforeseen fault; see the log", AFTER_FAILURE
            self._stop.wait(pause)

    def _give_vectors(self, held: _Held) -> None:
        """Let a desk have its vectors, once there are all of them: most looks end at the size of the file."""
        kept = self._kept(held.review.id)
        stamp = kept.stamp() if kept else (0, 0)
        if kept is None or stamp == held.tried or stamp[1] < len(set(held.digests)):
            return
        held.tried = stamp
        vectors = kept.of(held.digests)
        if vectors is not None and held.desk is not None:
            held.desk.set_vectors(vectors, shown_encoder(self._vectors.wanted))
            held.has_vectors = True

    def _kept(self, review: ReviewId) -> RecordVectors | None:
        """The vectors that there are by the wanted encoder, which need not be opened for it."""
        if self._vectors.wanted == NONE:
            return None
        stem = vectors_folder(encoder_id(self._vectors.wanted))
        for file in sorted(self._folder(review).glob(f"{stem}-*.rows")):
            dimensions = file.stem.rpartition("-")[2]
            if dimensions.isdigit():
                return RecordVectors(file, int(dimensions))
        return None

    def _file(self, review: ReviewId, dimensions: int) -> Path:
        stem = vectors_folder(encoder_id(self._vectors.wanted))
        return self._folder(review) / f"{stem}-{dimensions}.rows"

    def _folder(self, review: ReviewId) -> Path:
        return self._settings.index_dir / "screening" / str(review)


def shown_encoder(spec: str) -> str:
    """An encoder's name for versions of models, which are exported: the model alone, without a server's address."""
    return spec.rpartition("#")[2].rpartition(":")[2]
