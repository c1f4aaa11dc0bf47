"""The command line: help, search, papers and files; what it prints and what it asks of the library."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from broadsheet.cli import INTERRUPTED, SECTIONS, command, run
from broadsheet.cli.common import paper_key
from broadsheet.model import ImportSummary, Joined, Refusal
from tests.cli_fake import Call, FakeLibrary, caller, install


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


# --- help and usage


def described(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and the words that call it, also those within groups."""
    for name, found in sorted(group.commands.items()):
        yield (*before, name), found
        if isinstance(found, click.Group):
            yield from described(found, (*before, name))


@pytest.mark.parametrize(
    ("words", "found"), [pytest.param(words, found, id="-".join(words)) for words, found in described(command)]
)
def test_every_command_explains_itself_with_an_example(
    call: Call, words: tuple[str, ...], found: click.Command
) -> None:
    done = call(*words, "--help")
    assert done.code == 0
    assert f"    broadsheet {' '.join(words)}" in done.out
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{words} {parameter.name} has no help"


def test_the_first_help_lists_every_command_once_by_topic_in_full_sentences(call: Call) -> None:
    listed = call("--help").out.partition("--help")[2]
    topics = [line.rstrip(":") for line in listed.splitlines() if re.fullmatch(r"[A-Z][\w ]+:", line)]
    assert topics == list(SECTIONS)
    assert sorted(re.findall(r"^  (\S+) ", listed, re.MULTILINE)) == sorted(command.commands)
    assert "..." not in listed


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["serch"], "serch"),
        (["search", "x", "--limit", "0"], "--limit"),
        (["search", "x", "--page", "-1"], "--page"),
        (["search", "x", "--page", "abc"], "--page"),
        (["search", "x", "--sort", "best"], "--sort"),
        (["search", "x", "--year", "soon"], "--year"),
        (["search", "x", "--year", "2024-2020"], "--year"),
        (["search", "-x"], "-x"),
        (["show", "1", "--json", "--bibtex"], "--bibtex"),
        (["merge", "1"], "B"),
        (["split", "x"], "'x' is not a valid number"),
        (["serve", "--port", "70000"], "--port"),
        (["import", "--json"], "FILE"),
        (["encode", "--workers", "0"], "--workers"),
    ],
)
def test_wrong_usage_is_named_with_status_2(fake: FakeLibrary, call: Call, arguments: list[str], word: str) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert word in done.err
    assert "Traceback" not in done.err
    assert fake.calls == []


# --- search


def test_words_are_joined_and_filters_passed_on(fake: FakeLibrary, call: Call) -> None:
    done = call(
        *("search", "noisy", "labels", "--limit", "5", "--page", "2", "--sort", "newest", "--venue", "ICML"),
        *("--venue", "acl", "--area", "Theory", "--area", "Theory · Learning Theory", "--year", "2020-2022"),
        *("--year", "2024", "--code"),
    )
    assert done.code == 0
    facets = {
        "venue": ["icml", "acl"],
        "area": ["Theory"],
        "subarea": ["Theory · Learning Theory"],
        "year": ["2020", "2021", "2022", "2024"],
        "code": ["yes"],
    }
    options = {"page": 2, "page_size": 5, "sort": "newest", "facets": facets, "reader": None}
    assert ("search", "noisy labels", options) in fake.calls


def test_a_plain_search_sends_no_facets(fake: FakeLibrary, call: Call) -> None:
    call("search", "大模型")
    options = {"page": 1, "page_size": None, "sort": "relevance", "facets": {}, "reader": None}
    assert ("search", "大模型", options) in fake.calls


def test_a_search_may_go_by_a_readers_memory(fake: FakeLibrary, call: Call) -> None:
    options = {"page": 1, "page_size": None, "sort": "for-you", "facets": {}}
    assert call("search", "x", "--sort", "for-you", "--reader", "ada").code == 0
    assert ("search", "x", {**options, "reader": "ada"}) in fake.calls
    call("search", "x", "--sort", "for-you")
    assert ("search", "x", {**options, "reader": ""}) in fake.calls


