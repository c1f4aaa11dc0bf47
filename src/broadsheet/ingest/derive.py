"""A paper from its records, field by field. Pure, and independent of the records' order.

Which record gives a field (the first difference decides; ``SOURCE_RANK`` and then source and key decide between
equals):

| field | order of preference |
|---|---|
| title | true before derived from the abstract; newest version; undamaged; not all in capitals; rank |
| abstract | the authors' own before a summary of ours; newest version; undamaged; longer; rank |
| authors | not empty; whole before cut; undamaged; longer; more fully spelled; rank. Then each name in full |
| venue, status | of one record: with a venue; not a preprint server; not rejected there; rank |
| year | of the same record; else of the next that has one; without a venue, of the arXiv number, else of the listing |
| kind | of the record that gave the venue; else of another of that venue; without a venue, the first by rank |
| published, listed, added | the earliest |
| identifiers, areas, links, keywords | all, by rank; an area yields to the same with a subarea |
| other titles, references | all, by rank |
| versions | all; of one number, the earliest day |
| notices | one of each kind: the earliest day, the longest reason |
| counts | of each name the largest |
| details | of the record that gave the venue; what it lacks, by rank; `OF_A_PLACE` only from records of that venue |
| places | one for each venue and year, and for each list |

*Newest version*: texts of records that tell an older version of the same arXiv paper, or none at all, stand behind
those of the newest. A record without an arXiv id is never behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, TypeVar

from broadsheet.identifiers import arxiv_month
from broadsheet.ingest.compare import is_preprint
from broadsheet.ingest.places import places_of
from broadsheet.ingest.reading import Reading, read
from broadsheet.model import (
    Area,
    Identifier,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Paper,
    PaperId,
    Record,
    Scheme,
    StoredRecord,
    Version,
)
from broadsheet.text import clean, fold, is_damaged, same_person, title_fingerprint
from broadsheet.venues import venue_key

SOURCE_RANK = {
    source: rank
    for rank, source in enumerate(
        (
            "arxiv",
            "arxiv-announced",
            "openreview",
            "acl",
            "pmlr",
            "cvf",
            "virtual",
            "pubmed",
            "crossref",
            "dblp",
            "papercopilot",
            "huggingface",
            "jsonl",
            "zotero",
            "bibtex",
            "*",
            "openalex",
            "semanticscholar",
            "feed",
            "listing",
            "jsonl:sample",
        )
    )
}
"""Sources from the most careful (0) on, by name or by its part before a colon; ``*`` stands for all others."""

OF_A_PLACE = frozenset(
    (
        *("journal", "journaltitle", "shortjournal", "booktitle", "volume", "number", "issue", "pages", "eid"),
        *("series", "publisher", "editor", "issn", "isbn", "address", "location", "month", "eventtitle"),
        *("eventdate", "venue", "organization", "institution", "school", "edition", "chapter"),
    )
)
"""Details that speak of one place where a paper appeared."""

_NOT_ACCEPTED = re.compile("reject|withdraw|retract", re.IGNORECASE)
_LINK_ORDER = {kind: i for i, kind in enumerate(LinkKind)}
_SCHEME_ORDER = {scheme: i for i, scheme in enumerate(Scheme)}
T = TypeVar("T")


def derive(paper_id: PaperId, records: Sequence[StoredRecord | Record]) -> Paper:
    """The paper that these records (at least one) make together. Its relations are the store's to know."""
    return derive_from(paper_id, [read(r.record if isinstance(r, StoredRecord) else r) for r in records])


def derive_from(paper_id: PaperId, readings: Sequence[Reading]) -> Paper:
    """``derive`` for records that are cleaned already."""
    ordered = sorted(readings, key=_rank)
    origins: dict[str, str] = {}
    old = superseded(ordered)
    titled = _first(ordered, "title", origins, lambda r: (not r.title, r.record.title_derived), old, _title_flaws)
    told = _first(ordered, "abstract", origins, lambda r: (not r.abstract, r.record.summarised), old, _abstract_order)
    listed = _first(ordered, "authors", origins, lambda r: not r.authors, _author_order)
    venue, year, status, by_venue = _publication(ordered, origins)
    published, listing = _first_published(ordered, origins), _first_listed(ordered, origins)
    if year is None and all(map(is_preprint, ordered)):
        year = _year_of_preprint(ordered, listing, origins)
    title, abstract = titled.title, told.abstract
    authors = _best_spelling(listed.authors, ordered)
    return Paper(
        id=paper_id,
        title=title,
        abstract=abstract,
        authors=authors,
        identifiers=_identifiers(ordered),
        areas=_areas(area for r in ordered for area in r.record.areas),
        venue=venue,
        year=year,
        published=published.record.published if published else None,
        month_only=published.record.month_only if published else False,
        listed=listing.record.listed if listing else None,
        links=_links(link for r in ordered for link in r.record.links),
        keywords=_unique((word for r in ordered for word in r.record.keywords), fold),
        status=status,
        other_titles=_other_titles(title, ordered),
        authors_truncated=listed.record.authors_truncated,
        title_derived=titled.record.title_derived and bool(title),
        summarised=told.record.summarised and bool(abstract),
        damaged=is_damaged(title) or is_damaged(abstract) or any("\ufffd" in name for name in authors),
        kind=next((r.record.kind for r in by_venue if r.record.kind and (not venue or _is_of(r, venue))), ""),
        versions=_versions(ordered),
        notices=_notices(ordered),
        counts=_counts(ordered),
        details=_details(by_venue, venue),
        references=_unique((i for r in ordered for i in r.record.references), lambda i: i),
        added=min((r.record.added for r in ordered if r.record.added), default=None),
        places=places_of(by_venue),
        origins=origins,
    )


