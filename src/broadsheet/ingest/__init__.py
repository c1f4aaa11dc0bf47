"""Import: which records are new, which paper each belongs to, what a paper is; and keeping the indexes up to date."""

from broadsheet.ingest.derive import derive
from broadsheet.ingest.encoding import encode_pending, forget_gone, passage_text, pending, pending_count
from broadsheet.ingest.grouping import Grouper, group, record_of_pool
from broadsheet.ingest.indexing import Follower, drain, index_document, rebuild
from broadsheet.ingest.judge import merge_papers, split_record
from broadsheet.ingest.merge import Candidate, Intent, Judgements, decide
from broadsheet.ingest.pipeline import file_digest, import_items
from broadsheet.ingest.pooling import contradictions, day_of, details_of, pool_record
from broadsheet.ingest.reading import Reading, read
from broadsheet.ingest.schedule import TROUBLED, next_run, time_of

__all__ = [
    "TROUBLED",
    "Candidate",
    "Follower",
    "Grouper",
    "Intent",
    "Judgements",
    "Reading",
    "contradictions",
    "day_of",
    "decide",
    "derive",
    "details_of",
    "drain",
    "encode_pending",
    "file_digest",
    "forget_gone",
    "group",
    "import_items",
    "index_document",
    "merge_papers",
    "next_run",
    "passage_text",
    "pending",
    "pending_count",
    "pool_record",
    "read",
    "rebuild",
    "record_of_pool",
    "split_record",
    "time_of",
]
