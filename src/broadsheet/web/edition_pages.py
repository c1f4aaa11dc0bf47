"""The daily paper: today's edition, those of other days, the best of a week or a month, and what was saved."""

from __future__ import annotations

from datetime import date
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..errors import BusyError, NotFoundError
from ..feed.archive import bounds, neighbours, quiet_day
from ..model.reading import Edition, Reader, Today
from . import acting, exports, listing, params
from .daily_views import months_of, sheet, span
from .params import parse_day, whole_number
from .site import Page, Site
from .views import written

SAVED_ON_PAGE = 50
MOST_SAVED = 100_000
BUSY_NOTE = "The library is being written to, so today’s edition cannot be printed yet. Open this page again shortly."
NOBODY_NOTE = (
    "These are the newest papers, the same for everybody. A reader’s own edition is at that reader’s own address, "
    "which whoever runs this library finds with `broadsheet readers link`."
)


def front(site: Site, request: Request) -> Response:
    """Today's edition; where there is nobody to print for or nothing to print, the newest papers, and why."""
    if request.query_params.get("before"):  # where the newest papers were listed once
        return RedirectResponse(f"/newest?{request.url.query}", 301)
    reader = site.reader(request)
    if reader is None:
        return listing.newest_page(site, request, note=NOBODY_NOTE)
    today = todays(site, reader)
    if today.edition is None:
        return listing.newest_page(site, request, reader=reader, note=today.note)
    return _edition_page(site, request, reader, today.edition, today=today)


def todays(site: Site, reader: Reader) -> Today:
    """Today's edition, printed now if it is due; while another process writes, what was printed before."""
    try:
        return site.library.daily.today(reader.name)
    except BusyError:  # that can be read all the same
        return Today(newest_edition(site, reader), False, BUSY_NOTE)


def newest_edition(site: Site, reader: Reader) -> Edition | None:
    """The newest edition that was printed."""
    days = site.library.daily.edition_days(reader.name)
    return site.library.daily.edition(days[0], reader.name) if days else None


def edition(site: Site, request: Request) -> Response:
    """The edition of a day; where there is none, the way to those before and after."""
    day = parse_day("day", request.path_params["day"])
    reader = site.known(request)
    try:
        found = site.library.daily.edition(day, reader.name)
    except NotFoundError:
        return _no_edition(site, reader, day, _why_none(site, day))
    return _edition_page(site, request, reader, found)


def _edition_page(
    site: Site, request: Request, reader: Reader, shown: Edition, *, today: Today | None = None
) -> Response:
    days = site.library.daily.edition_days(reader.name)
    previous, following = neighbours(days, shown.day)
    return site.render(
        "edition.html",
        reader=reader,
        foot=site.status(),
        sheet=sheet(shown),
        now_shown=today,
        previous=previous,
        following=following,
        marks=acting.marks(site, reader, [entry.paper.id for entry in shown.entries]),
        here=acting.here(request),
        standings=site.standings() if today else [],
    )


def _why_none(site: Site, day: date) -> str:
    """Why a day has no edition, as far as that can be told from the day."""
    today = site.date()
    if day > today:
        return "This day is still to come."
    if quiet := quiet_day(day):
        return f"{quiet}."
    return "No edition has been printed today so far." if day == today else "No edition was printed on this day."


def _no_edition(site: Site, reader: Reader, day: date, message: str) -> Response:
    previous, following = neighbours(site.library.daily.edition_days(reader.name), day)
    if near := [written(each) for each in (previous, following) if each]:
        message += f" The nearest {'is' if len(near) == 1 else 'are'} of {' and '.join(near)}."
    else:
        message = "No edition has been printed yet. Open the front page, which prints the first one."
    return site.render(
        "noedition.html",
        status=404,
        reader=reader,
        foot=site.status(),
        day=day,
        message=message,
        previous=previous,
        following=following,
    )


def editions(site: Site, request: Request) -> Response:
    """All editions by month."""
    reader = site.known(request)
    months = months_of(site.library.daily.edition_days(reader.name))
    return site.render("editions.html", reader=reader, foot=site.status(), months=months)


def period(kind: str) -> Page:
    """The page of the best of a ``week`` or a ``month``."""

    def page(site: Site, request: Request) -> Response:
        day = parse_day("day", request.path_params["day"])
        reader = site.known(request)
        try:
            found = site.library.daily.period(kind, day, reader.name)
        except NotFoundError:
            return _no_edition(site, reader, day, f"No edition was printed in this {kind}.")
        values: dict[str, Any] = {"title": span(found.first, found.last) if kind == "week" else None}
        papers = [entry.paper.id for _, entry in found.entries]
        return site.render(
            "period.html",
            reader=reader,
            foot=site.status(),
            period=found,
            marks=acting.marks(site, reader, papers),
            here=acting.here(request),
            **values,
        )

    return page


def latest_period(kind: str) -> Page:
    """The page that leads to the week or month of the newest edition."""

    def page(site: Site, request: Request) -> Response:
        reader = site.known(request)
        days = site.library.daily.edition_days(reader.name)
        if not days:
            raise NotFoundError("No edition has been printed yet. Open the front page, which prints the first one.")
        return RedirectResponse(f"/{kind}/{bounds(kind, days[0])[0]}", 302)

    return page


def saved(site: Site, request: Request) -> Response:
    """What the reader saved, newest first."""
    reader = site.known(request)
    given = request.query_params.get("before")
    before = whole_number("before", given, low=1, high=params.MAX_ID) if given else None
    found = list(site.library.daily.saved(reader.name, limit=SAVED_ON_PAGE + 1, before=before))
    shown = found[:SAVED_ON_PAGE]
    return site.render(
        "saved.html",
        reader=reader,
        foot=site.status(),
        saved=shown,
        older=shown[-1][1].id if len(found) > SAVED_ON_PAGE else None,
        first=before is None,
        marks=acting.marks(site, reader, [paper.id for paper, _ in shown]),
        here=acting.here(request),
        forms=exports.FORMS,
    )


def saved_file(form: exports.Form) -> Page:
    """The page that gives all saved papers as a file of a form."""

    def page(site: Site, request: Request) -> Response:
        reader = site.known(request)
        ids = tuple(paper.id for paper, _ in site.library.daily.saved(reader.name, limit=MOST_SAVED))
        if not ids:
            raise NotFoundError("Nothing is saved yet, so there is nothing to export.")
        response = exports.download(request, site.library, form, "saved", ids=ids)
        response.headers["cache-control"] = "private, no-cache"
        return response

    return page


PAGES: list[tuple[str, Page]] = [
    ("/", front),
    ("/edition/{day}", edition),
    ("/editions", editions),
    ("/week", latest_period("week")),
    ("/week/{day}", period("week")),
    ("/month", latest_period("month")),
    ("/month/{day}", period("month")),
    ("/saved", saved),
    *((f"/saved.{form.ending}", saved_file(form)) for form in exports.FORMS),
]
