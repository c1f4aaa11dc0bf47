"""Asking a service for what papers lack: which papers, in what order, and never twice too soon."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, takewhile

from broadsheet.errors import FetchError, InputError, StoppedError, StoreError
from broadsheet.ingest.update import Take, report_of
from broadsheet.model import Identifier, ImportSummary, Paper, SourceReport, SourceState, SourceStatus
from broadsheet.net import Client
from broadsheet.sources.base import Enricher
from broadsheet.sources.enrichment import batches, wanted
from broadsheet.store import Store

_LOG = logging.getLogger(__name__)
LOOK_AT = 8
"""Papers looked at for each that may be asked about: most lack nothing, or were asked about before."""
PREFIX = "enrich:"


def enrich(
    store: Store,
    enricher: Enricher,
    client: Client,
    *,
    now: Callable[[], datetime],
    take: Take,
    limit: int,
) -> SourceReport:
    """Ask one service about at most ``limit`` papers that lack what it can give, and store its answers.

    The newest papers come first; what is left of the limit goes to all others in turn, where the last run ended.
    Papers that an earlier service has completed in the meantime are not asked about. Raises StoreError alone.
    """
    begun, name = time.monotonic(), PREFIX + enricher.name
    cursor, status = store.source_states().get(name, ("0", SourceStatus(name)))
    if status.asked and now() < status.asked + timedelta(seconds=status.wait):
        return SourceReport(name=name, state=status.state, message=f"not asked: {status.message}")
    newest, others = (
        store.newest(LOOK_AT * limit),
        list(islice(store.iterate_papers(after=int(cursor)), LOOK_AT * limit)),
    )
    left = dict.fromkeys(_asked_for(store, enricher, [*newest, *others], now()))
    total, state, message, wait = ImportSummary(), SourceState.OK, "", 0.0
    try:
        for chunk in batches(list(left)[:limit], enricher.batch):
            for page in enricher.fetch(client, chunk):
                total += take(enricher.parse(page))
            store.add_lookups(enricher.name, chunk, now())
            for identifier in chunk:
                del left[identifier]
    except (FetchError, InputError) as error:
        state, message = SourceState.FAILED, str(error)
        wait = (error.retry_after or 0.0) if isinstance(error, FetchError) else 0.0
    except (StoreError, StoppedError):
        raise
    except Exception as error:  # a fault of ours in one service must not stop the others
        _LOG.exception("%s: an unforeseen fault", name)
        state, message = SourceState.FAILED, f"an unforeseen fault ({type(error).__name__}: {error}); see the log"
    failed = state is SourceState.FAILED
    status = replace(
        status,
        state=state,
        message=message,
        asked=now(),
        fetched=status.fetched if failed else now(),
        records=status.records + total.new,
        failures=status.failures + 1 if failed else 0,
        wait=wait,
    )
    store.set_source_state(name, _after(cursor, others, left), status)
    return report_of(status, total, time.monotonic() - begun)


def _after(cursor: str, others: Sequence[Paper], left: Collection[Identifier]) -> str:
    """Where the next run goes on in the round over all papers: before the first that is still to be asked about."""
    if not others:
        return "0"
    done = takewhile(lambda paper: not any(identifier in left for identifier in paper.identifiers), others)
    return str(max((paper.id for paper in done), default=cursor))


def _asked_for(store: Store, enricher: Enricher, papers: Sequence[Paper], now: datetime) -> list[Identifier]:
    named = {i for paper in papers for i in paper.identifiers if i.scheme in enricher.schemes}
    before = store.lookups(enricher.name, named)
    return wanted(papers, [enricher], lambda _, identifier: before.get(identifier), now).get(enricher.name, [])
