"""Search results in the order of a reader's memory: does a paper that the reader picked later come up sooner?

Readers are curated lists and unions of three of them (``bench.feed``). Of a later pick only a short, ambiguous question
is asked, on the day on which it was picked: the one or two words of its title with the greatest IDF among those that at
least one paper in a hundred has. Candidates are all papers listed until then, ordered by BM25 over title and abstract;
the first of them are ordered again with the memory of what was picked on earlier days. Beside it: the same with another
list's memory, or with as many random papers in the memory, with the newest first (the product's own order of that
name), and questions made in the same way of random papers, which have nothing to do with the reader.

Reach and share are chosen on the tuning half of the lists; the reporting half is asked with what the product has.
"""

from __future__ import annotations

import os
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from bench.common import percentiles, save
from bench.feed.readers import KNOWN, union
from bench.feed.stream import Pick, Stream, halves, read_lists, read_stream
from broadsheet.learn.memory import ReaderMemory
from broadsheet.learn.personal import REACH, SHARE, blended, likeness, taste
from broadsheet.rank.fusion import scaled

AT_LEAST = 0.01  # share of all papers that have a word of a question
WORDS = (1, 2)
QUESTIONS = {"single": 60, "mixed": 30}  # of a reader, spread over the picks
REACHES, SHARES = (50, 100, 200), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
MOST_LOST = 0.01  # of MRR on questions that have nothing to do with the reader
NEWEST_SHARE = 0.5  # as the search desk does it
K1, B = 1.2, 0.75
RESAMPLES = 2000

Likeness = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Words:
    """BM25 over title and abstract of all papers, for words that many papers have; IDF and lengths are of all days."""

    def __init__(self, papers: Sequence[dict[str, Any]]) -> None:
        texts = [f"{paper['title']} {paper['abstract']}" for paper in papers]
        vectorizer = CountVectorizer(stop_words="english", token_pattern=r"\b[a-z][a-z0-9]+\b", min_df=AT_LEAST)
        counts = vectorizer.fit_transform(texts).tocsc().astype(np.float64)
        counts.sort_indices()
        having = np.diff(counts.indptr)
        self.idf = np.log1p((len(texts) - having + 0.5) / (having + 0.5))
        lengths = np.array([len(text.split()) for text in texts], np.float64)
        norm = K1 * (1 - B + B * lengths / lengths.mean())
        counts.data *= (K1 + 1) / (counts.data + norm[counts.indices])
        counts.data *= np.repeat(self.idf, having)
        self._weights, self._column, self._split = counts, vectorizer.vocabulary_, vectorizer.build_analyzer()

    def question(self, title: str, count: int) -> tuple[int, ...]:
        """Columns of the words of a title with the greatest IDF; none where there are too few."""
        known = {self._column[word] for word in self._split(title) if word in self._column}
        ordered = sorted(known, key=lambda column: (-self.idf[column], column))
        return tuple(ordered[:count]) if len(ordered) >= count else ()

    def scores(self, question: Sequence[int], papers: int) -> np.ndarray:
        """float64 [papers], of the first so many."""
        found, weights = np.zeros(papers), self._weights
        for column in question:
            span = slice(weights.indptr[column], weights.indptr[column + 1])
            upto = np.searchsorted(weights.indices[span], papers)
            found[weights.indices[span][:upto]] += weights.data[span][:upto]
        return found


@dataclass(frozen=True)
class Reader:
    """Who asks: a kind, the lists, their picks in the order of time."""

    kind: str
    lists: tuple[str, ...]
    picks: tuple[Pick, ...]

    @property
    def name(self) -> str:
        """The lists' names."""
        return " + ".join(self.lists)

    def asked(self) -> list[Pick]:
        """Picks that questions are made of: spread over those with enough picks on earlier days."""
        days = np.array([pick.added for pick in self.picks])
        known = [pick for pick in self.picks if pick.added >= pick.listed and (days < pick.added).sum() >= KNOWN]
        some = np.linspace(0, len(known) - 1, min(QUESTIONS[self.kind], len(known)))
        return [known[n] for n in np.unique(some.astype(int))]


