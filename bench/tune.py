"""Choose the default weights on SciFact's training questions, the only data they are chosen on."""

from __future__ import annotations

import sys
from datetime import date
from typing import Any

from bench.common import SHARED, VectorCache, made_library, rows, save
from bench.quality import judged, keys_by_paper
from broadsheet.library import Library
from broadsheet.metrics import mean, ndcg
from broadsheet.search import Boosts, Searcher, Tuning

TODAY = date(2026, 11, 30)
GRID = [
    {"dense": dense, "title": title, "forms": forms, "topics": 0.3}
    for title in (0.0, 0.2, 0.5, 1.0)
    for forms in (0.0, 0.3)
    for dense in (0.3, 0.4, 0.5)
]


def score(
    library: Library, questions: dict[str, str], grades: dict[str, dict[str, int]], weights: dict[str, Any]
) -> float:
    """Mean nDCG@10 with these weights."""
    pair = library.vectors.answering()
    assert pair is not None
    boosts = Boosts(title=weights["title"], authors=0.3, topics=weights["topics"], forms=weights["forms"])
    searcher = Searcher(
        library.store, library.index, pair.vectors, pair.encoder, Tuning(weights["dense"], weights["dense"], boosts)
    )
    keys = keys_by_paper(library)
    scores = []
    for question, wanted in grades.items():
        if question in questions:
            hits = searcher.search(questions[question], page_size=10, today=TODAY).hits
            scores.append(ndcg([key for hit in hits for key in keys[hit.paper.id]], wanted, 10))
    searcher.close()
    return mean(scores)


def main(limit: int | None = None) -> None:
    """Every weighting of the grid on the first ``limit`` training questions."""
    folder = SHARED / "data" / "retrieval" / "scifact"
    questions = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl.gz")}
    grades = dict(list(judged("scifact", "train").items())[:limit])
    with made_library([folder / "corpus.jsonl.gz"], VectorCache()) as library:
        found = []
        for weights in GRID:
            found.append({**weights, "ndcg@10": round(score(library, questions, grades, weights), 4)})
            print(found[-1], file=sys.stderr, flush=True)
    found.sort(key=lambda row: -row["ndcg@10"])
    save("tune", {"questions": len(grades), "weightings": found})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
