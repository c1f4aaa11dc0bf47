"""Why a paper is in an edition, told from the parts of its score. Pure.

Nothing is said that no part of the score says: each kind of reason belongs to parts by name, and stands only where
these are above zero together. Exceptions are what the paper itself says: that it was drawn as a discovery, that it was
taken for variety, that it is new, what it is about. Where an area that is followed is all that speaks for a paper, and
half a dozen of the day's papers are in it, the reason would tell nothing of this one: it goes on to say what the paper
is about, and what decided between it and the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from broadsheet.feed.areas import NO_AREA, area_key, area_title
from broadsheet.feed.desk import Liked, Ranking
from broadsheet.feed.features import noticed
from broadsheet.feed.profile import is_central, matches
from broadsheet.learn.space import TextSpace
from broadsheet.learn.terms import shown
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Action, Interest, InterestCentre, InterestKind, Reason, SavedSearch, SectionKind
from broadsheet.text import to_plain
from broadsheet.venues import venue_name

MOST = 3
LEAST = 0.15  # a learned part of the score, in deviations of the day, that is worth a reason
LEAST_NOTICE = 0.35  # the same for notice that nobody counted yet
SOMEWHAT_ALIKE = 0.27  # and from which they are called somewhat alike
LEAST_SHARE = 0.1  # of the score for words to be a reason
TELLING = 0.4  # of the weightiest word's share: what adds less is not told
OFTEN = (
    2.5  # times as much as in the library's recent papers: what a reader's papers say that often is the reader's word
)
BESIDE_BEST = 0.15  # of what the weightiest word of the day adds: what adds less is not told
ALONE = 0.5  # the same for a word that is told alone and is not in the title
SHARED = 0.008  # product of a word's weights in two papers from which they share it
LEAST_SHARED = 2  # words that two papers share if one is said to be like the other, and one more if somewhat like
ALIKE = 0.35  # cosine from which two papers are called alike
COMMON = 6  # candidates: a follow that means so many says nothing of one of them
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
    "usual": ("typical",),
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
    ranking: Ranking,
    row: int,
    kind: SectionKind,
    known: Known,
    *,
    explored: bool = False,
    area: str = "",
    varied: Sequence[int] = (),
) -> tuple[Reason, ...]:
    """At most three reasons for a paper, weightiest first; the one for its section before all.

    ``area`` is the key of the area in whose section it stands, if it stands in one; ``varied`` are the rows
    above it, where others with better scores had to stand back for it.
    """
    parts = {name: float(values[row]) for name, values in ranking.parts.items()}
    total = sum(value for value in parts.values() if value > 0) or 1.0
    found = [
        *_followed(ranking, row, parts),
        *_searched(ranking, row, parts, known),
        *_similar(ranking, row, parts, known),
        *_worded(ranking, row, parts, known),
        *_noticed(ranking.papers[row], parts),
    ]
    if not found and ranking.liked is not None:
        found = [*_similar(ranking, row, parts, known, least=0.0), *_worded(ranking, row, parts, known, least=0.0)]
    if found and all(one.kind == "area" for one in found) and _is_common(ranking):
        found = _told_apart(ranking, row, known, found[0], varied=() if explored else varied)
    if explored:
        found.append(_discovered(ranking, row, known))
    first = _FIRST.get(kind)
    found.sort(key=lambda reason: (reason.kind != first, -reason.weight))
    scaled = [Reason(one.kind, one.text, round(one.weight / total, 4), one.papers) for one in found[:MOST]]
    return tuple(scaled) or _usual(ranking, row, known, total) or (_new(ranking.papers[row], area),)


def speaks_for(ranking: Ranking, row: int, known: Known) -> bool:
    """Whether something that is known of the reader can be named that speaks for a paper."""
    told = reasons_for(ranking, row, SectionKind.FRONT, known)
    return any(one.kind not in {"newest", "usual", "notice"} for one in told)


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
        meant = [one for one in ranking.follows[row] if one.kind is kind]
        if kind is InterestKind.AREA:
            meant.sort(key=lambda one: not is_central(ranking.papers[row], one))  # the paper's first area first
        values = [one.value for one in meant]
        weight = weight_of(str(kind), parts)
        if values and weight > 0:
            found.append(Reason(str(kind), _said_of(kind, values), weight))
    return found


def _said_of(kind: InterestKind, values: Sequence[str]) -> str:
    if kind is InterestKind.AUTHOR:
        return f"by {listed(values)}, whom you follow"
    if kind is InterestKind.AREA:
        return f"in {' and in '.join(map(area_title, values))}, which you follow"  # names of areas have an "and" too
    if kind is InterestKind.VENUE:
        return f"at {listed([venue_name(value) for value in values])}, which you follow"
    return f"matches {listed([quoted(value) for value in values])}, which you follow"


def _searched(ranking: Ranking, row: int, parts: Mapping[str, float], known: Known) -> list[Reason]:
    names = [search.name or search.query for search in known.searches if search.id in ranking.searches[row]]
    weight = weight_of("search", parts)
    if not names or weight <= 0:
        return []
    return [Reason("search", f"matches {listed([quoted(name) for name in names])} in your saved searches", weight)]


def _similar(
    ranking: Ranking, row: int, parts: Mapping[str, float], known: Known, least: float = LEAST
) -> list[Reason]:
    weight, liked = weight_of("similar", parts), ranking.liked
    if weight <= 0 or weight < least or liked is None:
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
        if _shared(ranking, row, liked, papers[0]) < LEAST_SHARED + bool(somewhat):
            return []
        text = f"{somewhat}like “{titles[papers[0]]}”, {_ONE[action]}"
    elif topic := _topic(ranking.papers[row], centre):
        text = f"like {len(papers)} {_MANY[action]} on {listed(topic)}"
    else:
        text = f"like “{titles[papers[0]]}” and {len(papers) - 1} more {_MANY[action]}"
    return [Reason("similar", text, weight, tuple(papers[:MOST]))]


def _topic(paper: Paper, centre: InterestCentre | None) -> list[str]:
    """The words of a topic that a paper has itself, two at most: a topic is wide, and the paper may be at its edge."""
    words = centre.words if centre is not None else ()
    return [word for word in words if matches(paper, Interest(InterestKind.KEYWORD, word))][:2]


def _shared(ranking: Ranking, row: int, liked: Liked, paper: PaperId) -> int:
    """How many words a candidate and a liked paper have in common: topics can be near by chance, words are not."""
    at = next(n for n, one in enumerate(liked.papers) if one.id == paper)
    return int((ranking.rows.words[row].multiply(liked.rows.words[at]).data >= SHARED).sum())


def _worded(ranking: Ranking, row: int, parts: Mapping[str, float], known: Known, least: float = LEAST) -> list[Reason]:
    weight, weights = weight_of("words", parts), ranking.word_weights
    total = sum(value for value in parts.values() if value > 0)
    if weight <= 0 or weight < (least and max(least, LEAST_SHARE * total)) or weights is None:
        return []
    found = ranking.rows.words[row]
    values = weights[found.indices] * found.data
    of_day = float(ranking.rows.words.multiply(weights).max())
    least = max(TELLING * float(values.max(initial=0.0)), BESIDE_BEST * of_day, 1e-12)
    own = _own_words(ranking, known.space, found.indices)
    best = {
        known.space.names_[found.indices[n]]: values[n] for n in np.argsort(-values) if own[n] and values[n] >= least
    }
    title = to_plain(ranking.papers[row].title)
    words = shown(list(best)[:20], [f"{title}. {to_plain(ranking.papers[row].abstract)}"], MOST)
    if len(words) == 1:
        ((word, term),) = words.items()
        if len(term.split()) == 1 and word.lower() not in title.lower() and best[term] < ALONE * of_day:
            return []
    return [Reason("words", f"words you come back to: {', '.join(words)}", weight)] if words else []


def _own_words(ranking: Ranking, space: TextSpace, columns: np.ndarray) -> np.ndarray:
    """Which words more than one of the liked papers has, and together say far more often than others do."""
    if ranking.liked is None:
        return np.zeros(len(columns), bool)
    said = ranking.liked.rows.words[:, columns]
    mean = np.asarray(said.mean(axis=0)).ravel()
    return np.asarray((said.getnnz(axis=0) > 1) & (mean >= OFTEN * space.mean_[columns]))


def _noticed(paper: Paper, parts: Mapping[str, float]) -> list[Reason]:
    counted = noticed(paper) if parts.get("popular", 0.0) > 0 else 0
    if counted:
        votes, comments = paper.count("upvotes") or 0, paper.count("comments") or 0
        text = f"{votes:,} upvote{'s' * (votes != 1)}" if votes else f"{comments:,} comment{'s' * (comments != 1)}"
        return [Reason("notice", f"{text}{_where(paper)}", max(weight_of("notice", parts), parts["popular"]))]
    if parts.get("notice", 0.0) >= LEAST_NOTICE:
        return [Reason("notice", "likely to be widely noticed", parts["notice"])]
    return []


def _is_common(ranking: Ranking) -> bool:
    """Whether so many papers are in an area that is followed that this says nothing of one of them."""
    return int((ranking.parts["area"] > 0).sum()) >= COMMON


def _told_apart(ranking: Ranking, row: int, known: Known, area: Reason, *, varied: Sequence[int]) -> list[Reason]:
    """A followed area with what tells the paper from the many others in it, as far as there is anything to tell."""
    if usual := _usual(ranking, row, known, 1.0):
        return [area, replace(usual[0], weight=min(usual[0].weight, area.weight))]
    found = ranking.rows.words[row]
    if varied:
        there = np.asarray(ranking.rows.words[list(varied)][:, found.indices].sum(axis=0)).ravel() > 0
        if words := _about(ranking, row, known, np.where(there, 0.0, found.data)):
            return [area, Reason("variety", f"unlike what stands above it: {', '.join(words)}")]
    words = _about(ranking, row, known, found.data)
    return [replace(area, text=f"{area.text}: {', '.join(words)}")] if words else [area]


def _about(ranking: Ranking, row: int, known: Known, values: np.ndarray) -> list[str]:
    """The two words of a paper with the greatest of these values, which are those of its row's words: float [words]."""
    found, paper = ranking.rows.words[row], ranking.papers[row]
    best = [known.space.names_[found.indices[n]] for n in np.argsort(-values, kind="stable") if values[n] > 0][:20]
    return list(shown(best, [f"{to_plain(paper.title)}. {to_plain(paper.abstract)}"], 2))


