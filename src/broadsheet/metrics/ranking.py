"""Measures of a ranking against graded judgements, with the conventions of trec_eval.

A ``ranking`` is ids from best to worst, each at most once; ``judged`` gives the grade of each judged id, and an id that
is not judged has grade 0. An id is relevant if its grade is at least ``relevant_from``; grades below 1 never gain
anything. Where nothing is relevant, every measure is 0. All values lie in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

Id = Hashable


def _top(ranking: Sequence[Id], k: int | None) -> Sequence[Id]:
    """The first ``k``; raises ValueError for k < 1 or an id that stands twice."""
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1 or None for the whole ranking, not {k}")
    if len(set(ranking)) < len(ranking):
        raise ValueError("an id stands twice in the ranking; keep its first place only")
    return ranking[:k]


def _relevant(judged: Mapping[Id, int], relevant_from: int) -> set[Id]:
    if relevant_from < 1:
        raise ValueError(f"relevant_from must be at least 1, not {relevant_from}: unjudged ids have grade 0")
    return {id_ for id_, grade in judged.items() if grade >= relevant_from}


def _dcg(grades: Iterable[int]) -> float:
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def ndcg(ranking: Sequence[Id], judged: Mapping[Id, int], k: int | None = 10) -> float:
    """Normalised discounted cumulated gain: gain = grade, discount log2(rank + 1), ideal over all that is judged.

    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002; with the discount
    of trec_eval, which begins at rank 2.
    """
    gained = _dcg(judged.get(id_, 0) for id_ in _top(ranking, k))
    ideal = _dcg(sorted(judged.values(), reverse=True)[:k])
    return gained / ideal if ideal else 0.0


def reciprocal_rank(
    ranking: Sequence[Id], judged: Mapping[Id, int], k: int | None = None, relevant_from: int = 1
) -> float:
    """One over the rank of the first relevant id.

    Voorhees, The TREC-8 question answering track report, 1999.
    """
    relevant = _relevant(judged, relevant_from)
    return next((1 / rank for rank, id_ in enumerate(_top(ranking, k), 1) if id_ in relevant), 0.0)


def precision(ranking: Sequence[Id], judged: Mapping[Id, int], k: int, relevant_from: int = 1) -> float:
    """Share of the first ``k`` places with a relevant id; places that a short ranking leaves open are not relevant.

    Van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.
    """
    relevant = _relevant(judged, relevant_from)
    return sum(id_ in relevant for id_ in _top(ranking, k)) / k


def recall(ranking: Sequence[Id], judged: Mapping[Id, int], k: int | None = None, relevant_from: int = 1) -> float:
    """Share of the relevant ids that are among the first ``k``.

    Van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.
    """
    relevant = _relevant(judged, relevant_from)
    found = sum(id_ in relevant for id_ in _top(ranking, k))
    return found / len(relevant) if relevant else 0.0


def average_precision(
    ranking: Sequence[Id], judged: Mapping[Id, int], k: int | None = None, relevant_from: int = 1
) -> float:
    """Mean over all relevant ids of the precision at their ranks; 0 for those that are not among the first ``k``.

    Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000.
    """
    relevant = _relevant(judged, relevant_from)
    found, total = 0, 0.0
    for rank, id_ in enumerate(_top(ranking, k), 1):
        if id_ in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0


def success(ranking: Sequence[Id], judged: Mapping[Id, int], k: int, relevant_from: int = 1) -> float:
    """1 if a relevant id is among the first ``k``, else 0.

    Craswell and Hawking, Overview of the TREC 2004 Web track.
    """
    relevant = _relevant(judged, relevant_from)
    return float(any(id_ in relevant for id_ in _top(ranking, k)))


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean over queries; raises ValueError where there are none."""
    listed = list(values)
    if not listed:
        raise ValueError("there is no value to take the mean of")
    return math.fsum(listed) / len(listed)
