"""Statements that hold for finite samples: confidence sequences, bounds on a declared risk, when to stop reading."""

from broadsheet.stats.advantage import AdvantageWatch
from broadsheet.stats.audit import AuditTest, audit_floor, blank_length, hypergeometric_value, hypergeometric_values
from broadsheet.stats.betting import (
    Bounds,
    difference_interval,
    difference_sequence,
    log_capital,
    mean_interval,
    mean_sequence,
)
from broadsheet.stats.recall import allowed_missing, check_share, needed
from broadsheet.stats.risk import controlled, monotone, risk_bound
from broadsheet.stats.totals import TotalTest

__all__ = [
    "AdvantageWatch",
    "AuditTest",
    "Bounds",
    "TotalTest",
    "allowed_missing",
    "audit_floor",
    "blank_length",
    "check_share",
    "controlled",
    "difference_interval",
    "difference_sequence",
    "hypergeometric_value",
    "hypergeometric_values",
    "log_capital",
    "mean_interval",
    "mean_sequence",
    "monotone",
    "needed",
    "risk_bound",
]
