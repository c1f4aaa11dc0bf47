"""TeX mathematics to sanitised MathML."""

from __future__ import annotations

import re
from functools import lru_cache

from .symbols import AUTHOR_MACROS, MACRO_FAMILIES, listed

_LONGEST = 2000
_DEEPEST = 40

_ELEMENTS = listed(
    "math mrow mi mo mn mtext mspace ms msup msub msubsup msqrt mroot mfrac mover munder munderover mmultiscripts "
    "mprescripts mtable mtr mtd mstyle mpadded mphantom menclose merror semantics"
)
_ATTRIBUTES = {
    "*": listed(
        "mathvariant displaystyle scriptlevel stretchy fence form separator accent accentunder linethickness "
        "columnalign rowalign columnspacing rowspacing columnlines rowlines minsize maxsize width height depth lspace "
        "rspace voffset movablelimits largeop symmetric notation dir"
    ),
    "math": listed("xmlns display"),
}

_COMMAND = re.compile(r"\\([A-Za-z]+)")
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_WRAPPERS = re.compile(
    rf"\\(norm|abs|ceil|floor|inp|dotp|set|paren|pa|Paren|lprp|brac|inner)\s*{_GROUP}(?:\s*{_GROUP})?"
)
_BRACKETS = {
    "norm": (r"\|", r"\|"), "abs": ("|", "|"), "ceil": (r"\lceil ", r"\rceil "), "floor": (r"\lfloor ", r"\rfloor "),
    "inp": (r"\langle ", r"\rangle "), "dotp": (r"\langle ", r"\rangle "), "inner": (r"\langle ", r"\rangle "),
    "set": (r"\{", r"\}"), "brac": ("[", "]"),
}  # fmt: skip
_LINK = re.compile(r"\\href\s*\{[^{}]*\}")
_BARE_PERCENT = re.compile(r"(?<!\\)%")
_DEFINING = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|newenvironment|[egx]?def|let|DeclareMathOperator)(?![A-Za-z])"
)
_BIG_BRACE = re.compile(r"\\(?:[bB]igg?[lrm]?)\s*(?=\\[{}|])")
_UNKNOWN = re.compile(r"<mi>\\([A-Za-z]+)</mi>")
_BROKEN = re.compile(
    r"(?:sqrt|[dt]?frac|math(?:cal|bb|bf|rm|sf|frak)|(?:wide)?(?:tilde|hat)|bar|overline|text(?:bf|it|rm)|emph|left|right)"
    r"[A-Za-z]"
)


def formula_to_mathml(tex: str, *, display: bool) -> str | None:
    """Sanitised ``<math>`` for ``tex``, or None where it is too long, nested too deeply, defines macros (which could
    expand without end), or is not understood.
    """
    if len(tex) > _LONGEST or _depth(tex) > _DEEPEST or _DEFINING.search(tex):
        return None
    import nh3

    converted = _convert(_prepare(tex), display=display)
    if converted is None:
        return None
    broken = [name for name in _UNKNOWN.findall(converted) if _BROKEN.match(name)]
    if broken:  # \sqrtT: the source lost its braces
        return None
    named = _UNKNOWN.sub(r'<mi mathvariant="normal">\1</mi>', converted)
    attributes = {element: set(allowed) for element, allowed in _ATTRIBUTES.items()}
    clean = nh3.clean(named, tags=set(_ELEMENTS), attributes=attributes, link_rel=None)
    return clean if clean.startswith("<math") else None


def _convert(tex: str, *, display: bool) -> str | None:
    import latex2mathml.converter

    try:
        return latex2mathml.converter.convert(tex, display="block" if display else "inline")
    except Exception:  # whatever its parser stumbles over in foreign TeX, the reader sees the source instead
        return None


def _depth(tex: str) -> int:
    level = deepest = 0
    for sign in re.findall(r"\\left|\\right|\\begin|\\end|\\[\s\S]|[{}]", tex):
        level += (sign in {"{", "\\left", "\\begin"}) - (sign in {"}", "\\right", "\\end"})
        deepest = max(deepest, level)
    return deepest


def _prepare(tex: str) -> str:
    """``tex`` in the commands that latex2mathml knows; links lose their target."""
    tex = _LINK.sub("", tex)
    tex = _BARE_PERCENT.sub(r"\\%", tex)
    tex = _BIG_BRACE.sub("", tex)
    tex = _WRAPPERS.sub(_bracketed, tex)
    return _COMMAND.sub(_defined, tex)


def _bracketed(found: re.Match[str]) -> str:
    opening, closing = _BRACKETS.get(found[1], ("(", ")"))
    second = f", {found[3]}" if found[3] is not None and opening.startswith("\\langle") else ""
    rest = f"{{{found[3]}}}" if found[3] is not None and not second else ""
    return f"{opening}{found[2]}{second}{closing}{rest}"


def _defined(found: re.Match[str]) -> str:
    name = found[1]
    if name in AUTHOR_MACROS:
        meaning = AUTHOR_MACROS[name]
        following = found.string[found.end() : found.end() + 1]
        return f"{meaning} " if meaning[-1:].isalpha() and following.isalpha() else meaning
    if not _is_known(name):
        for pattern, style in MACRO_FAMILIES:
            if family := pattern.fullmatch(name):
                return f"\\{style}{{{next(group for group in family.groups() if group)}}}"
    return found[0]


@lru_cache(maxsize=4096)
def _is_known(name: str) -> bool:
    """Whether latex2mathml has a meaning for the command: it gives anything but the name, or asks for arguments."""
    converted = _convert(f"\\{name} x", display=False)
    return converted is None or f"\\{name}<" not in converted
