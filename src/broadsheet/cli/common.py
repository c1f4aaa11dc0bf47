"""What the commands share: where the library is, how it is opened, and how JSON and text are written."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from broadsheet.library import Library

Command = TypeVar("Command", bound=Callable[..., Any])

_HOME = "broadsheet.home"
MAX_DIGITS = 18  # of a signed 64-bit integer

# Control characters could move the cursor or change the terminal; bidirectional controls could hide what is shown.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _remember_home(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.meta[_HOME] = value


home_option = click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    expose_value=False,
    callback=_remember_home,
    help="Folder of the library; else BROADSHEET_HOME, else the platform's data folder.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class Number(click.IntRange):
    """A whole number, which help and errors call a number and not an "integer range"."""

    name = "number"


def chosen_home() -> Path | None:
    """The folder given by ``--home``, before or after the command's name."""
    home: Path | None = click.get_current_context().meta.get(_HOME)
    return home


@contextmanager
def opened(*, read_only: bool = False, changes: Mapping[str, Any] | None = None) -> Iterator[Library]:
    """The library of this command line, closed at the end; ``changes`` replace settings for this one run."""
    from dataclasses import replace

    from broadsheet.library import open_library
    from broadsheet.settings import load_settings

    settings = replace(load_settings(chosen_home()), **(changes or {}))
    with open_library(settings=settings, read_only=read_only, say=_say) as library:
        yield library


def _say(text: str) -> None:
    click.echo(safe(text), err=True)


def paper_key(text: str) -> int | str:
    """A number of this library, or an identifier in any form."""
    numeric = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
    return int(text) if numeric else text


def safe(text: str) -> str:
    """Text without the characters that could act on a terminal."""
    return _UNSAFE.sub("", text)


def write_json(value: Any) -> None:
    """Print one JSON document; letters outside ASCII are escaped where the output cannot carry them."""
    unicode_output = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not unicode_output, indent=2))


def plain(value: Any) -> Any:
    """Values as JSON has them: paths and days as text, tuples as lists."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
