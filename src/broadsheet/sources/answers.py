"""What the online sources that answer in JSON share: reading an answer, refusing an entry, venues and statuses."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

import orjson

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Link, LinkKind, Record, Refusal
from broadsheet.sources.base import Entry
from broadsheet.sources.stream import BOM
from broadsheet.sources.values import FieldError, link_of

if TYPE_CHECKING:
    from broadsheet.net import Response, Validators

T = TypeVar("T")

_VENUE_YEAR = re.compile(r"([a-z][a-z0-9-]*?)[/ -]?((?:19|20)\d\d)", re.IGNORECASE)
_STATUSES = (
    ("desk reject", "Desk Reject"),
    ("desk_reject", "Desk Reject"),
    ("reject", "Reject"),
    ("withdr", "Withdraw"),
    ("oral", "Oral"),
    ("notable", "Notable"),
    ("spotlight", "Spotlight"),
    ("highlight", "Highlight"),
    ("award", "Award"),
    ("poster", "Poster"),
)
_SHARE = re.compile(r"top[ -]?(\d+) ?%", re.IGNORECASE)
_GROUP_ENDS = frozenset(("Submission", "Rejected_Submission", "Withdrawn_Submission", "Desk_Rejected_Submission"))
LEFT_OUT = frozenset(("Reject", "Desk Reject", "Withdraw"))
"""Statuses of papers that a venue did not take; they are left out unless asked for."""


def load_json(body: bytes, where: str) -> Any:
    """The value that an answer is. Takes NaN and lone surrogates, which some services write. Raises InputError."""
    body = body.removeprefix(BOM)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        try:
            return _mended(json.loads(body.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            raise InputError(f"{where}: {_not_json(body)} ({error.msg}); nothing was taken of it") from error


def answer_of(response: Response) -> Any:
    """The value that an answer just fetched is. Raises FetchError."""
    try:
        return load_json(response.body, response.url)
    except InputError as error:
        raise FetchError(str(error), url=response.url, status=response.status) from error


def _not_json(body: bytes) -> str:
    begun = body[:200].lstrip()
    if begun.startswith(b"<"):
        return "a web page where JSON was expected: the site is down or wants a browser"
    return "not JSON"


def _mended(value: Any) -> Any:
    """The value without what no database can hold: half characters become U+FFFD, NaN null, huge numbers floats."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if isinstance(value, int) and value.bit_length() > 63 else value


def raw_of(entry: Any) -> str:
    """The entry as JSON, for ``Record.raw``. Raises FieldError for one that is nested too deep."""
    try:
        return orjson.dumps(entry).decode("utf-8")
    except orjson.JSONEncodeError as error:
        raise FieldError(f"cannot be written as JSON again ({error})") from error


def entries_of(where: str, items: Iterable[T], record_of: Callable[[T], Record | None]) -> Iterator[Entry]:
    """A record for each item; a refusal where ``record_of`` raises FieldError, nothing where it gives None."""
    for number, item in enumerate(items, 1):
        try:
            record = record_of(item)
        except FieldError as error:
            yield Refusal(where, 0, f"entry {number}: {error}")
        else:
            if record is not None:
                yield record


def fields_of(item: Any) -> dict[str, Any]:
    """The item, if it is an object. Raises FieldError."""
    if not isinstance(item, dict):
        raise FieldError("not an object with the fields of a paper")
    return item


def read_cursor(cursor: str) -> dict[str, Any]:
    """The mapping that a cursor holds; empty for "" and for what no version of this program wrote."""
    try:
        found = orjson.loads(cursor) if cursor else {}
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def write_cursor(values: Mapping[str, Any]) -> str:
    """A cursor's text."""
    return orjson.dumps(dict(values), option=orjson.OPT_SORT_KEYS).decode("utf-8")


def validators_in(cursor: str) -> Validators:
    """What a cursor of ``cursor_of`` says of the state of a file when it was last read."""
    from broadsheet.net import Validators  # brings an HTTP library, which parsing does not need

    known = read_cursor(cursor)
    return Validators(str(known.get("etag", "")), str(known.get("modified", "")))


def cursor_of(response: Response, **more: Any) -> str:
    """A cursor by which the same file is asked for again only if it changed."""
    return write_cursor({"etag": response.validators.etag, "modified": response.validators.modified, **more})


def joined(base: str, address: str) -> str:
    """The whole of an address that stands on a page; "" for what is none."""
    try:
        return urljoin(base, address)
    except ValueError:  # a malformed address such as `http://[`
        return ""


def page_link(address: str) -> Iterator[Link]:
    """A link to a paper's page, if it is an http(s) address."""
    if link := link_of("url", address):
        yield Link(LinkKind.PAGE, link.url)


def venue_and_year(kind: str, usage: str, rest: str) -> tuple[str, int]:
    """``icml/2025`` (or ``icml2025``) as its two parts. Raises SettingsError."""
    match = _VENUE_YEAR.fullmatch(rest.strip().strip("/"))
    if not match:
        raise SettingsError(f"source {kind}:{rest}: needs a venue and a year. Usage: {usage}")
    return match[1].lower(), int(match[2])


def status_of(text: str) -> str:
    """How a paper is presented, one spelling for all: "Accept (poster)" and "ICML 2025 spotlightposter" → "Poster",
    "Spotlight"; "" where the text says no more than that the paper was accepted.
    """
    if share := _SHARE.search(text):
        return f"Top-{share[1]}%"
    lower = text.lower()
    return next((status for word, status in _STATUSES if word in lower), "")


def venue_of_group(group: str) -> tuple[str, int | None, str]:
    """Venue, year and track that a group of OpenReview stands for.

    ``ICML.cc/2025/Conference`` → icml, 2025, ""; ``NeurIPS.cc/2024/Datasets_and_Benchmarks_Track`` → neurips, 2024,
    "Datasets and Benchmarks Track"; ``ICLR.cc/2024/Workshop/R2-FM`` → "ICLR Workshop R2-FM", 2024, ""; ``TMLR`` → tmlr.
    """
    parts = [part for part in group.split("/") if part and part not in _GROUP_ENDS]
    at = next((i for i, part in enumerate(parts) if re.fullmatch(r"(?:19|20)\d\d", part)), None)
    name = (parts[at - 1] if at else parts[-1] if parts else "").split(".")[0]
    year = int(parts[at]) if at is not None else None
    rest = [part.replace("_", " ") for part in parts[at + 1 :]] if at is not None else []
    if rest and rest[0] == "Workshop":
        return " ".join((name, *rest)), year, ""
    return name.lower(), year, " ".join(part for part in rest if part not in ("Conference", "Track"))
