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

_PARAMETERS: dict[str, Callable[[], dict[str, Any]]] = {
    DEFAULT: dict,
    "words": lambda: {"meaning": 0.0},
    "labels-only": lambda: {"meaning": 0.0, "background": 0.0, "keywords": 0.0, "balancer": Ratio()},
    "naive-bayes": lambda: {"classifier": NaiveBayes(), "meaning": 0.0},
}
_QUERIERS: dict[str, Callable[[int], Any]] = {
    "max-relevance": lambda seed: queriers.MaxRelevance(),
    "uncertainty": lambda seed: queriers.Uncertainty(),
    "random": lambda seed: queriers.Random(seed=seed),
    "mixed": lambda seed: queriers.Mixed(seed=seed),
    "anchors": lambda seed: queriers.Anchors(seed=seed),
}

COMPOSITIONS = tuple(_PARAMETERS)
"""``default``: words and vectors. ``words``: without an encoder. ``labels-only``: words, labelled records alone and a
fixed ratio, near to what ASReview's default does. ``naive-bayes``: words, for who wants it."""
QUERIERS = tuple(_QUERIERS)


def model_of(name: str = "", querier: str = "max-relevance", seed: int = 0) -> ScreeningModel:
    """A composition (empty: the default) with a querier; raises InputError for a name that is not known."""
    composition = name or DEFAULT
    if composition not in _PARAMETERS:
        raise InputError(f"no screening model {name!r}; there are {', '.join(COMPOSITIONS)}")
    if querier not in _QUERIERS:
        raise InputError(f"no querier {querier!r}; there are {', '.join(QUERIERS)}")
    return ScreeningModel(**_PARAMETERS[composition](), querier=_QUERIERS[querier](seed), name=composition, seed=seed)
