"""Commands about readers and their memory: readers, memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import (
    chosen_reader,
    home_option,
    json_option,
    make_sure,
    opened,
    paper_key,
    reader_option,
    safe,
    write_json,
)
from broadsheet.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.model.reading import Reader
    from broadsheet.settings import Settings

name_argument = click.argument("name", required=False, default="")


@click.group("readers", invoke_without_command=True, short_help="Show, add and change who reads.")
@json_option
@home_option
@click.pass_context
def readers_(context: click.Context, as_json: bool) -> None:
    """Show who reads this library. Each reader has a paper, a memory and an address of their own.

    \b
    Examples:
      broadsheet readers
      broadsheet readers add ada
      broadsheet readers link ada
      broadsheet readers options ada --risk 0.2 --email ada@example.org
    """
    if not context.invoked_subcommand:
        _list_readers(as_json)


def _list_readers(as_json: bool) -> None:
    with opened() as library:
        library.daily.reader()  # the default reader is there for everybody, and made at first sight
        found = [(reader, library.daily.edition_days(reader.name)) for reader in library.daily.readers()]
    if as_json:
        from broadsheet.cli.shapes import moment, reader_shape

        write_json(
            [
                {**reader_shape(reader), "editions": len(days), "newest_edition": moment(days[0]) if days else None}
                for reader, days in found
            ]
        )
        return
    from broadsheet.cli.render import columns

    rows = [
        (
            safe(reader.name),
            str(len(reader.profile.follows)),
            str(len(reader.profile.mutes)),
            str(len(reader.profile.searches)),
            str(len(days)),
            days[0].isoformat() if days else "-",
            safe(reader.profile.email or "-"),
        )
        for reader, days in found
    ]
    head = ("reader", "follows", "mutes", "searches", "editions", "newest", "email")
    click.echo("\n".join(columns(head, rows, right=range(1, 5))))


@readers_.command("list", short_help="List the readers.")
@json_option
@home_option
def list_(as_json: bool) -> None:
    """List the readers, as `broadsheet readers` does.

    \b
    Example:
      broadsheet readers list --json
    """
    _list_readers(as_json)


@readers_.command("add", no_args_is_help=True, short_help="Add a reader.")
@click.argument("name")
@json_option
@home_option
def add(name: str, as_json: bool) -> None:
    """Add a reader, and print the reader's address.

    \b
    Example:
      broadsheet readers add ada
    """
    with opened() as library:
        reader = library.daily.add_reader(name)
        address = reader_address(library.settings, reader)
    if as_json:
        from broadsheet.cli.shapes import reader_shape

        write_json(reader_shape(reader) | {"address": address})
    else:
        click.echo(safe(f"Added {reader.name}, who reads at {address}"))


@readers_.command("remove", no_args_is_help=True, short_help="Remove a reader and all that is known of them.")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask whether this is meant.")
@home_option
def remove(name: str, yes: bool) -> None:
    """Remove a reader with the profile, the events, the memory and all editions. The papers stay.

    \b
    Example:
      broadsheet readers remove ada --yes
    """
    with opened() as library:
        reader = library.daily.reader(name)
        make_sure(f"Remove {reader.name} with all events and editions?", yes)
        library.daily.remove_reader(reader.name)
    click.echo(safe(f"Removed {reader.name}."))


@readers_.command("link", short_help="Print a reader's own address.")
@name_argument
@click.option("--renew", is_flag=True, help="Make a new address; the old one and all feeds and links under it end.")
@json_option
@home_option
def link(name: str, renew: bool, as_json: bool) -> None:
    """Print the address at which a reader reads: whoever has it, reads and acts as that reader.

    It begins with the setting site_url, else with the address at which `broadsheet serve` listens.

    \b
    Examples:
      broadsheet readers link
      broadsheet readers link ada --renew
    """
    with opened() as library:
        reader = library.daily.renew_secret(name) if renew else library.daily.reader(name)
        address = reader_address(library.settings, reader)
    if as_json:
        write_json({"name": reader.name, "address": address})
    else:
        click.echo(address)


def reader_address(settings: Settings, reader: Reader) -> str:
    """The reader's own address on the site."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    site = settings.site_url.rstrip("/") or f"http://{host}:{settings.port}"
    return f"{site}/r/{reader.secret}"


def _emphasis(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, float] | None:
    """``PART=FACTOR`` pairs; None where none is given."""
    found: dict[str, float] = {}
    for text in given:
        part, _, factor = text.partition("=")
        try:
            found[part.strip()] = float(factor)
        except ValueError:
            raise click.BadParameter(f"{text!r} is not PART=FACTOR, such as authors=2") from None
    return found or None


