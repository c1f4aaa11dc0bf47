"""Which record is read next, and what is known of how it was chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from broadsheet.errors import InputError
from broadsheet.model.screening import Chosen, ReviewEvent, ReviewEventKind, Stage
from broadsheet.screen.groups import Group
from broadsheet.screen.state import State
from broadsheet.screen.tracks import Track

if TYPE_CHECKING:
    from datetime import datetime

    from broadsheet.screen.trainer import Order

AUTO, RANKED, AUDIT, RANDOM = MODES = ("auto", "ranked", "audit", "random")

OUTSIDERS = 50  # unread records outside of an audit's order are read rather than a new audit begun, up to so many
PUT_OFF = 20  # events after which a record comes again that was put off in an audit, since it holds the audit up


@dataclass(frozen=True, slots=True)
class Choice:
    """A group to read next: how it was chosen, its place by relevance among ``unread`` ones (0, 0: not ranked)."""

    group: Group
    chosen: Chosen
    place: int = 0
    unread: int = 0


def choose(
    state: State,
    stage: Stage,
    screener: str,
    *,
    mode: str = AUTO,
    wants: str = "",
    order: Order | None = None,
    lent: Collection[Group] = (),
) -> Choice | None:
    """What the screener reads next; None where nothing is unread.

    ``wants`` is what the stopping rule wants to be read next; the mode ``auto`` follows it. ``order`` is the latest of
    the model, ``lent`` what others have before them: it comes last. What the screener put off comes last, too, but for
    an audit, and for random draws, which are from all that is unread.
    """
    check_mode(mode)
    kind = AUDIT if mode == AUDIT or (mode == AUTO and wants == AUDIT and state.audit(stage, screener)) else RANKED
    if kind == AUDIT and state.audit(stage, screener) is None:
        raise InputError("no audit has begun: it begins when the stopping rule wants it, or when it is asked for")
    if kind == RANKED and (mode == RANDOM or order is None or (mode == AUTO and order.is_random)):
        kind = RANDOM
    if not state.unread(stage, screener):
        return None
    choice = _Desk(state, stage, screener, order, lent).choose(kind)
    return choice or _Desk(state, stage, screener, order, ()).choose(kind)


def due(state: State, stage: Stage, screener: str, moment: datetime, *, mode: str, wants: str) -> ReviewEvent | None:
    """The event that begins an audit, where one is to be begun before the next record is chosen; its id is 0.

    Where few records are unread outside of the order of an audit that runs, they are read and the audit goes on.
    """
    check_mode(mode)
    if mode != AUDIT and not (mode == AUTO and wants == AUDIT):
        return None
    outside = len(state.outsiders(stage, screener))
    if outside and not state.track(stage, screener).included:
        if mode == AUTO:
            return None
        raise InputError(
            "an audit reckons with what was found when it began, and nothing has been found: include a record first, "
            "or read at random"
        )
    if not outside or (state.audit(stage, screener) is not None and outside <= OUTSIDERS):
        return None
    detail = f'{{"seed":{_seed(state, stage, 0, state.last_event)}}}'
    return ReviewEvent(0, state.review.id, ReviewEventKind.AUDIT, screener, moment, stage=stage, detail=detail)


def check_mode(mode: str) -> None:
    """Raises InputError for a mode that there is not."""
    if mode not in MODES:
        raise InputError(f"the mode must be one of {', '.join(MODES)}, not “{mode}”")


@dataclass(frozen=True)
class _Desk:
    """What a choice is made from: the arguments of ``choose``."""

    state: State
    stage: Stage
    screener: str
    order: Order | None
    lent: Collection[Group]

    @property
    def track(self) -> Track:
        return self.state.track(self.stage, self.screener)

    def choose(self, kind: str) -> Choice | None:
        return {AUDIT: self._audited, RANDOM: self._drawn, RANKED: self._ranked}[kind]()

    def _audited(self) -> Choice | None:
        state, track = self.state, self.track
        outside = [group for group in state.outsiders(self.stage, self.screener) if group not in self.lent]
        if outside:
            return self._placed(outside[0], Chosen.MANUAL)
        order = state.audit_order(self.stage, self.screener)
        unread = [group for group in order if group not in track.of and group not in self.lent]
        fresh = (g for g in unread if g not in track.later or state.last_event - track.later[g] >= PUT_OFF)
        found = next(chain(fresh, unread), None)
        return None if found is None else self._placed(found, Chosen.AUDIT)

    def _drawn(self) -> Choice | None:
        """The first of a random order that stands as long as no more is unread: so a draw that was passed by, or taken
        back, comes again, and nobody draws until it pleases. What was put off has been drawn already."""
        key = (self.stage, self.screener, self.state.last_event, frozenset(self.lent))
        if self.state.last_draw[0] != key:
            self.state.last_draw = key, self._drawn_anew()
        drawn: tuple[Group, Chosen] | None = self.state.last_draw[1]
        return None if drawn is None else self._placed(*drawn)

    def _drawn_anew(self) -> tuple[Group, Chosen] | None:
        import numpy as np

        state, track = self.state, self.track
        unread = state.unread(self.stage, self.screener)
        fresh = [group for group in unread if group not in track.put_off]
        free = np.array([group for group in fresh or unread if group not in self.lent], np.int64)
        if not len(free):
            return None
        grew = state.grew.get((self.stage, state.view(self.screener)), 0)
        draws = np.random.Generator(np.random.PCG64(_seed(state, self.stage, 1, grew)))
        first = free[draws.random(len(state.records))[free - 1].argmin()]
        # A draw that leaves out what others have before them is not from all that is unread.
        chosen = Chosen.RANDOM if len(free) == len(fresh) else Chosen.MANUAL
        return int(first), chosen

    def _ranked(self) -> Choice | None:
        track = self.track
        put_off = sorted(track.later, key=lambda group: (track.later[group], group))
        fresh = (group for group in self._in_order() if group not in track.of and group not in track.later)
        found = next((group for group in chain(fresh, put_off) if group not in self.lent), None)
        if found is None:
            return None
        choice = self._placed(found, Chosen.RANKED)
        # Only of the top by relevance do the rules assume anything.
        by_relevance = self.state.review.plan.querier == "max-relevance" or choice.place == 0
        return choice if by_relevance and choice.unread else replace(choice, chosen=Chosen.MANUAL)

    def _in_order(self) -> Iterator[Group]:
        """The model's order, then what came into the pool since."""
        assert self.order is not None
        groups = self.state.pool(self.stage)
        pool = groups if self.stage is Stage.ABSTRACT else set(groups)
        yield from (number for number in map(_number, self.order.ranking.order) if number in pool)
        yield from (group for group in groups if not self.order.ranks(group - 1))

    def _placed(self, group: Group, chosen: Chosen) -> Choice:
        return Choice(group, chosen, *placed(self.state, self.stage, self.screener, self.order, group))


