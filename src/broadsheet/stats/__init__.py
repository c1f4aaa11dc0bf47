"""Statements that hold for finite samples: confidence sequences for bounded means, and bounds on a declared risk."""

from broadsheet.stats.betting import (
    Bounds,
    difference_interval,
    difference_sequence,
    log_capital,
    mean_interval,
    mean_sequence,
)
from broadsheet.stats.risk import controlled, monotone, risk_bound

__all__ = [
    "Bounds",
    "controlled",
    "difference_interval",
    "difference_sequence",
    "log_capital",
    "mean_interval",
    "mean_sequence",
    "monotone",
    "risk_bound",
]
