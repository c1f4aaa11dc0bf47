"""Discoveries at a declared risk: how often a place of the edition may go to a paper beyond the known interests.

After Prinster et al., Conformal policy control (arXiv 2603.02196, ICML 2026): data gathered under a trusted policy
decide how far another policy may depart from it, as a cap on the likelihood ratio of the two. Here a policy fills one
*place* of the discovery section from a pool of papers. With a certain probability, the *share*, the explorer draws the
paper, else the known interests do, each from a distribution of its own:

- the *trusted* policy fills the first place, the control, with the share ``trusted_share(risk)``, which depends on
  nothing that happened before;
- the other places are filled with a share that brings the section's mean share to ``cap · trusted_share(risk)``: taken
  over its places, a paper of the explorer is likelier than under the trusted policy by no more than the cap.

Only control places are calibrated on, because what is drawn there does not depend on earlier rejections.

**What is guaranteed.** A paper is *rejected* if the reader dismissed it. Let the control places so far and the places
of the next section be exchangeable among those that the explorer filled, and among those that known interests filled:
the reader's taste and the supply of papers do not change. Then the expected share of rejected papers in the next
section, filled with the mean share that ``certified_share`` gives, is at most the declared risk. Sections without a
certificate, or with one for less than the control place's own part, count as 0 in this. The expectation is over the
control places, the next section and the draws together; it holds for every number of control places and needs no model
of the reader.

Proof, for a place of the section taken by lot. Put the next place among the n known or the m explored ones, and let p
= k/(n + 1) and q = e/(m + 1) be the shares of rejected ones among n + 1 and m + 1. Given these, each of them is the
next one with the same probability. The explorer's part is at most q · (risk − (k − p)/(n + 1)) · (m + 1)/e, the mean
over what the next known one would have been; the other part is at most p (1 − s), where s is the mean share, and s ≥
1/(n + 1) as the rule asks for K + 1 ≤ risk · (n + 1). They sum to at most risk + p/(n + 1) − p · s ≤ risk. Where K = k
− 1 is enough for a certificate and K = k is not, the sum is at most p (1 + risk − p), which is at most risk as p ≤
risk. ∎

The first editions have no certificate. Then the explorer's share of the section is the declared risk itself, so that
the risk is kept as far as the explorer goes even if every paper of it is rejected. Where the control places speak
against a certificate, the explorer gets the control place only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

WINDOW = 250  # control places that are looked back on: about a year of editions
TEMPERATURE = 0.3  # of both draws, in deviations of the pool's scores


@dataclass(frozen=True, slots=True)
class Trial:
    """A control place as it came out: whether the explorer filled it, and whether the reader rejected the paper."""

    explored: bool
    rejected: bool


@dataclass(frozen=True, slots=True)
class Pick:
    """A candidate (its index) for a place; ``propensity`` in (0, 1] to get it, ``explored`` if the explorer drew it.

    ``control`` marks the place of the trusted policy, which must be printed first.
    """

    index: int
    propensity: float
    explored: bool
    control: bool


def trusted_share(risk: float) -> float:
    """The explorer's share of control places: twice the risk, at most half. Raises ValueError outside [0, 0.5]."""
    if not 0 <= risk <= 0.5:
        raise ValueError(f"the risk must lie in [0, 0.5], not {risk}")
    return min(2 * risk, 0.5)


def certified_share(log: Sequence[Trial], risk: float, *, window: int = WINDOW) -> float | None:
    """The greatest share of the explorer that the control places certify for this risk, in (0, 1]; None for none.

    (risk − K/(n + 1)) · (m + 1)/(E + 1), where K of n places filled by known interests and E of m filled by the
    explorer were rejected; a certificate needs K + 1 ≤ risk · (n + 1), so n ≥ 9 for a risk of 0.1. Raises ValueError
    for a risk outside [0, 0.5] and a window below 1.
    """
    trusted_share(risk)
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    seen = log[-window:]
    wild = [trial.rejected for trial in seen if trial.explored]
    known = [trial.rejected for trial in seen if not trial.explored]
    if sum(known) + 1 > risk * (len(known) + 1) + 1e-12:
        return None
    return min(1.0, (risk - sum(known) / (len(known) + 1)) * (len(wild) + 1) / (sum(wild) + 1))


def calibrated_cap(log: Sequence[Trial], risk: float, *, window: int = WINDOW) -> float:
    """The cap for the next edition from the control places so far, oldest first; 0 for a risk of 0.

    The certified share as a multiple of the trusted one. Without a certificate: the risk itself while there are too few
    control places for any, and 0 after that (the explorer gets nothing beyond the control place). Raises ValueError as
    ``certified_share``.
    """
    share = certified_share(log, risk, window=window)
    if risk == 0:
        return 0.0
    if share is None:
        known = sum(not trial.explored for trial in log[-window:])
        share = risk if risk * (known + 1) < 1 else 0.0
    return share / trusted_share(risk)


def places_shares(count: int, cap: float, risk: float) -> tuple[float, float]:
    """The explorer's share of the control place and of each other one, in a section of so many places.

    Their mean is ``cap · trusted_share(risk)``, as far as shares between 0 and 1 allow. A single place has the mean
    itself, at most the risk, as no control can be paid for. Raises ValueError for a cap that asks for shares above 1.
    """
    trusted = trusted_share(risk)
    mean = cap * trusted
    if not 0 <= mean <= 1 + 1e-9:
        raise ValueError(f"a cap of {cap} gives the explorer {mean:.3g} of the places; it must be in [0, 1]")
    if count < 2:
        return min(trusted, risk), 0.0
    return trusted, min(max((count * mean - trusted) / (count - 1), 0.0), 1.0)


