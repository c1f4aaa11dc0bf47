"""Fusion: scaling, ties, papers without a vector; and an independent way to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.rank import Fused, fuse
from broadsheet.rank.fusion import scaled


def _fuse(words: dict[int, float], cosines: dict[int, float | None], low: float, weight: float) -> Fused:
    """The same with plain dictionaries; None is a paper without a vector."""
    ids = np.array(list(cosines), dtype=np.int64)
    known = np.array([c is not None for c in cosines.values()], dtype=np.bool_)
    cosine = np.array([c or 0.0 for c in cosines.values()])
    scores = (np.array(list(words), dtype=np.int64), np.array(list(words.values())))
    return fuse(scores, (ids, cosine), known, low, weight)


@pytest.mark.parametrize(
    ("scores", "low", "high", "expected"),
    [
        ([0, 5, 10], 0, 10, [0, 0.5, 1]),
        ([0.7, 0.8, 0.9], 0.8, 0.9, [0, 0, 1]),  # below the minimum counts as zero
        ([3, 3], 3, 3, [1, 1]),  # one candidate alone is the best
        ([2, 3], 3, 3, [0, 1]),
    ],
)
def test_scaled(scores: list[float], low: float, high: float, expected: list[float]) -> None:
    np.testing.assert_allclose(scaled(np.array(scores, dtype=np.float64), low, high), expected, atol=1e-9)


def test_weights_decide() -> None:
    words, cosines = {1: 10.0, 2: 5.0}, {1: 0.80, 2: 0.80, 3: 0.90}
    assert _fuse(words, cosines, 0.80, 0.0).ids.tolist() == [1, 2, 3]
    assert _fuse(words, cosines, 0.80, 1.0).ids.tolist() == [3, 1, 2]
    half = _fuse(words, cosines, 0.80, 0.5)
    assert half.ids.tolist() == [1, 3, 2]
    np.testing.assert_allclose(half.scores, [0.5, 0.5, 0.25])


def test_equal_scores_go_by_number() -> None:
    assert _fuse({9: 1.0, 3: 1.0, 7: 1.0}, {9: 0.5, 3: 0.5, 7: 0.5}, 0.5, 0.5).ids.tolist() == [3, 7, 9]


def test_paper_without_a_vector_is_not_pushed_down() -> None:
    ranked = _fuse({1: 10.0, 2: 9.0}, {1: None, 2: 0.9}, 0.8, 0.5)
    assert ranked.ids.tolist() == [1, 2]
    np.testing.assert_allclose(ranked.scores, [1.0, 0.95])
    np.testing.assert_array_equal(ranked.meaning, [np.nan, 1.0])


def test_nothing_found() -> None:
    ranked = _fuse({}, {}, 0.0, 0.5)
    assert ranked.ids.tolist() == [] == ranked.scores.tolist()


@given(
    st.dictionaries(st.integers(1, 50), st.floats(0.1, 100), max_size=20),
    st.dictionaries(st.integers(1, 50), st.floats(-1, 1), max_size=20),
    st.floats(0, 1),
)
def test_against_plain_python(words: dict[int, float], near: dict[int, float], weight: float) -> None:
    cosines: dict[int, float | None] = {**dict.fromkeys(words, None), **near}
    low = min(near.values(), default=0.0)
    ranked = _fuse(words, cosines, low, weight)

    def part(value: float, least: float, most: float) -> float:
        return float(value >= most) if most - least <= 1e-12 else min(1.0, max(0.0, (value - least) / (most - least)))

    def expected(paper: int) -> float:
        word = part(words[paper], 0.0, max(words.values())) if paper in words else 0.0
        meaning = part(near[paper], low, max(near.values())) if paper in near else word
        return (1 - weight) * word + weight * meaning

    assert sorted(ranked.ids.tolist()) == sorted(cosines)
    np.testing.assert_allclose(ranked.scores, [expected(int(i)) for i in ranked.ids], atol=1e-9)
    pairs = list(zip((-ranked.scores).tolist(), ranked.ids.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert ((ranked.scores >= 0) & (ranked.scores <= 1 + 1e-12)).all()
