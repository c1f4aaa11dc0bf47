"""Any RSS, RDF or Atom feed: journals, laboratories, preprint servers. ``feed:https://www.nature.com/nature.rss``.

The parsing is feedparser's. At the edge, what it leaves or gets wrong:

- It opens a *name* it is given as a file or an address: it gets a stream, and never an address.
- A bare ampersand costs it the strict parser (``D&D`` became ``D&D;``): it is escaped first.
- It looks for an address for mail in an author's name in a time that grows with its square: endless words are cut.
- Which authors, texts, days and identifiers of an entry are those of a paper.

A feed's guid says little: some servers use one again for another paper, others give each day new ones. The key of an
entry is its DOI or arXiv id, else its address, else the guid, each only if no other entry of the feed has the same.
"""

from __future__ import annotations

import html
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

import orjson

from broadsheet.errors import InputError, SettingsError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import Identifier, Link, Record, Refusal, Scheme, SourceState
from broadsheet.sources.answers import read_cursor, write_cursor
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.enrichment import identifiers_in
from broadsheet.sources.jsonl import digest_of
from broadsheet.sources.notices import without_mark
from broadsheet.sources.values import authors_of, code_links, date_of, link_of, year_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

LONGEST_ABSTRACT = 6000
"""Characters; a longer content is the article itself."""
# Feeds are written by strangers: each of these expressions takes time that grows with the text and not with its square.
_BARE_AMPERSAND = re.compile(rb"&(?!#\d{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,30};)")
_LONG_WORD = re.compile(rb"([\w.+-]{2000})[\w.+-]+")
_TAG = re.compile(r"<[^<>]*>")
_TRACKING = re.compile(r"utm_\w+|rss|af|ref|source|fbclid|gclid", re.IGNORECASE)
_DOI_IN_ADDRESS = re.compile(r"https?://[^?#]*/(10\.\d{4,9}/[^?#]+)|https?://[^#]*[?&](?:id|doi)=(10\.\d{4,9}/[^&#]+)")
_SAYS_WHAT_IT_IS = re.compile(r"arxiv|doi|10\.|https?:", re.IGNORECASE)  # a guid such as 2401.12345 may be any number
# What publishers' addresses put behind a DOI: kinds of view, and the version of a preprint.
_AFTER_DOI = re.compile(
    r"(?:/(?:full|abstract|abs|pdf|epdf|html|meta|fulltext|summary|full-text)|\.(?:full|abstract|short|pdf|full-text))+/?$"
    r"|/$",
    re.IGNORECASE,
)
_NATURE = re.compile(r"https?://(?:www\.)?nature\.com/articles/((?:s|d)\d{5}-\d{3}-\d{5}-[0-9a-z]|[a-z]+\.?\d+)$")
_PREPRINT_VERSION = re.compile(r"(10\.(?:1101|64898)/\d{4}\.\d\d\.\d\d\.\d+)v\d+$")
_PREPRINT_HOST = re.compile(r"https?://(?:www\.|connect\.)?(bio|med)rxiv\.org/")
_BLOCK = re.compile(r"<(/?)(script|style|iframe|svg|figure|video|audio|noscript|form|table)\b[^<>]*>", re.IGNORECASE)
_LONE = re.compile(r"<(?:img|source|embed|input|link|meta)\b[^<>]*>", re.IGNORECASE)
_HEADING = re.compile(
    r"^\s*(?:<(h[1-6]|b|strong|p|div)\b[^>]*>\s*(?:abstract|summary)\s*[:.]?\s*</\1\s*>\s*:?|(?:abstract|summary)\s*:)\s*",
    re.IGNORECASE,
)
_CITATION = re.compile(r"[^.]{0,200}\b(?:volume|vol|issue|pages?|pp|ahead of print)\b.{0,150}", re.IGNORECASE)
_TRAILER = re.compile(r"<p[^<>]*>\s*The post\s+<a\b.*$", re.IGNORECASE | re.DOTALL)  # "… appeared first on …"
_NATURE_LINE = re.compile(r"^\s*<p[^>]*>[^<]*Published online:.*?</p>\s*", re.IGNORECASE | re.DOTALL)
_ARXIV_HEAD = re.compile(r"^\s*arXiv:\S+ Announce Type: \S+\s+Abstract:\s*", re.IGNORECASE)
_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@]{1,255}")
_FEED_LINK = re.compile(r"<link\b[^<>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
_DETAILS = (
    ("journal", "prism_publicationname"),
    ("volume", "prism_volume"),
    ("number", "prism_number"),
    ("issn", "prism_issn"),
    ("publisher", "dc_publisher"),
    ("language", "dc_language"),
)


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed at an address."""

    url: str
    kind: ClassVar[str] = "feed"
    usage: ClassVar[str] = "feed:ADDRESS, such as feed:https://www.nature.com/nature.rss"
    every: ClassVar[timedelta] = timedelta(hours=3)

    @property
    def name(self) -> str:
        """As it stands in the settings."""
        return f"feed:{self.url}"

    @property
    def source(self) -> str:
        """The name of its records' source: its address without scheme, passwords and keys."""
        from broadsheet.net.urls import shown

        return f"feed:{shown(self.url).split('://', 1)[-1]}".rstrip("/")

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """The feed at an address. Raises SettingsError if it is none."""
        try:
            parts = urlsplit(rest.strip())
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or True)
        except ValueError:
            good = False
        if not good:
            raise SettingsError(
                f"feed:{rest}: what follows the colon must be the address of the feed; write {cls.usage}"
            )
        return cls(rest.strip())

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """The feed as it is, or a quiet page if it did not change."""
        from broadsheet.net import Validators

        known = read_cursor(cursor)
        answer = client.get(self.url, validators=Validators(known.get("etag", ""), known.get("modified", "")))
        if answer.not_modified:
            yield Page(answer.url, b"", cursor, remark="nothing new since it was last asked", state=SourceState.QUIET)
            return
        validators = {"etag": answer.validators.etag, "modified": answer.validators.modified}
        remark = "" if answer.body.strip() else "the feed is empty"
        content_type = answer.headers.get("content-type", "")
        yield Page(answer.url, answer.body, write_cursor(validators), remark=remark, kind=content_type)

    def parse(self, page: Page) -> Iterator[Entry]:
        """The entries of a feed. Raises InputError if the page is none, with the feeds that it names if it is HTML."""
        if not page.body.strip():
            return
        found = _parsed(page, self.url)
        if not found.version and not found.entries:
            raise InputError(_no_feed(page))
        # As plain mappings: feedparser's own ones answer for keys that an entry does not have.
        entries = [dict(entry) for entry in found.entries]
        keys = _Keys(entries, found.feed.get("link", ""))
        for number, entry in enumerate(entries, 1):
            if entry.get("title", "").strip():
                yield _record(entry, self.source, keys)
            else:
                at = entry.get("link") or entry.get("id") or "no link"
                yield Refusal(page.url, 0, f"entry {number}: no title ({at})")


