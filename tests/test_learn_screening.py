"""The screening model: what it ranks first from labels, descriptions or nothing, and what it shows of its reasons."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from broadsheet.errors import InputError
from broadsheet.learn.screening import COMPOSITIONS, QUERIERS, ScreeningModel, model_of

TOPICS = {
    "statin": "statin cholesterol lipid lowering cardiovascular atorvastatin placebo",
    "asthma": "asthma inhaler bronchial airway corticosteroid wheezing lung",
    "software": "software defect prediction metrics module fault regression",
    "school": "school teacher pupil classroom reading curriculum lesson",
}
COMMON = "we studied the results of a trial with patients groups outcome analysis data methods conclusion".split()  # noqa: SIM905


def texts_of(counts: dict[str, int], seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Records "title\\nabstract" about topics, and the topic of each, shuffled."""
    draw = np.random.default_rng(seed)
    topics = draw.permutation(np.repeat(list(counts), list(counts.values())))
    texts = []
    for topic in topics:
        own, other = TOPICS[topic].split(), TOPICS[str(draw.choice(list(TOPICS)))].split()
        title = " ".join(draw.choice(own, 3))
        body = [*draw.choice(own, 8), *draw.choice(COMMON, 30), *draw.choice(other, 3)]
        texts.append(f"{title}\n{' '.join(draw.permutation(body))}.")
    return texts, topics


TEXTS, ABOUT = texts_of({"statin": 30, "asthma": 150, "software": 60, "school": 60})
STATIN = np.flatnonzero(ABOUT == "statin")
OTHERS = np.flatnonzero(ABOUT != "statin")
LABELS = {int(STATIN[0]): True, int(OTHERS[0]): False, int(OTHERS[1]): False}


def vectors_of(about: np.ndarray, seed: int = 0) -> np.ndarray:
    """Vectors near one direction for each topic, around one that all share, as those of e5 are."""
    draw = np.random.default_rng(seed)
    places = {topic: n for n, topic in enumerate(TOPICS)}
    rows = draw.normal(size=(len(about), 32)) * 0.05
    rows[:, 31] += 1
    rows[np.arange(len(about)), [places[topic] for topic in about]] += 0.4
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def share_of_statin(order: np.ndarray, first: int = 20) -> float:
    return float(np.isin(order[:first], STATIN).mean())


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_relevant_ones_come_first(name: str) -> None:
    ranking = model_of(name).fit_features(TEXTS).rank(LABELS)
    assert share_of_statin(ranking.order) >= 0.9
    assert ranking.basis == "labels" and ranking.labels == 3
    assert sorted([*ranking.order, *LABELS]) == list(range(len(TEXTS)))
    assert not np.isin(list(LABELS), ranking.order).any()


def test_vectors_find_what_words_cannot() -> None:
    """Half of the relevant records share no word with the first one, but their vectors are near."""
    hidden = set(STATIN[15:].tolist())
    stolen = texts_of({"asthma": len(TEXTS)}, seed=3)[0]
    texts = [stolen[n] if n in hidden else text for n, text in enumerate(TEXTS)]
    without = model_of("words").fit_features(texts, vectors_of(ABOUT))
    together = ScreeningModel(meaning=2.0).fit_features(texts, vectors_of(ABOUT))
    assert (without.features_, together.features_) == ("tfidf", "tfidf+vectors")
    found = [len(hidden & set(model.rank(LABELS).order[:29].tolist())) for model in (without, together)]
    assert found[0] < 5 and found[1] > 10


def test_records_without_a_vector_are_ranked_by_their_words() -> None:
    vectors = vectors_of(ABOUT)
    vectors[STATIN[5:]] = 0
    order = model_of().fit_features(TEXTS, vectors).rank(LABELS).order
    assert share_of_statin(order) >= 0.8


def test_same_labels_same_ranking_whatever_came_before() -> None:
    model = model_of().fit_features(TEXTS, vectors_of(ABOUT))
    first = model.rank(LABELS)
    model.rank({int(n): bool(ABOUT[n] == "statin") for n in range(0, 200, 3)})
    again = model.rank(dict(reversed(LABELS.items())))
    np.testing.assert_array_equal(first.scores, again.scores)
    np.testing.assert_array_equal(first.order, again.order)
    other = model_of().fit_features(TEXTS, vectors_of(ABOUT)).rank(LABELS)
    np.testing.assert_array_equal(first.order, other.order)


