"""One run over the sources: what is kept, where it goes on, and that no source stops another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import ClassVar, Self

import pytest

from broadsheet.errors import BusyError, FetchError, InputError
from broadsheet.ingest import import_items
from broadsheet.ingest.update import update
from broadsheet.model import ImportSummary, Notice, NoticeKind, Record, Refusal, SourceReport, SourceState, SourceStatus
from broadsheet.net import Client
from broadsheet.sources import Item
from broadsheet.sources.base import Entry, Page
from broadsheet.store import Store, open_store
from tests.fakeweb import Answer, FakeWeb
from tests.makers import NOW, record

HOST = "papers.example.org"


@dataclass
class Shelf:
    """A source of numbered pages, each a JSON list of [key, title]; the cursor is the next page's number."""

    kind: ClassVar[str] = "shelf"
    usage: ClassVar[str] = "shelf:NAME"
    name: str = "shelf:one"
    every: timedelta = timedelta(days=1)
    pages: int = 2
    state: SourceState = SourceState.OK
    remark: str = ""
    seen: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, rest: str) -> Self:
        return cls(name=f"shelf:{rest}")

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        self.seen.append(cursor)
        for number in range(int(cursor or 1), self.pages + 1):
            answer = client.get(f"https://{HOST}/{self.name.split(':')[1]}/{number}")
            yield Page(
                answer.url, answer.body, str(number + 1), self.remark, self.state, f"n{number}", date(2026, 11, number)
            )

    def parse(self, page: Page) -> Iterator[Entry]:
        try:
            entries = json.loads(page.body)
        except ValueError:
            raise InputError(f"{page.url}: not JSON") from None
        for at, entry in enumerate(entries, 1):
            if entry is None:
                yield Refusal(page.url, at, "nothing there")
            else:
                yield record(
                    entry[1], source=self.name, key=entry[0], raw=entry[1], authors=("Ada Lovelace", "Alan Turing")
                )


def page(*titles: str | None) -> Answer:
    return Answer(json.dumps([title and [title.replace(" ", "-"), title] for title in titles]))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


def run(store: Store, web: FakeWeb, *sources: Shelf, now: datetime = NOW) -> dict[str, SourceReport]:
    def take(entries: Iterator[Record | Refusal]) -> ImportSummary:
        return import_items(store, (Item(0, 0, None, entry) for entry in entries), now=lambda: now)

    with web.client(tries=1) as client:
        reports = update(store, sources, client, now=lambda: now, take=take)
    return {report.name: report for report in reports}


def status(store: Store, name: str = "shelf:one") -> SourceStatus:
    return store.source_states()[name][1]


