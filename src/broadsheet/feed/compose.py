"""The layout of an edition: which of the ranked papers stand where. Pure.

Filled in this order: front page, saved searches, elsewhere, discovery, areas; printed in the order of ``SectionKind``.
No paper stands twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from broadsheet.feed.areas import NO_AREA, area_key, area_title
from broadsheet.model import Paper
from broadsheet.model.reading import SavedSearch, SectionKind
from broadsheet.text import name_key, title_fingerprint

POOL = 6  # the front page is chosen from this many times as many of the best papers
RELEVANCE = 0.7  # share of the score in the front page's choice; the rest is distance from what is on it already
LEAST_SPAN = 1.0  # scores that differ by less, from the best of the pool to the last, are hardly told apart
LEAST_FRONT = 5  # places of the front page that are filled, be there never so little that speaks for the papers
LEAST_READ = 0.05  # share of what is remembered from which an area is one that the reader reads
LEAST_SECTIONS = 2  # areas that are printed though the reader reads none of them
LEAST_IN_AREA = 3  # papers of an area that are printed whatever their score
ONE_GROUP = 0.6  # of the front page at most for one of several interests
UNKNOWN_RELEVANCE = 0.3  # the same where nothing is known of the reader
TITLES = {SectionKind.FRONT: "Front page", SectionKind.ELSEWHERE: "Elsewhere", SectionKind.DISCOVERY: "Discovery"}
_NOTICED = ("upvotes", "comments")


@dataclass(frozen=True, slots=True)
class Shape:
    """How large an edition is: papers on the front page and in each section, areas, discoveries."""

    front: int = 10
    section: int = 8
    areas: int = 6
    discoveries: int = 3


@dataclass(frozen=True, slots=True)
class Drawn:
    """A paper (its row among the candidates) drawn for a discovery, the probability with which it was, and whether the
    explorer drew it or, for comparison, the known interests did."""

    row: int
    propensity: float
    explored: bool = True


@dataclass(frozen=True, slots=True)
class Placed:
    """A section before its entries are written: rows of the candidates in the order of printing, and what was drawn."""

    kind: SectionKind
    key: str
    title: str
    rows: tuple[int, ...]
    drawn: Mapping[int, Drawn] = field(default_factory=dict)


Draw = Callable[[Sequence[int], int], Sequence[Drawn]]
"""Rows that are free, best first, and how many are wanted → what the explorer draws of them."""


def nothing_drawn(free: Sequence[int], wanted: int) -> Sequence[Drawn]:
    """No discoveries."""
    return ()


def lay_out(
    papers: Sequence[Paper],
    scores: np.ndarray,
    vectors: np.ndarray,
    shape: Shape,
    *,
    found_by: Mapping[int, Sequence[int]],
    searches: Sequence[SavedSearch],
    areas: Mapping[str, float],
    followed: Collection[str] = (),
    draw: Draw = nothing_drawn,
    relevance: float = RELEVANCE,
    groups: Sequence[int] = (),
    speaks: Callable[[int], bool] | None = None,
) -> list[Placed]:
    """Sections of an edition, empty ones left out.

    ``scores`` float64 [papers], higher is better; ``vectors`` float32 [papers, dimensions] with rows of length 1 (or
    0); ``found_by`` the rows that each saved search found, best first, by its id; ``areas`` how much the reader reads
    each. ``relevance`` in [0, 1] is what the score counts on the front page beside diversity; ``groups``
    are the interests that the papers belong to (below 0: none), of which none fills the front page. ``speaks`` says of
    a row whether anything that is known of the reader speaks for it: what nothing speaks for stands on the front page
    only where it would have less than five papers, and areas that are not read get no section where others are. None
    where nothing is known.
    """
    order = [int(row) for row in np.lexsort((-np.array([p.id for p in papers], np.int64), -scores))]
    free = _once(order, papers)
    front = _front(free, scores, vectors, shape.front, share=relevance, groups=groups)
    if speaks is not None:
        spoken = [row for row in front if speaks(row)]
        front = [row for row in front if row in spoken or len(spoken) + _before(row, front, spoken) < LEAST_FRONT]
    free = _without(free, front)
    made = [_placed(SectionKind.FRONT, "front", TITLES[SectionKind.FRONT], front)]
    hits: list[Placed] = []
    for search in searches:
        left = set(free)
        rows = [row for row in found_by.get(search.id, ()) if row in left][: shape.section]
        hits.append(_placed(SectionKind.SEARCH, f"search-{search.id}", search.name or search.query, rows))
        free = _without(free, rows)
    noticed = _most_noticed(free, papers, shape.section)
    free = _without(free, noticed)
    drawn = list(draw(free, shape.discoveries))
    free = _without(free, [one.row for one in drawn])
    above = {row for row in free if scores[row] > scores.mean()}
    made += _areas(free, papers, areas, shape, followed=followed, above=above, only_read=speaks is not None)
    made += [*hits, _placed(SectionKind.ELSEWHERE, "elsewhere", TITLES[SectionKind.ELSEWHERE], noticed)]
    # In the order of the draw: the first place is the one by which the explorer is calibrated.
    by_row = {one.row: one for one in drawn}
    made.append(Placed(SectionKind.DISCOVERY, "discovery", TITLES[SectionKind.DISCOVERY], tuple(by_row), by_row))
    return [section for section in made if section.rows]


def diverse(
    rows: Sequence[int],
    relevance: np.ndarray,
    vectors: np.ndarray,
    size: int,
    *,
    share: float,
    groups: Sequence[int] = (),
) -> list[int]:
    """``size`` of the rows by maximal marginal relevance, in the order of their choice.

    Carbonell and Goldstein, The use of MMR, diversity-based reranking for reordering documents and producing summaries,
    SIGIR 1998. ``relevance`` float64 [rows] in [0, 1]; the nearest paper that was chosen before counts.
    ``groups`` gives each row's (below 0: none): of one, 60 % at most are chosen while there are others.
    """
    most = math.ceil(ONE_GROUP * size)
    of = list(groups) or [-1] * len(rows)
    many: Counter[int] = Counter()
    left = list(range(len(rows)))
    chosen: list[int] = []
    nearest = np.zeros(len(rows))
    units = vectors[np.asarray(rows, np.intp)]
    while left and len(chosen) < size:
        free = [place for place in left if of[place] < 0 or many[of[place]] < most] or left
        worth = share * relevance[free] - (1 - share) * nearest[free]
        best = free[int(np.argmax(worth))]  # the first of equals: the better by score
        left.remove(best)
        chosen.append(best)
        many[of[best]] += 1
        nearest = np.maximum(nearest, units @ units[best])
    return [rows[place] for place in chosen]


def _front(
    free: list[int], scores: np.ndarray, vectors: np.ndarray, size: int, *, share: float, groups: Sequence[int]
) -> list[int]:
    pool = free[: POOL * size]
    if not pool:
        return []
    found = scores[pool]
    span = max(float(found[0] - found[-1]), LEAST_SPAN)
    relevance = 1 - (found[0] - found) / span
    of = [groups[row] for row in pool] if len(groups) else ()
    return diverse(pool, relevance, vectors, size, share=share, groups=of)


def _most_noticed(free: Sequence[int], papers: Sequence[Paper], size: int) -> list[int]:
    """The papers that got most upvotes and comments where a source counts them; fewer than the size where few did."""
    counted = [(sum(papers[row].count(name) or 0 for name in _NOTICED), row) for row in free]
    best = sorted((pair for pair in counted if pair[0] > 0), key=lambda pair: -pair[0])  # of equals the better first
    return [row for _, row in best[:size]]


def _areas(
    free: list[int],
    papers: Sequence[Paper],
    read: Mapping[str, float],
    shape: Shape,
    *,
    followed: Collection[str],
    above: Collection[int],
    only_read: bool,
) -> list[Placed]:
    """The most-read areas first, then those with most papers; with ``only_read`` of the others as many as make two.

    A paper stands under the first of its own areas that has a section, a followed one before others. Of papers that
    are not ``above`` the day's average a section has only what it needs to have three.
    """
    keys = {row: list(dict.fromkeys(map(area_key, papers[row].areas))) or [NO_AREA] for row in free}
    many = Counter(found[0] for found in keys.values() if found)
    known = {key for found in keys.values() for key in found}
    order = sorted(known, key=lambda key: (key == NO_AREA, -read.get(key, 0.0), -many[key], key))
    chosen = [key for key in order if read.get(key, 0.0) > 0 or many[key]][: shape.areas]
    if only_read:
        chosen = chosen[: max(sum(read.get(key, 0.0) >= LEAST_READ for key in chosen), LEAST_SECTIONS)]
    rows: dict[str, list[int]] = {key: [] for key in chosen}
    for row in free:
        own = sorted((key for key in keys[row] if key in rows), key=lambda key: key not in followed)
        home = next((key for key in own if len(rows[key]) < shape.section or key not in followed), None)
        most = shape.section if row in above else min(shape.section, LEAST_IN_AREA)
        if home is not None and len(rows[home]) < most:
            rows[home].append(row)
    return [_placed(SectionKind.AREA, f"area-{key}", area_title(key), rows[key]) for key in chosen]


def _once(order: Sequence[int], papers: Sequence[Paper]) -> list[int]:
    """One row for each paper, the best: two entries that were not merged, with one title and first author, are one."""
    seen: set[tuple[str, tuple[str, str]]] = set()
    kept = []
    for row in order:
        paper = papers[row]
        key = (title_fingerprint(paper.title), name_key(paper.authors[0]) if paper.authors else ("", ""))
        if key not in seen:
            kept.append(row)
        if all(map(any, key)):  # many an editorial is called so
            seen.add(key)
    return kept


def _before(row: int, front: Sequence[int], spoken: Collection[int]) -> int:
    """How many papers that nothing speaks for stand before a row."""
    return sum(other not in spoken for other in front[: front.index(row)])


def _without(free: Sequence[int], rows: Sequence[int]) -> list[int]:
    gone = set(rows)
    return [row for row in free if row not in gone]


def _placed(kind: SectionKind, key: str, title: str, rows: Sequence[int]) -> Placed:
    return Placed(kind, key, title, tuple(rows))
