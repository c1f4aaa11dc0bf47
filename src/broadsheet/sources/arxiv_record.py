"""What all of arXiv's own formats say of a paper → ``Record``. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from broadsheet.identifiers import arxiv_month, parse_identifier, url_of
from broadsheet.model import Identifier, Link, LinkKind, Notice, NoticeKind, Record, Scheme, Version
from broadsheet.sources.values import authors_of, category_area, code_links
from broadsheet.sources.withdrawal import withdrawal

KNOWN = "arxiv"
"""Source of what the API and OAI-PMH say."""
ANNOUNCED = "arxiv-announced"
"""Source of what the RSS feed and the listing page say."""

_NEW_STYLE = re.compile(r"\d{4}\.\d{4,5}")
_SEPARATOR = re.compile(r"\s*(?:,\s*(?:and\s+|&\s+)?|;\s*|\s+and\s+|\s+&\s+)")
_MARK = re.compile(rf"[()]|{_SEPARATOR.pattern}")
_SUFFIX = re.compile(r"(?:[Jj]r|[Ss]r|II|III|IV)\.?")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_COLLABORATION = re.compile(r"(?<=ollaboration):\s+")


def arxiv_id(text: str) -> tuple[str, int | None] | None:
    """The arXiv id that a text is (``oai:arXiv.org:2401.12345v2``, an address, an old id) and the version it names."""
    parsed = parse_identifier(text.strip().removeprefix("oai:arXiv.org:"))
    return (parsed[0].value, parsed[1]) if parsed and parsed[0].scheme is Scheme.ARXIV else None


def newest_id(ids: Iterable[str]) -> str:
    """The greatest id of the style in use since 2007, in which later ids are greater; empty if there is none."""
    return max((value for value in ids if _NEW_STYLE.fullmatch(value)), default="")


def split_people(line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of arXiv's author line, and each one's affiliation (empty where none is given).

    ``Ann Lee (MIT, CSAIL), Bo Li and Jo Ng``: affiliations stand in brackets, and commas in them separate nothing.
    """
    names: list[str] = []
    affiliations: list[str] = []
    for name, affiliation in _people(_COLLABORATION.sub(", ", " ".join(line.split()))):
        if _SUFFIX.fullmatch(name) and names:
            names[-1] = f"{names[-1]} {name}"
        elif name and not _EMAIL.fullmatch(name):
            names.append(name)
            affiliations.append(affiliation)
    return tuple(names), tuple(affiliations)


def _people(line: str) -> list[tuple[str, str]]:
    """(text, bracketed text) of the pieces between separators that stand outside brackets."""
    found = [["", ""]]  # text outside brackets, text inside
    start = depth = 0
    for match in _MARK.finditer(line):
        inside = depth > 0
        found[-1][inside] += line[start : match.start()]
        start = match.end()
        if match[0] == "(":
            if inside or found[-1][1]:
                found[-1][1] += match[0] if inside else "; "
            depth += 1
        elif match[0] == ")":
            depth = max(0, depth - 1)
            if depth:
                found[-1][1] += match[0]
        elif inside:
            found[-1][1] += match[0]
        else:
            found.append(["", ""])
    found[-1][depth > 0] += line[start:]
    return [(text.strip(), bracketed.strip()) for text, bracketed in found]


def moment_of(text: str) -> datetime | None:
    """A time in UTC from ISO 8601 (with fractions or an offset) or RFC 2822; None if it is neither."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text.strip())
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def dois_in(text: str) -> list[Identifier]:
    """The DOIs of arXiv's field, which may hold several."""
    parsed = (parse_identifier(f"doi:{piece}") for piece in re.split(r"[\s,;]+", text) if piece)
    return [found[0] for found in parsed if found and found[0].scheme is Scheme.DOI]


def record_of(
    *,
    source: str,
    key: str,
    raw: str,
    title: str,
    abstract: str,
    authors: Sequence[str],
    affiliations: Sequence[str] = (),
    categories: Sequence[str] = (),
    doi: str = "",
    comment: str = "",
    journal_ref: str = "",
    versions: tuple[Version, ...] = (),
    published: date | None = None,
    listed: date | None = None,
    emptied: bool = False,
    details: Iterable[tuple[str, str]] = (),
) -> Record:
    """The record of one paper. ``emptied``: its newest version has no files, which is how arXiv withdraws."""
    own = Identifier(Scheme.ARXIV, key)
    names, cut = authors_of(list(authors))
    notice = withdrawal(comment, abstract) or (_emptied(comment) if emptied else None)
    month = arxiv_month(key)
    links = [Link(LinkKind.PAGE, url_of(own)), Link(LinkKind.PDF, f"https://arxiv.org/pdf/{key}")]
    links.extend(code_links(abstract))
    links.extend(code_links(comment))
    named = [("comment", comment), ("journal_ref", journal_ref), ("affiliation", _affiliation(authors, affiliations))]
    return Record(
        source=source,
        key=key,
        raw=raw,
        title=" ".join(title.split()),
        abstract=abstract,
        authors=names,
        identifiers=tuple(dict.fromkeys([own, *dois_in(doi)])),
        areas=tuple(dict.fromkeys(area for category in categories if (area := category_area(category)))),
        year=published.year if published else month.year if month else None,
        published=published,
        listed=listed,
        links=tuple(dict.fromkeys(links)),
        authors_truncated=cut,
        kind="misc",
        versions=versions,
        notices=(notice,) if notice else (),
        details=tuple((name, value) for name, value in [*named, *details] if value),
    )


def _emptied(comment: str) -> Notice:
    return Notice(NoticeKind.WITHDRAWN, comment or "the newest version on arXiv has no files")


def _affiliation(authors: Sequence[str], affiliations: Sequence[str]) -> str:
    pairs = zip(authors, affiliations, strict=False)
    return "; ".join(f"{name} ({place})" for name, place in pairs if place)
