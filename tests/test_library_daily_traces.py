"""What leaves a trace in later editions and what must not: misclicks, new versions; and what is read for an undo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import NotFoundError
from broadsheet.library import Library, deeds
from broadsheet.library.press import Press
from broadsheet.model import Version
from broadsheet.model.reading import Action, Interest, InterestKind
from tests.daily_library import day, listing, morning, printed, take
from tests.libraries import library_in
from tests.makers import put, record

K = InterestKind


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day."""
    with library_in(tmp_path / "home", discovery_size=1) as found:
        take(found, listing(0, 16))
        yield found


def shown_after(library: Library) -> set[int]:
    return set(printed(library.daily.today(now=morning(0)).edition))


@pytest.mark.parametrize("action", [Action.SAVE, Action.LIKE, Action.DISMISS, Action.OPEN])
def test_a_misclick_that_was_undone_keeps_no_paper_out(library: Library, action: Action) -> None:
    clicked, kept = 3, 4
    event = library.daily.act(action, clicked)
    library.daily.act(action, kept)
    library.daily.undo(event=event.id)
    assert clicked in shown_after(library)
    assert kept not in shown_after(library)


def test_what_was_forgotten_or_reset_may_be_printed_but_never_twice(library: Library) -> None:
    library.daily.act(Action.SAVE, 3)
    library.daily.forget(3)
    library.daily.act(Action.SAVE, 4)
    library.daily.reset()
    first = shown_after(library)
    assert {3, 4} <= first
    library.daily.undo(event=library.daily.act(Action.LIKE, 3).id)
    take(library, listing(1, 8))
    later = set(printed(library.daily.today(now=morning(1)).edition))
    assert later
    assert not later & first


def test_a_muting_misclick_that_was_undone_mutes_nothing(library: Library) -> None:
    library.daily.act(Action.DISMISS, 3, because=Interest(K.KEYWORD, "clocks"))
    library.daily.undo()
    assert library.daily.reader().profile.mutes == ()
    assert len(shown_after(library)) == 16


# --- later versions


def take_version(library: Library, arxiv: str, version: int, on: date) -> None:
    """Import a later version of a paper of the first day."""
    title = next(one.title for one in library.store.iterate_papers() if arxiv in map(str, one.identifiers))
    versions = (Version(1, day(0)), Version(version, on))
    put(library.store, record(title, arxiv, source="arxiv", key=arxiv, versions=versions))


def test_a_later_version_is_noted_once_and_the_paper_not_printed_again(library: Library) -> None:
    first = library.daily.today(now=morning(0)).edition
    assert first is not None
    chosen = first.entries[0].paper
    take_version(library, str(chosen.identifiers[0]), 2, day(3))
    take(library, listing(3, 8), "thursday")
    thursday = library.daily.today(now=morning(3)).edition
    assert thursday is not None
    said = [note for note in thursday.notes if note.startswith("v2 of a paper in your edition of 2026-03-02: “")]
    assert len(said) == 1
    assert said[0].endswith(f"(paper {chosen.id}).")
    assert chosen.id not in printed(thursday)
    take(library, listing(4, 8), "friday")
    friday = library.daily.today(now=morning(4)).edition
    assert friday is not None
    assert not any("v2 of a paper" in note for note in friday.notes)


# --- what an undo reads


def no_reading_of_all(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.store.reading, "events", lambda *_, **__: pytest.fail("all events were read"))
    monkeypatch.setattr(deeds, "_PAGE", 2)


