"""Search results in the order of a reader's memory: the read-out, the desk, the library, the site and the commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from starlette.testclient import TestClient

from broadsheet.errors import InputError, NotFoundError
from broadsheet.learn.personal import REACH, SHARE, blended, likeness, taste
from broadsheet.learn.space import TextSpace
from broadsheet.library import Library
from broadsheet.model import Results
from broadsheet.model.reading import Action
from broadsheet.search import Boosts, Searcher, Tuning, searcher
from broadsheet.web import create_app, params
from tests.cli_fake import caller, install
from tests.daily_library import TOPICS, day, morning, of_topic, paper, take
from tests.fake_daily import OTHER_SECRET
from tests.fake_library import FakeLibrary
from tests.libraries import library_in
from tests.pages import BASE, NOW

TUNING = Tuning(0.4, 0.7, Boosts(title=0.0, authors=0.3))
FLOATS = st.floats(-1, 1, allow_nan=False, width=32)
TRACES = st.floats(0, 1, width=32)
HUNDREDTHS = st.integers(0, 100).map(lambda n: n / 100)


# --------------------------------------------------------------------------------------------------- the read-out


def test_the_taste_is_the_direction_of_the_weighted_mean() -> None:
    remembered = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert taste(remembered, np.array([3.0, 4.0, 0.0])).tolist() == pytest.approx([0.6, 0.8])
    vectors = np.array([[0.6, 0.8], [-0.8, 0.6], [-1.0, 0.0], [0.0, 0.0]])
    assert likeness(vectors, taste(remembered, np.array([3.0, 4.0, 0.0]))).tolist() == pytest.approx([1, 0, 0, 0])


@pytest.mark.parametrize("remembered", [np.zeros((0, 3)), np.zeros((2, 3)), np.array([[1.0, 0, 0], [-1.0, 0, 0]])])
def test_nothing_to_go_by_is_no_taste(remembered: np.ndarray) -> None:
    found = taste(remembered, np.ones(len(remembered)))
    assert found.tolist() == [0, 0, 0]
    assert likeness(np.eye(3), found).tolist() == [0, 0, 0]


@given(arrays(np.float32, (5, 4), elements=FLOATS), arrays(np.float32, (6, 4), elements=FLOATS),
       arrays(np.float32, 5, elements=TRACES), st.floats(0.1, 10))  # fmt: skip
def test_likeness_is_a_cosine_and_does_not_depend_on_how_much_is_remembered(
    remembered: np.ndarray, vectors: np.ndarray, traces: np.ndarray, times: float
) -> None:
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    found = likeness(vectors, taste(remembered, traces))
    assert ((found >= 0) & (found <= 1)).all()
    mean = sum(float(trace) * row.astype(float) for trace, row in zip(traces, remembered, strict=True))
    length = np.linalg.norm(mean)
    if length > 1e-6:
        expected = [max(0.0, float(np.dot(row.astype(float), mean)) / length) for row in vectors]
        assert found.tolist() == pytest.approx(expected, abs=1e-5)
        assert likeness(vectors, taste(remembered, traces * times)).tolist() == pytest.approx(found.tolist(), abs=1e-4)


@given(arrays(np.float64, 6, elements=HUNDREDTHS), arrays(np.float64, 6, elements=st.floats(0, 1)))
def test_the_blend_stays_in_range_and_keeps_the_order_where_all_are_liked_alike(
    relevance: np.ndarray, liked: np.ndarray
) -> None:
    found = blended(relevance, liked)
    assert ((found >= 0) & (found <= 1)).all()
    alike = blended(relevance, np.full(6, liked[0]))
    assert np.argsort(-alike, kind="stable").tolist() == np.argsort(-relevance, kind="stable").tolist()
    assert blended(relevance, liked, 0.0).tolist() == pytest.approx(relevance.tolist())


def test_the_share_is_one_and_the_reach_is_a_number_of_papers() -> None:
    assert 0 < SHARE < 1
    assert blended(np.array([1.0, 0.0]), np.array([0.0, 1.0])).tolist() == pytest.approx([1 - SHARE, SHARE])
    assert REACH >= 50


# --------------------------------------------------------------------------------------------------- the desk


def measured(number: int, topic: str, n: int = 0) -> dict[str, Any]:
    """A paper that the word *measured* finds; the more often the higher the number."""
    found = paper(number, topic, n)
    return found | {"abstract": found["abstract"] + " Measured." * (1 + number % 5)}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Forty papers of four topics, all of which the word *measured* finds."""
    with library_in(tmp_path_factory.mktemp("personal") / "home") as made:
        take(made, [measured(n, list(TOPICS)[n % 4], n % 3) for n in range(40)])
        yield made


