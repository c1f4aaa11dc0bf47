"""The product's memory and ranker in the replay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bench.common import CACHE, SHARED, rows
from bench.feed.stream import Pick, Stream
from bench.peers.linear import background
from broadsheet.learn.daily import FEW, MANY, DailyRanker
from broadsheet.learn.form import FORM_FEATURES, form_features
from broadsheet.learn.linear import BackgroundClassifier
from broadsheet.learn.memory import ReaderMemory

BACKGROUND = 20_000
SETTLED = 60  # days after which a paper that was not picked is taken for one that will not be
ENOUGH_OLD = 2000
MONTH = 30
FEATURED = {"hf_daily_weekly_snapshots": "seen_on", "hf_daily_by_date": "date"}
ENOUGH = 50  # featured papers before anything is learned from them


def featured_days(stream: Stream) -> dict[int, int]:
    """The first day on which each paper of the stream was seen among Hugging Face's daily papers."""
    place = {paper["id"]: n for n, paper in enumerate(stream.papers)}
    first: dict[int, int] = {}
    for name, field in FEATURED.items():
        for row in rows(SHARED / "data" / "hf_daily" / f"{name}.jsonl.gz"):
            paper = place.get(row["arxiv_id"])
            if paper is not None:
                day = date.fromisoformat(row[field]).toordinal()
                first[paper] = min(first.get(paper, day), day)
    return first


def _forms(papers: Sequence[dict[str, Any]]) -> np.ndarray:
    values = [
        form_features(
            paper["title"],
            paper["abstract"],
            authors=len(paper["authors"]),
            areas=len(paper["categories"]),
            comment=paper.get("comment") or "",
        )
        for paper in papers
    ]
    return np.array(values, np.float32).reshape(-1, len(FORM_FEATURES))


def noticed(stream: Stream) -> np.ndarray:
    """How much notice each paper is expected to get: float32 [papers], 0 where too little was known yet.

    A classifier of papers that Hugging Face's readers featured against others, learned anew every 30 days from what was
    featured before, and applied to the 30 days that follow.
    """
    path = Path(CACHE) / "feed" / f"noticed1-{len(stream.papers)}.npy"
    if path.exists():
        known: np.ndarray = np.load(path)
        return known
    forms, found = _forms(stream.papers), np.zeros(len(stream.papers), np.float32)
    joined = sparse.hstack([stream.words, sparse.csr_matrix(stream.topics)]).tocsr()
    featured = featured_days(stream)
    for month in range(int(stream.days[0]), int(stream.days[-1]) + 1, MONTH):
        first, last = stream.listing(month)[0], stream.listing(month + MONTH)[0]
        liked = np.array(sorted(paper for paper, day in featured.items() if day < month and paper < first), np.int64)
        if len(liked) < ENOUGH or first == last:
            continue
        others = np.setdiff1d(np.arange(first), liked)
        others = np.random.default_rng(month).choice(others, min(len(others), 8000), replace=False)
        centre, spread = forms[others].mean(axis=0), forms[others].std(axis=0) + 1e-6
        x = sparse.hstack([joined, sparse.csr_matrix(np.clip((forms - centre) / spread, -3, 3) * 0.2)]).tocsr()
        y = np.r_[np.ones(len(liked)), -np.ones(len(others))]
        cost = np.where(y > 0, 100 / len(liked), 100 / len(others))
        learned = BackgroundClassifier(1.0, 1e-2).fit(x[np.r_[liked, others]], y, cost)
        found[first:last] = learned.decision_function(x[first:last])
    np.save(path, found)
    return found


def settled(stream: Stream, day: int, picks: Sequence[Pick]) -> np.ndarray:
    """A background of papers that were listed long enough ago to have been picked; any earlier ones, if few were."""
    old = background(stream, day - SETTLED, picks, BACKGROUND)
    return old if len(old) >= ENOUGH_OLD else background(stream, day, picks, BACKGROUND)


class Memory:
    """The reader's memory and the ranker fitted to it, brought up to date when there are new picks.

    ``encoder`` says whether the ranker is given the encoder's vectors; ``parameters`` are the ranker's.
    """

    def __init__(self, notice: np.ndarray, encoder: bool = True, **parameters: Any) -> None:
        self.notice, self.encoder, self.parameters = notice, encoder, parameters
        self.memory: ReaderMemory[int] = ReaderMemory()
        self._taken: Sequence[Pick] = ()
        self._ranker: DailyRanker | None = None

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float64 [papers of the day]."""
        return self.brought_up(picks, day, stream).decision_function(*self._day(day, stream))

    def brought_up(self, picks: Sequence[Pick], day: int, stream: Stream) -> DailyRanker:
        """The ranker as it is on a day."""
        new = picks[len(self._taken) :]
        for pick in new:
            self.memory.update("save", pick.paper, pick.added)
        known, traces = self.memory.read(day)
        words, topics, encoded = self._rows(np.array(known), stream)
        if self._ranker is None or new:
            others = self._rows(settled(stream, day, picks), stream)
            self._ranker = DailyRanker(**self.parameters)
            self._ranker.fit(
                words, topics, traces[:, 1:], others[0], others[1], encoded=encoded, other_encoded=others[2]
            )
        else:
            self._ranker.remember(words, topics, traces[:, 1:], encoded)
        self._taken = picks
        return self._ranker

    def _day(self, day: int, stream: Stream) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
        first, last = stream.listing(day)
        words, topics, encoded = self._rows(np.arange(first, last), stream)
        return words, topics, self.notice[first:last], encoded

    def _rows(self, papers: np.ndarray, stream: Stream) -> tuple[Any, np.ndarray, np.ndarray | None]:
        return stream.words[papers], stream.topics[papers], stream.vectors[papers] if self.encoder else None


# What each variant of the memory leaves out, by the weights that it has no longer.
WITHOUT: dict[str, tuple[str, ...]] = {
    "memory": (),
    "without notice": ("notice",),
    "without the classifier of words and topics": ("classifier",),
    "without the classifier of meaning": ("meaning",),
    "without the change of interest": ("lately", "lasting"),
}


class Ablated(Memory):
    """The memory, and what is left of it without one part after the other; fitted once for all."""

    def variants(self, picks: Sequence[Pick], day: int, stream: Stream) -> dict[str, np.ndarray]:
        """float64 [papers of the day] by the names of ``WITHOUT``."""
        ranker = self.brought_up(picks, day, stream)
        values = ranker.standardised(*self._day(day, stream))
        return {name: _sum(ranker, values, gone) for name, gone in WITHOUT.items()}


def _sum(ranker: DailyRanker, values: dict[str, np.ndarray], gone: tuple[str, ...]) -> np.ndarray:
    """The score where many papers' weights lack some parts; what a reader of few papers has is left, but for notice."""
    fewer = DailyRanker(
        many={part: weight for part, weight in MANY.items() if part not in gone},
        few={part: weight for part, weight in FEW.items() if part != "notice" or part not in gone},
    )
    fewer.known_ = ranker.known_
    weights = fewer.weights()
    return np.asarray(np.sum([weights.get(part, 0.0) * column for part, column in values.items()], axis=0))
