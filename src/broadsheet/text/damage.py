"""Mathematics and characters that the source had already damaged before we saw them."""

from __future__ import annotations

import re

from .mathtext import hold_math

_NAMES = (
    "mathcal|mathbb|mathbf|mathrm|mathsf|mathfrak|mathscr|widetilde|widehat|textbf|textit|textrm|texttt|textsc|boldsymbol"
    "|operatorname|varepsilon|lfloor|rfloor|lceil|rceil|leqslant|geqslant|subseteq|maxleft|minleft|infty"
)
_ARGUMENT_COMMANDS = (
    "d?t?frac|sqrt|math(?:cal|bb|bf|rm|sf|frak|scr|it)|(?:wide)?(?:tilde|hat)|bar|overline|text(?:bf|it|rm|tt|sc)?|emph"
    "|boldsymbol|operatorname|begin|end|left|right|binom|vec|dot|underbrace|overset|underset|stackrel|bm|mathop"
)
_PATTERNS = (
    r"\ufffd",
    # UTF-8 read as Windows-1252 or Latin-1: "Ã©", "â€™", "Â°"
    r"Ã[\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â(?:€[\u0080-\u00bf™œž“”˜¢¦]?|ˆ|‰)|Â[\u00a0-\u00bf]|ï¿½",
    rf"(?<![\\A-Za-z])(?:{_NAMES})(?![a-z])",
    r"(?<!\\)\b(?:tilde|hat|bar) ?(?:\{|[A-Z]\b|Theta|Omega)|(?<=_)(?:infty)\b",
    r"(?<![\\A-Za-z])[A-Za-z]*[A-Za-z0-9)\]]\{[^{}]*\}?|[_^]\{[^{}]*\}?",
    rf"\\(?:{_ARGUMENT_COMMANDS})(?:[A-Z0-9]|[a-z]\b|\b|(?=enumerate|itemize|array|cases|equation))",
    r"\)right[)\]|}]|[a-z(]left[(\[]",
    r"(?<=\b[a-z] )(?:ge|le) (?=[\d-])",
)
_DAMAGE = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_STRAY_DOLLAR = re.compile(r"(?<!\\)\$")
_AMOUNT = re.compile(r"\$\s?[<>~≤≥∼+-]?\s?[.,]?\d")
_MARKS = ("\\", "{", "$", "\ufffd", "Ã", "â", "Â", "ï¿", "tilde", ")right", "left(", "left[", " ge ", " le ")
_SIGNS = (*_MARKS, *_NAMES.split("|"))


def damaged_spans(text: str) -> list[tuple[int, int]]:
    """Where ``text`` (without formulas: see ``mathtext.hold_math``) is damaged: whole words, in order, disjoint."""
    if not any(sign in text for sign in _SIGNS):
        return []
    found = [match.span() for match in _DAMAGE.finditer(text)]
    if "$" in text:
        found += [match.span() for match in _STRAY_DOLLAR.finditer(text) if not _is_money(text, match.start())]
    spans: list[tuple[int, int]] = []
    for first, last in sorted(found):
        start = text.rfind(" ", 0, first) + 1
        space = text.find(" ", max(last - 1, start))
        end = len(text) if space < 0 else space
        if spans and start <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def is_damaged(markup: str) -> bool:
    """Whether the source lost backslashes, braces, dollars or characters: ``mathcal{O}``, ``8{255}``, ``Ã©``."""
    text, _ = hold_math(markup)
    return bool(damaged_spans(text)) or "\ufffd" in markup


def _is_money(text: str, at: int) -> bool:
    """``$5``, ``US$``, ``5$``, ``5$CAD``, ``$$$`` (a price class), ``"$"`` alone: dollars that are meant."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if _AMOUNT.match(text, at) or before == "$" or after == "$":
        return True
    if before.isdigit():
        return True
    return before.isupper() and text[:at].rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")[-1:] in {"", " ", "(", "/", "-"}
