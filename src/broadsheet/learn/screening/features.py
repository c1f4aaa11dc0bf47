"""Texts of records as weighted words, and the vectors of an encoder, ready for the classifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from broadsheet.text import Token, fold, words

from .parts import Part

LONGEST = 20_000  # characters of a record that are looked at
FEW = 20  # records, below which "in nearly all of them" says nothing


def tokens(text: str) -> list[Token]:
    """The words that count, with their places in the text: folded, of two characters or more; CJK characters as pairs.

    A Chinese, Japanese or Korean character makes a pair with the one right after it; one without such a neighbour
    stands alone.
    """
    found = words(text[:LONGEST])
    if text.isascii():
        return [token for token in found if len(token.text) > 1]
    kept: list[Token] = []
    paired = False
    for n, token in enumerate(found):
        if len(token.text) > 1:
            kept.append(token)
            paired = False
            continue
        if token.text.isascii():
            paired = False
            continue
        after = found[n + 1] if n + 1 < len(found) else None
        if after is not None and after.start == token.end and len(after.text) == 1 and not after.text.isascii():
            kept.append(Token(token.text + after.text, token.start, after.end))
            paired = True
        else:
            if not paired:
                kept.append(token)
            paired = False
    return kept


class Words(Part):
    """TF-IDF of words: ``(1 + ln tf) · (1 + ln((1 + n) / (1 + df)))``, rows of length 1.

    Words in fewer than ``fewest`` records or in more than ``most`` of them (a share) are left out. Single words, no
    stop list and no stems: pairs of words, stems and a list of stop words all ranked worse (docs/experiments.md).
    Learned: ``names_`` (the word of each column, sorted), ``columns_`` (its column by word), ``idf_`` float64 [words].
    """

    name: ClassVar[str] = "words"

    def __init__(self, fewest: int = 2, most: float = 0.95) -> None:
        self.fewest = fewest
        self.most = most

    def fit_transform(self, texts: Sequence[str]) -> Any:
        """Learn the words of ``texts`` [n] and give their rows: sparse float64 [n, words]."""
        counts, names = _counted(_words_of(text) for text in texts)
        frequency = np.diff(counts.tocsc().indptr)
        highest = self.most * len(texts) if len(texts) >= FEW else len(texts)
        lowest = self.fewest if len(texts) >= FEW else 1
        kept = np.flatnonzero((frequency >= lowest) & (frequency <= highest))
        kept = kept[np.argsort(np.array([names[n] for n in kept], dtype=object), kind="stable")]
        self.names_ = [names[n] for n in kept]
        self.columns_ = {name: n for n, name in enumerate(self.names_)}
        self.idf_ = 1 + np.log((1 + len(texts)) / (1 + frequency[kept]))
        return self._weighted(sparse.csr_matrix(counts[:, kept]))

    def transform(self, texts: Iterable[str]) -> Any:
        """Rows of other texts, by the words that were learned: sparse float64 [texts, words]."""
        known = ([word for word in _words_of(text) if word in self.columns_] for text in texts)
        counts, names = _counted(known)
        places = [self.columns_[name] for name in names]
        wide = sparse.csr_matrix(
            (counts.data, np.array(places, np.int64)[counts.indices], counts.indptr),
            shape=(counts.shape[0], len(self.names_)),
        )
        return self._weighted(wide)

    def _weighted(self, counts: Any) -> Any:
        counts.data = (1 + np.log(counts.data)) * self.idf_[counts.indices]
        return unit_rows(counts)


def _words_of(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def _counted(texts: Iterable[list[str]]) -> tuple[Any, list[str]]:
    """How often each word stands in each text, sparse float64 [texts, words], and the words in order of appearance."""
    columns: dict[str, int] = {}
    indices: list[int] = []
    starts = [0]
    for text in texts:
        indices.extend([columns.setdefault(word, len(columns)) for word in text])
        starts.append(len(indices))
    ones = np.ones(len(indices))
    counts = sparse.csr_matrix(
        (ones, np.array(indices, np.int64), np.array(starts, np.int64)), shape=(len(starts) - 1, len(columns))
    )
    counts.sum_duplicates()
    return counts, list(columns)


def unit_rows(rows: Any) -> Any:
    """Sparse rows scaled to length 1; rows of zeros stay."""
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.where(lengths > 0, lengths, 1)) @ rows)


def keyword_rows(keywords: Sequence[str]) -> Any:
    """TF-IDF of whole keywords, "; " between them: sparse float64 [records, keywords], rows of length 1.

    Keywords of one record only are left out, since they compare it with none.
    """
    counts, _ = _counted(
        list(dict.fromkeys(word for part in line.split(";") if (word := fold(part).strip()))) for line in keywords
    )
    frequency = np.diff(counts.tocsc().indptr)
    kept = np.flatnonzero(frequency > 1)
    rows = sparse.csr_matrix(counts[:, kept])
    rows.data = (1 + np.log((1 + len(keywords)) / (1 + frequency[kept])))[rows.indices]
    return unit_rows(rows)


def centred(vectors: np.ndarray) -> np.ndarray:
    """An encoder's vectors less their mean, scaled to length 1: float64 [records, dimensions].

    What all records of a pool share says nothing about which is relevant. Rows of zeros (records without a vector) stay
    and are not in the mean.
    """
    rows = np.array(vectors, np.float64)
    there = rows.any(axis=1)
    if there.any():
        rows[there] -= rows[there].mean(axis=0)
        lengths = np.linalg.norm(rows[there], axis=1, keepdims=True)
        rows[there] /= np.where(lengths > 1e-9, lengths, 1)
    return rows


FEATURISERS: dict[str, type[Part]] = {part.name: part for part in (Words,)}
