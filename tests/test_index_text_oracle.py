"""BM25 against an independent implementation (bm25s, method "lucene", k1 1.2, b .75).

Two known differences. Tantivy multiplies by k1 + 1, which Lucene dropped: the same order. And it keeps field lengths in
one byte as Lucene does (SmallFloat.intToByte4: exact to 40 words, then four significant bits). So short texts are
compared with bm25s itself, long ones with the formula of bm25s (checked against it here) on lengths rounded so.
The index's marker is a document without words: the oracle gets an empty one too.
"""

from __future__ import annotations

from pathlib import Path

import bm25s
import numpy as np
import pytest

from broadsheet.index import Match, open_text_index
from broadsheet.model import IndexDocument

K1, B = 1.2, 0.75
VOCABULARY = [f"w{i}x" for i in range(60)]  # no English endings: stems are the words


def _texts(lengths: tuple[int, int], seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    odds = 1 / np.arange(1, len(VOCABULARY) + 1)
    odds /= odds.sum()
    return [list(rng.choice(VOCABULARY, size=rng.integers(*lengths), p=odds)) for _ in range(200)]


def _ours(folder: Path, texts: list[list[str]], query: list[str]) -> np.ndarray:
    """Scores of all texts by the index, divided by k1 + 1."""
    index = open_text_index(folder, heap_bytes=15_000_000)
    index.apply([_document(i, " ".join(words)) for i, words in enumerate(texts)], [], seq=1)
    index.close()
    hits = index.search(Match(" ".join(query), {"abstract": 1.0}), limit=len(texts))
    scores = np.zeros(len(texts))
    scores[list(hits.ids)] = np.array(hits.scores) / (K1 + 1)
    return scores


def _oracle(texts: list[list[str]], query: list[str]) -> np.ndarray:
    oracle = bm25s.BM25(method="lucene", k1=K1, b=B)
    oracle.index([*texts, []], show_progress=False)
    scores: np.ndarray = oracle.get_scores(query)[: len(texts)]
    return scores


def _formula(texts: list[list[str]], query: list[str], lengths: np.ndarray) -> np.ndarray:
    scores, n = np.zeros(len(texts)), len(texts) + 1
    mean = sum(map(len, texts)) / n
    for word in query:
        tf = np.array([text.count(word) for text in texts])
        idf = np.log(1 + (n - (tf > 0).sum() + 0.5) / ((tf > 0).sum() + 0.5))
        scores += idf * tf / (tf + K1 * (1 - B + B * lengths / mean))
    return scores


def _in_one_byte(length: int) -> int:
    if length < 40:
        return length
    shift = (length - 24).bit_length() - 4
    return 24 + ((length - 24) >> shift << shift)


def _document(paper_id: int, abstract: str) -> IndexDocument:
    return IndexDocument(paper_id, "", abstract, (), (), (), "", None, None, False, ())


QUERIES = [["w3x"], ["w0x", "w59x"], ["w5x", "w17x", "w40x", "w2x"], ["absent", "w9x"]]


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_scores_of_short_texts_are_the_oracles(tmp_path: Path, query: list[str]) -> None:
    texts = _texts((3, 40), 1)
    theirs = _oracle(texts, query)
    assert (theirs > 0).sum() > 5
    np.testing.assert_allclose(_ours(tmp_path, texts, query), theirs, atol=1e-4)


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_scores_of_long_texts_are_the_oracles_but_for_lengths_in_one_byte(tmp_path: Path, query: list[str]) -> None:
    texts = _texts((50, 400), 2)
    lengths = np.array([len(text) for text in texts])
    np.testing.assert_allclose(_formula(texts, query, lengths), _oracle(texts, query), rtol=1e-4)
    rounded = np.array([_in_one_byte(len(text)) for text in texts])
    assert (rounded < lengths).sum() > 100
    np.testing.assert_allclose(_ours(tmp_path, texts, query), _formula(texts, query, rounded), atol=1e-4)
