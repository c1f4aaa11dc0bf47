"""The encoder's vectors of the replay's papers: ``python -m bench feed_vectors``, an hour or more on two cores.

Picks come first, then every third listing day, then the others: the replay scores the days that are complete.
"""

from __future__ import annotations

import numpy as np

from bench.common import VectorCache
from bench.feed.stream import STRIDES, Stream, passage, read_lists, read_stream

BATCH = 512


def main() -> None:
    """Encode what has no vector yet; may be stopped and started again."""
    stream, cache = read_stream(), VectorCache()
    order = in_order(stream)
    for start in range(0, len(order), BATCH):
        cache([passage(stream.papers[n]) for n in order[start : start + BATCH]])
        print(f"{min(start + BATCH, len(order))} of {len(order)}", flush=True)


def in_order(stream: Stream) -> list[int]:
    """Every paper once: picks, then the listing days in strides."""
    picks = sorted({pick.paper for picks in read_lists(stream).values() for pick in picks})
    days = np.unique(stream.days)
    strides = [np.flatnonzero(np.isin(stream.days, days[start::STRIDES])).tolist() for start in range(STRIDES)]
    return list(dict.fromkeys([*picks, *(paper for papers in strides for paper in papers)]))
