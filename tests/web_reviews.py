"""What the tests of the pages of reviews share: a site over a library in memory, forms that are sent, decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from broadsheet.model.screening import Label, ReviewEvent, ReviewEventKind, Sharing
from broadsheet.web import create_app
from tests.fake_daily import FakeDaily
from tests.fake_library import FakeLibrary
from tests.fake_screening import FakeScreening
from tests.pages import BASE, NOW

OWN = {"origin": BASE}
RANKED = "by=ranked&unread=11&model=nb-logistic%2Ftfidf%402"
GETS = (
    *("/reviews", "/reviews/1", "/reviews/1/settings", "/reviews/1/screen/1", "/reviews/1/records"),
    *("/reviews/1/records/2", "/reviews/1/history", "/reviews/1/conflicts", "/reviews/1/agreement"),
    *("/reviews/1/prisma", "/reviews/1/export", "/reviews/1/screen?end=1"),
    *("/reviews/1/repeats", "/reviews/1/known?q=walks", "/reviews/1/screen?mode=audit"),
)


@pytest.fixture(scope="module")
def shared() -> FakeLibrary:
    """The library of the one site of these tests: making a site takes longer than most of them."""
    return FakeLibrary()


@pytest.fixture(scope="module")
def app(shared: FakeLibrary) -> FastAPI:
    return create_app(shared, now=lambda: NOW, max_upload=200_000)


@pytest.fixture
def library(shared: FakeLibrary) -> FakeLibrary:
    """The library as no test has touched it."""
    shared.daily, shared.screening = FakeDaily(shared), FakeScreening(shared)
    return shared


@pytest.fixture
def desk(library: FakeLibrary) -> FakeScreening:
    return library.screening


@pytest.fixture
def client(library: FakeLibrary, app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=BASE, follow_redirects=False) as found:
        yield found


def sent(client: TestClient, path: str, to: str | None = None, files: Any = None, **fields: Any) -> Any:
    """Send a form as a page of the site does; ``to`` is where it must lead."""
    response = client.post(path, data=fields, files=files, headers=OWN)
    if to is not None:
        assert (response.status_code, response.headers.get("location")) == (303, to), response.text[-400:]
    return response


def decide(client: TestClient, record: int, label: str, **more: Any) -> Any:
    return sent(client, "/reviews/1/decide", record=record, label=label, **more)


def decisions(desk: FakeScreening, review: int = 1) -> list[tuple[str, int, str]]:
    kinds = (ReviewEventKind.DECIDE, ReviewEventKind.RESOLVE)
    return [(e.screener, e.record, str(e.label)) for e in desk.events_[review] if e.kind in kinds]


def last(desk: FakeScreening, review: int = 1) -> ReviewEvent:
    return desk.events_[review][-1]


def blinded(desk: FakeScreening, *screeners: str) -> None:
    desk.change(1, sharing=Sharing.BLINDED, screeners=screeners or ("me", "ada"))


def by(desk: FakeScreening, screener: str, number: int, label: Label, **more: Any) -> None:
    desk.decide(1, number, label, screener, offer=desk.look(1, number, screener), **more)


FIXTURES = (shared, app, library, desk, client)
"""A module of tests takes them under these names: fixtures are found in the module that asks for them."""
