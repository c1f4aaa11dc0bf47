"""Which record to read next in a systematic review: featuriser, classifier, balancer and querier, and what they show.

The parts follow scikit-learn's conventions; each, and the model of them, has a small plain record (``to_record``,
``from_record``). A composition is a model by name.
"""

from __future__ import annotations

from .balancers import Even, Prevalence, Ratio
from .classifiers import NaiveBayes, SupportVectors
from .compositions import COMPOSITIONS, QUERIERS, REVISION, model_of
from .evidence import Explanation, Span
from .features import Words
from .model import Ranking, ScreeningModel
from .queriers import Anchors, MaxRelevance, Mixed, Random, Uncertainty

__all__ = [
    "COMPOSITIONS",
    "QUERIERS",
    "REVISION",
    "Anchors",
    "Even",
    "Explanation",
    "MaxRelevance",
    "Mixed",
    "NaiveBayes",
    "Prevalence",
    "Random",
    "Ranking",
    "Ratio",
    "ScreeningModel",
    "Span",
    "SupportVectors",
    "Uncertainty",
    "Words",
    "model_of",
]
