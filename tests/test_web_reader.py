"""Who is reading, what a reader's forms change, and that nobody else can send them."""

from __future__ import annotations

import logging
from datetime import date
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from broadsheet.model.reading import Action, Interest, InterestKind
from broadsheet.signing import Order, Verb, act_url, sign
from broadsheet.web import create_app, forms, identity
from broadsheet.web.security import named
from tests import web_reading
from tests.fake_daily import OTHER_SECRET, SECRET, TODAY
from tests.fake_library import FakeLibrary
from tests.pages import BASE, Page, page
from tests.web_reading import OWN, PUBLIC, done, ours, sent

library, client, public = web_reading.FIXTURES


# --------------------------------------------------------------------------------------------------- who is reading


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *(("127.0.0.1", True), ("127.1.2.3", True), ("localhost", True), ("LOCALHOST", True), ("::1", True)),
        *(("[::1]", True), ("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("papers.example.org", False)),
        *(("", False), ("localhost.evil.example", False)),
    ],
)
def test_which_addresses_are_of_this_machine_only(host: str, local: bool) -> None:
    assert identity.is_loopback(host) is local


def test_a_secret_address_lets_a_browser_in(public: TestClient) -> None:
    response = public.get(f"/r/{OTHER_SECRET}")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"].lower()
    assert f"{identity.COOKIE}={OTHER_SECRET}" in cookie
    assert all(part in cookie for part in ("httponly", "samesite=lax", "path=/"))
    assert "secure" not in cookie
    assert "Printed for ada" in page(public, "/").text("p", class_="dateline")


def test_over_tls_the_cookie_is_for_tls_only(library: FakeLibrary) -> None:
    app = create_app(library, host="0.0.0.0")
    with TestClient(app, base_url="https://papers.example.org", follow_redirects=False) as client:
        assert "secure" in client.get(f"/r/{OTHER_SECRET}").headers["set-cookie"].lower()


