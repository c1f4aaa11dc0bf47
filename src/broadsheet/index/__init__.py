"""Indexes behind protocols: words (Tantivy) and vectors (flat files). Backends are loaded when they are opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .base import (
    COUNTED_FACETS,
    FACET_FIELDS,
    STOP_WORDS,
    SUBAREA_SEPARATOR,
    TEXT_FIELDS,
    All,
    DayIs,
    Either,
    Everything,
    Exclude,
    Facet,
    Filtered,
    HasCode,
    IdIs,
    Match,
    Sort,
    TextHits,
    TextIndex,
    TextQuery,
    VectorIndex,
    Weighted,
    YearIs,
)
from .words import match_phrase, match_words

if TYPE_CHECKING:
    from .tantivy_text import TantivyIndex
    from .vectors import FlatVectors

__all__ = [
    "COUNTED_FACETS",
    "FACET_FIELDS",
    "STOP_WORDS",
    "SUBAREA_SEPARATOR",
    "TEXT_FIELDS",
    "All",
    "DayIs",
    "Either",
    "Everything",
    "Exclude",
    "Facet",
    "Filtered",
    "HasCode",
    "IdIs",
    "Match",
    "Sort",
    "TextHits",
    "TextIndex",
    "TextQuery",
    "VectorIndex",
    "Weighted",
    "YearIs",
    "match_phrase",
    "match_words",
    "open_text_index",
    "open_vectors",
]


def open_text_index(folder: Path, *, heap_bytes: int = 64_000_000, threads: int = 1) -> TantivyIndex:
    """The text index in ``folder``, made if there is none.

    Raises:
        IndexDamagedError: the folder holds something else, an older format, or damaged files.
    """
    from .tantivy_text import TantivyIndex

    return TantivyIndex(folder, heap_bytes=heap_bytes, threads=threads)


def open_vectors(folder: Path, dimensions: int, encoder_id: str) -> FlatVectors:
    """The vectors of one encoder, in a folder of its own under ``folder``, made with the first write.

    Raises:
        IndexDamagedError: the files are damaged or were made with other dimensions.
    """
    from .vectors import FlatVectors

    return FlatVectors(folder, dimensions, encoder_id)
