"""The features of one day's papers and of what readers liked, shared by all readers and kept in memory for the day."""

from __future__ import annotations

import math
import threading
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from scipy import sparse

from broadsheet.learn.files import write_arrays
from broadsheet.learn.form import FORM_FEATURES, form_features
from broadsheet.learn.linear import BackgroundClassifier
from broadsheet.learn.space import TextSpace, text_of
from broadsheet.model import Paper, PaperId
from broadsheet.text import to_plain

ENOUGH_NOTICED = 50  # papers that somebody took notice of, before anything is learned from them
SETTLED = timedelta(days=3)  # after which a paper that nobody took notice of counts as such
NOTICED_MASS = 100.0
FORM_SCALE = 0.2
_LIST = "huggingface"
_COUNTS = ("upvotes", "comments")


@dataclass(frozen=True)
class Rows:
    """Features of n papers: TF-IDF words (sparse, float32 [n, words]) and topics (float32 [n, topics]), rows of length
    1 (or 0 where a text has none of the words)."""

    words: sparse.csr_matrix
    topics: np.ndarray

    @property
    def vectors(self) -> np.ndarray:
        """What likeness is measured by: float32 [n, dimensions], rows of length 1 (or 0)."""
        return self.topics


Encoded = Callable[[Sequence[PaperId]], np.ndarray | None]
"""Vectors float32 [papers, dimensions] of an encoder, rows of length 1 or, where a paper has none, of zeros; None
without.
"""


class Features:
    """Rows of papers in one text space, made once for each paper. Safe to use from threads.

    ``recent`` are the papers that the space was fitted on: the background, and what notice is learned from; ``made``
    their rows, where they were kept. ``encoded`` gives an encoder's vectors (see ``Encoded``).
    """

    def __init__(
        self,
        space: TextSpace,
        recent: Sequence[Paper],
        made: Rows | None = None,
        encoded: Encoded = lambda papers: None,
    ) -> None:
        self.space = space
        self.recent = tuple(recent)
        self.encoded = encoded
        self._lock = threading.RLock()
        self._place: dict[PaperId, int] = {}
        self._held = Rows(*space.transform([]))
        if made is not None and made.words.shape == (len(self.recent), len(space.names_)):
            self._place = {paper.id: n for n, paper in enumerate(self.recent)}
            self._held = made
        self._notice: tuple[BackgroundClassifier, np.ndarray, np.ndarray] | None = None
        self._notice_made = False

    def rows(self, papers: Sequence[Paper]) -> Rows:
        """Their rows, in their order."""
        with self._lock:
            new = list({paper.id: paper for paper in papers if paper.id not in self._place}.values())
            if new:
                words, topics = self.space.transform([text_of(paper) for paper in new])
                start = self._held.words.shape[0]
                self._place.update((paper.id, start + n) for n, paper in enumerate(new))
                self._held = Rows(
                    sparse.vstack([self._held.words, words]).tocsr(), np.vstack([self._held.topics, topics])
                )
            at = np.array([self._place[paper.id] for paper in papers], np.intp)
            return Rows(self._held.words[at], self._held.topics[at])

    def background(self, without: set[PaperId], seed: int) -> list[Paper]:
        """The recent papers without some, in an order by lot: any first ones are a fair sample."""
        others = [paper for paper in self.recent if paper.id not in without]
        return [others[n] for n in np.random.default_rng(seed).permutation(len(others))]

    def notice(self, papers: Sequence[Paper]) -> np.ndarray | None:
        """How much notice papers are expected to get, whoever reads them: float64 [papers]; None while too few are
        known.

        Learned from the recent papers that somebody took notice of (see ``was_noticed``), against the others, by their
        words, topics and form.
        """
        learned = self._noticed()
        if learned is None or not papers:
            return None
        classifier, centre, spread = learned
        return classifier.decision_function(self._with_form(papers, centre, spread))

    def _noticed(self) -> tuple[BackgroundClassifier, np.ndarray, np.ndarray] | None:
        if not self._notice_made:
            self._notice, self._notice_made = self._learned(), True
        return self._notice

    def _learned(self) -> tuple[BackgroundClassifier, np.ndarray, np.ndarray] | None:
        liked = np.array([was_noticed(paper) for paper in self.recent], bool)
        # What was announced in the last days is no example of what nobody takes notice of: there was no time yet.
        newest = max((paper.day for paper in self.recent if paper.day), default=date.min)
        settled = np.array([paper.day is None or newest - paper.day >= SETTLED for paper in self.recent], bool)
        chosen = [paper for paper, yes in zip(self.recent, liked | settled, strict=True) if yes]
        liked = liked[liked | settled]
        if liked.sum() < ENOUGH_NOTICED or liked.all():
            return None
        forms = _forms([paper for paper, yes in zip(chosen, liked, strict=True) if not yes])
        centre, spread = forms.mean(axis=0), forms.std(axis=0) + 1e-6
        y = np.where(liked, 1.0, -1.0)
        cost = np.where(liked, NOTICED_MASS / liked.sum(), NOTICED_MASS / (~liked).sum())
        x = self._with_form(chosen, centre, spread)
        return BackgroundClassifier(1.0, 1e-2).fit(x, y, cost), centre, spread

    def _with_form(self, papers: Sequence[Paper], centre: np.ndarray, spread: np.ndarray) -> sparse.csr_matrix:
        found = self.rows(papers)
        form = np.clip((_forms(papers) - centre) / spread, -3, 3) * FORM_SCALE
        return sparse.hstack([found.words, sparse.csr_matrix(found.vectors), sparse.csr_matrix(form)]).tocsr()


