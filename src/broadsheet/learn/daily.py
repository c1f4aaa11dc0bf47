"""Ranks a day's papers for one reader: what the reader's papers share, what is new among them, what is noticed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from broadsheet.learn.linear import BackgroundClassifier, Joined

# The classifiers' cost of all liked papers together, and of the background together.
MASS = 50.0
# Weights of the standardised parts where many papers are known, and where none is (chosen on tuning lists).
MANY = {"classifier": 0.6, "meaning": 0.4, "notice": 0.4, "lately": 0.6, "lasting": -0.6}
FEW = {"notice": 1.0, "lasting": 1.0}
HALF_KNOWN = 5.0  # papers at which the two meet half way
SAMPLE = 2000  # papers of the background that stand for all of it
NEAR = 1000  # papers of the background that are most like the liked ones, at most
NEAR_OF = 25  # and no more than one in so many
NEAR_WEIGHT = 6.0  # of each of these beside one of the sample


class DailyRanker:
    """Sum of standardised parts, whose weights move from plain similarity to classifiers as papers become known.

    The parts: a linear classifier of the liked papers by words and topics (``classifier``), and another one by the
    vectors of an encoder, where there are such (``meaning``); similarity to the mean of the liked papers as it is
    remembered for long (``lasting``) and lately (``lately``), of which the difference follows a change of interest; and
    how much notice a paper will get from anyone (``notice``, given from outside). The classifier tells the liked papers
    from a sample of the background and from those papers of it that are most like them: what is near and was not picked
    says more than what is far.

    Parameters: ``many``, ``few`` (weights by part), ``mass`` of the classifiers' costs, ``near_weight`` of a near paper
    beside one of the sample. Learned: ``classifier_``, ``meaning_`` (None without an encoder's
    vectors), ``centre_`` [encoder's dimensions], ``means_`` by part, ``known_`` (how many papers).
    """

    def __init__(
        self,
        many: dict[str, float] | None = None,
        few: dict[str, float] | None = None,
        mass: float = MASS,
        near_weight: float = NEAR_WEIGHT,
    ) -> None:
        self.many = many
        self.few = few
        self.mass = mass
        self.near_weight = near_weight

    def fit(
        self,
        words: Any,
        vectors: np.ndarray,
        traces: np.ndarray,
        other_words: Any,
        other_vectors: np.ndarray,
        *,
        encoded: np.ndarray | None = None,
        other_encoded: np.ndarray | None = None,
    ) -> Self:
        """Learn from liked papers and a background; forgets earlier fits.

        ``words`` is sparse [papers, words], ``vectors`` [papers, topics], rows of both of length 1; ``traces``
        [papers, 2] ≥ 0 says how much each paper is remembered lately and for long; ``encoded`` [papers, dimensions] are
        an encoder's vectors, rows of length 1 or of zeros for papers without one; the others are the background's,
        which gains from being larger than the 2,000 that are looked at anyway. Raises ValueError where there is no
        paper or no background, or an encoder's vectors of one side only.
        """
        if not len(traces) or not len(other_vectors):
            raise ValueError("a ranker needs at least one liked paper and a background")
        if (encoded is None) != (other_encoded is None):
            raise ValueError("an encoder's vectors are needed of liked papers and background alike, or of neither")
        sample = _spread(len(other_vectors), SAMPLE)
        alike = other_vectors @ vectors.mean(axis=0)
        near = np.argsort(-alike, kind="stable")[: min(NEAR, len(alike) // NEAR_OF)]
        told = np.r_[sample, near]
        x = Joined(sparse.vstack([words, other_words[told]]), np.vstack([vectors, other_vectors[told]]))
        cost = np.r_[np.ones(len(sample)), np.full(len(near), self.near_weight)]
        self.classifier_ = self._classifier(x, len(traces), cost)
        self._fit_meaning(encoded, other_encoded)
        return self.remember(words, vectors, traces, encoded)

    def _fit_meaning(self, encoded: np.ndarray | None, others: np.ndarray | None) -> None:
        """An encoder's vectors are turned around their mean first: they all lie in one narrow cone."""
        self.meaning_, self.centre_ = None, None
        if encoded is None or others is None or not encoded.any() or not others.any():
            return
        known = others[others.any(axis=1)]
        self.centre_ = known.mean(axis=0)
        liked = _around(encoded[encoded.any(axis=1)], self.centre_)
        sample = _around(known[_spread(len(known), SAMPLE)], self.centre_)
        x = np.vstack([liked, sample]).astype(np.float64)
        self.meaning_ = self._classifier(x, len(liked), np.ones(len(sample)))

    def _classifier(self, x: Any, liked: int, cost: np.ndarray) -> BackgroundClassifier:
        """Liked papers first, then the background with what each of it costs beside the others.

        Every liked paper counts alike: to weigh the newer ones more won nothing beside the part for it.
        """
        y = np.r_[np.ones(liked), -np.ones(len(cost))]
        return BackgroundClassifier(1.0, 1e-2).fit(
            x, y, self.mass * np.r_[np.full(liked, 1 / liked), cost / cost.sum()]
        )

    def remember(self, words: Any, vectors: np.ndarray, traces: np.ndarray, encoded: np.ndarray | None = None) -> Self:
        """Take over traces as they have faded since, without learning the classifiers anew.

        Raises ValueError for a negative trace: what a reader dismissed is not among the liked papers.
        """
        if (traces < 0).any():
            raise ValueError("the traces of liked papers must not be negative")
        self.known_ = len(traces)
        self.means_ = {}
        for n, part in enumerate(("lately", "lasting")):
            share = _shares(traces[:, n])
            means = [vectors.T @ share]
            if self.centre_ is not None and encoded is not None:
                means.append(_around(encoded, self.centre_).T @ share)
            self.means_[part] = means
        return self

    def weights(self) -> dict[str, float]:
        """The weight of each part for as many papers as are known."""
        many, few = MANY if self.many is None else self.many, FEW if self.few is None else self.few
        share = HALF_KNOWN / (HALF_KNOWN + self.known_)
        return {part: (1 - share) * many.get(part, 0.0) + share * few.get(part, 0.0) for part in {**many, **few}}

    def standardised(
        self, words: Any, vectors: np.ndarray, notice: np.ndarray, encoded: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Each part without its weight, of mean 0 and deviation 1 over these papers: float64 [papers] by part.

        Without ``encoded``, or where the ranker was fitted without, ``meaning`` is left out. A paper without a vector
        of the encoder is taken for an average one by it.
        """
        raw = {
            "classifier": self.classifier_.decision_function(Joined(words, vectors)),
            "notice": notice,
            **{part: vectors @ means[0] for part, means in self.means_.items()},
        }
        if self.meaning_ is not None and self.centre_ is not None and encoded is not None:
            there, around = np.asarray(encoded.any(axis=1)), _around(encoded, self.centre_)
            raw["meaning"] = _filled(self.meaning_.decision_function(around), there)
            for part, means in self.means_.items():
                if len(means) > 1:
                    raw[part] = raw[part] + _filled(around @ means[1], there)
        return {part: _standard(values) for part, values in raw.items()}

    def parts(
        self, words: Any, vectors: np.ndarray, notice: np.ndarray, encoded: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Each part of the score, standardised over these papers and weighted: float64 [papers] by part."""
        weights = self.weights()
        found = self.standardised(words, vectors, notice, encoded)
        return {part: weights[part] * values for part, values in found.items() if part in weights}

    def decision_function(
        self, words: Any, vectors: np.ndarray, notice: np.ndarray, encoded: np.ndarray | None = None
    ) -> np.ndarray:
        """Score of each paper beside the others, higher is better: float64 [papers]."""
        return np.asarray(np.sum(list(self.parts(words, vectors, notice, encoded).values()), axis=0))


def _spread(rows: int, most: int) -> np.ndarray:
    """At most so many rows, evenly spread over all."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.intp))


def _around(vectors: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Directions from a centre, of length 1; rows of zeros stay so."""
    turned = np.where(vectors.any(axis=1, keepdims=True), vectors - centre, 0)
    return np.asarray(turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9), np.float32)


def _filled(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The mean of the values that are there in place of those that are not."""
    return np.where(there, values, values[there].mean() if there.any() else 0.0)


def _shares(trace: np.ndarray) -> np.ndarray:
    """Shares that sum to 1; equal ones where everything has faded to nothing."""
    total = trace.sum()
    return trace / total if total > 1e-12 else np.full(len(trace), 1 / len(trace))


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1; zeros where all are equal."""
    centred = np.asarray(values, np.float64) - np.mean(values)
    spread = centred.std()
    return np.asarray(centred / spread) if spread > 1e-9 else np.zeros(len(centred))
