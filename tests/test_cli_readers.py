"""Readers and their memory on the command line."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from broadsheet.cli.readers import reader_address
from broadsheet.model.reading import Action, RememberedPaper
from broadsheet.settings import Settings
from tests.cli_fake import Call, caller
from tests.cli_fake_daily import MEMORY, MOMENT, READER, FakeDaily, install_daily


@pytest.fixture
def daily(monkeypatch: pytest.MonkeyPatch) -> FakeDaily:
    return install_daily(monkeypatch)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# --- readers


def test_readers_are_listed_without_their_secrets(daily: FakeDaily, call: Call) -> None:
    done = call("readers")
    head, me, ada = done.out.splitlines()
    assert head.split() == ["reader", "follows", "mutes", "searches", "editions", "newest", "email"]
    assert me.split() == ["me", "1", "1", "1", "2", "2026-12-01", "-"]
    assert ada.split()[0] == "ada"
    raw = call("readers", "list", "--json")
    assert READER.secret not in raw.out + done.out
    assert set(raw.json[0]) == {
        *("reader", "created", "follows", "mutes", "searches", "risk", "emphasis", "email", "webhook"),
        *("editions", "newest_edition"),
    }


def test_a_reader_is_added_with_an_address(daily: FakeDaily, call: Call) -> None:
    assert call("readers", "add", "王").out == "Added 王, who reads at http://127.0.0.1:8765/r/s3cret\n"
    done = call("readers", "add", "ada")
    assert (done.code, done.err) == (1, "broadsheet: there is a reader ada already; choose another name\n")
    assert call("readers", "add", "bob", "--json").json["address"].endswith("/r/s3cret")


def test_the_address_can_be_renewed(daily: FakeDaily, call: Call) -> None:
    assert call("readers", "link").out == "http://127.0.0.1:8765/r/s3cret\n"
    assert call("readers", "link", "ada", "--renew").out == "http://127.0.0.1:8765/r/n3w\n"
    assert ("renew", "ada") in daily.library.calls
    assert call("readers", "link", "ada", "--json").json == {
        "name": "ada",
        "address": "http://127.0.0.1:8765/r/s3cret",
    }


@pytest.mark.parametrize(
    ("settings", "site"),
    [
        ({}, "http://127.0.0.1:8765"),
        ({"host": "0.0.0.0", "port": 9000}, "http://127.0.0.1:9000"),
        ({"host": "::1"}, "http://[::1]:8765"),
        ({"host": "::"}, "http://[::1]:8765"),
        ({"site_url": "https://papers.example.org/"}, "https://papers.example.org"),
    ],
)
def test_an_address_begins_where_the_site_is(tmp_path: Path, settings: dict[str, object], site: str) -> None:
    found = reader_address(Settings(home=tmp_path, **settings), READER)  # type: ignore[arg-type]
    assert found == f"{site}/r/s3cret"


def test_removing_a_reader_is_asked_for(daily: FakeDaily, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = ("remove reader", "ada")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    done = call("readers", "remove", "ada")
    assert (done.code, "--yes" in done.err) == (2, True)
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert call("readers", "remove", "ada").code == 130
    assert removed not in daily.library.calls
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert call("readers", "remove", "ada").code == 0
    assert daily.library.calls.count(removed) == 1
    assert call("readers", "remove", "ada", "--yes").out == "Removed ada.\n"
    done = call("readers", "remove", "bob", "--yes")
    assert (done.code, "there are: me, ada" in done.err) == (1, True)


def test_options_are_shown_and_changed(daily: FakeDaily, call: Call) -> None:
    assert call("readers", "options").out.splitlines() == ["risk     0.1", "email    -", "webhook  -"]
    assert not any(made[0] == "options" for made in daily.library.calls)
    done = call(
        *("readers", "options", "ada", "--risk", "0.2", "--email", "", "--webhook", "https://example.org/hook"),
        *("--weight", "similar=2", "--weight", "fresh=0"),
    )
    asked = {
        "risk": 0.2, "email": "", "webhook": "https://example.org/hook", "emphasis": {"similar": 2.0, "fresh": 0.0},
    }  # fmt: skip
    assert ("options", "ada", asked) in daily.library.calls
    assert "weight   similar x 2" in done.out
    daily.profile = replace(daily.profile, emphasis=(("popular", 0.5), ("similar", 2.0)))
    call("readers", "options", "--weight", "similar=1", "--weight", "words=0")
    # One that was set before stays; one that is 1 is as if it had never been set.
    assert ("options", "", {"emphasis": {"popular": 0.5, "words": 0.0}}) in daily.library.calls
    assert call("readers", "options", "--risk", "0", "--json").json["risk"] == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["readers", "options", "--risk", "much"], "--risk"),
        (["readers", "options", "--weight", "similar"], "PART=FACTOR"),
        (["readers", "options", "--weight", "similar=x"], "PART=FACTOR"),
        (["readers", "add"], "NAME"),
        (["memory", "forget"], "PAPER"),
        (["memory", "import"], "FILE"),
    ],
)
def test_wrong_usage_is_named(daily: FakeDaily, call: Call, arguments: list[str], word: str) -> None:
    done = call(*arguments)
    assert done.code == 2
    assert word in done.out + done.err
    assert daily.library.calls == []


# --- memory


def test_the_memory_is_shown(daily: FakeDaily, call: Call) -> None:
    done = call("memory")
    lines = done.out.splitlines()
    assert lines[:2] == ["What the paper thinks you like", "Reader me, from 12 events, 12 kB."]
    assert "   75%  noise, labels (2 papers)" in lines
    assert "  noise +0.50, 噪声 -0.25" in lines
    assert "  Ada Byron +0.40" in lines
    remembered = next(line for line in lines if line.endswith("Noise in labels"))
    assert remembered.split()[:2] == ["7", "saved"]
    assert "+0.50 +0.25 -0.12" in remembered
    assert "  similar 0.70" in lines
    assert call("memory", "show").out == done.out


def test_a_long_memory_is_cut_and_counted(daily: FakeDaily, call: Call) -> None:
    papers = tuple(RememberedPaper(n, f"T{n}", (0.1,), Action.OPEN, MOMENT) for n in range(1, 100))
    daily.view = replace(MEMORY, papers=papers)
    out = call("memory").out
    assert "Papers, 20 of 99" in out
    assert (out.count("opened"), "T20" in out, "T21" in out) == (20, True, False)
    assert len(call("memory", "--json").json["papers"]) == 99


def test_an_empty_memory_says_how_to_begin(daily: FakeDaily, call: Call) -> None:
    daily.view = replace(MEMORY, events=0, papers=(), centres=(), words=(), authors=(), areas=(), size=0)
    assert "broadsheet start --help" in call("memory").out


def test_the_json_of_a_memory_keeps_its_names(daily: FakeDaily, call: Call) -> None:
    found = call("memory", "--json", "--reader", "ada").json
    assert set(found) == {"reader", "events", "papers", "centres", "words", "authors", "areas", "parts", "size"}
    assert found["papers"] == [
        {
            "paper": 7,
            "title": "Noise in *labels*",
            "traces": [0.5, 0.25, -0.125],
            "action": "save",
            "moment": "2026-12-01T06:30:00Z",
        }
    ]
    assert found["centres"] == [{"words": ["noise", "labels"], "papers": [7, 8], "share": 0.75}]
    assert found["words"][1] == {"name": "噪声", "weight": -0.25}
    assert call("memory", "show", "--json").json == found


def test_words_of_the_memory_cannot_act_on_the_terminal(daily: FakeDaily, call: Call) -> None:
    bad = "\x1b[2J\u202ex\x9b"
    centre = replace(MEMORY.centres[0], words=(bad,))
    paper = replace(MEMORY.papers[0], title=bad)
    daily.view = replace(
        MEMORY, reader=bad, papers=(paper,), centres=(centre,), words=((bad, 1.0),), authors=((bad, 1.0),)
    )
    out = call("memory").out
    assert all(letter.isprintable() or letter == "\n" for letter in out)


def test_a_memory_goes_out_and_comes_in(daily: FakeDaily, call: Call, tmp_path: Path) -> None:
    file = tmp_path / "记忆.json"
    done = call("memory", "export", str(file))
    assert (done.out, f"bytes written to {file}" in done.err) == ("", True)
    record = {"reader": "me", "events": [{"title": "噪声"}]}
    assert json.loads(file.read_text("utf-8")) == record
    assert call("memory", "export").json == record
    done = call("memory", "import", str(file), "--reader", "ada")
    assert ("import", record, "ada") in daily.library.calls
    assert dict(line.rsplit(None, 1) for line in done.out.splitlines()) == {"events": "1,234", "unknown papers": "5"}
    assert call("memory", "import", str(file), "--json").json == {"events": 1234, "unknown_papers": 5}


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"{}", "events: missing"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_memory_is_refused(
    daily: FakeDaily, call: Call, tmp_path: Path, content: bytes | None, word: str
) -> None:
    file = tmp_path / "memory.json"
    if content is not None:
        file.write_bytes(content)
    done = call("memory", "import", str(file))
    assert (done.code, done.out) == (1, "")
    assert word in done.err
    assert done.err.count("\n") == 1


def test_papers_are_forgotten(daily: FakeDaily, call: Call) -> None:
    done = call("memory", "forget", "7", "404", "arXiv:2401.00001")
    assert done.code == 1
    assert "no paper 404" in done.err
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["Forgotten", "Forgotten"]
    assert call("memory", "forget", "7", "--json").json[0]["action"] == "forget"


def test_everything_is_forgotten_and_how_to_have_it_back_is_said(daily: FakeDaily, call: Call) -> None:
    done = call("memory", "reset", "--reader", "ada")
    assert ("reset", "ada") in daily.library.calls
    assert done.out == "Everything learned of ada is forgotten. Back with: broadsheet undo\n"
    assert call("memory", "reset", "--json").json["action"] == "reset"
