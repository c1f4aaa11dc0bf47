"""Readers, what they did, and the editions that were printed for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of the daily paper and the counter of its events."""
    counters = sa.table("counters", sa.column("name", sa.String), sa.column("value", sa.BigInteger))
    op.bulk_insert(counters, [{"name": "event", "value": 0}])
    op.create_table(
        "readers",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("profile", sa.Text, nullable=False),
    )
    op.create_index("ix_readers_digest", "readers", ["digest"], unique=True)
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
        sa.Column("reader", sa.Text, nullable=False),
        sa.Column("action", sa.String(20), nullable=False),
        sa.Column("paper_id", sa.BigInteger, nullable=False),
        sa.Column("made", sa.BigInteger, nullable=False),
        sa.Column("because", sa.Text),
        sa.Column("edition", sa.Integer),
        sa.Column("undoes", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_events_reader_id", "events", ["reader", "id"])
    op.create_index("ix_events_reader_paper_id", "events", ["reader", "paper_id"])
    op.create_table(
        "editions",
        sa.Column("reader", sa.Text, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "shown",
        sa.Column("reader", sa.Text, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("paper_id", sa.BigInteger, nullable=False),
        sa.Column("section", sa.Text, nullable=False),
        sa.Column("propensity", sa.Double, nullable=False),
        sa.Column("explored", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_shown_reader_paper_id", "shown", ["reader", "paper_id"])
    op.create_table(
        "deliveries",
        sa.Column("reader", sa.Text, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("channel", sa.String(40), primary_key=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("made", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
