"""The daily paper over weeks of real days: time to print, nothing twice, and how many of the readers' later picks it
had.

Twenty listing days of arXiv are imported at once, the next twenty one by one, each followed by an edition for three
readers: one who saves what a curated list picked (on the day it was added there), one who saves the picks of three
lists, and one who says nothing. The lists are of the tuning half of ``bench.feed``. Then the first edition of a library
of the whole stream is timed, with a thousand papers to choose from.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.common import SHARED, percentiles, rows, save, timed, write_papers
from bench.feed.stream import halves
from broadsheet.library import Library, open_library
from broadsheet.model import Identifier, PaperId, Scheme
from broadsheet.model.reading import Action, Edition, Today
from broadsheet.settings import load_settings

STREAM = SHARED / "data" / "arxiv_daily" / "arxiv_daily_2025-03_2026-07.jsonl.gz"
PICKS = SHARED / "data" / "curated_lists" / "picks.jsonl.gz"
FEATURED = SHARED / "data" / "hf_daily" / "hf_daily_weekly_snapshots.jsonl.gz"
FIRST = "2025-05-26"  # the first day that is printed: the lists grew fastest around then
BEFORE, PRINTED = 20, 20  # listing days
LISTS = 3


def _morning(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) + timedelta(hours=8)


def _featured(papers: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Records of Hugging Face's list by the day on which a paper was seen there."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows(FEATURED):
        paper = papers.get(row["arxiv_id"])
        if paper is not None:
            record = {"broadsheet_record": 1, "source": "huggingface", "key": paper["id"], "raw": "{}"}
            record |= {"title": paper["title"], "identifiers": [f"arxiv:{paper['id']}"], "listed": row["seen_on"]}
            found.setdefault(row["seen_on"], []).append(record)
    return found


def _picks() -> dict[str, list[tuple[str, str]]]:
    """(day added, arXiv id) of the tuning lists, by list."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in rows(PICKS):
        found.setdefault(row["profile"], []).append((row["added"], row["arxiv_id"]))
    return {name: sorted(found[name]) for name in halves(list(found))["tuning"]}


@contextmanager
def _library() -> Iterator[Library]:
    home = Path(tempfile.mkdtemp(prefix="broadsheet-bench-"))
    try:
        with open_library(home, settings=replace(load_settings(home, environ={}), encoder="none")) as library:
            yield library
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _take(library: Library, entries: Sequence[dict[str, Any]], name: str) -> None:
    if entries:
        library.import_files([write_papers(entries, library.settings.home / f"{name}.jsonl")])


def _numbers(library: Library, names: Sequence[str]) -> dict[str, PaperId]:
    found = library.store.papers_with_identifiers([Identifier(Scheme.ARXIV, name) for name in names])
    return {identifier.value: paper for identifier, paper in found.items()}


def _today(library: Library, name: str, day: str) -> Today:
    return library.daily.today(name, now=_morning(day))


def _due(library: Library, name: str, day: str) -> bool:
    return library.daily.due(name, now=_morning(day))


class Reader:
    """A reader of the replay: picks by the day they were made, and what became of them."""

    def __init__(self, name: str, picks: Sequence[tuple[str, str]]) -> None:
        self.name, self.picks = name, list(picks)
        self.wanted: set[str] = set()
        self.front: set[str] = set()
        self.printed: set[str] = set()

    def save(self, library: Library, first: str, last: str) -> None:
        """Save what was picked from ``first`` (exclusive) to ``last``."""
        due = [name for added, name in self.picks if first < added <= last]
        for paper in _numbers(library, due).values():
            library.daily.act(Action.SAVE, paper, self.name)

    def look(self, edition: Edition, listed: set[str]) -> None:
        """Note which of the later picks that were listed stood in the edition."""
        later = {name for added, name in self.picks if added >= f"{edition.day}"} & listed
        front = edition.section("front")
        self.wanted |= later
        self.front |= later & _names(front.entries if front else ())
        self.printed |= later & _names(edition.entries)


def _names(entries: Sequence[Any]) -> set[str]:
    return {entry.paper.identifier(Scheme.ARXIV) for entry in entries}


def weeks() -> dict[str, Any]:
    """Twenty consecutive listing days, printed one by one."""
    papers = {paper["id"]: paper for paper in rows(STREAM)}
    every = sorted({paper["list_date"] for paper in papers.values()})
    place = every.index(FIRST)
    days = every[place - BEFORE : place + PRINTED]
    by_day: dict[str, list[dict[str, Any]]] = {day: [] for day in days}
    for paper in papers.values():
        if paper["list_date"] in by_day:
            by_day[paper["list_date"]].append(paper)
    featured, lists = _featured(papers), _picks()
    start = days[BEFORE]
    active = sorted(lists, key=lambda name: -sum(start <= added <= days[-1] for added, _ in lists[name]))[:LISTS]
    mixed = sorted({pick for name in active for pick in lists[name]})
    readers = [Reader("single", lists[active[0]]), Reader("mixed", mixed), Reader("new", [])]
    with _library() as library:
        early = {name for added, name in mixed if added < start} & papers.keys()
        first = [papers[name] for name in early if papers[name]["list_date"] < days[0]]
        begin = time.perf_counter()
        _take(library, [*first, *(paper for day in days[:BEFORE] for paper in by_day[day])], "before")
        _take(library, [one for day, some in featured.items() if day < start for one in some], "featured")
        seconds = time.perf_counter() - begin
        for reader in readers:
            library.daily.add_reader(reader.name)
            reader.save(library, "", days[BEFORE - 1])
        figures = _print(library, readers, days[BEFORE:], by_day, featured)
        papers_there = library.status().papers
    return {"papers": papers_there, "lists": active, "import_seconds": round(seconds, 1), **figures}


