"""Libraries in folders for tests, and files of invented papers to import into them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from broadsheet.library import Library, open_library
from broadsheet.settings import Settings
from tests.shared import ROOT


def library_in(home: Path, encoder: str = "none", *, read_only: bool = False, **settings: Any) -> Library:
    """The library in ``home``. It waits long for other writers: the machine may be busy."""
    library = open_library(settings=Settings(home=home, encoder=encoder, **settings), read_only=read_only)
    library.store._lock.timeout = 60
    return library


def word(number: int) -> str:
    """A word that no other number has and no stemmer changes."""
    digits = "bcdfghklmp"
    return "qu" + "".join(f"{digits[int(d)]}o" for d in str(number)) + "x"


def entry(number: int, **fields: Any) -> dict[str, Any]:
    """A paper that is merged with no other one; ``word(number)`` finds it."""
    made = {
        "id": f"k{number}",
        "title": f"The slow river {word(number)} and its boats",
        "authors": [f"Ana {word(number).title()}", f"Bo Chen{number}"],
        "abstract": f"Boats on the river {word(number)} are slow. " * 3,
        "year": 2000 + number % 25,
        "published": f"{2000 + number % 25}-03-{1 + number % 28:02}",
    }
    return made | fields


def write_entries(path: Path, entries: list[Any]) -> Path:
    """A file of JSON Lines; what is bytes already goes in as it is."""
    path.write_bytes(b"".join((e if isinstance(e, bytes) else orjson.dumps(e)) + b"\n" for e in entries))
    return path


def papers_file(path: Path, count: int, start: int = 0) -> Path:
    """A file of ``count`` papers."""
    return write_entries(path, [entry(i) for i in range(start, start + count)])


@contextmanager
def searching(library: Library, threads: int = 2, question: str = "slow river boats") -> Iterator[list[int]]:
    """Search without a pause in threads; gives the totals found so far. Fails if a search does, or none was made."""
    totals: list[int] = []
    errors: list[BaseException] = []
    ending = threading.Event()

    def run() -> None:
        while not ending.is_set():
            try:
                # A question of its own each time: none is answered from what is remembered.
                totals.append(library.search(f"{question} {len(totals)}").total)
            except BaseException as error:
                errors.append(error)
                return
            ending.wait(0.005)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield totals
    finally:
        ending.set()
        for worker in workers:
            worker.join()
    if errors:
        raise errors[0]
    assert totals, "no search was made"


def until(fact: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)


def python(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """A Python process that runs ``code`` with ``arguments``."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, text=True, env=environment, stdout=subprocess.PIPE, **options)
