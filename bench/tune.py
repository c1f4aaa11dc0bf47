"""Choose the default weights, on data that nothing else is reported on.

Two kinds of questions: SciFact's training claims (many words, several papers may answer), and one-sentence descriptions
(``tldr``) of conference papers, each of which has one right answer among 10,000 papers.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bench.common import CONFERENCES, SHARED, VectorCache, made_library, rows, save, write_papers
from bench.quality import DISTRACTOR_SEED, judged, keys_by_paper
from broadsheet.library import Library
from broadsheet.metrics import mean, ndcg, reciprocal_rank
from broadsheet.search import Boosts, Searcher, Tuning

TODAY = date(2026, 11, 30)
PAPERS = 10_000
DESCRIBED = 200
CLAIMS = 300
GRID = [
    {"dense": dense, "title": title, "forms": 0.3, "topics": 0.3}
    for title in (0.0, 0.3, 0.6, 1.0)
    for dense in (0.4, 0.5)
]


@dataclass(frozen=True)
class Task:
    """Questions with graded keys, over one library."""

    library: Library
    questions: list[tuple[str, dict[str, int]]]
    first: bool  # whether the place of the one right answer counts, or nDCG@10


def score(task: Task, weights: dict[str, Any]) -> float:
    """Mean over the task's questions with these weights."""
    pair = task.library.vectors.answering()
    assert pair is not None
    boosts = Boosts(title=weights["title"], authors=0.3, topics=weights["topics"], forms=weights["forms"])
    tuning = Tuning(weights["dense"], weights["dense"], boosts)
    searcher = Searcher(task.library.store, task.library.index, pair.vectors, pair.encoder, tuning)
    keys = keys_by_paper(task.library)
    scores = []
    for text, wanted in task.questions:
        hits = searcher.search(text, page_size=50, today=TODAY).hits
        ranking = list(dict.fromkeys(key for hit in hits for key in keys[hit.paper.id]))
        scores.append(reciprocal_rank(ranking, wanted) if task.first else ndcg(ranking, wanted, 10))
    return mean(scores)


def claims() -> list[tuple[str, dict[str, int]]]:
    """SciFact's first training claims."""
    file = SHARED / "data" / "retrieval" / "scifact" / "queries.jsonl.gz"
    questions = {row["_id"]: row["text"] for row in rows(file)}
    grades = judged("scifact", "train")
    return [(questions[q], wanted) for q, wanted in grades.items() if q in questions][:CLAIMS]


def described(cache: VectorCache) -> tuple[list[dict[str, Any]], list[tuple[str, dict[str, int]]]]:
    """Papers of the fixed order whose vectors are at hand, and the descriptions of some of them."""
    papers = list(rows(CONFERENCES))
    random.Random(DISTRACTOR_SEED).shuffle(papers)
    known = [p for p in papers if cache.knows(" ".join(f"{p['title']} {p['abstract']}".split()))]
    told = [p for p in known if len(p.get("tldr") or "") > 40][:DESCRIBED]
    ids = {p["id"] for p in told}
    rest = [p for p in known if p["id"] not in ids][: PAPERS - len(told)]
    return told + rest, [(p["tldr"], {p["id"]: 1}) for p in told]


def results(tasks: dict[str, Task]) -> Iterator[dict[str, Any]]:
    """Each weighting of the grid with its score on each task."""
    for weights in GRID:
        row = {**weights, **{name: round(score(task, weights), 4) for name, task in tasks.items()}}
        print(row, file=sys.stderr, flush=True)
        yield row


def main() -> None:
    """Every weighting of the grid, best sum first."""
    cache = VectorCache()
    papers, descriptions = described(cache)
    corpus = SHARED / "data" / "retrieval" / "scifact" / "corpus.jsonl.gz"
    with tempfile.TemporaryDirectory() as folder:
        file = write_papers(papers, Path(folder) / "papers.jsonl")
        with made_library([corpus], cache) as science, made_library([file], cache) as conferences:
            tasks = {
                "claims, ndcg@10": Task(science, claims(), first=False),
                "descriptions, mrr": Task(conferences, descriptions, first=True),
            }
            found = sorted(results(tasks), key=lambda row: -sum(row[name] for name in tasks))
    save("tune", {"claims": CLAIMS, "descriptions": len(descriptions), "papers": len(papers), "weightings": found})


if __name__ == "__main__":
    main()
