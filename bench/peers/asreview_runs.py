"""ASReview's default model on one review after the other, out of process: run by a Python that has ASReview.

Reads jobs, a JSON object a line, ``{"review", "file", "seed", "priors": [i, j], "share"}``, and answers each with one:
the records in the order in which they were labelled (priors first, until the last relevant one), the seconds, those of
the processor (which other programs do not lengthen), and the version. Nothing of Broadsheet is imported. ``share`` 0
fits after every label, which is what ``asreview simulate`` does; above 0 the next ``max(1, ⌊labelled · share⌋)``
records are labelled between two fits.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any

import asreview
import numpy as np
import pandas as pd
from asreview import ActiveLearningCycle
from asreview.models.models import get_ai_config
from asreview.simulation.simulate import Simulate


def frame(path: Path) -> pd.DataFrame:
    """Title, abstract and label of a review's records, an absent text as the empty one."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return pd.DataFrame(
        {
            "title": [row.get("title") or "" for row in rows],
            "abstract": [row.get("abstract") or "" for row in rows],
            "label": [int(row["label_included"]) for row in rows],
        }
    )


def run(job: dict[str, Any], records: pd.DataFrame) -> dict[str, Any]:
    """One simulation; the clock covers features, fits and choices."""
    start, spent = time.perf_counter(), time.process_time()
    cycle = ActiveLearningCycle.from_meta(get_ai_config()["value"])
    if job["share"]:
        cycle.n_query = lambda results: max(1, int(len(results) * job["share"]))
    np.random.seed(job["seed"])  # LinearSVC draws from numpy's own generator
    simulation = Simulate(records[["title", "abstract"]], records["label"], [cycle], print_progress=False)
    simulation.label(job["priors"])
    simulation.review()
    order = [int(n) for n in simulation._results["record_id"]]
    seconds, cpu = time.perf_counter() - start, time.process_time() - spent
    kept = {name: job[name] for name in ("review", "seed", "share")}
    return {
        **kept,
        "seconds": round(seconds, 2),
        "cpu": round(cpu, 2),
        "asreview": asreview.__version__,
        "order": order,
    }


def main() -> None:
    """Answer every job."""
    known: dict[str, pd.DataFrame] = {}
    for line in sys.stdin:
        job = json.loads(line)
        if job["review"] not in known:
            known[job["review"]] = frame(Path(job["file"]))
        print(json.dumps(run(job, known[job["review"]])), flush=True)


if __name__ == "__main__":
    main()
