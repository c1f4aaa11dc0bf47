"""What an index must do, and the query tree it is asked with. Backends stand behind the two protocols.

The tree belongs to this room, so that an index can be given to anyone who has no reader's syntax at all. A leaf is
either *scoring* (``Match``) or a *filter* (all others, score 0). Text in a leaf may be raw: backends fold and analyse
it as they did with the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..model import IndexDocument, PaperId

Ids: TypeAlias = npt.NDArray[np.int64]
Digests: TypeAlias = npt.NDArray[np.uint64]
Vectors: TypeAlias = npt.NDArray[np.float32]
Sort: TypeAlias = Literal["relevance", "newest", "oldest"]

TEXT_FIELDS = ("title", "abstract", "body", "authors", "topics", "titles", "forms")
"""Fields of ``Match``. ``body`` is title and abstract as one; ``topics`` areas, keywords and venue; ``titles`` other
titles; ``forms`` the exact forms of ``text.forms`` such as ``c++`` and ``gpt-4``, divided at spaces only."""

FACET_FIELDS = ("area", "subarea", "category", "venue", "code", "has", "identifier")
"""Fields of ``Facet``. ``subarea`` is ``area + SUBAREA_SEPARATOR + subarea``; ``category`` any area's or subarea's
bare name; ``code`` is ``yes`` or ``no``, ``has`` is ``abstract`` or ``pdf``. Compared folded, so that case and accents
do not matter."""

COUNTED_FACETS = ("area", "subarea", "venue", "year", "code")
"""Facets that ``TextIndex.facets`` counts."""

SUBAREA_SEPARATOR = "\x1f"

_STOP_WORDS = """
a an and are as at be but by for from if in into is it its no not of on or such that the their then there these they
this to was were which will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words that ``Match`` leaves out of ``any`` and ``all`` where other words remain."""


@dataclass(frozen=True, slots=True)
class Match:
    """Papers with the words of ``text`` in ``fields`` (name → boost).

    ``any``: at least one word. ``all``: every word, each in any of the fields. Both leave out stop words where other
    words remain. ``phrase``: the words one after the other within one field. A run of Chinese, Japanese or Korean
    characters counts as its overlapping pairs of characters, each pair adjacent. A word scores the sum over its fields
    of BM25 × boost. Text without any word matches nothing.
    """

    text: str
    fields: Mapping[str, float]
    mode: Literal["any", "all", "phrase"] = "any"


@dataclass(frozen=True, slots=True)
class All:
    """Papers that every child matches; scores add up. Without children: every paper."""

    children: tuple[TextQuery, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Papers that at least one child matches; scores add up. Without children: no paper."""

    children: tuple[TextQuery, ...]


@dataclass(frozen=True, slots=True)
class Exclude:
    """Papers that the child does not match; score 0."""

    child: TextQuery


@dataclass(frozen=True, slots=True)
class Filtered:
    """Papers that both match, with the score of ``child`` alone."""

    child: TextQuery
    filter: TextQuery


@dataclass(frozen=True, slots=True)
class YearIs:
    """Papers of the years ``low`` to ``high``, both included; None is open. Papers without a year never match."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class DayIs:
    """Papers of the days ``low`` to ``high``, both included; None is open. Undated papers never match."""

    low: date | None = None
    high: date | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """Papers that have ``value`` in a field of ``FACET_FIELDS``."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class HasCode:
    """Papers with a link to code."""


@dataclass(frozen=True, slots=True)
class IdIs:
    """Papers of these ids."""

    ids: tuple[PaperId, ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """Every paper."""


TextQuery: TypeAlias = Match | All | Either | Exclude | Filtered | YearIs | DayIs | Facet | HasCode | IdIs | Everything


@dataclass(frozen=True, slots=True)
class TextHits:
    """One page of matches, best first. ``scores`` are BM25 sums (0 where the sort is by date); ``total`` counts all
    matches."""

    ids: tuple[PaperId, ...]
    scores: tuple[float, ...]
    total: int


class TextIndex(Protocol):
    """An inverted index of papers. A cache: what it holds can always be made again from the store."""

    def apply(self, upserts: Sequence[IndexDocument], deletes: Sequence[PaperId], *, seq: int) -> None:
        """Write both and the applied ``seq`` as one durable commit.

        Raises:
            BusyError: another process is writing.
        """

    def add(self, upserts: Sequence[IndexDocument], deletes: Sequence[PaperId] = ()) -> None:
        """Write without a commit (for bulk); nothing is seen or kept before ``commit``."""

    def commit(self, seq: int) -> None:
        """Make all that was added durable and visible, with the applied ``seq``."""

    def applied_seq(self) -> int:
        """The ``seq`` of the last commit; 0 for a new index."""

    def count(self) -> int:
        """Number of papers."""

    def search(self, query: TextQuery, *, limit: int, offset: int = 0, sort: Sort = "relevance") -> TextHits:
        """A page of matches. Equal scores: ascending id. ``newest``/``oldest``: by day then id, undated papers last."""

    def facets(self, query: TextQuery, *, extra_ids: Sequence[PaperId] = ()) -> dict[str, dict[str, int]]:
        """How many papers of the query, together with ``extra_ids``, have each value of ``COUNTED_FACETS``."""

    def ids(self, query: TextQuery, limit: int | None = None) -> Ids:
        """Ids of all matches, ascending; the lowest ``limit`` of them where given."""

    def clear(self) -> None:
        """Take out all papers; as with ``add``, nothing is seen before ``commit``."""

    def verify(self) -> None:
        """Compare all files with their checksums.

        Raises:
            IndexDamagedError: bytes have changed, or a file is missing.
        """

    def optimise(self) -> None:
        """Wait for merges and drop files that are no longer used."""

    def close(self) -> None:
        """Give up the writer's lock; what was added but not committed is dropped."""


class VectorIndex(Protocol):
    """Vectors of papers by id, searched by cosine similarity."""

    def add(self, ids: Ids, digests: Digests, vectors: Vectors) -> None:
        """Store n vectors; a known id's vector is replaced. Durable on return."""

    def remove(self, ids: Ids) -> None:
        """Forget these ids; unknown ones are ignored."""

    def known(self) -> tuple[Ids, Digests]:
        """Ids (ascending) and the digests of the texts their vectors were made from."""

    def get(self, ids: Ids) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """Vectors float32[n, d] of unit length (zeros where not found) and the mask of those found."""

    def search(self, vector: Vectors, k: int, *, allowed: Ids | None = None) -> tuple[Ids, Vectors]:
        """The ``k`` best ids, of ``allowed`` where given, and their cosines, best first."""

    def reload(self) -> None:
        """See what another process has written."""

    def compact(self) -> None:
        """Write the files again without dead rows."""

    def __len__(self) -> int: ...
