"""The tables. Portable between SQLite and PostgreSQL; changed only together with a migration (``migrations/versions``).

Truth: ``records``, ``judgements``, ``aliases``, ``relations``, ``imports``, ``sources``, ``lookups``, and what readers
did and were given: ``readers``, ``events``, ``editions``, ``shown``, ``deliveries``; and systematic reviews:
``reviews``, ``review_records``, ``review_events``. Derived from the records and made again whenever one changes:
``papers``, ``identifiers``, ``match_keys``. ``changes`` is the outbox that the index is fed from.

Ids are given by ``counters``, not by the database's own sequences: a paper's id is never used twice, even after the
last paper was merged away; and because the counter's row is locked until the transaction ends, numbers of the change
log become visible in their own order, so that a reader who has seen number n has seen all before it (a PostgreSQL
sequence does not promise that).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

SCHEMA_VERSION = "0004"
"""The newest revision in ``migrations/versions``."""

COUNTERS = ("paper", "record", "change", "judgement", "event", "review")

metadata = MetaData()

counters = Table(
    "counters",
    metadata,
    Column("name", String(20), primary_key=True),  # one of COUNTERS
    Column("value", BigInteger, nullable=False),  # the last number given
)

records = Table(
    "records",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("source", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("paper_id", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),  # 16 bytes, of everything in the record
    Column("seen", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("content", LargeBinary, nullable=False),  # the record as JSON, zstd
    Index("ix_records_source_key", "source", "key", unique=True),
    Index("ix_records_paper_id", "paper_id"),
)

papers = Table(
    "papers",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("day", Integer, nullable=False),  # date.toordinal() of Paper.day; 0 if it has none, so that it sorts last
    Column("year", Integer),
    Column("text_digest", BigInteger, nullable=False),  # 64 bits of title and abstract, as a signed number
    Column("document", Text, nullable=False),  # JSON
    Index("ix_papers_day_id", "day", "id"),
)

identifiers = Table(
    "identifiers",
    metadata,
    Column("value", Text, primary_key=True),
    Column("scheme", String(20), primary_key=True),
    Column("paper_id", BigInteger, primary_key=True, autoincrement=False),
    Index("ix_identifiers_paper_id", "paper_id"),
    sqlite_with_rowid=False,
)

match_keys = Table(
    "match_keys",
    metadata,
    Column("hash", BigInteger, primary_key=True, autoincrement=False),  # 64 bits of the key, as a signed number
    Column("paper_id", BigInteger, primary_key=True, autoincrement=False),
    Index("ix_match_keys_paper_id", "paper_id"),
    sqlite_with_rowid=False,
)

aliases = Table(
    "aliases",
    metadata,
    Column("gone", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("kept", BigInteger, nullable=False),
    Index("ix_aliases_kept", "kept"),
)

relations = Table(  # each pair in both directions
    "relations",
    metadata,
    Column("paper_id", BigInteger, primary_key=True, autoincrement=False),
    Column("other_id", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

judgements = Table(
    "judgements",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),
    Column("source_a", Text, nullable=False),
    Column("key_a", Text, nullable=False),
    Column("source_b", Text, nullable=False),
    Column("key_b", Text, nullable=False),
    Column("made", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("why", Text, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("paper_id", BigInteger, nullable=False),
)

imports = Table(
    "imports",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("ordinal", BigInteger, nullable=False),  # entries done
    Column("seen", BigInteger, nullable=False),  # microseconds since 1970, UTC
)

sources = Table(
    "sources",
    metadata,
    Column("name", Text, primary_key=True),
    Column("cursor", Text, nullable=False),  # where to go on, in the source's own words
    Column("document", Text, nullable=False),  # SourceStatus as JSON
)

lookups = Table(
    "lookups",
    metadata,
    Column("service", String(40), primary_key=True),
    Column("value", Text, primary_key=True),
    Column("scheme", String(20), primary_key=True),
    Column("asked", BigInteger, nullable=False),  # microseconds since 1970, UTC
    sqlite_with_rowid=False,
)

readers = Table(
    "readers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("secret", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the secret, which is looked up by it
    Column("created", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("profile", Text, nullable=False),  # Profile as JSON
    Index("ix_readers_digest", "digest", unique=True),
)

events = Table(  # append-only; a reader's go with the reader
    "events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("reader", Text, nullable=False),
    Column("action", String(20), nullable=False),
    Column("paper_id", BigInteger, nullable=False),  # as it was called then, see aliases; 0 where it is about no paper
    Column("made", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("because", Text),  # Interest as JSON
    Column("edition", Integer),  # date.toordinal()
    Column("undoes", BigInteger, nullable=False),  # an event, or 0
    Index("ix_events_reader_id", "reader", "id"),
    Index("ix_events_reader_paper_id", "reader", "paper_id"),
)

editions = Table(  # never changed
    "editions",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),  # date.toordinal()
    Column("content", LargeBinary, nullable=False),  # Edition as JSON with its papers as they were, zstd
)

shown = Table(  # each entry of an edition once more, for questions about many editions
    "shown",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),  # of the edition
    Column("position", Integer, primary_key=True, autoincrement=False),  # in the whole edition, from 0
    Column("paper_id", BigInteger, nullable=False),  # as it was called then, see aliases
    Column("section", Text, nullable=False),  # the section's key
    Column("propensity", Double, nullable=False),
    Column("explored", Boolean, nullable=False),
    Index("ix_shown_reader_paper_id", "reader", "paper_id"),
    sqlite_with_rowid=False,
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),  # of the edition
    Column("channel", String(40), primary_key=True),
    Column("state", String(20), nullable=False),
    Column("message", Text, nullable=False),
    Column("made", BigInteger, nullable=False),  # microseconds since 1970, UTC
    sqlite_with_rowid=False,
)

reviews = Table(
    "reviews",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("created", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("plan", Text, nullable=False),  # Plan as JSON, as the last event that carries one has it
    Index("ix_reviews_name", "name", unique=True),
)

review_records = Table(  # never changed; go with their review
    "review_records",
    metadata,
    Column("review", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1 without gaps
    Column("content", LargeBinary, nullable=False),  # PoolRecord as JSON, zstd
)

review_events = Table(  # append-only; go with their review
    "review_events",
    metadata,
    Column("review", BigInteger, primary_key=True, autoincrement=False),
    Column("id", BigInteger, primary_key=True, autoincrement=False),  # from 1 within the review
    Column("kind", String(20), nullable=False),
    Column("screener", Text, nullable=False),
    Column("made", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("record", Integer, nullable=False),  # a number of the review's records, or 0
    Column("stage", String(20), nullable=False),
    Column("label", String(20)),
    Column("chosen", String(20)),
    Column("reasons", Text),  # a list as JSON
    Column("note", Text, nullable=False),
    Column("other", Integer, nullable=False),  # a number of the review's records, or 0
    Column("undoes", BigInteger, nullable=False),  # an event of the review, or 0
    Column("model", Text, nullable=False),
    Column("place", Integer, nullable=False),
    Column("unread", Integer, nullable=False),
    Column("detail", Text, nullable=False),
    sqlite_with_rowid=False,
)
