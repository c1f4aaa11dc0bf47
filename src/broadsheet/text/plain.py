"""Markup as plain text: what is indexed, encoded and shown in snippets."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .emphasis import strip_emphasis
from .mathtext import hold_math, release_math
from .symbols import (
    AUTHOR_MACROS,
    FUNCTIONS,
    GREEK,
    MACRO_FAMILIES,
    MATH_ACCENTS,
    OPERATORS,
    PLAIN_SYMBOLS,
    RELATIONS,
    listed,
)

_DEEPEST = 40
_TOKEN = re.compile(r"\\([A-Za-z]+)\*?|\\([\s\S])|([{}^_])|(\s+)|([0-9]+(?:[.,][0-9]+)*)|([\s\S])")

_STYLES = listed(
    "mathcal mathbb mathbf mathrm mathsf mathit mathfrak mathscr mathtt mathds boldsymbol bm pmb textbf textit "
    "textrm texttt textsf textsc textnormal operatorname text mbox hbox emph rm bf it cal sf tt scriptstyle "
    "displaystyle textstyle mathop mathbin mathrel mathord phantom underline underbrace overbrace limits nolimits "
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle ensuremath label tag "
    "mathnormal boldmath bfseries"
)
_WORDS = listed("text mbox hbox textrm textit textbf texttt textsf textsc textnormal operatorname emph mathrm")
_SPACES = listed("quad qquad space hspace hfill")
_FRACTIONS = listed("frac dfrac tfrac nicefrac sfrac cfrac")
_BINOMIALS = listed("binom tbinom dbinom")
_IGNORED_ARGUMENT = listed("begin end href textcolor color stackrel overset underset label")
_SIGN_RELATIONS = frozenset("=<>≤≥≈") | frozenset(RELATIONS.values())
_RELATION = re.compile(rf"\s*([{re.escape(''.join(sorted(_SIGN_RELATIONS - {'|'})))}])\s*")
_TIGHT_OPEN = re.compile(r"([(\[⟨]) +")
_TIGHT_CLOSE = re.compile(r" +([)\],;⟩])")
_ATOM = re.compile(r"-?[\w.′∞\u0300-\u036f]*(?:[\^_]-?\w+)*")


def to_plain(markup: str) -> str:
    """One line of plain text: formulas in Unicode and words (``O(n log n)``), no markdown marks."""
    if "$" not in markup:
        return strip_emphasis(markup) if "*" in markup or "`" in markup or "](" in markup else markup
    text, held = hold_math(markup)
    text = strip_emphasis(text.replace("\\$", "$"))
    return " ".join(release_math(text, [formula_to_plain(tex) for _, tex in held]).split())


@lru_cache(maxsize=4096)
def formula_to_plain(tex: str) -> str:
    """TeX mathematics as one line of Unicode; unknown commands become their names."""
    tokens = _TOKEN.findall(tex)
    plain = _tidy(_Reader(tokens).sequence(0))
    return unicodedata.normalize("NFC", plain)


def _tidy(text: str) -> str:
    text = _RELATION.sub(r" \1 ", text)
    text = re.sub(r"([<>]) ([=])", r"\1\2", text)
    text = _TIGHT_OPEN.sub(r"\1", text)
    text = _TIGHT_CLOSE.sub(r"\1", text)
    return " ".join(text.split())


def _grouped(text: str) -> str:
    """In brackets unless it is one atom or bracketed already."""
    text = _tidy(text)
    bracketed = text.startswith("(") and text.endswith(")") and text.count("(") == 1
    return text if bracketed or len(text) == 1 or _ATOM.fullmatch(text) else f"({text})"


def _macro(name: str) -> str:
    """A command of the authors' own: what it most likely stands for, else its name."""
    if name in AUTHOR_MACROS:
        return formula_to_plain(AUTHOR_MACROS[name])
    for pattern, _ in MACRO_FAMILIES:
        if family := pattern.fullmatch(name):
            return next(letter for letter in family.groups() if letter)
    return name


