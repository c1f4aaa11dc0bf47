"""The pages of reviews over a real library: from a file that is sent to an export that is taken in again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from broadsheet.library import Library, open_library
from broadsheet.model.screening import Label
from broadsheet.settings import load_settings
from broadsheet.web import create_app
from broadsheet.web.identity import COOKIE
from tests.fake_library import FakeLibrary
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


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """The one site of these tests: making its routes and reading its templates takes longer than most of them."""
    return create_app(FakeLibrary())


@pytest.fixture
def client(library: Library, app: FastAPI) -> Iterator[TestClient]:
    app.state.site.library = library
    with TestClient(app, base_url=BASE, follow_redirects=False) as found:
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


# ------------------------------------------------------------------------------------------------- what stays unseen


HIDING = ("", "/records", "/records/1", "/records/2", "/screen/1", "/screen/2", "/history", "/conflicts")
HIDING += ("/records/1/history", "/records/2/history", "/records?label=conflict", "/records/1?stage=full-text")


def of_three(client: TestClient, library: Library) -> str:
    """A blinded review of me, ada and bob, in which two decided and ada did not; the site is hers afterwards."""
    secret = library.daily.add_reader("ada").secret
    library.daily.add_reader("bob")
    at = begun(client)
    sent(client, f"{at}/settings", sharing="blinded", screeners="me, ada, bob")
    for who, label in (("bob", Label.EXCLUDE), ("me", Label.INCLUDE)):
        for number in (1, 2):  # of which the file had labelled the first
            library.screening.decide(1, number, label, who, note=f"words of {who}")
    client.cookies.set(COOKIE, secret)
    return at


def test_a_label_of_the_file_does_not_open_what_others_decided(client: TestClient, library: Library) -> None:
    at = of_three(client, library)
    for path in HIDING:
        for address in (f"{at}{path}", f"/api{at}{path}"):
            assert "words of" not in client.get(address).text, address
    known = client.get(f"/api{at}/records/1").json()
    shown = {name: known[name] for name in ("label", "own", "conflict", "prior", "reasons", "note")}
    assert shown == {"label": "include", "own": None, "conflict": False, "prior": True, "reasons": [], "note": ""}
    for label, numbers in (("conflict", []), ("prior", [1]), ("include", [1]), ("exclude", [])):
        found = client.get(f"/api{at}/records?label={label}").json()["records"]
        assert [one["record"]["number"] for one in found] == numbers, label
    assert library.screening.conflicts(1, screener="ada") == []
    assert len(library.screening.conflicts(1)) == 2
    assert client.get(f"/api{at}/progress").json()["conflicts"] == 0
    for number in (1, 2, 3):  # whether there is a conflict is not told by the answer either
        response = client.post(f"{at}/resolve", data={"record": number, "label": "include"}, headers=OWN)
        assert (response.status_code, "nothing to resolve" in response.text) == (400, True), number
    sent(client, f"{at}/decide", record=1, label="exclude")
    assert "words of bob" in client.get(f"{at}/records/1").text
    assert [one.record.number for one in library.screening.conflicts(1, screener="ada")] == [1]


def test_files_are_withheld_whatever_stage_is_asked_for_and_whoever_stops_alone(
    client: TestClient, library: Library
) -> None:
    at = of_three(client, library)
    asked = (f"{at}/export/record", f"{at}/export/csv", f"/api{at}/export")
    for address in asked:
        assert client.get(f"{address}?stage=full-text").status_code == 400, address
    sent(client, f"{at}/stop")
    for address in asked:
        assert client.get(address).status_code == 400, address
    for number in range(2, 32):
        library.screening.decide(1, number, Label.EXCLUDE, "ada")
    for address in asked:
        assert client.get(address).status_code == 200, address


def test_agreement_of_two_others_is_not_told_meanwhile(client: TestClient, library: Library) -> None:
    at = of_three(client, library)
    pairs = client.get(f"/api{at}/agreement").json()["pairs"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [("ada", "bob"), ("ada", "me")]
    for who in ("me", "ada", "bob"):
        library.screening.stop(1, who)
    assert len(client.get(f"/api{at}/agreement").json()["pairs"]) == 3


def test_a_blinded_screener_takes_back_what_is_hers_by_the_number_that_she_is_told(
    client: TestClient, library: Library
) -> None:
    at = of_three(client, library)
    sent(client, f"{at}/decide", record=2, label="exclude")
    forms = page(client, f"{at}/records/2").all("form", class_="undo-event")
    assert len(forms) == 1, "what others decided is not hers to take back"
    numbers = [a["value"] for a, _ in page(client, f"{at}/records/2").all("input", type="hidden", name="event")]
    sent(client, f"{at}/undo", event=numbers[0], back=f"{at}/records/2")
    assert library.screening.record(1, 2, screener="ada").own is None
    for who, label in (("me", Label.INCLUDE), ("bob", Label.EXCLUDE)):
        assert library.screening.record(1, 2, screener=who).own is label
    for path in ("/history", "/records/2"):
        ids = [attrs["id"] for attrs, _ in page(client, f"{at}{path}").all("tr") if "id" in attrs]
        assert len(set(ids)) == len(ids), path


# --------------------------------------------------------------------------------------------------- odd and hostile


@pytest.mark.parametrize("path", ["/records/", "/screen/"])
@pytest.mark.parametrize("number", ["9" * 5000, "9" * 30, "0", "x", "-1"])
def test_a_number_that_no_record_has_is_not_found(client: TestClient, path: str, number: str) -> None:
    assert client.get(f"{begun(client)}{path}{number}").status_code == 404


@pytest.mark.parametrize(
    "change", [{"seed": 10**30}, {"stopping": {"budget": 10**30}}, {"stopping": {"in_a_row": 2**63}}]
)
def test_a_plan_with_a_number_that_nothing_holds_is_refused(client: TestClient, change: dict[str, Any]) -> None:
    at = begun(client)
    response = client.patch(f"/api{at}", json=change, headers=OWN)
    assert (response.status_code, "too large" in response.text) == (400, True)
    assert client.get(at).status_code == 200


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        *[("event", "screener", value) for value in (None, 1.5, [1])],
        *[("event", "detail", None), ("event", "note", {}), ("event", "place", 2**70), ("event", "reasons", [1])],
        *[
            ("record", "abstract", 10**30),
            ("record", "venue", [1]),
            ("record", "authors", [1]),
            ("record", "year", "x"),
        ],
        *[("record", "paper", 2**70), ("record", "title", "\0" * 3)],
    ],
)
def test_a_whole_review_with_values_of_another_kind_is_refused(
    client: TestClient, library: Library, kind: str, field: str, value: Any
) -> None:
    lines = client.get(f"{begun(client)}/export/record").content.splitlines()
    at = next(i for i, line in enumerate(lines) if kind in json.loads(line))
    changed = json.loads(lines[at])
    changed[kind][field] = value
    lines[at] = json.dumps(changed).encode()
    files = [("file", ("a.jsonl", b"\n".join(lines)))]
    response = client.post("/reviews/import", data={"name": "Again"}, files=files, headers=OWN)
    if value == "\0" * 3:  # odd, but a text
        assert client.get(f"{response.headers['location']}/records").status_code == 200
        return
    assert (response.status_code, len(library.screening.reviews())) == (400, 1)


EVIL = "<script>alert(1)</script>\"'"


def test_nothing_that_was_written_elsewhere_becomes_markup(client: TestClient) -> None:
    cells = ",".join('"' + f"{EVIL} {name}".replace('"', '""') + '"' for name in ("a", "b", "c", "d"))
    file = f"title,abstract,authors,keywords,url\n{cells},javascript:alert(1)\n".encode()
    at = sent(client, "/reviews", name=f"{EVIL}/x", question=EVIL, description=EVIL, include=f"A: {EVIL}")
    files = [("file", (f"{EVIL}.csv", file))]
    sent(client, f"{at}/files", files=files)
    sent(client, f"{at}/decide", record=1, label="include", reason="A", note=EVIL)
    pages = ("", "/settings", "/records", "/records/1", "/screen/1", "/history", "/prisma", "/prisma.svg", "/export")
    for path in (*pages, "/screen/1?was=1", f"/records?q={EVIL}"):
        response = client.get(f"{at}{path}")
        assert response.status_code == 200, path
        assert not re.search(r"<script>alert|href=.javascript", response.text), path
        assert "script-src 'self'" in response.headers["content-security-policy"], path
        assert response.headers["x-content-type-options"] == "nosniff", path
    assert "<script>" not in client.get("/reviews").text


@pytest.mark.parametrize("sender", [{}, {"origin": "https://elsewhere.example"}, {"origin": "null"}])
def test_no_page_of_another_site_changes_a_review(client: TestClient, library: Library, sender: dict[str, str]) -> None:
    at = begun(client)
    before = library.screening.history(1)
    for path in (
        "decide",
        "undo",
        "resolve",
        "prior",
        "twin",
        "apart",
        "stop",
        "reopen",
        "settings",
        "remove",
        "files",
    ):
        data = {"record": "2", "label": "include", "sure": "Restarts", "numbers": "2", "other": "3", "target": "50"}
        assert client.post(f"{at}/{path}", data=data, headers=sender).status_code == 403, path
    if sender:
        file = {"content": b"title\nx\n", "headers": {**sender, "content-type": "application/octet-stream"}}
        assert client.put(f"/api{at}/files/a.csv", **file).status_code == 403
        assert client.delete(f"/api{at}", headers=sender).status_code == 403
    assert library.screening.history(1) == before


# ------------------------------------------------------------------------------------------------- what helps to go on


def test_an_undo_brings_the_reasons_and_the_note_back(client: TestClient) -> None:
    at = begun(client)
    sent(client, f"{at}/decide", record=3, label="exclude", reason="DENSE", note="only dense ones")
    found = page(client, sent(client, f"{at}/undo"))
    assert [a["value"] for a, _ in found.all("input", name="reason") if "checked" in a] == ["DENSE"]
    assert found.text("textarea", id="note") == "only dense ones"
    assert not [a for a, _ in found.all("button") if a.get("aria-pressed") == "true"]
    assert "only dense ones" not in page(client, f"{at}/screen/3").text("textarea", id="note")


def test_a_criterion_without_a_text_is_told_with_an_example(client: TestClient) -> None:
    response = client.post("/reviews", data={"name": "x", "exclude": "POP:"}, headers=OWN)
    assert (response.status_code, "POP: not about adults" in response.text) == (400, True)


def test_a_number_above_all_others_is_told_without_its_like(client: TestClient) -> None:
    at = begun(client)
    for numbers in ("9" * 40, "x", "0"):
        response = client.post(f"{at}/prior", data={"numbers": numbers, "label": "include"}, headers=OWN)
        assert (response.status_code, "9223372036854775807" in response.text) == (400, False), numbers
    response = client.get(f"/api{at}/records/{'9' * 25}")
    assert (response.status_code, "9223372036854775807" in response.text) == (400, False)


# ------------------------------------------------------------------------------------------------ to look and to begin


def test_to_look_begins_no_audit_and_the_button_begins_one(client: TestClient, library: Library) -> None:
    at = begun(client)
    sent(client, f"{at}/settings", rule="distribution-free")
    before = library.screening.history(1)
    for _ in range(2):
        found = page(client, f"{at}/screen?mode=audit")
        assert found.text("h1") == "An audit is due"
        assert client.get(f"/api{at}/next?mode=audit").json() == {"offer": None, "audit_due": True}
    assert library.screening.history(1) == before
    where = sent(client, f"{at}/audit", mode="audit")
    assert "by=audit" in where
    assert library.screening.history(1)[-1].kind == "audit"
    assert sent(client, f"{at}/audit", mode="audit") == where, "begun once, and the same record for who asks again"
    assert client.get(f"{at}/screen?mode=audit").headers["location"] == where
    assert [event.kind for event in library.screening.history(1)].count("audit") == 1


def test_what_is_known_is_looked_up_and_pairs_are_judged(client: TestClient, library: Library) -> None:
    at = begun(client)
    text = "title,abstract,doi,authors,year\nA rare walk of its own,Its abstract,10.1000/rare,A. Noether,2020\n"
    for author, year in (("B. Kovalevskaya", 2009), ("P. Erdos", 2019)):
        text += f"Bounds for seeded walks on rings with restarts,Abstract {year},,{author},{year}\n"
    sent(client, f"{at}/files", files=[("file", ("more.csv", text.encode()))])
    asked = urlencode({"q": "https://doi.org/10.1000/RARE\nWalk 7 on trees"})
    found = page(client, f"{at}/known?{asked}")
    marked = [a["value"] for a, _ in found.all("input", name="numbers") if "checked" in a]
    assert marked == ["32", "8"]
    sent(client, f"{at}/prior", numbers=marked, label="include")
    assert [library.screening.record(1, int(n)).prior for n in marked] == [True, True]
    pairs = library.screening.possible_repeats(1)
    shown = page(client, f"{at}/repeats")
    assert len(shown.all("form", class_="actions")) == min(len(pairs), 25) > 0
    pair = pairs[0]
    sent(client, f"{at}/different", record=pair.record.number, other=pair.other.number)
    assert (pair.record.number, pair.other.number) not in {
        (one.record.number, one.other.number) for one in library.screening.possible_repeats(1)
    }


def test_the_list_of_a_real_library_tells_how_far_each_review_is(client: TestClient) -> None:
    at = begun(client)
    sent(client, f"{at}/decide", record=2, label="include")
    line = page(client, "/reviews").text("ul", class_="facts standing-line")
    assert line.startswith("Screening 2 of 31 read (6 %) 2 included last worked on ")
    standing = client.get("/api/reviews").json()["standings"][0]
    assert (standing["records"], standing["read"], standing["found"], standing["stopped"]) == (31, 2, 2, False)


@pytest.mark.parametrize(("field", "value"), [("querier", "fastest"), ("model", "oracle")])
def test_an_order_or_a_model_that_there_is_not_is_refused_with_those_that_there_are(
    client: TestClient, library: Library, field: str, value: str
) -> None:
    at = begun(client)
    response = client.post(f"{at}/settings", data={field: value}, headers=OWN)
    assert (response.status_code, value in response.text) == (400, True)
    assert "max-relevance" in response.text or "naive-bayes" in response.text


def test_numbers_that_there_are_not_are_404_with_the_remedy(client: TestClient, library: Library) -> None:
    at = begun(client)
    before = library.screening.history(1)
    for path, body in (
        ("decisions", {"record": 99, "label": "include"}),
        ("priors", {"records": [2, 99], "label": "include"}),
        ("twins", {"record": 2, "other": 99}),
        ("differences", {"record": 2, "other": 99}),
        ("resolutions", {"record": 99, "label": "include"}),
    ):
        response = client.post(f"/api{at}/{path}", json=body)
        assert response.status_code == 404, path
        assert "31" in response.json()["error"]["message"], path
    assert client.post(f"/api{at}/undo", json={"event": 999}).status_code == 404
    assert library.screening.history(1) == before
