"""The pages of reviews over a real library: from a file that is sent to an export that is taken in again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from broadsheet.library import Library, open_library
from broadsheet.model.screening import Label
from broadsheet.settings import load_settings
from broadsheet.web import create_app
from broadsheet.web.identity import COOKIE
from tests.pages import BASE, page

OWN = {"origin": BASE}
SUBJECTS = ("sparse graphs", "dense graphs", "trees", "lattices", "rings")


def rows() -> list[tuple[str, str, str]]:
    """Title, abstract and label of thirty records, of which those on sparse graphs are relevant; one is known."""
    found = []
    for number in range(30):
        subject = SUBJECTS[number % 5]
        abstract = f"We measure walks with restarts on {subject}, number {number}, and count what they reach."
        found.append((f"Walk {number} on {subject}", abstract, "1" if number == 0 else ""))
    return found


def table() -> bytes:
    lines = ["title,abstract,included"]
    lines += [f'"{title}","{abstract}",{label}' for title, abstract, label in rows()]
    return "\n".join([*lines, '"随机重启与稀疏图","本文研究稀疏图上的随机游走与重启。",']).encode()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    settings = load_settings(tmp_path, {"BROADSHEET_ENCODER": "none"})
    with open_library(settings=settings) as found:
        yield found


@pytest.fixture
def client(library: Library) -> Iterator[TestClient]:
    with TestClient(create_app(library), base_url=BASE, follow_redirects=False) as found:
        yield found


def sent(client: TestClient, path: str, files: Any = None, **fields: Any) -> str:
    """Send a form; gives where it leads."""
    response = client.post(path, data=fields, files=files, headers=OWN)
    assert response.status_code == 303, response.text[-600:]
    return str(response.headers["location"])


def begun(client: TestClient) -> str:
    """A review with a filled pool; gives its address."""
    exclude = "DENSE: not on sparse graphs"
    at = sent(client, "/reviews", name="Restarts", question="Walks on sparse graphs?", exclude=exclude, target="80")
    sent(client, f"{at}/files", files=[("file", ("hits.csv", table()))])
    return at


def screened(client: TestClient, at: str, reader: str = "") -> dict[int, str]:
    """Screen all that is offered, by title; gives what was decided."""
    found: dict[int, str] = {}
    where = client.get(f"{at}/screen").headers["location"]
    while "end=1" not in where:
        parts = urlsplit(where)
        number = int(parts.path.rpartition("/")[2])
        assert number not in found, "no record is offered twice"
        title = page(client, where).text("h1")
        label = "include" if "sparse" in title or "稀疏" in title else "exclude"
        how = {name: values[0] for name, values in parse_qs(parts.query).items() if name != "was"}
        reason = {"reason": "DENSE"} if label == "exclude" else {}
        where = sent(client, f"{at}/decide", record=number, label=label, **how, **reason)
        found[number] = label
    return found


def test_a_review_from_the_file_to_the_end_and_back_from_its_export(client: TestClient, library: Library) -> None:
    at = begun(client)
    overview = page(client, at)
    assert "hits.csv 31 31 0 0" in [text[:18] for _, text in overview.all("tr")]
    known = [a["value"] for a, _ in page(client, f"{at}/records?label=prior").all("li") if "data-item" in a]
    assert known == ["1"]
    found = screened(client, at)
    assert len(found) == 30
    assert sorted(n for n, label in found.items() if label == "include") == [6, 11, 16, 21, 26, 31]
    progress = library.screening.progress(1)
    assert (progress.read, progress.found, progress.records) == (31, 7, 31)
    end = page(client, f"{at}/screen?end=1")
    assert end.text("h1") == "Nothing left to offer"
    assert "Everything has been read" in end.text("p", class_="sentence")
    assert page(client, at).all("svg", class_="curve")
    sent(client, f"{at}/stop")
    whole = client.get(f"{at}/export/record")
    assert whole.status_code == 200
    again = sent(client, "/reviews/import", files=[("file", ("a.jsonl", whole.content))], name="Again")
    assert again != at
    first, second = (client.get(f"{where}/export/csv").text for where in (at, again))
    assert first == second
    assert "excluded" in client.get(f"{again}/prisma.svg").text.lower()
    for form in ("ris", "tsv", "xlsx", "json"):
        assert client.get(f"{at}/export/{form}").status_code == 200


def test_an_undo_gives_back_the_offer_and_the_same_evidence(client: TestClient, library: Library) -> None:
    at = begun(client)
    where = client.get(f"{at}/screen").headers["location"]
    parts = urlsplit(where)
    how = {name: values[0] for name, values in parse_qs(parts.query).items()}
    number = int(parts.path.rpartition("/")[2])
    sent(client, f"{at}/decide", record=number, label="exclude", **how)
    back = urlsplit(sent(client, f"{at}/undo"))
    assert back.path == parts.path
    given = {name: values[0] for name, values in parse_qs(back.query).items()}
    assert {name: given.get(name) for name in how} == how
    sent(client, f"{at}/decide", record=number, label="include", **how)
    event = library.screening.history(1)[-1]
    assert (event.record, event.label, event.chosen) == (number, Label.INCLUDE, how["by"])


def test_two_screeners_of_a_blinded_review(client: TestClient, library: Library) -> None:
    secret = library.daily.add_reader("ada").secret
    at = begun(client)
    sent(client, f"{at}/settings", sharing="blinded", screeners="me, ada")
    for number, label in ((2, "include"), (3, "exclude"), (4, "exclude")):
        sent(client, f"{at}/decide", record=number, label=label, note="mine alone")
    client.cookies.set(COOKIE, secret)
    for path in ("", "/records", "/records/2", "/screen/2", "/history", "/conflicts"):
        assert "mine alone" not in client.get(f"{at}{path}").text, path
    row = page(client, f"{at}/records").all("li", value="2")[0][1]
    assert "Unread" in row
    assert client.get(f"{at}/export/csv").status_code == 400
    for number, label in ((2, "exclude"), (3, "exclude")):
        sent(client, f"{at}/decide", record=number, label=label)
    conflicts = page(client, f"{at}/conflicts")
    assert [text for _, text in conflicts.all("h2")][:1] == ["Walk 1 on dense graphs"]
    assert "mine alone" in client.get(f"{at}/conflicts").text
    assert sent(client, f"{at}/resolve", record=2, label="exclude", note="agreed") == f"{at}/conflicts"
    assert library.screening.record("Restarts", 2).label is Label.EXCLUDE
    assert "ada" in page(client, f"{at}/agreement").text("table")


def test_a_library_for_reading_only_is_looked_at_and_not_changed(client: TestClient, library: Library) -> None:
    at = begun(client)
    with (
        open_library(settings=library.settings, read_only=True) as reading,
        TestClient(create_app(reading), base_url=BASE, follow_redirects=False) as site,
    ):
        for path in ("/reviews", at, f"{at}/records", f"{at}/screen/2", f"{at}/history"):
            assert site.get(path).status_code == 200, path
        data = {"record": 2, "label": "include", "name": "x"}
        for path in ("/reviews", f"{at}/decide", f"{at}/stop"):
            response = site.post(path, data=data, headers=OWN)
            assert (response.status_code, "reading only" in response.text) == (400, True), path


def test_what_the_browser_is_given_has_nothing_in_line(client: TestClient) -> None:
    at = begun(client)
    for path in ("", "/screen/1", "/prisma", "/settings"):
        assert not re.search(r"<[^>]+ (?:style|on\w+)=", client.get(f"{at}{path}").text), path
