"""What a reader's memory says of search results and of a paper's neighbours: a read-out that is cheap enough to be
made for every question and page."""

from __future__ import annotations

import numpy as np

# Chosen by ``python -m bench personal`` on the tuning half of its lists: the greatest mean reciprocal rank that costs
# questions which have nothing to do with the reader less than .01 of theirs.
REACH = 200  # papers from the top that are put in another order; what follows stays where it is
SHARE = 0.4  # of the memory beside relevance
# Chosen by ``python -m bench similar`` in the same way, for the neighbours of a paper: their relevance is how near they
# are to it, from 1 for the nearest to 0 for the last that is looked at.
NEAR_SHARE = 0.6


def taste(remembered: np.ndarray, traces: np.ndarray) -> np.ndarray:
    """The direction of the mean of remembered papers, weighted by their traces: float64 [dimensions], of length 1.

    Rocchio's query of positive examples alone (in: Salton, The SMART retrieval system, 1971). ``remembered`` [papers,
    dimensions] has rows of length 1, or of zeros where a paper has no text; ``traces`` ≥ 0 [papers]. Zeros where
    nothing is remembered.
    """
    return direction(np.asarray(traces, np.float64) @ np.asarray(remembered, np.float64))


def direction(total: np.ndarray) -> np.ndarray:
    """A vector made of length 1; one that is shorter than rounding errors becomes zeros."""
    length = float(np.linalg.norm(total))
    return np.asarray(total / length) if length > 1e-9 else np.zeros_like(total)


def likeness(vectors: np.ndarray, taste: np.ndarray) -> np.ndarray:
    """How near papers lie to what a reader likes: the cosine, float64 [papers] in [0, 1].

    An angle of more than 90 degrees counts as nothing in common. ``vectors`` [papers, dimensions] has rows of length 1
    or of zeros, ``taste`` [dimensions] is as the function of that name gives it.
    """
    return np.asarray(np.clip(np.asarray(vectors, np.float64) @ taste, 0.0, 1.0))


def blended(relevance: np.ndarray, liked: np.ndarray, share: float = SHARE) -> np.ndarray:
    """``(1 - share) · relevance + share · liked``: float64, in [0, 1] where both are.

    The likeness is not stretched to the range that it has among these papers: where none of them has much in common
    with the reader they are all about equally unlike, and relevance decides.
    """
    return np.asarray((1 - share) * np.asarray(relevance, np.float64) + share * np.asarray(liked, np.float64))
