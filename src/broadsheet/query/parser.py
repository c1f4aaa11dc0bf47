"""Tokens to a tree: recursive descent, bounded in depth and in the number of words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from broadsheet.query.lexer import FIELD_OF, OPERATORS, Kind, Lexer, Token, clean, is_word, searchable
from broadsheet.query.printer import print_node
from broadsheet.query.tree import (
    MAX_TERMS,
    And,
    Everything,
    Field,
    Id,
    Leaf,
    Node,
    Not,
    Or,
    Phrase,
    Query,
    Since,
    SinceAgo,
    Term,
    Until,
    Words,
    YearRange,
    children_of,
    depth_of,
    is_filter,
    leaves_of,
    rank,
    soft_words,
)
from broadsheet.query.values import FILTERS

MAX_WORDS = 512
"""Words and phrases kept of a plain query: as much as an encoder reads."""
MAX_DEPTH = 20
"""Levels of a tree; a deeper query is searched as plain words."""
_MAX_BRACKETS = 60  # more than a printed tree of MAX_DEPTH can have
MAX_NOTES = 8
"""Notes for the reader; more would not be read."""


@dataclass(slots=True)
class _All:
    """A conjunction in the making. ``beside`` are filters and exclusions that stand beside words without brackets."""

    words: list[Leaf] = field(default_factory=list)
    required: list[Node] = field(default_factory=list)
    beside: list[Node] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.words or self.required or self.beside)

    def only_beside(self) -> bool:
        return not self.words and not self.required

    def join(self, other: _All, *, strict: bool = False) -> None:
        (self.required if strict else self.words).extend(other.words)
        self.required += other.required
        self.beside += other.beside

    def close(self) -> _All:
        """The same in brackets: nothing leaves them, unless there is nothing else in them."""
        return self if self.only_beside() else _All(self.words, self.required + self.beside)

    def node(self, *, strict: bool) -> Node | None:
        words: list[Node] = [*self.words] if strict else [Words(tuple(self.words))] if self.words else []
        children = sorted(words + self.required + self.beside, key=rank)
        if children and all(isinstance(child, Not) for child in children):
            children.insert(0, Everything())
        return And(tuple(children)) if len(children) > 1 else children[0] if children else None


def _author(text: str) -> Leaf:
    """A name; an underscore stands for a space, as in arXiv's own queries."""
    name = " ".join(re.sub('[_"]', " ", text).split())
    return Term(name, Field.AUTHOR) if " " not in name and is_word(name) else Phrase(name, Field.AUTHOR)


class _TooDeepError(Exception):
    """More brackets within brackets than are followed."""


class _Parser:
    """Recursive descent over the tokens; depth and number of leaves are bounded."""

    def __init__(self, tokens: list[Token], limit: int) -> None:
        self.tokens = tokens
        self.limit = limit
        self.at = 0
        self.leaves = 0
        self.filters = 0
        self.notes: list[str] = []

    def peek(self) -> Kind | None:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else None

    def take(self, kind: Kind) -> bool:
        found = self.peek() is kind
        self.at += found
        return found

    def note(self, text: str) -> None:
        self.notes.append(text)

    def either(self, name: str | None, depth: int) -> _All:
        if depth > _MAX_BRACKETS:
            raise _TooDeepError
        sides = self._operands(Kind.OR, name, depth)
        if len(sides) < 2:
            return sides[0] if sides else _All()
        beside: list[Node] = []
        for side in sides:
            if not side.only_beside():
                beside += side.beside
                side.beside = []
        if beside:
            shown = ", ".join(print_node(node, inner=True) for node in beside)
            self.note(f"{shown} holds on every side of OR; write brackets to bind it to one side.")
        nodes = [node for side in sides if (node := side.node(strict=True))]
        flat = [child for node in nodes for child in (node.children if isinstance(node, Or) else (node,))]
        whole = Or(tuple(flat))
        return _All(beside=[whole, *beside]) if is_filter(whole) else _All(required=[whole], beside=beside)

    def _operands(self, operator: Kind, name: str | None, depth: int) -> list[_All]:
        """What stands between the operators of one kind; an operator without a side is left out."""
        part = self.both if operator is Kind.OR else self.run
        operands = [part(name, depth)]
        while self.take(operator):
            operands.append(part(name, depth))
        kept = [operand for operand in operands if operand]
        if 1 < len(operands) > len(kept) and self.leaves <= self.limit:
            self.note(f"{operator} has nothing to search for on one side; it was left out.")
        return kept

    def both(self, name: str | None, depth: int) -> _All:
        operands = self._operands(Kind.AND, name, depth)
        if len(operands) < 2:
            return operands[0] if operands else _All()
        strict = sum(not operand.only_beside() for operand in operands) > 1
        whole = _All()
        for operand in operands:
            whole.join(operand, strict=strict)
        return whole.close()

    def run(self, name: str | None, depth: int) -> _All:
        whole = _All()
        while self.peek() not in (None, Kind.CLOSE, Kind.AND, Kind.OR):
            negated = must = False
            while self.peek() in (Kind.NOT, Kind.MUST):
                negated ^= self.take(Kind.NOT)
                must |= self.take(Kind.MUST)
            if self.peek() in (None, Kind.CLOSE, Kind.AND, Kind.OR):
                self.note("NOT or + has nothing after it; it was left out.")
                break
            unit = self.unit(name, depth)
            if negated:
                child = unit.node(strict=True)
                whole.beside += [Not(child)] if child else []
            else:
                whole.join(unit, strict=must)
        return whole

    def unit(self, name: str | None, depth: int) -> _All:
        prefix = ""
        if self.peek() is Kind.FIELD:
            name = self.tokens[self.at].text
            prefix = f"{name}:"
            self.at += 1
        token = self.tokens[self.at]
        self.at += 1
        if token.kind is Kind.OPEN:
            inner = self.either(name, depth + 1).close()
            self.take(Kind.CLOSE)
            return inner
        if not searchable(token.text):
            if prefix:
                self.note(f"“{prefix}{token.text}” has nothing to search for; it was left out.")
            return _All()
        node = self.leaf(name, token.text, quoted=token.kind is Kind.PHRASE)
        if node is None:
            return _All()
        if is_filter(node):
            return _All(beside=[node])
        if isinstance(node, Term | Phrase) and node.field is None:
            return _All(words=[node])
        return _All(required=[node])

    def leaf(self, name: str | None, text: str, *, quoted: bool) -> Node | None:
        if name in FILTERS:
            read, wanted = FILTERS[name]
            node = read(text)
            if node:
                self.filters += 1
                return node if self.filters <= MAX_TERMS else None
            self.note(f"“{name}:{text}” is not {wanted}: searched as words.")
            text, name = (text if quoted else f"{name}:{text}"), None
        self.leaves += 1
        if self.leaves > self.limit:
            return None
        if name == "id":
            return Id(text)
        if name == "au":
            return _author(text)
        if not quoted and text in OPERATORS:
            text = text.lower()
        return (Phrase if quoted else Term)(text, FIELD_OF[name] if name else None)


