"""The little markdown that markup has: ``*x*``, ``**x**``, ```x```, links, and bare URLs."""

from __future__ import annotations

import re
from typing import Literal

Style = Literal["text", "em", "strong", "code", "link"]

# Marks count only where they hug words: "a * b", "5*3*2", "RRT*", "p < 0.05*" and names_with_underscores stay text.
# A single "*" never opens or closes inside of a word; "**" may ("**S**peech"), except between digits.
_MARK = re.compile(
    r"(?P<url>https?://[^\s<>\"`*{}|\\^\[\]\ufdd0]+)"
    r"|\[(?P<label>[^\[\]]{1,300})\]\((?P<target>https?://[^\s()<>\"]+)\)"
    r"|(?<!`)`(?P<code>[^`]{1,300})`(?!`)"
    r"|(?<![\w*\\])\*{3}(?=[^\s*])(?P<both>[^*]{1,400}?)(?<=[^\s*])\*{3}(?![\w*])"
    r"|(?<![\d*\\])\*{2}(?=[^\s*])(?P<strong>(?:[^*]|(?<!\*)\*(?!\*)){1,400}?)(?<=[^\s*])\*{2}(?![\d*])"
    r"|(?<![\w*\\])\*(?=[^\s*])(?P<em>(?:[^*]|\*\*(?=[^*])){1,400}?)(?<=[^\s*])\*(?![\w*])"
)
_SIGNS = ("*", "`", "http", "](")
_SENTENCE_END = ".,;:!?'\"’”"


class Span:
    """A stretch of text in one style; ``url`` for links. Nested marks are still in ``text`` of em and strong."""

    __slots__ = ("style", "text", "url")

    def __init__(self, style: Style, text: str, url: str = "") -> None:
        self.style = style
        self.text = text
        self.url = url


def split_emphasis(text: str) -> list[Span]:
    """The spans of ``text`` (without formulas: see ``mathtext.hold_math``) in order."""
    if not any(sign in text for sign in _SIGNS):
        return [Span("text", text)] if text else []
    spans: list[Span] = []
    at = 0
    for found in _MARK.finditer(text):
        if found.start() > at:
            spans.append(Span("text", text[at : found.start()]))
        span, at = _span(found)
        spans.append(span)
    if at < len(text):
        spans.append(Span("text", text[at:]))
    return spans


def _span(found: re.Match[str]) -> tuple[Span, int]:
    if found["url"] is not None:
        url = _trim(found["url"])
        return Span("link", url, url), found.start() + len(url)
    if found["target"] is not None:
        return Span("link", found["label"], found["target"]), found.end()
    if found["code"] is not None:
        return Span("code", found["code"]), found.end()
    if found["both"] is not None:
        return Span("strong", f"*{found['both']}*"), found.end()
    if found["strong"] is not None:
        return Span("strong", found["strong"]), found.end()
    return Span("em", found["em"]), found.end()


def _trim(url: str) -> str:
    """``url`` without the punctuation of the sentence around it; a bracket stays if it was opened in the URL."""
    while True:
        shorter = url.rstrip(_SENTENCE_END)
        if shorter.endswith(")") and shorter.count(")") > shorter.count("("):
            shorter = shorter[:-1]
        if shorter == url:
            return url
        url = shorter


def strip_emphasis(text: str) -> str:
    """``text`` without the marks: the label of a link, the words of the rest."""
    if "*" not in text and "`" not in text and "](" not in text:
        return text
    return "".join(
        strip_emphasis(span.text) if span.style in {"em", "strong"} else span.text for span in split_emphasis(text)
    )
