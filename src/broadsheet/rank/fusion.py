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
    words: tuple[Ids, Scores], cosines: tuple[Ids, Scores], known: npt.NDArray[np.bool_], low: float, weight: float
) -> Fused:
    """Rank the union of both candidate sets by ``(1 - weight) · words + weight · meaning``.

    ``words``: ids and BM25 scores. ``cosines``: ids of all candidates (those of ``words`` included, no repeats) and
    their cosines; ``known`` tells which of them have a vector. ``low``: the cosine that counts as zero. A paper without
    a vector takes the score of its words for both parts, so that new papers are not pushed down while vectors are made.
    """
    ids, cosine = cosines
    word_part = np.zeros(len(ids))
    if len(words[0]):
        position = {int(i): n for n, i in enumerate(ids)}
        at = [position[int(i)] for i in words[0]]
        word_part[at] = scaled(words[1], 0.0, float(words[1].max()))
    highest = float(cosine[known].max()) if known.any() else 0.0
    meaning = np.where(known, scaled(cosine, low, highest), word_part)
    total = (1 - weight) * word_part + weight * meaning
    order = np.lexsort((ids, -total))
    shown = np.where(known, meaning, np.nan)
    return Fused(ids[order], total[order], word_part[order], shown[order])
