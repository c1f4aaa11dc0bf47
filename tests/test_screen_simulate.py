"""Trying a plan on known labels: priors, ends of a run, measures without the priors, and rules that are followed."""

from __future__ import annotations

from statistics import fmean

import pytest

from broadsheet.errors import InputError
from broadsheet.learn.screening import Ranking, ScreeningModel
from broadsheet.metrics.screening import recall_curve, wss
from broadsheet.model.screening import Chosen, Label, Plan, StoppingPlan
from broadsheet.screen import Desk, Labelled, Run, simulate
from broadsheet.screen.trainer import text_of
from tests.screen_desks import FREE, decide, is_relevant, pool, some
from tests.screen_makers import event, review

RECORDS = pool(64)
KNOWN = Labelled([text_of(record) for record in RECORDS], [is_relevant(record) for record in RECORDS])
RELEVANT = sum(KNOWN.relevant)


def run(plan: Plan | None = None, seed: int = 0, **options: object) -> Run:
    return simulate(KNOWN, plan or Plan(), [seed], **options).runs[0]  # type: ignore[arg-type]


def test_a_run_begins_with_priors_of_both_kinds_and_ends_with_the_last_relevant_record() -> None:
    found = run()
    assert found.priors == 2
    assert sorted(found.labels[:2]) == [False, True]
    assert found.chosen[:2] == (Chosen.PRIOR, Chosen.PRIOR)
    assert found.labels[-1]
    assert sum(found.labels) == RELEVANT
    assert (found.recall, len(set(found.order)) == len(found.order)) == (1.0, True)
    assert [KNOWN.relevant[index] for index in found.order] == list(found.labels)


def test_the_seed_decides_and_nothing_else() -> None:
    whole = simulate(KNOWN, FREE, range(3), until=-1)
    assert whole.runs[1] == run(FREE, 1, until=-1)
    assert len({one.order for one in whole.runs}) == 3


def test_measures_leave_out_the_priors() -> None:
    """Field case G01 (asreview issue 2147)."""
    found = run(until=-1)
    after = found.labels[2:]
    assert found.wss95 == wss(after, 62, RELEVANT - 1)
    assert found.wss95 != wss(found.labels, 64, RELEVANT)
    assert found.rrf10 is not None
    assert found.atd is not None
    assert found.loss is not None


def test_the_recall_curve_has_as_many_values_as_there_are_records_beside_the_priors() -> None:
    """Field case G05 (asreview-insights pull request 45)."""
    fifty = Labelled(KNOWN.texts[:50], KNOWN.relevant[:50])
    found = simulate(fifty, Plan(), [0]).runs[0]
    curve = recall_curve(found.labels[found.priors :], 50 - found.priors, sum(fifty.relevant) - 1)
    assert len(curve) == 48


@pytest.mark.parametrize(
    ("question", "begin"), [("", "random draws"), ("Do statins lower cholesterol?", "a description")]
)
def test_priors_without_a_relevant_record_are_said(question: str, begin: str) -> None:
    """Field case G02 (asreview issue 500): nothing is added in silence."""
    found = run(Plan(question=question), prior_included=0, prior_excluded=3)
    assert (found.priors, sum(found.labels[:3])) == (3, 0)
    assert found.notes == (f"no relevant record was known beforehand: the run began with {begin}",)
    assert run().notes == ()


def test_no_priors_at_all_begin_with_random_draws() -> None:
    found = run(prior_included=0, prior_excluded=0)
    first = found.labels.index(True)
    assert set(found.chosen[: first + 1]) == {Chosen.RANDOM}
    assert found.chosen[first + 1] is Chosen.RANKED


