"""Ranking measures against an independent implementation, and at their edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet import metrics

Measure = Callable[[Sequence[str], Mapping[str, int]], float]

ORACLES: dict[str, tuple[Measure, ir_measures.measures.Measure]] = {
    "nDCG@1": (lambda r, j: metrics.ndcg(r, j, 1), ir_measures.nDCG @ 1),
    "nDCG@10": (lambda r, j: metrics.ndcg(r, j, 10), ir_measures.nDCG @ 10),
    "nDCG": (lambda r, j: metrics.ndcg(r, j, None), ir_measures.nDCG),
    "RR": (metrics.reciprocal_rank, ir_measures.RR),
    "RR(rel=2)": (lambda r, j: metrics.reciprocal_rank(r, j, relevant_from=2), ir_measures.RR(rel=2)),
    "P@5": (lambda r, j: metrics.precision(r, j, 5), ir_measures.P @ 5),
    "R@5": (lambda r, j: metrics.recall(r, j, 5), ir_measures.R @ 5),
    "R(rel=2)@20": (lambda r, j: metrics.recall(r, j, 20, relevant_from=2), ir_measures.R(rel=2) @ 20),
    "AP": (metrics.average_precision, ir_measures.AP),
    "AP@7": (lambda r, j: metrics.average_precision(r, j, 7), ir_measures.AP @ 7),
    "Success@3": (lambda r, j: metrics.success(r, j, 3), ir_measures.Success @ 3),
}


@pytest.fixture(scope="module")
def rankings() -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """300 random rankings of up to 40 ids, partly judged with grades from -1 to 3."""
    rng = np.random.default_rng(20261130)
    runs: dict[str, list[str]] = {}
    judgements: dict[str, dict[str, int]] = {}
    for query in map(str, range(300)):
        ids = [f"d{i}" for i in range(50)]
        runs[query] = [str(id_) for id_ in rng.permutation(ids)[: rng.integers(1, 41)]]
        judged = rng.permutation(ids)[: rng.integers(1, 31)]
        judgements[query] = {str(id_): int(rng.choice([-1, 0, 1, 2, 3], p=[0.1, 0.4, 0.2, 0.2, 0.1])) for id_ in judged}
    return runs, judgements


@pytest.mark.parametrize("name", ORACLES)
def test_as_trec_eval(name: str, rankings: tuple[dict[str, list[str]], dict[str, dict[str, int]]]) -> None:
    runs, judgements = rankings
    own, oracle = ORACLES[name]
    scored = {query: {id_: float(-rank) for rank, id_ in enumerate(ids)} for query, ids in runs.items()}
    provider = ir_measures.pytrec_eval
    checked = 0
    for value in provider.iter_calc([oracle], judgements, scored):
        assert own(runs[value.query_id], judgements[value.query_id]) == pytest.approx(value.value, abs=1e-9)
        checked += 1
    assert checked == 300


def test_by_hand() -> None:
    judged = {"a": 3, "b": 2, "c": 0, "d": 1}
    ranking = ["c", "a", "x", "d"]
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert metrics.ndcg(ranking, judged, 10) == pytest.approx((3 / math.log2(3) + 1 / math.log2(5)) / ideal, abs=1e-12)
    assert metrics.reciprocal_rank(ranking, judged) == 1 / 2
    assert metrics.reciprocal_rank(ranking, judged, k=1) == 0
    assert metrics.precision(ranking, judged, 10) == 2 / 10
    assert metrics.recall(ranking, judged, 2) == 1 / 3
    assert metrics.average_precision(ranking, judged) == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert metrics.success(ranking, judged, 1) == 0
    assert metrics.success(ranking, judged, 2) == 1
    assert metrics.mean([0.0, 0.5, 1.0]) == 0.5


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(
    ("ranking", "judged"),
    [([], {"a": 1}), (["a", "b"], {}), (["a"], {"a": 0}), (["a"], {"a": -1, "b": -2}), (["a"], {"b": 1})],
    ids=["empty ranking", "nothing judged", "nothing relevant", "negative grades", "not found"],
)
def test_zero(name: str, ranking: list[str], judged: dict[str, int]) -> None:
    assert ORACLES[name][0](ranking, judged) == 0.0


@pytest.mark.parametrize("k", [0, -1])
def test_refused_depth(k: int) -> None:
    for measure in (metrics.ndcg, metrics.reciprocal_rank, metrics.precision, metrics.recall, metrics.success):
        with pytest.raises(ValueError, match="at least 1"):
            measure(["a"], {"a": 1}, k)


def test_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        metrics.ndcg(["a", "a"], {"a": 1})
    with pytest.raises(ValueError, match="relevant_from"):
        metrics.recall(["a"], {"a": 1}, relevant_from=0)
    with pytest.raises(ValueError, match="no value"):
        metrics.mean([])


IDS = st.integers(0, 15)


@given(st.lists(IDS, unique=True), st.dictionaries(IDS, st.integers(-1, 3)), st.integers(1, 20))
def test_bounds_and_monotony(ranking: list[int], judged: dict[int, int], k: int) -> None:
    for measure in (
        metrics.ndcg,
        metrics.reciprocal_rank,
        metrics.precision,
        metrics.recall,
        metrics.average_precision,
    ):
        assert 0.0 <= measure(ranking, judged, k) <= 1.0 + 1e-12
    for grower in (metrics.reciprocal_rank, metrics.recall, metrics.average_precision, metrics.success):
        assert grower(ranking, judged, k) <= grower(ranking, judged, k + 1)
    best = sorted(judged, key=lambda id_: -judged[id_])
    assert metrics.ndcg(best, judged, k) == (1.0 if any(grade > 0 for grade in judged.values()) else 0.0)