@dataclass(frozen=True)
class Asked:
    """One question with the pool that it finds: rows of papers and their relevance, best first; where the paper to be
    found stands by relevance alone (from 1)."""

    reader: Reader
    words: int
    about: str
    paper: int
    day: int
    pool: np.ndarray
    relevance: np.ndarray
    place: int

    def rank(self, liked: np.ndarray, reach: int, share: float) -> int:
        """Where the paper stands after the first ``reach`` were put in another order."""
        top = self.pool[:reach]
        if self.paper not in top:
            return self.place
        scores = blended(self.relevance[:reach], liked[:reach], share)
        return 1 + int(np.flatnonzero(top[np.argsort(-scores, kind="stable")] == self.paper)[0])

    @cached_property
    def seed(self) -> int:
        """For everything about this question that is drawn by lot."""
        return zlib.crc32(f"{self.reader.kind} {self.reader.name} {self.words} {self.paper}".encode())


def readers_of(lists: dict[str, list[Pick]], names: Sequence[str]) -> list[Reader]:
    """Every list of a half, and all unions of three."""
    chosen = [("single", (name,)) for name in names] + [("mixed", some) for some in combinations(names, 3)]
    return [Reader(kind, some, union([lists[name] for name in some])) for kind, some in chosen]


def remembered(picks: Sequence[Pick], day: int) -> tuple[np.ndarray, np.ndarray]:
    """Papers picked before a day and the longest of their traces."""
    memory: ReaderMemory[int] = ReaderMemory()
    for pick in picks:
        if pick.added < day:
            memory.update("save", pick.paper, pick.added)
    papers, traces = memory.read(day)
    return np.array(papers, np.int64), traces[:, -1]


def _asked(  # noqa: PLR0917 - a question is made of all of these
    reader: Reader, about: str, paper: int, day: int, words: Words, stream: Stream, count: int
) -> Asked | None:
    question = words.question(stream.papers[paper]["title"], count)
    if not question:
        return None
    scores = words.scores(question, stream.listing(day)[1])
    pool = np.lexsort((np.arange(len(scores)), -scores))[: max(REACHES)]
    pool = pool[scores[pool] > 0]
    place = 1 + int((scores > scores[paper]).sum() + (scores[:paper] == scores[paper]).sum())
    return Asked(reader, count, about, paper, day, pool, scores[pool] / scores[pool[0]], place)


def questions(reader: Reader, words: Words, stream: Stream) -> Iterator[Asked]:
    """Questions about the reader's later picks, and as many about random papers listed until the same day."""
    for pick in reader.asked():
        known, _ = remembered(reader.picks, pick.added)
        if pick.paper in known:
            continue
        for count in WORDS:
            if made := _asked(reader, "own", pick.paper, pick.added, words, stream, count):
                yield made
                rng = np.random.default_rng(made.seed)
                for paper in rng.integers(stream.listing(pick.added)[1], size=100):
                    other = _asked(reader, "unrelated", int(paper), pick.added, words, stream, count)
                    if other:
                        yield other
                        break


@dataclass(frozen=True)
class Result:
    """Ranks by order of results, for one question."""

    asked: Asked
    ranks: dict[str, int]


def _scaled(liked: np.ndarray) -> np.ndarray:
    return scaled(liked, float(liked.min()), float(liked.max()))


def mean(vectors: np.ndarray, remembered: np.ndarray, traces: np.ndarray) -> np.ndarray:
    """The product's read-out."""
    return likeness(vectors, taste(remembered, traces))


def nearest(vectors: np.ndarray, remembered: np.ndarray, traces: np.ndarray) -> np.ndarray:
    """Mean of the ten greatest cosines times traces."""
    found = np.sort((vectors @ remembered.T) * traces, axis=1)[:, -10:]
    return np.clip(found.mean(axis=1), 0, 1)


def pooled(vectors: np.ndarray, remembered: np.ndarray, traces: np.ndarray) -> np.ndarray:
    """Cosine to the papers that each paper attends to (inverse temperature 5)."""
    cosines = vectors @ remembered.T
    weights = np.exp(5 * cosines) * traces
    return np.clip((weights * cosines).sum(axis=1) / weights.sum(axis=1), 0, 1)


