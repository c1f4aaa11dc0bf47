"""The site in a real browser: keys, layout, colours, copying, and that nothing is asked of any other host."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import BusyError
from broadsheet.model.reading import Action, Interest, InterestKind
from tests.browsing import CONTRASTS, PHONE, Visit, launched, served, visiting
from tests.fake_daily import FakeDaily
from tests.fake_library import FakeLibrary

pytestmark = pytest.mark.browser

PATHS = (
    *("/", "/search?q=noise&area=Theory", "/search", "/search?q=zzzzqq", "/day/2026-06-11", "/nope"),
    *("/paper/1", "/paper/2", "/paper/3", "/paper/5", "/paper/10", "/paper/11", "/paper/12", "/paper/13"),
    *("/sources", "/status", "/api", "/newest", "/edition/2026-06-11", "/edition/2026-06-02", "/editions"),
    *("/week/2026-06-12", "/month/2026-06-12", "/saved", "/interests"),
)
MISSING = ("/nope", "/edition/2026-06-02")


@pytest.fixture(scope="module")
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture(scope="module")
def site(library: FakeLibrary) -> Iterator[str]:
    with served(library) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as opened:
        yield opened


@pytest.fixture
def visit(browser: Any, site: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    with visiting(browser, site, request) as found:
        yield found


@pytest.fixture
def daily(library: FakeLibrary) -> FakeDaily:
    """The daily paper of the site's library, as nobody has read it yet."""
    library.daily = FakeDaily(library)
    return library.daily


