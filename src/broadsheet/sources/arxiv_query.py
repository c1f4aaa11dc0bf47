"""Words and days → the ``search_query`` of arXiv's API (https://info.arxiv.org/help/api/user-manual.html). Pure.

- A word or a ``"phrase"`` must stand in title or abstract; ``ti:``, ``abs:``, ``au:``, ``cat:``, ``co:``, ``jr:``,
  ``rn:``, ``id:`` and ``all:`` name another field.
- Words side by side must all match, so a further word gives fewer papers: what are synonyms is joined by ``OR``, or all
  of it with ``any_word``. ``OR`` binds closer than standing side by side: ``MoE OR mixture routing`` is
  (MoE or mixture) and routing. ``AND`` may be written; ``NOT word`` leaves out. Brackets group.
- ``since`` and ``until`` are days (UTC) of the first submission, both included; ``updated_since`` is one of the newest
  version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from broadsheet.errors import InputError

FIELDS = frozenset(("ti", "abs", "au", "cat", "co", "jr", "rn", "id", "all"))
_EARLIEST, _LATEST = date(1991, 1, 1), date(2099, 12, 31)
_TOKEN = re.compile(r'\s*(?:([()])|((?:\w+:)?"[^"]*"?)|([^\s()"]+))')
_PLAIN = re.compile(r"[\w.*?]+")
_CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z*-]+)?")
_OPERATORS = {"AND", "OR", "NOT", "ANDNOT"}


def search_query(
    words: str,
    *,
    categories: Sequence[str] = (),
    since: date | None = None,
    until: date | None = None,
    updated_since: date | None = None,
    any_word: bool = False,
) -> str:
    """The query, not yet encoded for an address. Raises InputError for what cannot be asked."""
    parts = [_expression(words, any_word)] if words.strip() else []
    if categories:
        parts.append(_group((f"cat:{category}" for category in categories), "OR"))
    if since or until:
        parts.append(_days("submittedDate", since, until))
    if updated_since:
        parts.append(_days("lastUpdatedDate", updated_since, None))
    if not parts:
        raise InputError("arXiv: nothing to search for; give words, categories or days")
    if len(parts) > 1 and words.strip():
        parts[0] = f"({parts[0]})"
    return " AND ".join(parts)


def _days(field: str, since: date | None, until: date | None) -> str:
    """Both days whole: a range within one day is that day."""
    first, last = since or _EARLIEST, until or _LATEST
    if first > last:
        raise InputError(f"arXiv: no day lies between since {first} and until {last}; swap them")
    return f"{field}:[{first:%Y%m%d}0000 TO {last:%Y%m%d}2359]"


def _group(parts: Iterable[str], operator: str) -> str:
    found = list(parts)
    return found[0] if len(found) == 1 else f"({f' {operator} '.join(found)})"


def _tokens(words: str) -> list[str]:
    found = [match[1] or match[2] or match[3] for match in _TOKEN.finditer(words)]
    for token in found:
        if token.count('"') == 1:
            raise InputError(f"arXiv: the phrase {token} has no closing quotation mark")
    return [token for token in found if not re.fullmatch(r'(?:\w+:)?""', token)]


def _expression(words: str, any_word: bool) -> str:
    tokens = _tokens(words)
    if any_word:
        return _group((_term(t) for t in tokens if t not in _OPERATORS | {"(", ")"}), "OR")
    text, left = _all_of(tokens)
    if left:
        raise InputError(f"arXiv: cannot read {words!r}: a bracket is closed that was not opened")
    return text


def _all_of(tokens: list[str]) -> tuple[str, list[str]]:
    """What must all match, up to a closing bracket or the end; and the tokens left."""
    wanted: list[str] = []
    unwanted: list[str] = []
    while tokens and tokens[0] != ")":
        joined = tokens[0] == "AND"
        if joined:
            tokens = tokens[1:]
        if tokens and tokens[0] in ("NOT", "ANDNOT"):
            text, tokens = _operand(tokens[1:])
            unwanted.append(text)
        else:
            text, tokens = _any_of(tokens)
            wanted.append(text)
    if not wanted:
        raise InputError("arXiv: a search needs a word that is wanted, not only operators and what is left out")
    text = " AND ".join(wanted)
    return " ANDNOT ".join([f"({text})" if len(wanted) > 1 and unwanted else text, *unwanted]), tokens


def _any_of(tokens: list[str]) -> tuple[str, list[str]]:
    found, tokens = _operand(tokens)
    parts = [found]
    while tokens and tokens[0] == "OR":
        found, tokens = _operand(tokens[1:])
        parts.append(found)
    return _group(parts, "OR"), tokens


def _operand(tokens: list[str]) -> tuple[str, list[str]]:
    if not tokens or tokens[0] == ")" or tokens[0] in _OPERATORS:
        raise InputError("arXiv: an operator (AND, OR, NOT) or a bracket has nothing beside it")
    if tokens[0] != "(":
        return _term(tokens[0]), tokens[1:]
    text, tokens = _all_of(tokens[1:])
    if not tokens:
        raise InputError("arXiv: a bracket is opened and not closed")
    return f"({text})", tokens[1:]


def _term(token: str) -> str:
    field, colon, value = token.partition(":")
    if not colon or field not in FIELDS:
        field, value = "", token
    value = value.strip('"').replace('"', "").strip()
    if not value:
        raise InputError(f"arXiv: {token!r} names a field and no word")
    plain = _CATEGORY if field == "cat" else _PLAIN
    quoted = value if plain.fullmatch(value) else f'"{value}"'
    return f"{field}:{quoted}" if field else f"(ti:{quoted} OR abs:{quoted})"
