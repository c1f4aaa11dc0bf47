"""Text folded for comparing and searching: case, width, accents and Greek letters do not matter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from .plain import to_plain
from .symbols import GREEK_NAMES

_LETTERS = str.maketrans({
    "ł": "l", "ø": "o", "đ": "d", "ı": "i", "ȷ": "j", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h", "ŧ": "t",
    "ŋ": "n", "ĸ": "k", "ƒ": "f", "ə": "e", "ɵ": "o", "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "’": "'",
    "‘": "'", "ʼ": "'", "⁄": "/", "\u00ad": "",
})  # fmt: skip
_ACCENTS = re.compile("[\u0300-\u036f]+")
_GREEK = re.compile("[\u03b1-\u03c1\u03c3-\u03c9\u03c2]+")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """``text`` in lower case without accents, full width or typographic dashes; idempotent.

    One or two Greek letters in a row are symbols and become their English names as words (``β-VAE`` → ``beta-vae``);
    longer runs are Greek words and stay. Chinese, Japanese and Korean stay as they are (NFKC apart).
    """
    if text.isascii():
        return text.lower()
    return name_greek(fold_letters(text))


def fold_letters(text: str) -> str:
    """``fold`` without the names of Greek letters: what does not depend on neighbours."""
    return _NOT_ASCII.sub(_fold_run, text.casefold())


def _fold_run(found: re.Match[str]) -> str:
    folded = unicodedata.normalize("NFKC", found[0]).casefold()
    folded = _ACCENTS.sub("", unicodedata.normalize("NFD", folded)).translate(_LETTERS)
    return unicodedata.normalize("NFKC", folded)


def name_greek(folded: str) -> str:
    """Symbols among Greek letters spelled out, set off from letters and digits beside them by a space."""
    pieces: list[str] = []
    at = 0
    for start, end, name in greek_symbols(folded):
        pieces += [folded[at:start], name]
        at = end
    return "".join([*pieces, folded[at:]])


def greek_symbols(folded: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and spelled name (spaces included where needed) of each Greek letter that is a symbol."""
    for run in _GREEK.finditer(folded):
        if len(run[0]) > 2:
            continue
        for at in range(run.start(), run.end()):
            lead = " " if at > 0 and _joins(folded[at - 1]) else ""
            tail = " " if at + 1 == run.end() and _joins(folded[at + 1 : at + 2]) else ""
            yield at, at + 1, f"{lead}{GREEK_NAMES['σ' if folded[at] == 'ς' else folded[at]]}{tail}"


def _joins(char: str) -> bool:
    return char.isalnum() or (char != "" and unicodedata.category(char)[0] == "M")


def title_fingerprint(title: str) -> str:
    """The folded letters and digits of a title (markup), for identity; "" where there are none or the title is damaged.

    An empty fingerprint says nothing: never match on it.
    """
    if "\ufffd" in title:
        return ""
    return _NOT_ALPHANUMERIC.sub("", fold(to_plain(title)))
