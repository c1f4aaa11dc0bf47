"""Ranks a day's papers for one reader: what the reader's papers share, what is new among them, what is noticed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from broadsheet.learn.linear import BackgroundClassifier

# The classifier's cost of all liked papers together, and of the background together.
MASS = 50.0
# Weights of the standardised parts, for many known papers and the change towards none (chosen on tuning lists).
MANY = {"classifier": 1.0, "notice": 0.55, "lately": 0.6, "lasting": -0.6, "nearest": 0.35, "words": 0.0}
FEW = {"classifier": -1.8, "notice": 0.5, "lately": 0.0, "lasting": 1.1, "nearest": 0.0, "words": 0.3}
HALF_KNOWN = 5.0  # papers at which the two meet half way
NEAREST = 3


class DailyRanker:
    """Sum of standardised parts, whose weights move from plain similarity to a classifier as papers become known.

    The parts: a linear classifier of the liked papers against a background (``classifier``); similarity to their mean
    as it is remembered for long (``lasting``) and lately (``lately``), of which the difference follows a change of
    interest; similarity to the nearest three (``nearest``), for several interests; similarity of words alone
    (``words``); and how much notice a paper will get from anyone (``notice``, given from outside).

    Parameters: ``many``, ``few`` (weights by part), ``mass`` of the classifier's costs. Learned: ``classifier_``,
    ``vectors_`` [papers, dimensions], ``means_`` by part, ``known_`` (how many papers).
    """

    def __init__(
        self, many: dict[str, float] | None = None, few: dict[str, float] | None = None, mass: float = MASS
    ) -> None:
        self.many = many
        self.few = few
        self.mass = mass

    def fit(
        self, words: Any, vectors: np.ndarray, traces: np.ndarray, other_words: Any, other_vectors: np.ndarray
    ) -> Self:
        """Learn from liked papers and a background; forgets earlier fits.

        ``words`` is sparse [papers, words], ``vectors`` [papers, dimensions], rows of both of length 1; ``traces``
        [papers, 2] ≥ 0 says how much each paper is remembered lately and for long; the others are the background's.
        Raises ValueError where there is no paper or no background.
        """
        if not len(traces) or not len(other_vectors):
            raise ValueError("a ranker needs at least one liked paper and a background")
        x = sparse.vstack([sparse.hstack([words, sparse.csr_matrix(vectors)]), _joined(other_words, other_vectors)])
        y = np.r_[np.ones(len(traces)), -np.ones(len(other_vectors))]
        # Every liked paper counts alike here: to weigh the newer ones more won nothing beside the part for it.
        cost = np.where(y > 0, self.mass / len(traces), self.mass / len(other_vectors))
        self.classifier_ = BackgroundClassifier(1.0, 1e-2).fit(x.tocsr(), y, cost)
        return self.remember(words, vectors, traces)

    def remember(self, words: Any, vectors: np.ndarray, traces: np.ndarray) -> Self:
        """Take over traces as they have faded since, without learning the classifier anew.

        Raises ValueError for a negative trace: what a reader dismissed is not among the liked papers.
        """
        if (traces < 0).any():
            raise ValueError("the traces of liked papers must not be negative")
        lately, lasting = _shares(traces[:, 0]), _shares(traces[:, 1])
        self.vectors_, self.known_ = vectors, len(traces)
        self.means_ = {
            "lately": vectors.T @ lately,
            "lasting": vectors.T @ lasting,
            "words": np.asarray(words.T @ lasting).ravel(),
        }
        return self

    def weights(self) -> dict[str, float]:
        """The weight of each part for as many papers as are known; the classifier's is never negative."""
        many, few = MANY if self.many is None else self.many, FEW if self.few is None else self.few
        share = HALF_KNOWN / (HALF_KNOWN + self.known_)
        found = {part: many[part] + share * few.get(part, 0.0) for part in many}
        found["classifier"] = max(0.0, found["classifier"])
        return found

    def parts(self, words: Any, vectors: np.ndarray, notice: np.ndarray) -> dict[str, np.ndarray]:
        """Each part of the score, standardised over these papers and weighted: float64 [papers] by part."""
        nearest = np.sort(vectors @ self.vectors_.T, axis=1)[:, -NEAREST:].mean(axis=1)
        raw = {
            "classifier": self.classifier_.decision_function(_joined(words, vectors)),
            "notice": notice,
            "lately": vectors @ self.means_["lately"],
            "lasting": vectors @ self.means_["lasting"],
            "nearest": nearest,
            "words": np.asarray(words @ self.means_["words"]).ravel(),
        }
        return {part: weight * _standard(raw[part]) for part, weight in self.weights().items()}

    def decision_function(self, words: Any, vectors: np.ndarray, notice: np.ndarray) -> np.ndarray:
        """Score of each paper beside the others, higher is better: float64 [papers]."""
        return np.asarray(np.sum(list(self.parts(words, vectors, notice).values()), axis=0))


def _joined(words: Any, vectors: np.ndarray) -> Any:
    return sparse.hstack([words, sparse.csr_matrix(vectors)]).tocsr()


def _shares(trace: np.ndarray) -> np.ndarray:
    """Shares that sum to 1; equal ones where everything has faded to nothing."""
    total = trace.sum()
    return trace / total if total > 1e-12 else np.full(len(trace), 1 / len(trace))


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1; zeros where all are equal."""
    centred = np.asarray(values, np.float64) - np.mean(values)
    spread = centred.std()
    return np.asarray(centred / spread) if spread > 1e-9 else np.zeros(len(centred))
