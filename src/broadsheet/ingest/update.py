"""One run over the configured sources: fetch, parse, store, remember where to go on. No source can stop another."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urlsplit

from broadsheet.errors import FetchError, InputError, StoppedError, StoreError, ThrottledError
from broadsheet.model import ImportSummary, Record, Refusal, SourceReport, SourceState, SourceStatus
from broadsheet.net import Client
from broadsheet.sources.base import Page, Rechecked, Source
from broadsheet.store import Store

_LOG = logging.getLogger(__name__)
_GRAVITY = (
    SourceState.FAILED,
    SourceState.STALE,
    SourceState.INCOMPLETE,
    SourceState.OK,
    SourceState.QUIET,
    SourceState.NEVER,
)
Take = Callable[[Iterator[Record | Refusal]], ImportSummary]
"""Stores entries and says what came of them."""
Finish = Callable[[SourceStatus], SourceStatus]
"""Adds to a status when the source is due next."""


@dataclass(slots=True)
class _Run:
    """What has come of one source so far."""

    status: SourceStatus
    cursor: str
    total: ImportSummary = field(default_factory=ImportSummary)
    state: SourceState = SourceState.NEVER
    remarks: tuple[str, ...] = ()

    def see(self, page: Page, summary: ImportSummary) -> None:
        self.total += summary
        self.cursor = page.cursor
        self.worsen(page.state, page.remark)
        status = self.status
        days = [day for day in (status.day, page.day) if day]
        self.status = replace(
            status,
            newest=max(status.newest, page.newest),
            day=max(days, default=None),
            records=status.records + summary.new,
        )

    def worsen(self, state: SourceState, remark: str) -> None:
        self.state = min(self.state, state, key=_GRAVITY.index)
        if remark and remark not in self.remarks:
            self.remarks = (*self.remarks, remark)


def update(
    store: Store,
    sources: Sequence[Source],
    client: Client,
    *,
    now: Callable[[], datetime],
    take: Take,
    finish: Finish = lambda status: status,
    on_source: Callable[[SourceReport], None] = lambda report: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[SourceReport]:
    """Ask each source for what is new and store it, page by page; then look which lag behind their like.

    What a source gave before it failed is kept, and the next run goes on after it. Raises StoreError (BusyError) where
    nothing can be stored at all; everything else becomes a report.
    """
    reports: dict[str, SourceReport] = {}
    tired: dict[str, ThrottledError] = {}  # servers that asked for fewer requests
    before = {name: status for name, (_, status) in store.source_states().items()}
    for source in sources:
        if should_stop():
            return list(reports.values())
        server = _server(source)
        fetch = _refusing(tired[server]) if server in tired else _noting(source, tired)
        reports[source.name] = _update_one(store, source, fetch, client, now=now, take=take, finish=finish)
        on_source(reports[source.name])
    for source, sentence in _lagging(store, sources, reports, before):
        again = _update_one(store, source, source.fetch_again, client, now=now, take=take, finish=finish)
        report = _together(reports[source.name], again)
        if again.state not in (SourceState.OK, SourceState.QUIET):
            failures = before[source.name].failures + 1 if source.name in before else 1  # two looks, one attempt
            report = _mark_stale(store, report, sentence, failures, finish)
        reports[source.name] = report
        on_source(report)
    return list(reports.values())


Fetch = Callable[[Client, str, datetime], Iterator[Page]]


def _server(source: Source) -> str:
    """Who answers for a source: all of a kind have one server, but for feeds, whose addresses say it."""
    _, _, address = source.name.partition(":")
    return urlsplit(address).hostname or source.kind


def _noting(source: Source, tired: dict[str, ThrottledError]) -> Fetch:
    """``source.fetch`` that notes when the server asks for fewer requests."""

    def fetch(client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        try:
            yield from source.fetch(client, cursor, now)
        except ThrottledError as error:
            tired[_server(source)] = error
            raise

    return fetch


def _refusing(error: ThrottledError) -> Fetch:
    """In place of ``source.fetch`` where the same server has just asked for fewer requests."""

    def fetch(client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        raise ThrottledError(f"not asked: {error}", url=error.url, status=error.status, retry_after=error.retry_after)
        yield  # a generator, as every fetch

    return fetch


def _update_one(
    store: Store,
    source: Source,
    fetch: Fetch,
    client: Client,
    *,
    now: Callable[[], datetime],
    take: Take,
    finish: Finish,
) -> SourceReport:
    with store.writing():
        pass  # raises BusyError before a server is asked for what could not be stored
    begun, started = time.monotonic(), now()
    cursor, status = store.source_states().get(source.name, ("", SourceStatus(source.name)))
    run = _Run(replace(status, asked=started, wait=0.0), cursor)
    try:
        for page in fetch(client, cursor, started):
            run.see(page, take(source.parse(page)))
            store.set_source_state(source.name, run.cursor, run.status)
        if run.state is SourceState.NEVER:
            run.state = SourceState.OK
    except FetchError as error:
        run.worsen(SourceState.FAILED, str(error))
        run.status = replace(run.status, wait=error.retry_after or 0.0)
    except InputError as error:
        run.worsen(SourceState.FAILED, str(error))
    except (StoreError, StoppedError):
        raise
    except Exception as error:  # a fault of ours in one source must not stop the others
        _LOG.exception("%s: an unforeseen fault", source.name)
        run.worsen(SourceState.FAILED, f"an unforeseen fault ({type(error).__name__}: {error}); see the log")
    return _close(store, source, run, now=now, finish=finish, seconds=time.monotonic() - begun)


def _close(
    store: Store, source: Source, run: _Run, *, now: Callable[[], datetime], finish: Finish, seconds: float
) -> SourceReport:
    failed = run.state in (SourceState.FAILED, SourceState.STALE, SourceState.INCOMPLETE)
    status = finish(
        replace(
            run.status,
            state=run.state,
            message="; ".join([*(remark.removesuffix(".") for remark in run.remarks[:-1]), *run.remarks[-1:]]),
            fetched=run.status.fetched if run.state is SourceState.FAILED else now(),
            failures=run.status.failures + 1 if failed else 0,
        )
    )
    store.set_source_state(source.name, run.cursor, status)
    return report_of(status, run.total, seconds)


def report_of(status: SourceStatus, total: ImportSummary, seconds: float) -> SourceReport:
    """What a run did with one source or service."""
    return SourceReport(
        name=status.name,
        state=status.state,
        message=status.message,
        new=total.new,
        updated=total.updated,
        merged=total.merged,
        withdrawn=total.withdrawn,
        refused=total.refused,
        refusals=total.refusals,
        due=status.due,
        seconds=seconds,
    )


def _lagging(
    store: Store, sources: Sequence[Source], reports: dict[str, SourceReport], before: dict[str, SourceStatus]
) -> list[tuple[Rechecked, str]]:
    """Categories of arXiv that were asked and lag behind the others, or still do, with the sentence that says so."""
    after = {name: status for name, (_, status) in store.source_states().items() if name.startswith("arxiv:")}
    found: list[tuple[Rechecked, str]] = []
    if not after:
        return found
    from broadsheet.sources.arxiv import stale

    sound = {name: status.newest for name, status in after.items() if status.state is not SourceState.FAILED}
    sentences = stale(_by_category(sound), _by_category({n: s.newest for n, s in before.items() if n in sound}))
    for source in sources:
        report, earlier = reports.get(source.name), before.get(source.name)
        if report is None or report.state is SourceState.FAILED or not isinstance(source, Rechecked):
            continue
        still = earlier and earlier.state is SourceState.STALE and earlier.newest == after[source.name].newest
        sentence = sentences.get(_category(source.name)) or (earlier.message if earlier and still else "")
        if sentence:
            found.append((source, sentence))
    return found


def _category(name: str) -> str:
    return name.removeprefix("arxiv:").partition("?")[0]


def _by_category(newest: dict[str, str]) -> dict[str, str]:
    return {_category(name): value for name, value in newest.items()}


def _mark_stale(store: Store, report: SourceReport, sentence: str, failures: int, finish: Finish) -> SourceReport:
    cursor, status = store.source_states()[report.name]
    status = finish(replace(status, state=SourceState.STALE, message=sentence, failures=failures))
    store.set_source_state(report.name, cursor, status)
    return replace(report, state=SourceState.STALE, message=sentence, due=status.due)


def _together(first: SourceReport, second: SourceReport) -> SourceReport:
    """What two looks at one source gave."""
    return replace(
        second,
        new=first.new + second.new,
        updated=first.updated + second.updated,
        merged=first.merged + second.merged,
        withdrawn=first.withdrawn + second.withdrawn,
        refused=first.refused + second.refused,
        refusals=first.refusals + second.refusals,
        seconds=first.seconds + second.seconds,
    )