def _balanced(tokens: list[Token], notes: list[str]) -> list[Token]:
    """The tokens without closing brackets that close nothing, and with those that are missing at the end."""
    kept, depth = [], 0
    for token in tokens:
        if token.kind is Kind.CLOSE and not depth:
            continue
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        kept.append(token)
    if depth or len(kept) < len(tokens):
        notes.append("The brackets do not pair up; they were read as if they did.")
    return kept + [Token(Kind.CLOSE)] * depth


def _plain(text: str) -> Node | None:
    """All words of a text, whatever its syntax; operators only where there is nothing else."""
    found = re.findall(r"[^\W_]+", text)
    words = [word for word in found if word not in OPERATORS] or [word.lower() for word in found]
    return Words(tuple(map(Term, words[:MAX_WORDS]))) if words else None


def _tree(tokens: list[Token], limit: int, notes: list[str]) -> Node | None:
    parser = _Parser(tokens, limit)
    root = parser.either(None, 0).node(strict=False)
    if depth_of(root) > MAX_DEPTH:
        raise _TooDeepError
    required = sum(1 for _ in leaves_of(root, negated=True)) - len(soft_words(Query(root)))
    if required > MAX_TERMS < limit:
        return _tree(tokens, MAX_TERMS, notes)
    notes += parser.notes
    if parser.leaves > limit:
        notes.append(f"Only the first {limit} of {parser.leaves} words were read.")
    elif parser.leaves > MAX_TERMS:
        notes.append(f"Of {parser.leaves} words, the first {MAX_TERMS} different ones are matched word by word.")
    if parser.filters > MAX_TERMS:
        notes.append(f"Only the first {MAX_TERMS} of {parser.filters} filters were read.")
    return root


def parse(text: str, today: date | None = None) -> Query:
    """Read a query; never raises. With ``today``, days such as ``since:7d`` are resolved."""
    cleaned = clean(text)
    lexer = Lexer(cleaned)
    tokens = _balanced(lexer.run(), lexer.notes)
    notes = lexer.notes
    try:
        root = _tree(tokens, MAX_WORDS, notes)
    except _TooDeepError:
        root = _plain(cleaned)
        notes = ["There are too many brackets within brackets: all words were searched as plain words."]
    root = root or _plain(cleaned)
    if root is None and cleaned.strip():
        notes.append("There is no letter or digit to search for.")
    query = Query(root, tuple(dict.fromkeys([*notes, *_remarks(root)]))[:MAX_NOTES])
    return resolve(query, today) if today else query


def _remarks(root: Node | None) -> list[str]:
    """What a reader may not have meant: filters that no paper can fulfil, exclusions alone."""
    parts = children_of(root) if isinstance(root, And) else ()
    years = [part for part in parts if isinstance(part, YearRange)]
    lo = max((part.lo for part in years if part.lo), default=0)
    hi = min((part.hi for part in years if part.hi), default=9999)
    since = max((part.day for part in parts if isinstance(part, Since)), default=date.min)
    until = min((part.day for part in parts if isinstance(part, Until)), default=date.max)
    notes = []
    if lo > hi:
        notes.append("No paper can be of all these years at once; write year:2020..2024 for a range.")
    if since > until:
        notes.append("The day after since: is later than the day after until:, so nothing can be found.")
    if parts[:1] == (Everything(),):
        notes.append("The query only excludes: all other papers are listed.")
    return notes


def resolve(query: Query, today: date) -> Query:
    """The same query with ``SinceAgo`` counted from ``today``."""
    return replace(query, root=_resolved(query.root, today) if query.root else None)


def _resolved(node: Node, today: date) -> Node:
    match node:
        case SinceAgo(days):
            return Since(today - timedelta(days=min(days, today.toordinal() - 1)))
        case And(children):
            return And(tuple(_resolved(child, today) for child in children))
        case Or(children):
            return Or(tuple(_resolved(child, today) for child in children))
        case Not(child):
            return Not(_resolved(child, today))
        case _:
            return node
