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

from broadsheet.cli.common import chosen_home, home_option, json_option, opened, plain, safe, write_json
from broadsheet.errors import BroadsheetError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.settings import Settings

HIDDEN = "***"
RECORDS = "records"
FORMS = (RECORDS, "bibtex", "ris", "csl", "csv", "jsonl", "markdown")  # as ``sources.writing`` has them
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
        days = {reader.name: library.daily.edition_days(reader.name) for reader in library.daily.readers()}
    newest = max((printed[0] for printed in days.values() if printed), default=None)
    daily = {"readers": len(days), "editions": sum(map(len, days.values())), "newest_edition": newest}
    if as_json:
        write_json({**plain(asdict(found)), "daily": plain(daily)})
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
    printed = f"{daily['editions']:,}, the newest of {newest}" if newest else "none yet"
    rows += [("readers", ", ".join(days)), ("editions", printed)] if days else []
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
        write_json({"ok": all(check.ok for check in checks), "checks": [plain(asdict(check)) for check in checks]})
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
        {"name": name, "value": plain(_without_secrets(name, getattr(settings, name))), "from": origin}
        for name, origin in _origins(settings).items()
    ]
    if as_json:
        write_json({"file": str(file), "settings": rows})
        return
    from broadsheet.cli.render import table

    click.echo("\n".join(table((row["name"], f"{row['value']!r:<24} {row['from']}") for row in rows)))


@click.command(short_help="Write papers for other programs.")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMS), help="Format; else what FILE is called, else records.")
@click.option(
    "--search",
    "query",
    default="",
    metavar="QUESTION",
    help="Only papers that a search finds: its best 1,000, or 10,000 where it has no free words.",
)
@home_option
def export(file: Path | None, form: str | None, query: str) -> None:
    """Write papers to FILE or to the standard output: as BibTeX, RIS, CSL-JSON, CSV, JSON Lines or Markdown.

    The format `records` writes every record as its source gave it, for a copy that `import` reads again without loss.

    \b
    Examples:
      broadsheet export papers.bib
      broadsheet export --format ris --search "venue:icml year:2024 diffusion" diffusion.ris
      broadsheet export --format records records.jsonl
    """
    chosen = form or _by_name(file, searched=bool(query))
    if chosen == RECORDS and query:
        raise click.UsageError("--search needs a --format other than records, such as bibtex.")
    with opened(read_only=not query) as library:
        if chosen == RECORDS:
            pieces: Iterable[bytes] = _lines(library.export_records())
        else:
            pieces = (piece.encode("utf-8", "replace") for piece in library.export(chosen, query=query))
        if file is None:
            for piece in pieces:
                click.echo(piece, nl=False)
            return
        size = write_whole(file, pieces)
    click.echo(f"{size:,} bytes written to {file}", err=True)


def _by_name(file: Path | None, *, searched: bool) -> str:
    """The format that FILE's name asks for; ``.jsonl`` is every record, but of a search its papers."""
    from broadsheet.sources.writing import ENDINGS

    ending = file.suffix.lower() if file else ""
    if ending not in ("", *ENDINGS):
        raise click.UsageError(f"{ending} says no format; give --format, or end the name in {', '.join(ENDINGS)}.")
    return RECORDS if not ending or (ending == ".jsonl" and not searched) else ENDINGS[ending]


def _lines(records: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    return (json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n" for record in records)


def write_whole(file: Path, lines: Iterable[bytes]) -> int:
    """Write ``lines`` to ``file``, which is replaced only when all is written; returns the bytes written."""
    size = 0
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as stream:
            for line in lines:
                size += stream.write(line)
        part.replace(file)
    except OSError as error:
        problem = f"{file}: cannot be written ({error.strerror}); choose a file in a folder that exists and has room"
        raise BroadsheetError(problem) from error
    finally:
        part.unlink(missing_ok=True)
    return size


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
    if name.endswith(("_key", "_password")) and value:
        return HIDDEN
    return PASSWORD.sub(rf"\1{HIDDEN}@", value) if name == "database" else value


COMMANDS = (status, doctor, config, export)
