"""All reviews on one page, each with where it stands."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ..model.screening import Plan, Standing
from .screening_views import clock
from .screening_visit import ROOT
from .site import Page, Site


def reviews(site: Site, request: Request) -> Response:
    """All reviews, the one that was worked on last first, and a form that begins one."""
    reader = site.known(request)
    zone = site.now().tzinfo
    screening = site.library.screening
    found = sorted(screening.standings(), key=_last_worked, reverse=True)
    response = site.render(
        "reviews.html",
        reader=reader,
        foot=site.status(),
        standings=[(each, state_words(each), clock(each.last, zone)) for each in found],
        superseded={each.review.id: screening.superseded(each.review.id) for each in found if each.stopped},
        default_plan=Plan(),
    )
    # What was decided since must be seen on going back, as on the pages of a review.
    response.headers["cache-control"] = "private, no-store"
    return response


def _last_worked(standing: Standing) -> tuple[float, int]:
    return standing.last.timestamp(), standing.review.id


def state_words(standing: Standing) -> str:
    """How far a review is, in a word or two."""
    if not standing.records:
        return "Empty pool"
    if standing.stopped:
        return "Stopped"
    if standing.read == standing.records:
        return "All read"
    return "Screening" if standing.read else "Not begun"


PAGES: list[tuple[str, Page]] = [(ROOT, reviews)]
