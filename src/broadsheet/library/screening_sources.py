"""Giving the sources of a review's records the names that a report prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model.screening import PoolSource, PoolSummary, Review, ReviewEvent, ReviewEventKind, SourceKind
from broadsheet.screen.sources import check_name, named, sources_of
from broadsheet.screen.state import State

Said = tuple[str, SourceKind | str | None]
"""What a source is called, and its kind; empty and None where nothing was said."""
NOTHING: Said = ("", None)


def check(called: str, kind: SourceKind | str | None) -> None:
    """Raises InputError for a name or a kind that cannot be."""
    check_name(called.strip(), _kind(kind) or "")


def numbers(state: State, source: int | str | Sequence[int]) -> list[int]:
    """The additions that are meant. Raises NotFoundError for none."""
    found = named(state, source) if isinstance(source, (int, str)) else list(source)
    if not found:
        known = ", ".join(f"{one.number} ({one.name})" for one in sources_of(state) if one.number) or "none"
        raise NotFoundError(f"the review “{state.review.name}” has no source {source!r}; it has: {known}")
    return found


def event(review: Review, additions: Sequence[int], said: Said, screener: str, moment: datetime) -> ReviewEvent:
    """The event that names additions, to be checked and written; its id is 0."""
    called, kind = said
    parts = {"additions": list(additions), "called": called.strip(), "kind": _kind(kind) or ""}
    detail = json.dumps({name: value for name, value in parts.items() if value}, ensure_ascii=False)
    return ReviewEvent(0, review.id, ReviewEventKind.SOURCE, screener, moment, detail=detail)


def poured(found: Sequence[PoolSource], summary: PoolSummary) -> list[int]:
    """The addition that a summary speaks of; where the file had been added before, all that came of it."""
    there = [one.number for one in found if one.source == summary.source]
    return there[-1:] if summary.entries else there


def _kind(kind: SourceKind | str | None) -> SourceKind | None:
    if not kind:
        return None
    try:
        return SourceKind(kind)
    except ValueError:
        raise InputError(f"a source is one of {', '.join(SourceKind)}, not {kind!r}") from None
