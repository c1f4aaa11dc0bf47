"""A tree to text that reads back as the same tree."""

from __future__ import annotations

from broadsheet.query.lexer import PREFIXES, is_word
from broadsheet.query.tree import (
    And,
    Everything,
    Has,
    Id,
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
    rank,
)


def to_text(query: Query) -> str:
    """Print a query so that ``parse(to_text(parse(s))) == parse(s)`` for every text ``s``."""
    root = query.root
    if isinstance(root, Term | Phrase):
        return _marked(root)
    if not isinstance(root, And):
        return print_node(root, inner=False) if root else ""
    required = [child for child in root.children if rank(child) == 1]
    if isinstance(root.children[0], Words) or len(required) < 2 or all(_marked(r)[0] != "+" for r in required):
        return " ".join(_marked(child) for child in root.children if not isinstance(child, Everything))
    return print_node(root, inner=False)


def _marked(node: Node) -> str:
    """A child of the root beside others: a bare word needs a sign that it is required."""
    bare = isinstance(node, Term | Phrase) and node.field is None
    return _signed("+", node) if bare else print_node(node, inner=True)


def _signed(sign: str, node: Node) -> str:
    """A node after its sign, in brackets where a sign of its own would follow."""
    text = print_node(node, inner=True)
    return f"{sign}({text})" if text[0] in "-+" else sign + text


def print_node(node: Node, *, inner: bool) -> str:  # noqa: PLR0911 one return for each kind of node
    """A node as text; ``inner`` sets brackets round operators."""
    match node:
        case Term(text, name):
            return f"{PREFIXES[name]}:{text}" if name else text
        case Phrase(text, name):
            return f'{PREFIXES[name]}:"{text}"' if name else f'"{text}"'
        case Words(children):
            return " ".join(print_node(child, inner=True) for child in children)
        case And(children) | Or(children):
            sign = " AND " if isinstance(node, And) else " OR "
            joined = sign.join(print_node(child, inner=True) for child in children if not isinstance(child, Everything))
            return f"({joined})" if inner else joined
        case Not(child):
            return _signed("-", child)
        case YearRange(lo, hi):
            return f"year:{lo}" if lo == hi else f"year:{lo or ''}..{hi or ''}"
        case Since(day):
            return f"since:{day.isoformat()}"
        case Until(day):
            return f"until:{day.isoformat()}"
        case SinceAgo(days):
            return f"since:{days}d"
        case Has(what):
            return f"has:{what}"
        case Id(text):
            return f"id:{text}" if is_word(text) else f'id:"{text}"'
        case Everything():
            return ""