def near_the_question(relevance: np.ndarray) -> Likeness:
    """A read-out that attends to what the question is about: remembered papers near to the mean of what it found."""

    def liked(vectors: np.ndarray, remembered: np.ndarray, traces: np.ndarray) -> np.ndarray:
        question = relevance @ vectors
        weights = traces * np.exp(5 * remembered @ (question / np.linalg.norm(question)))
        return mean(vectors, remembered, weights)

    return liked


def tuned(asked: Asked, stream: Stream) -> Result:
    """Ranks with every read-out, reach and share."""
    papers, traces = remembered(asked.reader.picks, asked.day)
    vectors, known = stream.topics[asked.pool], stream.topics[papers]
    readouts = {
        "mean": mean,
        "nearest ten": nearest,
        "pooled": pooled,
        "near the question": near_the_question(asked.relevance),
    }
    ranks = {"relevance": asked.place}
    for name, readout in readouts.items():
        liked = readout(vectors, known, traces)
        for reach in REACHES:
            for share in SHARES:
                ranks[f"{name}, {reach}, {share}"] = asked.rank(liked, reach, share)
                ranks[f"{name} stretched, {reach}, {share}"] = asked.rank(_scaled(liked[:reach]), reach, share)
    return Result(asked, ranks)


def reported(asked: Asked, stream: Stream, lists: dict[str, list[Pick]], names: Sequence[str]) -> Result:
    """Ranks with the product's read-out, and of the controls."""
    rng = np.random.default_rng(asked.seed + 1)
    papers, traces = remembered(asked.reader.picks, asked.day)
    vectors = stream.topics[asked.pool]

    def rank(papers: np.ndarray, traces: np.ndarray) -> int:
        return asked.rank(mean(vectors, stream.topics[papers], traces), REACH, SHARE)

    others = [remembered(lists[name], asked.day) for name in names if name not in asked.reader.lists]
    others = [other for other in others if len(other[0])]
    random = rng.integers(stream.listing(asked.day - 1)[1], size=len(papers))
    top = asked.pool[asked.relevance >= NEWEST_SHARE]
    place = np.flatnonzero(top[np.argsort(-stream.days[top], kind="stable")] == asked.paper)
    return Result(
        asked,
        {
            "relevance": asked.place,
            "for you": rank(papers, traces),
            "another list's memory": rank(*others[rng.integers(len(others))]) if others else asked.place,
            "random papers in the memory": rank(random, traces),
            "newest of the most relevant": int(place[0]) + 1 if len(place) else asked.place,
        },
    )


def by_reader(results: Sequence[Result], order: str, kind: str, count: int, what: str) -> np.ndarray:
    """MRR, recall@10 by reader: float64 [readers, 2]."""
    ranks: dict[str, list[int]] = defaultdict(list)
    for result in results:
        asked = result.asked
        if (asked.reader.kind, asked.words, asked.about) == (kind, count, what):
            ranks[asked.reader.name].append(result.ranks[order])
    return np.array([[np.mean(1 / np.array(some)), np.mean(np.array(some) <= 10)] for some in ranks.values()])


def _cells(results: Sequence[Result], order: str, what: str) -> list[float]:
    return [float(by_reader(results, order, kind, n, what).mean(axis=0)[0]) for kind in QUESTIONS for n in WORDS]


def tuning_figures(results: Sequence[Result]) -> dict[str, Any]:
    """The best reach and share of each read-out under the limit of loss; means of the MRR over kinds and words."""
    best: dict[str, dict[str, Any]] = {}
    base = {what: float(np.mean(_cells(results, "relevance", what))) for what in ("own", "unrelated")}
    for order in results[0].ranks:
        own = float(np.mean(_cells(results, order, "own")))
        unrelated = float(np.mean(_cells(results, order, "unrelated")))
        readout = order.partition(",")[0]
        if base["unrelated"] - unrelated <= MOST_LOST and own > best.get(readout, {"own": -1.0})["own"]:
            best[readout] = {"order": order, "own": round(own, 4), "unrelated": round(unrelated, 4)}
    return best


