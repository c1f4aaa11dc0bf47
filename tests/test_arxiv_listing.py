"""arXiv's listing pages: the first day's block and no other."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model import Record, Refusal, Version
from broadsheet.sources.arxiv_listing import parse_listing, read_listing
from tests.arxiv_bodies import item, listing, section

URL = "https://arxiv.org/list/cs.AI/new"


NEW = listing(
    section(
        "New submissions (showing 2 of 2 entries)",
        item("2608.11200", abstract="We show that small\n models learn &amp; grow &gt; 1."),
        item(
            "2608.11201",
            more="<div class='list-comments mathjax'><span class='descriptor'>Comments:</span> 9 pages</div>",
        ),
    ),
    section("Cross submissions (showing 1 of 1 entries)", item("2608.11000", mark="(cross-list from cs.LG)")),
    section(
        "Replacement submissions (showing 2 of 2 entries)",
        item("2607.00001", mark="(replaced)"),
        item("hep-th/0601001", mark="(replaced)"),
    ),
)


def records(body: bytes, *types: str) -> list[Record]:
    found = list(parse_listing(URL, body, types) if types else parse_listing(URL, body))
    assert all(isinstance(entry, Record) for entry in found), found
    return [entry for entry in found if isinstance(entry, Record)]


def test_the_page_of_a_day() -> None:
    found = records(NEW)
    day = date(2026, 8, 13)
    assert [(r.key, dict(r.details)["announced"], r.listed) for r in found] == [
        ("2608.11200", "new", day),
        ("2608.11201", "new", day),
        ("2608.11000", "cross", day),
        ("2607.00001", "replace", None),
        ("hep-th/0601001", "replace", None),
    ]
    first = found[0]
    assert first.source == "arxiv-announced"
    assert first.title == "Small Models Learn"
    assert first.authors == ("Ann Lee", "Bo Li")
    assert dict(first.details)["affiliation"] == "Bo Li (MIT, CSAIL)"
    assert first.abstract == "We show that small models learn & grow > 1."
    assert [str(area) for area in first.areas] == ["cs.AI", "stat.ML"]
    assert first.versions == (Version(1),)
    assert first.links[0].url == "https://arxiv.org/abs/2608.11200"
    assert first.raw.startswith("<dt>")
    assert dict(found[1].details)["comment"] == "9 pages"
    assert found[3].versions == ()


def test_a_switch_for_each_type() -> None:
    assert [r.key for r in records(NEW, "cross")] == ["2608.11000"]
    assert [r.key for r in records(NEW, "new", "replace")][-1] == "hep-th/0601001"


def test_what_a_page_says_of_itself() -> None:
    told = read_listing(URL, NEW)
    assert (told.day, told.items, told.newest) == (date(2026, 8, 13), 5, "2608.11201")


@pytest.mark.parametrize(
    "heading",
    [
        "Showing new listings for Thursday, 13 August 2026",
        "New submissions for Thu, 13 Aug 26",
        "Thu, 13 Aug 2026 (showing first 25 of 130 entries )",
    ],
)
def test_all_ways_to_write_the_day(heading: str) -> None:
    assert read_listing(URL, listing(section("New submissions", item("2608.11200")), day=heading)).day == date(
        2026, 8, 13
    )


def test_only_the_first_days_block() -> None:
    body = listing(
        section("Thu, 13 Aug 2026 (showing 2 of 2 entries)", item("2608.11200"), item("2608.11201")),
        section("Wed, 12 Aug 2026 (continued, showing 1 of 9 entries)", item("2608.09930")),
        day="",
    )
    assert [r.key for r in records(body)] == ["2608.11200", "2608.11201"]
    assert {r.listed for r in records(body)} == {date(2026, 8, 13)}
    assert read_listing(URL, body).items == 2


def test_a_cross_list_among_recent_papers() -> None:
    body = listing(section("Thu, 13 Aug 2026", item("2608.11000", mark="(cross-list from cs.LG)")), day="")
    assert dict(records(body)[0].details)["announced"] == "cross"


def test_a_day_without_updates() -> None:
    body = listing("<p>No updates today.</p>")
    assert records(body) == []
    assert read_listing(URL, body).items == 0


@pytest.mark.parametrize("body", [b"", b"  ", b"Rate exceeded.", b"<html><body>503</body></html>", b"\x00\xff"])
def test_no_listing_at_all(body: bytes) -> None:
    with pytest.raises(InputError, match="no listing page"):
        read_listing(URL, body)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (item("none"), "no arXiv id"),
        (item("2608.11200", title=""), "no title"),
        ('<dt><a href="/abs/2608.11200">arXiv:2608.11200</a></dt>', "nothing about the paper"),
    ],
)
def test_an_entry_that_cannot_be_taken(text: str, reason: str) -> None:
    found = list(parse_listing(URL, listing(section("New submissions", text, item("2608.11201")))))
    assert isinstance(found[0], Refusal)
    assert reason in found[0].reason
    assert isinstance(found[1], Record)


@given(st.text(max_size=200))
def test_no_text_brings_it_down(noise: str) -> None:
    body = listing(section("New submissions", item("2608.11200"))) + noise.encode("utf-8", "replace")
    assert next(r.key for r in records(body)) == "2608.11200"
