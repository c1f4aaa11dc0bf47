"""The JSON API of systematic reviews, over a library in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from broadsheet.model.screening import Chosen, Label, ReviewEventKind, Sharing, SourceKind, Stage
from broadsheet.web import create_app
from broadsheet.web.identity import COOKIE
from tests.fake_daily import OTHER_SECRET, FakeDaily
from tests.fake_library import FakeLibrary
from tests.fake_screening import FakeScreening
from tests.pages import BASE, NOW

OCTETS = {"content-type": "application/octet-stream"}


@pytest.fixture(scope="module")
def shared() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture(scope="module")
def app(shared: FakeLibrary) -> FastAPI:
    return create_app(shared, now=lambda: NOW, max_upload=200_000)


@pytest.fixture
def desk(shared: FakeLibrary) -> FakeScreening:
    """Reviews as no test has touched them."""
    shared.daily, shared.screening = FakeDaily(shared), FakeScreening(shared)
    return shared.screening


@pytest.fixture
def client(desk: FakeScreening, app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=BASE, follow_redirects=False) as found:
        yield found


def got(client: TestClient, path: str, status: int = 200) -> Any:
    response = client.get(f"/api/reviews{path}")
    assert response.status_code == status, response.text
    return response.json()


def posted(client: TestClient, path: str, body: Any, status: int = 200) -> Any:
    response = client.post(f"/api/reviews{path}", json=body)
    assert response.status_code == status, response.text
    return response.json()


def test_a_program_screens_from_the_offer_to_the_export(client: TestClient, desk: FakeScreening) -> None:
    made = posted(
        client,
        "",
        {
            "name": "Restarts",
            "plan": {
                "question": "Do they help?",
                "criteria": [{"code": "E1", "text": "dense"}, {"code": "I1", "text": "sparse", "excludes": False}],
                "stopping": {"target": 0.9, "rule": "distribution-free"},
            },
        },
    )
    assert made["plan"]["stopping"] | {"target": 0.9, "rule": "distribution-free"} == made["plan"]["stopping"]
    at = f"/{made['id']}"
    response = client.put(f"/api/reviews{at}/files/hits.ris", content=b"one\ntwo\n", headers=OCTETS)
    assert response.json() | {"source": "hits.ris", "added": 2} == response.json()
    offer = got(client, f"{at}/next")["offer"]
    assert (offer["record"]["title"], offer["chosen"], offer["unread"]) == ("one", "ranked", 2)
    how = {name: offer[name] for name in ("chosen", "place", "unread", "model")}
    body = {"record": 1, "label": "exclude", "reasons": ["E1"], "note": "dense", **how}
    event = posted(client, f"{at}/decisions", body)
    assert (event["label"], event["chosen"], event["model"]) == ("exclude", "ranked", offer["model"])
    assert got(client, f"{at}/progress")["read"] == 1
    assert posted(client, f"{at}/undo", {"event": event["id"]})["event"]["undoes"] == event["id"]
    assert posted(client, f"{at}/undo", {})["event"] is None
    assert client.get(f"/api/reviews{at}/export?form=csv").text.startswith("csv of Restarts")
    assert client.get(f"/api/reviews{at}/export?form=csv&label=include").text.startswith(
        "csv of Restarts, only include"
    )
    listed = got(client, "")
    assert [one["name"] for one in listed["reviews"]] == ["Walks on sparse graphs", "Restarts"]
    standing = {name: listed["standings"][1][name] for name in ("id", "records", "read", "found", "stopped")}
    assert standing == {"id": 2, "records": 2, "read": 0, "found": 0, "stopped": False}
    assert client.delete(f"/api/reviews{at}", headers={"content-type": "application/json"}).json() == {
        "removed": "Restarts"
    }
    assert got(client, at, 404)["error"]["code"] == "not_found"


def test_a_decision_without_an_offer_is_by_hand(client: TestClient, desk: FakeScreening) -> None:
    posted(client, "/1/decisions", {"record": 8, "label": "later", "stage": "full-text"})
    event = desk.events_[1][-1]
    assert (event.chosen, event.label, event.stage, event.screener) == (
        *(Chosen.MANUAL, Label.LATER, Stage.FULL_TEXT, "me"),
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/1/decisions", {"record": 1, "label": "maybe"}),
        ("/1/decisions", {"record": 0, "label": "include"}),
        ("/1/decisions", {"record": 1, "label": "include", "chosen": "prior"}),
        ("/1/decisions", {"record": 1, "label": "include", "chosen": "ranked", "place": 9, "unread": 3}),
        ("/1/decisions", {"record": 1, "label": "include", "why": "x"}),
        ("/1/searches", {}),
        ("/1/searches", {"query": "x", "saved": 1}),
        ("/1/priors", {"records": [], "label": "include"}),
        ("/1/resolutions", {"record": 1, "label": "later"}),
        ("", {"name": "x", "plan": {"stopping": {"target": 1.2}}}),
        ("", {"name": "x", "plan": {"stopping": {"confidence": 1}}}),
        ("", {"name": ""}),
    ],
)
def test_what_cannot_be_is_400_with_a_sentence(client: TestClient, desk: FakeScreening, path: str, body: Any) -> None:
    before = {number: list(events) for number, events in desk.events_.items()}
    error = posted(client, path, body, 400)["error"]
    assert error["code"] == "bad_request"
    assert error["message"]
    assert desk.events_ == before


def test_the_plan_is_changed_in_part(client: TestClient, desk: FakeScreening) -> None:
    body = {"sharing": "blinded", "screeners": ["me", "ada"], "stopping": {"advantage": 5}}
    response = client.patch("/api/reviews/1", json=body)
    assert response.json()["plan"]["sharing"] == "blinded"
    plan = desk.reviews_[1].plan
    assert (plan.sharing, plan.screeners, plan.stopping.advantage) == (Sharing.BLINDED, ("me", "ada"), 5)
    assert (len(plan.criteria), plan.stopping.target) == (5, 0.9)
    assert client.patch("/api/reviews/1", json={"criteria": []}).json()["plan"]["criteria"] == []


def test_reviews_go_by_number_or_by_name(client: TestClient) -> None:
    assert got(client, "/Walks%20on%20sparse%20graphs")["id"] == 1
    for path in ("/9", "/nothing", f"/{'9' * 40}", "/1/records/99", "/1/records/99/history"):
        assert got(client, path, 404)["error"]["code"] == "not_found"


def test_records_and_history_come_in_parts(client: TestClient, desk: FakeScreening) -> None:
    found = got(client, "/1/records?limit=5")
    assert ([one["record"]["number"] for one in found["records"]], found["next"]) == ([1, 2, 3, 4, 5], 5)
    found = got(client, "/1/records?limit=10&after=5")
    assert ([one["record"]["number"] for one in found["records"]], found["next"]) == ([6, 7, 8, 9, 10, 11, 12], None)
    assert [one["record"]["number"] for one in got(client, "/1/records?q=survey")["records"]] == [5]
    assert got(client, "/1/records?label=best", 400)
    assert got(client, "/1/records?limit=501", 400)
    posted(client, "/1/priors", {"records": [1, 7], "label": "include"})
    events = got(client, "/1/history?limit=3")
    assert ([one["kind"] for one in events["events"]], events["next"]) == (["create", "add", "decide"], 3)
    assert [one["record"] for one in got(client, "/1/history?after=3")["events"]] == [7]
    one = got(client, "/1/records/1")
    assert (one["label"], one["prior"], one["twins"]) == ("include", True, [6])
    assert one["record"]["identifiers"] == ["doi:10.1000/walks.1"]
    assert [e["chosen"] for e in got(client, "/1/records/6/history")["events"]] == ["prior"]
    offer = got(client, "/1/records/1/offer")
    assert offer["chosen"] == "manual"
    assert {"start": 31, "end": 37, "weight": 0.9, "origin": "reader"} in offer["abstract_highlights"]


def test_repeats_stops_and_numbers(client: TestClient, desk: FakeScreening) -> None:
    assert posted(client, "/1/twins", {"record": 7, "other": 8})["kind"] == "twin"
    assert posted(client, "/1/twins", {"record": 7})["kind"] == "apart"
    assert "sentence" in json.loads(posted(client, "/1/stop", {})["detail"])["report"]
    assert posted(client, "/1/reopen", {"stage": "abstract"})["kind"] == "reopen"
    assert got(client, "/1/prisma")["identified"][1] == {"name": "search: <walks>", "count": 3}
    posted(client, "/1/decisions", {"record": 1, "label": "include"})
    posted(client, "/1/decisions", {"record": 2, "label": "exclude"})
    progress = got(client, "/1/progress")
    assert (progress["report"]["guarantee"], progress["others"][0]["guarantee"]) == (
        *("under a stated assumption", "no guarantee"),
    )
    assert progress["curve"][-1] == {"read": 2, "found": 1, "recall": 2 / 3}
    assert got(client, "/1/agreement") == {"pairs": []}
    posted(client, "/1/papers", {"papers": [1, "2"]})
    assert posted(client, "/1/searches", {"saved": 1})["source"] == "search: bandits -video"
    assert posted(client, "/1/searches", {"query": "steps", "limit": 2})["entries"] == 2


def test_an_audit_is_begun_by_post_alone(client: TestClient, desk: FakeScreening) -> None:
    desk.wants_audit = True
    before = list(desk.events_[1])
    for _ in range(2):
        assert got(client, "/1/next") == {"offer": None, "audit_due": True}
    assert desk.events_[1] == before
    begun = posted(client, "/1/audit", {})
    assert (begun["offer"]["record"]["number"], begun["audit_due"]) == (1, False)
    assert posted(client, "/1/audit", {"mode": "auto"})["offer"] == begun["offer"] | {"model": "nb-logistic/tfidf@3"}
    assert [event.kind for event in desk.events_[1]].count(ReviewEventKind.AUDIT) == 1
    assert got(client, "/1/next")["offer"]["record"]["number"] == 1


def test_records_are_found_by_what_references_say_and_pairs_are_judged(client: TestClient, desk: FakeScreening) -> None:
    found = got(client, "/1/named?key=doi:10.1000/walks.1")["records"]
    assert [one["number"] for one in found] == [1]
    assert got(client, "/1/named?key=nobody+wrote+this")["records"] == []
    pairs = got(client, "/1/repeats?limit=2")
    assert [(pair["record"]["number"], pair["other"]["number"]) for pair in pairs["pairs"]] == [(7, 8), (7, 9)]
    assert (pairs["next"], pairs["pairs"][0]["why"]) == (2, "The titles differ in a number.")
    assert posted(client, "/1/differences", {"record": 7, "other": 8})["kind"] == "different"
    assert got(client, "/1/repeats?limit=1")["pairs"][0]["other"]["number"] == 9


def test_what_was_shown_goes_with_a_decision_and_is_compared(client: TestClient, desk: FakeScreening) -> None:
    posted(client, "/1/decisions", {"record": 1, "label": "include", "held": "unread"})
    error = posted(client, "/1/decisions", {"record": 1, "label": "exclude", "held": "unread"}, 409)["error"]
    assert error["code"] == "decided_meanwhile"
    assert "record 1: it was decided meanwhile: include" in error["message"]
    assert error["request_id"]
    posted(client, "/1/decisions", {"record": 1, "label": "exclude", "held": "include"})
    posted(client, "/1/undo", {})
    posted(client, "/1/undo", {})
    error = posted(client, "/1/decisions", {"record": 1, "label": "include", "held": "exclude"}, 409)["error"]
    assert "taken back" in error["message"]
    assert desk.record(1, 1).label is None
    posted(client, "/1/decisions", {"record": 1, "label": "include"})


def test_blinded_screeners_are_told_nothing_of_others(client: TestClient, desk: FakeScreening) -> None:
    desk.change(1, sharing=Sharing.BLINDED, screeners=("me", "ada"))
    desk.decide(1, 1, Label.EXCLUDE, "ada", note="adas words", offer=desk.look(1, 1))
    for path in ("/1/records", "/1/records/1", "/1/history", "/1/records/1/history", "/1/conflicts", "/1/next"):
        assert "adas words" not in json.dumps(got(client, path)), path
        assert "exclude" not in json.dumps(got(client, path).get("records", [{}])[0].get("label")), path
    assert got(client, "/1/progress")["read"] == 0
    assert "blinded" in got(client, "/1/export", 400)["error"]["message"]
    posted(client, "/1/decisions", {"record": 1, "label": "include"})
    assert [e["screener"] for e in got(client, "/1/conflicts")["conflicts"][0]["decisions"]] == ["ada", "me"]
    assert posted(client, "/1/resolutions", {"record": 1, "label": "include"})["kind"] == "resolve"
    assert [pair["kappa"] for pair in got(client, "/1/agreement")["pairs"]] == [-0.0625], "not of two others"


def test_a_reader_acts_under_his_own_name(desk: FakeScreening, shared: FakeLibrary) -> None:
    public = create_app(shared, host="0.0.0.0", now=lambda: NOW)
    with TestClient(public, base_url="http://papers.example.org") as client:
        assert client.get("/api/reviews").status_code == 401
        asked = {"authorization": f"Bearer {OTHER_SECRET}"}
        body = {"record": 1, "label": "include"}
        assert client.post("/api/reviews/1/decisions", json=body, headers=asked).json()["screener"] == "ada"
        assert client.post("/api/reviews/1/decisions", json=body).status_code == 401


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_no_other_site_can_change_anything(client: TestClient, desk: FakeScreening, headers: dict[str, str]) -> None:
    client.cookies.set(COOKIE, OTHER_SECRET)
    before = list(desk.events_[1])
    body = {"record": 1, "label": "include"}
    assert client.post("/api/reviews/1/decisions", json=body, headers=headers).status_code == 403
    assert client.put("/api/reviews/1/files/a.ris", content=b"x", headers={**OCTETS, **headers}).status_code == 403
    assert client.delete("/api/reviews/1", headers=headers).status_code == 403
    assert desk.events_[1] == before


def test_bodies_are_of_the_kind_that_no_form_can_send(client: TestClient, desk: FakeScreening) -> None:
    text = {"content-type": "text/plain"}
    assert client.post("/api/reviews/1/decisions", content=b"{}", headers=text).status_code == 415
    assert client.put("/api/reviews/1/files/a.ris", content=b"x", headers=text).status_code == 415
    assert desk.sent == []


def test_sources_are_named_by_the_api(client: TestClient, desk: FakeScreening) -> None:
    at = "/api/reviews/1"
    client.put(f"{at}/files/a.ris?called=Scopus&kind=database", content=b"x", headers=OCTETS)
    assert desk.named_sources == [("a.ris", "Scopus", SourceKind.DATABASE)]
    last = client.get(f"{at}/sources").json()["sources"][-1]
    assert (last["source"], last["kind"], last["entries"]) == ("a.ris", "database", 1)
    answer = client.put(f"{at}/sources/{last['number']}", json={"called": "Embase", "kind": "other"})
    assert answer.json()["sources"][-1]["number"] == last["number"]
    assert desk.named_sources[-1] == (last["number"], "Embase", "other")
    assert client.put(f"{at}/sources/1", json={"kind": "journal"}).status_code == 400
    counts = client.get(f"{at}/prisma").json()
    assert counts["kinds"] == ["database", "database"]
    assert counts["unread_because"] == ""


def test_files_have_the_limit_of_the_setting(client: TestClient, desk: FakeScreening) -> None:
    for size, status in ((150_000, 200), (250_000, 413)):
        response = client.put("/api/reviews/1/files/a.ris", content=b"x" * size, headers=OCTETS)
        assert response.status_code == status
    assert len(desk.sent) == 1


def test_a_library_for_reading_only_says_so(client: TestClient, desk: FakeScreening) -> None:
    desk.read_only = True
    error = posted(client, "/1/decisions", {"record": 1, "label": "include"}, 400)["error"]
    assert "open for reading only" in error["message"]
    assert [e.kind for e in desk.events_[1]] == [ReviewEventKind.CREATE, ReviewEventKind.ADD]


def test_every_route_of_reviews_is_described(client: TestClient) -> None:
    schema = client.get("/api/openapi.json").json()
    routes = {path: item for path, item in schema["paths"].items() if path.startswith("/api/reviews")}
    one = "/api/reviews/{review}"
    named = ("next", "decisions", "undo", "resolutions", "stop", "reopen", "searches", "papers", "priors", "twins")
    named += ("audit", "differences", "named", "repeats", "sources", "sources/{number}")
    shown = ("records", "history", "progress", "conflicts", "agreement", "prisma", "export", "files/{file}")
    record = ("records/{number}", "records/{number}/offer", "records/{number}/history")
    assert set(routes) == {"/api/reviews", one, *(f"{one}/{name}" for name in (*named, *shown, *record))}
    staged = {
        p for p, item in routes.items() if any(q["name"] == "stage" for q in item.get("get", {}).get("parameters", []))
    }
    assert staged == {
        *(f"{one}/{name}" for name in ("next", "records", "progress", "conflicts", "agreement", "export")),
        *(f"{one}/{name}" for name in record[:2]),
    }
    for path, item in routes.items():
        for method, operation in item.items():
            assert operation["description"], (method, path)
            assert all(parameter["description"] for parameter in operation.get("parameters", [])), (method, path)
    text = client.get("/api").text
    assert "PUT /api/reviews/{review}/files/{file}" in text
    assert "application/octet-stream" in text
