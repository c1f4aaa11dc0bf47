"""Records for a review's pool: from files, from papers of the library; which of them repeat others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from broadsheet.errors import NotFoundError
from broadsheet.ingest import Grouper, contradictions, group, pool_record
from broadsheet.model import LinkKind, Paper, Refusal
from broadsheet.model.screening import (
    PoolRecord,
    PoolSummary,
    RecordNumber,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
    ReviewId,
)
from broadsheet.sources import Item
from broadsheet.sources.labels import Labelled, labelled
from broadsheet.text import to_plain

if TYPE_CHECKING:
    from broadsheet.library.facade import Library
    from broadsheet.store import Store

OnProgress = Callable[[int, int | None, str], None]
"""Told bytes read, bytes in all (None: unknown) and a note."""
PROBLEMS = 300  # that a summary names
_EVERY = 200  # entries between two looks at the progress
_PAGE = 200
_OF_GROUPS = (ReviewEventKind.ADD, ReviewEventKind.APART, ReviewEventKind.UNDO)
BRIDGED = "a record that came later repeats both"


@dataclass
class Fill:
    """What one source gave: records as far as they can be made before the pool is known, and what was wrong."""

    source: str
    records: list[PoolRecord] = field(default_factory=list)  # numbers and twins come last
    entries: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def refused(self) -> int:
        """How many entries gave no record."""
        return self.entries - len(self.records)


def fill_of_items(items: Iterable[Item], source: str, on_progress: OnProgress | None) -> Fill:
    """The records of a file's entries, with the labels and notes that they carry."""
    made = Fill(source)
    for item, found in labelled(items, source):
        made.entries += 1
        if isinstance(found, Refusal):
            made.problems.append(str(found))
        else:
            _take(made, found)
        if on_progress and made.entries % _EVERY == 0:
            on_progress(item.position, item.total, f"{len(made.records):,} records")
    return made


def _take(made: Fill, found: Labelled) -> None:
    record = pool_record(found, 0, made.source)
    if not (record.title or record.abstract):
        where = Refusal(made.source, found.record.line, "neither a title nor an abstract; give it one of them")
        made.problems.append(str(where))
        return
    if found.problem:
        made.problems.append(str(found.problem))
    made.records.append(record)


def fill_of_papers(papers: Iterable[Paper], source: str) -> Fill:
    """Records of papers of the library, which name their paper."""
    made = Fill(source, [paper_record(paper, source) for paper in papers])
    made.entries = len(made.records)
    return made


def paper_record(paper: Paper, source: str) -> PoolRecord:
    """A paper as a record without a number; texts are plain, and a title made from the abstract is left out."""
    page = next((link.url for link in paper.links if link.kind is LinkKind.PAGE), "")
    return PoolRecord(
        number=0,
        title="" if paper.title_derived else to_plain(paper.title),
        abstract=to_plain(paper.abstract),
        authors=paper.authors,
        year=paper.year,
        venue=paper.venue,
        identifiers=paper.identifiers,
        keywords=tuple(map(to_plain, paper.keywords)),
        url=page or next((link.url for link in paper.links), ""),
        source=source,
        key=str(paper.id),
        paper=paper.id,
    )


def fill_of_search(library: Library, query: str, facets: Mapping[str, Sequence[str]] | None, limit: int) -> Fill:
    """Records of the best papers for a question, as far as one can page through them; where there are more than the
    limit, its problems say so. Raises InputError.
    """
    source = f"search: {query}"
    papers: list[Paper] = []
    page = 1
    while True:
        results = library.search(query, page=page, page_size=min(_PAGE, limit), facets=facets)
        papers += (hit.paper for hit in results.hits)
        if page >= results.pages or len(papers) >= limit:
            break
        page += 1
    made = fill_of_papers(papers[:limit], source)
    if results.total > limit:
        cut = f"the best {limit:,} of {results.total:,} papers found were taken; raise the limit for more"
        made.problems.append(f"{source}: {cut}")
    return made


def saved_query(library: Library, search_id: int, reader: str) -> str:
    """The question of a reader's saved search. Raises NotFoundError where there is none."""
    found = library.daily.reader(reader)
    for search in found.profile.searches:
        if search.id == search_id:
            return search.query
    known = ", ".join(f"{one.id} ({one.name})" for one in found.profile.searches) or "none"
    raise NotFoundError(f"{found.name} has no saved search {search_id}; there are: {known}")


