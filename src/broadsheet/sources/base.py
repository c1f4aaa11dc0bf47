"""What every reader of this room yields, and what every source and enricher is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

from broadsheet.model import Identifier, Judgement, Record, Refusal, Scheme, SourceState

if TYPE_CHECKING:
    from broadsheet.net import Client

Entry = Record | Refusal
Line = Record | Refusal | Judgement
"""What a file gives: an entry, or a person's decision in what ``broadsheet export`` wrote."""


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of an input.

    ``ordinal`` counts the entries before it, so an import that stopped resumes with ``skip=ordinal``. ``position`` is
    how many bytes of the file as it lies on the disk (compressed, if it is) were read so far, of ``total``.
    """

    ordinal: int
    position: int
    total: int | None
    entry: Line


@dataclass(frozen=True, slots=True)
class Limits:
    """What a single entry may be: ``max_entry_bytes`` of text, and ``max_authors``."""

    max_entry_bytes: int
    max_authors: int


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of a source. ``cursor`` says where to go on once its entries are stored, in the source's own words.

    ``remark`` is a sentence for the reader, ``newest`` the greatest id on the page, ``day`` the day it was announced,
    ``kind`` tells the parser which of a source's formats this is.
    """

    url: str
    body: bytes
    cursor: str
    remark: str = ""
    state: SourceState = SourceState.OK
    newest: str = ""
    day: date | None = None
    kind: str = ""


class Source(Protocol):
    """A place that publishes papers. ``fetch`` asks and never parses more than paging needs; ``parse`` is pure.

    ``fetch`` may be stopped after any page and begun again with that page's cursor; "" is the very beginning. It
    raises FetchError for what could not be had. ``parse`` raises InputError where a page is no such document at all.
    """

    kind: ClassVar[str]
    usage: ClassVar[str]
    name: str
    every: timedelta

    @classmethod
    def of(cls, rest: str) -> Self:
        """The source that stands in the settings as ``kind:rest``. Raises SettingsError with the remedy."""
        ...

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """Ask for what is new since ``cursor``."""
        ...

    def parse(self, page: Page) -> Iterator[Entry]:
        """The entries of a page."""
        ...


@runtime_checkable
class Rechecked(Source, Protocol):
    """A source with a second way to the same papers, for when the first lags behind."""

    def fetch_again(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """Ask for what is new in the second way."""
        ...


class Enricher(Protocol):
    """A service that knows more about papers whose identifiers are known."""

    name: str
    schemes: tuple[Scheme, ...]
    batch: int

    def fetch(self, client: Client, identifiers: Sequence[Identifier]) -> Iterator[Page]:
        """Ask about at most ``batch`` papers."""
        ...

    def parse(self, page: Page) -> Iterator[Entry]:
        """What the service says of them; ``key`` of a record is the identifier that was asked for."""
        ...


def too_long(size: int, limits: Limits) -> str:
    """Why an entry of ``size`` bytes is refused."""
    return f"{size} bytes, more than the {limits.max_entry_bytes} allowed (setting max_entry_bytes)"


def too_many_authors(count: int, limits: Limits) -> str:
    """Why an entry of ``count`` authors is refused."""
    return f"authors: {count} names, more than the {limits.max_authors} allowed (setting max_authors)"
