"""The page for Python: its examples run, and its tables name every public method."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broadsheet.library import Library
from broadsheet.library.daily import Daily
from broadsheet.library.screening import Screening
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
PARTS = {"index", "searcher", "index_writer", "desk"}  # the rooms behind
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    for example in EXAMPLES:
        exec(compile(example, "docs/python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("139 new papers, 0 refused\n")
    assert "Byzantine" in printed
    assert "@inproceedings{" in printed


@pytest.mark.parametrize(
    ("described", "head"),
    [(Library, "| method |"), (Daily, "Of `library.daily`:"), (Screening, "Of `library.screening`:")],
)
def test_every_public_method_is_named(described: type, head: str) -> None:
    table = PAGE[PAGE.index(head) :].partition("\n\nOf `")[0].partition("\n\n`encode`")[0]
    public = {name for kind in described.__mro__[:-1] for name in vars(kind) if not name.startswith("_")} - PARTS
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {*re.findall(r"`(\w+)\(", table), *(name for cell in cells for name in re.findall(r"`(\w+)`", cell))}
    assert public == named
