"""A visit to a review: who asks, which review and stage, and what this screener may see and do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ..errors import NotFoundError
from ..model.reading import Reader
from ..model.screening import Label, Offer, Review, ReviewProgress, Sharing, Stage
from .forms import Form
from .params import MAX_ID_DIGITS, one_of
from .screening_protocol import ScreenedLike, ScreeningLike
from .site import Page, Site

ROOT = "/reviews"
DONE = {
    "plan": "The plan is changed. What was read before it stays, and every statement says when it was changed.",
    "added": "Added to the pool.",
    "named": "Named: reports and the PRISMA diagram print it so.",
    "prior": "Taken as known before screening.",
    "twin": "Said to repeat the other: one decision now counts for both, once.",
    "apart": "Said to repeat no other.",
    "stop": "Stopped. The statement is kept in the history.",
    "reopen": "Taken up again.",
}
"""What was just done, in words of ours: an address must not be able to put any there."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A reader at a review. ``stage`` is what the address asks for."""

    site: Site
    request: Request
    reader: Reader
    review: Review
    stage: Stage = Stage.ABSTRACT

    @property
    def screening(self) -> ScreeningLike:
        """All reviews of the library."""
        return self.site.library.screening

    @property
    def name(self) -> int:
        """What the review is called by: its number, for any name may look like one."""
        return self.review.id

    @property
    def screener(self) -> str:
        """The name under which this reader decides."""
        return self.reader.name

    @property
    def blinded(self) -> bool:
        """Whether screeners must not see what others decided."""
        return self.review.plan.sharing is Sharing.BLINDED

    @property
    def may_screen(self) -> bool:
        """Whether this reader is one of the review's screeners, where it names any."""
        return not self.review.plan.screeners or self.reader.name in self.review.plan.screeners

    @property
    def inside(self) -> bool:
        """Whether this reader is a screener of a blinded review, from whom what others decided is kept."""
        return self.blinded and self.screener in self.review.plan.screeners

    def is_done(self, stage: Stage) -> bool:
        """Whether all screeners have come to the end of a stage, or all have stopped."""
        return self.screening.progress(self.name, None, stage=stage, curve=False).phase == "done"

    @property
    def viewer(self) -> str | None:
        """As whom this reader sees records and history: a screener, or None who sees a blinded review from outside."""
        return self.screener if self.may_screen else None

    @property
    def scope(self) -> str | None:
        """Whose progress is shown: the review's, or in a blinded one the screener's own."""
        return self.viewer if self.blinded else None

    def progress(self, *, curve: bool = False) -> ReviewProgress:
        """Where screening stands, as this reader may see it."""
        return self.screening.progress(self.name, self.scope, stage=self.stage, curve=curve)

    def record(self, number: int) -> ScreenedLike:
        """A record, as this reader may see it. Raises NotFoundError."""
        return self.screening.record(self.name, number, stage=self.stage, screener=self.viewer)

    def have(self, *numbers: int) -> None:
        """Raises NotFoundError for a number that no record of the pool has, before anything is written."""
        for number in dict.fromkeys(numbers):
            self.record(number)

    def held(self, found: ScreenedLike) -> Label | None:
        """What stands decided of a record for this reader."""
        return found.own if self.blinded and self.may_screen else found.label

    def url(self, path: str = "", **params: object) -> str:
        """An address of this review; the stage goes with it, empty parameters are left out."""
        pairs = {name: str(value) for name, value in params.items() if value not in ("", None, 0)}
        if self.stage is not Stage.ABSTRACT:
            pairs.setdefault("stage", self.stage.value)
        return f"{ROOT}/{self.review.id}{path}" + (f"?{urlencode(pairs)}" if pairs else "")

    def offered(self, offer: Offer, **params: object) -> str:
        """The address where an offered record is screened; how it was chosen stays with it, also on going back."""
        return self.url(
            f"/screen/{offer.record.number}",
            by=offer.chosen.value,
            place=offer.place,
            unread=offer.unread,
            model=offer.model,
            **params,
        )

    def render(self, template: str, **values: Any) -> Response:
        """A page of this review."""
        response = self.site.render(
            template, reader=self.reader, foot=self.site.status(), visit=self, review=self.review, **values
        )
        # What was decided since must be seen on going back; and nothing of a blinded review may stay in a shared cache.
        response.headers["cache-control"] = "private, no-store"
        return response


Handler = TypeVar("Handler")
ReviewPage = Callable[[Visit], Response]
ReviewPost = Callable[[Visit, Form], Response]


def review_of(screening: ScreeningLike, key: str) -> Review:
    """A review by its number, or by its name where that is not a number. Raises NotFoundError."""
    if not (key.isascii() and key.isdigit()):
        return screening.review(key)
    if len(key) > MAX_ID_DIGITS:
        raise NotFoundError(f"There is no review {key[:30]}.")
    return screening.review(int(key))


def stage_of(text: str) -> Stage:
    """The parameter or field ``stage``. Raises ParameterError."""
    return Stage(one_of("stage", text, [stage.value for stage in Stage])) if text else Stage.ABSTRACT


def address(path: str, handler: Handler) -> tuple[str, Handler]:
    """A page or a form at an address below a review's."""
    return f"{ROOT}/{{review}}{path}", handler


def visited(handler: ReviewPage) -> Page:
    """The page of a review; any other name of the review leads to its one address."""

    def page(site: Site, request: Request) -> Response:
        reader = site.known(request)
        key = str(request.path_params["review"])
        review = review_of(site.library.screening, key)
        if key != str(review.id):
            rest = request.url.path.split("/", 3)[3:]
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse("/".join([f"{ROOT}/{review.id}", *map(quote, rest)]) + query, 302)
        return handler(Visit(site, request, reader, review, stage_of(request.query_params.get("stage", ""))))

    return page


def posted(handler: ReviewPost) -> Callable[[Site, Request, Form, Reader], Response]:
    """The form of a review.

    A script of ours that sends it asks for JSON: it is told where to go on, so that a page can stay where it is when
    the server cannot be reached.
    """

    def post(site: Site, request: Request, form: Form, reader: Reader) -> Response:
        review = review_of(site.library.screening, str(request.path_params["review"]))
        response = handler(Visit(site, request, reader, review, stage_of(form.text("stage"))), form)
        if response.status_code == 303 and request.headers.get("accept") == "application/json":
            return JSONResponse({"next": response.headers["location"]}, headers={"cache-control": "no-store"})
        return response

    return post
