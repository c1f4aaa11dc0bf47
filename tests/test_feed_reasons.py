"""Reasons a person would agree with: words that are a reader's own, likeness that words bear out, topics that fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from broadsheet.feed.desk import Mind, Ranking, rank
from broadsheet.feed.features import Features
from broadsheet.feed.portrait import OF_FEW, portrait
from broadsheet.feed.reasons import Known, reasons_for, speaks_for
from broadsheet.learn.memory import ReaderMemory, day_of
from broadsheet.learn.space import TextSpace, text_of
from broadsheet.model import Area, Paper, PaperId
from broadsheet.model.reading import (
    Action,
    Event,
    Interest,
    InterestCentre,
    InterestKind,
    Profile,
    Reason,
    SavedSearch,
    SectionKind,
)
from tests.daily_library import TOPICS
from tests.libraries import word

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)


def written(number: int, topic: str, extra: str = "", **fields: object) -> Paper:
    """A paper that has all words of its topic, and some more."""
    made = Paper(number, f"On {word(number)}", f"{' '.join(TOPICS[topic])} {extra}", areas=(Area("cs", "cs.LG"),))
    return replace(made, **fields)  # type: ignore[arg-type]


def ranked(papers: Sequence[Paper], liked: Sequence[Paper], others: Sequence[Paper], **profile: object) -> Ranking:
    memory: ReaderMemory[PaperId] = ReaderMemory()
    for one in liked:
        memory.update("save", one.id, day_of(NOW) - 3)
    mind = Mind(memory, {one.id: one for one in liked}, Profile(**profile))  # type: ignore[arg-type]
    return rank(papers, Features(SPACE, others), mind, {}, now=NOW, seed=1)


NAMES = list(TOPICS)
LIKED = [written(n, "bees", "evidently thirsty") for n in range(1, 9)]
COMMON = ("xylophones", "evidently", "evidently", "", "", "", "evidently", "")  # what the others say beside their topic
OTHERS = [written(100 + n, NAMES[n % 4], COMMON[n % 8]) for n in range(80)]
SPACE = TextSpace(topics=8).fit([text_of(one) for one in [*OTHERS, *LIKED]])


def reasons(found: Ranking, row: int = 0, centres: Sequence[InterestCentre] = ()) -> dict[str, Reason]:
    done = {one.id: Action.SAVE for one in LIKED}
    told = reasons_for(found, row, SectionKind.FRONT, Known(SPACE, centres, (), done))
    return {reason.kind: reason for reason in told}


def candidates(first: Paper) -> list[Paper]:
    return [first, *(written(900 + n, NAMES[n % 4]) for n in range(12))]


def test_the_topic_is_told_by_words_that_the_paper_has() -> None:
    centre = InterestCentre(("mead", "pollen", "wax", "hives"), tuple(one.id for one in LIKED), 1.0)
    found = ranked(candidates(written(500, "bees")), LIKED, OTHERS)
    assert reasons(found, centres=[centre])["similar"].text == "like 8 papers you saved on pollen and hives"


def test_where_it_has_none_of_them_the_nearest_paper_is_named() -> None:
    centre = InterestCentre(("mead", "wax"), tuple(one.id for one in LIKED), 1.0)
    found = ranked(candidates(written(500, "bees")), LIKED, OTHERS)
    text = reasons(found, centres=[centre])["similar"].text
    named = {f"like “{one.title}” and 7 more papers you saved" for one in LIKED}
    assert text in named


def test_likeness_that_no_words_bear_out_is_not_told() -> None:
    """Topics can be near by chance; two papers that are alike have words in common."""
    found = ranked(candidates(written(500, "bees")), LIKED[:1], OTHERS)
    assert "similar" in reasons(found)
    bare = found.rows.words.copy()
    bare.data[:] = 0
    assert "similar" not in reasons(replace(found, rows=replace(found.rows, words=bare)))


def words_told(found: Ranking) -> str:
    reason = reasons(found).get("words")
    return reason.text if reason else ""


def decided_by(found: Ranking, **weights: float) -> Ranking:
    """As if the classifier had decided, by these words alone."""
    names = list(SPACE.names_)
    given = np.full(len(names), -1.0)
    for term, weight in weights.items():
        given[names.index(term)] = weight
    raised = found.parts["classifier"].copy()
    raised[0] = 9.0
    return replace(found, parts={**found.parts, "classifier": raised}, word_weights=given)


def test_words_are_the_readers_own() -> None:
    """What everybody writes is nobody's word, and what one liked paper has is nothing one comes back to."""
    once = [replace(LIKED[0], abstract=f"{LIKED[0].abstract} xylophones"), *LIKED[1:]]
    paper = written(500, "rivers", "evidently thirsty xylophones larvae")
    found = ranked(candidates(paper), once, OTHERS)
    told = words_told(decided_by(found, evidently=1.0, thirsty=1.0, xylophones=1.0, larvae=1.0))
    assert set(told.removeprefix("words you come back to: ").split(", ")) == {"thirsty", "larvae"}


