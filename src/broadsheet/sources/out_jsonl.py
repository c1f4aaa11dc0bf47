"""A paper as a line of JSON, with the fields that ``broadsheet import`` reads (``docs/import.md``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Any

import orjson

from broadsheet.identifiers import shown_value
from broadsheet.model import Area, Link, Paper, Scheme

_ID_FIELDS = {
    Scheme.ARXIV: "arxiv_id",
    Scheme.DOI: "doi",
    Scheme.OPENREVIEW: "openreview_id",
    Scheme.ACL: "acl_id",
    Scheme.PMID: "pmid",
}


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """One line a paper."""
    for paper in papers:
        yield orjson.dumps(paper_to_json(paper)).decode() + "\n"


def paper_to_json(paper: Paper) -> dict[str, Any]:
    """A paper's fields; those that are empty are left out. Of several identifiers of a scheme the first."""
    entry: dict[str, Any] = {"id": f"broadsheet-{paper.id}"}
    for identifier in reversed(paper.identifiers):
        entry[_ID_FIELDS[identifier.scheme]] = shown_value(identifier)
    entry |= {
        "title": "" if paper.title_derived else paper.title,
        "authors": list(paper.authors),
        "authors_truncated": paper.authors_truncated,
        "abstract": paper.abstract,
        "summarised": paper.summarised,
        "venue": paper.venue,
        "year": paper.year,
        "status": paper.status,
        "published": _day(paper.published, paper.month_only),
        "listed": _day(paper.listed),
        "added": _moment(paper.added),
        "areas": list(map(_area, paper.areas)),
        "keywords": list(paper.keywords),
        "links": list(map(_link, paper.links)),
        "kind": paper.kind,
        "versions": [{"number": v.number, "day": _day(v.day)} for v in paper.versions],
        "notices": [{"kind": n.kind.value, "reason": n.reason, "day": _day(n.day)} for n in paper.notices],
        "counts": dict(paper.counts),
        "details": dict(paper.details),
        "other_titles": list(paper.other_titles),
    }
    return {name: value for name, value in entry.items() if value}


def _day(day: date | None, month_only: bool = False) -> str | None:
    if day is None:
        return None
    return day.isoformat()[:7] if month_only else day.isoformat()


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _area(area: Area) -> dict[str, str]:
    return {"name": area.name, "subarea": area.subarea} if area.subarea else {"name": area.name}


def _link(link: Link) -> dict[str, str]:
    return {"kind": link.kind.value, "url": link.url}
