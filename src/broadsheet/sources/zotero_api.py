"""A Zotero library online, by its API, version 3 (https://www.zotero.org/support/dev/web_api/v3/basics).

Each change of a library gives it a new version. The cursor is the version up to which everything was read: the next
time only items that changed since are asked for, and nothing if the library did not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from broadsheet.errors import FetchError, SettingsError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import Identifier, Link, Record, SourceState
from broadsheet.sources.answers import entries_of, fields_of, load_json, raw_of, read_cursor, write_cursor
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.enrichment import identifiers_in, names_of
from broadsheet.sources.notices import without_mark
from broadsheet.sources.values import FieldError, code_links, date_of, link_of, text_of, texts_of, year_of

if TYPE_CHECKING:
    from broadsheet.net import Client, Response
    from broadsheet.sources.catalogue import Options

_API = "https://api.zotero.org"
_PAGE = 100
_MOST_REREADINGS = 20
_LIBRARY = re.compile(r"(?P<library>(?:users|groups)/\d{1,12})(?:/collections/(?P<collection>[A-Z0-9]{8}))?")
_NO_PAPERS = frozenset(("attachment", "note", "annotation"))
KINDS = {
    "journalArticle": "article",
    "magazineArticle": "article",
    "newspaperArticle": "article",
    "conferencePaper": "inproceedings",
    "bookSection": "incollection",
    "encyclopediaArticle": "inreference",
    "dictionaryEntry": "inreference",
    "book": "book",
    "thesis": "thesis",
    "report": "report",
    "patent": "patent",
    "manuscript": "unpublished",
    "presentation": "unpublished",
    "preprint": "online",
    "webpage": "online",
    "blogPost": "online",
    "forumPost": "online",
    "computerProgram": "software",
    "dataset": "dataset",
}
"""Types of items as BibLaTeX entry types; every other one is ``misc``."""
_NOT_AUTHORS = frozenset(
    ("editor", "seriesEditor", "translator", "contributor", "reviewedAuthor", "bookAuthor", "recipient", "commenter")
)
_VENUES = (
    "publicationTitle",
    "proceedingsTitle",
    "bookTitle",
    "encyclopediaTitle",
    "dictionaryTitle",
    "conferenceName",
)
_DETAILS = (
    ("volume", ("volume",)),
    ("number", ("issue", "reportNumber", "number", "patentNumber")),
    ("pages", ("pages",)),
    ("publisher", ("publisher",)),
    ("institution", ("institution",)),
    ("school", ("university",)),
    ("address", ("place",)),
    ("edition", ("edition",)),
    ("series", ("series", "seriesTitle")),
    ("isbn", ("ISBN",)),
    ("issn", ("ISSN",)),
    ("eventtitle", ("conferenceName", "meetingName")),
    ("type", ("thesisType", "reportType", "genre")),
    ("language", ("language",)),
    ("citekey", ("citationKey",)),
    ("date", ("date",)),
    ("note", ("extra",)),
)
_EXTRA = re.compile(r"^\s*(arXiv|DOI|PMID|Citation Key)\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ZoteroLibrary:
    """A person's or a group's library, or one collection of it. ``key`` is a secret."""

    library: str
    collection: str = ""
    key: str = field(default="", repr=False)
    kind: ClassVar[str] = "zotero"
    usage: ClassVar[str] = "zotero:users/NUMBER or zotero:groups/NUMBER, and /collections/KEY for one collection"
    every: ClassVar[timedelta] = timedelta(hours=1)

    @property
    def name(self) -> str:
        """As it stands in the settings."""
        return f"zotero:{self.library}{f'/collections/{self.collection}' if self.collection else ''}"

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """A library by its address in the API. Raises SettingsError."""
        match = _LIBRARY.fullmatch(rest.strip().strip("/"))
        if not match:
            where = "your number stands on zotero.org/settings/keys, a group's in its address"
            raise SettingsError(f"source zotero:{rest}: no library. Write {cls.usage}; {where}")
        return cls(match["library"], match["collection"] or "", options.zotero_key if options else "")

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """What changed since the version that was read to its end, a hundred items a page."""
        known = read_cursor(cursor)
        version, target, start, total = (int(known.get(name) or 0) for name in ("version", "target", "start", "total"))
        again = _MOST_REREADINGS
        while True:
            answer = self._ask(client, version, start)
            if answer.not_modified:
                yield Page(answer.url, b"", cursor, remark="nothing new in the library", state=SourceState.QUIET)
                return
            # What changes while we read has a later version, and is asked for the next time.
            target = target or _number(answer, "last-modified-version")
            left = _number(answer, "total-results")
            if gone := max(0, total - left) if again else 0:
                # Items were deleted, so the others moved up, and as many slipped through between two pages.
                again -= 1
            following = max(0, start - gone) if gone else start + _PAGE
            total = left
            if following >= total and 'rel="next"' not in answer.headers.get("link", ""):
                yield Page(answer.url, answer.body, write_cursor({"version": target}))
                return
            here = {"version": version, "target": target, "total": total}
            if answer.body.strip() == b"[]" and not gone:
                remark = f"the server gave no more than {start} of {total} items; the rest is asked for the next time"
                cursor = write_cursor(here | {"start": start})
                yield Page(answer.url, b"", cursor, remark=remark, state=SourceState.INCOMPLETE)
                return
            yield Page(answer.url, answer.body, write_cursor(here | {"start": following}))
            start = following

    def _ask(self, client: Client, version: int, start: int) -> Response:
        headers = {"Zotero-API-Version": "3"}
        if self.key:
            headers["Zotero-API-Key"] = self.key
        if version and not start:
            headers["If-Modified-Since-Version"] = str(version)
        query = {"format": "json", "include": "data", "sort": "dateAdded", "direction": "asc", "limit": str(_PAGE)}
        query |= {"start": str(start)} | ({"since": str(version)} if version else {})
        of_collection = f"/collections/{self.collection}" if self.collection else ""
        try:
            return client.get(f"{_API}/{self.library}{of_collection}/items/top", params=query, headers=headers)
        except FetchError as error:
            if error.status not in (403, 404):
                raise
            remedy = (
                "there is no such library or collection; check its number"
                if error.status == 404
                else "the key may not read this library; make one at zotero.org/settings/keys"
                if self.key
                else "it is private; set zotero_key to a key from zotero.org/settings/keys"
            )
            raise FetchError(f"{self.name}: {remedy} ({error.status})", url=error.url, status=error.status) from error

    def parse(self, page: Page) -> Iterator[Entry]:
        """Every item but attachments, notes, annotations and what lies in the bin."""
        if not page.body:
            return
        answer = load_json(page.body, page.url)
        items = answer if isinstance(answer, list) else [answer]
        yield from entries_of(page.url, items, lambda item: record_of(item, f"zotero:{self.library}"))


def _number(answer: Response, header: str) -> int:
    value = answer.headers.get(header, "")
    return int(value) if value.isascii() and value.isdigit() else 0


def record_of(entry: Any, source: str) -> Record | None:
    """The record of an item; None if it is no paper's. Raises FieldError for what cannot be taken."""
    item = fields_of(entry)
    data = item.get("data")
    data = data if isinstance(data, dict) else item
    if data.get("itemType") in _NO_PAPERS or data.get("deleted"):
        return None
    key = text_of(data.get("key") or item.get("key"), "key")
    title, notices = without_mark(_first(data, "title", "caseName", "nameOfAct", "subject"))
    if not title or not key:
        raise FieldError(f"{'key' if title else 'title'}: missing ({key or 'no key'})")
    extra = _extra(data)
    published, month_only, year = _date(data, item)
    return Record(
        source=source,
        key=key,
        raw=raw_of(item),
        title=title,
        abstract=text_of(data.get("abstractNote"), "abstractNote"),
        authors=tuple(name for role, name in _people(data) if role not in _NOT_AUTHORS),
        identifiers=tuple(dict.fromkeys(_identifiers(data, extra))),
        venue=_venue(data),
        year=year,
        published=published,
        month_only=month_only,
        links=tuple(dict.fromkeys(_links(data))),
        keywords=tuple(dict.fromkeys(_tags(data))),
        kind=KINDS.get(text_of(data.get("itemType"), "itemType"), "misc"),
        notices=notices,
        details=tuple(_details(data, extra)),
        added=_moment(text_of(data.get("dateAdded"), "dateAdded")),
    )


