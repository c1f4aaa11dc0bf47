"""What a reader can set, checked before it is kept. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from broadsheet.errors import InputError
from broadsheet.mail_address import mailbox

MOST_RISK = 0.5
MOST_EMPHASIS = 10.0
PARTS = (
    *("classifier", "meaning", "lately", "lasting", "notice", "popular", "typical", "dismissed"),
    *("author", "keyword", "venue", "area", "search"),
)
"""The parts of a score (``feed.desk.rank``), whose weights a reader can change."""
_NAME = re.compile(r"[\w.-]{1,40}")
_LONGEST = 500  # characters of an address
_HOOK = re.compile(r"https?://[^\s/\x00-\x1f\x7f]+(?:/[^\s\x00-\x1f\x7f]*)?")


def told_weights(parts: Mapping[str, float]) -> dict[str, float]:
    """Weights of the parts of a score as a person is told them: none of likeness is below zero.

    Where much is remembered, ``lasting`` counts against ``lately`` (a·lately − b·lasting). That pushes away nothing
    that a reader likes: it is (a − b)·lately + b·(lately − lasting), likeness and how much newer it is. So ``lately``
    is given as a − b, and b under ``newer``. Where the reader's emphasis makes b greater than a, both stay as they are.
    """
    lately, lasting = parts.get("lately", 0.0), parts.get("lasting", 0.0)
    if lasting >= 0 or lately + lasting < 0:
        return dict(parts)
    found: dict[str, float] = {}
    for name, weight in parts.items():
        if name == "lasting":
            found["newer"] = -weight
        else:
            found[name] = round(weight + lasting, 4) if name == "lately" else weight
    return found


def checked_options(
    risk: float | None = None,
    email: str | None = None,
    webhook: str | None = None,
    emphasis: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Fields of a Profile with the values that are given. Raises InputError, which names the field.

    ``risk`` in [0, 0.5]; ``emphasis`` by part of the score in [0, 10]; an empty address is none.
    """
    found: dict[str, Any] = {}
    if risk is not None:
        found["risk"] = _within("risk", risk, MOST_RISK)
    if email is not None:
        found["email"] = email.strip()
        if found["email"]:
            mailbox(email, "e-mail address")
    if webhook is not None:
        found["webhook"] = _webhook(webhook.strip())
    if emphasis is not None:
        found["emphasis"] = tuple(
            (_part(part), _within(f"emphasis of {part}", value, MOST_EMPHASIS))
            for part, value in sorted(emphasis.items())
        )
    return found


def composed_name(name: str) -> str:
    """A reader's name with its accents as one character each, however it was typed."""
    return unicodedata.normalize("NFC", name.strip())


def checked_name(name: str) -> str:
    """A name that a new reader can have. Raises InputError."""
    shown = composed_name(name)
    if not _NAME.fullmatch(shown) or not any(map(str.isalnum, shown)):
        raise InputError(
            f"{name!r} cannot be a reader's name; use up to 40 letters, digits, dots, hyphens, underscores"
        )
    return shown


def _within(what: str, value: float, most: float) -> float:
    # Written so that not-a-number fails too.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise InputError(f"{what} must be a number from 0 to {most:g}, not {value!r}")
    return float(value)


def _part(name: str) -> str:
    if name not in PARTS:
        raise InputError(f"emphasis of {name!r}: no part of the score; the parts are {', '.join(PARTS)}")
    return name


def _webhook(address: str) -> str:
    if address and (len(address) > _LONGEST or not _HOOK.fullmatch(address)):
        # A web hook's address is a secret, so it is not repeated.
        raise InputError(
            "webhook: this is no http(s) address; write it as https://hooks.example.org/x, or leave it empty"
        )
    return address
