"""Commands that keep the library current: update, sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import chosen_home, home_option, json_option, opened, plain, safe, write_json
from broadsheet.errors import SettingsError

if TYPE_CHECKING:
    from broadsheet.model import SourceReport, SourceStatus

SHOWN_REFUSALS = 10
_HEAD = ("source", "new", "updated", "merged", "withdrawn", "refused", "state", "next run")


@click.command(short_help="Ask every source once for what is new.")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--encode", is_flag=True, help="Then make the vectors that are missing, as `broadsheet encode` does.")
@json_option
@home_option
def update(sources: tuple[str, ...], encode: bool, as_json: bool) -> int:
    """Ask every configured source once for what is new, or only the SOURCEs named.

    A source that fails does not stop the others; what it gave before is kept, and the next update goes on from there.
    The exit status is 1 only if nothing could be fetched from any of them.

    \b
    Examples:
      broadsheet update
      broadsheet update arxiv:cs.LG huggingface
    """
    from broadsheet.ingest.enriching import PREFIX
    from broadsheet.model import SourceState

    with opened() as library:
        reports = library.update(sources, on_source=lambda report: None if as_json else _say(report))
        if encode:
            library.encode(lambda done, total: None)
    if as_json:
        write_json([plain(asdict(report)) for report in reports])
    else:
        _print_reports(reports)
    of_sources = [report for report in reports if not report.name.startswith(PREFIX)]
    return 1 if all(report.state is SourceState.FAILED for report in of_sources) else 0


def _say(report: SourceReport) -> None:
    """One source is done; on the way, for who watches."""
    if report.message:
        click.echo(safe(f"{report.name}: {report.message}"), err=True)
    for refusal in report.refusals[:SHOWN_REFUSALS]:
        click.echo(safe(f"{report.name}: refused: {refusal}"), err=True)


def _print_reports(reports: Sequence[SourceReport]) -> None:
    from broadsheet.cli.render import columns

    rows = [
        (
            report.name,
            *(f"{count:,}" for count in (report.new, report.updated, report.merged, report.withdrawn, report.refused)),
            report.state.value,
            _local(report.due),
        )
        for report in reports
    ]
    for line in columns(_HEAD, rows, right=range(1, 6)):
        click.echo(safe(line))


def _local(moment: datetime | None) -> str:
    """A time on this machine's clock."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M") if moment else "-"


@click.group("sources", invoke_without_command=True, short_help="Show, add and remove sources.")
@json_option
@home_option
@click.pass_context
def sources_(context: click.Context, as_json: bool) -> None:
    """Show how each source stands: when it was asked, what is its newest paper, when it is asked next.

    \b
    Examples:
      broadsheet sources
      broadsheet sources add arxiv:cs.LG huggingface
      broadsheet sources kinds
    """
    if context.invoked_subcommand:
        return
    with opened() as library:
        found = library.sources()
    if as_json:
        write_json([plain(asdict(status)) for status in found])
    elif found:
        _print_statuses(found)
    else:
        click.echo("No source is configured. Add one: broadsheet sources add arxiv:cs.LG")


def _print_statuses(found: Sequence[SourceStatus]) -> None:
    from broadsheet.cli.render import columns

    now = datetime.now(UTC)
    rows = [
        (
            status.name,
            status.state.value,
            str(status.day or ""),
            status.newest,
            f"{status.records:,}",
            _ago(status.fetched, now),
            _local(status.due),
        )
        for status in found
    ]
    head = ("source", "state", "day", "newest", "records", "fetched", "next run")
    for line in columns(head, rows, right=(4,)):
        click.echo(safe(line))
    for status in found:
        if status.message:
            click.echo(safe(f"{status.name}: {status.message}"))


def _ago(moment: datetime | None, now: datetime) -> str:
    """How long ago, in the largest unit that tells enough."""
    if moment is None:
        return "never"
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 60:
        return f"{max(minutes, 0)} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // 1440} days ago"


@sources_.command("kinds", short_help="Say which kinds of source there are.")
def kinds_() -> None:
    """Say which kinds of source there are and how each is written.

    \b
    Example:
      broadsheet sources kinds
    """
    from broadsheet.cli.render import table
    from broadsheet.sources.catalogue import kinds

    for line in table(kinds().items()):
        click.echo(line)


@sources_.command("add", no_args_is_help=True, short_help="Add sources to the settings file.")
@click.argument("sources", nargs=-1, metavar="SOURCE...")
@home_option
def add(sources: tuple[str, ...]) -> None:
    """Add SOURCEs to the library's settings file; `broadsheet sources kinds` says how they are written.

    \b
    Examples:
      broadsheet sources add arxiv:cs.LG arxiv:cs.CL huggingface
      broadsheet sources add openreview:ICML.cc/2026/Conference
    """
    from broadsheet.library.updating import options_of
    from broadsheet.settings import load_settings
    from broadsheet.sources.catalogue import open_source

    options = options_of(load_settings(chosen_home()))
    # A wrong one is refused before anything is written.
    names = list(dict.fromkeys(open_source(name, options).name for name in sources))
    file, now = _edit(lambda before: [*before, *(name for name in names if name not in before)])
    click.echo(safe(_standing(file, now)))


@sources_.command("remove", no_args_is_help=True, short_help="Take sources out of the settings file.")
@click.argument("sources", nargs=-1, metavar="SOURCE...")
@home_option
def remove(sources: tuple[str, ...]) -> None:
    """Take SOURCEs out of the library's settings file. The papers that they gave stay.

    \b
    Example:
      broadsheet sources remove arxiv:cs.LG
    """

    def without(before: list[str]) -> list[str]:
        missing = [name for name in sources if name not in before]
        if missing:
            raise SettingsError(f"{missing[0]} is not among the sources: {', '.join(before) or 'there are none'}")
        return [name for name in before if name not in sources]

    file, now = _edit(without)
    click.echo(safe(_standing(file, now)))


def _standing(file: Path, names: Sequence[str]) -> str:
    count = "1 source" if len(names) == 1 else f"{len(names)} sources"
    return f"{count} in {file}" + (f": {', '.join(names)}" if names else "")


def _edit(change: Any) -> tuple[Path, list[str]]:
    from broadsheet.settings import edit_list

    return edit_list(chosen_home(), "sources", change)


COMMANDS = (update, sources_)
