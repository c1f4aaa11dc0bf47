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
    """One place for each venue and year, preprint server or list; what several records say of one is united.

    In the order of the records, those that know a year first: one without a year means the first place of its venue.
    """
    places = [place for place in map(_place, readings) if place.venue]
    found: dict[tuple[str, int | None], Place] = {}
    for place in sorted(places, key=lambda place: place.year is None):
        name = place.venue, place.year
        if place.year is None:
            name = next((known for known in found if known[0] == place.venue), name)
        found[name] = _united(found[name], place) if name in found else place
    return tuple(found.values())


def _united(place: Place, other: Place) -> Place:
    return replace(
        place,
        status=place.status or other.status,
        listed=min((day for day in (place.listed, other.listed) if day), default=None),
        url=place.url or other.url,
    )


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
    """The place's own page: that of the list, else what the source names, else where an identifier leads."""
    record = reading.record
    if record.source == "huggingface" and record.key:
        return f"https://huggingface.co/papers/{record.key}"
    page = next((link.url for link in record.links if link.kind is LinkKind.PAGE), "")
    if page or not record.identifiers:
        return page
    # Of a published paper the preprint's address is another place.
    published = bool(record.venue) and venue_key(record.venue) != "arxiv"
    return url_of(min(record.identifiers, key=lambda i: published and i.scheme is Scheme.ARXIV))
