"""The daily paper on the site over a real library: pages, forms, feeds and the API as a reader meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import feedparser
import pytest
from starlette.testclient import TestClient

from broadsheet.library import Library
from broadsheet.model.reading import Action
from broadsheet.signing import Order, Verb, act_url
from broadsheet.web import create_app
from tests.daily_library import listing, take
from tests.libraries import library_in
from tests.pages import BASE, Page, page

LISTED = 24


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library whose newest papers are of yesterday and the day before, so that an edition is due."""
    with library_in(tmp_path / "home") as found:
        today = datetime.now(UTC).date()
        for ago in (3, 1):
            entries = [
                entry | {"listed": str(today - timedelta(days=ago)), "code": f"https://code.example.org/{ago}"}
                for entry in listing(ago, LISTED, first=1000 * ago)
            ]
            take(found, entries, f"day-{ago}")
        yield found


@pytest.fixture
def client(library: Library) -> Iterator[TestClient]:
    with TestClient(create_app(library), base_url=BASE, follow_redirects=False) as found:
        yield found


def sent(client: TestClient, path: str, **fields: Any) -> Any:
    response = client.post(path, data=fields, headers={"origin": BASE})
    assert response.status_code == 303, response.text[-500:]
    return response


def entries(parsed: Page) -> list[int]:
    return [int(attrs["id"].removeprefix("p-")) for attrs, _ in parsed.all("article") if "id" in attrs]


def test_a_reader_from_the_first_edition_on(client: TestClient, library: Library) -> None:
    first = page(client, "/")
    shown = entries(first)
    assert len(shown) == len(set(shown)) > 10
    assert "Nothing is known of you yet" in first.text("main")
    assert entries(page(client, "/")) == shown, "once printed it stays"
    day = library.daily.edition_days()[0]
    assert entries(page(client, f"/edition/{day}")) == shown
    assert set(entries(page(client, f"/week/{day}"))) <= set(shown)
    assert page(client, f"/edition/{day - timedelta(days=40)}", 404).all("a", rel="next", href=f"/edition/{day}")
    assert page(client, f"/month/{day - timedelta(days=400)}", 404)

    for paper in shown[:3]:
        sent(client, "/act", action="save", paper=paper, edition=str(day), back=f"/#p-{paper}")
    author = library.paper(shown[3]).authors[0]
    sent(client, "/act", because=f"author:{author}", paper=shown[3])
    assert "dismissed" in page(client, "/").all("article", id=f"p-{shown[3]}")[0][0]["class"]
    assert author in page(client, "/interests").text("section", id="mutes")
    undo = page(client, f"/paper/{shown[3]}").all("button", class_="undo")[0][0]["value"]
    sent(client, "/act", undo=undo)
    assert library.daily.reader().profile.mutes == ()
    assert entries(page(client, "/saved")) == shown[2::-1]
    assert client.get("/saved.bib").text.count("@") == 3

    view = page(client, "/interests")
    assert "Learned from" in view.text("main")
    assert view.text("section", id="papers").count("Forget") >= 3
    assert view.all("meter")
    sent(client, "/interests/forget", paper=shown[0])
    assert set(library.daily.marks(shown)) == {shown[1], shown[2]} | {
        paper for paper, held in library.daily.marks(shown).items() if Action.SAVE not in held
    }


def test_opening_is_noted_once(client: TestClient, library: Library) -> None:
    for _ in range(3):
        assert client.get("/paper/1").status_code == 200
    assert [(e.action, e.paper) for e in library.daily.events()] == [(Action.OPEN, 1)]


def test_every_form_of_the_interests_page_is_understood(client: TestClient, library: Library) -> None:
    sent(client, "/interests/start", area=["cs.LG"], papers="1, 2\n2601.13002")
    assert [str(one) for one in library.daily.reader().profile.follows] == ["area:cs.LG"]
    assert len(library.daily.events()) == 3
    sent(client, "/interests/search", query='bees area:"cs.LG"', label="Bees")
    sent(client, "/interests/mute", kind="keyword", value="Bread")
    names = [a["name"] for a, _ in page(client, "/interests").all("input") if a.get("name", "").startswith("part-")]
    assert len(names) > 5
    sent(client, "/interests/options", risk="20", **dict.fromkeys(names, "1.5"))
    profile = library.daily.reader().profile
    assert profile.risk == 0.2
    assert dict(profile.emphasis) == {name.removeprefix("part-"): 1.5 for name in names}
    assert 'value="1.5"' in client.get("/interests").text

    exported = client.get("/interests/export.json").text
    assert library.daily.reader().secret not in exported
    sent(client, "/interests/reset", sure="yes")
    library.daily.add_reader("ada")
    client.get(f"/r/{library.daily.reader('ada').secret}")
    sent(client, "/interests/import", record=exported)
    assert len([e for e in library.daily.events("ada") if e.action is Action.EXAMPLE]) == 3
    assert [str(one) for one in library.daily.reader("ada").profile.mutes] == ["keyword:bread"]
    assert json.loads(client.get("/api/profile").text)["reader"] == "ada"


