"""The JSON API of the daily paper: editions, what a reader does, and what is remembered.

Who reads is said by ``Authorization: Bearer SECRET``, by the site's cookie, or by nobody on a machine's own site.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ..errors import NotFoundError
from ..model.reading import Action, Event, Interest, InterestKind, Reader
from . import acting, identity, params
from .api_daily_models import (
    DoneOut,
    EditionOut,
    EditionsOut,
    EventIn,
    InterestIn,
    Kind,
    MemoryOut,
    ProfileOut,
    SearchIn,
    TodayOut,
)
from .api_models import ErrorOut
from .identity import ForeignError
from .site import Site

_REFUSED: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorOut, "description": "Nobody says who is reading."},
}
_UNUSABLE: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorOut, "description": "Something given cannot be used."},
}
_CHANGING: dict[int | str, dict[str, Any]] = {
    **_UNUSABLE,
    **_REFUSED,
    403: {"model": ErrorOut, "description": "Sent by a page of another site."},
    413: {"model": ErrorOut, "description": "Larger than is taken."},
    415: {"model": ErrorOut, "description": "Not sent as application/json."},
}
_MISSING: dict[int | str, dict[str, Any]] = {404: {"model": ErrorOut, "description": "There is no such thing."}}
_EventId = Annotated[int, Path(ge=1, le=params.MAX_ID, description="The event's number.")]
_SearchId = Annotated[int, Path(ge=1, le=params.MAX_ID, description="The saved search's number.")]
_Kind = Annotated[Kind, Query(description="What sort of thing it is.")]
_Value = Annotated[str, Query(min_length=1, max_length=500, description="As it is listed in the profile.")]


def may_change(request: Request) -> None:
    """Let pass what a page of this site sends, or a program: JSON, which no page elsewhere can send unasked.

    Raises ForeignError, and HTTPException 415 for a body that is not application/json.
    """
    if not (identity.is_own(request) or identity.is_program(request)):
        raise ForeignError
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    empty = request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers
    if kind != "application/json" and not (empty and not kind):
        raise HTTPException(415)


def known_reader(request: Request) -> Reader:
    """Who is reading. Raises NobodyError."""
    site: Site = request.app.state.site
    return site.known(request)


Known = Annotated[Reader, Depends(known_reader)]


def routes(site: Site) -> APIRouter:
    """Routes of the daily paper's API."""
    router = APIRouter(prefix="/api", tags=["daily paper"])

    _reading(router, site)
    _marking(router, site)
    _deciding(router, site)
    return router


def _reading(router: APIRouter, site: Site) -> None:
    @router.get("/edition", responses=_REFUSED)
    def today(reader: Known) -> TodayOut:
        """Give today's edition, printing it if it is due; where nothing is new, the newest one and why."""
        return TodayOut.of(site.library.daily.today(reader.name))

    @router.get("/edition/{day}", responses=_UNUSABLE | _REFUSED | _MISSING)
    def edition(day: Annotated[str, Path(description="Such as 2026-11-30.")], reader: Known) -> EditionOut:
        """Give the edition of a day, as it was printed."""
        return EditionOut.of(site.library.daily.edition(params.parse_day("day", day), reader.name))

    @router.get("/editions", responses=_REFUSED)
    def editions(reader: Known) -> EditionsOut:
        """List the days that have an edition, newest first."""
        return EditionsOut(days=list(site.library.daily.edition_days(reader.name)))

    @router.get("/memory", responses=_REFUSED)
    def memory(reader: Known) -> MemoryOut:
        """Tell what the paper thinks the reader likes, with weights."""
        return MemoryOut.of(site.library.daily.memory(reader.name))

    @router.get("/profile", responses=_REFUSED)
    def profile(reader: Known) -> ProfileOut:
        """Tell what the reader follows, mutes, has saved as searches, and set."""
        return ProfileOut.of(reader)


def _marking(router: APIRouter, site: Site) -> None:
    guarded = [Depends(may_change)]

    @router.post("/events", responses=_CHANGING | _MISSING, dependencies=guarded)
    def act(body: EventIn, reader: Known) -> DoneOut:
        """Note that the reader opened, saved, liked or dismissed a paper. What holds already is not noted again."""
        asked = params.paper_reference(body.paper) if isinstance(body.paper, str) else body.paper
        cause = body.because.interest() if body.because else None
        found = site.library.daily.act(Action(body.action), asked, reader.name, because=cause, edition=body.edition)
        return _done(reader, found, found.paper)

    @router.delete("/events/{event}", responses=_CHANGING | _MISSING, dependencies=guarded)
    def take_back(event: _EventId, reader: Known) -> DoneOut:
        """Take back what an event did; what it muted is no longer muted."""
        found = site.library.daily.undo(reader.name, event=event)
        return _done(reader, found, found.paper if found else 0)

    @router.post("/undo", responses=_CHANGING, dependencies=guarded)
    def undo(reader: Known) -> DoneOut:
        """Take back the last thing that was done."""
        found = site.library.daily.undo(reader.name)
        return _done(reader, found, found.paper if found else 0)

    def _done(reader: Reader, event: Event | None, paper: int) -> DoneOut:
        held = acting.marks(site, reader, [paper] if paper else [])
        return DoneOut.of(event, paper, held.get(paper, {}))


def _deciding(router: APIRouter, site: Site) -> None:
    guarded = [Depends(may_change)]

    @router.post("/follows", responses=_CHANGING, dependencies=guarded)
    def follow(body: InterestIn, reader: Known) -> ProfileOut:
        """Follow a keyword, an author, an area or a venue."""
        return ProfileOut.of(site.library.daily.follow(body.interest(), reader.name))

    @router.delete("/follows", responses=_CHANGING, dependencies=guarded)
    def unfollow(kind: _Kind, value: _Value, reader: Known) -> ProfileOut:
        """Follow something no longer."""
        return ProfileOut.of(site.library.daily.unfollow(Interest(InterestKind(kind), value), reader.name))

    @router.post("/mutes", responses=_CHANGING, dependencies=guarded)
    def mute(body: InterestIn, reader: Known) -> ProfileOut:
        """Mute a keyword, an author, an area or a venue; mutes win over everything else."""
        return ProfileOut.of(site.library.daily.mute(body.interest(), reader.name))

    @router.delete("/mutes", responses=_CHANGING, dependencies=guarded)
    def unmute(kind: _Kind, value: _Value, reader: Known) -> ProfileOut:
        """Mute something no longer."""
        return ProfileOut.of(site.library.daily.unmute(Interest(InterestKind(kind), value), reader.name))

    @router.post("/searches", responses=_CHANGING, dependencies=guarded)
    def save_search(body: SearchIn, reader: Known) -> ProfileOut:
        """Keep a question; its new papers join the edition."""
        site.library.daily.save_search(body.query, body.name, reader.name)
        return ProfileOut.of(site.library.daily.reader(reader.name))

    @router.delete("/searches/{search}", responses=_CHANGING | _MISSING, dependencies=guarded)
    def drop_search(search: _SearchId, reader: Known) -> ProfileOut:
        """Drop a saved search."""
        if search not in {kept.id for kept in reader.profile.searches}:
            raise NotFoundError(f"There is no saved search {search}.")
        return ProfileOut.of(site.library.daily.drop_search(search, reader.name))
