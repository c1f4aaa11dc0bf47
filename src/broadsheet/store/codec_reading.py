"""Profiles and editions to JSON and back.

An edition holds its papers whole, as they were on the day it was printed, so that it reads the same whatever becomes of
them. What a newer version adds to the JSON is passed over, what an older one did not know has the model's default.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import orjson

from broadsheet.model.reading import (
    DEFAULT_RISK,
    Edition,
    Entry,
    Interest,
    InterestKind,
    Profile,
    Reason,
    SavedSearch,
    Section,
    SectionKind,
)
from broadsheet.store.codec import dumps, finite, from_micros, pack, paper_fields, paper_from_fields, to_micros, unpack


def _interests(interests: tuple[Interest, ...]) -> list[list[str]]:
    return [[interest.kind.value, interest.value] for interest in interests]


def _from_interests(pairs: list[list[str]]) -> tuple[Interest, ...]:
    return tuple(Interest(InterestKind(kind), value) for kind, value in pairs)


def interest_to_json(interest: Interest | None) -> str | None:
    """An interest as JSON; None stays None."""
    return dumps({"kind": interest.kind.value, "value": interest.value}).decode() if interest else None


def interest_from_json(document: str | None) -> Interest | None:
    """What ``interest_to_json`` wrote."""
    if document is None:
        return None
    fields = orjson.loads(document)
    return Interest(InterestKind(fields["kind"]), fields["value"])


def profile_to_json(profile: Profile) -> str:
    """A profile as JSON. Raises ValueError for a number that is not finite or a time without zone."""
    return dumps(
        {
            "follows": _interests(profile.follows),
            "mutes": _interests(profile.mutes),
            "searches": [[x.id, x.name, x.query, to_micros(x.created)] for x in profile.searches],
            "risk": finite("risk", profile.risk),
            "emphasis": [[name, finite(f"emphasis of {name}", value)] for name, value in profile.emphasis],
            "email": profile.email,
            "webhook": profile.webhook,
        }
    ).decode()


def profile_from_json(document: str) -> Profile:
    """What ``profile_to_json`` wrote."""
    fields = orjson.loads(document)
    return Profile(
        follows=_from_interests(fields.get("follows", [])),
        mutes=_from_interests(fields.get("mutes", [])),
        searches=tuple(
            SavedSearch(number, name, query, from_micros(created))
            for number, name, query, created in fields.get("searches", ())
        ),
        risk=fields.get("risk", DEFAULT_RISK),
        emphasis=tuple((name, value) for name, value in fields.get("emphasis", ())),
        email=fields.get("email", ""),
        webhook=fields.get("webhook", ""),
    )


def edition_to_bytes(edition: Edition) -> bytes:
    """An edition with its papers as compressed JSON.

    Raises ValueError for a number that is not finite, a propensity outside (0, 1], or a time without zone.
    """
    return pack(
        dumps(
            {
                "reader": edition.reader,
                "day": edition.day,
                "made": to_micros(edition.made),
                "since": edition.since,
                "through": edition.through,
                "sections": [_section(section) for section in edition.sections],
                "considered": int(edition.considered),
                "newest_paper": int(edition.newest_paper),
                "basis": edition.basis,
                "notes": edition.notes,
                "risk": finite("risk", edition.risk),
                "cap": finite("cap", edition.cap),
            }
        )
    )


def edition_from_bytes(content: bytes) -> Edition:
    """What ``edition_to_bytes`` wrote. Raises StoreError if it is damaged."""
    fields = orjson.loads(unpack(content))
    return Edition(
        reader=fields["reader"],
        day=date.fromisoformat(fields["day"]),
        made=from_micros(fields["made"]),
        since=date.fromisoformat(fields["since"]) if fields["since"] else None,
        through=date.fromisoformat(fields["through"]),
        sections=tuple(map(_from_section, fields["sections"])),
        considered=fields["considered"],
        newest_paper=fields["newest_paper"],
        basis=fields["basis"],
        notes=tuple(fields.get("notes", ())),
        risk=fields.get("risk", DEFAULT_RISK),
        cap=fields.get("cap", 1.0),
    )


def _section(section: Section) -> dict[str, Any]:
    return {
        "kind": section.kind.value,
        "key": section.key,
        "title": section.title,
        "entries": [_entry(entry) for entry in section.entries],
    }


def _from_section(fields: dict[str, Any]) -> Section:
    entries = tuple(map(_from_entry, fields["entries"]))
    return Section(SectionKind(fields["kind"]), fields["key"], fields["title"], entries)


def _entry(entry: Entry) -> dict[str, Any]:
    if not 0 < entry.propensity <= 1:  # also refuses NaN
        raise ValueError(f"paper {entry.paper.id}: a propensity of {entry.propensity} is not in (0, 1]")
    return {
        "id": int(entry.paper.id),
        "related": [int(other) for other in entry.paper.related],
        "paper": paper_fields(entry.paper),
        "score": finite("score", entry.score),
        "parts": {name: finite(name, value) for name, value in entry.parts.items()},
        "reasons": [[r.kind, r.text, finite(r.kind, r.weight), [int(p) for p in r.papers]] for r in entry.reasons],
        "propensity": float(entry.propensity),
        "explored": bool(entry.explored),
    }


def _from_entry(fields: dict[str, Any]) -> Entry:
    return Entry(
        paper=paper_from_fields(fields["id"], fields["paper"], tuple(fields["related"])),
        score=fields["score"],
        parts=fields["parts"],
        reasons=tuple(Reason(kind, text, weight, tuple(papers)) for kind, text, weight, papers in fields["reasons"]),
        propensity=fields["propensity"],
        explored=fields["explored"],
    )
