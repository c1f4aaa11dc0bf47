"""The pages of systematic reviews: each asks ``library.screening`` once or twice, and renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo

from starlette.responses import RedirectResponse, Response

from ..errors import NotFoundError
from ..identifiers import url_of
from ..model.screening import Agreement, Chosen, Conflict, Label, Offer, ReviewEvent, ReviewEventKind
from . import params, screening_list, screening_pairs
from .params import MAX_ID, ParameterError, clean, one_of, whole_number
from .screening_curve import curve
from .screening_views import MODES, SHOWN_LABELS, clock, details, rule_parts
from .screening_visit import DONE, Visit, address, visited
from .site import Page

ROWS = 50
NOTHING_BEFORE: dict[str, object] = {"was": None, "was_event": None, "undone": False}
EVENTS = 200
DECISIONS = (ReviewEventKind.DECIDE, ReviewEventKind.RESOLVE)
UNDOABLE = (ReviewEventKind.TWIN, ReviewEventKind.APART, ReviewEventKind.DIFFERENT)


def overview(visit: Visit) -> Response:
    """Where a review stands: the statement, the curve, the pool and how to fill it."""
    progress = visit.progress(curve=True)
    events = visit.screening.history(visit.name, screener=visit.viewer)
    added = [(event, details(event)) for event in events if event.kind is ReviewEventKind.ADD]
    return visit.render(
        "review.html",
        current="overview",
        progress=progress,
        picture=curve(progress.curve, target=progress.report.target, records=progress.records),
        added=[(str(detail.get("source", "")), detail, clock(event.moment, _zone(visit))) for event, detail in added],
        sources=[source for source in visit.screening.sources(visit.name) if source.number],
        stopped=_stopped(events, visit),
        note=_note(visit),
        searches=visit.reader.profile.searches,
    )


def _note(visit: Visit) -> str:
    return DONE.get(visit.request.query_params.get("done", ""), "")


def _zone(visit: Visit) -> tzinfo | None:
    return visit.site.now().tzinfo


def _stopped(events: Sequence[ReviewEvent], visit: Visit) -> bool:
    """Whether screening of this stage was ended and not taken up again."""
    ends = [
        event
        for event in events
        if event.kind in (ReviewEventKind.STOP, ReviewEventKind.REOPEN) and event.stage is visit.stage
    ]
    return bool(ends) and ends[-1].kind is ReviewEventKind.STOP


def settings(visit: Visit) -> Response:
    """The plan: question, criteria, who screens, when to stop."""
    return visit.render(
        "review_settings.html",
        current="settings",
        progress=visit.progress(),
        plan=visit.review.plan,
        rule=rule_parts(visit.review.plan.stopping.rule),
        note=_note(visit),
    )


# ---------------------------------------------------------------------------------------------------------- screening


def following(visit: Visit, mode: str = "auto", *, begin: bool = False, **params: object) -> str:
    """The address of the record to screen next; only with ``begin`` an audit may begin, which is an event."""
    offer = visit.screening.next(visit.name, visit.screener, stage=visit.stage, mode=mode, begin=begin)
    kept = {"mode": mode if mode != "auto" else "", **params}
    return visit.offered(offer, **kept) if offer else visit.url("/screen", end=1, **kept)


def screen(visit: Visit) -> Response:
    """The record to screen next, at an address of its own; that none is left; or that an audit is to be begun.

    To look changes nothing: a browser may fetch a page ahead of time, or again.
    """
    asked = visit.request.query_params
    mode = one_of("mode", asked.get("mode") or "auto", MODES)
    if visit.may_screen and not asked.get("end"):
        if visit.screening.audit_due(visit.name, visit.screener, stage=visit.stage, mode=mode):
            return visit.render("review_audit.html", current="screen", progress=visit.progress(), mode=mode)
        return RedirectResponse(following(visit, mode, was=asked.get("was", "")), 302)
    return visit.render("review_none.html", current="screen", progress=visit.progress(), mode=mode, **_last(visit))


def screened(visit: Visit) -> Response:
    """One record to decide, with what was decided of it before."""
    number = int(visit.request.path_params["number"])
    asked = visit.request.query_params
    return sheet(
        visit,
        chosen_as(visit.screening.look(visit.name, number, visit.screener, stage=visit.stage), visit),
        mode=one_of("mode", asked.get("mode") or "auto", MODES),
        draft=_draft_of(taken_back(visit, number)) if asked.get("undone") == "1" else None,
        last=_last(visit),
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """What is marked and written on a sheet before it is decided."""

    reasons: Sequence[str] = ()
    note: str = ""


def _draft_of(event: ReviewEvent | None) -> Draft | None:
    return Draft(event.reasons, event.note) if event else None


def sheet(
    visit: Visit,
    offer: Offer,
    *,
    mode: str,
    draft: Draft | None = None,
    unkept: Label | None = None,
    last: Mapping[str, object] = NOTHING_BEFORE,
) -> Response:
    """The page on which a record is decided.

    ``draft`` stands in its form in place of what is decided so far. ``unkept`` is a decision that was sent and not
    kept, because the record was decided meanwhile.
    """
    found = visit.record(offer.record.number)
    held = visit.held(found)
    response = visit.render(
        "review_screen.html",
        current="screen",
        progress=visit.progress(),
        offer=offer,
        found=found,
        held=held,
        mode=mode,
        shown=draft or (Draft(found.reasons, found.note) if held else Draft()),
        unkept=unkept,
        own=found.own is held,
        since=_since(visit, found.record.number) if unkept else "",
        links=links_of(offer),
        **last,
    )
    if unkept:
        response.status_code = 409
    return response


def _since(visit: Visit, number: int) -> str:
    """When this screener decided a record; empty where he did not."""
    event = last_decision(visit, number)
    return clock(event.moment, _zone(visit)) if event else ""


def chosen_as(offer: Offer, visit: Visit) -> Offer:
    """An offer with what the address says of how it was chosen; without that it was picked by hand."""
    asked = visit.request.query_params
    if not asked.get("by"):
        return offer
    return as_chosen(offer, asked["by"], asked.get("place", ""), asked.get("unread", ""), asked.get("model", ""))


def as_chosen(offer: Offer, by: str, place: str, unread: str, model: str) -> Offer:
    """An offer as an address or a form says that it was made. Raises ParameterError."""
    chosen = Chosen(one_of("by", by, [known.value for known in Chosen if known is not Chosen.PRIOR]))
    at = whole_number("place", place or "0", low=0, high=MAX_ID)
    among = whole_number("unread", unread or "0", low=0, high=MAX_ID)
    if at >= among and at:
        raise ParameterError("place", f"must be below {among}, the number of unread records")
    return replace(offer, chosen=chosen, place=at, unread=among, model=clean(model)[:200])


def links_of(offer: Offer) -> list[tuple[str, str]]:
    """Where a record can be read: (name, address)."""
    found = [(identifier.scheme.value.upper(), url_of(identifier)) for identifier in offer.record.identifiers]
    if offer.record.url.startswith(("https://", "http://")):
        found.append(("Page", offer.record.url))
    return [(name, url) for name, url in dict.fromkeys(found) if url]


def _last(visit: Visit) -> dict[str, object]:
    """The decision that was taken last, to be named and to be taken back."""
    asked = visit.request.query_params
    found: dict[str, object] = NOTHING_BEFORE | {"undone": asked.get("undone") == "1"}
    if not (asked.get("was", "").isdigit() and len(asked["was"]) <= params.MAX_ID_DIGITS):
        return found
    number = int(asked["was"])
    with suppress(NotFoundError):  # an address that somebody wrote by hand
        event = last_decision(visit, number)
        if event is not None:
            found |= {"was": visit.record(event.record).record, "was_event": event}
    return found


def last_decision(visit: Visit, number: int) -> ReviewEvent | None:
    """The last decision of this screener on a record that was not taken back."""
    events = visit.screening.history(visit.name, number, screener=visit.viewer)
    undone = {event.undoes for event in events if event.kind is ReviewEventKind.UNDO}
    own = [e for e in events if e.kind in DECISIONS and e.screener == visit.screener and e.stage is visit.stage]
    return next((event for event in reversed(own) if event.id not in undone), None)


def taken_back(visit: Visit, number: int) -> ReviewEvent | None:
    """The decision on a record that this screener has just taken back."""
    events = visit.screening.history(visit.name, number, screener=visit.viewer)
    own = [event for event in events if event.screener == visit.screener and event.stage is visit.stage]
    if not own or own[-1].kind is not ReviewEventKind.UNDO:
        return None
    return next((event for event in own if event.id == own[-1].undoes and event.kind in DECISIONS), None)


# ------------------------------------------------------------------------------------------------- records and events


def records(visit: Visit) -> Response:
    """The pool, as this screener may see it."""
    asked = visit.request.query_params
    label = one_of("label", asked.get("label", ""), SHOWN_LABELS)
    query = clean(asked.get("q", ""))[:500]
    after = whole_number("after", asked.get("after") or "0", low=0, high=MAX_ID)
    found = visit.screening.records(
        visit.name,
        label=label,
        query=query,
        stage=visit.stage,
        screener=visit.viewer,
        limit=ROWS + 1,
        after=after,
    )
    more = found[ROWS - 1].record.number if len(found) > ROWS else 0
    return visit.render(
        "review_records.html",
        current="records",
        found=found[:ROWS],
        label=label,
        query=query,
        after=after,
        more=visit.url("/records", label=label, q=query, after=more) if more else "",
    )


def record(visit: Visit) -> Response:
    """A record of the pool and all that happened to it and its twins."""
    number = int(visit.request.path_params["number"])
    found = visit.record(number)
    events = visit.screening.history(visit.name, number, screener=visit.viewer)
    return visit.render(
        "review_record.html",
        current="records",
        found=found,
        held=visit.held(found),
        offer=visit.screening.look(visit.name, number, visit.screener, stage=visit.stage),
        events=[(event, clock(event.moment, _zone(visit))) for event in reversed(events)],
        note=_note(visit),
        undoable=undoable(visit, events),
    )


def undoable(visit: Visit, events: Sequence[ReviewEvent]) -> set[int]:
    """Events that stand and that this reader may take back: in a blinded review only what he did himself."""
    undone = {event.undoes for event in events}
    kinds = {*DECISIONS, *UNDOABLE}
    own = [e for e in events if not visit.blinded or e.screener == visit.screener]
    return {
        event.id for event in own if event.id and visit.may_screen and event.kind in kinds and event.id not in undone
    }


def history(visit: Visit) -> Response:
    """All that happened to a review, newest first."""
    before = whole_number("before", visit.request.query_params.get("before") or "0", low=0, high=MAX_ID)
    events = visit.screening.history(visit.name, screener=visit.viewer)
    # By place and not by number: a blinded screener is told no numbers of what others did.
    end = min(before, len(events)) if before else len(events)
    start = max(end - EVENTS, 0)
    rows = [(event, clock(event.moment, _zone(visit))) for event in reversed(events[start:end])]
    older = visit.url("/history", before=start) if start else ""
    return visit.render(
        "review_history.html",
        current="history",
        events=rows,
        older=older,
        first=not before,
        superseded=visit.screening.superseded(visit.name, visit.scope, stage=visit.stage),
    )


def open_conflicts(visit: Visit) -> list[Conflict]:
    """Conflicts that this reader may see: in a blinded review, only of records that he decided himself."""
    found = visit.screening.conflicts(visit.name, stage=visit.stage)
    if not visit.inside:
        return list(found)
    return [c for c in found if any(event.screener == visit.screener for event in c.decisions)]


def conflicts(visit: Visit) -> Response:
    """Records that screeners decided differently."""
    return visit.render("review_conflicts.html", current="conflicts", conflicts=open_conflicts(visit))


def agreement(visit: Visit) -> Response:
    """Cohen's kappa of each two screeners."""
    return visit.render("review_agreement.html", current="agreement", pairs=agreements(visit))


def agreements(visit: Visit) -> list[Agreement]:
    """How far each two screeners agree; in a blinded review a screener hears of two others when it is done."""
    pairs = list(visit.screening.agreement(visit.name, stage=visit.stage))
    if not visit.inside or visit.is_done(visit.stage):
        return pairs
    return [pair for pair in pairs if visit.screener in (pair.first, pair.second)]


PAGES: list[tuple[str, Page]] = [
    *screening_list.PAGES,
    *screening_pairs.PAGES,
    address("", visited(overview)),
    address("/settings", visited(settings)),
    address("/screen", visited(screen)),
    address("/screen/{number:number}", visited(screened)),
    address("/records", visited(records)),
    address("/records/{number:number}", visited(record)),
    address("/history", visited(history)),
    address("/conflicts", visited(conflicts)),
    address("/agreement", visited(agreement)),
]
