"""Texts as words and topics: against scikit-learn, in any script, and from damaged files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import IndexDamagedError, StoreError
from broadsheet.learn import space as space_module
from broadsheet.learn.space import TextSpace, kept_space, text_of
from broadsheet.learn.terms import stop_words, terms
from broadsheet.model import Paper

SUBJECTS = ("maps of rivers", "songs of birds", "orbits of moons", "proofs by induction", "roots of trees")
VERBS = ("We measure", "We draw", "This explains", "Nobody counted")


def made_texts(count: int = 120) -> list[str]:
    """English texts on five subjects; no two terms at the limit of a cut are equally frequent by accident."""
    return [
        f"{VERBS[n % 4]} the {SUBJECTS[n % 5]} near village {'abcdefghij'[n % 10]}{n % 7}, and {SUBJECTS[(n * n) % 5]}."
        for n in range(count)
    ]


# Terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("The maps of rivers", ["maps", "rivers", "maps rivers"]),
        ("GPT-4 and 3D", ["gpt"]),
        ("naïve Bayes", ["naive", "bayes", "naive bayes"]),
        ("β-VAE", ["beta", "vae", "beta vae"]),
        ("扩散模型", ["扩散", "散模", "模型"]),
        ("图", ["图"]),
        ("gpt模型 v2", ["gpt", "v2", "gpt v2", "模型"]),
        ("データ", ["デー", "ータ"]),
        ("확산 모델", ["확산", "모델"]),
        ("глубокое обучение", ["глубокое", "обучение", "глубокое обучение"]),
    ],
)
def test_the_terms_of_a_text(text: str, found: list[str]) -> None:
    assert list(terms(text, stop_words())) == found


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_on_english_the_terms_are_those_of_the_measured_features(text: str) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    analyse = TfidfVectorizer(
        strip_accents="unicode",
        stop_words="english",
        token_pattern=r"(?u)\b[a-zA-Z_][a-zA-Z0-9_]+\b",
        ngram_range=(1, 2),
    ).build_analyzer()
    assert sorted(terms(text, stop_words())) == sorted(analyse(text))


# The space


def test_words_are_weighed_as_scikit_learn_weighs_them() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = made_texts(1000)
    theirs = TfidfVectorizer(
        analyzer=lambda text: terms(text, stop_words()),
        sublinear_tf=True,
        max_df=0.5,
        min_df=5,
        dtype=np.float32,
    )
    wanted = theirs.fit_transform(texts)
    mine = TextSpace(topics=8).fit(texts)
    assert mine.names_ == theirs.get_feature_names_out().tolist()
    words, _ = mine.transform(texts)
    assert words.dtype == np.float32
    np.testing.assert_allclose(words.toarray(), wanted.toarray(), atol=1e-6)
    np.testing.assert_allclose(mine.mean_, wanted.toarray().mean(axis=0), atol=1e-6)


def test_the_most_frequent_terms_are_kept() -> None:
    space = TextSpace(max_features=3, topics=2).fit(
        ["tides tides tides"] * 4 + ["maps maps"] * 7 + ["moons, stars"] * 8
    )
    assert space.names_ == ["maps", "moons", "tides"], "15, 14 and 8 times; of equals the first in the alphabet"


def test_topics_span_what_the_singular_value_decomposition_spans() -> None:
    texts = made_texts()
    space = TextSpace(topics=6).fit(texts)
    words, topics = space.transform(texts)
    _, _, exact = np.linalg.svd(words.toarray(), full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(space.components_ * exact[:6], axis=1)), 1, atol=0.02)
    wanted = words.toarray() @ space.components_.T
    np.testing.assert_allclose(topics, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-5)
    assert topics.dtype == np.float32


def test_rows_have_length_one_or_zero_where_no_word_is_known() -> None:
    words, topics = TextSpace(topics=6).fit(made_texts()).transform([*made_texts()[:3], "", "zyzzyva"])
    lengths = np.sqrt(np.asarray(words.multiply(words).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths, [1, 1, 1, 0, 0], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(topics, axis=1), [1, 1, 1, 0, 0], atol=1e-5)


@pytest.mark.parametrize(
    "texts", [[], [""], ["", "  "], ["one word"], ["the of and"], ["same words"] * 30, ["a b"] * 2]
)
def test_any_few_texts_make_a_space(texts: list[str]) -> None:
    space = TextSpace(topics=4).fit(texts)
    words, topics = space.transform([*texts, "maps of rivers"])
    assert words.shape == (len(texts) + 1, len(space.names_))
    assert topics.shape == (len(texts) + 1, 4)
    assert np.isfinite(words.data).all()
    assert np.isfinite(topics).all()
    assert space.transform([])[1].shape == (0, 4)


def test_chinese_and_japanese_texts_are_told_apart_by_their_own_words() -> None:
    texts = (
        ["扩散模型生成图像的方法"] * 4 + ["图神经网络的节点分类"] * 4 + ["音声認識モデルの学習"] * 4 + made_texts(12)
    )
    space = TextSpace(topics=6).fit(texts)
    _, topics = space.transform(["基于扩散模型的图像生成", *texts[:12:4]])
    assert (topics[0] @ topics[1:].T).argmax() == 0
    assert {"扩散", "节点", "認識"} <= set(space.names_)


def test_the_same_texts_always_make_the_same_space() -> None:
    one, other = (TextSpace(topics=6).fit(made_texts()) for _ in range(2))
    assert one.names_ == other.names_
    np.testing.assert_array_equal(one.components_, other.components_)


def test_a_text_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    space = TextSpace(topics=4).fit(made_texts())
    first = space.transform(made_texts()[:5])
    monkeypatch.setattr(space_module, "terms", None)  # calling it again would fail
    again = space.transform(made_texts()[:5])
    np.testing.assert_array_equal(first[0].toarray(), again[0].toarray())
    np.testing.assert_array_equal(first[1], again[1])


def test_what_a_papers_features_are_made_from() -> None:
    paper = Paper(1, "On *maps*", "We draw $x$.", authors=("Ada B.", "Bo C."))
    assert text_of(paper) == "On maps We draw x. Ada B. Bo C."
    derived = Paper(1, "We draw rivers", "We draw rivers. Then more.", title_derived=True)
    assert text_of(derived) == "We draw rivers. Then more."
    assert text_of(Paper(1, "Alone")) == "Alone"
    book = Paper(1, "A book", abstract="words of a book " * 100_000, authors=tuple(f"A{n} B" for n in range(5_000)))
    assert len(text_of(book)) < 25_000


# Its file


@pytest.fixture(scope="module")
def space() -> TextSpace:
    return TextSpace(topics=6).fit([*made_texts(), "扩散模型"])


def test_a_space_comes_back_from_its_file(space: TextSpace, tmp_path: Path) -> None:
    path = tmp_path / "daily" / "space.npz"
    space.save(path, "2026-03-02")
    back, stamp = TextSpace.load(path)
    assert stamp == "2026-03-02"
    for mine, theirs in zip(space.transform(made_texts()[:9]), back.transform(made_texts()[:9]), strict=True):
        assert abs(mine - theirs).max() == 0
    assert [path.name for path in path.parent.iterdir()] == ["space.npz"]


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        TextSpace.load(tmp_path / "none.npz")


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "pickle", "other", "format", "shape"])
def test_a_damaged_file_is_told_and_made_again(space: TextSpace, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "space.npz"
    space.save(path, "a")
    whole = path.read_bytes()
    if damage in ("format", "shape"):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        if damage == "format":
            arrays["header"] = np.frombuffer(
                arrays["header"].tobytes().replace(b'"format": 1', b'"format": 9'), np.uint8
            )
        else:
            arrays["idf"] = arrays["idf"][:-1]
        np.savez(path, **arrays)
    elif damage == "pickle":
        np.savez(path, header=np.array([{"format": 1}], dtype=object))
    elif damage == "other":
        np.savez(path, idf=np.zeros(3))
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
        path.write_bytes({"empty": b"", "cut": whole[:middle], "flipped": flipped, "text": b"no space"}[damage])
    with pytest.raises(IndexDamagedError, match=r"space\.npz.*delete it"):
        TextSpace.load(path)
    made = kept_space(path, "a", made_texts, topics=6)
    assert TextSpace.load(path)[0].names_ == made.names_


def test_a_space_is_read_where_it_may_not_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "space.npz"
    fitted = []

    def texts() -> list[str]:
        fitted.append(1)
        return made_texts()

    kept_space(path, "monday", texts, save=False, topics=6)
    assert not path.exists()
    kept_space(path, "monday", texts, topics=6)
    kept_space(path, "monday", texts, save=False, topics=6)
    assert len(fitted) == 2


def test_a_kept_space_is_fitted_anew_for_another_stamp_only(tmp_path: Path) -> None:
    path, asked = tmp_path / "space.npz", []

    def texts() -> list[str]:
        asked.append(1)
        return made_texts()

    names = [kept_space(path, stamp, texts, topics=6).names_ for stamp in ("monday", "monday", "tuesday", "tuesday")]
    assert len(asked) == 2
    assert names[0] == names[1] == names[3]
    assert TextSpace.load(path)[1] == "tuesday"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    space: TextSpace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "space.npz"
    space.save(path, "old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"space\.npz cannot be written.*No space left"):
        space.save(path, "new")
    assert TextSpace.load(path)[1] == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["space.npz"]


def test_a_folder_that_is_none_is_told(space: TextSpace, tmp_path: Path) -> None:
    (tmp_path / "daily").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        space.save(tmp_path / "daily" / "space.npz")


def test_a_thousand_texts_are_transformed_in_little_time() -> None:
    words = [f"word{n}" for n in range(3000)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 160)) for _ in range(1500)]
    space = TextSpace(topics=64).fit(texts[:500])
    begin = time.process_time()
    space.transform(texts[500:])
    first = time.process_time() - begin
    begin = time.process_time()
    space.transform(texts[500:])
    assert first < 3  # about 0.2 s on a quiet machine
    assert time.process_time() - begin < 0.5  # about 0.02 s
