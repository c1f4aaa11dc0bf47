"""A reader's days on the command line, with a real library of invented papers."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.cli_fake import Call, caller
from tests.libraries import entry, write_entries

TOPICS = ("betting confidence sequences", "image segmentation", "protein folding", "联邦学习 隐私")
HOSTILE = "\x1b]0;owned\x07 <script>alert(1)</script> \u202egnp.exe"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


def paper(number: int, day: date, **fields: Any) -> dict[str, Any]:
    """A paper of one of four topics, by its number."""
    topic = TOPICS[number % len(TOPICS)]
    return entry(number, published=day.isoformat(), year=day.year, abstract=f"On {topic}. " * 4) | {
        "title": f"{topic.capitalize()}, study {number}",
        "areas": ["cs.LG" if number % 2 else "cs.CV"],
        **fields,
    }


def come(call: Call, folder: Path, numbers: range, day: date, **fields: Any) -> None:
    """Papers of a day come in."""
    file = write_entries(folder / f"{numbers.start}.jsonl", [paper(n, day, **fields) for n in numbers])
    assert call("import", str(file)).code == 0


def at(monkeypatch: pytest.MonkeyPatch, day: date) -> None:
    """It is nine in the morning of a day."""
    import broadsheet.library.daily as module

    moment = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
    monkeypatch.setattr(module, "_aware", lambda now: moment)
    monkeypatch.setattr(module, "_now", lambda: moment)


MONDAY = date(2026, 11, 30)


def papers_of(call: Call, *arguments: str) -> list[int]:
    edition = call("today", "--json", *arguments).json["edition"]
    return [entry["paper"]["id"] for section in edition["sections"] for entry in section["entries"]]


def test_days_of_a_reader(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(60), MONDAY)
    first = call("today")
    assert first.code == 0, first.err
    assert "BROADSHEET  Monday 30 November 2026" in first.out
    shown = papers_of(call)
    assert len(set(shown)) == len(shown) >= 10

    liked = [number for number in shown if "etting" in call("show", str(number)).out][:2]
    assert liked
    assert call("mark", "save", *map(str, liked)).code == 0
    assert f"paper {liked[0]} |" in call("saved").out
    assert "Betting" in call("memory").out
    assert "| saved" in call("today").out
    # What was printed is not printed anew.
    assert papers_of(call) == shown

    at(monkeypatch, MONDAY + timedelta(days=1))
    nothing = call("today")
    assert (nothing.code, nothing.out.startswith("No")) == (0, True)
    assert "BROADSHEET  Monday 30 November 2026" in nothing.out

    come(call, home, range(100, 160), MONDAY + timedelta(days=1))
    edition = call("today", "--json").json["edition"]
    assert (edition["day"], edition["basis"], edition["since"]) == ("2026-12-01", "memory", "2026-11-30")
    best = edition["sections"][0]["entries"][0]
    assert best["paper"]["title"].startswith("Betting")
    assert best["reasons"][0]["papers"]
    assert not set(papers_of(call)) & set(shown)
    assert call("today", "--list").out == "2026-12-01\n2026-11-30\n"
    assert papers_of(call, "--date", "2026-11-30") == shown
    assert "The best of 2 editions." in call("today", "--week").out
    assert "2, the newest of 2026-12-01" in call("status").out
    assert "1 reader, editions printed: 2" in call("doctor").out


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (date(2026, 11, 28), "No announcement: weekend. Next expected Sunday 20:00 ET (2026-11-29)."),  # A24
        (date(2026, 12, 3), "The announcement of 2026-12-03 has not been fetched yet."),
    ],
)
def test_a_weekend_is_not_a_failure_and_reads_otherwise(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch, day: date, said: str
) -> None:
    call("sources", "add", "arxiv:cs.LG")
    friday = date(2026, 11, 27)
    at(monkeypatch, friday)
    come(call, home, range(60), friday)
    assert call("today").out.startswith("====")
    at(monkeypatch, day)
    done = call("today")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(said)
    assert "BROADSHEET  Friday 27 November 2026" in done.out
    found = call("today", "--json").json
    assert (found["is_new"], found["note"]) == (False, done.out.splitlines()[0])
    assert found["expected"]


def test_interests_are_kept_in_one_spelling(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(60), MONDAY)
    assert call("follow", "keyword:联邦学习", "area:CS.lg", "author：Chen, Bo").out.splitlines() == [
        "keyword:联邦学习",
        "area:cs.LG",
        "author:Bo Chen",
    ]
    assert call("mute", "keyword:Protein Folding").out == "keyword:protein folding\n"
    edition = call("today", "--json").json["edition"]
    entries = [entry for section in edition["sections"] for entry in section["entries"]]
    assert edition["basis"] == "profile"
    assert not any("rotein" in entry["paper"]["title"] for entry in entries)
    followed = next(entry for entry in entries if "联邦学习" in entry["paper"]["title"])
    assert any("'联邦学习', which you follow" in reason["text"] for reason in followed["reasons"])
    done = call("follow", "keyword:!!!")
    assert (done.code, "says nothing" in done.err) == (1, True)
    # The list stands as it was, and `mute` takes what was followed away.
    assert call("mute", "area:cs.LG").err == "area:cs.LG: 30 papers of this library.\n"
    assert "area:cs.LG" not in call("follow").out


def test_a_search_by_what_is_remembered(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(40), MONDAY)
    call("mark", "save", "2", "6", "10")  # of image segmentation

    def best(*options: str) -> list[str]:
        hits = call("search", "study", "--json", "--limit", "5", *options).json["hits"]
        return [hit["paper"]["title"].partition(",")[0] for hit in hits]

    assert best("--sort", "for-you") == ["Image segmentation"] * 5
    assert best() != ["Image segmentation"] * 5
    call("readers", "add", "ada")
    assert best("--sort", "for-you", "--reader", "ada") == best()
    assert call("search", "study", "--sort", "for-you", "--reader", "bob").code == 1


def test_a_dismissal_with_a_reason_and_its_undo(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(8), MONDAY)
    assert call("mark", "dismiss", "3", "--because", "keyword:联邦学习").code == 0
    assert call("mute").out == "keyword:联邦学习\n"
    assert call("undo").out.splitlines()[1] == "Muted no longer: keyword:联邦学习"
    assert call("mute").out == "Nothing is muted.\n"
    assert call("undo").out == "There is nothing to take back.\n"


def test_a_search_joins_the_edition(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(60), MONDAY)
    done = call("searches", "add", "--", "   ")
    assert (done.code, "asks for nothing" in done.err) == (1, True)
    call("searches", "add", "--label", "隐私", "联邦学习")
    assert "\n 1  隐私   联邦学习\n" in call("searches").out
    assert "联邦学习" in call("searches", "show", "1").out
    section = call("today", "--section", "search-1", "--json").json["edition"]["sections"]
    assert [one["title"] for one in section] == ["隐私"]
    assert "there are: 1 (隐私)" in call("searches", "remove", "9").err
    assert call("searches", "remove", "1").code == 0


def test_readers_have_papers_of_their_own(call: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(60), MONDAY)
    assert call("readers", "add", "王芳").out.startswith("Added 王芳, who reads at http://127.0.0.1:8765/r/")
    assert call("readers", "add", "a b").code == 1
    done = call("today", "--reader", "bob")
    assert (done.code, "王芳" in done.err) == (1, True)
    call("mark", "save", "1", "--reader", "王芳")
    assert call("saved").out.startswith("Nothing is saved yet")
    assert call("saved", "--reader", "王芳", "--json").json[0]["paper"]["id"] == 1
    before = call("readers", "link", "王芳").out
    assert call("readers", "link", "王芳").out == before
    assert call("readers", "link", "王芳", "--renew").out != before
    done = call("readers", "options", "王芳", "--risk", "0.7")
    assert (done.code, "from 0 to 0.5" in done.err) == (1, True)
    assert "risk     0.2" in call("readers", "options", "王芳", "--risk", "0.2").out
    assert call("readers", "remove", "王芳", "--yes").code == 0
    assert "王芳" not in call("readers").out


def test_the_printed_address_leads_to_the_readers_paper(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from broadsheet.library import open_library
    from broadsheet.web import create_app

    at(monkeypatch, MONDAY)
    come(call, home, range(60), MONDAY)
    call("readers", "add", "ada")
    address = call("readers", "link", "ada").out.strip()
    base, _, path = address.partition("/r/")
    with open_library() as library, TestClient(create_app(library), base_url=base) as client:
        front = client.get(f"/r/{path}")
        assert front.status_code == 200, front.text
        best = call("today", "--reader", "ada", "--json").json["edition"]["sections"][0]["entries"][0]["paper"]
        assert best["title"] in front.text
        call("readers", "link", "ada", "--renew")
        assert client.get(f"/r/{path}").status_code == 404


def test_a_memory_moves_to_another_library(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(20), MONDAY, identifiers=["arXiv:2611.00001"])
    call("mark", "save", "1")
    call("follow", "keyword:联邦学习")
    file = tmp_path / "memory.json"
    assert call("memory", "export", str(file)).code == 0
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "other"))
    counts = call("memory", "import", str(file), "--json")
    assert counts.code == 0, counts.err
    assert (counts.json["events"], counts.json["missing"], counts.json["interests"]) == (0, 1, 1)
    assert call("follow").out == "keyword:联邦学习\n"
    file.write_text('{"format": 1, "profile": 7}')
    done = call("memory", "import", str(file))
    assert (done.code, "profile" in done.err) == (1, True)


def test_a_hostile_title_is_harmless_in_all_that_prints_it(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, MONDAY)
    come(call, home, range(1), MONDAY, title=HOSTILE, authors=[HOSTILE])
    for arguments in (
        *(["today"], ["mark", "save", "1"], ["saved"], ["memory"], ["undo"], ["searches", "add", "alert"]),
        *(["searches", "show", "1"], ["memory", "forget", "1"], ["today", "--month"]),
    ):
        done = call(*arguments)
        assert done.code == 0, (arguments, done.err)
        assert all(letter.isprintable() or letter == "\n" for letter in done.out + done.err), arguments


def test_an_empty_library_says_what_to_do(call: Call) -> None:
    done = call("today")
    assert done.code == 0
    assert "broadsheet sources add arxiv:cs.LG" in done.out
    assert call("today", "--week").code == 1
    assert "broadsheet start --help" in call("memory").out
    done = call("start", "--library")
    assert (done.code, "broadsheet import" in done.out) == (0, True)


def test_looking_makes_no_library(call: Call, home: Path) -> None:
    for arguments in (["saved"], ["memory"], ["follow"], ["searches"], ["today", "--list"]):
        done = call(*arguments)
        assert (done.code, done.out) == (1, "")
        assert "broadsheet import" in done.err or "no library" in done.err
    assert not (home / "home").exists()
