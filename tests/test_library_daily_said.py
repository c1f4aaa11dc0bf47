"""What a reader says is kept to: mutes while an edition is made, twice and taken back; and it is read in pages."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event as sql

from broadsheet.errors import InputError, NotFoundError
from broadsheet.learn.memory import in_force
from broadsheet.learn.space import TextSpace
from broadsheet.library import Library
from broadsheet.library.personal import holding
from broadsheet.library.press import Press
from broadsheet.model.reading import Action, Edition, Event, Interest, InterestKind
from broadsheet.store.reading import ReaderStore
from tests.daily_library import day, listing, morning, of_topic, paper, printed, take
from tests.libraries import library_in

BEES = Interest(InterestKind.KEYWORD, "bees")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day."""
    with library_in(tmp_path / "home") as found:
        take(found, listing(0, 24))
        yield found


# --- mutes


def test_dismissing_again_mutes_again(library: Library) -> None:
    """Doing a thing twice is as doing it once, but not where its mute was taken out since."""
    daily, one = library.daily, of_topic(library, "bees")[0]
    first = daily.act(Action.DISMISS, one, because=BEES)
    assert daily.act(Action.DISMISS, one, because=BEES) == first
    daily.unmute(BEES)
    second = daily.act(Action.DISMISS, one, because=BEES)
    assert second.id > first.id
    assert daily.reader().profile.mutes == (BEES,)


def test_a_readers_own_mute_outlives_the_undo_of_a_dismissal(library: Library) -> None:
    daily, one = library.daily, of_topic(library, "bees")[0]
    daily.mute(BEES)
    dismissed = daily.act(Action.DISMISS, one, because=BEES)
    assert daily.act(Action.DISMISS, one, because=BEES) == dismissed
    daily.undo(event=dismissed.id)
    assert daily.reader().profile.mutes == (BEES,)


def test_a_mute_of_two_dismissals_goes_with_the_second_undo(library: Library) -> None:
    daily, (one, two, *_) = library.daily, of_topic(library, "bees")
    first, second = (daily.act(Action.DISMISS, number, because=BEES) for number in (one, two))
    daily.undo(event=first.id)
    assert daily.reader().profile.mutes == (BEES,)
    daily.undo(event=second.id)
    assert daily.reader().profile.mutes == ()


def said_while_composing(monkeypatch: pytest.MonkeyPatch, said: Any) -> None:
    """Another thread has its say when an edition is composed the first time."""
    composed = Press._composed

    def slow(press: Press, *rest: Any) -> Edition:
        monkeypatch.setattr(Press, "_composed", composed)
        made = composed(press, *rest)
        said()
        return made

    monkeypatch.setattr(Press, "_composed", slow)


