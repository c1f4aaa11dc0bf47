"""Deciding on the pages of systematic reviews, alone and blinded, over a library in memory."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from broadsheet.model.screening import (
    Chosen,
    GuaranteeClass,
    Label,
    ReviewEventKind,
    Stage,
)
from broadsheet.web import screening_files
from tests import web_reviews
from tests.fake_pool import CHINESE, HOSTILE, pool
from tests.fake_screening import FakeScreening
from tests.pages import Page, page
from tests.web_reviews import GETS, OWN, RANKED, blinded, by, decide, decisions, last, sent

shared, app, library, desk, client = web_reviews.FIXTURES


# ----------------------------------------------------------------------------------------------------------- screening


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
    assert response.status_code == 409
    assert decisions(desk) == [("ada", 1, "exclude")]
    assert "Somebody else decided this record meanwhile: excluded" in Page(response.text).text("p", role="alert")
    decide(client, 1, "include", held="exclude")
    assert decisions(desk)[-1] == ("me", 1, "include")


def test_a_second_tab_is_told_and_loses_nothing(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include", held="", reason="GRAPH", note="from the first tab")
    how = {"by": "ranked", "place": 0, "unread": 11, "model": "m@2"}
    response = decide(client, 1, "exclude", held="", reason="DENSE", note="from the second tab", **how)
    assert response.status_code == 409
    assert decisions(desk) == [("me", 1, "include")]
    found = Page(response.text)
    told = found.text("p", role="alert")
    assert re.match(r"You decided this record on another page at \d{4}-\d\d-\d\d \d\d:\d\d: included\.", told)
    assert "Your decision, exclude, was not kept" in told
    assert [a["value"] for a, _ in found.all("input", name="reason") if "checked" in a] == ["DENSE"]
    assert found.text("textarea", id="note") == "from the second tab"
    hidden = {a["name"]: a["value"] for a, _ in found.all("input", type="hidden")}
    assert {name: hidden[name] for name in ("held", *how)} == {
        "held": "include",
        **{name: str(value) for name, value in how.items()},
    }
    sent(client, "/reviews/1/decide", label="exclude", reason="DENSE", note="from the second tab", **hidden)
    assert decisions(desk)[-1] == ("me", 1, "exclude")


def test_a_tab_that_shows_what_was_taken_back_is_told(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include", held="")
    sent(client, "/reviews/1/undo")
    response = decide(client, 1, "exclude", held="include")
    assert response.status_code == 409
    assert "was taken back meanwhile" in Page(response.text).text("p", role="alert")


def test_the_same_from_a_second_tab_is_no_news(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include", held="")
    assert decide(client, 1, "include", held="").status_code == 303
    assert decisions(desk) == [("me", 1, "include")]


def test_a_script_is_told_where_to_go_on(client: TestClient, desk: FakeScreening) -> None:
    """So that the page can stay where the server cannot be reached."""
    headers = {**OWN, "accept": "application/json"}
    fields = {"record": "1", "label": "include", "held": ""}
    response = client.post("/reviews/1/decide", data=fields, headers=headers)
    assert response.status_code == 200
    assert response.json()["next"].startswith("/reviews/1/screen/2?by=ranked")
    fields |= {"label": "exclude"}
    assert client.post("/reviews/1/decide", data=fields, headers=headers).status_code == 409


def test_to_look_changes_nothing(client: TestClient, desk: FakeScreening) -> None:
    desk.wants_audit = True
    before = list(desk.events_[1])
    paths = ("/reviews/1/screen", "/reviews/1/screen?mode=random", *GETS)
    first = [client.get(path).headers.get("location") for path in paths]
    assert [client.get(path).headers.get("location") for path in paths] == first
    for path in ("next", "next?mode=audit", "progress", "records/1/offer", "repeats", "named?key=walks"):
        assert client.get(f"/api/reviews/1/{path}").status_code == 200, path
    assert desk.events_[1] == before


@pytest.mark.parametrize("mode", ["auto", "audit"])
def test_an_audit_is_begun_by_a_button_and_once(client: TestClient, desk: FakeScreening, mode: str) -> None:
    desk.wants_audit = mode == "auto"
    found = page(client, f"/reviews/1/screen?mode={mode}")
    assert found.text("h1") == "An audit is due"
    assert "/reviews/1/screen?mode=ranked" in found.links()
    hidden = {a["name"]: a["value"] for a, _ in found.all("input", type="hidden")}
    response = sent(client, "/reviews/1/audit", **hidden)
    assert response.headers["location"].startswith("/reviews/1/screen/1?by=")
    assert last(desk).kind is ReviewEventKind.AUDIT
    sent(client, "/reviews/1/audit", **hidden)
    assert [event.kind for event in desk.events_[1]].count(ReviewEventKind.AUDIT) == 1
    assert client.get(f"/reviews/1/screen?mode={mode}").status_code == 302


def test_the_decision_after_which_an_audit_is_due_begins_it(client: TestClient, desk: FakeScreening) -> None:
    desk.wants_audit = True
    decide(client, 1, "include")
    assert [event.kind for event in desk.events_[1][-2:]] == [ReviewEventKind.DECIDE, ReviewEventKind.AUDIT]


def test_a_note_that_was_pasted_is_cleaned_of_what_nobody_sees(client: TestClient, desk: FakeScreening) -> None:
    decide(client, 1, "include", note="a\x00b\x1b[1m\x85c\r\nd\te")
    assert last(desk).note == "a b [1m c\nd\te"


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


# ------------------------------------------------------------------------------------------------------------- blinded


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
