"""Other ways to rank a day's papers for one reader, each made from its public description.

A peer lives for one reader's replay. ``scores(picks, day, stream)`` gets the reader's earlier picks in the order of
time and gives one number for each paper listed on that day, higher is better; ties keep the listing's order.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.peers.linear import ArxivSanity, Centroid, Rocchio
from bench.peers.similarity import MeanEmbedding, NearestSaved, ZoteroDaily, ZoteroDailyEncoded

PEERS: dict[str, Callable[[], ArxivSanity | Centroid | Rocchio | NearestSaved | ZoteroDaily | MeanEmbedding]] = {
    "arxiv-sanity-lite": ArxivSanity,
    "zotero-arxiv-daily": ZoteroDaily,
    "zotero-arxiv-daily, encoder": ZoteroDailyEncoded,
    "mean embedding": MeanEmbedding,
    "centroid": Centroid,
    "rocchio": Rocchio,
    "nearest saved": NearestSaved,
}