def test_without_labels_the_order_is_random_by_seed_and_not_that_of_the_file() -> None:
    first, again, other = (model_of(seed=seed).fit_features(TEXTS).rank({}) for seed in (0, 0, 1))
    assert first.basis == "nothing"
    np.testing.assert_array_equal(first.order, again.order)
    assert (first.order != other.order).any()
    assert (first.order != np.arange(len(TEXTS))).mean() > 0.9
    assert sorted(first.order) == list(range(len(TEXTS)))


def test_a_description_ranks_before_anything_is_relevant() -> None:
    model = model_of().fit_features(TEXTS, description="Do statins lower cholesterol? statin cardiovascular lipid")
    ranking = model.rank({})
    assert ranking.basis == "description"
    assert share_of_statin(ranking.order) >= 0.9
    refused = {int(n): False for n in OTHERS[:5]}
    assert share_of_statin(model.rank(refused).order) >= 0.9


def test_a_description_with_a_vector_finds_what_its_words_do_not() -> None:
    """The description's words are of records about asthma; its vector is near those about schools."""
    vectors = vectors_of(ABOUT)
    school = vectors[ABOUT == "school"].mean(axis=0)
    model = ScreeningModel(meaning=5.0).fit_features(
        TEXTS, vectors, description="asthma inhaler", description_vector=school
    )
    ranking = model.rank({})
    assert (ABOUT[ranking.order[:40]] == "school").mean() > 0.9
    plain = ScreeningModel(meaning=5.0).fit_features(TEXTS, vectors, description="asthma inhaler").rank({})
    assert (ABOUT[plain.order[:40]] == "asthma").mean() > 0.9


def test_a_description_gives_way_to_what_is_found() -> None:
    """It spoke of asthma, but what is included is about statins."""
    model = model_of().fit_features(TEXTS, description="asthma inhaler bronchial airway")
    found = {int(n): True for n in STATIN[:10]} | {int(n): False for n in OTHERS[:10]}
    assert share_of_statin(model.rank(found).order, 15) >= 0.9


def test_one_relevant_record_that_is_unlike_the_others_does_not_throw_the_description_away() -> None:
    """The only relevant record is about something else; the description's order has every second place."""
    plain = model_of().fit_features(TEXTS)
    asked = model_of().fit_features(TEXTS, description="Do statins lower cholesterol? statin cardiovascular lipid")
    asthma, software = np.flatnonzero(ABOUT == "asthma"), np.flatnonzero(ABOUT == "software")
    found = {int(software[0]): True, int(asthma[0]): False, int(asthma[1]): False}
    assert np.isin(plain.rank(found).order[:20], STATIN).sum() <= 2
    ranking = asked.rank(found)
    assert ranking.basis == "labels"
    assert np.isin(ranking.order[:20], STATIN).sum() >= 9
    enough = found | {int(n): True for n in software[:5]}
    np.testing.assert_array_equal(asked.rank(enough).order, plain.rank(enough).order)


def test_with_turns_vectors_speak_beside_words() -> None:
    """Vectors that say what the words say bring more of it to the front than those of other records."""
    own = model_of().fit_features(TEXTS, vectors_of(ABOUT))
    others = model_of().fit_features(TEXTS, vectors_of(np.roll(ABOUT, 1)))
    assert own.features_ == "tfidf+vectors"
    assert share_of_statin(own.rank(LABELS).order, 29) > 0.95 > share_of_statin(others.rank(LABELS).order, 29)


def test_without_vectors_nobody_takes_turns() -> None:
    turns, words = model_of().fit_features(TEXTS), model_of("words").fit_features(TEXTS)
    assert turns.turns and turns.beside_ is None
    np.testing.assert_array_equal(turns.rank(LABELS).order, words.rank(LABELS).order)


def test_a_description_in_words_that_the_pool_does_not_have_says_nothing() -> None:
    assert model_of().fit_features(TEXTS, description="quantum gravity").rank({}).basis == "nothing"


