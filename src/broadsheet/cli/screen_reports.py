"""Commands that say where a review stands: progress, conflicts, resolve, agreement, prisma, stop, reopen, history."""

from __future__ import annotations

from pathlib import Path
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
    screener_option,
    shape,
    stage_option,
)
from broadsheet.cli.screen_desk import viewer

if TYPE_CHECKING:
    from broadsheet.model.screening import Stage


@screen_.command("progress", no_args_is_help=True, short_help="Say how far it is, and what was found for sure.")
@review_argument
@click.option("--curve", is_flag=True, help="With --json: the bound on recall after each record.")
@stage_option
@screener_option
@json_option
@home_option
def progress(name: str, curve: bool, stage: Stage, as_json: bool) -> None:
    """Say how far a review is, and what can be said of what was found: by the declared rule, and by others beside it.

    \b
    Examples:
      broadsheet screen progress anxiety
      broadsheet screen progress anxiety --json --curve
    """
    with opened(read_only=True) as library, patience("Weighing what was read..."):
        found = library.screening.progress(name, viewer(library, name), stage=stage, curve=curve)
    if as_json:
        write_json(shape(found))
        return
    from broadsheet.cli.screen_render import progress_lines

    click.echo("\n".join(progress_lines(found)))


@screen_.command("conflicts", no_args_is_help=True, short_help="List what screeners decided differently.")
@review_argument
@stage_option
@screener_option
@json_option
@home_option
def conflicts(name: str, stage: Stage, as_json: bool) -> None:
    """List the records that screeners decided differently, with what everyone said.

    \b
    Example:
      broadsheet screen conflicts anxiety
    """
    with opened(read_only=True) as library:
        found = library.screening.conflicts(name, stage=stage, screener=viewer(library, name))
    if as_json:
        write_json(shape(found))
        return
    from broadsheet.cli.screen_render import conflict_lines

    click.echo("\n".join(conflict_lines(found)) or "There is no conflict.")


@screen_.command("resolve", no_args_is_help=True, short_help="Decide a conflict for all.")
@review_argument
@number_argument
@click.argument("label", type=click.Choice(LABELS[:2]))
@click.option("--reason", "reasons", multiple=True, help="Code of a criterion. May be given more than once.")
@click.option("--note", default="", help="A note to keep with the decision.")
@stage_option
@screener_option
@json_option
@home_option
def resolve(  # noqa: PLR0917 - click passes the options by name
    name: str, number: int, label: str, reasons: tuple[str, ...], note: str, stage: Stage, as_json: bool
) -> None:
    """Decide for all of a record that screeners decided differently.

    \b
    Example:
      broadsheet screen resolve anxiety 12 include --note "agreed on Monday"
    """
    from broadsheet.model.screening import Label

    codes = reasons_of(" ".join(reasons))
    with opened() as library:
        event = library.screening.resolve(
            name, number, Label(label), chosen_screener(), stage=stage, reasons=codes, note=note
        )
    if as_json:
        write_json(shape(event))
    else:
        click.echo(f"{label}, for all: record {number}")


@screen_.command("agreement", no_args_is_help=True, short_help="Say how far screeners agree.")
@review_argument
@stage_option
@json_option
@home_option
def agreement(name: str, stage: Stage, as_json: bool) -> None:
    """Say how far each two screeners agree, with Cohen's kappa.

    \b
    Example:
      broadsheet screen agreement anxiety
    """
    with opened(read_only=True) as library:
        found = library.screening.agreement(name, stage=stage)
    if as_json:
        write_json(shape(found))
        return
    from broadsheet.cli.screen_render import agreement_lines

    click.echo("\n".join(agreement_lines(found)) if found else "No two screeners have decided yet.")


@screen_.command("prisma", no_args_is_help=True, short_help="Make the PRISMA 2020 flow diagram.")
@review_argument
@click.option(
    *("-o", "--output"),
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw it into this file, whose name ends in .svg or .png; else its numbers are printed.",
)
@json_option
@home_option
def prisma(name: str, output: Path | None, as_json: bool) -> None:
    """Print the numbers of the PRISMA 2020 flow diagram, or draw it.

    \b
    Examples:
      broadsheet screen prisma anxiety
      broadsheet screen prisma anxiety -o flow.svg
    """
    from broadsheet.cli.screen_render import prisma_lines

    if output and output.suffix.lower() not in (".svg", ".png"):
        raise click.UsageError(f"{output}: the name must end in .svg or .png.")
    with opened(read_only=True) as library:
        counts = library.screening.prisma(name)
        drawn = None
        if output:
            png = output.suffix.lower() == ".png"
            drawn = library.screening.prisma_png(name) if png else library.screening.prisma_svg(name).encode()
    if output and drawn:
        from broadsheet.cli.manage import write_whole

        click.echo(f"{write_whole(output, [drawn]):,} bytes written to {output}", err=True)
    if as_json:
        write_json(shape(counts))
    elif not output:
        click.echo("\n".join(prisma_lines(counts)))


@screen_.command("stop", no_args_is_help=True, short_help="End screening, and keep what can be said now.")
@review_argument
@stage_option
@screener_option
@json_option
@home_option
def stop(name: str, stage: Stage, as_json: bool) -> None:
    """End screening, and keep what can be said now of what was missed, whatever the declared rule says.

    \b
    Example:
      broadsheet screen stop anxiety
    """
    with opened() as library, patience("Weighing what was read..."):
        event = library.screening.stop(name, chosen_screener(), stage=stage)
        found = library.screening.progress(name, stage=stage, curve=False)
    if as_json:
        write_json({"event": shape(event), "report": shape(found.report), "methods": found.methods})
        return
    click.echo(safe(f"Stopped after {found.read:,} of {found.records:,} records. {found.report.sentence}"))
    if not found.report.stop:
        click.echo("The declared rule would go on reading; the statement says what holds now.")


@screen_.command("reopen", no_args_is_help=True, short_help="Take screening up again.")
@review_argument
@stage_option
@screener_option
@json_option
@home_option
def reopen(name: str, stage: Stage, as_json: bool) -> None:
    """Take screening up again after a stop; the statement that was kept stays in the history.

    \b
    Example:
      broadsheet screen reopen anxiety
    """
    with opened() as library:
        event = library.screening.reopen(name, chosen_screener(), stage=stage)
    if as_json:
        write_json(shape(event))
    else:
        click.echo(safe(f"Screening of {name} goes on."))


@screen_.command("history", no_args_is_help=True, short_help="Print everything that happened.")
@review_argument
@click.option("--record", "number", type=Number(1), help="Only what concerns this record and those it repeats.")
@screener_option
@json_option
@home_option
def history(name: str, number: int | None, as_json: bool) -> None:
    """Print everything that happened to a review, or to one record: when, by whom, what, and how it was chosen.

    \b
    Examples:
      broadsheet screen history anxiety
      broadsheet screen history anxiety --record 12
    """
    with opened(read_only=True) as library:
        found = library.screening.history(name, number, screener=viewer(library, name))
    if as_json:
        write_json(shape(found))
        return
    from broadsheet.cli.screen_render import event_line

    click.echo("\n".join(map(event_line, found)))
