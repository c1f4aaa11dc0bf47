"""Ranks the papers of a window for one reader: each part of the score by its name, so that reasons can be told from
them.

What the memory says comes from ``learn.daily``; what the reader decided (follows, searches, emphasis) is added here.
Without anything liked, follows and notice decide; without either, popularity and what is typical of the day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from broadsheet.feed.areas import area_key
from broadsheet.feed.features import Features, Rows, popularity
from broadsheet.feed.profile import is_central, matches
from broadsheet.learn.daily import DailyRanker
from broadsheet.learn.memory import ReaderMemory, day_of
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Interest, InterestKind, Profile

# What a reader decided, in deviations of the learned parts: our choice, not measured. Two of a kind count double, more
# no more.
FOLLOWED = {InterestKind.AUTHOR: 2.0, InterestKind.KEYWORD: 1.0, InterestKind.VENUE: 0.5, InterestKind.AREA: 0.6}
MOST_OF_A_KIND = 2
# Of its weight for a keyword that only the abstract has, and for an area that is not the paper's first.
IN_PASSING = {InterestKind.KEYWORD: 0.6, InterestKind.AREA: 0.5}
SEARCHED = 1.0
POPULAR = 0.2  # upvotes beside what the memory says; without a memory they weigh 1
TYPICAL = 0.3  # nearness to the day's other papers, where nothing is known of the reader
EXPECTED = 0.5  # expected notice, where there is no memory that weighs it
DECIDED = 0.4  # of these where the reader follows something: what was asked for comes first
DISMISSED = 3.0  # by how much nearer to a dismissed paper (cosine) than to any liked one, at most 0.7
_FARTHEST = 0.7
ENCODED = 0.9  # of the papers that are compared must have an encoder's vector, for it to be used


@dataclass(frozen=True)
class Mind:
    """What is known of a reader: the memory, its papers as far as the library has them, and what the reader decided."""

    memory: ReaderMemory[PaperId]
    papers: Mapping[PaperId, Paper]
    profile: Profile


@dataclass(frozen=True)
class Liked:
    """The papers that the memory holds on the reader's side: rows and traces float64 [papers, 3] in the same order."""

    papers: tuple[Paper, ...]
    rows: Rows
    traces: np.ndarray


@dataclass(frozen=True)
class Ranking:
    """Candidates with everything an edition says of them; arrays are in the order of ``papers``.

    ``parts`` float64 [papers] by name, already weighted: their sum is ``scores``. ``follows`` are the interests that
    mean each paper, ``searches`` the ids of the saved searches that found it. ``word_weights`` float64 [words] is what
    the ranker thinks of each word, None without a memory.
    """

    papers: tuple[Paper, ...]
    rows: Rows
    parts: Mapping[str, np.ndarray]
    scores: np.ndarray
    basis: str
    liked: Liked | None
    areas: Mapping[str, float]
    follows: tuple[tuple[Interest, ...], ...]
    searches: tuple[tuple[int, ...], ...]
    word_weights: np.ndarray | None = None
    notes: tuple[str, ...] = field(default=())


def rank(
    papers: Sequence[Paper],
    features: Features,
    mind: Mind,
    found_by: Mapping[int, Sequence[int]],
    *,
    now: datetime,
    seed: int,
) -> Ranking:
    """Rank candidates (at least one).

    ``found_by`` holds, by the id of a saved search, the rows of the candidates that it found.
    """
    rows = features.rows(papers)
    profile = mind.profile
    liked, dismissed = sides(features, mind, day_of(now))
    notes: list[str] = []
    usable = liked if liked is not None and _says_something(liked.rows) else None
    if liked is not None and usable is None:
        notes.append("The papers you liked have no text that could be compared; this edition goes by the rest.")
    follows = tuple(tuple(one for one in profile.follows if matches(paper, one)) for paper in papers)
    searches = _searches(len(papers), found_by)
    word_weights = None
    if usable is not None:
        parts, word_weights = _learned(papers, rows, features, usable, seed)
        parts["popular"] = POPULAR * popularity(papers)
        basis = "memory"
    else:
        parts = _unlearned(papers, rows, features)
        basis = "profile" if profile.follows or profile.searches else "nothing"
        if basis == "nothing":
            notes.append(_NOTHING if parts["popular"].any() or parts["notice"].any() else _NOTHING_NOTICED)
        else:
            parts |= {name: DECIDED * parts[name] for name in ("notice", "typical")}
    if dismissed is not None:
        parts["dismissed"] = _nearer(rows, dismissed, usable)
    parts |= _decided(papers, follows, searches)
    emphasis = dict(profile.emphasis)
    weighted = {name: emphasis.get(name, 1.0) * values for name, values in parts.items()}
    scores = np.sum(list(weighted.values()), axis=0)
    areas = read_areas(usable, profile)
    return Ranking(
        tuple(papers), rows, weighted, scores, basis, usable, areas, follows, searches, word_weights, tuple(notes)
    )


_REMEDY = "Save or like a paper, name a few as examples, or follow an area, an author or a word."
_NOTHING = f"Nothing is known of you yet: this edition goes by what others take notice of, and by diversity. {_REMEDY}"
_NOTHING_NOTICED = (
    "Nothing is known of you yet, nor what others take notice of: this edition goes by what is typical of the day, and "
    f"by diversity. {_REMEDY}"
)


