"""Queriers beside each other, a large pool with few relevant records, the first labels, and the sentence shown.

``python -m bench screening_queriers``. The eight tuning reviews of ``bench.screening_ranking`` with its schedule: two
pairs of priors, ``SHARE`` of the labelled records read between two fits, until the last relevant record. The large pool
is all sixteen reviews together with one review's relevant records; records of other reviews that have the title of one
of these are left out; one pair of priors. For the first labels, ``bayes, then default`` ranks by naive Bayes as long
as fewer than twenty records are labelled. The sentence that ``explain`` shows is compared with a sentence of the same
abstract by lot, in reviews with structured abstracts, when a relevant record comes up; its part is that of the
heading before it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bench.common import VectorCache, save
from bench.screening_ranking import REVIEWS, SHARE, TUNING, Review, figures, priors, review
from broadsheet.learn.screening import QUERIERS, Ranking, ScreeningModel, model_of
from broadsheet.learn.screening.evidence import sentences
from broadsheet.metrics import mean

SEEDS = range(2)
FEWEST = [name for name in TUNING if "wilson" in name or "Opiods" in name or "Skeletal" in name]
STRUCTURED = [name for name in REVIEWS if "wilson" in name or "bannach" in name or "nagtegaal" in name]
READ = 500
CHECKS = (20, 50, 100)
HEADING = re.compile(r"(?:^|(?<=[\s.]))([A-Z][A-Za-z]*(?:[ /&,]+[A-Za-z]+){0,3}):")
PARTS = {
    "objective": ("objective", "aim", "purpose"),
    "method": ("method", "design", "setting", "participants", "patients", "intervention", "measure", "procedure"),
    "result": ("result", "finding"),
    "conclusion": ("conclusion", "interpretation", "implication", "discussion"),
    "background": ("background", "introduction", "context"),
}


def course(
    labels: np.ndarray,
    seed: int,
    rank: Callable[[Mapping[int, bool]], Ranking],
    stop: Callable[[list[int], int], bool],
) -> Iterator[tuple[Ranking, list[int]]]:
    """Each round's ranking and what is read by it; ``stop`` is asked with the order so far and the number found."""
    order = priors(labels, seed)
    labelled = {n: bool(labels[n]) for n in order}
    while not stop(order, sum(labelled.values())):
        ranking = rank(labelled)
        batch = ranking.order[: max(1, int(len(order) * SHARE))].tolist()
        labelled.update((n, bool(labels[n])) for n in batch)
        order += batch
        yield ranking, batch


@threadpool_limits.wrap(limits=1)
def read_through(one: Review, querier: str, seed: int) -> dict[str, float]:
    """Measures of one review read with a querier, and processor seconds of all fits and rankings."""
    model = model_of("", querier, seed).fit_features(one.texts, one.vectors)
    begin, order = time.process_time(), priors(one.labels, seed)
    every = int(one.labels.sum())
    for _, batch in course(one.labels, seed, model.rank, lambda order, found: found == every):
        order += batch
    return {**figures(order, one.labels), "cpu": time.process_time() - begin}


def queriers(name: str) -> dict[str, dict[str, float]]:
    """Means over the priors of one review, by querier."""
    one = review(name, VectorCache())
    return {querier: averaged([read_through(one, querier, seed) for seed in SEEDS]) for querier in QUERIERS}


