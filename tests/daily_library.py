"""Libraries with dated papers on made-up topics, for tests of the daily paper."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from broadsheet.library import Library
from broadsheet.model.reading import Edition
from tests.libraries import word, write_entries

START = date(2026, 3, 2)  # a Monday
TOPICS = {
    "rivers": "river boats current sediment delta floods channel estuary meander dredging".split(),  # noqa: SIM905
    "bees": "bees hive pollen nectar queen swarm foraging honeycomb apiary larvae".split(),  # noqa: SIM905
    "clocks": "clock pendulum escapement gears chronometer oscillation drift seconds balance mainspring".split(),  # noqa: SIM905
    "bread": "bread dough yeast oven crust flour fermentation gluten starter kneading".split(),  # noqa: SIM905
}
AREAS = {"rivers": "cs.RO", "bees": "cs.LG", "clocks": "cs.SY", "bread": "cs.CL"}


def day(n: int) -> date:
    """The n-th day."""
    return START + timedelta(days=n)


def morning(n: int, hour: int = 9) -> datetime:
    """On the n-th day, in the reader's zone."""
    return datetime(START.year, START.month, START.day, hour, tzinfo=UTC) + timedelta(days=n)


def paper(number: int, topic: str, n: int, **fields: Any) -> dict[str, Any]:
    """An entry of JSON Lines about a topic, listed on the n-th day; ``word(number)`` is its own."""
    rng = random.Random(number)
    words = TOPICS[topic]
    made = {
        "arxiv_id": f"26{1 + number // 90000:02}.{number % 90000 + 10000}",
        "title": f"{rng.choice(words).title()} and {rng.choice(words)} in the {topic} of {word(number)}",
        "authors": [f"Ana {word(number).title()}", f"Bo {word(number + 1).title()}"],
        "abstract": " ".join(rng.choice(words) for _ in range(40)) + f" with {word(number)}.",
        "categories": [AREAS[topic]],
        "listed": f"{day(n)}",
    }
    return made | fields


def listing(n: int, count: int = 12, first: int | None = None) -> list[dict[str, Any]]:
    """The papers of the n-th day, of every topic in turn."""
    start = n * 100 if first is None else first
    names = list(TOPICS)
    return [paper(start + i, names[i % len(names)], n) for i in range(count)]


def take(library: Library, entries: Sequence[dict[str, Any]], name: str = "papers") -> None:
    """Import entries."""
    path = library.settings.home / f"{name}.jsonl"
    library.import_files([write_entries(path, list(entries))])


def ids_of(library: Library) -> dict[str, int]:
    """Numbers of the library's papers by their titles."""
    return {one.title: one.id for one in library.store.iterate_papers()}


def of_topic(library: Library, topic: str) -> list[int]:
    """Numbers of the papers on a topic, in order."""
    return [one.id for one in library.store.iterate_papers() if f"in the {topic} of" in one.title]


def printed(edition: Edition | None) -> list[int]:
    """The papers of an edition in the order of printing."""
    assert edition is not None
    return [entry.paper.id for entry in edition.entries]


def homes(tmp_path: Path) -> Path:
    """A folder for a library."""
    return tmp_path / "home"