def _print(
    library: Library,
    readers: Sequence[Reader],
    days: Sequence[str],
    by_day: dict[str, list[dict[str, Any]]],
    featured: dict[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    times: dict[str, list[float]] = {"first_of_the_day": [], "other_readers": [], "archived": [], "due": []}
    processor: dict[str, list[float]] = {"first_of_the_day": [], "other_readers": []}
    sizes: list[int] = []
    seen: dict[str, Counter[PaperId]] = {reader.name: Counter() for reader in readers}
    before = (date.fromisoformat(days[0]) - timedelta(days=1)).isoformat()
    for day in days:
        between = [one for seen_on, some in featured.items() if before < seen_on <= day for one in some]
        _take(library, by_day[day], "day")
        _take(library, between, "featured")
        listed = {paper["id"] for paper in by_day[day]}
        for n, reader in enumerate(readers):
            busy = time.process_time()
            spent, today = timed(_today, library, reader.name, day)
            processor["other_readers" if n else "first_of_the_day"].append((time.process_time() - busy) * 1000)
            assert today.edition is not None
            assert today.edition.day == date.fromisoformat(day)
            times["other_readers" if n else "first_of_the_day"].append(spent)
            times["archived"].append(timed(library.daily.edition, date.fromisoformat(day), reader.name)[0])
            times["due"].append(timed(_due, library, reader.name, day)[0])
            sizes.append(today.edition.considered)
            seen[reader.name].update(entry.paper.id for entry in today.edition.entries)
            reader.look(today.edition, listed)
            reader.save(library, before, day)
        before = day
    twice = sum(count - 1 for counts in seen.values() for count in counts.values())
    return {
        "editions": len(days) * len(readers),
        "considered": {"mean": round(sum(sizes) / len(sizes)), "most": max(sizes)},
        "printed": {name: sum(counts.values()) for name, counts in seen.items()},
        "shown_twice": twice,
        "milliseconds": {name: percentiles(values) for name, values in times.items()},
        "processor_milliseconds": {name: percentiles(values) for name, values in processor.items()},
        "later_picks": {
            reader.name: {"listed": len(reader.wanted), "on_the_front": len(reader.front), "in_it": len(reader.printed)}
            for reader in readers
            if reader.picks
        },
    }


def large() -> dict[str, Any]:
    """The first edition of the whole stream, and of a second reader, with a thousand papers to choose from."""
    with _library() as library:
        begin = time.perf_counter()
        papers = sorted(rows(STREAM), key=lambda paper: str(paper["list_date"]))
        days = sorted({str(paper["list_date"]) for paper in papers})
        library.import_files([write_papers(papers, library.settings.home / "stream.jsonl")])
        seconds = time.perf_counter() - begin
        picks = [name for some in _picks().values() for added, name in some if added < days[-6]][:100]
        known = list(_numbers(library, picks).values())
        spent: dict[str, float] = {}
        processor: dict[str, float] = {}
        for name in ("one", "two"):
            library.daily.add_reader(name)
            library.daily.examples(known, name)
            library.daily.today(name, now=_morning(days[-6]))  # the newest day there is; what follows catches up
        library.daily._press._features = None
        shutil.rmtree(library.settings.index_dir / "daily")
        late = [paper | {"id": f"2699.{n:05}", "title": f"{paper['title']} again {n}", "list_date": "2026-07-02"}
                for n, paper in enumerate(papers[-1000:])]  # fmt: skip
        _take(library, late, "late")
        considered = 0
        for name in ("one", "two"):
            busy = time.process_time()
            spent[name], today = timed(_today, library, name, "2026-07-02")
            processor[name] = (time.process_time() - busy) * 1000
            assert today.is_new
            considered = today.edition.considered
        archived, _ = timed(library.daily.edition, date(2026, 7, 2), "one")
        figures = {"papers": library.status().papers, "import_seconds": round(seconds, 1), "considered": considered}
    return figures | {
        "first_milliseconds": round(spent["one"]),
        "first_processor_milliseconds": round(processor["one"]),
        "second_reader_processor_milliseconds": round(processor["two"]),
        "second_reader_milliseconds": round(spent["two"]),
        "archived_milliseconds": round(archived, 1),
    }


def main() -> None:
    """Both measurements."""
    save("daily", {"weeks": weeks(), "large": large()})
