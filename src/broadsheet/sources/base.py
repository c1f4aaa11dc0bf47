"""What every reader of this room yields."""

from __future__ import annotations

from dataclasses import dataclass

from broadsheet.model import Record, Refusal

Entry = Record | Refusal


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of an input.

    ``ordinal`` counts the entries before it, so an import that stopped resumes with ``skip=ordinal``. ``position`` is
    how many bytes of the file as it lies on the disk (compressed, if it is) were read so far, of ``total``.
    """

    ordinal: int
    position: int
    total: int | None
    entry: Entry


@dataclass(frozen=True, slots=True)
class Limits:
    """What a single entry may be: ``max_entry_bytes`` of text, and ``max_authors``."""

    max_entry_bytes: int
    max_authors: int


def too_long(size: int, limits: Limits) -> str:
    """Why an entry of ``size`` bytes is refused."""
    return f"{size} bytes, more than the {limits.max_entry_bytes} allowed (setting max_entry_bytes)"


def too_many_authors(count: int, limits: Limits) -> str:
    """Why an entry of ``count`` authors is refused."""
    return f"authors: {count} names, more than the {limits.max_authors} allowed (setting max_authors)"
