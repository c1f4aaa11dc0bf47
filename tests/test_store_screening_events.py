"""Events of reviews in the store, and whole reviews."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from broadsheet.errors import InputError
from broadsheet.model import Identifier, Scheme
from broadsheet.model.screening import Plan, PoolRecord, ReviewEvent, ReviewEventKind
from broadsheet.store import Store, open_store, schema
from tests.review_makers import (
    NOW,
    decision,
    pool,
    pool_record,
    review_event,
    review_events,
)

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


# --- events


@THROUGH_THE_DATABASE
@given(st.lists(review_events, min_size=1, max_size=4))
def test_events_of_a_review_come_back_in_order_with_growing_ids(store: Store, some: list[ReviewEvent]) -> None:
    if store.screening.review(1) is None:
        store.screening.add_review("Statins", Plan(), NOW)
    before = store.screening.events(1)
    kept = [store.screening.add_event(one) for one in some]
    assert [replace(one, id=0) for one in kept] == some
    together = store.screening.add_events(1, some)
    assert [replace(one, id=0) for one in together] == some
    assert store.screening.events(1, before[-1].id) == kept + together
    assert store.screening.events(1) == before + kept + together
    assert [one.id for one in store.screening.events(1)] == list(range(1, 1 + len(before) + 2 * len(some)))


def test_each_review_counts_its_events_by_itself(store: Store) -> None:
    for name in ("Statins", "Aspirin"):
        store.screening.add_review(name, Plan(), NOW)
    assert [store.screening.add_event(decision(1, review=review)).id for review in (1, 2, 2, 1)] == [2, 2, 3, 3]
    assert [one.review for one in store.screening.events(1)] == [1, 1, 1]
    store.screening.remove_review(1)
    assert [one.id for one in store.screening.events(2)] == [1, 2, 3]


def test_no_events_of_a_review(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    assert store.screening.add_events(1, []) == store.screening.events(1, after=1) == []


def test_an_event_belongs_to_the_review_it_is_added_to(store: Store) -> None:
    for name in ("Statins", "Aspirin"):
        store.screening.add_review(name, Plan(), NOW)
    [kept] = store.screening.add_events(2, [decision(1, review=1)])
    added = store.screening.add_records(2, pool(1), ADD)
    assert (kept.review, added.review) == (2, 2)
    assert [one.kind for one in store.screening.events(1)] == [ReviewEventKind.CREATE]


def test_an_event_and_the_plan_it_changes_are_one(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    change = review_event(ReviewEventKind.PLAN)
    with pytest.raises(ValueError, match="without a time zone"):  # fails after the plan was written
        store.screening.add_event(replace(change, moment=datetime(2026, 12, 1)), Plan(seed=3))
    assert store.screening.reviews()[0].plan == Plan()
    kept = store.screening.add_event(replace(change, detail="its own"), Plan(seed=3))
    assert kept.detail == "its own"
    assert store.screening.reviews()[0].plan == Plan(seed=3)
    assert store.screening.add_event(change).detail == ""
    assert store.screening.reviews()[0].plan == Plan(seed=3)


def test_an_undo_of_a_decision_can_be_kept_with_it(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    undo = review_event(ReviewEventKind.UNDO)
    some = [decision(1), decision(2), replace(undo, undoes=-2), replace(undo, undoes=-1), replace(undo, undoes=1)]
    assert [one.undoes for one in store.screening.add_events(1, some)] == [0, 0, 3, 2, 1]


def test_several_decisions_are_kept_all_or_none(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    with pytest.raises(ValueError, match="without a time zone"):
        store.screening.add_events(1, [decision(1), decision(2, moment=datetime(2026, 12, 1))])
    assert stored_rows(store) == [1, 0, 1]


@pytest.mark.parametrize("field", ["kind", "stage", "label", "chosen"])
def test_words_that_mean_nothing_are_refused(store: Store, field: str) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    with pytest.raises(ValueError, match="perhaps"):
        store.screening.add_event(replace(decision(1), **{field: "perhaps"}))
    assert stored_rows(store) == [1, 0, 1]
    fitting = {"kind": "decide", "stage": "abstract", "label": "exclude", "chosen": "ranked"}
    assert replace(store.screening.add_event(replace(decision(1), **{field: fitting[field]})), id=0) == decision(1)


def test_a_moment_is_the_same_instant_in_utc(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    kept = store.screening.add_event(decision(1, moment=NOW.astimezone(timezone(timedelta(hours=8)))))
    assert kept.moment.isoformat() == NOW.isoformat()
    assert store.screening.events(1)[-1] == kept


def test_texts_that_not_every_database_holds(store: Store) -> None:
    store.screening.add_review("Statins", Plan(question="\ud800"), NOW, "a\0")
    bad, good = "a\0b\ud800c\udfff", "a\ufffdb\ufffdc\ufffd"
    texts = ("screener", "note", "model", "detail")
    kept = store.screening.add_event(decision(1, reasons=(bad, "P"), **dict.fromkeys(texts, bad)))
    assert [getattr(kept, name) for name in texts] == [good] * 4
    assert kept.reasons == (good, "P")
    made = pool_record(1, title=bad, authors=(bad,), identifiers=(Identifier(Scheme.DOI, bad),), note=bad)
    store.screening.add_records(1, [made], replace(ADD, detail=bad))
    [created, *rest] = store.screening.events(1)
    assert (created.screener, rest[0], rest[1].detail) == ("a\ufffd", kept, good)
    [record] = store.screening.records(1)
    clean = "a\0b\ufffdc\ufffd"
    assert record == pool_record(
        1, title=clean, authors=(clean,), identifiers=(Identifier(Scheme.DOI, clean),), note=clean
    )
    assert store.screening.reviews()[0].plan.question == "\ufffd"


def test_two_threads_decide_and_no_number_is_given_twice(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    ready = threading.Barrier(4)
    given: list[ReviewEvent] = []

    def work(name: str) -> None:
        ready.wait()
        for number in range(1, 11):
            with store.writing(60):  # longer than the tests' stores wait
                given.append(store.screening.add_event(decision(number, screener=name)))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given, key=lambda one: one.id) == store.screening.events(1, after=1)
    assert [one.id for one in store.screening.events(1)] == list(range(1, 42))


# --- whole reviews


def exported(store: Store, review: int) -> tuple[list[PoolRecord], list[ReviewEvent]]:
    return list(store.screening.records(review)), store.screening.events(review)


def test_a_review_is_imported_as_it_was(store: Store) -> None:
    store.screening.add_review("Aspirin", Plan(), NOW)
    made = store.screening.add_review("Statins", Plan(), NOW, "ana")
    store.screening.add_records(2, pool(2100), replace(ADD, review=2))
    store.screening.add_event(review_event(ReviewEventKind.PLAN, 2), Plan(seed=5))
    some = [decision(n % 2100 + 1, model=f"logistic/tfidf@{n}") for n in range(1500)]
    store.screening.add_events(2, [*some, review_event(ReviewEventKind.UNDO, undoes=-3)])
    records, events = exported(store, 2)
    with pytest.raises(InputError, match="'Statins' already"):
        store.screening.import_review("Statins", Plan(seed=5), made.created, records, events)
    again = store.screening.import_review("Statins again", Plan(seed=5), made.created, iter(records), iter(events))
    assert again == replace(made, id=3, name="Statins again", plan=Plan(seed=5))
    assert store.screening.review("Statins again") == again
    assert exported(store, 3) == (records, [replace(one, review=3) for one in events])
    assert store.screening.add_event(decision(1, review=3)).id == events[-1].id + 1


def test_a_review_that_is_not_whole_is_not_imported(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    store.screening.add_records(1, pool(3), ADD)
    records, events = exported(store, 1)
    wrong: list[tuple[list[PoolRecord], list[ReviewEvent], str]] = [
        (records[1:], events, "record 2 stands where record 1"),
        (records, events[1:], "event 2 stands where event 1"),
        (records, events[::-1], "event 2 stands where event 1"),
        (records, [*events, events[-1]], "event 2 stands where event 3"),
        (records, [replace(events[0], moment=datetime(2026, 12, 1))], "without a time zone"),
    ]
    for some_records, some_events, message in wrong:
        with pytest.raises(ValueError, match=message):
            store.screening.import_review("Aspirin", Plan(), NOW, some_records, some_events)
    assert stored_rows(store) == [1, 3, 2]
    assert store.screening.import_review("Aspirin", Plan(), NOW, [], []).id == 2