def _first(data: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := text_of(data.get(name), name))), "")


def _extra(data: Mapping[str, Any]) -> dict[str, str]:
    """What stands in "Extra" because the type of item has no field for it: ``arXiv: 2401.12345``, ``DOI: …``."""
    return {name.lower(): value for name, value in _EXTRA.findall(text_of(data.get("extra"), "extra"))}


def _people(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Role and name of everybody who had a part in it, in order."""
    creators = data.get("creators")
    for creator in creators if isinstance(creators, list) else ():
        if isinstance(creator, dict):
            parts = (text_of(creator.get(name), "creators") for name in ("firstName", "lastName", "name"))
            if name := " ".join(filter(None, parts)):
                yield text_of(creator.get("creatorType"), "creators"), name


def _identifiers(data: Mapping[str, Any], extra: Mapping[str, str]) -> Iterator[Identifier]:
    yield from identifiers_in([_first(data, "DOI") or extra.get("doi")], "doi:")
    yield from identifiers_in([data.get("archiveID"), data.get("url")])
    yield from identifiers_in([extra.get("arxiv")], "arXiv:")
    yield from identifiers_in([data.get("PMID") or extra.get("pmid")], "pmid:")
    # Before it knew of preprints, Zotero filed those of arXiv as articles of "arXiv:2401.12345 [cs]".
    yield from identifiers_in([data.get("publicationTitle")])


def _venue(data: Mapping[str, Any]) -> str:
    """Journal, book or conference; of a preprint, the server."""
    venue = _first(data, *_VENUES)
    if parse_identifier(venue):
        return "arXiv"
    return venue or (_first(data, "repository") if data.get("itemType") == "preprint" else "")


def _date(data: Mapping[str, Any], item: Mapping[str, Any]) -> tuple[date | None, bool, int | None]:
    """The day, whether only its month is known, and the year; by Zotero's reading of the date where ours has none."""
    told = _first(data, "date", "dateDecided", "issueDate", "dateEnacted")
    meta = item.get("meta")
    parsed = text_of(meta.get("parsedDate"), "meta") if isinstance(meta, dict) else ""
    for whole in (True, False):
        for text in (told, parsed):
            if day := date_of(text, "date", whole=whole):
                return day, not whole, day.year
    year = year_of(parsed) or year_of(told)
    found = None if year else re.search(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", told)
    return None, False, int(found[0]) if found else year


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _links(data: Mapping[str, Any]) -> Iterator[Link]:
    if link := link_of("url", _first(data, "url")):
        yield link
    yield from code_links(_first(data, "abstractNote"))


def _tags(data: Mapping[str, Any]) -> Iterator[str]:
    tags = data.get("tags")
    for tag in tags if isinstance(tags, list) else ():
        yield from texts_of([tag.get("tag") if isinstance(tag, dict) else tag], "tags")


def _details(data: Mapping[str, Any], extra: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    kind = KINDS.get(_first(data, "itemType"), "misc")
    if name := _first(data, *_VENUES[:-1]):
        yield "journal" if kind in ("article", "misc", "online") else "booktitle", name
    for name, fields in _DETAILS:
        if text := _first(data, *fields):
            yield name, text
    if "citation key" in extra and not data.get("citationKey"):
        yield "citekey", extra["citation key"]
    for role in ("editor", "translator"):
        if people := names_of([name for given, name in _people(data) if given == role]):
            yield role, people
