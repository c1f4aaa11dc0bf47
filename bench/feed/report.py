"""What the replays say: macro figures by model and kind of reader, and paired differences to the best peer."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.common import save
from bench.feed.ours import WITHOUT, Ablated, Memory, noticed
from bench.feed.readers import COLD, COLD_DAYS, COLD_STARTS, KNOWN, NOISE, Reader, made_readers
from bench.feed.replay import MEASURES, Makers, Replay, replay_all
from bench.feed.stream import Stream, halves, read_lists, read_stream
from bench.peers import PEERS
from broadsheet.stats import difference_interval

MAIN = "ndcg@20"
CONFIDENCE = 0.95

# Fitted apart from the others, and only where one chooses: on the tuning half, for readers without noise.
APART = ("without near papers in the background", "without the encoder")
OURS = (*WITHOUT, *APART)


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


def by_day(ours: Sequence[Replay], peers: Sequence[Replay]) -> tuple[np.ndarray, np.ndarray]:
    """Mean nDCG@20 of all readers who were asked on a day, in the order of time: float64 [days], of either model.

    Readers share lists, so that their figures of one day are not independent: a day counts as one observation.
    """
    column = MEASURES.index(MAIN)
    theirs = {replay.reader.name: replay for replay in peers}
    pairs: dict[int, list[tuple[float, float]]] = {}
    for replay in ours:
        other = theirs[replay.reader.name]
        for n, day in enumerate(replay.days):
            pairs.setdefault(day, []).append((replay.values[n, column], other.values[n, column]))
    means = np.array([np.mean(pairs[day], axis=0) for day in sorted(pairs)])
    return means[:, 0], means[:, 1]


def paired(ours: Sequence[Replay], peers: Sequence[Replay]) -> dict[str, Any]:
    """Macro difference in nDCG@20 over the same days of the same readers; and the mean daily one, with its bounds.

    The bounds are those of a confidence sequence after its last day (``broadsheet.stats``): they hold whenever one
    looks, and for the mean over days of the readers of a day, which weighs readers by their days.
    """
    column = MEASURES.index(MAIN)
    theirs = {replay.reader.name: replay for replay in peers}
    gaps = [(replay.values[:, column] - theirs[replay.reader.name].values[:, column]).mean() for replay in ours]
    one, other = by_day(ours, peers)
    low, high = difference_interval(one, other, CONFIDENCE, horizon=len(one))
    gap = float(np.mean(gaps))
    return {
        "difference": round(gap, 4),
        "relative": round(gap / macro(peers)[MAIN], 4),
        "days": len(one),
        "daily_difference": round(float((one - other).mean()), 4),
        "confidence_sequence_95": [round(low, 4), round(high, 4)],
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
            "models": {model: macro(by[kind, model]) for model in models if (kind, model) in by},
            "best_peer": best[kind],
        }
        if kind.startswith("drifting"):
            part["from_half_time"] = {model: after_drift(by[kind, model]) for model in models if (kind, model) in by}
        for model in [model for model in OURS if (kind, model) in by]:
            part.setdefault("against_best_peer", {})[model] = paired(by[kind, model], by[kind, best[kind]])
            quiet = kind.removesuffix(", noise")
            if quiet != kind:
                gap = paired(by[kind, model], by[quiet, best[quiet]])
                part.setdefault("against_best_peer_without_noise", {})[model] = gap
        found[kind] = part
    return found


def our_makers(stream: Stream) -> Makers:
    """The product's ranker, and what is left of it without each of its parts."""
    notice = noticed(stream)
    return {
        OURS[0]: lambda: Ablated(notice),
        APART[0]: lambda: Memory(notice, near_weight=0.0),
        APART[1]: lambda: Memory(notice, encoder=False),
    }


def run() -> None:
    """Both halves, all models."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    start = time.perf_counter()
    stream = read_stream()
    if not stream.complete:
        raise SystemExit("no stride of listing days has its vectors: run python -m bench feed_vectors first")
    lists = read_lists(stream)
    makers: Makers = {**PEERS, **our_makers(stream)}
    parts: dict[str, Any] = {}
    for half, names in halves(list(lists)).items():
        readers = made_readers(stream, lists, names)
        chosen = makers if half == "tuning" else {name: maker for name, maker in makers.items() if name not in APART}
        replays = replay_all(readers, chosen, stream, wanted=_wanted)
        parts[half] = {"lists": names, "readers": figures(replays)}
        print(half, {kind: part["models"] for kind, part in parts[half]["readers"].items()}, flush=True)
    settings = {
        "papers": len(stream.papers),
        "listing_days": len(np.unique(stream.days)),
        "scored_listing_days": len(stream.complete),
        "picks_known_before_a_day_counts": KNOWN,
        "cold_starts": {"picks": COLD, "beginnings_in_each_list": COLD_STARTS, "days_after_each": COLD_DAYS},
        "noise": NOISE,
        "interval": "betting confidence sequence for the mean paired difference of a day, after the last day",
        "features": "TF-IDF and its 256 latent topics, both fitted on the text of the whole stream; e5-small's vectors",
    }
    save("feed", {"settings": settings, **parts, "minutes": round((time.perf_counter() - start) / 60, 1)})


def _wanted(reader: Reader, name: str) -> bool:
    return name not in APART or reader.kind in ("single", "mixed", "drifting")
