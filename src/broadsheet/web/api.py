"""The JSON API under ``/api``: parse, one library call, answer. Errors have the shape of ``ErrorOut``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from . import exports, params
from .api_models import BibtexOut, ErrorOut, NewestOut, PaperOut, ResultsOut, SimilarOut, SourcesOut, StatusOut
from .pages import found_for, records_by_source
from .params import ParameterError
from .protocol import LibraryLike
from .site import Site

MAX_NEWEST = 200
MAX_SIMILAR = 100
IDENTIFIER = "The paper's number, or any identifier of it: an arXiv id, a DOI, an address."

_REFUSED: dict[int | str, dict[str, Any]] = {400: {"model": ErrorOut, "description": "A parameter cannot be used."}}
_SEARCHED: dict[int | str, dict[str, Any]] = {
    **_REFUSED,
    401: {"model": ErrorOut, "description": "`sort=for-you`, and nobody says who is reading."},
}
_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            **{
                form.media_type.partition(";")[0]: {"schema": {"type": "string"}}
                for form in exports.FORMS
                if form.name != "csl"
            },
        },
    },
}
_NOBODY: dict[int | str, dict[str, Any]] = {401: _SEARCHED[401]}
_MISSING: dict[int | str, dict[str, Any]] = {**_REFUSED, 404: {"model": ErrorOut, "description": "No such paper."}}


def _paper_id(library: LibraryLike, identifier: str) -> int:
    return library.paper(params.paper_reference(identifier)).id


def _search(site: Site, request: Request) -> ResultsOut:
    asked = params.parse_asked(request.query_params)
    reader = site.known(request) if asked.sort == params.FOR_YOU else None
    results = found_for(site.library, asked, reader)
    if asked.page > results.pages:
        raise ParameterError("page", f"must be from 1 to {results.pages}, the last page of this search")
    return ResultsOut.of(results)


def _newest(library: LibraryLike, request: Request) -> NewestOut:
    limit = params.parse_limit(request.query_params, default=20, high=MAX_NEWEST)
    papers = library.newest(limit=limit + 1, before=params.parse_before(request.query_params))
    last = papers[limit - 1] if len(papers) > limit else None
    following = params.before_of(last.day, last.id) if last else None
    return NewestOut(papers=[PaperOut.of(p) for p in papers[:limit]], next=following)


def _status(library: LibraryLike) -> StatusOut:
    status = library.status()
    return StatusOut.of(status, records_by_source(status))


def _export(library: LibraryLike, request: Request) -> Response:
    form = exports.BY_NAME[params.parse_form(request.query_params, exports.BY_NAME)]
    if form.name == "csl":
        form = replace(form, media_type="application/json")  # what it is for a program that asks for JSON
    references = params.parse_references(request.query_params)
    if references:
        ids = [library.paper(reference).id for reference in references]
        about = str(ids[0]) if len(ids) == 1 else ""
        return exports.download(request, library, form, about, ids=tuple(dict.fromkeys(ids)))
    asked = params.parse_asked(request.query_params)
    return exports.download(request, library, form, asked.text, query=asked.text, facets=asked.facets)


def routes(library: LibraryLike, app: FastAPI, site: Site) -> APIRouter:
    """Routes of the API, its description, and the page that shows it."""
    router = APIRouter(prefix="/api", tags=["papers"])
    described = _describer(app)

    @router.get("/search", responses=_SEARCHED, openapi_extra={"parameters": params.SEARCH_PARAMETERS})
    def search(request: Request) -> ResultsOut:
        """Search the papers.

        The question is free text in English or Chinese, with the syntax of the search box. Facets narrow the results.
        """
        return _search(site, request)

    @router.get(
        "/newest",
        responses=_REFUSED,
        openapi_extra={"parameters": [params.limit_parameter(20, MAX_NEWEST), params.BEFORE_PARAMETER]},
    )
    def newest(request: Request) -> NewestOut:
        """List papers by day, newest first."""
        return _newest(library, request)

    @router.get("/status")
    def status() -> StatusOut:
        """Tell how many papers there are, and how many of them can be found by meaning already."""
        return _status(library)

    @router.get("/sources")
    def sources() -> SourcesOut:
        """Tell how each configured source stands: what it gave last, and when it is asked again."""
        return SourcesOut.of(library.sources())

    @router.get(
        "/export",
        response_class=Response,
        responses=_FILES | _MISSING,
        openapi_extra={"parameters": [params.form_parameter(exports.BY_NAME), *params.EXPORT_PARAMETERS]},
    )
    def export(request: Request) -> Response:
        """Give papers as a file: all that a search finds (`q`, with facets), or those named (`id`).

        The answer is the file itself, not an object of this API: BibTeX, RIS, CSL-JSON (a list of objects, which is
        JSON), CSV, JSON Lines or Markdown. It is sent while it is made, so that it may have any length.
        """
        return _export(library, request)

    @router.get(
        "/papers/{identifier:path}/similar",
        responses=_MISSING | _NOBODY,
        openapi_extra={"parameters": [params.limit_parameter(10, MAX_SIMILAR), params.NEAR_PARAMETER]},
    )
    def similar(identifier: str, request: Request) -> SimilarOut:
        """Find the papers nearest in meaning to one."""
        limit = params.parse_limit(request.query_params, default=10, high=MAX_SIMILAR)
        order = params.near_order(request.query_params, otherwise=params.NEAR_SORTS[0])
        reader = site.known(request).name if order == params.FOR_YOU else None
        paper_id = _paper_id(library, identifier)
        return SimilarOut.of(paper_id, library.similar(paper_id, limit=limit, reader=reader))

    @router.get("/papers/{identifier:path}/bibtex", responses=_MISSING)
    def bibtex(identifier: str) -> BibtexOut:
        """Give the BibTeX entry of a paper."""
        paper_id = _paper_id(library, identifier)
        return BibtexOut(id=paper_id, bibtex=library.bibtex(paper_id))

    @router.get("/papers/{identifier:path}", responses=_MISSING)
    def paper(identifier: str) -> PaperOut:
        """Give a paper by its number or any identifier; the number of a merged paper gives the one it became."""
        return PaperOut.of(library.paper(params.paper_reference(identifier)))

    @router.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response:
        return JSONResponse(described())

    @router.get("", include_in_schema=False)
    def reference(request: Request) -> Response:
        reader = site.reader(request)
        return site.render(
            "api.html", schema=described(), identifier_help=IDENTIFIER, foot=site.status(), reader=reader
        )

    return router


def _describer(app: FastAPI) -> Callable[[], dict[str, Any]]:
    def described() -> dict[str, Any]:
        schema = app.openapi()
        for operations in schema["paths"].values():
            for operation in operations.values():
                operation.get("responses", {}).pop("422", None)  # refused parameters are 400 here
        for name in ("HTTPValidationError", "ValidationError"):
            schema.get("components", {}).get("schemas", {}).pop(name, None)
        return schema

    return described