def _parsed(page: Page, base: str) -> Any:
    import feedparser  # type: ignore[import-untyped]

    headers = {"content-location": base}
    if page.kind:
        headers["content-type"] = page.kind
    options = {"response_headers": headers, "sanitize_html": False, "resolve_relative_uris": False}
    body = _LONG_WORD.sub(rb"\1", page.body)
    found = feedparser.parse(io.BytesIO(body), **options)
    if found.bozo:
        mended = _mended(body)
        if mended != body:
            found = feedparser.parse(io.BytesIO(mended), **options)
    return found


def _mended(body: bytes) -> bytes:
    """With every bare ampersand escaped, but for those in CDATA, where they are as they should be."""
    first, *others = body.split(b"<![CDATA[")
    parts = [_BARE_AMPERSAND.sub(b"&amp;", first)]
    for part in others:
        inside, end, after = part.partition(b"]]>")
        parts.append(b"<![CDATA[" + inside + end + _BARE_AMPERSAND.sub(b"&amp;", after))
    return b"".join(parts)


def _no_feed(page: Page) -> str:
    text = page.body[:200_000].decode("utf-8", "replace")
    if not re.search(r"<(?:!doctype\s+html|html|head|body)\b", text[:5000], re.IGNORECASE):
        return f"{page.url} is no feed: neither RSS nor Atom nor RDF. Check the address in a browser"
    feeds = list(dict.fromkeys(_alternates(text, page.url)))
    if not feeds:
        return f"{page.url} is a web page, not a feed, and names no feeds. Look for the site's RSS or Atom address"
    return f"{page.url} is a web page, not a feed; its feeds are: {', '.join(feeds[:10])}"


def _alternates(text: str, base: str) -> Iterator[str]:
    for tag in _FEED_LINK.findall(text):
        values = {m[1].lower(): html.unescape(m[2] or m[3] or m[4] or "") for m in _ATTRIBUTE.finditer(tag)}
        is_feed = re.search("rss|atom|rdf", values.get("type", ""), re.IGNORECASE)
        if is_feed and "alternate" in values.get("rel", "").lower().split():
            yield urljoin(base, values.get("href", ""))


# --- keys ------------------------------------------------------------------------------------------------------------


