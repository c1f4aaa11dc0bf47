"""A person's word: these two papers are one, this record is of another paper.

It is kept by record and outlives every import.
"""

from __future__ import annotations

from datetime import datetime

from broadsheet.errors import NotFoundError
from broadsheet.ingest.pipeline import paper_write
from broadsheet.ingest.reading import read
from broadsheet.model import Judgement, JudgementKind, PaperId, RecordId, RecordKey, StoredRecord
from broadsheet.store import Store, WriteBatch


def _key(stored: StoredRecord) -> RecordKey:
    return stored.record.source, stored.record.key


def merge_papers(store: Store, a: PaperId, b: PaperId, *, now: datetime, why: str = "") -> PaperId:
    """Make two papers one: the older id stays, the other becomes its alias. Earlier splits of the two are taken back.

    Raises NotFoundError if either does not exist, StoreError.
    """
    with store.writing():
        ids = [store.resolve(a), store.resolve(b)]
        for asked, found in zip((a, b), ids, strict=True):
            if found is None:
                raise NotFoundError(f"no paper {asked}; it may have been mistyped")
        kept, gone = sorted(found for found in ids if found is not None)
        if kept == gone:
            return kept
        records = store.records_of([kept, gone])
        ours, theirs = [_key(r) for r in records[kept]], [_key(r) for r in records[gone]]
        apart = {frozenset((j.a, j.b)) for j in store.judgements() if j.kind is JudgementKind.SPLIT}
        pairs = [(x, y) for x in ours for y in theirs if frozenset((x, y)) in apart or (x, y) == (ours[0], theirs[0])]
        readings = [read(stored.record) for paper in (kept, gone) for stored in records[paper]]
        store.write(
            WriteBatch(
                now,
                papers=[paper_write(kept, readings)],
                merged=[(gone, kept)],
                judgements=[Judgement(JudgementKind.MERGE, x, y, now, why) for x, y in pairs],
            )
        )
        return kept


def split_record(store: Store, record_id: RecordId, *, now: datetime, why: str = "") -> PaperId:
    """Take a record out of its paper into one of its own, for good; the new paper's id.

    The rest keeps the paper's id, and what was merged into it stays its alias. A record that is alone already stays
    where it is. Raises NotFoundError if there is no such record, StoreError.
    """
    with store.writing():
        stored = store.record(record_id)
        if stored is None:
            raise NotFoundError(f"no record {record_id}; it may have been mistyped")
        rest = [other for other in store.records_of([stored.paper_id])[stored.paper_id] if other.id != stored.id]
        if not rest:
            return stored.paper_id
        written = store.write(
            WriteBatch(
                now,
                papers=[
                    paper_write(-1, [read(stored.record)]),
                    paper_write(stored.paper_id, [read(r.record) for r in rest]),
                ],
                moved=[(stored.id, -1)],
                judgements=[Judgement(JudgementKind.SPLIT, _key(stored), _key(other), now, why) for other in rest],
            )
        )
        return written.new_papers[-1]
