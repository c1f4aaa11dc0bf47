"""The JSON API, over a library in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from broadsheet.errors import BusyError, EncoderUnavailableError
from broadsheet.web import create_app
from broadsheet.web.api_models import (
    BibtexOut,
    ErrorOut,
    NewestOut,
    PaperOut,
    ResultsOut,
    SimilarOut,
    SourcesOut,
    StatusOut,
)
from broadsheet.web.exports import FORMS
from tests.fake_library import HOSTILE_REASON, SICI, FakeLibrary

BASE = "http://127.0.0.1:8765"


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library), base_url=BASE, follow_redirects=False) as found:
        yield found


def answer(client: TestClient, url: str, status: int = 200) -> Any:
    response = client.get(url)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


def refused(client: TestClient, url: str, status: int, code: str) -> str:
    response = client.get(url)
    error = ErrorOut.model_validate(response.json()).error
    assert (response.status_code, error.code) == (status, code)
    assert error.request_id == response.headers["x-request-id"]
    return error.message


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("/api/search?q=noise", ResultsOut),
        ("/api/papers/1", PaperOut),
        ("/api/papers/58", PaperOut),
        ("/api/papers/11", PaperOut),
        ("/api/papers/13", PaperOut),
        ("/api/sources", SourcesOut),
        ("/api/papers/1/similar", SimilarOut),
        ("/api/papers/1/bibtex", BibtexOut),
        ("/api/newest", NewestOut),
        ("/api/status", StatusOut),
    ],
)
def test_every_answer_has_its_documented_shape(client: TestClient, url: str, model: Any) -> None:
    body = answer(client, url)
    assert set(body) == set(model.model_fields)
    assert model.model_validate(body).model_dump(mode="json") == body


def test_a_search(client: TestClient, library: FakeLibrary) -> None:
    body = answer(client, "/api/search?q=noise&page=2&page_size=7&sort=oldest&area=Theory&code=yes")
    expected = FakeLibrary().search(
        "noise", page=2, page_size=7, sort="oldest", facets={"area": ("Theory",), "code": ("yes",)}
    )
    assert library.calls == ["search"]
    assert [hit["paper"]["id"] for hit in body["hits"]] == [hit.paper.id for hit in expected.hits]
    assert (body["total"], body["pages"], body["page"]) == (expected.total, expected.pages, 2)
    assert body["facets"]["area"][0]["children"][0]["value"]
    assert "<mark>noise</mark>" in body["hits"][0]["snippet"]
    assert body["coverage"] == 0.61


def test_a_paper(client: TestClient) -> None:
    body = answer(client, "/api/papers/1")
    assert body["title"].startswith("Sharp $L^p$ Bounds")
    assert body["identifiers"] == [
        {"scheme": "arxiv", "value": "2605.01001", "url": "https://arxiv.org/abs/2605.01001"}
    ]
    assert body["areas"] == [{"name": "Deep Learning", "subarea": "Generative Models"}]
    assert (body["published"], body["listed"]) == ("2026-06-08", "2026-06-12")
    assert body["origins"]["title"] == "jsonl:1"


@pytest.mark.parametrize(
    ("identifier", "paper"),
    [
        ("1", 1),
        ("1001", 1),
        ("arXiv:2605.01001", 1),
        ("https://arxiv.org/abs/2605.01001v2", 1),
        ("quant-ph/0112019", 9),
        (SICI, 5),
        (quote(SICI, safe=""), 5),
    ],
)
def test_one_parser_of_identifiers_for_all_of_a_papers_addresses(
    client: TestClient, identifier: str, paper: int
) -> None:
    assert answer(client, f"/api/papers/{identifier}")["id"] == paper
    assert answer(client, f"/api/papers/{identifier}/similar?limit=3")["id"] == paper
    assert answer(client, f"/api/papers/{identifier}/bibtex")["id"] == paper


def test_a_paper_tells_where_it_appeared_and_what_became_of_it(client: TestClient) -> None:
    body = answer(client, "/api/papers/13")
    assert body["places"][0] == {
        "source": "virtual",
        "venue": "icml",
        "year": 2025,
        "status": "Oral",
        "listed": None,
        "url": "https://icml.example.org/virtual/2025/oral/13",
    }
    assert body["versions"][1:] == [{"number": 2, "day": None}, {"number": 3, "day": "2025-09-30"}]
    assert body["counts"] == {"citations": 1033, "comments": 1, "upvotes": 19}
    assert (body["kind"], body["details"]["volume"], body["added"]) == ("article", "12", "2025-04-01T09:30:00Z")
    assert (body["notices"], body["withdrawn"]) == ([], False)
    notices = answer(client, "/api/papers/11")
    assert notices["notices"][1] == {"kind": "retracted", "reason": HOSTILE_REASON, "day": "2026-06-10"}
    assert notices["withdrawn"] is True


def test_sources_without_what_is_secret_in_their_addresses(client: TestClient) -> None:
    quiet, _, failed = answer(client, "/api/sources")["sources"]
    assert quiet == {
        "name": "arxiv:cs.LG",
        "state": "quiet",
        "message": "no announcement today: weekend; next Sunday 20:00 ET",
        "asked": "2026-11-30T06:30:00Z",
        "fetched": "2026-11-30T06:30:00Z",
        "due": "2026-12-01T06:30:00Z",
        "newest": "2611.20117",
        "day": "2026-11-27",
        "records": 12345,
        "failures": 0,
    }
    assert failed["message"] == "503 from https://icml.example.org/list.json <script>alert(1)</script>"


@pytest.mark.parametrize("form", FORMS)
def test_an_export_by_question_or_by_name(client: TestClient, library: FakeLibrary, form: Any) -> None:
    found = client.get(f"/api/export?form={form.name}&q=noise&area=Theory")
    expected = FakeLibrary().search("noise", page_size=1000, facets={"area": ("Theory",)}).hits
    assert [line.split(":")[0] for line in found.text.splitlines()] == [f"{form.name} {h.paper.id}" for h in expected]
    assert len(expected) > 5
    named = client.get(f"/api/export?form={form.name}&id=arXiv:2605.01001&id=13&id=1")
    assert [line.split(":")[0] for line in named.text.splitlines()] == [f"{form.name} 1", f"{form.name} 13"]
    described = answer(client, "/api/openapi.json")["paths"]["/api/export"]["get"]["responses"]["200"]["content"]
    assert named.headers["content-type"].partition(";")[0] in described
    assert named.headers["content-disposition"] == f'attachment; filename="broadsheet-papers.{form.ending}"'


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("q=noise", "form: must be one of bibtex, ris, csl, csv, jsonl, markdown"),
        ("form=pdf&q=noise", "form: must be one of"),
        ("form=ris", "q: must not be empty"),
        ("form=ris&q=-", "q: must not be empty"),
        ("form=ris&q=noise&id=1", "id: cannot be given together with q"),
        ("form=ris&" + "&".join(f"id={n}" for n in range(501)), "id: at most 500"),
        ("form=ris&q=noise&year=soon", "year: must be"),
    ],
)
def test_an_export_that_cannot_be_made_is_refused_by_name(
    client: TestClient, library: FakeLibrary, query: str, message: str
) -> None:
    assert refused(client, f"/api/export?{query}", 400, "bad_request").startswith(message)
    assert library.calls == []


def test_an_export_of_a_paper_that_is_not_there(client: TestClient) -> None:
    refused(client, "/api/export?form=ris&id=1&id=0000.00000", 404, "not_found")


@pytest.mark.parametrize("end", ["", "/similar", "/bibtex"])
@pytest.mark.parametrize("identifier", ["999", "0000.00000", "nonsense", "9" * 60, "-1"])
def test_a_paper_that_is_not_there(client: TestClient, identifier: str, end: str) -> None:
    refused(client, f"/api/papers/{identifier}{end}", 404, "not_found")


@pytest.mark.parametrize(
    "url", ["/api/search", "/api/search?q=", "/api/search?q=%20%09", "/api/search?q=%22-%22", "/api/search?area="]
)
def test_an_empty_question_is_refused(client: TestClient, library: FakeLibrary, url: str) -> None:
    assert "q: must not be empty" in refused(client, url, 400, "bad_request")
    assert library.calls == []


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=abc", "page"),
        ("page=7", "page"),
        ("page=1000000000", "page"),
        ("page_size=0", "page_size"),
        ("page_size=1000", "page_size"),
        ("sort=best", "sort"),
        ("year=soon", "year"),
        ("code=maybe", "code"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(client: TestClient, query: str, name: str) -> None:
    assert refused(client, f"/api/search?q=noise&{query}", 400, "bad_request").startswith(f"{name}: must be")


@pytest.mark.parametrize("url", ["/api/newest?limit=0", "/api/newest?limit=201", "/api/papers/1/similar?limit=x"])
def test_a_wrong_limit_is_refused(client: TestClient, url: str) -> None:
    assert refused(client, url, 400, "bad_request").startswith("limit: must be")


def test_the_newest_can_be_read_to_the_end(client: TestClient) -> None:
    seen: list[int] = []
    following: str | None = ""
    while following is not None:
        body = answer(client, f"/api/newest?limit=13&before={following}")
        seen += [paper["id"] for paper in body["papers"]]
        following = body["next"]
    assert len(seen) == 60
    assert seen == [paper.id for paper in FakeLibrary().newest(limit=100)]
    assert "before: " in refused(client, "/api/newest?before=now", 400, "bad_request")


def test_similar_papers(client: TestClient) -> None:
    body = answer(client, "/api/papers/1/similar?limit=4")
    assert len(body["hits"]) == 4
    assert 1 not in [hit["paper"]["id"] for hit in body["hits"]]


def test_the_status_keeps_folders_to_itself(client: TestClient) -> None:
    response = client.get("/api/status")
    assert "/secret/home" not in response.text
    assert response.json()["sources"] == {"arxiv": 60, "jsonl": 12}


def test_text_from_outside_stays_data(client: TestClient) -> None:
    body = answer(client, "/api/search?q=attention")
    hit = next(hit for hit in body["hits"] if hit["paper"]["id"] == 4)
    assert hit["paper"]["title"] == "<script>alert(1)</script> Attention"
    assert "<script" not in hit["title_html"]


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (BusyError("locked by /secret"), 503, "busy"),
        (EncoderUnavailableError("no /secret"), 503, "encoder_unavailable"),
        (ValueError("secret"), 500, "internal"),
    ],
)
def test_faults_have_a_code_and_no_inside(fault: Exception, status: int, code: str) -> None:
    library = FakeLibrary(fault=fault)
    with TestClient(create_app(library), base_url=BASE) as client:
        exports = ("/api/export?form=csl&q=x", "/api/export?form=csl&id=1")
        for url in ("/api/search?q=x", "/api/papers/1", "/api/newest", "/api/status", "/api/sources", *exports):
            assert "secret" not in refused(client, url, status, code)


def test_unknown_addresses_and_methods_are_answered_in_json(client: TestClient) -> None:
    refused(client, "/api/nope", 404, "not_found")
    response = client.post("/api/search?q=x")
    assert response.status_code == 405
    assert response.json()["error"]["code"] == "method_not_allowed"


def test_the_description_names_every_route_and_parameter(client: TestClient) -> None:
    schema = answer(client, "/api/openapi.json")
    reviews = {path for path in schema["paths"] if path.startswith("/api/reviews")}  # test_web_screening_api has these
    assert set(schema["paths"]) - reviews == {
        "/api/search",
        "/api/newest",
        "/api/status",
        "/api/sources",
        "/api/export",
        "/api/papers/{identifier}",
        "/api/papers/{identifier}/similar",
        "/api/papers/{identifier}/bibtex",
        "/api/edition",
        "/api/edition/{day}",
        "/api/editions",
        "/api/memory",
        "/api/profile",
        "/api/events",
        "/api/events/{event}",
        "/api/undo",
        "/api/follows",
        "/api/mutes",
        "/api/searches",
        "/api/searches/{search}",
    }
    assert "422" not in json.dumps(schema)
    named = {p["name"] for p in schema["paths"]["/api/search"]["get"]["parameters"]}
    assert named == {"q", "page", "page_size", "sort", "venue", "area", "subarea", "year", "code"}
    every = [(path, operation) for path, item in schema["paths"].items() for operation in item.values()]
    assert len([path for path, _ in every if path not in reviews]) == 22
    for path, operation in every:
        assert operation["description"], path
        assert all(p.get("description") for p in operation.get("parameters", []) if p["in"] == "query")
        schema_of_answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert path.endswith("/export") or schema_of_answer["$ref"]
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schema)))
    assert references == set(schema["components"]["schemas"])


def test_described_limits_are_the_real_ones(client: TestClient) -> None:
    for url in ("/api/newest", "/api/papers/1/similar"):
        path = url.replace("/1/", "/{identifier}/")
        parameters = answer(client, "/api/openapi.json")["paths"][path]["get"]["parameters"]
        high = next(p for p in parameters if p["name"] == "limit")["schema"]["maximum"]
        assert answer(client, f"{url}?limit={high}")
        assert client.get(f"{url}?limit={high + 1}").status_code == 400


def test_the_reference_page_shows_the_description(client: TestClient) -> None:
    source = client.get("/api").text
    schema = answer(client, "/api/openapi.json")
    for path, operations in schema["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in source
    for name, shape in schema["components"]["schemas"].items():
        assert f'id="{name}"' in source
        for field in shape["properties"]:
            assert f"<code>{field}</code>" in source
    assert "(<code>q</code>, with facets)" in source
    assert "Answers a file: <code>application/json</code>, <code>application/x-bibtex</code>" in source
    assert "//cdn" not in source
