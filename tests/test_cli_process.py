"""The command as a process, and the server that it runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from broadsheet.cli.serve import address, listen
from broadsheet.errors import BroadsheetError
from tests.shared import ROOT

# --- serve


def test_a_port_in_use_is_said_with_another_to_try() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BroadsheetError, match=f"port {port} is in use.*--port {port + 1}"):
            listen("127.0.0.1", port)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(BroadsheetError, match="--host"):
        listen("192.0.2.1", 0)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_the_printed_address_can_be_opened(host: str, shown: str) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with listen(host, 0) as listener:
        assert address(listener) == f"http://{shown}:{listener.getsockname()[1]}"


# --- the program as a process


def program(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, "-m", "broadsheet", *arguments],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_help_comes_at_once() -> None:
    took = []
    for _ in range(3):
        started = time.perf_counter()
        assert program("--help").communicate()[0].startswith("Usage: broadsheet")
        took.append(time.perf_counter() - started)
    assert min(took) < 0.3
