"""The pages of the site, over a library in memory."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from broadsheet.errors import BusyError, EncoderUnavailableError, IndexDamagedError, NotFoundError, StoreError
from broadsheet.model import Area, Identifier, Link, LinkKind, Paper, Record, Scheme, StoredRecord
from broadsheet.web import create_app, params, views
from broadsheet.web.assets import Assets
from broadsheet.web.params import ParameterError, SearchRequest
from broadsheet.web.security import allowed_names, host_name
from tests.fake_library import NEWEST, SICI, FakeLibrary
from tests.pages import BASE, NOW, Page, page


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def client(library: FakeLibrary) -> Iterator[TestClient]:
    with TestClient(create_app(library, now=lambda: NOW), base_url=BASE, follow_redirects=False) as found:
        yield found


# ------------------------------------------------------------------------------------------------------- parameters

facet_values = st.text("abc ·\"'&?#%+中é", min_size=1, max_size=8).map(params.clean).filter(bool)
requests = st.builds(
    SearchRequest,
    text=st.text(max_size=30).map(params.clean).filter(lambda t: t.isprintable()),
    page=st.integers(1, params.MAX_PAGE),
    sort=st.sampled_from(params.SORTS),
    facets=st.dictionaries(
        st.sampled_from(("venue", "area", "subarea")),
        st.lists(facet_values, min_size=1, max_size=3, unique=True).map(tuple),
    ),
    page_size=st.none() | st.integers(1, 200),
)


@given(requests)
def test_the_address_of_a_request_reads_back_as_the_request(request: SearchRequest) -> None:
    assert params.parse_search(QueryParams(urlsplit(request.url()).query)) == request


@given(requests, st.sampled_from(("venue", "area")), facet_values)
def test_choosing_and_taking_back_a_facet_changes_only_the_page(request: SearchRequest, name: str, value: str) -> None:
    once = request.toggled(name, value)
    assert once.chosen(name, value) != request.chosen(name, value)
    assert once.page == 1
    twice = once.toggled(name, value)
    assert {k: set(v) for k, v in twice.facets.items()} == {k: set(v) for k, v in request.facets.items()}


def test_one_address_for_one_request() -> None:
    a = params.parse_search(QueryParams("page=1&sort=relevance&year=2024&q=x&utm_source=y"))
    b = params.parse_search(QueryParams("year=2024&q=%20x%20"))
    assert a.url() == b.url() == "/search?q=x&year=2024"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=abc", "page"),
        ("page=1.5", "page"),
        ("page=٣", "page"),
        ("sort=best", "sort"),
        ("year=20x4", "year"),
        ("code=maybe", "code"),
        ("page_size=0", "page_size"),
        ("page_size=201", "page_size"),
        ("venue=" + "x" * 501, "venue"),
        ("&".join(f"area={n}" for n in range(51)), "area"),
        ("q=" + "x" * 32_001, "q"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(query: str, name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name}: ") as caught:
        params.parse_search(QueryParams(query))
    assert caught.value.name == name


@pytest.mark.parametrize("text", ["1000000000", "9" * 5000, "10001"])
def test_a_page_far_beyond_is_cut(text: str) -> None:
    assert params.parse_search(QueryParams([("q", "x"), ("page", text)])).page == params.MAX_PAGE


def test_pasted_text_is_freed_of_what_cannot_be_seen() -> None:
    assert params.clean("\u200b2402.13284\n") == "2402.13284"
    assert params.clean("a\x00b\r\nc") == "a b c"


@given(st.none() | st.dates(), st.integers(0, 2**63 - 1))
def test_a_place_in_the_list_of_newest_reads_back(day: date | None, paper_id: int) -> None:
    text = params.before_of(day, paper_id)
    assert params.parse_before(QueryParams({"before": text})) == (day, paper_id)


@pytest.mark.parametrize("text", ["2025-06-30", "2025-02-30.1", "x.1", "2025-06-30.x", "20250630.1", "2025-W01-1.4"])
def test_a_wrong_place_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^before: "):
        params.parse_before(QueryParams({"before": text}))


def test_a_number_that_no_database_holds_is_not_found() -> None:
    assert params.paper_reference("42") == 42
    assert params.paper_reference("9" * 18) == int("9" * 18)
    with pytest.raises(NotFoundError):
        params.paper_reference("9" * 19)


# ------------------------------------------------------------------------------------------------------------ views

MARKUP = st.lists(st.sampled_from(["word ", "$x^2$ ", "中文", "longer-word ", "$a + b = c$", ". ", "x"]), max_size=60)


@given(MARKUP, st.integers(20, 120))
def test_an_excerpt_is_short_and_never_ends_inside_a_formula(parts: list[str], limit: int) -> None:
    markup = "".join(parts)
    cut = views.excerpt(markup, limit)
    assert len(cut) <= limit + 2
    assert cut.count("$") % 2 == 0
    assert cut == markup or cut.endswith("…")


def test_an_excerpt_of_one_endless_formula_shows_no_half_of_it() -> None:
    assert "$" not in views.excerpt("$" + "x+" * 300 + "$", 50)


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_pager_shows_first_last_and_neighbours_without_a_lonely_gap(a: int, b: int) -> None:
    current, last = min(a, b), max(a, b)
    line = views.page_numbers(current, last)
    shown = [n for n in line if n is not None]
    assert shown == sorted(set(shown))
    assert {1, last, current} <= set(shown)
    assert len(line) <= 9
    for at, n in enumerate(line):
        if n is None:
            before, after = line[at - 1], line[at + 1]
            assert before is not None
            assert after is not None
            assert after - before > 2


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0"), (0.61, "61"), (0.29, "29"), (0.9999, "99"), (1, "100"), (1.2, "100"), (-1, "0"), (0.57, "57")],
)
def test_a_share_is_rounded_down(share: float, shown: str) -> None:
    assert views.percent(share) == f"{shown}\u202f%"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`a <b>` & c", "<code>a &lt;b&gt;</code> &amp; c"),
        ("<i>", "&lt;i&gt;"),
        ("one ` alone", "one ` alone"),
        ("`a``b`", "<code>a</code><code>b</code>"),
    ],
)
def test_what_stands_between_backticks_is_code(message: str, shown: str) -> None:
    assert views.with_code(message) == shown


@pytest.mark.parametrize(("value", "shown"), [(0, ".00"), (0.8, ".80"), (0.994, ".99"), (0.997, "1"), (1, "1")])
def test_a_score_is_short(value: float, shown: str) -> None:
    assert views.score(value) == shown


def test_dates_are_written_out_in_any_locale() -> None:
    assert views.written_long(date(2026, 11, 30)) == "Monday, 30 November 2026"
    assert views.written(date(2024, 2, 1)) == "1 February 2024"


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("任务数量很少时的元学习", "zh"),
        ("用 BERT 做元学习的方法", "zh"),
        ("少なくとも一つの方法", "ja"),
        ("신경망", "ko"),
        ("The 道 of Deep Networks and Their Training", ""),
        ("Über Gödel", ""),
        ("", ""),
        ("$x^2$", ""),
    ],
)
def test_language_of_a_text(text: str, lang: str) -> None:
    assert views.language(text) == lang


def test_names_are_cut_but_never_for_one_alone() -> None:
    def line(count: int) -> tuple[int, int]:
        found = views.names(Paper(1, "x", authors=tuple(map(str, range(count)))), 6)
        return len(found.shown), found.more

    assert [line(n) for n in (0, 1, 6, 7, 8, 18)] == [(0, 0), (1, 0), (6, 0), (7, 0), (6, 2), (6, 12)]


def _stored(title: str, derived: bool) -> StoredRecord:
    return StoredRecord(1, 1, Record("s", "k", "{}", title=title, title_derived=derived), NOW)


@pytest.mark.parametrize(
    ("records", "derived"),
    [
        ([("A", True)], True),
        ([("A", True), ("", False)], True),
        ([("A", True), ("B", False)], False),
        ([("B", False)], False),
        ([], False),
    ],
)
def test_a_title_is_derived_if_no_record_has_a_real_one(records: list[tuple[str, bool]], derived: bool) -> None:
    assert views.title_derived([_stored(*record) for record in records]) is derived


def test_addresses_that_ask_for_a_field() -> None:
    def asked(*args: str) -> str:
        return parse_qs(urlsplit(views.asking(*args)).query)["q"][0]

    assert asked("au", "Kurt Gödel") == 'au:"Kurt Gödel"'
    assert asked("au", 'A "quoted" name') == 'au:"A  quoted  name"'
    assert asked("area", "Theory", "Learning Theory") == 'area:"Theory" cat:"Learning Theory"'
    assert asked("area", "cs.LG", "") == 'area:"cs.LG"'


# --------------------------------------------------------------------------------------------------------- security


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("127.0.0.1:8765", "127.0.0.1"),
        ("LOCALHOST", "localhost"),
        ("localhost.:80", "localhost"),
        ("[::1]:8765", "::1"),
        ("[::1]", "::1"),
        ("[::1", ""),
        ("a:b:c", ""),
        ("127.0.0.1:80@evil", ""),
        ("", ""),
    ],
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("host", "extra", "header", "answered"),
    [
        ("127.0.0.1", (), "127.0.0.1:8765", True),
        ("127.0.0.1", (), "localhost:8765", True),
        ("127.0.0.1", (), "[::1]:8765", True),
        ("127.0.0.1", (), "attacker.example", False),
        ("127.0.0.1", (), "127.0.0.1.attacker.example", False),
        ("127.0.0.1", (), "", False),
        ("127.0.0.1", ("papers.example.org",), "papers.example.org", True),
        ("192.168.1.5", (), "192.168.1.5:8765", True),
        ("192.168.1.5", (), "attacker.example", False),
        ("Desk.local", (), "desk.local:80", True),
        ("0.0.0.0", (), "anything.example", True),
        ("::", (), "anything.example", True),
        ("0.0.0.0", ("papers.example.org",), "attacker.example", False),
        ("127.0.0.1", ("*",), "anything.example", True),
    ],
)
def test_who_may_ask_under_which_name(host: str, extra: tuple[str, ...], header: str, answered: bool) -> None:
    names = allowed_names(host, extra)
    assert (names is None or host_name(header) in names) is answered


def test_a_page_that_rebinds_its_name_gets_nothing(client: TestClient, library: FakeLibrary) -> None:
    response = client.get("/search?q=noise", headers={"host": "attacker.example"})
    assert response.status_code == 400
    assert library.calls == []
    assert "127.0.0.1" in response.text
    assert client.get("/api/status", headers={"host": "attacker.example"}).json()["error"]["code"] == "wrong_host"


PATHS = [
    *(
        "/",
        "/newest",
        "/search?q=noise",
        "/search",
        "/search?q=zzzz",
        "/search?q=x&page=abc",
        "/paper/1",
        "/paper/2",
        "/paper/3",
    ),
    *(
        "/paper/4",
        "/paper/5",
        "/paper/6",
        "/paper/7",
        "/paper/9",
        "/paper/11",
        "/paper/13",
        "/day/2026-06-12",
        "/day/1999-01-01",
        "/status",
    ),
    *("/api", "/nope", "/paper/nope", "/sources", "/edition/2026-06-11", "/edition/2026-06-02", "/editions"),
    *("/week/2026-06-12", "/month/2026-06-01", "/saved", "/interests"),
]


@pytest.mark.parametrize(
    "path",
    [
        *PATHS,
        "/paper/1.ris",
        "/search.csv?q=noise",
        "/search.csv",
        "/api/status",
        "/api/nope",
        "/opensearch.xml",
        "/robots.txt",
        "/favicon.svg",
    ],
)
def test_every_answer_has_the_security_headers_and_no_cookie(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["font-src"] == policy["form-action"] == "'self'"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert re.fullmatch("[0-9a-f]{8}", headers["x-request-id"])
    assert "set-cookie" not in headers


@pytest.mark.parametrize("path", PATHS)
def test_pages_hold_no_inline_script_or_style_and_load_nothing_from_elsewhere(client: TestClient, path: str) -> None:
    parsed = Page(client.get(path).text)
    for tag, attrs, _ in parsed.elements:
        assert tag not in {"style", "iframe", "object", "embed", "svg", "base"}
        assert "style" not in attrs, tag
        assert not [name for name in attrs if name.startswith("on")], tag
        assert not attrs.get("href", "").lower().startswith(("javascript:", "data:"))
        loaded = attrs.get("src") or (attrs.get("href") if tag == "link" else None)
        if loaded is not None:
            assert re.match("/(?!/)", loaded)
        if tag == "script":
            assert attrs["src"].startswith("/static/")


@pytest.mark.parametrize("path", PATHS)
def test_pages_have_one_heading_a_title_a_language_and_closed_elements(client: TestClient, path: str) -> None:
    source = client.get(path).text
    parsed = Page(source)
    assert parsed.all("html")[0][0]["lang"] == "en"
    assert parsed.text("title")
    assert len(parsed.all("h1")) == 1
    ids = [attrs["id"] for _, attrs, _ in parsed.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag in ("div", "section", "article", "details", "ul", "li", "p", "a", "span", "nav"):
        assert len(re.findall(rf"<{tag}[\s>]", source)) == source.count(f"</{tag}>"), tag


def test_hostile_titles_and_authors_are_inert(client: TestClient) -> None:
    for path in ("/", "/search?q=attention", "/paper/4", "/day/2026-06-12"):
        source = client.get(path).text
        assert "<script>alert" not in source
        assert "<svg onload" not in source
    assert page(client, "/paper/4").text("h1") == "<script>alert(1)</script> Attention"


def test_a_link_is_not_shown_twice() -> None:
    def shown(*links: Link) -> list[str]:
        paper = Paper(1, "x", identifiers=(Identifier(Scheme.ARXIV, "2605.01001"),), links=links)
        return [link.url for link in views.shown_links(paper)]

    pdf = "https://arxiv.org/pdf/2605.01001"
    page_, other = Link(LinkKind.PAGE, "https://arxiv.org/abs/2605.01001v2"), Link(LinkKind.PAGE, "https://icml.cc/1")
    assert shown(page_, other, Link(LinkKind.PDF, pdf + "v1")) == [pdf, "https://icml.cc/1"]
    assert shown(Link(LinkKind.PAGE, "https://arxiv.org/abs/2605.01002")) == [pdf, "https://arxiv.org/abs/2605.01002"]
    assert shown(Link(LinkKind.CODE, "http://["), Link(LinkKind.CODE, "data:text/html,x")) == [pdf]


def test_links_of_other_kinds_than_the_web_are_left_out(client: TestClient) -> None:
    links = page(client, "/paper/7").links()
    assert "https://example.org/a_b%20c.pdf?a=1&b=2" in links
    assert not [link for link in links if "javascript" in link]


# ------------------------------------------------------------------------------------------------------- front page


def test_the_newest_papers_have_masthead_date_days_and_figures(client: TestClient) -> None:
    parsed = page(client, "/newest")
    assert "Monday, 30 November 2026" in parsed.text("p", class_="dateline")
    heads = [text for _, text in parsed.all("h2", class_="dayhead")]
    assert heads[:2] == ["Friday, 12 June 2026", "Thursday, 11 June 2026"]
    assert heads[-1] == "Without a date"
    assert len(heads) == len(set(heads))
    assert "60 papers from 72 records; vectors for 60 % of papers so far." in parsed.text("footer")
    assert "/day/2026-06-12" in parsed.links()


def test_without_an_encoder_nothing_is_said_of_vectors(monkeypatch: pytest.MonkeyPatch, library: FakeLibrary) -> None:
    made = replace(library.status(), encoder="none", encoded=0)
    monkeypatch.setattr(library, "status", lambda: made)
    with TestClient(create_app(library), base_url=BASE) as client:
        assert "vectors" not in page(client, "/newest").text("footer")
    waiting = replace(made, encoder="e5-small")
    monkeypatch.setattr(library, "status", lambda: waiting)
    with TestClient(create_app(library), base_url=BASE) as client:
        assert "vectors for 0 % of papers so far" in page(client, "/newest").text("footer").replace(
            "\u202f", " "
        ).replace("\xa0", " ")


def test_an_empty_library_says_what_to_do() -> None:
    with TestClient(create_app(FakeLibrary(papers={})), base_url=BASE) as client:
        assert "broadsheet import" in page(client, "/").text("main")
        assert page(client, "/status")
        assert client.get("/day").status_code == 404


def test_going_on_to_earlier_papers_shows_each_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broadsheet.web.listing.FRONT_PAPERS", 19)
    seen: list[str] = []
    url: str | None = "/newest"
    while url:
        parsed = page(client, url)
        seen += [link for link in parsed.links() if re.fullmatch(r"/paper/\d+", link)]
        url = next((attrs["href"] for attrs, _ in parsed.all("a", rel="next")), None)
    assert len(seen) == 60
    assert set(seen) == {f"/paper/{n}" for n in range(1, 61)}


def test_the_figures_are_asked_for_once_in_a_while(client: TestClient, library: FakeLibrary) -> None:
    for _ in range(3):
        client.get("/")
    assert library.calls.count("status") == 1


# ------------------------------------------------------------------------------------------------------------ search


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


# ------------------------------------------------------------------------------------------------------------- paper


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


# --------------------------------------------------------------------------------------------------------------- day


def test_a_day_and_its_neighbours_that_have_papers(client: TestClient) -> None:
    parsed = page(client, "/day/2026-06-11")
    assert parsed.text("h1") == "Thursday, 11 June 2026"
    assert "14 papers" in parsed.text("header", class_="dayline")
    assert len(parsed.all("article")) == 14
    assert parsed.all("a", rel="prev", href="/day/2026-06-06")
    assert parsed.all("a", rel="next", href="/day/2026-06-12")


def test_from_a_day_without_papers_the_arrows_lead_to_days_with_some(client: TestClient) -> None:
    parsed = page(client, "/day/2026-06-08")
    assert parsed.all("a", rel="prev", href="/day/2026-06-06")
    assert parsed.all("a", rel="next", href="/day/2026-06-11")
    assert not page(client, "/day/1999-01-01").all("a", rel="prev")
    assert not page(client, "/day/2031-01-01").all("a", rel="next")


def test_the_latest_day(client: TestClient) -> None:
    assert client.get("/day").headers["location"] == f"/day/{NEWEST}"


def test_a_long_day_goes_on(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broadsheet.web.listing.DAY_PAPERS", 5)
    url, seen = "/day/2026-06-11", []
    for _ in range(3):
        parsed = page(client, url)
        seen += [link for link in parsed.links() if re.fullmatch(r"/paper/\d+", link)]
        url = next((a["href"] for a, text in parsed.all("a", rel="next") if text == "More of this day"), "")
    assert url == ""
    assert len(seen) == len(set(seen)) == 14


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "2026-6-1", "20260601", "2026-W10-1"])
def test_a_day_that_is_none_is_refused(client: TestClient, day: str) -> None:
    assert "2025-06-30" in page(client, f"/day/{day}", 400).text("main")


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
def test_the_ends_of_the_calendar(client: TestClient, day: str) -> None:
    page(client, f"/day/{day}")


# -------------------------------------------------------------------------------------------------------------- rest


def test_the_status_page_keeps_folders_to_itself(client: TestClient) -> None:
    response = client.get("/status")
    assert "/secret/home" not in response.text
    rows = [text for _, text in Page(response.text).all("tr")]
    assert "Papers 60" in rows
    assert "arxiv 60" in rows


def test_the_status_page_names_a_job_in_trouble_and_what_goes_on(client: TestClient, monkeypatch: Any) -> None:
    plain = FakeLibrary().status()
    details = {"encoding_trouble": "cannot write /secret/home", "encoding": "10 of 60", "nested": {"a": 1}}
    monkeypatch.setattr(FakeLibrary, "status", lambda self: replace(plain, details=details))
    response = client.get("/status")
    text = Page(response.text).text("main")
    assert "In trouble: encoding." in text
    assert "Encoding 10 of 60" in text
    assert "secret" not in response.text


def test_a_browser_can_add_the_search(client: TestClient) -> None:
    assert page(client, "/").all("link", rel="search", href="/opensearch.xml")
    response = client.get("/opensearch.xml")
    assert response.headers["content-type"].startswith("application/opensearchdescription+xml")
    root = ElementTree.fromstring(response.text)
    url = root.find("{http://a9.com/-/spec/opensearch/1.1/}Url")
    assert url is not None
    assert url.attrib["template"] == f"{BASE}/search?q={{searchTerms}}"


def test_static_files_are_kept_for_ever_under_names_that_change_with_them(client: TestClient, tmp_path: Any) -> None:
    for name, kind in (
        ("site.css", "text/css"),
        ("site.js", "text/javascript"),
        ("broadsheet-math.woff2", "font/woff2"),
    ):
        response = client.get(Assets().url(name))
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert "immutable" in response.headers["cache-control"]
    assert client.get("/static/site.css").status_code == 404
    (tmp_path / "a.woff2").write_bytes(b"one")
    (tmp_path / "s.css").write_text('src: url("a.woff2")')
    before = Assets(tmp_path)
    assert f'url("{before.url("a.woff2")}")'.encode() in before.named("s.css").body
    (tmp_path / "a.woff2").write_bytes(b"two")
    after = Assets(tmp_path)
    assert before.url("a.woff2") != after.url("a.woff2")
    assert before.url("s.css") != after.url("s.css")


def test_pages_with_formulas_ask_for_their_font_at_once(client: TestClient) -> None:
    assert "broadsheet-math" in client.get("/paper/1").headers["link"]
    assert "link" not in client.get("/status").headers


def test_pages_are_compressed_and_answer_head(client: TestClient) -> None:
    assert client.get("/", headers={"accept-encoding": "gzip"}).headers["content-encoding"] == "gzip"
    assert client.head("/paper/1").status_code == 200
    assert client.get("/robots.txt").text.startswith("User-agent: *\nDisallow: /search")
    assert client.get("/favicon.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize(("path", "method"), [("/", "POST"), ("/search", "DELETE"), ("/paper/1", "PUT")])
def test_pages_can_only_be_read(client: TestClient, path: str, method: str) -> None:
    assert client.request(method, path).status_code == 405


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (BusyError("locked by process 77 in /secret/home"), 503),
        (IndexDamagedError("/secret/home/index is damaged"), 503),
        (StoreError("disk I/O error in /secret/home"), 500),
        (RuntimeError("secret detail"), 500),
    ],
)
def test_a_fault_is_told_without_its_inside_and_logged_with_it(
    fault: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    library = FakeLibrary(fault=fault)
    with caplog.at_level(logging.ERROR), TestClient(create_app(library), base_url=BASE) as client:
        for path in ("/", "/search?q=x", "/paper/1", "/day", "/status"):
            caplog.clear()
            response = client.get(path)
            assert response.status_code == status
            assert "secret" not in response.text
            assert "Traceback" not in response.text
            request_id = response.headers["x-request-id"]
            assert f"Request {request_id}" in Page(response.text).text("main")
            assert request_id in caplog.text
            assert str(fault) in caplog.text
            assert "content-security-policy" in response.headers
            assert ("retry-after" in response.headers) is (status == 503)


def test_a_fault_on_the_way_out_of_a_search_for_an_area_with_markup(client: TestClient, library: FakeLibrary) -> None:
    library.papers[1] = Paper(1, "x", areas=(Area('<b>"A" & B</b>'),), venue="<i>V</i>")
    for path in ("/", "/paper/1", "/search?q=x"):
        source = client.get(path).text
        assert "<b>" not in source
        assert "<i>V" not in source


def test_every_link_within_the_site_leads_somewhere(client: TestClient) -> None:
    waiting, seen = ["/", "/search?q=noise&area=Theory", "/paper/4", "/paper/5"], set[str]()
    while waiting and len(seen) < 150:
        url = waiting.pop(0)
        if url in seen:
            continue
        seen.add(url)
        response = client.get(url)
        assert response.status_code in (200, 302), url
        if response.status_code == 302:
            waiting.append(response.headers["location"])
        elif response.headers["content-type"].startswith("text/html"):
            links = [link.partition("#")[0] for link in Page(response.text).links() if link.startswith("/")]
            waiting += [link for link in links if link and link not in seen]
    assert len(seen) == 150
