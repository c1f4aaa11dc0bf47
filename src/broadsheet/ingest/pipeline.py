"""From a source into the store: is an entry new, of which paper, what is the paper now. One transaction a batch."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path

from broadsheet.ingest.derive import derive_from
from broadsheet.ingest.merge import Candidate, Intent, Judgements, decide
from broadsheet.ingest.reading import Reading, read
from broadsheet.model import (
    ImportSummary,
    Joined,
    Judgement,
    NoticeKind,
    PaperId,
    Record,
    RecordId,
    RecordKey,
    Refusal,
    Version,
)
from broadsheet.sources import Item
from broadsheet.sources.base import Line
from broadsheet.store import EncodedRecord, KnownRecord, PaperWrite, RecordWrite, Store, WriteBatch, encode_record
from broadsheet.text import title_fingerprint

MAX_REFUSALS = 100
"""Refusals that a summary lists; the rest are counted."""
MAX_JOINED = 1000
"""Records that joined a known paper which a summary lists; the rest are counted."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
LETTING_IN = 0.03
"""Seconds between two batches, at least: who waits for the store looks every 0.02 s whether it is free."""
PERSISTENCE = 120.0
"""Seconds that an import which has begun waits for those it let in, who may be at it for longer than one would wait for
an import."""
MAX_CANDIDATES = 50
"""Papers looked at for one record; a key that more papers share is no sign of identity."""


