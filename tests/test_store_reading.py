"""Readers, events and editions in the store: round trips, merges, whole transactions, a fixed number of queries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event as hook
from sqlalchemy import select

from broadsheet.errors import NotFoundError, StoreError
from broadsheet.model import Notice, NoticeKind, Paper
from broadsheet.model.reading import Action, Edition, Event, Interest, InterestKind, Profile
from broadsheet.store import PaperWrite, ShownPaper, Store, WriteBatch, open_store, schema
from tests.makers import record, write
from tests.reading_makers import NOW, TODAY, edition, editions, entry, event, events, profiles, reader

THROUGH_THE_DATABASE = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


def merge(store: Store, gone: int, kept: int) -> None:
    store.write(WriteBatch(NOW, merged=[(gone, kept)]))


def put_papers(store: Store, *days: date | None) -> None:
    """Papers with the ids 1, 2, … of these days."""
    write(store, *(record(f"P{i}", listed=day) for i, day in enumerate(days)))


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


# --- readers


@THROUGH_THE_DATABASE
@given(profiles, profiles)
def test_readers_are_kept_with_their_profile(store: Store, first: Profile, second: Profile) -> None:
    if store.reading.reader("me"):
        store.reading.remove_reader("me")
    me = reader(profile=first)
    assert store.reading.add_reader(me) == me
    assert store.reading.reader("me") == me
    store.reading.set_profile("me", second)
    assert store.reading.readers() == [replace(me, profile=second)]


def test_readers_oldest_first(store: Store) -> None:
    for name, hours in (("b", 1), ("z", 0), ("a", 1)):
        store.reading.add_reader(reader(name, created=NOW + timedelta(hours=hours)))
    assert [x.name for x in store.reading.readers()] == ["z", "a", "b"]


def test_a_second_reader_of_a_name_is_the_first(store: Store) -> None:
    first, second = reader(), reader(secret="another", profile=Profile(risk=0.3))
    assert store.reading.add_reader(first) == first
    assert store.reading.add_reader(second) == first
    assert store.reading.readers() == [first]
    assert store.reading.reader_by_secret("another") is None


def test_a_secret_leads_to_its_reader_until_it_is_renewed(store: Store) -> None:
    me, you = store.reading.add_reader(reader("me")), store.reading.add_reader(reader("you"))
    assert store.reading.reader_by_secret("secret of me") == me
    assert store.reading.reader_by_secret("secret of you") == you
    for wrong in ("", "secret of m", "SECRET OF ME", "\ud800", "\0"):
        assert store.reading.reader_by_secret(wrong) is None
    store.reading.set_secret("me", "new")
    assert store.reading.reader_by_secret("secret of me") is None
    assert store.reading.reader_by_secret("new") == replace(me, secret="new")
    assert store.reading.reader("you") == you


@pytest.mark.parametrize("name", ["", "Me", "\0", "\ud800", "me\0", "x" * 10_000])
def test_names_that_nobody_has(store: Store, name: str) -> None:
    store.reading.add_reader(reader("me"))
    assert store.reading.reader(name) is None


@pytest.mark.parametrize("name", ["\0", "\ud800", "me\udcff"])
def test_nothing_is_written_under_a_name_that_no_database_holds(store: Store, name: str) -> None:
    """A command line of other bytes than UTF-8 gives lone surrogates."""
    acts: list[Callable[[], object]] = [
        lambda: store.reading.remove_reader(name),
        lambda: store.reading.set_secret(name, "x"),
        lambda: store.reading.set_profile(name, Profile()),
        lambda: store.reading.add_event(event(name=name)),
    ]
    for act in acts:
        with pytest.raises(NotFoundError, match="no reader"):
            act()


WITHOUT_READER: dict[str, Callable[[Store], object]] = {
    "set_profile": lambda s: s.reading.set_profile("you", Profile()),
    "set_secret": lambda s: s.reading.set_secret("you", "x"),
    "remove_reader": lambda s: s.reading.remove_reader("you"),
    "add_event": lambda s: s.reading.add_event(event(name="you")),
    "add_event with profile": lambda s: s.reading.add_event(event(name="you"), Profile()),
    "add_events": lambda s: s.reading.add_events([event(), event(name="you")]),
    "add_edition": lambda s: s.reading.add_edition(edition(1, name="you")),
    "add_delivery": lambda s: s.reading.add_delivery("you", TODAY, "email", "sent", "", now=NOW),
    "claim_delivery": lambda s: s.reading.claim_delivery("you", TODAY, "email", now=NOW),
}


@pytest.mark.parametrize("name", WITHOUT_READER)
def test_nothing_is_written_about_a_reader_that_there_is_not(store: Store, name: str) -> None:
    store.reading.add_reader(reader("me"))
    with pytest.raises(NotFoundError, match=r"no reader 'you'.*broadsheet readers"):
        WITHOUT_READER[name](store)
    assert store.reading.readers() == [reader("me")]
    assert store.reading.events("me") == store.reading.events("you") == []
    assert store.reading.last_edition("you") is None
    assert store.reading.shown_log("you") == store.reading.deliveries("you", TODAY) == []


def test_a_reader_goes_with_everything_and_the_others_stay(store: Store) -> None:
    for name in ("me", "you"):
        store.reading.add_reader(reader(name))
        store.reading.add_event(event(name=name))
        store.reading.add_edition(edition(1, 2, name=name))
        store.reading.add_delivery(name, TODAY, "email", "sent", "", now=NOW)
    store.reading.remove_reader("me")
    with store.engine.connect() as connection:
        for table, column in (
            ("readers", "name"),
            *((t, "reader") for t in ("events", "editions", "shown", "deliveries")),
        ):
            left = connection.scalars(select(schema.metadata.tables[table].c[column])).all()
            assert set(left) == {"you"}, table


# --- events


@THROUGH_THE_DATABASE
@given(st.lists(events, min_size=1, max_size=4))
def test_events_come_back_in_order_with_growing_ids(store: Store, some: list[Event]) -> None:
    store.reading.add_reader(reader())
    before = store.reading.events("me")
    last = before[-1].id if before else 0
    kept = [store.reading.add_event(one) for one in some]
    assert [replace(one, id=0) for one in kept] == some
    assert store.reading.add_events(some) == len(some)
    after = store.reading.events("me", after=last)
    assert after[: len(some)] == kept
    assert [replace(one, id=0) for one in after] == some + some
    assert [one.id for one in after] == list(range(last + 1, last + 1 + 2 * len(some)))
    assert store.reading.events("me") == before + after


def test_an_id_of_an_event_is_never_given_again(store: Store) -> None:
    store.reading.add_reader(reader())
    assert store.reading.add_event(event()).id == 1
    store.reading.remove_reader("me")
    store.reading.add_reader(reader())
    assert store.reading.add_event(event()).id == 2


def test_events_kept_apart_have_no_neighbours(store: Store) -> None:
    store.reading.add_reader(reader())
    for apart in (False, True, True, False):
        undo = event(action=Action.UNDO, undoes=-1)
        store.reading.add_events([event(paper=2), undo], apart=apart)
    found = store.reading.events("me")
    assert [one.id for one in found] == [1, 2, 4, 5, 8, 9, 11, 12]
    assert [one.undoes for one in found] == [0, 1, 0, 4, 0, 8, 0, 11]


def test_no_events(store: Store) -> None:
    assert store.reading.add_events([]) == 0
    assert store.reading.events("me") == []
    assert store.reading.events_of("me", []) == {}


def test_an_event_and_the_profile_it_changes_are_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.reading.add_reader(reader())
    mute = Interest(InterestKind.KEYWORD, "blockchain")
    kept = store.reading.add_event(event(Action.DISMISS, because=mute), Profile(mutes=(mute,)))
    assert kept.because == mute
    assert store.reading.readers()[0].profile.mutes == (mute,)
    with pytest.raises(ValueError, match="without a time zone"):
        store.reading.add_event(event(moment=datetime(2026, 1, 1)), Profile())  # fails after the profile was written
    assert store.reading.readers()[0].profile.mutes == (mute,)
    assert store.reading.events("me") == [kept]


def test_an_undo_can_be_kept_with_what_it_takes_back(store: Store) -> None:
    store.reading.add_reader(reader())
    store.reading.add_event(event())
    undo = event(Action.UNDO, undoes=-2)
    store.reading.add_events([event(paper=2), event(paper=3), undo, replace(undo, undoes=-3), replace(undo, undoes=1)])
    assert [one.undoes for one in store.reading.events("me")] == [0, 0, 0, 3, 4, 1]


def test_several_events_are_kept_all_or_none(store: Store) -> None:
    store.reading.add_reader(reader())
    with pytest.raises(ValueError, match="without a time zone"):
        store.reading.add_events([event(), event(moment=datetime(2026, 1, 1))])
    assert store.reading.events("me") == []


def test_events_are_about_the_paper_that_survived(store: Store) -> None:
    put_papers(store, *[TODAY] * 5)
    store.reading.add_reader(reader())
    store.reading.add_reader(reader("you"))
    for paper in (1, 2, 3, 4, 0):
        store.reading.add_event(event(Action.RESET if paper == 0 else Action.SAVE, paper))
    store.reading.add_event(event(paper=3, name="you"))
    merge(store, 3, 2)
    merge(store, 2, 1)
    assert [one.paper for one in store.reading.events("me")] == [1, 1, 1, 4, 0]
    found = store.reading.events_of("me", [3, 1, 5, 0, 99])
    assert {paper: [one.id for one in some] for paper, some in found.items()} == {3: [1, 2, 3], 1: [1, 2, 3], 0: [5]}
    assert store.reading.add_event(event(paper=2)).paper == 1


def test_the_newest_events_of_some_actions(store: Store) -> None:
    put_papers(store, *[TODAY] * 3)
    store.reading.add_reader(reader())
    store.reading.add_reader(reader("you"))
    assert store.reading.last_event("me") == 0
    for action, paper in ((Action.SAVE, 1), (Action.OPEN, 1), (Action.LIKE, 2), (Action.SAVE, 3)):
        store.reading.add_event(event(action, paper))
    store.reading.add_event(event(paper=2, name="you"))
    merge(store, 3, 2)
    assert store.reading.last_event("me") == 4
    both = [Action.SAVE, Action.LIKE]
    assert [(one.id, one.paper) for one in store.reading.newest_events("me", both, 9)] == [(4, 2), (3, 2), (1, 1)]
    assert [one.id for one in store.reading.newest_events("me", both, 1, before=4)] == [3]
    assert store.reading.newest_events("me", both, 9, before=1) == store.reading.newest_events("me", [], 9) == []


def test_events_of_papers_with_numbers_of_numpy(store: Store) -> None:
    put_papers(store, TODAY, TODAY)
    store.reading.add_reader(reader())
    store.reading.add_event(event(paper=np.int64(2)))  # type: ignore[arg-type]
    assert list(store.reading.events_of("me", np.array([1, 2]))) == [2]  # type: ignore[arg-type]
    store.reading.add_edition(edition(Paper(np.int64(2), "Two")))  # type: ignore[arg-type]
    assert store.reading.shown("me", np.array([1, 2])) == {2}  # type: ignore[arg-type]


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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
