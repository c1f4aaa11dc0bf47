"""A morning's update end to end: 500 new papers of two arXiv categories, from the feeds to the vectors.

The feeds are made of real papers (the last 500 of the shared arXiv days) and served on the loopback; the library holds
20,000 conference papers with their vectors. Goal: under 90 seconds on two cores.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from itertools import islice
from typing import Any

from bench.common import CACHE, CONFERENCES, SHARED, VectorCache, fill, made_library, rows, save, write_papers
from broadsheet.library import Library
from broadsheet.model import SourceState
from broadsheet.sources.arxiv_calendar import feed_day
from tests.arxiv_bodies import rss, rss_item
from tests.fakeweb import Answer, FakeWeb

PAPERS = 500
BEFORE = 20_000
ARXIV = SHARED / "data" / "arxiv_daily" / "arxiv_daily_2025-03_2026-07.jsonl.gz"
CATEGORIES = ("cs.CV", "cs.CL")


def feeds() -> dict[str, str]:
    """Two feeds of 250 real papers each, announced today."""
    day = feed_day(datetime.now(UTC)).strftime("%a, %d %b %Y 00:00:00 -0500")
    chosen: dict[str, list[str]] = {category: [] for category in CATEGORIES}
    for paper in reversed(list(rows(ARXIV))):
        items = chosen.get(paper["primary_category"])
        if items is not None and len(items) < PAPERS // len(CATEGORIES):
            items.append(
                rss_item(
                    paper["id"],
                    title=escape(paper["title"]),
                    authors=escape(", ".join(paper["authors"])),
                    abstract=escape(paper["abstract"]),
                    categories=paper["categories"],
                    day=day,
                )
            )
    return {category: rss(*items, day=day, title=f"{category} updates") for category, items in chosen.items()}


@contextmanager
def library_before(web: FakeWeb) -> Iterator[Library]:
    """A library with its vectors, whose sources are the two categories."""
    cache = VectorCache()
    known = write_papers(list(islice(rows(CONFERENCES), BEFORE)), CACHE / "before.jsonl")
    mirrors = tuple(f"{host}={url}" for host, url in web.mirrors.items())
    sources = tuple(f"arxiv:{category}" for category in CATEGORIES)
    with made_library([known], cache, sources=sources, mirrors=mirrors) as library:
        fill(library, cache)
        yield library


def main() -> None:
    """Update, then encode, and time both."""
    with FakeWeb() as web:
        for category, body in feeds().items():
            web.on("rss.arxiv.org", f"/rss/{category}", Answer(body))
        with library_before(web) as library:
            before = library.status()
            figures: dict[str, Any] = {"papers before": before.papers, "vectors before": before.encoded}
            start = time.perf_counter()
            reports = library.update()
            updated = time.perf_counter() - start
            library.encode(lambda done, total: None)
            seconds = time.perf_counter() - start
            after = library.status()
            assert all(report.state is SourceState.OK for report in reports), reports
            assert library.search("large language models", page_size=1).hits
    figures |= {
        "new records": sum(report.new for report in reports),
        "of them merged": sum(report.merged for report in reports),
        "papers after": after.papers,
        "vectors after": after.encoded,
        "seconds for fetching, parsing, merging, storing, indexing": round(updated, 1),
        "of them the pause between two requests to arXiv": 3,
        "seconds in all, with vectors": round(seconds, 1),
        "goal": 90,
    }
    save("updating", figures)
