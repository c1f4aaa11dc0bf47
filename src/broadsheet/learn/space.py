"""Texts as weighted words and latent topics, fitted on recent papers of the library and kept in a file."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from broadsheet.errors import IndexDamagedError
from broadsheet.learn.files import write_arrays
from broadsheet.learn.terms import stop_words, terms
from broadsheet.model import Paper
from broadsheet.text import to_plain

FORMAT = 1
MAX_FEATURES = 10_000
TOPICS = 256
FEW = 20  # texts, below which "in more than half of them" says nothing
LONGEST = 20_000  # characters of an abstract
MOST_AUTHORS = 200
REMEMBERED = 8192  # texts whose rows are kept, about a kilobyte each beside the text

_Row = tuple[np.ndarray, np.ndarray]


def text_of(paper: Paper) -> str:
    """What a paper's features are made from: plain title (unless derived from the abstract), abstract and authors.

    Of an abstract that is a whole book only the beginning, of a collaboration's thousands of authors the first.
    """
    title = "" if paper.title_derived else to_plain(paper.title)
    parts = (title, to_plain(paper.abstract[:LONGEST]), *paper.authors[:MOST_AUTHORS])
    return " ".join(part for part in parts if part)


class TextSpace:
    """TF-IDF of words and pairs of words as arxiv-sanity-lite computes it, and latent semantic analysis of it.

    Weights are ``(1 + ln tf) · (1 + ln((1 + n) / (1 + df)))``, rows of length 1. Terms in fewer than five texts (in
    small collections: one in two hundred) or in more than half of them are left out, the most frequent ``max_features``
    kept. Topics: Deerwester et al., Indexing by latent semantic analysis, JASIS 41(6), 1990, by randomised singular
    value decomposition with a fixed seed. The terms are those of ``learn.terms``.

    Parameters: ``max_features``, ``topics``. Learned: ``names_`` (the term of each column, sorted), ``idf_`` float32
    [terms], ``components_`` float32 [topics, terms] (zeros for topics that the texts are too few to have), ``mean_``
    float32 [terms] (the mean row of the texts), ``common_`` float32 [topics] (its direction among the topics, of length
    1: what all texts share), ``stop_words_``.
    """

    def __init__(self, max_features: int = MAX_FEATURES, topics: int = TOPICS) -> None:
        self.max_features = max_features
        self.topics = topics

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn terms, weights and topics; forgets earlier fits. Texts without any word make a space of no terms."""
        self.stop_words_ = stop_words()
        counts, names = _counted(texts, self.stop_words_)
        documents = np.bincount(counts.indices, minlength=counts.shape[1])
        most = len(texts) if len(texts) < FEW else len(texts) / 2
        often = np.flatnonzero((documents >= max(1, min(5, len(texts) // 200))) & (documents <= most))
        totals = np.asarray(counts[:, often].sum(axis=0)).ravel()
        kept = np.sort(often[np.argsort(-totals, kind="stable")[: self.max_features]])
        self.names_ = [names[column] for column in kept]
        self.idf_ = (1 + np.log((1 + len(texts)) / (1 + documents[kept]))).astype(np.float32)
        words = _weighed(counts[:, kept], self.idf_)
        self.mean_ = np.asarray(words.sum(axis=0), np.float32).ravel() / max(1, len(texts))
        self.components_ = _components(words, self.topics)
        return self._ready()

    def transform(self, texts: Sequence[str]) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Words (sparse float32 [n, terms]) and topics (float32 [n, topics]), rows of length 1.

        A text without a known term has rows of zeros. What the last thousands of texts gave is remembered.
        """
        rows = [self._row(text) for text in texts]
        ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
        columns = np.concatenate([columns for columns, _ in rows]) if rows else np.zeros(0, np.int32)
        values = np.concatenate([values for _, values in rows]) if rows else np.zeros(0, np.float32)
        words = sparse.csr_matrix((values, columns, ends), shape=(len(texts), len(self.names_)))
        return words, _of_length_one(np.asarray(words @ self.components_.T, np.float32))

    def save(self, path: Path, stamp: str = "") -> None:
        """Write it to a file in one step (numpy's ``npz``, nothing pickled), with a stamp of what it was made from.

        Raises StoreError where the file cannot be written; what was there stays.
        """
        header = {
            "format": FORMAT,
            "stamp": stamp,
            "max_features": self.max_features,
            "topics": self.topics,
            "names": self.names_,
            "stop_words": sorted(self.stop_words_),
        }
        named = np.frombuffer(json.dumps(header).encode(), np.uint8)
        parts = {"idf": self.idf_, "components": self.components_, "mean": self.mean_}
        write_arrays(path, {"header": named, **parts})

    @classmethod
    def load(cls, path: Path) -> tuple[Self, str]:
        """The space in a file, and its stamp.

        Raises FileNotFoundError where there is none, IndexDamagedError where it is not what ``save`` wrote.
        """
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                header = json.loads(file["header"].tobytes())
                idf, components, mean = file["idf"], file["components"], file["mean"]
            if header["format"] != FORMAT:
                raise ValueError(f"its format is {header['format']}, not {FORMAT}")
            space = cls(header["max_features"], header["topics"])
            space.names_, space.stop_words_ = header["names"], frozenset(header["stop_words"])
            space.idf_, space.components_, space.mean_ = idf, components, mean
            width = len(space.names_)
            if (idf.shape, components.shape, mean.shape) != ((width,), (space.topics, width), (width,)):
                raise ValueError("its parts do not belong together")
            return space._ready(), str(header["stamp"])
        except FileNotFoundError:
            raise
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise IndexDamagedError(f"{path} cannot be used: {error}; delete it, it is made again") from error

    def _ready(self) -> Self:
        self.common_ = _of_length_one((self.components_ @ self.mean_)[None])[0]
        self._column = {name: n for n, name in enumerate(self.names_)}
        # Of the instance, not of the class: a space that nobody holds any more takes its rows with it.
        self._row = lru_cache(maxsize=REMEMBERED)(self._made_row)
        return self

    def _made_row(self, text: str) -> _Row:
        known = (self._column.get(term) for term in terms(text, self.stop_words_))
        counts = Counter(column for column in known if column is not None)
        columns = np.array(sorted(counts), np.int32)
        values = (1 + np.log([counts[column] for column in columns.tolist()], dtype=np.float32)) * self.idf_[columns]
        return columns, values / max(float(np.linalg.norm(values)), 1e-12)


def kept_space(
    path: Path, stamp: str, texts: Callable[[], Sequence[str]], *, save: bool = True, **parameters: Any
) -> TextSpace:
    """The space in a file if it bears this stamp; else, also where it is damaged, one fitted on ``texts()`` and saved.

    It is not saved where ``save`` is off. Raises StoreError where it cannot be saved.
    """
    try:
        space, stamped = TextSpace.load(path)
        if stamped == stamp:
            return space
    except (FileNotFoundError, IndexDamagedError):
        pass  # a cache: made again below
    space = TextSpace(**parameters).fit(texts())
    if save:
        space.save(path, stamp)
    return space


def _counted(texts: Sequence[str], stop: frozenset[str]) -> tuple[sparse.csr_matrix, list[str]]:
    """How often each term is in each text, and the terms in alphabetical order."""
    numbers: dict[str, int] = {}
    columns: list[int] = []
    values: list[int] = []
    ends = [0]
    for text in texts:
        counts = Counter(terms(text, stop))
        columns += [numbers.setdefault(term, len(numbers)) for term in counts]
        values += counts.values()
        ends.append(len(columns))
    names = sorted(numbers)
    place = np.zeros(len(names), np.int32)
    place[[numbers[name] for name in names]] = np.arange(len(names))
    indices = place[columns] if columns else np.zeros(0, np.int32)
    return sparse.csr_matrix((np.array(values, np.float32), indices, ends), shape=(len(texts), len(names))), names


def _weighed(counts: sparse.csr_matrix, idf: np.ndarray) -> sparse.csr_matrix:
    words = sparse.csr_matrix(counts, copy=True)
    words.data = (1 + np.log(words.data)) * idf[words.indices]
    length = np.sqrt(np.asarray(words.multiply(words).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(length, 1e-12)) @ words, dtype=np.float32)


def _components(words: sparse.csr_matrix, topics: int) -> np.ndarray:
    """The right singular vectors, greatest first: float32 [topics, terms]; those of no weight are zeros."""
    found = np.zeros((topics, words.shape[1]), np.float32)
    rank = min(topics, *words.shape)
    if rank and words.nnz:
        from sklearn.utils.extmath import randomized_svd
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # on a busy machine two threads wait for each other: 8 s instead of 1.2 s
            _, weights, vectors = randomized_svd(words, rank, n_iter=4, random_state=0)
        real = weights > 1e-4 * weights[0]
        found[: real.sum()] = vectors[real]
    return found


def _of_length_one(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), np.float32)
