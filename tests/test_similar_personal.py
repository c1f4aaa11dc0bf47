"""Papers similar to one, in the order of a reader's memory: the desk, the library, the site and the commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from broadsheet.errors import NotFoundError
from broadsheet.index import open_vectors
from broadsheet.learn.personal import NEAR_SHARE
from broadsheet.learn.space import TextSpace
from broadsheet.library import Library
from broadsheet.model import Hit
from broadsheet.model.reading import Action
from broadsheet.search import Boosts, Searcher, Tuning, searcher
from broadsheet.web import create_app
from tests.cli_fake import caller, install
from tests.daily_library import TOPICS, of_topic, paper, take
from tests.fake_daily import OTHER_SECRET
from tests.fake_library import FakeLibrary
from tests.libraries import library_in
from tests.pages import BASE, NOW

TUNING = Tuning(0.4, 0.7, Boosts(title=0.0, authors=0.3))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Twenty papers of four topics, all of whose titles have two words in common."""
    with library_in(tmp_path_factory.mktemp("similar") / "home") as made:
        entries = [paper(n, list(TOPICS)[n % 4], 0) for n in range(20)]
        take(made, [one | {"title": f"Measured evenly: {one['title']}"} for one in entries])
        made.daily.add_reader("ada")
        yield made


@pytest.fixture
def own(library: Library) -> Iterator[Library]:
    """The same, of which nothing is remembered afterwards."""
    yield library
    library.daily.reset()


@pytest.fixture
def desk(library: Library, tmp_path: Path) -> Iterator[Searcher]:
    """A desk with vectors: paper n lies at n · 4 degrees."""
    vectors = open_vectors(tmp_path, 8, "made-up")
    numbers = np.arange(1, 21)
    angles = np.radians(4.0 * numbers)
    rows = np.zeros((20, 8), np.float32)
    rows[:, 0], rows[:, 1] = np.cos(angles), np.sin(angles)
    vectors.add(numbers, numbers.astype(np.uint64), rows)
    made = Searcher(library.store, library.index, vectors, None, TUNING)
    yield made
    made.close()


def ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.paper.id for hit in hits]


def late(papers: Sequence[int]) -> np.ndarray:
    """A reader who likes papers above 15."""
    return np.array([float(paper > 15) for paper in papers])


# --------------------------------------------------------------------------------------------------- the desk


def test_neighbours_are_in_the_order_of_nearness_and_likeness_together(desk: Searcher, library: Library) -> None:
    one = library.paper(10)
    plain, found = desk.similar(one, 19), desk.similar(one, 19, likeness=late)
    assert ids(plain)[:2] in ([9, 11], [11, 9])
    cosines = {hit.paper.id: hit.score for hit in plain}
    low, high = min(cosines.values()), max(cosines.values())
    expected = {n: (1 - NEAR_SHARE) * (c - low) / (high - low) + NEAR_SHARE * (n > 15) for n, c in cosines.items()}
    assert {hit.paper.id: hit.score for hit in found} == pytest.approx(expected, abs=1e-5)
    assert ids(found)[0] == 16
    assert {hit.paper.id: hit.parts["memory"] for hit in found} == {n: float(n > 15) for n in cosines}
    assert "memory" not in plain[0].parts


def test_only_the_nearest_change_places(desk: Searcher, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "REACH", 4)
    monkeypatch.setattr(searcher, "SPARE", 0)
    assert set(ids(desk.similar(library.paper(1), 3, likeness=late))) <= {2, 3, 4, 5}


def test_without_a_memory_the_nearest_come_first(desk: Searcher, library: Library) -> None:
    one = library.paper(10)
    assert ids(desk.similar(one, 5, likeness=lambda papers: None)) == ids(desk.similar(one, 5))


def test_words_will_do_where_there_are_no_vectors(library: Library) -> None:
    made = Searcher(library.store, library.index, None, None, TUNING)
    try:
        found = made.similar(library.paper(3), 19, likeness=late)
    finally:
        made.close()
    assert set(ids(found)[:5]) == {16, 17, 18, 19, 20}
    assert all("meaning" not in hit.parts for hit in found)


# --------------------------------------------------------------------------------------------------- the library


def near(library: Library, reader: str | None = None) -> list[str]:
    hits = library.similar(of_topic(library, "clocks")[0], 8, reader=reader)
    return [hit.paper.title.split(" in the ")[1].split(" ")[0] for hit in hits]


