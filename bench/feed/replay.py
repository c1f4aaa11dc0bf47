"""One reader's days, one after the other: each is ranked with what was known before it, then scored."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bench.feed.readers import Reader
from bench.feed.stream import Pick, Stream
from broadsheet.metrics import mean, ndcg, recall, reciprocal_rank

MEASURES = ("ndcg@20", "recall@10", "mrr")


class Model(Protocol):
    """Whatever can rank a day."""

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """One number for each paper listed on a day, from the picks made before it."""
        ...


@dataclass(frozen=True)
class Replay:
    """What one model reached for one reader: float64 [scored days, measures], and the days."""

    reader: Reader
    model: str
    days: tuple[int, ...]
    values: np.ndarray

    def means(self) -> dict[str, float]:
        """Mean over the days, by measure."""
        return {name: mean(self.values[:, n]) for n, name in enumerate(MEASURES)}


def day_figures(scores: np.ndarray, first: int, wanted: frozenset[int]) -> tuple[float, float, float]:
    """nDCG@20, recall@10 and reciprocal rank of one day's ranking; equal scores keep the order of the listing."""
    if not np.isfinite(scores).all():
        raise ValueError("a score is not a finite number")
    ranking = (first + np.argsort(-scores, kind="stable")).tolist()
    judged = dict.fromkeys(wanted, 1)
    return ndcg(ranking, judged, 20), recall(ranking, judged, 10), reciprocal_rank(ranking, judged)


def replay(reader: Reader, name: str, model: Model, stream: Stream) -> Replay:
    """All scored days of one reader, in the order of time."""
    values = []
    for day, wanted in reader.wanted.items():
        first, last = stream.listing(day)
        scores = np.asarray(model.scores(reader.before(day), day, stream), np.float64)
        if scores.shape != (last - first,):
            raise ValueError(f"{name} gave {scores.shape} scores for the {last - first} papers of day {day}")
        values.append(day_figures(scores, first, wanted))
    return Replay(reader, name, tuple(reader.wanted), np.array(values))


_work: tuple[Mapping[str, Callable[[], Model]], Stream] | None = None


def _one(job: tuple[Reader, str]) -> Replay:
    assert _work is not None
    makers, stream = _work
    reader, name = job
    return replay(reader, name, makers[name](), stream)


def replay_all(
    readers: Sequence[Reader], makers: Mapping[str, Callable[[], Model]], stream: Stream, workers: int | None = None
) -> list[Replay]:
    """Every model for every reader, in processes that share the stream by forking."""
    global _work  # noqa: PLW0603 - what forked workers inherit without a copy
    _work = makers, stream
    _ = stream.words, stream.topics  # made before the fork, not in each worker
    jobs = sorted(((reader, name) for reader in readers for name in makers), key=lambda job: -len(job[0].wanted))
    count = workers or os.cpu_count() or 1
    if count == 1:
        return [_one(job) for job in jobs]
    with multiprocessing.get_context("fork").Pool(count) as pool:
        return list(pool.imap_unordered(_one, jobs, chunksize=1))
