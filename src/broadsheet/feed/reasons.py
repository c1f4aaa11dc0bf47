"""Why a paper is in an edition, told from the parts of its score. Pure.

Nothing is said that no part of the score says: each kind of reason belongs to parts by name, and stands only where
these are above zero together. Exceptions are what the paper itself says: that it was drawn as a discovery, that it is
new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from broadsheet.feed.areas import area_key, area_title
from broadsheet.feed.desk import Ranking
from broadsheet.feed.features import noticed
from broadsheet.learn.space import TextSpace
from broadsheet.learn.terms import shown
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Action, InterestCentre, InterestKind, Reason, SavedSearch, SectionKind
from broadsheet.text import to_plain
from broadsheet.venues import venue_name

MOST = 3
LEAST = 0.15  # a learned part of the score, in deviations of the day, that is worth a reason
LEAST_NOTICE = 0.35  # the same for notice that nobody counted yet
SOMEWHAT_ALIKE = 0.27  # and from which they are called somewhat alike
LEAST_SHARE = 0.1  # of the score for words to be a reason
TELLING = 0.4  # of the weightiest word's share: what adds less is not told
ALIKE = 0.35  # cosine from which two papers are called alike
_SIMILAR = ("classifier", "meaning", "lately", "lasting")
_WORDS = ("classifier",)
_NOTICE = ("popular", "notice")
KIND_PARTS: Mapping[str, tuple[str, ...]] = {
    "author": ("author",),
    "area": ("area",),
    "venue": ("venue",),
    "keyword": ("keyword",),
    "search": ("search",),
    "similar": _SIMILAR,
    "words": _WORDS,
    "notice": _NOTICE,
}
"""The parts that a kind of reason is told from."""
_FIRST = {SectionKind.SEARCH: "search", SectionKind.ELSEWHERE: "notice", SectionKind.DISCOVERY: "discovery"}
_ONE: Mapping[Action | None, str] = {
    Action.SAVE: "which you saved",
    Action.LIKE: "which you liked",
    Action.OPEN: "which you opened",
    Action.EXAMPLE: "one of your examples",
}
_MANY: Mapping[Action | None, str] = {
    Action.SAVE: "papers you saved",
    Action.LIKE: "papers you liked",
    Action.OPEN: "papers you opened",
    Action.EXAMPLE: "of your examples",
    None: "papers of your choice",
}
_LONGEST_TITLE = 60


@dataclass(frozen=True)
class Known:
    """What reasons speak of beside the ranking: the space's words, centres of interest, searches, and what was done."""

    space: TextSpace
    centres: Sequence[InterestCentre] = ()
    searches: Sequence[SavedSearch] = ()
    done: Mapping[PaperId, Action] = field(default_factory=dict)


def reasons_for(
    ranking: Ranking, row: int, kind: SectionKind, known: Known, *, explored: bool = False
) -> tuple[Reason, ...]:
    """At most three reasons for a paper, weightiest first; the one for its section before all."""
    parts = {name: float(values[row]) for name, values in ranking.parts.items()}
    total = sum(value for value in parts.values() if value > 0) or 1.0
    found = [
        *_followed(ranking, row, parts),
        *_searched(ranking, row, parts, known),
        *_similar(ranking, row, parts, known),
        *_worded(ranking, row, parts, known),
        *_noticed(ranking.papers[row], parts),
    ]
    if explored:
        found.append(_discovered(ranking, row, known))
    first = _FIRST.get(kind)
    found.sort(key=lambda reason: (reason.kind != first, -reason.weight))
    scaled = [Reason(one.kind, one.text, round(one.weight / total, 4), one.papers) for one in found[:MOST]]
    return tuple(scaled) or (_new(ranking.papers[row]),)


def interests_of(ranking: Ranking, centres: Sequence[InterestCentre]) -> list[int]:
    """The centre of the liked paper that each candidate is most alike; −1 where it is like none, or there is one."""
    if ranking.liked is None or len(centres) < 2:
        return [-1] * len(ranking.papers)
    centre = {paper: n for n, one in enumerate(centres) for paper in one.papers}
    cosines = ranking.rows.vectors @ ranking.liked.rows.vectors.T
    best = cosines.argmax(axis=1)
    found = [centre.get(ranking.liked.papers[n].id, -1) for n in best.tolist()]
    return [one if cosine >= ALIKE else -1 for one, cosine in zip(found, cosines.max(axis=1).tolist(), strict=True)]


def weight_of(kind: str, parts: Mapping[str, float]) -> float:
    """What the parts of a kind of reason add to the score together; not below zero.

    The classifier speaks for likeness and for words alike: half of it counts for either.
    """
    halves = {"classifier": 0.5}
    return max(0.0, sum(halves.get(name, 1.0) * parts.get(name, 0.0) for name in KIND_PARTS[kind]))


def _followed(ranking: Ranking, row: int, parts: Mapping[str, float]) -> list[Reason]:
    found = []
    for kind in InterestKind:
        values = [one.value for one in ranking.follows[row] if one.kind is kind]
        weight = weight_of(str(kind), parts)
        if values and weight > 0:
            found.append(Reason(str(kind), _said_of(kind, values), weight))
    return found


