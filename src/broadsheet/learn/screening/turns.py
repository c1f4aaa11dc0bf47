"""Several orders in one: each in its turn, so that what any of them ranks high comes soon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LEAST = 1e-9  # of the spread, by which values that are equal are kept apart so that the order stands


def in_turns(scores: Sequence[np.ndarray], unread: np.ndarray, tie: np.ndarray, first: int) -> np.ndarray:
    """Scores by which the unread records stand at the better of their places: float64 [records].

    ``scores`` float64 [records] each, ``unread`` indices, ``tie`` [records] a random order for equal scores. The lists
    take turns, the one numbered ``first`` beginning: a record that one of n lists has at place k comes at place n · k
    at the latest, wherever the others have it; a sum of scores promises nothing of the kind. The values that are handed
    out along this order are those of the sum at equal spread, so that their signs and their spread keep a meaning.
    """
    total = scores[0].astype(np.float64)
    for other in scores[1:]:
        total = total + spread_ratio(scores[0], other, unread) * other
    best = np.full(len(unread), np.iinfo(np.int64).max)
    for n, one in enumerate(scores):
        places = np.empty(len(unread), np.int64)
        places[np.lexsort((tie[unread], -one[unread]))] = np.arange(len(unread))
        best = np.minimum(best, places * len(scores) + (n - first) % len(scores))
    values = np.sort(total[unread])[::-1]
    spread = float(values[0] - values[-1]) if len(values) else 0.0
    total[unread[np.argsort(best)]] = values - np.linspace(0, LEAST * (spread or 1.0), len(values))
    return total


def spread_ratio(one: np.ndarray, other: np.ndarray, unread: np.ndarray) -> float:
    """By how much ``other`` is multiplied to spread like ``one`` over the unread records; 0 where it is level."""
    spread = float(other[unread].std()) if len(unread) else 0.0
    return float(one[unread].std()) / spread if spread > 0 else 0.0


class Beside:
    """Weighted words beside an encoder's vectors as the rows of one classifier, as far as it needs a matrix.

    ``words`` sparse [records, words], ``vectors`` [records, dimensions], kept in float32: half the memory and a third
    less time than in float64, and an encoder's vectors have no more to them.
    """

    def __init__(self, words: Any, vectors: np.ndarray) -> None:
        self.words, self.vectors = words, np.asarray(vectors, np.float32)
        self.shape = (words.shape[0], words.shape[1] + self.vectors.shape[1])

    def __getitem__(self, rows: np.ndarray) -> Beside:
        return Beside(self.words[rows], self.vectors[rows])

    def __matmul__(self, coef: np.ndarray) -> np.ndarray:
        words = self.words.shape[1]
        return np.asarray(self.words @ coef[:words] + self.vectors @ coef[words:].astype(np.float32))

    @property
    def T(self) -> _Across:  # noqa: N802 - as numpy calls it
        """The transposed matrix, for products with one number a record."""
        return _Across(self.words.T.tocsr(), self.vectors.T)


class _Across:
    def __init__(self, words: Any, vectors: np.ndarray) -> None:
        self.words, self.vectors = words, vectors

    def __matmul__(self, values: np.ndarray) -> np.ndarray:
        return np.concatenate([self.words @ values, self.vectors @ values.astype(np.float32)])
