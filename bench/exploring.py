"""Exploration at a declared risk, in simulation: how often a discovery is rejected, how soon a new topic is found.

Readers are made of pairs of curated lists on the real days of arXiv: both lists are what the reader wants, but the
paper knows only the first one's picks, those made before each day. A reader *rejects* a printed paper if it is farther
from every paper that the reader ever picks (largest cosine of latent topics) than half of all papers are. A paper is
*of the new topic* if it is at least as near to the second list's picks as half of these are to each other, and not as
near to the first list's. So rejection and finding are decided by what the ranking does not know.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy.stats import beta

from bench.common import save
from bench.feed.ours import noticed
from bench.feed.stream import Pick, Stream, halves, read_lists, read_stream
from broadsheet.learn.explore import (
    Trial,
    calibrated_cap,
    certified_share,
    fill,
    places_shares,
    policies,
    pools,
    trusted_share,
)

RESAMPLES = 500  # on the reporting half
TUNED = 200  # on the tuning half
EDITIONS = 100  # of one resample
RISKS = (0.05, 0.10, 0.20)
GREEDY = (0.05, 0.10, 0.20, 0.50)
LOOKS = (0, 12, 25, 49, 50, 75, 99)  # control places observed before the edition that is judged
LATER = 50  # editions after which the search for the new topic begins, beside the search from the first edition on
PICKS = 5  # of the first list before the first edition
FRONT = 10  # papers that the front page takes
PLACES = 3
NOTICE = 0.5  # weight of expected notice in the known score, beside similarity to the mean and to the nearest three

Chances = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Papers of a pool, and with what probability known interests and an explorer draw each."""


@dataclass(frozen=True)
class Day:
    """One edition's pools, for each explorer by name."""

    pools: dict[str, list[Chances]]


@dataclass(frozen=True)
class Case:
    """A reader with a topic that the paper does not know; ``rejected`` and ``new`` by paper of the stream.

    ``turned`` is what the reader rejects before and after a change from the first list to the second, for a reader who
    wants one at a time.
    """

    name: str
    days: list[Day]
    rejected: np.ndarray
    new: np.ndarray
    turned: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Run:
    """What one reader saw under one policy: int8 [editions, places], −1 where a place stayed empty."""

    rejected: np.ndarray
    new: np.ndarray
    explored: np.ndarray


Policy = Callable[[list[Trial]], tuple[float, float | None]]
"""Control places so far → the explorer's share of the control place, and of the others (None leaves them empty)."""


def nearest(stream: Stream, picks: Sequence[Pick]) -> tuple[np.ndarray, float]:
    """Each paper's largest cosine to the picks (to the others, for a pick), float64 [papers], and the picks' median."""
    chosen = np.array(sorted({pick.paper for pick in picks}))
    cosines = stream.topics @ stream.topics[chosen].T
    cosines[chosen, np.arange(len(chosen))] = -1
    found = cosines.max(axis=1).astype(np.float64)
    return found, float(np.median(found[chosen]))


def standard(values: np.ndarray) -> np.ndarray:
    """Mean 0, deviation 1."""
    spread = values.std()
    return np.asarray((values - values.mean()) / spread) if spread > 1e-9 else np.zeros(len(values))


def made_days(stream: Stream, notice: np.ndarray, picks: Sequence[Pick]) -> list[Day]:
    """The pools of each listing day once enough was picked, for explorers by notice, by novelty and by lot."""
    start = sorted(pick.added for pick in picks)[PICKS - 1] + 1
    days = []
    for day in np.unique(stream.days[stream.days >= start]).tolist():
        begin, end = stream.listing(day)
        if end - begin < FRONT + 10 * PLACES:
            continue
        liked = stream.topics[[pick.paper for pick in picks if pick.added < day]]
        cosines = stream.topics[begin:end] @ liked.T
        likely = standard(notice[begin:end].astype(np.float64))
        best = np.sort(cosines, axis=1)[:, -3:].mean(axis=1)
        known = standard(cosines.mean(axis=1)) + standard(best) + NOTICE * likely
        free = np.argsort(-known, kind="stable")[FRONT:]
        dealt = [free[pool] for pool in pools(known[free], PLACES, np.random.default_rng(0))]
        wild = {"notice": likely, "novelty": -cosines.max(axis=1), "lot": np.zeros(end - begin)}
        days.append(
            Day(
                {
                    name: [(pool + begin, *policies(known[pool], scores[pool])) for pool in dealt]
                    for name, scores in wild.items()
                }
            )
        )
    return days