def named_papers(library: Library, keys: Iterable[int | str]) -> list[Paper]:
    """Papers by number or identifier, each once. Raises NotFoundError for the first that there is not."""
    papers = [library.paper(key) for key in keys]
    if not papers:
        raise NotFoundError("no paper is named; give numbers or identifiers of papers of this library")
    return list({paper.id: paper for paper in papers}.values())


def pour(store: Store, review: ReviewId, fill: Fill, screener: str, moment: datetime) -> PoolSummary:
    """Add records to a pool, with the events that say so.

    Which records repeat others is found before anybody is kept from writing, and once more where the review changed
    meanwhile. A record that is like two that were not alike joins them: that is an event of its own.
    """
    before = _Known.of(store, review)
    grouped = before.with_new(fill.records)
    with store.writing():
        after = _Known.of(store, review) if before.is_old(store, review) else before
        numbered, joined = grouped if after is before else after.with_new(fill.records)
        summary = _summary(fill, after.records, numbered)
        detail = json.dumps(asdict(summary), ensure_ascii=False)
        event = ReviewEvent(0, review, ReviewEventKind.ADD, screener, moment, detail=detail)
        twins = [
            ReviewEvent(0, review, ReviewEventKind.TWIN, screener, moment, record, other=first, note=BRIDGED)
            for record, first in joined
        ]
        store.screening.add_records(review, numbered, event, also=twins)
    return summary


@dataclass(frozen=True)
class _Known:
    """What a pool holds already, and which of its records a person set apart."""

    records: list[PoolRecord]
    parted: frozenset[RecordNumber]
    last_event: ReviewEventId

    @classmethod
    def of(cls, store: Store, review: ReviewId) -> _Known:
        events = store.screening.events(review)
        undone = {event.undoes for event in events if event.undoes}
        parted = (e.record for e in events if e.kind is ReviewEventKind.APART and e.id not in undone)
        last = events[-1].id if events else 0
        return cls(list(store.screening.records(review)), frozenset(parted), last)

    def is_old(self, store: Store, review: ReviewId) -> bool:
        """Whether anything came since that groups depend on; decisions are nothing of that kind."""
        since = store.screening.events(review, self.last_event)
        return any(event.kind in _OF_GROUPS for event in since)

    def with_new(self, new: Sequence[PoolRecord]) -> tuple[list[PoolRecord], list[tuple[RecordNumber, RecordNumber]]]:
        """The new records with numbers and with the first record that each repeats; and pairs of known records that
        are one because of them: the first of a group, and the first of the one that it joins.
        """
        grouper = Grouper(self._apart())
        for record in self.records:
            grouper.add(record)
        before = grouper.firsts()
        for record in new:
            grouper.add(record)
        firsts = grouper.firsts()
        numbered = [
            replace(record, number=place + 1, twin=0 if firsts[place] == place else firsts[place] + 1)
            for place, record in enumerate(new, len(before))
        ]
        joined = [(place + 1, firsts[place] + 1) for place in sorted(set(before)) if firsts[place] != place]
        return numbered, joined

    def _apart(self) -> list[tuple[int, int]]:
        """Pairs of places that a person's word keeps apart although they look alike."""
        if not self.parted:
            return []
        firsts = group(self.records)
        return [
            (number - 1, place)
            for number in self.parted
            for place, first in enumerate(firsts)
            if first == firsts[number - 1] and place != number - 1
        ]


def _summary(fill: Fill, known: Sequence[PoolRecord], numbered: Sequence[PoolRecord]) -> PoolSummary:
    touched = {record.twin or record.number for record in numbered}
    problems = [*fill.problems, *contradictions(r for r in (*known, *numbered) if (r.twin or r.number) in touched)]
    return PoolSummary(
        source=fill.source,
        entries=fill.entries,
        added=len(numbered),
        repeats=sum(1 for record in numbered if record.twin),
        refused=fill.refused,
        labelled=sum(1 for record in numbered if record.label),
        problems=tuple(problems[:PROBLEMS]),
    )
