"""A reader's profile, events and memory as plain values for JSON, and back into this or another library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import reduce
from typing import Any

from broadsheet.errors import InputError
from broadsheet.feed.options import checked_options
from broadsheet.feed.profile import normalised, same_interest, with_interest
from broadsheet.identifiers import parse_identifier
from broadsheet.learn.memory import replayed
from broadsheet.model import Identifier, Paper, PaperId
from broadsheet.model.reading import Action, Event, EventId, Interest, InterestKind, Profile, Reader, SavedSearch
from broadsheet.query import parse
from broadsheet.store import Store
from broadsheet.text import title_fingerprint

FORMAT = 1
_ADDRESSES = ("email", "webhook")

_Read = tuple[Event, PaperId, str, list[Identifier]]
"""An event as it was read, and its paper's number in the library that wrote it, its title and identifiers."""


def exported(store: Store, reader: Reader, events: Sequence[Event]) -> dict[str, Any]:
    """Everything of a reader but the secret and the editions."""
    papers = store.papers({event.paper for event in events if event.paper})
    profile = reader.profile
    return {
        "format": FORMAT,
        "reader": reader.name,
        "created": reader.created.isoformat(),
        "profile": {
            "follows": [_interest_record(one) for one in profile.follows],
            "mutes": [_interest_record(one) for one in profile.mutes],
            "searches": [
                {"id": one.id, "name": one.name, "query": one.query, "created": one.created.isoformat()}
                for one in profile.searches
            ],
            "risk": profile.risk,
            "emphasis": dict(profile.emphasis),
            "email": profile.email,
            "webhook": profile.webhook,
        },
        "events": [_event_record(event, papers.get(event.paper)) for event in events],
        "memory": replayed(events).to_record(),
    }


def _interest_record(interest: Interest) -> dict[str, str]:
    return {"kind": str(interest.kind), "value": interest.value}


def _event_record(event: Event, paper: Paper | None) -> dict[str, Any]:
    found: dict[str, Any] = {"id": event.id, "action": str(event.action), "moment": event.moment.isoformat()}
    if paper is not None:
        found["paper"] = {"id": paper.id, "title": paper.title, "identifiers": [str(one) for one in paper.identifiers]}
    if event.because:
        found["because"] = _interest_record(event.because)
    if event.edition:
        found["edition"] = event.edition.isoformat()
    if event.undoes:
        found["undoes"] = event.undoes
    return found


def imported(store: Store, reader: Reader, record: Mapping[str, Any]) -> dict[str, int]:
    """Take a record beside what the reader has; for who holds the store's lock.

    Papers are found by an identifier, else by number and title (in the library that wrote the record). The memory of
    the record is not read: it follows from the events. Raises InputError naming the field.
    """
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise InputError(
            f"format: {_field(record, 'format')!r}, expected {FORMAT}; give a file that `memory export` wrote"
        )
    profile, options = _profile({} if record.get("profile") is None else record["profile"])
    read = [_event(n, value) for n, value in enumerate(_list(record, "events"))]
    papers = _papers(store, [(number, title, names) for _, number, title, names in read])
    new, counts = _fresh(store.reading.events(reader.name), read, papers, reader.name)
    merged, counts["interests"] = _merged(reader.profile, profile, options)
    counts["events"] = store.reading.add_events(new, (reader.name, merged))
    return counts


def _fresh(
    stored: Sequence[Event], read: Sequence[_Read], papers: Sequence[PaperId | None], reader: str
) -> tuple[list[Event], dict[str, int]]:
    """The events read that are not stored yet, and the counts of ``imported``.

    An undo names what it takes back as that is called here (see ``add_events``), and goes where that is missing.
    """
    known = {(event.action, event.paper, event.moment): event.id for event in stored}
    numbers: dict[EventId, EventId] = {}
    new: list[Event] = []
    counts = {"events": 0, "known": 0, "missing": 0, "interests": 0}
    for (event, number, *_), paper in zip(read, papers, strict=True):
        undoes = numbers.get(event.undoes, 0) if event.action is Action.UNDO else 0
        if number and paper is None:
            counts["missing"] += 1
        elif same := known.get((event.action, paper or 0, event.moment)):
            counts["known"] += 1
            numbers[event.id] = same
        elif undoes or event.action is not Action.UNDO:
            new.append(replace(event, reader=reader, paper=paper or 0, undoes=undoes))
            numbers[event.id] = -len(new)
    return new, counts


def _papers(store: Store, asked: Sequence[tuple[PaperId, str, list[Identifier]]]) -> list[PaperId | None]:
    by_name = store.papers_with_identifiers({name for _, _, names in asked for name in names})
    by_number = store.papers({number for number, _, _ in asked if number})
    found: list[PaperId | None] = []
    for number, title, names in asked:
        paper = next((by_name[name] for name in names if name in by_name), None)
        same = by_number.get(number)
        if paper is None and same is not None and title_fingerprint(same.title) == title_fingerprint(title):
            paper = same.id
        found.append(paper)
    return found