def test_an_undo_reads_no_more_than_it_needs(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    daily = library.daily
    for number in range(1, 9):
        daily.act(Action.SAVE, number)
    daily.act(Action.DISMISS, 9, because=Interest(K.KEYWORD, "clocks"))
    no_reading_of_all(library, monkeypatch)
    pages: list[int] = []
    newest_events = library.store.reading.newest_events

    def counted(*arguments: object, **more: object) -> object:
        found = newest_events(*arguments, **more)  # type: ignore[arg-type]
        pages.append(len(found))
        return found

    monkeypatch.setattr(library.store.reading, "newest_events", counted)
    undone = daily.undo()
    assert undone is not None
    assert undone.paper == 9
    assert daily.reader().profile.mutes == ()
    assert sum(pages) <= 4
    monkeypatch.setattr(library.store.reading, "newest_events", newest_events)
    assert [daily.undo().paper for _ in range(8)] == [8, 7, 6, 5, 4, 3, 2, 1]  # type: ignore[union-attr]
    assert daily.undo() is None


def test_a_late_undo_of_one_event_reads_what_was_said_of_its_paper(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    daily = library.daily
    first = daily.act(Action.DISMISS, 1, because=Interest(K.KEYWORD, "clocks"))
    second = daily.act(Action.DISMISS, 2, because=Interest(K.KEYWORD, "clocks"))
    for number in range(3, 9):
        daily.act(Action.OPEN, number)
    no_reading_of_all(library, monkeypatch)
    taken_back = daily.undo(event=first.id)
    assert taken_back is not None
    assert daily.undo(event=first.id) is None
    assert daily.reader().profile.mutes == (Interest(K.KEYWORD, "clocks"),)  # by the second one
    daily.undo(event=second.id)
    assert daily.reader().profile.mutes == ()
    daily.undo(event=taken_back.id)  # the first one holds again, and with it what it muted
    assert daily.reader().profile.mutes == (Interest(K.KEYWORD, "clocks"),)


def test_examples_over_several_pages_go_and_come_back_together(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    daily = library.daily
    daily.act(Action.SAVE, 16)
    daily.examples(range(1, 10))
    daily.act(Action.OPEN, 12)
    monkeypatch.setattr(deeds, "_PAGE", 2)
    last = daily.undo()
    assert last is not None
    held = daily.marks(range(1, 17))
    assert set(held) == {12, 16}
    daily.undo(event=last.id)
    assert set(daily.marks(range(1, 17))) == {*range(1, 10), 12, 16}
    assert daily.examples([1, 2, 10]) == 1


def test_a_reason_that_came_with_a_dismissal_is_found_without_reading_all(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    daily = library.daily
    clocks = Interest(K.KEYWORD, "clocks")
    daily.mute(clocks)
    no_reading_of_all(library, monkeypatch)
    assert daily.act(Action.DISMISS, 1, because=clocks).because is None  # the reader's own mute
    daily.unmute(clocks)
    assert daily.act(Action.DISMISS, 2, because=clocks).because == clocks
    assert daily.act(Action.DISMISS, 3, because=clocks).because == clocks
    assert daily.examples([4, 5]) == 2


# --- what wins


def test_a_reader_who_goes_while_the_edition_is_made_leaves_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.daily.add_reader("ada")
    composed = Press._composed

    def meanwhile(press: Press, *arguments: Any) -> Any:
        made = composed(press, *arguments)
        if library.daily.readers()[-1].name == "ada":
            library.daily.remove_reader("ada")
        return made

    monkeypatch.setattr(Press, "_composed", meanwhile)
    with pytest.raises(NotFoundError, match="no reader 'ada'"):
        library.daily.today("ada", now=morning(0))
    assert library.store.reading.edition_days("ada") == []
    assert library.store.reading.shown_log("ada") == []
    assert library.daily.today(now=morning(0)).is_new


def test_a_mute_wins_over_the_hits_of_a_saved_search(library: Library) -> None:
    """An author, and a word in Chinese, in the edition and in the feed of the search."""
    entries = listing(1, 12)
    entries[0] |= {"title": "Bees for 主动学习 in bees", "abstract": "我们研究主动学习方法. Bees and honey."}
    entries[1] |= {"title": "Bees by a muted author", "authors": ["Émile Durand"], "abstract": "Bees and honey."}
    entries[2] |= {"title": "Bees as they are", "abstract": "Bees and honey."}
    take(library, entries, "more")
    search = library.daily.save_search("bees honey")
    library.daily.mute(Interest(K.AUTHOR, "E. Durand"))
    library.daily.mute(Interest(K.KEYWORD, "主动学习"))
    edition = library.daily.today(now=morning(1)).edition
    assert edition is not None
    shown = {entry.paper.title for entry in edition.entries}
    found = {one.title for one in library.daily.search_feed(search.id)}
    for titles in (shown, found):
        assert "Bees as they are" in titles
        assert not {"Bees by a muted author", "Bees for 主动学习 in bees"} & titles


# --- days off


def test_an_edition_that_catches_up_grows_with_the_announcements(tmp_path: Path) -> None:
    """What an edition considered and left out does not come again, so after days off there is room for more."""
    with library_in(tmp_path / "home", front_size=4, section_size=2) as library:
        take(library, listing(0, 24))
        first = library.daily.today(now=morning(0)).edition
        for n in (1, 2, 3):
            take(library, listing(n, 24), f"day{n}")
        third = library.daily.today(now=morning(3)).edition
        assert first is not None
        assert third is not None
        assert [len(first.sections[0].entries), len(third.sections[0].entries)] == [4, 6]  # half as many again
        assert max(len(one.entries) for one in third.sections[1:]) == 3
