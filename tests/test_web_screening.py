"""The pages of systematic reviews: visits, statements, records and files, over a library in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from broadsheet.errors import MissingExtraError
from broadsheet.model.screening import (
    Label,
    PoolRecord,
    ReviewEventKind,
)
from broadsheet.web import create_app, screening_files, screening_pages
from broadsheet.web.identity import COOKIE
from tests import web_reviews
from tests.fake_daily import OTHER_SECRET
from tests.fake_library import FakeLibrary
from tests.fake_pool import CHINESE, PNG
from tests.fake_screening import FakeScreening
from tests.pages import NOW, Page, page
from tests.web_reviews import GETS, blinded, by, decide, last, sent

shared, app, library, desk, client = web_reviews.FIXTURES


# -------------------------------------------------------------------------------------------------------------- visits


@pytest.mark.parametrize("path", GETS)
def test_every_page_is_the_readers_own_and_kept_by_no_cache(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert "private" in response.headers["cache-control"]
    assert "alert(1)</script>" not in response.text.replace("&lt;script&gt;alert(1)&lt;/script&gt;", "")
    assert ' style="' not in response.text
    assert " onclick" not in response.text


def test_nobody_sees_reviews_on_a_site_for_others(library: FakeLibrary) -> None:
    app = create_app(library, host="0.0.0.0", now=lambda: NOW)
    with TestClient(app, base_url="http://papers.example.org") as public:
        for path in GETS:
            assert public.get(path).status_code == 403, path
        public.cookies.set(COOKIE, OTHER_SECRET)
        for path in GETS:
            assert public.get(path).status_code == 200, path


def test_a_review_is_found_by_its_number_and_by_its_name(client: TestClient) -> None:
    response = client.get("/reviews/Walks%20on%20sparse%20graphs/records?label=unread")
    assert (response.status_code, response.headers["location"]) == (302, "/reviews/1/records?label=unread")
    for path in ("/reviews/9", "/reviews/" + "9" * 30, "/reviews/nothing", "/reviews/1/records/99"):
        assert page(client, path, 404).text("h1") == "Not in this library"


def test_a_name_of_digits_is_no_number(client: TestClient, desk: FakeScreening) -> None:
    made = desk.create("2")
    assert page(client, f"/reviews/{made.id}").text("h1") == "2"


def test_the_list_tells_how_far_each_review_is(client: TestClient, desk: FakeScreening) -> None:
    empty = desk.create("Empty")
    decide(client, 1, "include")
    decide(client, 2, "exclude")
    found = page(client, "/reviews")
    cards = {attrs["href"]: at for at, (attrs, _) in enumerate(found.all("a")) if "href" in attrs}
    assert cards["/reviews/1"] < cards[f"/reviews/{empty.id}"], "what was worked on last comes first"
    lines = [text for _, text in found.all("ul", class_="facts standing-line")]
    assert lines[0] == "Screening 2 of 11 read (18 %) 1 included last worked on 2026-06-01 08:05"
    assert lines[1].startswith("Empty pool last worked on ")
    bar = found.all("progress")[0][0]
    assert (bar["max"], bar["value"]) == ("11", "2")
    assert f"/reviews/{empty.id}#pool" in found.links()
    assert "/reviews/1/conflicts" not in found.links()
    blinded(desk)
    by(desk, "ada", 1, Label.EXCLUDE)
    sent(client, "/reviews/1/stop")
    found = page(client, "/reviews")
    assert "1 in conflict" in found.text("ul", class_="facts standing-line")
    assert found.text("ul", class_="facts standing-line").startswith("Stopped")
    assert "/reviews/1/screen" not in found.links(), "first it is taken up again"


def test_a_card_names_the_rule_as_what_is_aimed_at(client: TestClient) -> None:
    text = client.get("/reviews").text
    assert "Target: recall 90\u202f% at 95\u202f% confidence, by rank advantage (b\u00a0=\u00a03)" in text


def test_the_list_leads_to_each_review_and_the_foot_to_the_list(client: TestClient) -> None:
    found = page(client, "/reviews")
    assert {"/reviews/1", "/reviews/1/screen"} <= set(found.links())
    assert "/reviews" in page(client, "/").links()


@pytest.mark.parametrize(
    "path",
    [
        *("/reviews", "/reviews/1/decide", "/reviews/1/undo", "/reviews/1/settings", "/reviews/1/remove"),
        *(
            "/reviews/1/audit",
            "/reviews/1/same",
            "/reviews/1/different",
            "/reviews/1/files",
            "/reviews/1/prior",
            "/reviews/1/stop",
            "/reviews/1/twin",
            "/reviews/import",
        ),
    ],
)
def test_no_other_site_can_send_a_form(client: TestClient, desk: FakeScreening, path: str) -> None:
    before = list(desk.events_[1])
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {}):
        data = {"record": "1", "label": "include", "name": "x", "sure": "Walks on sparse graphs"}
        response = client.post(path, data=data, headers=headers)
        assert response.status_code == 403
    assert desk.events_[1] == before
    assert list(desk.reviews_) == [1]


def test_a_library_for_reading_only_says_so(client: TestClient, desk: FakeScreening) -> None:
    desk.read_only = True
    response = decide(client, 1, "include")
    assert response.status_code == 400
    assert "open for reading only" in response.text
    assert client.get("/reviews/1").status_code == 200


# ---------------------------------------------------------------------------------------------------------- statements


def test_the_statement_names_its_class_and_assumption(client: TestClient, desk: FakeScreening) -> None:
    empty = page(client, "/reviews/1")
    assert "No estimate is possible" in empty.text("p", class_="sentence")
    assert not empty.all("svg", class_="curve")
    decide(client, 1, "include")
    decide(client, 2, "exclude")
    found = page(client, "/reviews/1")
    assert "Guaranteed under a stated assumption" in found.text("p", class_="guarantee")
    assert "at least 3 times as fast" in found.text("p", class_="sentence")
    assert not found.all("p", class_="assumption"), "what the sentence says is not said twice"
    assert "Recall is at least 83 %" in found.text("p", class_="sentence")
    assert found.all("svg", class_="curve")
    assert "We screened 2 of 11 records." in found.text("blockquote")
    assert "No guarantee" in found.text("table") or "No guarantee" in client.get("/reviews/1").text


def test_the_audits_estimate_of_the_advantage_is_shown_beside_what_is_assumed(
    client: TestClient, desk: FakeScreening
) -> None:
    decide(client, 1, "include")
    report = replace(
        desk.progress(1).report, sentence="Recall is fine.", advantage=6.12, advantage_interval=(1.3, 14.7)
    )
    desk.report = report
    said = [text for _, text in page(client, "/reviews/1").all("p", class_="assumption")]
    words = "By the audit’s finds, the ranking is about 6.1 times better than random (95 %: 1.3 to 14.7)."
    assert said == [f"Assumption {report.assumption}", f"{words} The rule assumes 3."]
    assert words in page(client, "/reviews/1/settings").text("p", class_="assumption")
    desk.report = replace(report, advantage_interval=None, stop=True)
    assert "Still to read" not in client.get("/reviews/1").text


def test_nothing_is_guaranteed_as_long_as_nothing_is_said(client: TestClient, desk: FakeScreening) -> None:
    assert page(client, "/reviews/1").text("p", class_="guarantee") == "Rule under a stated assumption"
    decide(client, 1, "include")
    assert page(client, "/reviews/1").text("p", class_="guarantee") == "Guaranteed under a stated assumption"


def test_a_statement_that_no_longer_holds_is_told_so(client: TestClient, desk: FakeScreening) -> None:
    assert "superseded" not in client.get("/reviews/1").text
    desk.overtaken = "Three records were decided after this statement."
    sent(client, "/reviews/1/stop")
    for path in ("/reviews/1", "/reviews/1/screen?end=1", "/reviews/1/history", "/reviews"):
        assert page(client, path).text("p", class_="note superseded") == desk.overtaken, path
    sent(client, "/reviews/1/reopen")
    assert "superseded" not in client.get("/reviews").text, "it is screened on"


def test_stopping_keeps_the_statement_and_can_be_taken_back(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include")
    sent(client, "/reviews/1/stop", "/reviews/1?done=stop")
    assert last(desk).kind is ReviewEventKind.STOP
    stopped = page(client, "/reviews/1")
    assert "Take up again" in [text for _, text in stopped.all("button")]
    assert "Screen on" not in [text for _, text in stopped.all("a")], "first it is taken up again"
    assert "/reviews/1/screen?stage=full-text" in [a.get("href") for a, _ in stopped.all("a")]
    assert "Recall is at least 83 %" in client.get("/reviews/1/history").text
    sent(client, "/reviews/1/reopen", "/reviews/1?done=reopen")
    assert "Stop here" in client.get("/reviews/1").text


def test_no_address_can_put_words_on_a_page(client: TestClient) -> None:
    for path in ("/reviews/1", "/reviews/1/records/1", "/reviews/1/settings"):
        assert "send money" not in client.get(f"{path}?done=send+money").text


# -------------------------------------------------------------------------------------------------- records and events


def test_records_are_narrowed_and_paged(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include")
    found = page(client, "/reviews/1/records?label=include")
    assert [a["value"] for a, _ in found.all("li") if "data-item" in a] == ["1", "6"]
    assert "also no. 6" in client.get("/reviews/1/records").text
    found = page(client, f"/reviews/1/records?q={CHINESE}")
    assert [a["value"] for a, _ in found.all("li") if "data-item" in a] == ["3"]
    desk.pools[1] += [PoolRecord(13 + at, f"more {at}") for at in range(60)]
    first = page(client, "/reviews/1/records?q=more")
    following = [a["href"] for a, _ in first.all("a", rel="next")]
    assert following == ["/reviews/1/records?q=more&after=62"]
    second = page(client, following[0])
    assert [a["value"] for a, _ in second.all("li") if "data-item" in a] == [str(n) for n in range(63, 73)]
    for query in ("label=best", "after=x"):
        assert client.get(f"/reviews/1/records?{query}").status_code == 400
    assert page(client, "/reviews/1/records?q=zzz").text("p", class_="absent") == "None of these."


def test_a_record_shows_its_history_and_what_can_be_taken_back(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include", note="good", by="ranked", place=0, unread=11, model="m@2")
    made = last(desk).id
    found = page(client, "/reviews/1/records/1")
    text = " ".join(text for _, text in found.all("tr"))
    assert "Included (ranked)" in text
    assert "m@2, place 1 of 11" in text
    sent(client, "/reviews/1/undo", "/reviews/1/records/1", event=made, back="/reviews/1/records/1")
    found = page(client, "/reviews/1/records/1")
    assert not found.all("form", class_="undo-event")
    assert sent(client, "/reviews/1/undo", back="https://evil.example/").headers["location"] == "/"


def test_what_others_did_has_no_number_and_is_not_to_be_taken_back(client: TestClient, desk: FakeScreening) -> None:
    """As a blinded screener is told it."""
    decide(client, 1, "include")
    decide(client, 1, "exclude", held="include")
    desk.events_[1] = [replace(event, id=0) for event in desk.events_[1]]
    assert not [a for a, _ in page(client, "/reviews/1/history").all("tr") if "id" in a]
    assert not page(client, "/reviews/1/records/1").all("form", class_="undo-event")


def test_a_repeat_is_said_and_taken_apart(client: TestClient, desk: FakeScreening) -> None:
    sent(client, "/reviews/1/twin", "/reviews/1/records/7?done=twin", record="7", other="8")
    assert (last(desk).kind, last(desk).record, last(desk).other) == (ReviewEventKind.TWIN, 7, 8)
    found = page(client, "/reviews/1/records/7?done=twin")
    assert "one decision now counts for both" in found.text("p", class_="note")
    assert "/reviews/1/records/8" in found.links()
    sent(client, "/reviews/1/apart", "/reviews/1/records/7?done=apart", record="7")
    assert last(desk).kind is ReviewEventKind.APART
    assert sent(client, "/reviews/1/twin", record="7", other="99").status_code == 404
    assert sent(client, "/reviews/1/twin", record="7", other="").status_code == 400


def test_the_history_is_newest_first_and_paged(
    client: TestClient, desk: FakeScreening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screening_pages, "EVENTS", 3)
    for number in (1, 2, 3):
        decide(client, number, "include")
    first = page(client, "/reviews/1/history")
    assert [a["id"] for a, _ in first.all("tr") if "id" in a] == ["e5", "e4", "e3"]
    older = [a["href"] for a, _ in first.all("a", rel="next")]
    assert older == ["/reviews/1/history?before=2"]
    second = page(client, older[0])
    assert [a["id"] for a, _ in second.all("tr") if "id" in a] == ["e2", "e1"]
    assert not second.all("a", rel="next")


# --------------------------------------------------------------------------------------------------------------- files


def test_agreement_is_a_table(client: TestClient, desk: FakeScreening) -> None:
    assert "takes two screeners" in client.get("/reviews/1/agreement").text
    blinded(desk)
    rows = [text for _, text in page(client, "/reviews/1/agreement").all("tr")]
    assert rows[1:] == ["me, ada 40 90 % \u22120.06 \u22120.20 to 0.10"], "not yet of two others"
    sent(client, "/reviews/1/stop", "/reviews/1?done=stop")
    rows = [text for _, text in page(client, "/reviews/1/agreement").all("tr")]
    assert rows[2:] == ["ada, bo 0 – – –"]


def test_the_flow_diagram_is_shown_and_taken_away(client: TestClient) -> None:
    found = page(client, "/reviews/1/prisma")
    image = found.all("img")[0][0]
    assert image["src"] == "/reviews/1/prisma.svg"
    assert "7 records screened, 1 included" in image["alt"]
    rows = [text for _, text in found.all("tr")]
    assert {"Identified: search: <walks> 3", "Removed for other reasons (without title and abstract) 2"} <= set(rows)
    svg = client.get("/reviews/1/prisma.svg")
    assert svg.headers["content-type"] == "image/svg+xml"
    assert svg.headers["content-disposition"] == 'inline; filename="walks-on-sparse-graphs-prisma.svg"'
    png = client.get("/reviews/1/prisma.png?download=1")
    assert (png.content, png.headers["content-type"]) == (PNG, "image/png")
    assert png.headers["content-disposition"].startswith("attachment")


def test_a_picture_that_cannot_be_made_here_says_what_to_install(
    client: TestClient, desk: FakeScreening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str | int) -> bytes:
        raise MissingExtraError('PNG needs resvg: pip install "broadsheet[png]", or take the SVG')

    monkeypatch.setattr(desk, "prisma_png", missing)
    found = page(client, "/reviews/1/prisma.png", 501)
    assert found.text("h1") == "Not installed here"
    assert "pip install" in found.text("main")


@pytest.mark.parametrize("form", screening_files.FILE_FORMS, ids=lambda form: form.name)
def test_a_review_is_taken_away_in_every_form(client: TestClient, form: screening_files.FileForm) -> None:
    assert f"/reviews/1/export/{form.name}" in page(client, "/reviews/1/export").links()
    response = client.get(f"/reviews/1/export/{form.name}")
    assert response.text.startswith(f"{form.name} of Walks on sparse graphs\n1\tRandom restarts")
    assert response.headers["content-type"] == form.media_type
    assert response.headers["content-disposition"] == f'attachment; filename="walks-on-sparse-graphs.{form.ending}"'


def test_what_is_included_is_taken_away_alone(client: TestClient) -> None:
    links = page(client, "/reviews/1/export").links()
    assert "/reviews/1/export/ris?label=include" in links
    assert "/reviews/1/export/record?label=include" not in links, "a part of a review cannot be replayed"
    response = client.get("/reviews/1/export/ris?label=include")
    assert response.text.startswith("ris of Walks on sparse graphs, only include\n")
    assert response.headers["content-disposition"] == 'attachment; filename="walks-on-sparse-graphs-included.ris"'
    assert client.get("/reviews/1/export/ris?label=maybe").status_code == 400


def test_a_name_without_letters_of_ascii_has_a_file_name(client: TestClient, desk: FakeScreening) -> None:
    made = desk.create("筛查")
    response = client.get(f"/reviews/{made.id}/export/ris")
    assert response.headers["content-disposition"] == f'attachment; filename="review-{made.id}.ris"'


def test_a_review_is_taken_in(client: TestClient, desk: FakeScreening) -> None:
    sent(client, "/reviews/import", "/reviews/2", files=[("file", ("a.jsonl", b"{}\n"))], name="Again")
    assert desk.reviews_[2].name == "Again"
    assert sent(client, "/reviews/import", files=[("file", ("a.jsonl", b"no"))]).status_code == 400
    assert sent(client, "/reviews/import", name="x").status_code == 400


def test_pages_read_as_documents(client: TestClient) -> None:
    for path in GETS:
        source = client.get(path).text
        assert len(Page(source).all("h1")) == 1, path
        ids = [attrs["id"] for tag, attrs, _ in Page(source).elements if "id" in attrs]
        assert len(ids) == len(set(ids)), path
