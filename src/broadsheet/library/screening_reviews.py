"""The reviews of a library and their plans, and how anything about a review is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from broadsheet.errors import InputError, NotFoundError
from broadsheet.feed.options import checked_name
from broadsheet.library.screening_desks import Desks
from broadsheet.library.screening_numbers import Numbers
from broadsheet.library.screening_pouring import Pourer
from broadsheet.model.screening import Plan, Review, ReviewEvent, ReviewEventKind, ReviewId, Sharing, StoppingPlan
from broadsheet.screen.rules import check_plan

if TYPE_CHECKING:
    from broadsheet.library.facade import Library
    from broadsheet.screen.desk import Desk
    from broadsheet.screen.state import State


_STOPPING = {each.name for each in fields(StoppingPlan)}

Ref = str | ReviewId
"""A review's name, or its id."""


class Reviews:
    """Making, finding, changing and removing reviews."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._store = library.store.screening
        self._desks = Desks(library.settings, library.store, library.vectors)
        self._numbered: dict[tuple[ReviewId, str], Numbers] = {}
        self._pourer = Pourer(library.store, self._desks)

    def reviews(self) -> list[Review]:
        """All reviews, oldest first."""
        return self._store.reviews()

    def review(self, name: Ref) -> Review:
        """A review by name or id."""
        found = self._store.review(name)
        if found is None:
            known = ", ".join(each.name for each in self._store.reviews()) or "none"
            raise NotFoundError(f"there is no review {name!r} in this library; there are: {known}")
        return found

    def create(self, name: str, plan: Plan | None = None, *, screener: str = "", **changes: Any) -> Review:
        """Begin a review; ``changes`` are as for ``change``. A ``seed`` of 0 is replaced by one that is drawn now.

        Raises InputError where the name is taken or the plan cannot be.
        """
        made = _changed(plan or Plan(), changes)
        made = made if made.seed else replace(made, seed=_drawn_seed())
        _check(made)
        with self._writing():
            return self._store.add_review(name, made, now_utc(), self._who(screener))

    def change(self, name: Ref, *, screener: str = "", **changes: Any) -> Review:
        """Change the plan: fields of ``Plan`` and of its ``StoppingPlan`` by their names; what stays is no event."""
        with self._writing():
            review = self.review(name)
            plan = _changed(review.plan, changes)
            if plan == review.plan:
                return review
            _check(plan)
            event = ReviewEvent(0, review.id, ReviewEventKind.PLAN, self._who(screener), now_utc())
            with self._desks.at(review) as desk:
                desk.check(event)
                self._store.add_event(event, plan)
            return replace(review, plan=plan)

    def remove(self, name: Ref) -> None:
        """Delete a review with its records, decisions and statements."""
        with self._writing():
            review = self.review(name)
            self._store.remove_review(review.id)
        self._desks.forget(review.id)

    def start_background(self) -> None:
        """Make the vectors of reviews that are in use, from a thread, until ``close``."""
        self._desks.start_encoding()

    def be_patient(self, seconds: float) -> None:
        """Let the first record of a review that is opened from now on wait so long for the first order of the model.

        Without an order a record is drawn at random: a page cannot wait, a command of its own must.
        """
        self._desks.patience = seconds

    @property
    def trouble(self) -> str:
        """What keeps the vectors from being made in the background; empty where nothing does."""
        return self._desks.trouble

    def close(self) -> None:
        """End what runs in the background."""
        self._desks.close()

    # Behind it

    def _who(self, screener: str) -> str:
        return checked_name(screener) if screener.strip() else self._library.settings.reader

    def _viewer(self, screener: str | None) -> str:
        """Whose view is asked for, as the desk has it: "" is all there is."""
        return "" if screener is None else self._who(screener)

    def _numbers(self, state: State, screener: str) -> Numbers | None:
        """The numbers that a screener of a blinded review sees; None for who sees the ids."""
        if not has_numbers(state.review.plan, screener):
            return None
        key = (state.review.id, screener)
        return self._numbered.setdefault(key, Numbers(screener)).upto(state)

    def _shown(self, review: Review, screener: str, event: ReviewEvent) -> ReviewEvent:
        """An event that was just kept, as the one sees it who caused it."""
        if not has_numbers(review.plan, screener):
            return event
        with self._desks.at(review) as desk:
            numbers = self._numbers(desk.state, screener)
            return numbers.shown(event) if numbers else event

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._library.store.read_only:
            raise InputError("the library is open for reading only: open it for writing to change a review")
        with self._library.store.writing():
            yield

    @contextmanager
    def desk(self, name: Ref) -> Iterator[Desk]:
        """The room behind: a review's desk with all events there are, for as long as the context lasts."""
        with self._desks.at(self.review(name)) as desk:
            yield desk

    def _keep(self, review: Review, events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
        with self._writing(), self._desks.at(review) as desk:
            for event in events:
                desk.check(event)
            stored = self._store.add_events(review.id, events)
            self._desks.tell(review, stored)
        return stored

    def _kept(self, review: Review, desk: Desk, event: ReviewEvent) -> ReviewEvent:
        desk.check(event)
        stored = self._store.add_event(event)
        self._desks.tell(review, [stored])
        return stored


def has_numbers(plan: Plan, screener: str) -> bool:
    """Whether a screener knows events by numbers of his or her own."""
    return plan.sharing is Sharing.BLINDED and screener in plan.screeners


def _changed(plan: Plan, changes: Mapping[str, Any]) -> Plan:
    stopping = {name: value for name, value in changes.items() if name in _STOPPING}
    rest = {name: value for name, value in changes.items() if name not in _STOPPING}
    made = replace(plan, **rest)
    return replace(made, stopping=replace(made.stopping, **stopping)) if stopping else made


def _check(plan: Plan) -> None:
    check_plan(plan)
    for screener in plan.screeners:
        checked_name(screener)


def _drawn_seed() -> int:
    import secrets

    return secrets.randbelow(2**31 - 1) + 1


def now_utc() -> datetime:
    """The moment that an event is kept with."""
    return datetime.now(UTC)
