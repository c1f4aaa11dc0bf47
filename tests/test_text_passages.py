"""First sentences, snippets and highlights."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.text import first_sentence, highlight, snippet, split_math, stem


@pytest.mark.parametrize(
    ("markup", "sentence"),
    [
        ("We study nets. They learn.", "We study nets"),
        (
            "We use e.g. BERT, i.e. a net, as in Lee et al. and Fig. 3. Next.",
            "We use e.g. BERT, i.e. a net, as in Lee et al. and Fig. 3",
        ),
        ("By Lee et al. (2024), nets of J. Smith learn. Next.", "By Lee et al. (2024), nets of J. Smith learn"),
        ("Version 2.5 is 3.1% better. Next.", "Version 2.5 is 3.1% better"),
        ("Do nets learn? Yes.", "Do nets learn?"),
        ("Nets vs. trees. Next.", "Nets vs. trees"),
        ("In $x. Y$ we trust. Next.", "In $x. Y$ we trust"),
        ("They call it “deep.” Next.", "They call it “deep”"),
        ("No full stop", "No full stop"),
        ("Abstract. We study nets. Next.", "We study nets"),
        ("**Background:** Nets grow. Next.", "Nets grow"),
        ("Background noise hurts. Next.", "Background noise hurts"),
        ("本文研究大模型。其次。", "本文研究大模型"),
        ("We learn... slowly. Next.", "We learn... slowly"),
        ("", ""),
    ],
)
def test_first_sentence(markup: str, sentence: str) -> None:
    assert first_sentence(markup) == sentence


def test_long_sentences_are_cut_at_a_word() -> None:
    cut = first_sentence("many words " * 30 + "end.")
    assert cut.endswith("words…") or cut.endswith("many…")
    assert len(cut) <= 121


def test_cut_is_never_inside_a_formula() -> None:
    cut = first_sentence("word " * 22 + r"$a + b + c + d + e$ and more words to follow it.")
    assert "$" not in cut
    cut = first_sentence("word " * 20 + r"$a + b$ and more words to follow it.")
    assert [kind for kind, _ in split_math(cut)] == ["text", "inline", "text"]


def test_long_chinese_sentences_are_cut() -> None:
    assert first_sentence("模型" * 100) == "模型" * 60 + "…"


TEXT = (
    "Nothing is said here of it. " * 12
    + "We propose neural ranking for retrieval. It learns ranks from clicks. "
    + "And nothing more is said after it. " * 12
)


def test_snippet_shows_the_most_distinct_words() -> None:
    found = snippet(TEXT, {"neural", "retriev", "click"}.__contains__)
    assert (
        "We propose <mark>neural</mark> ranking for <mark>retrieval</mark>. It learns ranks from <mark>clicks</mark>."
        in found
    )
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(re.sub("</?mark>", "", found)) <= 290


def test_snippet_prefers_distinct_to_frequent() -> None:
    text = "neural neural neural neural. " + "filler words go on here. " * 30 + "A neural ranker."
    assert "<mark>ranker</mark>" in snippet(text, {"neural", "ranker"}.__contains__, width=100)


def test_snippet_begins_at_a_sentence_or_word() -> None:
    found = snippet(TEXT, {"click"}.__contains__, width=120)
    start = html.unescape(re.sub("</?mark>", "", found)).removeprefix("… ")[:20]
    at = TEXT.index(start)
    assert TEXT[at - 1] == " "
    assert "<mark>clicks</mark>" in found


def test_snippet_of_a_short_text_is_all_of_it() -> None:
    assert snippet("a <b> c & d", {"b"}.__contains__) == "a &lt;<mark>b</mark>&gt; c &amp; d"
    assert snippet("", {"b"}.__contains__) == ""


def test_snippet_without_matches_is_the_beginning() -> None:
    found = snippet(TEXT, lambda word: False)
    assert found.startswith("Nothing is said here")
    assert "<mark>" not in found


def test_chinese_marks_are_merged() -> None:
    assert highlight("把悬空引用清零 <b>", {"悬", "空", "引"}.__contains__) == "把<mark>悬空引</mark>用清零 &lt;b&gt;"


def test_snippet_of_a_long_chinese_text() -> None:
    found = snippet("无关文字。" * 100 + "检索增强生成。" + "其他内容。" * 100, {"检", "索"}.__contains__, width=60)
    assert "<mark>检索</mark>增强" in found
    assert len(found) < 100


def test_highlight_matches_stems_and_accents() -> None:
    assert highlight("Schrödinger's bridges", {"schrodinger", "bridg"}.__contains__) == (
        "<mark>Schrödinger</mark>&#x27;s <mark>bridges</mark>"
    )
    assert stem("bridges") == "bridg"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=" ab<>&.中文é½α\n", max_size=200), st.integers(20, 80))
def test_snippets_are_escaped_pieces_of_the_text(text: str, width: int) -> None:
    found = snippet(text, {"a", "中", "1", "alpha"}.__contains__, width=width)
    body = html.unescape(re.sub("</?mark>", "", found)).removeprefix("… ").removesuffix(" …")
    assert body in text
    assert re.sub("</?mark>", "", found).count("<") == 0
    assert found.count("<mark>") == found.count("</mark>")
    whole = highlight(text, {"a", "中"}.__contains__)
    assert html.unescape(re.sub("</?mark>", "", whole)) == text
