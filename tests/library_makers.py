"""What the tests of the facade share."""

from __future__ import annotations

from broadsheet.model import ImportSummary

SAMPLE = 139


def counts(summary: ImportSummary) -> tuple[int, int, int, int, int]:
    return summary.read, summary.new, summary.updated, summary.unchanged, summary.refused
