"""Reviews when processes die at any moment, and when several screen at once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from broadsheet.model.screening import Plan, Review, ReviewEventKind
from broadsheet.store import Store, open_store, plan_from_json
from tests.review_makers import NOW
from tests.test_store_reading_crash import ENVIRONMENT, address

KILLS = 12


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}", timeout=30) as opened:
        yield opened


# Goes on with review 1: adds up to 3,000 records, decides some, changes the plan, each with its number in it, and says
# so; beside it makes reviews and removes every other one.
SCREENING = """
import itertools, sys
from broadsheet.model.screening import Plan, ReviewEventKind
from broadsheet.store import open_store
from tests.review_makers import NOW, decision, pool, review_event
with open_store(sys.argv[1], timeout=60) as store:
    s = store.screening
    print("ready", flush=True)
    for turn in itertools.count(int(sys.argv[2])):
        for _ in range(10):
            kept = s.add_event(decision(1, note="by itself"))
            print("event", kept.id, flush=True)
        number = kept.id + 1
        kept = s.add_event(review_event(ReviewEventKind.PLAN), Plan(seed=number))
        print("event", kept.id, flush=True)
        added = 1 + number * 37 % 3000
        made = pool(added, first=s.count(1) + 1, abstract="Slow boats. " * 20)
        kept = s.add_records(1, made, review_event(ReviewEventKind.ADD, detail=str(added)))
        print("event", kept.id, flush=True)
        several = s.add_events(1, [decision(n, note=f"of 20: {n}") for n in range(20)])
        for kept in several:
            print("event", kept.id, flush=True)
        other = s.import_review(f"Copy {number}", Plan(), NOW, pool(added), [])
        print("review", other.id, flush=True)
        if turn % 2:
            print("removing", other.id, flush=True)
            s.remove_review(other.id)
            print("removed", other.id, flush=True)
"""


def check_whole(store: Store) -> None:
    """The events are without gaps, pool and plan are what they say, and copies are there whole or not at all."""
    events = store.screening.events(1)
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    added = [int(event.detail) for event in events if event.kind is ReviewEventKind.ADD]
    assert store.screening.count(1) == sum(added)
    assert [record.number for record in store.screening.records(1)] == list(range(1, sum(added) + 1))
    review = store.screening.review(1)
    assert review is not None
    plans = [event for event in events if event.kind in (ReviewEventKind.CREATE, ReviewEventKind.PLAN)]
    assert review.plan == plan_from_json(plans[-1].detail)
    assert review.plan.seed in (0, plans[-1].id)
    together = [event.note for event in events if event.note.startswith("of 20")]
    assert together == [f"of 20: {n}" for n in range(20)] * (len(together) // 20)
    for other in copies(store):
        number = int(other.name.removeprefix("Copy "))
        assert store.screening.count(other.id) == 1 + number * 37 % 3000 == len(list(store.screening.records(other.id)))


def copies(store: Store) -> list[Review]:
    return [review for review in store.screening.reviews() if review.id != 1]


@pytest.mark.slow
def test_killed_at_any_moment_no_decision_is_lost_and_nothing_is_half_there(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    chance = random.Random(5)
    said: list[tuple[str, int]] = []
    for life in range(KILLS):
        command = [sys.executable, "-c", SCREENING, address(store), str(life)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            before = "".join(process.stdout.readline() for _ in range(chance.randrange(80)))
            time.sleep(chance.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
            lines = (before + process.stdout.read()).split("\n")
            words = [line.split() for line in lines[:-1] if line]  # the last may be cut
            said += [(what, int(number)) for what, number in words]
            assert process.wait() == -signal.SIGKILL
        check_whole(store)
    by_kind = {
        kind: {number for what, number in said if what == kind} for kind in ("event", "review", "removing", "removed")
    }
    stored = {event.id for event in store.screening.events(1)}
    assert by_kind["event"] <= stored
    # At most twenty, which go together, were stored in a life without being said.
    assert len(stored) - 1 - len(by_kind["event"]) <= 20 * KILLS
    there = {review.id for review in copies(store)}
    assert by_kind["review"] - by_kind["removing"] <= there
    assert not by_kind["removed"] & there
    # It got somewhere, in each of its steps.
    assert len(by_kind["event"]) > KILLS
    assert by_kind["removed"]
    assert there
    assert store.problems() == []


# Decides the records of its share one by one, when told to begin; says the id that each decision got.
DECIDING = """
import sys
from broadsheet.store import open_store
from tests.review_makers import decision
with open_store(sys.argv[1], timeout=60) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(1, 41):
        print(store.screening.add_event(decision(number, screener=sys.argv[2])).id, flush=True)
"""


def test_several_processes_screen_and_each_decision_has_a_number_of_its_own(store: Store) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    names = ["ana", "bo", "cy"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": ENVIRONMENT}
    commands = [[sys.executable, "-c", DECIDING, address(store), name] for name in names]
    processes = [subprocess.Popen(command, **pipes) for command in commands]  # type: ignore[call-overload]
    seen: list[int] = []
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 3
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        # Who follows the events by the last one seen misses none, though three are writing.
        until = time.monotonic() + 120
        while len(seen) < 120 and time.monotonic() < until:
            seen += [event.id for event in store.screening.events(1, after=seen[-1] if seen else 1)]
        said = {
            name: [int(n) for n in process.communicate(timeout=60)[0].split()]
            for name, process in zip(names, processes, strict=True)
        }
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert seen == list(range(2, 122))
    events = store.screening.events(1, after=1)
    assert [event.id for event in events] == seen
    for name in names:
        mine = [event for event in events if event.screener == name]
        assert [event.record for event in mine] == list(range(1, 41))
        assert [event.id for event in mine] == said[name]
