"""Entries of files as records of a review's pool, and what is to be said of copies that came with different labels."""

from __future__ import annotations

from collections.abc import Iterable

from broadsheet.model import LinkKind, PaperId, Record
from broadsheet.model.screening import Label, PoolRecord, RecordNumber
from broadsheet.sources.labels import Labelled
from broadsheet.text import clean, display_name, to_plain
from broadsheet.venues import venue_name

_MOST_TITLE = 80


def pool_record(
    found: Labelled, number: RecordNumber, source: str, *, twin: RecordNumber = 0, paper: PaperId = 0
) -> PoolRecord:
    """An entry as a record to screen: plain text on one line; a title that was made from the abstract is left empty.

    ``source`` is the file or search it came from. Reasons for which others excluded it stand in the note.
    """
    record = found.record
    reasons = f"Reasons: {'; '.join(found.reasons)}" if found.reasons else ""
    return PoolRecord(
        number=number,
        title="" if record.title_derived else _plain(record.title),
        abstract=_plain(record.abstract),
        authors=tuple(name for author in record.authors if any(map(str.isalpha, name := display_name(author)))),
        year=record.year or (record.published.year if record.published else None),
        venue=venue_name(_plain(record.venue)),
        identifiers=record.identifiers,
        keywords=tuple(dict.fromkeys(word for keyword in record.keywords if (word := _plain(keyword)))),
        url=_page(record),
        source=source,
        key=record.key,
        paper=paper,
        twin=twin,
        label=found.label,
        note="\n".join(filter(None, (found.note, reasons))),
    )


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
