"""The search desk from question to page, over a real store and real indexes; meaning is a toy encoder's."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broadsheet.encode import Floats
from broadsheet.errors import EncoderUnavailableError, InputError
from broadsheet.index import open_vectors
from broadsheet.ingest import encode_pending, merge_papers
from broadsheet.library import Library, open_library
from broadsheet.search import Boosts, Searcher, Tuning
from broadsheet.settings import load_settings

TODAY = date(2026, 11, 30)
TUNING = Tuning(0.4, 0.7, Boosts(title=0.0, authors=0.3))
CONCEPTS = {"car": 0, "automobile": 0, "vehicle": 0, "heart": 1, "cardiac": 1, "检索": 2, "retrieval": 2, "search": 2}

PAPERS: list[dict[str, Any]] = [
    {"id": "a", "title": "Retrieval-Augmented Generation for Large Language Models",
     "abstract": "We study GPT-4 with search.",
     "authors": ["Erwin Schrödinger", "Wei Zhang"], "venue": "icml", "year": 2024, "arxiv": "2401.12345",
     "areas": [{"name": "Deep Learning", "subarea": "Large Language Models"}], "published": "2024-01-20",
     "links": [{"kind": "code", "url": "https://github.com/x/y"}]},
    {"id": "b", "title": "YOLOv8 in C++ for non-invasive imaging",
     "abstract": "A pre-training recipe with $\\alpha$-stable noise.",
     "authors": ["António Araújo"], "venue": "cvpr", "year": 2023, "published": "2023-06-01",
     "areas": [{"name": "Applications", "subarea": "Health"}]},
    {"id": "c", "title": "Pretraining of vehicle detectors",
     "abstract": "An automobile is seen from above. It costs $5 and $10.",
     "authors": ["S M de Bruyn Kops"], "venue": "cvpr", "year": 2022, "published": "2022-06-01"},
    {"id": "d", "title": "Cardiac imaging at scale",
     "abstract": "Images of the heart; agents act in a multi-agent world.",
     "authors": ["J William III"], "venue": "miccai", "year": 2021, "published": "2021-09-01"},
    {"id": "e", "title": "面向文档的检索方法",
     "abstract": "本文研究悬空引用与文档检索。", "authors": ["张伟"], "year": 2020},
    {"id": "f", "title": "Scaling",
     "abstract": "On the size of things, with AT&T and something_2020-07-13_words.", "year": 2019},
]  # fmt: skip


class ToyEncoder:
    """Vectors from a few concepts, and the rest of the words hashed; knows a word of Chinese."""

    dimensions = 64

    def __init__(self) -> None:
        self.asked: list[str] = []

    def _vector(self, text: str) -> Floats:
        vector = np.full(64, 0.05, dtype=np.float32)
        for word, concept in CONCEPTS.items():
            if word in text.lower():
                vector[concept] += 3
        for word in text.lower().split():
            vector[8 + zlib.crc32(word.encode()) % 56] += 0.3
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        self.asked += texts
        return np.stack([self._vector(t) for t in texts])

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        return np.stack([self._vector(t) for t in texts])


def make(home: Path, papers: Sequence[dict[str, Any]]) -> Library:
    library = open_library(settings=replace(load_settings(home, {}), encoder="none"))
    file = home / "papers.jsonl"
    file.write_text("".join(json.dumps(p) + "\n" for p in papers), "utf-8")
    summary = library.import_files([file])
    assert (summary.new, summary.merged, summary.refused) == (len(papers), 0, 0)
    return library


def desk_of(library: Library, home: Path, encoder: ToyEncoder | None) -> Searcher:
    vectors = open_vectors(home / "toy", 64, "toy") if encoder else None
    if encoder and vectors is not None:
        encode_pending(library.store, vectors, encoder.encode_passages)
    return Searcher(library.store, library.index, vectors, encoder, TUNING)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with make(tmp_path_factory.mktemp("search"), PAPERS) as made:
        yield made


@pytest.fixture(scope="module")
def encoder() -> ToyEncoder:
    return ToyEncoder()


@pytest.fixture(scope="module")
def desk(library: Library, encoder: ToyEncoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    searcher = desk_of(library, tmp_path_factory.mktemp("vectors"), encoder)
    yield searcher
    searcher.close()


@pytest.fixture(scope="module")
def wordy(library: Library) -> Iterator[Searcher]:
    """The desk without an encoder."""
    searcher = Searcher(library.store, library.index, None, None, TUNING)
    yield searcher
    searcher.close()


def found(desk: Searcher, text: str, **options: Any) -> str:
    """The papers found, as the letters of their ids, best first."""
    hits = desk.search(text, today=TODAY, **options).hits
    return "".join("abcdef"[hit.paper.id - 1] for hit in hits)


# What a person can type: the papers that words alone must find, in any order.
TYPED = {
    "C++": "b", "GPT-4": "a", "gpt4": "a", "GPT 4": "a", "YOLOv8": "b", "YOLO": "b", "yolo": "b",
    "pre-training": "bc", "pretraining": "bc", "pre training": "bc", "α": "b", "alpha": "b", "$\\alpha$": "b",
    "Schrödinger": "a", "Schrodinger": "a", 'Schr\\"odinger': "a", "Schro\u0308dinger": "a",
    "Antonio Araujo": "b", "António Araújo": "b", "non-invasive": "b", "noninvasive": "b", "multi-agent": "d",
    "AT&T": "f", "something_2020-07-13_words": "f", "检索": "ae", "悬空": "e", "引用": "e",
    "au:araujo": "b", "au:Schrödinger": "a", 'au:"de Bruyn Kops, S M"': "c", 'au:"William III, J"': "d",
    "ti:imaging": "bd", "abs:heart": "d", "ti:heart": "", "area:applications": "b", "venue:cvpr": "bc",
    "year:2020..2022": "cde", "year:2023-": "ab", "since:2023-01-01": "ab", "has:code": "a", "id:2401.12345": "a",
    "has:pdf": "a", "has:abstract -imaging": "acef",
    "since:2020": "abcde", "until:2019": "f", "since:2020-06": "abcd",
    "imaging -cardiac": "b", "ti:cardiac OR ti:scaling": "df", "(ti:cardiac OR ti:yolov8) year:2021": "d",
    '"heart agents"': "d", '"large language models"': "a", "heart venue:cvpr": "", "10.48550/arXiv.2401.12345": "a",
    "https://arxiv.org/pdf/2401.12345v3": "a", "arXiv:2401.12345": "a",
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TYPED.items())
def test_typed(wordy: Searcher, text: str, expected: str) -> None:
    assert "".join(sorted(found(wordy, text))) == expected


NASTY = ['"', "*", "NEAR(", "a OR", "(((", "ti:", "-", "C#", "a'b", "ti:foo", "2401.99999", "AND", "OR OR", "\x00", "𝔸",
         "'; DROP TABLE papers; --", "foo:bar", "year:abc", "~", "\\", "<script>", "id:",
         "since:soon", "“”", "（", "%"]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_nothing_a_person_types_is_an_error(desk: Searcher, text: str) -> None:
    results = desk.search(text, today=TODAY)
    assert results.hits or results.notes, "either papers, or a sentence that says why none"


@given(st.text(max_size=60))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_text_is_answered(desk: Searcher, text: str) -> None:
    results = desk.search(text, today=TODAY)
    assert results.total >= len(results.hits)
    assert len({hit.paper.id for hit in results.hits}) == len(results.hits)


def test_two_thousand_words(desk: Searcher) -> None:
    results = desk.search("heart " + " ".join(f"word{i}" for i in range(2000)), today=TODAY)
    assert results.hits[0].paper.title == "Cardiac imaging at scale"
    assert any("words" in note for note in results.notes)


def test_meaning_finds_what_words_do_not(desk: Searcher, wordy: Searcher) -> None:
    assert found(wordy, "car") == ""
    assert found(desk, "car")[0] == "c"


def test_chinese_question_finds_english_paper_and_keeps_filters(desk: Searcher) -> None:
    assert set(found(desk, "检索")[:2]) == {"a", "e"}
    assert found(desk, "检索 year:2024") == "a"


def test_only_the_words_reach_the_encoder(desk: Searcher, encoder: ToyEncoder) -> None:
    desk.search('automobile "seen from" -heart au:smith year:2022', today=TODAY)
    assert encoder.asked[-1] == "automobile seen from"


def test_exact_title_comes_first(desk: Searcher, wordy: Searcher) -> None:
    for one in (desk, wordy):
        assert found(one, "scaling")[0] == "f"
        assert found(one, "cardiac imaging at scale")[0] == "d"


def test_unknown_identifier_says_so(desk: Searcher) -> None:
    assert "arxiv:2401.99999 is not in this library" in desk.search("2401.99999", today=TODAY).notes[0]


def test_phrase_that_is_nowhere_falls_back_and_says_so(desk: Searcher) -> None:
    results = desk.search('"generation augmented"', today=TODAY)
    assert results.hits
    assert any("exact phrase" in note for note in results.notes)


def test_facets_count_what_a_choice_gives(desk: Searcher) -> None:
    results = desk.search("imaging heart retrieval", today=TODAY)
    for name in ("venue", "year", "code"):
        for value in results.facets[name]:
            narrowed = desk.search("imaging heart retrieval", chosen={name: [value.value]}, today=TODAY)
            assert narrowed.total == value.count, (name, value.value)


def test_facet_with_a_choice_still_shows_its_other_values(desk: Searcher) -> None:
    whole = {v.value for v in desk.search("imaging", today=TODAY).facets["venue"]}
    narrowed = desk.search("imaging", chosen={"venue": ["cvpr"]}, today=TODAY)
    assert {v.value for v in narrowed.facets["venue"]} == whole > {"cvpr"}
    assert {hit.paper.venue for hit in narrowed.hits} == {"cvpr"}


def test_areas_have_subareas(desk: Searcher) -> None:
    (area, *_) = (v for v in desk.search("retrieval", today=TODAY).facets["area"] if v.value == "Deep Learning")
    assert [(c.value, c.count) for c in area.children] == [("Large Language Models", 1)]
    chosen = {"subarea": ["Deep Learning · Large Language Models"]}
    assert found(desk, "retrieval", chosen=chosen) == "a"


def test_by_date(wordy: Searcher) -> None:
    assert found(wordy, "year:2019..", sort="newest") == "abcdef"
    assert found(wordy, "year:2019..", sort="oldest")[:4] == "fedc"
    assert [h.paper.venue for h in wordy.search("imaging", sort="newest", today=TODAY).hits] == ["cvpr", "miccai"]


@pytest.mark.parametrize("bad", [{"sort": "best"}, {"page_size": 0}, {"page_size": 5000},
                                 {"chosen": {"colour": ["red"]}},
                                 {"chosen": {"year": ["abc"]}}])  # fmt: skip
def test_bad_arguments_are_named(desk: Searcher, bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"sort|page size|colour|year"):
        desk.search("heart", today=TODAY, **bad)


def test_snippets_mark_the_words_and_escape_the_rest(wordy: Searcher) -> None:
    (hit,) = wordy.search("automobiles", today=TODAY).hits
    assert "<mark>automobile</mark>" in hit.snippet
    (hit,) = wordy.search("AT&T", today=TODAY).hits
    assert "AT&amp;T" in hit.snippet.replace("<mark>", "").replace("</mark>", "")


def test_chinese_question_marks_english_words(desk: Searcher) -> None:
    hits = desk.search("检索 year:2024", today=TODAY).hits
    assert "<mark>Retrieval</mark>" in hits[0].title_html


def test_parts_of_the_score(desk: Searcher, wordy: Searcher) -> None:
    assert set(desk.search("heart", today=TODAY).hits[0].parts) == {"words", "meaning"}
    assert set(wordy.search("heart", today=TODAY).hits[0].parts) == {"words"}


def test_similar_papers(desk: Searcher, wordy: Searcher, library: Library) -> None:
    heart = library.store.papers([4])[4]
    for one in (desk, wordy):
        ids = [hit.paper.id for hit in one.similar(heart, 3)]
        assert 4 not in ids
        assert 2 in ids
    assert [hit.paper.id for hit in desk.similar(library.store.papers([1])[1], 1)] == [5]


def test_that_no_word_was_found_is_said(desk: Searcher) -> None:
    results = desk.search("xqzzyv", today=TODAY)
    assert results.hits
    assert "No paper has any of these words: these are the nearest in meaning." in results.notes
    assert not any("any of these words" in note for note in desk.search("heart", today=TODAY).notes)


def test_coverage_is_said(library: Library, tmp_path: Path) -> None:
    toy = ToyEncoder()
    vectors = open_vectors(tmp_path, 64, "toy")
    vectors.add(np.array([1, 2, 3]), np.zeros(3, np.uint64), toy.encode_passages(["x", "y", "z"]))
    half = Searcher(library.store, library.index, vectors, toy, TUNING)
    results = half.search("heart", today=TODAY)
    half.close()
    assert results.coverage == pytest.approx(0.5)
    assert any("covers 50 % of papers" in note for note in results.notes)


def test_encoder_that_fails_leaves_the_words(library: Library, tmp_path: Path) -> None:
    class Broken(ToyEncoder):
        def encode_queries(self, texts: Sequence[str]) -> Floats:
            raise EncoderUnavailableError("gone")

    desk = desk_of(library, tmp_path, Broken())
    results = desk.search("heart", today=TODAY)
    desk.close()
    assert results.hits[0].paper.id == 4
    assert any("words alone" in note for note in results.notes)


# Paging: five hundred papers alike


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    home = tmp_path_factory.mktemp("many")
    papers = [{"id": f"p{i}", "title": f"Study number {i}", "abstract": "The same words."} for i in range(500)]
    with make(home, papers) as library:
        desk = desk_of(library, home, ToyEncoder())
        yield desk
        desk.close()


@pytest.mark.parametrize("text", ["same", "same words", "-nothing"])
@pytest.mark.parametrize("size", [50, 37])
def test_pages_repeat_nothing_and_the_last_is_not_empty(many: Searcher, text: str, size: int) -> None:
    first = many.search(text, page_size=size, today=TODAY)
    assert first.total == 500
    assert first.pages == -(-500 // size)
    pages = [many.search(text, page=p, page_size=size, today=TODAY).hits for p in range(1, first.pages + 1)]
    ids = [hit.paper.id for page in pages for hit in page]
    assert len(ids) == len(set(ids)) == 500
    assert pages[-1]


@pytest.mark.parametrize("page", [0, -1, 10**9])
def test_pages_that_do_not_exist_are_clamped(many: Searcher, page: int) -> None:
    for text in ("same", "-nothing"):
        results = many.search(text, page=page, page_size=50, today=TODAY)
        assert results.page == (10 if page > 0 else 1)
        assert len(results.hits) == 50


def test_equal_scores_go_by_number(many: Searcher) -> None:
    ids = [hit.paper.id for hit in many.search("-nothing", page_size=500, sort="oldest", today=TODAY).hits]
    assert ids == sorted(ids)


def test_papers_merged_since_the_index_was_written_are_shown_once(tmp_path: Path) -> None:
    with make(tmp_path, PAPERS[:2]) as library:
        merge_papers(library.store, 1, 2, now=datetime.now(UTC))  # past the library, which would write the index too
        for question in ("imaging OR retrieval", "imaging retrieval"):
            hits = library.search(question).hits
            assert [hit.paper.id for hit in hits] == [1]


def test_no_results_are_one_empty_page(many: Searcher) -> None:
    results = many.search("venue:nowhere", page=3, today=TODAY)
    assert (results.total, results.page, results.pages, results.hits) == (0, 1, 1, ())
