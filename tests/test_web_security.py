"""What the site refuses: other hosts, other sites' forms and scripts, and what papers' texts may not do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from broadsheet.model import Identifier, Link, LinkKind, Paper, Scheme
from broadsheet.web import create_app, views
from broadsheet.web.security import allowed_names, host_name
from tests.fake_library import FakeLibrary
from tests.pages import BASE, NOW, Page, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("127.0.0.1:8765", "127.0.0.1"),
        ("LOCALHOST", "localhost"),
        ("localhost.:80", "localhost"),
        ("[::1]:8765", "::1"),
        ("[::1]", "::1"),
        ("[::1", ""),
        ("a:b:c", ""),
        ("127.0.0.1:80@evil", ""),
        ("", ""),
    ],
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("host", "extra", "header", "answered"),
    [
        ("127.0.0.1", (), "127.0.0.1:8765", True),
        ("127.0.0.1", (), "localhost:8765", True),
        ("127.0.0.1", (), "[::1]:8765", True),
        ("127.0.0.1", (), "attacker.example", False),
        ("127.0.0.1", (), "127.0.0.1.attacker.example", False),
        ("127.0.0.1", (), "", False),
        ("127.0.0.1", ("papers.example.org",), "papers.example.org", True),
        ("192.168.1.5", (), "192.168.1.5:8765", True),
        ("192.168.1.5", (), "attacker.example", False),
        ("Desk.local", (), "desk.local:80", True),
        ("0.0.0.0", (), "anything.example", True),
        ("::", (), "anything.example", True),
        ("0.0.0.0", ("papers.example.org",), "attacker.example", False),
        ("127.0.0.1", ("*",), "anything.example", True),
    ],
)
def test_who_may_ask_under_which_name(host: str, extra: tuple[str, ...], header: str, answered: bool) -> None:
    names = allowed_names(host, extra)
    assert (names is None or host_name(header) in names) is answered


def test_a_page_that_rebinds_its_name_gets_nothing(client: TestClient, library: FakeLibrary) -> None:
    response = client.get("/search?q=noise", headers={"host": "attacker.example"})
    assert response.status_code == 400
    assert library.calls == []
    assert "127.0.0.1" in response.text
    assert client.get("/api/status", headers={"host": "attacker.example"}).json()["error"]["code"] == "wrong_host"


PATHS = [
    *(
        "/",
        "/newest",
        "/search?q=noise",
        "/search",
        "/search?q=zzzz",
        "/search?q=x&page=abc",
        "/paper/1",
        "/paper/2",
        "/paper/3",
    ),
    *(
        "/paper/4",
        "/paper/5",
        "/paper/6",
        "/paper/7",
        "/paper/9",
        "/paper/11",
        "/paper/13",
        "/day/2026-06-12",
        "/day/1999-01-01",
        "/status",
    ),
    *("/api", "/nope", "/paper/nope", "/sources", "/edition/2026-06-11", "/edition/2026-06-02", "/editions"),
    *("/week/2026-06-12", "/month/2026-06-01", "/saved", "/interests"),
]


@pytest.mark.parametrize(
    "path",
    [
        *PATHS,
        "/paper/1.ris",
        "/search.csv?q=noise",
        "/search.csv",
        "/api/status",
        "/api/nope",
        "/opensearch.xml",
        "/robots.txt",
        "/favicon.svg",
    ],
)
def test_every_answer_has_the_security_headers_and_no_cookie(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["font-src"] == policy["form-action"] == "'self'"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert re.fullmatch("[0-9a-f]{8}", headers["x-request-id"])
    assert "set-cookie" not in headers


@pytest.mark.parametrize("path", PATHS)
def test_pages_hold_no_inline_script_or_style_and_load_nothing_from_elsewhere(client: TestClient, path: str) -> None:
    parsed = Page(client.get(path).text)
    for tag, attrs, _ in parsed.elements:
        assert tag not in {"style", "iframe", "object", "embed", "svg", "base"}
        assert "style" not in attrs, tag
        assert not [name for name in attrs if name.startswith("on")], tag
        assert not attrs.get("href", "").lower().startswith(("javascript:", "data:"))
        loaded = attrs.get("src") or (attrs.get("href") if tag == "link" else None)
        if loaded is not None:
            assert re.match("/(?!/)", loaded)
        if tag == "script":
            assert attrs["src"].startswith("/static/")


@pytest.mark.parametrize("path", PATHS)
def test_pages_have_one_heading_a_title_a_language_and_closed_elements(client: TestClient, path: str) -> None:
    source = client.get(path).text
    parsed = Page(source)
    assert parsed.all("html")[0][0]["lang"] == "en"
    assert parsed.text("title")
    assert len(parsed.all("h1")) == 1
    ids = [attrs["id"] for _, attrs, _ in parsed.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag in ("div", "section", "article", "details", "ul", "li", "p", "a", "span", "nav"):
        assert len(re.findall(rf"<{tag}[\s>]", source)) == source.count(f"</{tag}>"), tag


def test_hostile_titles_and_authors_are_inert(client: TestClient) -> None:
    for path in ("/", "/search?q=attention", "/paper/4", "/day/2026-06-12"):
        source = client.get(path).text
        assert "<script>alert" not in source
        assert "<svg onload" not in source
    assert page(client, "/paper/4").text("h1") == "<script>alert(1)</script> Attention"


def test_a_link_is_not_shown_twice() -> None:
    def shown(*links: Link) -> list[str]:
        paper = Paper(1, "x", identifiers=(Identifier(Scheme.ARXIV, "2605.01001"),), links=links)
        return [link.url for link in views.shown_links(paper)]

    pdf = "https://arxiv.org/pdf/2605.01001"
    page_, other = Link(LinkKind.PAGE, "https://arxiv.org/abs/2605.01001v2"), Link(LinkKind.PAGE, "https://icml.cc/1")
    assert shown(page_, other, Link(LinkKind.PDF, pdf + "v1")) == [pdf, "https://icml.cc/1"]
    assert shown(Link(LinkKind.PAGE, "https://arxiv.org/abs/2605.01002")) == [pdf, "https://arxiv.org/abs/2605.01002"]
    assert shown(Link(LinkKind.CODE, "http://["), Link(LinkKind.CODE, "data:text/html,x")) == [pdf]


def test_links_of_other_kinds_than_the_web_are_left_out(client: TestClient) -> None:
    links = page(client, "/paper/7").links()
    assert "https://example.org/a_b%20c.pdf?a=1&b=2" in links
    assert not [link for link in links if "javascript" in link]
