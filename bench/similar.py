"""Similar papers in the order of a reader's memory: does a paper that the reader picked later stand nearer to the top?

Readers are curated lists and unions of three of them (``bench.feed``). On the day of a later pick the reader looks at a
paper picked before: one drawn by lot, and the one that is most like the later pick. Its neighbours among all papers
listed until then (without what the reader has picked) are ordered by likeness to it alone, and with the memory of what
was picked on earlier days. To be found are the papers that the reader picked on that day or later. Neighbours are those
by latent topics, which stand for an encoder's vectors, or those by the words of the title, as in a library without an
encoder. Beside it: the memory of another list, for the same pages, which is what a page costs that has nothing to do
with its reader's memory.

Read-out, reach and share are chosen on the tuning half of the lists; the reporting half is asked with what is chosen.
"""

from __future__ import annotations

import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from bench.common import save
from bench.feed.readers import KNOWN
from bench.feed.stream import Pick, Stream, halves, read_lists, read_stream
from bench.personal import K1, B, Reader, readers_of, remembered
from broadsheet.learn.personal import NEAR_SHARE, REACH, blended, likeness, taste
from broadsheet.rank.fusion import scaled

SHOWN = 8  # similar papers on a paper's page
LOOKS = {"single": 40, "mixed": 20}  # of a reader, spread over the picks
REACHES, SHARES = (25, 50, 100, 200), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SHARPNESS = (0, 3, 6, 12)  # inverse temperature of the attention to the paper that is looked at; 0 is the plain mean
MOST_LOST = 0.01  # of recall with another list's memory
AT_LEAST = 20  # papers that have a word
RESAMPLES = 2000


class Titles:
    """BM25 of the words of a title over titles and abstracts; IDF and lengths are of all days."""

    def __init__(self, papers: Sequence[dict[str, Any]]) -> None:
        texts = [f"{paper['title']} {paper['abstract']}" for paper in papers]
        vectorizer = CountVectorizer(stop_words="english", token_pattern=r"\b[a-z][a-z0-9]+\b", min_df=AT_LEAST)
        counts = vectorizer.fit_transform(texts).tocsc().astype(np.float32)
        having = np.diff(counts.indptr)
        idf = np.log1p((len(texts) - having + 0.5) / (having + 0.5)).astype(np.float32)
        lengths = np.array([len(text.split()) for text in texts], np.float32)
        norm = K1 * (1 - B + B * lengths / lengths.mean())
        counts.data *= (K1 + 1) / (counts.data + norm[counts.indices])
        counts.data *= np.repeat(idf, having)
        self._weights, self._split = counts, vectorizer.build_analyzer()
        self._column: dict[str, int] = vectorizer.vocabulary_

    def scores(self, title: str) -> np.ndarray:
        """float64 [papers]."""
        columns = sorted({self._column[word] for word in self._split(title) if word in self._column})
        return np.asarray(self._weights[:, columns].sum(axis=1), np.float64).ravel()


@dataclass(frozen=True)
class Look:
    """A page that a reader looks at, and its neighbours, best first, with their relevance in [0, 1]."""

    reader: Reader
    by: str
    seed: str
    paper: int
    day: int
    pool: np.ndarray
    relevance: np.ndarray
    wanted: np.ndarray  # bool [pool]
    nearest: int  # place of the first wanted paper by relevance alone (from 1), be it beyond the pool

    def ordered(self, liked: np.ndarray, reach: int, share: float) -> np.ndarray:
        """Which of the pool is wanted, after its first ``reach`` were put in another order: bool [pool]."""
        scores = blended(self.relevance[:reach], liked[:reach], share)
        return np.concatenate([self.wanted[:reach][np.argsort(-scores, kind="stable")], self.wanted[reach:]])


def figures_of(look: Look, order: np.ndarray) -> tuple[float, float, float]:
    """Reciprocal rank of the first wanted paper, whether one is among those shown, and how many are."""
    found = np.flatnonzero(order)
    first = 1 + int(found[0]) if len(found) else look.nearest
    return 1 / first, float(order[:SHOWN].any()), float(order[:SHOWN].sum())


def looks(reader: Reader, titles: Titles, stream: Stream) -> Iterator[Look]:
    """Two papers for each later pick, each with two kinds of neighbours."""
    asked = reader.asked()
    spread = np.linspace(0, len(asked) - 1, min(LOOKS[reader.kind], len(asked))).astype(int)
    for pick in [asked[n] for n in np.unique(spread)]:
        known, _ = remembered(reader.picks, pick.added)
        if pick.paper in known or len(known) < KNOWN:
            continue
        rng = np.random.default_rng(zlib.crc32(f"{reader.kind} {reader.name} {pick.paper}".encode()))
        cosines = stream.topics[known] @ stream.topics[pick.paper]
        seeds = {"drawn": int(rng.choice(known)), "nearest": int(known[np.argmax(cosines)])}
        later = {one.paper for one in reader.picks if one.added >= pick.added} - set(known.tolist())
        count = stream.listing(pick.added)[1]
        for seed, paper in seeds.items():
            found = {
                "topics": stream.topics[:count] @ stream.topics[paper],
                "words": titles.scores(stream.papers[paper]["title"])[:count],
            }
            for by, scores in found.items():
                yield _look(reader, by, seed, paper, pick.added, scores, known, later)


