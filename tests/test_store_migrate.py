"""Libraries of versions before are converted with all they hold, and look like new ones afterwards."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from broadsheet.errors import StoreError
from broadsheet.model import SourceStatus
from broadsheet.model.screening import Plan
from broadsheet.store import open_store, schema
from broadsheet.store.database import transaction
from broadsheet.store.migrate import run_migrations
from tests.makers import put, record
from tests.reading_makers import edition, reader
from tests.reading_makers import event as done
from tests.review_makers import NOW, decision

URL = "sqlite:///{}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "papers.db"


def schema_of(path: Path) -> dict[str, object]:
    engine = create_engine(URL.format(path))
    seen = inspect(engine)
    found: dict[str, object] = {}
    for table in seen.get_table_names():
        columns = [(c["name"], str(c["type"]), c["nullable"], c["primary_key"]) for c in seen.get_columns(table)]
        indexes = sorted((i["name"], tuple(i["column_names"]), i["unique"]) for i in seen.get_indexes(table))
        found[table] = (columns, indexes, seen.get_pk_constraint(table)["constrained_columns"])
    with engine.connect() as connection:
        found["without rowid"] = sorted(
            name
            for name, sql in connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            if "WITHOUT ROWID" in sql
        )
        found["counters are"] = sorted(connection.exec_driver_sql("SELECT name, value FROM counters").fetchall())
        found["version is"] = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    engine.dispose()
    return found


def test_migrations_make_the_same_tables_as_a_new_library(tmp_path: Path) -> None:
    open_store(URL.format(tmp_path / "new.db")).close()
    store = open_store(URL.format(tmp_path / "scratch.db"))
    store.close()
    (tmp_path / "scratch.db").unlink()
    with transaction(store.engine, "scratch", write=True) as connection:
        run_migrations(connection, "scratch")
    store.engine.dispose()
    migrated = schema_of(tmp_path / "scratch.db")
    assert migrated == schema_of(tmp_path / "new.db")
    assert migrated["version is"] == schema.SCHEMA_VERSION
    open_store(URL.format(tmp_path / "scratch.db")).close()


OF_VERSION_3 = ("readers", "events", "editions", "shown", "deliveries")
OF_VERSION_4 = ("reviews", "review_records", "review_events")
NEW_IN = {
    "0002": (("sources", "lookups"), ()),
    "0003": (OF_VERSION_3, ("event",)),
    "0004": (OF_VERSION_4, ("review",)),
}
"""The tables and the counters that each version added."""


def back_to(path: Path, version: str) -> None:
    """Make a library as a version before made it."""
    with sqlite3.connect(path) as old:
        for later, (tables, counters) in NEW_IN.items():
            if later > version:
                for table in tables:
                    old.execute(f"DROP TABLE {table}")
                for counter in counters:
                    old.execute("DELETE FROM counters WHERE name = ?", (counter,))
        old.execute("UPDATE alembic_version SET version_num = ?", (version,))
    old.close()


@pytest.mark.parametrize("version", ["0001", "0002", "0003"])
def test_a_library_of_a_version_before_is_converted_with_all_it_holds(path: Path, tmp_path: Path, version: str) -> None:
    with open_store(URL.format(path)) as made:
        put(made, record("How bees decide", "2401.00001", key="a"))
        made.set_source_state("huggingface", "page 2", SourceStatus("huggingface"))
        before = made.reading.add_reader(reader("you"))
        made.reading.add_event(done(name="you"))
    back_to(path, version)
    with pytest.raises(StoreError, match="another version"):
        open_store(URL.format(path), read_only=True)
    with open_store(URL.format(path)) as store:
        assert [paper.title for paper in store.iterate_papers()] == ["How bees decide"]
        assert store.source_states() == (
            {"huggingface": ("page 2", SourceStatus("huggingface"))} if version >= "0002" else {}
        )
        kept = [before] if version >= "0003" else []
        assert store.reading.readers() == kept
        store.set_source_state("huggingface", "", SourceStatus("huggingface"))
        assert list(store.source_states()) == ["huggingface"]
        me = store.reading.add_reader(reader())
        assert store.reading.readers() == [me, *kept]
        assert store.reading.add_event(done()).id == 1 + len(kept)
        assert store.reading.add_edition(edition(1)) == store.reading.last_edition("me")
        assert store.screening.add_review("Statins", Plan(), NOW).id == 1
        assert store.screening.add_event(decision(1)).id == 2
        put(store, record("How ants decide", key="b"))
        assert store.counts().papers == 2
    open_store(URL.format(tmp_path / "new.db")).close()
    converted, new = schema_of(path), schema_of(tmp_path / "new.db")
    assert {**converted, "counters are": 0} == {**new, "counters are": 0}
    assert sorted(dict(converted["counters are"])) == sorted(schema.COUNTERS)  # type: ignore[call-overload]


@pytest.mark.parametrize("table", [*OF_VERSION_3, *OF_VERSION_4])
def test_a_conversion_that_fails_leaves_the_library_as_it_was(path: Path, table: str) -> None:
    with open_store(URL.format(path)) as made:
        put(made, record("How bees decide", key="a"))
    back_to(path, "0002" if table in OF_VERSION_3 else "0003")
    with sqlite3.connect(path) as old:
        old.execute(f"CREATE TABLE {table} (mine)")
    old.close()
    before = schema_of(path)
    with pytest.raises(StoreError, match=f"{path.name}.*{table}"):
        open_store(URL.format(path))
    assert schema_of(path) == before
    with sqlite3.connect(path) as old:
        old.execute(f"DROP TABLE {table}")
    old.close()
    with open_store(URL.format(path)) as store:
        assert store.counts().papers == 1
        assert store.reading.readers() == []
        assert store.screening.reviews() == []
