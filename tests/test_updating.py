"""The whole way of an update: settings, sources on the loopback, the store, the index, the schedule of a server."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from broadsheet.cli import run
from broadsheet.errors import SettingsError
from broadsheet.library import Library
from broadsheet.library.updating import client_of
from broadsheet.model import SourceState, SourceStatus
from broadsheet.settings import Settings
from tests.arxiv_bodies import item, listing, rss, rss_item, section
from tests.fakeweb import Answer, FakeWeb
from tests.libraries import library_in, until

FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Bee journal</title><link>https://bees.example.org</link>
<item><title>How bees decide where to go</title><link>https://bees.example.org/1</link><guid>1</guid>
<description>They dance.</description></item>
<item><title>How ants decide where to go</title><link>https://bees.example.org/2</link><guid>2</guid>
<description>They do not dance.</description></item></channel></rss>"""


def serving(fakeweb: FakeWeb, home: Path, *sources: str, **settings: Any) -> Library:
    """A library whose sources are answered by the fake web; who asks for an update does not wait between requests."""
    mirrors = tuple(f"{host}={url}" for host, url in fakeweb.mirrors.items())
    library = library_in(home, sources=sources, mirrors=mirrors, **settings)
    library.updater.run = partial(library.updater.run, pause=lambda seconds: None)  # type: ignore[method-assign]
    return library


def today_in_new_york() -> str:
    from broadsheet.sources.arxiv_calendar import feed_day

    return feed_day(datetime.now(UTC)).strftime("%a, %d %b %Y 00:00:00 -0500")


def test_from_the_feed_to_the_search(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED, headers={"Content-Type": "application/rss+xml"}))
    with serving(fakeweb, tmp_path, "feed:https://bees.example.org/feed") as library:
        told: list[str] = []
        (report,) = library.update(on_source=lambda report: told.append(report.name))
        assert (report.state, report.new) == (SourceState.OK, 2)
        assert told == ["feed:https://bees.example.org/feed"]
        assert library.search("ants decide").hits[0].paper.title == "How ants decide where to go"
        assert library.status().pending_changes == 0
        (status,) = library.sources()
        assert (status.state, status.records) == (SourceState.OK, 2)
        assert status.due is not None and status.due > datetime.now(UTC)


