"""The templates of mail and print; everything put into them is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("broadsheet.mail"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters["begun"] = _begun
    return found


def _begun(text: str) -> str:
    """A line as a sentence begins: with a capital."""
    return text[:1].upper() + text[1:]


def rendered(template: str, **values: Any) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(**values).lstrip()