def trials(
    shown: Iterable[tuple[date, int, str, int, float, bool]],
    rejected: Collection[int],
    looked_at: Collection[date],
    section: str = "discovery",
) -> list[Trial]:
    """The control places of a reader's log, oldest first.

    ``shown`` are rows (day, paper, section's key, position, propensity, explored) as the store gives them; the control
    place is the section's first. ``rejected`` are papers that stand dismissed. ``looked_at`` are the editions with
    which the reader did anything: the others say nothing about what the reader thinks of their papers, and do not
    count.
    """
    first: dict[date, tuple[int, Trial]] = {}
    looked, against = set(looked_at), set(rejected)
    for day, paper, key, position, _, explored in shown:
        if key == section and day in looked and (day not in first or position < first[day][0]):
            first[day] = position, Trial(bool(explored), paper in against)
    return [first[day][1] for day in sorted(first)]


def draw(
    scores: np.ndarray,
    explorer_scores: np.ndarray,
    places: int,
    cap: float,
    seed: int,
    *,
    risk: float,
    temperature: float = TEMPERATURE,
) -> list[Pick]:
    """Papers for the places of a discovery section, the control place first; none for a risk of 0.

    ``scores`` float64 [candidates] by known interests and ``explorer_scores`` float64 [candidates], higher is better
    in both; any scale. Each place has a pool of its own (every ``places``-th candidate by score, dealt to the places
    by lot), so that no paper is drawn twice and the draws are independent. Fewer candidates than places fill fewer
    places. A propensity is the probability with which the paper gets its place, given the lots. ``cap`` is from
    ``calibrated_cap`` for the same risk. Raises ValueError for arrays that do not fit or are not finite, a negative
    number of places, a temperature that is not above 0, a risk outside [0, 0.5] and a cap by which the explorer's
    share is not in [0, 1].
    """
    known, wild = np.asarray(scores, np.float64), np.asarray(explorer_scores, np.float64)
    if known.ndim != 1 or known.shape != wild.shape:
        raise ValueError(f"scores must be one of each kind a candidate, not {known.shape} and {wild.shape}")
    if not (np.isfinite(known).all() and np.isfinite(wild).all()):
        raise ValueError("scores must be finite numbers")
    if places < 0:
        raise ValueError(f"places must not be negative, nor {places}")
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    rng = np.random.default_rng(seed)
    dealt = pools(known, places if risk > 0 else 0, rng)
    control, other = places_shares(len(dealt), cap, risk)
    picks = []
    for place, pool in enumerate(dealt):
        chances = policies(known[pool], wild[pool], temperature)
        index, propensity, explored = fill(*chances, control if place == 0 else other, rng)
        picks.append(Pick(int(pool[index]), propensity, explored, place == 0))
    return picks


def pools(scores: np.ndarray, places: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The candidates dealt to the places: indices, every ``places``-th by score, the pools in random order."""
    count = min(places, len(scores))
    order = np.argsort(-scores, kind="stable")
    return [order[start::count] for start in rng.permutation(count)]


def policies(
    scores: np.ndarray, explorer_scores: np.ndarray, temperature: float = TEMPERATURE
) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities with which known interests and the explorer draw each paper of a pool: float64 [papers] each.

    Softmax of the pool's standardised scores: the first place of a Plackett-Luce ranking.
    """
    return _softmax(_standard(scores) / temperature), _softmax(_standard(explorer_scores) / temperature)


def fill(known: np.ndarray, wild: np.ndarray, share: float, rng: np.random.Generator) -> tuple[int, float, bool]:
    """A paper of a pool (its index there), its probability, and whether the explorer drew it.

    ``known`` and ``wild`` are what ``policies`` gives; the explorer draws with probability ``share``.
    """
    explored = bool(rng.random() < share)
    chances = np.cumsum(wild if explored else known)
    index = min(int(np.searchsorted(chances, rng.random() * chances[-1], side="right")), len(chances) - 1)
    return index, float((1 - share) * known[index] + share * wild[index]), explored


def explorer_scores(candidates: int, notice: np.ndarray | None = None) -> np.ndarray:
    """What the explorer goes by: the notice that each candidate is expected to get, or all alike without it.

    float64 [candidates]. Distance from what is liked was measured as well (``bench.exploring``): more of what it drew
    was rejected, and it found new topics no sooner. Raises ValueError where the notice is not one number for each.
    """
    if notice is None:
        return np.zeros(candidates)
    if np.shape(notice) != (candidates,):
        raise ValueError(f"notice must be one number for each of the {candidates} candidates, not {np.shape(notice)}")
    return np.asarray(notice, np.float64)


def _softmax(values: np.ndarray) -> np.ndarray:
    raised = np.exp(values - values.max())
    return np.asarray(raised / raised.sum())


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1; zeros where all are equal."""
    found = np.asarray(values, np.float64)
    spread = found.std()
    return np.asarray((found - found.mean()) / spread) if spread > 1e-9 else np.zeros(len(found))
