"""Which of a day's papers a saved search finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from broadsheet import query as q
from broadsheet.feed.profile import matches
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Interest, InterestKind
from broadsheet.text import words

Search = Callable[[str, str], Sequence[PaperId]]
"""A question in the reader's syntax and an order (``relevance``, ``newest``) → the papers of a long first page."""


def new_hits(text: str, papers: Sequence[Paper], search: Search, today: date) -> list[int]:
    """Rows of ``papers`` that a saved search finds, best first.

    A question in free words finds something on every day, were it ever so far away. So a paper counts where it is among
    those of the whole library that the search gives as its newest (at least half as relevant as the best one), or where
    it has all of the free words; required words, phrases and filters hold in any case.
    """
    place = {paper.id: row for row, paper in enumerate(papers)}
    first = min((paper.day for paper in papers if paper.day), default=None)
    parsed = q.parse(text, today)
    soft = [leaf.text for leaf in q.soft_words(parsed) if words(leaf.text)]
    near = [place[paper] for paper in search(text, "newest") if paper in place]
    # In brackets: a question may end with OR, or have one that would else take the day for one of its sides.
    within = f"since:{first} ({text})" if first else text
    ranked = [place[paper] for paper in search(within, "relevance") if paper in place]
    exact = [row for row in ranked if all(_says(papers[row], word) for word in soft)]
    kept = {*near, *exact}
    return list(dict.fromkeys([*(row for row in ranked if row in kept), *near]))


def _says(paper: Paper, word: str) -> bool:
    return matches(paper, Interest(InterestKind.KEYWORD, word))