def test_feeds_and_links_from_mails(client: TestClient, library: Library) -> None:
    reader = library.daily.reader()
    shown = entries(page(client, "/"))
    found = feedparser.parse(client.get(f"/r/{reader.secret}/edition.atom").content)
    assert [int(e.id.rpartition("/")[2]) for e in found.entries] == shown
    assert all(e.summary.startswith("<p><em>") for e in found.entries)
    edition = library.daily.edition(library.daily.edition_days()[0])
    for section in edition.sections:
        of_section = feedparser.parse(client.get(f"/r/{reader.secret}/section/{section.key}.atom").content)
        assert len(of_section.entries) == len(section.entries), section.key
    search = library.daily.save_search("bees", "Bees")
    assert feedparser.parse(client.get(f"/r/{reader.secret}/search/{search.id}.atom").content).entries
    url = act_url("", Order(Verb.SAVE, shown[0], edition.day, reader.name), reader.secret)
    assert library.paper(shown[0]).title.split()[0] in page(client, url).text("main")
    for _ in range(2):
        assert client.post(url).status_code == 200
    assert [(e.action, e.paper, e.edition) for e in library.daily.events()] == [(Action.SAVE, shown[0], edition.day)]
    library.daily.set_options(email="me@example.org")
    assert client.post(act_url("", Order(Verb.UNSUBSCRIBE, 0, date.today(), reader.name), reader.secret)).is_success
    assert library.daily.reader().profile.email == ""


def test_the_api(client: TestClient, library: Library) -> None:
    today = client.get("/api/edition").json()
    paper = today["edition"]["sections"][0]["entries"][0]["paper"]["id"]
    assert today["is_new"] is True
    done = client.post("/api/events", json={"action": "like", "paper": paper}).json()
    assert list(done["marks"]) == ["like"]
    assert client.get("/api/memory").json()["papers"][0]["paper"] == paper
    assert client.delete(f"/api/events/{done['event']['id']}").json()["marks"] == {}
    assert client.post("/api/undo", json={}).json()["event"] is None
    assert client.delete("/api/events/999").status_code == 404
    assert client.get("/api/edition/2001-01-01").status_code == 404
    assert re.search(r"nearest|next", client.get("/api/edition/2001-01-01").json()["error"]["message"])


def test_a_library_without_papers_says_so(tmp_path: Path) -> None:
    with library_in(tmp_path) as empty, TestClient(create_app(empty), base_url=BASE) as client:
        parsed = page(client, "/")
        assert "broadsheet import" in parsed.text("main")
        assert parsed.all("p", class_="note today-note")
        for path in ("/interests", "/saved", "/editions", "/newest"):
            page(client, path)
        assert client.get("/week").status_code == 404


FORMS: list[tuple[str, dict[str, str]]] = [
    ("/act", {"action": "save", "paper": "1"}),
    ("/interests/follow", {"kind": "keyword", "value": "bees"}),
    ("/interests/mute", {"kind": "keyword", "value": "bees"}),
    ("/interests/search", {"query": "bees"}),
    ("/interests/options", {"risk": "20"}),
    ("/interests/forget", {"paper": "1"}),
    ("/interests/reset", {"sure": "yes"}),
    ("/interests/start", {"area": "cs.LG"}),
    ("/interests/import", {"record": '{"format": 1}'}),
    ("/interests/address", {}),
]


def test_a_site_that_is_for_reading_only_says_so_and_what_to_do(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    reader = library.daily.reader()
    link = act_url("", Order(Verb.SAVE, 1, date(2026, 3, 2), reader.name), reader.secret)
    with (
        library_in(library.settings.home, read_only=True) as reading,
        TestClient(create_app(reading), base_url=BASE, follow_redirects=False) as client,
    ):
        for path in ("/", "/interests", "/paper/1", "/saved", link):
            assert client.get(path).status_code == 200
        for path, fields in FORMS:
            response = client.post(path, data=fields, headers={"origin": BASE})
            assert (path, response.status_code) == (path, 403)
            assert "for reading only" in response.text
            assert "broadsheet serve" in response.text
        assert client.post(link).status_code == 403
        answer = client.post("/api/events", json={"action": "save", "paper": 1})
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "read_only"
        assert client.post("/api/undo").status_code == 403
    assert library.daily.events() == []
    assert not [one for one in caplog.records if one.name.startswith("broadsheet") and one.levelname != "INFO"]
