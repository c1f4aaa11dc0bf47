"""What the web room needs of a library: the part of ``library.Library`` that pages and the API call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from ..model import Hit, Paper, PaperId, Results, SourceStatus, Status, StoredRecord
from ..model.reading import (
    Action,
    Edition,
    Event,
    EventId,
    Interest,
    MemoryView,
    Period,
    Reader,
    SavedSearch,
    Today,
)
from .screening_protocol import ScreeningLike


class DailyLike(Protocol):
    """The daily paper: readers, their editions and what is remembered of them. ``name`` "" is the default reader.

    Methods raise NotFoundError for a reader that does not exist.
    """

    def reader(self, name: str = "") -> Reader:
        """A reader; the default one is made when it is missing."""
        ...

    def reader_by_secret(self, secret: str) -> Reader:
        """The reader to whom a secret address belongs."""
        ...

    def renew_secret(self, name: str = "") -> Reader:
        """The reader with a new secret; the old addresses end."""
        ...

    def follow(self, interest: Interest, name: str = "") -> Reader:
        """Follow something, as a person wrote it; raises InputError where it says nothing."""
        ...

    def meant(self, interest: Interest) -> Sequence[str]:
        """Sentences: how many papers of the library an interest means, and what may be wrong with it."""
        ...

    def unfollow(self, interest: Interest, name: str = "") -> Reader:
        """Follow something no longer."""
        ...

    def mute(self, interest: Interest, name: str = "") -> Reader:
        """Mute something; raises InputError where it says nothing."""
        ...

    def unmute(self, interest: Interest, name: str = "") -> Reader:
        """Mute something no longer."""
        ...

    def save_search(self, query: str, label: str = "", name: str = "") -> SavedSearch:
        """Keep a question whose new hits join the edition; raises InputError where it asks for nothing."""
        ...

    def drop_search(self, id: int, name: str = "") -> Reader:
        """Drop a saved search."""
        ...

    def set_options(
        self,
        name: str = "",
        *,
        risk: float | None = None,
        email: str | None = None,
        webhook: str | None = None,
        emphasis: Mapping[str, float] | None = None,
    ) -> Reader:
        """Change what is given; raises InputError for what is out of range."""
        ...

    def today(self, name: str = "") -> Today:
        """What to show now; prints the edition if one is due."""
        ...

    def edition(self, day: date, name: str = "") -> Edition:
        """The edition of a day; raises NotFoundError that names the nearest days."""
        ...

    def edition_days(self, name: str = "") -> Sequence[date]:
        """Days that have an edition, newest first."""
        ...

    def period(self, kind: str, day: date, name: str = "") -> Period:
        """The best of a ``week`` or ``month``; raises NotFoundError where it has no edition."""
        ...

    def act(
        self,
        action: Action,
        paper: int | str,
        name: str = "",
        *,
        because: Interest | None = None,
        edition: date | None = None,
        wait: float | None = None,
    ) -> Event:
        """Note what a reader did with a paper; what holds already is not noted again.

        ``wait`` is how many seconds to wait for another writer.
        """
        ...

    def undo(self, name: str = "", *, event: EventId | None = None) -> Event | None:
        """Take back an event, or the last thing done; None where there is nothing to take back."""
        ...

    def remembers(self, name: str = "") -> bool:
        """Whether anything that the reader did speaks in a paper's favour."""
        ...

    def marks(self, papers: Sequence[PaperId], name: str = "") -> Mapping[PaperId, Mapping[Action, EventId]]:
        """What holds of papers, each with the event that an undo takes back."""
        ...

    def saved(self, name: str = "", limit: int = 50, before: EventId | None = None) -> Sequence[tuple[Paper, Event]]:
        """Saved papers, newest first."""
        ...

    def examples(self, papers: Iterable[int | str], name: str = "") -> int:
        """Take papers as examples of what the reader likes; gives how many were new."""
        ...

    def examples_from_library(self, name: str = "", *, sources: Sequence[str] = ()) -> int:
        """Take every paper that the reader filed in a library of their own; gives how many were new."""
        ...

    def memory(self, name: str = "") -> MemoryView:
        """What the paper thinks the reader likes."""
        ...

    def forget(self, paper: int | str, name: str = "") -> Event:
        """Forget everything said about a paper."""
        ...

    def reset(self, name: str = "") -> Event:
        """Forget everything said so far."""
        ...

    def export(self, name: str = "") -> Mapping[str, Any]:
        """Profile, events and memory as JSON values."""
        ...

    def import_(self, record: Mapping[str, Any], name: str = "") -> Any:
        """Take what ``export`` gave; raises InputError naming the field."""
        ...

    def search_feed(self, search_id: int, name: str = "") -> Sequence[Paper]:
        """The newest hits of a saved search; raises NotFoundError."""
        ...


class LibraryLike(Protocol):
    """A library. Methods are called from worker threads, several at a time."""

    @property
    def daily(self) -> DailyLike:
        """The daily paper."""
        ...

    @property
    def screening(self) -> ScreeningLike:
        """Systematic reviews."""
        ...

    def search(
        self,
        text: str,
        *,
        page: int = 1,
        page_size: int | None = None,
        sort: str = "relevance",
        facets: Mapping[str, Sequence[str]] | None = None,
        reader: str | None = None,
    ) -> Results:
        """A page of results; raises InputError for a query that asks for nothing.

        ``reader`` names whose memory the order ``for-you`` goes by.
        """
        ...

    def paper(self, id_or_identifier: int | str) -> Paper:
        """A paper by its number or any identifier; a merged one gives the surviving paper. Raises NotFoundError."""
        ...

    def records(self, paper_id: PaperId) -> Sequence[StoredRecord]:
        """What each source said about a paper."""
        ...

    def similar(self, paper_id: PaperId, limit: int = 10, *, reader: str | None = None) -> Sequence[Hit]:
        """The papers nearest in meaning, best first; for a ``reader`` by that reader's memory, too."""
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
