"""Inline HTML and JATS tags in titles and abstracts, as markup."""

from __future__ import annotations

import re

from .symbols import listed

_STRONG = listed("b strong bold")
_CODE = listed("code tt kbd samp monospace")
_BREAKS = listed(
    "p br div title sec li ul ol list list-item h1 h2 h3 h4 h5 h6 tr td th table tbody label abstract blockquote hr "
    "section disp-formula break"
)
_DROPPED = listed(
    "i em italic cite dfn var span u s small big font a sc underline inline-formula tex-math tex alternatives ext-link "
    "uri xref named-content styled-content inline-graphic img sans-serif roman overline strike ins del mark abbr scp "
    "html body nobr wbr q sub sup inf subscript superscript"
)
_VOID = listed("br p hr li wbr img break")
_MATHML = re.compile(
    r"(?:mml:)?(?:math|mrow|mi|mn|mo|mtext|msub|msup|msubsup|mfrac|msqrt|mover|munder|munderover|mstyle|mspace|mfenced"
    r"|semantics|annotation(?:-xml)?)"
)

_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9:-]*)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+))*)\s*(/?)>"
)
_COMMENT = re.compile(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<\?[\w-]+[^<>]*\?>", re.S)
_SCRIPT_PAIR = re.compile(
    r"<(?:jats:)?(sub|sup|inf|subscript|superscript)(?:\s[^<>]*)?>([^<>]*)</(?:jats:)?\1\s*>", re.I
)
_STYLED = re.compile(
    r"<(?:jats:)?(i|em|italic|dfn|var|b|strong|bold|code|tt|monospace)(?:\s[^<>]*)?>"
    r"(\s*)((?:(?!</?(?:jats:)?\1[\s>]).){0,2000}?)(\s*)</(?:jats:)?\1\s*>",
    re.I | re.S,
)
_KNOWN = _STRONG | _CODE | _BREAKS | _DROPPED

_RAISED = str.maketrans("0123456789+-()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-()", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎")


def replace_tags(text: str) -> str:
    """``text`` with known tags as markdown marks or dropped, and scripts in Unicode; every other ``<`` stays."""
    text = _COMMENT.sub("", text)
    text = _SCRIPT_PAIR.sub(_script, text)
    text = _STYLED.sub(_styled, text)
    opened = {found[2].lower() for found in _TAG.finditer(text) if not found[1]}
    closed = {found[2].lower() for found in _TAG.finditer(text) if found[1]}
    paired = opened & closed

    def other(found: re.Match[str]) -> str:
        written = found[2].lower()
        name = written.removeprefix("jats:")
        is_tag = name != written or written in paired or found[3] or found[4] or name in _VOID
        if not is_tag:  # std::unique_ptr<S>: no element without its end
            return found[0]
        if name in _BREAKS:
            return " "
        return "" if name in _KNOWN or _MATHML.fullmatch(name) else found[0]

    return _TAG.sub(other, text)


def raised(text: str) -> str:
    """``text`` as a superscript: Unicode digits and signs where all have them, else ``^text``."""
    return text.translate(_RAISED) if all(ord(c) in _RAISED for c in text) else f"^{text}"


def lowered(text: str) -> str:
    """``text`` as a subscript: Unicode digits and signs where all have them, else ``_text``."""
    return text.translate(_LOWERED) if all(ord(c) in _LOWERED for c in text) else f"_{text}"


def _script(found: re.Match[str]) -> str:
    text = " ".join(found[2].split())
    if not text:
        return ""
    return raised(text) if found[1].lower().startswith(("sup", "superscript")) else lowered(text)


def _styled(found: re.Match[str]) -> str:
    """Marks hug the words, and the space goes outside of them (only where there was a word before or after it)."""
    name, before, inside, after = found[1].lower(), found[2], found[3], found[4]
    if not inside:
        return " " if before or after else ""
    mark = "`" if name in _CODE else "**" if name in _STRONG else "*"
    around = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    inside = _STYLED.sub(_styled, inside)
    if mark in inside or (mark == "*" and (around[0].isalnum() or around[1].isalnum()) and not (before or after)):
        return f"{before}{inside}{after}"
    return f"{' ' if before else ''}{mark}{inside}{mark}{' ' if after else ''}"
