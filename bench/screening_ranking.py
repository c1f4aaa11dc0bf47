"""How early a screening model meets the relevant records of real reviews, beside ASReview with its default model.

``python -m bench screening_ranking``. Every review of data/screening, ten pairs of priors (one relevant and one
irrelevant record by lot), both tools with the same records, priors and schedule: title and abstract, duplicates as they
are, until the last relevant record. ``SHARE`` of the labelled records are read between two fits (at least one); a
second comparison, of six reviews and one pair of priors, fits after every label. ASReview runs out of process, by the
Python of a venv of its own (``BROADSHEET_ASREVIEW``); what it answered is kept under the cache, since it takes long.

The reviews were parted before anything was run: every second one by name was for choosing parameters (``TUNING``), the
others are for the report.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bench.common import CACHE, SHARED, VectorCache, rows, save
from broadsheet.learn.screening import ScreeningModel, model_of
from broadsheet.metrics import mean
from broadsheet.metrics import screening as measures
from broadsheet.text import to_plain

FILES = sorted((SHARED / "data" / "screening").glob("*.jsonl.gz"))
REVIEWS = [path.name.removesuffix(".jsonl.gz") for path in FILES]
TUNING, REPORT = REVIEWS[0::2], REVIEWS[1::2]
SEEDS = range(10)
EVERY_LABEL = (*REVIEWS[:1], *REVIEWS[4:5], *REVIEWS[8:11], *REVIEWS[14:15])
SHARE = 0.05
SUM = "sum"  # the model before orders took turns: its parameters are those of the class
PEER = Path(__file__).parent / "peers" / "asreview_runs.py"
PYTHON = os.environ.get("BROADSHEET_ASREVIEW", "python")
ANSWERS = CACHE / "screening_asreview.jsonl"
ORDERS = CACHE / "screening_orders"


@dataclass(frozen=True)
class Review:
    """A review's records: ``texts`` "title\\nabstract", ``labels`` bool [n], ``vectors`` float32 [n, 384]."""

    name: str
    file: Path
    texts: list[str]
    labels: np.ndarray
    vectors: np.ndarray | None
    keywords: list[str]


def review(name: str, cache: VectorCache | None) -> Review:
    """One review, with vectors where there is a cache."""
    file = FILES[REVIEWS.index(name)]
    records = list(rows(file))
    pairs = [(record.get("title") or "", record.get("abstract") or "") for record in records]
    vectors = cache([encoded_text(*pair) for pair in pairs]) if cache else None
    labels = np.array([record["label_included"] for record in records], bool)
    keywords = [record.get("keywords") or "" for record in records]
    return Review(name, file, ["\n".join(pair) for pair in pairs], labels, vectors, keywords)


def encoded_text(title: str, abstract: str) -> str:
    """What the encoder is given of a record."""
    return " ".join(f"{to_plain(title)} {to_plain(abstract)}".split())


def priors(labels: np.ndarray, seed: int) -> list[int]:
    """One relevant and one irrelevant record by lot."""
    draw = np.random.default_rng(seed)
    return [int(draw.choice(np.flatnonzero(labels))), int(draw.choice(np.flatnonzero(~labels)))]


@threadpool_limits.wrap(limits=1)  # as the peer has
def ours(
    one: Review, seed: int, share: float, composition: str = "", *, keywords: bool = False
) -> tuple[list[int], dict[str, float]]:
    """The order in which all records are read, priors first, and the seconds until the last relevant one.

    The vectors are there before: they are made once, when records come in, and in the background.
    """
    begin, spent = time.perf_counter(), time.process_time()
    model = ScreeningModel(seed=seed) if composition == SUM else model_of(composition, seed=seed)
    model.keywords = 0.5 if keywords else 0.0
    model.fit_features(one.texts, one.vectors, keywords=one.keywords if keywords else None)
    order = priors(one.labels, seed)
    labelled = {n: bool(one.labels[n]) for n in order}
    left = int(one.labels.sum()) - 1
    while left:
        ranking = model.rank(labelled)
        for n in ranking.order[: max(1, int(len(order) * share))].tolist():
            labelled[n] = bool(one.labels[n])
            left -= labelled[n]
            order.append(n)
    times = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - spent}
    return order + model.rank(labelled).order.tolist(), times


def figures(order: Sequence[int], labels: np.ndarray) -> dict[str, float]:
    """Measures of one run, the two priors left out; an order may end after the last relevant record."""
    read = labels[np.asarray(order[2:])].tolist()
    records, relevant = len(labels) - 2, int(labels.sum()) - 1
    return {
        "wss95": measures.wss(read, records, relevant),
        "rrf10": measures.rrf(read, records, relevant),
        "atd": measures.average_time_to_discovery(read, records, relevant),
    }


