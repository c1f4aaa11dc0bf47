"""Readers and events in the store: round trips, merges, whole transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from broadsheet.errors import NotFoundError
from broadsheet.model import Paper
from broadsheet.model.reading import Action, Event, Interest, InterestKind, Profile
from broadsheet.store import Store, open_store, schema
from tests.reading_makers import NOW, TODAY, edition, event, events, profiles, reader
from tests.reading_store import THROUGH_THE_DATABASE, merge, put_papers


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


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