@pytest.mark.parametrize(
    ("given", "asked"), [(["-survey"], "-survey"), (["diffusion", "-survey"], "diffusion -survey")]
)
def test_two_dashes_let_a_question_begin_with_a_minus(
    fake: FakeLibrary, call: Call, given: list[str], asked: str
) -> None:
    assert call("search", "--", *given).code == 0
    assert fake.calls[1][:2] == ("search", asked)


def test_results_off_a_terminal_are_plain(fake: FakeLibrary, call: Call) -> None:
    done = call("search", "noise")
    assert "\x1b" not in done.out
    assert "1. Noise-robust" in done.out
    assert "Ada Byron, Emmy Noether" in done.out
    assert "ICML 2024 | Theory · Learning Theory | arxiv:2401.00001 | code" in done.out
    assert "trained with noisy labels & more" in done.out
    assert "broadsheet show 7" in done.out
    assert "1 to 1 of 1." in done.out
    assert "A note." in done.out


def test_results_number_on_across_pages(fake: FakeLibrary, call: Call) -> None:
    assert "21. Noise-robust" in call("search", "noise", "--page", "2").out


def test_nothing_found_is_said_and_is_no_failure(fake: FakeLibrary, call: Call) -> None:
    fake.hits = ()
    done = call("search", "zzz")
    assert (done.code, done.out.splitlines()[0]) == (0, "Nothing found.")


