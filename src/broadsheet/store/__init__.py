"""The database: schema, migrations, every SQL statement, and the change log."""

from broadsheet.store.codec import encode_record, text_digest
from broadsheet.store.codec_screening import (
    plan_fields,
    plan_from_fields,
    plan_from_json,
    plan_to_json,
    pool_record_fields,
    pool_record_from_fields,
    review_event_fields,
    review_event_from_fields,
)
from broadsheet.store.reading import ReaderStore
from broadsheet.store.screening import ScreeningStore
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
    "ScreeningStore",
    "ShownPaper",
    "Store",
    "WriteBatch",
    "Written",
    "encode_record",
    "open_store",
    "plan_fields",
    "plan_from_fields",
    "plan_from_json",
    "plan_to_json",
    "pool_record_fields",
    "pool_record_from_fields",
    "review_event_fields",
    "review_event_from_fields",
    "text_digest",
]
