"""Bringing the library up to date from its sources, by hand and on a schedule."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from broadsheet.errors import BusyError, SettingsError
from broadsheet.ingest import Follower, import_items, next_run, time_of
from broadsheet.ingest.enriching import enrich
from broadsheet.ingest.update import update
from broadsheet.model import ImportSummary, SourceReport, SourceState, SourceStatus
from broadsheet.net import Client
from broadsheet.settings import CONFIG_NAME, Settings, load_settings, proxies
from broadsheet.sources import Item
from broadsheet.sources.base import Entry, Source
from broadsheet.sources.catalogue import Options, open_enrichers, open_source
from broadsheet.store.lock import FolderLock

if TYPE_CHECKING:
    from broadsheet.library.facade import Library

OnSource = Callable[[SourceReport], None]


class Updater:
    """The sources of one library and the client that asks them, opened when they are first needed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._settings = library.settings
        self._options = options_of(library.settings)
        self._sources = library.settings.sources
        self._written = _written(library.settings.home)

    def _configured(self) -> dict[str, Source | SettingsError]:
        """The sources of the settings in order, by their own names; for one that cannot be opened, why."""
        found: dict[str, Source | SettingsError] = {}
        for text in self._names():
            try:
                source = open_source(text, self._options)
            except SettingsError as error:
                found[text] = error
            else:
                found.setdefault(source.name, source)
        return found

    def _names(self) -> tuple[str, ...]:
        """The setting ``sources``: as it is in the file now, where that was changed since the library was opened."""
        written = _written(self._settings.home)
        if written != self._written:
            self._written, self._sources = written, load_settings(self._settings.home).sources
        return self._sources

    def _named(self, names: Sequence[str]) -> dict[str, Source | SettingsError]:
        """Sources that somebody names, by their own names. Raises SettingsError."""
        return {source.name: source for source in (open_source(name, self._options) for name in names)}

    def statuses(self, now: datetime) -> list[SourceStatus]:
        """How each configured source stands and when it is due; one that cannot be opened has failed, and never is."""
        states = self._library.store.source_states()
        at = time_of(self._settings.update_at)
        found: list[SourceStatus] = []
        for name, source in self._configured().items():
            if isinstance(source, SettingsError):
                found.append(SourceStatus(name, SourceState.FAILED, str(source)))
            else:
                status = states[name][1] if name in states else SourceStatus(name)
                found.append(replace(status, due=next_run(status, at, now, every=source.every)))
        return found

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
        """Ask sources for what is new, then the services for what papers lack.

        A configured source that cannot be opened is a report, as is every failure; a named one raises SettingsError.
        ``pause`` waits between requests, and may raise StoppedError to end the run. Raises SettingsError, StoreError,
        and BusyError while another update of this library runs.
        """
        wanted = self._named(names) if names else self._configured()
        at = time_of(self._settings.update_at)

        def finish(status: SourceStatus) -> SourceStatus:
            source = wanted[status.name]
            every = timedelta(days=1) if isinstance(source, SettingsError) else source.every
            return replace(status, due=next_run(status, at, _now(), every=every))

        if not wanted:
            raise SettingsError("no source is configured; add one, such as: broadsheet sources add arxiv:cs.LG")
        reports = [
            SourceReport(name, SourceState.FAILED, str(source))
            for name, source in wanted.items()
            if isinstance(source, SettingsError)
        ]
        for report in reports:
            on_source(report)
        with self._library.index_writer():
            pass  # raises BusyError before a server is asked for what could not be stored
        with self._alone(), client_of(self._settings, pause) as client:
            reports += update(
                self._library.store,
                [source for source in wanted.values() if not isinstance(source, SettingsError)],
                client,
                now=_now,
                take=self._take,
                finish=finish,
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

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other updates out, also those of other processes: two would ask everything twice, and too fast."""
        lock = FolderLock(self._settings.home / "update")
        try:
            lock.acquire(0)
        except BusyError as error:
            raise BusyError("another process is updating this library; wait for it to end and try again") from error
        try:
            yield
        finally:
            lock.release()

    def _take(self, entries: Iterator[Entry]) -> ImportSummary:
        """Store entries and index them at once."""
        library = self._library
        items = (Item(number, 0, None, entry) for number, entry in zip(count(), entries, strict=False))
        with library.index_writer() as index, Follower(library.store, index) as follower:
            return import_items(library.store, items, now=_now, on_batch=lambda *_: follower.notify())


def _written(home: Path) -> int:
    """When the settings file was written last; 0 where there is none."""
    try:
        return (home / CONFIG_NAME).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


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
            raise SettingsError(
                f"mirrors: {text!r} is not HOST=URL, such as export.arxiv.org=https://mirror.example.org"
            )
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