@pytest.fixture(scope="module")
def desk(library: Library) -> Iterator[Searcher]:
    made = Searcher(library.store, library.index, None, None, TUNING)
    yield made
    made.close()


def ids(results: Results) -> list[int]:
    return [hit.paper.id for hit in results.hits]


def ask(desk: Searcher, text: str = "measured", **options: Any) -> Results:
    return desk.search(text, today=day(9), **{"page_size": 50, **options})


def even(papers: Sequence[int]) -> np.ndarray:
    """A reader who likes papers with even numbers."""
    return np.array([1.0 - paper % 2 for paper in papers])


def test_results_are_in_the_order_of_relevance_and_likeness_together(desk: Searcher) -> None:
    plain, found = ask(desk), ask(desk, sort="for-you", likeness=even)
    assert (found.sort, found.total, found.matching) == ("for-you", plain.total, plain.matching) == ("for-you", 40, 40)
    scores = {hit.paper.id: (1 - SHARE) * hit.score + SHARE * (1 - hit.paper.id % 2) for hit in plain.hits}
    assert {hit.paper.id: hit.score for hit in found.hits} == pytest.approx(scores)
    assert ids(found) == sorted(ids(plain), key=lambda paper: -scores[paper])  # sorted keeps the order of equals
    assert ids(found) != ids(plain)
    assert {hit.paper.id: hit.parts["memory"] for hit in found.hits} == {n: 1.0 - n % 2 for n in scores}
    assert all("memory" not in hit.parts for hit in plain.hits)
    assert "memory" in found.timings


def test_only_the_first_change_places(desk: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "REACH", 7)
    asked: list[Sequence[int]] = []

    def liked(papers: Sequence[int]) -> np.ndarray:
        asked.append(papers)
        return even(papers)

    plain, found = ask(desk), ask(desk, sort="for-you", likeness=liked)
    assert asked == [ids(plain)[:7]]
    assert ids(found)[7:] == ids(plain)[7:]
    assert sorted(ids(found)[:7]) == sorted(ids(plain)[:7])
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert any("The first 7 papers" in note for note in found.notes)