def _rank(reading: Reading) -> tuple[int, str, str, str]:
    source = reading.record.source
    names = (source, source.split(":", 1)[0], "*")
    rank = next(SOURCE_RANK[name] for name in names if name in SOURCE_RANK)
    return rank, reading.record.source, reading.record.key, reading.record.raw


def _first(ordered: Sequence[Reading], field: str, origins: dict[str, str], *keys: Callable[[Reading], Any]) -> Reading:
    best = min(ordered, key=lambda r: tuple(key(r) for key in keys)) if len(ordered) > 1 else ordered[0]
    if getattr(best, field):
        origins[field] = _origin(best)
    return best


def _origin(reading: Reading) -> str:
    return f"{reading.record.source}:{reading.record.key}"


def _title_flaws(reading: Reading) -> tuple[bool, bool]:
    return is_damaged(reading.title), reading.title.isupper()


def _abstract_order(reading: Reading) -> tuple[bool, int]:
    return is_damaged(reading.abstract), -len(reading.abstract)


def superseded(readings: Sequence[Reading]) -> Callable[[Reading], bool]:
    """Whether a record's texts are of an older version, or none knows which, of the arXiv paper that another tells."""
    newest: dict[str, int] = {}
    for reading in readings:
        for value in _arxiv_ids(reading):
            newest[value] = max(newest.get(value, 0), reading.record.version)
    return lambda reading: any(reading.record.version < newest[value] for value in _arxiv_ids(reading))


def _arxiv_ids(reading: Reading) -> list[str]:
    return [i.value for i in reading.identifiers if i.scheme is Scheme.ARXIV]


def _author_order(reading: Reading) -> tuple[bool, bool, int, int]:
    names = reading.authors
    damaged = any("\ufffd" in name for name in names)
    return reading.record.authors_truncated, damaged, -len(names), -sum(map(_fullness, names))


def _fullness(name: str) -> int:
    """How much a spelling tells: letters, and accents for which a plainer spelling of equal length has none."""
    return 2 * sum(map(str.isalpha, name)) + sum(not c.isascii() for c in name)


def _best_spelling(names: tuple[str, ...], ordered: Sequence[Reading]) -> tuple[str, ...]:
    """Each name as the record spells it that spells it most fully.

    Only where the other list has one such person, and is no longer than a page: else nobody knows which of two is
    meant.
    """
    others = {r.authors for r in ordered if r.authors != names and 0 < len(r.authors) <= 100}
    if not others or len(names) > 100:
        return names
    # Each spelling is compared once, however many records have it.
    fits = {
        spelling: [i for i, name in enumerate(names) if same_person(name, spelling)]
        for spelling in {spelling for other in others for spelling in other}
    }
    best = list(names)
    for other in others:
        alike: dict[int, list[str]] = {}
        for spelling in other:
            for i in fits[spelling]:
                alike.setdefault(i, []).append(spelling)
        for i, found in alike.items():
            if len(found) == 1 and len(fits[found[0]]) == 1:
                best[i] = max(best[i], found[0], key=lambda spelling: (_fullness(spelling), spelling))
    return tuple(best)


def _publication(ordered: Sequence[Reading], origins: dict[str, str]) -> tuple[str, int | None, str, Sequence[Reading]]:
    """Venue, year and status, which belong together, and the records, the venue's own first.

    Where a paper was rejected is not where it appeared.
    """
    best = sorted(
        ordered, key=lambda r: (not r.record.venue, is_preprint(r), bool(_NOT_ACCEPTED.search(r.record.status)))
    )
    venue = best[0] if best[0].record.venue else None
    year = next((r for r in best if r.record.year), None) or next((r for r in best if r.year), None)
    status = next((r for r in best[: 1 if venue else None] if r.record.status), None)
    for field, reading in (("venue", venue), ("year", year), ("status", status)):
        if reading:
            origins[field] = _origin(reading)
    return (
        venue_key(venue.record.venue) if venue else "",
        year.year if year else None,
        status.record.status if status else "",
        best,
    )


