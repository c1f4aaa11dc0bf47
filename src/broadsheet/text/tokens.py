"""Words, stems and exact forms, for the index and for the query alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from .folding import fold, fold_letters, greek_symbols

Place = tuple[int, int]

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}"
TOKEN_PATTERN = rf"[{_CJK}]|[[\p{{L}}\p{{N}}\p{{M}}]--[{_CJK}]]+"
"""For Tantivy's ``Tokenizer.regex``, on folded text. Without the set difference ``gen模型`` would be one token."""

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LONGEST_WORD = 64  # characters looked at on either side of a place
_ASCII_RUN = re.compile(r"[A-Za-z0-9]+")
_CHUNK = re.compile(r"[^\s!-,./:-@\[-`{-~]+")
_SINGLE = re.compile(
    "[\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00016fe2\U00016fe3\U00016ff0\U00016ff1\U00020000-\U0003ffff"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff6f\uff71-\uff9d\U0001aff0-\U0001b122"
    "\u1100-\u11ff\u302e\u302f\u3131-\u318e\uac00-\ud7a3\ud7b0-\ud7fb\ua960-\ua97c\uffa0-\uffdc]"
)


class Token(NamedTuple):
    """A folded word and where it stands in the original text: ``original[start:end]``."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Token]:
    """The words of ``text``: single CJK characters, or runs of letters, digits and marks; the same as Tantivy finds
    in ``fold(text)`` with ``TOKEN_PATTERN``. A character that folds to two words (``½``) gives two tokens.
    """
    text = _plainer(text)
    if text.isascii():
        # Made without the named tuple's own constructor, which takes half of the time.
        return [tuple.__new__(Token, (m[0].lower(), *m.span())) for m in _ASCII_RUN.finditer(text)]
    return list(_tokens(text))


def _plainer(text: str) -> str:
    """The same words at the same places: where all that is not ASCII is punctuation or signs, these become spaces."""
    if text.isascii():
        return text
    return _NOT_ASCII.sub(" ", text) if all(map(_is_no_word, set(_NOT_ASCII.findall(text)))) else text


@lru_cache(maxsize=4096)
def _is_no_word(character: str) -> bool:
    """Whether a character is a punctuation mark, space or sign that stands for no letter or digit (as ™ does)."""
    sign = unicodedata.category(character)[0] in "PZS" and not _SINGLE.match(character)  # radicals are signs
    return sign and not any(map(str.isalnum, fold(character)))


def words_that(text: str, wanted: Callable[[str], bool]) -> list[Token]:
    """The words whose folded text is ``wanted``, which is asked once for each different word."""
    text = _plainer(text)
    if not text.isascii():
        tokens = words(text)
        chosen = set(filter(wanted, {token.text for token in tokens}))
        return [token for token in tokens if token.text in chosen]
    lower = text.lower()
    chosen = set(filter(wanted, set(_ASCII_RUN.findall(lower))))
    return [Token(m[0], *m.span()) for m in _ASCII_RUN.finditer(lower) if m[0] in chosen] if chosen else []


def word_start(text: str, at: int) -> int:
    """Where the first word begins that begins at ``at`` or a little later; ``at`` itself where none does."""
    return next((start for start, _ in _places_near(text, at) if start >= at), at)


def word_around(text: str, at: int) -> int:
    """Where the word begins that ``at`` stands within, not at its begin or end; else ``at`` itself."""
    return next((start for start, end in _places_near(text, at) if start < at < end), at)


def _places_near(text: str, at: int) -> Iterator[Place]:
    base = max(0, at - _LONGEST_WORD)
    return ((base + t.start, base + t.end) for t in words(text[base : at + 2 * _LONGEST_WORD]))


def _tokens(text: str) -> Iterator[Token]:
    for chunk in _CHUNK.finditer(text):
        if chunk[0].isascii():
            for run in _ASCII_RUN.finditer(chunk[0]):
                yield Token(run[0].lower(), chunk.start() + run.start(), chunk.start() + run.end())
        else:
            yield from _folded_tokens(*_spelled_with_places(*_fold_with_places(chunk[0], chunk.start())))


def _fold_with_places(chunk: str, offset: int) -> tuple[str, list[Place]]:
    """The folded chunk, and for each of its characters the original stretch that it comes from."""
    pieces: list[str] = []
    places: list[Place] = []
    i = 0
    while i < len(chunk):
        j = i + 1
        while j < len(chunk) and (unicodedata.combining(chunk[j]) or _composes(chunk[j])):
            j += 1
        folded = fold_letters(chunk[i:j])
        if not folded and places:  # a lone accent belongs to the letter before it
            places[-1] = (places[-1][0], offset + j)
        pieces.append(folded)
        places.extend([(offset + i, offset + j)] * len(folded))
        i = j
    return "".join(pieces), places


def _composes(char: str) -> bool:
    """Hangul vowels and finals, and half-width voicing marks: they may compose with what stands before them."""
    return (
        "\u1160" <= char <= "\u11ff"
        or char in "\uff9e\uff9f"
        or "\u314f" <= char <= "\u318e"
        or "\uffc2" <= char <= "\uffdc"
    )


def _spelled_with_places(folded: str, places: list[Place]) -> tuple[str, list[Place]]:
    """``folding.name_greek`` with the places kept; a spelled letter has the place of the letter."""
    pieces: list[str] = []
    spelled: list[Place] = []
    at = 0
    for start, end, name in greek_symbols(folded):
        pieces += [folded[at:start], name]
        spelled += places[at:start] + [places[start]] * len(name)
        at = end
    return "".join([*pieces, folded[at:]]), spelled + places[at:]


def _folded_tokens(folded: str, places: list[Place]) -> Iterator[Token]:
    i = 0
    while i < len(folded):
        j = i + 1
        if not _SINGLE.match(folded[i]):
            j = i
            while j < len(folded) and _in_run(folded[j]):
                j += 1
        if j > i:
            yield Token(folded[i:j], places[i][0], places[j - 1][1])
        i = max(j, i + 1)


def _in_run(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM" and not _SINGLE.match(char)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], list[str]]:
    import tantivy

    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english"))
    analyse: Callable[[str], list[str]] = chain.build().analyze
    return analyse


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English Snowball (Porter 2) stem of a folded word, from the very stemmer that the index uses."""
    stems = _stemmer()(word)
    return stems[0] if stems else word


