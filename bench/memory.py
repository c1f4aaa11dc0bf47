"""What the daily paper's memory costs: one event, a whole history, its state, features of texts, a day's ranking.

The papers are real (the last of the shared arXiv days, and the picks of the curated lists); events are made up, and so
are the vectors of 384 dimensions, which stand for an encoder's. Goals are those of the daily paper: an event in
5 ms, a thousand candidates in 100 ms, a state of 300 kB. Groups of papers are compared with the lists that they were
taken from by the adjusted Rand index (Hubert and Arabie 1985) on the reporting half of the lists.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from bench.common import percentiles, save, timed
from bench.feed.stream import Pick, Stream, halves, read_lists, read_stream
from broadsheet.learn.centres import InterestCentres, interest_centres
from broadsheet.learn.daily import DailyRanker
from broadsheet.learn.memory import ReaderMemory, day_of, replayed
from broadsheet.learn.space import TextSpace
from broadsheet.model.reading import Action, Event
from broadsheet.text import clean, to_plain

FITTED, NEW, LIKED, BACKGROUND = 5000, 1000, 200, 2000
START = datetime(2026, 1, 1, tzinfo=UTC)
DONE = (Action.OPEN, Action.SAVE, Action.LIKE, Action.DISMISS)


def texts_of(papers: list[dict[str, Any]]) -> list[str]:
    """Plain title and abstract of each paper."""
    return [f"{to_plain(clean(paper['title']))}. {to_plain(clean(paper['abstract']))}" for paper in papers]


def history(count: int, papers: int) -> list[Event]:
    """Events on so many papers, seven minutes apart; every fifth paper's last one is undone."""
    events = []
    for n in range(1, count + 1):
        moment = START + timedelta(minutes=7 * n)
        if n % 5 == 0:
            events.append(Event(n, "me", Action.UNDO, 0, moment, undoes=n - 1))
        else:
            events.append(Event(n, "me", DONE[n % len(DONE)], 1_000_000 + n % papers, moment))
    return events


def repeated(times: int, function: Callable[[], Any]) -> dict[str, float]:
    """Median and 95th percentile of the milliseconds of a call, and the median of its processor time."""
    passed, worked = [], []
    for _ in range(times):
        begin = time.process_time()
        passed.append(timed(function)[0])
        worked.append((time.process_time() - begin) * 1000)
    return percentiles(passed) | {"processor": percentiles(worked)["p50"]}


def events_figures() -> dict[str, Any]:
    """Updates, replays and the state."""
    memory: ReaderMemory[int] = ReaderMemory()
    for paper in range(2000):
        memory.update(Action.SAVE, 1_000_000 + paper, day_of(START) + paper / 10)
    day = day_of(START) + 300
    spent = [timed(memory.update, Action.SAVE, 2_000_000 + n, day + n / 100)[0] for n in range(500)]
    state = replayed(history(10_000, 4999)).to_record()
    whole = {f"replay of {count:,} events, ms": history(count, 2000) for count in (2000, 10_000)}
    return {
        "one event, memory of 2,000 papers, ms": percentiles(spent),
        **{name: repeated(20, lambda events=events: replayed(events)) for name, events in whole.items()},
        "goal for one event, ms": 5,
        f"state of {len(state['papers']):,} papers, kB of JSON": round(len(json.dumps(state)) / 1000, 1),
        "goal for the state, kB": 300,
    }


