"""The pages: each reads its parameters, calls the library, and renders."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from ..errors import EncoderUnavailableError, NotFoundError
from ..identifiers import url_of
from ..model import Hit, Paper, PaperId, Results, SourceStatus, Status
from . import atom, exports, facts, params, standing, views
from .assets import Assets
from .protocol import LibraryLike

TEMPLATES = Path(__file__).parent / "templates"
FRONT_PAPERS = 60
DAY_PAPERS = 100
ALL_DAYS = 100_000  # more days than there have been since the first journal
STATUS_SECONDS = 5.0  # how old the figures at the foot of a page may be
MAX_RELATED = 5
TROUBLE = "_trouble"  # ends the names of details that tell of a failing job, perhaps with names of files
IMMUTABLE = "public, max-age=31536000, immutable"


def _version() -> str:
    try:
        return version("broadsheet")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+source"


VERSION = _version()


class Site:
    """What all pages share: library, templates, static files, clock."""

    def __init__(self, library: LibraryLike, *, now: Callable[[], datetime]) -> None:
        self.library = library
        self.assets = Assets()
        self.now = now
        self._status: tuple[float, Status] | None = None
        self._sources: tuple[float, list[SourceStatus]] | None = None
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(views.FILTERS | facts.FILTERS)
        self._templates.globals.update(views.GLOBALS)
        self._templates.globals.update(asset=self.assets.url, version=VERSION, url_of=url_of)

    def status(self) -> Status:
        """The library's figures, at most ``STATUS_SECONDS`` old: every page shows them and they cost counting."""
        clock = time.monotonic()
        if self._status is None or clock - self._status[0] > STATUS_SECONDS:
            self._status = (clock, self.library.status())
        return self._status[1]

    def standings(self) -> list[standing.Standing]:
        """How the configured sources stand, as told at most ``STATUS_SECONDS`` ago."""
        clock = time.monotonic()
        if self._sources is None or clock - self._sources[0] > STATUS_SECONDS:
            self._sources = (clock, list(self.library.sources()))
        return standing.standings(self._sources[1], self.now())

    def text(self, template: str, **values: Any) -> str:
        """A rendered template."""
        return self._templates.get_template(template).render(**values)

    def render(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page. ``foot`` is the library's status, None where it is not known (an error page asks nothing)."""
        values.setdefault("foot", None)
        values.setdefault("asked", params.SearchRequest(""))
        body = self.text(template, today=self.now().date(), **values)
        headers = {"cache-control": "no-cache"}
        if "<math" in body:  # the font of formulas would else be asked for late, and the lines would move
            headers["link"] = f"<{self.assets.url('broadsheet-math.woff2')}>; rel=preload; as=font; crossorigin"
        return HTMLResponse(body, status_code=status, headers=headers)


Page = Callable[[Site, Request], Response]


def records_by_source(status: Status) -> dict[str, int]:
    """Records by source, from the status' details; empty where it does not tell."""
    found = status.details.get("sources", {})
    return dict(found) if isinstance(found, dict) else {}


def server_timing(results: Results) -> str:
    """Stages of a search for the browser's developer tools (W3C Server Timing)."""
    return ", ".join(f"{''.join(c if c.isalnum() else '_' for c in k)};dur={v:.1f}" for k, v in results.timings.items())


def _newest_page(site: Site, before: tuple[date | None, PaperId] | None) -> dict[str, Any]:
    papers = site.library.newest(limit=FRONT_PAPERS + 1, before=before)
    shown = papers[:FRONT_PAPERS]
    last = shown[-1] if len(papers) > FRONT_PAPERS else None
    older = params.before_of(last.day, last.id) if last else None
    return {"sections": list(views.sections(shown)), "older": older}


def front(site: Site, request: Request) -> Response:
    """The newest papers by day."""
    before = params.parse_before(request.query_params)
    papers = _newest_page(site, before)
    return site.render("front.html", foot=site.status(), first=before is None, standings=site.standings(), **papers)


def search(site: Site, request: Request) -> Response:
    """A page of results; a page past the last leads to the last."""
    asked = params.parse_search(request.query_params)
    if asked.empty:
        return site.render("hint.html", foot=site.status(), asked=asked)
    results = site.library.search(
        asked.text, page=asked.page, page_size=asked.page_size, sort=asked.sort, facets=asked.facets
    )
    if asked.page > results.pages:
        return RedirectResponse(asked.at(results.pages).url(), 302)
    response = site.render(
        "search.html",
        foot=site.status(),
        asked=asked,
        results=results,
        chips=views.chips(asked),
        facets={name: views.facet_lines(name, values, asked) for name, values in results.facets.items() if values},
        numbers=views.page_numbers(results.page, results.pages),
        sorts=params.SORTS,
        forms=exports.FORMS,
    )
    if results.timings:
        response.headers["server-timing"] = server_timing(results)
    return response


def _similar(site: Site, paper: Paper) -> tuple[list[Hit], str]:
    try:
        return list(site.library.similar(paper.id, limit=8)), ""
    except EncoderUnavailableError:
        return [], "Similar papers are found by their vectors, and nothing here can make vectors at the moment."


def _related(site: Site, paper: Paper) -> list[Paper]:
    found = []
    for paper_id in paper.related[:MAX_RELATED]:
        try:
            found.append(site.library.paper(paper_id))
        except NotFoundError:
            continue  # gone since; the link is derived again with the paper
    return found


def paper(site: Site, request: Request) -> Response:
    """A paper; any other name of it leads to its one address."""
    asked = request.path_params["reference"]
    if request.url.query and not asked.isdigit():
        asked += f"?{request.url.query}"  # an identifier pasted as a web address, such as one of OpenReview
    found = site.library.paper(params.paper_reference(asked))
    if asked != str(found.id):
        return RedirectResponse(f"/paper/{found.id}", 302)
    records = site.library.records(found.id)
    similar, similar_note = _similar(site, found)
    return site.render(
        "paper.html",
        foot=site.status(),
        paper=found,
        records=records,
        title_derived=views.title_derived(records),
        related=_related(site, found),
        similar=similar,
        similar_note=similar_note,
        bibtex=site.library.bibtex(found.id),
        forms=exports.OF_ONE_PAPER,
    )


def paper_file(form: exports.Form) -> Page:
    """The page that gives a paper as a file of a form."""

    def page(site: Site, request: Request) -> Response:
        found = site.library.paper(params.paper_reference(str(request.path_params["number"])))
        return exports.download(request, site.library, form, str(found.id), ids=(found.id,))

    return page


def results_file(form: exports.Form) -> Page:
    """The page that gives all papers that a search finds as a file of a form."""

    def page(site: Site, request: Request) -> Response:
        asked = params.parse_asked(request.query_params)
        return exports.download(request, site.library, form, asked.text, query=asked.text, facets=asked.facets)

    return page


def newest_feed(site: Site, request: Request) -> Response:
    """The newest papers as an Atom feed."""
    papers = site.library.newest(limit=atom.PAPERS)
    return _atom(request, papers, title="Broadsheet: the newest papers", page="/")


def results_feed(site: Site, request: Request) -> Response:
    """What a search finds, newest first, as an Atom feed."""
    asked = params.parse_asked(request.query_params)
    found = site.library.search(asked.text, page_size=atom.PAPERS, sort="newest", facets=asked.facets)
    return _atom(request, [hit.paper for hit in found.hits], title=f"Broadsheet: {asked.text}", page=asked.url())


def _atom(request: Request, papers: Sequence[Paper], *, title: str, page: str) -> Response:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    body = atom.feed(papers, title=title, base=str(request.base_url).rstrip("/"), path=path, page=page)
    return Response(body, media_type=atom.MEDIA_TYPE, headers={"cache-control": "no-cache"})


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
    return site.render(
        "day.html",
        foot=site.status(),
        day=wanted,
        papers=shown,
        count=known.get(wanted, len(shown)),
        previous=max((d for d in known if d < wanted), default=None),
        following=min((d for d in known if d > wanted), default=None),
        more=params.before_of(wanted, shown[-1].id) if more else None,
        continued=start == after,
    )


def status(site: Site, request: Request) -> Response:
    """The state of the library."""
    now = site.library.status()
    trouble = [name.removesuffix(TROUBLE) for name in now.details if name.endswith(TROUBLE)]
    details = {k: v for k, v in now.details.items() if isinstance(v, str | int | float) and not k.endswith(TROUBLE)}
    return site.render("status.html", foot=now, sources=records_by_source(now), details=details, trouble=trouble)


def sources(site: Site, request: Request) -> Response:
    """How each configured source stands."""
    zone = standing.zone(site.now())
    return site.render("sources.html", foot=site.status(), standings=site.standings(), zone=zone)


def opensearch(site: Site, request: Request) -> Response:
    """The description by which a browser adds this library to its search bar (OpenSearch 1.1)."""
    body = site.text("opensearch.xml", base=str(request.base_url).rstrip("/"))
    return Response(body, media_type="application/opensearchdescription+xml")


def robots(site: Site, request: Request) -> Response:
    """Crawlers may read papers; the endless combinations of a search are not for them."""
    return PlainTextResponse("User-agent: *\nDisallow: /search\nDisallow: /api/\n")


def favicon(site: Site, request: Request) -> Response:
    """The site's mark."""
    icon = site.assets.named("favicon.svg")
    return Response(icon.body, media_type=icon.media_type, headers={"cache-control": "public, max-age=86400"})


def static(site: Site, request: Request) -> Response:
    """A static file under its hashed name."""
    asset = site.assets.hashed(request.path_params["name"])
    if asset is None:
        raise NotFoundError("There is no such file.")
    return Response(asset.body, media_type=asset.media_type, headers={"cache-control": IMMUTABLE})


PAGES: list[tuple[str, Page]] = [
    ("/", front),
    ("/search", search),
    *((f"/search.{form.ending}", results_file(form)) for form in exports.FORMS),
    ("/search.atom", results_feed),
    ("/feed.atom", newest_feed),
    *((f"/paper/{{number:int}}.{form.ending}", paper_file(form)) for form in exports.FORMS),
    ("/paper/{reference:path}", paper),
    ("/day", latest_day),
    ("/day/{day}", day),
    ("/status", status),
    ("/sources", sources),
    ("/opensearch.xml", opensearch),
    ("/robots.txt", robots),
    ("/favicon.svg", favicon),
    ("/static/{name}", static),
]


def routes(site: Site) -> APIRouter:
    """Routes of all pages."""
    router = APIRouter()
    for path, page in PAGES:
        router.add_route(path, _endpoint(site, page), methods=["GET"], include_in_schema=False)
    return router


def _endpoint(site: Site, page: Page) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return page(site, request)

    return endpoint
