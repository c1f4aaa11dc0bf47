"""The daily paper on the site: today's edition, the archive, weeks and months, what was saved, and opened papers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from broadsheet.errors import BusyError
from broadsheet.model import Area, Paper
from broadsheet.model.reading import Action, Entry, Profile, Reason, Section, SectionKind
from broadsheet.query import parse
from broadsheet.web import create_app, daily_views, params
from broadsheet.web.exports import FORMS
from tests.fake_daily import DAYS, SECRET, TODAY, WEEKEND
from tests.fake_library import FakeLibrary
from tests.pages import BASE, NOW, Page, page

HOSTILE = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>"


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


@pytest.fixture
def public(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(
        create_app(library, host="0.0.0.0", now=lambda: NOW),
        base_url="http://papers.example.org",
        follow_redirects=False,
    ) as found:
        yield found


def papers_of(parsed: Page) -> list[str]:
    return [link for attrs, _ in parsed.all("article") if (link := attrs.get("id", ""))]


# ------------------------------------------------------------------------------------------------------------ views


def _section(number: int, entries: int) -> Section:
    entry = Entry(Paper(1, "x"), 1.0, {}, ())
    return Section(SectionKind.AREA, f"area-{number}", f"Area {number}", (entry,) * entries)


def _height(column: list[Section]) -> float:
    return sum(daily_views.WEIGHT_OF_HEAD + len(section.entries) for section in column)


def _every_way(sections: list[Section], count: int) -> Iterator[list[list[Section]]]:
    """Every division into at most ``count`` columns that keeps the order."""
    if count == 1 or not sections:
        yield [sections] if sections else []
        return
    for cut in range(1, len(sections) + 1):
        for rest in _every_way(sections[cut:], count - 1):
            yield [sections[:cut], *rest]


@given(st.lists(st.integers(1, 9), max_size=7), st.integers(1, 3))
def test_columns_keep_the_order_and_the_longest_is_as_short_as_can_be(heights: list[int], count: int) -> None:
    sections = [_section(number, entries) for number, entries in enumerate(heights)]
    columns = daily_views.lanes(sections, count)
    assert [section for column in columns for section in column] == sections
    assert len(columns) <= count
    assert all(columns)
    best = min((max(map(_height, way)) for way in _every_way(sections, count) if way), default=0)
    assert max(map(_height, columns), default=0) == best


def test_a_section_that_is_alone_has_the_whole_width(library: FakeLibrary) -> None:
    sheet = daily_views.sheet(library.daily.edition(DAYS[1], "me"))
    assert (sheet.lanes, [section.title for section in sheet.rest]) == ((), ["Machine Learning"])
    several = daily_views.sheet(library.daily.edition(TODAY, "me"))
    assert [len(lane) for lane in several.lanes] == [1, 1, 2]
    assert [section.title for section in several.rest] == ["Elsewhere", "Discovery"]


def test_reasons_are_told_in_their_order_once_each_and_at_most_three() -> None:
    reasons = [Reason("search", "matches “bandits”", 0.1), Reason("author", "by Emmy Noether.", 0.9)]
    assert daily_views.reason_line(reasons) == "Matches “bandits”; by Emmy Noether"
    assert daily_views.reason_line(reasons * 3) == "Matches “bandits”; by Emmy Noether"
    assert daily_views.reason_line([Reason("words", f"r{n}") for n in range(9)]) == "R0; r1; r2"
    assert daily_views.reason_line([]) == ""
    assert daily_views.reason_line([Reason("words", " \n ")]) == ""


def test_what_a_paper_can_be_turned_away_for() -> None:
    paper = Paper(
        1,
        "Learning the $L^p$ Bounds of Diffusion Models",
        authors=tuple(f"A{n}" for n in range(1, 8)),
        areas=(Area("cs", "cs.LG"), Area("Theory", "Bandits")),
        venue="icml",
    )
    found = {group.title: [value for value, _ in group.choices] for group in daily_views.causes(paper)}
    assert found == {
        "Word": ["keyword:bounds", "keyword:diffusion"],
        "Author": ["author:A1", "author:A2", "author:A3", "author:A4", "author:A7"],
        "Area": ["area:cs.LG", "area:Theory · Bandits"],
        "Venue": ["venue:icml"],
    }
    given_words = daily_views.causes(replace(paper, keywords=("*Active* learning", "bandits"), authors=(), venue=""))
    assert [value for value, _ in given_words[0].choices] == ["keyword:Active learning", "keyword:bandits"]
    assert daily_views.causes(Paper(1, "On the Use of Some New Methods")) == []


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(-5, 5)), max_size=30))
def test_bars_are_shares_of_the_greatest(weights: list[tuple[str, float]]) -> None:
    found = daily_views.bars(weights, 20)
    assert len(found) == min(20, len(weights))
    assert all(0 <= bar.share <= 1 for bar in found)
    assert all(a.share >= b.share for a, b in pairwise(found))
    assert all(bar.against is (bar.weight < 0) for bar in found)


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [
        (date(2026, 11, 23), date(2026, 11, 29), "23 to 29 November 2026"),
        (date(2026, 11, 30), date(2026, 12, 6), "30 November to 6 December 2026"),
        (date(2026, 12, 28), date(2027, 1, 3), "28 December 2026 to 3 January 2027"),
    ],
)
def test_a_span_of_days(first: date, last: date, shown: str) -> None:
    assert daily_views.span(first, last) == shown


@pytest.mark.parametrize(
    ("weight", "shown"), [(0.42, "+.42"), (-0.07, "−.07"), (1, "+1.0"), (-3.25, "−3.2"), (0, "+.00")]
)
def test_a_weight_has_its_sign(weight: float, shown: str) -> None:
    assert daily_views.signed(weight) == shown


@given(st.text(max_size=20), st.text(max_size=20))
def test_different_sections_have_different_anchors(a: str, b: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]*", daily_views.anchor(a))
    if "_" not in a + b:
        assert (daily_views.anchor(a) == daily_views.anchor(b)) is (a == b)


# ------------------------------------------------------------------------------------------------------- front page


def test_the_front_page_is_todays_edition_with_reasons(client: TestClient) -> None:
    parsed = page(client, "/")
    assert parsed.text("p", class_="dateline").endswith("Printed for you")
    heads = [text for _, text in parsed.all("h2")]
    assert heads[:7] == [
        *("Front page", "Machine Learning", "Statistics <b>", "Learning Theory", "Your search “bandits”"),
        *("Elsewhere", "Discovery"),
    ]
    first = parsed.text("article", id="p-1")
    assert "By Emmy Noether, whom you follow; like 3 papers you saved on sparse recovery" in first
    assert parsed.text("div", class_="lead").startswith("Deep Learning · Generative Models Sharp")
    assert len(papers_of(parsed)) == len(set(papers_of(parsed))) == 30
    assert "Chosen from 230 papers announced after 11 June 2026 and up to 12 June 2026." in parsed.text("main")
    assert parsed.all("a", rel="prev", href="/edition/2026-06-11")
    assert not parsed.all("p", class_="note today-note")


def test_discoveries_are_marked(client: TestClient) -> None:
    section = page(client, "/").text("section", aria_labelledby="s-discovery")
    assert section.count("Discovery") == 3, "the heading, and each of the two papers"
    assert "what is marked lies outside what you usually read. Up to 10 % of such places may miss" in section


@pytest.mark.parametrize(
    ("basis", "said"),
    [
        ("memory", "Drawn by lot, and this time all from near what you read. Up to 10 %"),
        ("nothing", "A few more, drawn by lot, until something is known of you; change that"),
    ],
)
def test_what_is_no_discovery_is_not_called_one(
    basis: str, said: str, client: TestClient, library: FakeLibrary
) -> None:
    old = library.daily._editions["me", TODAY]
    sections = tuple(
        replace(one, entries=tuple(replace(entry, explored=False) for entry in one.entries)) for one in old.sections
    )
    library.daily._editions["me", TODAY] = replace(old, sections=sections, basis=basis)
    assert said in page(client, "/").text("section", aria_labelledby="s-discovery").replace("\u202f", " ")


def test_a_day_without_news_says_why_and_which_edition_is_shown(client: TestClient, library: FakeLibrary) -> None:
    library.daily.is_new, library.daily.note = False, WEEKEND
    parsed = page(client, "/")
    assert parsed.text("p", class_="note today-note") == WEEKEND
    assert "Monday, 30 November 2026" in parsed.text("p", class_="dateline")
    assert "Below is the edition of Friday, 12 June 2026." in parsed.text("main")


def test_an_edition_that_goes_by_nothing_says_where_to_begin(client: TestClient, library: FakeLibrary) -> None:
    key = ("me", TODAY)
    library.daily._editions[key] = replace(library.daily._editions[key], basis="nothing")
    assert "/interests#start" in page(client, "/").links()
    assert "/interests#start" not in page(client, f"/edition/{TODAY}").links(), "not for ever in the archive"


def test_where_nothing_can_be_printed_the_newest_papers_are_shown_and_why(library: FakeLibrary) -> None:
    library.daily._editions.clear()
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE) as client:
        parsed = page(client, "/")
    assert "no dated papers" in parsed.text("p", class_="note today-note")
    assert parsed.all("h2", class_="dayhead")[0][1] == "Friday, 12 June 2026"


def test_while_another_process_writes_the_last_edition_is_shown(
    client: TestClient, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise BusyError("locked")

    monkeypatch.setattr(library.daily, "today", busy)
    parsed = page(client, "/")
    assert "is being written to" in parsed.text("p", class_="note today-note")
    assert "Below is the edition of Friday, 12 June 2026." in parsed.text("main")
    library.daily._editions.clear()
    assert "is being written to" in page(client, "/").text("p", class_="note today-note")
    assert page(client, "/").all("h2", class_="dayhead")[0][1] == "Friday, 12 June 2026"


def test_nobody_gets_the_newest_papers_without_marks(public: TestClient) -> None:
    parsed = page(public, "/")
    assert "the same for everybody" in parsed.text("p", class_="note today-note")
    for url in ("/", "/newest", "/day/2026-06-12", "/paper/1", "/search?q=noise"):
        source = public.get(url).text
        assert 'action="/act"' not in source
        assert "/interests" not in source
        assert 'href="/saved"' not in source


def test_the_old_address_of_earlier_papers_still_leads_there(client: TestClient) -> None:
    response = client.get("/?before=2026-06-11.14")
    assert (response.status_code, response.headers["location"]) == (301, "/newest?before=2026-06-11.14")


def test_pages_of_a_reader_are_not_shared_by_caches(client: TestClient, public: TestClient) -> None:
    for url in ("/", "/saved", "/search?q=noise"):
        headers = client.get(url).headers
        assert headers["cache-control"] == "private, no-cache"
        assert "cookie" in headers["vary"]
    assert public.get("/").headers["cache-control"] == "no-cache"


# ----------------------------------------------------------------------------------------------------------- archive


def test_an_edition_of_another_day_and_its_neighbours(client: TestClient) -> None:
    parsed = page(client, "/edition/2026-06-11")
    assert "Thursday, 11 June 2026" in parsed.text("p", class_="dateline")
    assert parsed.text("p", class_="note") == "One source had not answered when this was printed."
    assert parsed.all("a", rel="prev", href="/edition/2026-06-08"), "empty days are skipped"
    assert parsed.all("a", rel="next", href="/edition/2026-06-12")
    assert parsed.all("input", name="edition", value="2026-06-11")
    newest = page(client, f"/edition/{TODAY}")
    assert newest.all("a", rel="next", href="/")
    assert not page(client, f"/edition/{DAYS[-1]}").all("a", rel="prev")


@pytest.mark.parametrize(
    ("day", "previous", "following", "why"),
    [
        ("2026-06-02", "2026-05-29", "2026-06-08", "No edition was printed on this day. The nearest are of 29 May"),
        ("2026-06-06", "2026-05-29", "2026-06-08", "Saturday: arXiv announces nothing. The nearest are of 29 May"),
        ("2031-01-01", "2026-06-12", None, "This day is still to come. The nearest is of 12 June 2026."),
        ("0001-01-01", None, "2026-05-29", "No edition was printed on this day. The nearest is of 29 May 2026."),
        ("9999-12-31", "2026-06-12", None, "This day is still to come. The nearest is of 12 June 2026."),
    ],
)
def test_a_day_without_an_edition_leads_to_the_nearest(
    client: TestClient, day: str, previous: str | None, following: str | None, why: str
) -> None:
    parsed = page(client, f"/edition/{day}", 404)
    assert why in parsed.text("main")
    assert [a["href"] for a, _ in parsed.all("a", rel="prev")] == ([f"/edition/{previous}"] if previous else [])
    assert [a["href"] for a, _ in parsed.all("a", rel="next")] == ([f"/edition/{following}"] if following else [])


@pytest.mark.parametrize("path", ["/edition/today", "/edition/2026-6-1", "/week/x", "/month/2026-13-01"])
def test_a_day_that_is_none_is_refused(client: TestClient, path: str) -> None:
    assert "2025-06-30" in page(client, path, 400).text("main")


def test_all_editions_by_month(client: TestClient) -> None:
    parsed = page(client, "/editions")
    assert [text for _, text in parsed.all("h2")][:2] == ["June 2026 3 editions", "May 2026 1 edition"]
    assert [link for link in parsed.links() if link.startswith("/edition/")] == [f"/edition/{day}" for day in DAYS]


def test_the_best_of_a_week_and_of_a_month(client: TestClient) -> None:
    assert client.get("/week").headers["location"] == "/week/2026-06-08"
    assert client.get("/month").headers["location"] == "/month/2026-06-01"
    week = page(client, "/week/2026-06-10")
    assert week.text("h1") == "8 to 14 June 2026"
    assert week.text("p", class_="muted") == "The best of 3 editions: Mon 8, Thu 11, Fri 12"
    assert week.all("a", rel="prev", href="/week/2026-05-29")
    assert len(papers_of(week)) == len(set(papers_of(week))) == 20
    month = page(client, "/month/2026-05-05")
    assert month.text("h1") == "May 2026"
    assert month.all("a", rel="next")[0][0]["href"].startswith("/month/2026-06-")
    none = page(client, "/week/2020-01-01", 404).text("main")
    assert "No edition was printed in this week. The nearest is of 29 May 2026." in none


@pytest.mark.parametrize("path", ["/edition/2026-06-12", "/editions", "/week", "/week/2026-06-12", "/month", "/saved"])
def test_pages_of_a_reader_are_refused_to_nobody(public: TestClient, path: str) -> None:
    assert "does not know who is reading" in page(public, path, 403).text("main")


# ------------------------------------------------------------------------------------------------------------- saved


def test_what_was_saved_newest_first_and_as_files(client: TestClient, library: FakeLibrary) -> None:
    assert "Nothing yet" in page(client, "/saved").text("main")
    assert client.get("/saved.bib").status_code == 404
    for number in (3, 1, 2):
        library.daily.act(Action.SAVE, number, "me")
    library.daily.act(Action.LIKE, 9, "me")
    parsed = page(client, "/saved")
    assert papers_of(parsed) == ["p-2", "p-1", "p-3"]
    for form in FORMS:
        assert f"/saved.{form.ending}" in parsed.links()
        response = client.get(f"/saved.{form.ending}")
        assert response.text == "".join(library.export(form.name, ids=(2, 1, 3)))
        assert response.headers["content-disposition"].endswith(f'"broadsheet-saved.{form.ending}"')
        assert response.headers["cache-control"] == "private, no-cache"


def test_a_long_list_of_saved_papers_goes_on(
    client: TestClient, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broadsheet.web.edition_pages.SAVED_ON_PAGE", 4)
    for number in range(1, 11):
        library.daily.act(Action.SAVE, number, "me")
    url, seen = "/saved", []
    while url:
        parsed = page(client, url)
        seen += papers_of(parsed)
        url = next((a["href"] for a, _ in parsed.all("a", rel="next")), "")
    assert seen == [f"p-{number}" for number in range(10, 0, -1)]


# ------------------------------------------------------------------------------------------------------------ opened


def opened(library: FakeLibrary) -> list[int]:
    return [event.paper for event in library.daily.events_ if event.action is Action.OPEN]


def test_opening_a_paper_is_noted_for_the_reader(client: TestClient, library: FakeLibrary) -> None:
    for _ in range(2):
        client.get("/paper/1")
    client.get("/paper/arXiv:2605.01001")
    assert opened(library) == [1], "once a day, and not where an identifier only leads on"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-purpose": "prefetch"},
        {"sec-purpose": "prefetch;prerender"},
        {"purpose": "prefetch"},
        {"x-moz": "prefetch"},
        {"sec-fetch-dest": "image"},
        {"sec-fetch-dest": "iframe"},
        {"sec-fetch-dest": "empty"},
    ],
)
def test_what_a_browser_fetches_unasked_is_not_opened(
    client: TestClient, library: FakeLibrary, headers: dict[str, str]
) -> None:
    assert client.get("/paper/1", headers=headers).status_code == 200
    client.head("/paper/1")
    assert opened(library) == []


def test_nobody_opens_nothing(public: TestClient, library: FakeLibrary) -> None:
    assert public.get("/paper/1").status_code == 200
    assert library.daily.events_ == []


def test_a_paper_is_shown_while_another_process_writes(
    client: TestClient, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise BusyError("locked")

    monkeypatch.setattr(library.daily, "act", busy)
    assert client.get("/paper/1").status_code == 200
    assert "could not be noted: locked" in caplog.text


# -------------------------------------------------------------------------------------------------------- the search


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("q=noise", "noise"),
        ("q=noise&area=Theory&code=yes", 'noise area:"Theory" has:code'),
        ("q=&venue=ICML&venue=ICLR", '(venue:"ICML" OR venue:"ICLR")'),
        ("q=a+b&year=2025&year=2026&code=no", "a b (year:2025 OR year:2026) -has:code"),
        ("q=a&subarea=Theory+·+Bandits", 'a cat:"Bandits"'),
        ("q=", ""),
        ("q=!!", ""),
    ],
)
def test_a_search_with_facets_as_one_question(query: str, text: str) -> None:
    found = params.parse_search(QueryParams(query)).as_query()
    assert found == text
    assert parse(found).empty is (not text)
    assert not parse(found).notes


def test_a_search_can_be_saved_from_its_page(client: TestClient) -> None:
    parsed = page(client, "/search?q=noise&area=Theory")
    assert parsed.all("input", name="query", value='noise area:"Theory"')
    assert page(client, "/search?q=zzzzqq").all("input", name="query", value="zzzzqq"), (
        "also where it finds nothing yet"
    )


# ---------------------------------------------------------------------------------------------------- hostile texts


def test_c10_hostile_texts_are_inert_in_editions_and_interests(client: TestClient, library: FakeLibrary) -> None:
    first = replace(
        library.papers[1],
        title=HOSTILE,
        abstract=HOSTILE,
        authors=(HOSTILE,),
        keywords=(HOSTILE,),
        areas=(Area(HOSTILE, HOSTILE),),
        venue=HOSTILE,
    )
    library.papers[1] = first
    daily = library.daily
    for key, edition in daily._editions.items():
        entry = replace(edition.sections[0].entries[0], paper=first, reasons=(Reason("words", HOSTILE, 1.0),))
        section = replace(edition.sections[0], title=HOSTILE, entries=(entry, *edition.sections[0].entries[1:]))
        other = replace(edition.sections[-1], key=HOSTILE, title=HOSTILE)
        daily._editions[key] = replace(edition, notes=(HOSTILE,), sections=(section, *edition.sections[1:-1], other))
    daily.note = HOSTILE
    daily.act(Action.SAVE, 1, "me")
    daily.act(Action.DISMISS, 2, "me")
    daily.readers_["me"] = replace(
        daily.readers_["me"],
        profile=replace(daily.readers_["me"].profile, emphasis=((HOSTILE, 1.0),)),
    )
    daily.save_search(HOSTILE, HOSTILE, "me")
    paths = ("/", f"/edition/{TODAY}", "/week/2026-06-12", "/saved", "/interests", "/paper/1", f"/search?q={HOSTILE}")
    for path in paths:
        source = client.get(path).text
        assert not re.search(r"<(?:img|script)(?! src=./static/)", source), path
        parsed = Page(source)
        assert not [name for _, attrs, _ in parsed.elements for name in attrs if name.startswith("on")], path
        assert not [a for _, a, _ in parsed.elements if a.get("href", "").startswith(("javascript:", "data:"))], path
    assert HOSTILE in next(a["value"] for a, _ in page(client, "/").all("button", name="because"))


def test_the_secret_is_only_on_the_page_that_shows_it(client: TestClient, library: FakeLibrary) -> None:
    shown = client.get("/interests")
    assert f"{BASE}/r/{SECRET}" in shown.text
    assert shown.headers["cache-control"] == "no-store"
    for path in ("/", "/saved", "/editions", f"/edition/{TODAY}", "/paper/1", "/search?q=noise", "/newest", "/status"):
        assert SECRET not in client.get(path).text, path
    library.daily.readers_["me"] = replace(library.daily.readers_["me"], profile=Profile())
    assert client.get("/interests").status_code == 200


def test_days_are_those_where_the_server_stands(library: FakeLibrary) -> None:
    """What was saved at 6:30 in London was saved on the evening before in Honolulu."""
    library.daily.act(Action.SAVE, 1)
    honolulu = timezone(-timedelta(hours=10))
    with TestClient(create_app(library, now=lambda: NOW.astimezone(honolulu)), base_url=BASE) as client:
        assert page(client, "/saved").text("time") == "11 June 2026"
        assert "saved 11 June 2026" in page(client, "/interests").text("main")
