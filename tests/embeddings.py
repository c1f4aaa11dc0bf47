"""An embeddings server on this machine: instant, deterministic, and out of order on demand."""

from __future__ import annotations

import json
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import numpy.typing as npt

DIMENSIONS = 16


def vector_of(model: str, text: str) -> npt.NDArray[np.float32]:
    """What the server answers for a text, of unit length: each word adds to one place, another for each model."""
    vector = np.ones(DIMENSIONS, np.float32)
    for word in text.lower().split():
        vector[zlib.crc32(f"{model}/{word}".encode()) % DIMENSIONS] += 1
    unit: npt.NDArray[np.float32] = vector / np.linalg.norm(vector)
    return unit


class EmbeddingsServer(ThreadingHTTPServer):
    """``delay`` seconds before each answer, ``down`` for errors instead, ``asked``: (model, number of texts).

    No more than ``allowed`` questions are answered; later ones are held until it is raised.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.delay = 0.0
        self.allowed = sys.maxsize
        self.down = False
        self.asked: list[tuple[str, int]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def spec(self, model: str = "m") -> str:
        """The setting ``encoder`` for a model of this server."""
        return f"openai:http://127.0.0.1:{self.server_port}/v1#{model}"


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingsServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, texts = asked["model"], asked["input"]
        self.server.asked.append((model, len(texts)))
        number = len(self.server.asked)
        time.sleep(self.server.delay)
        while number > self.server.allowed:
            time.sleep(0.01)
        self.send_response(503 if self.server.down else 200)
        self.end_headers()
        rows = [{"index": i, "embedding": vector_of(model, text).tolist()} for i, text in enumerate(texts)]
        self.wfile.write(json.dumps({"data": rows}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[EmbeddingsServer]:
    """A server for as long as the context lasts."""
    with EmbeddingsServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()
