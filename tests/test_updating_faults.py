"""What may go wrong around an update: names, two updates at once, services that fail, a library that is busy."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from broadsheet.cli import run
from broadsheet.errors import BusyError, SettingsError
from broadsheet.model import SourceState
from broadsheet.store.lock import FolderLock
from tests.fakeweb import Answer, FakeWeb
from tests.libraries import entry, write_entries
from tests.test_updating import FEED, arxiv_day, feed, serving

BEES = "feed:https://bees.example.org/feed"


def test_a_source_is_known_by_one_name_however_the_settings_spell_it(fakeweb: FakeWeb, tmp_path: Path) -> None:
    """Else its state is never found again, and a server asks it every time it looks at the clock."""
    fakeweb.on("rss.arxiv.org", "/rss/cs.LG", feed("cs.LG", 1, day=arxiv_day(datetime.now(UTC))))
    with serving(fakeweb, tmp_path, "arxiv:cs.lg", "arxiv:cs.LG") as library:
        assert [report.name for report in library.update()] == ["arxiv:cs.LG"]
        (status,) = library.sources()
        assert (status.name, status.state) == ("arxiv:cs.LG", SourceState.OK)
        assert library.updater.due(datetime.now(UTC)) == []


def test_a_source_that_is_misspelled_does_not_stop_the_others(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    with serving(fakeweb, tmp_path, "arxiv:cs.", BEES, "bees") as library:
        reports = {report.name: report for report in library.update()}
        assert reports[BEES].new == 2
        assert reports["arxiv:cs."].state is reports["bees"].state is SourceState.FAILED
        assert "not a category" in reports["arxiv:cs."].message
        assert "no kind of source 'bees'" in reports["bees"].message
        states = {status.name: status for status in library.sources()}
        assert "not a category" in states["arxiv:cs."].message
        assert library.updater.due(datetime.now(UTC)) == []
        with pytest.raises(SettingsError, match="not a category"):
            library.update(["arxiv:cs."])


def test_the_exit_status_is_that_of_the_sources(
    fakeweb: FakeWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(status=404))
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    monkeypatch.setenv("BROADSHEET_MIRRORS", " ".join(f"{host}={url}" for host, url in fakeweb.mirrors.items()))
    monkeypatch.setenv("BROADSHEET_SOURCES", BEES)
    monkeypatch.setenv("BROADSHEET_ENRICH", "crossref")
    assert run(["update"]) == 1, "a service that had nothing to be asked for gave nothing"


def test_an_update_while_another_runs_asks_nobody(fakeweb: FakeWeb, tmp_path: Path) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def slow(_: object) -> Answer:
        begun.set()
        goes_on.wait(20)
        return Answer(FEED)

    fakeweb.on("bees.example.org", "/feed", slow)
    with serving(fakeweb, tmp_path, BEES) as one, serving(fakeweb, tmp_path, BEES) as another:
        thread = threading.Thread(target=one.update)
        thread.start()
        try:
            assert begun.wait(20)
            with pytest.raises(BusyError, match="is updating this library"):
                another.update()
        finally:
            goes_on.set()
            thread.join()
        assert len(fakeweb.requests) == 1
        assert another.update()[0].new == 0


def test_nobody_is_asked_while_nothing_can_be_stored(
    fakeweb: FakeWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server would ask again each time it looks at the clock, for as long as an import of an hour takes."""
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    with serving(fakeweb, tmp_path, BEES) as library:
        monkeypatch.setattr(library.store._lock, "timeout", 0.1)
        import_of_another = FolderLock(tmp_path / "broadsheet.db")
        import_of_another.acquire(0)
        with pytest.raises(BusyError):
            library.update()
        import_of_another.release()
        assert fakeweb.requests == []
        assert library.update()[0].new == 2


# --- services


def _known(count: int) -> list[dict[str, object]]:
    return [entry(i, doi=f"10.1000/{i}") for i in range(count)]


def _asked_dois(fakeweb: FakeWeb) -> set[str]:
    return {
        piece.partition(":")[2]
        for request in fakeweb.requests
        if request.host == "api.crossref.org"
        for piece in request.query["filter"][0].split(",")
    }


def test_papers_of_a_run_that_failed_are_asked_for_by_the_next(fakeweb: FakeWeb, tmp_path: Path) -> None:
    nothing = Answer(json.dumps({"status": "ok", "message": {"items": []}}))
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    fakeweb.on("api.crossref.org", "/works", Answer(status=404), nothing)
    with serving(fakeweb, tmp_path, BEES, enrich=("crossref",), enrich_limit=1) as library:
        library.import_files([write_entries(tmp_path / "mine.jsonl", _known(30))])
        assert library.update()[1].state is SourceState.FAILED
        fakeweb.requests.clear()
        for _ in range(30):
            library.update()
        assert len(_asked_dois(fakeweb)) == 30


def test_the_round_over_all_papers_leaves_none_out(fakeweb: FakeWeb, tmp_path: Path) -> None:
    nothing = Answer(json.dumps({"status": "ok", "message": {"items": []}}))
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    fakeweb.on("api.crossref.org", "/works", nothing)
    with serving(fakeweb, tmp_path, BEES, enrich=("crossref",), enrich_limit=1) as library:
        library.import_files([write_entries(tmp_path / "mine.jsonl", _known(20))])
        for _ in range(20):
            library.update()
        assert len(_asked_dois(fakeweb)) == 20


def test_a_service_that_asks_to_be_left_alone_is(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    fakeweb.on("api.crossref.org", "/works", Answer(status=429, headers={"Retry-After": "7200"}))
    with serving(fakeweb, tmp_path, BEES, enrich=("crossref",)) as library:
        library.import_files([write_entries(tmp_path / "mine.jsonl", _known(1))])
        for _ in range(2):
            report = library.update()[1]
            assert report.state is SourceState.FAILED
            assert "429" in report.message
        assert len([request for request in fakeweb.requests if request.host == "api.crossref.org"]) == 1
