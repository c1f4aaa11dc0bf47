"""The real sets, as they are: every line is a record or a refusal with a reason."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from broadsheet.model import LinkKind, Record, Refusal, Scheme
from broadsheet.sources import read_file
from tests.shared import shared, shared_root

SETS = sorted(str(path.relative_to(shared_root())) for path in shared_root().rglob("*.jsonl*") if path.is_file())
NOT_PAPERS = ("users.jsonl.gz", "picks.jsonl.gz", "questions.jsonl", "datacite_sample.jsonl")


def entries(path: Path, count: int) -> list[Record | Refusal]:
    return [i.entry for i in islice(read_file(path, max_entry_bytes=4_000_000, max_authors=10_000), count)]


@pytest.mark.parametrize("name", SETS or ["no shared data"])
def test_first_500_lines(name: str) -> None:
    found = entries(shared(name), 500)
    good = [entry for entry in found if isinstance(entry, Record)]
    bad = [entry for entry in found if isinstance(entry, Refusal)]
    assert {entry.reason for entry in bad} <= {"neither title nor abstract; a paper needs one of the two"}
    if name.endswith(NOT_PAPERS):
        assert not good
        return
    assert len(good) > 0.97 * len(found)
    # One key is one paper: by its identifier where there is one (titles vary), else by its title.
    assert len({entry.key for entry in good}) == len({(e.key, e.identifiers[:1] or e.title) for e in good})
    assert all(entry.title for entry in good)


def first(name: str, count: int = 300) -> list[Record]:
    return [entry for entry in entries(shared("data", name), count) if isinstance(entry, Record)]


def share(records: list[Record], field: str) -> float:
    return sum(bool(getattr(record, field)) for record in records) / len(records)


def test_conference_papers() -> None:
    found = first("conference_papers/papers.jsonl.gz", 2_000)
    assert share(found, "venue") == share(found, "year") == share(found, "status") == 1
    assert share(found, "areas") > 0.5
    assert all(record.venue == record.venue.lower() for record in found)
    by_openreview = [r for r in found if any(i.scheme is Scheme.OPENREVIEW for i in r.identifiers)]
    assert len(by_openreview) > 50
    assert any(link.kind is LinkKind.CODE for record in found for link in record.links)


def test_arxiv_daily() -> None:
    found = first("arxiv_daily/sample_2026-05_all_days.jsonl.gz")
    assert all([str(i) for i in record.identifiers] == [f"arxiv:{record.key}"] for record in found)
    assert share(found, "listed") == share(found, "areas") == share(found, "authors") == 1
    assert all(area.subarea.startswith(area.name) for record in found for area in record.areas if area.subarea)


def test_hugging_face_daily() -> None:
    for name, field in (("weekly_snapshots", "listed"), ("by_date", "listed")):
        found = first(f"hf_daily/hf_daily_{name}.jsonl.gz")
        assert share(found, "identifiers") == share(found, field) == 1
        assert share(found, "published") == 0
    assert share(first("hf_daily/hf_papers_upvotes_2024q1.jsonl.gz"), "published") == 1


def test_acl_anthology() -> None:
    found = first("acl_anthology/acl_anthology_abstracts.jsonl.gz", 5_000)
    assert all(any(i.scheme is Scheme.ACL for i in record.identifiers) for record in found)
    assert share(found, "published") > 0.9
    assert share(found, "venue") == 1


def test_zotero_library() -> None:
    found = first("zotero_library/library.jsonl.gz", 1_000)
    assert len(found) == 803
    assert share(found, "identifiers") > 0.85
    assert share(found, "published") > 0.7
    assert any("To Read" in record.keywords for record in found)


def test_screening() -> None:
    found = first("screening/cohen2006_Opiods.jsonl.gz")
    assert all(any(i.scheme is Scheme.PMID for i in record.identifiers) for record in found)
    assert share(found, "authors") > 0.9
    assert share(found, "keywords") > 0.95
    many = [record for record in found if len(record.authors) > 3]
    assert len(many) > 50


def test_equal_numbers_in_files_of_the_same_name_do_not_collide() -> None:
    keys = [
        {record.key for record in first(f"retrieval/{name}/corpus.jsonl.gz", 1_400)} for name in ("cranfield", "cisi")
    ]
    assert not keys[0] & keys[1]
    assert min(map(len, keys)) > 1_390


def test_descriptions_are_marked_as_summaries() -> None:
    found = [e for e in entries(shared("seeds", "papers.jsonl"), 200) if isinstance(e, Record)]
    assert len(found) == 139
    assert all(record.summarised and record.abstract and record.title for record in found)
    assert [str(record.areas[0]) for record in found[:1]] == ["Theory · Learning Theory"]


def test_the_built_in_sample() -> None:
    path = Path(__file__).parent.parent / "src/broadsheet/data/sample.jsonl"
    found = [entry for entry in entries(path, 500) if isinstance(entry, Record)]
    assert len(found) == 139
    assert all(record.summarised and record.source == "jsonl:sample" for record in found)
    assert sum(record.published is not None for record in found) == 136
