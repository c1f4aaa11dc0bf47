"""What the tests of readers in the store share."""

from __future__ import annotations

from datetime import date

from hypothesis import HealthCheck, settings

from broadsheet.store import Store, WriteBatch
from tests.makers import record, write
from tests.reading_makers import NOW

THROUGH_THE_DATABASE = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def merge(store: Store, gone: int, kept: int) -> None:
    store.write(WriteBatch(NOW, merged=[(gone, kept)]))


def put_papers(store: Store, *days: date | None) -> None:
    """Papers with the ids 1, 2, … of these days."""
    write(store, *(record(f"P{i}", listed=day) for i, day in enumerate(days)))
