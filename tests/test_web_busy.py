"""The site while another process writes to the library, and before anybody read in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from broadsheet.library import Library
from broadsheet.library.background import Background
from broadsheet.model.reading import Action
from broadsheet.store import Store
from broadsheet.store.store import open_store
from broadsheet.web import create_app
from tests.daily_library import listing, take
from tests.libraries import library_in
from tests.pages import BASE, page

WAIT = 0.3  # seconds that the store waits for another writer, in these tests


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day, in which nobody has read yet."""
    with library_in(tmp_path / "home") as found:
        take(found, listing(0))
        found.store._lock.timeout = WAIT
        yield found


@pytest.fixture
def other(library: Library) -> Iterator[Store]:
    """The store as another process has it."""
    with open_store(library.settings.database_url, timeout=WAIT) as found:
        yield found


@pytest.fixture
def client(library: Library) -> Iterator[TestClient]:
    with TestClient(create_app(library), base_url=BASE, follow_redirects=False) as found:
        yield found


def test_a_paper_is_shown_at_once_and_its_opening_noted_later(
    library: Library, other: Store, client: TestClient
) -> None:
    library.daily.reader()
    library.store._lock.timeout = 60
    with other.writing():
        before = time.monotonic()
        assert page(client, "/paper/1").text("h1")
        assert time.monotonic() - before < 60
    assert library.daily.events() == []
    page(client, "/paper/1")
    assert [event.action for event in library.daily.events()] == [Action.OPEN]


def test_papers_can_be_read_before_the_default_reader_is_there(
    library: Library, other: Store, client: TestClient
) -> None:
    with other.writing():
        for url in ("/", "/paper/1", "/search?q=river"):
            assert client.get(url).status_code == 200
    assert library.daily.readers() == []
    page(client, "/")
    assert [reader.name for reader in library.daily.readers()] == ["me"]


def test_a_server_makes_the_default_reader_before_anybody_asks(library: Library) -> None:
    Background(library)._print()
    assert [reader.name for reader in library.daily.readers()] == ["me"]
    library.daily.add_reader("ada")
    Background(library)._print()
    assert [reader.name for reader in library.daily.readers()] == ["me", "ada"]


def test_feeds_hold_what_was_printed_while_the_library_is_written_to(
    library: Library, other: Store, client: TestClient
) -> None:
    """A feed reader that comes during the morning's import is not sent away."""
    reader = library.daily.reader()
    own = f"/r/{reader.secret}"
    with other.writing():
        early = client.get(f"{own}/edition.atom")
        assert (early.status_code, early.text.count("<entry>")) == (200, 0)
    yesterday = datetime.now().astimezone() - timedelta(days=1)
    edition = library.daily.today(now=yesterday).edition
    assert edition is not None
    printed = len(edition.entries)
    take(library, listing(1))
    library.store._lock.timeout = WAIT
    with other.writing():
        assert client.get(f"{own}/edition.atom").text.count("<entry>") == printed
        assert client.get(f"{own}/section/front.atom").status_code == 200
        assert "written to" in client.get(f"{own}/edition.json").json()["note"]
