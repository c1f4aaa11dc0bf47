"""From the reader's query tree to what the index is asked; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from broadsheet import query as q
from broadsheet.errors import InputError
from broadsheet.glossary import english_of
from broadsheet.identifiers import parse_identifier
from broadsheet.index import (
    SUBAREA_SEPARATOR,
    All,
    DayIs,
    Either,
    Everything,
    Exclude,
    Facet,
    Filtered,
    HasCode,
    Match,
    TextQuery,
    YearIs,
    match_phrase,
    match_words,
)
from broadsheet.model import Scheme
from broadsheet.text import clean
from broadsheet.venues import venue_keys

FACETS = ("area", "subarea", "venue", "year", "code")
CJK = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_SPELLED = {"title": {"title": 1.0, "titles": 1.0}, "abstract": {"abstract": 1.0}, "author": {"authors": 1.0}}


@dataclass(frozen=True)
class Boosts:
    """Weights of the fields of a free word; ``body`` (title and abstract as one text) has weight 1."""

    title: float
    authors: float
    topics: float = 0.3
    forms: float = 0.3

    def fields(self) -> dict[str, float]:
        """Field → boost, fields without weight left out."""
        weights = {"body": 1.0, "title": self.title, "authors": self.authors, "topics": self.topics, "titles": 0.3}
        return {name: weight for name, weight in weights.items() if weight > 0}


@dataclass(frozen=True)
class Plan:
    """What to ask. ``words`` scores; ``must`` filters (None: no filter); ``meaning`` goes to the encoder ("" for none).

    ``soft`` tells that words need not all be found, so that vectors may add papers without any of them.
    """

    words: TextQuery
    must: TextQuery | None
    meaning: str
    soft: bool
    marked: tuple[str, ...]


def has_cjk(text: str) -> bool:
    """Whether the text has a Chinese, Japanese or Korean character."""
    return bool(CJK.search(text))


def compose(
    query: q.Query, chosen: Mapping[str, Sequence[str]], boosts: Boosts, *, strict_phrases: bool = True
) -> Plan:
    """The plan for a query and the facet values a reader chose.

    ``strict_phrases``: a quoted phrase must be found. Raises InputError for an unknown facet.
    """
    soft = q.soft_words(query)
    must = [_required(node, boosts) for node in q.required(query)]
    must += [facet_filter(name, values) for name, values in chosen.items() if values]
    if strict_phrases:
        must += [_words(leaf, boosts) for leaf in soft if isinstance(leaf, q.Phrase)]
    filtered = All(tuple(must)) if must else None
    leaves = list(dict.fromkeys(soft))[: q.MAX_TERMS]
    glossed = english_of(" ".join(_spelled(leaf) for leaf in soft)) if soft else ""
    marked = tuple(_spelled(leaf) for leaf in q.positive_terms(query)) + ((glossed,) if glossed else ())
    if not leaves:
        scored = [_required(n, boosts) for n in q.required(query) if not _only_filters(n)]
        return Plan(All(tuple(scored)) if scored else Everything(), filtered, "", soft=False, marked=marked)
    return Plan(_soft(leaves, glossed, boosts), filtered, " ".join(_spelled(leaf) for leaf in soft), True, marked)


def _soft(leaves: Sequence[q.Leaf], glossed: str, boosts: Boosts) -> TextQuery:
    text = " ".join(_spelled(leaf) for leaf in leaves)
    parts: list[TextQuery] = [match_words(text, boosts.fields(), boosts.forms)]
    if glossed and has_cjk(text):
        parts.append(match_words(glossed, boosts.fields(), boosts.forms))
    return Either(tuple(parts))


def facet_filter(name: str, values: Sequence[str]) -> TextQuery:
    """Papers with any of the values of one facet. Raises InputError for an unknown facet or a year that is none."""
    if name == "year":
        if not all(v.isdecimal() and len(v) <= 4 for v in values):
            raise InputError(f"year={values[0]!r} is not a year such as 2024")
        return Either(tuple(YearIs(int(v), int(v)) for v in values))
    if name not in FACETS:
        raise InputError(f"{name!r} is not a facet; the facets are {', '.join(FACETS)}")
    separated = [v.replace(" · ", SUBAREA_SEPARATOR) if name == "subarea" else v for v in values]
    if name == "venue":
        separated = [key for v in values for key in venue_keys(v)]
    return Either(tuple(Facet(name, v) for v in dict.fromkeys(separated)))


def _only_filters(node: q.Node) -> bool:
    match node:
        case q.And(children) | q.Or(children):
            return all(_only_filters(child) for child in children)
        case q.Term() | q.Phrase():
            return node.field in (q.Field.AREA, q.Field.CATEGORY, q.Field.VENUE)
        case q.Words() | q.Id():
            return False
        case _:
            return True


def _required(node: q.Node, boosts: Boosts) -> TextQuery:  # noqa: PLR0911 - one return for each kind of node
    match node:
        case q.And(children):
            return All(tuple(_required(child, boosts) for child in children))
        case q.Or(children):
            return Either(tuple(_required(child, boosts) for child in children))
        case q.Not(child):
            return Exclude(_required(child, boosts))
        case q.Words(children):
            return Either(tuple(_words(child, boosts) for child in children))
        case q.Everything():
            return Everything()
        case q.YearRange(lo, hi):
            return YearIs(lo, hi)
        case q.Since(day):
            return Either((DayIs(day, None), _of_years(day.year + ((day.month, day.day) != (1, 1)), None)))
        case q.Until(day):
            return Either((DayIs(None, day), _of_years(None, day.year - ((day.month, day.day) != (12, 31)))))
        case q.Has(what):
            return HasCode() if what == "code" else Facet("has", what)
        case q.Id(text):
            return identifier_filter(text)
        case q.Term() | q.Phrase():
            return _words(node, boosts)
        case _:
            raise InputError("relative days must be resolved before a query is asked")


def _of_years(low: int | None, high: int | None) -> TextQuery:
    """Papers of which only the year is known, in these years."""
    return All((Exclude(DayIs(None, None)), YearIs(low, high)))


def identifier_filter(text: str) -> TextQuery:
    """Papers with this identifier, or with this text among their words where it is none that is known."""
    found = parse_identifier(text)
    if found:
        return Facet("identifier", str(found[0]))
    by_scheme = [Facet("identifier", f"{scheme}:{text.strip().lower()}") for scheme in Scheme]
    return Either((*by_scheme, Match(text, {"body": 1.0}, mode="phrase")))


def _spelled(leaf: q.Leaf) -> str:
    """A word as the papers have it: TeX accents decoded."""
    return clean(leaf.text) if "\\" in leaf.text else leaf.text


def _words(leaf: q.Leaf, boosts: Boosts) -> TextQuery:
    """A word or phrase that must be found: in its field, or anywhere."""
    if leaf.field is q.Field.VENUE:
        return facet_filter("venue", [_spelled(leaf)])
    if leaf.field is q.Field.CATEGORY:
        return Facet("category", _spelled(leaf))
    if leaf.field is q.Field.AREA:
        topics = Match(_spelled(leaf), {"topics": 1.0}, mode="phrase")
        return Either((Facet("area", _spelled(leaf)), Facet("category", _spelled(leaf)), topics))
    if leaf.field is q.Field.AUTHOR:
        return Match(_spelled(leaf), {"authors": 1.0}, mode="all")
    fields = _SPELLED[str(leaf.field)] if leaf.field else boosts.fields()
    return match_phrase(_spelled(leaf), fields, boosts.forms)


def without_facet(plan: Plan, query: q.Query, chosen: Mapping[str, Sequence[str]], name: str, boosts: Boosts) -> Plan:
    """The same plan as if nothing were chosen in one facet; for counting that facet's other values."""
    rest = {k: v for k, v in chosen.items() if k != name}
    return replace(plan, must=compose(query, rest, boosts).must)


def asked(plan: Plan) -> TextQuery:
    """The whole question: words that score, within what must hold."""
    return Filtered(plan.words, plan.must) if plan.must else plan.words
