"""How far screeners agree.

Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1), 1960; the
large-sample variance is that of Fleiss, Cohen and Everitt, Large sample standard errors of kappa and weighted kappa,
Psychological Bulletin 72(5), 1969.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

from broadsheet.model.screening import Agreement, Chosen, Label, ReviewEventKind, Stage
from broadsheet.screen.state import State

_NORMAL = 1.959963984540054  # the 0.975 quantile of the normal distribution


def agreements(state: State, stage: Stage = Stage.ABSTRACT) -> list[Agreement]:
    """The agreement of each two screeners, by name: on each one's last decision on a group that holds.

    Screeners are those of the plan and all who decided. Labels known beforehand are nobody's judgement and left out, as
    is what somebody decided after the conflict was resolved: that is no judgement of one's own any more.
    """
    judged = _judged(state, stage)
    names = sorted(set(judged) | set(state.review.plan.screeners))
    return [_between(one, other, judged.get(one, {}), judged.get(other, {})) for one, other in combinations(names, 2)]


def kappa(pairs: Iterable[tuple[Label, Label]]) -> tuple[float | None, tuple[float, float] | None]:
    """Cohen's kappa of pairs of labels and its 95 % interval, cut to [−1, 1].

    Both are None where there is no pair or chance alone would agree always.
    """
    counts = {(one, other): 0 for one in (True, False) for other in (True, False)}
    for first, second in pairs:
        counts[first is Label.INCLUDE, second is Label.INCLUDE] += 1
    total = sum(counts.values())
    if not total:
        return None, None
    share = {cell: count / total for cell, count in counts.items()}
    rows = {one: share[one, True] + share[one, False] for one in (True, False)}
    columns = {other: share[True, other] + share[False, other] for other in (True, False)}
    agreed = share[True, True] + share[False, False]
    by_chance = sum(rows[one] * columns[one] for one in (True, False))
    if by_chance >= 1:
        return None, None
    value = (agreed - by_chance) / (1 - by_chance)
    on = sum(
        share[one, one] * ((1 - by_chance) - (rows[one] + columns[one]) * (1 - agreed)) ** 2 for one in (True, False)
    )
    off = (1 - agreed) ** 2 * sum(share[i, j] * (columns[i] + rows[j]) ** 2 for i, j in share if i != j)
    variance = (on + off - (agreed * by_chance - 2 * by_chance + agreed) ** 2) / (total * (1 - by_chance) ** 4)
    half = _NORMAL * math.sqrt(max(variance, 0.0))
    return value, (max(-1.0, value - half), min(1.0, value + half))


def _between(one: str, other: str, first: dict[int, Label], second: dict[int, Label]) -> Agreement:
    pairs = [(first[group], second[group]) for group in first if group in second]
    value, interval = kappa(pairs)
    agreed = sum(a is b for a, b in pairs) / len(pairs) if pairs else None
    return Agreement(one, other, len(pairs), agreed, value, interval)


def _judged(state: State, stage: Stage) -> dict[str, dict[int, Label]]:
    """Each screener's last label of each group, put-off ones left out."""
    found: dict[str, dict[int, Label]] = {}
    resolved: set[int] = set()
    for event in state.events:
        if event.kind is ReviewEventKind.RESOLVE and event.stage is stage and event.record in state.records:
            resolved |= set() if state.is_undone(event.id) else {state.group(event.record)}
        is_own = event.kind is ReviewEventKind.DECIDE and event.chosen is not Chosen.PRIOR and event.stage is stage
        if not is_own or state.is_undone(event.id) or event.record not in state.records or event.label is None:
            continue
        labels, group = found.setdefault(event.screener, {}), state.group(event.record)
        if group in resolved:
            continue
        if event.label is Label.LATER:
            labels.pop(group, None)
        else:
            labels[group] = event.label
    return found
