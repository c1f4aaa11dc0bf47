"""The pages and forms of systematic reviews, over a library in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from broadsheet.errors import MissingExtraError
from broadsheet.model.screening import (
    Chosen,
    GuaranteeClass,
    Label,
    PoolRecord,
    ReviewEvent,
    ReviewEventKind,
    Sharing,
    Stage,
)
from broadsheet.web import create_app, screening_files, screening_pages
from broadsheet.web.identity import COOKIE
from tests.fake_daily import OTHER_SECRET, FakeDaily
from tests.fake_library import FakeLibrary
from tests.fake_screening import CHINESE, HOSTILE, PNG, FakeScreening, pool
from tests.pages import BASE, NOW, Page, page

OWN = {"origin": BASE}
RANKED = "by=ranked&unread=11&model=nb-logistic%2Ftfidf%402"
GETS = (
    *("/reviews", "/reviews/1", "/reviews/1/settings", "/reviews/1/screen/1", "/reviews/1/records"),
    *("/reviews/1/records/2", "/reviews/1/history", "/reviews/1/conflicts", "/reviews/1/agreement"),
    *("/reviews/1/prisma", "/reviews/1/export", "/reviews/1/screen?end=1"),
)


@pytest.fixture(scope="module")
def shared() -> FakeLibrary:
    """The library of the one site of these tests: making a site takes longer than most of them."""
    return FakeLibrary()


@pytest.fixture(scope="module")
def app(shared: FakeLibrary) -> FastAPI:
    return create_app(shared, now=lambda: NOW, max_upload=200_000)


@pytest.fixture
def library(shared: FakeLibrary) -> FakeLibrary:
    """The library as no test has touched it."""
    shared.daily, shared.screening = FakeDaily(shared), FakeScreening(shared)
    return shared


@pytest.fixture
def desk(library: FakeLibrary) -> FakeScreening:
    return library.screening


@pytest.fixture
def client(library: FakeLibrary, app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=BASE, follow_redirects=False) as found:
        yield found


def sent(client: TestClient, path: str, to: str | None = None, files: Any = None, **fields: Any) -> Any:
    """Send a form as a page of the site does; ``to`` is where it must lead."""
    response = client.post(path, data=fields, files=files, headers=OWN)
    if to is not None:
        assert (response.status_code, response.headers.get("location")) == (303, to), response.text[-400:]
    return response


def decide(client: TestClient, record: int, label: str, **more: Any) -> Any:
    return sent(client, "/reviews/1/decide", record=record, label=label, **more)


def decisions(desk: FakeScreening, review: int = 1) -> list[tuple[str, int, str]]:
    kinds = (ReviewEventKind.DECIDE, ReviewEventKind.RESOLVE)
    return [(e.screener, e.record, str(e.label)) for e in desk.events_[review] if e.kind in kinds]


def last(desk: FakeScreening, review: int = 1) -> ReviewEvent:
    return desk.events_[review][-1]


def blinded(desk: FakeScreening, *screeners: str) -> None:
    desk.change(1, sharing=Sharing.BLINDED, screeners=screeners or ("me", "ada"))


def by(desk: FakeScreening, screener: str, number: int, label: Label, **more: Any) -> None:
    desk.decide(1, number, label, screener, offer=desk.look(1, number, screener), **more)


# ------------------------------------------------------------------------------------------------------------- visits


@pytest.mark.parametrize("path", GETS)
def test_every_page_is_the_readers_own_and_kept_by_no_cache(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert "private" in response.headers["cache-control"]
    assert "alert(1)</script>" not in response.text.replace("&lt;script&gt;alert(1)&lt;/script&gt;", "")
    assert ' style="' not in response.text
    assert " onclick" not in response.text


@pytest.mark.parametrize("path", GETS)
def test_nobody_sees_reviews_on_a_site_for_others(library: FakeLibrary, path: str) -> None:
    app = create_app(library, host="0.0.0.0", now=lambda: NOW)
    with TestClient(app, base_url="http://papers.example.org") as public:
        assert public.get(path).status_code == 403
        public.cookies.set(COOKIE, OTHER_SECRET)
        assert public.get(path).status_code == 200


def test_a_review_is_found_by_its_number_and_by_its_name(client: TestClient) -> None:
    response = client.get("/reviews/Walks%20on%20sparse%20graphs/records?label=unread")
    assert (response.status_code, response.headers["location"]) == (302, "/reviews/1/records?label=unread")
    for path in ("/reviews/9", "/reviews/" + "9" * 30, "/reviews/nothing", "/reviews/1/records/99"):
        assert page(client, path, 404).text("h1") == "Not in this library"


def test_a_name_of_digits_is_no_number(client: TestClient, desk: FakeScreening) -> None:
    made = desk.create("2")
    assert page(client, f"/reviews/{made.id}").text("h1") == "2"


def test_the_list_leads_to_each_review_and_the_foot_to_the_list(client: TestClient) -> None:
    found = page(client, "/reviews")
    assert {"/reviews/1", "/reviews/1/screen"} <= set(found.links())
    assert "/reviews" in page(client, "/").links()


@pytest.mark.parametrize(
    "path",
    [
        *("/reviews", "/reviews/1/decide", "/reviews/1/undo", "/reviews/1/settings", "/reviews/1/remove"),
        *("/reviews/1/files", "/reviews/1/prior", "/reviews/1/stop", "/reviews/1/twin", "/reviews/import"),
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


# --------------------------------------------------------------------------------------------------------------- plan


def test_a_review_is_begun_with_criteria_and_a_rule(client: TestClient, desk: FakeScreening) -> None:
    sent(
        client,
        "/reviews",
        "/reviews/2",
        name="Sleep <b>",
        question="Does it\r\nhelp?",
        include="POP: adults",
        exclude="no data",
        target="97,5",
        confidence="90",
        rule="distribution-free",
        joined="or",
        second="budget",
        budget="500",
        advantage="4",
    )
    plan = desk.reviews_[2].plan
    assert plan.question == "Does it\nhelp?"
    assert [(c.code, c.text, c.excludes) for c in plan.criteria] == [("POP", "adults", False), ("E1", "no data", True)]
    assert plan.stopping.rule == "distribution-free or budget"
    assert (plan.stopping.target, plan.stopping.confidence, plan.stopping.budget) == (0.975, 0.9, 500)
    assert plan.stopping.advantage == 4
    assert page(client, "/reviews/2").text("h1") == "Sleep <b>"


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "Walks on sparse graphs"}, {"name": "x", "target": "100"}])
def test_what_cannot_be_begun_is_refused_with_a_reason(
    client: TestClient, desk: FakeScreening, fields: dict[str, str]
) -> None:
    response = sent(client, "/reviews", **fields)
    assert response.status_code == 400
    assert "name:" in response.text or "target:" in response.text
    assert '<a href="/reviews">the reviews</a>' in response.text
    assert list(desk.reviews_) == [1]


@pytest.mark.parametrize(
    "fields",
    [
        *({"target": "0"}, {"target": "100"}, {"target": "120"}, {"confidence": "100"}, {"target": "much"}),
        *({"advantage": "0.5"}, {"advantage": "nan"}, {"in_a_row": "0"}, {"budget": "-1"}, {"sharing": "secret"}),
        *({"rule": "chao", "second": "budget", "joined": "xor"}, {"question": "x" * 20_001}),
    ],
)
def test_plans_that_cannot_be_are_refused(client: TestClient, desk: FakeScreening, fields: dict[str, str]) -> None:
    before = desk.reviews_[1]
    refused = sent(client, "/reviews/1/settings", **fields)
    assert refused.status_code == 400
    assert '<a href="/reviews/1">the review</a>' in refused.text
    assert desk.reviews_[1] == before


def test_the_plan_is_shown_as_it_can_be_sent_again(client: TestClient, desk: FakeScreening) -> None:
    found = page(client, "/reviews/1/settings")
    fields: dict[str, Any] = {
        attrs["name"]: text.replace("\n", "\r\n") for attrs, text in found.all("textarea") if attrs.get("name")
    }
    assert fields["terms"] == "sparse, restarts, -survey"
    for attrs, _ in found.all("input"):
        if attrs.get("type") == "radio":
            if "checked" in attrs:
                fields[attrs["name"]] = attrs["value"]
        elif attrs.get("name") not in (None, "q", "sure"):
            fields[attrs["name"]] = attrs["value"]
    source = client.get("/reviews/1/settings").text
    for name in ("include", "exclude"):  # the reader of these tests folds lines
        fields[name] = source.partition(f'name="{name}"')[2].partition(">")[2].partition("</textarea>")[0]
    before = desk.reviews_[1].plan
    sent(client, "/reviews/1/settings", "/reviews/1/settings?done=plan", **fields)
    assert desk.reviews_[1].plan == before


def test_what_a_page_does_not_know_of_a_plan_is_kept(client: TestClient, desk: FakeScreening) -> None:
    desk.change(1, seed=7, querier="anchors")
    sent(client, "/reviews/1/settings", screeners="me, ada", sharing="blinded")
    plan = desk.reviews_[1].plan
    assert (plan.seed, plan.querier, plan.screeners, plan.sharing) == (7, "anchors", ("me", "ada"), Sharing.BLINDED)
    assert plan.criteria


def test_a_review_is_removed_only_by_its_name(client: TestClient, desk: FakeScreening) -> None:
    assert sent(client, "/reviews/1/remove", sure="yes").status_code == 400
    assert list(desk.reviews_) == [1]
    sent(client, "/reviews/1/remove", "/reviews", sure="Walks on sparse graphs")
    assert list(desk.reviews_) == []


# --------------------------------------------------------------------------------------------------------------- pool


def test_the_pool_is_filled_from_several_files(client: TestClient, desk: FakeScreening) -> None:
    files = [("file", ("../up/a.ris", b"one\ntwo\n")), ("file", ("C:\\b.csv", "三".encode())), ("file", ("", b""))]
    sent(client, "/reviews/1/files", "/reviews/1?done=added#pool", files=files)
    assert desk.sent == [("a.ris", b"one\ntwo\n"), ("b.csv", "三".encode())]
    assert "Added to the pool." in page(client, "/reviews/1?done=added").text("p", class_="note")


def test_no_file_is_said(client: TestClient) -> None:
    response = sent(client, "/reviews/1/files", files=[("file", ("", b""))])
    assert response.status_code == 400
    assert "No file was chosen" in response.text


def test_the_setting_bounds_what_is_sent(client: TestClient, desk: FakeScreening) -> None:
    assert sent(client, "/reviews/1/files", files=[("file", ("a.ris", b"x" * 150_000))]).status_code == 303
    response = sent(client, "/reviews/1/files", files=[("file", ("a.ris", b"x" * 250_000))])
    assert response.status_code == 413
    assert len(desk.sent) == 1
    assert sent(client, "/reviews/1/prior", numbers="1 " * 100_000, label="include").status_code == 413


def test_what_was_refused_is_listed_with_its_source(client: TestClient) -> None:
    found = page(client, "/reviews/1")
    assert "entry 7: <b>" in [text for _, text in found.all("li")]
    assert "hits.ris 13 12 1 1 5" in " ".join(text for _, text in found.all("tr"))


def test_a_search_a_saved_search_and_papers_fill_the_pool(client: TestClient, desk: FakeScreening) -> None:
    before = len(desk.pools[1])
    sent(client, "/reviews/1/search", "/reviews/1?done=added#pool", query="steps", limit="3")
    assert len(desk.pools[1]) == before + 3
    sent(client, "/reviews/1/saved-search", "/reviews/1?done=added#pool", search="1")
    sent(client, "/reviews/1/papers", "/reviews/1?done=added#pool", papers="1, 2\n3")
    assert [record.paper for record in desk.pools[1][-3:]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("search", {"query": ""}, 400),
        ("search", {"query": "x", "limit": "0"}, 400),
        ("saved-search", {"search": "99"}, 404),
        ("saved-search", {"search": "x"}, 400),
        ("papers", {"papers": " "}, 400),
        ("papers", {"papers": "99999"}, 404),
        ("prior", {"numbers": "", "label": "include"}, 400),
        ("prior", {"numbers": "1,x", "label": "include"}, 400),
        ("prior", {"numbers": "1", "label": "later"}, 400),
        ("prior", {"numbers": "99", "label": "include"}, 404),
    ],
)
def test_what_cannot_fill_a_pool(
    client: TestClient, desk: FakeScreening, path: str, fields: dict[str, str], status: int
) -> None:
    before = list(desk.events_[1])
    assert sent(client, f"/reviews/1/{path}", **fields).status_code == status
    assert desk.events_[1] == before


def test_what_is_known_before_is_said_by_number(client: TestClient, desk: FakeScreening) -> None:
    sent(client, "/reviews/1/prior", "/reviews/1?done=prior", numbers="1, 7\n8", label="include")
    assert decisions(desk) == [("me", 1, "include"), ("me", 7, "include"), ("me", 8, "include")]
    assert last(desk).chosen is Chosen.PRIOR
    assert "(known before)" in client.get("/reviews/1/records").text
    hidden = {a["name"]: a["value"] for a, _ in page(client, "/reviews/1/records/9").all("input", type="hidden")}
    sent(client, "/reviews/1/prior", hidden["back"], numbers="9", label="exclude", back=hidden["back"])
    assert "Taken as known" in page(client, hidden["back"]).text("p", class_="note")
    assert not page(client, "/reviews/1/records/9").all("button", name="label")


# ---------------------------------------------------------------------------------------------------------- screening


def test_the_next_record_has_an_address_that_says_how_it_was_chosen(client: TestClient) -> None:
    response = client.get("/reviews/1/screen")
    assert response.status_code == 302
    assert response.headers["location"] == f"/reviews/1/screen/1?{RANKED}"
    found = page(client, response.headers["location"])
    assert found.text("h1") == "Random restarts of walks on sparse graphs"
    assert "First of 11 unread" in found.text("p", class_="kicker chosen-ranked")
    hidden = {a["name"]: a["value"] for a, _ in found.all("input", type="hidden")}
    assert hidden["record"] == "1"
    assert (hidden["by"], hidden["place"], hidden["unread"], hidden["model"]) == (
        *("ranked", "0", "11"),
        "nb-logistic/tfidf@2",
    )
    assert [a["value"] for a, _ in found.all("button", name="label")] == ["include", "exclude", "later"]


def test_a_record_is_shown_with_highlights_criteria_and_where_to_read_it(client: TestClient) -> None:
    found = page(client, f"/reviews/1/screen/1?{RANKED}")
    assert ("sparse") in [text for _, text in found.all("mark", class_="reader for")]
    assert found.all("mark", class_="model against") == []
    assert "Restarts left fewer" in found.text("span", class_="deciding-sentence")
    boxes = [attrs["value"] for attrs, _ in found.all("input", type="checkbox", name="reason")]
    assert boxes == ["GRAPH", "RESTART", "DENSE", "NODATA", "SURVEY"]
    keys = [attrs["data-key"] for attrs, _ in found.all("input", type="checkbox", name="reason")]
    assert keys == ["1", "2", "3", "4", "5"]
    assert "https://doi.org/10.1000/walks.1" in found.links()


def test_texts_of_records_are_shown_as_they_are(client: TestClient) -> None:
    found = page(client, "/reviews/1/screen/2")
    assert found.text("h1") == HOSTILE
    assert "<b>markup</b> & an ampersand" in found.text("div", class_="abstract")
    chinese = page(client, "/reviews/1/screen/3")
    assert chinese.text("h1", lang="zh") == CHINESE
    assert page(client, "/reviews/1/screen/4").text("h1") == "Without a title"
    assert "Without an abstract" in client.get("/reviews/1/screen/5").text


def test_an_address_of_a_record_that_is_no_web_address_is_no_link(client: TestClient, desk: FakeScreening) -> None:
    desk.pools[1][0] = replace(desk.pools[1][0], url="javascript:alert(1)")
    assert not [link for link in page(client, "/reviews/1/screen/1").links() if link.startswith("javascript")]


def test_a_decision_is_kept_with_how_the_record_was_chosen_and_leads_on(
    client: TestClient, desk: FakeScreening
) -> None:
    response = decide(
        *(client, 1, "exclude"),
        **{"by": "ranked", "place": 3, "unread": 11, "model": "nb-logistic/tfidf@2"},
        reason=["DENSE", "SURVEY"],
        note="  two\r\nlines ",
    )
    event = last(desk)
    assert (event.record, event.label, event.chosen, event.place, event.unread) == (
        *(1, Label.EXCLUDE, Chosen.RANKED, 3, 11),
    )
    assert (event.model, event.reasons, event.note) == ("nb-logistic/tfidf@2", ("DENSE", "SURVEY"), "two\nlines")
    assert response.headers["location"].startswith("/reviews/1/screen/2?by=ranked")
    assert response.headers["location"].endswith("&was=1")
    found = page(client, response.headers["location"])
    assert found.text("p", class_="note").startswith("Excluded: Random restarts")
    undo = [a["value"] for a, _ in found.all("input", type="hidden", name="event")]
    assert undo == [str(event.id)]


def test_a_record_picked_by_hand_says_so(client: TestClient, desk: FakeScreening) -> None:
    found = page(client, "/reviews/1/screen/8")
    assert "no evidence" in found.text("p", class_="kicker chosen-manual")
    assert not found.all("input", type="hidden", name="by")
    decide(client, 8, "include")
    assert last(desk).chosen is Chosen.MANUAL


def test_a_form_labels_the_record_that_it_shows_however_old_it_is(client: TestClient, desk: FakeScreening) -> None:
    stale = {"by": "ranked", "place": 3, "unread": 11, "model": "m@2"}
    decide(client, 1, "include", **stale)
    decide(client, 2, "exclude", by="ranked", place=1, unread=10, model="m@3")
    decide(client, 1, "exclude", **stale)  # sent from the page that "back" shows
    assert decisions(desk) == [("me", 1, "include"), ("me", 2, "exclude"), ("me", 1, "exclude")]


def test_what_is_sent_twice_is_kept_once(client: TestClient, desk: FakeScreening) -> None:
    first = decide(client, 1, "include", reason="GRAPH", note="x")
    again = decide(client, 1, "include", reason="GRAPH", note="x")
    assert decisions(desk) == [("me", 1, "include")]
    assert again.headers["location"].partition("?")[0] == first.headers["location"].partition("?")[0]
    decide(client, 1, "include", reason="GRAPH", note="another note")
    assert len(decisions(desk)) == 2


def test_going_back_shows_what_was_decided_and_lets_it_be_changed(client: TestClient, desk: FakeScreening) -> None:
    address = client.get("/reviews/1/screen").headers["location"]
    decide(client, 1, "exclude", reason="DENSE", note="why")
    found = page(client, address)
    assert "Excluded so far" in found.text("p", class_="held")
    assert "keeps its place" in page(client, "/reviews/1/screen/1").text("p", class_="kicker chosen-manual")
    pressed = [a["value"] for a, _ in found.all("button") if a.get("aria-pressed") == "true"]
    assert pressed == ["exclude"]
    assert [a["value"] for a, _ in found.all("input", name="reason") if "checked" in a] == ["DENSE"]
    assert found.text("textarea", id="note") == "why"
    decide(client, 1, "include", held="exclude")
    assert decisions(desk)[-1] == ("me", 1, "include")


def test_an_inclusion_has_no_reason_to_exclude(client: TestClient, desk: FakeScreening) -> None:
    """As when an exclusion is corrected: its reason is still marked on the page."""
    decide(client, 1, "include", reason=["DENSE", "GRAPH", "not-retrieved"])
    assert last(desk).reasons == ("GRAPH",)
    decide(client, 2, "exclude", reason=["DENSE", "GRAPH"])
    assert last(desk).reasons == ("DENSE", "GRAPH")


def test_in_a_shared_review_nobody_is_overruled_unseen(client: TestClient, desk: FakeScreening) -> None:
    address = client.get("/reviews/1/screen").headers["location"]
    assert "held" in {a["name"] for a, _ in page(client, address).all("input", type="hidden")}
    by(desk, "ada", 1, Label.EXCLUDE)
    response = decide(client, 1, "include", held="")
    assert response.headers["location"] == "/reviews/1/screen/1?note=meanwhile"
    assert decisions(desk) == [("ada", 1, "exclude")]
    found = page(client, response.headers["location"])
    assert "Somebody else decided this record meanwhile: excluded" in found.text("p", role="alert")
    decide(client, 1, "include", held="exclude")
    assert decisions(desk)[-1] == ("me", 1, "include")


def test_undo_shows_the_record_again_as_it_was_offered(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include", by="ranked", place=0, unread=11, model="nb-logistic/tfidf@2")
    made = last(desk).id
    response = sent(client, "/reviews/1/undo", event=made)
    assert response.headers["location"] == f"/reviews/1/screen/1?undone=1&{RANKED}"
    assert last(desk).undoes == made
    found = page(client, response.headers["location"])
    assert "Taken back" in found.text("p", class_="note")
    assert not [a for a, _ in found.all("button") if a.get("aria-pressed") == "true"]


def test_undo_without_a_number_takes_back_the_last_one_and_nothing_is_no_fault(
    client: TestClient, desk: FakeScreening
) -> None:
    sent(client, "/reviews/1/undo", "/reviews/1/screen")
    decide(client, 1, "include")
    decide(client, 2, "include")
    sent(client, "/reviews/1/undo", "/reviews/1/screen/2?undone=1&by=manual")
    assert desk.record(1, 1).label is Label.INCLUDE
    assert desk.record(1, 2).label is None


@pytest.mark.parametrize(
    "fields",
    [
        {"label": "maybe"},
        {"record": "0"},
        {"record": "x"},
        {"by": "prior"},
        {"by": "ranked", "place": "3", "unread": "3"},
        {"note": "x" * 20_001},
        {"mode": "fast"},
    ],
)
def test_decisions_that_cannot_be(client: TestClient, desk: FakeScreening, fields: dict[str, str]) -> None:
    assert sent(client, "/reviews/1/decide", **{"record": "1", "label": "include", **fields}).status_code == 400
    assert decisions(desk) == []
    assert sent(client, "/reviews/1/decide", record="99", label="include").status_code == 404


def test_another_order_is_kept_from_record_to_record(client: TestClient, desk: FakeScreening) -> None:
    response = client.get("/reviews/1/screen?mode=random")
    assert "by=random" in response.headers["location"]
    assert "mode=random" in response.headers["location"]
    response = decide(client, 1, "exclude", mode="random", by="random", unread=11)
    assert "by=random" in response.headers["location"]
    assert client.get("/reviews/1/screen?mode=x").status_code == 400


def test_later_leaves_a_record_unread(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "later")
    assert "0 of 11 read" in page(client, "/reviews/1/screen/1").text("p", class_="progress-line")
    assert "Put off" in client.get("/reviews/1/records?label=later").text


def test_at_the_end_the_statement_stands(client: TestClient, desk: FakeScreening) -> None:
    for record in pool():
        if not record.twin:
            response = decide(client, record.number, "exclude")
    assert response.headers["location"] == "/reviews/1/screen?end=1&was=12"
    found = page(client, response.headers["location"])
    assert found.text("h1") == "Nothing left to offer"
    assert "Read the full texts" not in [text for _, text in found.all("a")], "nothing was included"
    decide(client, 12, "include", held="exclude")
    assert "Read the full texts" in [text for _, text in page(client, "/reviews/1/screen?end=1").all("a")]
    decide(client, 12, "exclude", held="include")
    assert "No estimate is possible" in found.text("p", class_="sentence")
    assert "Undo" in [text for _, text in found.all("button")]


def test_full_texts_come_after_titles(client: TestClient, desk: FakeScreening) -> None:
    response = client.get("/reviews/1/screen?stage=full-text")
    assert response.headers["location"] == "/reviews/1/screen?end=1&stage=full-text"
    assert "Nothing to read in full yet" in client.get(response.headers["location"]).text
    found = page(client, "/reviews/1/screen/1?stage=full-text")
    assert "not-retrieved" in [a["value"] for a, _ in found.all("input", name="reason")]
    decide(client, 1, "exclude", stage="full-text", reason="not-retrieved")
    assert (last(desk).stage, last(desk).reasons) == (Stage.FULL_TEXT, ("not-retrieved",))
    assert client.get("/reviews/1?stage=half").status_code == 400


def test_when_the_rule_says_stop_the_sheet_says_so(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include")
    report = desk.progress(1).report
    desk.report = replace(report, stop=True, refuted=True, guarantee=GuaranteeClass.DISTRIBUTION_FREE)
    text = client.get("/reviews/1/screen/2").text
    assert "The declared rule says that screening may stop" in text
    assert "The audit has refuted the assumption" in text
    found = page(client, "/reviews/1")
    assert "Guaranteed without assumptions" in found.text("p", class_="guarantee")
    assert "Assumption refuted" in found.text("p", class_="guarantee")


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


# ------------------------------------------------------------------------------------------------- records and events


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
    assert older == ["/reviews/1/history?before=3"]
    second = page(client, older[0])
    assert [a["id"] for a, _ in second.all("tr") if "id" in a] == ["e2", "e1"]
    assert not second.all("a", rel="next")


# ------------------------------------------------------------------------------------------------------------ blinded


def test_a_blinded_screener_sees_nothing_of_others(client: TestClient, desk: FakeScreening) -> None:
    blinded(desk)
    by(desk, "ada", 1, Label.EXCLUDE, reasons=("SURVEY",), note="adas words")
    by(desk, "ada", 2, Label.EXCLUDE, note="adas words")
    decide(client, 2, "include")
    for path in GETS:
        text = client.get(path).text
        if path not in ("/reviews/1/records/2", "/reviews/1/history", "/reviews/1/conflicts"):
            assert "adas words" not in text, path
    found = page(client, "/reviews/1/screen/1")
    assert not [a for a, _ in found.all("button") if a.get("aria-pressed") == "true"]
    assert not [a for a, _ in found.all("input", name="reason") if "checked" in a]
    rows = {a["value"]: text for a, text in page(client, "/reviews/1/records").all("li") if "data-item" in a}
    assert "Unread" in rows["1"]
    assert "In conflict" in rows["2"]
    history = " ".join(text for _, text in page(client, "/reviews/1/history").all("tr"))
    assert "SURVEY" not in history
    assert "1 of 11 read" in page(client, "/reviews/1/screen/1").text("p", class_="progress-line")


def test_in_a_blinded_review_another_ones_decision_does_not_stand_in_the_way(
    client: TestClient, desk: FakeScreening
) -> None:
    blinded(desk)
    by(desk, "ada", 1, Label.EXCLUDE)
    response = decide(client, 1, "include", held="")
    assert response.headers["location"].startswith("/reviews/1/screen/2")
    assert decisions(desk)[-1] == ("me", 1, "include")


def test_conflicts_are_shown_to_those_who_decided_and_resolved(client: TestClient, desk: FakeScreening) -> None:
    blinded(desk, "me", "ada", "bo")
    for who, label in (("ada", Label.EXCLUDE), ("bo", Label.INCLUDE)):
        by(desk, who, 1, label, note=f"{who} thinks so")
    assert "ada thinks so" not in client.get("/reviews/1/conflicts").text
    decide(client, 1, "include")
    found = page(client, "/reviews/1/conflicts")
    assert "ada Excluded “ada thinks so”" in [text for _, text in found.all("li")]
    assert sent(client, "/reviews/1/resolve", record="1", label="later").status_code == 400
    sent(client, "/reviews/1/resolve", "/reviews/1/conflicts", record="1", label="include", note="talked it over")
    assert (last(desk).kind, last(desk).note) == (ReviewEventKind.RESOLVE, "talked it over")
    assert "None" in page(client, "/reviews/1/conflicts").text("p", class_="absent")


def test_files_of_a_blinded_review_are_withheld_until_it_is_done(client: TestClient, desk: FakeScreening) -> None:
    blinded(desk)
    assert "blinded and not finished" in page(client, "/reviews/1/export").text("p", class_="note")
    for form in screening_files.FILE_FORMS:
        assert client.get(f"/reviews/1/export/{form.name}").status_code == 400
    sent(client, "/reviews/1/stop", "/reviews/1?done=stop")
    assert client.get("/reviews/1/export/ris").status_code == 200


def test_whoever_does_not_screen_coordinates(client: TestClient, desk: FakeScreening) -> None:
    blinded(desk, "ada", "bo")
    by(desk, "ada", 1, Label.EXCLUDE, note="adas words")
    assert "adas words" in client.get("/reviews/1/records/1").text
    assert client.get("/reviews/1/export/ris").status_code == 200
    found = page(client, "/reviews/1/screen")
    assert found.text("h1") == "Not among the screeners"
    assert not page(client, "/reviews/1/screen/1").all("button", name="label")
    assert decide(client, 1, "include").status_code == 400
    assert decisions(desk) == [("ada", 1, "exclude")]


# -------------------------------------------------------------------------------------------------------------- files


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
