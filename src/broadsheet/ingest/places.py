"""Where a paper can be met, from its records. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from broadsheet.identifiers import url_of
from broadsheet.ingest.reading import Reading
from broadsheet.model import LinkKind, Place, Scheme
from broadsheet.venues import venue_key

LISTS = {"huggingface": "Hugging Face Daily Papers"}
"""Sources that are lists of papers which appeared elsewhere, by the name that readers know."""
_HOSTS = ((Scheme.OPENREVIEW, "openreview"), (Scheme.ACL, "acl anthology"), (Scheme.ARXIV, "arxiv"))


def places_of(readings: Iterable[Reading]) -> tuple[Place, ...]:
    """One place for each venue and year, preprint server or list, in the order of the records; what several say of one
    is united.
    """
    found: dict[tuple[str, int | None], Place] = {}
    for reading in readings:
        place = _place(reading)
        if not place.venue:
            continue
        known = _same(found, place)
        if known is None:
            found[place.venue, place.year] = place
            continue
        before = found.pop(known)
        days = [day for day in (before.listed, place.listed) if day]
        united = replace(
            before,
            year=before.year or place.year,
            status=before.status or place.status,
            listed=min(days, default=None),
            url=before.url or place.url,
        )
        found[united.venue, united.year] = united
    return tuple(found.values())


def _same(found: dict[tuple[str, int | None], Place], place: Place) -> tuple[str, int | None] | None:
    """The place that is meant again: of the same year, or where one of the two does not know its year."""
    for venue, year in found:
        if venue == place.venue and (year == place.year or year is None or place.year is None):
            return venue, year
    return None


def _place(reading: Reading) -> Place:
    record = reading.record
    source = record.source.split(":", 1)[0]
    venue = LISTS.get(source) or venue_key(record.venue)
    year = None if source in LISTS else record.year
    if not venue:
        venue = next((name for scheme, name in _HOSTS if any(i.scheme is scheme for i in reading.identifiers)), "")
        year = None
    return Place(source, venue, year, record.status, record.listed, _address(reading))


def _address(reading: Reading) -> str:
    record = reading.record
    page = next((link.url for link in record.links if link.kind is LinkKind.PAGE), "")
    return page or (url_of(record.identifiers[0]) if record.identifiers else "")
