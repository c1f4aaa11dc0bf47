"""How much of the error each threshold of the permutation audit should spend: on synthetic pools, never on reviews.

For pools of ``unread`` records with ``found`` relevant ones found before and ``missing`` left, the mean share of the
unread records that the audit reads, by ``spend``; beside it the two-phase hypergeometric rule, looked at after every
draw, and how often each stops below the target. One number for all of them is chosen, in stats/audit.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench import common
from broadsheet.stats import AuditTest, allowed_missing, audit_floor, hypergeometric_value

SPENDS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6)
RUNS = 4000
EXACT = [(300, 10), (300, 45), (300, 120), (600, 300), (1000, 600)]
POOLS = [(400, 10), (400, 25), (1500, 15), (1500, 45), (1500, 120), (5000, 40), (5000, 300)]


def shapes() -> Iterator[tuple[int, int, int]]:
    """Pools with none, some, all that may be missing, and twice as many."""
    for unread, found in POOLS:
        k = allowed_missing(found, 0.95)
        for missing in sorted({0, 1, (k + 1) // 2, k, k + 1, 2 * k + 2}):
            yield unread, found, missing


def lengths(places: np.ndarray, thresholds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where the prefix ends and what it has found [runs], with relevant ones at ``places`` [runs, missing], rising."""
    limits = np.array(thresholds)
    found = (places[:, :, None] <= limits).sum(axis=1)  # [runs, thresholds]
    crossed = found <= np.arange(len(limits))
    first = crossed.argmax(axis=1)
    return limits[first], found[np.arange(len(places)), first]


def two_phase(unread: int, found: int, finds: int) -> list[int]:
    """The least prefix at which the rule stops, for each number of finds."""
    ends = []
    for x in range(finds + 1):
        low, high = x, unread
        while low < high:
            middle = (low + high) // 2
            if hypergeometric_value(unread, found, middle, x) < 0.05:
                high = middle
            else:
                low = middle + 1
        ends.append(low)
    return ends


def error(unread: int, found: int, thresholds: list[int], missing: int) -> float:
    """The exact probability of a wrong stop, by a walk through the order, record by record."""
    finds = np.arange(missing + 1)
    weights = (finds == 0).astype(float)
    wrong = np.array([missing - x > allowed_missing(found + int(x), 0.95) for x in finds])
    total = 0.0
    for prefix in range(1, unread + 1):
        chance = np.clip((missing - finds) / (unread - prefix + 1), 0, 1)
        weights = weights * (1 - chance) + np.r_[0.0, (weights * chance)[:-1]]
        stops = prefix >= np.array(thresholds[: missing + 1])
        total += float(weights[stops & wrong].sum())
        weights[stops] = 0.0
    return total


def worst(unread: int, found: int) -> dict[str, float]:
    """The greatest error over up to 60 relevant ones, of both rules."""
    test = AuditTest(unread, found)
    rules = {"ours": [test.threshold(x) for x in range(60)], "two-phase": two_phase(unread, found, 59)}
    greatest = {name: max(error(unread, found, ends, missing) for missing in range(60)) for name, ends in rules.items()}
    return {"unread": unread, "found": found, **greatest}


def main() -> None:
    """Print the table and keep it."""
    runs, rng = RUNS, np.random.default_rng(5)
    rows = []
    for unread, found, missing in shapes():
        places = np.sort(np.argsort(rng.random((runs, unread), dtype=np.float32), axis=1)[:, :missing] + 1, axis=1)
        rules = {f"{spend:.2f}": AuditTest(unread, found, spend=spend) for spend in SPENDS}
        ends = {name: [rule.threshold(x) for x in range(missing + 1)] for name, rule in rules.items()}
        ends["two-phase"] = two_phase(unread, found, missing)
        row: dict[str, object] = {"unread": unread, "found": found, "missing": missing}
        row["floor"] = audit_floor(unread, allowed_missing(found, 0.95)) / unread
        for name, thresholds in ends.items():
            length, finds = lengths(places, thresholds)
            wrong = missing - finds > np.array([allowed_missing(found + int(x), 0.95) for x in finds])
            row[name] = {"read": float(length.mean() / unread), "wrong": float(wrong.mean())}
        rows.append(row)
    errors = [worst(unread, found) for unread, found in EXACT]
    common.save("audit_design", {"runs": runs, "pools": rows, "worst error, exactly": errors})


if __name__ == "__main__":
    main()
