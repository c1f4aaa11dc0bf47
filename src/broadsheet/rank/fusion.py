"""Convex fusion of word and vector scores.

Bruch, Gai, Ingber 2023 (arXiv:2210.11934): a convex sum of min-max scores beats reciprocal rank fusion. BM25 has a
natural minimum of zero; a cosine's minimum is that of the vector candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fused:
    """A ranking of n papers, best first, equal scores by ascending id. All scores lie in [0, 1].

    ``meaning`` is not a number where a paper has no vector.
    """

    ids: Ids
    scores: Scores
    words: Scores
    meaning: Scores


def scaled(scores: Scores, low: float, high: float) -> Scores:
    """Scores moved to [0, 1]; a range of nothing gives 1 to those at or above it."""
    if high - low <= 1e-12:
        return np.asarray(scores >= high, dtype=np.float64)
    return np.clip((scores - low) / (high - low), 0.0, 1.0)


def fuse(
    words: tuple[Ids, Scores],
    known: npt.NDArray[np.bool_],
    near: tuple[Ids, Scores],
    extra: Ids,
    weight: float,
) -> Fused:
    """Rank ``words`` and ``extra`` together by ``(1 - weight) · words + weight · meaning``.

    ``words``: ids and BM25 scores; ``known`` tells which of them have a vector. ``near``: the nearest ids with their
    cosines, best first; the last one's cosine counts as zero, and so does that of whoever is not among them. ``extra``:
    those of ``near`` that are ranked without being in ``words``. A paper without a vector takes the score of its words
    for both parts, so that new papers are not pushed down while vectors are made.
    """
    ids = np.concatenate([words[0], extra])
    word_part = np.zeros(len(ids))
    if len(words[0]):
        word_part[: len(words[0])] = scaled(words[1], 0.0, float(words[1].max()))
    meaning = np.zeros(len(ids))
    if len(near[0]):
        order = np.argsort(near[0])
        at = order[np.minimum(np.searchsorted(near[0], ids, sorter=order), len(order) - 1)]
        parts = scaled(near[1], float(near[1][-1]), float(near[1][0]))
        meaning = np.where(near[0][at] == ids, parts[at], 0.0)
    has_vector = np.concatenate([known, np.ones(len(extra), np.bool_)])
    meaning = np.where(has_vector, meaning, word_part)
    total = (1 - weight) * word_part + weight * meaning
    best = np.lexsort((ids, -total))
    shown = np.where(has_vector, meaning, np.nan)
    return Fused(ids[best], total[best], word_part[best], shown[best])
