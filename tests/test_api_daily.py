"""The JSON API of the daily paper, over a library in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from broadsheet.errors import BusyError
from broadsheet.model.reading import Action, Interest, InterestKind
from broadsheet.web import create_app, forms
from broadsheet.web.api_daily_models import DoneOut, EditionOut, EditionsOut, MemoryOut, ProfileOut, TodayOut
from broadsheet.web.api_models import ErrorOut
from tests.fake_daily import DAYS, OTHER_SECRET, SECRET, WEEKEND
from tests.fake_library import FakeLibrary

BASE = "http://127.0.0.1:8765"


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library), base_url=BASE, follow_redirects=False) as found:
        yield found


def asked(client: TestClient, method: str, url: str, body: Any = None, status: int = 200, **headers: str) -> Any:
    response = client.request(method, url, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


@pytest.mark.parametrize(
    ("method", "url", "body", "model"),
    [
        ("GET", "/api/edition", None, TodayOut),
        ("GET", "/api/edition/2026-06-11", None, EditionOut),
        ("GET", "/api/editions", None, EditionsOut),
        ("GET", "/api/memory", None, MemoryOut),
        ("GET", "/api/profile", None, ProfileOut),
        ("POST", "/api/events", {"action": "save", "paper": 1}, DoneOut),
        ("DELETE", "/api/events/1", None, DoneOut),
        ("POST", "/api/undo", None, DoneOut),
        ("POST", "/api/follows", {"kind": "venue", "value": "ICML"}, ProfileOut),
        ("DELETE", "/api/follows?kind=venue&value=ICML", None, ProfileOut),
        ("POST", "/api/mutes", {"kind": "keyword", "value": "x"}, ProfileOut),
        ("DELETE", "/api/mutes?kind=keyword&value=x", None, ProfileOut),
        ("POST", "/api/searches", {"query": "noise", "name": "N"}, ProfileOut),
        ("DELETE", "/api/searches/1", None, ProfileOut),
    ],
)
def test_every_answer_has_its_documented_shape(
    client: TestClient, library: FakeLibrary, *, method: str, url: str, body: Any, model: Any
) -> None:
    library.daily.act(Action.LIKE, 2, "me", because=None)
    found = asked(client, method, url, body)
    assert set(found) == set(model.model_fields)
    assert model.model_validate(found).model_dump(mode="json") == found
    assert SECRET not in str(found)


def test_todays_edition_and_one_of_another_day(client: TestClient, library: FakeLibrary) -> None:
    library.daily.is_new, library.daily.note = False, WEEKEND
    today = asked(client, "GET", "/api/edition")
    assert (today["is_new"], today["note"], today["expected"]) == (False, WEEKEND, "2026-06-15T00:00:00Z")
    edition = today["edition"]
    assert [section["key"] for section in edition["sections"]][:2] == ["front", "area-cs.LG"]
    entry = edition["sections"][0]["entries"][0]
    assert entry["paper"]["id"] == 1
    assert entry["reasons"][1] == {
        "kind": "similar",
        "text": "like 3 papers you saved on sparse recovery",
        "weight": 0.9,
        "papers": [7, 8, 9],
    }
    assert [e["explored"] for s in edition["sections"] for e in s["entries"]].count(True) == 2
    assert asked(client, "GET", "/api/edition/2026-06-11")["notes"] != []
    assert asked(client, "GET", "/api/editions") == {"days": [day.isoformat() for day in DAYS]}
    assert "nearest" in asked(client, "GET", "/api/edition/2026-06-02", status=404)["error"]["message"]
    assert "day: must be a day" in asked(client, "GET", "/api/edition/x", status=400)["error"]["message"]


def test_marks_are_made_and_taken_back(client: TestClient, library: FakeLibrary) -> None:
    saved = asked(
        client, "POST", "/api/events", {"action": "save", "paper": "arXiv:2605.01001", "edition": "2026-06-12"}
    )
    assert (saved["paper"], saved["marks"], saved["event"]["edition"]) == (1, {"save": 1}, "2026-06-12")
    assert asked(client, "POST", "/api/events", {"action": "save", "paper": 1})["marks"] == {"save": 1}
    liked = asked(client, "POST", "/api/events", {"action": "like", "paper": 1})
    assert liked["marks"] == {"save": 1, "like": 2}
    undone = asked(client, "DELETE", "/api/events/1")
    assert (undone["event"]["undoes"], undone["paper"], undone["marks"]) == (1, 1, {"like": 2})
    assert asked(client, "POST", "/api/undo")["marks"] == {}
    nothing = asked(client, "POST", "/api/undo")
    assert (nothing["event"], nothing["paper"], nothing["marks"]) == (None, 0, {})


def test_a_cause_becomes_a_mute(client: TestClient, library: FakeLibrary) -> None:
    body = {"action": "dismiss", "paper": 3, "because": {"kind": "author", "value": "Ada: Lovelace"}}
    found = asked(client, "POST", "/api/events", body)
    assert found["event"]["because"] == {"kind": "author", "value": "Ada: Lovelace"}
    mute = Interest(InterestKind.AUTHOR, "Ada: Lovelace")
    assert mute in library.daily.reader().profile.mutes
    asked(client, "DELETE", f"/api/events/{found['event']['id']}")
    assert mute not in library.daily.reader().profile.mutes


def test_a_profile_changes(client: TestClient) -> None:
    followed = asked(client, "POST", "/api/follows", {"kind": "venue", "value": "ICML"})
    assert {"kind": "venue", "value": "ICML"} in followed["follows"]
    assert followed["emphasis"] == {"words": 0.5}
    searches = asked(client, "POST", "/api/searches", {"query": "noise"})["searches"]
    assert [(s["id"], s["query"]) for s in searches] == [(1, "bandits -video"), (2, "noise")]
    assert [s["id"] for s in asked(client, "DELETE", "/api/searches/1")["searches"]] == [2]
    asked(client, "DELETE", "/api/searches/1", status=404)
    assert asked(client, "DELETE", "/api/mutes?kind=keyword&value=blockchain")["mutes"] == []


@pytest.mark.parametrize(
    ("method", "url", "body", "message"),
    [
        ("POST", "/api/events", {"action": "reset", "paper": 1}, "action: "),
        ("POST", "/api/events", {"action": "undo", "paper": 1}, "action: "),
        ("POST", "/api/events", {"paper": 1}, "action: field required"),
        ("POST", "/api/events", {"action": "save", "paper": 1, "reader": "ada"}, "reader: extra"),
        ("POST", "/api/events", {"action": "save", "paper": [1]}, "paper.int: "),
        ("POST", "/api/events", {"action": "save", "paper": 1, "edition": "x"}, "edition: "),
        (
            "POST",
            "/api/events",
            {"action": "dismiss", "paper": 1, "because": {"kind": "x", "value": "y"}},
            "because.kind: ",
        ),
        ("POST", "/api/events", [1], "body: "),
        ("POST", "/api/follows", {"kind": "keyword", "value": ""}, "value: "),
        ("POST", "/api/follows", {"kind": "keyword", "value": "…"}, "says nothing"),
        ("POST", "/api/searches", {"query": "?!"}, "asks for nothing"),
        ("DELETE", "/api/follows?kind=keyword", None, "value: field required"),
        ("DELETE", "/api/events/x", None, "event: "),
        ("DELETE", "/api/events/0", None, "event: "),
        ("DELETE", f"/api/events/{10**30}", None, "event: "),
    ],
)
def test_what_cannot_be_used_is_named(
    client: TestClient, library: FakeLibrary, *, method: str, url: str, body: Any, message: str
) -> None:
    error = ErrorOut.model_validate(asked(client, method, url, body, 400)).error
    assert error.code == "bad_request"
    assert message in error.message
    assert library.daily.events_ == []


@pytest.mark.parametrize("paper", [9999, "arXiv:2001.00001", "9" * 30, 10**30, -1])
def test_papers_that_are_not_here(client: TestClient, library: FakeLibrary, paper: Any) -> None:
    asked(client, "POST", "/api/events", {"action": "save", "paper": paper}, 404)
    assert library.daily.events_ == []


def test_events_of_others_cannot_be_taken_back(client: TestClient, library: FakeLibrary) -> None:
    event = library.daily.act(Action.SAVE, 1, "ada")
    asked(client, "DELETE", f"/api/events/{event.id}", status=404)
    assert len(library.daily.events_) == 1


# -------------------------------------------------------------------------------------------------- who may change it

CHANGES = [
    ("POST", "/api/events", '{"action": "save", "paper": 1}'),
    ("POST", "/api/undo", "{}"),
    ("DELETE", "/api/events/1", ""),
    ("POST", "/api/mutes", '{"kind": "keyword", "value": "x"}'),
    ("DELETE", "/api/follows?kind=area&value=cs.LG", ""),
]
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(("method", "url", "body"), CHANGES)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://attacker.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": BASE},
    ],
)
def test_pages_of_other_sites_change_nothing(
    client: TestClient, library: FakeLibrary, *, method: str, url: str, body: str, headers: dict[str, str]
) -> None:
    event = library.daily.act(Action.SAVE, 2, "me")
    before = library.daily.reader()
    response = client.request(method, url, content=body, headers={**JSON, **headers})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "foreign")
    assert (library.daily.events_, library.daily.reader()) == ([event], before)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
@pytest.mark.parametrize(("method", "url", "body"), [change for change in CHANGES if change[2]])
def test_only_json_is_taken_for_no_page_elsewhere_can_send_it(
    client: TestClient, library: FakeLibrary, *, kind: str, method: str, url: str, body: str
) -> None:
    headers = {"content-type": kind} if kind else {}
    response = client.request(method, url, content=body.encode(), headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert library.daily.events_ == []


def test_the_site_itself_and_programs_may(client: TestClient) -> None:
    body = {"action": "save", "paper": 1}
    asked(client, "POST", "/api/events", body)
    asked(client, "POST", "/api/events", body, origin=BASE)
    asked(client, "POST", "/api/events", body, sec_fetch_site="same-origin", origin=BASE)


def test_nobody_is_told_to_say_who_is_reading(library: FakeLibrary) -> None:
    with TestClient(create_app(library, host="0.0.0.0"), base_url=BASE) as client:
        for method, url, body in [("GET", "/api/edition", ""), ("GET", "/api/memory", ""), *CHANGES]:
            response = client.request(method, url, content=body, headers=JSON)
            assert (response.status_code, response.json()["error"]["code"]) == (401, "no_reader"), url
            assert response.headers["www-authenticate"] == "Bearer"
        found = client.get("/api/edition", headers={"authorization": f"bearer {OTHER_SECRET}"})
        assert found.json()["edition"]["reader"] == "ada"


def test_a_large_body_is_refused(client: TestClient) -> None:
    body = {"query": "x" * forms.MAX_BODY}
    assert asked(client, "POST", "/api/searches", body, 413)["error"]["code"] == "too_large"


def test_methods_that_are_not_there(client: TestClient) -> None:
    assert asked(client, "PUT", "/api/events", {}, 405)["error"]["code"] == "method_not_allowed"
    assert asked(client, "POST", "/api/edition", {}, 405)["error"]["code"] == "method_not_allowed"


def test_a_busy_library_says_when_to_try_again(library: FakeLibrary) -> None:
    library.fault = BusyError("locked by /secret")
    with TestClient(create_app(library), base_url=BASE) as client:
        response = client.post("/api/events", json={"action": "save", "paper": 1})
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert "/secret" not in response.text


# ------------------------------------------------------------------------------------------------- what is said of it


@pytest.mark.parametrize("url", ["/api/edition", "/api/edition/x", "/api/memory", "/api/search?q=noise"])
def test_no_cache_gives_one_readers_answer_to_another(client: TestClient, url: str) -> None:
    headers = client.get(url).headers
    assert headers["cache-control"] == "private, no-cache"
    assert {"cookie", "authorization"} <= {name.strip() for name in headers["vary"].lower().split(",")}


def test_every_status_that_is_answered_is_described(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()["paths"]
    large = '{"action": "save", "paper": "' + "x" * forms.MAX_BODY + '"}'
    json_sent = {"content-type": "application/json"}
    for method, path, url, more in [
        ("get", "/api/edition/{day}", "/api/edition/yesterday", {}),
        ("get", "/api/edition/{day}", "/api/edition/2020-01-01", {}),
        ("post", "/api/events", "/api/events", {"content": large, "headers": json_sent}),
        ("post", "/api/events", "/api/events", {"content": "{}", "headers": json_sent}),
        ("post", "/api/events", "/api/events", {"content": "a=b"}),
        ("post", "/api/follows", "/api/follows", {"content": "{}", "headers": {**json_sent, "origin": "http://e.org"}}),
        ("delete", "/api/events/{event}", "/api/events/0", {}),
        ("delete", "/api/searches/{search}", "/api/searches/77", {}),
    ]:
        status = client.request(method, url, **more).status_code
        assert status >= 400
        assert str(status) in described[path][method]["responses"], (url, status)
