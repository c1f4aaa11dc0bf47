"""Pages of the site as tests read them."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser

from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8765"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(HTMLParser):
    """A parsed page: elements as (tag, attributes), and the text of each."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[list[str]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        texts: list[str] = []
        if tag in {"td", "th", "li", "p", "dt", "dd", "br"}:
            self.handle_data(" ")
        self.elements.append((tag, {name: value or "" for name, value in attrs}, texts))
        if tag not in VOID:
            self._open.append(texts)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for texts in self._open:
            texts.append(data)

    def all(self, tag: str, **wanted: str) -> list[tuple[dict[str, str], str]]:
        """Attributes and text of all elements of a tag with certain attributes (``class_`` for class)."""
        names = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        return [
            (attrs, " ".join("".join(texts).split()))
            for found, attrs, texts in self.elements
            if found == tag and all(attrs.get(name) == value for name, value in names.items())
        ]

    def text(self, tag: str, **wanted: str) -> str:
        found = self.all(tag, **wanted)
        assert found, f"no <{tag}> with {wanted}"
        return found[0][1]

    def links(self) -> list[str]:
        return [attrs["href"] for attrs, _ in self.all("a") if "href" in attrs]


def page(client: TestClient, url: str, status: int = 200) -> Page:
    response = client.get(url)
    assert response.status_code == status, response.text[-600:]
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return Page(response.text)
