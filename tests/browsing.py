"""A site in a real browser, for the tests that need Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from broadsheet.web import create_app
from tests.fake_library import FakeLibrary

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data);
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return rgb("white");
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(rgb(style.color)), light(ground(node))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push([walker.currentNode.data.trim().slice(0, 30), ratio]);
  }
  return [walker.root.innerText.length, light(rgb(getComputedStyle(document.documentElement).backgroundColor)), found];
}"""
"""How long the text of a page is, how light its ground, and which texts stand out too little (WCAG AA)."""


@dataclass
class Visit:
    """A page, and what went on while it was open."""

    page: Any
    site: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Any:
        self.page.goto(self.site + path)
        return self.page


def chromium() -> str:
    """Path of a Chromium; the tests are skipped where there is none."""
    given = os.environ.get("BROADSHEET_CHROMIUM", "")
    found = given or next((path for name in NAMES if (path := shutil.which(name))), "")
    if not found or not Path(found).exists():
        pytest.skip("needs Chromium: install it, or name one in BROADSHEET_CHROMIUM")
    return found


@contextmanager
def launched() -> Iterator[Any]:
    """A browser."""
    path = chromium()
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield opened
        opened.close()


@contextmanager
def served(library: FakeLibrary) -> Iterator[str]:
    """The address at which the site of a library is served."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(library), log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listener.close()


@contextmanager
def visiting(browser: Any, site: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A page of a context of its own, with the options that a test gives for the fixture."""
    options = {"viewport": {"width": 1280, "height": 900}, **getattr(request, "param", {})}
    context = browser.new_context(**options)
    context.set_default_timeout(60_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    found = Visit(context.new_page(), site)
    found.page.on("request", lambda sent: found.requests.append(sent.url))
    found.page.on("console", lambda said: found.complaints.append(said.text) if said.type == "error" else None)
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    yield found
    context.close()