class _Keys:
    """Which identifiers, addresses and guids of a feed name one entry alone."""

    def __init__(self, entries: Sequence[Mapping[str, Any]], home: str) -> None:
        self.owned = Counter(_own(_identifiers(entry)) for entry in entries)
        self.links = Counter(_address(entry.get("link", "")) for entry in entries)
        self.guids = Counter(entry.get("id", "") for entry in entries)
        self.home = _address(home)

    def key(self, entry: Mapping[str, Any], identifiers: Sequence[Identifier]) -> str:
        own = _own(identifiers)
        if own and self.owned[own] == 1:
            return own
        link, guid = _address(entry.get("link", "")), entry.get("id", "")
        if link and link != self.home and self.links[link] == 1:
            return _short(link)
        if guid and self.guids[guid] == 1:
            return _short(guid)
        return digest_of(f"{link} {guid} {entry.get('title', '')}")


def _own(identifiers: Iterable[Identifier]) -> str:
    """The DOI, else the arXiv id, as a key."""
    found = {identifier.scheme: str(identifier) for identifier in reversed(list(identifiers))}
    return found.get(Scheme.DOI) or found.get(Scheme.ARXIV) or ""


def _short(key: str) -> str:
    return key if len(key) <= 300 else digest_of(key)


def _address(link: str) -> str:
    """An address without scheme, fragment and what only counts visitors; "" for a site's front page."""
    try:
        parts = urlsplit(link.strip())
        query = [(name, value) for name, value in parse_qsl(parts.query, True) if not _TRACKING.fullmatch(name)]
    except ValueError:
        return ""
    if not parts.hostname or (parts.path in ("", "/") and not query):
        return ""
    return f"{parts.hostname}{parts.path.rstrip('/')}{'?' + urlencode(query) if query else ''}"


# --- an entry --------------------------------------------------------------------------------------------------------


