"""The screening measurements count what they say they count, on made reviews."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.screening_queriers import _against_lot, course, parts_of, pooled, read_through, sentences_shown
from bench.screening_ranking import Review, priors
from broadsheet.learn.screening import model_of

ABSTRACT = "BACKGROUND: Sleep is short. METHODS: We asked nurses. They answered. RESULTS: Many sleep badly."


def made(name: str, texts: list[str], relevant: list[int]) -> Review:
    labels = np.isin(np.arange(len(texts)), relevant)
    return Review(name, Path(), texts, labels, None, [""] * len(texts))


def test_a_pool_of_all_reviews_has_one_reviews_relevant_records_only_once() -> None:
    one = made("one", ["Sleep of nurses.\na", "Steel\nb"], [0])
    two = made("two", ["sleep of nurses\nc", "Bridges\nd"], [1])
    texts, labels, vectors = pooled("one", [two, one])
    assert texts == ["Bridges\nd", "Sleep of nurses.\na", "Steel\nb"]
    assert labels.tolist() == [False, True, False]
    assert len(vectors) == 3


@pytest.mark.parametrize("querier", ["max-relevance", "random"])
def test_every_record_is_read_once_until_the_last_relevant_one(querier: str) -> None:
    one = made("one", [f"{'sleep' if n % 5 == 0 else 'steel'} study {n}\n" for n in range(60)], list(range(0, 60, 5)))
    model = model_of("words", querier).fit_features(one.texts)
    read = [n for _, batch in course(one.labels, 3, model.rank, lambda order, found: found == 12) for n in batch]
    assert len(set(read)) == len(read)
    assert one.labels[read].sum() == 11
    assert not set(read) & set(priors(one.labels, 3))


def test_likeliest_first_finds_more_than_by_lot() -> None:
    one = made("one", [f"{'sleep' if n % 5 == 0 else 'steel'} study {n}\n" for n in range(60)], list(range(0, 60, 5)))
    assert read_through(one, "max-relevance", 0)["atd"] < read_through(one, "random", 0)["atd"]


def test_a_sentence_stands_in_the_part_of_the_heading_before_it() -> None:
    assert [part for *_, part in parts_of(ABSTRACT)] == ["background", "method", "method", "result"]
    assert parts_of("RESULTS: Many sleep badly.") == []


def test_the_sentence_shown_is_counted_beside_sentences_by_lot() -> None:
    placed = parts_of(ABSTRACT)
    figures = sentences_shown({"one": [_against_lot(placed, placed[-1][0])]})
    assert figures["parts"]["result"]["shown"] == 1
    assert figures["parts"]["method"]["lot"] == 0.5
    assert sum(part["by_length"] for part in figures["parts"].values()) == pytest.approx(1, abs=0.01)