@pytest.mark.parametrize("text", ["measured", "year:2026", "ti:rivers", "cat:cs.LG OR cat:cs.RO"])
@pytest.mark.parametrize("reach", [1, 7, 12, 200])
def test_pages_follow_one_another(desk: Searcher, monkeypatch: pytest.MonkeyPatch, text: str, reach: int) -> None:
    monkeypatch.setattr(searcher, "REACH", reach)
    whole = ask(desk, text, sort="for-you", likeness=even)
    assert whole.total >= 10
    pages = [ask(desk, text, sort="for-you", likeness=even, page_size=5, page=n + 1) for n in range(whole.total // 5)]
    assert [paper for page in pages for paper in ids(page)] == ids(whole)[: len(pages) * 5]
    assert sorted(ids(whole)) == sorted(ids(ask(desk, text)))
    past = ask(desk, text, sort="for-you", likeness=even, page_size=5, page=99)
    assert ids(past) == ids(whole)[(past.page - 1) * 5 :]


def test_without_words_the_newest_are_ordered_by_likeness_alone(desk: Searcher) -> None:
    plain, found = ids(ask(desk, "year:2026")), ids(ask(desk, "year:2026", sort="for-you", likeness=even))
    assert found == [n for n in plain if n % 2 == 0] + [n for n in plain if n % 2]


def test_a_paper_named_by_its_title_stays_first(desk: Searcher) -> None:
    last = ask(desk).hits[-1].paper
    found = ask(
        desk, last.title, sort="for-you", likeness=lambda papers: np.array([n != last.id for n in papers], float)
    )
    assert ids(found)[0] == last.id
    named = ask(desk, str(last.identifiers[0]), sort="for-you", likeness=even)
    assert ids(named) == [last.id]


def test_without_a_memory_the_best_come_first(desk: Searcher) -> None:
    found = ask(desk, sort="for-you", likeness=lambda papers: None)
    assert ids(found) == ids(ask(desk))
    assert any("Nothing is remembered" in note for note in found.notes)
    assert ids(ask(desk, sort="for-you", likeness=lambda papers: np.zeros(len(papers)))) == ids(found)


def test_nothing_found_asks_no_memory(desk: Searcher) -> None:
    def never(papers: Sequence[int]) -> np.ndarray:
        raise AssertionError("asked")

    assert ask(desk, "xylophone", sort="for-you", likeness=never).total == 0
    assert ask(desk, likeness=never).total == 40  # another order does not look at it


def test_the_order_needs_somebody(desk: Searcher) -> None:
    with pytest.raises(InputError, match="for-you needs to know for whom"):
        ask(desk, sort="for-you")


# --------------------------------------------------------------------------------------------------- the library


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Library]:
    """A library of its own for a test that changes it; there is a second reader, ada."""
    with library_in(tmp_path / "home") as made:
        take(made, [measured(n, list(TOPICS)[n % 4]) for n in range(40)])
        made.daily.add_reader("ada")
        yield made


def topics(library: Library, count: int, **options: Any) -> list[str]:
    """Topics of the first results."""
    hits = library.search("measured", **options).hits[:count]
    return [hit.paper.title.split(" in the ")[1].split(" ")[0] for hit in hits]


def test_what_a_reader_saved_comes_first(own: Library) -> None:
    plain = topics(own, 20)
    for number in of_topic(own, "bees")[:2]:
        own.daily.act(Action.SAVE, number)
    assert topics(own, 6, sort="for-you", reader="") == ["bees"] * 6 != plain[:6]
    assert topics(own, 6, sort="for-you", reader="me") == ["bees"] * 6
    assert topics(own, 20) == plain
    assert topics(own, 20, reader="me") == plain  # a reader alone changes nothing
    assert topics(own, 20, sort="for-you", reader="ada") == plain


def test_every_event_counts_at_once(own: Library) -> None:
    bees, bread = of_topic(own, "bees"), of_topic(own, "bread")
    plain = topics(own, 20)
    event = own.daily.act(Action.SAVE, bees[0])
    assert topics(own, 5, sort="for-you", reader="") == ["bees"] * 5
    own.daily.undo(event=event.id)
    found = own.search("measured", sort="for-you", reader="")
    assert any("Nothing is remembered" in note for note in found.notes)
    assert topics(own, 20, sort="for-you", reader="") == plain
    own.daily.act(Action.LIKE, bread[0])
    assert topics(own, 5, sort="for-you", reader="") == ["bread"] * 5
    own.daily.reset()
    assert topics(own, 20, sort="for-you", reader="") == plain


def test_what_was_dismissed_is_no_taste(own: Library) -> None:
    plain = topics(own, 20)
    own.daily.act(Action.DISMISS, of_topic(own, "bees")[0])
    assert not own.daily.remembers()
    assert topics(own, 20, sort="for-you", reader="") == plain
    own.daily.act(Action.OPEN, of_topic(own, "clocks")[0])
    assert own.daily.remembers()
    assert topics(own, 4, sort="for-you", reader="") == ["clocks"] * 4
    assert not own.daily.remembers("ada")


def test_never_for_nobody_and_never_for_a_stranger(own: Library) -> None:
    own.daily.act(Action.SAVE, 1)
    with pytest.raises(InputError, match="name a reader"):
        own.search("measured", sort="for-you")
    with pytest.raises(NotFoundError, match="no reader 'bob'"):
        own.search("measured", sort="for-you", reader="bob")


def test_nothing_is_written_and_a_library_for_reading_will_do(own: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    own.daily.act(Action.SAVE, of_topic(own, "bees")[0])
    own.daily.today(now=morning(0))
    before = (own.daily.events(), own.daily.edition_days(), own.store.last_seq())
    expected = topics(own, 20, sort="for-you", reader="")
    assert (own.daily.events(), own.daily.edition_days(), own.store.last_seq()) == before
    home = own.settings.home
    own.close()
    monkeypatch.setattr(TextSpace, "fit", lambda *_: pytest.fail("the space that is kept will do, whatever its day"))
    with library_in(home, read_only=True) as again:
        assert topics(again, 20, sort="for-you", reader="") == expected


def test_a_damaged_space_is_made_again(own: Library) -> None:
    own.daily.act(Action.SAVE, of_topic(own, "bees")[0])
    path = own.settings.index_dir / "daily" / "space.npz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"nothing of the kind")
    assert topics(own, 5, sort="for-you", reader="") == ["bees"] * 5


def test_a_taste_is_read_out_once(own: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in of_topic(own, "bees")[:5]:
        own.daily.act(Action.SAVE, number)
    expected = topics(own, 20, sort="for-you", reader="")
    monkeypatch.setattr("broadsheet.library.personal.replayed", lambda *_: pytest.fail("read out again"))
    assert topics(own, 20, sort="for-you", reader="") == expected


# --------------------------------------------------------------------------------------------------- site and commands


def clients(host: str) -> tuple[FakeLibrary, TestClient]:
    library = FakeLibrary()
    return library, TestClient(create_app(library, host=host, now=lambda: NOW), base_url=BASE, follow_redirects=False)


def test_all_rooms_know_the_same_orders() -> None:
    assert params.SORTS == searcher.SORTS
    assert params.FOR_YOU == searcher.FOR_YOU


def test_the_order_is_offered_to_those_with_a_memory() -> None:
    library, client = clients("127.0.0.1")
    assert "for-you" not in client.get("/search?q=noise").text
    library.daily.act(Action.DISMISS, 3, "me")
    assert "for-you" not in client.get("/search?q=noise").text
    library.daily.act(Action.SAVE, 2, "me")
    offered = client.get("/search?q=noise&venue=ICML")
    assert 'href="/search?q=noise&amp;venue=ICML&amp;sort=for-you"' in offered.text
    assert library.ordered_for is None
    chosen = client.get("/search?q=noise&sort=for-you")
    assert library.ordered_for == "me"
    assert 'sort=for-you" aria-current="true">For you</a>' in chosen.text
    assert chosen.headers["cache-control"].startswith("private")


def test_a_page_of_it_says_what_the_memory_adds() -> None:
    library, client = clients("127.0.0.1")
    library.parts = {"words": 0.8, "memory": 0.25}
    assert "your memory .25" in client.get("/search?q=noise&sort=for-you").text
    library.parts = {"words": 0.8}
    assert "your memory" not in client.get("/search?q=noise&sort=for-you").text


def test_nobody_gets_no_order_of_anybodys() -> None:
    library, client = clients("0.0.0.0")
    library.daily.act(Action.SAVE, 2, "me")
    assert "for-you" not in client.get("/search?q=noise").text
    library.calls.clear()
    refused = client.get("/search?q=noise&sort=for-you")
    assert (refused.status_code, "does not know who is reading" in refused.text) == (403, True)
    asked = client.get("/api/search?q=noise&sort=for-you")
    assert (asked.status_code, asked.json()["error"]["code"]) == (401, "no_reader")
    wrong = client.get("/api/search?q=noise&sort=for-you", headers={"authorization": "Bearer nonsense"})
    assert wrong.status_code == 401
    assert "search" not in library.calls
    assert client.get("/api/search?q=noise").status_code == 200


def test_a_program_says_whose_order_by_the_secret() -> None:
    library, client = clients("0.0.0.0")
    answer = client.get("/api/search?q=noise&sort=for-you", headers={"authorization": f"Bearer {OTHER_SECRET}"})
    assert (answer.status_code, answer.json()["sort"], library.ordered_for) == (200, "for-you", "ada")
    client.get("/api/search?q=noise", headers={"authorization": f"Bearer {OTHER_SECRET}"})
    assert library.ordered_for is None


@pytest.mark.parametrize(
    ("arguments", "reader"),
    [
        (["--sort", "for-you"], ""),
        (["--sort", "for-you", "--reader", "ada"], "ada"),
        (["--reader", "ada"], None),
        (["--sort", "newest"], None),
    ],
)
def test_the_command_names_the_reader(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reader: str | None,
) -> None:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "home"))
    fake = install(monkeypatch)
    assert caller(capsys)("search", "noise", *arguments).code == 0
    asked = next(made for made in fake.calls if made[0] == "search")
    assert asked[2]["reader"] == reader
