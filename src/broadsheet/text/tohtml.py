"""Markup as safe HTML: mathematics as MathML, emphasis, links, everything else escaped."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from .damage import damaged_spans
from .emphasis import Span, split_emphasis
from .mathml import formula_to_mathml
from .mathtext import Kind, hold_math, release_math

DAMAGE_NOTE = "The source damaged this passage; it is shown as received."


def to_html(markup: str, *, inline: bool = False) -> str:
    """Safe HTML of ``markup``, without an enclosing block element.

    ``inline=True`` is for titles and for text inside of a link: no links, and display formulas set in the line.
    A formula that cannot be converted is shown as its escaped source in ``<code class="tex">``.
    """
    text, held = hold_math(markup)
    return release_math(_spans_to_html(text, inline), [_formula(kind, tex, inline) for kind, tex in held])


def _formula(kind: Kind, tex: str, inline: bool) -> str:
    return formula_to_html(tex, display=kind == "display" and not inline)


@lru_cache(maxsize=8192)
def formula_to_html(tex: str, *, display: bool = False) -> str:
    """A formula as MathML, or as its source where it cannot be converted."""
    return formula_to_mathml(tex, display=display) or f'<code class="tex">{escape(tex)}</code>'


def _spans_to_html(text: str, inline: bool) -> str:
    return "".join(_span_to_html(span, inline) for span in split_emphasis(text))


def _span_to_html(span: Span, inline: bool) -> str:
    if span.style in {"em", "strong"}:
        return f"<{span.style}>{_spans_to_html(span.text, inline)}</{span.style}>"
    if span.style == "code":
        return f"<code>{escape(span.text)}</code>"
    if span.style == "link":
        shown = _text_to_html(span.text) if span.text != span.url else escape(span.text)
        return shown if inline else f'<a href="{escape(span.url)}" rel="noopener nofollow">{shown}</a>'
    return _text_to_html(span.text)


def _text_to_html(text: str) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in damaged_spans(text):
        pieces.append(escape(_bare_dollars(text[at:start])))
        pieces.append(f'<span class="damaged" title="{DAMAGE_NOTE}">{escape(_bare_dollars(text[start:end]))}</span>')
        at = end
    pieces.append(escape(_bare_dollars(text[at:])))
    return "".join(pieces)


def _bare_dollars(text: str) -> str:
    return text.replace("\\$", "$")
