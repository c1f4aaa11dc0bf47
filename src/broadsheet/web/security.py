"""The outermost layer of the site: host check, security headers, request ids, and an answer to what nobody foresaw."""

from __future__ import annotations

import ipaddress
import logging
import secrets
from collections.abc import Callable, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

SECRET_ADDRESSES = "/r/"
"""Addresses below this hold a reader's secret: they are told to nobody, neither by a browser nor in a log."""
ASKED_AGAIN = "private, no-cache"
"""What a feed says of itself: its reader's program may keep it, no other cache may, and it is asked for each time."""
SECRET_HEADERS = {"referrer-policy": "no-referrer", "cache-control": "private, no-store", "x-robots-tag": "noindex"}

ANSWERS = "/api/"
"""Addresses below this answer by who asks: no cache may give one reader's answer to another."""

Refuse = Callable[[Request, int, str, str], Response]


def host_name(header: str) -> str:
    """The name in a Host header: lower case, without port, brackets or final dot; empty where it is malformed."""
    header = header.strip().lower()
    if header.startswith("["):
        name, bracket, rest = header[1:].partition("]")
        return name if bracket and (not rest or rest.startswith(":")) else ""
    name, _, port = header.partition(":")
    return name.removesuffix(".") if not port or port.isdigit() else ""


def allowed_names(host: str, extra: Iterable[str] = ()) -> frozenset[str] | None:
    """Names that the site answers to, or None for any.

    A page elsewhere can point a name of its own at 127.0.0.1 and read what the browser then fetches (DNS rebinding), so
    a site for one machine answers to loopback names only. Who listens on all addresses has published the site: any name
    goes.
    """
    names = {name.lower().strip("[]") for name in extra}
    if "*" in names:
        return None
    try:
        if ipaddress.ip_address(host.strip("[]")).is_unspecified:
            return None if not names else LOOPBACK | names
    except ValueError:
        pass  # a name, not an address
    return LOOPBACK | names | ({host.lower().strip("[]")} if host else set())


def named(path: str) -> str:
    """An address for the log: without a reader's secret."""
    if not path.startswith(SECRET_ADDRESSES):
        return path
    _, slash, rest = path.removeprefix(SECRET_ADDRESSES).partition("/")
    return f"{SECRET_ADDRESSES}…{slash}{rest}"


class Shell:
    """ASGI middleware around everything else, so that every answer has the headers, also that to a fault."""

    def __init__(self, app: ASGIApp, names: frozenset[str] | None, refuse: Refuse) -> None:
        self._app = app
        self._names = names
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; other scopes pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(4)
        scope.setdefault("state", {})["request_id"] = request_id
        started = False

        async def sealed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith(SECRET_ADDRESSES):
                    own = headers.get("cache-control", "")
                    headers.update(SECRET_HEADERS | ({"cache-control": own} if own == ASKED_AGAIN else {}))
                if scope["path"].startswith(ANSWERS):
                    headers.setdefault("cache-control", "private, no-cache")
                    headers.add_vary_header("cookie, authorization")
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["x-request-id"] = request_id
            await send(message)

        try:
            if self._names is not None and host_name(Headers(scope=scope).get("host", "")) not in self._names:
                response = self._refuse(Request(scope), 400, "wrong_host", WRONG_HOST)
                await response(scope, receive, sealed)
            else:
                await self._app(scope, receive, sealed)
        except Exception:
            log.exception("request %s failed: %s %s", request_id, scope["method"], named(scope["path"]))
            if started:
                raise
            response = self._refuse(Request(scope), 500, "internal", INTERNAL)
            await response(scope, receive, sealed)


WRONG_HOST = (
    "This library does not answer to the name it was asked by. Open it as http://127.0.0.1 or http://localhost with "
    "its port, or set `host` in its settings to the name it is to have."
)
INTERNAL = "Something went wrong here, not with what you asked. The server’s log has the details under this number."