def admitted(state: State, event: ReviewEvent) -> ReviewEvent:
    """A decision with what may be concluded from how its record was chosen, in the state before it.

    A random draw is the one that stands, an audit's record is in the audit's order, and a place by relevance is one in
    an order that there was, which ``replay`` can learn again: of a draw, too, since its place tells what the ranking is
    worth. What was not offered so counts as picked by hand, of which nothing is concluded.
    """
    if not _is_evidence(state, event):
        return replace(event, chosen=Chosen.MANUAL, place=0, unread=0, model="")
    if (event.place or event.unread) and not _is_placed(state, event):
        return replace(event, place=0, unread=0, model="")
    return event


def _is_evidence(state: State, event: ReviewEvent) -> bool:
    stage, screener, group = event.stage, event.screener, state.group(event.record)
    if event.chosen is Chosen.RANDOM:
        return drawn(state, stage, screener) == group
    if event.chosen is Chosen.AUDIT:
        return state.audit_covers(stage, screener) and group in state.audit_places(stage, screener)
    return event.chosen is not Chosen.RANKED or _is_placed(state, event)


def _is_placed(state: State, event: ReviewEvent) -> bool:
    """Whether a place is named with an order that there was. Repeats that were found since had places, too."""
    learned = event.model.rpartition("@")[2]
    there = learned.isdecimal() and len(learned) < 18 and state.event(int(learned)) is not None
    return there and 0 <= event.place < event.unread <= len(state.records)


def drawn(state: State, stage: Stage, screener: str) -> Group | None:
    """The random draw from all that is unread, as it stands; None where nothing is."""
    if not state.unread(stage, screener):
        return None
    choice = _Desk(state, stage, screener, None, ()).choose(RANDOM)
    return choice.group if choice and choice.chosen is Chosen.RANDOM else None


def placed(state: State, stage: Stage, screener: str, order: Order | None, group: Group) -> tuple[int, int]:
    """A group's place by relevance among what is unread now, and how many that are; 0 and 0 where it is not ranked."""
    if order is None or order.is_random or not order.ranks(group - 1):
        return 0, 0
    import numpy as np

    read, size = state.track(stage, screener).of, state.pool_size(stage)
    is_unread = np.zeros(len(state.records) + 1, bool)
    is_unread[np.fromiter(state.pool(stage), np.int64, size)] = True
    is_unread[np.fromiter(read, np.int64, len(read))] = False
    better = order.ranking.relevance_order[: order.place_of[group - 1]]
    return int(np.count_nonzero(is_unread[better + 1])), size - len(read)


def _number(index: int) -> Group:
    return int(index) + 1


def _seed(state: State, stage: Stage, purpose: int, event: int) -> int:
    """A seed that follows from the plan and from what had happened up to an event."""
    import numpy as np

    parts = [abs(state.review.plan.seed), event, list(Stage).index(stage), purpose]
    return int(np.random.SeedSequence(parts).generate_state(1)[0])
