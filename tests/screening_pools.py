"""Small pools of invented records for reviews: some about boats, which are relevant, the rest about bread."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.libraries import word


def is_relevant(number: int) -> bool:
    """Whether record ``number`` (from 1) is about boats: every fifth."""
    return number % 5 == 1


def title(number: int) -> str:
    """The title of a record; no two are alike."""
    return f"{'Slow boats' if is_relevant(number) else 'Fresh bread'} and the {word(number)} of {word(number + 500)}"


def abstract(number: int) -> str:
    """Its abstract."""
    if is_relevant(number):
        return f"Boats on the river are slow. We row {word(number)} boats against the current and measure their speed."
    return f"Bread from the oven is fresh. We bake {word(number)} loaves of rye and taste their crust in the morning."


def pool_file(path: Path, count: int = 20, *, start: int = 1, labels: dict[int, str] | None = None) -> Path:
    """A CSV of records ``start`` to ``start + count - 1``; ``labels`` fills the column ``included`` of some."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["title", "abstract", "authors", "year", *(["included"] if labels else [])])
        for number in range(start, start + count):
            row = [title(number), abstract(number), f"Chen, B{number}; Byron, Ada", 2000 + number % 20]
            rows.writerow([*row, *([labels.get(number, "")] if labels else [])])
    return path
