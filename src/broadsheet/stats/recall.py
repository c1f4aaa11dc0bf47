"""Recall as a statement about counts, exact: a target is a decimal number, not the binary one nearest to it."""

from __future__ import annotations

import math
from fractions import Fraction


def allowed_missing(found: int, target: float) -> int:
    """The most relevant records that may be unread while ``found`` ones are at least ``target`` of all: ⌊f(1 − τ)/τ⌋.

    Raises ValueError for a target outside (0, 1) and a negative count.
    """
    share = _share(target)
    return math.floor(_count(found, "found") * (1 - share) / share)


def needed(total: int, target: float) -> int:
    """The fewest of ``total`` relevant records that make a recall of ``target``: ⌈τ · total⌉. Errors as above."""
    return math.ceil(_share(target) * _count(total, "total"))


def check_share(value: float, name: str) -> float:
    """The value, if it lies in (0, 1); else ValueError, which names it."""
    if not 0 < value < 1:  # not a number is refused here, too
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, not {value}")
    return float(value)


def _share(target: float) -> Fraction:
    return Fraction(str(check_share(target, "target")))


def _count(value: int, name: str) -> int:
    if value < 0:
        raise ValueError(f"{name} must not be negative, nor {value}")
    return int(value)