def _look(  # noqa: PLR0917 - a look is made of all of these
    reader: Reader, by: str, seed: str, paper: int, day: int, scores: np.ndarray, known: np.ndarray, later: set[int]
) -> Look:
    scores = np.asarray(scores, np.float64).copy()
    scores[known[known < len(scores)]] = -np.inf  # the paper itself among them
    pool = np.argsort(-scores, kind="stable")[: max(REACHES)]
    wanted = np.array(sorted(n for n in later if n < len(scores)), np.int64)
    nearest = 1 + int((scores > scores[wanted].max()).sum())
    top = scores[pool]
    # As in the product: the last neighbour's cosine counts as nothing, scores of words are beside the best one's.
    relevance = scaled(top, 0.0 if by == "words" else float(top[-1]), float(top[0]))
    return Look(reader, by, seed, paper, day, pool, relevance, np.isin(pool, wanted), nearest)


def attended(remembered: np.ndarray, traces: np.ndarray, vector: np.ndarray, sharpness: float) -> np.ndarray:
    """Traces that count more for remembered papers near to ``vector``: float64 [papers]."""
    near = np.asarray(remembered, np.float64) @ np.asarray(vector, np.float64)
    return np.asarray(traces * np.exp(sharpness * (near - near.max(initial=0.0))))


def liked_by(look: Look, papers: np.ndarray, traces: np.ndarray, stream: Stream, sharpness: float) -> np.ndarray:
    """The read-out: likeness of the pool to the mean of remembered papers, those near to the page weighing more."""
    known = stream.topics[papers]
    weights = attended(known, traces, stream.topics[look.paper], sharpness) if sharpness else traces
    return likeness(stream.topics[look.pool], taste(known, weights))


def stretched(liked: np.ndarray) -> np.ndarray:
    """Likeness moved to [0, 1] among the candidates."""
    span = liked.max() - liked.min()
    return (liked - liked.min()) / span if span > 1e-12 else np.ones(len(liked))


Figures = dict[str, dict[str, list[tuple[float, float, float]]]]
"""By cell (kind of reader, neighbours, page) and order."""


def cell_of(look: Look) -> str:
    """What figures are averaged over."""
    return f"{look.reader.kind}, by {look.by}, {look.seed}"


def tuned(all_looks: Sequence[Look], stream: Stream, lists: dict[str, list[Pick]], names: Sequence[str]) -> Any:
    """The best of each read-out by recall among those shown, where another list's memory costs little."""
    own: Figures = defaultdict(lambda: defaultdict(list))
    other: Figures = defaultdict(lambda: defaultdict(list))
    for look in all_looks:
        cell = cell_of(look)
        plain = figures_of(look, look.wanted)
        own[cell]["plain"].append(plain)
        other[cell]["plain"].append(plain)
        for target, memory in ((own, remembered(look.reader.picks, look.day)), (other, _other(look, lists, names))):
            if memory is None:
                continue
            for sharpness in SHARPNESS:
                liked = liked_by(look, *memory, stream, sharpness)
                for reach in REACHES:
                    for share in SHARES:
                        name = f"{sharpness}, {reach}, {share}"
                        target[cell][name].append(figures_of(look, look.ordered(liked, reach, share)))
                        wide = look.ordered(stretched(liked[:reach]), reach, share)
                        target[cell][f"{sharpness} stretched, {reach}, {share}"].append(figures_of(look, wide))
    names_of = next(iter(own.values())).keys()
    found = {}
    for by in ("topics", "words", ""):
        cells = [cell for cell in own if f"by {by}" in cell]
        table = {
            order: (
                np.mean([np.mean(own[cell][order], axis=0) for cell in cells], axis=0),
                np.mean([np.mean(other[cell][order], axis=0) for cell in cells], axis=0),
            )
            for order in names_of
        }
        base = table["plain"]
        best: dict[str, Any] = {}
        for order, (mine, theirs) in table.items():
            readout = order.partition(",")[0]
            lost = float(base[1][1] - theirs[1])
            if lost <= MOST_LOST and mine[1] > best.get(readout, {"recall": -1.0})["recall"]:
                best[readout] = {"order": order, **_shape(mine), "lost with another list's memory": round(lost, 4)}
        found[by or "both"] = best
    return found


def _shape(means: np.ndarray) -> dict[str, float]:
    return dict(zip(("mrr", "recall", "shown"), (round(float(one), 4) for one in means), strict=True))


