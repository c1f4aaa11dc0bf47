"""The database: schema, migrations, every SQL statement, and the change log."""

from broadsheet.store.codec import encode_record, text_digest
from broadsheet.store.store import Store, open_store
from broadsheet.store.types import Counts, EncodedRecord, KnownRecord, PaperWrite, RecordWrite, WriteBatch, Written

__all__ = [
    "Counts",
    "EncodedRecord",
    "KnownRecord",
    "PaperWrite",
    "RecordWrite",
    "Store",
    "WriteBatch",
    "Written",
    "encode_record",
    "open_store",
    "text_digest",
]
