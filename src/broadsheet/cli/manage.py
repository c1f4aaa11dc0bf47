"""Commands that look after a library: status, doctor, config, export."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import chosen_home, home_option, json_option, opened, safe, write_json
from broadsheet.errors import BroadsheetError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.settings import Settings

HIDDEN = "***"
PASSWORD = re.compile(r"(://[^/@]*?:).*@")


@click.command(short_help="Say how much the library holds.")
@json_option
@home_option
def status(as_json: bool) -> None:
    """Say how much the library holds, and how much of it is indexed and has vectors.

    \b
    Example:
      broadsheet status
    """
    with opened(read_only=True) as library:
        found = library.status()
    if as_json:
        write_json(_plain(asdict(found)))
        return
    from broadsheet.cli.render import table

    to_go = f", {found.pending_changes:,} changes to go" if found.pending_changes else ""
    rows = [
        ("library", found.home),
        ("papers", f"{found.papers:,} from {found.records:,} records"),
        ("indexed", f"{found.indexed:,}{to_go}"),
        ("vectors", f"{found.encoded:,} of {found.papers:,} ({found.encoder})"),
        ("", found.encoder_note),
    ]
    for name, value in found.details.items():
        rows += _detail_rows(name.replace("_", " "), value)
    click.echo("\n".join(table(row for row in rows if any(row))))


def _detail_rows(name: str, value: Any) -> list[tuple[str, str]]:
    """One row, or one for each item of a mapping with the name before the first."""
    if not isinstance(value, dict):
        return [(name, f"{value:,}" if isinstance(value, int) else str(value))]
    widest = max((len(f"{count:,}") for count in value.values()), default=0)
    items = [f"{count:>{widest},}  {label}" for label, count in value.items()]
    return [(name if not at else "", item) for at, item in enumerate(items)]


@click.command(short_help="Check that everything is in order.")
@click.option("--rebuild-index", is_flag=True, help="Make the index again from the database first.")
@json_option
@home_option
def doctor(rebuild_index: bool, as_json: bool) -> int:
    """Check that everything is in order, and say what to do where it is not.

    Looks at the folder, the database, the index, the vectors, the encoder and the free disk space. The exit status
    is 1 if a check failed.

    \b
    Examples:
      broadsheet doctor
      broadsheet doctor --rebuild-index
    """
    with opened(read_only=not rebuild_index) as library:
        if rebuild_index:
            _rebuild(library)
        checks = library.doctor()
    if as_json:
        write_json({"ok": all(check.ok for check in checks), "checks": [_plain(asdict(check)) for check in checks]})
    else:
        for check in checks:
            click.echo(safe(f"{'ok     ' if check.ok else 'FAILED '} {check.name}: {check.message}"))
    return 0 if all(check.ok for check in checks) else 1


def _rebuild(library: Library) -> None:
    from broadsheet.cli.progress import Progress

    with Progress("index", "papers") as progress:
        library.rebuild_index(lambda done: progress.update(done, None))


@click.command(short_help="Show every setting and where it came from.")
@click.option("--path", is_flag=True, help="Print where the settings file is, or would be, and nothing else.")
@json_option
@home_option
def config(path: bool, as_json: bool) -> None:
    """Show every setting, its value, and where that came from: default, file or environment.

    To change one, write `name = value` into the file that `--path` prints, or set the variable BROADSHEET_NAME.

    \b
    Examples:
      broadsheet config
      broadsheet config --path
    """
    from broadsheet.settings import CONFIG_NAME, load_settings

    settings = load_settings(chosen_home())
    file = settings.home / CONFIG_NAME
    if path:
        click.echo(str(file))
        return
    rows = [
        {"name": name, "value": _plain(_without_secrets(name, getattr(settings, name))), "from": origin}
        for name, origin in _origins(settings).items()
    ]
    if as_json:
        write_json({"file": str(file), "settings": rows})
        return
    from broadsheet.cli.render import table

    click.echo("\n".join(table((row["name"], f"{row['value']!r:<24} {row['from']}") for row in rows)))


@click.command(short_help="Write every record as its source gave it.")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--jsonl", is_flag=True, default=True, help="One JSON object a line; the only format, and the default.")
@home_option
def export(file: Path | None, jsonl: bool) -> None:
    """Write every record, as its source gave it, to FILE or to the standard output.

    \b
    Examples:
      broadsheet export --jsonl records.jsonl
      broadsheet export | head -1
    """
    with opened(read_only=True) as library:
        if file is None:
            for line in _lines(library.export_records()):
                click.echo(line, nl=False)
            return
        count = write_whole(file, _lines(library.export_records()))
    click.echo(f"{count:,} records written to {file}", err=True)


def _lines(records: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    return (json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n" for record in records)


def write_whole(file: Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` to ``file``, which is replaced only when all is written; returns how many there were."""
    count = 0
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as stream:
            for line in lines:
                stream.write(line)
                count += 1
        part.replace(file)
    except OSError as error:
        problem = f"{file}: cannot be written ({error.strerror}); choose a file in a folder that exists and has room"
        raise BroadsheetError(problem) from error
    finally:
        part.unlink(missing_ok=True)
    return count


def _origins(settings: Settings) -> dict[str, str]:
    """Where each setting's value came from. A variable that repeats what was set before it is not named."""
    from broadsheet.settings import CONFIG_NAME, load_settings, setting_names

    file = settings.home / CONFIG_NAME
    named = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    without_environment = load_settings(settings.home, environ={})
    origins = {"home": "--home" if chosen_home() else _home_origin(settings)}
    for name in setting_names():
        if getattr(settings, name) != getattr(without_environment, name):
            origins[name] = "environment"
        else:
            origins[name] = CONFIG_NAME if name in named else "default"
    return origins


def _home_origin(settings: Settings) -> str:
    from broadsheet.settings import default_home

    return "default" if settings.home == default_home().absolute() else "environment"


def _without_secrets(name: str, value: Any) -> Any:
    """A setting's value as it may be shown: no key, and no password in a database's address."""
    if name == "encoder_key" and value:
        return HIDDEN
    return PASSWORD.sub(rf"\1{HIDDEN}@", value) if name == "database" else value


def _plain(value: Any) -> Any:
    """Values as JSON has them: paths and days as text, tuples as lists."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


COMMANDS = (status, doctor, config, export)
