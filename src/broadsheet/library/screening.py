"""Systematic reviews, as pages, commands and programs call them: ``library.screening``.

A review is named by its name or its id. ``screener`` is who acts, "" the default reader; where it may be None, None
sees the whole review as its coordinator does, and a name what that screener may see of a blinded review.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from broadsheet.errors import InputError, NotFoundError
from broadsheet.library import screening_export as out
from broadsheet.library import screening_views as views
from broadsheet.library.screening_desks import shown_encoder
from broadsheet.library.screening_filling import fill_of_items
from broadsheet.library.screening_pool import Pools
from broadsheet.library.screening_reviews import Ref, has_numbers, now_utc
from broadsheet.library.screening_simulation import of_records, of_review, pool_of, vectors_for
from broadsheet.library.vectors import NONE
from broadsheet.model.screening import (
    Agreement,
    Chosen,
    Conflict,
    Label,
    Offer,
    Plan,
    PrismaCounts,
    RecordNumber,
    Replay,
    Review,
    ReviewEvent,
    ReviewEventId,
    ReviewEventKind,
    ReviewId,
    ReviewProgress,
    Stage,
    Standing,
)
from broadsheet.screen.fold import BRIDGED
from broadsheet.screen.journal import read_lines
from broadsheet.screen.offers import admitted
from broadsheet.screen.png import prisma_png
from broadsheet.screen.replay import replay
from broadsheet.screen.simulate import Simulation, simulate
from broadsheet.screen.sources import sources_of
from broadsheet.screen.state import State
from broadsheet.screen.svg import prisma_svg

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

_UNDOABLE = frozenset(
    {
        *(ReviewEventKind.DECIDE, ReviewEventKind.RESOLVE, ReviewEventKind.TWIN, ReviewEventKind.APART),
        ReviewEventKind.DIFFERENT,
    }
)
_OFFERS = 200  # that are remembered of each screener


class Screening(Pools):
    """The reviews of one library. Methods may be called from any thread and several processes; what is decided is in
    the database when a method returns.

    All raise NotFoundError for a review that there is not, InputError for what cannot be and for writing in a library
    that is open for reading only, BusyError while another process writes, and StoreError.
    """

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._offers: dict[tuple[ReviewId, str, Stage], dict[RecordNumber, Offer]] = {}

    # Screening

    def prior(
        self,
        name: Ref,
        numbers: Iterable[RecordNumber],
        label: Label,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
    ) -> list[ReviewEvent]:
        """Say what is known of records before screening; every screener knows it then."""
        review, who, now = self.review(name), self._who(screener), now_utc()
        events = [
            ReviewEvent(0, review.id, ReviewEventKind.DECIDE, who, now, number, stage, label, Chosen.PRIOR)
            for number in dict.fromkeys(numbers)
        ]
        return [self._shown(review, who, event) for event in self._keep(review, events)]

    def next(
        self, name: Ref, screener: str = "", *, stage: Stage = Stage.ABSTRACT, mode: str = "auto", begin: bool = True
    ) -> Offer | None:
        """The record to read next; None where nothing is left.

        ``mode`` is ``auto`` (what the declared rule wants), ``ranked``, ``audit`` or ``random``. Where an audit is due,
        it is begun, which is an event; with ``begin`` false nothing is written.
        """
        review, who = self.review(name), self._who(screener)
        with self._desks.at(review) as desk:
            due = desk.due(who, stage, now_utc(), mode) if begin else None
            offer = None if due else desk.offer(who, stage, mode)
        if due:
            offer = self._begin_audit(review, who, stage, mode)
        return self._offered(review, who, self._remembered(review, who, stage, offer))

    def audit_due(self, name: Ref, screener: str = "", *, stage: Stage = Stage.ABSTRACT, mode: str = "auto") -> bool:
        """Whether ``next`` would begin an audit. Nothing is written."""
        with self.desk(name) as desk:
            return desk.due(self._who(screener), stage, now_utc(), mode) is not None

    def look(self, name: Ref, number: RecordNumber, screener: str = "", *, stage: Stage = Stage.ABSTRACT) -> Offer:
        """A record that is picked by hand, shown as ``next`` shows one."""
        review, who = self.review(name), self._who(screener)
        with self._desks.at(review) as desk:
            views.View(desk.state, stage, who).one(number)
            offer = desk.look(number, who, stage)
        self._remembered(review, who, stage, offer)
        return self._offered(review, who, offer) or offer

    def decide(
        self,
        name: Ref,
        number: RecordNumber,
        label: Label,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
        reasons: Sequence[str] = (),
        note: str = "",
        offer: Offer | str | None = None,
    ) -> ReviewEvent:
        """Decide of a record; the event is in the database when this returns. The same decision again is no new event.

        ``offer`` is what ``next`` gave, or its ``offer_token``; without it, the last offer of this record to this
        screener, else a record picked by hand. What was not offered so counts as picked by hand
        (``screen.offers.admitted``): nothing is concluded from it.
        """
        review, who = self.review(name), self._who(screener)
        chosen, place, unread, model = self._chosen(review, who, stage, number, offer)
        event = ReviewEvent(
            id=0,
            review=review.id,
            kind=ReviewEventKind.DECIDE,
            screener=who,
            moment=now_utc(),
            record=number,
            stage=stage,
            label=label,
            chosen=chosen,
            reasons=tuple(reasons),
            note=note.strip(),
            model=model,
            place=place,
            unread=unread,
        )
        with self._writing(), self._desks.at(review) as desk:
            desk.check(event)
            event = admitted(desk.state, event)  # an old page, a script, or an offer that was overtaken
            return self._shown(review, who, views.repeated(desk.state, event) or self._kept(review, desk, event))

    def undo(self, name: Ref, screener: str = "", *, event: ReviewEventId | None = None) -> ReviewEvent | None:
        """Take back an event, or what the screener did last; None where there is nothing to take back.

        An undo can be taken back by its id. Raises NotFoundError for an event that there is not.
        """
        review, who = self.review(name), self._who(screener)
        with self._writing(), self._desks.at(review) as desk:
            state, numbers = desk.state, self._numbers(desk.state, who)
            event = numbers.id(event) if numbers and event is not None else event
            target = _last_deed(state, who) if event is None else _named(state, event)
            if target is None or state.is_undone(target.id):
                return None
            made = ReviewEvent(
                *(0, review.id, ReviewEventKind.UNDO, who, now_utc(), target.record, target.stage), undoes=target.id
            )
            return self._shown(review, who, self._kept(review, desk, made))

    def twin(self, name: Ref, number: RecordNumber, other: RecordNumber, screener: str = "") -> ReviewEvent:
        """Say that a record repeats another: what was decided of either holds for both, and they count once."""
        return self._said(name, screener, ReviewEventKind.TWIN, record=number, other=other)

    def apart(self, name: Ref, number: RecordNumber, screener: str = "") -> ReviewEvent:
        """Say that a record repeats none of those that it was taken to repeat."""
        return self._said(name, screener, ReviewEventKind.APART, record=number)

    def different(self, name: Ref, number: RecordNumber, other: RecordNumber, screener: str = "") -> ReviewEvent:
        """Say that two records that look like one are not: they are not listed as possible repeats any more, and no
        file that is added later makes one of them."""
        return self._said(name, screener, ReviewEventKind.DIFFERENT, record=number, other=other)

    # Where it stands

    def standings(self) -> list[Standing]:
        """How far each review is, oldest first; nothing is ranked and no rule is asked for it."""
        found = []
        for review in self.reviews():
            with self.desk(review.id) as desk:
                found.append(views.standing(desk.state))
        return found

    def progress(
        self, name: Ref, screener: str | None = None, *, stage: Stage = Stage.ABSTRACT, curve: bool = True
    ) -> ReviewProgress:
        """How much was read and found, what the declared rule says of it, and what others would say."""
        viewer = self._viewer(screener)
        with self.desk(name) as desk:
            found = desk.progress(viewer, stage, curve=curve)
            numbers = self._numbers(desk.state, viewer)
            model = numbers.version(found.model) if numbers else found.model
            return replace(found, conflicts=len(views.conflicts(desk.state, stage, viewer)), model=model)

    def superseded(self, name: Ref, screener: str | None = None, *, stage: Stage = Stage.ABSTRACT) -> str:
        """Why the statement that ``stop`` kept is not of these labels any more, and what to do; else empty."""
        with self.desk(name) as desk:
            return desk.superseded(self._viewer(screener), stage)

    def conflicts(self, name: Ref, *, stage: Stage = Stage.ABSTRACT, screener: str | None = None) -> list[Conflict]:
        """Records that screeners decided differently; a blinded screener sees those decided by that one, too."""
        viewer = self._viewer(screener)
        with self.desk(name) as desk:
            shown, numbers = views.conflicts(desk.state, stage, viewer), self._numbers(desk.state, viewer)
            found = [each for each in desk.conflicts(stage, viewer) if each.record.number in shown]
            if numbers is None:
                return found
            return [replace(each, decisions=tuple(map(numbers.shown, each.decisions))) for each in found]

    def resolve(
        self,
        name: Ref,
        number: RecordNumber,
        label: Label,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
        reasons: Sequence[str] = (),
        note: str = "",
    ) -> ReviewEvent:
        """Decide a conflict for all; a screener of a blinded review only one that he or she may see."""
        review, who = self.review(name), self._who(screener)
        with self._desks.at(review) as desk:
            state = desk.state
            if who in review.plan.screeners and not views.may_see(state, number, stage, who):
                raise InputError(f"record {number} is not in conflict: there is nothing to resolve")
        event = ReviewEvent(
            *(0, review.id, ReviewEventKind.RESOLVE, who, now_utc(), number, stage, label),
            reasons=tuple(reasons),
            note=note.strip(),
        )
        return self._shown(review, who, self._keep(review, [event])[0])

    def agreement(self, name: Ref, *, stage: Stage = Stage.ABSTRACT) -> list[Agreement]:
        """How far each two screeners agree."""
        with self.desk(name) as desk:
            return list(desk.agreement(stage))

    def prisma(self, name: Ref) -> PrismaCounts:
        """The numbers of the PRISMA 2020 flow diagram."""
        with self.desk(name) as desk:
            return desk.prisma()

    def prisma_svg(self, name: Ref) -> str:
        """The flow diagram as SVG."""
        return prisma_svg(self.prisma(name), self.review(name).name)

    def prisma_png(self, name: Ref) -> bytes:
        """The flow diagram as PNG. Raises MissingExtraError where the renderer is not installed."""
        return prisma_png(self.prisma_svg(name))

    def stop(self, name: Ref, screener: str = "", *, stage: Stage = Stage.ABSTRACT) -> ReviewEvent:
        """End screening: what can be said now of what was missed is kept as it is said, whatever the rule says."""
        review, who = self.review(name), self._who(screener)
        with self._writing(), self._desks.at(review) as desk:
            return self._shown(review, who, self._kept(review, desk, desk.stop_event(who, stage, now_utc())))

    def reopen(self, name: Ref, screener: str = "", *, stage: Stage = Stage.ABSTRACT) -> ReviewEvent:
        """Take screening up again; the statement that was kept stays in the history."""
        return self._said(name, screener, ReviewEventKind.REOPEN, stage=stage)

    # In and out

    def export(self, name: Ref, form: str, *, only: Label | None = None) -> Iterator[bytes]:
        """A review in a format of ``EXPORT_FORMS``, piece by piece: ``record`` is all that there is, to replay and to
        import; the others are the records with what was decided, with ``only`` those that have this label in the end,
        each with its repeats once. Raises InputError for another format, and for ``record`` with ``only``, at once.
        """
        review = self.review(name)
        if form == out.RECORD:
            if only is not None:
                raise InputError("the format “record” is of the whole review; choose another one for a part of it")
            return out.whole(review, self._store.records(review.id), self._store.events(review.id))
        writer = out.writer(form)
        with self._desks.at(review) as desk:
            decided = out.decided(desk.state, only)
        return writer(decided)

    def import_(self, file: BinaryIO, name: str = "", *, screener: str = "") -> Review:
        """Take up a review that ``export`` wrote as ``record``, under its own name or another one."""
        review, records, events = out.checked(*read_lines(file))
        # As its events left it; raises where they do not go together.
        state = State.of(review, records, events)
        sources_of(state)
        plan = state.review.plan
        with self._writing():
            try:
                return self._store.import_review(name or review.name, plan, review.created, records, events)
            except ValueError as error:
                raise InputError(f"this is no whole review ({error}); export it again") from error

    def replay(self, file: BinaryIO, *, offers: bool = False) -> Replay:
        """Make every statement of an exported review again, and compare; with ``offers`` the place of every record that
        a model had offered as well. Nothing is kept of the review.

        For offers of models with vectors, those are made by the encoder of the settings, where there is one.
        """
        review, records, events = out.checked(*read_lines(file))
        if not offers:
            return replay(review, records, events)
        encoder = self._library.vectors.wanted
        dense = encoder != NONE and any("+" in event.model for event in events)
        vectors = vectors_for(self._library, records, lambda done, total: None) if dense else None
        return replay(review, records, events, vectors=vectors, encoder=shown_encoder(encoder), offers=True)

    def simulate(
        self,
        pool: Ref | Path,
        plan: Plan | None = None,
        seeds: Iterable[int] = range(10),
        *,
        vectors: bool = False,
        repeats: bool = False,
        on_vectors: Callable[[int, int], None] = lambda done, total: None,
        **options: Any,
    ) -> Simulation:
        """Try a plan (None: the review's own, or the default) on labelled records, once for each seed.

        ``pool`` is the path of a file with labels, or a review, of which what was read counts. ``vectors`` are made
        where they lack; ``repeats`` counts those of a file as records of their own. ``options`` are those of
        ``screen.simulate``: ``prior_included``, ``prior_excluded``, ``until``, ``compare``, ``every``, ``on_progress``,
        ``on_run``.
        """
        if isinstance(pool, Path):
            known = of_records(fill_of_items(self._items(pool), pool.name, None).records, repeats=repeats)
        else:
            with self.desk(pool) as desk:
                known, plan = of_review(desk.state), plan or desk.state.review.plan
        made = vectors_for(self._library, [record for record, _ in known], on_vectors) if vectors else None
        return simulate(pool_of(known, made), plan or Plan(), seeds, **options)

    # Behind it

    def _begin_audit(self, review: Review, who: str, stage: Stage, mode: str) -> Offer | None:
        with self._writing(), self._desks.at(review) as desk:
            due = desk.due(who, stage, now_utc(), mode)
            if due:  # another may have begun it meanwhile
                self._desks.tell(review, [self._store.add_event(due)])
            return desk.offer(who, stage, mode)

    def _remembered(self, review: Review, who: str, stage: Stage, offer: Offer | None) -> Offer | None:
        if offer is not None:
            known = self._offers.setdefault((review.id, who, stage), {})
            known.pop(offer.record.number, None)
            known[offer.record.number] = offer
            while len(known) > _OFFERS:
                del known[next(iter(known))]
        return offer

    def _said(self, name: Ref, screener: str, kind: ReviewEventKind, **fields: Any) -> ReviewEvent:
        """Keep an event that needs nothing but its fields; it is given as its screener sees it."""
        review, who = self.review(name), self._who(screener)
        [event] = self._keep(review, [ReviewEvent(0, review.id, kind, who, now_utc(), **fields)])
        return self._shown(review, who, event)

    def _offered(self, review: Review, who: str, offer: Offer | None) -> Offer | None:
        """An offer as its screener sees it."""
        if not has_numbers(review.plan, who):
            return offer
        with self._desks.at(review) as desk:
            numbers = self._numbers(desk.state, who)
            return numbers.offered(offer) if numbers and offer else offer

    def _true_version(self, review: Review, who: str, model: str) -> str:
        if not has_numbers(review.plan, who):
            return model
        with self._desks.at(review) as desk:
            numbers = self._numbers(desk.state, who)
            return numbers.true_version(model) if numbers else model

    def _chosen(
        self, review: Review, who: str, stage: Stage, number: RecordNumber, offer: Offer | str | None
    ) -> tuple[Chosen, int, int, str]:
        if isinstance(offer, str):
            chosen, place, unread, model = views.parsed_token(offer)
            return chosen, place, unread, self._true_version(review, who, model)
        if offer is not None:
            offer = replace(offer, model=self._true_version(review, who, offer.model))
        found = offer or self._offers.get((review.id, who, stage), {}).get(number)
        if found is None:
            return Chosen.MANUAL, 0, 0, ""
        if found.record.number != number:
            raise InputError(f"offer: it is of record {found.record.number}, not of record {number}")
        return found.chosen, found.place, found.unread, found.model


def _named(state: State, event: ReviewEventId) -> ReviewEvent:
    found = next((each for each in state.events if each.id == event), None)
    if found is None:
        raise NotFoundError(f"the review has no event {event}; its history has their numbers")
    return found


def _last_deed(state: State, who: str) -> ReviewEvent | None:
    """The last that somebody did and that holds; what a file joined when it was added is nobody's deed."""
    mine = (event for event in reversed(state.events) if event.kind in _UNDOABLE and event.screener == who)
    return next((event for event in mine if event.note != BRIDGED and not state.is_undone(event.id)), None)
