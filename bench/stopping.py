"""When to stop, in simulation: how often each rule misses the target, and how much reading it saves.

``python -m bench stopping``. Every review of data/screening is read along orders of the default model (ten pairs of
priors) and stopped by each rule, which is looked at after every label; rules that audit are played with several random
orders of the audit on each. Rules that must hold whatever the ranking does are played on the same rankings upside down
and on labels dealt at random, too; a cold start reads some records before the first is found. Work saved is the share
of the pool that was not read. Means are over reviews, each counted once. Reviews with fewer than 25 relevant records
are given apart: with 18 or fewer, a recall of 95 % means all.

The reviews were parted before anything was run, every second one by name being for choices (when the audit begins, the
default advantage); both halves are given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bench.common import save
from bench.stopping_orders import PRIORS, Course, course, reviews
from bench.stopping_play import Played, audit_seed, play, play_free
from bench.stopping_rules import (
    allowed,
    hypergeometric_ranked,
    in_a_row,
    oracle,
    stopped_after,
    stopping_error,
    two_phase,
)
from broadsheet.learn.stoppers import DistributionFree, RankAdvantage, Stopper

TARGET = CONFIDENCE = 0.95
SMALL = 25  # relevant records below which a review is given apart
ADVANTAGES = (2.0, 1.0, 1.5, 2.5, 3.0, 4.0, 5.0, 10.0)  # the default first
DEFAULT, BOLD = 2.0, 3.0  # of the candidates, the largest that misses at most 5 % on the choosing half; the next
Runs = dict[str, list[Played]]


@dataclass(frozen=True)
class Job:
    """A rule to be played: a stopper, or the name of a rule of bench/stopping_rules."""

    name: str
    rule: Stopper | str
    kind: str = "ranked"
    seeds: int = 10
    audits: int = 20


def jobs() -> list[Job]:
    """All that is measured; reversed orders are made for two pairs of priors only."""
    found = [
        Job("oracle", "oracle"),
        *(Job(f"{count} irrelevant in a row", f"row {count}") for count in (50, 100, 200)),
        *(Job("hypergeometric, ranked", "hypergeometric", kind) for kind in ("ranked", "shuffled")),
        Job("hypergeometric, ranked", "hypergeometric", "reversed", 2),
        *(Job("hypergeometric, two phases", "two phases", kind) for kind in ("ranked", "shuffled")),
        *(Job("distribution-free", DistributionFree(TARGET, CONFIDENCE), kind) for kind in ("ranked", "shuffled")),
        Job("distribution-free", DistributionFree(TARGET, CONFIDENCE), "reversed", 2, 100),
    ]
    for b in ADVANTAGES:
        rule = RankAdvantage(TARGET, CONFIDENCE, advantage=b)
        few = (10, 20) if b in (DEFAULT, BOLD) else (5, 2)
        found.append(Job(f"rank advantage {b:g}", rule, "ranked", *few))
    for b in (DEFAULT, BOLD):
        trusting = RankAdvantage(TARGET, CONFIDENCE, advantage=b, guard=False)
        found.append(Job(f"rank advantage {b:g}, unguarded", trusting, "ranked", 5, 2))
        rule = RankAdvantage(TARGET, CONFIDENCE, advantage=b)
        found.append(Job(f"rank advantage {b:g}", rule, "reversed", 2, 10))
        found.append(Job(f"rank advantage {b:g}", rule, "cold", 5, 2))
    found.append(Job("distribution-free", DistributionFree(TARGET, CONFIDENCE), "cold", 5))
    return found


def played(job: Job, review: str) -> list[Played]:
    """All runs of a job on one review."""
    kind = "reversed" if job.kind == "reversed" else "ranked"
    found: list[Played] = []
    for seed in range(job.seeds):
        one = course(review, kind, seed)
        one = {"shuffled": one.shuffled, "cold": one.cold}.get(job.kind, lambda one=one: one)()
        if isinstance(job.rule, Stopper):
            runs = play_free if isinstance(job.rule, DistributionFree) else play
            found += runs(job.rule, one, job.audits)
        else:
            found += known(job, one)
    return found


def known(job: Job, one: Course) -> list[Played]:
    """Runs of a rule that is evaluated at once."""
    name, _, number = str(job.rule).partition(" ")
    if name == "two":
        return two_phased(one, job.audits)
    read = {
        "oracle": lambda: oracle(one.labels, TARGET),
        "row": lambda: in_a_row(one.labels, int(number), PRIORS),
        "hypergeometric": lambda: hypergeometric_ranked(one.labels, TARGET, CONFIDENCE, PRIORS),
    }[name]()
    return [Played(len(one.labels), one.relevant, read, int(one.labels[:read].sum()))]


def two_phased(one: Course, audits: int) -> list[Played]:
    """The two-phase rule, its random phase beginning where the distribution-free rule's audit does, in its order."""
    free = list(play_free(DistributionFree(TARGET, CONFIDENCE), one, audits))
    start = free[0].audit_from
    if start is None:
        return free
    unread, found = len(one.labels) - start, int(one.labels[:start].sum())
    limits = two_phase(unread, found, one.relevant - found, TARGET, CONFIDENCE)
    runs = []
    for number in range(audits):
        order = audit_seed(0, one, number).permutation(np.arange(start, len(one.labels)))
        relevant = one.labels[order]
        drawn = stopped_after(limits, np.flatnonzero(relevant), unread)
        runs.append(
            Played(len(one.labels), one.relevant, start + drawn, found + int(relevant[:drawn].sum()), audit_from=start)
        )
    return runs


