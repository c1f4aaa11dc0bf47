"""Addresses that hold a reader's secret: the one that lets a browser in, and feeds of editions and searches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ..errors import NotFoundError
from ..model.reading import Edition, Reader, Section
from . import atom, identity
from .api_daily_models import TodayOut
from .daily_views import reason_line
from .edition_pages import todays
from .security import ASKED_AGAIN
from .site import Page, Site
from .unchanged import unless_known
from .views import written

EDITIONS = 7  # of which a feed has the papers, so that who looks once a week misses none
MOST_PAPERS = 200
UNSEEN = {"cache-control": "private, no-store", "x-robots-tag": "noindex"}
_GIVEN = re.compile(r"[A-Za-z0-9_-]{32}")  # as the library makes secrets
_KEY = re.compile(r"front|elsewhere|discovery|(?:area|search)-.{1,200}", re.DOTALL)


def _reader(site: Site, request: Request) -> Reader:
    """The reader whose feed this is.

    Raises GoneError where the secret looks like one that was given out: then it was renewed, or its reader is removed,
    and a program should ask no more. Which secrets there were is kept nowhere, so it tells nothing to who guesses.
    """
    secret = request.path_params["secret"]
    try:
        return identity.by_secret(site.library.daily, secret)
    except NotFoundError as error:
        if _GIVEN.fullmatch(secret):
            raise identity.GoneError from error
        raise


def enter(site: Site, request: Request) -> Response:
    """Let this browser read as the reader of the address."""
    reader = identity.by_secret(site.library.daily, request.path_params["secret"])
    response = RedirectResponse("/", 303, headers=UNSEEN)
    identity.remember(response, request, reader.secret)
    return response


def edition_feed(site: Site, request: Request) -> Response:
    """The newest editions' papers."""
    reader = _reader(site, request)
    editions = _editions(site, reader)
    return _feed(
        site, request, _items((e, e.sections) for e in editions), title="Broadsheet: the daily paper", page="/"
    )


def edition_json(site: Site, request: Request) -> Response:
    """Today's edition as JSON, as the API gives it."""
    reader = _reader(site, request)
    found = TodayOut.of(todays(site, reader))
    return JSONResponse(found.model_dump(mode="json"), headers=UNSEEN)


def section_feed(site: Site, request: Request) -> Response:
    """The papers of one section of the newest editions; a section that was not printed lately is an empty feed."""
    key = request.path_params["key"]
    reader = _reader(site, request)
    if not _KEY.fullmatch(key):
        raise NotFoundError("There is no such section.")
    editions = _editions(site, reader)
    sections = [(edition, section) for edition in editions if (section := edition.section(key))]
    title = sections[0][1].title if sections else key
    return _feed(site, request, _items((e, (s,)) for e, s in sections), title=f"Broadsheet: {title}", page="/")


def search_feed(site: Site, request: Request) -> Response:
    """The newest papers that a saved search finds."""
    reader = _reader(site, request)
    number = request.path_params["id"]
    search = next((s for s in reader.profile.searches if s.id == number), None)
    if search is None:
        raise NotFoundError("There is no such saved search.")
    papers = site.library.daily.search_feed(number, reader.name)
    items = [atom.Item(paper, f"Found by your saved search “{search.name or search.query}”") for paper in papers]
    return _feed(site, request, items, title=f"Broadsheet: {search.name or search.query}", page="/")


def _editions(site: Site, reader: Reader) -> list[Edition]:
    """The newest editions; asking for them prints today's, as a look at the front page does."""
    daily = site.library.daily
    newest = todays(site, reader).edition
    if newest is None:
        return []
    days = [day for day in daily.edition_days(reader.name)[:EDITIONS] if day < newest.day]
    return [newest, *(daily.edition(day, reader.name) for day in days if newest.day - day < timedelta(days=31))]


def _items(printed: Iterable[tuple[Edition, Sequence[Section]]]) -> list[atom.Item]:
    """Entries in the order of printing, each with where it stood and why. No paper is printed twice for a reader."""
    return [
        atom.Item(
            entry.paper,
            ". ".join(filter(None, (_place(edition, section, entry.explored), reason_line(entry.reasons)))),
            edition.made,
        )
        for edition, sections in printed
        for section in sections
        for entry in section.entries
    ][:MOST_PAPERS]


def _place(edition: Edition, section: Section, explored: bool) -> str:
    mark = ", a discovery" if explored and section.key != "discovery" else ""
    return f"{section.title}, {written(edition.day)}{mark}"


def _feed(site: Site, request: Request, items: Sequence[atom.Item], *, title: str, page: str) -> Response:
    base = str(request.base_url).rstrip("/")
    path = quote(request.scope["path"])  # as an area may be called, which is no address yet
    body = atom.feed(items, title=title, base=base, path=path, page=page, authority=site.authority)
    return unless_known(request, Response(body, media_type=atom.MEDIA_TYPE, headers={"cache-control": ASKED_AGAIN}))


PAGES: list[tuple[str, Page]] = [
    ("/r/{secret}", enter),
    ("/r/{secret}/edition.atom", edition_feed),
    ("/r/{secret}/edition.json", edition_json),
    ("/r/{secret}/section/{key:path}.atom", section_feed),
    ("/r/{secret}/search/{id:number}.atom", search_feed),
]
