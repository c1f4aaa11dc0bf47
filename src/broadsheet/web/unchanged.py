"""Answers that need not be sent again: entity tags and If-None-Match (RFC 9110, sections 8.8.3 and 13.1.2)."""

from __future__ import annotations

import re
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response

_TAG = re.compile(r'(?:W/)?("[^"]*")')


def unless_known(request: Request, response: Response) -> Response:
    """The response with an entity tag; 304 without its body where the request names that tag.

    The tag is weak: a response that is sent compressed has other bytes, and is the same for a reader.
    """
    tag = f'"{sha256(response.body).hexdigest()[:32]}"'
    named = request.headers.get("if-none-match", "")
    if named.strip() == "*" or tag in _TAG.findall(named):
        kept = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        response = Response(status_code=304, headers=kept)
    response.headers["etag"] = f"W/{tag}"
    return response