def test_a_question_from_the_front_page_by_keyboard_alone(visit: Visit) -> None:
    page = visit.go("/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("noisy labels /j?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=noisy*")
    assert page.input_value("#q") == "noisy labels /j?"
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    third = page.evaluate("document.activeElement.getAttribute('href')")
    assert third == page.get_attribute(".hits li:nth-child(2) h2 a", "href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{third}")
    assert not visit.complaints


def test_the_list_of_keys_opens_and_closes(visit: Visit) -> None:
    page = visit.go("/")
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")


def test_the_first_tab_leads_past_the_masthead(visit: Visit) -> None:
    page = visit.go("/search?q=noise")
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the content"
    assert page.locator(":focus").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_facets_stand_open_on_a_wide_screen_and_narrow_the_results(visit: Visit) -> None:
    page = visit.go("/search?q=noise")
    before = page.inner_text(".total strong")
    page.click(".facet a:has-text('Theory')")
    page.wait_for_url("**area=Theory*")
    assert int(page.inner_text(".total strong")) < int(before)
    page.click(".chips a")
    page.wait_for_url("**/search?q=noise")
    assert page.inner_text(".total strong") == before


@pytest.mark.parametrize("visit", [PHONE], indirect=True)
def test_facets_are_folded_on_a_phone(visit: Visit) -> None:
    page = visit.go("/search?q=noise")
    assert not page.is_visible(".facet a")
    page.tap(".facets > summary")
    assert page.is_visible(".facet a")


@pytest.mark.parametrize("visit", [PHONE, {"viewport": {"width": 700, "height": 900}}, {}], indirect=True)
def test_no_page_scrolls_sideways_asks_elsewhere_or_complains(visit: Visit) -> None:
    for path in PATHS:
        page = visit.go(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
        visit.complaints = [c for c in visit.complaints if not (path in MISSING and "404" in c)]
        assert not visit.complaints, path
    assert len(visit.requests) > len(PATHS)
    assert all(url.startswith(visit.site + "/") for url in visit.requests)


@pytest.mark.parametrize("visit", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_all_text_has_the_contrast_of_wcag_aa(visit: Visit, request: pytest.FixtureRequest) -> None:
    dark = request.node.callspec.params["visit"]["color_scheme"] == "dark"
    for path in PATHS:
        length, ground, too_faint = visit.go(path).evaluate(CONTRASTS)
        assert length > 100
        assert too_faint == [], path
        assert (ground < 0.02) if dark else (ground > 0.9)


def test_copying_bibtex(visit: Visit) -> None:
    page = visit.go("/paper/2")
    page.click("text=Copy BibTeX")
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == FakeLibrary().bibtex(2).strip()


def test_results_are_downloaded_under_a_name_that_tells_of_the_question(visit: Visit) -> None:
    page = visit.go("/search?q=noise&area=Theory")
    with page.expect_download() as begun:
        page.click(".exports >> text=RIS")
    assert begun.value.suggested_filename == "broadsheet-noise.ris"
    text = Path(begun.value.path()).read_text("utf-8")
    assert text == "".join(FakeLibrary().export("ris", query="noise", facets={"area": ("Theory",)}))
    assert not visit.complaints


def test_what_became_of_a_paper_is_told_apart_without_colours(visit: Visit) -> None:
    page = visit.go("/paper/11")
    styles = "e => [getComputedStyle(e).borderTopStyle, getComputedStyle(e).backgroundColor]"
    retracted, concern = (page.locator(f".fate .badge.{kind}").evaluate(styles) for kind in ("retracted", "concern"))
    assert retracted != concern
    assert concern[0] == "dashed"
    assert page.locator(".fate .badge").all_inner_texts() == ["Retracted", "Expression of concern"]


@pytest.mark.parametrize("visit", [PHONE], indirect=True)
def test_on_a_phone_each_source_is_a_list_with_its_labels(visit: Visit) -> None:
    page = visit.go("/sources")
    assert not page.is_visible("thead")
    first, second = (page.locator(f"tbody tr:nth-child(1) td:nth-child({n})").bounding_box() for n in (2, 3))
    assert second["y"] >= first["y"] + first["height"] - 1
    label = page.locator("tbody td >> nth=0").evaluate("e => getComputedStyle(e, '::before').content")
    assert label == '"State"'


def test_formulas_are_set_in_a_font_that_has_all_parts_of_them(visit: Visit) -> None:
    page = visit.go("/paper/1")
    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.fonts.check('16px \\'Broadsheet Math\\'')")
    root, body = (page.locator(f"{name} >> nth=0").bounding_box() for name in ("msqrt", "msqrt > *"))
    assert root["width"] > body["width"] + 4, "the sign of the root takes room"


@pytest.mark.parametrize("visit", [{"java_script_enabled": False}], indirect=True)
def test_everything_needed_works_without_javascript(visit: Visit) -> None:
    page = visit.go("/")
    page.fill("#q", "protein folding")
    page.click("form.search button")
    assert re.search(r"/search\?q=protein(\+|%20)folding", page.url)
    page.click(".hits a >> nth=0")
    assert not page.is_visible("text=Copy BibTeX")
    page.click("text=Show BibTeX")
    assert "@misc{" in page.inner_text("#bibtex")
    assert not page.is_visible("text=for keys")


@pytest.mark.parametrize("late", ["", "**/*.woff2"], ids=["soon", "late-font"])
def test_a_pages_lines_stay_where_they_are(visit: Visit, late: str) -> None:
    visit.page.add_init_script(SHIFTS)
    if late:
        visit.page.route(late, lambda route: (time.sleep(0.5), route.continue_()))
    for path in ("/", "/newest", "/search?q=noise", "/paper/1"):
        page = visit.go(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.shift") < 0.02, path


# ------------------------------------------------------------------------------------------------------------- marks

SHIFTS = (
    "window.shift = 0; const add = (list) => { for (const e of list.getEntries()) window.shift += e.value; };"
    "new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });"
)
BOXES = (
    "() => Array.from(document.querySelectorAll('article, article *:not(.causes, .causes *)'), e => {"
    " const r = e.getBoundingClientRect();"
    " return [r.x + scrollX, r.y + scrollY, r.width, r.height].map(Math.round); }).filter(b => b[2] && b[3])"
)


def said(daily: FakeDaily) -> list[tuple[str, int]]:
    return [(event.action.value, event.paper) for event in daily.events_]


def test_marks_are_made_and_taken_back_without_a_new_page_and_nothing_moves(visit: Visit, daily: FakeDaily) -> None:
    page = visit.go("/")
    page.evaluate("document.fonts.ready")
    before = page.evaluate(BOXES)
    asked = len(visit.requests)
    page.click("#p-1 [data-action=save]")
    page.wait_for_selector("#p-1 [data-action=save][aria-pressed=true]")
    assert page.inner_text("#p-1 [data-action=save] .on").lower() == "saved"
    assert page.is_visible("#p-1 .undo")
    assert page.inner_text(".toast") == "Saved."
    assert page.evaluate(BOXES) == before
    page.click("#p-1 [data-action=like]")
    page.wait_for_selector("#p-1 [data-action=like][aria-pressed=true]")
    page.click("#p-1 .undo")
    page.wait_for_selector("#p-1 [data-action=like][aria-pressed=false]")
    page.click("#p-1 [data-action=save]")
    page.wait_for_selector("#p-1 [data-action=save][aria-pressed=false]")
    assert not page.is_visible("#p-1 .undo")
    assert page.evaluate(BOXES) == before
    assert said(daily) == [("save", 1), ("like", 1), ("undo", 1), ("undo", 1)]
    assert [event.edition for event in daily.events_[:2]] == [daily.today().edition.day] * 2
    assert {url.partition("/api/")[1] for url in visit.requests[asked:]} == {"/api/"}
    assert not visit.complaints


def test_not_for_me_because_of_an_author(visit: Visit, daily: FakeDaily) -> None:
    page = visit.go("/")
    before = page.evaluate(BOXES)
    page.click("#p-4 .not > summary")
    assert page.is_visible("#p-4 .causes")
    page.keyboard.press("Escape")
    assert not page.is_visible("#p-4 .causes")
    page.click("#p-4 .not > summary")
    page.click("#p-4 .choice >> text=Ada Lovelace")
    page.wait_for_selector("#p-4.dismissed")
    assert not page.is_visible("#p-4 .causes")
    assert page.evaluate(BOXES) == before
    mute = Interest(InterestKind.AUTHOR, "Ada Lovelace")
    assert mute in daily.reader().profile.mutes
    page.click("#p-4 .undo")
    page.wait_for_selector("#p-4:not(.dismissed)")
    assert mute not in daily.reader().profile.mutes
    assert not visit.complaints


def test_marks_by_keyboard_alone(visit: Visit, daily: FakeDaily) -> None:
    page = visit.go("/")
    page.keyboard.press("s")
    assert said(daily) == [], "no story is selected yet"
    page.keyboard.press("j")
    page.keyboard.press("j")
    chosen = page.evaluate("document.activeElement.closest('article').id")
    number = int(chosen.removeprefix("p-"))
    for key, selector in (
        ("s", "[data-action=save][aria-pressed=true]"),
        ("l", "[data-action=like][aria-pressed=true]"),
        ("x", "summary.held"),
    ):
        page.keyboard.press(key)
        page.wait_for_selector(f"#{chosen} {selector}")
    page.keyboard.press("u")
    page.wait_for_selector(f"#{chosen} summary:not(.held)")
    page.keyboard.press("l")
    page.wait_for_selector(f"#{chosen} [data-action=like][aria-pressed=false]")
    assert said(daily) == [(name, number) for name in ("save", "like", "dismiss", "undo", "undo")]
    page.keyboard.press("?")
    assert "undo" in page.inner_text("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("slxu")
    assert page.input_value("#q") == "slxu"
    assert len(said(daily)) == 5
    assert not visit.complaints


def test_on_the_page_of_a_paper_keys_mark_that_paper(visit: Visit, daily: FakeDaily) -> None:
    page = visit.go("/paper/3")
    page.keyboard.press("s")
    page.wait_for_selector(".own [data-action=save][aria-pressed=true]")
    page.keyboard.press("u")
    page.wait_for_selector(".own [data-action=save][aria-pressed=false]")
    assert said(daily) == [("open", 3), ("save", 3), ("undo", 3)]
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('#similar') !== null")
    assert not visit.complaints


def test_a_mark_that_cannot_be_made_is_told_and_not_shown(visit: Visit, daily: FakeDaily, library: FakeLibrary) -> None:
    page = visit.go("/")
    library.fault = BusyError("locked")
    page.click("#p-1 [data-action=save]")
    page.wait_for_selector(".toast >> text=being written to")
    library.fault = None
    assert page.get_attribute("#p-1 [data-action=save]", "aria-pressed") == "false"
    assert said(daily) == []


@pytest.mark.parametrize("visit", [{"java_script_enabled": False}], indirect=True)
def test_marks_without_javascript(visit: Visit, daily: FakeDaily) -> None:
    page = visit.go("/")
    page.click("#p-4 [data-action=save]")
    assert page.url.endswith("/#p-4")
    assert page.get_attribute("#p-4 [data-action=save]", "aria-pressed") == "true"
    page.click("#p-4 .not > summary")
    page.click("#p-4 .causes >> text=Just this paper")
    assert "dismissed" in page.get_attribute("#p-4", "class")
    page.click("#p-4 .undo")
    assert "dismissed" not in page.get_attribute("#p-4", "class")
    page.goto(page.url.partition("#")[0] + "saved")
    page.click("#p-4 .undo")
    assert "Nothing yet" in page.inner_text("main")
    assert said(daily) == [("save", 4), ("dismiss", 4), ("undo", 4), ("undo", 4)]
    assert not visit.complaints


def test_interests_are_changed_by_forms(visit: Visit, daily: FakeDaily, tmp_path: Path) -> None:
    daily.act(Action.SAVE, 1, "me")
    page = visit.go("/interests")
    page.fill("#mute-what", "benchmark")
    page.click("#mutes button >> text=Mute")
    page.wait_for_url("**done=mute*")
    assert "benchmark" in page.inner_text("#mutes")
    with page.expect_download() as begun:
        page.click("text=Export as JSON")
    page.click("summary >> text=Import")
    page.set_input_files("#file", begun.value.path())
    page.click("#keep button >> text=Import")
    page.wait_for_url("**done=import")
    assert len(daily.taken) == 1
    page.click("summary >> text=Reset")
    page.click("text=Reset the memory")
    assert "done=reset" not in page.url, "the box must be ticked"
    page.check("input[name=sure]")
    page.click("text=Reset the memory")
    page.wait_for_url("**done=reset")
    assert said(daily)[-1] == ("reset", 0)
    assert not visit.complaints


@pytest.mark.parametrize("visit", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_marked_and_dismissed_stories_and_open_causes_have_contrast_too(visit: Visit, daily: FakeDaily) -> None:
    for number in (1, 2):
        daily.act(Action.SAVE, number, "me")
    daily.act(Action.DISMISS, 2, "me")
    page = visit.go("/")
    page.click("#p-4 .not > summary")
    assert page.evaluate(CONTRASTS)[2] == []
    page = visit.go("/interests")
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    assert page.evaluate(CONTRASTS)[2] == []


def test_print_leaves_the_apparatus_out(visit: Visit) -> None:
    page = visit.go("/search?q=noise")
    page.emulate_media(media="print")
    assert page.is_visible(".hits h2")
    assert not page.is_visible(".facets")
    assert not page.is_visible(".search")