def _usual(ranking: Ranking, row: int, known: Known, total: float) -> tuple[Reason, ...]:
    """That a paper is like many others of these days, where that was looked at and it is so more than most are; and
    the words that it has in common with most of them."""
    typical = ranking.parts.get("typical")
    if typical is None or typical[row] <= max(float(typical.std()), 1e-9):
        return ()
    found = ranking.rows.words[row]
    others = np.asarray(ranking.rows.words[:, found.indices].mean(axis=0)).ravel() - found.data / len(ranking.papers)
    words = _about(ranking, row, known, found.data * np.sqrt(np.maximum(others, 0)))
    text = f"typical of what is new: {', '.join(words)}" if words else "typical of what is new"
    return (Reason("usual", text, round(float(typical[row]) / total, 4)),)


def _where(paper: Paper) -> str:
    return " on Hugging Face" if any(place.source.startswith("huggingface") for place in paper.places) else ""


def _discovered(ranking: Ranking, row: int, known: Known) -> Reason:
    """What is new about a discovery: an area that the reader does not read, else what the paper is about."""
    paper = ranking.papers[row]
    keys = [area_key(area) for area in paper.areas]
    if keys and ranking.areas and not any(ranking.areas.get(key) for key in keys):
        return Reason("discovery", f"new to you: {area_title(keys[0])}")
    words = _about(ranking, row, known, ranking.rows.words[row].data)
    return Reason("discovery", f"new to you: {', '.join(words)}" if words else "drawn from what you do not read")


def _new(paper: Paper, area: str) -> Reason:
    key = area or (area_key(paper.areas[0]) if paper.areas else NO_AREA)
    return Reason("newest", "among the newest" if key == NO_AREA else f"new in {area_title(key)}")


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
