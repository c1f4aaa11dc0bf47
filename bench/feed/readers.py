"""Readers made of curated lists: what each picked and when, and on which days it is asked what they would pick."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from bench.feed.stream import Pick, Stream

KNOWN = 5  # picks that a reader must have made before a day counts
COLD = (1, 3, 10)
COLD_STARTS = 5  # places in a list where a new reader begins
COLD_DAYS = 20  # days with something to find that are scored after each beginning
NOISE = 0.2
DAYS_AFTER_DRIFT = 5  # a pair of lists needs this many scored days after half time


@dataclass(frozen=True)
class Reader:
    """Picks in the order of time, and the papers to be found on each scored day."""

    name: str
    kind: str
    picks: tuple[Pick, ...]
    wanted: dict[int, frozenset[int]]  # listing day → papers listed then that are picked on that day or later
    drift: int | None = None  # first day of the second interest

    def before(self, day: int) -> tuple[Pick, ...]:
        """What was picked on earlier days than this one."""
        return tuple(pick for pick in self.picks if pick.added < day)


def wanted_days(picks: Iterable[Pick]) -> dict[int, frozenset[int]]:
    """The papers to be found, by listing day: those picked no earlier than they were listed."""
    days: dict[int, set[int]] = defaultdict(set)
    for pick in picks:
        if pick.added >= pick.listed:
            days[pick.listed].add(pick.paper)
    return {day: frozenset(papers) for day, papers in sorted(days.items())}


def union(lists: Iterable[list[Pick]]) -> tuple[Pick, ...]:
    """Picks of several lists; a paper that stands in more than one counts on its first day."""
    first: dict[int, Pick] = {}
    for pick in sorted((pick for picks in lists for pick in picks), key=lambda pick: (pick.added, pick.paper)):
        first.setdefault(pick.paper, pick)
    return tuple(first.values())


def _scored(picks: tuple[Pick, ...], wanted: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    days = np.array([pick.added for pick in picks])
    return {day: papers for day, papers in wanted.items() if (days < day).sum() >= KNOWN}


def steady(name: str, kind: str, lists: Iterable[list[Pick]]) -> Reader:
    """One list, or the union of several."""
    picks = union(lists)
    return Reader(name, kind, picks, _scored(picks, wanted_days(picks)))


def drifting(name: str, first: list[Pick], second: list[Pick]) -> Reader | None:
    """One list before half time, another from then on; none where the two leave too little on either side.

    Half time lies midway between the first list's first pick and the second list's last listing day.
    """
    start, end = first[0].added, max(pick.listed for pick in second)
    half = (start + end) // 2
    old = [pick for pick in first if pick.added < half]
    new = [pick for pick in second if pick.added >= half]
    picks = union([old, new])
    # What the first list would pick later is no longer wanted after half time, nor is the second list before.
    wanted = wanted_days([pick for pick in first if pick.listed < half] + [p for p in new if p.listed >= half])
    scored = _scored(picks, wanted)
    after = sum(day >= half for day in scored)
    if len(old) < KNOWN or after < DAYS_AFTER_DRIFT:
        return None
    return Reader(name, "drifting", picks, scored, half)


def cold(name: str, picks: list[Pick], count: int) -> list[Reader]:
    """Readers who picked ``count`` papers and nothing since, beginning at places spread over a list."""
    rng = np.random.default_rng(zlib.crc32(f"cold {name}".encode()))
    ties = dict(zip((pick.paper for pick in picks), rng.permutation(len(picks)), strict=True))
    ordered = sorted(picks, key=lambda pick: (pick.added, ties[pick.paper]))
    readers = []
    for n in range(COLD_STARTS):
        begin = n * (len(ordered) - count) // COLD_STARTS
        known = tuple(ordered[begin : begin + count])
        wanted = {day: papers for day, papers in wanted_days(ordered).items() if day > known[-1].added}
        first_days = dict(list(wanted.items())[:COLD_DAYS])
        if first_days:
            readers.append(Reader(f"{name} #{n + 1}", f"cold {count}", known, first_days))
    return readers


def noisy(reader: Reader, stream: Stream) -> Reader:
    """The same reader with a fifth of the picks replaced by random papers listed before they were made.

    What is to be found stays the same. The papers are drawn from the days that can be scored.
    """
    rng = np.random.default_rng(zlib.crc32(f"noise {reader.kind} {reader.name}".encode()))
    picks, fair = list(reader.picks), stream.fair
    for n in rng.choice(len(picks), round(NOISE * len(picks)), replace=False):
        earlier = max(int(np.searchsorted(fair, stream.listing(picks[n].added)[0])), 1)
        paper = int(fair[rng.integers(earlier)])
        picks[n] = Pick(paper, int(stream.days[paper]), picks[n].added)
    return Reader(reader.name, f"{reader.kind}, noise", tuple(picks), reader.wanted, reader.drift)


def made_readers(stream: Stream, lists: dict[str, list[Pick]], names: list[str]) -> list[Reader]:
    """All readers of one half of the lists; they are asked on the days on which every paper has its vector."""
    single = [steady(name, "single", [lists[name]]) for name in names]
    mixed = [steady(" + ".join(three), "mixed", [lists[name] for name in three]) for three in combinations(names, 3)]
    pairs = [drifting(f"{one} → {other}", lists[one], lists[other]) for one, other in permutations(names, 2)]
    main = [reader for reader in [*single, *mixed, *pairs] if reader is not None and reader.wanted]
    new = [reader for count in COLD for name in names for reader in cold(name, lists[name], count)]
    asked = [replace(reader, wanted=_on(stream.complete, reader.wanted)) for reader in [*main, *new]]
    found = [reader for reader in asked if reader.wanted]
    return [*found, *(noisy(reader, stream) for reader in found if not reader.kind.startswith("cold"))]


def _on(days: frozenset[int], wanted: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    return {day: papers for day, papers in wanted.items() if day in days}
