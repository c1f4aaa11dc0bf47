"""Reviews and their pools in the store: round trips, names, numbers, whole transactions, speed."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from broadsheet.errors import InputError, NotFoundError, StoreError
from broadsheet.model.screening import Label, Plan, PoolRecord, ReviewEventKind, StoppingPlan
from broadsheet.store import Store, open_store, plan_from_json, schema
from tests.review_makers import (
    NOW,
    decision,
    plans,
    pool,
    pool_record,
    pool_records,
    review_event,
)
from tests.test_store_editions import counted

THROUGH_THE_DATABASE = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
ADD = review_event(ReviewEventKind.ADD, detail='{"added": 3}')


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


def stored_rows(store: Store) -> list[int]:
    """How many rows each of the tables has."""
    tables = (schema.reviews, schema.review_records, schema.review_events)
    with store.engine.connect() as connection:
        return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


# --- reviews


@THROUGH_THE_DATABASE
@given(plans, plans)
def test_reviews_are_kept_with_their_plan(store: Store, first: Plan, second: Plan) -> None:
    for known in store.screening.reviews():
        store.screening.remove_review(known.id)
    made = store.screening.add_review("Statins", first, NOW, "ana")
    assert (made.name, made.created, made.plan) == ("Statins", NOW, first)
    assert store.screening.reviews() == [made]
    assert store.screening.review(made.id) == store.screening.review("Statins") == made
    [created] = store.screening.events(made.id)
    assert (created.id, created.kind, created.screener, created.moment) == (1, ReviewEventKind.CREATE, "ana", NOW)
    assert plan_from_json(created.detail) == first
    changed = store.screening.add_event(review_event(ReviewEventKind.PLAN, made.id), second)
    assert plan_from_json(changed.detail) == second
    assert store.screening.review(made.id) == replace(made, plan=second)


def test_reviews_oldest_first(store: Store) -> None:
    for name, hours in (("b", 1), ("z", 0), ("a", 1)):
        store.screening.add_review(name, Plan(), NOW + timedelta(hours=hours))
    assert [review.name for review in store.screening.reviews()] == ["z", "b", "a"]


def test_a_name_is_had_once(store: Store) -> None:
    first = store.screening.add_review("Statins", Plan(), NOW)
    with pytest.raises(InputError, match="'Statins' already"):
        store.screening.add_review(" Statins\n", Plan(seed=2), NOW)
    assert store.screening.reviews() == [first]
    assert stored_rows(store) == [1, 0, 1]
    store.screening.add_review("statins", Plan(), NOW)  # as with readers, another name


def test_a_name_is_the_same_however_its_accents_were_typed(store: Store) -> None:
    apart = unicodedata.normalize("NFD", "Café au régime")
    made = store.screening.add_review(apart, Plan(), NOW)
    assert made.name == unicodedata.normalize("NFC", apart) != apart
    assert store.screening.review(apart) == store.screening.review(f" {made.name} ") == made
    with pytest.raises(InputError, match="already"):
        store.screening.add_review(made.name, Plan(), NOW)


@pytest.mark.parametrize("name", ["Statins: benefits / harms?", "12", "他汀类药物", "x" * 200, "Ana's “first” review"])
def test_names_that_a_review_can_have(store: Store, name: str) -> None:
    made = store.screening.add_review(name, Plan(), NOW)
    assert store.screening.review(name) == made
    assert made.name == name


@pytest.mark.parametrize(
    "name", ["", "  ", "\0", "a\0b", "a\nb", "a\x1b[2J", "\ud800", "me\udcff", "x" * 201, "a\u2028b"]
)
def test_names_that_no_review_can_have(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="cannot be a review's name"):
        store.screening.add_review(name, Plan(), NOW)
    assert store.screening.review(name) is None
    assert stored_rows(store) == [0, 0, 0]


def test_reviews_that_there_are_not(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    assert store.screening.review(2) is store.screening.review("2") is store.screening.review("Aspirin") is None
    assert store.screening.count(2) == 0
    assert list(store.screening.records(2)) == list(store.screening.records(2, [1])) == store.screening.events(2) == []


WITHOUT_REVIEW: dict[str, Callable[[Store], object]] = {
    "remove_review": lambda s: s.screening.remove_review(7),
    "add_records": lambda s: s.screening.add_records(7, pool(2), ADD),
    "add_event": lambda s: s.screening.add_event(decision(1, review=7)),
    "add_event with plan": lambda s: s.screening.add_event(review_event(ReviewEventKind.PLAN, 7), Plan(seed=9)),
    "add_events": lambda s: s.screening.add_events(7, [decision(1)]),
    "add_events, none": lambda s: s.screening.add_events(7, []),
}


@pytest.mark.parametrize("name", WITHOUT_REVIEW)
def test_nothing_is_written_about_a_review_that_there_is_not(store: Store, name: str) -> None:
    made = store.screening.add_review("Statins", Plan(), NOW)
    with pytest.raises(NotFoundError, match="no review with the id 7"):
        WITHOUT_REVIEW[name](store)
    assert store.screening.reviews() == [made]
    assert stored_rows(store) == [1, 0, 1]


def test_a_review_goes_with_everything_and_the_others_stay(store: Store) -> None:
    for name in ("Statins", "Aspirin"):
        review = store.screening.add_review(name, Plan(), NOW)
        store.screening.add_records(review.id, pool(3), ADD)
        store.screening.add_event(decision(1, review=review.id))
    kept = [store.screening.review(2), list(store.screening.records(2)), store.screening.events(2)]
    store.screening.remove_review(1)
    assert store.screening.review("Statins") is None
    assert stored_rows(store) == [1, 3, 3]
    assert kept == [store.screening.review(2), list(store.screening.records(2)), store.screening.events(2)]


def test_an_id_of_a_review_is_never_given_again(store: Store) -> None:
    for expected in (1, 2, 3):  # what is kept on disk for a review that is gone must not be taken for the new one's
        assert store.screening.add_review("Statins", Plan(), NOW).id == expected
        store.screening.remove_review(expected)


def test_a_plan_that_cannot_be_kept_leaves_nothing(store: Store) -> None:
    broken = Plan(stopping=StoppingPlan(target=float("nan")))
    with pytest.raises(ValueError, match="target is nan"):
        store.screening.add_review("Statins", broken, NOW)
    with pytest.raises(ValueError, match="without a time zone"):
        store.screening.add_review("Statins", Plan(), datetime(2026, 12, 1))
    assert stored_rows(store) == [0, 0, 0]
    assert store.screening.add_review("Statins", Plan(), NOW).id == 1


# --- the pool


@THROUGH_THE_DATABASE
@given(st.lists(pool_records, max_size=3))
def test_records_through_the_database(store: Store, some: list[PoolRecord]) -> None:
    if store.screening.review(1) is None:
        store.screening.add_review("Statins", Plan(), NOW)
    before = store.screening.count(1)
    numbered = [replace(one, number=before + i) for i, one in enumerate(some, 1)]
    added = store.screening.add_records(1, numbered, ADD)
    assert replace(added, id=0) == ADD
    assert store.screening.count(1) == before + len(some)
    assert list(store.screening.records(1, after=before)) == numbered
    assert list(store.screening.records(1))[before:] == numbered
    assert store.screening.events(1)[-1] == added


def test_records_by_number(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    store.screening.add_review("Aspirin", Plan(), NOW)
    store.screening.add_records(2, pool(9, source="other"), replace(ADD, review=2))
    made = pool(2500)
    store.screening.add_records(1, made, ADD)
    asked = store.screening.records
    assert list(asked(1)) == made
    assert [one.number for one in asked(1, after=2498)] == [2499, 2500]
    assert list(asked(1, after=2500)) == []
    assert [one.number for one in asked(1, [7, 3, 7, 0, -1, 9999])] == [3, 7]
    assert [one.number for one in asked(1, [7, 3], after=3)] == [7]
    assert list(asked(1, reversed(range(1, 2501)))) == made
    assert list(asked(1, [])) == []
    assert [one.source for one in asked(2, [3])] == ["other"]


def test_numbers_go_on_without_gaps(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    for wrong in (
        [pool_record(0)],
        [pool_record(2)],
        [pool_record(1), pool_record(1)],
        [pool_record(1), pool_record(3)],
    ):
        with pytest.raises(ValueError, match="of the pool should"):
            store.screening.add_records(1, wrong, ADD)
    store.screening.add_records(1, pool(3), ADD)
    with pytest.raises(ValueError, match="record 3 stands where record 4"):
        store.screening.add_records(1, pool(3, first=3), ADD)
    store.screening.add_records(1, pool(2, first=4), ADD)
    assert [one.number for one in store.screening.records(1)] == [1, 2, 3, 4, 5]
    assert stored_rows(store) == [1, 5, 3]


def test_records_that_fail_on_their_way_leave_nothing(store: Store) -> None:
    """A file that breaks in the middle, after thousands of its records were written."""
    store.screening.add_review("Statins", Plan(), NOW)

    def breaking() -> Iterator[PoolRecord]:
        yield from pool(3000)
        raise InputError("hits.ris: line 90,001 cannot be read")

    with pytest.raises(InputError, match="hits"):
        store.screening.add_records(1, breaking(), ADD)
    with pytest.raises(ValueError, match="without a time zone"):  # the event is written last
        store.screening.add_records(1, pool(3), replace(ADD, moment=datetime(2026, 12, 1)))
    assert stored_rows(store) == [1, 0, 1]
    store.screening.add_records(1, pool(3), ADD)
    assert store.screening.count(1) == 3


def test_records_and_what_follows_from_them_are_one(store: Store) -> None:
    """A new record may show that two old ones are the same."""
    store.screening.add_review("Statins", Plan(), NOW)
    twin = review_event(ReviewEventKind.TWIN, record=2, other=1)
    with pytest.raises(ValueError, match="without a time zone"):
        store.screening.add_records(1, pool(3), ADD, also=[twin, replace(twin, moment=datetime(2026, 12, 1))])
    assert stored_rows(store) == [1, 0, 1]
    added = store.screening.add_records(1, pool(3), ADD, also=[twin])
    assert store.screening.events(1, after=1) == [added, replace(twin, id=3)]


def test_numbers_of_numpy_are_kept_as_plain_integers(store: Store) -> None:
    """asreview/asreview#2568: ``invalid literal for int() ... b'\\x1a9\\x00...'`` after an import of 28,000 records."""
    store.screening.add_review("Statins", Plan(), NOW)
    numbers = np.arange(1, 31)
    made = [pool_record(n, twin=n - 1, year=np.int32(2000), paper=n) for n in numbers]
    store.screening.add_records(np.int64(1), made, ADD)  # type: ignore[arg-type]
    one = decision(numbers[4], other=numbers[3], undoes=numbers[0], place=np.int32(5), unread=np.uint16(9))
    kept = [store.screening.add_event(replace(one, review=np.int64(1))), *store.screening.add_events(1, [one])]  # type: ignore[arg-type]
    assert store.screening.events(1)[2:] == kept
    assert {type(value) for event in kept for value in (event.record, event.other, event.undoes, event.place)} == {int}
    found = list(store.screening.records(np.int64(1), numbers))  # type: ignore[arg-type]
    assert found == made
    assert {type(value) for record in found for value in (record.number, record.twin, record.year, record.paper)} == {
        int
    }
    with store.engine.connect() as connection:
        for table, columns in ((schema.review_records, ("review", "number")), (schema.review_events, ("record", "id"))):
            for column in columns:
                assert {type(value) for value in connection.scalars(select(table.c[column]))} == {int}


