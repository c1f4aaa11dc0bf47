"""The files behind the virtual sites of conferences: showings of papers become papers.

The files here are written after the fields that the sites' files have (2023 to 2026). Papers and people are invented.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError, ThrottledError
from broadsheet.model import Area, Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.virtualsite import VirtualSite
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PAPERS = "/static/virtual/data/icml-2025-orals-posters.json"
ABSTRACTS = "/static/virtual/data/icml-2025-abstracts.json"
FORUM = "https://openreview.net/forum?id=abcDEF1234"


def event(number: int = 45001, **fields: Any) -> dict[str, Any]:
    values = {
        "id": number,
        "uid": "f00d",
        "name": "Lamps in Fog",
        "authors": [{"id": 7, "fullname": "Ada Quill", "institution": "Fog House"}, {"id": 8, "fullname": "Bo Reed"}],
        "abstract": "We see less.",
        "topic": "Theory->Learning Theory",
        "keywords": [],
        "decision": "Accept (poster)",
        "eventtype": "Poster",
        "event_type": "{location} Poster",
        "virtualsite_url": f"/virtual/2025/poster/{number}",
        "sourceurl": "https://openreview.net/group?id=ICML.cc/2025/Conference",
        "paper_url": FORUM,
        "paper_pdf_url": None,
        "url": None,
        "starttime": "2025-07-15T11:00:00-07:00",
        "visible": True,
    }
    return values | fields


def parsed(*events: Any, venue: str = "icml/2025", **rest: Any) -> list[Record | Refusal]:
    body = json.dumps({"count": len(events), "next": None, "results": events} | rest).encode()
    return list(VirtualSite.of(venue).parse(Page("u", body, "")))


def only(*events: Any, **options: Any) -> Record:
    (entry,) = parsed(*events, **options)
    assert isinstance(entry, Record), entry
    return entry


def test_every_field_has_its_place() -> None:
    record = only(event(keywords=["fog", "light"], url="https://github.com/quill/lamps"))
    assert (record.source, record.key) == ("virtual", "abcDEF1234")
    assert record.identifiers == (identifier("openreview:abcDEF1234"),)
    assert (record.title, record.abstract, record.authors) == ("Lamps in Fog", "We see less.", ("Ada Quill", "Bo Reed"))
    assert (record.venue, record.year, record.status, record.kind) == ("icml", 2025, "Poster", "inproceedings")
    assert record.areas == (Area("Theory", "Learning Theory"),)
    assert record.keywords == ("fog", "light")
    assert record.links == (
        Link(LinkKind.PAGE, "https://icml.cc/virtual/2025/poster/45001"),
        Link(LinkKind.PAGE, FORUM),
        Link(LinkKind.CODE, "https://github.com/quill/lamps"),
    )
    assert (record.published, record.listed) == (None, None)  # the day of the session is neither
    assert json.loads(record.raw)["uid"] == "f00d"


def test_a_talk_and_a_poster_of_one_paper_are_one_record() -> None:
    talk = event(
        47001, eventtype="Oral", decision="Accept (oral)", virtualsite_url="/virtual/2025/oral/47001", topic=None
    )
    for order in ((talk, event()), (event(), talk)):
        record = only(*order)
        assert (record.status, record.areas) == ("Oral", (Area("Theory", "Learning Theory"),))
        assert record.links[0].url.endswith("/poster/45001")
        assert len(json.loads(record.raw)) == 2


def test_showings_without_a_forum_are_told_by_title_and_first_author() -> None:
    talk = event(47001, eventtype="Oral", paper_url="", name="Lamps  in fog")
    record = only(talk, event(paper_url=None))
    assert (record.key, record.status, record.identifiers) == ("icml/2025/45001", "Oral", ())
    other = event(45002, paper_url=None, authors=[{"fullname": "Cy Vale"}])
    assert len(parsed(event(paper_url=None), other)) == 2


def test_a_uid_that_many_papers_share_does_not_join_them() -> None:
    entries = parsed(event(), event(45002, paper_url="https://openreview.net/forum?id=zzzDEF1234"))
    assert [entry.key for entry in entries if isinstance(entry, Record)] == ["abcDEF1234", "zzzDEF1234"]


def test_a_made_up_forum_is_none() -> None:
    record = only(event(paper_url="https://openreview.net/forum?id=2026-Oral--placeholder"))
    assert (record.key, record.identifiers) == ("icml/2025/45001", ())


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"decision": "Accept (spotlight poster)"}, "Spotlight"),
        ({"decision": "Accept", "eventtype": "Oral"}, "Oral"),
        ({"decision": None, "eventtype": "", "event_type": "{location} Poster"}, "Poster"),
        ({"decision": "Accept", "eventtype": "", "event_type": ""}, ""),
        ({"decision": "Highlight"}, "Highlight"),
        ({"decision": "Award Candidate"}, "Award"),
    ],
)
def test_how_a_paper_is_presented(fields: dict[str, Any], status: str) -> None:
    assert only(event(**fields)).status == status


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": "Reject"},
        {"decision": "Withdrawn"},
        {"visible": False},
        *(
            {"eventtype": kind}
            for kind in ("Workshop", "Tutorial", "Invited Talk", "Oral Session", "Social", "Expo Demo")
        ),
    ],
)
def test_what_is_no_accepted_paper_is_left_out(fields: dict[str, Any]) -> None:
    assert parsed(event(**fields)) == []


def test_keywords_may_be_one_text_and_a_track_is_told() -> None:
    source = "https://openreview.net/group?id=NeurIPS.cc/2025/Datasets_and_Benchmarks_Track"
    record = only(event(keywords="fog, light", sourceurl=source), venue="nips/2025")
    assert record.keywords == ("fog", "light")
    assert record.venue == "neurips"
    assert record.details == (("track", "Datasets and Benchmarks Track"),)
    assert record.links[0].url == "https://neurips.cc/virtual/2025/poster/45001"


def test_code_that_the_abstract_names_is_a_link() -> None:
    record = only(event(abstract="See https://github.com/quill/fog."))
    assert Link(LinkKind.CODE, "https://github.com/quill/fog") in record.links


def test_a_bad_entry_is_refused_and_the_others_are_kept() -> None:
    nameless = event(1, name="", paper_url="https://openreview.net/forum?id=oneDEF1234")
    wrong = event(2, abstract={"a": 1}, paper_url="https://openreview.net/forum?id=twoDEF1234")
    entries = parsed(nameless, "text", wrong, event())
    assert [str(entry) for entry in entries if isinstance(entry, Refusal)] == [
        "u: entry 1: 1: name: missing",
        "u: entry 2: not an object with the fields of a paper",
        "u: entry 3: abstract: must be text, not a mapping",
    ]
    assert [entry.key for entry in entries if isinstance(entry, Record)] == ["abcDEF1234"]


def test_what_is_no_file_of_papers() -> None:
    with pytest.raises(InputError, match="a web page"):
        list(VirtualSite.of("icml/2025").parse(Page("u", b"<html>", "")))
    assert list(VirtualSite.of("icml/2025").parse(Page("u", b"", ""))) == []
    assert parsed() == []


def test_of() -> None:
    assert VirtualSite.of("NeurIPS/2024").name == "virtual:neurips/2024"
    assert VirtualSite.of("iclr2025").name == "virtual:iclr/2025"
    with pytest.raises(SettingsError, match="virtual:icml/2025"):
        VirtualSite.of("icml")
    with pytest.raises(SettingsError, match="Known are icml, neurips"):
        VirtualSite.of("emnlp/2025")


# --- fetching --------------------------------------------------------------------------------------------------------


def part(*events: Any, count: int | None = None, following: str | None = None) -> str:
    return json.dumps({"count": count or len(events), "next": following, "results": events})


def test_the_file_is_one_page_and_is_asked_for_again_only_if_it_changed(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part(event()), headers={"ETag": '"one"'}), Answer(status=304))
    source = VirtualSite.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert page.state is SourceState.OK
    (record,) = source.parse(page)
    assert isinstance(record, Record)
    assert record.abstract == "We see less."
    (again,) = source.fetch(fakeweb.client(), page.cursor, NOW)
    assert (again.state, again.body, again.cursor) == (SourceState.QUIET, b"", page.cursor)
    assert fakeweb.requests[-1].headers["if-none-match"] == '"one"'
    assert len(fakeweb.requests) == 2  # the abstracts were in the file


def test_abstracts_that_stand_in_a_file_of_their_own_are_put_in(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part(event(abstract=None)), headers={"ETag": '"one"'}))
    fakeweb.on("icml.cc", ABSTRACTS, Answer(json.dumps({"45001": "From beside.", "9": "Of another."})))
    source = VirtualSite.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    (record,) = source.parse(page)
    assert isinstance(record, Record)
    assert record.abstract == "From beside."
    assert page.cursor


def test_without_any_abstracts_the_papers_are_taken_and_asked_for_again(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part(event(abstract=None)), headers={"ETag": '"one"'}))
    fakeweb.on("icml.cc", ABSTRACTS, Answer("not here", 404))
    source = VirtualSite.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert (len(list(source.parse(page))), page.state, page.cursor) == (1, SourceState.OK, "")


def test_the_parts_of_a_long_file_are_put_together(fakeweb: FakeWeb) -> None:
    talk = event(47001, eventtype="Oral")
    fakeweb.on("icml.cc", PAPERS, Answer(part(event(), count=2, following="http://icml.cc/api/events?page=2")))
    fakeweb.on("icml.cc", "/api/events", Answer(part(talk, count=2)))
    source = VirtualSite.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    (record,) = source.parse(page)
    assert isinstance(record, Record)
    assert (record.status, page.state) == ("Oral", SourceState.OK)


@pytest.mark.parametrize(
    ("following", "answer"),
    [
        ("https://icml.cc/api/events?page=2", Answer("no", 403)),  # as a site of 2026 did
        ("https://icml.cc/api/events?page=2", Answer(part(count=500, following="/api/events?page=3"))),  # an empty part
        ("/static/virtual/data/icml-2025-orals-posters.json", Answer("unused")),  # leads to itself
        ("https://elsewhere.example.org/events", Answer("unused")),
    ],
)
def test_what_the_site_keeps_to_itself_makes_the_page_incomplete(
    fakeweb: FakeWeb, following: str, answer: Answer
) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part(event(), count=500, following=following), headers={"ETag": '"one"'}))
    fakeweb.on("icml.cc", "/api/events", answer)
    source = VirtualSite.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert page.state is SourceState.INCOMPLETE
    assert "of 500 events" in page.remark
    assert len(list(source.parse(page))) == 1
    assert page.cursor == ""


def test_a_file_cut_short_is_incomplete(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part(event(), count=3)))
    (page,) = VirtualSite.of("icml/2025").fetch(fakeweb.client(), "", NOW)
    assert page.remark == "incomplete: 1 of 3 events, the site keeps the rest"


def test_a_conference_whose_papers_are_not_out_is_quiet(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part()))
    fakeweb.on("icml.cc", ABSTRACTS, Answer("{}"))
    (page,) = VirtualSite.of("icml/2025").fetch(fakeweb.client(), "", NOW)
    assert (page.state, page.cursor, list(VirtualSite.of("icml/2025").parse(page))) == (SourceState.QUIET, "", [])


def test_abstracts_that_cannot_be_had_for_now_are_an_error(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer(part(event(abstract=None))))
    fakeweb.on("icml.cc", ABSTRACTS, Answer("slow down", 429))
    with pytest.raises(ThrottledError):
        list(VirtualSite.of("icml/2025").fetch(fakeweb.client(), "", NOW))


def test_what_cannot_be_had_is_a_fetch_error(fakeweb: FakeWeb) -> None:
    fakeweb.on("icml.cc", PAPERS, Answer("none", 404), Answer("<html>", 200))
    for reason in ("404", "a web page where JSON was expected"):
        with pytest.raises(FetchError, match=reason):
            list(VirtualSite.of("icml/2025").fetch(fakeweb.client(), "", NOW))
