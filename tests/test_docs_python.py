"""The page for Python: its example runs, and its table names every public method."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broadsheet.library import Library
from tests.shared import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
PARTS = {"index", "searcher", "index_writer"}  # the rooms behind


def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "docs/python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("139 new papers, 0 refused\n")
    assert "Byzantine" in printed
    assert "@inproceedings{" in printed


def test_every_public_method_is_named() -> None:
    table = PAGE[PAGE.index("| method |") :]
    public = {name for name in vars(Library) if not name.startswith("_")} - PARTS
    assert public == set(re.findall(r"`(\w+)\(", table))
