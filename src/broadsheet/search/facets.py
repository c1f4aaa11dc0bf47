"""Facet counts as the reader sees them; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from broadsheet.index import SUBAREA_SEPARATOR
from broadsheet.model import FacetValue
from broadsheet.venues import venue_key

SHOWN = 30  # values of a facet


def arrange(counts: Mapping[str, Mapping[str, int]]) -> dict[str, tuple[FacetValue, ...]]:
    """Counts by facet and value, most frequent first (years newest first); subareas stand under their areas."""
    children: dict[str, list[FacetValue]] = {}
    for value, count in _ordered(counts.get("subarea", {})):
        area, _, subarea = value.partition(SUBAREA_SEPARATOR)
        children.setdefault(area, []).append(FacetValue(subarea, count))
    areas = tuple(
        FacetValue(value, count, tuple(children.get(value, ())[:SHOWN]))
        for value, count in _ordered(counts.get("area", {}))[:SHOWN]
    )
    venues: Counter[str] = Counter()
    for value, count in counts.get("venue", {}).items():
        venues[venue_key(value)] += count
    years = sorted(counts.get("year", {}).items(), reverse=True)
    return {
        "area": areas,
        "venue": tuple(FacetValue(v, c) for v, c in _ordered(venues)[:SHOWN]),
        "year": tuple(FacetValue(v, c) for v, c in years[:SHOWN]),
        "code": tuple(FacetValue(v, c) for v, c in _ordered(counts.get("code", {})) if v == "yes"),
    }


def _ordered(values: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(((v, c) for v, c in values.items() if c), key=lambda pair: (-pair[1], pair[0]))
