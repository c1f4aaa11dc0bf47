"""What the tests of reviews through the library share: a library, a review of twenty records, and a screener."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broadsheet.library import Library
from broadsheet.library.screening import Screening
from broadsheet.model.screening import Label, Plan
from tests.libraries import library_in
from tests.screening_pools import is_relevant, pool_file

INCLUDE, EXCLUDE, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
SEEDED = Plan(seed=7)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def screening(library: Library) -> Screening:
    return library.screening


@pytest.fixture
def boats(screening: Screening, tmp_path: Path) -> Screening:
    """A review of twenty records, of which 1, 6, 11 and 16 are relevant."""
    screening.create("boats", SEEDED)
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv")])
    return screening


def screen(screening: Screening, name: str, who: str = "", count: int = 10**6, **options: object) -> int:
    """Decide of what comes next as the records truly are; how many were decided."""
    for done in range(count):
        offer = screening.next(name, who, **options)  # type: ignore[arg-type]
        if offer is None:
            return done
        label = INCLUDE if is_relevant(offer.record.number) else EXCLUDE
        screening.decide(name, offer.record.number, label, who, offer=offer)
    return count


FIXTURES = (library, screening, boats)