def made_cases(stream: Stream, notice: np.ndarray, lists: dict[str, list[Pick]], names: Sequence[str]) -> list[Case]:
    """All ordered pairs of lists."""
    near = {name: nearest(stream, lists[name]) for name in names}
    days = {name: made_days(stream, notice, lists[name]) for name in names}
    cases = []
    for first, second in permutations(names, 2):
        one, other = near[first], near[second]
        nearer = np.maximum(one[0], other[0])
        new = (other[0] >= other[1]) & (one[0] < one[1])
        far = [values < np.median(values) for values in (nearer, one[0], other[0])]
        cases.append(Case(f"{first} + {second}", days[first], far[0], new, (far[1], far[2])))
    return cases


def capped(risk: float) -> Policy:
    """The product's policy: a trusted control place, the others by the calibrated cap."""
    return lambda log: places_shares(PLACES, calibrated_cap(log, risk), risk)


def certified(risk: float) -> Policy:
    """The same, but only the control is filled without a certificate: the form for which the theorem is exact."""

    def shares(log: list[Trial]) -> tuple[float, float | None]:
        share, trusted = certified_share(log, risk), trusted_share(risk)
        if share is None or share * PLACES < trusted:
            return trusted, None
        return places_shares(PLACES, share / trusted, risk)

    return shares


def fixed(share: float) -> Policy:
    """ε-greedy: every place goes to the explorer with the same probability."""
    return lambda _: (share, share)


def replayed(
    case: Case, days: Sequence[Day], policy: Policy, seed: int, explorer: str = "notice", *, turning: bool = False
) -> Run:
    """Editions of these days under a policy; the first place of each is the control that later caps go by.

    ``turning`` lets the reader change interest after half of the editions.
    """
    rng = np.random.default_rng(seed)
    rejected, new, explored = np.full((3, len(days), PLACES), -1, np.int8)
    log: list[Trial] = []
    for n, day in enumerate(days):
        shares, unwanted = policy(log), case.turned[n >= LATER] if turning else case.rejected
        for place, lot in enumerate(rng.permutation(PLACES)):
            papers, known, wild = day.pools[explorer][lot]
            share = shares[min(place, 1)]
            if share is not None:
                index, _, by_explorer = fill(known, wild, share, rng)
                paper = papers[index]
                rejected[n, place], new[n, place] = unwanted[paper], case.new[paper]
                explored[n, place] = by_explorer
        log.append(Trial(bool(explored[n, 0]), bool(rejected[n, 0])))
    return Run(rejected, new, explored)


def resamples(cases: Sequence[Case], count: int, *, in_time: bool) -> list[tuple[Case, list[Day], int]]:
    """Readers in turn, each with its days from a random one on, or with any of its days in random order."""
    drawn = []
    for n in range(count):
        case, rng = cases[n % len(cases)], np.random.default_rng(zlib.crc32(f"{n} {in_time}".encode()))
        if in_time:
            start = int(rng.integers(max(len(case.days) - EDITIONS, 0) + 1))
            days = case.days[start : start + EDITIONS]
        else:
            days = [case.days[k] for k in rng.permutation(len(case.days))[:EDITIONS]]
        drawn.append((case, days, n))
    return drawn


def interval(hits: int, count: int) -> list[float]:
    """Clopper and Pearson's exact 95 % interval."""
    low = beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    return [round(float(low), 4), round(float(high), 4)]


def violations(runs: Sequence[Run]) -> dict[str, Any]:
    """How often a place of the section, taken by lot, held a rejected paper, by the number of editions before it.

    A section of which only the control place was filled counts as not rejected.
    """
    found: dict[str, Any] = {}
    lots = np.random.default_rng(0).integers(PLACES, size=len(runs))
    for look in LOOKS:
        hits = [
            run.rejected[look, lot] == 1 and run.rejected[look, 1] >= 0 for run, lot in zip(runs, lots, strict=True)
        ]
        found[str(look)] = {
            "rejected": round(sum(hits) / len(hits), 4),
            "interval_95": interval(sum(map(int, hits)), len(hits)),
            "filled": round(float(np.mean([run.rejected[look, 1] >= 0 for run in runs])), 3),
            "explored": round(float(np.mean([(run.explored[look] == 1).mean() for run in runs])), 3),
        }
    whole = np.concatenate([np.where(run.rejected[:, 1:2] >= 0, run.rejected == 1, 0) for run in runs])
    found["all editions"] = {"rejected": round(float(whole.mean()), 4)}
    return found


