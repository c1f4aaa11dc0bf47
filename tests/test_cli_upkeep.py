"""The command line: upkeep, sources, settings and faults; what it prints, what it asks, and how it leaves."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from broadsheet.cli import INTERRUPTED, run
from broadsheet.errors import BusyError, IndexDamagedError, NotFoundError, SettingsError
from broadsheet.model import SourceState
from broadsheet.settings import load_settings, setting_names
from broadsheet.sources.catalogue import _SOURCES
from tests.cli_fake import Call, Check, FakeLibrary, caller, install


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    return install(monkeypatch)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


# --- encode, merge, split


def test_encode_workers_replace_the_setting_for_one_run(fake: FakeLibrary, call: Call) -> None:
    done = call("encode", "--workers", "5")
    assert done.code == 0
    assert ("encode", {"workers": 5}) in fake.calls
    assert "0 of 1 papers have vectors (e5-small)" in done.out
    call("encode")
    assert ("encode", {"workers": None}) in fake.calls


def test_ctrl_c_says_that_encoding_goes_on(fake: FakeLibrary, call: Call) -> None:
    fake.fault = KeyboardInterrupt()
    done = call("encode")
    assert done.code == INTERRUPTED
    assert "the same command goes on from there" in done.err


def test_merge(fake: FakeLibrary, call: Call) -> None:
    assert call("merge", "1", "2", "--why", "same").code == 0
    assert ("merge", 1, 2, "same") in fake.calls


def test_merge_of_one_paper_with_itself_does_nothing(fake: FakeLibrary, call: Call) -> None:
    done = call("merge", "7", "2401.00001")
    assert done.code == 0
    assert "one paper already" in done.out
    assert not [c for c in fake.calls if c[0] == "merge"]


def test_split(fake: FakeLibrary, call: Call) -> None:
    done = call("split", "3", "--why", "other")
    assert (done.code, done.out) == (0, "Split: record 3 has a paper of its own now: 8\n")
    assert ("split", 3, "other") in fake.calls


# --- status, doctor, config, export


def test_status(fake: FakeLibrary, call: Call) -> None:
    done = call("status")
    assert "1 from 2 records" in done.out
    assert "0 of 1 (e5-small)" in done.out
    assert call("status", "--json").json["details"]["sources"] == {"arxiv": 1_200, "jsonl:x": 7}


def test_status_tells_of_readers_and_editions(fake: FakeLibrary, call: Call) -> None:
    rows = dict(line.split(None, 1) for line in call("status").out.splitlines() if line.startswith(("readers", "edit")))
    assert rows == {"readers": "me, ada", "editions": "4, the newest of 2026-12-01"}
    assert call("status", "--json").json["daily"] == {"readers": 2, "editions": 4, "newest_edition": "2026-12-01"}
    fake.daily.days = ()
    assert "none yet" in call("status").out
    fake.daily.names = ()
    assert "readers" not in call("status").out


def test_status_has_a_line_for_each_source(fake: FakeLibrary, call: Call) -> None:
    lines = call("status").out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("sources"))
    assert [line.split() for line in lines[first : first + 2]] == [["sources", "1,200", "arxiv"], ["7", "jsonl:x"]]
    assert lines[first].index("arxiv") == lines[first + 1].index("jsonl:x")


@pytest.mark.parametrize(("ok", "code", "word"), [(True, 0, "ok"), (False, 1, "FAILED")])
def test_doctor(fake: FakeLibrary, call: Call, ok: bool, code: int, word: str) -> None:
    fake.checks = (Check("home", True, "can be written"), Check("database", ok, "broken; restore a backup"))
    done = call("doctor")
    assert done.code == code
    assert f"{word} " in done.out.splitlines()[1]
    assert "broken; restore a backup" in done.out
    assert call("doctor", "--json").json["ok"] is ok
    assert ("rebuild_index",) not in fake.calls


def test_doctor_rebuilds_only_when_asked(fake: FakeLibrary, call: Call) -> None:
    assert call("doctor", "--rebuild-index").code == 0
    assert ("rebuild_index",) in fake.calls


def test_config_says_where_each_value_came_from(home: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "broadsheet.toml").write_text("port = 9000\npage_size = 50\n")
    monkeypatch.setenv("BROADSHEET_PAGE_SIZE", "60")
    rows = {row["name"]: row for row in call("config", "--json").json["settings"]}
    assert set(rows) == {"home", *setting_names()}
    assert (rows["port"]["value"], rows["port"]["from"]) == (9000, "broadsheet.toml")
    assert (rows["page_size"]["value"], rows["page_size"]["from"]) == (60, "environment")
    assert (rows["host"]["value"], rows["host"]["from"]) == ("127.0.0.1", "default")
    assert (rows["home"]["value"], rows["home"]["from"]) == (str(home), "environment")
    assert "9000" in call("config").out


@pytest.mark.parametrize("arguments", [["config"], ["config", "--json"]])
def test_config_shows_no_secret(call: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setenv("BROADSHEET_ENCODER_KEY", "sesame")
    monkeypatch.setenv("BROADSHEET_DATABASE", "postgresql://reader:s@s:me@db.example/papers")
    shown = call(*arguments).out
    assert "sesame" not in shown
    assert "postgresql://reader:***@db.example/papers" in shown


def test_config_path(home: Path, call: Call, tmp_path: Path) -> None:
    assert call("config", "--path").out.strip() == str(home / "broadsheet.toml")
    assert call("config", "--path", "--home", str(tmp_path)).out.strip() == str(tmp_path / "broadsheet.toml")


def test_export_to_the_output_and_to_a_file(fake: FakeLibrary, call: Call, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    printed = call("export").out
    assert [json.loads(line)["id"] for line in printed.splitlines()] == [0, 1, 2]
    done = call("export", str(target))
    assert done.code == 0
    assert target.read_text("utf-8") == printed
    assert f"{target.stat().st_size} bytes written" in done.err


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        (["x.bib"], "bibtex"),
        (["x.RIS"], "ris"),
        (["x.json"], "csl"),
        (["x.csv"], "csv"),
        (["x.md"], "markdown"),
        (["--format", "jsonl", "x.jsonl"], "jsonl"),
        (["--format", "jsonl", "x.txt"], "jsonl"),
        (["--format", "ris", "x.bib"], "ris"),
    ],
)
def test_export_takes_the_format_of_the_name(
    fake: FakeLibrary, call: Call, tmp_path: Path, arguments: list[str], form: str
) -> None:
    *options, name = arguments
    done = call("export", *options, str(tmp_path / name))
    assert done.code == 0, done.err
    assert ("export papers", form, "") in fake.calls
    assert (tmp_path / name).read_text("utf-8") == f"{form} of all\n"


def test_export_of_what_a_search_finds(fake: FakeLibrary, call: Call) -> None:
    assert call("export", "--format", "bibtex", "--search", "bees venue:icml").out == "bibtex of bees venue:icml\n"
    done = call("export", "--search", "bees")
    assert (done.code, "--format" in done.err) == (2, True)
    assert call("export", "--format", "docx").code == 2


def test_export_to_a_name_that_says_no_format_is_refused(fake: FakeLibrary, call: Call, tmp_path: Path) -> None:
    done = call("export", str(tmp_path / "x.xlsx"))
    assert (done.code, ".xlsx says no format; give --format" in done.err) == (2, True)
    assert list(tmp_path.glob("x*")) == []


def test_json_lines_of_a_search_hold_its_papers(fake: FakeLibrary, call: Call, tmp_path: Path) -> None:
    assert call("export", "--search", "bees", str(tmp_path / "x.jsonl")).code == 0
    assert (tmp_path / "x.jsonl").read_text("utf-8") == "jsonl of bees\n"


# --- update, sources


def test_update_prints_a_table_and_says_what_went_wrong(fake: FakeLibrary, call: Call) -> None:
    done = call("update", "arxiv:cs.LG", "huggingface")
    assert done.code == 0
    assert ("update", ("arxiv:cs.LG", "huggingface")) in fake.calls
    head, first, second = done.out.splitlines()
    assert head.split() == ["source", "new", "updated", "merged", "withdrawn", "refused", "state", "next", "run"]
    assert first.split()[:7] == ["arxiv:cs.LG", "1,200", "3", "2", "1", "0", "ok"]
    assert second.split()[:7] == ["huggingface", "0", "0", "0", "0", "1", "failed"]
    assert "huggingface: answered 503 four times" in done.err
    assert "huggingface: refused: page:4: no title" in done.err


def test_update_fails_only_if_nothing_could_be_fetched(fake: FakeLibrary, call: Call) -> None:
    fake.reports = fake.reports[1:]
    assert call("update").code == 1
    fake.reports = (replace(fake.reports[0], state=SourceState.QUIET),)
    assert call("update").code == 0


def test_update_as_json(fake: FakeLibrary, call: Call) -> None:
    found = json.loads(call("update", "--json").out)
    assert [report["state"] for report in found] == ["ok", "failed"]
    assert found[0]["due"] == "2026-12-01 05:30:00+00:00"


def test_update_can_make_the_vectors_too(fake: FakeLibrary, call: Call) -> None:
    call("update")
    assert not any(made[0] == "encode" for made in fake.calls)
    assert call("update", "--encode").code == 0
    assert any(made[0] == "encode" for made in fake.calls)


def test_sources_are_shown_with_their_lag(fake: FakeLibrary, call: Call) -> None:
    done = call("sources")
    assert done.code == 0
    head, first, second, message = done.out.splitlines()
    assert head.split() == ["source", "state", "day", "newest", "records", "fetched", "next", "run"]
    assert first.split()[:6] == ["arxiv:cs.LG", "quiet", "2026-11-27", "2611.12345", "1,200", "never"]
    assert second.split()[:2] == ["huggingface", "never"]
    assert message == "arxiv:cs.LG: No announcement: weekend."
    assert json.loads(call("sources", "--json").out)[0]["newest"] == "2611.12345"


def test_no_source_is_said_with_the_remedy(fake: FakeLibrary, call: Call) -> None:
    fake.statuses = ()
    assert "broadsheet sources add arxiv:cs.LG" in call("sources").out


def test_sources_are_added_to_and_taken_from_the_settings_file(home: Path, call: Call) -> None:
    home.mkdir()
    file = home / "broadsheet.toml"
    file.write_text("# mine\nport = 9000  # not the default\n", "utf-8")
    assert call("sources", "add", "arxiv:cs.lg", "huggingface", "huggingface").code == 0
    assert load_settings(home, {}).sources == ("arxiv:cs.LG", "huggingface")
    assert "# not the default" in file.read_text("utf-8")
    assert load_settings(home, {}).port == 9000
    assert call("sources", "remove", "arxiv:cs.LG").out == f"1 source in {file}: huggingface\n"
    assert load_settings(home, {}).sources == ("huggingface",)
    done = call("sources", "remove", "arxiv:cs.LG")
    assert (done.code, "is not among the sources: huggingface" in done.err) == (1, True)


@pytest.mark.parametrize("name", ["arxive:cs.LG", "arxiv:", "feed:ftp://x", "openreview:"])
def test_a_source_that_cannot_be_is_refused_before_anything_is_written(home: Path, call: Call, name: str) -> None:
    done = call("sources", "add", "huggingface", name)
    assert done.code == 1
    assert done.err.startswith("broadsheet: ")
    assert not (home / "broadsheet.toml").exists()


def test_kinds_of_sources_are_explained(call: Call) -> None:
    out = call("sources", "kinds").out
    assert [line.split()[0] for line in out.splitlines()] == list(_SOURCES)
    assert "arxiv:cs.LG" in out


# --- --home
@pytest.mark.parametrize("arguments", [("--home", "X", "status"), ("status", "--home", "X")])
def test_home_before_or_after_the_command(
    fake: FakeLibrary, call: Call, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    chosen = str(tmp_path / "论文 library")
    assert call(*(chosen if a == "X" else a for a in arguments)).code == 0
    assert fake.calls[0] == ("open", Path(chosen), True)


def test_home_from_the_environment(fake: FakeLibrary, call: Call, home: Path) -> None:
    call("status")
    assert fake.calls[0] == ("open", home, True)


@pytest.mark.parametrize(
    ("arguments", "read_only"),
    [(["search", "x"], True), (["status"], True), (["export"], True), (["import", "a"], False), (["encode"], False)],
)
def test_reading_commands_do_not_write(fake: FakeLibrary, call: Call, arguments: list[str], read_only: bool) -> None:
    call(*arguments)
    assert fake.calls[0][2] is read_only


# --- faults


@pytest.mark.parametrize(
    "fault",
    [
        NotFoundError("no paper 5; search for it"),
        BusyError("another process is writing; try again"),
        IndexDamagedError("the index cannot be read; run `broadsheet doctor --rebuild-index`"),
        SettingsError("port must be a whole number"),
        OSError(errno.ENOSPC, "No space left on device", "library.db"),
        PermissionError(errno.EACCES, "Permission denied", "library.db"),
    ],
    ids=lambda fault: type(fault).__name__,
)
@pytest.mark.parametrize("arguments", [["search", "x"], ["show", "5"], ["status"], ["import", "a"], ["encode"]])
def test_a_foreseeable_fault_is_one_line(
    fake: FakeLibrary, call: Call, arguments: list[str], fault: BaseException
) -> None:
    fake.fault = fault
    done = call(*arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("broadsheet: ")
    assert done.err.count("\n") == 1
    assert ("closed",) in fake.calls


def test_a_bug_is_not_hidden(fake: FakeLibrary) -> None:
    fake.fault = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        run(["status"])


def test_a_broken_settings_file_is_named(home: Path, call: Call) -> None:
    home.mkdir()
    (home / "broadsheet.toml").write_text("port = 'x'")
    done = call("status")
    assert done.code == 1
    assert "broadsheet.toml" in done.err
    assert "port" in done.err


def test_error_text_cannot_act_on_the_terminal(fake: FakeLibrary, call: Call) -> None:
    fake.fault = NotFoundError("no \x1b]0;owned\x07 paper")
    assert call("status").err == "broadsheet: no ]0;owned paper\n"