def test_search_json(fake: FakeLibrary, call: Call) -> None:
    found = call("search", "noise", "--json").json
    assert found["total"] == 1
    assert found["hits"][0]["paper"]["identifiers"][0]["value"] == "2401.00001"
    assert found["facets"]["venue"] == [{"value": "icml", "count": 1, "children": []}]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_reads_back_in_any_output_encoding(
    fake: FakeLibrary, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    assert run(["search", "大模型", "--json"]) == 0
    assert json.loads(written.getvalue().decode(encoding))["query"] == "大模型"


# --- show, similar


@pytest.mark.parametrize(
    ("given", "asked"),
    [("12", 12), ("arXiv:2401.00001v2", "arXiv:2401.00001v2"), ("10.1000/x", "10.1000/x"), ("１２", "１２")],
)
def test_a_number_is_ours_and_all_else_an_identifier(given: str, asked: int | str) -> None:
    assert paper_key(given) == asked


def test_show(fake: FakeLibrary, call: Call) -> None:
    done = call("show", "2401.00001")
    assert ("paper", "2401.00001") in fake.calls
    for part in (
        "Noise-robust training of",
        "Ada Byron, Emmy Noether",
        "Published 2024-01-02",
        "We train with noisy labels.",
        "https://arxiv.org/abs/2401.00001",
        "https://example.org/code",
        "Record 3 from arxiv: 2401.00001",
    ):
        assert part in done.out


def test_show_json_has_the_records(fake: FakeLibrary, call: Call) -> None:
    found = call("show", "7", "--json").json
    assert found["id"] == 7
    assert found["records"] == [{"id": 3, "source": "arxiv", "key": "2401.00001", "seen": "2026-01-02T00:00:00+00:00"}]


def test_show_bibtex_prints_the_entry_alone(fake: FakeLibrary, call: Call) -> None:
    assert call("show", "7", "--bibtex").out == "@misc{byron2024,\n}\n"


def test_similar(fake: FakeLibrary, call: Call) -> None:
    done = call("similar", "2401.00001", "--limit", "3")
    assert ("similar", 7, 3) in fake.calls
    assert "1. Noise-robust" in done.out
    assert call("similar", "7", "--json").json["hits"][0]["paper"]["id"] == 7


def test_similar_without_vectors_says_what_makes_them(fake: FakeLibrary, call: Call) -> None:
    fake.hits = ()
    done = call("similar", "7")
    assert done.code == 1
    assert "broadsheet encode" in done.err


# --- import


def test_import_prints_counts_and_refusals(fake: FakeLibrary, call: Call) -> None:
    done = call("import", "a.bib")
    assert done.code == 0
    counts = dict(line.split() for line in done.out.splitlines() if not line.startswith("in "))
    assert counts == {"read": "3", "new": "2", "updated": "0", "unchanged": "0", "merged": "0", "refused": "1"}
    assert done.err == "refused: x.bib:4: no title\n"


def test_import_shows_the_first_refusals_and_counts_the_rest(fake: FakeLibrary, call: Call) -> None:
    refusals = tuple(Refusal("x.bib", n, "no title") for n in range(1, 101))
    fake.summary = ImportSummary(read=1201, new=1, refused=1200, refusals=refusals)
    lines = call("import", "a.bib").err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "and 1,190 more refused"


def test_import_goes_on_after_a_file_that_cannot_be_read(fake: FakeLibrary, call: Call) -> None:
    done = call("import", "missing.bib", "a.bib", "b.bib")
    assert done.code == 0
    assert "missing.bib: no such file; check its name" in done.err
    assert dict(line.split() for line in done.out.splitlines()[:6])["read"] == "6"


@pytest.mark.parametrize(
    ("files", "summary", "code"),
    [
        (["missing.bib"], ImportSummary(), 1),
        (["a.bib"], ImportSummary(read=2, refused=2), 1),
        (["a.bib"], ImportSummary(read=2, unchanged=1, refused=1), 0),
        (["a.bib"], ImportSummary(read=1, updated=1), 0),
        (["a.bib"], ImportSummary(), 0),
    ],
)
def test_import_fails_only_when_nothing_could_be_done(
    fake: FakeLibrary, call: Call, files: list[str], summary: ImportSummary, code: int
) -> None:
    fake.summary = summary
    assert call("import", *files).code == code


def test_import_json(fake: FakeLibrary, call: Call) -> None:
    found = call("import", "missing.bib", "a.bib", "--json").json
    assert found["new"] == 2
    assert found["refusals"] == [{"where": "x.bib", "line": 4, "reason": "no title"}]
    assert found["unreadable"] == ["missing.bib: no such file; check its name"]


def test_the_sample_is_imported_into_an_empty_library_only_if_so_asked(fake: FakeLibrary, call: Call) -> None:
    assert call("import", "--sample").code == 0
    assert ("import sample",) in fake.calls
    fake.calls.clear()
    done = call("import", "--sample", "--if-empty")
    assert (done.code, done.out) == (0, "Nothing was imported: there are papers already.\n")
    assert ("import sample",) not in fake.calls
    assert call("import", "--sample", "--if-empty", "--json").json["read"] == 0
    fake.papers = 0
    assert call("import", "--sample", "--if-empty").code == 0
    assert ("import sample",) in fake.calls


def test_a_file_that_was_read_before_is_said_to_be(fake: FakeLibrary, call: Call) -> None:
    fake.summary = ImportSummary()
    assert call("import", "a.bib").out == "Nothing was imported: all of it was read before.\n"


def test_summaries_add_up() -> None:
    one = ImportSummary(1, 2, 3, 4, 5, 6, 7, (Refusal("a", 1, "x"),), (Joined("s:k", "T", 9),), 0.5)
    assert one + one == ImportSummary(2, 4, 6, 8, 10, 12, 14, one.refusals * 2, one.joined * 2, 1.0)


def test_ctrl_c_says_that_an_import_goes_on(fake: FakeLibrary, call: Call) -> None:
    fake.fault = KeyboardInterrupt()
    done = call("import", "a.bib")
    assert done.code == INTERRUPTED == 130
    assert "the same command goes on from there" in done.err
    assert ("closed",) in fake.calls


def test_import_from_the_standard_input(fake: FakeLibrary, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"@misc{}")))
    assert call("import", "-").code == 0
    assert ("import stream", b"@misc{}") in fake.calls


def test_import_names_what_was_merged_if_asked(fake: FakeLibrary, call: Call) -> None:
    joined = (Joined("bibtex:mine:bees", "How bees decide", 7),)
    fake.summary = ImportSummary(read=3, new=3, merged=2, joined=joined)
    assert "How bees decide" not in call("import", "a.bib").out
    out = call("import", "--list-merged", "a.bib").out
    assert "merged: bibtex:mine:bees is paper 7: How bees decide" in out
    assert "and 1 more merged" in out
