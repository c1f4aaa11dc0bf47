"""Which papers to ask which service about, and what the answers of all services have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import orjson

from broadsheet.identifiers import parse_identifier
from broadsheet.model import Identifier, Paper, Scheme
from broadsheet.sources.base import Enricher, Page

RETRACTION_EVERY = timedelta(days=30)
"""How often a paper is checked for a retraction; its citations are counted again on the same occasion."""
ASK_AGAIN = timedelta(days=14)
"""How long a service that could not help is left in peace about a paper."""

RETRACTION = "retraction"
GIVES: Mapping[str, frozenset[str]] = {
    "crossref": frozenset(("title", "authors", "venue", "year", "abstract", "citations", RETRACTION)),
    "openalex": frozenset(("title", "authors", "venue", "year", "doi", "abstract", "citations", RETRACTION)),
    "semanticscholar": frozenset(("title", "authors", "venue", "year", "doi", "abstract", "citations")),
    "dblp": frozenset(("title", "authors", "venue", "year")),
}
"""What each service can tell."""
_PREPRINT_VENUES = frozenset(("", "arxiv", "arxiv.org", "corr", "biorxiv", "medrxiv", "ssrn", "preprint", "openreview"))


def missing(paper: Paper) -> frozenset[str]:
    """The fields, by the names used in ``GIVES``, that a paper lacks; the name of a preprint server is no venue."""
    lacks = {
        "title": not paper.title or paper.title_derived,
        "authors": not paper.authors or paper.authors_truncated,
        "venue": paper.venue.lower() in _PREPRINT_VENUES,
        "year": paper.year is None,
        "doi": paper.identifier(Scheme.DOI) is None,
        "abstract": not paper.abstract or paper.summarised,
        "citations": paper.count("citations") is None,
    }
    return frozenset(name for name, lacking in lacks.items() if lacking)


def wanted(
    papers: Sequence[Paper],
    tiers: Sequence[Enricher],
    asked: Callable[[str, Identifier], datetime | None],
    now: datetime,
) -> dict[str, list[Identifier]]:
    """What to ask each service now, by its name, each identifier once, in the papers' order.

    ``asked`` says when a service was last asked about an identifier; None is never. A paper that misses a field is
    asked about in the first tier that can give it and was not asked within ``ASK_AGAIN``: the next tier has its turn
    once this one's answer is stored and did not fill the gap. Besides, the first tier that knows of retractions is
    asked about every paper which is not retracted yet, every ``RETRACTION_EVERY``.
    """
    found: dict[str, dict[Identifier, None]] = {tier.name: {} for tier in tiers}
    for paper in papers:
        for name, identifier in _questions(paper, tiers, asked, now):
            found[name][identifier] = None
    return {name: list(identifiers) for name, identifiers in found.items() if identifiers}


def _questions(
    paper: Paper,
    tiers: Sequence[Enricher],
    asked: Callable[[str, Identifier], datetime | None],
    now: datetime,
) -> Iterator[tuple[str, Identifier]]:
    gaps = missing(paper)
    watched = not paper.is_withdrawn
    for tier in tiers:
        identifier = _identifier_for(paper, tier)
        gives = GIVES.get(tier.name, frozenset(("retraction", *gaps)))
        if identifier is None or not (gives & gaps or (watched and RETRACTION in gives)):
            continue
        last = asked(tier.name, identifier)
        fills = bool(gives & gaps) and (last is None or now - last >= ASK_AGAIN)
        checks = watched and RETRACTION in gives and (last is None or now - last >= RETRACTION_EVERY)
        watched = watched and RETRACTION not in gives
        if fills:
            gaps = frozenset()  # the other tiers wait for this one's answer
        if fills or checks:
            yield tier.name, identifier


def _identifier_for(paper: Paper, tier: Enricher) -> Identifier | None:
    for scheme in tier.schemes:
        value = paper.identifier(scheme)
        if value is not None:
            return Identifier(scheme, value)
    return None


# --- what the services' modules share --------------------------------------------------------------------------------


def batches(identifiers: Sequence[Identifier], size: int) -> Iterator[Sequence[Identifier]]:
    """Parts of at most ``size``."""
    for start in range(0, len(identifiers), size):
        yield identifiers[start : start + size]


def cursor_of(identifiers: Iterable[Identifier]) -> str:
    """The identifiers that were asked for, as the cursor of a page."""
    return orjson.dumps([str(identifier) for identifier in identifiers]).decode()


def asked_on(page: Page) -> list[Identifier]:
    """The identifiers that a page answers."""
    pairs = (text.split(":", 1) for text in orjson.loads(page.cursor or b"[]"))
    return [Identifier(Scheme(scheme), value) for scheme, value in pairs]


def identifiers_in(values: Iterable[object], prefix: str = "") -> Iterator[Identifier]:
    """The identifiers that texts are, with ``prefix`` (as in ``doi:``) or as they stand; others are passed over."""
    for value in values:
        if isinstance(value, (str, int)):
            parsed = parse_identifier(f"{prefix}{value}") or (parse_identifier(str(value)) if prefix else None)
            if parsed:
                yield parsed[0]


def key_of(found: Sequence[Identifier], asked: Sequence[Identifier], fallback: str) -> str:
    """The identifier by which a record was asked for; if none of its own was, its first, or the service's number."""
    own = set(found)
    answer = next((identifier for identifier in asked if identifier in own), None)
    return str(answer or next(iter(found), fallback))


def names_of(people: object) -> str:
    """Names as BibLaTeX lists them, joined by "and"; the name of a body that holds an "and" goes into braces."""
    names = [people] if isinstance(people, str) else list(people) if isinstance(people, (list, tuple)) else []
    return " and ".join(f"{{{name}}}" if " and " in name else name for name in names)