def _year_of_preprint(ordered: Sequence[Reading], listing: Reading | None, origins: dict[str, str]) -> int | None:
    """The year an arXiv number tells, else that of the first listing. Not for a paper of a venue, which comes later."""
    numbered = [
        (month, r)
        for r in ordered
        for i in r.identifiers
        if i.scheme is Scheme.ARXIV and (month := arxiv_month(i.value))
    ]
    found = min(numbered, key=lambda pair: pair[0], default=None)
    if found is None and listing and listing.record.listed:
        found = listing.record.listed, listing
    if found is None:
        return None
    origins["year"] = _origin(found[1])
    return found[0].year


def _first_published(ordered: Sequence[Reading], origins: dict[str, str]) -> Reading | None:
    """The record of the earliest publication; within its month one that knows the day."""

    def order(reading: Reading) -> tuple[int, int, bool, int]:
        day = reading.record.published or date.max
        return day.year, day.month, reading.record.month_only, day.day

    return _dated((r for r in ordered if r.record.published), order, "published", origins)


def _first_listed(ordered: Sequence[Reading], origins: dict[str, str]) -> Reading | None:
    """The record of the first listing."""
    return _dated((r for r in ordered if r.record.listed), lambda r: r.record.listed or date.max, "listed", origins)


def _dated(
    dated: Iterable[Reading], order: Callable[[Reading], Any], field: str, origins: dict[str, str]
) -> Reading | None:
    first = min(dated, key=order, default=None)
    if first:
        origins[field] = _origin(first)
    return first


def _unique(values: Iterable[T], key: Callable[[T], object]) -> tuple[T, ...]:
    found: dict[object, T] = {}
    for value in values:
        found.setdefault(key(value), value)
    return tuple(found.values())


def _identifiers(ordered: Sequence[Reading]) -> tuple[Identifier, ...]:
    return tuple(sorted({i for r in ordered for i in r.identifiers}, key=lambda i: (_SCHEME_ORDER[i.scheme], i.value)))


def _versions(ordered: Sequence[Reading]) -> tuple[Version, ...]:
    days: dict[int, date | None] = {}
    for version in (v for r in ordered for v in r.record.versions):
        known = days.get(version.number)
        days[version.number] = min(known, version.day) if known and version.day else known or version.day
    return tuple(Version(number, days[number]) for number in sorted(days))


def _notices(ordered: Sequence[Reading]) -> tuple[Notice, ...]:
    found: list[Notice] = []
    for kind in NoticeKind:
        of_kind = [n for r in ordered for n in r.record.notices if n.kind is kind]
        if of_kind:
            reason = max((n.reason for n in of_kind), key=len)
            found.append(Notice(kind, reason, min((n.day for n in of_kind if n.day), default=None)))
    return tuple(found)


def _is_of(reading: Reading, venue: str) -> bool:
    return venue_key(reading.record.venue) == venue


def _details(by_venue: Sequence[Reading], venue: str) -> tuple[tuple[str, str], ...]:
    """Volume and pages of a journal are not those of the conference where the paper stands."""
    pairs = (
        (name, value)
        for r in by_venue
        for name, value in r.record.details
        if not venue or name not in OF_A_PLACE or _is_of(r, venue)
    )
    return _unique(pairs, lambda pair: pair[0])


def _counts(ordered: Sequence[Reading]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for name, count in (pair for r in ordered for pair in r.record.counts):
        counts[name] = max(count, counts.get(name, count))
    return tuple(sorted(counts.items()))


def _areas(areas: Iterable[Area]) -> tuple[Area, ...]:
    found = _unique(areas, lambda area: (fold(area.name), fold(area.subarea)))
    divided = {fold(area.name) for area in found if area.subarea}
    return tuple(area for area in found if area.subarea or fold(area.name) not in divided)


def _links(links: Iterable[Link]) -> tuple[Link, ...]:
    found = _unique(links, lambda link: link.url.split("://", 1)[-1].rstrip("/"))
    return tuple(sorted(found, key=lambda link: _LINK_ORDER[link.kind]))


def _other_titles(title: str, ordered: Sequence[Reading]) -> tuple[str, ...]:
    former = [clean(title) for r in ordered for title in r.record.former_titles]
    if len(ordered) == 1 and not former:
        return ()
    own = title_fingerprint(title) or title
    titles = [*(r.title for r in ordered if r.title and not r.record.title_derived), *former]
    others = _unique(titles, lambda other: title_fingerprint(other) or other)
    return tuple(other for other in others if (title_fingerprint(other) or other) != own)
