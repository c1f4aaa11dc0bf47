"""What may go wrong around an update: names, two updates at once, services that fail, a library that is busy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from broadsheet.cli import run
from broadsheet.errors import BusyError, SettingsError
from broadsheet.model import SourceState
from broadsheet.store.lock import FolderLock
from tests.arxiv_bodies import listing, rss, rss_item
from tests.fakeweb import Answer, FakeWeb
from tests.libraries import entry, until, write_entries
from tests.shared import ROOT
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
        goes_on.wait(60)
        return Answer(FEED)

    fakeweb.on("bees.example.org", "/feed", slow)
    with serving(fakeweb, tmp_path, BEES) as one, serving(fakeweb, tmp_path, BEES) as another:
        thread = threading.Thread(target=one.update)
        thread.start()
        try:
            assert begun.wait(60)
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


# --- categories beside each other


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        ("Showing new listings for Thursday, 13 August 2026", SourceState.QUIET),
        ("Showing new listings for Wednesday, 12 August 2026", SourceState.STALE),
        ("", SourceState.STALE),
    ],
)
def test_a_small_category_without_papers_on_a_day_is_quiet_if_the_listing_page_says_so(
    fakeweb: FakeWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str, state: SourceState
) -> None:
    days = ("Wed, 12 Aug 2026 00:00:00 -0400", "Thu, 13 Aug 2026 00:00:00 -0400")
    fakeweb.on("rss.arxiv.org", "/rss/cs.GT", feed("cs.GT", 1, 90, day=days[0]), Answer(rss(day=days[1])))
    fakeweb.on("rss.arxiv.org", "/rss/cs.CL", feed("cs.CL", 2, 95, day=days[0]), feed("cs.CL", 1300, day=days[1]))
    fakeweb.on("arxiv.org", "/list/cs.GT/new", Answer(listing(day=shown)))
    with serving(fakeweb, tmp_path, "arxiv:cs.GT", "arxiv:cs.CL") as library:
        for number in (12, 13):
            now = datetime(2026, 8, number, 16, tzinfo=UTC)
            monkeypatch.setattr("broadsheet.library.updating._now", lambda now=now: now)
            reports = library.update()
        assert reports[0].state is state
        assert library.sources()[0].state is state


def test_a_withdrawn_paper_is_counted_once_whoever_tells_of_it(fakeweb: FakeWeb, tmp_path: Path) -> None:
    day = arxiv_day(datetime.now(UTC))
    gone = "<arxiv:comment>This paper has been withdrawn by the authors</arxiv:comment>"
    shown = rss_item("2611.00001", "replace", day=day, more=gone)
    fakeweb.on("rss.arxiv.org", "/rss/cs.LG", Answer(rss(shown, day=day)))
    fakeweb.on(
        "export.arxiv.org",
        "/api/query",
        Answer(
            '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"><entry>'
            "<id>http://arxiv.org/abs/2611.00001v2</id><title>Small Models Learn</title>"
            f"<author><name>Ann Lee</name></author>{gone}</entry></feed>"
        ),
    )
    with serving(fakeweb, tmp_path, "arxiv:cs.LG", "arxiv-ids:2611.00001") as library:
        reports = library.update()
        assert library.paper("2611.00001").is_withdrawn
        assert [(report.new, report.updated) for report in reports] == [(0, 1), (1, 0)]
        assert [report.withdrawn for report in reports] == [1, 0]


# --- killed at any moment


def listed(number: int) -> Answer:
    paper = {
        "id": f"2611.{number:05}",
        "title": f"How swarm {number} decides where to go",
        "summary": "They dance.",
        "authors": [{"name": f"Ada Lovelace{number}"}],
        "publishedAt": "2026-11-02T17:00:00.000Z",
        "upvotes": number,
    }
    return Answer(json.dumps([{"paper": paper, "numComments": 0}]))


def test_killed_between_two_pages_the_next_update_goes_on_after_what_was_stored(
    fakeweb: FakeWeb, tmp_path: Path
) -> None:
    held = Answer("[]", delay=30)
    fakeweb.on("huggingface.co", "/api/daily_papers", listed(1), held, listed(2), Answer("[]"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "BROADSHEET_HOME": str(tmp_path),
        "BROADSHEET_ENCODER": "none",
        "BROADSHEET_SOURCES": "huggingface",
        "BROADSHEET_MIRRORS": " ".join(f"{host}={url}" for host, url in fakeweb.mirrors.items()),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "broadsheet", "update"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    until(lambda: len(fakeweb.requests) >= 2 or process.poll() is not None, 60)
    process.kill()
    process.communicate()
    first, second = (request.query["date"][0] for request in fakeweb.requests[:2])
    with serving(fakeweb, tmp_path, "huggingface") as library:
        assert library.status().papers == 1
        assert library.search("swarm dance").total == 1, "the index follows when the library is opened"
        (report,) = library.update()
        assert (report.state, report.new) == (SourceState.OK, 1)
        assert library.status().papers == 2
        asked = [request.query["date"][0] for request in fakeweb.requests[2:]]
        assert {first, second} <= set(asked), "with some overlap, from where it was"
        assert library.update()[0].new == 0
