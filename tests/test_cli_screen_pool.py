"""What is known of records, possible repeats and trial runs on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_fake import Call, caller
from tests.screening_pools import pool_file, title


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


def test_what_is_known_before(boats: Call) -> None:
    done = boats("screen", "prior", "boats", "include", "1", "99", "6")
    assert done.out.splitlines() == [f"Known before screening, include: {number}. {title(number)}" for number in (1, 6)]
    assert "'99' is no record of boats: give its number, DOI, PubMed number or words of its title" in done.err
    assert done.code == 1
    listed = boats("screen", "records", "boats", "--label", "prior", "--json").json
    assert [found["record"]["number"] for found in listed] == [1, 6]


def test_what_is_known_by_title_or_identifier(boats: Call) -> None:
    done = boats(
        "screen", "prior", "boats", "--include", title(6), "--exclude", "10.1000/zz", "--exclude", "slow boats"
    )
    assert done.out == f"Known before screening, include: 6. {title(6)}\n"
    assert "'10.1000/zz' is no record of boats" in done.err
    assert "'slow boats' may be any of these; give a number:" in done.err
    assert f"    11. {title(11)} (Chen et al., 2011)" in done.err
    assert done.code == 1
    listed = boats("screen", "records", "boats", "--label", "prior", "--json").json
    assert [found["record"]["number"] for found in listed] == [6]
    assert "Name at least one RECORD" in boats("screen", "prior", "boats", "include").err


def test_possible_repeats_are_listed_confirmed_and_denied(boats: Call, tmp_path: Path) -> None:
    assert boats("screen", "repeats", "boats").out == "No records look like repeats that were not found.\n"
    path = tmp_path / "alike.csv"
    rows = [f"{title(number)},2020,Lee" for number in (1, 2)]
    path.write_text("\n".join(["title,year,authors", *rows]) + "\n", "utf-8")
    boats("screen", "add", "boats", str(path))
    lines = boats("screen", "repeats", "boats").out.splitlines()
    assert lines[:3] == [
        f"      1. {title(1)} (Chen et al., 2001)",
        f"     21. {title(1)} (Lee, 2020)",
        "         The same title; the years are 2001 and 2020, the first authors differ.",
    ]
    assert boats("screen", "different", "boats", "1", "21").out == "Record 1 is not record 21.\n"
    assert boats("screen", "twin", "boats", "22", "2").code == 0
    assert boats("screen", "repeats", "boats", "--json").json == []
    assert boats("screen", "different", "boats", "2", "22", "99").code == 1


def test_what_a_file_would_add(boats: Call, tmp_path: Path) -> None:
    more = pool_file(tmp_path / "more.csv", 3, start=20)
    done = boats("screen", "add", "boats", str(more), "--dry-run")
    assert done.out.splitlines()[1:] == ["more.csv        3      3        1        0         0", "Nothing was added."]
    assert len(boats("screen", "records", "boats", "--json").json) == 20
    assert boats("screen", "add", "boats", "--search", "x", "--dry-run").code == 2


def test_deciding_after_a_stop_is_said(boats: Call) -> None:
    boats("screen", "decide", "boats", "1", "include")
    boats("screen", "stop", "boats")
    assert "superseded" in boats("screen", "decide", "boats", "2", "exclude").err
    shown = " ".join(boats("screen", "progress", "boats").out.split())
    assert "is superseded: since then 1 decision was made or changed. Stop again" in shown


def test_twins(boats: Call) -> None:
    boats("screen", "decide", "boats", "1", "include")
    assert boats("screen", "twin", "boats", "6", "1").out == "Record 6 repeats record 1.\n"
    listed = boats("screen", "records", "boats", "--limit", "6").out.splitlines()
    assert listed[6].split()[:3] == ["6", "include", "(repeat)"]
    assert listed[-1] == "For more: --after 6"
    assert boats("screen", "apart", "boats", "6").out == "Record 6 stands alone.\n"
    assert len(boats("screen", "records", "boats", "--label", "include", "--json").json) == 1


def test_sources_are_listed_and_named(boats: Call, tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("title\nRowing in the fog\n", "utf-8")
    assert boats("screen", "add", "boats", str(path), "--source", "ICTRP", "--kind", "register").code == 0
    assert boats("screen", "source", "boats", "hits.csv", "Scopus").out == "hits.csv: Scopus\n"
    listed = boats("screen", "sources", "boats").out.split()
    assert listed[8:] == [
        "1",
        "hits.csv",
        "Scopus",
        "database",
        "20",
        "0",
        "2",
        "trials.csv",
        "ICTRP",
        "register",
        "1",
        "0",
    ]
    assert [one["name"] for one in boats("screen", "sources", "boats", "--json").json] == ["Scopus", "ICTRP"]
    lines = [" ".join(line.split()) for line in boats("screen", "prisma", "boats").out.splitlines()]
    assert lines[:2] == ["identified: Scopus (database) 20", "identified: ICTRP (register) 1"]
    assert "not screened 21 (not screened yet)" in lines
    assert "no. 1: Scopus" in boats("screen", "history", "boats").out
    assert "Give a NAME, or --kind" in boats("screen", "source", "boats", "1").err
    done = boats("screen", "add", "boats", "--search", "rowing", "--source", "x")
    assert "are for FILEs" in done.err
