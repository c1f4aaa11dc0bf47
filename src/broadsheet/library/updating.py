"""Bringing the library up to date from its sources, by hand and on a schedule."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from broadsheet.errors import SettingsError
from broadsheet.ingest import Follower, import_items, next_run, time_of
from broadsheet.ingest.enriching import enrich
from broadsheet.ingest.update import update
from broadsheet.model import ImportSummary, SourceReport, SourceStatus
from broadsheet.net import Client
from broadsheet.settings import Settings, proxies
from broadsheet.sources import Item
from broadsheet.sources.base import Entry, Source
from broadsheet.sources.catalogue import Options, open_enrichers, open_source

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

OnSource = Callable[[SourceReport], None]


class Updater:
    """The sources of one library and the client that asks them, opened when they are first needed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._settings = library.settings
        self._options = options_of(library.settings)
        self._running = threading.Lock()  # a run by hand and one on the schedule would ask everything twice

    def sources(self, names: Sequence[str] = ()) -> list[Source]:
        """The configured sources in order; with ``names`` only these. Raises SettingsError."""
        wanted = list(dict.fromkeys(names or self._settings.sources))
        return [open_source(name, self._options) for name in wanted]

    def statuses(self, now: datetime) -> list[SourceStatus]:
        """How each configured source stands and when it is due."""
        states = self._library.store.source_states()
        at = time_of(self._settings.update_at)
        found = [states[name][1] if name in states else SourceStatus(name) for name in self._settings.sources]
        return [replace(status, due=next_run(status, at, now)) for status in found]

    def due(self, now: datetime) -> list[str]:
        """The names of the sources that the schedule says to ask now."""
        return [status.name for status in self.statuses(now) if status.due and status.due <= now]

    def run(
        self,
        names: Sequence[str] = (),
        *,
        on_source: OnSource = lambda report: None,
        should_stop: Callable[[], bool] = lambda: False,
        pause: Callable[[float], None] = time.sleep,
    ) -> list[SourceReport]:
        """Ask sources for what is new, then the services for what papers lack. Raises SettingsError, StoreError.

        ``pause`` waits between requests, and may raise StoppedError to end the run.
        """
        sources = self.sources(names)
        at = time_of(self._settings.update_at)
        if not sources:
            raise SettingsError("no source is configured; add one, such as: broadsheet sources add arxiv:cs.LG")
        with self._running, client_of(self._settings, pause) as client:
            reports = update(
                self._library.store,
                sources,
                client,
                now=_now,
                take=self._take,
                finish=lambda status: replace(status, due=next_run(status, at, _now())),
                on_source=on_source,
                should_stop=should_stop,
            )
            for enricher in open_enrichers(self._settings.enrich, self._options):
                report = enrich(
                    self._library.store, enricher, client, now=_now, take=self._take, limit=self._settings.enrich_limit
                )
                reports.append(report)
                on_source(report)
        return reports

    def _take(self, entries: Iterator[Entry]) -> ImportSummary:
        """Store entries and index them at once."""
        library = self._library
        items = (Item(number, 0, None, entry) for number, entry in zip(count(), entries, strict=False))
        with library.store.writing(), library.index_writer() as index, Follower(library.store, index) as follower:
            return import_items(library.store, items, now=_now, on_batch=lambda *_: follower.notify())


def options_of(settings: Settings) -> Options:
    """What sources need to know of the settings."""
    return Options(
        contact=settings.contact,
        openalex_key=settings.openalex_key,
        semanticscholar_key=settings.semanticscholar_key,
        zotero_key=settings.zotero_key,
        arxiv_holidays=settings.arxiv_holidays,
    )


def client_of(settings: Settings, pause: Callable[[float], None]) -> Client:
    """The one client for everything that is fetched. Raises SettingsError for a mirror that is not ``HOST=URL``."""
    mirrors = {}
    for text in settings.mirrors:
        host, separator, url = text.partition("=")
        if not separator or not url.startswith(("http://", "https://")):
            raise SettingsError(f"mirrors: {text!r} is not HOST=URL, such as export.arxiv.org=https://mirror.example.org")
        mirrors[host] = url
    return Client(
        contact=settings.contact,
        mirrors=mirrors,
        allow_private=settings.allow_private_addresses,
        max_bytes=settings.max_download_bytes,
        proxies=proxies(),
        sleep=pause,
    )


def _now() -> datetime:
    return datetime.now(UTC)
