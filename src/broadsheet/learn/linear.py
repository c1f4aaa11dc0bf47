"""A linear classifier of few positives against a background, fitted in tens of milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

Rows = Any  # float [papers, features]: a numpy array, a scipy sparse matrix or ``Joined``


class Joined:
    """Sparse rows beside dense ones of the same papers, as one matrix; twice as fast as a sparse matrix of both.

    ``sparse_rows`` [papers, words], ``dense_rows`` [papers, dimensions]; kept in float64, so that no product converts
    them again.
    """

    def __init__(self, sparse_rows: Any, dense_rows: np.ndarray) -> None:
        self.words = sparse.csr_matrix(sparse_rows, dtype=np.float64)
        self.dense = np.ascontiguousarray(dense_rows, np.float64)
        self.shape = (len(self.dense), self.words.shape[1] + self.dense.shape[1])

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        words = self.words.shape[1]
        return np.asarray(self.words @ vector[:words] + self.dense @ vector[words:])

    def __getitem__(self, rows: np.ndarray) -> Joined:
        return Joined(self.words[rows], self.dense[rows])

    @property
    def T(self) -> _Across:  # noqa: N802 - as numpy calls it
        """The transposed matrix, for products with one number a paper."""
        return _Across(self.words.T.tocsr(), np.ascontiguousarray(self.dense.T))


class _Across:
    def __init__(self, words: Any, dense: np.ndarray) -> None:
        self.words, self.dense = words, dense

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        return np.concatenate([self.words @ vector, self.dense @ vector])


class BackgroundClassifier:
    """Squared-hinge linear classifier with weighted examples (a linear support vector machine, fitted in the primal).

    Minimises ``|w|² / 2 + strength · Σ weight · max(0, 1 − y (x·w + b))²`` by Newton steps, each solved by conjugate
    gradients (Chapelle, Training a support vector machine in the primal, Neural Computation 19(5), 2007). The offset is
    penalised like a weight. Rows should have a length of about 1.

    Parameters: ``strength`` (C of the literature, on weights that sum to the number of rows), ``tolerance`` of the
    gradient relative to that at zero, ``steps`` at most. Learned: ``coef_`` [features], ``intercept_``, ``steps_``.
    """

    def __init__(self, strength: float = 0.1, tolerance: float = 1e-3, steps: int = 20) -> None:
        self.strength = strength
        self.tolerance = tolerance
        self.steps = steps

    def fit(self, x: Rows, y: np.ndarray, weights: np.ndarray) -> Self:
        """``y`` is +1 or −1 [rows], ``weights`` ≥ 0 [rows]; forgets earlier fits.

        Raises ValueError for a ``y`` that has one class only or for weights that are not finite and ≥ 0.
        """
        if not np.isin(y, (-1, 1)).all() or len(np.unique(y)) < 2:
            raise ValueError("y must hold +1 and −1, both of them")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("weights must be finite and not negative")
        cost = 2 * self.strength * np.asarray(weights, np.float64)
        theta = np.zeros(x.shape[1] + 1)
        across = x.T.tocsr() if sparse.issparse(x) else x.T
        first = 0.0
        for step in range(self.steps):
            margin = y * (x @ theta[:-1] + theta[-1])
            active = np.where(margin < 1, cost, 0.0)
            residual = active * y * (margin - 1)
            gradient = theta + np.append(across @ residual, residual.sum())
            size = float(np.linalg.norm(gradient))
            first = first or size
            self.steps_ = step
            if size <= self.tolerance * first:
                break
            direction = _newton(x, across, active, gradient)
            changes = y * (x @ direction[:-1] + direction[-1])
            line = _along(theta, direction, margin, changes, cost)
            theta = theta + _armijo(line, float(gradient @ direction)) * direction
        self.coef_, self.intercept_ = theta[:-1], float(theta[-1])
        return self

    def decision_function(self, x: Rows) -> np.ndarray:
        """Signed distance from the boundary, in units of the margin: float64 [rows]."""
        return np.asarray(x @ self.coef_ + self.intercept_)


def _newton(x: Rows, across: Rows, active: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The step that minimises the quadratic around the present point."""

    def curved(vector: np.ndarray) -> np.ndarray:
        along = active * (x @ vector[:-1] + vector[-1])
        return np.asarray(vector + np.append(across @ along, along.sum()))

    operator = LinearOperator((len(gradient), len(gradient)), matvec=curved, dtype=np.float64)
    step, _ = cg(operator, -gradient, rtol=0.05, maxiter=50)
    return np.asarray(step)


def _along(
    theta: np.ndarray, direction: np.ndarray, margins: np.ndarray, changes: np.ndarray, cost: np.ndarray
) -> Callable[[float], float]:
    """What is minimised as a function of the length of the step; ``changes`` are of the margins, by length."""

    def objective(length: float) -> float:
        moved = theta + length * direction
        short = np.maximum(0, 1 - margins - length * changes)
        return float(moved @ moved / 2 + (cost / 2 * short * short).sum())

    return objective


def _armijo(objective: Callable[[float], float], slope: float) -> float:
    """The longest of 1, 1/2, 1/4… with which the objective falls by its share of what the slope promises."""
    start, length = objective(0.0), 1.0
    while length > 1e-4 and objective(length) > start + 1e-4 * length * slope:
        length /= 2
    return length
