"""Request parameters of pages and API: one table, one parser, one kind of error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import QueryParams

from ..errors import InputError, NotFoundError

FOR_YOU = "for-you"
SORTS = ("relevance", "newest", "oldest", FOR_YOU)
NEAR_SORTS = ("relevance", FOR_YOU)
FACETS = ("venue", "area", "subarea", "year", "code")
MAX_QUERY = 32_000  # characters; a URL of an HTTP server ends at 64 KiB
MAX_PAGE = 10_000  # deeper pages are clamped to it, and then to the last one
MAX_PAGE_SIZE = 200
MAX_FACET_VALUES = 50
MAX_FACET_LENGTH = 500
MAX_IDS = 500
MAX_ID = 2**63 - 1  # a database's integer
MAX_ID_DIGITS = 18
UNDATED = "undated"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\ufeff]+")
_DIGITS = re.compile(r"[0-9]+")


class _NumberConvertor(IntegerConvertor):
    """``{name:number}`` in an address: no more digits than the number of anything in a database can have."""

    regex = f"[0-9]{{1,{MAX_ID_DIGITS}}}"


register_url_convertor("number", _NumberConvertor())


class ParameterError(InputError):
    """A request parameter has a value that cannot be used."""

    def __init__(self, name: str, message: str):
        super().__init__(f"{name}: {message}")
        self.name = name


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What a reader asked for. ``facets`` holds chosen values by facet, without empty entries."""

    text: str
    page: int = 1
    sort: str = "relevance"
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    page_size: int | None = None

    @property
    def empty(self) -> bool:
        """Whether the question has no letter or digit and chooses nothing, and so asks for nothing."""
        return not self.facets and not any(character.isalnum() for character in self.text)

    def url(self, path: str = "/search") -> str:
        """The stable address of this request: parameters in one order, defaults left out."""
        pairs = [("q", self.text)]
        pairs += [(name, value) for name in FACETS for value in self.facets.get(name, ())]
        if self.sort != "relevance":
            pairs.append(("sort", self.sort))
        if self.page_size is not None:
            pairs.append(("page_size", str(self.page_size)))
        if self.page != 1:
            pairs.append(("page", str(self.page)))
        return f"{path}?{urlencode(pairs)}"

    def export_url(self, ending: str) -> str:
        """The address of all results as a file."""
        return replace(self, page=1, page_size=None, sort="relevance").url(f"/search.{ending}")

    def feed_url(self) -> str:
        """The address of this question's feed, which has its newest papers first."""
        return replace(self, page=1, page_size=None, sort="relevance").url("/search.atom")

    def as_query(self) -> str:
        """This request in the reader's syntax alone, with the chosen facets as fields; empty where nothing is asked."""
        if self.empty:
            return ""
        chosen = [_as_fields(name, self.facets[name]) for name in FACETS if name in self.facets]
        return " ".join(part for part in (self.text, *chosen) if part)

    def at(self, page: int) -> SearchRequest:
        """The same request at another page."""
        return replace(self, page=page)

    def sorted_by(self, sort: str) -> SearchRequest:
        """The same request in another order, from the first page."""
        return replace(self, sort=sort, page=1)

    def chosen(self, name: str, value: str) -> bool:
        """Whether a facet's value is chosen."""
        return value in self.facets.get(name, ())

    def toggled(self, name: str, value: str) -> SearchRequest:
        """The same request with a facet's value chosen, or no longer chosen, from the first page."""
        old = self.facets.get(name, ())
        new = tuple(v for v in old if v != value) if value in old else (*old, value)
        facets = {key: values for key, values in {**self.facets, name: new}.items() if values}
        return replace(self, facets=facets, page=1)

    def cleared(self) -> SearchRequest:
        """The same question without facets."""
        return replace(self, facets={}, page=1)


def _as_fields(name: str, values: Iterable[str]) -> str:
    """A facet's values in the reader's syntax: ``(venue:"ICML" OR venue:"ICLR")``."""
    parts = [_as_field(name, value.replace('"', " ")) for value in values]
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def _as_field(name: str, value: str) -> str:
    if name == "code":
        return "has:code" if value == "yes" else "-has:code"
    if name == "subarea":
        return f'cat:"{value.rpartition(" · ")[2]}"'
    return f"year:{value}" if name == "year" else f'{name}:"{value}"'


