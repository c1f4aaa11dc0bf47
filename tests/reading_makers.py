"""Small readers, events and editions for tests of the store, and strategies for any of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from broadsheet.model import (
    Area,
    Identifier,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Paper,
    Place,
    Scheme,
    Version,
)
from broadsheet.model.reading import (
    Action,
    Edition,
    Entry,
    Event,
    Interest,
    InterestKind,
    Profile,
    Reader,
    Reason,
    SavedSearch,
    Section,
    SectionKind,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TODAY = date(2026, 11, 30)


def reader(name: str = "me", **fields: Any) -> Reader:
    fields.setdefault("secret", f"secret of {name}")
    fields.setdefault("created", NOW)
    return Reader(name, **fields)


def event(action: Action = Action.SAVE, paper: int = 1, name: str = "me", **fields: Any) -> Event:
    fields.setdefault("moment", NOW)
    return Event(0, name, action, paper, **fields)


def entry(paper: Paper | int, **fields: Any) -> Entry:
    shown = Paper(paper, f"Paper {paper}") if isinstance(paper, int) else paper
    fields.setdefault("score", 0.5)
    fields.setdefault("parts", {"memory": 0.5})
    fields.setdefault("reasons", (Reason("words", "maps, rivers"),))
    return Entry(shown, **fields)


def edition(*papers: Paper | int, name: str = "me", day: date = TODAY, **fields: Any) -> Edition:
    """An edition whose front holds these papers, the last of them under discoveries where there are several."""
    front = [entry(paper) for paper in (papers[:-1] if len(papers) > 1 else papers)]
    found = [entry(paper, propensity=0.25, explored=True) for paper in papers[-1:] if len(papers) > 1]
    made = (
        Section(SectionKind.FRONT, "front", "Front page", tuple(front)),
        Section(SectionKind.DISCOVERY, "discovery", "Discoveries", tuple(found)),
    )
    fields.setdefault("made", NOW)
    fields.setdefault("since", day - timedelta(days=1))
    fields.setdefault("through", day)
    fields.setdefault("sections", made)
    fields.setdefault("considered", len(papers))
    fields.setdefault("newest_paper", 0)
    fields.setdefault("basis", "memory")
    return Edition(name, day, **fields)


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
names = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=20)
dates = st.none() | st.dates()
moments = st.datetimes(timezones=st.just(UTC))
numbers = st.integers(1, 2**62)
floats = st.floats(allow_nan=False, allow_infinity=False)
interests = st.builds(Interest, st.sampled_from(InterestKind), words)


def _some(one: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(one, max_size=most).map(tuple)


places = st.builds(
    Place, source=words, venue=words, year=st.none() | st.integers(1, 9999), status=words, listed=dates, url=words
)
snapshots = st.builds(
    Paper,
    id=numbers,
    title=words,
    abstract=words,
    authors=_some(words),
    identifiers=_some(st.builds(Identifier, st.sampled_from(Scheme), words)),
    areas=_some(st.builds(Area, words, words)),
    venue=words,
    year=st.none() | st.integers(1000, 2999),
    published=dates,
    listed=dates,
    links=_some(st.builds(Link, st.sampled_from(LinkKind), words)),
    keywords=_some(words),
    status=words,
    other_titles=_some(words),
    related=_some(numbers),
    authors_truncated=st.booleans(),
    title_derived=st.booleans(),
    summarised=st.booleans(),
    month_only=st.booleans(),
    damaged=st.booleans(),
    kind=words,
    versions=_some(st.builds(Version, st.integers(1, 99), dates)),
    notices=_some(st.builds(Notice, st.sampled_from(NoticeKind), words, dates)),
    counts=_some(st.tuples(words, st.integers(0, 10**9))),
    details=_some(st.tuples(words, words)),
    references=_some(st.builds(Identifier, st.sampled_from(Scheme), words)),
    added=st.none() | moments,
    places=_some(places, 1),
    origins=st.dictionaries(words, words, max_size=2),
)
entries = st.builds(
    Entry,
    paper=snapshots,
    score=floats,
    parts=st.dictionaries(words, floats, max_size=2),
    reasons=_some(st.builds(Reason, words, words, floats, _some(numbers))),
    propensity=st.floats(0, 1, exclude_min=True),
    explored=st.booleans(),
)
sections = st.builds(Section, st.sampled_from(SectionKind), names, words, _some(entries))
editions = st.builds(
    Edition,
    reader=st.just("me"),
    day=st.dates(),
    made=moments,
    since=dates,
    through=st.dates(),
    sections=_some(sections),
    considered=st.integers(0, 10**6),
    newest_paper=st.integers(0, 2**62),
    basis=words,
    notes=_some(words),
    risk=st.floats(0, 0.5),
    cap=floats,
)
profiles = st.builds(
    Profile,
    follows=_some(interests),
    mutes=_some(interests),
    searches=_some(st.builds(SavedSearch, st.integers(1, 10**6), words, words, moments)),
    risk=st.floats(0, 0.5),
    emphasis=_some(st.tuples(words, floats)),
    email=words,
    webhook=words,
)
events = st.builds(
    Event,
    id=st.just(0),
    reader=st.just("me"),
    action=st.sampled_from(Action),
    paper=st.integers(0, 2**62),
    moment=moments,
    because=st.none() | interests,
    edition=dates,
    undoes=st.integers(0, 2**62),
)
