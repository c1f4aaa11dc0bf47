"""Commands that send an edition, or print it."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import chosen_reader, day, home_option, opened, reader_option, safe
from broadsheet.cli.daily import sections_of
from broadsheet.cli.manage import write_whole
from broadsheet.errors import BroadsheetError, InputError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.mail.delivery import Post
    from broadsheet.model.reading import Edition, Reader

_DAY = "Day of the edition, such as 2026-11-30; else the newest, which is printed first if one is due."


@click.command(short_help="Send an edition by mail or web hook.")
@click.option("--channel", type=click.Choice(["mail", "webhook"]), help="Only by this; else by all the reader has.")
@click.option("--day", "chosen_day", type=day, metavar="DAY", help=_DAY)
@click.option("--check", is_flag=True, help="Only see whether it would get through; nothing is printed or sent.")
@click.option("--again", is_flag=True, help="Send also what was sent before.")
@click.option(
    "--to-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write what would be sent, a message or JSON, and send nothing; - is the output.",
)
@reader_option
@home_option
def send(channel: str | None, chosen_day: date | None, check: bool, again: bool, to_file: Path | None) -> int:
    """Send a reader's newest edition, once by each channel that the reader asked for.

    The mail server is asked first, step by step, so that nothing is made that cannot be sent. `broadsheet serve` sends
    by itself; this is for trying, and for who runs no server.

    \b
    Examples:
      broadsheet send --check
      broadsheet send --reader ada --channel mail
      broadsheet send --channel mail --to-file today.eml
    """
    from broadsheet.mail.delivery import Post

    with opened() as library:
        reader = library.daily.reader(chosen_reader())
        post = Post(library.settings)
        if to_file is not None:
            return _write(library, post, reader, chosen_day, channel=channel or "mail", file=to_file)
        return _send(library, post, reader, channel or "", chosen_day, check=check, again=again)


def _write(library: Library, post: Post, reader: Reader, of: date | None, *, channel: str, file: Path) -> int:
    from broadsheet.mail.delivery import Channel

    _put(file, post.made(reader, _edition(library, reader, of), Channel(channel)))
    return 0


def _send(
    library: Library, post: Post, reader: Reader, channel: str, of: date | None, *, check: bool, again: bool
) -> int:
    from broadsheet.mail.delivery import SENT, asked_channels

    failed = False
    ready = []
    for wanted in asked_channels(reader, channel):
        try:
            told = post.check(reader, wanted)
        except BroadsheetError as error:
            failed = True
            click.echo(f"broadsheet: {safe(str(error))}", err=True)
            continue
        ready.append(wanted)
        if check:
            click.echo(safe(f"{wanted}: {told}"))
    if check or not ready:
        return int(failed)
    edition = _edition(library, reader, of)
    for wanted in ready:
        if not again and library.daily.delivered(reader.name, edition.day, wanted):
            click.echo(f"The edition of {edition.day} was sent by {wanted} before; --again sends it once more.")
            continue
        if not again and not library.daily.claim_delivery(reader.name, edition.day, wanted):
            click.echo(f"The edition of {edition.day} is being sent by {wanted} by another program just now.")
            continue
        try:
            where = post.send(reader, edition, wanted)
        except BroadsheetError as error:
            failed = True
            library.daily.record_delivery(reader.name, edition.day, wanted, "failed", str(error))
            click.echo(f"broadsheet: {safe(str(error))}", err=True)
            continue
        library.daily.record_delivery(reader.name, edition.day, wanted, SENT)
        click.echo(safe(f"Sent the edition of {edition.day} by {wanted} to {where}."))
    return int(failed)


@click.command("print", short_help="Print an edition as HTML or PDF.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--format", "form", type=click.Choice(["html", "pdf"]), help="Else by the ending of FILE, else html.")
@click.option(
    "--size", type=click.Choice(["A4", "letter", "A3"]), default="A4", show_default=True, help="Of the paper."
)
@click.option("--day", "chosen_day", type=day, metavar="DAY", help=_DAY)
@click.option("--section", metavar="KEY", help="Only this section, by its key as `broadsheet today` shows it.")
@click.option("--front", is_flag=True, help="Only the front page: --section front.")
@reader_option
@home_option
def print_edition(  # noqa: PLR0917 - click passes the options by name
    file: Path | None, form: str | None, size: str, chosen_day: date | None, section: str | None, front: bool
) -> int:
    """Print a reader's edition, set like a newspaper, into FILE; - is the output, and without FILE a name is made.

    HTML is one file that needs nothing else. PDF needs `pip install "broadsheet[print]"`.

    \b
    Examples:
      broadsheet print today.html
      broadsheet print --size letter --day 2026-11-30 monday.pdf
      broadsheet print --front front.pdf
    """
    if front and section:
        raise click.UsageError("--front and --section exclude each other.")
    from broadsheet.mail.printing import to_html, to_pdf

    chosen = form or ("pdf" if file is not None and file.suffix.lower() == ".pdf" else "html")
    with opened() as library:
        reader = library.daily.reader(chosen_reader())
        edition = _edition(library, reader, chosen_day)
        if key := "front" if front else section:
            edition = replace(edition, sections=sections_of(edition, key))
        html = to_html(edition, reader=reader.name, site=library.settings.site_url, size=size)
        data = to_pdf(html) if chosen == "pdf" else html.encode()
        _put(file or Path(f"broadsheet-{edition.day}.{chosen}"), data)
    return 0


def _edition(library: Library, reader: Reader, of: date | None) -> Edition:
    """The edition of a day, else the newest. Raises NotFoundError, or InputError where none was printed yet."""
    if of is not None:
        return library.daily.edition(of, reader.name)
    today = library.daily.today(reader.name)
    if today.edition is None:
        raise InputError(today.note or f"there is no edition for {reader.name} yet")
    return today.edition


def _put(file: Path, data: bytes) -> None:
    if str(file) == "-":
        sys.stdout.buffer.write(data)
        return
    write_whole(file, [data])
    click.echo(f"Wrote {safe(str(file))}.", err=True)


COMMANDS = (send, print_edition)
