"""What pages tell of a paper beside its text: notices, places, versions, figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from broadsheet.model import Identifier, Notice, NoticeKind, Paper, Place, Scheme, Version
from broadsheet.web import create_app, facts, views
from tests.fake_library import SHOWN_REASON, FakeLibrary
from tests.pages import BASE, NOW, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


LISTS = ("/newest", "/search?q=steps&page_size=100", "/day/2026-06-12", "/paper/23")


@pytest.mark.parametrize("url", LISTS)
def test_a_list_names_what_became_of_a_paper_and_why(client: TestClient, library: FakeLibrary, url: str) -> None:
    library.papers[12] = replace(library.papers[12], areas=library.papers[23].areas)
    parsed = page(client, url)
    badges = [(attrs["class"], attrs.get("title"), text) for attrs, text in parsed.all("li") if "title" in attrs]
    assert ("badge withdrawn", "An error in Lemma 3 breaks the bound for p > 2.", "Withdrawn") in badges
    assert ("badge retracted", SHOWN_REASON, "Retracted") in badges
    assert parsed.all("li", class_="badge concern") == [({"class": "badge concern"}, "Expression of concern")]
    for item in ("Retracted Expression of concern", "Withdrawn"):
        assert any(item in text for _, text in parsed.all("ul", class_="badges", aria_label="Notices"))


def test_a_list_without_notices_has_no_badges(client: TestClient, library: FakeLibrary) -> None:
    library.papers = {number: replace(paper, notices=()) for number, paper in library.papers.items()}
    for url in LISTS:
        assert not page(client, url).all("ul", class_="badges")


def test_a_papers_page_tells_the_reason_and_the_day_the_gravest_first(client: TestClient) -> None:
    boxes = page(client, "/paper/11").all("div", role="note")
    assert [attrs["class"] for attrs, _ in boxes] == ["fate retracted", "fate concern"]
    assert boxes[0][1] == f"Retracted 10 June 2026 {SHOWN_REASON}"
    assert boxes[1][1] == "Expression of concern 1 May 2026 No reason is given."
    withdrawn = page(client, "/paper/12")
    assert withdrawn.text("div", role="note").startswith("Withdrawn An error in Lemma 3")
    assert len(withdrawn.all("math")) > len(page(client, "/paper/24").all("math")), "the reason has a formula"
    assert not page(client, "/paper/1").all("div", role="note")


def test_a_reason_of_any_length_stays_in_bounds(client: TestClient, library: FakeLibrary) -> None:
    notice = Notice(NoticeKind.RETRACTED, "word " * 20_000)
    library.papers[1] = replace(library.papers[1], notices=(notice,))
    shown = facts.notices(library.papers[1])[0]
    assert (len(shown.title), len(shown.reason)) < (310, 2_100)
    assert len(client.get("/newest").text) < 150_000
    assert len(client.get("/paper/1").text) < 150_000


def test_a_withdrawn_paper_never_leads_the_front_page() -> None:
    def section(*withdrawn: int) -> views.Section:
        sad = (Notice(NoticeKind.WITHDRAWN),)
        return views.Section(None, tuple(Paper(n, "x", notices=sad if n in withdrawn else ()) for n in range(1, 6)))

    def numbers(papers: tuple[Paper, ...]) -> list[int]:
        return [paper.id for paper in papers]

    assert (numbers(section().leading), numbers(section().others)) == ([1, 2, 3], [4, 5])
    assert (numbers(section(1, 3).leading), numbers(section(1, 3).others)) == ([2, 4, 5], [1, 3])
    assert (numbers(section(1, 2, 3).leading), numbers(section(1, 2, 3).others)) == ([], [1, 2, 3, 4, 5])


def test_the_newest_papers_lead_with_a_sound_paper_and_still_shows_the_other(
    client: TestClient, library: FakeLibrary
) -> None:
    sad = replace(library.papers[13], notices=(Notice(NoticeKind.RETRACTED),))
    library.papers[13] = sad
    parsed = page(client, "/newest")
    assert "Retracted" not in parsed.text("div", class_="lead")
    assert parsed.links().count("/paper/13") == 1


# ------------------------------------------------------------------------------------------------------------ places


def test_where_it_appeared(client: TestClient) -> None:
    parsed = page(client, "/paper/13")
    assert parsed.text("ul", class_="places") == (
        "ICML 2025 Oral, icml.example.org arXiv listed 3 March 2025, arxiv.org "
        "Hugging Face Daily Papers listed 4 March 2025 Letters & <script>Notes 2025 Poster"
    )
    links = parsed.links()
    assert views.asking("venue", "icml") in links
    assert "https://icml.example.org/virtual/2025/oral/13" in links
    assert "https://arxiv.org/abs/2503.00013" in links


def test_the_day_of_listing_is_told_once(client: TestClient, library: FakeLibrary) -> None:
    assert "Listed 12 June 2026" in page(client, "/paper/13").text("aside")
    library.papers[13] = replace(library.papers[13], listed=date(2025, 3, 3))
    parsed = page(client, "/paper/13")
    assert parsed.text("aside").count("3 March 2025") == 1
    assert "/day/2025-03-03" in parsed.links()


def test_only_the_venue_that_a_paper_is_filed_under_can_be_searched_for() -> None:
    places = (Place("dblp", "NIPS", 2017), Place("arxiv", "arxiv"), Place("x", "Other"))
    shown = facts.places(Paper(1, "x", venue="neurips", places=places))
    assert [place.name for place in shown] == ["NeurIPS", "arXiv", "Other"]
    assert [bool(place.search) for place in shown] == [True, False, False]


ADDRESSES = (
    *("javascript:alert(1)", "JAVASCRIPT:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)", "vbscript:x"),
    *("data:text/html,<script>", "//evil.example", "/paper/1", "http://[", "https://", "file:///etc"),
)


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_address_that_is_none_of_the_web_is_no_link(client: TestClient, library: FakeLibrary, url: str) -> None:
    assert views.host_of(url) == ""
    page(client, "/paper/1")  # once it was opened something is remembered, by which similar papers can be ordered
    before = page(client, "/paper/1").links()
    library.papers[1] = replace(library.papers[1], places=(Place("x", "Venue", 2026, url=url),))
    assert set(page(client, "/paper/1").links()) <= set(before)


@pytest.mark.parametrize(
    ("url", "host"), [("https://www.icml.cc/a", "icml.cc"), ("http://x.org", "x.org"), ("HTTPS://X.org/", "x.org")]
)
def test_the_host_of_an_address(url: str, host: str) -> None:
    assert views.host_of(url) == host


HOSTILE = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>"


def test_hostile_texts_are_inert_wherever_they_stand(client: TestClient, library: FakeLibrary) -> None:
    library.papers[1] = replace(
        library.papers[1],
        venue=HOSTILE,
        status=HOSTILE,
        kind=HOSTILE,
        notices=tuple(Notice(kind, HOSTILE) for kind in NoticeKind),
        places=(Place(HOSTILE, HOSTILE, 2026, HOSTILE, None, f"https://x.org/{HOSTILE}"),),
        details=tuple((name, HOSTILE) for name in ("journal", "volume", "number", "pages", "publisher")),
        counts=((HOSTILE, 3),),
        other_titles=(HOSTILE,),
    )
    for url in ("/newest", "/paper/1", "/search?q=rough", "/day/2026-06-12"):
        source = client.get(url).text
        assert not re.search(r"<(?:img|script)(?! src=./static/)", source), url
        parsed = page(client, url)
        assert not [name for _, attrs, _ in parsed.elements for name in attrs if name.startswith("on")], url
        titles = [attrs["title"] for tag, attrs, _ in parsed.elements if tag == "li" and "title" in attrs]
        assert titles.count(facts.said(HOSTILE)) >= 3 or url == "/paper/1"


# ---------------------------------------------------------------------------------------------------------- versions


def test_versions_with_their_days_lead_to_the_archive(client: TestClient) -> None:
    parsed = page(client, "/paper/13")
    assert parsed.text("ol", class_="versions") == "v1 2025-03-01 v2 v3 2025-09-30 newest"
    assert {f"https://arxiv.org/abs/2503.00013v{n}" for n in (1, 2, 3)} <= set(parsed.links())
    assert "Published 1 March 2025" in parsed.text("aside")
    assert not page(client, "/paper/1").all("ol", class_="versions")


def _versions(numbers: Any, *identifiers: str) -> list[facts.ShownVersion | None]:
    known = tuple(Identifier(Scheme.ARXIV, value) for value in identifiers)
    return facts.versions(Paper(1, "x", identifiers=known, versions=tuple(Version(n) for n in numbers)))


def test_versions_of_two_preprints_are_linked_to_neither() -> None:
    urls = [version.url for version in _versions((1, 2), "2503.00013", "2503.00014") if version]
    assert urls == ["", ""]
    assert [version.url for version in _versions((1,)) if version] == [""]


@given(st.sets(st.integers(1, 400), max_size=60))
def test_of_many_versions_the_first_and_the_last_are_shown(numbers: set[int]) -> None:
    shown = _versions(numbers)
    told = [version.number for version in shown if version]
    assert told == sorted(told)
    assert set(told) <= numbers
    assert len(shown) <= facts.MOST_VERSIONS
    assert (None in shown) is (len(numbers) > facts.MOST_VERSIONS)
    newest = [version.number for version in shown if version and version.newest]
    assert newest == ([max(numbers)] if numbers and max(numbers) > 1 else [])
    if numbers:
        assert (told[0], told[-1]) == (min(numbers), max(numbers))


@pytest.mark.parametrize(
    ("published", "versions", "day"),
    [
        (date(2025, 1, 2), (Version(1, date(2025, 1, 3)),), date(2025, 1, 2)),
        (None, (Version(2, date(2025, 2, 1)), Version(1, date(2025, 1, 3))), date(2025, 1, 3)),
        (None, (Version(2, date(2025, 2, 1)),), None),
        (None, (Version(1),), None),
        (None, (), None),
    ],
)
def test_published_is_the_day_of_the_first_version(published: Any, versions: Any, day: Any) -> None:
    assert facts.first_day(Paper(1, "x", published=published, versions=versions)) == day


def test_the_day_of_the_first_version_is_shown_where_no_record_tells_one(
    client: TestClient, library: FakeLibrary
) -> None:
    library.papers[1] = replace(library.papers[1], published=None, versions=(Version(1, date(2020, 2, 3)),))
    assert "Published 3 February 2020" in page(client, "/paper/1").text("aside")


# --------------------------------------------------------------------------------------------- figures, bibliography


def test_figures_say_what_they_count(client: TestClient) -> None:
    assert "Figures 1,033 citations 19 upvotes on Hugging Face 1 comment" in page(client, "/paper/13").text("aside")
    assert "Figures" not in page(client, "/paper/1").text("aside")


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        ((), []),
        ((("citations", 0), ("upvotes", 0)), []),
        ((("citations", 1), ("upvotes", 1)), ["1 citation", "1 upvote on Hugging Face"]),
        ((("comments", 2), ("reads", 7)), ["2 comments", "7 reads"]),
    ],
)
def test_figures(counts: Any, shown: list[str]) -> None:
    assert facts.figures(Paper(1, "x", counts=counts)) == shown


def test_the_bibliographic_line(client: TestClient) -> None:
    parsed = page(client, "/paper/13")
    line = "Annals of Made-Up Results <script>, volume 12, number 3, pages 45–67, North & South Press"
    assert f"In print {line}" in parsed.text("aside")
    assert "In print" not in page(client, "/paper/1").text("aside")


@pytest.mark.parametrize(
    ("details", "line"),
    [
        ({}, ""),
        ({"journal": "Letters"}, ""),
        ({"note": "12 pages", "publisher": " "}, ""),
        ({"pages": "17"}, "page 17"),
        ({"pages": "1-20"}, "pages 1–20"),
        ({"pages": "1--20"}, "pages 1–20"),
        ({"pages": "3, 5"}, "pages 3, 5"),
        ({"publisher": "North Press", "volume": "4"}, "volume 4, North Press"),
        ({"booktitle": r"Proceedings of \'Ecole", "pages": "e12"}, "Proceedings of École, page e12"),
        ({"volume": "9" * 1000}, "volume " + "9" * facts.LONGEST_DETAIL),
    ],
)
def test_a_bibliographic_line_has_what_is_known(details: dict[str, str], line: str) -> None:
    assert facts.bibliography(Paper(1, "x", details=tuple(details.items()))) == line


def test_earlier_titles(client: TestClient) -> None:
    parsed = page(client, "/paper/13")
    assert "Also known as A First Name of It, with" in parsed.text("aside")
