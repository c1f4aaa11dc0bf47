"""The pages: each reads its parameters, calls the library, and renders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from ..errors import EncoderUnavailableError, NotFoundError
from ..model import Hit, Paper, Results, Status
from ..model.reading import Reader
from ..signing import ACT_PATH
from . import (
    acting,
    atom,
    edition_pages,
    exports,
    listing,
    own_feeds,
    params,
    reader_pages,
    screening_files,
    screening_forms,
    screening_pages,
    standing,
    views,
)
from .identity import NobodyError
from .protocol import LibraryLike
from .site import Page, Site
from .unchanged import unless_known

MAX_RELATED = 5
TROUBLE = "_trouble"  # ends the names of details that tell of a failing job, perhaps with names of files
IMMUTABLE = "public, max-age=31536000, immutable"


def records_by_source(status: Status) -> dict[str, int]:
    """Records by source, from the status' details; empty where it does not tell."""
    found = status.details.get("sources", {})
    return dict(found) if isinstance(found, dict) else {}


def server_timing(results: Results) -> str:
    """Stages of a search for the browser's developer tools (W3C Server Timing)."""
    return ", ".join(f"{''.join(c if c.isalnum() else '_' for c in k)};dur={v:.1f}" for k, v in results.timings.items())


def search(site: Site, request: Request) -> Response:
    """A page of results; a page past the last leads to the last."""
    asked, reader = params.parse_search(request.query_params), site.reader(request)
    if asked.empty:
        return site.render("hint.html", reader=reader, foot=site.status(), asked=asked)
    results = found_for(site.library, asked, reader)
    if asked.page > results.pages:
        return RedirectResponse(asked.at(results.pages).url(), 302)
    response = site.render(
        "search.html",
        reader=reader,
        foot=site.status(),
        asked=asked,
        results=results,
        chips=views.chips(asked),
        facets={name: views.facet_lines(name, values, asked) for name, values in results.facets.items() if values},
        numbers=views.page_numbers(results.page, results.pages),
        sorts=[sort for sort in params.SORTS if sort != params.FOR_YOU or _can_order(site, asked, reader)],
        forms=exports.FORMS,
    )
    if results.timings:
        response.headers["server-timing"] = server_timing(results)
    return response


def found_for(library: LibraryLike, asked: params.SearchRequest, reader: Reader | None) -> Results:
    """What a search finds. Raises NobodyError for an order that goes by a memory where nobody is known to read."""
    personal = asked.sort == params.FOR_YOU
    if personal and reader is None:
        raise NobodyError
    return library.search(
        asked.text,
        page=asked.page,
        page_size=asked.page_size,
        sort=asked.sort,
        facets=asked.facets,
        reader=reader.name if personal and reader else None,
    )


def _can_order(site: Site, asked: params.SearchRequest, reader: Reader | None) -> bool:
    """Whether the reader's own order is offered: to those of whom something is remembered."""
    return reader is not None and (asked.sort == params.FOR_YOU or site.library.daily.remembers(reader.name))


def _similar(site: Site, paper: Paper, reader: Reader | None) -> tuple[list[Hit], str]:
    try:
        return list(site.library.similar(paper.id, limit=8, reader=reader.name if reader else None)), ""
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
    reader, order = site.reader(request), params.near_order(request.query_params)
    # Before it is noted that this paper was opened, which says nothing of its neighbours.
    remembers = reader is not None and site.library.daily.remembers(reader.name)
    for_you = remembers and order == params.FOR_YOU
    similar, similar_note = _similar(site, found, reader if for_you else None)
    acting.note_open(site, request, reader, found.id)
    records = site.library.records(found.id)
    return site.render(
        "paper.html",
        reader=reader,
        marks=acting.marks(site, reader, [found.id]),
        here=acting.here(request),
        foot=site.status(),
        paper=found,
        records=records,
        title_derived=views.title_derived(records),
        related=_related(site, found),
        similar=similar,
        similar_note=similar_note,
        near_order=(params.FOR_YOU if for_you else params.NEAR_SORTS[0]) if remembers else "",
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
    return _atom(site, request, papers, title="Broadsheet: the newest papers", page="/newest")


def results_feed(site: Site, request: Request) -> Response:
    """What a search finds, newest first, as an Atom feed."""
    asked = params.parse_asked(request.query_params)
    found = site.library.search(asked.text, page_size=atom.PAPERS, sort="newest", facets=asked.facets)
    return _atom(site, request, [hit.paper for hit in found.hits], title=f"Broadsheet: {asked.text}", page=asked.url())


def _atom(site: Site, request: Request, papers: Sequence[Paper], *, title: str, page: str) -> Response:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    base = str(request.base_url).rstrip("/")
    body = atom.feed(papers, title=title, base=base, path=path, page=page, authority=site.authority)
    return unless_known(request, Response(body, media_type=atom.MEDIA_TYPE, headers={"cache-control": "no-cache"}))


def status(site: Site, request: Request) -> Response:
    """The state of the library."""
    now = site.library.status()
    trouble = [name.removesuffix(TROUBLE) for name in now.details if name.endswith(TROUBLE)]
    details = {k: v for k, v in now.details.items() if isinstance(v, str | int | float) and not k.endswith(TROUBLE)}
    return site.render(
        "status.html",
        reader=site.reader(request),
        foot=now,
        sources=records_by_source(now),
        details=details,
        trouble=trouble,
    )


def sources(site: Site, request: Request) -> Response:
    """How each configured source stands."""
    zone = standing.zone(site.now())
    return site.render(
        "sources.html", reader=site.reader(request), foot=site.status(), standings=site.standings(), zone=zone
    )


def opensearch(site: Site, request: Request) -> Response:
    """The description by which a browser adds this library to its search bar (OpenSearch 1.1)."""
    body = site.text("opensearch.xml", base=str(request.base_url).rstrip("/"))
    return Response(body, media_type="application/opensearchdescription+xml")


def robots(site: Site, request: Request) -> Response:
    """Crawlers may read papers; the endless combinations of a search are not for them."""
    return PlainTextResponse("User-agent: *\nDisallow: /search\nDisallow: /api/\nDisallow: /r/\nDisallow: /reviews\n")


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
    *edition_pages.PAGES,
    *listing.PAGES,
    ("/search", search),
    *((f"/search.{form.ending}", results_file(form)) for form in exports.FORMS),
    ("/search.atom", results_feed),
    ("/feed.atom", newest_feed),
    *((f"/paper/{{number:number}}.{form.ending}", paper_file(form)) for form in exports.FORMS),
    ("/paper/{reference:path}", paper),
    *reader_pages.PAGES,
    *screening_pages.PAGES,
    *screening_files.PAGES,
    (ACT_PATH, acting.confirm),
    *own_feeds.PAGES,
    ("/status", status),
    ("/sources", sources),
    ("/opensearch.xml", opensearch),
    ("/robots.txt", robots),
    ("/favicon.svg", favicon),
    ("/static/{name}", static),
]
POSTS: list[tuple[str, acting.Post]] = [("/act", acting.act), *reader_pages.POSTS, *screening_forms.POSTS]


def routes(site: Site) -> APIRouter:
    """Routes of all pages and forms."""
    router = APIRouter()
    for path, page in PAGES:
        router.add_route(path, _endpoint(site, page), methods=["GET"], include_in_schema=False)
    for path, handler in POSTS:
        router.add_route(path, acting.posting(site, handler), methods=["POST"], include_in_schema=False)
    router.add_route(ACT_PATH, acting.carry_out(site), methods=["POST"], include_in_schema=False)
    return router


def _endpoint(site: Site, page: Page) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return page(site, request)

    return endpoint