def _said_of(kind: InterestKind, values: Sequence[str]) -> str:
    if kind is InterestKind.AUTHOR:
        return f"by {listed(values)}, whom you follow"
    if kind is InterestKind.AREA:
        return f"in {listed([area_title(value) for value in values])}, which you follow"
    if kind is InterestKind.VENUE:
        return f"at {listed([venue_name(value) for value in values])}, which you follow"
    return f"matches {listed([quoted(value) for value in values])}, which you follow"


def _searched(ranking: Ranking, row: int, parts: Mapping[str, float], known: Known) -> list[Reason]:
    names = [search.name or search.query for search in known.searches if search.id in ranking.searches[row]]
    weight = weight_of("search", parts)
    if not names or weight <= 0:
        return []
    return [Reason("search", f"matches {listed([quoted(name) for name in names])} in your saved searches", weight)]


def _similar(ranking: Ranking, row: int, parts: Mapping[str, float], known: Known) -> list[Reason]:
    weight, liked = weight_of("similar", parts), ranking.liked
    if weight < LEAST or liked is None:
        return []
    cosines = liked.rows.vectors @ ranking.rows.vectors[row]
    near = {liked.papers[n].id: float(cosines[n]) for n in np.flatnonzero(cosines >= ALIKE)}
    somewhat = ""
    if not near:
        nearest = int(np.argmax(cosines))
        if cosines[nearest] < SOMEWHAT_ALIKE:
            return []
        near, somewhat = {liked.papers[nearest].id: float(cosines[nearest])}, "somewhat "
    best = max(near, key=lambda paper: near[paper])
    centre = next((one for one in known.centres if best in one.papers), None)
    papers = sorted(near if centre is None else near.keys() & set(centre.papers), key=lambda paper: -near[paper])
    titles = {paper.id: _short(to_plain(paper.title)) for paper in liked.papers}
    actions = {known.done.get(paper, Action.SAVE) for paper in papers}
    action = actions.pop() if len(actions) == 1 else None
    if len(papers) == 1:
        text = f"{somewhat}like “{titles[papers[0]]}”, {_ONE[action]}"
    else:
        topic = f" on {listed(list(centre.words[:2]))}" if centre is not None and centre.words else ""
        text = f"like {len(papers)} {_MANY[action]}{topic}"
    return [Reason("similar", text, weight, tuple(papers[:MOST]))]


def _worded(ranking: Ranking, row: int, parts: Mapping[str, float], known: Known) -> list[Reason]:
    weight, weights = weight_of("words", parts), ranking.word_weights
    total = sum(value for value in parts.values() if value > 0)
    if weight < max(LEAST, LEAST_SHARE * total) or weights is None:
        return []
    found = ranking.rows.words[row]
    values = weights[found.indices] * found.data
    least = TELLING * float(values.max(initial=0.0))
    best = [known.space.names_[found.indices[n]] for n in np.argsort(-values)[:20] if values[n] > max(least, 0)]
    paper = ranking.papers[row]
    words = shown(best, [f"{to_plain(paper.title)}. {to_plain(paper.abstract)}"], MOST)
    return [Reason("words", f"words you come back to: {', '.join(words)}", weight)] if words else []


def _noticed(paper: Paper, parts: Mapping[str, float]) -> list[Reason]:
    counted = noticed(paper) if parts.get("popular", 0.0) > 0 else 0
    if counted:
        votes, comments = paper.count("upvotes") or 0, paper.count("comments") or 0
        text = f"{votes:,} upvote{'s' * (votes != 1)}" if votes else f"{comments:,} comment{'s' * (comments != 1)}"
        return [Reason("notice", f"{text}{_where(paper)}", max(weight_of("notice", parts), parts["popular"]))]
    if parts.get("notice", 0.0) >= LEAST_NOTICE:
        return [Reason("notice", "likely to be widely noticed", parts["notice"])]
    return []


def _where(paper: Paper) -> str:
    return " on Hugging Face" if any(place.source.startswith("huggingface") for place in paper.places) else ""


def _discovered(ranking: Ranking, row: int, known: Known) -> Reason:
    """What is new about a discovery: an area that the reader does not read, else what the paper is about."""
    paper = ranking.papers[row]
    keys = [area_key(area) for area in paper.areas]
    if keys and ranking.areas and not any(ranking.areas.get(key) for key in keys):
        return Reason("discovery", f"new to you: {area_title(keys[0])}")
    found = ranking.rows.words[row]
    best = [known.space.names_[found.indices[n]] for n in np.argsort(-found.data)][:20]
    words = shown(best, [f"{to_plain(paper.title)}. {to_plain(paper.abstract)}"], 2)
    return Reason("discovery", f"new to you: {', '.join(words)}" if words else "drawn from what you do not read")


def _new(paper: Paper) -> Reason:
    where = f" in {area_title(area_key(paper.areas[0]))}" if paper.areas else ""
    return Reason("newest", f"new{where}")


def _short(title: str) -> str:
    if len(title) <= _LONGEST_TITLE:
        return title
    return f"{title[:_LONGEST_TITLE].rsplit(' ', 1)[0].rstrip(' :,-')}…"


def quoted(text: str) -> str:
    """In single quotes."""
    return f"'{text}'"


def listed(values: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