def test_with_irrelevant_ones_only_the_least_alike_come_first() -> None:
    asthma = np.flatnonzero(ABOUT == "asthma")
    ranking = model_of().fit_features(TEXTS).rank({int(n): False for n in asthma[:20]})
    assert ranking.basis == "irrelevant"
    assert np.isin(ranking.order[:50], asthma).mean() < 0.1


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_with_relevant_ones_only(name: str) -> None:
    ranking = model_of(name).fit_features(TEXTS).rank({int(n): True for n in STATIN[:3]})
    assert share_of_statin(ranking.order) >= 0.9


def test_few_relevant_among_many_refused_still_count() -> None:
    refused = {int(n): False for n in OTHERS[:150]}
    ranking = model_of().fit_features(TEXTS).rank({int(STATIN[0]): True, **refused})
    assert share_of_statin(ranking.order) >= 0.8


def test_what_is_left_out_is_neither_ranked_nor_learned_from() -> None:
    out = [int(n) for n in STATIN[5:10]]
    ranking = model_of().fit_features(TEXTS).rank(LABELS, leave_out=out)
    assert not np.isin(out, ranking.order).any()
    assert len(ranking.order) == len(TEXTS) - len(LABELS) - len(out)


def test_everything_read() -> None:
    model = model_of().fit_features(TEXTS)
    ranking = model.rank({n: bool(ABOUT[n] == "statin") for n in range(len(TEXTS))})
    assert len(ranking.order) == 0
    assert model.explain(ranking, 0).title == ()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_tiny_pools(count: int) -> None:
    model = model_of().fit_features(TEXTS[:count])
    assert sorted(model.rank({}).order) == list(range(count))
    if count:
        assert len(model.rank({0: True}).order) == count - 1


def test_title_or_abstract_is_enough() -> None:
    """F26: records with a title only, with an abstract only; one with neither is ranked, but not before those."""
    texts = [*TEXTS, "statin cholesterol lipid\n", "\nstatin cholesterol lipid cardiovascular", "\n"]
    order = model_of().fit_features(texts).rank(LABELS).order.tolist()
    places = [order.index(len(TEXTS) + n) for n in range(3)]
    assert max(places[:2]) < 32 and max(places[:2]) < places[2]


@pytest.mark.parametrize("querier", QUERIERS)
def test_an_order_is_of_all_unread_and_the_relevance_order_stays(querier: str) -> None:
    ranking = model_of(querier=querier).fit_features(TEXTS).rank(LABELS)
    assert sorted(ranking.order) == sorted(ranking.relevance_order)
    plain = model_of().fit_features(TEXTS).rank(LABELS)
    np.testing.assert_array_equal(ranking.relevance_order, plain.order)


def test_keywords_count() -> None:
    """The texts say nothing; the keywords do."""
    texts = [f"\n{' '.join(COMMON)} {n}" for n in range(60)]
    keywords = ["Statins; Humans" if n % 6 == 0 else "Asthma; Humans" for n in range(60)]
    ranking = ScreeningModel(keywords=0.5).fit_features(texts, keywords=keywords).rank({0: True, 1: False})
    assert sorted(ranking.order[:9]) == list(range(6, 60, 6))


@pytest.mark.parametrize(("what", "given"), [("vectors", np.zeros((3, 8), np.float32)), ("keywords", ["a"])])
def test_lengths_that_differ_are_refused(what: str, given: object) -> None:
    with pytest.raises(InputError, match=f"{what} for 300 records"):
        model_of().fit_features(TEXTS, **{what: given})  # type: ignore[arg-type]


@pytest.mark.parametrize("index", [-1, 300])
def test_indices_outside_the_pool_are_refused(index: int) -> None:
    model = model_of().fit_features(TEXTS)
    with pytest.raises(InputError, match=f"index {index} of a pool of 300 records"):
        model.rank({index: True, 5: False})


def test_unknown_names_are_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="no screening model 'bert'; there are default"):
        model_of("bert")
    with pytest.raises(InputError, match="no querier 'best'; there are max-relevance"):
        model_of(querier="best")


