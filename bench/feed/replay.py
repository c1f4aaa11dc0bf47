"""One reader's days, one after the other: each is ranked with what was known before it, then scored."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class Family(Protocol):
    """Models that share most of their work."""

    def variants(self, picks: Sequence[Pick], day: int, stream: Stream) -> Mapping[str, np.ndarray]:
        """As ``Model.scores``, by the name of each."""
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
    return replays(reader, name, model, stream)[0]


def replays(reader: Reader, name: str, model: Model | Family, stream: Stream) -> list[Replay]:
    """The same for a model, or for every model of a family."""
    values: dict[str, list[tuple[float, float, float]]] = {}
    for day, wanted in reader.wanted.items():
        first, last = stream.listing(day)
        known = reader.before(day)
        if isinstance(model, Family):
            found = model.variants(known, day, stream)
        else:
            found = {name: model.scores(known, day, stream)}
        for variant, given in found.items():
            scores = np.asarray(given, np.float64)
            if scores.shape != (last - first,):
                raise ValueError(f"{variant} gave {scores.shape} scores for the {last - first} papers of day {day}")
            values.setdefault(variant, []).append(day_figures(scores, first, wanted))
    return [Replay(reader, variant, tuple(reader.wanted), np.array(rows)) for variant, rows in values.items()]


Makers = Mapping[str, Callable[[], Model | Family]]
_work: tuple[Makers, Stream] | None = None


def _one(job: tuple[Reader, str]) -> list[Replay]:
    assert _work is not None
    makers, stream = _work
    reader, name = job
    return replays(reader, name, makers[name](), stream)


def replay_all(
    readers: Sequence[Reader],
    makers: Makers,
    stream: Stream,
    workers: int | None = None,
    wanted: Callable[[Reader, str], bool] = lambda reader, name: True,
) -> list[Replay]:
    """Every model for every reader (or what is ``wanted`` of them), in processes that share the stream by forking."""
    global _work  # noqa: PLW0603 - what forked workers inherit without a copy
    _work = makers, stream
    _ = stream.words, stream.topics, stream.vectors, stream.fair  # made before the fork, not in each worker
    jobs = [(reader, name) for reader in readers for name in makers if wanted(reader, name)]
    jobs.sort(key=lambda job: -len(job[0].wanted))
    count = workers or os.cpu_count() or 1
    if count == 1:
        return [one for job in jobs for one in _one(job)]
    with multiprocessing.get_context("fork").Pool(count) as pool:
        return [one for found in pool.imap_unordered(_one, jobs, chunksize=1) for one in found]
