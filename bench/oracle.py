"""Our BM25 order against bm25s on Cranfield: the same tokens, k1 and b in an independent implementation.

Tantivy keeps lengths of texts in one byte, as Lucene does, so scores differ a little; the order hardly does.
"""

from __future__ import annotations

from typing import Any

import bm25s
import numpy as np

from bench.common import SHARED, made_library, rows, save
from bench.quality import judged, keys_by_paper
from broadsheet.index import STOP_WORDS, Match
from broadsheet.metrics import mean, ndcg
from broadsheet.text import fold, stem, words


def tokens(text: str) -> list[str]:
    """The index's tokens of a text."""
    return [stem(token.text) for token in words(fold(text))]


def main() -> None:
    """Overlap of the first ten, correlation of scores, and nDCG@10 of both."""
    folder = SHARED / "data" / "retrieval" / "cranfield"
    questions = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl.gz")}
    grades = judged("cranfield", "test")
    with made_library([folder / "corpus.jsonl.gz"], None, encoder="none") as library:
        keys = keys_by_paper(library)
        papers = list(library.store.iterate_papers())
        other = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
        corpus = [tokens(f"{paper.title}\n{paper.abstract}") for paper in papers]
        other.index(corpus, show_progress=False)
        place = {paper.id: n for n, paper in enumerate(papers)}
        overlaps, correlations, ours_ndcg, other_ndcg = [], [], [], []
        for question, wanted in grades.items():
            text = questions[question]
            asked = [t for t in tokens(text) if t not in STOP_WORDS and t in other.vocab_dict]
            scores = other.get_scores(asked)
            found = library.index.search(Match(text, {"body": 1.0}), limit=100)
            best = np.argsort(-scores, kind="stable")[:10]
            theirs = [papers[n].id for n in best]
            overlaps.append(len(set(theirs) & set(found.ids[:10])) / 10)
            both = np.array([[s, scores[place[i]]] for i, s in zip(found.ids, found.scores, strict=True)])
            correlations.append(float(np.corrcoef(both.T)[0, 1]))
            ours_ndcg.append(_ndcg(found.ids[:10], keys, wanted))
            other_ndcg.append(_ndcg(theirs, keys, wanted))
    save(
        "oracle",
        {
            "questions": len(overlaps),
            "overlap of the first ten": round(mean(overlaps), 4),
            "correlation of scores": round(mean(correlations), 5),
            "ndcg@10, Tantivy": round(mean(ours_ndcg), 4),
            "ndcg@10, bm25s": round(mean(other_ndcg), 4),
        },
    )


def _ndcg(ids: Any, keys: dict[int, list[str]], wanted: dict[str, int]) -> float:
    return ndcg([key for i in ids for key in keys[i]], wanted, 10)


if __name__ == "__main__":
    main()
