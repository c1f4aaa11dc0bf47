"""The page of a reader's interests, and its forms."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from broadsheet.model.reading import Action, Interest, InterestKind
from tests import web_reading
from tests.fake_daily import OTHER_SECRET, SECRET
from tests.fake_library import FakeLibrary
from tests.pages import Page, page
from tests.web_reading import OWN, done, sent

library, client, public = web_reading.FIXTURES


def profile(library: FakeLibrary) -> Any:
    return library.daily.reader("me").profile


def test_following_and_muting(client: TestClient, library: FakeLibrary) -> None:
    sent(client, "/interests/follow", "/interests?done=follow&n=3#follows", kind="venue", value=" ICML\u200b ")
    assert Interest(InterestKind.VENUE, "ICML") in profile(library).follows
    parsed = page(client, "/interests?done=follow")
    assert parsed.text("p", class_="note") == "Followed. It joins the next edition."
    assert "Venue ICML" in parsed.text("section", id="follows")
    told = page(client, "/interests?done=follow&n=3").text("p", class_="note")
    assert told == "Followed. It joins the next edition. Venue “ICML”: 12 papers of this library."
    for odd in ("0", "4", "x", "-1", "9" * 30, "²"):
        assert page(client, f"/interests?done=follow&n={odd}").text("p", class_="note") == (
            "Followed. It joins the next edition."
        )
    sent(client, "/interests/unfollow", "/interests?done=unfollow#follows", kind="venue", value="ICML")
    assert Interest(InterestKind.VENUE, "ICML") not in profile(library).follows
    sent(client, "/interests/mute", "/interests?done=mute&n=2#mutes", kind="keyword", value="large language")
    sent(client, "/interests/unmute", "/interests?done=unmute#mutes", kind="keyword", value="blockchain")
    assert profile(library).mutes == (Interest(InterestKind.KEYWORD, "large language"),)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "must be a keyword"),
        ({"kind": "colour", "value": "red"}, "must be a keyword, an author, an area or a venue, not 'colour'"),
        ({"kind": "keyword", "value": " \u200b "}, "value: must not be empty"),
        ({"kind": "keyword", "value": "…"}, "says nothing"),
        ({"kind": "keyword", "value": "x" * 501}, "value: may have at most 500 characters"),
    ],
)
def test_an_interest_that_says_nothing_is_refused(client: TestClient, fields: dict[str, str], message: str) -> None:
    response = sent(client, "/interests/follow", **fields)
    assert response.status_code == 400
    assert message in Page(response.text).text("main")


def test_saved_searches(client: TestClient, library: FakeLibrary) -> None:
    sent(
        client, "/interests/search", "/interests?done=search#searches", query='noise area:"Theory"', label="Noise & co"
    )
    search = profile(library).searches[-1]
    assert (search.id, search.query, search.name) == (2, 'noise area:"Theory"', "Noise & co")
    parsed = page(client, "/interests")
    assert f"/r/{SECRET}/search/2.atom" in parsed.links()
    assert "/search?q=noise%20area%3A%22Theory%22" in parsed.links()
    sent(client, "/interests/unsearch", "/interests?done=unsearch#searches", search="1")
    assert [search.id for search in profile(library).searches] == [2]
    assert "asks for nothing" in sent(client, "/interests/search", query="!").text


def test_risk_and_emphasis(client: TestClient, library: FakeLibrary) -> None:
    parsed = page(client, "/interests")
    assert parsed.all("input", name="risk", value="10")
    assert parsed.all("input", name="part-words", value="0.5")
    assert parsed.all("input", name="part-memory", value="1")
    sent(
        client,
        "/interests/options",
        "/interests?done=options#options",
        risk="12,5",
        **{"part-words": "2", "part-x": "0"},
    )
    assert profile(library).risk == 0.125
    assert profile(library).emphasis == (("words", 2.0), ("x", 0.0))
    for bad in ("51", "-1", "nan", "inf", "x", "1e9"):
        assert "risk: must be a number from 0 to 50" in sent(client, "/interests/options", risk=bad).text
    assert "part-words: must be" in sent(client, "/interests/options", risk="10", **{"part-words": "11"}).text
    assert profile(library).risk == 0.125


def test_what_is_remembered_is_shown_with_weights_and_can_be_forgotten(
    client: TestClient, library: FakeLibrary
) -> None:
    library.daily.act(Action.SAVE, 1, "me")
    library.daily.act(Action.DISMISS, 3, "me")
    parsed = page(client, "/interests")
    assert "Learned from 2 things you did, kept in 2 kB." in parsed.text("main")
    assert "sparse, recovery, bounds 70" in parsed.text("main")
    words = parsed.text("section", aria_labelledby="list-keyword")
    assert words.startswith("Words sparse +.80 Follow Mute <script>alert(1)</script> +.50")
    assert [a["aria-label"] for a, _ in parsed.all("meter", class_="against") if "aria-label" in a] == [
        "blockchain: −.40"
    ]
    assert "turned away 12 June 2026" in parsed.text("section", id="papers")
    sent(client, "/interests/forget", "/interests?done=forget#papers", paper="1")
    assert "/paper/1" not in page(client, "/interests").links()
    assert "/paper/3" in page(client, "/interests").links()


def test_of_a_long_memory_the_strongest_are_shown(client: TestClient, library: FakeLibrary) -> None:
    for number in range(100, 330):
        library.papers[number] = replace(library.papers[1], id=number)
        library.daily.act(Action.SAVE, number, "me")
    parsed = page(client, "/interests")
    assert len(parsed.all("form", action="/interests/forget")) == 200
    assert "30 more are remembered, more faintly" in parsed.text("section", id="papers")


def test_a_reset_must_be_confirmed(client: TestClient, library: FakeLibrary) -> None:
    library.daily.act(Action.SAVE, 1, "me")
    response = sent(client, "/interests/reset")
    assert response.status_code == 400
    assert "Nothing was forgotten" in response.text
    assert done(library)[-1] == ("me", "save", 1)
    sent(client, "/interests/reset", "/interests?done=reset", sure="yes")
    assert done(library)[-1] == ("me", "reset", 0)


def test_export_and_import(client: TestClient, library: FakeLibrary) -> None:
    library.daily.act(Action.SAVE, 1, "me")
    response = client.get("/interests/export.json")
    assert response.headers["content-disposition"] == 'attachment; filename="broadsheet-me.json"'
    assert response.headers["cache-control"] == "no-store"
    exported = json.loads(response.text)
    assert exported["events"] == ["save"]
    assert SECRET not in response.text
    answer = client.post("/interests/import", files={"file": ("me.json", response.content)}, headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/interests?done=import")
    sent(client, "/interests/import", "/interests?done=import", record=response.text)
    assert library.daily.taken == [exported, exported]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("", "Nothing was given"),
        ("  ", "Nothing was given"),
        ("{", "cannot be read as JSON"),
        ("[1]", "holds no JSON object"),
        ('{"format": 2}', "format: must be 1"),
        ("[" * 200_000, "cannot be read as JSON"),
    ],
)
def test_what_is_no_exported_reader_is_refused(
    client: TestClient, library: FakeLibrary, record: str, message: str
) -> None:
    response = sent(client, "/interests/import", record=record)
    assert response.status_code == 400
    assert message in Page(response.text).text("main")
    assert library.daily.taken == []


def test_a_cold_start_from_areas_and_papers(client: TestClient, library: FakeLibrary) -> None:
    client.get(f"/r/{OTHER_SECRET}")
    parsed = page(client, "/interests")
    assert "Begin here" in [text for _, text in parsed.all("h2")]
    assert next(a["value"] for a, _ in parsed.all("input", name="area")) == "Applications · Health and Medicine"
    named_papers = (
        "arXiv:2605.01001\n\n10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c\n3, 4; quant-ph/0112019"
    )
    fields = {"area": ["Theory · Learning Theory", "cs.LG"], "papers": named_papers}
    sent(client, "/interests/start", "/interests?done=start&n=5", **fields)
    assert [(e.action, e.paper) for e in library.daily.events_] == [(Action.EXAMPLE, n) for n in (1, 5, 3, 4, 9)]
    assert [i.value for i in library.daily.reader("ada").profile.follows] == ["Theory · Learning Theory", "cs.LG"]
    assert page(client, "/interests?done=start&n=5").text("p", class_="note") == "5 examples were taken in."
    assert "Begin here" not in [text for _, text in page(client, "/interests").all("h2")]


def test_papers_that_are_not_here_are_named(client: TestClient, library: FakeLibrary) -> None:
    response = sent(client, "/interests/start", papers="1\n2401.99999\n<b>x</b>")
    assert response.status_code == 200
    notes = [text for _, text in Page(response.text).all("p", class_="note")]
    assert notes[0] == "1 example was taken in."
    assert notes[1].startswith("Not in this library: 2401.99999, <b>x</b>.")
    assert [e.paper for e in library.daily.events_] == [1]
    assert "at most 500" in sent(client, "/interests/start", papers="1\n" * 501).text


def test_a_cold_start_from_the_imported_library(client: TestClient, library: FakeLibrary) -> None:
    sent(client, "/interests/start", "/interests?done=start&n=1", **{"from": "library"})
    assert done(library) == [("me", "example", 13)]


def test_a_new_secret_ends_the_old_address_and_this_browser_goes_on(public: TestClient, library: FakeLibrary) -> None:
    public.get(f"/r/{OTHER_SECRET}")
    sent(public, "/interests/address", "/interests?done=address#addresses")
    assert public.get(f"/r/{OTHER_SECRET}").status_code == 404
    assert "Printed for ada" in page(public, "/").text("p", class_="dateline")


@pytest.mark.parametrize("query", ["done=nope", "done=start&n=<b>", "done=start&n=99999999999", "done=<script>", "n=3"])
def test_an_address_cannot_put_words_on_the_page(client: TestClient, query: str) -> None:
    notes = page(client, f"/interests?{query}").all("p", class_="note")
    assert [text for _, text in notes] in ([], ["Kept."])


def test_no_weight_of_likeness_is_shown_as_pushing_away(client: TestClient, library: FakeLibrary) -> None:
    view = library.daily.memory("me")
    library.daily.memory = lambda name="": replace(view, parts={"lasting": -0.2, "lately": 0.36})  # type: ignore[method-assign]
    text = page(client, "/interests").text("section", id="options")
    assert "Like what you liked lately weight 0.16" in text
    assert "Like what you liked lately more than all along weight 0.20" in text
    assert "-0.2" not in text.replace("−", "-")
    assert page(client, "/interests").all("input", name="part-lasting", value="1")
