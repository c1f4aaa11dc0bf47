"""Which papers an export holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from broadsheet.model import Paper, PaperId

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

PAGE = 200
"""Results of a search that are fetched at a time; what is exported is streamed."""


def selected_papers(
    library: Library, query: str, facets: Mapping[str, Sequence[str]] | None, ids: Sequence[PaperId]
) -> Iterator[Paper]:
    """The papers with ``ids`` in this order; else what a question finds, best first, as far as one can page
    through it (1,000 papers, 10,000 where there are no free words); else all, by number.

    Raises NotFoundError for an unknown id and InputError for a question that cannot be asked, at once.
    """
    if ids:
        found = library.store.papers(ids)
        return iter([found[number] if number in found else library.paper(number) for number in ids])  # which raises
    if query or facets:
        first = library.search(query, page_size=PAGE, facets=facets)
        return _results(library, query, facets, [hit.paper for hit in first.hits], first.pages)
    return library.store.iterate_papers()


def _results(
    library: Library, query: str, facets: Mapping[str, Sequence[str]] | None, first: list[Paper], pages: int
) -> Iterator[Paper]:
    yield from first
    for page in range(2, pages + 1):
        yield from (hit.paper for hit in library.search(query, page=page, page_size=PAGE, facets=facets).hits)
