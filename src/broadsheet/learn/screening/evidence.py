"""What in a record speaks for or against it: words with their weights, and the sentence that decided."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from broadsheet.learn.terms import stop_words
from broadsheet.text import Token

from .features import Words, tokens

MOST = 12  # different words shown in a record
SHARE = 0.15  # of the strongest word's weight, below which a word is not shown

_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9])|[。！？]+|\n+")
_NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|et al|etc|cf|vs|approx|ca|resp|Figs?|Dr|Prof|St|No|Nos|vol|pp)|\b[A-Z])$")


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` and what it adds to the score: above 0 for relevance, below 0 against."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The telling words of a record's title and abstract, in their order, and the abstract's sentence that adds most.

    ``sentence`` is None where nothing in the abstract speaks for relevance.
    """

    title: tuple[Span, ...] = ()
    abstract: tuple[Span, ...] = ()
    sentence: Span | None = None


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of plain text stand, in characters, without the space between them."""
    ends = [found.end() for found in _END.finditer(text) if not _NO_END.search(text, 0, found.start())]
    places = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        inner = text[start:end].strip()
        if inner:
            first = text.index(inner[0], start)
            places.append((first, first + len(inner)))
    return places


def explained(text: str, words: Words, coef: np.ndarray) -> Explanation:
    """What a linear classifier of weighted words sees in ``text`` ("title\\nabstract"); ``coef`` float64 [words].

    The weight of a word is its part of the score, shared evenly among the places where it stands, so that the weights
    of all places sum to the score (less the offset). Shown are at most twelve different words, none of which weighs
    less than a seventh of the strongest; function words and numbers, which tell a person nothing, are not.
    """
    known = [(token, column) for token in tokens(text) if (column := words.columns_.get(token.text)) is not None]
    if not known:
        return Explanation()
    counts = Counter(column for _, column in known)
    values = {column: (1 + math.log(count)) * words.idf_[column] for column, count in counts.items()}
    length = math.sqrt(sum(value * value for value in values.values()))
    parts = {column: float(coef[column]) * value / length / counts[column] for column, value in values.items()}
    title_end = text.find("\n") if "\n" in text else len(text)
    telling = {column: part * counts[column] for column, part in parts.items() if _is_telling(words.names_[column])}
    shown = _strongest(telling)
    spans = _apart([Span(token.start, token.end, parts[column]) for token, column in known if column in shown])
    moved = title_end + 1
    return Explanation(
        tuple(span for span in spans if span.start < title_end),
        tuple(Span(s.start - moved, s.end - moved, s.weight) for s in spans if s.start > title_end),
        _deciding(text[moved:], [(_moved(token, moved), parts[column]) for token, column in known]),
    )


def _is_telling(word: str) -> bool:
    return word not in stop_words() and any(letter.isalpha() for letter in word)


def _strongest(parts: dict[int, float]) -> set[int]:
    ranked = sorted((column for column in parts if parts[column]), key=lambda column: (-abs(parts[column]), column))
    return {column for column in ranked[:MOST] if abs(parts[column]) >= SHARE * abs(parts[ranked[0]])}


def _apart(spans: list[Span]) -> list[Span]:
    """Pairs of characters overlap: of two that do, the one that weighs more."""
    kept: list[Span] = []
    for span in spans:
        while kept and kept[-1].end > span.start and abs(kept[-1].weight) < abs(span.weight):
            kept.pop()
        if not kept or kept[-1].end <= span.start:
            kept.append(span)
    return kept


def _moved(token: Token, by: int) -> Token:
    return Token(token.text, token.start - by, token.end - by)


def _deciding(abstract: str, weighed: list[tuple[Token, float]]) -> Span | None:
    """The sentence whose words add most; None where no sentence adds anything."""
    best: Span | None = None
    for start, end in sentences(abstract):
        weight = math.fsum(part for token, part in weighed if start <= token.start < end)
        if weight > (best.weight if best else 0):
            best = Span(start, end, weight)
    return best
