"""How sources stand: the line at the foot of the front page, and the page of sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from starlette.testclient import TestClient

from broadsheet.model import SourceState, SourceStatus
from broadsheet.web import create_app
from broadsheet.web.standing import (
    LONGEST_REMARK,
    ago,
    moment_words,
    remark,
    source_name,
    standings,
    state_words,
    without_secrets,
)
from tests.fake_library import SOURCES, FakeLibrary
from tests.pages import BASE, NOW, page

DAY = date(2026, 11, 27)


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


def at(hour: int, minute: int = 0, day: int = 30) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": SourceState.NEVER}, "not asked yet, first run with the next update"),
        ({"state": SourceState.NEVER, "due": at(11, 30)}, "not asked yet, first run at 11:30"),
        ({"state": SourceState.OK, "fetched": at(6)}, "up to date, 3 h ago"),
        ({"state": SourceState.OK, "asked": at(8, 20)}, "up to date, 40 min ago"),
        ({"state": SourceState.OK, "fetched": at(6), "day": DAY}, "Friday 27 November"),
        ({"state": SourceState.OK, "fetched": at(6, day=26), "day": DAY}, "Friday 27 November, asked 4 days ago"),
        ({"state": SourceState.OK, "day": DAY, "message": "233 new"}, "Friday 27 November"),
        ({"state": SourceState.OK}, "up to date"),
        (
            {"state": SourceState.QUIET, "fetched": at(6), "day": DAY, "message": "a holiday."},
            "Friday 27 November (a holiday)",
        ),
        ({"state": SourceState.QUIET, "fetched": at(6), "message": "weekend"}, "up to date, 3 h ago (weekend)"),
        (
            {"state": SourceState.STALE, "day": DAY, "message": "newest id 2608.09930, others have 2608.11200"},
            "nothing newer than Friday 27 November (newest id 2608.09930, others have 2608.11200)",
        ),
        ({"state": SourceState.STALE}, "out of date"),
        ({"state": SourceState.INCOMPLETE, "due": at(9, 30)}, "in part only, the rest follows at 09:30"),
        ({"state": SourceState.FAILED, "due": at(9, 30), "message": "503"}, "failed, trying again at 09:30"),
        ({"state": SourceState.FAILED, "due": at(8)}, "failed, trying again with the next update"),
        (
            {"state": SourceState.FAILED, "due": at(9) + timedelta(days=1)},
            "failed, trying again tomorrow at 09:00",
        ),
        (
            {"state": SourceState.FAILED, "due": at(9) + timedelta(days=4)},
            "failed, trying again on Friday 4 December at 09:00",
        ),
        (
            {"state": SourceState.FAILED, "due": at(9) + timedelta(days=40)},
            "failed, trying again on Saturday 9 January 2027 at 09:00",
        ),
    ],
)
def test_a_state_in_words(fields: dict[str, Any], words: str) -> None:
    assert state_words(SourceStatus("x", **fields), NOW) == words


def test_every_state_has_words() -> None:
    assert all(state_words(SourceStatus("x", state), NOW) for state in SourceState)
    assert len({line.state for line in standings([SourceStatus("x", s) for s in SourceState], NOW)}) == len(SourceState)


def test_times_are_told_in_the_time_of_the_server() -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9), "JST"))
    assert moment_words(at(9, 30), tokyo) == "today 18:30"
    assert moment_words(at(16), tokyo) == "tomorrow 01:00"
    assert moment_words(at(14, day=29), tokyo) == "yesterday 23:00"
    assert standings([SourceStatus("x", asked=at(16))], tokyo)[0].asked.iso == "2026-11-30T16:00:00+00:00"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(-5, "just now"), (0, "just now"), (2, "2 min ago"), (59, "59 min ago"), (60, "1 h ago"), (47 * 60, "47 h ago")],
)
def test_how_long_ago(minutes: int, words: str) -> None:
    assert ago(NOW - timedelta(minutes=minutes), NOW) == words
    assert ago(NOW - timedelta(days=9), NOW) == "9 days ago"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("arxiv:cs.LG", "arXiv cs.LG"),
        ("arxiv:cs.LG?since=2026-11-01&types=new,cross", "arXiv cs.LG"),
        ("arxiv-search:ti:bees OR wasps?cat=cs.LG", "arXiv search ti:bees OR wasps"),
        ("arxiv-ids:2401.12345", "arXiv 2401.12345"),
        ("huggingface", "Hugging Face"),
        ("virtual:icml/2025", "ICML 2025"),
        ("virtual:neurips/2025", "NeurIPS 2025"),
        ("cvf:CVPR2024", "CVPR 2024"),
        ("openreview:ICML.cc/2025/Conference", "OpenReview ICML 2025"),
        ("openreview:NeurIPS.cc/2024/Workshop/X", "OpenReview NeurIPS.cc/2024/Workshop/X"),
        ("acl:2024.emnlp", "ACL Anthology 2024.emnlp"),
        ("pmlr:v235", "PMLR v235"),
        ("feed:https://www.nature.com/nature.rss", "nature.com/nature.rss"),
        ("feed:https://me:secret@x.org/a/?key=secret", "x.org/a"),
        ("later:thing", "later:thing"),
    ],
)
def test_a_source_is_named_as_its_readers_know_it(name: str, shown: str) -> None:
    assert source_name(name) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:secret@x.org/a", "https://x.org/a"),
        ("https://secret@x.org/a", "https://x.org/a"),
        ("503 from https://x.org/a?key=secret&b=1, again", "503 from https://x.org/a, again"),
        ("(https://x.org/?key=secret) and https://y.org/#secret.", "(https://x.org/) and https://y.org/"),
        ("why? a@b.org", "why? a@b.org"),
    ],
)
def test_addresses_are_told_without_what_may_be_secret(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_a_remark_is_one_short_line() -> None:
    long = remark(SourceStatus("x", message="two\nlines " * 100))
    assert long.startswith("two lines two lines")
    assert len(long) <= LONGEST_REMARK + 1


def test_the_foot_of_the_front_page_tells_how_each_source_stands(client: TestClient) -> None:
    assert page(client, "/").text("p", class_="standings") == (
        "Sources: arXiv cs.LG: Friday 27 November (no announcement today: weekend; next Sunday 20:00 ET) · "
        "Hugging Face: up to date, 3 h ago · ICML 2025: failed, trying again at 09:30"
    )
    assert "/sources" in page(client, "/").links()
    assert not page(client, "/status").all("p", class_="standings")


def test_of_many_sources_those_in_trouble_come_first(client: TestClient, library: FakeLibrary) -> None:
    fine = [replace(SOURCES[0], name=f"arxiv:cs.A{letter}", message="") for letter in "ABCDEFGHIJ"]
    library.configured = (*fine, *SOURCES)
    line = page(client, "/").text("p", class_="standings")
    assert line.startswith("Sources: ICML 2025: failed")
    assert line.endswith("· 5 more")
    library.configured = (*fine[:5], *SOURCES)
    assert page(client, "/").text("p", class_="standings").startswith("Sources: ICML"), "as told a moment ago"


def test_eight_sources_stand_in_the_order_of_the_settings(client: TestClient, library: FakeLibrary) -> None:
    fine = [replace(SOURCES[0], name=f"arxiv:cs.A{letter}", message="") for letter in "ABCDE"]
    library.configured = (*fine, *SOURCES)
    line = page(client, "/").text("p", class_="standings")
    assert line.startswith("Sources: arXiv cs.AA: Friday")
    assert line.endswith("ICML 2025: failed, trying again at 09:30")


def test_without_a_source_the_site_says_how_to_add_one(client: TestClient, library: FakeLibrary) -> None:
    library.configured = ()
    for url, place in (("/", "footer"), ("/sources", "main")):
        text = page(client, url).text(place)
        assert "No source is configured; broadsheet sources add arxiv:cs.LG adds one" in text
    assert not page(client, "/sources").all("table")


def test_sources_are_asked_for_once_in_a_while(client: TestClient, library: FakeLibrary) -> None:
    for url in ("/", "/", "/sources"):
        client.get(url)
    assert library.calls.count("sources") == 1


def test_the_page_of_sources(client: TestClient) -> None:
    parsed = page(client, "/sources")
    rows = [text for _, text in parsed.all("tr")]
    assert rows[0] == "Source State Newest Last asked Last fetched Next run Records"
    assert rows[1] == (
        "arXiv cs.LG arxiv:cs.LG Nothing new no announcement today: weekend; next Sunday 20:00 ET "
        "27 November 2026 2611.20117 Today 06:30 Today 06:30 Tomorrow 06:30 12,345"
    )
    assert rows[2] == "Hugging Face huggingface Up to date – Today 06:00 Today 06:00 Today 12:00 411"
    assert rows[3].startswith("ICML 2025 virtual:icml-2025 Failed 503 from https://icml.example.org/list.json <script>")
    assert parsed.all("time", datetime="2026-11-30T06:30:00+00:00")
    assert "Times are those of this server (UTC)." in parsed.text("main")


def test_what_a_source_says_is_inert_and_keeps_its_secrets(client: TestClient, library: FakeLibrary) -> None:
    hostile = "<script>alert(1)</script>"
    library.configured = (
        *SOURCES,
        SourceStatus(f"feed:{hostile}", SourceState.STALE, f"{hostile} https://k:secret@x.org", newest=hostile),
    )
    for url in ("/", "/sources"):
        source = client.get(url).text
        assert "<script>alert" not in source
        assert "secret" not in source
        assert "&lt;script&gt;alert" in source
