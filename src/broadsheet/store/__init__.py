"""The database: schema, migrations, every SQL statement, and the change log."""

from broadsheet.store.codec import encode_record, text_digest
from broadsheet.store.reading import ReaderStore
from broadsheet.store.store import Store, open_store
from broadsheet.store.types import (
    Counts,
    Delivery,
    EncodedRecord,
    KnownRecord,
    PaperWrite,
    RecordWrite,
    ShownPaper,
    WriteBatch,
    Written,
)

__all__ = [
    "Counts",
    "Delivery",
    "EncodedRecord",
    "KnownRecord",
    "PaperWrite",
    "ReaderStore",
    "RecordWrite",
    "ShownPaper",
    "Store",
    "WriteBatch",
    "Written",
    "encode_record",
    "open_store",
    "text_digest",
]
