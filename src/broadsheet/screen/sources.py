"""Where the records of a pool came from, by the names that a report gives these sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from broadsheet.errors import InputError
from broadsheet.model.screening import PoolSource, ReviewEvent, ReviewEventKind, SourceKind
from broadsheet.screen.fold import Fold, added, detail_of

_LONGEST = 200


def sources_of(state: Fold) -> list[PoolSource]:
    """The additions to a pool in their order, those records first that were there before any (as number 0)."""
    additions = [event for event in state.events if event.kind is ReviewEventKind.ADD]
    called = _called(state, len(additions))
    before = len(state.records) - added(additions)
    found = _before(state, before)
    at = before
    for number, event in enumerate(additions, 1):
        count, said = added([event]), detail_of(event)
        first = state.records.get(at + 1)
        source = str(said.get("source") or (first.source if first and count else ""))
        name, kind = called.get(number, ("", SourceKind.DATABASE))
        refused = _count(event, said.get("refused", 0))
        found.append(PoolSource(number, source, name or source, kind, count + refused, count, refused, event.moment))
        at += count
    return found


def named(state: Fold, source: int | str) -> list[int]:
    """The numbers of the additions that somebody means: by number, by the file or search, or by the name it has.

    Empty where there is none.
    """
    found = [one for one in sources_of(state) if one.number]
    meant = [one.number for one in found if str(source) in (one.source, one.name)]
    if not meant and str(source).isdecimal():
        meant = [one.number for one in found if one.number == int(source)]
    return meant


def check_naming(state: Fold, event: ReviewEvent) -> None:
    """Raises InputError for a SOURCE event that names nothing, or what there is not."""
    additions = sum(one.kind is ReviewEventKind.ADD for one in state.events)
    for _ in _said(event, additions):
        pass


def check_name(name: str, kind: str) -> None:
    """Raises InputError for what a source cannot be called, and for a kind that there is not; either may be empty."""
    if len(name) > _LONGEST or not (name.isprintable() and name == name.strip()):
        raise InputError(f"a source's name must have 1 to {_LONGEST} printable characters, not {name!r}")
    if kind and kind not in list(SourceKind):
        raise InputError(f"a source is one of {', '.join(SourceKind)}, not {kind!r}")


def _before(state: Fold, count: int) -> list[PoolSource]:
    entries = Counter(state.records[number].source for number in range(1, count + 1))
    return [PoolSource(0, name, name, SourceKind.DATABASE, n, n, 0, None) for name, n in entries.items()]


def _called(state: Fold, additions: int) -> dict[int, tuple[str, SourceKind]]:
    """Name and kind of each addition that was given any: the last that was said."""
    found: dict[int, tuple[str, SourceKind]] = {}
    for event in state.events:
        if event.kind is ReviewEventKind.SOURCE:
            for number, name, kind in _said(event, additions):
                before = found.get(number, ("", SourceKind.DATABASE))
                found[number] = name or before[0], kind or before[1]
    return found


def _said(event: ReviewEvent, additions: int) -> Iterator[tuple[int, str, SourceKind | None]]:
    said = detail_of(event)
    numbers, name, kind = said.get("additions"), said.get("called", ""), said.get("kind", "")
    if not isinstance(numbers, list) or not numbers or not all(_is_number(one, additions) for one in numbers):
        raise InputError(f"event {event.id}: “additions” must be numbers of additions, from 1 to {additions}")
    if not isinstance(name, str) or not isinstance(kind, str):
        raise InputError(f"event {event.id}: “called” and “kind” must be texts")
    check_name(name, kind)
    if not (name or kind):
        raise InputError("give the source a name, or say of which kind it is")
    for number in numbers:
        yield number, name, SourceKind(kind) if kind else None


def _is_number(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _count(event: ReviewEvent, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"event {event.id}: “refused” in the detail of an addition must be a count")
    return value
