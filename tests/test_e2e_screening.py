"""Screening in a real browser: keys alone, a phone, no JavaScript, going back, and nothing sent twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from broadsheet.model.screening import Chosen, CurvePoint, Label, ReviewEventKind, ReviewProgress
from tests.browsing import CONTRASTS, PHONE, Visit, launched, served, visiting
from tests.fake_library import FakeLibrary
from tests.fake_pool import CHINESE, PLAN, pool
from tests.fake_screening import FakeScreening

pytestmark = pytest.mark.browser

SCREEN = "/reviews/1/screen"
PATHS = (
    *("/reviews", "/reviews/1", "/reviews/1/settings", "/reviews/1/screen/2?was=1", "/reviews/1/screen/3"),
    *("/reviews/1/records", "/reviews/1/records/1", "/reviews/1/history", "/reviews/1/conflicts", "/reviews/2"),
    *("/reviews/1/repeats", "/reviews/1/known?q=walks%0A8%0Anobody+wrote+this", "/reviews/1/screen?mode=audit"),
    *("/reviews/1/agreement", "/reviews/1/prisma", "/reviews/1/export", "/reviews/1/screen?end=1"),
)


@dataclass
class Curved(FakeScreening):
    """Reviews with a long curve, as after some weeks."""

    def progress(self, *given: Any, curve: bool = True, **named: Any) -> ReviewProgress:
        found = super().progress(*given, curve=curve, **named)
        points = [CurvePoint(n, n // 9, None if n < 30 else 1 - 12 / n) for n in range(1, 500)]
        return replace(found, curve=tuple(points) if curve else ())


@pytest.fixture(scope="module")
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def desk(library: FakeLibrary) -> FakeScreening:
    """Reviews as nobody has screened them, one of them empty and with a name in Chinese."""
    library.screening = Curved(library)
    library.screening.create("睡眠呼吸暂停的筛查", PLAN, screener="me")
    return library.screening


@pytest.fixture(scope="module")
def site(library: FakeLibrary) -> Iterator[str]:
    with served(library) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as opened:
        yield opened


@pytest.fixture
def visit(browser: Any, site: str, desk: FakeScreening, request: pytest.FixtureRequest) -> Iterator[Visit]:
    with visiting(browser, site, request) as found:
        yield found


def decided(desk: FakeScreening) -> list[tuple[int, str]]:
    return [(e.record, str(e.label)) for e in desk.events_[1] if e.kind is ReviewEventKind.DECIDE]


def press(page: Any, key: str) -> None:
    """A key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_a_review_is_screened_by_keyboard_alone(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go(SCREEN)
    assert page.evaluate("document.activeElement.id") == "record-title"
    page.keyboard.press("3")
    page.keyboard.press("4")
    page.keyboard.press("4")
    page.keyboard.press("n")
    page.keyboard.type("ie only dense ones u")
    page.keyboard.press("Escape")
    assert decided(desk) == [], "what is written is no command"
    press(page, "e")
    event = desk.events_[1][-1]
    assert (event.record, event.label, event.reasons, event.note) == (
        1,
        Label.EXCLUDE,
        ("DENSE",),
        "ie only dense ones u",
    )
    assert (event.chosen, event.place, event.unread) == (Chosen.RANKED, 0, 11)
    assert page.inner_text(".notices").startswith("Excluded: Random restarts")
    assert page.evaluate("document.activeElement.id") == "record-title"
    press(page, "i")
    press(page, "l")
    press(page, "u")
    assert decided(desk) == [(1, "exclude"), (2, "include"), (3, "later")]
    assert desk.events_[1][-1].undoes == desk.events_[1][-2].id
    assert page.inner_text("h1") == CHINESE
    press(page, "i")
    assert decided(desk)[-1] == (3, "include")
    assert not visit.complaints


def test_the_keys_are_told(visit: Visit) -> None:
    page = visit.go(SCREEN)
    page.keyboard.press("?")
    assert "include the record" in page.inner_text("#keys")
    page.keyboard.press("i")
    page.keyboard.press("Escape")
    assert "/screen/1?" in page.url, "keys of the sheet rest while the list is open"


def test_tabbing_from_the_title_reaches_every_control(visit: Visit) -> None:
    page = visit.go(SCREEN)
    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.value || document.activeElement.name || ''"))
    wanted = ["GRAPH", "RESTART", "DENSE", "NODATA", "SURVEY", "note", "include", "exclude", "later"]
    assert [one for one in reached if one in wanted] == wanted


def test_a_key_that_is_pressed_twice_decides_once(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go(SCREEN)
    with page.expect_navigation():
        page.evaluate(
            "for (const key of ['i', 'e', 'l'])"
            " document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
        )
    page.wait_for_selector("#record-title")
    assert decided(desk) == [(1, "include")]


def test_a_button_that_is_clicked_twice_decides_once(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go(SCREEN)
    with page.expect_navigation():
        page.dblclick("button[value=include]", no_wait_after=True)
    page.wait_for_load_state()
    assert decided(desk)[0] == (1, "include")
    assert [record for record, _ in decided(desk)].count(1) == 1


def test_going_back_shows_the_record_with_its_decision_and_changes_that_one(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go(SCREEN)
    press(page, "i")
    press(page, "e")
    page.go_back()
    page.go_back()
    assert page.inner_text("h1").startswith("Random restarts")
    assert page.get_attribute("button[value=include]", "aria-pressed") == "true"
    press(page, "e")
    assert decided(desk) == [(1, "include"), (2, "exclude"), (1, "exclude")]
    assert page.inner_text("h1") == CHINESE, "and on to what is still unread"


def test_a_page_left_open_labels_only_its_own_record(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go(SCREEN)
    desk.decide(1, 1, Label.EXCLUDE, "ada", offer=desk.look(1, 1))
    press(page, "i")
    assert decided(desk) == [(1, "exclude")]
    page.wait_for_selector(".notices [role=alert]")
    assert "Somebody else decided this record meanwhile" in page.inner_text(".notices")
    press(page, "i")
    assert decided(desk) == [(1, "exclude"), (1, "include")]


@pytest.mark.parametrize("visit", [{"java_script_enabled": False}], indirect=True)
def test_everything_works_without_javascript(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go("/reviews")
    page.fill("#name", "By hand")
    page.fill("#exclude", "E1: dense")
    page.click("text=Begin >> nth=-1")
    assert page.inner_text("h1") == "By hand"
    page.set_input_files("#file", {"name": "a.ris", "mimeType": "text/plain", "buffer": "one\n二\n".encode()})
    page.click("text=Add files")
    assert "a.ris" in page.inner_text("#pool")
    page.click("text=Begin to screen")
    page.locator("#record-title:focus").wait_for()
    page.check("input[value=E1]")
    page.fill("#note", "seen")
    page.click("button[value=exclude]")
    assert page.inner_text("h1") == "二"
    page.click("text=Undo")
    assert page.inner_text("h1") == "one"
    page.click("button[value=include]")
    made = desk.events_[3]
    assert [(e.record, str(e.label), e.reasons) for e in made if e.kind is ReviewEventKind.DECIDE] == [
        *((1, "exclude", ("E1",)), (1, "include", ())),
    ]


@pytest.mark.parametrize("visit", [PHONE], indirect=True)
def test_on_a_phone_reasons_and_buttons_stay_at_the_thumb_and_hide_nothing(visit: Visit, desk: FakeScreening) -> None:
    desk.pools[1][6] = replace(pool()[6], abstract="A long abstract. " * 300)
    page = visit.go("/reviews/1/screen/7")
    for _ in range(2):
        for value in ("include", "exclude", "later"):
            box = page.locator(f"button[value={value}]").bounding_box()
            assert 844 - 90 < box["y"] < box["y"] + box["height"] <= 844
            assert box["height"] >= 44
            assert box["width"] >= 64
        reason = page.locator(".criterion").first.bounding_box()
        assert 844 - 220 < reason["y"] < page.locator("button[value=include]").bounding_box()["y"], "above the buttons"
        assert reason["height"] >= 44
        note = page.locator("#note").bounding_box()
        assert reason["y"] < note["y"] < 844
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    bar = page.locator(".deciding").bounding_box()
    assert bar["height"] < 844 / 4, "most of the screen is the record's"
    foot = page.locator(".foot").bounding_box()
    assert foot["y"] + foot["height"] <= bar["y"] + 1, "the last line can be read"
    for selector in (".abstract", ".criterion >> nth=4", "#note", ".reviewnav", ".modes", ".keywords"):
        assert page.locator(selector).is_visible()
    page.tap(".brief summary")
    assert "Exclude if: Dense graphs only" in page.inner_text(".brief")
    page.tap(".criterion >> nth=2")
    page.tap("button[value=exclude]")
    page.wait_for_selector(".notices .note")
    assert decided(desk) == [(7, "exclude")]
    assert desk.events_[1][-1].reasons == ("DENSE",)


@pytest.mark.parametrize("visit", [PHONE | {"viewport": {"width": 844, "height": 390}}], indirect=True)
def test_on_a_phone_that_lies_the_record_keeps_half_of_the_screen(visit: Visit, desk: FakeScreening) -> None:
    page = visit.go("/reviews/1/screen/7")
    bar = page.locator(".deciding").bounding_box()
    assert bar["y"] > 390 / 2
    assert page.locator("button[value=include]").bounding_box()["y"] < 390 - 44


def test_where_the_server_is_gone_nothing_is_lost_and_it_is_tried_again(visit: Visit, desk: FakeScreening) -> None:
    page = visit.page
    page.clock.install()
    visit.go(SCREEN)
    page.check("input[value=DENSE]")
    page.fill("#note", "only dense ones")
    page.keyboard.press("Escape")
    page.route("**/decide", lambda route: route.abort())
    page.keyboard.press("e")
    page.locator(".toast", has_text="Not kept yet").wait_for()
    assert page.input_value("#note") == "only dense ones"
    assert decided(desk) == []
    page.unroute("**/decide")
    with page.expect_navigation():
        page.clock.fast_forward(2_500)
    assert decided(desk) == [(1, "exclude")]
    assert (desk.events_[1][-1].note, desk.events_[1][-1].reasons) == ("only dense ones", ("DENSE",))


def test_after_some_tries_the_decision_is_to_be_sent_by_hand(visit: Visit, desk: FakeScreening) -> None:
    page = visit.page
    page.clock.install()
    visit.go(SCREEN)
    page.route("**/decide", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.keyboard.press("i")
    for _ in range(4):
        page.locator(".toast", has_text="Not kept yet").wait_for()
        with page.expect_event("requestfailed"):
            page.clock.fast_forward(2_500)
    page.locator(".toast", has_text="Not kept: the server").wait_for()
    page.unroute("**/decide")
    press(page, "i")
    assert decided(desk) == [(1, "include")]


def test_the_keys_are_told_by_a_button_too(visit: Visit) -> None:
    page = visit.go(SCREEN)
    page.click("button[data-keys]")
    assert "include the record" in page.inner_text("#keys")


@pytest.mark.parametrize("visit", [PHONE, {"viewport": {"width": 700, "height": 900}}, {}], indirect=True)
def test_no_page_scrolls_sideways_asks_elsewhere_or_complains(visit: Visit, desk: FakeScreening) -> None:
    desk.decide(1, 1, Label.INCLUDE, "me", offer=desk.look(1, 1), note="w" * 200)
    desk.pools[1][1] = replace(pool()[1], title="T" * 300, abstract="a" * 3000)
    for path in PATHS:
        page = visit.go(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
        assert not visit.complaints, path
    assert all(url.startswith(visit.site + "/") for url in visit.requests)


@pytest.mark.parametrize("visit", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_all_text_has_the_contrast_of_wcag_aa(visit: Visit, desk: FakeScreening) -> None:
    desk.decide(1, 1, Label.INCLUDE, "me", offer=desk.look(1, 1), reasons=("DENSE",), note="why")
    desk.decide(1, 4, Label.LATER, "me", offer=desk.look(1, 4))
    for path in PATHS:
        length, _, too_faint = visit.go(path).evaluate(CONTRASTS)
        assert length > 100
        assert too_faint == [], path


UNNAMED = """() => [...document.querySelectorAll(
    "input:not([type=hidden]), select, textarea, progress, [role=region], nav")]
  .filter((e) => !(e.labels && e.labels.length) && !e.getAttribute("aria-label")
    && !document.getElementById(e.getAttribute("aria-labelledby")))
  .map((e) => e.outerHTML.slice(0, 80))
  .concat([...document.querySelectorAll("button, a")].filter((e) => !e.textContent.trim()).map((e) => e.outerHTML))"""


def test_every_field_bar_and_region_has_a_name_for_who_listens(visit: Visit, desk: FakeScreening) -> None:
    desk.decide(1, 1, Label.INCLUDE, "me", offer=desk.look(1, 1))
    for path in PATHS:
        assert visit.go(path).evaluate(UNNAMED) == [], path


def test_what_is_printed_is_the_record_and_the_statement(visit: Visit, desk: FakeScreening) -> None:
    desk.decide(1, 1, Label.INCLUDE, "me", offer=desk.look(1, 1))
    visit.page.emulate_media(media="print")
    page = visit.go("/reviews/1/screen/7")
    assert page.locator(".abstract").is_visible()
    for selector in (".deciding", ".reviewnav", ".modes"):
        assert not page.locator(selector).is_visible(), selector
    page = visit.go("/reviews/1")
    assert page.locator(".sentence").is_visible()
    assert page.locator(".curve").is_visible()
    for selector in (".fills", ".actions", ".lookup"):
        assert not page.locator(selector).first.is_visible(), selector
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert background == "rgb(255, 255, 255)"


def test_the_curve_is_drawn_in_the_colours_of_the_page(visit: Visit, desk: FakeScreening) -> None:
    desk.decide(1, 1, Label.INCLUDE, "me", offer=desk.look(1, 1))
    page = visit.go("/reviews/1")
    line = page.locator(".curve .bound").evaluate("e => [getComputedStyle(e).stroke, getComputedStyle(e).fill]")
    accent = page.locator(".kicker").evaluate("e => getComputedStyle(e).color")
    assert line == [accent, "none"]
    box = page.locator(".curve").bounding_box()
    assert box["width"] > 400
    assert box["height"] > 200


def test_chinese_is_told_apart_from_the_language_of_the_page(visit: Visit) -> None:
    page = visit.go("/reviews/1/screen/3")
    assert page.get_attribute("h1", "lang") == "zh"
    assert page.locator("h1 mark").inner_text() == "稀疏"
    assert page.locator(".byline").evaluate("e => getComputedStyle(e).fontStyle") == "normal"
