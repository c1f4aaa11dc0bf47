"""Ranking for one reader, and the reasons that are told from the parts of the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import StoreError
from broadsheet.feed.desk import FOLLOWED, Mind, Ranking, rank, read_areas
from broadsheet.feed.discover import drawing
from broadsheet.feed.features import ENOUGH_NOTICED, Features, kept_rows, noticed, popularity
from broadsheet.feed.options import PARTS
from broadsheet.feed.reasons import KIND_PARTS, Known, interests_of, listed, reasons_for, weight_of
from broadsheet.feed.searches import new_hits
from broadsheet.learn.daily import FEW, MANY
from broadsheet.learn.memory import ReaderMemory, day_of
from broadsheet.learn.space import TextSpace, text_of
from broadsheet.model import Area, Paper, PaperId, Place
from broadsheet.model.reading import (
    Action,
    Interest,
    InterestCentre,
    InterestKind,
    Profile,
    SavedSearch,
    SectionKind,
)
from broadsheet.query import And, Since, parse
from tests.daily_library import AREAS, TOPICS, day, paper

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)
K = InterestKind
NAMES = list(TOPICS)


def made(number: int, topic: str, **fields: object) -> Paper:
    entry = paper(number, topic, 0)
    key = AREAS[topic]
    found = Paper(
        number + 1,
        entry["title"],
        entry["abstract"],
        tuple(entry["authors"]),
        areas=(Area("cs", key),),
        listed=day(0),
    )
    return replace(found, **fields)  # type: ignore[arg-type]


@cache
def features() -> Features:
    recent = [made(n, NAMES[n % 4]) for n in range(200)]
    return Features(TextSpace(topics=16).fit([text_of(one) for one in recent]), recent)


def candidates(count: int = 24) -> list[Paper]:
    return [made(1000 + n, NAMES[n % 4]) for n in range(count)]


def mind(liked: Sequence[int] = (), dismissed: Sequence[int] = (), profile: Profile | None = None) -> Mind:
    memory: ReaderMemory[PaperId] = ReaderMemory()
    recent = {one.id: one for one in features().recent}
    for action, numbers in (("save", liked), ("dismiss", dismissed)):
        for number in numbers:
            memory.update(action, number + 1, day_of(NOW) - 3)
    return Mind(memory, recent, profile or Profile())


def ranked(papers: list[Paper], who: Mind, found_by: dict[int, list[int]] | None = None) -> Ranking:
    return rank(papers, features(), who, found_by or {}, now=NOW, seed=1)


def topic_of(one: Paper) -> str:
    return one.title.split(" in the ")[1].split(" ")[0]


# --- ranking


def test_the_score_is_the_sum_of_its_parts() -> None:
    found = ranked(candidates(), mind([1, 5, 9], [3]), {2: [0, 4]})
    assert np.allclose(found.scores, np.sum(list(found.parts.values()), axis=0))
    assert all(values.shape == (24,) for values in found.parts.values())


def test_what_is_like_the_liked_comes_first() -> None:
    found = ranked(candidates(), mind([1, 5, 9]))  # bees
    best = [topic_of(found.papers[n]) for n in np.argsort(-found.scores)[:6]]
    assert best == ["bees"] * 6
    assert found.basis == "memory"
    assert found.areas == {"cs.LG": 1.0}


def test_two_rankings_are_the_same() -> None:
    one, other = (ranked(candidates(), mind([1, 2], [3])) for _ in range(2))
    assert np.array_equal(one.scores, other.scores)


def test_dismissed_papers_count_against_their_like() -> None:
    """Of two topics that are liked, the one of which a paper was dismissed, too."""
    found = ranked(candidates(), mind([0, 4, 8, 1, 5, 9], [12, 16]))
    without = ranked(candidates(), mind([0, 4, 8, 1, 5, 9]))
    rivers = [n for n, one in enumerate(found.papers) if topic_of(one) == "rivers"]
    others = [n for n, one in enumerate(found.papers) if topic_of(one) == "bees"]
    assert "dismissed" not in without.parts
    assert (found.parts["dismissed"] <= 0).all()
    assert found.parts["dismissed"][rivers].mean() < found.parts["dismissed"][others].mean()


def test_dismissals_alone_push_down_as_well() -> None:
    found = ranked(candidates(), mind([], [0, 4, 8]))
    assert found.basis == "nothing"
    worst = [topic_of(found.papers[n]) for n in np.argsort(found.scores)[:6]]
    assert worst == ["rivers"] * 6


@pytest.mark.parametrize(
    ("interest", "meant"),
    [
        (Interest(K.AREA, "cs.RO"), "rivers"),
        (Interest(K.KEYWORD, "bread"), "bread"),
    ],
)
def test_follows_raise(interest: Interest, meant: str) -> None:
    found = ranked(candidates(), mind(profile=Profile(follows=(interest,))))
    assert found.basis == "profile"
    part = found.parts[str(interest.kind)]
    assert {topic_of(one) for one, value in zip(found.papers, part, strict=True) if value > 0} == {meant}
    assert part.max() == FOLLOWED[interest.kind]
    assert {topic_of(found.papers[n]) for n in np.argsort(-found.scores)[:4]} == {meant}


def test_a_keyword_in_the_abstract_alone_counts_less() -> None:
    papers = candidates(3)
    papers[1] = replace(papers[1], keywords=("Escapement",))
    papers[2] = replace(
        papers[2], abstract=f"{papers[2].abstract} Of an escapement.", title="Clocks in the clocks of it"
    )
    papers[0] = replace(papers[0], abstract="", keywords=())
    found = ranked(papers, mind(profile=Profile(follows=(Interest(K.KEYWORD, "escapement"),))))
    assert found.parts["keyword"].tolist() == [0, 1, 0.6]


def test_more_than_two_of_a_kind_add_no_more() -> None:
    words = tuple(Interest(K.KEYWORD, word) for word in ("bread", "in the bread", "of", "and"))
    found = ranked(candidates(), mind(profile=Profile(follows=words)))
    assert found.parts["keyword"].max() == 2 * FOLLOWED[K.KEYWORD]


def test_followed_authors_and_venues() -> None:
    papers = candidates(4)
    papers[2] = replace(papers[2], venue="nips")
    wanted = (Interest(K.AUTHOR, papers[1].authors[0]), Interest(K.VENUE, "NeurIPS"))
    found = ranked(papers, mind(profile=Profile(follows=wanted)))
    assert found.parts["author"].tolist() == [0, 2, 0, 0]
    assert found.parts["venue"].tolist() == [0, 0, 0.5, 0]
    assert [[one.kind for one in some] for some in found.follows] == [[], [K.AUTHOR], [K.VENUE], []]


def test_a_followed_area_counts_more_where_it_is_the_papers_first() -> None:
    papers = candidates(3)
    papers[0] = replace(papers[0], areas=(Area("cs", "cs.LG"), Area("cs", "cs.CL")))
    papers[1] = replace(papers[1], areas=(Area("cs", "cs.CL"), Area("cs", "cs.LG")))
    papers[2] = replace(papers[2], areas=(Area("cs", "cs.RO"),))
    found = ranked(papers, mind(profile=Profile(follows=(Interest(K.AREA, "cs.LG"),))))
    assert found.parts["area"].tolist() == pytest.approx([0.6, 0.3, 0])
    whole = ranked(papers, mind(profile=Profile(follows=(Interest(K.AREA, "cs"),))))
    assert whole.parts["area"].tolist() == pytest.approx([0.6, 0.6, 0.6]), "an archive is the first of all its own"


def test_every_part_of_a_score_can_be_weighed() -> None:
    liked = ranked(candidates(), mind([1, 5], [2], Profile(follows=(Interest(K.AREA, "cs"),))))
    assert {*liked.parts, *ranked(candidates(), mind()).parts, *MANY, *FEW} == set(PARTS)


def test_emphasis_and_parts_that_are_turned_off() -> None:
    plain = ranked(candidates(), mind([1, 5]))
    turned = ranked(candidates(), mind([1, 5], profile=Profile(emphasis=(("classifier", 0.0), ("lasting", 2.0)))))
    assert not turned.parts["classifier"].any()
    assert np.allclose(turned.parts["lasting"], 2 * plain.parts["lasting"])


def test_popularity_decides_where_nothing_is_known() -> None:
    papers = candidates()
    papers[7] = replace(papers[7], counts=(("upvotes", 90),))
    found = ranked(papers, mind())
    assert int(np.argmax(found.scores)) == 7
    assert any("Nothing is known of you yet" in note for note in found.notes)
    assert popularity(papers)[7] == 1.0
    assert popularity(candidates()).tolist() == [0.0] * 24
    assert noticed(replace(papers[0], counts=(("upvotes", 2), ("comments", 3), ("citations", 9)))) == 5


def test_areas_that_are_read() -> None:
    both = mind([1, 5, 2, 6], profile=Profile(follows=(Interest(K.AREA, "cs.CL"),)))
    found = ranked(candidates(), both)
    assert found.areas == pytest.approx({"cs.LG": 0.5, "cs.SY": 0.5, "cs.CL": 1.0})
    assert read_areas(None, Profile()) == {}


def test_notice_is_learned_where_enough_were_noticed() -> None:
    bees = [made(n, "bees", counts=(("upvotes", 5),)) for n in range(ENOUGH_NOTICED)]
    others = [made(500 + n, NAMES[n % 4 if n % 4 != 1 else 0]) for n in range(150)]
    recent = [*bees, *others, made(900, "clocks", listed=day(9))]
    space = TextSpace(topics=16).fit([text_of(one) for one in recent])
    expected = Features(space, recent).notice(candidates())
    assert expected is not None
    by_topic = {
        name: np.mean([e for e, c in zip(expected, candidates(), strict=True) if topic_of(c) == name]) for name in NAMES
    }
    assert max(by_topic, key=lambda name: by_topic[name]) == "bees"
    assert Features(space, recent[1:]).notice(candidates()) is None
    assert Features(space, bees).notice(candidates()) is None  # nothing to tell them apart from


def test_what_is_too_new_is_no_example_of_what_nobody_noticed() -> None:
    bees = [made(n, "bees", counts=(("upvotes", 5),)) for n in range(ENOUGH_NOTICED)]
    others = [made(500 + n, NAMES[n % 4 if n % 4 != 1 else 0]) for n in range(150)]
    new = [made(700 + n, "bees", listed=day(9)) for n in range(100)]
    space = TextSpace(topics=16).fit([text_of(one) for one in [*bees, *others]])
    judged = [one for one in candidates() if topic_of(one) == "bees"]
    with_new = Features(space, [*bees, *others, *new]).notice(judged)
    without = Features(space, [*bees, *others, new[0]]).notice(judged)
    assert with_new is not None
    assert without is not None
    assert np.allclose(with_new, without)


def test_features_are_made_once_and_in_the_order_asked() -> None:
    mine = Features(features().space, ())
    papers = candidates(6)
    first = mine.rows(papers[:4])
    again = mine.rows([papers[3], papers[5], papers[0]])
    assert np.array_equal(again.vectors[0], first.vectors[3])
    assert (again.words[2] != first.words[0]).nnz == 0
    assert mine.rows([]).words.shape[0] == 0
    assert len(mine.background({1}, 0)) == 0
    assert len(features().background({1, 2}, 0)) == 198


# --- reasons


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 199), max_size=12, unique=True),
    st.lists(st.integers(0, 199), max_size=3, unique=True),
    st.lists(st.sampled_from(["keyword:bread", "area:cs.LG", "author:Ana", "keyword:river", "area:cs"]), max_size=3),
    st.lists(st.integers(0, 15), max_size=4, unique=True),
    st.dictionaries(
        st.sampled_from(["classifier", "lasting", "keyword", "search", "popular"]), st.sampled_from([0.0, 2.0])
    ),
)
def test_no_reason_is_invented(
    liked: list[int], dismissed: list[int], follows: list[str], hits: list[int], emphasis: dict[str, float]
) -> None:
    papers = candidates(16)
    papers[3] = replace(papers[3], counts=(("upvotes", 12),), places=(Place("huggingface"),))
    interests = []
    for text in follows:
        kind, _, value = text.partition(":")
        interests.append(Interest(K(kind), papers[5].authors[0] if value == "Ana" else value))
    searches = (SavedSearch(4, "apiary", "bees", NOW),)
    profile = Profile(follows=tuple(interests), searches=searches, emphasis=tuple(emphasis.items()))
    found = ranked(papers, mind([n for n in liked if n not in dismissed], dismissed, profile), {4: hits})
    known = Known(features().space, (), searches)
    for row, one in enumerate(papers):
        parts = {name: float(values[row]) for name, values in found.parts.items()}
        for section in SectionKind:
            reasons = reasons_for(found, row, section, known, explored=section is SectionKind.DISCOVERY)
            assert 1 <= len(reasons) <= 3
            weights = [reason.weight for reason in reasons if reason.kind not in {"notice", "search", "discovery"}]
            assert weights == sorted(weights, reverse=True)
            for reason in reasons:
                assert 0 <= reason.weight <= 1
                if reason.kind in KIND_PARTS:
                    assert any(parts.get(name, 0.0) > 0 for name in KIND_PARTS[reason.kind])
                    assert reason.kind == "notice" or weight_of(reason.kind, parts) > 0
                else:
                    assert reason.kind in {"discovery", "newest"}
                text = f"{one.title} {one.abstract}".lower()
                if reason.kind == "words":
                    words = reason.text.removeprefix("words you come back to: ").split(", ")
                    assert all(word.lower() in text for word in words)
                if reason.kind == "similar":
                    assert set(reason.papers) <= {n + 1 for n in liked}
                if reason.kind == "search":
                    assert row in hits
                if reason.kind in set(map(str, K)):
                    assert any(str(interest.kind) == reason.kind for interest in found.follows[row])
                if reason.kind == "notice" and "upvote" in reason.text:
                    assert (row, reason.text) == (3, "12 upvotes on Hugging Face")


def test_the_reason_of_the_section_comes_first() -> None:
    papers = candidates(8)
    papers[1] = replace(papers[1], counts=(("upvotes", 1),))
    searches = (SavedSearch(4, "apiary", "bees", NOW),)
    found = ranked(papers, mind([1, 5, 9], profile=Profile(searches=searches)), {4: [1]})
    known = Known(features().space, (), searches)

    def first(kind: SectionKind, **more: bool) -> str:
        return reasons_for(found, 1, kind, known, **more)[0].text

    assert first(SectionKind.SEARCH) == "matches 'apiary' in your saved searches"
    assert first(SectionKind.ELSEWHERE) == "1 upvote"
    assert first(SectionKind.FRONT).startswith("like ")
    assert first(SectionKind.DISCOVERY).startswith("like ")  # drawn by known interests, for comparison
    assert first(SectionKind.DISCOVERY, explored=True).startswith("new to you: ")


def test_what_is_new_about_a_discovery() -> None:
    found = ranked(candidates(4), mind([1, 5, 9]))
    known = Known(features().space)
    rivers = reasons_for(found, 0, SectionKind.DISCOVERY, known, explored=True)[0]
    assert (rivers.kind, rivers.text) == ("discovery", "new to you: Robotics")
    bees = reasons_for(found, 1, SectionKind.DISCOVERY, known, explored=True)[0]
    text = f"{found.papers[1].title} {found.papers[1].abstract}".lower()
    assert all(word.lower() in text for word in bees.text.removeprefix("new to you: ").split(", "))


@pytest.mark.parametrize(
    ("done", "said"),
    [
        ({2: Action.SAVE, 6: Action.SAVE}, "papers you saved on pollen and hives"),
        ({2: Action.LIKE, 6: Action.LIKE}, "papers you liked on pollen and hives"),
        ({2: Action.EXAMPLE, 6: Action.EXAMPLE}, "of your examples on pollen and hives"),
        ({2: Action.SAVE, 6: Action.LIKE}, "papers of your choice on pollen and hives"),
    ],
)
def test_likeness_says_to_what(done: dict[int, Action], said: str) -> None:
    alike = [made(1, "bees"), made(5, "bees")]
    one = made(1001, "bees", title=alike[0].title, abstract=f"{alike[0].abstract} {alike[1].abstract}")
    found = ranked([one, *candidates()], mind([1, 5]))
    centre = InterestCentre(("pollen", "hives", "queens"), (2, 6), 1.0)
    reasons = reasons_for(found, 0, SectionKind.FRONT, Known(features().space, (centre,), (), done))
    similar = next(reason for reason in reasons if reason.kind == "similar")
    assert similar.text == f"like 2 {said}"
    assert set(similar.papers) == {2, 6}


def test_likeness_to_one_paper_names_it() -> None:
    long = "A very long title about the many bees that go on and on in their hives for ever and a day"
    known_paper = made(1, "bees")
    who = mind([1])
    who = Mind(who.memory, {2: replace(known_paper, title=long)}, who.profile)
    fresh = Features(features().space, features().recent)
    papers = [replace(known_paper, id=900), *candidates()]
    found = rank(papers, fresh, who, {}, now=NOW, seed=1)
    text = reasons_for(found, 0, SectionKind.FRONT, Known(fresh.space, (), (), {2: Action.EXAMPLE}))[0].text
    assert text == "like “A very long title about the many bees that go on and on in…”, one of your examples"


def test_interests_of_candidates() -> None:
    found = ranked(candidates(8), mind([0, 4, 8, 1, 5, 9]))
    rivers, bees = InterestCentre((), (1, 5, 9), 0.5), InterestCentre((), (2, 6, 10), 0.5)
    groups = interests_of(found, (rivers, bees))
    assert {topic_of(one): group for one, group in zip(found.papers, groups, strict=True) if group >= 0} == {
        "rivers": 0,
        "bees": 1,
    }
    assert interests_of(found, (rivers,)) == [-1] * 8
    assert interests_of(ranked(candidates(8), mind()), (rivers, bees)) == [-1] * 8


@pytest.mark.parametrize(("values", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_lists_in_words(values: list[str], text: str) -> None:
    assert listed(values) == text


# --- discoveries


def test_discoveries_come_from_what_is_free_with_their_probability() -> None:
    found = ranked(candidates(), mind([1, 5, 9]))
    free = list(range(4, 24))
    picks = drawing(found, features(), 5.0, 7, risk=0.1)(free, 3)
    assert len({one.row for one in picks}) == 3
    assert {one.row for one in picks} <= set(free)
    assert all(0 < one.propensity <= 1 for one in picks)
    assert picks[1].explored  # at the greatest cap all but the first place are left to the explorer
    assert drawing(found, features(), 0.0, 7, risk=0.0)(free, 3) == []
    again = drawing(found, features(), 5.0, 7, risk=0.1)(free, 3)
    assert again == picks
    assert drawing(ranked(candidates(), mind()), features(), 1.0, 7, risk=0.1)(free, 2) != []


# --- saved searches


def test_hits_of_a_saved_search() -> None:
    papers = candidates(8)
    bees = [n for n, one in enumerate(papers) if topic_of(one) == "bees"]
    asked: list[tuple[str, str]] = []

    def search(text: str, sort: str) -> list[PaperId]:
        asked.append((text, sort))
        if sort == "newest":
            return [papers[0].id, 77]  # near in meaning, without the word
        return [papers[bees[1]].id, papers[3].id, papers[bees[0]].id, papers[0].id]

    assert new_hits("bees", papers, search, day(0)) == [bees[1], bees[0], 0]
    assert asked == [("bees", "newest"), (f"since:{day(0)} (bees)", "relevance")]
    assert new_hits("since:2020", papers, search, day(0)) == [bees[1], 3, bees[0], 0]
    assert new_hits("bees", [], lambda text, sort: [1], day(0)) == []


def test_time_passes_over_the_memory() -> None:
    """What was liked long ago weighs less than what was liked now, where both speak against each other."""
    who = mind([1])
    later = rank(candidates(), features(), who, {}, now=NOW + timedelta(days=3650), seed=1)
    assert later.basis == "memory"
    assert np.isfinite(later.scores).all()


# --- rows that are kept for the day


def test_rows_are_kept_for_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, papers, space = tmp_path / "daily" / "rows.npz", candidates(6), features().space
    first = kept_rows(path, "monday", papers, space)
    expected = Features(space, ()).rows(papers)
    assert (first.words != expected.words).nnz == 0
    calls = []
    monkeypatch.setattr(TextSpace, "transform", lambda self, texts: calls.append(texts))
    again = kept_rows(path, "monday", papers, space)
    assert calls == []
    assert (again.words != expected.words).nnz == 0
    assert np.array_equal(again.topics, expected.topics)
    monkeypatch.undo()
    made = Features(space, papers, again)
    assert np.array_equal(made.rows(papers[::-1]).topics, expected.topics[::-1])
    assert [one.name for one in path.parent.iterdir()] == ["rows.npz"]


@pytest.mark.parametrize("damage", ["another day", "half", "other papers", "empty"])
def test_rows_of_another_day_or_damaged_are_made_again(damage: str, tmp_path: Path) -> None:
    path, papers, space = tmp_path / "rows.npz", candidates(6), features().space
    kept_rows(path, "tuesday" if damage == "another day" else "monday", papers, space)
    if damage == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other papers":
        papers = candidates(5)
    found = kept_rows(path, "monday", papers, space)
    assert np.array_equal(found.topics, Features(space, ()).rows(papers).topics)
    assert np.array_equal(kept_rows(path, "monday", papers, space).topics, found.topics)


def test_rows_that_may_not_be_written_or_cannot(tmp_path: Path) -> None:
    kept_rows(tmp_path / "rows.npz", "monday", candidates(2), features().space, save=False)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        kept_rows(tmp_path / "file" / "rows.npz", "monday", candidates(2), features().space)


# --- an encoder's vectors


def encoded_features(missing: int) -> Features:
    """Features with made-up vectors of an encoder for all papers but those whose numbers are below ``missing``."""

    def encoded(papers: Sequence[PaperId]) -> np.ndarray:
        rows = np.array([np.random.default_rng(paper).normal(size=8) for paper in papers])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(np.where(np.array(papers)[:, None] < missing, 0, rows), np.float32)

    return Features(features().space, features().recent, None, encoded)


def test_an_encoder_is_used_where_nearly_all_papers_have_a_vector() -> None:
    def meaning(missing: int) -> np.ndarray:
        found = rank(candidates(), encoded_features(missing), mind([41, 45, 49]), {}, now=NOW, seed=1)
        return found.parts.get("meaning", np.zeros(1))

    assert meaning(0).any()
    assert meaning(15).any()  # of about 220
    assert not meaning(60).any()
    assert not ranked(candidates(), mind([1, 5, 9])).parts.get("meaning", np.zeros(1)).any()


@pytest.mark.parametrize("text", ["bees OR", "OR bees", "bees OR honey", '"bees', "bees (", "-survey"])
def test_the_window_narrows_every_question(text: str) -> None:
    """What is asked for beside the newest is of the window's days, whatever the question ends with."""
    papers = [made(n, "bees") for n in range(3)]
    asked: list[str] = []

    def search(question: str, sort: str) -> list[int]:
        asked.append(question)
        return []

    new_hits(text, papers, search, day(0))
    root = parse(asked[-1], day(0)).root
    assert isinstance(root, And)
    assert any(isinstance(child, Since) for child in root.children)
