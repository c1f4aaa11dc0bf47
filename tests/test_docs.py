"""The reference pages agree with the code, and the README's commands work on the sample."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from broadsheet.cli import command
from broadsheet.cli.reference import BEGIN, END, PAGES, renew, renewed
from broadsheet.settings import setting_names
from tests.page_commands import run_commands
from tests.shared import ROOT

README = (ROOT / "README.md").read_text("utf-8")
WRITTEN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

BLOCK = re.compile(r"^```(?:console|sh)\n(.+?)^```", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_generated_parts_are_as_the_code_says(name: str) -> None:
    assert page(name) == renewed(page(name), PAGES[name]()), "run `make docs`"


def test_renewing_keeps_what_is_written_by_hand(tmp_path: Path) -> None:
    for name in PAGES:
        (tmp_path / name).write_text(f"by hand\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    renew(tmp_path)
    for name, make in PAGES.items():
        assert (tmp_path / name).read_text("utf-8") == f"by hand\n{BEGIN}\n\n{make()}\n{END}\nafter\n"
    with pytest.raises(ValueError, match="lacks"):
        renewed("no marks", "x")


def test_every_command_and_option_is_documented() -> None:
    text = page("cli.md")
    within = {
        f"{name} {inner}": found
        for name, group in command.commands.items()
        if isinstance(group, click.Group)
        for inner, found in group.commands.items()
    }
    for name, described in {**command.commands, **within}.items():
        section = text.partition(f"## broadsheet {name}\n")[2].partition("\n## ")[0]
        assert section, f"{name} has no section"
        for parameter in described.params:
            if isinstance(parameter, click.Option):
                assert all(option in section for option in [*parameter.opts, *parameter.secondary_opts])


def test_every_setting_is_documented() -> None:
    text = page("settings.md")
    for name in setting_names():
        assert f"| `{name}` |" in text
        assert f"| `BROADSHEET_{name.upper()}` |" in text


def commands_in(text: str) -> list[str]:
    """Every line that calls `broadsheet` in the code blocks of a page."""
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    return [line for line in lines if line.startswith("broadsheet ")]


@pytest.mark.parametrize(
    ("where", "line"), [(path.name, line) for path in WRITTEN for line in commands_in(path.read_text("utf-8"))]
)
def test_every_command_that_a_page_shows_exists(where: str, line: str) -> None:
    name, *arguments = shlex.split(line)[1:]
    found = command.commands[name]
    # Parsing alone: nothing is run. A wrong name or option raises.
    found.make_context(name, list(arguments)).close()
    if isinstance(found, click.Group):
        while arguments and arguments[0].startswith("-"):
            arguments.pop(0)  # options of groups are flags
        if arguments:
            found.commands[arguments[0]].make_context(arguments[0], arguments[1:]).close()


def test_every_link_between_pages_leads_somewhere() -> None:
    dead = []
    for path in WRITTEN:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            if not (path.parent / target).exists():
                dead.append(f"{path.name}: {target}")
    assert dead == []


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in links."""
    named = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in named}


def test_every_link_within_a_page_leads_somewhere() -> None:
    dead = []
    for path in WRITTEN:
        text = path.read_text("utf-8")
        dead += [f"{path.name}: #{name}" for name in re.findall(r"\]\(#([^)]+)\)", text) if name not in anchors(text)]
    assert dead == []


def test_pages_name_no_machine_path() -> None:
    named = re.compile(r"(?<![\w.])/(?:root|work|tmp|home/\w+|Users/\w+)/")
    assert [path.name for path in WRITTEN if named.search(path.read_text("utf-8"))] == []


def test_commands_of_the_readme_work_on_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run_commands(README, tmp_path, monkeypatch, capsys)
    assert next(iter(said)) == "broadsheet import --sample"
    assert len(said) >= 8
    assert [line for line, printed in said.items() if not printed and "export" not in line] == []
    assert (tmp_path / "papers.bib").read_text("utf-8").count("\n@") == 138


def test_the_readme_says_how_many_papers_the_sample_has() -> None:
    lines = (ROOT / "src" / "broadsheet" / "data" / "sample.jsonl").read_text("utf-8").splitlines()
    assert f"a sample of {len(lines)} papers" in README
