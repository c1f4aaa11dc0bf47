"""Errors as answers: a page for readers, ``{"error": {"code", "message"}}`` for programs. Never a stack trace."""

from __future__ import annotations

import logging
from collections.abc import Callable

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ..errors import (
    BroadsheetError,
    BusyError,
    EncoderUnavailableError,
    IndexDamagedError,
    InputError,
    MissingExtraError,
    NotFoundError,
    ReadOnlyError,
)
from .identity import ForeignError, GoneError, NobodyError
from .params import MAX_ID
from .site import Site

log = logging.getLogger(__name__)

HEADINGS = {
    400: "That cannot be read",
    403: "Not from here",
    404: "Not in this library",
    405: "Not done this way",
    410: "No longer here",
    413: "Too much at once",
    415: "That cannot be read",
    500: "A fault of ours",
    501: "Not installed here",
    503: "Not at this moment",
}
HEADING_BY_CODE = {"read_only": "Only for reading"}
CODES = {
    400: "bad_request",
    403: "foreign",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}
MESSAGES = {
    404: "There is no page at this address.",
    405: "This address does not take that kind of request.",
    413: "What was sent is larger than this address takes.",
    415: "What was sent is in a form that this address does not take: pages take forms, the API application/json.",
}

READ_ONLY = (
    "Nothing was changed: this site shows its library for reading only. Whoever runs it can open the library for "
    "writing, as `broadsheet serve` does."
)

TOLD: dict[type[BroadsheetError], tuple[int, str]] = {
    ForeignError: (403, "foreign"),
    GoneError: (410, "gone"),
    NotFoundError: (404, "not_found"),
    MissingExtraError: (501, "missing_extra"),
    InputError: (400, "bad_request"),
}
"""Errors whose own messages are for the reader; the first that fits."""

# The messages of these may name files of the server, so the reader gets a sentence of ours and the log gets theirs.
PRIVATE: dict[type[BroadsheetError], tuple[int, str, str]] = {
    ReadOnlyError: (403, "read_only", READ_ONLY),
    BusyError: (503, "busy", "The library is being written to. Try again in a few seconds."),
    IndexDamagedError: (
        503,
        "index_damaged",
        "The index cannot be read. `broadsheet doctor --rebuild-index` makes it again from the database.",
    ),
    EncoderUnavailableError: (503, "encoder_unavailable", "Nothing here can turn words into vectors at the moment."),
    BroadsheetError: (500, "internal", "The library could not answer. The server’s log has the details."),
}


def request_id(request: Request) -> str:
    """The number under which the log knows this request."""
    return str(getattr(request.state, "request_id", ""))


def _review(request: Request) -> str:
    """The page of the review that a form was sent to, from where it can be sent anew; else empty."""
    parts = request.url.path.split("/")
    if request.method != "POST" or parts[1] != "reviews":
        return ""
    return f"/reviews/{parts[2]}" if len(parts) > 3 and parts[2].isdigit() else "/reviews"


class Problems:
    """Makes answers of errors."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def refuse(self, request: Request, status: int, code: str, message: str) -> Response:
        """The answer to a request that fails, in the form that the address promises."""
        if request.url.path.startswith("/api/") or request.url.path.endswith("/edition.json"):
            body = {"error": {"code": code, "message": message, "request_id": request_id(request)}}
            return JSONResponse(body, status_code=status)
        if request.url.path.endswith(".atom"):  # a feed reader shows no page, at most a line
            return PlainTextResponse(f"{message}\n", status_code=status, headers={"cache-control": "no-cache"})
        return self._site.render(
            "error.html",
            status=status,
            heading=HEADING_BY_CODE.get(code) or HEADINGS.get(status, "That did not work"),
            message=message,
            request_id=request_id(request),
            back=_review(request) if status < 500 else "",
        )

    def of_broadsheet(self, request: Request, error: Exception) -> Response:
        """The answer to an error raised on purpose."""
        if isinstance(error, NobodyError):
            # For a program it is a matter of credentials (RFC 9110, 15.5.2); a browser's are its address and cookie.
            program = request.url.path.startswith("/api/")
            response = self.refuse(request, 401 if program else 403, "no_reader", str(error))
            if program:
                response.headers["www-authenticate"] = "Bearer"
            return response
        for kind, (status, code) in TOLD.items():
            if isinstance(error, kind):
                return self.refuse(request, status, code, str(error))
        if not isinstance(error, ReadOnlyError):
            log.error("request %s failed: %s", request_id(request), error, exc_info=error)
        status, code, message = next(answer for kind, answer in PRIVATE.items() if isinstance(error, kind))
        response = self.refuse(request, status, code, message)
        if status == 503:
            response.headers["retry-after"] = "5"
        return response

    def of_http(self, request: Request, error: Exception) -> Response:
        """The answer to an address or method that is not there."""
        status = error.status_code if isinstance(error, HTTPException) else 400
        message = MESSAGES.get(status, "The request cannot be read.")
        if isinstance(error, RequestValidationError):
            message = _what_is_wrong(error)
        response = self.refuse(request, status, CODES.get(status, "bad_request"), message)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    def attach(self, app: FastAPI) -> None:
        """Give an application these answers."""
        handlers: list[tuple[type[Exception], Callable[[Request, Exception], Response]]] = [
            (BroadsheetError, self.of_broadsheet),
            (HTTPException, self.of_http),
            (RequestValidationError, self.of_http),
        ]
        for kind, handler in handlers:
            app.add_exception_handler(kind, handler)


def _what_is_wrong(error: RequestValidationError) -> str:
    """Which field of a request's body cannot be used, and why."""
    for found in error.errors():
        parts = found["loc"][1:] if found["loc"][:1] and found["loc"][0] in ("body", "path", "query") else found["loc"]
        place = ".".join(map(str, parts)) or "body"
        message = str(found["msg"])
        if found.get("ctx", {}).get("le") == MAX_ID:
            message = "is larger than any number here"
        return f"{place}: {message[:1].lower()}{message[1:]}"
    return "The request cannot be read."
