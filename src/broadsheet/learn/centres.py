"""The several topics of one reader: remembered papers in groups, and the words that tell each group apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse

from broadsheet.learn.space import TextSpace
from broadsheet.learn.terms import shown
from broadsheet.model import PaperId
from broadsheet.model.reading import InterestCentre

# Chosen on the tuning half of the curated lists: two groups are one interest if their means are more alike than this.
ALIKE = 0.5
MOST = 8
TOPICS = 64  # of a text's topics, the greatest; more of them are noise for a handful of papers
SMALLEST = 0.05  # of the papers, and two at least: fewer are no interest of their own
WORDS = 6
_CANDIDATES = 60


class InterestCentres:
    """Groups of papers by Ward's tree, cut where the two branches' means are less alike than ``alike``.

    Ward, Hierarchical grouping to optimize an objective function, JASA 58(301), 1963, over the topics without what all
    texts share, rows of length 1. The tree is cut from the root, the greatest difference first, into at most ``most``
    groups, so a new paper seldom moves others (measured in ``bench/memory.py``). Papers in branches that are too small
    join the group whose mean is nearest. The same papers in the same order always give the same groups.

    Parameters: ``alike`` (a cosine), ``most``, ``smallest`` (share of the papers). Learned: ``labels_`` int64 [papers]
    (−1 for a paper without topics), ``shares_`` float64 [groups], greatest first, of sum 1.
    """

    def __init__(self, alike: float = ALIKE, most: int = MOST, smallest: float = SMALLEST) -> None:
        self.alike = alike
        self.most = most
        self.smallest = smallest

    def fit(self, topics: np.ndarray, weights: np.ndarray, common: np.ndarray | None = None) -> Self:
        """Group papers by their ``topics`` [papers, topics]; ``weights`` ≥ 0 [papers] make the shares, not the groups.

        ``common`` [topics], of length 1, is the direction that all texts share (``TextSpace.common_``). Forgets earlier
        fits. No paper gives no group. Raises ValueError for a negative weight.
        """
        weights = np.asarray(weights, np.float64)
        if (weights < 0).any():
            raise ValueError("the weights of an interest's papers must not be negative")
        rows = np.asarray(topics, np.float64)
        if common is not None:
            rows = rows - np.outer(rows @ common, common)
        rows = rows[:, :TOPICS]
        lengths = np.linalg.norm(rows, axis=1)
        told = np.flatnonzero(lengths > 1e-9)
        rows = rows[told] / lengths[told, None]
        groups = self._groups(rows)
        sizes = np.array([weights[told[group]].sum() + 1e-9 * len(group) for group in groups])
        order = np.argsort(-sizes, kind="stable")
        self.labels_ = np.full(len(topics), -1)
        for label, group in enumerate(order):
            self.labels_[told[groups[group]]] = label
        self.shares_ = sizes[order] / sizes.sum() if len(sizes) else np.zeros(0)
        return self

    def _groups(self, rows: np.ndarray) -> list[np.ndarray]:
        least = max(2, self.smallest * len(rows))
        if len(rows) < 2 * least:
            return [np.arange(len(rows))] if len(rows) else []
        from scipy.cluster.hierarchy import linkage, to_tree

        waiting: list[Any] = [to_tree(linkage(rows, "ward"))]
        whole: list[np.ndarray] = []
        strays: list[int] = []
        while waiting:
            waiting.sort(key=lambda branch: -branch.dist)
            branch = waiting.pop(0)
            if branch.is_leaf() or len(whole) + len(waiting) + 1 >= self.most:
                whole.append(_members(branch))
                continue
            small, large = sorted((branch.left, branch.right), key=lambda part: part.count)
            if small.count >= least:
                apart = _cosine(rows[_members(small)].sum(axis=0), rows[_members(large)].sum(axis=0)) < self.alike
                if apart:
                    waiting += [small, large]
                else:
                    whole.append(_members(branch))
            elif large.count >= 2 * least:  # there may still be two interests behind a stray paper
                strays += small.pre_order()
                waiting.append(large)
            else:
                whole.append(_members(branch))
        return _joined(rows, whole, strays)


def interest_centres(
    papers: Sequence[PaperId],
    weights: np.ndarray,
    *,
    space: TextSpace,
    words: sparse.csr_matrix,
    topics: np.ndarray,
    texts: Mapping[PaperId, str],
) -> tuple[InterestCentre, ...]:
    """A reader's interests as they are shown, the greatest first, each with its papers by weight.

    ``weights`` ≥ 0 [papers] are what is remembered in favour of each; ``words`` (sparse [papers, terms]) and ``topics``
    [papers, topics] their rows in ``space``; ``texts`` plain title and abstract by paper, for the way in which words
    are written. The words told are those whose mean weight in the group exceeds that in the space's own texts by most.
    Papers without any known word are in no centre.
    """
    if not len(papers):
        return ()
    groups = InterestCentres().fit(topics, weights, space.common_)
    found = []
    for label, share in enumerate(groups.shares_):
        rows = np.flatnonzero(groups.labels_ == label)
        rows = rows[np.argsort(-weights[rows], kind="stable")]
        members = [papers[n] for n in rows.tolist()]
        told = telling_words(words[rows], space, [texts[paper] for paper in members if paper in texts])
        found.append(InterestCentre(tuple(told), tuple(members), float(share)))
    return tuple(found)


def telling_words(words: sparse.csr_matrix, space: TextSpace, texts: Sequence[str], count: int = WORDS) -> list[str]:
    """At most ``count`` words that tell some papers apart from the background, as they are written in ``texts``."""
    excess = np.asarray(words.mean(axis=0), np.float64).ravel() - space.mean_
    best = [n for n in np.argsort(-excess, kind="stable")[:_CANDIDATES] if excess[n] > 0]
    return list(shown([space.names_[n] for n in best], texts, count))


def _joined(rows: np.ndarray, groups: list[np.ndarray], strays: list[int]) -> list[np.ndarray]:
    """The groups with each stray paper in the one whose mean is nearest."""
    if not strays:
        return groups
    means = np.array([rows[group].sum(axis=0) for group in groups])
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
    nearest = np.argmax(rows[strays] @ means.T, axis=1)
    return [np.sort(np.r_[group, np.array(strays)[nearest == n]]) for n, group in enumerate(groups)]


def _members(branch: Any) -> np.ndarray:
    return np.sort(np.array(branch.pre_order(), np.int64))


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-12))
