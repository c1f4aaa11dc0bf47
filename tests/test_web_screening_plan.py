"""The plan and the pool of a systematic review on its pages, over a library in memory."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from broadsheet.model.screening import (
    STOPPING_RULES,
    Chosen,
    ReviewEventKind,
    Sharing,
    SourceKind,
)
from broadsheet.web import screening_pairs
from tests import web_reviews
from tests.fake_pool import CHINESE
from tests.fake_screening import FakeScreening
from tests.pages import page
from tests.web_reviews import blinded, decisions, last, sent

shared, app, library, desk, client = web_reviews.FIXTURES


# ---------------------------------------------------------------------------------------------------------------- plan


def test_a_review_is_begun_with_criteria_and_a_rule(client: TestClient, desk: FakeScreening) -> None:
    sent(
        client,
        "/reviews",
        "/reviews/2",
        name="Sleep <b>",
        question="Does it\r\nhelp?",
        include="POP: adults",
        exclude="no data",
        target="97,5",
        confidence="90",
        rule="distribution-free",
        joined="or",
        second="budget",
        budget="500",
        advantage="4",
    )
    plan = desk.reviews_[2].plan
    assert plan.question == "Does it\nhelp?"
    assert [(c.code, c.text, c.excludes) for c in plan.criteria] == [("POP", "adults", False), ("E1", "no data", True)]
    assert plan.stopping.rule == "distribution-free or budget"
    assert (plan.stopping.target, plan.stopping.confidence, plan.stopping.budget) == (0.975, 0.9, 500)
    assert plan.stopping.advantage == 4
    assert page(client, "/reviews/2").text("h1") == "Sleep <b>"


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "Walks on sparse graphs"}, {"name": "x", "target": "100"}])
def test_what_cannot_be_begun_is_refused_with_a_reason(
    client: TestClient, desk: FakeScreening, fields: dict[str, str]
) -> None:
    response = sent(client, "/reviews", **fields)
    assert response.status_code == 400
    assert "name:" in response.text or "target:" in response.text
    assert '<a href="/reviews">the reviews</a>' in response.text
    assert list(desk.reviews_) == [1]


@pytest.mark.parametrize(
    "fields",
    [
        *({"target": "0"}, {"target": "100"}, {"target": "120"}, {"confidence": "100"}, {"target": "much"}),
        *({"advantage": "0.5"}, {"advantage": "nan"}, {"in_a_row": "0"}, {"budget": "-1"}, {"sharing": "secret"}),
        *({"rule": "chao", "second": "budget", "joined": "xor"}, {"question": "x" * 20_001}),
    ],
)
def test_plans_that_cannot_be_are_refused(client: TestClient, desk: FakeScreening, fields: dict[str, str]) -> None:
    before = desk.reviews_[1]
    refused = sent(client, "/reviews/1/settings", **fields)
    assert refused.status_code == 400
    assert '<a href="/reviews/1">the review</a>' in refused.text
    assert desk.reviews_[1] == before


def test_the_plan_is_shown_as_it_can_be_sent_again(client: TestClient, desk: FakeScreening) -> None:
    found = page(client, "/reviews/1/settings")
    fields: dict[str, Any] = {
        attrs["name"]: text.replace("\n", "\r\n") for attrs, text in found.all("textarea") if attrs.get("name")
    }
    assert fields["terms"] == "sparse, restarts, -survey"
    for attrs, _ in found.all("input"):
        if attrs.get("type") == "radio":
            if "checked" in attrs:
                fields[attrs["name"]] = attrs["value"]
        elif attrs.get("name") not in (None, "q", "sure"):
            fields[attrs["name"]] = attrs["value"]
    source = client.get("/reviews/1/settings").text
    for name in ("include", "exclude"):  # the reader of these tests folds lines
        fields[name] = source.partition(f'name="{name}"')[2].partition(">")[2].partition("</textarea>")[0]
    before = desk.reviews_[1].plan
    sent(client, "/reviews/1/settings", "/reviews/1/settings?done=plan", **fields)
    assert desk.reviews_[1].plan == before


def test_the_form_sets_what_ranks_and_in_which_order(client: TestClient, desk: FakeScreening) -> None:
    sent(client, "/reviews/1/settings", querier="uncertainty", model="words", rule="rank-advantage", advantage="1,5")
    plan = desk.reviews_[1].plan
    assert (plan.querier, plan.model, plan.stopping.advantage) == ("uncertainty", "words", 1.5)
    found = page(client, "/reviews/1/settings")
    chosen = {a["name"]: a["value"] for a, _ in found.all("input", type="radio") if "checked" in a}
    assert chosen == {"sharing": "shared", "rule": "rank-advantage", "querier": "uncertainty", "model": "words"}
    sent(client, "/reviews/1/settings", model="default", querier="max-relevance")
    assert (desk.reviews_[1].plan.model, desk.reviews_[1].plan.querier) == ("", "max-relevance")
    sent(client, "/reviews", name="Another", querier="anchors", model="naive-bayes")
    assert (desk.reviews_[2].plan.querier, desk.reviews_[2].plan.model) == ("anchors", "naive-bayes")


@pytest.mark.parametrize("path", ["/reviews", "/reviews/1/settings"])
def test_each_class_of_rules_says_what_it_does_not_promise(client: TestClient, path: str) -> None:
    found = page(client, path)
    rules = dict(zip((a["value"] for a, _ in found.all("input", name="rule")), range(99), strict=False))
    assert set(rules) == set(STOPPING_RULES)
    abouts = [text for _, text in found.all("p", class_="class-about")]
    assert len(abouts) == 3
    assert "Nobody can know that beforehand" in abouts[0]
    assert "whatever the ranking does" in abouts[1]
    assert "do not rest a published recall on them" in abouts[2]
    labelled = {attrs.get("for") for attrs, _ in found.all("label")}
    assert {"target", "confidence", "advantage", "floor", "in_a_row", "budget"} <= labelled


def test_what_a_page_does_not_know_of_a_plan_is_kept(client: TestClient, desk: FakeScreening) -> None:
    desk.change(1, seed=7, querier="anchors")
    sent(client, "/reviews/1/settings", screeners="me, ada", sharing="blinded")
    plan = desk.reviews_[1].plan
    assert (plan.seed, plan.querier, plan.screeners, plan.sharing) == (7, "anchors", ("me", "ada"), Sharing.BLINDED)
    assert plan.criteria


def test_a_review_is_removed_only_by_its_name(client: TestClient, desk: FakeScreening) -> None:
    assert sent(client, "/reviews/1/remove", sure="yes").status_code == 400
    assert list(desk.reviews_) == [1]
    sent(client, "/reviews/1/remove", "/reviews", sure="Walks on sparse graphs")
    assert list(desk.reviews_) == []


# ---------------------------------------------------------------------------------------------------------------- pool


def test_the_pool_is_filled_from_several_files(client: TestClient, desk: FakeScreening) -> None:
    files = [("file", ("../up/a.ris", b"one\ntwo\n")), ("file", ("C:\\b.csv", "三".encode())), ("file", ("", b""))]
    sent(client, "/reviews/1/files", "/reviews/1?done=added#pool", files=files)
    assert desk.sent == [("a.ris", b"one\ntwo\n"), ("b.csv", "三".encode())]
    assert "Added to the pool." in page(client, "/reviews/1?done=added").text("p", class_="note")


def test_sources_are_named(client: TestClient, desk: FakeScreening) -> None:
    files = [("file", ("savedrecs.txt", b"one"))]
    sent(client, "/reviews/1/files", files=files, called="Web of Science", kind="register")
    assert desk.named_sources == [("savedrecs.txt", "Web of Science", SourceKind.REGISTER)]
    shown = page(client, "/reviews/1")
    numbers = [option["value"] for option, text in shown.all("option") if "savedrecs.txt" in text]
    sent(client, "/reviews/1/source", "/reviews/1?done=named#pool", source=numbers[-1], called="WoS", kind="")
    assert desk.named_sources[-1] == (int(numbers[-1]), "WoS", None)
    assert sent(client, "/reviews/1/source", source="1", called="x", kind="journal").status_code == 400


def test_no_file_is_said(client: TestClient) -> None:
    response = sent(client, "/reviews/1/files", files=[("file", ("", b""))])
    assert response.status_code == 400
    assert "No file was chosen" in response.text


def test_the_setting_bounds_what_is_sent(client: TestClient, desk: FakeScreening) -> None:
    assert sent(client, "/reviews/1/files", files=[("file", ("a.ris", b"x" * 150_000))]).status_code == 303
    response = sent(client, "/reviews/1/files", files=[("file", ("a.ris", b"x" * 250_000))])
    assert response.status_code == 413
    assert len(desk.sent) == 1
    assert sent(client, "/reviews/1/prior", numbers="1 " * 100_000, label="include").status_code == 413


def test_what_was_refused_is_listed_with_its_source(client: TestClient) -> None:
    found = page(client, "/reviews/1")
    assert "entry 7: <b>" in [text for _, text in found.all("li")]
    assert "hits.ris 13 12 1 1 5" in " ".join(text for _, text in found.all("tr"))


def test_a_search_a_saved_search_and_papers_fill_the_pool(client: TestClient, desk: FakeScreening) -> None:
    before = len(desk.pools[1])
    sent(client, "/reviews/1/search", "/reviews/1?done=added#pool", query="steps", limit="3")
    assert len(desk.pools[1]) == before + 3
    sent(client, "/reviews/1/saved-search", "/reviews/1?done=added#pool", search="1")
    sent(client, "/reviews/1/papers", "/reviews/1?done=added#pool", papers="1, 2\n3")
    assert [record.paper for record in desk.pools[1][-3:]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("search", {"query": ""}, 400),
        ("search", {"query": "x", "limit": "0"}, 400),
        ("saved-search", {"search": "99"}, 404),
        ("saved-search", {"search": "x"}, 400),
        ("papers", {"papers": " "}, 400),
        ("papers", {"papers": "99999"}, 404),
        ("prior", {"numbers": "", "label": "include"}, 400),
        ("prior", {"numbers": "1,x", "label": "include"}, 400),
        ("prior", {"numbers": "1", "label": "later"}, 400),
        ("prior", {"numbers": "99", "label": "include"}, 404),
    ],
)
def test_what_cannot_fill_a_pool(
    client: TestClient, desk: FakeScreening, path: str, fields: dict[str, str], status: int
) -> None:
    before = list(desk.events_[1])
    assert sent(client, f"/reviews/1/{path}", **fields).status_code == status
    assert desk.events_[1] == before


def test_what_is_known_before_is_said_by_number(client: TestClient, desk: FakeScreening) -> None:
    sent(client, "/reviews/1/prior", "/reviews/1?done=prior", numbers="1, 7\n8", label="include")
    assert decisions(desk) == [("me", 1, "include"), ("me", 7, "include"), ("me", 8, "include")]
    assert last(desk).chosen is Chosen.PRIOR
    assert "(known before)" in client.get("/reviews/1/records").text
    hidden = {a["name"]: a["value"] for a, _ in page(client, "/reviews/1/records/9").all("input", type="hidden")}
    sent(client, "/reviews/1/prior", hidden["back"], numbers="9", label="exclude", back=hidden["back"])
    assert "Taken as known" in page(client, hidden["back"]).text("p", class_="note")
    assert not page(client, "/reviews/1/records/9").all("button", name="label")


# ------------------------------------------------------------------------------------------- known before, and repeats


def test_what_is_known_is_found_by_title_doi_and_number(client: TestClient, desk: FakeScreening) -> None:
    assert "/reviews/1/known" in {a.get("action") for a, _ in page(client, "/reviews/1").all("form")}
    asked = f"https://doi.org/10.1000/walks.1\n{CHINESE}\nmeasured walks\n\nNobody wrote this\n8"
    found = page(client, f"/reviews/1/known?{urlencode({'q': asked})}")
    assert found.text("textarea", id="lines").split() == asked.split()
    boxes = [attrs for attrs, _ in found.all("input", name="numbers")]
    assert [box["value"] for box in boxes if "checked" in box] == ["1", "3", "8"], "what is certain is marked"
    assert [box["value"] for box in boxes if "checked" not in box] == ["7", "8", "9", "10", "11", "12"]
    assert len({box["id"] for box in boxes}) == len(boxes)
    assert [text for _, text in found.all("p", class_="absent")] == [
        "Not in this pool. If it ought to be, add it from a file, or from the library, and look it up again."
    ]
    response = sent(client, "/reviews/1/prior", numbers=["1", "3"], label="include", back="/reviews/1/known?done=prior")
    assert response.headers["location"] == "/reviews/1/known?done=prior"
    assert decisions(desk) == [("me", 1, "include"), ("me", 3, "include")]
    assert "Taken as known" in page(client, "/reviews/1/known?done=prior").text("p", class_="note")


def test_too_much_is_not_looked_up_at_once(client: TestClient) -> None:
    for asked in ("\n".join(map(str, range(60))), "x" * 17_000):
        assert client.get("/reviews/1/known", params={"q": asked}).status_code == 400


def test_pairs_that_may_be_one_work_are_judged(client: TestClient, desk: FakeScreening) -> None:
    found = page(client, "/reviews/1/repeats")
    assert {"/reviews/1/records/7", "/reviews/1/records/8"} <= set(found.links())
    assert "/reviews/1/repeats" in page(client, "/reviews/1").links()
    assert "/reviews/1/repeats" in page(client, "/reviews/1/records").links()
    hidden = {a["name"]: a["value"] for a, _ in found.all("input", type="hidden")[:3]}
    assert hidden == {"record": "7", "other": "8", "back": "/reviews/1/repeats"}
    sent(client, "/reviews/1/same", "/reviews/1/repeats", **hidden)
    assert (last(desk).kind, last(desk).record, last(desk).other) == (ReviewEventKind.TWIN, 8, 7)
    sent(client, "/reviews/1/different", "/reviews/1/repeats", record="9", other="7", back="/reviews/1/repeats")
    assert (last(desk).kind, last(desk).record, last(desk).other) == (ReviewEventKind.DIFFERENT, 7, 9)
    shown = [a["value"] for a, _ in page(client, "/reviews/1/repeats").all("input", name="other")]
    assert shown[:2] == ["10", "11"], "what was said of a pair is not asked again"
    assert "Said to be another work" in client.get("/reviews/1/history").text
    before = list(desk.events_[1])
    for path in ("same", "different"):
        assert sent(client, f"/reviews/1/{path}", record="7", other="99").status_code == 404
    assert desk.events_[1] == before


def test_pairs_are_paged_and_only_screeners_judge_them(
    client: TestClient, desk: FakeScreening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screening_pairs, "PAIRS", 4)
    found = page(client, "/reviews/1/repeats?offset=4")
    assert [a["href"] for a, _ in found.all("a", rel="next")] == ["/reviews/1/repeats?offset=8"]
    assert len(found.all("ol", class_="pair-list")) == 1
    assert found.all("form", class_="actions")
    blinded(desk, "ada", "bo")
    assert not page(client, "/reviews/1/repeats").all("form", class_="actions")
    assert "No more." in client.get("/reviews/1/repeats?offset=900").text
