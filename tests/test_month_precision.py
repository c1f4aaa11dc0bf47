"""A month is not a day: how a paper of which only the month is known travels from file to page."""

from __future__ import annotations

import json
from datetime import date

import pytest

from broadsheet.ingest import derive
from broadsheet.model import Paper, Record
from broadsheet.sources import read_text
from broadsheet.store.codec import record_from_json, record_to_json
from broadsheet.web.views import published, sections


def record_of(**fields: object) -> Record:
    line = json.dumps({"id": "a", "title": "A title of some length", **fields})
    (item,) = read_text("papers.jsonl", line, max_entry_bytes=10_000, max_authors=10)
    assert isinstance(item.entry, Record)
    return item.entry


@pytest.mark.parametrize(
    ("fields", "day", "month_only", "shown"),
    [
        ({"published": "2026-06-08"}, date(2026, 6, 8), False, "8 June 2026"),
        ({"published": "2026-06-01"}, date(2026, 6, 1), False, "1 June 2026"),
        ({"published_month": "2026-06"}, date(2026, 6, 1), True, "June 2026"),
        ({"published": "June 2026"}, date(2026, 6, 1), True, "June 2026"),
        ({"year": 2026, "month": "June"}, date(2026, 6, 1), True, "June 2026"),
        ({"year": 2026}, None, False, ""),
    ],
)
def test_from_file_to_page(fields: dict[str, object], day: date | None, month_only: bool, shown: str) -> None:
    record = record_from_json(record_to_json(record_of(**fields)))
    assert (record.published, record.month_only) == (day, month_only)
    assert published(derive(1, [record])) == shown


def test_a_day_within_the_month_is_better_and_an_earlier_month_is_earlier() -> None:
    month = record_of(published_month="2026-06")
    within, before = record_of(id="b", published="2026-06-20"), record_of(id="c", published="2026-05-31")
    for records in ([month, within], [within, month]):
        paper = derive(1, records)
        assert (paper.published, paper.month_only) == (date(2026, 6, 20), False)
    assert derive(1, [month, before]).published == date(2026, 5, 31)


def test_headings_of_the_front_page() -> None:
    first = date(2026, 6, 1)
    papers = [
        Paper(3, "t", published=first),
        Paper(2, "t", published=first, month_only=True),
        Paper(1, "t", published=first, month_only=True, listed=first),
    ]
    assert [s.heading for s in sections(papers)] == ["Monday, 1 June 2026", "June 2026", "Monday, 1 June 2026"]
