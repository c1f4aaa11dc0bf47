"""The records of a review: where they come from, how they stand, and what happened to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from broadsheet.errors import InputError
from broadsheet.library import screening_filling as filling
from broadsheet.library import screening_finding as finding
from broadsheet.library import screening_sources as naming
from broadsheet.library import screening_views as views
from broadsheet.library.screening_reviews import Ref, Reviews, now_utc
from broadsheet.library.screening_views import Screened
from broadsheet.model.screening import (
    PoolRecord,
    PoolSource,
    PoolSummary,
    PossibleRepeat,
    RecordNumber,
    ReviewEvent,
    SourceKind,
    Stage,
)
from broadsheet.screen.sources import sources_of
from broadsheet.sources import Item, read_file, read_stream

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

_FOUND = 1000


class Pools(Reviews):
    """Filling pools and looking at what is in them."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._compared: finding.Compared | None = None  # of the review that was asked for last

    def add_files(
        self,
        name: Ref,
        paths: Sequence[str | Path],
        *,
        screener: str = "",
        on_progress: filling.OnProgress | None = None,
        dry_run: bool = False,
        called: str = "",
        kind: SourceKind | None = None,
    ) -> list[PoolSummary]:
        """Add the records of files, each as a source of its own; what a file cannot give is in its summary.

        ``called`` and ``kind`` are for reports: what the sources are, as ``name_source`` says it; else they have the
        files' names and count as databases.

        A source cannot be taken out again: ``dry_run`` says what would be added, each file by itself, and adds nothing.
        Raises InputError for a file that cannot be read as a whole; those before it are in the pool then.
        """
        said = called, kind
        return [
            self._pour(
                name, filling.fill_of_items(self._items(path), _name(path), on_progress), screener, said, dry_run
            )
            for path in map(Path, paths)
        ]

    def add_stream(
        self,
        name: Ref,
        file: BinaryIO,
        source: str,
        *,
        screener: str = "",
        on_progress: filling.OnProgress | None = None,
        called: str = "",
        kind: SourceKind | None = None,
    ) -> PoolSummary:
        """Add the records of an open binary file, such as an upload or a pipe; ``source`` is its name, and ``called``
        and ``kind`` are as for ``add_files``."""
        items = read_stream(source, file, **self._limits())
        return self._pour(name, filling.fill_of_items(items, source, on_progress), screener, (called, kind))

    def add_search(
        self,
        name: Ref,
        query: str,
        *,
        facets: Mapping[str, Sequence[str]] | None = None,
        limit: int = _FOUND,
        screener: str = "",
    ) -> PoolSummary:
        """Add the best papers of the library for a question; where it finds more, the summary's problems say so."""
        return self._pour(name, filling.fill_of_search(self._library, query, facets, limit), screener)

    def add_saved_search(
        self, name: Ref, search_id: int, *, reader: str = "", limit: int = _FOUND, screener: str = ""
    ) -> PoolSummary:
        """Add the best papers for a search that a reader saved. Raises NotFoundError where there is none."""
        query = filling.saved_query(self._library, search_id, reader)
        return self.add_search(name, query, limit=limit, screener=screener)

    def add_papers(self, name: Ref, papers: Iterable[int | str], *, screener: str = "") -> PoolSummary:
        """Add papers of the library, by number or identifier. Raises NotFoundError before any is added."""
        found = filling.named_papers(self._library, papers)
        return self._pour(name, filling.fill_of_papers(found, "library"), screener)

    def sources(self, name: Ref) -> list[PoolSource]:
        """What was added to a pool, addition by addition, with the names that reports give these sources."""
        with self.desk(name) as desk:
            return sources_of(desk.state)

    def name_source(
        self,
        name: Ref,
        source: int | str | Sequence[int],
        called: str = "",
        kind: SourceKind | str | None = None,
        *,
        screener: str = "",
    ) -> ReviewEvent:
        """Say what a source is called in reports, such as “Web of Science”, or of which kind it is, or both.

        ``source`` is the number of an addition, or its file's name or the name it has: then all that have it are meant.
        The records keep the name of their file. Raises NotFoundError for a source that there is not.
        """
        review = self.review(name)
        with self.desk(review.id) as desk:
            numbers = naming.numbers(desk.state, source)
        return self._keep(review, [naming.event(review, numbers, (called, kind), self._who(screener), now_utc())])[0]

    def encode(
        self, name: Ref, on_progress: Callable[[int, int], None] = lambda done, total: None, **options: Any
    ) -> int:
        """Make the vectors that a review's records lack, by which the model ranks better; how many were made.

        ``options`` are ``workers`` and ``should_stop``, as for ``Library.encode``.
        """
        return self._desks.encode(self.review(name), on_progress=on_progress, **options)

    # Records and history

    def records(
        self,
        name: Ref,
        *,
        label: str = "",
        query: str = "",
        stage: Stage = Stage.ABSTRACT,
        screener: str | None = None,
        limit: int = 50,
        after: RecordNumber = 0,
    ) -> list[Screened]:
        """Records by number, only those after ``after``, with a ``label`` (``screening_views.LABELS``) and with all
        words of ``query`` in their texts, or with the identifier that it is. Raises InputError for another label.
        """
        if label not in views.LABELS:
            raise InputError(f"label: {label!r} is none of {', '.join(views.LABELS[1:])}")
        with self.desk(name) as desk:
            seen = views.View(desk.state, stage, self._viewer(screener))
            return seen.find(label, query, limit, after)

    def record(
        self, name: Ref, number: RecordNumber, *, stage: Stage = Stage.ABSTRACT, screener: str | None = None
    ) -> Screened:
        """One record. Raises NotFoundError."""
        with self.desk(name) as desk:
            return views.View(desk.state, stage, self._viewer(screener)).one(number)

    def named(self, name: Ref, key: str | int, *, limit: int = 20) -> list[PoolRecord]:
        """The records that somebody may mean by a number, an identifier (DOI, PubMed, arXiv) or words of the title.

        None where nothing is meant; several, up to ``limit``, where a person has to say which. Of records that repeat
        each other it is the first.
        """
        with self.desk(name) as desk:
            return finding.named(desk.state, str(key))[:limit]

    def possible_repeats(self, name: Ref, *, limit: int = 50, offset: int = 0) -> list[PossibleRepeat]:
        """Records that look like one and were not taken for it, the likest first: ``twin`` says that two are one,
        ``different`` that they are not, and then they are not listed any more."""
        with self.desk(name) as desk:
            state = desk.state
            held = self._compared
            if held is None or (held.review, held.records) != (state.review.id, len(state.records)):
                held = self._compared = finding.Compared.of(state)
            return list(islice(finding.possible_repeats(state, held.pairs), offset, offset + limit))

    def history(
        self, name: Ref, number: RecordNumber | None = None, *, screener: str | None = None
    ) -> list[ReviewEvent]:
        """What happened to a review, or to a record and those that it repeats; oldest first.

        A screener of a blinded review sees numbers of his or her own as ids (``screening_numbers``), and names events
        by them.
        """
        with self.desk(name) as desk:
            if number is not None:
                views.View(desk.state, Stage.ABSTRACT, "").one(number)
            viewer = self._viewer(screener)
            events, numbers = views.visible_history(desk.state, number, viewer), self._numbers(desk.state, viewer)
            return [numbers.shown(event) for event in events] if numbers else events

    def _items(self, path: Path) -> Iterator[Item]:
        return read_file(path, **self._limits())

    def _limits(self) -> dict[str, int]:
        settings = self._library.settings
        return {"max_entry_bytes": settings.max_entry_bytes, "max_authors": settings.max_authors}

    def _pour(
        self, name: Ref, fill: filling.Fill, screener: str, said: naming.Said = naming.NOTHING, dry: bool = False
    ) -> PoolSummary:
        review = self.review(name)
        if dry:
            return self._pourer.tried(review, fill)
        with self._writing():  # who may not write hears it before anything is compared
            naming.check(*said)
        summary = self._pourer.pour(review, fill, self._who(screener), now_utc())
        if any(said):
            self.name_source(review.id, naming.poured(self.sources(review.id), summary), *said, screener=screener)
        return summary


def _name(path: Path) -> str:
    """A file's name; bytes of it that are no UTF-8 are U+FFFD."""
    return path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
