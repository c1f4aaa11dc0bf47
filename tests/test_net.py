"""The polite client against real HTTP on the loopback: asking, throttling, errors."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from broadsheet.errors import FetchError, SettingsError, ThrottledError
from broadsheet.net import Client, Response
from tests.fakeweb import Answer, FakeWeb
from tests.net_makers import ARXIV, QUERY

# --- asking


def test_get_gives_the_answer_and_where_it_came_from(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("<feed/>", headers={"Content-Type": "application/atom+xml", "X-Two": "a"}))
    response = fakeweb.client().get(QUERY, params={"id_list": "1706.03762"})
    assert (response.url, response.status, response.body) == (f"{QUERY}?id_list=1706.03762", 200, b"<feed/>")
    assert response.headers["content-type"] == "application/atom+xml"
    assert response.headers["x-two"] == "a"
    assert not response.not_modified
    assert fakeweb.slept == []


def test_post_sends_json(fakeweb: FakeWeb) -> None:
    fakeweb.on("api.example.org", "/batch", Answer("[]"))
    fakeweb.client().post("https://api.example.org/batch", json={"ids": ["π"]}, params={"fields": "title,year"})
    [request] = fakeweb.requests
    assert (request.method, json.loads(request.body)) == ("POST", {"ids": ["π"]})
    assert request.headers["content-type"] == "application/json"
    assert request.query == {"fields": ["title,year"]}


@pytest.mark.parametrize(
    ("contact", "end"),
    [("", ""), ("ada@example.org", " (+mailto:ada@example.org)"), ("https://lab.example/", " (+https://lab.example/)")],
)
def test_user_agent_names_the_program_and_its_user(fakeweb: FakeWeb, contact: str, end: str) -> None:
    fakeweb.on(ARXIV, "/", Answer())
    fakeweb.client(contact=contact).get(f"https://{ARXIV}/")
    agent = fakeweb.requests[0].headers["user-agent"]
    name, _, rest = agent.partition("/")
    assert name == "broadsheet"
    number, _, told = rest.partition(" ")
    assert number[0].isdigit()
    assert told == end.strip()


@pytest.mark.parametrize("contact", ["a@b\r\nX: y", "ä@example.org"])
def test_a_contact_that_no_header_can_hold_is_refused(contact: str) -> None:
    with pytest.raises(SettingsError, match="contact"):
        Client(contact=contact)


def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/", Answer())
    client = fakeweb.client()
    with pytest.raises(SettingsError, match="X-Api-Key") as caught:
        client.get(f"https://{ARXIV}/", headers={"x-api-key": "hush\nhush"})
    assert "hush" not in str(caught.value)
    client.get(f"https://{ARXIV}/", headers={"x-api-key": "hush\n"})  # the line's end of a file that held it
    assert fakeweb.requests[0].headers["x-api-key"] == "hush"


def test_a_header_of_the_caller_takes_the_place_of_ours(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/", Answer())
    fakeweb.client().get(f"https://{ARXIV}/", headers={"accept": "text/html", "USER-AGENT": "other"})
    sent = fakeweb.requests[0].headers
    assert (sent["accept"], sent["user-agent"]) == ("text/html", "other")


def test_range_of_dates_is_encoded_once(fakeweb: FakeWeb) -> None:
    """A14: a TO between two dates must reach arXiv as ``%20TO%20`` or ``+TO+``."""
    fakeweb.on(ARXIV, "/api/query", Answer())
    client = fakeweb.client()
    range_ = "submittedDate:[202512070000 TO 202512142359]"
    client.get(QUERY, params={"search_query": f"all:electron AND {range_}", "max_results": "5"})
    client.get(f"{QUERY}?search_query=all:electron+AND+submittedDate:[202512070000+TO+202512142359]")
    client.get(f"{QUERY}?search_query=all:electron%20AND%20submittedDate:[202512070000%20TO%20202512142359]")
    client.get(f"{QUERY}?search_query=all:electron+AND+{range_}", params={"max_results": "5"})
    for request in fakeweb.requests:
        assert "%20TO%20" in request.target or "+TO+" in request.target
        assert "%2B" not in request.target and "%25" not in request.target
        assert request.query["search_query"] == [f"all:electron AND {range_}"]
    assert fakeweb.requests[3].query["max_results"] == ["5"]


def test_every_character_of_a_parameter_arrives(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/", Answer())
    given = {"q": 'C++ & "α=β" 100% #1 [a]/b?c;d\'e|f', "empty": ""}
    fakeweb.client().get(f"https://{ARXIV}/?first=1", params=given)
    assert fakeweb.requests[0].query == {"first": ["1"], **{name: [value] for name, value in given.items()}}


@pytest.mark.parametrize(
    "url", ["ftp://example.org/x", "file:///etc/passwd", "example.org/x", "http://", "gopher://x.org"]
)
def test_only_http_and_https(fakeweb: FakeWeb, url: str) -> None:
    with pytest.raises(FetchError, match="give an http:// or https:// address"):
        fakeweb.client().get(url)


@pytest.mark.parametrize(
    "url", ["https://example.org:99999/", "https://exam\nple.org/", "https://exa mple.org/", "http://[::1/"]
)
def test_an_address_that_is_none_is_refused(fakeweb: FakeWeb, url: str) -> None:
    with pytest.raises(FetchError):
        fakeweb.client().get(url)
    assert fakeweb.slept == []


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/html; charset=iso-8859-1", "é".encode("latin-1"), "é"),
        ("text/html; charset=GBK", "论文".encode("gbk"), "论文"),
        ("text/html", "论文".encode(), "论文"),
        ("text/html; charset=nobody-knows", "é".encode(), "é"),
        ('text/html; charset="utf-8"', b"a\xffb", "a\ufffdb"),
        ("", b"plain", "plain"),
    ],
)
def test_text_by_the_charset(content_type: str, body: bytes, text: str) -> None:
    assert Response("https://example.org/", 200, {"content-type": content_type}, body).text == text


# --- throttling


SAYING_SO = [
    Answer(status=429),
    Answer(status=503),
    Answer(status=406),  # A12
    Answer("Rate exceeded."),  # A11
    Answer(" Rate exceeded.\n", headers={"Content-Type": "text/plain"}),
    Answer("<p>Request rate limit reached</p>", status=403),
    Answer(status=403, headers={"X-RateLimit-Remaining": "0"}),
    Answer(status=403, headers={"Retry-After": "2"}),
]


@pytest.mark.parametrize("answer", SAYING_SO, ids=lambda answer: f"{answer.status} {answer.body}"[:40])
def test_throttling_is_waited_out(fakeweb: FakeWeb, answer: Answer) -> None:
    fakeweb.on(ARXIV, "/api/query", answer, answer, Answer("at last"))
    assert fakeweb.client().get(QUERY).text == "at last"
    assert len(fakeweb.requests) == 3
    assert len(fakeweb.slept) == 2
    assert all(pause > 1.9 for pause in fakeweb.slept)


@pytest.mark.parametrize("answer", SAYING_SO, ids=lambda answer: f"{answer.status} {answer.body}"[:40])
def test_throttling_without_end_says_how_long_to_wait(fakeweb: FakeWeb, answer: Answer) -> None:
    """A13: a structured error with seconds to wait, with and without Retry-After."""
    fakeweb.on(ARXIV, "/api/query", answer)
    with pytest.raises(ThrottledError, match=rf"{ARXIV} answered .* 4 times.*try again in \d+ s") as caught:
        fakeweb.client().get(QUERY)
    assert len(fakeweb.requests) == 4
    assert caught.value.status == answer.status
    assert caught.value.retry_after is not None and caught.value.retry_after >= 2
    assert caught.value.url == QUERY


def test_a_page_that_speaks_of_rates_is_no_throttling(fakeweb: FakeWeb) -> None:
    page = f"<summary>Rate exceeded. A study of limits.{' Long.' * 50}</summary>"
    fakeweb.on(ARXIV, "/a", Answer(page))
    fakeweb.on(ARXIV, "/b", Answer("Rate exceeded. " + "It was a long day. " * 20))
    fakeweb.on(ARXIV, "/c", Answer("The limit was not Rate exceeded."))
    for path in "abc":
        fakeweb.client().get(f"https://{ARXIV}/{path}")
    assert fakeweb.slept == []


def test_forbidden_is_no_throttling(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("You need a key.", status=403))
    with pytest.raises(FetchError, match=r"answered 403 \(Forbidden\); it may need a key") as caught:
        fakeweb.client().get(QUERY)
    assert not isinstance(caught.value, ThrottledError)
    assert len(fakeweb.requests) == 1


def test_a_source_has_its_own_way_of_throttling(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("<feed/>"), Answer("<feed><entry/></feed>"))
    response = fakeweb.client().get(QUERY, throttled=lambda response: b"<entry" not in response.body)
    assert b"<entry" in response.body
    with pytest.raises(ThrottledError, match="asked too often"):
        fakeweb.client(tries=2).get(QUERY, throttled=lambda _: True)


@pytest.mark.parametrize("seconds", [5, 60, 120])
def test_retry_after_in_seconds_is_honoured(fakeweb: FakeWeb, seconds: int) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer(status=429, headers={"Retry-After": str(seconds)}), Answer("x"))
    fakeweb.client().get(QUERY)
    [pause] = fakeweb.slept
    assert seconds - 0.5 <= pause <= min(seconds + 5, 120)
    assert fakeweb.requests[1].time - fakeweb.requests[0].time >= seconds - 0.5


@pytest.mark.parametrize("server_is_ahead", [timedelta(0), timedelta(hours=5), timedelta(hours=-5)])
def test_retry_after_as_a_date_counts_by_the_clock_of_the_server(fakeweb: FakeWeb, server_is_ahead: timedelta) -> None:
    its_now = datetime.now(UTC) + server_is_ahead
    headers = {
        "Date": format_datetime(its_now, usegmt=True),
        "Retry-After": format_datetime(its_now + timedelta(seconds=40), usegmt=True),
    }
    fakeweb.on(ARXIV, "/api/query", Answer(status=503, headers=headers), Answer("x"))
    fakeweb.client().get(QUERY)
    [pause] = fakeweb.slept
    assert 38 <= pause <= 46


@pytest.mark.parametrize("value", ["", "soon", "-5", "1.5.2", "Thu, 99 Foo 2026", "²"])
def test_a_retry_after_that_says_nothing_is_as_none(fakeweb: FakeWeb, value: str) -> None:
    headers = {"Retry-After": value.encode().decode("latin-1")}
    fakeweb.on(ARXIV, "/api/query", Answer(status=429, headers=headers), Answer("x"))
    fakeweb.client().get(QUERY)
    assert 2.9 <= fakeweb.slept[0] <= 3.75


@pytest.mark.parametrize("value", ["0", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 -0000"])
def test_a_retry_after_that_is_over_still_means_a_pause(fakeweb: FakeWeb, value: str) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer(status=429, headers={"Retry-After": value}), Answer("x"))
    fakeweb.client().get(QUERY)
    assert 0.9 <= fakeweb.slept[0] <= 1.25


def test_a_long_retry_after_is_told_instead_of_waited_for(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer(status=429, headers={"Retry-After": "3600"}))
    client = fakeweb.client()
    with pytest.raises(ThrottledError, match="answered 429 and asks for fewer requests; try again in 3600 s") as caught:
        client.get(QUERY)
    assert caught.value.retry_after == 3600
    assert len(fakeweb.requests) == 1
    assert fakeweb.slept == []
    # Nor is the host asked again before: neither at this address nor at another that shares its clock.
    for url in (QUERY, f"https://{ARXIV}/list"):
        with pytest.raises(ThrottledError, match=r"try again in 3[56]\d\d s") as caught:
            client.get(url)
        assert caught.value.retry_after == pytest.approx(3600, abs=60)
    assert len(fakeweb.requests) == 1
    assert client.when_free("rss.arxiv.org") == pytest.approx(3600, abs=60)


def test_pauses_grow_and_differ(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer(status=429))
    with pytest.raises(ThrottledError):
        fakeweb.client(tries=6).get(QUERY)
    for pause, least in zip(fakeweb.slept, (3, 6, 12, 24, 48), strict=True):
        assert least - 0.5 <= pause <= least * 1.25
    assert len({round(pause / least, 3) for pause, least in zip(fakeweb.slept, (3, 6, 12, 24, 48), strict=True)}) == 5


# --- errors


@pytest.mark.parametrize("status", [500, 502, 504, 408, 425, 520])
def test_an_error_that_may_pass_is_tried_again(fakeweb: FakeWeb, status: int) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer(status=status), Answer("well again"), Answer(status=status))
    client = fakeweb.client()
    assert client.get(QUERY).text == "well again"
    with pytest.raises(FetchError, match=f"{ARXIV} answered {status} 4 times; try again later") as caught:
        client.get(QUERY)
    assert caught.value.status == status
    assert not isinstance(caught.value, ThrottledError)
    assert len(fakeweb.requests) == 6


@pytest.mark.parametrize("status", [400, 401, 404, 410, 405, 451, 499])
def test_an_error_that_will_not_pass_is_told_at_once(fakeweb: FakeWeb, status: int) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("no", status=status))
    with pytest.raises(FetchError, match=f"{ARXIV} answered {status}") as caught:
        fakeweb.client().get(QUERY)
    assert (caught.value.status, caught.value.url) == (status, QUERY)
    assert len(fakeweb.requests) == 1


def test_a_damaged_error_page_does_not_hide_the_status(fakeweb: FakeWeb) -> None:
    headers = {"Content-Encoding": "gzip"}
    fakeweb.on(ARXIV, "/broken", Answer("not gzip", status=404, headers=headers))
    fakeweb.on(ARXIV, "/large", Answer(b"x" * 200_000, status=404))
    for path in ("broken", "large"):
        with pytest.raises(FetchError, match=r"answered 404 \(Not Found\); check the address"):
            fakeweb.client().get(f"https://{ARXIV}/{path}")


def test_an_answer_that_broke_off_is_asked_for_again(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("half of it", cut=4), Answer("all of it"), Answer("half", cut=2))
    client = fakeweb.client(tries=2)
    assert client.get(QUERY).text == "all of it"
    with pytest.raises(FetchError, match=f"{ARXIV} broke off .* 2 times; try again later"):
        client.get(QUERY)


def test_nobody_there(fakeweb: FakeWeb) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # without listening: refused, and nobody else takes the port meanwhile
        client = fakeweb.client(mirrors={ARXIV: f"http://127.0.0.1:{held.getsockname()[1]}"})
        refused = f"{ARXIV} cannot be reached .*refused.* 4 times; try again later"
        with pytest.raises(FetchError, match=refused) as caught:
            client.get(QUERY)
    assert caught.value.status is None
    assert len(fakeweb.slept) == 3


def test_a_name_that_does_not_exist(fakeweb: FakeWeb) -> None:
    with pytest.raises(FetchError, match=r"nowhere\.example\.org cannot be found .*is there a network"):
        fakeweb.client().get("https://nowhere.example.org/")


def test_a_pooled_connection_that_the_server_closed_is_no_error(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/", Answer("one", cut=3), Answer("two"))
    client = fakeweb.client(tries=2)  # the second for the case that the end was not yet seen
    assert [client.get(f"https://{ARXIV}/").text for _ in range(2)] == ["one", "two"]
