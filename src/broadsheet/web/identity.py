"""Who is reading, and whether a request comes from a page of this site. Decided from headers and cookies alone."""

from __future__ import annotations

import ipaddress

from starlette.requests import Request
from starlette.responses import Response

from ..errors import BroadsheetError, InputError, NotFoundError
from ..model.reading import Reader
from .protocol import DailyLike
from .security import host_name

COOKIE = "broadsheet-reader"
COOKIE_SECONDS = 400 * 24 * 3600  # the longest that browsers keep one
LONGEST_SECRET = 200
UNKNOWN_ADDRESS = "There is no reader at this address. Ask whoever runs this library for yours."
NOBODY = (
    "This site does not know who is reading. Open your own address first; whoever runs this library finds it with "
    "`broadsheet readers link`."
)
GONE = (
    "This address leads to no reader any more: its secret was renewed, or the reader was removed. The new address "
    "stands on the reader’s page of interests, and `broadsheet readers link` prints it."
)
FOREIGN = "This was sent from another site, or by a browser that does not say from where. Nothing was changed."
_PROXIED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class NobodyError(BroadsheetError):
    """Something only a reader can ask for was asked for by nobody known."""

    def __init__(self) -> None:
        super().__init__(NOBODY)


class GoneError(BroadsheetError):
    """A feed was asked for at an address that led to a reader once, or could have."""

    def __init__(self) -> None:
        super().__init__(GONE)


class ForeignError(BroadsheetError):
    """A request that changes something does not come from a page of this site."""

    def __init__(self) -> None:
        super().__init__(FOREIGN)


def is_loopback(host: str) -> bool:
    """Whether a server that listens on ``host`` is reached from its own machine only."""
    name = host.strip().strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def secret_of(request: Request) -> str:
    """The secret that a request shows: of ``Authorization: Bearer …``, else of the cookie; else empty."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    found = bearer.strip() if scheme.lower() == "bearer" else request.cookies.get(COOKIE, "")
    return found if len(found) <= LONGEST_SECRET else ""


def by_secret(daily: DailyLike, secret: str) -> Reader:
    """The reader of a secret address. Raises NotFoundError in words that do not tell what is wrong with it."""
    try:
        if secret and len(secret) <= LONGEST_SECRET and secret.isprintable():
            return daily.reader_by_secret(secret)
    except (NotFoundError, InputError):
        pass
    raise NotFoundError(UNKNOWN_ADDRESS)


def reader_of(request: Request, daily: DailyLike, *, local: bool) -> Reader | None:
    """Who is reading: whom the request's secret names, else the default reader on a machine's own site, else nobody.

    A request that a proxy handed on may come from anywhere, also where the server listens to its own machine only: its
    headers say so, or it asks for the site by another name than the machine's own.
    """
    if secret := secret_of(request):
        try:
            return by_secret(daily, secret)
        except NotFoundError:
            if "authorization" in request.headers:
                return None
    own_name = is_loopback(host_name(request.headers.get("host", "")))
    if local and own_name and not any(name in request.headers for name in _PROXIED):
        return daily.reader("")
    return None


def is_own(request: Request) -> bool:
    """Whether a request that changes something was sent by a page of this site, as far as a browser tells.

    Browsers of today send ``Sec-Fetch-Site`` to trustworthy addresses (Fetch Metadata, W3C) and ``Origin`` with every
    POST (RFC 6454, Fetch standard); neither can be forged by a page.
    """
    if site := request.headers.get("sec-fetch-site"):
        return site in ("same-origin", "none")
    return request.headers.get("origin") == f"{request.url.scheme}://{request.headers.get('host', '')}"


def is_program(request: Request) -> bool:
    """Whether a request is not a browser's: it says neither from where it comes nor for what."""
    return "origin" not in request.headers and "sec-fetch-site" not in request.headers


def is_a_visit(request: Request) -> bool:
    """Whether a page is fetched for somebody who opens it: not ahead of time, and not as a part of another page."""
    ahead = {"sec-purpose", "purpose", "x-purpose", "x-moz"}
    fetched = " ".join(request.headers.get(name, "") for name in ahead).lower()
    whole = request.headers.get("sec-fetch-dest", "document") == "document"
    return (
        request.method == "GET" and whole and not any(word in fetched for word in ("prefetch", "prerender", "preview"))
    )


def remember(response: Response, request: Request, secret: str) -> None:
    """Give the browser the cookie that says who is reading."""
    response.set_cookie(
        COOKIE,
        secret,
        max_age=COOKIE_SECONDS,
        path="/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
