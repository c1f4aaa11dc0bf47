"""Readers of a library: who they are, what they decide and do, and what is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.library import Library
from broadsheet.model.reading import Action, Interest, InterestKind
from tests.daily_library import day, listing, morning, of_topic, take
from tests.libraries import library_in

K = InterestKind


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day."""
    with library_in(tmp_path / "home") as found:
        take(found, listing(0, 16))
        yield found


# --- who they are


def test_the_default_reader_is_made_when_first_needed(library: Library) -> None:
    assert library.daily.readers() == []
    made = library.daily.reader()
    assert made.name == "me"
    assert len(made.secret) >= 32
    assert library.daily.reader() == library.daily.reader("me") == made
    assert library.daily.reader_by_secret(made.secret) == made


def test_the_setting_names_the_default_reader(tmp_path: Path) -> None:
    with library_in(tmp_path / "home", reader="李雷") as library:
        assert library.daily.reader().name == "李雷"
        with pytest.raises(NotFoundError, match="'me'"):
            library.daily.reader("me")


def test_a_reader_that_there_is_not(library: Library) -> None:
    library.daily.add_reader("ann")
    with pytest.raises(NotFoundError, match="no reader 'bob'; there are: ann") as raised:
        library.daily.today("bob")
    assert "broadsheet readers add bob" in str(raised.value)
    with pytest.raises(NotFoundError) as raised:
        library.daily.reader_by_secret("sesame")
    assert "sesame" not in str(raised.value)


@pytest.mark.parametrize("name", ["ann", "Ann.B-2_c", "李雷", "Évariste", "a" * 40])
def test_names_that_can_be(library: Library, name: str) -> None:
    assert library.daily.add_reader(name).name == name
    with pytest.raises(InputError, match="already"):
        library.daily.add_reader(name)


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "..", "-", "a" * 41, "a\n", "<b>", "a:b"])
def test_names_that_cannot_be(library: Library, name: str) -> None:
    if name == "a\n":
        assert library.daily.add_reader(name).name == "a"  # as typed, with what a terminal adds
        return
    with pytest.raises(InputError, match="cannot be a reader's name"):
        library.daily.add_reader(name)


def test_a_removed_reader_leaves_nothing(library: Library) -> None:
    library.daily.add_reader("ann")
    library.daily.act(Action.SAVE, 1, "ann")
    library.daily.today("ann", now=morning(0))
    library.daily.remove_reader("ann")
    with pytest.raises(NotFoundError):
        library.daily.events("ann")
    with pytest.raises(NotFoundError):
        library.daily.remove_reader("ann")
    library.daily.add_reader("ann")
    assert library.daily.events("ann") == []
    assert library.daily.edition_days("ann") == []


def test_a_new_secret_ends_the_old_one(library: Library) -> None:
    old = library.daily.reader()
    new = library.daily.renew_secret()
    assert new.secret != old.secret
    assert library.daily.reader_by_secret(new.secret).name == "me"
    with pytest.raises(NotFoundError):
        library.daily.reader_by_secret(old.secret)


# --- what they decide


def test_follows_and_mutes(library: Library) -> None:
    daily = library.daily
    daily.follow(Interest(K.AUTHOR, "Shieber, Stuart M."))
    again = daily.follow(Interest(K.AUTHOR, "S. M. Shieber"))
    assert again.profile.follows == (Interest(K.AUTHOR, "Stuart M. Shieber"),)
    muted = daily.mute(Interest(K.AUTHOR, "Stuart Shieber"))
    assert (muted.profile.follows, len(muted.profile.mutes)) == ((), 1)
    followed = daily.follow(Interest(K.AUTHOR, "Stuart Shieber"))
    assert (len(followed.profile.follows), followed.profile.mutes) == (1, ())
    assert daily.unfollow(Interest(K.AUTHOR, "Shieber, Stuart")).profile.follows == ()
    assert daily.unfollow(Interest(K.AUTHOR, "Nobody Else")).profile.follows == ()
    daily.mute(Interest(K.KEYWORD, "Bees"))
    assert daily.unmute(Interest(K.KEYWORD, "bees")).profile.mutes == ()
    assert daily.reader().profile == daily.unmute(Interest(K.KEYWORD, "bees")).profile
    with pytest.raises(InputError, match="says nothing"):
        daily.follow(Interest(K.KEYWORD, "!!"))