def missed(run: Played) -> bool:
    """Whether the run ended below the target, exactly."""
    return bool(run.relevant - run.found > allowed(run.found, TARGET))


def of_review(runs: Sequence[Played]) -> dict[str, Any]:
    """Figures of one review's runs."""
    return {
        "runs": len(runs),
        "saved": round(mean(run.saved for run in runs), 4),
        "missed": round(mean(missed(run) for run in runs), 4),
        "least recall": round(min(run.recall for run in runs), 4),
        "refuted": round(mean(run.refuted for run in runs), 4),
        "audited": round(mean(run.audited for run in runs), 1),
    }


def of_all(runs: Runs) -> dict[str, Any]:
    """Means over reviews, and whether misses are as rare as declared: their share, with its exact 95 % interval.

    Runs on one order have the same ranking, so that the interval is too narrow where misses come by orders.
    """
    every = [run for part in runs.values() for run in part]
    count = sum(missed(run) for run in every)
    low, high = binomtest(count, len(every)).proportion_ci(0.95) if every else (0.0, 1.0)
    return {
        "reviews": len(runs),
        "runs": len(every),
        "saved": round(mean(mean(run.saved for run in part) for part in runs.values()), 4),
        "missed": round(count / len(every), 4),
        "interval": [round(float(low), 4), round(float(high), 4)],
        "kept": bool(low <= 1 - CONFIDENCE),
        "refuted": round(mean(run.refuted for run in every), 4),
        "missed unrefuted": round(mean(missed(run) and not run.refuted for run in every), 4),
        "mean recall": round(mean(mean(run.recall for run in part) for part in runs.values()), 4),
    }


def summary(runs: Runs) -> dict[str, Any]:
    """A rule's figures over all reviews, large and small ones, both halves, and each."""
    names = sorted(runs)
    parts = {
        "all": names,
        "large": [name for name in names if runs[name][0].relevant >= SMALL],
        "small": [name for name in names if runs[name][0].relevant < SMALL],
        "chosen on": names[::2],
        "reported": names[1::2],
    }
    totals = {part: of_all({name: runs[name] for name in chosen}) for part, chosen in parts.items() if chosen}
    return {**totals, "by review": {name: of_review(runs[name]) for name in names}}


def two_phase_error() -> list[dict[str, Any]]:
    """The exact probability that the two-phase rule stops wrongly in the worst case, beside the declared one."""
    found = []
    for unread, before in ((1500, 10), (1500, 20), (1500, 45), (1500, 100), (1500, 280)):
        limits = two_phase(unread, before, 60, TARGET, CONFIDENCE)
        least = int(allowed(before, TARGET)) + 1
        errors = [stopping_error(limits, unread, before, m, TARGET) for m in range(least, least + 40)]
        found.append({"unread": unread, "found before": before, "declared": 0.05, "true": round(max(errors), 4)})
    return found


def measured(job: Job, executor: ProcessPoolExecutor) -> dict[str, Any]:
    """Play a job on all reviews."""
    begin = time.perf_counter()
    names = reviews()
    figures = summary(dict(zip(names, executor.map(partial(played, job), names), strict=True)))
    whole = figures["all"]
    print(
        f"{job.name:34} {job.kind:9} saved {whole['saved']:.3f} missed {whole['missed']:.3f} "
        f"refuted {whole['refuted']:.3f} {time.perf_counter() - begin:.0f} s",
        flush=True,
    )
    return {"rule": job.name, "ranking": job.kind, **figures}


def main() -> None:
    """Measure, and write bench/results/stopping.json."""
    with ProcessPoolExecutor(max_workers=int(os.environ.get("BENCH_WORKERS", "2"))) as executor:
        rules = [measured(job, executor) for job in jobs()]
    save("stopping", {"target": TARGET, "confidence": CONFIDENCE, "two phases": two_phase_error(), "rules": rules})


if __name__ == "__main__":
    main()
