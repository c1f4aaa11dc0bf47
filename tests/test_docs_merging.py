"""The page on merging says what the code does."""

from __future__ import annotations

import re

from broadsheet.ingest import derive as _derive  # noqa: F401 - the package is named like its function
from broadsheet.ingest.derive import SOURCE_RANK
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "merging.md").read_text("utf-8")


def rows(text: str) -> list[str]:
    """The rows of the table of preferences."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lower().startswith("| field |"))
    return lines[start + 2 : next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))]


def test_the_table_of_preferences_is_that_of_the_code() -> None:
    code = (ROOT / "src" / "broadsheet" / "ingest" / "derive.py").read_text("utf-8")
    assert rows(PAGE) == rows(code)
    assert len(rows(PAGE)) > 10


def test_the_order_of_sources_is_that_of_the_code() -> None:
    sentence = re.search(r"Sources from the most careful on:\n\n(.+?)\n\n", PAGE, re.DOTALL)
    assert sentence
    named = re.findall(r"`([^`]+)`|(all others)", sentence[1])
    assert [name or "*" for name, _ in named] == list(SOURCE_RANK)