def clean(text: str) -> str:
    """Pasted text without control characters and zero-width marks, trimmed."""
    return _CONTROL.sub(" ", text).strip()


def whole_number(name: str, text: str, *, low: int, high: int, clamp: bool = False) -> int:
    """A whole number in [low, high]; above ``high`` it is refused, or cut to ``high`` with ``clamp``.

    Raises ParameterError naming the parameter and its range.
    """
    text = text.strip()
    span = f"from {low} to {high}" if high < MAX_ID else f"from {low} on"
    if not _DIGITS.fullmatch(text):
        raise ParameterError(name, f"must be a whole number {span}, not {text[:40]!r}")
    value = high + 1 if len(text.lstrip("0")) > len(str(high)) else int(text)
    if clamp:
        value = min(value, high)
    if not low <= value <= high:
        if value > high >= MAX_ID:
            raise ParameterError(name, f"{text[:40]} is larger than any number here")
        raise ParameterError(name, f"must be {span}, not {text[:40]}")
    return value


def one_of(name: str, text: str, choices: Iterable[str]) -> str:
    """A word from a list; raises ParameterError naming the list."""
    if text not in (known := tuple(choices)):
        raise ParameterError(name, f"must be one of {', '.join(known)}, not {text[:40]!r}")
    return text


def near_order(params: QueryParams, otherwise: str = FOR_YOU) -> str:
    """The order of the papers similar to one: ``relevance`` or ``for-you``. Raises ParameterError."""
    return one_of("sort", clean(params.get("sort", "")) or otherwise, NEAR_SORTS)


def parse_text(params: QueryParams) -> str:
    """The question, cleaned; empty where none was given. Raises ParameterError where it is too long."""
    text = clean(params.get("q", ""))
    if len(text) > MAX_QUERY:
        raise ParameterError("q", f"has {len(text):,} characters; at most {MAX_QUERY:,} can be searched for at once")
    return text


def _facet_values(name: str, params: QueryParams) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(v for raw in params.getlist(name) if (v := clean(raw))))
    if len(values) > MAX_FACET_VALUES:
        raise ParameterError(name, f"at most {MAX_FACET_VALUES} values can be chosen at once")
    for value in values:
        if len(value) > MAX_FACET_LENGTH:
            raise ParameterError(name, f"a value may have at most {MAX_FACET_LENGTH} characters")
        if name == "code":
            one_of(name, value, ("yes", "no"))
        if name == "year":
            whole_number(name, value, low=0, high=9999)
    return values


def parse_search(params: QueryParams) -> SearchRequest:
    """The request that a query string asks for; unknown parameters are let be.

    Raises ParameterError. A page above ``MAX_PAGE`` is cut to it: the caller sends the reader on to the last page.
    """
    facets = {name: values for name in FACETS if (values := _facet_values(name, params))}
    size = params.get("page_size")
    return SearchRequest(
        text=parse_text(params),
        page=whole_number("page", params.get("page") or "1", low=1, high=MAX_PAGE, clamp=True),
        sort=one_of("sort", params.get("sort") or "relevance", SORTS),
        facets=facets,
        page_size=None if not size else whole_number("page_size", size, low=1, high=MAX_PAGE_SIZE),
    )


def parse_asked(params: QueryParams) -> SearchRequest:
    """``parse_search`` where there must be a question. Raises ParameterError."""
    asked = parse_search(params)
    if asked.empty:
        raise ParameterError("q", "must not be empty; say in letters or digits what to search for")
    return asked


def parse_form(params: QueryParams, known: Iterable[str]) -> str:
    """The parameter ``form``."""
    return one_of("form", params.get("form", ""), known)


def parse_references(params: QueryParams) -> list[int | str]:
    """The parameter ``id``, which may be repeated: papers as ``paper_reference`` gives them."""
    given = [value for raw in params.getlist("id") if (value := clean(raw))]
    if len(given) > MAX_IDS:
        raise ParameterError("id", f"at most {MAX_IDS} papers can be named at once; ask for them by a search with q")
    if given and not parse_search(params).empty:
        raise ParameterError("id", "cannot be given together with q; ask for one of the two")
    return [paper_reference(value) for value in given]


