"""What the tests of a reader's pages share: sites at home and in public, forms that are sent, what was done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from broadsheet.web import create_app
from tests.fake_library import FakeLibrary
from tests.pages import BASE, NOW

PUBLIC = "http://papers.example.org"
OWN = {"origin": BASE}


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


@pytest.fixture
def public(library: FakeLibrary) -> Iterator[TestClient]:
    app = create_app(library, host="0.0.0.0", now=lambda: NOW)
    with TestClient(app, base_url=PUBLIC, follow_redirects=False) as found:
        yield found


def sent(client: TestClient, path: str, to: str | None = None, **fields: Any) -> Any:
    """Send a form as a page of the site does; ``to`` is where it must lead."""
    response = client.post(path, data=fields, headers={"origin": str(client.base_url).rstrip("/")})
    if to is not None:
        assert (response.status_code, response.headers.get("location")) == (303, to), response.text[-400:]
    return response


def done(library: FakeLibrary) -> list[tuple[str, str, int]]:
    return [(event.reader, event.action.value, event.paper) for event in library.daily.events_]


def ours(caplog: pytest.LogCaptureFixture) -> str:
    """What was logged here, and not by the client of these tests."""
    kept = [record for record in caplog.records if record.name.startswith(("broadsheet", "uvicorn", "starlette"))]
    return "\n".join(f"{record.getMessage()} {record.exc_text or ''}" for record in kept)


FIXTURES = (library, client, public)
