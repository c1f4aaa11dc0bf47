"""OpenReview: two APIs, two shapes of notes, and what is left out.

No recorded answer of either API could be had: the notes here are written after the documentation of the APIs and of
openreview-py (``notes`` and ``count``; API 2 nests values, API 1 does not). Papers and people are invented.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError, ThrottledError
from broadsheet.model import Area, Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.openreview import OpenReview
from tests.fakeweb import Answer, FakeWeb, Request
from tests.makers import identifier

V1, V2, PATH = "api.openreview.net", "api2.openreview.net", "/notes"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ICML = "ICML.cc/2025/Conference"


def milliseconds(day: str) -> int:
    return int(datetime.fromisoformat(f"{day}T12:00+00:00").timestamp() * 1000)


def v2(forum: str = "abcDEF1234", **content: Any) -> dict[str, Any]:
    values = {"title": "Lamps in Fog", "abstract": "We see less.", "authors": ["Ada Quill"]}
    values |= {"venue": "ICML 2025 poster", "venueid": ICML} | content
    nested = {name: {"value": value} for name, value in values.items() if value is not None}
    return {"id": forum, "forum": forum, "content": nested, "cdate": milliseconds("2025-01-30")}


def v1(forum: str = "rk_GHI1234", **content: Any) -> dict[str, Any]:
    values = {"title": "Older Lamps", "abstract": "We saw less.", "authors": ["Bo Reed"]} | content
    return {"id": forum, "forum": forum, "content": values, "cdate": milliseconds("2019-09-25")}


def decided(note: dict[str, Any], decision: str) -> dict[str, Any]:
    reply = {"invitation": "ICLR.cc/2020/Conference/Paper1/-/Decision", "content": {"decision": decision}}
    return note | {"details": {"directReplies": [{"invitation": "x/-/Official_Comment", "content": {}}, reply]}}


def parsed(*notes: Any, venue: str = ICML) -> list[Record | Refusal]:
    body = json.dumps({"notes": list(notes), "count": len(notes)}).encode()
    return list(OpenReview.of(venue).parse(Page("u", body, "")))


def only(*notes: Any, venue: str = ICML) -> Record:
    (entry,) = parsed(*notes, venue=venue)
    assert isinstance(entry, Record), entry
    return entry


def test_a_note_of_api_2() -> None:
    note = v2(
        keywords=["light", "fog", "light"],
        primary_area="deep_learning->theory",
        TLDR="Fog hides lamps.",
        pdf="/pdf/0123abcd.pdf",
        code="https://github.com/quill/lamps",
        project_page="https://quill.example.org/lamps",
        _bibtex="@inproceedings{\nquill2025lamps,\nbooktitle={International Conference on Fog},\nyear={2025}\n}",
    )
    record = only(note | {"pdate": milliseconds("2025-05-01"), "odate": milliseconds("2025-06-18")})
    assert (record.source, record.key) == ("openreview", "abcDEF1234")
    assert record.identifiers == (identifier("openreview:abcDEF1234"),)
    assert (record.title, record.abstract, record.authors) == ("Lamps in Fog", "We see less.", ("Ada Quill",))
    assert (record.venue, record.year, record.status) == ("icml", 2025, "Poster")
    assert record.published == date(2025, 5, 1)
    assert record.areas == (Area("Deep Learning", "Theory"),)
    assert record.keywords == ("light", "fog")
    assert record.kind == "inproceedings"
    assert record.details == (("booktitle", "International Conference on Fog"), ("tldr", "Fog hides lamps."))
    assert record.links == (
        Link(LinkKind.PDF, "https://openreview.net/pdf/0123abcd.pdf"),
        Link(LinkKind.CODE, "https://github.com/quill/lamps"),
        Link(LinkKind.PROJECT, "https://quill.example.org/lamps"),
    )
    assert json.loads(record.raw)["content"]["title"] == {"value": "Lamps in Fog"}


def test_a_note_of_api_1() -> None:  # B04
    note = v1(keywords=["light"], pdf="/pdf/9.pdf", **{"TL;DR": "Old fog.", "one-sentence_summary": "no"})
    record = only(decided(note, "Accept (Spotlight)"), venue="ICLR.cc/2020/Conference")
    assert (record.title, record.abstract, record.authors) == ("Older Lamps", "We saw less.", ("Bo Reed",))
    assert (record.venue, record.year, record.status) == ("iclr", 2020, "Spotlight")
    assert record.published == date(2019, 9, 25)
    assert dict(record.details)["tldr"] == "Old fog."


def test_what_is_missing_is_no_error_unless_nothing_is_left() -> None:  # B04
    bare = v2(abstract=None, authors=None)
    record = only(bare)
    assert (record.abstract, record.authors, record.keywords) == ("", (), ())
    untitled = v2(title=None)
    assert (only(untitled).title, only(untitled).title_derived) == ("We see less", True)
    entries = parsed(v2(title=None, abstract=None), {"id": "x"}, "note", v2(title=["a", "b"]), bare)
    assert [entry.reason for entry in entries if isinstance(entry, Refusal)] == [
        "entry 1: abcDEF1234: neither title nor abstract",
        "entry 2: content: missing",
        "entry 3: not an object with the fields of a paper",
        "entry 4: title: must be text, not a list",
    ]
    assert isinstance(entries[-1], Record)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("ICML 2025 poster", "Poster"),
        ("ICML 2025 spotlightposter", "Spotlight"),
        ("ICML 2025 oral", "Oral"),
        ("ICLR 2023 notable top 25%", "Top-25%"),
        ("NeurIPS 2023 Datasets and Benchmarks Poster", "Poster"),
        ("CoRL 2024", ""),
        ("Accepted by TMLR", ""),
        ("", ""),
    ],
)
def test_how_a_paper_is_presented(said: str, status: str) -> None:
    assert only(v2(venue=said)).status == status


@pytest.mark.parametrize(
    "note",
    [
        v2(venue="Submitted to ICML 2025", venueid=f"{ICML}/Rejected_Submission"),
        v2(venue="Submitted to ICML 2025"),
        v2(venue="ICLR 2022 Submitted", venueid=""),
        v2(venue="ICML 2025 Conference Withdrawn Submission", venueid=f"{ICML}/Withdrawn_Submission"),
        v2(venue="", venueid=f"{ICML}/Desk_Rejected_Submission"),
        v2(venue="ICML 2025 Conference Submission", venueid=f"{ICML}/Submission"),
        decided(v1(), "Reject"),
        v2() | {"ddate": milliseconds("2025-03-01")},
        v2() | {"replyto": "abcDEF1234"},
    ],
)
def test_what_was_not_accepted_is_left_out_without_a_refusal(note: dict[str, Any]) -> None:
    assert parsed(note) == []


def test_the_rejected_are_taken_where_they_are_asked_for() -> None:
    note = v2(venue="Submitted to ICML 2025", venueid=f"{ICML}/Rejected_Submission")
    record = only(note, venue=f"{ICML}/Rejected_Submission")
    assert (record.status, record.venue, record.year) == ("Reject", "icml", 2025)


def test_without_any_decision_papers_are_kept_without_a_status() -> None:
    assert only(v1(), venue="auai.org/UAI/2019/Conference").status == ""


@pytest.mark.parametrize(
    ("group", "venue", "year", "track"),
    [
        ("NeurIPS.cc/2024/Datasets_and_Benchmarks_Track", "neurips", 2024, "Datasets and Benchmarks Track"),
        ("NeurIPS.cc/2023/Track/Datasets_and_Benchmarks", "neurips", 2023, "Datasets and Benchmarks"),
        ("colmweb.org/COLM/2024/Conference", "colm", 2024, None),
        ("robot-learning.org/CoRL/2023/Conference", "corl", 2023, None),
        ("ICLR.cc/2024/Workshop/R2-FM", "ICLR Workshop R2-FM", 2024, None),
    ],
)
def test_the_venue_is_read_from_its_id(group: str, venue: str, year: int, track: str | None) -> None:
    record = only(v2(venueid=group, venue=""), venue=group)
    assert (record.venue, record.year, dict(record.details).get("track")) == (venue, year, track)


def test_a_journal_has_no_year_in_its_id() -> None:
    record = only(v2(venueid="TMLR", venue="Accepted by TMLR"), venue="TMLR")
    assert (record.venue, record.year, record.kind) == ("tmlr", 2025, "article")


def test_authors_may_be_mappings_and_anonymous_is_nobody() -> None:
    assert only(v2(authors=[{"fullname": "Ada Quill", "username": "~A1"}])).authors == ("Ada Quill",)
    assert only(v1(authors=["Anonymous"])).authors == ()


def test_other_identifiers_of_the_paper_are_found() -> None:
    record = only(v2(pdf="https://arxiv.org/pdf/2501.01234"))
    assert record.identifiers == (identifier("openreview:abcDEF1234"), identifier("arXiv:2501.01234"))
    assert record.links == (Link(LinkKind.PDF, "https://arxiv.org/pdf/2501.01234"),)


def test_odd_values_in_a_venues_own_fields_do_not_cost_the_paper() -> None:
    record = only(v2(code=["yes"], software={"url": "x"}, html=True, pdf=7, _bibtex=None))
    assert (record.title, record.links) == ("Lamps in Fog", ())


@pytest.mark.parametrize(
    ("rest", "venue"),
    [(ICML, ICML), (f"https://openreview.net/group?id={ICML}#tab-accept-oral", ICML), (f" {ICML}/ ", ICML)],
)
def test_of(rest: str, venue: str) -> None:
    assert OpenReview.of(rest).name == f"openreview:{venue}"


@pytest.mark.parametrize("rest", ["", "ICML 2025", "a//b"])
def test_of_names_the_remedy(rest: str) -> None:
    with pytest.raises(SettingsError, match=r"openreview:ICML\.cc/2025/Conference"):
        OpenReview.of(rest)


def test_what_is_no_answer_is_an_input_error() -> None:
    with pytest.raises(InputError, match="a web page"):
        list(OpenReview.of(ICML).parse(Page("u", b"<!doctype html>", "")))
    assert list(OpenReview.of(ICML).parse(Page("u", b"", ""))) == []


# --- fetching --------------------------------------------------------------------------------------------------------


def answers(*notes: dict[str, Any], count: int | None = None, size: int = 1000) -> Any:
    """An API that pages through notes; every other question than by venueid or invitation would be seen in the test."""

    def answer(request: Request) -> Answer:
        at = int(request.query["offset"][0])
        found: dict[str, Any] = {"notes": notes[at : at + size]}
        return Answer(json.dumps(found | ({} if count is None else {"count": count})))

    return answer


def many(count: int) -> list[dict[str, Any]]:
    return [v2(f"forum{i:05}") for i in range(count)]


NONE = Answer('{"notes": [], "count": 0}')


def test_all_pages_are_taken_and_the_remark_says_which_api(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, answers(*many(2100), count=2100))
    source = OpenReview.of(ICML)
    pages = list(source.fetch(fakeweb.client(), "", NOW))
    records = [entry for page in pages for entry in source.parse(page)]
    assert len(records) == len({record.key for record in records if isinstance(record, Record)}) == 2100
    assert [page.remark for page in pages] == [
        f"API 2, by venueid …: {n} notes from {at} of 2100" for n, at in ((1000, 0), (1000, 1000), (100, 2000))
    ]
    assert [request.query["content.venueid"] for request in fakeweb.requests] == [[ICML]] * 3
    assert {tuple(request.query["limit"]) for request in fakeweb.requests} == {("1000",)}
    assert pages[-1].cursor == ""  # the next update begins anew


def test_it_goes_on_after_any_page(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, answers(*many(2100), count=2100))
    source = OpenReview.of(ICML)
    first = next(source.fetch(fakeweb.client(), "", NOW))
    fakeweb.requests.clear()
    pages = list(source.fetch(fakeweb.client(), first.cursor, NOW))
    assert [request.query["offset"] for request in fakeweb.requests] == [["1000"], ["2000"]]
    assert pages[-1].cursor == ""


def test_a_venue_of_api_1_is_found_though_api_2_says_nothing(fakeweb: FakeWeb) -> None:  # B01
    fakeweb.on(V2, PATH, NONE)
    fakeweb.on(V1, PATH, answers(v1(venue="ICLR 2022 Poster", venueid="ICLR.cc/2022/Conference"), count=1))
    source = OpenReview.of("ICLR.cc/2022/Conference")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert page.remark.startswith("API 1, by venueid")
    (record,) = source.parse(page)
    assert isinstance(record, Record)
    assert record.status == "Poster"


@pytest.mark.parametrize("invitation", ["Blind_Submission", "Submission"])
def test_older_venues_are_asked_for_by_their_invitation(fakeweb: FakeWeb, invitation: str) -> None:  # B03
    def answer(request: Request) -> Answer:
        if request.query.get("invitation") != [f"ICLR.cc/2020/Conference/-/{invitation}"]:
            return NONE
        assert request.query["details"] == ["directReplies"]
        notes = [decided(v1("note1"), "Accept (Poster)"), decided(v1("note2"), "Reject")]
        return Answer(json.dumps({"notes": notes, "count": 2}))

    fakeweb.on(V2, PATH, NONE)
    fakeweb.on(V1, PATH, answer)
    source = OpenReview.of("ICLR.cc/2020/Conference")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert f"API 1, by invitation …/-/{invitation}" in page.remark
    assert [entry.key for entry in source.parse(page) if isinstance(entry, Record)] == ["note1"]


def test_a_venue_that_neither_knows_is_quiet_and_says_so(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, NONE)
    fakeweb.on(V1, PATH, NONE)
    (page,) = OpenReview.of("ICML.cc/2099/Conference").fetch(fakeweb.client(), "", NOW)
    assert (page.state, page.body) == (SourceState.QUIET, b"")
    assert page.remark.startswith("no notes of ICML.cc/2099/Conference in API 2 or API 1")
    assert len(fakeweb.requests) == 5


def test_an_api_that_calls_an_unknown_invitation_an_error_does_not_end_the_search(fakeweb: FakeWeb) -> None:
    def answer(request: Request) -> Answer:
        if "content.venueid" in request.query:
            return NONE
        known = request.query["invitation"][0].endswith("/-/Submission")
        return Answer(json.dumps({"notes": [v1()], "count": 1})) if known else Answer('{"name": "NotFoundError"}', 404)

    fakeweb.on(V2, PATH, NONE)
    fakeweb.on(V1, PATH, answer)
    (page,) = OpenReview.of("auai.org/UAI/2019/Conference").fetch(fakeweb.client(), "", NOW)
    assert page.remark.startswith("API 1, by invitation …/-/Submission")


def test_without_a_count_a_short_page_is_the_last(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, answers(*many(1200)))
    pages = list(OpenReview.of(ICML).fetch(fakeweb.client(), "", NOW))
    assert [page.state for page in pages] == [SourceState.OK] * 2
    assert len(fakeweb.requests) == 2


def test_notes_that_are_hidden_in_the_middle_do_not_end_the_paging(fakeweb: FakeWeb) -> None:
    notes = many(2100)

    def answer(request: Request) -> Answer:
        at = int(request.query["offset"][0])
        return Answer(json.dumps({"notes": notes[at : at + 1000][3:], "count": 2100}))

    fakeweb.on(V2, PATH, answer)
    pages = list(OpenReview.of(ICML).fetch(fakeweb.client(), "", NOW))
    assert sum(len(json.loads(page.body)["notes"]) for page in pages) == 2091
    assert pages[-1].state is SourceState.OK


def test_an_empty_page_in_the_middle_is_asked_for_again_and_then_incomplete(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, answers(*many(1000), count=2100))
    source = OpenReview.of(ICML)
    first, second = source.fetch(fakeweb.client(), "", NOW)
    assert (second.state, second.body) == (SourceState.INCOMPLETE, b"")
    assert second.remark == "incomplete after 1000 of 2100: the next page came back empty"
    assert second.cursor == first.cursor  # not advanced
    assert len(fakeweb.requests) > 2
    assert sum(fakeweb.slept) > 0
    fakeweb.on(V2, PATH, answers(*many(2100), count=2100))  # the next update, when it works again
    pages = list(source.fetch(fakeweb.client(), second.cursor, NOW))
    assert [json.loads(page.body)["notes"][0]["id"] for page in pages] == ["forum01000", "forum02000"]


def test_a_page_that_comes_again_ends_the_paging(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, Answer(json.dumps({"notes": many(1000), "count": 5000})))
    first, second = OpenReview.of(ICML).fetch(fakeweb.client(), "", NOW)
    assert first.state is SourceState.OK
    assert second.state is SourceState.INCOMPLETE
    assert second.remark == "incomplete after 1000 notes: the same page came again"
    assert len(fakeweb.requests) == 2


def test_a_refusal_to_programs_names_other_sources(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, Answer('{"name": "ChallengeRequiredError"}', 403))
    with pytest.raises(FetchError, match="virtual: and papercopilot:") as caught:
        list(OpenReview.of(ICML).fetch(fakeweb.client(), "", NOW))
    assert caught.value.status == 403


def test_throttling_is_not_taken_for_an_empty_page(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, Answer(json.dumps({"notes": many(1000), "count": 2100})), Answer("slow down", 429))
    pages = OpenReview.of(ICML).fetch(fakeweb.client(), "", NOW)
    assert next(pages).state is SourceState.OK
    with pytest.raises(ThrottledError):
        next(pages)


def test_a_web_page_in_place_of_an_answer_is_a_fetch_error(fakeweb: FakeWeb) -> None:
    fakeweb.on(V2, PATH, Answer("<html>maintenance</html>"))
    with pytest.raises(FetchError, match="a web page where JSON was expected"):
        list(OpenReview.of(ICML).fetch(fakeweb.client(), "", NOW))
