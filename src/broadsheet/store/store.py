"""The store: every question to the database is a method here, every answer a value of the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date, datetime
from types import TracebackType

from sqlalchemy import Connection, Engine, Row, func, select, tuple_

from broadsheet.errors import ReadOnlyError, StoreError
from broadsheet.model import (
    Change,
    Identifier,
    Judgement,
    JudgementKind,
    Paper,
    PaperId,
    RecordKey,
    Scheme,
    SourceStatus,
    StoredRecord,
)
from broadsheet.store import migrate
from broadsheet.store import schema as s
from broadsheet.store.codec import (
    from_micros,
    hash64,
    record_from_json,
    status_from_json,
    status_to_json,
    to_micros,
    unpack,
    unsigned,
)
from broadsheet.store.database import (
    any_of,
    check_fit,
    file_of,
    hold,
    integrity_problems,
    make_engine,
    place_of,
    transaction,
)
from broadsheet.store.lock import FolderLock, ServerLock, WriterLock
from broadsheet.store.reading import ReaderStore
from broadsheet.store.reads import papers_by_id, with_relations
from broadsheet.store.screening import ScreeningStore
from broadsheet.store.types import Counts, KnownRecord, WriteBatch, Written
from broadsheet.store.writes import apply_batch, replace_lookups, replace_source

DEFAULT_TIMEOUT = 10.0
"""Seconds to wait for another writer."""


def open_store(url: str, *, read_only: bool = False, timeout: float = DEFAULT_TIMEOUT) -> Store:
    """Open the database at a URL (``sqlite:///path``, ``postgresql+psycopg://…``); its tables are made or migrated.

    ``read_only`` neither makes nor changes anything; NotFoundError if there is nothing. Raises BusyError if another
    process writes for longer than ``timeout`` seconds, StoreError if the file is no database of ours, damaged, or
    cannot be opened.
    """
    path = file_of(url)
    where = place_of(url)
    try:
        engine = make_engine(url, read_only=read_only, timeout=timeout)
    except OSError as error:
        raise StoreError(f"{where}: cannot be opened ({error}); check the folder's permissions") from error
    lock = WriterLock(FolderLock(path) if path else ServerLock(engine), timeout)
    store = Store(engine, lock, where, read_only=read_only)
    try:
        store._prepare()
    except BaseException:
        store.close()
        raise
    return store


class Store:
    """A database of records and papers; made by ``open_store``.

    Methods may be called from any thread. All raise StoreError (see ``errors``) when the database fails, is locked by
    another program (BusyError) or is closed. Only one process at a time can write, see ``writing``. ``reading`` has
    what concerns readers and their editions, ``screening`` what concerns systematic reviews.
    """

    def __init__(self, engine: Engine, lock: WriterLock, where: str, *, read_only: bool) -> None:
        self.engine = engine
        self.where = where
        self.read_only = read_only
        self.reading = ReaderStore(self._reading, self._writing)
        self.screening = ScreeningStore(self._reading, self._writing)
        self._lock = lock
        self._closed = False

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; may be called twice."""
        self._closed = True
        self.engine.dispose()

    def _prepare(self) -> None:
        with self._reading() as connection:
            if self.read_only:
                migrate.check(connection, self.where)
                return
            if migrate.version(connection, self.where) == s.SCHEMA_VERSION:
                return
        with self._writing() as connection:
            check_fit(connection, self.where)
            migrate.upgrade(connection, self.where)

    # Transactions

    def writing(self, timeout: float | None = None) -> AbstractContextManager[None]:
        """Keep other writers out, in this process and in others, for as long as the context lasts.

        Others are waited for ``timeout`` seconds (the store's own where it is None), then BusyError is raised.

        For who must decide on what is read before writing. Every writing method does it by itself.
        """
        self.check_writable()
        return hold(self._lock, self.where, timeout)

    def check_writable(self) -> None:
        """Raises ReadOnlyError where the library is open for reading only, StoreError where it is closed."""
        self._check_open()
        if self.read_only:
            raise ReadOnlyError(f"{self.where}: opened for reading only; open it for writing to change it")

    @property
    def patience(self) -> float:
        """How many seconds another writer is waited for."""
        return self._lock.timeout

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        self._check_open()
        with transaction(self.engine, self.where, write=False) as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self.writing(), transaction(self.engine, self.where, write=True, lock=self._lock) as connection:
            yield connection

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.where}: the library is closed; open it again")

    # Records

    def known_records(self, source: str, keys: Collection[str]) -> dict[str, KnownRecord]:
        """Which keys of a source are stored already."""
        r = s.records.c
        with self._reading() as connection:
            asked = select(r.key, r.id, r.digest, r.paper_id).where(r.source == source, any_of(connection, r.key, keys))
            return {row.key: KnownRecord(row.id, bytes(row.digest), row.paper_id) for row in connection.execute(asked)}

    def records_of(self, papers: Collection[PaperId]) -> dict[PaperId, list[StoredRecord]]:
        """The records of papers, oldest first; papers without any are left out."""
        found: dict[PaperId, list[StoredRecord]] = {}
        with self._reading() as connection:
            asked = select(s.records).where(any_of(connection, s.records.c.paper_id, papers)).order_by(s.records.c.id)
            for row in connection.execute(asked):
                found.setdefault(row.paper_id, []).append(_stored(row))
        return found

    def records_with_keys(self, keys: Collection[RecordKey]) -> dict[RecordKey, StoredRecord]:
        """Records by (source, key)."""
        r = s.records.c
        with self._reading() as connection:
            asked = select(s.records).where(
                any_of(connection, r.source, {source for source, _ in keys}),
                any_of(connection, r.key, {key for _, key in keys}),
            )
            found = [row for row in connection.execute(asked) if (row.source, row.key) in keys]
        return {(row.source, row.key): _stored(row) for row in found}

    def record(self, record_id: int) -> StoredRecord | None:
        """One record by its id."""
        with self._reading() as connection:
            row = connection.execute(select(s.records).where(s.records.c.id == int(record_id))).one_or_none()
        return _stored(row) if row else None

    def iterate_records(self, batch: int = 1000) -> Iterator[StoredRecord]:
        """All records by id. What is written meanwhile may or may not be among them."""
        last = 0
        while True:
            with self._reading() as connection:
                asked = select(s.records).where(s.records.c.id > last).order_by(s.records.c.id).limit(batch)
                rows = connection.execute(asked).all()
            if not rows:
                return
            yield from map(_stored, rows)
            last = rows[-1].id

    # Papers

    def papers(self, papers: Collection[PaperId]) -> dict[PaperId, Paper]:
        """Papers by the ids asked for; an id that was merged away gives the surviving paper, an unknown one nothing."""
        wanted = {int(paper) for paper in papers}
        with self._reading() as connection:
            found = papers_by_id(connection, wanted)
            missing = wanted - found.keys()
            if missing:
                asked = select(s.aliases).where(any_of(connection, s.aliases.c.gone, missing))
                kept = {row.gone: row.kept for row in connection.execute(asked)}
                survivors = papers_by_id(connection, set(kept.values())) if kept else {}
                found |= {gone: survivors[paper] for gone, paper in kept.items() if paper in survivors}
        return found

    def resolve(self, paper_id: PaperId) -> PaperId | None:
        """The id under which a paper lives today; None if there is no such paper."""
        with self._reading() as connection:
            if connection.scalar(select(s.papers.c.id).where(s.papers.c.id == int(paper_id))):
                return int(paper_id)
            kept: int | None = connection.scalar(select(s.aliases.c.kept).where(s.aliases.c.gone == int(paper_id)))
            return kept

    def papers_with_identifiers(self, identifiers: Collection[Identifier]) -> dict[Identifier, PaperId]:
        """The paper of each identifier; of several that claim one, the oldest."""
        return {identifier: claimants[0] for identifier, claimants in self.claimants(identifiers).items()}

    def claimants(self, identifiers: Collection[Identifier]) -> dict[Identifier, list[PaperId]]:
        """All papers with each identifier, oldest first: a DOI of a whole issue may stand in many records."""
        i = s.identifiers.c
        found: dict[Identifier, list[PaperId]] = {}
        with self._reading() as connection:
            asked = select(i.scheme, i.value, i.paper_id).where(
                any_of(connection, i.value, {x.value for x in identifiers})
            )
            for scheme, value, paper in connection.execute(asked.order_by(i.paper_id)):
                found.setdefault(Identifier(Scheme(scheme), value), []).append(paper)
        wanted = set(identifiers)
        return {identifier: papers for identifier, papers in found.items() if identifier in wanted}

    def papers_with_keys(self, match_keys: Collection[str]) -> dict[str, list[PaperId]]:
        """Papers that were written with a match key (title fingerprint and others), oldest first.

        By 64-bit hash: check them.
        """
        m = s.match_keys.c
        hashes = {hash64(key): key for key in match_keys}
        found: dict[str, list[PaperId]] = {}
        with self._reading() as connection:
            asked = select(m.hash, m.paper_id).where(any_of(connection, m.hash, hashes)).order_by(m.paper_id)
            for number, paper in connection.execute(asked):
                found.setdefault(hashes[number], []).append(paper)
        return found

    def newest(self, limit: int, before: tuple[date | None, PaperId] | None = None) -> list[Paper]:
        """Papers by day, then id, newest first, undated last; those after ``before`` in that order."""
        p = s.papers.c
        asked = select(p.id, p.document).order_by(p.day.desc(), p.id.desc()).limit(limit)
        if before:
            day, paper_id = before
            asked = asked.where(tuple_(p.day, p.id) < tuple_(day.toordinal() if day else 0, int(paper_id)))
        with self._reading() as connection:
            return with_relations(connection, [(row.id, row.document) for row in connection.execute(asked)])

    def days(self, limit: int) -> list[tuple[date, int]]:
        """The newest days that have papers, and how many."""
        p = s.papers.c
        asked = select(p.day, func.count()).where(p.day > 0).group_by(p.day).order_by(p.day.desc()).limit(limit)
        with self._reading() as connection:
            return [(date.fromordinal(day), count) for day, count in connection.execute(asked)]

    def iterate_papers(self, batch: int = 1000, *, after: PaperId = 0) -> Iterator[Paper]:
        """All papers by id, those after ``after``. What is written meanwhile may or may not be among them."""
        p, last = s.papers.c, after
        while True:
            with self._reading() as connection:
                asked = select(p.id, p.document).where(p.id > last).order_by(p.id).limit(batch)
                found = with_relations(connection, [(row.id, row.document) for row in connection.execute(asked)])
            if not found:
                return
            yield from found
            last = found[-1].id

    def text_digests(self, after_id: PaperId = 0, limit: int | None = None) -> list[tuple[PaperId, int]]:
        """(paper, unsigned 64-bit digest of its title and abstract) by id; tells which vectors are out of date."""
        p = s.papers.c
        asked = select(p.id, p.text_digest).where(p.id > after_id).order_by(p.id).limit(limit)
        with self._reading() as connection:
            return [(paper, unsigned(digest)) for paper, digest in connection.execute(asked)]

    def newest_ids(self) -> list[PaperId]:
        """The ids of all papers, newest first, undated last."""
        with self._reading() as connection:
            return list(connection.scalars(select(s.papers.c.id).order_by(s.papers.c.day.desc(), s.papers.c.id.desc())))

    # The change log and the rest

    def changes_since(self, seq: int, limit: int) -> list[Change]:
        """Entries of the change log after ``seq``, in order."""
        c = s.changes.c
        asked = select(c.seq, c.paper_id).where(c.seq > seq).order_by(c.seq).limit(limit)
        with self._reading() as connection:
            return [Change(*row) for row in connection.execute(asked)]

    def last_seq(self) -> int:
        """The last number of the change log; 0 if nothing was ever written."""
        with self._reading() as connection:
            return connection.scalar(select(s.counters.c.value).where(s.counters.c.name == "change")) or 0

    def sources(self) -> dict[str, int]:
        """Number of records by source, most first, equals by name."""
        count = func.count()
        question = select(s.records.c.source, count).group_by(s.records.c.source)
        with self._reading() as connection:
            found = [(row.source, row[1]) for row in connection.execute(question)]
        return dict(sorted(found, key=lambda pair: (-pair[1], pair[0])))  # servers differ in the order of names

    def counts(self) -> Counts:
        """How many papers, records and changes there are."""
        with self._reading() as connection:
            count = [
                connection.scalar(select(func.count()).select_from(t)) or 0 for t in (s.papers, s.records, s.changes)
            ]
        return Counts(*count)

    def judgements(self) -> list[Judgement]:
        """What people decided about pairs of records, in order."""
        with self._reading() as connection:
            rows = connection.execute(select(s.judgements).order_by(s.judgements.c.id)).all()
        return [
            Judgement(JudgementKind(r.kind), (r.source_a, r.key_a), (r.source_b, r.key_b), from_micros(r.made), r.why)
            for r in rows
        ]

    def import_progress(self, digest: str) -> int:
        """How many entries of a file (by its digest) an interrupted import has stored; 0 if there is none."""
        with self._reading() as connection:
            return connection.scalar(select(s.imports.c.ordinal).where(s.imports.c.digest == digest)) or 0

    def source_states(self) -> dict[str, tuple[str, SourceStatus]]:
        """(cursor, status) of every source that was ever asked, by name."""
        with self._reading() as connection:
            rows = connection.execute(select(s.sources)).all()
        return {row.name: (row.cursor, status_from_json(row.name, row.document)) for row in rows}

    def lookups(self, service: str, identifiers: Collection[Identifier]) -> dict[Identifier, datetime]:
        """When a service was last asked about each of these identifiers; those never asked about are left out."""
        t = s.lookups.c
        wanted = set(identifiers)
        with self._reading() as connection:
            asked = select(t.scheme, t.value, t.asked).where(
                t.service == service, any_of(connection, t.value, {i.value for i in wanted})
            )
            found = {Identifier(Scheme(r.scheme), r.value): from_micros(r.asked) for r in connection.execute(asked)}
        return {identifier: moment for identifier, moment in found.items() if identifier in wanted}

    def problems(self) -> list[str]:
        """What the database finds wrong with its own file; empty if it is sound."""
        with self._reading() as connection:
            return integrity_problems(connection)

    # Writes

    def write(self, batch: WriteBatch) -> Written:
        """Write a batch in one transaction; all of it or nothing."""
        with self._writing() as connection:
            return apply_batch(connection, batch)

    def set_source_state(self, name: str, cursor: str, status: SourceStatus) -> None:
        """Keep how a source stands and where to go on with it."""
        with self._writing() as connection:
            replace_source(connection, name, cursor, status_to_json(status))

    def add_lookups(self, service: str, identifiers: Collection[Identifier], now: datetime) -> None:
        """Keep that a service was asked about papers."""
        with self._writing() as connection:
            replace_lookups(connection, service, identifiers, to_micros(now))

    def add_judgement(self, kind: JudgementKind, a: RecordKey, b: RecordKey, *, now: datetime, why: str = "") -> None:
        """Keep a person's word about two records; it replaces an earlier one about the same two."""
        self.write(WriteBatch(now, judgements=[Judgement(kind, a, b, now, why)]))


def _stored(row: Row[tuple[object, ...]]) -> StoredRecord:
    return StoredRecord(row.id, row.paper_id, record_from_json(unpack(row.content)), from_micros(row.seen))
