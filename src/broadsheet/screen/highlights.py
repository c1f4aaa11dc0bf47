"""What is to be seen in a record: the screener's own terms, the model's, and the sentence that decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from broadsheet.model.screening import Highlight, PoolRecord
from broadsheet.text.tokens import Token, stem, words

if TYPE_CHECKING:
    from broadsheet.learn.screening import Explanation, Span

READER, MODEL, SENTENCE = "reader", "model", "sentence"

Highlights = tuple[Highlight, ...]


@dataclass(frozen=True)
class _Term:
    """A term to look for: its words as stems; ``open`` where the last one may go on (``random*``)."""

    stems: tuple[str, ...]
    weight: float
    open: bool = False


def highlights(
    record: PoolRecord, terms: Sequence[str], explanation: Explanation | None = None
) -> tuple[Highlights, Highlights]:
    """Spans of the title and of the abstract, by their begin.

    ``terms`` are words or phrases, found by their stems whatever the inflection and the capitals; one that begins with
    ``-`` speaks against inclusion, one that ends with ``*`` finds all words that begin so. What the model marks where
    the reader's terms stand is left out; the sentence may hold others.
    """
    title, abstract = by_reader(record.title, terms), by_reader(record.abstract, terms)
    if explanation is None:
        return title, abstract
    sentence = () if explanation.sentence is None else (explanation.sentence,)
    return (
        _joined(title, _marked(explanation.title, MODEL), ()),
        _joined(abstract, _marked(explanation.abstract, MODEL), _marked(sentence, SENTENCE)),
    )


def by_reader(text: str, terms: Sequence[str]) -> Highlights:
    """The spans of the reader's terms in a text; where they overlap, the longest, then the first."""
    wanted = _parsed(tuple(terms))
    if not wanted or not text:
        return ()
    tokens = words(text)
    stems = [stem(token.text) for token in tokens]
    found = [
        Highlight(tokens[at].start, tokens[at + len(term.stems) - 1].end, term.weight, READER)
        for at in range(len(tokens))
        for term in wanted
        if _matches(term, tokens, stems, at)
    ]
    return _apart(found)


@lru_cache(maxsize=256)
def _parsed(terms: tuple[str, ...]) -> tuple[_Term, ...]:
    parsed = []
    for written in terms:
        text = written.strip()
        weight = -1.0 if text.startswith("-") else 1.0
        tokens = [token.text for token in words(text)]
        if not tokens:
            continue
        is_open = text.endswith("*")
        last = tokens[-1] if is_open else stem(tokens[-1])
        parsed.append(_Term((*map(stem, tokens[:-1]), last), weight, is_open))
    return tuple(parsed)


def _matches(term: _Term, tokens: Sequence[Token], stems: Sequence[str], at: int) -> bool:
    last = at + len(term.stems) - 1
    if last >= len(tokens) or tuple(stems[at:last]) != term.stems[:-1]:
        return False
    return tokens[last].text.startswith(term.stems[-1]) if term.open else stems[last] == term.stems[-1]


def _apart(spans: Sequence[Highlight]) -> Highlights:
    kept: list[Highlight] = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return tuple(sorted(kept, key=lambda one: one.start))


def _marked(spans: Iterable[Span], origin: str) -> Highlights:
    return tuple(Highlight(int(span.start), int(span.end), float(span.weight), origin) for span in spans)


def _joined(reader: Highlights, model: Sequence[Highlight], sentence: Highlights) -> Highlights:
    free = [span for span in model if all(span.end <= own.start or own.end <= span.start for own in reader)]
    return tuple(sorted((*reader, *free, *sentence), key=lambda one: (one.start, -one.end)))
