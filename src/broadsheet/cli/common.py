"""What the commands share: where the library is, how it is opened, and how JSON and text are written."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.model.reading import Interest

Command = TypeVar("Command", bound=Callable[..., Any])

_HOME = "broadsheet.home"
_READER = "broadsheet.reader"
MAX_DIGITS = 18  # of a signed 64-bit integer

_COLON = re.compile("[:\N{FULLWIDTH COLON}]")

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


def _remember_reader(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[_READER] = value


reader_option = click.option(
    "--reader",
    metavar="NAME",
    expose_value=False,
    callback=_remember_reader,
    help="Whose paper it is; else the setting reader.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class Number(click.IntRange):
    """A whole number, which help and errors call a number and not an "integer range"."""

    name = "number"


def chosen_home() -> Path | None:
    """The folder given by ``--home``, before or after the command's name."""
    home: Path | None = click.get_current_context().meta.get(_HOME)
    return home


def chosen_reader() -> str:
    """The name given by ``--reader``, before or after the command's name; empty is the default reader."""
    name: str = click.get_current_context().meta.get(_READER, "")
    return name


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


@contextmanager
def patience(text: str, seconds: float = 2.0) -> Iterator[None]:
    """Tell who watches a terminal what is being waited for, if it takes longer than ``seconds``."""
    timer = threading.Timer(seconds, click.echo, [text], {"err": True})
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def day(text: str) -> date:
    """The type of an option: a day such as 2026-11-30. Raises BadParameter, which says how one is written."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a day such as 2026-11-30") from None


def interest(text: str) -> Interest:
    """The type of an argument: what is followed or muted, as KIND:VALUE; the colon may be that of Chinese text.

    Raises BadParameter, which names the kinds there are.
    """
    from broadsheet.model.reading import Interest, InterestKind

    kinds = [each.value for each in InterestKind]
    kind, *value = (part.strip() for part in _COLON.split(text, maxsplit=1))
    if kind.lower() in kinds and any(value):
        return Interest(InterestKind(kind.lower()), value[0])
    known = f"write KIND:VALUE, where KIND is {', '.join(kinds[:-1])} or {kinds[-1]}"
    raise click.BadParameter(f"{text!r} does not say what it is; {known}, such as keyword:diffusion")


def paper_key(text: str) -> int | str:
    """A number of this library, or an identifier in any form."""
    numeric = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
    return int(text) if numeric else text


def safe(text: str) -> str:
    """Text without the characters that could act on a terminal."""
    return _UNSAFE.sub("", text)


def make_sure(question: str, yes: bool) -> None:
    """Ask, unless ``--yes`` said so. Raises Abort for no, UsageError where there is nobody to ask."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("this cannot be taken back; give --yes if it is meant.")
    click.confirm(safe(question), abort=True)


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
