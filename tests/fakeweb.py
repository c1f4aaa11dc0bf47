"""A web on the loopback: real HTTP, answers set by the test, nothing outside is ever reached and nobody waits."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote

from broadsheet.net import Client


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked. ``target``: path and query as they came; ``time``: seconds with recorded sleeps."""

    host: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    method: str
    time: float
    target: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. ``delay``: seconds before it; ``drip``: seconds before each byte; ``cut``: closes after so many."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    drip: float = 0.0


Answering = Answer | Callable[[Request], Answer]


class FakeWeb:
    """Every host given to ``on``, served from one loopback port, which can also be used as a proxy for http addresses.

    A request to a known host for a path without answers gets 404 and fails the test at the end; a host that was never
    given to ``on`` cannot be reached.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.slept: list[float] = []
        self.mirrors: dict[str, str] = {}
        self.unexpected: list[str] = []
        self._answers: dict[tuple[str, str], list[Answering]] = {}
        self._lock = threading.Lock()
        self._clients: list[Client] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.web = self

    def __enter__(self) -> FakeWeb:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        for client in self._clients:
            client.close()
        self._server.shutdown()
        self._server.server_close()
        if kind is None:
            assert not self.unexpected, f"asked for what has no answers: {self.unexpected}"

    @property
    def base(self) -> str:
        """Where the server itself is, without a final slash."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def on(self, host: str, path: str, *answers: Answering) -> None:
        """Set the answers of ``host`` for ``path`` (without query), in order; the last one repeats."""
        assert answers, "give at least one answer"
        assert path.startswith("/"), f"{path!r} must begin with /"
        with self._lock:
            self._answers[host, path] = list(answers)
            self.mirrors[host] = f"{self.base}/{host}"

    def client(self, **options: Any) -> Client:
        """A client that is led here for every host given to ``on``, also later ones. Its sleeps are only recorded."""
        options = {
            "mirrors": self.mirrors,
            "spacing": {"*": 0.0, "arxiv.org": 0.0},
            "sleep": self.sleep,
            "clock": self.clock,
            "resolve": _nowhere,
            "random": Random(0),
            **options,
        }
        client = Client(**options)
        self._clients.append(client)
        return client

    def sleep(self, seconds: float) -> None:
        """Record instead of waiting."""
        with self._lock:
            self.slept.append(seconds)

    def clock(self) -> float:
        """Seconds that would have passed, had the sleeps been real."""
        return time.monotonic() + sum(self.slept)

    def answer(self, request: Request) -> Answer:
        """The next answer for a request, which is recorded."""
        with self._lock:
            self.requests.append(request)
            left = self._answers.get((request.host, request.path))
            if left is None:
                self.unexpected.append(f"{request.method} {request.host}{request.target}")
                return Answer(f"no answers for {request.path}", status=404)
            chosen = left.pop(0) if len(left) > 1 else left[0]
        return chosen if isinstance(chosen, Answer) else chosen(request)


def _nowhere(host: str, port: int) -> list[str]:
    raise OSError(f"the fake web has no host {host}; give it to on()")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    web: FakeWeb

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hung up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        # As a mirror it is asked for /HOST/PATH, as a proxy for http://HOST/PATH.
        host, _, target = self.path.removeprefix("http:/").removeprefix("/").partition("/")
        path, _, query = target.partition("?")
        request = Request(
            host=host,
            path="/" + unquote(path),
            query=parse_qs(query, keep_blank_values=True),
            headers={name.lower(): ", ".join(self.headers.get_all(name, [])) for name in self.headers},
            body=body,
            method=self.command,
            time=self.server.web.clock(),
            target="/" + target,
        )
        self._send(self.server.web.answer(request))

    def _send(self, answer: Answer) -> None:
        time.sleep(answer.delay)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 304 and not any(name.lower() == "content-length" for name in answer.headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.cut is not None:
            body, self.close_connection = body[: answer.cut], True
        for piece in [body[i : i + 1] for i in range(len(body))] if answer.drip else [body]:
            time.sleep(answer.drip)
            self.wfile.write(piece)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
