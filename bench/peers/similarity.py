"""Peers that compare a paper with the saved ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.feed.stream import Pick, Stream
from bench.peers.linear import rows_of


def similarities(picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
    """Cosines in the space of the words: float64 [papers of the day, picks]."""
    first, last = stream.listing(day)
    return np.asarray((stream.words[first:last] @ stream.words[rows_of(picks)].T).toarray())


class ZoteroDaily:
    """Similarity to every paper of the library, weighted by its rank in the order of adding.

    zotero-arxiv-daily, ``recommender.py``: newest first, weight 1 / (1 + log10(rank)), normalised to 1. Its
    similarities are cosines of a sentence encoder; here of TF-IDF, as for the other peers.
    """

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float64 [papers of the day]."""
        newest_first = sorted(picks, key=lambda pick: -pick.added)
        weights = 1 / (1 + np.log10(np.arange(1, len(picks) + 1)))
        return np.asarray(self.cosines(newest_first, day, stream) @ (weights / weights.sum()))

    def cosines(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float [papers of the day, picks]."""
        return similarities(picks, day, stream)


class ZoteroDailyEncoded(ZoteroDaily):
    """The same by cosines of a sentence encoder, as it is in reality; the encoder is the product's."""

    def cosines(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float32 [papers of the day, picks]."""
        first, last = stream.listing(day)
        return np.asarray(stream.vectors[first:last] @ stream.vectors[rows_of(picks)].T)


class NearestSaved:
    """Similarity to the nearest saved paper."""

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float64 [papers of the day]."""
        return np.asarray(similarities(picks, day, stream).max(axis=1))


class MeanEmbedding:
    """Similarity to the mean of the picks' vectors of the encoder."""

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        """float32 [papers of the day]."""
        first, last = stream.listing(day)
        return np.asarray(stream.vectors[first:last] @ stream.vectors[rows_of(picks)].mean(axis=0))
