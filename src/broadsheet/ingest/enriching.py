"""Asking a service for what papers lack: which papers, in what order, and never twice too soon."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from broadsheet.errors import FetchError, InputError, StoppedError, StoreError
from broadsheet.ingest.update import Take
from broadsheet.model import Identifier, ImportSummary, Paper, SourceReport, SourceState, SourceStatus
from broadsheet.net import Client
from broadsheet.sources.base import Enricher
from broadsheet.sources.enrichment import wanted
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
    papers, cursor = _candidates(store, int(cursor), limit)
    total, state, message = ImportSummary(), SourceState.OK, ""
    try:
        for chunk in _chunks(_asked_for(store, enricher, papers, now())[:limit], enricher.batch):
            for page in enricher.fetch(client, chunk):
                total += take(enricher.parse(page))
            store.add_lookups(enricher.name, chunk, now())
    except (FetchError, InputError) as error:
        state, message = SourceState.FAILED, str(error)
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
    )
    store.set_source_state(name, cursor, status)
    return SourceReport(
        name=name,
        state=state,
        message=message,
        new=total.new,
        updated=total.updated,
        merged=total.merged,
        withdrawn=total.withdrawn,
        refused=total.refused,
        refusals=total.refusals,
        seconds=time.monotonic() - begun,
    )


def _candidates(store: Store, after: int, limit: int) -> tuple[list[Paper], str]:
    """Papers to look at, and where the next run goes on in the round over all papers."""
    newest = store.newest(LOOK_AT * limit)
    others = list(islice(store.iterate_papers(after=after), LOOK_AT * limit))
    known = {paper.id for paper in newest}
    return [*newest, *(paper for paper in others if paper.id not in known)], str(others[-1].id if others else 0)


def _asked_for(store: Store, enricher: Enricher, papers: Sequence[Paper], now: datetime) -> list[Identifier]:
    named = {i for paper in papers for i in paper.identifiers if i.scheme in enricher.schemes}
    before = store.lookups(enricher.name, named)
    return wanted(papers, [enricher], lambda _, identifier: before.get(identifier), now).get(enricher.name, [])


def _chunks(identifiers: Sequence[Identifier], size: int) -> list[Sequence[Identifier]]:
    return [identifiers[i : i + size] for i in range(0, len(identifiers), size)]
