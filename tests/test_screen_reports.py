"""What is said of a review: reports and sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broadsheet.model.screening import (
    STOPPING_RULES,
    CurvePoint,
    GuaranteeClass,
    Label,
    Plan,
    Sharing,
    Stage,
    StoppingPlan,
)
from broadsheet.screen.follower import Follower
from broadsheet.screen.reports import (
    Counts,
    compared,
    methods,
    not_compared,
    of_pool,
    report_of,
    statement,
    statement_fields,
)
from broadsheet.screen.state import State
from broadsheet.screen.trail import stopper_of, trail
from broadsheet.store import plan_to_json
from tests.screen_makers import BLINDED, event, records, review, state, told

IN, OUT = Label.INCLUDE, Label.EXCLUDE


RULES = (
    "rank-advantage",
    "distribution-free",
    "irrelevant-in-a-row",
    "chao",
    "hypergeometric",
    "rank-advantage or chao",
)


# --- reports


def report(found: State, stage: Stage = Stage.ABSTRACT, screener: str = ""):  # type: ignore[no-untyped-def]
    return report_of(stopper_of(found.review.plan.stopping).verdict(trail(found, stage, screener)))


def said(found: State, **more: str) -> str:
    return methods(found, report(found), Stage.ABSTRACT, **more)


def test_the_methods_sentences() -> None:
    pool = records(30, twins={30: 1}, labels={29: IN})
    found = state("ann in 1", "bo out 2", "ann audit 4", pool=pool)
    found.apply(told(f"ann out {found.audit_order()[0]} by:audit", first=4))
    text = said(found, software="Broadsheet 1.2", model="default.2/tfidf@4")
    for sentence in (
        "We screened the titles and abstracts of 4 of 29 records after 1 duplicate was removed.",
        "1 label was known beforehand.",
        "The order of reading was that of a model (default.2/tfidf) which learned from each decision (Broadsheet 1.2).",
        "1 record was read in random order instead.",
        "with a target recall of 95 % at 95 % confidence, declared before screening began.",
        f"taken to be at least {StoppingPlan().advantage:g} times better than random",
        "Nothing can be ruled out yet: any of the 25 unread records may be relevant.",
        "2 records were included, and 25 records were left unread.",
    ):
        assert sentence in text


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("lines", [[], ["ann out 1"], [f"ann out {n}" for n in range(1, 10)]])
def test_with_nothing_found_no_estimate_is_possible_and_never_is_it_safe(rule: str, lines: list[str]) -> None:
    found = state(*lines, plan=Plan(stopping=StoppingPlan(rule=rule)))
    text = said(found)
    assert "no estimate of recall is possible" in text
    for words in (text, report(found).sentence):
        assert "safe" not in words.lower()
    assert report(found).recall is None


@pytest.mark.parametrize("rule", RULES)
def test_with_nothing_found_in_all_that_was_read_nothing_is_estimated(rule: str) -> None:
    found = state(*(f"ann out {n}" for n in range(1, 11)), plan=Plan(stopping=StoppingPlan(rule=rule)))
    text = said(found)
    assert (
        "All records were read, and nothing relevant was found, so that recall is not defined. 0 records were" in text
    )
    assert "no estimate" not in text
    assert "safe" not in text.lower()


@pytest.mark.parametrize("rule", RULES)
def test_of_an_empty_pool_nothing_is_concluded(rule: str) -> None:
    found = State.of(review(Plan(stopping=StoppingPlan(rule=rule))), [], [])
    made = of_pool(found, Stage.ABSTRACT, report(found))
    assert (made.stop, made.recall, made.missing) == (False, None, None)
    assert made.sentence == "The review has no records yet: add some."
    text = methods(found, made, Stage.ABSTRACT)
    assert "The review has no records yet: add some." in text
    assert "All records were read" not in text
    second = of_pool(state("ann out 1"), Stage.FULL_TEXT, report(found))
    assert second.sentence == "No record has been included by title and abstract: there is no full text to read."
    assert of_pool(state("ann out 1"), Stage.ABSTRACT, report(found)) == report(found)


def test_a_plan_that_was_changed_after_looking_is_said() -> None:
    other = replace(Plan(), stopping=StoppingPlan(target=0.9))
    same = replace(other, question="Another question?")
    found = state("ann in 1", "ann out 2")
    found.apply([event(3, "plan", detail=plan_to_json(other)), event(4, "plan", detail=plan_to_json(same))])
    assert (
        "target recall of 90 % at 95 % confidence; the plan of stopping was changed after 2 records had been read."
        in said(found)
    )
    found.apply([event(5, "plan", detail=plan_to_json(Plan()))])
    assert "changed after 2 records had been read (2 changes in all)." in said(found)


def test_a_plan_that_was_changed_before_anything_was_read_was_declared_before() -> None:
    other = replace(Plan(), stopping=StoppingPlan(target=0.9))
    found = State.of(review(), records(3), [event(1, "plan", detail=plan_to_json(other)), *told("ann in 1", first=2)])
    assert "declared before screening began" in said(found)


@pytest.mark.parametrize("rule", STOPPING_RULES)
def test_every_rule_is_explained(rule: str) -> None:
    found = state("ann in 1", plan=Plan(stopping=StoppingPlan(rule=rule, budget=9)))
    assert f"“{rule}” (" in said(found)


def test_rules_of_thumb_are_called_so() -> None:
    found = state("ann in 1", "ann out 2", plan=Plan(stopping=StoppingPlan(rule="irrelevant-in-a-row", in_a_row=7)))
    assert report(found).guarantee is GuaranteeClass.NONE
    assert "7 irrelevant records in a row, a rule of thumb" in said(found)
    assert "confidence" not in said(found)


def test_the_estimate_of_the_ranking_is_said_with_its_uncertainty() -> None:
    found = state("ann in 1", "ann audit 2", pool=records(300))
    lines = [told(f"ann in {number} by:audit", first=3 + n)[0] for n, number in enumerate(found.audit_order()[:3])]
    found.apply([replace(line, place=20 + n, unread=299 - n) for n, line in enumerate(lines)])
    made = report(found)
    assert made.advantage is not None
    assert made.advantage_interval is not None
    low, high = made.advantage_interval
    assert low < made.advantage < high
    assert f"about {made.advantage:.1f} times better than random (95 %: {low:.1f} to {high:.1f})." in said(found)
    assert "better than random (95 %" not in said(state("ann in 1"))


def test_several_screeners_are_said() -> None:
    assert "2 screeners decided, independently of each other." in said(state("ann in 1", plan=BLINDED))
    shared = replace(BLINDED, sharing=Sharing.SHARED)
    assert "2 screeners decided, sharing the records." in said(state("ann in 1", plan=shared))


def test_the_rules_beside_the_declared_one_have_its_target() -> None:
    others = compared(StoppingPlan(rule="distribution-free", target=0.8))
    assert [plan.rule for plan in others] == ["irrelevant-in-a-row", "chao", "hypergeometric"]
    assert {plan.target for plan in others} == {0.8}


def points_of(found: State) -> tuple[CurvePoint, ...]:
    follower = Follower(stopper_of(found.review.plan.stopping), Stage.ABSTRACT)
    follower.verdict(found)
    return follower.curve()


def test_the_curve_is_the_bound_after_each_step() -> None:
    lines = [f"ann {'in' if n in (1, 2, 5) else 'out'} {n}" for n in range(1, 10)]
    points = points_of(state(*lines))
    assert [(point.read, point.found) for point in points][:5] == [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3)]
    assert [point.recall for point in points] == [report(state(*lines[:n])).recall for n in range(1, 10)]
    assert points_of(state()) == ()
    many = [f"ann {'in' if n == 1 else 'out'} {n}" for n in range(1, 1001)]
    assert 100 <= len(points_of(state(*many, pool=records(1200)))) <= 400


def test_a_rule_goes_on_from_before_a_correction() -> None:
    """A long review with corrections, taken back decisions and an audit: as if it were read from the beginning."""
    stopper = stopper_of(StoppingPlan(target=0.9))
    found = State.of(review(), records(400))
    follower = Follower(stopper, Stage.ABSTRACT)
    behind = []
    for number in range(1, 231):
        lines = [f"ann {'in' if number % 9 == 0 else 'out'} {number}"]
        if number in (100, 160, 161):
            lines = [f"ann out {number - 60}"]  # of a relevant one, here and there
        if number in (120, 200):
            lines = [f"ann undo #{number - 1}"]
        if number == 170:
            lines = ["ann audit 3"]
        found.apply(told(*lines, first=number))
        behind.append(follower.update(found))
        assert follower.verdict(found) == stopper.verdict(trail(found))
    assert follower.curve()[-1].recall == follower.verdict(found).recall
    assert max(behind[:99]) == 1
    assert behind[119] <= 17  # an undo of the last decision
    assert behind[159] <= 130
    assert behind[169] <= 33  # an audit begins


def test_counts_are_of_groups_with_a_final_label() -> None:
    found = state("ann in 1", "ann later 2", "ann out 3 by:random", pool=records(10, twins={10: 9}, labels={4: IN}))
    assert Counts.of(found, Stage.ABSTRACT) == Counts(9, 1, 3, 2, 1, 1)
    assert Counts.of(found, Stage.FULL_TEXT) == Counts(2, 0, 0, 0, 0, 0)


def test_records_that_were_picked_by_hand_are_said() -> None:
    lines = told("ann in 1", "ann out 2 by:manual", "ann out 3 by:manual", "ann out 4 by:manual")
    lines[3] = replace(lines[3], model="default.2/tfidf@1", unread=7)  # offered by another querier than by relevance
    found = State.of(review(), records(10), lines)
    assert "2 records were picked by hand, or read outside of these orders." in said(found)
    assert "by hand" not in said(state("ann in 1"))


def test_the_confidence_of_joined_rules_is_in_print() -> None:
    def of(rule: str) -> str:
        return said(state("ann in 1", "ann out 2", plan=Plan(stopping=StoppingPlan(rule=rule, target=0.5))))

    assert (
        "with a target recall of 50 % at 90 % confidence (95 % for each of the rules, of which one is enough), declared"
    ) in of("rank-advantage or distribution-free")
    assert "target recall of 50 % at 95 % confidence, declared" in of("rank-advantage and distribution-free")
    assert (
        "with a target recall of 50 % at 95 % confidence for what has a guarantee; joined by “or” with a rule of thumb "
        "the whole has no guarantee, declared"
    ) in of("distribution-free or irrelevant-in-a-row")


def test_a_blinded_review_with_conflicts_does_not_stop_by_chao() -> None:
    pairs = [line for n in range(1, 7) for line in (f"ann in {n}", f"bo in {n}")]
    plan = replace(BLINDED, stopping=StoppingPlan(rule="chao"))
    conflict = state("ann prior-in 9", *pairs, "ann in 7", "bo out 7", plan=plan, pool=records(10, labels={10: IN}))
    found = report(conflict)
    assert not found.stop
    assert "1 conflict is open: the rule does not stop before." in found.sentence
    assert "Chao's estimate is 9.0 relevant records; 8 are found." in found.sentence
    none = report(state(*pairs, plan=plan))
    assert not none.stop
    assert "cannot be computed" in none.sentence


def test_what_older_statements_say_otherwise_is_not_compared() -> None:
    either, chao, free = (StoppingPlan(rule=rule) for rule in ("chao or budget", "chao", "distribution-free"))
    assert not_compared({}, either) == {"sentence", "confidence", "target", "stop", "wants", "further"}
    assert not_compared({}, chao) == {"sentence", "stop", "wants", "further"}
    assert not_compared({}, free) == {"sentence"}
    kept = statement_fields(statement(report(state()), Counts.of(state(), Stage.ABSTRACT), "", model="", software=""))
    assert not_compared(kept, chao) == frozenset()
