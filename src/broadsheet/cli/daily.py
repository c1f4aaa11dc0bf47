"""Commands of the daily paper: today, mark, undo, saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import (
    Number,
    chosen_reader,
    home_option,
    interest,
    json_option,
    opened,
    paper_key,
    patience,
    reader_option,
    safe,
    write_json,
)
from broadsheet.cli.common import day as a_day
from broadsheet.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.model import Paper, PaperId
    from broadsheet.model.reading import Edition, Event, Interest, Period, Section

LOOKED_BACK = 7  # editions
LISTED, ALL = 100, 10**6  # saved papers
MARKS = ("open", "save", "like", "dismiss")
_DOING = {
    "open": "opening",
    "save": "saving",
    "like": "liking",
    "dismiss": "dismissing",
    "example": "giving as an example",
    "forget": "forgetting",
    "reset": "the reset of the memory",
    "undo": "the undo about",
}
_PAST = {"open": "Opened", "save": "Saved", "like": "Liked", "dismiss": "Dismissed"}


@click.command(short_help="Print the newest edition of your daily paper.")
@click.option(
    "--date", "--day", "day", type=a_day, metavar="DAY", help="The edition of this day; of a period, a day within it."
)
@click.option("--section", metavar="KEY", help="Only this section; its key stands at the right of its title.")
@click.option("--brief", is_flag=True, help="A line for each paper: its number and title.")
@click.option("--week", is_flag=True, help="The best of a week of editions.")
@click.option("--month", is_flag=True, help="The best of a month of editions.")
@click.option("--list", "list_days", is_flag=True, help="List the days that have an edition.")
@reader_option
@json_option
@home_option
def today(  # noqa: PLR0917 - click passes the options by name
    day: date | None, section: str | None, brief: bool, week: bool, month: bool, list_days: bool, as_json: bool
) -> None:
    """Print the newest edition of your daily paper: the new papers that matter to you, each with the reason.

    An edition is made of what was announced since the last one, and once made it does not change. Where nothing is
    new, the first line says why, and the last edition follows.

    \b
    Examples:
      broadsheet today
      broadsheet today --section front
      broadsheet today --brief
      broadsheet today --date 2026-11-30
      broadsheet today --week --json
    """
    if week + month + list_days > 1:
        raise click.UsageError("--week, --month and --list exclude each other.")
    if section and (week or month or list_days):
        raise click.UsageError("--section is of one edition: it goes with --date alone.")
    if day and list_days:
        raise click.UsageError("--list and --date exclude each other.")
    if list_days:
        _list_days(as_json)
    elif week or month:
        _print_period("week" if week else "month", day, brief, as_json)
    else:
        _print_edition(day, section, brief, as_json)


def _list_days(as_json: bool) -> None:
    with opened(read_only=True) as library:
        days = [day.isoformat() for day in library.daily.edition_days(chosen_reader())]
    if as_json:
        write_json(days)
    else:
        click.echo("\n".join(days) or "There is no edition yet: `broadsheet today` prints the first one.")


def _print_edition(day: date | None, section: str | None, brief: bool, as_json: bool) -> None:
    from broadsheet.model.reading import Today

    with opened(read_only=day is not None) as library:
        if day:
            found = Today(library.daily.edition(day, chosen_reader()), is_new=False)
        else:
            with patience("Printing the edition..."):
                found = library.daily.today(chosen_reader())
        edition = found.edition
        sections = sections_of(edition, section) if edition else ()
        shown = [entry.paper.id for each in sections for entry in each.entries]
        marks = library.daily.marks(shown, chosen_reader()) if shown else {}
    if as_json:
        from broadsheet.cli.shapes import today_shape

        write_json(today_shape(found, marks, sections))
        return
    from broadsheet.cli.newspaper import edition_lines

    if found.note:
        click.echo(safe(found.note))  # in one line: it may name a command to copy
    if edition:
        click.echo("\n".join(edition_lines(edition, marks, sections, brief=brief)))


def sections_of(edition: Edition, key: str | None) -> tuple[Section, ...]:
    """All sections, or the one with a key. Raises NotFoundError, which names the keys there are."""
    if key is None:
        return edition.sections
    found = edition.section(key)
    if found is None:
        known = ", ".join(section.key for section in edition.sections) or "none"
        raise NotFoundError(f"the edition of {edition.day.isoformat()} has no section {key}; it has: {known}")
    return (found,)


def _print_period(kind: str, day: date | None, brief: bool, as_json: bool) -> None:
    with opened(read_only=True) as library:
        period = _period(library, kind, day)
        marks = library.daily.marks([entry.paper.id for _, entry in period.entries], chosen_reader())
    if as_json:
        from broadsheet.cli.shapes import period_shape

        write_json(period_shape(period, marks))
        return
    from broadsheet.cli.newspaper import period_lines

    click.echo("\n".join(period_lines(period, marks, brief=brief)))


def _period(library: Library, kind: str, day: date | None) -> Period:
    """The week or month of a day; without one, that of the newest edition."""
    days = library.daily.edition_days(chosen_reader())
    if day is None and not days:
        raise NotFoundError("there is no edition yet: `broadsheet today` prints the first one")
    return library.daily.period(kind, day or days[0], chosen_reader())


@click.command(no_args_is_help=True, short_help="Say what you think of papers.")
@click.argument("action", type=click.Choice(MARKS))
@click.argument("papers", nargs=-1, required=True, metavar="PAPER...")
@click.option(
    "--because",
    type=interest,
    metavar="KIND:VALUE",
    help="With dismiss: what puts you off, which is muted from now on. KIND is keyword, author, area or venue.",
)
@reader_option
@json_option
@home_option
def mark(action: str, papers: tuple[str, ...], because: Interest | None, as_json: bool) -> int:
    """Say what you think of PAPERs: open, save, like, or dismiss ("not for me"). The paper learns from it.

    PAPER is a number of this library, or an identifier in any form. `broadsheet undo` takes the last one back.

    \b
    Examples:
      broadsheet mark save 12 arXiv:2506.18020
      broadsheet mark dismiss 15 --because keyword:blockchain
    """
    if because and action != "dismiss":
        raise click.UsageError("--because goes with dismiss alone: it mutes what it names.")
    done: list[tuple[Event, Paper]] = []
    failed = 0
    with opened() as library:
        stood = _stood(library)
        for name in papers:
            try:
                done.append(_act(library, action, name, because, stood))
            except (InputError, NotFoundError) as error:
                failed += 1
                click.echo(f"broadsheet: {safe(str(error))}", err=True)
    if as_json:
        from broadsheet.cli.shapes import event_shape

        write_json([event_shape(event) for event, _ in done])
    else:
        _say_done(done, because)
    return 1 if failed else 0


def _stood(library: Library) -> dict[PaperId, date]:
    """In which of the newest editions each of their papers stood: that is where the reader saw it."""
    days = library.daily.edition_days(chosen_reader())[:LOOKED_BACK]
    editions = [library.daily.edition(day, chosen_reader()) for day in days]
    return {entry.paper.id: edition.day for edition in editions for entry in edition.entries}


def _act(
    library: Library, action: str, name: str, because: Interest | None, stood: Mapping[PaperId, date]
) -> tuple[Event, Paper]:
    from broadsheet.model.reading import Action

    paper = library.paper(paper_key(name))
    day = stood.get(paper.id)
    return library.daily.act(Action(action), paper.id, chosen_reader(), because=because, edition=day), paper


def _say_done(done: Iterable[tuple[Event, Paper]], because: Interest | None) -> None:
    from broadsheet.cli.render import plain_text

    for event, paper in done:
        click.echo(f"{_PAST[event.action]} paper {paper.id}: {plain_text(paper.title)}")
    if because and done:
        click.echo(safe(f"Muted {because}. Back with: broadsheet undo"))


@click.command(short_help="Take back the last thing you said of a paper.")
@click.option(
    "--event", type=Number(1), help="The event to take back, by its number in `memory export`; else the last."
)
@reader_option
@json_option
@home_option
def undo(event: int | None, as_json: bool) -> None:
    """Take back the last thing you said of a paper, and the mute that came with it. Again takes back the one before.

    \b
    Example:
      broadsheet undo
    """
    with opened() as library:
        undone = library.daily.undo(chosen_reader(), event=event)
        told = _told(library, undone) if undone else "There is nothing to take back."
    if as_json:
        from broadsheet.cli.shapes import event_shape

        write_json(event_shape(undone) if undone else None)
    else:
        click.echo(told)


def _told(library: Library, undone: Event) -> str:
    """What an undo took back, in words."""
    from broadsheet.cli.newspaper import written_day
    from broadsheet.cli.render import plain_text
    from broadsheet.feed.marks import together

    events = library.daily.events(chosen_reader())
    before = next((each for each in events if each.id == undone.undoes), undone)
    when = f"of {written_day(before.moment.astimezone().date())}"
    if (many := len(together(events, undone))) > 1:
        again = "the undo of " if before.action == "undo" else ""
        return f"Taken back: {again}{many:,} examples that came together, {when}."
    if not before.paper:
        return f"Taken back: {_DOING[before.action]}, {when}."
    paper = library.paper(before.paper)
    unmuted = safe(f"\nMuted no longer: {before.because}") if before.because else ""
    return f"Taken back, {when}: {_DOING[before.action]} paper {paper.id}: {plain_text(paper.title)}{unmuted}"


@click.command(short_help="List the papers that you saved.")
@click.option("--limit", type=Number(1, 10_000), help="How many papers; else 100, or with --bibtex all of them.")
@click.option("--bibtex", is_flag=True, help="Print their BibTeX entries alone.")
@reader_option
@json_option
@home_option
def saved(limit: int | None, bibtex: bool, as_json: bool) -> None:
    """List the papers that you saved, newest first.

    \b
    Examples:
      broadsheet saved
      broadsheet saved --bibtex
    """
    if bibtex and as_json:
        raise click.UsageError("--bibtex and --json exclude each other.")
    with opened(read_only=True) as library:
        found = library.daily.saved(chosen_reader(), limit=limit or (ALL if bibtex else LISTED))
        entries = "".join(library.export("bibtex", ids=[paper.id for paper, _ in found])) if bibtex and found else ""
    if bibtex:
        click.echo(entries.rstrip("\n"))
    elif as_json:
        from broadsheet.cli.shapes import moment, paper_shape

        write_json([{"paper": paper_shape(paper), "saved": moment(event.moment)} for paper, event in found])
    else:
        from broadsheet.cli.newspaper import saved_lines

        click.echo("\n".join(saved_lines(found)) or "Nothing is saved yet. Save with: broadsheet mark save NUMBER")


COMMANDS = (today, mark, undo, saved)
