"""Daily Papers of Hugging Face: two days kept apart, votes asked for again, weekends that are no failure.

The papers and people are invented, but for those of the recorded answer in the shared data.
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.huggingface import HuggingFace
from tests.fakeweb import Answer, FakeWeb, Request
from tests.makers import identifier
from tests.shared import shared

HOST, PATH = "huggingface.co", "/api/daily_papers"
NOW = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)  # a Monday


def paper(number: str = "2503.16000", **fields: Any) -> dict[str, Any]:
    """An item of the list as the service gives it."""
    inner = {
        "id": number,
        "title": "Small Lanterns",
        "summary": "We light lanterns.",
        "authors": [{"name": "Ada Quill", "hidden": False}, {"name": "Bo Reed", "hidden": True}],
        "publishedAt": "2025-03-20T17:59:59.000Z",
        "submittedOnDailyAt": "2025-03-31T00:29:54.633Z",
        "upvotes": 19,
    }
    outer = {"numComments": 2, "publishedAt": "2025-03-20T13:59:59.000Z", "submittedBy": {"fullname": "Cy Vale"}}
    return outer | {"paper": inner | fields.pop("paper", {})} | fields


def parsed(*items: Any, day: date | None = None) -> list[Record | Refusal]:
    return list(HuggingFace().parse(Page(f"https://{HOST}{PATH}", json.dumps(items).encode(), "", day=day)))


def only(*items: Any, day: date | None = None) -> Record:
    (entry,) = parsed(*items, day=day)
    assert isinstance(entry, Record)
    return entry


def test_the_day_of_listing_is_not_the_day_of_publication() -> None:  # B06
    record = only(paper(), day=date(2025, 3, 31))
    assert (record.published, record.listed) == (date(2025, 3, 20), date(2025, 3, 31))


def test_days_are_those_of_utc_and_the_outer_publication_day_is_not_taken() -> None:  # B07
    late = paper("2507.06229", paper={"publishedAt": "2025-07-08T23:50:00Z"}, publishedAt="2025-07-07T20:00:00Z")
    assert only(late).published == date(2025, 7, 8)


def test_without_the_day_of_the_page_the_day_of_submission_to_the_list_counts() -> None:
    assert only(paper()).listed == date(2025, 3, 31)


def test_every_field_has_its_place() -> None:
    record = only(
        paper(
            paper={
                "githubRepo": "https://github.com/quill/lanterns",
                "projectPage": "https://quill.github.io/lanterns/",
                "ai_keywords": ["lantern physics"],
                "ai_summary": "A summary by a model.",
            }
        )
    )
    assert record.source == "huggingface"
    assert record.key == "2503.16000"
    assert record.identifiers == (identifier("arXiv:2503.16000"),)
    assert record.title == "Small Lanterns"
    assert record.abstract == "We light lanterns."
    assert record.authors == ("Ada Quill", "Bo Reed")
    assert record.counts == (("comments", 2), ("upvotes", 19))
    assert record.details == (("submitter", "Cy Vale"),)
    assert record.links == (
        Link(LinkKind.PAGE, "https://huggingface.co/papers/2503.16000"),
        Link(LinkKind.CODE, "https://github.com/quill/lanterns"),
        Link(LinkKind.PROJECT, "https://quill.github.io/lanterns/"),
    )
    assert record.keywords == ()
    assert json.loads(record.raw)["paper"]["ai_keywords"] == ["lantern physics"]


def test_no_votes_are_a_count_and_unknown_ones_are_none() -> None:
    assert only(paper(paper={"upvotes": 0}, numComments=None)).counts == (("upvotes", 0),)


def test_a_bad_entry_is_refused_and_the_others_are_kept() -> None:
    bad = paper(paper={"title": {"no": "text"}})
    entries = parsed(paper(paper={"id": None}), "text", bad, paper(), paper(paper={"title": "", "summary": "x"}))
    assert [type(entry) for entry in entries] == [Refusal, Refusal, Refusal, Record, Refusal]
    reasons = [entry.reason for entry in entries if isinstance(entry, Refusal)]
    assert reasons == [
        "entry 1: paper.id: missing",
        "entry 2: not an object with the fields of a paper",
        "entry 3: title: must be text, not a mapping",
        "entry 5: title: missing",
    ]


def test_an_id_that_is_not_of_arxiv_is_only_a_key() -> None:
    record = only(paper("lantern-7"))
    assert (record.key, record.identifiers) == ("lantern-7", ())


def test_half_a_character_does_not_cost_the_page() -> None:
    body = json.dumps([paper(), paper("2503.16001", title=None)]).replace("Small", "Sm\\ud83dall", 1).encode()
    entries = list(HuggingFace().parse(Page("u", body, "")))
    assert [entry.title for entry in entries if isinstance(entry, Record)] == ["Sm\ufffdall Lanterns", "Small Lanterns"]


@pytest.mark.parametrize("body", [b"<html>Sorry</html>", b"[{", b"\xff\xfe"])
def test_what_is_no_list_is_an_input_error(body: bytes) -> None:
    with pytest.raises(InputError, match="nothing was taken"):
        list(HuggingFace().parse(Page("u", body, "")))


def test_an_empty_page_has_no_entries() -> None:
    assert list(HuggingFace().parse(Page("u", b"", ""))) == []


def test_of_takes_nothing() -> None:
    assert HuggingFace.of("").name == "huggingface"
    with pytest.raises(SettingsError, match="write huggingface, with nothing after it"):
        HuggingFace.of("papers")


# --- fetching --------------------------------------------------------------------------------------------------------


def lists(**by_day: list[Any]) -> Any:
    """An answer for each day, as ``d2026_06_12=[...]``; other days are empty."""

    def answer(request: Request) -> Answer:
        day = f"d{request.query['date'][0].replace('-', '_')}"
        return Answer(json.dumps(by_day.get(day, []) if request.query["p"] == ["0"] else []))

    return answer


def asked(web: FakeWeb) -> list[str]:
    return [request.query["date"][0] for request in web.requests]


def test_the_first_run_takes_a_week_and_the_cursor_is_the_last_complete_day(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, lists(d2026_06_12=[paper()], d2026_06_15=[paper("2606.00001")]))
    pages = list(HuggingFace().fetch(fakeweb.client(), "", NOW))
    assert asked(fakeweb) == [f"2026-06-{day:02}" for day in range(9, 16)]
    assert json.loads(pages[-1].cursor) == {"day": "2026-06-14"}  # today's list may still grow
    friday, monday = (page for page in pages if page.body)
    assert (friday.day, monday.day) == (date(2026, 6, 12), date(2026, 6, 15))
    (record,) = HuggingFace().parse(friday)
    assert isinstance(record, Record)
    assert record.listed == date(2026, 6, 12)


def test_after_days_off_every_day_is_caught_up_with_three_days_before_them_for_their_votes(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, lists())
    pages = list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-08"}', NOW))
    assert asked(fakeweb) == [f"2026-06-{day:02}" for day in range(6, 16)]
    assert [json.loads(page.cursor)["day"][-2:] for page in pages] == [
        *["08"] * 3,
        "09",
        "10",
        "11",
        "12",
        "13",
        "14",
        "14",
    ]


def test_it_goes_on_after_any_page(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, lists())
    source = HuggingFace()
    pages = source.fetch(fakeweb.client(), "", NOW)
    stopped = [next(pages), next(pages)][-1]  # the 10th is stored
    fakeweb.requests.clear()
    list(source.fetch(fakeweb.client(), stopped.cursor, NOW))
    assert asked(fakeweb) == [f"2026-06-{day:02}" for day in range(8, 16)]


def test_the_clock_of_the_reader_does_not_matter(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, lists())
    shanghai = datetime(2026, 6, 16, 0, 30, tzinfo=timezone(timedelta(hours=8)))  # still the 15th in UTC
    pages = list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-14"}', shanghai))
    assert asked(fakeweb)[-1] == "2026-06-15"
    assert json.loads(pages[-1].cursor) == {"day": "2026-06-14"}


def test_a_clock_that_was_set_back_loses_nothing(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, lists())
    pages = list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-07-30"}', NOW))
    assert asked(fakeweb) == ["2026-06-12", "2026-06-13", "2026-06-14", "2026-06-15"]
    assert json.loads(pages[-1].cursor) == {"day": "2026-07-30"}


def test_days_without_papers_are_quiet_and_say_why(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, lists())
    pages = list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-14"}', NOW))
    assert {page.state for page in pages} == {SourceState.QUIET}
    assert [page.remark for page in pages] == [
        "2026-06-12: no papers were listed",
        "2026-06-13: no papers were listed, a weekend",
        "2026-06-14: no papers were listed, a weekend",
        "2026-06-15: the list of today is not out yet",
    ]
    assert [entry for page in pages for entry in HuggingFace().parse(page)] == []


def test_a_day_that_the_service_does_not_know_yet_is_quiet_and_a_past_one_an_error(fakeweb: FakeWeb) -> None:
    def answer(request: Request) -> Answer:
        return Answer("[]" if request.query["date"] != ["2026-06-15"] else '{"error": "future"}', 200, {})

    def refusing(request: Request) -> Answer:
        return Answer("no", 400) if request.query["date"] == ["2026-06-15"] else answer(request)

    fakeweb.on(HOST, PATH, refusing)
    pages = list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-14"}', NOW))
    assert (pages[-1].state, pages[-1].body) == (SourceState.QUIET, b"")
    fakeweb.on(HOST, PATH, Answer("no", 400))
    with pytest.raises(FetchError) as caught:
        list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-14"}', NOW))
    assert caught.value.status == 400


def test_a_long_day_is_paged_and_its_day_is_complete_with_its_last_page(fakeweb: FakeWeb) -> None:
    many = [paper(f"2606.{i:05}") for i in range(1, 131)]

    def answer(request: Request) -> Answer:
        at = 100 * int(request.query["p"][0])
        return Answer(json.dumps(many[at : at + 100] if request.query["date"] == ["2026-06-12"] else []))

    fakeweb.on(HOST, PATH, answer)
    pages = [page for page in HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-11"}', NOW) if page.body]
    assert [json.loads(page.cursor)["day"] for page in pages] == ["2026-06-11", "2026-06-12"]
    assert sum(len(list(HuggingFace().parse(page))) for page in pages) == 130
    assert [page.newest for page in pages] == ["2606.00100", "2606.00130"]


def test_a_service_that_gives_the_same_page_for_ever_is_left(fakeweb: FakeWeb) -> None:
    full = Answer(json.dumps([paper(f"2606.{i:05}") for i in range(1, 101)]))
    fakeweb.on(HOST, PATH, full)
    pages = list(HuggingFace().fetch(fakeweb.client(), '{"day": "2026-06-14"}', NOW))
    stops = [page for page in pages if page.state is SourceState.INCOMPLETE]
    assert [page.day for page in stops] == [date(2026, 6, day) for day in (12, 13, 14, 15)]
    assert stops[0].remark == "2026-06-12: incomplete after 100 papers, the same page came again"
    assert len(fakeweb.requests) == 8


def test_the_recorded_answer_of_a_day() -> None:
    body = gzip.decompress(shared("data", "api_fixtures", "sotawhat__hf_daily_papers.json.gz").read_bytes())
    entries = list(HuggingFace().parse(Page("u", body, "", day=date(2026, 6, 12))))
    records = [entry for entry in entries if isinstance(entry, Record)]
    assert len(records) == len(entries) == 30
    given = {item["paper"]["id"]: item for item in json.loads(body)}
    for record in records:
        item = given[record.key]
        assert record.published is not None
        assert record.published.isoformat() == item["paper"]["publishedAt"][:10]
        assert record.published < date(2026, 6, 12) == record.listed
        assert dict(record.counts) == {"comments": item["numComments"], "upvotes": item["paper"]["upvotes"]}
        assert len(record.authors) == len(item["paper"]["authors"])
        assert record.abstract
        assert dict(record.details)["submitter"] == item["submittedBy"]["fullname"]
        assert any(link.kind is LinkKind.CODE for link in record.links) >= bool(item["paper"].get("githubRepo"))
    assert sum(any("github.com" in link.url for link in record.links) for record in records) == 16
