"""Commands that screen: start, encode, next, decide, undo, records."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import Number, home_option, json_option, opened, patience, safe, write_json
from broadsheet.cli.screen import screen_
from broadsheet.cli.screen_common import (
    LABELS,
    chosen_screener,
    number_argument,
    reasons_of,
    review_argument,
    say_event,
    screener_option,
    shape,
    stage_option,
)
from broadsheet.errors import InputError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.model.screening import Stage

WAIT = 120.0  # seconds for the first order: a record drawn at random instead would be a loss
MODES = ("auto", "ranked", "audit", "random")
FILTERS = ("include", "exclude", "later", "unread", "conflict", "prior", "repeat")
mode_option = click.option(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="What comes next: as the rule wants, the model's best, the audit's next, or one at random.",
)


def viewer(library: Library, name: str) -> str | None:
    """Whose view is shown: that of a screener of a blinded review; for all others, who coordinate, all there is."""
    plan, who = library.screening.review(name).plan, chosen_screener() or library.settings.reader
    return who if plan.sharing == "blinded" and who in plan.screeners else None


def acting(library: Library, name: str) -> str:
    """Who screens. Raises InputError where a blinded review cannot know: nobody was named, and the reader of the
    settings is none of its screeners.
    """
    who, review = chosen_screener(), library.screening.review(name)
    names = review.plan.screeners
    if who or review.plan.sharing != "blinded" or library.settings.reader in names:
        return who
    raise InputError(f"say who you are: --screener {names[0]} (screeners of {review.name}: {', '.join(names)})")


@screen_.command("start", no_args_is_help=True, short_help="Screen one record after another.")
@review_argument
@mode_option
@stage_option
@click.option("--vectors", is_flag=True, help="Make the vectors first that the model ranks better by.")
@screener_option
@home_option
def start(name: str, mode: str, stage: Stage, vectors: bool) -> None:
    """Screen one record after another with single keys: i include, e exclude, l later, u undo, ? all keys, q leave.

    Every decision is kept at once. From a pipe, each line is a key; reason codes may follow e, a text follows n.

    \b
    Examples:
      broadsheet screen start anxiety
      broadsheet screen start anxiety --stage full-text --screener ada
    """
    from broadsheet.cli.screen_session import Session, keys

    with opened() as library:
        review, who = library.screening.review(name), acting(library, name)
        library.screening.be_patient(WAIT)
        if vectors:
            _encode(library, name)
        if sys.stdin.isatty():
            library.screening.start_background()
        session = Session(library.screening, review, who, stage, mode)
        session.run(keys())
        overtaken = library.screening.superseded(name, who, stage=stage)
    click.echo(f"{session.decided:,} decisions are kept.")
    if overtaken:
        click.echo(safe(overtaken), err=True)


def _encode(library: Library, name: str) -> int:
    from broadsheet.cli.progress import Progress

    with Progress("vectors", "records") as progress:
        return library.screening.encode(name, progress.update)


@screen_.command("encode", no_args_is_help=True, short_help="Make the vectors that the model ranks better by.")
@review_argument
@home_option
def encode(name: str) -> None:
    """Make the vectors that a review's records lack, by which the model ranks better than by words alone.

    `screen start` at a terminal and `broadsheet serve` make them in the background. It can be stopped at any time and
    goes on where it was.

    \b
    Example:
      broadsheet screen encode anxiety
    """
    from broadsheet.cli.change import stopped

    with opened() as library:
        if library.vectors.wanted == "none":
            raise InputError("no encoder is set: the model goes by words alone (see `broadsheet config`)")
        try:
            made = _encode(library, name)
        except KeyboardInterrupt:
            raise stopped("What was made is kept") from None
    click.echo(f"{made:,} vectors made.")


@screen_.command("next", no_args_is_help=True, short_help="Show the record to read next.")
@review_argument
@mode_option
@stage_option
@screener_option
@json_option
@home_option
def next_(name: str, mode: str, stage: Stage, as_json: bool) -> int:
    """Show the record to read next. With --json its `offer` tells `decide` how the record was chosen.

    The exit status is 1 if nothing is left to read.

    \b
    Example:
      broadsheet screen next anxiety --json
    """
    with opened() as library, patience("Ranking the records..."):
        library.screening.be_patient(WAIT)
        offer = library.screening.next(name, acting(library, name), stage=stage, mode=mode)
    if as_json:
        from broadsheet.library import offer_token

        write_json({**shape(offer), "offer": offer_token(offer)} if offer else None)
    elif offer is None:
        click.echo("Nothing is left to read.")
    else:
        from broadsheet.cli.screen_render import offer_lines
        from broadsheet.library import offer_token

        click.echo("\n".join(offer_lines(offer)))
        click.echo(safe(f"Offer: {offer_token(offer)}"))
    return 0 if offer else 1


@screen_.command("decide", no_args_is_help=True, short_help="Decide of a record.")
@review_argument
@number_argument
@click.argument("label", type=click.Choice(LABELS))
@click.option("--reason", "reasons", multiple=True, help="Code of a criterion. May be given more than once.")
@click.option("--note", default="", help="A note to keep with the decision.")
@click.option("--offer", help="How the record was chosen, as `next` prints it; else it was picked by hand.")
@stage_option
@screener_option
@json_option
@home_option
def decide(  # noqa: PLR0917 - click passes the options by name
    name: str,
    number: int,
    label: str,
    reasons: tuple[str, ...],
    note: str,
    offer: str | None,
    stage: Stage,
    as_json: bool,
) -> None:
    """Decide of a record: include, exclude or later. A record may be decided again; the history keeps both.

    \b
    Examples:
      broadsheet screen decide anxiety 12 include
      broadsheet screen decide anxiety 15 exclude --reason POP --note "only children"
    """
    from broadsheet.model.screening import Label

    codes = reasons_of(" ".join(reasons))
    with opened() as library:
        event = library.screening.decide(
            name, number, Label(label), acting(library, name), stage=stage, reasons=codes, note=note, offer=offer
        )
        overtaken = library.screening.superseded(name, acting(library, name), stage=stage)
    say_event(event, f"{label}: record {number}", as_json)
    if overtaken:
        click.echo(safe(overtaken), err=True)


@screen_.command("undo", no_args_is_help=True, short_help="Take back what you did last.")
@review_argument
@click.option("--event", type=Number(1), help="The event to take back, by its number in `screen history`.")
@screener_option
@json_option
@home_option
def undo(name: str, event: int | None, as_json: bool) -> None:
    """Take back what you did last in a review; again takes back what you did before. The history keeps all of it.

    \b
    Examples:
      broadsheet screen undo anxiety
      broadsheet screen undo anxiety --event 57
    """
    with opened() as library:
        who = chosen_screener() if event else acting(library, name)
        done = library.screening.undo(name, who, event=event)
    about = f", record {done.record}" if done and done.record else ""
    say_event(done, f"Taken back: event {done.undoes}{about}." if done else "There is nothing to take back.", as_json)


@screen_.command("records", no_args_is_help=True, short_help="List the records of a review.")
@review_argument
@click.option("--label", type=click.Choice(FILTERS), default=None, help="Only those that stand so.")
@click.option("--query", default="", help="Only those with all of these words.")
@click.option("--limit", type=Number(1, 100_000), default=50, show_default=True, help="How many records.")
@click.option("--after", type=Number(0), default=0, help="Only those after this number.")
@stage_option
@screener_option
@json_option
@home_option
def records(  # noqa: PLR0917 - click passes the options by name
    name: str, label: str | None, query: str, limit: int, after: int, stage: Stage, as_json: bool
) -> None:
    """List the records of a review by number, with how they stand.

    \b
    Examples:
      broadsheet screen records anxiety --query "randomised exercise"
      broadsheet screen records anxiety --label include --json
    """
    with opened(read_only=True) as library:
        found = library.screening.records(
            *(name,),
            label=label or "",
            query=query,
            stage=stage,
            limit=limit,
            after=after,
            screener=viewer(library, name),
        )
    if as_json:
        write_json(shape(found))
        return
    from broadsheet.cli.screen_render import record_lines

    click.echo("\n".join(record_lines(found)) if found else "No record stands so.")
    if len(found) == limit:
        click.echo(f"For more: --after {found[-1].record.number}")