@pytest.mark.parametrize("wrong", [1.0, "1", b"\x1a9\x00", None])
def test_what_is_no_integer_is_refused(store: Store, wrong: Any) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    store.screening.add_records(1, pool(1), ADD)
    for field in ("record", "other", "undoes", "place", "unread", "review"):
        with pytest.raises(TypeError):
            store.screening.add_event(replace(decision(1), **{field: wrong}))
    with pytest.raises((TypeError, ValueError)):
        store.screening.add_records(1, [pool_record(wrong)], ADD)
    with pytest.raises(TypeError):
        store.screening.add_records(1, [pool_record(2, twin=wrong)], ADD)
    assert stored_rows(store) == [1, 1, 2]


# --- faults and speed


def test_damaged_records_and_plans(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    store.screening.add_records(1, pool(2), ADD)
    with store.engine.begin() as connection:
        number = schema.review_records.c.number
        connection.execute(schema.review_records.update().where(number == 2).values(content=b"\0\1\2"))
    assert [one.number for one in store.screening.records(1, [1])] == [1]
    with pytest.raises(StoreError, match=r"damaged.*restore"):
        list(store.screening.records(1))


def test_a_decision_is_a_fixed_number_of_statements(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    with counted(store) as first:
        store.screening.add_event(decision(1))
    store.screening.add_events(1, [decision(n) for n in range(1, 3000)])
    with counted(store) as later:
        store.screening.add_event(decision(1))
    assert len(first) == len(later) <= 4  # PostgreSQL's lock is a statement too
    with counted(store) as many:
        store.screening.add_events(1, [decision(n) for n in range(1, 3000)])
    assert len(many) == len(first)
    with counted(store) as reading:
        assert len(store.screening.events(1)) == 6001
        store.screening.count(1)
    assert len(reading) == 2


def test_events_after_one_are_found_without_reading_those_before(store: Store) -> None:
    if store.engine.dialect.name != "sqlite":
        pytest.skip("the plans of PostgreSQL depend on how many rows there are")
    with sqlite3.connect(store.where) as other:
        questions = (
            "SELECT * FROM review_events WHERE review = 1 AND id > 7 ORDER BY id",
            "SELECT max(id) FROM review_events WHERE review = 1",
            "SELECT content FROM review_records WHERE review = 1 AND number > 7 ORDER BY number LIMIT 9",
            "SELECT max(number) FROM review_records WHERE review = 1",
        )
        for question in questions:
            [plan] = {row[3] for row in other.execute(f"EXPLAIN QUERY PLAN {question}")}
            assert plan.startswith("SEARCH"), question
            assert "review=?" in plan
    other.close()


def test_forty_thousand_records_and_decisions(store: Store) -> None:
    """Field case F28 was met at 28,000."""
    abstract = "Boats on the river are slow, and what they carry is heavy. " * 20
    store.screening.add_review("Statins", Plan(), NOW)
    made = (pool_record(n, abstract=f"{n} {abstract}", authors=("Ana Gil", "Bo Chen")) for n in range(1, 40_001))
    store.screening.add_records(1, made, ADD)
    assert store.screening.count(1) == 40_000
    total = 0
    for number, record in enumerate(store.screening.records(1), 1):
        assert type(record.number) is int
        assert record.number == number
        assert record.abstract.startswith(f"{number} ")
        total += 1
    assert total == 40_000
    labels = list(Label)
    store.screening.add_events(1, [decision(n, labels[n % 3], place=n, unread=9) for n in range(1, 40_001)])
    events = store.screening.events(1)
    assert [(one.record, one.label) for one in events[2:]] == [(n, labels[n % 3]) for n in range(1, 40_001)]
    store.screening.remove_review(1)
    assert stored_rows(store) == [0, 0, 0]
