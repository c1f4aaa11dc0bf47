"""What the commands of systematic reviews share: who screens, which stage, and their values as JSON."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from broadsheet.model.screening import Stage

_SCREENER = "broadsheet.screener"
LABELS = ("include", "exclude", "later")
STAGES = ("abstract", "full-text")
"""As ``model.screening`` has them: help must not load it."""


def _remember_screener(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[_SCREENER] = value


screener_option = click.option(
    "--screener",
    metavar="NAME",
    expose_value=False,
    callback=_remember_screener,
    help="Who screens; else the setting reader.",
)


def chosen_screener() -> str:
    """The name given by ``--screener``; empty is the default reader."""
    name: str = click.get_current_context().meta.get(_SCREENER, "")
    return name


def _stage(context: click.Context, parameter: click.Parameter, value: str) -> Stage:
    from broadsheet.model.screening import Stage

    return Stage(value)


stage_option = click.option(
    "--stage",
    type=click.Choice(STAGES),
    default=STAGES[0],
    show_default=True,
    callback=_stage,
    help="Title and abstract, or the full text of what was included by them.",
)

review_argument = click.argument("name", metavar="REVIEW")


def reasons_of(text: str) -> tuple[str, ...]:
    """Reason codes in a text, separated by commas of any script or by white space."""
    for comma in ",;\N{FULLWIDTH COMMA}\N{IDEOGRAPHIC COMMA}":
        text = text.replace(comma, " ")
    return tuple(dict.fromkeys(text.split()))


def shape(value: Any) -> Any:
    """A value of the model as JSON has it: the names of its fields, moments in ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: shape(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (datetime, date)):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (list, tuple)):
        return [shape(item) for item in value]
    return value
