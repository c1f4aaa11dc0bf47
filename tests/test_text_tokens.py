"""Folding, words, stems, exact forms and fingerprints; Tantivy and PyStemmer are the oracles."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import unicodedata
from itertools import islice

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.text import (
    TOKEN_PATTERN,
    Token,
    clean,
    fold,
    forms,
    joined_pairs,
    stem,
    title_fingerprint,
    to_plain,
    words,
)
from tests.shared import shared

TRICKY = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs", "Cn"]),
        st.sampled_from("aZ0 -_αβΣςόéıİßŁøæﬁ①½Ⅳ中文がガｶﾞ한ᄒ\u1161\u11ab\u0301\u3099\u200d々ー〇ＡＢ１™㎏℃क्षि"),
    ),
    max_size=20,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("GPT-4", "gpt-4"),
        ("Schrödinger Müller Łódź Søren Đorđe İstanbul ısı", "schrodinger muller lodz soren dorde istanbul isi"),
        ("António Araújo", "antonio araujo"),  # D09
        ("Straße Æther œuvre Þór", "strasse aether oeuvre thor"),
        ("β-VAE", "beta-vae"),
        ("αβ Δt μm x∈Ω", "alpha beta delta t mu m x∈omega"),
        ("Ελλάδα λόγος", "ελλαδα λογοσ"),
        ("ϵ ϑ ϕ µ", "epsilon theta phi mu"),
        ("ＧＰＴ－４　ﬁne ①", "gpt-4 fine 1"),
        ("語言模型 大模型", "語言模型 大模型"),
        ("がギ", "がギ"),
        ("한국어", "한국어"),
        ("non‑breaking bias–variance it’s", "non-breaking bias-variance it's"),
        ("𝒪(n) ℝ", "o(n) r"),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_one_term_for_every_spelling() -> None:  # D04
    for raw in (r"the $\alpha$ of Schr\"odinger", "the α of Schrödinger", "the alpha of Schro\u0308dinger"):
        assert [token.text for token in words(to_plain(clean(raw)))] == ["the", "alpha", "of", "schrodinger"]


def test_fold_does_not_depend_on_normal_form() -> None:  # D04, E06
    for name in ("Schrödinger", "Müller", "Nguyễn", "한국", "が"):
        assert fold(unicodedata.normalize("NFD", name)) == fold(unicodedata.normalize("NFC", name))


@settings(max_examples=500, deadline=None)
@given(TRICKY)
def test_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_fold_of_ascii_is_the_general_fold(text: str) -> None:
    assert fold(text) == fold(text + "é")[:-1]


def test_words_of_mixed_text() -> None:
    text = "步2 重跑gen-itgc后50条悬空引用清零"  # D05
    found = [token.text for token in words(text)]
    assert found == [*"步2重跑", "gen", "itgc", "后", "50", *"条悬空引用清零"]
    assert Token("itgc", 9, 13) in words(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C++ foo-bar a_b x.y", ["c", "foo", "bar", "a", "b", "x", "y"]),  # D07: the exact forms are in ``forms``
        ("The β-VAE of Schrödinger", ["the", "beta", "vae", "of", "schrodinger"]),
        ("αx ½", ["alpha", "x", "1", "2"]),
        ("", []),
        ("¿?", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert [token.text for token in words(text)] == found


@settings(max_examples=500, deadline=None)
@given(TRICKY)
def test_words_slice_the_original(text: str) -> None:
    last = 0
    for token in words(text):
        assert 0 <= token.start < token.end <= len(text)
        assert token.start >= last
        assert token.text in fold(text)
        assert any(token.text == part.text for part in words(text[token.start : token.end]))
        last = token.start


def _tantivy_words(text: str) -> list[str]:
    return list(tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(TOKEN_PATTERN)).build().analyze(fold(text)))


@settings(max_examples=300, deadline=None)
@given(TRICKY)
def test_words_agree_with_tantivy(text: str) -> None:
    assert [token.text for token in words(text)] == _tantivy_words(text)


def _abstracts(count: int) -> list[str]:
    path = shared("data", "conference_papers", "papers.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [to_plain(clean(json.loads(line)["abstract"])) for line in islice(lines, 0, count * 20, 20)]


def test_words_of_real_abstracts_agree_with_tantivy() -> None:
    analyser = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(TOKEN_PATTERN)).build()
    for abstract in _abstracts(300):
        assert [token.text for token in words(abstract)] == analyser.analyze(fold(abstract))


def test_stem_agrees_with_snowball() -> None:
    stemmer = pytest.importorskip("Stemmer").Stemmer("english")
    vocabulary = {token.text for abstract in _abstracts(500) for token in words(abstract)}
    assert len(vocabulary) > 5000
    assert [word for word in vocabulary if stem(word) != stemmer.stemWord(word)] == []


@pytest.mark.parametrize(
    ("word", "stemmed"), [("running", "run"), ("generalization", "general"), ("gpt4", "gpt4"), ("中", "中"), ("", "")]
)
def test_stem(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C++ and C#, F# or g++", ["c++", "c#", "f#", "g++"]),  # D04, D07
        ("C/C++ code", ["c++"]),
        (".NET and Node.js", [".net", "node.js"]),
        ("AT&T", ["at&t"]),
        ("GPT-4", ["gpt-4", "gpt4"]),
        ("GPT4", ["gpt4", "gpt"]),
        ("YOLOv8", ["yolov8", "yolo"]),
        ("ResNet50", ["resnet50", "resnet"]),
        ("pre-training", ["pre-training", "pretraining"]),
        ("non-invasive", ["non-invasive", "noninvasive"]),  # D01
        ("multi-agent", ["multi-agent", "multiagent"]),  # D02
        ("foo-bar", ["foo-bar", "foobar"]),
        ("something_2020-07-13_words", ["something_2020-07-13_words", "something20200713words"]),
        ("β-VAE", ["beta-vae", "betavae"]),
        ("2401.12345", ["2401.12345"]),
        ("GPT-4模型", ["gpt-4", "gpt4"]),
        ('(GPT-4), "pre-training".', ["gpt-4", "gpt4", "pre-training", "pretraining"]),
        ("pre-training and pre-training", ["pre-training", "pretraining"]),
        ("plain words only, with 95.5% and 3.2", []),
        ("the end.Next one", []),
        ("CamelCase", []),
        ("", []),
    ],
)
def test_forms(text: str, found: list[str]) -> None:
    assert forms(text) == found


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aB1-_&+#. é", max_size=30))
def test_forms_are_folded_and_unique(text: str) -> None:
    found = forms(text)
    assert len(set(found)) == len(found)
    assert all(fold(form) == form and form for form in found)


def test_joined_pairs_meet_hyphenated_words() -> None:  # D01
    assert joined_pairs(["pre", "training", "of"]) == ["pretraining", "trainingof"]
    assert joined_pairs(["one"]) == []
    assert set(joined_pairs(["non", "invasive"])) & set(forms("non-invasive"))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("$k$-means Clustering", "k-means clustering"),
        (r"Learning with $\alpha$-divergence", "Learning with α-Divergence"),
        ("E$^2$-RAG", "E²-RAG"),
        ("Schrödinger Bridges", "Schrodinger bridges"),
        ("*Emphatic* Title!", "Emphatic title"),
        ("Self-Attention: A Survey", "Self Attention – a survey"),
        ("大模型：综述", "大模型 综述"),
    ],
)
def test_equal_titles(a: str, b: str) -> None:
    assert title_fingerprint(a) == title_fingerprint(b) != ""


@pytest.mark.parametrize(
    ("a", "b"),
    [("On Nets, Part I", "On Nets, Part II"), ("YOLO 9", "YOLO 90"), ("Nets 1", "Nets I"), ("大模型", "小模型")],
)
def test_different_titles(a: str, b: str) -> None:
    assert title_fingerprint(a) != title_fingerprint(b)


def test_titles_that_identify_nothing() -> None:
    assert title_fingerprint("") == title_fingerprint("?!") == title_fingerprint("M\ufffdller on nets") == ""


def test_import_is_light() -> None:
    """Formula, sanitiser, stemmer and markdown libraries load at first use."""
    code = (
        "import sys, broadsheet.text; "
        "print(*sorted({'latex2mathml','nh3','tantivy','markdown_it','numpy','pylatexenc'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": "src"}
    )
    assert done.stdout.strip() == ""
