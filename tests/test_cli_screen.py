"""Systematic reviews on the command line, on libraries of their own."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from broadsheet.cli.screen_common import LABELS, RULES, STAGES, reasons_of
from broadsheet.cli.screen_render import progress_lines
from broadsheet.model.screening import STOPPING_RULES, GuaranteeClass, Label, Review, ReviewProgress, Stage, StopReport
from tests.cli_fake import Call, caller
from tests.embeddings import EmbeddingsServer
from tests.libraries import library_in, papers_file
from tests.screening_pools import is_relevant, pool_file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    return tmp_path / "home"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


@pytest.fixture
def boats(call: Call, tmp_path: Path) -> Call:
    """A review of twenty records, with two criteria."""
    arguments = ("--question", "Are boats slow?", "--exclude", "DRY: not on water", "--exclude", "OLD：too old")
    assert call("screen", "new", "boats", *arguments, "--include", "ROW: rowed", "--seed", "7").code == 0
    assert call("screen", "add", "boats", str(pool_file(tmp_path / "hits.csv"))).code == 0
    return call


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Lines that come from a pipe."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def pressed(monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    """Keys that are pressed at a terminal."""
    import click

    waiting = iter(keys)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(click, "getchar", lambda: next(waiting))


# --- reviews and plans


def test_help_names_all_that_the_model_has() -> None:
    assert (tuple(Label), tuple(Stage), STOPPING_RULES) == (LABELS, STAGES, RULES)


def test_without_a_review_the_way_to_begin_is_named(call: Call) -> None:
    assert call("screen", "new", "boats").code == 0
    assert call("screen", "remove", "boats", "--yes").out == "Removed boats.\n"
    assert "broadsheet screen new NAME" in call("screen").out


def test_reviews_are_listed(boats: Call) -> None:
    head, row = boats("screen").out.splitlines()
    assert head.split() == ["review", "records", "read", "included", "phase", "question"]
    assert row.split()[:4] == ["boats", "20", "0", "0"]
    assert row.endswith("Are boats slow?")
    [listed] = boats("screen", "list", "--json").json
    assert (listed["name"], listed["records"], listed["read"], listed["plan"]["seed"]) == ("boats", 20, 0, 7)


def test_a_plan_is_shown_and_changed(boats: Call) -> None:
    lines = boats("screen", "plan", "boats").out
    assert "  1  exclude DRY: not on water" in lines
    assert "  2  exclude OLD: too old" in lines
    assert "include ROW: rowed" in lines
    changed = boats("screen", "plan", "boats", "--target", "0.9", "--terms", "boat, -bread，rye", "--json").json
    assert changed["plan"]["stopping"]["target"] == 0.9
    assert changed["plan"]["terms"] == ["boat", "-bread", "rye"]
    assert changed["plan"]["question"] == "Are boats slow?"
    assert len(boats("screen", "history", "boats", "--json").json) == 3


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--target", "1"), "target"),
        (("--confidence", "0"), "confidence"),
        (("--rule", "gut feeling"), "gut feeling"),
        (("--blinded",), "screeners"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_one_line(call: Call, arguments: tuple[str, ...], word: str) -> None:
    done = call("screen", "new", "boats", *arguments)
    assert done.code == 1
    assert word in done.err
    assert len(done.err.splitlines()) == 1
    assert call("screen", "list", "--json").json == []


def test_a_criterion_needs_a_code_and_a_text(call: Call) -> None:
    done = call("screen", "new", "boats", "--exclude", "no code")
    assert done.code == 2
    assert "CODE: TEXT" in done.err


def test_a_review_is_not_removed_unasked(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "")
    assert boats("screen", "remove", "boats").code == 2
    assert len(boats("screen", "list", "--json").json) == 1


def test_a_review_that_there_is_not(call: Call, home: Path) -> None:
    call("screen", "new", "boats")
    for command in (("progress",), ("next",), ("stop",), ("records",), ("history",), ("export",), ("start",)):
        done = call("screen", *command, "bread")
        assert (done.code, done.err) == (
            1,
            "broadsheet: there is no review 'bread' in this library; there are: boats\n",
        ), command


# --- the pool


def test_adding_prints_what_came_and_what_was_refused(boats: Call, tmp_path: Path) -> None:
    path = tmp_path / "more.ris"
    path.write_text("TY  - JOUR\nTI  - Slow boats\nER  - \nTY  - JOUR\nPY  - 2001\nER  - \n")
    done = boats("screen", "add", "boats", str(path), str(tmp_path / "nothing.csv"))
    head, row = done.out.splitlines()
    assert head.split() == ["source", "entries", "added", "repeats", "refused", "labelled"]
    assert row.split() == ["more.ris", "2", "1", "0", "1", "0"]
    assert "nothing.csv" in done.err
    assert "more.ris:" in done.err
    assert done.code == 1


def test_adding_as_json(boats: Call, tmp_path: Path) -> None:
    found = boats("screen", "add", "boats", str(pool_file(tmp_path / "more.csv", 3, start=19)), "--json").json
    assert found["unreadable"] == []
    [summary] = found["sources"]
    assert (summary["added"], summary["repeats"]) == (3, 2)


def test_adding_from_the_library(call: Call, home: Path, tmp_path: Path) -> None:
    with library_in(home) as library:
        library.import_files([papers_file(tmp_path / "papers.jsonl", 20)])
        library.daily.save_search("slow river", "rivers")
    call("screen", "new", "boats")
    done = call("screen", "add", "boats", "--search", "slow river boats", "--limit", "5", "--paper", "7")
    assert done.out.splitlines()[1].split()[-5:] == ["5", "5", "0", "0", "0"]
    assert (
        call("screen", "add", "boats", "--saved-search", "1", "--limit", "3", "--json").json["sources"][0]["added"] == 3
    )
    assert call("screen", "add", "boats").code == 2
    assert call("screen", "add", "boats", "--paper", "999").code == 1


# --- one record at a time


def test_next_and_decide_for_scripts(boats: Call) -> None:
    for _ in range(20):
        offer = boats("screen", "next", "boats", "--json").json
        number = offer["record"]["number"]
        label = "include" if is_relevant(number) else "exclude"
        event = boats("screen", "decide", "boats", str(number), label, "--offer", offer["offer"], "--json").json
        assert (event["record"], event["label"], event["chosen"]) == (number, label, offer["chosen"])
    done = boats("screen", "next", "boats", "--json")
    assert (done.code, done.json) == (1, None)
    assert boats("screen", "progress", "boats", "--json").json["found"] == 4


def test_a_record_as_it_is_read(boats: Call) -> None:
    lines = boats("screen", "next", "boats").out.splitlines()
    assert lines[0].startswith("Record ")
    assert any(line.startswith("Offer: ") for line in lines)


def test_a_decision_with_reason_and_note_is_in_the_history(boats: Call) -> None:
    done = boats("screen", "decide", "boats", "2", "exclude", "--reason", "DRY", "--note", "bread", "--screener", "ada")
    assert done.out == "exclude: record 2\n"
    line = boats("screen", "history", "boats", "--record", "2").out.splitlines()[-1]
    assert "ada  decide  record 2  exclude  (picked by hand) [DRY] - bread" in line
    assert boats("screen", "decide", "boats", "2", "exclude", "--reason", "WET").code == 1


def test_undo(boats: Call) -> None:
    boats("screen", "decide", "boats", "1", "include")
    assert boats("screen", "undo", "boats").out == "Taken back: event 3, record 1.\n"
    assert boats("screen", "undo", "boats").out == "There is nothing to take back.\n"
    assert boats("screen", "undo", "boats", "--json").json is None
    assert boats("screen", "undo", "boats", "--event", "4").code == 0
    assert boats("screen", "records", "boats", "--label", "include", "--json").json[0]["record"]["number"] == 1


def test_records_by_words(boats: Call) -> None:
    lines = boats("screen", "records", "boats", "--query", "boats row").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["1", "6", "11", "16"]
    assert boats("screen", "records", "boats", "--label", "conflict").out == "No record stands so.\n"


# --- in a terminal


def test_a_session_from_a_pipe(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "?\nn a note of mine\ni\ne DRY,OLD\n1\n2\n1\ne\nx\nl\np\nu\nq\ni\n")
    done = boats("screen", "start", "boats")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "4 decisions are kept."
    assert "x is no key here; ? shows the keys" in done.err
    events = [e for e in boats("screen", "history", "boats", "--json").json if e["kind"] in ("decide", "undo")]
    assert [(e["label"], e["reasons"], e["note"]) for e in events] == [
        ("include", [], "a note of mine"),
        ("exclude", ["DRY", "OLD"], ""),
        ("exclude", ["OLD"], ""),
        ("later", [], ""),
        (None, [], ""),
    ]
    assert "of 20 records read" in done.out


def test_keys_of_a_terminal_and_the_record_that_comes_back(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    pressed(monkeypatch, "i1euiq")
    done = boats("screen", "start", "boats")
    assert done.code == 0
    decided = [e for e in boats("screen", "history", "boats", "--json").json if e["kind"] == "decide"]
    assert [(e["label"], e["reasons"]) for e in decided] == [("include", []), ("exclude", ["DRY"]), ("include", [])]
    assert decided[1]["record"] == decided[2]["record"]
    assert decided[1]["chosen"] == decided[2]["chosen"]


def test_the_input_may_end_at_any_time(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "e\n\n   \n")
    assert boats("screen", "start", "boats").out.splitlines()[-1] == "1 decisions are kept."


def test_the_session_says_once_that_the_rule_would_stop(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    boats("screen", "plan", "boats", "--rule", "irrelevant-in-a-row", "--in-a-row", "3")
    typed(monkeypatch, "e\ne\ne\ne\ne\n")
    done = boats("screen", "start", "boats")
    assert done.out.count("Leave with q") == 1
    assert done.out.index("Leave with q") < done.out.index("5 decisions")
    assert "broadsheet screen stop boats" in done.out


def test_a_refused_decision_does_not_end_the_session(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "e WET\ne DRY\n")
    done = boats("screen", "start", "boats")
    assert "WET" in done.err
    assert done.out.splitlines()[-1] == "1 decisions are kept."


def test_a_session_ends_with_the_last_record(boats: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "e\n" * 30)
    lines = boats("screen", "start", "boats").out.splitlines()
    assert lines[-2:] == ["Nothing is left to read.", "20 decisions are kept."]


def test_vectors_are_made_when_asked(
    boats: Call, monkeypatch: pytest.MonkeyPatch, embeddings: EmbeddingsServer
) -> None:
    done = boats("screen", "encode", "boats")
    assert (done.code, "no encoder" in done.err) == (1, True)
    monkeypatch.setenv("BROADSHEET_ENCODER", embeddings.spec("tiny"))
    assert boats("screen", "encode", "boats").out == "20 vectors made.\n"
    asked = sum(count for _, count in embeddings.asked)
    typed(monkeypatch, "e\n")
    assert boats("screen", "start", "boats", "--vectors").code == 0
    assert sum(count for _, count in embeddings.asked) == asked  # they are there already


# --- where it stands


def read_all(call: Call, screener: str, wrong: int = 0) -> None:
    """Decide all records for a screener as they are, but one."""
    for number in range(1, 7):
        label = "include" if is_relevant(number) != (number == wrong) else "exclude"
        assert call("screen", "decide", "two", str(number), label, "--screener", screener).code == 0


@pytest.fixture
def two(call: Call, tmp_path: Path) -> Iterator[Call]:
    """A blinded review of six records, which two decided, one of them differently."""
    call("screen", "new", "two", "--member", "ada", "--member", "bob", "--blinded")
    call("screen", "add", "two", str(pool_file(tmp_path / "few.csv", 6)))
    read_all(call, "ada")
    read_all(call, "bob", wrong=2)
    yield call


def test_conflicts_agreement_and_resolution(two: Call) -> None:
    lines = two("screen", "conflicts", "two").out.splitlines()
    assert lines[0].startswith("2. Fresh bread")
    assert [line.strip() for line in lines[1:]] == ["ada: exclude", "bob: include"]
    row = two("screen", "agreement", "two").out.splitlines()[1].split()
    assert row[:4] == ["ada", "bob", "6", "83.3%"]
    assert two("screen", "agreement", "two", "--json").json[0]["both"] == 6
    assert two("screen", "resolve", "two", "2", "exclude").code == 0
    assert two("screen", "conflicts", "two").out == "There is no conflict.\n"


def test_who_is_no_screener_of_a_blinded_review_coordinates_it(two: Call) -> None:
    shown = two("screen", "records", "two", "--json").json
    assert [found["label"] for found in shown] == ["include", None, "exclude", "exclude", "exclude", "include"]
    assert [found["conflict"] for found in shown].count(True) == 1
    assert two("screen", "progress", "two", "--json").json["conflicts"] == 1
    two("screen", "undo", "two", "--screener", "ada", "--event", "4")  # her decision on the record in conflict
    assert two("screen", "conflicts", "two", "--screener", "ada").out == "There is no conflict.\n"


def test_a_blinded_screener_sees_the_own_labels_alone(two: Call) -> None:
    two("screen", "undo", "two", "--screener", "ada")
    shown = two("screen", "records", "two", "--screener", "ada", "--json").json
    assert [found["own"] for found in shown][-1] is None
    assert shown[-1]["label"] is None
    assert two("screen", "progress", "two", "--screener", "ada", "--json").json["read"] == 5


@pytest.mark.parametrize(
    "arguments",
    [("next", "two"), ("start", "two"), ("decide", "two", "1", "include"), ("undo", "two")],
    ids=lambda arguments: arguments[0],
)
def test_who_screens_blinded_must_be_said(two: Call, arguments: tuple[str, ...]) -> None:
    done = two("screen", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err == "broadsheet: say who you are: --screener ada (screeners of two: ada, bob)\n"
    assert two("screen", *arguments, "--screener", "eve").err.count("say who you are") == 0


def test_progress_says_what_can_be_said(boats: Call) -> None:
    assert "no estimate" in boats("screen", "progress", "boats").out.lower()
    boats("screen", "decide", "boats", "1", "include")
    lines = boats("screen", "progress", "boats").out
    assert "1 of 20 records read (5.0%), 1 included." in lines
    assert "For the methods section:" in lines
    found = boats("screen", "progress", "boats", "--json").json
    assert found["report"]["guarantee"] in ("distribution-free", "under a stated assumption", "no guarantee")
    assert found["others"]


def test_stopping_early_is_kept_and_said(boats: Call) -> None:
    boats("screen", "decide", "boats", "1", "include")
    done = boats("screen", "stop", "boats")
    assert done.out.startswith("Stopped after 1 of 20 records.")
    assert "would go on reading" in done.out
    assert boats("screen", "list", "--json").json[0]["phase"] == "done"
    assert boats("screen", "reopen", "boats").out == "Screening of boats goes on.\n"
    assert boats("screen", "list", "--json").json[0]["phase"] != "done"


def test_the_flow_diagram(boats: Call, tmp_path: Path) -> None:
    rows = [line.rsplit(maxsplit=1) for line in boats("screen", "prisma", "boats").out.splitlines()]
    assert rows[0] == ["identified: hits.csv", "20"]
    assert rows[-1] == ["included", "0"]
    assert boats("screen", "prisma", "boats", "--json").json["identified"] == [["hits.csv", 20]]
    path = tmp_path / "flow.svg"
    done = boats("screen", "prisma", "boats", "-o", str(path))
    assert done.code == 0
    assert "<svg" in path.read_text("utf-8")
    assert boats("screen", "prisma", "boats", "-o", str(tmp_path / "flow.docx")).code == 2


def test_the_flow_diagram_as_a_picture(boats: Call, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    path = tmp_path / "flow.PNG"
    assert boats("screen", "prisma", "boats", "-o", str(path)).code == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n")


def test_what_the_audit_says_of_the_ranking() -> None:
    report = StopReport(
        "rank-advantage", GuaranteeClass.ASSUMPTION, False, "Recall ≥ 90 %.", 0.95, 0.95, advantage=6.12,
        advantage_interval=(1.31, 14.68),
    )  # fmt: skip
    review = Review(1, "boats", datetime(2026, 12, 1, tzinfo=UTC))
    progress = ReviewProgress(review, Stage.ABSTRACT, 20, 0, 5, 2, 0, 0, "audit", report)
    text = "\n".join(progress_lines(progress))
    assert "By the audit's finds, the ranking is 6.1 times better than random (95 %: 1.3 to 14.7)." in text
    without = replace(progress, report=replace(report, advantage=None, advantage_interval=None))
    assert "times better" not in "\n".join(progress_lines(without))


# --- in and out


def test_a_review_is_exported_imported_and_replayed(boats: Call, tmp_path: Path) -> None:
    boats("screen", "decide", "boats", "1", "include")
    boats("screen", "stop", "boats")
    path = tmp_path / "boats.jsonl"
    assert boats("screen", "export", "boats", "-o", str(path)).code == 0
    done = boats("screen", "replay", str(path))
    assert (done.code, done.out) == (0, "4 events and 1 statements replayed: all as they were.\n")
    assert boats("screen", "import", str(path)).code == 1
    assert boats("screen", "import", str(path), "--name", "again").out == "Took up the review again.\n"
    assert boats("screen", "history", "again", "--json").json[-1]["kind"] == "stop"
    assert boats("screen", "replay", str(tmp_path / "nothing.jsonl")).code == 1


def test_only_what_is_included_is_written(boats: Call, tmp_path: Path) -> None:
    assert boats("screen", "decide", "boats", "1", "include").code == 0
    assert boats("screen", "decide", "boats", "2", "exclude").code == 0
    path = tmp_path / "included.ris"
    assert boats("screen", "export", "boats", "-o", str(path), "--label", "include").code == 0
    assert path.read_text("utf-8").count("TY  - ") == 1


def test_the_form_of_an_export_follows_its_name(boats: Call, tmp_path: Path) -> None:
    boats("screen", "decide", "boats", "1", "include")
    path = tmp_path / "boats.ris"
    assert boats("screen", "export", "boats", "-o", str(path)).code == 0
    assert "ASReview_relevant" in path.read_text("utf-8")
    assert boats("screen", "export", "boats", "-o", str(tmp_path / "boats.docx")).code == 2


@pytest.mark.parametrize("text", ["POP,DESIGN", "POP DESIGN", " POP; DESIGN ", "POP、DESIGN，POP"])
def test_reason_codes_in_a_text(text: str) -> None:
    assert reasons_of(text) == ("POP", "DESIGN")


def test_json_holds_no_value_that_json_cannot(boats: Call) -> None:
    for command in (("list",), ("plan", "boats"), ("records", "boats"), ("history", "boats"), ("progress", "boats")):
        assert json.dumps(boats("screen", *command, "--json").json)
