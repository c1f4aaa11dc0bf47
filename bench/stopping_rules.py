"""Rules with which the stoppers are compared, evaluated at once for a whole order: fast, and written independently.

The hypergeometric rule is that of Callaghan and Müller-Hansen, Statistical stopping criteria for automated screening in
systematic reviews, Systematic Reviews 9:273, 2020. Against "recall is below the target" it takes the probability of as
few finds among records that were read since some time, as if they had been drawn at random; both of its forms look
after every record as if for the first time, so that neither has the confidence that is declared.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.special import gammaln
from scipy.stats import hypergeom


def allowed(found: np.ndarray | int, target: float) -> np.ndarray:
    """How many may be missing if so many are found, exactly: int64 like ``found``."""
    share = Fraction(str(target))
    return np.asarray(found) * (share.denominator - share.numerator) // share.numerator


def oracle(labels: np.ndarray, target: float) -> int:
    """After how many records just the target has been found."""
    found = np.cumsum(labels)
    return int(np.searchsorted(found, -(-int(found[-1]) * Fraction(str(target)) // 1))) + 1


def in_a_row(labels: np.ndarray, count: int, priors: int) -> int:
    """After how many records so many irrelevant ones in a row have been read, priors not counted; else all."""
    run = 0
    for n in range(priors, len(labels)):
        run = 0 if labels[n] else run + 1
        if run == count:
            return n + 1
    return len(labels)


def hypergeometric_ranked(labels: np.ndarray, target: float, confidence: float, priors: int) -> int:
    """After how many ranked records the rule first says stop, tried from every start in the past; else all.

    Between finds the least p-value only falls, so that each stretch is searched by halving. The best starts are those
    just after a find, or after the priors.
    """
    records, found = len(labels), np.cumsum(labels)
    places = np.flatnonzero(labels)
    for level in range(max(int(found[priors - 1]), 1), len(places) + 1):
        low = max(int(places[level - 1]) + 1, priors)
        high = int(places[level]) if level < len(places) else records
        starts = np.unique(np.maximum(places[:level] + 1, priors))
        before = found[starts - 1]
        wrong = level + int(allowed(level, target)) + 1 - before

        def refuted(read: int, starts=starts, wrong=wrong, finds=level - before) -> bool:  # type: ignore[no-untyped-def]
            rest = records - starts
            values = hypergeom.cdf(finds, rest, np.minimum(wrong, rest), read - starts)
            return bool(np.where(wrong <= rest, values, 0.0).min() <= 1 - confidence)

        if high > low and refuted(high):
            return _least(low, high, refuted)
    return records


def two_phase(unread: int, found: int, finds: int, target: float, confidence: float) -> np.ndarray:
    """How many random draws are enough with 0, 1 … ``finds`` found among them, by the rule: int64 [finds + 1]."""
    limits = []
    for x in range(finds + 1):
        wrong = x + int(allowed(found + x, target)) + 1
        if wrong > unread:
            limits.append(0)
            continue

        def refuted(draws: int, x: int = x, wrong: int = wrong) -> bool:
            return bool(hypergeom.cdf(x, unread, wrong, draws) <= 1 - confidence)

        limits.append(_least(limits[-1] if limits else 0, unread, refuted))
    return np.array(limits)


def stopped_after(limits: np.ndarray, places: np.ndarray, unread: int) -> int:
    """After how many draws the limits first allow to stop, where the relevant ones stand at these places from 0."""
    order = np.sort(places)
    for x, limit in enumerate(limits):
        start = int(order[x - 1]) + 1 if x else 0
        end = int(order[x]) if x < len(order) else unread
        if max(start, limit) <= end:
            return max(start, int(limit))
        if x == len(order):
            break
    return unread


def stopping_error(limits: np.ndarray, unread: int, found: int, relevant: int, target: float) -> float:
    """The exact probability that such limits ever allow a stop that is wrong, with so many relevant ones unread."""
    chances, start, total = np.zeros(relevant + 1), 0, 0.0
    chances[0] = 1.0
    for x, limit in enumerate(limits):
        if relevant <= x + allowed(found + x, target):
            break
        moved = np.zeros_like(chances)
        for count in np.flatnonzero(chances):
            more = np.arange(relevant - count + 1)
            moved[count:] += chances[count] * _chance(more, unread - start, relevant - int(count), int(limit) - start)
        total += float(moved[: x + 1].sum())
        moved[: x + 1] = 0
        chances, start = moved, int(limit)
    return total


def _chance(finds: np.ndarray, unread: int, relevant: int, draws: int) -> np.ndarray:
    rest = unread - relevant
    possible = (finds <= draws) & (draws - finds <= rest)
    x = np.where(possible, finds, max(0, draws - rest))

    def choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
        return np.asarray(gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1))

    return np.where(possible, np.exp(choose(relevant, x) + choose(rest, draws - x) - choose(unread, draws)), 0.0)


def _least(low: int, high: int, holds) -> int:  # type: ignore[no-untyped-def]
    """The least number in [low, high] from which on something holds, known to hold at ``high``."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
