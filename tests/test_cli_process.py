"""The command as a process, and the server that it runs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest

from broadsheet.cli import run
from broadsheet.cli.serve import address, listen
from broadsheet.encode import Encoder
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


def program(home: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """The command in a process group of its own, as a terminal starts it."""
    whole = {
        **{name: value for name, value in os.environ.items() if not name.startswith("BROADSHEET_")},
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONUTF8": "1",
        "BROADSHEET_HOME": str(home),
        "BROADSHEET_ENCODER": "none",
        **environment,
    }
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell's background jobs ignore Ctrl-C, and so would what they start; the tests may run in one.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [sys.executable, "-m", "broadsheet", *arguments],
        env=whole,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finished(home: Path, *arguments: str) -> tuple[int, str, str]:
    running = program(home, *arguments)
    out, err = running.communicate(timeout=60)
    return running.returncode, out, err


Inside = Callable[..., tuple[int, str, str]]


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    """The same as ``finished`` without the cost of a process."""

    def call(home: Path, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("BROADSHEET_HOME", str(home))
        monkeypatch.setenv("BROADSHEET_ENCODER", "none")
        capsys.readouterr()
        code = run(arguments)
        return code, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library, in a folder that needs quoting, with the sample."""
    home = tmp_path_factory.mktemp("home") / "论文 & papers"
    code, out, err = finished(home, "import", "--sample")
    assert (code, err) == (0, "")
    assert out.split()[:2] == ["read", "139"]
    return home


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the time of child processes")
def test_help_comes_at_once(tmp_path: Path) -> None:
    """Processor time, which other work on the machine hardly changes; the best of three."""

    def seconds() -> float:
        before = os.times()
        assert finished(tmp_path, "--help")[1].startswith("Usage: broadsheet")
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert 0 < min(seconds() for _ in range(3)) < 0.3


def test_the_same_again_changes_nothing(inside: Inside, library: Path) -> None:
    code, out, _ = inside(library, "import", "--sample", "--json")
    counts = json.loads(out)
    assert code == 0
    assert (counts["new"], counts["updated"], counts["merged"]) == (0, 0, 0)
    assert json.loads(inside(library, "status", "--json")[1])["papers"] == 139


