"""Fixtures that several rooms' tests share."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from broadsheet.encode import Encoder, open_encoder
from tests.embeddings import EmbeddingsServer, serving
from tests.fakeweb import FakeWeb
from tests.shared import ROOT

# The same examples each time, and no limit on time: a change passes or fails by what it does, not by a draw or by what
# else the machine is at. Fresh examples, as many as there is patience for: pytest -m hypothesis
# --hypothesis-profile=fresh --hypothesis-seed=N
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fresh", settings.get_profile("steady"), derandomize=False)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of whoever runs the tests do not reach them, and no test finds that person's library."""
    import os

    for name in list(os.environ):
        if name.startswith("BROADSHEET_") and name != "BROADSHEET_SHARED":
            monkeypatch.delenv(name)


@pytest.fixture
def at_once() -> Iterator[None]:
    """Fails a test that takes long, by its processor time: other work on the machine does not count."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < 20


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
