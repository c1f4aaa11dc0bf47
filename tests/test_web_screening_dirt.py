"""What programs send to the API of reviews by mistake or in malice: told with the field, and nothing of it is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests import web_reviews
from tests.fake_screening import FakeScreening

shared, app, library, desk, client = web_reviews.FIXTURES

JSON = {"content-type": "application/json"}
DECISION = {"record": 1, "label": "include"}
HUGE = 10**30


def refused(client: TestClient, desk: FakeScreening, path: str, body: Any, status: int = 400) -> str:
    """The message of an answer to what must not be kept."""
    events = {number: list(found) for number, found in desk.events_.items()}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    method = "PATCH" if path == "/1" else "POST"
    response = client.request(method, f"/api/reviews{path}", content=content, headers=JSON)
    assert response.status_code == status, response.text
    assert desk.events_ == events
    return str(response.json()["error"]["message"])


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/1/decisions", DECISION | {"note": "a\0b"}, ("note: ", "U+0000 at place 2")),
        ("/1/decisions", DECISION | {"note": "a\x1b[31m"}, ("note: ", "U+001B at place 2")),
        ("/1/decisions", DECISION | {"note": "a\x85"}, ("note: ", "U+0085")),
        ("/1/decisions", DECISION | {"note": "\ud800"}, ("note: ", "")),
        ("/1/decisions", DECISION | {"reasons": ["SURVEY", "A\7"]}, ("reasons.1: ", "U+0007")),
        ("/1/decisions", DECISION | {"model": "m\n"}, ("model: ", "U+000A")),
        ("", {"name": "two\nlines"}, ("name: ", "U+000A at place 4")),
        ("", {"name": "x", "plan": {"question": "\0"}}, ("plan.question: ", "U+0000")),
        ("", {"name": "x", "plan": {"criteria": [{"code": "A\t", "text": ""}]}}, ("plan.criteria.0.code: ", "U+0009")),
        ("/1", {"screeners": ["me", "a\rb"]}, ("screeners.1: ", "U+000D")),
        ("/1", {"terms": ["\x07"]}, ("terms.0: ", "U+0007")),
        ("/1/searches", {"query": "a\0"}, ("query: ", "U+0000")),
        ("/1/papers", {"papers": ["a\0"]}, ("papers.0", "")),
        ("/1/resolutions", DECISION | {"note": "\0"}, ("note: ", "U+0000")),
    ],
)
def test_control_characters_are_told_with_field_and_place(
    client: TestClient, desk: FakeScreening, path: str, body: Any, said: tuple[str, str]
) -> None:
    message = refused(client, desk, path, body)
    begin, within = said
    assert message.startswith(begin)
    assert within in message
    assert message.isprintable(), "what cannot be seen is not sent back"


def test_lines_and_tabs_of_a_note_are_kept(client: TestClient, desk: FakeScreening) -> None:
    client.post("/api/reviews/1/decisions", json=DECISION | {"note": " a\r\n\tb\n"})
    assert desk.events_[1][-1].note == "a\n\tb"


@pytest.mark.parametrize(
    ("path", "body", "begin"),
    [
        ("/1/decisions", DECISION | {"note": "x" * 20_001}, "note: "),
        ("/1/decisions", DECISION | {"reasons": ["x" * 41]}, "reasons.0: "),
        ("/1/decisions", DECISION | {"reasons": ["A"] * 51}, "reasons: "),
        ("", {"name": "x" * 201}, "name: "),
        ("/1", {"terms": ["x" * 201]}, "terms.0: "),
        ("/1", {"screeners": ["x" * 201]}, "screeners.0: "),
        ("/1", {"screeners": ["x"] * 101}, "screeners: "),
        ("/1", {"model": "x" * 201}, "model: "),
        ("/1/papers", {"papers": ["x" * 501]}, "papers.0"),
        ("/1/priors", {"records": list(range(1, 502)), "label": "include"}, "records: "),
    ],
)
def test_what_is_too_long_is_told_with_its_field(
    client: TestClient, desk: FakeScreening, path: str, body: Any, begin: str
) -> None:
    assert refused(client, desk, path, body).startswith(begin)


@pytest.mark.parametrize(
    ("path", "body", "begin"),
    [
        ("/1/decisions", DECISION | {"record": True}, "record: "),
        ("/1/decisions", DECISION | {"record": "1"}, "record: "),
        ("/1/decisions", DECISION | {"record": 1.5}, "record: "),
        ("/1/decisions", DECISION | {"record": None}, "record: "),
        ("/1/decisions", DECISION | {"record": HUGE}, "record: is larger than any number here"),
        ("/1/decisions", DECISION | {"place": HUGE, "unread": HUGE}, "place: is larger"),
        ("/1/decisions", DECISION | {"note": 5}, "note: "),
        ("/1/decisions", DECISION | {"reasons": "SURVEY"}, "reasons: "),
        ("/1/decisions", DECISION | {"held": "maybe"}, "held: "),
        ("/1/decisions", {"label": "include"}, "record: "),
        ("/1/priors", {"records": [1, HUGE], "label": "include"}, "records.1: is larger"),
        ("/1/papers", {"papers": [HUGE]}, "papers.0"),
        ("/1/searches", {"saved": HUGE}, "saved: is larger"),
        ("/1/undo", {"event": HUGE}, "event: is larger"),
        ("/1", {"stopping": {"target": "0.9"}}, "stopping.target: "),
        ("/1", {"stopping": {"target": True}}, "stopping.target: "),
        ("/1", {"criteria": {"A": "b"}}, "criteria: "),
    ],
)
def test_values_of_another_kind_are_told_with_their_field(
    client: TestClient, desk: FakeScreening, path: str, body: Any, begin: str
) -> None:
    assert refused(client, desk, path, body).startswith(begin)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/1/decisions", DECISION | {"why": "x", "a\0": 1}, ("why", "record, label, stage, reasons")),
        ("/1", {"stopping": {"recall": 0.9}}, ("recall", "rule, target, confidence")),
        (
            "",
            {"name": "x", "plan": {"criteria": [{"code": "A", "text": "b", "exclude": True}]}},
            ("exclude", "excludes"),
        ),
        ("/1/audit", {"seed": 3}, ("seed", "stage, mode")),
    ],
)
def test_a_field_that_there_is_not_is_named_with_those_that_there_are(
    client: TestClient, desk: FakeScreening, path: str, body: Any, said: tuple[str, str]
) -> None:
    message = refused(client, desk, path, body)
    assert "there is no field" in message
    assert all(part in message for part in said)
    assert message.isprintable()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"null", b'"x"', b"7", b"\xff\xfe", b'{"record": 1, "label": "include"', b"\0"),
        *(b'{"record": NaN, "label": "include"}', b"[" * 50_000, b'{"a":' * 20_000),
    ],
)
def test_what_is_no_json_object_is_told(client: TestClient, desk: FakeScreening, content: bytes) -> None:
    assert refused(client, desk, "/1/decisions", content)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_another_kind_of_content_is_415(client: TestClient, desk: FakeScreening, kind: str) -> None:
    before = list(desk.events_[1])
    headers = {"content-type": kind} if kind else {}
    response = client.post("/api/reviews/1/decisions", content=json.dumps(DECISION), headers=headers)
    assert response.status_code == 415
    assert "application/json" in response.json()["error"]["message"]
    assert desk.events_[1] == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/1/decisions", DECISION | {"record": 99}),
        ("/1/priors", {"records": [1, 99], "label": "include"}),
        ("/1/twins", {"record": 1, "other": 99}),
        ("/1/twins", {"record": 99}),
        ("/1/differences", {"record": 99, "other": 1}),
        ("/1/resolutions", {"record": 99, "label": "include"}),
        ("/9/decisions", DECISION),
        ("/nothing/decisions", DECISION),
        ("/1/searches", {"saved": 99}),
    ],
)
def test_what_there_is_not_is_404_and_nothing_is_kept(
    client: TestClient, desk: FakeScreening, path: str, body: Any
) -> None:
    assert refused(client, desk, path, body, 404)


def test_no_other_host_is_answered(client: TestClient) -> None:
    response = client.get("/api/reviews", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert "Walks" not in response.text
