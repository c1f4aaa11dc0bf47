"""Makes parts of the pages ``cli``, ``api``, ``import`` and ``settings``: ``python -m broadsheet.cli.reference docs``.

A page keeps what is written by hand; only what lies between its two marker lines is made here, from the commands,
the routes and the settings themselves. A test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import click

from broadsheet.cli import command
from broadsheet.settings import CONFIG_NAME, PREFIX, Settings, describe

BEGIN = "<!-- made by `make docs`: change the code, not this -->"
END = "<!-- end of what is made -->"
WIDTH = 88


def commands_text() -> str:
    """The help of every command, each under a heading of its own."""
    return "\n".join(_sections("broadsheet", command, None))


def _sections(heading: str, described: click.Command, parent: click.Context | None) -> list[str]:
    """A command, and after a group all its commands."""
    parts = [_section(heading, described, parent)]
    if isinstance(described, click.Group):
        name = heading.rpartition(" ")[2]
        with click.Context(described, info_name=name, parent=parent, **described.context_settings) as context:
            for inner in described.list_commands(context):
                parts += _sections(f"{heading} {inner}", described.commands[inner], context)
    return parts


def _section(heading: str, described: click.Command, parent: click.Context | None) -> str:
    name = heading.rpartition(" ")[2]
    # With the settings that the program itself uses: click keeps the first help option that was made of a command.
    shared = described.context_settings
    context = click.Context(described, info_name=name, parent=parent, terminal_width=WIDTH, **shared)
    return f"## {heading}\n\n```text\n{described.get_help(context)}\n```\n"


def settings_text() -> str:
    """A table of every setting: its name, default, variable and meaning."""
    lines = [f"| In `{CONFIG_NAME}` | Default | Variable | Meaning |", "|---|---|---|---|"]
    bounds = {field.name: _bounds(field.metadata) for field in fields(Settings)}
    for name, default, meaning in describe():
        key = "" if name == "home" else f"`{name}`"
        lines.append(f"| {key} | {default} | `{PREFIX}{name.upper()}` | {meaning}{bounds[name]} |")
    return "\n".join(lines) + "\n"


def _bounds(metadata: Mapping[str, Any]) -> str:
    low, high = metadata.get("low"), metadata.get("high")
    return "" if low is None else f" From {low:,} to {high:,}."


def import_text() -> str:
    """The headings of tables that are known, the columns that are written, and the types of publication."""
    from broadsheet.sources.csvform import COLUMNS
    from broadsheet.sources.headings import DETAILS, FIELDS

    lines = ["| What | Headings |", "|---|---|"]
    lines += [f"| {name} | {known.replace('; ', ', ')} |" for name, known in FIELDS.items()]
    lines += ["", "Kept as details, and written again:", "", "| What | Headings |", "|---|---|"]
    lines += [f"| {name} | {known.replace('; ', ', ')} |" for name, known in DETAILS.items()]
    lines += ["", f"`broadsheet export` writes the columns {', '.join(f'`{name}`' for name in COLUMNS)}.", ""]
    return "\n".join(lines)


def api_text() -> str:
    """Every route with its parameters, and every shape that is taken or answered with its fields."""
    from broadsheet.library import Library
    from broadsheet.web import create_app

    schema = _spelled_out(create_app(cast("Library", None)).openapi())
    parts = [
        _route(method.upper(), path, operation)
        for path, item in schema["paths"].items()
        for method, operation in item.items()
    ]
    every = schema["components"]["schemas"]
    shapes = {name: shape for name, shape in every.items() if name.endswith(("Out", "In", "Body"))}
    parts += [_shape(name, shape) for name, shape in shapes.items()]
    return "\n".join(parts)


def _spelled_out(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema in which every list of words stands where it is referred to."""
    lists = {f"#/components/schemas/{name}": shape for name, shape in schema["components"]["schemas"].items()}
    lists = {name: shape for name, shape in lists.items() if "enum" in shape}

    def within(part: Any) -> Any:
        if isinstance(part, dict):
            return {**lists[part["$ref"]], **part, "$ref": None} if part.get("$ref") in lists else _each(part)
        return [within(item) for item in part] if isinstance(part, list) else part

    def _each(part: dict[str, Any]) -> dict[str, Any]:
        return {name: within(item) for name, item in part.items()}

    return _each(schema)


def _route(method: str, path: str, operation: Mapping[str, Any]) -> str:
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    lines = [f"## {method} {path}", "", operation["description"], ""]
    if "requestBody" in operation:
        kind, taken = next(iter(operation["requestBody"]["content"].items()))
        what = _type(taken["schema"]) if kind == "application/json" else f"a file, sent as `{kind}`"
        lines += [f"Takes {what}.", ""]
    lines += [f"Answers {_type(answer)}.", ""]
    parameters = operation.get("parameters", [])
    if parameters:
        lines += ["| Parameter | Kind | Meaning |", "|---|---|---|"]
    for parameter in parameters:
        meaning = parameter.get("description", "The paper's number or any identifier of it.")
        lines.append(f"| `{parameter['name']}` | {_type(parameter['schema'])} | {meaning} |")
    return "\n".join(lines) + ("\n" if parameters else "")


def _shape(name: str, shape: Mapping[str, Any]) -> str:
    lines = [f"## {name}", "", shape.get("description", ""), "", "| Field | Kind | Meaning |", "|---|---|---|"]
    for field, described in shape["properties"].items():
        lines.append(f"| `{field}` | {_type(described)} | {described.get('description', '')} |")
    return "\n".join(lines) + "\n"


def _type(schema: Mapping[str, Any]) -> str:
    """A JSON schema in a few words."""
    if schema.get("$ref"):
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if "additionalProperties" in schema:
        return f"object of {_type(schema['additionalProperties'])}"
    words = " or ".join(f"`{value}`" for value in schema["enum"]) if "enum" in schema else str(schema.get("type"))
    if "maximum" in schema:
        words += f" from {schema['minimum']:,} to {schema['maximum']:,}"
    if "default" in schema:
        words += f", else `{schema['default']}`"
    return words.replace("string", "text").replace("date", "day")


PAGES = {"api.md": api_text, "cli.md": commands_text, "import.md": import_text, "settings.md": settings_text}


def renewed(page: str, made: str) -> str:
    """``page`` with ``made`` between its marker lines. Raises ValueError for a page without them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{made}\n{END}{after}"


def renew(folder: Path) -> None:
    """Write the generated parts of the pages in ``folder`` again."""
    for name, make in PAGES.items():
        page = folder / name
        page.write_text(renewed(page.read_text("utf-8"), make()), "utf-8")


if __name__ == "__main__":
    renew(Path(sys.argv[1]))
