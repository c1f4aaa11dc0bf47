"""Markdown out: a list for people, in which nothing that a source said is markup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from broadsheet.model import Link, LinkKind, Notice, NoticeKind, Paper
from broadsheet.sources import out_markdown
from broadsheet.sources.tagged import writable
from broadsheet.text import to_plain
from tests.makers import identifier

# As generous as programs get: HTML, tables, strikethrough, and bare addresses become links.
MARKDOWN = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(["table", "strikethrough", "linkify"])
PAPER = Paper(
    7,
    "On *slow* rivers",
    "Water flows.",
    authors=("Ana Hand", "Bo Foot"),
    identifiers=(identifier("1706.03762"), identifier("10.1000/x_y")),
    venue="icml",
    year=2020,
    links=(Link(LinkKind.PAGE, "https://a.org/x"), Link(LinkKind.PDF, "https://a.org/x.pdf"), Link(LinkKind.CODE, "https://github.com/a/b")),
)  # fmt: skip
WICKED = [
    "<script>alert(1)</script> Attention", '"><svg onload=alert(1)>', "[x](javascript:alert(1))",
    "![x](https://evil.org/p.png)", "https://evil.org/a", "www.evil.org", "see ftp://evil.org",
    "<https://evil.org>", "a@evil.org", "&lt;b&gt; &amp; &#60;", "# Head", "1. one", "12) one", "- item", "+ item",
    "* item", "> quote", "=====", "-----", "***", "```\ncode\n```", "    code", "~~gone~~", "| a | b |",
    "[x]: https://evil.org", "a\\", "\\[x](y)", "x]\\(y)", "`code", "**bold", "a\n\n# Head", "a\n<div>",
    "line  \nbreak", "$x$ and $$y$$", "A_b_c", "__init__", "![", "](https://evil.org)", "&copy;", "http://",
    "HTTPS://evil.org", "WWW.evil.org", "evil.org", "http.evil.co.uk/x", "www.1.2",
]  # fmt: skip


def tokens(text: str) -> list[Token]:
    flat: list[Token] = []
    for token in MARKDOWN.parse(text):
        flat.append(token)
        flat.extend(token.children or [])
    return flat


def links(text: str) -> list[str]:
    return [str(token.attrs["href"]) for token in tokens(text) if token.type == "link_open"]


def said(text: str) -> str:
    """All text, line breaks as one blank."""
    return "".join(
        t.content if t.type in ("text", "code_inline") else " " if t.type in ("hardbreak", "softbreak") else ""
        for t in tokens(text)
    )


SHAPE = {
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "paragraph_open",
    "paragraph_close", "inline", "text", "link_open", "link_close", "hardbreak", "em_open", "em_close",
    "strong_open", "strong_close", "blockquote_open", "blockquote_close",
}  # fmt: skip


def test_an_item() -> None:
    assert "".join(out_markdown.write([PAPER])) == (
        "- [On slow rivers](https://arxiv.org/abs/1706.03762)\\\n"
        "  Ana Hand, Bo Foot\\\n"
        "  *ICML* 2020 · [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)"
        " · [doi:10.1000/x\\_y](https://doi.org/10.1000/x_y) · [PDF](https://a.org/x.pdf) · [code](https://github.com/a/b)\n\n"
        "  > Water flows.\n\n"
    )


def test_abstracts_are_left_out_where_they_are_not_wanted() -> None:
    assert "Water" not in "".join(out_markdown.write([PAPER], abstracts=False))


def test_many_papers_are_one_list() -> None:
    text = "".join(out_markdown.write([PAPER, PAPER, Paper(1, "Bare")]))
    assert [token.type for token in tokens(text)].count("bullet_list_open") == 1
    assert [token.type for token in tokens(text)].count("list_item_open") == 3


def test_what_is_not_known_is_left_out() -> None:
    assert out_markdown.to_markdown(Paper(1, "Bare")) == "- Bare\n\n"
    assert out_markdown.to_markdown(Paper(1, "", links=PAPER.links[:1])) == "- [Untitled](https://a.org/x)\n\n"


def test_a_cut_list_and_a_retraction_are_said() -> None:
    text = out_markdown.to_markdown(
        replace(PAPER, authors_truncated=True, notices=(Notice(NoticeKind.RETRACTED, "x"),))
    )
    assert "Ana Hand, Bo Foot, et al." in text
    assert text.startswith("- **Retracted:** [On slow")


@pytest.mark.parametrize("wicked", WICKED)
@pytest.mark.parametrize("field", ["title", "abstract", "venue", "authors"])
def test_c10_what_a_source_said_is_inert(field: str, wicked: str) -> None:
    changed: dict[str, Any] = {field: ("Ana Hand", wicked) if field == "authors" else wicked}
    text = out_markdown.to_markdown(replace(PAPER, **changed))
    found = tokens(text)
    assert {token.type for token in found} <= SHAPE
    assert set(links(text)) <= {
        "https://arxiv.org/abs/1706.03762",
        "https://doi.org/10.1000/x_y",
        "https://a.org/x.pdf",
        "https://github.com/a/b",
    }
    assert [token.type for token in found].count("list_item_open") == 1
    expected = writable(wicked if field in ("authors", "venue") else to_plain(wicked))
    assert expected.casefold() in said(text).casefold()


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://a.org/x_(1)", "https://a.org/x_%281%29"),
        ("https://a.org/a b", "https://a.org/a%20b"),
        ("https://a.org/x) [y](javascript:alert(1)", "https://a.org/x%29%20%5By%5D%28javascript:alert%281%29"),
        ("javascript:alert(1)", ""),
        ("https://a.org/ü", "https://a.org/%C3%BC"),
        ("https://a.org/%20x?a=1&b=2", "https://a.org/%20x?a=1&b=2"),
    ],
)
def test_addresses(url: str, written: str) -> None:
    assert out_markdown.address(url) == written


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.characters(blacklist_categories=()) | st.sampled_from("\\`*_{}[]()<>#+-.!|~&$:/@=\n\t 1w"), max_size=40)
)
def test_any_text_is_shown_as_it_is(text: str) -> None:
    shown = writable(text)
    written = out_markdown.escape(text)
    for before in ("", "- ", "> "):
        found = tokens(before + written)
        assert {token.type for token in found} <= SHAPE
        assert links(before + written) == []
        assert said(before + written) == shown
