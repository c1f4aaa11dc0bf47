"""Quality of search with default settings: SciFact, Cranfield, CISI; the questions of eval/; known items.

Nothing is tuned on what is reported here: weights were chosen on SciFact's training questions (``tune``).
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.common import CACHE, CONFERENCES, SHARED, VectorCache, made_library, rows, save, write_papers
from broadsheet.library import Library
from broadsheet.metrics import mean, ndcg, reciprocal_rank

COLLECTIONS = ("scifact", "cranfield", "cisi")
DISTRACTOR_SEED = 20261130


def judged(name: str, split: str) -> dict[str, dict[str, int]]:
    """Grades by question and document."""
    import gzip

    grades: dict[str, dict[str, int]] = defaultdict(dict)
    path = SHARED / "data" / "retrieval" / name / "qrels" / f"{split}.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        next(stream)
        for line in stream:
            question, document, grade = line.split("\t")
            grades[question][document] = int(grade)
    return grades


def keys_by_paper(library: Library) -> dict[int, list[str]]:
    """Which entries of the imported files each paper came from."""
    keys: dict[int, list[str]] = defaultdict(list)
    for stored in library.store.iterate_records():
        keys[stored.paper_id].append(json.loads(stored.record.raw).get("_id", stored.record.key))
    return keys


def collection(name: str, split: str = "test", **changes: Any) -> dict[str, Any]:
    """nDCG@10 of one collection."""
    folder = SHARED / "data" / "retrieval" / name
    questions = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl.gz")}
    grades = judged(name, split)
    with made_library([folder / "corpus.jsonl.gz"], VectorCache(), **changes) as library:
        keys = keys_by_paper(library)
        graded, judged_scores = [], []
        for question, wanted in grades.items():
            if question not in questions:
                continue
            found = library.search(questions[question], page_size=20).hits
            ranking = [key for hit in found for key in keys[hit.paper.id]]
            if max(wanted.values()) > 0:
                graded.append(ndcg(ranking, wanted, 10))
            judged_scores.append(ndcg(ranking, dict.fromkeys(wanted, 1), 10))
        figures = {"papers": len(keys), "questions": len(graded), "ndcg@10": round(mean(graded), 4)}
        if any(0 in wanted.values() for wanted in grades.values()):
            # Cranfield's 0 (originally -1) is given to one paper a question; the second figure counts it too.
            figures["ndcg@10, every judged paper relevant"] = round(mean(judged_scores), 4)
        return figures


def seed_abstracts() -> Iterator[dict[str, Any]]:
    """The abstracts of the two seed pages with the numbers of their rows in papers.jsonl, without titles."""
    table = [json.loads(line) for line in (SHARED / "seeds" / "papers.jsonl").read_text("utf-8").splitlines()]
    for page in sorted((SHARED / "seeds").glob("*.txt")):
        blocks = [block.strip() for block in page.read_text("utf-8").split("\n") if len(block) > 200]
        for row in table:
            if page.name.startswith(row["file"]):
                text = next(block for block in blocks if block.startswith(row["first_words"]))
                yield {"id": f"seed-{row['n']}", "n": row["n"], "file": row["file"], "title": row["title"],
                       "authors": row["authors"], "gist": row["gist"], "abstract": text}  # fmt: skip


def distractors(count: int | None) -> Iterator[dict[str, Any]]:
    """Conference papers in one fixed random order; all of them, or the first ``count``."""
    papers = list(rows(CONFERENCES))
    random.Random(DISTRACTOR_SEED).shuffle(papers)
    yield from papers[:count]


def questions_over(library: Library) -> dict[str, Any]:
    """Mean reciprocal rank (first hundred) of the questions of eval/, by language."""
    found: dict[str, list[float]] = defaultdict(list)
    place = {key: paper for paper, keys in keys_by_paper(library).items() for key in keys}
    for line in (SHARED / "eval" / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        hits = library.search(row["query"], page_size=100).hits
        wanted = place[f"seed-{row['paper']}"]
        found[row["lang"]].append(reciprocal_rank([hit.paper.id for hit in hits], {wanted: 1}))
    return {language: {"questions": len(ranks), "mrr": round(mean(ranks), 4)} for language, ranks in found.items()}


def known_items(library: Library) -> dict[str, Any]:
    """Share of the 139 papers found first, and in the first three, by their one-sentence description."""
    place = {key: paper for paper, keys in keys_by_paper(library).items() for key in keys}
    ranks = []
    for paper in seed_abstracts():
        hits = library.search(paper["gist"], page_size=10).hits
        ids = [hit.paper.id for hit in hits]
        wanted = place[paper["id"]]
        ranks.append(ids.index(wanted) + 1 if wanted in ids else 99)
    return {
        "questions": len(ranks),
        "first": round(sum(r == 1 for r in ranks) / len(ranks), 4),
        "first_three": round(sum(r <= 3 for r in ranks) / len(ranks), 4),
    }


def without_titles(papers: Iterator[dict[str, Any]], page: str | None) -> Iterator[dict[str, Any]]:
    """Seeds as they stand on the page: abstracts alone."""
    for paper in papers:
        if page is None or paper["file"] == page:
            yield {"id": paper["id"], "abstract": paper["abstract"]}


def full(papers: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Seeds with title, authors and abstract, without the description that is asked for."""
    for paper in papers:
        yield {name: paper[name] for name in ("id", "title", "authors", "abstract")}


def main(count: int | None = None) -> None:
    """Everything. ``count`` limits the distractors to the first so many of their fixed order."""
    figures: dict[str, Any] = {name: collection(name) for name in COLLECTIONS}
    cache = VectorCache()
    with tempfile.TemporaryDirectory() as folder:
        page = write_papers(without_titles(seed_abstracts(), "002"), Path(folder) / "page.jsonl")
        with made_library([page], cache) as library:
            figures["questions, 120 abstracts"] = questions_over(library)
        many = write_papers(distractors(count), Path(folder) / "many.jsonl")
        with made_library([page, many], cache) as library:
            figures["questions among distractors"] = {"papers": library.status().papers, **questions_over(library)}
        seeds = write_papers(full(seed_abstracts()), Path(folder) / "seeds.jsonl")
        with made_library([seeds, many], cache) as library:
            figures["known items"] = {"papers": library.status().papers, **known_items(library)}
    save("quality", figures)


CACHE.mkdir(parents=True, exist_ok=True)
