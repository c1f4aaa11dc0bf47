"""arXiv's metadata by day of change: OAI-PMH 2.0 at https://oaipmh.arxiv.org/oai (https://info.arxiv.org/help/oa/).

``arXivRaw`` has the dates of all versions, ``arXiv`` the names of the authors in parts; both are read. A window of days
is harvested page by page. A resumption token lives a day at most: when one is refused, the harvest goes on from the
last day that it saw, and what comes twice does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from broadsheet.errors import FetchError, InputError
from broadsheet.model import Refusal, SourceState, Version
from broadsheet.sources.arxiv_record import KNOWN, arxiv_id, moment_of, newest_id, record_of, split_people
from broadsheet.sources.arxiv_xml import Document, Element, children, first, read_document, source_of, text_in
from broadsheet.sources.base import Entry

if TYPE_CHECKING:
    from broadsheet.net import Client

ADDRESS = "https://oaipmh.arxiv.org/oai"
_OWN_GROUP = frozenset(("cs", "econ", "eess", "math", "q-bio", "q-fin", "stat"))


def set_of(category: str) -> str:
    """The set of a category or archive: ``cs:cs:LG``, ``physics:hep-th``, ``physics:cond-mat:str-el``."""
    archive, _, subclass = category.partition(".")
    group = archive if archive in _OWN_GROUP else "physics"
    return ":".join(filter(None, (group, archive, subclass)))


# --- one answer ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What must be known of an answer to go on. ``first`` and ``last`` are days of change; None if there are none."""

    token: str
    error: str
    message: str
    records: int
    newest: str
    first: date | None
    last: date | None
    rising: bool
    whole: bool
    ids: tuple[str, ...]


def read_answer(url: str, body: bytes) -> Answer:
    """Raises InputError if it is no OAI-PMH document."""
    document = _document(url, body)
    records = [record for record in document.entries if not isinstance(record, Refusal)]
    ids = tuple(text_in(record.find("{*}header/{*}identifier")) for record in records)
    days = [day for record in records if (day := _day(text_in(record.find("{*}header/{*}datestamp"))))]
    code = document.attribute("error", "code")
    return Answer(
        token=document.field("resumptionToken"),
        error="" if code is None else code or "error",
        message=document.field("error"),
        records=len(document.entries),
        newest=newest_id(found[0] for value in ids if (found := arxiv_id(value))),
        first=min(days, default=None),
        last=max(days, default=None),
        rising=days == sorted(days),
        whole=document.whole,
        ids=ids,
    )


def _document(url: str, body: bytes) -> Document:
    return read_document(body, url, "OAI-PMH", "record")


def _day(text: str) -> date | None:
    moment = moment_of(text)
    return moment.date() if moment else None


def parse_oai(url: str, body: bytes) -> Iterator[tuple[Entry, date | None]]:
    """The papers of an answer with the day on which each was changed; what was deleted is a refusal.

    Raises InputError if it is no OAI-PMH document.
    """
    document = _document(url, body)
    code = document.attribute("error", "code")
    if code not in (None, "noRecordsMatch"):
        yield Refusal(url, 0, f"{code or 'error'}: {document.field('error') or 'the service gave no reason'}"), None
    for record in document.entries:
        if isinstance(record, Refusal):
            yield record, None
        else:
            yield _entry(record, url), _day(text_in(record.find("{*}header/{*}datestamp")))


def _entry(record: Element, url: str) -> Entry:
    line = record.sourceline or 0
    header = record.find("{*}header")
    named = text_in(record.find("{*}header/{*}identifier"))
    if header is not None and header.get("status") == "deleted":
        return Refusal(url, line, f"{named or 'a record without identifier'}: deleted at the source")
    metadata = record.find("{*}metadata")
    about = next((child for child in metadata if isinstance(child.tag, str)), None) if metadata is not None else None
    if about is None:
        return Refusal(url, line, f"{named or 'a record'}: no metadata")
    found = children(about)
    parsed = arxiv_id(first(found, "id")) or arxiv_id(named)
    if parsed is None:
        return Refusal(url, line, f"{named or 'a record'}: not a paper of arXiv; ask for metadataPrefix arXivRaw")
    if not first(found, "title"):
        return Refusal(url, line, f"{parsed[0]}: no title")
    versions, emptied = _versions(found)
    names, places = _authors(found)
    return record_of(
        source=KNOWN,
        key=parsed[0],
        raw=source_of(record),
        title=first(found, "title"),
        abstract=first(found, "abstract"),
        authors=names,
        affiliations=places,
        categories=first(found, "categories").split(),
        doi=first(found, "doi"),
        comment=first(found, "comments"),
        journal_ref=first(found, "journal-ref"),
        versions=versions,
        published=next((version.day for version in versions if version.number == 1), None),
        emptied=emptied,
        details=tuple((name, first(found, name)) for name in ("report-no", "msc-class", "acm-class", "license")),
    )


