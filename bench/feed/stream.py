"""The days of arXiv and the dated picks of the curated lists, as arrays; the text features are made once and cached."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bench.common import CACHE, SHARED, VectorCache, rows
from broadsheet.text import clean, to_plain

PAPERS = SHARED / "data" / "arxiv_daily" / "arxiv_daily_2025-03_2026-07.jsonl.gz"
STRIDES = 3  # in which the listing days are encoded
DIMENSIONS = 384  # of the encoder's vectors
PICKS = SHARED / "data" / "curated_lists" / "picks.jsonl.gz"


@dataclass(frozen=True)
class Pick:
    """A paper of the stream, the day on which it was listed and the day on which a list's curator added it."""

    paper: int
    listed: int
    added: int


@dataclass(frozen=True)
class Stream:
    """All papers in the order of their listing days (ordinals of dates); features are made on first use."""

    papers: list[dict[str, Any]]
    days: np.ndarray  # int64 [papers], ascending

    def listing(self, day: int) -> tuple[int, int]:
        """First paper listed on a day, and one past the last; the first is also the number of earlier papers."""
        first, last = np.searchsorted(self.days, [day, day + 1])
        return int(first), int(last)

    @cached_property
    def words(self) -> sparse.csr_matrix:
        """TF-IDF as arxiv-sanity-lite computes it (``compute.py``), rows of length 1: float32 [papers, 10000]."""
        return self._kept("words", words_of)

    @cached_property
    def topics(self) -> np.ndarray:
        """Latent semantic analysis of ``words``, rows of length 1: float32 [papers, 256].

        Deerwester et al., Indexing by latent semantic analysis, JASIS 41(6), 1990. Like the IDF of the words it is
        fitted on the whole stream: text of later days, but nobody's picks.
        """
        matrix = self._kept("topics", lambda _papers: sparse.csr_matrix(topics_of(self.words)))
        dense: np.ndarray = matrix.toarray()
        return dense

    @cached_property
    def vectors(self) -> np.ndarray:
        """Vectors of the product's default encoder, rows of length 1, or of zeros where there is none yet.

        float32 [papers, 384]. They are read from the measurements' cache and not made here: that takes an hour.
        """
        cache = VectorCache()
        texts = [passage(paper) for paper in self.papers]
        known = np.array([cache.knows(text) for text in texts], bool)
        found = np.zeros((len(texts), DIMENSIONS), np.float32)
        if known.any():
            found[known] = cache([text for text, there in zip(texts, known, strict=True) if there])
        return found

    @cached_property
    def encoded(self) -> np.ndarray:
        """Which papers have a vector of the encoder: bool [papers]."""
        return np.asarray(self.vectors.any(axis=1))

    @cached_property
    def complete(self) -> frozenset[int]:
        """The listing days that can be scored: every paper of theirs has a vector of the encoder.

        All days, or two of three, or every third one: whole strides only, so that no season counts more than others.
        """
        days = np.unique(self.days)
        lacking = set(self.days[~self.encoded].tolist())
        found: list[int] = []
        for start in range(STRIDES):
            stride = days[start::STRIDES].tolist()
            if lacking.intersection(stride):
                break
            found += stride
        return frozenset(found)

    @cached_property
    def fair(self) -> np.ndarray:
        """Papers of the complete days, ascending: what backgrounds and noise are drawn from.

        Picks of other days have vectors, too; among the papers drawn they would be far too many.
        """
        return np.flatnonzero(np.isin(self.days, sorted(self.complete)))

    def _kept(self, name: str, make: Callable[[list[dict[str, Any]]], sparse.csr_matrix]) -> sparse.csr_matrix:
        stamp = hashlib.sha256(f"{name}1:{PAPERS.stat().st_size}:{len(self.papers)}".encode()).hexdigest()[:12]
        path = Path(CACHE) / "feed" / f"{name}-{stamp}.npz"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            sparse.save_npz(path, make(self.papers), compressed=False)
        return sparse.csr_matrix(sparse.load_npz(path))


def words_of(papers: list[dict[str, Any]]) -> sparse.csr_matrix:
    """TF-IDF of title, abstract and authors, rows of length 1: float32 [papers, at most 10000]."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        strip_accents="unicode",
        stop_words="english",
        token_pattern=r"(?u)\b[a-zA-Z_][a-zA-Z0-9_]+\b",
        ngram_range=(1, 2),
        max_features=10_000,
        sublinear_tf=True,
        max_df=0.5,
        min_df=5,
        dtype=np.float32,
    )
    texts = (" ".join([paper["title"], paper["abstract"], *(paper["authors"] or ())]) for paper in papers)
    return sparse.csr_matrix(vectorizer.fit_transform(texts))


def topics_of(words: sparse.csr_matrix) -> np.ndarray:
    """Latent topics of words, rows of length 1: float32 [papers, 256]."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    reduced = TruncatedSVD(256, n_iter=4, random_state=0).fit_transform(words)
    rows_of_one: np.ndarray = normalize(reduced).astype(np.float32)
    return rows_of_one


def read_stream() -> Stream:
    """The papers, sorted by listing day (a stable sort: within a day as in the file)."""
    papers = sorted(rows(PAPERS), key=lambda paper: str(paper["list_date"]))
    days = np.array([date.fromisoformat(paper["list_date"]).toordinal() for paper in papers], np.int64)
    return Stream(papers, days)


def read_lists(stream: Stream) -> dict[str, list[Pick]]:
    """Each list's picks that are in the stream, by the day added (ties by paper)."""
    place = {paper["id"]: n for n, paper in enumerate(stream.papers)}
    lists: dict[str, list[Pick]] = defaultdict(list)
    for row in rows(PICKS):
        paper = place.get(row["arxiv_id"])
        if paper is not None:
            added = date.fromisoformat(row["added"]).toordinal()
            lists[row["profile"]].append(Pick(paper, int(stream.days[paper]), added))
    return {name: sorted(picks, key=lambda pick: (pick.added, pick.paper)) for name, picks in lists.items()}


def halves(names: list[str]) -> dict[str, list[str]]:
    """The lists by the half they belong to: every other name in alphabetical order, whatever their figures."""
    ordered = sorted(names, key=str.casefold)
    return {"tuning": ordered[::2], "reporting": ordered[1::2]}


def passage(paper: dict[str, Any]) -> str:
    """The text that the product would make a paper's vector from (``ingest.encoding.passage_text``)."""
    title, abstract = (to_plain(clean(paper[name] or "")) for name in ("title", "abstract"))
    return " ".join(f"{title} {abstract}".split())
