"""Commands that change the library: import, encode, merge, split."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import Number, home_option, json_option, opened, paper_key, plain, safe, write_json
from broadsheet.errors import InputError

if TYPE_CHECKING:
    from broadsheet.model import ImportSummary

SHOWN_REFUSALS = 10


@click.command("import", no_args_is_help=True, short_help="Read papers from files into the library.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--list-merged", is_flag=True, help="Name every entry that joined a paper which was there already.")
@click.option("--sample", is_flag=True, help="Import the papers that come with broadsheet.")
@click.option("--if-empty", is_flag=True, help="Only where the library holds no paper yet.")
@json_option
@home_option
def import_(files: tuple[Path, ...], list_merged: bool, sample: bool, if_empty: bool, as_json: bool) -> int:
    """Read papers from files into the library; a FILE may be a folder, or - for the standard input.

    The format is told by the content: BibTeX, RIS, PubMed, EndNote, Web of Science, CSL-JSON, CSV and Excel tables,
    a Zotero library, JSON, ACL Anthology XML, or the copied text of a listing page. The same file may be imported
    again at any time: only what is new or changed is written. An import that was stopped goes on where it was.

    \b
    Examples:
      broadsheet import library.bib pubmed.nbib hits.csv
      broadsheet import --list-merged ~/Zotero
      broadsheet import --sample
    """
    if not (files or sample):
        raise click.UsageError("Name at least one FILE, or give --sample.")
    summary, unreadable = _import_all(files, sample, if_empty)
    if as_json:
        write_json({**plain(asdict(summary)), "unreadable": unreadable})
    elif summary.read:
        _print_summary(summary, list_merged)
    elif not unreadable:
        click.echo(
            "Nothing was imported: " + ("there are papers already." if if_empty else "all of it was read before.")
        )
    done = summary.new + summary.updated + summary.unchanged
    return 1 if not done and (summary.refused or unreadable) else 0


def _import_all(files: Sequence[Path], sample: bool, if_empty: bool) -> tuple[ImportSummary, list[str]]:
    """The sum over all files, and what was wrong with those that could not be read."""
    from broadsheet.cli.progress import Progress
    from broadsheet.model import ImportSummary

    total, unreadable = ImportSummary(), list[str]()
    try:
        with opened() as library:
            if if_empty and library.status().papers:
                return total, unreadable
            if sample:
                total = library.import_sample()
            for path in files:
                try:
                    with Progress(path.name, "B") as progress:
                        if str(path) == "-":
                            total += library.import_stream(sys.stdin.buffer, on_progress=progress.update)
                        else:
                            total += library.import_files([path], on_progress=progress.update)
                except InputError as error:
                    unreadable.append(str(error))
                    click.echo(f"broadsheet: {safe(str(error))}", err=True)
    except KeyboardInterrupt:
        raise stopped("What was read is kept") from None
    return total, unreadable


def stopped(kept: str) -> click.Abort:
    """Say, on a line after the terminal's ^C, that the work can be taken up again."""
    click.echo(f"\nStopped. {kept}; the same command goes on from there.", err=True)
    return click.Abort()


def _print_summary(summary: ImportSummary, list_merged: bool) -> None:
    from broadsheet.cli.progress import duration
    from broadsheet.cli.render import table

    names = ["read", "new", "updated", "unchanged", "merged", "refused"]
    names += ["withdrawn"] if summary.withdrawn else []
    for line in table((name, f"{getattr(summary, name):>9,}") for name in names):
        click.echo(line)
    click.echo(f"in {duration(summary.seconds)}")
    if list_merged:
        for joined in summary.joined:
            click.echo(safe(f"merged: {joined.record} is paper {joined.paper}: {joined.title}"))
        if summary.merged > len(summary.joined):
            click.echo(f"and {summary.merged - len(summary.joined):,} more merged")
    for refusal in summary.refusals[:SHOWN_REFUSALS]:
        click.echo(safe(f"refused: {refusal}"), err=True)
    more = summary.refused - min(len(summary.refusals), SHOWN_REFUSALS)
    if more > 0:
        click.echo(f"and {more:,} more refused", err=True)


@click.command(short_help="Make the vectors that search by meaning needs.")
@click.option("--workers", type=Number(1, 64), help="Processes; else the setting encode_workers.")
@home_option
def encode(workers: int | None) -> None:
    """Make the vectors that search by meaning needs, for all papers that lack one.

    `broadsheet serve` does the same in the background. It can be stopped at any time and goes on where it was.

    \b
    Example:
      broadsheet encode --workers 2
    """
    from broadsheet.cli.progress import Progress

    try:
        with opened() as library, Progress("encode", "papers") as progress:
            library.encode(progress.update, workers=workers)
            status = library.status()
    except KeyboardInterrupt:
        raise stopped("The vectors made so far are kept") from None
    note = f" {safe(status.encoder_note)}" if status.encoder_note else ""
    click.echo(f"{status.encoded:,} of {status.papers:,} papers have vectors ({status.encoder}).{note}")


@click.command(no_args_is_help=True, short_help="Say that two papers are the same.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--why", default="", help="A reason, kept with the decision.")
@home_option
def merge(first: str, second: str, why: str) -> None:
    """Say that A and B are the same paper. Later imports respect it.

    \b
    Example:
      broadsheet merge 12 arXiv:2506.18020 --why "preprint of the same paper"
    """
    with opened() as library:
        a, b = library.paper(paper_key(first)), library.paper(paper_key(second))
        if a.id == b.id:
            click.echo(f"{first} and {second} are one paper already: {a.id}")
            return
        library.merge(a.id, b.id, why=why)
        click.echo(f"Merged: both are paper {library.paper(a.id).id} now.")


@click.command(no_args_is_help=True, short_help="Say that a record is not of its paper.")
@click.argument("record", type=Number(1))
@click.option("--why", default="", help="A reason, kept with the decision.")
@home_option
def split(record: int, why: str) -> None:
    """Say that RECORD does not belong to the paper it was put with. Later imports respect it.

    RECORD is the number that `broadsheet show` prints beside each source.

    \b
    Example:
      broadsheet split 345 --why "another paper of the same title"
    """
    with opened() as library:
        paper = library.split(record, why=why)
    click.echo(f"Split: record {record} has a paper of its own now: {paper}")


COMMANDS = (import_, encode, merge, split)
