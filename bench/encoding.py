"""Rate of encoding through the product, beside the bare ONNX session on the same texts in the same run."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.common import CONFERENCES, MODELS, made_library, rows, save, write_papers
from broadsheet.encode import open_encoder
from broadsheet.encode.onnx import OnnxEncoder
from broadsheet.ingest import passage_text

PAPERS = 1200  # starting the workers takes two to three seconds, which count
ROUNDS = 1


def bare(texts: Sequence[str]) -> float:
    """Seconds that the bare session needs for the texts: tokens and embeddings are made before the clock runs."""
    encoder = open_encoder("e5-small", MODELS)
    assert isinstance(encoder, OnnxEncoder)
    inputs = [encoder.embed(encoder.passage_prefix + text) for text in texts]
    start = time.perf_counter()
    for embedded in inputs:
        encoder.run(embedded)
    return time.perf_counter() - start


def main() -> None:
    """Bare and product in turn, each with two processes of one thread; the mean ratio counts."""
    with TemporaryDirectory() as folder:
        file = write_papers(islice(rows(CONFERENCES), PAPERS), Path(folder) / "papers.jsonl")
        found = []
        for _ in range(ROUNDS):
            with made_library([file], None) as library, multiprocessing.get_context("spawn").Pool(2) as pool:
                texts = [passage_text(paper) for paper in library.store.iterate_papers()]
                halves = [texts[::2], texts[1::2]]
                seconds = max(pool.map(bare, halves))
                start = time.perf_counter()
                made = library.encode(workers=2)
                found.append({"bare/s": len(texts) / seconds, "product/s": made / (time.perf_counter() - start)})
    for row in found:
        row["ratio"] = row["product/s"] / row["bare/s"]
    ratios = [row["ratio"] for row in found]
    rounded = [{name: round(value, 2) for name, value in row.items()} for row in found]
    save("encoding", {"papers": PAPERS, "rounds": rounded, "mean ratio": round(sum(ratios) / len(ratios), 3)})


if __name__ == "__main__":
    main()