def _interval(gaps: np.ndarray, seed: int = 0) -> list[float]:
    """Percentile bootstrap over questions within each reader, readers as they are: there are too few to resample."""
    rng = np.random.default_rng(seed)
    drawn = [np.mean([some[rng.integers(len(some), size=len(some))].mean() for some in gaps]) for _ in range(RESAMPLES)]
    return [round(float(value), 4) for value in np.percentile(drawn, [2.5, 97.5])]


def _gaps(results: Sequence[Result], kind: str, count: int, what: str) -> list[np.ndarray]:
    gaps: dict[str, list[float]] = defaultdict(list)
    for result in results:
        asked = result.asked
        if (asked.reader.kind, asked.words, asked.about) == (kind, count, what):
            gaps[asked.reader.name].append(1 / result.ranks["for you"] - 1 / result.ranks["relevance"])
    return [np.array(some) for some in gaps.values()]


def report_figures(results: Sequence[Result]) -> dict[str, Any]:
    """Everything about one half, by kind of reader, number of words and what the questions are about."""
    found: dict[str, Any] = {}
    for kind in QUESTIONS:
        for count in WORDS:
            for what in ("own", "unrelated"):
                gaps = _gaps(results, kind, count, what)
                cell: dict[str, Any] = {"questions": sum(map(len, gaps)), "readers": len(gaps)}
                for order in results[0].ranks:
                    means = by_reader(results, order, kind, count, what).mean(axis=0)
                    cell[order] = {"mrr": round(float(means[0]), 4), "recall@10": round(float(means[1]), 4)}
                cell["difference in mrr, for you − relevance"] = {
                    "value": round(float(np.mean([some.mean() for some in gaps])), 4),
                    "interval_95": _interval(gaps),
                }
                found[f"{kind}, {count} {'word' if count == 1 else 'words'}, {what}"] = cell
    return found


def _cost(stream: Stream) -> dict[str, float]:
    vectors, known = stream.topics[:REACH], stream.topics[-500:]
    spent = []
    for _ in range(50):
        begin = time.perf_counter()
        blended(np.ones(REACH), mean(vectors, known, np.ones(len(known))))
        spent.append((time.perf_counter() - begin) * 1000)
    return percentiles(spent)


def main() -> None:
    """Measure and write ``bench/results/personal.json``. ``BROADSHEET_BENCH_TUNE=1`` leaves out the reporting half."""
    begin = time.process_time()
    stream = read_stream()
    words, lists = Words(stream.papers), read_lists(stream)
    half = halves(list(lists))
    asked = [one for reader in readers_of(lists, half["tuning"]) for one in questions(reader, words, stream)]
    figures: dict[str, Any] = {
        "settings": {
            "papers": len(stream.papers),
            "questions": f"words of a title with the greatest IDF that at least {AT_LEAST:.0%} of papers have",
            "picks_known_before_a_question": KNOWN,
            "most_questions_of_a_reader": QUESTIONS,
            "features": "256 latent topics, fitted on the text of the whole stream",
            "chosen": {"read-out": "mean", "reach": REACH, "share": SHARE},
            "interval": f"percentile bootstrap over questions within readers, {RESAMPLES} resamples",
        },
        "tuning": {
            "lists": half["tuning"],
            "questions": len(asked),
            "best by read-out": tuning_figures([tuned(one, stream) for one in asked]),
        },
    }
    if os.environ.get("BROADSHEET_BENCH_TUNE") == "1":
        print(figures["tuning"])
        return
    names = half["reporting"]
    asked = [one for reader in readers_of(lists, names) for one in questions(reader, words, stream)]
    figures["reporting"] = {
        "lists": names,
        **report_figures([reported(one, stream, lists, names) for one in asked]),
    }
    figures[f"read-out of 500 papers for {REACH} results, ms"] = _cost(stream)
    figures["processor_seconds"] = round(time.process_time() - begin)
    save("personal", figures)
