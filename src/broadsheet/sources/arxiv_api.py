"""arXiv's API, by ids and by words: Atom from https://export.arxiv.org/api/query.

``published`` is the day of version 1, ``updated`` that of the version shown; both become versions, in UTC. The API
answers faults as a feed with one entry called "Error", which is never a paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from broadsheet.errors import FetchError, InputError, ThrottledError
from broadsheet.model import Refusal, SourceState, Version
from broadsheet.sources.arxiv_query import search_query
from broadsheet.sources.arxiv_record import KNOWN, arxiv_id, moment_of, newest_id, record_of
from broadsheet.sources.arxiv_xml import Document, Element, children, first, read_document, source_of, text_in
from broadsheet.sources.base import Entry, Page

if TYPE_CHECKING:
    from broadsheet.net import Client, Response

ADDRESS = "https://export.arxiv.org/api/query"
KIND = "api"
SORTS = ("relevance", "submittedDate", "lastUpdatedDate")
BATCH = 100
"""Papers in one request."""
MOST = 30_000
"""Results of one query that the API can page through."""
_TOTAL = re.compile(rb"<(?:\w+:)?totalResults[^>]*>\s*(\d{1,9})\s*<")


def parse_api(url: str, body: bytes) -> Iterator[Entry]:
    """The papers of an answer; what the API says of a fault is a refusal. Raises InputError if it is no Atom feed."""
    for entry in _document(url, body).entries:
        yield entry if isinstance(entry, Refusal) else _entry(entry, url)


def _document(url: str, body: bytes) -> Document:
    return read_document(body, url, "feed", "entry")


def _entry(entry: Element, url: str) -> Entry:
    found = children(entry)
    line = entry.sourceline or 0
    address = first(found, "id")
    if "/api/errors" in address:
        return Refusal(url, line, f"arXiv refused the request: {first(found, 'summary') or 'it gave no reason'}")
    parsed = arxiv_id(address)
    if parsed is None:
        return Refusal(url, line, f"id {address!r}: no arXiv id")
    if not first(found, "title"):
        return Refusal(url, line, f"{parsed[0]}: no title")
    published, updated = _day(first(found, "published")), _day(first(found, "updated"))
    authors = [children(author) for author in found.get("author", ())]
    primary = [element.get("term") or "" for element in found.get("primary_category", ())]
    categories = [element.get("term") or "" for element in found.get("category", ())]
    return record_of(
        source=KNOWN,
        key=parsed[0],
        raw=source_of(entry),
        title=first(found, "title"),
        abstract=first(found, "summary"),
        authors=[first(author, "name") for author in authors],
        affiliations=[", ".join(text_in(place) for place in author.get("affiliation", ())) for author in authors],
        categories=[category for category in (*primary, *categories) if category],
        doi=first(found, "doi"),
        comment=first(found, "comment"),
        journal_ref=first(found, "journal_ref"),
        versions=_versions(parsed[1], published, updated),
        published=published,
    )


def _day(text: str) -> date | None:
    moment = moment_of(text)
    return moment.date() if moment else None


def _versions(number: int | None, published: date | None, updated: date | None) -> tuple[Version, ...]:
    """The first version and the one shown; the API says nothing of those between."""
    if number is None:
        return ()
    return (Version(1, published),) if number == 1 else (Version(1, published), Version(number, updated))


# --- asking ----------------------------------------------------------------------------------------------------------


def by_ids(client: Client, ids: Sequence[str]) -> Iterator[Page]:
    """The papers of these ids (any form; a version asks for that version), ``BATCH`` a request.

    Ids that arXiv does not know are named in ``remark``. Raises InputError for what is no arXiv id, before anything is
    asked, since one of them spoils a whole request; FetchError.
    """
    wanted = list(dict.fromkeys(_plain(text) for text in ids))
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        asked = {"id_list": ",".join(batch), "max_results": str(len(batch))}
        response = _get(client, asked)
        known = set(_ids(_read(response)))
        lost = [value for value in batch if (found := arxiv_id(value)) and found[0] not in known]
        remark = f"arXiv does not know {', '.join(lost)}." if lost else ""
        yield Page(response.url, response.body, "", remark, newest=newest_id(known), kind=KIND)


def _plain(text: str) -> str:
    found = arxiv_id(text)
    if found is None:
        raise InputError(f"{text!r} is no arXiv id; write it as 2401.12345 or quant-ph/0112019")
    return f"{found[0]}v{found[1]}" if found[1] else found[0]


def by_query(
    client: Client,
    words: str,
    *,
    categories: Sequence[str] = (),
    since: date | None = None,
    until: date | None = None,
    updated_since: date | None = None,
    any_word: bool = False,
    sort: str = "relevance",
    limit: int = BATCH,
    start: int = 0,
) -> Iterator[Page]:
    """Up to ``limit`` papers that match, from the ``start``-th on; ``arxiv_query`` says what words and days mean.

    The cursor of a page is the ``start`` of the next. An empty page in the middle is asked for again; if it stays empty
    the last page is INCOMPLETE and its cursor does not move on. Raises InputError for arguments that cannot be asked,
    FetchError.
    """
    if limit <= 0 or start < 0 or start + limit > MOST:
        raise InputError(f"arXiv: limit {limit} from {start}: must be at least 1, and no more than {MOST} in all")
    if sort not in SORTS:
        raise InputError(f"arXiv: sort {sort!r}: must be one of {', '.join(SORTS)}")
    query = search_query(
        words, categories=categories, since=since, until=until, updated_since=updated_since, any_word=any_word
    )
    return _pages(client, {"search_query": query, "sortBy": sort, "sortOrder": "descending"}, start, start + limit)


def _pages(client: Client, asked: dict[str, str], start: int, end: int) -> Iterator[Page]:
    at = start
    while True:
        hole = _Hole(at)
        paged = {**asked, "start": str(at), "max_results": str(min(BATCH, end - at))}
        try:
            response = _get(client, paged, hole)
        except ThrottledError as error:
            if not hole.total:
                raise
            remark = (
                f"incomplete: {at} of {min(hole.total, end)}; arXiv gives an empty page, the rest is left for later."
            )
            yield Page(error.url, b"", str(at), remark, SourceState.INCOMPLETE, kind=KIND)
            return
        document = _read(response)
        got = len(document.entries)
        nothing = not got and at == start
        at += got
        state = SourceState.QUIET if nothing else SourceState.OK
        remark = "arXiv has no paper that matches." if nothing else ""
        yield Page(response.url, response.body, str(at), remark, state, newest_id(_ids(document)), kind=KIND)
        if not got or at >= min(_total(response.body), end):
            return


class _Hole:
    """Tells a page that is empty though there are results beyond it, which asking again may fill."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.total = 0

    def __call__(self, response: Response) -> bool:
        total = _total(response.body)
        empty = b"<entry" not in response.body and total > self.start
        if empty:
            self.total = total
        return empty


def _total(body: bytes) -> int:
    """``totalResults``; 0 where there is none."""
    match = _TOTAL.search(body)
    return int(match[1]) if match else 0


def _get(client: Client, asked: dict[str, str], hole: _Hole | None = None) -> Response:
    try:
        return client.get(ADDRESS, params=asked, throttled=hole)
    except FetchError as error:
        if error.status != 400:
            raise
        what = asked.get("search_query") or asked.get("id_list")
        raise FetchError(f"arXiv refuses {what!r} (400)", url=error.url, status=400) from error


def _read(response: Response) -> Document:
    try:
        return _document(response.url, response.body)
    except InputError as error:
        raise FetchError(str(error), url=response.url, status=response.status) from error


def _ids(document: Document) -> list[str]:
    texts = (text_in(entry.find("{*}id")) for entry in document.entries if not isinstance(entry, Refusal))
    return [found[0] for text in texts if (found := arxiv_id(text))]
