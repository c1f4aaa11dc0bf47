"""Plans, records and events of systematic reviews to JSON and back: for the database, and for files of whole reviews.

Empty fields are left out. What a newer version adds is passed over, what an older one did not know has the model's
default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from operator import index
from typing import Any

import orjson

from broadsheet.model import Identifier, Link, LinkKind, Scheme
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Plan,
    PoolRecord,
    ReviewEvent,
    ReviewEventKind,
    Sharing,
    Stage,
    StoppingPlan,
)
from broadsheet.store.codec import dumps, finite, pack, unpack

_STOPPING = {field.name for field in fields(StoppingPlan)}


def plan_fields(plan: Plan) -> dict[str, Any]:
    """A plan as values that JSON knows. Raises ValueError for a number that is not finite, TypeError for a count that
    is no integer."""
    stopping = plan.stopping
    return {
        "question": plan.question,
        "criteria": [asdict(criterion) for criterion in plan.criteria],
        "description": plan.description,
        "terms": list(plan.terms),
        "sharing": Sharing(plan.sharing).value,
        "screeners": list(plan.screeners),
        "stopping": {
            "rule": stopping.rule,
            "target": finite("target", stopping.target),
            "confidence": finite("confidence", stopping.confidence),
            "advantage": finite("advantage", stopping.advantage),
            "floor": finite("floor", stopping.floor),
            "in_a_row": index(stopping.in_a_row),
            "budget": index(stopping.budget),
        },
        "model": plan.model,
        "querier": plan.querier,
        "seed": index(plan.seed),
    }


def plan_from_fields(values: Mapping[str, Any]) -> Plan:
    """The plan of ``plan_fields`` after its way through JSON."""
    default = Plan()
    stopping = {name: value for name, value in values.get("stopping", {}).items() if name in _STOPPING}
    return Plan(
        question=values.get("question", ""),
        criteria=tuple(
            Criterion(one["code"], one["text"], one.get("excludes", True)) for one in values.get("criteria", ())
        ),
        description=values.get("description", ""),
        terms=tuple(values.get("terms", ())),
        sharing=Sharing(values.get("sharing", default.sharing)),
        screeners=tuple(values.get("screeners", ())),
        stopping=StoppingPlan(**stopping),
        model=values.get("model", default.model),
        querier=values.get("querier", default.querier),
        seed=values.get("seed", default.seed),
    )


def plan_to_json(plan: Plan) -> str:
    """``plan_fields`` as JSON: what the ``detail`` of an event of the kinds ``create`` and ``plan`` holds."""
    return dumps(plan_fields(plan)).decode()


def plan_from_json(document: str) -> Plan:
    """What ``plan_to_json`` wrote."""
    return plan_from_fields(orjson.loads(document))


def pool_record_fields(record: PoolRecord) -> dict[str, Any]:
    """A record of a pool as values that JSON knows. Raises TypeError for a number that is no integer."""
    values: dict[str, Any] = {
        "number": index(record.number),
        "title": record.title,
        "abstract": record.abstract,
        "authors": list(record.authors),
        "year": None if record.year is None else index(record.year),
        "venue": record.venue,
        "identifiers": [[Scheme(i.scheme).value, i.value] for i in record.identifiers],
        "keywords": list(record.keywords),
        "url": record.url,
        "source": record.source,
        "key": record.key,
        "paper": index(record.paper),
        "twin": index(record.twin),
        "label": None if record.label is None else Label(record.label).value,
        "note": record.note,
        "kind": record.kind,
        "published": record.published,
        "links": [[LinkKind(link.kind).value, link.url] for link in record.links],
        "details": [list(pair) for pair in record.details],
    }
    return {name: value for name, value in values.items() if value or (name == "year" and value is not None)}


def pool_record_from_fields(values: Mapping[str, Any]) -> PoolRecord:
    """The record of ``pool_record_fields`` after its way through JSON."""
    label = values.get("label")
    return PoolRecord(
        number=values.get("number", 0),
        title=values.get("title", ""),
        abstract=values.get("abstract", ""),
        authors=tuple(values.get("authors", ())),
        year=values.get("year"),
        venue=values.get("venue", ""),
        identifiers=tuple(Identifier(Scheme(scheme), value) for scheme, value in values.get("identifiers", ())),
        keywords=tuple(values.get("keywords", ())),
        url=values.get("url", ""),
        source=values.get("source", ""),
        key=values.get("key", ""),
        paper=values.get("paper", 0),
        twin=values.get("twin", 0),
        label=Label(label) if label else None,
        note=values.get("note", ""),
        kind=values.get("kind", ""),
        published=values.get("published", ""),
        links=tuple(Link(LinkKind(kind), url) for kind, url in values.get("links", ())),
        details=tuple((name, value) for name, value in values.get("details", ())),
    )


def pool_record_to_bytes(record: PoolRecord) -> bytes:
    """``pool_record_fields`` as compressed JSON."""
    return pack(dumps(pool_record_fields(record)))


def pool_record_from_bytes(content: bytes) -> PoolRecord:
    """What ``pool_record_to_bytes`` wrote. Raises StoreError if it is damaged."""
    return pool_record_from_fields(orjson.loads(unpack(content)))


def review_event_fields(event: ReviewEvent) -> dict[str, Any]:
    """An event as values that JSON knows; the moment as an ISO string in UTC, without the review it belongs to.

    Raises ValueError for a time without zone, TypeError for a number that is no integer.
    """
    if event.moment.tzinfo is None:
        raise ValueError(f"event {event.id}: a time without a time zone; use datetime.now(UTC)")
    values: dict[str, Any] = {
        "id": index(event.id),
        "kind": ReviewEventKind(event.kind).value,
        "screener": event.screener,
        "moment": event.moment.astimezone(UTC).isoformat(),
        "record": index(event.record),
        "stage": Stage(event.stage).value,
        "label": None if event.label is None else Label(event.label).value,
        "chosen": None if event.chosen is None else Chosen(event.chosen).value,
        "reasons": list(event.reasons),
        "note": event.note,
        "other": index(event.other),
        "undoes": index(event.undoes),
        "model": event.model,
        "place": index(event.place),
        "unread": index(event.unread),
        "detail": event.detail,
    }
    return {name: value for name, value in values.items() if value}


def review_event_from_fields(values: Mapping[str, Any], review: int = 0) -> ReviewEvent:
    """The event of ``review_event_fields`` after its way through JSON, as one of a review."""
    label, chosen = values.get("label"), values.get("chosen")
    return ReviewEvent(
        id=values.get("id", 0),
        review=review,
        kind=ReviewEventKind(values["kind"]),
        screener=values.get("screener", ""),
        moment=datetime.fromisoformat(values["moment"]),
        record=values.get("record", 0),
        stage=Stage(values.get("stage", Stage.ABSTRACT)),
        label=Label(label) if label else None,
        chosen=Chosen(chosen) if chosen else None,
        reasons=tuple(values.get("reasons", ())),
        note=values.get("note", ""),
        other=values.get("other", 0),
        undoes=values.get("undoes", 0),
        model=values.get("model", ""),
        place=values.get("place", 0),
        unread=values.get("unread", 0),
        detail=values.get("detail", ""),
    )
