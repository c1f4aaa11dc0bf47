"""JSON values of any reasonable shape → text, names, dates, links, areas. Pure functions.

One rule throughout: a value of the wrong *kind* (a mapping where text is meant) raises FieldError, which names the
field; a value of the right kind that cannot be *read* (a year "n.d.", an address without a host) counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from broadsheet.model import Area, Link, LinkKind
from broadsheet.text import split_authors


class FieldError(Exception):
    """A field holds the wrong kind of value; the message names the field and what it should hold."""


def _wrong(field: str, wanted: str, value: object) -> FieldError:
    kinds = {dict: "a mapping", list: "a list", bool: "true or false", str: "text", int: "a number", float: "a number"}
    return FieldError(f"{field}: must be {wanted}, not {kinds.get(type(value), 'something else')}")


def text_of(value: Any, field: str) -> str:
    """Text as it came, stripped; null is empty. Takes numbers, a list of one, and OpenReview's ``{"value": …}``."""
    if isinstance(value, str):
        # PostgreSQL cannot hold NUL, and no text means anything by it.
        return (value.replace("\0", "") if "\0" in value else value).strip()
    if value is None:
        return ""
    if isinstance(value, dict) and "value" in value:
        return text_of(value["value"], field)
    if isinstance(value, list) and len(value) <= 1:
        return text_of(value[0], field) if value else ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise _wrong(field, "text", value)


def texts_of(value: Any, field: str) -> Iterator[str]:
    """Non-empty texts of a list, or of one string split at semicolons, else commas."""
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    if isinstance(value, str):
        text = text_of(value, field)
        yield from filter(None, map(str.strip, text.split(";" if ";" in text else ",")))
    elif isinstance(value, list):
        yield from filter(None, (text_of(item, field) for item in value))
    elif value is not None:
        raise _wrong(field, "a list of texts", value)


# --- names -----------------------------------------------------------------------------------------------------------

_MAYBE_CUT = ("al", "al.", "others", "others.", "...", "…", "等", "等人")
_REPEATED = re.compile(r"(?:[,;、，；&]\s?){3,}")
_NAME_KEYS = ("name", "full_name", "fullname", "fullName", "display_name", "literal", "raw_name")
_PART_KEYS = (("first", "last"), ("given", "family"), ("firstName", "lastName"), ("first_name", "last_name"))


def _split(line: str) -> tuple[tuple[str, ...], bool]:
    line = _REPEATED.sub(", ", " ".join(line.split()))
    return split_authors(line[3:] if line[:3].lower() == "by " else line)


def _name_of(value: Any) -> str:
    if value is None or isinstance(value, str):
        return text_of(value, "authors")
    if isinstance(value, dict):
        for key in _NAME_KEYS:
            if value.get(key):
                return text_of(value[key], "authors")
        for first, last in _PART_KEYS:
            if value.get(last):
                return f"{text_of(value.get(first), 'authors')} {text_of(value[last], 'authors')}".strip()
        if value.get("author"):
            return _name_of(value["author"])
    raise _wrong("authors", "a list of names", value)


def authors_of(value: Any) -> tuple[tuple[str, ...], bool]:
    """Names in the source's order, and whether the source cut the list ("et al.", 等).

    Names of a list keep the source's spelling; those of one line of text come given name first.
    """
    if isinstance(value, dict):
        value = value.get("value", [value])
    if value is None:
        return (), False
    if isinstance(value, str):
        return _split(text_of(value, "authors"))
    if not isinstance(value, list):
        raise _wrong("authors", "a list of names", value)
    names = [name for name in map(_name_of, value) if name]
    if len(names) == 1 and (";" in names[0] or " and " in names[0] or names[0].count(",") > 1):
        return _split(names[0])
    if names and names[-1].lower().endswith(_MAYBE_CUT):
        rest, cut = split_authors(names[-1])
        if cut:
            return (*names[:-1], *rest), True
    return tuple(names), False


# --- years and dates -------------------------------------------------------------------------------------------------

_MONTHS = {
    name: i + 1
    for i, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))
}
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?!\d)")
_WORD_DATE = re.compile(
    r"(?:(?P<d1>\d{1,2})(?:st|nd|rd|th)?\s+(?P<m1>[a-z]{3,9})\.?|(?P<m2>[a-z]{3,9})\.?(?:\s+(?P<d2>\d{1,2})(?:st|nd|rd|th)?)?),?\s+(?P<y>\d{4})",
    re.IGNORECASE,
)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) if 1000 <= year < 3000 else None
    except ValueError:
        return None


