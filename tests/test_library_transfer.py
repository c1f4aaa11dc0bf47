"""A reader's record on its way to another library and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import InputError, StoreError
from broadsheet.library import Library
from broadsheet.model.reading import Action, Interest, InterestKind
from broadsheet.store import reading
from broadsheet.store.codec_reading import interest_to_json
from tests.daily_library import day, listing, paper, take
from tests.libraries import library_in

K = InterestKind


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day."""
    with library_in(tmp_path / "home") as found:
        take(found, listing(0, 16))
        yield found


def full(library: Library) -> dict[str, Any]:
    daily = library.daily
    daily.follow(Interest(K.AREA, "cs.LG"))
    daily.mute(Interest(K.KEYWORD, "clocks"))
    daily.save_search("honey bees", "apiary")
    daily.set_options(risk=0.25, emphasis={"notice": 0.5}, email="ann@example.org")
    daily.act(Action.SAVE, 1)
    daily.act(Action.LIKE, 2)
    daily.act(Action.DISMISS, 3, because=Interest(K.KEYWORD, "gears"))
    daily.undo(event=2)
    daily.forget(1)
    daily.act(Action.SAVE, 4, edition=day(0))
    exported: dict[str, Any] = json.loads(json.dumps(daily.export()))
    return exported


def test_an_export_holds_everything_but_the_secret(library: Library) -> None:
    record = full(library)
    assert library.daily.reader().secret not in json.dumps(record)
    assert [event["action"] for event in record["events"]] == ["save", "like", "dismiss", "undo", "forget", "save"]
    assert record["events"][0]["paper"]["identifiers"] == ["arxiv:2601.10000"]
    assert record["memory"]["papers"]


def test_another_library_takes_it(library: Library, tmp_path: Path) -> None:
    record = full(library)
    with library_in(tmp_path / "other") as other:
        take(other, [paper(77, "bread", 0), *reversed(listing(0, 16))])
        counts = other.daily.import_(record, "")
        assert counts == {"events": 6, "known": 0, "missing": 0, "interests": 4}
        ours, theirs = library.daily.reader().profile, other.daily.reader().profile
        assert (theirs.follows, theirs.mutes, theirs.risk) == (ours.follows, ours.mutes, 0.25)
        assert (theirs.emphasis, theirs.email) == (ours.emphasis, ours.email)
        assert [one.query for one in theirs.searches] == ["honey bees"]
        assert _remembered(other) == _remembered(library)
        again = other.daily.import_(record)
        assert (again["events"], again["known"], again["interests"]) == (0, 6, 0)


def test_what_was_done_since_is_taken_the_next_time(library: Library, tmp_path: Path) -> None:
    """Also what takes back an event that came with the first record."""
    record = full(library)
    with library_in(tmp_path / "other") as other:
        take(other, listing(0, 16))
        other.daily.import_(record)
        library.daily.undo()
        library.daily.act(Action.LIKE, 5)
        counts = other.daily.import_(library.daily.export())
        assert (counts["events"], counts["known"]) == (2, 6)
        assert _remembered(other) == _remembered(library)
        assert other.daily.import_(library.daily.export())["known"] == 8


def test_events_are_taken_all_or_none(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = full(library)
    with library_in(tmp_path / "other") as other:
        take(other, listing(0, 16))
        stored = interest_to_json

        def failing(interest: Interest | None) -> str | None:
            if interest is not None:
                raise StoreError("the disk is full")
            return stored(interest)

        monkeypatch.setattr(reading, "interest_to_json", failing)
        with pytest.raises(StoreError, match="full"):
            other.daily.import_(record)
        assert other.daily.events() == []
        monkeypatch.undo()
        assert other.daily.import_(record)["events"] == 6
        assert _remembered(other) == _remembered(library)


def _remembered(library: Library) -> dict[str, tuple[float, ...]]:
    """Traces by title, to two digits: some seconds pass between two looks."""
    return {one.title: tuple(round(trace, 2) for trace in one.traces) for one in library.daily.memory().papers}


def test_papers_that_are_not_there_are_counted(library: Library, tmp_path: Path) -> None:
    record = full(library)
    with library_in(tmp_path / "other") as other:
        take(other, [paper(500, "bread", 0)])
        counts = other.daily.import_(record)
        assert counts == {"events": 0, "known": 0, "missing": 6, "interests": 4}


def changed(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    copied: Any = json.loads(json.dumps(record))
    at = copied
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        at = at[step]
    at[last] = value
    found: dict[str, Any] = copied
    return found


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("format", 9, "format"),
        ("events", 3, "events"),
        ("events.0.action", "eat", r"events\[0\].action"),
        ("events.1.moment", "yesterday", r"events\[1\].moment"),
        ("events.1.moment", "2026-03-02T09:00:00", r"events\[1\].moment"),
        ("events.2.because", {"kind": "colour", "value": "x"}, r"events\[2\].because.kind"),
        ("events.0.paper", None, r"events\[0\].paper"),
        ("events.0.paper.id", -1, r"events\[0\].paper.id"),
        ("events.5.edition", "soon", r"events\[5\].edition"),
        ("events.3.undoes", "x", r"events\[3\].undoes"),
        ("profile", [], "profile"),
        ("profile.risk", 3, "profile: risk"),
        ("profile.email", "x", "profile: e-mail"),
        ("profile.follows", {}, "profile.follows"),
        ("profile.follows.0.value", "!!", r"profile.follows\[0\]"),
        ("profile.searches.0.query", "", r"profile.searches\[0\].query"),
        ("profile.emphasis", [], "profile.emphasis"),
    ],
)
def test_a_record_that_cannot_be_read_changes_nothing(library: Library, path: str, value: Any, named: str) -> None:
    record = full(library)
    library.daily.add_reader("ann")
    before = library.daily.reader("ann")
    with pytest.raises(InputError, match=named):
        library.daily.import_(changed(record, path, value), "ann")
    assert library.daily.reader("ann") == before
    assert library.daily.events("ann") == []


@pytest.mark.parametrize("lacking", ["profile", "risk", "emphasis", "email", "webhook"])
def test_what_a_record_does_not_say_stays_as_it_was(library: Library, lacking: str) -> None:
    record = full(library)
    library.daily.add_reader("ann")
    mine = {"risk": 0.02, "emphasis": {"popular": 0.0}, "email": "a@example.org", "webhook": "https://h.example.org/x"}
    library.daily.set_options("ann", **mine)  # type: ignore[arg-type]
    before = library.daily.reader("ann").profile
    given = dict(record["profile"])
    given.pop(lacking, None)
    library.daily.import_({**record, "profile": given} if lacking != "profile" else {**record, "profile": None}, "ann")
    after = library.daily.reader("ann").profile
    names = ["risk", "emphasis", "email", "webhook"] if lacking == "profile" else [lacking]
    assert [getattr(after, name) for name in names] == [getattr(before, name) for name in names]
    if lacking != "profile":
        assert after.risk == (0.02 if lacking == "risk" else 0.25)
        assert after.webhook == before.webhook  # an empty address is none that could replace another
    assert len(library.daily.events("ann")) == len(record["events"])
