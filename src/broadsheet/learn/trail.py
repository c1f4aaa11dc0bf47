"""What a stopping rule is told, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from broadsheet.model.screening import Chosen, GuaranteeClass

NO_BOUND = "no bound"
FURTHER = "further "
"""Grounds of ``Said``: that nothing can be ruled out, and how much more is to be read (with the target after it)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A record that was read; repeats of it are no steps of their own.

    ``relevant`` is its final label, None while it has none (put off, or in conflict). ``unread`` are the records
    without a final label just before, this one included. ``rank`` is its place when it was offered (0 is the top, −1
    unknown) in the ranking of ``ranked`` records (0: as many as are unread). ``place`` is its position in the audit's
    random order, from 0, however it came to be read; −1 if it is not in it. ``captures`` is how many of several
    independent screeners or searches found it, also where they disagree; 0 where it was known before. ``among`` are
    the records that it was chosen from, where those were more than are unread by the trail: some left without being
    read since, or it was read long after it was offered.
    """

    chosen: Chosen
    relevant: bool | None
    unread: int
    rank: int = -1
    place: int = -1
    captures: int = 1
    ranked: int = 0
    among: int = 0


@dataclass(frozen=True, slots=True)
class Trail:
    """The steps in the order of first reading, of a pool of ``records`` (repeats not counted).

    The audit's order was drawn after ``audit_from`` steps (None: not yet), of the ``audit_size`` records unread then;
    it must hold all that is unread now. ``audit_found`` were found then (None: those that are found outside of the
    order), and ``audit_gone`` are places of records that are no more to be read. After ``since`` steps more was unread
    than before, for the last time: what was read until then is known, but is no evidence, except by its place in the
    audit's order.
    """

    records: int
    steps: Sequence[Step] = ()
    audit_from: int | None = None
    audit_size: int = 0
    since: int = 0
    audit_found: int | None = None
    audit_gone: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a verdict. Of those on the same ``ground`` (what they rest on, or what they are about) in a joint
    rule, only one is needed: that with the greatest ``weight``; empty where it stands for itself."""

    text: str
    ground: str = ""
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says at one moment; the words are in ``sentence``.

    ``recall`` is the lower bound on recall that holds with ``confidence``, None where no estimate is possible or the
    rule has no guarantee, and ``missing`` the upper bound on relevant records unread with it. ``further`` estimates how
    many more records are read until the rule says stop if none of them is relevant, None where unknown. ``wants`` is
    what to read next: ``ranked``, ``audit``, or empty; ``said`` has its sentences one by one. ``advantage`` is the
    estimate from the audit of how much faster than random reading the ranking finds, with a 95 % interval.
    """

    rule: str
    stop: bool
    guarantee: GuaranteeClass
    target: float
    confidence: float
    found: int
    recall: float | None = None
    missing: int | None = None
    further: int | None = None
    assumption: str = ""
    refuted: bool = False
    wants: str = ""
    sentence: str = ""
    advantage: float | None = None
    advantage_interval: tuple[float, float] | None = None
    said: tuple[Said, ...] = ()


def percent(share: float) -> str:
    """A lower bound as a percentage, rounded down to a tenth: ``93.4 %``."""
    return f"{math.floor(1000 * share + 1e-9) / 10:g} %"


def exact_percent(share: float) -> str:
    """A declared share as it was declared: ``97.5 %``."""
    return f"{100 * share:.10g} %"


def counted(count: int, singular: str, plural: str = "") -> str:
    """``1 record``, ``2 records``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def in_words(said: Iterable[Said]) -> str:
    """Sentences as one text."""
    return " ".join(one.text for one in said)


def strongest(said: Sequence[Said], *, least_further: bool) -> tuple[Said, ...]:
    """Sentences without those that another one makes needless: the same again, a weaker bound on the same ground, that
    there is no bound where there is one. Of several estimates of what is to be read, the least stays, or the greatest.
    """
    best: dict[str, int] = {}
    for at, one in enumerate(said):
        sign = -1 if least_further and one.ground.startswith(FURTHER) else 1
        held = best.setdefault(one.ground or one.text, at)
        if sign * one.weight > sign * said[held].weight:
            best[one.ground] = at
    if any(said[at].weight and not said[at].ground.startswith(FURTHER) for at in best.values()):
        best.pop(NO_BOUND, None)
    return tuple(said[at] for at in sorted(best.values()))
