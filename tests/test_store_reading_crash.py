"""Readers' events and editions when processes die at any moment, and when several print the same day."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from broadsheet.model.reading import Interest, InterestKind
from broadsheet.store import Store, open_store
from tests.reading_makers import reader
from tests.shared import ROOT

KILLS = 25
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}", timeout=30) as opened:
        yield opened


def address(store: Store) -> str:
    """The URL that another process opens the same database by."""
    if store.engine.dialect.name == "sqlite":
        return f"sqlite:///{store.where}"
    return store.engine.url.render_as_string(hide_password=False)


# Writes event n, with a profile whose last mute is n, then the edition of day n with n % 40 papers, and says so.
READING = """
import sys
from datetime import date
from broadsheet.model.reading import Action, Interest, InterestKind, Profile
from broadsheet.store import open_store
from tests.reading_makers import edition, event
with open_store(sys.argv[1], timeout=60) as store:
    done = store.reading.events("me")
    number = done[-1].id if done else 0
    print("ready", flush=True)
    while True:
        number += 1
        mute = Interest(InterestKind.KEYWORD, str(number))
        kept = store.reading.add_event(event(Action.DISMISS, number, because=mute), Profile(mutes=(mute,)))
        print("event", kept.id, flush=True)
        day = date.fromordinal(700_000 + number)
        store.reading.add_edition(edition(*range(number, number + 1 + number % 40), day=day))
        print("edition", number, flush=True)
"""


def check_whole(store: Store) -> None:
    """The profile is that of the last event, and each edition has what it shows, and nothing else is shown."""
    events, me = store.reading.events("me"), store.reading.reader("me")
    assert me
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    last = [Interest(InterestKind.KEYWORD, str(event.id)) for event in events[-1:]]
    assert list(me.profile.mutes) == last
    printed = store.reading.editions_between("me", date.min, date.max)
    assert [(one.day, one.paper) for one in store.reading.shown_log("me")] == [
        (edition.day, entry.paper.id) for edition in printed for entry in edition.entries
    ]


def test_killed_at_any_moment_nothing_acknowledged_is_lost_and_nothing_is_half_there(store: Store) -> None:
    store.reading.add_reader(reader())
    chance = random.Random(11)
    said: list[str] = []
    for _ in range(KILLS):
        command = [sys.executable, "-c", READING, address(store)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            before = "".join(process.stdout.readline() for _ in range(chance.randrange(8)))
            time.sleep(chance.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            lines = (before + process.stdout.read()).split("\n")
            said += [line for line in lines[:-1] if line]  # the last may be cut
            assert process.wait() == -signal.SIGKILL
        check_whole(store)
    events = {f"event {event.id}" for event in store.reading.events("me")}
    printed = {f"edition {day.toordinal() - 700_000}" for day in store.reading.edition_days("me")}
    assert len(said) > KILLS  # it got somewhere
    assert set(said) <= events | printed
    # At most one of each kind was stored in a life without being said.
    assert len(events) + len(printed) - len(said) <= KILLS
    assert store.problems() == []


PRINTING = """
import json, sys
from datetime import date
from broadsheet.store import open_store
from tests.reading_makers import edition
with open_store(sys.argv[1], timeout=60) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    mine = int(sys.argv[2])
    for number in range(30):
        kept = store.reading.add_edition(
            edition(mine + number, day=date.fromordinal(700_000 + number), notes=(sys.argv[2],))
        )
        print(json.dumps([kept.notes[0], kept.entries[0].paper.id, len(kept.entries)]), flush=True)
"""


def test_two_processes_that_print_the_same_days_get_the_same_editions(store: Store) -> None:
    store.reading.add_reader(reader())
    commands = [[sys.executable, "-c", PRINTING, address(store), mine] for mine in ("1000", "2000")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": ENVIRONMENT}
    processes = [subprocess.Popen(command, **pipes) for command in commands]  # type: ignore[call-overload]
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 2
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = [process.communicate(timeout=120)[0].splitlines() for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [process.returncode for process in processes] == [0, 0]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 30
    stored = store.reading.editions_between("me", date.min, date.max)
    assert [[one.notes[0], one.entries[0].paper.id, 1] for one in stored] == [json.loads(line) for line in answers[0]]
    assert [one.paper for one in store.reading.shown_log("me")] == [one.entries[0].paper.id for one in stored]
