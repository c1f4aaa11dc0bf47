"""A record as ``broadsheet export`` writes it, and read again without loss: the same record of the same source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import date, datetime
from typing import Any

from broadsheet.identifiers import parse_identifier
from broadsheet.model import (
    Area,
    Identifier,
    Judgement,
    JudgementKind,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Record,
    Version,
)
from broadsheet.sources.base import Limits, too_many_authors
from broadsheet.sources.values import FieldError

MARK = "broadsheet_record"
"""The field by which an entry is known to be an exported record; it holds the format's number."""
JUDGED = "broadsheet_judgement"
"""The same for a person's decision about two records."""
_FORMAT = 1
_OF_A_PAPER = {name: name for name in ("kind", "versions", "notices", "counts", "details", "added")}
_OF_A_PAPER["other_titles"] = "former_titles"


def export_record(record: Record) -> dict[str, Any]:
    """A record's fields as JSON has them; those that are empty are left out."""
    entry: dict[str, Any] = {MARK: _FORMAT}
    for field in fields(Record):
        value = getattr(record, field.name)
        if value and field.compare:
            write = _WRITERS.get(field.name)
            entry[field.name] = write(value) if write else value
    return entry


def exported_record(entry: dict[str, Any], limits: Limits) -> Record:
    """The record that ``export_record`` wrote; other fields are ignored. Raises FieldError."""
    _check_format(entry, MARK)
    values = {}
    for field in fields(Record):
        if field.name in entry and field.compare:
            read: Callable[[Any], Any] = _READERS.get(field.name, _text)
            try:
                values[field.name] = read(entry[field.name])
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise FieldError(f"{field.name}: not as `broadsheet export` writes it ({error})") from error
    missing = [name for name in ("source", "key", "raw") if not values.get(name)]
    if missing or not (values.get("title") or values.get("abstract")):
        raise FieldError(f"{missing[0] if missing else 'title'}: missing, though an exported record has one")
    record = Record(**values)
    if len(record.authors) > limits.max_authors:
        raise FieldError(too_many_authors(len(record.authors), limits))
    return record


def told_of_paper(entry: dict[str, Any]) -> dict[str, Any]:
    """What a line of ``broadsheet export --format jsonl`` tells beside the fields of any JSON. Raises FieldError."""
    values: dict[str, Any] = {}
    for name, field in _OF_A_PAPER.items():
        if name in entry:
            read: Callable[[Any], Any] = _READERS.get(field, _text)
            try:
                values[field] = read(entry[name])
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise FieldError(f"{name}: not as `broadsheet export` writes it ({error})") from error
    return values


def export_judgement(judgement: Judgement) -> dict[str, Any]:
    """A decision's fields as JSON has them."""
    return {
        JUDGED: _FORMAT,
        "kind": judgement.kind.value,
        "a": list(judgement.a),
        "b": list(judgement.b),
        "made": judgement.made.isoformat(),
        "why": judgement.why,
    }


def exported_judgement(entry: dict[str, Any]) -> Judgement:
    """The decision that ``export_judgement`` wrote. Raises FieldError."""
    _check_format(entry, JUDGED)
    try:
        (source_a, key_a), (source_b, key_b) = _texts(entry["a"]), _texts(entry["b"])
        kind, made = JudgementKind(_text(entry["kind"])), _moment(entry["made"])
        return Judgement(kind, (source_a, key_a), (source_b, key_b), made, _text(entry.get("why", "")))
    except (ValueError, TypeError, KeyError) as error:
        raise FieldError(f"{JUDGED}: not as `broadsheet export` writes it ({error})") from error


def _check_format(entry: dict[str, Any], mark: str) -> None:
    if entry[mark] != _FORMAT:
        raise FieldError(f"{mark}: format {entry[mark]!r} is of a newer Broadsheet; upgrade the program")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value.replace("\0", "")


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or abs(value) > 9999:
        raise TypeError("not a year")
    return value


def _true(value: Any) -> bool:
    if value is not True:
        raise TypeError("not true")
    return True


def _identifier(value: Any) -> Identifier:
    found = parse_identifier(_text(value))
    if found is None:
        raise ValueError(f"{value!r} is no identifier")
    return found[0]


def _link(value: Any) -> Link:
    url = _text(value["url"])
    if not url.startswith(("http://", "https://")):
        raise ValueError("a link must begin with http:// or https://")
    return Link(LinkKind(value["kind"]), url)


def _day(value: Any) -> date | None:
    return None if value is None else date.fromisoformat(_text(value))


def _version(value: Any) -> Version:
    return Version(_whole(value["number"]), _day(value.get("day")))


def _notice(value: Any) -> Notice:
    return Notice(NoticeKind(value["kind"]), _text(value.get("reason", "")), _day(value.get("day")))


def _named(value: Any, read: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((_text(name), read(found)) for name, found in dict(value).items())


def _count(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("not a whole number")
    return value


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError("a time without its offset from UTC")
    return moment


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _area(value: Any) -> Area:
    return Area(_text(value["name"]), _text(value.get("subarea", "")))


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "authors": list,
    "keywords": list,
    "former_titles": list,
    "identifiers": lambda found: [str(i) for i in found],
    "areas": lambda found: [{"name": a.name, "subarea": a.subarea} for a in found],
    "links": lambda found: [{"kind": link.kind.value, "url": link.url} for link in found],
    "published": date.isoformat,
    "listed": date.isoformat,
    "versions": lambda found: [{"number": v.number, "day": _iso(v.day)} for v in found],
    "notices": lambda found: [{"kind": n.kind.value, "reason": n.reason, "day": _iso(n.day)} for n in found],
    "counts": dict,
    "details": dict,
    "references": lambda found: [str(i) for i in found],
    "added": datetime.isoformat,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "authors": _texts,
    "keywords": _texts,
    "former_titles": _texts,
    "identifiers": lambda found: tuple(map(_identifier, _list(found))),
    "areas": lambda found: tuple(map(_area, _list(found))),
    "links": lambda found: tuple(map(_link, _list(found))),
    "published": date.fromisoformat,
    "listed": date.fromisoformat,
    "year": _whole,
    "title_derived": _true,
    "authors_truncated": _true,
    "summarised": _true,
    "month_only": _true,
    "versions": lambda found: tuple(map(_version, _list(found))),
    "notices": lambda found: tuple(map(_notice, _list(found))),
    "counts": lambda found: _named(found, _count),
    "details": lambda found: _named(found, _text),
    "references": lambda found: tuple(map(_identifier, _list(found))),
    "added": _moment,
}
