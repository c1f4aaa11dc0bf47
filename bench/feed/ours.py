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
from broadsheet.learn.daily import DailyRanker
from broadsheet.learn.form import FORM_FEATURES, form_features
from broadsheet.learn.linear import BackgroundClassifier
from broadsheet.learn.memory import ReaderMemory

BACKGROUND = 2000
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


class Memory:
    """The reader's memory and the ranker fitted to it, brought up to date when there are new picks."""

    def __init__(self, notice: np.ndarray, **parameters: Any) -> None:
        self.notice, self.parameters = notice, parameters
        self.memory = ReaderMemory()
        self._taken: Sequence[Pick] = ()
        self._ranker: DailyRanker | None = None

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float64 [papers of the day]."""
        new = picks[len(self._taken) :]
        for pick in new:
            self.memory.update("save", f"{pick.paper:08d}", pick.added)
        known, traces = self.memory.read(day)
        papers = np.array([int(paper) for paper in known])
        words, vectors = stream.words[papers], stream.topics[papers]
        if self._ranker is None or new:
            others = background(stream, day, picks, BACKGROUND)
            self._ranker = DailyRanker(**self.parameters)
            self._ranker.fit(words, vectors, traces[:, 1:], stream.words[others], stream.topics[others])
        else:
            self._ranker.remember(words, vectors, traces[:, 1:])
        self._taken = picks
        first, last = stream.listing(day)
        return self._ranker.decision_function(
            stream.words[first:last], stream.topics[first:last], self.notice[first:last]
        )
