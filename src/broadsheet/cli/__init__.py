"""The ``broadsheet`` command: each subcommand is one call of the library, and loads what it needs only then."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from broadsheet.cli import change, daily, interests, look, manage, readers, screening, send, serve, sources
from broadsheet.cli.common import home_option, safe
from broadsheet.errors import BroadsheetError

INTERRUPTED = 130  # 128 + SIGINT, as shells report it


SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Find and read": look.COMMANDS,
    "The daily paper": (*daily.COMMANDS, *interests.COMMANDS, *readers.COMMANDS, *send.COMMANDS),
    "Systematic reviews": screening.COMMANDS,
    "Papers in and out": (change.import_, *sources.COMMANDS, manage.export, change.merge, change.split),
    "The library": (*serve.COMMANDS, manage.status, manage.doctor, manage.config, change.encode),
}
"""Every command under the heading where the first help lists it."""


class _Sections(click.Group):
    """A group whose help lists its commands by topic."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list for each of ``SECTIONS``, all with the same margin."""
        widest = max(len(name) for name in self.commands)
        limit = formatter.width - 6 - widest
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                rows = [(each.name or "", each.get_short_help_str(limit)) for each in commands]
                formatter.write_dl([(name.ljust(widest), text) for name, text in rows])


def _show_version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"broadsheet {version('broadsheet')}")
    except PackageNotFoundError:
        click.echo("broadsheet, run from a source tree that was never installed")
    context.exit()


@click.group(cls=_Sections, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and leave.",
)
@home_option
def command() -> None:
    """Search research papers by idea, in English or Chinese, and read the new ones in a daily paper of your own.

    \b
    Begin with:
      broadsheet import --sample
      broadsheet search learning from human feedback
      broadsheet today
      broadsheet serve
    """


for _commands in SECTIONS.values():
    for _command in _commands:
        command.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit status: 0 done, 1 not done, 2 wrong usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a letter the terminal lacks is no reason to stop
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status. Foreseeable faults become one line on stderr."""
    try:
        status = command.main(args=arguments, prog_name="broadsheet", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return _closed_output()
    except BroadsheetError as error:
        return _fault(str(error))
    except OSError as error:
        return _fault(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fault(message: str) -> int:
    click.echo(f"broadsheet: {safe(message)}", err=True)
    return 1


def _closed_output() -> int:
    """The reader of our output (``head``, a pager) has had enough: be quiet, also when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
