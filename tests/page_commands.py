"""The commands of a page that stand under ``<!-- run -->``, run as a reader would run them."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli_fake import caller

_RUN = re.compile(r"^<!-- run -->\n```console\n(.+?)^```", re.MULTILINE | re.DOTALL)


def run_commands(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, str]:
    """Runs them one after the other in ``folder``, on a library that is new; gives what each printed.

    All in this process: to start one for each takes longer than what they do.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BROADSHEET_HOME", str(folder / "library"))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    call, said = caller(capsys), {}
    for line in (line for block in _RUN.findall(page) for line in block.splitlines()):
        before, piped, asked = line.rpartition(" | ")
        given = shlex.split(before)[1].replace(r"\n", "\n") if piped else ""  # of printf
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8"))
        program, *arguments = shlex.split(asked)
        assert program == "broadsheet", line
        done = call(*arguments)
        assert done.code == 0, f"{line}\n{done.err}"
        said[asked] = done.out
    return said
