"""The reader's memory, the classifier and the ranker of the daily paper."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from broadsheet.errors import InputError
from broadsheet.learn.daily import DailyRanker
from broadsheet.learn.form import FORM_FEATURES, form_features
from broadsheet.learn.linear import BackgroundClassifier, Joined
from broadsheet.learn.memory import GATES, HALF_LIVES, ReaderMemory

ACTIONS = st.sampled_from(sorted(GATES))
PAPERS = st.sampled_from("abcdefgh")
DAYS = st.floats(0, 1000)
EVENTS = st.lists(st.tuples(ACTIONS, PAPERS, DAYS), max_size=30)


def remembering(events: list[tuple[str, str, float]], **parameters: object) -> ReaderMemory:
    memory = ReaderMemory(**parameters)  # type: ignore[arg-type]
    for action, paper, day in events:
        memory.update(action, paper, day)
    return memory


def test_a_new_memory_is_empty() -> None:
    papers, traces = ReaderMemory().read(5)
    assert papers == []
    assert traces.shape == (0, len(HALF_LIVES))


@pytest.mark.parametrize(("n", "half_life"), list(enumerate(HALF_LIVES)))
def test_each_trace_halves_in_its_half_life(n: int, half_life: float) -> None:
    memory = remembering([("save", "a", 100)])
    assert memory.read(100)[1][0, n] == 1
    assert memory.read(100 + half_life)[1][0, n] == pytest.approx(0.5)
    assert memory.read(100 + 3 * half_life)[1][0, n] == pytest.approx(0.125)


@pytest.mark.parametrize("action", sorted(GATES))
def test_the_sign_of_an_action_is_that_of_its_gate(action: str) -> None:
    traces = remembering([(action, "a", 0)]).read(0)[1]
    assert (np.sign(traces) == np.sign(GATES[action])).all()


def test_a_dismissal_takes_a_save_back() -> None:
    assert remembering([("save", "a", 3), ("dismiss", "a", 3)]).read(3)[1].tolist() == [[0, 0, 0]]


def test_many_clicks_on_one_paper_stay_within_one() -> None:
    traces = remembering([("save", "a", day) for day in range(100)]).read(99)[1]
    assert traces.tolist() == [[1, 1, 1]]


@settings(deadline=None)
@given(EVENTS, DAYS)
def test_whatever_is_read_is_bounded(events: list[tuple[str, str, float]], day: float) -> None:
    traces = remembering(events).read(day)[1]
    assert np.isfinite(traces).all()
    assert (np.abs(traces) <= 1).all()


@settings(deadline=None)
@given(st.lists(st.tuples(ACTIONS, PAPERS), max_size=20), st.randoms(use_true_random=False), st.integers(1, 4))
def test_the_order_of_events_of_one_day_does_not_matter(
    events: list[tuple[str, str]], random: object, capacity: int
) -> None:
    one = [(action, paper, 7.0) for action, paper in events]
    other = list(one)
    random.shuffle(other)  # type: ignore[attr-defined]
    first, second = remembering(one).read(20), remembering(other).read(20)
    assert first[0] == second[0]
    np.testing.assert_allclose(first[1], second[1], atol=1e-9)
    kept = [set(remembering(order, capacity=capacity).papers_) for order in (one, other)]
    assert kept[0] == kept[1]


@settings(deadline=None)
@given(EVENTS, st.randoms(use_true_random=False))
def test_late_events_count_as_if_they_had_come_in_time(events: list[tuple[str, str, float]], random: object) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = remembering(events).read(1000), remembering(shuffled).read(1000)
    assert first[0] == second[0]
    np.testing.assert_allclose(first[1], second[1], atol=1e-9)


@settings(deadline=None)
@given(EVENTS, DAYS, st.floats(0, 1000))
def test_reading_later_never_strengthens(events: list[tuple[str, str, float]], day: float, more: float) -> None:
    memory = remembering(events)
    assert (np.abs(memory.read(day + more)[1]) <= np.abs(memory.read(day)[1]) + 1e-12).all()


@settings(deadline=None)
@given(EVENTS, DAYS)
def test_a_record_comes_back_the_same_through_json(events: list[tuple[str, str, float]], day: float) -> None:
    memory = remembering(events)
    record = json.loads(json.dumps(memory.to_record()))
    back = ReaderMemory.from_record(record)
    assert back.to_record() == memory.to_record()
    np.testing.assert_array_equal(back.read(day)[1], memory.read(day)[1])
    assert back.update("save", "z", day).to_record() == memory.update("save", "z", day).to_record()


def test_the_capacity_keeps_the_latest() -> None:
    memory = remembering([("save", f"p{n}", n) for n in range(10)], capacity=3)
    assert sorted(memory.papers_) == ["p7", "p8", "p9"]
    assert memory.events_ == 10


def test_a_forgotten_paper_is_gone() -> None:
    memory = remembering([("save", "a", 0), ("save", "b", 0)]).forget("a").forget("never seen")
    assert memory.read(0)[0] == ["b"]


def test_a_full_memory_is_small_and_quick() -> None:
    memory = remembering([("save", f"arxiv:2601.{n:05d}", 739_000 + n / 10) for n in range(2000)])
    assert len(json.dumps(memory.to_record())) < 300_000
    spent = []
    for n in range(20):
        begin = time.process_time()
        memory.update("save", f"new{n}", 740_000)
        spent.append(time.process_time() - begin)
    assert sorted(spent)[10] < 0.005  # about 0.2 ms on a quiet machine


def test_papers_are_named_by_numbers_or_by_text_but_not_by_both() -> None:
    memory = remembering([("save", n, 0.0) for n in (10, 9, 8)])  # type: ignore[misc]
    assert memory.read(0)[0] == [8, 9, 10]
    back = ReaderMemory.from_record(json.loads(json.dumps(memory.to_record())))
    assert back.read(0)[0] == [8, 9, 10]
    mixed = memory.to_record()
    mixed["papers"].append(["nine", 0, 1, 1, 1])
    with pytest.raises(InputError, match=r"papers\[3\].*'nine'"):
        ReaderMemory.from_record(mixed)


@pytest.mark.parametrize(("action", "day", "message"), [("stare", 0.0, "stare"), ("save", math.nan, "nan")])
def test_bad_events_are_refused_and_change_nothing(action: str, day: float, message: str) -> None:
    memory = remembering([("save", "a", 0)])
    before = memory.to_record()
    with pytest.raises(InputError, match=message):
        memory.update(action, "b", day)
    assert memory.to_record() == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 99}, "format"),
        ({"half_lives": []}, "half_lives"),
        ({"half_lives": [7, 0, 365]}, "half_lives"),
        ({"half_lives": "777"}, "half_lives"),
        ({"events": -1}, "events"),
        ({"events": True}, "events"),
        ({"papers": {}}, "papers"),
        ({"papers": [["a", 1.0, 1.0]]}, r"papers\[0\]"),
        ({"papers": [["a", 0, 1, 1, 1], [5, 0, 1, 1, 1]]}, r"papers\[1\]"),
        ({"papers": [["a", 0, 1, "x", 1]]}, r"papers\[0\].*'x'"),
        ({"papers": [["a", math.inf, 1, 1, 1]]}, r"papers\[0\].*inf"),
        ({"papers": [["a", 10**400, 1, 1, 1]]}, r"papers\[0\].*1000"),
        ({"papers": [[True, 0, 1, 1, 1]]}, r"papers\[0\]"),
        ({"papers": [[1.5, 0, 1, 1, 1]]}, r"papers\[0\]"),
    ],
)
def test_a_record_that_is_not_one_is_refused_by_field(changes: dict[str, object], message: str) -> None:
    record = remembering([("save", "a", 0)]).to_record() | changes
    with pytest.raises(InputError, match=message):
        ReaderMemory.from_record(record)


# The classifier


def example(seed: int = 0, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 12))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=count) > 0.4, 1, -1)
    return x, y


@pytest.mark.parametrize("strength", [0.01, 1.0, 10.0])
def test_the_classifier_reaches_the_minimum_that_liblinear_reaches(strength: float) -> None:
    svm = pytest.importorskip("sklearn.svm")
    x, y = example()
    weights = np.where(y > 0, 3.0, 1.0)
    mine = BackgroundClassifier(strength, 1e-6, 100).fit(x, y, weights)
    theirs = svm.LinearSVC(C=strength, tol=1e-8, max_iter=100_000).fit(x, y, sample_weight=weights)
    np.testing.assert_allclose(mine.coef_, theirs.coef_[0], atol=2e-4)
    assert mine.intercept_ == pytest.approx(theirs.intercept_[0], abs=2e-4)


def test_sparse_and_dense_rows_give_the_same() -> None:
    x, y = example()
    dense = BackgroundClassifier().fit(x, y, np.ones(len(y)))
    thin = BackgroundClassifier().fit(sparse.csr_matrix(x), y, np.ones(len(y)))
    np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-9)
    np.testing.assert_allclose(dense.decision_function(x), thin.decision_function(sparse.csr_matrix(x)), atol=1e-9)


def test_a_weight_of_two_is_a_row_that_stands_twice() -> None:
    x, y = example(count=60)
    twice = BackgroundClassifier(1, 1e-8, 100).fit(np.vstack([x, x[:20]]), np.r_[y, y[:20]], np.ones(80))
    weighed = BackgroundClassifier(1, 1e-8, 100).fit(x, y, np.r_[np.full(20, 2.0), np.ones(40)])
    np.testing.assert_allclose(twice.coef_, weighed.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        ([1, 1], [1, 1], "both"),
        ([1, 0], [1, 1], "both"),
        ([1, -1], [1, -1], "negative"),
        ([1, -1], [1, math.nan], "finite"),
    ],
)
def test_the_classifier_refuses_what_it_cannot_learn_from(y: list[int], weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BackgroundClassifier().fit(np.eye(2), np.array(y), np.array(weights))


# The ranker


def rows_about(topic: int, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.random((count, 40)) * 0.2
    rows[:, topic * 8 : topic * 8 + 8] += rng.random((count, 8))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def fitted(liked: np.ndarray, traces: np.ndarray) -> DailyRanker:
    others = np.vstack([rows_about(topic, 30, 50 + topic) for topic in range(5)])
    return DailyRanker().fit(sparse.csr_matrix(liked), liked, traces, sparse.csr_matrix(others), others)


def scored(ranker: DailyRanker, day: np.ndarray, notice: np.ndarray | None = None) -> np.ndarray:
    return ranker.decision_function(sparse.csr_matrix(day), day, np.zeros(len(day)) if notice is None else notice)


DAY = np.vstack([rows_about(topic, 10, 90 + topic) for topic in range(5)])


@pytest.mark.parametrize(("topic", "count"), list(itertools.product([0, 3], [1, 3, 10, 40])))
def test_papers_of_the_liked_topic_come_first(topic: int, count: int) -> None:
    scores = scored(fitted(rows_about(topic, count, 1), np.ones((count, 2))), DAY)
    assert set(np.argsort(-scores)[:10] // 10) == {topic}


def test_what_is_remembered_lately_wins_over_what_is_only_remembered_for_long() -> None:
    liked = np.vstack([rows_about(0, 20, 1), rows_about(1, 20, 2)])
    traces = np.column_stack([np.r_[np.full(20, 0.01), np.ones(20)], np.r_[np.full(20, 0.7), np.ones(20)]])
    changed, steady = scored(fitted(liked, traces), DAY), scored(fitted(liked, np.ones((40, 2))), DAY)
    assert changed[10:20].mean() - changed[:10].mean() > steady[10:20].mean() - steady[:10].mean() + 0.5


def test_notice_decides_between_equals_and_is_a_part_of_the_sum() -> None:
    ranker = fitted(rows_about(0, 10, 1), np.ones((10, 2)))
    day = np.vstack([DAY, DAY])
    scores = scored(ranker, day, np.r_[np.zeros(50), np.ones(50)])
    assert (scores[50:] > scores[:50]).all()
    parts = ranker.parts(sparse.csr_matrix(day), day, np.r_[np.zeros(50), np.ones(50)])
    np.testing.assert_allclose(np.sum(list(parts.values()), axis=0), scores)


def test_the_classifiers_have_little_say_until_some_papers_are_known_and_then_more_and_more() -> None:
    weights = [fitted(rows_about(0, n, 1), np.ones((n, 2))).weights() for n in (1, 3, 10, 100)]
    for part in ("classifier", "meaning"):
        shares = [one[part] for one in weights]
        assert 0 < shares[0] < 0.2
        assert shares == sorted(shares)
    assert weights[0]["lasting"] > 0 > weights[3]["lasting"]


def test_what_is_near_and_was_not_picked_counts_against_its_like() -> None:
    # The reader likes topic 0 with word 39, and left what is of topic 0 without it.
    liked, left = rows_about(0, 30, 1), rows_about(0, 200, 2)
    liked[:, 39], left[:, 39] = 0.5, 0
    others = np.vstack([left, *(rows_about(topic, 1000, 60 + topic) for topic in (2, 3))])
    day = np.vstack([rows_about(0, 20, 3), rows_about(0, 20, 4)])
    day[:20, 39], day[20:, 39] = 0.5, 0
    gaps = []
    for weight in (10.0, 0.0):
        ranker = DailyRanker(near_weight=weight).fit(
            sparse.csr_matrix(liked), liked, np.ones((30, 2)), sparse.csr_matrix(others), others
        )
        values = ranker.classifier_.decision_function(Joined(sparse.csr_matrix(day), day))
        gaps.append(float(values[:20].mean() - values[20:].mean()))
    assert gaps[0] > gaps[1] > 0


ENCODED = np.vstack([rows_about(topic, 10, 190 + topic) for topic in range(5)])


def with_encoder(liked: np.ndarray, encoded: np.ndarray) -> DailyRanker:
    others = np.vstack([rows_about(topic, 30, 50 + topic) for topic in range(5)])
    words = sparse.csr_matrix(liked)
    traces = np.ones((len(liked), 2))
    return DailyRanker().fit(
        words, liked, traces, sparse.csr_matrix(others), others, encoded=encoded, other_encoded=others[:, ::-1]
    )


def test_the_meaning_finds_what_the_words_do_not_say() -> None:
    liked = rows_about(0, 20, 1)
    ranker = with_encoder(liked, rows_about(1, 20, 2)[:, ::-1])
    alike = np.repeat(rows_about(0, 1, 5), 50, axis=0)  # all the same by their words
    scores = ranker.decision_function(sparse.csr_matrix(alike), alike, np.zeros(50), ENCODED[:, ::-1])
    assert set(np.argsort(-scores)[:10] // 10) == {1}
    parts = ranker.parts(sparse.csr_matrix(alike), alike, np.zeros(50), ENCODED[:, ::-1])
    assert parts["meaning"].any()
    assert not parts["classifier"].any()


def test_a_paper_without_a_vector_is_an_average_one() -> None:
    ranker = with_encoder(rows_about(0, 20, 1), rows_about(0, 20, 2)[:, ::-1])
    encoded = ENCODED[:, ::-1].copy()
    encoded[[3, 20]] = 0
    meaning = ranker.parts(sparse.csr_matrix(DAY), DAY, np.zeros(50), encoded)["meaning"]
    np.testing.assert_allclose(meaning[[3, 20]], 0, atol=1e-9)
    assert np.isfinite(meaning).all()


def test_without_an_encoder_its_part_is_left_out() -> None:
    liked = rows_about(0, 20, 1)
    without = fitted(liked, np.ones((20, 2)))
    assert "meaning" not in without.parts(sparse.csr_matrix(DAY), DAY, np.zeros(50))
    nothing = with_encoder(liked, np.zeros_like(liked))
    assert nothing.meaning_ is None
    np.testing.assert_allclose(
        nothing.decision_function(sparse.csr_matrix(DAY), DAY, np.zeros(50), ENCODED), scored(without, DAY)
    )
    one_sided = with_encoder(liked, rows_about(0, 20, 2))
    assert "meaning" not in one_sided.parts(sparse.csr_matrix(DAY), DAY, np.zeros(50))


def test_vectors_of_one_side_only_are_refused() -> None:
    one = rows_about(0, 2, 1)
    with pytest.raises(ValueError, match="alike"):
        DailyRanker().fit(sparse.csr_matrix(one), one, np.ones((2, 2)), sparse.csr_matrix(one), one, encoded=one)


def test_joined_rows_are_those_of_one_matrix() -> None:
    words, dense = sparse.random(20, 30, 0.2, format="csr", random_state=1), rows_about(0, 20, 2)
    whole, joined = np.hstack([words.toarray(), dense]), Joined(words, dense)
    assert joined.shape == whole.shape
    np.testing.assert_allclose(joined @ np.arange(70.0), whole @ np.arange(70.0))
    np.testing.assert_allclose(joined.T @ np.arange(20.0), whole.T @ np.arange(20.0))
    y = np.r_[np.ones(8), -np.ones(12)]
    mine, theirs = (BackgroundClassifier().fit(x, y, np.ones(20)) for x in (joined, whole))
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-9)


def test_faded_traces_are_taken_over_without_a_new_fit() -> None:
    liked, traces = rows_about(0, 6, 1), np.ones((6, 2))
    ranker = fitted(liked, traces)
    same = scored(ranker, DAY)
    np.testing.assert_allclose(scored(ranker.remember(sparse.csr_matrix(liked), liked, traces * 0.5), DAY), same)
    assert np.isfinite(scored(ranker.remember(sparse.csr_matrix(liked), liked, traces * 0), DAY)).all()


def test_a_day_of_one_paper_has_a_score() -> None:
    assert scored(fitted(rows_about(0, 3, 1), np.ones((3, 2))), DAY[:1]).tolist() == [0]


def test_the_ranker_needs_something_liked_and_a_background() -> None:
    one = rows_about(0, 1, 1)
    with pytest.raises(ValueError, match="at least one"):
        DailyRanker().fit(sparse.csr_matrix(one[:0]), one[:0], np.ones((0, 2)), sparse.csr_matrix(one), one)
    with pytest.raises(ValueError, match="background"):
        DailyRanker().fit(sparse.csr_matrix(one), one, np.ones((1, 2)), sparse.csr_matrix(one[:0]), one[:0])


def test_a_dismissed_paper_is_not_a_liked_one() -> None:
    one = rows_about(0, 2, 1)
    with pytest.raises(ValueError, match="negative"):
        fitted(one, np.array([[1, 1], [-1, -1]]))


def test_a_thousand_candidates_are_ranked_in_little_time_and_many_liked_papers_are_learned_in_a_second() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(10_000, size=(6500, 100))
    words = sparse.csr_matrix((np.full(650_000, 0.1, np.float32), columns.ravel(), np.arange(0, 650_001, 100)))
    topics, encoded = rng.normal(size=(6500, 256)), rng.normal(size=(6500, 384))
    topics = (topics / np.linalg.norm(topics, axis=1, keepdims=True)).astype(np.float32)
    encoded = (encoded / np.linalg.norm(encoded, axis=1, keepdims=True)).astype(np.float32)
    ranker = DailyRanker()
    fits, days = [], []
    for _ in range(3):
        begin = time.process_time()
        ranker.fit(
            words[:500],
            topics[:500],
            np.ones((500, 2)),
            words[500:5500],
            topics[500:5500],
            encoded=encoded[:500],
            other_encoded=encoded[500:5500],
        )
        fits.append(time.process_time() - begin)
        begin = time.process_time()
        ranker.parts(words[5500:], topics[5500:], np.zeros(1000), encoded[5500:])
        days.append(time.process_time() - begin)
    assert min(fits) < 2  # about 0.3 s on a quiet machine; the goal is 1 s
    assert min(days) < 0.2  # about 0.01 s; the goal is 0.1 s


# The form


def form(title: str = "A title", abstract: str = "An abstract.", **more: object) -> dict[str, float]:
    given_ = {"authors": 2, "areas": 1} | more
    return dict(zip(FORM_FEATURES, form_features(title, abstract, **given_), strict=True))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("feature", "more"),
    [
        ("authors", {"authors": 9}),
        ("title length", {"title": "A rather longer title"}),
        ("abstract length", {"abstract": "An abstract of some more words."}),
        ("name in the title", {"title": "Name: it"}),
        ("survey", {"title": "A Survey"}),
        ("benchmark", {"title": "HardBench"}),
        ("areas", {"areas": 3}),
        ("comment", {"comment": "12 pages"}),
        ("accepted somewhere", {"comment": "Accepted at a workshop"}),
        ("report or preprint", {"comment": "Technical report"}),
        ("code", {"abstract": "See https://github.com/a/b"}),
        ("project page", {"comment": "Project page: x"}),
        ("release", {"abstract": "Models are publicly available."}),
        ("figures", {"abstract": r"It gains 12\% and 3%."}),
    ],
)
def test_each_feature_of_the_form_sees_its_sign(feature: str, more: dict[str, object]) -> None:
    assert form(**more)[feature] > form()[feature]  # type: ignore[arg-type]


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=50), st.text(max_size=200), st.text(max_size=50), st.integers(0, 3000), st.integers(0, 9))
def test_every_form_has_finite_features(title: str, abstract: str, comment: str, authors: int, areas: int) -> None:
    values = form_features(title, abstract, authors=authors, areas=areas, comment=comment)
    assert len(values) == len(FORM_FEATURES)
    assert np.isfinite(values).all()