def test_saved_searches(library: Library) -> None:
    daily = library.daily
    first = daily.save_search("  honey   bees ", "apiary")
    assert (first.id, first.name, first.query) == (1, "apiary", "honey bees")
    assert daily.save_search("honey bees") == first
    assert daily.save_search("honey bees", "swarms").name == "swarms"
    second = daily.save_search("author:lima")
    assert (second.id, second.name) == (2, "author:lima")
    assert [one.id for one in daily.drop_search(1).profile.searches] == [2]
    assert daily.save_search("clocks").id == 3
    for nothing in ("", "  ", "()"):
        with pytest.raises(InputError, match="asks for nothing"):
            daily.save_search(nothing)
    with pytest.raises(NotFoundError, match=r"no saved search 9; there are: 2 \(author:lima\), 3 \(clocks\)"):
        daily.drop_search(9)
    with pytest.raises(NotFoundError):
        daily.search_feed(1)


def test_options(library: Library) -> None:
    daily = library.daily
    daily.set_options(
        risk=0.2, email="ann@example.org", webhook="https://hooks.example.org/x?y=1", emphasis={"notice": 0}
    )
    profile = daily.set_options().profile
    assert (profile.risk, profile.email, profile.webhook) == (0.2, "ann@example.org", "https://hooks.example.org/x?y=1")
    assert profile.emphasis == (("notice", 0.0),)
    assert daily.set_options(email="", webhook="", emphasis={}).profile.emphasis == ()
    assert daily.reader().profile.email == ""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"risk": 0.6}, "risk"),
        ({"risk": -0.1}, "risk"),
        ({"risk": float("nan")}, "risk"),
        ({"risk": True}, "risk"),
        ({"email": "ann"}, "e-mail"),
        ({"email": "ann@example.org\nBcc: all@example.org"}, "e-mail"),
        ({"email": "a@b, c@d"}, "e-mail"),
        ({"email": "=?utf-8?b?DQpCY2M6IGFsbEBi?=@example.org"}, "e-mail"),
        ({"email": "名@example.org"}, "e-mail"),
        ({"webhook": "ftp://example.org"}, "webhook"),
        ({"webhook": "https://"}, "webhook"),
        ({"webhook": "https://example.org/SECRET b"}, "webhook"),
        ({"emphasis": {"notice": 11}}, "emphasis of notice"),
        ({"emphasis": {"notice": float("inf")}}, "emphasis of notice"),
        ({"emphasis": {"No Such!": 1}}, "No Such!"),
        ({"emphasis": {"nearest": 1}}, "no part of the score; the parts are classifier"),
    ],
)
def test_options_that_cannot_be(library: Library, change: dict[str, Any], named: str) -> None:
    before = library.daily.reader()
    with pytest.raises(InputError, match=named) as refused:
        library.daily.set_options(**change)
    assert "SECRET" not in str(refused.value)
    assert library.daily.reader() == before


# --- what they do


def test_doing_a_thing_twice_is_as_doing_it_once(library: Library) -> None:
    daily = library.daily
    first = daily.act(Action.SAVE, 1, edition=day(0))
    assert (first.id, first.paper, first.edition) == (1, 1, day(0))
    assert daily.act(Action.SAVE, 1) == first
    assert daily.act(Action.OPEN, 1).id == daily.act(Action.OPEN, 1).id == 2
    assert daily.act(Action.LIKE, 1).id == 3
    assert daily.marks([1, 2]) == {1: {Action.SAVE: 1, Action.OPEN: 2, Action.LIKE: 3}}
    assert [event.id for event in daily.events()] == [1, 2, 3]


def test_papers_are_named_in_any_way(library: Library) -> None:
    by_name = library.daily.act(Action.SAVE, "arXiv:2601.10000")
    assert by_name.paper == 1
    with pytest.raises(NotFoundError):
        library.daily.act(Action.SAVE, 99)
    with pytest.raises(InputError, match="undo"):
        library.daily.act(Action.UNDO, 1)
    with pytest.raises(InputError, match="dismiss only"):
        library.daily.act(Action.LIKE, 1, because=Interest(K.KEYWORD, "bees"))
    assert len(library.daily.events()) == 1