def averaged(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean of every figure."""
    return {name: round(mean(run[name] for run in runs), 4) for name in runs[0]}


def pooled(name: str, reviews: Sequence[Review]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, labels and vectors of all reviews, of which only those that ``name`` includes are relevant."""
    wanted = next(one for one in reviews if one.name == name)
    titles = {_title(wanted.texts[n]) for n in np.flatnonzero(wanted.labels)}
    texts, labels, vectors = [], [], []
    for one in reviews:
        kept = [n for n, text in enumerate(one.texts) if one is wanted or _title(text) not in titles]
        texts += [one.texts[n] for n in kept]
        labels.append(one.labels[kept] if one is wanted else np.zeros(len(kept), bool))
        vectors.append(one.vectors[kept] if one.vectors is not None else np.zeros((len(kept), 1)))
    return texts, np.concatenate(labels), np.concatenate(vectors)


def _title(text: str) -> str:
    return text.partition("\n")[0].strip().rstrip(".").casefold()


def large(name: str) -> dict[str, Any]:
    """Found in the large pool after ``READ`` reads, and seconds of one round, by querier."""
    cache = VectorCache()
    texts, labels, vectors = pooled(name, [review(each, cache) for each in REVIEWS])
    found: dict[str, Any] = {"records": len(texts), "relevant": int(labels.sum())}
    model = model_of().fit_features(texts, vectors)
    for querier in ("max-relevance", "anchors"):
        model.querier = model_of("", querier).querier
        found[querier] = averaged([_five_hundred(model, labels, seed) for seed in SEEDS[:1]])
    return found


@threadpool_limits.wrap(limits=1)
def _five_hundred(model: ScreeningModel, labels: np.ndarray, seed: int) -> dict[str, float]:
    rounds, wall, cpu, read = 0, time.perf_counter(), time.process_time(), 2
    hits = {100: 1, READ: 1}
    for _, batch in course(labels, seed, model.rank, lambda order, found: len(order) >= READ + 2):
        rounds += 1
        for n in batch:
            read += 1
            for limit in hits:
                hits[limit] += bool(labels[n]) and read <= limit + 2
    return {
        **{f"found_{limit}": float(hit - 1) for limit, hit in hits.items()},  # the relevant prior is not a find
        "rounds": rounds,
        "cpu_a_round": (time.process_time() - cpu) / rounds,
        "seconds_a_round": (time.perf_counter() - wall) / rounds,
    }


def first_labels(name: str) -> dict[str, dict[str, float]]:
    """Share of the relevant records found after a few reads, priors left out, by how the first are ranked."""
    one = review(name, VectorCache())
    models = {label: model_of(label).fit_features(one.texts, one.vectors) for label in ("", "words", "naive-bayes")}

    def early(labelled: Mapping[int, bool]) -> Ranking:
        return models["naive-bayes" if len(labelled) < CHECKS[0] else ""].rank(labelled)

    ways = {
        "default": models[""].rank,
        "words": models["words"].rank,
        "naive-bayes": models["naive-bayes"].rank,
        "bayes, then default": early,
    }
    return {label: averaged([_shares(one.labels, seed, rank) for seed in SEEDS]) for label, rank in ways.items()}


def _shares(labels: np.ndarray, seed: int, rank: Callable[[Mapping[int, bool]], Ranking]) -> dict[str, float]:
    read: list[int] = []
    for _, batch in course(labels, seed, rank, lambda order, found: len(order) >= CHECKS[-1] + 2):
        read += batch
    return {f"found_{limit}": float(labels[read[:limit]].sum()) / (int(labels.sum()) - 1) for limit in CHECKS}


def parts_of(abstract: str) -> list[tuple[int, int, str]]:
    """Sentences of a structured abstract with the part that they stand in; none where it has fewer than 3 headings."""
    heads = [(found.start(), part) for found in HEADING.finditer(abstract) if (part := _part(found[1]))]
    if len({part for _, part in heads}) < 3:
        return []
    placed = []
    for start, end in sentences(abstract):
        before = [part for at, part in heads if at <= start + 1]
        placed.append((start, end, before[-1] if before else "none"))
    return placed


def _part(heading: str) -> str:
    folded = heading.casefold()
    return next((part for part, words in PARTS.items() if any(word in folded for word in words)), "")


def shown(name: str) -> list[dict[str, Any]]:
    """For each relevant record with a structured abstract: the part of the sentence shown, and each part by lot."""
    one = review(name, VectorCache())
    model = model_of().fit_features(one.texts, one.vectors)
    every, found = int(one.labels.sum()), []
    for ranking, batch in course(one.labels, 0, model.rank, lambda order, hits: hits == every):
        for n in batch:
            placed = parts_of(one.texts[n].partition("\n")[2]) if one.labels[n] else []
            sentence = model.explain(ranking, n).sentence if placed else None
            if sentence is not None:
                found.append(_against_lot(placed, sentence.start))
    return found


def _against_lot(placed: Sequence[tuple[int, int, str]], start: int) -> dict[str, Any]:
    length = sum(end - begin for begin, end, _ in placed)
    return {
        "shown": next(part for begin, _, part in placed if begin == start),
        "lot": {part: sum(p == part for *_, p in placed) / len(placed) for part in PARTS},
        "by_length": {part: sum(e - b for b, e, p in placed if p == part) / length for part in PARTS},
    }


def sentences_shown(by_review: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Share of each part among the sentences shown, among sentences by lot, and by lot in proportion to length."""
    every = [record for records in by_review.values() for record in records]
    parts = {
        part: {
            "shown": round(mean(float(record["shown"] == part) for record in every), 3),
            **{lot: round(mean(record[lot][part] for record in every), 3) for lot in ("lot", "by_length")},
        }
        for part in PARTS
    }
    return {"records": {name: len(records) for name, records in by_review.items()}, "parts": parts}


def over_reviews(by_review: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Any]:
    """Means over reviews, and the figures of each."""
    ways = next(iter(by_review.values()))
    return {"mean": {way: averaged([one[way] for one in by_review.values()]) for way in ways}, "reviews": by_review}


def _reported(task: Callable[[str], Any], name: str, job: Future[Any]) -> Any:
    print(task.__name__, name, json.dumps(job.result()), flush=True)
    return job.result()


def main() -> None:
    """Measure and keep."""
    with ProcessPoolExecutor(2) as pool:
        jobs = {
            task: {name: pool.submit(task, name) for name in names}
            for task, names in ((queriers, TUNING), (large, FEWEST), (first_labels, TUNING), (shown, STRUCTURED))
        }
        done = {task: {name: _reported(task, name, job) for name, job in one.items()} for task, one in jobs.items()}
    save(
        "screening_queriers",
        {
            "note": "Many programs ran beside these: the processor seconds count.",
            "share": SHARE,
            "seeds": {"queriers": len(SEEDS), "large_pool": 1, "first_labels": len(SEEDS)},
            "queriers": over_reviews(done[queriers]),
            "large_pool": done[large],
            "first_labels": over_reviews(done[first_labels]),
            "sentence": sentences_shown(done[shown]),
        },
    )


if __name__ == "__main__":
    main()