def _versions(found: dict[str, list[Element]]) -> tuple[tuple[Version, ...], bool]:
    """The versions, and whether the newest has no files: of size zero, or marked as ignored (``I``) by arXiv.

    The format ``arXiv`` names only the days of the first and of the newest version, whose number it does not say.
    """
    versions: dict[int, tuple[Version, bool]] = {}
    for element in found.get("version", ()):
        number = (element.get("version") or "").removeprefix("v")
        if number.isascii() and number.isdigit():
            parts = children(element)
            empty = first(parts, "size").lower() in ("0kb", "0b", "0") or "I" in first(parts, "source_type")
            versions[int(number)] = Version(int(number), _day(first(parts, "date"))), empty
    if not versions and (created := _day(first(found, "created"))):
        return (Version(1, created),), False
    ordered = [versions[number] for number in sorted(versions)]
    return tuple(version for version, _ in ordered), bool(ordered) and ordered[-1][1]


def _authors(found: dict[str, list[Element]]) -> tuple[list[str], list[str]]:
    """Names, given name first, and affiliations: of elements (format ``arXiv``) or of one line (``arXivRaw``)."""
    names: list[str] = []
    places: list[str] = []
    for line in found.get("authors", ()):
        people = [children(author) for author in line if isinstance(author.tag, str)]
        if people:
            for parts in people:
                whole = " ".join(filter(None, (first(parts, name) for name in ("forenames", "keyname", "suffix"))))
                names.append(whole)
                places.append(", ".join(text_in(place) for place in parts.get("affiliation", ())))
        else:
            told = split_people(text_in(line))
            names.extend(told[0])
            places.extend(told[1])
    return names, places


# --- a window of days ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """Days of change that are still to be harvested; ``token`` where a page has been had. ``until`` is included.

    ``reached`` is the last day seen, as long as the days only rose: from there on it can be asked for again.
    """

    since: date
    until: date
    token: str = ""
    reached: date | None = None
    rising: bool = True

    def again(self) -> Window:
        """The same without its token, from the day it had reached."""
        return Window(self.reached if self.rising and self.reached else self.since, self.until)

    def until_later(self, until: date) -> Window:
        """The same up to a later day; a token holds for the days that it was given for, so it is let go."""
        return self if until <= self.until else replace(self.again(), until=until)

    def after(self, answer: Answer) -> Window:
        """Once an answer's records are stored."""
        rising = self.rising and answer.rising and not (self.reached and answer.first and answer.first < self.reached)
        return replace(self, token=answer.token, rising=rising, reached=answer.last or self.reached)


@dataclass(frozen=True, slots=True)
class Harvested:
    """One answer of a harvest, and the window that is left once it is stored (None: it is complete)."""

    url: str
    body: bytes
    answer: Answer
    left: Window | None
    state: SourceState = SourceState.OK
    remark: str = ""


def harvest(client: Client, set_name: str, window: Window, prefix: str = "arXivRaw") -> Iterator[Harvested]:
    """The pages of a window. Raises FetchError for what could not be had, or where the service refuses.

    A harvest that cannot be finished now ends with a page whose state is INCOMPLETE and that says why.
    """
    tokens: set[str] = set()
    pages: set[tuple[str, ...]] = set()
    renewed: date | None = None
    left: Window | None = window
    while left is not None:
        window = left
        response = client.get(ADDRESS, params=_asked(window, set_name, prefix))
        answer = _understood(response.url, response.body)
        if answer.error == "badResumptionToken" and window.token:
            left = window.again()
            if renewed and left.since <= renewed:
                remark = f"incomplete: the service refuses its own tokens before {left.since} is through."
                yield Harvested(response.url, b"", answer, left, SourceState.INCOMPLETE, remark)
                return
            renewed = left.since
            tokens.clear()
            pages.clear()
            continue
        if answer.error == "noRecordsMatch":
            remark = f"arXiv changed nothing in {set_name} from {window.since} to {window.until}."
            yield Harvested(response.url, response.body, answer, None, SourceState.QUIET, remark)
            return
        if answer.error:
            said = f"{answer.error}: {answer.message or 'no reason given'}"
            raise FetchError(f"{ADDRESS} refuses the set {set_name}: {said}", url=response.url, status=response.status)
        why = _cut_short(answer, tokens, pages)
        if why:
            remark = f"incomplete: {why}; the rest is asked for again from {window.again().since}."
            yield Harvested(response.url, response.body, answer, window.again(), SourceState.INCOMPLETE, remark)
            return
        tokens.add(answer.token)
        pages.add(answer.ids)
        left = window.after(answer) if answer.token else None
        yield Harvested(response.url, response.body, answer, left)


def _asked(window: Window, set_name: str, prefix: str) -> dict[str, str]:
    if window.token:
        return {"verb": "ListRecords", "resumptionToken": window.token}
    days = {"from": window.since.isoformat(), "until": window.until.isoformat()}
    return {"verb": "ListRecords", "metadataPrefix": prefix, "set": set_name, **days}


def _understood(url: str, body: bytes) -> Answer:
    try:
        return read_answer(url, body)
    except InputError as error:
        raise FetchError(f"{error}", url=url, status=200) from error


def _cut_short(answer: Answer, tokens: set[str], pages: set[tuple[str, ...]]) -> str:
    """Why the harvest must not go on with this answer; empty if it may."""
    if not answer.whole and not answer.token:
        return "the answer breaks off"
    if answer.token and answer.token in tokens:
        return "the service gives the same resumption token again"
    if answer.ids and answer.ids in pages:
        return "the service gives the same page again"
    return ""
