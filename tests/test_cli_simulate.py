"""Trying a way of screening on the command line: what is measured, where runs end, what is saved and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broadsheet.cli.progress import Progress
from tests.cli_fake import Call, caller
from tests.screening_pools import is_relevant, pool_file


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Forty records with labels, of which eight are relevant."""
    return pool_file(tmp_path / "old.csv", 40, labels={n: str(int(is_relevant(n))) for n in range(1, 41)})


def test_a_table_of_runs_and_rules(call: Call, labelled: Path) -> None:
    done = call("simulate", str(labelled), "--seeds", "2", "--compare", "irrelevant-in-a-row", "--in-a-row", "5")
    lines = done.out.splitlines()
    assert lines[0] == "40 records, 8 relevant; 2 runs."
    assert lines[2].split() == ["seed", "read", "WSS@95", "RRF@10", "ATD"]
    assert [line.split()[0] for line in lines[3:6]] == ["0", "1", "mean"]
    assert lines[7].split()[:3] == ["rule", "stopped", "reached"]
    assert [line.split()[0] for line in lines[8:]] == ["rank-advantage", "irrelevant-in-a-row"]


def test_json_and_saved_orders(call: Call, labelled: Path, tmp_path: Path) -> None:
    orders = tmp_path / "orders.jsonl"
    found = call("simulate", str(labelled), "--seeds", "3", "--until", "end", "--orders", str(orders), "--json").json
    assert (found["records"], found["relevant"], len(found["runs"])) == (40, 8, 3)
    assert found["means"]["wss95"] == pytest.approx(sum(run["wss95"] for run in found["runs"]) / 3)
    lines = [json.loads(line) for line in orders.read_text("utf-8").splitlines()]
    assert [line["seed"] for line in lines] == [0, 1, 2]
    for line in lines:
        assert sorted(line["order"]) == list(range(40))
        assert [is_relevant(index + 1) for index in line["order"]] == line["labels"]
        assert line["priors"] == 2
        assert line["chosen"][:2] == ["prior", "prior"]


@pytest.mark.parametrize(
    ("rules", "read"),
    [
        ((), None),
        (("--rule", "distribution-free"), 40),
        (("--compare", "distribution-free"), 40),
        (("--rule", "distribution-free", "--until", "10"), 12),
    ],
)
def test_a_rule_is_tried_to_the_end(
    call: Call, labelled: Path, tmp_path: Path, rules: tuple[str, ...], read: int | None
) -> None:
    """At the last relevant record, where runs end else, no rule could have said stop yet."""
    orders = tmp_path / "orders.jsonl"
    assert call("simulate", str(labelled), "--seeds", "1", *rules, "--orders", str(orders)).code == 0
    run = json.loads(orders.read_text("utf-8"))
    if read is None:
        assert run["labels"][-1] is True and sum(run["labels"]) == 8
    else:
        assert len(run["order"]) == read


@pytest.mark.parametrize(("until", "read"), [("0", 2), ("10", 12), ("end", 40), ("-1", 40), ("999999", 40)])
def test_where_a_run_ends(call: Call, labelled: Path, tmp_path: Path, until: str, read: int) -> None:
    orders = tmp_path / "orders.jsonl"
    assert call("simulate", str(labelled), "--seeds", "1", "--until", until, "--orders", str(orders)).code == 0
    assert len(json.loads(orders.read_text("utf-8"))["order"]) == read


def test_a_run_may_end_with_the_rule(call: Call, labelled: Path) -> None:
    arguments = ("--rule", "irrelevant-in-a-row", "--in-a-row", "4", "--until", "rule", "--seeds", "1", "--json")
    [run] = call("simulate", str(labelled), *arguments).json["runs"]
    assert run["stops"][0]["read"] is not None


def test_priors_without_a_relevant_one_are_said(call: Call, labelled: Path) -> None:
    done = call("simulate", str(labelled), "--seeds", "1", "--prior-included", "0")
    assert done.out.splitlines()[-1].startswith("no relevant record was known beforehand")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--prior-included", "9"), "9 relevant"),
        (("--target", "1.2"), "target"),
        (("--target", "0"), "target"),
        (("--confidence", "1"), "confidence"),
        (("--rule", "gut feeling"), "gut feeling"),
        (("--compare", "gut feeling"), "gut feeling"),
        (("--model", "none such"), "none such"),
        (("--vectors",), "encoder"),
    ],
)
def test_what_cannot_be_tried_is_refused(call: Call, labelled: Path, arguments: tuple[str, ...], word: str) -> None:
    done = call("simulate", str(labelled), "--seeds", "1", *arguments)
    assert done.code == 1
    assert word in done.err


def test_wrong_ends_are_wrong_usage(call: Call, labelled: Path) -> None:
    for until in ("never", "-2", "1.5"):
        assert call("simulate", str(labelled), "--until", until).code == 2


def test_a_file_without_labels_is_refused(call: Call, tmp_path: Path) -> None:
    done = call("simulate", str(pool_file(tmp_path / "hits.csv", 10)))
    assert done.code == 1
    assert "included" in done.err


def test_what_is_neither_file_nor_review(call: Call) -> None:
    done = call("simulate", "nothing")
    assert done.code == 1
    assert "nothing" in done.err


def test_repeats_count_once_unless_asked(call: Call, labelled: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.csv"
    lines = labelled.read_text("utf-8").splitlines(keepends=True)
    twice.write_text("".join([*lines, *lines[1:4]]), "utf-8")
    assert call("simulate", str(twice), "--seeds", "1", "--json").json["records"] == 40
    assert call("simulate", str(twice), "--seeds", "1", "--repeats", "--json").json["records"] == 43


def test_a_screened_review_is_a_pool(call: Call, tmp_path: Path) -> None:
    call("screen", "new", "boats", "--seed", "7", "--rule", "irrelevant-in-a-row")
    call("screen", "add", "boats", str(pool_file(tmp_path / "hits.csv", 15)))
    for number in range(1, 13):
        call("screen", "decide", "boats", str(number), "include" if is_relevant(number) else "exclude")
    found = call("simulate", "boats", "--seeds", "1", "--json").json
    assert (found["records"], found["relevant"]) == (12, 3)
    assert found["runs"][0]["stops"][0]["rule"] == "irrelevant-in-a-row"


def test_each_run_is_told_when_it_is_done(call: Call, labelled: Path) -> None:
    done = call("simulate", str(labelled), "--seeds", "2", "--compare", "irrelevant-in-a-row", "--in-a-row", "5")
    told = [line for line in done.err.splitlines() if line.startswith("seed ")]
    assert [line.partition(":")[0] for line in told] == ["seed 0", "seed 1"]
    for line in told:
        assert "40 read, WSS@95 " in line
        assert "irrelevant-in-a-row stops after " in line


def test_who_has_enough_gets_the_runs_that_are_done(
    call: Call, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Progress, done: int, total: int | None, note: str = "") -> None:
        if done > 2 * 40 + 5:  # within the third run
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "update", interrupted)
    done = call("simulate", str(labelled), "--seeds", "5", "--until", "end")
    assert done.code == 130
    assert "Interrupted: 2 of 5 runs are done." in done.err
    assert done.out.splitlines()[0] == "40 records, 8 relevant; 2 runs."
    assert len(call("simulate", str(labelled), "--seeds", "5", "--until", "end", "--json").json["runs"]) == 2

    def at_once(self: Progress, done: int, total: int | None, note: str = "") -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "update", at_once)
    done = call("simulate", str(labelled), "--seeds", "5")
    assert (done.code, done.out) == (130, "")
