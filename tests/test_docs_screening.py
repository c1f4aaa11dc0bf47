"""The page about screening says what the code does, and its commands work on the sample."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from broadsheet.cli import command
from broadsheet.learn.stoppers import DistributionFree, RankAdvantage, Step, Stopper, stopper_of
from broadsheet.model.screening import DEFAULT_CONFIDENCE, DEFAULT_TARGET, Chosen, GuaranteeClass, StoppingPlan
from broadsheet.screen.offers import OUTSIDERS
from broadsheet.screen.rules import NOT_RETRIEVED
from broadsheet.stats import AuditTest, allowed_missing, audit_floor
from tests.page_commands import run_commands
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "screening.md").read_text("utf-8")
TEXT = " ".join(PAGE.split())
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
SPENT = 0.01  # of the error, on single draws
PARTS = ("all", "reported", "large", "small")


def test_the_walk_through_works_on_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run_commands(PAGE, tmp_path, monkeypatch, capsys)
    assert len(said) >= 14
    assert "declared before screening began" in " ".join(said["broadsheet screen progress convergence"].split())
    assert "all as they were" in said["broadsheet screen replay convergence.jsonl --offers"]
    assert (tmp_path / "flow.svg").read_text("utf-8").startswith("<svg")


def test_every_command_of_reviews_is_in_the_help_that_the_page_names() -> None:
    named = set(re.findall(r"`?(?:broadsheet )?screen (\w+)", PAGE))
    known = set(command.commands["screen"].commands)  # type: ignore[attr-defined]
    assert {"new", "add", "prior", "start", "progress", "stop", "prisma", "export", "replay", "history"} <= named
    assert named <= known


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        (GuaranteeClass.DISTRIBUTION_FREE, {"distribution-free"}),
        (GuaranteeClass.ASSUMPTION, {"rank-advantage"}),
        (GuaranteeClass.NONE, {"irrelevant-in-a-row", "budget", "chao", "hypergeometric", "two-phase"}),
    ],
)
def test_the_class_of_each_rule_is_that_of_the_code(kind: GuaranteeClass, rules: set[str]) -> None:
    row = next(row for row in ROWS if row[0] == kind)
    assert set(re.findall(r"`([a-z-]+)`", row[1])) == rules
    for rule in rules:
        verdict = stopper_of(StoppingPlan(rule=rule, budget=1)).watch(10).verdict()
        assert verdict.guarantee is kind
        assert verdict.recall is None, "with nothing found no estimate is possible"


def test_the_defaults_are_those_of_the_code() -> None:
    plan = StoppingPlan()
    assert (plan.rule, plan.target, plan.confidence) == ("rank-advantage", DEFAULT_TARGET, DEFAULT_CONFIDENCE)
    assert "`rank-advantage` (the default)" in TEXT
    assert "both are .95 at first" in TEXT
    assert f"The default is {plan.advantage:g}." in TEXT
    assert stopper_of(plan) == RankAdvantage() == RankAdvantage(advantage=plan.advantage, floor=plan.floor)
    assert f"“recall ≥ {plan.floor:.0%}".replace("%", " %").replace("“", '"') in TEXT
    assert f"{OUTSIDERS} at most are new" in TEXT
    assert f"`{NOT_RETRIEVED}`" in TEXT


def test_the_table_of_the_audit_is_what_the_code_computes() -> None:
    rows = [row for row in ROWS if len(row) == 6 and row[0].isdecimal()]
    assert len(rows) == 8
    for row in rows:
        found, allowed = int(row[0]), int(row[1])
        assert allowed == allowed_missing(found, DEFAULT_TARGET)
        test = AuditTest(2000, found, DEFAULT_TARGET, 1 - (1 - SPENT) * (1 - DEFAULT_CONFIDENCE))
        least, formula = audit_floor(2000, allowed), 1 - (1 - DEFAULT_CONFIDENCE) ** (1 / (allowed + 1))
        assert row[2:] == [f"{100 * formula:.1f} %", *(f"{n:,}" for n in (least, test.threshold(0), test.threshold(1)))]


def test_the_parts_of_the_error_are_those_of_the_code() -> None:
    from broadsheet.learn import evidence

    assert evidence.DRAWS == SPENT
    assert "99 % goes to the audit's thresholds and 1 % to a bound from single random draws" in TEXT


@pytest.mark.parametrize(("found", "reads"), [(20, 266), (40, 140), (100, 58)])
def test_the_reads_for_the_floor_are_what_the_code_computes(found: int, reads: int) -> None:
    assert AuditTest(2000, found, 0.5, 1 - (1 - SPENT) * (1 - DEFAULT_CONFIDENCE)).threshold(0) == reads
    assert re.search(rf"\b{reads}\b[^.]* with {found}\b", TEXT)


@pytest.mark.parametrize(("target", "found"), [(0.95, 19), (0.9, 9), (0.8, 4)])
def test_from_how_many_found_one_may_be_missing(target: float, found: int) -> None:
    assert (allowed_missing(found - 1, target), allowed_missing(found, target)) == (0, 1)
    if target < DEFAULT_TARGET:
        assert re.search(rf"{target:.0%}".replace("%", " %") + rf"[^.;]* from {found}\b", TEXT)
    else:
        assert f"fewer than {found} relevant records and a target of 95 %, k is 0" in TEXT


def read_until_stop(stopper: Stopper, records: int, relevant: int) -> int:
    """Records read in a pool of which every fifth by rank is relevant until all are found; one is known."""
    watch = stopper.watch(records)
    watch.see(Step(Chosen.PRIOR, True, records))
    unread, found, ranked, place, begun = records - 1, 1, 0, 0, False
    while not watch.stopped:
        if watch.wants == "audit":
            if not begun:
                begun = True
                watch.begin_audit(unread)
            watch.see(Step(Chosen.AUDIT, False, unread, place=place))
            place += 1
        else:
            ranked += 1
            is_relevant = found < relevant and ranked % 5 == 0
            found += is_relevant
            watch.see(Step(Chosen.RANKED, is_relevant, unread, rank=0))
        unread -= 1
    return records - unread


@pytest.mark.parametrize("relevant", [10, 18, 40, 100])
def test_the_example_of_what_is_read_is_what_the_rules_do(relevant: int) -> None:
    row = next(row for row in ROWS if len(row) == 5 and row[0] == str(relevant))
    rules = [DistributionFree(), *(RankAdvantage(advantage=b) for b in (1.0, 2.0, 3.0))]
    assert row[1:] == [f"{read_until_stop(rule, 2000, relevant):,}" for rule in rules]


def measured() -> dict[tuple[str, str], dict[str, Any]]:
    """What the stopping simulations found, by rule and ranking."""
    found = json.loads((ROOT / "bench" / "results" / "stopping.json").read_text("utf-8"))
    return {(rule["rule"], rule["ranking"]): rule for rule in found["rules"]}


def saved_and_missed(part: dict[str, float], *more: str) -> str:
    shown = [f"{part['saved']:.3f}".removeprefix("0"), *(f"{100 * part[name]:.1f} %" for name in ("missed", *more))]
    return ", ".join(shown)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("oracle: stops exactly at the target", "oracle"),
        ("`distribution-free`", "distribution-free"),
        ("`rank-advantage`, b = 2 (default)", "rank advantage 2"),
        ("`rank-advantage`, b = 3", "rank advantage 3"),
        ("two-phase hypergeometric", "hypergeometric, two phases"),
        ("hypergeometric at every start", "hypergeometric, ranked"),
        ("50 irrelevant in a row", "50 irrelevant in a row"),
        ("100 irrelevant in a row", "100 irrelevant in a row"),
        ("200 irrelevant in a row", "200 irrelevant in a row"),
    ],
)
def test_the_rules_are_told_as_they_were_measured(name: str, rule: str) -> None:
    row = next(row for row in ROWS if len(row) == 6 and row[0] == name)
    result = measured()[rule, "ranked"]
    assert row[2:] == [saved_and_missed(result[part]) for part in ("all", "reported", "large", "small")]


@pytest.mark.parametrize("b", ["1", "1.5", "2", "2.5", "3", "4", "5", "10"])
def test_each_b_is_told_as_it_was_measured(b: str) -> None:
    row = next(row for row in ROWS if len(row) == 3 and row[0] == b)
    result = measured()[f"rank advantage {b}", "ranked"]
    assert row[1:] == [saved_and_missed(result[part], "refuted") for part in ("all", "reported")]


def test_what_is_said_of_the_measured_figures_is_so() -> None:
    result = measured()
    assert stopper_of(StoppingPlan()) == RankAdvantage(advantage=2.0), "the default that the table names"
    assert all(result[f"rank advantage {b}", "ranked"][part]["missed"] <= 0.05 for b in (1, 1.5, 2) for part in PARTS)
    assert all(result[f"rank advantage {b}", "ranked"]["reported"]["missed"] > 0.05 for b in (4, 5, 10))
    assert result["hypergeometric, ranked", "ranked"]["all"]["missed"] == 0
    assert all(result["hypergeometric, ranked", kind]["all"]["missed"] > 0.1 for kind in ("shuffled", "reversed"))
    free, usual = result["distribution-free", "ranked"]["all"], result["hypergeometric, two phases", "ranked"]["all"]
    assert abs(free["saved"] - usual["saved"]) < 0.01
    guarded, plain = result["rank advantage 3", "ranked"]["all"], result["rank advantage 3, unguarded", "ranked"]["all"]
    assert guarded["saved"] < plain["saved"]
    assert guarded["missed"] < plain["missed"]
    worst = max(result["rank advantage 2", "ranked"]["by review"].values(), key=lambda one: one["missed"])
    told = f"missed the target in {100 * worst['missed']:.1f} % of the runs, with a recall of"
    assert f"{told} {100 * worst['least recall']:.1f} % at least" in TEXT
