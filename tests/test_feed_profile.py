"""What is followed and muted: what an interest means, and its one spelling."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.feed.profile import LONGEST, is_muted, matches, matching, normalised, same_interest
from broadsheet.model import Area, Paper, Place
from broadsheet.model.reading import Interest, InterestKind

K = InterestKind
PAPER = Paper(
    1,
    "Pre-training GPT-4 in C++",
    "We show that *active* learning with $\\alpha$-diffusion models 步2 重跑gen-itgc后50条悬空引用清零 is quick.",
    authors=("Stuart M. Shieber", "António Araújo", "祖冲之"),
    areas=(Area("cs", "cs.LG"), Area("Theory", "Learning Theory")),
    venue="nips",
    keywords=("Contextual Bandits",),
    places=(Place("icml-site", venue="Proceedings of the 41st International Conference on Machine Learning"),),
)


def interest(text: str) -> Interest:
    kind, _, value = text.partition(":")
    return normalised(Interest(K(kind), value))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("keyword:active learning", True),
        ("keyword:Active Learning", True),
        ("keyword:learning active", False),  # in this order
        ("keyword:diffusion model", True),  # as the index stems
        ("keyword:learn", True),
        ("keyword:ear", False),  # whole words
        ("keyword:model learning", False),
        ("keyword:bandit", True),  # the authors' keywords
        ("keyword:learning contextual", False),  # not over the end of a text
        ("keyword:c++", True),
        ("keyword:c#", False),
        ("keyword:gpt-4", True),
        ("keyword:gpt4", True),
        ("keyword:GPT", True),
        ("keyword:pretraining", True),
        ("keyword:pre training", True),
        ("keyword:pre-training", True),
        ("keyword:α-diffusion", True),
        ("keyword:悬空", True),
        ("keyword:空悬", False),
        ("keyword:itgc", True),
        ("author:Shieber, Stuart", True),
        ("author:S. Shieber", True),
        ("author:Stuart Shieber", True),
        ("author:Samuel Shieber", False),
        ("author:Araujo Antonio", True),
        ("author:Antonio Araujo", True),
        ("author:祖冲之", True),
        ("author:祖暅之", False),
        ("area:cs.LG", True),
        ("area:CS.lg", True),
        ("area:cs", True),
        ("area:c", False),
        ("area:cs.L", False),
        ("area:Learning Theory", True),
        ("area:theory", True),
        ("area:Theory · Learning Theory", True),
        ("area:stat.ML", False),
        ("venue:NeurIPS", True),
        ("venue:NIPS", True),
        ("venue:icml", True),
        ("venue:ICLR", False),
    ],
)
def test_what_an_interest_means(text: str, meant: bool) -> None:
    assert matches(PAPER, interest(text)) is meant
    assert is_muted(PAPER, [interest("keyword:nowhere"), interest(text)]) is meant
    assert matching(PAPER, [interest(text)]) == ([interest(text)] if meant else [])


def test_a_paper_without_anything_is_meant_by_nothing() -> None:
    bare = Paper(2, "")
    for text in ("keyword:a", "author:Ann Lee", "area:cs", "venue:ICML"):
        assert not matches(bare, interest(text))
    assert not is_muted(bare, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("keyword:  Active   LEARNING ", "active learning"),
        ("keyword:Gödel", "godel"),
        ("keyword:大模型", "大模型"),
        ("keyword:C++", "c++"),
        ("author:Shieber, Stuart M.", "Stuart M. Shieber"),
        ('author:J\\"ager, A.', "A. Jäger"),
        ("area:CS.lg", "cs.LG"),
        ("area:CS", "cs"),
        ("area:STAT.ml", "stat.ML"),
        ("area:astro-ph.co", "astro-ph.CO"),
        ("area:Physics.Optics", "physics.optics"),
        ("area:cond-mat.mes-hall", "cond-mat.mes-hall"),
        ("area:Deep Learning", "Deep Learning"),
        ("venue:nips", "NeurIPS"),
        ("venue:Annals of Made-Up Results", "Annals of Made-Up Results"),
    ],
)
def test_interests_have_one_spelling(text: str, value: str) -> None:
    found = interest(text)
    assert found.value == value
    assert normalised(found) == found


@pytest.mark.parametrize(
    "text", ["keyword:", "keyword: ,; ", "keyword:!!", "author:--", "area: ", "venue:", "author:\ufffd"]
)
def test_what_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=text.partition(":")[0]):
        interest(text)


def test_what_is_too_long_is_refused() -> None:
    assert interest("keyword:" + "a" * LONGEST).value == "a" * LONGEST
    with pytest.raises(InputError, match="200"):
        interest("keyword:" + "a" * (LONGEST + 1))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("keyword:Bandits", "keyword:bandits", True),
        ("keyword:bandits", "author:Bandits", False),
        ("author:Stuart Shieber", "author:S. Shieber", True),
        ("author:Stuart Shieber", "author:Samuel Shieber", False),
        ("venue:NIPS", "venue:NeurIPS", True),
        ("area:cs.LG", "area:CS.LG", True),
        ("area:cs", "area:cs.LG", False),
    ],
)
def test_interests_that_are_one(one: str, other: str, same: bool) -> None:
    assert same_interest(interest(one), interest(other)) is same
    assert same_interest(interest(other), interest(one)) is same


@example(K.AUTHOR, "Ann Lee¹0#")
@given(st.sampled_from(list(K)), st.text(max_size=40))
def test_normalising_is_final(kind: K, value: str) -> None:
    try:
        found = normalised(Interest(kind, value))
    except InputError:
        return
    assert normalised(found) == found
    assert same_interest(found, found)


PLAIN = ["river", "boats", "slow", "made", "learning", "bandits", "c++", "gpt-4", "悬空"]


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=8))
def test_a_phrase_out_of_a_title_means_the_paper(words: list[str]) -> None:
    paper = Paper(1, " ".join(words))
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            assert matches(paper, interest("keyword:" + " ".join(words[start:end])))


@pytest.mark.parametrize(
    ("keyword", "title", "meant"),
    [
        ("c++ compilers", "Parsing C++ headers", False),
        ("c++ compilers", "Fast C++ compilers", True),
        ("c++ compilers", "Fast C compilers", False),
        ("c++20", "C++17 modules", False),
        ("c# and .net", "Programs in C# and .NET", True),
        ("c# and .net", "Programs in C#", False),
        ("c++", "Learning C++", True),
    ],
)
def test_signs_and_words_of_a_keyword_are_both_meant(keyword: str, title: str, meant: bool) -> None:
    assert matches(Paper(1, title), interest(f"keyword:{keyword}")) is meant
