"""Confidence sequences by the authors' own package, for values from standard input: run apart, with its source at hand.

    pip download confseq --no-deps      (0.0.11; unpack it; the part that does not build on Python 3.11 is not needed)
    python bench/peers/confseq_intervals.py confseq-0.0.11/src < sequences.json > intervals.json

In: a list of {"values": [...], "population": null or a number, "times": [...]}. Out: for each, and for each method, the
lower and upper bounds at those times. Settings are those of the paper's figures: 95 %, truncation 1/2, bounds
intersected over time; the grid has 4,000 cells.
"""

from __future__ import annotations

import json
import sys
import types
import warnings
from typing import Any

import numpy as np

CELLS = 4000


def main() -> None:
    """Read, bound, write."""
    sys.path.insert(0, sys.argv[1])
    for name in ("matplotlib", "matplotlib.pyplot", "multiprocess"):  # for plots and many processes: neither is used
        sys.modules[name] = types.ModuleType(name)
    sys.modules["matplotlib"].pyplot = sys.modules["matplotlib.pyplot"]  # type: ignore[attr-defined]
    np.float_ = np.float64  # type: ignore[attr-defined]  # it was written for NumPy 1
    from confseq.betting import betting_cs  # type: ignore[import-not-found]
    from confseq.predmix import predmix_empbern_cs, predmix_hoeffding_cs  # type: ignore[import-not-found]

    warnings.simplefilter("ignore")
    found: list[dict[str, Any]] = []
    for case in json.load(sys.stdin):
        x, population = np.array(case["values"]), case["population"]
        at = np.array(case["times"]) - 1
        row = {}
        hedged = betting_cs(x, alpha=0.05, N=population, breaks=CELLS, trunc_scale=0.5, running_intersection=True)
        methods = {"hedged": hedged}
        if population is None:
            methods["empirical Bernstein"] = predmix_empbern_cs(
                x, alpha=0.05, truncation=0.5, running_intersection=True
            )
            methods["Hoeffding"] = predmix_hoeffding_cs(x, alpha=0.05, running_intersection=True)
        for name, (lower, upper) in methods.items():
            row[name] = [[float(lower[n]), float(upper[n])] for n in at]
        found.append(row)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
