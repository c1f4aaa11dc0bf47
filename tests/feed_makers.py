"""What the tests of feeds share."""

from __future__ import annotations

from typing import Any

from broadsheet.sources.base import Page
from broadsheet.sources.feed import Feed

URL = "https://journal.example.org/rss"
SPACES = (
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/" '
    'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
)


def rss(*items: str, head: str = "<link>https://journal.example.org/</link>", prolog: str = "") -> bytes:
    entries = "".join(f"<item>{item}</item>" for item in items)
    return f'{prolog}<rss version="2.0" {SPACES}><channel><title>J</title>{head}{entries}</channel></rss>'.encode()


def entries_of(body: bytes, kind: str = "") -> list[Any]:
    return list(Feed.of(URL).parse(Page(URL, body, "", kind=kind)))


def item(title: str, link: str = "", guid: str = "", doi: str = "") -> str:
    parts = {"title": title, "link": link, "guid": guid, "prism:doi": doi}
    return "".join(f"<{name}>{value}</{name}>" for name, value in parts.items() if value)
