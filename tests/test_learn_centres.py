"""A reader's several interests, and the words by which they are shown."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from broadsheet.learn.centres import InterestCentres, interest_centres, telling_words
from broadsheet.learn.space import TextSpace
from broadsheet.learn.terms import shown

COMMON = np.eye(32)[0]


def about(topic: int, count: int, seed: int = 0, spread: float = 0.3) -> np.ndarray:
    """Rows of length 1 around one of several directions; the first topic is common to all."""
    rng = np.random.default_rng((topic, seed))
    rows = rng.normal(size=(count, 32)) * spread / np.sqrt(32)
    rows[:, 0] += 1
    rows[:, 1 + topic] += 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def grouped(rows: np.ndarray, **parameters: object) -> list[int]:
    return InterestCentres(**parameters).fit(rows, np.ones(len(rows)), COMMON).labels_.tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [(4,), (10,), (10, 6), (30, 20, 10), (500, 300, 200), (8, 8, 8, 8, 8, 8, 8, 8)])
def test_each_interest_is_a_centre_and_the_greatest_comes_first(sizes: tuple[int, ...]) -> None:
    rows = np.vstack([about(topic, size) for topic, size in enumerate(sizes)])
    found = InterestCentres().fit(rows, np.ones(len(rows)), COMMON)
    expected = np.repeat(np.arange(len(sizes)), sizes)
    if len(set(sizes)) == len(sizes):
        assert found.labels_.tolist() == expected.tolist()
    pairs = set(zip(found.labels_.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(sizes)
    np.testing.assert_allclose(found.shares_, np.array(sizes) / sum(sizes))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_few_papers_are_one_interest(count: int) -> None:
    rows = np.vstack([about(topic, 1) for topic in range(3)])[:count]
    found = InterestCentres().fit(rows, np.ones(count), COMMON)
    assert found.labels_.tolist() == [0] * count
    assert found.shares_.tolist() == [1.0] * bool(count)


def test_there_are_at_most_as_many_as_allowed() -> None:
    rows = np.vstack([about(topic, 10) for topic in range(12)])
    assert len(set(grouped(rows, smallest=0.02))) == 8
    assert len(set(grouped(rows, smallest=0.02, most=3))) == 3


def test_a_stray_paper_is_no_interest_and_hides_none() -> None:
    """One paper against all others is the greatest difference; the two interests are behind it."""
    one, other, stray = np.zeros((3, 32))
    one[:2], other[[0, 2]], stray[0] = [0.67, 0.74], [0.67, 0.74], -1
    rng = np.random.default_rng(0)
    rows = np.vstack([np.tile(one, (4, 1)), stray[None], np.tile(other, (4, 1))]) + rng.normal(size=(9, 32)) / 100
    labels = InterestCentres().fit(rows, np.ones(9)).labels_.tolist()
    assert labels[:4] == [labels[0]] * 4
    assert labels[5:] == [1 - labels[0]] * 4
    assert labels[4] in (0, 1)


def test_shares_are_of_what_is_remembered_now() -> None:
    rows = np.vstack([about(0, 20), about(1, 20)])
    found = InterestCentres().fit(rows, np.r_[np.full(20, 0.1), np.full(20, 0.9)], COMMON)
    assert found.labels_.tolist() == [1] * 20 + [0] * 20
    np.testing.assert_allclose(found.shares_, [0.9, 0.1])
    faded = InterestCentres().fit(rows, np.zeros(40), COMMON)
    assert faded.shares_.sum() == pytest.approx(1)


def test_a_paper_without_text_is_in_no_centre() -> None:
    assert grouped(np.vstack([about(0, 5), np.zeros((1, 32))])) == [0, 0, 0, 0, 0, -1]
    assert grouped(np.zeros((3, 32))) == [-1, -1, -1]


def test_what_was_disliked_is_no_interest() -> None:
    with pytest.raises(ValueError, match="negative"):
        InterestCentres().fit(about(0, 2), np.array([1.0, -1.0]))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(0, 1000), st.floats(0.1, 3))
def test_any_papers_are_grouped_wholly_and_always_alike(count: int, seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    rows = np.vstack([about(int(topic), 1, n, spread) for n, topic in enumerate(rng.integers(0, 5, count))])
    weights = rng.random(count)
    found = InterestCentres().fit(rows, weights, COMMON)
    assert (found.labels_ >= 0).all()
    assert set(found.labels_.tolist()) == set(range(len(found.shares_)))
    assert len(found.shares_) <= 8
    assert (np.diff(found.shares_) <= 1e-12).all()
    assert found.shares_.sum() == pytest.approx(1)
    assert InterestCentres().fit(rows, weights, COMMON).labels_.tolist() == found.labels_.tolist()


@pytest.mark.parametrize("count", [20, 60, 200])
def test_one_more_paper_of_a_known_interest_moves_no_other(count: int) -> None:
    rows = np.vstack([about(topic, count // 4, spread=0.8) for topic in range(4)])
    before = grouped(rows)
    after = grouped(np.vstack([rows, about(2, 1, seed=5, spread=0.8)]))
    renamed = set(zip(before, after, strict=False))  # the order of the centres may change
    assert len(renamed) == len(set(before)) == len(set(after)) == 4
    assert after[-1] == after[2 * (count // 4)]


def test_two_thousand_papers_are_grouped_in_little_time() -> None:
    rows = np.random.default_rng(0).normal(size=(2000, 256))
    begin = time.process_time()
    InterestCentres().fit(rows, np.ones(2000))
    assert time.process_time() - begin < 5  # about 0.3 s on a quiet machine


# The words

BIRDS = (
    "Gaussian splatting of birds. We propose Gaussian splatting for the songs of birds, and show results on birdsong.",
    "Birds by Gaussian splatting. Experiments demonstrate songs of many birds.",
    "GPT listens to birds. GPT and GPT again, by splatting.",
)
TIDES = (
    "Retrieval-augmented generation of tide tables. We study tide tables by retrieval-augmented generation.",
    "Tide tables. Existing methods of retrieval-augmented generation are extended.",
    "A tide table. Our retrieval-augmented generation for tide tables outperforms baselines.",
)
NOISE = tuple(f"We propose a model of stone {n}, show results and demonstrate a method on data." for n in range(40))


def test_the_centres_as_they_are_shown() -> None:
    texts = [*BIRDS, *TIDES]
    space = TextSpace(topics=16).fit([*texts, *NOISE])
    words, topics = space.transform(texts)
    ids = [30, 10, 20, 60, 40, 50]
    weights = np.array([0.1, 0.5, 0.3, 1, 1, 0.5])
    known = dict(zip(ids, texts, strict=True))
    found = interest_centres(ids, weights, space=space, words=words, topics=topics, texts=known)
    assert [centre.papers for centre in found] == [(60, 40, 50), (10, 20, 30)]
    assert [centre.share for centre in found] == pytest.approx([2.5 / 3.4, 0.9 / 3.4])
    assert {"tide tables", "retrieval-augmented generation"} <= set(found[0].words)
    assert {"Gaussian splatting", "birds"} <= set(found[1].words)
    for centre in found:
        assert not {"propose", "results", "method", "data", "show"} & set(centre.words)


def test_no_papers_no_centres() -> None:
    space = TextSpace(topics=4).fit(BIRDS)
    words, topics = space.transform([])
    assert interest_centres([], np.zeros(0), space=space, words=words, topics=topics, texts={}) == ()


def test_words_that_the_background_says_as_often_tell_nothing() -> None:
    space = TextSpace(topics=1).fit(["birds songs tides"])
    columns = [space.names_.index(name) for name in ("birds", "songs", "tides")]
    space.mean_ = np.zeros(len(space.names_), np.float32)
    space.mean_[columns] = [0.6, 0.1, 0.2]
    rows = sparse.csr_matrix(([0.5, 0.5, 0.1], ([0, 0, 0], columns)), shape=(1, len(space.names_)))
    assert telling_words(rows, space, ["birds, songs, tides"]) == ["songs"]


@pytest.mark.parametrize(
    ("ranked", "texts", "words"),
    [
        (["splatting"], ["Gaussian splatting"], ["splatting"]),
        (["propose", "https", "paper"], ["We propose https in this paper"], []),
        (["model"], ["a model"], []),
        (["model", "world model"], ["a world model"], ["world model"]),
        (["wei zhang"], ["Nothing by the authors"], []),
        (["bayes"], ["Naïve Bayes"], ["Bayes"]),
        (["naive"], ["naïve"], ["naïve"]),
        (["diffusion"], ["Diffusion. Diffusion. With diffusion"], ["diffusion"]),
        (["llm"], ["LLM and LLM and Llm"], ["LLM"]),
        (["proposal birds"], ["a proposal. Birds"], []),
        (["augmented generation"], ["retrieval-augmented generation"] * 2, ["retrieval-augmented generation"]),
        (["diffusion large"], ["diffusion large language models, a diffusion large language model"],
         ["diffusion large language model"]),
        (["active learning"], ["by active learning we", "with active learning, we"], ["active learning"]),
        (["birds", "bird"], ["birds and a bird"], ["birds"]),
        (["splatting", "gaussian splatting", "gaussian"], ["Gaussian splatting"], ["Gaussian splatting"]),
        (["r1", "v2", "gpt4"], ["r1 v2 gpt4"], ["gpt4"]),
        (["long", "agnostic"], ["long-term memory, architecture-agnostic"], ["architecture-agnostic"]),
        (["long", "agnostic", "accurate"], ["a long, agnostic and accurate one"], []),
        (["aware", "state"], ["a state-of-the-art long-aware way"], []),
        (["memory"], ["memory and long-memory and memory"], ["memory"]),
        (["散模"], ["基于扩散模型。", "在扩散模型中", "用扩散模型和"], ["扩散模型"]),
        (["散模"], ["扩散模型"], []),
        (["我们"], ["我们。我们"], []),
        (["们提", "提出"], ["我们提出它。我们提出你"], []),
    ],
)  # fmt: skip
def test_words_are_shown_as_they_are_written(ranked: list[str], texts: list[str], words: list[str]) -> None:
    assert list(shown(ranked, texts, 5)) == words


def test_of_an_endless_text_the_beginning_is_looked_at() -> None:
    text = "pebble " * 10 + "beach " * 200_000 + "tide " * 10
    assert list(shown(["pebble", "tide"], [text], 5)) == ["pebble"]


def test_shown_words_know_their_terms_and_are_as_many_as_asked_for() -> None:
    found = shown(["birds", "tides", "stones"], ["Birds, tides and stones"], 2)
    assert found == {"Birds": "birds", "tides": "tides"}


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), max_size=8), st.lists(st.text(max_size=60), max_size=4), st.integers(0, 4))
def test_any_terms_and_texts_are_shown_without_fault(ranked: list[str], texts: list[str], count: int) -> None:
    found = shown(ranked, texts, count)
    assert len(found) <= count
    assert all(any(surface in text for text in texts) for surface in found)
