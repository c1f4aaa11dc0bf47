"""A review that is screened by processes which are killed at any moment: no decision that was confirmed is lost."""

from __future__ import annotations

import io
import json
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from broadsheet.library import Library
from broadsheet.model.screening import Label, Plan, ReviewEvent, ReviewEventKind, Stage
from tests.libraries import library_in, python
from tests.screening_pools import pool_file

KILLS = 10
POOL = 40  # records in each file

# Screens the review and says what was kept once the library has said so. Takes back some decisions, changes the plan,
# stops and goes on, and adds a file now and then.
SCREENING = """
import json, sys
from pathlib import Path
from broadsheet.model.screening import Label, ReviewEventKind
from tests.libraries import library_in
from tests.screening_pools import is_relevant, pool_file

def say(event):
    print(json.dumps([event.id, event.kind, event.record, event.label, event.undoes]), flush=True)

with library_in(Path(sys.argv[1])) as library:
    s = library.screening
    print("ready", flush=True)
    for turn in range(10**6):
        last = s.history("boats")[-1].id
        offer = s.next("boats", "ana")
        if offer is None or last % 23 == 0:
            start = 1 + len(s.records("boats", limit=10**6))
            s.add_files("boats", [pool_file(Path(sys.argv[2]) / f"{start}.csv", 40, start=start)], screener="ana")
            print(json.dumps(["added", start + 39]), flush=True)
            continue
        number = offer.record.number
        label = Label.INCLUDE if is_relevant(number) else Label.EXCLUDE
        say(s.decide("boats", number, label, "ana", note=f"after {last}", offer=offer))
        if last % 5 == 0:
            say(s.undo("boats", "ana"))
        if last % 7 == 0:
            s.change("boats", screener="ana", question=f"after {last}")
            say([e for e in s.history("boats") if e.kind == ReviewEventKind.PLAN][-1])
        if last % 11 == 0:
            say(s.stop("boats", "ana"))
            say(s.reopen("boats", "ana"))
"""


def decided(events: Sequence[ReviewEvent]) -> dict[int, Label]:
    """The last decision of each record that was not taken back."""
    undone = {event.undoes for event in events if event.kind is ReviewEventKind.UNDO}
    found: dict[int, Label] = {}
    for event in events:
        if event.kind is ReviewEventKind.DECIDE and event.id not in undone and event.label:
            found[event.record] = event.label
    return found


def check_whole(library: Library, said: list[list[Any]]) -> None:
    """All that was said is there, and the review stands as its events say."""
    screening = library.screening
    events = screening.history("boats")
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    kept = {event.id: [event.id, event.kind, event.record, event.label, event.undoes] for event in events}
    for number, *rest in said:
        if number != "added":
            assert kept[number] == [number, *rest]
    added = sum(json.loads(event.detail)["added"] for event in events if event.kind is ReviewEventKind.ADD)
    records = screening.records("boats", limit=10**6)
    assert [one.record.number for one in records] == list(range(1, added + 1))
    assert added % POOL == 0
    assert added >= max((number for what, number, *_ in said if what == "added"), default=0)
    assert {one.record.number: one.label for one in records if one.label} == decided(events)
    progress = screening.progress("boats")
    assert (progress.records, progress.read) == (added, len(decided(events)))
    changes = [event.detail for event in events if event.kind is ReviewEventKind.PLAN]
    if changes:
        assert screening.review("boats").plan.question == json.loads(changes[-1])["question"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_screener_who_is_killed_loses_nothing(tmp_path: Path) -> None:
    home, chance, said = tmp_path / "home", random.Random(3), []
    with library_in(home) as library:
        library.screening.create("boats", Plan(seed=7))
        library.screening.add_files("boats", [pool_file(tmp_path / "first.csv", POOL)])
    for _ in range(KILLS):
        with python(SCREENING, home, tmp_path) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            before = "".join(process.stdout.readline() for _ in range(chance.randrange(30)))
            time.sleep(chance.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
            lines = (before + process.stdout.read()).split("\n")
            assert process.wait() == -signal.SIGKILL
        said += [json.loads(line) for line in lines[:-1]]  # the last may be cut
        with library_in(home) as library:
            check_whole(library, said)
    kinds = {event[1] for event in said if event[0] != "added"}
    assert len(said) > 10 * KILLS  # it got somewhere, in each of its steps
    assert kinds == {"decide", "undo", "plan", "stop", "reopen"}
    with library_in(home) as library:
        assert library.screening.next("boats", "bo", stage=Stage.ABSTRACT)  # and screening goes on
        whole = b"".join(library.screening.export("boats", "record"))
        replayed = library.screening.replay(io.BytesIO(whole))
        history = library.screening.history("boats")
        assert replayed.events == len(history)
        assert replayed.statements == sum(event.kind is ReviewEventKind.STOP for event in history)
        assert replayed.differences == ()
        assert library.store.problems() == []
