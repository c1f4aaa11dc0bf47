"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _key() -> sa.types.TypeEngine[int]:
    # In SQLite only INTEGER is the row's own number; BIGINT would be one more index.
    return sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create all tables."""
    counters = op.create_table(
        "counters",
        sa.Column("name", sa.String(20), primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(counters, [{"name": name, "value": 0} for name in ("paper", "record", "change", "judgement")])
    op.create_table(
        "records",
        sa.Column("id", _key(), primary_key=True, autoincrement=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("paper_id", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_records_source_key", "records", ["source", "key"], unique=True)
    op.create_index("ix_records_paper_id", "records", ["paper_id"])
    op.create_table(
        "papers",
        sa.Column("id", _key(), primary_key=True, autoincrement=False),
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("year", sa.Integer),
        sa.Column("text_digest", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("ix_papers_day_id", "papers", ["day", "id"])
    op.create_table(
        "identifiers",
        sa.Column("value", sa.Text, primary_key=True),
        sa.Column("scheme", sa.String(20), primary_key=True),
        sa.Column("paper_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_identifiers_paper_id", "identifiers", ["paper_id"])
    op.create_table(
        "match_keys",
        sa.Column("hash", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("paper_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_match_keys_paper_id", "match_keys", ["paper_id"])
    op.create_table(
        "aliases",
        sa.Column("gone", _key(), primary_key=True, autoincrement=False),
        sa.Column("kept", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_aliases_kept", "aliases", ["kept"])
    op.create_table(
        "relations",
        sa.Column("paper_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("other_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "judgements",
        sa.Column("id", _key(), primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("source_a", sa.Text, nullable=False),
        sa.Column("key_a", sa.Text, nullable=False),
        sa.Column("source_b", sa.Text, nullable=False),
        sa.Column("key_b", sa.Text, nullable=False),
        sa.Column("made", sa.BigInteger, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
    )
    op.create_table(
        "changes",
        sa.Column("seq", _key(), primary_key=True, autoincrement=False),
        sa.Column("paper_id", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "imports",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
