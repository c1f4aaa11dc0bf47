"""The reader's search syntax to a tree and back. No text is refused: what is no syntax is searched as words.

Grammar (EBNF; a space between two units is adjacency, which binds tightest, then ``AND``, then ``OR``)::

    query    = either ;
    either   = both , { "OR" , both } ;
    both     = run , { ( "AND" | "AND NOT" | "ANDNOT" ) , run } ;
    run      = { { "-" | "+" | "NOT" } , unit } ;
    unit     = [ field , ":" ] , ( word | phrase | "(" , either , ")" ) ;
    phrase   = '"' , { any character except '"' } , '"' ;
    word     = characters up to white space, an unpaired bracket, or a quote or bracket after a Chinese character ;
    field    = "ti" | "title" | "abs" | "abstract" | "au" | "author" | "area" | "cat" | "venue"
             | "year" | "since" | "until" | "has" | "id" | "all" ;    (* or 标题 摘要 作者 领域 分类 会议 年份 *)
    (* year *)          2020 | 2020..2024 | 2020-2024 | 2020.. | ..2024 | >=2020 | >2020 | <=2024 | <2024
    (* since, until *)  2026 | 2026-05 | 2026-05-01;  since only: 7d | 2w | 3m (30 days each) | 1y (365 days)
    (* has *)           code | abstract | pdf

Operators are upper case. ``-`` excludes and ``+`` requires only at the start of a unit, so a hyphen inside a word is
part of the word. A quote inside a word (``Schr\\"odinger``) and brackets that pair inside one (``f(x)``) belong to it.
Full-width punctuation is read as ASCII. Commas and semicolons that end a word are dropped; so are units without a
letter or digit. An unknown field, or a known one with a value that cannot be read, is a word.

Meaning
    - Free words side by side are ``Words``: a soft conjunction, which ranks and need not hold in full. ``Words`` is
      the root or the first child of a root ``And``; all else is required.
    - ``+word``, a word with a field, and words joined by ``AND`` or ``OR`` are required: inside an explicit operator,
      an exclusion or a fielded group, words side by side mean all of them. ``AND`` between one run of words and
      nothing but filters and exclusions is the same as a space.
    - A filter or exclusion beside words holds on every side of an ``OR`` (``a OR b year:2024``), unless brackets say
      otherwise (``a OR (b year:2024)``).
    - ``Not`` is only found as a child of ``And``; where nothing else is asked for, the And begins with ``Everything``.
    - Children of ``And`` stand in the order: words, required parts, filters, exclusions.
"""

from __future__ import annotations

from broadsheet.query.parser import MAX_DEPTH, MAX_NOTES, MAX_WORDS, parse, resolve
from broadsheet.query.printer import to_text
from broadsheet.query.tree import (
    MAX_TERMS,
    And,
    Everything,
    Field,
    Has,
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
    positive_terms,
    required,
    soft_words,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_NOTES",
    "MAX_TERMS",
    "MAX_WORDS",
    "And",
    "Everything",
    "Field",
    "Has",
    "Id",
    "Leaf",
    "Node",
    "Not",
    "Or",
    "Phrase",
    "Query",
    "Since",
    "SinceAgo",
    "Term",
    "Until",
    "Words",
    "YearRange",
    "parse",
    "positive_terms",
    "required",
    "resolve",
    "soft_words",
    "to_text",
]
