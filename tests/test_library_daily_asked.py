"""What a reader asks for, against the library: how much of it is meant, and what is refused; and quiet days."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broadsheet.errors import InputError
from broadsheet.feed.quiet import NOTHING_NEAR
from broadsheet.library import Library
from broadsheet.model.reading import Interest, InterestKind
from tests.daily_library import listing, morning, of_topic, paper, take
from tests.libraries import library_in, word

K = InterestKind


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path) as made:
        take(made, listing(0, 60))
        yield made


def test_it_is_told_how_many_papers_an_interest_means(library: Library) -> None:
    def meant(kind: InterestKind, value: str) -> list[str]:
        return library.daily.meant(Interest(kind, value))

    assert meant(K.AUTHOR, "Nobody Known") == ["No paper so far."]
    assert meant(K.AUTHOR, f"{word(2).title()}, Ana") == ["1 paper of this library."]
    assert meant(K.AUTHOR, f"A. {word(2).title()}") == ["1 paper of this library."], "a name has many spellings"
    assert meant(K.AREA, "CS.lg") == ["15 papers of this library."]
    assert meant(K.AREA, "cs.XX") == ["No paper so far.", "arXiv has no category cs.XX."]
    assert meant(K.KEYWORD, word(7)) == ["1 paper of this library."]
    assert meant(K.KEYWORD, "with") == [
        "60 papers of this library.",
        "That is 100% of them: a word that so many papers have tells few apart.",
    ]
    assert meant(K.VENUE, "ICML") == ["No paper so far."]


def test_what_asks_nothing_is_refused_and_changes_nothing(library: Library) -> None:
    daily = library.daily
    for call in (daily.follow, daily.mute):
        with pytest.raises(InputError, match="nearly every paper"):
            call(Interest(K.KEYWORD, "the"))
    with pytest.raises(InputError, match="nothing after author"):
        daily.save_search("author:(")
    profile = daily.reader().profile
    assert (profile.follows, profile.mutes, profile.searches) == ((), (), ())


def test_a_weekend_of_papers_that_are_not_near_says_so(library: Library) -> None:
    library.daily.examples(of_topic(library, "bees")[:6])
    library.daily.today(now=morning(0))
    take(library, [paper(900 + n, "bread", 5) for n in range(3)], "saturday")
    saturday = library.daily.today(now=morning(5)).edition
    assert saturday is not None
    assert (saturday.considered, saturday.basis) == (3, "memory")
    assert saturday.notes[0] == NOTHING_NEAR
    take(library, [paper(950, "bees", 6), paper(951, "bread", 6)], "sunday")
    sunday = library.daily.today(now=morning(6)).edition
    assert sunday is not None
    assert NOTHING_NEAR not in sunday.notes
