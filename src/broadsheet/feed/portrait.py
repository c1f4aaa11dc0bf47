"""What the paper thinks a reader likes, in words that a person can check and correct."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
import orjson

from broadsheet.feed.desk import FOLLOWED, POPULAR, SEARCHED, Liked, Mind, read_areas, sides
from broadsheet.feed.features import Features
from broadsheet.learn.daily import DailyRanker
from broadsheet.learn.memory import day_of, in_force
from broadsheet.learn.terms import shown
from broadsheet.model import PaperId
from broadsheet.model.reading import Action, Event, InterestCentre, MemoryView, Profile, RememberedPaper
from broadsheet.text import fold, to_plain

WORDS, AUTHORS = 40, 30
FEW, OF_FEW = 4, 8  # below so many liked papers, at most so many words
_RANKED = 400  # terms among which those are looked for that tell a person something


def portrait(
    name: str,
    events: Sequence[Event],
    mind: Mind,
    features: Features,
    centres: Sequence[InterestCentre],
    *,
    now: datetime,
) -> MemoryView:
    """The view of a reader's memory."""
    liked, _ = sides(features, mind, day_of(now))
    record = orjson.dumps(mind.memory.to_record())
    return MemoryView(
        reader=name,
        events=mind.memory.events_,
        papers=_remembered(mind, events, now),
        centres=tuple(centres),
        words=_words(features, liked),
        authors=_authors(liked),
        areas=_first(read_areas(liked, mind.profile).items()),
        parts=_parts(liked, mind.profile, encoded=features.encoded([]) is not None),
        size=len(record),
    )


def _remembered(mind: Mind, events: Sequence[Event], now: datetime) -> tuple[RememberedPaper, ...]:
    """Papers with their traces, those remembered strongest (for or against) first; of each the last thing that was done
    with it, an opening only where nothing else was.
    """
    last: dict[PaperId, Event] = {}
    for event in in_force(events):
        if event.action is not Action.OPEN or last.get(event.paper, event).action is Action.OPEN:
            last[event.paper] = event
    papers = mind.papers
    ids, traces = mind.memory.read(day_of(now))
    found = [
        RememberedPaper(
            paper,
            papers[paper].title,
            tuple(round(float(trace), 4) for trace in row),
            last[paper].action,
            last[paper].moment,
        )
        for paper, row in zip(ids, traces, strict=True)
        if paper in papers and paper in last
    ]
    return tuple(sorted(found, key=lambda one: (-max(map(abs, one.traces)), -one.moment.timestamp(), one.paper)))


def _words(features: Features, liked: Liked | None) -> tuple[tuple[str, float], ...]:
    """What the liked papers say more often than the recent papers of the library do.

    A word of one paper says little of its reader: a few are shown while few papers are liked, and none later.
    """
    if liked is None or not liked.rows.words.nnz:
        return ()
    count = len(liked.papers)
    said = liked.rows.words.getnnz(axis=0) >= (1 if count < FEW else 2)
    share = liked.traces[:, -1] / max(float(liked.traces[:, -1].sum()), 1e-12)
    gain = np.asarray(liked.rows.words.T @ share).ravel() - features.space.mean_
    order = [n for n in np.argsort(-np.where(said, gain, 0))[:_RANKED] if said[n] and gain[n] > 0]
    weight = {features.space.names_[n]: float(gain[n]) for n in order}
    texts = [f"{to_plain(paper.title)}. {to_plain(paper.abstract)}" for paper in liked.papers]
    found = shown(list(weight), texts, WORDS if count >= FEW else OF_FEW)
    best = max(weight.values(), default=1.0)
    ranked = {word: weight[term] / best for word, term in found.items()}
    return _first((word, value) for word, value in ranked.items() if value > 0)


def _authors(liked: Liked | None) -> tuple[tuple[str, float], ...]:
    """Authors of more than one liked paper, by the sum of the traces."""
    found: dict[str, float] = defaultdict(float)
    many: dict[str, int] = defaultdict(int)
    names: dict[str, str] = {}
    if liked is not None:
        for paper, trace in zip(liked.papers, liked.traces[:, -1], strict=True):
            for author in paper.authors:
                key = fold(author)  # not by initials: too many people share those
                found[key] += float(trace)
                many[key] += 1
                names.setdefault(key, author)
    return _first((names[key], value) for key, value in found.items() if many[key] > 1)[:AUTHORS]


def _parts(liked: Liked | None, profile: Profile, *, encoded: bool) -> dict[str, float]:
    """The weight of each part of the score as it is in use: learned ones, decided ones, times the reader's emphasis."""
    found: dict[str, float] = {"popular": POPULAR if liked is not None else 1.0, "search": SEARCHED}
    found |= {str(kind): weight for kind, weight in FOLLOWED.items()}
    if liked is not None:
        ranker = DailyRanker()
        ranker.known_ = len(liked.papers)
        found |= {name: weight for name, weight in ranker.weights().items() if encoded or name != "meaning"}
    emphasis = dict(profile.emphasis)
    return {name: round(weight * emphasis.get(name, 1.0), 4) for name, weight in sorted(found.items())}


def _first(pairs: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(((name, round(value, 4)) for name, value in pairs), key=lambda pair: (-pair[1], pair[0])))