def test_what_a_reader_saved_counts_beside_nearness(own: Library) -> None:
    plain = near(own)
    for number in of_topic(own, "bees")[:3]:
        own.daily.act(Action.SAVE, number)
    assert near(own, "").count("bees") > plain.count("bees")
    assert near(own, "me") == near(own, "")
    assert near(own) == near(own, "ada") == plain
    with pytest.raises(NotFoundError, match="no reader 'bob'"):
        near(own, "bob")


def test_a_paper_is_read_once_for_all_pages(own: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    own.daily.act(Action.SAVE, of_topic(own, "bees")[0])
    expected = near(own, "")
    monkeypatch.setattr(TextSpace, "transform", lambda *_: pytest.fail("made again"))
    assert near(own, "") == expected


def test_a_paper_that_is_saved_does_not_speak_for_itself(own: Library) -> None:
    """The reader knows it; only what else is remembered counts."""
    bees, bread = of_topic(own, "bees"), of_topic(own, "bread")
    own.daily.act(Action.SAVE, bees[0])
    liked = own.daily.likeness(neighbours=True)([*bees, bread[0]])
    assert liked is not None
    assert liked[0] == 0 < min(liked[1:5])
    searched = own.daily.likeness()([bees[0]])
    assert searched is not None
    assert searched[0] == pytest.approx(1, abs=1e-5)
    own.daily.act(Action.SAVE, bees[1])
    liked = own.daily.likeness(neighbours=True)(bees)
    assert liked is not None
    assert 0 < liked[0] < 1


def test_openings_do_not_make_the_whole_memory_be_read_again(own: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    bees, clocks = of_topic(own, "bees"), of_topic(own, "clocks")
    own.daily.act(Action.SAVE, bees[0])
    expected = near(own, "")
    own.daily.act(Action.OPEN, clocks[1])
    with monkeypatch.context() as patch:
        patch.setattr("broadsheet.library.personal.replayed", lambda *_: pytest.fail("read out again"))
        assert near(own, "") == expected
    for number in of_topic(own, "bread")[:3]:
        own.daily.act(Action.SAVE, number)
    assert near(own, "") != expected


# --------------------------------------------------------------------------------------------------- site and commands


def clients(host: str) -> tuple[FakeLibrary, TestClient]:
    library = FakeLibrary()
    return library, TestClient(create_app(library, host=host, now=lambda: NOW), base_url=BASE, follow_redirects=False)


def test_a_papers_page_goes_by_the_readers_memory() -> None:
    library, client = clients("127.0.0.1")
    assert "what you save and like" not in client.get("/paper/1").text  # the page itself is no memory
    library.daily.reset("me")
    library.daily.act(Action.SAVE, 2, "me")
    own = client.get("/paper/1")
    assert "Near to this paper, and to what you save and like." in own.text
    assert 'href="/paper/1?sort=relevance#similar"' in own.text
    alone = client.get("/paper/1?sort=relevance")
    assert 'href="/paper/1#similar">For you' in alone.text
    assert library.near_for == [None, "me", None]
    assert client.get("/paper/1?sort=newest").status_code == 400


def test_a_papers_page_goes_by_nobodys_memory_where_nobody_is_known() -> None:
    library, client = clients("0.0.0.0")
    library.daily.act(Action.SAVE, 2, "me")
    assert "By nearness alone" not in client.get("/paper/1").text
    assert library.near_for == [None]


def test_a_program_asks_for_the_order_and_says_whose() -> None:
    library, client = clients("0.0.0.0")
    mine = {"authorization": f"Bearer {OTHER_SECRET}"}
    assert client.get("/api/papers/1/similar?sort=for-you", headers=mine).status_code == 200
    assert client.get("/api/papers/1/similar", headers=mine).status_code == 200
    assert library.near_for == ["ada", None]
    assert client.get("/api/papers/1/similar?sort=for-you").status_code == 401
    assert client.get("/api/papers/1/similar?sort=newest").status_code == 400


@pytest.mark.parametrize(
    ("arguments", "reader"),
    [
        (["--sort", "for-you"], [""]),
        (["--sort", "for-you", "--reader", "ada"], ["ada"]),
        (["--reader", "ada"], []),
        ([], []),
    ],
)
def test_the_command_names_the_reader(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reader: list[str],
) -> None:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    fake = install(monkeypatch)
    assert caller(capsys)("similar", "7", *arguments).code == 0
    asked = next(made for made in fake.calls if made[0] == "similar")
    assert list(asked[3:]) == reader
