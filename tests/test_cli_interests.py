"""What a reader cares about, on the command line: start, follow, mute, searches."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from broadsheet.cli.common import interest
from broadsheet.model.reading import Interest, InterestKind
from tests.cli_fake import Call, caller
from tests.cli_fake_daily import FakeDaily, install_daily


@pytest.fixture
def daily(monkeypatch: pytest.MonkeyPatch) -> FakeDaily:
    return install_daily(monkeypatch)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


def asked(daily: FakeDaily) -> list[str]:
    """What was asked of the daily paper, in order."""
    return [made[0] for made in daily.library.calls if made[0] not in ("open", "closed")]


# --- follow, mute


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("keyword:active learning", "keyword:active learning"),
        ("Author: Emmy Noether", "author:Emmy Noether"),
        ("keyword:主动学习", "keyword:主动学习"),
        ("author：张三", "author:张三"),
        ("area:cs.LG", "area:cs.LG"),
        ("VENUE:icml", "venue:icml"),
        ("keyword:std::vector", "keyword:std::vector"),
        ("keyword:比：x", "keyword:比：x"),
    ],
)
def test_an_interest_is_a_kind_and_a_value(daily: FakeDaily, call: Call, given: str, kept: str) -> None:
    for command in ("follow", "mute"):
        done = call(command, given)
        assert done.code == 0, done.err
        assert asked(daily)[-1] == f"{command} {kept}"
        assert done.out.splitlines()[-1] == kept


@given(kind=st.sampled_from(InterestKind), value=st.text(min_size=1), blank=st.sampled_from(["", " ", "\t"]))
def test_what_is_written_is_read_again(kind: InterestKind, value: str, blank: str) -> None:
    assume(value.strip())
    assert interest(f"{kind.upper()}{blank}:{blank}{value}") == Interest(kind, value.strip())


@given(text=st.text(max_size=20))
def test_all_else_is_refused_in_one_way(text: str) -> None:
    assume(not any(text.lower().strip().startswith(kind) for kind in InterestKind))
    with pytest.raises(click.BadParameter, match="KIND:VALUE"):
        interest(text)


@pytest.mark.parametrize("bad", ["diffusion", "colour:red", "keyword:", ":x", "", "：", "keyword: \t"])
@pytest.mark.parametrize("command", ["follow", "unfollow", "mute", "unmute"])
def test_a_bad_kind_is_refused_before_anything_is_changed(daily: FakeDaily, call: Call, command: str, bad: str) -> None:
    done = call(command, "keyword:good", bad)
    assert (done.code, done.out) == (2, "")
    assert "write KIND:VALUE, where KIND is keyword, author, area or venue, such as keyword:diffusion" in " ".join(
        done.err.split()
    )
    assert daily.library.calls == []


def test_it_is_told_how_many_papers_are_meant(daily: FakeDaily, call: Call) -> None:
    told = "author:Emmy Noether: 12 papers of this library.\n"
    assert call("follow", "author:Emmy Noether").err == told
    assert call("mute", "author:Emmy Noether").err == told
    assert call("start", "--area", "cs.LG").err == "area:cs.LG: 12 papers of this library.\n"


def test_without_arguments_there_is_a_list(daily: FakeDaily, call: Call) -> None:
    assert call("follow").out == "keyword:diffusion\n"
    assert call("mute").out == "area:cs.CY\n"
    assert call("follow", "--json").json == [{"kind": "keyword", "value": "diffusion"}]
    assert asked(daily) == []
    assert call("unfollow", "keyword:diffusion").out == "Nothing is followed.\n"
    assert call("unmute", "area:cs.CY").out == "Nothing is muted.\n"
    assert asked(daily) == ["unfollow keyword:diffusion", "unmute area:cs.CY"]
    assert call("mute", "--json").json == []


def test_what_was_not_there_is_said_and_is_no_failure(daily: FakeDaily, call: Call) -> None:
    done = call("unfollow", "keyword:difusion")
    assert (done.code, done.out) == (0, "keyword:diffusion\n")
    assert done.err == "keyword:difusion was not followed.\n"
    assert call("unmute", "keyword:x").err == "keyword:x was not muted.\n"


@pytest.mark.parametrize(
    ("arguments", "read_only"),
    [
        (["follow"], True),
        (["follow", "area:x"], False),
        (["mute"], True),
        (["unmute", "area:x"], False),
        (["searches"], True),
        (["searches", "show", "1"], True),
        (["searches", "add", "x"], False),
        (["today"], False),
        (["today", "--date", "2026-12-01"], True),
        (["today", "--week"], True),
        (["today", "--list"], True),
        (["saved"], True),
        (["memory"], True),
        (["memory", "export"], True),
        (["memory", "reset"], False),
        (["readers", "link"], False),
    ],
)
def test_commands_that_only_look_do_not_write(
    daily: FakeDaily, call: Call, arguments: list[str], read_only: bool
) -> None:
    call(*arguments)
    assert daily.library.calls[0][2] is read_only


def test_the_reader_may_be_named_anywhere(daily: FakeDaily, call: Call) -> None:
    call("follow", "--reader", "ada", "area:cs.LG", "area:cs.CL")
    assert ("follow area:cs.CL", "ada") in daily.library.calls
    call("searches", "--reader", "ada", "add", "x")
    call("searches", "add", "x", "--reader", "ada")
    call("searches", "--reader", "me", "add", "x", "--reader", "ada")
    assert [made for made in daily.library.calls if made[0] == "save search"] == [("save search", "x", "", "ada")] * 3


# --- searches


def test_searches_are_listed(daily: FakeDaily, call: Call) -> None:
    done = call("searches")
    assert [line.split() for line in done.out.splitlines()] == [
        ["id", "label", "question"],
        ["3", "bandits", "bandits", "-survey"],
    ]
    assert call("searches", "list").out == done.out
    shape = {"id": 3, "name": "bandits", "query": "bandits -survey", "created": "2026-12-01T06:30:00Z"}
    assert call("searches", "--json").json == call("searches", "list", "--json").json == [shape]


def test_a_search_is_saved_shown_and_removed(daily: FakeDaily, call: Call) -> None:
    done = call("searches", "add", "--label", "LLM", "--", "大模型", "-综述")
    assert ("save search", "大模型 -综述", "LLM", "") in daily.library.calls
    assert done.out == "Saved search 4, LLM: 大模型 -综述\n"
    assert call("searches", "add", "x").out == "Saved search 4: x\n"
    assert call("searches", "add", "x", "--json").json["id"] == 4
    assert call("searches", "show", "3").out.startswith("7  Noise-robust training")
    assert call("searches", "show", "3", "--json").json[0]["id"] == 7
    assert call("searches", "remove", "3").out.startswith("No search is saved. Save one:")
    assert ("drop search", 3, "") in daily.library.calls


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["searches", "remove", "x"], "valid number"),
        (["searches", "remove", "0"], "ID"),
        (["searches", "rename"], "rename"),
        (["start", "--source", "zotero"], "--library"),
        (["unfollow", "--reader", "ada"], "KIND:VALUE"),
    ],
)
def test_wrong_usage_is_named(daily: FakeDaily, call: Call, arguments: list[str], word: str) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert word in done.err
    assert daily.library.calls == []


# --- start


def test_a_start_from_areas_papers_and_a_library(daily: FakeDaily, call: Call) -> None:
    done = call("start", "--area", "cs.LG", "--area", "理论", "--paper", "12", "--paper", "2401.00001", "--library")
    assert done.code == 0
    assert ("examples", [12, "2401.00001"], "") in daily.library.calls
    assert {"follow area:cs.LG", "follow area:理论"} <= set(asked(daily))
    assert ("from library", "", ()) in daily.library.calls
    assert done.out.splitlines() == [
        "Following cs.LG, 理论.",
        "New examples: 2.",
        "New examples from your library: 40.",
        "Read on with: broadsheet today",
    ]


def test_a_start_for_another_reader_says_how_to_go_on(daily: FakeDaily, call: Call) -> None:
    assert call("start", "--area", "cs.LG", "--reader", "ada").out.endswith("broadsheet today --reader ada\n")


def test_an_unknown_example_leaves_all_as_it_was(daily: FakeDaily, call: Call) -> None:
    done = call("start", "--area", "cs.LG", "--paper", "404")
    assert (done.code, done.err) == (1, "broadsheet: there is no paper 404 in this library\n")
    assert asked(daily) == ["examples"]


def test_a_library_without_dates_is_said(daily: FakeDaily, call: Call) -> None:
    daily.from_library = 0
    done = call("start", "--library", "--source", "zotero:mine")
    assert ("from library", "", ("zotero:mine",)) in daily.library.calls
    assert "No paper was new" in done.out
    assert "New examples: 1.\n" in call("start", "--paper", "7").out
    assert call("start", "--area", "cs.LG", "--json").json == {"areas": ["cs.LG"], "examples": 0, "from_library": 0}
