"""Plans, records and events of reviews as JSON: everything comes back, and what could not is refused."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings

from broadsheet.errors import StoreError
from broadsheet.model import Identifier, Link, LinkKind, Scheme
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Plan,
    PoolRecord,
    ReviewEvent,
    ReviewEventKind,
    Stage,
    StoppingPlan,
)
from broadsheet.store import (
    plan_fields,
    plan_from_fields,
    plan_from_json,
    plan_to_json,
    pool_record_fields,
    pool_record_from_fields,
    review_event_fields,
    review_event_from_fields,
)
from broadsheet.store.codec_screening import pool_record_from_bytes, pool_record_to_bytes
from tests.review_makers import NOW, decision, plans, pool_record, pool_records, review_event, review_events

ANY_NUMBER_OF = settings(deadline=None)


@ANY_NUMBER_OF
@given(plans)
def test_plan_to_json_and_back(one: Plan) -> None:
    assert plan_from_json(plan_to_json(one)) == one
    assert plan_from_fields(plan_fields(one)) == one


@ANY_NUMBER_OF
@given(pool_records)
def test_record_to_bytes_and_back(one: PoolRecord) -> None:
    assert pool_record_from_bytes(pool_record_to_bytes(one)) == one
    assert pool_record_from_fields(orjson.loads(orjson.dumps(pool_record_fields(one)))) == one


@ANY_NUMBER_OF
@given(review_events)
def test_event_to_json_and_back(one: ReviewEvent) -> None:
    assert review_event_from_fields(orjson.loads(orjson.dumps(review_event_fields(one))), review=1) == one


def names(of: type[Any]) -> set[str]:
    return {field.name for field in fields(of)}


def test_every_field_is_kept() -> None:
    """A field that is added to the model and forgotten here would be lost without a word."""
    plan = plan_fields(Plan(criteria=(Criterion("P", "Not adults"),)))
    assert set(plan) == names(Plan)
    assert set(plan["stopping"]) == names(StoppingPlan)
    assert set(plan["criteria"][0]) == names(Criterion)
    texts = dict.fromkeys(("title", "abstract", "venue", "url", "source", "key", "note", "kind", "published"), "x")
    lists = {"authors": ("x",), "keywords": ("x",), "identifiers": (Identifier(Scheme.PMID, "1"),)}
    lists |= {"links": (Link(LinkKind.PDF, "x"),), "details": (("volume", "1"),)}
    record = PoolRecord(number=1, year=1, paper=1, twin=1, label=Label.LATER, **texts, **lists)  # type: ignore[arg-type]
    assert set(pool_record_fields(record)) == names(PoolRecord)
    event = ReviewEvent(
        *(1, 1, ReviewEventKind.DECIDE, "ana", NOW, 1, Stage.ABSTRACT, Label.INCLUDE, Chosen.AUDIT),
        *(("x",), "note", 1, 1, "model", 1, 1, "{}"),
    )
    assert {*review_event_fields(event), "review"} == names(ReviewEvent)


def test_empty_fields_are_left_out() -> None:
    assert pool_record_fields(pool_record(title="A trial")) == {"number": 1, "title": "A trial"}
    assert review_event_fields(review_event(ReviewEventKind.REOPEN)) == {
        "kind": "reopen",
        "screener": "ana",
        "moment": "2026-12-01T09:00:00+00:00",
        "stage": "abstract",
    }


def test_a_moment_is_the_same_instant_in_utc() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=8)))
    assert review_event_fields(review_event(moment=there)) == review_event_fields(review_event())
    with pytest.raises(ValueError, match="without a time zone"):
        review_event_fields(review_event(moment=datetime(2026, 12, 1)))


@pytest.mark.parametrize("field", ["target", "confidence", "advantage", "floor"])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_numbers_of_a_plan_that_json_would_lose_are_refused(field: str, wrong: float) -> None:
    with pytest.raises(ValueError, match=f"{field} is .* no number that can be stored"):
        plan_to_json(Plan(stopping=replace(StoppingPlan(), **{field: wrong})))


def test_numbers_of_numpy_come_back_as_pythons() -> None:
    seven = np.int64(7)
    record = pool_record_from_bytes(
        pool_record_to_bytes(pool_record(seven, year=np.int32(2020), paper=seven, twin=seven))
    )
    assert (record.number, record.year, record.paper, record.twin) == (7, 2020, 7, 7)
    stopping = StoppingPlan(target=np.float32(0.5), in_a_row=np.int64(3))  # type: ignore[arg-type]
    plan = plan_from_json(plan_to_json(Plan(seed=np.int64(9), stopping=stopping)))  # type: ignore[arg-type]
    assert (plan.seed, plan.stopping.target, plan.stopping.in_a_row) == (9, 0.5, 3)


@pytest.mark.parametrize("field", ["number", "year", "paper", "twin"])
def test_what_is_no_integer_is_refused(field: str) -> None:
    wrongs: list[Any] = [1.5, "1", np.float64(1), b"\x1a9\x00"]
    for wrong in wrongs:
        with pytest.raises(TypeError, match="integer"):
            pool_record_to_bytes(replace(pool_record(), **{field: wrong}))


def test_labels_written_as_text_are_checked() -> None:
    assert pool_record_from_bytes(pool_record_to_bytes(pool_record(label="include"))).label is Label.INCLUDE
    with pytest.raises(ValueError, match="maybe"):
        pool_record_to_bytes(pool_record(label="maybe"))
    with pytest.raises(ValueError, match="maybe"):
        review_event_fields(decision(1, "maybe"))  # type: ignore[arg-type]


def test_what_a_newer_version_adds_is_passed_over_and_what_an_older_one_lacks_has_its_default() -> None:
    assert plan_from_json('{"colour": "red", "stopping": {"colour": "red", "target": 0.9}}') == Plan(
        stopping=StoppingPlan(target=0.9)
    )
    assert plan_from_json('{"criteria": [{"code": "P", "text": "Not adults", "colour": "red"}]}').criteria == (
        Criterion("P", "Not adults"),
    )
    assert pool_record_from_fields({"number": 1, "title": "A trial", "colour": "red"}) == pool_record(title="A trial")
    event = {"kind": "decide", "moment": "2026-12-01T09:00:00Z", "colour": "red"}
    assert review_event_from_fields(event, 1) == review_event(screener="", stage=Stage.ABSTRACT)


def test_texts_that_no_encoding_holds() -> None:
    record = pool_record(title="\ud800 and \0", authors=("\udfff",))
    back = pool_record_from_bytes(pool_record_to_bytes(record))
    assert (back.title, back.authors) == ("\ufffd and \0", ("\ufffd",))
    assert plan_from_json(plan_to_json(Plan(question="\ud800 and \0"))).question == "\ufffd and \0"


def test_a_damaged_record_is_said_to_be_damaged() -> None:
    with pytest.raises(StoreError, match="damaged"):
        pool_record_from_bytes(b"\0\1\2")