def test_the_telling_words_and_the_sentence_that_decided() -> None:
    abstract = "We did a study in a school. The statin lowered cholesterol, e.g. LDL cholesterol. Asthma was frequent."
    texts = [*TEXTS, f"Atorvastatin and lipid outcomes\n{abstract}"]
    model = model_of().fit_features(texts)
    found = {int(n): True for n in STATIN[:10]} | {int(n): False for n in OTHERS[:20]}
    ranking = model.rank(found)
    shown = model.explain(ranking, len(TEXTS))
    title = {"Atorvastatin and lipid outcomes"[span.start : span.end]: span.weight for span in shown.title}
    words = {abstract[span.start : span.end]: span.weight for span in shown.abstract}
    assert title["Atorvastatin"] > 0 and title["lipid"] > 0
    assert words["statin"] > 0 and words["cholesterol"] > 0 and words["school"] < 0 and words["Asthma"] < 0
    assert shown.sentence is not None
    decided = abstract[shown.sentence.start : shown.sentence.end]
    assert decided == "The statin lowered cholesterol, e.g. LDL cholesterol."


def test_the_parts_sum_to_the_score() -> None:
    """Every word of this record is shown, so their weights are the score less the offset."""
    texts = [*TEXTS, "statin lipid\nstatin cholesterol placebo"]
    model = model_of().fit_features(texts)
    ranking = model.rank(LABELS)
    shown = model.explain(ranking, len(TEXTS))
    total = sum(span.weight for span in (*shown.title, *shown.abstract))
    assert len(shown.title) == 2 and len(shown.abstract) == 3
    assert total == pytest.approx(ranking.scores[len(TEXTS)] - ranking.intercept)


def test_nothing_is_shown_where_words_had_no_say() -> None:
    model = model_of().fit_features(TEXTS)
    assert model.explain(model.rank({}), 0) == model.explain(model.rank({}), 1)
    assert model.explain(model.rank({}), 0).sentence is None


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("querier", QUERIERS)
def test_a_model_from_its_record_ranks_alike(name: str, querier: str) -> None:
    model = model_of(name, querier, seed=7)
    record = json.loads(json.dumps(model.to_record()))
    again = ScreeningModel.from_record(record)
    assert again.to_record() == record
    orders = [one.fit_features(TEXTS).rank(LABELS).order for one in (model, again)]
    np.testing.assert_array_equal(*orders)


def test_a_record_from_before_there_were_turns_is_read_as_it_was() -> None:
    record = ScreeningModel(seed=3).to_record()
    del record["turns"]
    again = ScreeningModel.from_record(record)
    assert not again.turns
    orders = [one.fit_features(TEXTS).rank(LABELS).order for one in (ScreeningModel(seed=3), again)]
    np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turns": 1}, "turns of the screening model"),
        ({"format": 99}, "format of the screening model: 99"),
        ({"colour": 1}, "unknown field 'colour'"),
        ({"meaning": "much"}, "meaning of the screening model"),
        ({"sample": -1}, "sample of the screening model"),
        ({"querier": None}, "querier of the screening model: None"),
        ({"querier": {"part": "words"}}, "querier of the screening model: 'words'"),
        ({"balancer": {"part": "ratio", "ratio": "high"}}, "ratio of ratio"),
        ({"balancer": {"part": "ratio", "share": 1.0}}, "ratio: unknown parameter 'share'"),
        ({"classifier": {"part": "support-vectors", "strength": float("nan")}}, "strength of support-vectors"),
    ],
)
def test_records_that_cannot_be_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ScreeningModel.from_record({**model_of().to_record(), **change})


@pytest.mark.slow
def test_forty_thousand_records() -> None:
    """Features within a minute, a ranking within two seconds, on a machine that does other things besides."""
    texts, topics = texts_of({"statin": 400, "asthma": 20_000, "software": 10_000, "school": 9_600}, seed=1)
    begin = time.process_time()
    model = model_of().fit_features(texts, vectors_of(topics))
    fitted = time.process_time() - begin
    draw = np.random.default_rng(0)
    labelled = {int(n): bool(topics[n] == "statin") for n in draw.choice(len(texts), 2000, replace=False)}
    begin = time.process_time()
    ranking = model.rank(labelled)
    ranked = time.process_time() - begin
    assert (topics[ranking.order[:300]] == "statin").mean() > 0.9
    assert fitted < 60 and ranked < 2, (fitted, ranked)