def file_digest(path: Path) -> str:
    """Names a file by its first megabyte, size and time of change, so that an import goes on where it stopped.

    The name does not count; a file that was changed anywhere is another one.
    """
    with path.open("rb") as file:
        head = file.read(1 << 20)
        status = os.fstat(file.fileno())
    return blake2b(head + f"|{status.st_size}|{status.st_mtime_ns}".encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class _Counter:
    read: int = 0
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    merged: int = 0
    withdrawn: int = 0
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    joined: list[Joined] = field(default_factory=list)

    def refuse(self, refusal: Refusal) -> None:
        self.refused += 1
        if len(self.refusals) < MAX_REFUSALS:
            self.refusals.append(refusal)

    def summary(self, seconds: float) -> ImportSummary:
        return ImportSummary(
            read=self.read,
            new=self.new,
            updated=self.updated,
            unchanged=self.unchanged,
            merged=self.merged,
            withdrawn=self.withdrawn,
            refused=self.refused,
            refusals=tuple(self.refusals),
            joined=tuple(self.joined),
            seconds=seconds,
        )


def import_items(
    store: Store,
    items: Iterable[Item],
    *,
    now: Callable[[], datetime],
    batch_size: int = 1000,
    progress_of: str = "",
    on_batch: Callable[[ImportSummary, Item], None] | None = None,
) -> ImportSummary:
    """Import entries. Each batch is stored whole or not at all, so an import may stop at any moment and begin again.

    With ``progress_of`` (see ``file_digest``) the store remembers until the end how many entries of this file are done
    (``Store.import_progress``), so that a source can skip them after an interruption. ``on_batch`` gets the summary so
    far and the batch's last item; KeyboardInterrupt passes through it and everywhere else, with all finished batches
    stored. Other writers, such as a reader who likes a paper, get in between two batches, and are waited for patiently.
    Raises BusyError, StoreError.
    """
    counter = _Counter()
    begun = time.monotonic()
    iterator = iter(items)
    released = -math.inf
    while batch := list(islice(iterator, batch_size)):
        time.sleep(max(0.0, released + LETTING_IN - time.monotonic()))
        # Counted in a copy, so that the counts are those of the stored batches whatever stops this one.
        following = replace(counter, refusals=list(counter.refusals), joined=list(counter.joined))
        with store.writing(PERSISTENCE if counter.read else None):
            _import_batch(store, batch, now(), progress_of, following)
        released = time.monotonic()
        counter = following
        if on_batch:
            on_batch(counter.summary(time.monotonic() - begun), batch[-1])
    if progress_of:
        with store.writing(PERSISTENCE if counter.read else None):
            store.write(WriteBatch(now(), progress=(progress_of, 0)))
    return counter.summary(time.monotonic() - begun)


def _import_batch(store: Store, items: Sequence[Item], now: datetime, progress_of: str, counter: _Counter) -> None:
    counter.read += len(items)
    incoming: dict[RecordKey, _Incoming] = {}
    judged: list[Judgement] = []
    for item in items:
        entry = _storable(item.entry)
        if isinstance(entry, Refusal):
            counter.refuse(entry)
        elif isinstance(entry, Judgement):
            judged.append(entry)
        elif (entry.source, entry.key) in incoming:
            _count_repeat(counter, incoming, entry)
        else:
            incoming[entry.source, entry.key] = _Incoming(entry, entry)
    if judged:
        _keep_judgements(store, judged, now, counter)  # before the records, which they place
    batch = _Batch(store, incoming)
    counter.unchanged += batch.unchanged
    batch.place()
    counter.new += batch.new
    counter.updated += batch.updated
    counter.merged += len(batch.joined)
    counter.withdrawn += batch.withdrawn
    progress = (progress_of, items[-1].ordinal + 1) if progress_of else None
    writes = batch.writes(now, progress)
    if writes.records or writes.papers or progress:
        given = store.write(writes).new_papers
        room = MAX_JOINED - len(counter.joined)
        counter.joined += [Joined(name, title, given.get(paper, paper)) for name, title, paper in batch.joins()[:room]]


def _keep_judgements(store: Store, judged: Sequence[Judgement], now: datetime, counter: _Counter) -> None:
    known = {(j.kind, frozenset((j.a, j.b))) for j in store.judgements()}
    fresh = [j for j in judged if (j.kind, frozenset((j.a, j.b))) not in known]
    store.write(WriteBatch(now, judgements=fresh))
    counter.new += len(fresh)
    counter.unchanged += len(judged) - len(fresh)


def _storable(entry: Line) -> Line:
    """A key with characters that no database takes (NUL, lone surrogates) gets U+FFFD in their place."""
    if not isinstance(entry, Record) or entry.key.isprintable():
        return entry
    return replace(entry, key=_UNSTORABLE.sub("\ufffd", entry.key))


@dataclass(frozen=True, slots=True)
class _Incoming:
    """An entry as it came, and as it is kept with what the same batch said of it before."""

    came: Record
    kept: Record

    def encoded(self) -> EncodedRecord:
        """The digest is that of the entry as it came, so that it is known next time."""
        encoded = encode_record(self.kept)
        return encoded if self.kept is self.came else replace(encoded, digest=encode_record(self.came).digest)


def _count_repeat(counter: _Counter, incoming: dict[RecordKey, _Incoming], entry: Record) -> None:
    """The same key twice in one batch: the later entry counts, as it would in a batch of its own."""
    key = entry.source, entry.key
    if incoming[key].came == entry:
        counter.unchanged += 1
    else:
        counter.updated += 1
        incoming[key] = _Incoming(entry, _keeping(entry, incoming[key].kept))


@dataclass(slots=True)
class _Member:
    """A record of a paper at hand. ``id`` None is a new one; ``encoded`` only if it is to be written."""

    reading: Reading
    id: RecordId | None
    encoded: EncodedRecord | None = None


class _Batch:
    """The papers that one batch touches, in memory: stored ones by their ids, new ones by numbers below 0."""

    def __init__(self, store: Store, incoming: dict[RecordKey, _Incoming]) -> None:
        self.store = store
        self.papers: dict[PaperId, dict[RecordKey, _Member]] = {}
        self.by_key: dict[object, set[PaperId]] = {}  # identifiers and match keys
        self.gone: dict[PaperId, PaperId] = {}
        self.touched: dict[PaperId, None] = {}
        self.links: set[tuple[PaperId, PaperId]] = set()
        self.fresh: PaperId = 0  # the number of the last new paper
        self.new = self.updated = self.unchanged = self.withdrawn = 0
        self.joined: list[tuple[RecordKey, PaperId]] = []
        self.known = _known(store, incoming)
        self.incoming: dict[RecordKey, tuple[Reading, EncodedRecord]] = {}
        self.judgements = Judgements()
        for key, entry in incoming.items():
            encoded = entry.encoded()
            known = self.known.get(key)
            if known and known.digest == encoded.digest:
                self.unchanged += 1
            else:
                self.incoming[key] = read(entry.kept), encoded
        if self.incoming:
            self._load()

    def _load(self) -> None:
        """Fetch everything that the batch may touch, in a number of queries that does not depend on its size."""
        readings = [reading for reading, _ in self.incoming.values()]
        # All of them: a record that comes in must not join two papers that a person held apart before.
        self.judgements = Judgements(self.store.judgements())
        identifiers = {i for reading in readings for i in reading.identifiers}
        keys = {key for reading in readings for key in reading.match_keys}
        claims = chain(self.store.claimants(identifiers).values(), self.store.papers_with_keys(keys).values())
        wanted = {paper for papers in claims if len(papers) <= MAX_CANDIDATES for paper in papers}
        wanted |= {self.known[key].paper_id for key in self.incoming if key in self.known}
        others = {other for key in self.incoming for other in self.judgements.named_with(key)}
        if others:
            wanted |= {stored.paper_id for stored in self.store.records_with_keys(others).values()}
        for paper, records in (self.store.records_of(wanted) if wanted else {}).items():
            self.papers[paper] = {}
            for stored in records:
                self._add(paper, _Member(read(stored.record), stored.id))

    def _add(self, paper: PaperId, member: _Member) -> None:
        self.papers[paper][member.reading.key] = member
        for key in _keys(member.reading):
            self.by_key.setdefault(key, set()).add(paper)

    def place(self) -> None:
        """Find each record its paper, in order."""
        for reading, encoded in self.incoming.values():
            self._place(reading, encoded)

    def _place(self, reading: Reading, encoded: EncodedRecord) -> None:
        known = self.known.get(reading.key)
        home = self._alive(known.paper_id) if known else None
        before = self.papers[home].pop(reading.key) if home is not None else None
        if before:
            reading, encoded = _with_what_was_known(reading, encoded, before.reading.record)
        intent = decide(reading, self._candidates(reading, home), self.judgements, home)
        paper = self._apply(intent)
        was_withdrawn = any(_is_withdrawn(member.reading.record) for member in self.papers[paper].values()) or (
            before is not None and _is_withdrawn(before.reading.record)
        )
        if home is not None and self._alive(home) != paper:
            self.touched[home] = None  # it lost a record and must be derived again
        self._add(paper, _Member(reading, known.record_id if known else None, encoded))
        self.touched[paper] = None
        self._link(paper, intent.linked)
        if known:
            self.updated += 1
        else:
            if _is_replacement(reading.record):
                self.updated += 1  # an update of a paper that was not known
            else:
                self.new += 1
            if intent.paper is not None:
                self.joined.append((reading.key, paper))
        self.withdrawn += _is_withdrawn(reading.record) and not was_withdrawn

    def _candidates(self, reading: Reading, home: PaperId | None) -> list[Candidate]:
        ids: set[PaperId] = {home} if home is not None else set()
        for key in _keys(reading):
            sharing = {self._alive(paper) for paper in self.by_key.get(key, ())}
            if len(sharing) <= MAX_CANDIDATES:
                ids |= sharing
        ids |= self._judged(reading.key)
        return [
            Candidate(i, tuple(m.reading for m in self.papers[i].values())) for i in sorted(ids) if i in self.papers
        ]

    def _judged(self, key: RecordKey) -> set[PaperId]:
        named = self.judgements.named_with(key)
        return {paper for paper, members in self.papers.items() if named & members.keys()} if named else set()

    def _alive(self, paper: PaperId) -> PaperId:
        while paper in self.gone:
            paper = self.gone[paper]
        return paper

    def _apply(self, intent: Intent) -> PaperId:
        if intent.paper is None:
            self.fresh -= 1
            self.papers[self.fresh] = {}
            return self.fresh
        for other in intent.merged:
            self._merge(other, intent.paper)
        return intent.paper

    def _merge(self, gone: PaperId, kept: PaperId) -> None:
        for member in self.papers.pop(gone).values():
            self._add(kept, member)
        self.gone[gone] = kept
        self.touched[kept] = None

    def _link(self, paper: PaperId, others: Iterable[PaperId]) -> None:
        self.links |= {(paper, other) for other in others}

    def joins(self) -> list[tuple[str, str, PaperId]]:
        """(record's name, title, paper) of every new record that joined a paper which others had made."""
        return [(":".join(key), self.incoming[key][0].title, self._alive(paper)) for key, paper in self.joined]

    def writes(self, now: datetime, progress: tuple[str, int] | None) -> WriteBatch:
        """The transaction that makes the store as this batch is."""
        papers = {self._alive(paper): None for paper in self.touched}
        records = [
            RecordWrite(member.encoded, paper, member.id)
            for paper in papers
            for member in self.papers[paper].values()
            if member.encoded
        ]
        links = {(self._alive(a), self._alive(b)) for a, b in self.links}
        return WriteBatch(
            now=now,
            records=records,
            papers=[paper_write(paper, [m.reading for m in self.papers[paper].values()]) for paper in papers],
            merged=[(gone, self._alive(gone)) for gone in self.gone if gone > 0],
            links=sorted((a, b) for a, b in links if a != b),
            progress=progress,
        )


def paper_write(paper: PaperId, readings: Sequence[Reading]) -> PaperWrite:
    """A paper derived from its records, with the keys under which others find it."""
    keys = dict.fromkeys(key for reading in readings for key in reading.match_keys)
    return PaperWrite(derive_from(paper, readings), tuple(keys))


def _keys(reading: Reading) -> list[object]:
    return [*reading.identifiers, *reading.match_keys]


def _known(store: Store, incoming: Iterable[RecordKey]) -> dict[RecordKey, KnownRecord]:
    by_source: dict[str, list[str]] = {}
    for source, key in incoming:
        by_source.setdefault(source, []).append(key)
    return {
        (source, key): known
        for source, keys in by_source.items()
        for key, known in store.known_records(source, keys).items()
    }


def _with_what_was_known(reading: Reading, encoded: EncodedRecord, before: Record) -> tuple[Reading, EncodedRecord]:
    """The record as it is kept. The digest stays that of the entry as it came, so that it is known next time."""
    kept = _keeping(reading.record, before)
    if kept == reading.record:
        return reading, encoded
    return read(kept), replace(encode_record(kept), digest=encoded.digest)


def _keeping(record: Record, before: Record) -> Record:
    """A record read again takes nothing back by leaving it out, and an older version does not replace a newer one.

    A page that shows no areas does not erase them, and a paper that is listed again was first listed before.
    """
    kept = before if record.version < before.version else record
    return replace(
        kept,
        areas=kept.areas or record.areas or before.areas,
        listed=min((day for day in (record.listed, before.listed) if day), default=None),
        published=min((day for day in (record.published, before.published) if day), default=None)
        if record.versions and before.versions
        else kept.published,
        versions=_all_versions(record, before),
        counts=tuple(sorted({**dict(before.counts), **dict(record.counts)}.items())),
        references=kept.references or before.references,
        added=min((moment for moment in (record.added, before.added) if moment), default=None),
        former_titles=_former_titles(kept.title, record, before),
    )


def _former_titles(title: str, record: Record, before: Record) -> tuple[str, ...]:
    """The titles an entry had, so that who looks for an old one still finds the paper."""
    known = [*before.former_titles, *record.former_titles]
    known += [r.title for r in (before, record) if not r.title_derived]
    others = {title_fingerprint(other): other for other in known if other}
    return tuple(other for print_, other in others.items() if print_ != title_fingerprint(title))


def _is_replacement(record: Record) -> bool:
    """Whether a list announced it as the new version of an old paper."""
    return any(name == "announced" and value.startswith("replace") for name, value in record.details)


def _is_withdrawn(record: Record) -> bool:
    return any(notice.kind is not NoticeKind.CONCERN for notice in record.notices)


def _all_versions(record: Record, before: Record) -> tuple[Version, ...]:
    days = {v.number: v.day for v in before.versions}
    for version in record.versions:
        days[version.number] = version.day or days.get(version.number)
    return tuple(Version(number, days[number]) for number in sorted(days))