def _other(look: Look, lists: dict[str, list[Pick]], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
    rng = np.random.default_rng(zlib.crc32(f"{look.paper} {look.day} {look.reader.name}".encode()))
    others = [remembered(lists[name], look.day) for name in names if name not in look.reader.lists]
    others = [one for one in others if len(one[0]) >= KNOWN]
    return others[rng.integers(len(others))] if others else None


def reported(all_looks: Sequence[Look], stream: Stream, lists: dict[str, list[Pick]], names: Sequence[str]) -> Any:
    """By cell: each order's figures, and the difference in recall and in MRR with intervals."""
    rows: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for look in all_looks:
        cell = rows[cell_of(look)]
        cell["reader"].append(look.reader.name)
        cell["plain"].append(figures_of(look, look.wanted))
        liked = liked_by(look, *remembered(look.reader.picks, look.day), stream, 0)
        cell["for you"].append(figures_of(look, look.ordered(liked, REACH, NEAR_SHARE)))
        other = _other(look, lists, names)
        theirs = look.wanted
        if other is not None:
            theirs = look.ordered(liked_by(look, *other, stream, 0), REACH, NEAR_SHARE)
        cell["another list's memory"].append(figures_of(look, theirs))
    found = {}
    for name, cell in rows.items():
        readers = np.array(cell.pop("reader"))
        arrays = {order: np.array(values) for order, values in cell.items()}
        gaps = arrays["for you"] - arrays["plain"]
        found[name] = {
            "looks": len(readers),
            "readers": len(set(readers.tolist())),
            **{order: _shape(_by_reader(values, readers)) for order, values in arrays.items()},
            "for you − plain, 95 %": {
                figure: _interval(gaps[:, n], readers) for n, figure in enumerate(("mrr", "recall", "shown"))
            },
        }
    return found


def kept(reader: Reader, stream: Stream) -> Iterator[tuple[float, float]]:
    """Of pages about papers drawn by lot from all that was listed, what share of the papers shown stays among those
    shown: with the product's read-out, and with likeness stretched to [0, 1] among the neighbours (share .5)."""
    rng = np.random.default_rng(zlib.crc32(f"kept {reader.name}".encode()))
    for pick in reader.asked()[-20:]:
        papers, traces = remembered(reader.picks, pick.added)
        count = stream.listing(pick.added)[1]
        paper = int(rng.integers(count))
        scores = np.asarray(stream.topics[:count] @ stream.topics[paper], np.float64)
        scores[paper] = -np.inf
        pool = np.argsort(-scores, kind="stable")[: max(REACHES)]
        relevance = scaled(scores[pool], float(scores[pool[-1]]), float(scores[pool[0]]))
        liked = likeness(stream.topics[pool], taste(stream.topics[papers], traces))
        orders = blended(relevance, liked, NEAR_SHARE), blended(relevance, stretched(liked), 0.5)
        plain, stretch = (float((np.argsort(-order, kind="stable")[:SHOWN] < SHOWN).mean()) for order in orders)
        yield plain, stretch


def _kept(lists: dict[str, list[Pick]], names: Sequence[str], stream: Stream) -> dict[str, float]:
    found = np.array([one for reader in readers_of(lists, names) for one in kept(reader, stream)])
    return dict(
        zip(("as in the product", "stretched, .5"), (round(float(x), 3) for x in found.mean(axis=0)), strict=True)
    )


def _by_reader(values: np.ndarray, readers: np.ndarray) -> np.ndarray:
    return np.asarray(np.mean([values[readers == name].mean(axis=0) for name in np.unique(readers)], axis=0))


def _interval(gaps: np.ndarray, readers: np.ndarray) -> list[float]:
    """Percentile bootstrap over looks within each reader, readers as they are."""
    rng = np.random.default_rng(0)
    groups = [gaps[readers == name] for name in np.unique(readers)]
    drawn = [np.mean([g[rng.integers(len(g), size=len(g))].mean() for g in groups]) for _ in range(RESAMPLES)]
    return [round(float(value), 4) for value in np.percentile(drawn, [2.5, 97.5])]


def main() -> None:
    """Measure and write ``bench/results/similar.json``. ``BROADSHEET_BENCH_TUNE=1`` leaves out the reporting half."""
    begin = time.process_time()
    stream = read_stream()
    titles, lists = Titles(stream.papers), read_lists(stream)
    half = halves(list(lists))

    def looked(names: Sequence[str]) -> list[Look]:
        return [look for reader in readers_of(lists, names) for look in looks(reader, titles, stream)]

    asked = looked(half["tuning"])
    figures: dict[str, Any] = {
        "settings": {
            "papers": len(stream.papers),
            "shown": SHOWN,
            "picks_known_before": KNOWN,
            "most_looks_of_a_reader": LOOKS,
            "chosen": {"reach": REACH, "share": NEAR_SHARE},
            "interval": f"percentile bootstrap over looks within readers, {RESAMPLES} resamples",
        },
        "tuning": {
            "lists": half["tuning"],
            "looks": len(asked),
            "best by read-out": tuned(asked, stream, lists, half["tuning"]),
            "kept on random papers' pages": _kept(lists, half["tuning"], stream),
        },
    }
    if os.environ.get("BROADSHEET_BENCH_TUNE") == "1":
        import json

        print(json.dumps(figures["tuning"], indent=1))
        return
    names = half["reporting"]
    figures["reporting"] = {
        "lists": names,
        **reported(looked(names), stream, lists, names),
        "kept on random papers' pages": _kept(lists, names, stream),
    }
    figures["processor_seconds"] = round(time.process_time() - begin)
    save("similar", figures)


if __name__ == "__main__":
    main()