@pytest.mark.parametrize(
    ("title", "elsewhere", "told"),
    [
        ("On rivers", "", "words you come back to: thirsty"),
        ("On rivers", "larvae " * 9, ""),
        ("The thirsty river", "larvae " * 9, "words you come back to: thirsty"),
    ],
)
def test_one_word_alone_is_told_where_it_weighs(title: str, elsewhere: str, told: str) -> None:
    """A single word that only the abstract has says little, unless none of the day's papers has a weightier one."""
    papers = candidates(written(500, "rivers", "thirsty", title=title))
    papers[1] = replace(papers[1], abstract=elsewhere or "nothing")
    found = ranked(papers, LIKED, OTHERS)
    assert words_told(decided_by(found, thirsty=1.0, larvae=1.0 if elsewhere else -1.0)) == told


def test_what_is_typical_of_new_papers() -> None:
    papers = [*(written(900 + n, "bees") for n in range(11)), written(950, "bread", areas=())]
    found = ranked(papers, [], OTHERS)
    told = [reasons(found, n) for n in range(12)]
    assert max(found.parts["typical"][:11]) > 0 > found.parts["typical"][11]
    assert [*told[11]] == ["newest"]
    assert told[11]["newest"].text == "among the newest"
    for n in range(11):
        assert ("usual" in told[n]) == (found.parts["typical"][n] > found.parts["typical"].std())
        if "usual" in told[n]:
            words = told[n]["usual"].text.removeprefix("typical of what is new: ").split(", ")
            assert 0 < len(words) <= 2
            assert set(words) <= set(TOPICS["bees"])
    assert "usual" not in reasons(ranked(candidates(written(500, "bees")), LIKED, OTHERS)), "the memory decides then"


@pytest.mark.parametrize(
    ("areas", "text"),
    [
        (("cs.CL",), "in Computation and Language, which you follow"),
        (("cs.CL", "cs.LG"), "in Computation and Language and in Machine Learning, which you follow"),
        (("cs.LG", "cs.CL"), "in Machine Learning and in Computation and Language, which you follow"),
    ],
)
def test_areas_that_are_followed(areas: tuple[str, ...], text: str) -> None:
    follows = tuple(Interest(InterestKind.AREA, area) for area in sorted(areas))
    paper = written(500, "bees", areas=tuple(Area("cs", area) for area in areas))
    others = [replace(one, areas=(Area("cs", "cs.RO"),)) for one in candidates(paper)[1:]]
    found = ranked([paper, *others], [], OTHERS, follows=follows)
    assert reasons(found)["area"].text == text


def test_an_area_that_many_papers_are_in_does_not_stand_alone() -> None:
    """What tells them apart is said: what decided between them, else what each is about."""
    follows = (Interest(InterestKind.AREA, "cs.LG"),)
    papers = [*(written(900 + n, "bees") for n in range(11)), written(950, "bread", "thirsty thirsty thirsty")]
    found = ranked(papers, [], OTHERS, follows=follows)
    typical = found.parts["typical"]
    for row in range(11):
        told = reasons(found, row)
        if typical[row] > typical.std():
            assert told["area"].text == "in Machine Learning, which you follow"
            assert told["usual"].text.startswith("typical of what is new: ")
            assert set(told["usual"].text.partition(": ")[2].split(", ")) <= set(TOPICS["bees"])
        else:
            assert told["area"].text.startswith("in Machine Learning, which you follow: ")
    (alone,) = reasons(found, 11).values()
    assert alone.text.startswith("in Machine Learning, which you follow: thirsty, ")
    (area, variety) = reasons_for(found, 11, SectionKind.FRONT, Known(SPACE), varied=(0, 1))
    assert area.text == "in Machine Learning, which you follow"
    assert variety.kind == "variety"
    assert variety.text.startswith("unlike what stands above it: thirsty, ")


def test_what_a_paper_for_variety_is_unlike_what_stands_above_it_in_is_not_there() -> None:
    follows = (Interest(InterestKind.AREA, "cs.LG"),)
    same = [written(950, "bread"), written(951, "bread")]
    papers = [*(written(900 + n, "bees") for n in range(9)), *same, written(952, "bread", "thirsty thirsty thirsty")]
    found = ranked(papers, [], OTHERS, follows=follows)
    (_, variety) = reasons_for(found, 11, SectionKind.FRONT, Known(SPACE), varied=(0, 9))
    assert variety.text == "unlike what stands above it: thirsty"
    (area,) = reasons_for(found, 10, SectionKind.FRONT, Known(SPACE), varied=(0, 9))
    assert area.text.startswith("in Machine Learning, which you follow: ")


