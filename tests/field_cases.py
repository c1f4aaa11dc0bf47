"""A library whose sources are answered by a fake web, for the field cases."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from broadsheet.library import Library
from broadsheet.model import ImportSummary
from tests.arxiv_bodies import rss, rss_item
from tests.fakeweb import FakeWeb
from tests.libraries import library_in

CLOCK = "broadsheet.library.updating._now"
NOON = datetime(2026, 8, 12, 16, tzinfo=UTC)  # of Wednesday in New York


def serving(fakeweb: FakeWeb, home: Path, *sources: str, **settings: Any) -> Library:
    """A library whose sources are answered by the fake web, and whose client waits for nobody."""
    mirrors = tuple(f"{host}={url}" for host, url in fakeweb.mirrors.items())
    return library_in(home, sources=sources, mirrors=mirrors, **settings)


def update(library: Library, *names: str) -> Any:
    """The reports of an update that does not really wait between its requests."""
    reports = library.updater.run(names, pause=lambda seconds: None)
    return reports[0] if len(reports) == 1 else reports


def bring(library: Library, name: str, text: str | bytes) -> ImportSummary:
    file = library.settings.home / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return library.import_files([file])


FEED = ("rss.arxiv.org", "/rss/cs.LG")
TYPES = ("new", "cross", "replace", "replace-cross")


def of_each_kind() -> str:
    items = (
        rss_item(f"2608.1000{i}", kind, title=f"How swarm {i} decides where to go", authors=f"Ann Lee{i}")
        for i, kind in enumerate(TYPES)
    )
    return rss(*items)
