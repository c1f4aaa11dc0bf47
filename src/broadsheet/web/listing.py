"""The papers of the library by day, the same for everybody: the newest, and those of one day."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..errors import NotFoundError
from ..feed.archive import neighbours
from ..model.reading import Reader
from . import params, views
from .site import Page, Site

FRONT_PAPERS = 60
DAY_PAPERS = 100
ALL_DAYS = 100_000  # more days than there have been since the first journal


def newest(site: Site, request: Request) -> Response:
    """The newest papers by day."""
    return newest_page(site, request, reader=site.reader(request))


def newest_page(site: Site, request: Request, *, reader: Reader | None = None, note: str = "") -> Response:
    """The newest papers by day, under a note that says why they are shown."""
    before = params.parse_before(request.query_params)
    papers = site.library.newest(limit=FRONT_PAPERS + 1, before=before)
    shown = papers[:FRONT_PAPERS]
    last = shown[-1] if len(papers) > FRONT_PAPERS else None
    return site.render(
        "newest.html",
        reader=reader,
        foot=site.status(),
        first=before is None,
        standings=site.standings(),
        sections=list(views.sections(shown)),
        older=params.before_of(last.day, last.id) if last else None,
        note=note,
    )


def latest_day(site: Site, request: Request) -> Response:
    """The newest day that has papers."""
    days = site.library.days(limit=1)
    if not days:
        raise NotFoundError("No paper of this library has a day yet.")
    return RedirectResponse(f"/day/{days[0][0].isoformat()}", 302)


def day(site: Site, request: Request) -> Response:
    """The papers of a day; previous and next skip days without papers."""
    wanted = params.parse_day("day", request.path_params["day"])
    known = dict(site.library.days(limit=ALL_DAYS))
    after = params.parse_before(request.query_params)
    start = after if after and after[0] == wanted else (wanted, params.MAX_ID)
    papers = [p for p in site.library.newest(limit=DAY_PAPERS + 1, before=start) if p.day == wanted]
    more = len(papers) > DAY_PAPERS
    shown = papers[:DAY_PAPERS]
    previous, following = neighbours(list(known), wanted)
    return site.render(
        "day.html",
        reader=site.reader(request),
        foot=site.status(),
        day=wanted,
        papers=shown,
        count=known.get(wanted, len(shown)),
        previous=previous,
        following=following,
        more=params.before_of(wanted, shown[-1].id) if more else None,
        continued=start == after,
    )


PAGES: list[tuple[str, Page]] = [
    ("/newest", newest),
    ("/day", latest_day),
    ("/day/{day}", day),
]
