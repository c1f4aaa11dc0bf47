"""Mathematics where there is no MathML: in mail as Unicode text, in print as text with raised and lowered parts.

Markup becomes one line of plain text with marks round scripts: characters of Unicode's private use area, which are
taken out of the markup first. The line may be cut; then it is shown as text or as HTML. Pure functions.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from broadsheet.text.emphasis import strip_emphasis
from broadsheet.text.mathtext import hold_math, release_math
from broadsheet.text.plain import formula_to_plain

_UP, _DOWN, _END = "\ue000", "\ue001", "\ue002"
_MARKS = re.compile(f"[{_UP}{_DOWN}{_END}]")
_SCRIPT = re.compile(r"([\^_])(\([^()^_]*\)|-?[^\W_]+(?:[./][^\W_]+)*[′*]?|[∞∗⋆*+†⊤])")
_MARKED = re.compile(f"([{_UP}{_DOWN}])([^{_UP}{_DOWN}{_END}]*){_END}")
_RAISED = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
_LOWERED = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def marked_line(markup: str) -> str:
    """One line of plain text with marks round the scripts of formulas."""
    text, held = hold_math(_MARKS.sub("", markup))
    formulas = [_SCRIPT.sub(_mark, formula_to_plain(tex)) for _, tex in held]
    return " ".join(release_math(strip_emphasis(text.replace("\\$", "$")), formulas).split())


def _mark(found: re.Match[str]) -> str:
    inner = found[2][1:-1] if found[2].startswith("(") else found[2]
    return f"{_UP if found[1] == '^' else _DOWN}{inner}{_END}"


def as_text(marked: str) -> str:
    """Scripts as Unicode has them (``n²``), else as TeX has them (``x_i``, ``n^(a/b)``)."""
    return _MARKS.sub("", _MARKED.sub(_unmarked, marked))


def _unmarked(found: re.Match[str]) -> str:
    table = _RAISED if found[1] == _UP else _LOWERED
    inner = found[2]
    if inner and all(sign in table for sign in inner):
        return "".join(table[sign] for sign in inner)
    sign = "^" if found[1] == _UP else "_"
    return f"{sign}{inner}" if re.fullmatch(r"-?\w+|\W", inner) else f"{sign}({inner})"


def as_html(marked: str) -> Markup:
    """Escaped text with ``sup`` and ``sub``; a mark whose other end was cut off is left out."""
    tagged = str(escape(marked))
    for sign, tag in ((_UP, "sup"), (_DOWN, "sub")):
        tagged = re.sub(f"{sign}([^{_UP}{_DOWN}{_END}]*){_END}", rf"<{tag}>\1</{tag}>", tagged)
    return Markup(_MARKS.sub("", tagged))
