"""The frozen ranker and all peers on listing days that it was not made by: ``python -m bench feed_days``.

The second ranker was chosen on every third listing day, the first ones. Here the same lists' readers (without noise)
are asked on the next third, and backgrounds are drawn from it. The lists are not new; the days, their papers and the
picks to be found are. The first ranker, of which the second kept the shape, had been measured on all days.
"""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import Any

import numpy as np

from bench.common import save
from bench.feed.ours import Memory, noticed
from bench.feed.readers import made_readers
from bench.feed.replay import Makers, replay_all
from bench.feed.report import figures
from bench.feed.stream import STRIDES, Stream, halves, read_lists, read_stream
from bench.peers import PEERS

STRIDE = 1  # the ranker was chosen on that of number 0


class OtherDays(Stream):
    """The stream, of which one other stride of days counts."""

    @cached_property
    def complete(self) -> frozenset[int]:
        days = np.unique(self.days)[STRIDE::STRIDES]
        lacking = set(self.days[~self.encoded].tolist())
        return frozenset(day for day in days.tolist() if day not in lacking)


def main() -> None:
    """Replay both halves and write ``bench/results/feed_days.json``."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    start, whole = time.perf_counter(), read_stream()
    stream = OtherDays(whole.papers, whole.days)
    if len(stream.complete) < len(np.unique(stream.days)[STRIDE::STRIDES]):
        raise SystemExit("not every paper of these days has its vector: run python -m bench feed_vectors first")
    lists, notice = read_lists(stream), noticed(stream)
    makers: Makers = {**PEERS, "memory": lambda: Memory(notice)}
    parts: dict[str, Any] = {}
    for half, names in halves(list(lists)).items():
        readers = [one for one in made_readers(stream, lists, names) if not one.kind.endswith("noise")]
        parts[half] = {"lists": names, "readers": figures(replay_all(readers, makers, stream))}
        print(half, {kind: part["models"] for kind, part in parts[half]["readers"].items()}, flush=True)
    settings = {"scored_listing_days": len(stream.complete), "stride": STRIDE, "strides": STRIDES}
    save("feed_days", {"settings": settings, **parts, "minutes": round((time.perf_counter() - start) / 60, 1)})
