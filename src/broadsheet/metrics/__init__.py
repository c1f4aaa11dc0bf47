"""Measures: of a ranking against graded judgements (``metrics.ranking``), and of screening (``metrics.screening``)."""

from __future__ import annotations

from .ranking import Id, average_precision, mean, ndcg, precision, recall, reciprocal_rank, success

__all__ = ["Id", "average_precision", "mean", "ndcg", "precision", "recall", "reciprocal_rank", "success"]
