"""How fast a file becomes searchable: import into SQLite with the text index following. Prints one line of JSON.

    python bench/ingest.py FILE [LIMIT]

Counts are checked: every entry is new, merged or refused, and importing again changes nothing.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from broadsheet.index import open_text_index
from broadsheet.ingest import Follower, import_items
from broadsheet.sources import Item, read_file
from broadsheet.store import open_store


def entries(path: Path, limit: int | None) -> Iterator[Item]:
    return islice(read_file(path, max_entry_bytes=4_000_000, max_authors=10_000), limit)


def now() -> datetime:
    return datetime.now(UTC)


def measure(path: Path, limit: int | None) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/papers.db")
        index = open_text_index(Path(folder) / "index")
        begun, spent = time.monotonic(), time.process_time()
        with Follower(store, index) as follower:
            first = import_items(store, entries(path, limit), now=now, on_batch=lambda *_: follower.notify())
            imported = time.monotonic() - begun
        searchable, spent = time.monotonic() - begun, time.process_time() - spent
        counts, indexed = store.counts(), index.count()
        assert first.read == first.new + first.updated + first.unchanged + first.refused
        assert indexed == counts.papers
        begun = time.monotonic()
        second = import_items(store, entries(path, limit), now=now)
        again = time.monotonic() - begun
        assert second.new == 0
        assert store.counts().papers == counts.papers
        store.close()
        size = sum(file.stat().st_size for file in Path(folder).glob("papers.db*"))
        index_size = sum(file.stat().st_size for file in (Path(folder) / "index").rglob("*") if file.is_file())
    return {
        "read": first.read,
        "papers": counts.papers,
        "merged": first.merged,
        "refused": first.refused,
        "seconds_import": round(imported, 1),
        "seconds_searchable": round(searchable, 1),
        "cpu_seconds": round(spent, 1),
        "papers_per_second": round(first.read / searchable),
        "again_per_second": round(first.read / again),
        "database_mb": round(size / 1e6),
        "index_mb": round(index_size / 1e6),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)))