def until_found(runs: Sequence[Run], begin: int) -> np.ndarray:
    """Editions until the section holds a paper of the new topic; one more than there are if it never does."""
    found = []
    for run in runs:
        hits = np.flatnonzero((run.new[begin:] == 1).any(axis=1))
        found.append(int(hits[0]) + 1 if len(hits) else len(run.new) - begin + 1)
    return np.array(found, np.float64)


def mean_with_error(values: np.ndarray) -> dict[str, float]:
    """Mean and its standard error over the resamples."""
    return {"mean": round(float(values.mean()), 3), "error": round(float(values.std(ddof=1) / len(values) ** 0.5), 3)}


def soon(runs: Sequence[Run]) -> dict[str, Any]:
    """Rejected and explored shares of all printed places, and editions until the first paper of the new topic."""
    found: dict[str, Any] = {
        "rejected": mean_with_error(np.array([(run.rejected == 1).mean() for run in runs])),
        "explored": round(float(np.mean([run.explored == 1 for run in runs])), 4),
        "new_topic_papers": round(float(np.mean([(run.new == 1).sum() for run in runs])), 2),
    }
    for label, begin in (("from_the_first_edition", 0), ("from_edition_51", LATER)):
        first = until_found(runs, begin)
        found[label] = {
            **mean_with_error(first),
            "median": float(np.median(first)),
            "within_5": round(float((first <= 5).mean()), 3),
            "never": round(float((first > EDITIONS - begin).mean()), 3),
        }
    return found


def searched() -> dict[str, tuple[Policy, str]]:
    """The policies that are compared, with the explorer that each uses."""
    found: dict[str, tuple[Policy, str]] = {"no exploration": (fixed(0), "notice")}
    for explorer in ("notice", "novelty", "lot"):
        for risk in RISKS if explorer == "notice" else RISKS[1:2]:
            found[f"declared risk {risk:g}, {explorer}"] = capped(risk), explorer
        for share in GREEDY if explorer == "notice" else GREEDY[1:2]:
            found[f"ε = {share:g}, {explorer}"] = fixed(share), explorer
    return found


def measured(cases: Sequence[Case], count: int) -> dict[str, Any]:
    """Everything about one half of the lists."""
    exact, timed = resamples(cases, count, in_time=False), resamples(cases, count, in_time=True)
    found: dict[str, Any] = {"violations": {}, "soon": {}, "sooner_than_fixed": {}}
    for risk in RISKS:
        for label, policy, drawn in (
            ("certified sections only, days in random order", certified(risk), exact),
            ("as in the product, days in random order", capped(risk), exact),
            ("as in the product, days in order", capped(risk), timed),
            ("the same, interest changes at edition 51", capped(risk), timed),
        ):
            runs = [replayed(*job[:2], policy, job[2], turning="changes" in label) for job in drawn]
            found["violations"].setdefault(f"{risk:g}", {})[label] = violations(runs)
    kept = {
        name: [replayed(*job[:2], policy, job[2], explorer) for job in timed]
        for name, (policy, explorer) in searched().items()
    }
    found["soon"] = {name: soon(runs) for name, runs in kept.items()}
    for risk in RISKS:
        ours = kept[f"declared risk {risk:g}, notice"]
        for share in GREEDY:
            theirs = kept[f"ε = {share:g}, notice"]
            found["sooner_than_fixed"][f"{risk:g} against ε = {share:g}"] = {
                label: mean_with_error(until_found(theirs, begin) - until_found(ours, begin))
                for label, begin in (("from_the_first_edition", 0), ("from_edition_51", LATER))
            }
    return found


def main() -> None:
    """Both halves of the lists; what was chosen by looking at figures was chosen on the tuning half."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    start = time.perf_counter()
    stream = read_stream()
    lists, notice = read_lists(stream), noticed(stream)
    parts: dict[str, Any] = {}
    for half, names in halves(list(lists)).items():
        cases = made_cases(stream, notice, lists, names)
        count = RESAMPLES if half == "reporting" else TUNED
        parts[half] = {"lists": names, "readers": len(cases), "resamples": count, **measured(cases, count)}
        print(f"{half}: {(time.perf_counter() - start) / 60:.1f} min", flush=True)
    settings = {"editions": EDITIONS, "places": PLACES, "picks_known_at_the_start": PICKS}
    save("exploring", {"settings": settings, **parts, "minutes": round((time.perf_counter() - start) / 60, 1)})
