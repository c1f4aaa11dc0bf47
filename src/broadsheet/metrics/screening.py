"""Measures of one screening run: how soon the relevant records were met.

A run is given by ``labels``, in reading order and **without the priors**, which nobody had to find: they would make
every figure look better (asreview issue 2147). ``records`` is how many records there were to read, so it has no priors
either, and ``labels`` may end early: what was not read is taken as irrelevant if all ``relevant`` ones were met. Where
some were not, the measures that need them raise ValueError, since nothing is known of when they would have come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def _places(labels: Sequence[bool], records: int, relevant: int) -> list[int]:
    """Places, from 1, of the relevant records met; raises ValueError where the counts cannot be."""
    places = [place for place, label in enumerate(labels, 1) if label]
    if not 0 < relevant <= records:
        raise ValueError(f"relevant must lie in [1, {records}], the number of records, not be {relevant}")
    if len(labels) > records:
        raise ValueError(f"{len(labels)} labels for {records} records: leave the priors out of both")
    if len(places) > relevant:
        raise ValueError(f"{len(places)} relevant labels, but only {relevant} relevant records")
    return places


def _all_places(labels: Sequence[bool], records: int, relevant: int) -> list[int]:
    places = _places(labels, records, relevant)
    if len(places) < relevant:
        raise ValueError(f"only {len(places)} of {relevant} relevant records were met; read on before measuring this")
    return places


def _share(name: str, value: float) -> Fraction:
    """The exact value of what was written: 0.95 is 19/20, so that 95 % of 20 is 19."""
    if not 0 < value <= 1:
        raise ValueError(f"{name} must lie in (0, 1], not {value}")
    return Fraction(str(value))


def read_for(labels: Sequence[bool], records: int, relevant: int, recall: float = 0.95) -> int:
    """How many records were read until ``recall`` of the relevant ones was reached.

    Raises ValueError where it was not reached, for a recall outside (0, 1], and for counts that cannot be.
    """
    places = _places(labels, records, relevant)
    needed = math.ceil(_share("recall", recall) * relevant)
    if needed > len(places):
        raise ValueError(f"a recall of {recall} was not reached: {len(places)} of {relevant} relevant records were met")
    return places[needed - 1]


def wss(labels: Sequence[bool], records: int, relevant: int, recall: float = 0.95) -> float:
    """Work saved over random sampling: share of records left unread at this recall, less 1 − recall.

    Cohen et al., Reducing workload in systematic review preparation using automated citation classification, JAMIA
    13(2), 2006. Raises ValueError as ``read_for``.
    """
    return (records - read_for(labels, records, relevant, recall)) / records - (1 - recall)


def rrf(labels: Sequence[bool], records: int, relevant: int, share: float = 0.1) -> float:
    """Relevant records found after this share of the records was read, as a share of all relevant ones.

    Raises ValueError where reading ended before that with relevant records unmet, and for a share outside (0, 1].
    """
    places = _places(labels, records, relevant)
    last = math.floor(_share("share", share) * records)
    if len(labels) < last and len(places) < relevant:
        raise ValueError(f"only {len(labels)} of the first {last} records were read, with relevant ones unmet")
    return sum(place <= last for place in places) / relevant


def average_time_to_discovery(labels: Sequence[bool], records: int, relevant: int) -> float:
    """Mean over the relevant records of the share of records that was read when each was met, in (0, 1].

    Ferdinands et al., Performance of active learning models for screening prioritization in systematic reviews,
    Systematic Reviews 12:100, 2023. Raises ValueError where some were not met.
    """
    places = _all_places(labels, records, relevant)
    return math.fsum(places) / relevant / records


def recall_curve(labels: Sequence[bool], records: int, relevant: int) -> list[float]:
    """Recall after 1, 2, … ``records`` records read: exactly as many values as there are records to read.

    After the last label the curve stays where it is only if nothing relevant is left (asreview-insights pull request
    45 padded too far). Raises ValueError where some were not met.
    """
    _all_places(labels, records, relevant)
    found, curve = 0, []
    for label in labels:
        found += bool(label)
        curve.append(found / relevant)
    return curve + [1.0] * (records - len(labels))


def loss(labels: Sequence[bool], records: int, relevant: int) -> float:
    """Area between the best recall curve that can be and the run's, relative to that between the best and the worst.

    0 for a run that meets all relevant records first, 1 for one that meets them last; 0 where all records are relevant.
    Raises ValueError where some were not met.
    """
    places = _all_places(labels, records, relevant)
    first = relevant * (relevant + 1) // 2
    widest = relevant * (records - relevant)
    return (sum(places) - first) / widest if widest else 0.0


def ndcg(labels: Sequence[bool], records: int, relevant: int) -> float:
    """Normalised discounted cumulated gain of the reading order, discount log2(place + 1), in (0, 1].

    Järvelin and Kekäläinen, ACM TOIS 20(4), 2002. Raises ValueError where some were not met.
    """
    gained = math.fsum(1 / math.log2(place + 1) for place in _all_places(labels, records, relevant))
    return gained / math.fsum(1 / math.log2(place + 1) for place in range(1, relevant + 1))
