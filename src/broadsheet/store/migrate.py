"""Bringing a database to the schema of this version. Alembic is loaded only for one that has another version."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select

from broadsheet.errors import NotFoundError, StoreError
from broadsheet.store import schema

MIGRATIONS = Path(__file__).with_name("migrations")

_versions = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def version(connection: Connection, where: str) -> str:
    """The database's schema version; empty for a database without tables.

    Raises StoreError for one that another program made.
    """
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables and (schema.papers.name in tables or len(tables) == 1):
        return connection.scalar(select(_versions.c.version_num)) or ""
    if tables:
        raise StoreError(
            f"{where}: a database of another program (tables {', '.join(sorted(tables)[:3])} …); choose another file"
        )
    return ""


def check(connection: Connection, where: str) -> None:
    """Raise StoreError unless the database has exactly this version's schema, NotFoundError if it is empty."""
    found = version(connection, where)
    if not found:
        raise NotFoundError(f"{where}: an empty database; import something first")
    if found != schema.SCHEMA_VERSION:
        raise StoreError(
            f"{where}: made by another version of Broadsheet (schema {found}); open it once for writing to convert it"
        )


def upgrade(connection: Connection, where: str) -> None:
    """Create the tables, or migrate those of an older version.

    Raises StoreError if the database is from a newer version.
    """
    found = version(connection, where)
    if found == schema.SCHEMA_VERSION:
        return
    if not found:
        create(connection)
        return
    run_migrations(connection, where)


def create(connection: Connection) -> None:
    """All tables at once, as the migrations would make them one by one (a test compares the two)."""
    schema.metadata.create_all(connection)
    _versions.create(connection, checkfirst=True)
    connection.execute(insert(schema.counters), [{"name": name, "value": 0} for name in schema.COUNTERS])
    connection.execute(insert(_versions), {"version_num": schema.SCHEMA_VERSION})


def run_migrations(connection: Connection, where: str) -> None:
    """Run the migrations that are missing. Raises StoreError for a version that this program does not know."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StoreError(f"{where}: made by a newer version of Broadsheet ({error}); upgrade the program") from error