def test_what_is_new_is_stored_and_counted(store: Store, fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/one/1", page("How bees decide", None))
    fakeweb.on(HOST, "/one/2", page("How ants decide", "How wasps decide"))
    report = run(store, fakeweb, Shelf())["shelf:one"]
    assert (report.new, report.updated, report.merged, report.refused) == (3, 0, 0, 1)
    assert report.state is SourceState.OK
    assert report.refusals[0].reason == "nothing there"
    assert store.counts().papers == 3
    found = status(store)
    assert (found.state, found.asked, found.fetched, found.records) == (SourceState.OK, NOW, NOW, 3)
    assert (found.newest, found.day, found.failures) == ("n2", date(2026, 11, 2), 0)


def test_the_next_run_goes_on_at_the_cursor(store: Store, fakeweb: FakeWeb) -> None:
    for number in (1, 2, 3):
        fakeweb.on(HOST, f"/one/{number}", page(f"Paper of the page {number}"))
    first, second = Shelf(pages=2), Shelf(pages=3)
    run(store, fakeweb, first)
    assert run(store, fakeweb, second)["shelf:one"].new == 1
    assert (first.seen, second.seen) == ([""], ["3"])
    assert status(store).records == 3


def test_a_failure_in_the_middle_keeps_what_came_and_goes_on_there(store: Store, fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/one/1", page("How bees decide"))
    fakeweb.on(HOST, "/one/2", Answer(status=500), page("How ants decide"))
    report = run(store, fakeweb, Shelf())["shelf:one"]
    assert (report.state, report.new) == (SourceState.FAILED, 1)
    assert HOST in report.message
    assert status(store).fetched is None
    assert status(store).failures == 1
    again = Shelf()
    report = run(store, fakeweb, again)["shelf:one"]
    assert (report.state, report.new, again.seen) == (SourceState.OK, 1, ["2"])
    assert status(store).failures == 0
    assert status(store).records == 2


def test_a_page_that_is_seen_twice_changes_nothing(store: Store, fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/one/1", page("How bees decide"))
    run(store, fakeweb, Shelf(pages=1))
    store.set_source_state("shelf:one", "1", status(store))
    before = store.last_seq()
    report = run(store, fakeweb, Shelf(pages=1))["shelf:one"]
    assert (report.new, report.updated, store.last_seq()) == (0, 0, before)


def test_no_source_stops_another(store: Store, fakeweb: FakeWeb, caplog: pytest.LogCaptureFixture) -> None:
    fakeweb.on(HOST, "/one/1", Answer(status=404))
    fakeweb.on(HOST, "/two/1", Answer("<html>"))
    fakeweb.on(HOST, "/four/1", page("How bees decide"))

    class Broken(Shelf):
        def parse(self, page: Page) -> Iterator[Entry]:
            raise ZeroDivisionError("never mind")

    fakeweb.on(HOST, "/three/1", page("Unread"))
    sources = [Shelf("shelf:one"), Shelf("shelf:two"), Broken("shelf:three"), Shelf("shelf:four", pages=1)]
    reports = run(store, fakeweb, *sources)
    assert [r.state.value for r in reports.values()] == ["failed", "failed", "failed", "ok"]
    assert "404" in reports["shelf:one"].message
    assert "not JSON" in reports["shelf:two"].message
    assert "ZeroDivisionError" in reports["shelf:three"].message
    assert "shelf:three: an unforeseen fault" in caplog.text
    assert reports["shelf:four"].new == 1


def test_where_nothing_can_be_stored_the_run_ends(store: Store, fakeweb: FakeWeb) -> None:
    def take(entries: Iterator[Record | Refusal]) -> ImportSummary:
        raise BusyError("another process writes")

    fakeweb.on(HOST, "/one/1", page("How bees decide"))
    with fakeweb.client() as client, pytest.raises(BusyError):
        update(store, [Shelf()], client, now=lambda: NOW, take=take)


def test_remarks_that_are_sentences_are_joined_without_a_stop_and_a_semicolon(store: Store, fakeweb: FakeWeb) -> None:
    class Talker(Shelf):
        def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
            for number, remark in enumerate(("The feed is full.", "Nothing changed."), 1):
                yield Page("", b"[]", str(number), remark)

    assert run(store, fakeweb, Talker())["shelf:one"].message == "The feed is full; Nothing changed."


def test_the_worst_state_of_the_pages_is_the_sources_with_every_remark_once(store: Store, fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/one/1", page())
    fakeweb.on(HOST, "/one/2", page())
    shelf = Shelf(state=SourceState.INCOMPLETE, remark="200 of 900")
    report = run(store, fakeweb, shelf)["shelf:one"]
    assert (report.state, report.message) == (SourceState.INCOMPLETE, "200 of 900")
    assert status(store).failures == 1


def test_a_quiet_source_has_not_failed(store: Store, fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/one/1", page())
    run(store, fakeweb, Shelf(pages=1, state=SourceState.QUIET, remark="No announcement: weekend."))
    found = status(store)
    assert (found.state, found.failures, found.fetched) == (SourceState.QUIET, 0, NOW)
    assert found.message == "No announcement: weekend."


def test_a_source_without_any_page_is_fine(store: Store, fakeweb: FakeWeb) -> None:
    report = run(store, fakeweb, Shelf(pages=0))["shelf:one"]
    assert (report.state, report.new) == (SourceState.OK, 0)


def test_what_a_server_asks_to_wait_is_remembered(store: Store, fakeweb: FakeWeb) -> None:
    class Throttled(Shelf):
        def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
            raise FetchError("asks to wait", url="https://x", status=429, retry_after=3600)
            yield

    run(store, fakeweb, Throttled())
    assert status(store).wait == 3600
    run(store, fakeweb, Shelf(pages=0))
    assert status(store).wait == 0


def test_withdrawn_papers_are_counted_once(store: Store, fakeweb: FakeWeb) -> None:
    class Sad(Shelf):
        def parse(self, page: Page) -> Iterator[Entry]:
            notice = Notice(NoticeKind.WITHDRAWN, page.body.decode())
            yield record("How bees decide", source=self.name, key="bees", notices=(notice,))

    fakeweb.on(HOST, "/one/1", Answer("an error in section 3"), Answer("an error in section 4"))
    assert run(store, fakeweb, Sad(pages=1))["shelf:one"].withdrawn == 1
    store.set_source_state("shelf:one", "1", status(store))
    report = run(store, fakeweb, Sad(pages=1))["shelf:one"]
    assert (report.updated, report.withdrawn) == (1, 0)
    assert store.papers([1])[1].notices == (Notice(NoticeKind.WITHDRAWN, "an error in section 4"),)


def test_states_outlive_the_process(store: Store, fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(HOST, "/one/1", page("How bees decide"))
    run(store, fakeweb, Shelf(pages=1))
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}", read_only=True) as again:
        assert again.source_states() == store.source_states()


def test_a_server_that_asks_for_fewer_requests_is_not_asked_for_its_other_sources(
    store: Store, fakeweb: FakeWeb
) -> None:
    class Other(Shelf):
        kind: ClassVar[str] = "other"

    fakeweb.on(HOST, "/one/1", Answer("Rate exceeded."))
    fakeweb.on(HOST, "/three/1", page("How bees decide"))
    second, third = Shelf("shelf:two"), Other("shelf:three", pages=1)
    reports = run(store, fakeweb, Shelf(), second, third)
    assert [report.state.value for report in reports.values()] == ["failed", "failed", "ok"]
    assert second.seen == []
    assert "not asked" in reports["shelf:two"].message
    assert status(store, "shelf:two").wait > 0


def test_feeds_of_other_hosts_are_asked_all_the_same(store: Store, fakeweb: FakeWeb) -> None:
    @dataclass
    class Feed(Shelf):
        kind: ClassVar[str] = "feed"

        def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
            self.seen.append(cursor)
            answer = client.get(self.name.partition(":")[2])
            yield Page(answer.url, answer.body, "")

    fakeweb.on("one.example.org", "/a", Answer("Rate exceeded."))
    fakeweb.on("one.example.org", "/b", page("Unread"))
    fakeweb.on("two.example.org", "/a", page("How bees decide"))
    names = ["feed:https://one.example.org/a", "feed:https://one.example.org/b", "feed:https://two.example.org/a"]
    sources = [Feed(name) for name in names]
    reports = run(store, fakeweb, *sources)
    assert [reports[name].state.value for name in names] == ["failed", "failed", "ok"]
    assert [len(source.seen) for source in sources] == [1, 0, 1]
