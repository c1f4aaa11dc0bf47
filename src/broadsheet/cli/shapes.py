"""The daily paper's values as JSON: what the API answers, and beside it what only the command line has.

No secret of a reader is in them: ``broadsheet readers link`` alone prints it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from broadsheet.web.api_daily_models import (
    EditionOut,
    EntryOut,
    EventOut,
    InterestOut,
    MemoryOut,
    ProfileOut,
    SavedSearchOut,
    TodayOut,
)
from broadsheet.web.api_models import PaperOut

if TYPE_CHECKING:
    from broadsheet.model import Paper, PaperId
    from broadsheet.model.reading import (
        Action,
        Entry,
        Event,
        Interest,
        MemoryView,
        Period,
        Reader,
        SavedSearch,
        Section,
        Today,
    )

Marks = Mapping["PaperId", Collection["Action"]]


def today_shape(found: Today, marks: Marks, sections: Iterable[Section] | None = None) -> dict[str, Any]:
    """What there is to show now, with all sections or those given.

    ``edition`` is null where nothing could be printed yet; each entry has the ``marks`` that hold for it now.
    """
    shape = TodayOut.of(found).model_dump(mode="json")
    if found.edition is not None:
        kept = None if sections is None else {section.key for section in sections}
        shape["edition"] = _edition(EditionOut.of(found.edition), marks, kept)
    return shape


def _edition(edition: EditionOut, marks: Marks, kept: Collection[str] | None) -> dict[str, Any]:
    shape: dict[str, Any] = edition.model_dump(mode="json")
    shape["sections"] = [section for section in shape["sections"] if kept is None or section["key"] in kept]
    for section in shape["sections"]:
        for entry in section["entries"]:
            entry["marks"] = _marks(marks, entry["paper"]["id"])
    return shape


def _marks(marks: Marks, paper: PaperId) -> list[str]:
    return sorted(action.value for action in marks.get(paper, ()))


def period_shape(period: Period, marks: Marks) -> dict[str, Any]:
    """The best of a week or a month."""
    return {
        "kind": period.kind,
        "first": moment(period.first),
        "last": moment(period.last),
        "editions": list(map(moment, period.editions)),
        "previous": moment(period.previous),
        "following": moment(period.following),
        "entries": [{"day": moment(day), **_entry(entry, marks)} for day, entry in period.entries],
    }


def _entry(entry: Entry, marks: Marks) -> dict[str, Any]:
    return {**EntryOut.of(entry).model_dump(mode="json"), "marks": _marks(marks, entry.paper.id)}


def moment(found: date | datetime | None) -> str | None:
    """A day or a moment in ISO 8601, as the API writes it."""
    return found.isoformat().replace("+00:00", "Z") if found else None


def paper_shape(paper: Paper) -> dict[str, Any]:
    """A paper, as the API writes it."""
    return PaperOut.of(paper).model_dump(mode="json")


def event_shape(event: Event) -> dict[str, Any]:
    """Something a reader did."""
    return EventOut.of(event).model_dump(mode="json")


def interest_shape(interest: Interest) -> dict[str, Any]:
    """Something that is followed or muted."""
    return InterestOut.of(interest).model_dump(mode="json")


def search_shape(search: SavedSearch) -> dict[str, Any]:
    """A saved search."""
    return SavedSearchOut.of(search).model_dump(mode="json")


def reader_shape(reader: Reader) -> dict[str, Any]:
    """A reader: what the API says of the profile, and where editions are sent."""
    profile = ProfileOut.of(reader).model_dump(mode="json")
    sent = {"email": reader.profile.email, "webhook": reader.profile.webhook}
    return {**profile, "created": moment(reader.created), **sent}


def memory_shape(view: MemoryView) -> dict[str, Any]:
    """What the paper thinks its reader likes."""
    return MemoryOut.of(view).model_dump(mode="json")
