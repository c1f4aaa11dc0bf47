"""Classifiers of few labelled records, by the rows of any features; all have the same two methods."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from broadsheet.learn.linear import BackgroundClassifier

from .parts import Part
from .turns import Beside


class NaiveBayes(Part):
    """Multinomial naive Bayes on weighted words: the log of how much likelier a word is in relevant records.

    McCallum and Nigam, A comparison of event models for naive Bayes text classification, AAAI workshop 1998, with
    TF-IDF weights in place of counts. Both classes are smoothed towards all rows together by ``prior`` weight (Zhai and
    Lafferty, A study of smoothing methods for language models, SIGIR 2001), so that a word that neither class has says
    nothing; smoothed towards equally likely words, records of few words come first whatever they say. Learned:
    ``coef_`` float64 [features], ``intercept_`` 0 (classes are taken as equally likely). Negative features are refused.
    """

    name: ClassVar[str] = "naive-bayes"
    signed: ClassVar[bool] = False
    """Whether features may be negative, as an encoder's are."""

    def __init__(self, prior: float = 1000.0) -> None:
        self.prior = prior

    def fit(self, x: Any, relevant: np.ndarray, weights: np.ndarray) -> Self:
        """``x`` [rows, features] ≥ 0, ``relevant`` bool [rows] with both classes, ``weights`` ≥ 0 [rows]."""
        _check(relevant, weights, self.prior > 0, "prior must be above 0")
        if (x.min() if x.shape[1] else 0) < 0:
            raise ValueError("naive Bayes takes features that are not negative, such as weighted words")
        everything = np.asarray(x.sum(axis=0)).ravel()
        there = everything > 0
        likely = []
        for mask in (relevant, ~relevant):
            mass = np.asarray(x[mask].T @ weights[mask]).ravel()[there]
            likely.append((mass + self.prior * everything[there] / everything.sum()) / (mass.sum() + self.prior))
        self.coef_ = np.zeros(x.shape[1])
        self.coef_[there] = np.log(likely[0]) - np.log(likely[1])
        self.intercept_ = 0.0
        return self

    def decision_function(self, x: Any) -> np.ndarray:
        """Log of the ratio of likelihoods, float64 [rows]; above 0 speaks for relevance."""
        return np.asarray(x @ self.coef_)


class SupportVectors(Part):
    """Linear support vector machine with squared hinge loss, fitted afresh each time (``learn.linear``).

    ``strength`` is the cost C of a record of weight 1; 0.11 is that of ASReview's default model. Learned: ``coef_``
    float64 [features], ``intercept_``.
    """

    name: ClassVar[str] = "support-vectors"
    signed: ClassVar[bool] = True

    def __init__(self, strength: float = 0.11, tolerance: float = 1e-3) -> None:
        self.strength = strength
        self.tolerance = tolerance

    def fit(self, x: Any, relevant: np.ndarray, weights: np.ndarray) -> Self:
        """``x`` [rows, features], ``relevant`` bool [rows] with both classes, ``weights`` ≥ 0 [rows]."""
        _check(relevant, weights, self.strength > 0, "strength must be above 0")
        used, columns = _used(x)
        machine = BackgroundClassifier(strength=self.strength, tolerance=self.tolerance)
        machine.fit(used, np.where(relevant, 1, -1), weights)
        self.coef_ = np.zeros(x.shape[1])
        self.coef_[columns] = machine.coef_
        self.intercept_ = machine.intercept_
        return self

    def decision_function(self, x: Any) -> np.ndarray:
        """Signed distance from the boundary in units of the margin, float64 [rows]."""
        return np.asarray(x @ self.coef_ + self.intercept_)


def _used(x: Any) -> tuple[Any, Any]:
    """The columns with something in them: the others keep a weight of 0, and few rows use few words."""
    if isinstance(x, Beside):
        words, columns = _used(x.words)
        return Beside(words, x.vectors), np.append(columns, np.arange(x.words.shape[1], x.shape[1]))
    if not sparse.issparse(x):
        return x, slice(None)
    seen = np.zeros(x.shape[1], bool)
    seen[x.indices] = True
    columns, places = np.flatnonzero(seen), np.cumsum(seen, dtype=np.int32) - 1
    return sparse.csr_matrix((x.data, places[x.indices], x.indptr), shape=(x.shape[0], len(columns))), columns


def _check(relevant: np.ndarray, weights: np.ndarray, sound: bool, fault: str) -> None:
    if not sound:
        raise ValueError(fault)
    if relevant.all() or not relevant.any():
        raise ValueError("both relevant and irrelevant rows are needed")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite and not negative")


CLASSIFIERS: dict[str, type[Part]] = {part.name: part for part in (NaiveBayes, SupportVectors)}