class Peer:
    """ASReview's answers: those kept, and those of a process that is started when one is missing."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, float], dict[str, Any]] = {}
        if ANSWERS.exists():
            for line in ANSWERS.read_text("utf-8").splitlines():
                answer = json.loads(line)
                self._kept[answer["review"], answer["seed"], answer["share"]] = answer
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, one: Review, seed: int, share: float) -> dict[str, Any]:
        """The answer to one job."""
        key = (one.name, seed, share)
        if key not in self._kept:
            job = {"review": one.name, "file": str(one.file), "seed": seed, "priors": priors(one.labels, seed)}
            line = self._ask(json.dumps({**job, "share": share}))
            self._kept[key] = json.loads(line)
            with ANSWERS.open("a", encoding="utf-8") as stream:
                stream.write(line)
        return self._kept[key]

    def _ask(self, job: str) -> str:
        if self._process is None:
            command = [PYTHON, str(PEER)]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=CACHE
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(job + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise SystemExit(f"{PYTHON} {PEER} ended; set BROADSHEET_ASREVIEW to a Python that has asreview")
        return line

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()


def compared(one: Review, seeds: Sequence[int], share: float, peer: Peer) -> Iterator[dict[str, Any]]:
    """Both tools' figures for each pair of priors; our orders are kept for the stopping rules."""
    for seed in seeds:
        order, times = ours(one, seed, share)
        answer = peer(one, seed, share)
        if share == SHARE:
            ORDERS.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(ORDERS / f"{one.name}.{seed}.npz", order=np.array(order), labels=one.labels)
        theirs = figures(answer["order"], one.labels)
        yield {
            "ours": {**figures(order, one.labels), **times},
            "asreview": {**theirs, "seconds": answer["seconds"], "cpu": answer["cpu"]},
        }


def averaged(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean of every figure of both tools."""
    return {tool: {name: round(mean(run[tool][name] for run in runs), 4) for name in runs[0][tool]} for tool in runs[0]}


def summary(by_review: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Means over reviews, the mean difference in WSS@95 and the worst one, and the ratio of the times."""
    chosen = {name: by_review[name] for name in names if name in by_review}
    gains = {name: round(one["ours"]["wss95"] - one["asreview"]["wss95"], 4) for name, one in chosen.items()}
    both = averaged(list(chosen.values()))
    worst = min(gains, key=lambda name: gains[name])
    return {
        **both,
        "wss95_gain": round(mean(gains.values()), 4),
        "worst": {worst: gains[worst]},
        "time_ratio": {name: round(both["ours"][name] / both["asreview"][name], 3) for name in ("seconds", "cpu")},
    }


def measured(names: Sequence[str], seeds: Sequence[int], share: float, cache: VectorCache | None) -> dict[str, Any]:
    """The comparison over some reviews."""
    peer, by_review = Peer(), {}
    for name in names:
        runs = list(compared(review(name, cache), seeds, share, peer))
        by_review[name] = {**averaged(runs), "gain_sd": round(_spread(runs), 4)}
        print(name, json.dumps(by_review[name]), flush=True)
    peer.close()
    halves = {"tuning": TUNING, "report": REPORT, "all": REVIEWS}
    return {
        "seeds": len(seeds),
        "share": share,
        **{half: summary(_without_spread(by_review), names) for half, names in halves.items()},
        "reviews": by_review,
    }


def _without_spread(by_review: dict[str, Any]) -> dict[str, Any]:
    return {name: {tool: one[tool] for tool in ("ours", "asreview")} for name, one in by_review.items()}


def _spread(runs: Sequence[dict[str, Any]]) -> float:
    """Standard deviation over priors of the difference in WSS@95."""
    return float(np.std([run["ours"]["wss95"] - run["asreview"]["wss95"] for run in runs], ddof=len(runs) > 1))


def variants(cache: VectorCache, seeds: Sequence[int]) -> dict[str, Any]:
    """Our model with parts left out or added, and with keywords, which ASReview's default does not read."""
    found: dict[str, Any] = {}
    for label, composition, keywords in (
        ("words beside vectors and labelled records only, in turns", "", False),
        ("words and vectors, summed", SUM, False),
        ("words", "words", False),
        ("labelled records only", "labels-only", False),
        ("naive Bayes", "naive-bayes", False),
        ("in turns, with keywords", "", True),
    ):
        by_review = {}
        for name in REVIEWS:
            one = review(name, cache)
            orders = [ours(one, seed, SHARE, composition, keywords=keywords)[0] for seed in seeds]
            by_review[name] = round(mean(figures(order, one.labels)["wss95"] for order in orders), 4)
        halves = {half: round(mean(by_review[name] for name in names), 4) for half, names in _HALVES.items()}
        found[label] = {**halves, "reviews": by_review}
        print(label, halves, flush=True)
    return found


_HALVES = {"tuning": TUNING, "report": REPORT}


def main() -> None:
    """Measure and keep."""
    cache = VectorCache()
    save(
        "screening_ranking",
        {
            "note": "words and balancer were chosen on the tuning half; the background's weight, and that two "
            "classifiers take turns, after figures of both halves had been seen, so that the report half flatters, too",
            "tuning": TUNING,
            "report": REPORT,
            "batches": measured(REVIEWS, SEEDS, SHARE, cache),
            "every_label": measured(EVERY_LABEL, SEEDS[:1], 0.0, cache),
            "variants": variants(cache, SEEDS[:3]),
        },
    )


if __name__ == "__main__":
    main()