def _record(entry: Mapping[str, Any], source: str, keys: _Keys) -> Record:
    link = entry.get("link", "")
    identifiers = tuple(dict.fromkeys(_identifiers(entry)))
    title, notices = without_mark(entry["title"].strip())
    texts = [one.get("value", "") for one in entry.get("content", ())] + [entry.get("summary", "")]
    names = next(filter(None, map(_names_in, texts)), "")
    authors, cut = _authors(entry, names)
    abstract = "" if names else max(map(_abstract, texts), key=len)
    published, month_only = _published(entry)
    journal = _one_line(entry.get("prism_publicationname", ""))
    preprint = _PREPRINT_HOST.match(link)
    return Record(
        source=source,
        key=keys.key(entry, identifiers),
        raw=orjson.dumps(entry, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode(),
        title=title,
        abstract=abstract,
        authors=authors,
        authors_truncated=cut,
        identifiers=identifiers,
        venue=f"{preprint[1]}Rxiv" if preprint else journal,
        year=published.year if published else _year(entry),
        published=published,
        month_only=month_only,
        links=tuple(dict.fromkeys(_links(entry, abstract))),
        keywords=tuple(dict.fromkeys(_keywords(entry))),
        kind="article" if journal and not preprint else "online",
        notices=notices,
        details=tuple(_details(entry)),
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else str(value)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _identifiers(entry: Mapping[str, Any]) -> Iterator[Identifier]:
    guid = entry.get("id", "").strip().removeprefix("oai:")  # oai:arXiv.org:2401.12345v1 in announcements of arXiv
    guid = guid.replace("arXiv.org:", "arXiv:") if _SAYS_WHAT_IT_IS.match(guid) else ""
    for text in (entry.get("prism_doi", ""), entry.get("dc_identifier", ""), guid, entry.get("link", "")):
        if doi := _doi_in(text.strip()):
            yield doi
        else:
            yield from identifiers_in([text])


def _doi_in(text: str) -> Identifier | None:
    """The DOI that an address holds as publishers build theirs, without what stands behind it."""
    text = unquote(text[:2000])
    if nature := _NATURE.match(text.split("?")[0].split("#")[0]):
        text = f"10.1038/{nature[1]}"
    elif found := _DOI_IN_ADDRESS.search(text):
        text = _AFTER_DOI.sub("", found[1] or found[2])
    parsed = parse_identifier(_PREPRINT_VERSION.sub(r"\1", text.removeprefix("doi:").strip()))
    return parsed[0] if parsed and parsed[0].scheme is Scheme.DOI else None


def _abstract(content: str) -> str:
    """What a content or summary tells of the paper, as HTML; "" if it is the article itself."""
    text = _LONE.sub(" ", _without_blocks(content))
    for pattern in (_TRAILER, _NATURE_LINE, _ARXIV_HEAD, _HEADING):
        text = pattern.sub("", text, count=1)
    visible = _one_line(_TAG.sub(" ", text))
    # "Journal of X, Volume 3, Issue 2, June 2024." tells nothing of the paper, a picture alone neither.
    told = visible and len(visible) <= LONGEST_ABSTRACT and not _CITATION.fullmatch(visible)
    return text.strip() if told else ""


def _without_blocks(text: str) -> str:
    """Without what is no text to read: scripts, styles, figures, forms; one that does not end is left."""
    kept, at, inside = [], 0, ""
    for tag in _BLOCK.finditer(text):
        ends, name = tag[1], tag[2].lower()
        if not inside and not ends:
            kept.append(text[at : tag.start()])
            at, inside = tag.start(), name
        elif inside == name and ends:
            at, inside = tag.end(), ""
    return " ".join((*kept, text[at:]))


def _names_in(content: str) -> str:
    """The authors that Elsevier's feeds name in the text, which has no abstract then: ``<p>Author(s): …</p>``."""
    before, mark, after = content.partition("Author(s):")
    if not mark or not re.search(r"<p[^<>]*>\s*(?:<b>)?$", before[-60:]):
        return ""
    return _one_line(_TAG.sub("", after.partition("</p>")[0]))


def _authors(entry: Mapping[str, Any], in_text: str) -> tuple[tuple[str, ...], bool]:
    """Names, one or many to an element, else those in the text; an address for mail is no name."""
    lines = [_EMAIL.sub("", html.unescape(one.get("name", ""))).strip(" ()<>") for one in entry.get("authors", ())]
    lines = [line for line in dict.fromkeys(lines) if line] or [in_text]
    # Of many elements each is a name, and a comma in one stands behind the family name.
    return authors_of(lines[0] if len(lines) == 1 else lines)


def _published(entry: Mapping[str, Any]) -> tuple[date | None, bool]:
    """The day on which it first appeared, and whether only the month is known.

    Cover dates are of an issue, months before or after; what was updated may be old.
    """
    told = [_day(entry.get("published_parsed"), entry.get("published", ""))]
    told.append(_day(None, entry.get("prism_publicationdate", "")))
    days = [day for day in told if day]
    if not days:
        others = (
            _day(entry.get("updated_parsed"), entry.get("updated", "")),
            _day(None, entry.get("prism_coverdate", "")),
        )
        days = [day for day in others if day][:1]
    return min(days, key=lambda day: (day[0].year, day[0].month, day[1], day[0].day), default=(None, False))


def _year(entry: Mapping[str, Any]) -> int | None:
    texts = (entry.get(name, "") for name in ("published", "prism_publicationdate", "updated", "prism_coverdate"))
    return next((year for text in texts if (year := year_of(text))), None)


def _day(parsed: Any, text: str) -> tuple[date, bool] | None:
    """A day in UTC, which feedparser found in a format of its own or not, and whether only its month is known."""
    text = text.strip()
    if re.fullmatch(r"\d{4}", text):
        return None
    day, whole = date_of(text, "date"), date_of(text, "date", whole=True)
    # feedparser knows more formats and all time zones, but takes 2024/5/3 for a day in November.
    if parsed and 1 <= parsed[0] <= 9999 and (":" in text or not day):
        day = whole = date(*parsed[:3])
    return (day, whole is None) if day else None


def _links(entry: Mapping[str, Any], abstract: str) -> Iterator[Link]:
    for one in entry.get("links", ()):
        is_pdf = one.get("type") == "application/pdf" or one.get("title") == "pdf"
        if one.get("rel") == "alternate" or is_pdf:
            found = link_of("pdf" if is_pdf else "url", _uncounted(one.get("href", "")))
            if found:
                yield found
    yield from code_links(abstract)


def _uncounted(link: str) -> str:
    """An address without the parameters by which a site counts where its visitors come from."""
    address, _, query = link.partition("?")
    query, mark, fragment = query.partition("#")
    kept = "&".join(part for part in query.split("&") if not part.lower().startswith("utm_"))
    return f"{address}{'?' + kept if kept else ''}{mark}{fragment}"


def _keywords(entry: Mapping[str, Any]) -> Iterator[str]:
    for tag in entry.get("tags", ()):
        if word := _one_line(tag.get("term") or ""):
            yield word


def _details(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, field in _DETAILS:
        if text := _one_line(entry.get(field, "")):
            yield name, text
    ends = (_one_line(entry.get(name, "")) for name in ("prism_startingpage", "prism_endingpage"))
    pages = "-".join(filter(None, ends))
    if pages:
        yield "pages", pages
