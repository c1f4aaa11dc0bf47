"""Titles and snippets with the matched words marked."""

from __future__ import annotations

from collections.abc import Sequence

from broadsheet.search.compose import has_cjk
from broadsheet.text import fold, forms, highlight, joined_pairs, snippet, stem, to_html, to_plain, words

SNIPPET_WIDTH = 280
# Common words say nothing about why a paper was found.
_QUIET = frozenset(
    """a an and are as at be by can do does for from has have how in into is it its not of on or our that the their
    then there these they this to was we what when where which who why will with you your""".split()  # noqa: SIM905
)


class Marker:
    """Marks the words of a question in papers' texts."""

    def __init__(self, questions: Sequence[str]) -> None:
        text = " ".join(questions)
        tokens = [token.text for token in words(text)]
        self._stems = {stem(token) for token in tokens if token not in _QUIET} or {stem(token) for token in tokens}
        exact = [*forms(text), *joined_pairs(tokens)]
        self._stems |= {stem(fold(form)) for form in exact}

    def snippet(self, markup: str) -> str:
        """HTML of the best passage of an abstract."""
        width = SNIPPET_WIDTH // 2 if has_cjk(markup) else SNIPPET_WIDTH
        return snippet(to_plain(markup), self._stems.__contains__, width=width)

    def title(self, markup: str) -> str:
        """HTML of a title; words are marked where it has no mathematics, which marks would break."""
        if "$" in markup:
            return to_html(markup, inline=True)
        return highlight(to_plain(markup), self._stems.__contains__)
