"""Orders in which reviews are read by rank: made by simulation once, and kept beside the other caches.

An order is made with the default screening model from one relevant and one irrelevant record: it learns, the next
records of its ranking are read (a twentieth of what has been read, at least one), it learns again. ``reversed`` reads
the bottom of the same ranking. The stopping simulations read along such an order: after a find of the audit it is not
learned anew, so that what an audit's find would teach the model is not counted in.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bench.common import CACHE, SHARED, VectorCache
from bench.screening_ranking import SHARE, Review, ours, priors, review
from broadsheet.learn.screening import model_of

ORDERS = CACHE / "orders"
SCREENING = SHARED / "data" / "screening"
PRIORS = 2
COLD = 20  # records read before the first find of a cold start


@dataclass(frozen=True)
class Course:
    """A review's labels in the order of the ranking, bool [records], priors first. ``kind`` is ``ranked``,
    ``reversed``, ``shuffled`` (labels dealt at random, priors aside) or ``cold`` (the first find comes late)."""

    review: str
    kind: str
    seed: int
    labels: np.ndarray

    @cached_property
    def relevant(self) -> int:
        """How many records are relevant."""
        return int(self.labels.sum())

    def shuffled(self) -> Course:
        """The same review with labels dealt at random among the records."""
        labels = self.labels.copy()
        np.random.default_rng([self.seed, 3]).shuffle(labels[PRIORS:])
        return Course(self.review, "shuffled", self.seed, labels)

    def cold(self) -> Course:
        """The same review where ``COLD`` irrelevant records, taken by lot, are read before the first find."""
        rng = np.random.default_rng([self.seed, 4])
        first = rng.choice(np.flatnonzero(~self.labels), COLD, replace=False)
        labels = np.concatenate([np.zeros(COLD, bool), np.delete(self.labels, first)])
        return Course(self.review, "cold", self.seed, labels)


def reviews() -> list[str]:
    """Names of the reviews, in alphabetical order."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in SCREENING.glob("*.jsonl.gz"))


def course(name: str, kind: str, seed: int, folder: Path = ORDERS) -> Course:
    """The review read with this seed; made if it is not there yet for the model's present parameters."""
    made_by = hashlib.sha256(json.dumps(model_of().to_record(), sort_keys=True).encode()).hexdigest()[:8]
    path = folder / f"{name}-{kind}-{seed}-{made_by}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        one = review(name, VectorCache())
        order = backwards(one, seed) if kind == "reversed" else ours(one, seed, SHARE)[0]
        np.savez(path, labels=one.labels[order])
    return Course(name, kind, seed, np.load(path)["labels"].astype(bool))


def backwards(one: Review, seed: int) -> list[int]:
    """The order of reading the bottom of each ranking: int [records]."""
    model = model_of(seed=seed).fit_features(one.texts, one.vectors)
    order = priors(one.labels, seed)
    while len(order) < len(one.labels):
        ranking = model.rank({n: bool(one.labels[n]) for n in order}).relevance_order
        order += ranking[::-1][: max(1, int(len(order) * SHARE))].tolist()
    return order