def _merged(old: Profile, new: Profile, options: Mapping[str, Any]) -> tuple[Profile, int]:
    """Both profiles together, and how many interests and searches that added. What either mutes is not followed.

    Of the ``options`` those that the record gives replace what was set, an empty address apart.
    """
    mutes = reduce(with_interest, new.mutes, old.mutes)
    follows = tuple(
        one for one in reduce(with_interest, new.follows, old.follows) if not any(same_interest(one, m) for m in mutes)
    )
    searches = list(old.searches)
    for one in new.searches:
        if all(one.query != other.query for other in searches):
            searches.append(replace(one, id=max((other.id for other in searches), default=0) + 1))
    before = len(old.follows) + len(old.mutes) + len(old.searches)
    given = {name: value for name, value in options.items() if value or name not in _ADDRESSES}
    merged = replace(old, follows=follows, mutes=mutes, searches=tuple(searches), **given)
    return merged, max(0, len(follows) + len(mutes) + len(searches) - before)


def _profile(record: Any) -> tuple[Profile, dict[str, Any]]:
    """Interests and searches, and the options that are given: what is left out is not set back."""
    if not isinstance(record, Mapping):
        raise InputError("profile: expected an object")
    searches = []
    for n, one in enumerate(_list(record, "searches", "profile.")):
        where = f"profile.searches[{n}]"
        query = _text(one, "query", where)
        if parse(query).empty:
            raise InputError(f"{where}.query: {query!r} asks for nothing")
        name = _text(one, "name", where) or query
        searches.append(SavedSearch(n + 1, name, query, _moment(_field(one, "created"), f"{where}.created")))
    emphasis = record.get("emphasis")
    if emphasis is not None and not isinstance(emphasis, Mapping):
        raise InputError("profile.emphasis: expected an object")
    addresses = {name: _text(record, name, "profile") for name in _ADDRESSES if record.get(name) is not None}
    try:
        options = checked_options(record.get("risk"), emphasis=emphasis, **addresses)
    except InputError as error:
        raise InputError(f"profile: {error}") from error
    profile = Profile(
        tuple(_interest(one, f"profile.follows[{n}]") for n, one in enumerate(_list(record, "follows", "profile."))),
        tuple(_interest(one, f"profile.mutes[{n}]") for n, one in enumerate(_list(record, "mutes", "profile."))),
        tuple(searches),
    )
    return profile, options


def _event(n: int, record: Any) -> _Read:
    """An event without its paper; the paper's number in the library that wrote it, its title and identifiers."""
    where = f"events[{n}]"
    try:
        action = Action(_text(record, "action", where))
    except ValueError:
        raise InputError(f"{where}.action: {_field(record, 'action')!r} is none of {', '.join(Action)}") from None
    because = _field(record, "because")
    edition = _text(record, "edition", where)
    try:
        day = date.fromisoformat(edition) if edition else None
    except ValueError:
        raise InputError(f"{where}.edition: {edition!r} is no day such as 2026-12-01") from None
    event = Event(
        _number(record, "id", where),
        "",
        action,
        0,
        _moment(_field(record, "moment"), f"{where}.moment"),
        _interest(because, f"{where}.because") if because is not None else None,
        day,
        _number(record, "undoes", where) if _field(record, "undoes") is not None else 0,
    )
    paper = _field(record, "paper")
    if paper is None:
        if action not in {Action.RESET, Action.UNDO}:
            raise InputError(f"{where}.paper: missing; {action} is about a paper")
        return event, 0, "", []
    names = [found for text in _list(paper, "identifiers", f"{where}.paper.") if (found := parse_identifier(str(text)))]
    return event, _number(paper, "id", f"{where}.paper"), _text(paper, "title", f"{where}.paper"), [n for n, _ in names]


def _interest(record: Any, where: str) -> Interest:
    try:
        return normalised(Interest(InterestKind(_text(record, "kind", where)), _text(record, "value", where)))
    except ValueError:
        raise InputError(f"{where}.kind: {_field(record, 'kind')!r} is none of {', '.join(InterestKind)}") from None
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else None


def _list(record: Any, name: str, where: str = "") -> list[Any]:
    value = _field(record, name)
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{where}{name}: expected a list")
    return list(value)


def _text(record: Any, name: str, where: str) -> str:
    value = _field(record, name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}.{name}: expected text, not {value!r}")
    return value or ""


def _number(record: Any, name: str, where: str) -> int:
    value = _field(record, name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise InputError(f"{where}.{name}: expected a number, not {value!r}")
    return value


def _moment(value: Any, where: str) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {value!r} is no time such as 2026-12-01T06:30:00+00:00") from None
    if found.tzinfo is None:
        raise InputError(f"{where}: {value!r} has no time zone; add one, such as +00:00")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise InputError(f"{where}: {value!r} is beyond the years 1 to 9999") from None
