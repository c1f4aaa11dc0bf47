"""Two processes print for one reader."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import BusyError
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


def test_who_does_not_wait_prints_when_the_other_writer_is_done(tmp_path: Path) -> None:
    """As a server does, so that it can end at once; the editions there are stay readable meanwhile."""
    with library_in(tmp_path / "home") as library, library_in(tmp_path / "home") as other:
        take(library, listing(0), "first")
        first = library.daily.today(now=morning(0)).edition
        take(library, listing(1), "second")
        with other.store.writing():
            begun = time.monotonic()
            with pytest.raises(BusyError):
                library.daily.today(now=morning(1), wait=0)
            assert time.monotonic() - begun < library.store._lock.timeout
            assert library.daily.newest(printing=False) == first
        assert library.daily.today(now=morning(1), wait=0).is_new
