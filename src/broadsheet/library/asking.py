"""How much of the library an interest means: asked before a reader waits for papers that never come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broadsheet.errors import IndexDamagedError
from broadsheet.feed.asking import counted, doubts, question_of
from broadsheet.feed.profile import matches
from broadsheet.model.reading import Interest, InterestKind

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

_LOOKED_AT = 100  # papers


def meant(library: Library, interest: Interest) -> list[str]:
    """Sentences: how many papers of the library an interest means, and what may be wrong with it."""
    try:
        count: int | None = _count(library, interest)
    except IndexDamagedError:  # it is followed all the same
        count = None
    told = counted(count)
    found = doubts(interest, count, library.store.counts().papers)
    return [f"{told[:1].upper()}{told[1:]}.", *found] if told else found


def _count(library: Library, interest: Interest) -> int:
    """By the index, which counts at once; a few are looked at, since it is less strict with names.

    A name that it does not know as it is written may be known otherwise, so papers of the last name are looked at, too.
    """
    found = library.search(question_of(interest), page_size=_LOOKED_AT, sort="newest")
    if found.matching > _LOOKED_AT:
        return found.matching
    papers = {hit.paper.id: hit.paper for hit in found.hits}
    if interest.kind in (InterestKind.AUTHOR, InterestKind.VENUE):
        last = Interest(interest.kind, interest.value.split()[-1])
        near = library.search(question_of(last), page_size=_LOOKED_AT, sort="newest").hits
        papers |= {hit.paper.id: hit.paper for hit in near}
    return sum(matches(paper, interest) for paper in papers.values())
