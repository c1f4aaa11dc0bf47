"""Two processes print for one reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broadsheet.library.press import Press
from broadsheet.model.reading import Edition
from tests.daily_library import day, listing, morning, take
from tests.libraries import library_in


def test_nothing_is_shown_twice_where_another_process_prints_around_midnight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would print an edition of its own date from the same papers."""
    with library_in(tmp_path / "home") as library, library_in(tmp_path / "home") as other:
        take(library, listing(0), "first")
        library.daily.today(now=morning(0))
        take(library, listing(1), "second")
        composed = Press._composed

        def slow(press: Press, *rest: Any) -> Edition:
            monkeypatch.setattr(Press, "_composed", composed)
            assert other.daily.today(now=morning(1, hour=23)).is_new
            return composed(press, *rest)

        monkeypatch.setattr(Press, "_composed", slow)
        found = library.daily.today(now=morning(2, hour=0))
        assert found.edition == library.daily.edition(day(1))
        assert not found.is_new
        assert library.daily.edition_days() == [day(1), day(0)]
