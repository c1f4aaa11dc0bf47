"""The JSON API of systematic reviews, for whom the API of the daily paper knows.

What a blinded screener may not see is not told here either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ..errors import InputError
from ..model.screening import Chosen, Label, Offer, Plan, SourceKind, Stage, StoppingPlan
from . import identity, params, screening_files, screening_pages
from .api_daily import Known, may_change
from .api_models import ErrorOut
from .api_screening_in import (
    AuditIn,
    DecisionIn,
    DifferenceIn,
    KindWord,
    ModeWord,
    PapersFillIn,
    PlanIn,
    PriorIn,
    ResolutionIn,
    ReviewIn,
    SearchFillIn,
    SourceIn,
    StageIn,
    StageWord,
    TwinIn,
    UndoIn,
)
from .api_screening_models import (
    NextOut,
    OfferOut,
    PoolRecordOut,
    PoolRecordsOut,
    PoolSourceOut,
    PoolSourcesOut,
    PoolSummaryOut,
    PossibleRepeatOut,
    PossibleRepeatsOut,
    RemovedOut,
    ReviewEventOut,
    ReviewHistoryOut,
    ReviewOut,
    ReviewsOut,
    ScreenedOut,
    ScreenedPageOut,
    StandingOut,
    UndoneOut,
)
from .api_screening_reports import (
    AgreementOut,
    AgreementsOut,
    ConflictOut,
    ConflictsOut,
    PrismaOut,
    ReviewProgressOut,
)
from .forms import Upload
from .identity import ForeignError
from .problems import request_id
from .screening_forms import add_file
from .screening_views import SHOWN_LABELS
from .screening_visit import Visit, review_of
from .site import Site

MOST = 500
BINARY = "application/octet-stream"

_REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorOut, "description": "Something given cannot be used."},
    401: {"model": ErrorOut, "description": "Nobody says who is reading."},
    404: {"model": ErrorOut, "description": "There is no such review or record."},
}
_CHANGING: dict[int | str, dict[str, Any]] = {
    **_REFUSED,
    403: {"model": ErrorOut, "description": "Sent by a page of another site."},
    413: {"model": ErrorOut, "description": "Larger than is taken."},
    415: {"model": ErrorOut, "description": "Not sent as application/json, or a file not as application/octet-stream."},
}
_MEANWHILE: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorOut, "description": "Something else was decided meanwhile; nothing was kept."},
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            **{
                form.media_type.partition(";")[0]: {"schema": {"type": "string"}}
                for form in screening_files.FILE_FORMS
                if form.name != "json"
            },
        },
    },
}
_SENT: dict[str, Any] = {
    "requestBody": {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}
}
_Stage = Annotated[StageWord, Query(description="The stage of screening.")]
_Number = Annotated[int, Path(ge=1, le=params.MAX_ID, description="The record's number in the pool.")]
_Source = Annotated[int, Path(ge=1, le=params.MAX_ID, description="The number of the addition, from 1.")]
_After = Annotated[int, Query(ge=0, le=params.MAX_ID, description="Go on from here: the `next` of the last answer.")]
_Limit = Annotated[int, Query(ge=1, le=MOST, description="How many.")]


def visit_of(
    request: Request,
    reader: Known,
    review: Annotated[str, Path(description="The review's number, or its name where that is not a number.")],
) -> Visit:
    """A reader at a review. Raises NobodyError and NotFoundError."""
    site: Site = request.app.state.site
    return Visit(site, request, reader, review_of(site.library.screening, review))


def staged(visit: Annotated[Visit, Depends(visit_of)], stage: _Stage = "abstract") -> Visit:
    """A reader at a stage of a review."""
    return replace(visit, stage=Stage(stage))


Visited = Annotated[Visit, Depends(visit_of)]
Staged = Annotated[Visit, Depends(staged)]


def may_send(request: Request) -> None:
    """Let pass a file that a page of this site sends, or a program: ``PUT`` with a kind no form can have.

    Raises ForeignError, and HTTPException 415.
    """
    if not (identity.is_own(request) or identity.is_program(request)):
        raise ForeignError
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != BINARY:
        raise HTTPException(415)


def _meanwhile(request: Request, number: int, held: Label | None) -> Response:
    stands = f"it was decided meanwhile: {held}" if held else "its decision was taken back meanwhile: it is unread"
    message = (
        f"record {number}: {stands}. Nothing was kept; look at it again, and send `held` as it stands, or leave `held` "
        "out to overrule it."
    )
    body = {"error": {"code": "decided_meanwhile", "message": message, "request_id": request_id(request)}}
    return JSONResponse(body, status_code=409)


def routes(site: Site) -> APIRouter:
    """Routes of the API of reviews."""
    router = APIRouter(prefix="/api/reviews", tags=["reviews"])
    _planning(router, site)
    _filling(router)
    _screening(router)
    _looking(router)
    _reporting(router)
    return router


def _planning(router: APIRouter, site: Site) -> None:
    guarded = [Depends(may_change)]

    @router.get("", responses=_REFUSED)
    def reviews(reader: Known) -> ReviewsOut:
        """List all reviews, and where each stands."""
        found = site.library.screening.standings()
        return ReviewsOut(
            reviews=[ReviewOut.of(one.review) for one in found], standings=[StandingOut.of(one) for one in found]
        )

    @router.post("", responses=_CHANGING, dependencies=guarded)
    def create(body: ReviewIn, reader: Known) -> ReviewOut:
        """Begin a review."""
        given = body.plan.changes() if body.plan else {}
        stopping = {name: given.pop(name) for name in StoppingPlan.__dataclass_fields__ if name in given}
        plan = Plan(**given, stopping=StoppingPlan(**stopping))
        return ReviewOut.of(site.library.screening.create(body.name, plan, screener=reader.name))

    @router.get("/{review}", responses=_REFUSED)
    def review(visit: Visited) -> ReviewOut:
        """Give a review with its plan as it stands."""
        return ReviewOut.of(visit.review)

    @router.patch("/{review}", responses=_CHANGING, dependencies=guarded)
    def change(body: PlanIn, visit: Visited) -> ReviewOut:
        """Change the plan. A stopping rule that is changed after looking is told with every statement."""
        return ReviewOut.of(visit.screening.change(visit.name, screener=visit.screener, **body.changes()))

    @router.delete("/{review}", responses=_CHANGING, dependencies=guarded)
    def remove(visit: Visited) -> RemovedOut:
        """Remove a review with all its records and decisions."""
        visit.screening.remove(visit.name)
        return RemovedOut(removed=visit.review.name)


def _filling(router: APIRouter) -> None:
    guarded = [Depends(may_change)]

    @router.put("/{review}/files/{file}", responses=_CHANGING, dependencies=[Depends(may_send)], openapi_extra=_SENT)
    async def fill_from_file(
        file: Annotated[str, Path(max_length=200, description="The file's name: its ending helps to tell its form.")],
        request: Request,
        visit: Visited,
        called: Annotated[str, Query(max_length=200, description="What its source is called in reports.")] = "",
        kind: Annotated[KindWord | None, Query(description="What its source is; else a database.")] = None,
    ) -> PoolSummaryOut:
        """Add the records of a file (RIS, nbib, BibTeX, CSV, TSV, XLSX, JSON Lines), sent as the body.

        Labels and notes in ASReview's conventions are read; what was labelled counts as known before screening.
        """
        sent = Upload(params.clean(file), await request.body())
        of = SourceKind(kind) if kind else None
        return PoolSummaryOut.of(await run_in_threadpool(add_file, visit, sent, params.clean(called), of))

    @router.get("/{review}/sources", responses=_REFUSED)
    def sources(visit: Visited) -> PoolSourcesOut:
        """What was added to the pool, addition by addition, with the names that reports print."""
        return PoolSourcesOut(
            sources=[PoolSourceOut.of(one) for one in visit.screening.sources(visit.name) if one.number]
        )

    @router.put("/{review}/sources/{number}", responses=_CHANGING, dependencies=guarded)
    def name_source(number: _Source, body: SourceIn, visit: Visited) -> PoolSourcesOut:
        """Say what a source is called in reports, or of which kind it is."""
        visit.screening.name_source(visit.name, number, body.called, body.kind, screener=visit.screener)
        return sources(visit)

    @router.post("/{review}/searches", responses=_CHANGING, dependencies=guarded)
    def fill_from_search(body: SearchFillIn, visit: Visited) -> PoolSummaryOut:
        """Add what a search of this library finds, best first, or what a saved search finds."""
        desk, who = visit.screening, visit.screener
        if (body.saved is None) == (not body.query.strip()):
            raise InputError("query: give either a query or the number of a saved search")
        if body.saved is not None:
            found = desk.add_saved_search(visit.name, body.saved, reader=who, limit=body.limit, screener=who)
        else:
            found = desk.add_search(visit.name, body.query, limit=body.limit, screener=who)
        return PoolSummaryOut.of(found)

    @router.post("/{review}/papers", responses=_CHANGING, dependencies=guarded)
    def fill_from_papers(body: PapersFillIn, visit: Visited) -> PoolSummaryOut:
        """Add papers of this library."""
        named = [params.paper_reference(paper) if isinstance(paper, str) else paper for paper in body.papers]
        return PoolSummaryOut.of(visit.screening.add_papers(visit.name, named, screener=visit.screener))

    @router.post("/{review}/priors", responses=_CHANGING, dependencies=guarded)
    def priors(body: PriorIn, visit: Visited) -> ReviewHistoryOut:
        """Say what is known of records before they are screened."""
        visit.have(*body.records)
        events = visit.screening.prior(
            visit.name, body.records, Label(body.label), visit.screener, stage=Stage(body.stage)
        )
        return ReviewHistoryOut(events=[ReviewEventOut.of(event) for event in events], next=None)

    @router.post("/{review}/twins", responses=_CHANGING, dependencies=guarded)
    def twins(body: TwinIn, visit: Visited) -> ReviewEventOut:
        """Say that a record repeats another, so that one decision counts for both, once; or that it repeats none."""
        visit.have(body.record, *([body.other] if body.other else []))
        if body.other is None:
            return ReviewEventOut.of(visit.screening.apart(visit.name, body.record, visit.screener))
        return ReviewEventOut.of(visit.screening.twin(visit.name, body.record, body.other, visit.screener))

    @router.post("/{review}/differences", responses=_CHANGING, dependencies=guarded)
    def differences(body: DifferenceIn, visit: Visited) -> ReviewEventOut:
        """Say that two records are different works, so that they are not listed as possible repeats again."""
        visit.have(body.record, body.other)
        return ReviewEventOut.of(visit.screening.different(visit.name, body.record, body.other, visit.screener))


def _screening(router: APIRouter) -> None:
    guarded = [Depends(may_change)]

    @router.get("/{review}/next", responses=_REFUSED)
    def following(visit: Staged, mode: Annotated[ModeWord, Query(description="How it is chosen.")] = "auto") -> NextOut:
        """Give the record to decide next: by what the stopping rule wants, or as `mode` says. It changes nothing."""
        if visit.screening.audit_due(visit.name, visit.screener, stage=visit.stage, mode=mode):
            return NextOut.of(None, audit_due=True)
        return NextOut.of(visit.screening.next(visit.name, visit.screener, stage=visit.stage, mode=mode, begin=False))

    @router.post("/{review}/audit", responses=_CHANGING, dependencies=guarded)
    def audit(body: AuditIn, visit: Visited) -> NextOut:
        """Begin the audit that is due, where it has not begun, and give the record to decide next."""
        stage = Stage(body.stage)
        return NextOut.of(visit.screening.next(visit.name, visit.screener, stage=stage, mode=body.mode))

    @router.post(
        "/{review}/decisions",
        responses=_CHANGING | _MEANWHILE,
        dependencies=guarded,
        response_model=ReviewEventOut,
    )
    def decide(body: DecisionIn, visit: Visited) -> Any:
        """Decide a record; the decision is on disk when this answers. The same one sent twice is kept once."""
        stage = Stage(body.stage)
        at = replace(visit, stage=stage)
        found = at.record(body.record)
        held = at.held(found)
        if body.held is not None and held is not Label(body.label) and body.held != (held or "unread"):
            return _meanwhile(visit.request, body.record, held)
        offer = Offer(found.record, Chosen.MANUAL)
        offer = screening_pages.as_chosen(offer, body.chosen, str(body.place), str(body.unread), body.model)
        event = visit.screening.decide(
            visit.name,
            body.record,
            Label(body.label),
            visit.screener,
            stage=stage,
            reasons=tuple(body.reasons),
            note=body.note,
            offer=offer,
        )
        return ReviewEventOut.of(event)

    @router.post("/{review}/undo", responses=_CHANGING, dependencies=guarded)
    def undo(body: UndoIn, visit: Visited) -> UndoneOut:
        """Take back an event, or the reader's last decision."""
        event = visit.screening.undo(visit.name, visit.screener, event=body.event)
        return UndoneOut(event=ReviewEventOut.of(event) if event else None)

    @router.post("/{review}/resolutions", responses=_CHANGING, dependencies=guarded)
    def resolve(body: ResolutionIn, visit: Visited) -> ReviewEventOut:
        """Decide a conflict."""
        visit.have(body.record)
        event = visit.screening.resolve(
            visit.name,
            body.record,
            Label(body.label),
            visit.screener,
            stage=Stage(body.stage),
            reasons=tuple(body.reasons),
            note=body.note,
        )
        return ReviewEventOut.of(event)

    @router.post("/{review}/stop", responses=_CHANGING, dependencies=guarded)
    def stop(body: StageIn, visit: Visited) -> ReviewEventOut:
        """End screening, and keep what can be said then: the statement is in `detail`."""
        return ReviewEventOut.of(visit.screening.stop(visit.name, visit.screener, stage=Stage(body.stage)))

    @router.post("/{review}/reopen", responses=_CHANGING, dependencies=guarded)
    def reopen(body: StageIn, visit: Visited) -> ReviewEventOut:
        """Take screening up again."""
        return ReviewEventOut.of(visit.screening.reopen(visit.name, visit.screener, stage=Stage(body.stage)))


