"""What a request gives back, and what the headers of an answer mean (RFC 9110)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime

_THROTTLING = frozenset({406, 429, 503})  # 406: what arXiv's edge answers while it throttles
_SAID = ("rate exceeded", "rate limit", "too many requests", "throttl")
_SHORT = 200  # characters; an answer that only says "Rate exceeded." is no page that mentions it


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said of a page's state, to ask later whether it changed (``ETag`` and ``Last-Modified``)."""

    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. ``url`` is where it came from in the end, without keys; header names are in lower case.

    ``not_modified``: the page is as it was when the given validators were noted; ``body`` is empty then.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    not_modified: bool = False

    @property
    def text(self) -> str:
        """The body as text: by the charset that the server names, else UTF-8; what is invalid is replaced."""
        try:
            return self.body.decode(_charset(self.headers.get("content-type", "")), "replace")
        except LookupError:  # a charset that nobody knows
            return self.body.decode("utf-8", "replace")

    @property
    def validators(self) -> Validators:
        """For the next request of the same page."""
        return Validators(self.headers.get("etag", ""), self.headers.get("last-modified", ""))


def _charset(content_type: str) -> str:
    message = Message()
    message["Content-Type"] = content_type
    return message.get_content_charset("utf-8")


def is_throttling(response: Response) -> bool:
    """Whether the answer asks for fewer requests, by its status or by what little it says."""
    if response.status in _THROTTLING:
        return True
    said = response.body[:2000].decode("latin-1").strip().lower()
    if response.status == 403:
        spent = response.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in response.headers
        return spent or any(phrase in said for phrase in _SAID)
    return len(response.body) < _SHORT and said.startswith("rate exceeded")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that ``Retry-After`` asks to wait; until a date they count by the server's clock, if it tells it."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    until = _http_date(value)
    if until is None:
        return None
    return max(0.0, (until - (_http_date(headers.get("date", "")) or now)).total_seconds())


def _http_date(value: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
