"""Editions, and what is remembered of a reader, as text for a terminal. What comes from a source is made safe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import safe
from broadsheet.cli.render import authors_line, columns, cut, facts_line, plain_text, width, wrapped
from broadsheet.feed.options import told_weights
from broadsheet.model.reading import Action

if TYPE_CHECKING:
    from broadsheet.model import Paper, PaperId
    from broadsheet.model.reading import Edition, Entry, Event, MemoryView, Period, Profile, Reader, Section

Marks = Mapping["PaperId", Collection[Action]]
"""What a reader's actions say of papers now."""

DONE = {
    Action.OPEN: "opened",
    Action.SAVE: "saved",
    Action.LIKE: "liked",
    Action.DISMISS: "dismissed",
    Action.EXAMPLE: "example",
}
"""What the actions that concern a paper make of it."""
_WENT_BY = {
    "memory": "by what you read and follow",
    "profile": "by what you follow",
    "nothing": "for variety",
}
_PARTS = {"newer": "lately more than lasting"}
SHOWN_WORDS = 12
SHOWN_REMEMBERED = 20
BESIDE_TITLE = 55  # columns that the rest of a remembered paper's line takes


def written_day(day: date) -> str:
    """1 December 2026."""
    return f"{day.day} {day:%B %Y}"


def long_day(day: date) -> str:
    """A day as a newspaper prints it: Tuesday 1 December 2026."""
    return f"{day:%A} {written_day(day)}"


def edition_lines(
    edition: Edition, marks: Marks, sections: Sequence[Section] | None = None, *, brief: bool = False
) -> Iterator[str]:
    """A whole edition, or the ``sections`` given; ``brief`` is a line for each paper."""
    yield from _masthead(long_day(edition.day), safe(edition.reader))
    yield wrapped(safe(_chosen_from(edition)), 0)
    yield from (wrapped(safe(note), 0) for note in edition.notes)
    yield ""
    number = 1
    for section in edition.sections if sections is None else sections:
        yield from _rule(section)
        if brief:
            yield from titles_lines(entry.paper for entry in section.entries)
            yield ""
            continue
        for entry in section.entries:
            yield from entry_lines(entry, number, marks.get(entry.paper.id, ()))
            number += 1
    yield click.style("broadsheet mark save|like|dismiss NUMBER says what you think of a paper.", dim=True)
    if edition.basis == "nothing":
        yield click.style("broadsheet start --help: ways to say at once what you care about.", dim=True)


def _masthead(left: str, right: str) -> Iterator[str]:
    title = "BROADSHEET"
    room = max(1, width() - len(title) - len(left) - len(right) - 2)
    yield "=" * width()
    yield f"{click.style(title, bold=True)}  {left}{' ' * room}{right}".rstrip()
    yield "=" * width()


def _chosen_from(edition: Edition) -> str:
    papers = "1 paper" if edition.considered == 1 else f"{edition.considered:,} papers"
    went_by = _WENT_BY.get(edition.basis, f"by {edition.basis}")
    return f"{len(edition.entries):,} of {papers} announced {_announced(edition)}, chosen {went_by}."


def _announced(edition: Edition) -> str:
    """The days of announcement that an edition covers."""
    last = f"{edition.through.day} {edition.through:%B}"
    if edition.since is None:
        return f"up to {last}"
    first = edition.since + timedelta(days=1)
    return f"on {last}" if first >= edition.through else f"from {first.day} {first:%B} to {last}"


def _rule(section: Section) -> Iterator[str]:
    """A section's title, a line, and the key that ``--section`` takes."""
    title, key = plain_text(section.title), safe(section.key)
    dashes = "-" * max(3, width() - len(title) - len(key) - 2)
    yield f"{click.style(title, bold=True)} {dashes} {click.style(key, dim=True)}"


def entry_lines(
    entry: Entry, number: int, actions: Collection[Action] = (), *, day: date | None = None
) -> Iterator[str]:
    """One paper of an edition (``day`` is its date): title, authors, facts with its number, and why it is there."""
    paper = entry.paper
    yield from _head(paper, number)
    said = [DONE[action] for action in actions if action in DONE]
    said += ["discovery"] if entry.explored else []
    facts = [f"paper {paper.id}", facts_line(paper, bare_year=False), day.isoformat() if day else "", *said]
    yield wrapped(" | ".join(filter(None, facts)), 4)
    reasons = safe("; ".join(reason.text for reason in entry.reasons))
    if reasons:
        yield click.style(wrapped(f"Why: {reasons}", 4), dim=True)
    yield ""


def _head(paper: Paper, number: int) -> Iterator[str]:
    """A paper's title with its place, and its authors."""
    # The number fills the indent, so that all titles of an edition stand under each other.
    title = wrapped(f"{number}.".ljust(4) + plain_text(paper.title), 4).removeprefix("    ")
    yield click.style(title, bold=True)
    authors = authors_line(paper.authors, paper.authors_truncated)
    if authors:
        yield wrapped(authors, 4)


