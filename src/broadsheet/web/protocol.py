"""What the web room needs of a library: the part of ``library.Library`` that pages and the API call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Protocol

from ..model import Hit, Paper, PaperId, Results, SourceStatus, Status, StoredRecord


class LibraryLike(Protocol):
    """A library. Methods are called from worker threads, several at a time."""

    def search(
        self,
        text: str,
        *,
        page: int = 1,
        page_size: int | None = None,
        sort: str = "relevance",
        facets: Mapping[str, Sequence[str]] | None = None,
    ) -> Results:
        """A page of results; raises InputError for a query that asks for nothing."""
        ...

    def paper(self, id_or_identifier: int | str) -> Paper:
        """A paper by its number or any identifier; a merged one gives the surviving paper. Raises NotFoundError."""
        ...

    def records(self, paper_id: PaperId) -> Sequence[StoredRecord]:
        """What each source said about a paper."""
        ...

    def similar(self, paper_id: PaperId, limit: int = 10) -> Sequence[Hit]:
        """The papers nearest in meaning, best first."""
        ...

    def newest(self, limit: int = 60, before: tuple[date | None, PaperId] | None = None) -> Sequence[Paper]:
        """Papers by day, newest first, then by number, highest first; undated last; those after ``before``."""
        ...

    def days(self, limit: int = 100) -> Sequence[tuple[date, int]]:
        """Days that have papers, newest first, and how many."""
        ...

    def status(self) -> Status:
        """The state of the library."""
        ...

    def bibtex(self, paper_id: PaperId) -> str:
        """The paper's BibTeX entry."""
        ...

    def export(
        self,
        form: str,
        *,
        query: str = "",
        facets: Mapping[str, Sequence[str]] | None = None,
        ids: Sequence[PaperId] = (),
    ) -> Iterator[str]:
        """Papers as a file, in pieces: those that a search finds, or those of ``ids``.

        ``form`` is ``bibtex``, ``ris``, ``csl``, ``csv``, ``jsonl`` or ``markdown``; raises InputError for another.
        """
        ...

    def sources(self) -> Sequence[SourceStatus]:
        """How each configured source stands, in the order of the settings."""
        ...
