"""Our confidence sequences beside those of the authors' package, on the distributions of the paper's figures.

Waudby-Smith and Ramdas (JRSS B 86(1), 2024) show 95 % sequences for Bernoulli(1/2), Bernoulli(1/10), uniform and
Beta(10, 30) values, and for populations of ones and zeros drawn without replacement. CONFSEQ_SOURCE in the environment
is the ``src`` folder of the unpacked package: see bench/peers/confseq_intervals.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import common
from broadsheet.stats import mean_sequence

RUNS = 3
TIMES = (10, 100, 1000, 5000)
POPULATION = 10_000


def sequences(runs: int) -> Iterator[tuple[str, np.ndarray, int | None]]:
    """Name, values and population of each."""
    rng = np.random.default_rng(7)
    for _ in range(runs):
        yield "Bernoulli(1/2)", (rng.random(TIMES[-1]) < 0.5).astype(float), None
        yield "Bernoulli(1/10)", (rng.random(TIMES[-1]) < 0.1).astype(float), None
        yield "uniform", rng.random(TIMES[-1]), None
        yield "Beta(10, 30)", rng.beta(10, 30, TIMES[-1]), None
        for share in (0.5, 0.1):
            ones = np.arange(POPULATION) < share * POPULATION
            values = rng.permutation(ones.astype(float))[: TIMES[-1]]
            yield f"{share:g} of {POPULATION}, without replacement", values, POPULATION


def main() -> None:
    """Print and keep mean widths by distribution, method and time, and how far the two are apart at most."""
    source = os.environ["CONFSEQ_SOURCE"]
    cases = list(sequences(RUNS))
    sent = [{"values": values.tolist(), "population": size, "times": TIMES} for _, values, size in cases]
    script = Path(__file__).parent / "peers" / "confseq_intervals.py"
    command = [sys.executable, str(script), source]
    told = json.loads(
        subprocess.run(command, input=json.dumps(sent), capture_output=True, text=True, check=True).stdout
    )
    widths: dict[str, dict[str, list[list[float]]]] = {}
    apart = 0.0
    for (name, values, size), theirs in zip(cases, told, strict=True):
        bounds = mean_sequence(values, 0.95, population=size)
        ours = [[bounds.lower[n - 1], bounds.upper[n - 1]] for n in TIMES]
        apart = max(apart, float(np.abs(np.array(ours) - np.array(theirs["hedged"])).max()))
        for method, found in {"ours": ours, **theirs}.items():
            widths.setdefault(name, {}).setdefault(method, []).append([high - low for low, high in found])
    means: dict[str, Any] = {
        name: {method: np.round(np.mean(rows, axis=0), 4).tolist() for method, rows in methods.items()}
        for name, methods in widths.items()
    }
    result = {"runs": RUNS, "times": TIMES, "widths": means, "ours to theirs, at most": apart}
    common.save("betting_widths", result)


if __name__ == "__main__":
    main()
