"""A PostgreSQL server of the tests' own, where its programs are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

PATIENCE = 60  # seconds for a server to start

# Who holds the pipe keeps the server alive: it ends with the tests, however these end.
_KEEPER = '"$@" >>log 2>&1 & server=$!; read -r _; kill -QUIT $server 2>/dev/null; wait $server'


def programs() -> Path | None:
    """The folder with PostgreSQL's programs, newest version first; Debian has them outside of the path."""
    found = shutil.which("initdb")
    if found and sys.platform == "linux":
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    return versions[-1].parent if versions else None


class Server:
    """A server that listens on a socket in a folder of its own, and nowhere else."""

    def __init__(self, folder: Path) -> None:
        found = programs()
        assert found is not None
        self.folder = folder
        self._programs = found
        told = subprocess.run([found / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
        self.version = int(re.findall(r"\d+", told)[0])
        self._keeper: subprocess.Popen[bytes] | None = None
        self._run("initdb", "--no-sync", "-D", "data", "-A", "trust", "-U", "me", "-E", "UTF8", "--locale=C.UTF-8")

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://me@/{database}?host={self.folder}"

    def start(self) -> None:
        fast = ("fsync=off", "full_page_writes=off", "autovacuum=off")
        options = [word for option in ("listen_addresses=", *fast) for word in ("-c", option)]
        command = [self._programs / "postgres", "-D", "data", "-k", self.folder, *options]
        self._keeper = subprocess.Popen(
            ["sh", "-c", _KEEPER, "sh", *command], stdin=subprocess.PIPE, start_new_session=True, **self._as_user()
        )
        engine = create_engine(self.url("postgres"))
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                engine.connect().close()
                break
            except OperationalError:
                if time.monotonic() > deadline or self._keeper.poll() is not None:
                    raise
                time.sleep(0.02)
        engine.dispose()

    def stop(self) -> None:
        """End it at once, as kill -9 would; what was committed is kept."""
        if self._keeper is not None:
            self._stdin().close()
            self._keeper.wait()
            self._keeper = None

    def execute(self, statement: str, database: str = "postgres") -> None:
        """As administrator, and not in a transaction."""
        self._answer(statement, database)

    def ask(self, question: str) -> object:
        """The first value of the answer."""
        return self._answer(question, "postgres")

    def _answer(self, statement: str, database: str) -> object:
        engine = create_engine(self.url(database), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            result = connection.exec_driver_sql(statement)
            value = result.scalar() if result.returns_rows else None
        engine.dispose()
        return value

    def create(self, database: str, options: str = "") -> str:
        """Make a database; its address."""
        self.execute(f"CREATE DATABASE {database} {options}")
        return self.url(database)

    def _stdin(self) -> IO[bytes]:
        assert self._keeper is not None
        assert self._keeper.stdin is not None
        return self._keeper.stdin

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._programs / program, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **self._as_user())

    def _as_user(self) -> dict[str, object]:
        """PostgreSQL refuses to run as root."""
        other = {"user": "nobody", "group": "nogroup", "extra_groups": ()} if os.geteuid() == 0 else {}
        return {"cwd": self.folder, **other}


@contextmanager
def serving() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() == 0:
            shutil.chown(name, "nobody")
        server = Server(Path(name))
        server.start()
        try:
            yield server
        finally:
            server.stop()
