"""Models by name, as a review's plan names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broadsheet.errors import InputError

from . import queriers
from .balancers import Ratio
from .classifiers import NaiveBayes
from .model import ScreeningModel

DEFAULT = "default"
BESIDE = 0.5  # the vectors' part, beside words, in what one classifier compares records by

_PARAMETERS: dict[str, Callable[[], dict[str, Any]]] = {
    DEFAULT: lambda: {"meaning": BESIDE, "turns": True},
    "words": lambda: {"meaning": 0.0},
    "labels-only": lambda: {"meaning": 0.0, "background": 0.0, "keywords": 0.0, "balancer": Ratio()},
    "naive-bayes": lambda: {"classifier": NaiveBayes(), "meaning": 0.0},
}
_FORMER: dict[str, Callable[[], dict[str, Any]]] = {**_PARAMETERS, DEFAULT: dict}
"""As compositions were in revision 1: a sum of scores by default, and a description that gave way to the first find."""
_QUERIERS: dict[str, Callable[[int], Any]] = {
    "max-relevance": lambda seed: queriers.MaxRelevance(),
    "uncertainty": lambda seed: queriers.Uncertainty(),
    "random": lambda seed: queriers.Random(seed=seed),
    "mixed": lambda seed: queriers.Mixed(seed=seed),
    "anchors": lambda seed: queriers.Anchors(seed=seed),
}

COMPOSITIONS = tuple(_PARAMETERS)
"""``default``: two classifiers whose orders take turns, one of words beside vectors with a background and one of words
from the labels alone; without vectors the first alone. ``words``: without an encoder. ``labels-only``: words, labelled
records alone and a fixed ratio, near to what ASReview's default does. ``naive-bayes``: words, for who wants it."""
QUERIERS = tuple(_QUERIERS)
REVISION = 2
"""Which form the compositions have now; the former ones are kept so that offers of that time can be made again."""


def model_of(
    name: str = "", querier: str = "max-relevance", seed: int = 0, *, revision: int = REVISION
) -> ScreeningModel:
    """A composition (empty: the default) with a querier; raises InputError for a name that is not known, and for a
    ``revision`` that there was not."""
    composition = name or DEFAULT
    if composition not in _PARAMETERS:
        raise InputError(f"no screening model {name!r}; there are {', '.join(COMPOSITIONS)}")
    if querier not in _QUERIERS:
        raise InputError(f"no querier {querier!r}; there are {', '.join(QUERIERS)}")
    if not 1 <= revision <= REVISION:
        raise InputError(f"no revision {revision} of the screening models; the last one is {REVISION}")
    made = {**_FORMER[composition](), "enough": 0} if revision == 1 else _PARAMETERS[composition]()
    return ScreeningModel(**made, querier=_QUERIERS[querier](seed), name=composition, seed=seed)