def test_a_feed_may_not_lead_into_the_private_network(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    address = f"feed:{fakeweb.base}/bees.example.org/feed"
    with library_in(tmp_path, sources=(address,)) as library:
        (report,) = library.update()
        assert report.state is SourceState.FAILED
        assert "private" in report.message
    with library_in(tmp_path, sources=(address,), allow_private_addresses=True) as library:
        (report,) = library.update()
        assert (report.state, report.new) == (SourceState.OK, 2)


def test_arxiv_and_daily_papers_meet_in_one_paper(fakeweb: FakeWeb, tmp_path: Path) -> None:
    day = today_in_new_york()
    item = rss_item("2611.00001", title="How bees decide where to go", authors="Ada Lovelace", day=day)
    fakeweb.on("rss.arxiv.org", "/rss/cs.LG", Answer(rss(item, day=day)))
    daily = {
        "paper": {
            "id": "2611.00001",
            "title": "How bees decide where to go",
            "summary": "They dance.",
            "authors": [{"name": "Ada Lovelace"}],
            "publishedAt": "2026-11-02T17:00:00.000Z",
            "upvotes": 19,
        },
        "numComments": 2,
    }
    fakeweb.on("huggingface.co", "/api/daily_papers", Answer(json.dumps([daily])), Answer("[]"))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG", "huggingface") as library:
        first, second = library.update()
        assert (first.new, first.merged) == (1, 0)
        assert (second.new, second.merged) == (1, 1)
        paper = library.paper("2611.00001")
        assert paper.count("upvotes") == 19
        assert {place.venue for place in paper.places} == {"arxiv", "Hugging Face Daily Papers"}
        assert library.status().papers == 1


def test_the_command_exits_with_1_only_if_nothing_came(
    fakeweb: FakeWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    fakeweb.on("bees.example.org", "/none", Answer(status=404))
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    monkeypatch.setenv("BROADSHEET_MIRRORS", " ".join(f"{host}={url}" for host, url in fakeweb.mirrors.items()))
    monkeypatch.setenv("BROADSHEET_SOURCES", "feed:https://bees.example.org/none feed:https://bees.example.org/feed")
    assert run(["update"]) == 0
    out = capsys.readouterr().out
    assert "failed" in out
    assert run(["update", "feed:https://bees.example.org/none"]) == 1
    assert run(["sources"]) == 0
    assert "404" in capsys.readouterr().out


def test_without_any_source_the_remedy_is_named(tmp_path: Path) -> None:
    with library_in(tmp_path) as library, pytest.raises(SettingsError, match="broadsheet sources add"):
        library.update()


@pytest.mark.parametrize("text", ["export.arxiv.org", "export.arxiv.org=ftp://x", "=", "a=b"])
def test_a_mirror_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="HOST=URL"):
        client_of(Settings(home=tmp_path, mirrors=(text,)), time.sleep)


def test_services_are_asked_for_what_is_missing_and_not_again(fakeweb: FakeWeb, tmp_path: Path) -> None:
    work = {
        "DOI": "10.1000/bees",
        "title": ["How bees decide where to go"],
        "container-title": ["Apidologie"],
        "type": "journal-article",
        "issued": {"date-parts": [[2024, 5, 6]]},
        "is-referenced-by-count": 12,
    }
    works = Answer(json.dumps({"status": "ok", "message": {"items": [work]}}))
    fakeweb.on("api.crossref.org", "/works", works)
    fakeweb.on("bees.example.org", "/feed", Answer(FEED.replace("They dance.", "They dance. doi:10.1000/bees")))
    source = "feed:https://bees.example.org/feed"
    with serving(fakeweb, tmp_path, source) as library:
        library.update()
        assert not any(request.host == "api.crossref.org" for request in fakeweb.requests), "off unless turned on"
        from tests.libraries import write_entries

        known = {"id": "b", "title": "How bees decide where to go", "doi": "10.1000/bees", "authors": ["Ada Lovelace"]}
        library.import_files([write_entries(tmp_path / "mine.jsonl", [known])])
    with serving(fakeweb, tmp_path, source, enrich=("crossref",), contact="ada@example.org") as library:
        reports = library.update()
        assert [report.name for report in reports] == [source, "enrich:crossref"]
        paper = library.paper("10.1000/bees")
        assert (paper.venue, paper.year, paper.count("citations")) == ("Apidologie", 2024, 12)
        asked = sum(request.host == "api.crossref.org" for request in fakeweb.requests)
        library.update()
        assert sum(request.host == "api.crossref.org" for request in fakeweb.requests) == asked
        assert [status.name for status in library.sources()] == [source], "a service is no source"


# --- the schedule


def test_a_server_asks_what_is_due_and_leaves_the_rest(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/due", Answer(FEED))
    fakeweb.on("bees.example.org", "/done", Answer(FEED))
    names = ["feed:https://bees.example.org/due", "feed:https://bees.example.org/done"]
    with serving(fakeweb, tmp_path, *names, update_at="00:00") as library:
        library.store.set_source_state(names[1], "", SourceStatus(names[1], SourceState.OK, asked=datetime.now(UTC)))
        library.start_background()
        until(lambda: library.sources()[0].state is SourceState.OK)
        until(lambda: library.status().papers == 2)
        assert [request.path for request in fakeweb.requests] == ["/due"]


def test_nothing_runs_by_itself_where_no_time_is_set(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    with serving(fakeweb, tmp_path, "feed:https://bees.example.org/feed", update_at="") as library:
        assert library.updater.due(datetime.now(UTC)) == []
        assert library.sources()[0].due is None


def test_the_end_of_a_server_does_not_wait_for_the_spacing_of_requests(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer("Rate exceeded.", headers={"Retry-After": "100"}))
    library = serving(fakeweb, tmp_path, "feed:https://bees.example.org/feed")
    library.start_background()
    until(lambda: bool(fakeweb.requests))
    begun = time.monotonic()
    library.close()
    assert time.monotonic() - begun < 60, "the pause before the next try is a hundred seconds"


def test_a_source_that_failed_is_due_again_soon(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(status=404))
    with serving(fakeweb, tmp_path, "feed:https://bees.example.org/feed", update_at="00:00") as library:
        library.update()
        (status,) = library.sources()
        assert status.asked is not None and status.due is not None
        assert timedelta(0) < status.due - status.asked <= timedelta(minutes=15)
        later = replace(status, asked=status.asked - timedelta(hours=1))
        library.store.set_source_state(status.name, "", later)
        assert library.updater.due(datetime.now(UTC)) == [status.name]


# --- categories of arXiv beside each other


def arxiv_day(now: datetime) -> str:
    from broadsheet.sources.arxiv_calendar import feed_day

    return feed_day(now).strftime("%a, %d %b %Y 00:00:00 -0500")


def feed(category: str, *numbers: int, day: str) -> Answer:
    items = [
        rss_item(
            f"2611.{number:05}", title=f"How swarm {number} decides", categories=(category,), day=day,
            authors=f"Ann Lee{number}",
        )
        for number in numbers
    ]  # fmt: skip
    return Answer(rss(*items, day=day, title=f"{category} updates on arXiv.org"))


def test_a_category_that_lags_behind_the_others_is_looked_up_on_the_listing_page(
    fakeweb: FakeWeb, tmp_path: Path
) -> None:
    from broadsheet.sources.arxiv_calendar import feed_day

    today = arxiv_day(datetime.now(UTC))
    fakeweb.on("rss.arxiv.org", "/rss/cs.AI", feed("cs.AI", 1, 90, day=today), feed("cs.AI", 1, 90, day=today))
    fakeweb.on("rss.arxiv.org", "/rss/cs.CL", feed("cs.CL", 2, 95, day=today), feed("cs.CL", 1200, 1300, day=today))
    shown = section("New submissions (showing 1 of 1 entries)", item("2611.01280", title="How swarm 1280 decides"))
    page = listing(shown, day=f"Showing new listings for {feed_day(datetime.now(UTC)):%A, %d %B %Y}")
    fakeweb.on("arxiv.org", "/list/cs.AI/new", Answer(status=404), Answer(page))
    with serving(fakeweb, tmp_path, "arxiv:cs.AI", "arxiv:cs.CL", update_at="") as library:
        assert {report.state for report in library.update()} == {SourceState.OK}
        lagging, current = library.update()
        assert current.state is SourceState.OK
        assert lagging.state is SourceState.STALE
        assert lagging.message == "cs.AI is stale: newest id 2611.00090, others have 2611.01300"
        assert library.sources()[0].failures == 1
        (mended,) = library.update(["arxiv:cs.AI"])
        assert (mended.state, mended.new) == (SourceState.OK, 1)
        assert library.paper("2611.01280").title == "How swarm 1280 decides"
        assert library.sources()[0].newest == "2611.01280"


def test_the_doctor_names_a_source_in_trouble(fakeweb: FakeWeb, tmp_path: Path) -> None:
    def found(library: Library) -> tuple[bool, str]:
        return next((check.ok, check.message) for check in library.doctor() if check.name == "sources")

    fakeweb.on("bees.example.org", "/feed", Answer(status=404), Answer(FEED))
    with serving(fakeweb, tmp_path, "feed:https://bees.example.org/feed") as library:
        assert found(library) == (True, "1 configured, none in trouble")
        library.update()
        ok, message = found(library)
        assert not ok
        assert "feed:https://bees.example.org/feed" in message
        assert "404" in message
        library.update()
        assert found(library)[0]


def test_a_replacement_is_never_counted_as_new(fakeweb: FakeWeb, tmp_path: Path) -> None:
    day = today_in_new_york()
    items = [
        rss_item("2611.00001", "new", title="How bees decide", day=day),
        rss_item("2501.00002", "replace", version=3, title="How ants decide", authors="Bo Li", day=day),
        rss_item("2502.00003", "replace-cross", version=2, title="How wasps decide", authors="Cy Ng", day=day),
    ]
    fakeweb.on("rss.arxiv.org", "/rss/cs.LG", Answer(rss(*items, day=day)))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG") as library:
        (report,) = library.update()
        assert (report.new, report.updated) == (1, 2)
        assert library.days() == [(library.paper("2611.00001").day, 1)], "old papers are filed under no new day"
        assert library.paper("2501.00002").versions[-1].number == 3


def test_a_server_sees_sources_that_are_added_while_it_runs(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on("bees.example.org", "/feed", Answer(FEED))
    (tmp_path / "broadsheet.toml").write_text('encoder = "none"\n', "utf-8")
    with serving(fakeweb, tmp_path) as library:
        assert library.sources() == []
        from broadsheet.settings import edit_list

        edit_list(tmp_path, "sources", lambda before: [*before, "feed:https://bees.example.org/feed"])
        assert [status.name for status in library.sources()] == ["feed:https://bees.example.org/feed"]
        library.start_background()
        until(lambda: library.sources()[0].state is SourceState.OK, 60)
