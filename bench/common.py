"""What the measurements share: data, a cache of vectors, libraries made for one run, and how results are written."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from broadsheet.encode import EncoderPool
from broadsheet.ingest import encode_pending
from broadsheet.library import Library, open_library
from broadsheet.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("BROADSHEET_SHARED", ROOT.parent / "shared"))
CACHE = Path(os.environ.get("BROADSHEET_BENCH_CACHE", ROOT / ".cache" / "bench"))
MODELS = ROOT / ".cache" / "models"
RESULTS = Path(__file__).resolve().parent / "results"
CONFERENCES = SHARED / "data" / "conference_papers" / "papers.jsonl.gz"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


class VectorCache:
    """Vectors of passages by text, kept between runs in float16 (its rounding, 0.0005, is below that of int8 rows).

    Call it with texts; those not known are encoded by ``workers`` processes and added.
    """

    def __init__(self, spec: str = "e5-small", workers: int = 2) -> None:
        self.spec, self.workers = spec, workers
        CACHE.mkdir(parents=True, exist_ok=True)
        self._keys_file, self._rows_file = CACHE / f"{spec}.keys", CACHE / f"{spec}.f16"
        keys = self._keys_file.read_text().split() if self._keys_file.exists() else []
        self._place = {key: n for n, key in enumerate(keys)}
        self._count = len(keys)
        self.made = 0

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """float32 [n, 384]."""
        keys = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
        missing = [n for n, key in enumerate(keys) if key not in self._place]
        if missing:
            self._make([texts[n] for n in missing], [keys[n] for n in missing])
        stored = np.memmap(self._rows_file, np.float16, "r").reshape(-1, 384)
        return stored[[self._place[key] for key in keys]].astype(np.float32)

    def knows(self, text: str) -> bool:
        """Whether a text's vector is there."""
        return hashlib.sha256(text.encode()).hexdigest()[:32] in self._place

    def _make(self, texts: list[str], keys: list[str]) -> None:
        chunks = [texts[i : i + 8] for i in range(0, len(texts), 8)]
        with (
            EncoderPool(self.spec, MODELS, workers=self.workers, niceness=0) as pool,
            self._rows_file.open("ab") as vectors,
            self._keys_file.open("a") as names,
        ):
            vectors.truncate(self._count * 384 * 2)
            for n, part in enumerate(pool.encode_batches(chunks)):
                vectors.write(part.astype(np.float16).tobytes())
                vectors.flush()
                made = keys[n * 8 : n * 8 + len(part)]
                names.write("".join(f"{key}\n" for key in made))
                names.flush()
                for key in made:
                    self._place.setdefault(key, self._count)
                    self._count += 1
        self.made += len(texts)


@contextmanager
def made_library(files: Sequence[Path], cache: VectorCache | None, **changes: Any) -> Iterator[Library]:
    """A library of these files in a folder of its own, with vectors from the cache; gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="broadsheet-bench-"))
    settings = replace(load_settings(home, environ={}), models=str(MODELS), **changes)
    try:
        with open_library(home, settings=settings) as library:
            library.import_files(files)
            if cache is not None:
                fill(library, cache)
            yield library
    finally:
        shutil.rmtree(home, ignore_errors=True)


def fill(library: Library, cache: VectorCache) -> None:
    """Give every paper its vector, from the cache where it is there."""
    pair = library.vectors.answering()
    if pair is None:
        raise SystemExit(library.vectors.note)
    encode_pending(library.store, pair.vectors, cache, batch=4096)


def write_papers(papers: Iterator[dict[str, Any]] | Sequence[dict[str, Any]], path: Path) -> Path:
    """Papers as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as stream:
        for paper in papers:
            stream.write(json.dumps(paper, ensure_ascii=False) + "\n")
    return path


def machine() -> dict[str, Any]:
    """The machine and the versions that figures depend on."""
    import faiss
    import onnxruntime
    import tantivy

    model = next(
        (line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine()
    )
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "tantivy": tantivy.__version__,
        "faiss": faiss.__version__,
        "onnxruntime": onnxruntime.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "load": round(os.getloadavg()[0], 1),
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def save(name: str, figures: Mapping[str, Any]) -> None:
    """Write one measurement's figures, with machine, date and command, and print them."""
    RESULTS.mkdir(exist_ok=True)
    whole = {"command": f"python -m bench {name}", "machine": machine(), **figures}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", "utf-8")
    print(text, flush=True)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, to a hundredth."""
    return {"p50": round(float(np.percentile(values, 50)), 2), "p95": round(float(np.percentile(values, 95)), 2)}


def peak_mb() -> float:
    """Peak resident memory of this process so far."""
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale, 1)


def in_child(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module`` and give the JSON of its last line; for peak memory of one job alone."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def timed(function: Any, *arguments: Any) -> tuple[float, Any]:
    """Milliseconds, and what the function gave."""
    start = time.perf_counter()
    value = function(*arguments)
    return (time.perf_counter() - start) * 1000, value