class _Reader:
    """Reads the token list once, left to right."""

    def __init__(self, tokens: list[tuple[str, ...]]) -> None:
        self._tokens = tokens
        self._at = 0

    def sequence(self, depth: int) -> str:
        pieces: list[str] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token[2] == "}":
                if depth:
                    break
                continue
            pieces.append(self._piece(token, pieces, depth))
        return "".join(pieces)

    def _piece(self, token: tuple[str, ...], before: list[str], depth: int) -> str:
        name, sign, structure, space, number, char = token
        if name:
            return self._command(name, before, depth)
        if sign:
            return "‖" if sign == "|" else sign if sign in "{}%&#_$" else " "
        if structure == "{":
            return self._inner(depth)
        if structure in {"^", "_"}:
            script = _grouped(self._argument(depth))
            if script in {"∗", "⋆", "′"} or (structure == "^" and script in {"*", "∘"}):
                return "°" if script == "∘" else script
            return f"{structure}{script}" if script else ""
        return " " if space or char in {"~", "&"} else number or char

    def _inner(self, depth: int) -> str:
        if depth >= _DEEPEST:
            return ""
        return self.sequence(depth + 1)

    def _argument(self, depth: int) -> str:
        """The next group, command or character, as plain text."""
        self._skip_space()
        if self._at >= len(self._tokens) or depth >= _DEEPEST:
            return ""
        token = self._tokens[self._at]
        if token[2] == "}":
            return ""
        if len(token[4]) > 1:  # TeX takes one digit: x^10 is x to the 1, then 0
            self._tokens[self._at] = (*token[:4], token[4][1:], token[5])
            return token[4][0]
        self._at += 1
        return self._inner(depth) if token[2] == "{" else self._piece(token, [], depth + 1)

    def _option(self) -> str:
        """An optional argument in square brackets, as it stands."""
        if self._at >= len(self._tokens) or self._tokens[self._at][5] != "[":
            return ""
        self._at += 1
        pieces: list[str] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token[5] == "]":
                break
            pieces.append("".join(token))
        return "".join(pieces)

    def _skip_space(self) -> bool:
        """Goes past white space; whether there was any."""
        start = self._at
        while self._at < len(self._tokens) and self._tokens[self._at][3]:
            self._at += 1
        return self._at > start

    def _command(self, name: str, before: list[str], depth: int) -> str:
        spaced = self._skip_space()
        if name in GREEK or name in PLAIN_SYMBOLS:
            return GREEK.get(name) or PLAIN_SYMBOLS[name]
        if name in RELATIONS:
            return f" {RELATIONS[name]} " if name != "mid" else "|"
        if name in OPERATORS:
            wide = spaced and bool(before) and before[-1].endswith(" ")
            return OPERATORS[name] + (" " if wide else "")
        if name in FUNCTIONS:
            return self._function(name, before)
        return self._structure(name, spaced, depth)

    def _structure(self, name: str, spaced: bool, depth: int) -> str:  # noqa: PLR0911
        """A command with arguments, of style or space, or unknown."""
        if name in _FRACTIONS:
            return f"{_grouped(self._argument(depth))}/{_grouped(self._argument(depth))}"
        if name in _BINOMIALS:
            return f"C({self._argument(depth)}, {self._argument(depth)})"
        if name == "sqrt":
            index = self._option()
            return f"{'' if index == '2' else index}√{_grouped(self._argument(depth))}"
        if name in MATH_ACCENTS:
            body = _tidy(self._argument(depth))
            return body + MATH_ACCENTS[name] if len(body) == 1 and name != "vec" else body
        if name in _IGNORED_ARGUMENT:
            self._argument(depth)
            return " " if name in {"begin", "end"} else ""
        if name in _WORDS:
            words = self._argument(depth)
            return f" {words} " if len(words) > 1 and spaced else words
        if name in _STYLES:
            return ""
        return " " if name in _SPACES else _macro(name)

    def _function(self, name: str, before: list[str]) -> str:
        """A function's name, set off from a letter or number on either side."""
        last = before[-1][-1:] if before else ""
        lead = " " if last.isalnum() or last in {")", "]"} else ""
        following = self._tokens[self._at] if self._at < len(self._tokens) else ("",) * 6
        opens = following[5] in {"(", "[", ")", ",", "]"} or following[2] in {"^", "_", "}"} or not any(following)
        return f"{lead}{name}{'' if opens else ' '}"
