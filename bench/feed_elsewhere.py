"""The frozen ranker and its peers on CiteULike and on one Zotero library: ``python -m bench feed_elsewhere``."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bench.common import save
from bench.feed.elsewhere import by_model, citeulike, makers_for, zotero
from bench.feed.replay import replay_all
from bench.feed.report import MAIN, macro, paired


def main() -> None:
    """Replay every reader with every model that needs no encoder and write ``bench/results/feed_elsewhere.json``."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    found: dict[str, Any] = {}
    for name, made in (("citeulike", citeulike), ("zotero", zotero)):
        stream, readers = made()
        models = by_model(replay_all(readers, makers_for(stream), stream))
        means = {model: macro(replays) for model, replays in models.items()}
        best = max((model for model in models if model != "memory"), key=lambda model: means[model][MAIN])
        found[name] = {
            "papers": len(stream.papers),
            "readers": len(readers),
            "days": len(stream.complete),
            "candidates_a_day": float(np.median(np.unique(stream.days, return_counts=True)[1])),
            "wanted_a_day": round(float(np.mean([len(w) for one in readers for w in one.wanted.values()])), 2),
            "models": means,
            "best_peer": best,
            "against_best_peer": paired(models["memory"], models[best]),
        }
    save("feed_elsewhere", found)
