"""How fast 91,814 real papers become searchable by words, in how much memory; and again, when nothing is new."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.common import CONFERENCES, in_child, peak_mb, save
from broadsheet.library import open_library
from broadsheet.settings import load_settings


def import_into(home: Path) -> dict[str, Any]:
    """One import in this process, through the public API."""
    settings = replace(load_settings(home, environ={}), encoder="none")
    start = time.perf_counter()
    with open_library(settings=settings) as library:
        summary = library.import_files([CONFERENCES])
        seconds = time.perf_counter() - start
        status = library.status()
        found = library.search("simultaneous localization and mapping").total
    assert status.indexed == status.papers
    assert found
    return {
        "read": summary.read,
        "new": summary.new,
        "unchanged": summary.unchanged,
        "merged": summary.merged,
        "refused": summary.refused,
        "papers": status.papers,
        "seconds until searchable": round(seconds, 1),
        "cpu seconds": round(time.process_time(), 1),
        "papers/s": round(summary.read / seconds),
        "peak MB": peak_mb(),
    }


def main() -> None:
    """A first import and a second one of the same file, each in a process of its own."""
    home = Path(tempfile.mkdtemp(prefix="broadsheet-bench-"))
    try:
        first = in_child("bench.importing", str(home))
        size = {part: _megabytes(home / part) for part in ("broadsheet.db", "index")}
        save("importing", {"first": first, "again": in_child("bench.importing", str(home)), "MB on disk": size})
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return round(sum(p.stat().st_size for p in files) / 1e6, 1)


if __name__ == "__main__":
    print(json.dumps(import_into(Path(sys.argv[1]))))