def space_figures(texts: list[str]) -> tuple[TextSpace, dict[str, Any]]:
    """Fitting, transforming and keeping the text space."""
    begin = time.process_time()
    spent, space = timed(TextSpace().fit, texts[:FITTED])
    worked = time.process_time() - begin
    new = texts[FITTED:]
    first, again = timed(space.transform, new)[0], timed(space.transform, new)[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "space.npz"
        saved, loaded, size = timed(space.save, path)[0], timed(TextSpace.load, path)[0], path.stat().st_size
    return space, {
        f"fit on {FITTED:,} abstracts, s": round(spent / 1000, 2),
        "of it processor time, s": round(worked, 2),
        f"transform of {NEW:,} abstracts, ms": round(first, 1),
        "the same again, ms": round(again, 1),
        "saved and loaded, ms": [round(saved, 1), round(loaded, 1)],
        "file, MB": round(size / 1e6, 1),
        "terms": len(space.names_),
    }


def ranking_figures(words: sparse.csr_matrix, seed: int = 0) -> dict[str, Any]:
    """A day of 1,000 candidates for a reader of 200 liked papers; ``words`` are of enough papers, in their order."""
    vectors = np.random.default_rng(seed).normal(size=(words.shape[0], 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    liked, others = slice(0, LIKED), slice(LIKED, LIKED + BACKGROUND)
    day = slice(LIKED + BACKGROUND, LIKED + BACKGROUND + NEW)
    traces = np.random.default_rng(seed).uniform(0.01, 1, (LIKED, 2))
    ranker = DailyRanker()

    def fit() -> None:
        ranker.fit(words[liked], vectors[liked], traces, words[others], vectors[others])

    return {
        f"fit to {LIKED} liked papers and {BACKGROUND:,} others, ms": repeated(5, fit),
        f"ranking {NEW:,} candidates, ms": repeated(
            20, lambda: ranker.parts(words[day], vectors[day], np.zeros(NEW, np.float64))
        ),
        "goal for the ranking, ms": 100,
    }


def own_papers(picks: list[Pick], count: int, rng: np.random.Generator) -> list[int]:
    """Some papers of one list."""
    papers = list(dict.fromkeys(pick.paper for pick in picks))
    return [papers[n] for n in rng.permutation(len(papers))[:count]]


def centres_figures(space: TextSpace, stream: Stream) -> dict[str, Any]:
    """Time for the centres with their words, and how well groups meet the lists and stay when a paper is added."""
    lists = read_lists(stream)
    names = halves(list(lists))["reporting"]
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for count in (6, 12, 60, 180):
        agreed, stayed, groups, alone = [], [], [], []
        for _ in range(20):
            three = rng.choice(len(names), 3, replace=False)
            papers = [own_papers(lists[names[n]], count // 3, rng) for n in three]
            labels = np.repeat(np.arange(3), [len(some) for some in papers])
            topics = _topics(space, stream, [paper for some in papers for paper in some])
            mine = _grouped(space, topics)
            agreed.append(adjusted_rand_score(labels, mine))
            stayed.append(adjusted_rand_score(_grouped(space, topics[:-1]), mine[:-1]))
            groups.append(len(set(mine.tolist())))
            single = own_papers(lists[names[three[0]]], count, rng)
            alone.append(len(set(_grouped(space, _topics(space, stream, single)).tolist())))
        found[f"{count} papers of three lists"] = {
            "agreement with the lists": round(float(np.mean(agreed)), 3),
            "agreement with the groups before the last paper": round(float(np.mean(stayed)), 3),
            "groups": round(float(np.mean(groups)), 2),
            "groups of as many papers of one list": round(float(np.mean(alone)), 2),
        }
    texts = texts_of(stream.papers[-2000:])
    rows = space.transform(texts)
    for count in (LIKED, 2000):
        ids = list(range(count))
        spent, _ = timed(
            lambda ids=ids: interest_centres(
                ids,
                np.ones(len(ids)),
                space=space,
                words=rows[0][: len(ids)],
                topics=rows[1][: len(ids)],
                texts=dict(zip(ids, texts, strict=False)),
            )
        )
        found[f"centres and their words, {count:,} papers, ms"] = round(spent, 1)
    return found


def _topics(space: TextSpace, stream: Stream, papers: list[int]) -> np.ndarray:
    return space.transform(texts_of([stream.papers[paper] for paper in papers]))[1]


def _grouped(space: TextSpace, topics: np.ndarray) -> np.ndarray:
    return InterestCentres().fit(topics, np.ones(len(topics)), space.common_).labels_


def main() -> None:
    """Measure and write ``bench/results/memory.json``."""
    stream = read_stream()
    texts = texts_of(stream.papers[-FITTED - NEW :])
    space, figures = space_figures(texts)
    words, _ = space.transform(texts[-LIKED - BACKGROUND - NEW :])
    save(
        "memory",
        {
            "events": events_figures(),
            "text space": figures,
            "ranking": ranking_figures(words),
            "interest centres": centres_figures(space, stream),
        },
    )