@pytest.mark.parametrize(
    "key", ["2506.18020", "arXiv:2506.18020v3", "https://arxiv.org/pdf/2506.18020", "10.48550/arXiv.2506.18020"]
)
def test_one_paper_by_any_form_of_its_identifier(inside: Inside, library: Path, key: str) -> None:
    code, out, _ = inside(library, "show", key, "--json")
    assert code == 0
    assert json.loads(out)["title"].startswith("Tight Stability Bounds for Robust Distributed Learning")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "999999"], "there is no paper 999999"),
        (["show", "9" * 5000], "there is no paper"),
        (["show", "0000.00000"], "0000.00000"),
        (["show", ""], "there is no paper"),
        (["split", "999999"], "999999"),
        (["merge", "1", "nothing"], "nothing"),
        (["import", "no such file.jsonl"], "no such file.jsonl"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_1(
    inside: Inside, library: Path, arguments: list[str], words: str
) -> None:
    code, _, err = inside(library, *arguments)
    assert code == 1
    assert words in err
    assert err.startswith("broadsheet: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["search", "x"], ["status"], ["export"], ["doctor"], ["show", "1"]])
def test_a_reading_command_makes_no_library(inside: Inside, tmp_path: Path, arguments: list[str]) -> None:
    code, _, err = inside(tmp_path / "none", *arguments)
    assert code == 1
    assert str(tmp_path / "none") in err
    assert not (tmp_path / "none").exists()


def test_a_damaged_database_is_one_line(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "broadsheet.db").write_bytes(b"this is no database" * 1000)
    code, _, err = inside(tmp_path, "search", "x")
    assert code == 1
    assert "broadsheet.db" in err
    assert "Traceback" not in err


def test_a_damaged_index_is_rebuilt_by_doctor(inside: Inside, tmp_path: Path) -> None:
    assert inside(tmp_path, "import", "--sample")[0] == 0
    for file in (tmp_path / "index" / "text").iterdir():
        if file.is_file() and file.suffix != ".lock":
            file.write_bytes(b"damaged")
    code, _, err = inside(tmp_path, "search", "robust")
    assert code == 1
    assert "doctor --rebuild-index" in err
    assert "Traceback" not in err
    code, out, err = inside(tmp_path, "doctor", "--rebuild-index")
    assert (code, err) == (0, "")
    assert "FAILED" not in out
    assert inside(tmp_path, "search", "robust")[0] == 0


def test_a_reader_that_leaves_early_is_no_fault(library: Path) -> None:
    running = program(library, "export")
    assert running.stdout is not None
    assert running.stdout.readline()
    running.stdout.close()
    assert running.stderr is not None
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait(timeout=60) == 1


MANY = 8000


def many(file: Path, count: int) -> None:
    """Papers enough for an import to be stopped on its way."""
    with file.open("w", encoding="utf-8") as stream:
        for n in range(count):
            entry = {"id": f"p{n}", "title": f"A study of subject {n} and its kind", "abstract": f"About {n}. " * 30}
            stream.write(json.dumps(entry) + "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_an_import_stopped_by_ctrl_c_goes_on_where_it_was(tmp_path: Path) -> None:
    many(tmp_path / "many.jsonl", MANY)
    running = program(tmp_path / "home", "import", str(tmp_path / "many.jsonl"))
    # Looked at in the file itself: a program that asks takes so long to start that the import may be over.
    wait_for(lambda: papers_stored(tmp_path / "home") > 0)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err.splitlines()[-1] == "Stopped. What was read is kept; the same command goes on from there."
    kept = papers_in(tmp_path / "home")
    assert 0 < kept < MANY
    code, out, _ = finished(tmp_path / "home", "import", str(tmp_path / "many.jsonl"), "--json")
    assert code == 0
    assert json.loads(out)["read"] == MANY - kept
    assert papers_in(tmp_path / "home") == MANY


def papers_stored(home: Path) -> int:
    """Papers by a look into the database file."""
    try:
        with closing(sqlite3.connect(f"file:{home / 'broadsheet.db'}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM papers").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0


def papers_in(home: Path) -> int:
    code, out, _ = finished(home, "status", "--json")
    return int(json.loads(out)["papers"]) if code == 0 else 0


def wait_for(happened: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


# --- the server


@pytest.fixture
def server(library: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running `broadsheet serve`, and its address."""
    running = program(library, "serve", "--port", "0")
    assert running.stdout is not None
    line = running.stdout.readline()
    match = re.fullmatch(r"Broadsheet is at (http://127\.0\.0\.1:\d+) \(Ctrl-C stops it\)\n", line)
    assert match, line
    yield running, match[1]
    if running.poll() is None:
        running.kill()
    running.communicate(timeout=60)


def test_the_site_and_the_api_answer(server: tuple[subprocess.Popen[str], str]) -> None:
    with urlopen(server[1] + "/", timeout=60) as page:
        assert "Broadsheet" in page.read().decode()
    with urlopen(server[1] + "/api/status", timeout=60) as answer:
        assert json.load(answer)["papers"] == 139


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signals to one process")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_server_stops_in_order(server: tuple[subprocess.Popen[str], str], name: str) -> None:
    running, url = server
    with urlopen(url + "/api/status", timeout=60):
        pass
    running.send_signal(getattr(signal, name))
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0
    assert out.endswith("Stopped.\n")
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups of this kind")
def test_ctrl_c_while_workers_encode_shows_no_traceback(tmp_path: Path, models_dir: Path, e5: Encoder) -> None:
    """A terminal sends Ctrl-C to every process of the group, workers too; only the command itself may act on it."""
    many(tmp_path / "many.jsonl", 3000)
    assert finished(tmp_path, "import", str(tmp_path / "many.jsonl"))[0] == 0
    running = program(tmp_path, "encode", BROADSHEET_ENCODER="e5-small", BROADSHEET_MODELS=str(models_dir))
    assert running.stderr is not None
    line = running.stderr.readline()
    while line.startswith("encode: 0 "):  # on a busy machine said before the workers are at it
        line = running.stderr.readline()
    assert re.match("encode: [1-9]", line)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err.strip() == "Stopped. The vectors made so far are kept; the same command goes on from there."


def test_a_second_server_on_the_same_port_is_one_line(library: Path, server: tuple[subprocess.Popen[str], str]) -> None:
    port = server[1].rpartition(":")[2]
    code, _, err = finished(library, "serve", "--port", port)
    assert code == 1
    assert err.startswith(f"broadsheet: port {port} is in use")
    assert err.count("\n") == 1
