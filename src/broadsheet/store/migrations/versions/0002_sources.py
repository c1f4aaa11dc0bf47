"""How the sources stand, and who was asked about which paper."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "sources",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("cursor", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "lookups",
        sa.Column("service", sa.String(40), primary_key=True),
        sa.Column("value", sa.Text, primary_key=True),
        sa.Column("scheme", sa.String(20), primary_key=True),
        sa.Column("asked", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
