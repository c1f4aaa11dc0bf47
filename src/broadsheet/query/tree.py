"""The nodes of a parsed query, and what can be read off them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

MAX_TERMS = 64
"""Words and phrases that are matched, and that a query with operators may have; also the most filters."""


class Field(StrEnum):
    """What a fielded word is looked for in."""

    TITLE = "title"
    ABSTRACT = "abstract"
    AUTHOR = "author"
    AREA = "area"
    CATEGORY = "category"
    VENUE = "venue"


@dataclass(frozen=True, slots=True)
class Term:
    """One word as typed (NFC); it may hold several index tokens, as ``pre-training`` does."""

    text: str
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in this order, from quotes."""

    text: str
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A soft conjunction of free words and phrases: the more, the better."""

    children: tuple[Term | Phrase, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All children hold."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one child holds."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The child does not hold."""

    child: Node


@dataclass(frozen=True, slots=True)
class Everything:
    """All papers; what exclusions alone are taken from."""


@dataclass(frozen=True, slots=True)
class YearRange:
    """Years ``lo`` to ``hi``, both included; None is an open end."""

    lo: int | None
    hi: int | None


@dataclass(frozen=True, slots=True)
class Since:
    """This day or later."""

    day: date


@dataclass(frozen=True, slots=True)
class Until:
    """This day or earlier."""

    day: date


@dataclass(frozen=True, slots=True)
class SinceAgo:
    """The last ``days`` days; ``resolve`` makes it a ``Since``."""

    days: int


@dataclass(frozen=True, slots=True)
class Has:
    """The paper has ``code``, an ``abstract`` or a ``pdf``."""

    what: str


@dataclass(frozen=True, slots=True)
class Id:
    """An identifier as typed: arXiv, DOI, URL …"""

    text: str


Node = Term | Phrase | Words | And | Or | Not | Everything | YearRange | Since | Until | SinceAgo | Has | Id
Leaf = Term | Phrase


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; ``notes`` are sentences for the reader and do not take part in comparison."""

    root: Node | None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search for."""
        return self.root is None


_FACETS = {Field.AREA, Field.CATEGORY, Field.VENUE}


def is_filter(node: Node) -> bool:
    """Whether a node narrows by facts of the paper (year, day, area, venue …) and not by words."""
    match node:
        case Term(field=name) | Phrase(field=name):
            return name in _FACETS
        case And(children) | Or(children):
            return all(is_filter(child) for child in children)
        case Not(child):
            return is_filter(child)
        case Words() | Id():
            return False
        case _:
            return True


def rank(node: Node) -> int:
    """The place of a child within And: words, required parts, filters, exclusions."""
    if isinstance(node, Words | Everything):
        return 0
    return 3 if isinstance(node, Not) else 2 if is_filter(node) else 1


def children_of(node: Node | None) -> tuple[Node, ...]:
    """The nodes right below a node."""
    if isinstance(node, Words | And | Or):
        return node.children
    return (node.child,) if isinstance(node, Not) else ()


def depth_of(node: Node | None) -> int:
    """Levels of a tree; 1 for a leaf."""
    return 1 + max((depth_of(child) for child in children_of(node)), default=0)


def leaves_of(node: Node | None, *, negated: bool) -> Iterator[Leaf]:
    """Words and phrases from left to right; ``negated`` takes in those that are excluded."""
    if isinstance(node, Term | Phrase):
        yield node
    elif negated or not isinstance(node, Not):
        for child in children_of(node):
            yield from leaves_of(child, negated=negated)


def soft_words(query: Query) -> tuple[Leaf, ...]:
    """The free words and phrases that rank and need not all be found."""
    first = query.root.children[0] if isinstance(query.root, And) else query.root
    return first.children if isinstance(first, Words) else ()


def required(query: Query) -> tuple[Node, ...]:
    """The parts that must hold, filters and exclusions included: all of the query but ``soft_words``."""
    parts = query.root.children if isinstance(query.root, And) else (query.root,) if query.root else ()
    return tuple(part for part in parts if not isinstance(part, Words | Everything))


def positive_terms(query: Query, limit: int = MAX_TERMS) -> list[Leaf]:
    """The first ``limit`` different words and phrases that are looked for, fielded ones included."""
    return list(dict.fromkeys(leaves_of(query.root, negated=False)))[:limit]
