"""What is sent to the site: how large it may be, and the fields of a form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import urlsplit

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import InputError
from ..model.reading import Interest, InterestKind
from .params import MAX_ID, ParameterError, clean, parse_day, whole_number

MAX_BODY = 128 * 1024
MAX_FILE = 64 * 1024 * 1024
FILE_PATHS = frozenset({"/interests/import", "/api/import"})
"""Where a file is taken, so that more may be sent."""
MAX_POOL = 100_000_000
MAX_FILES = 50
MAX_FIELDS = 300
LONGEST_NAME = 200  # characters of a file's name
LONGEST_VALUE = 500  # characters of a keyword, a name, a place; the library has its own limit
_POOL_PATHS = re.compile(r"(?:/api)?/reviews/(?:import|[^/]+/files(?:/.*)?)", re.DOTALL)
_KINDS = ("application/x-www-form-urlencoded", "multipart/form-data")


def limit_of(path: str, pool: int = MAX_POOL) -> int:
    """How many bytes may be sent to an address; ``pool`` is the limit where reviews are filled."""
    if _POOL_PATHS.fullmatch(path):
        return pool
    return MAX_FILE if path in FILE_PATHS else MAX_BODY


class BodyLimit:
    """ASGI middleware that stops reading what is too large: HTTPException 413."""

    def __init__(self, app: ASGIApp, pool: int = MAX_POOL) -> None:
        self._app = app
        self._pool = pool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request whose body is counted while it is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = limit_of(scope["path"], self._pool)
        stated = Headers(scope=scope).get("content-length", "")
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            if stated.isdigit() and (len(stated) > 18 or int(stated) > limit):
                raise HTTPException(413)
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413)
            return message

        await self._app(scope, counted, send)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent: its name there, which may be anything, and its content."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, and the files that were sent with it."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Sequence[Upload] = ()

    @property
    def file(self) -> bytes:
        """The content of the only file; empty where none was sent."""
        return self.files[0].content if self.files else b""

    def text(self, name: str) -> str:
        """A field in one line, without what cannot be seen; empty where it is not given."""
        values = self.fields.get(name, ())
        return clean(values[0]) if values else ""

    def raw(self, name: str) -> str:
        """A field as it was sent, with its lines."""
        values = self.fields.get(name, ())
        return values[0] if values else ""

    def texts(self, name: str) -> list[str]:
        """All values of a field."""
        return [cleaned for value in self.fields.get(name, ()) if (cleaned := clean(value))]

    def number(self, name: str) -> int:
        """A field that holds the number of something in the database. Raises ParameterError."""
        return whole_number(name, self.text(name), low=1, high=MAX_ID)

    def decimal(self, name: str, low: float, high: float) -> float:
        """A field that holds a number. Raises ParameterError."""
        try:
            found = float(self.text(name).replace(",", "."))
        except ValueError:
            found = float("nan")
        if not low <= found <= high:
            raise ParameterError(name, f"must be a number from {low:g} to {high:g}, not {self.text(name)[:40]!r}")
        return found

    def day(self, name: str) -> date | None:
        """A field that may hold a day. Raises ParameterError."""
        return parse_day(name, text) if (text := self.text(name)) else None

    def interest(self) -> Interest:
        """The fields ``kind`` and ``value``. Raises ParameterError."""
        return interest("value", f"{self.text('kind')}:{self.text('value')}")

    def back(self, otherwise: str = "/") -> str:
        """The field ``back`` where it is an address of this site."""
        wanted = self.raw("back")
        return wanted if is_local(wanted) else otherwise


def interest(name: str, text: str) -> Interest:
    """An interest written as ``keyword:active learning``. Raises ParameterError naming the parameter."""
    kind, _, value = text.partition(":")
    if kind not in {known.value for known in InterestKind}:
        raise ParameterError(name, f"must be a keyword, an author, an area or a venue, not {kind[:40]!r}")
    if not (value := clean(value)):
        raise ParameterError(name, "must not be empty")
    if len(value) > LONGEST_VALUE:
        raise ParameterError(name, f"may have at most {LONGEST_VALUE} characters")
    return Interest(InterestKind(kind), value)


def is_local(address: str) -> bool:
    """Whether an address leads to a page of this site: a path, in printable characters of ASCII, on no other host."""
    if not address.startswith("/") or address.startswith(("//", "/\\")) or "\\" in address or len(address) > 4_000:
        return False
    if not (address.isascii() and address.isprintable() and " " not in address):
        return False
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc


async def form_of(request: Request) -> Form:
    """The form that was sent. Raises HTTPException 413 and 415, and InputError for what is no form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind and not await request.body():
        return Form()
    if kind not in _KINDS:
        raise HTTPException(415)
    try:
        found = await request.form(
            max_files=MAX_FILES if _POOL_PATHS.fullmatch(request.url.path) else 1,
            max_fields=MAX_FIELDS,
            max_part_size=MAX_FILE if request.url.path in FILE_PATHS else MAX_BODY,
        )
    except HTTPException as error:
        if error.status_code == 413:
            raise
        raise InputError("The form cannot be read; go back, open the page again, and send it once more.") from error
    return await _gathered(found)


async def _gathered(found: FormData) -> Form:
    fields: dict[str, list[str]] = {}
    files: list[Upload] = []
    try:
        for name, value in found.multi_items():
            if isinstance(value, UploadFile):
                files.append(Upload(clean(value.filename or "")[:LONGEST_NAME], await value.read()))
            else:
                fields.setdefault(name, []).append(value)
    finally:
        await found.close()
    return Form(fields, [sent for sent in files if sent.name or sent.content])
