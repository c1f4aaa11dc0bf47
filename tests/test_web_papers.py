"""The pages of a paper, over a library in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from broadsheet.errors import EncoderUnavailableError
from broadsheet.model import Area, Identifier, Scheme
from broadsheet.web import create_app, views
from tests.fake_library import SICI, FakeLibrary
from tests.pages import BASE, NOW, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


@pytest.mark.parametrize(
    "path",
    [
        "/paper/arXiv:2605.01001",
        "/paper/2605.01001v3",
        "/paper/https://arxiv.org/abs/2605.01001",
        "/paper/10.48550/arXiv.2605.01001",
        "/paper/%E2%80%8B2605.01001%0A",
        "/paper/01",
        "/paper/1001",
    ],
)
def test_every_name_of_a_paper_leads_to_its_one_address(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.headers["location"]) == (302, "/paper/1")


@pytest.mark.parametrize("path", [f"/paper/{SICI}", f"/paper/{quote(SICI, safe='')}", f"/paper/doi:{SICI.upper()}"])
def test_a_doi_with_slashes_and_angle_brackets_is_an_address(client: TestClient, path: str) -> None:
    assert client.get(path).headers["location"] == "/paper/5"


def test_old_ids_and_addresses_with_a_query_are_addresses(client: TestClient) -> None:
    assert client.get("/paper/quant-ph/0112019").headers["location"] == "/paper/9"
    assert client.get("/paper/https://openreview.net/forum?id=aBc_d-Ef12").headers["location"] == "/paper/9"


@pytest.mark.parametrize("path", ["/paper/999", "/paper/nonsense", "/paper/0000.00000", "/paper/" + "9" * 400])
def test_a_paper_that_is_not_there(client: TestClient, path: str) -> None:
    assert "Not in this library" in page(client, path, 404).text("h1")


def test_a_paper_with_everything(client: TestClient) -> None:
    parsed = page(client, "/paper/1")
    assert "Sharp" in parsed.text("h1")
    assert len(parsed.all("math")) > 3
    links = parsed.links()
    assert views.asking("au", "Sofia Kovalevskaya") in links
    assert views.asking("area", "Deep Learning", "Generative Models") in links
    assert {"https://arxiv.org/abs/2605.01001", "https://arxiv.org/pdf/2605.01001", "/paper/1.bib"} <= set(links)
    assert "8 June 2026" in parsed.text("aside")
    assert "12 June 2026" in parsed.text("aside")
    assert "/day/2026-06-12" in links
    assert len(parsed.all("article", class_="result")) == 8
    rows = [text for _, text in parsed.all("tr")]
    assert {"abstract arxiv:1", "title jsonl:1"} <= set(rows)
    assert "papers.jsonl/1" in parsed.text("details", class_="records")
    assert "@misc{paper1," in parsed.text("pre", id="bibtex")
    assert parsed.all("button", data_copy="bibtex", hidden="")


def test_labels_tell_what_the_text_is(client: TestClient) -> None:
    labels = [text for _, text in page(client, "/paper/6").all("p", class_="label")]
    assert labels == [
        "Title from the first sentence: no source gave one.",
        "A summary in our own words, not the authors’ abstract.",
    ]
    assert "and others" in page(client, "/paper/6").text("p", class_="authors")
    assert not page(client, "/paper/1").all("p", class_="label")


def test_what_is_missing_or_damaged_is_said(client: TestClient) -> None:
    text = page(client, "/paper/5").text("main")
    assert "were damaged before they came here" in text
    assert "No source of this library gives an abstract." in text
    assert "before they came here" not in page(client, "/paper/1").text("main")


def test_a_lost_character_is_explained_only_where_one_is_seen(client: TestClient, library: FakeLibrary) -> None:
    library.papers[5] = replace(library.papers[5], abstract="na\ufffdve", damaged=True)
    assert "a character was lost before the text came here" in page(client, "/paper/5").text("main")


def test_a_hit_found_by_words_alone_needs_no_score_of_meaning(client: TestClient, library: FakeLibrary) -> None:
    library.parts = {"words": 1.0}
    assert not page(client, "/search?q=noise").all("li", class_="why")


@pytest.mark.parametrize(
    ("markup", "held"),
    [
        ("at $n$. Then", r'<span class="together"><math.*</math>\.</span> Then'),
        ("at ($n$) then", r'at <span class="together">\(<math.*</math>\)</span> then'),
        ("of $k$-means", r'<span class="together"><math.*</math>-</span>means'),
    ],
)
def test_a_formula_and_the_stop_behind_it_stay_in_one_line(markup: str, held: str) -> None:
    assert re.search(held, views.html(markup))
    assert re.search(held, views.inline(markup))


@pytest.mark.parametrize("markup", ["no formula.", "a $n$ alone", "$$n$$. Then"])
def test_what_needs_no_holding_is_left(markup: str) -> None:
    assert "together" not in views.html(markup)


def test_similar_papers_tell_of_how_many_they_are_the_nearest(client: TestClient) -> None:
    assert "Among the 60 % of papers" in page(client, "/paper/1").text("section", id="similar")


def test_an_arxiv_category_is_named_once(client: TestClient, library: FakeLibrary) -> None:
    library.papers[1] = replace(library.papers[1], areas=(Area("cs", "cs.LG"), Area("Theory", "Learning Theory")))
    assert page(client, "/paper/1").text("p", class_="kicker") == "cs.LG, Theory · Learning Theory"


def test_the_status_of_most_papers_is_left_out_of_lists(client: TestClient, library: FakeLibrary) -> None:
    library.papers = {n: replace(paper, status="Poster") for n, paper in library.papers.items()}
    library.papers[9] = replace(library.papers[9], status="Oral")
    shown = page(client, "/search?q=noise&page_size=100").text("main")
    assert "Poster" not in shown
    assert "Oral" in shown
    assert "Poster" in page(client, "/paper/1").text("aside")


def test_an_anthology_id_is_written_as_the_anthology_does(client: TestClient, library: FakeLibrary) -> None:
    identifiers = (Identifier(Scheme.ACL, "2021.EMNLP-MAIN.457"), Identifier(Scheme.ACL, "P18-1001"))
    library.papers[1] = replace(library.papers[1], identifiers=identifiers)
    shown = page(client, "/paper/1").text("aside")
    assert "2021.emnlp-main.457" in shown
    assert "P18-1001" in shown


def test_many_authors_are_folded_but_all_there(client: TestClient) -> None:
    parsed = page(client, "/paper/3")
    assert "and 24 more" in parsed.text("main")
    authors = {link for link in parsed.links() if "q=au" in link}
    assert len(authors) == 64


def test_other_titles_and_versions_are_shown_and_a_version_that_is_gone_is_not(client: TestClient) -> None:
    parsed = page(client, "/paper/7")
    assert "An Earlier Name of the Same Work" in parsed.text("aside")
    assert "/paper/8" in parsed.links()
    assert "/paper/9999" not in parsed.links()


def test_chinese_pages_say_so(client: TestClient) -> None:
    parsed = page(client, "/paper/2")
    assert parsed.all("h1", lang="zh")
    assert parsed.all("div", class_="abstract", lang="zh")
    assert parsed.all("a", lang="zh")


def test_the_bibtex_file(client: TestClient) -> None:
    response = client.get("/paper/2.bib")
    assert response.headers["content-type"] == "application/x-bibtex; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="broadsheet-2.bib"'
    assert "祖冲之 and 刘徽" in response.text
    assert client.get("/paper/999.bib").status_code == 404
    assert client.get(f"/paper/{'9' * 40}.bib").status_code == 404


def test_a_paper_without_a_vector_or_an_encoder_is_still_shown(client: TestClient, monkeypatch: Any) -> None:
    monkeypatch.setattr(FakeLibrary, "similar", lambda *_, **__: [])
    assert "no vector so far" in page(client, "/paper/1").text("section", id="similar")

    def unavailable(*_: object, **__: object) -> None:
        raise EncoderUnavailableError("weights missing")

    monkeypatch.setattr(FakeLibrary, "similar", unavailable)
    assert "nothing here can make vectors" in page(client, "/paper/1").text("section", id="similar")
