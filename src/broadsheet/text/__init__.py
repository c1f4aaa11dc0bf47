"""Text, from what a source wrote to what a page shows and an index holds; pure functions.

*raw* → ``clean`` → *markup* → ``to_plain`` (index, encoder, snippets) or ``to_html`` (pages). Heavy libraries (MathML,
sanitiser, stemmer) are imported at first use.
"""

from __future__ import annotations

from .clean import clean
from .damage import is_damaged
from .folding import fold, title_fingerprint
from .mathtext import join_math, split_math
from .names import display_name, name_key, same_person, split_authors
from .passages import first_sentence, highlight, shortened, snippet
from .plain import to_plain
from .tohtml import to_html
from .tokens import TOKEN_PATTERN, Token, forms, joined_pairs, stem, words

__all__ = [
    "TOKEN_PATTERN",
    "Token",
    "clean",
    "display_name",
    "first_sentence",
    "fold",
    "forms",
    "highlight",
    "is_damaged",
    "join_math",
    "joined_pairs",
    "name_key",
    "same_person",
    "shortened",
    "snippet",
    "split_authors",
    "split_math",
    "stem",
    "title_fingerprint",
    "to_html",
    "to_plain",
    "words",
]