def _looking(router: APIRouter) -> None:
    @router.get("/{review}/records", responses=_REFUSED)
    def records(
        visit: Staged,
        label: Annotated[str, Query(description="unread, include, exclude, later, conflict, prior or repeat.")] = "",
        q: Annotated[str, Query(max_length=500, description="Words of title, abstract or authors.")] = "",
        limit: _Limit = 50,
        after: _After = 0,
    ) -> ScreenedPageOut:
        """List records of the pool by number, with what was decided as the reader may see it."""
        chosen = params.one_of("label", label, SHOWN_LABELS)
        found = visit.screening.records(
            visit.name,
            label=chosen,
            query=params.clean(q),
            stage=visit.stage,
            screener=visit.viewer,
            limit=limit + 1,
            after=after,
        )
        more = found[limit - 1].record.number if len(found) > limit else None
        return ScreenedPageOut(records=[ScreenedOut.of(one) for one in found[:limit]], next=more)

    @router.get("/{review}/records/{number}", responses=_REFUSED)
    def record(number: _Number, visit: Staged) -> ScreenedOut:
        """Give a record and what was decided of it."""
        return ScreenedOut.of(visit.record(number))

    @router.get("/{review}/records/{number}/offer", responses=_REFUSED)
    def look(number: _Number, visit: Staged) -> OfferOut:
        """Give a record that is picked by hand, with what is highlighted in it."""
        visit.record(number)
        return OfferOut.of(visit.screening.look(visit.name, number, visit.screener, stage=visit.stage))

    @router.get("/{review}/records/{number}/history", responses=_REFUSED)
    def record_history(number: _Number, visit: Visited) -> ReviewHistoryOut:
        """Tell what happened to a record and those that it repeats, oldest first."""
        events = visit.screening.history(visit.name, number, screener=visit.viewer)
        return ReviewHistoryOut(events=[ReviewEventOut.of(event) for event in events], next=None)

    @router.get("/{review}/history", responses=_REFUSED)
    def history(visit: Visited, limit: _Limit = 200, after: _After = 0) -> ReviewHistoryOut:
        """Tell what happened to a review, oldest first."""
        events = visit.screening.history(visit.name, screener=visit.viewer)
        # By place and not by number: a blinded screener is told no numbers of what others did.
        part, end = events[after : after + limit], after + limit
        return ReviewHistoryOut(
            events=[ReviewEventOut.of(event) for event in part], next=end if end < len(events) else None
        )

    @router.get("/{review}/named", responses=_REFUSED)
    def named(
        visit: Visited,
        key: Annotated[str, Query(max_length=500, description="A number, an identifier, or words of a title.")],
        limit: _Limit = 20,
    ) -> PoolRecordsOut:
        """Find records by what a list of references says of them; none, one, or all that fit."""
        found = visit.screening.named(visit.name, params.clean(key), limit=limit)
        return PoolRecordsOut(records=[PoolRecordOut.of(record) for record in found])

    @router.get("/{review}/repeats", responses=_REFUSED)
    def repeats(
        visit: Visited,
        limit: _Limit = 50,
        offset: Annotated[int, Query(ge=0, le=params.MAX_ID, description="Go on from here.")] = 0,
    ) -> PossibleRepeatsOut:
        """List pairs of records that may be the same work and that nobody has judged, surest first."""
        found = visit.screening.possible_repeats(visit.name, limit=limit + 1, offset=offset)
        more = offset + limit if len(found) > limit else None
        return PossibleRepeatsOut(pairs=[PossibleRepeatOut.of(pair) for pair in found[:limit]], next=more)


