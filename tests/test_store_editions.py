"""Editions in the store, the papers to choose from, and a fixed number of queries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event as hook

from broadsheet.errors import StoreError
from broadsheet.model import Notice, NoticeKind
from broadsheet.model.reading import Action, Edition
from broadsheet.store import PaperWrite, ShownPaper, Store, WriteBatch, open_store, schema
from tests.reading_makers import NOW, TODAY, edition, editions, entry, event, reader
from tests.reading_store import THROUGH_THE_DATABASE, merge, put_papers


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


@contextmanager
def counted(store: Store) -> Iterator[list[tuple[str, Any]]]:
    statements: list[tuple[str, Any]] = []

    def note(connection: object, cursor: object, statement: str, parameters: Any, *rest: object) -> None:
        if not statement.startswith("BEGIN"):
            statements.append((statement, parameters))

    hook.listen(store.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        hook.remove(store.engine, "before_cursor_execute", note)


# --- editions


@THROUGH_THE_DATABASE
@given(editions)
def test_editions_through_the_database(store: Store, one: Edition) -> None:
    if store.reading.reader("me"):
        store.reading.remove_reader("me")
    store.reading.add_reader(reader())
    assert store.reading.add_edition(one) == one
    assert store.reading.edition("me", one.day) == store.reading.last_edition("me") == one
    assert store.reading.editions_between("me", one.day, one.day) == [one]
    assert store.reading.edition_days("me") == [one.day]
    assert store.reading.shown_log("me") == [
        ShownPaper(one.day, e.paper.id, key, i, e.propensity, e.explored)
        for i, (key, e) in enumerate((section.key, e) for section in one.sections for e in section.entries)
    ]
    assert store.reading.shown("me", [e.paper.id for e in one.entries]) == {e.paper.id for e in one.entries}


def test_editions_by_day(store: Store) -> None:
    store.reading.add_reader(reader())
    store.reading.add_reader(reader("you"))
    days = [date(2026, 11, day) for day in (24, 26, 25)]
    made = {day: store.reading.add_edition(edition(day.day, day=day)) for day in days}
    store.reading.add_edition(edition(1, day=date(2026, 12, 1), name="you"))
    assert store.reading.edition_days("me") == sorted(days, reverse=True)
    assert store.reading.edition_days("me", 1) == [date(2026, 11, 26)]
    assert store.reading.last_edition("me") == made[date(2026, 11, 26)]
    between = store.reading.editions_between("me", date(2026, 11, 25), date(2026, 11, 26))
    assert between == [made[date(2026, 11, 25)], made[date(2026, 11, 26)]]
    assert store.reading.edition("me", date(2026, 12, 1)) is None
    assert store.reading.last_edition("them") is None
    assert store.reading.edition_days("them") == []


def test_the_second_edition_of_a_day_is_the_first(store: Store) -> None:
    store.reading.add_reader(reader())
    first = store.reading.add_edition(edition(1, 2))
    assert store.reading.add_edition(edition(3, 4, 5, notes=("later",))) == first
    assert store.reading.edition("me", TODAY) == first
    assert [one.paper for one in store.reading.shown_log("me")] == [1, 2]
    assert store.reading.shown("me", [1, 2, 3, 4, 5]) == {1, 2}


def test_an_edition_that_cannot_be_stored_leaves_nothing(store: Store) -> None:
    store.reading.add_reader(reader())
    section = edition(1).sections[0]
    with pytest.raises(ValueError, match="propensity"):
        store.reading.add_edition(
            replace(edition(1), sections=(replace(section, entries=(entry(1), entry(2, propensity=0))),))
        )
    # The database refuses after the edition is in: the position of an entry is there already.
    with store.engine.begin() as connection:
        row = {"reader": "me", "day": TODAY.toordinal(), "position": 1, "paper_id": 9, "section": "front"}
        connection.execute(schema.shown.insert(), row | {"propensity": 1.0, "explored": False})
    with pytest.raises(StoreError):
        store.reading.add_edition(edition(1, 2, 3))
    assert store.reading.last_edition("me") is None
    assert [one.paper for one in store.reading.shown_log("me")] == [9]


def test_an_edition_is_as_it_was_printed_whatever_becomes_of_its_papers(store: Store) -> None:
    put_papers(store, *[TODAY] * 4)
    papers = store.papers([1, 2, 3, 4])
    store.reading.add_reader(reader())
    printed = store.reading.add_edition(edition(papers[2], papers[3]))
    gone = replace(papers[3], title="Withdrawn", notices=(Notice(NoticeKind.WITHDRAWN),))
    store.write(WriteBatch(NOW, papers=[PaperWrite(gone)]))
    merge(store, 2, 1)
    assert store.reading.edition("me", TODAY) == printed
    assert [one.paper.title for one in printed.entries] == ["P1", "P2"]


def test_nobody_sees_a_paper_twice_whatever_it_was_merged_with(store: Store) -> None:
    put_papers(store, *[TODAY] * 6)
    store.reading.add_reader(reader())
    store.reading.add_edition(edition(3, 4))
    everything = range(8)
    assert store.reading.shown("me", everything) == {3, 4}
    merge(store, 3, 2)  # what was shown is gone
    assert store.reading.shown("me", everything) == {2, 3, 4}
    merge(store, 5, 4)  # what was shown takes another in
    assert store.reading.shown("me", everything) == {2, 3, 4, 5}
    merge(store, 2, 1)  # and the one after it
    assert store.reading.shown("me", everything) == {1, 2, 3, 4, 5}
    assert store.reading.shown("me", [5]) == {5}
    assert store.reading.shown("you", everything) == set()
    assert store.reading.shown("me", []) == set()
    assert [(one.paper, one.section) for one in store.reading.shown_log("me")] == [(1, "front"), (4, "discovery")]


def test_propensities_are_kept_from_the_first_edition_on(store: Store) -> None:
    store.reading.add_reader(reader())
    store.reading.add_edition(edition(7, 8, day=date(2026, 11, 29)))
    store.reading.add_edition(edition(9))
    assert store.reading.shown_log("me") == [
        (date(2026, 11, 29), 7, "front", 0, 1.0, False),
        (date(2026, 11, 29), 8, "discovery", 1, 0.25, True),
        (TODAY, 9, "front", 0, 1.0, False),
    ]
    assert [row.paper for row in store.reading.shown_log("me", "discovery")] == [8]


def test_two_threads_print_the_same_edition(store: Store) -> None:
    store.reading.add_reader(reader())
    ready, got = threading.Barrier(4), []

    def work(number: int) -> None:
        ready.wait()
        got.append(store.reading.add_edition(edition(number, notes=(f"by {number}",))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [store.reading.edition("me", TODAY)] * 4
    assert len(store.reading.shown_log("me")) == 1


def test_damaged_edition(store: Store) -> None:
    store.reading.add_reader(reader())
    store.reading.add_edition(edition(1))
    with store.engine.begin() as connection:
        connection.execute(schema.editions.update().values(content=b"\0\1\2"))
    with pytest.raises(StoreError, match="damaged"):
        store.reading.last_edition("me")


def test_deliveries_are_kept_by_channel_the_last_attempt_of_each(store: Store) -> None:
    store.reading.add_reader(reader())
    keep, yesterday = store.reading.add_delivery, TODAY - timedelta(days=1)
    keep("me", TODAY, "email", "failed", "550 no such\0 mailbox \ud800", now=NOW)
    keep("me", TODAY, "webhook", "sent", "", now=NOW)
    keep("me", yesterday, "email", "sent", "", now=NOW)
    [email, webhook] = store.reading.deliveries("me", TODAY)
    assert (email.channel, email.state, email.message) == ("email", "failed", "550 no such\ufffd mailbox \ufffd")
    assert (webhook.channel, webhook.state, webhook.moment, webhook.day) == ("webhook", "sent", NOW, TODAY)
    keep("me", TODAY, "email", "sent", "250 ok", now=NOW + timedelta(minutes=5))
    [email, same] = store.reading.deliveries("me", TODAY)
    assert (email.state, email.message, email.moment) == ("sent", "250 ok", NOW + timedelta(minutes=5))
    assert same == webhook
    assert store.reading.deliveries("you", TODAY) == []


def test_what_was_sent_stays_sent(store: Store) -> None:
    """A second attempt, by a person or another server, that fails must not make the first one be done again."""
    store.reading.add_reader(reader())
    store.reading.add_delivery("me", TODAY, "mail", "sent", "", now=NOW)
    store.reading.add_delivery("me", TODAY, "mail", "failed", "login: refused", now=NOW + timedelta(hours=1))
    [mail] = store.reading.deliveries("me", TODAY)
    assert (mail.state, mail.message, mail.moment) == ("sent", "", NOW)


def test_only_one_sends(store: Store) -> None:
    store.reading.add_reader(reader())
    store.reading.add_reader(reader("you"))
    take, soon = store.reading.claim_delivery, NOW + timedelta(minutes=9)
    assert take("me", TODAY, "mail", now=NOW)
    assert not take("me", TODAY, "mail", now=soon)
    assert take("me", TODAY, "webhook", now=NOW)
    assert take("you", TODAY, "mail", now=NOW)
    assert take("me", TODAY - timedelta(days=1), "mail", now=NOW)
    assert take("me", TODAY, "mail", now=NOW + timedelta(minutes=11))  # who had it was killed
    store.reading.add_delivery("me", TODAY, "mail", "failed", "login: refused", now=soon)
    assert take("me", TODAY, "mail", now=soon)
    store.reading.add_delivery("me", TODAY, "mail", "sent", "", now=soon)
    assert not take("me", TODAY, "mail", now=NOW + timedelta(days=1))


def test_of_many_threads_one_sends(store: Store) -> None:
    store.reading.add_reader(reader())
    ready = threading.Barrier(6)
    got: list[bool] = []

    def work() -> None:
        ready.wait()
        got.append(store.reading.claim_delivery("me", TODAY, "mail", now=NOW))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 5 + [True]


# --- papers to choose from


SOON = st.none() | st.dates(TODAY - timedelta(days=20), TODAY + timedelta(days=3))
LATE = SOON.filter(bool)
QUESTIONS = st.tuples(SOON, LATE, st.integers(0, 20), LATE)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(SOON, max_size=12), QUESTIONS, st.integers(1, 9))
def test_candidates_are_what_they_say(
    store: Store, days: list[date | None], asked: tuple[date | None, date, int, date], limit: int
) -> None:
    since, through, newer, late = asked
    if store.counts().papers < 400:
        put_papers(store, *days)
    expected = [
        paper
        for paper in store.newest(1000)
        if paper.day
        and paper.day <= through
        and (since is None or paper.day > since or (paper.id > newer and paper.day >= late))
    ]
    assert store.reading.candidates(*asked, 1000) == expected
    assert store.reading.candidates(*asked, limit) == expected[:limit]


def test_candidates_have_their_relations_and_undated_papers_are_none(store: Store) -> None:
    put_papers(store, TODAY, None, TODAY - timedelta(days=400))
    store.write(WriteBatch(NOW, links=[(1, 3)]))
    found = store.reading.candidates(None, TODAY, 0, date.min, 10)
    assert [(paper.id, paper.related) for paper in found] == [(1, (3,)), (3, (1,))]
    assert store.reading.candidates(date.max, date.max, 0, date.min, 10) == found


def test_a_late_arrival_is_a_candidate_and_an_old_acquaintance_is_not(store: Store) -> None:
    days = [TODAY - timedelta(days=n) for n in range(4)]
    put_papers(store, *days)
    assert store.reading.newest_paper() == 4
    put_papers(store, days[2], days[3], days[0] - timedelta(days=15))
    yesterday = TODAY - timedelta(days=1)
    found = store.reading.candidates(yesterday, TODAY, 4, TODAY - timedelta(days=14), 50)
    assert [paper.id for paper in found] == [1, 5, 6]
    assert store.reading.newest_paper() == 7


def test_newest_paper_counts_papers_that_are_gone(store: Store) -> None:
    assert store.reading.newest_paper() == 0
    put_papers(store, TODAY, TODAY)
    merge(store, 2, 1)
    assert store.reading.newest_paper() == 2


def test_recent_papers(store: Store) -> None:
    days = [TODAY - timedelta(days=n) for n in range(4)]
    put_papers(store, days[0], days[1], days[1], days[3], None)
    assert [paper.id for paper in store.reading.recent_papers(10)] == [1, 3, 2, 4]
    assert [paper.id for paper in store.reading.recent_papers(2)] == [1, 3]
    assert [paper.id for paper in store.reading.recent_papers(10, before=days[0])] == [3, 2, 4]


# --- numbers of queries


QUERIES: dict[str, tuple[Callable[[Store, int], Any], int]] = {
    "candidates": (lambda s, n: s.reading.candidates(None, TODAY, 0, TODAY, n), 2),
    "recent_papers": (lambda s, n: s.reading.recent_papers(n), 2),
    "shown": (lambda s, n: s.reading.shown("me", range(1, n + 1)), 3),
    "events_of": (lambda s, n: s.reading.events_of("me", range(1, n + 1)), 3),
    "events": (lambda s, n: s.reading.events("me", after=1000 - n), 1),
    "newest_events": (lambda s, n: s.reading.newest_events("me", [Action.SAVE], n), 1),
    "editions_between": (lambda s, n: s.reading.editions_between("me", TODAY, TODAY + timedelta(days=2)), 1),
}


@pytest.fixture
def full(store: Store) -> Store:
    put_papers(store, *[TODAY] * 1000)
    store.reading.add_reader(reader())
    store.reading.add_events([event(paper=paper) for paper in range(1, 1001)])
    store.reading.add_edition(edition(*range(1, 1001)))
    return store


def test_number_of_queries_about_readers_does_not_depend_on_the_batch(store: Store, full: Store) -> None:
    for name, (ask, expected) in QUERIES.items():
        for n in (3, 1000):
            with counted(store) as statements:
                found = ask(store, n)
            assert len(statements) == expected, name
            assert len(found) == (1 if name == "editions_between" else n), name


def test_number_of_statements_about_readers_does_not_depend_on_the_batch(store: Store, full: Store) -> None:
    sizes = []
    for n in (3, 1000):
        with counted(store) as statements:
            store.reading.add_edition(edition(*range(1, n + 1), day=TODAY + timedelta(days=n)))
            store.reading.add_events([event(paper=paper) for paper in range(1, n + 1)])
        sizes.append(len(statements))
    assert sizes[0] == sizes[1] <= 10


def test_what_is_asked_every_day_is_found_by_an_index(full: Store) -> None:
    if full.engine.dialect.name != "sqlite":
        pytest.skip("the planner of a server chooses by its statistics")
    with counted(full) as statements:
        full.reading.candidates(TODAY - timedelta(days=1), TODAY, 990, TODAY - timedelta(days=14), 50)
        full.reading.recent_papers(10, before=TODAY)
        full.reading.reader_by_secret("secret of me")
        full.reading.shown("me", [1, 2])
        full.reading.events_of("me", [1, 2])
        full.reading.events("me", after=5)
        full.reading.newest_events("me", [Action.SAVE], 5, before=900)
        full.reading.last_event("me")
        full.reading.last_edition("me")
        full.reading.edition_days("me", 3)
        full.reading.editions_between("me", TODAY, TODAY)
        full.reading.deliveries("me", TODAY)
    with full.engine.connect() as connection:
        for statement, parameters in list(statements):
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            assert not [step for step in plan if step.startswith("SCAN") and "VIRTUAL TABLE" not in step], statement
            if "FROM papers" in statement:  # in the order of the index, nothing is sorted
                assert all("ix_papers_day_id (day" in step for step in plan), (statement, plan)
