"""The search desk: a question to a page of results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Protocol, cast

import numpy as np

from broadsheet import query as q
from broadsheet.encode import Encoder, Floats
from broadsheet.errors import EncoderUnavailableError, InputError
from broadsheet.identifiers import implied_identifiers, parse_identifier
from broadsheet.index import All, Everything, Exclude, IdIs, Match, Sort, TextIndex, VectorIndex
from broadsheet.learn.personal import NEAR_SHARE, REACH, SHARE, blended
from broadsheet.model import FacetValue, Hit, Identifier, Paper, PaperId, Results
from broadsheet.rank import Fused, fuse
from broadsheet.rank.fusion import scaled
from broadsheet.search.compose import Boosts, Plan, asked, compose, has_cjk, without_facet
from broadsheet.search.facets import arrange
from broadsheet.search.show import Marker
from broadsheet.text import title_fingerprint

POOL = 1000  # papers that are ranked, and so can be paged through, for a question in free words
NEIGHBOURS = 400  # vector candidates; the last one's cosine counts as zero
DEEPEST = 10_000  # papers that can be paged through where there is nothing to rank by meaning
RECENT_SHARE = 0.5  # "newest first" keeps papers that score at least this share of the best
FOR_YOU = "for-you"
SORTS = ("relevance", "newest", "oldest", FOR_YOU)
FacetCounts = dict[str, dict[str, int]]
Likeness = Callable[[Sequence[PaperId]], np.ndarray | None]
"""How near papers are to what a reader likes: float64 [papers] in [0, 1]; None where nothing is known of the reader."""
_Scores = tuple[float, float, float, float]
"""The score, and its parts: words, meaning, memory; those that a paper does not have are not numbers."""
_PARTS = ("words", "meaning", "memory")
SPARE = 10  # neighbours looked at beyond those asked for, in place of withdrawn ones

_MAX_TITLE = 400
_NAMESAKES = 50
_BY_MEANING = 100  # papers that may be found without any of the words


class Papers(Protocol):
    """What the desk needs of the store."""

    def papers(self, ids: Sequence[PaperId]) -> dict[PaperId, Paper]:
        """Papers by id."""

    def papers_with_identifiers(self, identifiers: Sequence[Identifier]) -> dict[Identifier, PaperId]:
        """Papers by identifier."""


@dataclass(frozen=True)
class Tuning:
    """Weights of the ranking; see the settings of the same names."""

    dense: float
    dense_cjk: float
    boosts: Boosts


@dataclass(frozen=True)
class _Window:
    """Which part of a ranking is wanted, in which order."""

    page: int
    size: int
    sort: Sort
    likeness: Likeness | None


@dataclass
class _Run:
    """One question on its way: notes for the reader and milliseconds by stage."""

    notes: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + (time.perf_counter() - start) * 1000


@dataclass(frozen=True)
class _Ranking:
    """A window of the ranking: ids with scores by part, how many can be paged, how many match."""

    ids: list[PaperId]
    scores: list[_Scores]
    total: int
    matching: int
    page: int
    counts: FacetCounts = field(default_factory=dict)


class Searcher:
    """Search over a store, a text index and, where there is an encoder, a vector index. Safe to use from threads."""

    def __init__(
        self,
        store: Papers,
        index: TextIndex,
        vectors: VectorIndex | None,
        encoder: Encoder | None,
        tuning: Tuning,
        *,
        why_words_alone: str = "there is no encoder",
    ) -> None:
        self._store, self._index, self._vectors, self._tuning = store, index, vectors, tuning
        self._encoder, self._why_words_alone = encoder, why_words_alone
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="search")
        self._vector_of = lru_cache(maxsize=1024)(self._encode)

    def close(self) -> None:
        """End the helper threads."""
        self._threads.shutdown()

    def search(
        self,
        text: str,
        *,
        page: int = 1,
        page_size: int = 20,
        sort: str = "relevance",
        chosen: Mapping[str, Sequence[str]] | None = None,
        likeness: Likeness | None = None,
        today: date,
    ) -> Results:
        """One page of results; a page past the end is the last one.

        ``chosen`` holds facet values by facet. ``likeness`` is what the order ``for-you`` goes by beside relevance.
        Raises InputError for a sort, facet or page size that does not exist, and for ``for-you`` without a likeness.
        """
        if sort not in SORTS:
            raise InputError(f"sort={sort!r} is not known; choose one of {', '.join(SORTS)}")
        if not 1 <= page_size <= 1000:
            raise InputError(f"page size {page_size} must be between 1 and 1000")
        chosen = {k: tuple(v) for k, v in (chosen or {}).items() if v}
        if sort == FOR_YOU and likeness is None:
            raise InputError(f"sort={FOR_YOU} needs to know for whom; name a reader")
        order = cast(Sort, "relevance" if sort == FOR_YOU else sort)
        window = _Window(page, page_size, order, likeness if sort == FOR_YOU else None)
        run = _Run()
        parsed = q.parse(text, today)
        run.notes += parsed.notes
        boosts = self._tuning.boosts
        plan = compose(parsed, chosen, boosts)
        pinned = self._pinned(text, run) if not chosen else None
        if pinned is not None and parse_identifier(text):
            ranking = _Ranking(pinned, [(1.0, 1.0, math.nan, math.nan)] * len(pinned), len(pinned), len(pinned), 1)
            plan = replace(plan, words=IdIs(tuple(pinned)), must=None)
        else:
            ranking = self._rank(plan, window, pinned or [], run)
            if not ranking.total and any(isinstance(leaf, q.Phrase) for leaf in q.soft_words(parsed)):
                run.notes.append("No paper has that exact phrase: showing papers with its words.")
                plan = compose(parsed, chosen, boosts, strict_phrases=False)
                ranking = self._rank(plan, window, pinned or [], run)
        with run.stage("facets"):
            facets = self._facets(plan, parsed, chosen, ranking.counts)
        hits = self._hits(ranking, plan.marked, run)
        if plan.soft and hits and ranking.page == 1 and not any(hit.parts["words"] for hit in hits):
            run.notes.append("No paper has any of these words: these are the nearest in meaning.")
        self._cover(plan, run)
        if not ranking.total and not run.notes:
            run.notes.append("No paper fulfils all of this; leave something out.")
        return Results(
            query=text,
            hits=hits,
            total=ranking.total,
            matching=ranking.matching,
            page=ranking.page,
            page_size=page_size,
            facets=facets,
            coverage=self.coverage(),
            sort=sort,
            notes=tuple(dict.fromkeys(run.notes)),
            timings=run.timings,
        )

    def similar(self, paper: Paper, limit: int = 10, *, likeness: Likeness | None = None) -> tuple[Hit, ...]:
        """Papers like this one: by its vector, or by the words of its title where it has none.

        With a ``likeness`` the nearest two hundred are put in the order of nearness and of what the reader likes
        together. None that was withdrawn or retracted: it can be searched for, but is not recommended.
        """
        run = _Run()
        wanted = (limit if likeness is None else max(limit, REACH)) + SPARE
        ids, cosines = self._neighbours(paper.id, wanted)
        if ids:
            meaning = np.array(cosines)
            words = np.zeros(len(ids))
            scores = meaning if likeness is None else scaled(meaning, float(meaning[-1]), float(meaning[0]))
        else:
            plan_fields = self._tuning.boosts.fields()
            found = self._index.search(Match(paper.title, plan_fields), limit=wanted + 1)
            kept = [(i, s) for i, s in zip(found.ids, found.scores, strict=True) if i != paper.id]
            ids = [i for i, _ in kept]
            words = np.array([s for _, s in kept]) / (max((s for _, s in kept), default=1.0) or 1.0)
            scores, meaning = words, np.full(len(ids), math.nan)
        rows = np.stack([scores, words, meaning, np.full(len(ids), math.nan)], axis=1)
        ordered, rows = _for_you(np.array(ids, np.int64), rows, likeness, run, NEAR_SHARE)
        shown = limit + SPARE
        hits = self._hits(_Ranking(ordered[:shown].tolist(), _scores(rows[:shown]), len(ids), len(ids), 1), (), run)
        return tuple(hit for hit in hits if not hit.paper.is_withdrawn)[:limit]

    def coverage(self) -> float:
        """Share of papers that have a vector, in [0, 1]."""
        count = self._index.count()
        return min(1.0, len(self._vectors) / count) if self._vectors is not None and count else 0.0

    # ------------------------------------------------------------------------------------------------------- ranking

    def _rank(self, plan: Plan, window: _Window, pinned: list[PaperId], run: _Run) -> _Ranking:
        page, size, sort = window.page, window.size, window.sort
        if plan.soft:
            return self._rank_soft(plan, window, pinned, run)
        order = "newest" if sort == "relevance" and isinstance(plan.words, Everything) else sort
        with run.stage("words"):
            question = asked(plan)
            start = (_clamped(page, size, DEEPEST) - 1) * size
            found = self._index.search(question, limit=size, offset=start, sort=order)
            total = min(found.total, DEEPEST)
            at = _clamped(page, size, total)
            if total and not found.ids:
                found = self._index.search(question, limit=size, offset=(at - 1) * size, sort=order)
        if found.total > DEEPEST:
            run.notes.append(f"{found.total:,} papers match; the first {DEEPEST:,} can be paged through.")
        shown = slice(0, size)
        if window.likeness is not None:  # from the first on, as the page may lie among those that change places
            found = self._index.search(question, limit=max(REACH, at * size), sort=order)
            shown = slice((at - 1) * size, at * size)
        ids, words = np.array(found.ids, np.int64), np.array(found.scores, np.float64)
        words /= max(words, default=0.0) or 1.0
        nothing = np.full(len(ids), math.nan)
        ids, rows = _for_you(ids, np.stack([words, words, nothing, nothing], axis=1), window.likeness, run)
        return _Ranking(ids[shown].tolist(), _scores(rows[shown]), total, found.total, at)

    def _rank_soft(self, plan: Plan, window: _Window, pinned: list[PaperId], run: _Run) -> _Ranking:
        fused, counts = self._candidates(plan, run)
        matching = sum(counts["code"].values())  # every paper has one value of this facet
        nothing = np.full(len(fused.ids), math.nan)
        parts = np.stack([fused.scores, fused.words, fused.meaning, nothing], axis=1)
        ids, rows = _for_you(fused.ids, parts, window.likeness, run)
        if pinned:
            front = np.asarray(pinned, dtype=np.int64)
            keep = ~np.isin(ids, front)
            ids = np.concatenate([front, ids[keep]])
            rows = np.concatenate([np.tile([1.0, 1.0, 1.0, math.nan], (len(front), 1)), rows[keep]])
        if window.sort != "relevance" and len(ids):
            keep = rows[:, 0] >= RECENT_SHARE * rows[0, 0]
            kept = ids[keep]
            run.notes.append(f"The {len(kept):,} most relevant papers, by date.")
            dated = self._index.search(IdIs(tuple(kept.tolist())), limit=len(kept), sort=window.sort)
            place = {int(i): n for n, i in enumerate(ids)}
            order = [place[i] for i in dated.ids]
            ids, rows = ids[order], rows[order]
        total = len(ids)
        at = _clamped(window.page, window.size, total)
        shown = slice((at - 1) * window.size, at * window.size)
        return _Ranking(ids[shown].tolist(), _scores(rows[shown]), total, max(matching, total), at, counts)

    def _candidates(self, plan: Plan, run: _Run) -> tuple[Fused, FacetCounts]:
        """The fused pool, and the facets of all that matches or is near in meaning.

        The encoder and the vectors run in a thread beside the text index; both work outside of Python's lock.
        """
        question = asked(plan)
        asking = self._threads.submit(self._near, plan)
        with run.stage("words"):
            found = self._index.search(question, limit=POOL)
        word_ids, word_scores = np.asarray(found.ids, dtype=np.int64), np.asarray(found.scores, dtype=np.float64)
        with run.stage("facets"):
            counts = self._index.facets(question)
        with run.stage("meaning"):
            near, cosines = asking.result()
        with run.stage("fusion"):
            within = near[: self._reach()]
            extra = within[~np.isin(within, word_ids)]
            weight = self._tuning.dense_cjk if has_cjk(plan.meaning) else self._tuning.dense
            known = self._has_vector(word_ids) if len(near) else np.zeros(len(word_ids), np.bool_)
            fused = fuse((word_ids, word_scores), known, (near, cosines.astype(np.float64)), extra, weight)
        with run.stage("facets"):
            if len(extra):
                beside = All((IdIs(tuple(extra.tolist())), Exclude(question)))
                counts = _summed(counts, self._index.facets(beside))
        return fused, counts

    def _has_vector(self, ids: np.ndarray) -> np.ndarray:
        """Which of these papers have a vector."""
        if self._vectors is None:
            return np.zeros(len(ids), np.bool_)
        held, _ = self._vectors.known()  # ascending
        at = np.minimum(np.searchsorted(held, ids), max(0, len(held) - 1))
        return held[at] == ids if len(held) else np.zeros(len(ids), np.bool_)

    def _reach(self) -> int:
        """How many neighbours may be found by meaning alone: in a small library, not all of it."""
        return max(20, min(_BY_MEANING, self._index.count() // 10))

    def _near(self, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
        """The papers nearest to the question and their cosines, nearest first."""
        vector = self._question_vector(plan.meaning) if self._encoder else None
        if vector is None or self._vectors is None or not len(self._vectors):
            return np.empty(0, np.int64), np.empty(0, np.float32)
        allowed = self._index.ids(plan.must) if plan.must else None
        return self._vectors.search(vector, NEIGHBOURS, allowed=allowed)

    def _neighbours(self, paper: PaperId, limit: int) -> tuple[list[PaperId], list[float]]:
        if self._vectors is None or not len(self._vectors):
            return [], []
        rows, known = self._vectors.get(np.asarray([paper], dtype=np.int64))
        if not known[0]:
            return [], []
        ids, cosines = self._vectors.search(rows[0], limit + 1)
        keep = ids != paper
        return [int(i) for i in ids[keep][:limit]], [float(c) for c in cosines[keep][:limit]]

    def _encode(self, text: str) -> Floats:
        if self._encoder is None:
            raise EncoderUnavailableError("no encoder is set")
        vector: Floats = self._encoder.encode_queries([text])[0]
        return vector

    def _question_vector(self, text: str) -> Floats | None:
        try:
            return self._vector_of(text)
        except EncoderUnavailableError:
            return None  # a server that does not answer: the words still do, and _cover says so

    # ------------------------------------------------------------------------------------------------------- the page

    def _pinned(self, text: str, run: _Run) -> list[PaperId] | None:
        """Papers that the whole text names: by identifier (None if it is none that is known), or by exact title."""
        with run.stage("names"):
            named = parse_identifier(text)
            if named:
                found = self._store.papers_with_identifiers([named[0], *implied_identifiers(named[0])])
                if found:
                    return list(dict.fromkeys(found.values()))[:1]
                run.notes.append(f"{named[0]} is not in this library: searched as words.")
                return None
            return self._titled(text) if len(text) <= _MAX_TITLE else None

    def _titled(self, text: str) -> list[PaperId]:
        """Papers whose title, or a former one, is just this text."""
        wanted = title_fingerprint(text)
        if not wanted:
            return []
        found = self._index.search(Match(text, {"title": 1.0, "titles": 1.0}, mode="phrase"), limit=_NAMESAKES)
        papers = self._store.papers(found.ids) if found.ids else {}
        titles = {i: (paper.title, *paper.other_titles) for i, paper in papers.items()}
        return sorted(i for i in found.ids if wanted in map(title_fingerprint, titles.get(i, ())))

    def _facets(
        self, plan: Plan, parsed: q.Query, chosen: Mapping[str, Sequence[str]], counts: FacetCounts
    ) -> dict[str, tuple[FacetValue, ...]]:
        counts = counts or self._index.facets(asked(plan))
        for name in chosen:
            # Of a facet with a choice, the other values are counted as if nothing were chosen in it.
            alone = without_facet(plan, parsed, chosen, name, self._tuning.boosts)
            beside = self._near(alone)[0][: self._reach()].tolist() if plan.soft else ()
            counts[name] = self._index.facets(asked(alone), extra_ids=beside).get(name, {})
        return arrange(counts)

    def _hits(self, ranking: _Ranking, marked: Sequence[str], run: _Run) -> tuple[Hit, ...]:
        with run.stage("papers"):
            papers = self._store.papers(ranking.ids)
        # A paper merged away since the index was written gives the one it became, which may stand there itself.
        found: dict[PaperId, tuple[Paper, _Scores]] = {}
        for i, scores in zip(ranking.ids, ranking.scores, strict=True):
            if i in papers:
                found.setdefault(papers[i].id, (papers[i], scores))
        with run.stage("snippets"):
            marker = Marker(marked)
            return tuple(
                Hit(
                    paper=paper,
                    score=score,
                    parts={name: part for name, part in zip(_PARTS, parts, strict=True) if not math.isnan(part)},
                    snippet=marker.snippet(paper.abstract),
                    title_html=marker.title(paper.title),
                )
                for paper, (score, *parts) in found.values()
            )

    def _cover(self, plan: Plan, run: _Run) -> None:
        """Say what the search covered."""
        if not plan.soft:
            return
        if self._encoder is None:
            run.notes.append(f"Searched by words alone: {self._why_words_alone}.")
        elif self._question_vector(plan.meaning) is None:
            run.notes.append("Searched by words alone: the encoder does not answer.")
        elif (share := self.coverage()) < 1:
            covered = min(99, int(share * 100))
            run.notes.append(
                f"Search by meaning covers {covered} % of papers so far; the others are found by their words alone."
            )


def _scores(rows: np.ndarray) -> list[_Scores]:
    return [(float(score), float(words), float(meaning), float(memory)) for score, words, meaning, memory in rows]


def _for_you(
    ids: np.ndarray, rows: np.ndarray, likeness: Likeness | None, run: _Run, share: float = SHARE
) -> tuple[np.ndarray, np.ndarray]:
    """A ranking with its first papers in the order of relevance and likeness together; the rest follows as it was.

    ``ids`` int64 [n], ``rows`` float64 [n, score and parts], best first. Without a likeness it stays as it is.
    """
    if likeness is None or not len(ids):
        return ids, rows
    with run.stage("memory"):
        liked = likeness(ids[:REACH].tolist())
        if liked is None:
            run.notes.append("Nothing is remembered yet that results could be ordered by: the best come first.")
            return ids, rows
        reach = len(liked)
        rows = rows.copy()
        rows[:reach, 3] = liked
        rows[:, 0] = blended(rows[:, 0], np.concatenate([liked, np.zeros(len(ids) - reach)]), share)
        order = np.concatenate([np.argsort(-rows[:reach, 0], kind="stable"), np.arange(reach, len(ids))])
    if len(ids) > reach:
        run.notes.append(f"The first {reach:,} papers, in the order of relevance and your memory together.")
    return ids[order], rows[order]


def _summed(first: FacetCounts, second: FacetCounts) -> FacetCounts:
    """Counts over two sets of papers that have none in common."""
    return {
        name: {value: values.get(value, 0) + second[name].get(value, 0) for value in {**values, **second[name]}}
        for name, values in first.items()
    }


def _clamped(page: int, size: int, total: int) -> int:
    return max(1, min(page, -(-total // size)))