@pytest.mark.parametrize(
    ("included", "excluded", "words"),
    [
        (99, 1, "99 relevant records cannot be known"),
        (1, 99, "99 irrelevant"),
        (-1, 1, "-1 relevant"),
        (1, -1, "-1 irr"),
    ],
)
def test_more_priors_than_there_are_are_refused(included: int, excluded: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(prior_included=included, prior_excluded=excluded)


@pytest.mark.parametrize(
    ("until", "read", "recall"),
    [("min", None, 1.0), (-1, 64, 1.0), (10**6, 64, 1.0), (0, 2, 1 / RELEVANT), (5, 7, None), ("rule", None, None)],
)
def test_where_a_run_ends(until: str | int, read: int | None, recall: float | None) -> None:
    """Field case G04 (asreview pull request 1091, issue 598): each of min, 0, −1 and 10^6 has a meaning."""
    found = run(until=until)
    assert read is None or len(found.order) == read
    assert recall is None or found.recall == recall
    if until == "min":
        assert found.labels[-1]
    if until == "rule":
        assert found.stops[0].read == len(found.order)


@pytest.mark.parametrize("until", ["max", -2, 1.5, True, None])
def test_ends_that_cannot_be(until: object) -> None:
    with pytest.raises(InputError, match="a run ends at"):
        run(until=until)


def test_measures_that_a_run_was_too_short_for_are_not_made_up() -> None:
    found = run(until=0)
    assert (found.wss95, found.rrf10, found.atd, found.loss) == (None, None, None, None)
    assert found.stops[0].read is None


def test_an_audit_is_read_when_the_declared_rule_wants_it() -> None:
    found = run(FREE, until="rule")
    first = found.chosen.index(Chosen.AUDIT)
    assert 0 < first < len(found.order)
    assert found.stops[0].read == len(found.order)
    assert found.stops[0].recall == found.recall
    assert found.stops[0].saved == 1 - len(found.order) / 64


def test_rules_are_followed_beside_the_declared_one() -> None:
    beside = [StoppingPlan(rule="irrelevant-in-a-row", in_a_row=n) for n in (1, 10)]
    found = run(until=-1, compare=[*beside, StoppingPlan(rule="budget", budget=20)])
    _, one, ten, budget = found.stops
    assert one.read is not None
    assert ten.read is not None
    labels = "".join("x" if label else "." for label in found.labels)
    assert one.read == labels.index(".", 2) + 1
    assert ten.read == labels.index("." * 10, 2) + 10
    assert (budget.rule, ten.reached) == ("budget", ten.recall is not None and ten.recall >= 0.95)


def test_means_are_of_the_runs_that_have_a_measure() -> None:
    found = simulate(KNOWN, Plan(), range(3), until=-1)
    values = [one.wss95 for one in found.runs if one.wss95 is not None]
    assert found.means["wss95"] == pytest.approx(fmean(values))
    saved = [one.stops[0].saved for one in found.runs if one.stops[0].saved is not None]
    assert found.means["rank-advantage: saved"] == pytest.approx(fmean(saved))
    assert "wss95" not in simulate(KNOWN, Plan(), [0], until=0).means


def test_learning_less_often_reads_nearly_the_same() -> None:
    assert run(every=64, until=-1).order[:2] == run(until=-1).order[:2]
    assert run(every=0, until=-1).order == run(until=-1).order  # one in a hundred: each, in a pool of 64
    with pytest.raises(InputError, match="learns again after"):
        run(every=-1)


def test_progress_is_told() -> None:
    told: list[tuple[int, int, int]] = []
    simulate(KNOWN, Plan(), [4], until=3, on_progress=lambda *values: told.append(values))
    assert told == [(4, 3, 64), (4, 4, 64), (4, 5, 64)]


def test_pools_that_cannot_be_simulated() -> None:
    with pytest.raises(InputError, match="no record is labelled as relevant"):
        simulate(Labelled(["a\nb"], [False]), Plan(), [0])
    with pytest.raises(InputError, match="1 records with 2 labels"):
        Labelled(["a\nb"], [False, True])


def test_the_desk_reads_in_the_same_order() -> None:
    found = run(until=30, plan=Plan(stopping=StoppingPlan(rule="irrelevant-in-a-row")))
    priors = [
        event(
            number,
            "decide",
            record=index + 1,
            label=Label.INCLUDE if KNOWN.relevant[index] else Label.EXCLUDE,
            chosen=Chosen.PRIOR,
        )
        for number, index in enumerate(found.order[: found.priors], 1)
    ]
    desk = Desk(review(), RECORDS, priors, background=False)
    order = []
    for _ in range(30):
        offer = some(desk.offer("ann", mode="ranked"))
        order.append(offer.record.number - 1)
        decide(desk, offer, Label.INCLUDE if is_relevant(offer.record) else Label.EXCLUDE)
    ranked = [index for index, chosen in zip(found.order, found.chosen, strict=True) if chosen is Chosen.RANKED]
    assert len(ranked) > 10
    assert order[: len(ranked)] == ranked


def test_after_the_finds_of_an_audit_the_desk_reads_in_the_same_order() -> None:
    """Both learn from what an audit finds as from everything else."""
    # Relevant records that look like the others, which no ranking finds before they are read.
    hidden = Labelled(KNOWN.texts, [known or at in (9, 25, 33, 47, 58) for at, known in enumerate(KNOWN.relevant)])
    plan = Plan(stopping=StoppingPlan(rule="distribution-free", target=0.8))
    [found] = simulate(hidden, plan, [0], until=-1).runs
    desk = Desk(review(), RECORDS, [], background=False)
    finds = compared = 0
    for number, (index, chosen, label) in enumerate(zip(found.order, found.chosen, found.labels, strict=True), 1):
        if finds and chosen is Chosen.RANKED:
            compared += 1
            assert some(desk.offer("ann", mode="ranked")).record.number - 1 == index
        finds += label and chosen is Chosen.AUDIT
        decided = Label.INCLUDE if label else Label.EXCLUDE
        desk.refresh([event(number, "decide", record=index + 1, label=decided, chosen=chosen)])
    assert finds
    assert compared > 5


def test_how_often_the_model_learns_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in a hundred of those read: a pool of 1,643 takes 338 fits, not 1,641."""
    learned: list[int] = []
    rank = ScreeningModel.rank

    def counted(self: ScreeningModel, labels: dict[int, bool]) -> Ranking:
        learned.append(len(labels))
        return rank(self, labels)

    monkeypatch.setattr(ScreeningModel, "rank", counted)
    many = pool(260)
    known = Labelled([text_of(record) for record in many], [is_relevant(record) for record in many])
    simulate(known, Plan(stopping=StoppingPlan(rule="budget", budget=1)), [0], until=-1, every=0)
    assert learned[:3] == [2, 3, 4]
    assert learned[-1] - learned[-2] == 3
    assert len(learned) < 180
