"""The text index: what matches, in which order, how it is counted, and what it says when it cannot."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import BroadsheetError, BusyError, IndexDamagedError
from broadsheet.index import (
    SUBAREA_SEPARATOR,
    All,
    DayIs,
    Either,
    Everything,
    Exclude,
    Facet,
    Filtered,
    HasCode,
    IdIs,
    Match,
    TextQuery,
    YearIs,
    match_phrase,
    match_words,
    open_text_index,
)
from broadsheet.index.tantivy_schema import initials
from broadsheet.index.tantivy_text import FORMAT_FILE, TantivyIndex
from broadsheet.model import Area, IndexDocument

BODY = {"body": 1.0}
WORDS = {"title": 2.0, "abstract": 1.0, "topics": 0.5}
AUTHORS = {"authors": 1.0}


def paper(id: int, title: str = "", abstract: str = "", **fields: Any) -> IndexDocument:
    values: dict[str, Any] = {
        "authors": (), "areas": (), "keywords": (), "venue": "", "year": None, "day": None, "has_code": False,
        "identifiers": (),
    }  # fmt: skip
    return IndexDocument(id=id, title=title, abstract=abstract, **(values | fields))


def index_of(folder: Path, papers: Iterable[IndexDocument]) -> TantivyIndex:
    index = open_text_index(folder)
    index.apply(list(papers), [], seq=1)
    return index


def found(index: TantivyIndex, query: TextQuery) -> set[int]:
    hits = index.search(query, limit=1000)
    assert hits.total == len(hits.ids) == len(set(hits.ids))
    return set(hits.ids)


# Words and exact forms


TITLES = {
    1: "A C++ compiler for tensor programs",
    2: "The C language, forty years on",
    3: "What GPT-4 knows about chemistry",
    4: "YOLOv8 on the edge",
    5: "You only look once: YOLO revisited",
    6: "Pretraining without labels",
    7: "On the pre-training of speech models",
    8: "Non-invasive imaging of the brain",
    9: "A noninvasive probe",
    10: "Schrödinger bridges",
    11: "Scaling α-divergence bounds",
    12: "AT&T's speech corpus",
    13: "步2 重跑gen-itgc后50条悬空引用清零",
    14: "The foo-bar protocol",
    15: "something_2020-07-13_words in a log",
    16: "Multi-agent debate",
    17: "Retrieval-augmented generation for LLMs",
    18: "Programming in C# and F#",
    19: "图神经网络综述",
}


@pytest.fixture(scope="module")
def titles(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    return index_of(tmp_path_factory.mktemp("titles"), [paper(i, title) for i, title in TITLES.items()])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("C++", {1}),
        ("c#", {18}),
        ("GPT-4", {3}),
        ("gpt4", {3}),
        ("YOLO", {4, 5}),
        ("YOLOv8", {4}),
        ("pretraining", {6, 7}),
        ("pre-training", {6, 7}),
        ("pre training", {6, 7}),
        ("non-invasive", {8, 9}),
        ("non invasive", {8, 9}),
        ("noninvasive", {8, 9}),
        ("Schrodinger", {10}),
        ("Schro\u0308dinger", {10}),
        ("ＳＣＨＲÖＤＩＮＧＥＲ", {10}),
        ("alpha", {11}),
        ("α", {11}),
        ("AT&T", {12}),
        ("悬空", {13}),
        ("itgc", {13}),
        ("引用清零", {13}),
        ("悬零", set()),
        ("神经网络", {19}),
        ("foo-bar", {14}),
        ("bar", {14}),
        ("something_2020-07-13_words", {15}),
        ("multi-agent", {16}),
        ("agents", {16}),
        ("a'b", set()),
        ("ti:foo", {14}),
        ("NEAR(", set()),
        ('"', set()),
        ("*", set()),
        ("", set()),
        ("   ", set()),
        ("a OR", {1, 9, 15}),
        ("C++ (a:b", {1}),
        ("zzzznothing", set()),
    ],
)
def test_words_of_any_kind_find_what_they_mean(titles: TantivyIndex, text: str, ids: set[int]) -> None:
    assert found(titles, match_words(text, BODY)) == ids


@pytest.mark.parametrize(
    ("text", "first"), [("GPT-4", 3), ("AT&T", 12), ("multi-agent", 16), ("something_2020-07-13_words", 15), ("C++", 1)]
)
def test_the_exact_form_comes_first(titles: TantivyIndex, text: str, first: int) -> None:
    assert titles.search(match_words(text, BODY), limit=1).ids == (first,)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("C++", {1}),
        ("c++ compiler", {1}),
        ("compiler C++", set()),
        ("pre-training", {6, 7}),
        ("speech models", {7}),
        ("models speech", set()),
        ("look once", {5}),
        ("GPT-4", {3}),
        ("gpt4", {3}),
        ("YOLOv8", {4}),
        ("YOLO", {5}),
        ("AT&T", {12}),
        ("noninvasive", {9}),
        ("悬空引用", {13}),
        ("悬引", set()),
        ("the edge", {4}),
        ("", set()),
    ],
)
def test_phrases(titles: TantivyIndex, text: str, ids: set[int]) -> None:
    assert found(titles, match_phrase(text, BODY)) == ids


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=40), mode=st.sampled_from(["any", "all", "phrase"]))
def test_no_text_is_an_error(titles: TantivyIndex, text: str, mode: Any) -> None:
    fields = {"title": 2.0, "body": 1.0, "authors": 1.0, "forms": 1.0}
    for query in (Match(text, fields, mode), match_words(text, WORDS), match_phrase(text, WORDS)):
        assert titles.search(query, limit=3).total <= len(TITLES)


@settings(max_examples=60, deadline=None)
@given(text=st.sampled_from(sorted(TITLES.values())), data=st.data())
def test_a_paper_is_found_by_any_of_its_words(titles: TantivyIndex, text: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from([w for w in text.split() if len(w) > 2]))
    owner = next(i for i, title in TITLES.items() if title == text)
    assert owner in found(titles, match_words(word, BODY))


def test_english_is_stemmed_and_names_are_not(tmp_path: Path) -> None:
    papers = [paper(1, "Running networks", authors=("Ann Banks",)), paper(2, "A bank", authors=("Bo Bank",))]
    index = index_of(tmp_path, papers)
    assert found(index, Match("network run", BODY, "all")) == {1}
    assert found(index, Match("banks", AUTHORS)) == {1}


def test_stop_words_count_only_alone_or_in_phrases(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "The theory"), paper(2, "The practice"), paper(3, "theory the other way")])
    assert found(index, Match("the theory", BODY)) == {1, 3}
    assert found(index, Match("of the theory", BODY, "all")) == {1, 3}
    assert found(index, Match("the", BODY)) == {1, 2, 3}
    assert found(index, Match("the theory", BODY, "phrase")) == {1}


def test_all_takes_each_word_from_any_field(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "Graphs", "about learning"), paper(2, "Graphs", "about cooking")])
    assert found(index, Match("graphs learning", WORDS, "all")) == {1}


def test_phrases_do_not_run_over_from_one_value_to_the_next(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, keywords=("deep learning", "theory of games"))])
    assert found(index, Match("deep learning", {"topics": 1.0}, "phrase")) == {1}
    assert found(index, Match("learning theory", {"topics": 1.0}, "phrase")) == set()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Antonio Araujo", {1}),
        ("António Araújo", {1}),
        ("de Bruyn Kops, S M", {2, 3}),
        ("bruyn kops", {2, 3}),
        ("William III, J", {4}),
        ("X SJ", {5}),
        ("Lukasz", {6}),
        ("苏子昊", {7}),
    ],
)
def test_authors(tmp_path: Path, name: str, wanted: set[int]) -> None:
    names = {
        1: "António Araújo", 2: "Stephen M. de Bruyn Kops", 3: "S. M. de Bruyn Kops", 4: "James William III",
        5: "S. J. X", 6: "Łukasz Nowak", 7: "苏子昊",
    }  # fmt: skip
    index = index_of(tmp_path, [paper(i, authors=("Other Person", name)) for i, name in names.items()])
    assert found(index, Match(name, AUTHORS, "all")) == wanted


def test_an_accented_name_together_with_a_word(tmp_path: Path) -> None:
    papers = [paper(1, "Xenon detectors", authors=("Ana Díaz",)), paper(2, "Xenon", authors=("Bo Li",))]
    index = index_of(tmp_path, papers)
    assert found(index, All((Match("Diaz", AUTHORS), Match("xenon", BODY)))) == {1}


@pytest.mark.parametrize(
    ("author", "expected"),
    [("Stephen M. Kops", "S M SM"), ("Kops, S. J.", "S J SJ"), ("Bo Li", "B"), ("苏子昊", ""), ("", ""), (", ", "")],
)
def test_initials(author: str, expected: str) -> None:
    assert initials(author) == expected


# Order


def test_scores_add_up_over_fields(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "graph", "graph"), paper(2, "graph", "nothing")])
    fields = {"title": 1.0, "abstract": 1.0}
    total = index.search(Match("graph", fields), limit=2)
    parts = [index.search(Match("graph", {name: boost}), limit=2) for name, boost in fields.items()]
    assert (total.ids, total.scores[0]) == ((1, 2), pytest.approx(sum(part.scores[0] for part in parts), abs=3e-4))


def test_boosts_multiply_and_filters_add_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(i, "graph " * i, venue="v", year=2020) for i in (1, 2, 3)])
    plain = index.search(Match("graph", BODY), limit=3)
    thrice = index.search(Match("graph", {name: 3 * boost for name, boost in BODY.items()}), limit=3)
    assert thrice.scores == pytest.approx([3 * score for score in plain.scores], abs=3e-4)
    for query in (
        Filtered(Match("graph", BODY), All((Facet("venue", "v"), YearIs(2020, 2020), Match("graph", BODY)))),
        All((Match("graph", BODY), Facet("venue", "V"), YearIs(None, 2021), Exclude(Match("tree", BODY)))),
        Either((Match("graph", BODY), Everything())),
    ):
        assert index.search(query, limit=3) == plain


def test_equal_scores_come_by_id_and_pages_never_repeat(tmp_path: Path) -> None:
    index = open_text_index(tmp_path)
    for start in (400, 200, 300, 0, 100):  # several segments, ids out of order
        index.apply([paper(i, "the same words") for i in range(start + 100, start, -1)], [], seq=start)
    pages = [index.search(Match("words", BODY), limit=30, offset=offset) for offset in range(0, 510, 30)]
    assert [i for page in pages for i in page.ids] == list(range(1, 501))
    assert {page.total for page in pages} == {500}


@pytest.mark.parametrize("sort", ["relevance", "newest", "oldest"])
def test_pages_past_the_end_are_empty(titles: TantivyIndex, sort: Any) -> None:
    for query in (Match("the", BODY), Everything()):
        total = titles.search(query, limit=10, sort=sort).total
        for offset in (total, total + 1, 10**9, 10**18):
            assert titles.search(query, limit=10, offset=offset, sort=sort) == type(titles.search(query, limit=1))(
                (), (), total
            )
        assert titles.search(query, limit=0, sort=sort).ids == ()
        assert len(titles.search(query, limit=10**18, offset=-5, sort=sort).ids) == total


def test_sort_by_day_then_id_undated_last(tmp_path: Path) -> None:
    days = {
        1: date(2024, 5, 1), 2: None, 3: date(2025, 1, 1), 4: date(2024, 5, 1), 5: date(1931, 1, 1), 6: None,
        7: date.max, 8: date.min,
    }  # fmt: skip
    index = index_of(tmp_path, [paper(i, "x word", day=day) for i, day in days.items()])
    assert index.search(Match("word", BODY), limit=9, sort="newest").ids == (7, 3, 4, 1, 5, 8, 6, 2)
    assert index.search(Match("word", BODY), limit=9, sort="oldest").ids == (8, 5, 1, 4, 3, 7, 2, 6)
    assert index.search(Everything(), limit=9, sort="newest").ids == (7, 3, 4, 1, 5, 8, 6, 2)
    assert found(index, DayIs(date(2024, 5, 1), date(2024, 5, 1))) == {1, 4}
    assert found(index, DayIs(None, date(2000, 1, 1))) == {5, 8}
    assert found(index, DayIs()) == {1, 3, 4, 5, 7, 8}


# Filters and counts


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    theory, vision = Area("Theory", "Learning Theory"), Area("Vision")
    names = ("arxiv:2401.12345",)
    return index_of(tmp_path_factory.mktemp("shelf"), [
        paper(1, "a graph", areas=(theory, vision), venue="ICML", year=2023, has_code=True, identifiers=names),
        paper(2, "a graph", areas=(theory, Area("Theory", "Games")), venue="NeurIPS", year=2024),
        paper(3, "a tree", areas=(vision, Area("cs.LG")), venue="ICML", year=2024, identifiers=("doi:10.1/AB<c>",)),
        paper(4, "a tree"),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (Everything(), {1, 2, 3, 4}),
        (All(()), {1, 2, 3, 4}),
        (Either(()), set()),
        (Facet("area", "theory"), {1, 2}),
        (Facet("subarea", f"Theory{SUBAREA_SEPARATOR}Games"), {2}),
        (Facet("category", "CS.lg"), {3}),
        (Facet("category", "learning theory"), {1, 2}),
        (Facet("venue", "icml"), {1, 3}),
        (Facet("venue", ""), set()),
        (Facet("identifier", "arxiv:2401.12345"), {1}),
        (Facet("identifier", "doi:10.1/ab<c>"), {3}),
        (Facet("code", "no"), {2, 3, 4}),
        (HasCode(), {1}),
        (YearIs(2024, 2024), {2, 3}),
        (YearIs(None, 2023), {1}),
        (YearIs(), {1, 2, 3}),
        (YearIs(2025, 2020), set()),
        (IdIs((3, 1, 77)), {1, 3}),
        (IdIs(()), set()),
        (Exclude(Facet("venue", "icml")), {2, 4}),
        (Exclude(Exclude(HasCode())), {1}),
        (Either((Exclude(YearIs()), HasCode())), {1, 4}),
        (All((Exclude(HasCode()), Exclude(YearIs(2024)))), {4}),
        (All((Match("graph", BODY), Exclude(HasCode()))), {2}),
        (Exclude(Everything()), set()),
    ],
)
def test_filters(shelf: TantivyIndex, query: TextQuery, ids: set[int]) -> None:
    assert found(shelf, query) == ids
    assert list(shelf.ids(query)) == sorted(ids)
    assert list(shelf.ids(query, 1)) == sorted(ids)[:1]
    assert list(shelf.ids(query, 0)) == []


def test_facets_count_each_paper_once_a_value_and_never_the_marker(shelf: TantivyIndex) -> None:
    assert shelf.facets(Everything()) == {
        "area": {"Theory": 2, "Vision": 2, "cs.LG": 1},
        "subarea": {f"Theory{SUBAREA_SEPARATOR}Learning Theory": 2, f"Theory{SUBAREA_SEPARATOR}Games": 1},
        "venue": {"ICML": 2, "NeurIPS": 1},
        "year": {"2024": 2, "2023": 1},
        "code": {"no": 3, "yes": 1},
    }
    assert shelf.facets(Match("graph", BODY), extra_ids=[2, 3])["venue"] == {"ICML": 2, "NeurIPS": 1}
    assert shelf.facets(Match("nothing", BODY))["year"] == {}
    assert shelf.count() == 4


def test_unknown_fields_are_named(shelf: TantivyIndex) -> None:
    with pytest.raises(BroadsheetError, match="unknown text field 'titel'; use one of title"):
        shelf.search(Match("x", {"titel": 1.0}), limit=1)
    with pytest.raises(BroadsheetError, match="unknown facet 'year'; use one of area"):
        shelf.ids(Facet("year", "2024"))


# A model: any sequence of writes leaves what a dictionary would hold

WRITES = st.lists(
    st.tuples(
        st.dictionaries(st.integers(1, 8), st.sampled_from(["red", "blue", "green"]), max_size=4),
        st.sets(st.integers(1, 8), max_size=3),
        st.booleans(),
    ),
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@given(writes=WRITES)
def test_any_writes_leave_what_a_dictionary_would_hold(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[Mapping[int, str], set[int], bool]]
) -> None:
    folder, model = tmp_path_factory.mktemp("model"), {}
    index = open_text_index(folder, heap_bytes=15_000_000)
    for seq, (upserts, deletes, again) in enumerate(writes, 1):
        index.apply([paper(i, colour) for i, colour in upserts.items()], sorted(deletes), seq=seq)
        model = {i: colour for i, colour in model.items() if i not in deletes} | dict(upserts)
        if again:
            index.close()
            index = open_text_index(folder, heap_bytes=15_000_000)
        assert index.applied_seq() == seq
    assert index.count() == len(model)
    for colour in ("red", "blue", "green"):
        assert list(index.ids(Match(colour, BODY))) == sorted(i for i, c in model.items() if c == colour)
    index.close()


def test_the_last_of_equal_ids_in_a_batch_wins(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red"), paper(1, "blue")])
    assert index.count() == 1 and found(index, Match("blue", BODY)) == {1}


# Commits, processes, damage


def test_nothing_is_seen_before_the_commit(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red")])
    index.add([paper(2, "red")], [1])
    assert found(index, Match("red", BODY)) == {1}
    index.commit(5)
    assert found(index, Match("red", BODY)) == {2} and index.applied_seq() == 5


def test_clear_is_seen_with_the_commit_only(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red"), paper(2, "red")])
    index.clear()
    index.add([paper(3, "red")])
    assert found(index, Match("red", BODY)) == {1, 2}
    index.commit(9)
    assert found(index, Everything()) == {3} and index.applied_seq() == 9


def test_closing_drops_what_was_not_committed(tmp_path: Path) -> None:
    index = index_of(tmp_path, [paper(1, "red")])
    index.add([paper(2, "red")])
    index.close()
    index.close()
    index.apply([paper(3, "red")], [], seq=2)
    assert found(index, Match("red", BODY)) == {1, 3}


def test_a_reader_sees_another_ones_commits(tmp_path: Path) -> None:
    writer = index_of(tmp_path, [paper(1, "red")])
    reader = open_text_index(tmp_path)
    assert list(reader.ids(Match("red", BODY))) == [1]
    writer.apply([paper(2, "red")], [], seq=2)
    assert list(reader.ids(Match("red", BODY))) == [1, 2] and reader.applied_seq() == 2
    writer.optimise()
    assert found(reader, Everything()) == {1, 2}


def test_a_second_writer_is_told_and_the_lock_is_given_up(tmp_path: Path) -> None:
    first, second = open_text_index(tmp_path), open_text_index(tmp_path)
    first.apply([paper(1, "red")], [], seq=1)
    with pytest.raises(BusyError, match="another process is writing"):
        second.apply([paper(2, "red")], [], seq=2)
    first.close()
    second.apply([paper(2, "red")], [], seq=2)
    assert first.count() == 2


def test_a_new_or_missing_folder_is_empty(tmp_path: Path) -> None:
    index = open_text_index(tmp_path / "a" / "b")
    assert (index.applied_seq(), index.count()) == (0, 0)
    assert index.search(Everything(), limit=5).ids == () and index.facets(Everything())["area"] == {}
    assert len(index.ids(Everything())) == 0


def test_many_threads_search_while_one_writes(tmp_path: Path) -> None:
    index, failures = index_of(tmp_path, [paper(1, "red")]), []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                hits = index.search(Match("red", BODY), limit=100)
                assert list(hits.ids) == list(range(1, len(hits.ids) + 1)) and len(index.ids(Everything())) >= len(
                    hits.ids
                )
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(2, 12):
        index.apply([paper(i, "red")], [], seq=i)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures and index.count() == 11


def _foreign(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def _other_tantivy(folder: Path) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("x")
    tantivy.Index(builder.build(), path=str(folder))


def _older_format(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    (folder / FORMAT_FILE).write_text("0\n")


def _other_schema(folder: Path) -> None:
    (folder / FORMAT_FILE).write_text("1\n")
    _other_tantivy(folder)


def _bad_meta(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    (folder / "meta.json").write_text('{"segments": [')


def _segment_gone(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    for path in folder.glob("*.fast"):
        path.unlink()


def _segment_cut(folder: Path) -> None:
    index_of(folder, [paper(1, "red")]).close()
    for path in folder.glob("*.idx"):
        path.write_bytes(path.read_bytes()[:-30])


def _file(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("a file")


@pytest.mark.parametrize(
    "damage",
    [_foreign, _other_tantivy, _older_format, _other_schema, _bad_meta, _segment_gone, _segment_cut, _file],
)
def test_what_cannot_be_opened_is_said_with_the_remedy(tmp_path: Path, damage: Any) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    damage(folder)
    with pytest.raises(IndexDamagedError, match=r"index.*doctor --rebuild-index"):
        open_text_index(folder)


def test_a_creation_that_was_cut_off_is_taken_up(tmp_path: Path) -> None:
    (tmp_path / FORMAT_FILE).write_text("1\n")
    assert index_of(tmp_path, [paper(1, "red")]).count() == 1


@pytest.mark.parametrize("name", [".tantivy-meta.lock", ".tantivy-writer.lock"])
def test_a_lock_file_alone_is_an_empty_folder(tmp_path: Path, name: str) -> None:
    """A thread of an index that was open makes one in the folder that is being removed."""
    (tmp_path / name).touch()
    assert index_of(tmp_path, [paper(1, "red")]).count() == 1


def test_an_index_that_is_removed_while_a_thread_of_it_wakes_is_made_again(tmp_path: Path) -> None:
    folder, over = tmp_path / "index", threading.Event()
    index_of(folder, [paper(1, "red")]).close()

    def wake() -> None:
        while not over.is_set():
            with suppress(OSError):
                (folder / ".tantivy-meta.lock").touch()

    thread = threading.Thread(target=wake)
    thread.start()
    try:
        for _ in range(200):
            shutil.rmtree(folder, ignore_errors=True)
            assert open_text_index(folder).count() == 0
    finally:
        over.set()
        thread.join()


def test_many_may_make_the_same_index_at_once(tmp_path: Path) -> None:
    for turn in range(20):
        with ThreadPoolExecutor(4) as pool:
            made = [pool.submit(open_text_index, tmp_path / str(turn) / "index") for _ in range(4)]
            assert [index.result().count() for index in made] == [0] * 4
        assert not list((tmp_path / str(turn) / "index").glob(f".{FORMAT_FILE}*"))


@pytest.mark.parametrize("suffix", ["idx", "term", "pos", "fast", "fieldnorm", "store"])
def test_verify_finds_a_changed_byte(tmp_path: Path, suffix: str) -> None:
    index = index_of(tmp_path, [paper(i, f"word{i} red", "some text", year=2000 + i) for i in range(9)])
    index.close()
    index.verify()
    path = next(tmp_path.glob(f"*.{suffix}"))
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)
    with pytest.raises(IndexDamagedError, match=r"changed bytes.*doctor --rebuild-index"):
        index.verify()


def _with_a_deletion(folder: Path) -> TantivyIndex:
    index = index_of(folder, [paper(i, "red") for i in range(9)])
    index.apply([], [3], seq=99)
    index.close()
    assert list(folder.glob("*.del"))
    return index


def test_verify_finds_a_changed_byte_in_the_deletions(tmp_path: Path) -> None:
    index = _with_a_deletion(tmp_path)
    index.verify()
    for path in tmp_path.glob("*.del"):
        path.write_bytes(b"\1" + path.read_bytes()[1:])
    with pytest.raises(IndexDamagedError, match=r"changed bytes.*doctor --rebuild-index"):
        index.verify()


def test_deletions_that_a_killed_writer_left_without_a_commit_are_no_damage(tmp_path: Path) -> None:
    index = _with_a_deletion(tmp_path)
    for path in list(tmp_path.glob("*.del")):
        segment = path.name.partition(".")[0]
        (tmp_path / f"{segment}.123456.del").write_bytes(bytes(300))  # allotted, and never written
    index.verify()
    assert index.count() == 8


def test_a_folder_that_vanished_is_damage_not_a_crash(tmp_path: Path) -> None:
    index = index_of(tmp_path / "x", [paper(1, "red")])
    index.close()
    for path in (tmp_path / "x").iterdir():
        path.unlink()
    with pytest.raises(IndexDamagedError, match="doctor --rebuild-index"):
        index.count()
