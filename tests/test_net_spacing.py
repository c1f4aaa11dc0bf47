"""Pauses between requests, with a clock that only moves when somebody sleeps."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from broadsheet.net.faults import HeldError
from broadsheet.net.spacing import LONGEST, Spacing
from tests.fakeweb import Answer, FakeWeb


class Time:
    def __init__(self) -> None:
        self.now = 1000.0
        self.lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.now += seconds

    def clock(self) -> float:
        return self.now


def started(spacing: Spacing, time: Time, hosts: list[str]) -> list[float]:
    begun = time.now
    found = []
    for host in hosts:
        with spacing.turn(host):
            found.append(time.now - begun)
    return found


def spaced(pauses: dict[str, float] | None = None) -> tuple[Spacing, Time]:
    time = Time()
    return Spacing(pauses or {}, time.sleep, time.clock), time


def test_arxiv_gets_three_seconds_on_one_clock() -> None:
    spacing, time = spaced()
    hosts = ["export.arxiv.org", "rss.arxiv.org", "arxiv.org", "oaipmh.arxiv.org", "EXPORT.arxiv.org."]
    assert started(spacing, time, hosts) == [0, 3, 6, 9, 12]


def test_each_other_host_gets_one_second_on_its_own() -> None:
    spacing, time = spaced()
    assert started(spacing, time, ["a.example.org", "b.example.org", "a.example.org", "notarxiv.org"]) == [0, 0, 1, 1]


def test_the_pause_begins_when_the_answer_is_there() -> None:
    spacing, time = spaced()
    with spacing.turn("arxiv.org"):
        time.sleep(10)
    assert spacing.when_free("export.arxiv.org") == 3
    assert started(spacing, time, ["arxiv.org"]) == [3]


def test_time_that_has_passed_is_not_waited_for_again() -> None:
    spacing, time = spaced()
    started(spacing, time, ["arxiv.org"])
    time.sleep(2)
    assert spacing.when_free("arxiv.org") == 1
    time.sleep(5)
    assert spacing.when_free("arxiv.org") == 0
    assert started(spacing, time, ["arxiv.org"]) == [0]


def test_settings_of_pauses() -> None:
    spacing, time = spaced({"*": 0.5, "arxiv.org": 5, "api.crossref.org": 0.1})
    assert started(spacing, time, ["x.org", "x.org", "rss.arxiv.org", "arxiv.org"]) == [0, 0.5, 0.5, 5.5]
    assert started(spacing, time, ["api.crossref.org", "api.crossref.org", "www.crossref.org"]) == pytest.approx(
        [0, 0.1, 0.1]
    )


def test_the_most_precise_domain_counts() -> None:
    spacing, time = spaced({"example.org": 4, "api.example.org": 2})
    hosts = ["www.example.org", "api.example.org", "v1.api.example.org", "example.org"]
    assert started(spacing, time, hosts) == [0, 0, 2, 4]


def test_a_failed_request_is_paused_after_as_well() -> None:
    spacing, time = spaced()
    with pytest.raises(ValueError), spacing.turn("arxiv.org"):
        raise ValueError
    assert started(spacing, time, ["arxiv.org"]) == [3]


def test_a_host_that_is_held() -> None:
    spacing, time = spaced()
    spacing.hold("export.arxiv.org", 60)
    spacing.hold("arxiv.org", 10)  # does not shorten it
    assert spacing.when_free("rss.arxiv.org") == 60
    assert spacing.when_free("example.org") == 0
    assert started(spacing, time, ["example.org", "rss.arxiv.org", "arxiv.org"]) == [0, 60, 63]


def test_a_host_that_is_held_too_long_is_not_waited_for() -> None:
    spacing, time = spaced()
    spacing.hold("arxiv.org", LONGEST + 1)
    with pytest.raises(HeldError) as caught, spacing.turn("export.arxiv.org"):
        pytest.fail("went on")
    assert caught.value.seconds == LONGEST + 1
    assert time.now == 1000
    time.sleep(1)
    assert started(spacing, time, ["arxiv.org"]) == [LONGEST]


def test_spacing_holds_across_threads(fakeweb: FakeWeb) -> None:
    hosts = ["export.arxiv.org", "rss.arxiv.org", "arxiv.org"]
    for host in hosts:
        fakeweb.on(host, "/", Answer("x"))
    client = fakeweb.client(spacing={})
    threads = [
        threading.Thread(target=client.get, args=(f"https://{host}/",), daemon=True) for host in hosts for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    times = sorted(request.time for request in fakeweb.requests)
    assert len(times) == 9
    assert all(later - earlier >= 2.99 for earlier, later in pairwise(times))


def test_throttling_of_one_thread_is_minded_by_the_others(fakeweb: FakeWeb) -> None:
    fakeweb.on("export.arxiv.org", "/", Answer(status=429, headers={"Retry-After": "100"}), Answer("x"))
    client = fakeweb.client()
    threads = [threading.Thread(target=client.get, args=("https://export.arxiv.org/",), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    first, *others = sorted(request.time for request in fakeweb.requests)
    assert len(others) == 4
    assert min(others) - first >= 99


def test_redirects_are_spaced_too(fakeweb: FakeWeb) -> None:
    fakeweb.on("arxiv.org", "/a", Answer(status=302, headers={"Location": "https://export.arxiv.org/b"}))
    fakeweb.on("export.arxiv.org", "/b", Answer("x"))
    client = fakeweb.client(spacing={})
    client.get("https://arxiv.org/a")
    assert fakeweb.requests[1].time - fakeweb.requests[0].time >= 2.99
    assert client.when_free("arxiv.org") == pytest.approx(3, abs=0.5)