def read_areas(liked: Liked | None, profile: Profile) -> dict[str, float]:
    """How much a reader reads each area: shares of the remembered papers (a paper's later areas count less); a followed
    area counts as much as all of them together."""
    found: dict[str, float] = defaultdict(float)
    if liked is not None:
        total = float(liked.traces[:, -1].sum()) or 1.0
        for paper, trace in zip(liked.papers, liked.traces[:, -1], strict=True):
            for n, key in enumerate(dict.fromkeys(map(area_key, paper.areas))):
                found[key] += float(trace) / total / (n + 1)
    for interest in profile.follows:
        if interest.kind is InterestKind.AREA:
            found[interest.value] += 1.0
    return dict(found)


def sides(features: Features, mind: Mind, day: float) -> tuple[Liked | None, Liked | None]:
    """What the memory holds in favour of papers, and against them."""
    ids, traces = mind.memory.read(day)
    sides = []
    for sign in (1, -1):
        at = [n for n, paper in enumerate(ids) if sign * traces[n, -1] > 0 and paper in mind.papers]
        papers = tuple(mind.papers[ids[n]] for n in at)
        sides.append(Liked(papers, features.rows(papers), np.maximum(sign * traces[at], 0)) if at else None)
    return sides[0], sides[1]


def _says_something(rows: Rows) -> bool:
    return bool(rows.words.nnz)


def _learned(
    papers: Sequence[Paper],
    rows: Rows,
    features: Features,
    liked: Liked,
    seed: int,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    known = {paper.id for paper in liked.papers}
    others = features.background(known | {paper.id for paper in papers}, seed) or list(papers)  # a library of one day
    background = features.rows(others)
    mine, theirs, these = _encoded(features, (liked.papers, others, papers))
    ranker = DailyRanker().fit(
        liked.rows.words,
        liked.rows.vectors,
        liked.traces[:, 1:],
        background.words,
        background.vectors,
        encoded=mine,
        other_encoded=theirs,
    )
    expected = features.notice(papers)
    notice = expected if expected is not None else np.zeros(len(papers))
    parts = ranker.parts(rows.words, rows.vectors, notice, these)
    return dict(parts), ranker.classifier_.coef_[: rows.words.shape[1]]


def _encoded(features: Features, groups: Sequence[Sequence[Paper]]) -> list[np.ndarray | None]:
    """An encoder's vectors of each group of papers, or none of any where fewer than 90 % of the papers have one."""
    found = [features.encoded([paper.id for paper in papers]) for papers in groups]
    there = [vectors for vectors in found if vectors is not None]
    held = sum(int(vectors.any(axis=1).sum()) for vectors in there)
    if len(there) < len(groups) or held < ENCODED * sum(map(len, groups)):
        return [None] * len(groups)
    return list(there)


def _unlearned(papers: Sequence[Paper], rows: Rows, features: Features) -> dict[str, np.ndarray]:
    expected = features.notice(papers)
    typical = rows.vectors @ rows.vectors.mean(axis=0)
    return {
        "popular": popularity(papers),
        "notice": EXPECTED * _standard(expected) if expected is not None else np.zeros(len(papers)),
        "typical": TYPICAL * _standard(typical),
    }


def _nearer(rows: Rows, dismissed: Liked, liked: Liked | None) -> np.ndarray:
    """A penalty for papers that are nearer to a dismissed paper than to any liked one: float64 [papers] ≤ 0."""
    against = (rows.vectors @ dismissed.rows.vectors.T) * dismissed.traces[:, -1]
    favour = (rows.vectors @ liked.rows.vectors.T) * liked.traces[:, -1] if liked is not None else np.zeros((1, 1))
    nearer = against.max(axis=1) - np.maximum(favour.max(axis=1), 0)
    return np.asarray(-DISMISSED * np.clip(nearer, 0, _FARTHEST), np.float64)


def _decided(
    papers: Sequence[Paper], follows: Sequence[Sequence[Interest]], searches: Sequence[Sequence[int]]
) -> dict[str, np.ndarray]:
    found = {str(kind): np.zeros(len(follows)) for kind in FOLLOWED}
    for row, interests in enumerate(follows):
        for kind, weight in FOLLOWED.items():
            worth = sorted(_worth(papers[row], one) for one in interests if one.kind is kind)
            found[str(kind)][row] = weight * sum(worth[-MOST_OF_A_KIND:])
    found["search"] = np.array([SEARCHED * min(len(ids), 1) for ids in searches], np.float64)
    return found


def _worth(paper: Paper, interest: Interest) -> float:
    return 1.0 if is_central(paper, interest) else IN_PASSING.get(interest.kind, 1.0)


def _searches(count: int, found_by: Mapping[int, Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in range(count)]
    for search, rows in found_by.items():
        for row in rows:
            found[row].append(search)
    return tuple(map(tuple, found))


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1; zeros where all are equal."""
    centred = np.asarray(values, np.float64) - np.mean(values)
    spread = centred.std()
    return np.asarray(centred / spread) if spread > 1e-9 else np.zeros(len(centred))
