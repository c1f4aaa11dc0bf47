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
    "YearIs",
    "count_vectors",
    "match_phrase",
    "match_words",
    "open_text_index",
    "open_vectors",
    "vectors_folder",
    "verify_vectors",
]


def open_text_index(folder: Path, *, heap_bytes: int = 64_000_000, threads: int = 1) -> TantivyIndex:
    """The text index in ``folder``, made if there is none.

    Raises:
        IndexDamagedError: the folder holds something else, an older format, or damaged files.
    """
    from .tantivy_text import TantivyIndex

    return TantivyIndex(folder, heap_bytes=heap_bytes, threads=threads)


def count_vectors(folder: Path, encoder_id: str) -> int:
    """How many vectors of an encoder there are under ``folder``, by their manifest alone; 0 where none can be read."""
    from .vectors import count_in

    return count_in(folder, encoder_id)


def verify_vectors(folder: Path) -> None:
    """Compare all files of one encoder's vectors with their checksums.

    Raises:
        IndexDamagedError: something cannot be read or has changed.
    """
    from .vectors import verify_in

    verify_in(folder)


def vectors_folder(encoder_id: str) -> str:
    """The name of the folder of an encoder's vectors."""
    from .vectors import folder_name

    return folder_name(encoder_id)


def open_vectors(folder: Path, dimensions: int, encoder_id: str) -> FlatVectors:
    """The vectors of one encoder, in a folder of its own under ``folder``, made with the first write.

    Raises:
        IndexDamagedError: the files are damaged or were made with other dimensions.
    """
    from .vectors import FlatVectors

    return FlatVectors(folder, dimensions, encoder_id)
