"""Records that may be one: what is listed, what is not, and why."""

from __future__ import annotations

import pytest

from broadsheet.ingest import pool_record
from broadsheet.ingest.likeness import MOST_TOGETHER, likenesses
from broadsheet.model.screening import PoolRecord
from broadsheet.sources import read_file
from broadsheet.sources.labels import Labelled, labelled
from tests.makers import identifier
from tests.shared import shared

TITLE = "Using implementation intentions to change the practice behaviours of nurses"
ABSTRACT = (
    "Honey bees were trained to fly along a tunnel with landmarks, and found food behind the same number of them. "
)


def record(title: str = TITLE, **fields: object) -> PoolRecord:
    return PoolRecord(1, title, **fields)  # type: ignore[arg-type]


def whys(*records: PoolRecord) -> list[str]:
    return [pair.why for pair in likenesses(records)]


def test_nothing_and_strangers() -> None:
    assert likenesses([]) == []
    assert whys(record(), record("Honey bees count the flowers that they have visited")) == []


def test_one_title_and_what_speaks_against_it() -> None:
    [pair] = likenesses(
        [
            record(year=2004, authors=("Ann Ba",), identifiers=(identifier("10.1000/x"), identifier("pmid:7"))),
            record(f"{TITLE.upper()}.", year=2006, authors=("Cy Lee",), identifiers=(identifier("10.1000/y"),)),
        ]
    )
    assert (pair.one, pair.other, pair.titles) == (0, 1, 1.0)
    assert pair.why == (
        "The same title; the years are 2004 and 2006, the first authors differ, they have different DOIs."
    )
    assert whys(record(), record()) == ["The same title; authors are missing."]
    assert whys(record(authors=("Ann Ba",)), record(authors=("A. Ba",))) == ["The same title."]


def test_nearly_one_title() -> None:
    found = likenesses([record(), record("Honey bees"), record(TITLE.replace("behaviours", "behaviors"))])
    assert [(pair.one, pair.other) for pair in found] == [(0, 2)]
    assert 0.9 < found[0].titles < 1
    assert found[0].why.startswith("Nearly the same title; ")
    assert whys(record(), record(TITLE.replace("nurses", "patients with diabetes mellitus"))) == []


@pytest.mark.parametrize(("one", "other"), [("part 1", "part 2"), ("Part II", "Part III"), ("2004", "2005")])
def test_what_is_numbered_differently_is_no_repeat(one: str, other: str) -> None:
    assert whys(record(f"{TITLE}: {one}"), record(f"{TITLE}: {other}")) == []


def test_one_abstract_under_two_titles() -> None:
    one, other = record("Bees and how they count", abstract=ABSTRACT * 2), record("Apes", abstract=ABSTRACT * 2)
    assert whys(one, other) == ["The same abstract, another title; authors are missing."]


def test_what_many_have_in_common_is_no_sign() -> None:
    assert whys(record("Editorial"), record("Editorial")) == []
    assert len(whys(*[record()] * MOST_TOGETHER)) == MOST_TOGETHER * (MOST_TOGETHER - 1) // 2
    others = [
        record(f"{name * 3} and {name * 4} of the {name * 5}", abstract=ABSTRACT * 2)
        for name in "abcdefghijklmnopqrstu"
    ]
    assert whys(*others) == []


def test_the_likest_come_first() -> None:
    near, far = TITLE.replace("behaviours", "behaviors"), TITLE.replace("change the", "alter a")
    found = likenesses([record(), record(far), record(near), record()])
    assert [(pair.one, pair.other) for pair in found][:2] == [(0, 3), (0, 2)]
    assert [pair.titles for pair in found] == sorted((pair.titles for pair in found), reverse=True)


def test_a_real_screening_has_a_list_that_can_be_read() -> None:
    path = shared("data", "screening", "nagtegaal_2019.jsonl.gz")
    items = read_file(path, max_entry_bytes=10**7, max_authors=5000)
    entries = [found for _, found in labelled(items, path.name) if isinstance(found, Labelled)]
    found = likenesses([pool_record(entry, number, path.name) for number, entry in enumerate(entries, 1)])
    assert 10 < len(found) < 100
