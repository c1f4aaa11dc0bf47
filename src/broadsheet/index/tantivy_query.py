"""From the query tree to Tantivy's queries, without its query parser: any text is safe, and nothing in it is syntax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatchmethod

import tantivy

from ..errors import BroadsheetError
from ..text import fold
from .base import (
    FACET_FIELDS,
    STOP_WORDS,
    All,
    DayIs,
    Either,
    Everything,
    Exclude,
    Facet,
    Filtered,
    HasCode,
    IdIs,
    Match,
    TextQuery,
    YearIs,
)
from .tantivy_schema import ANALYZER_OF, FORMS, MARKER, analyzers, cjk_analyzer, day_number, exact, exact_field

_Query = tantivy.Query
_Must, _Should, _MustNot = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    cjk: bool


def is_scored(query: TextQuery) -> bool:
    """Whether a match may have a score other than 0."""
    match query:
        case Match():
            return True
        case All(children) | Either(children):
            return any(is_scored(child) for child in children)
        case Filtered(child):
            return is_scored(child)
        case _:
            return False


class Compiler:
    """Compiles query trees for one schema."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self._schema = schema
        self._analyzers = analyzers()
        self._cjk = cjk_analyzer()

    @singledispatchmethod
    def compile(self, query: TextQuery) -> _Query:
        """Tantivy's query for a tree.

        Raises:
            BroadsheetError: a field's name is unknown.
        """
        raise TypeError(f"not a query: {query!r}")

    @compile.register
    def _(self, query: Match) -> _Query:
        unknown = sorted(set(query.fields) - set(ANALYZER_OF))
        if unknown:
            raise BroadsheetError(f"unknown text field {unknown[0]!r}; use one of {', '.join(ANALYZER_OF)}")
        words = {name: boost for name, boost in query.fields.items() if ANALYZER_OF[name] != FORMS}
        others = {name: boost for name, boost in query.fields.items() if name not in words}
        return _either([self._match(query, fields) for fields in (words, others) if fields])

    @compile.register
    def _(self, query: All) -> _Query:
        clauses = [
            (_MustNot, self.compile(child.child)) if isinstance(child, Exclude) else (_Must, self.compile(child))
            for child in query.children
        ]
        if all(occur == _MustNot for occur, _ in clauses):
            clauses.append((_Must, self._everything()))
        return _Query.boolean_query(clauses)

    @compile.register
    def _(self, query: Either) -> _Query:
        return _either([self.compile(child) for child in query.children])

    @compile.register
    def _(self, query: Exclude) -> _Query:
        return self.compile(All((query,)))

    @compile.register
    def _(self, query: Filtered) -> _Query:
        return _Query.boolean_query([(_Must, self.compile(query.child)), (_Must, _filter(self.compile(query.filter)))])

    @compile.register
    def _(self, query: YearIs) -> _Query:
        return self._range("year", query.low, query.high)

    @compile.register
    def _(self, query: DayIs) -> _Query:
        low, high = (None if day is None else day_number(day) for day in (query.low, query.high))
        return self._range("day", low, high)

    @compile.register
    def _(self, query: Facet) -> _Query:
        if query.field not in FACET_FIELDS:
            raise BroadsheetError(f"unknown facet {query.field!r}; use one of {', '.join(FACET_FIELDS)}")
        return _filter(_Query.term_query(self._schema, exact_field(query.field), exact(query.value), "basic"))

    @compile.register
    def _(self, query: HasCode) -> _Query:
        return self.compile(Facet("code", "yes"))

    @compile.register
    def _(self, query: IdIs) -> _Query:
        return _filter(_Query.term_set_query(self._schema, "id", list(query.ids)))

    @compile.register
    def _(self, query: Everything) -> _Query:
        return self._everything()

    def marker(self) -> _Query:
        """Finds the document with the applied ``seq``."""
        return _Query.term_query(self._schema, "key", MARKER, index_option="basic")

    def _everything(self) -> _Query:
        return _filter(_Query.boolean_query([(_Must, _Query.all_query()), (_MustNot, self.marker())]))

    def _range(self, field: str, low: int | None, high: int | None) -> _Query:
        if low is None and high is None:
            return _filter(_Query.exists_query(field))
        if low is not None and high is not None and low > high:
            return _Query.empty_query()
        return _filter(_Query.range_query(self._schema, field, tantivy.FieldType.Integer, low, high))

    def _match(self, query: Match, fields: dict[str, float]) -> _Query:
        """A match over fields whose analyzers divide text alike."""
        tokens = {name: self._tokens(query.text, ANALYZER_OF[name]) for name in fields}
        if not any(tokens.values()):
            return _Query.empty_query()
        if query.mode == "phrase" and FORMS not in map(ANALYZER_OF.__getitem__, fields):
            return _either([self._phrase(n, [t.text for t in tokens[n]], b) for n, b in fields.items()])
        units = _units(next(iter(tokens.values())))
        units = [unit for unit in units if not _is_stop(tokens, unit)] or units
        parts = [
            _either([self._phrase(n, [t.text for t in tokens[n][unit]], b) for n, b in fields.items()])
            for unit in units
        ]
        return _either(parts) if query.mode == "any" else _all(parts)

    def _tokens(self, text: str, analyzer: str) -> list[_Token]:
        found = self._analyzers[analyzer].pre_tokenize(fold(text)).tokens
        return [_Token(t.text, t.char_offset_from, t.char_offset_to, self._is_cjk(t.text)) for t in found]

    def _is_cjk(self, token: str) -> bool:
        return len(token) == 1 and not token.isascii() and bool(self._cjk.analyze(token))

    def _phrase(self, field: str, words: Sequence[str], boost: float) -> _Query:
        if len(words) == 1:
            query = _Query.term_query(self._schema, field, words[0], index_option="freq")
        else:
            query = _Query.phrase_query(self._schema, field, list(words))
        return query if boost == 1.0 else _Query.boost_query(query, boost)


def _units(tokens: Sequence[_Token]) -> list[slice]:
    """What counts as one word: a token, or each pair of neighbours in a run of CJK characters."""
    units: list[slice] = []
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and tokens[start].cjk and tokens[end].cjk and tokens[end].start == tokens[end - 1].end:
            end += 1
        units += [slice(i, i + 2) for i in range(start, end - 1)] or [slice(start, end)]
        start = end
    return units


def _is_stop(tokens: dict[str, list[_Token]], unit: slice) -> bool:
    return all(word.text in STOP_WORDS for found in tokens.values() for word in found[unit])


def _filter(query: _Query) -> _Query:
    return _Query.const_score_query(query, 0.0)


def _either(queries: Sequence[_Query]) -> _Query:
    if not queries:
        return _Query.empty_query()
    return queries[0] if len(queries) == 1 else _Query.boolean_query([(_Should, query) for query in queries])


def _all(queries: Sequence[_Query]) -> _Query:
    return queries[0] if len(queries) == 1 else _Query.boolean_query([(_Must, query) for query in queries])
