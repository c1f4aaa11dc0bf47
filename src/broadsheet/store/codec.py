"""Records and papers to bytes and back.

A record is kept as zstd-compressed JSON with its raw entry inside, because the raw entry mostly repeats the parsed
fields and compresses to little beside them. A paper is kept as plain JSON, readable with the database's own shell.
"""

from __future__ import annotations

import math
import re
import threading
from dataclasses import fields as dataclass_fields
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from typing import Any

import orjson
import zstandard

from broadsheet.errors import StoreError
from broadsheet.model import (
    Area,
    Identifier,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Paper,
    Place,
    Record,
    Scheme,
    SourceState,
    SourceStatus,
    Version,
)
from broadsheet.store.types import EncodedRecord

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_RECORD_BYTES = 1 << 30
_SURROGATES = re.compile("[\ud800-\udfff]")
_local = threading.local()  # zstd contexts must not be shared by threads


def _compressor() -> zstandard.ZstdCompressor:
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=3)
    found: zstandard.ZstdCompressor = _local.compressor
    return found


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _local.decompressor
    return found


def _scrubbed(value: Any) -> Any:
    """Lone surrogates, which no encoding of Unicode can hold, become U+FFFD."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_scrubbed(k): _scrubbed(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(v) for v in value]
    return value


def dumps(document: dict[str, Any]) -> bytes:
    """A document as JSON."""
    try:
        return orjson.dumps(document)
    except TypeError:
        return orjson.dumps(_scrubbed(document))


def _shared_fields(item: Record | Paper) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "title": item.title,
        "abstract": item.abstract,
        "authors": item.authors,
        "identifiers": [[i.scheme.value, i.value] for i in item.identifiers],
        "areas": [[a.name, a.subarea] for a in item.areas],
        "venue": item.venue,
        "year": item.year,
        "published": item.published,
        "listed": item.listed,
        "links": [[link.kind.value, link.url] for link in item.links],
        "keywords": item.keywords,
        "status": item.status,
        "authors_truncated": item.authors_truncated,
        "title_derived": item.title_derived,
        "summarised": item.summarised,
        "month_only": item.month_only,
        "kind": item.kind,
        "versions": [[v.number, v.day] for v in item.versions],
        "notices": [[n.kind.value, n.reason, n.day] for n in item.notices],
        "counts": item.counts,
        "details": item.details,
        "references": [[i.scheme.value, i.value] for i in item.references],
        "added": item.added,
    }
    return {name: value for name, value in fields.items() if value}


def _day(value: str | None) -> date | None:
    return date.fromisoformat(value) if value else None


def _shared_values(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": fields.get("title", ""),
        "abstract": fields.get("abstract", ""),
        "authors": tuple(fields.get("authors", ())),
        "identifiers": tuple(Identifier(Scheme(s), v) for s, v in fields.get("identifiers", ())),
        "areas": tuple(Area(name, sub) for name, sub in fields.get("areas", ())),
        "venue": fields.get("venue", ""),
        "year": fields.get("year"),
        "published": _day(fields.get("published")),
        "listed": _day(fields.get("listed")),
        "links": tuple(Link(LinkKind(kind), url) for kind, url in fields.get("links", ())),
        "keywords": tuple(fields.get("keywords", ())),
        "status": fields.get("status", ""),
        "authors_truncated": fields.get("authors_truncated", False),
        "title_derived": fields.get("title_derived", False),
        "summarised": fields.get("summarised", False),
        "month_only": fields.get("month_only", False),
        "kind": fields.get("kind", ""),
        "versions": tuple(Version(number, _day(day)) for number, day in fields.get("versions", ())),
        "notices": tuple(Notice(NoticeKind(k), why, _day(day)) for k, why, day in fields.get("notices", ())),
        "counts": tuple((name, count) for name, count in fields.get("counts", ())),
        "details": tuple((name, value) for name, value in fields.get("details", ())),
        "references": tuple(Identifier(Scheme(s), v) for s, v in fields.get("references", ())),
        "added": datetime.fromisoformat(fields["added"]) if "added" in fields else None,
    }


def record_to_json(record: Record) -> bytes:
    """The whole record as JSON; equal records give equal bytes."""
    fields = _shared_fields(record)
    if record.former_titles:
        fields["former_titles"] = record.former_titles
    fields |= {"source": record.source, "key": record.key, "raw": record.raw}
    return dumps(fields)


def record_from_json(data: bytes) -> Record:
    """The record that ``record_to_json`` wrote."""
    fields = orjson.loads(data)
    return Record(
        source=fields["source"],
        key=fields["key"],
        raw=fields["raw"],
        former_titles=tuple(fields.get("former_titles", ())),
        **_shared_values(fields),
    )


def encode_record(record: Record) -> EncodedRecord:
    """The record ready to be compared with a stored one and to be written."""
    data = record_to_json(record)
    return EncodedRecord(record.source, record.key, data, blake2b(data, digest_size=16).digest())


def pack(data: bytes) -> bytes:
    """Compressed bytes."""
    return _compressor().compress(data)


def unpack(data: bytes) -> bytes:
    """The bytes that ``pack`` took. Raises StoreError if they are damaged."""
    try:
        return _decompressor().decompress(data, max_output_size=_MAX_RECORD_BYTES)
    except zstandard.ZstdError as error:
        raise StoreError(f"what is stored is damaged ({error}); restore the database from a backup") from error


def paper_fields(paper: Paper) -> dict[str, Any]:
    """The paper as values that JSON knows, without its id and relations, which the tables hold; empty ones left out."""
    fields = _shared_fields(paper)
    if paper.other_titles:
        fields["other_titles"] = paper.other_titles
    if paper.places:
        fields["places"] = [[p.source, p.venue, p.year, p.status, p.listed, p.url] for p in paper.places]
    if paper.damaged:
        fields["damaged"] = True
    if paper.origins:
        fields["origins"] = dict(paper.origins)
    return fields


def paper_from_fields(paper_id: int, fields: dict[str, Any], related: tuple[int, ...] = ()) -> Paper:
    """The paper of ``paper_fields`` after its way through JSON."""
    return Paper(
        id=paper_id,
        other_titles=tuple(fields.get("other_titles", ())),
        related=related,
        damaged=fields.get("damaged", False),
        places=tuple(
            Place(source, venue, year, status, _day(listed), url)
            for source, venue, year, status, listed, url in fields.get("places", ())
        ),
        origins=fields.get("origins", {}),
        **_shared_values(fields),
    )


def paper_to_json(paper: Paper) -> str:
    """``paper_fields`` as JSON."""
    return dumps(paper_fields(paper)).decode()


def paper_from_json(paper_id: int, document: str, related: tuple[int, ...] = ()) -> Paper:
    """The paper that ``paper_to_json`` wrote."""
    return paper_from_fields(paper_id, orjson.loads(document), related)


def status_to_json(status: SourceStatus) -> str:
    """How a source stands, without its name."""
    fields = {f.name: getattr(status, f.name) for f in dataclass_fields(SourceStatus) if f.name != "name"}
    return dumps({name: value for name, value in fields.items() if value}).decode()


def status_from_json(name: str, document: str) -> SourceStatus:
    """What ``status_to_json`` wrote; what a newer version added is passed over."""
    known = {f.name for f in dataclass_fields(SourceStatus)}
    fields = {key: value for key, value in orjson.loads(document).items() if key in known}
    for moment in ("asked", "fetched", "due"):
        if moment in fields:
            fields[moment] = datetime.fromisoformat(fields[moment])
    state = SourceState(fields.pop("state", SourceState.NEVER))
    return SourceStatus(name=name, state=state, day=_day(fields.pop("day", None)), **fields)


def hash64(text: str) -> int:
    """64 bits of a text as a signed number, which is what databases hold."""
    data = text.encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


def text_digest(paper: Paper) -> int:
    """64 bits of title and abstract, unsigned: a vector made from another text is out of date."""
    return unsigned(hash64(f"{paper.title}\x1f{paper.abstract}"))


def unsigned(value: int) -> int:
    """A signed 64-bit number as the unsigned one with the same bits."""
    return value & 0xFFFF_FFFF_FFFF_FFFF


def signed(value: int) -> int:
    """The inverse of ``unsigned``."""
    return value - (1 << 64) if value >> 63 else value


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970.

    Raises ValueError for a time without zone, which would mean another instant elsewhere.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a time zone cannot be stored; use datetime.now(UTC)")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(value: int) -> datetime:
    """The UTC time of ``to_micros``."""
    return _EPOCH + timedelta(microseconds=value)


def finite(name: str, value: float) -> float:
    """A number that JSON keeps, a Python one also where it was NumPy's. Raises ValueError, which names it."""
    number = float(value)
    if not math.isfinite(number):  # JSON would keep it as null
        raise ValueError(f"{name} is {number}, which is no number that can be stored")
    return number
