"""The replay of the daily paper: nobody sees the future, and every peer finds what is plainly there."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from bench.feed import elsewhere
from bench.feed.ours import WITHOUT, Ablated, Memory
from bench.feed.readers import KNOWN, cold, drifting, made_readers, noisy, steady, union, wanted_days
from bench.feed.replay import day_figures, replay, replay_all, replays
from bench.feed.report import by_day, figures, paired
from bench.feed.stream import STRIDES, Pick, Stream, halves
from bench.feed_days import STRIDE, OtherDays
from bench.peers import PEERS
from bench.peers.linear import background
from bench.peers.similarity import ZoteroDaily

START = 739_000
PER_DAY = 12
DAYS = 40
WORDS = 60


class Made(Stream):
    """Papers about one of four topics; topic 0 has words 0–9, and so on, and all share the rest."""

    @cached_property
    def words(self) -> sparse.csr_matrix:
        rng = np.random.default_rng(3)
        dense = (rng.random((len(self.days), WORDS)) < 0.1).astype(np.float32)
        dense[:, :40] = 0
        for n in range(len(self.days)):
            topic = n % 4
            dense[n, topic * 10 : topic * 10 + 10] = rng.random(10) + 0.5
        return sparse.csr_matrix(dense / np.linalg.norm(dense, axis=1, keepdims=True))

    @cached_property
    def topics(self) -> np.ndarray:
        return np.asarray(self.words.toarray())

    @cached_property
    def vectors(self) -> np.ndarray:
        return np.asarray(self.words.toarray())


@pytest.fixture(scope="module")
def stream() -> Stream:
    return Made([], np.repeat(np.arange(START, START + DAYS), PER_DAY))


def picks_of(topic: int, every: int = 1, lag: int = 1) -> list[Pick]:
    """One paper of a topic a day, added ``lag`` days later."""
    days = range(0, DAYS - lag, every)
    return [Pick(day * PER_DAY + topic, START + day, START + day + lag) for day in days]


def test_a_listing_is_one_day(stream: Stream) -> None:
    assert stream.listing(START + 2) == (2 * PER_DAY, 3 * PER_DAY)
    assert stream.listing(START - 1) == (0, 0)
    assert stream.listing(START + DAYS) == (DAYS * PER_DAY, DAYS * PER_DAY)


def test_the_halves_alternate_in_the_alphabet_and_share_nothing() -> None:
    assert halves(["b", "D", "a", "C", "e"]) == {"tuning": ["a", "C", "e"], "reporting": ["b", "D"]}
    assert halves(["e", "C", "a", "D", "b"]) == halves(["b", "D", "a", "C", "e"])


def test_picks_of_the_day_itself_are_wanted_and_not_yet_known() -> None:
    same_day = [Pick(n, START + n, START + n) for n in range(8)]
    reader = steady("x", "single", [same_day])
    assert min(reader.wanted) == START + KNOWN
    for day, papers in reader.wanted.items():
        known = reader.before(day)
        assert len(known) >= KNOWN
        assert all(pick.added < day for pick in known)
        assert not papers & {pick.paper for pick in known}


def test_a_paper_added_before_it_was_listed_is_never_wanted() -> None:
    assert wanted_days([Pick(1, START + 5, START + 4), Pick(2, START + 5, START + 5)]) == {START + 5: frozenset({2})}


def test_a_paper_in_two_lists_counts_once_and_from_its_first_day() -> None:
    both = union([[Pick(1, START, START + 9)], [Pick(1, START, START + 3), Pick(2, START, START + 5)]])
    assert both == (Pick(1, START, START + 3), Pick(2, START, START + 5))


def test_a_drifting_reader_changes_at_half_time(stream: Stream) -> None:
    one, other = picks_of(0), picks_of(1)
    reader = drifting("0 → 1", one, other)
    assert reader is not None and reader.drift is not None
    topic = {pick.paper: pick.paper % PER_DAY for pick in [*one, *other]}
    assert {topic[p.paper] for p in reader.picks if p.added < reader.drift} == {0}
    assert {topic[p.paper] for p in reader.picks if p.added >= reader.drift} == {1}
    for day, papers in reader.wanted.items():
        assert {topic[paper] for paper in papers} == ({0} if day < reader.drift else {1})


def test_a_pair_with_nothing_after_half_time_makes_no_reader() -> None:
    assert drifting("late → early", picks_of(0)[20:], picks_of(1)[:8]) is None


@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_cold_reader_knows_so_many_and_is_asked_later(count: int) -> None:
    for reader in cold("x", picks_of(2), count):
        assert len(reader.picks) == count
        assert min(reader.wanted) > max(pick.added for pick in reader.picks)


def test_noise_replaces_a_fifth_with_papers_of_the_past(stream: Stream) -> None:
    clean = steady("x", "single", [picks_of(0)])
    first, second = noisy(clean, stream), noisy(clean, stream)
    assert first == second
    assert first.wanted == clean.wanted
    changed = [new for old, new in zip(clean.picks, first.picks, strict=True) if old != new]
    assert len(changed) in {round(0.2 * len(clean.picks)) - 1, round(0.2 * len(clean.picks))}
    assert all(pick.listed < pick.added for pick in changed)
    assert [pick.added for pick in first.picks] == [pick.added for pick in clean.picks]


def test_the_background_is_earlier_and_not_picked(stream: Stream) -> None:
    picks = picks_of(0)[:10]
    others = background(stream, START + 20, picks, 50)
    assert len(others) == 50
    assert others.max() < 20 * PER_DAY
    assert not set(others) & {pick.paper for pick in picks}
    assert len(background(stream, START + 20, picks, 10_000)) == 20 * PER_DAY - 10


@pytest.mark.parametrize("name", list(PEERS))
def test_every_peer_finds_the_topic(name: str, stream: Stream) -> None:
    reader = steady("x", "single", [picks_of(1)])
    found = replay(reader, name, PEERS[name](), stream)
    # Three of twelve papers a day are of the topic and one is picked: chance gives nDCG .31.
    assert found.means()["recall@10"] == 1
    assert found.means()["ndcg@20"] > 0.55


def test_the_memory_finds_the_topic_and_follows_a_change(stream: Stream) -> None:
    silence = np.zeros(len(stream.days))
    steady_one = replay(steady("x", "single", [picks_of(1)]), "memory", Memory(silence), stream)
    assert steady_one.means()["ndcg@20"] > 0.55
    reader = drifting("0 → 1", picks_of(0), picks_of(1))
    assert reader is not None and reader.drift is not None
    ours, centroid = (replay(reader, "x", model, stream) for model in (Memory(silence), PEERS["centroid"]()))
    after = np.array(ours.days) >= reader.drift
    assert ours.values[after, 0].mean() > centroid.values[after, 0].mean()


def test_expected_notice_decides_between_papers_that_are_alike(stream: Stream) -> None:
    notice = np.tile(np.r_[np.zeros(PER_DAY - 4), np.ones(4)], DAYS)
    scores = Memory(notice).scores(picks_of(0)[:8], START + 20, stream)
    assert scores[-4] > scores[0:8:4].max()


def test_the_newest_pick_weighs_most_for_zotero_daily(stream: Stream) -> None:
    old_then_new = [Pick(0, START, START + 1), Pick(1, START, START + 2)]
    scores = ZoteroDaily().scores(old_then_new, START + 5, stream)
    assert scores[1::4].mean() > scores[0::4].mean()


def test_figures_of_a_day_by_hand() -> None:
    ndcg, recall, mrr = day_figures(np.array([0.1, 0.9, 0.5]), 100, frozenset({102}))
    assert (round(ndcg, 4), recall, mrr) == (0.6309, 1.0, 0.5)


def test_equal_scores_keep_the_listing_and_bad_scores_are_refused() -> None:
    assert day_figures(np.zeros(3), 100, frozenset({100}))[2] == 1
    with pytest.raises(ValueError, match="finite"):
        day_figures(np.array([np.nan, 1.0]), 0, frozenset({1}))


class Spy:
    def __init__(self) -> None:
        self.seen: list[tuple[Sequence[Pick], int]] = []

    def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
        self.seen.append((picks, day))
        return np.zeros(PER_DAY)


def test_a_model_is_never_shown_the_future_and_days_come_in_order(stream: Stream) -> None:
    spy = Spy()
    replay(steady("x", "mixed", [picks_of(0), picks_of(1, every=3, lag=7)]), "spy", spy, stream)
    days = [day for _, day in spy.seen]
    assert days == sorted(set(days))
    assert all(pick.added < day for picks, day in spy.seen for pick in picks)


def test_a_model_with_the_wrong_number_of_scores_is_refused(stream: Stream) -> None:
    class Short(Spy):
        def scores(self, picks: Sequence[Pick], day: int, stream: Stream) -> np.ndarray:
            return np.zeros(3)

    with pytest.raises(ValueError, match="12 papers"):
        replay(steady("x", "single", [picks_of(0)]), "short", Short(), stream)


def test_the_report_compares_with_the_best_peer(stream: Stream) -> None:
    lists = {name: picks_of(n) for n, name in enumerate("abc")}
    readers = made_readers(stream, lists, list(lists))
    found = figures(replay_all(readers, PEERS, stream, workers=1))
    assert {"single", "mixed", "drifting", "cold 1", "cold 3", "cold 10", "single, noise"} <= set(found)
    single = found["single"]
    best = single["models"][single["best_peer"]]["ndcg@20"]
    assert best == max(values["ndcg@20"] for values in single["models"].values())
    assert set(found["drifting"]["from_half_time"]) == set(PEERS)


def test_a_paired_difference_of_a_model_to_itself_is_nothing(stream: Stream) -> None:
    reader = steady("x", "single", [picks_of(0)])
    one = [replay(reader, "centroid", PEERS["centroid"](), stream)]
    other = [replay(reader, "spy", Spy(), stream)]
    low, high = paired(one, one)["confidence_sequence_95"]
    assert low < 0 < high
    gap = paired(one, other)
    assert gap["confidence_sequence_95"][0] <= gap["daily_difference"] <= gap["confidence_sequence_95"][1]
    assert gap["days"] == len(reader.wanted)
    assert gap["difference"] == pytest.approx(one[0].means()["ndcg@20"] - other[0].means()["ndcg@20"], abs=1e-4)


def test_a_day_of_several_readers_is_one_observation(stream: Stream) -> None:
    readers = [steady(f"{n}", "mixed", [picks_of(n)]) for n in range(3)]
    ours = [replay(reader, "centroid", PEERS["centroid"](), stream) for reader in readers]
    one, other = by_day(ours, ours)
    assert len(one) == len({day for reader in readers for day in reader.wanted})
    assert one[3] == pytest.approx(np.mean([replay.values[3, 0] for replay in ours]))
    np.testing.assert_array_equal(one, other)


class Partly(Made):
    """Vectors on the days of whole strides only, and for one more paper on another day."""

    @cached_property
    def vectors(self) -> np.ndarray:
        found = np.asarray(self.words.toarray())
        stride = (self.days - START) % STRIDES
        return np.where((stride == 0)[:, None] | (np.arange(len(self.days)) == PER_DAY)[:, None], found, 0)


def test_only_whole_strides_of_days_are_scored_and_drawn_from() -> None:
    partly = Partly([], np.repeat(np.arange(START, START + DAYS), PER_DAY))
    assert partly.complete == set(range(START, START + DAYS, STRIDES))
    assert set(partly.days[partly.fair].tolist()) == partly.complete
    lists = {name: picks_of(n) for n, name in enumerate("abc")}
    readers = made_readers(partly, lists, list(lists))
    assert readers and all(set(reader.wanted) <= partly.complete for reader in readers)
    assert set(background(partly, START + 20, picks_of(0))) <= set(partly.fair)


def test_without_a_whole_stride_nothing_is_scored() -> None:
    class Bare(Made):
        @cached_property
        def vectors(self) -> np.ndarray:
            return np.zeros((len(self.days), WORDS), np.float32)

    bare = Bare([], np.repeat(np.arange(START, START + DAYS), PER_DAY))
    assert not bare.complete
    assert not made_readers(bare, {"a": picks_of(0)}, ["a"])


def test_other_days_are_none_that_the_ranker_was_chosen_on() -> None:
    days = np.repeat(np.arange(START, START + DAYS), PER_DAY)
    other = OtherDays([], days)
    other.__dict__["vectors"] = np.ones((len(days), 3), np.float32)
    assert other.complete == set(range(START + STRIDE, START + DAYS, STRIDES))
    assert not other.complete & set(range(START, START + DAYS, STRIDES))
    assert set(other.days[other.fair].tolist()) == other.complete
    lacking = OtherDays([], days)
    lacking.__dict__["vectors"] = np.where(days == START + STRIDE, 0, 1)[:, None].astype(np.float32)
    assert lacking.complete == other.complete - {START + STRIDE}


def test_the_variants_of_the_memory_are_the_memory_less_a_part(stream: Stream) -> None:
    notice = np.tile(np.arange(PER_DAY, dtype=float), DAYS)
    reader = steady("x", "single", [picks_of(1)])
    found = {one.model: one for one in replays(reader, "memory", Ablated(notice), stream)}
    assert set(found) == set(WITHOUT)
    whole = replay(reader, "memory", Memory(notice), stream)
    np.testing.assert_allclose(found["memory"].values, whole.values)
    silent = replay(reader, "memory", Memory(np.zeros_like(notice)), stream)
    np.testing.assert_allclose(found["without notice"].values, silent.values)
    assert not np.allclose(found["without notice"].values, whole.values)


def test_citeulike_is_cut_into_dated_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    items = [
        {
            "item": n,
            "title": f"title {n}",
            "abstract": "some words",
            "authors": ["a"],
            "posted_at": f"2005-01-{day:02d} 10:00:00",
        }
        for n, day in enumerate(rng.integers(1, 29, 230).tolist())
    ]
    users = [
        {"user": 0, "items": list(range(0, 230, 5)), "complete": True},
        {"user": 1, "items": [1, 2], "complete": True},
        {"user": 2, "items": list(range(230)), "complete": False},
    ]
    for name, rows in (("items", items), ("users", users)):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setattr(elsewhere, "CITEULIKE", tmp_path)
    stream, readers = elsewhere.citeulike()
    assert [one.name for one in readers] == ["user 0"]  # whole libraries with enough known only
    days, counts = np.unique(stream.days, return_counts=True)
    assert counts.tolist() == [50, 50, 50, 50, 30]
    posted = [paper["posted_at"] for paper in stream.papers]
    assert posted == sorted(posted)
    for day, wanted in readers[0].wanted.items():
        assert day in days.tolist()
        assert not wanted & {pick.paper for pick in readers[0].before(day)}
    assert {stream.papers[n]["item"] % 5 for wanted in readers[0].wanted.values() for n in wanted} == {0}
