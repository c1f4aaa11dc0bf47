"""How long a search takes on 91,814 papers with vectors, in process and over HTTP, beside the raw engines alone."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from bench.common import CONFERENCES, MODELS, SHARED, VectorCache, made_library, percentiles, rows, save, timed
from broadsheet import query as q
from broadsheet.index import VectorIndex
from broadsheet.ingest import passage_text, pending
from broadsheet.library import Library
from broadsheet.model import Paper
from broadsheet.search.compose import Boosts, asked, compose
from broadsheet.store.codec import text_digest

TODAY = date(2026, 11, 30)
JITTER_SEED = 7
WARM = 20


def questions() -> list[str]:
    """Claims of SciFact's test set, descriptions of the seed papers, and the questions of eval/: none twice."""
    claims = [row["text"] for row in rows(SHARED / "data" / "retrieval" / "scifact" / "queries.jsonl.gz")][:200]
    seeds = (SHARED / "seeds" / "papers.jsonl").read_text("utf-8").splitlines()
    asked_ = (SHARED / "eval" / "questions.jsonl").read_text("utf-8").splitlines()
    texts = claims + [json.loads(line)["gist"] for line in seeds] + [json.loads(line)["query"] for line in asked_]
    order = np.random.default_rng(JITTER_SEED).permutation(len(texts))
    return [texts[i] for i in order]


def fill_with_jitter(library: Library, cache: VectorCache) -> dict[str, int]:
    """Real vectors where the cache has them, jittered copies of real ones for the rest."""
    pair = library.vectors.answering()
    assert pair is not None
    random = np.random.default_rng(JITTER_SEED)
    real: list[np.ndarray] = []
    waiting: list[Paper] = []
    ids = pending(library.store, pair.vectors)
    for start in range(0, len(ids), 4096):
        papers = list(library.store.papers(ids[start : start + 4096]).values())
        known = [paper for paper in papers if cache.knows(passage_text(paper))]
        waiting += [paper for paper in papers if not cache.knows(passage_text(paper))]
        if known:
            vectors = cache([passage_text(paper) for paper in known])
            real.append(vectors)
            _add(pair.vectors, known, vectors)
    whole = np.concatenate(real)
    for start in range(0, len(waiting), 4096):
        part = waiting[start : start + 4096]
        copies = whole[random.integers(0, len(whole), len(part))]
        _add(pair.vectors, part, copies + random.normal(0, 0.01, copies.shape).astype(np.float32))
    return {"real": len(whole), "jittered": len(waiting)}


def _add(vectors: VectorIndex, papers: Sequence[Paper], rows_: np.ndarray) -> None:
    ids = np.asarray([paper.id for paper in papers], np.int64)
    # With the digests of the papers' own texts, so that the server finds nothing to encode while it is measured.
    vectors.add(ids, np.asarray([text_digest(paper) for paper in papers], np.uint64), rows_.astype(np.float32))


def raw_engines(library: Library, texts: Sequence[str]) -> dict[str, list[float]]:
    """Each engine alone on what the search desk asks of it: encoder, code scan with rescoring, Tantivy with facets."""
    pair = library.vectors.answering()
    assert pair is not None
    boosts = Boosts(library.settings.boost_title, library.settings.boost_authors)
    found: dict[str, list[float]] = {"encoder": [], "vectors": [], "tantivy": []}
    for text in texts:
        took, vector = timed(pair.encoder.encode_queries, [text])
        found["encoder"].append(took)
        found["vectors"].append(timed(pair.vectors.search, vector[0], 400)[0])
        query = asked(compose(q.parse(text, TODAY), {}, boosts))

        def words(query: Any = query) -> None:
            library.index.search(query, limit=1000)
            library.index.facets(query)

        found["tantivy"].append(timed(words)[0])
    return found


def measure(ask: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Milliseconds of each question, after some to warm up."""
    for text in texts[:WARM]:
        ask(text + " warm")
    return [timed(ask, text)[0] for text in texts]


@contextmanager
def served(home: Path) -> Iterator[str]:
    """The product's own server on a free port of loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = home / "broadsheet.toml"
    settings.write_text(f'models = "{MODELS}"\nencode_workers = 1\n', "utf-8")
    server = subprocess.Popen(
        [sys.executable, "-m", "broadsheet", "--home", str(home), "serve", "--port", str(port)],
        stdout=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                httpx.get(f"{url}/api/status").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """All columns, in one run."""
    texts = questions()
    with made_library([CONFERENCES], None) as library:
        vectors = fill_with_jitter(library, VectorCache())
        ours = measure(library.search, texts)
        stages: dict[str, list[float]] = {}
        for text in texts:
            for stage, took in library.search(text + " again").timings.items():
                stages.setdefault(stage, []).append(took)
        alone = raw_engines(library, [text + " raw" for text in texts])
        with served(library.settings.home) as url, httpx.Client(base_url=url, timeout=60) as client:
            page = measure(lambda text: client.get("/search", params={"q": text}).raise_for_status(), texts)
            api = measure(lambda text: client.get("/api/search", params={"q": text + " api"}).raise_for_status(), texts)
        together = [sum(parts) for parts in zip(*alone.values(), strict=True)]
        figures = {
            "papers": library.status().papers,
            "vectors": vectors,
            "questions": len(texts),
            "in process, ms": percentiles(ours),
            "site over HTTP, ms": percentiles(page),
            "API over HTTP, ms": percentiles(api),
            "stages in process, ms": {name: percentiles(values) for name, values in stages.items()},
            "raw engines alone, ms": {name: percentiles(values) for name, values in alone.items()},
            "raw engines summed, ms": percentiles(together),
            "overhead (p50 of ours by p50 of the sum)": round(
                float(np.percentile(ours, 50)) / float(np.percentile(together, 50)), 2
            ),
        }
    save("latency", figures)


if __name__ == "__main__":
    main()