def test_the_last_word_on_a_paper_counts(library: Library) -> None:
    daily = library.daily
    daily.act(Action.LIKE, 1)
    dismissed = daily.act(Action.DISMISS, 1)
    assert daily.marks([1]) == {1: {Action.DISMISS: dismissed.id}}
    again = daily.act(Action.LIKE, 1)
    assert again.id > dismissed.id
    assert daily.marks([1]) == {1: {Action.LIKE: again.id}}


def test_dismissed_because(library: Library) -> None:
    daily = library.daily
    made = daily.act(Action.DISMISS, 1, because=Interest(K.KEYWORD, "Bees"))
    assert made.because == Interest(K.KEYWORD, "bees")
    assert daily.reader().profile.mutes == (Interest(K.KEYWORD, "bees"),)
    assert daily.act(Action.DISMISS, 1).id == made.id
    other = daily.act(Action.DISMISS, 1, because=Interest(K.AUTHOR, "Ana Lima"))
    assert other.id != made.id
    assert len(daily.reader().profile.mutes) == 2
    undone = daily.undo()
    assert undone is not None
    assert undone.undoes == other.id
    assert daily.reader().profile.mutes == (Interest(K.KEYWORD, "bees"),)
    redone = daily.undo(event=undone.id)
    assert redone is not None
    assert len(daily.reader().profile.mutes) == 2


def test_a_mute_that_two_dismissals_gave_stays_for_the_second(library: Library) -> None:
    daily = library.daily
    daily.act(Action.DISMISS, 1, because=Interest(K.KEYWORD, "bees"))
    daily.act(Action.DISMISS, 2, because=Interest(K.KEYWORD, "bees"))
    daily.undo()
    assert daily.reader().profile.mutes == (Interest(K.KEYWORD, "bees"),)
    daily.undo()
    assert daily.reader().profile.mutes == ()


def test_undo_goes_back_step_by_step(library: Library) -> None:
    daily = library.daily
    assert daily.undo() is None
    saved = daily.act(Action.SAVE, 1)
    daily.act(Action.LIKE, 2)
    daily.act(Action.OPEN, 3)
    undone = daily.undo()
    assert undone is not None
    assert (undone.paper, undone.undoes) == (2, 2)
    assert daily.marks([1, 2]) == {1: {Action.SAVE: saved.id}}
    daily.undo()
    assert daily.undo() is None
    assert daily.marks([1, 2, 3]) == {3: {Action.OPEN: 3}}
    opened = daily.undo(event=3)
    assert opened is not None
    assert daily.undo(event=3) is None


def test_examples_that_came_together_are_taken_back_together(library: Library) -> None:
    daily = library.daily
    daily.examples([1, 2, 3])
    daily.examples([4, 5])

    def held() -> list[int]:
        return sorted(daily.marks([1, 2, 3, 4, 5]))

    undone = daily.undo()
    assert held() == [1, 2, 3]
    assert undone is not None
    assert daily.undo(event=undone.id) is not None, "the undo is taken back as a whole"
    assert held() == [1, 2, 3, 4, 5]
    assert daily.undo() is not None
    assert daily.undo() is not None
    assert held() == []
    assert daily.undo() is None


def test_one_example_can_be_taken_back_alone(library: Library) -> None:
    daily = library.daily
    daily.examples([1, 2, 3])
    number = daily.marks([2])[2][Action.EXAMPLE]
    undone = daily.undo(event=number)
    assert undone is not None
    assert (undone.paper, undone.undoes) == (2, number)
    assert sorted(daily.marks([1, 2, 3])) == [1, 3]
    assert daily.undo(event=number) is None
    daily.undo()
    assert daily.marks([1, 2, 3]) == {}
    assert daily.examples([1, 2]) == 2


def test_undo_of_what_is_anothers(library: Library) -> None:
    library.daily.add_reader("ann")
    made = library.daily.act(Action.SAVE, 1, "ann")
    with pytest.raises(NotFoundError, match=f"no event {made.id}"):
        library.daily.undo(event=made.id)


def test_saved_papers_newest_first_by_pages(library: Library) -> None:
    daily = library.daily
    for number in (1, 2, 3, 4):
        daily.act(Action.SAVE, number)
    daily.undo()
    first = daily.saved(limit=2)
    assert [one.id for one, _ in first] == [3, 2]
    assert [one.id for one, _ in daily.saved(before=first[-1][1].id)] == [1]