def period_lines(period: Period, marks: Marks, *, brief: bool = False) -> Iterator[str]:
    """The best of a week or a month, and how to get to those beside it."""
    month = f"{period.first:%B %Y}"
    week = f"The week from {long_day(period.first)} to {long_day(period.last)}"
    yield from _masthead(month if period.kind == "month" else week, "")
    editions = "1 edition" if len(period.editions) == 1 else f"{len(period.editions)} editions"
    yield f"The best of {editions}."
    yield ""
    if brief:
        yield from titles_lines(entry.paper for _, entry in period.entries)
    for number, (day, entry) in enumerate(() if brief else period.entries, 1):
        yield from entry_lines(entry, number, marks.get(entry.paper.id, ()), day=day)
    for name, other in (("Before", period.previous), ("After", period.following)):
        if other:
            yield click.style(f"{name}: broadsheet today --{period.kind} --date {other.isoformat()}", dim=True)


def saved_lines(saved: Iterable[tuple[Paper, Event]]) -> Iterator[str]:
    """Saved papers, newest first."""
    for number, (paper, event) in enumerate(saved, 1):
        yield from _head(paper, number)
        on = event.moment.astimezone().date().isoformat()
        facts = (f"paper {paper.id}", facts_line(paper, bare_year=False), f"saved {on}")
        yield wrapped(" | ".join(filter(None, facts)), 4)
        yield ""


def titles_lines(papers: Iterable[Paper]) -> Iterator[str]:
    """Papers by number and title, a line or two each."""
    kept = list(papers)
    room = max((len(str(paper.id)) for paper in kept), default=0) + 2
    for paper in kept:
        title = wrapped(plain_text(paper.title), room)
        yield str(paper.id).rjust(room - 2) + title[room - 2 :]


def profile_lines(reader: Reader) -> Iterator[str]:
    """What a reader follows, mutes and searches for, and the options."""
    profile = reader.profile
    yield from (safe(f"follows  {interest}") for interest in profile.follows)
    yield from (safe(f"mutes    {interest}") for interest in profile.mutes)
    yield from (safe(f"search   {search.id}  {search.name}: {search.query}") for search in profile.searches)
    yield from option_lines(profile)


def option_lines(profile: Profile) -> Iterator[str]:
    """A reader's options and their values."""
    yield f"risk     {profile.risk:g}"
    yield safe(f"email    {profile.email or '-'}")
    yield safe(f"webhook  {profile.webhook or '-'}")
    yield from (safe(f"weight   {name} x {factor:g}") for name, factor in profile.emphasis)


def memory_lines(view: MemoryView) -> Iterator[str]:
    """What the paper thinks its reader likes."""
    events = "1 event" if view.events == 1 else f"{view.events:,} events"
    yield click.style("What the paper thinks you like", bold=True)
    yield safe(f"Reader {view.reader}, from {events}, {max(1, round(view.size / 1000)):,} kB.")
    if not view.events:
        yield "Nothing is remembered yet. Begin with: broadsheet start --help"
        return
    yield from _centres(view)
    for title, pairs in (("Words", view.words), ("Authors", view.authors), ("Areas", view.areas)):
        if pairs:
            shown = (f"{safe(name)} {weight:+.2f}" for name, weight in pairs[:SHOWN_WORDS])
            yield from ("", click.style(title, bold=True), wrapped(", ".join(shown), 2))
    yield from _remembered(view)
    if view.parts:
        parts = told_weights(view.parts)
        shown = (f"{safe(_PARTS.get(name, name))} {weight:.2f}" for name, weight in parts.items())
        yield from ("", click.style("What counts in the ranking", bold=True), wrapped(", ".join(shown), 2))


def _centres(view: MemoryView) -> Iterator[str]:
    if view.centres:
        yield from ("", click.style("Topics", bold=True))
    for centre in view.centres:
        papers = "1 paper" if len(centre.papers) == 1 else f"{len(centre.papers):,} papers"
        yield wrapped(f"{centre.share:4.0%}  {safe(', '.join(centre.words))} ({papers})", 2)


def _remembered(view: MemoryView) -> Iterator[str]:
    shown = view.papers[:SHOWN_REMEMBERED]
    if not shown:
        return
    of_all = f", {len(shown)} of {len(view.papers):,}" if len(shown) < len(view.papers) else ""
    yield from ("", click.style(f"Papers{of_all}; traces of days, a month, a year", bold=True))
    rows = [
        (
            str(paper.paper),
            DONE[paper.action],
            paper.moment.astimezone().date().isoformat(),
            " ".join(f"{trace:+.2f}" for trace in paper.traces),
            cut(plain_text(paper.title), max(20, width() - BESIDE_TITLE)),
        )
        for paper in shown
    ]
    yield from columns(("paper", "", "on", "traces", "title"), rows, right=(0,))
