"""The daily paper beside a running server: what its background prints, and an encoder's vectors."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from broadsheet.errors import IndexDamagedError, InputError
from broadsheet.learn.space import TextSpace
from broadsheet.library import Library, background, press
from broadsheet.library.background import Background
from broadsheet.model.reading import Edition, Reader
from tests.daily_library import listing, morning, of_topic, take
from tests.embeddings import EmbeddingsServer
from tests.libraries import library_in


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day."""
    with library_in(tmp_path / "home", discovery_size=1) as found:
        take(found, listing(0, 24))
        yield found


def test_a_server_prints_and_tells_of_every_readers_edition(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PRINT_EVERY", 0.05)
    monkeypatch.setattr(library.updater, "due", lambda now: [])
    told: list[tuple[str, Edition]] = []
    twice = threading.Event()

    def on_edition(reader: Reader, edition: Edition) -> None:
        told.append((reader.name, edition))
        if len(told) >= 4:
            twice.set()

    library.daily.reader()
    library.daily.add_reader("other")
    library.start_background(on_edition)
    assert twice.wait(60)
    library.close()
    assert {name for name, _ in told} == {"me", "other"}
    assert all(edition.reader == name for name, edition in told)
    assert told.count(told[0]) >= 2  # at every look


def test_a_server_waits_for_its_sources(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed before the morning's update would take the morning's place."""
    monkeypatch.setattr(background, "PRINT_EVERY", 0.02)
    looks = threading.Event()

    def due(now: datetime) -> list[str]:
        looks.set()
        return ["arxiv:cs.AI"]

    monkeypatch.setattr(library.updater, "due", due)
    monkeypatch.setattr(library.updater, "run", lambda *names, **more: [])
    library.daily.reader()
    library.start_background()
    assert looks.wait(60)
    library._background.stop()  # type: ignore[union-attr]
    assert library.daily.edition_days() == []


def test_the_background_goes_on_with_the_others_after_a_failure(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "PRINT_EVERY", 0.05)
    monkeypatch.setattr(library.updater, "due", lambda now: [])
    library.daily.reader()
    library.daily.add_reader("other")
    done = threading.Event()

    def on_edition(reader: Reader, edition: Edition) -> None:
        if reader.name == "me":
            raise InputError("not today")
        done.set()

    library.start_background(on_edition)
    assert done.wait(60)
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while "delivery_trouble" not in library.status().details and datetime.now(UTC) < deadline:
        threading.Event().wait(0.05)
    assert library.status().details["delivery_trouble"] == "not today"


def test_a_fault_of_ours_with_one_reader_leaves_the_others_theirs(
    library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "PRINT_EVERY", 0.05)
    monkeypatch.setattr(library.updater, "due", lambda now: [])
    library.daily.reader()
    library.daily.add_reader("other")
    done = threading.Event()

    def on_edition(reader: Reader, edition: Edition) -> None:
        if reader.name == "me":
            raise ZeroDivisionError
        done.set()

    library.start_background(on_edition)
    assert done.wait(60)
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while "delivery_trouble" not in library.status().details and datetime.now(UTC) < deadline:
        threading.Event().wait(0.05)
    assert "see the log" in library.status().details["delivery_trouble"]
    assert "ZeroDivisionError" in caplog.text and "me" in caplog.text


def test_an_encoders_vectors_join_the_score_once_nearly_all_papers_have_one(
    embeddings: EmbeddingsServer, tmp_path: Path
) -> None:
    with library_in(tmp_path / "home", embeddings.spec()) as library:
        take(library, listing(0, 40))
        library.daily.examples(of_topic(library, "bees")[:3])
        library.daily.add_reader("early")
        library.daily.examples(of_topic(library, "bees")[:3], "early")
        early = library.daily.today("early", now=morning(0)).edition
        library.encode()
        later = library.daily.today(now=morning(0)).edition
        assert early is not None
        assert later is not None
        assert not any("meaning" in entry.parts for entry in early.entries)
        assert all("meaning" in entry.parts for entry in later.entries)
        assert "meaning" in library.daily.memory().parts


# --- when something is amiss


def test_a_damaged_index_costs_the_searches_only(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.daily.save_search("bees")

    def damaged(*arguments: object, **more: object) -> None:
        raise IndexDamagedError("the text index is damaged; make it again: broadsheet doctor --rebuild-index")

    monkeypatch.setattr(library.searcher, "search", damaged)
    edition = library.daily.today(now=morning(0)).edition
    assert edition is not None
    assert len(edition.entries) > 10
    assert any(note.startswith("Saved searches could not be asked: the text index") for note in edition.notes)


def test_of_too_many_papers_the_newest_are_chosen_from(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(press, "MOST", 10)
    edition = library.daily.today(now=morning(0)).edition
    assert edition is not None
    assert edition.considered == 10
    assert "More than 10 papers are new; this edition is chosen from the newest of them." in edition.notes


def test_the_space_of_the_day_is_made_once_and_again_when_it_is_lost(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = []
    fit = TextSpace.fit

    def counted(self: TextSpace, texts: Sequence[str]) -> TextSpace:
        fits.append(len(texts))
        return fit(self, texts)

    monkeypatch.setattr(TextSpace, "fit", counted)
    home = library.settings.home
    library.daily.today(now=morning(0))
    library.daily.add_reader("other")
    library.daily.today("other", now=morning(0))
    assert fits == [24]
    library.close()
    for name in ("third", "fourth"):
        with library_in(home) as again:
            again.daily.add_reader(name)
            assert again.daily.today(name, now=morning(0)).is_new
        shutil.rmtree(home / "index" / "daily")
    assert fits == [24, 24]


def test_an_edition_goes_to_readers_as_they_are_then(tmp_path: Path) -> None:
    """Whoever unsubscribes, or is removed, while editions of others are printed and sent gets no mail."""
    with library_in(tmp_path / "home") as library:
        take(library, listing(0))
        for name in ("ada", "bob", "eve"):
            library.daily.add_reader(name)
            library.daily.set_options(name, email=f"{name}@example.org")
        told: list[tuple[str, str]] = []

        def on_edition(reader: Reader, edition: Edition) -> None:
            told.append((reader.name, reader.profile.email))
            if reader.name == "ada":
                library.daily.set_options("bob", email="")
                library.daily.remove_reader("eve")

        desk = Background(library, on_edition)
        desk._print()
        desk._tell()
        assert told == [("ada", "ada@example.org"), ("bob", "")]


def test_a_mail_server_that_does_not_answer_holds_up_nothing(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the printing for the others, nor the end of the server."""
    monkeypatch.setattr(background, "PRINT_EVERY", 0.02)
    monkeypatch.setattr(background, "LAST_WAIT", 0.05)
    monkeypatch.setattr(library.updater, "due", lambda now: [])
    hanging, answered = threading.Event(), threading.Event()

    def on_edition(reader: Reader, edition: Edition) -> None:
        hanging.set()
        answered.wait(60)

    library.daily.reader()
    library.start_background(on_edition)
    try:
        assert hanging.wait(60)
        library.daily.add_reader("other")
        for _ in range(1200):
            if library.daily.edition_days("other"):
                break
            time.sleep(0.05)
        assert library.daily.edition_days("other")
        ending = threading.Thread(target=library._background.stop)  # type: ignore[union-attr]
        ending.start()
        ending.join(60)
        assert not ending.is_alive()
        assert not answered.is_set()
    finally:
        answered.set()


def test_what_is_being_sent_when_the_server_ends_is_waited_for(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LAST_WAIT", 60.0)
    monkeypatch.setattr(library.updater, "due", lambda now: [])
    begun, may_end, sent = threading.Event(), threading.Event(), threading.Event()

    def on_edition(reader: Reader, edition: Edition) -> None:
        begun.set()
        may_end.wait(60)
        library.daily.record_delivery(reader.name, edition.day, "mail", "sent")
        sent.set()

    library.daily.reader()
    library.start_background(on_edition)
    assert begun.wait(60)
    threading.Timer(0.1, may_end.set).start()
    library.close()
    assert sent.is_set()
