"""Where the real test data lie: outside the project, read in place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_root() -> Path:
    """The folder of shared real data (``BROADSHEET_SHARED``, else ``../shared`` beside the project)."""
    return Path(os.environ.get("BROADSHEET_SHARED", ROOT.parent / "shared"))


def shared(*parts: str) -> Path:
    """A file of the shared data; the test is skipped where it is not at hand."""
    path = shared_root().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared data not at hand: {'/'.join(parts)}")
    return path
