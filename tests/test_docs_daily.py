"""The page about the daily paper says what the code does."""

from __future__ import annotations

import re

import pytest

from broadsheet.cli import command
from broadsheet.cli.daily import MARKS
from broadsheet.feed.compose import TITLES
from broadsheet.feed.window import FIRST_DAYS, FIRST_PAPERS
from broadsheet.model.reading import DEFAULT_RISK, InterestKind, SectionKind
from broadsheet.settings import setting_names
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "daily.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("kind", list(SectionKind))
def test_every_section_is_explained(kind: SectionKind) -> None:
    keys = {"area": "`area-cs.LG`", "search": "`search-1`"}
    row = next(row for row in ROWS if len(row) == 3 and row[1] == keys.get(kind, f"`{kind}`"))
    assert row[0] == TITLES.get(kind, row[0])
    assert row[2]


def test_every_kind_of_interest_is_explained() -> None:
    explained = [row[0].strip("`") for row in ROWS if len(row) == 2]
    assert set(InterestKind) <= set(explained)


@pytest.mark.parametrize("action", MARKS)
def test_every_action_is_explained(action: str) -> None:
    assert any(f"`broadsheet mark {action} 12`" in row for row in ROWS)


def test_the_figures_are_those_of_the_code() -> None:
    assert (FIRST_PAPERS, FIRST_DAYS) == (50, 7)
    assert "fifty papers to choose from, but no more than seven days" in " ".join(PAGE.split())
    assert f"{DEFAULT_RISK:.0%}".replace("%", " % at first") in " ".join(PAGE.split())


def test_every_command_of_the_daily_paper_is_named() -> None:
    named = set(re.findall(r"`?broadsheet (\w+)", PAGE))
    wanted = {
        "today",
        "mark",
        "undo",
        "saved",
        "start",
        "follow",
        "mute",
        "unmute",
        "searches",
        "memory",
        "readers",
        "send",
    }
    assert wanted <= named
    assert named - {"serve"} <= set(command.commands)


def test_every_setting_of_an_edition_is_named() -> None:
    sizes = {name for name in setting_names() if name.endswith("_size") and name != "page_size"} | {
        "sections",
        "reader",
    }
    assert [name for name in sorted(sizes) if f"`{name}`" not in PAGE] == []