def test_examples(library: Library) -> None:
    daily = library.daily
    assert daily.examples([1, "2601.10001", 1]) == 2
    assert daily.examples([2, 3]) == 1
    with pytest.raises(NotFoundError):
        daily.examples([4, 999])
    assert len(daily.events()) == 3


def test_examples_from_an_imported_library(tmp_path: Path) -> None:
    with library_in(tmp_path / "home") as library:
        take(library, listing(0, 4))
        filed = "@article{a, title={Bees and swarms}, author={Lima, Ana}, year={2020}, timestamp={2021-05-06}}\n"
        (tmp_path / "mine.bib").write_text(filed + filed.replace("{a,", "{b,").replace("swarms", "hives"), "utf-8")
        library.import_files([tmp_path / "mine.bib"])
        added = [one for one in library.newest(20) if one.added]
        if not added:
            pytest.skip("this BibTeX field is not read as the time of filing")
        assert library.daily.examples_from_library() == len(added)
        assert library.daily.examples_from_library() == 0
        assert library.daily.events()[0].moment == added[0].added
        assert library.daily.examples_from_library(sources=["zotero"]) == 0


# --- what is remembered


def test_the_memory_is_shown(library: Library) -> None:
    daily = library.daily
    bees = of_topic(library, "bees")
    empty = daily.memory()
    assert (empty.events, empty.papers, empty.words) == (0, (), ())
    daily.examples(bees[:3])
    daily.act(Action.DISMISS, of_topic(library, "rivers")[0])
    daily.follow(Interest(K.AREA, "cs.RO"))
    view = daily.memory()
    assert (view.reader, view.events, len(view.papers)) == ("me", 4, 4)
    assert {one.action for one in view.papers} == {Action.EXAMPLE, Action.DISMISS}
    assert all(-1 <= trace <= 1 for one in view.papers for trace in one.traces)
    assert view.areas[0] == ("cs.LG", 1.0)
    assert ("cs.RO", 1.0) in view.areas
    assert {part for word in dict(view.words) for part in word.split()} & {
        "bees",
        "hive",
        "pollen",
        "nectar",
        "queen",
        "swarm",
        "foraging",
        "apiary",
        "honeycomb",
        "larvae",
    }
    assert view.words
    assert [centre.papers for centre in view.centres]
    assert view.parts["author"] == 2.0
    assert 0 < view.size < 100_000


def test_forget_and_reset(library: Library) -> None:
    daily = library.daily
    daily.examples([1, 2])
    daily.act(Action.SAVE, 1)
    daily.forget(1)
    assert [one.paper for one in daily.memory().papers] == [2]
    daily.reset()
    assert daily.memory().papers == ()
    daily.undo()
    assert [one.paper for one in daily.memory().papers] == [2]
    daily.undo()
    assert {one.paper for one in daily.memory().papers} == {1, 2}


# --- deliveries


def test_deliveries(library: Library) -> None:
    daily = library.daily
    assert not daily.delivered("me", day(0), "mail")
    daily.record_delivery("me", day(0), "mail", "failed", "login: refused")
    assert not daily.delivered("me", day(0), "mail")
    daily.record_delivery("", day(0), "mail", "sent")
    assert daily.delivered("", day(0), "mail")
    assert not daily.delivered("me", day(0), "webhook")
    assert not daily.delivered("me", day(1), "mail")
    assert daily.claim_delivery("", day(1), "mail")
    assert not daily.claim_delivery("me", day(1), "mail")
    assert not daily.delivered("me", day(1), "mail")
    assert not daily.claim_delivery("me", day(0), "mail")


def test_marks_do_not_read_what_was_done_with_other_papers(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    daily = library.daily
    one, two, three = sorted(paper.id for paper in library.newest(3))
    daily.act(Action.SAVE, one)
    daily.reset()
    daily.act(Action.LIKE, two)
    daily.act(Action.SAVE, three)
    daily.undo()
    monkeypatch.setattr(library.store.reading, "events", lambda *_, **__: pytest.fail("all events were read"))
    assert {paper: list(held) for paper, held in daily.marks([one, two, three]).items()} == {two: [Action.LIKE]}
    assert daily.marks([one, three]) == daily.marks([]) == {}


def test_moments_are_kept_with_their_zone(library: Library) -> None:
    made = library.daily.act(Action.SAVE, 1)
    assert abs((datetime.now(UTC) - made.moment).total_seconds()) < 60