def year_of(value: Any) -> int | None:
    """A year from 1000 to 2999 from 2019, "2019", "2019.0" or a date that begins with it."""
    if isinstance(value, str):
        match = re.match(r"\s*(\d{4})(?!\d)", value)
        value = int(match[1]) if match else None
    if isinstance(value, dict) and "value" in value:
        return year_of(value["value"])
    if isinstance(value, (list, dict, bool)):
        raise _wrong("year", "a number", value)
    return int(value) if value is not None and 1000 <= value < 3000 else None


def month_of(value: Any) -> int | None:
    """1 to 12 from a number, an English name or its first letters; of a span ("October-November"), the first."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 1 <= value <= 12 else None
    if not isinstance(value, str):
        return None
    if value.strip().isdecimal():
        return month_of(int(value.strip()[:4]))
    match = re.search(r"[A-Za-z]{3,}", value)
    return _MONTHS.get(match[0][:3].lower()) if match else None


def date_of(value: Any, field: str, *, whole: bool = False) -> date | None:
    """The day in UTC of an ISO date or time, of ``2026-6-30``, ``2026/06/30``, ``30 June 2026`` or ``June 2026``.

    ``YYYY-MM`` is the first of the month; a year alone is no date. With ``whole`` a day must be given.
    """
    if value is None or value == "":
        return None
    if isinstance(value, dict) and "value" in value:
        return date_of(value["value"], field, whole=whole)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _from_timestamp(value)
    if not isinstance(value, str):
        raise _wrong(field, "a date", value)
    return _from_text(value.strip(), whole)


def _from_text(text: str, whole: bool) -> date | None:
    if len(text) > 10 and ":" in text and (moment := _moment(text)):
        return moment.date()
    if match := _DATE.match(text):
        return _date(int(match[1]), int(match[2]), int(match[3] or 1)) if match[3] or not whole else None
    if match := _WORD_DATE.search(text[:100]):
        month, day = month_of(match["m1"] or match["m2"]), match["d1"] or match["d2"]
        return _date(int(match["y"]), month, int(day or 1)) if month and (day or not whole) else None
    return None


def _moment(text: str) -> datetime | None:
    """An ISO 8601 time in UTC; None for anything else, whose day alone may still be readable."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


def _from_timestamp(value: float) -> date | None:
    seconds = value / 1000 if abs(value) > 1e11 else value  # OpenReview gives milliseconds
    if not 1e8 < seconds < 3.2e10:  # smaller numbers are years or counters
        return None
    return datetime.fromtimestamp(seconds, UTC).date()


# --- links -----------------------------------------------------------------------------------------------------------

_URL = re.compile(
    r"https?://[^\s\0-\x1f<>\"'()\[\]{}|\\^`]+(?:\([^\s()]*\)[^\s\0-\x1f<>\"'()\[\]{}|\\^`]*)*", re.IGNORECASE
)
_BARE_HOST = re.compile(
    r"(?:www\.|(?:[\w-]+\.)*(?:github|gitlab|huggingface)\.(?:com|co|io)/)[^\s\0-\x1f<>\"'()\[\]{}|\\^`]+", re.ASCII
)
_VALID = re.compile(r"https?://(?:[^\s/@?#]+@)?[^\s/@?#.]+(?:\.[^\s/@?#.]+)+(?:[/?#]\S*)?", re.IGNORECASE)
_CODE = re.compile(
    r"https?://(?:www\.)?(?:(?:github|gitlab)\.com|bitbucket\.org|codeberg\.org|gitee\.com)/[\w.-]+/[\w.-]+"
    r"|https?://(?:www\.)?huggingface\.co/(?!papers/|blog/|docs/|join)(?:datasets/|spaces/)?[\w.-]+/[\w.-]+",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(
    r"(?:https?://)?(?:www\.)?(?:github|gitlab)\.com/[\w.-]+/[\w-]+(?:\.[\w-]+)*", re.IGNORECASE | re.ASCII
)
_KINDS = {
    "pdf": LinkKind.PDF,
    "pdf_url": LinkKind.PDF,
    "github": LinkKind.CODE,
    "code": LinkKind.CODE,
    "repo": LinkKind.CODE,
    "repository": LinkKind.CODE,
    "project": LinkKind.PROJECT,
    "project_page": LinkKind.PROJECT,
    "website": LinkKind.PROJECT,
    "demo": LinkKind.PROJECT,
}


def url_in(text: str) -> str | None:
    """The first http(s) address in a text (which may be Markdown), or one that only lacks its ``https://``."""
    match = _URL.search(text)
    url = match[0] if match else None
    if url is None and (bare := _BARE_HOST.match(text)):
        url = f"https://{bare[0]}"
    if url is None:
        return None
    url = url.rstrip(".,;:!?*")
    return url if len(url) <= 2000 and _VALID.fullmatch(url) else None


def link_of(name: str, value: str) -> Link | None:
    """A link by the name it stood under and by where it leads; None if it is no http(s) address."""
    url = url_in(value)
    if url is None:
        return None
    kind = _KINDS.get(name.lower(), LinkKind.PAGE)
    if _CODE.match(url):
        kind = LinkKind.CODE
    elif kind is LinkKind.CODE:
        kind = LinkKind.PROJECT  # a "github" link that leads to a page (github.io, a demo) is no repository
    elif kind is LinkKind.PAGE and url.lower().split("?")[0].endswith(".pdf"):
        kind = LinkKind.PDF
    return Link(kind, url)


def named_links(value: Any, default: str = "url") -> Iterator[tuple[str, str]]:
    """(name, text) of links given as a mapping, a list of ``{kind, url}`` or of addresses, or one address."""
    if isinstance(value, str):
        yield default, value
    elif isinstance(value, Mapping):
        target = value.get("url") or value.get("href")
        if isinstance(target, str):
            yield str(value.get("kind") or value.get("type") or value.get("rel") or default), target
        else:
            for name, inner in value.items():
                if isinstance(inner, str):
                    yield str(name), inner
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, (str, Mapping)):
                yield from named_links(inner, default)