@readers_.command("options", short_help="Show or change a reader's options.")
@name_argument
@click.option("--risk", type=float, help="Share of entries, 0 to 0.5, that you are ready to reject for discoveries.")
@click.option("--email", help='Where `broadsheet send` mails the editions; "" for nowhere.')
@click.option("--webhook", help='Address that is told of editions; "" for none.')
@click.option(
    "--weight",
    "emphasis",
    multiple=True,
    callback=_emphasis,
    metavar="PART=FACTOR",
    help="Multiply the weight of a part of the score, named as in `broadsheet memory`; 1 is as learned, 0 is off.",
)
@json_option
@home_option
def options(  # noqa: PLR0917 - click passes the options by name
    name: str,
    risk: float | None,
    email: str | None,
    webhook: str | None,
    emphasis: dict[str, float] | None,
    as_json: bool,
) -> None:
    """Show a reader's options, or change those that are given.

    \b
    Examples:
      broadsheet readers options
      broadsheet readers options --risk 0.05
      broadsheet readers options ada --email ada@example.org
    """
    given = {"risk": risk, "email": email, "webhook": webhook, "emphasis": emphasis}
    changes: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
    with opened() as library:
        reader = library.daily.reader(name)
        if emphasis:  # beside those that were set before; 1 is as if it had never been set
            both = {**dict(reader.profile.emphasis), **emphasis}
            changes["emphasis"] = {part: factor for part, factor in both.items() if factor != 1}
        reader = library.daily.set_options(name, **changes) if changes else reader
    if as_json:
        from broadsheet.cli.shapes import reader_shape

        write_json(reader_shape(reader))
        return
    from broadsheet.cli.newspaper import option_lines

    click.echo("\n".join(option_lines(reader.profile)))


@click.group("memory", invoke_without_command=True, short_help="Show and correct what the paper thinks you like.")
@reader_option
@json_option
@home_option
@click.pass_context
def memory_(context: click.Context, as_json: bool) -> None:
    """Show what the paper thinks you like, and why: topics, words, authors, areas, remembered papers.

    \b
    Examples:
      broadsheet memory
      broadsheet memory forget 12
      broadsheet memory export memory.json
    """
    if not context.invoked_subcommand:
        _show_memory(as_json)


def _show_memory(as_json: bool) -> None:
    with opened(read_only=True) as library:
        view = library.daily.memory(chosen_reader())
    if as_json:
        from broadsheet.cli.shapes import memory_shape

        write_json(memory_shape(view))
        return
    from broadsheet.cli.newspaper import memory_lines

    click.echo("\n".join(memory_lines(view)))


@memory_.command("show", short_help="Show what is remembered.")
@reader_option
@json_option
@home_option
def show(as_json: bool) -> None:
    """Show what is remembered, as `broadsheet memory` does.

    \b
    Example:
      broadsheet memory show --json
    """
    _show_memory(as_json)


@memory_.command("export", short_help="Write a reader's profile, events and memory as JSON.")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@reader_option
@home_option
def export(file: Path | None) -> None:
    """Write a reader's profile, events and memory as JSON, to FILE or to the standard output.

    Papers are named by their identifiers and titles, so that `broadsheet memory import` of another library takes them.

    \b
    Example:
      broadsheet memory export memory.json
    """
    from broadsheet.cli.manage import write_whole

    with opened(read_only=True) as library:
        record = library.daily.export(chosen_reader())
    if file is None:
        write_json(record)
        return
    size = write_whole(file, [json.dumps(record, ensure_ascii=False, indent=1).encode() + b"\n"])
    click.echo(f"{size:,} bytes written to {file}", err=True)


@memory_.command("import", no_args_is_help=True, short_help="Take up an exported profile and memory.")
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False, path_type=Path))
@reader_option
@json_option
@home_option
def import_(file: Path, as_json: bool) -> None:
    """Take up what `broadsheet memory export` wrote, in this library or another; - is the standard input.

    \b
    Example:
      broadsheet memory import memory.json --reader ada
    """
    record = _read_json(file)
    with opened() as library:
        counts = library.daily.import_(record, chosen_reader())
    if as_json:
        write_json(counts)
        return
    from broadsheet.cli.render import table

    click.echo("\n".join(table((name.replace("_", " "), f"{count:,}") for name, count in counts.items())))


def _read_json(file: Path) -> Any:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return json.loads(content)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); check its name and permissions") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: is not JSON ({error}); give a file that `broadsheet memory export` wrote") from error


@memory_.command("forget", no_args_is_help=True, short_help="Forget all that was said about papers.")
@click.argument("papers", nargs=-1, required=True, metavar="PAPER...")
@reader_option
@json_option
@home_option
def forget(papers: tuple[str, ...], as_json: bool) -> int:
    """Forget all that was said about PAPERs, so that they no longer count in the ranking.

    \b
    Example:
      broadsheet memory forget 12 arXiv:2506.18020
    """
    events, failed = [], 0
    with opened() as library:
        for name in papers:
            try:
                events.append(library.daily.forget(paper_key(name), chosen_reader()))
            except (InputError, NotFoundError) as error:
                failed += 1
                click.echo(f"broadsheet: {safe(str(error))}", err=True)
        titles = _titles(library, [event.paper for event in events])
    if as_json:
        from broadsheet.cli.shapes import event_shape

        write_json([event_shape(event) for event in events])
    else:
        for paper, title in titles:
            click.echo(f"Forgotten: paper {paper}: {title}")
    return 1 if failed else 0


def _titles(library: Library, papers: list[int]) -> list[tuple[int, str]]:
    from broadsheet.cli.render import plain_text

    return [(paper, plain_text(library.paper(paper).title)) for paper in papers]


@memory_.command("reset", short_help="Forget everything that the paper learned.")
@reader_option
@json_option
@home_option
def reset(as_json: bool) -> None:
    """Forget everything that the paper learned of a reader. Follows, mutes, searches and editions stay.

    `broadsheet undo` takes it back.

    \b
    Example:
      broadsheet memory reset
    """
    with opened() as library:
        event = library.daily.reset(chosen_reader())
    if as_json:
        from broadsheet.cli.shapes import event_shape

        write_json(event_shape(event))
    else:
        click.echo(safe(f"Everything learned of {event.reader} is forgotten. Back with: broadsheet undo"))


COMMANDS = (memory_, readers_)
