"""Entries of files as records of a review's pool, and what is to be said of copies that came with different labels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from broadsheet.model import LinkKind, Paper, PaperId, Record
from broadsheet.model.screening import Label, PoolRecord, RecordNumber
from broadsheet.sources.labels import NOTES, Labelled
from broadsheet.text import clean, display_name, to_plain
from broadsheet.venues import venue_name

_MOST_TITLE = 80
_NO_ABSTRACT = re.compile(
    r"\W*(?:no abstract(?: (?:is )?(?:available|provided|found))?|(?:abstract (?:is )?)?not available|n/?a|none)\W*",
    re.IGNORECASE,
)
"""What databases write where there is none."""
_LEFT = re.compile("label|file|abstract|title|author|keywords")


def pool_record(
    found: Labelled, number: RecordNumber, source: str, *, twin: RecordNumber = 0, paper: PaperId = 0
) -> PoolRecord:
    """An entry as a record to screen: plain text on one line; a title that was made from the abstract is left empty.

    ``source`` is the file or search it came from. Reasons for which others excluded it stand in the note.
    """
    record, page = found.record, _page(found.record)
    reasons = f"Reasons: {'; '.join(found.reasons)}" if found.reasons else ""
    return PoolRecord(
        number=number,
        title="" if record.title_derived else _plain(record.title),
        abstract="" if _NO_ABSTRACT.fullmatch(record.abstract) else _plain(record.abstract),
        authors=tuple(name for author in record.authors if any(map(str.isalpha, name := display_name(author)))),
        year=record.year or (record.published.year if record.published else None),
        venue=venue_name(_plain(record.venue)),
        identifiers=record.identifiers,
        keywords=tuple(dict.fromkeys(word for keyword in record.keywords if (word := _plain(keyword)))),
        url=page,
        source=source,
        key=record.key,
        paper=paper,
        twin=twin,
        label=found.label,
        note="\n".join(filter(None, (found.note, reasons))),
        kind=record.kind,
        published=day_of(record),
        links=tuple(link for link in dict.fromkeys(record.links) if link.url != page),
        details=(*details_of(record), *((("note", "\n".join(found.remarks)),) if found.remarks else ())),
    )


def day_of(work: Record | Paper) -> str:
    """The day of publication in ISO 8601, or the month where only that is known."""
    if work.published is None:
        return ""
    return work.published.isoformat()[: 7 if work.month_only else 10]


def details_of(work: Record | Paper) -> tuple[tuple[str, str], ...]:
    """The bibliographic details that a review keeps. Notes are looked at by themselves, since they may hold labels, as
    do the labels of tables; names of files say something only on the machine they are from.
    """
    return tuple((name, value) for name, value in work.details if not (_LEFT.fullmatch(name) or NOTES.fullmatch(name)))


def _plain(text: str) -> str:
    return " ".join(to_plain(clean(text)).split())


def _page(record: Record) -> str:
    """The paper's page, else its text."""
    by_kind = {link.kind: link.url for link in reversed(record.links)}
    return by_kind.get(LinkKind.PAGE) or by_kind.get(LinkKind.PDF, "")


def contradictions(records: Iterable[PoolRecord]) -> list[str]:
    """A sentence on each group of copies that came as included and as excluded; ``later`` contradicts nothing."""
    groups: dict[RecordNumber, list[PoolRecord]] = {}
    for record in records:
        if record.label in (Label.INCLUDE, Label.EXCLUDE):
            groups.setdefault(record.twin or record.number, []).append(record)
    return [_contradiction(copies) for copies in groups.values() if len({copy.label for copy in copies}) > 1]


def _contradiction(copies: list[PoolRecord]) -> str:
    title = copies[0].title or copies[0].abstract
    shown = title if len(title) <= _MOST_TITLE else f"{title[:_MOST_TITLE]}…"
    told = ", ".join(f"{copy.label} in {copy.source} (record {copy.number})" for copy in copies)
    return f"copies of “{shown}” came with different labels: {told}; look at it and decide it again"
