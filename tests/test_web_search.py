"""The search page, over a library in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from starlette.testclient import TestClient

from broadsheet.model import Paper
from broadsheet.web import create_app
from tests.fake_library import FakeLibrary
from tests.pages import BASE, NOW, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


def test_a_search_is_one_call_of_the_library(client: TestClient, library: FakeLibrary) -> None:
    page(client, "/search?q=noise&sort=newest&page=2&area=Theory")
    assert [call for call in library.calls if call != "status"] == ["search"]


def test_results_show_what_a_reader_decides_by(client: TestClient) -> None:
    parsed = page(client, "/search?q=protein+folding")
    assert parsed.all("mark")
    assert parsed.all("math") or parsed.all("article")
    hit = next(text for _, text in parsed.all("article") if "and 58 more" in text)
    assert hit.startswith("Protein Folding without Tears: A Use of Message Passing Emmy Noether, Kurt Gödel,")
    assert hit.endswith(
        "Annals of Made-Up Results 2026 Applications · Health and Medicine Code words .80, meaning .60 similar papers"
    )
    assert "/paper/3#similar" in parsed.links()
    assert parsed.text("title") == "protein folding – Broadsheet"
    assert parsed.all("input", name="q")[0][0]["value"] == "protein folding"
    assert not parsed.all("p", class_="note"), "what a search covers is said by its notes, and once"
    noted = page(client, "/search?q=au:lovelace").all("p", class_="note")
    assert [text for _, text in noted] == ["“au” was read as an author."]


def test_titles_have_mathematics_and_chinese_has_its_language(client: TestClient) -> None:
    assert page(client, "/search?q=rough+domains").all("math")
    parsed = page(client, "/search?q=" + quote("元学习"))
    assert parsed.all("h2", lang="zh")
    assert parsed.all("input", name="q", lang="zh")


def test_facets_can_be_chosen_and_taken_back(client: TestClient) -> None:
    parsed = page(client, "/search?q=noise")
    theory = next(link for link in parsed.links() if "area=Theory" in link)
    chosen = page(client, theory)
    total = re.search(r"\d+", chosen.text("p", class_="total"))
    assert total
    assert int(total[0]) < 56
    current = [text for attrs, text in chosen.all("a", aria_current="true") if "area" not in attrs["href"]]
    assert any(text.startswith("Theory") for text in current)
    subarea = next(link for link in chosen.links() if "subarea=" in link)
    assert parse_qs(urlsplit(subarea).query)["subarea"] == ["Theory · Bandits and Online Learning"]
    both = page(client, subarea)
    chips = [attrs["href"] for attrs, _ in both.all("a") if attrs.get("aria-label", "").startswith("Remove")]
    assert len(chips) == 2
    assert theory in chips
    assert "/search?q=noise" in both.links()


def test_a_chosen_value_that_nothing_has_can_still_be_taken_back(client: TestClient) -> None:
    parsed = page(client, "/search?q=noise&venue=No+Such+Venue")
    assert "No paper found" in parsed.text("main")
    assert "/search?q=noise" in parsed.links()


def test_sorting_keeps_the_question_and_the_facets(client: TestClient) -> None:
    parsed = page(client, "/search?q=noise&year=2026&page=2")
    hrefs = {text: attrs["href"] for attrs, text in parsed.all("a")}
    assert hrefs["Newest"] == "/search?q=noise&year=2026&sort=newest"
    newest = page(client, hrefs["Newest"])
    assert newest.all("input", name="sort", value="newest")


@pytest.mark.parametrize("number", ["0", "-1", "abc", "1e3"])
def test_a_wrong_page_number_is_refused_by_name(client: TestClient, number: str) -> None:
    assert "page: must be" in page(client, f"/search?q=noise&page={number}", 400).text("main")


@pytest.mark.parametrize("number", ["7", "1000000000", "9" * 400])
def test_a_page_beyond_the_last_leads_to_the_last(client: TestClient, number: str) -> None:
    response = client.get(f"/search?q=noise&page={number}")
    assert (response.status_code, response.headers["location"]) == (302, "/search?q=noise&page=6")


@pytest.mark.parametrize(("size", "pages"), [(10, 2), (20, 1), (1, 20)])
def test_as_many_results_as_fit_leave_no_empty_page(size: int, pages: int) -> None:
    library = FakeLibrary(page_size=size)
    library.papers = dict(list(library.papers.items())[10:30])
    for number, paper in library.papers.items():
        library.papers[number] = Paper(number, f"noise {paper.title}")
    with TestClient(create_app(library), base_url=BASE, follow_redirects=False) as client:
        assert page(client, f"/search?q=noise&page={pages}").all("article")
        assert client.get(f"/search?q=noise&page={pages + 1}").status_code == 302
        assert bool(page(client, "/search?q=noise").all("nav", class_="pager")) is (pages > 1)


def test_the_pager_leads_through_all_results_once(client: TestClient, library: FakeLibrary) -> None:
    url, seen = "/search?q=noise", []
    while url:
        parsed = page(client, url)
        seen += [link for link in parsed.links() if re.fullmatch(r"/paper/\d+", link)]
        url = next((attrs["href"] for attrs, _ in parsed.all("a", rel="next")), "")
    assert len(seen) == len(set(seen)) == library.search("noise").total > 50


@pytest.mark.parametrize(
    "path", ["/search", "/search?q=", "/search?q=%20%0A", "/search?q=-", "/search?q=%22%22", "/search?area="]
)
def test_an_empty_question_gets_a_hint_and_asks_nothing(client: TestClient, library: FakeLibrary, path: str) -> None:
    assert "What are you looking for?" in page(client, path).text("h1")
    assert "search" not in library.calls


def test_a_filter_alone_lists_its_papers(client: TestClient, library: FakeLibrary) -> None:
    parsed = page(client, "/search?area=Theory")
    assert "search" in library.calls
    assert parsed.all("ol", class_="hits")
    assert parsed.text("title").startswith("Papers")


def test_nothing_found_offers_a_way_on(client: TestClient) -> None:
    parsed = page(client, "/search?q=%22zzzzqq%22")
    assert "No paper found" in parsed.text("main")
    assert "must match exactly" in parsed.text("main")
    assert not parsed.all("nav", class_="pager")


def test_notes_of_the_search_are_shown(client: TestClient) -> None:
    assert "“au” was read as an author." in page(client, "/search?q=au:noether").text("main")


def test_two_thousand_words_are_a_question(client: TestClient) -> None:
    response = client.get("/search", params={"q": " ".join(["learning", "理论"] * 1000)})
    assert response.status_code == 200
    assert page(client, "/search?q=" + "x" * 32_001, 400)


def test_what_stages_took_is_told_to_developer_tools(client: TestClient) -> None:
    assert client.get("/search?q=noise").headers["server-timing"] == "text;dur=1.2, fuse;dur=0.5"
