"""The records of a review: where they come from, how they stand, and what happened to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from broadsheet.errors import InputError
from broadsheet.library import screening_filling as filling
from broadsheet.library import screening_views as views
from broadsheet.library.screening_reviews import Ref, Reviews, now_utc
from broadsheet.library.screening_views import Screened
from broadsheet.model.screening import PoolSummary, RecordNumber, ReviewEvent, Stage
from broadsheet.sources import Item, read_file, read_stream

_FOUND = 1000


class Pools(Reviews):
    """Filling pools and looking at what is in them."""

    def add_files(
        self,
        name: Ref,
        paths: Sequence[str | Path],
        *,
        screener: str = "",
        on_progress: filling.OnProgress | None = None,
    ) -> list[PoolSummary]:
        """Add the records of files, each as a source of its own; what a file cannot give is in its summary.

        Raises InputError for a file that cannot be read as a whole; those before it are in the pool then.
        """
        return [
            self._pour(name, filling.fill_of_items(self._items(path), path.name, on_progress), screener)
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
    ) -> PoolSummary:
        """Add the records of an open binary file, such as an upload or a pipe; ``source`` is its name."""
        items = read_stream(source, file, **self._limits())
        return self._pour(name, filling.fill_of_items(items, source, on_progress), screener)

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
        words of ``query`` in their texts. Raises InputError for another label.
        """
        if label not in views.LABELS:
            raise InputError(f"label: {label!r} is none of {', '.join(views.LABELS[1:])}")
        with self.desk(name) as desk:
            seen = views.View(desk.state, stage, self._viewer(screener))
            return seen.find(label, query.casefold().split(), limit, after)

    def record(
        self, name: Ref, number: RecordNumber, *, stage: Stage = Stage.ABSTRACT, screener: str | None = None
    ) -> Screened:
        """One record. Raises NotFoundError."""
        with self.desk(name) as desk:
            return views.View(desk.state, stage, self._viewer(screener)).one(number)

    def history(
        self, name: Ref, number: RecordNumber | None = None, *, screener: str | None = None
    ) -> list[ReviewEvent]:
        """What happened to a review, or to a record and those that it repeats; oldest first."""
        with self.desk(name) as desk:
            if number is not None:
                views.View(desk.state, Stage.ABSTRACT, "").one(number)
            return views.visible_history(desk.state, number, self._viewer(screener))

    def _items(self, path: Path) -> Iterator[Item]:
        return read_file(path, **self._limits())

    def _limits(self) -> dict[str, int]:
        settings = self._library.settings
        return {"max_entry_bytes": settings.max_entry_bytes, "max_authors": settings.max_authors}

    def _pour(self, name: Ref, fill: filling.Fill, screener: str) -> PoolSummary:
        review = self.review(name)
        with self._writing():  # who may not write hears it before anything is compared
            pass
        return filling.pour(self._library.store, review.id, fill, self._who(screener), now_utc())