def test_with_other_reasons_an_area_is_said_as_it_is() -> None:
    follows = (Interest(InterestKind.AREA, "cs.LG"), Interest(InterestKind.KEYWORD, "pollen"))
    papers = [*(written(900 + n, "bees") for n in range(11)), written(950, "bread")]
    found = ranked(papers, [], OTHERS, follows=follows)
    told = reasons(found, 0)
    assert {kind: told[kind].text for kind in ("area", "keyword")} == {
        "area": "in Machine Learning, which you follow",
        "keyword": "matches 'pollen', which you follow",
    }


def test_a_paper_in_the_section_of_an_area_is_new_there() -> None:
    papers = [*(written(900 + n, "bees") for n in range(11)), written(950, "bread")]
    papers[11] = replace(papers[11], areas=(Area("cs", "cs.CE"), Area("cs", "cs.LG")))
    found = ranked(papers, [], OTHERS)
    for area, text in (
        ("", "new in Computational Engineering, Finance and Science"),
        ("cs.LG", "new in Machine Learning"),
    ):
        (told,) = reasons_for(found, 11, SectionKind.AREA, Known(SPACE), area=area)
        assert told.text == text


def shown_words(liked: Sequence[Paper]) -> list[str]:
    memory: ReaderMemory[PaperId] = ReaderMemory()
    for one in liked:
        memory.update("save", one.id, day_of(NOW) - 3)
    mind = Mind(memory, {one.id: one for one in liked}, Profile())
    return [term for term, _ in portrait("me", [], mind, Features(SPACE, OTHERS), (), now=NOW).words]


def test_the_words_of_one_paper_are_no_portrait() -> None:
    odd = replace(LIKED[0], abstract=f"{LIKED[0].abstract} xylophones")
    assert 0 < len(shown_words([odd])) <= OF_FEW
    many = " ".join(shown_words([odd, *LIKED[1:]]))
    assert "thirsty" in many
    assert "xylophones" not in many, "one paper alone has it"


def test_an_opening_does_not_hide_that_a_paper_was_liked() -> None:
    memory: ReaderMemory[PaperId] = ReaderMemory()
    memory.update("like", LIKED[0].id, day_of(NOW) - 3)
    memory.update("open", LIKED[1].id, day_of(NOW) - 2)
    mind = Mind(memory, {one.id: one for one in LIKED[:2]}, Profile())
    said = [(Action.OPEN, 0, 9), (Action.LIKE, 0, 3), (Action.OPEN, 0, 2), (Action.OPEN, 1, 2), (Action.OPEN, 1, 1)]
    events = [
        Event(n, "me", action, LIKED[which].id, NOW - timedelta(days=days))
        for n, (action, which, days) in enumerate(said, 1)
    ]
    view = portrait("me", events, mind, Features(SPACE, OTHERS), (), now=NOW)
    found = {paper.paper: (paper.action, paper.moment) for paper in view.papers}
    assert found[LIKED[0].id] == (Action.LIKE, NOW - timedelta(days=3))
    assert found[LIKED[1].id] == (Action.OPEN, NOW - timedelta(days=1)), (
        "the newest opening, where nothing else was done"
    )


def test_a_saved_search_is_named() -> None:
    searches = (SavedSearch(1, "apiary", "bees", NOW),)
    found = replace(ranked(candidates(written(500, "bees")), LIKED, OTHERS), searches=((1,), *((),) * 12))
    parts = {**found.parts, "search": np.ones(13)}
    told = reasons_for(replace(found, parts=parts), 0, SectionKind.FRONT, Known(SPACE, (), searches))
    assert "matches 'apiary' in your saved searches" in [reason.text for reason in told]


def test_what_speaks_for_a_paper_is_said_however_little_it_weighs() -> None:
    """Before it is said that a paper is new and no more."""
    found = ranked(candidates(written(500, "bees")), LIKED, OTHERS)
    parts = {name: np.zeros(13) for name in found.parts} | {"lasting": np.full(13, 0.05)}
    faint = replace(found, parts=parts)
    told = reasons(faint)
    assert list(told) == ["similar"]
    assert told["similar"].weight > 0
    assert speaks_for(faint, 0, Known(SPACE, (), (), {}))
    against = replace(found, parts={**parts, "lasting": np.full(13, -0.05)})
    assert list(reasons(against)) == ["newest"]
    assert not speaks_for(against, 0, Known(SPACE, (), (), {}))


def test_notice_is_named_only_where_there_is_any() -> None:
    quiet = ranked(candidates(written(500, "bees")), [], OTHERS)
    assert "nor what others take notice of" in quiet.notes[0]
    noted = replace(candidates(written(500, "bees"))[0], counts=(("upvotes", 7),))
    loud = ranked([noted, *candidates(written(500, "bees"))[1:]], [], OTHERS)
    assert "goes by what others take notice of" in loud.notes[0]
