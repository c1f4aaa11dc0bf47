"""Conformal risk control: a parameter chosen from data so that an expected bounded loss stays under a declared level.

Angelopoulos, Bates, Fisch, Lei and Schuster, Conformal risk control, ICLR 2024: the bound, its form with weights for a
shift of the covariates, and the monotone envelope for losses that are not monotone. The guarantee is on
the expectation over the calibration data and the next case together (marginal), for exchangeable cases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def risk_bound(
    losses: np.ndarray, weights: np.ndarray | None = None, next_weight: float = 1.0, bound: float = 1.0
) -> np.ndarray:
    """The mean loss as if the next case lost all it can: float64 [parameters].

    ``losses`` are [cases, parameters] in [0, bound]; ``weights`` [cases] ≥ 0 are likelihood ratios of the next case's
    distribution to that of the cases, ``next_weight`` that of the next case (its greatest value, where it is not
    known). (Σ w_i L_i + w_next · bound) / (Σ w_i + w_next). No cases at all give ``bound``. Raises ValueError for
    losses out of range or not finite, negative weights, and shapes that do not fit.
    """
    table = _checked(losses, bound)
    w = np.ones(len(table)) if weights is None else np.asarray(weights, np.float64)
    if w.shape != (len(table),):
        raise ValueError(f"weights must be one for each of the {len(table)} cases, not {w.shape}")
    if not (np.isfinite(w).all() and (w >= 0).all() and np.isfinite(next_weight) and next_weight >= 0):
        raise ValueError("weights must be finite and not negative")
    total = w.sum() + next_weight
    if total <= 0:
        raise ValueError("weights must not all be 0")
    return np.asarray((w @ table + next_weight * bound) / total)


def monotone(losses: np.ndarray) -> np.ndarray:
    """The least losses that are nowhere smaller and never rise from one parameter to the next: [cases, parameters].

    For losses that are not monotone: to control these controls those.
    """
    table = np.asarray(losses, np.float64)
    return np.maximum.accumulate(table[:, ::-1], axis=1)[:, ::-1]


def controlled(
    losses: np.ndarray,
    risk: float,
    weights: np.ndarray | None = None,
    next_weight: float = 1.0,
    bound: float = 1.0,
) -> int | None:
    """The first parameter from which on the declared risk is kept, as an index; None where no parameter keeps it.

    The parameters are in the order from bold to cautious, and no case may lose more under a more cautious one: see
    ``monotone``. Then the expected loss of the next case is at most ``risk``. Raises ValueError as ``risk_bound``, for
    a risk that is negative or not finite, and for losses that rise.
    """
    table = _checked(losses, bound)
    if not (np.isfinite(risk) and risk >= 0):
        raise ValueError(f"the risk must not be negative, nor {risk}")
    if (np.diff(table, axis=1) > 1e-12).any():
        raise ValueError("a loss rises from one parameter to a more cautious one: take monotone(losses)")
    kept = risk_bound(table, weights, next_weight, bound) <= risk
    return int(np.argmax(kept)) if kept.any() else None


def _checked(losses: np.ndarray | Sequence[Sequence[float]], bound: float) -> np.ndarray:
    table = np.asarray(losses, np.float64)
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError("losses must be [cases, parameters] with one parameter or more")
    if not (np.isfinite(bound) and bound > 0):
        raise ValueError(f"the bound of the losses must be above 0, not {bound}")
    if not ((table >= 0) & (table <= bound)).all():
        raise ValueError(f"losses must lie in [0, {bound:g}]")
    return table
