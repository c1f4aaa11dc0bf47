"""The parts of the screening model, one by one: weights, classifiers, orders, features, sentences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from broadsheet.errors import InputError
from broadsheet.learn.screening import (
    Anchors,
    Even,
    MaxRelevance,
    Mixed,
    NaiveBayes,
    Prevalence,
    Random,
    Ratio,
    SupportVectors,
    Uncertainty,
    Words,
)
from broadsheet.learn.screening.evidence import explained, sentences
from broadsheet.learn.screening.features import centred, keyword_rows, tokens
from broadsheet.learn.screening.queriers import Pool
from broadsheet.learn.screening.turns import Beside, in_turns

PARTS = (Even(), Ratio(3.0), Prevalence(), NaiveBayes(), SupportVectors(), Words(), MaxRelevance(), Uncertainty())
PARTS += (Random(4), Mixed(0.9, "uncertainty", 2), Anchors(within="uncertainty"))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_records_of_parts(part: Even) -> None:
    record = part.to_record()
    assert type(part).from_record(record).to_record() == record
    assert type(part).from_record({"part": part.name}).to_record()["part"] == part.name
    with pytest.raises(InputError, match="expected"):
        type(part).from_record({**record, "part": "other"})


def test_a_whole_number_will_do_for_a_fraction_but_not_the_reverse() -> None:
    assert Ratio.from_record({"part": "ratio", "ratio": 3}).ratio == 3.0
    with pytest.raises(InputError, match="seed of random"):
        Random.from_record({"part": "random", "seed": 1.5})
    with pytest.raises(InputError, match="seed of random"):
        Random.from_record({"part": "random", "seed": True})


@given(st.lists(st.booleans(), min_size=2, max_size=60).filter(lambda labels: 0 < sum(labels) < len(labels)))
def test_the_ratio_is_that_of_the_weights_and_their_mean_is_one(labels: list[bool]) -> None:
    relevant = np.array(labels)
    weights = Ratio(9.8).weights(relevant)
    assert weights[relevant].sum() == pytest.approx(9.8 * weights[~relevant].sum())
    assert weights.mean() == pytest.approx(1)
    adaptive = Prevalence(2.0, most=50).weights(relevant)
    ratio = min(2 * (~relevant).sum() / relevant.sum(), 50)
    assert adaptive[relevant].sum() == pytest.approx(ratio * adaptive[~relevant].sum())


@pytest.mark.parametrize("balancer", [Even(), Ratio(), Prevalence()])
def test_weights_of_one_class_are_ones(balancer: Ratio) -> None:
    for labels in ([True, True], [False], []):
        assert balancer.weights(np.array(labels, bool)).tolist() == [1.0] * len(labels)


def test_ratios_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Ratio(0.0).weights(np.array([True, False]))
    with pytest.raises(ValueError, match="above 0"):
        Prevalence(2.0, -1.0).weights(np.array([True, False]))


def rows_of(count: int = 60, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    rows = sparse.random(count, 30, 0.3, format="csr", random_state=seed)
    relevant = np.asarray(rows[:, :5].sum(axis=1)).ravel() > np.asarray(rows[:, 5:10].sum(axis=1)).ravel()
    return rows, relevant, draw.uniform(0.5, 2, count)


def test_naive_bayes_by_hand() -> None:
    rows = np.array([[2.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 3, 0]])
    fitted = NaiveBayes(prior=2.0).fit(sparse.csr_matrix(rows), np.array([True, False, False]), np.array([1.0, 1, 2]))
    common = np.array([3, 2, 4]) / 9
    relevant = (np.array([2, 1, 0]) + 2 * common) / (3 + 2)
    other = (np.array([1, 2, 7]) + 2 * common) / (10 + 2)
    np.testing.assert_allclose(fitted.coef_, [*np.log(relevant / other), 0])
    np.testing.assert_allclose(fitted.decision_function(rows), rows @ fitted.coef_)


def test_support_vectors_are_those_of_liblinear() -> None:
    rows, relevant, weights = rows_of()
    mine = SupportVectors(strength=0.5, tolerance=1e-8).fit(rows, relevant, weights)
    theirs = LinearSVC(C=0.5, tol=1e-10, max_iter=100_000).fit(rows, relevant, sample_weight=weights)
    np.testing.assert_allclose(mine.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
    dense = SupportVectors(strength=0.5, tolerance=1e-8).fit(rows.toarray(), relevant, weights)
    np.testing.assert_allclose(dense.coef_, mine.coef_, atol=1e-5)


@pytest.mark.parametrize("classifier", [NaiveBayes(), SupportVectors()])
def test_what_classifiers_refuse(classifier: SupportVectors) -> None:
    rows, relevant, weights = rows_of()
    with pytest.raises(ValueError, match="both relevant and irrelevant"):
        classifier.fit(rows, np.ones(60, bool), weights)
    with pytest.raises(ValueError, match="not negative"):
        classifier.fit(rows, relevant, -weights)
    with pytest.raises(ValueError, match="above 0"):
        type(classifier)(0.0).fit(rows, relevant, weights)


def test_naive_bayes_refuses_vectors() -> None:
    _, relevant, weights = rows_of()
    with pytest.raises(ValueError, match="not negative, such as weighted words"):
        NaiveBayes().fit(np.random.default_rng(0).normal(size=(60, 8)), relevant, weights)


def pool(count: int = 200, seed: int = 0) -> Pool:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(count, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    scores = rows[:, 0] - 0.3
    return Pool(
        scores=scores,
        unread=np.arange(20, count),
        relevant=np.arange(8),
        irrelevant=np.arange(8, 20),
        rows=rows,
        tie=draw.permutation(count),
    )


def test_orders_by_relevance_and_by_uncertainty() -> None:
    one = pool()
    assert (np.diff(one.scores[MaxRelevance().order(one)]) <= 0).all()
    assert (np.diff(np.abs(one.scores[Uncertainty().order(one)])) >= 0).all()


def test_equal_scores_are_ordered_by_lot_not_by_their_place() -> None:
    one = pool()
    flat = Pool(np.zeros(200), one.unread, one.relevant, one.irrelevant, one.rows, one.tie)
    order = MaxRelevance().order(flat)
    assert (order != one.unread).mean() > 0.9
    np.testing.assert_array_equal(one.tie[order], np.sort(one.tie[one.unread]))


@pytest.mark.parametrize("querier", [Random(), Mixed(), Mixed(0.5, "uncertainty"), Anchors(3, 5, 12)])
def test_every_unread_record_comes_once_and_the_same_seed_gives_the_same_order(querier: Random) -> None:
    one = pool()
    order = querier.order(one)
    assert sorted(order.tolist()) == one.unread.tolist()
    np.testing.assert_array_equal(order, querier.order(one))
    record = querier.to_record()
    other = type(querier).from_record({**record, "seed": 1}).order(one)
    assert (order != other).any()
    empty = Pool(one.scores, one.unread[:0], one.relevant, one.irrelevant, one.rows, one.tie)
    assert len(querier.order(empty)) == 0


def test_random_changes_from_round_to_round() -> None:
    one = pool()
    later = Pool(one.scores, one.unread, one.relevant, np.arange(7, 20), one.rows, one.tie)
    assert (Random().order(one) != Random().order(later)).any()


def test_the_share_of_the_mixed_querier_is_kept() -> None:
    one = pool(4000)
    best = MaxRelevance().order(one)[:400]
    first = Mixed(share=0.9).order(one)[:400]
    assert 0.85 < np.isin(first, best).mean() < 0.95
    np.testing.assert_array_equal(Mixed(share=1.0).order(one), MaxRelevance().order(one))
    with pytest.raises(ValueError, match="share must lie"):
        Mixed(share=1.5).order(one)
    with pytest.raises(ValueError, match="other must be"):
        Mixed(other="best").order(one)


def test_the_subpool_is_near_anchors_of_both_classes() -> None:
    """Three groups; the labelled ones are in two of them, so the third is not in the subpool."""
    draw = np.random.default_rng(1)
    centres = np.eye(8)[[0, 1, 2]]
    group = np.repeat([0, 1, 2], 100)
    rows = centres[group] + draw.normal(size=(300, 8)) * 0.05
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    unread = np.setdiff1d(np.arange(300), np.r_[0:5, 100:105])
    one = Pool(rows[:, 0] - rows[:, 1], unread, np.arange(5), np.arange(100, 105), rows, draw.permutation(300))
    querier = Anchors(anchors=3, near=10, subpool=40)
    chosen = querier.subpool_of(one)
    assert 10 < len(chosen) <= 40
    assert set(group[chosen].tolist()) == {0, 1}
    order = querier.order(one)
    assert sorted(order[: len(chosen)].tolist()) == chosen.tolist()
    assert (np.diff(one.scores[order[: len(chosen)]]) <= 0).all()


def test_anchors_cover_their_class() -> None:
    """Of a class in two groups, one of them a single record, both are anchors."""
    rows = np.vstack([np.tile(np.eye(4)[0], (30, 1)), np.eye(4)[1], np.tile(np.eye(4)[2], (30, 1)), np.eye(4)[[1]]])
    one = Pool(np.zeros(62), np.arange(31, 62), np.arange(31), np.arange(0), rows, np.arange(62))
    assert 61 in Anchors(anchors=2, near=1).subpool_of(one)
    assert len(Anchors(anchors=2, near=40).order(one)) == 31


def test_anchors_without_labels_and_what_they_refuse() -> None:
    one = pool()
    none = np.arange(0)
    unlabelled = Pool(one.scores, one.unread, none, none, one.rows, one.tie)
    np.testing.assert_array_equal(Anchors().order(unlabelled), MaxRelevance().order(unlabelled))
    with pytest.raises(ValueError, match="at least 1"):
        Anchors(near=0).order(one)
    with pytest.raises(ValueError, match="within must be"):
        Anchors(within="random").order(one)


def test_words_weigh_as_those_of_scikit_learn() -> None:
    texts = [f"alpha beta {'gamma ' * (n % 3)} word{n % 5} delta-{n % 7}" for n in range(40)]
    mine = Words(fewest=2, most=0.95)
    rows = mine.fit_transform(texts)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.95)
    expected = theirs.fit_transform(texts)
    assert mine.names_ == theirs.get_feature_names_out().tolist()
    np.testing.assert_allclose(rows.toarray(), expected.toarray())
    np.testing.assert_allclose(mine.transform(texts[:3]).toarray(), expected[:3].toarray())
    assert mine.transform(["omega"]).nnz == 0


def test_tokens_in_several_scripts() -> None:
    assert [token.text for token in tokens("Naïve Bayes: beta-blockers, a 3 x")] == [
        "naive",
        "bayes",
        "beta",
        "blockers",
    ]
    text = "深度学习, deep 学"
    found = tokens(text)
    assert [token.text for token in found] == ["深度", "度学", "学习", "deep", "学"]
    assert [text[token.start : token.end] for token in found] == ["深度", "度学", "学习", "deep", "学"]


def test_keywords_are_taken_whole() -> None:
    rows = keyword_rows(["Pain; Child, Preschool", "pain;child, preschool; Pain", "", "Rare"])
    assert rows.shape == (4, 2)
    np.testing.assert_allclose(rows[0].toarray(), rows[1].toarray())
    assert rows[2].nnz == rows[3].nnz == 0


def test_centred_vectors() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 6)) + 5
    vectors[3] = 0
    rows = centred(vectors)
    assert not rows[3].any()
    kept = np.delete(rows, 3, axis=0)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=1), 1)
    assert np.abs(kept.mean(axis=0)).max() < 0.3
    assert np.isfinite(centred(np.ones((4, 6)))).all() and not centred(np.zeros((2, 6))).any()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "We used e.g. Statins. P < 0.05 was found, cf. Fig. 2.",
            ["We used e.g. Statins.", "P < 0.05 was found, cf. Fig. 2."],
        ),
        ("J. Smith et al. Found it.", ["J. Smith et al. Found it."]),
        ("今天。明天！", ["今天。", "明天！"]),
        ("no end", ["no end"]),
        ("  ", []),
        ("", []),
        ("BACKGROUND\nIt rains. \n METHODS", ["BACKGROUND", "It rains.", "METHODS"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="Ab .!?\n。e", max_size=60))
def test_sentences_leave_nothing_out(text: str) -> None:
    places = sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in places) == "".join(text.split())
    assert all(first[1] <= second[0] for first, second in pairwise(places))


def test_spans_do_not_overlap_and_stand_in_their_field() -> None:
    words = Words()
    texts = ["深度学习 deep\n学习 深度学习 deep deep"] * 3
    words.fit_transform(texts)
    shown = explained(texts[0], words, np.ones(len(words.names_)))
    for spans, field in ((shown.title, "深度学习 deep"), (shown.abstract, "学习 深度学习 deep deep")):
        assert spans and spans[-1].end <= len(field)
        assert all(first.end <= second.start for first, second in pairwise(spans))
        assert "deep" in {field[span.start : span.end] for span in spans}


def test_function_words_and_numbers_count_but_are_not_shown() -> None:
    texts = ["The trials were\nof 12 drugs in 1999, and were of drugs."] * 3
    words = Words()
    words.fit_transform(texts)
    assert {"were", "12", "1999"} <= set(words.names_)
    shown = explained(texts[0], words, np.ones(len(words.names_)))
    marked = {texts[0].split("\n")[0][s.start : s.end] for s in shown.title}
    marked |= {texts[0].split("\n")[1][s.start : s.end] for s in shown.abstract}
    assert marked == {"trials", "drugs"}


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=12, max_size=12), min_size=1, max_size=3),
    st.integers(0, 2),
    st.integers(2, 12),
)
def test_in_turns_no_record_comes_later_than_its_best_place_times_the_lists(
    scores: list[list[int]], first: int, unread: int
) -> None:
    tie, indices = np.random.default_rng(0).permutation(12), np.arange(12)[-unread:]
    lists = [np.array(one, float) + tie * 1e-6 for one in scores]
    joined = in_turns(lists, indices, tie, first % len(lists))

    def places(values: np.ndarray) -> np.ndarray:
        return (values[indices][None, :] > values[indices][:, None]).sum(axis=1)

    best = np.min([places(one) for one in lists], axis=0)
    assert (places(joined) < len(lists) * (best + 1)).all()


def test_who_begins_has_the_first_place() -> None:
    lists = [np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 3.0])]
    tie = indices = np.arange(4)
    assert np.argsort(-in_turns(lists, indices, tie, 0)).tolist() == [0, 3, 1, 2]
    assert np.argsort(-in_turns(lists, indices, tie, 1)).tolist() == [3, 0, 2, 1]


def test_words_beside_vectors_are_learned_as_one_matrix() -> None:
    draw = np.random.default_rng(5)
    words = sparse.random(40, 30, 0.2, format="csr", random_state=5)
    vectors = draw.normal(size=(40, 6)) / 3
    relevant, weights = draw.random(40) < 0.3, draw.random(40) + 0.5
    beside = Beside(words, vectors)
    whole = np.hstack([words.toarray(), vectors])
    one, other = SupportVectors().fit(beside[np.arange(40)], relevant, weights), SupportVectors()
    other.fit(whole, relevant, weights)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(one.decision_function(beside), other.decision_function(whole), atol=1e-4)