def test_what_is_muted_while_an_edition_is_made_is_not_in_it(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    said_while_composing(monkeypatch, lambda: library.daily.mute(BEES))
    edition = library.daily.today(now=morning(0)).edition
    assert edition is not None
    assert edition.considered == 18
    assert not set(printed(edition)) & set(of_topic(library, "bees"))


def test_what_is_opened_while_an_edition_is_made_is_not_in_it(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_while_composing(monkeypatch, lambda: library.daily.act(Action.OPEN, 1))
    assert 1 not in printed(library.daily.today(now=morning(0)).edition)


def test_nothing_is_printed_where_all_is_muted_meanwhile(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def mute_all() -> None:
        for topic in ("rivers", "bees", "clocks", "bread"):
            library.daily.mute(Interest(InterestKind.KEYWORD, topic))

    said_while_composing(monkeypatch, mute_all)
    found = library.daily.today(now=morning(0))
    assert found.edition is None
    assert found.note.startswith("Nothing is left of what is new (24)")


def test_the_feed_of_a_saved_search_leaves_out_what_is_muted(library: Library) -> None:
    search = library.daily.save_search("queen OR river")
    assert set(of_topic(library, "bees")) & {one.id for one in library.daily.search_feed(search.id)}
    library.daily.mute(BEES)
    found = {one.id for one in library.daily.search_feed(search.id)}
    assert found
    assert not found & set(of_topic(library, "bees"))


# --- what was said, in pages


def random_deeds(library: Library, count: int, seed: int) -> list[Event]:
    """Events of all kinds, as any reader might leave them."""
    rng = random.Random(seed)
    made: list[Event] = []
    kinds = [Action.SAVE] * 6 + [Action.UNDO] * 3 + [*Action, Action.DISMISS]
    for n in range(count):
        action = rng.choice(kinds) if rng.random() > 0.02 else Action.RESET
        about = 0 if action is Action.RESET else rng.randint(1, 24)
        undoes = rng.randint(1, max(1, n)) if action is Action.UNDO else 0
        if undoes and made:
            undoes = min(undoes, len(made))
            about = made[undoes - 1].paper
        moment = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(hours=n)
        made.append(Event(n + 1, "me", action, about, moment, undoes=undoes))
    library.daily.reader()
    library.store.reading.add_events(made)
    return library.daily.events()


@pytest.mark.parametrize("seed", range(8))
def test_saved_papers_are_those_in_force_page_by_page(library: Library, seed: int) -> None:
    events = random_deeds(library, 120, seed)
    expected = [one for one in reversed(in_force(events)) if one.action is Action.SAVE]
    assert [event for _, event in library.daily.saved(limit=1000)] == expected
    paged: list[Event] = []
    while found := library.daily.saved(limit=3, before=paged[-1].id if paged else None):
        assert len(found) <= 3
        paged += [event for _, event in found]
    assert paged == expected
    assert library.daily.remembers() == any(one.action is not Action.DISMISS for one in in_force(events))


def test_a_long_life_is_not_read_whole_for_a_page(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    library.daily.reader()
    library.store.reading.add_events([Event(0, "me", Action.OPEN, n % 12 + 1, moment) for n in range(3000)])
    last = library.daily.act(Action.SAVE, 24)
    monkeypatch.setattr(ReaderStore, "events", lambda *_, **__: pytest.fail("all events were read"))
    assert [event.id for _, event in library.daily.saved(limit=5)] == [last.id]
    assert library.daily.remembers()


def test_holding_gives_none_where_none_holds(library: Library) -> None:
    library.daily.reader()
    assert list(holding(library.store.reading, "me", [Action.SAVE])) == []


def test_the_taste_of_a_removed_reader_is_not_that_of_the_next_of_the_name(library: Library) -> None:
    def near(topic: str) -> float:
        found = library.daily.likeness("ada")(of_topic(library, topic)[2:])
        assert found is not None
        return float(np.mean(found))

    library.daily.add_reader("ada")
    library.daily.act(Action.SAVE, of_topic(library, "bees")[0], "ada")
    assert near("bees") > near("bread")
    library.daily.remove_reader("ada")
    library.daily.add_reader("ada")
    library.daily.act(Action.SAVE, of_topic(library, "bread")[0], "ada")
    assert near("bread") > near("bees")


def test_what_is_saved_is_exported_without_a_question_for_each_paper(library: Library) -> None:
    asked: list[str] = []
    sql.listen(library.store.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    for number in (2, 24):
        asked.clear()
        assert "".join(library.export("bibtex", ids=range(1, number + 1))).count("@") == number
        assert len(asked) < 10
    with pytest.raises(NotFoundError, match="77"):
        library.export("bibtex", ids=[1, 77])


# --- names, days and moments at the ends


def test_a_name_is_found_however_its_accents_are_written(library: Library) -> None:
    composed, apart = "Jos\u00e9", "Jose\u0301"
    assert library.daily.add_reader(apart).name == composed
    assert library.daily.reader(apart) == library.daily.reader(composed)
    library.daily.remove_reader(apart)
    assert composed not in [one.name for one in library.daily.readers()]


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_that_no_calendar_has_is_named(library: Library, moment: str) -> None:
    record = json.loads(json.dumps(library.daily.export()))
    record["events"] = [{"id": 1, "action": "reset", "moment": moment}]
    with pytest.raises(InputError, match=r"events\[0\]\.moment"):
        library.daily.import_(record)


def test_an_import_is_taken_whole_or_not_at_all(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.daily.act(Action.SAVE, 1)
    library.daily.follow(BEES)
    record = json.loads(json.dumps(library.daily.export()))
    ada = library.daily.add_reader("ada")
    with monkeypatch.context() as broken:
        broken.setattr("broadsheet.store.reading.profile_to_json", lambda profile: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            library.daily.import_(record, "ada")
    assert (library.daily.events("ada"), library.daily.reader("ada")) == ([], ada)
    library.daily.import_(record, "ada")
    assert [event.action for event in library.daily.events("ada")] == [Action.SAVE]
    assert library.daily.reader("ada").profile.follows == (BEES,)


@pytest.mark.parametrize("kind", ["week", "month"])
@pytest.mark.parametrize("end", [date.min, date.max])
def test_the_first_and_the_last_period_are_asked_for(library: Library, kind: str, end: date) -> None:
    library.daily.today(now=morning(0))
    with pytest.raises(NotFoundError, match="2026-03-02"):
        library.daily.period(kind, end)


# --- papers dated ahead


def test_papers_dated_ahead_do_not_make_the_texts_be_learned_again(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(library, [paper(9000, "rivers", 0, listed="2027-05-01")], "ahead")
    fitted: list[int] = []
    fit = TextSpace.fit

    def counted(space: TextSpace, texts: Any) -> TextSpace:
        fitted.append(len(texts))
        return fit(space, texts)

    monkeypatch.setattr(TextSpace, "fit", counted)
    monkeypatch.setattr("broadsheet.library.daily._aware", lambda now: now or morning(0))
    for _ in range(2):
        library.daily.today(now=morning(0))
        library.daily.memory()
    library.daily.add_reader("ada")
    library.daily.today("ada", now=morning(0))
    assert len(fitted) == 1


def test_of_many_papers_dated_ahead_only_new_ones_are_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broadsheet.library.press._AHEAD", 5)
    far = [paper(9000 + n, "rivers", 0, listed=f"{day(400) + timedelta(days=n)}") for n in range(8)]
    take(library, far, "far")
    library.daily.today(now=morning(0))
    take(library, [paper(9500, "bees", 0, listed=f"{day(300)}")], "nearer")
    edition = library.daily.today(now=morning(1)).edition
    assert edition is not None
    assert edition.considered == 1
