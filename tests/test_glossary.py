"""Chinese field terms to English."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.glossary import Gloss, english_of, gloss, glossary, parse_glossary

FUNCTION_CHARACTERS = set("的了和与及或是在有为以于之其这那个一不也就都而被把从到对向用中上下大小多少")


def terms_of(text: str) -> list[str]:
    return [found.zh for found in gloss(text)]


def test_glossary_is_sound() -> None:
    terms = glossary()
    assert len(terms) >= 1900
    for zh, english in terms.items():
        assert zh == zh.strip().lower()
        assert re.search("[\u4e00-\u9fff]", zh), zh
        assert zh not in FUNCTION_CHARACTERS
        assert len(zh) > 1 or zh == "熵"
        assert english
        assert len(set(english)) == len(english), zh
        for meaning in english:
            assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 '()/.+-]*", meaning), (zh, meaning)


def test_every_term_is_found_alone() -> None:
    for zh, english in glossary().items():
        assert gloss(zh) == [Gloss(zh, english, 0, len(zh))]


def test_one_line_a_term() -> None:
    assert parse_glossary("# heading\n\n损失\tloss; cost\n", "x.tsv") == {"损失": ("loss", "cost")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("损失\tloss\n损失\tcost\n", "x.tsv:2: 损失 is there already"),
        ("# a\n损失 loss\n", "x.tsv:2: write"),
        ("损失\tloss;\n", "x.tsv:1: write"),
        ("\tloss\n", "x.tsv:1: write"),
        ("损失 \tloss\n", "x.tsv:1: write"),
        ("损失\t\n", "x.tsv:1: write"),
    ],
)
def test_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse_glossary(text, "x.tsv")


@pytest.mark.parametrize(
    ("text", "zh"),
    [
        ("图神经网络", ["图神经网络"]),
        ("深度强化学习的探索", ["深度强化学习", "探索"]),
        ("多智能体强化学习", ["多智能体强化学习"]),
        ("大语言模型幻觉检测方法综述", ["大语言模型", "幻觉检测", "方法", "综述"]),
        ("差分隐私和联邦学习", ["差分隐私", "联邦学习"]),
        ("无监督学习理论", ["无监督学习", "理论"]),
        ("长尾分布鲁棒优化", ["长尾", "分布鲁棒优化"]),
        ("今天天气很好", []),
        ("", []),
        ("attention", []),
    ],
)
def test_longest_terms(text: str, zh: list[str]) -> None:
    assert terms_of(text) == zh


def test_covers_more_than_greedy_would() -> None:
    """Greedy takes 数据流 and leaves 形 behind."""
    assert "数据流" in glossary()
    assert terms_of("数据流形") == ["数据", "流形"]


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("檢索增強生成", "retrieval augmented generation"),
        ("機器學習", "machine learning"),
        ("類神經網路", "neural network"),
        ("強化學習", "reinforcement learning"),
        ("資訊檢索", "information retrieval"),
        ("語音辨識", "speech recognition"),
        ("演算法", "algorithm"),
        ("最佳化", "optimization"),
        ("後門攻擊", "backdoor attack"),
    ],
)
def test_traditional(text: str, english: str) -> None:
    found = gloss(text)
    assert [(term.start, term.end) for term in found] == [(0, len(text))]
    assert english in found[0].english


def test_across_languages_d16() -> None:
    english = english_of("大模型 检索增强")
    assert "large language model" in english
    assert "retrieval augmented" in english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("用GPU训练BERT v2时的RuntimeError", "GPU training BERT v2 RuntimeError"),
        ("C++ 编译器", "C++ compiler"),
        ("C# 与 GPT-4.", "C# GPT-4"),
        ("3D重建", "3D reconstruction"),
        ("Q学习", "Q-learning"),
        ("FAQ学习", "FAQ learning"),
        ("基于Schrödinger方程的损失", "Schrödinger loss"),
        ("损失，损失", "loss"),
        ("今天", ""),
        ("", ""),
        ("plain English stays", "plain English stays"),
    ],
)
def test_mixed_text(text: str, english: str) -> None:
    assert english_of(text) == english


PIECES = st.sampled_from([*sorted(glossary())[::40], "的", "和", "GPU", " ", "，", "İ", "檢", "é", "v2"])


@given(st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join)))
def test_spans(text: str) -> None:
    at = 0
    for found in gloss(text):
        assert at <= found.start < found.end <= len(text)
        assert len(found.zh) == found.end - found.start
        assert found.english == glossary()[found.zh]
        at = found.end


def test_time_is_linear() -> None:
    """A reader's question takes well under a millisecond, and a long text no more for each character."""
    question = "如何用检索增强降低大语言模型在医学问答中的幻觉"
    english_of(question)

    def best(text: str) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            english_of(text)
            times.append(time.process_time() - start)
        return min(times)

    assert best(question) < 0.001
    assert best(question * 200) < 200 * 0.001
