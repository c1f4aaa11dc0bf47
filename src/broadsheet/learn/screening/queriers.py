"""Which unread record comes next: an order of them all, from their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .parts import Part


@dataclass(frozen=True)
class Pool:
    """What a querier may look at.

    ``scores`` float64 [n], signed: above 0 where the classifier would include; ``unread`` the indices to order, int64
    [m]; ``relevant`` and ``irrelevant`` the labelled ones; ``rows`` [n, features], a matrix with rows of length 1 or
    0 by which records are compared; ``tie`` [n], a random permutation by which equal scores are ordered.
    """

    scores: np.ndarray
    unread: np.ndarray
    relevant: np.ndarray
    irrelevant: np.ndarray
    rows: Any
    tie: np.ndarray

    def best_first(self, values: np.ndarray, among: np.ndarray) -> np.ndarray:
        """``among`` (indices) by ``values`` [n], greatest first; equal ones by lot, never by their place in a file."""
        return among[np.lexsort((self.tie[among], -values[among]))]

    def draw(self, seed: int) -> np.random.Generator:
        """Random numbers that depend on the seed and on how much is labelled."""
        return np.random.default_rng([seed, len(self.relevant), len(self.irrelevant)])


class MaxRelevance(Part):
    """The likeliest to be relevant first."""

    name: ClassVar[str] = "max-relevance"

    def __init__(self) -> None: ...

    def order(self, pool: Pool) -> np.ndarray:
        """All of ``pool.unread``, int64 [m]."""
        return pool.best_first(pool.scores, pool.unread)


class Uncertainty(Part):
    """Those nearest to the classifier's boundary first (Lewis and Gale, SIGIR 1994)."""

    name: ClassVar[str] = "uncertainty"

    def __init__(self) -> None: ...

    def order(self, pool: Pool) -> np.ndarray:
        """All of ``pool.unread``, int64 [m]."""
        return pool.best_first(-np.abs(pool.scores), pool.unread)


class Random(Part):
    """In random order: what the model would never show has its chance."""

    name: ClassVar[str] = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def order(self, pool: Pool) -> np.ndarray:
        """All of ``pool.unread``, int64 [m]."""
        return pool.draw(self.seed).permutation(pool.unread)


class Mixed(Part):
    """Each place goes to the likeliest with the probability ``share``, else to another querier's next.

    ``other`` is ``random`` or ``uncertainty``. The share of ASReview's mixed queriers is the default, 0.95.
    """

    name: ClassVar[str] = "mixed"

    def __init__(self, share: float = 0.95, other: str = "random", seed: int = 0) -> None:
        self.share = share
        self.other = other
        self.seed = seed

    def order(self, pool: Pool) -> np.ndarray:
        """All of ``pool.unread``, int64 [m]; raises ValueError for a share outside [0, 1] or an unknown ``other``."""
        if not 0 <= self.share <= 1:
            raise ValueError(f"share must lie in [0, 1], not {self.share}")
        if self.other not in ("random", "uncertainty"):
            raise ValueError(f"other must be random or uncertainty, not {self.other!r}")
        other = Random(self.seed) if self.other == "random" else Uncertainty()
        return _woven(MaxRelevance().order(pool), other.order(pool), pool.draw(self.seed).random, self.share)


def _woven(first: np.ndarray, second: np.ndarray, draw: Any, share: float) -> np.ndarray:
    """Both orders of the same records in one, each record where it comes up first."""
    from_first = draw(len(first)) < share
    queues, at, seen, order = (first.tolist(), second.tolist()), [0, 0], set(), []
    for wanted in np.where(from_first, 0, 1).tolist():
        queue = queues[wanted]
        while queue[at[wanted]] in seen:
            at[wanted] += 1
        order.append(queue[at[wanted]])
        seen.add(order[-1])
    return np.array(order, np.int64)


class Anchors(Part):
    """AnchorAL: the choice is made in a small subpool of records that are near anchors of both classes.

    In every round anchors are chosen among the labelled records of each class, as seeds of k-means++ are, so that they
    cover the class; the ``near`` most similar unread records of each anchor make the subpool, cut to ``subpool`` by
    their mean similarity to all anchors. The subpool comes first, in the order of ``within``; what is outside of it
    follows by relevance. Anchors change from round to round, so no part of a class is dwelt on. Lesci and Vlachos,
    AnchorAL: Computationally efficient active learning for large and imbalanced datasets, NAACL 2024; the defaults are
    that paper's (10 anchors a class, 50 neighbours, 1,000 records).
    """

    name: ClassVar[str] = "anchors"

    def __init__(
        self, anchors: int = 10, near: int = 50, subpool: int = 1000, within: str = "max-relevance", seed: int = 0
    ) -> None:
        self.anchors = anchors
        self.near = near
        self.subpool = subpool
        self.within = within
        self.seed = seed

    def order(self, pool: Pool) -> np.ndarray:
        """All of ``pool.unread``, int64 [m]; raises ValueError for counts below 1 or an unknown ``within``."""
        if min(self.anchors, self.near, self.subpool) < 1:
            raise ValueError("anchors, near and subpool must be at least 1")
        if self.within not in ("max-relevance", "uncertainty"):
            raise ValueError(f"within must be max-relevance or uncertainty, not {self.within!r}")
        values = pool.scores if self.within == "max-relevance" else -np.abs(pool.scores)
        chosen = self.subpool_of(pool)
        outside = np.setdiff1d(pool.unread, chosen)
        return np.concatenate([pool.best_first(values, chosen), pool.best_first(pool.scores, outside)])

    def subpool_of(self, pool: Pool) -> np.ndarray:
        """The unread records that the choice is made in, ascending."""
        draw = pool.draw(self.seed)
        anchors = np.concatenate([self._anchors(pool, one, draw) for one in (pool.relevant, pool.irrelevant)])
        if not len(anchors) or not len(pool.unread):
            return pool.unread[:0]
        alike = _products(pool.rows[pool.unread], pool.rows[anchors])
        near = min(self.near, len(pool.unread))
        found = np.unique(np.argpartition(-alike, near - 1, axis=0)[:near])
        mean = alike[found].mean(axis=1)
        kept = found[np.lexsort((pool.tie[pool.unread[found]], -mean))[: self.subpool]]
        return np.sort(pool.unread[kept])

    def _anchors(self, pool: Pool, labelled: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        if len(labelled) <= self.anchors:
            return labelled
        rows = pool.rows[labelled]
        chosen = [int(draw.integers(len(labelled)))]
        distance = np.full(len(labelled), np.inf)
        while len(chosen) < self.anchors:
            alike = _products(rows, pool.rows[labelled[chosen[-1:]]])[:, 0]
            distance = np.minimum(distance, np.maximum(0, 2 - 2 * alike))
            distance[chosen] = 0
            total = distance.sum()
            if total <= 0:
                break
            chosen.append(int(draw.choice(len(labelled), p=distance / total)))
        return labelled[chosen]


def _products(left: Any, right: Any) -> np.ndarray:
    """Dot products of the rows, dense float64 [left, right]."""
    product = left @ right.T
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product, np.float64)


QUERIERS: dict[str, type[Part]] = {part.name: part for part in (MaxRelevance, Uncertainty, Random, Mixed, Anchors)}
