"""Where mathematics begins and ends in markup: the one decision that every other module of this room relies on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Kind = Literal["text", "inline", "display"]
Part = tuple[Kind, str]

LONGEST_FORMULA = 4000
"""Characters. A longer stretch between dollars is text with stray dollars, not a formula."""

# Noncharacters of Unicode (U+FDD0…): never in cleaned text, so they can stand for a formula while text is worked on.
_HOLD_OPEN, _HOLD_CLOSE = "\ufdd0", "\ufdd1"
HELD = re.compile(f"{_HOLD_OPEN}(\\d+){_HOLD_CLOSE}")

_DOLLAR = re.compile(r"\\[\s\S]|\$")
_INLINE = re.compile(r"\$((?:\\[\s\S]|[^$\\])+)\$")
_DISPLAY = re.compile(r"\$\$((?:\\[\s\S]|[^$\\])+)\$\$")

_TEXISH = re.compile(r"\\[A-Za-z{},;!|]|[\^_]")
_COMMANDS = re.compile(r"\\[A-Za-z]+\*?(?:\s*\{[^{}]*\})*|\{[^{}]*\}")
_PROSE = re.compile(r"[A-Za-z][a-z]+(?:[ ,;.]+[A-Za-z]?[a-z]+){3}")
_PLAIN_WORDS = re.compile(r"[A-Za-z][a-z]+(?: [A-Za-z][a-z]+){2}")
_WORD_IN_AMOUNT = re.compile(r"(?!(?:mod|log|exp|min|max|sin|cos|poly)\b)[A-Za-z]{2,}[ .,;]|\s[A-Za-z]{3,}")
_PADDED = re.compile(r"[A-Za-z](?:\s*[-+=<>/,()|]\s*[A-Za-z0-9]+)*\)?")


def is_formula(content: str, following: str) -> bool:
    """Whether what stands between two dollars is a formula, given the character after the second one ("" at the end).

    Pandoc's ``tex_math_dollars`` rules (no space inside the dollars, no digit after the second), loosened where the
    content can only be TeX (``$ \\alpha $``, ``$\\sim$15``), tightened where it reads as prose or an amount of money.
    """
    body = content.strip()
    if not body or len(body) > LONGEST_FORMULA:
        return False
    texish = _TEXISH.search(body) is not None
    bare = _COMMANDS.sub(" ", body) if texish else body
    if _PROSE.search(bare) or (not texish and _PLAIN_WORDS.search(bare)):
        return False
    if body[0].isdigit() and _WORD_IN_AMOUNT.search(bare):
        return False
    if texish:
        return True
    if body != content and not _PADDED.fullmatch(body):
        return False
    return not (body[0].isdigit() and following.isdigit())


def split_math(markup: str) -> list[Part]:
    """The parts of ``markup`` in order: ``("text", …)``, ``("inline", tex)``, ``("display", tex)``.

    Escaped dollars (``\\$``) and amounts of money stay in the text. ``join_math`` gives ``markup`` back.
    """
    if "$" not in markup:
        return [("text", markup)] if markup else []
    parts: list[Part] = []
    start = at = 0
    while found := _DOLLAR.search(markup, at):
        at = found.end()
        if found[0] != "$":
            continue
        formula = _formula_at(markup, found.start())
        if formula is None:
            continue
        kind, tex, end = formula
        if found.start() > start:
            parts.append(("text", markup[start : found.start()]))
        parts.append((kind, tex))
        start = at = end
    if start < len(markup):
        parts.append(("text", markup[start:]))
    return parts


def _formula_at(markup: str, at: int) -> tuple[Kind, str, int] | None:
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (("display", _DISPLAY), ("inline", _INLINE))
    for kind, pattern in kinds:
        found = pattern.match(markup, at)
        if found and is_formula(found[1], markup[found.end() : found.end() + 1]):
            return kind, found[1], found.end()
    return None


def join_math(parts: Sequence[Part]) -> str:
    """The inverse of ``split_math``."""
    return "".join(text if kind == "text" else dollars(kind, text) for kind, text in parts)


def dollars(kind: Kind, tex: str) -> str:
    """A formula with its delimiters."""
    return f"$${tex}$$" if kind == "display" else f"${tex}$"


def hold_math(markup: str) -> tuple[str, list[Part]]:
    """The text with a short mark in the place of each formula, and the formulas; ``release_math`` puts them back."""
    text = markup.replace(_HOLD_OPEN, "").replace(_HOLD_CLOSE, "")
    if "$" not in text:
        return text, []
    held: list[Part] = []
    pieces: list[str] = []
    for kind, part in split_math(text):
        if kind == "text":
            pieces.append(part)
        else:
            pieces.append(f"{_HOLD_OPEN}{len(held)}{_HOLD_CLOSE}")
            held.append((kind, part))
    return "".join(pieces), held


def release_math(text: str, replacements: Sequence[str]) -> str:
    """``text`` from ``hold_math`` with each mark replaced by the formula of its number."""
    if not replacements:
        return text
    return HELD.sub(lambda found: replacements[int(found[1])], text)
