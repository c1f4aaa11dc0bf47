"""Commands that write reviews to files and read them: export, import, replay."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click

from broadsheet.cli.common import home_option, json_option, opened, patience, safe, write_json
from broadsheet.cli.screen import screen_
from broadsheet.cli.screen_common import review_argument, shape
from broadsheet.errors import InputError
from broadsheet.model.screening import Label

FORMS = ("record", "ris", "bib", "csv", "tsv", "xlsx", "json")
LABELS = ("include", "exclude", "later")
_BY_SUFFIX = {
    ".jsonl": "record",
    ".ris": "ris",
    ".bib": "bib",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".json": "json",
}


@screen_.command("export", no_args_is_help=True, short_help="Write a review for other programs.")
@review_argument
@click.option(
    *("-o", "--output"), type=click.Path(dir_okay=False, path_type=Path), help="File to write; else standard output."
)
@click.option("--format", "form", type=click.Choice(FORMS), help="Else by the file's name; else record.")
@click.option("--label", type=click.Choice(LABELS), help="Only records that have this label in the end, repeats once.")
@home_option
def export(name: str, output: Path | None, form: str | None, label: str | None) -> None:
    """Write a review: as `record` with everything that happened, to replay or to import, or its records with labels.

    RIS and tables carry the labels as ASReview reads them.

    \b
    Examples:
      broadsheet screen export anxiety -o anxiety.jsonl
      broadsheet screen export anxiety -o included.ris --label include
    """
    from broadsheet.cli.manage import write_whole

    if form is None:
        form = "record" if output is None else _BY_SUFFIX.get(output.suffix.lower())
    if form is None:
        raise click.UsageError(f"{output}: its name does not say which format is meant; give --format.")
    with opened(read_only=True) as library:
        pieces = library.screening.export(name, form, only=Label(label) if label else None)
        if output is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        else:
            click.echo(f"{write_whole(output, pieces):,} bytes written to {output}", err=True)


@screen_.command("import", no_args_is_help=True, short_help="Take up an exported review.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--name", default="", help="Another name than the one it had.")
@json_option
@home_option
def import_(file: Path, name: str, as_json: bool) -> None:
    """Take up a review that `screen export` wrote, with its whole history.

    \b
    Example:
      broadsheet screen import anxiety.jsonl --name anxiety-2
    """
    with opened() as library, _open(file) as stream:
        review = library.screening.import_(stream, name)
    if as_json:
        write_json(shape(review))
    else:
        click.echo(safe(f"Took up the review {review.name}."))


@screen_.command("replay", no_args_is_help=True, short_help="Check an exported review.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--offers", is_flag=True, help="Rank again before every decision, too.")
@json_option
@home_option
def replay(file: Path, offers: bool, as_json: bool) -> int:
    """Make every statement of an exported review again from its events, and name what differs. Nothing is kept.

    The exit status is 1 if anything differs.

    \b
    Examples:
      broadsheet screen replay anxiety.jsonl
      broadsheet screen replay anxiety.jsonl --offers
    """
    with opened() as library, _open(file) as stream, patience("Replaying..."):
        found = library.screening.replay(stream, offers=offers)
    if as_json:
        write_json(shape(found))
    else:
        for difference in found.differences:
            click.echo(safe(difference))
        same = "all as they were" if not found.differences else f"{len(found.differences):,} differences"
        click.echo(f"{found.events:,} events and {found.statements:,} statements replayed: {same}.")
    return 1 if found.differences else 0


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); check its name and permissions") from error
