"""The facade: each method hands on to the room that does the work."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from broadsheet.errors import IndexDamagedError, InputError, NotFoundError, StoreError
from broadsheet.identifiers import implied_identifiers, parse_identifier
from broadsheet.index import TextIndex, open_text_index
from broadsheet.ingest import Follower, drain, file_digest, import_items, merge_papers, rebuild, split_record
from broadsheet.library.background import Background, OnEdition
from broadsheet.library.checks import Check, run_checks
from broadsheet.library.daily import Daily
from broadsheet.library.exporting import selected_papers
from broadsheet.library.updating import Updater
from broadsheet.library.vectors import Pair, VectorService
from broadsheet.model import (
    Hit,
    ImportSummary,
    Paper,
    PaperId,
    RecordId,
    Results,
    SourceReport,
    SourceStatus,
    Status,
    StoredRecord,
)
from broadsheet.search import FOR_YOU, Boosts, Searcher, Tuning
from broadsheet.settings import Settings, load_settings
from broadsheet.sources import Item, read_file, read_stream
from broadsheet.sources.bibtex import to_bibtex
from broadsheet.sources.exported import export_judgement, export_record
from broadsheet.sources.writing import writer
from broadsheet.store import Store, open_store
from broadsheet.store.lock import FolderLock, WriterLock

if TYPE_CHECKING:
    from broadsheet.library.screening import Screening

ImportProgress = Callable[[int, int | None, str], None]
"""Told bytes read, bytes in all (None: unknown) and a note."""
_LARGEST_ID = 2**63 - 1  # what a database can hold


def open_library(
    home: str | Path | None = None,
    *,
    settings: Settings | None = None,
    read_only: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Library:
    """Open the library in ``home`` (see ``load_settings``), making it if there is none.

    ``say`` is told what takes time. Raises SettingsError, StoreError, and NotFoundError when ``read_only`` finds none.
    """
    return Library(settings or load_settings(home), read_only=read_only, say=say)


class Library:
    """One library: its papers, its index, its vectors. A context manager; methods may be called from any thread."""

    def __init__(self, settings: Settings, *, read_only: bool, say: Callable[[str], None]) -> None:
        self.settings = settings
        if not read_only:
            _make_folder(settings.home)
        self.store: Store = open_store(settings.database_url, read_only=read_only)
        self.vectors = VectorService(settings, self.store, say)
        self.updater = Updater(self)
        self._lock = threading.RLock()
        self._indexing = WriterLock(FolderLock(settings.index_dir / "text"), self.store.patience)
        self._index: TextIndex | None = None
        self._searcher: Searcher | None = None
        self._pair: Pair | None = None  # what the searcher has
        self._background: Background | None = None

    # Reading

    def search(
        self,
        text: str,
        *,
        page: int = 1,
        page_size: int | None = None,
        sort: str = "relevance",
        facets: Mapping[str, Sequence[str]] | None = None,
        reader: str | None = None,
        today: date | None = None,
    ) -> Results:
        """One page of results for a question in the reader's syntax (see ``query``).

        ``facets`` narrows by values of ``area``, ``subarea`` ("Theory · Learning Theory"), ``venue``, ``year`` and
        ``code``.
        ``sort`` is ``relevance``, ``newest``, ``oldest``, or ``for-you``: the first two hundred papers by relevance and
        by the memory of ``reader`` together, who must be named ("" is the default reader).
        ``today`` is what relative days count from. Raises InputError for a sort or facet that does not exist and for
        ``for-you`` without a reader, NotFoundError for a reader that does not, and IndexDamagedError.
        """
        size = self.settings.page_size if page_size is None else page_size
        day = today or datetime.now(UTC).date()
        liked = None if reader is None or sort != FOR_YOU else self.daily.likeness(reader)
        found = self.searcher.search(
            text, page=page, page_size=size, sort=sort, chosen=facets, likeness=liked, today=day
        )
        behind = self.pending_changes()
        return replace(found, notes=(*found.notes, _not_indexed(behind))) if behind else found

    def paper(self, key: int | str) -> Paper:
        """A paper by its number or any identifier; a merged one gives the surviving paper. Raises NotFoundError."""
        number = self._number(key)
        found = self.store.papers([number]) if number is not None else {}
        if number is None or number not in found:
            raise NotFoundError(f"there is no paper {key} in this library")
        return found[number]

    def records(self, paper_id: PaperId) -> list[StoredRecord]:
        """What each source said about a paper. Raises NotFoundError."""
        paper = self.paper(paper_id).id
        return self.store.records_of([paper])[paper]

    def similar(self, paper_id: PaperId, limit: int = 10, *, reader: str | None = None) -> tuple[Hit, ...]:
        """The papers nearest in meaning, best first; for a ``reader`` ("" is the default one) the nearest two hundred
        are put in the order of nearness and of that reader's memory together. Raises NotFoundError.
        """
        likeness = None if reader is None else self.daily.likeness(reader, neighbours=True)
        return self.searcher.similar(self.paper(paper_id), limit, likeness=likeness)

    def newest(self, limit: int = 60, before: tuple[date | None, PaperId] | None = None) -> list[Paper]:
        """Papers by day, newest first, then by number; undated last; only those after ``before``."""
        return self.store.newest(limit, before)

    def days(self, limit: int = 100) -> list[tuple[date, int]]:
        """Days that have papers, newest first, and how many."""
        return self.store.days(limit)

    def bibtex(self, paper_id: PaperId) -> str:
        """A paper's BibTeX entry. Raises NotFoundError."""
        return to_bibtex(self.paper(paper_id))

    def export_records(self) -> Iterator[dict[str, Any]]:
        """Every record, its entry as it came in ``raw``; ``import`` makes the same records of it again.

        ``paper`` and ``seen`` are for the reader. What people decided about records comes first, so that an import
        respects it.
        """
        yield from map(export_judgement, self.store.judgements())
        for stored in self.store.iterate_records():
            seen = stored.seen.isoformat()
            yield {**export_record(stored.record), "paper": stored.paper_id, "seen": seen}

    def export(
        self,
        form: str,
        *,
        query: str = "",
        facets: Mapping[str, Sequence[str]] | None = None,
        ids: Sequence[PaperId] = (),
    ) -> Iterator[str]:
        """Papers in a format for other programs (``sources.writing.FORMS``), piece by piece.

        Those with ``ids``; else what a question finds, as far as ``search`` has pages; else all there are. Raises
        InputError for an unknown format, NotFoundError for an unknown id, both before anything is given.
        """
        return writer(form)(selected_papers(self, query, facets, ids))

    def sources(self) -> list[SourceStatus]:
        """How each configured source stands, and when it is asked next."""
        return self.updater.statuses(_now())

    def status(self) -> Status:
        """How much there is, how much of it is indexed and has vectors. Opens no encoder."""
        counts = self.store.counts()
        return Status(
            home=str(self.settings.home),
            papers=counts.papers,
            records=counts.records,
            indexed=self.index.count(),
            pending_changes=self.pending_changes(),
            encoded=min(self.vectors.count(), counts.papers),
            encoder=self.vectors.in_service,
            encoder_note=self.vectors.note,
            details={"sources": self.store.sources(), **self._goings_on()},
        )

    def _goings_on(self) -> dict[str, Any]:
        found = self._background.details() if self._background else {}
        trouble = self.screening.trouble if "screening" in self.__dict__ else ""
        return found | {"screening_trouble": trouble} if trouble else found

    def pending_changes(self) -> int:
        """How many changes the text index does not have yet; all of them if it was made from another database."""
        applied, last = self.index.applied_seq(), self.store.last_seq()
        return last - applied if applied <= last else last

    def doctor(self) -> list[Check]:
        """Whether everything is in order, and what to do where it is not."""
        return run_checks(self)

    # Writing

    def import_files(self, paths: Sequence[Path], *, on_progress: ImportProgress | None = None) -> ImportSummary:
        """Read papers from files; known entries are skipped, and an import that was stopped goes on where it was.

        Raises InputError for a file that cannot be read as a whole, BusyError while another process writes.
        """
        total = ImportSummary()
        for path in paths:
            total += self._import_file(Path(path), on_progress)
        return total

    def import_stream(
        self, file: BinaryIO, name: str = "stdin", *, on_progress: ImportProgress | None = None
    ) -> ImportSummary:
        """Read papers from an open binary file that need not be seekable, such as a pipe; ``name`` names the source.

        Raises as ``import_files`` does; an import that was stopped begins again.
        """
        return self._import_items(lambda: read_stream(name, file, **self._limits()), "", on_progress)

    def import_sample(self) -> ImportSummary:
        """Read the papers that come with the package."""
        with as_file(files("broadsheet.data") / "sample.jsonl") as path:
            return self.import_files([path])

    def update(
        self, names: Sequence[str] = (), *, on_source: Callable[[SourceReport], None] = lambda report: None
    ) -> list[SourceReport]:
        """Ask every configured source (or those named) once for what is new; ``on_source`` is told of each.

        One source's failure is a report, not an error. Raises SettingsError where none is configured or one is unknown,
        BusyError while another process writes.
        """
        return self.updater.run(names, on_source=on_source)

    def merge(self, first: PaperId, second: PaperId, why: str = "") -> PaperId:
        """Say that two papers are one; later imports respect it. Returns the surviving paper."""
        with self.index_writer() as index:
            kept = merge_papers(self.store, self.paper(first).id, self.paper(second).id, now=_now(), why=why)
            drain(self.store, index)
        return kept

    def split(self, record_id: RecordId, why: str = "") -> PaperId:
        """Say that a record is not of its paper; later imports respect it. Returns the record's own paper."""
        if not 0 < record_id <= _LARGEST_ID:
            raise NotFoundError(f"no record {record_id}; it may have been mistyped")
        with self.index_writer() as index:
            made = split_record(self.store, record_id, now=_now(), why=why)
            drain(self.store, index)
        return made

    def encode(self, on_progress: Callable[[int, int], None] = lambda done, total: None, **options: Any) -> int:
        """Make the vectors that are lacking; returns how many were made (see ``VectorService.encode``)."""
        return self.vectors.encode(on_progress=on_progress, **options)

    def update_index(self, *, wait: float | None = None, should_stop: Callable[[], bool] = lambda: False) -> int:
        """Bring the text index up to the last change; returns how many changes there were.

        ``should_stop`` is asked between commits. Raises BusyError while another thread or process writes the index,
        after ``wait`` seconds (None: as long as the store waits).
        """
        with self.index_writer(wait) as index:
            return drain(self.store, index, should_stop=should_stop)

    def rebuild_index(self, on_batch: Callable[[int], None] | None = None) -> int:
        """Make the text index again from the database, whatever state it is in; returns the number of papers.

        An index that is sound answers until the new one is complete. Vectors whose files are damaged are removed.
        Raises BusyError while another thread or process writes the index.
        """
        with self._alone_at_index():
            self._drop_damaged_index()
            self.vectors.drop_damaged()
            with self.index_writer() as index:
                return rebuild(self.store, index, on_batch=on_batch)

    def start_background(self, on_edition: OnEdition | None = None) -> None:
        """Keep index and vectors up to date, ask the sources and print editions from threads, until ``close``.

        ``on_edition`` is told of every reader's newest edition at every look, about twice a minute.
        """
        if self._background is None:
            self._background = Background(self, on_edition)
            self._background.start()
            self.screening.start_background()

    def close(self) -> None:
        """Stop what runs in the background and close all files."""
        if self._background:
            self._background.stop()
        if "screening" in self.__dict__:  # made when it was first needed
            self.screening.close()
        self._close_index()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Parts that are opened when they are first needed

    @cached_property
    def daily(self) -> Daily:
        """The daily paper: readers, their editions and what is remembered of them."""
        return Daily(self)

    @cached_property
    def screening(self) -> Screening:
        """Systematic reviews: their records, what was decided of them, and when to stop."""
        from broadsheet.library.screening import Screening  # what only reviews need is loaded for them

        return Screening(self)

    @property
    def index(self) -> TextIndex:
        """The text index. It may be behind the store: see ``update_index``. Raises IndexDamagedError."""
        with self._lock:
            if self._index is None:
                self._index = open_text_index(self.settings.index_dir / "text", threads=2)
            return self._index

    @property
    def searcher(self) -> Searcher:
        """The search desk with the encoder in service; another one when that changes."""
        with self._lock:
            if self._searcher is None or self._pair is not self.vectors.opened():
                # Where a background prepares the encoder, words answer meanwhile; else it is opened here.
                pair = self._pair = self.vectors.opened() if self._background else self.vectors.answering()
                s = self.settings
                tuning = Tuning(s.weight_dense, s.weight_dense_cjk, Boosts(s.boost_title, s.boost_authors))
                preparing = self._background is not None and self._background.is_preparing()
                self._searcher = Searcher(
                    self.store,
                    self.index,
                    pair.vectors if pair else None,
                    pair.encoder if pair else None,
                    tuning,
                    why_words_alone="the encoder is being prepared" if preparing else "there is no encoder",
                )
            return self._searcher

    def _import_file(self, path: Path, on_progress: ImportProgress | None) -> ImportSummary:
        try:
            digest = "" if path.is_dir() else file_digest(path)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}); check its name and permissions") from error
        limits = self._limits()

        def items() -> Iterator[Item]:
            return read_file(path, **limits, skip=self.store.import_progress(digest) if digest else 0)

        return self._import_items(items, digest, on_progress)

    def _limits(self) -> dict[str, int]:
        return {"max_entry_bytes": self.settings.max_entry_bytes, "max_authors": self.settings.max_authors}

    def _import_items(
        self, items: Callable[[], Iterator[Item]], digest: str, on_progress: ImportProgress | None
    ) -> ImportSummary:
        def on_batch(summary: ImportSummary, last: Item) -> None:
            follower.notify()
            if on_progress:
                note = f"{summary.new:,} new" + (f", {summary.refused:,} refused" if summary.refused else "")
                on_progress(last.position, last.total, note)

        with self.index_writer() as index, Follower(self.store, index) as follower:
            return import_items(self.store, items(), now=_now, progress_of=digest, on_batch=on_batch)

    @contextmanager
    def index_writer(self, wait: float | None = None) -> Iterator[TextIndex]:
        """The index, for writing. Raises BusyError while another thread or process writes it, after ``wait`` seconds
        (None: as long as the store waits), and ReadOnlyError.

        It is a lock of its own, held by an import from end to end: the store's is free between two batches, for what
        readers and reviewers do. Who needs both takes this one first.
        """
        with self._alone_at_index(wait):
            index = self.index
            try:
                yield index
            finally:
                index.close()  # gives up the writer's lock; reading goes on

    def _alone_at_index(self, wait: float | None = None) -> AbstractContextManager[None]:
        self.store.check_writable()
        return self._indexing.hold(self.store.patience if wait is None else wait)

    def _drop_damaged_index(self) -> None:
        try:
            self.index.verify()
        except IndexDamagedError:
            self._close_index()
            shutil.rmtree(self.settings.index_dir / "text", ignore_errors=True)

    def _number(self, key: int | str) -> PaperId | None:
        if isinstance(key, int):
            return self.store.resolve(key) if 0 < key <= _LARGEST_ID else None
        found = parse_identifier(key)
        names = [found[0], *implied_identifiers(found[0])] if found else []
        return next(iter(self.store.papers_with_identifiers(names).values()), None) if names else None

    def _close_index(self) -> None:
        with self._lock:
            # A searcher that is dropped ends its threads itself: another thread may be searching with it.
            self._searcher = None
            if self._index is not None:
                self._index.close()
                self._index = None


def _now() -> datetime:
    return datetime.now(UTC)


def _make_folder(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{home}: cannot be made ({error.strerror}); choose another folder with --home") from error


def _not_indexed(behind: int) -> str:
    return (
        f"{behind:,} changes are not in the index yet and cannot be found; "
        "if this stays so, run: broadsheet doctor --rebuild-index"
    )
