"""Small records and events of systematic reviews for tests, and strategies for any of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from broadsheet.model import Identifier, Link, LinkKind, Scheme
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Plan,
    PoolRecord,
    ReviewEvent,
    ReviewEventKind,
    Sharing,
    Stage,
    StoppingPlan,
)

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def pool_record(number: int = 1, **fields: Any) -> PoolRecord:
    fields.setdefault("title", f"A trial of drug {number}")
    return PoolRecord(number, **fields)


def pool(count: int, first: int = 1, **fields: Any) -> list[PoolRecord]:
    """Records with the numbers from ``first`` on."""
    return [pool_record(first + i, **fields) for i in range(count)]


def review_event(kind: ReviewEventKind = ReviewEventKind.DECIDE, review: int = 1, **fields: Any) -> ReviewEvent:
    fields.setdefault("screener", "ana")
    fields.setdefault("moment", NOW)
    return ReviewEvent(0, review, kind, **fields)


def decision(number: int, label: Label = Label.EXCLUDE, review: int = 1, **fields: Any) -> ReviewEvent:
    fields.setdefault("chosen", Chosen.RANKED)
    return review_event(ReviewEventKind.DECIDE, review, record=number, label=label, **fields)


# Texts of records may hold anything that a file can; those of events hold what every database takes.
words = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
plain = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)
floats = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.integers(0, 2**31 - 1)
moments = st.datetimes(timezones=st.just(UTC))


def _some(one: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(one, max_size=most).map(tuple)


plans = st.builds(
    Plan,
    question=words,
    criteria=_some(st.builds(Criterion, words, words, st.booleans())),
    description=words,
    terms=_some(words),
    sharing=st.sampled_from(Sharing),
    screeners=_some(words),
    stopping=st.builds(StoppingPlan, words, floats, floats, floats, floats, numbers, numbers),
    model=words,
    querier=words,
    seed=st.integers(-(2**63), 2**63 - 1),
)
pool_records = st.builds(
    PoolRecord,
    number=st.just(1),
    title=words,
    abstract=words,
    authors=_some(words),
    year=st.none() | st.integers(-1, 9999),
    venue=words,
    identifiers=_some(st.builds(Identifier, st.sampled_from(Scheme), words)),
    keywords=_some(words),
    url=words,
    source=words,
    key=words,
    paper=st.integers(0, 2**62),
    twin=numbers,
    label=st.none() | st.sampled_from(Label),
    note=words,
    kind=words,
    published=words,
    links=_some(st.builds(Link, st.sampled_from(LinkKind), words)),
    details=_some(st.tuples(words, words)),
)
review_events = st.builds(
    ReviewEvent,
    id=st.just(0),
    review=st.just(1),
    kind=st.sampled_from(ReviewEventKind),
    screener=plain,
    moment=moments,
    record=numbers,
    stage=st.sampled_from(Stage),
    label=st.none() | st.sampled_from(Label),
    chosen=st.none() | st.sampled_from(Chosen),
    reasons=_some(plain),
    note=plain,
    other=numbers,
    undoes=st.integers(0, 2**62),
    model=plain,
    place=numbers,
    unread=numbers,
    detail=plain,
)
