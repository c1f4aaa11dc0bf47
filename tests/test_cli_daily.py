"""The daily paper on the command line: today, mark, undo, saved."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from broadsheet.cli.common import patience
from broadsheet.cli.daily import ALL
from broadsheet.cli.newspaper import written_day
from broadsheet.errors import NotFoundError
from broadsheet.model.reading import Action, Event, Interest, InterestKind, Today
from tests.cli_fake import Call, Done, caller
from tests.cli_fake_daily import EDITION, MOMENT, FakeDaily, entry, install_daily


@pytest.fixture
def daily(monkeypatch: pytest.MonkeyPatch) -> FakeDaily:
    return install_daily(monkeypatch)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


# --- today


def test_an_edition_is_printed_with_sections_numbers_and_reasons(daily: FakeDaily, call: Call) -> None:
    done = call("today")
    assert (done.code, done.err) == (0, "")
    assert ("today", "") in daily.library.calls
    lines = done.out.splitlines()
    assert lines[1].startswith("BROADSHEET  Tuesday 1 December 2026")
    assert lines[1].endswith("me")
    assert "4 of 1,231 papers announced from 28 November to 30 November" in done.out
    assert "arxiv:cs.CL is stale." in lines
    titles = [line for line in lines if " ---" in line]
    assert [(line.partition(" ---")[0], line.split()[-1]) for line in titles] == [
        ("Front page", "front"),
        ("Machine Learning", "area-cs.LG"),
        ("Discovery", "discovery"),
    ]
    assert [line[:2] for line in lines if line[1:2] == "."] == ["1.", "2.", "3.", "4."]
    assert "    paper 7 | ICML 2024 | Theory · Learning Theory | arxiv:2401.00001 | code" in lines
    assert "    Why: like 3 papers you saved on label noise" in lines
    assert "\x1b" not in done.out
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("since", "considered", "text"),
    [
        (None, 1, "of 1 paper announced up to 30 November, chosen"),
        (date(2026, 11, 29), 2, "of 2 papers announced on 30 November, chosen"),
        (date(2026, 11, 30), 2, "of 2 papers announced on 30 November, chosen"),  # late arrivals of a day
        (date(2026, 10, 30), 2, "of 2 papers announced from 31 October to 30 November, chosen"),
    ],
)
def test_an_edition_says_what_it_was_chosen_from(
    daily: FakeDaily, call: Call, since: date | None, considered: int, text: str
) -> None:
    daily.found = Today(replace(EDITION, since=since, considered=considered), is_new=True)
    assert text in call("today").out


def test_who_is_not_known_yet_is_told_how_to_begin(daily: FakeDaily, call: Call) -> None:
    assert "broadsheet start" not in call("today").out
    daily.found = Today(replace(EDITION, basis="nothing"), is_new=True)
    assert "broadsheet start --help" in call("today").out


def test_entries_say_what_was_done_and_which_are_discoveries(daily: FakeDaily, call: Call) -> None:
    lines = call("today").out.splitlines()
    assert next(line for line in lines if "paper 8 |" in line).endswith("| saved")
    # Of the section of discoveries some papers are not drawn from beyond the reader's interests.
    assert next(line for line in lines if "paper 9 |" in line).endswith("| code")
    assert next(line for line in lines if "paper 10 |" in line).endswith("| discovery")


def test_a_brief_edition_is_a_line_for_each_paper(daily: FakeDaily, call: Call) -> None:
    lines = call("today", "--brief").out.splitlines()
    assert [line for line in lines if "aper number" in line] == [
        "8  Paper number 8",
        "9  Paper number 9",
        "10  Paper number 10",
    ]
    assert not any("Why:" in line or "Ada Byron" in line for line in lines)
    assert sum(" ---" in line for line in lines) == 3
    week = call("today", "--week", "--brief").out
    assert ("7  Paper number 7\n8  Paper number 8\n" in week, "Why:" in week) == (True, False)


def test_no_announcement_is_said_first_and_the_last_edition_follows(daily: FakeDaily, call: Call) -> None:
    note = "No announcement: weekend. Next expected Sunday 20:00 ET."
    daily.found = Today(EDITION, is_new=False, note=note)
    done = call("today")
    assert (done.code, done.out.splitlines()[0]) == (0, note)
    assert "BROADSHEET  Tuesday 1 December 2026" in done.out


def test_where_nothing_was_ever_printed_the_note_stands_alone(daily: FakeDaily, call: Call) -> None:
    daily.found = Today(None, is_new=False, note="No announcement: the library has no dated papers.")
    assert call("today").out == "No announcement: the library has no dated papers.\n"
    found = call("today", "--json").json
    assert found == {
        "note": "No announcement: the library has no dated papers.",
        "is_new": False,
        "expected": None,
        "edition": None,
    }


def test_one_section_or_another_day(daily: FakeDaily, call: Call) -> None:
    done = call("today", "--date", "2026-11-30", "--section", "discovery")
    assert ("edition", date(2026, 11, 30), "") in daily.library.calls
    assert not any(made[0] == "today" for made in daily.library.calls)
    assert "Discovery" in done.out
    assert "Front page" not in done.out
    assert "1.  Paper number 10" in done.out
    assert [s["key"] for s in call("today", "--section", "front", "--json").json["edition"]["sections"]] == ["front"]


def test_an_unknown_section_names_those_there_are(daily: FakeDaily, call: Call) -> None:
    done = call("today", "--section", "sports")
    assert (done.code, done.out) == (1, "")
    assert "no section sports; it has: front, area-cs.LG, discovery" in done.err


def test_the_best_of_a_week_and_a_month(daily: FakeDaily, call: Call) -> None:
    done = call("today", "--week")
    assert ("period", "week", date(2026, 12, 1), "") in daily.library.calls
    assert "The week from Monday 30 November 2026 to Sunday 6 December 2026" in done.out
    assert "The best of 2 editions." in done.out
    assert "| 2026-11-30 | saved" in done.out
    assert "Before: broadsheet today --week --date 2026-11-27" in done.out
    assert "After:" not in done.out
    assert call("today", "--month").out.splitlines()[1] == "BROADSHEET  November 2026"
    found = call("today", "--month", "--date", "2026-10-05", "--json").json
    assert ("period", "month", date(2026, 10, 5), "") in daily.library.calls
    assert (found["kind"], found["previous"], found["following"]) == ("month", "2026-11-27", None)
    assert found["entries"][1]["day"] == "2026-11-30"
    assert found["entries"][1]["marks"] == ["save"]


def test_a_week_before_the_first_edition_says_what_prints_one(daily: FakeDaily, call: Call) -> None:
    daily.days = ()
    done = call("today", "--week")
    assert (done.code, "`broadsheet today` prints the first one" in done.err) == (1, True)
    assert "There is no edition yet" in call("today", "--list").out
    assert call("today", "--list", "--json").json == []


def test_the_archive_is_listed(daily: FakeDaily, call: Call) -> None:
    assert call("today", "--list").out == "2026-12-01\n2026-11-30\n"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--week", "--month"], "--week, --month"),
        (["--week", "--section", "front"], "--section"),
        (["--list", "--date", "2026-11-30"], "--list"),
        (["--date", "yesterday"], "is not a day such as 2026-11-30"),
        (["--date", "2026-02-30"], "is not a day such as 2026-11-30"),
        (["--date", ""], "is not a day such as 2026-11-30"),
    ],
)
def test_wrong_usage_of_today(daily: FakeDaily, call: Call, arguments: list[str], word: str) -> None:
    done = call("today", *arguments)
    assert (done.code, done.out) == (2, "")
    assert word in done.err
    assert daily.library.calls == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


KEYS_OF_AN_EDITION = {
    "reader", "day", "made", "since", "through", "considered", "basis", "notes", "risk", "cap", "sections",
}  # fmt: skip
KEYS_OF_AN_ENTRY = {"paper", "score", "parts", "reasons", "propensity", "explored", "marks"}


def test_the_json_of_an_edition_keeps_its_names(daily: FakeDaily, call: Call) -> None:
    found = call("today", "--json").json
    assert set(found) == {"note", "is_new", "expected", "edition"}
    edition = found["edition"]
    assert set(edition) == KEYS_OF_AN_EDITION
    assert (edition["day"], edition["since"], edition["made"]) == (
        "2026-12-01",
        "2026-11-27",
        "2026-12-01T06:30:00Z",
    )
    assert {tuple(section) for section in edition["sections"]} == {("kind", "key", "title", "entries")}
    first, second = edition["sections"][0]["entries"]
    assert set(first) == KEYS_OF_AN_ENTRY
    assert first["paper"]["identifiers"][0]["value"] == "2401.00001"
    assert first["reasons"] == [
        {"kind": "similar", "text": "like 3 papers you saved on label noise", "weight": 0.6, "papers": [1, 2, 3]}
    ]
    assert first["parts"] == {"similar": 0.9, "fresh": 0.1}
    assert (first["marks"], second["marks"]) == ([], ["save"])
    assert (edition["sections"][2]["entries"][0]["propensity"], first["propensity"]) == (0.25, 1.0)


HOSTILE = "\x1b]0;owned\x07\x9b2J\u202egnp.exe\r<script>alert(1)</script> 标题"


def test_titles_names_and_reasons_cannot_act_on_the_terminal(daily: FakeDaily, call: Call) -> None:
    bad = entry(7, HOSTILE, why=HOSTILE)
    bad = replace(bad, paper=replace(bad.paper, authors=(HOSTILE,)))
    section = replace(EDITION.sections[0], title=HOSTILE, key=HOSTILE, entries=(bad,))
    edition = replace(EDITION, reader=HOSTILE, sections=(section,), notes=(HOSTILE,))
    daily.found = Today(edition, is_new=False, note=HOSTILE)
    out = call("today").out
    assert all(letter.isprintable() or letter == "\n" for letter in out)
    assert out.count("标题") == 8
    # As JSON nothing is lost, and nothing is raw either.
    raw = call("today", "--json")
    assert "\x1b" not in raw.out
    assert raw.json["edition"]["sections"][0]["title"] == HOSTILE


def test_an_unknown_reader_is_told_who_there_is(daily: FakeDaily, call: Call) -> None:
    for arguments in (["today"], ["memory"], ["follow"], ["searches"], ["follow", "keyword:x"]):
        done = call(*arguments, "--reader", "bob")
        assert (done.code, done.out) == (1, "")
        assert done.err == "broadsheet: there is no reader bob; there are: me, ada\n"


@pytest.mark.parametrize(
    ("kind", "seconds", "told"), [(Terminal, 0, True), (Terminal, 60, False), (io.StringIO, 0, False)]
)
def test_a_long_wait_is_told_to_who_watches(
    monkeypatch: pytest.MonkeyPatch, kind: type[io.StringIO], seconds: float, told: bool
) -> None:
    stream = kind()
    monkeypatch.setattr(sys, "stderr", stream)
    with patience("Printing the edition...", seconds):
        end = time.monotonic() + (60 if told else 0.2)
        while not stream.getvalue().endswith("\n") and time.monotonic() < end:
            time.sleep(0.01)
    assert (stream.getvalue() == "Printing the edition...\n") is told


# --- mark, undo


def test_marking_says_what_was_done(daily: FakeDaily, call: Call) -> None:
    done = call("mark", "save", "12", "https://arxiv.org/abs/2401.00001v2", "--reader", "ada")
    assert done.code == 0
    assert ("act", "save", 12, "ada", None, None) in daily.library.calls
    # Paper 7 stood in the newest edition: the event says so.
    assert ("paper", "https://arxiv.org/abs/2401.00001v2") in daily.library.calls
    assert ("act", "save", 7, "ada", None, date(2026, 12, 1)) in daily.library.calls
    assert done.out.splitlines()[0].startswith("Saved paper 12: Noise-robust training of")


def test_dismissing_because_of_something_mutes_it(daily: FakeDaily, call: Call) -> None:
    done = call("mark", "dismiss", "7", "--because", "author：埃达·拜伦")
    because = Interest(InterestKind.AUTHOR, "埃达·拜伦")
    assert ("act", "dismiss", 7, "", because, date(2026, 12, 1)) in daily.library.calls
    assert "Muted author:埃达·拜伦. Back with: broadsheet undo" in done.out


def test_one_unknown_paper_does_not_stop_the_others(daily: FakeDaily, call: Call) -> None:
    done = call("mark", "like", "404", "7")
    assert done.code == 1
    assert done.err == "broadsheet: there is no paper 404 in this library\n"
    assert done.out.startswith("Liked paper 7: ")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["mark", "share", "7"], "share"),
        (["mark", "save"], "PAPER"),
        (["mark", "save", "7", "--because", "keyword:x"], "--because goes with dismiss"),
        (["mark", "dismiss", "7", "--because", "blockchain"], "KIND is keyword, author, area or venue"),
        (["mark", "dismiss", "7", "--because", "colour:red"], "KIND is keyword, author, area or venue"),
        (["mark", "dismiss", "7", "--because", "keyword:"], "KIND:VALUE"),
        (["undo", "--event", "0"], "--event"),
        (["saved", "--bibtex", "--json"], "--bibtex"),
    ],
)
def test_wrong_usage_of_marks(daily: FakeDaily, call: Call, arguments: list[str], word: str) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert word in done.err
    assert daily.library.calls == []


def test_events_as_json_keep_their_names(daily: FakeDaily, call: Call) -> None:
    (found,) = call("mark", "dismiss", "7", "--because", "keyword:大模型", "--json").json
    assert found == {
        "id": 1,
        "action": "dismiss",
        "paper": 7,
        "moment": "2026-12-01T06:30:00Z",
        "edition": "2026-12-01",
        "undoes": 0,
        "because": {"kind": "keyword", "value": "大模型"},
    }


def test_undo_says_what_it_took_back(daily: FakeDaily, call: Call) -> None:
    assert call("undo").out == "There is nothing to take back.\n"
    assert call("undo", "--json").json is None
    call("mark", "save", "7")
    day = written_day(MOMENT.astimezone().date())
    assert call("undo").out.startswith(f"Taken back, of {day}: saving paper 7: Noise-robust")
    call("mark", "dismiss", "7", "--because", "area:cs.CY")
    assert call("undo").out.splitlines()[1] == "Muted no longer: area:cs.CY"
    for action, text in ((Action.FORGET, "forgetting paper 7"), (Action.EXAMPLE, "giving as an example paper 7")):
        daily.act(action, 7)
        assert call("undo").out.startswith(f"Taken back, of {day}: {text}: ")
    daily.log.append(Event(6, "me", Action.RESET, 0, MOMENT))
    assert call("undo").out == f"Taken back: the reset of the memory, of {day}.\n"
    found = call("undo", "--event", "1", "--json").json
    assert (found["action"], found["undoes"]) == ("undo", 1)
    assert ("undo", "", 1) in daily.library.calls


# --- saved


def test_saved_papers_are_listed(daily: FakeDaily, call: Call) -> None:
    assert call("saved").out == "Nothing is saved yet. Save with: broadsheet mark save NUMBER\n"
    call("mark", "save", "7")
    done = call("saved", "--limit", "5")
    assert ("saved", "", 5) in daily.library.calls
    assert "1.  Noise-robust training of" in done.out
    assert "paper 7 | ICML 2024" in done.out
    assert call("saved", "--json").json[0]["saved"] == "2026-12-01T06:30:00Z"
    assert call("saved", "--bibtex").out == "@misc{byron2024,\n}\n"
    assert ("saved", "", ALL) in daily.library.calls


@pytest.mark.parametrize("arguments", [["today"], ["mark", "save", "7"], ["undo"], ["saved"], ["memory"]])
def test_a_fault_is_one_line_and_the_library_is_closed(daily: FakeDaily, call: Call, arguments: list[str]) -> None:
    daily.library.fault = NotFoundError("no \x1b[2J reader")
    done: Done = call(*arguments)
    assert (done.code, done.err) == (1, "broadsheet: no [2J reader\n")
    assert ("closed",) in daily.library.calls
