"""Peers that reduce a reader to one direction in the space of the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.feed.stream import Pick, Stream

BACKGROUND = 5000  # papers that stand for the whole database where a fit on all of it would take seconds


def rows_of(picks: Sequence[Pick]) -> np.ndarray:
    """The papers' numbers."""
    return np.array([pick.paper for pick in picks])


def background(stream: Stream, day: int, picks: Sequence[Pick], count: int = BACKGROUND) -> np.ndarray:
    """Papers listed before a day and not picked: all, or a random ``count`` of them (seeded by how many).

    From the complete days only, for all models alike.
    """
    earlier, _ = stream.listing(day)
    others = np.setdiff1d(stream.fair[: np.searchsorted(stream.fair, earlier)], rows_of(picks))
    if len(others) <= count:
        return others
    return np.sort(np.random.default_rng(earlier).choice(others, count, replace=False))


class _Direction:
    """Keeps the fitted direction until there is a new pick."""

    def __init__(self) -> None:
        self._known: Sequence[Pick] | None = None
        self._direction = np.zeros(0)

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float64 [papers of the day]."""
        if picks != self._known:
            self._direction = self.fitted(picks, day, stream)
            self._known = picks
        first, last = stream.listing(day)
        return np.asarray(stream.words[first:last] @ self._direction)

    def fitted(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """The direction for these picks: float64 [words]."""
        raise NotImplementedError


class ArxivSanity(_Direction):
    """Linear support vector machine on TF-IDF: tagged papers against the rest of the database, balanced.

    arxiv-sanity-lite, ``serve.py``: LinearSVC, balanced class weights, C 0.1, tolerance 1e-6, 10,000 iterations. Its
    database is everything fetched; here at most 5,000 earlier papers stand for it, and the papers of the day are not
    among its negatives.
    """

    def fitted(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """The machine's weights."""
        from scipy import sparse
        from sklearn.svm import LinearSVC

        others = background(stream, day, picks)
        x = sparse.vstack([stream.words[rows_of(picks)], stream.words[others]])
        y = np.r_[np.ones(len(picks)), np.zeros(len(others))]
        machine: Any = LinearSVC(class_weight="balanced", max_iter=10_000, tol=1e-6, C=0.1)
        direction: np.ndarray = machine.fit(x, y).coef_[0]
        return direction


class Centroid(_Direction):
    """Mean TF-IDF of all picks."""

    def fitted(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """The mean."""
        return np.asarray(stream.words[rows_of(picks)].mean(axis=0)).ravel()


class Rocchio(_Direction):
    """Mean of the picks less a share of the mean of what was not picked; negative weights are dropped.

    Rocchio, Relevance feedback in information retrieval, 1971, with the customary .75 and .15 (Manning, Raghavan and
    Schütze, Introduction to Information Retrieval, chapter 9) and no query.
    """

    def fitted(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """The moved mean."""
        liked = np.asarray(stream.words[rows_of(picks)].mean(axis=0)).ravel()
        others = np.asarray(stream.words[background(stream, day, picks)].mean(axis=0)).ravel()
        return np.maximum(0.75 * liked - 0.15 * others, 0)
