"""Fusion: scaling, ties, papers without a vector; and an independent way to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.rank import Fused, fuse
from broadsheet.rank.fusion import scaled


def _fuse(words: dict[int, float], near: dict[int, float], weight: float, *, known: set[int] | None = None) -> Fused:
    """The same with plain dictionaries; all of ``words`` are ``known`` unless they are given."""
    ids = np.array(list(words), dtype=np.int64)
    nearest = sorted(near, key=lambda paper: -near[paper])
    extra = np.array([paper for paper in nearest if paper not in words], dtype=np.int64)
    return fuse(
        (ids, np.array(list(words.values()), dtype=np.float64)),
        np.array([known is None or paper in known for paper in words], dtype=np.bool_),
        (np.array(nearest, dtype=np.int64), np.array([near[paper] for paper in nearest], dtype=np.float64)),
        extra,
        weight,
    )


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
    words, near = {1: 10.0, 2: 5.0}, {3: 0.90, 4: 0.85, 5: 0.80}
    assert _fuse(words, near, 0.0).ids.tolist() == [1, 2, 3, 4, 5]
    assert _fuse(words, near, 1.0).ids.tolist() == [3, 4, 1, 2, 5]
    half = _fuse(words, near, 0.5)
    assert half.ids.tolist() == [1, 3, 2, 4, 5]
    np.testing.assert_allclose(half.scores, [0.5, 0.5, 0.25, 0.25, 0.0], atol=1e-9)


def test_both_parts_add_up() -> None:
    ranked = _fuse({1: 10.0, 2: 8.0}, {2: 0.9, 3: 0.8}, 0.5)
    assert ranked.ids.tolist() == [2, 1, 3]
    np.testing.assert_allclose(ranked.scores, [0.9, 0.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(ranked.meaning, [1.0, 0.0, 0.0], atol=1e-9)


def test_equal_scores_go_by_number() -> None:
    assert _fuse({9: 1.0, 3: 1.0, 7: 1.0}, {}, 0.5).ids.tolist() == [3, 7, 9]


def test_paper_without_a_vector_is_not_pushed_down() -> None:
    ranked = _fuse({1: 10.0, 2: 9.0}, {2: 0.9}, 0.5, known={2})
    assert ranked.ids.tolist() == [1, 2]
    np.testing.assert_allclose(ranked.scores, [1.0, 0.95])
    np.testing.assert_array_equal(ranked.meaning, [np.nan, 1.0])


def test_nothing_found() -> None:
    ranked = _fuse({}, {}, 0.5)
    assert ranked.ids.tolist() == [] == ranked.scores.tolist()


@given(
    st.dictionaries(st.integers(1, 50), st.floats(0.1, 100), max_size=20),
    st.dictionaries(st.integers(1, 50), st.floats(-1, 1), max_size=20),
    st.sets(st.integers(1, 50)),
    st.floats(0, 1),
)
def test_against_plain_python(words: dict[int, float], near: dict[int, float], held: set[int], weight: float) -> None:
    known = held | near.keys()
    ranked = _fuse(words, near, weight, known=known)

    def part(value: float, least: float, most: float) -> float:
        return float(value >= most) if most - least <= 1e-12 else min(1.0, max(0.0, (value - least) / (most - least)))

    def expected(paper: int) -> float:
        word = part(words[paper], 0.0, max(words.values())) if paper in words else 0.0
        if paper in near:
            meaning = part(near[paper], min(near.values()), max(near.values()))
        else:
            meaning = 0.0 if paper in known else word
        return (1 - weight) * word + weight * meaning

    assert sorted(ranked.ids.tolist()) == sorted({*words, *near})
    np.testing.assert_allclose(ranked.scores, [expected(int(i)) for i in ranked.ids], atol=1e-9)
    pairs = list(zip((-ranked.scores).tolist(), ranked.ids.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert ((ranked.scores >= 0) & (ranked.scores <= 1 + 1e-12)).all()
