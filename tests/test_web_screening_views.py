"""How a review reads: highlights, the curve, criteria written as lines, rules, and what happened. Pure functions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from broadsheet.learn.screening import COMPOSITIONS, QUERIERS
from broadsheet.model.screening import (
    STOPPING_RULES,
    Chosen,
    Criterion,
    CurvePoint,
    GuaranteeClass,
    Highlight,
    Label,
    Offer,
    PoolRecord,
    Review,
    ReviewEvent,
    ReviewEventKind,
    Standing,
    StoppingPlan,
    StopReport,
)
from broadsheet.web import screening_views as views
from broadsheet.web.params import ParameterError
from broadsheet.web.screening_curve import MOST_POINTS, curve, thinned, ticks
from broadsheet.web.screening_forms import criteria, listed
from broadsheet.web.screening_list import state_words
from broadsheet.web.screening_pages import as_chosen

TAG = re.compile(r"<[^>]*>")
NOW = datetime(2026, 6, 1, 8, 5, tzinfo=UTC)


def shown(text: str, *highlights: Highlight) -> str:
    return str(views.marked(text, highlights))


# --------------------------------------------------------------------------------------------------------- highlights


def test_words_are_marked_by_whose_they_are_and_what_they_speak_for() -> None:
    text = "sparse and dense"
    found = shown(text, Highlight(0, 6, 0.5, "reader"), Highlight(11, 16, -0.5, "model"))
    assert found == '<mark class="reader for">sparse</mark> and <mark class="model against">dense</mark>'


def test_where_highlights_overlap_the_readers_own_word_wins_and_the_sentence_stays() -> None:
    found = shown(
        "abcdef", Highlight(0, 6, 1, "sentence"), Highlight(1, 4, -1, "model"), Highlight(3, 5, 0.1, "reader")
    )
    assert TAG.sub("", found) == "abcdef"
    assert '<mark class="model against">bc</mark>' in found
    assert '<mark class="reader for">d</mark>' in found
    assert '<mark class="reader for">e</mark>' in found
    assert found.count("deciding-sentence") == 5


def test_highlights_outside_the_text_and_empty_ones_are_left_out() -> None:
    for start, end in ((-1, 2), (2, 2), (3, 1), (0, 99), (50, 60)):
        assert shown("abc", Highlight(start, end, 1, "model")) == "abc"


def test_paragraphs_carry_their_part_of_a_highlight_that_goes_over_lines() -> None:
    found = str(views.paragraphs("one two\n\n  \nthree", [Highlight(4, 14, 1, "model")]))
    assert found == ('<p>one <mark class="model for">two</mark></p>\n<p><mark class="model for">th</mark>ree</p>')


spans = st.builds(
    Highlight,
    st.integers(-3, 40),
    st.integers(-3, 40),
    st.floats(-1, 1),
    st.sampled_from(["reader", "model", "sentence"]),
)


@given(st.text(alphabet="ab<>&\"' 稀疏", max_size=30), st.lists(spans, max_size=6))
def test_marking_changes_no_character_and_lets_no_markup_in(text: str, highlights: list[Highlight]) -> None:
    found = shown(text, *highlights)
    ours = re.sub(r"</?(?:mark|span)(?: class=\"[a-z -]+\")?>", "", found)
    assert ours == str(escape(text))
    assert found.count("<mark") == found.count("</mark>")
    assert found.count("<span") == found.count("</span>")


# -------------------------------------------------------------------------------------------------------------- curve


def points(count: int) -> list[CurvePoint]:
    return [CurvePoint(n, n // 10, None if n < 20 else min(0.97, n / (n + 9))) for n in range(1, count + 1)]


def test_the_curve_says_in_words_what_it_shows_and_is_xml() -> None:
    picture = str(curve(points(300), target=0.95, records=1238))
    root = ElementTree.fromstring(picture)
    said = "After 300 of 1,238 records, 30 relevant ones were found; lower bound on recall: 97\u202f%."
    assert root.get("aria-label") == said
    assert root.findtext("title") == said
    assert "style=" not in picture, "the site's policy lets no style in a line be"
    kinds = [line.get("class") for line in root.iter("polyline")]
    assert kinds.count("bound") == 1
    assert kinds.count("found") == 1


def test_what_was_found_has_a_panel_of_its_own_and_never_crosses_the_target() -> None:
    """Counts over the axis of recall would seem to reach the target whenever something is found."""
    root = ElementTree.fromstring(str(curve(points(300), target=0.95, records=1238)))

    def heights(kind: str) -> list[float]:
        lines = [line.get("points") or "" for line in root.iter("polyline") if line.get("class") == kind]
        return [float(point.split(",")[1]) for line in lines for point in line.split()]

    assert max(heights("bound") + heights("target")) < min(heights("found"))


def test_without_an_estimate_there_is_no_line_of_the_bound() -> None:
    few = [CurvePoint(n, 0, None) for n in range(1, 5)]
    picture = str(curve(few, target=0.95, records=10))
    assert "no estimate" in picture
    assert 'class="bound"' not in picture


def test_a_bound_that_is_lost_for_a_while_leaves_a_gap() -> None:
    some = [CurvePoint(n, n, None if n in (4, 5) else 0.5) for n in range(1, 10)]
    assert str(curve(some, target=0.95, records=10)).count('class="bound"') == 2


def test_nothing_read_is_no_picture() -> None:
    assert curve([], target=0.95, records=10) == ""
    assert curve([CurvePoint(0, 0, None)], target=0.95, records=10) == ""


@pytest.mark.parametrize("count", [1, MOST_POINTS, MOST_POINTS + 1, 40_000])
def test_a_long_curve_is_thinned_and_keeps_its_ends(count: int) -> None:
    every = points(count)
    found = thinned(every)
    assert len(found) <= MOST_POINTS + 1
    assert (found[0], found[-1]) == (every[0], every[-1])


@pytest.mark.parametrize(
    ("highest", "expected"), [(0, [0]), (1, [0, 1]), (7, [0, 2, 4, 6]), (25, [0, 5, 10, 15, 20, 25])]
)
def test_ticks(highest: int, expected: list[int]) -> None:
    assert ticks(highest) == expected


@given(st.integers(1, 10**6), st.integers(2, 8))
def test_ticks_are_few_whole_and_within(highest: int, most: int) -> None:
    found = ticks(highest, most)
    assert found[0] == 0
    assert found[-1] <= highest
    assert 1 < len(found) <= most + 1


# --------------------------------------------------------------------------------------------------------- plan, rules


def test_criteria_are_lines_with_or_without_a_code() -> None:
    found = criteria("POP: adults\n\nmeasured twice\r\n", "I1: no\nno data: none\nE1: dense\nonly a survey")
    assert found == (
        Criterion("POP", "adults", False),
        Criterion("I1", "measured twice", False),
        Criterion("I1", "no", True),  # the library refuses it and says which
        Criterion("E1", "no data: none", True),
        Criterion("E1", "dense", True),
        Criterion("E2", "only a survey", True),
    )


def test_criteria_go_to_lines_and_back() -> None:
    some = (Criterion("POP", "adults: 18 and older", False), Criterion("E1", "编码", True))
    assert criteria(views.coded(some[:1]), views.coded(some[1:])) == some


def test_names_are_parted_by_commas_of_any_script_and_lines() -> None:
    assert listed("sparse, restarts\n稀疏，恢复、界; -survey, sparse ,,") == (
        "sparse",
        "restarts",
        "稀疏",
        "恢复",
        "界",
        "-survey",
    )


@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        ("rank-advantage", ("rank-advantage", "", "")),
        ("rank-advantage or budget", ("rank-advantage", "or", "budget")),
        ("chao and irrelevant-in-a-row", ("chao", "and", "irrelevant-in-a-row")),
        ("chao and budget and hypergeometric", ("chao and budget and hypergeometric", "", "")),
    ],
)
def test_a_rule_is_taken_apart_for_its_form(rule: str, parts: tuple[str, str, str]) -> None:
    assert views.rule_parts(rule) == parts


def test_the_declared_rule_in_words() -> None:
    assert views.rule_words(StoppingPlan(advantage=3)) == (
        "Target: recall 95\u202f% at 95\u202f% confidence, by rank advantage (b\u00a0=\u00a03)"
    )
    plan = StoppingPlan("irrelevant-in-a-row or budget", target=0.975, in_a_row=50, budget=2000)
    assert views.rule_words(plan) == (
        "Target: recall 97.5\u202f% at 95\u202f% confidence, by irrelevant in a row (50) or budget of 2,000 records"
    )
    assert views.rule_words(StoppingPlan("chao")).endswith("by Chao’s estimate")


@pytest.mark.parametrize(
    ("read", "records", "words"),
    [
        *((0, 0, "0\u202f%"), (0, 9, "0\u202f%"), (1, 2518, "under 1\u202f%")),
        *((25, 2500, "1\u202f%"), (2499, 2500, "99\u202f%"), (2500, 2500, "100\u202f%")),
    ],
)
def test_the_share_that_is_read_says_neither_nothing_nor_all_too_early(read: int, records: int, words: str) -> None:
    assert views.read_share(read, records) == words


@pytest.mark.parametrize(
    ("numbers", "stopped", "words"),
    [
        *(((0, 0), False, "Empty pool"), ((9, 0), False, "Not begun"), ((9, 3), False, "Screening")),
        *(((9, 9), False, "All read"), ((9, 3), True, "Stopped"), ((9, 9), True, "Stopped")),
    ],
)
def test_how_far_a_review_is_in_a_word(numbers: tuple[int, int], stopped: bool, words: str) -> None:
    records, read = numbers
    assert state_words(Standing(Review(1, "x", NOW), records, 0, read, 0, 0, NOW, stopped)) == words


# --------------------------------------------------------------------------------------------------- offers and events


def offer(chosen: Chosen, place: int = 0, unread: int = 0) -> Offer:
    return Offer(PoolRecord(1, "a title"), chosen, "m@1", place, unread)


def test_why_a_record_is_offered() -> None:
    assert views.why_offered(offer(Chosen.RANKED, 0, 1200)) == "First of 1,200 unread by what was decided so far."
    assert views.why_offered(offer(Chosen.RANKED, 11, 1200)).startswith("Number 12 of 1,200")
    assert "no evidence" in views.why_offered(offer(Chosen.MANUAL))
    assert len({views.why_offered(offer(chosen)) for chosen in Chosen}) == len(Chosen)
    assert "by your wish" in views.why_offered(offer(Chosen.RANDOM), mode="random")
    assert "no ranking of them yet" in views.why_offered(offer(Chosen.RANDOM), mode="auto")


def test_an_offer_as_an_address_says_it() -> None:
    found = as_chosen(offer(Chosen.MANUAL), "ranked", "3", "500", "nb/tfidf@57")
    assert (found.chosen, found.place, found.unread, found.model) == (Chosen.RANKED, 3, 500, "nb/tfidf@57")
    assert as_chosen(offer(Chosen.MANUAL), "audit", "", "", "").chosen is Chosen.AUDIT


@pytest.mark.parametrize(
    ("by", "place", "unread"), [("prior", "0", "0"), ("best", "0", "0"), ("ranked", "-1", "5"), ("ranked", "5", "5")]
)
def test_an_offer_that_cannot_be_is_refused(by: str, place: str, unread: str) -> None:
    with pytest.raises(ParameterError):
        as_chosen(offer(Chosen.MANUAL), by, place, unread, "")


def event(kind: ReviewEventKind, **values: object) -> ReviewEvent:
    return ReviewEvent(1, 1, kind, "me", NOW, **values)  # type: ignore[arg-type]


def test_events_in_words() -> None:
    decided = event(ReviewEventKind.DECIDE, label=Label.INCLUDE, chosen=Chosen.AUDIT)
    assert views.event_words(decided) == "Included (audit)"
    assert views.event_words(event(ReviewEventKind.RESOLVE, label=Label.EXCLUDE)) == "Conflict resolved: excluded"
    assert views.event_words(event(ReviewEventKind.ADD, detail='{"source": "a.ris"}')) == "Records added: a.ris"
    for kind in ReviewEventKind:
        assert views.event_words(event(kind))


def test_details_in_words() -> None:
    added = event(ReviewEventKind.ADD, detail='{"source": "a.ris", "entries": 3, "not_screened": 1, "problems": ["x"]}')
    assert views.detail_words(added) == "entries 3, not screened 1"
    assert (
        views.detail_words(event(ReviewEventKind.STOP, detail='{"report": {"sentence": "Recall is."}}')) == "Recall is."
    )
    assert views.detail_words(event(ReviewEventKind.CREATE, detail='{"question": "x"}')) == ""
    for broken in ("", "no json", "[1]"):
        assert views.detail_words(event(ReviewEventKind.STOP, detail=broken)) == ""


def test_bounds_are_rounded_down() -> None:
    assert [views.bound(share) for share in (0.29, 0.9499, 0.95, 0.99999, 1.0)] == [
        *("29\u202f%", "94.9\u202f%", "95\u202f%", "99.9\u202f%", "100\u202f%"),
    ]


@pytest.mark.parametrize(
    ("rule", "kind", "recall", "words"),
    [
        *[("rank-advantage", kind, None, "Rule under a stated assumption") for kind in GuaranteeClass],
        ("distribution-free", GuaranteeClass.NONE, None, "Rule without assumptions"),
        ("chao or budget", GuaranteeClass.NONE, None, "Rule without a guarantee"),
        ("distribution-free or budget", GuaranteeClass.NONE, None, "Rule without a guarantee"),
        ("rank-advantage", GuaranteeClass.DISTRIBUTION_FREE, 0.9, "Guaranteed without assumptions"),
        ("chao", GuaranteeClass.NONE, 0.9, "No guarantee"),
    ],
)
def test_nothing_is_called_guaranteed_before_anything_is_said(
    rule: str, kind: GuaranteeClass, recall: float | None, words: str
) -> None:
    assert views.badge(StopReport(rule, kind, False, "A sentence.", 0.9, 0.95, recall=recall)) == words


def test_kappa_is_written_with_a_minus() -> None:
    assert [views.kappa(value) for value in (None, 0.5, -0.0625)] == ["–", "0.50", "\u22120.06"]


def test_every_stopping_rule_has_its_words() -> None:
    assert tuple(views.RULES) == STOPPING_RULES
    by_class = [key for _, rules in views.RULE_CLASSES for key, *_ in rules]
    assert sorted(by_class) == sorted(STOPPING_RULES)


def test_every_model_and_order_has_its_words() -> None:
    assert set(views.COMPOSITIONS) == set(COMPOSITIONS)
    assert set(views.QUERIERS) == set(QUERIERS)


def test_no_line_ends_before_a_percent_sign() -> None:
    assert views.kept_together("Recall ≥ 93 % with 95 % confidence, 5 per cent") == (
        "Recall ≥ 93\u202f% with 95\u202f% confidence, 5 per cent"
    )
