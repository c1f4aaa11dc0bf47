"""Records for a review's pool: from files, and from papers of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broadsheet.errors import InputError, NotFoundError
from broadsheet.ingest import day_of, details_of, pool_record
from broadsheet.model import LinkKind, Paper, Refusal
from broadsheet.model.screening import PoolRecord
from broadsheet.sources import Item
from broadsheet.sources.labels import Labelled, labelled
from broadsheet.sources.listing import SOURCE as PAGE
from broadsheet.text import to_plain

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

OnProgress = Callable[[int, int | None, str], None]
"""Told bytes read, bytes in all (None: unknown) and a note."""
_EVERY = 200  # entries between two looks at the progress
_PAGE = 200


@dataclass
class Fill:
    """What one source gave: records as far as they can be made before the pool is known, and what was wrong."""

    source: str
    records: list[PoolRecord] = field(default_factory=list)  # numbers and twins come last
    entries: int = 0
    problems: list[str] = field(default_factory=list)
    is_known: bool = False  # the review has all of it, from this source

    @property
    def refused(self) -> int:
        """How many entries gave no record."""
        return self.entries - len(self.records)


def fill_of_items(items: Iterable[Item], source: str, on_progress: OnProgress | None) -> Fill:
    """The records of a file's entries, with labels and notes that they carry. Raises InputError for copied pages."""
    made = Fill(source)
    for item, found in labelled(items, source):
        made.entries += 1
        if isinstance(found, Refusal):
            made.problems.append(str(found))
        elif found.record.source == PAGE:
            # Any text with lines like titles is such a page, a program or a letter, too.
            raise InputError(
                f"{source}: it is no file of references, but text like a copied page; export the records as RIS, nbib, "
                "BibTeX, CSV or Excel"
            )
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
    url = page or next((link.url for link in paper.links), "")
    return PoolRecord(
        number=0,
        title="" if paper.title_derived else to_plain(paper.title),
        abstract=to_plain(paper.abstract),
        authors=paper.authors,
        year=paper.year,
        venue=paper.venue,
        identifiers=paper.identifiers,
        keywords=tuple(map(to_plain, paper.keywords)),
        url=url,
        source=source,
        key=str(paper.id),
        paper=paper.id,
        kind=paper.kind,
        published=day_of(paper),
        links=tuple(link for link in paper.links if link.url != url),
        details=details_of(paper),
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