@pytest.mark.parametrize("secret", ["wrong", SECRET + "xy", "%00", "a%0Ab", "x" * 5_000, quote("秘密")])
def test_a_wrong_secret_is_not_found_in_the_same_words(
    client: TestClient, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for path in ("", "/edition.atom", "/section/front.atom", "/search/1.atom", "/section/nope.atom"):
            response = client.get(f"/r/{secret}{path}")
            assert response.status_code == 404
            if path:  # a feed: a line of plain text
                assert response.text == f"{identity.UNKNOWN_ADDRESS}\n"
            else:
                said = Page(response.text).text("main")
                assert said.startswith(f"Correction Not in this library {identity.UNKNOWN_ADDRESS}")
            assert "set-cookie" not in response.headers
    assert ours(caplog) == "", "a wrong address is nothing to log"


def test_on_a_machines_own_site_another_reader_may_enter_and_leave(client: TestClient) -> None:
    assert "Printed for you" in page(client, "/").text("p", class_="dateline")
    client.get(f"/r/{OTHER_SECRET}")
    assert "Printed for ada" in page(client, "/").text("p", class_="dateline")
    assert page(client, "/interests").all("form", action="/leave")
    sent(client, "/leave", "/")
    assert "Printed for you" in page(client, "/").text("p", class_="dateline")


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
def test_what_a_proxy_hands_on_is_not_this_machines(client: TestClient, header: str) -> None:
    assert "the same for everybody" in client.get("/", headers={header: "for=10.0.0.1"}).text
    assert client.get("/saved", headers={header: "10.0.0.1"}).status_code == 403


def test_asked_for_by_a_public_name_it_is_not_this_machines(library: FakeLibrary) -> None:
    app = create_app(library, allowed_hosts=["papers.example.org"])
    with TestClient(app, base_url=PUBLIC) as client:
        assert "the same for everybody" in client.get("/").text


def test_a_program_shows_the_secret_as_a_bearer(public: TestClient) -> None:
    asked = {"authorization": f"Bearer {OTHER_SECRET}"}
    assert public.get("/api/profile", headers=asked).json()["reader"] == "ada"
    assert public.get("/api/profile", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert public.get("/api/profile", headers={"authorization": "Basic eDp5"}).status_code == 401


def test_a_wrong_bearer_is_nobody_also_on_a_machines_own_site(client: TestClient) -> None:
    assert client.get("/api/profile").json()["reader"] == "me"
    assert client.get("/api/profile", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_a_cookie_whose_secret_was_renewed_is_nobodys(public: TestClient, library: FakeLibrary) -> None:
    public.get(f"/r/{OTHER_SECRET}")
    library.daily.renew_secret("ada")
    assert "the same for everybody" in public.get("/").text


def test_secret_addresses_are_told_to_nobody(
    library: FakeLibrary, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    for path in (f"/r/{SECRET}", f"/r/{SECRET}/edition.atom", "/r/nope", "/r/act?t=x"):
        headers = client.get(path).headers
        assert headers["referrer-policy"] == "no-referrer"
        kept = "no-cache" if path == f"/r/{SECRET}/edition.atom" else "no-store"  # a feed is asked for again and again
        assert headers["cache-control"] == f"private, {kept}"
        assert headers["x-robots-tag"] == "noindex"
    assert "Disallow: /r/" in client.get("/robots.txt").text
    library.fault = RuntimeError("broken")
    assert client.get(f"/r/{SECRET}/edition.atom").status_code == 500
    assert ours(caplog)
    assert SECRET not in ours(caplog)
    assert named(f"/r/{SECRET}/edition.atom") == "/r/…/edition.atom"
    assert named("/paper/1") == "/paper/1"


# -------------------------------------------------------------------------------------------------- from where it came

FOREIGN = [
    {},
    {"origin": "null"},
    {"origin": "http://attacker.example"},
    {"origin": "https://127.0.0.1:8765"},
    {"origin": "http://127.0.0.1"},
    {"origin": "http://127.0.0.1:8765.attacker.example"},
    {"origin": BASE, "sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "referer": BASE + "/"},
]
POSTS = [
    ("/act", {"action": "save", "paper": "1"}),
    ("/interests/mute", {"kind": "keyword", "value": "x"}),
    ("/interests/reset", {"sure": "yes"}),
    ("/interests/address", {}),
    ("/interests/import", {"record": '{"format": 1}'}),
    ("/leave", {}),
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize(("path", "fields"), POSTS)
def test_a_form_from_elsewhere_changes_nothing(
    client: TestClient, library: FakeLibrary, headers: dict[str, str], path: str, fields: dict[str, str]
) -> None:
    before = (dict(library.daily.readers_), list(library.daily.events_))
    response = client.post(path, data=fields, headers=headers)
    assert response.status_code == 403
    assert "Nothing was changed." in Page(response.text).text("main")
    assert (library.daily.readers_, library.daily.events_, library.daily.taken) == (*before, [])


@pytest.mark.parametrize("headers", [{"origin": BASE}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}])
def test_a_form_of_the_site_is_taken(client: TestClient, library: FakeLibrary, headers: dict[str, str]) -> None:
    assert client.post("/act", data={"action": "save", "paper": "1"}, headers=headers).status_code == 303
    assert done(library) == [("me", "save", 1)]


@pytest.mark.parametrize(("path", "fields"), POSTS)
def test_forms_are_only_sent(client: TestClient, path: str, fields: dict[str, str]) -> None:
    assert client.get(path).status_code == 405
    assert client.put(path, data=fields, headers=OWN).status_code == 405


@pytest.mark.parametrize(("path", "fields"), POSTS)
def test_nobody_can_send_forms(public: TestClient, library: FakeLibrary, path: str, fields: dict[str, str]) -> None:
    response = sent(public, path, **fields)
    assert response.status_code == 403
    assert "does not know who is reading" in response.text
    assert library.daily.events_ == []


# ------------------------------------------------------------------------------------------------------ what is sent


def test_what_is_too_large_is_refused(
    client: TestClient, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chunked in (False, True):
        body = b"action=save&paper=1&x=" + b"y" * forms.MAX_BODY
        content: Any = iter([body[:1000], body[1000:]]) if chunked else body
        headers = {**OWN, "content-type": "application/x-www-form-urlencoded"}
        response = client.post("/act", content=content, headers=headers)
        assert response.status_code == 413
        assert "larger than this address takes" in response.text
    assert library.daily.events_ == []
    monkeypatch.setattr(forms, "MAX_FILE", 1000)
    assert sent(client, "/interests/import", record="x" * 2000).status_code == 413


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/xml"])
def test_forms_are_forms(client: TestClient, library: FakeLibrary, kind: str) -> None:
    response = client.post("/act", content=b"action=save&paper=1", headers={**OWN, "content-type": kind})
    assert response.status_code == 415
    assert library.daily.events_ == []


def test_a_broken_form_is_refused(client: TestClient) -> None:
    headers = {**OWN, "content-type": "multipart/form-data"}
    assert client.post("/act", content=b"--x", headers=headers).status_code == 400
    many = "&".join(f"a{n}=1" for n in range(400))
    urlencoded = {**OWN, "content-type": "application/x-www-form-urlencoded"}
    assert client.post("/act", content=many, headers=urlencoded).status_code == 400


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "action: must be one of save, like, dismiss"),
        ({"action": "reset", "paper": "1"}, "action: must be one of"),
        ({"action": "open", "paper": "1"}, "action: must be one of"),
        ({"action": "save", "paper": "9999"}, "no paper"),
        ({"action": "save", "paper": "9" * 40}, "There is no paper"),
        ({"action": "save", "paper": ""}, "no paper"),
        ({"because": "colour:red", "paper": "1"}, "because: must be a keyword"),
        ({"because": "keyword:", "paper": "1"}, "because: must not be empty"),
        ({"because": "keyword:" + "x" * 501, "paper": "1"}, "because: may have at most"),
        ({"action": "save", "paper": "1", "edition": "yesterday"}, "edition: must be a day"),
        ({"undo": "0"}, "undo: must be from 1"),
        ({"undo": "x"}, "undo: must be a whole number"),
        ({"undo": "77"}, "there is no event 77"),
    ],
)
def test_a_mark_that_cannot_be_made_is_refused_by_name(
    client: TestClient, library: FakeLibrary, fields: dict[str, str], message: str
) -> None:
    response = sent(client, "/act", **fields)
    assert response.status_code in (400, 404)
    assert message in Page(response.text).text("main")
    assert library.daily.events_ == []


LOCAL = ["/", "/edition/2026-06-12#p-1", "/search?q=a%20b&x=//c", "/week/2026-06-08"]
ELSEWHERE = [
    *("", "//evil.example", "/\\evil.example", "http://evil.example/", "\\\\evil", "javascript:alert(1)", "evil"),
    *("/a\r\nset-cookie: x=1", "/\tx", "/ü", " /", "/a b", "/" + "x" * 5000, "/\x00"),
]


@pytest.mark.parametrize("back", LOCAL)
def test_back_to_where_the_reader_was(client: TestClient, back: str) -> None:
    sent(client, "/act", back, action="save", paper="1", back=back)


@pytest.mark.parametrize("back", ELSEWHERE)
def test_but_never_elsewhere(client: TestClient, back: str) -> None:
    sent(client, "/act", "/", action="save", paper="1", back=back)


@given(st.text(max_size=30))
def test_a_way_back_begins_at_this_site(text: str) -> None:
    if forms.is_local(text):
        assert text[0] == "/"
        assert text[1:2] not in ("/", "\\")
        assert text.isascii()
        assert not set(text) & set("\r\n\t\\ ")


# ------------------------------------------------------------------------------------------------------------- marks


def button(parsed: Page, paper: int, action: str) -> tuple[str, str, str]:
    found = parsed.all("form", data_paper=str(paper))
    assert found
    start = next(
        i for i, (tag, a, _) in enumerate(parsed.elements) if tag == "form" and a.get("data-paper") == str(paper)
    )
    attrs = next(a for _, a, _ in parsed.elements[start:] if a.get("data-action") == action)
    return attrs.get("name", ""), attrs.get("value", ""), attrs.get("aria-pressed", "")


def test_a_mark_is_made_shown_and_taken_back_without_javascript(client: TestClient, library: FakeLibrary) -> None:
    assert button(page(client, "/"), 1, "save") == ("action", "save", "false")
    sent(client, "/act", "/#p-1", action="save", paper="1", edition="2026-06-12", back="/#p-1")
    event = library.daily.events_[0]
    assert (event.action, event.paper, event.edition) == (Action.SAVE, 1, TODAY)
    for path in ("/", "/paper/1", "/saved", "/week/2026-06-12", "/edition/2026-06-12"):
        assert button(page(client, path), 1, "save") == ("undo", "1", "true"), path
    sent(client, "/act", "/#p-1", undo="1", back="/#p-1")
    assert button(page(client, "/"), 1, "save") == ("action", "save", "false")
    assert [name for name in done(library) if name[1] != "open"] == [("me", "save", 1), ("me", "undo", 1)]


def test_not_for_me_with_a_cause_mutes_it_and_undo_takes_both_back(client: TestClient, library: FakeLibrary) -> None:
    sent(client, "/act", "/", because="author:Emmy Noether: the Second", paper="1")
    mute = Interest(InterestKind.AUTHOR, "Emmy Noether: the Second")
    assert library.daily.events_[0].because == mute
    assert mute in library.daily.reader().profile.mutes
    parsed = page(client, "/")
    assert "dismissed" in parsed.all("article", id="p-1")[0][0]["class"]
    assert parsed.all("button", class_="undo", value="1")
    sent(client, "/act", "/", undo="1")
    assert mute not in library.daily.reader().profile.mutes
    assert "dismissed" not in page(client, "/").all("article", id="p-1")[0][0]["class"]


def test_marks_are_those_of_the_reader(client: TestClient, library: FakeLibrary) -> None:
    library.daily.act(Action.SAVE, 7, "ada")
    assert button(page(client, "/paper/7"), 7, "save") == ("action", "save", "false")
    client.get(f"/r/{OTHER_SECRET}")
    assert button(page(client, "/paper/7"), 7, "save") == ("undo", "1", "true")
    assert sent(client, "/act", undo="99").status_code == 404


def test_every_mark_of_a_page_is_asked_for_at_once(client: TestClient, library: FakeLibrary) -> None:
    client.get("/")
    assert library.daily.calls.count("marks") == 1


# ------------------------------------------------------------------------------------------------- links from mails


def link(verb: Verb, paper: int, secret: str = SECRET, reader: str = "me") -> str:
    return act_url("", Order(verb, paper, TODAY, reader), secret)


@pytest.mark.parametrize("verb", [Verb.SAVE, Verb.LIKE, Verb.DISMISS])
def test_a_link_in_a_mail_asks_first_and_acts_when_sent(public: TestClient, library: FakeLibrary, verb: Verb) -> None:
    url = link(verb, 3)
    asked = page(public, url)
    assert library.daily.events_ == []
    assert "Nothing happens until the button is pressed." in asked.text("main")
    assert asked.all("form", method="post")[0][0]["action"] == url
    response = public.post(url)
    assert response.status_code == 200
    assert Page(response.text).text("h1") == "Done"
    public.post(url)
    assert [(e.action.value, e.paper, e.edition) for e in library.daily.events_] == [(verb.value, 3, TODAY)]
    assert SECRET not in response.text
    assert "set-cookie" not in response.headers, "a link acts once; it lets nobody in"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"List-Unsubscribe=One-Click"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
        ),
        ("", b""),
    ],
)
def test_a_mail_program_ends_the_mails_by_itself(
    public: TestClient, library: FakeLibrary, kind: str, body: bytes
) -> None:
    library.daily.set_options("me", email="reader@example.org")
    headers = {"content-type": kind} if kind else {}
    response = public.post(link(Verb.UNSUBSCRIBE, 0), content=body, headers=headers)
    assert response.status_code == 200
    assert library.daily.reader("me").profile.email == ""


def test_a_link_that_was_changed_does_nothing(public: TestClient, library: FakeLibrary) -> None:
    good = sign(Order(Verb.SAVE, 3, date(2026, 6, 12), "me"), SECRET)
    other = sign(Order(Verb.SAVE, 3, date(2026, 6, 12), "ada"), SECRET)
    nobody = sign(Order(Verb.SAVE, 3, date(2026, 6, 12), "eve"), SECRET)
    messages = set()
    for token in ("", "x", good[:-1], good + "A", other, nobody, good.replace(".", ""), "9" * 10_000):
        for response in (public.get(f"/r/act?t={token}"), public.post(f"/r/act?t={token}")):
            assert response.status_code == 400
            messages.add(Page(response.text).all("p")[1][1])
    assert len(messages) == 1, "an unknown reader looks like a wrong signature"
    assert library.daily.events_ == []
    library.daily.renew_secret("me")
    assert public.post(f"/r/act?t={good}").status_code == 400