_FORM = re.compile(
    r"[a-z0-9]+(?:[-_&][a-z0-9]+)+"  # gpt-4, at&t, pre-training, something_2020-07-13_words
    r"|(?<![a-z0-9])[a-z]\+\+|(?<![a-z0-9])[cfj]#|g\+\+"  # c++, c#, f#
    r"|(?<![^\s(\"'“,;/])\.[a-z]{2,6}(?![a-z0-9])"  # .net
    r"|\b[a-z]{2,}\.(?:js|py|jl|net|ai|io|cpp|rs)(?![a-z0-9])"  # node.js
    r"|(?<![a-z0-9])[a-z]+[0-9][a-z0-9]*"  # yolov8, gpt4, word2vec
    r"|(?<![0-9.])[0-9]{4}\.[0-9]{4,5}(?![0-9.])"  # an arXiv number
)
_BEFORE, _AFTER = "(\"'“‘[", ".,;:!?)\"'”’]"
_JOINERS = re.compile(r"[-_&.]+")
_STEM_BEFORE_NUMBER = re.compile(r"([a-z]{3,}?)v?[0-9][a-z0-9]*")


def forms(text: str) -> list[str]:
    """The exact forms in ``text`` that words alone would lose, folded, unique, in order of their first place.

    ``C++`` → ``c++``; ``GPT-4`` → ``gpt-4``, ``gpt4``; ``YOLOv8`` → ``yolov8``, ``yolo``; ``pre-training`` →
    ``pre-training``, ``pretraining``; ``β-VAE`` → ``beta-vae``, ``betavae``. Index and query both call it.
    """
    found: dict[str, None] = {}
    marked = [chunk for chunk in fold(text).split() if not chunk.rstrip(_AFTER).lstrip(_BEFORE).isalpha()]
    for form in _FORM.findall(" ".join(marked)):
        found[form] = None
        first = form[0]
        if "-" in form or "_" in form:
            joined = _JOINERS.sub("", form)
            if not joined.isdigit():
                found[joined] = None
        elif first != "." and "&" not in form and form[-1] not in "+#":
            stemmed = _STEM_BEFORE_NUMBER.fullmatch(form)
            if stemmed:
                found[stemmed[1]] = None
    return list(found)


def joined_pairs(words: list[str]) -> list[str]:
    """Each two neighbouring (folded) words as one, so that the query ``pre training`` meets ``pretraining``."""
    return [first + second for first, second in pairwise(words)]
