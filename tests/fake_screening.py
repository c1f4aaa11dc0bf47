"""The reviews of ``FakeLibrary``: records and events in memory, offered by number, with no ranking behind them.

Titles, abstracts and numbers are made up for these tests; authors are names from the history of mathematics.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any, BinaryIO

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model.screening import (
    Agreement,
    Chosen,
    Conflict,
    CurvePoint,
    Label,
    Offer,
    Plan,
    PoolRecord,
    PoolSource,
    PoolSummary,
    PossibleRepeat,
    PrismaCounts,
    Review,
    ReviewEvent,
    ReviewEventKind,
    ReviewProgress,
    Sharing,
    SourceKind,
    Stage,
    Standing,
    StoppingPlan,
    StopReport,
)
from tests.fake_pool import PLAN, PNG, SVG, highlights, pool, report, thumb

if TYPE_CHECKING:
    from tests.fake_library import FakeLibrary

BEGUN = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
K = ReviewEventKind


@dataclass(frozen=True, slots=True)
class Screened:
    """What ``record`` gives."""

    record: PoolRecord
    label: Label | None = None
    own: Label | None = None
    conflict: bool = False
    prior: bool = False
    twins: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()
    note: str = ""


@dataclass
class FakeScreening:
    """Does what ``library.screening`` promises, in memory. ``done`` lists what was called that changes something."""

    library: FakeLibrary
    reviews_: dict[int, Review] = field(default_factory=dict)
    pools: dict[int, list[PoolRecord]] = field(default_factory=dict)
    events_: dict[int, list[ReviewEvent]] = field(default_factory=dict)
    sent: list[tuple[str, bytes]] = field(default_factory=list)
    named_sources: list[tuple[object, str, object]] = field(default_factory=list)
    wants_audit: bool = False
    overtaken: str = ""
    report: StopReport | None = None
    read_only: bool = False
    clock: datetime = BEGUN

    def __post_init__(self) -> None:
        made = self.create("Walks on sparse graphs", PLAN, screener="me")
        self.pools[made.id] = pool()
        detail = {
            "source": "hits.ris",
            "entries": 13,
            "added": 12,
            "repeats": 1,
            "refused": 1,
            "labelled": 5,
            "problems": ["entry 7: <b>"],
        }
        self._keep(made, K.ADD, "me", detail=json.dumps(detail))

    # what changes something

    def _keep(self, review: Review, kind: ReviewEventKind, screener: str, **values: Any) -> ReviewEvent:
        if self.read_only:
            raise InputError("the library is open for reading only")
        self.clock += timedelta(minutes=1)
        events = self.events_.setdefault(review.id, [])
        event = ReviewEvent(len(events) + 1, review.id, kind, screener, self.clock, **values)
        events.append(event)
        return event

    def reviews(self) -> list[Review]:
        return list(self.reviews_.values())

    def standings(self) -> list[Standing]:
        found = []
        for review in self.reviews_.values():
            events, now = self.events_[review.id], self.progress(review.id)
            ends = [e.kind for e in events if e.kind in (K.STOP, K.REOPEN)]
            numbers = (now.records, now.repeats, now.read, now.found, now.conflicts)
            found.append(Standing(review, *numbers, events[-1].moment if events else None, ends[-1:] == [K.STOP]))
        return found

    def review(self, name: str | int) -> Review:
        if self.library.fault:
            raise self.library.fault
        for review in self.reviews_.values():
            if name in (review.id, review.name):
                return review
        raise NotFoundError(f"there is no review {name!r} in this library")

    def create(self, name: str, plan: Plan = PLAN, *, screener: str = "") -> Review:
        if not name or any(review.name == name for review in self.reviews_.values()):
            raise InputError(f"name: {name!r} is empty or taken")
        self._check(plan)
        made = Review(len(self.reviews_) + 1, name, BEGUN, plan)
        self.reviews_[made.id] = made
        self.pools[made.id] = []
        self._keep(made, K.CREATE, screener, detail="{}")
        return made

    @staticmethod
    def _check(plan: Plan) -> None:
        if not (0 < plan.stopping.target < 1 and 0 < plan.stopping.confidence < 1):
            raise InputError("target: must lie between 0 and 1")

    def change(self, name: str | int, *, screener: str = "", **changes: Any) -> Review:
        review = self.review(name)
        stopping = {f.name: changes.pop(f.name) for f in fields(StoppingPlan) if f.name in changes}
        plan = replace(review.plan, **changes)
        plan = replace(plan, stopping=replace(plan.stopping, **stopping))
        self._check(plan)
        self._keep(review, K.PLAN, screener)
        self.reviews_[review.id] = replace(review, plan=plan)
        return self.reviews_[review.id]

    def remove(self, name: str | int) -> None:
        del self.reviews_[self.review(name).id]

    def _fill(self, name: str | int, source: str, records: Sequence[PoolRecord], screener: str) -> PoolSummary:
        review = self.review(name)
        held = self.pools[review.id]
        held += [replace(record, number=len(held) + at + 1) for at, record in enumerate(records)]
        summary = PoolSummary(source, len(records), len(records), 0, 0, 0)
        self._keep(review, K.ADD, screener, detail=json.dumps({"source": source, "entries": len(records)}))
        return summary

    def add_stream(
        self,
        name: str | int,
        file: BinaryIO,
        source: str,
        *,
        screener: str = "",
        called: str = "",
        kind: SourceKind | None = None,
    ) -> PoolSummary:
        body = file.read()
        self.sent.append((source, body))
        if called or kind:
            self.named_sources.append((source, called, kind))
        titles = [line for line in body.decode("utf-8", "replace").splitlines() if line.strip()]
        return self._fill(name, source, [PoolRecord(0, title) for title in titles], screener)

    def sources(self, name: str | int) -> list[PoolSource]:
        adds = [event for event in self.history(name) if event.kind is K.ADD]
        named = [str(json.loads(event.detail)["source"]) for event in adds]
        return [
            PoolSource(number, source, source, SourceKind.DATABASE, 1, 1, 0, event.moment)
            for number, (source, event) in enumerate(zip(named, adds, strict=True), 1)
        ]

    def name_source(
        self,
        name: str | int,
        source: int | str | Sequence[int],
        called: str = "",
        kind: SourceKind | str | None = None,
        *,
        screener: str = "",
    ) -> ReviewEvent:
        if not self.sources(name):
            raise NotFoundError(f"no source {source!r}")
        self.named_sources.append((source, called, kind))
        return self._keep(self.review(name), K.SOURCE, screener)

    def add_search(
        self,
        name: str | int,
        query: str,
        *,
        facets: Mapping[str, Sequence[str]] | None = None,
        limit: int = 1000,
        screener: str = "",
    ) -> PoolSummary:
        hits = self.library.search(query, page_size=limit).hits
        return self._fill(name, f"search: {query}", [PoolRecord(0, hit.paper.title) for hit in hits], screener)

    def add_saved_search(
        self, name: str | int, search_id: int, *, reader: str = "", limit: int = 1000, screener: str = ""
    ) -> PoolSummary:
        searches = {search.id: search for search in self.library.daily.reader(reader).profile.searches}
        if search_id not in searches:
            raise NotFoundError(f"there is no saved search {search_id}")
        return self.add_search(name, searches[search_id].query, limit=limit, screener=screener)

    def add_papers(self, name: str | int, papers: Iterable[int | str], *, screener: str = "") -> PoolSummary:
        found = [self.library.paper(paper) for paper in papers]
        return self._fill(name, "library", [PoolRecord(0, p.title, paper=p.id) for p in found], screener)

    def prior(
        self,
        name: str | int,
        numbers: Iterable[int],
        label: Label,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
    ) -> list[ReviewEvent]:
        review = self.review(name)
        found = [self._record(review, number).number for number in numbers]
        values: dict[str, Any] = {"label": label, "stage": stage, "chosen": Chosen.PRIOR}
        return [self._keep(review, K.DECIDE, screener, record=number, **values) for number in found]

    def decide(
        self,
        name: str | int,
        number: int,
        label: Label,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
        reasons: Sequence[str] = (),
        note: str = "",
        offer: Offer | str | None = None,
    ) -> ReviewEvent:
        review = self.review(name)
        if review.plan.screeners and screener not in review.plan.screeners:
            raise InputError(f"{screener} is not a screener of this review: {', '.join(review.plan.screeners)}")
        assert isinstance(offer, Offer)
        assert offer.record.number == self._record(review, number).number
        chosen = {name: getattr(offer, name) for name in ("chosen", "model", "place", "unread")}
        given: dict[str, Any] = {"record": number, "stage": stage, "label": label}
        return self._keep(review, K.DECIDE, screener, reasons=tuple(reasons), note=note, **given, **chosen)

    def undo(self, name: str | int, screener: str = "", *, event: int | None = None) -> ReviewEvent | None:
        review = self.review(name)
        own = [e for e in self._standing(review) if e.screener == screener and event in (None, e.id)]
        if not own:
            return None
        return self._keep(review, K.UNDO, screener, record=own[-1].record, stage=own[-1].stage, undoes=own[-1].id)

    def resolve(
        self,
        name: str | int,
        number: int,
        label: Label,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
        reasons: Sequence[str] = (),
        note: str = "",
    ) -> ReviewEvent:
        given: dict[str, Any] = {"record": number, "stage": stage, "label": label, "note": note}
        return self._keep(self.review(name), K.RESOLVE, screener, reasons=tuple(reasons), **given)

    def twin(self, name: str | int, number: int, other: int, screener: str = "") -> ReviewEvent:
        review = self.review(name)
        return self._keep(review, K.TWIN, screener, record=number, other=self._record(review, other).number)

    def different(self, name: str | int, record: int, other: int, screener: str = "") -> ReviewEvent:
        return self._keep(self.review(name), K.DIFFERENT, screener, record=record, other=other)

    def possible_repeats(self, name: str | int, *, limit: int = 50, offset: int = 0) -> list[PossibleRepeat]:
        """Records whose titles begin alike, and of which nobody said anything."""
        review = self.review(name)
        firsts = [record for record in self.pools[review.id] if not record.twin and record.title]
        said = {frozenset((e.record, e.other)) for e in self.events_[review.id] if e.kind in (K.TWIN, K.DIFFERENT)}
        found = [
            PossibleRepeat(one, other, 0.9, "The titles differ in a number.")
            for one, other in combinations(firsts, 2)
            if one.title[:14] == other.title[:14] and frozenset((one.number, other.number)) not in said
        ]
        return found[offset : offset + limit]

    def named(self, name: str | int, key: str, *, limit: int = 20) -> list[PoolRecord]:
        records = self.pools[self.review(name).id]
        found = [r for r in records if key == str(r.number) or any(i.value in key for i in r.identifiers)]
        words = key.lower().split()
        return (found or [r for r in records if all(word in r.title.lower() for word in words)])[:limit]

    def apart(self, name: str | int, number: int, screener: str = "") -> ReviewEvent:
        return self._keep(self.review(name), K.APART, screener, record=number)

    def stop(self, name: str | int, screener: str = "", *, stage: Stage = Stage.ABSTRACT) -> ReviewEvent:
        sentence = self.progress(name, stage=stage).report.sentence
        return self._keep(
            self.review(name), K.STOP, screener, stage=stage, detail=json.dumps({"report": {"sentence": sentence}})
        )

    def reopen(self, name: str | int, screener: str = "", *, stage: Stage = Stage.ABSTRACT) -> ReviewEvent:
        return self._keep(self.review(name), K.REOPEN, screener, stage=stage)

    def import_(self, file: BinaryIO, name: str = "", *, screener: str = "") -> Review:
        if not file.read().startswith(b"{"):
            raise InputError("line 1: this is no exported review")
        return self.create(name or "Taken in", PLAN, screener=screener)

    # what is asked

    def _record(self, review: Review, number: int) -> PoolRecord:
        if not 0 < number <= len(self.pools[review.id]):
            raise NotFoundError(f"the review has no record {number}; it has {len(self.pools[review.id])}")
        return self.pools[review.id][number - 1]

    def _standing(self, review: Review, stage: Stage | None = None) -> list[ReviewEvent]:
        events = self.events_[review.id]
        undone = {event.undoes for event in events}
        kinds = (K.DECIDE, K.RESOLVE)
        return [e for e in events if e.kind in kinds and e.id not in undone and stage in (None, e.stage)]

    def _members(self, review: Review, number: int) -> list[int]:
        first = self._record(review, number).twin or number
        held = [r.number for r in self.pools[review.id] if first in (r.number, r.twin)]
        said = [e for e in self.events_[review.id] if e.kind in (K.TWIN, K.APART) and number in (e.record, e.other)]
        if said and said[-1].kind is K.TWIN:
            held += [n for n in (said[-1].record, said[-1].other) if n not in held]
        return [number] if said and said[-1].kind is K.APART else held

    def _seen(self, review: Review, number: int, stage: Stage, screener: str | None) -> Screened:
        members = self._members(review, number)
        about = [e for e in self._standing(review, stage) if e.record in members]
        own = next((e for e in reversed(about) if e.screener == screener), None)
        last = about[-1] if about else None
        blinded = review.plan.sharing is Sharing.BLINDED
        by = {e.screener: e.label for e in about}
        resolved = bool(last) and last is not None and last.kind is K.RESOLVE
        differ = blinded and not resolved and len(set(by.values())) > 1
        hidden = blinded and screener is not None and own is None
        agreed = last.label if last and (resolved or not blinded or (len(by) > 1 and not differ)) else None
        shown = None if hidden else (own if blinded and own else last)
        return Screened(
            self._record(review, number),
            None if hidden else agreed,
            own.label if own else None,
            differ and not hidden,
            any(e.chosen is Chosen.PRIOR for e in about),
            tuple(n for n in members if n != number),
            shown.reasons if shown else (),
            shown.note if shown else "",
        )

    def record(
        self, name: str | int, number: int, *, stage: Stage = Stage.ABSTRACT, screener: str | None = None
    ) -> Screened:
        return self._seen(self.review(name), number, stage, screener)

    def records(
        self,
        name: str | int,
        *,
        label: str = "",
        query: str = "",
        stage: Stage = Stage.ABSTRACT,
        screener: str | None = None,
        limit: int = 50,
        after: int = 0,
    ) -> list[Screened]:
        review = self.review(name)
        every = [self._seen(review, r.number, stage, screener) for r in self.pools[review.id] if r.number > after]
        words = query.lower().split()
        every = [s for s in every if all(w in f"{s.record.title} {s.record.abstract}".lower() for w in words)]
        return [s for s in every if not label or self._has(s, label)][:limit]

    @staticmethod
    def _has(found: Screened, label: str) -> bool:
        held = found.label or found.own
        special = {
            "unread": held is None,
            "conflict": found.conflict,
            "prior": found.prior,
            "repeat": bool(found.record.twin),
        }
        return special.get(label, held == label)

    def history(self, name: str | int, number: int | None = None, *, screener: str | None = None) -> list[ReviewEvent]:
        review = self.review(name)
        events = self.events_[review.id]
        if number is not None:
            members = self._members(review, number)
            events = [e for e in events if e.record in members]
        if review.plan.sharing is Sharing.BLINDED and screener is not None:
            mine = {e.record for e in events if e.kind is K.DECIDE and e.screener == screener}
            events = [e for e in events if e.kind is not K.DECIDE or e.screener == screener or e.record in mine]
        return list(events)

    def _open(self, review: Review, stage: Stage, screener: str) -> list[PoolRecord]:
        blinded = review.plan.sharing is Sharing.BLINDED
        seen = [(r, self._seen(review, r.number, stage, screener)) for r in self.pools[review.id] if not r.twin]
        held = [(record, found.own if blinded else found.label) for record, found in seen]
        return [record for record, label in held if label in (None, Label.LATER)]

    def audit_due(
        self, name: str | int, screener: str = "", *, stage: Stage = Stage.ABSTRACT, mode: str = "auto"
    ) -> bool:
        begun = any(event.kind is K.AUDIT for event in self.events_[self.review(name).id])
        return not begun and (mode == "audit" or (mode == "auto" and self.wants_audit))

    def next(
        self,
        name: str | int,
        screener: str = "",
        *,
        stage: Stage = Stage.ABSTRACT,
        mode: str = "auto",
        begin: bool = True,
    ) -> Offer | None:
        review = self.review(name)
        if self.audit_due(name, screener, stage=stage, mode=mode):
            if mode == "audit" and not begin:
                raise InputError("no audit has begun")
            if begin:
                self._keep(review, K.AUDIT, screener, stage=stage)
        unread = self._open(review, stage, screener)
        unread.sort(key=lambda r: any(e.record == r.number for e in self._standing(review, stage)))
        if not unread or stage is Stage.FULL_TEXT:
            return None
        chosen = {"auto": Chosen.RANKED, "ranked": Chosen.RANKED, "audit": Chosen.AUDIT, "random": Chosen.RANDOM}[mode]
        found = self.look(name, unread[0].number, screener, stage=stage)
        model = f"nb-logistic/tfidf@{len(self.events_[review.id])}"
        return replace(found, chosen=chosen, place=0, unread=len(unread), model=model)

    def look(self, name: str | int, number: int, screener: str = "", *, stage: Stage = Stage.ABSTRACT) -> Offer:
        record = self._record(self.review(name), number)
        title, abstract = (tuple(highlights(text)) for text in (record.title, record.abstract))
        return Offer(record, Chosen.MANUAL, title_highlights=title, abstract_highlights=abstract)

    def progress(
        self,
        name: str | int,
        screener: str | None = None,
        *,
        stage: Stage = Stage.ABSTRACT,
        curve: bool = True,
    ) -> ReviewProgress:
        review = self.review(name)
        firsts = [r for r in self.pools[review.id] if not r.twin] if stage is Stage.ABSTRACT else []
        seen = [self._seen(review, r.number, stage, screener) for r in firsts]
        labels = [s.own if screener is not None else s.label for s in seen]
        found = labels.count(Label.INCLUDE)
        read = found + labels.count(Label.EXCLUDE)
        ends = [e.kind for e in self.events_[review.id] if e.kind in (K.STOP, K.REOPEN)]
        done = bool(firsts) and (read == len(firsts) or ends[-1:] == [K.STOP])
        points = [CurvePoint(n, min(n, found), None if n < 2 else min(0.97, n / (n + 1))) for n in range(1, read + 1)]
        return ReviewProgress(
            review,
            stage,
            len(firsts),
            len(self.pools[review.id]) - len(firsts),
            read,
            found,
            labels.count(Label.LATER),
            sum(s.conflict for s in seen),
            "done" if done else "ranked",
            self.report or report(found, len(firsts) - read),
            superseded=self.overtaken,
            others=(thumb(),),
            curve=tuple(points) if curve else (),
            methods=f"We screened {read} of {len(firsts)} records.",
            model="nb-logistic/tfidf@2",
        )

    def superseded(self, name: str | int, screener: str | None = None, *, stage: Stage = Stage.ABSTRACT) -> str:
        return self.overtaken

    def conflicts(self, name: str | int, *, stage: Stage = Stage.ABSTRACT) -> list[Conflict]:
        review = self.review(name)
        found = []
        for record in self.pools[review.id]:
            if not record.twin and self._seen(review, record.number, stage, None).conflict:
                about = [e for e in self._standing(review, stage) if e.record == record.number]
                found.append(Conflict(record, stage, tuple({e.screener: e for e in about}.values())))
        return found

    def agreement(self, name: str | int, *, stage: Stage = Stage.ABSTRACT) -> list[Agreement]:
        screeners = self.review(name).plan.screeners
        if len(screeners) < 2:
            return []
        return [
            Agreement(screeners[0], screeners[1], 40, 0.9, -0.0625, (-0.2, 0.1)),
            Agreement("ada", "bo", 0, None, None, None),
        ]

    def prisma(self, name: str | int) -> PrismaCounts:
        self.review(name)
        return PrismaCounts((("hits.ris", 9), ("search: <walks>", 3)), 1, 2, 4, 7, 5, 2, 0, 2, (("DENSE", 1),), 1)

    def prisma_svg(self, name: str | int) -> str:
        self.review(name)
        return SVG

    def prisma_png(self, name: str | int) -> bytes:
        self.review(name)
        return PNG

    def export(self, name: str | int, form: str, *, only: Label | None = None) -> Iterator[bytes]:
        review = self.review(name)
        yield f"{form} of {review.name}{', only ' + only.value if only else ''}\n".encode()
        yield from (f"{record.number}\t{record.title}\n".encode() for record in self.pools[review.id])
