"""Commands about a pool and what is known of it: sources, source, prior, repeats, twin, different, apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import Number, home_option, json_option, opened, safe, write_json
from broadsheet.cli.screen import screen_
from broadsheet.cli.screen_common import (
    KINDS,
    LABELS,
    chosen_screener,
    number_argument,
    review_argument,
    say_event,
    screener_option,
    shape,
)
from broadsheet.errors import BroadsheetError, InputError, NotFoundError

if TYPE_CHECKING:
    from broadsheet.library.screening import Screening
    from broadsheet.model.screening import PoolRecord, ReviewEvent

SHOWN = 10  # records that a key may mean


@screen_.command("sources", no_args_is_help=True, short_help="List where the records came from.")
@review_argument
@json_option
@home_option
def sources(name: str, as_json: bool) -> None:
    """List what was added to a review, file by file and search by search, with the names that reports print.

    \b
    Example:
      broadsheet screen sources anxiety
    """
    with opened(read_only=True) as library:
        found = library.screening.sources(name)
    if as_json:
        write_json(shape(found))
        return
    from broadsheet.cli.render import columns

    rows = [
        (str(one.number), safe(one.source), safe(one.name), one.kind, f"{one.entries:,}", f"{one.refused:,}")
        for one in found
    ]
    head = ("no.", "file or search", "name", "kind", "entries", "refused")
    click.echo("\n".join(columns(head, rows, right=(0, 4, 5))) if rows else "Nothing was added yet.")


@screen_.command("source", no_args_is_help=True, short_help="Name a source for reports.")
@review_argument
@click.argument("source")
@click.argument("called", required=False, default="", metavar="[NAME]")
@click.option("--kind", type=click.Choice(KINDS), help="What it is, for the PRISMA diagram.")
@screener_option
@json_option
@home_option
def source_(name: str, source: str, called: str, kind: str | None, as_json: bool) -> None:
    """Say what a SOURCE is called in the PRISMA diagram, or what it is. Sources of one name and kind count as one.

    SOURCE is the name of its file, the name that it has, or its number in `screen sources`.

    \b
    Examples:
      broadsheet screen source anxiety savedrecs.txt "Web of Science"
      broadsheet screen source anxiety 3 ClinicalTrials.gov --kind register
    """
    from broadsheet.model.screening import SourceKind

    if not (called or kind):
        raise click.UsageError("Give a NAME, or --kind, or both.")
    of = SourceKind(kind) if kind else None
    with opened() as library:
        event = library.screening.name_source(name, source, called, of, screener=chosen_screener())
    say_event(event, f"{source}: {', '.join(filter(None, (called, kind)))}", as_json)


@screen_.command("prior", no_args_is_help=True, short_help="Say what is known of records before screening.")
@review_argument
@click.argument("label", type=click.Choice(LABELS[:2]), required=False)
@click.argument("keys", nargs=-1, metavar="[RECORD]...")
@click.option("--include", "included", multiple=True, metavar="RECORD", help="Known to be relevant. Again for more.")
@click.option("--exclude", "excluded", multiple=True, metavar="RECORD", help="Known to be irrelevant. Again for more.")
@screener_option
@json_option
@home_option
def prior(  # noqa: PLR0917 - click passes the options by name
    name: str,
    label: str | None,
    keys: tuple[str, ...],
    included: tuple[str, ...],
    excluded: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say that RECORDs are known to be relevant, or not, before screening begins.

    A RECORD is named by its number, its DOI, PubMed or arXiv number, or words of its title. Where these are of several
    records, they are listed, and nothing is said of any.

    \b
    Examples:
      broadsheet screen prior anxiety include 12 15
      broadsheet screen prior anxiety --include 10.1000/182 --include pmid:31415926
      broadsheet screen prior anxiety exclude "yoga for back pain"
    """
    from broadsheet.model.screening import Label

    wanted = [(Label.INCLUDE, key) for key in included] + [(Label.EXCLUDE, key) for key in excluded]
    wanted += [(Label(label), key) for key in keys] if label else []
    if not wanted:
        raise click.UsageError("Name at least one RECORD, after include or exclude.")
    made: list[ReviewEvent] = []
    with opened() as library:
        review = library.screening.review(name)
        for what, key in wanted:
            try:
                record = _meant(library.screening, review.name, key)
                made += library.screening.prior(review.name, [record.number], what, chosen_screener())
            except (InputError, NotFoundError) as error:
                click.echo(f"broadsheet: {safe(str(error))}", err=True)
                continue
            if not as_json:
                click.echo(safe(f"Known before screening, {what}: {record.number}. {record.title or record.abstract}"))
    if as_json:
        write_json(shape(made))
    return 1 if len(made) < len(wanted) else 0