def code_links(text: str) -> Iterator[Link]:
    """Repositories on GitHub and GitLab that a comment or an abstract names."""
    if "github.com/" not in text and "gitlab.com/" not in text:
        return
    for match in _IN_TEXT.finditer(text.replace("\\_", "_")):
        address = match[0].split("://")[-1].removesuffix(".git")
        yield Link(LinkKind.CODE, f"https://{address}")


# --- areas -----------------------------------------------------------------------------------------------------------

_ARXIV_CATEGORY = re.compile(r"([a-z]+(?:-[a-z]+)?)(?:\.([A-Za-z-]{2,}))?")
_BRACKETED = re.compile(r"\[([^\]]+)\]\s*(\S.*)")
_ARROW = re.compile(r"\s*(?:->|→|»|·|•|::)\s*")
_LOWER_PATH = re.compile(r"([a-z][a-z_ -]{2,})/([a-z][a-z_ -]{2,})")


_SMALL_WORDS = re.compile(r"\b(And|Of|For|In|On|The|To|With)\b")


def _label(text: str) -> str:
    """A label as it is shown; what is all lower case, as in a path or in snake case, gets capitals."""
    text = text.strip(" -/")
    if "_" in text:
        text = " ".join(text.replace("_", " ").split())
    if not text.islower():
        return text
    return _SMALL_WORDS.sub(lambda word: word[0].lower(), text.title())


@lru_cache(maxsize=4096)
def area_of(text: str) -> Area | None:
    """An area as venues write it.

    ``Theory · Learning Theory``, ``deep_learning->theory`` and ``applications/health`` hold two levels, as does
    ``[Content] Media Interpretation``; ``Health / Medicine`` is one label.
    """
    text = text.strip()
    if match := _BRACKETED.fullmatch(text) or _LOWER_PATH.fullmatch(text):
        return Area(_label(match[1]), _label(match[2]))
    parts = [label for part in _ARROW.split(text, maxsplit=1) if (label := _label(part))]
    return Area(*parts) if parts else None


@lru_cache(maxsize=4096)
def category_area(text: str) -> Area | None:
    """An arXiv category (https://arxiv.org/category_taxonomy): ``cs.LG`` lies in ``cs``; ``quant-ph`` is whole."""
    match = _ARXIV_CATEGORY.fullmatch(text)
    if not match:
        return area_of(text)
    return Area(match[1], text) if match[2] else Area(text)


def areas_of(value: Any) -> Iterator[Area]:
    """Areas from a list of ``{name, subarea}`` or of texts, or from one text."""
    items: Iterable[Any] = value if isinstance(value, list) else (value,)
    for item in items:
        if isinstance(item, dict) and "name" in item:
            name = text_of(item["name"], "areas")
            if name:
                yield Area(name, text_of(item.get("subarea"), "areas"))
        elif found := area_of(text_of(item, "areas")):
            yield found
