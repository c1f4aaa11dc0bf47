"""The shipped sample: complete, well formed, true to the list it was made from, and in its own words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.resources import files
from typing import Any

import pytest

from tests.shared import shared

COUNT = 139
LONGEST_SHARED_RUN = 6  # words; a run of seven would be copying
REQUIRED = {"id", "title", "authors", "year", "links", "summary"}
OPTIONAL = {"authors_truncated", "arxiv", "areas", "published", "published_month", "listed", "venue"}
LINK_KINDS = {"page", "pdf", "code", "project"}
WORD = re.compile(r"[a-z0-9]+(?:['’.-][a-z0-9]+)*")
SENTENCE_END = re.compile(r"[.?!](?=\s+[A-Z0-9$]|\s*$)")
ARXIV_NEW = re.compile(r"(?P<yy>\d{2})(?P<mm>0[1-9]|1[0-2])\.\d{4,5}")
AMERICAN = re.compile(
    r"\b(?:\w+[iy]z(?:e|es|ed|ing|ation|er|ers)|(?:behavior|color|neighbor|favor|flavor|labor)\w*"
    r"|(?:label|model|travel|cancel)(?:ed|ing)|centers?|fulfill|catalog|defense|artifact\w*|math)\b"
)
SPELT_SO_IN_BRITAIN = {"size", "sizes", "sized", "prize", "seize"}


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    """All runs of ``length`` consecutive words."""
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


def sentences(text: str) -> int:
    return len(SENTENCE_END.findall(text))


def americanisms(text: str) -> list[str]:
    return [w for w in AMERICAN.findall(text.lower()) if w not in SPELT_SO_IN_BRITAIN]


def load() -> list[dict[str, Any]]:
    text = files("broadsheet.data").joinpath("sample.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def load_seeds() -> list[dict[str, Any]]:
    text = shared("seeds", "papers.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


SAMPLE = load()


def with_key(key: str) -> Iterator[dict[str, Any]]:
    return (row for row in SAMPLE if key in row)


def ids(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_there_is_one_line_for_each_paper_numbered_in_order() -> None:
    assert ids(SAMPLE) == [f"sample-{n:03d}" for n in range(1, COUNT + 1)]


def test_every_line_has_the_required_fields_and_no_unknown_ones() -> None:
    for row in SAMPLE:
        assert set(row) >= REQUIRED, row["id"]
        assert set(row) <= REQUIRED | OPTIONAL, row["id"]


def test_texts_are_trimmed_and_lists_hold_texts() -> None:
    for row in SAMPLE:
        for text in (row["title"], row["summary"], *row["authors"]):
            assert isinstance(text, str)
            assert text
            assert text == " ".join(text.split()), row["id"]
        assert len(set(row["authors"])) == len(row["authors"]), row["id"]
        assert not any("," in name or ";" in name for name in row["authors"]), row["id"]


@pytest.mark.parametrize("row", SAMPLE, ids=ids(SAMPLE))
def test_summary_has_two_to_four_sentences_of_readable_length(row: dict[str, Any]) -> None:
    assert 2 <= sentences(row["summary"]) <= 4
    assert 30 <= len(row["summary"].split()) <= 110
    assert row["summary"][-1] in ".?!"
    assert row["summary"].count("$") % 2 == 0


def test_sentence_counter_is_not_misled_by_numbers_and_names() -> None:
    assert sentences("GPT-5.1 gains 3.7%. It costs $n$ steps! Is that much?") == 3


def test_summaries_are_distinct_and_open_in_different_ways() -> None:
    assert len({row["summary"] for row in SAMPLE}) == COUNT
    openings = Counter(tuple(words(row["summary"])[:2]) for row in SAMPLE)
    assert max(openings.values()) <= 4, openings.most_common(3)
    assert not {("this", "paper"), ("the", "authors"), ("in", "this"), ("we", "propose")} & set(openings)


def test_summaries_are_spelt_the_british_way() -> None:
    assert {row["id"]: found for row in SAMPLE if (found := americanisms(row["summary"]))} == {}


@pytest.mark.parametrize("word", ["optimizes", "behavior", "labeled", "generalization", "analyzing", "artifacts"])
def test_the_spelling_check_sees_american_forms(word: str) -> None:
    assert americanisms(f"The model {word} here.") == [word]


def test_arxiv_identifiers_are_well_formed_unique_and_without_version() -> None:
    found = [row["arxiv"] for row in with_key("arxiv")]
    assert len(found) == COUNT - 3
    assert len(set(found)) == len(found)
    assert all(ARXIV_NEW.fullmatch(value) for value in found)


def test_dates_are_real_and_the_month_is_the_one_in_the_arxiv_identifier() -> None:
    for row in SAMPLE:
        match = ARXIV_NEW.fullmatch(row.get("arxiv", ""))
        month = f"20{match['yy']}-{match['mm']}" if match else None
        published = row.get("published", "")
        if published:
            assert date.fromisoformat(published).strftime("%Y-%m") == month, row["id"]
            assert "published_month" not in row, row["id"]
        else:
            assert row.get("published_month") == month, row["id"]
        if "listed" in row:
            assert date.fromisoformat(row["listed"]).strftime("%Y-%m") >= str(month), row["id"]


def test_year_is_the_venues_else_that_of_the_arxiv_identifier() -> None:
    for row in SAMPLE:
        if "venue" in row:
            assert re.fullmatch(r"[a-z]+", row["venue"]), row["id"]
            first = 2000 + int(row.get("arxiv", "26")[:2])
            assert first <= row["year"] <= first + 2, row["id"]
        else:
            assert row["year"] == 2000 + int(row["arxiv"][:2]), row["id"]


def test_areas_have_a_name_and_a_subarea() -> None:
    rows = list(with_key("areas"))
    assert len(rows) == 17
    for row in rows:
        for area in row["areas"]:
            assert set(area) == {"name", "subarea"}, row["id"]
            assert all(area.values()), row["id"]


def test_links_are_http_of_known_kinds_without_repeats() -> None:
    for row in SAMPLE:
        urls = [link["url"] for link in row["links"]]
        assert urls, row["id"]
        assert len(set(urls)) == len(urls), row["id"]
        for link in row["links"]:
            assert set(link) == {"kind", "url"}, row["id"]
            assert link["kind"] in LINK_KINDS, row["id"]
            assert re.fullmatch(r"https?://[\w.-]+/[^\s{}]*[^\s{}.,;)]", link["url"]), row["id"]
        if "arxiv" in row:
            assert {"kind": "page", "url": f"https://arxiv.org/abs/{row['arxiv']}"} in row["links"], row["id"]
            assert {"kind": "pdf", "url": f"https://arxiv.org/pdf/{row['arxiv']}"} in row["links"], row["id"]


def test_titles_identifiers_areas_and_authors_are_those_of_the_list() -> None:
    seeds = load_seeds()
    assert len(seeds) == COUNT
    for row, seed in zip(SAMPLE, seeds, strict=True):
        assert row["title"] == seed["title"], row["id"]
        assert row.get("arxiv") == seed["arxiv"], row["id"]
        areas = [f"{area['name']} · {area['subarea']}" for area in row.get("areas", [])]
        assert areas == ([seed["area"]] if seed["area"] else []), row["id"]
        if seed["authors"]:
            assert row["authors"] == seed["authors"], row["id"]


def test_no_summary_shares_a_long_run_of_words_with_an_abstract_or_the_notes() -> None:
    length = LONGEST_SHARED_RUN + 1
    known: set[tuple[str, ...]] = set()
    for seed in load_seeds():
        known |= runs(seed["gist"], length) | runs(seed["verifiable_claim"], length)
    for path in sorted(shared("seeds").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            known |= runs(line, length)
    assert len(known) > 10_000
    copied = {row["id"]: found for row in SAMPLE if (found := runs(row["summary"], length) & known)}
    assert copied == {}


def test_the_run_check_sees_copied_words_despite_case_and_punctuation() -> None:
    source = "We show that shuffling, in theory and practice, converges."
    assert runs("Indeed: SHUFFLING in theory and practice converges", 6) & runs(source, 6)
    assert not runs("Shuffling converges in theory and in practice", 6) & runs(source, 6)