def kept_rows(path: Path, stamp: str, papers: Sequence[Paper], space: TextSpace, *, save: bool = True) -> Rows:
    """The rows in a file if it bears this stamp and is sound; else made from the papers, and written with ``save``.

    Raises StoreError where they cannot be written.
    """
    try:
        # Opened here: numpy leaves the file open where it is no archive.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if str(file["stamp"]) == stamp:
                parts = (file["data"], file["indices"], file["indptr"])
                words = sparse.csr_matrix(parts, shape=(len(papers), len(space.names_)))
                words.check_format(full_check=True)
                if file["topics"].shape == (len(papers), space.topics):
                    return Rows(words, file["topics"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error):
        pass  # a cache: made again below
    made = Rows(*space.transform([text_of(paper) for paper in papers]))
    if save:
        words = {"data": made.words.data, "indices": made.words.indices, "indptr": made.words.indptr}
        write_arrays(path, {"stamp": np.array(stamp), "topics": made.topics, **words})
    return made


def noticed(paper: Paper) -> int:
    """Upvotes and comments where a source counts them."""
    return sum(paper.count(name) or 0 for name in _COUNTS)


def was_noticed(paper: Paper) -> bool:
    """Whether it got upvotes or comments, or stood in Hugging Face's daily list, for which people propose papers."""
    return noticed(paper) > 0 or any(place.source == _LIST for place in paper.places)


def popularity(papers: Sequence[Paper]) -> np.ndarray:
    """Logarithm of upvotes and comments beside the most of these papers: float64 [papers] in [0, 1]."""
    counts = np.array([math.log1p(noticed(paper)) for paper in papers])
    return counts / counts.max() if len(counts) and counts.max() > 0 else np.zeros(len(papers))


def _forms(papers: Sequence[Paper]) -> np.ndarray:
    values = [
        form_features(
            to_plain(paper.title),
            to_plain(paper.abstract),
            authors=len(paper.authors),
            areas=len(paper.areas),
            comment=dict(paper.details).get("comment", ""),
        )
        for paper in papers
    ]
    return np.array(values, np.float64).reshape(-1, len(FORM_FEATURES))
