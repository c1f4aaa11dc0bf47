"""What a reader does with papers: forms that are sent, links in mails, and the note that a paper was opened."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..errors import InputError, NotFoundError, ReadOnlyError, StoreError
from ..model import Paper, PaperId
from ..model.reading import Action, EventId, Reader
from ..signing import ACT_PATH, Order, Verb, verified
from . import identity
from .daily_views import MARKED, marks_of
from .forms import Form, form_of, interest
from .identity import ForeignError
from .params import one_of, paper_reference
from .site import Site

log = logging.getLogger(__name__)

Post = Callable[[Site, Request, Form, Reader], Response]
Endpoint = Callable[[Request], Awaitable[Response]]
VERBS = {
    Verb.SAVE: ("Save this paper", "It is saved."),
    Verb.LIKE: ("Say that you like this paper", "It is noted that you like it."),
    Verb.DISMISS: ("Say that this paper is not for you", "It is noted that it is not for you."),
    Verb.UNSUBSCRIBE: ("Stop these mails", "No more mails will be sent. The paper goes on being printed here."),
}
"""What a link in a mail does: before, and after."""


def posting(site: Site, handler: Post) -> Endpoint:
    """An endpoint for a form of this site, sent by a reader. Raises ForeignError and NobodyError."""

    def handled(request: Request, form: Form) -> Response:
        return handler(site, request, form, site.known(request))

    async def endpoint(request: Request) -> Response:
        if not identity.is_own(request):
            raise ForeignError
        form = await form_of(request)
        return await run_in_threadpool(handled, request, form)

    return endpoint


def see(address: str) -> Response:
    """The answer to a form that was taken: go and look there (303)."""
    return RedirectResponse(address, 303)


def act(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Save, like or dismiss a paper, or take that back; then back to where the reader was."""
    if form.text("undo"):
        site.library.daily.undo(reader.name, event=form.number("undo"))
    else:
        cause = interest("because", given) if (given := form.raw("because")) else None
        chosen = Action.DISMISS if cause else Action(one_of("action", form.text("action"), MARKED))
        number = paper_reference(form.text("paper"))
        site.library.daily.act(chosen, number, reader.name, because=cause, edition=form.day("edition"))
    return see(form.back())


def note_open(site: Site, request: Request, reader: Reader | None, paper: PaperId) -> None:
    """Note that a reader opened a paper, unless the browser fetched it ahead of time or for another page."""
    if reader is None or not identity.is_a_visit(request):
        return
    try:
        site.library.daily.act(Action.OPEN, paper, reader.name, wait=0)
    except ReadOnlyError:
        return  # of a library that keeps nothing, nothing is lost
    except StoreError as error:
        # The paper can be read all the same: what is lost is a click, while another process writes.
        log.warning("that paper %d was opened could not be noted: %s", paper, error)


def marks(site: Site, reader: Reader | None, papers: list[PaperId]) -> dict[PaperId, dict[str, EventId]]:
    """What the reader said of papers, by the names of the buttons."""
    if reader is None or not papers:
        return {}
    held = site.library.daily.marks(papers, reader.name)
    return {paper: marks_of(held, paper) for paper in papers}


def here(request: Request) -> str:
    """The address of the page that is asked for, to come back to."""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


# ----------------------------------------------------------------------------------------------------- links in mails


def ordered(site: Site, request: Request) -> Order:
    """What the link that was followed asks for. Raises InputError for any that was not made for this reader."""

    def secret_of(name: str) -> str | None:
        try:
            return site.library.daily.reader(name).secret
        except (NotFoundError, InputError):
            return None

    return verified(request.query_params.get("t", ""), secret_of)


def confirm(site: Site, request: Request) -> Response:
    """What a link in a mail would do: done only when the button is pressed, for scanners of mail follow links."""
    order = ordered(site, request)
    return _told(site, order, done=False, token=request.query_params["t"])


def carry_out(site: Site) -> Endpoint:
    """The endpoint that does what a link in a mail says, for its page and for mail programs (RFC 8058)."""

    def handled(request: Request) -> Response:
        order = ordered(site, request)
        daily = site.library.daily
        if order.verb is Verb.UNSUBSCRIBE:
            daily.set_options(order.reader, email="")
        else:
            daily.act(Action(order.verb.value), order.paper, order.reader, edition=order.day)
        return _told(site, order, done=True)

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(handled, request)

    return endpoint


def _told(site: Site, order: Order, *, done: bool, token: str = "") -> Response:
    paper = _paper(site, order)
    before, after = VERBS[order.verb]
    response = site.render(
        "order.html", order=order, paper=paper, before=before, after=after, done=done, action=f"{ACT_PATH}?t={token}"
    )
    response.headers["cache-control"] = "no-store"
    return response


def _paper(site: Site, order: Order) -> Paper | None:
    return site.library.paper(order.paper) if order.paper else None
