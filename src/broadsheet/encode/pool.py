"""Worker processes that turn documents into vectors: one encoder and one thread each (best on shared cores)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import Self

from broadsheet.encode.base import Encoder, Floats
from broadsheet.encode.registry import open_encoder
from broadsheet.errors import EncoderUnavailableError

_AHEAD = 2  # batches waiting for each worker, so that none is ever idle
_encoder: Encoder | None = None


def _end_with_parent() -> None:
    """Leave when the parent is gone: a killed parent cannot tell its workers, and they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _start_worker(spec: str, models_dir: Path, niceness: int) -> None:
    global _encoder  # noqa: PLW0603 - one encoder for the life of a worker process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the parent, which ends its workers
    if hasattr(os, "nice"):
        os.nice(niceness)
    _encoder = open_encoder(spec, models_dir)


def _encode(texts: Sequence[str]) -> Floats:
    if _encoder is None:
        raise EncoderUnavailableError("the worker has no encoder")
    return _encoder.encode_passages(texts)


class EncoderPool:
    """``workers`` processes with an encoder each; use as a context manager.

    ``niceness`` is added to the workers' so that a search is not slowed by the encoding behind it.
    """

    def __init__(self, spec: str, models_dir: Path, *, workers: int, niceness: int = 10) -> None:
        open_encoder(spec, models_dir)  # converts once, here, instead of in every worker
        self._workers = workers
        self._pool = ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(spec, models_dir, niceness),
        )

    def encode_batches(self, batches: Iterable[Sequence[str]]) -> Iterator[Floats]:
        """Vectors of each batch of documents, in order: float32 [len(batch), dimensions].

        Batches are taken only as workers need them. Raises EncoderUnavailableError when a worker dies.
        """
        source = iter(batches)
        waiting: list[Future[Floats]] = []
        try:
            for batch in islice(source, self._workers * _AHEAD):
                waiting.append(self._pool.submit(_encode, batch))
            while waiting:
                vectors = waiting.pop(0).result()
                for batch in islice(source, 1):
                    waiting.append(self._pool.submit(_encode, batch))
                yield vectors
        except BrokenProcessPool as error:
            raise EncoderUnavailableError(
                "a worker process ended while it made vectors (often too little memory); "
                'set encode_workers lower, or encoder = "none", and start again'
            ) from error
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """End the workers."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