def _reporting(router: APIRouter) -> None:
    @router.get("/{review}/progress", responses=_REFUSED)
    def progress(visit: Staged) -> ReviewProgressOut:
        """Tell where screening stands and what can be said of what was missed."""
        return ReviewProgressOut.of(visit.progress(curve=True))

    @router.get("/{review}/conflicts", responses=_REFUSED)
    def conflicts(visit: Staged) -> ConflictsOut:
        """List records that screeners decided differently."""
        return ConflictsOut(conflicts=[ConflictOut.of(found) for found in screening_pages.open_conflicts(visit)])

    @router.get("/{review}/agreement", responses=_REFUSED)
    def agreement(visit: Staged) -> AgreementsOut:
        """Tell how far each two screeners agree; a blinded screener hears of two others when all are done."""
        return AgreementsOut(pairs=[AgreementOut.of(pair) for pair in screening_pages.agreements(visit)])

    @router.get("/{review}/prisma", responses=_REFUSED)
    def prisma(visit: Visited) -> PrismaOut:
        """Give the numbers of the PRISMA 2020 flow diagram."""
        return PrismaOut.of(visit.screening.prisma(visit.name))

    @router.get("/{review}/export", responses=_FILE | _REFUSED)
    def export(
        visit: Staged,
        form: Annotated[str, Query(description="record (the whole review), ris, csv, tsv, xlsx or json.")] = "record",
        label: Annotated[
            str, Query(description="Only records of this label in the end: include, exclude or later.")
        ] = "",
    ) -> Response:
        """Give a review as a file; `record` is all that there is, to replay it exactly or to take it in elsewhere."""
        params.one_of("form", form, screening_files.FORM_OF)
        return screening_files.download(visit, screening_files.FORM_OF[form], label)
