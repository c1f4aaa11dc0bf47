"""What the replays say: macro figures by model and kind of reader, and paired differences to the best peer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.common import save
from bench.feed.ours import Memory, noticed
from bench.feed.readers import COLD, COLD_DAYS, COLD_STARTS, KNOWN, NOISE, made_readers
from bench.feed.replay import MEASURES, Model, Replay, replay_all
from bench.feed.stream import Stream, halves, read_lists, read_stream
from bench.peers import PEERS

RESAMPLES = 2000
MAIN = "ndcg@20"

OURS = ("memory", "memory without notice")


def macro(replays: Sequence[Replay]) -> dict[str, float]:
    """Mean over readers of their means over days."""
    means = [replay.means() for replay in replays]
    return {name: round(float(np.mean([mean[name] for mean in means])), 4) for name in MEASURES}


def after_drift(replays: Sequence[Replay]) -> dict[str, float]:
    """The macro figures on the days from half time on."""
    parts = []
    for replay in replays:
        assert replay.reader.drift is not None
        later = np.array(replay.days) >= replay.reader.drift
        parts.append(replay.values[later].mean(axis=0))
    return dict(zip(MEASURES, np.round(np.mean(parts, axis=0), 4).tolist(), strict=True))


def paired(ours: Sequence[Replay], peers: Sequence[Replay], seed: int = 0) -> dict[str, Any]:
    """Macro difference in nDCG@20 over the same days of the same readers, with a percentile bootstrap interval.

    Readers are resampled, and days within each (Davison and Hinkley, Bootstrap methods and their application, 1997,
    section 3.8). Mixed and drifting readers share lists, so that they are not independent and the interval is too
    narrow for them.
    """
    column = MEASURES.index(MAIN)
    theirs = {replay.reader.name: replay for replay in peers}
    gaps = [replay.values[:, column] - theirs[replay.reader.name].values[:, column] for replay in ours]
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = rng.integers(len(gaps), size=len(gaps))
        drawn.append(np.mean([gaps[n][rng.integers(len(gaps[n]), size=len(gaps[n]))].mean() for n in chosen]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    gap = float(np.mean([gap.mean() for gap in gaps]))
    base = macro(peers)[MAIN]
    return {
        "difference": round(gap, 4),
        "interval_95": [round(float(low), 4), round(float(high), 4)],
        "relative": round(gap / base, 4),
    }


def figures(replays: Sequence[Replay]) -> dict[str, Any]:
    """Everything about one half of the lists."""
    kinds = list(dict.fromkeys(replay.reader.kind for replay in replays))
    by: dict[tuple[str, str], list[Replay]] = {}
    for replay in sorted(replays, key=lambda replay: (replay.reader.name, replay.model)):
        by.setdefault((replay.reader.kind, replay.model), []).append(replay)
    models = list(dict.fromkeys(model for _, model in by))
    best = {kind: max(PEERS, key=lambda peer: macro(by[kind, peer])[MAIN]) for kind in kinds}
    found: dict[str, Any] = {}
    for kind in sorted(kinds):
        some = by[kind, models[0]]
        part: dict[str, Any] = {
            "readers": len(some),
            "days": sum(len(replay.days) for replay in some),
            "models": {model: macro(by[kind, model]) for model in models},
            "best_peer": best[kind],
        }
        if kind.startswith("drifting"):
            part["from_half_time"] = {model: after_drift(by[kind, model]) for model in models}
        for model in [model for model in OURS if model in models]:
            part.setdefault("against_best_peer", {})[model] = paired(by[kind, model], by[kind, best[kind]])
            quiet = kind.removesuffix(", noise")
            if quiet != kind:
                gap = paired(by[kind, model], by[quiet, best[quiet]])
                part.setdefault("against_best_peer_without_noise", {})[model] = gap
        found[kind] = part
    return found


def our_makers(stream: Stream) -> dict[str, Callable[[], Model]]:
    """The product's ranker, and the same without the part that is learned from what others noticed."""
    notice = noticed(stream)
    silence = np.zeros_like(notice)
    return {OURS[0]: lambda: Memory(notice), OURS[1]: lambda: Memory(silence)}


def run() -> None:
    """Both halves, all models."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    start = time.perf_counter()
    stream = read_stream()
    lists = read_lists(stream)
    makers: dict[str, Callable[[], Model]] = {**PEERS, **our_makers(stream)}
    parts: dict[str, Any] = {}
    for half, names in halves(list(lists)).items():
        readers = made_readers(stream, lists, names)
        parts[half] = {"lists": names, "readers": figures(replay_all(readers, makers, stream))}
    settings = {
        "papers": len(stream.papers),
        "listing_days": len(np.unique(stream.days)),
        "picks_known_before_a_day_counts": KNOWN,
        "cold_starts": {"picks": COLD, "beginnings_in_each_list": COLD_STARTS, "days_after_each": COLD_DAYS},
        "noise": NOISE,
        "interval": f"percentile bootstrap over readers and days within readers, {RESAMPLES} resamples",
        "features": "TF-IDF and its 256 latent topics, both fitted on the text of the whole stream",
    }
    save("feed", {"settings": settings, **parts, "minutes": round((time.perf_counter() - start) / 60, 1)})
