"""What the commands of systematic reviews share: who screens, which stage, and their values as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import Command, Number, safe, write_json

if TYPE_CHECKING:
    from broadsheet.model.screening import ReviewEvent, Stage

_SCREENER = "broadsheet.screener"
LABELS = ("include", "exclude", "later")
STAGES = ("abstract", "full-text")
KINDS = ("database", "register", "other")
RULES = (
    *("rank-advantage", "distribution-free", "hypergeometric", "two-phase", "irrelevant-in-a-row", "chao", "budget"),
)
"""As ``model.screening`` has them: help must not load it."""

RULE_OPTIONS = (
    click.option("--target", type=float, help="Share of the relevant records to find, between 0 and 1."),
    click.option("--confidence", type=float, help="Confidence of the statement, between 0 and 1."),
    click.option("--rule", help=f'When to stop: {", ".join(RULES)}, or several joined by "and" or by "or".'),
    click.option("--advantage", type=float, help="How many times better than random the ranking is assumed to be."),
    click.option("--floor", type=float, help="Share of the relevant records that must be sure without assumption."),
    click.option("--in-a-row", type=int, help="For irrelevant-in-a-row: how many; -1 reads to the end."),
    click.option("--budget", type=Number(0), help="For budget: how many records."),
)
MODEL_OPTIONS = (
    click.option("--description", help="What is looked for, in words: it ranks records before any is included."),
    click.option("--model", help="Composition of the ranking model; else the default."),
    click.option("--querier", help="How the model chooses: max-relevance, uncertainty, anchors, random or mixed."),
)


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options that several commands have, in the order in which help lists them."""

    def all_of_them(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return all_of_them


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
number_argument = click.argument("number", type=Number(1), metavar="RECORD")


def say_event(event: ReviewEvent | None, text: str, as_json: bool) -> None:
    """An event as JSON, or a sentence on it."""
    if as_json:
        write_json(shape(event))
    else:
        click.echo(safe(text))


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
