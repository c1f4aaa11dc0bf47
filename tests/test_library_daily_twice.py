"""Nothing is shown twice, and nothing that was announced is lost: weeks of a library in which everything happens."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from broadsheet.library import Library
from broadsheet.model.reading import Action, Interest, InterestKind
from broadsheet.text import title_fingerprint
from tests.daily_library import AREAS, TOPICS, day, morning, paper, printed, take
from tests.libraries import library_in

DAYS = 15


class World:
    """What sources bring on each day: new papers, replacements, votes, late arrivals, and two records of one paper."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.number = 0
        self.entries: list[dict[str, Any]] = []

    def new(self, n: int) -> dict[str, Any]:
        self.number += 1
        entry = paper(self.number, self.rng.choice(list(TOPICS)), n)
        self.entries.append(entry)
        return entry

    def arrivals(self, n: int) -> list[dict[str, Any]]:
        rng = self.rng
        brought = [self.new(n) for _ in range(rng.randint(4, 9))]
        brought += [self.new(n - rng.randint(1, 12)) for _ in range(rng.randint(0, 3))]  # late
        for _ in range(rng.randint(0, 4)):
            old = rng.choice(self.entries)
            brought.append(old | {"abstract": f"{old['abstract']} Replaced on day {n}.", "comment": "v2"})
        for _ in range(rng.randint(0, 3)):
            brought.append(rng.choice(self.entries) | {"upvotes": rng.randint(1, 99), "listed": f"{day(n)}"})
        for _ in range(rng.randint(0, 2)):  # the proceedings of what was a preprint, under another identifier
            old = rng.choice(self.entries)
            other = {key: value for key, value in old.items() if key != "arxiv_id"}
            brought.append(other | {"doi": f"10.5555/{old['arxiv_id']}", "venue": "ICML", "listed": f"{day(n)}"})
        rng.shuffle(brought)
        return brought

    def disturb(self, library: Library) -> None:
        """A person merges two papers, or splits off a record, now and then."""
        numbers = [one.id for one in library.newest(400)]
        if self.rng.random() < 0.6:
            first, second = self.rng.sample(numbers, 2)
            library.merge(first, second)
        if self.rng.random() < 0.3:
            records = library.records(self.rng.choice([one.id for one in library.newest(400)]))
            if len(records) > 1:
                library.split(records[-1].id)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_shown_twice(seed: int, tmp_path: Path) -> None:
    world, rng = World(seed), random.Random(seed)
    with library_in(tmp_path / "home", front_size=5, section_size=3, discovery_size=2) as library:
        daily = library.daily
        daily.save_search("bees swarm")
        daily.mute(Interest(InterestKind.AREA, AREAS["clocks"]))
        for n in range(DAYS):
            if n % 7 < 5:
                take(library, world.arrivals(n), f"day{n}")
            if n and rng.random() < 0.3:
                continue  # a day off
            edition = daily.today(now=morning(n)).edition
            world.disturb(library)
            if edition is not None and edition.entries:
                entry = rng.choice(edition.entries)
                daily.act(rng.choice([Action.SAVE, Action.LIKE, Action.DISMISS, Action.OPEN]), entry.paper.id)
        editions = [daily.edition(one) for one in daily.edition_days()]
        assert len(editions) > 5
        ids = [number for edition in editions for number in printed(edition)]
        assert max(Counter(ids).values()) == 1
        # A split gives a record a number of its own, and a merge of a person's gives two papers one: by title, then.
        split = {title_fingerprint(entry.paper.title) for edition in editions for entry in edition.entries}
        assert len(split) >= len(ids) - 2
        areas = {str(area) for edition in editions for entry in edition.entries for area in entry.paper.areas}
        assert AREAS["clocks"] not in areas
        assert len(areas) == 3


@pytest.mark.parametrize("seed", range(3))
def test_everything_announced_is_considered_once(seed: int, tmp_path: Path) -> None:
    """Whatever comes late and whatever days are left out; from the first edition's day on."""
    world, rng = World(seed), random.Random(seed)
    with library_in(tmp_path / "home") as library:
        for n in range(10):
            take(library, world.arrivals(n), f"day{n}")
            if n % 3 == 0 or rng.random() < 0.4:
                library.daily.today(now=morning(n))
        library.daily.today(now=morning(10))
        *others, first = [library.daily.edition(one) for one in library.daily.edition_days()]
        came = {one.id for one in library.store.iterate_papers() if one.id > first.newest_paper}
        assert sum(edition.considered for edition in others) == len(came) > 30
        assert {number for edition in others for number in printed(edition)} <= came
