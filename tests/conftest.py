"""Fixtures that several rooms' tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broadsheet.encode import Encoder, open_encoder
from tests.embeddings import EmbeddingsServer, serving
from tests.fakeweb import FakeWeb
from tests.shared import ROOT


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of whoever runs the tests do not reach them, and no test finds that person's library."""
    import os

    for name in list(os.environ):
        if name.startswith("BROADSHEET_") and name != "BROADSHEET_SHARED":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """Converted encoders, made once and kept between runs."""
    return ROOT / ".cache" / "models"


@pytest.fixture(scope="session")
def e5(models_dir: Path) -> Iterator[Encoder]:
    """The default encoder."""
    yield open_encoder("e5-small", models_dir)


@pytest.fixture
def embeddings() -> Iterator[EmbeddingsServer]:
    """An embeddings server for ``encoder = "openai:…"``."""
    with serving() as server:
        yield server


@pytest.fixture
def fakeweb() -> Iterator[FakeWeb]:
    """A web on the loopback, with a client that is led there."""
    with FakeWeb() as web:
        yield web
