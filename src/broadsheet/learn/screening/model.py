"""The screening model: its parts together, and the ranking that it makes of what is unread."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse

from broadsheet.errors import InputError

from .balancers import BALANCERS, Prevalence, Ratio
from .classifiers import CLASSIFIERS, SupportVectors
from .evidence import Explanation, explained
from .features import FEATURISERS, Words, centred, keyword_rows
from .parts import Part, one_of
from .queriers import QUERIERS, MaxRelevance, Pool
from .turns import Beside, in_turns, spread_ratio

MEANING = 0.8
BACKGROUND = 4.0
MOST_BACKGROUND = 100.0
SAMPLE = 500
KEYWORDS = 0.0
IRRELEVANT = 0.15
ENOUGH = 5
FORMAT = 1


@dataclass(frozen=True)
class Ranking:
    """What a model thinks of the unread records after some labels; it does not change and may be read by any thread.

    ``order`` int64 [unread]: indices as they should come, by the querier; ``relevance_order`` int64 [unread]: the
    likeliest first, whatever the querier; ``scores`` float64 [records], above 0 where the classifier would include.
    ``basis`` says what they rest on: ``labels``, ``description`` (in place of relevant records), ``irrelevant`` (what
    is least like these comes first) or ``nothing`` (random). ``labels`` is how many were learned from; ``coef`` float64
    [words] and ``intercept`` are of the classifier of words.
    """

    order: np.ndarray
    relevance_order: np.ndarray
    scores: np.ndarray
    basis: str
    labels: int
    coef: np.ndarray = field(repr=False)
    intercept: float = 0.0


class ScreeningModel:
    """Featuriser, classifier, balancer and querier, each with a record of its own; scikit-learn's conventions.

    Two classifiers of one kind are fitted, one on weighted words (and keywords) and one on an encoder's vectors where
    there are any; their scores are summed at an equal spread over the unread records, the vectors' with the weight
    ``meaning``. For the words a fixed random ``sample`` of the unread records counts as irrelevant, too: it says what
    the pool is like, which a few labels near each other cannot (Cormack and Grossman, Autonomy and reliability of
    continuous active learning, arXiv 1504.06868, 2015). It weighs as much as ``background`` · irrelevant / relevant
    labelled records, a hundred at most: where much of what is read is relevant, so is much of what is not. The vectors'
    classifier has neither the sample nor the balancer but a fixed ratio of 9.8 (``Ratio``), with which it did better.

    As long as nothing relevant is known, records are ranked by their likeness to a description, less a share of that to
    the mean of the irrelevant ones (Rocchio, Relevance feedback in information retrieval, 1971; the customary .15). A
    classifier with the description in place of relevant records ranked worse than by lot. Until ``enough`` relevant
    records are known, the description's order and the learned one take turns: one relevant record that is unlike the
    others (in another language, say) must not throw away what was asked for.

    With ``turns``, as in the default composition, there is no sum. One classifier, with balancer and sample, has words
    and vectors in one row, the vectors with the share ``meaning`` of the words' say; the other learns words from the
    labels alone at the fixed ratio, near to what ASReview does; the unread records stand at the better of their two
    places (``in_turns``). Without vectors the one classifier of words does better alone (docs/experiments.md).

    ``keywords`` is the weight of keywords beside words: 0, since they gained nothing that was certain. The balancer was
    chosen on the tuning half of the reviews; that ``background`` follows the share, and ``meaning``, after figures of
    both halves had been seen (docs/experiments.md).

    Learned by ``fit_features``: ``rows_`` sparse [records, words and keywords], ``vectors_`` float64 [records,
    dimensions] or None, ``beside_`` both together with ``turns``, else None, ``features_`` ("tfidf" or
    "tfidf+vectors"), ``tie_`` (a random order by ``seed``).
    """

    def __init__(
        self,
        featuriser: Words | None = None,
        classifier: Part | None = None,
        balancer: Part | None = None,
        querier: Part | None = None,
        *,
        name: str = "default",
        meaning: float = MEANING,
        background: float = BACKGROUND,
        sample: int = SAMPLE,
        keywords: float = KEYWORDS,
        turns: bool = False,
        enough: int = ENOUGH,
        seed: int = 0,
    ) -> None:
        self.featuriser = featuriser or Words()
        self.classifier: Any = classifier or SupportVectors()
        self.balancer: Any = balancer or Prevalence()
        self.querier: Any = querier or MaxRelevance()
        self.name = name
        self.meaning = meaning
        self.background = background
        self.sample = sample
        self.keywords = keywords
        self.turns = turns
        self.enough = enough
        self.seed = seed

    def fit_features(
        self,
        texts: Sequence[str],
        vectors: np.ndarray | None = None,
        *,
        description: str = "",
        description_vector: np.ndarray | None = None,
        keywords: Sequence[str] | None = None,
    ) -> Self:
        """Learn the pool: once, some seconds for 40,000 records.

        ``texts`` [n] are "title\\nabstract", of which either may be empty; ``vectors`` float32 [n, dimensions] has rows
        of zeros where a record has none; ``description`` says in words what is looked for, ``description_vector``
        [dimensions] is its vector. ``keywords`` [n], "; " between them. Raises InputError for lengths that differ.
        """
        for what, given in (("vectors", vectors), ("keywords", keywords)):
            if given is not None and len(given) != len(texts):
                raise InputError(f"{len(given)} {what} for {len(texts)} records: give one for each, in their order")
        self.texts_ = texts
        blocks = [self.featuriser.fit_transform(texts)]
        if keywords is not None and self.keywords:
            blocks.append(keyword_rows(keywords) * self.keywords)
        self.rows_ = sparse.csr_matrix(sparse.hstack(blocks)) if len(blocks) > 1 else blocks[0]
        usable = vectors is not None and self.meaning > 0 and self.classifier.signed
        self.vectors_ = centred(vectors) if usable else None  # type: ignore[arg-type]
        self.beside_ = None
        if self.turns and self.vectors_ is not None:
            self.beside_ = Beside(self.rows_, math.sqrt(self.meaning) * self.vectors_)
        self.features_ = "tfidf" if self.vectors_ is None else "tfidf+vectors"
        self.tie_ = np.random.default_rng(self.seed).permutation(len(texts))
        self._describe(description, vectors if usable else None, description_vector)
        return self

    def _describe(self, description: str, vectors: np.ndarray | None, vector: np.ndarray | None) -> None:
        """The description's row in each block, empty for none; None where the pool has none of its words."""
        row = self.featuriser.transform([description])
        wide = sparse.csr_matrix((row.data, row.indices, row.indptr), shape=(1, self.rows_.shape[1]))
        self._described = [wide.toarray()[0]] if row.nnz else None
        if self._described is not None and vectors is not None:
            has_one = vector is not None and bool(np.any(vector))
            both = centred(np.vstack([vectors, vector if has_one else np.zeros(vectors.shape[1])]))  # type: ignore[list-item]
            self._described.append(both[-1])

    def rank(self, labelled: Mapping[int, bool], *, leave_out: Collection[int] = ()) -> Ranking:
        """Rank what is neither labelled nor left out; ``labelled`` says of an index whether it is relevant.

        The same labels give the same ranking, whatever came before: nothing starts from an earlier fit. Raises
        InputError for an index that is not in the pool.
        """
        count = self.rows_.shape[0]
        given = sorted(labelled.items())
        known = np.array([index for index, _ in given], np.int64)
        kept_out = np.array(sorted(leave_out), np.int64)
        for indices in (known, kept_out):
            if len(indices) and not 0 <= indices[0] <= indices[-1] < count:
                raise InputError(f"index {indices[-1] if indices[0] >= 0 else indices[0]} of a pool of {count} records")
        is_relevant = np.array([bool(label) for _, label in given], bool)
        is_unread = np.ones(count, bool)
        is_unread[known] = is_unread[kept_out] = False
        unread = np.flatnonzero(is_unread)
        fits = self._fits(known, is_relevant, unread)
        scores, basis, coef = self._scores(fits, known, is_relevant, unread)
        pool = Pool(
            scores=scores,
            unread=unread,
            relevant=known[is_relevant],
            irrelevant=known[~is_relevant],
            rows=self.rows_ if self.vectors_ is None else self.vectors_,
            tie=self.tie_,
        )
        best = MaxRelevance().order(pool)
        order = best if isinstance(self.querier, MaxRelevance) else self.querier.order(pool)
        return Ranking(order, best, scores, basis, len(known), coef[:-1], float(coef[-1]))

    def _fits(self, known: np.ndarray, is_relevant: np.ndarray, unread: np.ndarray) -> tuple[np.ndarray, ...]:
        """Coefficients and intercept for each block; none where either class is empty, or all is read."""
        sample = unread[np.argsort(self.tie_[unread])[: self.sample]] if self.background > 0 else unread[:0]
        found, refused = int(is_relevant.sum()), int((~is_relevant).sum())
        if not found or not refused + len(sample) or not len(unread):
            return ()
        mass = min(self.background * max(1, refused) / found, MOST_BACKGROUND)
        fits: list[np.ndarray] = []
        for block in self._blocks():
            balancer, background = (self.balancer, sample) if not fits or not refused else (Ratio(), sample[:0])
            spread = np.full(len(background), mass / max(1, len(background)))
            machine = self.classifier.fit(
                block[np.r_[known, background]],
                np.r_[is_relevant, np.zeros(len(background), bool)],
                np.r_[balancer.weights(is_relevant), spread],
            )
            fits.append(np.append(machine.coef_, machine.intercept_))
        return tuple(fits)

    def _blocks(self) -> list[Any]:
        """The rows of each classifier."""
        if self.beside_ is not None:
            return [self.beside_, self.rows_]
        return [self.rows_] if self.vectors_ is None else [self.rows_, self.vectors_]

    def _scores(
        self, fits: tuple[np.ndarray, ...], known: np.ndarray, is_relevant: np.ndarray, unread: np.ndarray
    ) -> tuple[np.ndarray, str, np.ndarray]:
        """Scores of all records, what they rest on, and the words' coefficients with the offset after them."""
        words = len(self.featuriser.names_)
        if not fits:
            return *self._likeness(known, is_relevant, unread), np.zeros(words + 1)
        each = [block @ fit[:-1] + fit[-1] for block, fit in zip(self._blocks(), fits, strict=True)]
        coefs = [np.append(fit[:words], fit[-1]) for fit in fits]
        if self.beside_ is not None:
            lists, coef = each, coefs[0] + spread_ratio(each[0], each[1], unread) * coefs[1]
        else:
            lists, coef = [self._joined(each, unread)], coefs[0]
        found = known[is_relevant]
        if self._described is not None and len(found) < self.enough:
            lists.append(self._likeness(known[~is_relevant], np.zeros(len(known) - len(found), bool), unread)[0])
        return (
            in_turns(lists, unread, self.tie_, len(known) % len(lists)) if len(lists) > 1 else lists[0],
            "labels",
            coef,
        )

    def _likeness(self, known: np.ndarray, is_relevant: np.ndarray, unread: np.ndarray) -> tuple[np.ndarray, str]:
        """Likeness to what is relevant, or described, less a share of that to what is not; and what it rests on."""
        found, refused = known[is_relevant], known[~is_relevant]
        basis = "labels" if len(found) else "description" if self._described is not None else "irrelevant"
        if basis == "irrelevant" and not len(refused):
            return np.zeros(self.rows_.shape[0]), "nothing"
        scores = []
        for n, block in enumerate([self.rows_] if self.vectors_ is None else [self.rows_, self.vectors_]):
            wanted = self._described[n] if basis == "description" and self._described else _mean(block, found)
            scores.append(block @ (wanted - IRRELEVANT * _mean(block, refused)))
        return self._joined(scores, unread), basis

    def _joined(self, scores: Sequence[np.ndarray], unread: np.ndarray) -> np.ndarray:
        """The scores of all blocks in one, at an equal spread over the unread records; the sign keeps its meaning."""
        total = np.asarray(scores[0])
        if len(scores) > 1:
            total = total + self.meaning * spread_ratio(total, scores[1], unread) * scores[1]
        return total

    def explain(self, ranking: Ranking, index: int) -> Explanation:
        """What the words of a record say by a ranking of this model; nothing where no word had a say."""
        return explained(self.texts_[index], self.featuriser, ranking.coef) if ranking.coef.any() else Explanation()

    def to_record(self) -> dict[str, Any]:
        """Plain values for JSON: the parts' records and the parameters; nothing learned."""
        parts = {role: getattr(self, role).to_record() for role in _ROLES}
        plain = {name: getattr(self, name) for name in _PLAIN}
        if self.enough == ENOUGH:  # as in records from before there was a choice
            del plain["enough"]
        return {"format": FORMAT, **parts, **plain}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The model that a record describes; raises InputError for another format and for a value that cannot be."""
        if record.get("format") != FORMAT:
            raise InputError(f"format of the screening model: {record.get('format')!r}, expected {FORMAT}")
        if unknown := sorted(record.keys() - {"format", *_ROLES, *_PLAIN}):
            raise InputError(f"screening model: unknown field {unknown[0]!r}")
        parts: dict[str, Any] = {role: one_of(record.get(role), known, role) for role, known in _ROLES.items()}
        return cls(**parts, **{name: _plain(record, name) for name in _PLAIN if name in record})


def _mean(block: Any, rows: np.ndarray) -> np.ndarray:
    """Mean of some rows, zeros for none: float64 [features]."""
    return np.asarray(block[rows].mean(axis=0)).ravel() if len(rows) else np.zeros(block.shape[1])


_ROLES: dict[str, Mapping[str, type[Part]]] = {
    "featuriser": FEATURISERS,
    "classifier": CLASSIFIERS,
    "balancer": BALANCERS,
    "querier": QUERIERS,
}
_PLAIN: dict[str, type] = {
    "name": str,
    "meaning": float,
    "background": float,
    "sample": int,
    "keywords": float,
    "turns": bool,
    "enough": int,
    "seed": int,
}


def _plain(record: Mapping[str, Any], name: str) -> Any:
    value, kind = record[name], _PLAIN[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (isinstance(value, (int, float)) and not 0 <= value < float("inf")):
        raise InputError(f"{name} of the screening model: {value!r:.40} is not a {kind.__name__} from 0")
    return value