def _meant(screening: Screening, name: str, key: str) -> PoolRecord:
    """The record that a key means. Raises NotFoundError for none, InputError for several."""
    found = screening.named(name, key, limit=SHOWN + 1)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(
            f"{key!r} is no record of {name}: give its number, DOI, PubMed number or words of its title"
        )
    lines = [f"    {record.number}. {record.title or record.abstract} ({_short(record)})" for record in found[:SHOWN]]
    more = "\n    and more" if len(found) > SHOWN else ""
    raise InputError(f"{key!r} may be any of these; give a number:\n" + "\n".join(lines) + more)


def _short(record: PoolRecord) -> str:
    author = record.authors[0].split()[-1] if record.authors else "no authors"
    return f"{author}{' et al.' if len(record.authors) > 1 else ''}, {record.year or 'no year'}"


@screen_.command("repeats", no_args_is_help=True, short_help="List records that may repeat each other.")
@review_argument
@click.option("--limit", type=Number(1, 10_000), default=20, show_default=True, help="How many pairs.")
@click.option("--offset", type=Number(0), default=0, help="Only those after so many.")
@json_option
@home_option
def repeats(name: str, limit: int, offset: int, as_json: bool) -> None:
    """List pairs of records that look like one but were not taken for it, the likest first.

    `screen twin` says that two are one, `screen different` that they are not; then they are not listed any more.

    \b
    Example:
      broadsheet screen repeats anxiety
    """
    with opened(read_only=True) as library:
        found = library.screening.possible_repeats(name, limit=limit, offset=offset)
    if as_json:
        write_json(shape(found))
        return
    for pair in found:
        for record in (pair.record, pair.other):
            click.echo(safe(f"{record.number:>7}. {record.title or record.abstract} ({_short(record)})"))
        click.echo(safe(f"         {pair.why}"))
    if not found:
        click.echo("No records look like repeats that were not found.")
    elif len(found) == limit:
        click.echo(f"For more: --offset {offset + limit}")


@screen_.command("twin", no_args_is_help=True, short_help="Say that a record repeats another.")
@review_argument
@number_argument
@click.argument("other", type=Number(1))
@screener_option
@json_option
@home_option
def twin(name: str, number: int, other: int, as_json: bool) -> None:
    """Say that a RECORD repeats OTHER: what was decided of either holds for both, and they count once.

    \b
    Example:
      broadsheet screen twin anxiety 31 12
    """
    with opened() as library:
        event = library.screening.twin(name, number, other, chosen_screener())
    say_event(event, f"Record {number} repeats record {other}.", as_json)


@screen_.command("different", no_args_is_help=True, short_help="Say that two records are not one.")
@review_argument
@number_argument
@click.argument("others", nargs=-1, required=True, type=Number(1), metavar="OTHER...")
@screener_option
@json_option
@home_option
def different(name: str, number: int, others: Sequence[int], as_json: bool) -> int:
    """Say that a RECORD is none of the OTHERs, however alike they look; no file that is added later makes them one.

    \b
    Example:
      broadsheet screen different anxiety 31 12
    """
    made: list[ReviewEvent] = []
    with opened() as library:
        for other in others:
            try:
                made.append(library.screening.different(name, number, other, chosen_screener()))
            except BroadsheetError as error:
                click.echo(f"broadsheet: {safe(str(error))}", err=True)
                continue
            if not as_json:
                click.echo(f"Record {number} is not record {other}.")
    if as_json:
        write_json(shape(made))
    return 1 if len(made) < len(others) else 0


@screen_.command("apart", no_args_is_help=True, short_help="Say that a record repeats no other.")
@review_argument
@number_argument
@screener_option
@json_option
@home_option
def apart(name: str, number: int, as_json: bool) -> None:
    """Say that a RECORD repeats none of those that it was taken to repeat.

    \b
    Example:
      broadsheet screen apart anxiety 31
    """
    with opened() as library:
        event = library.screening.apart(name, number, chosen_screener())
    say_event(event, f"Record {number} stands alone.", as_json)
