"""Files to download: names, kinds, what is in them, errors before and after the first byte."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from broadsheet.errors import BusyError, InputError
from broadsheet.web import create_app, exports
from broadsheet.web.exports import FORMS, OF_ONE_PAPER, Form, file_name
from tests.fake_library import FakeLibrary
from tests.pages import BASE, NOW, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


KINDS = {
    "bib": "application/x-bibtex; charset=utf-8",
    "ris": "application/x-research-info-systems; charset=utf-8",
    "json": "application/vnd.citationstyles.csl+json",
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_paper_as_a_file(client: TestClient, library: FakeLibrary, form: Form) -> None:
    response = client.get(f"/paper/2.{form.ending}")
    assert response.status_code == 200
    assert response.headers["content-type"] == KINDS[form.ending]
    assert response.headers["content-disposition"] == f'attachment; filename="broadsheet-2.{form.ending}"'
    assert response.text.startswith(f"{form.name} 2: 任务数量很少时的元学习")
    assert client.get(f"/paper/1001.{form.ending}").text.startswith(f"{form.name} 1:"), "a merged paper's number"
    assert "Not in this library" in page(client, f"/paper/999.{form.ending}", 404).text("h1")
    for digits in (40, 5000):  # more than an integer may have
        assert client.get(f"/paper/{'9' * digits}.{form.ending}").status_code == 404


def test_a_papers_page_offers_the_forms_of_reference_managers(client: TestClient) -> None:
    parsed = page(client, "/paper/1")
    offered = {attrs["href"]: text for attrs, text in parsed.all("a") if "download" in attrs}
    assert offered == {"/paper/1.bib": "BibTeX", "/paper/1.ris": "RIS", "/paper/1.json": "CSL-JSON"}
    assert [form.title for form in OF_ONE_PAPER] == list(offered.values())


def test_an_identifier_that_looks_like_a_file_is_still_an_identifier(client: TestClient) -> None:
    assert client.get("/paper/2605.01001").headers["location"] == "/paper/1"
    assert client.get("/paper/10.1000/x.json").status_code == 404
    assert client.get("/paper/1.pdf").status_code == 404
    assert client.get("/search.pdf?q=noise").status_code == 404


@pytest.mark.parametrize("form", FORMS)
def test_the_results_of_a_search_as_a_file(client: TestClient, library: FakeLibrary, form: Form) -> None:
    response = client.get(f"/search.{form.ending}?q=noise&area=Theory&code=yes&sort=newest&page=2")
    facets = {"area": ("Theory",), "code": ("yes",)}
    expected = [hit.paper.id for hit in FakeLibrary().search("noise", page_size=1000, facets=facets).hits]
    assert [int(line.split()[1].rstrip(":")) for line in response.text.splitlines()] == expected
    assert 1 < len(expected) < 20
    assert response.headers["content-type"] == KINDS[form.ending]
    assert response.headers["content-disposition"] == f'attachment; filename="broadsheet-noise.{form.ending}"'
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_page_of_results_offers_all_of_them_in_every_form(client: TestClient) -> None:
    parsed = page(client, "/search?q=noise&area=Theory&sort=oldest&page_size=3&page=2")
    offered = {text: attrs["href"] for attrs, text in parsed.all("a") if "download" in attrs}
    assert list(offered) == ["BibTeX", "RIS", "CSL-JSON", "CSV", "JSON Lines", "Markdown"]
    for form in FORMS:
        url = urlsplit(offered[form.title])
        assert url.path == f"/search.{form.ending}"
        assert parse_qs(url.query) == {"q": ["noise"], "area": ["Theory"]}
        assert client.get(offered[form.title]).status_code == 200
    assert not [attrs for attrs, _ in page(client, "/search?q=zzzzqq").all("a") if "download" in attrs]


def test_nothing_found_is_an_empty_file(client: TestClient) -> None:
    response = client.get("/search.bib?q=zzzzqq")
    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("query", ["", "?q=", "?q=%22%22", "?area=", "?q=noise&year=soon", "?q=noise&code=perhaps"])
def test_a_request_that_cannot_be_read_gets_a_page_that_says_so(
    client: TestClient, library: FakeLibrary, form: Form, query: str
) -> None:
    assert re.search("(q|year|code): must", page(client, f"/search.{form.ending}{query}", 400).text("main"))
    assert library.calls == []


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("fault", "status"), [(InputError("a bad question"), 400), (BusyError("in /secret"), 503)])
def test_an_error_before_the_first_byte_is_a_page(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, late: bool, fault: Exception, status: int
) -> None:
    def failing() -> Iterator[str]:
        yield "some text"
        raise fault

    def export(*_: object, **__: object) -> Iterator[str]:
        if not late:
            raise fault
        return failing()

    monkeypatch.setattr(FakeLibrary, "export", export)
    for url in ("/search.ris?q=noise", "/paper/1.bib"):
        response = client.get(url)
        assert response.status_code == status
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert "content-disposition" not in response.headers
        assert "secret" not in response.text
    assert client.get("/api/export?form=ris&id=1").json()["error"]["code"] in ("bad_request", "busy")


def test_a_long_file_comes_in_few_pieces_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "PIECE", 100)
    texts = [f"entry {number} of 中文\n".encode() for number in range(50)]
    pieces = list(exports._joined(iter(texts)))
    assert b"".join(pieces) == b"".join(texts)
    assert 5 < len(pieces) < 12
    assert list(exports._joined(iter(()))) == [b""]


def test_asking_for_the_head_reads_nothing_of_the_library_but_what_is_first(client: TestClient) -> None:
    response = client.head("/search.csv?q=noise")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"] == KINDS["csv"]


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ("12", "broadsheet-12.bib"),
        ("How to end a learning-rate schedule?", "broadsheet-how-to-end-a-learning-rate-schedule.bib"),
        ('au:"Kurt Gödel" venue:ICML', "broadsheet-au-kurt-godel-venue-icml.bib"),
        ("少样本学习", "broadsheet-papers.bib"),
        ("../../etc/passwd", "broadsheet-etc-passwd.bib"),
        ('"; filename="evil.exe\r\nSet-Cookie: a=b', "broadsheet-filename-evil-exe-set-cookie-a-b.bib"),
        ("", "broadsheet-papers.bib"),
        ("word " * 100, "broadsheet-" + "word-" * 7 + "word.bib"),
    ],
)
def test_the_name_of_a_file(about: str, name: str) -> None:
    assert file_name(FORMS[0], about) == name


@given(st.text(), st.sampled_from(FORMS))
def test_every_system_can_store_the_name(about: str, form: Form) -> None:
    name = file_name(form, about)
    assert re.fullmatch(rf"broadsheet-[a-z0-9]+(-[a-z0-9]+)*\.{form.ending}", name)
    assert len(name) < 64


def test_a_question_of_any_signs_makes_no_header_of_its_own(client: TestClient) -> None:
    response = client.get("/search.bib?q=" + quote('noise"\r\nX-Evil: 1'))
    assert response.status_code == 200
    assert "x-evil" not in response.headers
    assert response.headers["content-disposition"].isascii()


# --------------------------------------------------------------------------------------------- over a real connection


@pytest.fixture
def served(library: FakeLibrary) -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(library), http="h11", log_level="critical", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    listener.close()


@contextmanager
def asked(port: int, path: str) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", path)
        with connection.getresponse() as response:
            yield response


def test_the_file_begins_before_the_last_paper_is_made(served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read = threading.Event()

    def export(*_: object, **__: object) -> Iterator[str]:
        yield "first " * exports.PIECE
        assert read.wait(60)
        yield "last"

    monkeypatch.setattr(FakeLibrary, "export", export)
    with asked(served, "/search.bib?q=noise") as response:
        assert response.read(6) == b"first "
        read.set()
        assert response.read().endswith(b"last")


def test_a_file_that_breaks_off_cannot_be_taken_for_whole(served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def export(*_: object, **__: object) -> Iterator[str]:
        yield "x" * exports.PIECE
        raise BusyError("locked")

    monkeypatch.setattr(FakeLibrary, "export", export)
    with asked(served, "/search.bib?q=noise") as response:
        assert response.status == 200
        with pytest.raises(http.client.IncompleteRead):
            response.read()


def test_a_reader_who_goes_away_ends_the_export(served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def export(*_: object, **__: object) -> Iterator[str]:
        try:
            while True:
                yield "x" * exports.PIECE
        finally:
            ended.set()

    monkeypatch.setattr(FakeLibrary, "export", export)
    with asked(served, "/search.bib?q=noise") as response:
        assert response.read(1000)
        assert not ended.is_set()
    assert ended.wait(20)