def parse_limit(params: QueryParams, *, default: int, high: int) -> int:
    """The parameter ``limit``."""
    return whole_number("limit", params.get("limit") or str(default), low=1, high=high)


def parse_day(name: str, text: str) -> date:
    """A day written as 2025-06-30. Raises ParameterError."""
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise ParameterError(name, f"must be a day such as 2025-06-30, not {text[:40]!r}") from None


def parse_before(params: QueryParams) -> tuple[date | None, int] | None:
    """The parameter ``before``, a place in the list of newest papers: ``2025-06-30.1234``, or ``undated.1234``."""
    text = params.get("before")
    if not text:
        return None
    day, _, number = text.partition(".")
    found = None if day == UNDATED else parse_day("before", day)
    return found, whole_number("before", number, low=0, high=MAX_ID)


def before_of(day: date | None, paper_id: int) -> str:
    """The value of ``before`` that goes on after a paper."""
    return f"{day.isoformat() if day else UNDATED}.{paper_id}"


def paper_reference(text: str) -> int | str:
    """A paper as asked for in an address: its number, or an identifier such as ``arXiv:2506.18020`` or a DOI.

    Only the identifier's outside is cleaned here; the library reads it with the one parser of identifiers.
    Raises NotFoundError for a number that no database holds.
    """
    text = clean(text)
    if not _DIGITS.fullmatch(text):
        return text
    if len(text) > MAX_ID_DIGITS:
        raise NotFoundError(f"There is no paper {text[:30]} in this library.")
    return int(text)


def _parameter(name: str, schema: Mapping[str, Any], description: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "description": description, "schema": dict(schema)}


SORT_HELP = (
    "Order of the results. `for-you` puts the first 200 in the order of relevance and of the reader's memory together; "
    "where others than this machine can ask, it needs the reader's secret."
)


def _many(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(schema), "maxItems": MAX_FACET_VALUES}


SEARCH_PARAMETERS = [
    _parameter("q", {"type": "string", "maxLength": MAX_QUERY}, "The question, in English or Chinese.", required=True),
    _parameter("page", {"type": "integer", "minimum": 1, "default": 1}, "Page of results, from 1."),
    _parameter("page_size", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE}, "Results on a page."),
    _parameter("sort", {"type": "string", "enum": list(SORTS), "default": "relevance"}, SORT_HELP),
    _parameter("venue", _many({"type": "string"}), "Only papers of these venues; may be repeated."),
    _parameter("area", _many({"type": "string"}), "Only papers of these areas; may be repeated."),
    _parameter("subarea", _many({"type": "string"}), "Only these subareas, as `Area · Subarea`; may be repeated."),
    _parameter("year", _many({"type": "integer"}), "Only papers of these years; may be repeated."),
    _parameter("code", _many({"type": "string", "enum": ["yes", "no"]}), "Only papers with, or without, known code."),
]
_PAGING = ("page", "page_size", "sort")
EXPORT_PARAMETERS = [
    *({**p, "required": False} for p in SEARCH_PARAMETERS if p["name"] not in _PAGING),
    _parameter(
        "id",
        {"type": "array", "items": {"type": "string"}, "maxItems": MAX_IDS},
        "Instead of a question: papers by number or any identifier; may be repeated.",
    ),
]


NEAR_PARAMETER = _parameter(
    "sort",
    {"type": "string", "enum": list(NEAR_SORTS), "default": "relevance"},
    "By nearness alone, or `for-you`: the nearest 200 in the order of nearness and of the reader's memory together; "
    "where others than this machine can ask, it needs the reader's secret.",
)


def form_parameter(known: Iterable[str]) -> dict[str, Any]:
    """OpenAPI description of ``form``."""
    return _parameter("form", {"type": "string", "enum": list(known)}, "The form of the file.", required=True)


def limit_parameter(default: int, high: int) -> dict[str, Any]:
    """OpenAPI description of ``limit``."""
    return _parameter("limit", {"type": "integer", "minimum": 1, "maximum": high, "default": default}, "How many.")


BEFORE_PARAMETER = _parameter(
    "before", {"type": "string", "examples": ["2025-06-30.1234"]}, "Go on from here: the `next` of the last answer."
)
